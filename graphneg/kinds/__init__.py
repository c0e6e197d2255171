"""What kind of thing a noun names (a person, a place, food), and of which kinds opposites are said."""

from graphneg.kinds.opposites import said_of
from graphneg.kinds.table import OTHER, kind_of

__all__ = ["OTHER", "kind_of", "said_of"]

"""What kind of thing a noun names: a person, a place, something to eat."""

from graphneg.kinds.table import OTHER, kind_of

__all__ = ["OTHER", "kind_of"]

"""The neighbourhood of a topic, drawn: in the terminal by the command, and as a page for a browser."""

from graphneg.shift.showing.neighbourhood import Neighbourhood, Pair, Shift, neighbourhood
from graphneg.shift.showing.page import page, write_page

__all__ = ["Neighbourhood", "Pair", "Shift", "neighbourhood", "page", "write_page"]

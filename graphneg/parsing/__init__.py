"""Parsing at scale: the texts of a store, or the lines of a file, through a parser in worker processes."""

from graphneg.parsing.pool import ParserPool, open_pool, source_of
from graphneg.parsing.report import ParseReport
from graphneg.parsing.store import parse_store
from graphneg.parsing.waiting import Existing, Kind, Wanted

__all__ = [
    "Existing",
    "Kind",
    "ParseReport",
    "ParserPool",
    "Wanted",
    "open_pool",
    "parse_store",
    "source_of",
]

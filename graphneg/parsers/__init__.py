"""Parsers turn texts into AMR graphs.

``dependency`` works by rules on spaCy's dependencies; ``amrlib`` runs any model of that package.
"""

from __future__ import annotations

from graphneg.parsers.base import Answer, CheckedParser, Parsed, Parser, checked, get_parser, parser_names

__all__ = ["Answer", "CheckedParser", "Parsed", "Parser", "checked", "get_parser", "parser_names"]

"""Parsers that turn texts into AMR graphs.

`get_parser` creates a parser by name. The parser ``dependency`` applies rules and small trained models to
spaCy's dependency trees and needs no GPU. The parser ``amrlib`` runs any parse model of the amrlib package.
Other packages can add parsers through the entry point group ``graphneg.parsers``.

>>> parser = get_parser("dependency")
>>> [parsed] = parser.parse_batch(["Birds sing."])
>>> print(parsed.penman)
(s / sing-01
   :ARG0 (b / bird))
"""

from __future__ import annotations

from graphneg.parsers.base import Answer, CheckedParser, Parsed, Parser, checked, get_parser, parser_names

__all__ = ["Answer", "CheckedParser", "Parsed", "Parser", "checked", "get_parser", "parser_names"]

"""Alignments between the nodes of AMR graphs and the words of their sentences."""

from graphneg.alignment.aligner import Span, align
from graphneg.alignment.tokens import Token, tokenize

__all__ = ["Span", "Token", "align", "tokenize"]

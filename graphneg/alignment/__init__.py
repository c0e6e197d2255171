"""Alignments between the nodes of AMR graphs and the words of their sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphneg.alignment.aligner import Span, align
from graphneg.alignment.rbw import align_rbw
from graphneg.alignment.tokens import Token, tokenize
from graphneg.errors import DecoderError
from graphneg.model import AmrGraph

Aligner = Callable[[AmrGraph, Sequence[str]], dict[int, Span]]
_ALIGNERS: dict[str, Aligner] = {"rules": align, "rbw": align_rbw}


def get_aligner(name: str) -> Aligner:
    """``rules`` is graphneg's own and needs nothing; ``rbw`` is amrlib's.

    Raises:
        DecoderError: there is no aligner of that name.
    """
    if name not in _ALIGNERS:
        raise DecoderError(f"no aligner named {name!r}; choose one of {', '.join(_ALIGNERS)}")
    return _ALIGNERS[name]


__all__ = ["Aligner", "Span", "Token", "align", "align_rbw", "get_aligner", "tokenize"]

"""amrlib's rule-based word aligner (RBW), for those who want its alignments; optional."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from graphneg.alignment.aligner import Span
from graphneg.alignment.words import readings
from graphneg.errors import DecoderError
from graphneg.model import AmrGraph
from graphneg.penman_codec import format_graph

_UPOS = ("VERB", "AUX", "NOUN", "ADJ", "ADV")


def align_rbw(graph: AmrGraph, tokens: Sequence[str]) -> dict[int, Span]:
    """Token spans by node number, as ``amrlib.alignments.rbw_aligner`` finds them.

    Raises:
        DecoderError: amrlib is not installed.
    """
    if graph.spans:
        return {k: span for k, span in graph.spans.items() if 0 <= span[0] < span[1] <= len(tokens)}
    rbw, penman, noop = _modules()
    plain = AmrGraph(graph.id, graph.nodes, graph.mentions)
    decoded = penman.decode(format_graph(plain), model=noop.NoOpModel())
    aligned = rbw.RBWAligner(decoded, list(tokens), [_lemma(token) for token in tokens]).get_penman_graph()
    by_triple = _nodes_by_triple(graph)
    found: dict[int, Span] = {}
    for triple, marks in aligned.epidata.items():
        k = by_triple.get((triple[0], triple[1], triple[2]))
        places = sorted(
            place for mark in marks if type(mark).__name__ == "Alignment" for place in mark.indices
        )
        if k is not None and places:
            found.setdefault(k, (places[0], _end_of_run(places)))
    return found


def _end_of_run(places: Sequence[int]) -> int:
    end = places[0]
    for place in places:
        if place != end:
            break
        end += 1
    return end


def _nodes_by_triple(graph: AmrGraph) -> dict[tuple[str, str, str], int]:
    found: dict[tuple[str, str, str], int] = {}
    for node in graph.nodes:
        if node.var is not None and node.concept is not None:
            found[(node.var, ":instance", node.concept)] = node.k
        elif node.up is not None and node.value is not None:
            found.setdefault((graph.nodes[node.up].var or "", f":{node.role}", node.value), node.k)
    return found


def _lemma(token: str) -> str:
    known = readings(token.lower())
    return next((known[upos][0] for upos in _UPOS if upos in known), token.lower())


def _modules() -> tuple[Any, Any, Any]:
    try:
        rbw = importlib.import_module("amrlib.alignments.rbw_aligner")
    except ImportError as error:
        raise DecoderError(
            f"the aligner 'rbw' is amrlib's, which can't be imported ({error}): "
            "pip install 'graphneg[neural]', or leave the aligner at 'rules'"
        ) from error
    return rbw, importlib.import_module("penman"), importlib.import_module("penman.models.noop")

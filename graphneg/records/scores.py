"""What can be told of a wrong response without a model: how it clashes with its context, how its words fit.

- ``clash``: how much of the response speaks of what was said. The share of its content words that the
  context has said; an edit that shares none contradicts nothing.
- ``fit``: how usual its words are together. Of the nouns that its edited graph puts under a predicate, the
  share that the predicate was seen to take, or that are of a sort with one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from graphneg.amr.penman import parse_graph
from graphneg.english.noun_kinds import lexeme
from graphneg.english.takes import sort_of, takes
from graphneg.english.words import content_lemmas
from graphneg.model import AmrGraph, Negative

CLASH, FIT = "clash", "fit"


def measured(negative: Negative) -> dict[str, float]:
    """Its scores, with ``clash`` and, where the response was edited, ``fit`` as these functions find them.

    Raises `PenmanError`: the edited graph can't be read.
    """
    scores = {**negative.scores, CLASH: clash((turn["text"] for turn in negative.context), negative.response)}
    edited = negative.amr.get(str(negative.turn))
    if edited is not None and edited["after"]:
        scores[FIT] = fit(parse_graph(edited["after"], negative.id))
    return scores


def clash(context: Iterable[str], response: str) -> float:
    """The share of the response's content words that the context has said, 0 to 1; 0 where it has none.

    >>> clash(["Do you like dogs?", "I love cats."], "I don't love my cats, but birds.")
    0.6666666666666666
    """
    own = content_lemmas(response)
    said = frozenset[str]().union(*map(_lemmas, context))
    return sum(word in said for word in own) / max(1, len(own))


def fit(graph: AmrGraph) -> float:
    """Of the nouns under a predicate, the share that it takes there; 1 where nothing is known of any.

    >>> from graphneg.amr.penman import parse_graph
    >>> fit(parse_graph("(e / eat-01 :ARG0 (i / i) :ARG1 (b / bread))"))
    1.0
    """
    known = [found for pair in _arguments(graph) if (found := _is_taken(*pair)) is not None]
    return sum(known) / len(known) if known else 1.0


def _arguments(graph: AmrGraph) -> Iterator[tuple[str, str, str]]:
    """Predicate, role and noun of each argument in the tree."""
    for node in graph.nodes:
        above = None if node.up is None else graph.nodes[node.up].concept
        if above is not None and node.concept is not None and node.role is not None:
            yield above, node.role, node.concept


@lru_cache(maxsize=1 << 16)
def _is_taken(predicate: str, role: str, noun: str) -> bool | None:
    """Whether the predicate takes the noun there; None where nothing is known of it, or it is no noun."""
    sort, seen = sort_of(noun), takes(predicate, role)
    return None if sort is None or not seen else sort in seen or lexeme(noun) in seen


@lru_cache(maxsize=1 << 13)
def _lemmas(text: str) -> frozenset[str]:
    return frozenset(content_lemmas(text))

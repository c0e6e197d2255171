"""Compute scores of a negative for which no model is needed.

- ``context_overlap`` is the share of the response's content words that occur in the context. It is low for a
  response that has nothing to do with its context and therefore does not contradict it.
- ``selectional_fit`` measures how plausible the word combinations are. It is the share of nouns in the edited
  graph that satisfy the selectional preferences of their predicates. In "eat bread", the noun satisfies them;
  in "eat a decision", it does not.

>>> context_overlap(["Do you like dogs?", "I love cats."], "I don't love my cats, but birds.")
0.6666666666666666
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from graphneg.amr.penman import parse_graph
from graphneg.english.noun_kinds import lexeme
from graphneg.english.selectional_preferences import noun_cluster, preferred_nouns
from graphneg.english.words import content_lemmas
from graphneg.model import AmrGraph, Negative

CONTEXT_OVERLAP, SELECTIONAL_FIT = "context_overlap", "selectional_fit"
"""Names of the scores."""


def measured(negative: Negative) -> dict[str, float]:
    """Compute ``context_overlap`` and ``selectional_fit`` for a negative.

    Raises `PenmanError` if the edited graph of the response cannot be parsed.

    Args:
        negative: The negative to score.

    Returns:
        The existing scores of the negative, ``context_overlap`` and, if the graph of the response was edited,
        ``selectional_fit``.
    """
    scores = {
        **negative.scores,
        CONTEXT_OVERLAP: context_overlap((turn.text for turn in negative.context), negative.response),
    }
    edited = negative.amr.get(str(negative.turn))
    # `selectional_fit` is computed from the edited graph of the response. Without this graph, leave it out.
    if edited is not None and edited.after:
        scores[SELECTIONAL_FIT] = selectional_fit(parse_graph(edited.after, negative.id))
    return scores


def context_overlap(context: Iterable[str], response: str) -> float:
    """Return the share of a response's content words that occur in its context.

    Args:
        context: The texts of the turns in the context.
        response: The text of the response.

    Returns:
        A share from 0 to 1; 0 if the response has no content words.

    >>> context_overlap(["Do you like dogs?", "I love cats."], "I don't love my cats, but birds.")
    0.6666666666666666
    """
    own = content_lemmas(response)
    # Compare lemmas, so that "cats" in the context matches "cat" in the response.
    said = frozenset[str]().union(*map(_lemmas, context))
    return sum(word in said for word in own) / max(1, len(own))


def selectional_fit(graph: AmrGraph) -> float:
    """Return the share of nouns in a graph that satisfy the selectional preferences of their predicates.

    A noun satisfies the preferences of a predicate if this noun, or another noun of the same class, was seen
    in the same role of the predicate.

    Args:
        graph: The AMR graph.

    Returns:
        A share from 0 to 1; 1 if no preferences are known for any noun.

    >>> from graphneg.amr.penman import parse_graph
    >>> selectional_fit(parse_graph("(e / eat-01 :ARG0 (i / i) :ARG1 (b / bread))"))
    1.0
    """
    known = [found for pair in _tree_edges(graph) if (found := _satisfies_preferences(*pair)) is not None]
    return sum(known) / len(known) if known else 1.0


def _tree_edges(graph: AmrGraph) -> Iterator[tuple[str, str, str]]:
    """Yield each edge of the graph's tree: the parent's concept, the role and the child's concept."""
    for node in graph.nodes:
        # The parent of a node is treated as its predicate. The role says which argument of the predicate the
        # node is.
        above = None if node.parent is None else graph.nodes[node.parent].concept
        if above is not None and node.concept is not None and node.role is not None:
            yield above, node.role, node.concept


@lru_cache(maxsize=1 << 16)
def _satisfies_preferences(predicate: str, role: str, noun: str) -> bool | None:
    """Return whether a noun satisfies the preferences of a predicate; None if this is unknown."""
    cluster, seen = noun_cluster(noun), preferred_nouns(predicate, role)
    # Accept "eat pizza" if "eat" was seen with "bread", because both nouns are in the class of food.
    return None if cluster is None or not seen else cluster in seen or lexeme(noun) in seen


@lru_cache(maxsize=1 << 13)
def _lemmas(text: str) -> frozenset[str]:
    return frozenset(content_lemmas(text))

"""Facts about the nodes of an AMR graph, as they stand on ``AmrNode`` in the store.

In goes a graph, the lexicon and the text that the graph means; out come, for each node, the properties that
docs/schema.md lists. Facts follow from these three alone: they are computed when a graph is written, and
again by ``graphneg upgrade`` when graphneg computes others.

For ``(p / possible-01 :polarity - :ARG1 (g / go-02 :ARG0 (i / i)))`` node 0 is the head of the only clause:
``clause: statement``, ``negated``, ``denied_by: 1``, ``modal``; nodes 2 and 3 have ``clause_of: 0``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphneg.amr.clauses import Clauses
from graphneg.amr.echoes import Saying, sayings
from graphneg.amr.nouns import Nouns
from graphneg.amr.reading import Reading
from graphneg.amr.times import Times
from graphneg.english.lexicon import Lexicon, english
from graphneg.model import AmrGraph

Facts = dict[str, Any]

NAMES = (
    "classes", "sentence", "clause_of", "clause", "main", "negated", "denied_by", "asked_by", "ordered_by",
    "modal", "tense", "dated", "event", "acts", "stands", "portable", "asks", "detail", "depth",
    "tied", "asserts", "roles", "said_of", "noun", "slot", "open_to", "phrase", "names", "name", "says_when",
    "fixed", "number", "expletive", "handled", "named", "topic", "deixis", "said_in",
    "parts", "questions", "only_asks", "orders", "wonders", "permits", "sort", "takes",
)  # fmt: skip
"""All properties of ``AmrNode`` that are facts."""


def facts(graph: AmrGraph, text: str = "", lexicon: Lexicon | None = None) -> list[Facts]:
    """The facts about each node of a graph, in the order of its nodes; what does not hold is left out."""
    return facts_and_sayings(graph, text, lexicon or english())[0]


def facts_and_sayings(graph: AmrGraph, text: str, lexicon: Lexicon) -> tuple[list[Facts], list[Saying]]:
    """The facts about each node of a graph, and what its nodes say, to be compared with other turns."""
    known = _Facts(graph, text, lexicon)
    found = known.all()
    return found, sayings(known.reading, found)


class _Facts:
    """The facts about one graph, as its parts know them."""

    def __init__(self, graph: AmrGraph, text: str, lexicon: Lexicon) -> None:
        self.reading = Reading(graph, lexicon)
        self._clauses = Clauses(self.reading)
        self._nouns = Nouns(self.reading)
        self._times = Times(self.reading, text)
        self._heads = frozenset(self._clauses.heads)

    def all(self) -> list[Facts]:
        found = [self._node(node.k) for node in self.reading.nodes]
        for top in sorted({0, *self.reading.sentences}):
            found[top] |= self._sentence(top)
        found[0] |= self._graph()
        return found

    def _node(self, k: int) -> Facts:
        if self.reading.nodes[k].concept is None:
            return _held({"number": self._times.number(k)} | self._swap(k))
        return _held(
            {
                "classes": sorted(self.reading.classes[k]),
                "sentence": self.reading.sentences[k],
                "clause_of": self._clauses.clause_of[k],
                "says_when": self._times.says_when(k),
                "fixed": self._times.is_fixed(k),
                "detail": self._clauses.is_detail(k),
            }
            | (self._head(k) if k in self._heads else {})
            | self._word(k)
            | self._noun(k)
            | self._swap(k)
        )

    def _head(self, k: int) -> Facts:
        dated = self._times.is_dated(k)
        event = self._clauses.is_event(k) and not dated
        known = self._clauses.facts(k) | {"tense": self._times.tense, "dated": dated, "event": event}
        return _held(known)

    def _word(self, k: int) -> Facts:
        """What the node's word asserts, of what, with which roles."""
        asserts = self._nouns.asserts(k)
        if asserts is None:
            return {}
        said_of = self._nouns.said_of(k)
        found: Facts = {"asserts": asserts, "said_of": said_of or None}
        return found | ({"roles": self._nouns.roles(k)} if self.reading.is_frame[k] else {"roles": []})

    def _noun(self, k: int) -> Facts:
        nouns = self._nouns
        found: Facts = {
            "slot": nouns.slot(k),
            "deixis": nouns.deixis(k),
            "said_in": nouns.said_in(k),
            "expletive": nouns.is_empty_it(k),
            "handled": nouns.is_handled(k),
            "named": nouns.is_named(k),
        }
        if nouns.names_something(k):
            found |= {"noun": nouns.general_kind(k), "open_to": nouns.open_to(k), "topic": nouns.is_topic(k)}
            found |= {"sort": nouns.sort(k), "takes": nouns.takes(k) or None}
        if found["slot"] is not None:
            found["phrase"] = nouns.phrase(k)
        return found

    def _swap(self, k: int) -> Facts:
        swap = self._nouns.swap(k)
        return {} if swap is None else {"names": swap[0], "name": swap[1]}

    def _sentence(self, k: int) -> Facts:
        roles = [self.reading.roles[at] for at in self.reading.asked if at in self.reading.whole(k)]
        return _held({"asks": roles or None, "portable": self._clauses.is_portable(k)})

    def _graph(self) -> Facts:
        """What the top knows of the whole graph."""
        mentions = self.reading.graph.mentions
        tied = any(0 in (mention.up, mention.target) for mention in mentions)
        sentences = [child.k for child in self.reading.children[0] if (child.role or "").startswith("snt")]
        questions = [k for k in sentences if any(at in self.reading.whole(k) for at in self.reading.asked)]
        all_ask = bool(self.reading.asked) and len(questions) == len(sentences)
        return _held(
            {
                "parts": [child.k for child in self.reading.children[0]] or None,
                "questions": (questions if len(questions) < len(sentences) else []) or None,
                "only_asks": all_ask and self.reading.size > 3,
                "depth": self.reading.graph.depth,
                "tied": tied,
                "orders": any(
                    node.value == "imperative" and node.role == "mode" for node in self.reading.nodes
                ),
                # The speaker guesses, hopes or wonders.
                "wonders": any(
                    node.concept == "i" and self.reading.is_a(node.up, "wondering", "thinking", "courtesy")
                    for node in self.reading.nodes
                ),
                "permits": any(self.reading.is_a(node.k, "possibility") for node in self.reading.nodes),
            }
        )


def _held(facts: Mapping[str, Any]) -> Facts:
    """The facts that hold: neither missing nor false."""
    return {name: value for name, value in facts.items() if value is not None and value is not False}

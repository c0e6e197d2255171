"""Compute the properties of AMR nodes that transforms query in the store.

Transforms are Cypher patterns. They need to know more about a node than its concept, for example whether it
heads a clause that can be denied. When a graph is written to the store, this module computes such features,
and they are stored as properties of ``AmrNode``; docs/schema.md lists them. The properties depend only on
the graph, the lexicon and the text, so they are computed again when a store is exported and loaded into a
new one.

Example: "I can't go" is ``(p / possible-01 :polarity - :ARG1 (g / go-02 :ARG0 (i / i)))``. Node 0 is the head
of the only clause. It gets ``clause_type: statement``, ``negated: true``, ``negation_position: 1`` and
``modal: true``. Nodes 2 and 3 get ``clause_head: 0``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from graphneg.amr.clauses import Clauses
from graphneg.amr.echoes import Statement, statements_of
from graphneg.amr.nouns import Nouns
from graphneg.amr.reading import AmrView
from graphneg.amr.times import Times
from graphneg.english.lexicon import Lexicon, english
from graphneg.english.words import table_rows
from graphneg.hashing import fingerprint
from graphneg.model import AmrGraph

Facts = dict[str, Any]
"""The property values of a node, keyed by property name."""

NAMES = (
    "classes", "sentence_top", "clause_head", "clause_type", "main_clause", "negated", "negation_position",
    "question_position", "imperative_position", "modal", "tense", "time_bound", "undated_event",
    "alternative_acts", "repeatable", "context_free", "asked_roles", "prunable_detail", "depth",
    "reentrant_top", "opposable_as", "roles", "modified_kinds", "coarse_kind", "argument_type",
    "substitutable_kind", "phrase", "entity_type", "entity_text", "temporal", "fixed_time", "time_number",
    "expletive", "possessed_or_perceived", "has_name", "topical", "person_role", "pronoun_sentences",
    "top_branches", "question_sentences", "only_questions", "has_imperative", "hedged", "has_modal",
    "noun_class", "selectional_preferences",
)  # fmt: skip
"""The names of all properties of ``AmrNode`` that this module computes."""

FACTS_VERSION = 2
"""Version of the code that computes the properties (facts) of nodes, terms and antonyms in a store.

Raise it by one when a change of the code changes the value of a property. A change of a word table needs no
new version, because `facts_fingerprint` covers the tables.
"""
TABLES = (
    "discourse.tsv", "lexicon/moves.tsv", "lexicon/opposites.tsv", "lexicon/predicates.tsv",
    "lexicon/words.tsv", "nouns.tsv", "takes.tsv", "word_classes.tsv",
)  # fmt: skip
"""The tables of `graphneg.english` from which the properties are computed."""


@cache
def facts_fingerprint() -> str:
    """Return a fingerprint of the code version and word tables from which node properties are computed.

    The fingerprint covers `FACTS_VERSION` and the rows of `TABLES`, without their comments and blank lines.
    It does not cover the graphs and the lexicon in the store, from which the properties are computed as well.

    Returns:
        32 hexadecimal digits.
    """
    rows = {name: [row for row in table_rows("graphneg.english", name) if any(row)] for name in TABLES}
    return fingerprint([FACTS_VERSION, rows])


def facts(graph: AmrGraph, text: str = "", lexicon: Lexicon | None = None) -> list[Facts]:
    """Compute the properties of each node of a graph.

    Args:
        graph: The graph whose nodes are described.
        text: The text of the graph. It determines the tense, which AMR graphs do not contain.
        lexicon: The lexicon with the word classes; None uses the English one.

    Returns:
        One dictionary per node, indexed by node index. Properties whose value is False or None are left out.
    """
    return analyse(graph, text, lexicon or english()).facts


class Analysis(NamedTuple):
    """The properties, statements and clauses that are computed when a graph is written to a store.

    Attributes:
        text: The text of the graph.
        view: The graph, indexed for look-ups.
        clauses: The clauses of the graph.
        facts: The properties of each node, indexed by node index.
        statements: The word and the arguments of each node with content, in the form in which
            `graphneg.amr.echoes` compares them with those of other turns.
    """

    text: str
    view: AmrView
    clauses: Clauses
    facts: list[Facts]
    statements: list[Statement]


def analyse(graph: AmrGraph, text: str, lexicon: Lexicon) -> Analysis:
    """Compute the properties and the statements (`Statement`) of the nodes of a graph.

    Args:
        graph: The graph whose nodes are described.
        text: The text of the graph.
        lexicon: The lexicon with the word classes.

    Returns:
        The properties, the statements of the nodes, and the clauses from which both were computed.
    """
    known = _Facts(graph, text, lexicon)
    found = known.all()
    return Analysis(text, known.view, known.clauses, found, statements_of(known.view, found))


def discourse_facts(view: AmrView, clauses: Clauses) -> list[Facts]:
    """Compute only the properties that `graphneg.discourse.read_graph` reads.

    This takes a third of the time that `facts` takes.

    Args:
        view: The graph, indexed for look-ups.
        clauses: The clauses of the graph.

    Returns:
        One dictionary per node, indexed by node index.
    """
    nouns, heads = Nouns(view), frozenset(clauses.heads)
    found: list[Facts] = []
    for k, node in enumerate(view.nodes):
        known: Facts = {}
        if node.concept is not None:
            known = {"expletive": nouns.is_expletive(k), "has_name": nouns.is_named(k)}
        found.append(drop_false(known | clauses.facts(k)) if k in heads else drop_false(known))
    return found


class _Facts:
    """The properties of one graph's nodes, combined from its clauses, nouns and times."""

    def __init__(self, graph: AmrGraph, text: str, lexicon: Lexicon) -> None:
        """Find the clauses, the nouns and the times of the graph."""
        self.view = AmrView(graph, lexicon)
        self.clauses = Clauses(self.view)
        self._nouns = Nouns(self.view)
        self._times = Times(self.view, text)
        self._heads = frozenset(self.clauses.heads)

    def all(self) -> list[Facts]:
        """Return the properties of each node. Properties of a sentence are added to those of its top node."""
        found = [self._node_properties(node.position) for node in self.view.nodes]
        for top in sorted({0, *self.view.sentences}):
            found[top] |= self._sentence_properties(top)
        found[0] |= self._graph()
        return found

    def _node_properties(self, k: int) -> Facts:
        # A constant has no word class. It gets properties only if it is a number in a date, or a value that
        # can be swapped for another.
        if self.view.nodes[k].concept is None:
            return drop_false({"time_number": self._times.number(k)} | self._swap(k))
        return drop_false(
            {
                "classes": sorted(self.view.classes[k]),
                "sentence_top": self.view.sentences[k],
                "clause_head": self.clauses.clause_of[k],
                "temporal": self._times.is_temporal(k),
                "fixed_time": self._times.is_fixed(k),
                "prunable_detail": self.clauses.is_prunable_detail(k),
            }
            | (self._head_properties(k) if k in self._heads else {})
            | self._word(k)
            | self._noun(k)
            | self._swap(k)
        )

    def _head_properties(self, k: int) -> Facts:
        dated = self._times.is_dated(k)
        # The property ``undated_event`` marks clauses to which a time can be added. A clause that already has
        # a time does not get this property.
        event = self.clauses.is_event(k) and not dated
        known = self.clauses.facts(k) | {
            "tense": self._times.tense,
            "time_bound": dated,
            "undated_event": event,
        }
        return drop_false(known)

    def _word(self, k: int) -> Facts:
        """Return the properties that decide which antonyms may replace the word of a node."""
        asserts = self._nouns.opposable_as(k)
        if asserts is None:
            return {}
        modified_kinds = self._nouns.modified_kinds(k)
        found: Facts = {"opposable_as": asserts, "modified_kinds": modified_kinds or None}
        return found | ({"roles": self._nouns.roles(k)} if self.view.is_frame[k] else {"roles": []})

    def _noun(self, k: int) -> Facts:
        """Return the properties by which transforms find a replacement for a noun, such as its kind."""
        nouns = self._nouns
        found: Facts = {
            "argument_type": nouns.argument_type(k),
            "person_role": nouns.person_role(k),
            "pronoun_sentences": nouns.pronoun_sentences(k),
            "expletive": nouns.is_expletive(k),
            "possessed_or_perceived": nouns.is_possessed_or_perceived(k),
            "has_name": nouns.is_named(k),
        }
        if nouns.is_replaceable(k):
            found |= {
                "coarse_kind": nouns.coarse_kind(k),
                "substitutable_kind": nouns.substitutable_kind(k),
                "topical": nouns.is_topical(k),
            }
            found |= {
                "noun_class": nouns.noun_class(k),
                "selectional_preferences": nouns.selectional_preferences(k) or None,
            }
        if found["argument_type"] is not None:
            found["phrase"] = nouns.phrase(k)
        return found

    def _swap(self, k: int) -> Facts:
        """Return the properties with which transforms swap names and numbers: the type and the words."""
        swap = self._nouns.swap(k)
        return {} if swap is None else {"entity_type": swap[0], "entity_text": swap[1]}

    def _sentence_properties(self, k: int) -> Facts:
        roles = [self.view.roles[at] for at in self.view.question_nodes if at in self.view.subtree(k)]
        return drop_false({"asked_roles": roles or None, "context_free": self.clauses.is_context_free(k)})

    def _graph(self) -> Facts:
        """Return the properties that describe the whole graph. They are stored in its top node."""
        mentions = self.view.graph.mentions
        # The transform ``subtree_deletion`` deletes the branches below the top node. It must not delete all
        # of them if one is a mention of another node, or if the top is mentioned again in the graph.
        tied = any(0 in (mention.parent, mention.target) for mention in mentions)
        sentences = [
            child.position for child in self.view.children[0] if (child.role or "").startswith("snt")
        ]
        questions = [
            k for k in sentences if any(at in self.view.subtree(k) for at in self.view.question_nodes)
        ]
        all_ask = bool(self.view.question_nodes) and len(questions) == len(sentences)
        return drop_false(
            {
                "top_branches": [child.position for child in self.view.children[0]] or None,
                "question_sentences": (questions if len(questions) < len(sentences) else []) or None,
                # Leave out short questions such as "Why?", whose graphs have at most three nodes.
                "only_questions": all_ask and self.view.size > 3,
                "depth": self.view.graph.depth,
                "reentrant_top": tied,
                "has_imperative": any(
                    node.value == "imperative" and node.role == "mode" for node in self.view.nodes
                ),
                # Sentences with "I hope", "I guess" and "I thank you" count as hedged, because they express
                # what the speaker thinks or feels.
                "hedged": any(
                    node.concept == "i" and self.view.is_a(node.parent, "wondering", "thinking", "courtesy")
                    for node in self.view.nodes
                ),
                "has_modal": any(self.view.is_a(node.position, "possibility") for node in self.view.nodes),
            }
        )


def drop_false(facts: Mapping[str, Any]) -> Facts:
    """Return the properties whose values are neither None nor False.

    Args:
        facts: The values, keyed by property name.

    Returns:
        The properties without those that are None or False. Zeros, empty strings and empty lists are kept.
    """
    return {name: value for name, value in facts.items() if value is not None and value is not False}

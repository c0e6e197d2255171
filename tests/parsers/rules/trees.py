"""Helpers that make dependency trees from text, so that rules are tested without spaCy."""

from __future__ import annotations

from graphneg.english.words import lemma_of
from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.lexicon import load_lexicon
from graphneg.parsers.dependency.rules.state import RuleState
from graphneg.parsers.dependency.text import Word


def tree(text: str) -> list[Word]:
    """Return the words of ``form/TAG/relation/head`` cells. The head is an index; a root is its own head.

    >>> [word.lemma for word in tree("She/PRP/nsubj/1 sings/VBZ/ROOT/1")]
    ['she', 'sing']
    """
    words: list[Word] = []
    at = 0
    for i, cell in enumerate(text.split()):
        form, tag, dep, head = cell.rsplit("/", 3)
        lower = form.lower()
        end = at + len(form)
        words.append(
            Word(i, form, lower, lemma_of(lower, tag), tag, "", dep, int(head), at, end, 0, [], words)
        )
        at = end + 1
    for word in words:
        if word.head != word.i:
            words[word.head].dependents.append(word.i)
    return words


def state_of(text: str) -> RuleState:
    """Return a state in which no rule has run yet."""
    words = tree(text)
    return RuleState(GraphDraft(" ".join(word.text for word in words), words), words, load_lexicon())


def arcs(state: RuleState) -> set[tuple[str, str, str]]:
    """Return the arcs of the graph as (label of the head, role, label of the dependent)."""
    nodes = state.draft.nodes
    return {(nodes[arc.head].label, arc.role, nodes[arc.dep].label) for arc in state.draft.arcs}


def labels(state: RuleState) -> list[str]:
    """Return the labels of the nodes, in the order in which they were added."""
    return [node.label for node in state.draft.nodes if not node.deleted]

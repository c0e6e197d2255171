"""Dependency trees written by hand, so that a rule is tested without spaCy."""

from __future__ import annotations

from graphneg.english.words import lemma_of
from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.lexicon import load_lexicon
from graphneg.parsers.dependency.rules.state import RuleState
from graphneg.parsers.dependency.text import Word


def tree(text: str) -> list[Word]:
    """The words of ``form/TAG/relation/head`` cells; the head is a number, a root's its own.

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
            words[word.head].kids.append(word.i)
    return words


def state_of(text: str) -> RuleState:
    """A state in which no rule has run yet."""
    words = tree(text)
    return RuleState(GraphDraft(" ".join(word.text for word in words), words), words, load_lexicon())


def arcs(state: RuleState) -> set[tuple[str, str, str]]:
    """The arcs of a draft by the labels of their ends."""
    nodes = state.draft.nodes
    return {(nodes[arc.head].label, arc.role, nodes[arc.dep].label) for arc in state.draft.arcs}


def labels(state: RuleState) -> list[str]:
    """The labels of a draft's nodes, in the order in which they were written."""
    return [node.label for node in state.draft.nodes if not node.deleted]

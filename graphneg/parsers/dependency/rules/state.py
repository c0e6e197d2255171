"""The state that the rules share while they write one draft.

It holds the words, the tables, and the node of each word. A word may have two nodes. In *She must sleep*,
governors of *sleep* link to ``obligate-01`` (its outer node), but *she* is an argument of ``sleep-01`` (its
core node). Several words may share a node: *is* in *She is tall* has the node of *tall*.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.lexicon import ParserLexicon, word_class
from graphneg.parsers.dependency.text import Word

SUBJECTS = ("nsubj", "nsubjpass")
"""Dependency relations of subjects."""
SPEECH = word_class("speech")
"""Lemmas of verbs of saying."""
TIME_NOUNS = word_class("time-noun")
"""Lemmas of nouns that denote times."""
QUOTES = frozenset({'"', "\u201c", "\u201d", "''", "``"})
"""Double quotation marks."""


@dataclass(slots=True)
class RuleState:
    """A draft, and what the rules have decided about its words. Words are identified by index.

    Attributes:
        draft: The draft.
        words: The words of the piece.
        lexicon: The lexicon.
        core: By word, the node that takes the word's arguments.
        outer: By word, the node that its governor links to. It differs from the core if something is above
            the word: a modal, a conjunction, ``person`` over ``paint-01``.
        proxies: By word without a node, the word whose node represents it: a copula's predicate.
        done: Words that need no further rule.
        persons: By agent noun, the ``person`` node over its verb: *painter*.
        forms: By word, a relation that a rule has assigned in place of the parsed one.
        attached: Words whose node has its role already.
        amounts: By measured noun, the node of the amount: *a lot of money*.
    """

    draft: GraphDraft
    words: Sequence[Word]
    lexicon: ParserLexicon
    core: dict[int, int] = field(default_factory=dict[int, int])
    outer: dict[int, int] = field(default_factory=dict[int, int])
    proxies: dict[int, int] = field(default_factory=dict[int, int])
    done: set[int] = field(default_factory=set[int])
    persons: dict[int, int] = field(default_factory=dict[int, int])
    forms: dict[int, str] = field(default_factory=dict[int, str])
    attached: set[int] = field(default_factory=set[int])
    amounts: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, concept: str, word: int, rule: str, last: int | None = None, **arguments: int | str) -> int:
        """Add a concept as the node of a word.

        Args:
            concept: The concept.
            word: Index of the word.
            rule: Name of the rule that adds it.
            last: Index of its last word, if it represents several.
            **arguments: Arguments of the concept, as in `GraphDraft.concept`.

        Returns:
            The index of the node.
        """
        return self.set_node(word, self.draft.concept(concept, word, rule, 0, last, **arguments))

    def set_node(self, word: int, node: int) -> int:
        """Make an existing node the node of a word.

        Args:
            word: Index of the word.
            node: Index of the node.

        Returns:
            The index of the node.
        """
        self.core[word] = self.outer[word] = node
        return node

    def erase(self, word: int) -> None:
        """Delete the node of a word.

        Args:
            word: Index of the word.
        """
        self.draft.drop(self.core.pop(word))
        self.outer.pop(word)

    def cover(self, run: Sequence[Word], node: int) -> Word:
        """Make a node represent all words of a run, and mark them as done.

        Args:
            run: The words.
            node: Index of the node.

        Returns:
            The head word of the run.
        """
        head = head_of(run)
        self.set_node(head.i, node)
        self.defer(run, head)
        return head

    def defer(self, run: Iterable[Word], head: Word) -> None:
        """Let one word represent all words of a run, and mark them as done.

        Args:
            run: The words.
            head: The word with the node.
        """
        for word in run:
            self.done.add(word.i)
            if word.i != head.i:
                self.proxies[word.i] = head.i

    def redirect(self, old: int, new: int) -> None:
        """Replace a node by another, in all arcs and for all words.

        Args:
            old: Index of the node to delete.
            new: Index of the node that takes its place.
        """
        self.draft.redirect(old, new)
        # Several words may share the deleted node.
        for nodes in (self.core, self.outer):
            for word, node in nodes.items():
                if node == old:
                    nodes[word] = new

    def above(self, concept: str, anchor: int | None, under: int, role: str, rule: str) -> int:
        """Add a node over everything that represents a word so far.

        Args:
            concept: Concept of the new node.
            anchor: Index of the word that it represents, or ``None``.
            under: Index of the word to put it over.
            role: Role from the new node to the old one.
            rule: Name of the rule that adds it.

        Returns:
            The index of the new node.
        """
        node = self.draft.concept(concept, anchor, rule, self.words[under].sentence)
        self.draft.link(node, role, self.outer[under], rule)
        self.outer[under] = node
        return node

    def mark(self, node: int, role: str, value: str, word: int | None, rule: str) -> int:
        """Add a constant to a node, such as ``:polarity -``.

        Args:
            node: Index of the node.
            role: The role.
            value: The constant.
            word: Index of the word that it represents, or ``None``.
            rule: Name of the rule that adds it.

        Returns:
            The index of the constant.
        """
        constant = self.draft.constant(value, word, rule, self.draft.nodes[node].sentence)
        self.draft.link(node, role, constant, rule)
        return constant

    def head(self, word: int, form: str) -> int:
        """Return the node that takes a dependent.

        Args:
            word: Index of the governing word.
            form: Relation of the dependent.

        Returns:
            The core node, or the ``person`` of an agent noun.
        """
        # "a good teacher of French": the person is good, but French is what is taught.
        if word in self.persons and form not in {"prep_of", "compound", "nmod"}:
            return self.persons[word]
        return self.core[word]

    def proxy(self, word: int) -> int:
        """Return the word whose node represents a word.

        Args:
            word: Index of the word.

        Returns:
            The end of its chain of proxies; the word itself if it has none.
        """
        # A chain is short, unless rules have closed a cycle by mistake.
        for _ in range(20):
            if word not in self.proxies:
                break
            word = self.proxies[word]
        return word

    def core_of(self, word: Word) -> int | None:
        """Return the node that takes the arguments of a word.

        Args:
            word: The word, or one that is represented by another.

        Returns:
            The index of the node, or ``None``.
        """
        return self.core.get(self.proxy(word.i))

    def outer_of(self, word: Word) -> int | None:
        """Return the node that the governor of a word links to.

        Args:
            word: The word, or one that is represented by another.

        Returns:
            The index of the node, or ``None``.
        """
        return self.outer.get(self.proxy(word.i))

    def concept_of(self, word: int) -> str:
        """Return the concept of a word.

        Args:
            word: Index of the word.

        Returns:
            The concept of its core node; empty if it has none.
        """
        node = self.core.get(word)
        return "" if node is None else self.draft.nodes[node].concept or ""

    def rule_of(self, word: int) -> str:
        """Return the name of the rule that made the node of a word.

        Args:
            word: Index of a word with a node.

        Returns:
            The name.
        """
        return self.draft.nodes[self.core[word]].rule


def head_of(run: Sequence[Word]) -> Word:
    """Return the head word of a run.

    Args:
        run: The words.

    Returns:
        The first word that depends on no other word of the run; else the last word.
    """
    inside = {word.i for word in run}
    return next((word for word in run if word.head not in inside or word.head == word.i), run[-1])


def quoted_words(words: Sequence[Word]) -> set[int]:
    """Return the words inside double quotation marks.

    Args:
        words: The words of the piece.

    Returns:
        Their indices; a quotation without an end extends to the end of the piece.
    """
    spoken: set[int] = set()
    inside = False
    for word in words:
        if word.text in QUOTES:
            # Straight quotes do not say whether they open or close, so they alternate.
            inside = word.text in {"\u201c", "``"} or (word.text not in {"\u201d", "''"} and not inside)
        elif inside:
            spoken.add(word.i)
    return spoken

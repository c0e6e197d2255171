"""The state that all rules share while they build the graph of a text.

The state contains the words, the tables, and the node of each word. A word may have two nodes. In *I think
she must sleep*, the word *sleep* has the outer node ``obligate-01`` and the core node ``sleep-01``. The outer
node is linked to *think*, and the core node takes the argument *she*. Conversely, several words may share a
node: in *She is tall*, *is* shares the node of *tall*.
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
    """A graph under construction, and what the rules have decided about its words. Words are given by index.

    Attributes:
        draft: The graph that the rules write.
        words: The words of the text.
        lexicon: The lexical tables of the parser.
        head_nodes: For each word with a node, its core node: the node that takes the word's arguments.
        top_nodes: For each word with a node, its outer node: the node to which the word's governor is linked.
            It differs from the core node if another node is above the word: a modal, a conjunction, or
            ``person`` over ``paint-01``.
        representatives: For each word that shares the node of another word, the other word. In *She is tall*,
            *is* shares the node of *tall*.
        done: Words that later rules must skip.
        persons: For each agent noun such as *painter*, the ``person`` node above the node of the verb.
        relations: For each word whose parsed relation a rule has replaced, the new relation.
        linked: Words whose node is already linked to its governor, so that no further role is written.
        amounts: For each measured noun, the node of the amount: *a lot* in *a lot of money*.
    """

    draft: GraphDraft
    words: Sequence[Word]
    lexicon: ParserLexicon
    head_nodes: dict[int, int] = field(default_factory=dict[int, int])
    top_nodes: dict[int, int] = field(default_factory=dict[int, int])
    representatives: dict[int, int] = field(default_factory=dict[int, int])
    done: set[int] = field(default_factory=set[int])
    persons: dict[int, int] = field(default_factory=dict[int, int])
    relations: dict[int, str] = field(default_factory=dict[int, str])
    linked: set[int] = field(default_factory=set[int])
    amounts: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, concept: str, word: int, rule: str, last: int | None = None, **arguments: int | str) -> int:
        """Add a concept, and make it the node of a word.

        Args:
            concept: Name of the concept, such as ``sleep-01``.
            word: Index of the word.
            rule: Name of the rule that adds the concept.
            last: Index of the last word, if the concept expresses several words.
            **arguments: Arguments of the concept, as for `GraphDraft.concept`.

        Returns:
            The index of the node.
        """
        return self.set_node(word, self.draft.concept(concept, word, rule, 0, last, **arguments))

    def set_node(self, word: int, node: int) -> int:
        """Make a node the only node of a word: both its arguments and its governor are linked to this node.

        Args:
            word: Index of the word.
            node: Index of the node.

        Returns:
            The index of the node.
        """
        self.head_nodes[word] = self.top_nodes[word] = node
        return node

    def erase(self, word: int) -> None:
        """Delete the node of a word.

        Args:
            word: Index of the word.
        """
        self.draft.drop(self.head_nodes.pop(word))
        self.top_nodes.pop(word)

    def merge_words(self, run: Sequence[Word], node: int) -> Word:
        """Give several adjacent words one node, as for *of course*. Later rules skip these words.

        Args:
            run: The words, adjacent and in text order.
            node: Index of the node.

        Returns:
            The head word among these words.
        """
        head = head_of(run)
        self.set_node(head.i, node)
        self.share_node(run, head)
        return head

    def share_node(self, run: Iterable[Word], head: Word) -> None:
        """Let several words share the node of one word. Later rules skip all these words.

        Args:
            run: The words; they may include ``head``.
            head: The word that has the node.
        """
        for word in run:
            self.done.add(word.i)
            if word.i != head.i:
                self.representatives[word.i] = head.i

    def redirect(self, old: int, new: int) -> None:
        """Replace a node with another node, in all arcs and for all words.

        Args:
            old: Index of the node to delete.
            new: Index of the node that takes its place.
        """
        self.draft.redirect(old, new)
        # If several words share the deleted node, let all these words refer to the new node.
        for nodes in (self.head_nodes, self.top_nodes):
            for word, node in nodes.items():
                if node == old:
                    nodes[word] = new

    def add_above(self, concept: str, anchor: int | None, under: int, role: str, rule: str) -> int:
        """Add a node above the topmost (outer) node of a word, such as ``obligate-01`` for *must sleep*.

        Args:
            concept: Concept of the new node.
            anchor: Index of the word that the new node expresses, such as *must*, or ``None``.
            under: Index of the word whose topmost node gets the new node as its parent.
            role: Role that links the new node to the former topmost node.
            rule: Name of the rule that adds the node.

        Returns:
            The index of the new node.
        """
        node = self.draft.concept(concept, anchor, rule, self.words[under].sentence)
        self.draft.link(node, role, self.top_nodes[under], rule)
        self.top_nodes[under] = node
        return node

    def add_constant(self, node: int, role: str, value: str, word: int | None, rule: str) -> int:
        """Add a constant to a node, such as ``:polarity -``.

        Args:
            node: Index of the node.
            role: Role of the constant, such as ``polarity``.
            value: The constant as PENMAN writes it, such as ``-``.
            word: Index of the word that the constant expresses, such as *not*, or ``None``.
            rule: Name of the rule that adds the constant.

        Returns:
            The index of the constant.
        """
        constant = self.draft.constant(value, word, rule, self.draft.nodes[node].sentence)
        self.draft.link(node, role, constant, rule)
        return constant

    def head(self, word: int, form: str) -> int:
        """Return the node to which a dependent of a word is linked.

        Args:
            word: Index of the governing word.
            form: Name of the relation of the dependent, such as ``amod`` or ``prep_of``.

        Returns:
            The core node of the governing word. For an agent noun (*painter*), most dependents are linked to
            the ``person`` node instead.
        """
        # In "a good teacher of French", "good" is linked to the person, but "French" is an argument of
        # teach-01.
        if word in self.persons and form not in {"prep_of", "compound", "nmod"}:
            return self.persons[word]
        return self.head_nodes[word]

    def node_owner(self, word: int) -> int:
        """Return the word whose node another word shares: *tall* for *is* in *She is tall*.

        Args:
            word: Index of the word that may share a node, such as *is*.

        Returns:
            The index of the word that has the node, such as *tall*; ``word`` itself if it shares no node.
        """
        # In "She is going to be tall", "going" shares the node of "be", and "be" the node of "tall". The
        # limit of 20 steps ends the loop if the rules have made a cycle by mistake.
        for _ in range(20):
            if word not in self.representatives:
                break
            word = self.representatives[word]
        return word

    def core_of(self, word: Word) -> int | None:
        """Return the node that takes the arguments of a word.

        Args:
            word: The word. It may share the node of another word, as *is* does in *She is tall*.

        Returns:
            The index of the node, or ``None`` if the word has no node.
        """
        return self.head_nodes.get(self.node_owner(word.i))

    def outer_of(self, word: Word) -> int | None:
        """Return the node to which the governor of a word is linked.

        Args:
            word: The word. It may share the node of another word, as *is* does in *She is tall*.

        Returns:
            The index of the node, or ``None`` if the word has no node.
        """
        return self.top_nodes.get(self.node_owner(word.i))

    def concept_of(self, word: int) -> str:
        """Return the concept of a word's core node, which is the node that takes the word's arguments.

        Args:
            word: Index of the word.

        Returns:
            The concept, such as ``sleep-01``; empty if the word has no node or the node is a constant.
        """
        node = self.head_nodes.get(word)
        return "" if node is None else self.draft.nodes[node].concept or ""

    def rule_of(self, word: int) -> str:
        """Return the name of the rule that created the node of a word.

        Args:
            word: Index of a word with a node.

        Returns:
            The name of the rule.
        """
        return self.draft.nodes[self.head_nodes[word]].rule


def head_of(run: Sequence[Word]) -> Word:
    """Return the head word of a phrase.

    Args:
        run: The words of the phrase.

    Returns:
        The first word that does not depend on another word of the phrase. If every word does, the last word.
    """
    inside = {word.i for word in run}
    return next((word for word in run if word.head not in inside or word.head == word.i), run[-1])


def quoted_words(words: Sequence[Word]) -> set[int]:
    """Return the words inside double quotation marks.

    Args:
        words: The words of the text.

    Returns:
        The indices of these words. If a quotation is not closed, it extends to the last word.
    """
    spoken: set[int] = set()
    inside = False
    for word in words:
        if word.text in QUOTES:
            # A straight quotation mark may open or close a quotation. Of two straight marks, the first one
            # opens the quotation and the second one closes it.
            inside = word.text in {"\u201c", "``"} or (word.text not in {"\u201d", "''"} and not inside)
        elif inside:
            spoken.add(word.i)
    return spoken

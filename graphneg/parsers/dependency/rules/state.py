"""What the rules share while they write one draft: words, tables, and the node of each word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.lexicon import ParserLexicon, word_class
from graphneg.parsers.dependency.text import Word

SUBJECTS = ("nsubj", "nsubjpass")
SPEECH = word_class("speech")
TIME_NOUNS = word_class("time-noun")
QUOTES = frozenset({'"', "\u201c", "\u201d", "''", "``"})


@dataclass(slots=True)
class RuleState:
    """A draft, and what the rules have settled about its words (which are named by their numbers).

    ``core`` is the node that takes a word's arguments, ``outer`` the one its governor links to.
    They differ where something stands over the word: a modal, a conjunction, ``person`` over
    ``paint-01``. ``proxies`` lead from a word without a node to the one whose node stands for it (from a
    copula to its predicate). ``done`` are words that need no further rule; ``attached`` those
    whose node has its role. ``persons`` are the nodes of persons named by what they do. ``forms`` are
    relations that a rule has put right, ``amounts`` the nodes of amounts (*a lot of*) by the noun that they
    measure.
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
        """Makes a concept the node of a word; arguments as those of :meth:`GraphDraft.concept`."""
        return self.set_node(word, self.draft.concept(concept, word, rule, 0, last, **arguments))

    def set_node(self, word: int, node: int) -> int:
        """Lets a word have a node that is there; returns the node."""
        self.core[word] = self.outer[word] = node
        return node

    def erase(self, word: int) -> None:
        """Deletes the node of a word."""
        self.draft.drop(self.core.pop(word))
        self.outer.pop(word)

    def cover(self, run: Sequence[Word], node: int) -> Word:
        """Lets a node stand for all words of a run, which are done; gives the word that heads them."""
        head = head_of(run)
        self.set_node(head.i, node)
        self.defer(run, head)
        return head

    def defer(self, run: Iterable[Word], head: Word) -> None:
        """Lets a word's node stand for all words of a run, which are done."""
        for word in run:
            self.done.add(word.i)
            if word.i != head.i:
                self.proxies[word.i] = head.i

    def redirect(self, old: int, new: int) -> None:
        """Lets all arcs of one node be another's, and the words that it stood for."""
        self.draft.redirect(old, new)
        for nodes in (self.core, self.outer):
            for word, node in nodes.items():
                if node == old:
                    nodes[word] = new

    def above(self, concept: str, anchor: int | None, under: int, role: str, rule: str) -> int:
        """Puts a new node over all that stands for word ``under`` so far."""
        node = self.draft.concept(concept, anchor, rule, self.words[under].sentence)
        self.draft.link(node, role, self.outer[under], rule)
        self.outer[under] = node
        return node

    def mark(self, node: int, role: str, value: str, word: int | None, rule: str) -> int:
        """Gives a node a constant, ``:polarity -``; returns the constant's number."""
        constant = self.draft.constant(value, word, rule, self.draft.nodes[node].sentence)
        self.draft.link(node, role, constant, rule)
        return constant

    def head(self, word: int, form: str) -> int:
        """The node that takes a dependent of this relation.

        Of *a good teacher of French*, *good* is the person's and *French* the teaching's.
        """
        if word in self.persons and form not in {"prep_of", "compound", "nmod"}:
            return self.persons[word]
        return self.core[word]

    def proxy(self, word: int) -> int:
        """The word whose node stands for ``word``: itself, or the end of its proxies."""
        for _ in range(20):
            if word not in self.proxies:
                break
            word = self.proxies[word]
        return word

    def core_of(self, word: Word) -> int | None:
        """The node that takes the arguments of a word or of its proxy."""
        return self.core.get(self.proxy(word.i))

    def outer_of(self, word: Word) -> int | None:
        """The node that governors of a word or of its proxy link to."""
        return self.outer.get(self.proxy(word.i))

    def concept_of(self, word: int) -> str:
        """The concept that stands for a word, or the empty string."""
        node = self.core.get(word)
        return "" if node is None else self.draft.nodes[node].concept or ""

    def rule_of(self, word: int) -> str:
        """The rule that made the node of a word."""
        return self.draft.nodes[self.core[word]].rule


def head_of(run: Sequence[Word]) -> Word:
    """The word of a run that depends on none of the others; else the last."""
    inside = {word.i for word in run}
    return next((word for word in run if word.head not in inside or word.head == word.i), run[-1])


def quoted_words(words: Sequence[Word]) -> set[int]:
    """The words inside quotation marks; a quotation that does not end goes on to the end."""
    spoken: set[int] = set()
    inside = False
    for word in words:
        if word.text in QUOTES:
            inside = word.text in {"\u201c", "``"} or (word.text not in {"\u201d", "''"} and not inside)
        elif inside:
            spoken.add(word.i)
    return spoken

"""What the rules share while they write one draft: words, tables, and the node of each word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.lexicon import Lexicon
from graphneg.parsers.dependency.words import Word


@dataclass(slots=True)
class Sketch:
    """``core`` is the node that takes a word's arguments, ``outer`` the one its governor links to.

    They differ where something stands over the word: a modal, a conjunction, ``person`` over
    ``paint-01``. ``stand_in`` leads from a word without a node to the one that speaks for it (a
    copula to its predicate). ``done`` are words that need no further rule; ``placed`` those
    whose node has its role. ``persons`` are the nodes
    of persons named by what they do. ``forms`` are relations that a rule has put right, ``amounts`` the nodes
    of amounts (*a lot of*) by the noun that they measure.
    """

    draft: Draft
    words: Sequence[Word]
    lexicon: Lexicon
    core: dict[int, int] = field(default_factory=dict[int, int])
    outer: dict[int, int] = field(default_factory=dict[int, int])
    stand_in: dict[int, int] = field(default_factory=dict[int, int])
    done: set[int] = field(default_factory=set[int])
    persons: dict[int, int] = field(default_factory=dict[int, int])
    forms: dict[int, str] = field(default_factory=dict[int, str])
    placed: set[int] = field(default_factory=set[int])
    amounts: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, concept: str, word: int, rule: str, last: int | None = None) -> int:
        """Makes a concept the node of a word."""
        node = self.draft.concept(concept, word, rule, last=last)
        self.core[word] = node
        self.outer[word] = node
        return node

    def above(self, concept: str, anchor: int | None, under: int, role: str, rule: str) -> int:
        """Puts a new node over all that stands for word ``under`` so far."""
        sentence = self.words[under].sentence
        node = self.draft.concept(concept, anchor, rule, sentence)
        self.draft.link(node, role, self.outer[under], rule)
        self.outer[under] = node
        return node

    def mark(self, node: int, role: str, value: str, word: int | None, rule: str) -> int:
        """Gives a node a constant, ``:polarity -``; returns the constant's number."""
        constant = self.draft.constant(value, word, rule, self.draft.nodes[node].sentence)
        self.draft.link(node, role, constant, rule)
        return constant

    def link(self, head: int, role: str, dep: int, rule: str) -> None:
        """Links two nodes."""
        self.draft.link(head, role, dep, rule)

    def head(self, word: int, form: str) -> int:
        """The node that takes a dependent of this relation: of *a good teacher of French*, *good* is
        the person's and *French* the teaching's."""
        if word in self.persons and form not in {"prep_of", "compound", "nmod"}:
            return self.persons[word]
        return self.core[word]

    def speaker(self, word: int) -> int:
        """The word that speaks for ``word``: itself, or its stand-in."""
        seen = 0
        while word in self.stand_in and seen < 20:
            word = self.stand_in[word]
            seen += 1
        return word

    def kids(self, word: int, *deps: str) -> list[Word]:
        """The dependents of a word with one of these relations, in order."""
        words = self.words
        return [words[k] for k in words[word].kids if words[k].dep in deps]

    def kid(self, word: int, *deps: str) -> Word | None:
        """The first of :meth:`kids`."""
        words = self.words
        for k in words[word].kids:
            if words[k].dep in deps:
                return words[k]
        return None

    def concept_of(self, word: int) -> str:
        """The concept that stands for a word, or the empty string."""
        node = self.core.get(word)
        return "" if node is None else self.draft.nodes[node].concept or ""

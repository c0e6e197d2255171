"""What was learned about words: what they meant in annotated graphs, written as fragments of graphs.

A fragment is what one word contributes to a graph, as a short text: ``person teach-01 ;1:ARG0:0`` is a person
that teaches; ``=- ever`` are two nodes without an arc between them. Constants have a ``=`` before them. A
word without nodes has the empty fragment.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from graphneg.parsers.dependency.draft import Draft, DraftArc
from graphneg.parsers.dependency.words import Word

_LETTERS = {"VERB": "v", "AUX": "v", "NOUN": "n", "PROPN": "n", "ADJ": "j", "ADV": "j"}
_CLASSES = {"VERB": "v", "AUX": "v", "NOUN": "n", "PROPN": "n"}


class Seen(NamedTuple):
    """How often a fragment came from a word, in each corpus."""

    fragment: str
    counts: tuple[int, int]


class Sense(NamedTuple):
    """A frame that a word goes by: as what part of speech, and the number of its examples."""

    frame: str
    letter: str
    examples: int


SentenceCounts = Mapping[str, Mapping[str, tuple[int, int]]]
"""What one sentence added to :attr:`Meanings.seen`: counts by word key and fragment."""


@dataclass(frozen=True, slots=True)
class Meanings:
    """``seen`` by word key (:func:`word_key`), ``senses`` by lemma, ``roles`` by frame (``ARG0=PAG``).

    ``clusters`` has a coarse and a fine class of similar words for each word.
    """

    seen: Mapping[str, Sequence[Seen]]
    senses: Mapping[str, Sequence[Sense]]
    roles: Mapping[str, Sequence[str]]
    clusters: Mapping[str, tuple[int, int]]

    def write(self) -> bytes:
        """The meanings as gzipped JSON."""
        data = {"seen": self.seen, "senses": self.senses, "roles": self.roles, "clusters": self.clusters}
        return gzip.compress(json.dumps(data, separators=(",", ":"), sort_keys=True).encode(), 9, mtime=0)


def read_meanings(data: bytes) -> Meanings:
    """A meanings as :meth:`Meanings.write` writes it."""
    stored = json.loads(gzip.decompress(data))
    return Meanings(
        {
            key: [Seen(fragment, (first, second)) for fragment, (first, second) in fragments]
            for key, fragments in stored["seen"].items()
        },
        {key: [Sense(*sense) for sense in senses] for key, senses in stored["senses"].items()},
        stored["roles"],
        {word: (coarse, fine) for word, (coarse, fine) in stored["clusters"].items()},
    )


def word_key(word: Word) -> str:
    """The lemma with its word class: verbs, nouns, and the rest are kept apart.

    Words of other classes share an entry, because taggers confuse them.
    """
    return f"{word.lemma}/{_CLASSES.get(word.pos, 'x')}"


def letter_of(word: Word) -> str:
    """PropBank's letter for the word's part of speech."""
    return _LETTERS.get(word.pos, "")


def sense_keys(word: Word) -> list[str]:
    """The lemma, and the lemma with each particle or preposition that depends on it."""
    particles = word.children("prt", "prep", "advmod")
    return [word.lemma] + [f"{word.lemma}_{particle.lower}" for particle in particles]


# Fragments.


class Fragment(NamedTuple):
    """A fragment read: its labels, constants marked, and its arcs (head, role, argument)."""

    labels: tuple[str, ...]
    arcs: tuple[tuple[int, str, int], ...]


def write_fragment(labels: Sequence[str], arcs: Iterable[tuple[int, str, int]]) -> str:
    """The text of a fragment, the same whatever the order of its nodes.

    >>> write_fragment(["teach-01", "person"], [(0, "ARG0", 1)])
    'person teach-01 ;1:ARG0:0'
    """
    order = sorted(range(len(labels)), key=lambda i: labels[i])
    number = {old: new for new, old in enumerate(order)}
    written = sorted(f"{number[h]}:{role}:{number[d]}" for h, role, d in arcs)
    return " ".join([_escaped(labels[i]) for i in order] + [";" + arc for arc in written])


def _escaped(label: str) -> str:
    """A label as one word; a backslash marks the few that would read as an arc."""
    word = "_".join(label.split()) or "_"
    return "\\" + word if word[0] in ";\\" else word


@lru_cache(maxsize=65536)
def read_fragment(text: str) -> Fragment:
    """The labels and arcs of a fragment.

    >>> read_fragment("person teach-01 ;1:ARG0:0")
    Fragment(labels=('person', 'teach-01'), arcs=((1, 'ARG0', 0),))
    """
    labels: list[str] = []
    arcs: list[tuple[int, str, int]] = []
    for part in text.split():
        if part[0] == ";":
            head, role, dep = part[1:].split(":")
            arcs.append((int(head), role, int(dep)))
        else:
            labels.append(part[1:] if part[0] == "\\" else part)
    return Fragment(tuple(labels), tuple(arcs))


def marked(concept: str | None, value: str | None) -> str:
    """A node's label as fragments write it."""
    return concept if concept is not None else f"={value}"


def draft_fragments(draft: Draft) -> dict[int, tuple[str, list[int]]]:
    """The fragment of each word that has nodes, and their numbers."""
    members: dict[int, list[int]] = {}
    for i, node in enumerate(draft.nodes):
        if not node.gone and node.token is not None:
            members.setdefault(node.token, []).append(i)
    inner: dict[int, list[DraftArc]] = {}
    for arc in draft.arcs:
        token = draft.nodes[arc.head].token
        if token is not None and token == draft.nodes[arc.dep].token:
            inner.setdefault(token, []).append(arc)
    fragments: dict[int, tuple[str, list[int]]] = {}
    for token, group in members.items():
        number = {i: n for n, i in enumerate(group)}
        arcs = [
            (number[arc.head], arc.role, number[arc.dep])
            for arc in inner.get(token, ())
            if arc.head in number and arc.dep in number
        ]
        labels = [marked(draft.nodes[i].concept, draft.nodes[i].value) for i in group]
        fragments[token] = (write_fragment(labels, arcs), group)
    return fragments


def put_fragment(draft: Draft, token: int, text: str, group: Sequence[int]) -> None:
    """Makes the nodes ``group`` of a word into another fragment; their arcs to other words stay.

    Each new label takes over the node of the same label, else the first that is left.
    """
    labels, arcs = read_fragment(text)
    left, nodes = list(group), list[int]()
    for label in labels:
        same = (i for i in left if marked(draft.nodes[i].concept, draft.nodes[i].value) == label)
        nodes.append(next(same, -1))
        if nodes[-1] >= 0:
            left.remove(nodes[-1])
    for n, label in enumerate(labels):
        if nodes[n] < 0 and left and label[0] != "=":
            nodes[n] = left.pop(0)
            draft.nodes[nodes[n]].concept, draft.nodes[nodes[n]].value = label, None
        elif nodes[n] < 0:
            add = draft.constant if label[0] == "=" else draft.concept
            nodes[n] = add(label.removeprefix("="), token, "learned")
    for i in left:
        draft.drop(i)
    members = set(group)
    draft.arcs = [arc for arc in draft.arcs if arc.head not in members or arc.dep not in members]
    for head, role, dep in arcs:
        draft.link(nodes[head], role, nodes[dep], "fragment")

"""What was learned: what words meant in annotated graphs, written as fragments of graphs, and the networks.

In: the files of ``data/learned``. Out: `Meanings`; and `Model`, a network, forward only: sums of feature
rows, one hidden layer, scores.

A fragment is what one word contributes to a graph, as a short text: ``person teach-01 ;1:ARG0:0`` is a person
that teaches; ``=- ever`` are two nodes without an arc between them. Constants have a ``=`` before them. A
word without nodes has the empty fragment.

A network turns bags of features (strings) into float32 arrays with a row for each bag. In the files, tables
of features are 8-bit integers with one scale. Each sentence is computed by itself, so that its scores do not
depend on what else is in a batch.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.text import Word

LETTERS = {"VERB": "v", "AUX": "v", "NOUN": "n", "PROPN": "n", "ADJ": "j", "ADV": "j"}
"""PropBank's letters for parts of speech."""
Array = Any
_MOST_KEPT = 50_000
TABLES = frozenset({"context", "candidate", "node", "pair", "denial"})
"""Arrays with a row for each feature; the last row in memory is all zeros."""


class Sense(NamedTuple):
    """A frame that a word goes by: as what part of speech, and the number of its examples."""

    frame: str
    letter: str
    examples: int


FragmentCounts = Mapping[str, Mapping[str, tuple[int, int]]]
"""How often each fragment came from a word in each of the two corpora, by word key (:func:`word_key`)."""


@dataclass(frozen=True, slots=True)
class Meanings:
    """Counts of fragments, ``senses`` by lemma, ``roles`` by frame (``ARG0=PAG``).

    ``clusters`` has a coarse and a fine class of similar words for each word.
    """

    seen: FragmentCounts
    senses: Mapping[str, Sequence[Sense]]
    roles: Mapping[str, Sequence[str]]
    clusters: Mapping[str, tuple[int, int]]


def read_meanings(data: bytes) -> Meanings:
    """Reads ``meanings.json.gz``."""
    stored = json.loads(gzip.decompress(data))
    return Meanings(
        {key: dict(fragments) for key, fragments in stored["seen"].items()},
        {key: [Sense(*sense) for sense in senses] for key, senses in stored["senses"].items()},
        stored["roles"],
        {word: (coarse, fine) for word, (coarse, fine) in stored["clusters"].items()},
    )


def word_key(word: Word) -> str:
    """The lemma with its word class: verbs, nouns, and the rest are kept apart.

    Words of other classes share an entry, because taggers confuse them.
    """
    return f"{word.lemma}/{LETTERS.get(word.pos, 'x').replace('j', 'x')}"


def sense_keys(word: Word) -> list[str]:
    """The lemma, and the lemma with each particle or preposition that depends on it."""
    particles = word.children("prt", "prep", "advmod")
    return [word.lemma] + [f"{word.lemma}_{particle.lower}" for particle in particles]


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
    written = sorted(f";{number[h]}:{role}:{number[d]}" for h, role, d in arcs)
    words = ["_".join(labels[i].split()) or "_" for i in order]
    # A backslash marks the few labels that would read as an arc.
    return " ".join(["\\" + word if word[0] in ";\\" else word for word in words] + written)


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


def draft_fragments(draft: GraphDraft) -> dict[int, tuple[str, list[int]]]:
    """The fragment of each word that has nodes, and their numbers."""
    members: dict[int, list[int]] = {}
    for i, node in enumerate(draft.nodes):
        if not node.gone and node.token is not None:
            members.setdefault(node.token, []).append(i)
    number = {i: n for group in members.values() for n, i in enumerate(group)}
    inner: dict[int | None, list[tuple[int, str, int]]] = {}
    for arc in draft.arcs:
        token = draft.nodes[arc.head].token
        if arc.head in number and arc.dep in number and token == draft.nodes[arc.dep].token:
            inner.setdefault(token, []).append((number[arc.head], arc.role, number[arc.dep]))
    labels = [marked(node.concept, node.value) for node in draft.nodes]
    return {
        token: (write_fragment([labels[i] for i in group], inner.get(token, ())), group)
        for token, group in members.items()
    }


def put_fragment(draft: GraphDraft, token: int, text: str, group: Sequence[int]) -> None:
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


@dataclass(frozen=True, slots=True)
class Model:
    """Feature numbers by table, arrays by name, and the names of the output classes."""

    features: Mapping[str, Mapping[str, int]]
    arrays: Mapping[str, Array]
    classes: Sequence[str] = ()

    def sums(self, table: str, rows: str, bags: Sequence[Sequence[str]]) -> Array:
        """The sum of ``arrays[rows]`` over each bag's features, float32 ``[len(bags), width]``."""
        known, weights = self.features[table], self.arrays[rows]
        if not bags:
            return np.zeros((0, weights.shape[1]), np.float32)
        nothing = len(known)
        ids: list[int] = []
        starts: list[int] = []
        for bag in bags:
            starts.append(len(ids))
            ids.extend([known.get(feature, nothing) for feature in bag])
            ids.append(nothing)
        return np.add.reduceat(weights[ids], starts, axis=0)


class GroupSums:
    """Sums over groups of features, each group summed once and kept, for groups that come again and again.

    ``expand`` writes out a group's features. A sum does not depend on what was kept before.
    """

    def __init__(self, model: Model, table: str, expand: Callable[[Any], Sequence[str]]) -> None:
        self._model, self._table, self._expand = model, table, expand
        self._places: dict[Any, int] = {}
        self._kept: Array = np.zeros((_MOST_KEPT, model.arrays[table].shape[1]), np.float32)
        self._lock = Lock()

    def sums(self, bags: Sequence[Sequence[Any]]) -> Array:
        """The sum of the rows of each bag of groups (none may be empty), float32 ``[len(bags), width]``."""
        with self._lock:
            new = list(dict.fromkeys([group for bag in bags for group in bag if group not in self._places]))
            if len(self._places) + len(new) > _MOST_KEPT:
                self._places.clear()
                new = list(dict.fromkeys([group for bag in bags for group in bag]))
            if new:
                begin = len(self._places)
                rows = self._model.sums(self._table, self._table, [self._expand(group) for group in new])
                if begin + len(new) > len(self._kept):
                    self._kept = np.zeros((begin + len(new), rows.shape[1]), np.float32)
                self._kept[begin : begin + len(new)] = rows
                self._places.update(zip(new, range(begin, begin + len(new)), strict=True))
            places = [self._places[group] for bag in bags for group in bag]
            starts = np.cumsum([0] + [len(bag) for bag in bags[:-1]])
            return np.add.reduceat(self._kept[places], starts, axis=0)


def read_model(data: bytes) -> Model:
    """Reads a network's ``.npz``: its arrays, and the names of features and classes."""
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        files = list(stored.files)
        arrays = {name[2:]: stored[name].astype(np.float32) for name in files if name[:2] == "a."}
        for name in TABLES & arrays.keys():
            arrays[name] = np.pad(arrays[name] * stored["s." + name], ((0, 1), (0, 0)))
        texts = {name[2:]: stored[name].tobytes().decode().split("\n") for name in files if name[:2] == "t."}
    classes = texts.pop("classes", [])
    features = {name: {feature: i for i, feature in enumerate(lines)} for name, lines in texts.items()}
    return Model(features, arrays, classes)

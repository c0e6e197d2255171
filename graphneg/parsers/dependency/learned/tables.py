"""The files of the trained models: what words meant in annotated graphs, and the networks.

`Meanings` counts the fragments that words became. A fragment is what one word contributes to a graph, as a
short text: ``person teach-01 ;1:ARG0:0`` is a person who teaches (*teacher*): node 1 has node 0 as ``ARG0``.
A constant is marked with ``=``; ``=- ever`` (*never*) are two nodes without an arc between them. A word
without nodes has the empty fragment.

`Model` is a network with one hidden layer, for inference only. It sums the rows of the active features
(strings) and returns float32 arrays with one row per bag of features. Feature tables are stored as 8-bit
integers with a common scale. Sums do not depend on what else is in a batch, so a text always gets the same
scores.

>>> read_fragment("person teach-01 ;1:ARG0:0").arcs
((1, 'ARG0', 0),)
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
"""PropBank's letter for a universal part of speech."""
Array = Any
_MOST_KEPT = 50_000
"""Maximum number of cached feature groups."""
TABLES = frozenset({"context", "candidate", "node", "pair", "denial"})
"""Names of the arrays with one row per feature. In memory they have one more row of zeros, for unknown
features.
"""


class Sense(NamedTuple):
    """A frame of a word.

    Attributes:
        frame: The frame id.
        letter: PropBank's letter of the word's part of speech.
        examples: Number of annotated examples.
    """

    frame: str
    letter: str
    examples: int


FragmentCounts = Mapping[str, Mapping[str, tuple[int, int]]]
"""By word key (`word_key`), how often each fragment came from the word in each of the two corpora."""


@dataclass(frozen=True, slots=True)
class Meanings:
    """What words meant in annotated graphs, and lexical tables.

    Attributes:
        seen: Counts of fragments by word.
        senses: PropBank's senses by lemma.
        roles: Roles by frame: ``ARG0=PAG``.
        clusters: Coarse and fine cluster of similar words by lemma.
    """

    seen: FragmentCounts
    senses: Mapping[str, Sequence[Sense]]
    roles: Mapping[str, Sequence[str]]
    clusters: Mapping[str, tuple[int, int]]


def read_meanings(data: bytes) -> Meanings:
    """Read ``meanings.json.gz``.

    Args:
        data: The bytes of the file.

    Returns:
        The tables.
    """
    stored = json.loads(gzip.decompress(data))
    return Meanings(
        {key: dict(fragments) for key, fragments in stored["seen"].items()},
        {key: [Sense(*sense) for sense in senses] for key, senses in stored["senses"].items()},
        stored["roles"],
        {word: (coarse, fine) for word, (coarse, fine) in stored["clusters"].items()},
    )


def word_key(word: Word) -> str:
    """Return the key under which the meanings of a word are counted: lemma and word class.

    Verbs and nouns have classes of their own. All other words share one, because taggers confuse their
    classes.

    Args:
        word: The word.

    Returns:
        ``go/v``, ``dog/n``, ``red/x``.
    """
    return f"{word.lemma}/{LETTERS.get(word.pos, 'x').replace('j', 'x')}"


def sense_keys(word: Word) -> list[str]:
    """Return the lemmas under which PropBank may list a word.

    Args:
        word: The word.

    Returns:
        The lemma, and the lemma with each particle or preposition below it: ``give_up``.
    """
    # "give up", "look after", "come back": PropBank joins verb and particle by an underscore.
    particles = word.children("prt", "prep", "advmod")
    return [word.lemma] + [f"{word.lemma}_{particle.lower}" for particle in particles]


class Fragment(NamedTuple):
    """A parsed fragment.

    Attributes:
        labels: Concepts, and constants marked with ``=``.
        arcs: Triples of head, role and argument, by index of the label.
    """

    labels: tuple[str, ...]
    arcs: tuple[tuple[int, str, int], ...]


def write_fragment(labels: Sequence[str], arcs: Iterable[tuple[int, str, int]]) -> str:
    """Return the text of a fragment, which does not depend on the order of its nodes.

    >>> write_fragment(["teach-01", "person"], [(0, "ARG0", 1)])
    'person teach-01 ;1:ARG0:0'

    Args:
        labels: Concepts, and constants marked with ``=``.
        arcs: Triples of head, role and argument, by index of the label.

    Returns:
        The text.
    """
    order = sorted(range(len(labels)), key=lambda i: labels[i])
    number = {old: new for new, old in enumerate(order)}
    written = sorted(f";{number[h]}:{role}:{number[d]}" for h, role, d in arcs)
    words = ["_".join(labels[i].split()) or "_" for i in order]
    # A backslash escapes the few labels that would read as an arc.
    return " ".join(["\\" + word if word[0] in ";\\" else word for word in words] + written)


@lru_cache(maxsize=65536)
def read_fragment(text: str) -> Fragment:
    """Parse a fragment.

    >>> read_fragment("person teach-01 ;1:ARG0:0")
    Fragment(labels=('person', 'teach-01'), arcs=((1, 'ARG0', 0),))

    Args:
        text: The text of the fragment.

    Returns:
        Its labels and arcs.
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
    """Return the label of a node in a fragment.

    Args:
        concept: Its concept, or ``None``.
        value: Its constant, or ``None``.

    Returns:
        The concept, or ``=`` and the constant.
    """
    return concept if concept is not None else f"={value}"


def draft_fragments(draft: GraphDraft) -> dict[int, tuple[str, list[int]]]:
    """Return the fragment of each word that has nodes.

    Args:
        draft: The draft.

    Returns:
        By word its fragment, and the indices of its nodes.
    """
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
    """Replace the nodes of a word by another fragment; their arcs to other words stay.

    A new label takes over the node with the same label, else the first node that is left.

    Args:
        draft: The draft, which is changed in place.
        token: Index of the word.
        text: The new fragment.
        group: Indices of the word's nodes.
    """
    labels, arcs = read_fragment(text)
    left, nodes = list(group), list[int]()
    for label in labels:
        same = (i for i in left if marked(draft.nodes[i].concept, draft.nodes[i].value) == label)
        nodes.append(next(same, -1))
        if nodes[-1] >= 0:
            left.remove(nodes[-1])
    for n, label in enumerate(labels):
        # A concept takes over an old node, so that the node's arcs to other words are kept.
        if nodes[n] < 0 and left and label[0] != "=":
            nodes[n] = left.pop(0)
            draft.nodes[nodes[n]].concept, draft.nodes[nodes[n]].value = label, None
        elif nodes[n] < 0:
            add = draft.constant if label[0] == "=" else draft.concept
            nodes[n] = add(label.removeprefix("="), token, "learned")
    for i in left:
        draft.drop(i)
    # Arcs within the old fragment are replaced by those of the new one.
    members = set(group)
    draft.arcs = [arc for arc in draft.arcs if arc.head not in members or arc.dep not in members]
    for head, role, dep in arcs:
        draft.link(nodes[head], role, nodes[dep], "fragment")


@dataclass(frozen=True, slots=True)
class Model:
    """A network for inference.

    Attributes:
        features: Row of each feature by table.
        arrays: Weights by name.
        classes: Names of the output classes.
    """

    features: Mapping[str, Mapping[str, int]]
    arrays: Mapping[str, Array]
    classes: Sequence[str] = ()

    def sums(self, table: str, rows: str, bags: Sequence[Sequence[str]]) -> Array:
        """Sum the weights of the active features of each bag.

        Args:
            table: Table in which features are looked up.
            rows: Name of the array of weights.
            bags: Feature names per bag; unknown features count as zero.

        Returns:
            float32 array ``[len(bags), width]``.
        """
        known, weights = self.features[table], self.arrays[rows]
        if not bags:
            return np.zeros((0, weights.shape[1]), np.float32)
        nothing = len(known)
        ids: list[int] = []
        starts: list[int] = []
        for bag in bags:
            starts.append(len(ids))
            ids.extend([known.get(feature, nothing) for feature in bag])
            # Every bag ends with the zero row, because reduceat cannot sum an empty slice.
            ids.append(nothing)
        return np.add.reduceat(weights[ids], starts, axis=0)


class GroupSums:
    """Sums over groups of features, each computed once and cached.

    A sum does not depend on what is in the cache.
    """

    def __init__(self, model: Model, table: str, expand: Callable[[Any], Sequence[str]]) -> None:
        """Initialize an empty cache.

        Args:
            model: The network.
            table: Name of the feature table and of its array.
            expand: Function from a group to its features.
        """
        self._model, self._table, self._expand = model, table, expand
        self._places: dict[Any, int] = {}
        self._kept: Array = np.zeros((_MOST_KEPT, model.arrays[table].shape[1]), np.float32)
        self._lock = Lock()

    def sums(self, bags: Sequence[Sequence[Any]]) -> Array:
        """Sum the weights of each bag of groups.

        Args:
            bags: Groups per bag; no bag may be empty.

        Returns:
            float32 array ``[len(bags), width]``.
        """
        with self._lock:
            new = list(dict.fromkeys([group for bag in bags for group in bag if group not in self._places]))
            # The cache is full: start anew with the groups of this call.
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
    """Read a network from an ``.npz`` file.

    Args:
        data: The bytes of the file.

    Returns:
        The network, with its feature tables scaled to float32.
    """
    # Array names start with "a." (weights), "s." (scale of a feature table) or "t." (text, one name per
    # line). Pickles are refused, since they could run code.
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        files = list(stored.files)
        arrays = {name[2:]: stored[name].astype(np.float32) for name in files if name[:2] == "a."}
        for name in TABLES & arrays.keys():
            arrays[name] = np.pad(arrays[name] * stored["s." + name], ((0, 1), (0, 0)))
        texts = {name[2:]: stored[name].tobytes().decode().split("\n") for name in files if name[:2] == "t."}
    classes = texts.pop("classes", [])
    features = {name: {feature: i for i, feature in enumerate(lines)} for name, lines in texts.items()}
    return Model(features, arrays, classes)

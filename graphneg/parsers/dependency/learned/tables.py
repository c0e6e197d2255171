"""Read the files of the trained models: counts of word meanings, and networks.

`Meanings` counts how often each word had each fragment in annotated graphs. A fragment is the part of a
graph that one word contributes, written as a short text. For *teacher*, a person who teaches, the fragment is
``person teach-01 ;1:ARG0:0``. It has the nodes 0 (``person``) and 1 (``teach-01``), and node 0 is the
``ARG0`` of node 1. Constants are marked with ``=``. The fragment ``=- ever`` of *never* has two nodes without
an arc between them. A word without nodes has the empty fragment.

`Model` is a network with one hidden layer that can only be used for inference. Features are strings. A list
of features that are active together is called a bag. For each bag, the network sums the weights of its
features and returns the sums as one row of a float32 array. Feature weights are stored as 8-bit integers with
a common scale. The sum for a bag does not depend on the other bags in a batch, so the same text always gets
the same scores.

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
"""PropBank's letter for each universal part of speech: ``v``, ``n`` or ``j``."""
Array = Any
_MOST_KEPT = 50_000
"""Maximum number of feature groups whose sums are cached."""
TABLES = frozenset({"context", "candidate", "node", "pair", "denial"})
"""Names of the arrays that have one row per feature. When an array is loaded, a row of zeros is added for
unknown features.
"""


class Sense(NamedTuple):
    """A PropBank frame that a word can have.

    Attributes:
        frame: The frame id.
        letter: PropBank's letter for the part of speech of the word: ``v``, ``n`` or ``j``.
        examples: Number of annotated examples of the frame.
    """

    frame: str
    letter: str
    examples: int


FragmentCounts = Mapping[str, Mapping[str, tuple[int, int]]]
"""For each word key (see `word_key`) and each fragment, how often the word had the fragment in each of the
two training corpora.
"""


@dataclass(frozen=True, slots=True)
class Meanings:
    """Tables of what words can mean: counts from annotated graphs, PropBank frames and word clusters.

    Attributes:
        seen: Counts of the graph fragments of each word.
        senses: PropBank frames, keyed by lemma.
        roles: Numbered roles with function tags, such as ``ARG0=PAG``, keyed by frame id.
        clusters: For each lemma, the number of its coarse cluster and the number of its fine cluster. A
            cluster consists of similar words.
    """

    seen: FragmentCounts
    senses: Mapping[str, Sequence[Sense]]
    roles: Mapping[str, Sequence[str]]
    clusters: Mapping[str, tuple[int, int]]


def read_meanings(data: bytes) -> Meanings:
    """Read the tables of word meanings from ``meanings.json.gz``.

    Args:
        data: The bytes of the file.

    Returns:
        The counts of fragments, the PropBank frames and the word clusters.
    """
    stored = json.loads(gzip.decompress(data))
    return Meanings(
        {key: dict(fragments) for key, fragments in stored["seen"].items()},
        {key: [Sense(*sense) for sense in senses] for key, senses in stored["senses"].items()},
        stored["roles"],
        {word: (coarse, fine) for word, (coarse, fine) in stored["clusters"].items()},
    )


def word_key(word: Word) -> str:
    """Return the key under which the fragments of a word are counted: its lemma and word class.

    Verbs and nouns are separate classes. All other words form one class, because taggers often confuse them.

    Args:
        word: The word, with its lemma and part of speech.

    Returns:
        A key such as ``go/v``, ``dog/n`` or ``red/x``.
    """
    return f"{word.lemma}/{LETTERS.get(word.pos, 'x').replace('j', 'x')}"


def sense_keys(word: Word) -> list[str]:
    """Return the lemmas under which PropBank may list a word.

    Args:
        word: The word, with its lemma and dependents.

    Returns:
        The lemma, and the lemma joined with each particle or preposition below the word: ``give_up``.
    """
    # PropBank joins a verb and its particle with an underscore: "give_up", "look_after", "come_back".
    particles = word.children("prt", "prep", "advmod")
    return [word.lemma] + [f"{word.lemma}_{particle.lower}" for particle in particles]


class Fragment(NamedTuple):
    """A graph fragment, split into the labels of its nodes and its arcs.

    Attributes:
        labels: Labels of the nodes: concepts, and constants marked with ``=``.
        arcs: Triples of head, role and argument. Head and argument are indices of labels.
    """

    labels: tuple[str, ...]
    arcs: tuple[tuple[int, str, int], ...]


def write_fragment(labels: Sequence[str], arcs: Iterable[tuple[int, str, int]]) -> str:
    """Write a fragment as a text that does not depend on the order of its nodes.

    >>> write_fragment(["teach-01", "person"], [(0, "ARG0", 1)])
    'person teach-01 ;1:ARG0:0'

    Args:
        labels: Labels of the nodes: concepts, and constants marked with ``=``.
        arcs: Triples of head, role and argument. Head and argument are indices of labels.

    Returns:
        The text, in the notation that the module describes.
    """
    order = sorted(range(len(labels)), key=lambda i: labels[i])
    number = {old: new for new, old in enumerate(order)}
    written = sorted(f";{number[h]}:{role}:{number[d]}" for h, role, d in arcs)
    words = ["_".join(labels[i].split()) or "_" for i in order]
    # A label that starts with ";" would be read as an arc, so it is escaped with a backslash.
    return " ".join(["\\" + word if word[0] in ";\\" else word for word in words] + written)


@lru_cache(maxsize=65536)
def read_fragment(text: str) -> Fragment:
    """Read a graph fragment from its text form.

    >>> read_fragment("person teach-01 ;1:ARG0:0")
    Fragment(labels=('person', 'teach-01'), arcs=((1, 'ARG0', 0),))

    Args:
        text: The fragment in the notation that the module describes.

    Returns:
        The labels and the arcs of the fragment.
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
    """Return the label of a node in a graph fragment.

    Args:
        concept: The concept of the node, or ``None``.
        value: The value of the node if it is a constant, or ``None``.

    Returns:
        The concept; for a constant, ``=`` followed by the value.
    """
    return concept if concept is not None else f"={value}"


def draft_fragments(draft: GraphDraft) -> dict[int, tuple[str, list[int]]]:
    """Return the nodes and arcs that express each word, as a graph fragment per word.

    Args:
        draft: The graph under construction.

    Returns:
        For each word with a node, keyed by its token index: the fragment as text, and the indices of its
        nodes in the graph.
    """
    members: dict[int, list[int]] = {}
    for i, node in enumerate(draft.nodes):
        if not node.deleted and node.token is not None:
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
    """Replace the nodes of a word with a new graph fragment, and keep the arcs to other words.

    If ``play-11`` replaces ``play-01``, the node stays and only its concept changes. So its arcs to other
    words are kept. A node of the fragment takes the old node with the same label; if there is none, a concept
    takes the first old node that is left.

    Args:
        draft: The graph under construction; it is changed in place.
        token: Index of the word.
        text: The new fragment.
        group: Indices of the nodes that the word had before.
    """
    labels, arcs = read_fragment(text)
    left, nodes = list(group), list[int]()
    for label in labels:
        same = (i for i in left if marked(draft.nodes[i].concept, draft.nodes[i].value) == label)
        nodes.append(next(same, -1))
        if nodes[-1] >= 0:
            left.remove(nodes[-1])
    for n, label in enumerate(labels):
        # Write a new concept into one of the word's old nodes, so that the arcs between this node and the
        # nodes of other words are kept.
        if nodes[n] < 0 and left and label[0] != "=":
            nodes[n] = left.pop(0)
            draft.nodes[nodes[n]].concept, draft.nodes[nodes[n]].value = label, None
        elif nodes[n] < 0:
            add = draft.constant if label[0] == "=" else draft.concept
            nodes[n] = add(label.removeprefix("="), token, "learned")
    for i in left:
        draft.drop(i)
    # Delete the arcs between the old nodes, and add the arcs of the new fragment.
    members = set(group)
    draft.arcs = [arc for arc in draft.arcs if arc.head not in members or arc.dep not in members]
    for head, role, dep in arcs:
        draft.link(nodes[head], role, nodes[dep], "fragment")


@dataclass(frozen=True, slots=True)
class Model:
    """The weights of a trained network with one hidden layer.

    Attributes:
        features: For each feature table, the row index of each feature.
        arrays: Arrays of weights, keyed by name.
        classes: Names of the output classes; empty if the network has a single output.
    """

    features: Mapping[str, Mapping[str, int]]
    arrays: Mapping[str, Array]
    classes: Sequence[str] = ()

    def sums(self, table: str, rows: str, bags: Sequence[Sequence[str]]) -> Array:
        """Sum the weights of the features in each bag. A bag is a list of features.

        Args:
            table: Name of the feature table, which gives the row of each feature.
            rows: Name of the array of weights.
            bags: Lists of feature names. Unknown features count as zero.

        Returns:
            One row of sums per bag, as a float32 array of shape ``[len(bags), width]``. The width is the
            number of columns of the array of weights.
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
            # Add a row of zeros to every bag, because NumPy's `reduceat` cannot sum an empty bag.
            ids.append(nothing)
        return np.add.reduceat(weights[ids], starts, axis=0)


class GroupSums:
    """A cache for a network whose input is sparse: the sum of the weights of each group of features.

    The same group of features occurs in many inputs, but its weights are summed only once.
    The results are the same whether or not a group is in the cache.
    """

    def __init__(self, model: Model, table: str, expand: Callable[[Any], Sequence[str]]) -> None:
        """Initialize an empty cache.

        Args:
            model: The network whose weights are summed.
            table: Name of the feature table and of the array of weights.
            expand: Function that returns the names of the features of a group.
        """
        self._model, self._table, self._expand = model, table, expand
        self._places: dict[Any, int] = {}
        self._kept: Array = np.zeros((_MOST_KEPT, model.arrays[table].shape[1]), np.float32)
        self._lock = Lock()

    def sums(self, bags: Sequence[Sequence[Any]]) -> Array:
        """Sum the weights of the feature groups in each bag. A bag is a list of feature groups.

        Args:
            bags: Lists of feature groups. No list may be empty.

        Returns:
            One row of sums per bag, as a float32 array of shape ``[len(bags), width]``. The width is the
            number of columns of the array of weights.
        """
        with self._lock:
            new = list(dict.fromkeys([group for bag in bags for group in bag if group not in self._places]))
            # If the cache would become too large, empty it first. Then add the groups that this call needs.
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
        The network. Its feature tables are converted from 8-bit integers to float32.
    """
    # The names of arrays start with "a." (weights), "s." (scale of a table) or "t." (feature names, one per
    # line). Pickled objects are not accepted, because unpickling can run code.
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        files = list(stored.files)
        arrays = {name[2:]: stored[name].astype(np.float32) for name in files if name[:2] == "a."}
        for name in TABLES & arrays.keys():
            arrays[name] = np.pad(arrays[name] * stored["s." + name], ((0, 1), (0, 0)))
        texts = {name[2:]: stored[name].tobytes().decode().split("\n") for name in files if name[:2] == "t."}
    classes = texts.pop("classes", [])
    features = {name: {feature: i for i, feature in enumerate(lines)} for name, lines in texts.items()}
    return Model(features, arrays, classes)

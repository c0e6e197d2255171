"""The objects that graphneg passes around: dialogues, AMR graphs, edits, negatives.

All are immutable. Turns are numbered from 0. Ids are readable and made from the data:
``dailydialog/test/12`` is a dialogue, ``dailydialog/test/12#3`` its fourth utterance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class AmrNode(NamedTuple):
    """A node of an AMR graph, in the place where the text introduces it.

    ``k`` numbers nodes in written order from 0 (the top); ``last`` is the highest ``k``
    in the subtree, so a subtree is the range ``k..last``. ``up`` is the ``k`` of the
    node above, ``role`` the role as it is written there (``ARG0``, ``ARG0-of``) and
    ``pos`` its place among that node's branches; the top has ``None``, ``None``, 0.
    A variable has ``var`` and ``concept``; a constant has ``value``, as written.
    ``align`` and ``role_align`` keep alignment marks (``~e.3``) as written.
    """

    k: int
    last: int
    var: str | None
    concept: str | None
    value: str | None
    up: int | None
    role: str | None
    pos: int
    align: str | None = None
    role_align: str | None = None

    @property
    def label(self) -> str:
        """The concept, or the value of a constant."""
        return self.concept if self.concept is not None else (self.value or "")


class Mention(NamedTuple):
    """A reentrancy: the text names a variable again, under node ``up``."""

    up: int
    role: str
    pos: int
    target: int
    align: str | None = None
    role_align: str | None = None


@dataclass(frozen=True, slots=True)
class AmrGraph:
    """An AMR graph as a tree in written order, plus its reentrancies.

    ``nodes[i].k == i``; mentions are in the order of ``up``, then ``pos``. ``metadata`` holds
    the comment lines above the graph, as written. ``spans`` gives each node's token range
    ``(start, end)`` where one is known.
    """

    id: str
    nodes: tuple[AmrNode, ...]
    mentions: tuple[Mention, ...] = ()
    metadata: tuple[str, ...] = ()
    spans: Mapping[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])

    @property
    def top(self) -> AmrNode:
        """The node that the graph begins with."""
        return self.nodes[0]

    @property
    def depth(self) -> int:
        """How many roles the deepest node is away from the top, in the tree as written."""
        depths: list[int] = []
        for node in self.nodes:
            depths.append(0 if node.up is None else depths[node.up] + 1)
        return max(depths)

    def subtree(self, k: int) -> tuple[AmrNode, ...]:
        """The nodes introduced at or under ``k``, in written order."""
        return self.nodes[k : self.nodes[k].last + 1]

    def children(self, k: int) -> list[AmrNode]:
        """The nodes introduced directly under ``k``, in written order."""
        found: list[AmrNode] = []
        child, last = k + 1, self.nodes[k].last
        while child <= last:
            found.append(self.nodes[child])
            child = self.nodes[child].last + 1
        return found


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn. ``amr`` is its graph's PENMAN text where the corpus brings one."""

    turn: int
    speaker: str
    text: str
    amr: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Response:
    """A response to the turns up to and including ``turn``; label 1 fits, 0 does not."""

    turn: int
    text: str
    label: int
    source: str
    amr: str | None = None


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue as a loader yields it. ``id`` is ``corpus/split/name``, ``place`` FILE:LINE or FILE."""

    id: str
    corpus: str
    split: str
    utterances: tuple[Utterance, ...]
    responses: tuple[Response, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    place: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class GraphText:
    """A PENMAN text for utterances that are loaded already (or become a dialogue of their own).

    ``id`` and ``text`` come from ``::id`` and ``::snt``; either may match an utterance.
    """

    penman: str
    id: str | None
    text: str | None
    place: str


@dataclass(frozen=True, slots=True)
class Opposite:
    """One ConceptNet edge: ``start`` and ``end`` are lemmas or phrases, ``not_`` relations directed."""

    start: str
    end: str
    relation: str
    weight: float
    source: str
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Frame:
    """A PropBank roleset: ``like-01``, its lemma, its numbered roles (``ARG0``, ``ARG1``)."""

    id: str
    lemma: str
    roles: tuple[str, ...]
    descriptions: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a pool, from which responses can be taken.

    ``id`` is ``source/name``, ``source`` the resource or corpus; ``dialogue`` is the id of the dialogue
    that says it, where one does. ``clause``: it is known to be a whole clause, whatever its words tell.
    """

    id: str
    text: str
    source: str
    dialogue: str | None = None
    clause: bool = False


@dataclass(frozen=True, slots=True)
class LexiconEntry:
    """One line of a lexicon: ``table`` is ``class``, ``move`` or ``opposite``, its cells follow.

    `graphneg.english.lexicon` says what they hold.
    """

    table: str
    cells: tuple[str, ...]
    place: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """An input item that was refused: where it stands and why. Loaders yield it and go on."""

    place: str
    reason: str


Record = Dialogue | GraphText | Opposite | Frame | Sentence | LexiconEntry | Rejected


class Edit(NamedTuple):
    """One primitive operation on one graph; several with the same ``site`` belong together.

    ``op`` is ``set``, ``add``, ``drop``, ``graft`` or ``wrap``. The node it works at is
    number ``k`` of graph ``amr`` as it was before any edit; ``k == -1`` is the top as it
    stands by then. ``copy_of`` names another graph when the node is one of the copies
    that an earlier graft of the same site made of that graph's nodes; ``k`` then counts there.

    ===== ==========================================================================
    set   ``concept`` or ``value`` becomes the node's label
    add   a new leaf under the node: ``role`` and ``concept`` or ``value``
    drop  the node's subtree goes; what is mentioned elsewhere stays there
    graft a copy of the subtree ``from_amr``/``from_k``: under the node where ``role``
          is given (``snt`` and ``op`` are numbered in order), else in its place
    wrap  a new node ``concept`` above the node, which becomes its ``role``
    ===== ==========================================================================
    """

    transform: str
    category: str
    site: str
    op: str
    amr: str
    k: int
    role: str | None = None
    concept: str | None = None
    value: str | None = None
    from_amr: str | None = None
    from_k: int | None = None
    copy_of: str | None = None


@dataclass(frozen=True, slots=True)
class EditedUtterance:
    """What a decoder reads: an utterance, its graph before and after, and the edits between.

    ``sources`` holds, by graph id, each graph that a graft copied from, with the text of
    its utterance (``source_texts``).
    """

    id: str
    speaker: str
    text: str
    before: AmrGraph
    after: AmrGraph
    edits: tuple[Edit, ...]
    sources: Mapping[str, AmrGraph] = field(default_factory=dict[str, AmrGraph])
    source_texts: Mapping[str, str] = field(default_factory=dict[str, str])


class Decoded(NamedTuple):
    """A decoder's answer: the new text, or the reason why there is none.

    ``reason`` starts with a stable code, a colon and a sentence: ``no-alignment: ...``.
    """

    text: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Negative:
    """One wrong response or incoherent dialogue, with where it came from.

    ``target`` is ``response`` (only the response is edited) or ``dialogue`` (any turn).
    ``speaker`` says the response; empty where nobody knows. ``original`` has the unedited texts; ``None``
    there means unchanged.
    """

    id: str
    corpus: str
    split: str
    dialogue: str
    turn: int
    context: Sequence[Mapping[str, str]]
    response: str
    speaker: str = field(default="", kw_only=True)
    label: int
    original: Mapping[str, Any]
    categories: Sequence[str]
    recipe: str
    target: str
    seed: int
    decoder: str
    edits: Sequence[Mapping[str, Any]]
    amr: Mapping[str, Mapping[str, str]]
    scores: Mapping[str, float] = field(default_factory=dict[str, float])

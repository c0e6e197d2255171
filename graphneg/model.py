"""The objects that graphneg passes around: dialogues, AMR graphs, edits, negatives.

All of them are immutable. Turns are numbered from 0. Ids are readable and made from the data:
``dailydialog/test/12`` is a dialogue, ``dailydialog/test/12#3`` is its fourth utterance, and
``dailydialog/test/12#3@penman`` is the graph of that utterance that was loaded with the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class AmrNode(NamedTuple):
    """A node of an AMR graph, where the text of the graph introduces it.

    A variable has ``var`` and ``concept``, and a constant has ``value``.

    Attributes:
        k: Number of the node in written order; the top is 0.
        last: Highest number in its subtree, so that the subtree is the range ``k..last``.
        var: Name of the variable.
        concept: Concept of the variable.
        value: Value of the constant, as written.
        up: Number of the parent; None for the top.
        role: Role under the parent, as written (``ARG0``, ``ARG0-of``); None for the top.
        pos: Index among the branches of the parent; 0 for the top.
        align: Alignment mark of the node (``~e.3``), as written.
        role_align: Alignment mark of the role, as written.
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
    """A reentrancy: a branch whose target the text of the graph names again.

    Attributes:
        up: Number of the node that has the branch.
        role: Role of the branch, as written.
        pos: Index among the branches of the node.
        target: Number of the node that is named again.
        align: Alignment mark of the variable, as written.
        role_align: Alignment mark of the role, as written.
    """

    up: int
    role: str
    pos: int
    target: int
    align: str | None = None
    role_align: str | None = None


@dataclass(frozen=True, slots=True)
class AmrGraph:
    """An AMR graph: a tree in written order, and its reentrancies.

    Attributes:
        id: Id of the graph.
        nodes: The nodes; ``nodes[i].k == i``.
        mentions: The reentrancies, sorted by ``up`` and ``pos``.
        metadata: The comment lines above the graph, as written.
        spans: Token ranges ``(start, end)`` of nodes, where they are known; ``end`` is exclusive.
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
        """The number of roles from the top to the deepest node, in the tree as written."""
        depths: list[int] = []
        for node in self.nodes:
            depths.append(0 if node.up is None else depths[node.up] + 1)
        return max(depths)

    def subtree(self, k: int) -> tuple[AmrNode, ...]:
        """Return the nodes of a subtree, in written order.

        Args:
            k: Number of the top of the subtree.

        Returns:
            The nodes.
        """
        return self.nodes[k : self.nodes[k].last + 1]

    def children(self, k: int) -> list[AmrNode]:
        """Return the nodes directly under a node, in written order.

        Args:
            k: Number of the node.

        Returns:
            The nodes, without reentrancies.
        """
        found: list[AmrNode] = []
        child, last = k + 1, self.nodes[k].last
        # The next sibling begins after the last node of this child's subtree.
        while child <= last:
            found.append(self.nodes[child])
            child = self.nodes[child].last + 1
        return found


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn of a dialogue.

    Attributes:
        turn: Number of the turn, from 0.
        speaker: Name of the speaker.
        text: What is said.
        amr: PENMAN text of its graph, if the corpus has one.
        attributes: Further data of the corpus.
    """

    turn: int
    speaker: str
    text: str
    amr: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Response:
    """A response that comes with a dialogue.

    Attributes:
        turn: Number of the turn that it responds to.
        text: What is said.
        label: 1 for a right response, 0 for a wrong one.
        source: Origin of the response, such as ``human`` or ``adversarial``.
        amr: PENMAN text of its graph, if the corpus has one.
    """

    turn: int
    text: str
    label: int
    source: str
    amr: str | None = None


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue as a loader yields it.

    Attributes:
        id: ``corpus/split/name``.
        corpus: Name of the corpus.
        split: Name of the split.
        utterances: The turns in their order.
        responses: Responses that come with the dialogue.
        attributes: Further data of the corpus.
        place: Where it was read, ``FILE:LINE`` or ``FILE``.
    """

    id: str
    corpus: str
    split: str
    utterances: tuple[Utterance, ...]
    responses: tuple[Response, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    place: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class GraphText:
    """A PENMAN text, for an utterance that is loaded already or for a dialogue made of graphs.

    Attributes:
        penman: The text.
        id: Value of its ``::id``, which may be the id of an utterance.
        text: Value of its ``::snt``, which may be the text of an utterance.
        place: Where it was read.
    """

    penman: str
    id: str | None
    text: str | None
    place: str


@dataclass(frozen=True, slots=True)
class Opposite:
    """A ConceptNet edge between two words. The ``Not...`` relations are directed.

    Attributes:
        start: Lemma or phrase.
        end: Lemma or phrase.
        relation: Name of the relation, such as ``Antonym``.
        weight: Weight in ConceptNet.
        source: Resource that it comes from.
        language: Code of the language.
    """

    start: str
    end: str
    relation: str
    weight: float
    source: str
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Frame:
    """A PropBank roleset.

    Attributes:
        id: Id, such as ``like-01``.
        lemma: Lemma, such as ``like``.
        roles: Numbered roles (``ARG0``, ``ARG1``).
        descriptions: Descriptions of the roles.
        aliases: Other words that evoke the frame.
    """

    id: str
    lemma: str
    roles: tuple[str, ...]
    descriptions: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a pool that responses are taken from.

    Attributes:
        id: ``source/name``.
        text: The sentence.
        source: Resource or corpus that it comes from.
        dialogue: Id of the dialogue that contains it, or None.
        clause: True if it is known to be a whole clause, whatever its words suggest.
    """

    id: str
    text: str
    source: str
    dialogue: str | None = None
    clause: bool = False


@dataclass(frozen=True, slots=True)
class LexiconEntry:
    """One line of a lexicon table; see `graphneg.english.lexicon`.

    Attributes:
        table: ``class``, ``move`` or ``opposite``.
        cells: The other cells of the line.
        place: Where it was read.
    """

    table: str
    cells: tuple[str, ...]
    place: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """An input item that was refused. Loaders yield it and continue.

    Attributes:
        place: Where the item is.
        reason: Why it was refused.
    """

    place: str
    reason: str


Record = Dialogue | GraphText | Opposite | Frame | Sentence | LexiconEntry | Rejected
"""What loaders yield."""


class Edit(NamedTuple):
    """One primitive operation on one graph. Edits with the same ``site`` are applied together.

    ===== ==========================================================================
    set   ``concept`` or ``value`` becomes the node's label
    add   a new leaf under the node: ``role`` and ``concept`` or ``value``
    drop  removes the node's subtree; what is mentioned elsewhere stays there
    graft copies the subtree ``from_amr``/``from_k``: under the node if ``role`` is
          given (``snt`` and ``op`` are numbered in order), else in its place
    wrap  a new node ``concept`` above the node, which becomes its ``role``
    ===== ==========================================================================

    Attributes:
        transform: Name of the transform.
        category: Error category of the transform.
        site: Name of the site.
        op: Name of the operation.
        amr: Id of the graph to change.
        k: Number of the node in the graph before any edit; -1 is the top after the edits before this one.
        role: Role of a new branch, or of the wrapped node.
        concept: Concept of the node.
        value: Value of the node, as written.
        from_amr: Id of the graph to copy from.
        from_k: Number of the top of the subtree to copy.
        copy_of: Id of the graph that the node was copied from by an earlier graft of the site; ``k`` counts
            there.
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
    """The input of a decoder: an utterance, its graph before and after, and the edits between.

    Attributes:
        id: Id of the edited utterance.
        speaker: Name of the speaker.
        text: Original text.
        before: Original graph.
        after: Graph under the edits.
        edits: The edits in their order.
        sources: Graphs that grafts copied from, by id.
        source_texts: Texts of their utterances, by id of the graph.
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
    """The answer of a decoder: a new text, or the reason why there is none.

    Attributes:
        text: The text, or None.
        reason: A stable code, a colon and a sentence, such as ``no-alignment: ...``; None if there is a text.
    """

    text: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Negative:
    """A wrong response or an incoherent dialogue, with its origin.

    Attributes:
        id: Id of the record.
        corpus: Name of the corpus.
        split: Name of the split.
        dialogue: Id of the dialogue.
        turn: Number of the response's turn.
        context: Turns before the response, each with speaker and text.
        response: Text of the response.
        speaker: Name of the response's speaker; empty if unknown.
        label: 0 for a negative, 1 for a positive.
        original: The unedited ``context`` and ``response``; None if unchanged.
        categories: Error categories of the edits.
        recipe: Name of the recipe or generator.
        target: ``response`` if only the response is edited, ``dialogue`` if any turn may be.
        seed: Seed of all choices.
        decoder: Name of the decoder.
        edits: One map for each site: turn, transform, category, node, before, after.
        amr: Graphs of edited turns before and after, as PENMAN, by turn.
        scores: Scores by name.
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

"""Define the objects that graphneg passes around: dialogues, AMR graphs, edits and negatives.

All of them are immutable. Turns are numbered from 0. Ids are readable and derived from the data:
``dailydialog/test/12`` is a dialogue, ``dailydialog/test/12#3`` is its fourth utterance, and
``dailydialog/test/12#3@penman`` is the graph of that utterance that was loaded with the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class AmrNode(NamedTuple):
    """A node of an AMR graph, at the place where the PENMAN text introduces it.

    A variable has ``var`` and ``concept``, and a constant has ``value``.

    Attributes:
        position: Index of the node, in the order of the PENMAN text; the root has index 0.
        subtree_last: Highest index in the subtree of the node. The subtree is therefore the range
            ``position..subtree_last``.
        var: Name of the variable.
        concept: Concept of the variable.
        value: Value of the constant, as written.
        parent: Index of the parent node; None for the root.
        role: Role of the node under its parent, as written (``ARG0``, ``ARG0-of``); None for the root.
        branch: Position among the branches of the parent, from 0; 0 for the root.
        align: Alignment mark of the node (``~e.3``), as written.
        role_align: Alignment mark of the role, as written.
    """

    position: int
    subtree_last: int
    var: str | None
    concept: str | None
    value: str | None
    parent: int | None
    role: str | None
    branch: int
    align: str | None = None
    role_align: str | None = None

    @property
    def label(self) -> str:
        """The concept of a variable, or the value of a constant."""
        return self.concept if self.concept is not None else (self.value or "")


class Mention(NamedTuple):
    """A reentrancy: a branch that leads to a node which the PENMAN text introduces elsewhere.

    Attributes:
        parent: Index of the node that has the branch.
        role: Role of the branch, as written.
        branch: Position among the branches of that node, from 0.
        target: Index of the node that the branch leads to.
        align: Alignment mark of the variable, as written.
        role_align: Alignment mark of the role, as written.
    """

    parent: int
    role: str
    branch: int
    target: int
    align: str | None = None
    role_align: str | None = None


@dataclass(frozen=True, slots=True)
class AmrGraph:
    """An AMR graph: a tree in the order of the PENMAN text, and its reentrancies.

    Attributes:
        id: Id of the graph.
        nodes: The nodes, sorted by index, so that ``nodes[i].position == i``.
        mentions: The reentrancies, sorted by ``parent`` and ``branch``.
        metadata: The comment lines above the graph, as written.
        spans: Token ranges ``(start, end)`` by node index, for the nodes whose tokens are known; ``end`` is
            exclusive.
    """

    id: str
    nodes: tuple[AmrNode, ...]
    mentions: tuple[Mention, ...] = ()
    metadata: tuple[str, ...] = ()
    spans: Mapping[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])

    @property
    def top(self) -> AmrNode:
        """The root of the graph."""
        return self.nodes[0]

    @property
    def depth(self) -> int:
        """The number of roles from the root to the deepest node; reentrancies are not followed."""
        depths: list[int] = []
        for node in self.nodes:
            depths.append(0 if node.parent is None else depths[node.parent] + 1)
        return max(depths)

    def subtree(self, k: int) -> tuple[AmrNode, ...]:
        """Return the nodes of a subtree, in the order of the PENMAN text.

        Args:
            k: Index of the root of the subtree.

        Returns:
            The nodes, root first.
        """
        return self.nodes[k : self.nodes[k].subtree_last + 1]

    def children(self, k: int) -> list[AmrNode]:
        """Return the child nodes of a node, in the order of the PENMAN text.

        Args:
            k: Index of the node.

        Returns:
            The child nodes, without the targets of reentrancies.
        """
        found: list[AmrNode] = []
        child, last = k + 1, self.nodes[k].subtree_last
        # Indexes follow the order of the text: the next sibling comes right after this child's subtree.
        while child <= last:
            found.append(self.nodes[child])
            child = self.nodes[child].subtree_last + 1
        return found


@dataclass(frozen=True, slots=True)
class ParserGraph:
    """The graph that a parser made of a text, as an export of a store contains it.

    Attributes:
        parser: Name of the parser.
        version: Version of the parser; empty if it has none.
        penman: PENMAN text of the graph.
        spans: Token ranges ``(start, end)`` by node index, as in `AmrGraph`.
        warnings: Warnings of the parser about the text.
    """

    parser: str
    version: str
    penman: str
    spans: Mapping[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    warnings: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """The source of the graph in a store: name and version of the parser."""
        return f"{self.parser} {self.version}" if self.version else self.parser


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn of a dialogue.

    Attributes:
        turn: Number of the turn, from 0.
        speaker: Name of the speaker.
        text: Text of the turn.
        amr: PENMAN text of the turn's AMR graph, if the corpus contains one.
        attributes: Further data from the corpus.
        parses: Graphs that parsers made of the text.
    """

    turn: int
    speaker: str
    text: str
    amr: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    parses: tuple[ParserGraph, ...] = ()


@dataclass(frozen=True, slots=True)
class Response:
    """A response to a context, which a corpus provides in addition to the turns of the dialogue.

    Attributes:
        turn: Number of the turn that the response answers.
        text: Text of the response.
        label: 1 for a correct response, 0 for a wrong one.
        source: Origin of the response, such as ``human`` or ``adversarial``.
        amr: PENMAN text of the response's AMR graph, if the corpus contains one.
        parses: Graphs that parsers made of the text.
    """

    turn: int
    text: str
    label: int
    source: str
    amr: str | None = None
    parses: tuple[ParserGraph, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue as a loader yields it, before it is written to the store.

    Attributes:
        id: Id of the form ``corpus/split/name``.
        corpus: Name of the corpus.
        split: Name of the split.
        utterances: The turns in order.
        responses: Further responses that the corpus provides.
        attributes: Further data from the corpus.
        place: File and line that the dialogue was read from, ``FILE:LINE`` or ``FILE``.
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
    """A PENMAN text that is not read together with its dialogue.

    It belongs to an utterance that is already in the store, or it becomes a turn of a new dialogue.

    Attributes:
        penman: The PENMAN text.
        id: Value of its ``::id`` comment, which may be the id of an utterance.
        text: Value of its ``::snt`` comment, which may be the text of an utterance.
        place: File and line that the graph was read from.
    """

    penman: str
    id: str | None
    text: str | None
    place: str


@dataclass(frozen=True, slots=True)
class Opposite:
    """A ConceptNet edge between two words that exclude each other. ``Not...`` relations are directed.

    Attributes:
        start: Lemma or phrase that the edge starts at.
        end: Lemma or phrase that the edge ends at.
        relation: Name of the relation, such as ``Antonym``.
        weight: Weight of the edge in ConceptNet.
        source: Resource that the edge comes from.
        language: Language code.
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
        roles: Names of the numbered roles (``ARG0``, ``ARG1``).
        descriptions: Descriptions of the numbered roles.
        aliases: Further words that evoke the frame.
    """

    id: str
    lemma: str
    roles: tuple[str, ...]
    descriptions: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the pool, from which the generator ``overlap`` takes responses.

    Attributes:
        id: Id of the form ``source/name``.
        text: The sentence.
        source: Resource or corpus that the sentence comes from.
        dialogue: Id of the dialogue that contains the sentence, or None.
        clause: True if the sentence is known to be a whole clause; otherwise its words are checked for a
            finite verb.
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
        table: Name of the table: ``class``, ``move`` or ``opposite``.
        cells: The other cells of the line.
        place: File and line that the entry was read from.
    """

    table: str
    cells: tuple[str, ...]
    place: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """An input item that was rejected. Loaders yield it and continue with the next item.

    Attributes:
        place: File and line of the item.
        reason: Why the item was rejected.
    """

    place: str
    reason: str


Record = Dialogue | GraphText | Opposite | Frame | Sentence | LexiconEntry | Rejected
"""The kinds of objects that loaders yield."""


class Edit(NamedTuple):
    """One primitive operation on one graph. Edits that have the same ``site`` are applied together.

    ===== ==========================================================================
    set   ``concept`` or ``value`` becomes the node's label
    add   a new leaf under the node: ``role`` and ``concept`` or ``value``
    drop  removes the node's subtree; nodes that are mentioned elsewhere are kept there
    graft copies the subtree ``from_amr``/``from_position``: under the node if ``role`` is
          given (``snt`` and ``op`` are numbered in order), else in place of the node
    wrap  a new node ``concept`` above the node, which becomes its ``role``
    ===== ==========================================================================

    Attributes:
        transform: Name of the transform.
        category: Error category of the transform, such as ``C-cont`` (Gupta et al. 2021).
        site: Name of the site, the place in the dialogue that a transform edits in one step.
        op: Name of the operation: ``set``, ``add``, ``drop``, ``graft`` or ``wrap``.
        amr: Id of the graph to change.
        position: Index of the node, as it was before any edit. -1 stands for the root as the earlier edits
            left it.
        role: Role of a new branch, or of the wrapped node.
        concept: New concept of the node.
        value: New value of the node, as written in PENMAN.
        from_amr: Id of the graph to copy from.
        from_position: Index of the root of the subtree to copy.
        copy_of: Id of the graph that an earlier graft of the same site copied the node from. If it is given,
            ``position`` is an index in that graph.
    """

    transform: str
    category: str
    site: str
    op: str
    amr: str
    position: int
    role: str | None = None
    concept: str | None = None
    value: str | None = None
    from_amr: str | None = None
    from_position: int | None = None
    copy_of: str | None = None


@dataclass(frozen=True, slots=True)
class EditedUtterance:
    """The input of a decoder: an utterance, its graph before and after the edits, and the edits.

    Attributes:
        id: Id of the edited utterance.
        speaker: Name of the speaker.
        text: Text before the edits.
        before: Graph before the edits.
        after: Graph after the edits.
        edits: The edits in the order in which they are applied.
        sources: Graphs that grafts copied from, by graph id.
        source_texts: Texts of the utterances that these graphs belong to, by graph id.
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
    """The output of a decoder: a new text, or the reason why the decoder returns none.

    Attributes:
        text: The new text, or None.
        reason: A fixed code, a colon and a sentence, such as ``no-alignment: ...``; None if there is a text.
    """

    text: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Negative:
    """A wrong response or an incoherent dialogue, with information on how it was made.

    Attributes:
        id: Id of the record.
        corpus: Name of the corpus.
        split: Name of the split.
        dialogue: Id of the dialogue.
        turn: Number of the response's turn.
        context: Turns before the response, each a dict with ``speaker`` and ``text``.
        response: Text of the response.
        speaker: Speaker of the response; empty if unknown.
        label: 0 for a negative, 1 for a positive.
        original: ``context`` and ``response`` before the edits; each is None if it was not changed.
        categories: Error categories of the edits.
        recipe: Name of the recipe or generator.
        target: ``response`` if only the response was edited, ``dialogue`` if any turn may have been edited.
        seed: Seed of all random choices.
        decoder: Name of the decoder.
        edits: One dict for each edited site, with the keys turn, transform, category, node, before and after.
        amr: Graphs of the edited turns as PENMAN texts, by turn; each with ``before`` and ``after``.
        scores: Scores of the negative, by name.
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

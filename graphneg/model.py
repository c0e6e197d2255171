"""Define the classes for dialogues, AMR graphs, edits and negatives, which all parts of graphneg use.

All of them are immutable. Turns are numbered from 0. Ids are readable and derived from the data:
``dailydialog/test/12`` is a dialogue, ``dailydialog/test/12#3`` is its fourth utterance, and
``dailydialog/test/12#3@penman`` is the AMR graph of this utterance that was loaded with the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta, Struct


class AmrNode(NamedTuple):
    """A node of an AMR graph: a variable with its concept, such as ``d / dog``, or a constant, such as ``-``.

    The position of a node is where the PENMAN text introduces it. A variable has the attributes ``var`` and
    ``concept``; a constant has the attribute ``value``.

    Attributes:
        position: Index of the node, in the order of the PENMAN text; the root has index 0.
        subtree_last: Highest index in the subtree of the node. The subtree is therefore the range
            ``position..subtree_last``.
        var: Name of the variable, such as ``d``; None for a constant.
        concept: Concept of the variable, such as ``dog``; None for a constant.
        value: Value of the constant, as written, such as ``-``; None for a variable.
        parent: Index of the parent node; None for the root.
        role: Role of the node under its parent, as written (``ARG0``, ``ARG0-of``); None for the root.
        branch: Position among the branches of the parent, from 0; 0 for the root.
        align: Alignment of the node to tokens, as written (``~e.3``).
        role_align: Alignment of the role to tokens, as written.
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
    """A reentrancy: an edge to a node that the PENMAN text introduces elsewhere, such as ``:ARG0 i``.

    Attributes:
        parent: Index of the node at which the edge starts.
        role: Role of the edge, as written.
        branch: Position among the branches of ``parent``, from 0.
        target: Index of the node to which the edge leads.
        align: Alignment of the variable to tokens, as written.
        role_align: Alignment of the role to tokens, as written.
    """

    parent: int
    role: str
    branch: int
    target: int
    align: str | None = None
    role_align: str | None = None


@dataclass(frozen=True, slots=True)
class AmrGraph:
    """An AMR graph: a tree of nodes in the order of the PENMAN text, and reentrancies.

    Attributes:
        id: Id of the graph.
        nodes: The nodes, sorted by index, so that ``nodes[i].position == i``.
        mentions: The reentrancies, sorted by ``parent`` and ``branch``.
        metadata: The comment lines above the graph, as written.
        spans: Token range ``(start, end)`` of each node whose tokens are known, keyed by the index of the
            node. ``end`` is exclusive.
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
        """The number of tree edges from the root to the deepest node. Reentrancies do not count."""
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
        # The nodes of a subtree have consecutive indices, so the next sibling of a child follows the child's
        # subtree.
        while child <= last:
            found.append(self.nodes[child])
            child = self.nodes[child].subtree_last + 1
        return found


@dataclass(frozen=True, slots=True)
class ParserGraph:
    """The graph that a parser made from a text, as an exported file contains it.

    Attributes:
        parser: Name of the parser.
        version: Version of the parser; empty if it has none.
        penman: PENMAN text of the graph.
        spans: Token ranges ``(start, end)``, keyed by node index, as in `AmrGraph`.
        warnings: Warnings of the parser about the text.
    """

    parser: str
    version: str
    penman: str
    spans: Mapping[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    warnings: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """The property ``source`` of the graph in a store: name and version of the parser."""
        return f"{self.parser} {self.version}" if self.version else self.parser


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn of a dialogue.

    Attributes:
        turn: Number of the turn, from 0.
        speaker: Name of the speaker of the turn.
        text: Text of the turn.
        amr: PENMAN text of the turn's AMR graph, if the corpus contains one.
        attributes: Further data about the turn from the corpus, keyed by name.
        parses: Graphs that parsers made from the text.
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
        parses: Graphs that parsers made from the text.
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
        corpus: Name of the corpus that contains the dialogue.
        split: Name of the split that contains the dialogue, such as ``train``.
        utterances: The turns of the dialogue in order.
        responses: Further responses that the corpus provides.
        attributes: Further data about the dialogue from the corpus, keyed by name.
        place: File and line from which the dialogue was read, as ``FILE:LINE`` or ``FILE``.
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
    """An AMR graph from a file of graphs, in PENMAN notation.

    The graph is assigned to an utterance in the store. If there is no such utterance, the graph becomes a
    turn of a new dialogue.

    Attributes:
        penman: The graph in PENMAN notation.
        id: Value of the graph's ``::id`` comment, which may be the id of an utterance.
        text: Value of the graph's ``::snt`` comment, which may be the text of an utterance.
        place: File and line from which the graph was read.
    """

    penman: str
    id: str | None
    text: str | None
    place: str


@dataclass(frozen=True, slots=True)
class Opposite:
    """An edge of ConceptNet between two words or phrases that exclude each other, such as "hot" and "cold".

    Relations whose names begin with ``Not``, such as ``NotHasProperty``, hold in one direction only.

    Attributes:
        start: Lemma or phrase at the start of the edge.
        end: Lemma or phrase at the end of the edge.
        relation: Name of the relation, such as ``Antonym``.
        weight: Weight of the edge in ConceptNet.
        source: Resource from which the edge was loaded.
        language: Language of both words, as an ISO 639-1 code.
    """

    start: str
    end: str
    relation: str
    weight: float
    source: str
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Frame:
    """A PropBank frame (roleset), which describes one sense of a predicate and its roles.

    Attributes:
        id: Id of the frame, such as ``like-01``.
        lemma: Lemma of the predicate, such as ``like``.
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
    """A sentence that the generator ``overlap`` can choose as a response.

    Attributes:
        id: Id of the form ``source/name``.
        text: Text of the sentence.
        source: Resource or corpus that contains the sentence.
        dialogue: Id of the dialogue that contains the sentence, or None.
        clause: Whether the sentence is known to be a whole clause. If False, its words are checked for a
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
        table: Name of the table, which is the first cell of the line: ``class``, ``move`` or ``opposite``.
        cells: The other cells of the line.
        place: File and line from which the entry was read.
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
    """One primitive operation on a node of a graph. Edits that have the same ``site`` are applied together.

    ===== ==========================================================================
    set   Replaces the label of the node with ``concept`` or ``value``.
    add   Adds a leaf with ``concept`` or ``value`` under the node, with the role ``role``.
    drop  Removes the subtree of the node. A node of the subtree that is also mentioned
          outside it is kept, and moved to the place of this mention.
    graft Copies the subtree at ``from_position`` of the graph ``from_amr``. If ``role`` is
          given, the copy is added under the node with this role (a number is appended to
          ``snt`` and ``op``); otherwise, the copy replaces the node.
    wrap  Inserts a new node with ``concept`` above the node. The old node becomes its
          child, with the role ``role``.
    say   Replaces the subtree of the node by a copy, as ``graft`` without ``role`` does. If
          ``voice`` is ``other``, *I* and *you* change places in the copy. Then the copy
          is put under the nodes of ``frame``, for example ``cause-01`` for "Why ...?".
    ===== ==========================================================================

    Attributes:
        transform: Name of the transform that proposed the edit.
        category: Error category of the transform, such as ``C-cont`` (Gupta et al. 2021).
        site: Name of the site, that is, the place in the dialogue that a transform edits in one step.
        op: Name of the operation: ``set``, ``add``, ``drop``, ``graft``, ``wrap`` or ``say``.
        amr: Id of the graph to change.
        position: Index of the node in the original graph; -1 for the node that is the root when the edit is
            applied.
        role: Role of the added leaf, the copied subtree or the wrapped node under its new parent.
        concept: New concept of the node.
        value: New value of the node, as written in PENMAN.
        from_amr: Id of the graph that contains the subtree to copy.
        from_position: Index of the root of the subtree to copy.
        copy_of: If the node to change was copied by an earlier ``graft`` or ``say`` of the same site, the id
            of the graph from which it was copied. ``position`` is then an index in that graph.
        voice: Who said the sentence that ``say`` copies: ``own`` for the speaker of the edited turn,
            ``other`` for the other speaker.
        frame: Name of the reply frame of ``say``, such as ``check`` (see `graphneg.english.reply_frames`).
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
    voice: str | None = None
    frame: str | None = None


@dataclass(frozen=True, slots=True)
class EditedUtterance:
    """The input of a decoder: an utterance, its graph before and after the edits, and the edits.

    Attributes:
        id: Id of the edited utterance.
        speaker: Name of the speaker.
        text: Text of the utterance before the edits.
        before: Graph of the utterance before the edits.
        after: Graph of the utterance after the edits.
        edits: The edits in the order in which they are applied.
        sources: The graphs from which edits copied a subtree (see ``graft`` and ``say`` in `Edit`), keyed by
            graph id.
        source_texts: The texts of the utterances to which these graphs belong, keyed by graph id.
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
    """The output of a decoder: a new text, or the reason why the decoder returns no text.

    Attributes:
        text: The new text, or None.
        reason: A fixed code, a colon and a sentence, such as ``no-alignment: ...``; None if there is a text.
    """

    text: str | None
    reason: str | None = None


TWIN = "twin"
"""Value of the field `Negative.recipe` of twins. Training mixes select twins by this name."""
_Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
TurnKey = Annotated[str, Meta(pattern=r"^(0|[1-9][0-9]{0,8})$")]
"""The number of a turn, as the key of a JSON object."""


class Turn(Struct, frozen=True, forbid_unknown_fields=True):
    """A turn of a dialogue in a record: a speaker and a text.

    Attributes:
        speaker: Name of the speaker.
        text: Text of the turn.
    """

    speaker: str
    text: str


class Original(Struct, frozen=True, forbid_unknown_fields=True):
    """The parts of a dialogue that were edited, as they were before the edits.

    Attributes:
        context: The turns before the response; None if none of them was edited.
        response: The response; None if it was not edited, or if it is unknown.
    """

    context: tuple[Turn, ...] | None
    response: str | None


class EditRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """A description of what one edit changed in a dialogue.

    Attributes:
        turn: Number of the edited turn.
        transform: Name of the transform, or of the generator.
        category: Error category, such as ``C-cont``.
        node: Dewey address of the edited AMR node. If a generator made the edit, the id of the sentence or
            utterance that the new text comes from.
        before: The node and its branches before the edit. If a generator made the edit, the text before the
            edit, or the text from which the new text was made.
        after: The node and its branches after the edit, or the new text.
    """

    turn: _Int64
    transform: str | None
    category: str | None
    node: str | None
    before: str | None
    after: str | None


class EditedPenman(Struct, frozen=True, forbid_unknown_fields=True):
    """The AMR graph of a turn before and after the edits, in PENMAN notation.

    Attributes:
        before: The graph before the edits.
        after: The graph after the edits.
    """

    before: str | None
    after: str | None


class Evidence(Struct, frozen=True, forbid_unknown_fields=True):
    """The earlier words from which a reader can see that a negative is wrong.

    Attributes:
        turn: Number of the turn that contains the words.
        words: The words: the clause that the wrong reply contradicts, changes or asks about.
    """

    turn: _Int64
    words: str


class Negative(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A wrong response or an incoherent dialogue, with information on how it was made.

    Files of negatives have the same fields and types (see `graphneg.records.files`). Use
    ``msgspec.structs.replace`` to make a changed copy.

    Attributes:
        id: Id of the record.
        corpus: Name of the corpus that contains the dialogue.
        split: Name of the split that contains the dialogue.
        dialogue: Id of the dialogue from which the negative was made.
        turn: Number of the response's turn.
        context: Turns before the response.
        response: Text of the response.
        speaker: Speaker of the response; empty if unknown.
        label: 0 for a negative, 1 for a positive.
        original: Context and response before the edits.
        categories: Error categories of the edits.
        recipe: Name of the recipe or generator.
        target: ``response`` if only the response was edited, ``dialogue`` if any turn may have been edited. A
            twin has the target of its negative, although its context may be edited (see ``original``).
        seed: Seed for all random choices.
        decoder: Name of the decoder that turned the edited graphs into text.
        edits: The edits, one for each edited site (place in the dialogue that a transform edits in one step).
        amr: Graphs of the edited turns, keyed by the turn number as a string.
        scores: Scores of the negative, keyed by the name of the score.
        error_type: What is wrong: the name of the transform. None if several transforms or a generator made
            the negative, and for positives.
        evidence: The earlier words that prove the error; None if no single turn proves it.
        distance: Number of turns from the evidence to the wrong turn: 1 for a reply to the evidence.
        frame: Name of the reply frame, a sentence pattern around the copied clause, such as ``check`` for
            "So ...?". None if the response has no reply frame.
        pair: Id that a negative shares with its twin: the same reply without the error, or after a context
            that it fits. None without a twin.
        proved: Whether the error that the transform declares was found in the clauses of the dialogue (see
            `graphneg.editing.proof`). None if the transform declares no error. A twin has the value of its
            negative.
    """

    id: str
    corpus: str
    split: str
    dialogue: str
    turn: _Int64
    context: tuple[Turn, ...]
    response: str
    # The default is needed to read records of older versions, which do not have this field.
    speaker: str = ""
    label: _Int64
    original: Original
    categories: tuple[str, ...]
    recipe: str
    target: Literal["response", "dialogue"]
    seed: _Int64
    decoder: str
    edits: tuple[EditRecord, ...]
    amr: Mapping[TurnKey, EditedPenman]
    scores: Mapping[str, float]
    # The following fields have defaults, because records of older versions do not contain them.
    error_type: str | None = None
    evidence: Evidence | None = None
    distance: _Int64 | None = None
    frame: str | None = None
    pair: str | None = None
    proved: bool | None = None

"""Check with the discourse layer that a negative contains the error that its transform declares.

A composed reply repeats a clause of an earlier turn with a change. The header of its transform declares the
relation between the two clauses that proves the error:

- ``contradicts``: the opposite polarity, or an opposite predicate.
- ``other argument``: the same predicate and polarity, and all arguments but one are equal.
- ``asks what was said``: a question for an argument that the earlier clause contains.

To check the relation, the discourse layer is computed for the turns before the edited turn and for the reply.
The words of the reply frame, such as "Why ...?", are ignored: the reply takes the clause after them for
granted, and only this clause is compared. The clause must have the declared relation to the earlier clause.
Its twin, the same clause without the change, must not contradict any turn:

    A: I want to get my car washed.
    negative, B: Why don't you want to get your car washed?
        B takes for granted: You don't want to get your car washed. This contradicts the clause of A.
    twin, B: Why do you want to get your car washed?
        B takes for granted: You want to get your car washed. This repeats the clause of A.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from graphneg.amr.clauses import Clauses
from graphneg.amr.facts import discourse_facts
from graphneg.amr.overlay import restate
from graphneg.amr.reading import AmrView
from graphneg.discourse import Clause, DiscourseLayer, Reading, SpokenTurn, discourse_layer, read_graph
from graphneg.discourse.entities import References
from graphneg.discourse.relations import Proposition, contradicts, proposition
from graphneg.editing.context_twins import refusal_of_clauses, repeated_word
from graphneg.editing.planning import EditPlan
from graphneg.editing.transforms import Transform
from graphneg.english.lexicon import Lexicon
from graphneg.errors import TransformError
from graphneg.model import AmrGraph, Edit
from graphneg.store.dialogues import GraphCache, StoredDialogue, StoredTurn, next_speaker

_KEPT = 4_000
"""Maximum number of graphs whose clauses are cached."""
_NEGATIVE, _TWIN, _GAP = "negative", "twin", "gap"
"""Names of the replies that are read: the negative, its twin, and a question without its question word."""


@dataclass(frozen=True, slots=True)
class CopiedClause:
    """A clause of an earlier turn that an edit copies into the edited turn, and the changes of the copy.

    Attributes:
        edit: The edit that copies the clause, with the operation ``say`` or ``graft``.
        changes: The edits that change the copy.
        source_turn: The earlier turn that contains the clause.
        turn: The number of the edited turn.
        node: The index of a node of the clause in the graph of ``source_turn``.
    """

    edit: Edit
    changes: tuple[Edit, ...]
    source_turn: StoredTurn
    turn: int
    node: int


class Verdict(NamedTuple):
    """The result of checking a negative and its twin, the same reply without the change.

    Attributes:
        proved: Whether the negative has a relation that its transform declares, such as ``contradicts``; None
            if the transform declares none.
        contradicted: Number of the turn that the twin contradicts; None if it contradicts no turn.
    """

    proved: bool | None = None
    contradicted: int | None = None


def copied_clause(dialogue: StoredDialogue, edits: Sequence[Edit]) -> CopiedClause | None:
    """Return the clause of an earlier turn that the edits of a negative repeat with a change.

    Args:
        dialogue: The edited dialogue.
        edits: All edits of a negative.

    Returns:
        The clause; None if the negative has edits of several sites, or repeats no clause of the dialogue.
    """
    copying = next((edit for edit in edits if edit.op in ("say", "graft") and edit.from_amr), None)
    if copying is None or len({(edit.transform, edit.site) for edit in edits}) != 1:
        return None
    turns = {turn.graph_id: turn for turn in dialogue.turns if turn.graph_id is not None}
    source, edited = turns.get(copying.from_amr or ""), turns.get(copying.amr)
    changes = tuple(edit for edit in edits if edit.copy_of == copying.from_amr)
    # Do not check an edit that copies a subtree without a change: the subtree may be only a noun, not a
    # clause.
    if source is None or edited is None or source.turn >= edited.turn or not changes:
        return None
    # The operation ``graft`` copies a whole sentence, which may consist of several clauses. Take the clause
    # that contains the first changed node.
    node = copying.from_position or 0 if copying.op == "say" else changes[0].position
    return CopiedClause(copying, changes, source, edited.turn, node)


def graphs_before(dialogue: StoredDialogue, copied: CopiedClause) -> list[str]:
    """Return the ids of the graphs of all turns before the edited turn.

    Args:
        dialogue: The edited dialogue.
        copied: The clause that the edited turn repeats.

    Returns:
        The ids of the graphs, in the order of the turns.
    """
    return [turn.graph_id for turn in dialogue.turns if turn.graph_id is not None and turn.turn < copied.turn]


class Prover:
    """Checks whether negatives contain the errors that their transforms declare.

    The clauses of each graph are cached, because several negatives copy from the same dialogue.

    Args:
        lexicon: The lexicon of the store.
        transforms: Transforms, keyed by name. Their ``proof`` contains the relations that prove an error.
    """

    def __init__(self, lexicon: Lexicon, transforms: Mapping[str, Transform]) -> None:
        self._lexicon, self._transforms = lexicon, transforms
        self._readings: OrderedDict[tuple[str, str | None], Reading] = OrderedDict()

    def declared_relations(self, copied: CopiedClause) -> tuple[str, ...]:
        """Return the relations that prove the error, as declared by the transform that copied the clause."""
        transform = self._transforms.get(copied.edit.transform)
        return () if transform is None else transform.proof

    def verdicts(self, plans: Sequence[EditPlan], graph_cache: GraphCache) -> dict[str, Verdict]:
        """Look for a proof of the error of each negative in the discourse layer.

        A proof is, for example, that the reply contradicts an earlier clause. Negatives are left out if their
        transforms declare no relation that proves the error.

        Args:
            plans: The plans of the negatives.
            graph_cache: Cache for the unedited graphs.

        Returns:
            The verdicts, keyed by the id of the negative.
        """
        copied = {
            plan.id: found
            for plan in plans
            if (found := copied_clause(plan.dialogue, plan.edits)) is not None
            and self.declared_relations(found)
        }
        checked = [plan for plan in plans if plan.id in copied]
        needed = {id for plan in checked for id in graphs_before(plan.dialogue, copied[plan.id])}
        digests = {id: digest for plan in checked for id, digest in plan.dialogue.digests.items()}
        graphs = graph_cache.get(needed, digests) if needed else {}
        return {plan.id: self.check(plan.dialogue, copied[plan.id], graphs) for plan in checked}

    def check(
        self, dialogue: StoredDialogue, copied: CopiedClause, graphs: Mapping[str, AmrGraph]
    ) -> Verdict:
        """Check whether a negative contains its error, and whether its twin contradicts a turn.

        The twin is the same reply without the change.

        Args:
            dialogue: The dialogue before the edits.
            copied: The clause that the edited turn repeats, with its changes.
            graphs: The graphs of the turns before the edited turn, keyed by id (see `graphs_before`).

        Returns:
            Whether the error is proved, and the turn that the twin contradicts, if any.
        """
        declared = self.declared_relations(copied)
        replies = self._replies(copied, graphs)
        layer = self._layer(dialogue, copied, graphs, [reply.spoken for reply in replies.values()])
        of_reply = {clause.graph: clause for clause in layer.clauses if clause.graph in replies}
        before = {clause.id: clause for clause in layer.clauses if clause.graph not in replies}
        contradicted = next(
            (before[other].turn for one, other in layer.contradicts if one == f"{_TWIN}/0"), None
        )
        said = self._reading(copied.source_turn, graphs)
        index = _clause_at(said, copied.node)
        claim = None if index is None else before.get(f"{copied.source_turn.graph_id}/{index}")
        if not declared:
            return Verdict(None, contradicted)
        is_read = _NEGATIVE in replies and len(replies) == len(of_reply) > 1
        if claim is None or contradicted is not None or not is_read:
            return Verdict(False, contradicted)
        comparison = _Comparison(layer, claim, said, of_reply, replies, self._lexicon)
        return Verdict(any(map(comparison.has, declared)), None)

    def check_context(
        self,
        dialogue: StoredDialogue,
        copied: CopiedClause,
        graphs: Mapping[str, AmrGraph],
        edited: AmrGraph,
    ) -> str | None:
        """Check whether a reply becomes right if the clause that it repeats gets the same change.

        The reply "Why don't you like tea?" is wrong after "I like tea", but right after the edited clause "I
        don't like tea". The clause cannot be edited if the edited turn, or the reply to it, contradicts
        another turn.

        Args:
            dialogue: The dialogue before the edits.
            copied: The clause that the reply repeats, with its changes.
            graphs: The graphs of the turns before the reply, keyed by id (see `graphs_before`).
            edited: The graph of the turn with the clause, after the clause was changed.

        Returns:
            The reason why the clause cannot be edited; None if it can.
        """
        said = self._reading(copied.source_turn, graphs)
        index = _clause_at(said, copied.node)
        if index is None:
            return "the statement is no clause"
        found = refusal_of_clauses(said, said.clauses[index], copied.changes)
        if found is not None:
            return found
        others = [
            self._reading(turn, graphs)
            for turn in dialogue.turns
            if turn.turn < copied.turn and turn.graph_id is not None and turn is not copied.source_turn
        ]
        repeated = repeated_word(said, copied.changes, others)
        if repeated is not None:
            return f"the context contains {repeated!r} elsewhere, too"
        before = self._layer(dialogue, copied, graphs, ())
        claim = f"{copied.source_turn.graph_id}/{index}"
        if any(claim in pair for pair in (*before.repeats, *before.contradicts)):
            return "another clause of the context repeats or contradicts the statement"
        reading = self._read(edited, copied.source_turn.text)
        try:
            reply = self._read(restate(edited, copied.edit.voice, ())[0], copied.source_turn.text)
        except TransformError as error:
            return f"the edited statement cannot be repeated: {error}"
        spoken = SpokenTurn(_TWIN, copied.turn, "", _TWIN, reply)
        after = self._layer(dialogue, copied, graphs, [spoken], reading)
        if set(after.contradicts) - set(before.contradicts):
            return "the edited statement, or the reply, contradicts another turn"
        return None

    def _replies(self, copied: CopiedClause, graphs: Mapping[str, AmrGraph]) -> dict[str, _Reply]:
        """Return the clauses of two replies, to compare them with the earlier clause that the replies repeat.

        Returns:
            The clauses, keyed by the name of the reply. One reply is the negative. The other is its twin,
            which repeats the clause without the change. If the negative asks for a phrase ("When ...?"), the
            other reply is the negative without the question word.
        """
        kept = {_NEGATIVE: copied.changes, _TWIN: ()}
        asking = [edit for edit in copied.changes if edit.concept == "amr-unknown"]
        if asking:
            kept = {
                _NEGATIVE: copied.changes,
                _GAP: tuple(edit for edit in copied.changes if edit not in asking),
            }
        found: dict[str, _Reply] = {}
        for name, changes in kept.items():
            try:
                graph, places = restate(graphs[copied.source_turn.graph_id or ""], copied.edit.voice, changes)
            except TransformError:
                continue
            reading = self._read(graph, copied.source_turn.text)
            index = _clause_at(reading, places.get(copied.node, 0))
            if index is not None:
                alone = _only_clause(reading, index)
                found[name] = _Reply(SpokenTurn(name, copied.turn, "", name, alone), places)
        return found

    def _layer(
        self,
        dialogue: StoredDialogue,
        copied: CopiedClause,
        graphs: Mapping[str, AmrGraph],
        replies: Sequence[SpokenTurn],
        edited: Reading | None = None,
    ) -> DiscourseLayer:
        """Compute the discourse layer of the turns before the edited turn, and of some replies to them.

        Returns:
            The layer. If ``edited`` is given, it replaces the turn that contains the repeated clause.
        """
        turns = [turn for turn in dialogue.turns if turn.turn < copied.turn]
        speaker = next(turn.speaker for turn in dialogue.turns if turn.turn == copied.turn)
        speakers = {turn.speaker for turn in dialogue.turns}
        # If the dialogue has only one speaker so far, add a second speaker, to whom *you* can refer.
        if len(speakers) == 1:
            speakers.add(next_speaker(dialogue.turns))
        spoken = [
            SpokenTurn(turn.graph_id, turn.turn, turn.speaker, turn.graph_id, reading)
            for turn in turns
            if turn.graph_id is not None
            for reading in [
                self._reading(turn, graphs) if edited is None or turn is not copied.source_turn else edited
            ]
        ]
        alternatives = [replace(reply, speaker=speaker) for reply in replies]
        answered = {copied.turn - 1: alternatives}
        return discourse_layer(dialogue.id, spoken, answered, sorted(speakers), self._lexicon)

    def _reading(self, turn: StoredTurn, graphs: Mapping[str, AmrGraph]) -> Reading:
        """Return the clauses and mentions of a turn, from the cache if possible."""
        id = turn.graph_id or ""
        key = (id, turn.digest)
        reading = self._readings.get(key)
        if reading is None:
            reading = self._readings[key] = self._read(graphs[id], turn.text)
            if len(self._readings) > _KEPT:
                self._readings.popitem(last=False)
        return reading

    def _read(self, graph: AmrGraph, text: str) -> Reading:
        view = AmrView(graph, self._lexicon)
        clauses = Clauses(view)
        return read_graph(view, clauses, discourse_facts(view, clauses), text)


class _Reply(NamedTuple):
    """The clause that a reply repeats, without the words of the reply frame, such as "Why ...?".

    Attributes:
        spoken: The clause as a turn of the dialogue.
        places: For each node of the earlier turn, keyed by its index, the index of this node in the graph of
            the reply.
    """

    spoken: SpokenTurn
    places: Mapping[int, int]


def _clause_at(reading: Reading, k: int) -> int | None:
    """Return the index of the innermost clause that contains a node."""
    around = [at for at, clause in enumerate(reading.clauses) if k in reading.view.subtree(clause.head)]
    # Prefer a clause whose head or core is the node. In "I think that she loves letters", the head of the
    # main clause is *think*, and its core is *love*, the predicate of the opinion.
    exact = [at for at in around if k in (reading.clauses[at].head, reading.clauses[at].core)]
    found = exact or around
    return max(found, key=lambda at: reading.clauses[at].head) if found else None


def _only_clause(reading: Reading, index: int) -> Reading:
    """Return a turn reduced to one of its clauses, because a reply repeats only this clause."""
    clause, view = reading.clauses[index], reading.view
    kept = set(view.subtree(clause.head))
    # Keep the nodes below the head of the clause, and the nodes that the clause shares with another clause:
    # in "Ann came and sang", *Ann* is in the clause of "came", but is the subject of "sang", too.
    kept |= {mention.target for mention in view.graph.mentions if mention.parent in kept}
    mentions = tuple(mention for mention in reading.mentions if mention.position in kept)
    return Reading(view, (clause,), mentions)


class _Comparison:
    """Compares the clause of a reply with the earlier clause that it repeats."""

    def __init__(
        self,
        layer: DiscourseLayer,
        claim: Clause,
        said: Reading,
        clauses: Mapping[str, Clause],
        replies: Mapping[str, _Reply],
        lexicon: Lexicon,
    ) -> None:
        self._layer, self._claim, self._said = layer, claim, said
        self._clauses, self._replies, self._lexicon = clauses, replies, lexicon

    def has(self, relation: str) -> bool:
        """Return whether the negative has a given relation to the earlier clause, such as ``contradicts``.

        A negative that repeats an earlier clause without a change has none of the relations.
        """
        id = self._clauses[_NEGATIVE].id
        if any(one == id for one, _ in self._layer.repeats):
            return False
        if relation == "contradicts":
            return self._contradicts()
        # The relations "other argument" and "asks what was said" require that a single argument of the reply
        # differs, or is asked for. If the reply contradicts an earlier clause, its error is a different one.
        if any(one == id for one, _ in self._layer.contradicts):
            return False
        return self._asks() if relation == "asks what was said" else self._has_other_argument()

    def _contradicts(self) -> bool:
        before, said = self._propositions(_NEGATIVE)
        later, earlier = self._clauses[_NEGATIVE].reading, self._claim.reading
        return (
            before is not None
            and said is not None
            and contradicts(later, said, earlier, before, self._lexicon)
        )

    def _has_other_argument(self) -> bool:
        before, said = self._propositions(_NEGATIVE)
        if before is None or said is None or not self._agrees(_NEGATIVE):
            return False
        # In "He is a teacher", the predicate is a noun. So "He is a doctor" is wrong, although no argument
        # differs. A different verb proves no error: "I sold a car" and "I washed a car" may both be true.
        views = self._said.view, self._replies[_NEGATIVE].spoken.reading.view
        cores = self._claim.reading.core, self._clauses[_NEGATIVE].reading.core
        is_verb = any(view.is_frame[core] for view, core in zip(views, cores, strict=True))
        if said.predicate != before.predicate:
            return not is_verb and not _differing(before, said)
        return len(_differing(before, said)) == 1

    def _asks(self) -> bool:
        """Return whether the negative asks for one argument that the earlier clause contains: "When ...?"."""
        before, said = self._propositions(_GAP)
        if before is None or said is None or not self._agrees(_GAP):
            return False
        asked = self._clauses[_NEGATIVE].reading
        if asked.type != "question" or len(asked.asked) != 1:
            return False
        return said.predicate == before.predicate and len(_differing(before, said)) == 1

    def _agrees(self, name: str) -> bool:
        """Return whether the earlier clause is a statement with the same polarity and modality as a reply."""
        earlier, later = self._claim.reading, self._clauses[name].reading
        return (earlier.type, earlier.negative, earlier.modality) == (
            "statement",
            later.negative,
            later.modality,
        )

    def _propositions(self, name: str) -> tuple[Proposition | None, Proposition | None]:
        """Return the predicates and arguments (the propositions) of the earlier clause and of a reply.

        If the reply copies a pronoun, the pronoun refers to the same entity in both.
        """
        reply = self._replies[name]
        own = dict(self._layer.references.get(self._claim.graph, {}))
        copied = dict(self._layer.references.get(name, {}))
        view, other = self._said.view, reply.spoken.reading.view
        for k in view.subtree(self._claim.reading.head):
            # The discourse layer does not resolve most pronouns. If a reply repeats "She loves it", give the
            # pronouns the same referents in both clauses.
            at = reply.places.get(k)
            if at is not None and view.is_a(k, "anaphor", "pointer") and view.labels[k] == other.labels[at]:
                copied[at] = own[k] = own.get(k, f"{k}")
        return (
            _content(self._claim, self._said, own),
            _content(self._clauses[name], reply.spoken.reading, copied),
        )


def _content(clause: Clause, reading: Reading, references: References) -> Proposition | None:
    return proposition(clause.reading, reading, references)


def _differing(one: Proposition, other: Proposition) -> list[str]:
    """Return the roles whose arguments differ between two propositions.

    If a role has several arguments, it is listed once for each argument that differs.
    """
    found: list[str] = []
    for own, others in ((one.arguments, other.arguments), (one.circumstances, other.circumstances)):
        for role in sorted({*own, *others}):
            left, right = list(own.get(role, ())), list(others.get(role, ()))
            for keys in own.get(role, ()):
                match = next((each for each in right if not keys.isdisjoint(each)), None)
                if match is not None:
                    left.remove(keys)
                    right.remove(match)
            found += [role] * max(len(left), len(right))
    return found

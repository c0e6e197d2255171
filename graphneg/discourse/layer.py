"""Compute the discourse layer of a dialogue: its clauses, its entities and the relations between clauses.

The layer is computed once for each dialogue, when its graphs are written. It depends only on the turns, the
responses, their graphs and the lexicon. Responses are alternatives to each other and to the next turn. Each
response is therefore related only to the turns before it, and not to other responses or later turns.

Example: A says "I work at a bank." B asks "Do you work?" The layer has two clauses and two entities, A and B.
The second clause is a question about A.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from graphneg.discourse.entities import Entity, References, Resolver
from graphneg.discourse.reading import ClauseReading, Reading
from graphneg.discourse.relations import (
    Proposition,
    answer_to,
    contradicts,
    denied_possession,
    opposites_of,
    possessions,
    proposition,
    repeats,
)
from graphneg.discourse.words import words
from graphneg.english.lexicon import Lexicon


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """A turn or a response with its graph.

    Attributes:
        id: The id of the utterance or response.
        turn: The number of the turn. A response has the number of the turn that it answers, plus 1.
        speaker: The name of the speaker.
        graph: The id of the graph.
        reading: The clauses and mentions of the graph.
    """

    id: str
    turn: int
    speaker: str
    graph: str
    reading: Reading


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a dialogue.

    Attributes:
        id: The id of the clause: the id of the graph, ``/`` and ``index``.
        turn: The number of the clause's turn.
        index: The position of the clause among the clauses of the turn, from 0.
        speaker: The name of the speaker of the turn.
        graph: The id of the graph that contains the clause.
        reading: The features of the clause that were read from the graph.
        proposition: The content of the clause; None if it cannot be compared with other clauses.
    """

    id: str
    turn: int
    index: int
    speaker: str
    graph: str
    reading: ClauseReading
    proposition: Proposition | None


@dataclass(slots=True)
class DiscourseLayer:
    """The discourse layer of a dialogue.

    Attributes:
        dialogue: The id of the dialogue.
        clauses: The clauses, in the order of the turns. The clauses of a response follow those of the turn
            that it answers.
        entities: The entities.
        references: For each graph id, the entity ids, keyed by the index of the node that refers to the
            entity.
        repeats: Pairs of clause ids: a clause, and an earlier clause that it repeats.
        contradicts: Pairs of clause ids: a clause, and an earlier clause that it contradicts.
        answers: Pairs of clause ids: a clause, and the question that it answers.
    """

    dialogue: str
    clauses: list[Clause] = field(default_factory=list[Clause])
    entities: list[Entity] = field(default_factory=list[Entity])
    references: dict[str, References] = field(default_factory=dict[str, References])
    repeats: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    contradicts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    answers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def discourse_layer(
    dialogue: str,
    turns: Sequence[SpokenTurn],
    responses: Mapping[int, Sequence[SpokenTurn]],
    speakers: Sequence[str],
    lexicon: Lexicon,
) -> DiscourseLayer:
    """Compute the discourse layer of a dialogue.

    Args:
        dialogue: The id of the dialogue.
        turns: The turns that have a graph, in order.
        responses: The responses that have a graph, keyed by the number of the turn that they answer.
        speakers: The names of all speakers of the dialogue and of the responses.
        lexicon: The lexicon.

    Returns:
        The clauses, entities and relations.
    """
    layer = DiscourseLayer(dialogue)
    resolver = Resolver(dialogue, speakers)
    before = _EarlierClauses(lexicon)
    spoken = {turn.turn: turn for turn in turns}
    for number in sorted({*spoken, *responses}):
        turn = spoken.get(number)
        if turn is not None:
            clauses = _add(layer, turn, resolver)
            before.relate(turn, clauses, layer)
            before.add(turn, clauses, layer.references[turn.graph])
        for response in responses.get(number, ()):
            own = resolver.branch(response.id)
            clauses = _add(layer, response, own)
            before.relate(response, clauses, layer)
            layer.entities += own.entities()
    layer.entities[:0] = resolver.entities()
    _leave_out_single_nouns(layer)
    return layer


def _add(layer: DiscourseLayer, turn: SpokenTurn, resolver: Resolver) -> list[Clause]:
    """Add the clauses and references of a turn to the discourse layer, and return the clauses."""
    references = resolver.resolve(turn.reading, turn.speaker, turn.turn)
    layer.references[turn.graph] = references
    clauses = [
        Clause(
            f"{turn.graph}/{index}",
            turn.turn,
            index,
            turn.speaker,
            turn.graph,
            reading,
            proposition(reading, turn.reading, references),
        )
        for index, reading in enumerate(turn.reading.clauses)
    ]
    layer.clauses += clauses
    return clauses


class _EarlierClauses:
    """Collects clauses, and relates the clauses of each turn to the earlier clauses."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._by_predicate: dict[str, list[Clause]] = {}
        self._possessed: dict[tuple[str, str], list[Clause]] = {}
        self._denied: dict[tuple[str, str], list[Clause]] = {}
        self._last: tuple[SpokenTurn, list[Clause]] | None = None

    def add(self, turn: SpokenTurn, clauses: Sequence[Clause], references: References) -> None:
        for clause in clauses:
            if clause.proposition is not None:
                self._by_predicate.setdefault(clause.proposition.predicate, []).append(clause)
        for thing, clause in _denied(turn, clauses, references):
            self._denied.setdefault(thing, []).append(clause)
        for thing, clause in _possessed(turn, clauses, references):
            self._possessed.setdefault(thing, []).append(clause)
        self._last = turn, list(clauses)

    def relate(self, turn: SpokenTurn, clauses: Sequence[Clause], layer: DiscourseLayer) -> None:
        """Add the repetitions, contradictions and answers of a turn to the discourse layer."""
        references = layer.references[turn.graph]
        # Relate clauses that deny and presuppose the same possession, such as "I don't have a car" and "My
        # car is red", in either order.
        for thing, clause in _denied(turn, clauses, references):
            layer.contradicts += [(clause.id, one.id) for one in self._possessed.get(thing, ())]
        for thing, clause in _possessed(turn, clauses, references):
            layer.contradicts += [(clause.id, one.id) for one in self._denied.get(thing, ())]
        for clause in clauses:
            said = clause.proposition
            if said is None:
                continue
            for earlier in self._by_predicate.get(said.predicate, ()):
                before = earlier.proposition
                if before is None:
                    continue
                if repeats(clause.reading, said, earlier.reading, before):
                    layer.repeats.append((clause.id, earlier.id))
                elif contradicts(clause.reading, said, earlier.reading, before, self._lexicon):
                    layer.contradicts.append((clause.id, earlier.id))
            for opposite in sorted(opposites_of(said.predicate, self._lexicon)):
                for earlier in self._by_predicate.get(opposite, ()):
                    before = earlier.proposition
                    if before is not None and contradicts(
                        clause.reading, said, earlier.reading, before, self._lexicon
                    ):
                        layer.contradicts.append((clause.id, earlier.id))
        layer.answers += self._answers(turn, clauses)

    def _answers(self, turn: SpokenTurn, clauses: Sequence[Clause]) -> Iterator[tuple[str, str]]:
        """Yield the last question of the previous turn, with the clause of this turn that answers it."""
        if self._last is None:
            return
        asking, asked = self._last
        if asking.turn != turn.turn - 1 or asking.speaker == turn.speaker:
            return
        view = asking.reading.view
        # A question such as "Oh?" asks for nothing, so no clause can answer it.
        questions = [
            clause
            for clause in asked
            if clause.reading.type == "question"
            and (
                view.is_frame[clause.reading.core] or view.labels[clause.reading.core] not in words("markers")
            )
        ]
        if not questions:
            return
        question = questions[-1]
        found = answer_to(question.reading, [one.reading for one in clauses], turn.reading.view)
        if found is not None:
            yield clauses[found].id, question.id


Possession = tuple[str, str]
"""The id of the owner's entity, and the lexeme of the thing."""


def _denied(
    turn: SpokenTurn, clauses: Sequence[Clause], references: References
) -> Iterator[tuple[Possession, Clause]]:
    for clause in clauses:
        thing = denied_possession(clause.reading, turn.reading, references)
        if thing is not None:
            yield thing, clause


def _possessed(
    turn: SpokenTurn, clauses: Sequence[Clause], references: References
) -> Iterator[tuple[Possession, Clause]]:
    clause_of_head = {clause.reading.head: clause for clause in clauses}
    for thing, reading in possessions(turn.reading, references):
        yield thing, clause_of_head[reading.head]


def _leave_out_single_nouns(layer: DiscourseLayer) -> None:
    """Remove the entities of nouns that are mentioned only once, because they connect no clauses."""
    mentions: dict[str, int] = {}
    for references in layer.references.values():
        for entity in references.values():
            mentions[entity] = mentions.get(entity, 0) + 1
    kept = {
        one.id for one in layer.entities if mentions.get(one.id, 0) > 1 or one.kind in ("speaker", "speakers")
    }
    # If an earlier clause mentions "my sister and my sister's friend", "I have no sister" is recorded twice
    # as its contradiction. Remove such duplicates.
    layer.contradicts = list(dict.fromkeys(layer.contradicts))
    layer.entities = [one for one in layer.entities if one.id in kept]
    layer.references = {
        graph: {k: id for k, id in references.items() if id in kept}
        for graph, references in layer.references.items()
    }

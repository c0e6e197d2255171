"""Write what depends on several turns of a dialogue: repetitions, clauses, entities and their relations.

The graphs of a dialogue are compared with each other. Therefore, the graphs of the current batch are
processed together with the graphs of the same dialogues that are already in the store. If a dialogue gets
further graphs, or if the lexicon of the store changes, everything is computed again for the whole dialogue
and replaced. The result therefore does not depend on the order in which graphs were loaded.

For example, A says "I work at a bank." When B later says "You don't work at a bank", both turns get a
``Clause``, the second clause ``CONTRADICTS`` the first clause, and both subjects refer to the ``Entity`` of
A.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neo4j import ManagedTransaction, Record

from graphneg.amr.echoes import repetitions
from graphneg.amr.facts import Analysis, analyse
from graphneg.discourse.layer import DiscourseLayer, SpokenTurn, discourse_layer
from graphneg.discourse.reading import read_graph
from graphneg.english.lexicon import Lexicon
from graphneg.english.words import is_foreign
from graphneg.store.dialogues import StoredDialogue, StoredTurn, next_speaker, read_dialogues, read_graphs
from graphneg.store.statements import RunningStatement, cypher_text, run, send, send_text

Row = dict[str, Any]
Analyses = Mapping[str, Analysis]
"""The analysis of each graph, keyed by graph id."""


def dialogue_of(utterance: str) -> str:
    """Return the id of the dialogue to which an utterance, a response or a graph belongs.

    >>> dialogue_of("dailydialog/test/12#3@penman")
    'dailydialog/test/12'

    Args:
        utterance: The id of the utterance, response or graph.

    Returns:
        The id of the dialogue.
    """
    return utterance.rpartition("#")[0]


@dataclass(frozen=True, slots=True)
class GraphOfResponse:
    """A response and its graph.

    Attributes:
        id: The id of the response.
        turn: The number of the turn that it answers.
        graph_id: The id of the graph.
    """

    id: str
    turn: int
    graph_id: str


def layer_of(
    dialogue: str,
    turns: Sequence[StoredTurn],
    responses: Sequence[GraphOfResponse],
    analyses: Analyses,
    lexicon: Lexicon,
) -> DiscourseLayer:
    """Find the clauses and entities of a dialogue, and their relations, such as repetitions.

    Args:
        dialogue: The id of the dialogue.
        turns: All turns of the dialogue, in order.
        responses: The responses that have a graph, in order.
        analyses: The results of analysing each graph on its own.
        lexicon: The lexicon.

    Returns:
        The clauses, entities and relations; none for texts in other languages than English.
    """

    def spoken(id: str, turn: int, speaker: str, graph: str | None) -> Iterator[SpokenTurn]:
        analysis = None if graph is None else analyses.get(graph)
        if graph is not None and analysis is not None and not is_foreign(analysis.text):
            reading = read_graph(analysis.view, analysis.clauses, analysis.facts, analysis.text)
            yield SpokenTurn(id, turn, speaker, graph, reading)

    said = [
        one
        for turn in turns
        for one in spoken(f"{dialogue}#{turn.turn}", turn.turn, turn.speaker, turn.graph_id)
    ]
    speakers = {turn.speaker for turn in turns}
    # If only one person speaks in the dialogue, *you* refers to somebody who has not spoken yet. So add a
    # second speaker.
    if len(speakers) == 1:
        speakers.add(next_speaker(turns))
    answers: defaultdict[int, list[SpokenTurn]] = defaultdict(list)
    for response in responses:
        before = [turn for turn in turns if turn.turn <= response.turn]
        speaker = next_speaker(before)
        speakers.add(speaker)
        answers[response.turn] += spoken(response.id, response.turn + 1, speaker, response.graph_id)
    return discourse_layer(dialogue, said, answers, sorted(speakers), lexicon)


@dataclass(slots=True)
class DiscourseRows:
    """The rows of the discourse layers of a batch of dialogues.

    Attributes:
        dialogues: The ids of the dialogues.
        clauses: The rows of clauses.
        heads: For each graph, the indices of its clauses in ``clauses``, keyed by the index of the head node.
        entities: The rows of entities.
        mentions: For each graph, the indices in ``entities`` of the entities that it mentions, keyed by node
            index.
        relations: For each type of relation, such as ``repeats``, pairs of clauses as indices in ``clauses``.
    """

    dialogues: list[str] = field(default_factory=list[str])
    clauses: list[Row] = field(default_factory=list[Row])
    heads: list[Row] = field(default_factory=list[Row])
    entities: list[Row] = field(default_factory=list[Row])
    mentions: list[Row] = field(default_factory=list[Row])
    relations: dict[str, list[list[int]]] = field(
        default_factory=lambda: {"repeats": [], "contradicts": [], "answers": []}
    )

    def add(self, layer: DiscourseLayer) -> None:
        """Add the rows of a dialogue.

        Args:
            layer: The discourse layer of the dialogue.
        """
        self.dialogues.append(layer.dialogue)
        of_clause: dict[str, int] = {}
        heads: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for clause in layer.clauses:
            reading = clause.reading
            # Convert the index of the node into a string, because Cypher allows only strings as keys of maps.
            heads[clause.graph][str(reading.head)] = of_clause[clause.id] = len(self.clauses)
            self.clauses.append(
                {
                    "id": clause.id,
                    "dialogue": layer.dialogue,
                    "turn": clause.turn,
                    "index": clause.index,
                    "speaker": clause.speaker,
                    "type": reading.type,
                    "polarity": "negative" if reading.negative else "positive",
                    "modality": reading.modality,
                    "tense": reading.tense,
                    "hedged": reading.hedged,
                    "reported": reading.reported,
                    "self_contained": reading.self_contained,
                }
            )
        self.heads += [{"amr": amr, "heads": own} for amr, own in heads.items()]
        for name, pairs in self.relations.items():
            pairs += [[of_clause[one], of_clause[other]] for one, other in getattr(layer, name)]
        of_entity = {entity.id: len(self.entities) + i for i, entity in enumerate(layer.entities)}
        for one in layer.entities:
            row = {"id": one.id, "dialogue": layer.dialogue, "kind": one.kind, "name": one.name}
            self.entities.append(row | {"gender": one.gender, "number": one.number})
        self.mentions += [
            {"amr": amr, "entities": {str(k): of_entity[id] for k, id in references.items()}}
            for amr, references in layer.references.items()
            if references
        ]

    def send(self, tx: ManagedTransaction) -> list[RunningStatement]:
        """Send the statements that replace the clauses and entities of the dialogues.

        The graphs must have been written before. Existing clauses are removed even if the dialogues are new:
        a user may have deleted a dialogue without its clauses.

        Args:
            tx: The transaction.

        Returns:
            The statements. Pass them to `finish`, which waits for their results.
        """
        if not self.dialogues:
            return []
        ids = self.dialogues
        sent = [send(tx, "load/forget_clauses", ids=ids), send(tx, "load/forget_entities", ids=ids)]
        if self.clauses:
            sent.append(send(tx, "load/clauses", clauses=self.clauses, graphs=self.heads, **self.relations))
        if self.mentions:
            sent.append(send(tx, "load/entities", entities=self.entities, graphs=self.mentions))
        return sent


def write_discourse(
    tx: ManagedTransaction, dialogues: Iterable[str], analyses: Analyses, lexicon: Lexicon
) -> None:
    """Write data that depend on several turns, such as repetitions and entities, and remove outdated data.

    Args:
        tx: The transaction.
        dialogues: The ids of the dialogues.
        analyses: The analyses of graphs, keyed by graph id. A graph without an analysis is read from the
            store.
        lexicon: The lexicon, with which missing graphs are analysed.
    """
    ids = sorted(set(dialogues))
    # Another transaction may write other graphs of the same dialogues. Wait for it, and read what it wrote.
    run(tx, "load/lock_dialogues", ids=ids)
    reader = _Reader(tx)
    found, responses = read_dialogues(reader, ids), _read_responses(reader, ids)
    known = {**analyses, **_analyse_stored(reader, found, responses, analyses, lexicon)}
    echoes = [row for dialogue in found for row in _echo_rows(dialogue, known)]
    if echoes:
        run(tx, "load/echoes", graphs=echoes)
    rows = DiscourseRows()
    for dialogue in found:
        own = [one for one, _ in responses.get(dialogue.id, ())]
        rows.add(layer_of(dialogue.id, dialogue.turns, own, known, lexicon))
    for statement in rows.send(tx):
        statement.finish()


def _read_responses(reader: _Reader, ids: Sequence[str]) -> dict[str, list[tuple[GraphOfResponse, str]]]:
    """Return the responses that have a graph, with their texts, keyed by the id of the dialogue."""
    found: dict[str, list[tuple[GraphOfResponse, str]]] = {}
    for row in reader.read(cypher_text("load/answering_graphs"), ids=list(ids)):
        # If a response has several graphs, prefer the gold graph from the corpus to the graphs of parsers.
        # The same rule applies to turns.
        said = sorted(
            row["responses"], key=lambda one: (one[1], len(one[0]), one[0], one[4] != "penman", one[4])
        )
        own: dict[str, tuple[GraphOfResponse, str]] = {}
        for id, turn, text, amr, _ in said:
            own.setdefault(id, (GraphOfResponse(id, turn, amr), text))
        found[row["id"]] = list(own.values())
    return found


def _analyse_stored(
    reader: _Reader,
    dialogues: Sequence[StoredDialogue],
    responses: Mapping[str, Sequence[tuple[GraphOfResponse, str]]],
    analyses: Analyses,
    lexicon: Lexicon,
) -> dict[str, Analysis]:
    """Read the graphs of dialogues that were written by earlier loads, and analyse them."""
    texts = {turn.graph_id: turn.text for dialogue in dialogues for turn in dialogue.turns}
    texts |= {one.graph_id: text for own in responses.values() for one, text in own}
    missing = [amr for amr in texts if amr is not None and amr not in analyses]
    graphs = read_graphs(reader, missing) if missing else ()
    return {graph.id: analyse(graph, texts[graph.id], lexicon) for graph in graphs}


def _echo_rows(dialogue: StoredDialogue, analyses: Analyses) -> list[Row]:
    turns = [(turn.speaker, turn.graph_id) for turn in dialogue.turns if turn.graph_id is not None]
    said = [(speaker, analyses[amr].statements if amr in analyses else []) for speaker, amr in turns]
    return [
        {"amr": amr, "repeats": {str(k): by for k, by in own.items()}}
        for (_, amr), own in zip(turns, repetitions(said), strict=True)
    ]


class _Reader:
    """A transaction with the method `read`, so that it can be read like a store."""

    def __init__(self, tx: ManagedTransaction) -> None:
        self._tx = tx

    def read(self, query: str, /, **parameters: Any) -> list[Record]:
        return send_text(self._tx, query, parameters).records()

"""Mark the nodes of a dialogue's graphs that repeat what was said in an earlier turn.

Such repetitions are called echoes. To find them, the statements in each graph are compared with the
statements in all earlier turns. The graphs of a dialogue are therefore processed together, whether they are
in the current batch or already in the store. Echoes are written when graphs are loaded, and again when the
lexicon of the store changes.

For example, A says "I work at a bank." When B later says "You work at a bank?", the node for "work" in B's
graph is marked with ``other``, because another speaker said the same before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from neo4j import ManagedTransaction, Record

from graphneg.amr.echoes import Statement, repetitions
from graphneg.amr.facts import facts_and_sayings
from graphneg.english.lexicon import Lexicon
from graphneg.store.dialogues import StoredDialogue, read_dialogues, read_graphs
from graphneg.store.statements import run, send_text

Said = Mapping[str, Sequence[Statement]]
"""Maps the id of a graph to the statements that its nodes make."""


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


def write_echoes(tx: ManagedTransaction, dialogues: Iterable[str], said: Said, lexicon: Lexicon) -> None:
    """Mark the nodes that repeat earlier turns of their dialogues, and remove outdated marks.

    Args:
        tx: The open transaction.
        dialogues: The ids of the dialogues.
        said: The statements (words with their arguments) in the graphs, keyed by graph id. For a graph that
            is missing here, the statements are computed from the graph in the store.
        lexicon: The lexicon with which the statements are computed.
    """
    reader = _Reader(tx)
    found = read_dialogues(reader, sorted(set(dialogues)))
    said = {**said, **_read(reader, found, said, lexicon)}
    rows = [row for dialogue in found for row in _rows(dialogue, said)]
    if rows:
        run(tx, "load/echoes", graphs=rows)


def _read(
    reader: _Reader, dialogues: Sequence[StoredDialogue], said: Said, lexicon: Lexicon
) -> dict[str, list[Statement]]:
    """Read the graphs of dialogues that ``said`` does not contain, and return each graph's statements."""
    missing = [amr for dialogue in dialogues for amr in dialogue.graphs if amr not in said]
    graphs = read_graphs(reader, missing) if missing else ()
    return {graph.id: facts_and_sayings(graph, "", lexicon)[1] for graph in graphs}


def _rows(dialogue: StoredDialogue, said: Said) -> list[dict[str, Any]]:
    turns = [(turn.speaker, turn.graph_id) for turn in dialogue.turns if turn.graph_id is not None]
    found = repetitions([(speaker, said.get(amr, ())) for speaker, amr in turns])
    return [
        # Cypher allows only strings as the keys of maps.
        {"amr": amr, "repeats": {str(k): by for k, by in own.items()}}
        for (_, amr), own in zip(turns, found, strict=True)
    ]


class _Reader:
    """A wrapper that gives a transaction the read interface of a store."""

    def __init__(self, tx: ManagedTransaction) -> None:
        """Initialize with an open transaction."""
        self._tx = tx

    def read(self, query: str, /, **parameters: Any) -> list[Record]:
        """Return all rows of a query.

        Args:
            query: The Cypher text.
            **parameters: Values of the query's parameters.

        Returns:
            All rows of the result.
        """
        return send_text(self._tx, query, parameters).records()

"""Mark the nodes of a dialogue's graphs that repeat what was said before.

What a graph says is compared with all earlier turns, so the graphs of a dialogue are processed
together: those of the current batch, and those that the store already has. Echoes are written with new
graphs and by an upgrade of the store.

For example, A says "I work at a bank." When B later says "You work at a bank?", the node of "work" in
B's graph is marked with ``other``: another speaker said the same before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from neo4j import ManagedTransaction, Record

from graphneg.amr.echoes import SaidTurn, Saying, echoes
from graphneg.amr.facts import facts_and_sayings
from graphneg.english.lexicon import Lexicon
from graphneg.store.dialogues import StoredDialogue, read_dialogues, read_graphs
from graphneg.store.statements import run, send_text

Said = Mapping[str, Sequence[Saying]]
"""Maps the id of a graph to what its nodes say."""


def dialogue_of(utterance: str) -> str:
    """Return the id of the dialogue that an utterance, a response or a graph belongs to.

    >>> dialogue_of("dailydialog/test/12#3@penman")
    'dailydialog/test/12'

    Args:
        utterance: The id of the utterance, response or graph.

    Returns:
        The id of the dialogue.
    """
    return utterance.rpartition("#")[0]


def write_echoes(tx: ManagedTransaction, dialogues: Iterable[str], said: Said, lexicon: Lexicon) -> None:
    """Compute and write the echoes in dialogues anew.

    Args:
        tx: The transaction.
        dialogues: The ids of the dialogues.
        said: What is already known of the graphs, by graph id. Other graphs are read from the store.
        lexicon: The lexicon from which the facts about graphs are computed.
    """
    reader = _Reader(tx)
    found = read_dialogues(reader, sorted(set(dialogues)))
    said = {**said, **_read(reader, found, said, lexicon)}
    rows = [row for dialogue in found for row in _rows(dialogue, said)]
    if rows:
        run(tx, "upgrade/echoes", graphs=rows)


def _read(
    reader: _Reader, dialogues: Sequence[StoredDialogue], said: Said, lexicon: Lexicon
) -> dict[str, list[Saying]]:
    """Return what those graphs of dialogues say that are not in ``said``."""
    # Graphs of earlier loads are read from the store.
    missing = [amr for dialogue in dialogues for amr in dialogue.graphs if amr not in said]
    graphs = read_graphs(reader, missing) if missing else ()
    return {graph.id: facts_and_sayings(graph, "", lexicon)[1] for graph in graphs}


def _rows(dialogue: StoredDialogue, said: Said) -> list[dict[str, Any]]:
    turns = [(turn.speaker, turn.amr) for turn in dialogue.turns if turn.amr is not None]
    found = echoes([SaidTurn(speaker, said.get(amr, ())) for speaker, amr in turns])
    return [
        # Keys of maps are texts in Cypher.
        {"amr": amr, "echo": {str(k): by for k, by in own.items()}}
        for (_, amr), own in zip(turns, found, strict=True)
    ]


class _Reader:
    """A transaction with the interface of a store that is read."""

    def __init__(self, tx: ManagedTransaction) -> None:
        """Initialize with an open transaction."""
        self._tx = tx

    def read(self, query: str, /, **parameters: Any) -> list[Record]:
        """Return all rows of a query.

        Args:
            query: The Cypher text.
            **parameters: Its parameters.

        Returns:
            The rows.
        """
        return send_text(self._tx, query, parameters).records()

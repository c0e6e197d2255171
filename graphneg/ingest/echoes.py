"""Which nodes of a dialogue say what was said before: written when its graphs are, and by an upgrade.

What a graph says is compared with the turns before it, so a dialogue's graphs are looked at together: those
of a batch, and those that the store has already.
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
"""By graph, what its nodes say."""


def dialogue_of(utterance: str) -> str:
    """The dialogue that an utterance, a response or a graph belongs to, by its id.

    >>> dialogue_of("dailydialog/test/12#3@penman")
    'dailydialog/test/12'
    """
    return utterance.rpartition("#")[0]


def write_echoes(tx: ManagedTransaction, dialogues: Iterable[str], said: Said, lexicon: Lexicon) -> None:
    """Write anew what is an echo in these dialogues; ``said`` is what is known of their graphs already."""
    reader = _Reader(tx)
    found = read_dialogues(reader, sorted(set(dialogues)))
    said = {**said, **_read(reader, found, said, lexicon)}
    rows = [row for dialogue in found for row in _rows(dialogue, said)]
    if rows:
        run(tx, "upgrade/echoes", graphs=rows)


def _read(
    reader: _Reader, dialogues: Sequence[StoredDialogue], said: Said, lexicon: Lexicon
) -> dict[str, list[Saying]]:
    """What the graphs of dialogues say that nothing is known of yet."""
    missing = [amr for dialogue in dialogues for amr in dialogue.graphs if amr not in said]
    graphs = read_graphs(reader, missing) if missing else ()
    return {graph.id: facts_and_sayings(graph, "", lexicon)[1] for graph in graphs}


def _rows(dialogue: StoredDialogue, said: Said) -> list[dict[str, Any]]:
    turns = [(turn.speaker, turn.amr) for turn in dialogue.turns if turn.amr is not None]
    found = echoes([SaidTurn(speaker, said.get(amr, ())) for speaker, amr in turns])
    return [
        {"amr": amr, "echo": {str(k): by for k, by in own.items()}}
        for (_, amr), own in zip(turns, found, strict=True)
    ]


class _Reader:
    """A transaction, to be read like a store."""

    def __init__(self, tx: ManagedTransaction) -> None:
        self._tx = tx

    def read(self, query: str, /, **parameters: Any) -> list[Record]:
        """All rows of a query."""
        return send_text(self._tx, query, parameters).records()

"""The contexts of a store, in the order of its dialogues: places where a response is wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from graphneg.editing.originals import Selection, StoredDialogue, dialogue_ids, read_dialogues
from graphneg.editing.overlap import ahead
from graphneg.errors import InputError
from graphneg.generators.base import Context, Turn
from graphneg.loading.rows import utterance_id
from graphneg.store import Store, cypher_text

Places = Literal["last", "every"]
PLACES: tuple[Places, ...] = ("last", "every")
BATCH = 200


@dataclass(frozen=True, slots=True)
class WantedContexts:
    """Which contexts: those of the dialogues that ``selection`` names.

    Where a dialogue has responses, its contexts end at the turns that they answer. Of other dialogues
    ``places`` is ``last`` (the context of the last turn) or ``every`` (of each turn but the first).
    """

    selection: Selection = field(default_factory=Selection)
    places: Places = "last"

    def __post_init__(self) -> None:
        if self.places not in PLACES:
            raise InputError(f"places {self.places!r}: choose one of {', '.join(PLACES)}")


@dataclass(frozen=True, slots=True)
class ContextBatch:
    """Some dialogues' contexts: how many dialogues there are, and which of them have no context."""

    dialogues: int
    contexts: tuple[Context, ...]
    without: tuple[str, ...]


def context_batches(
    store: Store, wanted: WantedContexts, batch: int = BATCH, skip: int = 0
) -> Iterator[ContextBatch]:
    """The contexts of ``batch`` dialogues after another, in their order; ``skip`` leaves out the first ones.

    The next batch is read while one is at work.

    Raises:
        StoreError: the store is gone.
    """
    ids = dialogue_ids(store, wanted.selection, skip)
    parts = iter(lambda: list(islice(ids, batch)), [])
    yield from ahead(lambda part: _batch(store, part, wanted.places), parts, 1)


def read_contexts(store: Store, wanted: WantedContexts, batch: int = BATCH) -> Iterator[Context]:
    """The contexts one by one, in the order of dialogues and turns."""
    for part in context_batches(store, wanted, batch):
        yield from part.contexts


def _batch(store: Store, ids: Sequence[str], places: Places) -> ContextBatch:
    responses = _right_responses(store, ids)
    found: list[Context] = []
    without: list[str] = []
    for dialogue in read_dialogues(store, ids):
        contexts = list(_contexts(dialogue, responses.get(dialogue.id), places))
        found += contexts
        if not contexts:
            without.append(dialogue.id)
    return ContextBatch(len(ids), tuple(found), tuple(without))


def _right_responses(store: Store, ids: Sequence[str]) -> dict[str, dict[int, list[str]]]:
    """By dialogue and the turn that they answer, the texts of right responses; of wrong ones, the turn."""
    found: dict[str, dict[int, list[str]]] = {}
    for row in store.read(cypher_text("read/responses"), ids=list(ids)):
        turns = found.setdefault(row["id"], {})
        for _, turn, text, label, _ in sorted(row["responses"], key=_place):
            texts = turns.setdefault(turn, [])
            if label == 1:
                texts.append(text)
    return found


def _place(response: list[object]) -> tuple[int, int, str]:
    """Responses by turn and number: ``d#3/r10`` stands behind ``d#3/r9``."""
    id, turn = str(response[0]), response[1]
    return int(str(turn)), len(id), id


def _contexts(
    dialogue: StoredDialogue, responses: Mapping[int, list[str]] | None, places: Places
) -> Iterator[Context]:
    last = dialogue.turns[-1].turn if dialogue.turns else 0
    if responses:
        answered = sorted(responses)
    else:
        answered = [last - 1] if places == "last" else [turn.turn for turn in dialogue.turns[:-1]]
    for turn in answered:
        before = tuple(Turn(one.speaker, one.text) for one in dialogue.turns if one.turn <= turn)
        if not before:
            continue
        reply = next((one for one in dialogue.turns if one.turn == turn + 1), None)
        own = [reply.text] if reply is not None else []
        yield Context(
            id=utterance_id(dialogue.id, turn + 1),
            corpus=dialogue.corpus,
            split=dialogue.split,
            dialogue=dialogue.id,
            turn=turn + 1,
            turns=before,
            speaker=reply.speaker if reply is not None else answering(before),
            positives=tuple(dict.fromkeys([*own, *(responses or {}).get(turn, ())])),
        )


def answering(turns: Sequence[Turn]) -> str:
    """Who speaks next where nobody says: the last one who is not the last speaker.

    >>> answering([Turn("A", "Hi."), Turn("B", "Hello.")]), answering([Turn("A", "Hi.")])
    ('A', 'B')
    """
    last = turns[-1].speaker
    others = [turn.speaker for turn in turns if turn.speaker != last]
    if others:
        return others[-1]
    return "B" if last == "A" else "A"

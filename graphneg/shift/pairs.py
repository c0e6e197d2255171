"""Posts and replies as the store holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from graphneg.editing.originals import Selection
from graphneg.store import Store, cypher_text

PAGE = 20_000
Kind = Literal["utterances", "responses"]


@dataclass(frozen=True, slots=True)
class Said:
    """A text of a dialogue: an utterance, or a response to one of its turns."""

    id: str
    text: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Pair:
    """A post, and a reply to it: the next utterance, or a response that fits."""

    post: Said
    reply: Said


@dataclass(frozen=True, slots=True)
class DialoguePairs:
    """The texts of a dialogue, in order, and its pairs."""

    id: str
    texts: tuple[Said, ...]
    pairs: tuple[Pair, ...]


def waiting_dialogues(store: Store, selection: Selection) -> Iterator[str]:
    """Ids of the dialogues that are not in the shift graph yet, in their order, in flat memory."""
    after, left = "", selection.limit
    while left is None or left > 0:
        limit = PAGE if left is None else min(PAGE, left)
        page = store.read(cypher_text("shift/waiting"), after=after, limit=limit, **_conditions(selection))
        for row in page:
            yield row["id"]
        if len(page) < limit:
            return
        after = page[-1]["order"]
        left = None if left is None else left - len(page)


def count_dialogues(store: Store, selection: Selection) -> tuple[int, int]:
    """How many dialogues there are, and how many of them wait."""
    row = store.read(cypher_text("shift/count_waiting"), **_conditions(selection))[0]
    return row["dialogues"], row["waiting"]


def has_replies(store: Store, selection: Selection) -> bool:
    """Whether any utterance or response is a reply."""
    return bool(store.read(cypher_text("shift/any_reply"), **_conditions(selection)))


def read_pairs(store: Store, ids: Sequence[str]) -> list[DialoguePairs]:
    """The texts and pairs of these dialogues, in this order."""
    turns = {row["id"]: row["turns"] for row in store.read(cypher_text("shift/turns"), ids=list(ids))}
    responses = {
        row["id"]: row["responses"] for row in store.read(cypher_text("shift/responses"), ids=list(ids))
    }
    return [_pairs(id, turns[id], responses.get(id, [])) for id in ids if id in turns]


def _pairs(id: str, turns: list[list[Any]], responses: list[list[Any]]) -> DialoguePairs:
    said = [(turn, Said(at, text, "utterances")) for turn, at, text in sorted(turns)]
    answers = [(turn, Said(at, text, "responses")) for turn, at, text in sorted(responses)]
    posts = dict(said)
    pairs = [Pair(post, reply) for (_, post), (_, reply) in pairwise(said)]
    pairs += [Pair(posts[turn], reply) for turn, reply in answers]
    return DialoguePairs(id, tuple(one for _, one in (*said, *answers)), tuple(pairs))


def _conditions(selection: Selection) -> dict[str, Any]:
    return {"corpora": list(selection.corpora), "splits": list(selection.splits)}

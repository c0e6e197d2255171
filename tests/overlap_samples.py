"""Sentences and dialogues for tests of ``overlap``. The sentences combine few phrases, and so share words."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

from graphneg.dialogue_graph import DialogueGraph
from graphneg.model import Negative
from graphneg.records.files import read_jsonl
from graphneg.store.connection import Store
from tests.servers import wipe

WHO = ("My neighbour", "I usually", "We often", "The old teacher", "Her cousin")
DID = ("painted", "repaired", "borrowed", "cleaned", "sold", "carried")
WHAT = ("the wooden boat", "a red bicycle", "the kitchen table", "an old piano", "some winter coats")
WHERE = ("behind the station", "near the river", "at the market", "in our garden")
WHEN = ("on a rainy morning", "after the long holiday")
TURNS = (
    ("Did you sell your bicycle?", "No, my brother needs it for school.", "Then where do you keep it?"),
    ("The piano sounds terrible.", "Nobody has played it since winter.", "Shall we ask the teacher to help?"),
    ("We meet at the station tomorrow.", "Is the market open in the morning?", "I think it opens at eight."),
    ("Your garden is lovely.", "The river floods it every spring.", "Do you carry the plants inside?"),
    ("I painted the kitchen table.", "Which colour did you take?", "A light green, like the boat."),
)
RIGHT = "I keep the red bicycle in a dry shed behind our small house."


def sentences() -> list[str]:
    """Return two thirds of all combinations of the phrases, and two sentences that cannot be responses."""
    made = [f"{' '.join(parts)}." for parts in product(WHO, DID, WHAT, WHERE, WHEN)]
    kept = [text for number, text in enumerate(made) if number % 3]
    return [*kept, RIGHT, "Yes, my neighbour painted the wooden boat near the river.", "The red bicycle."]


def dialogues(amount: int) -> list[dict[str, object]]:
    """Return dialogues of three turns. The first has a correct response, which `sentences` also contains."""
    found: list[dict[str, object]] = []
    for number in range(amount):
        place = {"id": f"own/test/{number}", "corpus": "own", "split": "test"}
        found.append({**place, "turns": list(TURNS[number % len(TURNS)])})
    found[0]["responses"] = [
        {"turn": 2, "text": RIGHT, "label": 1, "source": "human"},
        {"turn": 2, "text": "My neighbour keeps a bicycle near the river.", "label": 0, "source": "random"},
    ]
    return found


def fill(store: Store, folder: Path, amount: int = 20) -> DialogueGraph:
    """Empty a store, and load the sentences and ``amount`` dialogues into it."""
    wipe(store)
    pool, chats = folder / "pool.txt", folder / "chats.jsonl"
    pool.write_text("\n".join(sentences()), encoding="utf-8")
    chats.write_text("\n".join(map(json.dumps, dialogues(amount))), encoding="utf-8")
    graph = DialogueGraph(store)
    graph.load("text", pool)
    graph.load("dialogues", chats)
    return graph


def responses(negatives: list[Negative]) -> list[tuple[str, str]]:
    return [(negative.id, negative.response) for negative in negatives]


def written(path: Path) -> list[Negative]:
    return list(read_jsonl(path))

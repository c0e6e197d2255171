"""Fill stores with the dialogues of a test."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphneg.dialogue_graph import DialogueGraph
from graphneg.parsers.base import get_parser
from graphneg.store.connection import Store
from tests.servers import wipe


def loaded(store: Store, folder: Path, name: str, dialogues: Iterable[Mapping[str, Any]]) -> DialogueGraph:
    """Empty a store, and load dialogues into it from the new file ``NAME.jsonl`` of a folder.

    Dialogues that name no corpus get the name of the file as their corpus.

    Returns:
        The graph of the store.
    """
    wipe(store)
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(map(json.dumps, dialogues)), encoding="utf-8")
    graph = DialogueGraph(store)
    graph.load("dialogues", path)
    return graph


def parsed(store: Store, folder: Path, talks: Iterable[Sequence[str]]) -> DialogueGraph:
    """Empty a store, and load and parse dialogues that consist of these turns.

    Returns:
        The graph of the store. The ids of the dialogues are ``talks/all/000``, ``talks/all/001`` and so on.
    """
    rows = [{"id": f"{at:03}", "turns": [{"text": one} for one in said]} for at, said in enumerate(talks)]
    graph = loaded(store, folder, "talks", rows)
    graph.parse(get_parser("dependency"))
    return graph

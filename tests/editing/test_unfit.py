"""Tests of what is never edited: dialogues of one turn, foreign turns and very long turns."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.editing.proposals import LONGEST_EDITED, Donors
from graphneg.model import Decoded, EditedUtterance
from graphneg.store.connection import Store
from tests.editing.test_generation import DOUBT, transform_folder
from tests.servers import wipe
from tests.speller import Speller
from tests.toy_parser import ToyParser

GRAPH = "(s / sleep-01 :ARG0 (i / i))"
LONG = "I sleep. " * (LONGEST_EDITED // 9 + 1)
TALKS = {
    "alone": ["Only one turn here."],
    "german": ["Hast du heute Abend Zeit?", "Nein, ich muss leider arbeiten."],
    "half": ["Where do you sleep?", "Ich schlafe heute zu Hause.", "I sleep at home."],
    "page": ["Where do you sleep?", LONG, "I sleep at home."],
    "book": ["Where do you sleep?", LONG],
    "asked": ["Where do you sleep?", "Hm."],
}
WORDLESS = {"asked#1"}


@pytest.fixture(scope="module")
def talks(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Generator[DialogueGraph]:
    """Load dialogues on each server. All turns have a graph except "Hm."."""
    wipe(store)
    graph = DialogueGraph(store)
    file = tmp_path_factory.mktemp("talks") / "talks.jsonl"
    turns = {
        name: [
            {"text": text} if f"{name}#{turn}" in WORDLESS else {"text": text, "amr": GRAPH}
            for turn, text in enumerate(texts)
        ]
        for name, texts in TALKS.items()
    }
    file.write_text("\n".join(json.dumps({"id": name, "turns": said}) for name, said in turns.items()))
    graph.load("dialogues", file)
    yield graph
    wipe(store)


@pytest.mark.parametrize("target", ["response", "dialogue"])
def test_missing_negatives_are_counted_by_reason(talks: DialogueGraph, tmp_path: Path, target: str) -> None:
    negatives = talks.negatives(
        transforms=["doubt"], folders=[transform_folder(tmp_path, DOUBT)], decoder=Speller(),
        per_dialogue=3, target=target,
    )  # fmt: skip
    edited = {(one.dialogue, edit.turn) for one in negatives for edit in one.edits}
    of_turns = {"response": {2}, "dialogue": {0, 2}}[target]
    fit = {(f"talks/all/{name}", turn) for name in ("half", "page") for turn in of_turns}
    assert edited & fit and edited <= fit | (
        {("talks/all/book", 0), ("talks/all/asked", 0)} if target == "dialogue" else set()
    )
    reasons = dict(negatives.summary.skipped)
    assert (reasons["no-context"], reasons["not-english"]) == (3, 3)
    if target == "response":
        assert (reasons["too-long"], reasons["no-graph"]) == (3, 3)


def test_no_recipe_makes_a_negative_without_a_context(talks: DialogueGraph) -> None:
    for recipe in ("deam", "contradiction", "perspective", "all"):
        assert all(one.context for one in talks.negatives(recipe, per_dialogue=3))


def test_sentences_are_not_copied_from_unfit_turns(talks: DialogueGraph) -> None:
    offered = {row["amr"].partition("@")[0] for row in Donors(talks.store).assign("talks", "all")}
    assert offered <= {
        f"talks/all/{id}" for id in ("asked#0", "alone#0", "half#0", "half#2", "page#0", "page#2", "book#0")
    }


class Misspeller:
    """Writes a text with an agreement error for each edited graph."""

    name = "misspeller"

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        return [Decoded("She don't sleep at home.") for _ in batch]


def test_a_text_with_a_new_grammatical_error_is_refused_and_counted(
    talks: DialogueGraph, tmp_path: Path
) -> None:
    negatives = talks.negatives(
        transforms=["doubt"], folders=[transform_folder(tmp_path, DOUBT)], decoder=Misspeller(),
        target="response",
    )  # fmt: skip
    assert not list(negatives)
    summary = negatives.summary
    assert summary.skipped["ungrammatical"] == 2
    assert summary.examples["ungrammatical"][0].endswith(
        """: "She don't sleep at home." (PronounVerbAgreement)"""
    )


def test_graphs_of_foreign_texts_are_marked_for_any_parser(talks: DialogueGraph, tmp_path: Path) -> None:
    file = tmp_path / "parsed.jsonl"
    file.write_text(json.dumps({"id": "x", "turns": TALKS["half"], "responses": [
        {"turn": 2, "text": "Das glaube ich dir nicht.", "label": 1},
    ]}))  # fmt: skip
    talks.load("dialogues", file)
    report = talks.parse(ToyParser(), corpora=["parsed"], of=("utterances", "responses"))
    assert report.warnings["language"] == 2
    marked = "MATCH (u)-[:MEANS]->(a:Amr {foreign: true}) WHERE a.source STARTS WITH 'toy' RETURN u.id AS id"
    assert {row["id"] for row in talks.cypher(marked)} == {"parsed/all/x#1", "parsed/all/x#2/r0"}

"""Tests of ``graph.substitutes``: substitute perspectives for a post, a reply and a corpus."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError, ModelError
from graphneg.shift.candidates import Focus, Post
from graphneg.shift.keywords import extractor_named, get_extractor
from graphneg.shift.prediction import ScoredTerm
from graphneg.store.connection import Store
from tests.explore_samples import write_samples
from tests.servers import wipe
from tests.shift_samples import Capitals, Letters

REPLY = "kitchen/train/2#1/r0"
"""``The coffee smells good.``, answered by ``I would rather have tea.``"""


@pytest.fixture(scope="module")
def graph(store: Store) -> Generator[DialogueGraph]:
    wipe(store)
    write_samples(store)
    yield DialogueGraph(store)
    wipe(store)


class LastByName:
    """Choose the last candidate in alphabetical order."""

    name = "last"

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[ScoredTerm]:
        return [ScoredTerm(max(subset), 1.0) for subset in subsets]


def test_substitutes_of_a_new_post_come_from_its_keywords(graph: DialogueGraph) -> None:
    paper = graph.substitutes(turns=1, hops=1, subset_size=1)
    found = paper.of_post("I need a coffee now.")
    assert {(one.focus, one.text) for one in found.ranked} == {
        ("coffee", text) for text in ("cake", "price", "tea", "café", "coffee")
    }
    without = paper.of_post("I need a coffee now.", perspective="cake")
    assert {one.text for one in found.ranked} - {one.text for one in without.ranked} == {"cake"}


def test_substitutes_of_a_reply_exclude_its_perspective(graph: DialogueGraph) -> None:
    found = graph.substitutes(subset_size=1, top=3).of_reply(REPLY)
    assert (found.reply.perspective, len(found.ranked)) == ("tea", 3)
    assert "tea" not in {one.text for one in found.ranked}


def test_iteration_equals_the_written_file(graph: DialogueGraph, tmp_path: Path) -> None:
    finder = graph.substitutes(top=2, corpora=["travel"])
    report = finder.to_jsonl(tmp_path / "out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    found = [one for one in finder if one.ranked]
    assert len(lines) == report.written > 0
    assert [one.reply.id for one in found] == [line["id"] for line in lines]
    assert [[each.text for each in one.ranked] for one in found] == [
        [each["text"] for each in line["substitutes"]] for line in lines
    ]


def test_a_predictor_object_is_used_and_its_answers_checked(graph: DialogueGraph) -> None:
    [one] = (
        graph.substitutes(LastByName(), turns=1, hops=1, subset_size=100)
        .of_post("I need a coffee now.")
        .ranked
    )
    assert one.text == "tea"

    class Silent(LastByName):
        def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[ScoredTerm]:
            return []

    with pytest.raises(ModelError, match="must choose one candidate of each"):
        graph.substitutes(Silent()).of_reply(REPLY)


@pytest.mark.parametrize(
    "wrong", [{"turns": 0}, {"hops": 3}, {"max_candidates": 0}, {"subset_size": 0}, {"top": 0}]
)
def test_options_out_of_range_are_refused(graph: DialogueGraph, wrong: dict[str, int]) -> None:
    with pytest.raises(InputError):
        graph.substitutes(**wrong)  # type: ignore[arg-type]


def test_a_new_post_needs_the_extractor_of_the_graph(embedded: Store, tmp_path: Path) -> None:
    assert extractor_named(None).name == get_extractor("yake").name
    for language in ("en", "de"):
        name = get_extractor("rake", language).name
        assert extractor_named(name).name == name
    wipe(embedded)
    graph = DialogueGraph(embedded)
    file = tmp_path / "own.jsonl"
    file.write_text(json.dumps({"id": "0", "turns": ["The CAT.", "The CART."]}) + "\n", encoding="utf-8")
    graph.load("dialogues", file)
    graph.shift(Letters(), keywords=Capitals())
    with pytest.raises(InputError, match=r"extracted by 'capitals': pass this extractor"):
        graph.substitutes().of_post("A CAT!")
    [one] = graph.substitutes(keywords=Capitals()).of_post("A CAT!").ranked
    assert (one.focus, one.text) == ("cat", "cart")
    wipe(embedded)

"""Tests that ``true`` is refused wherever a number is expected: in Python, it would count as 1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphneg.errors import GraphnegError, InputError
from graphneg.evaluation.review.exchange import _row  # pyright: ignore[reportPrivateUsage]
from graphneg.generators.base import options_of
from graphneg.generators.counterfactual import CounterfactualOptions
from graphneg.generators.deferred_choice import choosing
from graphneg.generators.infilling.generator import MaskAndFillOptions
from graphneg.generators.keywords.generator import KeywordOptions
from graphneg.generators.overlap.target_profile import OverlapOptions
from graphneg.generators.pneg import PnegOptions
from graphneg.generators.retrieval import check_amount
from graphneg.json_input import finite_number, whole_number
from graphneg.model import Negative
from graphneg.nn.server_requests import limit_of
from graphneg.pipeline import read_pipeline
from graphneg.records.files import from_record, to_record
from graphneg.records.shards import ShardFile
from graphneg.snapshots import METHOD, check_types
from graphneg.store.corpus_data import BANK, COPIES, SENTENCES, SHIFTS, UTTERANCES
from graphneg.store.queries import named_query
from tests.negative_samples import EXAMPLE
from tests.review_samples import small_set

RECORD = to_record(EXAMPLE)
NUMBERS_OF_RECORDS = [
    ("turn",),
    ("label",),
    ("seed",),
    ("distance",),
    ("scores", "nli"),
    ("evidence", "turn"),
    ("edits", 0, "turn"),
]
SENTENCE = {
    **{"id": "s", "text": "Hi.", "source": "u", "dialogue": "d", "words": 1, "content": 1, "mood": "m"},
    **{"person": 0, "opening": "", "finite": True, "plain": True, "rank": 1, "terms": []},
}
UTTERANCE = {"key": "k", "dialogue": "d", "turn": 1, "text": "Hi.", "corpus": "c", "split": "s"}
SNAPSHOT_ROWS = [
    (SENTENCES, SENTENCE, ("words",)),
    (SENTENCES, SENTENCE, ("content",)),
    (SENTENCES, SENTENCE, ("person",)),
    (SENTENCES, SENTENCE, ("rank",)),
    (UTTERANCES, UTTERANCE, ("turn",)),
    (SHIFTS, ["tea", "milk", 2], (2,)),
    (BANK, ["c", 7, "a", "b", "d"], (1,)),
    (COPIES, [["a"], [["b", 1]]], (1, 0, 1)),
]
OPTIONS: list[tuple[Any, str]] = [
    (OverlapOptions, "min_words"),
    (OverlapOptions, "max_uses"),
    (OverlapOptions, "last_turn"),
    (CounterfactualOptions, "max_words"),
    (KeywordOptions, "max_words"),
    (MaskAndFillOptions, "texts"),
    (PnegOptions, "responses"),
]
PIPELINE = "load: [{corpus: everyday, paths: []}]\nwrite: out.jsonl\n"


def with_value(whole: Any, path: tuple[str | int, ...], value: object) -> Any:
    """Return a copy of a JSON value in which the value at a path is replaced."""
    if not path:
        return value
    first, *rest = path
    if isinstance(first, int):
        return [
            with_value(item, tuple(rest), value) if at == first else item for at, item in enumerate(whole)
        ]
    assert first in whole
    return whole | {first: with_value(whole[first], tuple(rest), value)}


@pytest.mark.parametrize(
    ("value", "least", "expected"),
    [
        (3, None, 3),
        (-3, None, -3),
        (0, 0, 0),
        (0, 1, None),
        (True, None, None),
        (False, 0, None),
        (3.0, None, None),
        ("3", None, None),
        (None, None, None),
        ([3], None, None),
    ],
)
def test_whole_numbers_are_integers_without_booleans(
    value: object, least: int | None, expected: int | None
) -> None:
    found = whole_number(value, least)
    assert found == expected and type(found) is type(expected)
    assert finite_number(True) is None


@pytest.mark.parametrize("path", NUMBERS_OF_RECORDS)
@pytest.mark.parametrize("value", [True, False])
def test_records_are_refused(path: tuple[str | int, ...], value: bool) -> None:
    assert isinstance(from_record(RECORD), Negative)
    with pytest.raises(InputError, match="got `bool`"):
        from_record(with_value(RECORD, path, value))


@pytest.mark.parametrize(("part", "row", "path"), SNAPSHOT_ROWS)
def test_rows_of_snapshots_are_refused(part: str, row: Any, path: tuple[str | int, ...]) -> None:
    check_types(part, [row])
    with pytest.raises(ValueError, match="got `bool`"):
        check_types(part, [with_value(row, path, True)])


def test_rows_of_snapshots_without_numbers_are_accepted() -> None:
    check_types(METHOD, [{"keywords": "idf", "embedder": ""}])


@pytest.mark.parametrize(("kind", "option"), OPTIONS)
def test_options_of_generators_are_refused(kind: Any, option: str) -> None:
    with pytest.raises(GraphnegError, match=option):
        options_of(kind, "name", {option: True})
    with pytest.raises(GraphnegError, match="most must be a whole number"):
        check_amount("most", True)


def test_options_of_generators_that_are_yes_or_no_are_accepted() -> None:
    assert options_of(OverlapOptions, "overlap", {"anecdotes": True}).anecdotes


@pytest.mark.parametrize(
    "line", ["blocks: true", "negative_workers: {count: true}", "negatives: {per_dialogue: true}"]
)
def test_pipelines_are_refused(tmp_path: Path, line: str) -> None:
    needed = "" if line.startswith("negatives") else "negatives: {}\n"
    (tmp_path / "run.yaml").write_text(PIPELINE + needed + line, encoding="utf-8")
    with pytest.raises(InputError, match=r"Expected `int.*`, got `bool`"):
        read_pipeline(tmp_path / "run.yaml")


@pytest.mark.parametrize("last", ['{"places": true, "items": 1, "digest": ""}', "[true, []]"])
def test_shards_are_refused(tmp_path: Path, last: str) -> None:
    header = {"shard": "1/2", "kind": "records", "settings": {}, "content": ""}
    path = tmp_path / "a.shard"
    path.write_text(f"{json.dumps(header)}\n{last}\n", encoding="utf-8")
    with pytest.raises(InputError):
        list(ShardFile(path).lines())


@pytest.mark.parametrize("choice", [{"by": "new texts", "most": True}, {"by": "sentences", "max_uses": True}])
def test_choices_of_shards_are_refused(choice: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="got `bool`"):
        choosing(choice)


def test_places_in_drafts_are_refused() -> None:
    choose = choosing({"by": "sentences", "max_uses": 4})
    sentences = [["a", [], ["tea"]], ["b", [], ["milk"]]]
    assert choose(["A.", "B."], {"sentences": sentences, "lists": [[[1, 0.5, 7]]]}) == [1]
    with pytest.raises(InputError, match="got `bool`"):
        choose(["A.", "B."], {"sentences": sentences, "lists": [[[True, 0.5, 7]]]})


def test_a_row_of_a_task_is_refused() -> None:
    key = small_set()
    digest = key.item(1).text_digest
    assert _row(key, 1, digest, "file") == 1
    with pytest.raises(InputError, match="row 'True' is not in the key"):
        _row(key, True, digest, "file")


def test_parameters_of_named_queries_are_refused() -> None:
    query = named_query("contradictions")
    name = next(one.name for one in query.parameters if not one.is_text)
    with pytest.raises(InputError, match="must be a whole number of at least 0, not True"):
        query.values({name: True})


def test_token_limits_are_ignored() -> None:
    assert limit_of({"max_tokens": True}) is None
    assert limit_of({"max_tokens": 30}) == 30

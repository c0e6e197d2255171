"""Tests of the generator ``counterfactual`` on a store: correct and wrong replies, and gaps."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="counterfactual replies need the neural extra")
pytest.importorskip("transformers", reason="counterfactual replies need the neural extra")

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import GraphnegError, InputError
from graphneg.generators.base import get_generator
from graphneg.generators.counterfactual import unrelated_perspectives
from graphneg.generators.counterfactual_model import exchanges_of
from graphneg.model import Negative
from graphneg.shift.candidates import replies_of
from graphneg.shift.graphs import ShiftGraph
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, dialogue_ids
from graphneg.store.opening import open_store
from tests.cli_runs import Run
from tests.servers import wipe
from tests.stub_model import answered, stub_model
from tests.tiny_lm import EXCHANGES, TinyModels

# Two more dialogues: one without a keyword, one of another topic.
OTHERS = [
    ("Oh?", ["Hm."]),
    ("Is the concert on Friday?", ["No, the band is ill.", "The tickets say Monday."]),
]
KNOWN = {keyword for _, keyword, _ in EXCHANGES}


def corpus(folder: Path) -> Path:
    by_post: dict[str, list[str]] = {}
    for post, _, text in EXCHANGES:
        by_post.setdefault(post, []).append(text)
    lines = [
        {
            "id": f"{number}",
            "turns": [post],
            "responses": [{"turn": 0, "text": text, "label": 1} for text in texts],
        }
        for number, (post, texts) in enumerate([*by_post.items(), *OTHERS])
    ]
    file = folder / "home.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def graph(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Generator[DialogueGraph]:
    wipe(store)
    graph = DialogueGraph(store)
    graph.load("dialogues", corpus(tmp_path_factory.mktemp("home")))
    graph.shift()
    yield graph
    wipe(store)


def made(graph: DialogueGraph, tiny_lms: TinyModels, per_context: int = 2, **options: Any) -> list[Negative]:
    return list(
        graph.generate("counterfactual", per_context=per_context, model=tiny_lms.trained_gpt2, **options)
    )


def facts(negative: Negative) -> Mapping[str, str]:
    """Return the facts that the edit notes: `{"perspective": "milk", "substitute": "garden"}`."""
    return dict(part.split(": ", 1) for part in negative.edits[0].before.split("; "))


def test_wrong_replies_say_a_keyword_that_is_not_in_the_context(graph: DialogueGraph, tiny_lms: TinyModels):
    negatives = made(graph, tiny_lms, tries=30)
    assert negatives
    for negative in negatives:
        assert negative.label == 0 and negative.categories == ("C-follow",)
        substitute = facts(negative)["substitute"]
        assert substitute in negative.response
        assert substitute not in " ".join(turn.text for turn in negative.context)
        assert 0 <= negative.scores["kept"] <= 1


def test_new_correct_replies_differ_from_the_original(graph: DialogueGraph, tiny_lms: TinyModels):
    found = made(graph, tiny_lms, purpose="positives", per_context=4)
    assert found and all(one.label == 1 and one.categories == () for one in found)
    posts = {post for post, _, _ in EXCHANGES}
    assert {one.context[-1].text for one in found} <= posts | {"Is the concert on Friday?"}
    for one in found:
        assert one.response not in {text for _, _, text in EXCHANGES if text == one.original.response}


def test_replies_do_not_depend_on_the_batch_size(graph: DialogueGraph, tiny_lms: TinyModels):
    whole = made(graph, tiny_lms, tries=10)
    parts = list(
        graph.generate("counterfactual", per_context=2, batch=1, model=tiny_lms.trained_gpt2, tries=10)
    )
    assert [one.response for one in parts] == [one.response for one in whole]
    assert [one.id for one in parts] == [one.id for one in whole]


def test_unrelated_perspectives_do_not_depend_on_the_other_replies(everyday: Path):
    with DialogueGraph(open_store(everyday)) as graph:
        graph.shift()
        replies = replies_of(graph.store, list(islice(dialogue_ids(graph.store, Selection()), 4)))
        assert len({len(reply.turns) for reply in replies}) > 3
        shifts = ShiftGraph(graph.store)
        together = unrelated_perspectives(shifts, replies, 8, 0)
        assert together == [unrelated_perspectives(shifts, [reply], 8, 0)[0] for reply in replies]


def test_contexts_without_keywords_are_counted(graph: DialogueGraph, tiny_lms: TinyModels):
    stream = graph.generate("counterfactual", model=tiny_lms.trained_gpt2, per_context=1)
    responded = {negative.dialogue for negative in stream}
    assert "home/all/3" not in responded
    assert stream.summary.skipped["no-perspective"] == 1


def test_a_served_model_says_the_substitute_and_is_asked_once(graph: DialogueGraph, tmp_path: Path):
    pytest.importorskip("httpx", reason="served models need the served extra")
    with stub_model(tmp_path / "stub") as url:
        asked = {"model": "m", "served": {"base_url": url, "cache": str(tmp_path / "answers")}, "tries": 2}
        made = list(graph.generate("counterfactual", per_context=2, **asked))
    assert made and answered(tmp_path / "stub")
    for negative in made:
        keyword = facts(negative)["substitute"]
        assert keyword in negative.response and keyword not in negative.original.response
    again = list(graph.generate("counterfactual", per_context=2, **asked))  # the server is gone
    assert [one.response for one in again] == [one.response for one in made]


def test_training_examples_are_replies_with_their_perspectives(graph: DialogueGraph):
    found = list(exchanges_of(graph.store, Selection()))
    texts = {(one.turns[-1], one.response) for one in found}
    assert {(post, text) for post, _, text in EXCHANGES} <= texts
    assert all(one.perspective for one in found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs a language model"),
        ({"model": "x", "purpose": "others"}, "unknown purpose 'others'; choose one of negatives, positives"),
        ({"model": "x", "tries": 0}, "tries and batch_size must be at least 1"),
        ({"model": "x", "keyword_bias": -1}, "keyword_bias at least 0"),
        ({"model": "/there/is/none"}, "there is no such model folder"),
        ({"model": "x", "strange": 1}, "takes no option 'strange'"),
    ],
)
def test_invalid_options_are_refused(embedded: Store, options: Mapping[str, Any], message: str):
    with pytest.raises(GraphnegError, match=message) as caught:
        get_generator("counterfactual", embedded, **options)
    assert "\n" not in str(caught.value)


def test_a_store_without_a_shift_graph_says_how_to_make_one(
    store: Store, tiny_lms: TinyModels, tmp_path: Path
):
    wipe(store)
    DialogueGraph(store).load("dialogues", corpus(tmp_path))
    with pytest.raises(InputError, match="graphneg shift build"):
        made(DialogueGraph(store), tiny_lms)


def test_the_command_trains_a_model_and_the_generator_uses_it(run: Run, tiny_lms: TinyModels, tmp_path: Path):
    store, model, out = str(tmp_path / "store"), str(tmp_path / "model"), tmp_path / "out.jsonl"
    assert run("--store", store, "load", "dialogues", str(corpus(tmp_path))).status == 0
    start = ["--store", store, "train", "counterfactual", "--model", str(tiny_lms.gpt2), "-o", model]
    before = run(*start)
    assert before.status == 2 and "graphneg shift build" in before.err
    assert run("--store", store, "shift", "build").status == 0
    few = ["--option", "max_steps=2", "--device", "cpu"]
    trained = run(*start, *few)
    assert trained.status == 0 and "in 2 steps" in trained.err
    again = run(*start, *few)
    assert again.status == 2 and "the folder already contains a model" in again.err
    option = ["--option", f"model={model}"]
    ended = run("--store", store, "generate", "counterfactual", "-o", str(out), *option)
    # A model that was trained for two steps writes no usable reply. Scripts see that by the status.
    assert ended.status == 1 and "no negative was made" in ended.err and out.exists()
    scorer = [
        "train",
        "lm",
        "--model",
        str(tiny_lms.gpt2),
        "--direction",
        "post",
        "-o",
        str(tmp_path / "scorer"),
    ]
    assert run("--store", store, *scorer, *few).status == 0

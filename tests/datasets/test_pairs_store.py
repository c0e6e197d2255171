"""Pairs of negatives that are made from a store, for each epoch anew; its splits are held out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from graphneg.datasets.pair_sampler import Mix
from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError
from graphneg.generators.base import Candidate, Context, Generator
from graphneg.store.connection import Store
from tests.servers import wipe

DIALOGUES = [
    {
        "id": "shop/train/1",
        "corpus": "shop",
        "split": "train",
        "turns": ["Is it open?", "Until six.", "And on Sunday?"],
        "responses": [{"turn": 1, "text": "Good, I'll hurry.", "label": 1}],
    },
    {"id": "shop/train/2", "corpus": "shop", "split": "train", "turns": ["One pear.", "Here.", "Thanks."]},
    {
        "id": "shop/test/1",
        "corpus": "shop",
        "split": "test",
        "turns": ["Two pears.", "No pears today."],
        "responses": [{"turn": 1, "text": "Plums, then.", "label": 1}],
    },
]


class Counting(Generator):
    """Says a number that depends on the seed, and what the held-out dialogue says."""

    name = "counting"

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        said = [Candidate(f"Number {seed}.", ("C-cont",)), Candidate("no  PEARS today.", ("C-follow",))]
        return [said[:per_context] for _ in contexts]


@pytest.fixture(scope="module")
def graph(store: Store, tmp_path_factory: pytest.TempPathFactory) -> DialogueGraph:
    wipe(store)
    path = tmp_path_factory.mktemp("pairs") / "shop.jsonl"
    path.write_text("\n".join(map(json.dumps, DIALOGUES)), encoding="utf-8")
    graph = DialogueGraph(store)
    graph.load("dialogues", path)
    return graph


def test_a_stream_gives_pairs_of_its_contexts(graph: DialogueGraph) -> None:
    pairs = graph.pairs(graph.generate(Counting(), splits=["train"]), mix=Mix(1, {"C-cont": 1}))
    drawn = {(pair.context[-1], pair.label, pair.response) for pair in pairs}
    assert drawn == {
        ("Until six.", 1, "And on Sunday?"),
        ("Until six.", 0, "Number 0."),
        ("Here.", 1, "Thanks."),
        ("Here.", 0, "Number 0."),
    }


def test_each_epoch_has_negatives_of_its_own_seed(graph: DialogueGraph) -> None:
    pairs = graph.pairs(lambda seed: graph.generate(Counting(), seed=seed), seed=3)
    wrong = [{pair.response for pair in pairs.epoch(epoch) if not pair.label} for epoch in range(2)]
    assert wrong == [{"Number 3."}, {"Number 4."}]


def test_what_a_split_of_the_store_says_is_held_out(graph: DialogueGraph) -> None:
    made = graph.generate(Counting(), per_context=2, splits=["train"])
    pairs, lacking = graph.pairs(made, mix=Mix(1, {"counting": 2}), held_out_splits=["test"]).draw(0)
    assert {pair.response for pair in pairs if not pair.label} == {"Number 0."}
    assert lacking.held_out == 2 and lacking.responses == {"counting": 2}
    with pytest.raises(
        InputError, match="the store has no dialogue of the split 'dev'; available: test, train"
    ):
        graph.pairs(made, held_out_splits=["dev"])


def test_a_stream_has_the_length_of_its_last_whole_use_and_says_what_it_is(graph: DialogueGraph) -> None:
    made = graph.generate(Counting(), splits=["train"])
    with pytest.raises(TypeError, match="the number of negatives is known only after they are made"):
        len(made)
    next(iter(made))
    with pytest.raises(TypeError):
        len(made)
    assert made and len(list(made)) == len(made) == len(made.to_pandas()) == 2
    assert repr(made).startswith("<Generated: counting, 1 of each context, all dialogues of train in the ")


CALLS = [
    *(("splits", call) for call in ("negatives", "generate", "parse", "shift", "substitutes")),
    *(("corpora", call) for call in ("negatives", "generate", "shift_graph", "substitutes")),
    *(("transforms", "negatives"), ("folders", "negatives"), ("of", "parse"), ("held_out_splits", "pairs")),
]


@pytest.mark.parametrize(("argument", "call"), CALLS)
def test_a_text_where_a_list_is_meant_is_told(graph: DialogueGraph, argument: str, call: str) -> None:
    first = ([],) if call == "pairs" else ()
    with pytest.raises(InputError, match=rf"^{argument} takes a list: {argument}=\['all'\], not"):
        getattr(graph, call)(*first, **{argument: "all"})


def test_an_export_of_a_text_where_a_list_is_meant_writes_nothing(
    graph: DialogueGraph, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="splits takes a list"):
        graph.export(tmp_path / "all.jsonl", splits="train")
    with pytest.raises(InputError, match="ids takes a list"):
        graph.materialize("shop/train/1#1~all.0.0")
    assert not list(tmp_path.iterdir())

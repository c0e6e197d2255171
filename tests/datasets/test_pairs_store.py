"""Tests of pairs whose negatives are generated from a store for each epoch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from graphneg.datasets.pair_sampler import Mix
from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError
from graphneg.generators.base import Candidate, Context, Generator
from graphneg.store.connection import Store
from tests.loaded_dialogues import loaded

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


class SeedGenerator(Generator):
    """Give a response with the seed, and one that also occurs in the held-out dialogue."""

    name = "counting"

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        said = [Candidate(f"Number {seed}.", ("C-cont",)), Candidate("no  PEARS today.", ("C-follow",))]
        return [said[:per_context] for _ in contexts]


@pytest.fixture(scope="module")
def graph(store: Store, tmp_path_factory: pytest.TempPathFactory) -> DialogueGraph:
    return loaded(store, tmp_path_factory.mktemp("pairs"), "shop", DIALOGUES)


def test_generated_negatives_are_paired_with_their_contexts(graph: DialogueGraph) -> None:
    pairs = graph.pairs(graph.generate(SeedGenerator(), splits=["train"]), mix=Mix(1, {"C-cont": 1}))
    drawn = {(pair.context[-1], pair.label, pair.response) for pair in pairs}
    assert drawn == {
        ("Until six.", 1, "And on Sunday?"),
        ("Until six.", 0, "Number 0."),
        ("Here.", 1, "Thanks."),
        ("Here.", 0, "Number 0."),
    }


def test_each_epoch_has_negatives_of_another_seed(graph: DialogueGraph) -> None:
    pairs = graph.pairs(lambda seed: graph.generate(SeedGenerator(), seed=seed), seed=3)
    wrong = [{pair.response for pair in pairs.epoch(epoch) if not pair.label} for epoch in range(2)]
    assert wrong == [{"Number 3."}, {"Number 4."}]


def test_texts_of_a_held_out_split_of_the_store_are_left_out(graph: DialogueGraph) -> None:
    made = graph.generate(SeedGenerator(), per_context=2, splits=["train"])
    pairs, lacking = graph.pairs(made, mix=Mix(1, {"counting": 2}), held_out_splits=["test"]).draw(0)
    assert {pair.response for pair in pairs if not pair.label} == {"Number 0."}
    assert lacking.held_out == 2 and lacking.responses == {"counting": 2}
    with pytest.raises(
        InputError, match="the store has no dialogue of the split 'dev'; available: test, train"
    ):
        graph.pairs(made, held_out_splits=["dev"])


def test_a_stream_has_a_length_after_it_was_read_once(graph: DialogueGraph) -> None:
    made = graph.generate(SeedGenerator(), splits=["train"])
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
def test_a_string_in_place_of_a_list_is_refused(graph: DialogueGraph, argument: str, call: str) -> None:
    first = ([],) if call == "pairs" else ()
    with pytest.raises(InputError, match=rf"^{argument} takes a list: {argument}=\['all'\], not"):
        getattr(graph, call)(*first, **{argument: "all"})


def test_an_export_with_a_string_in_place_of_a_list_writes_nothing(
    graph: DialogueGraph, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="splits takes a list"):
        graph.export(tmp_path / "all.jsonl", splits="train")
    with pytest.raises(InputError, match="ids takes a list"):
        graph.materialize("shop/train/1#1~all.0.0")
    assert not list(tmp_path.iterdir())

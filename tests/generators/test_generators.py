"""Tests of `DialogueGraph.generate`: the contexts of a store, and the negatives made for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import GeneratorError, InputError, StoreError
from graphneg.generators.base import (
    Candidate,
    Context,
    ContextSelection,
    Generator,
    generator_names,
    get_generator,
    read_contexts,
)
from graphneg.generators.generated import Generated
from graphneg.model import Negative, Original, Turn
from graphneg.progress import Progress
from graphneg.records.files import read_jsonl, read_parquet
from graphneg.records.resumable import NegativeBatch
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection
from tests.cli_runs import Run
from tests.loaded_dialogues import loaded

DIALOGUES = [
    {
        "id": "shop/test/1",
        "corpus": "shop",
        "split": "test",
        "turns": ["Is it open?", "Until six.", "And on Sunday?", "Closed."],
        "responses": [
            {"turn": 1, "text": "Good, I'll hurry.", "label": 1},
            {"turn": 1, "text": "I like pears.", "label": 0},
            {"turn": 2, "text": "From noon on.", "label": 1},
        ],
    },
    {"id": "shop/test/2", "corpus": "shop", "split": "test", "turns": ["One pear.", "Here.", "Thanks."]},
    {"id": "shop/test/3", "corpus": "shop", "split": "test", "turns": ["Hello?"]},
    {
        "id": "shop/test/10",
        "corpus": "shop",
        "split": "test",
        "turns": ["Two pears.", "No pears today."],
        "responses": [{"turn": 1, "text": "Plums, then.", "label": 1}],
    },
]


@pytest.fixture(scope="module")
def graph(store: Store, tmp_path_factory: pytest.TempPathFactory) -> DialogueGraph:
    return filled(store, tmp_path_factory.mktemp("generators"))


def filled(store: Store, folder: Path) -> DialogueGraph:
    return loaded(store, folder, "shop", DIALOGUES)


class Reader(Generator):
    """Run a query with the parameter ``$text``."""

    name = "reader"

    def __init__(self, store: Store, query: str, text: Any = "") -> None:
        self.read = partial(store.read, query, text=text)

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
        self.read()
        return [[] for _ in contexts]


@pytest.mark.parametrize(
    ("query", "text", "problem"),
    [
        ("MATCH (u:Utterance RETURN u", "", "the query is not valid Cypher"),
        ("RETURN $word", "", "word"),
        ("RETURN $text", object(), "text"),
    ],
)
def test_a_wrong_query_of_a_generator_is_reported_with_its_name(
    graph: DialogueGraph, query: str, text: Any, problem: str
) -> None:
    with pytest.raises(GeneratorError, match=f"^generator reader: .*{problem}") as raised:
        list(graph.generate(Reader(graph.store, query, text)))
    assert isinstance(raised.value.__cause__, StoreError)


class Quoter(Generator):
    """Quote the turns of a context, latest first; remember the negatives of the resumed run."""

    name = "quoter"

    def __init__(self) -> None:
        self.given: list[str] = []

    def begin(self, given: Iterable[Negative], progress: Progress) -> None:
        self.given = [negative.response for negative in given]

    def settings(self) -> Mapping[str, object]:
        return {"voice": "loud"}

    def notes(self) -> Sequence[str]:
        return ("quoter: no quotation marks",)

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
        return [
            [
                Candidate(
                    f"You said: {turn.text}",
                    ("C-follow",),
                    {"back": float(back)},
                    {"source": one.id, "loud": "yes"},
                )
                for back, turn in enumerate(reversed(one.turns))
            ][:per_context]
            for one in contexts
        ]


class TestContexts:
    def test_contexts_end_at_responses_or_before_the_last_turn(self, graph: DialogueGraph) -> None:
        contexts = list(read_contexts(graph.store, ContextSelection()))
        assert [one.id for one in contexts] == [
            "shop/test/1#2",
            "shop/test/1#3",
            "shop/test/2#2",
            "shop/test/10#2",
        ]

    def test_contexts_can_end_at_every_turn(self, graph: DialogueGraph) -> None:
        contexts = read_contexts(graph.store, ContextSelection(places="every"))
        assert [one.turn for one in contexts if one.dialogue == "shop/test/2"] == [1, 2]

    def test_contexts_have_turns_next_speaker_and_correct_responses(self, graph: DialogueGraph) -> None:
        first, *_, last = read_contexts(graph.store, ContextSelection())
        assert first.turns == (Turn("A", "Is it open?"), Turn("B", "Until six."))
        assert first.speaker == "A"
        assert first.positives == ("And on Sunday?", "Good, I'll hurry.")
        assert (last.speaker, last.positives) == ("A", ("Plums, then.",))

    def test_contexts_do_not_depend_on_the_batch_size(self, graph: DialogueGraph) -> None:
        wanted = ContextSelection(Selection(corpora=("shop",)))
        assert list(read_contexts(graph.store, wanted, 1)) == list(read_contexts(graph.store, wanted))

    def test_unknown_places_are_refused(self) -> None:
        with pytest.raises(InputError, match="choose one of last, every"):
            ContextSelection(places="first")  # pyright: ignore[reportArgumentType]


class TestNegatives:
    def test_negatives_have_source_original_and_scores(self, graph: DialogueGraph) -> None:
        first = next(iter(graph.generate(Quoter(), seed=7)))
        assert first.id == "shop/test/1#2~quoter.7.0"
        assert (first.response, first.label, first.target) == ("You said: Until six.", 0, "response")
        assert first.original == Original(None, "And on Sunday?")
        [edit] = first.edits
        assert (edit.transform, edit.node, edit.before) == ("quoter", "shop/test/1#2", "loud: yes")
        assert first.scores == {"back": 0.0}

    def test_missing_negatives_are_counted(self, graph: DialogueGraph) -> None:
        made = graph.generate(Quoter(), per_context=3)
        assert len(list(made)) == 2 + 3 + 2 + 2
        assert made.summary.skipped == {"too-few": 3, "no-context": 3}
        assert made.summary.transforms["quoter", "C-follow"] == 9

    def test_negatives_are_written_as_jsonl_and_parquet(self, graph: DialogueGraph, tmp_path: Path) -> None:
        made = graph.generate(Quoter(), per_context=2)
        made.to_jsonl(tmp_path / "out.jsonl")
        made.to_parquet(tmp_path / "out.parquet")
        written = list(read_jsonl(tmp_path / "out.jsonl"))
        assert len(written) == 8 == len(made.to_pandas())
        assert written == list(read_parquet(tmp_path / "out.parquet"))

    def test_a_generator_that_skips_a_context_is_refused(self, graph: DialogueGraph) -> None:
        class Short(Quoter):
            def generate(
                self, contexts: Sequence[Context], per_context: int, seed: int
            ) -> list[list[Candidate]]:
                return super().generate(contexts[1:], per_context, seed)

        with pytest.raises(GeneratorError, match="answered 3 of 4 contexts"):
            list(graph.generate(Short()))

    def test_reasons_of_the_generator_are_counted(self, graph: DialogueGraph) -> None:
        class Explained(Quoter):
            reasons: ClassVar[dict[str, str]] = {"hoarse": "the voice is gone"}

            def generate(
                self, contexts: Sequence[Context], per_context: int, seed: int
            ) -> list[list[Candidate]]:
                self.leave_out("hoarse", contexts[0].id)
                return [[] for _ in contexts]

        made = graph.generate(Explained(), per_context=1)
        assert not list(made)
        assert made.summary.skipped == {"hoarse": 1, "too-few": 3, "no-context": 1}

    def test_an_object_that_is_no_generator_is_refused(self, graph: DialogueGraph) -> None:
        with pytest.raises(GeneratorError, match=r"object is not a generator: derive its class from"):
            graph.generate(object())  # type: ignore[arg-type]

    def test_at_least_one_negative_per_context_is_required(self, graph: DialogueGraph) -> None:
        with pytest.raises(InputError, match="negatives per context"):
            graph.generate(Quoter(), per_context=0)

    def test_notes_of_the_generator_are_available(self, graph: DialogueGraph) -> None:
        assert graph.generate(Quoter()).notes == ("quoter: no quotation marks",)


class InterruptedRun(Generated):
    """Raise KeyboardInterrupt after the first batch."""

    def run(self, skip: int, written: object) -> Iterator[NegativeBatch]:
        yield next(super().run(skip, written))  # pyright: ignore[reportArgumentType]
        raise KeyboardInterrupt


def test_a_resumed_generator_receives_its_earlier_negatives(embedded: Store, tmp_path: Path) -> None:
    graph = filled(embedded, tmp_path)
    asked = {"per_context": 2, "batch": 1}
    graph.generate(Quoter(), **asked).to_jsonl(tmp_path / "once.jsonl")
    whole = graph.generate(Quoter(), **asked)
    with pytest.raises(KeyboardInterrupt):
        InterruptedRun(graph.store, Quoter(), whole._generation).to_jsonl(tmp_path / "out.jsonl")  # pyright: ignore
    quoter = Quoter()
    again = graph.generate(quoter, **asked)
    again.to_jsonl(tmp_path / "out.jsonl")
    assert again.resumed.dialogues == 1
    assert len(quoter.given) == 4
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "once.jsonl").read_bytes()


def test_slow_generators_have_smaller_batches(embedded: Store, tmp_path: Path) -> None:
    class Slowly(Quoter):
        batch = 1

    graph = filled(embedded, tmp_path)
    for batch, generator, writes in (
        (None, Slowly(), len(DIALOGUES)),
        (None, Quoter(), 1),
        (200, Slowly(), 1),
    ):
        assert sum(1 for _ in graph.generate(generator, batch=batch).run(0, tuple)) == writes


class TestNames:
    def test_generators_are_found_by_name(self, graph: DialogueGraph) -> None:
        assert "overlap" in generator_names()
        assert get_generator("overlap", graph.store).name == "overlap"

    def test_an_unknown_name_is_answered_with_the_known_ones(self, graph: DialogueGraph) -> None:
        with pytest.raises(GeneratorError, match=r"no generator named 'parrot'; choose one of .*overlap"):
            graph.generate("parrot")

    def test_options_are_refused_for_a_generator_object(self, graph: DialogueGraph) -> None:
        with pytest.raises(InputError, match="not for the object 'quoter'"):
            graph.generate(Quoter(), max_uses=2)

    def test_all_generators_are_documented(self) -> None:
        text = (Path(__file__).parents[2] / "docs" / "generators.md").read_text(encoding="utf-8")
        for name in generator_names():
            assert name in text


class TestCommand:
    def test_the_command_writes_negatives_and_its_notes(
        self, run: Run, everyday: Path, tmp_path: Path
    ) -> None:
        out = tmp_path / "out.jsonl"
        ended = run(
            "--store", everyday, "generate", "overlap", "-o", out, "--per-context", "2", "--limit", "9"
        )
        assert ended.status == 0
        assert "no embedder" in ended.err and "overlap (C-follow)" in ended.err
        assert all(one.recipe == "overlap" for one in read_jsonl(out))

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (("parrot",), "no generator named 'parrot'"),
            (("overlap", "--option", "most"), "NAME=VALUE"),
            (("overlap", "--option", "most=1"), "no option 'most'"),
        ],
    )
    def test_wrong_usage_ends_with_2(
        self, run: Run, everyday: Path, tmp_path: Path, arguments: tuple[str, ...], told: str
    ) -> None:
        ended = run("--store", everyday, "generate", *arguments, "-o", tmp_path / "out.jsonl")
        assert ended.status == 2 and told in " ".join(ended.err.split())
        assert not list(tmp_path.iterdir())

    def test_a_selection_without_dialogues_ends_with_1(
        self, run: Run, everyday: Path, tmp_path: Path
    ) -> None:
        ended = run(
            "--store", everyday, "generate", "overlap", "-o", tmp_path / "o.jsonl", "--corpus", "nowhere"
        )
        assert ended.status == 1 and "no dialogues of nowhere" in ended.err

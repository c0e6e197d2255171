"""Tests of the filters for texts of a language model: perplexity, sentence ends and spacing."""

from __future__ import annotations

from math import exp

import pytest

from graphneg.english.mentions import ends_sentence
from graphneg.english.tokens import detokenize, imitate_spacing
from graphneg.errors import InputError
from graphneg.generators.base import Context
from graphneg.generators.keywords.generator import KeywordGenerator, KeywordOptions
from graphneg.generators.prompts import sentence_request
from graphneg.generators.text_filters import Bounds, PerplexityFilter
from graphneg.model import Turn
from graphneg.nn.generation import Nucleus
from graphneg.nn.language_models import CausalLM
from graphneg.nn.models import load_causal
from graphneg.nn.writers import Completion, Constraints, LocalWriter, Prompt
from tests.tiny_lm import TinyModels

OPEN = Bounds(max_perplexity=1e30, max_perplexity_alone=1e30, max_token_loss=1e3)
TEXTS = ["Is it in the garden?", "It is in the kitchen.", "The coat the coat."]


@pytest.fixture(scope="module")
def model(tiny_lms: TinyModels) -> CausalLM:
    return load_causal(tiny_lms.llama, device="cpu")


class TestJudge:
    def test_losses_are_measured_alone_and_after_the_turns(self, model: CausalLM):
        turns = (Turn("A", "Where is the coat ?"),)
        [shown, alone] = PerplexityFilter(model, OPEN).read([TEXTS[1]] * 2, [turns, None])
        assert shown is not None and alone is not None
        [after] = model.score([f" {TEXTS[1]}"], ["A: Where is the coat?\nB:"])
        assert shown.in_context == pytest.approx(after, abs=1e-3)
        assert alone.in_context == alone.alone == shown.alone
        assert shown.max_token_loss >= shown.in_context

    def test_texts_out_of_bounds_are_filtered(self, model: CausalLM):
        found = PerplexityFilter(model, OPEN).read(TEXTS, [None] * 3)
        losses = sorted(one.alone for one in found if one is not None)
        between = exp((losses[0] + losses[1]) / 2)
        strict = PerplexityFilter(
            model, Bounds(max_perplexity=1e30, max_perplexity_alone=between, max_token_loss=1e3)
        ).read(TEXTS, [None] * 3)
        assert sum(one is not None for one in strict) == 1

    def test_an_edited_text_may_not_lose_fluency(self, model: CausalLM):
        judge = PerplexityFilter(model, OPEN)
        losses = [one.alone for one in judge.read(TEXTS, [None] * 3) if one is not None]
        rough, smooth = TEXTS[losses.index(max(losses))], TEXTS[losses.index(min(losses))]
        apart = max(losses) - min(losses)
        assert apart > 0.01
        found = judge.beside([rough, smooth, rough, rough], [smooth, rough, rough, smooth], 0.0)
        assert [one is None for one in found] == [True, False, False, True]
        [near] = judge.beside([rough], [smooth], apart + 0.01)
        assert near is not None and near.alone == max(losses)
        strict = PerplexityFilter(
            model,
            Bounds(
                max_perplexity=1e30, max_perplexity_alone=exp(min(losses) + apart / 2), max_token_loss=1e3
            ),
        )
        assert strict.beside([rough], [rough], 0.0) == [None]

    def test_mean_and_largest_token_losses_are_measured(self, model: CausalLM):
        turns = (Turn("A", "Where is the coat ?"),)
        [found] = PerplexityFilter(model).after([TEXTS[1]], [turns])
        [tokens] = model.score_tokens([f" {TEXTS[1]}"], ["A: Where is the coat?\nB:"])
        assert found.mean == pytest.approx(sum(tokens) / len(tokens), abs=1e-3)
        assert found.strangest == pytest.approx(sum(sorted(tokens)[-3:]) / 3, abs=1e-3)

    def test_no_texts_give_no_results(self, model: CausalLM):
        assert PerplexityFilter(model).read([], []) == []

    def test_impossible_bounds_are_refused(self):
        with pytest.raises(InputError, match="perplexities are above 1"):
            Bounds(max_perplexity=0.5)


class TestBestOfSeveral:
    class ScriptedWriter(LocalWriter):
        """Return the first `n` of `TEXTS` for each prompt."""

        def complete(self, prompts: list[Prompt], n: int = 1, **asked: object) -> list[list[Completion]]:
            return [[Completion(text, True) for text in TEXTS[:n]] for _ in prompts]

    def test_the_likeliest_draft_is_kept(self, model: CausalLM):
        context = Context(
            "d#1", "d", "t", "d", 1, (Turn("A", "The coat? The garden? The kitchen?"),), "B", ()
        )
        judge = PerplexityFilter(model, OPEN)
        generator = KeywordGenerator(
            "key-sentence",
            KeywordOptions(max_keywords=2, drafts=3, max_draws=8, min_loss_gap=-1e3),
            self.ScriptedWriter(model),
            lambda _, words: sentence_request(words),
            judge=judge,
        )
        [[found]] = generator.generate([context], 1, 0)
        said = found.provenance["keywords"]
        readings = dict(zip(TEXTS, judge.read(TEXTS, [None] * 3), strict=True))
        possible = [text for text in TEXTS[:2] if said in text]
        assert found.text == min(possible, key=lambda text: readings[text].mean)
        assert found.scores["perplexity"] == pytest.approx(readings[found.text].perplexity)

    def test_zero_drafts_are_refused(self):
        with pytest.raises(InputError, match="must be at least 1"):
            KeywordOptions(drafts=0)


class TestSentenceEnd:
    @pytest.mark.parametrize(
        ("text", "ended"),
        [
            ("I saw the fish there.", True),
            ("I saw the fishes there!", True),
            ("I saw the fish.", False),
            ("I saw nothing at all there.", False),
            ("I will bring the fish to Mr.", False),
            ("The fish here costs you 3.", False),
        ],
    )
    def test_a_text_ends_after_the_first_complete_sentence(self, text: str, ended: bool):
        wanted = Constraints(("fish",), min_words=5)
        assert wanted.complete(text) is ended
        assert wanted.cut(f"{text} And so on")[1] is ended
        assert not Constraints(("fish",)).complete(text)

    def test_dots_alone_are_no_sentence_end(self):
        assert not ends_sentence("...")


class TestNucleus:
    @pytest.mark.parametrize("top_p", [0.05, 0.5, 0.9, 0.999])
    def test_nucleus_sampling_equals_that_of_transformers(self, top_p: float):
        import torch
        from transformers.generation.logits_process import TopPLogitsWarper

        scores = torch.randn(3, 2000, generator=torch.Generator().manual_seed(0)) * torch.tensor(
            [[0.1], [2], [9]]
        )
        assert torch.equal(Nucleus(top_p)(None, scores), TopPLogitsWarper(top_p)(None, scores))


class TestSpacing:
    def test_detokenisation_is_idempotent(self):
        text = detokenize("Mr . Hall , isn ’ t it ? I ’ ll say “ no ” .")
        assert text.startswith("Mr. Hall, isn't it? I'll say") and detokenize(text) == text

    def test_punctuation_is_spaced_as_in_the_context(self):
        assert imitate_spacing("Well, no!", ["Is it , then ?"]) == "Well , no !"
        assert imitate_spacing("Well, no!", ["Is it, then?"]) == "Well, no!"
        assert imitate_spacing("Well, no!", []) == "Well, no!"

    def test_numbers_are_not_split(self):
        assert imitate_spacing("It costs 3,500.20 dollars.", ["No ."]) == "It costs 3,500.20 dollars ."

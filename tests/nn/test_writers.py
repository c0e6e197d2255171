"""Tests of local writers: texts that do not depend on the batch, stop strings, constraints, chat."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="language models need the neural extra")
pytest.importorskip("transformers", reason="language models need the neural extra")

from graphneg.errors import InputError, ModelError
from graphneg.generators.prompts import REPLY_EXAMPLES, perspective_example
from graphneg.nn.generation import Beams, Sampling
from graphneg.nn.language_models import CausalLM, Seq2SeqLM
from graphneg.nn.models import load_causal, load_either
from graphneg.nn.writers import Completion, Constraints, GenerationSettings, LocalWriter, Prompt
from tests.tiny_lm import TinyModels, exchanges

LEARNED = [perspective_example(exchange) for exchange in exchanges()]
PROMPTS = [Prompt(one.source) for one in LEARNED]
REPLIES = [one.target.strip() for one in LEARNED]
WORDS = [Prompt(f"\nWords: {word}\nSentence:", word) for word in "abc"]
WARM = GenerationSettings(Sampling(3.0), 12)


@pytest.fixture(scope="module", params=["trained_gpt2", "trained_bart"])
def trained(request: pytest.FixtureRequest, tiny_lms: TinyModels) -> CausalLM | Seq2SeqLM:
    return load_either(getattr(tiny_lms, request.param))


@pytest.fixture(scope="module", params=["llama", "bart"])
def untrained(request: pytest.FixtureRequest, tiny_lms: TinyModels) -> LocalWriter:
    return LocalWriter(load_either(getattr(tiny_lms, request.param)))


def texts(completions: list[list[Completion]]) -> list[str]:
    return [one.text for each in completions for one in each]


class TestTexts:
    def test_greedy_search_gives_the_learned_replies(self, trained: CausalLM):
        assert texts(LocalWriter(trained).complete(PROMPTS)) == REPLIES

    def test_beams_and_low_temperature_give_the_learned_replies(self, trained: CausalLM):
        for search in (Beams(3), Sampling(temperature=0.05)):
            settings = GenerationSettings(search)
            assert texts(LocalWriter(trained).complete(PROMPTS, seed=3, settings=settings)) == REPLIES

    def test_sampling_depends_on_seed_and_id_and_not_on_the_batch(self, trained: CausalLM):
        writer = LocalWriter(trained)
        together = writer.complete(PROMPTS, 3, seed=1, settings=WARM)
        assert writer.complete(PROMPTS[5:6], 3, seed=1, settings=WARM) == together[5:6]
        assert len(set(texts(together[:1]))) > 1
        assert writer.complete(PROMPTS, 3, seed=2, settings=WARM) != together
        named = [Prompt(prompt.text, str(n)) for n, prompt in enumerate(PROMPTS)]
        assert writer.complete(named, 3, seed=1, settings=WARM) != together

    def test_texts_of_a_beam_search_are_sorted_by_probability(self, trained: CausalLM):
        settings = GenerationSettings(Beams(4), logprobs=True)
        [found] = LocalWriter(trained).complete(PROMPTS[:1], 3, settings=settings)
        assert found[0].text == REPLIES[0] and len({one.text for one in found}) == 3
        means = [sum(one.logprobs or ()) / len(one.logprobs or ()) for one in found]
        assert means == sorted(means, reverse=True)

    def test_more_texts_than_beams_are_refused(self, untrained: LocalWriter):
        with pytest.raises(InputError, match="2 beams find at most 2"):
            untrained.complete(PROMPTS, 3, settings=GenerationSettings(Beams(2)))

    def test_finished_says_whether_a_text_reached_its_end(self, trained: CausalLM):
        writer = LocalWriter(trained)
        [[cut]] = writer.complete(PROMPTS[:1], settings=GenerationSettings(max_new_tokens=2))
        assert not cut.finished and REPLIES[0].startswith(cut.text)
        assert writer.complete(PROMPTS[:1]) == [[Completion(REPLIES[0], True)]]

    @pytest.mark.parametrize("stop", [",", " had", " it "])
    def test_a_text_ends_before_a_stop_string(self, trained: CausalLM, stop: str):
        [[found]] = LocalWriter(trained).complete(PROMPTS[:1], stop=[stop])
        assert found == Completion(REPLIES[0].split(stop)[0].strip(), True)

    def test_log_probabilities_equal_the_scores_of_the_model(self, trained: CausalLM):
        settings = GenerationSettings(logprobs=True)
        [[found]] = LocalWriter(trained).complete(PROMPTS[:1], settings=settings)
        assert found.logprobs is not None
        expected = trained.score([LEARNED[0].target], [LEARNED[0].source])[0]
        assert -sum(found.logprobs) / len(found.logprobs) == pytest.approx(expected, abs=0.02)


class TestSharedExamples:
    @pytest.mark.parametrize("kind", ["llama", "gpt2", "bart"])
    def test_cached_examples_give_the_same_texts(self, tiny_lms: TinyModels, kind: str):
        writer, shown = LocalWriter(load_either(getattr(tiny_lms, kind))), "Where is my coat?"
        if isinstance(writer.model, Seq2SeqLM):
            shown = ""
        before = [Prompt(shown + one.text, one.id) for one in WORDS]
        settings = GenerationSettings(Sampling(), 12)
        once = writer.complete(WORDS, 2, settings=GenerationSettings(Sampling(), 12, shown))
        assert texts(once) == texts(writer.complete(before, 2, settings=settings))
        assert texts(
            writer.complete(WORDS[1:2], 2, settings=GenerationSettings(Sampling(), 12, shown))
        ) == texts(once[1:2])

    def test_other_examples_replace_the_cached_ones(self, tiny_lms: TinyModels):
        writer = LocalWriter(load_causal(tiny_lms.trained_gpt2))
        first, other = (GenerationSettings(Sampling(), 12, shown) for shown in ("Where?", "The cat. "))
        found = writer.complete(WORDS, settings=first)
        assert writer.complete(WORDS, settings=other) != found
        assert writer.complete(WORDS, settings=first) == found

    def test_examples_longer_than_the_model_are_refused(self, tiny_lms: TinyModels):
        with pytest.raises(ModelError, match="too few for the examples"):
            LocalWriter(load_causal(tiny_lms.gpt2)).complete(
                WORDS, settings=GenerationSettings(few_shot_text=REPLY_EXAMPLES)
            )


class TestConstraints:
    wanted = (Prompt("Where is the coat?"),)
    settings = GenerationSettings(Sampling(), 24)

    def test_a_strong_keyword_bias_produces_the_words(self, untrained: LocalWriter):
        held = [Constraints(("garden", "kitchen"), keyword_bias=1e4)]
        [[found]] = untrained.complete(self.wanted, constraints=held, settings=self.settings)
        assert "garden" in found.text and "kitchen" in found.text

    def test_a_text_ends_after_the_first_complete_sentence(self, trained: CausalLM):
        held = [Constraints(min_words=3)]
        [[found]] = LocalWriter(trained).complete(PROMPTS[:1], constraints=held)
        assert found == Completion(REPLIES[0], True)

    def test_words_are_forbidden_for_single_prompts(self, trained: CausalLM):
        word = REPLIES[0].split()[2]
        held = [Constraints(weights={word: 0.0}), Constraints()]
        found = texts(LocalWriter(trained).complete([PROMPTS[0]] * 2, constraints=held))
        assert word in found[1] and word not in found[0]

    def test_a_lower_weight_makes_a_word_rarer(self, untrained: LocalWriter):
        prompts = [Prompt("Where?", str(n)) for n in range(60)]
        held = [Constraints(weights={"garden": 1e6})] * 60
        often = texts(untrained.complete(prompts, constraints=held, settings=WARM))
        held = [Constraints(weights={"garden": 1e-6})] * 60
        seldom = texts(untrained.complete(prompts, constraints=held, settings=WARM))
        assert sum("garden" in text for text in often) > 40 > sum("garden" in text for text in seldom)

    def test_each_prompt_needs_constraints(self, untrained: LocalWriter):
        with pytest.raises(InputError, match="expected 3 constraints, one for each prompt, but found 1"):
            untrained.complete(WORDS, constraints=[Constraints()])


class TestChat:
    def test_the_chat_template_is_applied(self, tiny_lms: TinyModels):
        model = load_causal(tiny_lms.trained_gpt2)
        model.tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
        assert texts(LocalWriter(model, "chat").complete(PROMPTS)) == REPLIES

    def test_a_model_without_a_chat_template_is_refused(self, tiny_lms: TinyModels):
        with pytest.raises(ModelError, match="no chat template; choose the route completion"):
            LocalWriter(load_causal(tiny_lms.gpt2), "chat")

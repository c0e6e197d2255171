"""Tests of the options and refusals that all generators with a language model share."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from graphneg.errors import GeneratorError, InputError
from graphneg.generators.base import Context
from graphneg.generators.counterfactual import CounterfactualOptions
from graphneg.generators.keywords.generator import KeywordOptions
from graphneg.generators.prompted_generation import KEYWORD_BIAS, Gap, WritingGenerator, WritingOptions
from graphneg.nn.models import load_causal
from graphneg.nn.writers import Completion
from graphneg.progress import NoProgress


class UnusedWriter:
    """Fail when a text is requested."""

    name = "silent"

    def complete(self, *_: object, **__: object) -> list[list[Completion]]:
        raise AssertionError


KINDS = (WritingOptions, KeywordOptions, CounterfactualOptions)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"temperature": 0}, "temperature must be above 0"),
        ({"keyword_bias": -0.1}, "keyword_bias at least 0"),
        ({"max_words": 2}, "max_words must be at least ., not 2"),
        ({"max_token_loss": 0}, "losses above 0"),
        ({"max_perplexity_alone": 1}, "perplexities are above 1"),
    ],
)
def test_invalid_options_of_all_writing_generators_are_refused(
    kind: type, values: dict[str, float], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        kind(**values)


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (KeywordOptions, {"top_p": 1.5}, "top_p must be above 0 and at most 1, not 1.5"),
        (KeywordOptions, {"min_keywords": 0}, "min_keywords must be from 1 to max_keywords, .*, not 0"),
        (KeywordOptions, {"max_draws": 0}, "drafts and max_draws must be at least 1"),
        (KeywordOptions, {"max_words": 4}, "max_words must be at least 5, not 4"),
        (CounterfactualOptions, {"hops": 3}, "hops must be 1 or 2, not 3"),
        (CounterfactualOptions, {"batch_size": 0}, "batch_size must be at least 1"),
    ],
)
def test_invalid_options_of_single_generators_are_refused(
    kind: type, values: dict[str, float], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        kind(**values)


def test_counterfactual_replies_may_have_three_words() -> None:
    assert CounterfactualOptions(max_words=3).max_words == 3


def test_the_default_keyword_bias_depends_on_the_training_of_the_model() -> None:
    assert (WritingOptions().keyword_bias_of(False), WritingOptions().keyword_bias_of(True)) == (
        KEYWORD_BIAS,
        0.0,
    )
    assert (
        WritingOptions(keyword_bias=7.0).keyword_bias_of(True)
        == WritingOptions(keyword_bias=7.0).keyword_bias_of(False)
        == 7.0
    )
    assert WritingOptions(keyword_bias=0.0).keyword_bias_of(False) == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_settings_do_not_contain_the_device(kind: type) -> None:
    usual = kind().settings()
    assert kind(device="cuda", offline=True).settings() == usual
    assert kind(temperature=0.9).settings() != usual
    assert "model" not in usual and "judge" not in usual


def test_a_model_must_be_named() -> None:
    with pytest.raises(
        GeneratorError, match=r"^key-sem needs a language model: set the option model=PATH_OR_ID"
    ):
        WritingOptions().load("key-sem", load_causal)


class EmptyGenerator(WritingGenerator):
    """Return no texts for any context."""

    def write_candidates(self, contexts: Sequence[Context], per_context: int, seed: int) -> Sequence[Gap]:
        return [Gap(context) for context in contexts]


def test_refusals_are_counted_and_the_last_reason_is_kept(context: Context) -> None:
    generator = EmptyGenerator({"dull": "nobody would say it"}, WritingOptions(), UnusedWriter(), None)
    gap = Gap(context, "not-asked")
    assert generator.accept(gap, None) and gap.reason == "not-asked"
    assert not generator.accept(gap, "dull")
    assert not generator.accept(gap, "unfinished")
    assert not generator.accept(gap, "dull")
    assert generator.refused == {"dull": 2, "unfinished": 1} and gap.reason == "dull"
    generator.leave_out(gap.reason, context.id)
    assert generator.missing() == [("dull: nobody would say it", context.id)]


def test_texts_similar_to_earlier_ones_are_refused(context: Context) -> None:
    generator, gap = EmptyGenerator({}, WritingOptions(), UnusedWriter(), None), Gap(context)
    generator.begin([], NoProgress())
    assert generator.is_new(gap, "I lost my new umbrella on the bus.")
    assert not generator.is_new(gap, "I lost my umbrella on the new bus!") and gap.reason == "said-before"
    assert generator.is_new(gap, "The bus was full of wet umbrellas.")
    generator.begin([], NoProgress())
    assert generator.is_new(gap, "I lost my umbrella on the new bus!")

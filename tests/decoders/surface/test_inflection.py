"""Tests of the inflection of verbs, nouns, pronouns and adjectives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.decoders.surface import inflection

VERBS = st.sampled_from(
    ["see", "go", "put", "study", "be", "have", "lie", "graphneg", "refer", "try", "cook"]
)


@given(VERBS, st.sampled_from(["VB", "VBD", "VBZ", "VBN", "VBG"]))
def test_an_inflected_form_has_its_lemma(verb: str, tag: str) -> None:
    form = inflection.verb_form(verb, tag)
    assert inflection.verb_lemma(form) == verb or verb in ("lie", "graphneg")


@pytest.mark.parametrize(
    ("adjective", "adverb"),
    [("quick", "quickly"), ("happy", "happily"), ("good", "well"), ("simple", "simply")],
)
def test_adverbs_of_adjectives(adjective: str, adverb: str) -> None:
    assert inflection.adverb_of(adjective) == adverb


@pytest.mark.parametrize("person", ["i", "you", "he", "she", "it", "we", "they", "one"])
def test_each_form_of_a_pronoun_is_known_for_it(person: str) -> None:
    for case in inflection.Case:
        assert (person, case) in inflection.pronoun_cases(inflection.pronoun(person, case))


@pytest.mark.parametrize(
    ("lemma", "tag", "person", "form"),
    [
        ("be", "VBP", "i", "am"),
        ("be", "VBD", "they", "were"),
        ("go", "VBP", "he", "goes"),
        ("go", "VBD", "he", "went"),
    ],
)
def test_finite_verbs_agree(lemma: str, tag: str, person: str, form: str) -> None:
    assert inflection.agree(lemma, tag, person) == form


def test_a_mass_noun_may_do_without_an_article() -> None:
    assert (
        inflection.can_lack_article("water")
        and inflection.can_lack_article("advice")
        and not inflection.can_lack_article("wig")
    )


@pytest.mark.parametrize(
    ("word", "before"),
    [("FBI", "an"), ("NASA", "an"), ("one", "a"), ("hour", "an"), ("8", "an"), ("eulogy", "a")],
)
def test_an_article_depends_on_the_next_sound(word: str, before: str) -> None:
    assert inflection.article(word) == before


def test_clipped_and_plural_pronouns_have_persons() -> None:
    assert inflection.pronoun_cases("'em") == (("they", inflection.Case.OBJECT),)
    assert inflection.pronoun_cases("Yourselves") == (("you", inflection.Case.REFLEXIVE),)
    assert inflection.pronoun_cases("owl") == ()


@pytest.mark.parametrize(
    ("verb", "stem"),
    [("can", "ca"), ("will", "wo"), ("Do", "Do"), ("may", None), ("'m", None), ("Might", None)],
)
def test_verbs_before_a_contracted_not(verb: str, stem: str | None) -> None:
    assert inflection.contracted_stem(verb) == stem


@pytest.mark.parametrize(
    ("lemma", "degree", "form"),
    [("good", "JJR", "better"), ("careful", "JJS", "most careful"), ("red", "JJ", "red")],
)
def test_adjectives_are_compared(lemma: str, degree: str, form: str) -> None:
    assert inflection.adjective_form(lemma, degree) == form
    assert degree == "JJ" or inflection.degree(form.split(" ")[-1]) in (degree, "JJ")

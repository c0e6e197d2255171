"""Tests of paraphrased denials: templates, and sentences of other speakers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphneg.nn.embedders import get_embedder
from graphneg.scorers.edited_contradictions import respell
from graphneg.scorers.paraphrases import Contradiction, DenialWordings, denies, paraphrases, reword_denial

sentences = st.builds(
    "{} {} {} {}{}".format,
    st.sampled_from(("I", "we", "Well, I")),
    st.sampled_from(("do not", "didn't", "can't", "cannot", "have not", "am not", "don ' t")),
    st.sampled_from(("keep", "seen", "sing", "tall", "have")),
    st.sampled_from(("bees", "in the garden", "it last week", "to go")),
    st.sampled_from((".", "!", "")),
)


class TestTemplates:
    @settings(max_examples=40)  # the first example loads the tables of lemminflect, which is slow
    @given(sentences)
    def test_filled_templates_have_no_placeholders_and_keep_punctuation(self, sentence: str) -> None:
        found = reword_denial(sentence)
        for text in (*found.denied, *found.affirmed) if found else ():
            assert not set(text) & set("{}+") and "  " not in text
            assert text[-1] == sentence[-1] or sentence[-1].isalpha()
            assert text.startswith("Well, ") == sentence.startswith("Well, ")

    @settings(max_examples=40)
    @given(sentences)
    def test_only_the_denied_wordings_deny(self, sentence: str) -> None:
        found = reword_denial(sentence)
        assert found is None or all(map(denies, found.denied))
        assert found is None or not set(found.denied) & set(found.affirmed)


@pytest.mark.parametrize(
    ("text", "typed"), [("i do n't know !", "i don't know!"), ("we ca n’t , no .", "we can’t, no.")]
)
def test_spaced_contractions_and_punctuation_are_joined(text: str, typed: str) -> None:
    assert respell(text) == typed


class TestOtherSpeakers:
    BEES = Contradiction("own/all/1#0~x", "I keep bees.", "I keep bees.", "I do not keep bees.", "Hm.")

    def said(self, **statements: str) -> list[DenialWordings | None]:
        pytest.importorskip("faiss")
        given = {text: f"own/all/{at}" for at, text in statements.items()}
        return paraphrases([self.BEES], {text: id.replace("_", "") for text, id in given.items()}, EMBEDDER)

    def test_denying_and_affirming_sentences_are_found(self) -> None:
        [found] = self.said(_2="I never keep any bees.", _3="I like to keep bees.")
        assert found == DenialWordings(("I never keep any bees.",), ("I like to keep bees.",))

    def test_sentences_of_the_same_dialogue_are_not_used(self) -> None:
        assert self.said(_1="I never keep any bees.", _3="I like to keep bees.") == [None]

    def test_both_a_denial_and_an_affirmation_are_required(self) -> None:
        assert self.said(_2="I never keep any bees.") == [None]


EMBEDDER = get_embedder("glove-50d")

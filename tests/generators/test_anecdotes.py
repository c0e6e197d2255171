"""How like people's anecdotes a text is: features of form, and no word of a scene."""

from __future__ import annotations

import pytest

from graphneg.generators.overlap.anecdotes import features, likeness


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("My uncle paints.", "kin"),
        ("We went home.", "past"),
        ("He was late.", "past"),
        ("I met her two days ago.", "past-time"),
        ("He flew to Rome.", "names:1"),
        ("The bus leaves at 8.", "digits"),
        ("It rains. We stay.", "sentences"),
        ("Did you ask?", "ends:?"),
        ("Painting helps.", "first:noun"),
    ],
)
def test_form_is_told(text: str, feature: str) -> None:
    assert feature in set(features(text))


def test_words_of_a_scene_are_no_features() -> None:
    boats, clouds = (set(features(f"My uncle saw the {word}.")) for word in ("boats", "cloud"))
    assert boats == clouds


def test_a_small_thing_of_ones_own_is_more_like_them_than_prose() -> None:
    told = "Last week my friend gave me a new bike."
    prose = "Officials of Harris County, however, would not comment on the revised estimates."
    assert likeness(told) > 0 > likeness(prose)

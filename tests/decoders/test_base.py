"""Tests of finding decoders by name and of checking their answers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from graphneg.amr.penman import parse_graph
from graphneg.decoders.base import Decoder, decoder_names, get_decoder, guarded, refuse_original
from graphneg.errors import DecoderError
from graphneg.model import Decoded, EditedUtterance

GRAPH = parse_graph("(s / sing-01)", "d#0")
SAID = EditedUtterance("d#0", "A", "They sing.", GRAPH, GRAPH, (), {}, {})


class FixedAnswers:
    """Return the given answers for any batch."""

    name = "parrot"

    def __init__(self, *answers: str) -> None:
        self._answers = [Decoded(answer) for answer in answers]

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        return self._answers


def test_the_registry_knows_both_decoders() -> None:
    assert {"surface", "t5"} <= set(decoder_names())
    decoder = get_decoder("surface")
    assert isinstance(decoder, Decoder) and decoder.name == "surface"


@pytest.mark.parametrize(("name", "options"), [("paper", {}), ("surface", {"colour": "red"})])
def test_an_unknown_name_or_option_is_an_error(name: str, options: dict[str, str]) -> None:
    with pytest.raises(DecoderError):
        get_decoder(name, **options)


def test_as_many_answers_as_items() -> None:
    with pytest.raises(DecoderError, match="decoder parrot answered 1 of 2 items"):
        guarded(FixedAnswers("They shout.")).decode([SAID, SAID])


def test_a_guarded_decoder_is_guarded_once() -> None:
    decoder = guarded(FixedAnswers("They shout."))
    assert guarded(decoder) is decoder
    assert decoder.decode([SAID]) == [Decoded("They shout.")]


@pytest.mark.parametrize(
    ("answer", "code"), [("they  SING.", "unchanged"), (" ", "empty"), ("They sing!", None), ("Sing.", None)]
)
def test_the_original_and_empty_texts_are_refused(answer: str, code: str | None) -> None:
    checked = refuse_original(SAID.text, Decoded(answer))
    assert checked.text == (answer if code is None else None)
    assert (checked.reason or "").partition(":")[0] == (code or "")


def test_a_refusal_is_passed_on() -> None:
    refusal = Decoded(None, "no-form: there is no word")
    assert refuse_original("They sing.", refusal) is refusal

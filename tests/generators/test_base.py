"""Tests of the base class of generators: options, counts of missing candidates, the next speaker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any, ClassVar, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg import plugins
from graphneg.errors import GeneratorError
from graphneg.generators.base import Candidate, Context, Generator, get_generator, options_of
from graphneg.model import Turn
from graphneg.store.dialogues import next_speaker


@dataclass(frozen=True)
class TeaOptions:
    sugar: int = 1
    milk: bool = False


def test_options_become_the_dataclass_with_its_defaults() -> None:
    assert options_of(TeaOptions, "tea", {"sugar": 3}) == TeaOptions(3, False)


def test_unknown_options_are_named_with_the_known_ones() -> None:
    with pytest.raises(GeneratorError) as caught:
        options_of(TeaOptions, "tea", {"lemon": 1, "milk": True, "salt": 2}, ("cup",))
    assert str(caught.value) == "generator tea takes no option 'lemon' or 'salt'; it takes cup, sugar, milk"


def test_each_missing_candidate_is_reported_once() -> None:
    class Teapot(Generator):
        name = "teapot"
        reasons: ClassVar = {"cold": "the tea is cold", "gone": "the tea is gone"}

        def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
            return [[] for _ in contexts]

    shortfall = Teapot()
    shortfall.leave_out("cold", "d#1", 2)
    shortfall.leave_out("gone", "d#2")
    shortfall.leave_out("gone", "d#3", 0)
    with pytest.raises(GeneratorError, match="the code 'hot', but its attribute reasons has 'cold', 'gone'"):
        shortfall.leave_out("hot", "d#4")
    told = [("cold: the tea is cold", "d#1")] * 2 + [("gone: the tea is gone", "d#2")]
    assert list(shortfall.missing()) == told
    assert not shortfall.missing()


@given(st.lists(st.sampled_from("ABC"), min_size=1, max_size=9))
def test_the_next_speaker_is_the_last_other_speaker(speakers: list[str]) -> None:
    turns = [Turn(speaker, "Hm.") for speaker in speakers]
    others = [speaker for speaker in speakers if speaker != speakers[-1]]
    assert next_speaker(turns) != speakers[-1]
    assert not others or next_speaker(turns) == others[-1]


def test_the_text_of_a_context_joins_its_turns(context: Context) -> None:
    assert context.text == "Is the boat still for sale? My uncle sold it on Friday."


class Storeless(Generator):
    name = "mine"

    def __init__(self, *, mark: str = "!") -> None:
        self.mark = mark

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
        return [[] for _ in contexts]


class Silent(Generator):
    name = "mine"


class Narrow(Generator):
    name = "mine"

    def generate(self, contexts: Sequence[Context]) -> list[list[Candidate]]:  # pyright: ignore
        return [[] for _ in contexts]


@pytest.mark.parametrize(
    ("made_by", "message"),
    [
        (
            Storeless,
            r"class Storeless must take the store as its first argument: __init__\(self, store, ...\)",
        ),
        (Silent, r"class Silent has no method generate\(self, contexts, per_context, seed\)"),
        (Narrow, r"the method of class Narrow must be generate\(self, contexts, per_context, seed\)"),
    ],
)
def test_a_class_that_can_not_be_used_is_told_what_is_missing(
    made_by: type, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = EntryPoint("mine", f"{__name__}:{made_by.__name__}", "graphneg.generators")
    monkeypatch.setattr(plugins, "entry_points", lambda group: [entry])
    with pytest.raises(GeneratorError, match=message):
        get_generator("mine", cast("Any", None))

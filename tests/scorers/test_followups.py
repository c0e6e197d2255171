"""Tests of follow-up questions: their contexts, and the selection of the best."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphneg.model import Turn
from graphneg.scorers.followups import FollowUp, asks, best, followups
from tests.contradiction_samples import followup


@pytest.mark.parametrize("text", ["When?", '"Who?" he said.', "Oh (really?) yes.", "What?! No."])
def test_a_question_mark_anywhere_makes_a_question(text: str) -> None:
    assert asks(text)
    assert not asks(text.replace("?", "."))


def test_contexts_without_the_referent_or_the_turns_between() -> None:
    turns = followup().context.turns
    nearest = replace(followup(), referent=2)
    assert nearest.shortened_context == turns[:3] and nearest.without_referent == turns[:2]
    assert followup().question == turns[-1]


def test_a_question_of_the_same_speaker_is_no_follow_up() -> None:
    context = followup().context
    assert list(followups([replace(context, speaker="B")])) == []
    assert list(followups([replace(context, turns=(*context.turns[:-1], Turn("B", "I see.")))])) == []


def test_a_context_is_chosen_once_with_its_best_referent() -> None:
    near, far = (replace(followup(), referent=at) for at in (2, 0))
    scored = replace(far, log_fqness=1.0)
    [chosen] = best([replace(near, log_fqness=1.0), scored, replace(near, log_fqness=0.5)], 5, per_dialogue=9)
    assert chosen == scored


def test_per_dialogue_limits_the_contexts_of_a_dialogue() -> None:
    context = followup().context
    scored = [FollowUp(replace(context, id=f"own/all/1#{at}"), 0, at) for at in range(5)]
    assert [item.log_fqness for item in best(scored, 9, per_dialogue=2)] == [4, 3]

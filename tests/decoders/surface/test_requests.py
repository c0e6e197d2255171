"""Tests of the operation `say` with a concept: "May I try it on?" becomes "So you want to try it on?"."""

from __future__ import annotations

from typing import Any

import pytest

from tests.decoders.surface.test_decoder import decode, place

REPLY = ("Oh.", "(o / oh)")
NOT = {"op": "add", "position": -1, "role": "polarity", "value": "-"}
TRY = (
    "May I try it on?",
    "(p / possible-01 :polarity (a / amr-unknown) :ARG1 (t / try-01 :ARG0 (i / i) :ARG1 (i2 / it)))",
)
SEAT = ("Please have a seat.", "(h / have-03 :ARG0 (y / you) :ARG1 (s / seat) :mode imperative :polite +)")


def said(
    source: tuple[str, str], frame: str, *changes: dict[str, Any], top: str, voice: str = "other"
) -> str:
    k = place(source[1], top)
    say = {"op": "say", "position": 0, "from_amr": "d#9", "from_position": k, "voice": voice, "frame": frame}
    copy = ({**change, "copy_of": "d#9"} for change in changes)
    return decode(REPLY, {**say, "concept": "want-01"}, *copy, source=source)


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ("check", "So you don't want to try it on?"),
        ("why", "Why don't you want to try it on?"),
        ("surprise", "I'm surprised you don't want to try it on."),
        ("meaning", "What do you mean, you don't want to try it on?"),
    ],
)
def test_a_request_is_repeated_as_a_wish_that_is_denied(frame: str, expected: str) -> None:
    assert said(TRY, frame, NOT, top="try-01") == expected


def test_without_the_change_the_wish_is_right() -> None:
    assert said(TRY, "check", top="try-01") == "So you want to try it on?"
    assert said(SEAT, "check", top="have-03") == "So you want me to have a seat?"


def test_speakers_deny_their_own_wish() -> None:
    assert said(TRY, "claim", NOT, top="try-01", voice="own") == "I don't want to try it on."
    assert said(SEAT, "claim", NOT, top="have-03", voice="own") == "I don't want you to have a seat."


OPEN = "(o / open-01 :ARG0 (y / you) :ARG1 (d / door) :ARG2 (i / i))"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Open the door.", "So you don't want me to open the door?"),
        ("Then just open the door, please.", "So you don't want me to open the door?"),
        ("Yes, please open my door.", "So you don't want me to open your door?"),
        ("Could you please open the door?", "So you don't want me to open the door?"),
        ("Can you open the door for me?", "So you don't want me to open the door for you?"),
        ("Why don't you open the door?", "So you don't want me to open the door?"),
        ("Let's open the door!", "So you don't want to open the door?"),
        ("Why don't we open the door?", "So you don't want to open the door?"),
        ("Let me open the door for you.", "So you don't want to open the door for me?"),
        ("Open the door, and I'll come in.", "So you don't want me to open the door?"),
    ],
)
def test_ways_to_request(text: str, expected: str) -> None:
    assert said((text, OPEN), "check", NOT, top="open-01") == expected


@pytest.mark.parametrize(
    "text",
    [
        # An ability, a question, a negative request, and requests that include both speakers.
        "Can you open the door?",
        "Do you open the door?",
        "Open or closed?",
        "Don't open the door.",
        "Never open the door.",
        "Let's open our door.",
        # A request that is too short, and requests that the reply would repeat only in parts.
        "Open!",
        'Open "the door".',
        "Open the",
        "Opening the door.",
        # Formulas.
        "Hold on a minute.",
        "Take it easy.",
        "Come on in.",
        "Have a nice day.",
        "May I help you?",
        "Can I get you something to open?",
        "May I ask your name?",
        "Would you like some tea?",
        "Excuse me, please.",
        "Let me see.",
    ],
)
def test_formulas_and_other_questions_are_refused(text: str) -> None:
    code = said((text, OPEN), "check", NOT, top="open-01").partition(":")[0]
    assert code in ("unclear-clause", "unsupported-edit", "kind-mismatch", "no-alignment")

"""Tests of the operation `say` with the concept know-01: "Is it far?", "So you know whether it is far?"."""

from __future__ import annotations

from typing import Any

import pytest

from tests.decoders.surface.test_decoder import decode, place

REPLY = ("Oh.", "(o / oh)")
KNOWN = {"op": "drop", "position": -1, "role": "polarity"}
LEAVE = (
    "When does the bus leave?",
    "(l / leave-11 :ARG0 (b / bus) :time (a / amr-unknown))",
)
FAR = "(f / far-01 :ARG1 (b / bus) :polarity (a / amr-unknown))"


def said(source: tuple[str, str], frame: str, *changes: dict[str, Any], top: str = "") -> str:
    k = place(source[1], top) if top else 0
    say = {
        "op": "say",
        "position": 0,
        "from_amr": "d#9",
        "from_position": k,
        "voice": "other",
        "frame": frame,
    }
    copy = ({**change, "copy_of": "d#9"} for change in changes)
    return decode(REPLY, {**say, "concept": "know-01"}, *copy, source=source)


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ("check", "So you know when the bus leaves?"),
        ("surprise", "I'm surprised you know when the bus leaves."),
        ("meaning", "What do you mean, you know when the bus leaves?"),
    ],
)
def test_a_question_is_repeated_as_if_its_speaker_knew_the_answer(frame: str, expected: str) -> None:
    assert said(LEAVE, frame, KNOWN) == expected


def test_without_the_change_the_speaker_does_not_know_the_answer() -> None:
    assert said(LEAVE, "check") == "So you don't know when the bus leaves?"


@pytest.mark.parametrize(
    ("text", "penman", "expected"),
    [
        # The auxiliary moves behind the subject, and *do* gives its tense to the verb.
        ("Where did Tom go?", "(g / go-02 :ARG0 (t / tom) :ARG4 (a / amr-unknown))", "where Tom went"),
        ("What is he reading?", "(r / read-01 :ARG0 (h / he) :ARG1 (a / amr-unknown))", "what he is reading"),
        (
            "And how often will they meet, sir?",
            "(m / meet-03 :ARG0 (t / they) :frequency (a / amr-unknown))",
            "how often they will meet",
        ),
        # A form of *be* moves, too.
        ("How much is it?", "(m / much :degree (a / amr-unknown) :domain (i / it))", "how much it is"),
        (
            "What's your brother's name?",
            "(n / name :poss (b / brother :poss (y / you)) :domain (a / amr-unknown))",
            "what my brother's name is",
        ),
        # If the question word is the subject, the order stays.
        (
            "Who broke the window?",
            "(b / break-01 :ARG0 (a / amr-unknown) :ARG1 (w / window))",
            "who broke the window",
        ),
        (
            "How many students came yesterday?",
            "(c / come-01 :ARG1 (s / student :quant (a / amr-unknown)) :time (y / yesterday))",
            "how many students came yesterday",
        ),
        # "I" and "you" change places.
        (
            "Where did you put my keys?",
            "(p / put-01 :ARG0 (y / you) :ARG1 (k / key :poss (i / i)) :ARG2 (a / amr-unknown))",
            "where I put your keys",
        ),
        # Words that are nouns, too.
        (
            "How did your test go?",
            "(g / go-02 :ARG1 (t / test-01 :poss (y / you)) :manner (a / amr-unknown))",
            "how my test went",
        ),
        (
            "How did the job interview go?",
            "(g / go-02 :ARG1 (i / interview-01 :mod (j / job)) :manner (a / amr-unknown))",
            "how the job interview went",
        ),
        (
            "Is the account free of charge?",
            "(f / free-03 :ARG1 (a / account) :ARG2 (c / charge) :polarity (a2 / amr-unknown))",
            "whether the account is free of charge",
        ),
        (
            "Where is your brother working?",
            "(w / work-01 :ARG0 (b / brother :poss (y / you)) :location (a / amr-unknown))",
            "where my brother is working",
        ),
        (
            "How was school today?",
            "(s / school :manner (a / amr-unknown) :time (t / today))",
            "how school was today",
        ),
        (
            "Is it bad news?",
            "(n / news :ARG1-of (b / bad-07) :domain (i / it) :polarity (a / amr-unknown))",
            "whether it is bad news",
        ),
        ("Which bus is that?", "(b / bus :mod (a / amr-unknown) :domain (t / that))", "which bus that is"),
        # *Have* and *do* after an auxiliary are verbs with a meaning of their own.
        (
            "Do you have a car?",
            "(h / have-03 :ARG0 (y / you) :ARG1 (c / car) :polarity (a / amr-unknown))",
            "whether I have a car",
        ),
        (
            "What did you do yesterday?",
            "(d / do-02 :ARG0 (y / you) :ARG1 (a / amr-unknown) :time (y2 / yesterday))",
            "what I did yesterday",
        ),
        # Questions that can be answered with "yes" or "no".
        ("Is the station far?", FAR, "whether the station is far"),
        (
            "Does the bus stop here?",
            "(s / stop-01 :ARG1 (b / bus) :location (h / here) :polarity (a / amr-unknown))",
            "whether the bus stops here",
        ),
        (
            "Are there any seats on the left?",
            "(s / seat :mod (a2 / any) :location (l / left) :polarity (a / amr-unknown))",
            "whether there are any seats on the left",
        ),
        (
            "Why did you lie to me?",
            "(l / lie-08 :ARG0 (y / you) :ARG2 (i / i) :ARG1-of (c / cause-01 :ARG0 (a / amr-unknown)))",
            "why I lied to you",
        ),
    ],
)
def test_the_question_gets_the_order_of_a_clause(text: str, penman: str, expected: str) -> None:
    assert said((text, penman), "check", KNOWN) == f"So you know {expected}?"


@pytest.mark.parametrize(
    "text",
    [
        # Greetings, offers, requests, suggestions, reproaches and reactions.
        "How are you today?",
        "What's the matter with the bus?",
        "Would you like the bus?",
        "Could you stop the bus?",
        "How about the next bus?",
        "How could the bus leave?",
        "Why don't you leave the bus?",
        "Are you sure about the bus?",
        "Do you know the bus?",
        # Statements, fragments and broken texts.
        "The bus leaves.",
        "The bus leaves?",
        "Which bus?",
        "When does the bus, the red one, leave?",
        "When does the bus leave and where does it go?",
        # The expected answer is "yes".
        "Doesn't the bus leave?",
        # Questions whose subject is not clear.
        "When is the last time you left the bus?",
        # Words that fit only the question.
        "What shall I do with the bus?",
        # Questions for instructions.
        "How do I do it with the bus?",
        # The subject is not tagged as a noun.
        "What does furnished mean?",
        "When would you leave if you were the bus?",
        # "We" may include the other speaker or not.
        "When does our bus leave?",
        # A long question, in which nobody notices the change.
        "When does the old red bus to the large station near the river in the town leave?",
    ],
)
def test_formulas_and_unclear_questions_are_refused(text: str) -> None:
    code = said((text, LEAVE[1]), "check", KNOWN).partition(":")[0]
    assert code in ("unclear-clause", "unsupported-edit", "kind-mismatch", "no-alignment")


@pytest.mark.parametrize(
    ("text", "penman", "expected"),
    [
        ("And is the station far, sir?", FAR, "What do you mean, the station is far?"),
        (
            "Are you angry?",
            "(a / angry-01 :ARG0 (y / you) :polarity (a2 / amr-unknown))",
            "What do you mean, I am angry?",
        ),
        # Words that only questions and negative sentences contain are removed or replaced.
        (
            "Have you ever been angry?",
            "(a / angry-01 :ARG0 (y / you) :time (e / ever) :polarity (a2 / amr-unknown))",
            "What do you mean, I have been angry?",
        ),
        (
            "Excuse me, did you buy any apples?",
            "(b / buy-01 :ARG0 (y / you) :ARG1 (a / apple :mod (a2 / any)) :polarity (a3 / amr-unknown))",
            "What do you mean, I bought some apples?",
        ),
    ],
)
def test_a_yes_no_question_is_repeated_as_a_statement(text: str, penman: str, expected: str) -> None:
    say = {"op": "say", "position": 0, "from_amr": "d#9", "from_position": 0, "voice": "other"}
    drop = {"op": "drop", "position": place(penman, "amr-unknown"), "copy_of": "d#9"}
    assert decode(REPLY, {**say, "frame": "meaning"}, drop, source=(text, penman)) == expected

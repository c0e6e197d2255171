"""What a dialogue says again, and who said it before."""

from __future__ import annotations

from graphneg.amr.echoes import repetitions
from graphneg.amr.facts import analysed
from graphneg.amr.penman import parse_graph
from graphneg.english.lexicon import english

TEA = "(l / like-01 :ARG0 (i / i) :ARG1 (t / tea))"
YES = "(y / yes)"


def said_again(*penmans: str) -> dict[int, list[str]]:
    """The echoes of the last turn of a dialogue of two speakers."""
    said = [analysed(parse_graph(penman), "", english()).statements for penman in penmans]
    return repetitions([("AB"[turn % 2], says) for turn, says in enumerate(said)])[-1]


def test_a_speaker_says_the_same_again() -> None:
    assert said_again(TEA, YES, TEA)[0] == ["own"]


def test_you_is_who_said_i() -> None:
    assert said_again(TEA, "(l / like-01 :ARG0 (y / you) :ARG1 (t / tea))")[0] == ["other"]
    assert 0 not in said_again(TEA, TEA)


def test_a_question_asks_what_is_answered() -> None:
    asked = "(l / like-01 :polarity (a / amr-unknown) :ARG0 (y / you) :ARG1 (t / tea))"
    assert said_again(asked, TEA)[0] == ["asked"]


def test_what_is_said_of_something_else_is_no_echo() -> None:
    assert 0 not in said_again(TEA, YES, "(l / like-01 :ARG0 (i / i) :ARG1 (m / milk))")


def test_what_says_more_than_before_is_no_echo() -> None:
    assert 0 not in said_again(
        "(w / work-01 :ARG0 (i / i))", YES, "(w / work-01 :ARG0 (i / i) :ARG1 (b / bank))"
    )
    assert said_again("(w / work-01 :ARG0 (i / i) :ARG1 (b / bank))", YES, "(w / work-01 :ARG0 (i / i))")


def test_what_was_denied_is_no_echo_of_what_is_so() -> None:
    denied = "(l / like-01 :polarity - :ARG0 (i / i) :ARG1 (t / tea))"
    assert 0 not in said_again(denied, YES, TEA)
    assert said_again(denied, YES, denied)[0] == ["own"]


def test_two_sentences_of_a_turn_say_the_same() -> None:
    both = f"(m / multi-sentence :snt1 {TEA} :snt2 (l2 / like-01 :ARG0 i :ARG1 (t2 / tea)))"
    assert [by for by in said_again(both).values() if by == ["turn"]] == [["turn"], ["turn"]]


def test_it_may_be_what_was_spoken_of() -> None:
    named, pointed = "(c / car)", "(i2 / it)"
    bought = "(b / buy-01 :ARG0 (i / i) :ARG1 {})".format
    assert said_again(bought(named), YES, bought(pointed))[0] == ["own"]


def test_nouns_names_and_times_are_said_again() -> None:
    anna = '(p / person :name (n / name :op1 "Anna"))'
    date = "(d / date-entity :weekday (m / monday))"
    first = f"(v / visit-01 :ARG0 (i / i) :ARG1 {anna} :time {date})"
    again = f"(c / come-01 :ARG1 {anna} :ARG4 (c2 / city) :time {date})"
    found = said_again(first, again)
    known = {k: parse_graph(again).nodes[k].label for k in found}
    assert {"name", "monday"} <= set(known.values()) and "city" not in known.values()


def test_a_modifier_is_said_again_of_the_same_thing() -> None:
    red = "(b / buy-01 :ARG0 (i / i) :ARG1 (h / hat :mod (r / red)))"
    assert said_again(red, "(s / sell-01 :ARG1 (h / hat :mod (r / red)))")[2] == ["other"]
    assert said_again(red, "(s / sell-01 :ARG1 (c / coat :mod (r / red)))") == {}

"""Tests of repeated statements: which clauses of a turn were stated before, and by which speaker."""

from __future__ import annotations

from graphneg.amr.echoes import repetitions
from graphneg.amr.facts import analyse
from graphneg.amr.penman import parse_graph
from graphneg.english.lexicon import english

TEA = "(l / like-01 :ARG0 (i / i) :ARG1 (t / tea))"
YES = "(y / yes)"


def repeated_by(*penmans: str) -> dict[int, list[str]]:
    """Return who stated the clauses of the last turn before, by node; A and B take turns."""
    said = [analyse(parse_graph(penman), "", english()).statements for penman in penmans]
    return repetitions([("AB"[turn % 2], says) for turn, says in enumerate(said)])[-1]


def test_a_speaker_repeats_an_own_statement() -> None:
    assert repeated_by(TEA, YES, TEA)[0] == ["own"]


def test_you_refers_to_the_other_speaker_who_said_i() -> None:
    assert repeated_by(TEA, "(l / like-01 :ARG0 (y / you) :ARG1 (t / tea))")[0] == ["other"]
    assert 0 not in repeated_by(TEA, TEA)


def test_an_answer_repeats_the_statement_of_its_question() -> None:
    asked = "(l / like-01 :polarity (a / amr-unknown) :ARG0 (y / you) :ARG1 (t / tea))"
    assert repeated_by(asked, TEA)[0] == ["asked"]


def test_a_statement_about_another_thing_is_no_repetition() -> None:
    assert 0 not in repeated_by(TEA, YES, "(l / like-01 :ARG0 (i / i) :ARG1 (m / milk))")


def test_a_statement_with_an_additional_argument_is_no_repetition() -> None:
    assert 0 not in repeated_by(
        "(w / work-01 :ARG0 (i / i))", YES, "(w / work-01 :ARG0 (i / i) :ARG1 (b / bank))"
    )
    assert repeated_by("(w / work-01 :ARG0 (i / i) :ARG1 (b / bank))", YES, "(w / work-01 :ARG0 (i / i))")


def test_a_statement_does_not_repeat_its_denial() -> None:
    denied = "(l / like-01 :polarity - :ARG0 (i / i) :ARG1 (t / tea))"
    assert 0 not in repeated_by(denied, YES, TEA)
    assert repeated_by(denied, YES, denied)[0] == ["own"]


def test_a_sentence_can_repeat_another_one_of_its_turn() -> None:
    both = f"(m / multi-sentence :snt1 {TEA} :snt2 (l2 / like-01 :ARG0 i :ARG1 (t2 / tea)))"
    assert [by for by in repeated_by(both).values() if by == ["turn"]] == [["turn"], ["turn"]]


def test_it_can_refer_to_a_noun_of_an_earlier_turn() -> None:
    named, pointed = "(c / car)", "(i2 / it)"
    bought = "(b / buy-01 :ARG0 (i / i) :ARG1 {})".format
    assert repeated_by(bought(named), YES, bought(pointed))[0] == ["own"]


def test_nouns_names_and_times_are_found_again() -> None:
    anna = '(p / person :name (n / name :op1 "Anna"))'
    date = "(d / date-entity :weekday (m / monday))"
    first = f"(v / visit-01 :ARG0 (i / i) :ARG1 {anna} :time {date})"
    again = f"(c / come-01 :ARG1 {anna} :ARG4 (c2 / city) :time {date})"
    found = repeated_by(first, again)
    known = {k: parse_graph(again).nodes[k].label for k in found}
    assert {"name", "monday"} <= set(known.values()) and "city" not in known.values()


def test_a_modifier_is_repeated_only_of_the_same_noun() -> None:
    red = "(b / buy-01 :ARG0 (i / i) :ARG1 (h / hat :mod (r / red)))"
    assert repeated_by(red, "(s / sell-01 :ARG1 (h / hat :mod (r / red)))")[2] == ["other"]
    assert repeated_by(red, "(s / sell-01 :ARG1 (c / coat :mod (r / red)))") == {}

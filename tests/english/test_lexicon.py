"""Tests of the lexicon: its tables, invalid lines, and the selection of antonyms."""

from __future__ import annotations

from importlib.resources import files

import pytest

from graphneg.english.lexicon import english, entry_of, read_entries, usable_antonyms
from graphneg.errors import InputError
from graphneg.model import LexiconEntry

FRAMES = {
    "like": [("like-01", ["ARG0", "ARG1"])],
    "dislike": [("dislike-01", ["ARG0", "ARG1"])],
    "rise": [("rise-01", ["ARG1"])],
    "lower": [("lower-01", ["ARG0", "ARG1"])],
}


def test_every_line_of_the_tables_is_a_unique_entry() -> None:
    lines: list[tuple[str, tuple[str, ...]]] = []
    for table in files("graphneg.english").joinpath("lexicon").iterdir():
        for _, entry in read_entries(table.name, table.read_text("utf-8").splitlines()):
            lines += [(entry.table, (*entry.cells[:-1], cell)) for cell in entry.cells[-1].split(" ")]
    assert len(lines) == len(set(lines)) > 1000


def test_words_have_classes_and_neighbours_on_scales() -> None:
    assert dict(english().moves["today"]) == {"time": "yesterday"}
    assert english().classes_of("thank-01") >= {"formula", "phrasal"}
    assert "no-one" in english().members("negative")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("noun\tdog", "must begin with class, move or opposite"),
        ("class\tdrug", "has 3 cells"),
        ("class\tMy Drugs\taspirin", "is not a valid name"),
        ("move\ttime\tmonday", "has 4 cells"),
    ],
)
def test_an_invalid_line_is_refused_with_the_reason(line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        entry_of(line)
    with pytest.raises(InputError, match=r"own\.tsv:2: .*" + reason):
        list(read_entries("own.tsv", ["# mine", line]))


def test_entries_add_and_remove_words_and_replace_antonyms() -> None:
    own = english().extended(
        [
            LexiconEntry("class", ("drug", "aspirin hardly")),
            LexiconEntry("class", ("-negative", "hardly")),
            LexiconEntry("move", ("time", "monday", "friday")),
            LexiconEntry("opposite", ("old", "young", "-")),
        ]
    )
    assert own.classes_of("hardly") == {"drug"} and own.classes_of("aspirin") == {"drug"}
    assert own.moves["monday"] == (("time", "friday"),)
    assert own.modified_kinds("young", "old") == []
    assert english().modified_kinds("young", "old") == ["animal", "person", "plant"]


@pytest.mark.parametrize(
    ("word", "weights", "expected"),
    [
        ("like", {"dislike": 1.0}, [("like-01", "dislike-01"), ("modifier", "dislike"), ("noun", "dislike")]),
        ("rise", {"lower": 1.0}, [("modifier", "lower"), ("noun", "lower")]),
        ("small", {"big": 2.0, "huge": 0.5}, [("modifier", "big"), ("noun", "big")]),
        ("happy", {"sadness": 1.0}, []),
        ("up", {"bottom": 1.0}, []),
        ("man", {"woman": 1.0}, []),
        ("meet", {"pass": 1.0}, []),
    ],
)
def test_antonyms_are_selected_by_form_class_kind_and_frames(
    word: str, weights: dict[str, float], expected: list[tuple[str, str]]
) -> None:
    judged = usable_antonyms(word, weights, FRAMES, english())
    assert [(one.used_as, one.replacement) for one in judged if one.used_as != "frame"] == expected


def test_antonyms_list_the_kinds_of_nouns_they_modify() -> None:
    said_of = {one.modified_kinds is None for one in usable_antonyms("old", {"young": 1.0}, {}, english())}
    assert said_of == {False}

"""Test that each benchmark runs with little data on a real server, and how results become a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.__main__ import page
from benchmarks.corpus import bundled
from benchmarks.instances import Host
from benchmarks.registry import BENCHMARKS
from benchmarks.report import DATA, keep, page_of, read
from benchmarks.report import page as data_page
from benchmarks.results import Goal, Result, Table, merged, sample
from benchmarks.sizes import QUICK, TINY
from graphneg.amr.penman import parse_graph

TAKES_HOURS = ("kills", "crowd")
# The smallest run of each of these takes at least half a minute.
TAKES_MINUTES = ("pages", "shift", "pairs", "memory", "parsing", "load", "growth")


def check_tables(result: Result) -> None:
    """Check that each row has as many cells as the header of its table."""
    for table in result.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}
    assert "| " in page([result], [("date", "today")])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long] if name in TAKES_MINUTES else [])
        for name in BENCHMARKS
        if name not in TAKES_HOURS
    ],
)
def test_a_benchmark_gives_rows_as_wide_as_their_header(name: str, tmp_path: Path) -> None:
    host = Host("embedded", tmp_path)
    try:
        result = BENCHMARKS[name].run(host, bundled(), TINY)
    finally:
        host.close()
    check_tables(result)


def test_edits_are_looked_for_whose_result_others_mean() -> None:
    from benchmarks.decoder import changes

    written = {
        "I sing.": "(s / sing-01 :ARG0 (i / i))",
        "I do not sing.": "(x / sing-01 :ARG0 (i / i) :polarity -)",
        "Not me, I never sing.": "(s / sing-01 :polarity - :ARG0 (i2 / i))",
        "I dance.": "(d / dance-01 :ARG0 (i / i))",
        "Fish swim.": "(s / swim-01 :ARG0 (f / fish))",
    }
    sentences = {text: parse_graph(graph, text) for text, graph in written.items()}
    found = {(one.kind, one.edited.text): one.texts for one in changes(sentences, 10)}
    assert found == {
        ("negate", "I sing."): ("I do not sing.", "Not me, I never sing."),
        ("affirm", "I do not sing."): ("I sing.",),
        ("affirm", "Not me, I never sing."): ("I sing.",),
        ("word", "I sing."): ("I dance.",),
        ("word", "I dance."): ("I sing.",),
    }
    assert len(list(changes(sentences, 1))) == 3


@pytest.mark.long
@pytest.mark.parametrize("name", TAKES_HOURS)
def test_a_tenth_of_what_is_measured_for_hours_meets_its_goals(name: str, tmp_path: Path) -> None:
    host = Host("embedded", tmp_path)
    try:
        result = BENCHMARKS[name].run(host, bundled(), QUICK)
    finally:
        host.close()
    assert [goal for goal in result.goals if goal.verdict != "met"] == []
    check_tables(result)


def test_tables_of_one_title_are_merged() -> None:
    one = Table("rates", "", ("server", "rate"), (("a", "1"),))
    two = Table("rates", "", ("server", "rate"), (("b", "2"),))
    assert [table.rows for table in merged([one, two])] == [(("a", "1"), ("b", "2"))]


def test_a_sample_shows_its_median_and_its_range() -> None:
    assert sample([3.0, 1.0, 2.0]).shown() == "2 (1-3)"
    assert sample([2.0]).shown(1) == "2.0"


@pytest.mark.parametrize("data", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_a_page_is_what_its_data_say(data: Path) -> None:
    content = read(data)
    assert page_of(data).read_text(encoding="utf-8") == data_page(content), "make pages writes it anew"
    for section in content["sections"]:
        assert {len(row) for row in section["rows"]} <= {len(section.get("columns", ()))}


def test_what_is_measured_again_takes_the_place_of_its_rows_alone(tmp_path: Path) -> None:
    data = tmp_path / "data" / "figures.json"
    data.parent.mkdir()
    both = Table("rates", "", ("server", "rate"), (("a", "1"), ("b", "2")))
    keep(data, [both], [Goal("rate", "a", "1", ">= 1", "met")])
    again = Table("rates", "", ("server", "rate"), (("b", "3"),))
    keep(data, [again], [Goal("rate", "a", "2", ">= 1", "met")])
    content = read(data)
    assert content["sections"][0]["rows"] == [["a", "1"], ["b", "3"]]
    assert content["goals"] == [["rate", "a", "2", ">= 1", "met"]]
    assert "| b " in page_of(data).read_text(encoding="utf-8")

"""Each benchmark runs, in miniature, on a real server."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.__main__ import page
from benchmarks.corpus import bundled
from benchmarks.instances import Host
from benchmarks.registry import BENCHMARKS
from benchmarks.results import Table, merged, sample
from benchmarks.sizes import TINY


@pytest.mark.slow
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_gives_rows_as_wide_as_their_header(name: str, tmp_path: Path) -> None:
    host = Host("embedded", tmp_path)
    try:
        result = BENCHMARKS[name].run(host, bundled(), TINY)
    finally:
        host.close()
    for table in result.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}
    assert "| " in page([result], [("date", "today")])


def test_tables_of_one_title_are_merged() -> None:
    one = Table("rates", "", ("server", "rate"), (("a", "1"),))
    two = Table("rates", "", ("server", "rate"), (("b", "2"),))
    assert [table.rows for table in merged([one, two])] == [(("a", "1"), ("b", "2"))]


def test_a_sample_shows_its_median_and_its_range() -> None:
    assert sample([3.0, 1.0, 2.0]).shown() == "2 (1-3)"
    assert sample([2.0]).shown(1) == "2.0"

"""Generate the documentation pages that show figures: ``python -m benchmarks.report`` writes all of them.

``docs/data/NAME.json`` is the data of ``docs/NAME.md``. It has ``title``, ``about``, ``goals`` (rows of what,
server, measured, wanted, verdict) and ``sections``. A section has ``title``, ``about``, ``measured`` (date
and machine), ``columns``, ``rows`` (lists of texts) and ``note``. `keep` merges the results of a benchmark
into the data: a table replaces the section that has the same title. If the table has a column that identifies
rows, such as ``server``, the rows of other servers stay in the section.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import machine_rows
from benchmarks.results import Goal, Table, goals_text, grid

DOCS = Path(__file__).parent.parent / "docs"
DATA = DOCS / "data"
KEYS = ("server", "source", "learned from")
"""Columns whose values identify rows: a run on one server does not change the rows of the other server."""

Section = dict[str, Any]


def add_places(parser: argparse.ArgumentParser, data: Path, work: Path) -> None:
    """Add the options for the folders of a benchmark that trains models.

    Args:
        parser: The parser to extend.
        data: Default folder that contains the corpora.
        work: Default folder for results.
    """
    parser.add_argument("--data", type=Path, default=data, help="folder that contains the corpora")
    parser.add_argument("--work", type=Path, default=work, help="folder for results")
    parser.add_argument(
        "--out", type=Path, help="data file to merge the tables into, such as docs/data/benchmarks.json"
    )


def main() -> None:
    """Write every page that is generated from a data file."""
    for data in sorted(DATA.glob("*.json")):
        page_of(data).write_text(page(read(data)), encoding="utf-8")


def page_of(data: Path) -> Path:
    """Return the path of the page that is generated from a data file.

    Args:
        data: Path of the data file, for example ``docs/data/quality.json``.

    Returns:
        Path of the page, for example ``docs/quality.md``.
    """
    return data.parent.parent / f"{data.stem}.md"


def read(data: Path) -> Mapping[str, Any]:
    """Read a data file.

    Args:
        data: Path of the JSON file.

    Returns:
        The content of the file.
    """
    return json.loads(data.read_text(encoding="utf-8"))


def page(content: Mapping[str, Any]) -> str:
    """Return the page for a data file as Markdown.

    Args:
        content: The content of a data file.

    Returns:
        The page with its goals and sections.
    """
    goals = [Goal(*row) for row in content.get("goals", ())]
    parts = [
        f"# {content['title']}\n",
        f"{content['about']}\n" if content.get("about") else "",
        goals_text(goals) if goals else "",
        *map(_section_text, content["sections"]),
    ]
    return "\n".join(filter(None, parts))


def keep(data: Path, tables: Iterable[Table], goals: Iterable[Goal], servers: str = "") -> None:
    """Merge results into a data file, and write the page that is generated from the file.

    Args:
        data: The data file; it is created if it is missing.
        tables: The tables to merge.
        goals: The goals to merge.
        servers: Names and versions of the servers.
    """
    content = read(data) if data.exists() else {"title": "Benchmarks", "sections": []}
    sections = {section["title"]: section for section in content["sections"]}
    measured = _machine(servers)
    for table in tables:
        sections[table.title] = _merged(sections.get(table.title), table, measured)
    known = {(row[0], row[1]): row for row in content.get("goals", ())}
    known |= {(goal.what, goal.server): _goal_row(goal) for goal in goals}
    write(data, {**content, "goals": list(known.values()), "sections": list(sections.values())})
    page_of(data).write_text(page(read(data)), encoding="utf-8")


def write(data: Path, content: Mapping[str, Any]) -> None:
    """Write a data file.

    Args:
        data: Path of the JSON file.
        content: The content to write. Each row of a table becomes one line, so that a changed figure is one
            changed line.
    """
    rows: list[str] = []

    def marked(some: Iterable[Sequence[str]]) -> list[str]:
        first = len(rows)
        rows.extend(json.dumps(list(row), ensure_ascii=False) for row in some)
        # `json.dumps` would write each cell on a separate line. Therefore each row is replaced by a mark, and
        # put back when the other content is text.
        return [f"@row {at}" for at in range(first, len(rows))]

    sections = [{**section, "rows": marked(section.get("rows", ()))} for section in content["sections"]]
    goals = {"goals": marked(content["goals"])} if content.get("goals") else {}
    text = json.dumps({**content, **goals, "sections": sections}, indent=1, ensure_ascii=False)
    lines = re.sub(r'"@row (\d+)"', lambda match: rows[int(match[1])], text)
    data.write_text(f"{lines}\n", encoding="utf-8")


def _merged(before: Section | None, table: Table, measured: str) -> Section:
    rows = [list(row) for row in table.rows]
    key = next((one for one in KEYS if one in table.columns), None)
    if before and key and before["columns"] == list(table.columns):
        at = table.columns.index(key)
        new = {row[at] for row in rows}
        # Rows of other servers or sources stay.
        rows = [row for row in before["rows"] if row[at] not in new] + rows
    return {
        "title": table.title,
        "about": table.about,
        "measured": measured,
        "columns": list(table.columns),
        "rows": rows,
        "note": (before or {}).get("note", ""),
    }


def _goal_row(goal: Goal) -> list[str]:
    return [goal.what, goal.server, goal.measured, goal.wanted, goal.verdict]


def _machine(servers: str) -> str:
    rows = dict(machine_rows())
    return "; ".join(filter(None, (*rows.values(), servers)))


def _section_text(section: Section) -> str:
    rows = section.get("rows")
    parts = [
        f"## {section['title']}",
        section.get("about"),
        grid(section["columns"], rows) if rows else None,
        section.get("note"),
        f"Measured {section['measured']}." if section.get("measured") else None,
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


if __name__ == "__main__":
    main()

"""Tests of `trace_sites`, which counts the rows left after each clause and condition of a transform."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphneg.editing.sites import SiteStep, trace_sites
from graphneg.editing.transforms import load_transforms, parse_transform
from graphneg.store.connection import Store
from graphneg.store.dialogues import StoredDialogue, read_dialogues
from tests.servers import wipe
from tests.transform_runs import dialogue, load

FINDS_NOTHING = """// never: Orders that are negated already are negated again.
// category: C-cont
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
// only what is said to somebody
WHERE n.clause_type = 'order' AND n.main_clause // the main clause
  AND n.negated // that is negated
  AND n.tense = 'past OR future'
WITH d.id AS dialogue, n, CASE WHEN n.main_clause THEN 1 END AS end
WHERE n.concept STARTS WITH 'open' OR n.concept = 'AND'
RETURN dialogue, collect({amr: n.amr, position: n.position, op: 'add', role: 'polarity', value: '-'}) AS edits
"""
ORDERS = (
    "(o / open-01 :mode imperative :ARG0 (y / you) :ARG1 (w / window))",
    "(o / open-01 :mode imperative :polarity - :ARG0 (y / you) :ARG1 (d / door))",
    "(s / sleep-01 :ARG0 (i / i))",
)


@pytest.fixture(scope="module")
def asked(embedded: Store) -> list[StoredDialogue]:
    wipe(embedded)
    own = dialogue(*ORDERS)
    load(embedded, [own])
    return read_dialogues(embedded, [own.id])


def steps(store: Store, query: str, asked: list[StoredDialogue]) -> list[SiteStep]:
    return trace_sites(store, parse_transform("never", query, "never.cypher"), asked)


def test_rows_are_counted_after_each_clause_and_condition(
    embedded: Store, asked: list[StoredDialogue]
) -> None:
    found = steps(embedded, FINDS_NOTHING, asked)
    assert [(step.rows, step.line, step.text) for step in found] == [
        (1, 3, "UNWIND $dialogues AS d"),
        (3, 4, "UNWIND d.turns AS t"),
        (11, 5, "MATCH (n:AmrNode {amr: t.amr})"),
        (2, 7, "n.clause_type = 'order'"),
        (2, 7, "n.main_clause"),
        (1, 8, "n.negated"),
        (0, 9, "n.tense = 'past OR future'"),
        (0, 10, "WITH d.id AS dialogue, n, CASE WHEN n.main_clause THEN 1 END AS end"),
        (0, 11, "n.concept STARTS WITH 'open' OR n.concept = 'AND'"),
        (0, 12, found[-1].text),
    ]
    assert [step.comment for step in found if step.comment] == [
        "only what is said to somebody",
        "the main clause",
        "that is negated",
    ]


def test_the_last_step_counts_the_edits(embedded: Store, asked: list[StoredDialogue]) -> None:
    query = FINDS_NOTHING.replace("  AND n.tense = 'past OR future'\n", "")
    assert steps(embedded, query, asked)[-1].rows == 1


@pytest.mark.parametrize(
    ("clauses", "why"),
    [
        ("MATCH (n:AmrNode {amr: t.amr}) WHERE nope(n)\n", "not counted: "),
        ("RETURN 'a' AS dialogue, [] AS edits UNION\nUNWIND $dialogues AS d\n", "not counted: behind UNION"),
    ],
)
def test_uncounted_steps_have_a_reason(
    embedded: Store, asked: list[StoredDialogue], clauses: str, why: str
) -> None:
    head = "// never: nothing\n// category: C-cont\nUNWIND $dialogues AS d UNWIND d.turns AS t\n"
    found = steps(embedded, f"{head}{clauses}RETURN d.id AS dialogue, [] AS edits", asked)
    assert found[0].rows == 1
    assert any(step.rows is None and step.why.startswith(why) for step in found)


def test_every_shipped_transform_can_be_traced(embedded: Store, asked: list[StoredDialogue]) -> None:
    for transform in load_transforms().values():
        found = trace_sites(embedded, transform, asked)
        assert len(found) > 3 and all(step.rows is not None for step in found), transform.name


def test_a_line_for_each_condition_is_printed(
    embedded: Store, asked: list[StoredDialogue], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from graphneg.cli.negatives import show_sites
    from graphneg.dialogue_graph import DialogueGraph
    from graphneg.store.dialogues import Selection

    (tmp_path / "never.cypher").write_text(FINDS_NOTHING)
    show_sites(DialogueGraph(embedded), ["never"], [tmp_path], Selection(limit=5))
    printed = capsys.readouterr().out
    assert "never.cypher: 1 dialogue" in printed
    assert any("n.negated" in line and "that is negated" in line for line in printed.splitlines())

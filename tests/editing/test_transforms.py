"""Tests of the sites that each transform proposes on the small graphs of ``transform_cases.txt``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from graphneg.editing.planning import EditSettings, plan_edits
from graphneg.editing.proposals import propose
from graphneg.editing.recipes import TARGETS, get_recipe, recipe_of
from graphneg.editing.transforms import Transform, parse_transform
from graphneg.errors import TransformError
from graphneg.model import Frame, Opposite
from graphneg.store.connection import Store
from graphneg.store.dialogues import read_dialogues
from tests.servers import wipe
from tests.transform_runs import TRANSFORMS, dialogue, load, results

OPPOSITES = [
    Opposite("like", "dislike", "Antonym", 1.0, "test"),
    Opposite("buy", "sell", "Antonym", 1.0, "test"),
    Opposite("fish", "walk", "NotCapableOf", 1.0, "test"),
    Opposite("small", "big", "Antonym", 1.0, "test"),
    Opposite("small", "of great size", "Antonym", 1.0, "test"),
    Opposite("person", "nobody", "Antonym", 1.0, "test"),
    Opposite("rise", "lower", "Antonym", 1.0, "test"),
    Opposite("old", "young", "Antonym", 1.0, "test"),
    Opposite("old", "new", "Antonym", 1.0, "test"),
    Opposite("meet", "pass", "Antonym", 1.0, "test"),
]
FRAMES = [
    Frame("rise-01", "rise", ("ARG1",)),
    Frame("lower-01", "lower", ("ARG0", "ARG1")),
    Frame("dislike-01", "dislike", ("ARG0", "ARG1")),
    Frame("sell-01", "sell", ("ARG0", "ARG1", "ARG2")),
    Frame("sell-02", "sell", ("ARG0", "ARG1", "ARG2", "ARG3")),
]


@pytest.fixture(scope="module")
def bare(store: Store) -> Store:
    """Return a store with some antonyms and frames."""
    wipe(store)
    load(store, [*OPPOSITES, *FRAMES])
    return store


def cases() -> Iterator[object]:
    """Yield the cases of ``transform_cases.txt``: transform, graphs of the turns, expected graphs."""
    text = Path(__file__).parents[1].joinpath("transform_cases.txt").read_text(encoding="utf-8")
    for block in text.split("\n\n")[1:]:
        head, *lines = block.strip().splitlines()
        name, _, title = head.partition(": ")
        at = lines.index("=>")
        graphs = [one.partition(": ")[2] for one in lines[:at]]
        yield pytest.param(name, graphs, lines[at + 1 :], id=title)


@pytest.mark.parametrize(("name", "penmans", "expected"), cases())
def test_each_case_has_the_expected_graphs(
    bare: Store, name: str, penmans: list[str], expected: list[str]
) -> None:
    assert results(bare, name, *penmans) == expected


def test_a_dialogue_without_sites_is_left_out(bare: Store) -> None:
    own = dialogue("(c / chapter :mod 1)", "(y / yes)")
    load(bare, [own])
    stored = read_dialogues(bare, [own.id])
    assert propose(bare, TRANSFORMS["polarity_flip"], stored) == {}
    assert propose(bare, TRANSFORMS["polarity_flip"], []) == {}


ADD = """MATCH (n:AmrNode {amr: d.turns[0].amr}) WHERE n.position = 0
RETURN d.id AS dialogue, collect({amr: n.amr, position: 0, op: 'add', role: 'mod', %s}) AS edits"""


def own_transform(*branches: str) -> Transform:
    """Return a user's transform whose query is a UNION of branches."""
    query = "\nUNION\n".join(f"UNWIND $dialogues AS d\n{branch}" for branch in branches)
    return parse_transform("own", f"// own: Adds words.\n// category: C-cont\n{query}\n", "own.cypher")


def test_a_dialogue_in_two_records_keeps_the_sites_of_both(bare: Store) -> None:
    own = dialogue("(y / yes)")
    load(bare, [own])
    stored = read_dialogues(bare, [own.id])
    branches = [ADD % "concept: 'big', site: 'b'", ADD % "concept: 'small', site: 'a'"]
    for union in (own_transform(*branches), own_transform(*reversed(branches))):
        [found] = propose(bare, union, stored).values()
        assert [(site.site, site.edits[0].concept) for site in found] == [("a", "small"), ("b", "big")]


def test_a_site_in_two_records_is_refused(bare: Store) -> None:
    own = dialogue("(y / yes)")
    load(bare, [own])
    union = own_transform(ADD % "concept: 'big'", ADD % "concept: 'small'")
    with pytest.raises(TransformError, match=r"two records of the dialogue .* return one record"):
        propose(bare, union, read_dialogues(bare, [own.id]))


def test_a_syntax_error_names_the_line_of_the_file(bare: Store) -> None:
    own = dialogue("(y / yes)")
    load(bare, [own])
    # The error is in line 4 of the file, after two comment lines and UNWIND.
    wrong = own_transform("RETURNING d.id AS dialogue, [] AS edits")
    with pytest.raises(TransformError, match=r"own\.cypher: .*not valid Cypher.*\bline 4\b"):
        propose(bare, wrong, read_dialogues(bare, [own.id]))


def test_an_edit_that_affects_only_later_turns_is_no_edit_of_a_response(bare: Store) -> None:
    own = dialogue("(g / go-02 :ARG0 (i / i))", "(l / like-01 :polarity (a / amr-unknown) :ARG0 (y / you))")
    load(bare, [own])
    stored = read_dialogues(bare, [own.id])
    recipe = recipe_of(["dialogue_act_change"])
    edited = {
        target: [
            bool(one.edits) for one in plan_edits(EditSettings(recipe, target, 0), stored, {own.id: [0]}, ask)
        ]
        for target in TARGETS
        for ask in [lambda name, some: propose(bare, TRANSFORMS[name], some)]
    }
    assert edited == {"dialogue": [True], "response": [False]}


def test_a_manipulation_of_deam_is_applied_to_more_turns_of_long_dialogues(bare: Store) -> None:
    negating = replace(get_recipe("deam"), groups=(("polarity_flip",),), max_groups=1)
    for turns, edited in ((9, 1), (20, 2), (31, 3)):
        own = replace(dialogue(*["(g / go-02 :ARG0 (i / i))"] * turns), id=f"own/all/{turns}")
        load(bare, [own])
        [one] = plan_edits(
            EditSettings(negating, "dialogue", 0),
            read_dialogues(bare, [own.id]),
            {own.id: [0]},
            lambda name, some: propose(bare, TRANSFORMS[name], some),
        )
        assert len({edit.amr for edit in one.edits}) == edited

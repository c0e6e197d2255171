"""Measure how the time for editing grows with the number of dialogues."""

from __future__ import annotations

from benchmarks.corpus import Corpus
from benchmarks.instances import Host
from benchmarks.passes import Editor
from benchmarks.results import Goal, Result, Table, sample, verdict
from benchmarks.sizes import Sizes
from graphneg.editing.recipes import get_recipe
from graphneg.store.dialogues import GraphCache, Selection

WARM_UP = 2_000
"""Seed of the first warm-up pass; all other passes use larger seeds."""
SLACK = 1.1
"""Factor by which the time may grow faster than the number of dialogues."""


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    """Edit a small store, a large store, and as many dialogues of the large store as the small store has.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Returns:
        The tables and goals for this kind of server.
    """
    recipe = get_recipe("deam")
    instance = host.loaded(corpus, sizes.copies)
    store = instance.store
    editor = Editor(store)
    editor.run(recipe, WARM_UP, GraphCache(store))
    small = [editor.run(recipe, WARM_UP + 1 + seed, GraphCache(store)) for seed in range(sizes.anew)]
    host.loaded(corpus, sizes.copies * sizes.growth)
    few = Selection(limit=small[0].dialogues)
    editor.run(recipe, WARM_UP + 100, GraphCache(store), few)
    large = editor.run(recipe, WARM_UP + 101, GraphCache(store))
    again = [editor.run(recipe, WARM_UP + 200 + seed, GraphCache(store), few) for seed in range(sizes.anew)]
    before, after = sample(one.wall for one in small), sample(one.wall for one in again)
    times = large.dialogues / small[0].dialogues
    ratio = large.wall / before.median
    rows = (
        (instance.name, "a store of its own", f"{small[0].dialogues:,}", before.shown(2), "1.00"),
        (
            instance.name,
            "all of a larger store",
            f"{large.dialogues:,}",
            f"{large.wall:.2f}",
            f"{ratio:.2f}",
        ),
        (
            instance.name,
            "as many of the larger store",
            f"{again[0].dialogues:,}",
            after.shown(2),
            f"{after.median / before.median:.2f}",
        ),
    )
    table = Table(
        "Editing: growth with the corpus",
        "Negatives are made with the recipe deam. The cache of unedited graphs is empty at the start of "
        "each pass. Times are in seconds. The last row edits only as many dialogues as the first row, but in "
        "the larger store: it shows the cost of the larger store alone, and the variation of the machine.",
        ("server", "dialogues of", "dialogues", "seconds", "times the first"),
        rows,
    )
    goal = Goal(
        f"editing {times:.0f} times the dialogues",
        instance.name,
        f"{ratio:.2f} times the time",
        f"<= {times * SLACK:.1f}",
        verdict(ratio <= times * SLACK),
    )
    return Result((table,), (goal,))

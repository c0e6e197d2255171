"""Measure how fast the recipe `deam` edits dialogues, from proposals of edits to edited graphs in PENMAN."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.corpus import Corpus
from benchmarks.driver_loop import node_rows, nodes_per_second
from benchmarks.instances import Host, Instance
from benchmarks.passes import STAGES, Editor, Pass
from benchmarks.results import Goal, Result, Sample, Table, percent, sample, verdict
from benchmarks.sizes import Sizes
from graphneg.editing.recipes import get_recipe
from graphneg.store.dialogues import GraphCache

WARM_UP = 1_000
"""Seed of the first warm-up pass; the measured passes use smaller seeds."""
WANTED = {"Neo4j": 500, "embedded": 400}
"""Goals: minimum number of dialogues per second."""
LOOP = 25_000
"""If the bare driver loop creates fewer nodes per second, the machine counts as too slow for the goals."""


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    """Run passes that read the unedited graphs from the store, then passes that use cached graphs.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Returns:
        The tables and goals for this kind of server.
    """
    instance = host.loaded(corpus, sizes.copies)
    loop_rows = node_rows(corpus, sizes.loop_nodes)
    nodes_per_second(instance, loop_rows)
    editor, recipe = Editor(instance.store), get_recipe("deam")
    warm_up = editor.run(recipe, WARM_UP, GraphCache(instance.store))
    for extra in range(1, sizes.warm_ups):
        editor.run(recipe, WARM_UP + extra, GraphCache(instance.store))
    anew: list[Pass] = []
    loops: list[float] = []
    for seed in range(sizes.anew):
        # The bare driver loop runs between the passes, to show how fast the machine is at that time.
        loops.append(nodes_per_second(instance, loop_rows))
        graph_cache = GraphCache(instance.store)
        anew.append(editor.run(recipe, seed, graph_cache))
    kept = [editor.run(recipe, seed, graph_cache) for seed in range(sizes.anew, sizes.anew + sizes.kept)]
    loops.append(nodes_per_second(instance, loop_rows))
    return Result(
        (_rates(instance, corpus, warm_up, anew, kept, sample(loops)), _query_table(instance, anew, kept)),
        _goals(instance, anew, kept, sample(loops)),
    )


def _rates(
    instance: Instance,
    corpus: Corpus,
    warm_up: Pass,
    anew: Sequence[Pass],
    kept: Sequence[Pass],
    loop: Sample,
) -> Table:
    rows = [
        (
            instance.name,
            label,
            f"{passes[0].dialogues:,}",
            sample(one.rate for one in passes).shown(),
            *(
                percent(sum(one.seconds[stage] for one in passes), sum(one.total for one in passes))
                for stage in STAGES
            ),
            f"{sum(one.graphs for one in passes) / sum(one.dialogues for one in passes):.2f}",
            _well_formed(passes),
            loop.shown(),
        )
        for label, passes in (
            ("first pass, cold", [warm_up]),
            ("warm, originals read again", anew),
            ("warm, originals cached", kept),
        )
    ]
    return Table(
        "Editing: recipe deam",
        "This benchmark makes one negative per dialogue, as PENMAN, without decoding the graphs into text. "
        f"The dialogues are made from {corpus.description}. `dialogues/s` is measured in elapsed time: the "
        "median over seeds, with the range. Three batches are edited in parallel.\n\n"
        "The columns with percentages show the share of each stage in the total work:\n\n"
        "- `dialogues`: read the turns of the dialogues.\n"
        "- `propose`: run the queries of the transforms.\n"
        "- `pick`: choose edits among the proposals.\n"
        "- `apply`: write the chosen edits to the store.\n"
        "- `read`: read the unedited graphs, edit copies of them and check the copies.\n"
        "- `write PENMAN`: write the edited graphs as PENMAN.\n\n"
        "The last column shows how fast the machine was: the number of nodes per second that a loop creates "
        "in the same run. This loop uses only the driver, in batches of 5,000 nodes.",
        (
            "server",
            "pass",
            "dialogues",
            "dialogues/s",
            *STAGES,
            "graphs/dialogue",
            "well formed",
            "bare loop, nodes/s",
        ),
        tuple(rows),
    )


def _query_table(instance: Instance, anew: Sequence[Pass], kept: Sequence[Pass]) -> Table:
    """Return a table of the share of time that each transform's query takes."""
    passes = [*anew, *kept]
    total = sum(one.total for one in passes)
    rows = [
        (instance.name, name, percent(sum(one.asked.get(name, 0.0) for one in passes), total, 1))
        for name in sorted({name for one in passes for name in one.asked})
    ]
    return Table(
        "Editing: share of each transform's query",
        "In the warm passes of the recipe deam (see the table above), each query took this share of the "
        "time.",
        ("server", "transform", "share"),
        tuple(rows),
    )


def _goals(instance: Instance, anew: Sequence[Pass], kept: Sequence[Pass], loop: Sample) -> tuple[Goal, ...]:
    rate, further = sample(one.rate for one in anew), sample(one.rate for one in kept)
    wanted = WANTED[instance.name]
    holds = verdict(rate.median >= wanted)
    if holds == "missed" and loop.median < LOOP:
        holds = f"missed, but the bare loop is below {LOOP:,} nodes/s"
    passes = [*anew, *kept]
    return (
        Goal("editing, deam", instance.name, f"{rate.median:,.0f} dialogues/s", f">= {wanted}", holds),
        Goal(
            "further seeds are faster",
            instance.name,
            f"{further.median:,.0f} dialogues/s",
            f"> {rate.median:,.0f}",
            verdict(further.median > rate.median),
        ),
        Goal(
            "edited graphs are well formed",
            instance.name,
            _well_formed(passes),
            "100%",
            verdict(not any(one.ill_formed for one in passes)),
        ),
    )


def _well_formed(passes: Sequence[Pass]) -> str:
    graphs, faults = sum(one.graphs for one in passes), sum(one.ill_formed.total() for one in passes)
    return percent(graphs - faults, graphs, 2 if faults else 0)

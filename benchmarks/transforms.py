"""Measure the speed of each transform alone, with one edit per dialogue on the same dialogues."""

from __future__ import annotations

from benchmarks.corpus import Corpus
from benchmarks.instances import Host
from benchmarks.passes import Editor
from benchmarks.results import Result, Table, percent, sample
from benchmarks.sizes import Sizes
from graphneg.editing.recipes import Recipe
from graphneg.editing.transforms import load_transforms
from graphneg.store.dialogues import GraphCache

WARM_UP = 1_000
"""Seed of the warm-up pass."""


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    """Run each transform over all dialogues with several seeds.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Returns:
        The tables and goals for this kind of server.
    """
    instance = host.loaded(corpus, sizes.copies)
    editor, graph_cache = Editor(instance.store), GraphCache(instance.store)
    rows: list[tuple[str, ...]] = []
    for name in load_transforms():
        recipe = Recipe(name, "", ((name,),), 1, 1, "dialogue")
        editor.run(recipe, WARM_UP, graph_cache)
        passes = [editor.run(recipe, seed, graph_cache) for seed in range(sizes.anew)]
        first = passes[0]
        faults = sum(one.ill_formed.total() for one in passes)
        graphs = sum(one.graphs for one in passes)
        rows.append(
            (
                instance.name,
                name,
                sample(one.rate for one in passes).shown(),
                sample(one.dialogues / one.seconds["propose"] for one in passes).shown(),
                f"{first.proposals / first.dialogues:.1f}",
                percent(first.variants, first.dialogues),
                percent(graphs - faults, graphs, 2 if faults else 0),
            )
        )
    table = Table(
        "Each transform alone",
        "Each row makes one edit per dialogue with one transform, after a warm-up and with cached graphs. "
        "`dialogues/s` is the rate of all stages, `query alone` the rate of the transform's query. "
        "`edited`: share of dialogues in which the transform finds a site.",
        (
            "server",
            "transform",
            "dialogues/s",
            "query alone, dialogues/s",
            "sites/dialogue",
            "edited",
            "well formed",
        ),
        tuple(rows),
    )
    return Result((table,))

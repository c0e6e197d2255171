"""``graphneg snapshot`` and ``graphneg merge``: before shards are made, and after."""

from __future__ import annotations

from pathlib import Path

from graphneg.cli.commands import argument, command, job, option
from graphneg.cli.options import OutFile, Overwrite, StoreOptions
from graphneg.cli.terminal import counted, say, say_complete, working


@job(
    "graphneg merge negatives.jsonl.*-of-16 -o negatives.jsonl",
    "graphneg merge positives.parquet.*-of-4 -o positives.parquet",
)
def merge(
    *,
    files: list[Path] = argument(..., "The files of all shards, in any order.", "FILE..."),
    out: OutFile,
    overwrite: Overwrite = False,
) -> None:
    """Put shards together.

    Commands with --shard I/N write files of shards. All N of one result give the file that one run
    would have written, byte for byte. Shards of other settings, of another store or of another
    version are refused, and so is a result that is not whole. No store is opened.
    """
    from graphneg.merging import merge as put_together

    with working(f"{out} is written when it is complete; run the command again") as bars:
        merged = put_together(files, out, overwrite=overwrite, progress=bars)
    holds = counted(merged.items, "item")
    if merged.was_complete:
        say_complete(out, holds)
    else:
        say(f"{out}: {holds} of {counted(len(files), 'shard')}")


@command(
    "graphneg snapshot -o everything.snapshot",
    "graphneg snapshot -o words.snapshot --part donors --part shifts",
)
def snapshot(
    *,
    out: OutFile,
    part: list[str] | None = option(
        None,
        "Only what these need: donors (graft), utterances (insertion, replacement), shifts (perspective, "
        "counterfactual), sentences (overlap, hard), bank (random, bm25, semi-hard); repeatable.",
        "PART",
    ),
    overwrite: Overwrite = False,
    where: StoreOptions,
) -> None:
    """Count what looks across dialogues, for stores that hold a shard only.

    Made of a store with all dialogues. graphneg load snapshot FILE puts it into the store of a
    shard, and negatives of that shard are what they would be in the store with everything.
    """
    from graphneg.records.runs import check_new
    from graphneg.snapshots import PARTS, Snapshot

    check_new(out, overwrite)
    with where.opened() as graph, working(f"{out} is written when it is complete; run it again") as bars:
        chosen = part or [each for each in PARTS if each != "shifts" or graph.info().counts.get("SHIFTS_TO")]
        made = Snapshot.write(graph.store, out, chosen, bars)
    say(f"{out}: snapshot {made.digest[:8]} of {', '.join(made.parts)}")

"""Define the command group ``shards``, for making negatives on several machines.

The dialogues can be divided into shards. Each machine stores one shard and runs the same command with
``--shard I/N``. Some recipes need data from all dialogues. Before the runs, ``shards snapshot`` writes these
data to a file (a snapshot), which each machine loads. After the runs, ``shards merge`` joins the files of all
shards into the file that a single run would have written.

Example::

    graphneg shards snapshot -o everything.snapshot                    # on the machine with all dialogues
    graphneg load everyday --shard 3/16                                # on the third of 16 machines
    graphneg load snapshot everything.snapshot                         # on the same machine
    graphneg negatives -o negatives.jsonl --shard 3/16                 # on the same machine
    graphneg shards merge negatives.jsonl.*-of-16 -o negatives.jsonl
"""

from __future__ import annotations

from pathlib import Path

from graphneg.cli.commands import argument, command, group, option, training_command
from graphneg.cli.options import OutFile, Overwrite, StoreOptions
from graphneg.cli.terminal import counted, print_already_complete, print_message, progress_bars


@training_command(
    "graphneg shards merge negatives.jsonl.*-of-16 -o negatives.jsonl",
    "graphneg shards merge positives.parquet.*-of-4 -o positives.parquet",
)
def merge(
    *,
    files: list[Path] = argument(..., "The files of all shards, in any order.", "FILE..."),
    out: OutFile,
    overwrite: Overwrite = False,
) -> None:
    """Join the files of all shards into one file.

    A command with --shard I/N writes the file of one shard. Merging all N files gives the same file, byte for
    byte, as a single run without --shard. The files are refused if a shard is missing, or if they were
    written with different settings, from different stores or by different versions of graphneg. No store is
    opened.
    """
    from graphneg.merging import merge as put_together

    with progress_bars("nothing was written; run the command again") as bars:
        merged = put_together(files, out, overwrite=overwrite, progress=bars)
    holds = counted(merged.items, "item")
    if merged.was_complete:
        print_already_complete(out, holds)
    else:
        print_message(f"{out}: {holds} of {counted(len(files), 'shard')}")


@command(
    "graphneg shards snapshot -o everything.snapshot",
    "graphneg shards snapshot -o words.snapshot --part donors --part shifts",
)
def snapshot(
    *,
    out: OutFile,
    part: list[str] | None = option(
        None,
        "Include only this part of the data. Repeatable. Default: all parts, but shifts only if the store "
        "has a shift graph. Each part is needed by the transforms and generators in parentheses: "
        "donors (topical_statement), utterances (insertion, replacement), shifts (perspective_substitution, "
        "counterfactual), sentences (overlap, hard), bank (random, bm25, semi-hard, token-substitution).",
        "PART",
    ),
    overwrite: Overwrite = False,
    where: StoreOptions,
) -> None:
    """Write a snapshot: a file with data about the whole corpus, which runs on single shards need.

    Run this command on a store with all dialogues. Then run graphneg load snapshot FILE on each machine that
    stores only one shard. The negatives of the shard will then be the same as in a run on the complete store.
    """
    from graphneg.records.runs import check_new
    from graphneg.snapshots import PARTS, Snapshot

    check_new(out, overwrite)
    with (
        where.opened() as graph,
        progress_bars("nothing was written; run the command again") as bars,
    ):
        # By default, include all parts. If the store has no shift graph, the part "shifts" is left out.
        chosen = part or [each for each in PARTS if each != "shifts" or graph.info().counts.get("SHIFTS_TO")]
        made = Snapshot.write(graph.store, out, chosen, bars)
    print_message(f"{out}: snapshot {made.digest[:8]} of {', '.join(made.parts)}")


app = group(
    "shards",
    "Several machines: join the files that they wrote, and prepare data that all of them need.",
    (merge, snapshot),
)

"""``graphneg merge``: what shards made becomes what one run would have made."""

from __future__ import annotations

from pathlib import Path

from graphneg.cli.commands import argument, job
from graphneg.cli.options import OutFile, Overwrite
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

"""``graphneg run``: a pipeline from a file, on this machine or on a cluster."""

from __future__ import annotations

from pathlib import Path

from graphneg.cli.commands import argument, job, option
from graphneg.cli.options import Overwrite
from graphneg.cli.store import SHOWN_REJECTIONS
from graphneg.cli.terminal import counted, say, say_complete, working


@job(
    "graphneg run pipeline.yaml",
    "graphneg run pipeline.yaml --ray local",
    "graphneg run pipeline.yaml --ray 10.0.0.1:6379",
)
def run(
    *,
    pipeline: Path = argument(..., "What to load, parse and make, as docs/clusters.md shows.", "PIPELINE"),
    ray: str | None = option(
        None, "By the nodes of the Ray cluster there; local: of a cluster of this machine.", "HOST:PORT"
    ),
    overwrite: Overwrite = False,
) -> None:
    """Load, parse and make negatives in blocks, on one machine or many.

    The file is the one that load, parse and negatives (or generate) give one after another, byte for
    byte. Blocks that are done are kept, and made no second time.
    """
    from graphneg.model import Rejected
    from graphneg.pipeline import read_pipeline, run_pipeline

    what, refused = read_pipeline(pipeline), list[Rejected]()
    with working("blocks that are done are kept; the same command makes the others") as bars:
        if ray is None:
            made = run_pipeline(what, progress=bars, overwrite=overwrite, on_rejected=refused.append)
        else:
            from graphneg.ray import connected, run_on

            with connected(ray):
                made = run_on(what, bars, overwrite=overwrite, on_rejected=refused.append)
    for one in refused[:SHOWN_REJECTIONS]:
        say(f"  {one.place}: {one.reason}")
    if (more := len(refused) - SHOWN_REJECTIONS) > 0:
        say(f"  and {more:,} more")
    holds = counted(made.items, "negative")
    if made.was_complete:
        say_complete(what.write, holds)
    else:
        say(f"{what.write}: {holds} of {counted(what.blocks, 'block')}")

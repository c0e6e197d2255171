"""Define the command ``run``, which loads and parses dialogues and makes negatives from them.

A pipeline file describes which data are loaded, how they are parsed and which negatives are made. The
dialogues are divided into blocks, which can be processed on a Ray cluster. Finished blocks are kept, so that
the same command continues an interrupted run.

Example::

    graphneg run pipeline.yaml              # one block after another on this machine
    graphneg run pipeline.yaml --ray local  # several blocks at once, on the cores of this machine
"""

from __future__ import annotations

from pathlib import Path

from graphneg.cli.commands import argument, option, training_command
from graphneg.cli.options import Overwrite
from graphneg.cli.store import SHOWN_REJECTIONS
from graphneg.cli.terminal import counted, print_already_complete, print_message, progress_bars


@training_command(
    "graphneg run pipeline.yaml",
    "graphneg run pipeline.yaml --ray local",
    "graphneg run pipeline.yaml --ray 10.0.0.1:6379",
)
def run(
    *,
    pipeline: Path = argument(
        ...,
        "The pipeline file: what to load, parse and make. docs/clusters.md describes its format.",
        "PIPELINE",
    ),
    ray: str | None = option(
        None,
        'Process the blocks on the Ray cluster at this address. With "local", start a cluster on '
        "this machine. Default: no cluster.",
        "HOST:PORT",
    ),
    overwrite: Overwrite = False,
) -> None:
    """Load dialogues, parse them and make negatives, in blocks, on one machine or many.

    The output is the same, byte for byte, as if the commands `load`, `parse` and `negatives` (or `generate`)
    were run one after another. Finished blocks are kept: if a run is interrupted, run the same command again
    to process the remaining blocks.
    """
    from graphneg.model import Rejected
    from graphneg.pipeline import read_pipeline, run_pipeline

    what, refused = read_pipeline(pipeline), list[Rejected]()
    with progress_bars("finished blocks are kept; run the same command again to continue") as bars:
        if ray is None:
            made = run_pipeline(what, progress=bars, overwrite=overwrite, on_rejected=refused.append)
        else:
            # Import Ray only if it is used, because it is an optional dependency.
            from graphneg.ray import connected, run_on

            with connected(ray):
                made = run_on(what, bars, overwrite=overwrite, on_rejected=refused.append)
    for one in refused[:SHOWN_REJECTIONS]:
        print_message(f"  {one.place}: {one.reason}")
    if (more := len(refused) - SHOWN_REJECTIONS) > 0:
        print_message(f"  and {more:,} more")
    holds = counted(made.items, "negative")
    if made.was_complete:
        print_already_complete(what.write, holds)
    else:
        print_message(f"{what.write}: {holds} of {counted(what.blocks, 'block')}")

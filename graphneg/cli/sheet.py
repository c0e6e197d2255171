"""``graphneg sheet``: negatives of several sources to be read without knowing which is which."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from typer import BadParameter

from graphneg.cli.commands import argument, job, option, panel
from graphneg.cli.options import Json, Overwrite
from graphneg.cli.tables import figures_table, show
from graphneg.cli.terminal import counted, note, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from graphneg.evaluation.quality_sheets import Line
    from graphneg.statistics import Estimate

_to_read = panel("Reading a filled sheet")


@job(
    "graphneg sheet hard.jsonl edits.jsonl --human adversarial.json --n 60 -o sheet.csv",
    "graphneg sheet old=before/hard.jsonl new=after/hard.jsonl --seed 3 -o sheet.csv",
    "graphneg sheet --read sheet.csv",
    "graphneg sheet --read filled.csv --key sheet.key.json --json",
)
def sheet(
    files: list[str] | None = argument(
        None, "Negatives (.jsonl, .parquet), each file a source; NAME=FILE names it.", "FILE..."
    ),
    human: list[Path] | None = option(
        None,
        "Contexts in the shape of DailyDialog++: their adversarial responses are a source. Repeatable.",
    ),
    n: int = option(60, "Negatives of each source.", min=1),
    seed: int = option(0, "The same seed draws the same sheet."),
    out: Path | None = option(None, "The sheet to write.", "SHEET.csv", "--out", "-o"),
    overwrite: Overwrite = False,
    read: Path | None = _to_read(None, "A filled sheet: tell what was said of each source.", "SHEET.csv"),
    key: Path | None = _to_read(None, "Its key, where it does not lie beside the sheet."),
    json: Json = False,
) -> None:
    """Draw a sheet of negatives to be read blindly; read one that is filled.

    The sheet has negatives of all sources in an order of chance, on the same contexts where sources share
    any. A reader fills three columns: grammatical (yes, no), sensible (yes, no: could somebody say it?) and
    verdict (wrong, arguable, right: as a response there). SHEET.key.json says where each row comes from:
    keep it from the reader.

    Read back, usable is what is grammatical, sensible and wrong; intervals are Wilson's, 95%. Rows with
    an empty column are counted apart.
    """
    if (out is None) == (read is None):
        raise BadParameter("draw a sheet with --out, or read one with --read")
    if read is not None:
        if files or human:
            raise BadParameter("a sheet that is read needs no files", param_hint="--read")
        _read(read, key, json)
    elif out is not None:
        _draw(out, files or [], human or [], n, seed, overwrite)


def _draw(out: Path, files: Sequence[str], human: Sequence[Path], n: int, seed: int, overwrite: bool) -> None:
    from graphneg.evaluation.quality_sheets import draw_sheet

    drawn = draw_sheet(files, human, each=n, seed=seed)
    key = drawn.write(out, overwrite=overwrite)
    for name, missing in drawn.too_few.items():
        note(f"{name}: {missing} fewer than the {n} asked for")
    if drawn.left_out:
        note(f"{counted(drawn.left_out, 'record')} left out: right responses, or edited dialogues")
    say(f"{out}: {counted(len(drawn.rows), 'row')} to be read; {key} keeps where they come from")


def _read(sheet: Path, key: Path | None, json: bool) -> None:
    from graphneg.evaluation.quality_sheets import read_verdicts

    found = read_verdicts(sheet, key)
    tables = [_table("source", found.sources)]
    if found.transforms:
        tables.append(_table("transform", found.transforms))
    show(json, [found.as_dict()], *tables)
    if found.unfilled:
        note(f"{counted(found.unfilled, 'row')} not filled, and not counted")
    say(f"{counted(found.read, 'row')} read")


def _table(what: str, lines: Sequence[Line]) -> Table:
    from graphneg.evaluation.quality_sheets import SHARES

    rows = [
        (line.name, f"{line.read:,}", *(_percent(getattr(line, share)) for share in SHARES)) for line in lines
    ]
    return figures_table(what, "read", *SHARES, rows=rows)


def _percent(share: Estimate) -> str:
    """A share in percent, and below it its interval."""
    return f"{share.value:.0%}\n{share.low:.0%}-{share.high:.0%}"

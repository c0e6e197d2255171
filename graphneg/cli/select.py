"""``graphneg select``: keep the responses that a language model finds likely, or those that it does not."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.terminal import add_command, counted, messages, note, say, stopping

if TYPE_CHECKING:
    from graphneg.selection import Bidirectional, Selected, Separation, Thresholds

STANDARD_OUTPUT = "-"
MODELS, LIMITS = "Language models", "Thresholds"


class Kept(StrEnum):
    """Responses that fit their contexts, or the others."""

    fitting = "fitting"
    unfitting = "unfitting"


def register(app: typer.Typer) -> None:
    add_command(
        app,
        select,
        "graphneg select negatives.jsonl -o hard.jsonl --model path/to/model --validation right.jsonl",
        "graphneg select augmented.jsonl -o best.jsonl --model forward --backward-model backward "
        "--forward-threshold 40 --backward-threshold 60 --per-context 5",
    )


def select(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Records, .jsonl or .parquet.")],
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="FILE", help="A .jsonl or .parquet file; - prints JSON lines."),
    ],
    model: Annotated[
        str, typer.Option(metavar="PATH_OR_ID", help="A causal language model.", rich_help_panel=MODELS)
    ],
    backward_model: Annotated[
        str | None,
        typer.Option(
            metavar="PATH_OR_ID",
            help="One that was trained to tell what was answered; else the same.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    device: Annotated[
        str, typer.Option(help="cpu, cuda, mps; auto is the best there is.", rich_help_panel=MODELS)
    ] = "auto",
    offline: Annotated[
        bool, typer.Option("--offline", help="Fetch nothing from a hub.", rich_help_panel=MODELS)
    ] = False,
    validation: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Records with label 1, to learn the thresholds from: against random pairs of them.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    quantile: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Thresholds that keep this share of right pairs; else those that separate best.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    forward_threshold: Annotated[
        float | None, typer.Option(help="The highest forward perplexity.", rich_help_panel=LIMITS)
    ] = None,
    backward_threshold: Annotated[
        float | None, typer.Option(help="The highest backward perplexity.", rich_help_panel=LIMITS)
    ] = None,
    keep: Annotated[Kept, typer.Option(help="What is kept.")] = Kept.fitting,
    per_context: Annotated[
        int | None, typer.Option(min=1, help="At most so many of each context, the best ranked.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the random pairs.")] = 0,
    batch: Annotated[int, typer.Option(min=1, help="Contexts at a time; changes no result.")] = 32,
) -> None:
    """Keep of some records those whose response fits its context, by forward and backward perplexity.

    A file is resumable: stopped at any moment, the same command goes on where it was and ends
    with the same bytes. What is kept has both perplexities among its scores and stands, context by
    context, in the order of the backward one.
    """
    given = (forward_threshold, backward_threshold)
    if validation is None and None in given:
        raise typer.BadParameter(
            "say which perplexities are too high: --validation FILE, "
            "or --forward-threshold and --backward-threshold"
        )
    for name, path in (("FILE", file), ("--validation", validation)):
        if path is not None and not path.is_file():
            raise typer.BadParameter(f"{path}: there is no such file", param_hint=name)
    if out != STANDARD_OUTPUT and Path(out).resolve() == file.resolve():
        raise typer.BadParameter(f"{out} is what is read; name another file", param_hint="--out")
    from graphneg.cli.bars import Bars
    from graphneg.output import check_destination
    from graphneg.selection import Selected, Selection

    check_destination(out)
    scorer = _scorer(model, backward_model, device, offline)
    with Bars() as bars, stopping(f"{out}.part keeps what was chosen; the same command goes on from there"):
        thresholds = _thresholds(scorer, given, validation, quantile, seed)
        selection = Selection(thresholds, keep.value, per_context)
        selected = Selected(file, scorer, selection, batch=batch, progress=bars)
        (selected.to_parquet if out.endswith(".parquet") else selected.to_jsonl)(out)
    _tell(selected, out)


def _scorer(model: str, backward_model: str | None, device: str, offline: bool) -> Bidirectional:
    from graphneg.language_models import load_causal
    from graphneg.selection import Bidirectional

    with messages().status(f"loading {model}"):
        forward = load_causal(model, device=device, offline=offline)
        if backward_model is None:
            return Bidirectional(forward, forward)
        return Bidirectional(forward, load_causal(backward_model, device=device, offline=offline))


def _thresholds(
    scorer: Bidirectional,
    given: tuple[float | None, float | None],
    validation: Path | None,
    quantile: float | None,
    seed: int,
) -> Thresholds:
    """Those that are given; what is not given, from the validation file."""
    from graphneg.selection import Thresholds, learn_thresholds
    from graphneg.selection.selecting import read_records

    forward, backward = given
    if forward is None or backward is None:
        assert validation is not None
        with messages().status("learning thresholds"):
            learned = learn_thresholds(read_records(validation), scorer, quantile=quantile, seed=seed)
        for name, one in zip(("forward", "backward"), learned, strict=True):
            _explain(name, one)
        forward = learned[0].threshold if forward is None else forward
        backward = learned[1].threshold if backward is None else backward
    return Thresholds(forward, backward)


def _explain(name: str, found: Separation) -> None:
    say(
        f"{name} perplexity up to {found.threshold:.1f}: {found.right_kept:.0%} of right pairs, "
        f"{found.random_kept:.0%} of random ones"
    )


def _tell(selected: Selected, out: str) -> None:
    from rich.box import SIMPLE_HEAD

    if selected.resumed.discarded:
        note(f"started anew: {selected.resumed.discarded}")
    table = selected.summary.table()
    table.box = SIMPLE_HEAD
    messages().print(table)
    if out != STANDARD_OUTPUT:
        say(f"{out}: {counted(selected.summary.negatives, 'record')} kept")

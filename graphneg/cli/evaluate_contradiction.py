"""``graphneg evaluate contradiction``: a detector against labelled responses, by response generator."""

from __future__ import annotations

from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.contradictions import EmbedderOption, made_responses
from graphneg.cli.terminal import add_job, counted, figures_table, named_values, results, say, stopping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphneg.evaluation.cross_validation import Lessons
    from graphneg.evaluation.detection import Detected, Detection, Estimate
    from graphneg.ingest.labelled import Labelled


LEFT_OUT = "Leaving one generator out"


class Source(StrEnum):
    """What is learned when a generator is left out."""

    labelled = "labelled"
    made = "made"
    both = "both"


def register(app: typer.Typer) -> None:
    add_job(
        app,
        contradiction,
        "graphneg evaluate contradiction labelled.jsonl --model detector",
        "graphneg evaluate contradiction labelled.jsonl --encoder microsoft/MiniLM-L12-H384-uncased -o folds",
        "graphneg evaluate contradiction labelled.jsonl --encoder path/to/encoder --made negatives.jsonl "
        "--source both -o folds --json",
    )


def contradiction(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Labelled responses, JSON lines as Sato et al. publish them."),
    ],
    model: Annotated[
        str | None, typer.Option(metavar="PATH|ID", help="A trained detector: a folder or a hub id.")
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="In place of a model: a score for each response, in order."),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="PATH|ID",
            help="In place of a detector: an encoder, trained once for each generator without that one.",
            rich_help_panel=LEFT_OUT,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Where detectors are kept.", rich_help_panel=LEFT_OUT
        ),
    ] = None,
    source: Annotated[
        Source,
        typer.Option(
            help="What is learned: the labelled responses of other generators, graph-made ones, or both.",
            rich_help_panel=LEFT_OUT,
        ),
    ] = Source.labelled,
    made: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Negatives of the recipe contradiction (.jsonl, .parquet). Repeatable.",
            rich_help_panel=LEFT_OUT,
        ),
    ] = None,
    embedder: EmbedderOption = None,
    epochs: Annotated[
        int, typer.Option(min=1, help="Passes over labelled responses.", rich_help_panel=LEFT_OUT)
    ] = 4,
    made_epochs: Annotated[
        int, typer.Option(min=1, help="Passes over graph-made responses, before.", rich_help_panel=LEFT_OUT)
    ] = 1,
    freeze: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Parameters that do not learn. Repeatable.", rich_help_panel=LEFT_OUT
        ),
    ] = None,
    dropout: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="In place of the encoder's own.", rich_help_panel=LEFT_OUT),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="One of transformers' TrainingArguments; repeatable.",
            rich_help_panel=LEFT_OUT,
        ),
    ] = None,
    threshold: Annotated[float, typer.Option(help="A score from here on says: contradictory.")] = 0.5,
    resamples: Annotated[int, typer.Option(min=0, help="Draws for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of training and intervals.")] = 0,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda; else the best there is.", show_default=False)
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing from a model hub.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a generator.")] = False,
) -> None:
    """Tell contradictory responses from others: accuracy, balanced accuracy, F1, AUC, by generator.

    Two of three annotators make a response contradictory, none makes it not; what one of three calls
    contradictory does not count. With --encoder a detector is trained for each generator on the
    responses of the others, to contexts that it did not answer. Intervals hold 95% of resamples.
    """
    from graphneg.evaluation.cross_validation import Lessons
    from graphneg.evaluation.detection import detection
    from graphneg.ingest.labelled import read_labelled

    if sum(one is not None for one in (model, scores, encoder)) != 1:
        raise typer.BadParameter("give one of --model, --scores and --encoder")
    labelled = read_labelled(files)
    if encoder is None:
        given = _scores(labelled, model, scores, device, offline)
        found = detection(labelled, given, threshold=threshold, resamples=resamples, seed=seed)
    else:
        if out is None:
            raise typer.BadParameter("name the folder that keeps detectors", param_hint="--out")
        if source is not Source.labelled and not made:
            raise typer.BadParameter(f"--source {source.value} needs --made", param_hint="--made")
        lessons = Lessons(
            epochs=epochs,
            made_epochs=made_epochs,
            frozen=tuple(freeze or ()),
            dropout=dropout,
            device=device,
            offline=offline,
            arguments=named_values(option or (), "--option"),
        )
        tested, given = _left_out(
            labelled,
            encoder,
            out,
            source,
            made_responses(made, embedder, seed=seed, offline=offline),
            lessons,
            seed,
        )
        found = detection(tested, given, threshold=threshold, resamples=resamples, seed=seed)
    _tell(found, json)


def _scores(
    labelled: list[Labelled], model: str | None, scores: Path | None, device: str | None, offline: bool
) -> list[float]:
    from graphneg.evaluation.correlation import read_scores
    from graphneg.scorers.contradiction import ContradictionDetector

    if scores is not None:
        return read_scores(scores, len(labelled))
    assert model is not None
    detector = ContradictionDetector.from_pretrained(model, device=device, offline=offline)
    return detector.score([(one.response, one.said) for one in labelled])


def _left_out(
    labelled: list[Labelled],
    encoder: str,
    out: Path,
    source: Source,
    made: Sequence[Labelled],
    lessons: Lessons,
    seed: int,
) -> tuple[Sequence[Labelled], Sequence[float]]:
    """The responses, and scores by detectors that never saw their generator."""
    from graphneg.cli.terminal import Bars
    from graphneg.evaluation.cross_validation import cross_validate, leave_one_out

    for fold in leave_one_out(labelled):
        dropped = f"; {counted(fold.left_out, 'response')} to tested contexts left out" * bool(fold.left_out)
        say(f"{fold.generator}: {len(fold.train):,} to train on, {len(fold.test):,} to test{dropped}")
    with stopping(f"{out} keeps what was learned; the same command goes on from there"), Bars() as bars:
        found = cross_validate(
            labelled,
            encoder,
            out,
            source=source.value,
            made=made,
            lessons=lessons,
            seed=seed,
            progress=bars,
        )
    return found.tested, found.scores


def _tell(found: Detection, json: bool) -> None:
    if json:
        for one in found.as_dicts():
            typer.echo(dumps(one, ensure_ascii=False))
        return
    headers = ("generator", "responses", "contra-\ndictory", "accuracy", "balanced", "F1", "AUC")
    table = figures_table(*headers)
    for one in (*found.generators, found.mean):
        table.add_row(*_cells(one))
    results().print(table)


def _cells(one: Detected) -> list[str]:
    figures = (one.accuracy, one.balanced_accuracy, one.f1, one.auc)
    return [one.generator, f"{one.responses:,}", f"{one.contradictory:,}", *map(_shown, figures)]


def _shown(one: Estimate) -> str:
    return f"{one.value:.3f}\n{one.low:.2f}-{one.high:.2f}"

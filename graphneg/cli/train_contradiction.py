"""``graphneg train contradiction``: a detector of responses that contradict what their speaker said."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphneg.cli.made_responses import EmbedderOption, made_responses
from graphneg.cli.options import named_values
from graphneg.cli.terminal import add_job, counted, note, say, stopping_training


def register(app: typer.Typer) -> None:
    add_job(
        app,
        contradiction,
        "graphneg train contradiction --made negatives.jsonl --model path/to/encoder -o made",
        "graphneg train contradiction labelled.jsonl --model made --epochs 4 -o detector",
    )


def contradiction(
    model: Annotated[
        str,
        typer.Option(
            metavar="PATH_OR_ID",
            help="The encoder to start from, or a detector to go on with: folder or hub id.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the detector goes.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...", help="Labelled responses, JSON lines as Sato et al. publish them."
        ),
    ] = None,
    made: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Negatives of the recipe contradiction (.jsonl, .parquet). Repeatable.",
        ),
    ] = None,
    embedder: EmbedderOption = None,
    held_out: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Labelled responses whose texts are not learned. Repeatable."),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the responses.")] = 2,
    rate: Annotated[float, typer.Option(min=0, help="Learning rate.")] = 5e-5,
    batch: Annotated[int, typer.Option(min=1, help="Pairs of one step.")] = 16,
    max_tokens: Annotated[
        int, typer.Option(min=8, help="Of a pair; earlier utterances lose their beginning.")
    ] = 128,
    freeze: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Parameters that do not learn, such as embeddings. Repeatable."),
    ] = None,
    dropout: Annotated[
        float | None, typer.Option(min=0, max=1, help="In place of the model's own; 0 is quickest.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="One of transformers' TrainingArguments; repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed trains the same model on a CPU.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a model that is there.")] = False,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda; else the best there is.", show_default=False)
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing from a model hub.")] = False,
) -> None:
    """Train a detector of contradictions, on labelled responses or on graph-made ones.

    It reads a response and an earlier utterance of the same speaker. Trained on graph-made responses
    first and on labelled ones then (--model takes the first one's folder), it learns most. The folder is
    one that transformers and sentence-transformers read. Stopped, the same command goes on.
    """
    from graphneg.cli.bars import Bars
    from graphneg.contradiction.detector import new_detector
    from graphneg.contradiction.folds import tested_texts
    from graphneg.contradiction.labelled import read_labelled
    from graphneg.training.contradiction import pairs_of, train_detector

    if not files and not made:
        raise typer.BadParameter("name labelled responses, or negatives with --made", param_hint="FILE")
    labelled = [
        *(read_labelled(files) if files else ()),
        *made_responses(made, embedder, seed=seed, offline=offline),
    ]
    kept_out = tested_texts(read_labelled(held_out)) if held_out else frozenset[str]()
    detector = new_detector(
        model,
        seed=seed,
        max_tokens=max_tokens,
        frozen=freeze or (),
        dropout=dropout,
        device=device,
        offline=offline,
    )
    arguments = {
        "learning_rate": rate,
        "per_device_train_batch_size": batch,
        **named_values(option or (), "--option"),
    }
    with (
        stopping_training(out),
        Bars() as bars,
    ):
        report = train_detector(
            detector,
            pairs_of(labelled),
            out,
            epochs=epochs,
            held_out=kept_out,
            seed=seed,
            overwrite=overwrite,
            progress=bars,
            **arguments,
        )
    if report.held_out:
        note(f"{counted(report.held_out, 'response')} were left out, being held out")
    pairs = ", ".join(f"{name} {amount:,}" for name, amount in sorted(report.pairs.items()))
    say(
        f"{report.folder}: trained in {counted(report.steps, 'step')}, loss {report.loss:.3f}; pairs: {pairs}"
    )

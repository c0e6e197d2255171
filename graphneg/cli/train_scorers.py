"""graphneg train coherence and contradiction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.contradictions import EmbedderOption, made_responses
from graphneg.cli.terminal import add_job, counted, named_values, note, say, stopping_training

if TYPE_CHECKING:
    from graphneg.training.coherence import CoherenceReport


# ``graphneg train coherence``: a scorer that tells dialogues from edited ones.


def register(app: typer.Typer) -> None:
    add_job(
        app,
        coherence,
        "graphneg train coherence edits.jsonl --model microsoft/MiniLM-L12-H384-uncased -o scorer",
        "graphneg train coherence edits.jsonl shuffled.jsonl --mix C-cont=2 --mix turn-shuffle=1 "
        "--model roberta-base -o scorer",
        "graphneg train coherence edits.jsonl --held-out fed_data.json --model path/to/encoder -o scorer",
    )


def coherence(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Files of negatives (.jsonl, .parquet), target dialogue."),
    ],
    model: Annotated[
        str, typer.Option(metavar="PATH_OR_ID", help="The encoder to start from: a folder or a hub id.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the trained scorer goes.")
    ],
    mix: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N",
            help="So many edited versions of each dialogue by a recipe, generator or category. "
            "Repeatable; else 1 of each recipe and generator.",
            show_default=False,
        ),
    ] = None,
    held_out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Ratings (.json) or negatives; no dialogue that shares a turn with them is learned.",
        ),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes; each draws other versions and windows.")] = 2,
    rate: Annotated[float, typer.Option(min=0, help="Learning rate.")] = 5e-5,
    batch: Annotated[int, typer.Option(min=1, help="Windows of one step.")] = 16,
    max_tokens: Annotated[int, typer.Option(min=8, help="Longer dialogues are cut by turns.")] = 256,
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
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the model that the folder holds.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed trains the same model on a CPU.")] = 0,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda; else the best there is.", show_default=False)
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing from a model hub.")] = False,
) -> None:
    """Train an encoder to tell coherent dialogues from edited ones, on files of negatives.

    The originals of the negatives are the coherent ones. Dialogues that are longer than a window are
    cut by turns. The folder is one that transformers reads. Stopped, the same command goes on from the
    last checkpoint.
    """
    from graphneg.cli.terminal import Bars
    from graphneg.scorers.coherence import CoherenceScorer, read_dialogues
    from graphneg.training.coherence import train_coherence

    read = read_dialogues(files)
    wanted = _mix(mix)
    kept_out = _texts(held_out or ())
    scorer = CoherenceScorer.new(
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
        report = train_coherence(
            scorer,
            read.dialogues,
            out,
            mix=wanted,
            epochs=epochs,
            held_out=kept_out,
            seed=seed,
            overwrite=overwrite,
            progress=bars,
            **arguments,
        )
    if read.responses:
        note(f"{counted(read.responses, 'record')} edit no dialogue and were left out: target response")
    _tell(report, len(read.dialogues))
    say(f"categories: {', '.join(scorer.categories) or 'none'}")


def _mix(given: list[str] | None) -> dict[str, int] | None:
    if not given:
        return None
    amounts = named_values(given, "--mix")
    for name, amount in amounts.items():
        if not isinstance(amount, int) or isinstance(amount, bool) or amount < 1:
            raise typer.BadParameter(f"{name}={amount}: a whole number from 1", param_hint="--mix")
    return amounts


def _texts(files: list[Path] | tuple[()]) -> list[str]:
    """All that is said in rated dialogues (.json) and in negatives' originals."""
    from graphneg.evaluation.correlation import read_ratings
    from graphneg.scorers.coherence import originals_of

    found: list[str] = []
    for path in files:
        if path.suffix == ".json":
            found += [text for one in read_ratings([path]) for _, text in one.said]
        else:
            found += [text for turns in originals_of([path]) for _, text in turns]
    return found


def _tell(report: CoherenceReport, dialogues: int) -> None:
    for name, missing in sorted(report.shortfall.versions.items()):
        few = counted(report.shortfall.dialogues[name], "dialogue")
        note(f"{name}: {few} of {dialogues:,} have too few; {missing:,} an epoch are missing")
    if report.shortfall.held_out:
        note(f"{counted(report.shortfall.held_out, 'edited dialogue')} were left out, sharing held-out turns")
    if report.cut_turns:
        note(f"{counted(report.cut_turns, 'turn')} longer than a window lost the end")
    made = ", ".join(f"{name} {amount:,}" for name, amount in sorted(report.windows.items()))
    steps = counted(report.steps, "step")
    say(f"{report.folder}: trained in {steps}, loss {report.loss:.3f}; windows: {made}")


# ``graphneg train contradiction``: a detector of responses that contradict what their speaker said.


def register_train_contradiction(app: typer.Typer) -> None:
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
    from graphneg.cli.terminal import Bars
    from graphneg.evaluation.cross_validation import tested_texts
    from graphneg.ingest.labelled import read_labelled
    from graphneg.scorers.contradiction import ContradictionDetector
    from graphneg.training.contradiction import pairs_of, train_detector

    if not files and not made:
        raise typer.BadParameter("name labelled responses, or negatives with --made", param_hint="FILE")
    labelled = [
        *(read_labelled(files) if files else ()),
        *made_responses(made, embedder, seed=seed, offline=offline),
    ]
    kept_out = tested_texts(read_labelled(held_out)) if held_out else frozenset[str]()
    detector = ContradictionDetector.new(
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

"""``graphneg shift substitutes`` and ``graphneg shift train``: what replies could have moved to instead."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.terminal import (
    Corpora,
    Database,
    Limit,
    Password,
    Splits,
    StorePlace,
    Username,
    add_command,
    counted,
    messages,
    named_values,
    opened,
    plain_table,
    require_dialogues,
    results,
    say,
    stopping,
    stopping_training,
)

if TYPE_CHECKING:
    from graphneg.shift.keywords import KeywordExtractor
    from graphneg.shift.substitutes import Substitutes, SubstitutesReport


WHAT, HOW = "Of what", "Which substitutes"


class Trained(StrEnum):
    """Predictors that are trained."""

    seq2seq = "seq2seq"
    causal = "causal"


def register(app: typer.Typer) -> None:
    add_command(
        app,
        substitutes,
        "graphneg shift substitutes --post 'Shall we go to the market tomorrow?'",
        "graphneg shift substitutes --utterance dailydialog/test/12#3 --predictor embedding --model PATH",
        "graphneg shift substitutes -o substitutes.jsonl --corpus dailydialog --top 50",
    )
    add_command(
        app,
        train,
        "graphneg shift train seq2seq --model facebook/bart-base -o predictor",
        "graphneg shift train causal --model path/to/model -o predictor --limit 5000",
    )


def substitutes(
    post: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A post of your own.", rich_help_panel=WHAT)
    ] = None,
    utterance: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="A reply of the store: an utterance or a response.", rich_help_panel=WHAT
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Of every reply, to a .jsonl file.", rich_help_panel=WHAT
        ),
    ] = None,
    predictor: Annotated[
        str,
        typer.Option(
            help="frequency, embedding, seq2seq or causal, or one that is installed.", rich_help_panel=HOW
        ),
    ] = "frequency",
    model: Annotated[
        str | None,
        typer.Option(metavar="PATH_OR_ID", help="The predictor's model.", rich_help_panel=HOW),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Another option of the predictor; repeatable.", rich_help_panel=HOW
        ),
    ] = None,
    turns: Annotated[
        int, typer.Option(min=1, help="Keywords of so many turns are foci.", rich_help_panel=HOW)
    ] = 3,
    hops: Annotated[
        int, typer.Option(min=1, max=2, help="How far from a focus candidates are.", rich_help_panel=HOW)
    ] = 2,
    most: Annotated[
        int, typer.Option(min=1, help="At most so many candidates of a focus.", rich_help_panel=HOW)
    ] = 1000,
    size: Annotated[
        int, typer.Option(min=1, help="Candidates of a subset; one is taken of each.", rich_help_panel=HOW)
    ] = 5,
    seed: Annotated[int, typer.Option(help="The same seed makes the same subsets.", rich_help_panel=HOW)] = 0,
    top: Annotated[
        int, typer.Option(min=1, help="So many of the best substitutes.", rich_help_panel=HOW)
    ] = 20,
    language: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="Language of --post; else that of the shift graph."),
    ] = None,
    corpus: Corpora = None,
    split: Splits = None,
    limit: Limit = None,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Find other perspectives that a reply could move to: candidates of the shift graph, predicted.

    Each keyword before the reply is a focus; what it leads to, without the reply's own perspective, is
    split into subsets, and the predictor takes one of each. Give one of --post, --utterance and --out.
    A file is resumable: the same command goes on where it was stopped.
    """
    if sum(one is not None for one in (post, utterance, out)) != 1:
        raise typer.BadParameter("give one of --post, --utterance and --out")
    from graphneg.cli.terminal import Bars

    options = named_values(option or (), "--option") | ({"model": model} if model is not None else {})
    with opened(store, username, password, database) as graph:
        if out is not None:
            require_dialogues(graph, corpus or (), split or ())
        bars = Bars()
        with messages().status(f"loading {predictor}"):
            finder = graph.substitutes(
                _known(predictor),
                predictor_options=options,
                turns=turns,
                hops=hops,
                most=most,
                size=size,
                seed=seed,
                top=top,
                keywords=_keywords(language),
                corpora=corpus or (),
                splits=split or (),
                limit=limit,
                progress=bars,
            )
        if out is not None:
            with stopping(f"{out}.part keeps what was found; the same command goes on from there"), bars:
                report = finder.to_jsonl(out)
            _tell(report, out)
        elif utterance is not None:
            _print(finder.of_reply(utterance), turns)
        elif post is not None:
            _print(finder.of_post(post), turns)


def train(
    predictor: Annotated[Trained, typer.Argument(help="Which predictor.")],
    model: Annotated[
        str, typer.Option(metavar="PATH_OR_ID", help="The model to start from, by folder or hub id.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the trained model goes.")],
    epochs: Annotated[float, typer.Option(min=0, help="Passes over the pairs.")] = 1.0,
    rate: Annotated[float, typer.Option(min=0, help="Learning rate.")] = 5e-5,
    batch: Annotated[int, typer.Option(min=1, help="Pairs of one step.")] = 8,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many pairs, chosen by --seed.")] = None,
    size: Annotated[int, typer.Option(min=1, help="Candidates of a subset (seq2seq).")] = 5,
    seed: Annotated[int, typer.Option(help="The same seed trains the same model.")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda, mps; auto is the best there is.")] = "auto",
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing from a hub.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Remove the model or stopped run of the folder first.")
    ] = False,
    corpus: Corpora = None,
    split: Splits = None,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Fine-tune a language model on the pairs of the shift graph, for graphneg shift substitutes.

    seq2seq (BART, T5) learns to choose the reply's perspective among candidates; causal (GPT-2, Llama)
    to name it. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.cli.terminal import Bars
    from graphneg.shift.candidates import Splitting
    from graphneg.shift.substitutes import train_predictor
    from graphneg.store.dialogues import Selection

    with (
        opened(store, username, password, database) as graph,
        stopping_training(out),
        Bars() as bars,
    ):
        report = train_predictor(
            graph.store,
            predictor.value,
            model,
            out,
            selection=Selection(tuple(corpus or ()), tuple(split or ())),
            splitting=Splitting(size, seed),
            limit=limit,
            seed=seed,
            device=device,
            offline=offline,
            overwrite=overwrite,
            progress=bars,
            num_train_epochs=epochs,
            learning_rate=rate,
            per_device_train_batch_size=batch,
        )
    say(
        f"{out}: trained on {counted(report.examples, 'pair')} in {counted(report.steps, 'step')}, "
        f"loss {report.loss:.3f}" + (f"; {report.skipped:,} too long" if report.skipped else "")
    )


def _known(predictor: str) -> str:
    from graphneg.shift.prediction import predictor_names

    if predictor not in predictor_names():
        raise typer.BadParameter(
            f"no predictor named {predictor!r}; choose one of {', '.join(predictor_names())}"
        )
    return predictor


def _keywords(language: str | None) -> KeywordExtractor | None:
    from graphneg.shift.keywords import get_extractor

    return None if language is None else get_extractor("yake", language)


def _print(found: Substitutes, turns: int) -> None:
    from rich.text import Text

    from graphneg.errors import InputError

    reply = found.reply
    if not found.ranked:
        keywords = sorted({text for some in reply.keywords[-turns:] for text in some})
        raise InputError(
            f"no keyword of the post leads to another perspective in the shift graph: "
            f"{', '.join(keywords) or 'it has none'}"
        )
    if reply.text:
        say(f"{reply.turns[-1]}\n=> {reply.text} ({reply.focus or '-'} to {reply.perspective or '-'})")
    table = plain_table("focus", "substitute", "score")
    for one in found.ranked:
        table.add_row(Text(one.focus), Text(one.text, "bold"), f"{one.score:.4g}")
    results().print(table)


def _tell(report: SubstitutesReport, out: Path) -> None:
    say(f"{out}: {report.written:,} of {report.replies:,} replies have substitutes")
    for why, amount in sorted(report.skipped.items()):
        say(f"  {amount:,}: {why}")

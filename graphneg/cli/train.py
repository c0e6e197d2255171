"""``graphneg train``: language models trained on what is loaded, and rankers."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphneg.cli import train_ranker, train_scorers
from graphneg.cli.terminal import (
    Corpora,
    Database,
    Limit,
    Password,
    Splits,
    StorePlace,
    Username,
    add_job,
    counted,
    examples,
    named_values,
    opened,
    require_dialogues,
    say,
    stopping,
)

if TYPE_CHECKING:
    from graphneg.nn.fine_tuning import TrainingReport
    from graphneg.store.dialogues import Selection


Model = Annotated[
    str, typer.Option(metavar="PATH_OR_ID", help="The model to start from: a folder, a GGUF file, a hub id.")
]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the trained model goes.")]
Epochs = Annotated[float, typer.Option(min=0, help="Passes over the pairs.")]
Rate = Annotated[float, typer.Option(min=0, help="Learning rate.")]
Batch = Annotated[int, typer.Option(min=1, help="Pairs of one step.")]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option", metavar="NAME=VALUE", help="One of transformers' TrainingArguments; repeatable."
    ),
]
Seed = Annotated[int, typer.Option(help="The same seed trains the same model.")]
Device = Annotated[str, typer.Option(help="cpu, cuda, mps; auto is the best there is.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Remove the model or stopped run of the folder first.")
]
Offline = Annotated[bool, typer.Option("--offline", help="Fetch nothing from a hub.")]


class Tells(StrEnum):
    """What a scorer learns to tell: the reply, or what was replied to."""

    reply = "reply"
    post = "post"


app = typer.Typer(
    name="train",
    help="Train language models on the loaded dialogues, and rankers on negatives.",
    epilog=examples(
        "graphneg train lm --model gpt2 -o forward",
        "graphneg train counterfactual --model gpt2 -o counterfactual",
    ),
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def register(parent: typer.Typer) -> None:
    add_job(
        app,
        lm,
        "graphneg train lm --model gpt2 -o forward --corpus dailydialog",
        "graphneg train lm --model gpt2 -o backward --tells post",
    )
    add_job(
        app,
        counterfactual,
        "graphneg train counterfactual --model gpt2 -o counterfactual --epochs 3",
        "graphneg train counterfactual --model facebook/bart-base -o counterfactual --option bf16=true",
    )
    add_job(
        app,
        keywords,
        "graphneg train keywords --model gpt2 -o replies --epochs 2",
        "graphneg train keywords --model gpt2 -o replies --extractor yake --corpus dailydialog",
    )
    train_ranker.register_train_adapt(app)
    train_ranker.register(app)
    train_scorers.register(app)
    train_scorers.register_train_contradiction(app)
    parent.add_typer(app)


def lm(
    model: Model,
    out: Out,
    tells: Annotated[Tells, typer.Option(help="The reply, or the post that it replies to.")] = Tells.reply,
    epochs: Epochs = 1.0,
    rate: Rate = 5e-5,
    batch: Batch = 8,
    option: Options = None,
    seed: Seed = 0,
    device: Device = "auto",
    offline: Offline = False,
    overwrite: Overwrite = False,
    corpus: Corpora = None,
    split: Splits = None,
    limit: Limit = None,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Fine-tune a language model on dialogues, for graphneg select: replies, or the posts before them.

    Every turn is a reply to the ones before it, and so is every right response. Stopped, the same
    command goes on from the last checkpoint.
    """
    from graphneg.generators.selection import train_scorer

    arguments = _arguments(option, epochs, rate, batch, seed, overwrite)
    with opened(store, username, password, database) as graph:
        require_dialogues(graph, corpus or (), split or ())
        learn = partial(train_scorer, store=graph.store, out=out, tells=tells.value, **arguments)
        _run(partial(learn, selection=_selection(corpus, split, limit)), model, device, offline, out)


def counterfactual(
    model: Model,
    out: Out,
    epochs: Epochs = 1.0,
    rate: Rate = 5e-5,
    batch: Batch = 8,
    option: Options = None,
    seed: Seed = 0,
    device: Device = "auto",
    offline: Offline = False,
    overwrite: Overwrite = False,
    corpus: Corpora = None,
    split: Splits = None,
    limit: Limit = None,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Fine-tune a language model to reply to a post with a perspective, for graphneg generate counterfactual.

    A causal model (GPT-2, Llama) or a sequence-to-sequence one (BART, T5); graphneg shift build
    must have found perspectives before. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.generators.counterfactual_model import train_replies

    arguments = _arguments(option, epochs, rate, batch, seed, overwrite)
    with opened(store, username, password, database) as graph:
        require_dialogues(graph, corpus or (), split or ())
        learn = partial(train_replies, store=graph.store, out=out, **arguments)
        _run(partial(learn, selection=_selection(corpus, split, limit)), model, device, offline, out)


def keywords(
    model: Model,
    out: Out,
    extractor: Annotated[str, typer.Option(metavar="rake|yake", help="What finds the keywords.")] = "rake",
    language: Annotated[str, typer.Option(help="The language of the dialogues.")] = "en",
    epochs: Epochs = 1.0,
    rate: Rate = 5e-5,
    batch: Batch = 8,
    option: Options = None,
    seed: Seed = 0,
    device: Device = "auto",
    offline: Offline = False,
    overwrite: Overwrite = False,
    corpus: Corpora = None,
    split: Splits = None,
    limit: Limit = None,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Fine-tune a language model to reply with given words, for graphneg generate key-context and key-sem.

    Every turn is a reply to the ones before it, and so is every right response; the words are its
    own keywords. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.generators.base import ContextSelection, read_contexts
    from graphneg.generators.keywords.requests import train_replies
    from graphneg.shift.keywords import get_extractor

    arguments = _arguments(option, epochs, rate, batch, seed, overwrite)
    found = get_extractor(extractor, language)
    with opened(store, username, password, database) as graph:
        require_dialogues(graph, corpus or (), split or ())
        contexts = read_contexts(graph.store, ContextSelection(_selection(corpus, split, limit), "every"))
        learn = partial(train_replies, contexts=contexts, extractor=found, out=out, **arguments)
        _run(learn, model, device, offline, out)


def _arguments(
    option: list[str] | None, epochs: float, rate: float, batch: int, seed: int, overwrite: bool
) -> dict[str, Any]:
    """What the trainer is told; options go before the ones that have names of their own."""
    return {
        "seed": seed,
        "overwrite": overwrite,
        "num_train_epochs": epochs,
        "learning_rate": rate,
        "per_device_train_batch_size": batch,
        **named_values(option or (), "--option"),
    }


def _selection(corpus: list[str] | None, split: list[str] | None, limit: int | None) -> Selection:
    from graphneg.store.dialogues import Selection

    return Selection(tuple(corpus or ()), tuple(split or ()), limit)


def _run(learn: Callable[..., TrainingReport], model: str, device: str, offline: bool, out: Path) -> None:
    from graphneg.cli.terminal import Bars
    from graphneg.nn.models import load_either

    loaded = load_either(model, device=device, offline=offline)
    kept = f"{out}/checkpoints keeps what was learned; the same command goes on from there"
    with stopping(kept), Bars() as bars:
        report = learn(loaded, progress=bars)
    left_out = f"; {report.skipped:,} were empty or too long" if report.skipped else ""
    say(
        f"{out}: trained on {counted(report.examples, 'pair')} in {counted(report.steps, 'step')}, "
        f"loss {report.loss:.3f}{left_out}"
    )

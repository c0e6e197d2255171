"""``graphneg train lm``, ``counterfactual``, ``keywords``: language models, on dialogues of a store."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

from graphneg.cli.options import (
    DialogueOptions,
    LanguageModelTraining,
    OutFolder,
    StartModel,
    StoreOptions,
    job,
)
from graphneg.cli.terminal import (
    tell_trained,
    working,
)

if TYPE_CHECKING:
    from graphneg.nn.fine_tuning import TrainingReport


@job(
    "graphneg train lm --model gpt2 -o forward --corpus dailydialog",
    "graphneg train lm --model gpt2 -o backward --tells post",
)
def lm(
    model: StartModel,
    out: OutFolder,
    tells: Annotated[
        Literal["reply", "post"], Option(help="The reply, or the post that it replies to.")
    ] = "reply",
    *,
    lessons: LanguageModelTraining,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model on dialogues, for graphneg select: replies, or the posts before them.

    Every turn is a reply to the ones before it, and so is every right response. Stopped, the same
    command goes on from the last checkpoint.
    """
    from graphneg.generators.selection import train_scorer

    arguments = lessons.arguments
    with where.opened() as graph:
        chosen.require(graph)
        learn = partial(train_scorer, store=graph.store, selection=chosen.selection, tells=tells)
        _fine_tune(partial(learn, out=out, **arguments), model, lessons, out)


@job(
    "graphneg train counterfactual --model gpt2 -o counterfactual --epochs 3",
    "graphneg train counterfactual --model facebook/bart-base -o counterfactual --option bf16=true",
)
def counterfactual(
    model: StartModel,
    out: OutFolder,
    *,
    lessons: LanguageModelTraining,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model to reply to a post with a perspective, for graphneg generate counterfactual.

    A causal model (GPT-2, Llama) or a sequence-to-sequence one (BART, T5); graphneg shift build
    must have found perspectives before. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.generators.counterfactual_model import train_replies

    arguments = lessons.arguments
    with where.opened() as graph:
        chosen.require(graph)
        learn = partial(train_replies, store=graph.store, selection=chosen.selection)
        _fine_tune(partial(learn, out=out, **arguments), model, lessons, out)


@job(
    "graphneg train keywords --model gpt2 -o replies --epochs 2",
    "graphneg train keywords --model gpt2 -o replies --extractor yake --corpus dailydialog",
)
def keywords(
    model: StartModel,
    out: OutFolder,
    extractor: Annotated[str, Option(metavar="rake|yake", help="What finds the keywords.")] = "rake",
    language: Annotated[str, Option(help="The language of the dialogues.")] = "en",
    *,
    lessons: LanguageModelTraining,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model to reply with given words, for graphneg generate key-context and key-sem.

    Every turn is a reply to the ones before it, and so is every right response; the words are its
    own keywords. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.generators.base import ContextSelection, read_contexts
    from graphneg.generators.keywords.requests import train_replies
    from graphneg.shift.keywords import get_extractor

    arguments = lessons.arguments
    found = get_extractor(extractor, language)
    with where.opened() as graph:
        chosen.require(graph)
        contexts = read_contexts(graph.store, ContextSelection(chosen.selection, "every"))
        learn = partial(train_replies, contexts=contexts, extractor=found)
        _fine_tune(partial(learn, out=out, **arguments), model, lessons, out)


def _fine_tune(
    learn: Callable[..., TrainingReport], model: str, lessons: LanguageModelTraining, out: Path
) -> None:
    from graphneg.nn.models import load_either

    loaded = load_either(model, device=lessons.device, offline=lessons.offline)
    with working(f"{out}/checkpoints keeps what was learned; the same command goes on from there") as bars:
        report = learn(loaded, progress=bars)
    left_out = f"; {report.skipped:,} were empty or too long" if report.skipped else ""
    tell_trained(report, out, left_out)

"""Training a model to reply with a given perspective, on the dialogues of a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphneg.counterfactual.examples import REPLY_WITH_PERSPECTIVE, TASK
from graphneg.counterfactual.exchange import Exchange, example
from graphneg.editing.originals import Selection
from graphneg.errors import InputError
from graphneg.language_models import LanguageModel, TrainingReport, fine_tune
from graphneg.progress import Progress
from graphneg.shift.candidates import all_replies
from graphneg.store import Store


def exchanges_of(store: Store, selection: Selection | None = None) -> Iterator[Exchange]:
    """The replies of dialogues whose perspective is known, in the order of the store."""
    for _, replies in all_replies(store, selection or Selection()):
        for reply in replies:
            if reply.perspective is not None:
                yield Exchange(reply.turns, reply.perspective, reply.text)


def train_replies(
    model: LanguageModel,
    store: Store,
    out: str | Path,
    *,
    selection: Selection | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **arguments: Any,
) -> TrainingReport:
    """Train ``model`` to reply to a post with a perspective, and save it into ``out``.

    ``arguments`` are those of transformers' ``TrainingArguments`` and of `fine_tune`.

    Raises:
        InputError: no reply has a perspective, or ``out`` is taken.
    """
    examples = [example(one) for one in exchanges_of(store, selection)]
    if not examples:
        raise InputError("no reply in the store has a perspective: graphneg shift build finds them")
    setattr(model.model.config, TASK, REPLY_WITH_PERSPECTIVE)
    return fine_tune(model, examples, out, seed=seed, progress=progress, **arguments)

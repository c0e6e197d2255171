"""Pairs of a store's dialogues for training the two models that score: in the words they are asked in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from graphneg.editing.originals import Selection
from graphneg.errors import InputError
from graphneg.generators.contexts import WantedContexts, read_contexts
from graphneg.language_models import Example, LanguageModel, TrainingReport, fine_tune
from graphneg.progress import Progress
from graphneg.selection.scoring import before, behind
from graphneg.store import Store

Told = Literal["reply", "post"]


def train_scorer(
    model: LanguageModel,
    store: Store,
    out: str | Path,
    *,
    tells: Told = "reply",
    selection: Selection | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **arguments: Any,
) -> TrainingReport:
    """Train ``model`` on dialogues: to tell the ``reply`` from the turns before it, or the ``post`` from it.

    Every turn is a reply to the ones before it, and so is every right response. ``arguments`` are those
    of transformers' ``TrainingArguments`` and of `fine_tune`.

    Raises:
        InputError: there are no replies in the store, something else is to be told, or ``out`` is taken.
    """
    if tells not in _EXAMPLES:
        raise InputError(f"tells {tells!r}: choose one of {', '.join(_EXAMPLES)}")
    examples = list(_examples(store, selection or Selection(), _EXAMPLES[tells]))
    if not examples:
        raise InputError("no dialogue in the store has a reply to learn from")
    return fine_tune(model, examples, out, seed=seed, progress=progress, **arguments)


def _reply(turns: tuple[str, ...], response: str) -> Example:
    return Example(before(turns), " " + " ".join(response.split()))


def _post(turns: tuple[str, ...], response: str) -> Example:
    return Example(behind(response), " " + " ".join(turns[-1].split()))


_EXAMPLES: Mapping[str, Callable[[tuple[str, ...], str], Example]] = {"reply": _reply, "post": _post}


def _examples(
    store: Store, selection: Selection, example: Callable[[tuple[str, ...], str], Example]
) -> Iterator[Example]:
    for context in read_contexts(store, WantedContexts(selection, "every")):
        turns = tuple(turn.text for turn in context.turns)
        for response in context.positives:
            yield example(turns, response)

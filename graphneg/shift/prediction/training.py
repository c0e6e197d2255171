"""Fine-tunes a language model on the perspectives of a store, for the predictor of its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from graphneg.editing.originals import Selection
from graphneg.errors import InputError
from graphneg.language_models import TrainingReport, fine_tune, load_causal, load_seq2seq
from graphneg.progress import Progress
from graphneg.shift.candidates import Splitting
from graphneg.shift.likelihood import Shifts
from graphneg.shift.prediction.examples import causal_examples, seq2seq_examples
from graphneg.store import Store

Kind = Literal["seq2seq", "causal"]
KINDS: tuple[Kind, ...] = ("seq2seq", "causal")
_NOTHING = "no reply has a perspective to learn: graphneg shift build makes the shift graph"


def train_predictor(
    store: Store,
    kind: Kind,
    model: str | Path,
    out: str | Path,
    *,
    selection: Selection | None = None,
    splitting: Splitting | None = None,
    limit: int | None = None,
    seed: int = 0,
    device: str = "auto",
    offline: bool = False,
    progress: Progress | None = None,
    **arguments: Any,
) -> TrainingReport:
    """Fine-tune ``model``, a folder or hub id, on the pairs of a shift graph, and save it in ``out``.

    ``seq2seq`` learns the perspective from [post, focus, candidates], with subsets as ``splitting`` makes
    them; ``causal`` from post and focus. ``limit`` takes so many pairs, chosen by ``seed``; other
    ``arguments`` are transformers' ``TrainingArguments``. A run that was stopped goes on when the same
    call is made again.

    Raises:
        InputError: the store has no shift graph, ``out`` holds a model already, or an argument is wrong.
        ModelError: the model can't be had, or is of another kind.
    """
    if kind not in KINDS:
        raise InputError(f"predictor {kind!r} is not trained; choose one of {', '.join(KINDS)}")
    if not Shifts(store).prior:
        raise InputError(_NOTHING)
    if kind == "seq2seq":
        loaded = load_seq2seq(model, device=device, offline=offline)
        examples = seq2seq_examples(
            store, selection, splitting=splitting or Splitting(seed=seed), limit=limit
        )
    else:
        loaded = load_causal(model, device=device, offline=offline)
        examples = causal_examples(store, selection, limit=limit, seed=seed)
    if not examples:
        raise InputError(_NOTHING)
    return fine_tune(loaded, examples, out, seed=seed, progress=progress, **arguments)

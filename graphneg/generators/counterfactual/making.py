"""The generator made from plain options, as the command line gives them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphneg.errors import InputError
from graphneg.generators.counterfactual.generator import CounterfactualGenerator, Trials
from graphneg.generators.counterfactual.purpose import Augmentation, Purpose, UnrelatedPerspectives
from graphneg.generators.keywords.judging import Bounds, Judge
from graphneg.language_models import CausalLM, load_causal, load_either
from graphneg.shift.candidates import Reach
from graphneg.shift.likelihood import Shifts
from graphneg.shift.prediction import get_predictor
from graphneg.shift.substitutes import Prediction
from graphneg.store import Store

PURPOSES = ("negatives", "positives")


def counterfactual(
    store: Store,
    *,
    model: str | Path | None = None,
    purpose: str = "negatives",
    predictor: str = "frequency",
    predictor_options: Mapping[str, Any] | None = None,
    turns: int = 3,
    hops: int = 1,
    temperature: float = 0.7,
    tries: int = 8,
    pull: float | None = None,
    judge: str | Path | None = None,
    surprise: float = 14.0,
    alone: float = 40.0,
    worst: float = 11.0,
    words: int = 30,
    gguf_file: str | None = None,
    device: str = "auto",
    batch_size: int = 16,
    offline: bool = False,
) -> CounterfactualGenerator:
    """The generator ``counterfactual``.

    ``model`` is the folder or hub id of a causal or sequence-to-sequence model, best one that
    `train_replies` trained. ``purpose`` is ``negatives`` or ``positives``; for positives, ``predictor``
    with its options chooses among what keywords of the last ``turns`` turns lead to in ``hops`` hops.
    ``tries`` is how many substitutes are tried for each reply that is wanted, ``pull`` how strongly a
    missing one is drawn in (where not given, only for a model that was not trained); ``surprise``, ``alone``
    and ``worst`` say which replies are refused (`Bounds`) of what the ``judge`` finds, another causal
    language model by path or id, and ``words`` which are too long.

    Raises:
        InputError: no model is named, another purpose, or a number out of range.
        ModelError: the model or the predictor can't be had.
    """
    if model is None:
        raise InputError("counterfactual needs a model: give a folder or a hub id as the option model")
    if purpose not in PURPOSES:
        raise InputError(f"purpose {purpose!r}: choose one of {', '.join(PURPOSES)}")
    if temperature <= 0 or tries < 1 or batch_size < 1 or (pull or 0.0) < 0:
        raise InputError("temperature must be above 0, tries and batch_size at least 1, pull not below 0")
    if words < 1:
        raise InputError("words must be at least 1")
    bounds = Bounds(surprise, alone, worst)
    shifts = Shifts(store)
    wanted: Purpose = UnrelatedPerspectives(shifts)
    if purpose == "positives":
        chosen = get_predictor(predictor, **(predictor_options or {}))
        wanted = Augmentation(shifts, Prediction(chosen, Reach(turns=turns, hops=hops)))
    loaded = load_either(model, gguf_file=gguf_file, device=device, offline=offline)
    loaded.batch_size = batch_size
    reader = loaded if judge is None else load_causal(judge, device=device, offline=offline)
    judging = Judge(reader, bounds) if isinstance(reader, CausalLM) else None
    return CounterfactualGenerator(store, loaded, wanted, Trials(temperature, tries, pull, words), judging)

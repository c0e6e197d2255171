"""Training a ranker: in go groups of right and wrong responses, out comes a folder with the trained ranker.

The loss is binary cross-entropy of each pair, right and wrong ones in balance, and beside it cross-entropy
of each right response against the wrong ones of its context in the batch: what makes a response right is
learned sooner where the context is the same. A part of the contexts may be held back for early stopping.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from graphneg.datasets.groups import Group, HeldOut, usable
from graphneg.datasets.pair_sampler import Draws, Epochs, Mix, Pair, PairSampler, Shortfall
from graphneg.datasets.pairs import Pairs
from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.nn.training import IN_ORDER, Trained, check_epochs, fit, open_run, pairs_and_lists
from graphneg.progress import Progress
from graphneg.rankers.base import Trainable

SETTINGS: Mapping[str, Any] = {"per_device_train_batch_size": 32, "learning_rate": 5e-5}


@dataclass(frozen=True, slots=True)
class Validation:
    """``fraction`` of the contexts are held back, chosen by their words.

    Their loss is taken once an epoch, or every ``eval_steps``. After ``patience`` times without a lower
    one the run stops, and the best model is kept.
    """

    fraction: float = 0.1
    patience: int = 2

    def __post_init__(self) -> None:
        if not 0 < self.fraction < 1 or self.patience < 1:
            raise InputError("validation takes a fraction between 0 and 1, and patience of 1 or more")

    def holds_back(self, group: Group) -> bool:
        """Whether a context is of the part that is held back: the same one in whatever data it comes."""
        return number(0, "validation", *group.context) < self.fraction * 2**64

    def learns(self, group: Group) -> bool:
        """Whether a context is of the other part."""
        return not self.holds_back(group)

    def check(self, groups: Sequence[Group]) -> None:
        """Raises `InputError` where one of the parts is empty."""
        held_back = sum(map(self.holds_back, groups))
        if not 0 < held_back < len(groups):
            raise InputError(
                f"validation: {held_back} of {len(groups)} contexts would be held back; "
                "give more contexts or another fraction"
            )

    def arguments(self, pairs: int, given: Mapping[str, Any]) -> dict[str, Any]:
        """``TrainingArguments`` for a run whose epochs have so many pairs; ``given`` are the caller's."""
        batch = int(given.get("per_device_train_batch_size", 8))
        step = batch * int(given.get("gradient_accumulation_steps", 1))
        every = given.get("eval_steps", max(1, -(-pairs // step)))
        return {
            "per_device_eval_batch_size": batch,
            **given,
            "eval_strategy": "steps",
            "eval_steps": every,
            "save_steps": every,
            "load_best_model_at_end": True,
            "metric_for_best_model": "loss",
            "greater_is_better": False,
            "restore_callback_states_from_checkpoint": True,
        }


@dataclass(frozen=True, slots=True)
class RankerReport(Trained):
    """What a run did: ``pairs`` by source that it learned from, and the ``shortfall`` of the first epoch.

    ``planned`` is how many pairs its epochs have: more than it learned from, if it stopped early.
    """

    pairs: Mapping[str, int]
    shortfall: Shortfall
    planned: int


def train_ranker(
    ranker: Trainable,
    data: Pairs | Sequence[Group],
    out: str | Path,
    *,
    mix: Mix | None = None,
    epochs: int = 2,
    held_out: Collection[str] = (),
    validation: Validation | None = None,
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress | None = None,
    **arguments: Any,
) -> RankerReport:
    """Train ``ranker`` in place to tell right responses from wrong ones, and save it into ``out``.

    ``data`` are groups, of which ``mix`` is drawn and no text of ``held_out`` ever, or pairs, which have
    both of their own. Each epoch draws anew. The pairs of a context share a batch. With ``validation`` the
    run may stop early, and the best model is kept. ``arguments`` go to transformers'
    ``TrainingArguments``. A run that was stopped goes on from its last checkpoint when the same call is
    made again; on a CPU the same seed gives the same model.

    Raises `InputError`: there is nothing to learn from, a source of the mix is not there, ``out`` holds a
    model or another run and nothing says to ``overwrite`` it, or the arguments are none of
    ``TrainingArguments``.
    """
    check_epochs(epochs, arguments)
    settings = {**SETTINGS, **arguments}
    learned, checked = _parts(data, mix, held_out, seed, validation)
    rows = Epochs(learned, epochs, int(settings["per_device_train_batch_size"]))
    facts = [repr(mix), epochs, seed, sorted(held_out), sorted(settings.items()), repr(validation)]
    if validation is not None:
        settings = validation.arguments(rows.first, settings)
    run = open_run(out, [*facts, starting_point(ranker), rows.facts()], overwrite)
    from transformers import EarlyStoppingCallback

    trained = fit(
        run, ranker, rows, partial(labelled_batch, ranker, attrgetter("context"), rows.balance), seed=seed,
        progress=progress, arguments={**settings, **IN_ORDER},
        callbacks=[EarlyStoppingCallback(validation.patience)] if validation is not None else (),
        eval_dataset=checked(0)[0] if checked is not None else None,
        compute_loss_func=getattr(ranker, "loss", pairs_and_lists),
    )  # fmt: skip
    sources = rows.sources_of(round(trained.share * len(rows)))
    return RankerReport(pairs=sources, shortfall=rows.shortfall, planned=len(rows), **asdict(trained))


def _parts(
    data: Pairs | Sequence[Group],
    mix: Mix | None,
    held_out: Collection[str],
    seed: int,
    validation: Validation | None,
) -> tuple[Draws, Draws | None]:
    """What is learned, and what is held back for validation."""
    if isinstance(data, Pairs):
        if mix is not None or held_out:
            raise InputError(
                "pairs have a mix and held-out texts of their own: give both where they are made"
            )
        if validation is None:
            return data.draw, None
        validation.check(data.sampler(0).groups)
        return data.part(validation.learns).draw, data.part(validation.holds_back).draw
    texts = HeldOut(held_out)
    fit_for_use = list(map(usable, data))
    groups = [texts.without(group) for group in fit_for_use]
    given, kept = sum(group.size for group in data), sum(group.size for group in fit_for_use)
    left_out = kept - sum(group.size for group in groups)
    sampler = partial(PairSampler, groups, mix or Mix(), seed, left_out=left_out, unusable=given - kept)
    if validation is None:
        return sampler().drawn, None
    validation.check(data)
    return sampler(validation.learns).drawn, sampler(validation.holds_back).drawn


def starting_point(learner: Any) -> list[Any]:
    """What a run starts from: the kind of learner, its settings, and which weights learn.

    The weights themselves are left out, so that a run that was stopped goes on with the object that it
    has trained so far, too.
    """
    config: Any = getattr(learner.model, "config", None)
    learning = [name for name, weights in learner.model.named_parameters() if weights.requires_grad]
    settings = (config.to_dict(), config.name_or_path) if config is not None else None
    return [type(learner).__name__, repr(settings), getattr(learner, "max_tokens", None), learning]


def labelled_batch(
    learner: Trainable, group: Callable[[Pair], Hashable], balance: float, pairs: Sequence[Pair]
) -> Mapping[str, Any]:
    """Tokens, and ``labels`` of shape (pairs, 3): label, weight, the number of the pair's group in the batch.

    A right pair weighs ``balance`` times as much.
    """
    import torch

    numbers = {key: index for index, key in enumerate(dict.fromkeys(map(group, pairs)))}
    rows = learner.encode([pair.context for pair in pairs], [pair.response for pair in pairs])
    labels = [
        (float(pair.label), pair.weight * (balance if pair.label else 1.0), float(numbers[group(pair)]))
        for pair in pairs
    ]
    return {**rows, "labels": torch.tensor(labels)}

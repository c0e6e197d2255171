"""Train a ranker on groups. A group is a context with correct and wrong responses.

The loss is the sum of two parts. The first part is the binary cross-entropy of each pair of a context and a
response, weighted so that correct and wrong pairs have the same total weight. The second part is a
cross-entropy that ranks each correct response above the wrong responses to the same context in the batch. The
second part makes learning faster. To stop training early, some of the contexts can be used for validation
instead of training.

Example:
    A group has the context "Do you like tea?", the correct response "Yes." and the wrong responses "I hate
    you." and "It rains." The three pairs of the context and a response are in one batch. The second part of
    the loss is the cross-entropy of choosing "Yes." among the three responses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from graphneg.datasets.groups import Group, HeldOut, without_unusable
from graphneg.datasets.pair_sampler import Draws, Epochs, Mix, Pair, PairSampler, Shortfall
from graphneg.datasets.pairs import Pairs
from graphneg.errors import InputError
from graphneg.hashing import number, with_model_digests
from graphneg.nn.training import IN_ORDER, TrainingResult, check_epochs, fit, open_run, pairs_and_lists
from graphneg.progress import Progress
from graphneg.rankers.base import Trainable

SETTINGS: Mapping[str, Any] = {"per_device_train_batch_size": 32, "learning_rate": 5e-5}
"""Default values of ``transformers.TrainingArguments`` for training a ranker."""


@dataclass(frozen=True, slots=True)
class EarlyStopping:
    """The settings for early stopping.

    Some contexts are held back from training. The loss on these contexts is computed once per epoch, or every
    ``eval_steps`` steps if this training argument is given. The model with the lowest loss is kept.

    Attributes:
        fraction: Fraction of the contexts to hold back, between 0 and 1.
        patience: Number of consecutive evaluations without a lower loss after which training stops.
    """

    fraction: float = 0.1
    patience: int = 2

    def __post_init__(self) -> None:
        """Check that the fraction and the patience are in range.

        Raises:
            InputError: The fraction is not between 0 and 1, or the patience is below 1.
        """
        if not 0 < self.fraction < 1 or self.patience < 1:
            raise InputError("the fraction for validation must be between 0 and 1, patience at least 1")

    def is_validated_on(self, group: Group) -> bool:
        """Return whether a context is held back from training.

        The decision depends only on the texts of the context. If a context occurs in several data sets, it is
        therefore held back in all of them or in none.

        Args:
            group: The context with its responses.

        Returns:
            True if the context is held back.
        """
        return number(0, "validation", *group.context) < self.fraction * 2**64

    def is_trained_on(self, group: Group) -> bool:
        """Return whether a context is used for training, and not for validation.

        Args:
            group: The context with its responses.

        Returns:
            The opposite of `is_validated_on`.
        """
        return not self.is_validated_on(group)

    def check(self, groups: Sequence[Group]) -> None:
        """Check that some contexts are held back and some are left for training.

        Args:
            groups: The contexts with their responses.

        Raises:
            InputError: The fraction of contexts to hold back is so small or large that no context or every
                context would be held back.
        """
        held_back = sum(map(self.is_validated_on, groups))
        if not 0 < held_back < len(groups):
            raise InputError(
                f"validation: {held_back} of {len(groups)} contexts would be held back; "
                "give more contexts or another fraction"
            )

    def arguments(self, pairs: int, user_arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Add the training arguments that early stopping needs.

        Args:
            pairs: Number of training pairs per epoch.
            user_arguments: Training arguments that the user set.

        Returns:
            The arguments in ``user_arguments``, and arguments that make the trainer evaluate and save the
            model at the same steps, so that it can restore the best model.
        """
        batch = int(user_arguments.get("per_device_train_batch_size", 8))
        step = batch * int(user_arguments.get("gradient_accumulation_steps", 1))
        # By default, evaluate the model once per epoch, that is, after the number of steps in an epoch
        # (rounded up).
        every = user_arguments.get("eval_steps", max(1, -(-pairs // step)))
        return {
            "per_device_eval_batch_size": batch,
            **user_arguments,
            "eval_strategy": "steps",
            "eval_steps": every,
            "save_steps": every,
            "load_best_model_at_end": True,
            "metric_for_best_model": "loss",
            "greater_is_better": False,
            # The callback for early stopping counts the evaluations without a lower loss, and a resumed run
            # must restore this count.
            "restore_callback_states_from_checkpoint": True,
        }


@dataclass(frozen=True, slots=True)
class RankerReport(TrainingResult):
    """The report of a training run for a ranker.

    Attributes:
        pairs: Number of pairs that were used for training, keyed by the source of the response.
        shortfall: Numbers of responses that the mix requires but that were missing in the first epoch.
        planned: Number of pairs in all epochs. If training stopped early, this number is larger than the sum
            of ``pairs``.
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
    validation: EarlyStopping | None = None,
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress | None = None,
    **arguments: Any,
) -> RankerReport:
    """Train a ranker in place, and save it.

    Each epoch draws new pairs from the groups. The pairs of a context are in the same batch. If a run was
    interrupted, repeating the same call resumes it at the last checkpoint. On a CPU, the same seed gives the
    same model. Raises `InputError` if there is no data, the mix contains an unknown source, ``out`` contains
    a model or another run, or a training argument is unknown.

    Args:
        ranker: The ranker to train.
        data: Groups of correct and wrong responses, or a `Pairs` object. A `Pairs` object already has a mix
            and held-out texts, so ``mix`` and ``held_out`` must not be given with it.
        out: The output folder for the trained ranker.
        mix: Number of correct and wrong responses to use per context and epoch; None for one correct response
            and one random wrong response.
        epochs: Number of epochs.
        held_out: Texts, for example of the test data, that must not be used as responses.
        validation: Settings for early stopping; None to train for all epochs.
        seed: Seed for sampling and training.
        overwrite: Whether to replace a model or another run in ``out``.
        progress: Progress display; advanced by the training steps.
        **arguments: Keyword arguments of ``transformers.TrainingArguments``.

    Returns:
        The report of the run.
    """
    check_epochs(epochs, arguments)
    settings = {**SETTINGS, **arguments}
    learned, checked = _draws(data, mix, held_out, seed, validation)
    rows = Epochs(learned, epochs, int(settings["per_device_train_batch_size"]))
    facts = [repr(mix), epochs, seed, sorted(held_out), sorted(settings.items()), repr(validation)]
    if validation is not None:
        settings = validation.arguments(rows.first, settings)
    run = open_run(out, [*facts, describe_untrained(ranker), rows.facts()], overwrite)
    from transformers import EarlyStoppingCallback

    trained = fit(
        run, ranker, rows, partial(labelled_batch, ranker, attrgetter("context"), rows.balance), seed=seed,
        progress=progress, arguments={**settings, **IN_ORDER},
        callbacks=[EarlyStoppingCallback(validation.patience)] if validation is not None else (),
        eval_dataset=checked(0)[0] if checked is not None else None,
        # Some rankers have a method `loss`. For example, the loss of a poly-encoder also uses the responses
        # of other pairs in the batch as negatives.
        compute_loss_func=getattr(ranker, "loss", pairs_and_lists),
    )  # fmt: skip
    sources = rows.sources_of(round(trained.share * len(rows)))
    return RankerReport(pairs=sources, shortfall=rows.shortfall, planned=len(rows), **asdict(trained))


def _draws(
    data: Pairs | Sequence[Group],
    mix: Mix | None,
    held_out: Collection[str],
    seed: int,
    validation: EarlyStopping | None,
) -> tuple[Draws, Draws | None]:
    """Return two functions that draw the pairs of an epoch: for training and for validation.

    If ``validation`` is None, the second function is None.

    Raises:
        InputError: ``data`` is a `Pairs` object, which already has a mix and held-out texts, but ``mix`` or
            ``held_out`` is also given.
    """
    if isinstance(data, Pairs):
        if mix is not None or held_out:
            raise InputError("pairs already have a mix and held-out texts: pass both to read_pairs instead")
        if validation is None:
            return data.draw, None
        validation.check(data.sampler(0).groups)
        return data.part(validation.is_trained_on).draw, data.part(validation.is_validated_on).draw
    texts = HeldOut(held_out)
    fit_for_use = list(map(without_unusable, data))
    groups = [texts.without_held_out(group) for group in fit_for_use]
    given, kept = sum(group.size for group in data), sum(group.size for group in fit_for_use)
    left_out = kept - sum(group.size for group in groups)
    sampler = partial(PairSampler, groups, mix or Mix(), seed, left_out=left_out, unusable=given - kept)
    if validation is None:
        return sampler().drawn, None
    validation.check(data)
    return sampler(validation.is_trained_on).drawn, sampler(validation.is_validated_on).drawn


def describe_untrained(learner: Any) -> list[Any]:
    """Describe an untrained model. A run is resumed only if the description is the same.

    Args:
        learner: The model to train.

    Returns:
        The class of the model, its configuration, a digest of the files from which it was loaded, its maximum
        input length, and the names of the parameters to train.
    """
    # Leave out the values of the parameters, because training changes them. Otherwise, the description would
    # differ if a run is resumed with the same model object. The digest of the files shows whether another
    # model has been saved to the same path.
    config: Any = getattr(learner.model, "config", None)
    learning = [name for name, weights in learner.model.named_parameters() if weights.requires_grad]
    settings = (config.to_dict(), with_model_digests(config.name_or_path)) if config is not None else None
    return [type(learner).__name__, repr(settings), getattr(learner, "max_tokens", None), learning]


def labelled_batch(
    learner: Trainable, group: Callable[[Pair], Hashable], balance: float, pairs: Sequence[Pair]
) -> Mapping[str, Any]:
    """Convert training pairs into a batch of input tensors and labels.

    Args:
        learner: The model to train.
        group: Function that returns a key for a pair. The loss compares pairs with equal keys, such as all
            responses to the same context.
        balance: Factor for the weights of pairs with a correct response, so that these pairs count as much as
            the pairs with a wrong response.
        pairs: Pairs of a context and a response.

    Returns:
        The input tensors of the model, and ``labels`` of shape (pairs, 3): the label, the weight and the
        group number of each pair. Pairs with equal keys have the same group number.
    """
    import torch

    numbers = {key: index for index, key in enumerate(dict.fromkeys(map(group, pairs)))}
    rows = learner.encode([pair.context for pair in pairs], [pair.response for pair in pairs])
    labels = [
        (float(pair.label), pair.weight * (balance if pair.label else 1.0), float(numbers[group(pair)]))
        for pair in pairs
    ]
    return {**rows, "labels": torch.tensor(labels)}

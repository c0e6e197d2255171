"""Training a ranker on groups of right and wrong responses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.progress import Progress
from graphneg.rankers import Trainable
from graphneg.rankers.cross_encoder import new_cross_encoder as new_cross_encoder
from graphneg.training.drawing import Drawing, Lacking, Mix, Pair
from graphneg.training.groups import Group
from graphneg.training.run import open_run, train

if TYPE_CHECKING:
    from torch import Tensor

SETTINGS: Mapping[str, Any] = {"per_device_train_batch_size": 32, "learning_rate": 5e-5}
_WINDOW = 32


@dataclass(frozen=True, slots=True)
class RankerReport:
    """What a run did: ``pairs`` over all epochs by source, and what was ``lacking`` in the first."""

    folder: Path
    pairs: Mapping[str, int]
    lacking: Lacking
    steps: int
    loss: float


def train_ranker(
    ranker: Trainable,
    groups: Sequence[Group],
    out: str | Path,
    *,
    mix: Mix | None = None,
    epochs: int = 2,
    held_out: Collection[str] = (),
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress | None = None,
    **arguments: Any,
) -> RankerReport:
    """Train ``ranker`` in place to tell right responses from wrong ones, and save it into ``out``.

    Each epoch draws its pairs anew, and no text of ``held_out`` ever. Pairs of like length share a
    batch. ``arguments`` go to transformers' ``TrainingArguments``. A run that was stopped goes on from
    its last checkpoint when the same call is made again; on a CPU the same seed gives the same model.

    Raises:
        InputError: there is nothing to learn from, a source of the mix is not there, ``out`` holds
            a model or another run, or the arguments are none of ``TrainingArguments``.
    """
    if epochs < 1:
        raise InputError("at least one epoch, please")
    if taken := {"num_train_epochs", "max_steps"} & set(arguments):
        raise InputError(f"{', '.join(sorted(taken))}: a ranker's run is as long as its epochs; give epochs")
    settings = {**SETTINGS, **arguments}
    drawing = Drawing(groups, mix or Mix(), seed, held_out)
    rows = _Epochs(drawing, epochs, int(settings["per_device_train_batch_size"]))
    facts = [repr(mix), epochs, seed, sorted(held_out), sorted(settings.items())]
    run = open_run(out, [*facts, _start(ranker), rows.facts()], overwrite)
    ranker.model.train()
    done = train(
        run,
        ranker.model,
        rows,
        partial(_collate, ranker),
        seed=seed,
        arguments={**settings, "num_train_epochs": 1, "train_sampling_strategy": "sequential"},
        progress=progress,
        compute_loss_func=_loss,
    )
    ranker.model.eval()
    ranker.save(run.folder)
    run.finish()
    return RankerReport(
        run.folder, rows.sources, rows.lacking, int(done.global_step), float(done.training_loss)
    )


def _start(ranker: Trainable) -> list[Any]:
    """What a run starts from: the kind of ranker, its settings, and which weights learn.

    The weights themselves are left out, so that a run that was stopped goes on with the object that it
    has trained so far, too.
    """
    config: Any = getattr(ranker.model, "config", None)
    learning = [name for name, one in ranker.model.named_parameters() if one.requires_grad]
    settings = (config.to_dict(), config.name_or_path) if config is not None else None
    return [type(ranker).__name__, repr(settings), getattr(ranker, "max_tokens", None), learning]


class _Epochs:
    """The pairs of all epochs one after the other, each epoch drawn when it is reached."""

    def __init__(self, drawing: Drawing, epochs: int, batch: int) -> None:
        self._drawing = drawing
        self._batch = batch
        self._epoch = -1
        self._pairs: list[Pair] = []
        self.sources: Counter[str] = Counter()
        first, self.lacking = drawing.epoch(0)
        self._starts = [0]
        for epoch in range(epochs):
            pairs = first if epoch == 0 else drawing.epoch(epoch)[0]
            self.sources.update(pair.source for pair in pairs)
            self._starts.append(self._starts[-1] + len(pairs))

    def facts(self) -> list[Any]:
        """What decides a run: the first epoch's pairs, and how many there are of each source."""
        pairs, _ = self._drawing.epoch(0)
        return [sorted(self.sources.items()), [(one.context, one.response, one.label) for one in pairs]]

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, place: int) -> Pair:
        epoch = next(k for k, end in enumerate(self._starts[1:]) if place < end)
        if epoch != self._epoch:
            self._epoch, self._pairs = epoch, _by_length(self._drawing.epoch(epoch)[0], self._batch)
        return self._pairs[place - self._starts[epoch]]


def _by_length(pairs: Sequence[Pair], batch: int) -> list[Pair]:
    """Inside windows of some batches, batches of pairs of like length; in the windows' order else."""
    found: list[Pair] = []
    size = batch * _WINDOW
    for start in range(0, len(pairs), size):
        window = sorted(pairs[start : start + size], key=_length)
        batches = [window[at : at + batch] for at in range(0, len(window), batch)]
        batches.sort(key=lambda some: number(0, "batch", some[0].id))
        found += [pair for some in batches for pair in some]
    return found


def _length(pair: Pair) -> int:
    return sum(map(len, pair.context)) + len(pair.response)


def _collate(ranker: Trainable, pairs: Sequence[Pair]) -> Mapping[str, Any]:
    import torch

    rows = ranker.encode([pair.context for pair in pairs], [pair.response for pair in pairs])
    return {**rows, "labels": torch.tensor([(float(pair.label), pair.weight) for pair in pairs])}


def _loss(outputs: Any, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
    """Binary cross-entropy; ``labels`` of shape (pairs, 2) hold label and weight.

    Where gradients are accumulated ``num_items_in_batch`` counts the labels, two a pair, of all batches
    of the step.
    """
    from torch.nn.functional import binary_cross_entropy_with_logits

    targets, weights = labels[:, 0], labels[:, 1]
    losses = binary_cross_entropy_with_logits(outputs.logits[:, 0].float(), targets, reduction="none")
    pairs = len(labels) if num_items_in_batch is None else num_items_in_batch / 2
    return (losses * weights).sum() / pairs

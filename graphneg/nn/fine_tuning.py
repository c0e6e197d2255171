"""Training a language model on pairs of a source and a target, by transformers' ``Trainer``.

Only the target's tokens are learned. A run that was stopped goes on from its last checkpoint
when the same call is made again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from graphneg.errors import InputError
from graphneg.nn.batching import in_batches
from graphneg.nn.encoders import freeze
from graphneg.nn.language_models import CausalLM, Direction, LanguageModel, Request, collated
from graphneg.nn.training import Trained, fit, open_run
from graphneg.progress import Progress


@dataclass(frozen=True, slots=True)
class Example:
    """One pair to learn: the target is written, the source is only read. Without one: plain text."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class TrainingReport(Trained):
    """``loss`` is the mean over the run, ``validation_loss`` (nats a token) None where nothing was held out.

    ``skipped`` counts examples without a target or with one that is longer than the model reads,
    ``shortened`` those whose source lost its beginning.
    """

    examples: int
    skipped: int
    shortened: int
    validation_loss: float | None


def fine_tune(
    model: LanguageModel,
    examples: Sequence[Example],
    out: str | Path,
    *,
    validation: Sequence[Example] = (),
    seed: int = 0,
    direction: Direction | None = None,
    longest: int = 512,
    frozen: Collection[str] = (),
    beside: Mapping[str, str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    **arguments: Any,
) -> TrainingReport:
    """Train ``model`` in place on the examples, and save it into the folder ``out``.

    ``arguments`` go to transformers' ``TrainingArguments`` as they are (``num_train_epochs``,
    ``learning_rate``, ``max_steps``, ``gradient_accumulation_steps``, ...). ``longest`` is the most
    tokens of source and target together. ``frozen`` are beginnings of parameters' names that do not learn
    (`graphneg.nn.encoders.freeze`); ``beside`` holds the texts of files that are saved with the model, by
    name. With ``direction`` ``backward`` a causal model learns to read
    and write from the end, and says so when it is loaded again. The same seed gives the same
    weights on the same machine.

    Raises `InputError`: no example is left, ``out`` holds a model or another run already and nothing says to
    ``overwrite`` it, or the arguments are none of ``TrainingArguments``.
    """
    if direction == "backward" and not isinstance(model, CausalLM):
        raise InputError("only a causal language model can be trained backward")
    model.direction = direction or model.direction
    limit = min(longest, model.longest or longest)
    items, shortened = _items(model, examples, limit)
    if not items:
        raise InputError(
            f"none of {len(examples)} examples can be learned: their targets are empty or too long"
        )
    facts = [
        str(model.path), model.direction, seed, longest, sorted(arguments.items()), sorted(frozen),
        [(example.source, example.target) for example in examples],
    ]  # fmt: skip
    run = open_run(out, facts, overwrite)
    freeze(model.model, frozen)
    trained = fit(
        run, _Saved(model, beside or {}), items, partial(collated, model), seed=seed, arguments=arguments,
        progress=progress,
    )  # fmt: skip
    held_out, _ = _items(model, validation, limit)
    losses = [loss for _, loss in in_batches(held_out, model.batch_size, model.losses) if loss is not None]
    mean = sum(losses) / len(losses) if losses else None
    return TrainingReport(
        examples=len(items), skipped=len(examples) - len(items), shortened=shortened, validation_loss=mean,
        **asdict(trained),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Saved:
    """What learns, and is saved with the files beside it."""

    learner: LanguageModel
    beside: Mapping[str, str]

    @property
    def model(self) -> Any:
        return self.learner.model

    def save(self, folder: Path) -> None:
        for name, text in self.beside.items():
            (folder / name).write_text(text, encoding="utf-8")
        self.learner.save(folder)


def _items(model: LanguageModel, examples: Sequence[Example], limit: int) -> tuple[list[Request], int]:
    """What can be learned of the examples, and how many of them lost their source's beginning."""
    kept: list[Request] = []
    shortened = 0
    for number, example in enumerate(examples):
        source, target = model.source_tokens(example.source), model.target_tokens(example.target)
        room = limit - len(target)
        if example.target.strip() and room > 0:
            shortened += len(source) > room
            kept.append(Request(number, source[-room:], target))
    return kept, shortened

"""Fine-tune a language model on pairs of a source text and a target text.

The module uses transformers' ``Trainer``. The loss is computed only over the tokens of the target. If a run
is stopped, repeating the same call of `fine_tune` resumes it at the last checkpoint.

Example:
    Teach a model to write sentences from linearized graphs::

        examples = [Example("( want-01 :ARG0 ( boy ) )", "The boy wants it.")]
        report = fine_tune(load_causal("gpt2"), examples, "my-decoder", num_train_epochs=3)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from graphneg.errors import InputError
from graphneg.hashing import with_model_digests
from graphneg.nn.batching import in_batches
from graphneg.nn.encoders import freeze
from graphneg.nn.language_models import CausalLM, Direction, LanguageModel, TokenPair, collated
from graphneg.nn.training import TrainingResult, fit, open_run
from graphneg.progress import Progress


@dataclass(frozen=True, slots=True)
class Example:
    """A training example.

    Attributes:
        source: The text that the model reads; empty to train on plain text.
        target: The text that the model learns to write.
    """

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class TrainingReport(TrainingResult):
    """The result of `fine_tune`. The inherited attribute ``loss`` is the mean training loss over the run.

    Attributes:
        examples: Number of examples that were used.
        skipped: Number of examples that were not used, because their target is empty or leaves no room for a
            source.
        shortened: Number of examples whose source was too long, so that only the end of the source was used.
        validation_loss: Mean loss of the validation examples in nats per token; None without such examples.
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
    extra_files: Mapping[str, str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    **arguments: Any,
) -> TrainingReport:
    """Train a language model in place on examples, and save it.

    On the same computer, the same seed gives the same weights.

    Args:
        model: The model to train.
        examples: The training examples, each with a source text and a target text.
        out: The folder in which the model is saved.
        validation: Examples with which the validation loss is computed after training.
        seed: Seed of the run.
        direction: ``backward`` to train a causal model to read and write texts from right to left; None to
            keep the direction of the model. The direction is saved with the model.
        longest: Maximum number of tokens in source and target together.
        frozen: Prefixes of the names of parameters to exclude from training; see
            `graphneg.nn.encoders.freeze`.
        extra_files: Further text files to save in ``out``: a mapping from file names to contents.
        overwrite: Whether to replace a model in ``out``, or the checkpoints of a run with different data or
            settings.
        progress: Progress display; None for no display.
        **arguments: Arguments of transformers' ``TrainingArguments``, such as ``num_train_epochs``,
            ``learning_rate``, ``max_steps`` or ``gradient_accumulation_steps``.

    Returns:
        The numbers of examples, and the losses of the run.

    Raises:
        InputError: The direction is ``backward`` for a model that is not causal, or no example can be used.
    """
    if direction == "backward" and not isinstance(model, CausalLM):
        raise InputError("the direction backward requires a causal language model")
    model.direction = direction or model.direction
    limit = min(longest, model.longest or longest)
    items, shortened = _tokenized(model, examples, limit)
    if not items:
        raise InputError(
            f"nothing to train on: the targets of all {len(examples)} examples are empty or too long"
        )
    # `facts` contains all values that determine the result of the run. If a later call has different values,
    # it must not resume this run.
    facts = [
        with_model_digests(model.path), model.direction, seed, longest,
        sorted(arguments.items()), sorted(frozen),
        [(example.source, example.target) for example in examples],
    ]  # fmt: skip
    run = open_run(out, facts, overwrite)
    freeze(model.model, frozen)
    trained = fit(
        run, _ModelWithFiles(model, extra_files or {}), items, partial(collated, model),
        seed=seed, arguments=arguments, progress=progress,
    )  # fmt: skip
    held_out, _ = _tokenized(model, validation, limit)
    # The loss of an example is None if the example does not fit into memory. Leave such examples out of the
    # mean.
    losses = [loss for _, loss in in_batches(held_out, model.batch_size, model.losses) if loss is not None]
    mean = sum(losses) / len(losses) if losses else None
    return TrainingReport(
        examples=len(items), skipped=len(examples) - len(items), shortened=shortened, validation_loss=mean,
        **asdict(trained),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _ModelWithFiles:
    """A model to train, with extra files that `save` writes to the folder of the model."""

    learner: LanguageModel
    extra_files: Mapping[str, str]

    @property
    def model(self) -> Any:
        """The transformers model, which `fit` trains."""
        return self.learner.model

    def save(self, folder: Path) -> None:
        """Save the model and the files of ``extra_files`` in a folder."""
        for name, text in self.extra_files.items():
            (folder / name).write_text(text, encoding="utf-8")
        self.learner.save(folder)


def _tokenized(model: LanguageModel, examples: Sequence[Example], limit: int) -> tuple[list[TokenPair], int]:
    """Tokenize examples, and remove the beginnings of sources that are too long.

    Returns:
        The examples that can be used, and the number of sources whose beginning was removed.
    """
    kept: list[TokenPair] = []
    shortened = 0
    for number, example in enumerate(examples):
        source, target = model.source_tokens(example.source), model.target_tokens(example.target)
        room = limit - len(target)
        if example.target.strip() and room > 0:
            # The model predicts the first target token from the token before it, so there must be room for a
            # source token. Examples whose target leaves no room are skipped.
            shortened += len(source) > room
            # If an input is too long, keep only its end, because the tokens directly before the target are
            # the most important ones.
            kept.append(TokenPair(number, source[-room:], target))
    return kept, shortened

"""Adapt an encoder to dialogues before it is trained as a ranker.

Gu et al. (2020), "Speaker-Aware BERT", section 3.4: the encoder is trained on dialogues of the domain with
BERT's two tasks, with speaker types and markers of turns in the input. For next-sentence prediction, half of
the contexts get their own response and the others a response of another context. For masked language
modelling, words are masked anew in each epoch (Devlin et al. 2019, "BERT", section 3.1).

Example:
    The context "Hi!" with its response "Hello, Ann." may become "hi ! [EOU] [EOT]" with "hello , [MASK] ."
    The encoder predicts "ann", and that the response is the next sentence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from graphneg.datasets.groups import REFERENCE, Answer, Group, HeldOut
from graphneg.datasets.pair_sampler import RANDOM, Pair
from graphneg.english.near_duplicates import NearTexts
from graphneg.english.tokens import match_key
from graphneg.errors import InputError, ModelError
from graphneg.generators.base import Context
from graphneg.hashing import number, shuffled
from graphneg.nn.encoders import config_of, tokenizer_of
from graphneg.nn.models import check_packages, choose_device, locate, reading
from graphneg.nn.training import IN_ORDER, Trained, check_epochs, fit, open_run
from graphneg.progress import Progress
from graphneg.rankers.base import SA_BERT
from graphneg.rankers.sa_bert import Row, SpeakerInputs, add_speakers

# BERT's labels: 0 if the second text follows the first, 1 if it does not.
_NEXT, _OTHER = 0, 1
# The label that torch's cross-entropy ignores.
_NOT_MASKED = -100
# Of the selected tokens, 80% become the mask and 10% a random token; 10% stay.
_AS_MASK, _AS_ANY = 0.8, 0.9


@dataclass(frozen=True, slots=True)
class Adaptation(Trained):
    """The report on an adaptation.

    The ``loss`` is that of both tasks over the run.

    Attributes:
        examples: Number of examples per epoch.
    """

    examples: int


@dataclass(frozen=True, slots=True)
class AdaptableEncoder:
    """An encoder with BERT's two heads, speaker types and markers.

    Attributes:
        model: The encoder with its heads.
        tokenizer: The tokenizer.
        start: Path or hub id of the original encoder.
    """

    model: Any
    tokenizer: Any
    start: str

    def save(self, folder: str | Path) -> None:
        """Save model and tokenizer.

        Args:
            folder: The folder to write, which transformers can read.
        """
        self.model.save_pretrained(str(folder))
        self.tokenizer.save_pretrained(str(folder))


def new_adaptable(
    model: str | Path, *, seed: int = 0, device: str | None = None, offline: bool = False
) -> AdaptableEncoder:
    """Load an encoder and prepare it for `adapt`.

    A missing encoder raises `ModelError`.

    Args:
        model: Path or hub id of the encoder.
        seed: Seed of new parameters.
        device: The torch device, or None to choose one.
        offline: Do not download the encoder.

    Returns:
        The encoder with speaker types and markers.

    Raises:
        ModelError: The encoder has no head for next-sentence prediction, or its tokenizer has no mask token.
    """
    check_packages()
    folder = locate(model, offline=offline)
    from transformers import AutoModelForPreTraining, set_seed
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING_NAMES as BERT_FAMILY,
    )

    set_seed(seed)
    with reading(folder, "encoder"):
        kind: Any = config_of(folder).model_type
        if kind not in BERT_FAMILY:
            raise ModelError(
                f"{folder}: {kind} has no head for the next sentence; post-training is for BERT's family"
            )
        tokenizer = tokenizer_of(folder)
        if tokenizer.mask_token_id is None:
            raise ModelError(f"{folder}: its tokenizer has no mask token, so no word can be masked")
        network: Any = AutoModelForPreTraining.from_pretrained(folder, local_files_only=True, dtype="float32")
    add_speakers(network, tokenizer, seed)
    network.config.graphneg = {"kind": SA_BERT}
    network.to(choose_device(device))
    return AdaptableEncoder(network, tokenizer, str(model))


def adapt(
    encoder: AdaptableEncoder,
    groups: Sequence[Group],
    out: str | Path,
    *,
    epochs: int = 1,
    max_tokens: int = 256,
    masked: float = 0.15,
    held_out: Collection[str] = (),
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress | None = None,
    **arguments: Any,
) -> Adaptation:
    """Train an encoder in place on contexts and their right responses, and save it.

    A speaker-aware ranker can be trained from the folder and keeps the speaker types. transformers loads it
    as a ``BertForPreTraining``. An interrupted run continues if the call is repeated. No data, a folder that
    holds a model or another run, and unknown training arguments raise `InputError`.

    Args:
        encoder: The encoder.
        groups: Contexts with their right responses.
        out: The folder for the adapted encoder.
        epochs: Number of epochs.
        max_tokens: Maximum length of the input in tokens.
        masked: Share of tokens that are masked, between 0 and 1.
        held_out: Texts that are never used as a response.
        seed: Seed of samples and training.
        overwrite: Replace a model or another run in ``out``.
        progress: Receives progress updates.
        **arguments: Keyword arguments of ``transformers.TrainingArguments``.

    Returns:
        The report on the run.

    Raises:
        InputError: ``masked`` is not between 0 and 1.
    """
    check_epochs(epochs, arguments)
    if not 0 < masked < 1:
        raise InputError("the share of masked words must be between 0 and 1")
    rows = AdaptationExamples(groups, epochs, seed, held_out)
    inputs = SpeakerInputs(encoder.tokenizer, min(max_tokens, encoder.model.config.max_position_embeddings))
    settings = [encoder.start, epochs, max_tokens, masked, seed, sorted(arguments.items())]
    run = open_run(out, [*settings, rows.facts()], overwrite)
    masking = Masking(inputs, len(encoder.tokenizer), encoder.tokenizer.mask_token_id, masked, seed)
    trained = fit(
        run, encoder, rows, partial(_collate, masking), seed=seed, progress=progress,
        arguments={**arguments, **IN_ORDER},
    )  # fmt: skip
    return Adaptation(examples=rows.size, **asdict(trained))


def groups_of_contexts(contexts: Iterable[Context]) -> list[Group]:
    """Convert the contexts of a store to groups.

    Args:
        contexts: The contexts. Those without right responses are skipped.

    Returns:
        The contexts with their right responses.
    """
    return [
        Group(
            item.id,
            tuple(turn.text for turn in item.turns),
            [Answer(text, REFERENCE) for text in item.positives],
        )
        for item in contexts
        if item.positives
    ]


class AdaptationExamples:
    """The examples of all epochs, as a sequence of pairs.

    In each epoch, each right response of a context gives an example: the response itself (label 0), or a
    response of another context (label 1).

    Attributes:
        size: Number of examples per epoch.
    """

    def __init__(
        self, groups: Sequence[Group], epochs: int, seed: int, held_out: Collection[str] = ()
    ) -> None:
        """Collect the right responses.

        Args:
            groups: Contexts with their right responses.
            epochs: Number of epochs.
            seed: Seed of order and choices.
            held_out: Texts that are never used as a response.

        Raises:
            InputError: There are fewer than two different right responses.
        """
        out = HeldOut(held_out)
        self._pairs = [
            (group, answer.text)
            for group in groups
            for answer in group.positives
            if answer.text.strip() and answer.text not in out
        ]
        if len({match_key(text) for _, text in self._pairs}) < 2:
            raise InputError("no contexts with two or more different right responses to learn from")
        self.size = len(self._pairs)
        self._epochs = epochs
        self._seed = seed
        self._epoch = -1
        self._order: list[int] = []

    def facts(self) -> list[Any]:
        """Return what the examples depend on, except for seed and epochs."""
        return [(group.id, group.context, text) for group, text in self._pairs]

    def __len__(self) -> int:
        """Return the number of examples over all epochs."""
        return self._epochs * self.size

    def __getitem__(self, index: int) -> Pair:
        """Return an example.

        Args:
            index: The index over all epochs.

        Returns:
            The context, a response and the label.
        """
        epoch, at = divmod(index, self.size)
        if epoch != self._epoch:
            self._epoch = epoch
            self._order = shuffled(range(self.size), self._seed, "order", str(epoch))
        group, text = self._pairs[self._order[at]]
        id = f"{epoch}~{self._order[at]}"
        # Half of the examples get a response of another context.
        if number(self._seed, "next", id) % 2:
            right = NearTexts(answer.text for answer in group.positives)
            # Another response may be right here, too: "Yes, sure." Try several, then fall back to the right
            # one.
            for k in range(20):
                other = self._pairs[number(self._seed, "other", id, str(k)) % self.size][1]
                if other not in right:
                    return Pair(id, group.context, other, _OTHER, RANDOM)
        return Pair(id, group.context, text, _NEXT, REFERENCE)


@dataclass(frozen=True, slots=True)
class Masking:
    """Mask tokens for masked language modelling.

    Markers and special tokens are never masked; at least one token of a row is. The choice depends only on
    the seed and the id of the example, so that a continued run has the same masks.

    Attributes:
        inputs: Knows the special tokens.
        vocabulary: Size of the vocabulary.
        mask: Id of the mask token.
        share: Share of tokens to mask.
        seed: The seed.
    """

    inputs: SpeakerInputs
    vocabulary: int
    mask: int
    share: float
    seed: int

    def masked(self, row: Row, id: str) -> tuple[Row, list[int]]:
        """Mask the tokens of a row.

        Args:
            row: The row.
            id: The id of the example.

        Returns:
            The masked row, and the labels: the original token where one was selected, -100 elsewhere.
        """
        special = self.inputs.special
        draw = Random(number(self.seed, "mask", id))
        maskable = [at for at, token in enumerate(row.tokens) if token not in special]
        amount = min(len(maskable), max(1, round(len(maskable) * self.share)))
        tokens, labels = list(row.tokens), [_NOT_MASKED] * len(row.tokens)
        for at in sorted(draw.sample(maskable, amount)):
            labels[at] = tokens[at]
            drawn = draw.random()
            if drawn < _AS_ANY:
                tokens[at] = self.mask if drawn < _AS_MASK else draw.randrange(self.vocabulary)
        return Row(tokens, row.types), labels

    def batch(self, rows: Sequence[Row], ids: Sequence[str]) -> dict[str, Any]:
        """Mask rows and convert them to tensors.

        Args:
            rows: The rows.
            ids: The ids of the examples.

        Returns:
            Tensors of shape (rows, tokens) by name, ``labels`` included.
        """
        import torch

        masked = [self.masked(row, id) for row, id in zip(rows, ids, strict=True)]
        batch = self.inputs.batch([row for row, _ in masked])
        labels = torch.full(batch["attention_mask"].shape, _NOT_MASKED)
        # Padding keeps the label that the loss ignores.
        labels[batch["attention_mask"].bool()] = torch.tensor([label for _, some in masked for label in some])
        return {**batch, "labels": labels}


def _collate(masking: Masking, examples: Sequence[Pair]) -> dict[str, Any]:
    """Convert pairs to a batch for both tasks."""
    import torch

    rows = masking.inputs.rows([e.context for e in examples], [e.response for e in examples])
    batch = masking.batch(rows, [e.id for e in examples])
    return {**batch, "next_sentence_label": torch.tensor([e.label for e in examples])}

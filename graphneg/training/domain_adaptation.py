"""Adapt an encoder to dialogues before it is trained as a ranker.

The method is described in section 3.4 of Gu et al. (2020), "Speaker-Aware BERT". The encoder is trained on
dialogues of the domain with the two pretraining tasks of BERT. Its input contains markers of turns, and token
types for the speakers. For next-sentence prediction, half of the contexts are followed by their own response,
and half by a response to another context. In masked language modelling (Devlin et al. 2019, "BERT", section
3.1), different tokens are masked in each epoch.

Example:
    The context "Hi!" with its response "Hello, Ann." may become "hi ! [EOU] [EOT]" with "hello , [MASK] .".
    The encoder learns to predict the masked token "ann", and that the response follows the context.
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
from graphneg.hashing import number, shuffled, with_model_digests
from graphneg.nn.encoders import config_of, tokenizer_of
from graphneg.nn.models import check_packages, locate, on_device, reading
from graphneg.nn.training import IN_ORDER, TrainingResult, check_epochs, fit, open_run
from graphneg.progress import Progress
from graphneg.rankers.base import SA_BERT
from graphneg.rankers.sa_bert import Row, SpeakerInputs, add_speakers

# Labels of next-sentence prediction in BERT: 0 if the second text follows the first text, otherwise 1.
_NEXT, _OTHER = 0, 1
# Label of tokens that the model does not have to predict. torch's cross-entropy ignores this label by
# default.
_NOT_MASKED = -100
# As in BERT, 80% of the selected tokens are replaced by the mask token, 10% are replaced by a random token,
# and 10% are not changed. A random number below 0.8 selects the mask token, and a number from 0.8 to 0.9
# selects a random token.
_AS_MASK, _AS_ANY = 0.8, 0.9


@dataclass(frozen=True, slots=True)
class Adaptation(TrainingResult):
    """The report of a training run that adapted an encoder to dialogues.

    The attribute ``loss`` is the sum of the losses for masked language modelling and next-sentence
    prediction, averaged over the run.

    Attributes:
        examples: Number of training examples per epoch.
    """

    examples: int


@dataclass(frozen=True, slots=True)
class AdaptableEncoder:
    """An encoder with BERT's two pretraining heads, token types for the speakers, and markers of turns.

    Attributes:
        model: The encoder with its two heads.
        tokenizer: The tokenizer of the encoder, to which markers of turns were added.
        start: Path or Hugging Face hub id from which the encoder was loaded.
    """

    model: Any
    tokenizer: Any
    start: str

    def save(self, folder: str | Path) -> None:
        """Save the encoder and the tokenizer in a form that transformers can load.

        Args:
            folder: The output folder.
        """
        self.model.save_pretrained(str(folder))
        self.tokenizer.save_pretrained(str(folder))


def new_adaptable(
    model: str | Path, *, seed: int = 0, device: str | None = None, offline: bool = False
) -> AdaptableEncoder:
    """Load an encoder and prepare it for `adapt`.

    Raises `ModelError` if the encoder is missing.

    Args:
        model: Path or Hugging Face hub id of the encoder.
        seed: Seed for initializing the parameters that are added to the encoder.
        device: The torch device; None to choose one automatically.
        offline: Whether to use only local files, without downloading the encoder.

    Returns:
        The encoder, with token types for the speakers and markers of turns.

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
                f"{folder}: {kind} has no head for next-sentence prediction; use a model of the BERT family"
            )
        tokenizer = tokenizer_of(folder)
        if tokenizer.mask_token_id is None:
            raise ModelError(f"{folder}: its tokenizer has no mask token, so no word can be masked")
        network: Any = AutoModelForPreTraining.from_pretrained(folder, local_files_only=True, dtype="float32")
    add_speakers(network, tokenizer, seed)
    network.config.graphneg = {"kind": SA_BERT}
    on_device(network, device)
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
    """Train an encoder in place on contexts and their correct responses, and save it.

    A ranker of the kind ``sa-bert`` that is later created from the saved encoder keeps the learned token
    types for the speakers. transformers loads the saved encoder as a ``BertForPreTraining``. If a run was
    interrupted, repeating the same call resumes it. Raises `InputError` if there is no data, ``out`` contains
    a model or another run, or a training argument is unknown.

    Args:
        encoder: The encoder to train, as returned by `new_adaptable`.
        groups: Contexts with their correct responses.
        out: The output folder for the adapted encoder.
        epochs: Number of epochs.
        max_tokens: Maximum length of the input in tokens.
        masked: Fraction of the tokens to select for masking, between 0 and 1.
        held_out: Texts, for example of the test data, that must not be used as responses.
        seed: Seed for sampling and training.
        overwrite: Whether to replace a model or another run in ``out``.
        progress: Progress display; advanced by the training steps.
        **arguments: Keyword arguments of ``transformers.TrainingArguments``.

    Returns:
        The report of the run.

    Raises:
        InputError: ``masked`` is not between 0 and 1.
    """
    check_epochs(epochs, arguments)
    if not 0 < masked < 1:
        raise InputError("the share of masked words must be between 0 and 1")
    rows = AdaptationExamples(groups, epochs, seed, held_out)
    inputs = SpeakerInputs(encoder.tokenizer, min(max_tokens, encoder.model.config.max_position_embeddings))
    settings = [
        with_model_digests(encoder.start),
        epochs,
        max_tokens,
        masked,
        seed,
        sorted(arguments.items()),
    ]
    run = open_run(out, [*settings, rows.facts()], overwrite)
    masking = Masking(inputs, len(encoder.tokenizer), encoder.tokenizer.mask_token_id, masked, seed)
    trained = fit(
        run, encoder, rows, partial(_collate, masking), seed=seed, progress=progress,
        arguments={**arguments, **IN_ORDER},
    )  # fmt: skip
    return Adaptation(examples=rows.size, **asdict(trained))


def groups_of_contexts(contexts: Iterable[Context]) -> list[Group]:
    """Convert contexts into groups, which is the form that training functions expect.

    Args:
        contexts: Contexts with their correct responses. Contexts without correct responses are skipped.

    Returns:
        One group per context, with the texts of its turns and its correct responses.
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
    """The training examples of all epochs, as a sequence of pairs of a context and a response.

    Each epoch has one example for each correct response to a context. The example contains either this
    response (label 0, "is next") or a response to another context (label 1, "is not next").

    Attributes:
        size: Number of examples per epoch.
    """

    def __init__(
        self, groups: Sequence[Group], epochs: int, seed: int, held_out: Collection[str] = ()
    ) -> None:
        """Collect the correct responses of all contexts.

        Args:
            groups: Contexts with their correct responses.
            epochs: Number of epochs.
            seed: Seed for shuffling the examples and for choosing responses to other contexts.
            held_out: Texts, for example of the test data, that must not be used as responses.

        Raises:
            InputError: There are fewer than two distinct correct responses. A single response leaves no
                response to another context.
        """
        out = HeldOut(held_out)
        self._pairs = [
            (group, answer.text)
            for group in groups
            for answer in group.positives
            if answer.text.strip() and answer.text not in out
        ]
        if len({match_key(text) for _, text in self._pairs}) < 2:
            raise InputError("nothing to train on: fewer than two distinct correct responses")
        self.size = len(self._pairs)
        self._epochs = epochs
        self._seed = seed
        self._epoch = -1
        self._order: list[int] = []

    def facts(self) -> list[Any]:
        """Return the ids, contexts and correct responses, from which all examples are made."""
        return [(group.id, group.context, text) for group, text in self._pairs]

    def __len__(self) -> int:
        """Return the number of examples over all epochs."""
        return self._epochs * self.size

    def __getitem__(self, index: int) -> Pair:
        """Return a training example.

        Args:
            index: The index of the example among the examples of all epochs, from 0.

        Returns:
            The context, a response, and the label: 0 if the response follows the context, otherwise 1.
        """
        epoch, at = divmod(index, self.size)
        if epoch != self._epoch:
            self._epoch = epoch
            self._order = shuffled(range(self.size), self._seed, "order", str(epoch))
        group, text = self._pairs[self._order[at]]
        id = f"{epoch}~{self._order[at]}"
        # Half of the examples, chosen at random, get a response to another context.
        if number(self._seed, "next", id) % 2:
            right = NearTexts(answer.text for answer in group.positives)
            # A response to another context, such as "Yes, sure.", may also be correct for this context. Then
            # draw another response. If none of 20 responses is suitable, use the correct response of this
            # context (label 0).
            for k in range(20):
                other = self._pairs[number(self._seed, "other", id, str(k)) % self.size][1]
                if other not in right:
                    return Pair(id, group.context, other, _OTHER, RANDOM)
        return Pair(id, group.context, text, _NEXT, REFERENCE)


@dataclass(frozen=True, slots=True)
class Masking:
    """Masks tokens for masked language modelling.

    Markers of turns and special tokens are never masked. At least one token of each example is selected. The
    selection depends only on the seed and on the id of the example, so that a resumed run masks the same
    tokens.

    Attributes:
        inputs: The converter from texts to tokens, which contains the ids of markers and special tokens.
        vocabulary: Number of tokens in the vocabulary.
        mask: Id of the mask token.
        share: Fraction of the tokens to select for masking.
        seed: Seed for choosing the tokens and their replacements.
    """

    inputs: SpeakerInputs
    vocabulary: int
    mask: int
    share: float
    seed: int

    def masked(self, row: Row, id: str) -> tuple[Row, list[int]]:
        """Mask some tokens of a training example.

        Args:
            row: The token ids and token types of the example.
            id: The id of the example.

        Returns:
            The example with masked tokens, and a label for each token: the original token id for a selected
            token, -100 for any other token.
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
        """Mask some tokens of each example, and convert the examples into padded tensors.

        Args:
            rows: The token ids and token types of each example.
            ids: The ids of the examples.

        Returns:
            The tensors of `SpeakerInputs.batch` and the tensor ``labels``, all of shape (rows, tokens).
        """
        import torch

        masked = [self.masked(row, id) for row, id in zip(rows, ids, strict=True)]
        batch = self.inputs.batch([row for row, _ in masked])
        labels = torch.full(batch["attention_mask"].shape, _NOT_MASKED)
        # Set the labels of real tokens. The labels of padding tokens remain -100, so that the loss ignores
        # these tokens.
        labels[batch["attention_mask"].bool()] = torch.tensor([label for _, some in masked for label in some])
        return {**batch, "labels": labels}


def _collate(masking: Masking, examples: Sequence[Pair]) -> dict[str, Any]:
    """Convert pairs into a batch with labels for masked language modelling and next-sentence prediction."""
    import torch

    rows = masking.inputs.rows([e.context for e in examples], [e.response for e in examples])
    batch = masking.batch(rows, [e.id for e in examples])
    return {**batch, "next_sentence_label": torch.tensor([e.label for e in examples])}

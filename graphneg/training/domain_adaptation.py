"""Domain-adaptive post-training: an encoder and dialogues in, an encoder that has read such dialogues out.

Gu et al. 2020, Speaker-Aware BERT, section 3.4: before an encoder is trained to rank, it learns BERT's two
tasks together on dialogues of the domain, speakers and markers included. Next sentence
is here a dialogue's own reply, or in half of the examples any other one's. Words are masked anew
in each epoch (Devlin et al. 2019, BERT, section 3.1).
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

_NEXT, _OTHER = 0, 1
_NOT_MASKED = -100
_AS_MASK, _AS_ANY = 0.8, 0.9


@dataclass(frozen=True, slots=True)
class Adaptation(Trained):
    """A post-trained encoder: ``examples`` of one epoch, ``loss`` of both tasks together over the run."""

    examples: int


@dataclass(frozen=True, slots=True)
class AdaptableEncoder:
    """An encoder with BERT's two heads, speakers and markers, and its tokenizer."""

    model: Any
    tokenizer: Any
    start: str

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer into a folder that transformers reads."""
        self.model.save_pretrained(str(folder))
        self.tokenizer.save_pretrained(str(folder))


def new_adaptable(
    model: str | Path, *, seed: int = 0, device: str | None = None, offline: bool = False
) -> AdaptableEncoder:
    """An encoder by path or hub id, ready for `adapt`; what is new in it is drawn by ``seed``.

    Raises `ModelError`: there is no such encoder, it is none of BERT's family (which have a head for the next
    sentence), or its tokenizer has no mask.
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
    """Train ``encoder`` in place on contexts and their right responses, and save it into ``out``.

    The folder is an encoder from which a speaker-aware ranker starts, with its speakers, and a
    ``BertForPreTraining`` to transformers. ``masked`` is the share of words that are masked;
    no text of ``held_out`` is ever a response. What ``seed``, ``overwrite`` and ``arguments`` do:
    `graphneg.training.rankers.train_ranker`.

    Raises `InputError`: there is nothing to learn from, ``out`` holds a model or another run, or the
    arguments are none of ``TrainingArguments``.
    """
    check_epochs(epochs, arguments)
    if not 0 < masked < 1:
        raise InputError("a share of masked words between 0 and 1, please")
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
    """What a store's contexts teach: each with its right responses; those without any are left out."""
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
    """The examples of all epochs, ``size`` of each: each right response, or in its place another.

    The label is BERT's: 0 for the context's own response, 1 for another.

    Raises `InputError`: there is no right response, or only one.
    """

    def __init__(
        self, groups: Sequence[Group], epochs: int, seed: int, held_out: Collection[str] = ()
    ) -> None:
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
        """What decides a run."""
        return [(group.id, group.context, text) for group, text in self._pairs]

    def __len__(self) -> int:
        return self._epochs * self.size

    def __getitem__(self, index: int) -> Pair:
        epoch, at = divmod(index, self.size)
        if epoch != self._epoch:
            self._epoch = epoch
            self._order = shuffled(range(self.size), self._seed, "order", str(epoch))
        group, text = self._pairs[self._order[at]]
        id = f"{epoch}~{self._order[at]}"
        if number(self._seed, "next", id) % 2:
            right = NearTexts(answer.text for answer in group.positives)
            for k in range(20):
                other = self._pairs[number(self._seed, "other", id, str(k)) % self.size][1]
                if other not in right:
                    return Pair(id, group.context, other, _OTHER, RANDOM)
        return Pair(id, group.context, text, _NEXT, REFERENCE)


@dataclass(frozen=True, slots=True)
class Masking:
    """Masks ``share`` of a row's tokens, at least one; never markers or the tokens around texts.

    Of the chosen tokens eight in ten become the mask, one any token, one stays. The choice depends on seed
    and example alone, so that a run that was stopped goes on with the same masks.
    """

    inputs: SpeakerInputs
    vocabulary: int
    mask: int
    share: float
    seed: int

    def masked(self, row: Row, id: str) -> tuple[Row, list[int]]:
        """The row of the example ``id`` with masks, and what stood at each of them (-100 elsewhere)."""
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
        """Masked rows of examples as tensors of shape (rows, tokens), and their ``labels``."""
        import torch

        masked = [self.masked(row, id) for row, id in zip(rows, ids, strict=True)]
        batch = self.inputs.batch([row for row, _ in masked])
        labels = torch.full(batch["attention_mask"].shape, _NOT_MASKED)
        labels[batch["attention_mask"].bool()] = torch.tensor([label for _, some in masked for label in some])
        return {**batch, "labels": labels}


def _collate(masking: Masking, examples: Sequence[Pair]) -> dict[str, Any]:
    import torch

    rows = masking.inputs.rows([e.context for e in examples], [e.response for e in examples])
    batch = masking.batch(rows, [e.id for e in examples])
    return {**batch, "next_sentence_label": torch.tensor([e.label for e in examples])}

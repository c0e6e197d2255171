"""Rank responses with a cross-encoder, which reads a context and a response as one input.

A cross-encoder is an encoder with a classification head. It is usually more accurate than a poly-encoder, but
slower, because the whole input must be encoded again for each pair, even if another pair has the same context
or response.

Example:
    For the context ["Hi!", "Do you like tea?"] and the response "Yes.", the BERT tokenizer gives ``[CLS] yes
    . [SEP] hi ! do you like tea ? [SEP]``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from graphneg.errors import ModelError
from graphneg.nn.batching import longest_first
from graphneg.nn.encoders import freeze, load_classifier, new_classifier, positions
from graphneg.nn.models import on_device
from graphneg.rankers.base import CROSS_ENCODER, EncoderRanker, kind_of

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase

_TASK = "ForSequenceClassification"

First = Literal["response", "context"]
"""Type of ``first``: which of the two texts comes first in the input of the model."""


class CrossEncoder(EncoderRanker):
    """A sequence classifier that scores pairs of a context and a response.

    A saved cross-encoder can also be loaded by ``transformers`` and by the ``CrossEncoder`` of
    sentence-transformers. The models that graphneg trains read the response before the context, so that the
    response always starts at the same position, which speeds up learning. A model that has no section
    ``graphneg`` in its ``config.json`` is assumed to read the context first.

    The turns of a context are joined by spaces. Separators between the turns would make the results of
    pretrained sentence encoders considerably worse. If the input has more than ``max_tokens`` tokens, the
    context is truncated at its beginning, because the last turns matter most for a response. A response that
    leaves no room for a context is truncated at its end.

    Attributes:
        model: The encoder with its classification head.
        tokenizer: The tokenizer of the encoder.
        max_tokens: Maximum length of the input in tokens.
        batch: Number of pairs per forward pass.
        first: The text that comes first in the input: ``response`` or ``context``.
    """

    kind: ClassVar[str] = CROSS_ENCODER
    reads_first: ClassVar[First] = "response"

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        max_tokens: int = 256,
        batch: int = 64,
        first: First | None = None,
    ) -> None:
        """Initialize a ranker with a loaded model.

        Args:
            model: The encoder with its classification head.
            tokenizer: The tokenizer of the encoder. Its truncation side is set to the left.
            max_tokens: Maximum length of the input in tokens. If the model can read fewer tokens, its limit
                is used.
            batch: Number of pairs per forward pass.
            first: The text that comes first in the input, ``response`` or ``context``; None for the default
                of the class.
        """
        self.model = model
        self.first = first or self.reads_first
        self.tokenizer = tokenizer
        self.batch = batch
        self.max_tokens = min(max_tokens, positions(model), tokenizer.model_max_length)
        self.tokenizer.truncation_side = "left"

    @classmethod
    def new(
        cls,
        model: str | Path,
        *,
        seed: int = 0,
        max_tokens: int = 256,
        frozen: Collection[str] = (),
        dropout: float | None = None,
        device: str | None = None,
        offline: bool = False,
    ) -> Self:
        """Create an untrained ranker from a pretrained encoder and a new classification head with one output.

        Raises `ModelError` if the encoder is missing or unsuitable, and `InputError` if a prefix in
        ``frozen`` matches no parameter.

        Args:
            model: Path or Hugging Face hub id of the encoder.
            seed: Seed for the random initial parameters of the classification head.
            max_tokens: Maximum length of the input in tokens.
            frozen: Prefixes of the names of parameters to exclude from training, such as ``embeddings``. On a
                CPU, training with frozen embeddings and a dropout of 0 is three times as fast.
            dropout: Dropout rate; None for the rate in the encoder's configuration.
            device: The torch device; None to choose one automatically.
            offline: Whether to use only local files, without downloading the encoder.

        Returns:
            The untrained ranker.
        """
        network, tokenizer = new_classifier(model, seed=seed, dropout=dropout, offline=offline)
        cls._prepare(network, tokenizer, seed, frozen)
        on_device(network, device)
        return cls(network, tokenizer, max_tokens=max_tokens)

    @classmethod
    def _read(cls, folder: Path, config: Mapping[str, Any], max_tokens: int | None, batch: int) -> Self:
        """Load the ranker in a folder, with its parameters on the CPU.

        Args:
            folder: The folder that contains the ranker.
            config: The parsed content of ``config.json`` in this folder.
            max_tokens: Maximum length of the input in tokens; None for the value that was used in training.
            batch: Number of pairs per forward pass.

        Returns:
            The ranker.

        Raises:
            ModelError: The model is not a classifier with one or two classes, or it is a ranker of another
                kind.
        """
        tasks = [str(task) for task in config.get("architectures") or ()]
        if not any(task.endswith(_TASK) for task in tasks):
            given = ", ".join(tasks) or "a model"
            raise ModelError(f"{folder}: {given} gives no scores; a ranker is a trained model {_TASK}")
        if (kind := kind_of(config)) != cls.kind:
            raise ModelError(
                f"{folder}: a ranker of the kind {kind}, not {cls.kind}; load_ranker reads either"
            )
        network, tokenizer = load_classifier(folder, "ranker")
        if (classes := network.config.num_labels) not in (1, 2):
            raise ModelError(f"{folder}: a classifier of {classes} classes; a ranker has one or two")
        noted: Any = getattr(network.config, "graphneg", None) or {}
        limit = max_tokens or noted.get("max_tokens", 256)
        return cls(network, tokenizer, max_tokens=limit, batch=batch, first=noted.get("first", "context"))

    def encode(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> BatchEncoding:
        """Tokenize pairs of a context and a response.

        Args:
            contexts: The contexts, each a list of turns, oldest first.
            responses: One response per context.

        Returns:
            Tensors of shape (pairs, tokens), keyed by the names of the model's parameters, such as
            ``input_ids``. Shorter pairs are padded to the length of the longest.
        """
        texts = [" ".join(turns) for turns in contexts]
        answers = [self._shortened(response) for response in responses]
        pairs = (answers, texts) if self.first == "response" else (texts, answers)
        return self.tokenizer(
            *pairs,
            # `_shortened` has truncated long responses, so only the context is truncated here, at its
            # beginning (`truncation_side`).
            truncation="only_second" if self.first == "response" else "only_first",
            max_length=self.max_tokens,
            padding=True,
            return_tensors="pt",
        )

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """Score pairs of a context and a response; see `Ranker.score`.

        Batches consist of pairs of similar length, so that little padding is needed.

        Args:
            contexts: The contexts, each a list of turns, oldest first.
            responses: One response per context.

        Returns:
            One score per pair, from 0 (does not fit) to 1 (fits).
        """
        import torch

        def run(pairs: Sequence[tuple[Sequence[str], str]]) -> list[float]:
            rows = self.encode([context for context, _ in pairs], [response for _, response in pairs])
            with torch.inference_mode():
                logits = self.model(**rows.to(self.model.device)).logits.float()
            # If the classification head has two classes, the second class means that the response fits.
            fits = logits.sigmoid()[:, 0] if logits.shape[1] == 1 else logits.softmax(dim=1)[:, 1]
            return fits.tolist()

        self.model.eval()
        pairs = list(zip(contexts, responses, strict=True))
        return longest_first(pairs, lambda pair: sum(map(len, pair[0])) + len(pair[1]), self.batch, run)

    def save(self, folder: str | Path) -> None:
        """Save the model and the tokenizer, so that `from_pretrained` can load them.

        Args:
            folder: The output folder.
        """
        self.model.config.graphneg = {"kind": self.kind, "max_tokens": self.max_tokens, "first": self.first}
        self.model.save_pretrained(str(folder))
        self.tokenizer.save_pretrained(str(folder))

    @classmethod
    def _prepare(cls, network: Any, tokenizer: Any, seed: int, frozen: Collection[str]) -> None:
        """Exclude parameters from training if their names begin with a prefix in ``frozen``."""
        freeze(network, frozen)

    def _shortened(self, response: str) -> str:
        """Truncate a response if it would leave no room for a token of the context."""
        room = self.max_tokens - self.tokenizer.num_special_tokens_to_add(pair=True) - 1
        # Each token has at least one byte, so a text with at most `room` bytes is short enough and need not
        # be tokenized.
        if len(response.encode("utf-8", "surrogatepass")) <= room:
            return response
        tokens: Any = self.tokenizer(response, add_special_tokens=False, return_offsets_mapping=True)
        ends = [end for _, end in tokens["offset_mapping"]]
        return response if len(ends) <= room else response[: ends[room - 1]]

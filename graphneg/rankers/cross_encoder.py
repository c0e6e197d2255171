"""A ranker that reads context and response together: any encoder with a classifier on top."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from graphneg.errors import ModelError
from graphneg.nn.batching import longest_first
from graphneg.nn.encoders import freeze, load_classifier, new_classifier, positions
from graphneg.nn.models import choose_device
from graphneg.rankers.base import CROSS_ENCODER, EncoderRanker, kind_of

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase

_TASK = "ForSequenceClassification"

First = Literal["response", "context"]
"""Which of the two texts the model reads first."""


class CrossEncoder(EncoderRanker):
    """A sequence classifier over a pair of texts, response and context.

    Its folder is read by ``transformers`` and by sentence-transformers' ``CrossEncoder`` alike. What is
    trained here reads the response ``first``, which is learned sooner: it always stands in the same
    place. A model that was trained elsewhere, and says nothing of it, gets the context first. Turns
    are joined by blanks, as running text: separators between them cost encoders of sentences much of what
    they know. What is longer than ``max_tokens`` is cut from the context's beginning: its last turns
    say most about a response. A response that leaves no room at all for a context loses its end.
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
        """An encoder by path or hub id with a new head of one class, drawn by ``seed``.

        ``frozen`` are beginnings of parameters' names that do not learn, ``embeddings`` say: on a CPU that
        and ``dropout`` 0 train three times as fast.

        Raises:
            ModelError: there is no such encoder, or none of which this kind can be made.
            InputError: no parameter's name begins with one of ``frozen``.
        """
        network, tokenizer = new_classifier(model, seed=seed, dropout=dropout, offline=offline)
        cls._prepare(network, tokenizer, seed, frozen)
        network.to(choose_device(device))
        return cls(network, tokenizer, max_tokens=max_tokens)

    @classmethod
    def _read(cls, folder: Path, config: Mapping[str, Any], max_tokens: int | None, batch: int) -> Self:
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
        """Tokens of the pairs, shape (pairs, tokens), padded to the longest, at most ``max_tokens``."""
        texts = [" ".join(turns) for turns in contexts]
        answers = [self._shortened(response) for response in responses]
        pairs = (answers, texts) if self.first == "response" else (texts, answers)
        return self.tokenizer(
            *pairs,
            truncation="only_second" if self.first == "response" else "only_first",
            max_length=self.max_tokens,
            padding=True,
            return_tensors="pt",
        )

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """See `Ranker.score`; pairs of like length are read together."""
        import torch

        def run(pairs: Sequence[tuple[Sequence[str], str]]) -> list[float]:
            rows = self.encode([context for context, _ in pairs], [response for _, response in pairs])
            with torch.inference_mode():
                logits = self.model(**rows.to(self.model.device)).logits.float()
            fits = logits.sigmoid()[:, 0] if logits.shape[1] == 1 else logits.softmax(dim=1)[:, 1]
            return fits.tolist()

        self.model.eval()
        pairs = list(zip(contexts, responses, strict=True))
        return longest_first(pairs, lambda pair: sum(map(len, pair[0])) + len(pair[1]), self.batch, run)

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer into a folder that ``from_pretrained`` reads."""
        self.model.config.graphneg = {"kind": self.kind, "max_tokens": self.max_tokens, "first": self.first}
        self.model.save_pretrained(str(folder))
        self.tokenizer.save_pretrained(str(folder))

    @classmethod
    def _prepare(cls, network: Any, tokenizer: Any, seed: int, frozen: Collection[str]) -> None:
        """Make of a new classifier what this kind needs, and freeze what does not learn."""
        freeze(network, frozen)

    def _shortened(self, response: str) -> str:
        """The response, or its beginning where it leaves no room for a context's token."""
        room = self.max_tokens - self.tokenizer.num_special_tokens_to_add(pair=True) - 1
        if len(response.encode("utf-8", "surrogatepass")) <= room:
            return response
        tokens: Any = self.tokenizer(response, add_special_tokens=False, return_offsets_mapping=True)
        ends = [end for _, end in tokens["offset_mapping"]]
        return response if len(ends) <= room else response[: ends[room - 1]]

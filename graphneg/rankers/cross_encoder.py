"""A ranker that reads context and response together: any encoder with a classifier on top."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from graphneg.decoders.t5.torch_backend import choose_device
from graphneg.errors import ModelError
from graphneg.language_models.finding import check_packages, first_line, locate
from graphneg.rankers.base import by_score

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase

_KIND = "ForSequenceClassification"


class CrossEncoder:
    """A sequence classifier over a pair of context and response.

    Its folder is read by ``transformers`` and by sentence-transformers' ``CrossEncoder`` alike. Turns
    are joined by the tokenizer's separator. What is longer than ``max_tokens`` is cut from the
    context's beginning: its last turns say most about a response.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        max_tokens: int = 256,
        batch: int = 64,
    ) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.batch = batch
        self.max_tokens = min(max_tokens, _positions(model))
        self.tokenizer.truncation_side = "left"

    @classmethod
    def from_pretrained(
        cls,
        model: str | Path,
        *,
        max_tokens: int = 256,
        batch: int = 64,
        device: str | None = None,
        offline: bool = False,
    ) -> Self:
        """A trained ranker by path or hub id.

        Raises:
            ModelError: torch or transformers is missing, there is no such model, or it is no classifier
                of one or two classes.
        """
        check_packages()
        folder = locate(model, offline=offline)
        _check_kind(folder)
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        try:
            network: Any = AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True)
            tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        except Exception as error:  # its loaders raise what the files' parsers and torch raise
            raise ModelError(f"{folder}: no ranker can be read from it ({first_line(error)})") from error
        if network.config.num_labels not in (1, 2):
            raise ModelError(
                f"{folder}: a classifier of {network.config.num_labels} classes; a ranker has one or two"
            )
        network.to(choose_device(device or "auto"))
        return cls(network, tokenizer, max_tokens=max_tokens, batch=batch)

    def encode(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> BatchEncoding:
        """Tokens of the pairs, shape (pairs, tokens), padded to the longest, at most ``max_tokens``."""
        separator = f" {self.tokenizer.sep_token or ''} "
        return self.tokenizer(
            [separator.join(turns) for turns in contexts],
            list(responses),
            truncation="only_first",
            max_length=self.max_tokens,
            padding=True,
            return_tensors="pt",
        )

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        if len(contexts) != len(responses):
            raise ValueError(f"{len(contexts)} contexts for {len(responses)} responses")
        lengths = [sum(map(len, c)) + len(r) for c, r in zip(contexts, responses, strict=True)]
        order = sorted(range(len(lengths)), key=lambda place: lengths[place])
        scores = [0.0] * len(order)
        for some in _cut(order, self.batch):
            found = self._scores([contexts[i] for i in some], [responses[i] for i in some])
            for place, one in zip(some, found, strict=True):
                scores[place] = one
        return scores

    def rank(self, context: Sequence[str], candidates: Sequence[str]) -> list[int]:
        return by_score(self.score([context] * len(candidates), candidates))

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer into a folder that ``from_pretrained`` reads."""
        self.model.save_pretrained(str(folder))
        self.tokenizer.save_pretrained(str(folder))

    def _scores(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        import torch

        self.model.eval()
        with torch.inference_mode():
            logits = self.model(**self.encode(contexts, responses).to(self.model.device)).logits.float()
        fits = logits.sigmoid()[:, 0] if logits.shape[1] == 1 else logits.softmax(dim=1)[:, 1]
        return fits.tolist()


def _check_kind(folder: Path) -> None:
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder}: no config.json can be read in it, so it is no ranker") from error
    kinds = [str(one) for one in config.get("architectures") or ()]
    if not any(kind.endswith(_KIND) for kind in kinds):
        raise ModelError(
            f"{folder}: {', '.join(kinds) or 'a model'} gives no scores; a ranker is a trained model {_KIND}"
        )


def _positions(model: PreTrainedModel) -> int:
    """The most tokens that the model can read."""
    most = getattr(model.config, "max_position_embeddings", None)
    return most if isinstance(most, int) and most > 0 else 1 << 20


def _cut(order: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (order[start : start + size] for start in range(0, len(order), size))

"""A detector of contradictions: any encoder with a classifier of one class on top."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from graphneg.decoders.t5.torch_backend import choose_device
from graphneg.rankers.cross_encoder import CrossEncoder, freeze, read_encoder

if TYPE_CHECKING:
    from torch import Tensor

KIND = "contradiction"
MAX_TOKENS = 128


class SaidPair(NamedTuple):
    """A response, and an earlier utterance of its speaker that it may contradict."""

    response: str
    earlier: str


class _PairEncoder(CrossEncoder):
    """A cross-encoder whose folder says that it finds contradictions, so that no ranking takes it."""

    kind: ClassVar[str] = KIND


class ContradictionDetector:
    """Says whether a response contradicts an earlier utterance of its speaker.

    It reads the earlier utterance and the response as a cross-encoder reads a context of one turn. Its
    folder is a plain sequence classifier of one class: ``transformers`` and sentence-transformers'
    ``CrossEncoder`` load it, and give the same scores for (earlier, response).
    """

    def __init__(self, encoder: CrossEncoder) -> None:
        self.encoder = encoder
        self.model: Any = encoder.model

    @classmethod
    def from_pretrained(cls, model: str | Path, **options: Any) -> Self:
        """A trained detector by path or hub id; ``options`` as `CrossEncoder.from_pretrained` takes them.

        Raises:
            ModelError: there is no such model, or it is no detector.
        """
        return cls(_PairEncoder.from_pretrained(model, **options))

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each (response, earlier utterance) how surely it is a contradiction, 0 to 1."""
        responses = [response for response, _ in pairs]
        return self.encoder.score([[earlier] for _, earlier in pairs], responses)

    def encode(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> Mapping[str, Tensor]:
        """Tokens of the pairs, each of shape (pairs, tokens); a context is the earlier utterance alone."""
        return self.encoder.encode(contexts, responses)

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer into a folder that ``from_pretrained`` reads."""
        self.encoder.save(folder)


def new_detector(
    model: str | Path,
    *,
    seed: int = 0,
    max_tokens: int = MAX_TOKENS,
    frozen: Collection[str] = (),
    dropout: float | None = None,
    device: str | None = None,
    offline: bool = False,
) -> ContradictionDetector:
    """An encoder by path or hub id with a new head of one class, drawn by ``seed``.

    A detector's own folder keeps its head: it can be trained on one source first and on another then. The
    other options are those of `graphneg.rankers.cross_encoder.new_cross_encoder`.

    Raises:
        ModelError: there is no such encoder.
        InputError: no parameter's name begins with one of ``frozen``.
    """
    network, tokenizer = read_encoder(model, seed=seed, dropout=dropout, offline=offline)
    freeze(network, frozen)
    network.to(choose_device(device or "auto"))
    return ContradictionDetector(_PairEncoder(network, tokenizer, max_tokens=max_tokens, first="context"))

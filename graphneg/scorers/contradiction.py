"""A detector of contradictions: a response and an earlier utterance of its speaker in, a score out.

It is any encoder with a classifier of one class on top: from 0 (goes with it) to 1 (contradicts it).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from graphneg.rankers.cross_encoder import CrossEncoder, First

KIND = "contradiction"
MAX_TOKENS = 128


class _PairEncoder(CrossEncoder):
    """A cross-encoder whose folder says that it finds contradictions, so that no ranking takes it."""

    kind: ClassVar[str] = KIND
    reads_first: ClassVar[First] = "context"


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
    def new(cls, model: str | Path, *, max_tokens: int = MAX_TOKENS, **options: Any) -> Self:
        """An encoder by path or hub id with a new head of one class, drawn by ``seed``.

        A detector's own folder keeps its head: it can be trained on one source first and on another then.
        ``options`` are those of `graphneg.rankers.cross_encoder.CrossEncoder.new`.

        Raises:
            ModelError: there is no such encoder.
            InputError: no parameter's name begins with one of ``frozen``.
        """
        return cls(_PairEncoder.new(model, max_tokens=max_tokens, **options))

    @classmethod
    def from_pretrained(cls, model: str | Path, **options: Any) -> Self:
        """A trained detector by path or hub id; ``options`` as `CrossEncoder.from_pretrained` takes them.

        Raises `ModelError`: there is no such model, or it is no detector.
        """
        return cls(_PairEncoder.from_pretrained(model, **options))

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each (response, earlier utterance) how surely it is a contradiction, 0 to 1."""
        responses = [response for response, _ in pairs]
        return self.encoder.score([[earlier] for _, earlier in pairs], responses)

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer into a folder that ``from_pretrained`` reads."""
        self.encoder.save(folder)

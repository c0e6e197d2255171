"""Detect contradictions between a response and an earlier utterance of the same speaker.

The detector is an encoder with a classification head of one class. Its score goes from 0 (consistent) to 1
(contradictory).

Example:
    ``detector.score([("I hate fish.", "Fish is my favourite food.")])`` returns one number, which is high for
    this pair of a response and an earlier utterance.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from graphneg.rankers.cross_encoder import CrossEncoder, First

KIND = "contradiction"
"""The kind of model that the ``config.json`` of a detector names."""
MAX_TOKENS = 128
"""Default maximum length of the input in tokens."""


class _PairEncoder(CrossEncoder):
    """A cross-encoder whose folder is marked as a detector, so that it is not loaded as a ranker."""

    kind: ClassVar[str] = KIND
    reads_first: ClassVar[First] = "context"


class ContradictionDetector:
    """Score whether a response contradicts an earlier utterance of its speaker.

    The detector reads the earlier utterance and the response as a cross-encoder reads a context of one turn.
    Its folder is a sequence classifier with one class. It can be loaded by ``transformers`` and by
    sentence-transformers' ``CrossEncoder``, which give the same scores for the pair (earlier utterance,
    response).

    Attributes:
        encoder: The cross-encoder.
        model: The torch module of the encoder.
    """

    def __init__(self, encoder: CrossEncoder) -> None:
        """Initialize a detector.

        Args:
            encoder: The cross-encoder.
        """
        self.encoder = encoder
        self.model: Any = encoder.model

    @classmethod
    def new(cls, model: str | Path, *, max_tokens: int = MAX_TOKENS, **options: Any) -> Self:
        """Create a detector to train from an encoder and a new head.

        If ``model`` is the folder of a detector, its head is kept, so that a detector can be trained on
        several sources one after the other. A missing encoder raises `ModelError`. A name in ``frozen`` that
        fits no parameter raises `InputError`.

        Args:
            model: Path or hub id of the encoder.
            max_tokens: Maximum length of the input in tokens.
            **options: Options of `graphneg.rankers.cross_encoder.CrossEncoder.new`, such as the seed of the
                head.

        Returns:
            The detector.
        """
        return cls(_PairEncoder.new(model, max_tokens=max_tokens, **options))

    @classmethod
    def from_pretrained(cls, model: str | Path, **options: Any) -> Self:
        """Load a trained detector.

        A missing model, or one that is no detector, raises `ModelError`.

        Args:
            model: Path or hub id of the detector.
            **options: Options of `CrossEncoder.from_pretrained`.

        Returns:
            The detector.
        """
        return cls(_PairEncoder.from_pretrained(model, **options))

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Score pairs of a response and an earlier utterance.

        Args:
            pairs: The response and the earlier utterance of each pair.

        Returns:
            One score per pair, from 0 (consistent) to 1 (contradictory).
        """
        responses = [response for response, _ in pairs]
        return self.encoder.score([[earlier] for _, earlier in pairs], responses)

    def save(self, folder: str | Path) -> None:
        """Save model and tokenizer.

        Args:
            folder: The folder to write, which `from_pretrained` can read.
        """
        self.encoder.save(folder)

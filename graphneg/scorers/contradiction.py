"""Detect contradictions between a response and an earlier utterance of the same speaker.

The detector is an encoder with a classification head. A score is a number from 0 (consistent) to 1
(contradictory).

Example:
    ``detector.score([("I hate fish.", "Fish is my favourite food.")])`` scores the response "I hate fish."
    after the earlier utterance "Fish is my favourite food." It returns a list with one number close to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from graphneg.rankers.cross_encoder import CrossEncoder, First

KIND = "contradiction"
"""The kind of model, which is stored in the ``config.json`` of a detector."""
MAX_TOKENS = 128
"""Default maximum length of the input in tokens."""


class _PairEncoder(CrossEncoder):
    """A cross-encoder that is saved as a contradiction detector, so that it cannot be loaded as a ranker."""

    kind: ClassVar[str] = KIND
    reads_first: ClassVar[First] = "context"


class ContradictionDetector:
    """A model that scores whether a response contradicts an earlier utterance of its speaker.

    The detector is a cross-encoder. In its input, the earlier utterance takes the place of the context. A
    saved detector is a sequence classifier with one output. It can also be loaded by ``transformers`` and by
    the ``CrossEncoder`` of sentence-transformers. The scores are the same if the earlier utterance is passed
    as the first text of a pair and the response as the second.

    Attributes:
        encoder: The cross-encoder.
        model: The torch module of the cross-encoder.
    """

    def __init__(self, encoder: CrossEncoder) -> None:
        """Initialize a detector.

        Args:
            encoder: The cross-encoder. Its inputs are pairs of an earlier utterance and a response.
        """
        self.encoder = encoder
        self.model: Any = encoder.model

    @classmethod
    def new(cls, model: str | Path, *, max_tokens: int = MAX_TOKENS, **options: Any) -> Self:
        """Create an untrained detector from a pretrained encoder and a new classification head.

        If ``model`` is already a detector, its head is kept, so that a detector can be trained on several
        data sets one after the other. Raises `ModelError` if the encoder is missing, and `InputError` if a
        prefix in ``frozen`` matches no parameter.

        Args:
            model: Path or Hugging Face hub id of the encoder.
            max_tokens: Maximum length of the input in tokens.
            **options: Further arguments of `graphneg.rankers.cross_encoder.CrossEncoder.new`, such as
                ``seed``.

        Returns:
            The detector, which can be trained.
        """
        return cls(_PairEncoder.new(model, max_tokens=max_tokens, **options))

    @classmethod
    def from_pretrained(cls, model: str | Path, **options: Any) -> Self:
        """Load a trained detector.

        Raises `ModelError` if the model is missing or is not a detector.

        Args:
            model: Path or Hugging Face hub id of the detector.
            **options: Further arguments of `CrossEncoder.from_pretrained`.

        Returns:
            The trained detector.
        """
        return cls(_PairEncoder.from_pretrained(model, **options))

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Score pairs of a response and an earlier utterance.

        Args:
            pairs: The pairs, each with the response first and the earlier utterance of its speaker second.

        Returns:
            One score per pair, from 0 (consistent) to 1 (contradictory).
        """
        responses = [response for response, _ in pairs]
        return self.encoder.score([[earlier] for _, earlier in pairs], responses)

    def save(self, folder: str | Path) -> None:
        """Save the model and the tokenizer, so that `from_pretrained` can load them.

        Args:
            folder: The output folder.
        """
        self.encoder.save(folder)

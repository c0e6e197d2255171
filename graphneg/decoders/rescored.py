"""The rescored decoder: choose between the text of ``surface`` and texts of a language model.

The surface decoder keeps the original wording, but cannot express every edit in words. A language model can
write a text for any graph, but often changes words that no edit touched. This decoder collects the texts of
the surface decoder and of a language model, and scores the texts. The score of a text is the Smatch F1
between the edited graph and the graph that a parser produces for the text, minus the weighted loss of the
text under the model. The text of ``surface`` gets a bonus, because it keeps the wording of a human writer.

Input: edited graphs with their utterances. Output: one text for each graph, or the reason why it has no text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from graphneg.amr.smatch import score
from graphneg.decoders.surface.decoder import SurfaceDecoder
from graphneg.decoders.t5 import T5Decoder, same_words
from graphneg.english.tokens import match_key
from graphneg.errors import InputError
from graphneg.model import Decoded, EditedUtterance
from graphneg.parsers.round_trip import RoundTrip

LOSS_WEIGHT = 0.05
"""Default weight of the model's loss (nats per token), which is subtracted from the Smatch F1."""
MARGIN = 0.05
"""Default bonus for the text of ``surface``.

The bonus is needed because a model considers its own texts likely even if they change details. For example,
AMR has no articles, so both "a man" and "the man" express the same graph. The bonus was measured with three
kinds of edits on the training part of SICK: with it, the chosen text equals the human text for 53%, 37% and
63% of the edits, and without it for 50%, 37% and 50%.
"""


class RescoringDecoder:
    """Choose the best of several texts: the text of the decoder ``surface`` and the texts of a model.

    The model proposes its ``num_beams`` most likely texts.

    The score of a text is the Smatch F1 between the edited graph and the graph that ``parser`` produces for
    the text, minus ``loss_weight`` times the mean negative log-likelihood of the text under the model. For
    the text of ``surface``, ``margin`` is added.

    Args:
        model: Directory or Hugging Face Hub id of the language model; see `T5Decoder`.
        backend: Library that runs the model, ``torch`` or ``ctranslate2``.
        device: Device that runs the model, for example ``cpu`` or ``cuda``; ``auto`` chooses a device.
        num_beams: Number of texts that the model proposes for each graph; at least 1.
        offline: Whether to load the model without network access.
        parser: Name of the parser that turns each text back into a graph.
        loss_weight: Weight of the mean negative log-likelihood (nats per token); at least 0.
        margin: Bonus for the text of ``surface``, in points of F1 from 0 to 1; at least 0.
        **options: Further options of `T5Decoder`.

    Raises:
        InputError: ``loss_weight`` or ``margin`` is negative.
        DecoderError: No model was given, a package is missing, or the backend cannot run the model.
        ParserError: No parser has the given name.
    """

    name = "rescored"
    """The name of this decoder in the registry."""

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        backend: Literal["torch", "ctranslate2"] = "torch",
        device: str = "auto",
        num_beams: int = 4,
        offline: bool = False,
        parser: str = "dependency",
        loss_weight: float = LOSS_WEIGHT,
        margin: float = MARGIN,
        **options: Any,
    ) -> None:
        if min(loss_weight, margin) < 0:
            raise InputError(f"loss_weight and margin must be at least 0, not {loss_weight} and {margin}")
        self._model = T5Decoder(
            model, backend=backend, device=device, num_beams=num_beams, offline=offline, **options
        )
        self._surface = SurfaceDecoder()
        self._trip = RoundTrip(parser)
        self._loss_weight, self._margin = loss_weight, margin

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        """Return the best text for each edited graph.

        Args:
            batch: Utterances with their graphs before and after the edits.

        Returns:
            One result for each utterance, in the order of the batch: the text with the highest score. Texts
            with the same words as the original utterance are not used. If no other text is left, the result
            of the decoder ``surface`` is returned, which usually is a reason instead of a text.
        """
        surface = self._surface.decode(batch)
        written = self._model.n_best([item.after for item in batch])
        candidates = [
            _usable(item.text, (first, *others))
            for item, first, others in zip(batch, surface, written, strict=True)
        ]
        pairs = [(item.after, text) for item, texts in zip(batch, candidates, strict=True) for text in texts]
        losses = self._model.losses(pairs)
        tallies = self._trip.tallies(pairs)
        scores = iter(
            score(tally).f1 - self._loss_weight * loss if self._loss_weight else score(tally).f1
            for tally, loss in zip(tallies, losses, strict=True)
        )
        answers: list[Decoded] = []
        for texts, first in zip(candidates, surface, strict=True):
            # The iterator `scores` yields the scores of all texts, in the order in which this loop visits the
            # texts.
            scored = {text: next(scores) + self._margin * (text == first.text) for text in texts}
            answers.append(Decoded(max(scored, key=lambda text: scored[text])) if scored else first)
        return answers

    def close(self) -> None:
        """Stop the worker processes of the parser. Without this call, they stop when this process exits."""
        self._trip.close()


def _usable(original: str, answers: Sequence[Decoded]) -> list[str]:
    """Return the texts of the results whose words differ from the original text, without duplicates."""
    found: dict[str, str] = {}
    for answer in answers:
        if answer.text is not None and not same_words(answer.text, original):
            found.setdefault(match_key(answer.text), answer.text)
    return list(found.values())

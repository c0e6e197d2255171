"""The decoder: reads an edited utterance, has the plan realise it, and says why where it can't."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.alignment import get_aligner
from graphneg.decoders.base import refuse_original
from graphneg.decoders.surface.apostrophes import joined, stands_apart, taken_apart
from graphneg.decoders.surface.plan import Sources, realise
from graphneg.decoders.surface.reading import Readings
from graphneg.decoders.surface.sentence import Sentence, Unrealised
from graphneg.model import Decoded, EditedUtterance

MAX_TOKENS = 1_000
_LATIN_SHARE = 0.5


class SurfaceDecoder:
    """Realises edits on the original words, through the alignment of the original graph.

    ``aligner`` is ``rules`` or ``rbw``. What no edit touches stays, character for character. Answers
    without text give one of these codes:
    ``no-alignment``, ``unsupported-edit``, ``unclear-clause``, ``already-negative``, ``kind-mismatch``,
    ``no-form``, ``no-source``, ``unchanged``, ``empty``, ``not-english``, ``too-long``. A defect of the
    decoder itself is ``internal-error``, reported like the rest, so that one odd text does not end a run.
    """

    name = "surface"

    def __init__(self, aligner: str = "rules") -> None:
        self._readings = Readings(get_aligner(aligner))

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        """One answer for each utterance: its text under the edits, or a reason."""
        return [self._decode(item) for item in batch]

    def _decode(self, item: EditedUtterance) -> Decoded:
        if not item.text.strip():
            return Decoded(None, "empty: the utterance has no words")
        if not _is_latin(item.text):
            return Decoded(None, "not-english: the text is not in Latin letters")
        if not item.edits:
            return Decoded(None, "unchanged: there are no edits")
        apart = stands_apart(item.text)
        reading = self._readings.of(joined(item.text) if apart else item.text, item.before)
        if len(reading.tokens) > MAX_TOKENS:
            return Decoded(None, f"too-long: the utterance has more than {MAX_TOKENS} tokens")
        texts = {amr: joined(one) if stands_apart(one) else one for amr, one in item.source_texts.items()}
        sources = Sources(item.sources, texts, self._readings)
        try:
            text = realise(Sentence(reading, self._readings), item.edits, sources)
        except Unrealised as why:
            return Decoded(None, str(why))
        except Exception as error:
            return Decoded(None, f"internal-error: {type(error).__name__}: {error}")
        return refuse_original(item.text, Decoded(taken_apart(text, like=item.text) if apart else text))


def _is_latin(text: str) -> bool:
    letters = [character for character in text[:2000] if character.isalpha()]
    return not letters or sum(character < "ʰ" for character in letters) >= _LATIN_SHARE * len(letters)

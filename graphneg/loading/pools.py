"""From texts of a resource to the sentences of a pool: what every loader of pools checks."""

from __future__ import annotations

from graphneg.model import Rejected, Sentence

LONGEST_SENTENCE = 2_000
"""Characters. A line of text without ends of sentences is no sentence."""


def sentence(id: str, text: str, source: str, place: str) -> Sentence | Rejected:
    """A sentence of a pool, or why it is none."""
    if len(text) > LONGEST_SENTENCE:
        return Rejected(place, f"a sentence is longer than {LONGEST_SENTENCE:,} characters")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return Rejected(place, f"half of a surrogate pair, U+{ord(text[error.start]):04X}")
    return Sentence(id, text, source)


def as_sentence(example: str) -> str:
    """An example of a dictionary written as a sentence: a capital first, a mark at its end.

    >>> as_sentence("he ran up a large bill")
    'He ran up a large bill.'
    """
    text = example[:1].upper() + example[1:]
    return text if not text or text[-1] in ".!?\"'”’" else f"{text.rstrip(',;: ')}."

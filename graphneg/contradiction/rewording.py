"""A negated sentence said as people deny things: they have never done it, or not yet."""

from __future__ import annotations

import re
from typing import Literal

Wording = Literal["as it is", "never", "not yet"]
WORDINGS: tuple[Wording, ...] = ("as it is", "never", "not yet")
_DENIAL = re.compile(
    r"\b(?P<subject>i|we|they) (?:do|did)(?: not| ?n't) (?P<verb>[a-z]+)"
    r"(?P<rest>[^.!?]*)(?P<end>[.!?]*)$",
    re.I,
)
_ADVERBS = frozenset(
    ("not", "just", "really", "even", "only", "also", "always", "ever", "actually", "usually")
)


def reworded(sentence: str, wording: Wording) -> str | None:
    """A sentence that denies an act in the simple present or past, in the present perfect; None where it
    is no such sentence.

    >>> reworded("I do not keep bees.", "never"), reworded("We didn't see it.", "not yet")
    ('I have never kept bees.', "We haven't seen it yet.")
    >>> reworded("It is not far.", "never") is None
    True
    """
    if wording == "as it is":
        return sentence
    found = _DENIAL.search(sentence)
    if found is None or found["verb"].lower() in _ADVERBS:
        return None
    verb = _participle(found["verb"].lower())
    if verb is None:
        return None
    have, tail = ("have never", "") if wording == "never" else ("haven't", " yet")
    rest = found["rest"].rstrip()
    return f"{sentence[: found.start()]}{found['subject']} {have} {verb}{rest}{tail}{found['end']}"


def _participle(verb: str) -> str | None:
    from lemminflect import getInflection

    return next(iter(getInflection(verb, tag="VBN")), None)

"""The lemma or phrase behind an AMR concept: where graphs, keywords and ConceptNet meet."""

from __future__ import annotations

import re
from functools import lru_cache

_SENSE = re.compile(r"-\d\d+$")


@lru_cache(maxsize=65536)
def is_frame(concept: str) -> bool:
    """Whether the concept names a PropBank roleset.

    >>> is_frame("like-01"), is_frame("boy")
    (True, False)
    """
    return _SENSE.search(concept) is not None


@lru_cache(maxsize=65536)
def lexeme(concept: str) -> str:
    """The concept's lemma or phrase, lower case, words apart by a space.

    >>> lexeme("give-up-07"), lexeme("boy"), lexeme("Middle-East")
    ('give up', 'boy', 'middle east')
    """
    stem = _SENSE.sub("", concept).strip('"')
    return " ".join(stem.replace("-", " ").replace("_", " ").lower().split()) or concept

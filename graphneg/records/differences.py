"""Show people what an edit changed: each turn before and after, and the words that differ.

>>> list(changed_words("I like slow tea.", "I like tea."))
[(False, 'I like', 'I like'), (True, 'slow', ''), (False, 'tea.', 'tea.')]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from graphneg.model import Negative, Turn


@dataclass(frozen=True, slots=True)
class TurnChange:
    """A turn before and after an edit.

    Attributes:
        old_speaker: The original speaker.
        old: The original text.
        speaker: The speaker after the edit.
        text: The text after the edit.
    """

    old_speaker: str
    old: str
    speaker: str
    text: str

    @property
    def is_edited(self) -> bool:
        """Whether the speaker or the text changed."""
        return (self.old_speaker, self.old) != (self.speaker, self.text)


def turn_changes(negative: Negative) -> list[TurnChange]:
    """Return the turns of a negative before and after the edit.

    Args:
        negative: The negative.

    Returns:
        The turns of the context, then the response.
    """
    original = negative.original
    # None in `original` means that this part was not edited, so `negative` still has the original.
    context = negative.context if original.context is None else original.context
    response = negative.response if original.response is None else original.response
    old = (*context, Turn(negative.speaker, response))
    new = (*negative.context, Turn(negative.speaker, negative.response))
    return [
        TurnChange(before.speaker, before.text, after.speaker, after.text)
        for before, after in zip(old, new, strict=True)
    ]


LEAST_SHARED = 0.4
"""Minimum share of common words, from 0 to 1. Below it, a text counts as replaced instead of edited.

In 66 edited turns, the turns with a few changed words share 0.5 to 0.95 of their words with the original, and
the turns that were replaced by another reply share 0 to 0.18. Unrelated sentences can share up to 0.35, all
of it function words: "No, it belongs to the library. I must return it." and "The band took it to the
station."
"""


def changed_words(before: str, after: str) -> Iterator[tuple[bool, str, str]]:
    """Split two texts into pieces of whole words that are equal or changed.

    If the texts have few words in common (see `LEAST_SHARED`), the result is a single changed piece.
    Otherwise words that match by chance would break it up, as in "No, it ~~belongs to the~~ **is my**
    library."

    Args:
        before: The original text.
        after: The edited text.

    Yields:
        Whether the piece changed, its original words, and its edited words. Either text may be empty.

    >>> list(changed_words("I like slow tea.", "I like tea."))
    [(False, 'I like', 'I like'), (True, 'slow', ''), (False, 'tea.', 'tea.')]
    >>> list(changed_words("No, it belongs to the library.", "The band took them to Rome."))
    [(True, 'No, it belongs to the library.', 'The band took them to Rome.')]
    """
    old, new = before.split(), after.split()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    changes = matcher.get_opcodes()
    # If words were only removed, show which ones, however few remain.
    # "I'm sorry. Is she in hospital? Which one?" became "I'm sorry.", which is not a replacement.
    is_replaced = {tag for tag, *_ in changes} - {"equal"} not in ({"insert"}, {"delete"}, set[str]())
    if is_replaced and matcher.ratio() < LEAST_SHARED:
        yield True, " ".join(old), " ".join(new)
        return
    for tag, a, b, c, d in changes:
        yield tag != "equal", " ".join(old[a:b]), " ".join(new[c:d])

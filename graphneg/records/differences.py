"""What an edit changed, for people to see: turns before and after, and words in which two texts differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from graphneg.model import Negative


@dataclass(frozen=True, slots=True)
class TurnChange:
    """Who says a turn and what: as it was loaded, and as it is."""

    old_speaker: str
    old: str
    speaker: str
    text: str

    @property
    def is_edited(self) -> bool:
        """Whether anything of it changed."""
        return (self.old_speaker, self.old) != (self.speaker, self.text)


def turn_changes(negative: Negative) -> list[TurnChange]:
    """Each turn of a negative, the response last."""
    original = {name: negative.original[name] for name in ("context", "response")}
    loaded = replace(negative, **{name: value for name, value in original.items() if value is not None})
    old, new = (
        [*((turn["speaker"], turn["text"]) for turn in version.context), (version.speaker, version.response)]
        for version in (loaded, negative)
    )
    return [TurnChange(*before, *after) for before, after in zip(old, new, strict=True)]


def changed_words(before: str, after: str) -> Iterator[tuple[bool, str, str]]:
    """Two texts in pieces of whole words: whether a piece changed, and its words in either, maybe none.

    >>> list(changed_words("I like slow tea.", "I like tea."))
    [(False, 'I like', 'I like'), (True, 'slow', ''), (False, 'tea.', 'tea.')]
    """
    old, new = before.split(), after.split()
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        yield tag != "equal", " ".join(old[a:b]), " ".join(new[c:d])

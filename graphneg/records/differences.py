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


LEAST_SHARED = 0.4
"""Share of words that two texts have in common, below which one replaces the other as a whole.

Of 66 edited turns, those with changed words share 0.5 to 0.95 of their words with the original; those that
another reply replaced share 0 to 0.18. Two sentences can share up to 0.35 by function words alone: "No, it
belongs to the library. I must return it." and "The band took it to the station."
"""


def changed_words(before: str, after: str) -> Iterator[tuple[bool, str, str]]:
    """Split two texts into pieces of whole words.

    A text that shares little with the other (`LEAST_SHARED`) is one piece. Word by word, the few words that
    both happen to have would break them up: "No, it ~~belongs to the~~ **is my** library."

    Yields:
        Whether the piece changed, its words before, and its words after. Either may be empty.

    >>> list(changed_words("I like slow tea.", "I like tea."))
    [(False, 'I like', 'I like'), (True, 'slow', ''), (False, 'tea.', 'tea.')]
    >>> list(changed_words("No, it belongs to the library.", "The band took it to Rome."))
    [(True, 'No, it belongs to the library.', 'The band took it to Rome.')]
    """
    old, new = before.split(), after.split()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    changes = matcher.get_opcodes()
    # "I'm sorry. Is she in hospital? Which one?" → "I'm sorry.": words are only removed, so show which.
    is_replaced = {tag for tag, *_ in changes} - {"equal"} not in ({"insert"}, {"delete"}, set[str]())
    if is_replaced and matcher.ratio() < LEAST_SHARED:
        yield True, " ".join(old), " ".join(new)
        return
    for tag, a, b, c, d in changes:
        yield tag != "equal", " ".join(old[a:b]), " ".join(new[c:d])

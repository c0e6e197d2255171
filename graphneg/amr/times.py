"""When things are said to be: nodes that say a time, clauses that have one, the tense of a text."""

from __future__ import annotations

import re
from functools import lru_cache

from graphneg.amr.reading import Reading
from graphneg.english.lexicon import Lexicon

_PARTS = frozenset({"time", "duration", "frequency", "weekday", "dayperiod", "season", "unit"})
_SPANS = frozenset({"time", "duration", "frequency"})
_BOUND = frozenset({"time", "duration", "frequency", "condition", "polarity", "mode"})
_DATES = frozenset({"date-entity", "temporal-quantity"})
_RELATIVE = frozenset({"next", "last", "early", "late", "today"})
_COUNTED = frozenset({"month", "day", "year", "quant"})
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_CLOCK = re.compile(r'"?([0-9]{1,2}):[0-9]{2}"?')


class Times:
    """What the nodes of a graph say about time; ``text`` is what the graph means."""

    def __init__(self, reading: Reading, text: str) -> None:
        self._of = reading
        self.tense = tense_of(text, reading.lexicon)
        self._bound = {
            node.up
            for node in reading.nodes
            if node.up is not None and (node.role in _BOUND or reading.is_a(node.k, "adverb-of-time"))
        }

    def is_dated(self, k: int) -> bool:
        """Whether a time, a condition, a negation or a mood of its own stands in the subtree of ``k``."""
        labels = self._of.labels
        return any(
            at in self._bound or labels[at] in _DATES or labels[at] == "rate-entity-91"
            for at in self._of.whole(k)
        )

    def says_when(self, k: int) -> bool:
        """Whether the node says when or how long."""
        reading, role, label = self._of, self._of.roles[k], self._of.labels[k]
        up = reading.nodes[k].up
        if role in _PARTS or label in _DATES:
            return True
        if up is not None and reading.roles[up] in _SPANS and role.startswith("op"):
            return True
        return role == "mod" and label in _RELATIVE

    def is_fixed(self, k: int) -> bool:
        """Whether no other time fits: two days before something, ``now`` in a span."""
        label = self._of.labels[k]
        if label in ("before", "after"):
            return any(child.role == "quant" for child in self._of.children[k])
        return label == "now" and self._of.roles[k].startswith("op")

    def number(self, k: int) -> int | None:
        """The number in a date or duration, or the hour of a clock time."""
        node = self._of.nodes[k]
        if node.value is None or node.up is None or self._of.labels[node.up] not in _DATES:
            return None
        if node.role in _COUNTED and _NUMBER.fullmatch(node.value):
            return int(node.value)
        clock = _CLOCK.fullmatch(node.value) if node.role == "time" else None
        return int(clock[1]) if clock else None


def tense_of(text: str, lexicon: Lexicon) -> str:
    """``past``, ``future``, ``mixed`` or, where no word is of either, ``present``.

    >>> from graphneg.english.lexicon import english
    >>> tense_of("She walked home.", english()), tense_of("I'll go.", english()), tense_of("I go.", english())
    ('past', 'future', 'present')
    """
    past, future = (bool(pattern.search(text.lower())) for pattern in _tenses(lexicon))
    if past and future:
        return "mixed"
    return "past" if past else "future" if future else "present"


@lru_cache(maxsize=8)
def _tenses(lexicon: Lexicon) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What tells the past, and what tells the future."""
    past, future = (
        "|".join(re.escape(form.replace("-", " ")) for form in sorted(lexicon.members(name)))
        for name in ("past-form", "future-form")
    )
    return (
        re.compile(rf"\b(?:{past}|[a-z]{{3,}}ed|[a-z]{{2,}}ied)\b"),
        re.compile(rf"\b(?:{future})\b|['’]ll\b"),
    )

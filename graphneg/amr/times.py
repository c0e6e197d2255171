"""Find the time expressions of a graph, the clauses that have a time, and the tense of a text.

The transform ``time_shift`` replaces one time with another, or adds a time. It needs to know which nodes
express a time, which of them can be replaced, and which tense the sentence has. AMR does not represent
tense, so the tense is taken from the text.

>>> from graphneg.english.lexicon import english
>>> tense_of("She walked home.", english())
'past'
"""

from __future__ import annotations

import re
from functools import lru_cache

from graphneg.amr.reading import AmrView
from graphneg.english.lexicon import Lexicon

# Roles of nodes that express a time (``:time``) or a part of a date (``:weekday``).
_TIME_ROLES = frozenset({"time", "duration", "frequency", "weekday", "dayperiod", "season"})
# Roles of time spans, whose operands are times: ``:duration (b / between :op1 (m / monday) :op2 ...)``.
_ROLES_OF_TIME_SPANS = frozenset({"time", "duration", "frequency"})
# Roles of a clause to which no time is added. For example, "If it rains, I stay" has a ``:condition``, and
# must not become "If it rains, I stayed yesterday".
_CLASHING_ROLES = frozenset({"time", "duration", "frequency", "condition", "polarity", "mode"})
_DATES = frozenset({"date-entity", "temporal-quantity"})
# Modifiers that are part of a time expression, such as "next" in "next week".
_RELATIVE = frozenset({"next", "last", "early", "late", "today"})
# Roles of the numbers in dates and durations: 5 in "May 5" (``:day 5``) and in "5 days" (``:quant 5``).
_COUNTED = frozenset({"month", "day", "year", "quant"})
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_CLOCK = re.compile(r'"?([0-9]{1,2}):[0-9]{2}"?')


class Times:
    """The time expressions of a graph.

    Args:
        view: The graph, indexed for look-ups.
        text: The text of the graph.

    Attributes:
        tense: The tense of the text, as `tense_of` returns it.
    """

    def __init__(self, view: AmrView, text: str) -> None:
        """Determine the tense of the text, and find the nodes with a time, condition, negation or mood."""
        self._view = view
        self.tense = tense_of(text, view.lexicon)
        self._bound = {
            node.parent
            for node in view.nodes
            if node.parent is not None
            and (node.role in _CLASHING_ROLES or view.is_a(node.position, "adverb-of-time"))
        }

    def is_dated(self, k: int) -> bool:
        """Return whether a subtree contains a time, a condition, a negation or a mood.

        Args:
            k: Index of the top node of the subtree.

        Returns:
            True if the subtree contains one of these. A time added to the subtree might then clash with it.
        """
        labels = self._view.labels
        return any(
            at in self._bound or labels[at] in _DATES or labels[at] == "rate-entity-91"
            for at in self._view.subtree(k)
        )

    def is_temporal(self, k: int) -> bool:
        """Return whether a node expresses when, how often or for how long something happens.

        Args:
            k: Index of the node in the graph.

        Returns:
            True for a time expression or a part of one.
        """
        view, role, label = self._view, self._view.roles[k], self._view.labels[k]
        up = view.nodes[k].parent
        if role in _TIME_ROLES or label in _DATES:
            return True
        # A unit is part of a time if it is a unit of time: "week" in "two weeks", but not "dollar" in "two
        # dollars".
        if role == "unit" and up is not None and view.labels[up] in _DATES:
            return True
        # "Monday" and "Friday" in "from Monday to Friday" are the operands (op1, op2) of a time span.
        if up is not None and view.roles[up] in _ROLES_OF_TIME_SPANS and role.startswith("op"):
            return True
        return role == "mod" and label in _RELATIVE

    def is_fixed(self, k: int) -> bool:
        """Return whether a time must be kept because no other time fits in its place.

        Args:
            k: Index of the node in the graph.

        Returns:
            True for *before* in "two days before the party" and for *now* in "from now until Monday".
        """
        label = self._view.labels[k]
        # Keep *before* in "two days before the party". Of all times, only *after* would fit after "two days".
        if label in ("before", "after"):
            return any(child.role == "quant" for child in self._view.children[k])
        return label == "now" and self._view.roles[k].startswith("op")

    def number(self, k: int) -> int | None:
        """Return the number that a node contributes to a date or a duration.

        Args:
            k: Index of the node in the graph.

        Returns:
            The number; for a clock time the hour (17 for "17:30"). None if the node contributes no number.
        """
        node = self._view.nodes[k]
        if node.value is None or node.parent is None or self._view.labels[node.parent] not in _DATES:
            return None
        if node.role in _COUNTED and _NUMBER.fullmatch(node.value):
            return int(node.value)
        # AMR writes a clock time as a string (``:time "17:30"``), so take the number from the string.
        clock = _CLOCK.fullmatch(node.value) if node.role == "time" else None
        return int(clock[1]) if clock else None


def tense_of(text: str, lexicon: Lexicon) -> str:
    """Return the tense of a text.

    Args:
        text: The text of an utterance.
        lexicon: The lexicon. Its classes ``past-form`` and ``future-form`` list the words that show a tense,
            except for regular past forms.

    Returns:
        ``past``, ``future``, ``mixed`` if the text has forms of both, or ``present`` if it has neither.

    Example:
        >>> from graphneg.english.lexicon import english
        >>> [tense_of(text, english()) for text in ("She walked home.", "I'll go.", "I go.")]
        ['past', 'future', 'present']
    """
    past, future = (bool(pattern.search(text.lower())) for pattern in _tense_patterns(lexicon))
    # "I said I will go" contains a past form and a future form, so its tense is "mixed".
    if past and future:
        return "mixed"
    return "past" if past else "future" if future else "present"


@lru_cache(maxsize=8)
def _tense_patterns(lexicon: Lexicon) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return a pattern that finds past forms such as *walked*, and one that finds future forms (*will*)."""
    past, future = (
        "|".join(re.escape(form.replace("-", " ")) for form in sorted(lexicon.members(name)))
        for name in ("past-form", "future-form")
    )
    return (
        # The lexicon lists only irregular past forms. Recognise regular ones, such as "walked" and "tried",
        # by their ending.
        re.compile(rf"\b(?:{past}|[a-z]{{3,}}ed|[a-z]{{2,}}ied)\b"),
        re.compile(rf"\b(?:{future})\b|['’]ll\b"),
    )

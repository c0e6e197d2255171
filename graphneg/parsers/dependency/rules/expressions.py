"""Expressions of several words that are one concept, and words joined by hyphens.

In: a `RuleState` at its beginning. Out: one node for each expression of ``expressions.tsv`` (*of course*,
*in front of*), for each amount (*a lot of money*: ``(money :quant (lot))``), and for each compound with a
hyphen that the tables know.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.parsers.dependency.lexicon import DELETED, expressions
from graphneg.parsers.dependency.rules.state import RuleState
from graphneg.parsers.dependency.words import Word

_MODIFIED = frozenset({"DT", "JJ", "WDT", "WP", "PRP$", "CD"})


def write_multiwords(state: RuleState) -> None:
    """Gives each expression one node, at the word that heads it."""
    i = 0
    while i < len(state.words):
        i += (
            _write_preposition(state, i)
            or _defer_none(state, i)
            or _write_expression(state, i)
            or _write_hyphenated(state, i)
            or 1
        )


def _write_preposition(state: RuleState, i: int) -> int:
    """*in front of the house*: ``(in-front-of :op1 house)``."""
    for forms, concept in expressions("preposition").get(state.words[i].lower, ()):
        run = state.words[i : i + len(forms)]
        inner = run[-1].child("pobj", "pcomp")
        if _matches(run, forms) and inner is not None:
            _write(state, run, concept)
            state.forms[inner.i] = "pobj"
            return len(run)
    return 0


def _defer_none(state: RuleState, i: int) -> int:
    """*none of the kids*: the kids; what they do is denied."""
    run = state.words[i : i + 2]
    whole = run[-1].child("pobj")
    if run[0].lower not in {"none", "neither"} or run[-1].lower != "of" or whole is None:
        return 0
    state.defer(run, whole)
    return 2


def _write_expression(state: RuleState, i: int) -> int:
    words = state.words
    if i in state.done:
        return 0
    for forms, concept in expressions().get(words[i].lower, ()):
        run = words[i : i + len(forms)]
        if not _matches(run, forms) or run[-1].sentence != run[0].sentence:
            continue
        if concept == DELETED:
            return 0
        before = words[i - 1].tag if i else ""
        noun = run[-1].child("pobj") if run[-1].lower == "of" else None
        if concept in {"kind-of", "sort-of"} and before in _MODIFIED:
            continue
        if concept in {"lot", "plenty"} and run[-1].lower == "of" and noun is None:
            continue
        if concept in {"lot", "plenty"} and noun is not None:
            state.amounts[noun.i] = state.draft.concept(concept, i, "multiword", last=run[-1].i)
            state.defer(run, noun)
        else:
            _write(state, run, concept)
        return len(run)
    return 0


def _write_hyphenated(state: RuleState, i: int) -> int:
    """*grown-up* is one concept where the tables know it as one."""
    run = state.words[i : i + 3]
    if len(run) < 3 or run[1].text != "-" or i in state.done:
        return 0
    joined = f"{run[0].lower}-{run[2].lemma}"
    frames = [frame for pos in "nj" for frame in state.lexicon.aliases.get((pos, joined), ())[:1]]
    concept = joined if joined in state.lexicon.totals else next(iter(frames), None)
    if concept is None:
        return 0
    _write(state, run, concept, "hyphen")
    return 3


def _matches(run: Sequence[Word], forms: tuple[str, ...]) -> bool:
    return tuple(word.lower for word in run) == forms


def _write(state: RuleState, run: Sequence[Word], concept: str, rule: str = "multiword") -> None:
    node = state.draft.concept(concept, run[0].i, rule, last=run[-1].i)
    state.draft.nodes[node].token = state.cover(run, node).i

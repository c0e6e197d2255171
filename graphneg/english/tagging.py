"""Tags each token of a sentence with a part of speech, in tens of microseconds.

A bigram Viterbi over hand-set costs (``tagging.tsv``); open-class words come from lemminflect. The AMR graph
helps: a token that stands for a frame is rather a verb, one that stands for a plain concept rather is not.

Tags are Penn's, with these of our own: ``PRS`` a pronoun as subject, ``PRO`` as object, ``PN`` an indefinite
or demonstrative one; ``PS`` a possessive; ``AX`` a finite form of be, have, do; ``SC`` a subordinator;
``NEG`` not; ``QT`` a quotation mark or bracket; ``PU`` other marks inside a sentence; ``EN`` its end.

>>> tag(["She", "saw", "the", "saw", "."], {})
['PRS', 'VBD', 'DT', 'NN', 'EN']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from graphneg.english.words import inflections, readings, table_rows, word_class

Costs = dict[str, float]
"""Costs by tag."""

NOUNS = frozenset({"NN", "NNS", "NNP"})
FINITE = frozenset({"VBP", "VBZ", "VBD", "AX", "MD"})
VERBS = FINITE | {"VB", "VBN", "VBG"}
_UNUSUAL = 3.0
"""Cost of a tag after one that the table does not name before it."""
_OPEN = {"NOUN": ("NN", "NNS"), "VERB": ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG")}
_VERB_TAGS = frozenset(_OPEN["VERB"])
_ENDS = frozenset(".!?…")
_QUOTES = frozenset("\"'“”‘’«»()[]{}`")
_UNOWNED = word_class("no-owners")
_BEFORE_ADJECTIVES = word_class("before-adjectives")
_BY_ENDING = (
    (("ly",), {"RB": 0.0, "JJ": 1.0}),
    (("ing",), {"VBG": 0.0, "NN": 0.7}),
    (("ed",), {"VBD": 0.3, "VBN": 0.3, "JJ": 0.5}),
    (("ous", "ful", "able", "ible", "ish", "less", "ive", "ic"), {"JJ": 0.0, "NN": 0.7}),
)


def _read_costs() -> tuple[dict[str, Costs], dict[str, Costs]]:
    """Costs of the tags of each word of a closed class, and of what follows each tag."""
    words: dict[str, Costs] = {}
    follows: dict[str, Costs] = {}
    for kind, name, cells in table_rows("graphneg.english", "tagging.tsv"):
        for cell in cells.split():
            key, _, cost = cell.partition(":")
            if kind == "word":
                words.setdefault(key, {})[name] = float(cost or 0)
            else:
                follows.setdefault(name, {})[key] = float(cost or 0)
    return words, follows


CLOSED, FOLLOWS = _read_costs()


def tag(tokens: Sequence[str], frames: Mapping[int, str]) -> list[str]:
    """One tag a token. ``frames``: by token, ``verb``, ``predicate`` or ``plain`` where the graph knows."""
    costs: Costs = {"START": 0.0}
    back: list[dict[str, str]] = []
    for index in range(len(tokens)):
        now: Costs = {}
        came: dict[str, str] = {}
        for current, emission in _emissions_at(tokens, index, frames.get(index)).items():
            best, best_from = 1e9, "START"
            for previous, cost in costs.items():
                total = cost + FOLLOWS[previous].get(current, _UNUSUAL)
                if total < best:
                    best, best_from = total, previous
            now[current] = best + emission
            came[current] = best_from
        costs = now
        back.append(came)
    current = min(costs, key=lambda known: costs[known])
    tags: list[str] = []
    for came in reversed(back):
        tags.append(current)
        current = came[current]
    return tags[::-1]


def _emissions_at(tokens: Sequence[str], index: int, frame: str | None) -> Costs:
    """Costs by tag of a token where it stands."""
    before = tokens[index - 1] if index else "."
    if tokens[index].lower() in ("'s", "’s") and index:
        if before.lower() == "let":
            return {"PRO": 0.0}
        if before.lower() in _UNOWNED:
            return {"AX": 0.0}
    costs = _emissions(tokens[index], before in _ENDS or before in _QUOTES)
    describes = "JJ" in costs and before.lower() in _BEFORE_ADJECTIVES and not {"VBN", "VBG"} & costs.keys()
    if describes or frame is None or len(costs) == 1:
        return costs
    adjusted = dict(costs)
    for known in costs:
        is_verb = known in _VERB_TAGS
        if frame == "plain" and is_verb:
            adjusted[known] += 2.0
        elif frame == "verb" and not is_verb and known != "AX":
            adjusted[known] += 1.2
        elif frame == "predicate" and known in ("NN", "NNS"):
            adjusted[known] += 0.3
    return adjusted


@lru_cache(maxsize=65536)
def _emissions(token: str, sentence_start: bool) -> Costs:
    """Costs by tag of a token on its own."""
    low = token.lower().replace("’", "'")
    if not any(character.isalnum() for character in token):
        if token[0] in _ENDS and (len(token) == 1 or token[0] != "." or token.startswith("..")):
            return {"EN": 0.0}
        return {"QT" if token in _QUOTES else "CC" if token == "&" else "PU": 0.0}
    if token[0].isdigit():
        return {"CD": 0.0} if not low.endswith(("st", "nd", "rd", "th")) else {"JJ": 0.0, "CD": 0.5}
    if low == "'s":
        return {"AX": 0.5, "POS": 0.5, "PRO": 4.0}
    known = CLOSED.get(low)
    if known is not None and len(known) == 1:
        return known
    costs = dict(known or {})
    for candidate, cost in _open_class(low).items():
        costs.setdefault(candidate, cost + (2.0 if known else 0.0))
    if token[0].isupper() and low not in CLOSED:
        if sentence_start:
            costs.setdefault("NNP", 1.0 if not costs else 2.5)
        else:
            costs = {name: cost + 1.5 for name, cost in costs.items()} | {"NNP": 0.0}
    return costs or {"NNP" if token[0].isupper() else "NN": 0.0, "NNS": 1.0 if low.endswith("s") else 3.0}


@lru_cache(maxsize=65536)
def _open_class(low: str) -> Costs:
    costs: Costs = {}
    by_upos = readings(low)
    for upos, lemmas in by_upos.items():
        if upos in ("ADJ", "ADV"):
            costs["JJ" if upos == "ADJ" else "RB"] = 0.3 if len(by_upos) > 1 else 0.0
        elif upos == "PROPN":
            costs.setdefault("NNP", 1.0)
        for lemma in lemmas if upos in _OPEN else ():
            forms = inflections(lemma, upos)
            costs.update((penn, 0.2) for penn in _OPEN[upos] if low in forms.get(penn, ()))
    if "NNS" in costs and "NN" in costs:
        plural = low.endswith("s") and not low.endswith("ss")
        costs["NN" if plural else "NNS"] += 1.0 if plural else 1.2
    if low.endswith(("ed", "en")) and "JJ" in costs and "VBN" in costs:
        costs["JJ"] += 0.2
    if costs:
        return costs
    for endings, usual in _BY_ENDING:  # an unknown word
        if low.endswith(endings):
            return usual
    if "-" in low:
        return {"JJ": 0.0, "NN": 0.7}
    if low.endswith("s") and not low.endswith(("ss", "us", "is")):
        return {"NNS": 0.0, "VBZ": 1.0, "NN": 1.5}
    return {"NN": 0.0, "JJ": 1.0, "VB": 1.5, "VBP": 1.5}

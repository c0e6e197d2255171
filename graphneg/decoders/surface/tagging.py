"""Tags each token of a sentence with a part of speech, in tens of microseconds.

A bigram Viterbi over hand-set costs (``tag_tables``), open-class words from lemminflect. The AMR graph
helps: a token that stands for a frame is rather a verb, one that stands for a plain concept rather is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from graphneg.alignment.words import inflections, readings
from graphneg.decoders.surface.tag_tables import CLOSED, DEFAULT_FOLLOW, FOLLOWS

_OPEN = {"NOUN": ("NN", "NNS"), "VERB": ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG")}
_ENDS = frozenset(".!?…")
_QUOTES = frozenset("\"'“”‘’«»()[]{}`")
_OWN_NOTHING = frozenset({"that", "it", "he", "she", "there", "here", "what", "where", "who", "how", "when"})
_BEFORE_ADJECTIVES = frozenset(
    {
        "is",
        "are",
        "was",
        "were",
        "am",
        "'re",
        "'m",
        "be",
        "been",
        "very",
        "too",
        "so",
        "quite",
        "pretty",
        "how",
        "all",
    }
)
_VERB_TAGS = frozenset({"VB", "VBP", "VBZ", "VBD", "VBN", "VBG"})


def tag(tokens: Sequence[str], frames: Mapping[int, str]) -> list[str]:
    """One tag a token. ``frames``: by token, ``verb``, ``predicate`` or ``plain`` where the graph knows."""
    if not tokens:
        return []
    costs: dict[str, float] = {"START": 0.0}
    back: list[dict[str, str]] = []
    for place, token in enumerate(tokens):
        start = place == 0 or tokens[place - 1] in _ENDS or tokens[place - 1] in _QUOTES
        before = tokens[place - 1].lower() if place else ""
        clitic = token.lower() in ("'s", "’s")
        if clitic and before == "let":
            emissions = {"PRO": 0.0}
        elif clitic and before in _OWN_NOTHING:
            emissions = {"AX": 0.0}
        else:
            emissions = _emissions(token, start)
            if not _describes(emissions, before):
                emissions = _with_graph(emissions, frames.get(place))
        now: dict[str, float] = {}
        came: dict[str, str] = {}
        for current, emission in emissions.items():
            best, best_from = 1e9, "START"
            for previous, cost in costs.items():
                total = cost + FOLLOWS[previous].get(current, DEFAULT_FOLLOW)
                if total < best:
                    best, best_from = total, previous
            now[current] = best + emission
            came[current] = best_from
        costs = now
        back.append(came)
    current = min(costs, key=lambda one: costs[one])
    tags: list[str] = []
    for came in reversed(back):
        tags.append(current)
        current = came[current]
    return tags[::-1]


def _describes(emissions: Mapping[str, float], before: str) -> bool:
    """``very cool``, ``are all busy``: an adjective, though its frame is a verb's as well."""
    return "JJ" in emissions and before in _BEFORE_ADJECTIVES and not {"VBN", "VBG"} & emissions.keys()


def _with_graph(emissions: dict[str, float], frame: str | None) -> dict[str, float]:
    if frame is None or len(emissions) == 1:
        return emissions
    adjusted = dict(emissions)
    for known in emissions:
        is_verb = known in _VERB_TAGS
        if frame == "plain" and is_verb:
            adjusted[known] += 2.0
        elif frame == "verb" and not is_verb and known != "AX":
            adjusted[known] += 1.2
        elif frame == "predicate" and known in ("NN", "NNS"):
            adjusted[known] += 0.3
    return adjusted


@lru_cache(maxsize=65536)
def _emissions(token: str, sentence_start: bool) -> dict[str, float]:
    """Costs by tag of a token on its own."""
    low = token.lower().replace("’", "'")
    if not any(character.isalnum() for character in token):
        return _mark(token)
    if token[0].isdigit():
        return {"CD": 0.0} if not low.endswith(("st", "nd", "rd", "th")) else {"JJ": 0.0, "CD": 0.5}
    if low == "'s":
        return {"AX": 0.5, "POS": 0.5, "PRO": 4.0}
    known = CLOSED.get(low)
    if known is not None and len(known) == 1:
        return known
    found = dict(known or {})
    proper = token[0].isupper() and not sentence_start and low not in CLOSED
    for candidate, cost in _open_class(low).items():
        found.setdefault(candidate, cost + (2.0 if known else 0.0))
    if proper:
        found = {one: cost + 1.5 for one, cost in found.items()}
        found["NNP"] = 0.0
    elif token[0].isupper() and low not in CLOSED:
        found.setdefault("NNP", 1.0 if not found else 2.5)
    return found or {"NNP" if token[0].isupper() else "NN": 0.0, "NNS": 1.0 if low.endswith("s") else 3.0}


def _mark(token: str) -> dict[str, float]:
    if token[0] in _ENDS and (len(token) == 1 or token[0] != "." or token.startswith("..")):
        return {"EN": 0.0}
    if token in _QUOTES:
        return {"QT": 0.0}
    return {"CC": 0.0} if token == "&" else {"PU": 0.0}


@lru_cache(maxsize=65536)
def _open_class(low: str) -> dict[str, float]:
    found: dict[str, float] = {}
    by_upos = readings(low)
    for upos, lemmas in by_upos.items():
        if upos == "ADJ":
            found["JJ"] = 0.3 if len(by_upos) > 1 else 0.0
        elif upos == "ADV":
            found["RB"] = 0.3 if len(by_upos) > 1 else 0.0
        elif upos == "PROPN":
            found.setdefault("NNP", 1.0)
        elif upos in _OPEN:
            for lemma in lemmas:
                forms = inflections(lemma, upos)
                for penn in _OPEN[upos]:
                    if low in forms.get(penn, ()):
                        found[penn] = 0.2
    if "NNS" in found and "NN" in found and low.endswith("s") and not low.endswith("ss"):
        found["NN"] += 1.0
    elif "NNS" in found and "NN" in found:
        found["NNS"] += 1.2
    if low.endswith(("ed", "en")) and "JJ" in found and "VBN" in found:
        found["JJ"] += 0.2
    return found or _guess(low)


def _guess(low: str) -> dict[str, float]:
    """An unknown word, by its ending."""
    if low.endswith("ly"):
        return {"RB": 0.0, "JJ": 1.0}
    if low.endswith("ing"):
        return {"VBG": 0.0, "NN": 0.7}
    if low.endswith("ed"):
        return {"VBD": 0.3, "VBN": 0.3, "JJ": 0.5}
    if low.endswith(("ous", "ful", "able", "ible", "ish", "less", "ive", "ic")) or "-" in low:
        return {"JJ": 0.0, "NN": 0.7}
    if low.endswith("s") and not low.endswith(("ss", "us", "is")):
        return {"NNS": 0.0, "VBZ": 1.0, "NN": 1.5}
    return {"NN": 0.0, "JJ": 1.0, "VB": 1.5, "VBP": 1.5}

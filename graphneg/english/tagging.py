"""A small part-of-speech tagger that needs only tens of microseconds per sentence.

The surface decoder tags each sentence that it edits, and a neural tagger would be too slow for that. The
tagger is a bigram Viterbi decoder whose costs were set by hand (``tagging.tsv``). The possible tags of
open-class words come from lemminflect. The AMR graph of the sentence gives further evidence: a token that is
aligned to the frame of a verb is probably a verb, and a token that is aligned to a concept without a sense
number is probably not a verb.

The tags are those of the Penn Treebank, with these additions:

- ``PRS``, ``PRO``: subject pronoun, object pronoun
- ``PN``: indefinite or demonstrative pronoun
- ``PS``: possessive pronoun
- ``AX``: finite form of *be*, *have* or *do*
- ``SC``: subordinating conjunction
- ``NEG``: *not*
- ``QT``: quotation mark or parenthesis
- ``PU``: other punctuation mark within a sentence
- ``EN``: end of a sentence

>>> tag(["She", "saw", "the", "saw", "."], {})
['PRS', 'VBD', 'DT', 'NN', 'EN']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from graphneg.english.words import inflections, readings, table_rows, word_class

Costs = dict[str, float]
"""Costs, keyed by tag. A cost of 0 means that the tag is usual, a cost of 6 that it is almost impossible."""

NOUNS = frozenset({"NN", "NNS", "NNP"})
"""Tags of nouns."""
FINITE = frozenset({"VBP", "VBZ", "VBD", "AX", "MD"})
"""Tags of finite verbs."""
VERBS = FINITE | {"VB", "VBN", "VBG"}
"""Tags of all verb forms."""
_UNUSUAL = 3.0
"""Cost of a transition between two tags that the table does not list."""
_OPEN = {"NOUN": ("NN", "NNS"), "VERB": ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG")}
_VERB_TAGS = frozenset(_OPEN["VERB"])
_ENDS = frozenset(".!?…")
_QUOTES = frozenset("\"'“”‘’«»()[]{}`")
_UNOWNED = word_class("no-owners")
"""Words after which *'s* is a form of *be* or *have* and never a genitive ending: *it's late*."""
_BEFORE_ADJECTIVES = word_class("before-adjectives")
_BY_ENDING = (
    (("ly",), {"RB": 0.0, "JJ": 1.0}),
    (("ing",), {"VBG": 0.0, "NN": 0.7}),
    (("ed",), {"VBD": 0.3, "VBN": 0.3, "JJ": 0.5}),
    (("ous", "ful", "able", "ible", "ish", "less", "ive", "ic"), {"JJ": 0.0, "NN": 0.7}),
)


def _read_costs() -> tuple[dict[str, Costs], dict[str, Costs]]:
    """Read ``tagging.tsv``, which contains the costs from which the tagger computes the best tags.

    Returns:
        The costs of the tags of each closed-class word, and the costs of the transitions between two tags.
    """
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
"""The tag costs of each closed-class word; and for each tag, the costs of the tags that may follow it."""


def tag(tokens: Sequence[str], frames: Mapping[int, str]) -> list[str]:
    """Return the part-of-speech tag of each token of a sentence.

    Args:
        tokens: The tokens, as `graphneg.english.tokens.tokenize` splits them.
        frames: Evidence from the graph, keyed by token index. ``verb``: the token is a form of the verb in
            the name of its frame, as *saw* for ``see-01``. ``predicate``: the token expresses any other
            frame. ``plain``: the token expresses a concept that is not a frame. Tokens without evidence are
            left out.

    Returns:
        One tag per token.
    """
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
    """Return the cost of each possible tag of a token, given the token before it and the graph."""
    before = tokens[index - 1] if index else "."
    if tokens[index].lower() in ("'s", "’s") and index:
        # In "let's go", 's is the pronoun "us", so it is tagged as an object pronoun.
        if before.lower() == "let":
            return {"PRO": 0.0}
        # In "it's late" and "who's there", 's is a verb and never a genitive ending.
        if before.lower() in _UNOWNED:
            return {"AX": 0.0}
    costs = _emissions(tokens[index], before in _ENDS or before in _QUOTES)
    # After words such as "very" and "is", a word that can be an adjective but not a participle is an
    # adjective. The evidence from the graph is then ignored, because adjectives often have PropBank frames.
    describes = "JJ" in costs and before.lower() in _BEFORE_ADJECTIVES and not {"VBN", "VBG"} & costs.keys()
    if describes or frame is None or len(costs) == 1:
        return costs
    adjusted = dict(costs)
    for known in costs:
        is_verb = known in _VERB_TAGS
        # In "a long walk", *walk* expresses the concept ``walk`` and not the frame ``walk-01``. So make a
        # verb tag more costly.
        if frame == "plain" and is_verb:
            adjusted[known] += 2.0
        elif frame == "verb" and not is_verb and known != "AX":
            adjusted[known] += 1.2
        # A frame is only weak evidence against a noun tag, because nouns may have frames, too: "decision" has
        # decide-01.
        elif frame == "predicate" and known in ("NN", "NNS"):
            adjusted[known] += 0.3
    return adjusted


@lru_cache(maxsize=65536)
def _emissions(token: str, sentence_start: bool) -> Costs:
    """Return the cost of each possible tag of a token, regardless of the tokens around it."""
    low = token.lower().replace("’", "'")
    if not any(character.isalnum() for character in token):
        # Let "." and "..." end a sentence, but not ".,".
        if token[0] in _ENDS and (len(token) == 1 or token[0] != "." or token.startswith("..")):
            return {"EN": 0.0}
        return {"QT" if token in _QUOTES else "CC" if token == "&" else "PU": 0.0}
    if token[0].isdigit():
        # "21st" can be an adjective or a number, and is usually an adjective.
        return {"CD": 0.0} if not low.endswith(("st", "nd", "rd", "th")) else {"JJ": 0.0, "CD": 0.5}
    if low == "'s":
        return {"AX": 0.5, "POS": 0.5, "PRO": 4.0}
    known = CLOSED.get(low)
    if known is not None and len(known) == 1:
        return known
    costs = dict(known or {})
    for candidate, cost in _open_class(low).items():
        # Add a cost for using a function word as a content word: "will" is more often a modal than a noun.
        costs.setdefault(candidate, cost + (2.0 if known else 0.0))
    if token[0].isupper() and low not in CLOSED:
        # At the start of a sentence, every word is capitalised, so a capital letter there is weak evidence.
        if sentence_start:
            costs.setdefault("NNP", 1.0 if not costs else 2.5)
        else:
            costs = {name: cost + 1.5 for name, cost in costs.items()} | {"NNP": 0.0}
    return costs or {"NNP" if token[0].isupper() else "NN": 0.0, "NNS": 1.0 if low.endswith("s") else 3.0}


@lru_cache(maxsize=65536)
def _open_class(low: str) -> Costs:
    """Return the cost of each possible tag of a content word, from the dictionary or from its ending."""
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
    # For a word that can be singular or plural, prefer the plural if it ends in *-s*, otherwise the singular.
    if "NNS" in costs and "NN" in costs:
        plural = low.endswith("s") and not low.endswith("ss")
        costs["NN" if plural else "NNS"] += 1.0 if plural else 1.2
    if low.endswith(("ed", "en")) and "JJ" in costs and "VBN" in costs:
        costs["JJ"] += 0.2
    if costs:
        return costs
    # For a word that the dictionary does not list, the ending decides. Most words in -ly are adverbs.
    for endings, usual in _BY_ENDING:
        if low.endswith(endings):
            return usual
    if "-" in low:
        return {"JJ": 0.0, "NN": 0.7}
    if low.endswith("s") and not low.endswith(("ss", "us", "is")):
        return {"NNS": 0.0, "VBZ": 1.0, "NN": 1.5}
    return {"NN": 0.0, "JJ": 1.0, "VB": 1.5, "VBP": 1.5}

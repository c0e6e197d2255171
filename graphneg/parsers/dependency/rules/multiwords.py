"""Expressions of several words that are one concept, and words joined by hyphens."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.words import Word

_LIST = """
at all:at-all | of course:of-course | at last:at-last | at once:at-once | in fact:in-fact
each other:each-other | one another:one-another | no longer:no-longer
once upon a time:once-upon-a-time | right now:now | right away:right-away | as well:also
at least:at-least | a lot of:lot | lots of:lot | plenty of:plenty | a lot:lot | a few:few
no one:no-one | by the way:by-the-way | all right:all-right | such as:- | so far:so-far
after all:after-all | in order to:- | kind of:kind-of | sort of:sort-of | as usual:as-usual
from now on:from-now-on | so much:so-much | to be sure:to-be-sure | all the same:all-the-same
first of all:first-of-all | on the contrary:on-the-contrary | a great many:many | a good deal:deal
a great deal:deal | as soon as possible:as-soon-as-possible | at first:at-first | at present:now
any more:anymore | over and over:over-and-over | little by little:little-by-little
hand in hand:hand-in-hand | right here:here | over there:there | over here:here
"""
_PREPOSITIONS = {
    ("in", "front", "of"): "in-front-of", ("next", "to"): "next-to", ("on", "top", "of"): "on-top-of",
}  # fmt: skip
_EXPRESSIONS: dict[str, list[tuple[tuple[str, ...], str]]] = {}
for _entry in _LIST.replace("\n", "|").split("|"):
    _words, _, _concept = _entry.strip().partition(":")
    if _concept:
        _EXPRESSIONS.setdefault(_words.split()[0], []).append((tuple(_words.split()), _concept))
for _found in _EXPRESSIONS.values():
    _found.sort(key=lambda one: -len(one[0]))


def write_multiwords(sketch: Sketch) -> None:
    """Gives each expression one node, at the word that heads it."""
    words = sketch.words
    i = 0
    while i < len(words):
        i += (
            _preposition(sketch, i)
            or _none(sketch, i)
            or _expression(sketch, i)
            or _hyphenated(sketch, i)
            or 1
        )


def _preposition(sketch: Sketch, i: int) -> int:
    """*in front of the house*: ``(in-front-of :op1 house)``."""
    words = sketch.words
    for forms, concept in _PREPOSITIONS.items():
        run = words[i : i + len(forms)]
        if tuple(one.lower for one in run) == forms:
            inner = sketch.kid(run[-1].i, "pobj", "pcomp")
            if inner is not None:
                _write(sketch, run, concept)
                sketch.forms[inner.i] = "pobj"
                return len(run)
    return 0


def _none(sketch: Sketch, i: int) -> int:
    """*none of the kids*: the kids; what they do is denied."""
    words = sketch.words
    if words[i].lower not in {"none", "neither"} or i + 1 == len(words) or words[i + 1].lower != "of":
        return 0
    whole = sketch.kid(i + 1, "pobj")
    if whole is None:
        return 0
    for place in (i, i + 1):
        sketch.done.add(place)
        sketch.stand_in[place] = whole.i
    return 2


def _expression(sketch: Sketch, i: int) -> int:
    words = sketch.words
    if words[i].i in sketch.done:
        return 0
    for forms, concept in _EXPRESSIONS.get(words[i].lower, ()):
        run = words[i : i + len(forms)]
        if tuple(one.lower for one in run) == forms and run[-1].sentence == run[0].sentence:
            if concept == "-":
                return 0
            before = words[i - 1].tag if i else ""
            if concept in {"kind-of", "sort-of"} and before in {"DT", "JJ", "WDT", "WP", "PRP$", "CD"}:
                continue
            if concept == "lot" and forms[-1] == "of" and sketch.kid(run[-1].i, "pobj") is None:
                continue
            _write(sketch, run, concept)
            return len(run)
    return 0


def _write(sketch: Sketch, run: Sequence[Word], concept: str) -> None:
    head = _head(run)
    if concept in {"lot", "plenty"} and run[-1].lower == "of":
        _write_amount(sketch, run, head, concept)
        return
    node = sketch.draft.concept(concept, run[0].i, "multiword", last=run[-1].i)
    sketch.draft.nodes[node].token = head.i
    _settle(sketch, run, head, node)


def _write_amount(sketch: Sketch, run: Sequence[Word], head: Word, concept: str) -> None:
    """*a lot of money*: ``(money :quant (lot))``, with the noun in the place of *lot*."""
    noun = sketch.kid(run[-1].i, "pobj")
    if noun is None:
        return
    node = sketch.draft.concept(concept, run[0].i, "multiword", last=run[-1].i)
    sketch.amounts[noun.i] = node
    for one in run:
        sketch.done.add(one.i)
        sketch.stand_in[one.i] = noun.i


def _settle(sketch: Sketch, run: Sequence[Word], head: Word, node: int) -> None:
    sketch.core[head.i] = sketch.outer[head.i] = node
    for one in run:
        sketch.done.add(one.i)
        if one.i != head.i:
            sketch.stand_in[one.i] = head.i


def _head(run: Sequence[Word]) -> Word:
    inside = {one.i for one in run}
    return next((one for one in run if one.head not in inside or one.head == one.i), run[-1])


def _hyphenated(sketch: Sketch, i: int) -> int:
    """*grown-up* is one concept where the tables know it as one."""
    words = sketch.words
    if i + 2 >= len(words) or words[i + 1].text != "-" or words[i].i in sketch.done:
        return 0
    run = words[i : i + 3]
    joined = f"{run[0].lower}-{run[2].lemma}"
    lexicon = sketch.lexicon
    concept = joined if joined in lexicon.totals else None
    for pos in "nj":
        concept = concept or next(iter(lexicon.aliases.get((pos, joined), ())), None)
    if concept is None:
        return 0
    node = sketch.draft.concept(concept, i, "hyphen", last=i + 2)
    head = _head(run)
    sketch.draft.nodes[node].token = head.i
    _settle(sketch, list(run), head, node)
    return 3

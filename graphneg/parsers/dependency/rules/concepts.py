"""One concept for each word or multi-word expression that has one."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.english.numbers import number_value
from graphneg.parsers.dependency.draft import Word
from graphneg.parsers.dependency.lexicon import DELETED
from graphneg.parsers.dependency.rules.frames import (
    adjective_concept,
    denies,
    lacked,
    noun_concept,
    positive,
    verb_concept,
    without,
)
from graphneg.parsers.dependency.rules.sketch import (
    ARTICLES,
    EXPRESSIVES,
    INDEFINITE,
    MODALS,
    PREPOSITION_CONCEPTS,
    PRONOUNS,
    SILENT_TAGS,
    WH_WORDS,
    Sketch,
)

# One concept for each word that has one: closed classes by list, open ones by table and frame.


_FALLBACK = frozenset(
    {"NN", "NNS", "NNP", "NNPS", "FW", "XX", "UH", "ADD", "GW", "$", "CD", "PDT", "AFX", "LS"}
)

_PARTS_OF_DAYS = frozenset({"day", "morning", "evening", "afternoon", "night"})
"""*one day* is some day, not an amount."""


def write_concepts(sketch: Sketch) -> None:
    """Gives each word that is not done its concept."""
    for word in sketch.words:
        if word.i not in sketch.done and word.i not in sketch.stand_in and word.i not in sketch.core:
            _write(sketch, word)


def _write(sketch: Sketch, word: Word) -> None:
    tag = word.tag
    if word.lower == "please" and tag in {"UH", "RB", "VB"} and not word.kids:
        return
    if tag in SILENT_TAGS or word.lower in ARTICLES:
        return
    if lacked(word.lower) is not None:
        _write_lack(sketch, word)
    elif tag[:2] == "VB":
        lexical = word.lemma != "be" and any(one.isalpha() for one in word.text)
        if word.dep not in {"aux", "auxpass"} and lexical:
            concept, rule, last = verb_concept(sketch, word)
            sketch.add(concept, word.i, rule, last)
    elif tag == "MD":
        _write_modal(sketch, word)
    elif tag in {"PRP", "PRP$"}:
        if word.lower in PRONOUNS:
            sketch.add(PRONOUNS[word.lower], word.i, "pronoun")
    elif tag in {"WP", "WP$", "WRB", "WDT"} or (word.lower in WH_WORDS and tag != "IN"):
        return
    elif tag in {"NN", "NNS"}:
        _write_noun(sketch, word)
    elif tag[:2] == "JJ" and _is_age(sketch, word):
        sketch.add("age-01", word.i, "age")
    elif tag[:2] == "JJ":
        concept, rule = adjective_concept(sketch, word)
        node = sketch.add(concept, word.i, rule)
        if rule == "negative":
            sketch.mark(node, "polarity", "-", word.i, rule)
    elif tag[:2] == "RB":
        _write_adverb(sketch, word)
    elif tag == "CD":
        _write_number(sketch, word)
    elif tag in {"IN", "RP"}:
        _write_preposition(sketch, word)
    elif tag in {"DT", "PDT"}:
        _write_determiner(sketch, word)
    elif tag == "UH":
        _write_interjection(sketch, word)
    elif tag != "CC" and (tag in _FALLBACK or any(one.isalnum() for one in word.text)):
        sketch.add(word.lemma, word.i, "word")


def _write_modal(sketch: Sketch, word: Word) -> None:
    """A modal without its verb (*I can!*) stands for itself."""
    if word.dep not in {"aux", "auxpass"}:
        sketch.add(MODALS[word.lemma][0] if word.lemma in MODALS else "do-02", word.i, "ellipsis")


def _is_age(sketch: Sketch, word: Word) -> bool:
    """*six years old*, *How old …?*: the measure takes ``ARG2`` of ``age-01``."""
    if word.lower != "old":
        return False
    for one in sketch.kids(word.i, "npadvmod", "advmod"):
        if one.lemma in {"year", "month", "week", "day"} or (one.lower == "how" and one.i in sketch.core):
            sketch.forms[one.i] = "age"
            return True
    return False


def _write_noun(sketch: Sketch, word: Word) -> None:
    if word.lower in INDEFINITE:
        concept, negative = INDEFINITE[word.lower]
        node = sketch.add(concept, word.i, "indefinite")
        if negative:
            sketch.mark(node, "polarity", "-", word.i, "indefinite")
        return
    noun_concept(sketch, word)


def _write_lack(sketch: Sketch, word: Word) -> None:
    """*a shirtless man*: one who has no shirt."""
    having = sketch.add("have-03", word.i, "lack")
    thing = sketch.draft.concept(lacked(word.lower) or "thing", word.i, "lack")
    sketch.link(having, "ARG1", thing, "lack")
    sketch.mark(having, "polarity", "-", word.i, "negative")


def _write_adverb(sketch: Sketch, word: Word) -> None:
    if word.lemma in {"not", "n't"} or (word.dep == "neg" and word.lower != "never"):
        return
    if word.lower == "never":
        sketch.add("ever", word.i, "never")
        return
    found = sketch.lexicon.best_concept(word.lemma, "r")
    if word.lower == "so":
        found = "so"
    if found == DELETED:
        return
    stem = adverb_stem(word.lower)
    if found is not None:
        node = sketch.add(found, word.i, "table")
        if denies(stem, found):
            sketch.mark(node, "polarity", "-", word.i, "negative")
        return
    frames = sketch.lexicon.candidates(stem, "j")
    base = (without(sketch, stem) or positive(sketch, stem)) if stem != word.lower else None
    if base is not None:
        node = sketch.add(base, word.i, "adverb")
        sketch.mark(node, "polarity", "-", word.i, "negative")
        return
    if stem != word.lower:
        table = sketch.lexicon.best_concept(stem, "j")
        concept = table if table not in {None, DELETED} else (frames[0] if frames else stem)
        sketch.add(concept or stem, word.i, "adverb")
    else:
        sketch.add(word.lemma, word.i, "adverb")


def adverb_stem(word: str) -> str:
    """The adjective of a regular adverb.

    >>> adverb_stem("happily"), adverb_stem("gently"), adverb_stem("really"), adverb_stem("only")
    ('happy', 'gentle', 'real', 'only')
    """
    if (
        not word.endswith("ly")
        or len(word) < 6
        or word in {"family", "early", "likely", "lonely", "daily", "friendly"}
    ):
        return word
    stem = word[:-2]
    if stem.endswith("i"):
        return f"{stem[:-1]}y"
    if (
        stem.endswith(("ab", "ib", "nt", "mp", "bt", "gg"))
        and word[-3] in "bpt"
        and not word.endswith("ntly")
    ):
        return f"{stem}le"
    if word in {"gently", "simply", "humbly", "subtly", "idly", "nobly"}:
        return f"{stem}le"
    if stem.endswith("ical"):
        return stem
    return stem


def _write_number(sketch: Sketch, word: Word) -> None:
    value = number_value(word.lower)
    if value is None:
        sketch.add(word.lower, word.i, "number")
        return
    if word.lower == "one" and sketch.words[word.head].lemma in _PARTS_OF_DAYS and word.i + 1 == word.head:
        sketch.add("one", word.i, "one-day")
    elif word.dep == "nummod":
        node = sketch.draft.constant(value, word.i, "number")
        sketch.core[word.i] = sketch.outer[word.i] = node
    elif word.lower == "one":
        sketch.add("one", word.i, "number")
    else:
        node = sketch.draft.constant(value, word.i, "number")
        sketch.core[word.i] = sketch.outer[word.i] = node


def _write_preposition(sketch: Sketch, word: Word) -> None:
    if word.dep in {"mark", "agent"} or word.lower == "like":
        return
    has_object = sketch.kid(word.i, "pobj", "pcomp") is not None
    if has_object:
        if word.lower in PREPOSITION_CONCEPTS and word.dep == "prep":
            found = sketch.lexicon.concepts.get((word.lemma, "in"), {})
            if found.get(word.lower, 0) >= found.get(DELETED, 0) * 0.6:
                sketch.add(word.lower, word.i, "preposition")
        return
    if word.dep == "prt":
        if sketch.speaker(word.head) in sketch.core and sketch.concept_of(word.head).count("-") > 1:
            return
        found = sketch.lexicon.best_concept(word.lemma, word.tag.lower())
        if found not in {None, DELETED}:
            sketch.add(found or word.lower, word.i, "particle")
        return
    if word.dep in {"advmod", "npadvmod", "prep", "acomp", "ROOT", "conj"} and word.lower not in {
        "of",
        "than",
        "that",
    }:
        found = sketch.lexicon.best_concept(word.lemma, "in")
        if found != DELETED:
            sketch.add(found or word.lower, word.i, "preposition")


def _write_determiner(sketch: Sketch, word: Word) -> None:
    if word.lower == "no":
        if word.dep in {"intj", "ROOT", "advmod", "dep", "meta"}:
            sketch.add("no", word.i, "no")
        return
    concept = {"these": "this", "those": "that"}.get(word.lower, word.lower)
    if word.dep == "mark" or (
        word.lower == "that" and word.dep in {"mark", "nsubj"} and _in_relative(sketch, word)
    ):
        return
    if concept not in {"half"} or word.dep != "predet":
        sketch.add(concept, word.i, "determiner")


def _in_relative(sketch: Sketch, word: Word) -> bool:
    return sketch.words[word.head].dep == "relcl"


def _write_interjection(sketch: Sketch, word: Word) -> None:
    node = sketch.add(word.lower, word.i, "interjection")
    if word.lower in EXPRESSIVES:
        sketch.mark(node, "mode", "expressive", word.i, "interjection")


# Expressions of several words that are one concept, and words joined by hyphens.


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
                _write_multiwords(sketch, run, concept)
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
            _write_multiwords(sketch, run, concept)
            return len(run)
    return 0


def _write_multiwords(sketch: Sketch, run: Sequence[Word], concept: str) -> None:
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

"""One concept for each word that has one: closed classes by list, open ones by table and frame."""

from __future__ import annotations

from graphneg.parsers.dependency.lexicon import DELETED
from graphneg.parsers.dependency.rules.closed_classes import (
    ARTICLES,
    EXPRESSIVES,
    INDEFINITE,
    MODALS,
    PREPOSITION_CONCEPTS,
    PRONOUNS,
    SILENT_TAGS,
    WH_WORDS,
)
from graphneg.parsers.dependency.rules.frames import (
    adjective_concept,
    denies,
    lacked,
    noun_concept,
    positive,
    verb_concept,
    without,
)
from graphneg.parsers.dependency.rules.numbers import number_value
from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.words import Word

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

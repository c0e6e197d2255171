"""One concept for each word that has one: closed classes by list, open ones by table and frame.

In: a `RuleState` with entities, expressions and copulas settled. Out: a node for each word that is neither
done nor silent: *she*: ``she``, *painter*: ``person :ARG0-of paint-01``, *unhappy*: ``happy-01 :polarity -``.
"""

from __future__ import annotations

from collections.abc import Callable

from graphneg.english.numbers import number_value
from graphneg.parsers.dependency.lexicon import DELETED, word_class, word_map
from graphneg.parsers.dependency.rules.clauses import MODALS
from graphneg.parsers.dependency.rules.frames import (
    adjective_concept,
    denied_frame,
    denies,
    positive,
    verb_concept,
    write_noun,
)
from graphneg.parsers.dependency.rules.state import RuleState
from graphneg.parsers.dependency.text import Word

CLOTHES = word_class("clothes")
_ARTICLES = frozenset({"the", "a", "an"})
_PRONOUNS = word_map("pronoun")
_INDEFINITE = word_map("indefinite")
_WH_WORDS = word_class("wh-word")
_EXPRESSIVES = word_class("expressive")
"""Interjections that AMR marks ``:mode expressive``."""
_SILENT_TAGS = word_class("silent-tag")
_FALLBACK_TAGS = word_class("fallback-tag")
_PREPOSITIONS = word_class("preposition-concept")
_PARTS_OF_DAYS = frozenset({"day", "morning", "evening", "afternoon", "night"})
"""*one day* is some day, not an amount."""
_NO_ADVERBS = frozenset({"family", "early", "likely", "lonely", "daily", "friendly"})
_IN_LE = frozenset({"gently", "simply", "humbly", "subtly", "idly", "nobly"})


def write_concepts(state: RuleState) -> None:
    """Gives each word that is not done its concept."""
    for word in state.words:
        if word.i not in state.done and word.i not in state.proxies and word.i not in state.core:
            _write(state, word)


def _write(state: RuleState, word: Word) -> None:
    tag = word.tag
    please = word.lower == "please" and tag in {"UH", "RB", "VB"} and not word.kids
    if please or tag in _SILENT_TAGS or word.lower in _ARTICLES:
        return
    if lacked(word.lower) is not None:
        _write_lack(state, word)
    elif tag in _ELSEWHERE or (word.lower in _WH_WORDS and tag[:2] not in {"IN", "VB", "MD", "PR"}):
        return
    elif tag in _WRITERS:
        _WRITERS[tag](state, word)
    elif tag in _FALLBACK_TAGS or any(character.isalnum() for character in word.text):
        state.add(word.lemma, word.i, "word")


def _write_verb(state: RuleState, word: Word) -> None:
    lexical = word.lemma != "be" and any(character.isalpha() for character in word.text)
    if word.dep not in {"aux", "auxpass"} and lexical:
        concept, rule, last = verb_concept(state, word)
        state.add(concept, word.i, rule, last)


def _write_modal(state: RuleState, word: Word) -> None:
    """A modal without its verb (*I can!*) stands for itself."""
    if word.dep not in {"aux", "auxpass"}:
        state.add(MODALS[word.lemma][0] if word.lemma in MODALS else "do-02", word.i, "ellipsis")


def _write_pronoun(state: RuleState, word: Word) -> None:
    if word.lower in _PRONOUNS:
        state.add(_PRONOUNS[word.lower], word.i, "pronoun")


def _write_common_noun(state: RuleState, word: Word) -> None:
    if word.lower in _INDEFINITE:
        state.add(_INDEFINITE[word.lower], word.i, "indefinite")
    else:
        write_noun(state, word)


def lacked(word: str) -> str | None:
    """What somebody *shirtless* has none of: a thing to wear."""
    stem = word[:-4]
    return stem if word.endswith("less") and stem in CLOTHES else None


def _write_lack(state: RuleState, word: Word) -> None:
    """*a shirtless man*: one who has no shirt."""
    having = state.add("have-03", word.i, "lack")
    state.draft.link(having, "ARG1", state.draft.concept(word.lower[:-4], word.i, "lack"), "lack")
    state.mark(having, "polarity", "-", word.i, "negative")


def _write_adjective(state: RuleState, word: Word) -> None:
    """An adjective's concept; of *six years old*, *How old …?* the measure takes ``ARG2`` of ``age-01``."""
    for kid in word.children("npadvmod", "advmod") if word.lower == "old" else ():
        if kid.lemma in {"year", "month", "week", "day"} or (kid.lower == "how" and kid.i in state.core):
            state.forms[kid.i] = "age"
            state.add("age-01", word.i, "age")
            return
    concept, rule = adjective_concept(state, word)
    node = state.add(concept, word.i, rule)
    if rule == "negative":
        state.mark(node, "polarity", "-", word.i, rule)


def _write_adverb(state: RuleState, word: Word) -> None:
    if word.lemma in {"not", "n't"} or (word.dep == "neg" and word.lower != "never"):
        return
    if word.lower == "never":
        state.add("ever", word.i, "never")
        return
    lexicon, stem = state.lexicon, adverb_stem(word.lower)
    known = "so" if word.lower == "so" else lexicon.best_concept(word.lemma, "r")
    if known == DELETED:
        return
    denied = False
    if known is not None:
        node = state.add(known, word.i, "table")
        denied = denies(stem, known)
    elif stem == word.lower:
        node = state.add(word.lemma, word.i, "adverb")
    else:
        base = denied_frame(state, stem) or positive(state, stem)
        concept = base or lexicon.best_concept(stem, "j")
        if concept in {None, DELETED}:
            concept = next(iter(lexicon.candidates(stem, "j")), stem)
        node = state.add(concept or stem, word.i, "adverb")
        denied = base is not None
    if denied:
        state.mark(node, "polarity", "-", word.i, "negative")


def adverb_stem(word: str) -> str:
    """The adjective of a regular adverb.

    >>> adverb_stem("happily"), adverb_stem("gently"), adverb_stem("really"), adverb_stem("only")
    ('happy', 'gentle', 'real', 'only')
    """
    if not word.endswith("ly") or len(word) < 6 or word in _NO_ADVERBS:
        return word
    stem = word[:-2]
    if stem.endswith("i"):
        return f"{stem[:-1]}y"
    return f"{stem}le" if stem.endswith(("ab", "ib", "mp", "bt")) or word in _IN_LE else stem


def _write_number(state: RuleState, word: Word) -> None:
    value = number_value(word.lower)
    some_day = word.i + 1 == word.head and word.parent.lemma in _PARTS_OF_DAYS
    if value is None:
        state.add(word.lower, word.i, "number")
    elif word.lower == "one" and (some_day or word.dep != "nummod"):
        state.add("one", word.i, "one-day" if some_day else "number")
    else:
        state.set_node(word.i, state.draft.constant(value, word.i, "number"))


def _write_preposition(state: RuleState, word: Word) -> None:
    lexicon = state.lexicon
    if word.dep in {"mark", "agent"} or word.lower == "like":
        return
    if word.child("pobj", "pcomp") is not None:
        if word.lower in _PREPOSITIONS and word.dep == "prep":
            counts = lexicon.concepts.get((word.lemma, "in"), {})
            if counts.get(word.lower, 0) >= counts.get(DELETED, 0) * 0.6:
                state.add(word.lower, word.i, "preposition")
    elif word.dep == "prt":
        concept = lexicon.best_concept(word.lemma, word.tag.lower())
        named = state.core_of(word.parent) is not None and state.concept_of(word.head).count("-") > 1
        if not named and concept not in {None, DELETED}:
            state.add(concept or word.lower, word.i, "particle")
    elif word.dep in _ADVERBIAL and word.lower not in {"of", "than", "that"}:
        concept = lexicon.best_concept(word.lemma, "in")
        if concept != DELETED:
            state.add(concept or word.lower, word.i, "preposition")


_ADVERBIAL = frozenset({"advmod", "npadvmod", "prep", "acomp", "ROOT", "conj"})


def _write_determiner(state: RuleState, word: Word) -> None:
    if word.lower == "no":
        if word.dep in {"intj", "ROOT", "advmod", "dep", "meta"}:
            state.add("no", word.i, "no")
        return
    relative = word.lower == "that" and word.dep == "nsubj" and word.parent.dep == "relcl"
    if word.dep == "mark" or relative or (word.lower == "half" and word.dep == "predet"):
        return
    state.add({"these": "this", "those": "that"}.get(word.lower, word.lower), word.i, "determiner")


def _write_interjection(state: RuleState, word: Word) -> None:
    node = state.add(word.lower, word.i, "interjection")
    if word.lower in _EXPRESSIVES:
        state.mark(node, "mode", "expressive", word.i, "interjection")


_ELSEWHERE = frozenset({"WP", "WP$", "WRB", "WDT", "CC"})
"""Question words and conjunctions have rules of their own."""
_WRITERS_BY_TAGS: dict[str, Callable[[RuleState, Word], None]] = {
    "VB VBD VBG VBN VBP VBZ": _write_verb,
    "MD": _write_modal,
    "PRP PRP$": _write_pronoun,
    "NN NNS": _write_common_noun,
    "JJ JJR JJS": _write_adjective,
    "RB RBR RBS": _write_adverb,
    "CD": _write_number,
    "IN RP": _write_preposition,
    "DT PDT": _write_determiner,
    "UH": _write_interjection,
}
_WRITERS = {tag: writer for tags, writer in _WRITERS_BY_TAGS.items() for tag in tags.split()}

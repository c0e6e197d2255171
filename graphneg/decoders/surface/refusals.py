"""Refuse edits that must not be expressed in words, and state the reasons.

An edit is refused if the edited sentence would be ungrammatical, would make no sense, or would not contradict
the original sentence.

Functions named ``refuse_...`` return nothing if an edit may be made, and raise `RealisationError` with the
reason if the edit is refused. Two tables contain the knowledge about words:

- ``refusals.tsv`` contains rules about the words around the edited word, which `apply_rules` applies. For
  example, "May I come in?" asks for permission, so the rule set ``question-person`` refuses to change *I* to
  *you*.
- ``idioms.tsv`` contains idioms, whose meaning does not follow from their words. "You're not kidding" means
  "I agree", so removing its *not* does not contradict it.

Conditions that a table cannot express are computed in this module and passed to the rules as flags. The
functions are in this order: rules, idioms, concepts without words, words that do not fit, pronouns, polarity,
phrases, and copied sentences.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import dropwhile, pairwise, takewhile
from typing import NamedTuple

from graphneg.amr.concept_words import NEGATIVE_PREFIX
from graphneg.decoders.surface.analysis.phrases import Phrase
from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.analysis.verb_groups import VerbGroup
from graphneg.decoders.surface.draft import EDGE, RealisationError, Token, Tokens
from graphneg.decoders.surface.inflection import DO, HAVE, Case, degree, pronoun, pronoun_cases
from graphneg.english.gazetteer import MONTHS, TEMPORAL_UNITS, WEEKDAYS
from graphneg.english.noun_kinds import kind_of
from graphneg.english.numbers import NUMBERS
from graphneg.english.propbank import FrameEntry, load_frames
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import lemma_of, readings, table_rows, word_class, word_map
from graphneg.model import Edit

CLAUSE_MARKS = ("polarity", "mode", "polite")
"""Roles of constants such as ``:polarity -``, which the form of the clause expresses, not a single word."""
MAX_COPIED_WORDS = 18
"""Maximum number of words in a sentence that may be copied. Readers would not notice the change of a word in
a longer sentence."""
# Pattern for concepts that no word expresses, because they only build the structure of a graph:
# ``amr-unknown``, ``have-rel-role-91``, ``date-entity``.
_WORDLESS = re.compile(r"amr-.*|.*-91|.*-(?:entity|quantity)|have-.*-92")
# Values of the role ``:mode``. They are expressed by the form of the clause, not by a word.
_STRUCTURAL_VALUES = frozenset({"interrogative", "imperative", "expressive"})
# Tags of words that may occur between a subject and *be*: "it *might not* be".
_AUXILIARIES = frozenset({"MD", "AX", "NEG", "RB"})
# Number of tokens after the pronoun *it* that are searched for a clause to which the pronoun refers: "It is
# hard *to say*".
_EXPLETIVE_REACH = 7
# Pattern for phrasal adjectives such as "worn out", which cannot precede a noun.
_PHRASAL = re.compile(r".*[ -].*(?:up|down|out|off|away)")
# Number of tokens before a replaced word in which the rules look for *not*.
_DENIAL_REACH = 5
# Part-of-speech tags of words with which an object can begin.
_OPENS_PHRASE = NOUNS | {"DT", "PS", "CD", "PN", "PRO"}
# A verb needs an object if PropBank has at least `_ENOUGH` annotated examples of the verb, and if at least
# the share `_NEARLY_ALL` of these examples have an object.
_ENOUGH = 3
_NEARLY_ALL = 0.8
# A verb takes no object if PropBank has at least this number of annotated examples of the verb, none of which
# has an object.
_MANY = 5
# For each kind of complement, the prefixes of the dependency relations that mark such a complement in the
# annotated examples of PropBank.
_NEEDED = {
    "dative": ("dative",),
    "infinitive": ("xcomp_to", "ccomp_to", "advcl_to"),
    "gerund": ("xcomp_vbg", "ccomp_vbg", "advcl_vbg"),
    "clause": ("ccomp",),
}
# Tags of words that can begin a complement. If such a word follows the phrase to be removed, the linking verb
# before this phrase still has a complement.
_COMPLEMENTS = frozenset({"JJ", "VBN", "VBG", "DT", "PS", "NN", "NNS", "PRO", "CD"})
# Tags of the tokens that may precede an idiom: full stops and other end marks, interjections, other
# punctuation, quotation marks.
_OPENING = frozenset({"EN", "UH", "PU", "QT"})
# Tags of the tokens that must follow an idiom. If the idiom's row ends in "...", any token may follow.
_CLOSING = frozenset({"EN", "PU", "QT"})
Known = Token | str | bool
"""Value that a rule of ``refusals.tsv`` can test: a token, a word or a flag."""


class Rule(NamedTuple):
    """A row of ``refusals.tsv``, which states the conditions under which an edit is refused.

    Attributes:
        code: The code of the reason, for example ``no-form``.
        message: The explanation of the reason, as a format string that can contain the tested values.
        conditions: The conditions, which must all be met. Each condition consists of the name of a value, the
            feature to test, a set of words, and a flag. If the flag is True, the feature must be one of the
            words. If it is False, the feature must be none of the words.
    """

    code: str
    message: str
    conditions: tuple[tuple[str, str, frozenset[str], bool], ...]


@cache
def refusals() -> dict[str, list[Rule]]:
    """Read the rules of ``refusals.tsv``, which state when an edit is refused.

    A row consists of the name of a rule set, a code, a message and conditions. A rule applies if all of its
    conditions are met. Conditions have these forms:

    - ``before.lower=a|an``: the feature of a token is one of the words. The features are ``lower``, ``tag``,
        ``expanded``, ``lemma``, ``text`` and ``kind``.
    - ``wanted.kind!=person``: the semantic class of a word differs from the given class.
    - ``wanted=often``: a value that is a word equals the given word.
    - ``asked``, ``!asked`` and ``before.sentence_initial``: a flag is True, or is False.
    - ``before.text=``: the text has no token at this position.

    Instead of a word, ``@name`` stands for all words of a class in ``word_classes.tsv``.

    Returns:
        The rules of each rule set, keyed by the name of the set, in the order of the table.
    """
    sets: dict[str, list[Rule]] = {}
    for name, code, message, cells in table_rows("graphneg.decoders.surface", "refusals.tsv"):
        sets.setdefault(name, []).append(Rule(code, message, tuple(map(_condition, cells.split()))))
    return sets


def apply_rules(sentence: SentenceDraft, rules: str, index: int, **known: Known) -> None:
    """Raise an error if a rule of a rule set applies to the words around an index.

    A rule applies if all of its conditions are met. If several rules apply, the error has the code and the
    message of the first rule. Rules can test the token at the index (``token``) and its neighbours
    (``before``, ``after``, ``after2``).

    Args:
        sentence: The sentence being edited.
        rules: The name of the rule set in ``refusals.tsv``.
        index: The index of the token that an edit would change.
        **known: Further values that the rules can test. A value named ``before``, for example, replaces
            the token before the index.

    Raises:
        RealisationError: A rule applies.
    """
    steps = {"before": -1, "token": 0, "after": 1, "after2": 2}
    known = {name: sentence.tokens.get(index + step) for name, step in steps.items()} | known
    for rule in refusals()[rules]:
        checks = [_feature(known[at], of) in values for at, of, values, _ in rule.conditions]
        if checks == [holds for _, _, _, holds in rule.conditions]:
            raise RealisationError(rule.code, rule.message.format(**known))


def _condition(cell: str) -> tuple[str, str, frozenset[str], bool]:
    """Parse a condition of a rule, such as ``before.lower=a|an``."""
    path, equals, words = cell.partition("=")
    name, _, feature = path.strip("!").partition(".")
    values = [word_class(word[1:]) if word[:1] == "@" else {word} for word in words.split("|")]
    known = frozenset[str]().union(*values) if equals else frozenset({"yes"})
    return name, feature, known, "!" not in (path[:1], path[-1:])


def _feature(thing: Known, feature: str) -> str:
    """Return a feature of a token: for *Saw*, the feature ``lower`` is ``saw``, and ``tag`` is ``VBD``.

    Instead of a token, a rule can test a word or a flag. A word is returned unchanged, except that its
    feature ``kind`` is its semantic class. Flags are returned as ``yes`` or ``no``.
    """
    if feature == "kind":
        return kind_of(thing.lower if isinstance(thing, Token) else str(thing))
    value = getattr(thing, feature) if isinstance(thing, Token) else thing
    return value if isinstance(value, str) else "yes" if value else "no"


class Idiom(NamedTuple):
    """A row of ``idioms.tsv``, for an idiom such as "you are kidding".

    Attributes:
        positions: The alternative words at each position of the idiom, such as *kidding* and *joking*.
        open_ended: Whether other words may follow the idiom in the same clause.
        meaning: The meaning of the idiom in other words.
    """

    positions: tuple[frozenset[str], ...]
    open_ended: bool
    meaning: str


@cache
def _idioms() -> Mapping[str, tuple[Idiom, ...]]:
    """Read ``idioms.tsv``, and return the idioms keyed by each of their possible first words."""
    found: dict[str, list[Idiom]] = {}
    for words, meaning in table_rows("graphneg.decoders.surface", "idioms.tsv"):
        places = tuple(frozenset(place.split("|")) for place in words.split() if place != "...")
        idiom = Idiom(places, words.endswith(" ..."), meaning)
        for first in places[0]:
            found.setdefault(first, []).append(idiom)
    return {first: tuple(some) for first, some in found.items()}


def refuse_idiom(sentence: SentenceDraft, index: int) -> None:
    """Refuse to edit a word that is part of an idiom.

    Args:
        sentence: The sentence being edited.
        index: The index of a word that the edit would change.

    Raises:
        RealisationError: The word is part of an idiom (``unsupported-edit``).

    Example:
        In "You're not kidding.", an edit of *not* is refused, because the sentence means "I agree".
    """
    tokens = sentence.tokens
    start, end = sentence.sentence_bounds(index)
    for first in range(start, index + 1):
        # An idiom must begin a clause: "Oh, not bad" is an idiom, "cheap but not bad" is not. A conjunction
        # may precede the idiom only at the start of the sentence: "But no wonder".
        before = tokens[first - 1].tag if first > start else "EN"
        if before not in _OPENING and (before, first) != ("CC", start + 1):
            continue
        for idiom in (one for form in _forms(tokens[first]) for one in _idioms().get(form, ())):
            last = first + len(idiom.positions)
            says = last <= end and all(
                not place.isdisjoint(_forms(token))
                for place, token in zip(idiom.positions, tokens[first:last], strict=False)
            )
            if says and index < last and (idiom.open_ended or tokens.get(last).tag in _CLOSING):
                words = " ".join(token.lower for token in tokens[first:last])
                raise RealisationError(
                    "unsupported-edit", f"{words!r} is an idiom (meaning: {idiom.meaning})"
                )


def _forms(token: Token) -> frozenset[str]:
    """Return the spellings of a token to look up in ``idioms.tsv``: as written, and without contraction."""
    full = word_map("ambiguous-contractions").get(token.lower)
    return frozenset({token.lower, token.expanded, *(full.split("/") if full else ())})


def refuse_wordless(edit: Edit) -> None:
    """Refuse an edit that would add a concept or constant that no word expresses.

    Concepts such as ``amr-unknown`` (in questions), ``have-rel-role-91`` and ``date-entity`` only build the
    structure of a graph. Writing "amr unknown" would make no sense. Polarity, mode and ``multi-sentence`` are
    accepted, because they need no word.

    Args:
        edit: The edit to check.

    Raises:
        RealisationError: The concept or constant has no word (``no-words``).
    """
    if (edit.op == "add" and edit.role in CLAUSE_MARKS) or (
        edit.op == "wrap" and edit.concept == "multi-sentence"
    ):
        return
    if edit.op in ("set", "add", "wrap") and edit.concept is not None and is_wordless(edit.concept):
        raise RealisationError("no-words", f"no word expresses {edit.concept}: choose another concept")
    if edit.op == "set" and edit.value in _STRUCTURAL_VALUES:
        raise RealisationError("no-words", f"no word expresses {edit.value}: choose another value")


def is_wordless(concept: str) -> bool:
    """Return whether a concept only builds the structure of a graph, so that no word expresses it.

    Args:
        concept: The concept, for example ``like-01``.

    Returns:
        True if no word expresses the concept.

    Example:
        >>> is_wordless("have-rel-role-91"), is_wordless("amr-unknown"), is_wordless("like-01")
        (True, True, False)
    """
    return concept in word_class("wordless-concepts") or _WORDLESS.fullmatch(concept) is not None


def refuse_misplaced_word(sentence: SentenceDraft, index: int, old: str, wanted: str, role: str) -> None:
    """Refuse to replace a word by a new word that does not fit the words around it.

    The rules are those of the set ``replaced-word`` in ``refusals.tsv``.

    Args:
        sentence: The sentence being edited.
        index: The index of the old word.
        old: The lemma of the old word.
        wanted: The lemma of the new word.
        role: The role of the node that the word expresses; empty for the root of the graph.
    """
    tokens, token = sentence.tokens, sentence.tokens[index]
    after, after2 = tokens.get(index + 1), tokens.get(index + 2)
    start, _ = sentence.sentence_bounds(index)
    near = tokens[max(start, index - _DENIAL_REACH) : index]
    apply_rules(
        sentence,
        "replaced-word",
        index,
        governor=tokens.get(sentence.noun_phrase(index)[0] - 1),
        # In "It's a little cold", *little* expresses a degree, not a size.
        amount=role in ("degree", "extent", "quant") or "ADJ" in readings(after.lower),
        old=old,
        wanted=wanted,
        compared=after.tag in ("RBR", "JJR") or degree(after.text) == "JJR",
        denied=any(other.lower in word_class("nots") for other in near),
        phrasal=_PHRASAL.fullmatch(wanted) is not None,
        prefixed=NEGATIVE_PREFIX.match(wanted) is not None,
        repeated=after2.lower == token.lower,
        repeats=tokens.get(index - 2).lower == token.lower,
    )


def refuse_misplaced_verb(sentence: SentenceDraft, token: Token, old: str, concept: str) -> None:
    """Refuse to replace a verb by one that does not take the complements in the sentence (``no-form``).

    The annotated examples of PropBank show which complements a verb takes: "give me a book" but not "receive
    me a book", "stay awake" but not "move awake". A verb without annotated examples is accepted.

    Args:
        sentence: The sentence being edited.
        token: The token of the old verb.
        old: The concept that the old verb expresses.
        concept: The concept that the new verb expresses.

    Raises:
        RealisationError: The annotated examples of PropBank do not show the new verb with such complements.
    """
    frame = load_frames().frames.get(concept)
    if frame is None:
        return
    if not frame.verbal:
        raise RealisationError("no-form", f"no verb expresses {concept}")
    lemma = concept.rpartition("-")[0].replace("-", "_")
    taken, before = _signatures(lemma), _signatures(old.rpartition("-")[0].replace("-", "_"))
    complements = _complements(sentence, token)
    # Count PropBank's examples in which the verb has a direct object. The subject of a passive verb
    # ("nsubjpass") counts as a direct object.
    with_object = sum(sum(frame.seen.get(form, {}).values()) for form in ("dobj", "nsubjpass"))
    needs_object = frame.examples >= _ENOUGH and with_object >= _NEARLY_ALL * frame.examples
    before_verb = sentence.tokens[: sentence.tokens.index_of(token)]
    # The object may precede the verb, as in a passive, in "What did you say?" and in "the book that I read".
    # Then the verb is accepted although no object follows it.
    elsewhere = token.tag in ("VBN", "VBG", "NN", "NNS", "JJ") or any(
        other.lower in word_class("fronted-objects") for other in before_verb
    )
    if not complements and needs_object and not elsewhere:
        raise RealisationError("no-form", f"'{lemma}' needs an object")
    # Verbs with a goal as ARG4 do not take *at*: "We arrived at the top", but not "We ascended at the top".
    if "at" in complements and frame.functions.get("4") == "GOL":
        raise RealisationError("no-form", f"'{lemma}' does not go with 'at' and a place")
    for complement in complements:
        if not _takes(complement, frame, taken, before):
            raise RealisationError("no-form", f"'{lemma}' does not take this complement: {complement}")


def _complements(sentence: SentenceDraft, token: Token) -> list[str]:
    """Return the kinds of the complements after a verb, such as ``object`` or ``to``, in text order."""
    tokens, particles = sentence.tokens, word_class("verb-particles")
    index = tokens.index_of(token) + 1
    while tokens.get(index).tag in ("RB", "NEG") and tokens[index].lower not in particles:
        index += 1
    low, following = tokens.get(index).lower, tokens.get(index + 1)
    first, second, third = (tokens.get(index + step).tag for step in range(3))
    # In "run out of milk", *out* is a particle, although a preposition follows it.
    if low == "out" and following.lower == "of":
        return ["particle out"]
    # In "come back", "back" is a particle. In "up the hill", "up" is a preposition.
    if low in particles and second not in _OPENS_PHRASE | {"IN"}:
        return [f"particle {low}"]
    if first == "SC" and low in word_class("clause-complementizers"):
        return ["clause"]
    if first == "VBG" or (first == "TO" and second == "VB"):
        return ["gerund" if first == "VBG" else "infinitive"]
    if first in ("IN", "TO"):
        # The prepositional phrase is a complement ("look at it"), unless it is a time ("at five", "at noon").
        when = low == "at" and (second == "CD" or following.lower in word_class("times-of-day"))
        return [low] if low in word_class("governed-prepositions") and not when else []
    # An adjective can begin an object ("buy red shoes") or be the complement itself ("stay awake").
    if first == "JJ":
        return ["object" if sentence.is_noun(tokens.run_end(index, ("JJ", "CC"))) else "adjective"]
    if first != "PRO":
        return ["object"] if first in _OPENS_PHRASE else []
    # A pronoun before a determiner, number or other pronoun is a dative: "give me a book". Otherwise it is an
    # object: "see me".
    complements = ["dative" if second in ("DT", "PS", "CD", "PN") else "object"]
    if second == "TO" and third == "VB":
        complements.append("infinitive")
    if following.lower in particles and third != "DT":
        complements.append(f"particle {following.lower}")
    return complements


def _takes(complement: str, frame: FrameEntry, taken: frozenset[str], before: frozenset[str]) -> bool:
    """Return whether a verb takes a given kind of complement.

    Args:
        complement: The kind of complement, for example ``object``, ``infinitive`` or ``to``.
        frame: The frame of the new verb.
        taken: The dependency relations in the annotated examples of the new verb.
        before: The dependency relations in the annotated examples of the old verb.

    Returns:
        True if the examples of the new verb show such a complement, or if the new verb has no examples.
    """
    if complement == "object":
        objects = any(form.startswith(("dobj", "nsubjpass")) for form in frame.seen)
        # If many examples are annotated and none has an object, the verb takes no object: "I failed that
        # exam" does not become "I succeeded that exam".
        if frame.examples >= _MANY and not objects:
            return False
        return "1" in frame.functions and (frame.functions.get("0") == "PAG" or "dobj" in frame.seen)
    if complement == "adjective":
        return "PRD" in frame.functions.values() or not {"acomp", "oprd"}.isdisjoint(frame.seen)
    if not taken or complement.startswith("particle "):
        return not taken
    if complement in _NEEDED:
        return any(form.startswith(_NEEDED[complement]) for form in taken)
    # If the examples of the old verb do not show the preposition, it introduces an adjunct. Adjuncts fit any
    # verb: "He reads for pleasure."
    usual = complement in word_class("complement-prepositions") or f"prep_{complement}" in before
    return f"prep_{complement}" in taken or not usual


@lru_cache(maxsize=4096)
def _signatures(lemma: str) -> frozenset[str]:
    """Return the dependency relations that a verb has in PropBank's examples, such as ``prep_to``."""
    table = load_frames()
    frames = (table.frames[id] for id in table.candidates(lemma, "v"))
    return frozenset(form for frame in frames for form in frame.seen)


def refuse_pronoun(sentence: SentenceDraft, token: Token) -> None:
    """Refuse to change the person of a pronoun in a fixed phrase.

    Expletives, idioms, greetings and polite formulas are fixed phrases: "It's late", "You bet", "How are
    you?", "Thank you". The rules are those of the set ``pronoun`` in ``refusals.tsv``.

    Args:
        sentence: The sentence being edited.
        token: The token of the pronoun.
    """
    tokens = sentence.tokens
    refuse_expletive(sentence, token)
    index = tokens.index_of(token)
    refuse_idiom(sentence, index)
    # Compute flags for the rules, which refuse to change *you* in fixed phrases such as "How are you?" and
    # "Thank you", and in "If you go there, it rains", where *you* may mean people in general.
    around = tokens[slice(*sentence.sentence_bounds(index))]
    courteous = any(other.lower in word_class("courtesies") for other in around)
    greets = tokens.get(index - 2).lower == "how" and tokens.get(index - 1).is_be
    # "I'm afraid it's late" is a polite formula, so refuse to change its pronoun. "I'm afraid of dogs" is a
    # statement and can be changed.
    regrets = token.lower == "i" and tokens.get(index + 1).is_be and tokens.get(index + 2).lower == "afraid"
    regrets = regrets and tokens.get(index + 3).lower not in ("of", "to")
    known = {
        "courteous": courteous or regrets,
        "greets": greets,
        "supposed": around[0].lower == "if",
    }
    apply_rules(sentence, "pronoun", index, **known)


def refuse_person(sentence: SentenceDraft, token: Token, person: str, case: Case) -> None:
    """Refuse a change of person that makes no sense for the subject of a question or for an object.

    "May I borrow it?" asks for permission, but "May you borrow it?" does not. "Would you like some tea?" is
    an offer, but "Would I like some tea?" is not. A question with a question word makes sense for every
    person: "What would I like?". If a rule of the sets ``question-person`` and ``object-pronoun`` in
    ``refusals.tsv`` applies, `apply_rules` raises `RealisationError`.

    Args:
        sentence: The sentence being edited.
        token: The token of the pronoun.
        person: The new person, as a subject pronoun in lower case, for example ``i``.
        case: The case of the pronoun. Only subjects and objects are checked.
    """
    index = sentence.tokens.index_of(token)
    before, after = sentence.tokens.get(index - 1), sentence.tokens.get(index + 1)
    # In "Do you have a package?", *have* is no auxiliary, although it may be tagged as one.
    if case == Case.SUBJECT and before.lower in DO and before.tag == "AX" and after.lower == "have":
        wh = sentence.tokens.get(index - 2).tag == "WP"
        apply_rules(
            sentence, "question-person", index, person=person, modal=before, main=after, question_word=wh
        )
    for group in sentence.parse_verbs() if case == Case.SUBJECT else ():
        if group.asks and group.subject is not None and group.subject[0] <= index < group.subject[1]:
            wh = sentence.tokens.get(group.first - 1).tag == "WP"
            main = sentence.tokens[group.main]
            apply_rules(
                sentence,
                "question-person",
                index,
                person=person,
                modal=group.verb,
                main=main,
                question_word=wh,
            )
    if case == Case.OBJECT and sentence.tokens.get(index - 1).tag in VERBS:
        # Refuse an object that is part of the subject: "We will meet you" cannot become "We will meet me".
        group = sentence.finite_before(index)
        subject = group.subject_tokens[0] if group and group.subject_tokens else EDGE
        form = pronoun(person, case)
        apply_rules(sentence, "object-pronoun", index, person=person, form=form, subject=subject, object=True)


def refuse_partial_swap(
    sentence: SentenceDraft, persons: set[str], changes: Sequence[tuple[Token, str, Case]]
) -> None:
    """Refuse a change of pronouns after which *I* and *you* would seem to be the same person.

    If *I* and *you* are swapped, all pronouns for these two persons must change. If only one of the two
    persons changes, the sentence must not contain the other person: "I'll give you a call" must not become
    "You'll give you a call".

    Args:
        sentence: The text being edited, which may consist of several sentences.
        persons: The old persons of the changed nodes, for example ``i`` and ``you``.
        changes: For each pronoun that changes, its token, its new person and its case.

    Raises:
        RealisationError: A pronoun for one of the persons would not change, because it is not aligned with
            any changed node (``no-alignment``).
    """
    tokens, changed = sentence.tokens, [token for token, _, _ in changes]
    new = {person for _, person, _ in changes} & {"i", "you"}
    near = [
        tokens[slice(*sentence.sentence_bounds(tokens.index_of(token)))]
        for token, person, _ in changes
        if person in new
    ]
    both = {"i", "you"} <= persons
    for token in tokens:
        said = {person for person, _ in pronoun_cases(token.text)}
        stays = said & persons if both else said & new
        if token not in changed and stays and (both or any(token in sentence for sentence in near)):
            raise RealisationError(
                "no-alignment", f"another '{token.text}' would keep its person and seem to be the same person"
            )


def refuse_expletive(sentence: SentenceDraft, token: Token) -> None:
    """Refuse to change the pronoun *it* if it refers to nothing or to a later clause (``kind-mismatch``).

    Examples: "It's hard work being a nurse", "It is a while since we met", "Take it easy".

    Args:
        sentence: The sentence being edited.
        token: The token of the pronoun.
    """
    tokens, index = sentence.tokens, sentence.tokens.index_of(token)
    _, end = sentence.sentence_bounds(index)
    after = tokens[index + 1 : min(end, index + 1 + _EXPLETIVE_REACH)] or [EDGE]
    # A gerund after an adjective or noun is a clause to which *it* refers: "It's nice meeting you", "It's no
    # use crying".
    doing = any(two.tag == "VBG" and one.tag in ("JJ", "NN") for one, two in pairwise(after))
    marks = doing or any(
        other.tag == "TO" or other.lower in word_class("after-expletive") for other in after[1:]
    )
    # If a noun follows, as in "its long tail", *its* is a possessive and not a misspelt "it's".
    owns = sentence.is_noun(tokens.run_end(index + 1, ("JJ", "RB", "CD")))
    # After a verb of cost or time, *it* refers to an infinitive ("It costs a lot to live here") or to an
    # event with a duration ("It takes two hours").
    verb = next((other for other in after if other.tag in VERBS and other.tag not in ("AX", "MD")), EDGE)
    lasts = verb.lemma == "take" and any(lemma_of(other.lower, "NNS") in TEMPORAL_UNITS for other in after)
    costs = (verb.lemma in word_class("costing") and any(other.tag == "TO" for other in after)) or lasts
    # A form of *be* as the predicate must be next to the pronoun *it*. It may follow the pronoun, perhaps
    # after auxiliaries ("It must be hard to"), or precede it ("Isn't it hard to").
    rest = list(dropwhile(lambda other: other.tag in _AUXILIARIES and not other.is_be, after))
    linked = tokens.get(tokens.run_start(index, ("NEG",)) - 1).is_be or any(other.is_be for other in rest[:1])
    predicate = list(dropwhile(lambda other: other.is_be or other.tag in ("RB", "NEG"), rest))[:1]
    # *It* refers to nothing if a form of *be* follows, and then a word of time or weather ("It's quite
    # sunny", "It's Monday") or a number ("It's five o'clock", "It's 2135-3678"). The same holds if a verb of
    # change and a word of time or weather follow ("It's getting late").
    told = any(other.lower in word_class("said-of-no-thing") | WEEKDAYS | set(MONTHS) for other in predicate)
    # In "It's ten years old", *it* refers to a thing, although a number follows. So a number does not count
    # if "old" follows.
    aged = any(other.lower == "old" for other in after)
    counts = linked and not aged and any(other.tag == "CD" or other.lower in NUMBERS for other in predicate)
    becomes = verb.lemma in word_class("becoming") and any(
        other.lower in word_class("said-of-no-thing") for other in after
    )
    anticipates = (linked and (marks or told)) or costs or counts or becomes
    apply_rules(sentence, "expletive", index, owns=owns, anticipates=anticipates)


def refuse_negation(sentence: SentenceDraft, group: VerbGroup, label: str) -> None:
    """Refuse to negate a clause if the negation would make no sense or would not contradict the clause.

    *Not* cannot be added to "Here you are", "Thank you" or "Nobody saw it". "I did not almost fall" does not
    contradict "I almost fell". The rules are those of the set ``negation`` in ``refusals.tsv``.

    Args:
        sentence: The sentence being edited.
        group: The verb group of the clause.
        label: The concept of the node that heads the clause, for the error message.
    """
    tokens, main, first = sentence.tokens, group.main, group.first
    bounds = sentence.sentence_bounds(first)
    earlier = [other for other in sentence.parse_verbs() if bounds[0] <= other.first < first]
    around, narrow = (tokens[max(0, first - 1) : end] for end in (main + 2, main + 1))
    start = group.subject[0] if group.subject else first
    scope = tokens[max(0, start - 1) : sentence.negation_scope_end(main + 1, ",")]
    only = any(token.lower in word_class("restricting-adverbs") for token in around)
    # Find a contrast such as "but not her" in "He likes me but not her". Such a clause must not be negated:
    # "He does not like me but not her" makes no sense.
    contrasted = any(
        token.lower == "not" and (before.lower in ("but", "and") or before.text == ",")
        for before, token in pairwise(tokens[main + 1 : bounds[1]])
    )
    apply_rules(
        sentence,
        "negation",
        main,
        label=label,
        kind=group.kind,
        before=tokens.get(first - 1),
        modal=group.verb if group.verb.tag == "MD" else EDGE,
        behind=tokens.get(first + 1),
        subject=tokens[start] if group.subject else EDGE,
        before_subject=tokens.get(start - 1) if group.subject else EDGE,
        last=tokens[bounds[1] - 1],
        inverted=group.inverted,
        clause_before=any(other.first < start and other.kind == "finite" for other in earlier),
        question_before=any(other.asks for other in earlier),
        # `negative` is True if the clause is already negative ("Nobody saw it"), or if *not* would combine
        # with another word of the clause ("Only I saw it", "I would rather stay").
        negative=only
        or bool(group.negations)
        or any(token.lower in word_class("negative-words") for token in scope),
        part=sentence.finite(group) is not None,
        contrasted=contrasted,
        # True if the verb may be an order that is joined to a statement, like *look* in "I waited, and look
        # at it now". In "I can sing and dance", *dance* depends on *can* and is not an order.
        ordered=group.kind == "bare"
        and tokens.get(first - 1).lower in word_class("conjunctions")
        and bool(earlier)
        and earlier[-1].kind == "finite"
        and len(earlier[-1].chain) == 1
        and earlier[-1].verb.tag != "MD",
        offers=sentence.accompanies_giving(group),
        alone=len(group.chain) == 1,
        presented=group.asks,
        presents=sentence.is_presentation(group),
        degree=any(
            token.lower in word_class("undenied") and token.tag == "RB"
            for token in (around if tokens[main].is_be else narrow)
        ),
    )


def refuse_answer(sentence: SentenceDraft, index: int) -> None:
    """Refuse to change the polarity of a sentence that begins with *yes* or *no*.

    Args:
        sentence: The sentence being edited.
        index: The index of a word of the clause.

    Raises:
        RealisationError: The sentence begins with an answer (``unclear-clause``). A new polarity would
            contradict this answer: "Yes, I did not see it".
    """
    before = sentence.tokens[sentence.sentence_bounds(index)[0] : index]
    opening = next((token for token in before if token.tag not in ("QT", "PU")), None)
    # Skip sentences with a quotation before the word, because a quoted "yes" is not an answer by the speaker:
    # 'He said "yes" and left'.
    if sum(token.is_quote for token in before) > 1 or opening is None:
        return
    if opening.lower in word_class("answers") and opening.tag == "UH":
        raise RealisationError(
            "unclear-clause", f"'{opening.text}' at the start would contradict the rest of the sentence"
        )


def refuse_affirmation(sentence: SentenceDraft, index: int, group: VerbGroup | None = None) -> None:
    """Refuse to remove a negation that belongs to a set phrase, or that cannot simply be left out.

    Examples of set phrases are "I'm afraid not" and "I can't help it". Two other cases are also refused. In
    "Never have I seen it", the verb would have to move. "A little snow never hurt anyone" is a general truth,
    but without its negation ("A little snow hurt someone") it would report a single event. The rules are
    those of the set ``affirmation`` in ``refusals.tsv``.

    Args:
        sentence: The sentence being edited.
        index: The index of the negation.
        group: The verb group of the clause that is negated; None if the group is unknown.
    """
    tokens, end = sentence.tokens, sentence.negation_scope_end(index + 1)
    # Find *until*, which may depend on the negation: "I did not leave until he came" says when I left, not
    # that I stayed.
    while tokens.get(end).lower == "until":
        end = sentence.negation_scope_end(end + 1)
    until = any(token.lower in word_class("until-words") for token in tokens[index + 1 : end])
    verb = group.verb if group is not None else EDGE
    subject = group.subject_tokens[-1] if group is not None and group.subject_tokens else EDGE
    third = subject.lower in word_class("third-person") or subject.tag in ("NN", "NNP")
    # True for a verb such as "hurt" or "put" after a third-person subject. Its past form equals its plain
    # form, and it has no *-s*, so a general truth would look like a report of a single past event.
    timeless = third and verb.tag not in ("AX", "MD") and verb.lower == verb.lemma == verb.form("VBD")
    inverted = group is not None and group.asks and index < group.first
    apply_rules(sentence, "affirmation", index, until=until, verb=verb, timeless=timeless, inverted=inverted)


def refuse_bare_copula(sentence: SentenceDraft, target: Phrase) -> None:
    """Refuse to remove the only complement of a linking verb: "She is happy" must not become "She is".

    Args:
        sentence: The sentence being edited.
        target: The phrase that would be removed.

    Raises:
        RealisationError: The phrase is the only complement of a linking verb (``unclear-clause``).
    """
    tokens, index = sentence.tokens, target.start
    while index and (tokens[index - 1].tag in ("RB", "NEG") or tokens[index - 1].text == ","):
        index -= 1
    verb, complete = tokens.get(index - 1), tokens.get(target.end).tag in _COMPLEMENTS
    links = verb.is_be or verb.lemma in word_class("linking-verbs")
    if links and not complete and any(group.main == index - 1 for group in sentence.parse_verbs()):
        raise RealisationError("unclear-clause", "the linking verb would have no complement")


def is_dangling(tokens: Tokens, start: int) -> bool:
    """Return whether a text contains *to* without the verb that should follow: "I'd love to, ...".

    Args:
        tokens: The tokens of the text.
        start: The index of the first token to examine.

    Returns:
        True if a punctuation mark or a conjunction follows *to*.
    """
    ends = ("EN", "PU", "QT", "CC", "SC")
    return any(tokens[i].tag == "TO" and tokens.get(i + 1).tag in ends for i in range(start, len(tokens)))


def refuse_graft(
    sentence: SentenceDraft,
    target: Phrase,
    source: SentenceDraft,
    copied: Phrase,
    words: Sequence[Token],
    name: bool,
) -> None:
    """Refuse to replace a phrase by a copied phrase that does not fit the sentence.

    The rules are those of the set ``graft`` in ``refusals.tsv``.

    Args:
        sentence: The sentence with the phrase to replace.
        target: The phrase to replace.
        source: The sentence with the phrase to copy.
        copied: The phrase to copy.
        words: The copies of the tokens in the copied phrase.
        name: Whether both phrases are names.
    """
    tokens, head = sentence.tokens, source.tokens[copied.head]
    start, end = sentence.sentence_bounds(target.head)
    others = [*tokens[start : target.start], *tokens[target.end : end]]
    before = (tokens.get(target.start - 1), source.tokens.get(copied.start - 1))
    nominal = copied.kind == "nominal"
    # Refuse a noun that the sentence already contains: "He took the wallet out of the wallet" makes no sense.
    said = any(token.tag in NOUNS and token.lower == head.lower for token in others)
    apply_rules(
        sentence,
        "graft",
        target.start,
        low=head.lower,
        after=tokens.get(target.end),
        name=name,
        twice=said and nominal and head.tag in NOUNS,
        saying=nominal and _says_something(words),
        same=[token.lower for token in words] == [token.lower for token in tokens[target.start : target.end]],
        denies=words[0].lower in word_class("denying-words"),
        determined=sum(token.tag in ("DT", "PS") for token in before) == 1,
    )


def _says_something(phrase: Sequence[Token]) -> bool:
    """Return whether a noun phrase contains a form of *be* outside a relative clause.

    Such a phrase is the result of a parser error: "the fern is nearly" is not a noun phrase.

    Returns:
        True if the phrase contains a form of *be*, and no word before this form begins a clause.
    """
    before = list(takewhile(lambda token: not token.is_be, phrase))
    begins_clause = any(token.tag in ("PRS", "WP", "WDT", "WRB", "IN") for token in before)
    return len(before) < len(phrase) and not begins_clause


def refuse_dependent_sentence(source: SentenceDraft) -> None:
    """Refuse to copy a sentence that makes no sense in a different context.

    A question would ask for something else in the new context. "I think so" refers to the previous sentence.
    "As long as it rains" is a part of another clause. "Besides, I like it too" continues a sentence that is
    not copied. The rules are those of the set ``copied-sentence`` in ``refusals.tsv``.

    Args:
        source: The sentence that would be copied.
    """
    tokens, supposing = source.tokens, word_class("supposing")
    marks = [token for token in tokens if token.tag == "EN"]
    clauses = [group for group in source.parse_verbs() if group.is_main]
    # "I think so" and "I hope not" need an earlier sentence, because *so* and *not* represent its clause.
    anaphoric = any(
        token.lower in word_class("clause-pronouns")
        and tokens.get(index + 1).tag in ("EN", "PU")
        and before.lemma in supposing
        for index, (before, token) in enumerate(pairwise(tokens), 1)
    )
    # Refuse sentences that end in an auxiliary without its main verb, such as "That you all do" and "if you
    # can". The main verb is in an earlier sentence, so they make no sense elsewhere.
    words = [token for token in tokens if token.tag not in ("EN", "QT")]
    if words and (words[-1].lower == "not" or words[-1].tag == "NEG"):
        words.pop()
    named = len(words) > 1 and words[-2].tag in ("PRS", "NNP", "RB", "DT", "PN", "JJ")
    unsaid = named and (words[-1].tag == "MD" or words[-1].expanded in DO | HAVE)
    apply_rules(
        source,
        "copied-sentence",
        0,
        asks=bool(marks) and marks[-1].text == "?",
        anaphoric=anaphoric,
        breaks_off=unsaid and all(token.tag != "WP" for token in words),
        clause=bool(clauses),
        part=len(clauses) == 1 and clauses[0].subject is not None,
        goes_on=any(token.lower in word_class("going-on") for token in tokens),
        long=len(words) > MAX_COPIED_WORDS,
        several=any(group.subject and tokens.get(group.subject[0] - 1).text == "," for group in clauses[1:]),
        opener=tokens.get(clauses[0].subject[0] - 1) if clauses and clauses[0].subject else EDGE,
        inverted=any(group.inverted for group in clauses),
    )

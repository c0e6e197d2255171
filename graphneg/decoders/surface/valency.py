"""Refuse verbs that do not take the complements of the verb that they replace.

The annotated examples of PropBank show which complements a verb takes: "Give me a book" does not become
"Receive me a book", and "Stay awake" does not become "Move awake".
"""

from __future__ import annotations

from functools import lru_cache

from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.draft import RealisationError, Token
from graphneg.english.propbank import FrameEntry, load_frames
from graphneg.english.tagging import NOUNS
from graphneg.english.words import word_class

# Part-of-speech tags of words with which an object can begin.
_OPENS_PHRASE = NOUNS | {"DT", "PS", "CD", "PN", "PRO"}
# A verb needs an object if PropBank has at least `_ENOUGH` annotated examples of the verb, and if at least
# the share `_NEARLY_ALL` of these examples have an object.
_ENOUGH = 3
_NEARLY_ALL = 0.8
# A verb counts as intransitive if PropBank has at least this number of examples of it, all without an object.
_MANY = 5
# Maps each kind of complement to prefixes of dependency relations. A relation with such a prefix in
# PropBank's examples of a verb shows that the verb takes this kind of complement.
_NEEDED = {
    "dative": ("dative",),
    "infinitive": ("xcomp_to", "ccomp_to", "advcl_to"),
    "gerund": ("xcomp_vbg", "ccomp_vbg", "advcl_vbg"),
    "clause": ("ccomp",),
}


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
    # Test whether the object precedes the verb: in a passive, in "What did you say?" and in "the book that I
    # read". Then the new verb needs no object after it.
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
    # In "He reads for pleasure", *for* does not belong to *read*: PropBank's examples of *read* do not
    # contain it. Such a phrase fits any verb, so accept the new verb.
    usual = complement in word_class("complement-prepositions") or f"prep_{complement}" in before
    return f"prep_{complement}" in taken or not usual


@lru_cache(maxsize=4096)
def _signatures(lemma: str) -> frozenset[str]:
    """Return the dependency relations that a verb has in PropBank's examples, such as ``prep_to``."""
    table = load_frames()
    frames = (table.frames[id] for id in table.candidates(lemma, "v"))
    return frozenset(form for frame in frames for form in frame.seen)

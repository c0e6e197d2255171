"""Find the verb groups of a sentence, with their subjects and negations, and its noun phrases.

Negation, questions and tense change the auxiliaries of a clause, and depend on its subject. This module finds
auxiliaries and subjects from part-of-speech tags alone. It is so fast that it can run again after each edit,
which keeps all token indices valid.

`parse_verb_groups` returns one `VerbGroup` for each group of verbs that belong together, and corrects the
tags of their verbs. For example, "had not been seen" is one group with the chain *had*, *been*, *seen* and
the negation *not*. "Do you know" is one group, too, with its subject between the verbs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from graphneg.decoders.surface.draft import EDGE, Token, Tokens, after_determiner
from graphneg.decoders.surface.inflection import (
    BE,
    DO,
    HAVE,
    is_participle,
    verb_form,
    verb_lemma,
)
from graphneg.english.gazetteer import TEMPORAL_UNITS, WEEKDAYS
from graphneg.english.tagging import FINITE, NOUNS
from graphneg.english.words import word_class

Kind = Literal["finite", "imperative", "infinitive", "bare", "gerund", "participle"]
TIME_NOUNS = word_class("time-nouns")
"""Nouns that are used as adverbs of time. In "Yesterday she came", only *she* is the subject."""
# Tags of words that may occur between the verbs of a verb group: "has *not always* been".
_SKIP = frozenset({"RB", "NEG"})
# Tags of tokens after which a clause can begin.
_STARTS = frozenset({"EN", "QT", "PU", "CC", "UH"})
# Tags of words that can belong to a noun phrase.
_NP = NOUNS | {"JJ", "DT", "PS", "CD", "POS", "PN", "PRS", "PRO", "EX"}
# Tags of words that can begin a subject after its auxiliary: "Has *the* train left?"
_AFTER_AUXILIARY = NOUNS | {"PRS", "PRO", "DT", "PS", "PN", "EX", "CD", "JJ"}
# Tags of words that can begin an object.
_OPENS_OBJECT = frozenset({"DT", "PS", "PRO", "PN", "NN", "NNS", "NNP"})
# Maximum number of tokens in an aside between commas: "Tom, my oldest friend, has left."
_COMMA_REACH = 12


@dataclass(slots=True)
class VerbGroup:
    """The verbs of a clause that belong together, with their subject and negations.

    All indices refer to ``tokens``. They are valid until a token is inserted or removed.

    Attributes:
        kind: The form of the first verb: ``finite``, ``imperative``, ``infinitive`` (with *to*), ``bare``
            (another plain form), ``gerund`` or ``participle``.
        chain: The indices of the verbs in text order. The last index is that of the main verb.
        tokens: The tokens of the text.
        negations: The indices of the tokens that negate the verbs, such as *not*.
        subject: The index of the first token of the subject, and the index after its last token; None if the
            group has no subject.
        inverted: Whether the first verb precedes the subject: "Do you know?"
        quotative: Whether the group is a verb of direct speech that precedes its subject: "said the king".
        infinitive_marker: The index of the *to* of an infinitive; None for groups of other kinds.
    """

    kind: Kind
    chain: list[int]
    tokens: Tokens = field(repr=False)
    negations: list[int] = field(default_factory=list[int])
    subject: tuple[int, int] | None = None
    inverted: bool = False
    quotative: bool = False
    infinitive_marker: int | None = None

    @property
    def first(self) -> int:
        """The index of the first verb of the group, which is the finite verb in a finite group."""
        return self.chain[0]

    @property
    def main(self) -> int:
        """The index of the main verb, which is the last verb of the group."""
        return self.chain[-1]

    @property
    def start(self) -> int:
        """The index of the first token of the clause, that is, of its subject or its verb."""
        return self.subject[0] if self.subject and not self.inverted else self.chain[0]

    @property
    def verb(self) -> Token:
        """The token of the first verb."""
        return self.tokens[self.chain[0]]

    @property
    def second(self) -> Token:
        """The token of the second verb; the empty token `EDGE` if the group has only one verb."""
        return self.tokens[self.chain[1]] if len(self.chain) > 1 else EDGE

    @property
    def perfect(self) -> bool:
        """Whether the first verb is *'s* and means *has*, as in "He's lost it", and not *is*."""
        low, following = self.second.lower, self.tokens.get(self.main + 1)
        if self.verb.lower != "'s" or low in word_class("after-has"):
            return self.verb.lower == "'s" and self.second is not EDGE
        if self.second.tag != "VBN" or low in word_class("naming-participles"):
            return False
        # In "I know what he's done" and "What's she made?", the question word is the object of the
        # participle. A participle with an object is active, so *'s* must be *has*.
        asked = self.tokens.get((self.first if self.inverted else self.start) - 1).tag == "WP"
        # If an object follows, *'s* is *has*: "She's lost her keys". If a time follows, *'s* may be *is*:
        # "It's closed this week".
        time = {following.lower, self.tokens.get(self.main + 2).lower}
        object_ = following.tag in _OPENS_OBJECT and time.isdisjoint(TIME_NOUNS | TEMPORAL_UNITS | WEEKDAYS)
        thing = bool(self.subject_tokens) and self.subject_tokens[-1].lower in word_class("things")
        hidden = (
            low in word_class("perhaps-after-has")
            and following.lower not in word_class("after-passive")
            and not thing
        )
        return object_ or asked or hidden

    @property
    def would(self) -> bool:
        """Whether the first verb is *'d* and means *would* ("I'd go") and not *had* ("I'd gone")."""
        return self.verb.lower == "'d" and self.second.tag == "VB"

    @property
    def subject_tokens(self) -> list[Token]:
        """The tokens of the subject; empty if the group has no subject."""
        return self.tokens[slice(*self.subject)] if self.subject is not None else []

    @property
    def asks(self) -> bool:
        """Whether the finite verb precedes its subject because the clause is a question."""
        return self.inverted and not self.quotative

    @property
    def is_main(self) -> bool:
        """Whether the group can be the only verb of a sentence: a finite verb or an imperative."""
        return self.kind in ("finite", "imperative")

    def undo_quotative_inversion(self) -> None:
        """Put the subject before its verb of speech: "said the king" -> "the king said"."""
        if self.quotative and self.subject is not None:
            verb, end = self.first, self.subject[1]
            self.tokens.insert(end - 1, self.tokens.pop(verb))
            self.chain, self.subject = [end - 1], (verb, end - 1)
            self.inverted = self.quotative = False


def parse_verb_groups(tokens: Tokens) -> list[VerbGroup]:
    """Find the verb groups of a text, and correct the part-of-speech tags of their verbs.

    The auxiliary before a verb determines the tag of the verb: after *was*, *read* gets the tag ``VBN``.

    Args:
        tokens: The tagged tokens of the text. Some tags are corrected in place.

    Returns:
        The verb groups in the order of the text.
    """
    known: list[VerbGroup] = []
    index = 0
    while index < len(tokens):
        group = _group_at(tokens, index, known)
        if group is not None:
            known.append(group)
            index = group.main
        index += 1
    for group in known:
        if group.subject is None and group.kind == "finite":
            group.subject = _subject_before(group, known)
    return known


def _group_at(tokens: Tokens, index: int, before: list[VerbGroup]) -> VerbGroup | None:
    """Return the verb group that begins at an index; None if no group begins there."""
    _retag_conjunct(tokens, index, before)
    _retag_order(tokens, index, before)
    tag = tokens[index].tag
    if tag in FINITE and not (tag == "VBP" and after_determiner(tokens, index)):
        return _finite(tokens, index)
    if tag == "TO" or (tag == "NEG" and tokens.get(index + 1).tag == "TO"):
        to = index + (tag == "NEG")
        verb = tokens.run_end(to + 1, _SKIP)
        if tokens.get(verb).tag != "VB":
            return None
        negations = [index] if tag == "NEG" else _negations(tokens, to, verb)
        return _extended(VerbGroup("infinitive", [verb], tokens, negations, infinitive_marker=to))
    if tag == "VB" and not after_determiner(tokens, index):
        negated = _negative_imperative(tokens, index, ("VB", "VBP"))
        kind: Kind = "imperative" if _opens_clause(tokens, index, before) else "bare"
        return negated or _extended(VerbGroup(kind, [index], tokens))
    if tag in ("VBG", "VBN"):
        negation = [index - 1] if tokens.get(index - 1).tag == "NEG" else []
        return _extended(VerbGroup("gerund" if tag == "VBG" else "participle", [index], tokens, negation))
    return None


def _negative_imperative(tokens: Tokens, index: int, tags: tuple[str, ...]) -> VerbGroup | None:
    """Return the group of a negative order ("don't go") that begins at an index, or None."""
    if tokens[index].lower != "do" or tokens.get(index + 1).tag != "NEG":
        return None
    verb = tokens.run_end(index + 2, _SKIP)
    # Return None for "Don't you know?", which is a question and not a negative order.
    if tokens.get(verb).tag not in tags or tokens[verb].lower in word_class("plain-verb-subjects"):
        return None
    tokens[verb].tag = "VB"
    return VerbGroup("imperative", [index, verb], tokens, [index + 1])


def _retag_conjunct(tokens: Tokens, index: int, before: list[VerbGroup]) -> None:
    """Correct the tag of a verb whose form does not show its tense.

    The tense follows from another verb to which the verb is joined, or from the subject. In "sat down and put
    it there", *put* is past, because *and* joins it to *sat*. In "I only have", *have* is finite, because its
    subject is *I*.
    """
    token, start = tokens[index], tokens.run_start(index, _SKIP)
    # If a plain verb follows "for you", *for* is a conjunction and *you* a subject: "For you work so hard".
    # In "for you to work", *for* is a preposition.
    if (
        token.tag in ("VB", "VBP")
        and tokens.get(start - 2).lower == "for"
        and tokens.get(start - 1).lower in word_class("same-form-pronouns")
    ):
        token.tag, tokens[start - 1].tag = "VBP", "PRS"
    if token.tag == "VB" and start < index and tokens.get(start - 1).tag == "PRS":
        token.tag = "VBP"
    if not before or tokens.get(start - 1).lower not in word_class("clause-conjunctions"):
        return
    main = tokens[before[-1].main].tag
    if before[-1].kind != "finite" or len(before[-1].chain) > 1:
        return
    tenseless = token.tag in ("VBN", "VB", "VBP") and main == "VBD"
    if tenseless and verb_form(verb_lemma(token.lower), "VBD") == token.lower:
        token.tag = "VBD"
    elif token.tag == "VB" and main == "VBP":
        token.tag = "VBP"


def _retag_order(tokens: Tokens, index: int, before: list[VerbGroup]) -> None:
    """Tag the verb of an order as a plain form if the order begins with an adverb: "Always go home"."""
    token, opened = tokens[index], tokens.get(index - 1).lower in word_class("before-orders")
    plain = token.tag == "VBP" and token.lower == token.lemma
    if plain and opened and _opens_clause(tokens, index, before):
        token.tag = "VB"


def _finite(tokens: Tokens, index: int) -> VerbGroup:
    """Return the verb group that begins with the finite verb at an index: *has gone*, or *has he gone*."""
    group, token, before = VerbGroup("finite", [index], tokens), tokens[index], tokens.get(index - 1)
    if before.tag in _STARTS and (negated := _negative_imperative(tokens, index, ("VB", "VBP", "AX"))):
        return negated
    if token.tag in ("AX", "MD") and _inverts(tokens, index):
        start = tokens.run_end(index + 1, ("NEG",))
        end = noun_phrase_end(tokens, start)
        following, fits = tokens.get(tokens.run_end(end, _SKIP)).tag, True
        # After *be* and its subject, any word may follow. After *do* or *have* and its subject, the main verb
        # must follow: "Do you know", "Has he left". In "Has he any?" and "Has he a pen?", *have* itself is
        # the main verb.
        if token.tag != "MD" and token.expanded in DO:
            fits = following in ("VB", "VBP")
        elif token.tag != "MD" and token.expanded in HAVE:
            owned = before.tag in ("EN", "QT", "WP") and following in ("DT", "NN", "NNS", "CD", "PN")
            fits = owned or following in ("VBN", "VBD", "VBG")
        if end > start and fits:
            group.negations += range(index + 1, start)
            group.subject, group.inverted = (start, end), True
            return _extended(group, end)
    if token.tag in ("VBD", "VBZ") and index and (before.is_quote or before.text == ","):
        end = noun_phrase_end(tokens, index + 1)
        # In "..., said the king", the subject follows its verb of speech. *It* is no such subject: in "OK,
        # got it", it is an object.
        if tokens.get(index + 1).lower == "it":
            end = index + 1
        if end > index + 1 and tokens.get(end).tag in ("EN", "PU", "IN", "RB", "TO", "QT", "CC"):
            group.subject, group.inverted, group.quotative = (index + 1, end), True, True
            return group
    return _extended(group)


def _inverts(tokens: Tokens, index: int) -> bool:
    """Return whether the finite auxiliary at an index may precede its subject, as in a question."""
    following, previous = tokens.get(tokens.run_end(index + 1, _SKIP)), tokens.get(index - 1)
    if following.tag not in _AFTER_AUXILIARY:
        return False
    # An auxiliary before its subject may follow a punctuation mark, a conjunction or a question word: "Well,
    # can you come?", "What have you seen?"
    if previous.is_quote or previous.tag in ("EN", "PU", "CC", "UH", "WP"):
        return True
    if previous.lower in word_class("before-inversion"):
        return True
    # In "This time will you come?", the pronoun shows that the auxiliary is inverted.
    pronoun = following.lower in word_class("inverted-subjects") and previous.tag != "PRS"
    if following.tag == "PRS" or pronoun:
        return previous.tag not in ("PRS", "PN", "EX", "SC")
    # In "Which blue car did he buy?", a question word with its noun precedes the auxiliary.
    opening = index
    while opening and tokens[opening - 1].tag not in ("EN", "QT", "PU"):
        opening -= 1
    return tokens[opening].lower in word_class("question-determiners") and previous.tag in NOUNS | {
        "JJ",
        "RB",
    }


def _extended(group: VerbGroup, after: int | None = None) -> VerbGroup:
    """Add the verbs that depend on the auxiliaries of a verb group, and the negations between these verbs.

    Args:
        group: The group to extend.
        after: The index after the subject in a question: the index of *know* in "Do you know". None if the
            subject does not interrupt the group.

    Returns:
        The same group.
    """
    tokens, start = group.tokens, group.main + 1 if after is None else after
    while True:
        verb = tokens.run_end(start, _SKIP)
        needed = _governed(tokens, group.main, verb)
        group.negations += _negations(tokens, start - 1, verb + (needed == "TO"))
        if needed is None:
            return group
        if needed != "TO":
            tokens[verb].tag = needed
        group.chain.append(verb + (needed == "TO"))
        start = group.main + 1


def _governed(tokens: Tokens, auxiliary: int, verb: int) -> str | None:
    """Return the tag that a verb must have after an auxiliary on which it depends; None if it does not."""
    last, at, low = tokens[auxiliary].expanded, tokens.get(verb).tag, tokens.get(verb).lower
    if last == "ought" and at == "TO" and tokens.get(verb + 1).tag == "VB":
        return "TO"
    if tokens[auxiliary].tag == "MD" or last in DO:
        # After a modal or *do*, the verb is a plain form: "did see". The tagger may wrongly tag the *put* of
        # "did put" as a past form.
        plain = at in ("VB", "VBP") or (at == "AX" and low in ("have", "do"))
        return "VB" if plain or (at == "VBD" and verb_lemma(low) == low) else None
    if last in HAVE:
        # A participle that was tagged as an adjective depends on *have* unless a noun follows: "have tried
        # it", but "have tired eyes".
        following = tokens.get(verb + 1)
        noun = following.tag in NOUNS | {"JJ"} and following.lower not in word_class("object-pronouns")
        return "VBN" if at in ("VBN", "VBD") or (at == "JJ" and is_participle(low) and not noun) else None
    if last in BE or last == "'s":
        # The verb is a participle in the passive ("was read") and in the progressive ("was reading").
        return "VBN" if at == "VBD" else at if at in ("VBN", "VBG") else None
    if last == "'d":
        # *'d* is *would* before a plain form ("I'd go"), and *had* before a participle ("I'd gone").
        return "VB" if at in ("VB", "VBP") else "VBN" if at in ("VBN", "VBD") else None
    return None


def _negations(tokens: Tokens, start: int, end: int) -> list[int]:
    """Return the indices of the negations that are between two indices."""
    return [index for index in range(start + 1, min(end, len(tokens))) if tokens[index].tag == "NEG"]


def _opens_clause(tokens: Tokens, index: int, before: list[VerbGroup]) -> bool:
    """Return whether a plain verb form begins its clause and is therefore an imperative."""
    start = index
    while tokens.get(start - 1).tag in ("RB", "UH", "CC") and tokens[start - 1].lower not in word_class(
        "conjunctions"
    ):
        start -= 1
    if tokens.get(start - 1).lower in word_class("conjunctions"):
        # After *and*, a plain form is an imperative if *and* joins it to another imperative ("Sit down and
        # listen"), or if *and* begins the sentence ("And listen").
        joined = bool(before) and before[-1].kind == "imperative"
        return joined or tokens.get(start - 2).tag in ("EN", "QT")
    return tokens.get(start - 1).tag in _STARTS


def noun_phrase_end(tokens: Tokens, start: int) -> int:
    """Return the end of the simple noun phrase that starts at an index.

    A prepositional phrase with *of* belongs to a simple noun phrase: "the king of France". Phrases with other
    prepositions do not: in "the king in London", the noun phrase is "the king".

    Args:
        tokens: The tokens of the text.
        start: The index of the first word of the noun phrase.

    Returns:
        The index after the last word of the noun phrase; ``start`` if no noun phrase starts there.
    """
    if tokens.get(start).tag in ("PRS", "PRO", "EX", "PN"):
        return start + 1
    index, head = start, False
    while index < len(tokens):
        tag = tokens[index].tag
        modifies = not head and (
            tag in ("DT", "PS", "CD", "POS", "JJ") or (tag in ("VBN", "VBG") and index > start)
        )
        degree = tag == "RB" and tokens.get(index + 1).tag in ("JJ", "CD")
        if head and tokens[index].lower == "of" and tag not in NOUNS:
            inner = noun_phrase_end(tokens, index + 1)
            return inner if inner > index + 1 else index
        if tag in NOUNS or _is_counted_one(tokens, index):
            head = True
        elif tag == "POS":
            head = False
        elif not (modifies or degree or (hyphen(tokens, index) and index > start)):
            break
        index += 1
    return index if head else start


def _is_counted_one(tokens: Tokens, index: int) -> bool:
    """Return whether *one* or *ones* is a noun: "the full one", "old ones"."""
    return tokens[index].lower in ("one", "ones") and tokens.get(index - 1).tag in ("DT", "JJ")


def hyphen(tokens: Tokens, index: int) -> bool:
    """Return whether a token is a hyphen inside a word.

    Args:
        tokens: The tokens of the text.
        index: The index of the token.

    Returns:
        True for the hyphen in "grown - ups". False for a dash, which is written as two hyphens or does not
        have a word on both sides.
    """
    around = (tokens.get(index - 1).text, tokens.get(index + 1).text)
    return tokens[index].text == "-" and all(text[:1].isalnum() for text in around)


def _subject_before(group: VerbGroup, known: list[VerbGroup]) -> tuple[int, int] | None:
    """Return the bounds of the subject of a finite verb, which is the noun phrase before the verb.

    If *and* joins the verb to another verb, both have the same subject: in "She sang and danced", the subject
    of *danced* is *she*.
    """
    tokens = group.tokens
    end = over = tokens.run_start(group.first, _SKIP)
    # Skip an aside between commas: "Tom, my oldest friend, has left."
    if end >= 3 and tokens[end - 1].text == ",":
        reach = range(end - 2, max(-1, end - 2 - _COMMA_REACH), -1)
        opening = next((index for index in reach if tokens[index].text == ","), 0)
        if opening and tokens[opening - 1].tag in _NP:
            end = opening
    start = end - 1 if tokens.get(end - 1).tag == "WP" else noun_phrase_start(tokens, end)
    if start < end:
        return (start, end)
    # In "She sang and danced", the second verb has the same subject as the first verb.
    joins = tokens.get(over - 1).tag == "CC" or tokens.get(over - 1).text == ","
    earlier = [other for other in known if other.first < group.first and other.kind == "finite"]
    return earlier[-1].subject if earlier and joins else None


def noun_phrase_start(tokens: Tokens, end: int) -> int:
    """Return the start of the noun phrase that ends before an index.

    Parts before the last noun, such as *the door of* or *Tom and*, belong to the noun phrase.

    Args:
        tokens: The tokens of the text.
        end: The index after the last word of the noun phrase.

    Returns:
        The index of the first word of the noun phrase; ``end`` if no noun phrase ends there.
    """
    index, head = end, False
    while index:
        token, following = tokens[index - 1], tokens.get(index).tag
        tag = token.tag
        if not head and _is_counted_one(tokens, index - 1):
            head = True
        elif not head and tag in ("PRS", "PRO", "PN", "EX"):
            return _with_phrase_before(tokens, index - 1)
        elif tag in NOUNS and token.lower not in TIME_NOUNS:
            head = True
        elif not head:
            break
        elif tag in ("DT", "PS"):
            index -= 2 if tokens.get(index - 2).tag == "DT" else 1
            if tokens.get(index - 1).tag != "POS":
                return _with_phrase_before(tokens, index)
            continue
        elif hyphen(tokens, index - 1) and index > 1:
            index -= 1
        elif not (
            tag in ("JJ", "CD", "POS")
            or (tag in ("VBN", "VBG") and tokens.get(index - 2).tag in ("DT", "PS", "JJ", "RB"))
            or (tag == "RB" and following in ("JJ", "CD", "VBN"))
        ):
            break
        index -= 1
    return _with_phrase_before(tokens, index) if head else end


def _with_phrase_before(tokens: Tokens, index: int) -> int:
    """Extend a noun phrase to the left by parts such as "the door of", "the man in" and "Tom and".

    Returns:
        The index of the first token of the extended phrase.
    """
    link, before = tokens.get(index - 1), tokens.get(index - 2).tag
    if link.tag == "IN" and before in NOUNS | {"PN", "CD"}:
        start = noun_phrase_start(tokens, index - 1)
        determined = tokens[start].tag in ("DT", "PS")
        # The noun before the preposition belongs to the noun phrase in three cases: the preposition is *of*,
        # the noun has a determiner ("The man in the hat came"), or the noun begins the clause ("Men in hats
        # came"). Any other noun is probably an object: "She told friends in the end they lost".
        if link.lower == "of" or tokens.get(start - 1).tag in _STARTS or determined:
            return start
    if link.lower in word_class("conjunctions") and before in NOUNS | {"PN", "PRS", "PRO"}:
        # In "Tom and Ann came", extend the subject to *Tom*, because *Tom* begins the clause. In "I saw Tom
        # and Ann came", *Tom* does not begin the clause and is an object.
        start = noun_phrase_start(tokens, index - 1)
        if tokens.get(start - 1).tag in _STARTS:
            return start
    return index

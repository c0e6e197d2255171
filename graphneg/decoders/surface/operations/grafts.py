"""Replace a phrase by a copied phrase from another sentence.

The words that express one subtree are replaced by copies of the words that express a subtree of another
graph. If both phrases are of the same kind, for example noun phrases, the words are copied unchanged.
Otherwise they are changed as little as possible: if a verb phrase replaces a noun, it becomes a gerund ("I
like *seeing it*"). Verbs are made to agree with a new subject, pronouns get the case that their new position
requires, and singular nouns get an article. An adjective never replaces a noun.

The input is the node to replace, and a node of another sentence. The sentence is edited in place.

Example: "I saw the dog." becomes "I saw my car." if its object is replaced by the object of "She likes my
car."
"""

from __future__ import annotations

from dataclasses import dataclass, field

from graphneg.decoders.surface.agreement import (
    agree_relative,
    agree_with,
    case_of,
    follow,
    head_of,
    inflect_finite,
    is_subject,
    person_of,
    third_person,
)
from graphneg.decoders.surface.analysis.phrases import Phrase, phrase
from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.analysis.verb_groups import VerbGroup
from graphneg.decoders.surface.draft import RealisationError, Token
from graphneg.decoders.surface.inflection import (
    BE,
    Case,
    agree,
    can_lack_article,
    pronoun,
    pronoun_cases,
    verb_form,
)
from graphneg.decoders.surface.operations.words import set_concept
from graphneg.decoders.surface.refusals import refuse_expletive, refuse_graft
from graphneg.english.tagging import VERBS
from graphneg.english.words import readings, word_class

# Start of the values of `Token.original_index` for copied tokens. Tokens with consecutive values keep the
# white space between them. So a copied phrase keeps its spacing inside, and only the spacing at its two ends
# is chosen anew.
_COUNT_FROM = 1_000_000
# Kinds of phrases with a verb as their head.
_VERBAL = frozenset({"verb", "clause", "predicate"})
# Kinds of phrases with a noun or pronoun as their head.
_NOUNLIKE = frozenset({"nominal", "possessive"})


@dataclass(slots=True)
class Donor:
    """A phrase to copy from another sentence.

    Attributes:
        sentence: The sentence that contains the phrase to copy.
        span: The bounds, the kind and the head of the phrase to copy.
        serial: A number that distinguishes this copy from other copies in the same text.
        tokens: Copies of the tokens of the phrase.
    """

    sentence: SentenceDraft
    span: Phrase
    serial: int
    tokens: list[Token] = field(init=False)

    def __post_init__(self) -> None:
        """Copy the tokens of the phrase, without a determiner that would not fit in another sentence."""
        tokens = self.copied(self.span.start, self.span.end)
        # Leave out a determiner that does not fit a copied plural noun. In "so that women ...", *that* is a
        # conjunction. In "not any cars", *any* depends on the negation, which is not copied.
        many = (
            len(tokens) > 1
            and tokens[-1].tag == "NNS"
            and tokens[0].lower in word_class("plural-only-determiners")
        )
        self.tokens = tokens[1:] if many else tokens

    @property
    def kind(self) -> str:
        """The kind of the phrase, for example ``nominal`` (see `Phrase.kind`)."""
        return self.span.kind

    @property
    def head(self) -> Token:
        """The head word of the phrase to copy: its token in the source sentence, not the copy."""
        return self.sentence.tokens[self.span.head]

    def copied(self, start: int, end: int) -> list[Token]:
        """Copy tokens of the sentence that contains the phrase, with their spacing.

        Args:
            start: The index of the first token to copy.
            end: The index after the last token to copy.

        Returns:
            New tokens. If the first of them began a sentence, it is in lower case, unless it is a name or
            *I*.
        """
        first, base = self.sentence.tokens[start], _COUNT_FROM * (self.serial + 1)
        copies = [
            Token(token.text, token.tag, base + index, token.leading_space)
            for index, token in enumerate(self.sentence.tokens[start:end], start)
        ]
        if first.sentence_initial and first.tag != "NNP" and first.text != "I":
            copies[0].text = first.text[:1].lower() + first.text[1:]
        return copies

    def verb_words(self, form: str) -> list[Token]:
        """Return the words of a verb phrase without its subject.

        Args:
            form: The Penn tag of the form that the first verb gets.

        Returns:
            New tokens, of which the first is the inflected verb.

        Raises:
            RealisationError: The first word is not a form of a verb (``no-form``).
        """
        group = _group(self.sentence, self.span)
        start = group.main if group.inverted else _content_start(group)
        first, *rest = self.copied(start, max(self.span.end, start + 1))
        if first.expanded not in BE and "VERB" not in readings(first.lemma):
            raise RealisationError("no-form", f"'{first.text}' is not a form of a verb")
        first.text, first.tag = verb_form("be" if first.expanded in BE else first.lemma, form), form
        return [first, *rest]

    def gerund(self) -> list[Token]:
        """Return the words of a verb phrase with a gerund instead of the first verb: "seeing it"."""
        first, *rest = self.verb_words("VBG")
        return [Token(first.text, "NN"), *rest]

    def with_article(self, tokens: list[Token]) -> list[Token]:
        """Add an article to a singular noun that needs one.

        Args:
            tokens: The tokens of the noun phrase.

        Returns:
            The tokens, preceded by *a* or *the* if necessary. *The* is used if the noun was the first part of
            a compound in its sentence.
        """
        head = tokens[head_of(tokens)]
        if tokens[0].tag not in ("NN", "JJ"):
            return tokens
        if self.sentence.tokens.get(self.span.end).tag in ("NN", "NNS"):
            return [Token("the", "DT"), *tokens]
        return (
            [Token("a", "DT"), *tokens] if head.tag == "NN" and not can_lack_article(head.lower) else tokens
        )

    def attributive(self) -> Token:
        """Reduce the phrase to a single word that can modify a noun: an adjective, participle or noun.

        Returns:
            A new token for this word.

        Raises:
            RealisationError: The head is a pronoun or a number (``kind-mismatch``).
        """
        head = self.head
        if self.kind in _VERBAL:
            main = self.sentence.tokens[_group(self.sentence, self.span).main]
            return Token(main.form("VBG"), "JJ")
        if head.tag in ("PRS", "PRO", "PN", "CD"):
            raise RealisationError("kind-mismatch", f"'{head.text}' can't modify a noun")
        if head.tag == "NNS":
            # The first noun of a compound is singular: "shoes" gives "shoe" as in "shoe shop".
            return Token(min(readings(head.lower).get("NOUN", (head.lower,)), key=len), "NN")
        return Token(head.lower if head.tag != "NNP" else head.text, head.tag)


def graft(sentence: SentenceDraft, k: int, source: SentenceDraft, from_position: int, serial: int) -> None:
    """Replace the words of a subtree by the words of a subtree of another sentence.

    Args:
        sentence: The sentence, edited in place.
        k: The index of the top node of the subtree to replace.
        source: The sentence from which the words are copied.
        from_position: The index of the top node of the subtree to copy.
        serial: A number that distinguishes this copy from other copies in the same text.

    Raises:
        RealisationError: A phrase of the copied kind cannot replace the old phrase (``kind-mismatch``), or a
            rule refuses the copy, for example because the sentence already contains the copied noun.
    """
    target, donor = phrase(sentence, k), Donor(source, phrase(source, from_position), serial)
    name = sentence.node(k).concept == source.node(from_position).concept == "name"
    refuse_graft(sentence, target, source, donor.span, donor.tokens, name)
    kinds = (target.kind, donor.kind)
    # In "I will *go home*", a modal precedes the phrase to replace, so the phrase is only a part of its
    # clause. A whole clause such as "he sleeps" cannot replace it.
    splits = sentence.tokens.get(target.start - 1).tag in ("MD", "AX", "PRS", "NEG")
    if name or (kinds == ("clause", "clause") and not splits):
        splice(sentence, target, donor.tokens)
    elif _NOUNLIKE.issuperset(kinds):
        _replace_nominal(sentence, k, target, donor)
    elif _VERBAL.issuperset(kinds):
        _replace_verb(sentence, target, donor)
    elif target.kind == donor.kind:
        splice(sentence, target, donor.tokens)
    else:
        try:
            _convert(sentence, target, donor)
        except RealisationError as why:
            if why.code != "kind-mismatch" or len(source.graph.subtree(from_position)) > 1:
                raise
            set_concept(sentence, k, source.node(from_position).concept or "")


def _convert(sentence: SentenceDraft, target: Phrase, donor: Donor) -> None:
    """Replace a phrase by a phrase of a different kind: "I like *the dog*" -> "I like *seeing it*".

    Raises:
        RealisationError: A phrase of the new kind cannot replace one of the old kind (``kind-mismatch``).
    """
    described, verbal = donor.kind in ("adjective", "modifier"), donor.kind in _VERBAL
    if target.kind == "nominal" and (described or verbal):
        # Only a noun phrase can precede *of*: "*the name* of the king" cannot become "*seeing it* of the
        # king".
        if sentence.tokens.get(target.end).lower == "of":
            raise RealisationError(
                "kind-mismatch", "the phrase stands before 'of', so only a noun can replace it"
            )
        if described:
            raise RealisationError("kind-mismatch", "an adjective can't replace a noun")
        # A verb phrase becomes a gerund: "I like the dog" -> "I like seeing it".
        subject, fitted = is_subject(sentence, sentence.tokens[target.head]), donor.gerund()
        splice(sentence, target, fitted)
        if subject:
            agree_with(sentence, fitted[0])
    elif target.kind == "adjective" and verbal:
        splice(sentence, target, donor.gerund())
    elif target.kind == "adjective" and donor.kind == "modifier":
        adjective = donor.head.tag == "JJ"
        splice(sentence, target, [Token(donor.head.lower, "JJ")] if adjective else donor.tokens)
    elif target.kind == "adjective" and donor.kind == "nominal":
        splice(sentence, target, donor.with_article(donor.tokens))
    elif target.kind == "modifier" and (verbal or donor.kind in ("nominal", "adjective")):
        # Reduce the copied phrase to one word that can stand before a noun: with *sleeps*, "the big dog"
        # becomes "the sleeping dog".
        head = Phrase(target.head, target.head + 1, "modifier", target.head)
        splice(sentence, head, [donor.attributive()])
    elif target.kind in _VERBAL and (described or donor.kind == "nominal"):
        _verb_to_other(sentence, target, donor)
    else:
        why = f"a phrase of kind {donor.kind} can't replace one of kind {target.kind}"
        raise RealisationError("kind-mismatch", why)


def _verb_to_other(sentence: SentenceDraft, target: Phrase, donor: Donor) -> None:
    """Replace a verb phrase by a noun phrase or an adjective.

    Before an adjective, a form of *be* is added: "He *sleeps*" -> "He *is happy*". A noun phrase replaces a
    complement clause ("I want *to sleep*" -> "I want *a car*"). In other positions, a form of *have* is added
    before a noun phrase.
    """
    group, tokens = _group(sentence, target), sentence.tokens
    main = _content_start(group)
    form, verb = _form(tokens[main]), Phrase(main, max(target.end, group.main + 1), target.kind, main)
    # An adjective needs a form of *be*: "He sleeps" -> "He is happy".
    if donor.kind in ("adjective", "modifier"):
        finite = form in ("VBD", "VBP", "VBZ")
        text = agree("be", form, person_of(group.subject_tokens)) if finite else verb_form("be", form)
        adjective = donor.tokens if donor.kind == "adjective" else [Token(donor.head.lower, "JJ")]
        splice(sentence, verb, [Token(text, "VB" if form == "VB" else "AX"), *adjective])
        return
    person = _lone_pronoun(donor.tokens)
    fitted = donor.with_article([Token(pronoun(person, Case.OBJECT), "PRO")] if person else donor.tokens)
    start = target.start - (tokens.get(target.start - 1).tag in ("TO", "SC"))
    before = tokens.get(start - 1)
    complement = start < target.start or group.kind == "gerund"
    governs = (before.tag in VERBS or before.tag == "IN") and before.tag != "MD"
    # A noun phrase replaces the whole complement clause: "I want to sleep" -> "I want my car". Verbs such as
    # *think* cannot have a noun as their object, so the noun phrase follows *have*: "I think he sleeps" -> "I
    # think he has my car".
    if complement and governs and before.lemma not in word_class("without-object"):
        splice(sentence, Phrase(start, target.end, target.kind, start), fitted)
        return
    splice(sentence, verb, [Token(verb_form("have", form), form), *fitted])
    if group.subject is not None and form in ("VBP", "VBZ"):
        agree_with(sentence, tokens[group.subject[0]])


def _group(sentence: SentenceDraft, span: Phrase) -> VerbGroup:
    """Return the verb group that contains the head of a phrase."""
    return next(group for group in sentence.parse_verbs() if span.head in group.chain)


def _lone_pronoun(tokens: list[Token]) -> str | None:
    """Return the person of a phrase that consists of one pronoun; None for other phrases."""
    known = pronoun_cases(tokens[0].text) if len(tokens) == 1 else ()
    return known[0][0] if known else None


def splice(sentence: SentenceDraft, target: Phrase, tokens: list[Token]) -> None:
    """Replace the tokens of a phrase by new tokens.

    Args:
        sentence: The sentence, edited in place.
        target: The phrase to replace.
        tokens: The new tokens, whose first word is capitalized if the old phrase was.
    """
    first = sentence.tokens[target.start]
    sentence.tokens[target.start : target.end] = tokens
    # If the old phrase begins the sentence, the first new word gets the capital letter.
    if first.sentence_initial and tokens:
        tokens[0].original_index, tokens[0].sentence_initial = -1, True
        if first.capital:
            tokens[0].text = tokens[0].text[:1].upper() + tokens[0].text[1:]


def _replace_nominal(sentence: SentenceDraft, k: int, target: Phrase, donor: Donor) -> None:
    """Replace a noun phrase or possessive by another noun phrase or possessive."""
    head, old = sentence.tokens[target.head], sentence.node(k).concept or ""
    if old == "it":
        refuse_expletive(sentence, head)
    case = case_of(sentence, head, old) if pronoun_cases(head.text) else None
    mentions = [sentence.tokens[index] for index in sentence.indices(k)]
    subject, tokens = is_subject(sentence, head), donor.tokens
    lone = _lone_pronoun(tokens) if tokens[0].tag in ("PRS", "PRO", "PS", "PN") else None
    possessive = target.kind == "possessive" or case in (Case.POSSESSIVE, Case.OWN)
    # A pronoun becomes a possessive: "your dog" -> "her dog".
    if possessive and lone is not None:
        tokens = [Token(pronoun(lone, Case.POSSESSIVE), "PS")]
    elif possessive:
        if len(tokens) > 1:
            tokens = donor.copied(*donor.sentence.noun_phrase(donor.span.head))
        last = tokens[-1]
        if last.tag != "POS" and last.lower != "'s":
            # A noun gets *'s*, or an apostrophe after the *-s* of a plural: "the dog's house", "the dogs'
            # house".
            plural = last.tag == "NNS" and last.lower.endswith("s")
            tokens = [*tokens, Token("'" if plural else "'s", "POS")]
    elif donor.kind == "possessive" or lone is not None:
        form = pronoun(lone or person_of(tokens), Case.SUBJECT if subject else Case.OBJECT)
        tokens = [Token(form, "PRS" if subject else "PRO")]
    else:
        tokens = donor.with_article(tokens)
    splice(sentence, target, tokens)
    others = [token for token in mentions if token is not head]
    follow(sentence, others, old, lone or third_person(tokens, old))
    if subject:
        agree_with(sentence, tokens[head_of(tokens)])
    for group in sentence.parse_verbs() if not subject else ():
        # If the subject is *there*, the verb agrees with the noun that follows: "There were many apples" ->
        # "There was a pear".
        exists = group.subject is not None and group.subject_tokens[0].tag == "EX"
        if (
            exists
            and group.subject
            and max(group.main + 1, group.subject[1]) == sentence.tokens.index_of(tokens[0])
        ):
            inflect_finite(sentence, group, person_of(tokens))
    agree_relative(sentence, tokens)


def _replace_verb(sentence: SentenceDraft, target: Phrase, donor: Donor) -> None:
    """Replace a verb phrase by a copy of another one: "I want *to go*" -> "I want *to see it*".

    Raises:
        RealisationError: The phrase to copy has a question word (``kind-mismatch``). An object of the old
            verb would remain, or the old phrase is in two sentences (``unclear-clause``).
    """
    main, tokens = _group(donor.sentence, donor.span).main, sentence.tokens
    if any(token.tag in ("WP", "SC") for token in donor.sentence.tokens[donor.span.start : main]):
        raise RealisationError("kind-mismatch", "the clause to copy has a question word")
    old = _group(sentence, target)
    # Refuse to replace a phrase if a pronoun follows it: in "Do you want me to help you?", the object *you*
    # would remain after the new verb.
    if tokens.get(max(target.end, old.main + 1)).tag == "PRO":
        raise RealisationError("unclear-clause", "an object of the old verb would remain")
    start = _content_start(old)
    form = _form(tokens[start])
    words = donor.verb_words(form)
    if any(token.tag == "EN" for token in tokens[start : target.end]):
        raise RealisationError("unclear-clause", "the phrase extends over the end of a sentence")
    splice(sentence, Phrase(start, max(target.end, old.main + 1), target.kind, start), words)
    if form in ("VBP", "VBZ") and old.subject:
        agree_with(sentence, tokens[old.subject[0]])


def _content_start(group: VerbGroup) -> int:
    """Return the index of the main verb, or of the *be* before it in a passive or progressive."""
    passive = len(group.chain) > 1 and group.tokens[group.chain[-2]].is_be
    return group.chain[-2] if passive else group.main


def _form(token: Token) -> str:
    """Return the Penn tag of the inflected form that a verb token has."""
    if token.tag in ("AX", "MD"):
        return token.tense
    return token.tag if token.tag in VERBS else "VB"

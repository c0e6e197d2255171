"""Put a sentence under a new predicate.

`wrap` makes the sentence the complement of a verb such as *agree*, *doubt* or *refuse*. A question is first
turned into a statement. After verbs such as *demand*, the clause gets a plain verb form, and after *refuse*
an infinitive.

Example: "Do you like it?" with ``doubt-01`` and the subject *I* becomes "I doubt that you like it."
"""

from __future__ import annotations

from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.analysis.verb_groups import VerbGroup
from graphneg.decoders.surface.draft import RealisationError, Token
from graphneg.decoders.surface.inflection import Case, agree, pronoun
from graphneg.decoders.surface.operations.mood import assertion, end_plain, strip_to_base, uninvert
from graphneg.decoders.surface.refusals import is_dangling
from graphneg.english.noun_kinds import lexeme
from graphneg.english.words import word_class, word_map

# Tags of words that can begin an adverbial before the subject. In "After lunch, he left", the words before
# the comma belong to the clause. In "Oh, he left", they do not.
_OPEN_CLAUSE = frozenset({"IN", "SC", "WP", "RB", "DT", "PS", "PRS", "PRO", "VBG", "NNP", "CD"})


def wrap(sentence: SentenceDraft, concept: str, person: str) -> None:
    """Put a sentence under a new predicate.

    Args:
        sentence: The sentence, edited in place.
        concept: The concept of the new predicate.
        person: The subject of the new predicate, as a subject pronoun in lower case.

    Raises:
        RealisationError: The sentence cannot be embedded under a verb (``unclear-clause``,
            ``unsupported-edit``).

    Example:
        With ``agree-01``, "You like it." becomes "I agree that you like it." With ``refuse-01``, "Draw a
        sheep." becomes "I refuse to draw a sheep."
    """
    group, tokens = _first_clause(sentence, assertion(sentence, 0)), sentence.tokens
    start, _ = sentence.sentence_bounds(group.first)
    if group.asks and any(token.tag == "WP" for token in tokens[start : group.first]):
        raise RealisationError(
            "unclear-clause", "a question with a question word can't be put under a new predicate"
        )
    index = min(group.first, tokens.run_end(start, ("CC", "UH", "PU", "QT")))
    # Insert the new predicate after an introductory adverb: "So I like it" -> "So I doubt that I like it".
    while index < group.first and tokens[index].lower in word_class("lead-adverbs"):
        if tokens[index + 1].tag in ("SC", "JJ", "RB"):
            break
        index += 2 if tokens[index + 1].text == "," else 1
    # Refuse sentences that begin with an apology ("Sorry, I like it"), an answer or thanks, and incomplete
    # sentences.
    answers = any(token.lower in word_class("no-clauses") for token in tokens[start : index + 1])
    before = tokens[index : group.subject[0]] if group.subject is not None and not group.quotative else []
    marked = any(token.tag in ("PU", "EN") for token in before) and before[0].tag not in _OPEN_CLAUSE
    if answers or marked or tokens[index].tag == "TO" or is_dangling(tokens, index):
        raise RealisationError("unclear-clause", "the sentence does not begin with a complete clause")
    opener = _opener_of(concept, person)
    own = [token.lower for token in group.subject_tokens] == [person]
    # Refuse "I agree that I stayed", because people do not agree with their own claims.
    if own and concept in word_class("about-others"):
        raise RealisationError("kind-mismatch", f"'{lexeme(concept)}' needs a claim of another person")
    if group.quotative and index == group.first:
        group.undo_quotative_inversion()
    # A question becomes a statement first: "Do you like it?" -> "I doubt that you like it."
    if group.asks and group.subject is not None:
        uninvert(sentence, group)
        end_plain(sentence, tokens[index])
    elif group.kind == "imperative":
        _order_under(sentence, group, concept, person)
        return
    elif concept in word_class("plain-verb-concepts"):
        if group.subject is None or group.quotative:
            raise RealisationError(
                "unclear-clause", f"'{lexeme(concept)}' needs a clause with a subject before its verb"
            )
        # The clause after verbs such as *demand* has a plain verb form: "I demand that he go".
        strip_to_base(sentence, group)
    elif (
        concept == "refuse-01"
        and own
        and not group.negations
        and group.subject == (group.first - 1, group.first)
    ):
        # If the clause and the new predicate have the same subject, use an infinitive: "I like it" -> "I
        # refuse to like it".
        subject = group.subject_tokens
        if len(group.chain) > 1 and tokens[group.main].tag == "VBG":
            raise RealisationError(
                "unsupported-edit", "'refuse' does not fit a clause about what its subject is doing"
            )
        strip_to_base(sentence, group)
        tokens.remove(subject[0])
        opener = [*opener[:2], Token("to", "TO")]
    sentence.insert(index, *opener)


def _first_clause(sentence: SentenceDraft, default: VerbGroup) -> VerbGroup:
    """Return the verb group of the first main clause, before which words such as "I agree that" are put."""
    start, end = sentence.sentence_bounds(default.first)
    for group in sentence.parse_verbs():
        if start <= group.first < end and group.is_main:
            opens = group.subject[0] if group.subject else group.first
            if opens == start or sentence.tokens.get(opens - 1).tag not in ("SC", "WP"):
                return group
    return default


def _opener(words: str, person: str) -> list[Token]:
    """Return the tokens of a subject, its verb and the words after the verb: "I agree that".

    Args:
        words: The verb and the words after it, for example ``agree that``.
        person: The subject, as a subject pronoun in lower case.

    Returns:
        New tokens, in which the verb agrees with the subject.
    """
    verb, *rest = words.split(" ")
    tags = {"that": "SC", "to": "TO"}
    subject = [Token(pronoun(person, Case.SUBJECT), "PRS"), Token(agree(verb, "VBP", person), "VBP")]
    return [*subject, *(Token(word, tags.get(word, "NN")) for word in rest)]


def _opener_of(concept: str, person: str) -> list[Token]:
    """Return the tokens that express a new predicate before its clause: "It is possible that"."""
    words = word_map("clause-openers").get(concept, f"{lexeme(concept)} that").replace("_", " ")
    if concept in word_class("judged-concepts"):
        return [Token("it", "PRS"), Token("is", "AX"), Token(words, "JJ"), Token("that", "SC")]
    return _opener(words, person)


def _order_under(sentence: SentenceDraft, group: VerbGroup, concept: str, person: str) -> None:
    """Put an order under a new predicate.

    From "Draw a sheep", this gives for example "I order you to draw a sheep", "I refuse to draw a sheep" or
    "I agree that you should draw a sheep".

    Raises:
        RealisationError: The order begins with "let us" or consists only of "please" (``unclear-clause``).
    """
    tokens, index = sentence.tokens, group.first
    negations, main = [tokens[negation] for negation in group.negations], tokens[group.main]
    if tokens.begins_lets(index):
        raise RealisationError("unclear-clause", "an order with \"let's\" can't be put under a new predicate")
    if main.lower == "please":
        raise RealisationError("unclear-clause", "'please' alone is not an order")
    # Remove the negation and its *do*, and add *not* to the new clause: "Don't go" -> "I order you not to
    # go".
    for token in negations:
        tokens.remove(token)
    if negations and tokens[index].lower == "do" and tokens[index] is not main:
        tokens.pop(index)
    no = [Token("not", "NEG")] if negations else []
    verb = _opener(lexeme(concept).split(" ")[0], person)
    if concept in word_class("told-concepts"):
        opener = [*verb, Token("you", "PRO"), *no, Token("to", "TO")]
    elif concept in word_class("infinitive-concepts"):
        opener = [*verb, *no, Token("to", "TO")]
    else:
        opener = [*_opener_of(concept, person), Token("you", "PRS"), Token("should", "MD"), *no]
    sentence.insert(index, *opener)

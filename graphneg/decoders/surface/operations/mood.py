"""Turn statements, questions and orders into one another.

A yes/no question needs inversion or do-support. `to_question` changes "You like it." into "Do you like it?",
and `to_statement` does the reverse. An order has no subject, and its verb has the plain form. `to_imperative`
changes "You go." into "Go.", and `from_imperative` does the reverse. Each function receives the index of the
node that heads the clause.
"""

from __future__ import annotations

from graphneg.decoders.surface.agreement import person_of
from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.analysis.verb_groups import VerbGroup
from graphneg.decoders.surface.draft import EDGE, RealisationError, Token
from graphneg.decoders.surface.idioms import refuse_idiom
from graphneg.decoders.surface.inflection import (
    BE,
    DO,
    HAVE,
    Case,
    contracted_stem,
    pronoun,
    pronoun_cases,
    verb_form,
)
from graphneg.decoders.surface.refusal_rules import apply_rules
from graphneg.english.tagging import FINITE
from graphneg.english.words import word_class

# Tags of words that stay at the start when a statement becomes a question: "*Well,* you go" -> "*Well,* do
# you go?"
_LEADS = frozenset({"CC", "UH", "PU", "QT", "RB"})
# Maximum number of tokens in a sentence to which ", right?" may be appended.
_MAX_TAGGED = 12


def assertion(sentence: SentenceDraft, k: int) -> VerbGroup:
    """Return the verb group of the clause that a node heads.

    If the node heads no clause, the clause that its nearest argument heads is used.

    Args:
        sentence: The sentence being edited.
        k: The index of the node in the graph. For node 0, the first main clause of the text is used if no
            other clause is found.

    Returns:
        The verb group of the clause.

    Raises:
        RealisationError: No such clause was found (``unclear-clause``), or the clause is an idiom
            (``unsupported-edit``).
    """
    pending = [k]
    for inner in pending:
        group = sentence.finite(sentence.predicate(inner))
        if group is not None and group.is_main:
            refuse_idiom(sentence, group.main)
            return group
        children = sentence.graph.children(inner)
        pending += [child.position for child in children if child.role and not child.role.endswith("-of")]
    clause = next((group for group in sentence.parse_verbs() if group.is_main), None)
    if k or clause is None:
        raise RealisationError("unclear-clause", f"{sentence.node(k).label} is not the head of a clause")
    refuse_idiom(sentence, clause.main)
    return clause


def to_question(sentence: SentenceDraft, k: int) -> None:
    """Turn a statement or an order into a yes/no question.

    Args:
        sentence: The sentence, edited in place.
        k: The index of the node that heads the clause.

    Raises:
        RealisationError: The clause is already a question, or cannot be turned into a question
            (``unsupported-edit``, ``unclear-clause``).

    Example:
        "She put it there." becomes "Did she put it there?" If the auxiliary cannot be moved, *right* is
        added: "In the morning I saw it." -> "In the morning I saw it, right?"
    """
    group, tokens = assertion(sentence, k), sentence.tokens
    main = tokens[group.main]
    if group.kind == "imperative":
        # An order becomes a question with *will you*: "Go" -> "Will you go?" This is not possible for "Don't
        # go" and "Let's go".
        if group.negations or main.lower == "let":
            raise RealisationError("unclear-clause", "a negative order can't become a question")
        sentence.insert(group.first, Token("will", "MD"), Token("you", "PRS"))
        _end_with(sentence, main, "?")
        return
    if group.asks:
        raise RealisationError("unsupported-edit", "the clause is a question already")
    if sentence.is_presentation(group):
        raise RealisationError(
            "unsupported-edit", "'here it comes' presents something and can't become a question"
        )
    # If the sentence begins with other words than the subject, the auxiliary cannot be moved: "In the morning
    # I saw it" -> "In the morning I saw it, right?"
    if group.quotative or group.subject is None or not _opens_sentence(sentence, group):
        _tag_question(sentence, main)
        return
    start, after = group.subject[0], tokens.get(group.first + 1)
    apply_rules(sentence, "question", start, offers=sentence.accompanies_giving(group), after=after)
    # If another clause follows, inversion would turn only the first clause into a question. Append *right*
    # instead: "I like it and you like it" -> "I like it and you like it, right?"
    _, end = sentence.sentence_bounds(group.first)
    others = (
        other for other in sentence.parse_verbs() if group.main < other.first < end and other.kind == "finite"
    )
    starts = (other.subject[0] for other in others if other.subject is not None)
    if any(
        other > group.main and tokens[other - 1].lower in word_class("clause-conjunctions")
        for other in starts
    ):
        _tag_question(sentence, main)
        return
    subject = tokens[start]
    invert(sentence, group)
    _end_with(sentence, subject, "?")


def invert(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Put the auxiliary of a clause before its subject; add *do* if the clause has no auxiliary.

    Args:
        sentence: The sentence, edited in place.
        group: The verb group of a finite clause whose subject precedes its verb.

    Raises:
        RealisationError: The clause has no subject (``unclear-clause``).

    Example:
        "she put it there" becomes "did she put it there".
    """
    if group.subject is None:
        raise RealisationError("unclear-clause", "the clause has no subject")
    subject, joined = sentence.tokens[group.subject[0]], sentence.conjuncts(group)
    auxiliary = _lift_auxiliary(sentence, group)
    # Verbs that *and* joins to this verb depend on the same *do*: "I sang and danced" -> "Did I sing and
    # dance?"
    for verb in joined if auxiliary[0].lower in DO else ():
        sentence.inflect(verb, "VB")
    sentence.insert(sentence.tokens.index_of(subject), *auxiliary)


def _opens_sentence(sentence: SentenceDraft, group: VerbGroup) -> bool:
    """Return whether only conjunctions, interjections, adverbs and punctuation marks precede a clause."""
    start, _ = sentence.sentence_bounds(group.start)
    opening = sentence.tokens[start : group.start]
    words = [token.tag not in ("QT", "PU", "CC", "UH") for token in opening]
    if any(token.is_quote and any(words[:index]) for index, token in enumerate(opening)):
        return False
    return _follows_subject(group, ("RB",)) and all(token.tag in _LEADS for token in opening)


def _follows_subject(group: VerbGroup, tags: tuple[str, ...]) -> bool:
    """Return whether only words with the given tags are between a subject and its verb."""
    if group.subject is None or group.subject[1] > group.first:
        return False
    return all(token.tag in tags for token in group.tokens[group.subject[1] : group.first])


def _lift_auxiliary(sentence: SentenceDraft, group: VerbGroup) -> list[Token]:
    """Take the auxiliary with its *n't* out of a clause, to put it before the subject.

    If the clause has no auxiliary, its verb gets the plain form, and a form of *do* is returned.

    Returns:
        The tokens to put before the subject.
    """
    tokens, verb = sentence.tokens, group.verb
    # If *have* is the main verb, it also needs *do*: "I have a car" -> "Do I have a car?"
    lone = verb.expanded in DO | HAVE and len(group.chain) == 1
    if verb.tag in ("AX", "MD") and not lone:
        negation = next((tokens[index] for index in group.negations if tokens[index].lower == "n't"), None)
        clitics = {
            # A clitic is written out: "He's seen it" -> "Has he seen it?"; "He's here" -> "Is he here?"
            "'s": "has" if group.perfect else "is",
            "'d": "had" if group.second.tag == "VBN" else "would",
        }
        text = clitics.get(verb.lower, verb.expanded)
        tokens.remove(verb)
        if negation is None:
            return [Token(text, verb.tag)]
        tokens.remove(negation)
        return [Token(contracted_stem(text) or text, verb.tag), Token("n't", "NEG")]
    tag = verb.tense
    # In "She put it there", the verb has no *-s* and is therefore past: "Did she put it there?"
    tenseless = tag == "VBP" and verb.form("VBD") == verb.lower
    if tenseless and group.subject and person_of(group.subject_tokens) in word_class("third-person"):
        tag = "VBD"
    sentence.inflect(verb, "VB")
    return [Token(verb_form("do", tag), "AX")]


def _end_with(sentence: SentenceDraft, main: Token, mark: str) -> None:
    """Replace the end mark after a verb by another mark, or add the mark at the end of the text.

    At the end of a quotation, a comma is replaced as well: '"You like it," he said.'
    """
    tokens = sentence.tokens
    for index in range(tokens.index_of(main) + 1, len(tokens)):
        token, opened = tokens[index], sum(token.text == '"' for token in tokens[:index]) % 2 == 1
        quoted = tokens.get(index + 1).is_quote and index + 2 < len(tokens) and opened
        if token.tag == "EN" or (token.text == "," and quoted):
            token.text, token.tag = mark, "EN"
            return
    end = len(tokens)
    while tokens.get(end - 1).is_quote:
        end -= 1
    sentence.insert(end, Token(mark, "EN"))


def _tag_question(sentence: SentenceDraft, main: Token) -> None:
    """Append "right?" to a short sentence whose auxiliary cannot be moved.

    Raises:
        RealisationError: The sentence is too long (``unclear-clause``), or it is already a question
            (``unsupported-edit``).
    """
    tokens = sentence.tokens
    start, index = sentence.sentence_bounds(tokens.index_of(main))
    if index - start > _MAX_TAGGED:
        raise RealisationError(
            "unclear-clause", "the auxiliary can't be moved, and the sentence is too long for a question tag"
        )
    while (tokens.get(index - 1).tag == "EN" and index) or tokens.get(index - 1).is_quote:
        index -= 1
    mark = tokens.get(index)
    if mark.text[:1] == "?" and mark.tag == "EN":
        raise RealisationError("unsupported-edit", "the sentence is a question already")
    if mark is not EDGE and mark.tag == "EN":
        mark.text = "?"
    else:
        sentence.insert(index, Token("?", "EN"))
    comma = [] if tokens.get(index - 1).text == "," else [Token(",", "PU")]
    sentence.insert(index, *comma, Token("right", "UH"))


def to_statement(sentence: SentenceDraft, k: int) -> None:
    """Turn a yes/no question into a statement.

    Args:
        sentence: The sentence, edited in place.
        k: The index of the node that heads the clause.

    Raises:
        RealisationError: The clause is not a question or has a question word (``unsupported-edit``), or its
            subject was not found (``unclear-clause``).

    Example:
        "Did you go?" becomes "You went."
    """
    group, tokens = assertion(sentence, k), sentence.tokens
    start, end = sentence.sentence_bounds(group.first)
    mark = next((token for token in tokens[start:end] if token.text.startswith("?")), None)
    _refuse_question_word(group, start)
    # In '"Really?" said the king', only the question mark shows that the quotation is a question, so only the
    # mark is changed.
    if group.quotative and mark is not None:
        quoted = tokens.get(tokens.index_of(mark) + 1).is_quote
        mark.text, mark.tag = (",", "PU") if quoted else (".", "EN")
        return
    if mark is None and not group.inverted:
        raise RealisationError("unsupported-edit", "the clause is not a question")
    first = tokens.get(tokens.run_end(start, _LEADS))
    if group.inverted and group.subject is not None:
        uninvert(sentence, group)
    elif first.tag in ("AX", "MD") or first.expanded in BE | DO:
        # To turn "Do you like it?" into a statement, the auxiliary must be moved behind the subject. So
        # refuse a question whose subject was not found.
        raise RealisationError("unclear-clause", "the subject of the question was not found")
    if mark is not None:
        mark.text = "."


def _refuse_question_word(group: VerbGroup, start: int) -> None:
    """Raise `RealisationError` if the clause has a question word before its verb: "Where did you go?"."""
    if group.inverted and any(token.tag == "WP" for token in group.tokens[start : group.first]):
        raise RealisationError("unsupported-edit", "the clause has a question word")


def uninvert(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Put the auxiliary of a question after its subject: "Did you go" -> "you went".

    Args:
        sentence: The sentence, edited in place.
        group: The verb group of the question, which must have a subject.
    """
    tokens, subject = sentence.tokens, group.subject_tokens
    verb, main = group.verb, tokens[group.main]
    contracted = [tokens[index] for index in group.negations if tokens[index].lower == "n't"]
    for token in (verb, *contracted):
        tokens.remove(token)
    # The tagger may have tagged a subject after its verb as an object. Correct its tag.
    if subject[0].lower == "you" or subject[0].tag == "PRO":
        subject[0].tag = "PRS"
    # Without a negation, the statement needs no *do*. Give the tense of *do* to the main verb.
    if verb.expanded in DO and main is not verb and not group.negations:
        tag = verb.tense
        sentence.inflect(main, tag)
        return
    index = tokens.index_of(subject[-1]) + 1
    negations = [Token(token.lower, "NEG") for token in contracted]
    sentence.insert(index, Token(verb.lower if contracted else verb.expanded, verb.tag), *negations)


def to_imperative(sentence: SentenceDraft, k: int) -> None:
    """Turn a statement or a question into an order.

    Args:
        sentence: The sentence, edited in place.
        k: The index of the node that heads the clause.

    Raises:
        RealisationError: The clause has no subject that can be given an order (``unclear-clause``), or it is
            already an order (``unsupported-edit``).

    Example:
        "You should have gone." becomes "Go." "He goes." becomes "Let him go."
    """
    group: VerbGroup | None = assertion(sentence, k)
    tokens = sentence.tokens
    if group.kind == "imperative":
        raise RealisationError("unsupported-edit", "the clause is an order already")
    group.undo_quotative_inversion()
    nobody = RealisationError("unclear-clause", "the clause has no subject that can be given an order")
    if group.subject is None or tokens[group.subject[0]].tag in ("WP", "EX"):
        raise nobody
    if not group.inverted and not _opens_clause(sentence, group):
        raise RealisationError("unclear-clause", "the clause is not the main clause")
    if group.inverted:
        _refuse_question_word(group, 0)
        first = tokens[group.subject[0]]
        uninvert(sentence, group)
        start = tokens.index_of(first)
        group = next(
            (other for other in sentence.parse_verbs() if other.subject and other.start == start), None
        )
        if group is None:
            raise nobody
    subject, main = group.subject_tokens, tokens[group.main]
    # Verbs that *and* joins to this verb also get the plain form: "You sing and dance" -> "Sing and dance".
    for verb in sentence.conjuncts(group):
        sentence.inflect(verb, "VB")
    strip_to_base(sentence, group)
    index = tokens.index_of(subject[0])
    sentence.cut(index, index + len(subject))
    # Remove the negation. "Do not" is written before the verb instead: "You will not go" -> "Do not go".
    negations = [token for token in tokens[index : tokens.index_of(main)] if token.tag == "NEG"]
    for token in negations:
        tokens.remove(token)
    support = [Token("do", "AX"), Token("n't" if sentence.contracts else "not", "NEG")] if negations else []
    persons = pronoun_cases(subject[0].text) if len(subject) == 1 else ()
    # If the subject is not *you*, use *let*: "He goes" -> "Let him go".
    if not persons or persons[0][0] != "you":
        told = [Token(pronoun(persons[0][0], Case.OBJECT), "PRO")] if persons else subject
        support += [Token("let", "VB"), *told]
    sentence.insert(index, *support)
    end_plain(sentence, main)


def _opens_clause(sentence: SentenceDraft, group: VerbGroup) -> bool:
    """Return whether the subject of a verb group is the first part of the sentence or of a main clause."""
    tokens, index = sentence.tokens, group.start
    start, _ = sentence.sentence_bounds(index)
    while index > start and not (tokens[index - 1].is_quote or tokens[index - 1].tag == "PU"):
        index -= 1
    open_clause = any(token.tag in ("SC", "WP", *FINITE) for token in tokens[index : group.start])
    return _follows_subject(group, ("RB", "NEG")) and not open_clause


def end_plain(sentence: SentenceDraft, main: Token) -> None:
    """Replace the question mark at the end of a sentence by a full stop.

    Args:
        sentence: The text, edited in place.
        main: The token of the main verb in the sentence that ends with the question mark.
    """
    marks = (token for token in sentence.tokens[sentence.tokens.index_of(main) :] if token.tag == "EN")
    mark = next(marks, None)
    if mark is not None and mark.text == "?":
        mark.text = "."


def strip_to_base(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Remove modals, *do* and perfect *have*, and put the first verb that remains into its plain form.

    Args:
        sentence: The sentence, edited in place.
        group: The verb group of the clause.

    Example:
        "should have gone" becomes "go".
    """
    tokens = sentence.tokens
    first, *rest = [tokens[index] for index in group.chain]
    perfect = group.perfect
    while rest and (
        first.tag == "MD"
        or (first.lower == "'s" and perfect)
        or first.expanded in DO | HAVE
        or first.lower in word_class("modal-clitics")
    ):
        # The *to* of "ought to go" is removed, too.
        if first.lower == "ought":
            tokens.pop(tokens.index_of(first) + 1)
        tokens.remove(first)
        first, *rest = rest
    sentence.rewrite(first, "be" if first.is_be else first.lemma, "VB")


def from_imperative(sentence: SentenceDraft, k: int) -> None:
    """Turn an order into a statement about the person to whom it is given.

    Args:
        sentence: The sentence, edited in place.
        k: The index of the node that heads the order.

    Raises:
        RealisationError: The sentence contains no order (``unclear-clause``).

    Example:
        "Draw me a sheep." becomes "You draw me a sheep." "Let's go." becomes "We go."
    """
    orders = [group for group in sentence.parse_verbs() if group.kind == "imperative"]
    if not orders:
        raise RealisationError("unclear-clause", "the sentence contains no order")
    group = next((order for order in orders if order.main in sentence.indices(k)), orders[0])
    tokens = sentence.tokens
    refuse_idiom(sentence, group.main)
    verb, following = group.verb, tokens.get(group.first + 1)
    if tokens.begins_lets(group.first):
        tokens.remove(following)
        tokens[group.first] = Token("we", "PRS")
        after = tokens.get(group.first + 1)
        if len(group.chain) == 1 and after.tag == "VB":
            after.tag = "VBP"
        return
    # The plain form becomes finite, and *please* is removed: "Be quiet, please." -> "You are quiet."
    if verb.lower == "be":
        sentence.rewrite(verb, "are", "AX")
    elif verb.tag == "VB" and len(group.chain) == 1:
        verb.tag = "VBP"
    start, end = sentence.sentence_bounds(group.first)
    for please in [token for token in tokens[start:end] if token.lower == "please"]:
        index = tokens.index_of(please)
        sentence.cut(index - (tokens.get(index - 1).text == ","), index + 1)
    sentence.insert(tokens.index_of(verb), Token("you", "PRS"))

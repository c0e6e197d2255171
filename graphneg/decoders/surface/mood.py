"""Statements, questions and orders turn into one another."""

from __future__ import annotations

from graphneg.decoders.surface.agreement import person_of
from graphneg.decoders.surface.clauses import Group, straighten
from graphneg.decoders.surface.draft import Token, new
from graphneg.decoders.surface.forms import (
    BE,
    DO,
    HAVE,
    OBJECT,
    finite_tag,
    pronoun,
    pronoun_cases,
    verb_form,
)
from graphneg.decoders.surface.sentence import RealisationError, Sentence
from graphneg.english.tagging import FINITE

_LEADS = frozenset({"CC", "UH", "PU", "QT", "RB"})
_MAX_TAGGED = 12
_HAS_AFTER = frozenset({"been", "got", "had", "become", "seen", "done"})


def assertion(sentence: Sentence, k: int) -> Group:
    """The finite group of the clause that a node stands for: its own, else that of its first argument.

    Raises:
        RealisationError: ``unclear-clause``, there is none.
    """
    waiting = [k]
    while waiting:
        at = waiting.pop(0)
        group = sentence.finite(sentence.predicate(at))
        if group is not None and group.kind in ("finite", "imperative"):
            return group
        waiting.extend(
            child.k for child in sentence.graph.children(at) if child.role and not child.role.endswith("-of")
        )
    found = [group for group in sentence.groups() if group.kind in ("finite", "imperative")]
    if k == 0 and found:
        return found[0]
    raise RealisationError("unclear-clause", f"{sentence.node(k).label} heads no clause")


def to_question(sentence: Sentence, k: int) -> None:
    """A statement becomes a yes/no question: inversion, do-support, or ``right?`` where neither is safe."""
    group = assertion(sentence, k)
    if group.kind == "imperative":
        _request(sentence, group)
        return
    main = sentence.tokens[group.main]
    if group.quotative:
        _tag_question(sentence, main)
        return
    if group.inverted:
        raise RealisationError("unsupported-edit", "the clause is a question already")
    if group.subject is None or not _is_main(sentence, group):
        _tag_question(sentence, main)
        return
    following = sentence.tokens[group.first + 1 : group.first + 2]
    if sentence.offers(group) or any(token.low == "better" for token in following):
        raise RealisationError("unsupported-edit", "here you are and had better make no question")
    subject = sentence.tokens[group.subject[0]]
    opening = sentence.tokens[group.subject[0] - 1].low if group.subject[0] else ""
    if subject.tag == "WP" or opening in ("maybe", "perhaps", "apparently"):
        raise RealisationError("unsupported-edit", "the clause asks already, or only supposes")
    if _is_coordinated(sentence, group):
        _tag_question(sentence, main)
        return
    joined = sentence.conjuncts(group)
    auxiliary = _lift_auxiliary(sentence, group)
    if auxiliary[0].low in DO:
        _to_base(sentence, joined)
    index = sentence.tokens.where(subject)
    sentence.insert(index, *auxiliary)
    _end_with(sentence, subject, "?")


def _to_base(sentence: Sentence, verbs: list[Token]) -> None:
    for verb in verbs:
        sentence.rewrite(verb, verb_form(verb.lemma, "VB"), "VB")


def _is_coordinated(sentence: Sentence, group: Group) -> bool:
    """Whether ``and`` joins another clause with a subject of its own, which inversion would leave behind."""
    _, end = sentence.sentence_bounds(group.first)
    for other in sentence.groups():
        if group.main < other.first < end and other.kind == "finite" and other.subject is not None:
            start = other.subject[0]
            if start > group.main and sentence.tokens[start - 1].low in ("and", "but", "or"):
                return True
    return False


def _request(sentence: Sentence, group: Group) -> None:
    main = sentence.tokens[group.main]
    if group.negations or main.low == "let":
        raise RealisationError("unclear-clause", "a negative order makes no question")
    sentence.insert(group.first, new("will", "MD"), new("you", "PRS"))
    _end_with(sentence, main, "?")


def _is_main(sentence: Sentence, group: Group) -> bool:
    """Only conjunctions, interjections and short adverbs stand before the subject in its sentence."""
    if group.subject is None or group.subject[1] > group.first:
        return False
    start, _ = sentence.sentence_bounds(group.subject[0])
    opening = sentence.tokens[start : group.subject[0]]
    words = [token.tag not in ("QT", "PU", "CC", "UH") for token in opening]
    if any(token.is_quote and any(words[:index]) for index, token in enumerate(opening)):
        return False
    between = sentence.tokens[group.subject[1] : group.first]
    return all(token.tag in _LEADS for token in opening) and all(token.tag == "RB" for token in between)


def _leads(sentence: Sentence, group: Group) -> bool:
    """No other clause is open before the subject."""
    if group.subject is None or group.subject[1] > group.first:
        return False
    start, _ = sentence.sentence_bounds(group.subject[0])
    index = group.subject[0]
    while index > start and not (
        sentence.tokens[index - 1].is_quote or sentence.tokens[index - 1].tag == "PU"
    ):
        index -= 1
    opening = sentence.tokens[index : group.subject[0]]
    between = sentence.tokens[group.subject[1] : group.first]
    if any(token.tag in ("SC", "WP", *FINITE) for token in opening):
        return False
    return all(token.tag in ("RB", "NEG") for token in between)


def _lift_auxiliary(sentence: Sentence, group: Group) -> list[Token]:
    """Takes the auxiliary (and its n't) out of its place, or makes one of do."""
    tokens = sentence.tokens
    verb = tokens[group.first]
    low = verb.full
    lone_have = low in HAVE | {"'ve"} and len(group.chain) == 1
    if (verb.tag in ("AX", "MD") and not (low in DO | HAVE and len(group.chain) == 1)) and not lone_have:
        negation = next((tokens[p] for p in group.negations if tokens[p].low == "n't"), None)
        text = _written_out(sentence, group)
        tokens.remove(verb)
        if negation is None:
            return [new(text, verb.tag)]
        tokens.remove(negation)
        stem = {"can": "ca", "will": "wo", "shall": "sha"}.get(text, text)
        return [new(stem, verb.tag), new("n't", "NEG")]
    tag = verb.tag if verb.tag in ("VBD", "VBZ", "VBP") else finite_tag(verb.text)
    tenseless = tag == "VBP" and verb_form(verb.lemma, "VBD") == verb.low
    subject = tokens[group.subject[0] : group.subject[1]] if group.subject is not None else []
    if tenseless and subject and person_of(subject) in ("he", "she", "it"):
        tag = "VBD"
    sentence.rewrite(verb, verb_form(verb.lemma, "VB"), "VB")
    return [new(verb_form("do", tag), "AX")]


def _written_out(sentence: Sentence, group: Group) -> str:
    verb = sentence.tokens[group.first]
    following = sentence.tokens[group.chain[1]] if len(group.chain) > 1 else None
    if verb.low == "'s":
        return "has" if following is not None and following.low in _HAS_AFTER else "is"
    if verb.low == "'d":
        return "had" if following is not None and following.tag == "VBN" else "would"
    return verb.full


def _end_with(sentence: Sentence, main: Token, mark: str) -> None:
    """Closes the clause of a verb with another end mark: the comma before a closing quote counts too."""
    tokens = sentence.tokens
    index = sentence.tokens.where(main) + 1
    while index < len(tokens):
        token = tokens[index]
        if token.tag == "EN" or (
            token.text == ","
            and index + 1 < len(tokens)
            and tokens[index + 1].is_quote
            and _quote_open(tokens, index)
        ):
            token.text, token.tag = mark, "EN"
            return
        index += 1
    end = len(tokens)
    while end and tokens[end - 1].is_quote:
        end -= 1
    sentence.insert(end, new(mark, "EN"))


def _quote_open(tokens: list[Token], index: int) -> bool:
    following = tokens[index + 2 :]
    return bool(following) and sum(token.text == '"' for token in tokens[:index]) % 2 == 1


def _tag_question(sentence: Sentence, main: Token) -> None:
    """``..., right?`` for short clauses whose auxiliary can't be moved.

    Raises:
        RealisationError: ``unclear-clause``, the sentence is too long to be turned by its last word.
    """
    tokens = sentence.tokens
    start, end = sentence.sentence_bounds(sentence.tokens.where(main))
    if end - start > _MAX_TAGGED:
        raise RealisationError(
            "unclear-clause", "only a tag would make the sentence a question, and it is long"
        )
    index = end
    while index and (tokens[index - 1].tag == "EN" or tokens[index - 1].is_quote):
        index -= 1
    if index < len(tokens) and tokens[index].tag == "EN" and tokens[index].text[0] == "?":
        raise RealisationError("unsupported-edit", "the sentence is a question already")
    at_quote = index
    if at_quote < len(tokens) and tokens[at_quote].is_quote:
        at_quote = min(end, len(tokens))
        while at_quote and tokens[at_quote - 1].tag == "EN" and at_quote > index + 1:
            at_quote -= 1
    comma = [] if index and tokens[index - 1].text == "," else [new(",", "PU")]
    mark = tokens[index] if index < len(tokens) and tokens[index].tag == "EN" else None
    if mark is not None:
        mark.text = "?"
        sentence.insert(index, *comma, new("right", "UH"))
    else:
        sentence.insert(index, *comma, new("right", "UH"), new("?", "EN"))


def to_statement(sentence: Sentence, k: int) -> None:
    """A yes/no question becomes a statement.

    Raises:
        RealisationError: ``unsupported-edit``, the clause asks with a question word, or asks nothing.
    """
    group = assertion(sentence, k)
    tokens = sentence.tokens
    start, end = sentence.sentence_bounds(group.first)
    marks = [token for token in tokens[start:end] if token.text.startswith("?")]
    if any(token.tag == "WP" for token in tokens[start : group.first]) and group.inverted:
        raise RealisationError("unsupported-edit", "the clause asks with a question word")
    if group.quotative:
        for token in marks[:1]:
            quoted = (
                sentence.tokens.where(token) + 1 < len(tokens)
                and tokens[sentence.tokens.where(token) + 1].is_quote
            )
            token.text, token.tag = (",", "PU") if quoted else (".", "EN")
        if marks:
            return
    if not marks and not group.inverted:
        raise RealisationError("unsupported-edit", "the clause asks nothing")
    if group.inverted and group.subject is not None:
        uninvert(sentence, group)
    elif _opens_with_auxiliary(tokens[start:end]):
        raise RealisationError("unclear-clause", "the words of the question can't be put in order")
    for token in marks[:1]:
        token.text = "."


def _opens_with_auxiliary(tokens: list[Token]) -> bool:
    first = next((token for token in tokens if token.tag not in ("CC", "UH", "PU", "QT", "RB")), None)
    return first is not None and (first.tag in ("AX", "MD") or first.full in BE | DO)


def uninvert(sentence: Sentence, group: Group) -> None:
    tokens = sentence.tokens
    assert group.subject is not None
    verb = tokens[group.first]
    last = tokens[group.subject[1] - 1]
    subject = tokens[group.subject[0] : group.subject[1]]
    main = tokens[group.main]
    contracted = [tokens[p] for p in group.negations if tokens[p].low == "n't"]
    negated = bool(group.negations)
    tokens.remove(verb)
    for token in contracted:
        tokens.remove(token)
    if subject[0].low == "you" or subject[0].tag == "PRO":
        subject[0].tag = "PRS"
    if verb.full in DO and main is not verb and not negated:
        tag = finite_tag(verb.text)
        sentence.rewrite(main, verb_form(main.lemma, tag), tag)
        return
    index = sentence.tokens.where(last) + 1
    sentence.insert(index, new(verb.full if not contracted else verb.low, verb.tag))
    for token in reversed(contracted):
        sentence.insert(index + 1, new(token.low, "NEG"))


def to_order(sentence: Sentence, k: int) -> None:
    """A statement becomes an order: ``You go`` gives ``Go``, ``He goes`` gives ``Let him go``.

    Raises:
        RealisationError: ``unclear-clause``, the subject is not found.
    """
    group = assertion(sentence, k)
    tokens = sentence.tokens
    if group.kind == "imperative":
        raise RealisationError("unsupported-edit", "the clause is an order already")
    straighten(tokens, group)
    if group.subject is None or tokens[group.subject[0]].tag in ("WP", "EX"):
        raise RealisationError("unclear-clause", "the clause has no subject that could be told to act")
    start, end = group.subject
    subject = tokens[start:end]
    if not group.inverted and not _leads(sentence, group):
        raise RealisationError("unclear-clause", "the clause is not the main one")
    if group.inverted and start and any(token.tag == "WP" for token in tokens[: group.first]):
        raise RealisationError("unsupported-edit", "the clause asks with a question word")
    main = tokens[group.main]
    if group.inverted:
        uninvert(sentence, group)
        at = sentence.tokens.where(subject[0])
        group = next((one for one in sentence.groups() if one.subject and one.subject[0] == at), None)
        if group is None or group.subject is None:
            raise RealisationError("unclear-clause", "the clause has no subject that could be told to act")
        subject, main = tokens[group.subject[0] : group.subject[1]], tokens[group.main]
    _to_base(sentence, sentence.conjuncts(group))
    strip_to_base(sentence, group)
    index = sentence.tokens.where(subject[0])
    sentence.cut(index, index + len(subject))
    negated = [token for token in tokens[index : sentence.tokens.where(main)] if token.tag == "NEG"]
    for token in negated:
        tokens.remove(token)
    support = [new("do", "AX"), new("n't" if sentence.contracts else "not", "NEG")] if negated else []
    person = pronoun_cases(subject[0].text)[:1] if len(subject) == 1 else ()
    if person and person[0][0] == "you":
        sentence.insert(index, *support)
    else:
        told = _as_object(subject)
        sentence.insert(index, *support, new("let", "VB"), *told)
    end_plain(sentence, main)


def end_plain(sentence: Sentence, main: Token) -> None:
    for token in sentence.tokens[sentence.tokens.where(main) :]:
        if token.tag == "EN":
            if token.text == "?":
                token.text = "."
            return


def _as_object(subject: list[Token]) -> list[Token]:
    known = pronoun_cases(subject[0].text)
    if len(subject) == 1 and known:
        return [new(pronoun(known[0][0], OBJECT), "PRO")]
    return subject


def strip_to_base(sentence: Sentence, group: Group) -> None:
    """Drops modals, do and perfect have; the first verb left takes its plain form."""
    tokens = sentence.tokens
    chain = [tokens[index] for index in group.chain]
    while len(chain) > 1 and (
        chain[0].tag == "MD"
        or (chain[0].low == "'s" and chain[1].low in _HAS_AFTER)
        or chain[0].full in DO | HAVE
        or chain[0].low in ("'ll", "'d", "'ve")
    ):
        if chain[0].low == "ought":
            tokens.remove(tokens[sentence.tokens.where(chain[0]) + 1])
        tokens.remove(chain.pop(0))
    first = chain[0]
    lemma = "be" if first.full in BE or first.low == "'s" else first.lemma
    sentence.rewrite(first, lemma, "VB")


def from_order(sentence: Sentence, k: int) -> None:
    """An order becomes a statement about you: ``Draw me a sheep`` gives ``You draw me a sheep``.

    Raises:
        RealisationError: ``unclear-clause``, no order is found.
    """
    waiting = [k]
    group = next(
        (one for one in sentence.groups() if one.kind == "imperative" and one.main in sentence.indices(k)),
        None,
    )
    group = group or next((one for one in sentence.groups() if one.kind == "imperative"), None)
    if group is None or not waiting:
        raise RealisationError("unclear-clause", "no order was found")
    tokens = sentence.tokens
    verb = tokens[group.first]
    following = tokens[group.first + 1] if group.first + 1 < len(tokens) else None
    if verb.low == "let" and following is not None and following.low in ("'s", "us"):
        tokens.remove(following)
        tokens[group.first : group.first + 1] = [new("we", "PRS")]
        if len(group.chain) == 1 and following.tag != "EN":
            _as_finite(tokens, group.first + 1)
        return
    if verb.low == "be":
        sentence.rewrite(verb, "are", "AX")
    elif verb.tag == "VB" and len(group.chain) == 1:
        verb.tag = "VBP"
    _drop_please(sentence, sentence.tokens.where(verb))
    sentence.insert(sentence.tokens.where(verb), new("you", "PRS"))


def _as_finite(tokens: list[Token], index: int) -> None:
    if index < len(tokens) and tokens[index].tag == "VB":
        tokens[index].tag = "VBP"


def _drop_please(sentence: Sentence, verb: int) -> None:
    """No ``please``, and no comma that goes with it, in what is no order any more."""
    start, end = sentence.sentence_bounds(verb)
    tokens = sentence.tokens
    for token in [one for one in tokens[start:end] if one.low == "please"]:
        index = sentence.tokens.where(token)
        first = index - 1 if index and tokens[index - 1].text == "," else index
        sentence.cut(first, index + 1)

"""One phrase in the place of another: the words of a subtree go in where another subtree has its own.

A phrase of one kind takes the place of another kind by the smallest change that English allows: a verb
phrase becomes a gerund where a noun was, and so on. An adjective never stands for a noun.
"""

from __future__ import annotations

from graphneg.decoders.surface.agreement import (
    PEOPLE,
    agree_relative,
    agree_with,
    case_of,
    head_of,
    inflect_finite,
    is_subject,
    person_of,
    refuse_expletive,
    rewrite_pronoun,
)
from graphneg.decoders.surface.clauses import Group
from graphneg.decoders.surface.draft import Token, new
from graphneg.decoders.surface.forms import (
    BE,
    OBJECT,
    OWN,
    POSSESSIVE,
    SUBJECT,
    agree,
    finite_tag,
    may_be_bare,
    pronoun,
    pronoun_cases,
    verb_form,
)
from graphneg.decoders.surface.lexical import set_concept
from graphneg.decoders.surface.sentence import Phrase, RealisationError, Sentence, phrase
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import readings, word_set

_COUNT_FROM = 1_000_000
_VERBAL = frozenset({"verb", "clause", "predicate"})
_NOUNLIKE = frozenset({"nominal", "possessive"})


def copied(sentence: Sentence, span: Phrase, serial: int) -> list[Token]:
    """Copies of a phrase's tokens, spaced among themselves as in their own text."""
    found: list[Token] = []
    for index in range(span.start, span.end):
        token = sentence.tokens[index]
        home = _COUNT_FROM * (serial + 1) + index
        text = token.text
        if token.initial and token.tag != "NNP" and text != "I" and index == span.start:
            text = text[:1].lower() + text[1:]
        found.append(Token(text, token.tag, home, token.gap))
    return found


def replace_with(sentence: Sentence, k: int, source: Sentence, from_k: int, serial: int) -> None:
    """Puts the words of a subtree of another sentence where the subtree at ``k`` has its words.

    Raises:
        RealisationError: ``no-alignment``; ``kind-mismatch``, a noun phrase for a clause and the like.
    """
    target, given = phrase(sentence, k), phrase(source, from_k)
    tokens = _without_that(copied(source, given, serial))
    if given.kind == "nominal":
        _refuse_twice(sentence, target, source.tokens[given.head])
    if sentence.node(k).concept == source.node(from_k).concept == "name":
        _rename(sentence, target, source, given, tokens)
        return
    if [token.low for token in tokens] == [token.low for token in sentence.tokens[target.start : target.end]]:
        raise RealisationError("unchanged", "both phrases have the same words")
    if target.kind in _NOUNLIKE and given.kind in _NOUNLIKE:
        _replace_nominal(sentence, k, target, tokens, source, given)
    elif target.kind in _VERBAL and given.kind in _VERBAL:
        if target.kind == given.kind == "clause" and not _splits_clause(sentence, target):
            splice(sentence, target, tokens)
        else:
            _replace_verb(sentence, target, source, given, serial)
    elif target.kind == given.kind:
        splice(sentence, target, tokens)
    else:
        try:
            _convert(sentence, target, source, given, tokens, serial)
        except RealisationError as why:
            if why.code != "kind-mismatch" or len(source.graph.subtree(from_k)) > 1:
                raise
            set_concept(sentence, k, source.node(from_k).concept or "")


def _without_that(tokens: list[Token]) -> list[Token]:
    """``so that women``, ``not any cars``: what stands before a plural there is no part of the phrase."""
    plural = tokens[-1].tag == "NNS" and tokens[0].low in ("that", "this", "any")
    return tokens[1:] if plural and len(tokens) > 1 else tokens


def _refuse_twice(sentence: Sentence, target: Phrase, head: Token) -> None:
    """Raises where the sentence has the noun already: *took the wallet out of a wallet*.

    Raises:
        RealisationError: ``kind-mismatch``.
    """
    start, end = sentence.sentence_bounds(target.head)
    others = [*sentence.tokens[start : target.start], *sentence.tokens[target.end : end]]
    if head.tag in NOUNS and any(token.tag in NOUNS and token.low == head.low for token in others):
        raise RealisationError("kind-mismatch", f"the sentence says {head.low} already")


def _is_determined(sentence: Sentence, name: Phrase) -> bool:
    """``the Autumn Fair``, ``your Sundays``, but not ``Mr. Brown``."""
    return name.start > 0 and sentence.tokens[name.start - 1].tag in ("DT", "PS")


def _rename(sentence: Sentence, target: Phrase, source: Sentence, given: Phrase, tokens: list[Token]) -> None:
    if [token.low for token in tokens] == [token.low for token in sentence.tokens[target.start : target.end]]:
        raise RealisationError("unchanged", "both names have the same words")
    before = sentence.tokens[target.start - 1] if target.start else None
    if (
        before is not None
        and before.text[:1].isupper()
        and not before.initial
        and before.tag in ("JJ", "NNP")
    ):
        raise RealisationError("kind-mismatch", f"the name goes with {before.text}")
    after = sentence.tokens[target.end] if target.end < len(sentence.tokens) else None
    if after is not None and after.text[:1].isupper() and after.tag in ("CD", "NNP"):
        raise RealisationError("kind-mismatch", f"the name goes with {after.text}")
    if _is_determined(sentence, target) != _is_determined(source, given):
        raise RealisationError("kind-mismatch", "one name has an article and the other has none")
    splice(sentence, target, tokens)


def _splits_clause(sentence: Sentence, target: Phrase) -> bool:
    return target.start > 0 and sentence.tokens[target.start - 1].tag in ("MD", "AX", "PRS", "NEG")


def _convert(
    sentence: Sentence, target: Phrase, source: Sentence, given: Phrase, tokens: list[Token], serial: int
) -> None:
    """A phrase of another kind, made to fit."""
    if target.kind == "nominal" and given.kind in _VERBAL | {"adjective", "modifier"}:
        head = sentence.tokens[target.head]
        subject = is_subject(sentence, head)
        if target.end < len(sentence.tokens) and sentence.tokens[target.end].low == "of":
            raise RealisationError("kind-mismatch", "what follows needs a noun")
        if given.kind not in _VERBAL:
            raise RealisationError("kind-mismatch", "an adjective can't stand for a noun")
        fitted = _gerund(source, given, serial)
        splice(sentence, target, fitted)
        if subject:
            agree_with(sentence, fitted[0])
    elif target.kind == "adjective" and given.kind in ("nominal", "modifier", *_VERBAL):
        splice(sentence, target, _predicative(source, given, tokens, serial))
    elif target.kind == "modifier" and given.kind in ("nominal", "modifier", "adjective", *_VERBAL):
        splice(
            sentence,
            Phrase(target.head, target.head + 1, "modifier", target.head),
            _attributive(source, given),
        )
    elif target.kind in _VERBAL and given.kind in ("nominal", "adjective", "modifier"):
        _verb_to_other(sentence, target, source, given, tokens)
    else:
        raise RealisationError(
            "kind-mismatch", f"a phrase of kind {given.kind} can't stand for {target.kind}"
        )


def _gerund(source: Sentence, given: Phrase, serial: int) -> list[Token]:
    group = _group(source, given)
    start = group.main if group.inverted else _content_start(source, group)
    tokens = copied(source, Phrase(start, max(given.end, start + 1), given.kind, start), serial)
    lemma = "be" if tokens[0].full in BE else tokens[0].lemma
    tokens[0] = new(verb_form(lemma, "VBG"), "NN")
    return tokens


def _predicative(source: Sentence, given: Phrase, tokens: list[Token], serial: int) -> list[Token]:
    if given.kind in _VERBAL:
        return _gerund(source, given, serial)
    if given.kind == "modifier":
        return [new(source.tokens[given.head].low, "JJ")] if source.tokens[given.head].tag == "JJ" else tokens
    return _with_article(source, given, tokens)


def _attributive(source: Sentence, given: Phrase) -> list[Token]:
    """One word before a noun: an adjective, the head of a compound, a participle."""
    head = source.tokens[given.head]
    if given.kind in _VERBAL:
        group = _group(source, given)
        return [new(verb_form(source.tokens[group.main].lemma, "VBG"), "JJ")]
    if head.tag in ("PRS", "PRO", "PN", "CD"):
        raise RealisationError("kind-mismatch", f"{head.text} can't stand before a noun")
    if head.tag == "NNS":
        return [new(min(readings(head.low).get("NOUN", (head.low,)), key=len), "NN")]
    return [new(head.low if head.tag != "NNP" else head.text, head.tag)]


def _verb_to_other(
    sentence: Sentence, target: Phrase, source: Sentence, given: Phrase, tokens: list[Token]
) -> None:
    """A noun phrase as the object in place of a clause; an adjective after a form of be."""
    before = sentence.tokens[target.start - 1] if target.start else None
    group = _group(sentence, target)
    if given.kind in ("adjective", "modifier"):
        start = _content_start(sentence, group)
        form = _form(sentence.tokens[start])
        person = "he"
        if group.subject is not None:
            person = person_of(sentence.tokens[group.subject[0] : group.subject[1]])
        text = agree("be", form, person) if form in ("VBD", "VBP", "VBZ") else verb_form("be", form)
        adjective = tokens if given.kind == "adjective" else [new(source.tokens[given.head].low, "JJ")]
        splice(
            sentence,
            Phrase(start, max(target.end, group.main + 1), target.kind, start),
            [new(text, "AX" if form.startswith("VB") and form != "VB" else "VB"), *adjective],
        )
        return
    lone = tokens[0] if len(tokens) == 1 and pronoun_cases(tokens[0].text) else None
    fitted = [new(pronoun(pronoun_cases(lone.text)[0][0], OBJECT), "PRO")] if lone is not None else tokens
    fitted = _with_article(source, given, fitted)
    start = target.start
    if before is not None and before.tag in ("TO", "SC"):
        start -= 1
        before = sentence.tokens[start - 1] if start else None
    complement = start < target.start or group.kind == "gerund"
    governs = before is not None and (before.tag in VERBS or before.tag == "IN") and before.tag != "MD"
    if complement and governs and before is not None and before.lemma not in _NO_OBJECT:
        splice(sentence, Phrase(start, target.end, target.kind, start), fitted)
        return
    start = _content_start(sentence, group)
    form = _form(sentence.tokens[start])
    have = verb_form("have", form)
    splice(
        sentence,
        Phrase(start, max(target.end, group.main + 1), target.kind, start),
        [new(have, form), *fitted],
    )
    if group.subject is not None and form in ("VBP", "VBZ"):
        agree_with(sentence, sentence.tokens[group.subject[0]])


_NO_OBJECT = word_set("think seem appear happen wish hope agree wonder go come hasten try dare tend be have")


def _group(sentence: Sentence, span: Phrase) -> Group:
    return next(one for one in sentence.groups() if span.head in one.chain)


def splice(sentence: Sentence, target: Phrase, tokens: list[Token]) -> None:
    first = sentence.tokens[target.start]
    sentence.tokens[target.start : target.end] = tokens
    if first.initial and tokens:
        tokens[0].home = -1
        tokens[0].initial = True
        if first.text[:1].isupper():
            tokens[0].text = tokens[0].text[:1].upper() + tokens[0].text[1:]


def _replace_nominal(
    sentence: Sentence, k: int, target: Phrase, tokens: list[Token], source: Sentence, given: Phrase
) -> None:
    head = sentence.tokens[target.head]
    person = sentence.node(k).concept or ""
    if person == "it":
        refuse_expletive(sentence, head)
    case = case_of(sentence, head, person) if pronoun_cases(head.text) else None
    others = [sentence.tokens[index] for index in sentence.indices(k) if sentence.tokens[index] is not head]
    subject = is_subject(sentence, head)
    lone = (
        tokens[0]
        if len(tokens) == 1 and pronoun_cases(tokens[0].text) and tokens[0].tag in ("PRS", "PRO", "PS", "PN")
        else None
    )
    new_person = pronoun_cases(lone.text)[0][0] if lone is not None else person_of(tokens)
    if target.kind == "possessive" or case in (POSSESSIVE, OWN):
        if lone is None and len(tokens) > 1:
            start, end = source.noun_phrase(given.head)
            tokens = copied(source, Phrase(start, end, given.kind, given.head), 1)
        tokens = _possessive(tokens, lone)
    elif given.kind == "possessive" or lone is not None:
        form = pronoun(new_person, SUBJECT if subject else OBJECT)
        tokens = [new(form, "PRS" if subject else "PRO")]
    else:
        tokens = _with_article(source, given, tokens)
    splice(sentence, target, tokens)
    _follow(sentence, others, person, new_person if lone is not None else _third(tokens, person))
    if subject:
        agree_with(sentence, tokens[head_of(tokens)])
    else:
        _agree_existential(sentence, tokens)
    agree_relative(sentence, tokens)


def _agree_existential(sentence: Sentence, tokens: list[Token]) -> None:
    """``there were`` many, ``there was`` one."""
    index = sentence.tokens.where(tokens[0])
    for group in sentence.groups():
        after = max(group.main, group.subject[1] - 1 if group.subject else 0) + 1
        if group.subject and sentence.tokens[group.subject[0]].tag == "EX" and after == index:
            inflect_finite(sentence, group, person_of(tokens))


def _possessive(tokens: list[Token], lone: Token | None) -> list[Token]:
    if lone is not None:
        return [new(pronoun(pronoun_cases(lone.text)[0][0], POSSESSIVE), "PS")]
    last = tokens[-1]
    if last.tag == "POS" or last.low == "'s":
        return tokens
    return [*tokens, new("'" if last.tag == "NNS" and last.low.endswith("s") else "'s", "POS")]


def _with_article(source: Sentence, given: Phrase, tokens: list[Token]) -> list[Token]:
    """A singular noun taken from inside a compound gets an article."""
    following = source.tokens[given.end] if given.end < len(source.tokens) else None
    first = tokens[0]
    if following is not None and following.tag in ("NN", "NNS") and first.tag in ("NN", "JJ"):
        return [new("the", "DT"), *tokens]
    head = tokens[head_of(tokens)]
    if first.tag in ("NN", "JJ") and head.tag == "NN" and not may_be_bare(head.low):
        return [new("a", "DT"), *tokens]
    return tokens


def _third(tokens: list[Token], person: str) -> str:
    if not tokens:
        return person
    found = person_of(tokens)
    if found in ("they", "we"):
        return found
    if tokens[head_of(tokens)].low in PEOPLE:
        return person if person in ("he", "she") else "he"
    return person if person in ("he", "she", "it") else "it"


def _follow(sentence: Sentence, tokens: list[Token], old: str, person: str) -> None:
    """The other mentions of a replaced pronoun take the new one's person."""
    if old == person:
        return
    for token in tokens:
        if sentence.tokens.where(token) < 0:
            continue
        case = case_of(sentence, token, old)
        if case is not None:
            rewrite_pronoun(sentence, token, person, case)
            if case == SUBJECT:
                agree_with(sentence, token)


def _replace_verb(sentence: Sentence, target: Phrase, source: Sentence, given: Phrase, serial: int) -> None:
    """A verb phrase takes the place of another: the new verb in the old one's form, subjects left out."""
    group = _group(source, given)
    if any(source.tokens[index].tag in ("WP", "SC") for index in range(given.start, group.main)):
        raise RealisationError("kind-mismatch", "the clause has a question word")
    old = _group(sentence, target)
    start = _content_start(sentence, old)
    rest_start = group.main if group.inverted else _content_start(source, group)
    rest = copied(source, Phrase(rest_start, max(given.end, rest_start + 1), given.kind, rest_start), serial)
    wanted = _form(sentence.tokens[start])
    lemma = rest[0].lemma
    rest[0].text, rest[0].tag = verb_form("be" if rest[0].full in BE else lemma, wanted), wanted
    if any(token.tag == "EN" for token in sentence.tokens[start : target.end]):
        raise RealisationError("unclear-clause", "the phrase goes over the end of a sentence")
    splice(sentence, Phrase(start, max(target.end, old.main + 1), target.kind, start), rest)
    if wanted in ("VBP", "VBZ"):
        agree_with(sentence, sentence.tokens[old.subject[0]]) if old.subject else None


def _content_start(sentence: Sentence, group: Group) -> int:
    """The first verb that says something: the main one, or the be of a passive or progressive."""
    if len(group.chain) > 1 and sentence.tokens[group.chain[-2]].full in BE | {"'s"}:
        return group.chain[-2]
    return group.main


def _form(token: Token) -> str:
    if token.tag in ("AX", "MD"):
        return finite_tag(token.text)
    return token.tag if token.tag in ("VB", "VBG", "VBN", "VBD", "VBZ", "VBP") else "VB"

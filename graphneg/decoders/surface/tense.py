"""Times and tenses: ``yesterday`` at the clause's end, and the verb that fits it.

In: a node that says when (``set_time``), or one whose clause is to be dated (``add_time``), and a new time's
concept. The finite verb of the clause changes its tense where the two would clash, and so does what *and*
joins to it.
"""

from __future__ import annotations

from itertools import dropwhile

from graphneg.decoders.surface.agreement import person_of
from graphneg.decoders.surface.clauses import VerbGroup
from graphneg.decoders.surface.draft import EDGE, Token
from graphneg.decoders.surface.forms import BE, DO, HAVE, agree, before_nt
from graphneg.decoders.surface.lexical import set_concept
from graphneg.decoders.surface.sentence import RealisationError, SentenceDraft
from graphneg.english.noun_kinds import lexeme
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import word_class, word_map

TENSES = word_map("tenses-of-times")
_PRESENT_MODAL = {"could": "can", "would": "will"}
_MODALS = frozenset({"may", "might", "should", "must", "would", "could"})
_PRESENT_OF_PAST = {"was": "be", "were": "be", "had": "have"}
_STARTS = frozenset({"EN", "QT", "PU", "CC", "SC", "UH"})
_JOIN_REACH = 3


def set_time(sentence: SentenceDraft, k: int, concept: str) -> None:
    """Replaces a time word, and the tense of the verb it goes with where the two would clash."""
    word, index, up = lexeme(concept), sentence.head(k), sentence.node(k).up
    # What happens then stands above a time word and the date or night that it is a part of.
    while up is not None and (sentence.node(up).role == "time" or sentence.node(up).concept == "date-entity"):
        up = sentence.node(up).up
    group, tense = sentence.predicate(up) if up is not None else None, TENSES.get(word, "")
    if group is None or group.kind != "finite":
        group = sentence.finite_before(index) or group
    sentence.refuse("set-time", index, word=word, tense=tense)
    set_concept(sentence, k, concept)
    if group is not None and tense in ("past", "future") and group.kind == "finite":
        change_tense(sentence, group, tense)


def add_time(sentence: SentenceDraft, k: int, concept: str) -> None:
    """Dates the clause that ``k`` heads, and fits its tense; raises ``unclear-clause`` where none is."""
    word, tokens = lexeme(concept), sentence.tokens
    tense = TENSES.get(word, "")
    if any(token.low == word for token in tokens):
        raise RealisationError("unchanged", f"the utterance says {word} already")
    group = sentence.finite(sentence.predicate(k))
    if group is None or not group.is_main:
        raise RealisationError("unclear-clause", f"{sentence.node(k).label} heads no finite clause")
    main = tokens[group.main]
    start, end = sentence.sentence_bounds(group.main)
    rest = tokens[group.main : end]
    # She moved when she was ten: a clause in the past says when.
    dated = dropwhile(lambda token: token.low not in ("when", "while"), rest)
    sentence.refuse(
        "add-time",
        group.main,
        tense=tense,
        kind=group.kind,
        asks_later=not group.inverted and any(token.text == "?" for token in rest),
        since=any(token.low == "since" for token in tokens[start:end]),
        before=tokens.at(group.subject[0] - 1) if group.subject else EDGE,
        dated=any(token.low in ("was", "were") or token.tag == "VBD" for token in dated),
    )
    if group.kind == "finite":
        change_tense(sentence, group, tense)
    end = _clause_end(sentence, tokens.where(main))
    subject = group.subject[0] if group.subject and not group.inverted else None
    if subject is not None and (subject == 0 or tokens[subject - 1].tag in _STARTS):
        # Between a noun and its relative clause there is no room for a time word.
        relative = end is not None and tokens.at(end).low in ("who", "whom", "which", "that", "where")
        if end is None or (relative and tokens.at(end - 1).tag in (*NOUNS, "PN")):
            end = subject
    if end is None and group.quotative and group.subject is not None:
        end = group.subject[1]
    if end is None:
        raise RealisationError("unclear-clause", "no place for a time word")
    sentence.insert(end, *[Token(part, "RB") for part in word.split(" ")])


def _clause_end(sentence: SentenceDraft, main: int) -> int | None:
    """Where the clause of the verb at ``main`` ends; None where another clause follows without a sign."""
    tokens = sentence.tokens
    starts = {group.start for group in sentence.groups() if group.kind == "finite" and group.first > main}
    for index in range(main + 1, len(tokens)):
        token = tokens[index]
        dash = "-" in (tokens[index - 1].text, tokens[min(index + 1, len(tokens) - 1)].text)
        if (token.text == "-" and not dash) or (token.text == "," and _inside_list(sentence, index)):
            continue
        if token.tag in ("EN", "SC", "PU") or token.is_quote:
            return index
        if token.tag == "WP":
            return index if index > main + 1 else None
        near = (tokens[index:start] for start in starts if index < start <= index + _JOIN_REACH)
        if token.tag == "CC" and any(all(other.tag not in ("EN", "QT") for other in run) for run in near):
            return index
        if index in starts:
            return None
    return len(tokens)


def _inside_list(sentence: SentenceDraft, comma: int) -> bool:
    """A comma between nouns of a list: after it no verb comes, but an ``and`` or ``or`` does."""
    joint = False
    for token in sentence.tokens[comma + 1 :]:
        if token.tag in ("EN", "QT"):
            break
        if token.tag in VERBS or token.tag in ("SC", "WP", "PRS", "TO"):
            return False
        joint = joint or token.low in ("and", "or")
    return joint


def change_tense(sentence: SentenceDraft, group: VerbGroup, wanted: str) -> None:
    """Puts a group and what *and* joins to it into ``past``, ``future`` or ``present``; "" leaves them."""
    passive = len(group.chain) > 1 and sentence.tokens[group.chain[-2]].full in BE
    joined = sentence.conjuncts(group) if wanted and not passive else []
    conditional = sentence.tokens.at(group.start - 1).low in word_class("conditions")
    if wanted == "past":
        _to_past(sentence, group)
    elif wanted == "present" or (wanted and conditional):
        _to_present(sentence, group)
    elif wanted == "future":
        group.straighten()
        _to_future(sentence, group)
    for verb in joined:
        if wanted == "future":
            sentence.inflect(verb, "VB")
        elif wanted == "past" and not (verb.tag == "VB" and _after_modal(sentence, verb)):
            sentence.inflect(verb, "VBD")
        elif wanted == "present" and verb.tag == "VBD":
            sentence.rewrite(verb, agree(verb.lemma, "VBP", _person(group)), "VBP")


def _after_modal(sentence: SentenceDraft, verb: Token) -> bool:
    """Whether the verb still hangs on a modal, a form of do, or an infinitive before it."""
    index = sentence.tokens.where(verb)
    last = next((group for group in reversed(sentence.groups()) if group.main < index), None)
    if last is None:
        return False
    supported = len(last.chain) > 1 and last.verb.low in DO
    return last.kind in ("infinitive", "bare") or last.verb.tag == "MD" or supported


def _person(group: VerbGroup) -> str:
    subject = group.said_of
    if subject and subject[0].tag == "EX" and group.main + 1 < len(group.tokens):
        following = group.tokens[group.main + 1 : group.main + 5]
        return "they" if any(token.tag == "NNS" for token in following) else "he"
    return person_of(subject)


def _to_past(sentence: SentenceDraft, group: VerbGroup) -> None:
    verb, low, alone = group.verb, group.verb.full, len(group.chain) == 1
    if low in BE or (low == "'s" and not group.perfect):
        sentence.rewrite(verb, agree("be", "VBD", _person(group)))
    elif low in DO and not alone:
        sentence.rewrite(verb, "did")
    elif (low in HAVE or low == "'s") and not alone:
        if low != "had":
            _drop_auxiliary(sentence, group)
    elif verb.tag == "MD" or low == "will" or group.would:
        _past_modal(sentence, group)
    elif verb.tag != "VBD":
        sentence.rewrite(verb, verb.form("VBD"), "AX" if verb.tag == "AX" else "VBD")


def _past_modal(sentence: SentenceDraft, group: VerbGroup) -> None:
    verb, second = group.verb, group.second
    low = "would" if verb.low == "'d" else verb.full
    plain = not group.inverted and not group.negations
    if low in ("will", "shall") and plain:
        _drop_auxiliary(sentence, group)
    elif low in ("will", "shall"):
        if second.low == "be":
            raise RealisationError("unsupported-edit", "will be not has no simple past here")
        sentence.rewrite(verb, "did", "AX")
    elif low == "can":
        sentence.rewrite(verb, "could")
    elif low == "must" and plain and second is not EDGE:
        sentence.rewrite(verb, "had", "AX")
        sentence.insert(sentence.tokens.where(verb) + 1, Token("to", "TO"))
    elif low in _MODALS and second.tag == "VB" and second.low != "have":
        sentence.inflect(second, "VBN")
        sentence.insert(sentence.tokens.where(second), Token("have", "VB"))


def _drop_auxiliary(sentence: SentenceDraft, group: VerbGroup) -> None:
    """``have seen``: ``saw``; with not or before the subject ``did`` takes its place."""
    verb, second, lemma = group.verb, group.second, group.second.lemma
    if lemma == "be":
        sentence.tokens.remove(second)
        sentence.rewrite(verb, agree("be", "VBD", _person(group)), "AX")
    elif group.negations or group.inverted:
        sentence.rewrite(verb, "did", "AX")
        sentence.inflect(second, "VB")
    elif second is not EDGE:
        sentence.tokens.remove(verb)
        sentence.inflect(second, "VBD")
        second.initial = second.initial or verb.initial


def _to_future(sentence: SentenceDraft, group: VerbGroup) -> None:
    tokens, verb, second = sentence.tokens, group.verb, group.second
    low = verb.full
    contracted = any(tokens[index].low == "n't" for index in group.negations)
    will = "wo" if contracted else "will"
    if verb.tag == "MD" or group.would:
        modal = _PRESENT_MODAL.get("would" if low == "'d" else low)
        if modal is not None:
            sentence.rewrite(verb, (before_nt(modal) if contracted else None) or modal)
        if second.low == "have" and len(group.chain) > 2:
            participle = tokens[group.chain[2]]
            sentence.inflect(participle, "VB")
            tokens.remove(second)
    elif second is not EDGE and (low in DO | HAVE or group.perfect):
        sentence.rewrite(verb, will if low in DO else "will", "MD")
        if low not in DO:
            sentence.inflect(second, "VB")
    elif verb.is_be:
        sentence.rewrite(verb, will, "MD")
        last = group.subject[1] if group.inverted and group.subject else group.first + 1
        sentence.insert(max([last, *(index + 1 for index in group.negations)]), Token("be", "VB"))
    else:
        adverbs = max(tokens.back(group.first, ("RB",)), group.subject[1] if group.subject else group.first)
        sentence.inflect(verb, "VB")
        sentence.insert(min(adverbs, group.first), Token("will", "MD"))


def _to_present(sentence: SentenceDraft, group: VerbGroup) -> None:
    verb, low, person = group.verb, group.verb.full, _person(group)
    if low in _PRESENT_OF_PAST or (low == "did" and len(group.chain) > 1):
        sentence.rewrite(verb, agree(_PRESENT_OF_PAST.get(low, "do"), "VBP", person))
    elif low == "could":
        sentence.rewrite(verb, "can")
    elif verb.tag == "VBD":
        sentence.rewrite(verb, agree(verb.lemma, "VBP", person), "VBP")

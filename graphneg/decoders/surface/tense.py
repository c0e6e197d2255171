"""Times and tenses: ``yesterday`` at the clause's end, and the verb that fits it.

In: a node that says when (``set_time``), or one whose clause is to be dated (``add_time``), and a new time's
concept. The finite verb of the clause changes its tense where the two would clash, and so does what *and*
joins to it.
"""

from __future__ import annotations

from graphneg.decoders.surface.agreement import person_of
from graphneg.decoders.surface.clauses import Group, straighten
from graphneg.decoders.surface.draft import EDGE, Token
from graphneg.decoders.surface.forms import BE, DO, HAVE, agree, verb_form
from graphneg.decoders.surface.lexical import set_concept
from graphneg.decoders.surface.refusals import refuse
from graphneg.decoders.surface.sentence import RealisationError, Sentence
from graphneg.english.noun_kinds import lexeme
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import word_class

PAST = frozenset({"yesterday", "ago", "before", "once", "last"})
FUTURE = frozenset({"tomorrow", "soon", "later", "next"})
PRESENT = frozenset({"now", "nowadays"})
TENSES = {
    **dict.fromkeys(PAST, "past"),
    **dict.fromkeys(FUTURE, "future"),
    **dict.fromkeys(PRESENT, "present"),
}
_PRESENT_MODAL = {"could": "can", "would": "will"}
_STEMS = {"can": "ca", "will": "wo"}
_MODALS = frozenset({"may", "might", "should", "must", "would", "could"})
_PRESENT_OF_PAST = {"was": "be", "were": "be", "had": "have"}
_STARTS = frozenset({"EN", "QT", "PU", "CC", "SC", "UH"})
_JOIN_REACH = 3


def set_time(sentence: Sentence, k: int, concept: str) -> None:
    """Replaces a time word, and the tense of the verb it goes with where the two would clash."""
    word, index, up = lexeme(concept), sentence.head(k), sentence.node(k).up
    # What happens then stands above a time word and the date or night that it is a part of.
    while up is not None and (sentence.node(up).role == "time" or sentence.node(up).concept == "date-entity"):
        up = sentence.node(up).up
    group = sentence.predicate(up) if up is not None else None
    if group is None or group.kind != "finite":
        group = sentence.finite_before(index) or group
    refuse("set-time", sentence.tokens, index, word=word, tense=TENSES.get(word, ""))
    set_concept(sentence, k, concept)
    if group is not None and word in PAST | FUTURE and group.kind == "finite":
        change_tense(sentence, group, TENSES[word])


def add_time(sentence: Sentence, k: int, concept: str) -> None:
    """Adds a time word to the clause that ``k`` heads, and fits the tense.

    Raises:
        RealisationError: ``unclear-clause``, the node heads no finite clause.
    """
    word, tokens = lexeme(concept), sentence.tokens
    if any(token.low == word for token in tokens):
        raise RealisationError("unchanged", f"the utterance says {word} already")
    group = sentence.finite(sentence.predicate(k))
    if group is None or not group.is_main:
        raise RealisationError("unclear-clause", f"{sentence.node(k).label} heads no finite clause")
    main = tokens[group.main]
    start, end = sentence.sentence_bounds(group.main)
    refuse(
        "add-time",
        tokens,
        group.main,
        tense=TENSES.get(word, ""),
        kind=group.kind,
        asks_later=not group.inverted and any(token.text == "?" for token in tokens[group.main : end]),
        since=any(token.low == "since" for token in tokens[start:end]),
        before=tokens.at(group.subject[0] - 1) if group.subject else EDGE,
        dated=_is_dated(tokens[group.main : end]),
    )
    if group.kind == "finite":
        change_tense(sentence, group, TENSES.get(word, ""))
    end = _clause_end(sentence, tokens.where(main))
    subject = group.subject[0] if group.subject and not group.inverted else None
    opens = subject is not None and (subject == 0 or tokens[subject - 1].tag in _STARTS)
    if subject is not None and opens and (end is None or _before_relative(sentence, end)):
        end = subject
    if end is None and group.quotative and group.subject is not None:
        end = group.subject[1]
    if end is None:
        raise RealisationError("unclear-clause", "no place for a time word")
    sentence.insert(end, *[Token(part, "RB") for part in word.split(" ")])


def _is_dated(tokens: list[Token]) -> bool:
    """``She moved when she was ten``: a clause in the past that says when."""
    first = next((index for index, token in enumerate(tokens) if token.low in ("when", "while")), len(tokens))
    return any(token.low in ("was", "were") or token.tag == "VBD" for token in tokens[first:])


def _before_relative(sentence: Sentence, index: int) -> bool:
    """Between a noun and its relative clause there is no room for a time word."""
    relative = sentence.tokens.at(index).low in ("who", "whom", "which", "that", "where")
    return relative and sentence.tokens.at(index - 1).tag in (*NOUNS, "PN")


def _clause_end(sentence: Sentence, main: int) -> int | None:
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


def _inside_list(sentence: Sentence, comma: int) -> bool:
    """A comma between nouns of a list: after it no verb comes, but an ``and`` or ``or`` does."""
    joint = False
    for token in sentence.tokens[comma + 1 :]:
        if token.tag in ("EN", "QT"):
            break
        if token.tag in VERBS or token.tag in ("SC", "WP", "PRS", "TO"):
            return False
        joint = joint or token.low in ("and", "or")
    return joint


def change_tense(sentence: Sentence, group: Group, wanted: str) -> None:
    """Puts a finite verb group into the ``past``, ``future`` or ``present``; "" leaves it."""
    passive = len(group.chain) > 1 and sentence.tokens[group.chain[-2]].full in BE
    joined = sentence.conjuncts(group) if wanted and not passive else []
    conditional = sentence.tokens.at(group.start - 1).low in word_class("conditions")
    if wanted == "past":
        _to_past(sentence, group)
    elif wanted == "present" or (wanted and conditional):
        _to_present(sentence, group)
    elif wanted == "future":
        straighten(group)
        _to_future(sentence, group)
    for verb in joined:
        _follow(sentence, verb, wanted, _person(sentence, group))


def _follow(sentence: Sentence, verb: Token, wanted: str, person: str) -> None:
    if wanted == "future":
        sentence.rewrite(verb, verb_form(verb.lemma, "VB"), "VB")
    elif wanted == "past" and not (verb.tag == "VB" and _after_modal(sentence, verb)):
        sentence.rewrite(verb, verb_form(verb.lemma, "VBD"), "VBD")
    elif wanted == "present" and verb.tag == "VBD":
        sentence.rewrite(verb, agree(verb.lemma, "VBP", person), "VBP")


def _after_modal(sentence: Sentence, verb: Token) -> bool:
    """Whether the verb still hangs on a modal, a form of do, or an infinitive before it."""
    before = [group for group in sentence.groups() if group.main < sentence.tokens.where(verb)]
    if not before:
        return False
    last, first = before[-1], sentence.tokens[before[-1].first]
    supported = len(last.chain) > 1 and first.low in DO
    return last.kind in ("infinitive", "bare") or first.tag == "MD" or supported


def _person(sentence: Sentence, group: Group) -> str:
    subject = group.said_of
    if subject and subject[0].tag == "EX" and group.main + 1 < len(sentence.tokens):
        following = sentence.tokens[group.main + 1 : group.main + 5]
        return "they" if any(token.tag == "NNS" for token in following) else "he"
    return person_of(subject)


def _second(sentence: Sentence, group: Group) -> Token | None:
    """The verb that the first one of a group governs."""
    return sentence.tokens[group.chain[1]] if len(group.chain) > 1 else None


def _is_perfect(sentence: Sentence, group: Group) -> bool:
    second = _second(sentence, group)
    return second is not None and second.low in ("been", "got", "had", "become", "seen")


def _is_would(sentence: Sentence, group: Group) -> bool:
    """``'d`` before a plain verb form is would, before a participle had."""
    second = _second(sentence, group)
    return group.verb.low == "'d" and second is not None and second.tag == "VB"


def _to_past(sentence: Sentence, group: Group) -> None:
    verb = group.verb
    low, alone = verb.full, len(group.chain) == 1
    if _is_would(sentence, group):
        _past_modal(sentence, group)
    elif low in BE or (low == "'s" and not _is_perfect(sentence, group)):
        sentence.rewrite(verb, agree("be", "VBD", _person(sentence, group)))
    elif low in DO and not alone:
        sentence.rewrite(verb, "did")
    elif (low in HAVE or low == "'s") and not alone:
        if low != "had":
            _drop_auxiliary(sentence, group)
    elif verb.tag == "MD" or low == "will":
        _past_modal(sentence, group)
    elif verb.tag != "VBD":
        sentence.rewrite(verb, verb_form(verb.lemma, "VBD"), "AX" if verb.tag == "AX" else "VBD")


def _past_modal(sentence: Sentence, group: Group) -> None:
    verb, main = group.verb, _second(sentence, group)
    low = "would" if verb.low == "'d" else verb.full
    plain = not group.inverted and not group.negations
    if low in ("will", "shall") and plain:
        _drop_auxiliary(sentence, group)
    elif low in ("will", "shall"):
        if main is not None and main.low == "be":
            raise RealisationError("unsupported-edit", "will be not has no simple past here")
        sentence.rewrite(verb, "did", "AX")
    elif low == "can":
        sentence.rewrite(verb, "could")
    elif low == "must" and plain and main is not None:
        sentence.rewrite(verb, "had", "AX")
        sentence.insert(sentence.tokens.where(verb) + 1, Token("to", "TO"))
    elif low in _MODALS and main is not None and main.tag == "VB" and main.low != "have":
        sentence.rewrite(main, verb_form(main.lemma, "VBN"), "VBN")
        sentence.insert(sentence.tokens.where(main), Token("have", "VB"))


def _drop_auxiliary(sentence: Sentence, group: Group) -> None:
    """``have seen``: ``saw``; with not or before the subject ``did`` takes its place."""
    verb, main = group.verb, _second(sentence, group)
    if main is None:
        return
    lemma, initial = main.lemma, verb.initial
    if lemma == "be":
        sentence.tokens.remove(main)
        sentence.rewrite(verb, agree("be", "VBD", _person(sentence, group)), "AX")
    elif group.negations or group.inverted:
        sentence.rewrite(verb, "did", "AX")
        sentence.rewrite(main, verb_form(lemma, "VB"), "VB")
    else:
        sentence.tokens.remove(verb)
        sentence.rewrite(main, verb_form(lemma, "VBD"), "VBD")
        main.initial = main.initial or initial


def _to_future(sentence: Sentence, group: Group) -> None:
    tokens = sentence.tokens
    verb, main = tokens[group.first], _second(sentence, group)
    low = verb.full
    contracted = any(tokens[index].low == "n't" for index in group.negations)
    will = "wo" if contracted else "will"
    if verb.tag == "MD" or _is_would(sentence, group):
        modal = _PRESENT_MODAL.get("would" if low == "'d" else low)
        if modal is not None:
            sentence.rewrite(verb, _STEMS[modal] if contracted else modal)
        if main is not None and main.low == "have" and len(group.chain) > 2:
            participle = tokens[group.chain[2]]
            sentence.rewrite(participle, verb_form(participle.lemma, "VB"), "VB")
            tokens.remove(main)
    elif main is not None and (low in DO | HAVE or _is_perfect(sentence, group)):
        sentence.rewrite(verb, will if low in DO else "will", "MD")
        if low not in DO:
            sentence.rewrite(main, verb_form(main.lemma, "VB"), "VB")
    elif verb.is_be:
        sentence.rewrite(verb, will, "MD")
        last = group.subject[1] if group.inverted and group.subject else group.first + 1
        sentence.insert(max([last, *(index + 1 for index in group.negations)]), Token("be", "VB"))
    else:
        adverbs = max(tokens.back(group.first, ("RB",)), group.subject[1] if group.subject else group.first)
        sentence.rewrite(verb, verb_form(verb.lemma, "VB"), "VB")
        sentence.insert(min(adverbs, group.first), Token("will", "MD"))


def _to_present(sentence: Sentence, group: Group) -> None:
    verb = group.verb
    low, person = verb.full, _person(sentence, group)
    if low in _PRESENT_OF_PAST or (low == "did" and len(group.chain) > 1):
        sentence.rewrite(verb, agree(_PRESENT_OF_PAST.get(low, "do"), "VBP", person))
    elif low == "could":
        sentence.rewrite(verb, "can")
    elif verb.tag == "VBD":
        sentence.rewrite(verb, agree(verb.lemma, "VBP", person), "VBP")

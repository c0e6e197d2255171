"""``not`` in and out: do-support, contractions, negative words and prefixes.

In: a node whose clause is to be denied (``negate``), or the polarity constant that is to go (``affirm``).
The clause changes in place: ``I saw it`` to ``I did not see it``, ``a way`` to ``no way``, ``unsure`` to
``sure``.
"""

from __future__ import annotations

from graphneg.amr.concept_words import NEGATIVE_PREFIX
from graphneg.decoders.surface import negation_scope as scope
from graphneg.decoders.surface.agreement import inflect_finite
from graphneg.decoders.surface.clauses import VerbGroup
from graphneg.decoders.surface.draft import EDGE, Token
from graphneg.decoders.surface.forms import (
    DO,
    EXPANDED,
    HAVE,
    article,
    before_nt,
    may_be_bare,
    noun_form,
    verb_form,
)
from graphneg.decoders.surface.idioms import refuse_idiom
from graphneg.decoders.surface.sentence import RealisationError, SentenceDraft
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import readings, word_class, word_map

_INDEFINITE = frozenset({"a", "an", "some", "any"})
_UNIVERSAL = word_class("universal")
_DENIED = word_map("denied")
_DOUBTS = word_class("doubts")
_BEFORE_QUALITY = frozenset({"JJ", "RB", "NN", "DT", "VBN", "WP", "SC"})
_IN_PHRASE = ("JJ", "RB", "CD", "VBN", "VBG", *NOUNS)


def negate(sentence: SentenceDraft, k: int) -> None:
    """Denies the clause that ``k`` heads, or raises ``unclear-clause`` or ``already-negative``."""
    group = sentence.predicate(k)
    # What is denied of going to need, have to go is the verb before.
    if group is not None and group.to and sentence.tokens[group.to - 1].low in word_class("before-to"):
        group = sentence.finite(group) or group
    if group is None:
        if not _negate_phrase(sentence, k):
            raise RealisationError("unclear-clause", f"no clause found for {sentence.node(k).label}")
        return
    refuse_idiom(sentence, group.main)
    scope.refuse_undeniable(sentence, group, sentence.node(k).label)
    scope.refuse_answer(sentence, group.first)
    if _deny_subject(sentence, group):
        return
    _leave_doubt_out(sentence, group)
    scope.to_negative(sentence, group)
    _plain_order(sentence, group)
    # Did not go home but watched: what `and` joins stays affirmed.
    for verb in sentence.conjuncts(group)[:1] if group.kind == "finite" and group.subject else ():
        index = sentence.tokens.where(verb)
        while index and sentence.tokens[index].low != "and":
            index -= 1
        if sentence.tokens[index + 1].low == "also":
            raise RealisationError("unclear-clause", "what and also joins would be half denied")
        if verb.tag in ("VBD", "VBZ", "VBP"):
            sentence.rewrite(sentence.tokens[index], "but", "CC")
    tag = scope.question_tag(sentence, group)
    if not scope.no_longer(sentence, group):
        _insert_not(sentence, group)
    if tag is not None and tag.negation is not None:
        scope.turn_tag(sentence, tag)


def _deny_subject(sentence: SentenceDraft, group: VerbGroup) -> bool:
    """``Not everybody likes tea``, ``nobody likes tea``: of some it is no denial that others do not."""
    tokens = sentence.tokens
    at, _ = sentence.sentence_bounds(group.first)
    if tokens[at].low == "some" and tokens.at(at + 1).low == "of":
        is_first = all(other.first >= group.first for other in sentence.groups() if other.first > at)
        if is_first:
            sentence.rewrite(tokens[at], "none")
        return is_first
    if group.subject is None or group.kind != "finite":
        return False
    subject = tokens[group.subject[0]]
    if subject.low in _UNIVERSAL:
        sentence.insert(group.subject[0], Token("not", "NEG"))
        return True
    if (denied := _DENIED.get(subject.low)) is not None:
        sentence.rewrite(subject, denied)
    return denied is not None


def _leave_doubt_out(sentence: SentenceDraft, group: VerbGroup) -> None:
    """``Maybe I saw it``, which ``maybe I did not see it`` does not deny. Raises ``unclear-clause``
    where such a word would stay."""
    start, tokens = group.start, sentence.tokens
    for index in (group.first - 1, start - 1):
        if group.kind == "finite" and tokens.at(index).low in _DOUBTS and not group.inverted:
            sentence.cut(index, index + 1)
            group.chain[:] = [verb - (verb > index) for verb in group.chain]
            if group.subject:
                first, end = group.subject
                group.subject = (first - (first > index), end - (end > index))
            return
    for token in tokens[sentence.sentence_bounds(start)[0] : start]:
        if token.low in _DOUBTS:
            raise RealisationError("unclear-clause", f"{token.text} would stay")


def _plain_order(sentence: SentenceDraft, group: VerbGroup) -> None:
    """``How beautiful you are``: the words asked about go back behind the verb."""
    tokens = sentence.tokens
    if group.subject is None or group.inverted or group.kind != "finite" or not tokens[group.main].is_be:
        return
    end = start = group.subject[0]
    while tokens.at(start - 1).tag in _BEFORE_QUALITY and tokens.at(start).low != "how":
        start -= 1
    moved = tokens[start + 1 : end]
    if not moved or tokens[start].low != "how" or moved[-1].tag not in ("JJ", "VBN"):
        return
    opened, shift = tokens[start].initial, end - start
    tokens[group.main + 1 : group.main + 1] = moved
    sentence.cut(start, end)
    group.chain = [index - shift for index in group.chain]
    group.subject = (group.subject[0] - shift, group.subject[1] - shift)
    tokens[start].initial = tokens[start].initial and opened


def _insert_not(sentence: SentenceDraft, group: VerbGroup) -> None:
    group.straighten()
    verb, tokens = group.verb, sentence.tokens
    exists = group.subject is not None and tokens[group.subject[0]].tag == "EX"
    determiner = tokens.at(max(group.main + 1, group.subject[1])) if exists and group.subject else EDGE
    if group.kind == "imperative":
        _negate_imperative(sentence, group)
    elif group.kind != "finite":
        doer = tokens.at(tokens.back(group.first, ("RB",)) - 1)
        if group.to is None and doer.low in ("i", "he", "she", "we", "they"):  # I always meant to
            raise RealisationError("unclear-clause", f"{verb.text} may be no participle")
        sentence.insert(group.to if group.to is not None else group.first, Token("not", "NEG"))
    elif determiner.low in _INDEFINITE:  # there is a way: there is no way
        sentence.rewrite(determiner, "no", "DT")
    elif (
        verb.tag == "MD"
        or verb.is_be
        or verb.low == "'d"
        or (verb.full in DO and tokens.at(group.main + 1).tag in ("EN", "PU"))  # Yes, I do.
        or (verb.full in HAVE | DO and len(group.chain) > 1)
    ):
        _add_negation(sentence, verb, group)
    else:
        _support_by_do(sentence, group)


def _support_by_do(sentence: SentenceDraft, group: VerbGroup) -> None:
    """``I always saw it``: ``I did not always see it``."""
    verb, index, lemma, subject = group.verb, group.first, group.verb.lemma, group.said_of
    tag = verb.tense
    if verb.low == lemma == verb_form(lemma, "VBD"):
        # Put and read show no tense: the subject tells a third person, else the text's past does.
        third = subject and (subject[-1].low in ("he", "she", "it") or subject[-1].tag in ("NN", "NNP"))
        others = [token for token in sentence.tokens if token is not verb]
        past = any(token.tag == "VBD" or token.low in ("was", "were", "had", "did") for token in others)
        tag = "VBD" if third or past else "VBP"
    support, outside = Token(verb_form("do", tag), "AX"), word_class("outside-not")
    # Some adverbs stand before a negation, not behind it: it obviously does not depend on that.
    first = group.subject[1] if group.subject else index
    inner = [token.tag == "RB" and token.low not in outside for token in sentence.tokens[first:index]]
    while inner and inner.pop():
        index -= 1
    sentence.inflect(verb, "VB")
    sentence.insert(index, support)
    _add_negation(sentence, support, None)


def _add_negation(sentence: SentenceDraft, verb: Token, group: VerbGroup | None) -> None:
    """Puts not or n't after a finite verb, as the text writes it elsewhere; before the subject only n't."""
    second = group.second if group is not None else EDGE
    subject_end = group.subject[1] if group is not None and group.inverted and group.subject else None
    perfect = second.low == "have" and group is not None and len(group.chain) > 2
    would = "had" if second.tag == "VBN" else "would"
    full = {"'ve": "have", "'ll": "will", "'d": would, "must": "can" if perfect else "must"}.get(verb.low)
    if verb.low in ("may", "might") and group is not None and subject_end is None:
        full = _sure(sentence, group)
    if full is not None:  # what must have been, can't have been
        sentence.rewrite(verb, full)
    if verb.low == "can" and not sentence.contracts and not sentence.tokenised and subject_end is None:
        sentence.rewrite(verb, "cannot")
        return
    stem = before_nt(verb.text) if sentence.contracts and verb.low != "'s" else None
    if stem is not None:
        sentence.rewrite(verb, stem)
    after = sentence.tokens.where(verb) + 1
    index = after if stem is not None or subject_end is None else subject_end
    sentence.insert(index, Token("not" if stem is None else "n't", "NEG"))


def _sure(sentence: SentenceDraft, group: VerbGroup) -> str | None:
    """What denies may and might, since what might not be so may also be so: *will not* of what may happen,
    *cannot* of what may be or have been. What one may do, *you may see it*, is denied by *may not*."""
    tokens, main = sentence.tokens, sentence.tokens[group.main]
    low = tokens[group.subject[0]].low if group.subject else ""
    state = main.is_be or (group.second.is_be and main.tag != "VBG")
    state = state and tokens.at(group.main + 1).low not in word_class("no-cannot")
    if state or (group.second.full == "have" and len(group.chain) > 2):
        return "can"
    if group.verb.low == "may" and low in ("you", "i", "we") and main.lemma not in word_class("states"):
        return None
    past = any(token.tag == "VBD" for token in tokens[: group.first])
    return "would" if past else "will"


def _negate_imperative(sentence: SentenceDraft, group: VerbGroup) -> None:
    tokens, index = sentence.tokens, group.first
    start, _ = sentence.sentence_bounds(index)
    continued = any(token.tag in VERBS for token in tokens[start:index])
    sentence.refuse("negative-order", index, continued=continued)
    if tokens[index].low == "let" and tokens.at(index + 1).low in ("'s", "us"):
        sentence.insert(index + 2, Token("not", "NEG"))
        return
    while tokens.at(index - 1).low in ("always", "just", "only"):
        index -= 1
    sentence.insert(index, Token("do", "AX"), Token("n't" if sentence.contracts else "not", "NEG"))


def _negate_phrase(sentence: SentenceDraft, k: int) -> bool:
    """``a way``: ``no way``; without a verb ``A queer idea!`` becomes ``Not a queer idea!``."""
    tokens, indices, inner = sentence.tokens, sentence.indices(k), sentence.subtree_indices(k)
    if indices and sentence.is_noun(indices[0]):
        start, _ = sentence.noun_phrase(indices[0])
        before = tokens.at(start - 1)
        if before.low not in ("what", "such", "not"):
            if before.is_be:
                sentence.insert(start, Token("not", "NEG"))
                return True
            if tokens[start].low in _INDEFINITE:
                sentence.rewrite(tokens[start], "no", "DT")
                return True
    if not inner or any(child.value == "expressive" for child in sentence.graph.children(k)):
        return False
    start, end = sentence.sentence_bounds(min(inner))
    clause = any(start <= group.main < end for group in sentence.groups() if group.is_main)
    start = min(end, tokens.over(start, ("QT", "PU", "CC", "UH")))
    first = tokens.at(start)
    negative = first.low in scope.NEGATIVE_WORDS | {"not"}
    verbal = first.tag in ("WP", "VBZ", "VBP", "VBD") or first.low in word_class("bare-verbs") | _DOUBTS
    if clause or start >= end or negative or verbal:
        return False
    refuse_idiom(sentence, start)
    sentence.insert(start, Token("not", "NEG"))
    return True


def affirm(sentence: SentenceDraft, k: int) -> None:
    """Takes away the negation of the polarity constant ``k``; raises ``no-alignment`` where none is found."""
    parent = sentence.node(k).up
    indices = sentence.indices(k)
    group = sentence.predicate(parent) if parent is not None else None
    negations = [*indices[:1], *(group.negations[:1] if group is not None else [])]
    if negations:
        refuse_idiom(sentence, negations[0])
        scope.refuse_answer(sentence, negations[0])
        scope.refuse_set_phrase(sentence, negations[0], group)
    tag = scope.question_tag(sentence, group) if group is not None else None
    if indices and sentence.tokens[indices[0]].low in ("not", "n't"):
        own = (other for other in sentence.groups() if indices[0] in other.negations)
        _remove_not(sentence, indices[0], next(own, group))
    elif indices:
        _make_positive(sentence, indices[0], parent)
    elif group is not None and group.negations:
        _remove_not(sentence, group.negations[0], group)
    elif group is not None and (index := _negative_word(sentence, group)) is not None:
        _make_positive(sentence, index, parent)
    else:
        raise RealisationError("no-alignment", "no negative word was found")
    if tag is not None and tag.negation is None:
        scope.turn_tag(sentence, tag)


def _negative_word(sentence: SentenceDraft, group: VerbGroup) -> int | None:
    """A negative word, or one with a negative prefix, in the clause of a verb group."""
    start = group.subject[0] if group.subject else group.first
    for index, token in enumerate(sentence.tokens[start:], start):
        if token.tag in ("EN", "SC", "WP"):
            return None
        prefixed = NEGATIVE_PREFIX.match(token.low) and token.tag in ("JJ", "RB", "VBN", "VBD")
        if token.low in scope.NEGATIVE_WORDS or (prefixed and readings(NEGATIVE_PREFIX.sub("", token.low))):
            return index
    return None


def _remove_not(sentence: SentenceDraft, index: int, group: VerbGroup | None) -> None:
    tokens, negation = sentence.tokens, sentence.tokens[index]
    inside = group is not None and index in group.negations
    verb, main = (group.verb, tokens[group.main]) if group is not None else (EDGE, EDGE)
    scope.and_for_but(sentence, index, group if inside else None)
    tokens.remove(negation)
    if group is not None:
        scope.to_affirmative(sentence, min(group.main, len(tokens) - 1))
    if group is None or not inside:
        verb = tokens.at(index - 1)
    if verb.low in EXPANDED:
        sentence.rewrite(verb, EXPANDED[verb.low])
    supported = inside and verb.low in DO and main is not verb and main.tag in ("VB", "VBP")
    if supported and group is not None and not group.inverted:
        tag = "VB" if group.kind == "imperative" else verb.tense
        tokens.remove(verb)
        sentence.inflect(main, tag)
        main.initial = main.initial or (verb.initial and main.capital)


def _make_positive(sentence: SentenceDraft, index: int, parent: int | None) -> None:
    """Puts what is affirmed in the place of a negative word."""
    token, following = sentence.tokens[index], sentence.tokens.at(index + 1)
    if token.low in ("never", "hardly", "scarcely", "rarely", "seldom"):
        sentence.cut(index, index + 1)
    elif token.low == "no" and following.text:
        _positive_determiner(sentence, index, following)
    elif token.low == "without" and following.tag == "VBG":
        sentence.rewrite(token, "while", "SC")
    elif token.low == "nor":
        raise RealisationError("unclear-clause", "nor can't be undone alone")
    elif token.low in scope.POSITIVE:
        for other in sentence.tokens[index:] if token.low == "neither" else ():
            if other.low == "nor":
                sentence.rewrite(other, "and")
        _positive_quantity(sentence, token, following)
    else:
        concept = sentence.node(parent).label if parent is not None else ""
        sentence.rewrite(token, _without_prefix(token.text, concept))
    scope.to_affirmative(sentence, index)


def _positive_quantity(sentence: SentenceDraft, token: Token, following: Token) -> None:
    """Write "both boys are" for "neither boy is", "some of them are" for "none of them is"."""
    both = token.low == "neither"
    several = both or following.low == "of"
    sentence.rewrite(token, scope.POSITIVE[token.low])
    second = sentence.tokens.at(sentence.tokens.where(token) + 2)
    if both and following.tag == "NN" and second.low not in ("and", "nor"):
        sentence.rewrite(following, noun_form(following.low, "NNS"), "NNS")
    tokens, index = sentence.tokens, sentence.tokens.where(token)
    behind = tokens[index + 2 : index + 6] if following.low == "of" else []
    counted = any(
        other.low in ("them", "us", "you", "these", "those") or other.tag == "NNS" for other in behind
    )
    after = (group for group in sentence.groups() if group.first > index and group.kind == "finite")
    group = next(after, None)
    if group is None or group.inverted or not (both or (several and counted)):
        return
    if group.subject is None or group.subject[0] <= index + 2:
        inflect_finite(sentence, group, "they")


def _positive_determiner(sentence: SentenceDraft, index: int, following: Token) -> None:
    """``no longer``, ``no one``, ``no water``, ``no wigs``, ``no wig``."""
    tokens, token = sentence.tokens, sentence.tokens[index]
    if following.low in ("longer", "one"):
        sentence.cut(index + 1, index + 2)
        still = following.low == "longer"
        sentence.rewrite(token, "still" if still else "someone", "RB" if still else "PN")
        return
    if following.low in ("more", "less") or following.tag in ("PU", "EN"):
        raise RealisationError("unclear-clause", f"no {following.low} can't be undone")
    end = index + 1
    while end < len(tokens):  # no right or wrong answers
        after = tokens[end + 1].tag if end + 1 < len(tokens) else ""
        described = not sentence.is_noun(end - 1) and after in _IN_PHRASE
        joins = tokens[end].low in ("or", "and") and (described or after == "JJ")
        if not joins and tokens[end].tag not in _IN_PHRASE:
            break
        end += 1
    head = tokens[end - 1]
    plural = head.tag == "NNS" or tokens.at(index - 1).low in ("are", "were", "'re")
    if not plural and (tokens.at(index - 1).low == "of" or may_be_bare(head.low)):
        sentence.cut(index, index + 1)
    else:
        sentence.rewrite(token, "some" if plural else article(following.text), "DT")


def _without_prefix(word: str, concept: str) -> str:
    low = word.lower()
    for prefix in ("un", "in", "im", "ir", "il", "dis", "non-", "non"):
        rest = low[len(prefix) :]
        if low.startswith(prefix) and len(rest) > 2 and (readings(rest) or concept.startswith(rest[:4])):
            return rest
    if low.endswith("less") and readings(low[:-4] + "ful"):
        return low[:-4] + "ful"
    raise RealisationError("unsupported-edit", f"the negative word {word} has no positive form")

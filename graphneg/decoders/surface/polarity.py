"""``not`` in and out: do-support, contractions, ``some`` and ``any``, negative words and prefixes."""

from __future__ import annotations

from graphneg.amr.concept_words import NEGATIVE_PREFIX
from graphneg.decoders.surface import negation_scope as negative_items
from graphneg.decoders.surface.clauses import Group, straighten
from graphneg.decoders.surface.draft import Token, new
from graphneg.decoders.surface.forms import (
    BE,
    CONTRACTED,
    DO,
    EXPANDED,
    HAVE,
    NEVER_CONTRACTED,
    article,
    finite_tag,
    may_be_bare,
    verb_form,
)
from graphneg.decoders.surface.negation_scope import (
    NEGATIVE_WORDS,
    denied_group,
    question_tag,
    refuse_answer,
    refuse_undeniable,
    turn_tag,
)
from graphneg.decoders.surface.sentence import RealisationError, Sentence
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import readings

_CALLS = frozenset(
    {("let", "me"), ("come", "on"), ("look", "out"), ("watch", "out"), ("hold", "on"), ("hang", "on")}
)
_SUBJECTS = frozenset({"i", "he", "she", "we", "they"})
_OUTSIDE_NOT = negative_items.OUTSIDE_NOT


def negate(sentence: Sentence, k: int) -> None:
    """Makes the clause that node ``k`` heads negative.

    Raises:
        RealisationError: ``unclear-clause``, no clause or noun phrase can carry the negation, or
            ``already-negative``.
    """
    group = denied_group(sentence, sentence.predicate(k))
    if group is not None:
        refuse_undeniable(sentence, group, sentence.node(k).label)
        refuse_answer(sentence, group.first)
        negative_items.drop_also(sentence, group)
        negative_items.to_negative(sentence, group.first, group.main)
        _plain_order(sentence, group)
        _but_for_and(sentence, group)
        tag = question_tag(sentence, group)
        if not negative_items.no_longer(sentence, group):
            _insert_not(sentence, group)
        if tag is not None and tag.negation is not None:
            turn_tag(sentence, tag)
        return
    if not _negate_noun_phrase(sentence, k) and not _negate_fragment(sentence, k):
        raise RealisationError("unclear-clause", f"no clause found for {sentence.node(k).label}")


def _but_for_and(sentence: Sentence, group: Group) -> None:
    """``did not go home but watched``: what ``and`` joins stays affirmed."""
    if group.kind != "finite" or group.subject is None:
        return
    for verb in sentence.conjuncts(group)[:1]:
        index = sentence.tokens.where(verb)
        while index and sentence.tokens[index].low != "and":
            index -= 1
        if sentence.tokens[index + 1].low == "also":
            raise RealisationError("unclear-clause", "what and also joins would be half denied")
        if verb.tag in ("VBD", "VBZ", "VBP"):
            sentence.rewrite(sentence.tokens[index], "but", "CC")


def _plain_order(sentence: Sentence, group: Group) -> None:
    """``How beautiful you are``: the words asked about go back behind the verb."""
    tokens = sentence.tokens
    if group.subject is None or group.inverted or group.kind != "finite" or group.main + 1 > len(tokens):
        return
    end = start = group.subject[0]
    while start and tokens[start - 1].tag in ("JJ", "RB", "NN", "DT", "VBN", "WP", "SC"):
        start -= 1
        if tokens[start].low == "how":
            break
    if start == end or tokens[start].low != "how" or tokens[group.main].low not in BE | {"'s"}:
        return
    moved = tokens[start + 1 : end]
    if not moved or moved[-1].tag not in ("JJ", "VBN"):
        return
    opened = tokens[start].initial
    tokens[group.main + 1 : group.main + 1] = moved
    del tokens[start:end]
    shift = end - start
    group.chain = [index - shift for index in group.chain]
    group.subject = (group.subject[0] - shift, group.subject[1] - shift)
    tokens[start].initial = tokens[start].initial and opened


def _insert_not(sentence: Sentence, group: Group) -> None:
    tokens = sentence.tokens
    straighten(tokens, group)
    verb = tokens[group.first]
    if group.kind == "imperative":
        _negate_imperative(sentence, group)
    elif group.kind != "finite":
        _refuse_subject(sentence, group)
        sentence.insert(group.to if group.to is not None else group.first, new("not", "NEG"))
    elif _existential_no(sentence, group):
        return
    elif _takes_not(sentence, group):
        _add_negation(sentence, verb, group)
    else:
        tag = finite_tag(verb.text) if verb.tag not in ("VBD", "VBZ", "VBP") else verb.tag
        tag = _base_or_past(sentence, group, tag)
        index = _before_adverbs(sentence, group)
        sentence.rewrite(verb, verb_form(verb.lemma, "VB"), "VB")
        support = new(verb_form("do", tag), "AX")
        if verb.initial or tokens[index].initial:
            support.initial = False
        sentence.insert(index, support)
        _add_negation(sentence, support, None)


def _refuse_subject(sentence: Sentence, group: Group) -> None:
    """``I always meant to``: the verb's form is taken for a participle's, but somebody does it."""
    index = group.first - 1
    while index > 0 and sentence.tokens[index].tag == "RB":
        index -= 1
    if group.to is None and index >= 0 and sentence.tokens[index].low in _SUBJECTS:
        raise RealisationError("unclear-clause", f"{sentence.tokens[group.first].text} may be no participle")


def _base_or_past(sentence: Sentence, group: Group, tag: str) -> str:
    """``put`` and ``read`` show no tense: the subject tells a third person, else the text's past does."""
    verb = sentence.tokens[group.first]
    lemma = verb.lemma
    if verb.low != lemma or verb_form(lemma, "VBD") != lemma:
        return tag
    subject = sentence.tokens[group.subject[0] : group.subject[1]] if group.subject else []
    third = bool(subject) and (subject[-1].low in ("he", "she", "it") or subject[-1].tag in ("NN", "NNP"))
    past = any(
        token.tag == "VBD" or token.low in ("was", "were", "had", "did")
        for token in sentence.tokens
        if token is not verb
    )
    return "VBD" if third or past else "VBP"


def _takes_not(sentence: Sentence, group: Group) -> bool:
    verb = sentence.tokens[group.first]
    low = verb.full
    if verb.tag == "MD" or low in BE or low in ("'s", "'d"):
        return True
    following = sentence.tokens[group.main + 1 : group.main + 2]
    alone = low in DO and all(token.tag in ("EN", "PU") for token in following)  # Yes, I do.
    return alone or ((low in HAVE or low in DO or low == "'ve") and len(group.chain) > 1)


def _before_adverbs(sentence: Sentence, group: Group) -> int:
    index = group.first
    first = group.subject[1] if group.subject else index
    while (
        index > first and (token := sentence.tokens[index - 1]).tag == "RB" and token.low not in _OUTSIDE_NOT
    ):
        index -= 1
    return index


def _existential_no(sentence: Sentence, group: Group) -> bool:
    """``there is a way``: ``there is no way``."""
    tokens = sentence.tokens
    if not group.subject or tokens[group.subject[0]].tag != "EX" or group.main + 1 >= len(tokens):
        return False
    following = tokens[max(group.main, group.subject[1] - 1) + 1]
    if following.low in ("a", "an", "some", "any"):
        sentence.rewrite(following, "no", "DT")
        return True
    return False


def _add_negation(sentence: Sentence, verb: Token, group: Group | None) -> None:
    """Puts not or n't after a finite verb, as the text writes it elsewhere; before the subject only n't."""
    inverted = group is not None and group.inverted and group.subject is not None
    if verb.low == "'ve":
        sentence.rewrite(verb, "have")
    elif verb.low == "'ll":
        sentence.rewrite(verb, "will")
    elif verb.low == "must" and group is not None and _is_perfect(sentence, group):
        sentence.rewrite(verb, "can")  # what must have been, can't have been
    elif verb.low == "'d":
        follows = sentence.tokens[group.chain[1]].tag if group is not None and len(group.chain) > 1 else "VB"
        sentence.rewrite(verb, "had" if follows == "VBN" else "would")
    if verb.low == "can" and not sentence.contracts and not sentence.tokenised and not inverted:
        sentence.rewrite(verb, "cannot")
        return
    contract = sentence.contracts and verb.low not in NEVER_CONTRACTED and verb.low != "'s"
    if contract:
        sentence.rewrite(verb, CONTRACTED.get(verb.low, verb.text))
        sentence.insert(sentence.tokens.where(verb) + 1, new("n't", "NEG"))
    elif inverted and group is not None and group.subject is not None:
        sentence.insert(group.subject[1], new("not", "NEG"))
    else:
        sentence.insert(sentence.tokens.where(verb) + 1, new("not", "NEG"))


def _is_perfect(sentence: Sentence, group: Group) -> bool:
    return len(group.chain) > 2 and sentence.tokens[group.chain[1]].low == "have"


def _negate_imperative(sentence: Sentence, group: Group) -> None:
    verb = sentence.tokens[group.first]
    following = sentence.tokens[group.first + 1] if group.first + 1 < len(sentence.tokens) else None
    start, _ = sentence.sentence_bounds(group.first)
    before = sentence.tokens[start : group.first]
    if before and (before[-1].low in ("and", "or") or any(token.tag in VERBS for token in before)):
        raise RealisationError("unclear-clause", "the order goes on from another one")
    if (verb.low, following.low if following else "") in _CALLS:
        raise RealisationError(
            "unsupported-edit", f"{verb.text} {following.text if following else ''} is a call"
        )
    if verb.low == "let" and following is not None and following.low in ("'s", "us"):
        if any(token.low == "see" for token in sentence.tokens[group.first + 2 : group.first + 3]):
            raise RealisationError("unsupported-edit", "let's see is a call")
        sentence.insert(group.first + 2, new("not", "NEG"))
        return
    index = group.first
    while index and sentence.tokens[index - 1].low in ("always", "just", "only"):
        index -= 1
    support = new("do", "AX")
    sentence.insert(index, support, new("n't" if sentence.contracts else "not", "NEG"))


def _negate_noun_phrase(sentence: Sentence, k: int) -> bool:
    """``a way``: ``no way``. Only an indefinite phrase can take it."""
    indices = sentence.indices(k)
    if not indices or sentence.tokens[indices[0]].tag not in NOUNS:
        return False
    start, _ = sentence.noun_phrase(indices[0])
    first = sentence.tokens[start]
    before = sentence.tokens[start - 1] if start else None
    if before is not None and before.low in ("what", "such", "not"):
        return False
    if before is not None and (before.full in BE or before.low == "'s"):
        sentence.insert(start, new("not", "NEG"))
        return True
    if first.low in ("a", "an", "some", "any"):
        sentence.rewrite(first, "no", "DT")
        return True
    return False


def _negate_fragment(sentence: Sentence, k: int) -> bool:
    """A sentence without a verb: ``A queer idea!`` becomes ``Not a queer idea!``."""
    indices = [index for one in range(k, sentence.node(k).last + 1) for index in sentence.indices(one)]
    if not indices or any(child.value == "expressive" for child in sentence.graph.children(k)):
        return False
    start, end = sentence.sentence_bounds(min(indices))
    if any(
        start <= group.main < end and group.kind in ("finite", "imperative") for group in sentence.groups()
    ):
        return False
    while start < end and sentence.tokens[start].tag in ("QT", "PU", "CC", "UH"):
        start += 1
    if (
        start >= end
        or sentence.tokens[start].low in NEGATIVE_WORDS | {"not"}
        or sentence.tokens[start].tag in ("WP", "VBZ", "VBP", "VBD")
        or sentence.tokens[start].low in ("sounds", "looks", "seems", "feels", "smells", "tastes", "means")
    ):
        return False
    sentence.insert(start, new("not", "NEG"))
    return True


def affirm(sentence: Sentence, k: int) -> None:
    """Takes away the negation that the polarity constant ``k`` stands for.

    Raises:
        RealisationError: ``no-alignment``, no negative word was found.
    """
    parent = sentence.node(k).up
    indices = sentence.indices(k)
    group = sentence.predicate(parent) if parent is not None else None
    negation = (
        indices[0] if indices else group.negations[0] if group is not None and group.negations else None
    )
    if negation is not None:
        refuse_answer(sentence, negation)
        negative_items.refuse_set_phrase(sentence, negation)
    tag = question_tag(sentence, group) if group is not None else None
    if indices and sentence.tokens[indices[0]].low in ("not", "n't"):
        group = next((one for one in sentence.groups() if indices[0] in one.negations), group)
        _remove_not(sentence, indices[0], group)
    elif indices:
        _make_positive(sentence, indices[0], parent)
    elif group is not None and group.negations:
        _remove_not(sentence, group.negations[0], group)
    elif group is not None and (index := _negative_word(sentence, group)) is not None:
        _make_positive(sentence, index, parent)
    else:
        raise RealisationError("no-alignment", "no negative word was found")
    if tag is not None and tag.negation is None:
        turn_tag(sentence, tag)


def _negative_word(sentence: Sentence, group: Group) -> int | None:
    """A negative word, or one with a negative prefix, in the clause of a verb group."""
    tokens = sentence.tokens
    index = group.subject[0] if group.subject else group.first
    while index < len(tokens) and tokens[index].tag not in ("EN", "SC", "WP"):
        low = tokens[index].low
        if low in NEGATIVE_WORDS:
            return index
        prefixed = NEGATIVE_PREFIX.match(low) and tokens[index].tag in ("JJ", "RB", "VBN", "VBD")
        if prefixed and readings(NEGATIVE_PREFIX.sub("", low)):
            return index
        index += 1
    return None


def _remove_not(sentence: Sentence, index: int, group: Group | None) -> None:
    tokens = sentence.tokens
    negation = tokens[index]
    inside = group is not None and index in group.negations
    verb = tokens[group.first] if group is not None and inside else None
    main = tokens[group.chain[-1]] if group is not None and len(group.chain) > 1 else None
    negative_items.and_for_but(sentence, index, group if inside else None)
    sentence.cut(index, index + 1)
    if group is not None:
        negative_items.to_affirmative(
            sentence, sentence.tokens.where(tokens[min(group.main, len(tokens) - 1)])
        )
    if verb is None or group is None:
        if index and tokens[index - 1].low in EXPANDED:
            sentence.rewrite(tokens[index - 1], EXPANDED[tokens[index - 1].low])
        _glue(negation)
        return
    if verb.low in EXPANDED:
        sentence.rewrite(verb, EXPANDED[verb.low])
    if verb.low in DO and main is not None and main.tag in ("VB", "VBP") and not group.inverted:
        tag = "VB" if group.kind == "imperative" else finite_tag(verb.text)
        initial = verb.initial
        sentence.cut(sentence.tokens.where(verb), sentence.tokens.where(verb) + 1)
        sentence.rewrite(main, verb_form(main.lemma, tag), tag)
        main.initial = main.initial or (initial and main.text[:1].isupper())


def _glue(negation: Token) -> None:
    negation.home = -1


def _make_positive(sentence: Sentence, index: int, parent: int | None) -> None:
    tokens = sentence.tokens
    token = tokens[index]
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if token.low in ("never", "hardly", "scarcely", "rarely", "seldom"):
        sentence.cut(index, index + 1)
        negative_items.to_affirmative(sentence, index)
    elif token.low == "no" and following is not None:
        _positive_determiner(sentence, index, following)
    elif token.low == "without" and following is not None and following.tag == "VBG":
        sentence.rewrite(token, "while", "SC")
    elif token.low in negative_items.POSITIVE:
        if token.low == "neither" and any(other.low == "nor" for other in tokens[index:]):
            for other in tokens[index:]:
                if other.low == "nor":
                    sentence.rewrite(other, "and")
        if token.low == "nor":
            raise RealisationError("unclear-clause", "nor can't be undone alone")
        sentence.rewrite(token, negative_items.POSITIVE[token.low])
    else:
        positive = _without_prefix(token.text, sentence.node(parent).label if parent is not None else "")
        sentence.rewrite(token, positive)
    if tokens and index < len(tokens):
        negative_items.to_affirmative(sentence, index)


def _positive_determiner(sentence: Sentence, index: int, following: Token) -> None:
    tokens = sentence.tokens
    if following.low == "longer":
        sentence.cut(index + 1, index + 2)
        sentence.rewrite(tokens[index], "still", "RB")
    elif following.low == "one":
        sentence.cut(index + 1, index + 2)
        sentence.rewrite(tokens[index], "someone", "PN")
    elif following.low in ("more", "less") or following.tag in ("PU", "EN"):
        raise RealisationError("unclear-clause", f"no {following.low} can't be undone")
    else:
        end = negative_items.phrase_end(sentence, index + 1)
        plural = tokens[end - 1].tag == "NNS"
        after_of = index > 0 and tokens[index - 1].low == "of"
        if not plural and (after_of or may_be_bare(tokens[end - 1].low)):
            sentence.cut(index, index + 1)
        else:
            sentence.rewrite(tokens[index], "some" if plural else article(following.text), "DT")


def _without_prefix(word: str, concept: str) -> str:
    low = word.lower()
    for prefix in ("un", "in", "im", "ir", "il", "dis", "non-", "non"):
        rest = low[len(prefix) :]
        if low.startswith(prefix) and len(rest) > 2 and (readings(rest) or concept.startswith(rest[:4])):
            return rest
    if low.endswith("less") and readings(low[:-4] + "ful"):
        return low[:-4] + "ful"
    raise RealisationError("unsupported-edit", f"the negative word {word} has no positive form")

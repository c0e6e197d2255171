"""``not`` in and out: do-support, contractions, ``some`` and ``any``, negative words and prefixes."""

from __future__ import annotations

from graphneg.amr.concept_words import NEGATIVE_PREFIX
from graphneg.decoders.surface import negation_scope as negative_items
from graphneg.decoders.surface.clauses import BE, DO, HAVE, Group, straighten
from graphneg.decoders.surface.draft import Cell, new
from graphneg.decoders.surface.forms import (
    CONTRACTED,
    EXPANDED,
    NEVER_CONTRACTED,
    article,
    finite_tag,
    full_form,
    may_be_bare,
    verb_form,
    verb_lemma,
)
from graphneg.decoders.surface.negation_scope import (
    NEGATIVE_WORDS,
    question_tag,
    refuse_answer,
    refuse_undeniable,
    told,
    turn_tag,
)
from graphneg.decoders.surface.sentence import Sentence, Unrealised
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
        Unrealised: ``unclear-clause``, no clause or noun phrase can carry the negation, or
            ``already-negative``.
    """
    group = told(sentence, sentence.predicate(k))
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
        raise Unrealised("unclear-clause", f"no clause found for {sentence.node(k).label}")


def _but_for_and(sentence: Sentence, group: Group) -> None:
    """``did not go home but watched``: what ``and`` joins stays affirmed."""
    if group.kind != "finite" or group.subject is None:
        return
    for verb in sentence.conjuncts(group)[:1]:
        place = sentence.draft.place(verb)
        while place and sentence.cells[place].low != "and":
            place -= 1
        if sentence.cells[place + 1].low == "also":
            raise Unrealised("unclear-clause", "what and also joins would be half denied")
        if verb.tag in ("VBD", "VBZ", "VBP"):
            sentence.draft.rewrite(sentence.cells[place], "but", "CC")


def _plain_order(sentence: Sentence, group: Group) -> None:
    """``How beautiful you are``: the words asked about go back behind the verb."""
    cells = sentence.cells
    if group.subject is None or group.inverted or group.kind != "finite" or group.main + 1 > len(cells):
        return
    end = start = group.subject[0]
    while start and cells[start - 1].tag in ("JJ", "RB", "NN", "DT", "VBN", "WP", "SC"):
        start -= 1
        if cells[start].low == "how":
            break
    if start == end or cells[start].low != "how" or cells[group.main].low not in BE | {"'s"}:
        return
    moved = cells[start + 1 : end]
    if not moved or moved[-1].tag not in ("JJ", "VBN"):
        return
    opened = cells[start].initial
    cells[group.main + 1 : group.main + 1] = moved
    del cells[start:end]
    shift = end - start
    group.chain = [place - shift for place in group.chain]
    group.subject = (group.subject[0] - shift, group.subject[1] - shift)
    cells[start].initial = cells[start].initial and opened


def _insert_not(sentence: Sentence, group: Group) -> None:
    cells = sentence.cells
    straighten(cells, group)
    verb = cells[group.first]
    if group.kind == "imperative":
        _negate_imperative(sentence, group)
    elif group.kind != "finite":
        _refuse_subject(sentence, group)
        sentence.draft.insert(group.to if group.to is not None else group.first, new("not", "NEG"))
    elif _existential_no(sentence, group):
        return
    elif _takes_not(sentence, group):
        _add_negation(sentence, verb, group)
    else:
        tag = finite_tag(verb.text) if verb.tag not in ("VBD", "VBZ", "VBP") else verb.tag
        tag = _base_or_past(sentence, group, tag)
        place = _before_adverbs(sentence, group)
        sentence.draft.rewrite(verb, verb_form(verb_lemma(verb.text), "VB"), "VB")
        support = new(verb_form("do", tag), "AX")
        if verb.initial or cells[place].initial:
            support.initial = False
        sentence.draft.insert(place, support)
        _add_negation(sentence, support, None)


def _refuse_subject(sentence: Sentence, group: Group) -> None:
    """``I always meant to``: the verb's form is taken for a participle's, but somebody does it."""
    place = group.first - 1
    while place > 0 and sentence.cells[place].tag == "RB":
        place -= 1
    if group.to is None and place >= 0 and sentence.cells[place].low in _SUBJECTS:
        raise Unrealised("unclear-clause", f"{sentence.cells[group.first].text} may be no participle")


def _base_or_past(sentence: Sentence, group: Group, tag: str) -> str:
    """``put`` and ``read`` show no tense: the subject tells a third person, else the text's past does."""
    verb = sentence.cells[group.first]
    lemma = verb_lemma(verb.text)
    if verb.low != lemma or verb_form(lemma, "VBD") != lemma:
        return tag
    subject = sentence.cells[group.subject[0] : group.subject[1]] if group.subject else []
    third = bool(subject) and (subject[-1].low in ("he", "she", "it") or subject[-1].tag in ("NN", "NNP"))
    past = any(
        cell.tag == "VBD" or cell.low in ("was", "were", "had", "did")
        for cell in sentence.cells
        if cell is not verb
    )
    return "VBD" if third or past else "VBP"


def _takes_not(sentence: Sentence, group: Group) -> bool:
    verb = sentence.cells[group.first]
    low = full_form(verb.text)
    if verb.tag == "MD" or low in BE or low in ("'s", "'d"):
        return True
    following = sentence.cells[group.main + 1 : group.main + 2]
    alone = low in DO and all(cell.tag in ("EN", "PU") for cell in following)  # Yes, I do.
    return alone or ((low in HAVE or low in DO or low == "'ve") and len(group.chain) > 1)


def _before_adverbs(sentence: Sentence, group: Group) -> int:
    place = group.first
    first = group.subject[1] if group.subject else place
    while place > first and (cell := sentence.cells[place - 1]).tag == "RB" and cell.low not in _OUTSIDE_NOT:
        place -= 1
    return place


def _existential_no(sentence: Sentence, group: Group) -> bool:
    """``there is a way``: ``there is no way``."""
    cells = sentence.cells
    if not group.subject or cells[group.subject[0]].tag != "EX" or group.main + 1 >= len(cells):
        return False
    following = cells[max(group.main, group.subject[1] - 1) + 1]
    if following.low in ("a", "an", "some", "any"):
        sentence.draft.rewrite(following, "no", "DT")
        return True
    return False


def _add_negation(sentence: Sentence, verb: Cell, group: Group | None) -> None:
    """Puts not or n't after a finite verb, as the text writes it elsewhere; before the subject only n't."""
    draft = sentence.draft
    inverted = group is not None and group.inverted and group.subject is not None
    if verb.low == "'ve":
        draft.rewrite(verb, "have")
    elif verb.low == "'ll":
        draft.rewrite(verb, "will")
    elif verb.low == "must" and group is not None and _is_perfect(sentence, group):
        draft.rewrite(verb, "can")  # what must have been, can't have been
    elif verb.low == "'d":
        follows = sentence.cells[group.chain[1]].tag if group is not None and len(group.chain) > 1 else "VB"
        draft.rewrite(verb, "had" if follows == "VBN" else "would")
    if verb.low == "can" and not draft.contracts and not draft.tokenised and not inverted:
        draft.rewrite(verb, "cannot")
        return
    contract = draft.contracts and verb.low not in NEVER_CONTRACTED and verb.low != "'s"
    if contract:
        draft.rewrite(verb, CONTRACTED.get(verb.low, verb.text))
        draft.insert(draft.place(verb) + 1, new("n't", "NEG"))
    elif inverted and group is not None and group.subject is not None:
        draft.insert(group.subject[1], new("not", "NEG"))
    else:
        draft.insert(draft.place(verb) + 1, new("not", "NEG"))


def _is_perfect(sentence: Sentence, group: Group) -> bool:
    return len(group.chain) > 2 and sentence.cells[group.chain[1]].low == "have"


def _negate_imperative(sentence: Sentence, group: Group) -> None:
    draft = sentence.draft
    verb = sentence.cells[group.first]
    following = sentence.cells[group.first + 1] if group.first + 1 < len(sentence.cells) else None
    start, _ = sentence.sentence_bounds(group.first)
    before = sentence.cells[start : group.first]
    if before and (before[-1].low in ("and", "or") or any(cell.tag in VERBS for cell in before)):
        raise Unrealised("unclear-clause", "the order goes on from another one")
    if (verb.low, following.low if following else "") in _CALLS:
        raise Unrealised("unsupported-edit", f"{verb.text} {following.text if following else ''} is a call")
    if verb.low == "let" and following is not None and following.low in ("'s", "us"):
        if any(cell.low == "see" for cell in sentence.cells[group.first + 2 : group.first + 3]):
            raise Unrealised("unsupported-edit", "let's see is a call")
        draft.insert(group.first + 2, new("not", "NEG"))
        return
    place = group.first
    while place and sentence.cells[place - 1].low in ("always", "just", "only"):
        place -= 1
    support = new("do", "AX")
    draft.insert(place, support, new("n't" if draft.contracts else "not", "NEG"))


def _negate_noun_phrase(sentence: Sentence, k: int) -> bool:
    """``a way``: ``no way``. Only an indefinite phrase can take it."""
    places = sentence.places(k)
    if not places or sentence.cells[places[0]].tag not in NOUNS:
        return False
    start, _ = sentence.noun_phrase(places[0])
    first = sentence.cells[start]
    before = sentence.cells[start - 1] if start else None
    if before is not None and before.low in ("what", "such", "not"):
        return False
    if before is not None and (full_form(before.text) in BE or before.low == "'s"):
        sentence.draft.insert(start, new("not", "NEG"))
        return True
    if first.low in ("a", "an", "some", "any"):
        sentence.draft.rewrite(first, "no", "DT")
        return True
    return False


def _negate_fragment(sentence: Sentence, k: int) -> bool:
    """A sentence without a verb: ``A queer idea!`` becomes ``Not a queer idea!``."""
    places = [place for one in range(k, sentence.node(k).last + 1) for place in sentence.places(one)]
    if not places or any(child.value == "expressive" for child in sentence.graph.children(k)):
        return False
    start, end = sentence.sentence_bounds(min(places))
    if any(
        start <= group.main < end and group.kind in ("finite", "imperative") for group in sentence.groups()
    ):
        return False
    while start < end and sentence.cells[start].tag in ("QT", "PU", "CC", "UH"):
        start += 1
    if (
        start >= end
        or sentence.cells[start].low in NEGATIVE_WORDS | {"not"}
        or sentence.cells[start].tag in ("WP", "VBZ", "VBP", "VBD")
        or sentence.cells[start].low in ("sounds", "looks", "seems", "feels", "smells", "tastes", "means")
    ):
        return False
    sentence.draft.insert(start, new("not", "NEG"))
    return True


def affirm(sentence: Sentence, k: int) -> None:
    """Takes away the negation that the polarity constant ``k`` stands for.

    Raises:
        Unrealised: ``no-alignment``, no negative word was found.
    """
    parent = sentence.node(k).up
    places = sentence.places(k)
    group = sentence.predicate(parent) if parent is not None else None
    negation = places[0] if places else group.negations[0] if group is not None and group.negations else None
    if negation is not None:
        refuse_answer(sentence, negation)
        negative_items.refuse_set_phrase(sentence, negation)
    tag = question_tag(sentence, group) if group is not None else None
    if places and sentence.cells[places[0]].low in ("not", "n't"):
        group = next((one for one in sentence.groups() if places[0] in one.negations), group)
        _remove_not(sentence, places[0], group)
    elif places:
        _make_positive(sentence, places[0], parent)
    elif group is not None and group.negations:
        _remove_not(sentence, group.negations[0], group)
    elif group is not None and (place := _negative_word(sentence, group)) is not None:
        _make_positive(sentence, place, parent)
    else:
        raise Unrealised("no-alignment", "no negative word was found")
    if tag is not None and tag.negation is None:
        turn_tag(sentence, tag)


def _negative_word(sentence: Sentence, group: Group) -> int | None:
    """A negative word, or one with a negative prefix, in the clause of a verb group."""
    cells = sentence.cells
    place = group.subject[0] if group.subject else group.first
    while place < len(cells) and cells[place].tag not in ("EN", "SC", "WP"):
        low = cells[place].low
        if low in NEGATIVE_WORDS:
            return place
        prefixed = NEGATIVE_PREFIX.match(low) and cells[place].tag in ("JJ", "RB", "VBN", "VBD")
        if prefixed and readings(NEGATIVE_PREFIX.sub("", low)):
            return place
        place += 1
    return None


def _remove_not(sentence: Sentence, place: int, group: Group | None) -> None:
    cells, draft = sentence.cells, sentence.draft
    negation = cells[place]
    inside = group is not None and place in group.negations
    verb = cells[group.first] if group is not None and inside else None
    main = cells[group.chain[-1]] if group is not None and len(group.chain) > 1 else None
    negative_items.and_for_but(sentence, place, group if inside else None)
    draft.cut(place, place + 1)
    if group is not None:
        negative_items.to_affirmative(sentence, draft.place(cells[min(group.main, len(cells) - 1)]))
    if verb is None or group is None:
        if place and cells[place - 1].low in EXPANDED:
            draft.rewrite(cells[place - 1], EXPANDED[cells[place - 1].low])
        _glue(negation)
        return
    if verb.low in EXPANDED:
        draft.rewrite(verb, EXPANDED[verb.low])
    if verb.low in DO and main is not None and main.tag in ("VB", "VBP") and not group.inverted:
        tag = "VB" if group.kind == "imperative" else finite_tag(verb.text)
        initial = verb.initial
        draft.cut(draft.place(verb), draft.place(verb) + 1)
        draft.rewrite(main, verb_form(verb_lemma(main.text), tag), tag)
        main.initial = main.initial or (initial and main.text[:1].isupper())


def _glue(negation: Cell) -> None:
    negation.home = -1


def _make_positive(sentence: Sentence, place: int, parent: int | None) -> None:
    cells, draft = sentence.cells, sentence.draft
    cell = cells[place]
    following = cells[place + 1] if place + 1 < len(cells) else None
    if cell.low in ("never", "hardly", "scarcely", "rarely", "seldom"):
        draft.cut(place, place + 1)
        negative_items.to_affirmative(sentence, place)
    elif cell.low == "no" and following is not None:
        _positive_determiner(sentence, place, following)
    elif cell.low == "without" and following is not None and following.tag == "VBG":
        draft.rewrite(cell, "while", "SC")
    elif cell.low in negative_items.POSITIVE:
        if cell.low == "neither" and any(other.low == "nor" for other in cells[place:]):
            for other in cells[place:]:
                if other.low == "nor":
                    draft.rewrite(other, "and")
        if cell.low == "nor":
            raise Unrealised("unclear-clause", "nor can't be undone alone")
        draft.rewrite(cell, negative_items.POSITIVE[cell.low])
    else:
        positive = _without_prefix(cell.text, sentence.node(parent).label if parent is not None else "")
        draft.rewrite(cell, positive)
    if cells and place < len(cells):
        negative_items.to_affirmative(sentence, place)


def _positive_determiner(sentence: Sentence, place: int, following: Cell) -> None:
    cells, draft = sentence.cells, sentence.draft
    if following.low == "longer":
        draft.cut(place + 1, place + 2)
        draft.rewrite(cells[place], "still", "RB")
    elif following.low == "one":
        draft.cut(place + 1, place + 2)
        draft.rewrite(cells[place], "someone", "PN")
    elif following.low in ("more", "less") or following.tag in ("PU", "EN"):
        raise Unrealised("unclear-clause", f"no {following.low} can't be undone")
    else:
        end = negative_items.phrase_end(cells, place + 1)
        plural = cells[end - 1].tag == "NNS"
        after_of = place > 0 and cells[place - 1].low == "of"
        if not plural and (after_of or may_be_bare(cells[end - 1].low)):
            draft.cut(place, place + 1)
        else:
            draft.rewrite(cells[place], "some" if plural else article(following.text), "DT")


def _without_prefix(word: str, concept: str) -> str:
    low = word.lower()
    for prefix in ("un", "in", "im", "ir", "il", "dis", "non-", "non"):
        rest = low[len(prefix) :]
        if low.startswith(prefix) and len(rest) > 2 and (readings(rest) or concept.startswith(rest[:4])):
            return rest
    if low.endswith("less") and readings(low[:-4] + "ful"):
        return low[:-4] + "ful"
    raise Unrealised("unsupported-edit", f"the negative word {word} has no positive form")

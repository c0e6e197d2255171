"""What a negation of a clause reaches, words that only a negative clause holds, question tags."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from graphneg.decoders.surface.clauses import BE, DO, HAVE, Group
from graphneg.decoders.surface.draft import Cell, is_quote, new
from graphneg.decoders.surface.forms import CONTRACTED, EXPANDED, NEVER_CONTRACTED, full_form
from graphneg.decoders.surface.sentence import Sentence, Unrealised
from graphneg.english.tagging import NOUNS
from graphneg.english.words import word_set

# What a negation of a clause reaches, and whether the clause has one already.


NEGATIVE_WORDS = word_set(
    "never no nothing nobody none nowhere neither nor hardly scarcely seldom rarely without"
)
SCOPE_ENDS = frozenset({"EN", "SC", "WP", "QT"})
_ANSWERS = word_set("yes yeah yep yup yea no nope")
_UNDENIED = word_set("just almost nearly barely simply merely mostly even sometimes occasionally")
_WHEN = word_set("before until till than lest")
_BEFORE_TO = frozenset({"going", "have", "has", "had", "got", "used", "meant", "able"})


def told(sentence: Sentence, group: Group | None) -> Group | None:
    """``going to need``, ``have to go``: what is denied is the verb before."""
    if group is None or group.to is None or not group.to:
        return group
    before = sentence.cells[group.to - 1].low
    return (sentence.finite(group) or group) if before in _BEFORE_TO else group


def refuse_undeniable(sentence: Sentence, group: Group, label: str) -> None:
    """Raises where the clause of a verb group can't be denied; ``label`` names its node.

    Raises:
        Unrealised: ``unclear-clause``, it is a relative one; ``already-negative``; ``unsupported-edit``, it
            is a phrase that has no negative.
    """
    if _in_contact_clause(sentence, group):
        raise Unrealised("unclear-clause", "only a relative clause was found")
    if _is_only(sentence, group) or group.negations or _has_negative(sentence, group):
        raise Unrealised("already-negative", f"the clause of {label} is negative already")
    if group.kind == "gerund" and sentence.finite(group) is not None:
        raise Unrealised("unclear-clause", "the clause is a part of another one")
    if _is_joined_gerund(sentence, group):
        raise Unrealised("unclear-clause", "what and joins would be half denied")
    if _is_followed_by_not(sentence, group):
        raise Unrealised("unclear-clause", "what follows is set against it with not")
    if sentence.offers(group) or _is_assent(sentence, group):
        raise Unrealised("unsupported-edit", "here you are and I see have no negative")
    if group.inverted and not group.quotative and sentence.cells[group.first - 1].low in ("here", "there"):
        raise Unrealised("unsupported-edit", "here it comes has no negative")
    if _goes_on_asking(sentence, group):
        raise Unrealised("unclear-clause", "only a question was found")
    if _is_regret(sentence, group):
        raise Unrealised("unsupported-edit", "I'm afraid that it is so has no negative")
    if _is_degree(sentence, group) or _is_pro_verb(sentence, group):
        raise Unrealised("unsupported-edit", "just, almost and I did before have no negative")
    if group.subject is not None and sentence.cells[max(0, group.subject[0] - 1)].low in _WHEN:
        raise Unrealised("unclear-clause", "only a clause that says when was found")


def refuse_answer(sentence: Sentence, place: int) -> None:
    """Raises where yes or no opens the sentence around ``place``: what follows can't say or ask the opposite.

    Raises:
        Unrealised: ``unclear-clause``.
    """
    start, _ = sentence.sentence_bounds(place)
    if sum(is_quote(cell) for cell in sentence.cells[start:place]) > 1:
        return
    opening = [cell for cell in sentence.cells[start:place] if cell.tag not in ("QT", "PU")][:1]
    if any(cell.low in _ANSWERS and cell.tag == "UH" for cell in opening):
        raise Unrealised("unclear-clause", f"{opening[0].text} says already what is so")


def _is_joined_gerund(sentence: Sentence, group: Group) -> bool:
    """``running and gaming are fun``: neither is denied alone."""
    cells = sentence.cells
    beside = [cells[place].low for place in (group.first - 1, group.main + 1) if 0 <= place < len(cells)]
    return group.kind == "gerund" and bool({"and", "or"} & set(beside))


def _is_followed_by_not(sentence: Sentence, group: Group) -> bool:
    """``He likes me but not her``: *he does not like me but not her* says nothing."""
    _, end = sentence.sentence_bounds(group.first)
    after = sentence.cells[group.main + 1 : end]
    return any(
        one.low == "not" and (before.low in ("but", "and") or before.text == ",")
        for before, one in pairwise(after)
    )


def _goes_on_asking(sentence: Sentence, group: Group) -> bool:
    """``Shall I come and fetch it?``: what *and* joins to a question asks as well."""
    start, end = sentence.sentence_bounds(group.first)
    asked = sentence.cells[end - 1 : end]
    return (
        group.subject is None
        and group.kind != "imperative"
        and asked[-1:] != []
        and asked[-1].text == "?"
        and any(
            start <= one.first < group.first and one.inverted and not one.quotative
            for one in sentence.groups()
        )
    )


def _is_regret(sentence: Sentence, group: Group) -> bool:
    """``I'm afraid it is too expensive``: it says that one is sorry, and nothing of fear."""
    following = sentence.cells[group.main + 1 : group.main + 3]
    return len(following) == 2 and following[0].low == "afraid" and following[1].low not in ("of", "to")


def _is_degree(sentence: Sentence, group: Group) -> bool:
    """``I'm just looking``, ``almost sure``: a negation would reach the degree alone."""
    linked = full_form(sentence.cells[group.main].text) in BE or sentence.cells[group.main].low == "'s"
    around = sentence.cells[max(0, group.first - 1) : group.main + (2 if linked else 1)]
    return any(cell.low in _UNDENIED and cell.tag == "RB" for cell in around)


def _is_pro_verb(sentence: Sentence, group: Group) -> bool:
    """``I did back in school``: the verb stands for what was said before."""
    following = sentence.cells[group.main + 1 : group.main + 2]
    if len(group.chain) > 1:
        return False
    verb = full_form(sentence.cells[group.main].text)
    if verb in BE and any(cell.low == "too" for cell in following):
        return True
    return verb in DO and any(cell.tag == "IN" or cell.low in ("back", "before", "so") for cell in following)


def _is_only(sentence: Sentence, group: Group) -> bool:
    """``I can only drink soup``, ``I'd rather go``: denied, they would say that more is so, or nothing."""
    return any(
        cell.low in ("only", "rather") for cell in sentence.cells[max(0, group.first - 1) : group.main + 2]
    )


def _is_assent(sentence: Sentence, group: Group) -> bool:
    """``I see.``: it says that one has heard."""
    following = sentence.cells[group.main + 1 : group.main + 2]
    main, lone = sentence.cells[group.main].low, len(group.chain) == 1
    ends = all(cell.tag in ("EN", "PU") for cell in following)
    return lone and (
        (ends and main == "see") or (main == "know" and any(cell.low == "right" for cell in following))
    )


def _in_contact_clause(sentence: Sentence, group: Group) -> bool:
    """``the best we can do``: a relative clause without a pronoun, its noun right before its subject."""
    if group.subject is None or group.inverted or not group.subject[0]:
        return False
    start, _ = sentence.sentence_bounds(group.first)
    before, subject = sentence.cells[group.subject[0] - 1], sentence.cells[group.subject[0]]
    headed = before.tag in ("NN", "NNS", "JJ") and subject.tag == "PRS"
    return headed and any(
        start <= one.first < group.subject[0] and one.kind == "finite" for one in sentence.groups()
    )


def _has_negative(sentence: Sentence, group: Group) -> bool:
    """Whether a word such as *never* or *nothing* stands in the clause of a verb group."""
    cells = sentence.cells
    start = group.subject[0] if group.subject else group.first
    end = group.main + 1
    while end < len(cells) and cells[end].tag not in SCOPE_ENDS and cells[end].text != ",":
        end += 1
    return any(cell.low in NEGATIVE_WORDS for cell in cells[max(0, start - 1) : end])


# Words and phrases that only a negative clause holds, and what stands for them in an affirmative one.


POSITIVE = {
    "nothing": "something", "nobody": "somebody", "none": "some", "nowhere": "somewhere", "neither": "both",
    "nor": "and", "any": "some", "anything": "something", "anyone": "someone", "anybody": "somebody",
    "anywhere": "somewhere", "without": "with", "unless": "if",
}  # fmt: skip
_ASSERTIVE = {"some": "any", "something": "anything", "someone": "anyone", "somebody": "anybody"}
_STANDS_FOR_A_CLAUSE = word_set(
    "afraid hope think guess suppose believe expect why if or whether course maybe perhaps"
)
OUTSIDE_NOT = word_set(
    "certainly probably also obviously clearly definitely apparently evidently presumably surely"
)
"""Adverbs that stand before a negation, not behind it: *it obviously does not depend on that*."""
_ONE_CAN_NOT = word_set("wait help stand")
_NOUNS_OF_ASSURANCE = word_set("problem problems doubt worries wonder")
_MEASURED = word_set("so very too as how that pretty thank thanks")


def to_negative(sentence: Sentence, first: int, main: int) -> None:
    """``some`` becomes ``any``, ``already`` ``yet``, a last ``too`` ``either``, around a verb group."""
    cells = sentence.cells
    for cell in cells[max(0, first - 1) : main + 2]:
        if cell.low == "already":
            sentence.draft.rewrite(cell, "yet")
    for place in range(main + 1, len(cells)):
        cell = cells[place]
        if cell.tag in SCOPE_ENDS or cell.tag in ("PU", "AX", "MD", "VBD", "VBZ", "VBP"):
            return
        if cell.low in _ASSERTIVE:
            sentence.draft.rewrite(cell, _ASSERTIVE[cell.low])
        elif cell.low in ("too", "also") and _is_last(sentence, place):
            sentence.draft.rewrite(cell, "either")


def drop_also(sentence: Sentence, group: Group) -> None:
    """``That is also a job``, ``I can also swim``: what is not so is not so besides; *also* goes."""
    cells = sentence.cells
    if group.kind != "finite" or group.inverted:
        return
    for place in range(group.first + 1, min(group.main + 2, len(cells))):
        if cells[place].low == "also":
            sentence.draft.cut(place, place + 1)
            group.chain[:] = [one - (one > place) for one in group.chain]
            return


def and_for_but(sentence: Sentence, negation: int, group: Group | None) -> None:
    """``likes me but not her``: what is no longer denied is joined by *and*; a quality may still contrast.

    ``group`` is the verb group that is denied, if one is.

    Raises:
        Unrealised: ``unclear-clause``, an adverb alone is denied, *but not often*, or a thing for the sake
            of another one, *not tea but coffee*.
    """
    cells = sentence.cells
    _refuse_rather(sentence, negation)
    place = (negation if group is None else min(negation, group.first)) - 1
    if place < 1 or cells[place].low != "but":
        return
    following = cells[negation + 1].tag if negation + 1 < len(cells) else "EN"
    if group is None and following in ("RB", "EN"):
        raise Unrealised("unclear-clause", "but not denies an adverb alone")
    if not following.startswith("JJ"):
        sentence.draft.rewrite(cells[place], "and", "CC")


def _refuse_rather(sentence: Sentence, negation: int) -> None:
    """``not tea but coffee``, ``I don't, but he does``: affirmed, nothing is left that *but* sets apart."""
    cells = sentence.cells
    _, end = sentence.sentence_bounds(negation)
    for place in range(negation + 1, end - 1):
        if cells[place].low != "but":
            continue
        told = any(place < one.first < end for one in sentence.groups())
        if not told and cells[place + 1].tag in (*NOUNS, "DT", "CD", "PS"):
            raise Unrealised("unclear-clause", "the other side of but is no clause")
        last = next((one for one in reversed(cells[place + 1 : end]) if one.tag not in ("EN", "PU")), None)
        if last is not None and (full_form(last.text) in BE | DO or last.tag in ("AX", "MD")):
            raise Unrealised("unclear-clause", "the other side of but says what is denied here")


def phrase_end(cells: list[Cell], place: int) -> int:
    """Where the noun phrase ends that goes on at ``place``: *no right or wrong answers*."""
    words = ("JJ", "RB", "CD", "VBN", "VBG", *NOUNS)
    while place < len(cells):
        following = cells[place + 1].tag if place + 1 < len(cells) else ""
        described = cells[place - 1].tag not in NOUNS and following in words
        joins = cells[place].low in ("or", "and") and (described or following == "JJ")
        if not joins and cells[place].tag not in words:
            break
        place += 1
    return place


def refuse_set_phrase(sentence: Sentence, place: int) -> None:
    """Raises where the negation at ``place`` can't be taken out: *I'm afraid not*, *can't wait*, *not until*.

    Raises:
        Unrealised: ``unsupported-edit``.
    """
    cells = sentence.cells
    before, after = cells[max(0, place - 1) : place], cells[place + 1 : place + 2]
    alone = _is_last(sentence, place) or cells[place + 1].tag == "SC"
    if alone and any(cell.low in _STANDS_FOR_A_CLAUSE for cell in before):
        raise Unrealised("unsupported-edit", f"{before[0].text} not stands for a clause")
    if any(cell.low in ("only", "just", "yet") for cell in after):
        raise Unrealised("unsupported-edit", f"not {after[0].text} is a phrase of its own")
    able = any(full_form(cell.text) in ("can", "ca", "could") for cell in before)
    if able and any(cell.low in _ONE_CAN_NOT for cell in after):
        raise Unrealised("unsupported-edit", f"nobody says that he can {after[0].text}")
    if cells[place].low == "no" and any(cell.low in _NOUNS_OF_ASSURANCE for cell in after):
        raise Unrealised("unsupported-edit", f"no {after[0].text} is a phrase of its own")
    for cell in cells[place + 1 :]:
        if cell.tag in SCOPE_ENDS and cell.low != "until":
            return
        if cell.low in ("until", "till"):
            raise Unrealised("unsupported-edit", "not until is a phrase of its own")


def no_longer(sentence: Sentence, group: Group) -> bool:
    """``I still live there`` is denied by ``I no longer live there``."""
    if group.kind != "finite" or group.subject is None or group.inverted:
        return False
    linked = full_form(sentence.cells[group.main].text) in BE
    for place in range(group.subject[1], min(group.main + 1 + linked, len(sentence.cells))):
        if sentence.cells[place].low == "still":
            sentence.draft.rewrite(sentence.cells[place], "no", "NEG")
            sentence.draft.insert(place + 1, new("longer", "RB"))
            return True
    return False


def to_affirmative(sentence: Sentence, start: int) -> None:
    """``any``, ``ever``, ``at all``, ``much``: put as an affirmative clause says them, or left out."""
    cells, draft = sentence.cells, sentence.draft
    _leave_out(sentence, max(start, 0))
    place = max(start, 0)
    while place < len(cells) and cells[place].tag not in SCOPE_ENDS:
        cell = cells[place]
        following = cells[place + 1].low if place + 1 < len(cells) else ""
        if cell.low in ("anything", "anyone", "anybody") and following in ("but", "except"):
            draft.rewrite(cell, {"anything": "everything"}.get(cell.low, "everyone"))
        elif cell.low in POSITIVE and cell.low.startswith("any"):
            draft.rewrite(cell, POSITIVE[cell.low])
        elif cell.low == "either" and _is_last(sentence, place):
            draft.rewrite(cell, "too")
        elif cell.low == "much" and place and cells[place - 1].low not in _MEASURED:
            _a_lot(sentence, place)
        place += 1


def _leave_out(sentence: Sentence, place: int) -> None:
    cells = sentence.cells
    while place < len(cells) and cells[place].tag not in SCOPE_ENDS:
        following = cells[place + 1].low if place + 1 < len(cells) else ""
        words = _left_out(cells[place].low, following)
        sentence.draft.cut(place, place + words)
        place += 0 if words else 1


def _left_out(low: str, following: str) -> int:
    """How many words from this one on an affirmative clause does without."""
    if (low, following) in (("at", "all"), ("any", "more"), ("any", "longer")):
        return 2
    return 1 if low in ("ever", "even", "yet", "anymore") else 0


def _a_lot(sentence: Sentence, place: int) -> None:
    """``I don't follow it much``: ``I follow it a lot``; ``much time``: ``a lot of time``."""
    cells, draft = sentence.cells, sentence.draft
    noun = place + 1 < len(cells) and cells[place + 1].tag in NOUNS
    if not noun and not _is_last(sentence, place):
        return
    draft.rewrite(cells[place], "lot", "NN")
    draft.insert(place, new("a", "DT"))
    if noun:
        draft.insert(place + 2, new("of", "IN"))


def _is_last(sentence: Sentence, place: int) -> bool:
    following = sentence.cells[place + 1 : place + 2]
    return all(cell.tag in ("EN", "PU", "QT") for cell in following)


# Question tags: ``You like fish, don't you?`` is negative where the clause that it asks about is not.


_OTHERS = frozenset({"he", "she", "it", "they"})


@dataclass(frozen=True, slots=True)
class QuestionTag:
    """The verb of a tag, and what negates it."""

    verb: Cell
    negation: Cell | None


def question_tag(sentence: Sentence, group: Group) -> QuestionTag | None:
    """The tag at the end of the sentence, where it asks about the subject of this clause."""
    cells = sentence.cells
    _, end = sentence.sentence_bounds(group.first)
    while end and cells[end - 1].tag == "EN":
        end -= 1
    pronoun, place = cells[end - 1] if end else None, end - 2
    if pronoun is None or group.subject is None or end >= len(cells) or not cells[end].text.startswith("?"):
        return None
    negation = cells[place] if place > 0 and cells[place].tag == "NEG" else None
    place -= negation is not None
    if place <= group.main or cells[place - 1].text != "," or not _is_auxiliary(cells[place]):
        return None
    subject = cells[group.subject[1] - 1].low
    same = pronoun.low == subject or (pronoun.low in _OTHERS and subject not in ("i", "you", "we", *_OTHERS))
    return QuestionTag(cells[place], negation) if same else None


def turn_tag(sentence: Sentence, tag: QuestionTag) -> None:
    """``…, do you?`` for ``…, don't you?``, and the other way round.

    Raises:
        Unrealised: ``unclear-clause``, the tag's verb takes no n't.
    """
    draft, verb = sentence.draft, tag.verb
    if tag.negation is not None:
        place = draft.place(tag.negation)
        draft.cut(place, place + 1)
        draft.rewrite(verb, EXPANDED.get(verb.low, verb.text))
        tag.negation.home = -1
    elif verb.low in NEVER_CONTRACTED:
        raise Unrealised("unclear-clause", f"the question tag's {verb.text} takes no n't")
    else:
        draft.rewrite(verb, CONTRACTED.get(verb.low, verb.text))
        draft.insert(draft.place(verb) + 1, new("n't", "NEG"))


def is_tag_pronoun(sentence: Sentence, cell: Cell) -> bool:
    """Whether this is the *you* of ``…, do you?``."""
    place, cells = sentence.draft.place(cell), sentence.cells
    verb = place - 2 if place > 1 and cells[place - 1].tag == "NEG" else place - 1
    ends = place + 1 < len(cells) and cells[place + 1].text.startswith("?")
    return ends and verb > 0 and _is_auxiliary(cells[verb]) and cells[verb - 1].text == ","


def _is_auxiliary(cell: Cell) -> bool:
    return cell.tag == "MD" or full_form(cell.text) in BE | DO | HAVE or cell.low in EXPANDED

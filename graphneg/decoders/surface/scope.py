"""What a negation of a clause reaches, and whether the clause has one already."""

from __future__ import annotations

from itertools import pairwise

from graphneg.alignment.words import word_set
from graphneg.decoders.surface.clauses import BE, DO, Group
from graphneg.decoders.surface.draft import is_quote
from graphneg.decoders.surface.forms import full_form
from graphneg.decoders.surface.sentence import Sentence, Unrealised

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

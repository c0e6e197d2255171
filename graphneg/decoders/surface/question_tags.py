"""Question tags: ``You like fish, don't you?`` is negative where the clause that it asks about is not."""

from __future__ import annotations

from dataclasses import dataclass

from graphneg.decoders.surface.clauses import BE, DO, HAVE, Group
from graphneg.decoders.surface.draft import Cell, new
from graphneg.decoders.surface.forms import CONTRACTED, EXPANDED, NEVER_CONTRACTED, full_form
from graphneg.decoders.surface.sentence import Sentence, Unrealised

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

"""A new predicate goes above a sentence: ``I agree that``, ``I refuse to``, ``I doubt that``."""

from __future__ import annotations

from graphneg.alignment.words import word_set
from graphneg.decoders.surface.clauses import Group, straighten
from graphneg.decoders.surface.draft import Cell, new
from graphneg.decoders.surface.forms import SUBJECT, agree, pronoun
from graphneg.decoders.surface.mood import assertion, end_plain, strip_to_base, uninvert
from graphneg.decoders.surface.sentence import Sentence, Unrealised
from graphneg.lexeme import lexeme

_LEAD_ADVERBS = frozenset({"so", "then", "now", "therefore", "however", "thus", "well", "for"})
_ANSWERS = word_set("yes yeah yep yup no nope sorry thanks thank please hello hi hey okay ok sure")
_OPEN_CLAUSE = frozenset({"IN", "SC", "WP", "RB", "DT", "PS", "PRS", "PRO", "VBG", "NNP", "CD"})
_CLAUSE_OPENERS = {
    "refuse-01": "refuse to accept that",
    "doubt-01": "doubt that",
    "order-01": "order that",
    "command-02": "command that",
    "demand-01": "demand that",
    "wonder-01": "wonder whether",
    "ask-01": "ask whether",
    "possible-01": "possible",
    "obligate-01": "necessary",
    "reject-01": "reject the idea that",
    "disagree-01": "disagree that",
    "accept-01": "accept that",
    "promise-01": "promise that",
}
_SUBJUNCTIVE = frozenset({"order-01", "command-02", "demand-01", "recommend-01", "suggest-01", "propose-01"})


def wrap(sentence: Sentence, concept: str, person: str) -> None:
    """Puts ``I agree that`` and its like above the sentence; ``person`` is the new subject.

    Raises:
        Unrealised: ``unclear-clause``, the sentence has no clause that can stand under a verb.
    """
    group = _first_clause(sentence, assertion(sentence, 0))
    cells, draft = sentence.cells, sentence.draft
    start, _ = sentence.sentence_bounds(group.first)
    asks = group.inverted and not group.quotative
    if asks and any(cell.tag == "WP" for cell in cells[start : group.first]):
        raise Unrealised("unclear-clause", "a question with a question word can't stand under a verb")
    place = start
    while place < group.first and cells[place].tag in ("CC", "UH", "PU", "QT"):
        place += 1
    while (
        place < group.first
        and cells[place].low in _LEAD_ADVERBS
        and cells[place + 1].tag not in ("SC", "JJ", "RB")
    ):
        place += 1
        place += cells[place].text == ","
    _refuse_fragment(cells, start, place, group)
    opener = _opener(concept, person)
    if group.quotative and place == group.first:
        straighten(cells, group)
    if asks and group.subject is not None:
        uninvert(sentence, group)
        end_plain(sentence, cells[place])
    elif group.kind == "imperative":
        _order_under(sentence, group, concept, person)
        return
    elif concept in _SUBJUNCTIVE:
        if group.subject is None or group.quotative:
            raise Unrealised("unclear-clause", "no subject that could be ordered")
        strip_to_base(sentence, group)
    elif concept == "refuse-01" and group.subject is not None and _same_person(cells, group, person):
        subject = cells[group.subject[0] : group.subject[1]]
        if len(group.chain) > 1 and cells[group.main].tag == "VBG":
            raise Unrealised("unsupported-edit", "nobody refuses what he is doing")
        strip_to_base(sentence, group)
        for cell in subject:
            cells.remove(cell)
        opener = [*opener[:2], new("to", "TO")]
    draft.insert(place, *opener)


def _refuse_fragment(cells: list[Cell], start: int, place: int, group: Group) -> None:
    """Raises where yes, sorry, thanks or a half sentence comes before the clause: nobody doubts these.

    Raises:
        Unrealised: ``unclear-clause``.
    """
    refuse = Unrealised("unclear-clause", "something that is no clause can't stand under a verb")
    if any(cell.low in _ANSWERS for cell in cells[start : place + 1]) or cells[place].tag == "TO":
        raise refuse
    if group.subject is not None and not group.quotative and group.subject[0] > place:
        between = cells[place : group.subject[0]]
        if between[0].tag not in _OPEN_CLAUSE and any(cell.tag in ("PU", "EN") for cell in between):
            raise refuse
    if any(is_dangling(cells, one) for one in range(place, len(cells))):
        raise refuse


def is_dangling(cells: list[Cell], place: int) -> bool:
    """``I'd love to, ...``: an infinitive whose verb was said before, by somebody else perhaps."""
    following = cells[place + 1 : place + 2]
    return cells[place].tag == "TO" and all(cell.tag in ("EN", "PU", "QT", "CC", "SC") for cell in following)


def _first_clause(sentence: Sentence, found: Group) -> Group:
    """The first main clause of the sentence: the one that an opener stands before."""
    start, end = sentence.sentence_bounds(found.first)
    for group in sentence.groups():
        if start <= group.first < end and group.kind in ("finite", "imperative"):
            opens = group.subject[0] if group.subject else group.first
            if opens == start or sentence.cells[opens - 1].tag not in ("SC", "WP"):
                return group
    return found


def _same_person(cells: list[Cell], group: Group, person: str) -> bool:
    assert group.subject is not None
    start, end = group.subject
    return end - start == 1 and cells[start].low == person and not group.negations and end == group.first


def _opener(concept: str, person: str) -> list[Cell]:
    phrase = _CLAUSE_OPENERS.get(concept, f"{lexeme(concept)} that")
    if concept in ("possible-01", "obligate-01"):
        return [new("it", "PRS"), new("is", "AX"), new(phrase, "JJ"), new("that", "SC")]
    verb, *rest = phrase.split(" ")
    return [
        new(pronoun(person, SUBJECT), "PRS"),
        new(agree(verb, "VBP", person), "VBP"),
        *(new(word, "SC" if word == "that" else "TO" if word == "to" else "NN") for word in rest),
    ]


def _order_under(sentence: Sentence, group: Group, concept: str, person: str) -> None:
    """``I order you to draw a sheep``, ``I refuse to draw a sheep``, ``I agree that you should``."""
    cells, draft = sentence.cells, sentence.draft
    place = group.first
    negations = [cells[p] for p in group.negations]
    main = cells[group.main]
    if main.low == "let" and cells[place + 1].low in ("'s", "us"):
        raise Unrealised("unclear-clause", "let us can't stand under a verb")
    verb = lexeme(concept).split(" ")[0]
    subject = new(pronoun(person, SUBJECT), "PRS")
    finite = new(agree(verb, "VBP", person), "VBP")
    if negations:
        for cell in negations:
            cells.remove(cell)
        if cells[place].low == "do" and cells[place] is not main:
            cells.remove(cells[place])
    if main.low == "please":
        raise Unrealised("unclear-clause", "please is no order")
    no = [new("not", "NEG")] if negations else []
    if concept in ("order-01", "command-02", "ask-02", "tell-01", "advise-01"):
        draft.insert(place, subject, finite, new("you", "PRO"), *no, new("to", "TO"))
    elif concept in ("refuse-01", "promise-01"):
        draft.insert(place, subject, finite, *no, new("to", "TO"))
    else:
        draft.insert(place, *_opener(concept, person), new("you", "PRS"), new("should", "MD"), *no)

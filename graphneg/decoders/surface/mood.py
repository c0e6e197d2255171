"""Statements, questions and orders turn into one another."""

from __future__ import annotations

from graphneg.decoders.surface.agreement import person_of
from graphneg.decoders.surface.clauses import BE, DO, HAVE, Group, straighten
from graphneg.decoders.surface.draft import Cell, is_quote, new
from graphneg.decoders.surface.forms import (
    OBJECT,
    finite_tag,
    full_form,
    pronoun,
    pronoun_cases,
    verb_form,
    verb_lemma,
)
from graphneg.decoders.surface.sentence import Sentence, Unrealised
from graphneg.english.tagging import FINITE

_LEADS = frozenset({"CC", "UH", "PU", "QT", "RB"})
_MAX_TAGGED = 12
_HAS_AFTER = frozenset({"been", "got", "had", "become", "seen", "done"})


def assertion(sentence: Sentence, k: int) -> Group:
    """The finite group of the clause that a node stands for: its own, else that of its first argument.

    Raises:
        Unrealised: ``unclear-clause``, there is none.
    """
    waiting = [k]
    while waiting:
        at = waiting.pop(0)
        group = sentence.finite(sentence.predicate(at))
        if group is not None and group.kind in ("finite", "imperative"):
            return group
        waiting.extend(
            child.k for child in sentence.graph.children(at) if child.role and not child.role.endswith("-of")
        )
    found = [group for group in sentence.groups() if group.kind in ("finite", "imperative")]
    if k == 0 and found:
        return found[0]
    raise Unrealised("unclear-clause", f"{sentence.node(k).label} heads no clause")


def to_question(sentence: Sentence, k: int) -> None:
    """A statement becomes a yes/no question: inversion, do-support, or ``right?`` where neither is safe."""
    group = assertion(sentence, k)
    if group.kind == "imperative":
        _request(sentence, group)
        return
    main = sentence.cells[group.main]
    if group.quotative:
        _tag_question(sentence, main)
        return
    if group.inverted:
        raise Unrealised("unsupported-edit", "the clause is a question already")
    if group.subject is None or not _is_main(sentence, group):
        _tag_question(sentence, main)
        return
    following = sentence.cells[group.first + 1 : group.first + 2]
    if sentence.offers(group) or any(cell.low == "better" for cell in following):
        raise Unrealised("unsupported-edit", "here you are and had better make no question")
    subject = sentence.cells[group.subject[0]]
    opening = sentence.cells[group.subject[0] - 1].low if group.subject[0] else ""
    if subject.tag == "WP" or opening in ("maybe", "perhaps", "apparently"):
        raise Unrealised("unsupported-edit", "the clause asks already, or only supposes")
    if _is_coordinated(sentence, group):
        _tag_question(sentence, main)
        return
    joined = sentence.conjuncts(group)
    auxiliary = _lift_auxiliary(sentence, group)
    if auxiliary[0].low in DO:
        _to_base(sentence, joined)
    place = sentence.draft.place(subject)
    sentence.draft.insert(place, *auxiliary)
    _end_with(sentence, subject, "?")


def _to_base(sentence: Sentence, verbs: list[Cell]) -> None:
    for verb in verbs:
        sentence.draft.rewrite(verb, verb_form(verb_lemma(verb.text), "VB"), "VB")


def _is_coordinated(sentence: Sentence, group: Group) -> bool:
    """Whether ``and`` joins another clause with a subject of its own, which inversion would leave behind."""
    _, end = sentence.sentence_bounds(group.first)
    for other in sentence.groups():
        if group.main < other.first < end and other.kind == "finite" and other.subject is not None:
            start = other.subject[0]
            if start > group.main and sentence.cells[start - 1].low in ("and", "but", "or"):
                return True
    return False


def _request(sentence: Sentence, group: Group) -> None:
    main = sentence.cells[group.main]
    if group.negations or main.low == "let":
        raise Unrealised("unclear-clause", "a negative order makes no question")
    sentence.draft.insert(group.first, new("will", "MD"), new("you", "PRS"))
    _end_with(sentence, main, "?")


def _is_main(sentence: Sentence, group: Group) -> bool:
    """Only conjunctions, interjections and short adverbs stand before the subject in its sentence."""
    if group.subject is None or group.subject[1] > group.first:
        return False
    start, _ = sentence.sentence_bounds(group.subject[0])
    opening = sentence.cells[start : group.subject[0]]
    words = [cell.tag not in ("QT", "PU", "CC", "UH") for cell in opening]
    if any(is_quote(cell) and any(words[:place]) for place, cell in enumerate(opening)):
        return False
    between = sentence.cells[group.subject[1] : group.first]
    return all(cell.tag in _LEADS for cell in opening) and all(cell.tag == "RB" for cell in between)


def _leads(sentence: Sentence, group: Group) -> bool:
    """No other clause is open before the subject."""
    if group.subject is None or group.subject[1] > group.first:
        return False
    start, _ = sentence.sentence_bounds(group.subject[0])
    place = group.subject[0]
    while place > start and not (
        is_quote(sentence.cells[place - 1]) or sentence.cells[place - 1].tag == "PU"
    ):
        place -= 1
    opening = sentence.cells[place : group.subject[0]]
    between = sentence.cells[group.subject[1] : group.first]
    if any(cell.tag in ("SC", "WP", *FINITE) for cell in opening):
        return False
    return all(cell.tag in ("RB", "NEG") for cell in between)


def _lift_auxiliary(sentence: Sentence, group: Group) -> list[Cell]:
    """Takes the auxiliary (and its n't) out of its place, or makes one of do."""
    draft, cells = sentence.draft, sentence.cells
    verb = cells[group.first]
    low = full_form(verb.text)
    lone_have = low in HAVE | {"'ve"} and len(group.chain) == 1
    if (verb.tag in ("AX", "MD") and not (low in DO | HAVE and len(group.chain) == 1)) and not lone_have:
        negation = next((cells[p] for p in group.negations if cells[p].low == "n't"), None)
        text = _written_out(sentence, group)
        cells.remove(verb)
        if negation is None:
            return [new(text, verb.tag)]
        cells.remove(negation)
        stem = {"can": "ca", "will": "wo", "shall": "sha"}.get(text, text)
        return [new(stem, verb.tag), new("n't", "NEG")]
    tag = verb.tag if verb.tag in ("VBD", "VBZ", "VBP") else finite_tag(verb.text)
    tenseless = tag == "VBP" and verb_form(verb_lemma(verb.text), "VBD") == verb.low
    subject = cells[group.subject[0] : group.subject[1]] if group.subject is not None else []
    if tenseless and subject and person_of(subject) in ("he", "she", "it"):
        tag = "VBD"
    draft.rewrite(verb, verb_form(verb_lemma(full_form(verb.text)), "VB"), "VB")
    return [new(verb_form("do", tag), "AX")]


def _written_out(sentence: Sentence, group: Group) -> str:
    verb = sentence.cells[group.first]
    following = sentence.cells[group.chain[1]] if len(group.chain) > 1 else None
    if verb.low == "'s":
        return "has" if following is not None and following.low in _HAS_AFTER else "is"
    if verb.low == "'d":
        return "had" if following is not None and following.tag == "VBN" else "would"
    return full_form(verb.text)


def _end_with(sentence: Sentence, main: Cell, mark: str) -> None:
    """Closes the clause of a verb with another end mark: the comma before a closing quote counts too."""
    cells = sentence.cells
    place = sentence.draft.place(main) + 1
    while place < len(cells):
        cell = cells[place]
        if cell.tag == "EN" or (
            cell.text == ","
            and place + 1 < len(cells)
            and is_quote(cells[place + 1])
            and _quote_open(cells, place)
        ):
            cell.text, cell.tag = mark, "EN"
            return
        place += 1
    end = len(cells)
    while end and is_quote(cells[end - 1]):
        end -= 1
    sentence.draft.insert(end, new(mark, "EN"))


def _quote_open(cells: list[Cell], place: int) -> bool:
    following = cells[place + 2 :]
    return bool(following) and sum(cell.text == '"' for cell in cells[:place]) % 2 == 1


def _tag_question(sentence: Sentence, main: Cell) -> None:
    """``..., right?`` for short clauses whose auxiliary can't be moved.

    Raises:
        Unrealised: ``unclear-clause``, the sentence is too long to be turned by its last word.
    """
    cells = sentence.cells
    start, end = sentence.sentence_bounds(sentence.draft.place(main))
    if end - start > _MAX_TAGGED:
        raise Unrealised("unclear-clause", "only a tag would make the sentence a question, and it is long")
    place = end
    while place and (cells[place - 1].tag == "EN" or is_quote(cells[place - 1])):
        place -= 1
    if place < len(cells) and cells[place].tag == "EN" and cells[place].text[0] == "?":
        raise Unrealised("unsupported-edit", "the sentence is a question already")
    at_quote = place
    if at_quote < len(cells) and is_quote(cells[at_quote]):
        at_quote = min(end, len(cells))
        while at_quote and cells[at_quote - 1].tag == "EN" and at_quote > place + 1:
            at_quote -= 1
    comma = [] if place and cells[place - 1].text == "," else [new(",", "PU")]
    mark = cells[place] if place < len(cells) and cells[place].tag == "EN" else None
    if mark is not None:
        mark.text = "?"
        sentence.draft.insert(place, *comma, new("right", "UH"))
    else:
        sentence.draft.insert(place, *comma, new("right", "UH"), new("?", "EN"))


def to_statement(sentence: Sentence, k: int) -> None:
    """A yes/no question becomes a statement.

    Raises:
        Unrealised: ``unsupported-edit``, the clause asks with a question word, or asks nothing.
    """
    group = assertion(sentence, k)
    cells, draft = sentence.cells, sentence.draft
    start, end = sentence.sentence_bounds(group.first)
    marks = [cell for cell in cells[start:end] if cell.text.startswith("?")]
    if any(cell.tag == "WP" for cell in cells[start : group.first]) and group.inverted:
        raise Unrealised("unsupported-edit", "the clause asks with a question word")
    if group.quotative:
        for cell in marks[:1]:
            quoted = draft.place(cell) + 1 < len(cells) and is_quote(cells[draft.place(cell) + 1])
            cell.text, cell.tag = (",", "PU") if quoted else (".", "EN")
        if marks:
            return
    if not marks and not group.inverted:
        raise Unrealised("unsupported-edit", "the clause asks nothing")
    if group.inverted and group.subject is not None:
        uninvert(sentence, group)
    elif _opens_with_auxiliary(cells[start:end]):
        raise Unrealised("unclear-clause", "the words of the question can't be put in order")
    for cell in marks[:1]:
        cell.text = "."


def _opens_with_auxiliary(cells: list[Cell]) -> bool:
    first = next((cell for cell in cells if cell.tag not in ("CC", "UH", "PU", "QT", "RB")), None)
    return first is not None and (first.tag in ("AX", "MD") or full_form(first.text) in BE | DO)


def uninvert(sentence: Sentence, group: Group) -> None:
    cells, draft = sentence.cells, sentence.draft
    assert group.subject is not None
    verb = cells[group.first]
    last = cells[group.subject[1] - 1]
    subject = cells[group.subject[0] : group.subject[1]]
    main = cells[group.main]
    contracted = [cells[p] for p in group.negations if cells[p].low == "n't"]
    negated = bool(group.negations)
    cells.remove(verb)
    for cell in contracted:
        cells.remove(cell)
    if subject[0].low == "you" or subject[0].tag == "PRO":
        subject[0].tag = "PRS"
    if full_form(verb.text) in DO and main is not verb and not negated:
        tag = finite_tag(verb.text)
        draft.rewrite(main, verb_form(verb_lemma(main.text), tag), tag)
        return
    place = draft.place(last) + 1
    draft.insert(place, new(full_form(verb.text) if not contracted else verb.low, verb.tag))
    for cell in reversed(contracted):
        draft.insert(place + 1, new(cell.low, "NEG"))


def to_order(sentence: Sentence, k: int) -> None:
    """A statement becomes an order: ``You go`` gives ``Go``, ``He goes`` gives ``Let him go``.

    Raises:
        Unrealised: ``unclear-clause``, the subject is not found.
    """
    group = assertion(sentence, k)
    cells = sentence.cells
    if group.kind == "imperative":
        raise Unrealised("unsupported-edit", "the clause is an order already")
    straighten(cells, group)
    if group.subject is None or cells[group.subject[0]].tag in ("WP", "EX"):
        raise Unrealised("unclear-clause", "the clause has no subject that could be told to act")
    start, end = group.subject
    subject = cells[start:end]
    if not group.inverted and not _leads(sentence, group):
        raise Unrealised("unclear-clause", "the clause is not the main one")
    if group.inverted and start and any(cell.tag == "WP" for cell in cells[: group.first]):
        raise Unrealised("unsupported-edit", "the clause asks with a question word")
    main = cells[group.main]
    if group.inverted:
        uninvert(sentence, group)
        at = sentence.draft.place(subject[0])
        group = next((one for one in sentence.groups() if one.subject and one.subject[0] == at), None)
        if group is None or group.subject is None:
            raise Unrealised("unclear-clause", "the clause has no subject that could be told to act")
        subject, main = cells[group.subject[0] : group.subject[1]], cells[group.main]
    _to_base(sentence, sentence.conjuncts(group))
    strip_to_base(sentence, group)
    place = sentence.draft.place(subject[0])
    sentence.draft.cut(place, place + len(subject))
    negated = [cell for cell in cells[place : sentence.draft.place(main)] if cell.tag == "NEG"]
    for cell in negated:
        cells.remove(cell)
    support = [new("do", "AX"), new("n't" if sentence.draft.contracts else "not", "NEG")] if negated else []
    person = pronoun_cases(subject[0].text)[:1] if len(subject) == 1 else ()
    if person and person[0][0] == "you":
        sentence.draft.insert(place, *support)
    else:
        told = _as_object(subject)
        sentence.draft.insert(place, *support, new("let", "VB"), *told)
    end_plain(sentence, main)


def end_plain(sentence: Sentence, main: Cell) -> None:
    for cell in sentence.cells[sentence.draft.place(main) :]:
        if cell.tag == "EN":
            if cell.text == "?":
                cell.text = "."
            return


def _as_object(subject: list[Cell]) -> list[Cell]:
    known = pronoun_cases(subject[0].text)
    if len(subject) == 1 and known:
        return [new(pronoun(known[0][0], OBJECT), "PRO")]
    return subject


def strip_to_base(sentence: Sentence, group: Group) -> None:
    """Drops modals, do and perfect have; the first verb left takes its plain form."""
    cells, draft = sentence.cells, sentence.draft
    chain = [cells[place] for place in group.chain]
    while len(chain) > 1 and (
        chain[0].tag == "MD"
        or (chain[0].low == "'s" and chain[1].low in _HAS_AFTER)
        or full_form(chain[0].text) in DO | HAVE
        or chain[0].low in ("'ll", "'d", "'ve")
    ):
        if chain[0].low == "ought":
            cells.remove(cells[draft.place(chain[0]) + 1])
        cells.remove(chain.pop(0))
    first = chain[0]
    lemma = "be" if full_form(first.text) in BE or first.low == "'s" else verb_lemma(full_form(first.text))
    draft.rewrite(first, lemma, "VB")


def from_order(sentence: Sentence, k: int) -> None:
    """An order becomes a statement about you: ``Draw me a sheep`` gives ``You draw me a sheep``.

    Raises:
        Unrealised: ``unclear-clause``, no order is found.
    """
    waiting = [k]
    group = next(
        (one for one in sentence.groups() if one.kind == "imperative" and one.main in sentence.places(k)),
        None,
    )
    group = group or next((one for one in sentence.groups() if one.kind == "imperative"), None)
    if group is None or not waiting:
        raise Unrealised("unclear-clause", "no order was found")
    cells = sentence.cells
    verb = cells[group.first]
    following = cells[group.first + 1] if group.first + 1 < len(cells) else None
    if verb.low == "let" and following is not None and following.low in ("'s", "us"):
        cells.remove(following)
        cells[group.first : group.first + 1] = [new("we", "PRS")]
        if len(group.chain) == 1 and following.tag != "EN":
            _as_finite(cells, group.first + 1)
        return
    if verb.low == "be":
        sentence.draft.rewrite(verb, "are", "AX")
    elif verb.tag == "VB" and len(group.chain) == 1:
        verb.tag = "VBP"
    _drop_please(sentence, sentence.draft.place(verb))
    sentence.draft.insert(sentence.draft.place(verb), new("you", "PRS"))


def _as_finite(cells: list[Cell], place: int) -> None:
    if place < len(cells) and cells[place].tag == "VB":
        cells[place].tag = "VBP"


def _drop_please(sentence: Sentence, verb: int) -> None:
    """No ``please``, and no comma that goes with it, in what is no order any more."""
    start, end = sentence.sentence_bounds(verb)
    cells = sentence.cells
    for cell in [one for one in cells[start:end] if one.low == "please"]:
        place = sentence.draft.place(cell)
        first = place - 1 if place and cells[place - 1].text == "," else place
        sentence.draft.cut(first, place + 1)

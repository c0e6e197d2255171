"""Times and tenses: ``yesterday`` at the clause's end, and the verb that fits it."""

from __future__ import annotations

from graphneg.decoders.surface.agreement import person_of
from graphneg.decoders.surface.clauses import BE, DO, HAVE, Group, straighten
from graphneg.decoders.surface.draft import Cell, is_quote, new
from graphneg.decoders.surface.forms import agree, full_form, verb_form, verb_lemma
from graphneg.decoders.surface.lexical import set_concept
from graphneg.decoders.surface.sentence import Sentence, Unrealised
from graphneg.english.noun_kinds import lexeme
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import word_set

PAST = frozenset({"yesterday", "ago", "before", "once", "last"})
FUTURE = frozenset({"tomorrow", "soon", "later", "next"})
PRESENT = frozenset({"now", "nowadays"})
_CONDITIONS = word_set("if when while until till before after unless as once")
_PAST_MODAL = {"can": "could", "ca": "could", "will": "would", "wo": "would", "'ll": "would"}
_BARE_MODAL = {"could": "can", "would": "will"}


def set_time(sentence: Sentence, k: int, concept: str) -> None:
    """Replaces a time word, and the tense of the verb it goes with where the two would clash."""
    word = lexeme(concept)
    up = _timed(sentence, k)
    group = sentence.predicate(up) if up is not None else None
    place = sentence.head(k)
    if group is None or group.kind != "finite":
        group = _before(sentence, place) or group
    if word in ("last", "next") and any(one.low == "time" for one in sentence.cells[place + 1 : place + 2]):
        raise Unrealised("no-form", f"no {word} time fits the clause")
    if word in PAST | FUTURE and place and sentence.cells[place - 1].low in ("as", "how", "too", "so"):
        raise Unrealised("no-form", f"no {word} stands behind {sentence.cells[place - 1].text}")
    set_concept(sentence, k, concept)
    wanted = "past" if word in PAST else "future" if word in FUTURE else None
    if group is not None and wanted is not None and group.kind == "finite":
        change_tense(sentence, group, wanted)


def _before(sentence: Sentence, place: int) -> Group | None:
    """The last finite verb group of the sentence before a place."""
    start, _ = sentence.sentence_bounds(place)
    found = [one for one in sentence.groups() if start <= one.first < place and one.kind == "finite"]
    return found[-1] if found else None


def _timed(sentence: Sentence, k: int) -> int | None:
    """What happens then: what stands above a time word and the date or night that it is a part of."""
    up = sentence.node(k).up
    while up is not None and (sentence.node(up).role == "time" or sentence.node(up).concept == "date-entity"):
        up = sentence.node(up).up
    return up


def add_time(sentence: Sentence, k: int, concept: str) -> None:
    """Adds a time word to the clause that ``k`` heads, and fits the tense.

    Raises:
        Unrealised: ``unclear-clause``, the node heads no finite clause.
    """
    word = lexeme(concept)
    if any(cell.low == word for cell in sentence.cells):
        raise Unrealised("unchanged", f"the utterance says {word} already")
    group = sentence.finite(sentence.predicate(k))
    if group is None or group.kind not in ("finite", "imperative"):
        raise Unrealised("unclear-clause", f"{sentence.node(k).label} heads no finite clause")
    marks = sentence.cells[group.main]
    start, end = sentence.sentence_bounds(group.main)
    if not group.inverted and any(cell.text == "?" for cell in sentence.cells[group.main : end]):
        raise Unrealised("unclear-clause", "a question at the end of the sentence has a tense of its own")
    if any(cell.low == "since" for cell in sentence.cells[start:end]):
        raise Unrealised("unclear-clause", "the clause says since when")
    if group.subject and any(cell.low in _CONDITIONS for cell in sentence.cells[: group.subject[0]][-1:]):
        raise Unrealised("unclear-clause", "the clause says itself when something is")
    if word in PAST | FUTURE and _is_dated(sentence, group.main, end):
        raise Unrealised("unclear-clause", "another clause says when it is")
    if group.kind == "finite":
        change_tense(
            sentence,
            group,
            "past" if word in PAST else "future" if word in FUTURE else "present" if word in PRESENT else "",
        )
    elif word in PAST:
        raise Unrealised("unsupported-edit", "an order can't be about the past")
    words = [new(part, "RB") for part in word.split(" ")]
    place = sentence.draft.place(marks)
    end = _clause_end(sentence, place)
    start = group.subject[0] if group.subject and not group.inverted else None
    if end is not None and start is not None and _before_relative(sentence, end) and _opens(sentence, start):
        end = start
    if end is None and group.quotative and group.subject is not None:
        end = group.subject[1]
    if end is None:
        if start is None or not _opens(sentence, start):
            raise Unrealised("unclear-clause", "no place for a time word")
        sentence.draft.insert(start, *words)
    else:
        sentence.draft.insert(end, *words)


def _is_dated(sentence: Sentence, main: int, end: int) -> bool:
    """``She moved when she was ten``: a clause in the past that says when."""
    found = [place for place in range(main, end) if sentence.cells[place].low in ("when", "while")]
    after = sentence.cells[found[0] : end] if found else []
    return any(cell.low in ("was", "were") or cell.tag == "VBD" for cell in after)


def _before_relative(sentence: Sentence, place: int) -> bool:
    """Between a noun and its relative clause there is no room for a time word."""
    cells = sentence.cells
    relative = place < len(cells) and cells[place].low in ("who", "whom", "which", "that", "where")
    return relative and place > 0 and cells[place - 1].tag in (*NOUNS, "PN")


def _opens(sentence: Sentence, start: int) -> bool:
    return start == 0 or sentence.cells[start - 1].tag in ("EN", "QT", "PU", "CC", "SC", "UH")


def _clause_end(sentence: Sentence, main: int) -> int | None:
    """Where the clause of the verb at ``main`` ends; None where another clause follows without a sign."""
    cells = sentence.cells
    starts = {
        group.subject[0] if group.subject and not group.inverted else group.first
        for group in sentence.groups()
        if group.kind == "finite" and group.first > main
    }
    place = main + 1
    while place < len(cells):
        cell = cells[place]
        if cell.text == "-" and "-" not in (
            cells[place - 1].text,
            cells[min(place + 1, len(cells) - 1)].text,
        ):
            place += 1
            continue
        if cell.text == "," and _inside_list(sentence, place):
            place += 1
            continue
        if cell.tag in ("EN", "SC") or is_quote(cell) or cell.tag == "PU":
            return place
        if cell.tag == "WP":
            return place if place > main + 1 else None
        near = {start for start in starts if place < start <= place + 3}
        if cell.tag == "CC" and any(_joins(cells[place:start]) for start in near):
            return place
        if place in starts:
            return None
        place += 1
    return place


def _joins(between: list[Cell]) -> bool:
    """Whether the words from a conjunction to a verb are all of one sentence."""
    return all(cell.tag not in ("EN", "QT") for cell in between)


def _inside_list(sentence: Sentence, place: int) -> bool:
    """A comma between nouns of a list: after it no verb comes, but an ``and`` or ``or`` does."""
    cells = sentence.cells
    joint = False
    for cell in cells[place + 1 :]:
        if cell.tag in ("EN", "QT"):
            break
        if cell.tag in VERBS or cell.tag in ("SC", "WP", "PRS", "TO"):
            return False
        joint = joint or cell.low in ("and", "or")
    return joint


def change_tense(sentence: Sentence, group: Group, wanted: str) -> None:
    """Puts a finite verb group into the ``past``, ``future`` or ``present``; "" leaves it."""
    passive = len(group.chain) > 1 and full_form(sentence.cells[group.chain[-2]].text) in BE
    joined = sentence.conjuncts(group) if wanted and not passive else []
    if wanted == "past":
        _to_past(sentence, group)
    elif wanted == "future" and _under_condition(sentence, group):
        _to_present(sentence, group)
    elif wanted == "future":
        straighten(sentence.cells, group)
        _to_future(sentence, group)
    elif wanted == "present":
        _to_present(sentence, group)
    for verb in joined:
        _follow(sentence, verb, wanted, _person(sentence, group))


def _follow(sentence: Sentence, verb: Cell, wanted: str, person: str) -> None:
    lemma = verb_lemma(verb.text)
    if wanted == "future":
        sentence.draft.rewrite(verb, verb_form(lemma, "VB"), "VB")
    elif wanted == "past" and not (verb.tag == "VB" and _after_modal(sentence, verb)):
        sentence.draft.rewrite(verb, verb_form(lemma, "VBD"), "VBD")
    elif wanted == "present" and verb.tag == "VBD":
        sentence.draft.rewrite(verb, agree(lemma, "VBP", person), "VBP")


def _after_modal(sentence: Sentence, verb: Cell) -> bool:
    """Whether the verb still hangs on a modal, a form of do, or an infinitive before it."""
    before = [one for one in sentence.groups() if one.main < sentence.draft.place(verb)]
    if not before:
        return False
    last = before[-1]
    first = sentence.cells[last.first]
    return (
        last.kind in ("infinitive", "bare") or first.tag == "MD" or (len(last.chain) > 1 and first.low in DO)
    )


def _under_condition(sentence: Sentence, group: Group) -> bool:
    """``if`` and ``when`` clauses speak of the future in the present tense."""
    start = group.subject[0] if group.subject and not group.inverted else group.first
    return start > 0 and sentence.cells[start - 1].low in _CONDITIONS


def _person(sentence: Sentence, group: Group) -> str:
    if group.subject is None:
        return "he"
    cells = sentence.cells[group.subject[0] : group.subject[1]]
    if cells[0].tag == "EX" and group.main + 1 < len(sentence.cells):
        following = sentence.cells[group.main + 1 : group.main + 5]
        return "they" if any(cell.tag == "NNS" for cell in following) else "he"
    return person_of(cells)


def _to_past(sentence: Sentence, group: Group) -> None:
    draft, cells = sentence.draft, sentence.cells
    verb = cells[group.first]
    low = full_form(verb.text)
    if _is_would(sentence, group):
        _past_modal(sentence, group)
    elif low in BE or (low == "'s" and not _is_perfect(sentence, group)):
        draft.rewrite(verb, agree("be", "VBD", _person(sentence, group)))
    elif low in DO and len(group.chain) > 1:
        draft.rewrite(verb, "did")
    elif (low in HAVE or low == "'s") and len(group.chain) > 1:
        if low != "had":
            _drop_auxiliary(sentence, group, "VBD")
    elif verb.tag == "MD" or low == "will":
        _past_modal(sentence, group)
    elif verb.tag != "VBD":
        draft.rewrite(verb, verb_form(verb_lemma(verb.text), "VBD"), "AX" if verb.tag == "AX" else "VBD")


def _is_perfect(sentence: Sentence, group: Group) -> bool:
    return len(group.chain) > 1 and sentence.cells[group.chain[1]].low in (
        "been",
        "got",
        "had",
        "become",
        "seen",
    )


def _is_would(sentence: Sentence, group: Group) -> bool:
    """``'d`` before a plain verb form is would, before a participle had."""
    following = sentence.cells[group.chain[1]].tag if len(group.chain) > 1 else ""
    return sentence.cells[group.first].low == "'d" and following == "VB"


def _past_modal(sentence: Sentence, group: Group) -> None:
    draft, cells = sentence.draft, sentence.cells
    verb = cells[group.first]
    low = "would" if verb.low == "'d" else full_form(verb.text)
    main = cells[group.chain[1]] if len(group.chain) > 1 else None
    if low in ("will", "shall") and not group.inverted and not group.negations:
        _drop_auxiliary(sentence, group, "VBD")
    elif low in ("will", "shall"):
        draft.rewrite(verb, "did", "AX")
        if main is not None and main.low == "be":
            raise Unrealised("unsupported-edit", "will be not has no simple past here")
    elif low in ("can", "ca"):
        draft.rewrite(verb, "could")
    elif low == "must" and not group.negations and not group.inverted and main is not None:
        draft.rewrite(verb, "had", "AX")
        draft.insert(draft.place(verb) + 1, new("to", "TO"))
    elif (
        low in ("may", "might", "should", "must", "would", "could") and main is not None and main.tag == "VB"
    ):
        if main.low == "have":
            return
        draft.rewrite(main, verb_form(verb_lemma(main.text), "VBN"), "VBN")
        draft.insert(draft.place(main), new("have", "VB"))


def _drop_auxiliary(sentence: Sentence, group: Group, tag: str) -> None:
    """``have seen``: ``saw``; with not or before the subject ``did`` takes its place."""
    draft, cells = sentence.draft, sentence.cells
    verb, main = cells[group.first], cells[group.chain[1]] if len(group.chain) > 1 else None
    if main is None:
        return
    lemma = verb_lemma(main.text)
    past = agree("be", "VBD", _person(sentence, group)) if lemma == "be" else verb_form(lemma, tag)
    if lemma == "be":
        cells.remove(main)
        draft.rewrite(verb, past, "AX")
    elif group.negations or group.inverted:
        draft.rewrite(verb, "did", "AX")
        draft.rewrite(main, verb_form(lemma, "VB"), "VB")
    else:
        initial = verb.initial
        cells.remove(verb)
        draft.rewrite(main, past, "VBD")
        main.initial = main.initial or initial


def _to_future(sentence: Sentence, group: Group) -> None:
    draft, cells = sentence.draft, sentence.cells
    verb = cells[group.first]
    low = full_form(verb.text)
    main = cells[group.chain[1]] if len(group.chain) > 1 else None
    if verb.tag == "MD" or _is_would(sentence, group):
        low = "would" if low == "'d" else low
        if low in _BARE_MODAL:
            contracted = any(cells[place].low == "n't" for place in group.negations)
            draft.rewrite(
                verb, {"can": "ca", "will": "wo"}[_BARE_MODAL[low]] if contracted else _BARE_MODAL[low]
            )
        if main is not None and main.low == "have" and len(group.chain) > 2:
            given = cells[group.chain[2]]
            draft.rewrite(given, verb_form(verb_lemma(given.text), "VB"), "VB")
            cells.remove(main)
        return
    if low in DO and main is not None:
        contracted = any(cells[place].low == "n't" for place in group.negations)
        draft.rewrite(verb, "wo" if contracted else "will", "MD")
    elif (low in HAVE or _is_perfect(sentence, group)) and main is not None:
        draft.rewrite(verb, "will", "MD")
        draft.rewrite(main, verb_form(verb_lemma(main.text), "VB"), "VB")
    elif low in BE or low == "'s":
        contracted = any(cells[place].low == "n't" for place in group.negations)
        draft.rewrite(verb, "wo" if contracted else "will", "MD")
        last = group.subject[1] if group.inverted and group.subject else group.first + 1
        place = max([last, *(one + 1 for one in group.negations)])
        draft.insert(place, new("be", "VB"))
    else:
        lemma = verb_lemma(verb.text)
        place = group.first
        while place and cells[place - 1].tag == "RB" and group.subject and place - 1 >= group.subject[1]:
            place -= 1
        draft.rewrite(verb, verb_form(lemma, "VB"), "VB")
        draft.insert(place, new("will", "MD"))


def _to_present(sentence: Sentence, group: Group) -> None:
    draft, cells = sentence.draft, sentence.cells
    verb = cells[group.first]
    low = full_form(verb.text)
    person = _person(sentence, group)
    if low in ("was", "were"):
        draft.rewrite(verb, agree("be", "VBP", person))
    elif low == "did" and len(group.chain) > 1:
        draft.rewrite(verb, agree("do", "VBP", person))
    elif low == "had":
        draft.rewrite(verb, agree("have", "VBP", person))
    elif low == "could":
        draft.rewrite(verb, "can")
    elif verb.tag == "VBD":
        draft.rewrite(verb, agree(verb_lemma(verb.text), "VBP", person), "VBP")

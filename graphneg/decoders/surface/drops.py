"""The words of a subtree go, with the preposition, conjunction or commas that led to it."""

from __future__ import annotations

from graphneg.alignment.words import word_set
from graphneg.decoders.surface.agreement import PEOPLE, agree_with, is_subject
from graphneg.decoders.surface.countability import may_be_bare
from graphneg.decoders.surface.draft import new
from graphneg.decoders.surface.forms import article, full_form, pronoun_cases, verb_lemma
from graphneg.decoders.surface.grafts import splice
from graphneg.decoders.surface.phrases import Phrase, phrase
from graphneg.decoders.surface.sentence import Sentence, Unrealised
from graphneg.decoders.surface.tag_tables import NOUNS, VERBS


def drop(sentence: Sentence, k: int) -> None:
    """Takes the words of a subtree out, with the preposition, conjunction or commas that led to it.

    An argument that its verb can't miss leaves ``something`` or ``someone``.

    Raises:
        Unrealised: ``no-alignment``; ``unclear-clause``, what is left would have no verb.
    """
    node = sentence.node(k)
    if node.role is not None and node.role.startswith("snt"):
        _drop_sentence(sentence, k)
        return
    target = phrase(sentence, k)
    if target.kind == "determiner":
        _drop_determiner(sentence, target)
        return
    if node.role == "condition" and not _subordinate(sentence, target):
        raise Unrealised("unclear-clause", "no clause with if was found")
    main = target.kind in ("predicate", "clause")
    if main and not (_conjunct(sentence, target) or _subordinate(sentence, target)):
        raise Unrealised("unclear-clause", "the main clause can't go")
    if target.kind == "possessive":
        sentence.draft.rewrite(sentence.cells[target.start], "the", "DT")
        return
    if target.kind == "nominal" and _inner_head(sentence, k, target):
        raise Unrealised("unclear-clause", "the word is the head of its phrase")
    if target.kind in ("nominal", "verb") and _argument(sentence, k, target):
        return
    _remove(sentence, target, (node.role or "").startswith("op"))


def _inner_head(sentence: Sentence, k: int, target: Phrase) -> bool:
    """Whether what the node modifies stands before it in the same noun phrase (``boa constrictors``)."""
    up = sentence.node(k).up
    above = sentence.places(up) if up is not None else []
    return bool(above) and target.start <= above[0] < target.head


def _drop_determiner(sentence: Sentence, target: Phrase) -> None:
    """``this tale`` becomes ``the tale``, ``six years`` ``years``, ``no idea`` an idea."""
    cells, draft = sentence.cells, sentence.draft
    cell = cells[target.start]
    end = target.end
    while end < len(cells) and cells[end].tag in ("JJ", "RB", "CD", "DT", "VBN", "VBG", *NOUNS):
        end += 1
    head = cells[end - 1]
    before = cells[target.start - 1] if target.start else None
    determined = before is not None and before.tag in ("DT", "PS", "POS")
    if cell.low in ("a", "an", "the", "such", "what", "which") or end == target.end:
        raise Unrealised("unclear-clause", f"{cell.text} can't be left out")
    followed = cells[target.end].tag in ("DT", "PS")
    if (
        head.tag in ("NNS", "NNP")
        or determined
        or followed
        or (may_be_bare(head.low) and cell.low not in _POINTING)
    ):
        if cell.low in _POINTING:
            draft.rewrite(cell, "the", "DT")
        else:
            draft.cut(target.start, target.end)
    elif cell.low in (*_POINTING, "every", "each", "all", "both", "another", "either"):
        draft.rewrite(cell, "the", "DT")
    else:
        draft.rewrite(cell, article(cells[target.end].text), "DT")


_POINTING = ("this", "that", "these", "those")


def _drop_sentence(sentence: Sentence, k: int) -> None:
    places = [place for one in range(k, sentence.node(k).last + 1) for place in sentence.places(one)]
    if not places:
        raise Unrealised("no-alignment", "no word stands for the sentence")
    places.sort()
    start, end = sentence.sentence_bounds(places[len(places) // 2])
    if end - start >= len([cell for cell in sentence.cells if cell.tag not in ("QT",)]):
        raise Unrealised("unclear-clause", "the sentence is all there is")
    sentence.draft.cut(start, end)


def _conjunct(sentence: Sentence, target: Phrase) -> bool:
    return bool(target.start) and sentence.cells[target.start - 1].tag == "CC"


def _subordinate(sentence: Sentence, target: Phrase) -> bool:
    return bool(target.start) and sentence.cells[target.start - 1].tag in ("SC", "WP")


def _argument(sentence: Sentence, k: int, target: Phrase) -> bool:
    """Subjects and objects leave an indefinite pronoun; True when that was done."""
    cells = sentence.cells
    before = cells[target.start - 1] if target.start else None
    subject = is_subject(sentence, cells[target.head])
    tag = before.tag if before is not None else "EN"
    if target.kind == "verb":
        if tag == "TO" and target.start > 1 and cells[target.start - 2].tag in VERBS:
            cells[target.start - 1 : target.end] = [new("something", "PN")]
            return True
        return False
    if target.end < len(cells) and cells[target.end].tag == "POS":
        keeps = cells[target.start].tag in ("PS", "DT") and target.start < target.head
        sentence.draft.cut(target.start + keeps, target.end + 1)
        return True
    objective = tag in ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG", "AX", "NEG", "PRO")
    if not subject and not objective:
        return False
    if any(cell.tag == "CC" for cell in cells[target.end : target.end + 1]) or tag == "CC":
        return False
    replacement = new("someone" if _is_person(sentence, k, target) else "something", "PN")
    splice(sentence, target, [replacement])
    if subject:
        agree_with(sentence, replacement)
    return True


def _is_person(sentence: Sentence, k: int, target: Phrase) -> bool:
    head = sentence.cells[target.head]
    known = pronoun_cases(head.text)
    return sentence.node(k).concept == "person" or head.low in PEOPLE or (bool(known) and known[0][0] != "it")


def _remove(sentence: Sentence, target: Phrase, conjunct: bool) -> None:
    cells = sentence.cells
    start, end = target.start, target.end
    _check_copula(sentence, target)
    if target.kind not in ("adjective", "modifier", "adverb"):
        while start and cells[start - 1].tag in ("IN", "TO", "SC", "WP"):
            start -= 1
    if (
        target.kind == "nominal"
        and end + 1 < len(cells)
        and cells[end].tag == "IN"
        and cells[end + 1].tag == "PRO"
    ):
        end += 2
    while target.kind in ("verb", "clause", "predicate") and end < len(cells) and cells[end].tag == "PRO":
        end += 1
    if conjunct and _last_of_list(sentence, start, end):
        return
    if conjunct and start and cells[start - 1].tag == "CC" and (end >= len(cells) or cells[end].tag != "CC"):
        start -= 1
    elif (
        conjunct
        and end < len(cells)
        and cells[end].tag == "CC"
        and start
        and cells[start - 1].tag not in ("PU", "EN")
    ):
        end += 1
    if (
        start
        and cells[start - 1].text == ","
        and end < len(cells)
        and cells[end].text in (",", ".", "!", "?")
    ):
        start -= 1
    elif (
        end < len(cells)
        and cells[end].text == ","
        and (start == 0 or cells[start - 1].tag in ("EN", "QT", "CC", "PU"))
    ):
        end += 1
    if start == 0 and end >= len(cells) - 1:
        raise Unrealised("unclear-clause", "nothing would be left")
    sentence.draft.cut(start, end)


def _last_of_list(sentence: Sentence, start: int, end: int) -> bool:
    """``a, b, and c`` without c is ``a and b``."""
    cells = sentence.cells
    if start < 3 or cells[start - 1].low not in ("and", "or"):
        return False
    cut = start - 2 if cells[start - 2].text == "," else start - 1
    comma = next((p for p in range(cut - 1, max(-1, cut - 8), -1) if cells[p].text == ","), None)
    between = cells[comma + 1 : cut] if comma is not None else []
    if comma is None or any(cell.tag in (*VERBS, "IN", "SC", "QT") for cell in between):
        return False
    joint = cells[start - 1].text
    sentence.draft.cut(cut, end)
    cells[comma].text, cells[comma].tag, cells[comma].home = joint, "CC", -1
    return True


def _check_copula(sentence: Sentence, target: Phrase) -> None:
    """A linking verb can't lose its complement."""
    if target.kind not in ("adjective", "adverb", "other", "nominal"):
        return
    cells = sentence.cells
    place = target.start
    while place and (cells[place - 1].tag in ("RB", "NEG") or cells[place - 1].text == ","):
        place -= 1
    after = cells[target.end] if target.end < len(cells) else None
    complete = after is not None and after.tag in ("JJ", "VBN", "VBG", "DT", "PS", "NN", "NNS", "PRO", "CD")
    group = next((one for one in sentence.groups() if place - 1 in one.chain and one.main == place - 1), None)
    if group is not None and verb_lemma(full_form(cells[group.main].text)) in _LINKING and not complete:
        raise Unrealised("unclear-clause", "the verb would have no predicate")


_LINKING = word_set("be is am are was were 's become seem")

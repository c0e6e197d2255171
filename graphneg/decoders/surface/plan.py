"""Sorts the edits of an utterance into the changes that words can express, in a safe order.

Words change first (pronouns, concepts, phrases), then what goes, then negation and time, then the mood
of the whole, last the sentences that are added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graphneg.alignment.concepts import PRONOUNS
from graphneg.alignment.words import word_set
from graphneg.decoders.surface import drops, embedding, grafts, lexical, mood, polarity, pronouns, tense
from graphneg.decoders.surface.copies import refuse_unsaid
from graphneg.decoders.surface.embedding import is_dangling
from graphneg.decoders.surface.reading import Readings
from graphneg.decoders.surface.scope import refuse_answer
from graphneg.decoders.surface.sentence import Sentence, Unrealised
from graphneg.model import AmrGraph, Edit

_INTERJECTIONS = word_set("okay ok hmm oh ah uh hum yes no well okay-04 ok-01 hm um huh wow aha")
_OPENINGS = _INTERJECTIONS | word_set("yeah yep yup yea nope sure certainly lol haha hey sorry thanks")
_TIME_CONCEPTS = tense.PAST | tense.FUTURE | tense.PRESENT | {"today", "tonight"}
_TRANSFER = frozenset({"set", "graft"})


@dataclass(slots=True)
class Sources:
    """Texts and graphs that grafts copy from."""

    graphs: Mapping[str, AmrGraph]
    texts: Mapping[str, str]
    readings: Readings
    opened: int = field(default=0)

    def sentence(self, amr: str | None) -> Sentence:
        """A fresh sentence to copy from.

        Raises:
            Unrealised: ``no-source``, the graph or its text was not given.
        """
        if amr is None or amr not in self.graphs or amr not in self.texts:
            raise Unrealised("no-source", f"the text of {amr} was not given")
        self.opened += 1
        return Sentence(self.readings.of(self.texts[amr], self.graphs[amr]), self.readings)


def realise(sentence: Sentence, edits: Sequence[Edit], sources: Sources) -> str:
    """The text under the edits.

    Raises:
        Unrealised: an edit that the words can't express.
    """
    whole = _whole_utterance(sentence, edits) or _taken_over(edits, sources)
    if whole is not None:
        return whole
    own = [edit for edit in edits if edit.copy_of is None]
    appended = [edit for edit in own if edit.op == "graft" and edit.role is not None]
    wraps = [edit for edit in own if edit.op == "wrap"]
    plain = [edit for edit in own if edit not in appended and edit not in wraps and edit.k >= 0]
    _change_words(sentence, plain, sources)
    for edit in plain:
        if edit.op == "drop" and not _is_mark(sentence, edit.k):
            drops.drop(sentence, edit.k)
    _change_marks(sentence, plain)
    _wrap(sentence, wraps, own)
    text = sentence.draft.text()
    for edit in appended:
        text = _append(sentence, text, edit, edits, sources)
    return text


def _whole_utterance(sentence: Sentence, edits: Sequence[Edit]) -> str | None:
    """All content gone: what is left is one word such as ``Okay``."""
    top = [edit for edit in edits if edit.op in ("set", "wrap") and edit.k == 0 and edit.copy_of is None]
    if not top or top[-1].concept not in _INTERJECTIONS:
        return None
    dropped = {edit.k for edit in edits if edit.op == "drop" and edit.copy_of is None}
    if 0 not in dropped and any(child.k not in dropped for child in sentence.graph.children(0)):
        return None
    word = (top[-1].concept or "").split("-")[0]
    quoted = sentence.cells[:1] and sentence.cells[0].text == '"'
    mark = " ." if sentence.draft.tokenised else "."
    word = word.capitalize() if sentence.draft.capitals else word
    return f'" {word} . "' if quoted and sentence.draft.tokenised else f"{word}{mark}"


def _taken_over(edits: Sequence[Edit], sources: Sources) -> str | None:
    """Another utterance in the place of all of this one: its words, as edits of the copy leave them."""
    top = [edit for edit in edits if edit.copy_of is None]
    if len(top) != 1 or top[0].op != "graft" or top[0].k != 0 or top[0].role is not None:
        return None
    return _copy(top[0], edits, sources)


def _change_words(sentence: Sentence, edits: Sequence[Edit], sources: Sources) -> None:
    persons = {
        edit.k: edit.concept
        for edit in edits
        if edit.op == "set" and edit.concept in PRONOUNS and sentence.node(edit.k).concept in PRONOUNS
    }
    if persons:
        pronouns.set_pronouns(sentence, persons)
    for edit in edits:
        if edit.op == "set" and edit.k not in persons:
            _set(sentence, edit)
        elif edit.op == "graft":
            source = sources.sentence(edit.from_amr)
            grafts.replace_with(sentence, edit.k, source, edit.from_k or 0, sources.opened)


def _set(sentence: Sentence, edit: Edit) -> None:
    if edit.value is not None:
        lexical.set_value(sentence, edit.k, edit.value)
    elif edit.concept is not None and (
        edit.concept in _TIME_CONCEPTS or sentence.node(edit.k).role == "time"
    ):
        tense.set_time(sentence, edit.k, edit.concept)
    elif edit.concept is not None:
        lexical.set_concept(sentence, edit.k, edit.concept)
    else:
        raise Unrealised("unsupported-edit", "set without concept or value")


def _is_mark(sentence: Sentence, k: int) -> bool:
    return sentence.node(k).role in ("polarity", "mode", "polite")


def _change_marks(sentence: Sentence, edits: Sequence[Edit]) -> None:
    """Polarity, mood and added times."""
    for edit in edits:
        if edit.op == "drop" and _is_mark(sentence, edit.k):
            _drop_mark(sentence, edit.k)
        elif edit.op == "add":
            _add(sentence, edit)


def _drop_mark(sentence: Sentence, k: int) -> None:
    node = sentence.node(k)
    if node.role == "polarity" and node.value == "-":
        polarity.affirm(sentence, k)
    elif node.role == "mode" and node.value == "imperative":
        mood.from_order(sentence, node.up or 0)
    elif node.label in ("amr-unknown", "interrogative"):
        mood.to_statement(sentence, node.up or 0)
    else:
        raise Unrealised("unsupported-edit", f"{node.role} {node.label} can't be dropped from the words")


def _add(sentence: Sentence, edit: Edit) -> None:
    if edit.role == "polarity" and edit.value == "-":
        polarity.negate(sentence, edit.k)
    elif (edit.role == "polarity" and edit.concept == "amr-unknown") or (
        edit.role == "mode" and edit.value == "interrogative"
    ):
        refuse_answer(sentence, max(sentence.places(edit.k), default=0))
        mood.to_question(sentence, edit.k)
    elif edit.role == "mode" and edit.value == "imperative":
        mood.to_order(sentence, edit.k)
    elif edit.role == "time" and edit.concept is not None:
        tense.add_time(sentence, edit.k, edit.concept)
    else:
        raise Unrealised("unsupported-edit", f"no words for :{edit.role} {edit.concept or edit.value}")


def _wrap(sentence: Sentence, wraps: Sequence[Edit], edits: Sequence[Edit]) -> None:
    for edit in wraps:
        if edit.concept == "multi-sentence":
            continue
        if edit.k != 0 or edit.concept is None:
            raise Unrealised("unsupported-edit", "only a whole sentence can be wrapped")
        person = next(
            (one.concept for one in edits if one.op == "add" and one.k == -1 and one.role == "ARG0"), None
        )
        embedding.wrap(sentence, edit.concept, person if person in PRONOUNS else "i")


def _append(sentence: Sentence, text: str, graft: Edit, edits: Sequence[Edit], sources: Sources) -> str:
    """The text with a contradicted copy of another turn (or of one sentence of it) after it."""
    if graft.role is None or not graft.role.startswith("snt"):
        raise Unrealised("unsupported-edit", f"a subtree can't be added as :{graft.role}")
    return _joined(text, _copy(graft, edits, sources), sentence.draft.tokenised)


def _copy(graft: Edit, edits: Sequence[Edit], sources: Sources) -> str:
    """The words of what a graft copies, as the edits of the copy leave them."""
    source = sources.sentence(graft.from_amr)
    copy = [
        edit._replace(copy_of=None)
        for edit in edits
        if edit.copy_of == graft.from_amr and edit.site == graft.site
    ]
    inner = Sources(sources.graphs, sources.texts, sources.readings, sources.opened)
    _keep_sentence(source, graft.from_k or 0)
    _drop_opening(source)
    if any(is_dangling(source.cells, place) for place in range(len(source.cells))):
        raise Unrealised("unclear-clause", "what would be said again breaks off")
    if graft.role is not None:
        refuse_unsaid(source)
    before = source.draft.text()
    copied = realise(source, copy, inner).strip()
    if copy and copied == before.strip():
        raise Unrealised("unchanged", "the copied sentence did not change")
    return copied


def _keep_sentence(source: Sentence, k: int) -> None:
    """Leaves only the words of one ``:sntN`` of a turn; what it mentions first may be said again later."""
    if k == 0:
        return
    last = source.node(k).last
    places = [place for one in range(k, last + 1) for place in source.places(one)[:1]]
    if not places:
        raise Unrealised("no-alignment", "no word stands for the sentence that is copied")
    start, _ = source.sentence_bounds(min(places))
    _, end = source.sentence_bounds(max(places))
    source.cells[:] = source.cells[start:end]


def _drop_opening(source: Sentence) -> None:
    """``Yes, and I turned it off``: what goes on from the turn before is no part of what is said again."""
    cells = source.cells
    while len(cells) > 2 and (
        cells[0].tag in ("UH", "CC") or (cells[0].low in _OPENINGS and cells[1].text in (",", ".", "!"))
    ):
        source.draft.cut(0, 2 if cells[1].text in (",", ".", "!", "...") else 1)


def _joined(text: str, appended: str, tokenised: bool) -> str:
    if appended.count('"') == 1:
        appended = appended.strip('"').strip()
    body = text.rstrip()
    tail = body[-1:]
    if tail.isalnum():
        body += " ." if tokenised else "."
    return f"{body} {appended}"

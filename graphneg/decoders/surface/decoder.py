"""The surface decoder: realises the edits of an utterance on its words, and says why where it can't.

In: `EditedUtterance`s. Out: their texts, or reasons. The edits of an utterance are sorted into changes that
words can express, in a safe order: words change first (pronouns, concepts, phrases), then what goes, then
negation and time, then the mood of the whole, last the sentences that are added.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from graphneg.amr.alignment import get_aligner
from graphneg.amr.concept_words import PRONOUNS
from graphneg.decoders.base import refuse_original
from graphneg.decoders.surface import grafts, lexical, mood, polarity, tense
from graphneg.decoders.surface.agreement import set_pronouns
from graphneg.decoders.surface.draft import EDGE, Readings
from graphneg.decoders.surface.forms import DO, HAVE
from graphneg.decoders.surface.negation_scope import refuse_answer
from graphneg.decoders.surface.sentence import RealisationError, SentenceDraft
from graphneg.decoders.surface.subtrees import drop, is_dangling, wrap
from graphneg.english.tokens import joined, stands_apart, taken_apart, with_closed_clitics
from graphneg.english.words import word_class
from graphneg.model import AmrGraph, Decoded, Edit, EditedUtterance

MAX_TOKENS = 1_000
LONGEST_COPY = 18
"""Words of a sentence that is said again: of a longer one, what is denied is lost."""
_LATIN_SHARE = 0.5
_INTERJECTIONS = word_class("interjections")
_TIME_CONCEPTS = tense.TENSES.keys() | {"today", "tonight"}
_MARKS = ("polarity", "mode", "polite")
_WORDLESS = re.compile(r"amr-.*|.*-91|.*-(?:entity|quantity)|have-.*-92")
_STRUCTURAL_VALUES = frozenset({"interrogative", "imperative", "expressive"})


@dataclass(slots=True)
class Sources:
    """Texts and graphs that grafts copy from; ``opened`` counts the sentences that were."""

    graphs: Mapping[str, AmrGraph]
    texts: Mapping[str, str]
    readings: Readings
    opened: int = 0

    def sentence(self, amr: str | None) -> SentenceDraft:
        """A fresh sentence to copy from; raises ``no-source`` where the graph or its text was not given."""
        if amr is None or amr not in self.graphs or amr not in self.texts:
            raise RealisationError("no-source", f"the text of {amr} was not given")
        self.opened += 1
        return SentenceDraft(self.readings.of(self.texts[amr], self.graphs[amr]))


def realise(sentence: SentenceDraft, edits: Sequence[Edit], sources: Sources) -> str:
    """The text under the edits; raises `RealisationError` for one that the words can't express."""
    own = [edit for edit in edits if edit.copy_of is None]
    for edit in own:
        _refuse_wordless(edit)
    if len(own) == 1 and own[0].op == "graft" and own[0].k == 0 and own[0].role is None:
        return _copy(own[0], edits, sources)  # another utterance in the place of all of this one
    if (reply := _interjection(sentence, own)) is not None:
        return reply
    appended = [edit for edit in own if edit.op == "graft" and edit.role is not None]
    plain = [edit for edit in own if edit.op != "wrap" and edit not in appended and edit.k >= 0]
    _change_words(sentence, plain, sources)
    for edit in plain:
        if edit.op == "drop" and sentence.node(edit.k).role not in _MARKS:
            drop(sentence, edit.k)
    for edit in plain:
        if edit.op == "add" or (edit.op == "drop" and sentence.node(edit.k).role in _MARKS):
            _change_mark(sentence, edit)
    _wrap(sentence, own)
    text = sentence.text()
    for edit in appended:
        # A contradicted copy of another turn, or of one sentence of it, goes after the text.
        if edit.role is None or not edit.role.startswith("snt"):
            raise RealisationError("unsupported-edit", f"a subtree can't be added as :{edit.role}")
        copied, body = _copy(edit, edits, sources), text.rstrip()
        if copied.count('"') == 1:
            copied = copied.strip('"').strip()
        stop = (" ." if sentence.tokenised else ".") if body[-1:].isalnum() else ""
        text = f"{body}{stop} {copied}"
    return text


def _refuse_wordless(edit: Edit) -> None:
    """Raise ``no-words`` where an edit asks for a concept or constant that no word says.

    ``amr-unknown`` only builds a question, ``have-rel-role-91`` a relation, ``date-entity`` a date: printed
    as words they would be "amr unknown". As marks (``add`` of a polarity or a mode) and above sentences
    (``multi-sentence``) they have no words of their own.
    """
    if (edit.op == "add" and edit.role in _MARKS) or (edit.op == "wrap" and edit.concept == "multi-sentence"):
        return
    if edit.op in ("set", "add", "wrap") and edit.concept is not None and is_wordless(edit.concept):
        raise RealisationError(
            "no-words", f"{edit.concept} only builds structure: choose a concept with a word"
        )
    if edit.op == "set" and edit.value in _STRUCTURAL_VALUES:
        raise RealisationError("no-words", f"{edit.value} is a mark of a clause: choose a value with a word")


def is_wordless(concept: str) -> bool:
    """Return whether a concept only builds structure, so that no word says it.

    >>> is_wordless("have-rel-role-91"), is_wordless("amr-unknown"), is_wordless("like-01")
    (True, True, False)
    """
    return concept in word_class("wordless-concepts") or _WORDLESS.fullmatch(concept) is not None


def _interjection(sentence: SentenceDraft, edits: Sequence[Edit]) -> str | None:
    """All content gone: what is left is one word such as ``Okay``."""
    top = [edit for edit in edits if edit.op in ("set", "wrap") and edit.k == 0]
    if not top or top[-1].concept not in _INTERJECTIONS:
        return None
    dropped = {edit.k for edit in edits if edit.op == "drop"}
    if 0 not in dropped and any(child.k not in dropped for child in sentence.graph.children(0)):
        return None
    word = (top[-1].concept or "").split("-")[0]
    word = word.capitalize() if sentence.capitals else word
    if not sentence.tokenised:
        return f"{word}."
    return f'" {word} . "' if sentence.tokens[:1] and sentence.tokens[0].text == '"' else f"{word} ."


def _change_words(sentence: SentenceDraft, edits: Sequence[Edit], sources: Sources) -> None:
    persons = {
        edit.k: edit.concept
        for edit in edits
        if edit.op == "set" and edit.concept in PRONOUNS and sentence.node(edit.k).concept in PRONOUNS
    }
    if persons:
        set_pronouns(sentence, persons)
    for edit in edits:
        if edit.op == "graft":
            source = sources.sentence(edit.from_amr)
            grafts.replace_with(sentence, edit.k, source, edit.from_k or 0, sources.opened)
        if edit.op != "set" or edit.k in persons:
            continue
        if edit.value is not None:
            lexical.set_value(sentence, edit.k, edit.value)
        elif edit.concept is None:
            raise RealisationError("unsupported-edit", "set without concept or value")
        elif edit.concept in _TIME_CONCEPTS or sentence.node(edit.k).role == "time":
            tense.set_time(sentence, edit.k, edit.concept)
        else:
            lexical.set_concept(sentence, edit.k, edit.concept)


def _change_mark(sentence: SentenceDraft, edit: Edit) -> None:
    """Adds a polarity, a mood or a time, or drops one of the first two."""
    node = sentence.node(edit.k)
    k, role, added = edit.k, edit.role if edit.op == "add" else node.role, edit.concept or edit.value
    match edit.op, role, added if edit.op == "add" else node.label:
        case ("add", "polarity", "-"):
            polarity.negate(sentence, k)
        case ("add", "polarity", "amr-unknown") | ("add", "mode", "interrogative"):
            refuse_answer(sentence, max(sentence.indices(k), default=0))
            mood.to_question(sentence, k)
        case ("add", "mode", "imperative"):
            mood.to_order(sentence, k)
        case ("add", "time", str(concept)) if edit.concept is not None:
            tense.add_time(sentence, k, concept)
        case ("drop", "polarity", "-") if node.value:
            polarity.affirm(sentence, k)
        case ("drop", "mode", "imperative") if node.value:
            mood.from_order(sentence, node.up or 0)
        case ("drop", _, "amr-unknown" | "interrogative"):
            mood.to_statement(sentence, node.up or 0)
        case ("add", _, _):
            raise RealisationError("unsupported-edit", f"no words for :{role} {added}")
        case _:
            why = f"{role} {node.label} can't be dropped from the words"
            raise RealisationError("unsupported-edit", why)


def _wrap(sentence: SentenceDraft, edits: Sequence[Edit]) -> None:
    for edit in edits:
        if edit.op != "wrap" or edit.concept == "multi-sentence":
            continue
        if edit.k != 0 or edit.concept is None:
            raise RealisationError("unsupported-edit", "only a whole sentence can be wrapped")
        subjects = (
            other.concept for other in edits if (other.op, other.k, other.role) == ("add", -1, "ARG0")
        )
        person = next(subjects, None)
        wrap(sentence, edit.concept, person if person in PRONOUNS else "i")


def _copy(graft: Edit, edits: Sequence[Edit], sources: Sources) -> str:
    """The words of what a graft copies, as the edits of the copy leave them."""
    source = sources.sentence(graft.from_amr)
    copy = [
        edit._replace(copy_of=None)
        for edit in edits
        if edit.copy_of == graft.from_amr and edit.site == graft.site
    ]
    _keep_sentence(source, graft.from_k or 0)
    if is_dangling(source.tokens, 0):
        raise RealisationError("unclear-clause", "what would be said again breaks off")
    if graft.role is not None or any(edit.op != "set" for edit in copy):
        refuse_unsaid(source)
    before = source.text()
    copied = realise(source, copy, replace(sources)).strip()
    if copy and copied == before.strip():
        raise RealisationError("unchanged", "the copied sentence did not change")
    return copied


def refuse_unsaid(source: SentenceDraft) -> None:
    """Raises ``unclear-clause`` where a sentence can't be said again on its own (rules ``say-again``).

    A question asks for something else there; *I think so* stands for what was said before it; *as long as it
    rains* is a part of another clause; *besides, I like it too* goes on from what is not said again.
    """
    tokens, supposing = source.tokens, word_class("supposing")
    marks = [token for token in tokens if token.tag == "EN"]
    clauses = [group for group in source.groups() if group.is_main]
    anaphoric = any(
        token.low in ("so", "not") and tokens.at(index + 1).tag in ("EN", "PU") and before.lemma in supposing
        for index, (before, token) in enumerate(pairwise(tokens), 1)
    )
    # That you all do; if you can: the verb was said before.
    words = [token for token in tokens if token.tag not in ("EN", "QT")]
    if words and (words[-1].low == "not" or words[-1].tag == "NEG"):
        words.pop()
    named = len(words) > 1 and words[-2].tag in ("PRS", "NNP", "RB", "DT", "PN", "JJ")
    unsaid = named and (words[-1].tag == "MD" or words[-1].full in DO | HAVE)
    source.refuse(
        "say-again",
        0,
        asks=bool(marks) and marks[-1].text == "?",
        anaphoric=anaphoric,
        breaks_off=unsaid and all(token.tag != "WP" for token in words),
        clause=bool(clauses),
        part=len(clauses) == 1 and clauses[0].subject is not None,
        goes_on=any(token.low in word_class("going-on") for token in tokens),
        long=len(words) > LONGEST_COPY,
        several=any(group.subject and tokens.at(group.subject[0] - 1).text == "," for group in clauses[1:]),
        opener=tokens.at(clauses[0].subject[0] - 1) if clauses and clauses[0].subject else EDGE,
        inverted=any(group.inverted for group in clauses),
    )


def _keep_sentence(source: SentenceDraft, k: int) -> None:
    """Leaves the words of one ``:sntN`` of a turn, without what goes on from the turn before: *Yes, and*."""
    tokens = source.tokens
    if k:
        firsts = [index for inner in range(k, source.node(k).last + 1) for index in source.indices(inner)[:1]]
        if not firsts:
            raise RealisationError("no-alignment", "no word stands for the sentence that is copied")
        start, end = source.sentence_bounds(min(firsts))[0], source.sentence_bounds(max(firsts))[1]
        tokens[:] = tokens[start:end]
    while len(tokens) > 2 and (
        tokens[0].tag in ("UH", "CC")
        or (tokens[0].low in _INTERJECTIONS | word_class("openings") and tokens[1].text in (",", ".", "!"))
    ):
        source.cut(0, 2 if tokens[1].text in (",", ".", "!", "...") else 1)


class SurfaceDecoder:
    """Realises edits on the original words, through the alignment of the original graph.

    ``aligner`` is ``rules`` or ``rbw``. What no edit touches stays, character for character. Answers
    without text give one of these codes:
    ``no-alignment``, ``unsupported-edit``, ``unclear-clause``, ``already-negative``, ``kind-mismatch``,
    ``no-form``, ``no-words``, ``no-source``, ``unchanged``, ``empty``, ``not-english``, ``too-long``.
    A defect of the decoder itself is ``internal-error``, reported like the rest, so that one odd text does
    not end a run.
    """

    name = "surface"

    def __init__(self, aligner: str = "rules") -> None:
        self._readings = Readings(get_aligner(aligner))

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        """One answer for each utterance: its text under the edits, or a reason."""
        return [self._decode(item) for item in batch]

    def _decode(self, item: EditedUtterance) -> Decoded:
        if not item.text.strip():
            return Decoded(None, "empty: the utterance has no words")
        letters = [character for character in item.text[:2000] if character.isalpha()]
        if sum(character < "ʰ" for character in letters) < _LATIN_SHARE * len(letters):
            return Decoded(None, "not-english: the text is not in Latin letters")
        if not item.edits:
            return Decoded(None, "unchanged: there are no edits")
        apart = stands_apart(item.text)
        # "Here' s the money": a clitic that stands apart here and there is read at its word.
        closed, written = (joined(item.text), {}) if apart else with_closed_clitics(item.text)
        reading = self._readings.of(closed, item.before)
        if len(reading.words) > MAX_TOKENS:
            return Decoded(None, f"too-long: the utterance has more than {MAX_TOKENS} tokens")
        texts = {
            amr: joined(text) if stands_apart(text) else with_closed_clitics(text)[0]
            for amr, text in item.source_texts.items()
        }
        sources = Sources(item.sources, texts, self._readings)
        try:
            text = realise(SentenceDraft(reading), item.edits, sources)
        except RealisationError as why:
            return Decoded(None, str(why))
        except Exception as error:
            return Decoded(None, f"internal-error: {type(error).__name__}: {error}")
        for word, form in written.items():
            text = text.replace(word, form)
        return refuse_original(item.text, Decoded(taken_apart(text, like=item.text) if apart else text))

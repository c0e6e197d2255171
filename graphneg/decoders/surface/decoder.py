"""Apply the graph edits of an utterance to its words, in the right order.

`realise` passes each edit of an utterance (set, add, drop, graft, wrap, say) to the operation that can
express the edit in words. The operations are applied in this order:

1. If the edits replace the whole utterance, or leave only an interjection such as "Okay", write the new text.
2. Replace words: pronouns, copied phrases, concepts and constants. Later steps depend on the new words.
3. Remove the words of dropped subtrees.
4. Change the negation, the mood and the time of clauses.
5. Put the sentence under a new predicate: "I doubt that ...".
6. Append copies of other sentences.

Example: "I saw it." with ``Edit(op="add", position=0, role="polarity", value="-")`` becomes "I did not
see it."
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphneg.amr.alignment import get_aligner
from graphneg.amr.concept_words import PRONOUNS
from graphneg.amr.overlay import KNOWING
from graphneg.decoders.base import refuse_original
from graphneg.decoders.surface.analysis.alignment import AlignmentCache, with_moved_spans
from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.analysis.verb_groups import TIME_NOUNS
from graphneg.decoders.surface.draft import RealisationError
from graphneg.decoders.surface.operations.affirmation import affirm
from graphneg.decoders.surface.operations.embedding import wrap
from graphneg.decoders.surface.operations.grafts import graft
from graphneg.decoders.surface.operations.modality import drop_time, set_done, set_modality
from graphneg.decoders.surface.operations.mood import (
    from_imperative,
    to_imperative,
    to_question,
    to_statement,
)
from graphneg.decoders.surface.operations.negation import negate
from graphneg.decoders.surface.operations.pronouns import set_pronouns
from graphneg.decoders.surface.operations.quantifiers import is_quantifier, set_quantifier
from graphneg.decoders.surface.operations.questions import state_answer, state_knowledge
from graphneg.decoders.surface.operations.removal import drop
from graphneg.decoders.surface.operations.requests import state_request
from graphneg.decoders.surface.operations.restating import (
    ask_for,
    contract_like,
    correct_changed_sentence,
    cut_asides,
    cut_openings,
    exchange_speakers,
    keep_claim,
    keep_sentence,
    negates_clause,
    put_into_frame,
    refuse_fixed_phrase,
    refuse_indefinite,
    refuse_merged_verb,
    refuse_other_person,
    replace_polite_wish,
    replace_subject,
)
from graphneg.decoders.surface.operations.tense import TENSES, add_time, set_time
from graphneg.decoders.surface.operations.wishes import negate_statement
from graphneg.decoders.surface.operations.words import set_concept, set_value
from graphneg.decoders.surface.refusals import (
    CLAUSE_MARKS,
    is_dangling,
    refuse_answer,
    refuse_dependent_sentence,
    refuse_wordless,
)
from graphneg.english.reply_frames import ReplyFrame, reply_frame
from graphneg.english.tokens import (
    has_spaced_apostrophes,
    join_apostrophes,
    space_apostrophes,
    with_closed_clitics,
)
from graphneg.english.words import word_class
from graphneg.model import AmrGraph, Decoded, Edit, EditedUtterance

MAX_TOKENS = 1_000
"""Maximum number of tokens in an utterance that the decoder edits. Longer utterances are refused."""
# Minimum share of Latin letters in an English text. An utterance with a smaller share is refused.
_LATIN_SHARE = 0.5
# Words that can form a whole utterance: "Okay."
_INTERJECTIONS = word_class("interjections")
_TIME_CONCEPTS = TENSES.keys() | TIME_NOUNS


@dataclass(slots=True)
class Sources:
    """Other graphs and texts, from which edits copy phrases and sentences.

    Attributes:
        graphs: The graphs, keyed by id.
        texts: The text of each graph, keyed by graph id.
        parsed: The texts in the form in which the parser read them, keyed by graph id: "I ’ m late" if the
            corpus has spaces around apostrophes.
        alignments: Cache of the tokenized and tagged texts, with their alignments to the graphs.
        opened: Number of calls of `open` so far. Each opened text gets this number, so that two copies of the
            same text differ.
    """

    graphs: Mapping[str, AmrGraph]
    texts: Mapping[str, str]
    parsed: Mapping[str, str]
    alignments: AlignmentCache
    opened: int = 0

    def open(self, amr: str | None) -> SentenceDraft:
        """Create an editable sentence from the text of a graph.

        Args:
            amr: The id of the graph.

        Returns:
            A new copy of the sentence with its graph, which can be edited and from which words can be copied.

        Raises:
            RealisationError: The graph or its text is missing (``no-source``).
        """
        if amr is None or amr not in self.graphs or amr not in self.texts:
            raise RealisationError("no-source", f"the text of {amr} is missing")
        self.opened += 1
        return SentenceDraft(self.alignments.get(self.texts[amr], self.graphs[amr]))

    def open_repeated(self, amr: str | None) -> SentenceDraft:
        """Create an editable sentence for a reply that repeats a clause of the sentence.

        The parser may have read the text with other spaces, for example "I ’ m late" for "I’m late". In this
        case, the token spans of the graph are adapted to the text.

        Args:
            amr: The id of the graph.

        Returns:
            The sentence.

        Raises:
            RealisationError: The graph or its text is missing (``no-source``).
        """
        if amr is None or amr not in self.graphs or amr not in self.texts:
            raise RealisationError("no-source", f"the text of {amr} is missing")
        text = self.texts[amr]
        graph = with_moved_spans(self.graphs[amr], self.parsed.get(amr, text), text)
        return SentenceDraft(self.alignments.get(text, graph))


def realise(sentence: SentenceDraft, edits: Sequence[Edit], sources: Sources) -> str:
    """Return the text of a sentence after its edits.

    The module docstring lists the steps and their order.

    Args:
        sentence: The sentence, edited in place.
        edits: The edits of the sentence's graph. If an edit inserts a copy of another sentence, also the
            edits that change the copy.
        sources: The texts and graphs from which words are copied.

    Returns:
        The edited text.

    Raises:
        RealisationError: An edit cannot be expressed with the words of the sentence.
    """
    # Edits with ``copy_of`` change a sentence that another edit copies from another turn. `_copy` and `_say`
    # apply them to the copy.
    own = [edit for edit in edits if edit.copy_of is None]
    for edit in own:
        refuse_wordless(edit)
    # Step 1 (see the module docstring): write a new text if the edits replace the whole utterance, or leave
    # only an interjection such as "Okay".
    if len(own) == 1 and own[0].op == "graft" and own[0].position == 0 and own[0].role is None:
        return _copy(own[0], edits, sources, sentence)
    if len(own) == 1 and own[0].op == "say":
        return _say(own[0], edits, sources, sentence)
    if (reply := _interjection(sentence, own)) is not None:
        return reply
    appended = [edit for edit in own if edit.op == "graft" and edit.role is not None]
    plain = [edit for edit in own if edit.op != "wrap" and edit not in appended and edit.position >= 0]
    # Steps 2 to 4: replace words, remove words, and change the negation, the mood and the time of clauses.
    _change(sentence, plain, sources)
    # Step 5: put the sentence under a new predicate: "I doubt that ...".
    _wrap(sentence, own)
    text = sentence.finish()
    # Step 6: append copies of other turns, or of single sentences of other turns.
    for edit in appended:
        if edit.role is None or not edit.role.startswith("snt"):
            raise RealisationError("unsupported-edit", f"a subtree can't be added in the role :{edit.role}")
        copied, body = _copy(edit, edits, sources, sentence), text.rstrip()
        # If the copied sentence has only one of a pair of quotation marks, remove it. The other mark is in a
        # sentence that is not copied.
        if copied.count('"') == 1:
            copied = copied.strip('"').strip()
        stop = (" ." if sentence.tokenised else ".") if body[-1:].isalnum() else ""
        text = f"{body}{stop} {copied}"
    return text


def _change(sentence: SentenceDraft, edits: Sequence[Edit], sources: Sources) -> None:
    """Apply the edits that change words and clauses, in the order that the module docstring lists."""
    # Step 2: replace words.
    _change_words(sentence, edits, sources)
    # Step 3: remove the words of the subtrees that edits drop from the graph.
    for edit in edits:
        if edit.op == "drop" and sentence.node(edit.position).role not in CLAUSE_MARKS:
            drop(sentence, edit.position)
    # Step 4: change the negation, the mood and the time of clauses.
    for edit in edits:
        if edit.op == "add" or (edit.op == "drop" and sentence.node(edit.position).role in CLAUSE_MARKS):
            _change_clause(sentence, edit)


def _interjection(sentence: SentenceDraft, edits: Sequence[Edit]) -> str | None:
    """Return "Okay" or another interjection if the edits put it in place of the sentence; otherwise None."""
    top = [edit for edit in edits if edit.op in ("set", "wrap") and edit.position == 0]
    if not top or top[-1].concept not in _INTERJECTIONS:
        return None
    dropped = {edit.position for edit in edits if edit.op == "drop"}
    if 0 not in dropped and any(child.position not in dropped for child in sentence.graph.children(0)):
        return None
    word = (top[-1].concept or "").split("-")[0]
    word = word.capitalize() if sentence.capitals else word
    if not sentence.tokenised:
        return f"{word}."
    return f'" {word} . "' if sentence.tokens[:1] and sentence.tokens[0].text == '"' else f"{word} ."


def _change_words(sentence: SentenceDraft, edits: Sequence[Edit], sources: Sources) -> None:
    """Apply the edits that replace words: pronouns, phrases, constants, times and concepts."""
    # Change all pronouns together. If *I* became *you* before *you* becomes *I*, all of them would become
    # *I*.
    persons = {
        edit.position: edit.concept
        for edit in edits
        if edit.op == "set" and edit.concept in PRONOUNS and sentence.node(edit.position).concept in PRONOUNS
    }
    if persons:
        set_pronouns(sentence, persons)
    for edit in edits:
        if edit.op == "graft":
            source = sources.open(edit.from_amr)
            graft(sentence, edit.position, source, edit.from_position or 0, sources.opened)
        if edit.op != "set" or edit.position in persons:
            continue
        if edit.value is not None:
            set_value(sentence, edit.position, edit.value)
        elif edit.concept is None:
            raise RealisationError("unsupported-edit", "an edit sets neither a concept nor a value")
        elif edit.concept in _TIME_CONCEPTS or sentence.node(edit.position).role == "time":
            set_time(sentence, edit.position, edit.concept)
        else:
            set_concept(sentence, edit.position, edit.concept)


def _change_clause(sentence: SentenceDraft, edit: Edit) -> None:
    """Add a negation, a mood or a time to a clause, or remove a negation or a mood from it.

    Raises:
        RealisationError: The edit adds or removes something else, such as a quantity (``unsupported-edit``).
    """
    node = sentence.node(edit.position)
    k, role, added = edit.position, edit.role if edit.op == "add" else node.role, edit.concept or edit.value
    match edit.op, role, added if edit.op == "add" else node.label:
        case ("add", "polarity", "-"):
            negate(sentence, k)
        case ("add", "polarity", "amr-unknown") | ("add", "mode", "interrogative"):
            refuse_answer(sentence, max(sentence.indices(k), default=0))
            to_question(sentence, k)
        case ("add", "mode", "imperative"):
            to_imperative(sentence, k)
        case ("add", "time", str(concept)) if edit.concept is not None:
            add_time(sentence, k, concept)
        case ("drop", "polarity", "-") if node.value:
            affirm(sentence, k)
        case ("drop", "mode", "imperative") if node.value:
            from_imperative(sentence, node.parent or 0)
        case ("drop", _, "amr-unknown" | "interrogative"):
            to_statement(sentence, node.parent or 0)
        case ("add", _, _):
            raise RealisationError("unsupported-edit", f"no rule adds words for :{role} {added}")
        case _:
            why = f"no rule removes :{role} {node.label} from the words"
            raise RealisationError("unsupported-edit", why)


def _wrap(sentence: SentenceDraft, edits: Sequence[Edit]) -> None:
    """Put the sentence under a new predicate and its subject: "I doubt that ...".

    Raises:
        RealisationError: The edit puts only a part of the sentence under a predicate (``unsupported-edit``).
    """
    for edit in edits:
        if edit.op != "wrap" or edit.concept == "multi-sentence":
            continue
        if edit.position != 0 or edit.concept is None:
            raise RealisationError(
                "unsupported-edit", "only a whole sentence can be put under a new predicate"
            )
        # Find the subject of the new predicate: *I* in "I doubt that ...". A second edit adds it. The
        # position of this edit is -1, which stands for the new top of the graph, that is, for ``doubt-01``.
        subjects = (
            other.concept for other in edits if (other.op, other.position, other.role) == ("add", -1, "ARG0")
        )
        person = next(subjects, None)
        wrap(sentence, edit.concept, person if person in PRONOUNS else "i")


def _copy(copied_by: Edit, edits: Sequence[Edit], sources: Sources, edited: SentenceDraft) -> str:
    """Return the text of a copied sentence, after applying the edits that change the copy.

    Args:
        copied_by: The edit that copies the sentence.
        edits: All edits of the utterance. Some of them may change the copy.
        sources: The texts and graphs from which words are copied.
        edited: The utterance into which the sentence is copied.

    Raises:
        RealisationError: The sentence to copy is incomplete (``unclear-clause``), or the edits do not change
            the copy (``unchanged``).
    """
    source = sources.open(copied_by.from_amr)
    copy = _edits_of_copy(copied_by, edits)
    keep_sentence(source, copied_by.from_position or 0)
    if is_dangling(source.tokens, 0):
        raise RealisationError("unclear-clause", "the sentence to repeat is incomplete")
    if copied_by.role is not None or any(edit.op != "set" for edit in copy):
        refuse_dependent_sentence(source)
    # Remove words that do not fit a later turn: "Hi Ron, I need your help, you know" becomes "I need your
    # help".
    if copied_by.role is None and copy:
        cut_openings(source)
        cut_asides(source)
    if any((edit.op, edit.role, edit.value) == ("add", "polarity", "-") for edit in copy):
        refuse_indefinite(source)
    before = source.finish()
    contract_like(source, edited)
    copied = realise(source, copy, replace(sources)).strip()
    if copy and copied == before.strip():
        raise RealisationError("unchanged", "the copied sentence did not change")
    return copied


def _edits_of_copy(copied_by: Edit, edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits of a copied sentence, without ``copy_of``, so that they apply to the copy itself."""
    return [
        edit._replace(copy_of=None)
        for edit in edits
        if edit.copy_of == copied_by.from_amr and edit.site == copied_by.site
    ]


def _say(said_by: Edit, edits: Sequence[Edit], sources: Sources, reply: SentenceDraft) -> str:
    """Return a reply that repeats a changed sentence in a reply frame, such as "So you don't like it?".

    Raises:
        RealisationError: The sentence cannot be repeated, or one of the edits cannot be made.
    """
    form = reply_frame(said_by.frame or "", said_by.voice or "")
    if form is None:
        raise RealisationError("unsupported-edit", f"there is no frame {said_by.frame}")
    source = sources.open_repeated(said_by.from_amr)
    copy = _edits_of_copy(said_by, edits)
    if (answered := _dropped_question(source, copy)) is not None:
        state_answer(source, said_by.from_position or 0)
        copy = [edit for edit in copy if edit is not answered]
    elif said_by.concept is None:
        replace_polite_wish(source, keep_claim(source, said_by.from_position or 0))
    elif said_by.concept == KNOWING:
        # The copied sentence is a question: "When does the bus leave?" Its speaker does not know the answer,
        # and the edit states the opposite: "You know when the bus leaves."
        state_knowledge(source, said_by.from_position or 0)
    else:
        # A reply cannot deny a request, but it can deny a wish: "Sit down." -> "I want you to sit down."
        state_request(source, said_by.from_position or 0)
    contract_like(source, reply)
    persons = _persons(source, copy)
    if len(persons) == 1:
        refuse_other_person(source, source.node(persons[0].position).label, persons[0].concept or "")
    copy = [edit for edit in copy if edit not in persons]
    if said_by.voice == "other":
        exchange_speakers(source, {source.node(edit.position).label: edit.concept or "" for edit in persons})
    copy = _replace_subject(source, copy)
    if said_by.concept is not None:
        # A wish is affirmative ("I want to go"), and an edit negates it. Missing knowledge is negative ("I
        # don't know when it leaves"), and an edit removes its negation.
        if bool(copy) != (said_by.concept == KNOWING):
            negate_statement(source)
        put_into_frame(source, form)
        return source.finish().strip()
    negative = negates_clause(source)
    negated = any((edit.op, edit.role, edit.value) == ("add", "polarity", "-") for edit in copy)
    if negated:
        refuse_indefinite(source)
    if form.order == "asked":
        asked = next((edit for edit in copy if (edit.op, edit.concept) == ("add", "amr-unknown")), None)
        left_out = next((edit for edit in copy if edit.op == "drop"), None)
        if asked is None or left_out is None:
            raise RealisationError("unsupported-edit", "a question needs one phrase that it asks for")
        ask_for(source, left_out.position, asked.role or "")
        put_into_frame(source, form)
        return source.finish().strip()
    for edit in copy:
        if edit.op == "set" and edit.concept is not None:
            refuse_fixed_phrase(source, edit.position)
    before = [token.text for token in source.tokens]
    if _set_quantifier(source, copy):
        negated, copy = False, []
    else:
        _change(source, _change_verbs(source, copy, said_by, form), sources)
    if copy and not persons and before == [token.text for token in source.tokens]:
        raise RealisationError("unchanged", "the copied sentence did not change")
    # Refuse the edit if the main clause keeps its polarity, because only a relative clause was negated:
    # "There are banks that don't lend money" does not contradict "There are banks that lend money".
    if (negated or _affirms(source, copy)) and negative == negates_clause(source):
        raise RealisationError("unclear-clause", "only an inner clause would change its polarity")
    correct_changed_sentence(source)
    put_into_frame(source, form)
    return source.finish().strip()


def _dropped_question(source: SentenceDraft, edits: Sequence[Edit]) -> Edit | None:
    """Return the edit that turns a repeated yes/no question into a statement; None if there is none."""
    return next(
        (
            edit
            for edit in edits
            if edit.op == "drop"
            and edit.position >= 0
            and (source.node(edit.position).role, source.node(edit.position).label)
            == ("polarity", "amr-unknown")
        ),
        None,
    )


def _persons(source: SentenceDraft, edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits that change the persons of pronouns in a repeated sentence."""
    return [
        edit
        for edit in edits
        if edit.op == "set" and edit.concept in PRONOUNS and source.node(edit.position).concept in PRONOUNS
    ]


def _replace_subject(source: SentenceDraft, edits: Sequence[Edit]) -> list[Edit]:
    """Apply the edit that replaces a subject by a pronoun: "My sister lives in Rome" -> "You live in Rome".

    Returns:
        The edits that remain to be applied. They do not contain the edits of nodes inside the subject, such
        as dropping *my*.
    """
    replaced = next((edit for edit in edits if edit.op == "set" and edit.concept in PRONOUNS), None)
    if replaced is None:
        return list(edits)
    k = replaced.position
    replace_subject(source, k, replaced.concept or "")
    inside = range(k, source.node(k).subtree_last + 1)
    return [edit for edit in edits if edit.position not in inside]


def _set_quantifier(source: SentenceDraft, edits: Sequence[Edit]) -> bool:
    """Apply the edits that replace a quantity or frequency: "You always drink tea" -> "You never drink tea".

    The words of the new quantity also express other edits of the sentence. In the graph, *never* is ``ever``
    with a negation, and "only a few" is ``few`` with the modifier ``only``.

    Returns:
        True if one of the edits replaces a quantity or frequency.
    """
    changed = next((edit for edit in edits if edit.op == "set" and is_quantifier(edit.concept or "")), None)
    if changed is None:
        return False
    set_quantifier(source, changed.position, changed.concept or "")
    return True


def _change_verbs(
    source: SentenceDraft, edits: Sequence[Edit], said_by: Edit, form: ReplyFrame
) -> list[Edit]:
    """Apply the edits that change the modality of a repeated sentence, or add *already* to it.

    Returns:
        The edits that remain to be applied.
    """
    wraps = [edit for edit in edits if edit.op == "wrap"]
    negations = [edit for edit in edits if wraps and (edit.op, edit.position) == ("add", -1)]
    done = [edit for edit in edits if (edit.op, edit.role, edit.concept) == ("add", "time", "already")]
    others = [edit for edit in edits if edit not in (*wraps, *negations, *done)]
    # First drop times that do not fit the new tense: "I bought it yesterday" -> "you want to buy it".
    for edit in [edit for edit in others if edit.op == "drop"] if wraps or done else ():
        drop_time(source, edit.position)
        others.remove(edit)
    inverted, k = form.order == "inverted", said_by.from_position or 0
    if wraps or done:
        refuse_merged_verb(source)
    for edit in wraps:
        set_modality(source, edit.concept or "", k, negated=bool(negations), inverted=inverted)
    if done:
        set_done(source, k, inverted=inverted)
    return others


def _affirms(source: SentenceDraft, edits: Sequence[Edit]) -> bool:
    """Return whether an edit drops the negation of a clause."""
    return any(edit.op == "drop" and source.node(edit.position).role == "polarity" for edit in edits)


class SurfaceDecoder:
    """Apply graph edits to the words that are aligned with the edited nodes.

    Characters that no edit touches stay as they are. If the edits cannot be expressed in words, the decoder
    returns a reason, which starts with one of these codes: ``no-alignment``, ``unsupported-edit``,
    ``unclear-clause``, ``already-negative``, ``kind-mismatch``, ``no-form``, ``no-words``, ``no-source``,
    ``unchanged``, ``empty``, ``not-english``, ``too-long``. An unexpected exception in the decoder is
    reported as ``internal-error``, so that one unusual text does not stop a run.

    Args:
        aligner: Name of the aligner, which finds the words that express each node: ``rules`` (built in) or
            ``rbw`` (amrlib).
    """

    name = "surface"
    """The name of this decoder in the registry."""

    def __init__(self, aligner: str = "rules") -> None:
        self._readings = AlignmentCache(get_aligner(aligner))

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        """Return the text of each utterance after its edits, or the reason why it has no new text.

        Args:
            batch: Utterances with their graphs before and after the edits.

        Returns:
            One result for each utterance, in the order of the batch.
        """
        return [self._decode(item) for item in batch]

    def _decode(self, item: EditedUtterance) -> Decoded:
        """Return the text of one utterance after its edits, or the reason why it has no new text."""
        if not item.text.strip():
            return Decoded(None, "empty: the utterance has no words")
        letters = [character for character in item.text[:2000] if character.isalpha()]
        # Refuse a text of which too few letters are Latin. Latin letters, including letters with diacritics,
        # have code points before "ʰ" (U+02B0).
        if sum(character < "ʰ" for character in letters) < _LATIN_SHARE * len(letters):
            return Decoded(None, "not-english: the text is not in Latin letters")
        if not item.edits:
            return Decoded(None, "unchanged: there are no edits")
        apart = has_spaced_apostrophes(item.text)
        # Some texts separate a clitic from its word only in a few places: "Here' s the money". Join such
        # clitics to their words before editing.
        closed, written = (join_apostrophes(item.text), {}) if apart else with_closed_clitics(item.text)
        reading = self._readings.get(closed, item.before)
        if len(reading.words) > MAX_TOKENS:
            return Decoded(None, f"too-long: the utterance has more than {MAX_TOKENS} tokens")
        texts = {
            amr: join_apostrophes(text) if has_spaced_apostrophes(text) else with_closed_clitics(text)[0]
            for amr, text in item.source_texts.items()
        }
        sources = Sources(item.sources, texts, item.source_texts, self._readings)
        try:
            text = realise(SentenceDraft(reading), item.edits, sources)
        except RealisationError as why:
            return Decoded(None, str(why))
        except Exception as error:
            return Decoded(None, f"internal-error: {type(error).__name__}: {error}")
        # Restore the original spelling of clitics such as "Here' s", which were joined before the edits.
        for word, form in written.items():
            text = text.replace(word, form)
        return refuse_original(item.text, Decoded(space_apostrophes(text, like=item.text) if apart else text))

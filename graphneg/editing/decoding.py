"""Decode the edited turns of negatives, and check the texts that the decoder returns.

`decode_turns` decodes the edited turns of many negatives and twins. Two checks may refuse a text: it must
have no new grammatical error, and a sentence that was copied from another dialogue must fit the topic.
Examples of refused texts:

    ungrammatical   "Sure, I love curry." becomes "Sure, I doesn't love curry."
    off-topic       "I had a good time, sir." after "Good morning, sir."
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from graphneg.decoders.base import Decoder
from graphneg.editing.planning import EditPlan
from graphneg.editing.variants import Variant
from graphneg.english.grammar import new_error
from graphneg.english.words import content_lemmas, word_class
from graphneg.model import Decoded, EditedUtterance

NO_TOPIC = word_class("words-of-talk") | word_class("vague-words")
"""Lemmas that do not tell the topic of a text."""


class DecodedTurn(NamedTuple):
    """An edited turn with the result of the decoder: a text, or the reason why there is no text."""

    utterance: EditedUtterance
    decoded: Decoded


DecodedTurns = Mapping[int, DecodedTurn]
"""The decoded turns of one negative or twin, keyed by turn number."""


def decode_turns(
    edited: Mapping[str, Mapping[int, EditedUtterance]], decoder: Decoder
) -> dict[str, DecodedTurns]:
    """Decode edited turns.

    Args:
        edited: The edited turns of each negative or twin, keyed by its id and by turn number.
        decoder: Decoder that turns edited graphs into text.

    Returns:
        The decoded turns, keyed in the same way.
    """
    # Pass all edited turns to the decoder in one call, so that the decoder can batch them.
    utterances = [utterance for turns in edited.values() for utterance in turns.values()]
    answers = iter([one for _, one in zip(utterances, decoder.decode(utterances), strict=True)])
    return {
        id: {
            turn: DecodedTurn(utterance, answer)
            for (turn, utterance), answer in zip(turns.items(), answers, strict=False)
        }
        for id, turns in edited.items()
    }


def checked_texts(turns: DecodedTurns) -> tuple[dict[int, str], str | None]:
    """Return decoded texts, and check that the decoder refused none and that all are grammatical.

    Args:
        turns: The decoded turns of a negative or twin.

    Returns:
        The texts, keyed by turn number, and the reason why they are refused (None if they are not).
    """
    texts = {turn: one.decoded.text or "" for turn, one in turns.items()}
    reason = next((one.decoded.reason for one in turns.values() if one.decoded.text is None), None)
    return texts, reason or _ungrammatical(turns)


def _ungrammatical(turns: DecodedTurns) -> str | None:
    """Return why decoded texts are refused, or None if none of them has a new grammatical error.

    The unedited text may contain an error, such as "Sure, I loves curry." An error in the decoded text is
    ignored if the unedited text contains it, or if a text from which words were copied contains it.
    """
    for utterance, decoded in turns.values():
        text = decoded.text or ""
        error = new_error(text, (utterance.text, *utterance.source_texts.values()))
        if error is not None:
            return f"ungrammatical: {text!r} ({error})"
    return None


def off_topic(plan: EditPlan, variant: Variant, texts: Mapping[int, str]) -> str | None:
    """Return why a text that contains a sentence of another dialogue is refused, or None if it is kept.

    The text must share a content word with the turns before it. Greetings and vague words do not count: after
    "Good morning, sir.", the statement "I had a good time, sir" is off-topic.

    Args:
        plan: The plan of the negative.
        variant: The edited graphs of the negative.
        texts: The decoded texts, keyed by turn number.

    Returns:
        The reason (``off-topic: ...``), or None.
    """
    if not variant.donors:
        return None
    for edited in variant.graphs.values():
        if any(edit.from_amr in variant.donors for edit in edited.edits):
            turn = next(turn.turn for turn in plan.dialogue.turns if turn.graph_id == edited.edits[0].amr)
            before = [texts.get(one.turn, one.text) for one in plan.dialogue.turns if one.turn < turn]
            said = {lemma for text in before for lemma in content_lemmas(text)}
            if said.isdisjoint({*content_lemmas(texts[turn])} - NO_TOPIC):
                return f"off-topic: {texts[turn]!r} shares no content word with its context"
    return None

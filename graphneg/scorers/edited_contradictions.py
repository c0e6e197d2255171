"""Make training data for a contradiction detector from edited dialogues.

The transforms ``polarity_flip``, ``antonym_substitution`` and ``self_contradiction`` change a statement into
its contradiction, so a negative that they make contains the statement and the contradiction. The two
sentences have nearly all of their words in common. When dialogue models contradict themselves, however, they
use different words, and the response usually has other content, too. Therefore the statement and the
contradiction are reworded, or replaced by sentences of other speakers (`graphneg.scorers.paraphrases`), and
another turn is added.

A detector should not be able to recognise contradictions by the response alone, or by the number of words
that the response shares with the earlier utterance. So each contradictory response is paired with a
consistent response of similar length. Both follow an earlier utterance that contains the statement. There are
five kinds of pairs, in which another speaker is a speaker of another dialogue:

========= =============================================== ================================================
kind      contradictory response                          consistent response
========= =============================================== ================================================
restated  the contradiction                               the statement in other words
crossed   the contradiction and another speaker's         the statement and another speaker's denial
          affirmation
elsewhere the contradiction                               another speaker's contradiction
agreed    the contradiction                               the same response, after an earlier utterance that
                                                          agrees with it
later     the contradiction                               another turn of the speaker
========= =============================================== ================================================

For the first four kinds, another turn of the speaker is added to both responses in two thirds of the cases.
In half of the cases, a turn of another dialogue is added to the earlier utterance, because real turns often
contain several statements. In a tenth of the cases, statement and contradiction change places: the earlier
utterance contains the contradiction, and the response contains the statement.

Example:
    From the statement "I keep bees." and its contradiction "I do not keep bees.", the kind ``restated`` makes
    two pairs of an earlier utterance and a response: ("I keep bees.", "I have never kept bees. I work in a
    bank.") with label 1, and ("I keep bees.", "I do keep bees. I work in a bank.") with label 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Literal

from graphneg.english.tokens import one_line, typed_sentences
from graphneg.english.words import content_lemmas
from graphneg.errors import InputError
from graphneg.hashing import number, shuffled
from graphneg.ingest.labelled import ANNOTATORS, JudgedResponse
from graphneg.model import Negative, Turn
from graphneg.nn.embedders import Embedder
from graphneg.records.files import read_negatives
from graphneg.scorers.paraphrases import Contradiction, DenialWordings, denies, paraphrases, reword_denial

SOURCE = "graph"
"""Name of the generator in labelled responses that were made from edited graphs."""

Kind = Literal["restated", "crossed", "elsewhere", "agreed", "later"]
"""Type of the five kinds of pairs, which are described at the top of the module."""
KINDS: tuple[Kind, ...] = ("restated", "crossed", "elsewhere", "agreed", "later")
MIX: tuple[Kind, ...] = (*KINDS, *KINDS[:3], *KINDS[:2])
"""Default frequencies of the kinds.

Of ten pairs, three are ``restated``, three ``crossed``, two ``elsewhere``, one ``agreed`` and one ``later``.
"""
_OWN_WORDS = 7
"""One of seven contradictions is reworded only by templates, even if there are sentences of other
speakers."""

TRANSFORMS = ("polarity_flip", "antonym_substitution", "self_contradiction")
"""The transforms that change a sentence so that it contradicts the original sentence."""
_LEAST, _MOST = 3, 16
"""Minimum and maximum number of words of a statement.

Shorter statements such as "I see." claim too little to be contradicted. Longer statements are unlikely to be
repeated.
"""
# Matches words with which speakers refer to themselves.
_FIRST_PERSON = re.compile(r"\b(i|me|my|mine|we|us|our|ours)\b", re.I)
# Matches the end of a contraction that tokenization has split: the "n't" of "do n't", or the "n ' t" of
# "don ' t".
_SPLIT_NOT = re.compile(r"(?<=[a-z]) ?n ?(['’]) ?t\b", re.I)
# Matches the space before a punctuation mark in tokenized text, such as the space in "yes ."
_SPACE_BEFORE_MARK = re.compile(r"\s+(?=[.,!?])")
# In some corpora, questions have no question mark. They are recognised by their first words.
_ASKING = re.compile(
    r"\W*(what|who|whose|where|when|why|how|which|do|does|did|are|is|can|could|would|will)\b", re.I
)


def read_made(
    paths: Sequence[str | Path],
    *,
    kinds: Sequence[Kind] = MIX,
    seed: int = 0,
    embedder: Embedder | None = None,
) -> list[JudgedResponse]:
    """Make labelled responses from files of negatives.

    Raises `InputError` if a file cannot be read.

    Args:
        paths: Files of negatives (``.jsonl``, ``.parquet``).
        kinds: The kinds of pairs to make. If a kind is listed twice, it is chosen twice as often.
        seed: Seed for all random choices.
        embedder: The embedder for finding similar sentences of other speakers. If None, statements and
            contradictions are reworded only by templates.

    Returns:
        The labelled responses, as `graph_made` returns them.

    Raises:
        InputError: The files have no contradictions.
    """
    made = graph_made(read_negatives(*paths), kinds=kinds, seed=seed, embedder=embedder)
    if not made:
        raise InputError(
            f"{', '.join(map(str, paths))}: no contradictions; make some with `graphneg negatives "
            "--recipe contradiction`"
        )
    return made


def graph_made(
    negatives: Iterable[Negative],
    *,
    kinds: Sequence[Kind] = MIX,
    seed: int = 0,
    embedder: Embedder | None = None,
) -> list[JudgedResponse]:
    """Make labelled responses from the contradictions in negatives.

    Each contradiction is used once: one of ``kinds`` is chosen at random, and a contradictory and a
    consistent response of this kind are made. A contradiction is used only if either it or the statement that
    it contradicts is a denial: "I keep bees." and "I do not keep bees." Two sentences that differ in an
    antonym are skipped, because they rarely contradict each other. Raises `ModelError` if an embedder is
    given and FAISS is not installed.

    Args:
        negatives: The negatives, of which only contradictions made by `TRANSFORMS` are used.
        kinds: The kinds of pairs to make. If a kind is listed twice, it is chosen twice as often.
        seed: Seed for all random choices.
        embedder: The embedder for finding similar sentences of other speakers. If None, statements and
            contradictions are reworded only by templates.

    Returns:
        The labelled responses. Each contradictory response is followed by its consistent counterpart. The
        pairs are in random order, so that the first N responses are a random sample for any even N.
    """
    sentences = Sentences(negatives)
    denials = [c for c in sentences.contradictions if denies(c.sentence) != denies(c.contradiction)]
    denials = shuffled(denials, seed, "contradictions")
    others = paraphrases(denials, sentences.statements, embedder) if embedder else [None] * len(denials)
    claims = [_claim(item, said, seed) for item, said in zip(denials, others, strict=True)]
    labelled: list[JudgedResponse] = []
    for claim in claims:
        id = claim.source.id
        kind = kinds[number(seed, "kind", id) % len(kinds)]
        other = _of_another_dialogue(claim, claims, seed)
        responses = _responses(claim, other, kind, seed)
        for label, (earlier, response), votes in zip((1, 0), responses, (ANNOTATORS, 0), strict=True):
            labelled.append(
                JudgedResponse(f"{id}~{kind}/{label}", (earlier, response), ("A", "A"), 0, SOURCE, votes)
            )
    return labelled


class Sentences:
    """Sentences of negatives that can be used as training data.

    Attributes:
        contradictions: The statements and their contradictions, without duplicates.
        statements: The sentences in which speakers talk about themselves, each with the id of the first
            dialogue that contains it.
    """

    def __init__(self, negatives: Iterable[Negative]) -> None:
        """Collect contradictory pairs of sentences, and the sentences in which speakers refer to themselves.

        Args:
            negatives: The negatives, which contain the edited dialogues and the texts before the edits.
        """
        self.statements: dict[str, str] = {}
        contradictions: dict[tuple[str, str], Contradiction] = {}
        for negative in negatives:
            for turn in negative.original.context or negative.context:
                for sentence in typed_sentences(respell(turn.text)):
                    if _speaks_of_oneself(sentence.text):
                        self.statements.setdefault(sentence.text, negative.dialogue)
            for item in _contradictions(negative) if negative.label == 0 else ():
                contradictions.setdefault((item.earlier, item.contradiction), item)
        self.contradictions = list(contradictions.values())


def respell(text: str) -> str:
    """Remove the spaces that tokenization puts before punctuation marks and into contractions.

    Args:
        text: A text, which may have spaces between its tokens.

    Returns:
        The text as people would type it.

    Example:
        >>> respell("i do n't sing , i hum .")
        "i don't sing, i hum."
    """
    return _SPACE_BEFORE_MARK.sub("", _SPLIT_NOT.sub(r"n\1t", one_line(text)))


def _contradictions(negative: Negative) -> Iterator[Contradiction]:
    """Yield the contradictory sentences in the edited turns, each with the sentence that it contradicts."""
    after = _turns(negative, negative.context, negative.response)
    original = negative.original
    before = _turns(negative, original.context or negative.context, original.response)
    for turn in sorted({edit.turn for edit in negative.edits if edit.transform in TRANSFORMS}):
        names = {edit.transform for edit in negative.edits if edit.turn == turn}
        # Only the transforms in TRANSFORMS, such as `polarity_flip`, make contradictions. Skip a turn that
        # another transform has also edited: its new sentence may not contradict the original.
        if turn in before and turn in after and names <= set(TRANSFORMS):
            yield from _contradiction_in_turn(
                f"{negative.dialogue}#{turn}~{negative.id}", turn, before, after
            )


def _turns(negative: Negative, context: Sequence[Turn], response: str | None) -> dict[int, Turn]:
    """Return the turns of context and response, keyed by their indices in the dialogue."""
    first = negative.turn - len(context)
    turns = {first + at: Turn(turn.speaker, respell(turn.text)) for at, turn in enumerate(context)}
    # If the speaker of the response is unknown, assume that two speakers alternate, and use the speaker of
    # the second-to-last turn of the context.
    speaker = negative.speaker or (context[-2].speaker if len(context) > 1 else "")
    turns[negative.turn] = Turn(speaker, respell(negative.response if response is None else response))
    return turns


def _contradiction_in_turn(
    id: str, turn: int, before: Mapping[int, Turn], after: Mapping[int, Turn]
) -> Iterator[Contradiction]:
    """Yield the contradiction in an edited turn, if the edit added or replaced exactly one sentence.

    Args:
        id: The id of the contradiction.
        turn: The index of the edited turn.
        before: The turns before the edit, keyed by their indices.
        after: The turns after the edit, keyed by their indices.
    """
    old, new = ([part.text for part in typed_sentences(said[turn].text)] for said in (before, after))
    gone, added = [text for text in old if text not in new], [text for text in new if text not in old]
    # Skip turns in which several sentences were added or removed, because it is unclear which of them
    # contradict each other.
    if len(added) != 1 or len(gone) > 1:
        return
    earlier, sentence = turn, gone[0] if gone else ""
    own = [at for at, said in before.items() if said.speaker == before[turn].speaker and at != turn]
    # If the edit has only added a sentence, this sentence is the contradiction. It probably contradicts the
    # earlier sentence of the same speaker with which it has the most content words in common.
    if not gone:
        words, most, said = set(content_lemmas(added[0])), 0, [at for at in own if at < turn]
        for where, part in ((at, part) for at in said for part in typed_sentences(before[at].text)):
            if (shared := len(words & set(content_lemmas(part.text)))) > most:
                most, earlier, sentence = shared, where, part.text
    # Choose another turn (`other`) of the same speaker, which contains neither the statement nor the
    # contradiction. If the statement is in an earlier turn, choose the text of the edited turn before the
    # edit. If the statement is in the edited turn itself, choose the speaker's next turn. If there is no next
    # turn, choose the speaker's last turn before the edited turn.
    if _speaks_of_oneself(sentence) and _speaks_of_oneself(added[0]):
        other = turn if earlier != turn else next((at for at in own if at > turn), own[-1] if own else None)
        if other is not None and before[other].text:
            yield Contradiction(id, before[earlier].text, sentence, added[0], before[other].text)


def _speaks_of_oneself(sentence: str) -> bool:
    """Return whether a sentence is a short statement that contains "I", "we" or a similar word."""
    asks = sentence.endswith("?") or _ASKING.match(sentence) is not None
    # Accept "I have a dog." Reject "Do I?" (a question), "Oh my!" (too short), and "The sky is blue." (which
    # does not mention the speaker).
    return (
        not asks and _LEAST <= len(sentence.split()) <= _MOST and _FIRST_PERSON.search(sentence) is not None
    )


@dataclass(frozen=True, slots=True)
class _Claim:
    """Several wordings of a statement and of its contradiction, which are used to write training examples.

    Attributes:
        source: The statement and its contradiction.
        earlier: The earlier utterance, with which each response agrees or which it contradicts.
        agreeing: Wordings that agree with the earlier utterance.
        contradicting: Wordings that contradict the earlier utterance.
        agreeing_earlier: Copies of the earlier utterance in which the contradiction replaces the statement,
            so that ``contradicting`` agrees with them. A copy of "Hi. I keep bees." is "Hi. I do not keep
            bees." Empty if the earlier utterance does not contain the statement word for word.
    """

    source: Contradiction
    earlier: str
    agreeing: tuple[str, ...]
    contradicting: tuple[str, ...]
    agreeing_earlier: tuple[str, ...]


def _claim(item: Contradiction, others: DenialWordings | None, seed: int) -> _Claim:
    """Return wordings of a statement and of its contradiction.

    In a tenth of the cases, the statement and the contradiction change places: the earlier utterance then
    contains the contradiction, and the response contains the statement.
    """
    # The templates reword only denials, such as "I do not keep bees". The denial may be the contradiction or
    # the statement, so try both.
    if wordings := reword_denial(item.contradiction):
        said, contradicting = wordings.affirmed, wordings.denied
    elif wordings := reword_denial(item.sentence):
        said, contradicting = wordings.denied, wordings.affirmed
    else:
        said, contradicting = (), ()
    # List the original text first and its rewordings after it, both for the statement and for the
    # contradiction. Remove duplicates.
    said = tuple(dict.fromkeys((item.sentence, *said)))
    contradicting = tuple(dict.fromkeys((item.contradiction, *contradicting)))
    # A response that agrees with the statement should not repeat it word for word. So leave out the statement
    # itself if there are other wordings.
    new_said, new_contrary = said[1:] or said, contradicting
    if others and number(seed, "own words", item.id) % _OWN_WORDS:
        new_said, new_contrary = others.affirmed, others.denied

    def saying(wordings: Sequence[str]) -> tuple[str, ...]:
        """Return copies of the earlier utterance, each with another wording in place of the statement."""
        return tuple(item.earlier.replace(item.sentence, text, 1) for text in wordings)

    if item.sentence not in item.earlier:
        return _Claim(item, item.earlier, new_said, new_contrary, ())
    if number(seed, "edited", item.id) % 10:
        return _Claim(item, item.earlier, new_said, new_contrary, saying(contradicting))
    [edited] = saying([item.contradiction])
    return _Claim(item, edited, new_contrary, new_said, saying(said))


def _responses(
    claim: _Claim, other: _Claim, kind: Kind, seed: int
) -> tuple[tuple[str, str], tuple[str, str]]:
    """Make two pairs of an earlier utterance and a response: a contradictory and a consistent pair."""

    def drawn(texts: Sequence[str], name: str, id: str) -> str:
        """Choose a text at random. The same seed, name and id always give the same text."""
        return texts[number(seed, name, id) % len(texts)]

    def beside(text: str, more: str, id: str) -> str:
        """Join two texts in random order. The same seed and id always give the same order."""
        return f"{text} {more}" if number(seed, "order", id) % 2 else f"{more} {text}"

    source, id = claim.source, claim.source.id
    earlier, agreeing = claim.earlier, claim.earlier
    wrong, right = drawn(claim.contradicting, "wrong", id), drawn(claim.agreeing, "right", id)
    elsewhere = drawn(other.contradicting, "wrong", other.source.id)
    if kind == "later":
        right = source.other
    elif kind == "agreed" and claim.agreeing_earlier:
        agreeing, right = drawn(claim.agreeing_earlier, "agreed", id), wrong
    elif kind == "elsewhere":
        right = elsewhere
    elif kind == "crossed":
        spoken = (drawn(other.agreeing, "right", other.source.id), elsewhere)
        wrong = beside(wrong, _opposite_polarity(wrong, spoken), f"{id} 1")
        right = beside(right, _opposite_polarity(right, spoken), f"{id} 0")
    # In two thirds of the cases, make both responses longer by another turn of the same speaker.
    if kind != "later" and number(seed, "alone", id) % 3:
        wrong, right = beside(wrong, source.other, id), beside(right, source.other, id)
    # Real turns often contain several statements. So add a turn of another dialogue to half of the earlier
    # utterances.
    if number(seed, "longer", id) % 2 == 0:
        longer = f"{id} longer"
        earlier = beside(earlier, other.source.other, longer)
        agreeing = beside(agreeing, other.source.other, longer)
    return (earlier, wrong), (agreeing, right)


def _opposite_polarity(text: str, spoken: Sequence[str]) -> str:
    """Return the affirmation in ``spoken`` if ``text`` is a denial, else the denial in ``spoken``.

    Args:
        text: A sentence, such as "I do not keep bees."
        spoken: Two sentences of another speaker, such as "I like tea." and "I do not like tea."
    """
    # The caller makes a response of `text` and the chosen sentence. So every such response contains a denial
    # and an affirmation, and a detector cannot recognise contradictions by the word "not".
    return min(spoken, key=lambda other: denies(other) is denies(text))


def _of_another_dialogue(claim: _Claim, claims: Sequence[_Claim], seed: int) -> _Claim:
    """Return the wordings of a random statement and its contradiction (a claim) from another dialogue.

    If all claims are from the same dialogue, return the next claim in the list.
    """
    start = number(seed, "elsewhere", claim.source.id) % len(claims)
    rotated = chain(islice(claims, start, None), islice(claims, start))
    others = (item for item in rotated if item.source.dialogue != claim.source.dialogue)
    return next(others, None) or claims[(claims.index(claim) + 1) % len(claims)]

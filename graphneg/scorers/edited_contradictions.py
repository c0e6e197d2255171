"""Make training data for a contradiction detector from edited dialogues.

A negative of the transforms ``negate``, ``oppose`` and ``contradict`` has a sentence and its contradiction.
These two sentences share nearly all of their words, whereas models contradict themselves in other words, and
in passing. Therefore both are reworded, or replaced by what other speakers say
(`graphneg.scorers.paraphrases`), and combined with another sentence.

A detector should not be able to separate the classes by the response alone, or by the words that it shares
with the earlier utterance. So each contradictory response has a consistent counterpart of similar length.
There are five kinds:

========= ================================================ ===============================================
kind      contradictory response                           consistent response
========= ================================================ ===============================================
restated  the contradiction and a turn of the speaker      the statement in other words and that turn
crossed   the contradiction and another's affirmation      the statement and another's denial
elsewhere the contradiction and a turn of the speaker      another's contradiction and that turn
agreed    the contradiction and a turn of the speaker      the same; the earlier utterance says so, too
later     the contradiction                                a turn of the speaker
========= ================================================ ===============================================

In a tenth of the cases, the earlier utterance is the edited one, and the original statement contradicts it.
In half of the cases, the earlier utterance is extended by a turn of another dialogue, since real speakers say
more than one thing. In a third of the cases of the first four kinds, the speaker's turn is left out of the
responses.

Example:
    The statement "I keep bees." and its contradiction "I do not keep bees." give, for the kind ``restated``,
    the pairs ("I keep bees.", "I have never kept bees. I work in a bank.") with label 1 and ("I keep bees.",
    "I do keep bees. I work in a bank.") with label 0.
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
from graphneg.generators.base import Turn
from graphneg.hashing import number, shuffled
from graphneg.ingest.labelled import ANNOTATORS, Labelled
from graphneg.model import Negative
from graphneg.nn.embedders import Embedder
from graphneg.records.files import read_negatives
from graphneg.scorers.paraphrases import Contradiction, Sides, denies, paraphrases, sides

SOURCE = "graph"
"""The generator of graph-made responses in labelled data."""

Kind = Literal["restated", "crossed", "elsewhere", "agreed", "later"]
"""The kinds of pairs of a contradictory and a consistent response."""
KINDS: tuple[Kind, ...] = ("restated", "crossed", "elsewhere", "agreed", "later")
MIX: tuple[Kind, ...] = (*KINDS, *KINDS[:3], *KINDS[:2])
"""Default mix of the kinds in ten: three restated, three crossed, two elsewhere, one agreed, one later."""
_OWN_WORDS = 7
"""One in this many contradictions keeps its own wording although other speakers' wordings exist."""

TRANSFORMS = ("negate", "oppose", "contradict")
"""The transforms whose edits contradict the original sentence."""
_LEAST, _MOST = 3, 16
"""Minimum and maximum number of words of a statement.

Shorter ones are not worth contradicting, and nobody repeats longer ones.
"""
# Words by which speakers talk about themselves.
_OWN = re.compile(r"\b(i|me|my|mine|we|us|our|ours)\b", re.I)
# "do n't" and "don ' t" are tokenized forms of "don't".
_APART = re.compile(r"(?<=[a-z]) ?n ?(['’]) ?t\b", re.I)
# "yes ." is a tokenized form of "yes."
_GAP = re.compile(r"\s+(?=[.,!?])")
# Sentences that begin like a question may lack a question mark in corpora.
_ASKING = re.compile(
    r"\W*(what|who|whose|where|when|why|how|which|do|does|did|are|is|can|could|would|will)\b", re.I
)


def read_made(
    paths: Sequence[str | Path],
    *,
    kinds: Sequence[Kind] = MIX,
    seed: int = 0,
    embedder: Embedder | None = None,
) -> list[Labelled]:
    """Make labelled responses from files of negatives.

    A file that cannot be read raises `InputError`.

    Args:
        paths: Files of negatives (``.jsonl``, ``.parquet``).
        kinds: The kinds of pairs; repetitions count as weights.
        seed: Seed of all choices.
        embedder: Finds similar sentences of other speakers. If None, only templates reword.

    Returns:
        The labelled responses.

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
) -> list[Labelled]:
    """Make labelled responses from the contradictions in negatives.

    Each contradiction gets one kind, drawn by a hash of the seed and its id, and gives one contradictory and
    one consistent response. Only pairs of an affirmation and a denial are used, because antonyms rarely
    contradict each other. If an embedder is given and FAISS is missing, `ModelError` is raised.

    Args:
        negatives: The negatives.
        kinds: The kinds of pairs; repetitions count as weights.
        seed: Seed of all choices.
        embedder: Finds similar sentences of other speakers. If None, only templates reword.

    Returns:
        The labelled responses, in pairs and shuffled, so that a prefix covers all dialogues.
    """
    sentences = Sentences(negatives)
    denials = [c for c in sentences.contradictions if denies(c.sentence) != denies(c.contradiction)]
    denials = shuffled(denials, seed, "contradictions")
    others = paraphrases(denials, sentences.statements, embedder) if embedder else [None] * len(denials)
    claims = [_claim(item, said, seed) for item, said in zip(denials, others, strict=True)]
    labelled: list[Labelled] = []
    for claim in claims:
        id = claim.source.id
        kind = kinds[number(seed, "kind", id) % len(kinds)]
        other = _of_another_dialogue(claim, claims, seed)
        responses = _responses(claim, other, kind, seed)
        for label, (earlier, response), votes in zip((1, 0), responses, (ANNOTATORS, 0), strict=True):
            labelled.append(
                Labelled(f"{id}~{kind}/{label}", (earlier, response), ("A", "A"), 0, SOURCE, votes)
            )
    return labelled


class Sentences:
    """The sentences of edited dialogues.

    Attributes:
        contradictions: The contradictions, each pair of texts once.
        statements: Sentences in which speakers talk about themselves, with the dialogue of their first
            occurrence.
    """

    def __init__(self, negatives: Iterable[Negative]) -> None:
        """Collect the sentences.

        Args:
            negatives: The negatives.
        """
        self.statements: dict[str, str] = {}
        contradictions: dict[tuple[str, str], Contradiction] = {}
        for negative in negatives:
            for turn in negative.original.get("context") or negative.context:
                for sentence in typed_sentences(spelled(turn["text"])):
                    if _speaks_of_oneself(sentence.text):
                        self.statements.setdefault(sentence.text, negative.dialogue)
            for item in _contradictions(negative) if negative.label == 0 else ():
                contradictions.setdefault((item.earlier, item.contradiction), item)
        self.contradictions = list(contradictions.values())


def spelled(text: str) -> str:
    """Remove the blanks that tokenization leaves in a text.

    Args:
        text: A text, possibly with blanks before punctuation marks and in contractions.

    Returns:
        The text as people type it.

    Example:
        >>> spelled("i do n't sing , i hum .")
        "i don't sing, i hum."
    """
    return _GAP.sub("", _APART.sub(r"n\1t", one_line(text)))


def _contradictions(negative: Negative) -> Iterator[Contradiction]:
    """Yield the contradictions of a negative."""
    after = _turns(negative, negative.context, negative.response)
    original = negative.original
    before = _turns(negative, original.get("context") or negative.context, original.get("response"))
    for turn in sorted({int(edit["turn"]) for edit in negative.edits if edit["transform"] in TRANSFORMS}):
        names = {edit["transform"] for edit in negative.edits if edit["turn"] == turn}
        # An edit of another transform in the same turn may change the sentence beyond a contradiction.
        if turn in before and turn in after and names <= set(TRANSFORMS):
            yield from _of_turn(f"{negative.dialogue}#{turn}~{negative.id}", turn, before, after)


def _turns(negative: Negative, context: Sequence[Mapping[str, str]], response: str | None) -> dict[int, Turn]:
    """Return the turns by number, the response last."""
    first = negative.turn - len(context)
    turns = {first + at: Turn(turn["speaker"], spelled(turn["text"])) for at, turn in enumerate(context)}
    # With alternating speakers, the response comes from the speaker of two turns before.
    speaker = negative.speaker or (context[-2]["speaker"] if len(context) > 1 else "")
    turns[negative.turn] = Turn(speaker, spelled(negative.response if response is None else response))
    return turns


def _of_turn(
    id: str, turn: int, before: Mapping[int, Turn], after: Mapping[int, Turn]
) -> Iterator[Contradiction]:
    """Yield the contradiction of an edited turn: one new sentence that replaces a sentence or was added."""
    old, new = ([part.text for part in typed_sentences(said[turn].text)] for said in (before, after))
    gone, added = [text for text in old if text not in new], [text for text in new if text not in old]
    # With several new sentences it is unclear which sentence is contradicted.
    if len(added) != 1 or len(gone) > 1:
        return
    earlier, sentence = turn, gone[0] if gone else ""
    own = [at for at, said in before.items() if said.speaker == before[turn].speaker and at != turn]
    # The contradiction was added: it contradicts the earlier sentence of its speaker that shares most words.
    if not gone:
        words, most, said = set(content_lemmas(added[0])), 0, [at for at in own if at < turn]
        for where, part in ((at, part) for at in said for part in typed_sentences(before[at].text)):
            if (shared := len(words & set(content_lemmas(part.text)))) > most:
                most, earlier, sentence = shared, where, part.text
    # Combine the contradiction with the original of the edited turn. If the contradiction replaces a sentence
    # of that turn, use another turn of the speaker: the next one, else the last one.
    if _speaks_of_oneself(sentence) and _speaks_of_oneself(added[0]):
        other = turn if earlier != turn else next((at for at in own if at > turn), own[-1] if own else None)
        if other is not None and before[other].text:
            yield Contradiction(id, before[earlier].text, sentence, added[0], before[other].text)


def _speaks_of_oneself(sentence: str) -> bool:
    """Return whether a sentence is a short statement of speakers about themselves."""
    asks = sentence.endswith("?") or _ASKING.match(sentence) is not None
    # "I have a dog." can be contradicted; "Do I?", "Oh my!" and "The sky is blue." are no such statements.
    return not asks and _LEAST <= len(sentence.split()) <= _MOST and _OWN.search(sentence) is not None


@dataclass(frozen=True, slots=True)
class _Claim:
    """Wordings of a statement in an earlier utterance and of its contradiction.

    Attributes:
        source: The statement and its contradiction.
        earlier: The earlier utterance.
        said: Wordings of the statement.
        contrary: Wordings of the contradiction.
        agreed: Variants of the earlier utterance that state the contradiction. Empty if the statement is not
            found in it.
    """

    source: Contradiction
    earlier: str
    said: tuple[str, ...]
    contrary: tuple[str, ...]
    agreed: tuple[str, ...]


def _claim(item: Contradiction, others: Sides | None, seed: int) -> _Claim:
    """Collect the wordings of a contradiction; in a tenth of the cases, exchange the two sides."""
    # Templates start from a denial: either the contradiction or the statement must be one.
    if wordings := sides(item.contradiction):
        said, contrary = wordings.affirmed, wordings.denied
    elif wordings := sides(item.sentence):
        said, contrary = wordings.denied, wordings.affirmed
    else:
        said, contrary = (), ()
    # The sentences themselves come first in the lists.
    said = tuple(dict.fromkeys((item.sentence, *said)))
    contrary = tuple(dict.fromkeys((item.contradiction, *contrary)))
    # A consistent response should not repeat the statement word for word.
    new_said, new_contrary = said[1:] or said, contrary
    if others and number(seed, "own words", item.id) % _OWN_WORDS:
        new_said, new_contrary = others.affirmed, others.denied

    def saying(wordings: Sequence[str]) -> tuple[str, ...]:
        """Return the earlier utterance with each wording in place of the sentence."""
        return tuple(item.earlier.replace(item.sentence, text, 1) for text in wordings)

    if item.sentence not in item.earlier:
        return _Claim(item, item.earlier, new_said, new_contrary, ())
    if number(seed, "edited", item.id) % 10:
        return _Claim(item, item.earlier, new_said, new_contrary, saying(contrary))
    [edited] = saying([item.contradiction])
    return _Claim(item, edited, new_contrary, new_said, saying(said))


def _responses(
    claim: _Claim, other: _Claim, kind: Kind, seed: int
) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return an earlier utterance with a contradictory response, and one with a consistent response."""

    def drawn(texts: Sequence[str], name: str, id: str) -> str:
        """Choose a text by hash."""
        return texts[number(seed, name, id) % len(texts)]

    def beside(text: str, more: str, id: str) -> str:
        """Join two texts in either order, chosen by hash."""
        return f"{text} {more}" if number(seed, "order", id) % 2 else f"{more} {text}"

    source, id = claim.source, claim.source.id
    earlier, agreeing = claim.earlier, claim.earlier
    wrong, right = drawn(claim.contrary, "wrong", id), drawn(claim.said, "right", id)
    elsewhere = drawn(other.contrary, "wrong", other.source.id)
    if kind == "later":
        right = source.other
    elif kind == "agreed" and claim.agreed:
        agreeing, right = drawn(claim.agreed, "agreed", id), wrong
    elif kind == "elsewhere":
        right = elsewhere
    elif kind == "crossed":
        spoken = (drawn(other.said, "right", other.source.id), elsewhere)
        wrong = beside(wrong, _balancing(wrong, spoken), f"{id} 1")
        right = beside(right, _balancing(right, spoken), f"{id} 0")
    # Two thirds of the responses include the speaker's other turn.
    if kind != "later" and number(seed, "alone", id) % 3:
        wrong, right = beside(wrong, source.other, id), beside(right, source.other, id)
    # Half of the earlier utterances get a second turn.
    if number(seed, "longer", id) % 2 == 0:
        longer = f"{id} longer"
        earlier = beside(earlier, other.source.other, longer)
        agreeing = beside(agreeing, other.source.other, longer)
    return (earlier, wrong), (agreeing, right)


def _balancing(text: str, spoken: Sequence[str]) -> str:
    """Return the affirmation for a denial, and the denial for an affirmation."""
    # Each response then has one denial and one affirmation, so that "not" does not reveal the class.
    return min(spoken, key=lambda other: denies(other) is denies(text))


def _of_another_dialogue(claim: _Claim, claims: Sequence[_Claim], seed: int) -> _Claim:
    """Return a claim of another dialogue, or the next claim if there is only one dialogue."""
    start = number(seed, "elsewhere", claim.source.id) % len(claims)
    rotated = chain(islice(claims, start, None), islice(claims, start))
    others = (item for item in rotated if item.source.dialogue != claim.source.dialogue)
    return next(others, None) or claims[(claims.index(claim) + 1) % len(claims)]

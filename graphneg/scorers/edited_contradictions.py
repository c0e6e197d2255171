"""Contradictions from edited graphs: negatives in, labelled responses to train a detector on out.

A negative of the transforms ``negate``, ``oppose`` and ``contradict`` holds a sentence and its contradiction.
Models contradict themselves in passing, in other words than they were told: so what is said and its
contradiction are reworded, or said as other speakers say it (`graphneg.scorers.paraphrases`), and stand
beside something else.

Neither the response alone nor the words that it shares with the earlier utterance may tell the classes apart,
so each contradictory response has a counterpart of about its length:

========= ================================================ =============================================
kind      contradictory                                    not contradictory
========= ================================================ =============================================
restated  the contradiction beside a turn of the speaker   what was said, reworded, beside that turn
crossed   the contradiction beside what another affirms    what was said, beside what another denies
elsewhere the contradiction beside a turn of the speaker   a contradiction of something else beside it
agreed    the contradiction beside a turn of the speaker   the same; the earlier utterance says so, too
later     the contradiction                                a turn of the speaker
========= ================================================ =============================================

In every tenth the earlier utterance is the edited one, and what contradicts it is what was said. Every second
utterance has another turn before or behind it, as of one who talks more; every third response of the first
four kinds goes without the speaker's turn.
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
"""Who graph-made responses are of, in place of a generator."""

Kind = Literal["restated", "crossed", "elsewhere", "agreed", "later"]
KINDS: tuple[Kind, ...] = ("restated", "crossed", "elsewhere", "agreed", "later")
MIX: tuple[Kind, ...] = (*KINDS, *KINDS[:3], *KINDS[:2])
"""The kinds as they come up in ten: three restated, three crossed, two elsewhere, one of each other."""
_OWN_WORDS = 7
"""One in so many contradictions that others say, too, is said in the edited words."""

TRANSFORMS = ("negate", "oppose", "contradict")
_LEAST, _MOST = 3, 16
"""Words of a sentence that is worth contradicting, and of one that people would say again."""
_OWN = re.compile(r"\b(i|me|my|mine|we|us|our|ours)\b", re.I)
_APART = re.compile(r"(?<=[a-z]) ?n ?(['’]) ?t\b", re.I)
_GAP = re.compile(r"\s+(?=[.,!?])")
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
    """`graph_made` of files of negatives (.jsonl, .parquet).

    Raises `InputError`: a file can't be read, is none of negatives, or there is no contradiction in them.
    """
    made = graph_made(read_negatives(*paths), kinds=kinds, seed=seed, embedder=embedder)
    if not made:
        raise InputError(
            f"{', '.join(map(str, paths))}: no contradiction in it; make some by `graphneg negatives "
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
    """Labelled responses of the contradictions in negatives: as many contradictory as not.

    Each contradiction is of one kind, drawn by hash from (seed, its id); a kind that ``kinds`` names twice
    comes up twice as often. With an ``embedder`` most are said in the words of other speakers in the
    negatives' contexts. Only what denies an affirmation, or affirms a denial, counts: few opposites
    contradict. The order is one of hashes, so that the first of them are of all dialogues.

    Raises `ModelError`: an embedder is given, and FAISS is not installed.
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
    """What edited dialogues say: ``contradictions`` (each text once), and ``statements``, every
    sentence in which a speaker speaks of itself, with the dialogue that it was first said in."""

    def __init__(self, negatives: Iterable[Negative]) -> None:
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
    """A text as people type it: corpora come with words and marks apart.

    >>> spelled("i do n't sing , i hum .")
    "i don't sing, i hum."
    """
    return _GAP.sub("", _APART.sub(r"n\1t", one_line(text)))


def _contradictions(negative: Negative) -> Iterator[Contradiction]:
    after = _turns(negative, negative.context, negative.response)
    original = negative.original
    before = _turns(negative, original.get("context") or negative.context, original.get("response"))
    for turn in sorted({int(edit["turn"]) for edit in negative.edits if edit["transform"] in TRANSFORMS}):
        names = {edit["transform"] for edit in negative.edits if edit["turn"] == turn}
        if turn in before and turn in after and names <= set(TRANSFORMS):
            yield from _of_turn(f"{negative.dialogue}#{turn}~{negative.id}", turn, before, after)


def _turns(negative: Negative, context: Sequence[Mapping[str, str]], response: str | None) -> dict[int, Turn]:
    """The turns by number, the response last; who speaks it, if nobody says, spoke two turns before."""
    first = negative.turn - len(context)
    turns = {first + at: Turn(turn["speaker"], spelled(turn["text"])) for at, turn in enumerate(context)}
    speaker = negative.speaker or (context[-2]["speaker"] if len(context) > 1 else "")
    turns[negative.turn] = Turn(speaker, spelled(negative.response if response is None else response))
    return turns


def _of_turn(
    id: str, turn: int, before: Mapping[int, Turn], after: Mapping[int, Turn]
) -> Iterator[Contradiction]:
    """The contradiction that an edited turn holds: one new sentence, in place of one or added."""
    old, new = ([part.text for part in typed_sentences(said[turn].text)] for said in (before, after))
    gone, added = [text for text in old if text not in new], [text for text in new if text not in old]
    if len(added) != 1 or len(gone) > 1:
        return
    earlier, sentence = turn, gone[0] if gone else ""
    own = [at for at, said in before.items() if said.speaker == before[turn].speaker and at != turn]
    if not gone:  # what the same speaker said before that shares most words with the contradiction
        words, most, said = set(content_lemmas(added[0])), 0, [at for at in own if at < turn]
        for where, part in ((at, part) for at in said for part in typed_sentences(before[at].text)):
            if (shared := len(words & set(content_lemmas(part.text)))) > most:
                most, earlier, sentence = shared, where, part.text
    if _speaks_of_oneself(sentence) and _speaks_of_oneself(added[0]):
        # beside it: the edited turn as it was, or what the speaker says next, or said before
        other = turn if earlier != turn else next((at for at in own if at > turn), own[-1] if own else None)
        if other is not None and before[other].text:
            yield Contradiction(id, before[earlier].text, sentence, added[0], before[other].text)


def _speaks_of_oneself(sentence: str) -> bool:
    """Whether it is a statement that a speaker can contradict: no question, no exclamation, no request."""
    asks = sentence.endswith("?") or _ASKING.match(sentence) is not None
    return not asks and _LEAST <= len(sentence.split()) <= _MOST and _OWN.search(sentence) is not None


@dataclass(frozen=True, slots=True)
class _Claim:
    """An earlier utterance, wordings of a sentence in it, and of that sentence's contradiction. ``agreed``
    are utterances that say the contradiction instead, none where that can't be written."""

    source: Contradiction
    earlier: str
    said: tuple[str, ...]
    contrary: tuple[str, ...]
    agreed: tuple[str, ...]


def _claim(item: Contradiction, others: Sides | None, seed: int) -> _Claim:
    """In every tenth the utterance is the edited one; wordings begin with the sentences themselves."""
    if wordings := sides(item.contradiction):
        said, contrary = wordings.affirmed, wordings.denied
    elif wordings := sides(item.sentence):
        said, contrary = wordings.denied, wordings.affirmed
    else:
        said, contrary = (), ()
    said = tuple(dict.fromkeys((item.sentence, *said)))
    contrary = tuple(dict.fromkeys((item.contradiction, *contrary)))
    new_said, new_contrary = said[1:] or said, contrary
    if others and number(seed, "own words", item.id) % _OWN_WORDS:
        new_said, new_contrary = others.affirmed, others.denied

    def saying(wordings: Sequence[str]) -> tuple[str, ...]:
        """The earlier utterance with each wording in place of its sentence."""
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
    """A contradictory response and its counterpart, each behind the utterance that it goes with. ``other`` is
    a claim of another dialogue. In every second another turn stands before or behind the earlier
    utterance."""

    def drawn(texts: Sequence[str], name: str, id: str) -> str:
        return texts[number(seed, name, id) % len(texts)]

    def beside(text: str, more: str, id: str) -> str:
        """Two texts in either order."""
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
    if kind != "later" and number(seed, "alone", id) % 3:
        wrong, right = beside(wrong, source.other, id), beside(right, source.other, id)
    if number(seed, "longer", id) % 2 == 0:
        longer = f"{id} longer"
        earlier = beside(earlier, other.source.other, longer)
        agreeing = beside(agreeing, other.source.other, longer)
    return (earlier, wrong), (agreeing, right)


def _balancing(text: str, spoken: Sequence[str]) -> str:
    """What affirms beside a denial, and denies beside an affirmation."""
    return min(spoken, key=lambda other: denies(other) is denies(text))


def _of_another_dialogue(claim: _Claim, claims: Sequence[_Claim], seed: int) -> _Claim:
    """A claim of another dialogue; where there is only one, the next."""
    start = number(seed, "elsewhere", claim.source.id) % len(claims)
    rotated = chain(islice(claims, start, None), islice(claims, start))
    others = (item for item in rotated if item.source.dialogue != claim.source.dialogue)
    return next(others, None) or claims[(claims.index(claim) + 1) % len(claims)]

"""Contradictions from edited graphs, as labelled responses to train a detector on.

An edited sentence contradicts what it was (`graphneg.contradiction.edited_sentences`). Models contradict
themselves in passing, in other words than they were told: so what is said and its contradiction are reworded
(`graphneg.contradiction.rewording`), or said as other speakers say it (`graphneg.contradiction.retelling`),
and stand beside something else. Neither the response alone nor the words that it shares with the earlier
utterance may tell the classes apart, so each contradictory response has a counterpart of about its length:

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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Literal

from graphneg.contradiction.edited_sentences import Contradiction, Sentences
from graphneg.contradiction.labelled import ANNOTATORS, Labelled
from graphneg.contradiction.retelling import Retold, retold
from graphneg.contradiction.rewording import denies, sides
from graphneg.embedding.base import Embedder
from graphneg.errors import InputError
from graphneg.hashing import number, shuffled
from graphneg.model import Negative
from graphneg.output.jsonl import read_jsonl
from graphneg.output.parquet import read_parquet

SOURCE = "graph"
"""Who graph-made responses are of, in place of a generator."""

Kind = Literal["restated", "crossed", "elsewhere", "agreed", "later"]
KINDS: tuple[Kind, ...] = ("restated", "crossed", "elsewhere", "agreed", "later")
MIX: tuple[Kind, ...] = (*KINDS, *KINDS[:3], *KINDS[:2])
"""The kinds as they come up in ten: three restated, three crossed, two elsewhere, one of each other."""
_OWN_WORDS = 7
"""One in so many contradictions that others say, too, is said in the edited words."""


def read_made(
    paths: Sequence[str | Path],
    *,
    kinds: Sequence[Kind] = MIX,
    seed: int = 0,
    embedder: Embedder | None = None,
) -> list[Labelled]:
    """`graph_made` of files of negatives (.jsonl, .parquet).

    Raises:
        InputError: a file can't be read, is none of negatives, or there is no contradiction in them.
    """
    readers = ((read_parquet if path.suffix == ".parquet" else read_jsonl)(path) for path in map(Path, paths))
    made = graph_made(chain.from_iterable(readers), kinds=kinds, seed=seed, embedder=embedder)
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

    Raises:
        ModelError: an embedder is given, and FAISS is not installed.
    """
    sentences = Sentences(negatives)
    found = [one for one in sentences.contradictions if denies(one.sentence) != denies(one.contradiction)]
    found = shuffled(found, seed, "contradictions")
    told = retold(found, sentences.statements, embedder) if embedder else [None] * len(found)
    claims = [_claim(one, others, seed) for one, others in zip(found, told, strict=True)]
    made: list[Labelled] = []
    for place, one in enumerate(claims):
        kind = kinds[number(seed, "kind", one.id) % len(kinds)]
        wrong, right = _responses(one, claims[_elsewhere(place, found, seed)], kind, seed)
        made.append(_labelled(one, f"{kind}/1", wrong, ANNOTATORS))
        made.append(_labelled(one, f"{kind}/0", right, 0))
    return made


@dataclass(frozen=True, slots=True)
class _Pair:
    """An earlier utterance, and a response."""

    earlier: str
    response: str


@dataclass(frozen=True, slots=True)
class _Claim:
    """An earlier utterance, wordings of a sentence in it, and of that sentence's contradiction.

    ``agreed`` are utterances that say the contradiction instead, none where that can't be written; ``other``
    is another turn of the speaker.
    """

    id: str
    earlier: str
    said: tuple[str, ...]
    contrary: tuple[str, ...]
    agreed: tuple[str, ...]
    other: str


def _claim(one: Contradiction, others: Retold | None, seed: int) -> _Claim:
    """In every tenth the utterance is the edited one."""
    said, contrary = _wordings(one)
    in_place = one.sentence in one.earlier
    told_said, told_contrary = said[1:] or said, contrary
    if others and number(seed, "own words", one.id) % _OWN_WORDS:
        told_said, told_contrary = others.affirmed, others.denied
    if number(seed, "edited", one.id) % 10 or not in_place:
        agreed = _saying(one, contrary)
        return _Claim(one.id, one.earlier, told_said, told_contrary, agreed, one.other)
    edited = one.earlier.replace(one.sentence, one.contradiction, 1)
    return _Claim(one.id, edited, told_contrary, told_said, _saying(one, said), one.other)


def _wordings(one: Contradiction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is said in other words, and its contradiction in other words; the words themselves come first."""
    if found := sides(one.contradiction):
        said, contrary = found.affirmed, found.denied
    elif found := sides(one.sentence):
        said, contrary = found.denied, found.affirmed
    else:
        said, contrary = (), ()
    return tuple(dict.fromkeys((one.sentence, *said))), tuple(dict.fromkeys((one.contradiction, *contrary)))


def _saying(one: Contradiction, wordings: Sequence[str]) -> tuple[str, ...]:
    if one.sentence not in one.earlier:
        return ()
    return tuple(one.earlier.replace(one.sentence, text, 1) for text in wordings)


def _responses(one: _Claim, other: _Claim, kind: Kind, seed: int) -> tuple[_Pair, _Pair]:
    """A contradictory response and its counterpart, each with the utterance that it goes with."""
    wrong, right = _told(one, other, kind, seed)
    return _longer(wrong, one.id, other, seed), _longer(right, one.id, other, seed)


def _told(one: _Claim, other: _Claim, kind: Kind, seed: int) -> tuple[_Pair, _Pair]:
    wrong, said = _drawn(one.contrary, seed, "wrong", one.id), _drawn(one.said, seed, "right", one.id)
    elsewhere = _drawn(other.contrary, seed, "wrong", other.id)
    if kind == "later":
        return _Pair(one.earlier, wrong), _Pair(one.earlier, one.other)
    earlier, right = one.earlier, said
    if kind == "agreed" and one.agreed:
        earlier, right = _drawn(one.agreed, seed, "agreed", one.id), wrong
    elif kind == "elsewhere":
        right = elsewhere
    elif kind == "crossed":
        spoken = (_drawn(other.said, seed, "right", other.id), elsewhere)
        wrong = _beside(wrong, _balancing(wrong, spoken), seed, f"{one.id} 1")
        right = _beside(said, _balancing(said, spoken), seed, f"{one.id} 0")
    return (
        _Pair(one.earlier, _with_turn(wrong, one, seed)),
        _Pair(earlier, _with_turn(right, one, seed)),
    )


def _balancing(text: str, spoken: Sequence[str]) -> str:
    """What affirms beside a denial, and denies beside an affirmation."""
    return min(spoken, key=lambda one: denies(one) is denies(text))


def _with_turn(text: str, one: _Claim, seed: int) -> str:
    if number(seed, "alone", one.id) % 3:
        return _beside(text, one.other, seed, one.id)
    return text


def _longer(pair: _Pair, id: str, other: _Claim, seed: int) -> _Pair:
    """In every second another turn stands before or behind the earlier utterance."""
    if number(seed, "longer", id) % 2:
        return pair
    return replace(pair, earlier=_beside(pair.earlier, other.other, seed, f"{id} longer"))


def _beside(text: str, other: str, seed: int, id: str) -> str:
    return f"{text} {other}" if number(seed, "order", id) % 2 else f"{other} {text}"


def _drawn(wordings: Sequence[str], seed: int, name: str, id: str) -> str:
    return wordings[number(seed, name, id) % len(wordings)]


def _elsewhere(place: int, found: Sequence[Contradiction], seed: int) -> int:
    """The place of a contradiction in another dialogue; of any other, where there is only one."""
    own = found[place]
    start = number(seed, "elsewhere", own.id) % len(found)
    for step in range(len(found)):
        at = (start + step) % len(found)
        if found[at].dialogue != own.dialogue:
            return at
    return (place + 1) % len(found)


def _labelled(one: _Claim, name: str, pair: _Pair, votes: int) -> Labelled:
    return Labelled(f"{one.id}~{name}", (pair.earlier, pair.response), ("A", "A"), 0, SOURCE, votes)

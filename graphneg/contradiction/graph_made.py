"""Contradictions from edited graphs, as labelled responses to train a detector on.

A negative of the transforms ``negate``, ``oppose`` and ``contradict`` holds a sentence and its contradiction.
Models contradict themselves in passing, in other words than they were told: so what is said and its
contradiction are reworded (`graphneg.contradiction.rewording`), and stand beside something else that the
same speaker says. Neither the response alone nor the words that it shares with the earlier utterance may
tell the classes apart, so each contradictory response has a counterpart of about its length:

========= ================================================ =============================================
kind      contradictory                                    not contradictory
========= ================================================ =============================================
restated  the contradiction beside a turn of the speaker   what was said, reworded, beside that turn
agreed    the contradiction beside a turn of the speaker   the same; the earlier utterance says so, too
elsewhere the contradiction beside a turn of the speaker   a contradiction of something else beside it
later     the contradiction                                a turn of the speaker
========= ================================================ =============================================

In every third the earlier utterance is the edited one, and what contradicts it is what was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from graphneg.content_words import content_lemmas
from graphneg.contradiction.labelled import ANNOTATORS, Labelled
from graphneg.contradiction.rewording import sides
from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.model import Negative
from graphneg.output.jsonl import read_jsonl
from graphneg.output.parquet import read_parquet

TRANSFORMS = ("negate", "oppose", "contradict")
SOURCE = "graph"
"""Who graph-made responses are of, in place of a generator."""

Kind = Literal["restated", "agreed", "elsewhere", "later"]
KINDS: tuple[Kind, ...] = ("restated", "agreed", "elsewhere", "later")
_Pair = tuple[str, str]
"""An earlier utterance and a response."""
_END = re.compile(r"(?<=[.!?])\s+")
_LEAST, _MOST = 3, 16
"""Words of a sentence that is worth contradicting, and of one that people would say again."""
_OWN = re.compile(r"\b(i|me|my|mine|we|us|our|ours)\b", re.I)
_ASKING = re.compile(
    r"\W*(what|who|whose|where|when|why|how|which|do|does|did|are|is|can|could|would|will)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A sentence that ``earlier`` (a whole turn) says, its contradiction, and another turn of the speaker."""

    id: str
    earlier: str
    sentence: str
    contradiction: str
    other: str


def contradictions(negatives: Iterable[Negative]) -> Iterator[Contradiction]:
    """The contradictions that negatives hold, each text once; only statements that speak
    of their speaker count."""
    seen: set[tuple[str, str]] = set()
    for one in negatives:
        if one.label == 0:
            for found in _of(one):
                if (found.earlier, found.contradiction) not in seen:
                    seen.add((found.earlier, found.contradiction))
                    yield found


def read_made(paths: Sequence[str | Path], *, kinds: Sequence[Kind] = KINDS, seed: int = 0) -> list[Labelled]:
    """`graph_made` of files of negatives (.jsonl, .parquet).

    Raises:
        InputError: a file can't be read, is none of negatives, or there is no contradiction in them.
    """
    readers = ((read_parquet if path.suffix == ".parquet" else read_jsonl)(path) for path in map(Path, paths))
    made = graph_made(chain.from_iterable(readers), kinds=kinds, seed=seed)
    if not made:
        raise InputError(
            f"{', '.join(map(str, paths))}: no contradiction in it; make some by `graphneg negatives "
            "--recipe contradiction`"
        )
    return made


def graph_made(
    negatives: Iterable[Negative], *, kinds: Sequence[Kind] = KINDS, seed: int = 0
) -> list[Labelled]:
    """Labelled responses of the contradictions in negatives: as many contradictory as not.

    Each contradiction is of one kind, drawn by hash from (seed, its id).
    """
    found = list(contradictions(negatives))
    claims = [_claim(one, seed) for one in found]
    made: list[Labelled] = []
    for place, one in enumerate(claims):
        kind = kinds[number(seed, "kind", one.id) % len(kinds)]
        wrong, right = _responses(one, claims[_elsewhere(place, found, seed)], kind, seed)
        made.append(_labelled(one, f"{kind}/1", wrong, ANNOTATORS))
        made.append(_labelled(one, f"{kind}/0", right, 0))
    return made


@dataclass(frozen=True, slots=True)
class _Claim:
    """An earlier utterance, wordings of a sentence in it, and of that sentence's contradiction.

    ``agreed`` are utterances that say the contradiction instead, one for each of its wordings, none where
    that can't be written; ``other`` is another turn of the speaker.
    """

    id: str
    earlier: str
    said: tuple[str, ...]
    contrary: tuple[str, ...]
    agreed: tuple[str, ...]
    other: str


def _claim(one: Contradiction, seed: int) -> _Claim:
    """In every third the utterance is the edited one."""
    said, contrary = _wordings(one)
    if number(seed, "edited", one.id) % 3 or one.sentence not in one.earlier:
        return _Claim(one.id, one.earlier, said, contrary, _saying(one, contrary), one.other)
    edited = one.earlier.replace(one.sentence, one.contradiction, 1)
    return _Claim(one.id, edited, contrary, said, _saying(one, said), one.other)


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
    wrong = _drawn(one.contrary, seed, "wrong", one.id)
    if kind == "later":
        return (one.earlier, wrong), (one.earlier, one.other)
    earlier = one.earlier
    if kind == "agreed" and one.agreed:
        earlier, right = _drawn(one.agreed, seed, "agreed", one.id), wrong
    elif kind == "elsewhere":
        right = _drawn(other.contrary, seed, "wrong", other.id)
    else:
        right = _drawn(one.said[1:] or one.said, seed, "right", one.id)
    if number(seed, "order", one.id) % 2:
        return (one.earlier, f"{wrong} {one.other}"), (earlier, f"{right} {one.other}")
    return (one.earlier, f"{one.other} {wrong}"), (earlier, f"{one.other} {right}")


def _drawn(wordings: Sequence[str], seed: int, name: str, id: str) -> str:
    return wordings[number(seed, name, id) % len(wordings)]


def _elsewhere(place: int, found: Sequence[Contradiction], seed: int) -> int:
    """The place of a contradiction in another dialogue; of any other, where there is only one."""
    own = found[place]
    start = number(seed, "elsewhere", own.id) % len(found)
    dialogue = own.id.partition("#")[0]
    for step in range(len(found)):
        at = (start + step) % len(found)
        if found[at].id.partition("#")[0] != dialogue:
            return at
    return (place + 1) % len(found)


def _labelled(one: _Claim, name: str, pair: _Pair, votes: int) -> Labelled:
    return Labelled(f"{one.id}~{name}", pair, ("A", "A"), 0, SOURCE, votes)


def _of(negative: Negative) -> Iterator[Contradiction]:
    after = _turns(negative, negative.context, negative.response)
    original = negative.original
    before = _turns(negative, original.get("context") or negative.context, original.get("response"))
    for turn in sorted({int(edit["turn"]) for edit in negative.edits if edit["transform"] in TRANSFORMS}):
        names = {edit["transform"] for edit in negative.edits if edit["turn"] == turn}
        if turn in before and turn in after and names <= set(TRANSFORMS):
            yield from _of_turn(f"{negative.dialogue}#{turn}~{negative.id}", turn, before, after)


@dataclass(frozen=True, slots=True)
class _Said:
    speaker: str
    text: str


def _turns(
    negative: Negative, context: Sequence[Mapping[str, str]], response: str | None
) -> dict[int, _Said]:
    """The turns by number, the response last; its speaker is who spoke two turns before."""
    first = negative.turn - len(context)
    turns = {first + at: _Said(turn["speaker"], turn["text"]) for at, turn in enumerate(context)}
    speaker = context[-2]["speaker"] if len(context) > 1 else ""
    turns[negative.turn] = _Said(speaker, negative.response if response is None else response)
    return turns


def _of_turn(
    id: str, turn: int, before: Mapping[int, _Said], after: Mapping[int, _Said]
) -> Iterator[Contradiction]:
    old, new = _sentences(before[turn].text), _sentences(after[turn].text)
    gone = [one for one in old if one not in new]
    come = [one for one in new if one not in old]
    if len(come) != 1 or len(gone) > 1:
        return
    earlier, sentence = (turn, gone[0]) if gone else _said_before(come[0], turn, before)
    if not _speaks_of_oneself(sentence) or not _speaks_of_oneself(come[0]):
        return
    other = before[turn].text if earlier != turn else _other(turn, before)
    if other:
        yield Contradiction(id, before[earlier].text, sentence, come[0], other)


def _said_before(contradiction: str, turn: int, before: Mapping[int, _Said]) -> tuple[int, str]:
    """The turn and the sentence of the same speaker that a contradiction shares most words with."""
    words = set(content_lemmas(contradiction))
    best = (0, turn, "")
    for place, said in before.items():
        if place < turn and said.speaker == before[turn].speaker:
            for sentence in _sentences(said.text):
                shared = len(words & set(content_lemmas(sentence)))
                best = max(best, (shared, place, sentence), key=_first)
    return best[1:]


def _other(turn: int, before: Mapping[int, _Said]) -> str:
    """What the speaker says next, else what was said before."""
    own = [place for place, said in before.items() if said.speaker == before[turn].speaker and place != turn]
    later = [place for place in own if place > turn]
    return before[later[0] if later else own[-1]].text if own else ""


def _speaks_of_oneself(sentence: str) -> bool:
    """Whether it is a statement that a speaker can contradict: no question, no exclamation, no request."""
    asks = sentence.endswith("?") or _ASKING.match(sentence) is not None
    return not asks and _LEAST <= len(sentence.split()) <= _MOST and _OWN.search(sentence) is not None


def _sentences(text: str) -> list[str]:
    return _END.split(" ".join(text.split()))


def _first(one: Any) -> int:
    return one[0]

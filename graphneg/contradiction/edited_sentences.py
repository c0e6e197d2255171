"""Sentences and their contradictions, as edited dialogues hold them, and what else is said there.

A negative of the transforms ``negate``, ``oppose`` and ``contradict`` holds a sentence and its contradiction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphneg.content_words import content_lemmas
from graphneg.model import Negative

TRANSFORMS = ("negate", "oppose", "contradict")
_END = re.compile(r"(?<=[.!?])\s+")
_LEAST, _MOST = 3, 16
"""Words of a sentence that is worth contradicting, and of one that people would say again."""
_OWN = re.compile(r"\b(i|me|my|mine|we|us|our|ours)\b", re.I)
_APART = re.compile(r"(?<=[a-z]) ?n ?(['’]) ?t\b", re.I)
_GAP = re.compile(r"\s+(?=[.,!?])")
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

    @property
    def dialogue(self) -> str:
        return self.id.partition("#")[0]


class Sentences:
    """What edited dialogues say: ``contradictions`` (each text once), and ``statements``, every
    sentence in which a speaker speaks of itself, with the dialogue that it was first said in."""

    def __init__(self, negatives: Iterable[Negative]) -> None:
        self.statements: dict[str, str] = {}
        self.contradictions: list[Contradiction] = []
        seen: set[tuple[str, str]] = set()
        for one in negatives:
            self._note(one)
            for found in _of(one) if one.label == 0 else ():
                if (found.earlier, found.contradiction) not in seen:
                    seen.add((found.earlier, found.contradiction))
                    self.contradictions.append(found)

    def _note(self, one: Negative) -> None:
        for turn in one.original.get("context") or one.context:
            for sentence in _sentences(spelled(turn["text"])):
                if _speaks_of_oneself(sentence):
                    self.statements.setdefault(sentence, one.dialogue)


def contradictions(negatives: Iterable[Negative]) -> list[Contradiction]:
    """The contradictions that negatives hold, each text once; only statements that speak
    of their speaker count."""
    return Sentences(negatives).contradictions


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
    turns = {first + at: _Said(turn["speaker"], spelled(turn["text"])) for at, turn in enumerate(context)}
    speaker = context[-2]["speaker"] if len(context) > 1 else ""
    turns[negative.turn] = _Said(speaker, spelled(negative.response if response is None else response))
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
    return _END.split(text)


def spelled(text: str) -> str:
    """A text as people type it: corpora come with words and marks apart.

    >>> spelled("i do n't sing , i hum .")
    "i don't sing, i hum."
    """
    return _GAP.sub("", _APART.sub(r"n\1t", " ".join(text.split())))


def _first(one: Any) -> int:
    return one[0]

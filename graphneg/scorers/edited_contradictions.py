"""Contradictions from edited graphs: negatives in, labelled responses to train a detector on out.

A negative of the transforms ``negate``, ``oppose`` and ``contradict`` holds a sentence and its contradiction.
Models contradict themselves in passing, in other words than they were told: so what is said and its
contradiction are reworded (`graphneg.scorers.templates`), or said as other speakers say it, and stand beside
something else. Of all that is denied in the dialogues, what is nearest to a contradiction mostly contradicts
the same sentence; of all that is affirmed, what is nearest to the sentence mostly goes with it.

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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphneg.english.lemmas import content_lemmas
from graphneg.english.tokens import one_line, typed_sentences
from graphneg.errors import InputError
from graphneg.hashing import number, shuffled
from graphneg.ingest.labelled import ANNOTATORS, Labelled
from graphneg.model import Negative
from graphneg.nn.embedders import Embedder
from graphneg.records.files import read_jsonl
from graphneg.records.tables import read_parquet
from graphneg.scorers.templates import denies, sides

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


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
_SAME_MATTER = 0.5
"""The cosine from which on two sentences are of one matter."""
_MARGIN = 0.02
"""How much nearer to what it contradicts than to the contradiction a denial may be."""
_RARE, _FEW = 0.02, 20
"""A word that a larger share of the statements has, and more than a few, tells no matter."""
_KEPT = 4
_LOOKED_AT = 64


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
    others_say = paraphrases(found, sentences.statements, embedder) if embedder else [None] * len(found)
    claims = [_claim(one, others, seed) for one, others in zip(found, others_say, strict=True)]
    made: list[Labelled] = []
    for place, one in enumerate(claims):
        kind = kinds[number(seed, "kind", one.id) % len(kinds)]
        wrong, right = _responses(one, claims[_elsewhere(place, found, seed)], kind, seed)
        made.append(_labelled(one, f"{kind}/1", wrong, ANNOTATORS))
        made.append(_labelled(one, f"{kind}/0", right, 0))
    return made


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
    return [sentence.text for sentence in typed_sentences(text)]


def spelled(text: str) -> str:
    """A text as people type it: corpora come with words and marks apart.

    >>> spelled("i do n't sing , i hum .")
    "i don't sing, i hum."
    """
    return _GAP.sub("", _APART.sub(r"n\1t", one_line(text)))


def _first(one: Any) -> int:
    return one[0]


@dataclass(frozen=True, slots=True)
class Paraphrases:
    """What speakers of other dialogues say: denials like a contradiction, and affirmations like the sentence
    that it contradicts, the nearest first."""

    denied: tuple[str, ...]
    affirmed: tuple[str, ...]


def paraphrases(
    found: Sequence[Contradiction], statements: Mapping[str, str], embedder: Embedder
) -> list[Paraphrases | None]:
    """For each contradiction what others say; None where nobody says either, or where
    the contradiction is no denial of an affirmation.

    ``statements`` are sentences with their dialogues. A denial has a word in common with the sentence
    that few statements have, and is no nearer to it than to the contradiction.

    Raises:
        ModelError: FAISS is not installed.
    """
    asked = [one for one in found if denies(one.contradiction) and not denies(one.sentence)]
    denials = [text for text in statements if denies(text)]
    affirmations = [text for text in statements if not denies(text)]
    if not (asked and denials and affirmations):
        return [None] * len(found)
    contrary = embedder.embed([one.contradiction for one in asked])
    said = embedder.embed([one.sentence for one in asked])
    like_contrary = _like(contrary, denials, embedder, said)
    like_said = _like(said, affirmations, embedder)
    matters = _matters(statements)
    told: dict[str, Paraphrases] = {}
    for one, denied, affirmed in zip(asked, like_contrary, like_said, strict=True):
        matter = matters(one.sentence)
        others = [text for text in denied if statements[text] != one.dialogue and matter & matters(text)]
        same = [text for text in affirmed if statements[text] != one.dialogue]
        if others and same:
            told[one.id] = Paraphrases(tuple(others[:_KEPT]), tuple(same[:_KEPT]))
    return [told.get(one.id) for one in found]


def _like(
    asked: NDArray[float32],
    texts: list[str],
    embedder: Embedder,
    further: NDArray[float32] | None = None,
) -> Iterator[list[str]]:
    """For each of ``asked``, of shape (asked, dimensions), texts of its matter, the nearest first; those that
    are nearer to its row of ``further`` are left out."""
    from graphneg.nn.vectors import Nearest

    vectors = embedder.embed(texts)
    found = Nearest(vectors).search(asked, _LOOKED_AT)
    for row, (cosines, places) in enumerate(zip(*(one.tolist() for one in found), strict=True)):
        bounds = [_SAME_MATTER] * len(places)
        if further is not None:
            bounds = [max(_SAME_MATTER, one - _MARGIN) for one in (vectors[places] @ further[row]).tolist()]
        near = zip(places, cosines, bounds, strict=True)
        yield [texts[place] for place, cosine, least in near if cosine >= least]


def _matters(statements: Mapping[str, str]) -> Callable[[str], frozenset[str]]:
    """Tells the content lemmas of a text that few statements have."""
    counts = Counter(lemma for text in statements for lemma in set(content_lemmas(text)))
    common = {lemma for lemma, count in counts.items() if count > max(_FEW, _RARE * len(statements))}
    return lambda text: frozenset(content_lemmas(text)) - common


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


def _claim(one: Contradiction, others: Paraphrases | None, seed: int) -> _Claim:
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

"""The four manipulations that DEAM is compared with: edits of a dialogue's texts, without their meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from graphneg.editing.proposals import digest_at, share_of_digests
from graphneg.errors import GeneratorError
from graphneg.generators.base import Candidate, Context, Turn, TurnEdit, answering
from graphneg.hashing import number, shuffled
from graphneg.ingest.rows import utterance_id
from graphneg.store.connection import Store
from graphneg.store.statements import cypher_text

# Utterances of other dialogues, drawn from the store a sample at a time: memory does not grow with it.


SAMPLE = 64
SAMPLES = 256


@dataclass(frozen=True, slots=True)
class Stranger:
    """An utterance of another dialogue: its id (``dailydialog/test/12#3``) and what it says."""

    id: str
    dialogue: str
    text: str

    def __str__(self) -> str:
        return self.id


class OtherDialogues:
    """What other dialogues of the same corpus and split say.

    Texts are indexed by their digests, so an interval of digests is a sample. Each draw hashes to one of at
    most ``SAMPLES`` samples of about ``SAMPLE`` utterances, which is read once and kept.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._shares: dict[tuple[str, str], float] = {}
        self._samples: dict[tuple[str, str, int], tuple[Stranger, ...]] = {}

    def of(self, context: Context, seed: int, *names: str) -> Iterator[Stranger]:
        """Utterances of one sample, none of the context's dialogue, in an order that seed and names decide.

        Raises:
            StoreError: the store is gone.
        """
        corpus, split = context.corpus, context.split
        share = self._share(corpus, split)
        samples = min(SAMPLES, max(1, int(1 / share)))
        place = number(seed, "sample", *names) % samples
        found = self._sample(corpus, split, place, samples, share)
        for one in shuffled(found, seed, "stranger", *names):
            if one.dialogue != context.dialogue:
                yield one

    def _share(self, corpus: str, split: str) -> float:
        if (corpus, split) not in self._shares:
            self._shares[corpus, split] = share_of_digests(self._store, corpus, split, SAMPLE)
        return self._shares[corpus, split]

    def _sample(
        self, corpus: str, split: str, place: int, samples: int, share: float
    ) -> tuple[Stranger, ...]:
        key = (corpus, split, place)
        if key not in self._samples:
            low = place / samples
            rows = self._store.read(
                cypher_text("read/utterances_between"),
                corpus=corpus,
                split=split,
                low=digest_at(low),
                high=digest_at(low + share),
            )
            self._samples[key] = tuple(
                Stranger(utterance_id(row["dialogue"], row["turn"]), row["dialogue"], row["text"])
                for row in rows
            )
        return self._samples[key]


# The four manipulations that DEAM is compared with: edits of a dialogue's texts, without their meaning.
#
# Shuffled turns, shuffled turns of one speaker, an utterance too many, another utterance in place of one
# (Mesgar, Bücker and Gurevych 2020, section 3.1; Vakulenko et al. 2018; Zhang et al. 2021; baselines of
# Ghazarian et al. 2022, section 5). Whose turn it is stays as it was, so that the order of speakers tells
# nothing: only what is said moves.


CATEGORY = "C-follow"
NO_REPLY = "no-reply: the store knows no right response, so the dialogue is not whole"
SAME = "same: no other edit of this kind changes what is said"
INSERTED = ("other", "own")
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Manipulated:
    """What is said turn by turn after an edit, and the edits."""

    texts: tuple[str, ...]
    edits: tuple[TurnEdit, ...]


@dataclass(frozen=True, slots=True)
class Draw:
    """A whole dialogue, its last turn the context's first right response, and what decides by chance."""

    context: Context
    turns: tuple[Turn, ...]
    seed: int
    names: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        return [turn.text for turn in self.turns]

    def below(self, end: int, purpose: str) -> int:
        """A number from 0 to ``end - 1``."""
        return number(self.seed, purpose, *self.names) % end

    def source(self, place: int) -> str:
        return utterance_id(self.context.dialogue, place)


Manipulation = Callable[[Draw], Manipulated | None]


class DialogueBaseline:
    """Edits whole dialogues: those that end with a context's first right response.

    No two candidates of a context say the same, and none says what the original does. A dialogue that
    has fewer edits gets fewer candidates.
    """

    def __init__(self, name: str, manipulate: Manipulation) -> None:
        self.name = name
        self._manipulate = manipulate
        self._missing: list[tuple[str, str]] = []

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
        found: list[list[Candidate]] = []
        for context in contexts:
            candidates = list(self._candidates(context, per_context, seed))
            reason = SAME if context.positives else NO_REPLY
            self._missing += [(reason, context.id)] * (per_context - len(candidates))
            found.append(candidates)
        return found

    def left_out(self) -> Sequence[tuple[str, str]]:
        missing, self._missing = self._missing, []
        return missing

    def _candidates(self, context: Context, wanted: int, seed: int) -> Iterator[Candidate]:
        if not context.positives:
            return
        turns = (*context.turns, Turn(context.speaker, context.positives[0]))
        seen = {_plain(turn.text for turn in turns)}
        for k in range(wanted * _TRIES):
            made = self._manipulate(Draw(context, turns, seed, (self.name, context.id, str(k))))
            if made is None or _plain(made.texts) in seen:
                continue
            seen.add(_plain(made.texts))
            yield _candidate(turns, made)
            if len(seen) > wanted:
                return


def turn_shuffle(store: Store) -> DialogueBaseline:
    """The generator ``turn-shuffle``: all turns in another order (utterance ordering)."""
    return DialogueBaseline("turn-shuffle", _shuffle_all)


def speaker_swap(store: Store) -> DialogueBaseline:
    """The generator ``speaker-swap``: one speaker's turns in another order (even utterance ordering)."""
    return DialogueBaseline("speaker-swap", _shuffle_one_speaker)


def insertion(store: Store, *, utterance: str = "other") -> DialogueBaseline:
    """The generator ``insertion``: an utterance where it does not belong.

    ``utterance`` is ``other`` (one of another dialogue, said in addition) or ``own`` (one of the
    dialogue's own, taken from its place, as Mesgar et al. do).

    Raises:
        GeneratorError: another ``utterance``.
    """
    if utterance not in INSERTED:
        raise GeneratorError(f"insertion: utterance {utterance!r}: choose one of {', '.join(INSERTED)}")
    return DialogueBaseline("insertion", _move if utterance == "own" else _Insert(OtherDialogues(store)))


def replacement(store: Store) -> DialogueBaseline:
    """The generator ``replacement``: an utterance of another dialogue in place of one."""
    return DialogueBaseline("replacement", _Replace(OtherDialogues(store)))


def _shuffle_all(draw: Draw) -> Manipulated:
    return _ordered(draw, range(len(draw.turns)))


def _shuffle_one_speaker(draw: Draw) -> Manipulated | None:
    turns = Counter(turn.speaker for turn in draw.turns)
    speakers = sorted(speaker for speaker, amount in turns.items() if amount > 1)
    if not speakers:
        return None
    chosen = speakers[draw.below(len(speakers), "speaker")]
    return _ordered(draw, [place for place, turn in enumerate(draw.turns) if turn.speaker == chosen])


def _ordered(draw: Draw, places: Sequence[int]) -> Manipulated:
    """What is said at ``places``, said there in another order."""
    order = list(range(len(draw.turns)))
    for place, taken in zip(places, shuffled(places, draw.seed, *draw.names), strict=True):
        order[place] = taken
    return _reordered(draw, order)


def _move(draw: Draw) -> Manipulated | None:
    if len(draw.turns) < 2:
        return None
    order = list(range(len(draw.turns)))
    moved = order.pop(draw.below(len(order), "from"))
    order.insert(draw.below(len(order) + 1, "to"), moved)
    return _reordered(draw, order)


def _reordered(draw: Draw, order: Sequence[int]) -> Manipulated:
    """``order`` has, for each place, the place from which its text is taken."""
    said = draw.texts
    edits = tuple(
        TurnEdit(place, said[place], said[taken], draw.source(taken))
        for place, taken in enumerate(order)
        if said[place] != said[taken]
    )
    return Manipulated(tuple(said[taken] for taken in order), edits)


class _Insert:
    def __init__(self, others: OtherDialogues) -> None:
        self._others = others

    def __call__(self, draw: Draw) -> Manipulated | None:
        said = draw.texts
        place = 1 + draw.below(len(said), "place")
        for one in self._others.of(draw.context, draw.seed, *draw.names):
            if not _says(said, one.text):
                edit = TurnEdit(place, None, one.text, one.id)
                return Manipulated((*said[:place], one.text, *said[place:]), (edit,))
        return None


class _Replace:
    def __init__(self, others: OtherDialogues) -> None:
        self._others = others

    def __call__(self, draw: Draw) -> Manipulated | None:
        said = draw.texts
        place = draw.below(len(said), "place")
        for one in self._others.of(draw.context, draw.seed, *draw.names):
            if not _says(said, one.text):
                edit = TurnEdit(place, said[place], one.text, one.id)
                return Manipulated((*said[:place], one.text, *said[place + 1 :]), (edit,))
        return None


def _candidate(turns: Sequence[Turn], made: Manipulated) -> Candidate:
    """The edited dialogue; a turn too many is said by who would speak next."""
    speakers = [turn.speaker for turn in turns]
    if len(made.texts) > len(speakers):
        speakers.append(answering(turns))
    said = tuple(map(Turn, speakers, made.texts))
    return Candidate(said[-1].text, (CATEGORY,), context=said[:-1], turn_edits=made.edits)


def _plain(texts: Iterator[str] | Sequence[str]) -> tuple[str, ...]:
    return tuple(" ".join(text.casefold().split()) for text in texts)


def _says(said: Sequence[str], text: str) -> bool:
    return _plain([text])[0] in _plain(said)

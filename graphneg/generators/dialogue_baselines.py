"""The four manipulations that DEAM is compared with: edits of a dialogue's texts, without their meaning.

A context with its first right response goes in, as a whole dialogue; dialogues with shuffled turns, shuffled
turns of one speaker, an utterance too many, or another utterance in place of one come out (Mesgar, Bücker and
Gurevych 2020, section 3.1; Vakulenko et al. 2018; Zhang et al. 2021; baselines of Ghazarian et al. 2022,
section 5). Whose turn it is stays as it was, so that the order of speakers gives no hint: only what is said
moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from graphneg.editing.proposals import samples_of_texts
from graphneg.english.near_duplicates import NearTexts
from graphneg.english.tokens import match_key
from graphneg.errors import GeneratorError
from graphneg.generators.base import (
    UNRELATED,
    Candidate,
    Context,
    ShortfallCounter,
    Turn,
    TurnEdit,
)
from graphneg.hashing import number, shuffled
from graphneg.ingest.rows import utterance_id
from graphneg.store.connection import Store
from graphneg.store.dialogues import answering

INSERTED = ("other", "own")
_TRIES = 20
_REASONS = {
    "no-reply": "the store knows no right response, so the dialogue is not whole",
    "same": "no other edit of this kind changes what is said",
}


@dataclass(frozen=True, slots=True)
class ChanceEdit:
    """A whole dialogue, its last turn the context's first right response, and what decides by chance."""

    context: Context
    turns: tuple[Turn, ...]
    seed: int
    names: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        """What is said, turn by turn."""
        return [turn.text for turn in self.turns]

    def below(self, end: int, choice: str) -> int:
        """A number from 0 to ``end - 1`` for a choice of that name."""
        return number(self.seed, choice, *self.names) % end


Manipulated = tuple[list[str], list[TurnEdit]]
"""What is said turn by turn after an edit, and the edits."""
Manipulation = Callable[[ChanceEdit], Manipulated | None]


class DialogueBaseline(ShortfallCounter):
    """Edits whole dialogues: those that end with a context's first right response.

    No two candidates of a context say the same, and none says what the original does. A dialogue that
    has fewer edits gets fewer candidates.
    """

    def __init__(self, name: str, manipulate: Manipulation) -> None:
        super().__init__(_REASONS)
        self.name = name
        self._manipulate = manipulate

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
        """At most ``per_context`` edited dialogues for each context, in order."""
        given = [list(self._edited(context, per_context, seed)) for context in contexts]
        for context, candidates in zip(contexts, given, strict=True):
            reason = "same" if context.positives else "no-reply"
            self.leave_out(reason, context.id, per_context - len(candidates))
        return given

    def _edited(self, context: Context, per_context: int, seed: int) -> Iterator[Candidate]:
        """The edited dialogues; a turn too many is said by who would speak next."""
        if not context.positives:
            return
        turns = (*context.turns, Turn(context.speaker, context.positives[0]))
        speakers = (*(turn.speaker for turn in turns), answering(turns))
        seen = {_key(turn.text for turn in turns)}
        for k in range(per_context * _TRIES):
            made = self._manipulate(ChanceEdit(context, turns, seed, (self.name, context.id, str(k))))
            if made is None or (key := _key(made[0])) in seen:
                continue
            seen.add(key)
            texts, edits = made
            *said, last = map(Turn, speakers, texts)
            yield Candidate(
                last.text,
                (UNRELATED,),
                context=tuple(said),
                turn_edits=tuple(edits),
                speaker=last.speaker,
            )
            if len(seen) > per_context:
                return


def turn_shuffle(store: Store) -> DialogueBaseline:
    """The generator ``turn-shuffle``: all turns in another order (utterance ordering)."""
    return DialogueBaseline("turn-shuffle", lambda draw: _ordered(draw, range(len(draw.turns))))


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
    return DialogueBaseline("insertion", _move if utterance == "own" else _other_utterance(store))


def replacement(store: Store) -> DialogueBaseline:
    """The generator ``replacement``: an utterance of another dialogue in place of one."""
    return DialogueBaseline("replacement", _other_utterance(store, replaced=1))


def _shuffle_one_speaker(draw: ChanceEdit) -> Manipulated | None:
    turns = Counter(turn.speaker for turn in draw.turns)
    speakers = sorted(speaker for speaker, amount in turns.items() if amount > 1)
    if not speakers:
        return None
    chosen = speakers[draw.below(len(speakers), "speaker")]
    return _ordered(draw, [at for at, turn in enumerate(draw.turns) if turn.speaker == chosen])


def _ordered(draw: ChanceEdit, turns: Sequence[int]) -> Manipulated:
    """What is said in ``turns``, said there in another order."""
    order = list(range(len(draw.turns)))
    for at, taken in zip(turns, shuffled(turns, draw.seed, *draw.names), strict=True):
        order[at] = taken
    return _reordered(draw, order)


def _move(draw: ChanceEdit) -> Manipulated | None:
    if len(draw.turns) < 2:
        return None
    order = list(range(len(draw.turns)))
    moved = order.pop(draw.below(len(order), "from"))
    order.insert(draw.below(len(order) + 1, "to"), moved)
    return _reordered(draw, order)


def _reordered(draw: ChanceEdit, order: Sequence[int]) -> Manipulated:
    """``order`` has, for each turn, the one that its text is taken from."""
    said = draw.texts
    edits = [
        TurnEdit(at, said[at], said[taken], utterance_id(draw.context.dialogue, taken))
        for at, taken in enumerate(order)
        if said[at] != said[taken]
    ]
    return [said[taken] for taken in order], edits


def _other_utterance(store: Store, replaced: int = 0) -> Manipulation:
    """Says an utterance of another dialogue of the corpus and split; so many turns are ``replaced`` by it."""
    samples = samples_of_texts(store)

    def say(draw: ChanceEdit) -> Manipulated | None:
        context, said = draw.context, draw.texts
        at = draw.below(len(said), "place") + 1 - replaced
        rows = samples.draw(context.corpus, context.split, draw.seed, *draw.names)
        others = {
            utterance_id(row["dialogue"], row["turn"]): row["text"]
            for row in rows
            if row["dialogue"] != context.dialogue
        }
        known = _key(said)
        right = NearTexts([*context.copies.get(at, ()), *(context.right if at == context.turn else ())])
        for source in shuffled(others, draw.seed, "stranger", *draw.names):
            text = others[source]
            if match_key(text) not in known and text not in right:
                edit = TurnEdit(at, said[at] if replaced else None, text, source)
                return [*said[:at], text, *said[at + replaced :]], [edit]
        return None

    return say


def _key(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(match_key, texts))

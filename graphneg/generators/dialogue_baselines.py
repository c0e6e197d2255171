"""Corrupt whole dialogues by simple edits of their text, as baselines for DEAM (Ghazarian et al. 2022).

DEAM edits the AMR graphs of a dialogue; section 5 of its paper compares it with these four baselines. The
baselines shuffle, insert or replace turns without regard to their meaning (Mesgar, Bücker and Gurevych 2020,
section 3.1; Vakulenko et al. 2018; Zhang et al. 2021). The dialogue to edit consists of a context and its
first correct response::

    original       A: Is it far?    B: No.          A: Let's walk.
    turn-shuffle   A: Let's walk.   B: Is it far?   A: No.

``turn-shuffle`` shuffles all turns, and ``speaker-swap`` shuffles the turns of one speaker. ``insertion``
inserts an utterance, and ``replacement`` replaces an utterance. If turns are shuffled, only their texts
change places. The speakers alternate as before, because a changed order of speakers would reveal the edit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from graphneg.editing.proposals import samples_of_texts
from graphneg.english.near_duplicates import NearTexts
from graphneg.english.tokens import match_key
from graphneg.errors import GeneratorError
from graphneg.generators.base import UNRELATED, Candidate, Context, Generator, TurnEdit
from graphneg.hashing import number, shuffled
from graphneg.ingest.rows import utterance_id
from graphneg.model import Turn
from graphneg.store.connection import Store
from graphneg.store.dialogues import next_speaker

INSERTED = ("other", "own")
"""Values of the option ``utterance`` of the generator ``insertion``: ``other`` inserts an utterance from
another dialogue, ``own`` moves an utterance of the same dialogue."""
_TRIES = 20
"""Maximum number of random edits to try per requested candidate. If they do not give enough different
dialogues, the context gets fewer candidates."""
_REASONS = {
    "no-reply": "the store has no correct response, so the dialogue is incomplete",
    "same": "no other edit of this kind changes the dialogue",
}


@dataclass(frozen=True, slots=True)
class ChanceEdit:
    """A whole dialogue to edit, with the seed and the names that determine the random choices of the edit.

    Attributes:
        context: Context that forms the beginning of the dialogue.
        turns: All turns of the dialogue: the turns of the context, and its first correct response.
        seed: Seed for the random choices of the run.
        names: Strings that, together with the seed, determine the random choices of this edit, such as the
            name of the generator and the id of the context.
    """

    context: Context
    turns: tuple[Turn, ...]
    seed: int
    names: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        """The text of each turn."""
        return [turn.text for turn in self.turns]

    def below(self, end: int, choice: str) -> int:
        """Draw a random integer from 0 to ``end - 1``, such as the index of a turn.

        Args:
            end: Upper limit, which is not included.
            choice: Name of the random choice, such as ``place``. Choices with different names are independent
                of each other.

        Returns:
            The random integer.
        """
        return number(self.seed, choice, *self.names) % end


Manipulated = tuple[list[str], list[TurnEdit]]
"""Type of the result of an edit: the new text of each turn, and one `TurnEdit` per edited turn."""
Manipulation = Callable[[ChanceEdit], Manipulated | None]
"""Type of a function that edits a dialogue. It returns None if the dialogue cannot be edited in this way."""


class DialogueBaseline(Generator):
    """A generator that edits whole dialogues, which consist of a context and its first correct response.

    All candidates for a context differ from the original dialogue and from each other. If a dialogue is so
    short that it has too few different edits, its context gets fewer candidates than requested.
    """

    reasons = _REASONS

    def __init__(self, name: str, manipulate: Manipulation) -> None:
        """Initialize the generator.

        Args:
            name: Name of the generator, for example ``turn-shuffle``.
            manipulate: Function that returns a randomly edited version of a dialogue.
        """
        self.name = name
        self._manipulate = manipulate

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
        """Return edited dialogues for each context.

        Args:
            contexts: Contexts of the dialogues to edit.
            per_context: Maximum number of candidates per context.
            seed: Seed for drawing the edits.

        Returns:
            One list of candidates per context, in the order of ``contexts``.
        """
        given = [list(self._edited(context, per_context, seed)) for context in contexts]
        for context, candidates in zip(contexts, given, strict=True):
            reason = "same" if context.positives else "no-reply"
            self.leave_out(reason, context.id, per_context - len(candidates))
        return given

    def _edited(self, context: Context, per_context: int, seed: int) -> Iterator[Candidate]:
        """Yield edited versions of a dialogue: the context, followed by its first correct response."""
        if not context.positives:
            return
        turns = (*context.turns, Turn(context.speaker, context.positives[0]))
        # Inserting an utterance makes the dialogue one turn longer. So also determine the speaker of the turn
        # after the last.
        speakers = (*(turn.speaker for turn in turns), next_speaker(turns))
        # A shuffle may by chance restore the original order, so the original dialogue counts as already seen.
        seen = {_key(turn.text for turn in turns)}
        for k in range(per_context * _TRIES):
            made = self._manipulate(ChanceEdit(context, turns, seed, (self.name, context.id, str(k))))
            # A short dialogue has few different edits, so the same edit may be drawn twice. Skip repetitions.
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
            # `seen` contains the original dialogue and all candidates, so it has one element more than there
            # are candidates.
            if len(seen) > per_context:
                return


def turn_shuffle(store: Store) -> DialogueBaseline:
    """Create the generator ``turn-shuffle``, which shuffles all turns of a dialogue.

    Mesgar et al. (2020) call this edit utterance ordering.

    Args:
        store: Not used.

    Returns:
        The new generator.
    """
    return DialogueBaseline("turn-shuffle", lambda draw: _ordered(draw, range(len(draw.turns))))


def speaker_swap(store: Store) -> DialogueBaseline:
    """Create the generator ``speaker-swap``, which shuffles the turns of one speaker.

    Mesgar et al. (2020) call this edit even utterance ordering.

    Args:
        store: Not used.

    Returns:
        The new generator.
    """
    return DialogueBaseline("speaker-swap", _shuffle_one_speaker)


def insertion(store: Store, *, utterance: str = "other") -> DialogueBaseline:
    """Create the generator ``insertion``, which inserts an utterance at a random position.

    Args:
        store: Store from which utterances of other dialogues are drawn.
        utterance: ``other`` to insert an utterance from another dialogue; ``own`` to move one of the
            dialogue's own utterances to another position, as in Mesgar et al. (2020).

    Returns:
        The new generator.

    Raises:
        GeneratorError: ``utterance`` has an unknown value.
    """
    if utterance not in INSERTED:
        raise GeneratorError(
            f"insertion: unknown value {utterance!r} of utterance; choose one of {', '.join(INSERTED)}"
        )
    return DialogueBaseline("insertion", _move if utterance == "own" else _other_utterance(store))


def replacement(store: Store) -> DialogueBaseline:
    """Create the generator ``replacement``, which replaces an utterance by one from another dialogue.

    Args:
        store: Store from which utterances of other dialogues are drawn.

    Returns:
        The new generator.
    """
    return DialogueBaseline("replacement", _other_utterance(store, replaced=1))


def _shuffle_one_speaker(draw: ChanceEdit) -> Manipulated | None:
    """Shuffle the turns of a randomly chosen speaker who has at least two turns."""
    turns = Counter(turn.speaker for turn in draw.turns)
    # Shuffling a single turn would change nothing.
    speakers = sorted(speaker for speaker, amount in turns.items() if amount > 1)
    if not speakers:
        return None
    chosen = speakers[draw.below(len(speakers), "speaker")]
    return _ordered(draw, [at for at, turn in enumerate(draw.turns) if turn.speaker == chosen])


def _ordered(draw: ChanceEdit, turns: Sequence[int]) -> Manipulated:
    """Shuffle the texts of some turns among each other. ``turns`` contains the indices of these turns."""
    order = list(range(len(draw.turns)))
    for at, taken in zip(turns, shuffled(turns, draw.seed, *draw.names), strict=True):
        order[at] = taken
    return _reordered(draw, order)


def _move(draw: ChanceEdit) -> Manipulated | None:
    """Move a randomly chosen utterance to a random position in the dialogue."""
    if len(draw.turns) < 2:
        return None
    order = list(range(len(draw.turns)))
    moved = order.pop(draw.below(len(order), "from"))
    order.insert(draw.below(len(order) + 1, "to"), moved)
    return _reordered(draw, order)


def _reordered(draw: ChanceEdit, order: Sequence[int]) -> Manipulated:
    """Return the dialogue in a new order: the text of turn ``order[i]`` becomes the text of turn ``i``."""
    said = draw.texts
    edits = [
        TurnEdit(at, said[at], said[taken], utterance_id(draw.context.dialogue, taken))
        for at, taken in enumerate(order)
        # If "Yes." moves to the position of another "Yes.", the text at this position stays the same. Such a
        # turn is not listed as edited.
        if said[at] != said[taken]
    ]
    return [said[taken] for taken in order], edits


def _other_utterance(store: Store, replaced: int = 0) -> Manipulation:
    """Return a function that puts an utterance from another dialogue at a random position in a dialogue.

    If ``replaced`` is 1, the utterance takes the place of a turn. If it is 0, the utterance is inserted after
    a turn.
    """
    samples = samples_of_texts(store)

    def say(draw: ChanceEdit) -> Manipulated | None:
        context, said = draw.context, draw.texts
        # An inserted utterance follows a random turn, so it never becomes the first turn. A replaced turn may
        # be the first turn.
        at = draw.below(len(said), "place") + 1 - replaced
        # Take the utterance from the corpus and the split of this dialogue. An utterance from another corpus
        # may have another style, which would reveal the edit.
        rows = samples.draw(context.corpus, context.split, draw.seed, *draw.names)
        others = {
            utterance_id(row["dialogue"], row["turn"]): row["text"]
            for row in rows
            if row["dialogue"] != context.dialogue
        }
        # Do not use an utterance that this dialogue also contains, because a repetition is not an unrelated
        # utterance.
        known = _key(said)
        # Do not use an utterance that is a correct reply to the turns before it, because the dialogue would
        # remain coherent.
        right = NearTexts(
            [
                *context.replies_to_copies.get(at, ()),
                *(context.correct_responses if at == context.turn else ()),
            ]
        )
        for source in shuffled(others, draw.seed, "stranger", *draw.names):
            text = others[source]
            if match_key(text) not in known and text not in right:
                edit = TurnEdit(at, said[at] if replaced else None, text, source)
                return [*said[:at], text, *said[at + replaced :]], [edit]
        return None

    return say


def _key(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the normalised text of each turn, so that equal dialogues have equal keys."""
    return tuple(map(match_key, texts))

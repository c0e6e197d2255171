"""What a generator is, how one is found by name, and the contexts that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from graphneg.editing.generation import ahead
from graphneg.errors import GeneratorError, InputError
from graphneg.ingest.rows import utterance_id
from graphneg.model import Negative
from graphneg.plugins import Plugins
from graphneg.progress import Progress
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, StoredDialogue, dialogue_ids, read_dialogues
from graphneg.store.statements import cypher_text

# What a generator is: it reads contexts and answers with candidates for each.


class Turn(NamedTuple):
    """One turn of a context."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """One place where a response is wanted.

    ``id`` is the place of the response, ``dailydialog_pp/dev/12#5``, which is turn ``turn`` of
    ``dialogue``; ``turns`` are those before it, ``speaker`` is who would give it, and
    ``positives`` are the right responses that the store knows, the dialogue's own first.
    """

    id: str
    corpus: str
    split: str
    dialogue: str
    turn: int
    turns: tuple[Turn, ...]
    speaker: str
    positives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnEdit:
    """One turn of a dialogue that a generator edited: what was said there and what is now.

    ``before`` is None where nothing was; ``source`` is the id of the utterance that ``after`` comes from.
    """

    turn: int
    before: str | None
    after: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One generated response.

    ``categories`` are those of errors (``C-follow``), ``scores`` numbers by name, ``details`` what it
    was made of: ``source`` is the id of a node in the store (a sentence, an utterance), others have names
    of the generator's own. ``label`` is 1 where the response is a right one (data augmentation).

    Where the generator edits the dialogue itself, ``context`` holds the edited turns before ``text``, which
    is then the dialogue's last turn, and ``turn_edits`` say what was done.
    """

    text: str
    categories: tuple[str, ...]
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    details: Mapping[str, str] = field(default_factory=dict[str, str])
    label: int = 0
    context: tuple[Turn, ...] | None = None
    turn_edits: tuple[TurnEdit, ...] = ()


SLOW_BATCH = 8
"""Dialogues that a language model writes for between two writes to a file: a minute's work or so."""


class Generator(Protocol):
    """Makes wrong responses.

    ``name`` is what negatives carry as their recipe. ``generate`` gives one sequence for each context,
    in order, each of at most ``per_context`` candidates: fewer are reported, never padded. The same
    contexts in the same order and the same seed give the same candidates, however they are cut
    into calls.
    """

    @property
    def name(self) -> str: ...

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]: ...


@runtime_checkable
class Beginning(Protocol):
    """A generator whose candidates depend on those that it gave before in the same run."""

    def begin(self, given: Iterable[Negative], progress: Progress) -> None:
        """A run begins, or goes on after ``given``, which an interrupted one made."""
        ...


@runtime_checkable
class Slow(Protocol):
    """A generator that takes seconds for a context, as language models do.

    ``batch`` is how many dialogues it is given at a time where nobody says otherwise: what is made is
    written, and shown in the progress bar, after each batch.
    """

    @property
    def batch(self) -> int: ...


@runtime_checkable
class Settled(Protocol):
    """A generator that says what its output depends on."""

    def settings(self) -> Mapping[str, object]:
        """What the output depends on beside contexts and seed, as JSON can hold it.

        A run that was stopped goes on only where they are the same.
        """
        ...


@runtime_checkable
class Noting(Protocol):
    """A generator that has something to say to the user before it is trusted."""

    def notes(self) -> Sequence[str]:
        """One line each: a condition that is off, say."""
        ...


@runtime_checkable
class Refusing(Protocol):
    """A generator that says why it gave fewer candidates than were asked for."""

    def left_out(self) -> Sequence[tuple[str, str]]:
        """For each candidate that is missing since the last call, the reason (``code: sentence``) and the
        context's id."""
        ...


# Generators by name: those that ship with graphneg, and entry points of other packages.


PLUGINS = Plugins(
    kind="generator",
    group="graphneg.generators",
    built_in={
        "overlap": "graphneg.generators.overlap.generator:OverlapGenerator",
        "key-context": "graphneg.generators.keywords.generator:key_context",
        "key-sem": "graphneg.generators.keywords.generator:key_sem",
        "key-sentence": "graphneg.generators.keywords.generator:key_sentence",
        "counterfactual": "graphneg.generators.counterfactual:counterfactual",
        "turn-shuffle": "graphneg.generators.dialogue_baselines:turn_shuffle",
        "speaker-swap": "graphneg.generators.dialogue_baselines:speaker_swap",
        "insertion": "graphneg.generators.dialogue_baselines:insertion",
        "replacement": "graphneg.generators.dialogue_baselines:replacement",
        "hard": "graphneg.generators.overlap.generator:HardGenerator",
        "random": "graphneg.generators.retrieval:RandomGenerator",
        "bm25": "graphneg.generators.retrieval:Bm25Generator",
        "semi-hard": "graphneg.generators.retrieval:SemiHardGenerator",
        "token-substitution": "graphneg.generators.token_substitution:TokenSubstitutionGenerator",
    },
    error=GeneratorError,
)


def generator_names() -> list[str]:
    """Every generator that ``get_generator`` knows, installed ones included."""
    return PLUGINS.names()


def get_generator(name: str, store: Store, **options: Any) -> Generator:
    """The generator of that name over a store, made with the options it takes.

    Packages add generators by an entry point in the group ``graphneg.generators``: what is called with the
    store and, by name, the options.

    Raises:
        GeneratorError: no such generator, it does not take these options, or it can't be imported.
    """
    made: Generator = PLUGINS.make(name, options, store)
    return made


# The contexts of a store, in the order of its dialogues: places where a response is wanted.


Places = Literal["last", "every"]
PLACES: tuple[Places, ...] = ("last", "every")
BATCH = 200


@dataclass(frozen=True, slots=True)
class WantedContexts:
    """Which contexts: those of the dialogues that ``selection`` names.

    Where a dialogue has responses, its contexts end at the turns that they answer. Of other dialogues
    ``places`` is ``last`` (the context of the last turn) or ``every`` (of each turn but the first).
    """

    selection: Selection = field(default_factory=Selection)
    places: Places = "last"

    def __post_init__(self) -> None:
        if self.places not in PLACES:
            raise InputError(f"places {self.places!r}: choose one of {', '.join(PLACES)}")


@dataclass(frozen=True, slots=True)
class ContextBatch:
    """Some dialogues' contexts: how many dialogues there are, and which of them have no context."""

    dialogues: int
    contexts: tuple[Context, ...]
    without: tuple[str, ...]


def context_batches(
    store: Store, wanted: WantedContexts, batch: int = BATCH, skip: int = 0
) -> Iterator[ContextBatch]:
    """The contexts of ``batch`` dialogues after another, in their order; ``skip`` leaves out the first ones.

    The next batch is read while one is at work.

    Raises:
        StoreError: the store is gone.
    """
    ids = dialogue_ids(store, wanted.selection, skip)
    parts = iter(lambda: list(islice(ids, batch)), [])
    yield from ahead(lambda part: _batch(store, part, wanted.places), parts, 1)


def read_contexts(store: Store, wanted: WantedContexts, batch: int = BATCH) -> Iterator[Context]:
    """The contexts one by one, in the order of dialogues and turns."""
    for part in context_batches(store, wanted, batch):
        yield from part.contexts


def _batch(store: Store, ids: Sequence[str], places: Places) -> ContextBatch:
    responses = _right_responses(store, ids)
    found: list[Context] = []
    without: list[str] = []
    for dialogue in read_dialogues(store, ids):
        contexts = list(_contexts(dialogue, responses.get(dialogue.id), places))
        found += contexts
        if not contexts:
            without.append(dialogue.id)
    return ContextBatch(len(ids), tuple(found), tuple(without))


def _right_responses(store: Store, ids: Sequence[str]) -> dict[str, dict[int, list[str]]]:
    """By dialogue and the turn that they answer, the texts of right responses; of wrong ones, the turn."""
    found: dict[str, dict[int, list[str]]] = {}
    for row in store.read(cypher_text("read/responses"), ids=list(ids)):
        turns = found.setdefault(row["id"], {})
        for _, turn, text, label, _ in sorted(row["responses"], key=_place):
            texts = turns.setdefault(turn, [])
            if label == 1:
                texts.append(text)
    return found


def _place(response: list[object]) -> tuple[int, int, str]:
    """Responses by turn and number: ``d#3/r10`` stands behind ``d#3/r9``."""
    id, turn = str(response[0]), response[1]
    return int(str(turn)), len(id), id


def _contexts(
    dialogue: StoredDialogue, responses: Mapping[int, list[str]] | None, places: Places
) -> Iterator[Context]:
    last = dialogue.turns[-1].turn if dialogue.turns else 0
    if responses:
        answered = sorted(responses)
    else:
        answered = [last - 1] if places == "last" else [turn.turn for turn in dialogue.turns[:-1]]
    for turn in answered:
        before = tuple(Turn(one.speaker, one.text) for one in dialogue.turns if one.turn <= turn)
        if not before:
            continue
        reply = next((one for one in dialogue.turns if one.turn == turn + 1), None)
        own = [reply.text] if reply is not None else []
        yield Context(
            id=utterance_id(dialogue.id, turn + 1),
            corpus=dialogue.corpus,
            split=dialogue.split,
            dialogue=dialogue.id,
            turn=turn + 1,
            turns=before,
            speaker=reply.speaker if reply is not None else answering(before),
            positives=tuple(dict.fromkeys([*own, *(responses or {}).get(turn, ())])),
        )


def answering(turns: Sequence[Turn]) -> str:
    """Who speaks next where nobody says: the last one who is not the last speaker.

    >>> answering([Turn("A", "Hi."), Turn("B", "Hello.")]), answering([Turn("A", "Hi.")])
    ('A', 'B')
    """
    last = turns[-1].speaker
    others = [turn.speaker for turn in turns if turn.speaker != last]
    if others:
        return others[-1]
    return "B" if last == "A" else "A"

"""What a generator is, how one is had by name, and the contexts of a store that it reads.

A `Context` goes in (the turns before a place where a response is due, and the right responses to it), a list
of `Candidate` comes out; ``graphneg.generators.generated`` makes negatives of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args

from graphneg.errors import GeneratorError, InputError
from graphneg.ingest.rows import utterance_id
from graphneg.plugins import Plugins
from graphneg.shards import natural_order
from graphneg.store.connection import Store
from graphneg.store.copied_contexts import CopiedContexts
from graphneg.store.dialogues import (
    Selection,
    StoredDialogue,
    answering,
    dialogue_ids,
    read_dialogues,
    read_responses,
)
from graphneg.workers import ahead

BATCH = 200
"""Dialogues whose contexts are read at a time."""
SLOW_BATCH = 8
"""Dialogues that a language model writes for between two writes to a file: a minute's work or so."""
UNRELATED = "C-follow"
"""The category of responses that do not follow from their context."""

Options = TypeVar("Options")
Places = Literal["last", "every"]


class Turn(NamedTuple):
    """One turn of a context."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """The turns before a response.

    ``id`` is the address of the response, ``dailydialog_pp/dev/12#5``, which is turn ``turn`` of
    ``dialogue``; ``turns`` are those before it, ``speaker`` is who would give it, and
    ``positives`` are the right responses that the store knows, the dialogue's own first. ``copies`` are right
    replies that copies of the contexts of this dialogue have elsewhere, by the turn where they would stand.
    """

    id: str
    corpus: str
    split: str
    dialogue: str
    turn: int
    turns: tuple[Turn, ...]
    speaker: str
    positives: tuple[str, ...] = ()
    copies: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]], hash=False)

    @property
    def right(self) -> tuple[str, ...]:
        """Every text that is known to answer the context: ``positives``, and replies of its copies."""
        return (*self.positives, *self.copies.get(self.turn, ()))

    @property
    def text(self) -> str:
        """The turns as one text."""
        return " ".join(turn.text for turn in self.turns)


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
    is then the dialogue's last turn, and ``turn_edits`` say what was done; ``speaker`` says ``text`` where it
    is not who would answer.
    """

    text: str
    categories: tuple[str, ...]
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    details: Mapping[str, str] = field(default_factory=dict[str, str])
    label: int = 0
    context: tuple[Turn, ...] | None = None
    turn_edits: tuple[TurnEdit, ...] = ()
    speaker: str = ""


class Generator(Protocol):
    """Makes wrong responses.

    ``name`` is what negatives carry as their recipe. A generator may have these as well:

    - ``batch``: how many dialogues it is given at a time, where seconds go into each of them;
    - ``prefetch(contexts, per_context, seed)``: asks in a thread for what `generate` will need for contexts
      that come later, and ``estimate(batches, per_context, seed)`` tells what a run would ask for
      (`graphneg.generators.writing`);
    - ``begin(given, progress)``: a run begins, or goes on after the negatives ``given``, which an
      interrupted one made: for candidates that depend on those before them;
    - ``drafts(contexts, per_context, seed)`` and ``choice(per_context)``, where candidates depend on those
      before them: what could be given to each context, and what chooses of it (`graphneg.generators.drafts`).
      So shards can be made of it. One that begins only to make ready says so: ``remembers`` is false;
    - ``settings()``: what the output depends on beside contexts and seed, as JSON can hold it. A run that
      was stopped goes on only where they are the same;
    - ``notes()``: lines to tell the user, of a condition that is off, say;
    - ``wishes()``: what the candidates since the last call were to have, by name, and whether each has it;
    - ``left_out()``: for each candidate missing since the last call, the reason (``code: sentence``) and
      the context's id (`ShortfallCounter` keeps them).
    """

    @property
    def name(self) -> str:
        """The name under which it is found."""
        ...

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """One sequence for each context, in order, each of at most ``per_context`` candidates.

        Fewer are reported, never padded. The same contexts in the same order and the same seed give the same
        candidates, however they are cut into calls.
        """
        ...


class ShortfallCounter:
    """The part of a generator that remembers which candidates are missing, and why.

    ``reasons`` has the sentence of each code.
    """

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self._reasons = reasons
        self._left_out: list[tuple[str, str]] = []

    def leave_out(self, code: str, id: str, amount: int = 1) -> None:
        """Note that the context ``id`` lacks so many candidates for this reason."""
        if amount > 0:
            self._left_out += [(f"{code}: {self._reasons[code]}", id)] * amount

    def left_out(self) -> list[tuple[str, str]]:
        """What is missing since the last call: ``code: sentence``, and the context's id."""
        told, self._left_out = self._left_out, []
        return told


def settings_of(generator: Generator) -> dict[str, object]:
    """What the generator says that its output depends on; empty where it says nothing."""
    settings = getattr(generator, "settings", dict[str, object])
    return dict(settings())


def options_of(
    kind: type[Options], name: str, options: Mapping[str, Any], others: Sequence[str] = ()
) -> Options:
    """The options of the generator ``name`` as the dataclass ``kind``.

    Raises:
        GeneratorError: one of them is no field of it; ``others`` are what the generator takes beside.
    """
    taken: Any = kind
    known = [*others, *(field.name for field in fields(taken))]
    strange = [option for option in options if option not in known]
    if strange:
        raise GeneratorError(
            f"generator {name} takes no option {' or '.join(map(repr, strange))}; it takes {', '.join(known)}"
        )
    return kind(**options)


PLUGINS = Plugins("generator", "graphneg.generators", GeneratorError)


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


@dataclass(frozen=True, slots=True)
class ContextSelection:
    """Which contexts: those of the dialogues that ``selection`` names.

    Where a dialogue has responses, its contexts end at the turns that they answer. Of other dialogues
    ``places`` is ``last`` (the context of the last turn) or ``every`` (of each turn but the first).
    """

    selection: Selection = field(default_factory=Selection)
    places: Places = "last"

    def __post_init__(self) -> None:
        if self.places not in get_args(Places):
            raise InputError(f"places {self.places!r}: choose one of {', '.join(get_args(Places))}")


class ContextBatch(NamedTuple):
    """Some dialogues' contexts: how many dialogues there are, which of them have no context, and the order of
    the last one."""

    dialogues: int
    contexts: list[Context]
    without: list[str]
    last: str


def context_batches(
    store: Store,
    chosen: ContextSelection,
    batch: int = BATCH,
    skip: int = 0,
    after: str = "",
    copied: CopiedContexts | None = None,
) -> Iterator[ContextBatch]:
    """Yield the contexts of the chosen dialogues in their order; the next batch is read meanwhile.

    Args:
        store: Holds the dialogues.
        chosen: Which contexts.
        batch: Number of dialogues of a batch.
        skip: Number of dialogues to leave out at the beginning.
        after: Order of the last dialogue that is left out.
        copied: Right replies of copies of contexts, for the contexts' ``copies``.

    Yields:
        Batches of contexts.

    Raises:
        StoreError: The store is gone.
    """

    def read(ids: Sequence[str]) -> ContextBatch:
        responses = read_responses(store, ids)
        batch = ContextBatch(len(ids), [], [], natural_order(ids[-1]))
        for dialogue in read_dialogues(store, ids):
            answers: dict[int, list[str]] = {}
            for response in responses.get(dialogue.id, ()):
                answers.setdefault(response.turn, []).extend([response.text] * (response.label == 1))
            own = list(_contexts(dialogue, answers, chosen.places, copied))
            batch.contexts.extend(own)
            batch.without.extend([] if own else [dialogue.id])
        return batch

    ids = dialogue_ids(store, chosen.selection, skip, after)
    yield from ahead(read, iter(lambda: list(islice(ids, batch)), []), 1)


def read_contexts(store: Store, chosen: ContextSelection, batch: int = BATCH) -> Iterator[Context]:
    """The contexts one by one, in the order of dialogues and turns."""
    for part in context_batches(store, chosen, batch):
        yield from part.contexts


def _contexts(
    dialogue: StoredDialogue,
    answers: Mapping[int, Sequence[str]],
    places: Places,
    copied: CopiedContexts | None,
) -> Iterator[Context]:
    """The contexts of a dialogue; ``answers`` are the right responses by the turn that they answer."""
    numbers = [turn.turn for turn in dialogue.turns]
    last = numbers[-1] if numbers else 0
    copies: dict[int, tuple[str, ...]] = {}
    for turn in {*numbers, last + 1}:
        if copied is not None and (replies := copied.replies(dialogue.id, turn)):
            copies[turn] = replies
    for answered in sorted(answers) or ([last - 1] if places == "last" else numbers[:-1]):
        before = tuple(Turn(turn.speaker, turn.text) for turn in dialogue.turns if turn.turn <= answered)
        if not before:
            continue
        reply = next((turn for turn in dialogue.turns if turn.turn == answered + 1), None)
        own = [] if reply is None else [reply.text]
        yield Context(
            id=utterance_id(dialogue.id, answered + 1),
            corpus=dialogue.corpus,
            split=dialogue.split,
            dialogue=dialogue.id,
            turn=answered + 1,
            turns=before,
            speaker=answering(before) if reply is None else reply.speaker,
            positives=tuple(dict.fromkeys([*own, *answers.get(answered, ())])),
            copies=copies,
        )

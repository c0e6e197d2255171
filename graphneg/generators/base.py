"""Define the generator interface, look generators up by name, and read contexts from a store.

A generator receives contexts: the turns before a response, together with the correct responses. It returns a
list of candidates for each context. `graphneg.generators.generated` turns candidates into negatives and
counts what is missing::

    Context     id "everyday/train/1#2", turns A: "Is it far?" B: "No.", positives "Let's walk."
    Candidate   text "The far side of the moon is dark.", categories ("C-follow",)

`get_generator` makes a generator from its name, and `context_batches` reads the contexts of a store.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from graphneg.errors import GeneratorError, InputError
from graphneg.ingest.rows import utterance_id
from graphneg.model import Negative
from graphneg.plugins import Plugins
from graphneg.progress import Progress
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
"""Number of dialogues whose contexts are read per query."""
SLOW_BATCH = 8
"""Number of dialogues per batch for generators that run a language model: about one minute of work between
two checkpoints."""
UNRELATED = "C-follow"
"""Error category of responses that do not follow from their context."""

Options = TypeVar("Options")
Places = Literal["last", "every"]
"""Which turns of a dialogue without loaded responses get a context: the last turn, or every turn but the
first."""


class Turn(NamedTuple):
    """One turn of a context.

    Attributes:
        speaker: Name of the speaker.
        text: What the speaker says.
    """

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """The turns before a response, together with the correct responses.

    Attributes:
        id: Address of the response, for example ``dailydialog_pp/dev/12#5``.
        corpus: Name of the corpus.
        split: Split of the corpus, for example ``train``.
        dialogue: Id of the dialogue.
        turn: Number of the turn where the response would be, from 0.
        turns: The turns before the response, oldest first.
        speaker: Speaker of the response.
        positives: Correct responses in the store. The dialogue's own next turn comes first.
        copies: Correct replies to copies of this dialogue's contexts elsewhere in the store, keyed by the
            number of the reply's turn.
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
        """All texts known to answer the context: ``positives`` and the replies to its copies."""
        return (*self.positives, *self.copies.get(self.turn, ()))

    @property
    def text(self) -> str:
        """The text of all turns, joined by spaces."""
        return " ".join(turn.text for turn in self.turns)


@dataclass(frozen=True, slots=True)
class TurnEdit:
    """A turn of a dialogue that a generator edited.

    Attributes:
        turn: Number of the turn, from 0.
        before: Original text of the turn; None if the turn was inserted.
        after: New text of the turn.
        source: Id of the utterance that ``after`` was taken from, if any.
    """

    turn: int
    before: str | None
    after: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A generated response.

    A generator that edits the dialogue itself also sets ``context``, ``turn_edits`` and, if the speaker
    changes, ``speaker``. ``text`` is then the last turn of the edited dialogue.

    Attributes:
        text: The response.
        categories: Error categories, for example ``("C-follow",)``.
        scores: Scores by name.
        details: Provenance of the response. ``source`` is the id of a node in the store (a sentence or an
            utterance); other keys depend on the generator.
        label: 0 for a wrong response, 1 for a correct one (data augmentation).
        context: The edited turns before ``text``; None if the dialogue is unchanged.
        turn_edits: The edits of the dialogue.
        speaker: Speaker of ``text``; empty for the speaker of the context's response.
    """

    text: str
    categories: tuple[str, ...]
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    details: Mapping[str, str] = field(default_factory=dict[str, str])
    label: int = 0
    context: tuple[Turn, ...] | None = None
    turn_edits: tuple[TurnEdit, ...] = ()
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """All usable candidates of a context.

    Attributes:
        candidates: The candidates.
        facts: What the chooser needs to know about them, as JSON values.
    """

    candidates: Sequence[Candidate]
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Generator(ABC):
    """Base class of generators, which make candidates for contexts.

    A generator has a ``name`` and implements `generate`. The other members have defaults that suit a
    generator that is fast and treats each context alone.

    Attributes:
        name: Name of the generator, which negatives carry as their recipe.
        batch: Number of dialogues per call of `generate`. Generators that spend seconds on each dialogue use
            a small number, so that an interrupted run loses little.
        depends_on_earlier: Whether candidates depend on the negatives that were made before. A run of such a
            generator can only be divided into shards if it makes drafts (see `choice`).
        prefetches: Whether `prefetch` does anything; it is called in a thread.
        reasons: A sentence for each code that `leave_out` may be called with.

    Example:
        >>> class Repeat(Generator):
        ...     name = "repeat"
        ...
        ...     def generate(self, contexts, per_context, seed):
        ...         return [[Candidate(context.turns[-1].text, ("C-follow",))] for context in contexts]
    """

    name: str
    batch: int = BATCH
    depends_on_earlier: bool = False
    prefetches: bool = False
    reasons: Mapping[str, str] = MappingProxyType({})

    @abstractmethod
    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """Return candidates for each context.

        The same contexts in the same order and the same seed must give the same candidates, whatever the
        batch size.

        Args:
            contexts: Contexts to generate for.
            per_context: Maximum number of candidates per context. Missing candidates are reported, never
                padded.
            seed: Seed of all random choices.

        Returns:
            One sequence of candidates per context, in the order of ``contexts``.
        """

    def begin(self, given: Iterable[Negative], progress: Progress) -> None:
        """Prepare a run, or resume one.

        Args:
            given: The negatives that an interrupted run has written. Generators whose candidates depend on
                earlier ones need them.
            progress: Receives the progress of the preparation.
        """
        return

    def prefetch(self, contexts: Sequence[Context], per_context: int, seed: int) -> None:
        """Request what `generate` will need for later contexts, for example from a server.

        Args:
            contexts: Contexts of a later call of `generate`.
            per_context: Maximum number of candidates per context.
            seed: Seed of all random choices.
        """
        return

    def estimate(self, batches: Iterable[Sequence[Context]], per_context: int, seed: int) -> Any:
        """Count the requests that a run would send to a server.

        Args:
            batches: The contexts of the run.
            per_context: Maximum number of candidates per context.
            seed: Seed of all random choices.

        Returns:
            A `graphneg.nn.served.CountingWriter`; None if the generator uses no server.
        """
        return None

    def choice(self, per_context: int) -> Mapping[str, Any] | None:
        """Say how the merge of shards selects candidates from drafts.

        Args:
            per_context: Maximum number of candidates per context.

        Returns:
            Settings of the choice (see `graphneg.generators.drafts`); None if the generator makes no drafts.
        """
        return None

    def drafts(self, contexts: Sequence[Context], per_context: int, seed: int) -> Sequence[Draft]:
        """Return all possible candidates of each context, from which the merge of shards selects.

        It is called only if `choice` returns settings.

        Args:
            contexts: Contexts to generate for.
            per_context: Maximum number of candidates per context.
            seed: Seed of all random choices.

        Returns:
            One draft per context.

        Raises:
            NotImplementedError: The generator makes no drafts.
        """
        raise NotImplementedError(f"generator {self.name} makes no drafts")

    def settings(self) -> Mapping[str, object]:
        """Return the options that the output depends on besides contexts and seed, as JSON values.

        An interrupted run resumes only with equal settings.
        """
        return {}

    def notes(self) -> Sequence[str]:
        """Return messages for the user, for example that an optional condition is inactive."""
        return ()

    def wishes(self) -> Sequence[tuple[str, bool]]:
        """Return the target features of the candidates made since the last call, and whether each was met."""
        return ()

    def leave_out(self, code: str, id: str, amount: int = 1) -> None:
        """Record why a context lacks candidates. What no reason is recorded for counts as ``too-few``.

        Args:
            code: Code of the reason, a key of ``reasons``.
            id: Id of the context.
            amount: Number of missing candidates. Nothing is recorded if it is 0 or negative.
        """
        if amount > 0:
            self._missing = (*self._missing, *[(f"{code}: {self.reasons[code]}", id)] * amount)

    def left_out(self) -> Sequence[tuple[str, str]]:
        """Return and clear the missing candidates recorded since the last call.

        Returns:
            One pair of reason (``code: sentence``) and context id for each missing candidate.
        """
        # Each missing candidate is reported once.
        missing, self._missing = self._missing, ()
        return missing

    # A tuple of the class, so that subclasses need not call `__init__` and copies share nothing.
    _missing: tuple[tuple[str, str], ...] = ()


def options_of(
    kind: type[Options], name: str, options: Mapping[str, Any], others: Sequence[str] = ()
) -> Options:
    """Build the options dataclass of a generator from keyword arguments.

    Args:
        kind: The options dataclass.
        name: Name of the generator, for error messages.
        options: Options that the user gave, by name.
        others: Names of further options that the generator accepts, for error messages.

    Returns:
        An instance of ``kind``.

    Raises:
        GeneratorError: An option is not a field of ``kind``.
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
"""Registry of the installed generators."""


def generator_names() -> list[str]:
    """Return the names of all installed generators, in alphabetical order."""
    return PLUGINS.names()


def get_generator(name: str, store: Store, **options: Any) -> Generator:
    """Make the generator of a name.

    Packages add generators by an entry point in the group ``graphneg.generators``. The entry point is a class
    or a function that takes the store and, as keyword arguments, the options. Unknown names, unknown options
    and generators that cannot be imported raise `GeneratorError`.

    Args:
        name: Name of the generator, for example ``overlap``.
        store: Store that the generator reads.
        options: Options of the generator.

    Returns:
        The generator.
    """
    return require_generator(PLUGINS.make(name, options, store))


def require_generator(made: Any) -> Generator:
    """Return an object that is a generator.

    Args:
        made: Any object.

    Returns:
        The same object.

    Raises:
        GeneratorError: The object's class is not derived from `Generator`.
    """
    if not isinstance(made, Generator):
        raise GeneratorError(
            f"{type(made).__name__} is not a generator: derive its class from graphneg.generators.Generator"
        )
    return made


@dataclass(frozen=True, slots=True)
class ContextSelection:
    """The contexts to generate for.

    If a dialogue has loaded responses, its contexts end at the turns that these responses answer, and
    ``places`` is ignored.

    Attributes:
        selection: Dialogues to read.
        places: For a dialogue without loaded responses, ``last`` (the context of the last turn) or ``every``
            (the contexts of all turns but the first).

    Raises:
        InputError: ``places`` has another value.
    """

    selection: Selection = field(default_factory=Selection)
    places: Places = "last"

    def __post_init__(self) -> None:
        """Check ``places``."""
        if self.places not in get_args(Places):
            raise InputError(f"places {self.places!r}: choose one of {', '.join(get_args(Places))}")


class ContextBatch(NamedTuple):
    """The contexts of some dialogues.

    Attributes:
        dialogues: Number of dialogues.
        contexts: Their contexts.
        without: Ids of the dialogues that have no context.
        last: Sort key (``natural_order``) of the last dialogue's id.
    """

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
    """Yield the contexts of the selected dialogues in batches.

    Dialogues come in the natural order of their ids. The next batch is read in a thread while the caller uses
    the current one.

    Args:
        store: Store that holds the dialogues.
        chosen: Contexts to read.
        batch: Number of dialogues per batch.
        skip: Number of dialogues to skip at the beginning.
        after: Sort key of the last dialogue to skip, if known.
        copied: Correct replies to copies of contexts, for ``Context.copies``.

    Yields:
        Batches of contexts.
    """

    def read(ids: Sequence[str]) -> ContextBatch:
        responses = read_responses(store, ids)
        batch = ContextBatch(len(ids), [], [], natural_order(ids[-1]))
        for dialogue in read_dialogues(store, ids):
            answers: dict[int, list[str]] = {}
            for response in responses.get(dialogue.id, ()):
                # A wrong loaded response marks a place for a context, too, but is not a correct response.
                answers.setdefault(response.turn, []).extend([response.text] * (response.label == 1))
            own = list(_contexts(dialogue, answers, chosen.places, copied))
            batch.contexts.extend(own)
            batch.without.extend([] if own else [dialogue.id])
        return batch

    ids = dialogue_ids(store, chosen.selection, skip, after)
    yield from ahead(read, iter(lambda: list(islice(ids, batch)), []), 1)


def read_contexts(store: Store, chosen: ContextSelection, batch: int = BATCH) -> Iterator[Context]:
    """Yield the contexts one by one, in the order of dialogues and turns.

    Args:
        store: Store that holds the dialogues.
        chosen: Contexts to read.
        batch: Number of dialogues per query.

    Yields:
        Contexts.
    """
    for part in context_batches(store, chosen, batch):
        yield from part.contexts


def _contexts(
    dialogue: StoredDialogue,
    answers: Mapping[int, Sequence[str]],
    places: Places,
    copied: CopiedContexts | None,
) -> Iterator[Context]:
    """Yield the contexts of a dialogue; ``answers`` maps turn numbers to their correct responses."""
    numbers = [turn.turn for turn in dialogue.turns]
    last = numbers[-1] if numbers else 0
    copies: dict[int, tuple[str, ...]] = {}
    # A baseline may edit any turn, so replies to copies are kept for all turns. The turn after the last one
    # is the place of a loaded response.
    for turn in {*numbers, last + 1}:
        if copied is not None and (replies := copied.replies(dialogue.id, turn)):
            copies[turn] = replies
    # Loaded responses decide where contexts end. Without them, the dialogue's own turns serve as responses.
    for answered in sorted(answers) or ([last - 1] if places == "last" else numbers[:-1]):
        before = tuple(Turn(turn.speaker, turn.text) for turn in dialogue.turns if turn.turn <= answered)
        # A dialogue of one turn has no context.
        if not before:
            continue
        # The dialogue's own next turn is a correct response, unless the dialogue ends at the context.
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
            # A loaded response may repeat the dialogue's own turn.
            positives=tuple(dict.fromkeys([*own, *answers.get(answered, ())])),
            copies=copies,
        )

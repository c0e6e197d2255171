"""Define the generator interface, create generators by name, and read contexts from a store.

A context consists of the turns before a response, together with the known correct responses. A generator
receives contexts and returns a list of candidate responses for each context. `graphneg.generators.generated`
turns the candidates into negatives, and counts the missing candidates::

    Context     id "everyday/train/1#2", turns A: "Is it far?" B: "No.", positives "Let's walk."
    Candidate   text "The far side of the moon is dark.", categories ("C-follow",)

`get_generator` creates a generator by name, and `context_batches` reads the contexts of a store.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Generator as Yielding
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from inspect import Parameter, signature
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_type_hints

from graphneg.errors import GeneratorError, InputError, StoreError
from graphneg.ids import natural_order
from graphneg.ingest.rows import utterance_id
from graphneg.model import Negative, Turn
from graphneg.plugins import Plugins, plugin_errors
from graphneg.progress import Progress
from graphneg.store.connection import Store, is_of_content
from graphneg.store.copied_contexts import CopiedContexts
from graphneg.store.dialogues import (
    Selection,
    StoredDialogue,
    dialogue_ids,
    next_speaker,
    read_dialogues,
    read_responses,
)
from graphneg.workers import prefetch_map

BATCH = 200
"""Default number of dialogues per batch. The contexts of a batch are read from the store together."""
SLOW_BATCH = 8
"""Number of dialogues per batch for generators that run a local language model. Such a batch takes about one
minute. The output file is saved after each batch, so an interruption costs at most one batch."""
UNRELATED = "C-follow"
"""Error category of responses that do not follow from their context (see the glossary: ``C-follow``)."""

Options = TypeVar("Options")
Places = Literal["last", "every"]
"""Type of `ContextSelection.places`, which applies to dialogues that were loaded without separate responses.
With ``last``, only the last turn of the dialogue counts as a response, so the dialogue has one context. With
``every``, each turn except the first counts as a response to the turns before it."""


@dataclass(frozen=True, slots=True)
class Context:
    """The turns before a response, together with the correct responses.

    Attributes:
        id: Id that the response has as an utterance, for example ``dailydialog_pp/dev/12#5``. A context has
            this id even if the store does not contain the response.
        corpus: Name of the corpus.
        split: Name of the corpus split, for example ``train``.
        dialogue: Id of the dialogue that the context is taken from.
        turn: Turn number of the response, from 0.
        turns: The turns before the response, oldest first.
        speaker: Name of the speaker of the response.
        positives: Correct responses that the store contains for this context. If the dialogue continues after
            the context, its next turn comes first.
        replies_to_copies: Correct replies from other dialogues, keyed by turn number. Another dialogue may
            begin with the same turns as this one, so that it contains a copy of the context. The reply to the
            copy is also correct here. See `graphneg.store.copied_contexts`.
    """

    id: str
    corpus: str
    split: str
    dialogue: str
    turn: int
    turns: tuple[Turn, ...]
    speaker: str
    positives: tuple[str, ...] = ()
    replies_to_copies: Mapping[int, tuple[str, ...]] = field(
        default_factory=dict[int, tuple[str, ...]], hash=False
    )

    @property
    def correct_responses(self) -> tuple[str, ...]:
        """All known correct responses: ``positives``, and replies to the same context in other dialogues."""
        return (*self.positives, *self.replies_to_copies.get(self.turn, ()))

    @property
    def text(self) -> str:
        """The texts of all turns before the response, joined by spaces."""
        return " ".join(turn.text for turn in self.turns)


@dataclass(frozen=True, slots=True)
class TurnEdit:
    """An edit of one turn of a dialogue by a generator.

    Attributes:
        turn: Number of the turn, from 0.
        before: Original text of the turn; None if the generator inserted the turn.
        after: New text of the turn.
        source: Id of the utterance whose text became ``after``; None if ``after`` is not the text of an
            utterance in the store.
    """

    turn: int
    before: str | None
    after: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A response that a generator proposes.

    A generator that edits the whole dialogue also sets ``context``, ``turn_edits`` and, if the speaker
    changes, ``speaker``. In that case, ``text`` is the last turn of the edited dialogue.

    Attributes:
        text: Text of the proposed response.
        categories: Categories of the errors in the response, for example ``("C-follow",)``.
        scores: Scores of the response, keyed by the name of the score, for example ``perplexity``.
        provenance: Information about the origin of the response. The value of ``source`` is the id of a
            sentence or utterance in the store. The other keys depend on the generator.
        label: 0 for a wrong response, 1 for a correct response. Some generators make correct responses for
            data augmentation.
        context: All turns before ``text``, after the edits; None if none of these turns was edited.
        turn_edits: The edited or inserted turns; empty if only the response is new.
        speaker: Speaker of ``text``; empty if ``text`` has the same speaker as the original response.
    """

    text: str
    categories: tuple[str, ...]
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    provenance: Mapping[str, str] = field(default_factory=dict[str, str])
    label: int = 0
    context: tuple[Turn, ...] | None = None
    turn_edits: tuple[TurnEdit, ...] = ()
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """All usable candidates for one context, from which a later step chooses some.

    Generators make drafts if a corpus is split into shards. The choice is made when the shards are merged,
    because it depends on the candidates for other contexts. See `graphneg.generators.deferred_choice`.

    Attributes:
        candidates: The candidates to choose from.
        facts: Data about the candidates that the later choice needs, as JSON values. For example, ``overlap``
            stores the shortlists of its sentences here.
    """

    candidates: Sequence[Candidate]
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Generator(ABC):
    """Base class of generators, which propose candidate responses for contexts.

    A subclass sets ``name`` and implements `generate`. It may keep the defaults of the other attributes and
    methods if it is fast and if its candidates for a context do not depend on the negatives for other
    contexts.

    Attributes:
        name: Name of the generator. Records of its negatives contain this name as their ``recipe``.
        batch: Number of dialogues per call of `generate`. Generators that spend seconds on each dialogue use
            a small number, so that little work is lost if a run is interrupted.
        depends_on_earlier: Whether the candidates for a context depend on the negatives that were made for
            earlier contexts. Such a generator can process a corpus in shards only if it makes drafts (see
            `Draft` and `choice`).
        prefetches: Whether the generator implements `prefetch`. If so, `prefetch` is called in a separate
            thread.
        reasons: Reasons for missing candidates. The keys are codes that can be passed to `leave_out`, such as
            ``no-keywords``; the values explain these codes to the user.

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

    def __init__(self, store: Store | None = None) -> None:
        """Initialize the generator. A subclass that has options or reads the store overrides this method.

        Args:
            store: Store with the dialogues. `get_generator` passes it to every generator. The base class does
                not use it.
        """
        return

    @abstractmethod
    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """Return candidate responses for each context.

        The same contexts, in the same order and with the same seed, must give the same candidates for any
        batch size.

        Args:
            contexts: Contexts that need wrong responses.
            per_context: Maximum number of candidates per context. A generator may return fewer, and the
                missing candidates are reported. It must not add unsuitable candidates to reach the maximum.
            seed: Seed for all random choices.

        Returns:
            One sequence of candidates per context, in the order of ``contexts``.
        """

    def begin(self, resumed: Iterable[Negative], progress: Progress) -> None:
        """Prepare for a new run, or for resuming an interrupted run.

        Args:
            resumed: Negatives that the interrupted run has already written; empty for a new run. A generator
                whose candidates depend on earlier negatives reads them.
            progress: Display on which the generator reports the progress of the preparation.
        """
        return

    def prefetch(self, contexts: Sequence[Context], per_context: int, seed: int) -> None:
        """Send requests to a model server in advance, so that `generate` need not wait for the answers.

        Args:
            contexts: Contexts that a later call of `generate` will get.
            per_context: Maximum number of candidates per context.
            seed: Seed for all random choices.
        """
        return

    def estimate(self, batches: Iterable[Sequence[Context]], per_context: int, seed: int) -> Any:
        """Count the requests that a run would send to a model server.

        Args:
            batches: All contexts of the run, in batches.
            per_context: Maximum number of candidates per context.
            seed: Seed for all random choices.

        Returns:
            A `graphneg.nn.served.CountingWriter` with the counts of requests and tokens; None if the
            generator uses no server.
        """
        return None

    def choice(self, per_context: int) -> Mapping[str, Any] | None:
        """Return the settings for choosing candidates when the shards of a run are merged.

        Before the merge, the output files of the shards contain drafts, with all usable candidates for each
        context.

        Args:
            per_context: Maximum number of candidates per context.

        Returns:
            Name and options of a chooser (see `graphneg.generators.deferred_choice`); None if the generator
            makes no drafts.
        """
        return None

    def drafts(self, contexts: Sequence[Context], per_context: int, seed: int) -> Sequence[Draft]:
        """Return all usable candidates for each context. The candidates are chosen when shards are merged.

        This method is called only if `choice` does not return None.

        Args:
            contexts: Contexts that need wrong responses.
            per_context: Maximum number of candidates that will later be chosen for each context.
            seed: Seed for all random choices.

        Returns:
            One `Draft` per context, which contains its candidates, in the order of ``contexts``.

        Raises:
            NotImplementedError: The generator makes no drafts.
        """
        raise NotImplementedError(f"generator {self.name} makes no drafts")

    def settings(self) -> Mapping[str, object]:
        """Return the options that determine the candidates of the generator, as JSON values.

        The selection of contexts and the seed are not included. An interrupted run can only be resumed with
        the same settings.
        """
        return {}

    def notes(self) -> Sequence[str]:
        """Return messages for the user, for example that an optional check is not active."""
        return ()

    def target_features(self) -> Sequence[tuple[str, bool]]:
        """Return whether the candidates made since the last call of this method have the wanted features.

        A wanted feature is a property that a candidate should have, for example that it is a question. The
        result has one pair for each candidate and each feature that it should have: the name of the feature,
        and whether the candidate has it.
        """
        return ()

    def leave_out(self, code: str, id: str, amount: int = 1) -> None:
        """Record why a context has too few candidates.

        A missing candidate for which no reason is recorded gets the reason ``too-few``.

        Args:
            code: Code of the reason; must be a key of ``reasons``.
            id: Id of the context.
            amount: Number of candidates that are missing for this reason. Nothing is recorded if the number
                is 0 or negative.

        Raises:
            GeneratorError: The code is not a key of ``reasons``.
        """
        if amount > 0 and code not in self.reasons:
            raise GeneratorError(
                f"generator {self.name}: leave_out got the code {code!r}, but its attribute reasons has "
                f"{', '.join(map(repr, self.reasons)) or 'no codes'}"
            )
        if amount > 0:
            self._missing = (*self._missing, *[(f"{code}: {self.reasons[code]}", id)] * amount)

    def missing(self) -> list[tuple[str, str]]:
        """Return why candidates are missing, as `leave_out` recorded it, and clear this record.

        Returns:
            One pair for each missing candidate: the reason in the form ``code: sentence``, and the id of the
            context.
        """
        # Clear `_missing`, so that each missing candidate is reported only once.
        missing, self._missing = self._missing, ()
        return list(missing)

    # `_missing` is a class attribute, so that subclasses need not call `__init__`. It is an immutable tuple,
    # so that no generator changes the list of another generator.
    _missing: tuple[tuple[str, str], ...] = ()


def options_of(
    kind: type[Options], name: str, options: Mapping[str, Any], others: Sequence[str] = ()
) -> Options:
    """Create the options dataclass of a generator from keyword arguments.

    Args:
        kind: The options dataclass.
        name: Name of the generator, for error messages.
        options: Values of the options that the user gave, keyed by option name.
        others: Names of options of the generator that are not fields of ``kind``. They are only listed in
            error messages.

    Returns:
        An instance of ``kind``; options that the user did not give have their defaults.

    Raises:
        GeneratorError: An option is not a field of ``kind``, or is true or false although its type is not
            bool.
    """
    taken: Any = kind
    known = [*others, *(field.name for field in fields(taken))]
    strange = [option for option in options if option not in known]
    if strange:
        raise GeneratorError(
            f"generator {name} takes no option {' or '.join(map(repr, strange))}; it takes {', '.join(known)}"
        )
    types = get_type_hints(kind)
    for option, value in options.items():
        # In Python, True is an instance of int, so the checks of the options would accept it as 1.
        if isinstance(value, bool) and option in types and not _accepts_bool(types[option]):
            raise GeneratorError(f"{name}: {option} can't be {str(value).lower()}; give a value of its type")
    return kind(**options)


def _accepts_bool(type: Any) -> bool:
    return bool({bool, Any, object} & {type, *get_args(type)})


PLUGINS = Plugins("generator", "graphneg.generators", GeneratorError)
"""Registry of the installed generators, which are found by their entry points."""


def generator_names() -> list[str]:
    """Return the names of all installed generators, in alphabetical order."""
    return PLUGINS.names()


def get_generator(name: str, store: Store, **options: Any) -> Generator:
    """Create a generator by its name.

    Packages add generators by entry points in the group ``graphneg.generators``. An entry point refers to a
    class or a function, which is called with the store as its argument and with the options as keyword
    arguments. A `GeneratorError` is raised if the name or an option is unknown, or if the generator cannot be
    imported.

    Args:
        name: Name of the generator, for example ``overlap``.
        store: Store that the generator reads.
        options: Options that the generator accepts, as keyword arguments.

    Returns:
        The new generator.
    """
    made_by = PLUGINS.find(name)
    _require_generator_class(name, made_by)
    with generator_errors(name, made_by):
        return require_generator(PLUGINS.make(name, options, store))


@contextmanager
def generator_errors(name: str, generator: object) -> Yielding[None]:
    """Convert errors of a generator's code and queries into a `GeneratorError` that names the generator.

    Args:
        name: Name of the generator.
        generator: The generator, or the class or function that creates it.

    Yields:
        Nothing. The code that calls the generator runs in the ``with`` statement.

    Raises:
        GeneratorError: The generator raised an unexpected exception, or the server refused one of its
            queries.
        StoreError: The store failed for another reason, for example because the server does not answer.
    """
    try:
        with plugin_errors("generator", name, generator, GeneratorError):
            yield
    except StoreError as error:
        # The server has refused a query. Its message quotes the query but does not name the generator, so add
        # the name.
        if is_of_content(error):
            raise GeneratorError(f"generator {name}: {error}") from error
        raise


def _require_generator_class(name: str, made_by: Callable[..., Any]) -> None:
    """Check the methods of a generator class before it is called, so that the message names what is missing.

    Args:
        name: Name of the generator, for error messages.
        made_by: The registered class or function. A function is not checked.

    Raises:
        GeneratorError: The class lacks ``generate``, or one of its methods has other parameters than the base
            class.
    """
    if not isinstance(made_by, type) or not issubclass(made_by, Generator):
        return
    takes = "generate(self, contexts, per_context, seed)"
    if made_by.generate is Generator.generate:
        raise GeneratorError(f"generator {name}: class {made_by.__name__} has no method {takes}")
    if not _accepts(made_by.generate, 4):
        raise GeneratorError(f"generator {name}: the method of class {made_by.__name__} must be {takes}")
    # A class without options inherits `__init__` from the base class, which accepts the store.
    if not _accepts(made_by.__init__, 2):
        raise GeneratorError(
            f"generator {name}: class {made_by.__name__} must take the store as its first argument: "
            "__init__(self, store, ...)"
        )


def _accepts(method: Callable[..., Any], amount: int) -> bool:
    """Return whether a function can be called with ``amount`` positional arguments and no others."""
    try:
        signature(method).bind_partial(*[None] * amount)
    except TypeError:
        return False
    return all(
        one.default is not Parameter.empty
        or one.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD, Parameter.KEYWORD_ONLY)
        for one in list(signature(method).parameters.values())[amount:]
    )


def require_generator(made: Any) -> Generator:
    """Return ``made`` if it is a generator, and raise an error otherwise.

    Args:
        made: Object that should be a generator.

    Returns:
        The same object, if it is a generator.

    Raises:
        GeneratorError: The object is a class, or its class is not derived from `Generator`.
    """
    if isinstance(made, type):
        raise GeneratorError(f"{made.__name__} is a class; pass an object: {made.__name__}()")
    if not isinstance(made, Generator):
        raise GeneratorError(
            f"{type(made).__name__} is not a generator: derive its class from graphneg.generators.Generator"
        )
    return made


@dataclass(frozen=True, slots=True)
class ContextSelection:
    """A selection of the contexts for which responses are generated.

    If a dialogue was loaded with separate responses, each of its contexts ends at a turn that one of these
    responses answers, and ``places`` is ignored.

    Attributes:
        selection: Corpora, splits and number of dialogues to read.
        places: Which turns count as responses in a dialogue that was loaded without separate responses. With
            ``last``, only the last turn counts, so the dialogue has one context. With ``every``, each turn
            except the first counts.

    Raises:
        InputError: ``places`` has an unknown value.
    """

    selection: Selection = field(default_factory=Selection)
    places: Places = "last"

    def __post_init__(self) -> None:
        """Check that ``places`` is ``last`` or ``every``."""
        if self.places not in get_args(Places):
            raise InputError(
                f"unknown value {self.places!r} of places; choose one of {', '.join(get_args(Places))}"
            )


class ContextBatch(NamedTuple):
    """The contexts of some consecutive dialogues of a store.

    Attributes:
        dialogues: Number of dialogues in the batch.
        contexts: Contexts of these dialogues.
        without: Ids of the dialogues in the batch that have no context.
        last: Sort key of the last dialogue in the batch: its id, converted by ``natural_order``.
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

    The dialogues are sorted by id in natural order. A thread reads the next batch while the caller processes
    the current one.

    Args:
        store: Store that contains the dialogues.
        chosen: Selection of the contexts to read.
        batch: Number of dialogues per batch.
        skip: Number of dialogues to skip at the beginning.
        after: Sort key of the last skipped dialogue; empty if the key is not known. With the key, skipping is
            faster.
        copied: Correct replies in other dialogues that begin with the same turns. They are stored in
            `Context.replies_to_copies`. None to leave this attribute empty.

    Yields:
        Batches of contexts. A batch may have no context, if none of its dialogues has one.
    """

    def read(ids: Sequence[str]) -> ContextBatch:
        responses = read_responses(store, ids)
        batch = ContextBatch(len(ids), [], [], natural_order(ids[-1]))
        for dialogue in read_dialogues(store, ids):
            answers: dict[int, list[str]] = {}
            for response in responses.get(dialogue.id, ()):
                # Each turn that has loaded responses ends a context, so it gets a list in `answers`. The list
                # contains only the correct responses (label 1), so it may be empty.
                answers.setdefault(response.turn, []).extend([response.text] * (response.label == 1))
            own = list(_contexts(dialogue, answers, chosen.places, copied))
            batch.contexts.extend(own)
            batch.without.extend([] if own else [dialogue.id])
        return batch

    ids = dialogue_ids(store, chosen.selection, skip, after)
    yield from prefetch_map(read, iter(lambda: list(islice(ids, batch)), []), 1)


def read_contexts(store: Store, chosen: ContextSelection, batch: int = BATCH) -> Iterator[Context]:
    """Yield the selected contexts one by one, sorted by dialogue and turn.

    Args:
        store: Store that contains the dialogues.
        chosen: Selection of the contexts to read.
        batch: Number of dialogues that are read together.

    Yields:
        The selected contexts.
    """
    for part in context_batches(store, chosen, batch):
        yield from part.contexts


def _contexts(
    dialogue: StoredDialogue,
    answers: Mapping[int, Sequence[str]],
    places: Places,
    copied: CopiedContexts | None,
) -> Iterator[Context]:
    """Yield the contexts of a dialogue.

    ``answers`` contains the loaded correct responses to a turn, keyed by the number of the turn.
    """
    numbers = [turn.turn for turn in dialogue.turns]
    last = numbers[-1] if numbers else 0
    copies: dict[int, tuple[str, ...]] = {}
    # Another dialogue may begin with the same turns as this one. Its next turn is then a correct reply here,
    # too. Collect such replies for each turn, because some generators edit earlier turns, and for the end of
    # the dialogue, because a loaded response may answer the last turn.
    for turn in {*numbers, last + 1}:
        if copied is not None and (replies := copied.replies(dialogue.id, turn)):
            copies[turn] = replies
    # If the corpus lists responses for the dialogue, each context ends at a turn that such a response
    # answers. Otherwise, a turn of the dialogue itself is the response, and the turns before it are the
    # context.
    for answered in sorted(answers) or ([last - 1] if places == "last" else numbers[:-1]):
        before = tuple(Turn(turn.speaker, turn.text) for turn in dialogue.turns if turn.turn <= answered)
        # The first turn of a dialogue has no turns before it, so it is not a response.
        if not before:
            continue
        # The turn that follows in the dialogue answers the context, so it is a correct response.
        reply = next((turn for turn in dialogue.turns if turn.turn == answered + 1), None)
        own = [] if reply is None else [reply.text]
        yield Context(
            id=utterance_id(dialogue.id, answered + 1),
            corpus=dialogue.corpus,
            split=dialogue.split,
            dialogue=dialogue.id,
            turn=answered + 1,
            turns=before,
            speaker=next_speaker(before) if reply is None else reply.speaker,
            # A loaded response may be equal to the next turn of the dialogue, so duplicates are removed.
            positives=tuple(dict.fromkeys([*own, *answers.get(answered, ())])),
            replies_to_copies=copies,
        )

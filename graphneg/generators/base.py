"""What a generator is: it reads contexts and answers with candidates for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

from graphneg.model import Negative
from graphneg.progress import Progress


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

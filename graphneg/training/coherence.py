"""Train a coherence scorer to distinguish original dialogues from edited dialogues.

A training example is a window, that is, a range of consecutive turns of a dialogue that fits into the
encoder. Each window of an edited dialogue contains an edited turn. The window is paired with the window at
the same position in the original dialogue, so that the position does not reveal which of the two dialogues
was edited.

Example:
    An edited dialogue of 20 turns differs from the original dialogue in turn 7. If windows have 8 turns, one
    training example may be turns 2 to 9 of the edited dialogue with label 0. This window is paired with turns
    2 to 9 of the original dialogue, which have label 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from graphneg.datasets.groups import HeldOut
from graphneg.datasets.pair_sampler import Shortfall, rotate
from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.ingest.rows import text_key
from graphneg.model import TWIN
from graphneg.nn.training import IN_ORDER, TrainingResult, check_epochs, fit, open_run, weighted_cross_entropy
from graphneg.progress import Progress
from graphneg.scorers.coherence import CoherenceScorer, DialogueVersions, Turns
from graphneg.training.rankers import describe_untrained

ORIGINAL = "original"
"""Name under which the report counts windows of original dialogues. Windows of edited dialogues are counted
under the name of the recipe that made the edit."""
SETTINGS: Mapping[str, Any] = {"per_device_train_batch_size": 16, "learning_rate": 5e-5}
"""Default values of ``transformers.TrainingArguments`` for training a coherence scorer."""
LEAST_WORDS = 5
"""Minimum number of words in a turn that can identify a held-out dialogue.

Shorter turns, such as greetings, occur in many dialogues.
"""


@dataclass(frozen=True, slots=True)
class CoherenceReport(TrainingResult):
    """The report of a training run for a coherence scorer.

    Attributes:
        windows: Number of windows (ranges of turns) in all epochs, keyed by the recipe of the edit. Windows
            of original dialogues have the key ``original``.
        shortfall: Number of dialogues with fewer edited versions than the mix requires, and number of edited
            versions that were not used.
        cut_turns: Number of times that a turn was truncated because it is longer than a window.
    """

    windows: Mapping[str, int]
    shortfall: Shortfall
    cut_turns: int


def train_coherence(
    scorer: CoherenceScorer,
    dialogues: Sequence[DialogueVersions],
    out: str | Path,
    *,
    mix: Mapping[str, int] | None = None,
    epochs: int = 2,
    held_out: Collection[str] = (),
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress | None = None,
    **arguments: Any,
) -> CoherenceReport:
    """Train a coherence scorer in place, and save it.

    If a run was interrupted, repeating the same call resumes it. Raises `InputError` if the mix cannot be
    used, there is no data, ``out`` contains a model or another run, or a training argument is unknown.

    Args:
        scorer: The coherence scorer to train.
        dialogues: Dialogues with their edited versions.
        out: The output folder for the trained scorer.
        mix: Number of edited versions of each dialogue to use per epoch, keyed by recipe, generator or error
            category; None for one version per recipe.
        epochs: Number of epochs.
        held_out: Texts of turns, for example of the test data. Dialogues that contain one of these turns are
            not used for training.
        seed: Seed for sampling and training.
        overwrite: Whether to replace a model or another run in ``out``.
        progress: Progress display; advanced by the training steps.
        **arguments: Keyword arguments of ``transformers.TrainingArguments``.

    Returns:
        The report of the run.
    """
    check_epochs(epochs, arguments)
    settings = {**SETTINGS, **arguments}
    recipes = sorted({edited.recipe for item in dialogues for edited in item.edited})
    sampler = WindowSampler(dialogues, mix or dict.fromkeys(recipes, 1), seed, held_out)
    picks = [pick for epoch in range(epochs) for pick in sampler.epoch(epoch)]
    facts: list[Any] = [epochs, seed, sorted(settings.items()), describe_untrained(scorer)]
    for pick in picks:
        facts.append([pick.number, pick.label, text_key("\n".join(turn.text for turn in pick.turns))])
    run = open_run(out, facts, overwrite)
    scorer.categories = tuple(sorted({name for pick in picks for name in pick.categories}))
    # The scorer may have truncated and counted turns before this run, so reset the count.
    scorer.cut_turns = 0
    trained = fit(
        run, scorer, picks, partial(_collate, scorer), seed=seed, progress=progress,
        arguments={**settings, **IN_ORDER}, compute_loss_func=weighted_cross_entropy,
    )  # fmt: skip
    windows = Counter(pick.source for pick in picks)
    return CoherenceReport(
        windows=windows, shortfall=sampler.shortfall, cut_turns=scorer.cut_turns, **asdict(trained)
    )


@dataclass(frozen=True, slots=True)
class WindowExample:
    """A dialogue from which one window (a range of turns) becomes a training example.

    Attributes:
        turns: The turns of the dialogue.
        edited_turns: Indices of the edited turns in the edited dialogue. The window contains at least one of
            these indices. If the edit added turns, the original dialogue may have no turns at these indices.
            Then any of its windows is used.
        label: 1 for an original dialogue or a twin, 0 for an edited dialogue.
        source: ``original``, ``twin``, or the name of the recipe that made the edit.
        categories: The error categories of the edit; empty for an original dialogue.
        number: A random number that selects the window. It is the same for an edited dialogue and its
            original dialogue, so that both windows are at the same position.
    """

    turns: Turns
    edited_turns: frozenset[int]
    label: int
    source: str
    categories: tuple[str, ...]
    number: int


class WindowSampler:
    """Selects the original and edited dialogues for each epoch of training a coherence scorer.

    The same seed and the same epoch give the same dialogues in the same order.

    Attributes:
        shortfall: Counts for the last epoch: how many dialogues have fewer edited versions than ``mix``
            requests, and how many edited versions were not used.
    """

    def __init__(
        self,
        dialogues: Sequence[DialogueVersions],
        mix: Mapping[str, int],
        seed: int,
        held_out: Collection[str],
    ) -> None:
        """Initialize the sampler. Dialogues that contain a held-out text are left out.

        Args:
            dialogues: Dialogues with their edited versions.
            mix: Number of edited versions of each dialogue to use per epoch, keyed by recipe, generator or
                error category. ``twin`` stands for twins, the coherent counterparts of edited versions: if an
                edited version contains "So you don't like tea?", its twin contains "So you like tea?".
            seed: Seed for sampling edited versions and windows.
            held_out: Texts of turns. Dialogues that contain one of these turns are removed.

        Raises:
            InputError: The mix is empty, has an unknown key or a number below 1, or no dialogue is left after
                the held-out dialogues are removed.
        """
        if not mix.keys() - {TWIN} or min(mix.values()) < 1:
            raise InputError("a mix needs at least one edited version of each dialogue")
        versions = [edited for item in dialogues for edited in (*item.edited, *item.twins)]
        known = {name for edited in versions for name in edited.names}
        if strange := [name for name in mix if name not in known]:
            there = ", ".join(sorted(known)) or "none"
            raise InputError(f"no edited dialogues of {strange[0]!r}; available: {there}")
        texts = HeldOut(text for text in held_out if len(text.split()) >= LEAST_WORDS)
        self._dialogues: list[DialogueVersions] = []
        self.shortfall = Shortfall()
        self.shortfall.unused.update(one.recipe for one in versions if mix.keys().isdisjoint(one.names))
        for item in dialogues:
            allowed = [edited for edited in item.edited if not _contains_held_out(edited.turns, texts)]
            kept = [] if _contains_held_out(item.original, texts) else allowed
            self.shortfall.held_out += len(item.edited) - len(kept)
            if kept:
                twins = [twin for twin in item.twins if not _contains_held_out(twin.turns, texts)]
                self._dialogues.append(DialogueVersions(item.id, item.original, kept, twins))
        if not self._dialogues:
            raise InputError("nothing to train on: all dialogues share turns with held-out ones")
        self._mix = mix
        self._seed = seed

    def epoch(self, epoch: int) -> list[WindowExample]:
        """Return the dialogues to use in an epoch, and count the missing edited versions in ``shortfall``.

        Args:
            epoch: The number of the epoch, from 0.

        Returns:
            The dialogues. Each edited dialogue is followed by its original dialogue.
        """
        self.shortfall = Shortfall(held_out=self.shortfall.held_out, unused=self.shortfall.unused)
        picks = [pick for item in self._dialogues for pick in self._windows_of(item, epoch)]
        return sorted(picks, key=lambda pick: (pick.number, pick.label))

    def _windows_of(self, item: DialogueVersions, epoch: int) -> Iterator[WindowExample]:
        """Yield the edited versions of a dialogue that are used in an epoch, each with its original."""
        for name, amount in self._mix.items():
            some = [edited for edited in (*item.edited, *item.twins) if name in edited.names]
            some.sort(key=lambda edited: number(self._seed, "version", item.id, name, edited.id))
            if len(some) < amount:
                self.shortfall.contexts[name] += 1
                self.shortfall.responses[name] += amount - len(some)
            # Each epoch continues after the edited version that the previous epoch used last, so that all
            # edited versions of a dialogue are used equally often.
            for i, drawn in enumerate(rotate(some, amount, epoch)):
                draw = number(self._seed, "window", drawn.id, name, str(epoch), str(i))
                if name == TWIN:
                    yield WindowExample(drawn.turns, drawn.edited, 1, TWIN, (), draw)
                    continue
                yield WindowExample(drawn.turns, drawn.edited, 0, drawn.recipe, drawn.categories, draw)
                # `_collate` selects a window by the indices of the edited turns and a random number. Use the
                # same indices and number for the original dialogue, so that its window has the same position.
                yield WindowExample(item.original, drawn.edited, 1, ORIGINAL, (), draw)


def _collate(scorer: CoherenceScorer, picks: Sequence[WindowExample]) -> Mapping[str, Any]:
    """Select one window (a range of turns) per dialogue, and convert the windows into a batch."""
    import torch

    rows: list[list[int]] = []
    for pick in picks:
        turns = scorer.encode_turns(pick.turns)
        windows = scorer.window_splitter.all(scorer.lengths(turns))
        # The window must contain an edited turn. If the original dialogue is too short to have turns at the
        # indices of the edited turns, use any window.
        edited = [window for window in windows if not pick.edited_turns.isdisjoint(window)] or windows
        rows.append(scorer.tokens(turns, edited[pick.number % len(edited)]))
    return {**scorer.batch_of(rows), "labels": torch.tensor([(float(pick.label), 1.0) for pick in picks])}


def _contains_held_out(turns: Turns, held_out: HeldOut) -> bool:
    """Return whether a dialogue contains a turn whose text is held out."""
    return any(turn.text in held_out for turn in turns)

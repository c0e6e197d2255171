"""Training a coherence scorer: dialogues as they are against edited ones, a window of each at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from graphneg.datasets.groups import HeldOut
from graphneg.datasets.pair_sampler import Shortfall, in_turn
from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.ingest.rows import text_key
from graphneg.nn.training import IN_ORDER, Trained, check_epochs, fit, open_run, weighted_cross_entropy
from graphneg.progress import Progress
from graphneg.scorers.coherence import CoherenceScorer, Turns, Versions
from graphneg.training.rankers import starting_point

ORIGINAL = "original"
SETTINGS: Mapping[str, Any] = {"per_device_train_batch_size": 16, "learning_rate": 5e-5}
LEAST_WORDS = 5
"""A turn of fewer words, such as a greeting, tells no held-out dialogue."""


@dataclass(frozen=True, slots=True)
class CoherenceReport(Trained):
    """What a run did: ``windows`` over all epochs, the coherent ones as ``original``, others by recipe.

    ``shortfall`` is that of one epoch, of dialogues and their versions. ``cut_turns`` is how often a turn
    that is longer than a window lost its end.
    """

    windows: Mapping[str, int]
    shortfall: Shortfall
    cut_turns: int


def train_coherence(
    scorer: CoherenceScorer,
    dialogues: Sequence[Versions],
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
    """Train ``scorer`` in place to tell dialogues from edited ones, and save it into ``out``.

    ``mix`` says how many edited versions of each dialogue an epoch has, by recipe, generator or error
    category; one of each recipe and generator if it is not given. Of each drawn version an epoch has one
    window that holds an edited turn, and next to it the dialogue as it is at the same place, so that where
    edits fall tells nothing. No dialogue with a turn of ``held_out`` is learned. What ``seed``, ``overwrite``
    and ``arguments`` do: `graphneg.training.rankers.train_ranker`.

    Raises `InputError`: there is nothing to learn from, a name of the mix is not there, ``out`` holds a model
    or another run, or the arguments are none of ``TrainingArguments``.
    """
    check_epochs(epochs, arguments)
    settings = {**SETTINGS, **arguments}
    recipes = sorted({edited.recipe for item in dialogues for edited in item.edited})
    sampler = WindowSampler(dialogues, mix or dict.fromkeys(recipes, 1), seed, held_out)
    picks = [pick for epoch in range(epochs) for pick in sampler.epoch(epoch)]
    facts: list[Any] = [epochs, seed, sorted(settings.items()), starting_point(scorer)]
    for pick in picks:
        facts.append([pick.number, pick.label, text_key("\n".join(turn.text for turn in pick.turns))])
    run = open_run(out, facts, overwrite)
    scorer.categories = tuple(sorted({name for pick in picks for name in pick.categories}))
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
class Pick:
    """One window to be drawn of a dialogue by ``number``: one with a turn of ``places``, where any has.

    ``label`` is 1 where the dialogue is as it was; ``source`` is what made it (``original``, ``deam``).
    """

    turns: Turns
    places: frozenset[int]
    label: int
    source: str
    categories: tuple[str, ...]
    number: int


class WindowSampler:
    """Picks for an epoch: the same seed and epoch give the same ones in the same order."""

    def __init__(
        self, dialogues: Sequence[Versions], mix: Mapping[str, int], seed: int, held_out: Collection[str]
    ) -> None:
        if not mix or min(mix.values()) < 1:
            raise InputError("a mix needs at least one edited version of each dialogue")
        known = {name for item in dialogues for edited in item.edited for name in edited.names}
        if strange := [name for name in mix if name not in known]:
            there = ", ".join(sorted(known)) or "none"
            raise InputError(f"no edited dialogues of {strange[0]!r}; there are: {there}")
        texts = HeldOut(text for text in held_out if len(text.split()) >= LEAST_WORDS)
        self._dialogues: list[Versions] = []
        self.shortfall = Shortfall()
        versions = (edited for item in dialogues for edited in item.edited)
        self.shortfall.unused.update(one.recipe for one in versions if mix.keys().isdisjoint(one.names))
        for item in dialogues:
            allowed = [edited for edited in item.edited if not _says(edited.turns, texts)]
            kept = [] if _says(item.original, texts) else allowed
            self.shortfall.held_out += len(item.edited) - len(kept)
            if kept:
                self._dialogues.append(Versions(item.id, item.original, kept))
        if not self._dialogues:
            raise InputError("no dialogue is left to learn from: all of them share turns with held-out ones")
        self._mix = mix
        self._seed = seed

    def epoch(self, epoch: int) -> list[Pick]:
        """What an epoch learns from; counts its ``shortfall`` anew."""
        self.shortfall = Shortfall(held_out=self.shortfall.held_out, unused=self.shortfall.unused)
        picks = [pick for item in self._dialogues for pick in self._of(item, epoch)]
        return sorted(picks, key=lambda pick: (pick.number, pick.label))

    def _of(self, item: Versions, epoch: int) -> Iterator[Pick]:
        for name, amount in self._mix.items():
            some = [edited for edited in item.edited if name in edited.names]
            some.sort(key=lambda edited: number(self._seed, "version", item.id, name, edited.id))
            if len(some) < amount:
                self.shortfall.contexts[name] += 1
                self.shortfall.responses[name] += amount - len(some)
            for i, drawn in enumerate(in_turn(some, amount, epoch)):
                draw = number(self._seed, "window", drawn.id, name, str(epoch), str(i))
                yield Pick(drawn.turns, drawn.edited, 0, drawn.recipe, drawn.categories, draw)
                yield Pick(item.original, drawn.edited, 1, ORIGINAL, (), draw)


def _collate(scorer: CoherenceScorer, picks: Sequence[Pick]) -> Mapping[str, Any]:
    import torch

    rows: list[list[int]] = []
    for pick in picks:
        turns = scorer.encode_turns(pick.turns)
        windows = scorer.cutter.all(scorer.lengths(turns))
        edited = [window for window in windows if not pick.places.isdisjoint(window)] or windows
        rows.append(scorer.tokens(turns, edited[pick.number % len(edited)]))
    return {**scorer.batch_of(rows), "labels": torch.tensor([(float(pick.label), 1.0) for pick in picks])}


def _says(turns: Turns, held_out: HeldOut) -> bool:
    return any(turn.text in held_out for turn in turns)

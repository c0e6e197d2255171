"""Edit the dialogues of a store once (one pass), and measure the time of each stage."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock

from graphneg.amr.penman import format_graph, parse_graph
from graphneg.amr.wellformed import check
from graphneg.editing.planning import EditPlan, EditSettings, Proposals, plan_edits
from graphneg.editing.proposals import propose
from graphneg.editing.recipes import Recipe
from graphneg.editing.transforms import load_transforms
from graphneg.editing.variants import Variant, planned_variants, write_variants
from graphneg.errors import PenmanError
from graphneg.store.connection import Store
from graphneg.store.dialogues import GraphCache, Selection, StoredDialogue, dialogue_ids, read_dialogues
from graphneg.workers import collect_garbage_rarely, prefetch_map

BATCH = 200
"""Number of dialogues per batch."""
STAGES = ("dialogues", "propose", "pick", "apply", "read", "write PENMAN")
"""Names of the stages, in order."""


@dataclass(slots=True)
class Pass:
    """The times and results of one pass.

    Attributes:
        seconds: Seconds of work, keyed by stage.
        asked: Seconds of the transforms' queries, keyed by transform.
        wall: Seconds that passed from the start to the end.
        dialogues: Number of dialogues.
        proposals: Number of proposed edits.
        variants: Number of edited dialogues.
        graphs: Number of edited graphs.
        ill_formed: Counts of ill-formed graphs, keyed by reason.
        counting: Lock that protects the other attributes, because batches run concurrently.
    """

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    asked: dict[str, float] = field(default_factory=dict[str, float])
    wall: float = 0.0
    dialogues: int = 0
    proposals: int = 0
    variants: int = 0
    graphs: int = 0
    ill_formed: Counter[str] = field(default_factory=Counter[str])
    counting: Lock = field(default_factory=Lock)

    @property
    def total(self) -> float:
        """The seconds of work in all stages, more than the elapsed time because batches run concurrently."""
        return sum(self.seconds.values())

    @property
    def rate(self) -> float:
        """The number of dialogues per second of elapsed time."""
        return self.dialogues / self.wall

    def share(self, *stages: str) -> float:
        """Return the share of some stages in the total work.

        Args:
            *stages: Names of stages.

        Returns:
            The share, from 0 to 1.
        """
        return sum(self.seconds[stage] for stage in stages) / self.total

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Add the time that a ``with`` block takes to a stage.

        Args:
            name: Name of the stage.
        """
        began = time.perf_counter()
        yield
        self.spent(name, time.perf_counter() - began)

    def spent(self, stage: str, seconds: float) -> None:
        """Add seconds to a stage.

        Args:
            stage: Name of the stage.
            seconds: Seconds of work.
        """
        with self.counting:
            self.seconds[stage] += seconds


class Editor:
    """Edits dialogues with the functions that graphneg uses, but does not decode the graphs into text."""

    def __init__(self, store: Store) -> None:
        """Initialize an editor for a store, with all transforms."""
        self._store = store
        self._transforms = load_transforms()
        self._writing = Lock()

    def run(
        self, recipe: Recipe, seed: int, graph_cache: GraphCache, selection: Selection | None = None
    ) -> Pass:
        """Make one negative per dialogue, as PENMAN.

        Args:
            recipe: The recipe.
            seed: Seed for the choice of edits.
            graph_cache: Cache of the unedited graphs.
            selection: The dialogues to edit; None for all.

        Returns:
            The times and counts of the pass.
        """
        plan, done = EditSettings(recipe, "dialogue", seed), Pass()
        ids = dialogue_ids(self._store, selection or Selection())
        batches = iter(lambda: list(islice(ids, BATCH)), [])
        texts: list[str] = []
        began = time.perf_counter()
        with collect_garbage_rarely():
            for some in prefetch_map(lambda batch: self._batch(plan, batch, graph_cache, done), batches):
                texts += some
        # Only the benchmark checks the written graphs again, so this check is not measured.
        done.wall = time.perf_counter() - began
        done.graphs = len(texts)
        done.ill_formed.update(filter(None, map(fault_of, texts)))
        return done

    def _batch(
        self, plan: EditSettings, batch: Sequence[str], graph_cache: GraphCache, done: Pass
    ) -> list[str]:
        with done.stage("dialogues"):
            dialogues = read_dialogues(self._store, batch)
        picks = self._plan_edits(plan, dialogues, done)
        with done.stage("apply"), self._writing:
            write_variants(self._store, plan, picks)
        with done.stage("read"):
            edits = {plan.id: plan.edits for plan in picks if plan.edits}
            variants = planned_variants(self._store, graph_cache, edits, dialogues)
        with done.stage("write PENMAN"):
            texts = [format_graph(edited.after) for one in variants for edited in one.graphs.values()]
        with done.counting:
            done.dialogues += len(dialogues)
            done.variants += len(variants)
            done.ill_formed.update(filter(None, map(_refusal, variants)))
        return texts

    def _plan_edits(
        self, plan: EditSettings, dialogues: Sequence[StoredDialogue], done: Pass
    ) -> list[EditPlan]:
        # Planning calls `ask` for proposals. The time of these calls belongs to the stage `propose`.
        asking = 0.0

        def ask(name: str, some: Sequence[StoredDialogue]) -> Proposals:
            nonlocal asking
            began = time.perf_counter()
            answer = propose(self._store, self._transforms[name], some)
            seconds = time.perf_counter() - began
            asking += seconds
            with done.counting:
                done.asked[name] = done.asked.get(name, 0.0) + seconds
                done.proposals += sum(map(len, answer.values()))
            return answer

        began = time.perf_counter()
        picks = plan_edits(plan, dialogues, {one.id: [0] for one in dialogues}, ask)
        done.spent("propose", asking)
        done.spent("pick", time.perf_counter() - began - asking)
        return picks


def fault_of(text: str) -> str | None:
    """Return why a PENMAN text is not well formed.

    Args:
        text: The text, which is parsed again.

    Returns:
        The code of the first fault, or None for a well-formed graph.
    """
    try:
        defects = check(parse_graph(text))
    except PenmanError as error:
        return error.code
    return defects[0].code if defects else None


def _refusal(variant: Variant) -> str | None:
    fault = variant.fault or ""
    return fault if fault.startswith("ill-formed") else None

"""Revises drafts: chooses what each word means, then arcs and tops, then what each *no* denies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources.abc import Traversable

from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.learned.arcs import link_nodes
from graphneg.parsers.dependency.learned.concepts import choose_concepts
from graphneg.parsers.dependency.learned.features import expand
from graphneg.parsers.dependency.learned.negation_scope import place_negation
from graphneg.parsers.dependency.learned.networks import GroupSums, Model, read_model
from graphneg.parsers.dependency.learned.tables import Meanings, read_meanings

CODE = "5"
"""Counts up with every change of this package that may change a graph; data have their own digest."""
MOST_WORDS = 400
"""Drafts of more words are left to the rules."""


class LearnedReviser:
    """The learned parts in ``folder``: ``meanings.json.gz``, ``chooser.npz``, ``arcs.npz``, ``denial.npz``,
    ``VERSION``."""

    def __init__(self, folder: Traversable) -> None:
        self._folder = folder
        self.version = f"{folder.joinpath('VERSION').read_text('utf-8').strip()}.{CODE}"

    def revise(self, draft: Draft) -> None:
        """Chooses concepts, arcs and tops anew, in place."""
        if len(draft.words) > MOST_WORDS:
            return
        parts = load_parts(self._folder)
        choose_concepts(parts.meanings, parts.chooser, draft)
        link_nodes(parts.meanings, parts.arcs, parts.pairs, draft)
        place_negation(parts.denial, draft)


@dataclass(frozen=True)
class Parts:
    """The tables and networks."""

    meanings: Meanings
    chooser: Model
    arcs: Model
    denial: Model

    @cached_property
    def pairs(self) -> GroupSums:
        """Sums of the arcs' features that come again and again."""
        return GroupSums(self.arcs, "pair", expand)


@lru_cache(maxsize=2)
def load_parts(folder: Traversable) -> Parts:
    """Reads the files once a process."""
    names = ("chooser", "arcs", "denial")
    networks = [read_model(folder.joinpath(f"{name}.npz").read_bytes()) for name in names]
    return Parts(read_meanings(folder.joinpath("meanings.json.gz").read_bytes()), *networks)

"""Revises drafts: chooses what each word means, then arcs and tops by scores over all pairs of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.learned.features import expand
from graphneg.parsers.dependency.learned.meanings import Meanings, read_meanings

if TYPE_CHECKING:
    from graphneg.parsers.dependency.learned.network import GroupSums, Model

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
        from graphneg.parsers.dependency.learned.choosing import choose_concepts
        from graphneg.parsers.dependency.learned.denial import place_denials
        from graphneg.parsers.dependency.learned.linking import link_nodes

        if len(draft.words) > MOST_WORDS:
            return
        parts = load_parts(self._folder)
        choose_concepts(parts.meanings, parts.chooser, draft)
        link_nodes(parts.meanings, parts.arcs, parts.pairs, draft)
        place_denials(parts.denial, draft)


@dataclass(frozen=True, slots=True)
class Parts:
    """The tables and networks."""

    meanings: Meanings
    chooser: Model
    arcs: Model
    pairs: GroupSums
    denial: Model


def make_parts(meanings: Meanings, chooser: Model, arcs: Model, denial: Model) -> Parts:
    """The parts with room for sums that come again."""
    from graphneg.parsers.dependency.learned.network import GroupSums

    return Parts(meanings, chooser, arcs, GroupSums(arcs, "pair", expand), denial)


@lru_cache(maxsize=2)
def load_parts(folder: Traversable) -> Parts:
    """Reads the files once a process."""
    from graphneg.parsers.dependency.learned.network import read_model

    return make_parts(
        read_meanings(folder.joinpath("meanings.json.gz").read_bytes()),
        read_model(folder.joinpath("chooser.npz").read_bytes()),
        read_model(folder.joinpath("arcs.npz").read_bytes()),
        read_model(folder.joinpath("denial.npz").read_bytes()),
    )

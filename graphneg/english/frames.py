"""PropBank's frames as the package ships them: which words name a frame, and what examples show beside it.

In: ``frames.tsv``, one frame a row (id, roles as ``number:function``, aliases as ``class:lemma``, number of
annotated examples, ``signature=role:count``). Out: a `FrameTable`, read once.

>>> frames = load_frames()
>>> "give-up-07" in frames.candidates("give_up", "v"), frames.frames["give-01"].functions
(True, {'0': 'PAG', '1': 'PPT', '2': 'GOL'})
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

Counts = dict[str, int]
_CLASSES = {"r": "j"}
"""Adverbs are looked up among the adjectives: PropBank's aliases are verbs, nouns and adjectives."""


@dataclass(frozen=True, slots=True)
class FrameEntry:
    """A frame: its roles' functions by number (``{"0": "PAG"}``) and its examples' roles by signature."""

    id: str
    functions: Mapping[str, str]
    verbal: bool
    examples: int
    seen: Mapping[str, Counts]


@dataclass(slots=True)
class FrameTable:
    """Frames by id, and the ids of the frames that a word names by ``(class, lemma)``."""

    frames: dict[str, FrameEntry] = field(default_factory=dict[str, FrameEntry])
    aliases: dict[tuple[str, str], list[str]] = field(default_factory=dict[tuple[str, str], list[str]])

    def add_frames(self, rows: Iterable[str]) -> None:
        """Reads rows of ``frames.tsv``."""
        for row in rows:
            id, roles, aliases, examples, seen = row.split("\t")
            pairs = [alias.split(":", 1) for alias in aliases.split()]
            verbal = any(pos == "v" for pos, _ in pairs)
            functions = dict(role.split(":") for role in roles.split())
            self.frames[id] = FrameEntry(id, functions, verbal, int(examples), _counts_by_signature(seen))
            for pos, lemma in pairs:
                self.aliases.setdefault((pos, lemma.lower()), []).append(id)

    def candidates(self, lemma: str, kind: str) -> list[str]:
        """The frames of a lemma in a word class (``v``, ``n``, ``j``, ``r``), in PropBank's order."""
        return self.aliases.get((_CLASSES.get(kind, kind), lemma), [])


def _counts_by_signature(text: str) -> dict[str, Counts]:
    """``dobj=1:7 dobj=2:1`` to ``{"dobj": {"1": 7, "2": 1}}``."""
    counts: dict[str, Counts] = {}
    for cell in text.split():
        signature, _, rest = cell.rpartition("=")
        role, _, count = rest.partition(":")
        counts.setdefault(signature, {})[role] = int(count)
    return counts


@lru_cache(maxsize=1)
def load_frames() -> FrameTable:
    """The frames that come with the package."""
    table = FrameTable()
    table.add_frames(files("graphneg.english").joinpath("frames.tsv").read_text("utf-8").splitlines())
    return table

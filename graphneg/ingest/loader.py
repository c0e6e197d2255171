"""What a loader is, how one is found by its name, and what a load did, counted.

In: a name that a user gave, and files. Out: a stream of records, and a `LoadReport` of what became of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from graphneg.errors import InputError
from graphneg.model import Record, Rejected
from graphneg.plugins import Plugins
from graphneg.progress import NoProgress, Progress

PLUGINS = Plugins("loader", "graphneg.loaders", InputError)


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What the caller may say about the files of one load.

    ``corpus`` and ``split`` begin the ids of dialogues; where they are ``None`` the loader
    takes them from the data. ``language`` is an ISO 639-1 code, read by `conceptnet` only.
    """

    corpus: str | None = None
    split: str | None = None
    language: str = "en"
    progress: Progress = field(default_factory=NoProgress)


class Loader(Protocol):
    """Reads the files of one corpus or resource.

    ``name`` is what `graphneg load` takes, ``summary`` its line of help. ``read`` streams:
    it yields records in the order of the files, a `Rejected` for each item that it refuses,
    and raises `InputError` where a file as a whole is not what the loader reads.
    """

    name: str
    summary: str

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The records of the files, in their order."""
        ...


def loader_names() -> list[str]:
    """The names of all loaders that are installed, in alphabetical order."""
    return PLUGINS.names()


def get_loader(name: str) -> Loader:
    """The loader of that name; hyphens and underscores are the same.

    Raises:
        InputError: no loader has the name, or the package that brings it can't be imported.
    """
    loaded: Any = PLUGINS.find(name)
    return loaded() if isinstance(loaded, type) else loaded


KEPT_REJECTIONS = 1000


@dataclass(slots=True)
class LoadReport:
    """Counts of one load: written, there already, refused.

    ``rejected`` keeps the first 1,000 refusals; ``rejections`` counts all of them, and
    ``on_rejected`` is told each.
    """

    loader: str
    written: Counter[str] = field(default_factory=Counter[str])
    present: Counter[str] = field(default_factory=Counter[str])
    rejected: list[Rejected] = field(default_factory=list[Rejected])
    rejections: int = 0
    seconds: float = 0.0
    on_rejected: Callable[[Rejected], None] | None = None

    def reject(self, place: str, reason: str) -> None:
        """Count a refusal, and tell who listens."""
        self.rejections += 1
        rejected = Rejected(place, reason)
        if len(self.rejected) < KEPT_REJECTIONS:
            self.rejected.append(rejected)
        if self.on_rejected is not None:
            self.on_rejected(rejected)

    def summary(self) -> str:
        """One line: ``loaded 40 dialogues, 300 utterances; 2 refused``."""
        parts = _counted(self.written)
        line = f"{self.loader}: loaded {', '.join(parts) if parts else 'nothing new'}"
        there = _counted(self.present)
        if there:
            line += f"; already there: {', '.join(there)}"
        if self.rejections:
            line += f"; refused: {self.rejections:,}"
        return line


def _counted(counts: Counter[str]) -> list[str]:
    """``1 dialogue``, ``2,000 nodes``, for what there is any of."""
    return [
        f"{count:,} {kind.removesuffix('s') if count == 1 else kind}"
        for kind, count in counts.items()
        if count
    ]

"""What a load did, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from graphneg.model import Rejected

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
        self.rejections += 1
        one = Rejected(place, reason)
        if len(self.rejected) < KEPT_REJECTIONS:
            self.rejected.append(one)
        if self.on_rejected is not None:
            self.on_rejected(one)

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

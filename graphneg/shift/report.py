"""What building a shift graph did, counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

NO_POST_KEYWORDS = "post without keywords"
NO_REPLY_KEYWORDS = "reply without keywords"


@dataclass(slots=True)
class ShiftReport:
    """Counts of one run. ``keywords`` and ``embedder`` name how it was made.

    ``pairs`` were read with their ``dialogues``; ``shifts`` of them are in the graph now, ``skipped``
    counts the others by reason. ``mentions`` is how many keywords were tied to texts; ``notes`` say
    what a user should know.
    """

    keywords: str
    embedder: str
    dialogues: int = 0
    pairs: int = 0
    shifts: int = 0
    mentions: int = 0
    skipped: Counter[str] = field(default_factory=Counter[str])
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """One line: ``3,210 shifts of 4,000 pairs in 21.4 s (187/s); 790 posts without keywords``."""
        line = f"{self.shifts:,} shifts of {self.pairs:,} pairs of {self.dialogues:,} dialogues"
        line += f" in {self.seconds:.1f} s"
        if self.pairs and self.seconds:
            line += f" ({self.pairs / self.seconds:,.0f} pairs/s)"
        parts = [f"{count:,} × {reason}" for reason, count in sorted(self.skipped.items())]
        return line + (f"; skipped {', '.join(parts)}" if parts else "")

"""What a run of a parser did, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from graphneg.model import AmrGraph
from graphneg.parsers.base import warning_code

KEPT_EXAMPLES = 3
Listener = Callable[[str, str], None]


@dataclass(slots=True)
class ParseReport:
    """Counts of one run. ``source`` is the parser's name and version.

    ``parsed`` texts went through the parser, ``reused`` ones had been parsed before; ``graphs`` is
    how many graphs were written, ``replaced`` how many of them took another's place, and ``failed``
    how many texts have none. ``warnings`` counts by code; ``examples`` keeps a few (place, warning)
    of each code, and ``on_warning`` is told each.
    """

    source: str
    parsed: int = 0
    reused: int = 0
    graphs: int = 0
    replaced: int = 0
    failed: int = 0
    sentences: int = 0
    seconds: float = 0.0
    warnings: Counter[str] = field(default_factory=Counter[str])
    examples: dict[str, list[tuple[str, str]]] = field(default_factory=dict[str, list[tuple[str, str]]])
    on_warning: Listener | None = None

    def warn(self, place: str, warnings: Sequence[str]) -> None:
        for warning in warnings:
            code = warning_code(warning)
            self.warnings[code] += 1
            kept = self.examples.setdefault(code, [])
            if len(kept) < KEPT_EXAMPLES:
                kept.append((place, warning))
            if self.on_warning is not None:
                self.on_warning(place, warning)

    def summary(self) -> str:
        """One line: ``dependency 1: 300 graphs of 300 utterances, 412 sentences in 2.1 s (196/s)``."""
        texts = self.graphs + self.failed
        line = f"{self.source}: {self.graphs:,} graphs of {texts:,} texts, {self.sentences:,} sentences"
        line += f" in {self.seconds:.1f} s"
        if self.parsed and self.seconds:
            line += f" ({self.sentences / self.seconds:,.0f}/s)"
        counts = {"of texts parsed before": self.reused, "replaced": self.replaced}
        parts = [f"{count:,} {what}" for what, count in counts.items() if count]
        return line + (f"; {', '.join(parts)}" if parts else "")


def sentences_of(graph: AmrGraph) -> int:
    """How many sentences a graph is of, by its ``:sntN``.

    >>> from graphneg.penman_codec import parse_graph
    >>> sentences_of(parse_graph("(m / multi-sentence :snt1 (g / go-02) :snt2 (s / stop-01))"))
    2
    """
    if graph.top.concept != "multi-sentence":
        return 1
    return max(1, sum((node.role or "").startswith("snt") for node in graph.children(0)))

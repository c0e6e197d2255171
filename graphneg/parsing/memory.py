"""What was parsed before: in the store by text and parser, and in this run what is not written yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from graphneg.loading.rows import Row, digest
from graphneg.model import AmrGraph
from graphneg.parsing.pool import ParsedText
from graphneg.penman_codec import parse_graph
from graphneg.store import Store, cypher_text


def text_id(source: str, text: str) -> str:
    """The key of a text as parsed by ``source``."""
    return digest([source, text])


def read_parses(store: Store, ids: Iterable[str]) -> dict[str, ParsedText]:
    """What the store remembers, by key."""
    return {
        row["id"]: ParsedText(
            _graph(row["penman"], row["spans"]), row["penman"], tuple(row["warnings"] or ())
        )
        for row in store.read(cypher_text("parse/remembered"), ids=sorted(set(ids)))
    }


def parse_row(id: str, source: str, parsed: ParsedText) -> Row:
    """A row of ``parse/remember``."""
    row: Row = {"id": id, "source": source, "penman": parsed.penman}
    if parsed.graph is not None and parsed.graph.spans:
        row["spans"] = [number for k, span in sorted(parsed.graph.spans.items()) for number in (k, *span)]
    if parsed.warnings:
        row["warnings"] = list(parsed.warnings)
    return row


def _graph(penman: str, spans: Sequence[int] | None) -> AmrGraph:
    numbers: Sequence[int] = spans or ()
    found = {numbers[i]: (numbers[i + 1], numbers[i + 2]) for i in range(0, len(numbers), 3)}
    return replace(parse_graph(penman), spans=found)


@dataclass(slots=True)
class _Claim:
    uses: int
    parsed: ParsedText | None = None


class Claims:
    """Texts on their way through the parser, so that none goes through it twice at a time.

    A batch claims its texts when it is read and frees them when it is written.
    """

    def __init__(self) -> None:
        self._claims: dict[str, _Claim] = {}

    def claim(self, ids: Iterable[str]) -> list[str]:
        """Which of these keys no batch has claimed yet."""
        new: list[str] = []
        for id in ids:
            known = self._claims.get(id)
            if known is None:
                self._claims[id] = _Claim(1)
                new.append(id)
            else:
                known.uses += 1
        return new

    def settle(self, parsed: Mapping[str, ParsedText]) -> None:
        """The parser's answers, by key."""
        for id, one in parsed.items():
            self._claims[id].parsed = one

    def answer(self, id: str) -> ParsedText:
        parsed = self._claims[id].parsed
        if parsed is None:
            raise LookupError(f"text {id} is claimed and not parsed")
        return parsed

    def free(self, ids: Iterable[str]) -> None:
        for id in ids:
            claim = self._claims[id]
            claim.uses -= 1
            if not claim.uses:
                del self._claims[id]

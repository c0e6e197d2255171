"""Which texts of a store wait for a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

from graphneg.editing.originals import Selection, count_dialogues, dialogue_ids
from graphneg.errors import InputError
from graphneg.loading.writing import GOLD
from graphneg.store import Store, cypher_text

Kind = Literal["utterances", "responses"]
Existing = Literal["keep", "replace"]
KINDS: tuple[Kind, ...] = ("utterances", "responses")
EXISTING: tuple[Existing, ...] = ("keep", "replace")

_DIALOGUES = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which texts are parsed: those of the selected dialogues that have no graph.

    With ``existing`` ``replace`` also those whose graphs are all of other parsers, or of other
    versions of this one; never those with a gold graph.
    """

    selection: Selection = field(default_factory=Selection)
    kinds: tuple[Kind, ...] = ("utterances",)
    existing: Existing = "keep"

    def __post_init__(self) -> None:
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise InputError(f"parse {', '.join(self.kinds) or 'nothing'}: choose of {', '.join(KINDS)}")
        if self.existing not in EXISTING:
            raise InputError(f"existing graphs {self.existing!r}: choose one of {', '.join(EXISTING)}")

    def keeps(self, source: str, parser: str) -> bool:
        """Whether a graph of that source stays, and its text needs no other."""
        return self.existing == "keep" or source in (GOLD, parser)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A text that waits: ``id`` is its utterance or response, ``replaces`` the graphs that will go."""

    kind: Kind
    id: str
    text: str
    replaces: tuple[str, ...]


def count_waiting(store: Store, wanted: Wanted, parser: str) -> int:
    """How many texts wait. ``parser`` is the source that the parser's graphs are marked with."""
    conditions: dict[str, Any] = {
        "corpora": list(wanted.selection.corpora),
        "splits": list(wanted.selection.splits),
        "limit": max(1, count_dialogues(store, wanted.selection)),
        "any": wanted.existing == "keep",
        "kept": [GOLD, parser],
    }
    return sum(
        store.read(cypher_text(f"parse/count_{kind}"), **conditions)[0]["texts"] for kind in wanted.kinds
    )


def read_waiting(store: Store, wanted: Wanted, parser: str) -> Iterator[Waiting]:
    """The texts that wait, dialogue by dialogue in their order, in flat memory."""
    ids = dialogue_ids(store, wanted.selection)
    while page := list(islice(ids, _DIALOGUES)):
        found: dict[str, list[Waiting]] = {}
        for kind in wanted.kinds:
            for row in store.read(cypher_text(f"parse/{kind}"), ids=page):
                found.setdefault(row["id"], []).extend(_waiting(kind, row["texts"], wanted, parser))
        for id in page:
            yield from found.get(id, ())


def _waiting(kind: Kind, rows: list[list[Any]], wanted: Wanted, parser: str) -> Iterator[Waiting]:
    texts: dict[tuple[int, str, str], list[Sequence[Any]]] = {}
    for turn, id, text, amr, source in rows:
        graphs = texts.setdefault((turn, id, text), [])
        if amr is not None:
            graphs.append((amr, source))
    for (_, id, text), graphs in sorted(texts.items()):
        if not any(wanted.keeps(source, parser) for _, source in graphs):
            yield Waiting(kind, id, text, tuple(sorted(amr for amr, _ in graphs)))

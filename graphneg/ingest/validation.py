"""From decoded items to dialogues: what every loader checks before it yields one.

In: the entries of a file, rows of a table, or graphs with their texts. Out: dialogues that a store can hold,
or a `Rejected` for each that it can't, with its place in the file and the reason.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from graphneg.errors import InputError
from graphneg.ingest.formats import checked
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Item, Refused, text_lines
from graphneg.ingest.rows import digest, text_key, utterance_id
from graphneg.model import Dialogue, GraphText, Record, Rejected, Utterance
from graphneg.progress import Progress
from graphneg.store.connection import Store
from graphneg.store.statements import cypher_text

_LARGEST_INTEGER = 2**63
LONGEST_KEY = 500
"""Ids and terms are indexed, and an index takes no long texts."""


def dialogues_of(
    files: Iterable[Path],
    loader: str,
    options: LoadOptions,
    items: Callable[[Path, Progress], Iterable[Item | Rejected]],
    make: Callable[[Item, Path, LoadOptions], Dialogue],
) -> Iterator[Record]:
    """The dialogues of a loader's files: ``items`` reads a file, ``make`` turns each item into a dialogue.

    Raises:
        InputError: a file is not one that the loader reads.
    """
    validator = DialogueValidator()

    def of_file(path: Path) -> Iterator[Record]:
        return validator.dialogues(items(path, options.progress), lambda item: make(item, path, options))

    for path in files:
        yield from checked(path, loader, of_file(path))


class DialogueValidator:
    """Makes the dialogues of one load, and remembers their ids."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def dialogues(
        self, items: Iterable[Item | Rejected], make: Callable[[Item], Dialogue]
    ) -> Iterator[Dialogue | Rejected]:
        """Make a dialogue of each item; one that can't be made or stored is rejected at its place."""
        for item in items:
            yield item if isinstance(item, Rejected) else self._dialogue(item, make)

    def _dialogue(self, item: Item, make: Callable[[Item], Dialogue]) -> Dialogue | Rejected:
        try:
            dialogue = make(item)
            require_storable(dialogue)
        except Refused as reason:
            return Rejected(item.place, f"item {item.key or item.number}: {reason}")
        if dialogue.id in self._known:
            return Rejected(item.place, f"the id {dialogue.id!r} came before in this load")
        self._known.add(dialogue.id)
        return replace(dialogue, place=item.place)


def alternating(texts: Sequence[str], first: str = "A", second: str = "B") -> tuple[Utterance, ...]:
    """Utterances of two speakers in turn, white space around them removed."""
    return tuple(
        Utterance(turn, second if turn % 2 else first, text.strip()) for turn, text in enumerate(texts)
    )


def strings(value: Any, what: str) -> list[str]:
    """A JSON array of strings.

    Raises:
        Refused: it is something else.
    """
    if not isinstance(value, list):
        raise Refused(f"{what} is not a list of strings")
    elements = cast("list[Any]", value)
    if not all(isinstance(element, str) for element in elements):
        raise Refused(f"{what} has something in it that is not a string")
    return elements


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """A JSON object.

    Raises:
        Refused: it is something else.
    """
    if not isinstance(value, dict):
        raise Refused(f"{what} is not a JSON object")
    return cast("dict[str, Any]", value)


def require_storable(dialogue: Dialogue) -> None:
    """Check that a store can hold the dialogue, and that there is something in each turn.

    Raises:
        Refused: no turns, an empty utterance or response, an id that is too long or has
            control characters, a character that UTF-8 does not have, or a number of more
            than 64 bits.
    """
    if not dialogue.utterances:
        raise Refused("the dialogue has no turns")
    if len(dialogue.id) > LONGEST_KEY:
        raise Refused(f"the id {dialogue.id[:60]!r}... is longer than {LONGEST_KEY} characters")
    if not dialogue.id.isprintable():
        raise Refused(f"the id {dialogue.id!a} has characters that are not printable")
    for utterance in dialogue.utterances:
        what = f"turn {utterance.turn}"
        if not utterance.text.strip():
            raise Refused(f"{what} is empty")
        _require_value([utterance.text, utterance.speaker, utterance.amr], what)
        if utterance.attributes:
            _require_value(utterance.attributes, what)
    for number, response in enumerate(dialogue.responses):
        what = f"response {number} ({response.source})"
        if not response.text.strip():
            raise Refused(f"{what} is empty")
        _require_value([response.text, response.source, response.amr], what)
    _require_value(dialogue.attributes, "the dialogue")


def _require_value(value: Any, what: str) -> None:
    pending: list[Any] = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            _require_text(part, what)
        elif isinstance(part, Mapping):
            fields = cast("Mapping[str, Any]", part)
            pending.extend([*fields.keys(), *fields.values()])
        elif isinstance(part, list | tuple):
            pending.extend(cast("Sequence[Any]", part))
        elif isinstance(part, int) and not -_LARGEST_INTEGER <= part < _LARGEST_INTEGER:
            raise Refused(f"{what} has a number of more than 64 bits")


def _require_text(text: str, what: str) -> None:
    if "\0" in text:
        raise Refused(f"{what} has a NUL character")
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        if 0xDC80 <= code <= 0xDCFF:
            raise Refused(f"{what} is not UTF-8: byte 0x{code - 0xDC00:02x}") from error
        raise Refused(f"{what} has half of a surrogate pair, U+{code:04X}") from error


_REQUIRED = ("dialogue", "turn", "speaker", "text")
_OPTIONAL = ("split", "amr")


@dataclass(slots=True)
class _TableDialogue:
    """The rows of one dialogue so far, and what is wrong with them."""

    name: str
    place: str
    split: str = ""
    turns: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    fault: str = ""

    def add(self, record: dict[str, str], place: str) -> None:
        """Add a row: the next turn, or a fault."""
        expected = str(len(self.turns))
        if not record["dialogue"].strip():
            self.fault = "the column 'dialogue' is empty"
        elif record["turn"].strip() != expected:
            self.fault = (
                self.fault or f"turn {record['turn'][:20]!r} at {place} where {expected} should follow"
            )
        elif record.get("split", "").strip() != self.split:
            self.fault = self.fault or f"another split at {place}"
        others = {key: cell for key, cell in record.items() if cell and key not in (*_REQUIRED, *_OPTIONAL)}
        given = {key: record[key] for key in ("speaker", "amr") if record.get(key, "").strip()}
        self.turns.append({**others, "text": record["text"], **given})

    def item(self, index: int) -> Item | Rejected:
        """The dialogue that the rows make, or what is wrong with them."""
        if self.fault:
            return Rejected(self.place, f"dialogue {self.name[:60]!r}: {self.fault}")
        value: dict[str, Any] = {"id": self.name, "turns": self.turns}
        return Item(self.place, index, self.name, value | ({"split": self.split} if self.split else {}))


def table_dialogues(path: Path, delimiter: str, progress: Progress) -> Iterator[Item | Rejected]:
    """The dialogues of a table; one with a bad row, or a gap in its turns, is rejected.

    CSV quotes as RFC 4180 does; in TSV a quotation mark is a character like others.

    Raises:
        InputError: the header lacks a column.
    """
    current: _TableDialogue | None = None
    index = 0
    for row in _records(path, _rows(path, delimiter, progress)):
        if isinstance(row, Rejected):
            yield row
            if current is not None:
                current.fault = current.fault or f"the row at {row.place} can't be read"
            continue
        place, record = row
        if current is None or current.name != record["dialogue"]:
            if current is not None:
                yield current.item(index)
                index += 1
            current = _TableDialogue(record["dialogue"], place, record.get("split", "").strip())
        current.add(record, place)
    if current is not None:
        yield current.item(index)


def _records(
    path: Path, rows: Iterator[tuple[int, list[str]] | Rejected]
) -> Iterator[tuple[str, dict[str, str]] | Rejected]:
    """Each row behind the header with its place, by column; one with another number of cells is rejected."""
    columns: list[str] | None = None
    for row in rows:
        if isinstance(row, Rejected):
            yield row
        elif columns is None:
            columns = _header(path, row[1])
        elif len(row[1]) != len(columns):
            yield Rejected(f"{path}:{row[0]}", f"{len(row[1])} cells where the header has {len(columns)}")
        else:
            yield f"{path}:{row[0]}", dict(zip(columns, row[1], strict=True))


def _header(path: Path, cells: list[str]) -> list[str]:
    columns = [cell.strip().lower() for cell in cells]
    missing = [name for name in _REQUIRED if name not in columns]
    if missing:
        raise InputError(
            f"{path}:1: the table lacks the columns {', '.join(missing)}; "
            f"its first row is {', '.join(repr(cell[:40]) for cell in cells[:8])}"
        )
    if len(set(columns)) != len(columns):
        raise InputError(f"{path}:1: a column stands twice in the header {', '.join(columns)}")
    return columns


def _rows(path: Path, delimiter: str, progress: Progress) -> Iterator[tuple[int, list[str]] | Rejected]:
    """The rows with the number of their first line; lines that can't be read are rejected."""
    faults: list[Rejected] = []
    skipped = 0

    def lines() -> Iterator[str]:
        nonlocal skipped
        for line in text_lines(path, progress):
            if isinstance(line, Rejected):
                faults.append(line)
                skipped += 1
            else:
                yield line.text + "\n"

    quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    reader = csv.reader(lines(), delimiter=delimiter, quoting=quoting, strict=quoting == csv.QUOTE_MINIMAL)
    while True:
        first = reader.line_num + skipped + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            ends = " inside quotation marks" if "end of data" in str(error) else ""
            yield Rejected(f"{path}:{first}", f"not CSV: {error}{ends}")
            continue
        yield from faults
        faults.clear()
        if cells is None:
            return
        if cells:
            yield first, cells


SPEAKERS = ("A", "B")


@dataclass(slots=True)
class Grouping:
    """Dialogues made of graphs: ``turns`` each, called ``corpus/split/0`` and so on.

    ``places`` has, by utterance id, where the graph of each stands in its file, until it is taken.
    """

    corpus: str
    split: str
    turns: int
    made: int = 0
    pending: list[Utterance] = field(default_factory=list[Utterance])
    places: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, text: GraphText) -> Iterator[Dialogue]:
        """Add a graph; gives the dialogue that it completes, if any."""
        turn = len(self.pending)
        said = (text.text or "").strip()
        self.places[utterance_id(self._id(), turn)] = text.place
        self.pending.append(Utterance(turn, SPEAKERS[turn % 2], said, amr=text.penman))
        if len(self.pending) == self.turns:
            yield from self.rest()

    def rest(self) -> Iterator[Dialogue]:
        """The dialogue that is not full yet, if any."""
        if self.pending:
            attributes = {"made_of": "graphs"}
            yield Dialogue(self._id(), self.corpus, self.split, tuple(self.pending), attributes=attributes)
            self.made += 1
            self.pending = []

    def _id(self) -> str:
        return f"{self.corpus}/{self.split}/{self.made}"


def placed(
    texts: Sequence[GraphText], store: Store, grouping: Grouping
) -> Iterator[Dialogue | tuple[str, GraphText]]:
    """Each text with its utterance (by ``::id``, else by ``::snt``), or in a dialogue of ``grouping``.

    A text matches by ``::snt`` only utterances that have no graph, or this very graph. Texts that belong to
    no utterance become dialogues, so that a file of graphs alone (a book, say) can be edited as well. Nothing
    depends on how much of the same load is in the store already, so a load that was killed is completed by
    running it again.
    """
    ids = {
        row["id"]: row["text"]
        for row in store.read(cypher_text("load/utterances_by_id"), ids=_possible_ids(texts))
    }
    keys = sorted({text_key(text.text) for text in texts if text.text and text.id not in ids})
    by_key: dict[str, list[tuple[str, list[str]]]] = {}
    for row in store.read(cypher_text("load/utterances_by_text"), keys=keys) if keys else ():
        by_key.setdefault(row["key"], []).append((row["id"], row["digests"]))
    for text in texts:
        if text.id is not None and text.id in ids:
            yield text.id, replace(text, text=ids[text.id])
            continue
        content = digest(text.penman.strip())
        fitting = (
            [id for id, digests in by_key.get(text_key(text.text), ()) if not digests or content in digests]
            if text.text
            else []
        )
        for id in sorted(fitting):
            yield id, text
        if not fitting:
            yield from grouping.add(text)


def _possible_ids(texts: Sequence[GraphText]) -> list[str]:
    return sorted({text.id for text in texts if text.id is not None and "#" in text.id})

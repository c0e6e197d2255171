"""`conceptnet`: the edges of ConceptNet 5 that say what is opposite (Speer et al. 2017).

Antonym, DistinctFrom and the relations that begin with Not (NotDesires, NotCapableOf,
NotHasProperty ...), between terms of one language. Read from the dump of assertions (CSV with
tabs, or its gzip) or from a database of the package conceptnet-lite, which is opened read-only.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from graphneg.errors import InputError
from graphneg.ingest.formats import checked
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Refused, byte_lines, decoded, head, input_files, parse_json
from graphneg.ingest.validation import LONGEST_KEY
from graphneg.model import Opposite, Record, Rejected
from graphneg.progress import Progress

SOURCE = "conceptnet"
_COLUMNS = 5
_RELATIONS = (b"/r/Antonym", b"/r/DistinctFrom")
_EDGES = """
    SELECT edge.id, relation.name, starts.text, ends.text, edge.etc
    FROM relation
    JOIN edge ON edge.relation_id = relation.id
    JOIN concept AS start ON start.id = edge.start_id
    JOIN label AS starts ON starts.id = start.label_id
    JOIN concept AS finish ON finish.id = edge.end_id
    JOIN label AS ends ON ends.id = finish.label_id
    JOIN language ON language.id = starts.language_id AND language.id = ends.language_id
    WHERE language.name = ?
      AND (relation.name IN ('antonym', 'distinct_from') OR relation.name LIKE 'not\\_%' ESCAPE '\\')
"""


class Loader:
    """ConceptNet's dump of assertions, or a conceptnet-lite database."""

    name = "conceptnet"
    summary = "ConceptNet: Antonym, DistinctFrom, Not* edges; the dump or a conceptnet-lite database"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The opposites that the files have."""
        for path in input_files(paths, self.name):
            database = head(path, 16).startswith(b"SQLite format 3\0")
            read = _database if database else _dump
            yield from checked(path, self.name, read(path, options.language, options.progress))


def _dump(path: Path, language: str, progress: Progress) -> Iterator[Opposite | Rejected]:
    terms = f"/c/{language}/".encode()
    for line in byte_lines(path, progress):
        if isinstance(line, Rejected):
            yield line
            continue
        number, data = line
        cells = data.split(b"\t")
        if len(cells) != _COLUMNS:
            if data.strip():
                reason = f"{len(cells)} columns, not {_COLUMNS} (uri, relation, start, end, JSON)"
                yield Rejected(f"{path}:{number}", reason)
        elif not _is_opposite(cells[1]):
            if not cells[1].startswith(b"/r/"):
                yield Rejected(f"{path}:{number}", "the second column is no relation (/r/...)")
        elif cells[2].startswith(terms) and cells[3].startswith(terms):
            yield _opposite(f"{path}:{number}", data, language)


def _is_opposite(relation: bytes) -> bool:
    return relation in _RELATIONS or relation.startswith(b"/r/Not")


def _opposite(place: str, data: bytes, language: str) -> Opposite | Rejected:
    try:
        _, relation, start, end, details = decoded(data).split("\t")
        return _edge(relation.removeprefix("/r/"), _term(start), _term(end), parse_json(details), language)
    except Refused as reason:
        return Rejected(place, str(reason))


def _term(uri: str) -> str:
    """The words of a concept's URI.

    >>> _term("/c/en/give_up/v/wn/communication")
    'give up'
    """
    return _words(uri.split("/", 4)[3])


def _words(text: str) -> str:
    return " ".join(unquote(text).replace("_", " ").split())


def _edge(relation: str, start: str, end: str, details: Any, language: str) -> Opposite:
    if not start or not end:
        raise Refused("a term is empty")
    if max(len(start), len(end)) > LONGEST_KEY:
        raise Refused(f"a term is longer than {LONGEST_KEY} characters")
    if start == end:
        raise Refused(f"{start!r} is its own opposite ({relation})")
    weight = details.get("weight") if isinstance(details, dict) else None
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight):
        raise Refused("the weight is missing, or is no number")
    return Opposite(start, end, relation, float(weight), SOURCE, language)


def _database(path: Path, language: str, progress: Progress) -> Iterator[Opposite | Rejected]:
    address = f"{path.resolve().as_uri()}?mode=ro"
    progress.start(path.name, None, "edges")
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            _require_language(path, connection, language)
            for number, relation, start, end, details in connection.execute(_EDGES, (language,)):
                progress.advance(1)
                yield _row(f"{path}:edge {number}", relation, start, end, details, language)
    except sqlite3.Error as error:
        raise InputError(f"{path} can't be read as a conceptnet-lite database: {error}") from error
    finally:
        progress.finish()


def _row(place: str, relation: str, start: str, end: str, details: str, language: str) -> Opposite | Rejected:
    name = "".join(part.capitalize() for part in relation.split("_"))
    try:
        return _edge(name, _words(start), _words(end), parse_json(details), language)
    except Refused as reason:
        return Rejected(place, str(reason))


def _require_language(path: Path, connection: sqlite3.Connection, language: str) -> None:
    known = [name for (name,) in connection.execute("SELECT name FROM language ORDER BY name")]
    if language not in known:
        raise InputError(f"{path} has no terms of the language {language!r}; it has {', '.join(known[:20])}")

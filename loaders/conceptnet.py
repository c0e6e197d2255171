"""Load pairs of opposites from ConceptNet 5 (``conceptnet``; Speer et al. 2017).

Transforms replace words with their opposites. The loader reads the relations Antonym and DistinctFrom, and
all relations whose names begin with Not (NotDesires, NotCapableOf, NotHasProperty ...), if both terms are in
the chosen language. A line of the dump has five columns:

    /a/[...]	/r/Antonym	/c/en/hot/a	/c/en/cold	{"weight": 2.0, ...}

The loader makes the pair "hot" and "cold" with the weight 2 from this line. It also reads databases of the
package conceptnet-lite, which it opens read-only.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

from graphneg.errors import InputError
from graphneg.ingest.content import ItemError, head
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import byte_lines, decoded, parse_json
from graphneg.ingest.validation import FileLoader, length_fault
from graphneg.model import Opposite, Rejected
from graphneg.paths import resolved
from graphneg.progress import Progress

_COLUMNS = 5
_RELATIONS = (b"/r/Antonym", b"/r/DistinctFrom", b"/r/Not")
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


class Loader(FileLoader):
    """Loader for ConceptNet's dump of assertions, or for a conceptnet-lite database."""

    name = "conceptnet"
    summary = "ConceptNet: Antonym, DistinctFrom, Not* edges; the dump or a conceptnet-lite database"

    def records(self, path: Path, options: LoadOptions) -> Iterator[Opposite | Rejected]:
        """Return the pairs of opposites in a file.

        Args:
            path: The file.
            options: Options for loading. ``language`` is the language of the terms.

        Returns:
            An iterator over pairs of opposites and rejected lines.
        """
        read = _database if head(path, 16).startswith(b"SQLite format 3\0") else _dump
        return read(path, options.language, options.progress)


def _dump(path: Path, language: str, progress: Progress) -> Iterator[Opposite | Rejected]:
    """Yield the pairs of opposites from a ConceptNet dump, a file with one edge per line."""
    terms = f"/c/{language}/".encode()
    for line in byte_lines(path, progress):
        if isinstance(line, Rejected):
            yield line
            continue
        number, data = line
        # The dump has 34 million lines, and most are skipped.
        # To save time, compare relation and language as bytes, and decode only the lines that are needed.
        cells = data.split(b"\t")
        if len(cells) != _COLUMNS:
            if data.strip():
                reason = f"{len(cells)} columns, but expected {_COLUMNS} (uri, relation, start, end, JSON)"
                yield Rejected(f"{path}:{number}", reason)
        elif not cells[1].startswith(_RELATIONS):
            if not cells[1].startswith(b"/r/"):
                yield Rejected(f"{path}:{number}", "the second column is not a relation (/r/...)")
        # Both terms must be in the chosen language. Pairs of terms from two languages are skipped.
        elif cells[2].startswith(terms) and cells[3].startswith(terms):
            try:
                _, relation, *ends, details = decoded(data).split("\t")
                start, end = (uri.split("/", 4)[3] for uri in ends)
                yield _edge(relation.removeprefix("/r/"), start, end, details, language)
            except ItemError as reason:
                yield Rejected(f"{path}:{number}", str(reason))


def _words(text: str) -> str:
    """Return the words of a term, such as ``give up`` for ``give_up``."""
    return " ".join(unquote(text).replace("_", " ").split())


def _edge(relation: str, start: str, end: str, details: str, language: str) -> Opposite:
    """Convert an edge of ConceptNet, which has terms such as "give_up", into a pair of opposites."""
    start, end, value = _words(start), _words(end), parse_json(details)
    if not start or not end:
        raise ItemError("a term is empty")
    if reason := length_fault("the term", start) or length_fault("the term", end):
        raise ItemError(reason)
    if start == end:
        raise ItemError(f"{start!r} is its own opposite ({relation})")
    # In Python, True and False are also instances of int, so exclude them explicitly.
    weight = value.get("weight") if isinstance(value, dict) else None
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight):
        raise ItemError("the weight is missing, or is not a number")
    return Opposite(start, end, relation, float(weight), Loader.name, language)


def _database(path: Path, language: str, progress: Progress) -> Iterator[Opposite | Rejected]:
    """Yield the pairs of opposites from a conceptnet-lite database."""
    progress.start(path.name, None, "edges")
    try:
        # Open the database read-only, because it belongs to another package.
        with closing(sqlite3.connect(f"{resolved(path).as_uri()}?mode=ro", uri=True)) as connection:
            known = [name for (name,) in connection.execute("SELECT name FROM language ORDER BY name")]
            if language not in known:
                has = ", ".join(known[:20])
                raise InputError(f"{path} has no terms of the language {language!r}; available: {has}")
            for number, relation, start, end, details in connection.execute(_EDGES, (language,)):
                progress.advance(1)
                # Spell the name of the relation as in the dump: "DistinctFrom" instead of "distinct_from".
                name = "".join(part.capitalize() for part in relation.split("_"))
                try:
                    yield _edge(name, start, end, details, language)
                except ItemError as reason:
                    yield Rejected(f"{path}:edge {number}", str(reason))
    except sqlite3.Error as error:
        raise InputError(f"{path} can't be read as a conceptnet-lite database: {error}") from error
    finally:
        progress.finish()

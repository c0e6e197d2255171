"""Reads transform files: a comment header and one query that proposes edits.

A file ``NAME.cypher`` opens with ``// NAME: what it does`` and ``// category: C-cont``; ``// source:``,
``// needs:`` and ``// target:`` may follow, then prose. Dropping such a file into a folder is all it takes
to add a transform.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from graphneg.editing.recipes import TARGETS, Target
from graphneg.errors import InputError, TransformError
from graphneg.hashing import fingerprint
from graphneg.json_input import read_input
from graphneg.store.reading import write_clause
from graphneg.store.statements import read_header

MOST_BYTES = 1_000_000
"""Size of the largest file of a transform."""
CATEGORIES = ("C-ent", "C-time", "C-cont", "C-speaker", "C-follow", "C-strat", "C-lang")
_VERSION = 6
_NAME = re.compile(r"^[a-z][a-z0-9_-]*$")
_HEADER = re.compile(r"^(category|source|needs|target):\s*(.*)$")


@dataclass(frozen=True, slots=True)
class Transform:
    """A transform: ``query`` takes ``$dialogues`` and returns ``dialogue`` and ``edits``.

    ``needs`` names what must be loaded for it to find anything (``opposites``, ``frames``); ``target`` says
    that all its sites are for negatives of that target. ``version`` tells files of one's own apart that have
    the same name; it is empty where the file is as graphneg brings it.
    """

    name: str
    summary: str
    category: str
    source: str
    needs: tuple[str, ...]
    target: Target | None
    notes: str
    query: str
    place: str
    version: str = ""


def load_transforms(folders: Sequence[str | Path] = ()) -> Mapping[str, Transform]:
    """The shipped transforms and those in ``folders``, by name, in alphabetical order.

    A file in a folder takes the place of a shipped one of the same name.

    Raises `TransformError`: a folder is not there or has no ``.cypher`` file; a file is not a transform.
    """
    found: dict[str, Transform] = {}
    for entry in resources.files("graphneg.cypher").joinpath("transforms").iterdir():
        if entry.name.endswith(".cypher"):
            name = entry.name.removesuffix(".cypher")
            found[name] = parse_transform(name, entry.read_text(encoding="utf-8"), f"{name}.cypher")
    for folder in map(Path, folders):
        files = sorted(folder.glob("*.cypher")) if folder.is_dir() else []
        if not files:
            raise TransformError(
                f"{folder}: no folder with .cypher files; each transform is a file NAME.cypher"
            )
        for file in files:
            own = parse_transform(file.stem, _text(file), str(file))
            shipped = found.get(own.name)
            if shipped is None or shipped.query != own.query:
                own = replace(own, version=fingerprint(own.query)[:_VERSION])
            found[own.name] = own
    return dict(sorted(found.items()))


def version_of(names: Iterable[str], transforms: Mapping[str, Transform]) -> str:
    """What tells negatives apart that transforms of these names make: empty where none is of one's own."""
    own = {
        name: transforms[name].version for name in names if name in transforms and transforms[name].version
    }
    return fingerprint(own)[:_VERSION] if own else ""


def parse_transform(name: str, text: str, place: str) -> Transform:
    """Read one transform file.

    Raises `TransformError`: the header is incomplete, the category unknown, or the query would write.
    """
    if not _NAME.match(name):
        raise TransformError(f"{place}: a transform's name is lower-case letters, digits, '-' and '_'")
    header = read_header(name, text)
    if header is None:
        raise TransformError(f"{place}: the first line must be '// {name}: what it does'")
    summary, lines = header
    fields = {match[1]: match[2].strip() for line in lines if (match := _HEADER.match(line))}
    notes = "\n".join(line for line in lines if not _HEADER.match(line)).strip()
    category = fields.get("category", "")
    if category not in CATEGORIES:
        raise TransformError(
            f"{place}: '// category:' must be one of {', '.join(CATEGORIES)}, not {category!r}"
        )
    if "$dialogues" not in text:
        raise TransformError(f"{place}: the query does not read $dialogues")
    # An early message. The server refuses what this overlooks: `propose` asks as a reader.
    if clause := write_clause(text):
        raise TransformError(f"{place}: a transform proposes edits and writes nothing, but has {clause}")
    target: Target | None = next((one for one in TARGETS if one == fields.get("target")), None)
    if target is None and "target" in fields:
        known = ", ".join(TARGETS)
        raise TransformError(f"{place}: '// target:' must be one of {known}, not {fields['target']!r}")
    needs = tuple(re.split(r"[,\s]+", fields["needs"])) if fields.get("needs") else ()
    return Transform(name, summary, category, fields.get("source", "-"), needs, target, notes, text, place)


def _text(file: Path) -> str:
    try:
        # The folder may be a stranger's: a pipe in it would be waited for, and a device has no end.
        return read_input(file, MOST_BYTES, pipes=False).decode("utf-8")
    except InputError as error:
        raise TransformError(str(error)) from error
    except UnicodeDecodeError as error:
        raise TransformError(f"{file}: not UTF-8 text: {error}") from error

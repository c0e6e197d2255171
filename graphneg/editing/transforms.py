"""Read transform files: a comment header and one Cypher query that proposes edits.

A user adds a transform by putting a file into a folder, without writing Python. The name of the file is the
name of the transform. The comment lines at its beginning are the header. Header lines begin with a key such
as ``category:``; any other header line is a note. For example, the file ``postpone.cypher``:

    // postpone: Adds "tomorrow" to statements about the past.
    // category: C-time
    // target: dialogue
    UNWIND $dialogues AS d UNWIND d.turns AS t
    MATCH (p:AmrNode {amr: t.amr})
    WHERE p.undated_event AND p.tense = 'past'
    RETURN d.id AS dialogue,
           collect({amr: p.amr, position: p.position, op: 'add', role: 'time', concept: 'tomorrow'}) AS edits

`parse_transform` converts this text into a `Transform` with the name ``postpone``, the category ``C-time``
and the target ``dialogue``. Only ``category`` is required. The other keys are ``target``, ``source`` (the
paper), ``needs`` (the data that must be loaded) and ``proof`` (the relation that proves the error).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from graphneg.editing.recipes import TARGETS, Target
from graphneg.errors import InputError, TransformError
from graphneg.hashing import fingerprint
from graphneg.json_input import read_input
from graphneg.store.reading import without_comments, write_clause
from graphneg.store.statements import read_header

MOST_BYTES = 1_000_000
"""Maximum size of a transform file in bytes."""
CATEGORIES = ("C-ent", "C-time", "C-cont", "C-speaker", "C-follow", "C-strat", "C-lang")
"""The error categories of Gupta et al. 2021. Each transform belongs to one of them."""
PROOFS = ("contradicts", "other argument", "asks what was said")
"""The relations to an earlier clause that can prove an error; see `graphneg.editing.proof`."""
NEEDS = ("opposites", "frames", "shifts", "donors", "claims")
"""Values of the header key ``needs``: the data that a transform depends on. A value in parentheses means that
the transform uses the data only if they are loaded."""
_OPTIONAL_NEEDS = frozenset({"(opposites)", "(frames)", "(shifts)"})
_FROM_OTHER_DIALOGUES = frozenset({"donors", "shifts"})
"""Values of the header key ``needs`` for data that are computed from all dialogues of a corpus. The other
values, such as ``opposites``, are resources that the user loads."""
_VERSION = 6
_NAME = re.compile(r"^[a-z][a-z0-9_-]*$")
_HEADER = re.compile(r"^(category|source|needs|target|proof):\s*(.*)$")


@dataclass(frozen=True, slots=True)
class Transform:
    """A transform: a query with the parameter ``$dialogues`` and the columns ``dialogue`` and ``edits``.

    Attributes:
        name: Name of the transform, which is also the name of its file.
        summary: Description of the transform in one sentence.
        category: Error category of the negatives, one of `CATEGORIES`.
        source: Paper that the transform follows; ``-`` if there is none.
        needs: Kinds of data that the transform depends on. ``opposites``, ``frames`` and ``shifts`` are data
            that the user must have loaded. ``donors`` means graphs of other dialogues, and ``claims`` the
            claims of the dialogue.
        target: ``dialogue`` or ``response`` if all edits of the transform have the same target; None if the
            query gives each edit its target.
        notes: The header lines that do not begin with a key.
        query: Text of the whole file.
        place: Name or path of the file, for error messages.
        proof: Relations to an earlier clause, one of which proves the error; empty if the transform declares
            none.
        version: Fingerprint of a user's own file; empty for a shipped file. The fingerprint becomes a part of
            the ids of negatives, so that a changed file gives new ids.
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
    proof: tuple[str, ...] = ()
    version: str = ""

    @property
    def uses_corpus(self) -> bool:
        """Whether the transform needs data from the whole corpus, not only from the edited dialogue."""
        return not _FROM_OTHER_DIALOGUES.isdisjoint(one.strip("()") for one in self.needs)

    @property
    def identity(self) -> list[Any]:
        """The values that determine the edits of the transform. Comments in its file do not change them."""
        proof = [list(self.proof)] if self.proof else []
        return [self.category, self.target, list(self.needs), without_comments(self.query), *proof]


def load_transforms(folders: Sequence[str | Path] = ()) -> Mapping[str, Transform]:
    """Return the shipped transforms and those in a user's folders.

    A file in one of the folders replaces the shipped transform of the same name.

    Args:
        folders: Folders with files ``NAME.cypher``. If two folders contain a file of the same name, the file
            in the later folder is used.

    Returns:
        The transforms, keyed by name, in alphabetical order.

    Raises:
        TransformError: A folder does not exist or has no ``.cypher`` file, or a file is not a transform.
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
            # Set a version only if the user's file differs from the shipped file in more than comments and
            # layout. The version becomes a part of the ids of negatives, and equal negatives must keep their
            # ids.
            if shipped is None or shipped.identity != own.identity:
                own = replace(own, version=fingerprint(own.identity)[:_VERSION])
            found[own.name] = own
    return dict(sorted(found.items()))


def version_of(names: Iterable[str], transforms: Mapping[str, Transform]) -> str:
    """Return a fingerprint of the user's own transform files in a recipe.

    The fingerprint is appended to the ids of negatives. After the user has changed a transform file, the
    same dialogue therefore gives negatives with new ids.

    Args:
        names: Names of the transforms of a recipe.
        transforms: All known transforms, keyed by name.

    Returns:
        The fingerprint, or an empty string if all transforms of the recipe are shipped files.
    """
    own = {
        name: transforms[name].version for name in names if name in transforms and transforms[name].version
    }
    return fingerprint(own)[:_VERSION] if own else ""


def parse_transform(name: str, text: str, place: str) -> Transform:
    """Read one transform file.

    Args:
        name: Name of the transform. The first line of the file must begin with it.
        text: Text of the file.
        place: Name or path of the file, for error messages.

    Returns:
        The transform.

    Raises:
        TransformError: The name is not allowed, the header is incomplete, a key of the header has an unknown
            value, or the query does not read ``$dialogues`` or contains a clause that writes.
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
    # Refuse a query with a clause that writes, such as CREATE. This check gives an early, readable message.
    # It may overlook a clause, because `propose` runs the query with read-only access anyway.
    if clause := write_clause(text):
        raise TransformError(f"{place}: a transform proposes edits and writes nothing, but has {clause}")
    # Look up the target in `TARGETS`, so that type checkers know its type `Target`.
    target: Target | None = next((one for one in TARGETS if one == fields.get("target")), None)
    if target is None and "target" in fields:
        known = ", ".join(TARGETS)
        raise TransformError(f"{place}: '// target:' must be one of {known}, not {fields['target']!r}")
    needs = tuple(re.split(r"[,\s]+", fields["needs"])) if fields.get("needs") else ()
    if unknown := next((one for one in needs if one not in NEEDS and one not in _OPTIONAL_NEEDS), None):
        raise TransformError(f"{place}: '// needs:' must be one of {', '.join(NEEDS)}, not {unknown!r}")
    proof = tuple(fields["proof"].split(" or ")) if fields.get("proof") else ()
    if unknown := next((one for one in proof if one not in PROOFS), None):
        known = ", ".join(PROOFS)
        raise TransformError(
            f"{place}: '// proof:' must be one of {known}, or several joined by 'or', not {unknown!r}"
        )
    source = fields.get("source", "-")
    return Transform(name, summary, category, source, needs, target, notes, text, place, proof)


def _text(file: Path) -> str:
    """Return the text of a transform file."""
    try:
        # The folder may come from a stranger, so refuse pipes and devices: reading a pipe could block, and
        # reading a device may never end.
        return read_input(file, MOST_BYTES, pipes=False).decode("utf-8")
    except InputError as error:
        raise TransformError(str(error)) from error
    except UnicodeDecodeError as error:
        raise TransformError(f"{file}: not UTF-8 text: {error}") from error

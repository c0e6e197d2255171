"""Check the database files of a store before a server opens them.

A store may come from a stranger. The engine opens its database files by name and follows links, so a link
named ``Term_0.21.65536.v0.bucket`` would let it overwrite any file that the link points to. The schema can
hold code that the server runs with all its rights: triggers, functions, views and default values.
`check_engine_files` refuses both, with a message such as:

    s/arcadedb/databases/neo4j/schema.json holds the trigger "notify", which the server would run: …

The check is a list of what is allowed: what graphneg and the schema commands of Cypher write. Everything else
is refused, so a new kind of code in a later release of the engine cannot slip through.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from graphneg.errors import StoreError
from graphneg.private_files import UnsafeFileError, found, owner_problem, problem_of
from graphneg.store import supervisor

LARGEST_JSON = 64_000_000
"""Maximum size of a JSON file in bytes. The schema of a store with all labels of graphneg has 20,000
bytes."""
SMALLEST_HOLLOW = 1_000_000_000
"""Size in bytes from which a file is refused if it consists of holes."""

# The keys that each level of schema.json may have. These keys are left out on purpose: the "default" of a
# property is an SQL expression that is evaluated for each new record, its "regexp" may run forever, and
# "bucketSelectionStrategy" and the "analyzer" of an index name Java classes that the engine loads.
_SCHEMA_DATA = {"schemaVersion", "dbmsVersion", "dbmsBuild", "settings", "types"}
_TYPE_DATA = {"type", "parents", "buckets", "aliases", "properties", "indexes", "custom", "bidirectional"}
_PROPERTY_DATA = {"type", "of", "mandatory", "notNull", "readonly", "hidden", "min", "max", "custom"}
_INDEX_DATA = {"type", "bucket", "properties", "nullStrategy", "unique", "typeIndexName", "collations"}
_TYPE_KINDS = {"v", "e", "d"}
_INDEX_KINDS = {"LSM_TREE", "HASH"}
_ONES = {
    "triggers": "trigger",
    "functions": "function library",
    "materializedViews": "materialized view",
    "continuousAggregates": "continuous aggregate",
    "extensions": "extension",
}


def check_engine_files(directory: Path) -> None:
    """Refuse with `StoreError` a store whose database files, schema or configuration are unsafe to open."""
    databases = directory / supervisor.ENGINE / "databases"
    try:
        for folder in (databases.parent, databases, databases / supervisor.DATABASE):
            if not os.path.lexists(folder):
                return
            _check_folder(folder)
        for path, status in files_below(databases):
            if problem := problem_of(status):
                raise UnsafeFileError(path, problem)
        for entry in os.scandir(databases):
            # The server opens every folder here as a database.
            if entry.is_dir() and entry.name != supervisor.DATABASE:
                raise StoreError(
                    f"{printable(entry.path)} is not graphneg's, and the server would open it as a database: "
                    "move it out of the store"
                )
        # If the engine cannot read the current schema, it reads the previous one.
        for name in ("schema.json", "schema.prev.json"):
            _check_schema(databases / supervisor.DATABASE / name)
        _check_configuration(databases / supervisor.DATABASE / "configuration.json")
        for path, status in files_below(databases):
            if _is_hollow(status):
                raise StoreError(
                    f"{printable(path)} claims {status.st_size:,} bytes and has nearly none on the disk: the "
                    "server would read it for hours; get the store again from its source"
                )
    except UnsafeFileError as error:
        raise refusal(error) from error
    except OSError as error:
        raise StoreError(
            f"{printable(error.filename or databases)} can't be read: {error.strerror}; check its "
            "permissions, or open a copy of the store"
        ) from error


def _is_hollow(status: os.stat_result) -> bool:
    """Return whether a large file consists of holes, such as one that ``truncate -s 2T`` made."""
    # Windows does not tell the number of blocks, which have 512 bytes each.
    allocated = getattr(status, "st_blocks", status.st_size) * 512
    # A disk that compresses its files stores real data in less room, too, but not in a hundredth.
    return status.st_size > SMALLEST_HOLLOW and allocated * 100 < status.st_size


def refusal(error: UnsafeFileError) -> StoreError:
    """Return the error for a file in a store that is not a regular file of the user.

    Args:
        error: The error of `graphneg.private_files`.

    Returns:
        An error that names the file and says what to do.
    """
    problem = str(error.strerror)
    advice = "remove it, or get the store again from its source"
    # A copy belongs to the user and has one name.
    if "hard link" in problem or "belongs" in problem:
        advice = "copy the store with `cp -r` and open the copy, which is yours"
    return StoreError(
        f"{printable(error.filename)} {problem}: a store holds plain files of its user only; {advice}"
    )


def _check_folder(folder: Path) -> None:
    """Refuse a folder that is a link, or that belongs to another user."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise UnsafeFileError(folder, problem_of(status) or "is a file in place of a directory")
    if problem := owner_problem(status):
        raise UnsafeFileError(folder, problem)


def files_below(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield all files below a folder, including links, sockets and other special files.

    Args:
        folder: The folder. Links to folders are not followed.

    Yields:
        The path of a file, and the status of the file itself, not of a link's target.
    """
    folders = [folder]
    while folders:  # No recursion: the folders of a stranger may be nested thousands of levels deep.
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    _check_folder(path)
                    folders.append(path)
                else:
                    yield path, os.lstat(path)


def _check_schema(path: Path) -> None:
    """Refuse a schema with keys that are not on the lists above."""
    schema = _read_object(path)
    for key, value in schema.items():
        # An empty entry holds no code.
        if key not in _SCHEMA_DATA and value:
            name = _first_name(value)
            what = f"the {_ONES.get(key, key)}{name}"
            raise StoreError(
                f"{path} holds {what}, which the server would run: read it, and to open the store without it "
                f'set "{key}" to {{}} there and in schema.prev.json'
            )
    for name, kind in _objects(path, schema, "types"):
        _check_keys(path, f"type {name}", kind, _TYPE_DATA, _TYPE_KINDS)
        for inner, details in _objects(path, kind, "properties"):
            _check_keys(path, f"property {name}.{inner}", details, _PROPERTY_DATA, None)
        for inner, details in _objects(path, kind, "indexes"):
            _check_keys(path, f"index {inner}", details, _INDEX_DATA, _INDEX_KINDS)


def _check_keys(
    path: Path, where: str, found: Mapping[str, Any], known: set[str], kinds: set[str] | None
) -> None:
    """Refuse an entry of the schema with unknown keys or of an unknown kind."""
    strange = sorted(key for key, value in found.items() if key not in known and value)
    kind = found.get("type")
    if kinds is not None and not (isinstance(kind, str) and kind in kinds):
        strange.append("type")
    if strange:
        raise StoreError(
            f"{path}: {where} has {shown(strange[0])}: {shown(found.get(strange[0]))}, which graphneg "
            "never writes and which may run code in the server: remove it there and in schema.prev.json, or "
            "load the corpora into a new store"
        )


def _first_name(value: Any) -> str:
    """Return the first name in a map as `` "name"``, for a message; an empty string for anything else."""
    if isinstance(value, dict):
        return f" {shown(min(cast('dict[str, Any]', value)))}"
    return ""


def shown(value: Any) -> str:
    """Format a value from an untrusted file for a message: in ASCII, on one line, with at most 60 characters.

    Args:
        value: Any value that JSON can hold.

    Returns:
        The value as JSON.
    """
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def printable(path: Any) -> str:
    """Format a path from an untrusted folder for a message: on one line, without control characters.

    Args:
        path: A path.

    Returns:
        The path, escaped if it has characters that are not printable.
    """
    text = str(path)
    return text if text.isprintable() else ascii(text)


def _check_configuration(path: Path) -> None:
    """Refuse settings in a database. They override the server's, and may name folders to write to."""
    for key, value in _read_object(path).items():
        if value:
            raise StoreError(
                f"{path} configures the server ({shown(key)}: {shown(value)}): a store is data only; write "
                '{"configuration": {}} there to open it without'
            )


def _objects(path: Path, owner: Mapping[str, Any], key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the names and maps in the map under a key; refuse anything that is not a map."""
    inner = owner.get(key, {})
    if not isinstance(inner, dict):
        raise _damaged(path, f"{shown(key)} is not a map")
    for name, value in cast("dict[str, Any]", inner).items():
        if not isinstance(value, dict):
            raise _damaged(path, f"{shown(name)} is not a map")
        yield ascii(name)[1:-1], cast("dict[str, Any]", value)


def _read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file; return an empty map if there is no file."""
    try:
        with open(path, "rb", opener=found) as file:
            # One byte more than allowed, to notice a file that is too large.
            text = file.read(LARGEST_JSON + 1)
    except FileNotFoundError:
        return {}
    if len(text) > LARGEST_JSON:
        raise _damaged(path, f"it has more than {LARGEST_JSON:,} bytes")
    try:
        # Read strictly. The engine's own parser is lenient and might see another object than the one that was
        # checked.
        content = json.loads(text.decode("utf-8"), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"it is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise _damaged(path, "it is not a JSON object")
    return cast("dict[str, Any]", content)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a repeated key, since parsers differ in which of its values they use."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key comes twice")
    return made


def _damaged(path: Path, why: str) -> StoreError:
    """Return the error for a file that cannot be read."""
    return StoreError(f"{path} is damaged ({why}): restore it from a copy of the store")

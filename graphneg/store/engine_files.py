"""Checks of the database files in a store before a server opens them.

A store may come from a stranger. Java opens its database files by name and follows links: a link called
``Term_0.21.65536.v0.bucket`` would let it overwrite whatever file the link names. The schema may hold code
that the server would run with all its rights: triggers, functions, views and default values.
`check_engine_files` refuses both with one line:

    s/arcadedb/databases/neo4j/schema.json holds the trigger "notify", which the server would run: …

The check allows what graphneg and Cypher's schema commands write and refuses everything else, so that a
later release of the engine does not bring a new kind of code past it.
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
"""Bytes. The schema of a store with all of graphneg's labels has 20,000."""

# What each level of schema.json may hold. A property's "default" is an SQL expression that is evaluated for
# each new record, and its "regexp" may take for ever; "bucketSelectionStrategy" and an index's "analyzer"
# name Java classes that the engine loads.
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
    """Refuse a store whose database files a server must not open.

    Args:
        directory: The store. Nothing is changed, and no file is opened that is not a plain one.

    Raises:
        StoreError: A file is a link, a FIFO, a device or another user's; there is another database; the
            schema holds code; or the database brings its own configuration.
    """
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
            if entry.is_dir() and entry.name != supervisor.DATABASE:  # the server opens all
                raise StoreError(
                    f"{printable(entry.path)} is not graphneg's, and the server would open it as a database: "
                    "move it out of the store"
                )
        # The engine reads the previous schema where it can't read the current one.
        for name in ("schema.json", "schema.prev.json"):
            _check_schema(databases / supervisor.DATABASE / name)
        _check_configuration(databases / supervisor.DATABASE / "configuration.json")
    except UnsafeFileError as error:
        raise refusal(error) from error
    except OSError as error:
        raise StoreError(
            f"{printable(error.filename or databases)} can't be read: {error.strerror}; check its "
            "permissions, or open a copy of the store"
        ) from error


def refusal(error: UnsafeFileError) -> StoreError:
    """Return the error for a file in a store that is not a plain file of the user's.

    Args:
        error: What `graphneg.private_files` found.

    Returns:
        An error that names the file and says what to do.
    """
    problem = str(error.strerror)
    advice = "remove it, or get the store again from its source"
    if "hard link" in problem or "belongs" in problem:
        advice = "copy the store with `cp -r` and open the copy, which is yours"
    return StoreError(
        f"{printable(error.filename)} {problem}: a store holds plain files of its user only; {advice}"
    )


def _check_folder(folder: Path) -> None:
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise UnsafeFileError(folder, problem_of(status) or "is a file in place of a directory")
    if problem := owner_problem(status):
        raise UnsafeFileError(folder, problem)


def files_below(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield what is below a folder, with its own status: files, links and whatever else is no folder.

    Args:
        folder: The folder. Links to folders are not followed.

    Raises:
        UnsafeFileError: A folder below it belongs to another user.
    """
    folders = [folder]
    while folders:  # not by recursion: a stranger's folders may be nested a thousand times
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    _check_folder(path)
                    folders.append(path)
                else:
                    yield path, os.lstat(path)


def _check_schema(path: Path) -> None:
    schema = _read_object(path)
    for key, value in schema.items():
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
    """Return the first name in a map as `` "name"``, for a message; an empty text for anything else."""
    if isinstance(value, dict):
        return f" {shown(min(cast('dict[str, Any]', value)))}"
    return ""


def shown(value: Any) -> str:
    """Write a value of a stranger's for a message: in ASCII, on one line, and cut if it is long."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def printable(path: Any) -> str:
    """Write a path for a message in which a stranger chose names: on one line, without control characters."""
    text = str(path)
    return text if text.isprintable() else ascii(text)


def _check_configuration(path: Path) -> None:
    """Refuse settings of a database, which override the server's: they may name folders to write to."""
    for key, value in _read_object(path).items():
        if value:
            raise StoreError(
                f"{path} configures the server ({shown(key)}: {shown(value)}): a store is data only; write "
                '{"configuration": {}} there to open it without'
            )


def _objects(path: Path, owner: Mapping[str, Any], key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the maps in the map that stands under a key."""
    inner = owner.get(key, {})
    if not isinstance(inner, dict):
        raise _damaged(path, f"{shown(key)} is not a map")
    for name, value in cast("dict[str, Any]", inner).items():
        if not isinstance(value, dict):
            raise _damaged(path, f"{shown(name)} is not a map")
        yield ascii(name)[1:-1], cast("dict[str, Any]", value)


def _read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object strictly, since the engine's own reader is lax and may see another object.

    Returns:
        The object; an empty map if there is no such file.
    """
    try:
        with open(path, "rb", opener=found) as file:
            text = file.read(LARGEST_JSON + 1)
    except FileNotFoundError:
        return {}
    if len(text) > LARGEST_JSON:
        raise _damaged(path, f"it has more than {LARGEST_JSON:,} bytes")
    try:
        content = json.loads(text.decode("utf-8"), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"it is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise _damaged(path, "it is not a JSON object")
    return cast("dict[str, Any]", content)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that comes twice: readers differ in which of the two counts."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key comes twice")
    return made


def _damaged(path: Path, why: str) -> StoreError:
    return StoreError(f"{path} is damaged ({why}): restore it from a copy of the store")

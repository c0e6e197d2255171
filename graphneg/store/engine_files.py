"""Check the database files of a store before a server opens them.

A store directory may come from an untrusted source and contain an attack. The database engine opens its files
by name and follows links. So a link with the name of a database file, such as ``Term_0.21.65536.v0.bucket``,
would make the engine overwrite the file to which the link points. The schema can contain code that the server
executes with all rights of the user: triggers, functions, views and default values. `check_engine_files`
refuses links and code, with a message such as:

    s/arcadedb/databases/neo4j/schema.json holds the trigger "notify", which the server would run: …

It also refuses files that are visibly damaged, for example because copying them was interrupted. The engine
would open some damaged files as if they were empty, and would fail on others after a long start.

The check uses lists of the schema keys that graphneg and Cypher's schema commands write. All other keys are
refused, so that new kinds of code in later releases of the engine are refused as well.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from graphneg.errors import StoreError
from graphneg.private_files import UnsafeFileError, owner_problem, problem_of, untrusted_opener
from graphneg.store import supervisor

LARGEST_JSON = 64_000_000
"""Maximum size of a JSON file in bytes. For comparison: a schema with all labels of graphneg has 20,000
bytes."""
SMALLEST_HOLLOW = 1_000_000_000
"""Minimum size in bytes of a sparse file (a file that consists mostly of holes) that is refused."""
_HEAD = 64
"""Number of bytes at the beginning of a database file that are read. A file in which all of them are zero is
refused, because the first page must begin with a header."""
# Matches file names such as "Term_0.21.65536.v0.bucket", which consist of a name, a number, the page size,
# the version of the format and the kind of the file.
_PAGED = re.compile(r"(?P<name>.+)\.[0-9]+\.(?P<size>[0-9]{1,9})\.v[0-9]+\.(?P<kind>[a-z]+)")
_WRITTEN_AHEAD = ".wal"
_NUMBER = re.compile(r"[0-9]{1,9}")

# The allowed keys at each level of schema.json. When the engine has compacted an index into a new file, it
# writes two more entries: "migratedFileIds" at the top level, which maps the numbers of old files to those of
# new files, and the "logicalName" of the index. Four keys are deliberately missing: the "default" of a
# property is an SQL expression that is evaluated for each new record, the "regexp" of a property may run
# forever, and "bucketSelectionStrategy" and the "analyzer" of an index name Java classes that the engine
# loads.
_SCHEMA_DATA = {"schemaVersion", "dbmsVersion", "dbmsBuild", "settings", "types"}
_TYPE_DATA = {"type", "parents", "buckets", "aliases", "properties", "indexes", "custom", "bidirectional"}
_PROPERTY_DATA = {"type", "of", "mandatory", "notNull", "readonly", "hidden", "min", "max", "custom"}
_INDEX_DATA = {
    "type", "bucket", "properties", "nullStrategy", "unique", "typeIndexName", "collations", "logicalName",
}  # fmt: skip
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
    """Check that the database files, the schema and the configuration of a store are safe to open.

    Nothing is checked if the store has no database yet.

    Args:
        directory: The store directory.

    Raises:
        StoreError: A file cannot be read, is visibly damaged, is a huge sparse file or is not a regular file
            of the user. The schema contains code, the configuration is not empty, or the store contains
            another database.
    """  # noqa: DOC501
    databases = directory / supervisor.ENGINE / "databases"
    try:
        for folder in (databases.parent, databases, databases / supervisor.DATABASE):
            if not os.path.lexists(folder):
                return
            _check_folder(folder)
        _separate_schema_files(databases / supervisor.DATABASE)
        for path, status in files_below(databases):
            if problem := problem_of(status):
                raise UnsafeFileError(path, problem)
        for entry in os.scandir(databases):
            # Refuse any folder except graphneg's own, because the server would open it as another database.
            if entry.is_dir() and entry.name != supervisor.DATABASE:
                raise StoreError(
                    f"{printable(entry.path)} does not belong to graphneg, and the server would open it as a "
                    "database: "
                    "move it out of the store"
                )
        # Check the previous schema as well: the engine reads it if it cannot read the current schema.
        for name in ("schema.json", "schema.prev.json"):
            _check_schema(databases / supervisor.DATABASE / name)
        _check_configuration(databases / supervisor.DATABASE / "configuration.json")
        for path, status in files_below(databases):
            if _is_sparse(status):
                raise StoreError(
                    f"{printable(path)} has a size of {status.st_size:,} bytes but occupies almost none on "
                    "the disk: the server would read it for hours; get a new copy of the store from its "
                    "source"
                )
        _check_pages(databases / supervisor.DATABASE)
    except UnsafeFileError as error:
        raise refusal(error) from error
    except OSError as error:
        raise StoreError(
            f"{printable(error.filename or databases)} can't be read: {error.strerror}; check its "
            "permissions, or open a copy of the store"
        ) from error


def _separate_schema_files(database: Path) -> None:
    """Remove ``schema.prev.json`` if it is a hard link to ``schema.json``.

    To change the schema, the engine makes this link and then replaces ``schema.json``. If it is killed
    between the two steps, the link remains, and the check for hard links would refuse the store.
    """
    schema, previous = database / "schema.json", database / "schema.prev.json"
    try:
        status, other = os.lstat(schema), os.lstat(previous)
    except FileNotFoundError:
        return
    # A third name of the file may be outside the store.
    if os.path.samestat(status, other) and stat.S_ISREG(status.st_mode) and status.st_nlink == 2:
        previous.unlink(missing_ok=True)


def _check_pages(database: Path) -> None:
    """Refuse a database whose last server ended properly, but whose files are missing, cut off or zeroed."""
    names = sorted(os.listdir(database))
    # If a write-ahead log (.wal) remains, the last server was killed. The database files may be incomplete,
    # and the engine completes them from the log.
    if any(name.endswith(_WRITTEN_AHEAD) for name in names):
        return
    found: dict[tuple[str, str], int] = {}
    for name in names:
        if (parts := _PAGED.fullmatch(name)) is None:
            continue
        path, size = database / name, int(parts["size"])
        with open(path, "rb", opener=untrusted_opener) as file:
            start, length = file.read(_HEAD), os.fstat(file.fileno()).st_size
        found[parts["kind"], parts["name"]] = length
        if size and length % size:
            raise _damage_error(
                path, f"its {length:,} bytes are not a multiple of {size:,}, its size of a page"
            )
        if start and not any(start):
            raise _damage_error(path, "it begins with zeros")
        if parts["kind"] == "dict" and not start:
            raise _damage_error(path, "it is empty")
    if not found:
        return
    path = database / "schema.json"
    if not path.exists():
        raise _damage_error(path, "it is missing")
    if not any(kind == "dict" for kind, _ in found):
        raise _damage_error(database, "its dictionary, 'dictionary.*.dict', is missing")
    used, types = set[str](), set[str]()
    for _, details in _entries_of_object(path, _read_object(path), "types"):
        buckets = details.get("buckets")
        for bucket in cast("list[Any]", buckets) if isinstance(buckets, list) else ():
            if ("bucket", str(bucket)) not in found:
                raise _damage_error(database, f"the file {as_json(f'{bucket}.*.bucket')} is missing")
            used.add(str(bucket))
            # In the names of files, the type "A~B" is written as "A%7EB". So take the type from the bucket.
            types.add(str(bucket).rpartition("_")[0])
    for (kind, name), length in sorted(found.items()):
        # The engine ignores the records of a bucket that no type of the schema uses, and graphneg would find
        # an incomplete graph. An empty bucket is accepted: a killed server may have left it.
        if kind == "bucket" and length and name not in used and not _is_internal_bucket(name, types):
            raise _damage_error(path, f"it has no type for the records in {as_json(f'{name}.*.bucket')}")


def _is_internal_bucket(name: str, types: Collection[str]) -> bool:
    """Return whether the engine uses a bucket for the relationships of nodes, so that no type lists it.

    Such names begin with the name of a type: ``Term_0_in_edges``, and ``Term_sn_stripe_0`` for nodes with
    thousands of relationships. The name of a bucket for the nodes themselves is a type and a number:
    ``Term_0``.
    """
    parts = name.split("_")
    prefixes = ("_".join(parts[:count]) for count in range(1, len(parts)))
    return any(prefix in types and not name[len(prefix) + 1 :].isdigit() for prefix in prefixes)


def _is_sparse(status: os.stat_result) -> bool:
    """Return whether a file is large and consists mostly of holes, as after ``truncate -s 2T``."""
    # A block has 512 bytes. Windows does not report the number of blocks, so no file counts as sparse on
    # Windows.
    allocated = getattr(status, "st_blocks", status.st_size) * 512
    # A compressing file system also stores an ordinary file in less space than its size. A file therefore
    # counts as sparse only if less than a hundredth of its size is on disk.
    return status.st_size > SMALLEST_HOLLOW and allocated * 100 < status.st_size


def refusal(error: UnsafeFileError) -> StoreError:
    """Convert the error for an unsafe file, such as a link or a file of another user, into a `StoreError`.

    Args:
        error: The error that `graphneg.private_files` raised.

    Returns:
        A `StoreError` whose message names the file and says what to do.
    """
    problem = str(error.strerror)
    advice = "remove it, or get a new copy of the store from its source"
    # If files belong to another user or have hard links, advise the user to copy the store: the files of the
    # copy belong to the user and have no hard links.
    if "hard link" in problem or "belongs" in problem:
        advice = "copy the store with `cp -r` and open the copy, which is yours"
    return StoreError(
        f"{printable(error.filename)} {problem}: a store holds plain files of its user only; {advice}"
    )


def _check_folder(folder: Path) -> None:
    """Refuse a folder that is a link or a file, or that belongs to another user."""
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
        The path and the status of each file. For a link, this is the status of the link, not of its target.
    """
    folders = [folder]
    # Use a loop, because an attacker may nest folders deeper than Python's recursion limit.
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    _check_folder(path)
                    folders.append(path)
                else:
                    yield path, os.lstat(path)


def _check_schema(path: Path) -> None:
    """Refuse a schema with keys that are not in the lists of allowed keys."""
    schema = _read_object(path)
    moved = schema.pop("migratedFileIds", {})
    if not _maps_numbers(moved):
        raise StoreError(
            f"{path} has migratedFileIds: {as_json(moved)}, which the server can't read: remove the entry "
            "there and in schema.prev.json"
        )
    for key, value in schema.items():
        # An unknown key is refused only if it has a value, because an empty value cannot contain code.
        if key not in _SCHEMA_DATA and value:
            name = _quoted_first_key(value)
            what = f"the {_ONES.get(key, key)}{name}"
            raise StoreError(
                f"{path} holds {what}, which the server would run: read it, and to open the store without it "
                f'set "{key}" to {{}} there and in schema.prev.json'
            )
    for name, kind in _entries_of_object(path, schema, "types"):
        _check_keys(path, f"type {name}", kind, _TYPE_DATA, _TYPE_KINDS)
        for inner, details in _entries_of_object(path, kind, "properties"):
            _check_keys(path, f"property {name}.{inner}", details, _PROPERTY_DATA, None)
        for inner, details in _entries_of_object(path, kind, "indexes"):
            _check_keys(path, f"index {inner}", details, _INDEX_DATA, _INDEX_KINDS)


def _maps_numbers(value: Any) -> bool:
    """Return whether a JSON value is an object whose keys and values are numbers: ``{"24": 74}``."""
    if not isinstance(value, dict):
        return False
    items = cast("dict[str, Any]", value).items()
    return all(_NUMBER.fullmatch(key) and type(number) is int for key, number in items)


def _check_keys(
    path: Path, where: str, found: Mapping[str, Any], known: set[str], kinds: set[str] | None
) -> None:
    """Refuse a schema entry if one of its keys is not in ``known``, or if its type is not in ``kinds``."""
    unknown = sorted(key for key, value in found.items() if key not in known and value)
    kind = found.get("type")
    if kinds is not None and not (isinstance(kind, str) and kind in kinds):
        unknown.append("type")
    if unknown:
        raise StoreError(
            f"{path}: {where} has {as_json(unknown[0])}: {as_json(found.get(unknown[0]))}, which graphneg "
            "never writes and which may run code in the server: remove it there and in schema.prev.json, or "
            "load the corpora into a new store"
        )


def _quoted_first_key(value: Any) -> str:
    """Return the first key of a dict in quotes, as in ``the trigger "notify"``; "" for any other value."""
    if isinstance(value, dict):
        return f" {as_json(min(cast('dict[str, Any]', value)))}"
    return ""


def as_json(value: Any) -> str:
    """Format a value from an untrusted file for a message.

    The result is in ASCII, on one line, and truncated to 60 characters.

    Args:
        value: Any value that can be written as JSON.

    Returns:
        The value as JSON, truncated if necessary.
    """
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def printable(path: Any) -> str:
    """Format a path from an untrusted folder for a message, on one line and without control characters.

    Args:
        path: A path, as a string or as a path object.

    Returns:
        The path, escaped if it contains unprintable characters.
    """
    text = str(path)
    return text if text.isprintable() else ascii(text)


def _check_configuration(path: Path) -> None:
    """Refuse a database that contains settings, because they could make the server write to other folders."""
    for key, value in _read_object(path).items():
        if value:
            raise StoreError(
                f"{path} configures the server ({as_json(key)}: {as_json(value)}): a store is data only; "
                'write {"configuration": {}} there to open the store without this configuration'
            )


def _entries_of_object(
    path: Path, owner: Mapping[str, Any], key: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the keys and values of the JSON object ``owner[key]``. Refuse values that are not objects."""
    inner = owner.get(key, {})
    if not isinstance(inner, dict):
        raise _damage_error(path, f"{as_json(key)} is not a JSON object")
    for name, value in cast("dict[str, Any]", inner).items():
        if not isinstance(value, dict):
            raise _damage_error(path, f"{as_json(name)} is not a JSON object")
        yield ascii(name)[1:-1], cast("dict[str, Any]", value)


def _read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file. Return an empty dictionary if the file does not exist."""
    try:
        with open(path, "rb", opener=untrusted_opener) as file:
            # Read one byte more than allowed, to notice a file that is too large.
            text = file.read(LARGEST_JSON + 1)
    except FileNotFoundError:
        return {}
    if len(text) > LARGEST_JSON:
        raise _damage_error(path, f"the file has more than {LARGEST_JSON:,} bytes")
    try:
        # Parse strictly. The engine's own parser is lenient, so it could read something different from what
        # was checked here if the file is not exactly valid JSON.
        content = json.loads(text.decode("utf-8"), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise _damage_error(path, f"not JSON: {error}") from error
    if not isinstance(content, dict):
        raise _damage_error(path, "not a JSON object")
    return cast("dict[str, Any]", content)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Convert key-value pairs into a dictionary. Refuse a repeated key: parsers disagree on its value."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key occurs twice")
    return made


def _damage_error(path: Path, why: str) -> StoreError:
    return StoreError(f"{printable(path)} is damaged ({why}): restore it from a copy of the store")

"""Detect database files that were damaged while the server of a store was not running.

The database engine does not check what it reads. If bytes of a file are zeroed or flipped, for example by a
failing disk or an interrupted copy, the engine may find fewer relationships and report no error. So the
supervisor writes ``checksums.json`` to the store directory when the server has ended properly, and removes it
before the server starts. `damage` compares the database files with these checksums:

    damage(directory, database)      # 'ROLE_0.62.65536.v0.bucket has other content'

A file is not read again if its inode, size and times are unchanged. In a store that was not moved or copied,
all files are unchanged. After a copy, all files are read once, at about 1 GB/s. After a server was killed,
there are no checksums and nothing is compared; the engine then restores the files from its own log.

This module uses only the standard library and `graphneg.private_files`, because the supervisor process of an
embedded store imports it.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphneg.private_files import untrusted_opener

CHECKSUMS = "checksums.json"
"""The file in a store directory with the checksums of the database files."""
_MOST_BYTES = 64_000_000
"""Maximum size of ``checksums.json`` in bytes. The entry of a database file takes about 100 bytes."""
_UNCHECKED = (".json", ".lck", ".wal")
"""Suffixes of files that are not compared. Users may edit the schema (.json). Files with the other suffixes
exist only while a server runs."""
_BLOCK = 1 << 20
"""Number of bytes that are read at a time."""

Checksums = dict[str, list[int]]
"""A mapping from file name to size, modification time, change time (both in ns), inode and CRC-32."""


def read_checksums(directory: Path) -> Checksums:
    """Read the checksums of a store.

    Args:
        directory: The store directory.

    Returns:
        The checksums; an empty dictionary if the file does not exist or cannot be parsed.
    """
    try:
        with open(directory / CHECKSUMS, "rb", opener=untrusted_opener) as file:
            content: Any = json.loads(file.read(_MOST_BYTES))
        return {str(name): [int(number) for number in entry] for name, entry in content["files"].items()}
    # The directory may come from an untrusted source, so the file may contain anything. Treat a file in any
    # other format like a missing file.
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError, OverflowError):
        return {}


def damage(directory: Path, database: Path) -> str | None:
    """Compare the database files of a store with its checksums.

    Args:
        directory: The store directory.
        database: The folder with the database files.

    Returns:
        A description of the first difference; None if there is none, or if there are no checksums.
    """
    known = read_checksums(directory)
    found = dict(_files_with_checksum(database))
    for name, entry in sorted(known.items()):
        if name not in found:
            return f"{ascii(name)[1:-1]} is missing"
        status = found[name]
        if len(entry) != 5 or status.st_size != entry[0]:
            return f"{ascii(name)[1:-1]} has {status.st_size:,} bytes instead of {entry[0] if entry else 0:,}"
        if _signature(status) != entry[:4] and _crc32(database / name) != entry[4]:
            return f"{ascii(name)[1:-1]} has other content"
    return None


def write_checksums(directory: Path, database: Path, former: Checksums) -> None:
    """Write the checksums of all database files. No server may be running.

    Args:
        directory: The store directory.
        database: The folder with the database files.
        former: Checksums that were valid when the server started. Files that have not changed since then are
            not read again.
    """
    files: Checksums = {}
    for name, status in _files_with_checksum(database):
        signature, known = _signature(status), former.get(name, [])
        same = known[:4] == signature
        files[name] = [*signature, known[4] if same else _crc32(database / name)]
    scratch = directory / f"{CHECKSUMS}.{os.getpid()}"
    with open(scratch, "w", encoding="ascii", opener=untrusted_opener) as file:
        json.dump({"files": files}, file)
    scratch.replace(directory / CHECKSUMS)


def forget_checksums(directory: Path) -> None:
    """Remove the checksums of a store, because its files are about to change.

    Args:
        directory: The store directory.
    """
    try:
        (directory / CHECKSUMS).unlink()
    except FileNotFoundError:
        return
    # Sync the folder. Otherwise, the old checksums could reappear after a power failure and be compared with
    # changed files. The OSError is suppressed, because Windows cannot sync a folder.
    with contextlib.suppress(OSError):
        folder = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _files_with_checksum(database: Path) -> Iterator[tuple[str, os.stat_result]]:
    with contextlib.suppress(FileNotFoundError), os.scandir(database) as entries:
        for entry in entries:
            if not entry.name.endswith(_UNCHECKED) and entry.is_file(follow_symlinks=False):
                yield entry.name, entry.stat(follow_symlinks=False)


def _signature(status: os.stat_result) -> list[int]:
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _crc32(path: Path) -> int:
    found = 0
    with open(path, "rb", opener=untrusted_opener) as file:
        while block := file.read(_BLOCK):
            found = zlib.crc32(block, found)
    return found

"""PropBank's frame files as they come: a directory of XML files, a tar archive of them, or one file."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from graphneg.errors import InputError
from graphneg.ingest.formats import checked
from graphneg.ingest.reading import head, input_paths
from graphneg.model import Record, Rejected
from graphneg.progress import Progress

LARGEST = 64 << 20

ReadFile = Callable[[str, bytes], Iterator[Record]]
"""Reads one frame file: its name for messages, and its content."""


def frame_records(paths: Sequence[Path], loader: str, read: ReadFile, progress: Progress) -> Iterator[Record]:
    """What ``read`` finds in each frame file; of an archive, a name is ``ARCHIVE/MEMBER``.

    Raises:
        InputError: a path is missing, or has no frame files in it.
    """
    for path in input_paths(paths, loader):
        if path.is_dir():
            yield from _directory(path, read, progress)
        elif head(path, 512)[257:262] == b"ustar":
            yield from checked(path, loader, _archive(path, read, progress))
        else:
            yield from checked(path, loader, _file(path, read, progress))


def _directory(path: Path, read: ReadFile, progress: Progress) -> Iterator[Record]:
    found = sorted(path.rglob("*.xml"))
    if not found:
        raise InputError(f"{path} has no frame files (*.xml) in it")
    progress.start(path.name, len(found), "files")
    try:
        for file in found:
            with file.open("rb") as stream:
                yield from _content(str(file), stream, read)
            progress.advance(1)
    finally:
        progress.finish()


def _file(path: Path, read: ReadFile, progress: Progress) -> Iterator[Record]:
    with path.open("rb") as stream:
        progress.start(path.name, path.stat().st_size, "B")
        yield from _content(str(path), stream, read)
        progress.advance(path.stat().st_size)
        progress.finish()


def _archive(path: Path, read: ReadFile, progress: Progress) -> Iterator[Record]:
    """The frame files of an archive, in its order."""
    done = 0
    with path.open("rb") as stored:
        progress.start(path.name, path.stat().st_size, "B")
        try:
            with tarfile.open(fileobj=stored, mode="r|*") as archive:
                for member in archive:
                    stream = archive.extractfile(member) if member.name.endswith(".xml") else None
                    if stream is not None:
                        yield from _content(f"{path}/{member.name}", stream, read)
                    progress.advance(stored.tell() - done)
                    done = stored.tell()
        except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
            yield Rejected(f"{path}:byte {stored.tell()}", f"the archive is damaged from here on ({error})")
        finally:
            progress.finish()


def _content(name: str, stream: IO[bytes], read: ReadFile) -> Iterator[Record]:
    data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        yield Rejected(f"{name}:1", f"the file is longer than {LARGEST:,} bytes")
        return
    yield from read(name, data)

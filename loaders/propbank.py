"""`propbank`: PropBank's frame files as an inventory of rolesets (Palmer et al. 2005; AMR's frames).

Reads a directory of XML files, a tar archive of them, or one file. ``give_up.07`` becomes the
frame ``give-up-07`` with its numbered roles.
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TypeVar

from graphneg.english.noun_kinds import lexeme
from graphneg.english.propbank import Fault, Roleset, read_rolesets
from graphneg.errors import InputError
from graphneg.ingest.formats import checked
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import head, input_paths
from graphneg.model import Frame, Record, Rejected
from graphneg.progress import Progress

LARGEST = 64 << 20

T = TypeVar("T")
ReadFile = Callable[[str, bytes], Iterator[T]]
"""Reads one frame file: its name for messages, and its content."""


class Loader:
    """PropBank frames: a directory, a tar archive or an XML file."""

    name = "propbank"
    summary = "PropBank frames: the directory of XML files, their tar.gz, or one file"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The frames of the files, each once."""
        seen: dict[str, str] = {}

        def read_file(name: str, data: bytes) -> Iterator[Record]:
            parts = read_rolesets(data)
            if not parts:
                yield Rejected(f"{name}:1", "there are no rolesets in it")
            for part in parts:
                yield _frame(f"{name}:{part.line}", part, seen)

        return frame_records(paths, self.name, read_file, options.progress)


def _frame(where: str, part: Roleset | Fault, seen: dict[str, str]) -> Frame | Rejected:
    """The frame of a roleset; refuses one whose id was ``seen`` in this load."""
    if isinstance(part, Fault):
        return Rejected(where, part.reason)
    id = part.id
    if id is None:
        return Rejected(where, f"the roleset id {part.name!r} is not LEMMA.NN")
    before = seen.setdefault(id, where)
    if before != where:
        return Rejected(where, f"the frame {id} came before in this load, at {before}")
    words = dict.fromkeys(" ".join(alias.word.replace("_", " ").split()) for alias in part.aliases)
    roles = tuple(f"ARG{role.number}" for role in part.roles)
    descriptions = tuple(role.description for role in part.roles)
    return Frame(id, lexeme(id), roles, descriptions, tuple(filter(None, words)))


def frame_records(
    paths: Sequence[Path], loader: str, read: ReadFile[T], progress: Progress
) -> Iterator[T | Rejected]:
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


def _directory(path: Path, read: ReadFile[T], progress: Progress) -> Iterator[T | Rejected]:
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


def _file(path: Path, read: ReadFile[T], progress: Progress) -> Iterator[T | Rejected]:
    with path.open("rb") as stream:
        progress.start(path.name, path.stat().st_size, "B")
        yield from _content(str(path), stream, read)
        progress.advance(path.stat().st_size)
        progress.finish()


def _archive(path: Path, read: ReadFile[T], progress: Progress) -> Iterator[T | Rejected]:
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


def _content(name: str, stream: IO[bytes], read: ReadFile[T]) -> Iterator[T | Rejected]:
    data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        yield Rejected(f"{name}:1", f"the file is longer than {LARGEST:,} bytes")
        return
    yield from read(name, data)

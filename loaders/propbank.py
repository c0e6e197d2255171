"""Load PropBank's frame files (``propbank``; Palmer et al. 2005), which define the frames of AMR.

The loader reads a directory of XML files, a tar archive of them, or a single file. The roleset ``give_up.07``
becomes the frame ``give-up-07``, with its numbered roles and their descriptions.
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from graphneg.english.noun_kinds import lexeme
from graphneg.english.propbank import ReadError, Roleset, read_rolesets
from graphneg.ingest.content import head
from graphneg.ingest.loader import LoadOptions, check_format
from graphneg.ingest.reading import files_within, input_paths
from graphneg.model import Frame, Record, Rejected
from graphneg.progress import Progress

LARGEST = 64 << 20
"""Maximum size of a frame file in bytes."""

T = TypeVar("T")
ReadFile = Callable[[str, bytes], Iterator[T]]
"""A function that reads one frame file. Its arguments are the name of the file (for messages) and the
content."""


class Loader:
    """Loader for PropBank frames, from a directory, a tar archive or an XML file."""

    name = "propbank"
    summary = "PropBank frames: the directory of XML files, their tar.gz, or one file"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Return the frames from files. A frame whose id occurred before is rejected.

        Args:
            paths: Files, archives and directories.
            options: Options for loading, such as the corpus and split.

        Returns:
            An iterator over frames and rejected items.
        """
        seen: dict[str, str] = {}

        def read_file(name: str, data: bytes) -> Iterator[Record]:
            parts = read_rolesets(data)
            if not parts:
                yield Rejected(f"{name}:1", "the file contains no rolesets")
            for part in parts:
                yield _frame(f"{name}:{part.line}", part, seen)

        return frame_records(paths, self.name, read_file, options.progress)


def _frame(where: str, part: Roleset | ReadError, seen: dict[str, str]) -> Frame | Rejected:
    """Convert a roleset into a frame. Reject it if ``seen`` contains its id, and add the id to ``seen``."""
    if isinstance(part, ReadError):
        return Rejected(where, part.reason)
    id = part.id
    if id is None:
        return Rejected(where, f"the roleset id {part.name!r} is not LEMMA.NN")
    before = seen.setdefault(id, where)
    if before != where:
        return Rejected(where, f"the frame {id} occurs earlier in this load, at {before}")
    words = dict.fromkeys(" ".join(alias.word.replace("_", " ").split()) for alias in part.aliases)
    roles = tuple(f"ARG{role.number}" for role in part.roles)
    descriptions = tuple(role.description for role in part.roles)
    return Frame(id, lexeme(id), roles, descriptions, tuple(filter(None, words)))


def frame_records(
    paths: Sequence[Path], loader: str, read: ReadFile[T], progress: Progress
) -> Iterator[T | Rejected]:
    """Yield the records from frame files.

    Raises `InputError` if a path is missing or contains no frame files.

    Args:
        paths: Files, archives and directories.
        loader: The name of the loader.
        read: Function that returns the records of one frame file. A file in an archive has the name
            ``ARCHIVE/MEMBER``.
        progress: Progress display; advanced by the number of bytes read.

    Yields:
        Records and rejected items.
    """
    for path in input_paths(paths, loader):
        records = _records(path, read, progress)
        yield from records if path.is_dir() else check_format(path, loader, records)


def _records(path: Path, read: ReadFile[T], progress: Progress) -> Iterator[T | Rejected]:
    # Detect POSIX tar archives by the mark "ustar" at byte 257.
    is_archive = not path.is_dir() and head(path, 512)[257:262] == b"ustar"
    for file in _archived(path, progress) if is_archive else _files(path, progress):
        if isinstance(file, Rejected):
            yield file
        elif len(file[1]) > LARGEST:
            yield Rejected(f"{file[0]}:1", f"the file is longer than {LARGEST:,} bytes")
        else:
            yield from read(*file)


def _files(path: Path, progress: Progress) -> Iterator[tuple[str, bytes] | Rejected]:
    """Yield the name and content of a file, or of each frame file in a directory."""
    found = files_within(path, "**/*.xml", "frame files (*.xml)")
    files = [file for file in found if file.is_file()]
    yield from (
        Rejected(str(file), "a folder, not a file" if file.is_dir() else "a broken link, or not a file")
        for file in found
        if file not in files
    )
    progress.start(path.name, sum(file.stat().st_size for file in files), "B")
    try:
        for file in files:
            try:
                with file.open("rb") as stream:
                    # Read one byte more than the maximum, so that the caller notices a file that is too long.
                    content = stream.read(LARGEST + 1)
                progress.advance(file.stat().st_size)
            except OSError as error:
                yield Rejected(str(file), f"can't be read: {error.strerror}")
            else:
                yield str(file), content
    finally:
        progress.finish()


def _archived(path: Path, progress: Progress) -> Iterator[tuple[str, bytes] | Rejected]:
    """Yield the name and content of each frame file in an archive, in order."""
    done = 0
    with path.open("rb") as stored:
        progress.start(path.name, path.stat().st_size, "B")
        try:
            # Read the archive as a stream, so that no disk space is needed to unpack it.
            with tarfile.open(fileobj=stored, mode="r|*") as archive:
                for member in archive:
                    # Do not follow links.
                    # The archive may come from an untrusted source, and a link may point anywhere.
                    if member.issym() or member.islnk():
                        if member.name.endswith(".xml"):
                            where = f"{path}/{member.name}"
                            yield Rejected(
                                where, f"a link to {member.linkname}, not a file: links are not followed"
                            )
                        continue
                    stream = archive.extractfile(member) if member.name.endswith(".xml") else None
                    if stream is not None:
                        yield f"{path}/{member.name}", stream.read(LARGEST + 1)
                    progress.advance(stored.tell() - done)
                    done = stored.tell()
        except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
            yield Rejected(f"{path}:byte {stored.tell()}", f"the archive is damaged from here on ({error})")
        finally:
            progress.finish()

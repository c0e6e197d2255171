"""Read text files as UTF-8 bytes, regardless of their compression and encoding.

Corpora come as plain text or compressed with gzip or zstd. Their encoding is UTF-8, UTF-16 with a byte order
mark, or an older one such as Windows-1252. `chunks` yields the content of a file as UTF-8, piece by piece, so
that memory use does not grow with the file. `encoding_of` guesses the encoding of a file that is not UTF-8.

For example, ``chunks(Path("chats.jsonl.gz"), NoProgress())`` yields the decompressed lines as UTF-8, without
a byte order mark.
"""

from __future__ import annotations

import codecs
import gzip
import re
import stat
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from graphneg.errors import InputError
from graphneg.progress import NoProgress, Progress

CHUNK = 1 << 18
"""Number of bytes to read at a time."""
MOST_UNPACKED, MOST_RATIO = 100_000_000, 100
"""Limits for compressed files. A file is refused if it unpacks to more than `MOST_UNPACKED` bytes and to more
than `MOST_RATIO` times the compressed bytes read so far. Text is rarely compressed to less than a twentieth
of its size, but a file of 5 MB can unpack to 5 GB of the same character, which takes minutes to read."""
_BOM = b"\xef\xbb\xbf"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_UNDECODED = re.compile(r"[\udc80-\udcff]")
_WESTERN = ("cp1252", "mac_roman")
_SIGNS = frozenset("‘’“”„…–—•·´«»¡¿£€¥§©®°º½¼²™×\xa0àáâãäåæçèéêëìíîïñòóôõöøœùúûüÿßÀÁÄÅÇÉÈÊÍÑÖØÚÜ")
"""Non-ASCII characters that are frequent in Western European texts."""
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


class ItemError(Exception):
    """Signal that an item of a file, such as a line, cannot be converted. The message gives the reason.

    A loader catches this exception, yields a `Rejected` record, and continues with the next item.
    """


class TruncatedError(ItemError):
    """Signal that the rest of a file cannot be read: it ends early, or its compressed data are damaged."""


def head(path: Path, size: int = 1 << 16, encoding: str = "") -> bytes:
    """Return the first bytes of the content that `chunks` yields for a file.

    Args:
        path: The file to read.
        size: Maximum number of bytes to return.
        encoding: The codec of the text; empty for UTF-8.

    Returns:
        The bytes. They are fewer than ``size`` if the file is shorter or its compressed data are damaged.
    """
    start = b""
    try:
        for chunk in chunks(path, NoProgress(), encoding):
            start += chunk
            if len(start) >= size:
                break
    except TruncatedError:
        with path.open("rb") as stored:
            # If nothing can be decompressed, return the first stored bytes, which show the format for an
            # error message.
            start = start or stored.read(4)
    return start[:size]


def chunks(path: Path, progress: Progress, encoding: str = "") -> Iterator[bytes]:
    """Yield the content of a file in pieces: decompressed, converted to UTF-8, without a byte order mark.

    Bytes that are invalid in the encoding are passed on unchanged, so that decoding the result as UTF-8 fails
    at these bytes.

    The iterator raises `InputError` if the file is missing, cannot be read, is a pipe or a device, or unpacks
    to far more than its own size. It raises `TruncatedError` if the compressed data are damaged or end early,
    or if the text ends inside a character.

    Args:
        path: The file to read.
        progress: Progress display, advanced by the number of bytes read from disk, before decompression.
        encoding: The codec of the text; empty for UTF-8. A UTF-16 byte order mark takes precedence.

    Returns:
        An iterator over non-empty pieces.
    """
    return filter(None, _as_utf8(_pieces(path, progress), encoding))


def _pieces(path: Path, progress: Progress) -> Iterator[bytes]:
    compression = ""
    try:
        _require_file(path)
        with path.open("rb") as stored:
            progress.start(path.name, path.stat().st_size, "B")
            # Four bytes are enough to detect the compression: the magic number of zstd, the longest, has
            # four.
            start, done, unpacked = stored.read(4), 0, 0
            stored.seek(0)
            compression = next((name for magic, name in _COMPRESSED.items() if start.startswith(magic)), "")
            stream = _decompressed(stored, compression)
            try:
                while piece := stream.read(CHUNK):
                    progress.advance(stored.tell() - done)
                    done, unpacked = stored.tell(), unpacked + len(piece)
                    if compression and unpacked > max(MOST_UNPACKED, MOST_RATIO * done):
                        raise InputError(
                            f"{path} unpacks to over {MOST_RATIO} times its size, more than "
                            f"{MOST_UNPACKED // 1_000_000} MB: if you trust the file, unpack it first"
                        )
                    yield piece
                progress.advance(stored.tell() - done)
            finally:
                progress.finish()
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file") from error
    except (EOFError, zlib.error, OSError) as error:
        # An error of the operating system has an error number. An OSError without a number is raised by
        # `gzip` and pyarrow and means that the data are damaged.
        if isinstance(error, OSError) and (error.errno is not None or not compression):
            raise InputError(f"{path} can't be read: {error.strerror or error}") from error
        raise TruncatedError(f"the {compression} stream is damaged from here on ({error})") from error


def _require_file(path: Path) -> None:
    """Raise `InputError` for a pipe or a device, which may never end and cannot be read twice."""
    try:
        mode = path.stat().st_mode
    except ValueError as error:
        raise InputError(f"{path} can't be read: {error}") from error
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise InputError(
            f"{path} is a pipe or a device, which can't be read twice: save its content to a file, and name "
            "that file"
        )


def _decompressed(stored: BinaryIO, compression: str) -> Any:
    if compression == "zstd":
        # Use pyarrow, because Python's standard library has no zstd before version 3.14.
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(stored, "r"), "zstd")
    return gzip.GzipFile(fileobj=stored) if compression else stored


def _as_utf8(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    first = _beginning(pieces)
    if first.startswith(_UTF_16):
        # Some programs write lone surrogates, which are invalid, to UTF-16 files. Do not fail here: the line
        # that contains them is rejected later, with its number.
        encoding, errors = "utf-16", "surrogatepass"
    else:
        # Decode invalid bytes to lone surrogates. The encoding with "surrogateescape" restores these bytes.
        first, errors = first.removeprefix(_BOM), "surrogateescape"
    if not encoding:
        yield first
        yield from pieces
        return
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    try:
        for piece in chain((first,), pieces, (b"",)):
            yield decoder.decode(piece, final=not piece).encode("utf-8", errors)
    except UnicodeError as error:
        raise TruncatedError(f"the text is not {encoding.upper()}, or is cut off in a character") from error


def _beginning(pieces: Iterator[bytes]) -> bytes:
    """Read and join pieces of a file until they are as long as a byte order mark, or the file ends."""
    first = b""
    while len(first) < len(_BOM) and (piece := next(pieces, b"")):
        first += piece
    return first


def encoding_of(path: Path) -> str:
    """Guess the codec of a text file that is not UTF-8.

    The whole file is read. A file counts as UTF-8 if it has a byte order mark, or if at least half of its
    non-ASCII characters are valid UTF-8: a few invalid lines do not mean that the file has another encoding.
    Many of the remaining files are almost pure ASCII, which leaves too few bytes for statistics. Therefore
    the Western codecs are tried first. One of them is chosen if it decodes nearly all non-ASCII bytes to
    typical characters. If none does, ``charset-normalizer`` guesses.

    Args:
        path: The file to read.

    Returns:
        The name of the codec; empty if the file is UTF-8 or not text.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    beyond, wrong, sample = 0, 0, b""
    try:
        if _beginning(_pieces(path, NoProgress())).startswith((_BOM, *_UTF_16)):
            return ""
        for piece in chunks(path, NoProgress()):
            # A NUL byte indicates binary data, or UTF-16 without a byte order mark.
            if b"\0" in piece:
                return ""
            text = decoder.decode(piece)
            if not text.isascii():
                beyond += len(_BEYOND_ASCII.findall(text))
                wrong += len(_UNDECODED.findall(text))
                # Collect bytes for guessing the codec. ASCII bytes are useless: all codecs decode them alike.
                sample += piece if len(sample) < CHUNK else b""
    except TruncatedError:
        pass
    # If at least half of the non-ASCII characters are valid UTF-8, the file is UTF-8. `beyond` counts all
    # non-ASCII characters, and `wrong` counts those that are invalid.
    if beyond >= 2 * wrong:
        return ""
    # Choose the first codec with a high share of typical characters. A wrong codec would decode the bytes
    # into characters that are rare in such texts.
    for codec, share in ((codec, _share_of_signs(sample, codec)) for codec in _WESTERN):
        if share > 0.9:
            return codec
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    return best.encoding if best is not None else _WESTERN[0]


def _share_of_signs(sample: bytes, codec: str) -> float:
    """Decode a sample with a codec, and return how much of the result is plausible Western European text.

    Returns:
        The fraction of the non-ASCII sequences in the decoded text that consist of one or two characters of
        `_SIGNS`, such as ``é``; 0 if the sample cannot be decoded.
    """
    try:
        places = re.findall(r"[^\x00-\x7f]+", sample.decode(codec))
    except UnicodeDecodeError:
        return 0.0
    return sum(len(place) <= 2 and _SIGNS.issuperset(place) for place in places) / max(len(places), 1)


def read_text(path: Path) -> str:
    """Return the content of a UTF-8 text file.

    Args:
        path: The file. A byte order mark at its beginning is left out.

    Returns:
        The text of the whole file.

    Raises:
        InputError: The file cannot be read, is a pipe or a device, or is not UTF-8.
    """
    try:
        _require_file(path)
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error

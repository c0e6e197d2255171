"""The content of input files as bytes of UTF-8, in pieces.

In: a path; the file is plain, gzip or zstd, in UTF-8, UTF-16 with a byte order mark, or an encoding that
`encoding_of` guesses. Out: its content, piece by piece, in flat memory.
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
_BOM = b"\xef\xbb\xbf"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_UNDECODED = re.compile(r"[\udc80-\udcff]")
_WESTERN = ("cp1252", "mac_roman")
_SIGNS = frozenset("‘’“”„…–—•·´«»¡¿£€¥§©®°º½¼²™×\xa0àáâãäåæçèéêëìíîïñòóôõöøœùúûüÿßÀÁÄÅÇÉÈÊÍÑÖØÚÜ")
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


class Refused(Exception):
    """An item can't become a record; its text is the reason. Loaders turn it into `Rejected`."""


class Damaged(Refused):
    """The compressed stream breaks off: nothing behind this place can be read."""


def head(path: Path, size: int = 1 << 16, encoding: str = "") -> bytes:
    """The first bytes of a file, as `chunks` has them; fewer where the compressed stream is damaged."""
    start = b""
    try:
        for chunk in chunks(path, NoProgress(), encoding):
            start += chunk
            if len(start) >= size:
                break
    except Damaged:
        with path.open("rb") as stored:
            start = start or stored.read(4)
    return start[:size]


def chunks(path: Path, progress: Progress, encoding: str = "") -> Iterator[bytes]:
    """The file's content in pieces, decompressed, without a byte order mark, and in UTF-8 where it is UTF-16
    with such a mark, or in an ``encoding``, the name of a codec; progress counts the bytes of the file as it
    is stored.

    Bytes that the encoding lacks stay as they are, which is no UTF-8.

    Raises:
        InputError: the file is missing, is no file but a pipe or a device, or can't be read.
        Damaged: the compressed stream is damaged or ends early, or text ends inside a character.
    """
    return filter(None, _as_utf8(_pieces(path, progress), encoding))


def _pieces(path: Path, progress: Progress) -> Iterator[bytes]:
    compression = ""
    try:
        _require_file(path)
        with path.open("rb") as stored:
            progress.start(path.name, path.stat().st_size, "B")
            start, done = stored.read(4), 0
            stored.seek(0)
            compression = next((name for magic, name in _COMPRESSED.items() if start.startswith(magic)), "")
            stream = _decompressed(stored, compression)
            try:
                while piece := stream.read(CHUNK):
                    progress.advance(stored.tell() - done)
                    done = stored.tell()
                    yield piece
                progress.advance(stored.tell() - done)
            finally:
                progress.finish()
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file") from error
    except (EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and (error.errno is not None or not compression):
            raise InputError(f"{path} can't be read: {error.strerror or error}") from error
        raise Damaged(f"the {compression} stream is damaged from here on ({error})") from error


def _require_file(path: Path) -> None:
    """Raises `InputError`: it is a pipe or a device, which may give nothing for ever, or no end."""
    try:
        mode = path.stat().st_mode
    except ValueError as error:
        raise InputError(f"{path} can't be read: {error}") from error
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise InputError(
            f"{path} is a pipe or a device, which can't be read twice: write it to a file, and name that"
        )


def _decompressed(stored: BinaryIO, compression: str) -> Any:
    if compression == "zstd":
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(stored, "r"), "zstd")
    return gzip.GzipFile(fileobj=stored) if compression else stored


def _as_utf8(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    first = _beginning(pieces)
    if first.startswith(_UTF_16):
        encoding, errors = "utf-16", "surrogatepass"
    else:
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
        raise Damaged(f"the text ends inside a character of {encoding.upper()}, or is none") from error


def _beginning(pieces: Iterator[bytes]) -> bytes:
    """The first piece, with as many more as a byte order mark takes."""
    first = b""
    while len(first) < len(_BOM) and (piece := next(pieces, b"")):
        first += piece
    return first


def encoding_of(path: Path) -> str:
    """The codec of a text that is no UTF-8, guessed from what it holds; empty where it is UTF-8 or no text.

    The file is read through. One with some lines that are no UTF-8 among more that are, or with a byte order
    mark, is UTF-8. In texts that are nearly all ASCII a few signs decide between those that Western systems
    wrote; where these make no sense, ``charset-normalizer`` guesses.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    beyond, wrong, sample = 0, 0, b""
    try:
        if _beginning(_pieces(path, NoProgress())).startswith((_BOM, *_UTF_16)):
            return ""
        for piece in chunks(path, NoProgress()):
            if b"\0" in piece:
                return ""
            text = decoder.decode(piece)
            if not text.isascii():
                beyond += len(_BEYOND_ASCII.findall(text))
                wrong += len(_UNDECODED.findall(text))
                sample += piece if len(sample) < CHUNK else b""
    except Damaged:
        pass
    if beyond >= 2 * wrong:
        return ""
    for codec, share in ((codec, _share_of_signs(sample, codec)) for codec in _WESTERN):
        if share > 0.9:
            return codec
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    return best.encoding if best is not None else _WESTERN[0]


def _share_of_signs(sample: bytes, codec: str) -> float:
    """Of the places beyond ASCII, those with one or two characters that texts in Western languages use."""
    try:
        places = re.findall(r"[^\x00-\x7f]+", sample.decode(codec))
    except UnicodeDecodeError:
        return 0.0
    return sum(len(place) <= 2 and _SIGNS.issuperset(place) for place in places) / max(len(places), 1)


def read_text(path: Path) -> str:
    """A text file.

    Raises `InputError`: it can't be read, or is no UTF-8.
    """
    try:
        _require_file(path)
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: no text in UTF-8 (byte {error.start})") from error

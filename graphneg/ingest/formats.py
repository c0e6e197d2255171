"""Telling formats apart by the first bytes of a file, so that a wrong file is one clear error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from graphneg.errors import InputError
from graphneg.ingest.reading import head
from graphneg.model import Record, Rejected

_PATIENCE = 50
"""So many refusals in a row, with nothing accepted, and a file of no known format is a wrong file."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format as its loader expects it, and how its first characters look."""

    loader: str
    expects: str
    matches: Callable[[str], bool]


def _all_of(*patterns: str) -> Callable[[str], bool]:
    compiled = [re.compile(pattern, re.MULTILINE) for pattern in patterns]
    return lambda text: all(pattern.search(text) for pattern in compiled)


_JSON = r"\A\s*[\[{]"
_PROSE = r"(?!\s*[\[{])"


def _is_frames(text: str) -> bool:
    return "<frameset" in text or text[257:262] == "ustar"


_FRAME_FILES = "PropBank frame files (XML, a directory or a tar archive of them)"

FORMATS = (
    Format(
        "dailydialog",
        "lines of utterances, each ended by __eou__",
        _all_of(r"\A" + _PROSE, r"__eou__"),
    ),
    Format(
        "dailydialog_pp",
        'JSON lines with "context" and "positive_responses"',
        _all_of(_JSON, r'"context"\s*:', r'"positive_responses"\s*:'),
    ),
    Format(
        "rgm_contradiction",
        'JSON lines with "utterances", "annotation_target_pair" and "contradictory_label_count"',
        _all_of(_JSON, r'"annotation_target_pair"\s*:', r'"contradictory_label_count"\s*:'),
    ),
    Format(
        "personachat",
        'JSON with "persona" and "dialogue" or with "personality" and "utterances", '
        'or ParlAI text ("1 your persona: ...")',
        lambda text: _PERSONA_JSON(text) or _PARLAI(text),
    ),
    Format(
        "topical_chat",
        'one JSON object of conversations with "content", "message" and "agent"',
        _all_of(_JSON, r'"content"\s*:', r'"message"\s*:', r'"agent"\s*:'),
    ),
    Format(
        "dialogues",
        'JSON lines with "id" and "turns", or a table with the columns dialogue, turn, speaker, text',
        lambda text: _TURNS(text) or _TABLE(text),
    ),
    Format("penman", "AMR graphs in PENMAN notation", _all_of(r"^\s*\(\s*[^\s()/]+\s*/")),
    Format(
        "conceptnet",
        "ConceptNet assertions (five columns: uri, relation, start, end, JSON) or a conceptnet-lite database",
        lambda text: text.startswith("SQLite format 3\0") or _ASSERTIONS(text),
    ),
    Format(
        "propbank",
        _FRAME_FILES,
        _is_frames,
    ),
    Format(
        "propbank_examples",
        _FRAME_FILES,
        _is_frames,
    ),
    Format(
        "wordnet",
        "WordNet's data files (data.noun, data.verb, data.adj, data.adv)",
        _all_of(r"^\d{8} \d\d [nvasr] [0-9a-f]{2} .*\| |\A  1 This software and database"),
    ),
)

_PERSONA_JSON = _all_of(_JSON, r'"(persona|personality)"\s*:', r'"(dialogue|utterances)"\s*:')
_PARLAI = _all_of(r"\A\s*1 .", r"^\d+ (your persona|partner's persona): |^\d+ .*\t")
_TURNS = _all_of(_JSON, r'"turns"\s*:')
_TABLE = _all_of(r"\A\W?(?=[^\n]*\bdialogue\b)(?=[^\n]*\bturn\b)[^\n]*\btext\b")
_ASSERTIONS = _all_of(r"^[^\t\n]*\t/r/\w+\t/c/[^\t\n]*\t")

_LABELS = re.compile(rb"[\d \r\n]*")

_BINARY = (
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x89PNG", "a PNG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive: unpack it first"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"7z\xbc\xaf", "a 7z archive: unpack it first"),
    (b"\xfd7zXZ", "an xz file: unpack it first"),
    (b"BZh", "a bzip2 file: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd file: unpack it first"),
    (b"\x1f\x8b", "a gzip file that is damaged"),
    (b"\xff\xfe", "UTF-16 text: save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text: save it as UTF-8"),
)


def checked(path: Path, loader: str, records: Iterable[Record]) -> Iterator[Record]:
    """Pass a file's records on, unless the file is not one that the loader reads.

    Raises:
        InputError: the file's beginning shows another format; or it shows no known format
            and none of its items (of the first fifty, in a long file) was accepted.
    """
    if looks_right(path, loader):
        yield from records
        return
    held: list[Rejected] = []
    remaining = iter(records)
    for record in remaining:
        if not isinstance(record, Rejected):
            yield from chain(held, (record,), remaining)
            return
        held.append(record)
        if len(held) >= _PATIENCE:
            break
    reason = f"{held[0].place}: {held[0].reason}" if held else "nothing in it could be read"
    raise InputError(
        f"{path} is no file for the loader {loader!r}, which reads {_expected(loader)}. {reason}"
    )


def recognised(path: Path, loader: str) -> bool:
    """Whether the file begins as the loader's format does."""
    return any(known.loader == loader for known in _fitting(head(path)))


def looks_right(path: Path, loader: str) -> bool:
    """Whether the file begins as the loader's format does; False where nothing speaks for any format.

    Raises:
        InputError: it begins as another format does, and not as the loader's.
    """
    start = head(path)
    if not start:
        raise InputError(f"{path} is empty: there is nothing to load")
    fitting = _fitting(start)
    if any(known.loader == loader for known in fitting):
        return True
    appearance = _binary(start)
    if appearance is None and fitting:
        appearance = f"a file for the loader {fitting[0].loader!r} ({fitting[0].expects})"
    if appearance is None and _LABELS.fullmatch(start):
        appearance = "a DailyDialog act or emotion file, which is read along with its dialogues_*.txt"
    if appearance is not None:
        raise InputError(f"{path} looks like {appearance}. The loader {loader!r} reads {_expected(loader)}")
    return False


def _fitting(start: bytes) -> list[Format]:
    text = start.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return [known for known in FORMATS if known.matches(text)]


def _binary(start: bytes) -> str | None:
    for magic, what in _BINARY:
        if start.startswith(magic):
            return what
    if start.count(0) > len(start) // 10:
        return "binary data, or UTF-16 text without a mark"
    return None


def _expected(loader: str) -> str:
    return next((known.expects for known in FORMATS if known.loader == loader), "another format")

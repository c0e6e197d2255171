"""Cuts texts into pieces that are cheap to parse, with the characters in their places."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

LONGEST = 1000
_APOSTROPHES = str.maketrans("’‘´`", "''''")
_APART = re.compile(
    r"(?<=\w)( ?)'( ?)(?=(?:s|m|re|ll|ve|d)\b)"
    r"|(?<=n)( ?)'( ?)(?=t\b)"
    r"|\b(?:Mr|Mrs|Ms|Dr|No)( )(?=\.)"
    r"|\b[ap]( )\.( )?m( )?(?=\.)",
    re.IGNORECASE,
)
_CAPITAL = re.compile(r"(?<=\w ' )(?:Ve|Ll|Re)\b")
_CUT = re.compile(r"[.!?…。！？]+[\"'”’)\]]*\s")
_NO_TEXT = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp", "Zs"})


def readable(text: str) -> str:
    """The text with a space for each character that is none, of the same length.

    >>> readable("a\\x00b\\ud800")
    'a b '
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        " " if not one.isprintable() and unicodedata.category(one) in _NO_TEXT else one for one in text
    )


def _lowered(match: re.Match[str]) -> str:
    return match.group().lower()


def tightened(text: str) -> tuple[str, tuple[int, ...] | None]:
    """The text with its contractions written tightly, and where each of its characters stood.

    Corpora write *I ’ m* and *can ’ t*; spaCy knows *I'm* and *can't*. ``None`` says that every
    character stands where it stood. The *n* of *n't* is put where the apostrophe stood, so that
    what is negated keeps its own characters.

    >>> tightened("I ’ m in")
    ("I'm in", (0, 2, 4, 5, 6, 7))
    """
    plain = _CAPITAL.sub(_lowered, text.translate(_APOSTROPHES))
    dropped: set[int] = set()
    moved: dict[int, int] = {}
    for match in _APART.finditer(plain):
        gaps = [match.start(n) for n in range(1, 9) if match.group(n)]
        dropped.update(gaps)
        if gaps and plain[match.end() : match.end() + 1] in {"t", "T"}:
            moved[match.start() - 1] = match.start() + match.group().index("'")
    if not dropped:
        return plain, None
    kept = [k for k in range(len(plain)) if k not in dropped]
    return "".join(plain[k] for k in kept), tuple(moved.get(k, k) for k in kept)


def pieces(text: str, longest: int = LONGEST) -> Iterator[tuple[int, str]]:
    """The text's pieces with their places, none longer than ``longest`` characters.

    Cut behind the last end of a sentence that fits, else at a space, else anywhere.

    >>> list(pieces("It rained. We stayed in.", 14))
    [(0, 'It rained. '), (11, 'We stayed in.')]
    """
    start = 0
    while len(text) - start > longest:
        window = text[start : start + longest]
        ends = [match.end() for match in _CUT.finditer(window)]
        cut = ends[-1] if ends else window.rfind(" ") + 1 or longest
        yield start, window[:cut]
        start += cut
    if start < len(text) or not text:
        yield start, text[start:]

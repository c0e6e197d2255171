"""A sentence under edit: words that remember where they came from, and the way back to text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from graphneg.amr.alignment import Aligner, Span, align
from graphneg.amr.concept_words import PRONOUNS
from graphneg.decoders.surface.forms import article, pronoun_cases
from graphneg.english.noun_kinds import is_frame, lexeme
from graphneg.english.tagging import tag
from graphneg.english.tokens import TextSpan, tokenize
from graphneg.english.words import readings
from graphneg.model import AmrGraph

# A sentence under edit: words that remember where they came from, and the way back to text.
#
# Words that no edit touches keep their characters and the white space before them. New words follow the
# spacing of the text: apart from punctuation and clitics in tokenised text, joined to them in raw text.


_TOKENISED = re.compile(
    r"\w [.,!?;:]+(?:\s|$)|^[\"'] \w|\S [\"']\s*$| - - |\w n['’]t\b|\w ['’](?:s|m|re|ll|ve|d)\b"
)
_CLOSING = frozenset(".,!?;:)]}%…")
_OPENING = frozenset("([{$#«“‘")
_QUOTES = frozenset("\"'“”‘’«»`")
_CLITICS = frozenset({"n't", "'s", "'m", "'re", "'ve", "'ll", "'d"})


@dataclass(eq=False, slots=True)
class Cell:
    """A word or a mark. ``home`` is its place in the original text, -1 for a new one."""

    text: str
    tag: str
    home: int = -1
    gap: str = ""
    initial: bool = False

    @property
    def low(self) -> str:
        return self.text.lower().replace("’", "'")


def new(text: str, tag: str) -> Cell:
    """A word that the original text does not have."""
    return Cell(text, tag)


def is_quote(cell: Cell) -> bool:
    return cell.text in _QUOTES


class Draft:
    """The cells of a text. Handlers change ``cells`` in place; ``text()`` writes them out."""

    def __init__(self, cells: Sequence[Cell], text: str) -> None:
        self.cells = list(cells)
        self.original = text
        self.tokenised = _TOKENISED.search(text) is not None
        self.capitals = any(cell.initial and cell.text[:1].isupper() for cell in cells) or not any(
            cell.text[:1].isalpha() for cell in cells
        )
        self.contracts = any(cell.low in _CLITICS and cell.tag != "POS" for cell in cells)
        self.curly = "’" in text

    def place(self, cell: Cell) -> int:
        """The index of a cell, -1 where it has been removed."""
        for index, other in enumerate(self.cells):
            if other is cell:
                return index
        return -1

    def places(self, cells: Iterable[Cell]) -> list[int]:
        wanted = {id(cell) for cell in cells}
        return [index for index, cell in enumerate(self.cells) if id(cell) in wanted]

    def insert(self, index: int, *cells: Cell) -> None:
        self.cells[index:index] = cells

    def cut(self, start: int, end: int) -> list[Cell]:
        taken = self.cells[start:end]
        del self.cells[start:end]
        return taken

    def rewrite(self, cell: Cell, text: str, tag: str | None = None) -> None:
        """Gives a cell other words; capitals at the start of a sentence are put back by ``text()``."""
        if cell.low in _CLITICS and text.lower() not in _CLITICS:
            cell.home = -1
        if cell.initial and text != "I":
            text = text[:1].upper() + text[1:] if cell.text[:1].isupper() else text
        cell.text = text
        if tag is not None:
            cell.tag = tag

    def text(self) -> str:
        """The edited text."""
        self._tidy_marks()
        self._fix_articles()
        self._fix_capitals()
        parts: list[str] = []
        for index, cell in enumerate(self.cells):
            before = self.cells[index - 1] if index else None
            parts.append(
                self._gap(before, cell) + (cell.text.replace("'", "’") if self._curl(cell) else cell.text)
            )
        tail = self.original[len(self.original.rstrip()) :]
        return "".join(parts) + tail

    def _curl(self, cell: Cell) -> bool:
        return self.curly and cell.home < 0 and len(cell.text) > 1

    def _gap(self, before: Cell | None, cell: Cell) -> str:
        if before is None:
            return self.original[: len(self.original) - len(self.original.lstrip())]
        if cell.home > 0 and before.home == cell.home - 1:
            return cell.gap
        if self.tokenised:
            return " "
        if cell.low in _CLITICS or cell.text[:1] in _CLOSING or before.text[-1:] in _OPENING:
            return ""
        if is_quote(cell) or is_quote(before):
            return self._quote_gap(before, cell)
        return " "

    def _quote_gap(self, before: Cell, cell: Cell) -> str:
        if is_quote(cell):
            return cell.gap if cell.home >= 0 else " "
        following = next((other for other in self.cells if other.home == before.home + 1), None)
        opening = before.gap != "" or before.home == 0
        return "" if opening else (following.gap if following is not None else " ")

    def _tidy_marks(self) -> None:
        """Drops marks that edits left without words: doubled commas, a comma before a full stop."""
        kept: list[Cell] = []
        for cell in self.cells:
            last = kept[-1] if kept else None
            apart = last is None or last.home != cell.home - 1 or cell.home < 0
            if cell.text in (",", ";", ":", "--", "-", "–") and apart:
                if last is None or last.tag in ("EN", "PU") or last.text in _OPENING:
                    continue
            elif cell.tag == "EN" and apart and last is not None:
                if last.text in (",", ";"):
                    kept.pop()
                elif last.tag == "EN":
                    continue
            kept.append(cell)
        self.cells[:] = kept

    def _fix_articles(self) -> None:
        for cell, following in zip(self.cells, self.cells[1:], strict=False):
            if cell.low in ("a", "an") and cell.tag == "DT" and following.text[:1].isalnum():
                untouched = cell.home >= 0 and following.home == cell.home + 1
                wanted = article(following.text)
                if wanted != cell.low and (not untouched or _changed(self.original, following)):
                    cell.text = wanted.capitalize() if cell.text[0].isupper() else wanted

    def _fix_capitals(self) -> None:
        for cell, initial in zip(self.cells, initials(self.cells), strict=True):
            if cell.initial == initial and cell.home >= 0:
                continue
            if initial and self.capitals:
                cell.text = cell.text[:1].upper() + cell.text[1:]
            elif cell.initial and not initial and cell.tag != "NNP" and not _keeps_capital(cell.text):
                cell.text = cell.text[:1].lower() + cell.text[1:]


def initials(cells: Sequence[Cell]) -> list[bool]:
    """Which words open a sentence, so that a capital on them says nothing."""
    found: list[bool] = []
    opens, quoted = True, False
    for index, cell in enumerate(cells):
        if is_quote(cell) or cell.text in _OPENING:
            after_mark = index == 0 or cells[index - 1].text in (",", ":", "-", "--")
            opening = not quoted if cell.text not in ("'", "’") else False
            opens = opens or (
                opening and after_mark and index + 1 < len(cells) and cells[index + 1].text[:1].isupper()
            )
            quoted = not quoted if cell.text == '"' else quoted
            found.append(False)
        elif cell.tag == "EN":
            found.append(False)
            opens = cell.text[0] in ".!?" and not cell.text.startswith("..")
            nxt = cells[index + 1] if index + 1 < len(cells) else None
            if (
                nxt is not None
                and is_quote(nxt)
                and index + 2 < len(cells)
                and cells[index + 2].text[:1].islower()
            ):
                opens = False
        elif cell.tag == "PU" and not cell.text[:1].isalnum():
            found.append(False)
        else:
            found.append(opens)
            opens = False
    return found


def _changed(original: str, cell: Cell) -> bool:
    return re.search(rf"\ban? +{re.escape(cell.text)}\b", original, re.IGNORECASE) is None


def _keeps_capital(word: str) -> bool:
    return word == "I" or word[1:] != word[1:].lower()


def after_determiner(cells: Sequence[Cell], place: int) -> bool:
    """Whether a noun must stand here, whatever it looks like: *take some exercise*, *a walk*."""
    if not place:
        return False
    before = cells[place - 1]
    if before.low in ("some", "any"):
        return place > 1 and cells[place - 2].tag in ("IN", "VB", "VBP", "VBZ", "VBD", "VBN", "VBG")
    return before.low in ("a", "an", "the", "every") or before.tag == "PS"


# What the decoder knows of a sentence before it edits: tokens, alignment, tags. Kept per utterance.


_KEPT = 1024


@dataclass(frozen=True, slots=True)
class Reading:
    """A text with its tokens, their tags, and the span of each node of its graph."""

    text: str
    graph: AmrGraph
    tokens: tuple[TextSpan, ...]
    tags: tuple[str, ...]
    spans: dict[int, Span]
    words_of: dict[int, tuple[int, ...]]

    def draft(self) -> tuple[Draft, dict[int, list[Cell]]]:
        """Fresh cells to edit, and the cells of each node."""
        cells: list[Cell] = []
        end = 0
        for place, (token, tagged) in enumerate(zip(self.tokens, self.tags, strict=True)):
            cells.append(Cell(token.text, tagged, place, self.text[end : token.start]))
            end = token.end
        for cell, initial in zip(cells, initials(cells), strict=True):
            cell.initial = initial
        owned = {k: [cells[place] for place in places] for k, places in self.words_of.items()}
        return Draft(cells, self.text), owned


class Readings:
    """Readings by text and graph; the last thousand are kept."""

    def __init__(self, aligner: Aligner = align) -> None:
        self._read = lru_cache(maxsize=_KEPT)(partial(_read, aligner))

    def of(self, text: str, graph: AmrGraph) -> Reading:
        return self._read(_Key(text, graph))


class _Key:
    """Equal for the same text and the same graph object or graph id and nodes."""

    __slots__ = ("graph", "text")

    def __init__(self, text: str, graph: AmrGraph) -> None:
        self.text = text
        self.graph = graph

    def __hash__(self) -> int:
        return hash((self.text, self.graph.id, len(self.graph.nodes)))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Key)
            and self.text == other.text
            and (self.graph is other.graph or self.graph.nodes == other.graph.nodes)
        )


def _read(aligner: Aligner, key: _Key) -> Reading:
    tokens = tokenize(key.text)
    words = [token.text for token in tokens]
    spans = aligner(key.graph, words)
    tags = list(tag(words, _evidence(key.graph, spans, words)))
    for place in _names(key.graph, spans):
        if words[place][:1].isupper():
            tags[place] = "NNP"
    return Reading(key.text, key.graph, tokens, tuple(tags), spans, _mentions(key.graph, spans, words))


def _names(graph: AmrGraph, spans: dict[int, Span]) -> set[int]:
    """The tokens that are parts of names, which are written with a capital wherever they stand."""
    parts = (node for node in graph.nodes if node.value is not None and node.up is not None)
    named = [node.k for node in parts if graph.nodes[node.up or 0].concept == "name"]
    return {place for k in named if k in spans for place in range(*spans[k])}


def _evidence(graph: AmrGraph, spans: dict[int, Span], words: list[str]) -> dict[int, str]:
    """What the graph says of a token: a verb, a predicate by another name, or neither."""
    found: dict[int, str] = {}
    for k, (start, end) in spans.items():
        concept = graph.nodes[k].concept
        if concept is None:
            continue
        if is_frame(concept):
            lemma = lexeme(concept).split(" ")[0]
            verbs = readings(words[start].lower()).get("VERB", ())
            found[start] = "verb" if lemma in verbs else "predicate"
        elif end == start + 1:
            found.setdefault(start, "plain")
    return found


def _mentions(graph: AmrGraph, spans: dict[int, Span], words: list[str]) -> dict[int, tuple[int, ...]]:
    """The tokens of each node: its span; for a pronoun every form of it that no like node is nearer to."""
    found = {k: tuple(range(*span)) for k, span in spans.items()}
    by_person: dict[str, list[int]] = {}
    for node in graph.nodes:
        if node.concept in PRONOUNS and node.concept != "one":
            by_person.setdefault(node.concept, []).append(node.k)
    if not by_person:
        return found
    taken = {
        place for k, places in found.items() if graph.nodes[k].concept not in by_person for place in places
    }
    for place, word in enumerate(words):
        if place in taken or (word.lower() == "its" and "it" not in by_person):
            continue
        for person in {person for person, _ in pronoun_cases(word)} & by_person.keys():
            k = min(by_person[person], key=lambda one: abs(spans.get(one, (10**6, 0))[0] - place))
            if place not in found.get(k, ()) and not _dummy(word, words, place):
                found[k] = tuple(sorted((*found.get(k, ()), place)))
    return found


def _dummy(word: str, words: list[str], place: int) -> bool:
    """``It is time``, ``it is for that purpose that``: an ``it`` that stands for nothing."""
    if word.lower() != "it":
        return False
    return (
        re.match(
            r"(?i)(?:is|was|'s|will|would|might) (?:\w+ )*?(?:that|to|for|time|who)\b",
            " ".join(words[place + 1 : place + 7]),
        )
        is not None
    )


# Texts whose apostrophes stand apart on both sides: ``It ’ s late``, ``I don ’ t know``.
#
# They are read as if they were joined to their words, and written back as they were.


_APART = re.compile(r"(?<=\w) (['’]) (s|m|re|ll|ve|d|t)\b", re.IGNORECASE)
_NOT = re.compile(r" ?n(['’])t\b", re.IGNORECASE)
_JOINED = re.compile(r" ?(['’])(s|m|re|ll|ve|d)\b", re.IGNORECASE)


def stands_apart(text: str) -> bool:
    """Whether all of a text's contractions are written that way.

    >>> stands_apart("It ’ s late ."), stands_apart("It's late.")
    (True, False)
    """
    return _APART.search(text) is not None and taken_apart(joined(text)) == text


def joined(text: str) -> str:
    """The text with its contractions joined.

    >>> joined("It ’ s late , I don ’ t know .")
    'It’s late , I don’t know .'
    """
    return _APART.sub(r"\1\2", text)


def taken_apart(text: str, like: str = "") -> str:
    """The text with the apostrophes of its contractions apart, all of them as in the text ``like``.

    >>> taken_apart("It’s late , I do n’t know .")
    'It ’ s late , I don ’ t know .'
    >>> taken_apart("You're late .", like="I ’ m late .")
    'You ’ re late .'
    """
    found = _APART.search(like)
    mark = found.group(1) if found is not None else r"\1"
    return _JOINED.sub(rf" {mark} \2", _NOT.sub(rf"n {mark} t", text))

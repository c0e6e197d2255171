"""A sentence under edit: words that remember where they came from, and the way back to text.

Words that no edit touches keep their characters and the white space before them. New words follow the
spacing of the text: apart from punctuation and clitics in tokenised text, joined to them in raw text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphneg.decoders.surface.forms import article

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

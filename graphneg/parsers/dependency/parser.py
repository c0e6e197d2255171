"""The ``dependency`` parser: texts in, graphs with exact token spans out, whatever the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from graphneg.model import AmrGraph
from graphneg.parsers.base import EMPTY, Parsed
from graphneg.parsers.dependency.assemble import assemble
from graphneg.parsers.dependency.closing import Reviser, revised
from graphneg.parsers.dependency.doubts import doubts
from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.models import load_model, model_version, resolve_model
from graphneg.parsers.dependency.pieces import pieces, readable, tightened
from graphneg.parsers.dependency.rules import write_draft, write_word
from graphneg.parsers.dependency.words import Word, read_words

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

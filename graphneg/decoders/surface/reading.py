"""What the decoder knows of a sentence before it edits: tokens, alignment, tags. Kept per utterance."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache, partial

from graphneg.alignment import Aligner, Span, Token, align, tokenize
from graphneg.alignment.concepts import PRONOUNS
from graphneg.alignment.words import readings
from graphneg.decoders.surface.draft import Cell, Draft, initials
from graphneg.decoders.surface.forms import pronoun_cases
from graphneg.decoders.surface.tagging import tag
from graphneg.lexeme import is_frame, lexeme
from graphneg.model import AmrGraph

_KEPT = 1024


@dataclass(frozen=True, slots=True)
class Reading:
    """A text with its tokens, their tags, and the span of each node of its graph."""

    text: str
    graph: AmrGraph
    tokens: tuple[Token, ...]
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

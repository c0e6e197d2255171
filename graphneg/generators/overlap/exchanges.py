"""A retrieved sentence brought nearer to the context: one of its nouns becomes one of the context's.

The sentence is parsed, a noun that is an argument is ``set`` to another concept, and the surface
decoder puts the edited graph back into the sentence's own words, as it does for transforms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graphneg.alignment import tokenize
from graphneg.alignment.words import readings
from graphneg.content_words import word_set
from graphneg.decoders import Decoder, get_decoder
from graphneg.editing.overlay import apply_edits
from graphneg.errors import TransformError
from graphneg.generators.base import Candidate, Context
from graphneg.hashing import number, shuffled
from graphneg.model import AmrGraph, AmrNode, Edit, EditedUtterance, Negative
from graphneg.parsers import get_parser
from graphneg.parsers.base import CheckedParser

_OPERATION = "exchange"
_ARGUMENTS = frozenset({"ARG0", "ARG1", "ARG2"})
_LIGHT = word_set(
    """
    both each half thing something anything everything nothing someone anyone everyone nobody person one
    this that what who i you he she it we they all some any way lot kind sort bit time today tomorrow
    yesterday
    """
)
_FOUND = "found"
_SCALE = 2**64


@dataclass(frozen=True, slots=True)
class _Place:
    """A noun of a sentence that may become another."""

    k: int
    concept: str


class Exchanges:
    """Exchanges a noun in a ``share`` of the candidates, drawn by hash."""

    def __init__(self, share: float, category: str) -> None:
        self._share = share
        self._category = category
        self._parser: CheckedParser = get_parser("dependency")
        self._decoder: Decoder = get_decoder("surface")

    def applied(self, contexts: Sequence[Context], given: list[list[Candidate]], seed: int) -> None:
        """Put exchanged candidates in place of those that are drawn; what can't be, stays."""
        chosen = [
            (at, place)
            for at, candidates in enumerate(given)
            for place, one in enumerate(candidates)
            if number(seed, "exchange", contexts[at].id, one.text) < self._share * _SCALE
        ]
        words = self._words([contexts[at] for at, _ in chosen])
        graphs = self._graphs([given[at][place].text for at, place in chosen])
        for (at, place), graph in zip(chosen, graphs, strict=True):
            context = contexts[at]
            if graph is not None:
                order = shuffled(words[context.id], seed, "word", context.id, given[at][place].text)
                given[at][place] = self._exchanged(given[at][place], graph, order)

    def _exchanged(self, candidate: Candidate, graph: AmrGraph, words: Sequence[str]) -> Candidate:
        said = {node.label for node in graph.nodes}
        shared = set(candidate.details.get("shared", "").split(", "))
        for noun in _nouns(graph):
            if noun.concept in shared:
                continue
            for word in words:
                if word in said:
                    continue
                text = self._text(candidate.text, graph, noun, word)
                if text is not None:
                    old = _written(candidate.text, graph, noun)
                    swap = {"exchanged": f"{old} > {word}", _FOUND: candidate.text}
                    details = {**candidate.details, **swap}
                    return replace(candidate, text=text, details=details)
        return candidate

    def _text(self, text: str, graph: AmrGraph, noun: _Place, word: str) -> str | None:
        edit = Edit(
            transform=_OPERATION, category=self._category, site=str(noun.k), op="set", amr=graph.id, k=noun.k,
            concept=word,
        )  # fmt: skip
        try:
            after = apply_edits(graph, [edit], {})
        except TransformError:
            return None
        asked = EditedUtterance(graph.id, "", text, graph, after, (edit,))
        return self._decoder.decode([asked])[0].text

    def _words(self, contexts: Sequence[Context]) -> dict[str, list[str]]:
        """The nouns of each context, by its id."""
        distinct = {context.id: context for context in contexts}
        turns = [(id, turn.text) for id, context in distinct.items() for turn in context.turns]
        found: dict[str, list[str]] = {id: [] for id in distinct}
        for (id, _), graph in zip(turns, self._graphs([text for _, text in turns]), strict=True):
            if graph is not None:
                found[id] += [noun.concept for noun in _nouns(graph)]
        return {id: list(dict.fromkeys(words)) for id, words in found.items()}

    def _graphs(self, texts: Sequence[str]) -> list[AmrGraph | None]:
        return [parsed.graph for parsed in self._parser.parse_batch(texts)] if texts else []


def found_text(negative: Negative) -> str:
    """The sentence of the pool that a negative was, before a noun was exchanged.

    A run that goes on counts by it how often sentences were used.
    """
    made_of = str(negative.edits[0]["before"] or "") if negative.edits else ""
    return made_of.partition(f"; {_FOUND}: ")[2] or negative.response


def _written(text: str, graph: AmrGraph, noun: _Place) -> str:
    """The noun as the text has it: a concept may be spelled otherwise (*neighbour* is neighbor)."""
    span = graph.spans.get(noun.k)
    return tokenize(text)[span[0]].text if span else noun.concept


def _nouns(graph: AmrGraph) -> Iterator[_Place]:
    """Nouns without anything below them that are an argument of something."""
    mentioned = {mention.target for mention in graph.mentions}
    for node in graph.nodes:
        if node.role in _ARGUMENTS and node.last == node.k and node.k not in mentioned and _is_noun(node):
            yield _Place(node.k, node.concept or "")


def _is_noun(node: AmrNode) -> bool:
    """Whether the concept is a word that is a noun and no adjective."""
    concept = node.concept
    if concept is None or not concept.isalpha() or not concept.islower() or concept in _LIGHT:
        return False
    known = readings(concept)
    return "NOUN" in known and not {"ADJ", "ADV"} & known.keys()

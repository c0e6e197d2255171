"""Replace a noun of a retrieved sentence by a noun of the context.

This brings the sentence closer to the context without answering it::

    context    A: The court meets on Monday.
    found      She left a copy at the front desk.
    edited     She left a court at the front desk.

The sentence is parsed to AMR. A noun is replaced only if the selectional preferences of its predicate admit
the new one (`graphneg.amr.facts`, as in the transform ``graft``). The surface decoder then edits the words of
the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from graphneg.amr.facts import facts
from graphneg.amr.overlay import apply_edits
from graphneg.decoders.base import get_decoder
from graphneg.english.takes import sort_of
from graphneg.english.tokens import tokenize
from graphneg.errors import TransformError
from graphneg.generators.base import UNRELATED, Candidate, Context
from graphneg.hashing import number, shuffled
from graphneg.model import AmrGraph, AmrNode, Edit, EditedUtterance, Negative
from graphneg.parsers.base import get_parser

FOUND = "found"
"""Key of a candidate's details that holds the sentence as it was found."""
_SCALE = 2**64
"""Range of a 64-bit hash."""


class NounSubstitution:
    """Replaces a noun in a share of the candidates."""

    def __init__(self, share: float) -> None:
        """Initialize the parser and the decoder.

        Args:
            share: Share of the candidates to edit, from 0 to 1.
        """
        self._share = share
        self._parser = get_parser("dependency")
        self._decoder = get_decoder("surface")

    def apply(self, contexts: Sequence[Context], given: list[list[Candidate]], seed: int) -> None:
        """Edit a random share of the candidates in place; those without a suitable noun stay.

        Args:
            contexts: The contexts.
            given: The candidates of each context.
            seed: Seed of the random choices.
        """
        chosen = [
            (at, slot)
            for at, candidates in enumerate(given)
            for slot, candidate in enumerate(candidates)
            if number(seed, "exchange", contexts[at].id, candidate.text) < self._share * _SCALE
        ]
        # All texts are parsed in two batches: first the contexts, then the candidates.
        words = self._words([contexts[at] for at, _ in chosen])
        graphs = self._graphs([given[at][slot].text for at, slot in chosen])
        for (at, slot), graph in zip(chosen, graphs, strict=True):
            id, candidate = contexts[at].id, given[at][slot]
            if graph is not None:
                order = shuffled(words[id], seed, "word", id, candidate.text)
                given[at][slot] = self._substituted(candidate, graph, order)

    def _substituted(self, candidate: Candidate, graph: AmrGraph, words: Sequence[str]) -> Candidate:
        """Return the candidate with a noun replaced by the first suitable noun of the context, if any."""
        said = {node.label for node in graph.nodes}
        shared = set(candidate.details.get("shared", "").split(", "))
        # Words that the sentence shares with the context stay: they are why it was retrieved.
        nouns = (at for at in _nouns(graph, candidate.text) if at[0].concept not in shared)
        for (noun, takes), word in product(nouns, [word for word in words if word not in said]):
            # "eat" takes food, so "bread" may become "soup", but not "court".
            if (sort_of(word) or word) not in takes:
                continue
            edit = Edit(
                transform="exchange", category=UNRELATED, site=str(noun.k), op="set", amr=graph.id, k=noun.k,
                concept=word,
            )  # fmt: skip
            try:
                after = apply_edits(graph, [edit], {})
            except TransformError:
                # The edit would make a malformed graph; another noun may work.
                continue
            edited = EditedUtterance(graph.id, "", candidate.text, graph, after, (edit,))
            text = self._decoder.decode([edited])[0].text
            if text is not None:
                # A concept may differ from the word in the text: "neighbour" has the concept "neighbor".
                span = graph.spans.get(noun.k)
                before = tokenize(candidate.text)[span[0]].text if span else noun.concept
                details = {"exchanged": f"{before} > {word}", FOUND: candidate.text}
                return replace(candidate, text=text, details={**candidate.details, **details})
        return candidate

    def _words(self, contexts: Sequence[Context]) -> dict[str, list[str]]:
        """Return the nouns of each context, by the context's id."""
        distinct = {context.id: context for context in contexts}
        turns = [(id, turn.text) for id, context in distinct.items() for turn in context.turns]
        found: dict[str, list[str]] = {id: [] for id in distinct}
        for (id, text), graph in zip(turns, self._graphs([text for _, text in turns]), strict=True):
            if graph is not None:
                # Only nouns of a known class can be compared with what a predicate takes.
                known = zip(graph.nodes, facts(graph, text), strict=True)
                found[id] += [node.concept or "" for node, of in known if of.get("topic") and of.get("sort")]
        return {id: list(dict.fromkeys(words)) for id, words in found.items()}

    def _graphs(self, texts: Sequence[str]) -> list[AmrGraph | None]:
        """Parse texts; None for a text without a graph."""
        return [parsed.graph for parsed in self._parser.parse_batch(texts)] if texts else []


def found_text(negative: Negative) -> str:
    """Return the pool sentence that a negative was made from.

    A resumed run counts by it how often each sentence was used.

    Args:
        negative: A negative of ``overlap`` or ``hard``.

    Returns:
        The sentence before it was edited or extended.
    """
    made_of = str(negative.edits[0]["before"] or "") if negative.edits else ""
    return made_of.partition(f"; {FOUND}: ")[2] or negative.response


def _nouns(graph: AmrGraph, text: str) -> Iterator[tuple[AmrNode, Sequence[str]]]:
    """Yield the replaceable nouns, each with the noun classes (or rare nouns) that its predicate takes."""
    for node, known in zip(graph.nodes, facts(graph, text), strict=True):
        if known.get("open_to") and known.get("takes"):
            yield node, known["takes"]

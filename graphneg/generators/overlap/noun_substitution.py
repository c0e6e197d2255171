"""Replace a noun of a retrieved sentence by a noun of the context.

The edited sentence is closer to the context, but still does not answer the context::

    context    A: The court meets on Monday.
    found      She left a copy at the front desk.
    edited     She left a court at the front desk.

The retrieved sentence is parsed into an AMR graph. A noun is replaced only if the selectional preferences of
its predicate allow the new noun (`graphneg.amr.facts`). For example, the object of *eat* must be food. The
surface decoder then writes the text of the edited graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from graphneg.amr.facts import facts
from graphneg.amr.overlay import apply_edits
from graphneg.decoders.base import get_decoder
from graphneg.english.selectional_preferences import noun_cluster
from graphneg.english.tokens import tokenize
from graphneg.errors import TransformError
from graphneg.generators.base import UNRELATED, Candidate, Context
from graphneg.hashing import number, shuffled
from graphneg.model import AmrGraph, AmrNode, Edit, EditedUtterance, Negative
from graphneg.parsers.base import get_parser

FOUND = "found"
"""Key in a candidate's provenance under which the retrieved sentence is stored, as it was before a noun was
replaced or a second sentence was added."""
_SCALE = 2**64
"""Number of possible values of a 64-bit hash."""


class NounSubstitution:
    """Replaces a noun by a noun of the context, in a random fraction of the candidates."""

    def __init__(self, share: float) -> None:
        """Initialize the parser and the decoder with which sentences are edited.

        Args:
            share: Fraction of the candidates in which a noun is replaced, from 0 to 1.
        """
        self._share = share
        self._parser = get_parser("dependency")
        self._decoder = get_decoder("surface")

    def apply(self, contexts: Sequence[Context], candidates: list[list[Candidate]], seed: int) -> None:
        """Replace a noun in a random fraction of the candidates, in place.

        A drawn candidate stays unchanged if no noun of the context suits it.

        Args:
            contexts: Contexts of the candidates.
            candidates: For each context, the list of its candidates, which is updated.
            seed: Seed for drawing the candidates and the nouns.
        """
        chosen = [
            (at, slot)
            for at, candidates in enumerate(candidates)
            for slot, candidate in enumerate(candidates)
            if number(seed, "exchange", contexts[at].id, candidate.text) < self._share * _SCALE
        ]
        # Parse all texts in two batches: first the turns of the contexts, then the candidates.
        words = self._words([contexts[at] for at, _ in chosen])
        graphs = self._graphs([candidates[at][slot].text for at, slot in chosen])
        for (at, slot), graph in zip(chosen, graphs, strict=True):
            id, candidate = contexts[at].id, candidates[at][slot]
            if graph is not None:
                order = shuffled(words[id], seed, "word", id, candidate.text)
                candidates[at][slot] = self._substituted(candidate, graph, order)

    def _substituted(self, candidate: Candidate, graph: AmrGraph, words: Sequence[str]) -> Candidate:
        """Replace one noun by one of ``words``. If no noun is suitable, return the candidate unchanged."""
        said = {node.label for node in graph.nodes}
        shared = set(candidate.provenance.get("shared", "").split(", "))
        # Do not replace a word that also occurs in the context, because the sentence was retrieved for this
        # word.
        nouns = (at for at in _nouns(graph, candidate.text) if at[0].concept not in shared)
        for (noun, takes), word in product(nouns, [word for word in words if word not in said]):
            # For example, the object of "eat" must be food: "soup" may replace "bread", but "court" may not.
            if (noun_cluster(word) or word) not in takes:
                continue
            edit = Edit(
                transform="exchange", category=UNRELATED, site=str(noun.position), op="set", amr=graph.id,
                position=noun.position, concept=word,
            )  # fmt: skip
            try:
                after = apply_edits(graph, [edit], {})
            except TransformError:
                # The edited graph would not be well-formed. Try the next pair: a noun in the sentence, and a
                # noun of the context that replaces it.
                continue
            edited = EditedUtterance(graph.id, "", candidate.text, graph, after, (edit,))
            text = self._decoder.decode([edited])[0].text
            if text is not None:
                # Take the replaced word from the text, because its concept may be spelled differently: the
                # concept of "neighbour" is "neighbor".
                span = graph.spans.get(noun.position)
                before = tokenize(candidate.text)[span[0]].text if span else noun.concept
                details = {"exchanged": f"{before} > {word}", FOUND: candidate.text}
                return replace(candidate, text=text, provenance={**candidate.provenance, **details})
        return candidate

    def _words(self, contexts: Sequence[Context]) -> dict[str, list[str]]:
        """Return the nouns of each context that can replace a noun of a sentence, keyed by context id."""
        distinct = {context.id: context for context in contexts}
        turns = [(id, turn.text) for id, context in distinct.items() for turn in context.turns]
        found: dict[str, list[str]] = {id: [] for id in distinct}
        for (id, text), graph in zip(turns, self._graphs([text for _, text in turns]), strict=True):
            if graph is not None:
                # Whether a noun can replace another noun depends on its noun class ("court" is no food). So
                # use only nouns whose class is known.
                known = zip(graph.nodes, facts(graph, text), strict=True)
                found[id] += [
                    node.concept or "" for node, of in known if of.get("topical") and of.get("noun_class")
                ]
        return {id: list(dict.fromkeys(words)) for id, words in found.items()}

    def _graphs(self, texts: Sequence[str]) -> list[AmrGraph | None]:
        """Return the graph of each text, or None in place of a graph if a text could not be parsed."""
        return [parsed.graph for parsed in self._parser.parse_batch(texts)] if texts else []


def pool_sentence_of(negative: Negative) -> str:
    """Return the sentence of the pool from which a negative was made.

    A resumed run needs this sentence to count how often each sentence of the pool was used.

    Args:
        negative: Negative that ``overlap`` or ``hard`` made.

    Returns:
        The sentence as it was before a noun was replaced or a second sentence was added.
    """
    made_of = (negative.edits[0].before or "") if negative.edits else ""
    return made_of.partition(f"; {FOUND}: ")[2] or negative.response


def _nouns(graph: AmrGraph, text: str) -> Iterator[tuple[AmrNode, Sequence[str]]]:
    """Yield the nouns of a sentence that can be replaced, each with the noun classes its predicate allows."""
    for node, known in zip(graph.nodes, facts(graph, text), strict=True):
        if known.get("substitutable_kind") and known.get("selectional_preferences"):
            yield node, known["selectional_preferences"]

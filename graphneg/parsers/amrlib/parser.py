"""The ``amrlib`` parser: an utterance's sentences through a model, their graphs aligned and joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from graphneg.alignment import Aligner, get_aligner, tokenize
from graphneg.errors import ParserError, PenmanError
from graphneg.model import AmrGraph
from graphneg.parsers.amrlib.engines import Candidate, Proposal, make_engine
from graphneg.parsers.amrlib.joining import joined
from graphneg.parsers.amrlib.mending import mended
from graphneg.parsers.amrlib.models import read_model
from graphneg.parsers.amrlib.sentences import Sentence, split_sentences
from graphneg.parsers.base import EMPTY, Parsed
from graphneg.penman_codec import parse_graph


class AmrlibParser:
    """Text to AMR by a model of amrlib (``model`` is its directory).

    Each text is split into sentences, which go through the model in batches of ``batch``, halved
    where memory runs out; the best of ``beams`` graphs that is well formed, after small repairs, is
    taken. Nodes are aligned to tokens by amrlib's rule-based aligner. ``device`` is ``cpu``, ``cuda`` or
    ``mps``, the best there is where not given; with ``offline`` no tokenizer is fetched from the hub.

    Warnings: ``truncated`` (a sentence longer than the model reads), ``broken-off`` (a graph longer than
    it writes), ``repaired``, ``no-graph`` (a sentence without a well-formed one), ``out-of-memory``.

    Raises:
        ParserError: the directory is missing, no parse model, or can't be loaded; or a package is missing.
    """

    name = "amrlib"

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        device: str | None = None,
        batch: int = 16,
        beams: int = 4,
        offline: bool = False,
    ) -> None:
        if batch < 1 or beams < 1:
            raise ParserError(f"batch {batch}, beams {beams}: both must be at least 1")
        found = read_model(model)
        self._engine = make_engine(found, device or "auto", batch, beams, offline=offline)
        self._max_output = found.max_output
        self._align = get_aligner("rbw" if find_spec("amrlib") else "rules")
        self.version = f"{found.version}.{beams}"

    def parse_batch(self, texts: Sequence[str]) -> list[Parsed]:
        """A graph for each text, in order, or the reason why there is none."""
        split = [split_sentences(text) for text in texts]
        different = sorted({sentence.text for sentences in split for sentence in sentences})
        proposals = dict(zip(different, self._engine.propose(different), strict=True))
        return [self._parsed(text, found, proposals) for text, found in zip(texts, split, strict=True)]

    def _parsed(self, text: str, sentences: Sequence[Sentence], proposals: dict[str, Proposal]) -> Parsed:
        if not sentences:
            return Parsed(EMPTY, ("empty: the text has no words",))
        graphs: list[AmrGraph] = []
        warnings: list[str] = []
        for number, sentence in enumerate(sentences, 1):
            found = chosen(proposals[sentence.text], number, self._max_output)
            warnings += found.warnings
            if found.graph is not None:
                graphs.append(_aligned(found.graph, sentence, self._align))
        if not graphs:
            return Parsed(None, tuple(warnings))
        return Parsed(joined(graphs), tuple(warnings))


@dataclass(frozen=True, slots=True)
class _Usable:
    graph: AmrGraph
    repairs: int
    finished: bool
    rank: int


def chosen(proposal: Proposal, number: int, longest: int) -> Parsed:
    """The best well-formed graph of a sentence, one that came to its end before one that did not."""
    where = f"sentence {number}"
    warnings: list[str] = []
    if proposal.cut:
        warnings.append(f"truncated: {where}: {proposal.cut} of {proposal.tokens} tokens were not read")
    if proposal.candidates is None:
        return Parsed(None, (*warnings, f"out-of-memory: {where} does not fit alone"))
    usable = [one for rank, each in enumerate(proposal.candidates, 1) if (one := _usable(each, rank))]
    best = next((one for one in usable if one.finished), usable[0] if usable else None)
    if best is None:
        count = len(proposal.candidates)
        return Parsed(None, (*warnings, f"no-graph: {where}: none of {count} proposals is well formed"))
    if not best.finished:
        warnings.append(f"broken-off: {where}: its graph was not finished after {longest} tokens")
    if best.repairs or best.rank > 1:
        warnings.append(
            f"repaired: {where}: {best.repairs} defects mended in the model's proposal {best.rank}"
        )
    return Parsed(best.graph, tuple(warnings))


def _usable(candidate: Candidate, rank: int) -> _Usable | None:
    if candidate.penman is None:
        return None
    try:
        graph = parse_graph(candidate.penman)
    except PenmanError:
        return None
    whole = mended(replace(graph, metadata=()))
    if whole is None:
        return None
    repairs = candidate.repairs + (whole.nodes != graph.nodes or whole.mentions != graph.mentions)
    return _Usable(whole, repairs, candidate.finished, rank)


def _aligned(graph: AmrGraph, sentence: Sentence, align: Aligner) -> AmrGraph:
    """The graph with spans over the tokens of the whole text."""
    found = align(replace(graph, spans={}), [token.text for token in tokenize(sentence.text)])
    first = sentence.first_token
    return replace(graph, spans={k: (first + start, first + end) for k, (start, end) in found.items()})

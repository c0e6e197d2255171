"""How well graphs are put into words: against the texts that people wrote, and by parsing the words back.

In: graphs with their texts, and what a decoder wrote of them. Out: BLEU and chrF (the package ``sacrebleu``),
and Smatch of the parses. A parser makes mistakes of its own: what the references get is about the most that a
decoder can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any

from graphneg.amr.penman import metadata, parse_graph
from graphneg.amr.smatch import MeasureScores, measured
from graphneg.amr.wellformed import file_blocks
from graphneg.decoders.t5 import T5Decoder
from graphneg.errors import InputError, PenmanError
from graphneg.model import AmrGraph, Decoded
from graphneg.parsers.round_trip import RoundTrip
from graphneg.progress import NoProgress, Progress

RESAMPLES = 1000
_BATCH = 32


@dataclass(frozen=True, slots=True)
class TextScores:
    """Of texts for ``pairs`` graphs; where there is none (``reasons``, by code) it counts as an empty one.

    ``bleu`` and ``chrf`` go from 0 to 100; ``smatch`` is that of the texts' parses against the graphs.
    """

    pairs: int
    bleu: float
    chrf: float
    smatch: MeasureScores
    reasons: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DecoderScores:
    """A decoder's texts, and the references themselves; ``parser`` parsed both back."""

    decoder: TextScores
    references: TextScores
    parser: str

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return asdict(self)


def check_packages() -> None:
    """Raises `InputError` where ``sacrebleu`` or ``smatch`` is not installed."""
    if missing := [name for name in ("sacrebleu", "smatch") if find_spec(name) is None]:
        raise InputError(
            f"BLEU, chrF and Smatch need {' and '.join(missing)}: pip install 'graphneg[evaluation]'"
        )


def read_pairs(path: str | Path) -> list[tuple[AmrGraph, str]]:
    """The graphs of a PENMAN file with their texts (``::snt``).

    Raises `InputError`: the file can't be read, a graph is malformed, or one has no text.
    """
    pairs: list[tuple[AmrGraph, str]] = []
    for line, id, block in file_blocks(path):
        try:
            graph = parse_graph(block, id or "", first_line=line)
        except PenmanError as error:
            raise InputError(f"{path}:{error.line}: {error}") from error
        text = metadata(graph.metadata).get("snt", "").strip()
        if not text:
            raise InputError(f"{path}:{line}: a graph without its text: write it above, as # ::snt TEXT")
        pairs.append((graph, text))
    return pairs


def evaluate_decoder(
    decoder: T5Decoder,
    pairs: Sequence[tuple[AmrGraph, str]],
    trip: RoundTrip,
    *,
    progress: Progress | None = None,
) -> DecoderScores:
    """Let a decoder write the text of each graph, and compare.

    Raises `InputError`: the package ``sacrebleu`` or ``smatch`` is not installed.
    """
    bar = progress or NoProgress()
    check_packages()
    bar.start("writing", len(pairs), "texts")
    written: list[Decoded] = []
    for start in range(0, len(pairs), _BATCH):
        some = pairs[start : start + _BATCH]
        written += [best[0] for best in decoder.n_best([graph for graph, _ in some])]
        bar.advance(len(some))
    bar.finish()
    graphs, references = [graph for graph, _ in pairs], [(text,) for _, text in pairs]
    own = [Decoded(text) for _, text in pairs]
    return DecoderScores(
        score_texts(written, graphs, references, trip),
        score_texts(own, graphs, references, trip),
        trip.parser,
    )


def score_texts(
    written: Sequence[Decoded],
    graphs: Sequence[AmrGraph],
    references: Sequence[Sequence[str]],
    trip: RoundTrip,
) -> TextScores:
    """The texts of graphs against those that people wrote, one or several each, and parsed back.

    Raises `InputError`: the package ``sacrebleu`` or ``smatch`` is not installed.
    """
    check_packages()
    import sacrebleu

    texts = [one.text or "" for one in written]
    streams = list(zip_longest(*references))  # the first of each, the second of each that has one, ...
    tallies = trip.tallies([(graph, one.text) for graph, one in zip(graphs, written, strict=True)])
    return TextScores(
        len(graphs),
        # forced: the package would warn of texts that end in a blank and a full stop
        sacrebleu.corpus_bleu(texts, streams, force=True).score,
        sacrebleu.corpus_chrf(texts, streams).score,
        measured(tallies, RESAMPLES, 0),
        dict(Counter((one.reason or "").partition(":")[0] for one in written if one.text is None)),
    )

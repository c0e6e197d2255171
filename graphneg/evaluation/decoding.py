"""Evaluate a decoder, which generates text from AMR graphs.

The generated texts are compared with human reference texts by BLEU and chrF (package ``sacrebleu``). The
generated texts are also parsed, and the parses are compared with the input graphs by Smatch, which shows
whether the meaning was kept. The parser makes errors, too. Therefore the reference texts are parsed as well:
the Smatch of their parses is about the highest value that a decoder can reach.

Example:
    For the graph ``(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))``, a decoder generates "The boy
    wants to go." The reference is "The boy wants to leave." BLEU and chrF compare the two texts. Smatch
    compares the graph with a parse of "The boy wants to go."
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

# Number of bootstrap samples for the confidence intervals of Smatch.
RESAMPLES = 1000
# Number of graphs that are decoded in one call. After each call, the progress display is updated.
_BATCH = 32


@dataclass(frozen=True, slots=True)
class TextScores:
    """The scores of the texts that were generated from a set of graphs.

    If the decoder refused a graph, the graph counts as if an empty text had been generated from it.

    Attributes:
        pairs: Number of graphs.
        bleu: Corpus BLEU, 0 to 100.
        chrf: Corpus chrF, 0 to 100.
        smatch: Smatch between the graphs and the parses of the texts.
        reasons: Number of graphs that the decoder refused, keyed by the code of the reason.
    """

    pairs: int
    bleu: float
    chrf: float
    smatch: MeasureScores
    reasons: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DecoderScores:
    """The scores of a decoder and, as an upper bound, of the reference texts.

    Attributes:
        decoder: Scores of the texts that the decoder generated.
        references: Scores of the reference texts.
        parser: The name of the parser that parsed the texts.
    """

    decoder: TextScores
    references: TextScores
    parser: str

    def as_dict(self) -> dict[str, Any]:
        """Return the scores of the decoder and the references as a dict that can be written as JSON."""
        return asdict(self)


def check_packages() -> None:
    """Check that the packages for BLEU, chrF and Smatch are installed.

    Raises:
        InputError: ``sacrebleu`` or ``smatch`` is not installed.
    """
    if missing := [name for name in ("sacrebleu", "smatch") if find_spec(name) is None]:
        raise InputError(
            f"BLEU, chrF and Smatch need {' and '.join(missing)}: pip install 'graphneg[evaluation]'"
        )


def read_graph_text_pairs(path: str | Path) -> list[tuple[AmrGraph, str]]:
    """Read the graphs of a PENMAN file with their texts (metadata ``::snt``).

    Args:
        path: The PENMAN file.

    Returns:
        Pairs of a graph and its text, in the order of the file.

    Raises:
        InputError: A graph is malformed or has no text in its metadata.
    """
    pairs: list[tuple[AmrGraph, str]] = []
    for line, id, block in file_blocks(path):
        try:
            graph = parse_graph(block, id or "", first_line=line)
        except PenmanError as error:
            raise InputError(f"{path}:{error.line}: {error}") from error
        text = metadata(graph.metadata).get("snt", "").strip()
        if not text:
            raise InputError(f"{path}:{line}: the graph has no text: add # ::snt TEXT above the graph")
        pairs.append((graph, text))
    return pairs


def evaluate_decoder(
    decoder: T5Decoder,
    pairs: Sequence[tuple[AmrGraph, str]],
    round_trip: RoundTrip,
    *,
    progress: Progress | None = None,
) -> DecoderScores:
    """Generate a text from each graph, and score the texts.

    Raises `InputError` if a package is missing; see `check_packages`.

    Args:
        decoder: The decoder to evaluate.
        pairs: Graphs with their reference texts.
        round_trip: Object that parses texts and compares the parses with the graphs.
        progress: Progress display, which is advanced by the number of decoded graphs.

    Returns:
        The scores of the generated texts and of the reference texts.
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
    # Score the reference texts as if a decoder had generated them. Their Smatch shows how many errors the
    # parser makes.
    own = [Decoded(text) for _, text in pairs]
    return DecoderScores(
        score_texts(written, graphs, references, round_trip),
        score_texts(own, graphs, references, round_trip),
        round_trip.parser,
    )


def score_texts(
    written: Sequence[Decoded],
    graphs: Sequence[AmrGraph],
    references: Sequence[Sequence[str]],
    round_trip: RoundTrip,
) -> TextScores:
    """Score generated texts by comparing them with reference texts, and their parses with the graphs.

    Raises `InputError` if a package is missing; see `check_packages`.

    Args:
        written: The generated texts, one per graph. A text is None if the decoder refused the graph.
        graphs: The graphs from which the texts were generated.
        references: One or more reference texts per graph.
        round_trip: Object that parses texts and compares the parses with the graphs.

    Returns:
        BLEU, chrF and Smatch over all graphs, and for each reason the number of graphs that were refused.
    """
    check_packages()
    import sacrebleu

    # Score a refused graph as an empty text. Otherwise, a decoder could improve its scores by refusing
    # difficult graphs.
    texts = [one.text or "" for one in written]
    # sacrebleu expects a list with the first references of all graphs, a list with the second references, and
    # so on. None stands for a missing reference.
    streams = list(zip_longest(*references))
    tallies = round_trip.tallies([(graph, one.text) for graph, one in zip(graphs, written, strict=True)])
    return TextScores(
        len(graphs),
        # If many texts end in " .", sacrebleu warns that they may be tokenized. With force=True, it does not
        # warn.
        sacrebleu.corpus_bleu(texts, streams, force=True).score,
        sacrebleu.corpus_chrf(texts, streams).score,
        measured(tallies, RESAMPLES, 0),
        # A reason has the form "code: details". Count the codes only.
        dict(Counter((one.reason or "").partition(":")[0] for one in written if one.text is None)),
    )

"""Define the methods of `graphneg.DialogueGraph` that build, read and use the shift graph.

The shift graph counts how often replies shift the topic from one keyword to another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.errors import checked_list
from graphneg.nn.embedders import BUNDLED, Embedder, get_embedder
from graphneg.progress import NoProgress, Progress
from graphneg.shift.build import Existing, ShiftReport, build_shifts
from graphneg.shift.candidates import CandidateOptions
from graphneg.shift.graphs import export_shifts, shift_graph
from graphneg.shift.keywords import KeywordExtractor, get_extractor
from graphneg.shift.prediction import Predictor, get_predictor
from graphneg.shift.substitutes import Prediction, SubstituteFinder
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection

if TYPE_CHECKING:
    import networkx


class ShiftGraphMethods:
    """The methods of `graphneg.DialogueGraph` that build, read and use the shift graph of its store."""

    store: Store

    def shift(
        self,
        embedder: str | Path | Embedder = BUNDLED,
        *,
        embedder_options: Mapping[str, Any] | None = None,
        keywords: str | KeywordExtractor = "yake",
        language: str = "en",
        existing: Existing = "keep",
        corpora: Sequence[str] = (),
        splits: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> ShiftReport:
        """Build the shift graph: find the keywords of all texts, and the focus and perspective of each reply.

        The focus is the keyword of the previous turn that the reply takes up. The perspective is the keyword
        to which the reply shifts the topic.

        Args:
            embedder: Path or id of an embedder, as in `graphneg.nn.embedders.get_embedder`, or an object with
                the method ``embed(texts)``. Its vectors determine which keywords are similar.
            embedder_options: Options for an embedder that is given by its path or id.
            keywords: Keyword extractor: ``yake``, ``rake``, or an object with the method ``extract(texts)``.
            language: Language of the texts, for an extractor that is given by its name.
            existing: ``keep`` to add only dialogues that are not in the shift graph yet, or ``replace`` to
                first delete the whole shift graph.
            corpora: Names of the corpora to add; empty for all.
            splits: Names of the splits to add; empty for all.
            progress: Progress display; advanced by the number of finished dialogues.

        Returns:
            A report of the run.
        """
        extractor = get_extractor(keywords, language) if isinstance(keywords, str) else keywords
        made = (
            get_embedder(embedder, **(embedder_options or {}))
            if isinstance(embedder, str | Path)
            else embedder
        )
        selection = Selection(corpora, splits)
        return build_shifts(self.store, extractor, made, selection, existing, progress or NoProgress())

    def shift_graph(self, *, corpora: Sequence[str] = ()) -> networkx.DiGraph[str]:
        """Return the shift graph as a networkx graph.

        Args:
            corpora: Names of the corpora whose shifts to include; empty for the whole graph.

        Returns:
            A graph whose nodes are keywords and whose edges have the attribute ``count``.
        """
        return shift_graph(self.store, checked_list("corpora", corpora))

    def export_shifts(self, out: str | Path, *, corpora: Sequence[str] = (), overwrite: bool = False) -> int:
        """Write the shift graph to a file.

        Args:
            out: File with the suffix .graphml, .parquet or .jsonl.
            corpora: Names of the corpora whose shifts to include; empty for the whole graph.
            overwrite: Whether to replace an existing file.

        Returns:
            The number of edges in the file.
        """
        return export_shifts(self.store, Path(out), checked_list("corpora", corpora), overwrite=overwrite)

    def substitutes(
        self,
        predictor: str | Predictor = "frequency",
        *,
        predictor_options: Mapping[str, Any] | None = None,
        turns: int = 3,
        hops: int = 2,
        max_candidates: int = 1000,
        subset_size: int = 5,
        seed: int = 0,
        top: int | None = None,
        keywords: KeywordExtractor | None = None,
        corpora: Sequence[str] = (),
        splits: Sequence[str] = (),
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> SubstituteFinder:
        """Return an object that finds substitutes: other perspectives that a reply could have had.

        A perspective is the keyword to which a reply shifts the topic. With ``turns=1, hops=1``, the finder
        uses the same candidates as Algorithm 1 in CAPT.

        Args:
            predictor: Name of a predictor, or an object with the method ``choose(post, focus, subsets)``.
            predictor_options: Options for a predictor that is given by its name.
            turns: Number of turns before the reply whose keywords are used as foci.
            hops: Maximum number of edges of the shift graph between a focus and a candidate, 1 or 2.
            max_candidates: Maximum number of candidates for each focus; the most likely candidates are kept.
            subset_size: Number of candidates in a subset. From each subset, the predictor chooses one
                candidate.
            seed: Seed for the random division of the candidates into subsets.
            top: Maximum number of substitutes for each reply; None for all.
            keywords: Extractor that finds the keywords of texts that are not in the store; None for the
                extractor with which the shift graph was built.
            corpora: Names of the corpora to iterate over; empty for all.
            splits: Names of the splits to iterate over; empty for all.
            limit: Maximum number of dialogues to iterate over.
            progress: Progress display; advanced by the number of finished dialogues.

        Returns:
            The finder. It reads the store only when substitutes are requested.
        """
        # A call with different options must not resume an interrupted run, so the options are stored with the
        # output file.
        options = dict(predictor_options or {})
        made = get_predictor(predictor, **options) if isinstance(predictor, str) else predictor
        how = Prediction(made, CandidateOptions(turns, hops, max_candidates, subset_size, seed), top, options)
        selection = Selection(corpora, splits, limit)
        bars = progress or NoProgress()
        return SubstituteFinder(self.store, how, extractor=keywords, selection=selection, progress=bars)

"""The calls of a dialogue graph that are about the shift graph: building, reading, predicting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.errors import listed
from graphneg.nn.embedders import BUNDLED, Embedder, get_embedder
from graphneg.progress import NoProgress, Progress
from graphneg.shift.build import Existing, ShiftReport, build_shifts
from graphneg.shift.candidates import Reach
from graphneg.shift.graphs import export_shifts, shift_graph
from graphneg.shift.keywords import KeywordExtractor, get_extractor
from graphneg.shift.prediction import Predictor, get_predictor
from graphneg.shift.substitutes import Prediction, SubstituteFinder
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection

if TYPE_CHECKING:
    import networkx


class ShiftCalls:
    """What `graphneg.DialogueGraph` can do with the shift graph of its store."""

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
        """Build the shift graph: keywords, and which of them replies attend to and move to.

        ``embedder`` is a path or an id (``graphneg.nn.embedders.get_embedder``), or an object with
        ``embed(texts)``; ``keywords`` is ``yake`` or ``rake``, for texts in ``language``, or an object with
        ``extract(texts)``. Dialogues that are in the graph already are left as they are, unless ``existing``
        is ``replace``: then the whole graph is removed first.

        Raises:
            ModelError: the embedder can't be had.
            InputError: no such extractor or language, no dialogues with replies, or the graph in the
                store was made another way.
            StoreError: the store is gone.
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
        """The shift graph, of some corpora or of all that is in it: keywords, ``count`` on their edges.

        Raises `InputError`: there is none.
        """
        return shift_graph(self.store, listed("corpora", corpora))

    def export_shifts(self, out: str | Path, *, corpora: Sequence[str] = (), overwrite: bool = False) -> int:
        """Write the shift graph to a file: .graphml, .parquet or .jsonl; returns how many edges.

        Raises `InputError`: another suffix, the file can't be written or is there already and not to
        ``overwrite``, or there is no shift graph.
        """
        return export_shifts(self.store, Path(out), listed("corpora", corpora), overwrite=overwrite)

    def substitutes(
        self,
        predictor: str | Predictor = "frequency",
        *,
        predictor_options: Mapping[str, Any] | None = None,
        turns: int = 3,
        hops: int = 2,
        most: int = 1000,
        size: int = 5,
        seed: int = 0,
        top: int | None = None,
        keywords: KeywordExtractor | None = None,
        corpora: Sequence[str] = (),
        splits: Sequence[str] = (),
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> SubstituteFinder:
        """What replies could move to instead of what they did: found when a post or reply is asked for.

        ``predictor`` is a name, made with ``predictor_options``, or an object with ``choose(post, focus,
        subsets)``. Keywords of the last ``turns`` turns are foci, candidates are at most ``hops`` hops away
        and the ``most`` likeliest of a focus; of each subset of ``size`` the predictor takes one. ``top``
        keeps so many of the best. ``turns=1, hops=1`` is the reach of CAPT's Algorithm 1. ``keywords`` finds
        those of one's own posts, where it is not what the graph was made with. ``corpora``, ``splits`` and
        ``limit`` choose dialogues.

        Raises:
            InputError: a number is out of range.
            ModelError: no such predictor, or its model can't be had.
        """
        options = dict(predictor_options or {})
        made = get_predictor(predictor, **options) if isinstance(predictor, str) else predictor
        how = Prediction(made, Reach(turns, hops, most, size, seed), top, options)
        selection = Selection(corpora, splits, limit)
        bars = progress or NoProgress()
        return SubstituteFinder(self.store, how, extractor=keywords, selection=selection, progress=bars)

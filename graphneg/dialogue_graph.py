"""The public interface of graphneg: open a dialogue graph, load dialogues, make negatives, read results.

>>> import tempfile
>>> with open(tempfile.mkdtemp()) as graph:                               # doctest: +SKIP
...     graph.load("everyday").written["dialogues"]
...     next(iter(graph.negatives(transforms=["negate"], target="dialogue"))).response
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphneg.decoders.base import Decoder, get_decoder, guarded
from graphneg.editing import export as exports
from graphneg.editing.generation import (
    EditRequest,
    Explanation,
    Negatives,
    explain,
    kept_negatives,
    materialize,
    own_target,
)
from graphneg.editing.planning import EditSettings
from graphneg.editing.recipes import CANDIDATES, GENERATED, Recipe, Target, check_target, chosen_recipe
from graphneg.editing.transforms import load_transforms, version_of
from graphneg.errors import InputError, OnlyReading, listed
from graphneg.generators.base import ContextSelection, Generator, Places, get_generator, require_generator
from graphneg.generators.generated import Generated, Generation
from graphneg.ingest.lexicon import upgrade
from graphneg.ingest.loader import GAP, LoadOptions, LoadReport
from graphneg.ingest.writing import load_files
from graphneg.model import Negative, Rejected
from graphneg.parsers.base import Parser
from graphneg.parsers.jobs import ParseReport, ParserPool, open_pool, parse_store
from graphneg.parsers.stored import Existing, ParseScope, TextKind
from graphneg.progress import NoProgress, Progress
from graphneg.shards import Shard, shard_of
from graphneg.shift.calls import ShiftCalls
from graphneg.store.connection import Store
from graphneg.store.dialogues import GraphCache, Selection
from graphneg.store.opening import open_store
from graphneg.store.queries import Info, Rows, explore, info_of

if TYPE_CHECKING:
    from graphneg.datasets.negative_dataset import Source
    from graphneg.datasets.pair_sampler import Mix
    from graphneg.datasets.pairs import Pairs


def open(
    target: str | Path | None = None,
    *,
    username: str | None = None,
    password: str | None = None,
    database: str | None = None,
    upgrading: bool = False,
    keep_warm: int = 0,
) -> DialogueGraph:
    """Open a dialogue graph.

    Args:
        target: Directory of an embedded store, which is created if it does not exist, or the URI of a Neo4j
            server. The default is the variable NEO4J_URI, or ``./graphneg-store``.
        username: Name of the Neo4j user; by default NEO4J_USERNAME.
        password: Password of the Neo4j user; by default NEO4J_PASSWORD.
        database: Name of the Neo4j database; by default NEO4J_DATABASE.
        upgrading: Open a store with an older schema, to call `DialogueGraph.upgrade`.
        keep_warm: Seconds that an embedded server keeps running after its last user. Opening the store within
            that time is fast.

    Returns:
        The open dialogue graph.
    """
    credentials = {"username": username, "password": password, "database": database}
    return DialogueGraph(open_store(target, **credentials, upgrading=upgrading, keep_warm=keep_warm))


class DialogueGraph(ShiftCalls, AbstractContextManager["DialogueGraph"]):
    """An open dialogue graph. Use it in a ``with`` statement, or call `close`."""

    def __init__(self, store: Store) -> None:
        """Initialize the graph; `open` is the usual way to get one.

        Args:
            store: An open store.
        """
        self.store = store
        self._graph_cache = GraphCache(store)

    def load(
        self,
        corpus: str,
        *paths: Any,
        name: str | None = None,
        split: str | None = None,
        language: str = "en",
        turns: int = 8,
        map: Mapping[str, str] | None = None,
        encoding: str | None = None,
        clean: bool = False,
        gap: float = GAP,
        shard: Shard | str | None = None,
        progress: Progress | None = None,
        on_rejected: Callable[[Rejected], None] | None = None,
    ) -> LoadReport:
        """Load files into the store. Dialogues that the store holds already are not changed.

        Empty turns and system messages are left out. Graphs that belong to no utterance become dialogues of
        their own.

        Args:
            corpus: Name of a loader: ``dialogues``, ``dailydialog``, ``penman``, ...
            *paths: Files or folders. The loader ``dialogues`` also takes lists of dicts, pandas DataFrames
                and Hugging Face datasets.
            name: Name of the corpus, which begins the ids of its dialogues, if the files do not give one.
            split: Name of the split, if the files do not give one.
            language: Language of the data, for loaders that need it.
            turns: Number of turns in a dialogue that is made from graphs.
            map: Names that the data use for fields, such as ``{"text": "utterance"}``.
            encoding: Codec of the texts.
            clean: Repair HTML entities and the spaces of tokenisers.
            gap: Hours without a message that end a dialogue in a chat (``whatsapp``, ``slack``, ``discord``).
            shard: Load only the dialogues of this shard, such as ``3/16``.
            progress: Receives the number of finished items.
            on_rejected: Called with each item that is refused.

        Returns:
            The report: counts, the first refused items, and notices.
        """
        bar = progress or NoProgress()
        options = LoadOptions(name, split, language, bar, map or {}, encoding, clean, gap=gap)
        return load_files(self.store, corpus, paths, turns, options, on_rejected, shard_of(shard))

    def upgrade(self, progress: Progress | None = None) -> int | None:
        """Compute anew what graphneg derives from the loaded data.

        This brings a store with an older schema, opened with ``upgrading``, to the current one. Nothing is
        lost. If the call is stopped, the same call continues it.

        Args:
            progress: Receives the number of finished graphs.

        Returns:
            The number of graphs that were computed anew, or None if the store was current.
        """
        return upgrade(self.store, progress)

    def parse(
        self,
        parser: str | Parser | ParserPool = "dependency",
        *,
        parser_options: Mapping[str, Any] | None = None,
        processes: int | None = None,
        of: Sequence[TextKind] = ("utterances",),
        existing: Existing = "keep",
        corpora: Sequence[str] = (),
        splits: Sequence[str] = (),
        limit: int | None = None,
        shard: Shard | str | None = None,
        progress: Progress | None = None,
        on_warning: Callable[[str, str], None] | None = None,
    ) -> ParseReport:
        """Parse the texts that have no AMR graph, and write the graphs.

        The store remembers what a version of a parser made of a text, so that a text is parsed only once. If
        the call is stopped, the same call continues it.

        Args:
            parser: Name of a parser, an object with ``parse_batch(texts)``, or an open pool.
            parser_options: Options of a named parser.
            processes: Number of processes for a named parser; by default one for each core, if the parser
                allows it.
            of: What to parse: ``utterances``, ``responses``, or both.
            existing: ``keep``, or ``replace`` for graphs of other parsers and versions. Gold graphs are
                always kept.
            corpora: Names of the corpora to parse; empty for all.
            splits: Names of the splits to parse; empty for all.
            limit: Maximum number of dialogues.
            shard: Parse only the dialogues of this shard, such as ``3/16``.
            progress: Receives the number of finished texts.
            on_warning: Called with the id of a text and the problem with it.

        Returns:
            The report of the run.
        """
        selection = Selection(corpora, splits, limit, shard=shard_of(shard))
        scope = ParseScope(selection, tuple(listed("of", of)), existing)
        # A pool that the caller opened stays open.
        is_open = isinstance(parser, ParserPool)
        with nullcontext(parser) if is_open else open_pool(parser, parser_options, processes) as pool:
            report = ParseReport(pool.source, on_warning=on_warning)
            return parse_store(self.store, pool, scope, report, progress or NoProgress())

    def negatives(
        self,
        recipe: str | Recipe = "deam",
        *,
        transforms: Sequence[str] = (),
        folders: Sequence[str | Path] = (),
        decoder: str | Decoder = "surface",
        decoder_options: Mapping[str, Any] | None = None,
        per_dialogue: int = 1,
        seed: int = 0,
        target: Target | None = None,
        candidates: int = CANDIDATES,
        corpora: Sequence[str] = (),
        splits: Sequence[str] = (),
        limit: int | None = None,
        shard: Shard | str | None = None,
        batch: int = 200,
        progress: Progress | None = None,
        generator_options: Mapping[str, Any] | None = None,
    ) -> Negatives | Generated:
        """Return negatives of the dialogues in the store. They are made on iteration or writing.

        The same seed gives the same negatives, whatever the batch and the server. The recipe ``hard`` edits
        nothing: it generates wrong responses to each context, as `generate` does.

        Args:
            recipe: A recipe or its name.
            transforms: Names of transforms, of which each negative uses one; they replace the recipe.
            folders: Folders with the user's own transforms.
            decoder: A decoder or its name.
            decoder_options: Options of a named decoder.
            per_dialogue: Number of negatives for each dialogue (of each context, for ``hard``).
            seed: Seed of all choices.
            target: What to edit: ``response`` or ``dialogue``; by default the recipe's target.
            candidates: Number of sites to sample for each edit; the one with the highest score is edited.
            corpora: Names of the corpora to use; empty for all.
            splits: Names of the splits to use; empty for all.
            limit: Maximum number of dialogues; only those with graphs are counted.
            shard: Use only the dialogues of this shard, such as ``3/16``, for `to_shard`.
            batch: Number of dialogues to edit at a time.
            progress: Receives the number of finished dialogues.
            generator_options: Options of the generator of ``hard``.

        Returns:
            A stream of negatives.

        Raises:
            InputError: Options are given for a recipe without a generator.
        """
        if isinstance(recipe, str) and recipe in GENERATED and not transforms:
            check_target(GENERATED[recipe], target)
            # "hard" is a recipe for users, but a generator for the library.
            which: dict[str, Any] = {"corpora": corpora, "splits": splits, "limit": limit, "batch": batch}
            which["shard"] = shard
            made_by, amount = GENERATED[recipe].generator, per_dialogue
            own = dict(generator_options or {})
            return self.generate(made_by, per_context=amount, seed=seed, progress=progress, **which, **own)
        if generator_options:
            raise InputError(f"only recipes of a generator take options: {', '.join(GENERATED)}")
        chosen = chosen_recipe(recipe, listed("transforms", transforms), target)
        known = load_transforms(listed("folders", folders))
        request = EditRequest(
            EditSettings(
                chosen,
                target or own_target(chosen, known),
                seed,
                candidates,
                version_of(chosen.transforms, known),
            ),
            known,
            per_dialogue,
            Selection(corpora, splits, limit, limit is not None, shard_of(shard)),
            batch,
        )
        made = _decoder(decoder, decoder_options or {})
        return Negatives(self.store, request, made, progress, decoder_options, self._graph_cache)

    def generate(
        self,
        generator: str | Generator = "overlap",
        *,
        per_context: int = 1,
        seed: int = 0,
        places: Places = "last",
        corpora: Sequence[str] = (),
        splits: Sequence[str] = (),
        limit: int | None = None,
        shard: Shard | str | None = None,
        batch: int | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> Generated:
        """Return wrong responses by a generator. They are made when they are iterated over or written.

        The same seed gives the same negatives, whatever the batch and the server.

        Args:
            generator: Name of a generator, or an instance of a subclass of
                `graphneg.generators.Generator`.
            per_context: Number of responses for each context.
            seed: Seed of all choices.
            places: Where contexts end in dialogues without loaded responses: ``last`` for the last turn only,
                ``every`` for each turn.
            corpora: Names of the corpora to use; empty for all.
            splits: Names of the splits to use; empty for all.
            limit: Maximum number of dialogues.
            shard: Use only the dialogues of this shard, such as ``3/16``.
            batch: Number of dialogues to work on at a time, after which the file is written; by default a
                number that suits the generator.
            progress: Receives the number of finished dialogues.
            **options: Options of a named generator. A ``ranker`` may be given by its path or id.

        Returns:
            A stream of negatives.

        Raises:
            InputError: Options are given for a generator that is an object.
        """
        wanted = ContextSelection(Selection(corpora, splits, limit, shard=shard_of(shard)), places)
        asked = Generation(per_context, seed, wanted, batch)
        if isinstance(generator, str):
            made = get_generator(generator, self.store, **_with_ranker(options))
        elif options:
            raise InputError(
                f"give options with the name of a generator, not with the object {generator.name!r}"
            )
        else:
            made = require_generator(generator)
        return Generated(self.store, made, asked, progress)

    def pairs(
        self,
        *sources: Source,
        mix: Mix | None = None,
        seed: int = 0,
        held_out: Iterable[str] = (),
        held_out_splits: Collection[str] = (),
        cache: str | Path | None = None,
    ) -> Pairs:
        """Return training pairs of contexts and responses, as `graphneg.datasets.pairs.read_pairs` does.

        Args:
            *sources: Files of negatives, streams of negatives, or functions that return a stream for a seed.
            mix: How many responses of which kind each context gives in an epoch.
            seed: Seed of the first epoch.
            held_out: Texts that no response may have.
            held_out_splits: Splits whose replies and responses are held out, in the sources and in this
                store.
            cache: Folder that keeps what was read of the files.

        Returns:
            The pairs, one epoch for each iteration.
        """
        from graphneg.datasets.pairs import read_pairs

        return read_pairs(
            *sources, mix=mix, seed=seed, held_out=held_out, held_out_splits=held_out_splits, cache=cache,
            store=self.store,
        )  # fmt: skip

    def cypher(self, query: str, **parameters: Any) -> Rows:
        """Run a query that only reads. The server itself refuses to write.

        A query that is not valid is a `StoreError`.

        Args:
            query: The query, which need not be trusted.
            **parameters: Values of its parameters.

        Returns:
            The rows of the query.

        Raises:
            OnlyReading: The query would write (`cypher_write` allows that), load a file, or change the
                server.
        """
        try:
            return Rows(self.store.query_read(query, parameters))
        except OnlyReading as error:
            error.add_note("DialogueGraph.cypher_write runs queries that may write.")
            raise

    def cypher_write(self, query: str, **parameters: Any) -> Rows:
        """Run a query that may write.

        Args:
            query: The query.
            **parameters: Values of its parameters.

        Returns:
            The rows of the query.
        """
        return Rows(self.store.query_write(query, parameters))

    def explore(self, name: str, **parameters: Any) -> Rows:
        """Run a named query on the shift graph.

        ``graphneg cypher --named`` lists the queries and their parameters.

        Args:
            name: Name of the query, such as ``hubs``.
            **parameters: Values of its parameters, such as ``limit=5``.

        Returns:
            The rows of the query.
        """
        return explore(self.store, name, parameters)

    def export(
        self,
        out: str | Path,
        *,
        format: Literal["dailydialog_pp"] | None = None,
        negatives: Sequence[str | Path] = (),
        corpora: Sequence[str] = (),
        splits: Sequence[str] = (),
        limit: int | None = None,
        shard: Shard | str | None = None,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Write the content of the store to a file, in the form that its suffix names.

        ``.jsonl`` and ``.parquet`` hold dialogues as positives and their responses, in the form of negatives.
        ``.amr`` and ``.penman`` hold AMR graphs exactly as they were loaded. ``.graphml`` holds dialogues and
        AMR graphs as one network. A file that the same call wrote before is not written again.

        Args:
            out: File to write. For a shard, the file of the shard is written, for `graphneg.merging.merge`.
            format: ``dailydialog_pp`` for contexts with right and wrong responses, as JSON lines
                (`graphneg.datasets.groups.ContextWriter`).
            negatives: Files of negatives whose responses are added, for the format ``dailydialog_pp``.
            corpora: Names of the corpora to write; empty for all.
            splits: Names of the splits to write; empty for all.
            limit: Maximum number of dialogues.
            shard: Write only the dialogues of this shard, such as ``3/16``.
            overwrite: Replace a file that another call wrote.
            progress: Receives the number of finished dialogues.

        Returns:
            The number of items in the file.

        Raises:
            InputError: The format is unknown, or negatives are given without a format.
        """
        selection = Selection(corpora, splits, limit, shard=shard_of(shard))
        bar, files = progress or NoProgress(), listed("negatives", negatives)
        if format is None:
            # The other forms describe the store alone.
            if files:
                raise InputError("negatives go into the format dailydialog_pp: name it, or leave them out")
            return exports.export(self.store, Path(out), selection, bar, overwrite=overwrite).items
        from graphneg.datasets.groups import DAILYDIALOG_PP, ContextWriter, export_contexts

        if format != DAILYDIALOG_PP:
            raise InputError(f"format {format!r}: there is {DAILYDIALOG_PP}, or what the suffix names")
        write = ContextWriter(files)
        return export_contexts(self.store, Path(out), selection, bar, write, overwrite=overwrite).items

    def info(self) -> Info:
        """Return a description of the store and the amounts of what it holds."""
        return info_of(self.store)

    def explain(self, id: str, decoder: str | Decoder = "surface") -> Explanation:
        """Make one negative of this store again.

        Args:
            id: Id of a negative whose edits the store holds.
            decoder: A decoder or its name.

        Returns:
            The negative with its graphs before and after, and the decoder's reasons for turns without a text.
        """
        return explain(self.store, id, _decoder(decoder, {}))

    def kept_negatives(
        self, decoder: str | Decoder = "surface", *, progress: Progress | None = None
    ) -> Iterator[Negative]:
        """Make all negatives of this store again, in the order of their ids.

        Negatives that were refused as duplicates are included. Those that no longer fit their dialogue, or
        that get no text, are left out.

        Args:
            decoder: A decoder or its name; it need not be the one that made them first.
            progress: Receives the number of finished negatives.

        Returns:
            An iterator over the negatives.
        """
        return kept_negatives(self.store, _decoder(decoder, {}), progress)

    def materialize(self, ids: Sequence[str]) -> int:
        """Write the edited graphs of negatives to the store as graphs of their own, for exploring in Cypher.

        The pattern is ``(:Variant)-[:MEANS]->(:Amr)-[:TOP]->(:AmrNode)``.

        Args:
            ids: Ids of negatives.

        Returns:
            The number of graphs that are new in the store.
        """
        return materialize(self.store, listed("ids", ids))

    def close(self) -> None:
        """Close the store. An embedded server stops with its last user, unless it is kept warm."""
        self.store.close()

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def __repr__(self) -> str:
        """Return the class and a description of the store."""
        return f"<DialogueGraph: {self.store.description}>"


def _with_ranker(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of a generator, with a named ranker loaded."""
    named = options.get("ranker")
    if not isinstance(named, str | Path):
        return options
    from graphneg.generators.writing import NamedScorer
    from graphneg.rankers.base import load_ranker

    device = options.get("device", "auto")
    ranker = load_ranker(
        named, offline=bool(options.get("offline", False)), device=None if device == "auto" else device
    )
    return {**options, "ranker": NamedScorer(str(named), ranker)}


def _decoder(decoder: str | Decoder, options: Mapping[str, Any]) -> Decoder:
    """Return a decoder by name, or check one that is given."""
    return get_decoder(decoder, **options) if isinstance(decoder, str) else guarded(decoder)

"""Provide the public interface of graphneg: open a dialogue graph, load dialogues and make negatives.

>>> import tempfile
>>> with open(tempfile.mkdtemp()) as graph:                               # doctest: +SKIP
...     graph.load("everyday").written["dialogues"]
...     next(iter(graph.negatives(transforms=["polarity_flip"], target="dialogue"))).response
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphneg.decoders.base import Decoder, get_decoder, guarded
from graphneg.editing import export as exports
from graphneg.editing.generation import EditRequest, Negatives, default_target
from graphneg.editing.planning import EditSettings
from graphneg.editing.recipes import CANDIDATES, GENERATED, Recipe, Target, check_target, chosen_recipe
from graphneg.editing.replay import Explanation, explain, materialize, stored_negatives
from graphneg.editing.transforms import load_transforms, version_of
from graphneg.errors import InputError, OnlyReading, checked_list
from graphneg.generators.base import ContextSelection, Generator, Places, get_generator, require_generator
from graphneg.generators.generated import Generated, Generation
from graphneg.ingest.loader import GAP, DateOrder, Loader, LoadOptions, LoadReport, get_loader, require_loader
from graphneg.ingest.writing import load_files
from graphneg.model import Negative, Rejected
from graphneg.parsers.base import Parser
from graphneg.parsers.jobs import ParseReport, ParserPool, open_pool, parse_store
from graphneg.parsers.stored import Existing, ParseScope, TextKind
from graphneg.progress import NoProgress, Progress
from graphneg.shards import Shard, shard_of
from graphneg.shift.calls import ShiftGraphMethods
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection
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
    exporting: bool = False,
    keep_warm: int = 0,
) -> DialogueGraph:
    """Open a dialogue graph.

    Args:
        target: Directory of an embedded store, which is created if it does not exist, or the URI of a Neo4j
            server. The default is the environment variable NEO4J_URI or, if it is not set,
            ``./graphneg-store``.
        username: Name of the Neo4j user; by default the environment variable NEO4J_USERNAME.
        password: Password of the Neo4j user; by default the environment variable NEO4J_PASSWORD.
        database: Name of the Neo4j database; by default the environment variable NEO4J_DATABASE.
        exporting: Whether to accept a store of a different version of graphneg, to export its content with
            the format ``dialogues``. Do nothing else with such a store.
        keep_warm: Number of seconds that an embedded server keeps running after the last process has closed
            the store. Opening the store again within that time is fast.

    Returns:
        The open dialogue graph.
    """
    credentials = {"username": username, "password": password, "database": database}
    return DialogueGraph(open_store(target, **credentials, exporting=exporting, keep_warm=keep_warm))


class DialogueGraph(ShiftGraphMethods, AbstractContextManager["DialogueGraph"]):
    """An open store of dialogues and AMR graphs, with the methods to load, parse, edit and export them.

    Use the graph in a ``with`` statement, or call `close` at the end.
    """

    def __init__(self, store: Store) -> None:
        """Initialize the graph. Users normally call `open` instead.

        Args:
            store: An open store.
        """
        self.store = store

    def load(
        self,
        corpus: str | Loader,
        *paths: Any,
        name: str | None = None,
        split: str | None = None,
        language: str = "en",
        turns: int = 8,
        map: Mapping[str, str] | None = None,
        encoding: str | None = None,
        clean: bool = False,
        gap: float = GAP,
        date_order: DateOrder | None = None,
        shard: Shard | str | None = None,
        progress: Progress | None = None,
        on_rejected: Callable[[Rejected], None] | None = None,
    ) -> LoadReport:
        """Load files into the store. Dialogues that are already in the store are not changed.

        Empty turns and system messages are left out. AMR graphs that do not belong to a loaded utterance are
        grouped into new dialogues.

        Args:
            corpus: A loader or its name: ``dialogues``, ``dailydialog``, ``penman``, ...
            *paths: Files or folders. The loader ``dialogues`` also takes lists of dicts, pandas DataFrames
                and Hugging Face datasets.
            name: The corpus name of all dialogues, with which their ids begin; None to take it from the data.
            split: The split of all dialogues; None to take it from the data.
            language: The language of the terms to load, as an ISO 639-1 code; used only by ``conceptnet``.
            turns: Number of turns in each dialogue that is made from AMR graphs.
            map: A mapping from graphneg's names of fields to the names in the data, such as
                ``{"text": "utterance"}``.
            encoding: Character encoding of the files, under its Python name, such as ``latin-1``.
            clean: Whether to repair HTML entities, and the spaces that tokenizers insert.
            gap: Number of hours without a message after which a new dialogue begins in a chat (``whatsapp``,
                ``slack``, ``discord``, ``irc``, ``line``).
            date_order: What comes first in dates such as ``03/04/2024``, ``day`` or ``month``; used only by
                ``dialogues``, ``transcript`` and ``whatsapp``. None to derive it from the dates of the file.
            shard: The shard whose dialogues are loaded, such as ``3/16``.
            progress: Progress display; advanced by the number of finished items.
            on_rejected: Function that is called with each rejected item.

        Returns:
            The report with the counts, the first rejected items, and notices.
        """
        # Refuse an unknown loader first: the user may have given a file name in place of the loader's name.
        loader = get_loader(corpus) if isinstance(corpus, str) else require_loader(corpus)
        self.store.check_facts()
        bar = progress or NoProgress()
        options = LoadOptions(
            name, split, language, bar, map or {}, encoding, clean, gap=gap, date_order=date_order
        )
        return load_files(self.store, loader, paths, turns, options, on_rejected, shard_of(shard))

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
        """Parse the texts that have no AMR graph, and write the graphs to the store.

        The store caches the graphs by text, parser and version of the parser, so that each text is parsed
        only once. If the call is interrupted, call it again to continue.

        Args:
            parser: Name of a parser, an object with the method ``parse_batch(texts)``, or an open parser
                pool.
            parser_options: Options of the parser, if it is given by name.
            processes: Number of processes, if the parser is given by name. By default, a parser that can run
                in several processes uses one for each core.
            of: Kinds of texts to parse: ``utterances``, ``responses``, or both.
            existing: ``keep`` to keep all existing graphs, or ``replace`` to replace graphs from another
                parser or a different version of this parser. Gold graphs are always kept.
            corpora: Names of the corpora to parse; empty for all.
            splits: Names of the splits to parse; empty for all.
            limit: Maximum number of dialogues to parse.
            shard: The shard whose dialogues are parsed, such as ``3/16``.
            progress: Progress display; advanced by the number of finished texts.
            on_warning: Function that is called with the id of a text and a problem with that text.

        Returns:
            The report with the counts of parsed and failed texts.
        """
        selection = Selection(corpora, splits, limit, shard=shard_of(shard))
        scope = ParseScope(selection, tuple(checked_list("of", of)), existing)
        # If the caller has opened a pool, do not close it, because the caller may use it again.
        is_open = isinstance(parser, ParserPool)
        with nullcontext(parser) if is_open else open_pool(parser, parser_options, processes) as pool:
            self.store.check_facts()
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
        sites: int = CANDIDATES,
        twins: bool = False,
        proved: bool = False,
        corpora: Sequence[str] = (),
        splits: Sequence[str] = (),
        limit: int | None = None,
        shard: Shard | str | None = None,
        batch: int = 200,
        progress: Progress | None = None,
        generator_options: Mapping[str, Any] | None = None,
    ) -> Negatives | Generated:
        """Return a stream of negatives for the dialogues in the store.

        The negatives are made when the stream is iterated over or written. The same seed gives the same
        negatives, regardless of the batch size and the server. The recipe ``hard`` does not edit graphs: it
        generates wrong responses to each context, as `generate` does.

        Args:
            recipe: A recipe or its name.
            transforms: Names of transforms to use instead of the recipe. Each negative uses one of these
                transforms.
            folders: Folders with the user's own transforms.
            decoder: A decoder or its name.
            decoder_options: Options of the decoder, if it is given by name.
            per_dialogue: Number of negatives for each dialogue; for the recipe ``hard``, for each context.
            seed: Seed for all random choices.
            target: What to edit: ``response`` or ``dialogue``; by default the recipe's target.
            sites: Number of sites (places that a transform can edit) that are sampled for each edit. The site
                with the highest score is edited.
            twins: Whether to return each negative together with its twin: the same reply without the error,
                or after an edited context that it fits, with label 1. Negatives without a twin are left out.
            proved: Whether to leave out negatives whose error is not proved (see `graphneg.editing.proof`).
            corpora: Names of the corpora to use; empty for all.
            splits: Names of the splits to use; empty for all.
            limit: Maximum number of dialogues. Dialogues without graphs are not counted.
            shard: The shard whose dialogues are used, such as ``3/16``. Use
                `Negatives.to_shard` to write the file of a shard.
            batch: Number of dialogues that are edited together.
            progress: Progress display; advanced by the number of finished dialogues.
            generator_options: Options of the generator that the recipe ``hard`` uses.

        Returns:
            A stream of negatives, which can be iterated over or written to a file.

        Raises:
            InputError: Generator options are given for a recipe that does not use a generator, or twins or
                proofs are requested of a recipe that uses one.
        """
        if isinstance(recipe, str) and recipe in GENERATED and not transforms:
            if twins or proved:
                raise InputError(f"the recipe {recipe!r} edits no graphs, so it makes no twins and no proofs")
            check_target(GENERATED[recipe], target)
            # The recipe "hard" does not edit graphs. It uses a generator to make its negatives.
            which: dict[str, Any] = {"corpora": corpora, "splits": splits, "limit": limit, "batch": batch}
            which["shard"] = shard
            made_by, amount = GENERATED[recipe].generator, per_dialogue
            settings = dict(generator_options or {})
            return self.generate(
                made_by, per_context=amount, seed=seed, progress=progress, **which, **settings
            )
        if generator_options:
            raise InputError(f"only the recipes that use a generator take options: {', '.join(GENERATED)}")
        chosen = chosen_recipe(recipe, checked_list("transforms", transforms), target)
        known = load_transforms(checked_list("folders", folders))
        request = EditRequest(
            EditSettings(
                chosen,
                target or default_target(chosen, known),
                seed,
                sites,
                version_of(chosen.transforms, known),
            ),
            known,
            per_dialogue,
            Selection(corpora, splits, limit, limit is not None, shard_of(shard)),
            batch,
            twins,
            proved,
        )
        made = _decoder(decoder, decoder_options or {})
        return Negatives(self.store, request, made, progress, decoder_options)

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
        """Return a stream of wrong responses that a generator makes.

        The responses are made when the stream is iterated over or written. The same seed gives the same
        responses, regardless of the batch size and the server.

        Args:
            generator: Name of a generator, or an instance of a subclass of
                `graphneg.generators.Generator`.
            per_context: Number of responses for each context.
            seed: Seed for all random choices.
            places: The turns for which responses are made, if a dialogue was loaded without responses:
                ``last`` for only the last turn, ``every`` for every turn except the first.
            corpora: Names of the corpora to use; empty for all.
            splits: Names of the splits to use; empty for all.
            limit: Maximum number of dialogues to use.
            shard: The shard whose dialogues are used, such as ``3/16``.
            batch: Number of dialogues that are processed together. The output file is updated after each
                batch. The default depends on the generator.
            progress: Progress display; advanced by the number of finished dialogues.
            **options: Options of the generator, if it is given by name. A ``ranker`` may be given as a path
                or as an id.

        Returns:
            A stream of negatives, which can be iterated over or written to a file.

        Raises:
            InputError: Options are given together with a generator object.
        """
        wanted = ContextSelection(Selection(corpora, splits, limit, shard=shard_of(shard)), places)
        asked = Generation(per_context, seed, wanted, batch)
        if isinstance(generator, str):
            made = get_generator(generator, self.store, **_with_loaded_ranker(options))
        elif options:
            raise InputError(
                f"options can be set only for the name of a generator, not for the object {generator.name!r}"
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
            mix: Numbers of correct and wrong responses to draw for each context in an epoch.
            seed: Seed for the first epoch.
            held_out: Texts that must not occur as a response in the pairs.
            held_out_splits: Splits to exclude. The replies and responses of these splits, in the sources or
                in this store, do not occur as a response in the pairs.
            cache: Folder in which the content of the files is cached.

        Returns:
            The pairs. Each iteration over them yields one epoch.
        """
        from graphneg.datasets.pairs import read_pairs

        return read_pairs(
            *sources, mix=mix, seed=seed, held_out=held_out, held_out_splits=held_out_splits, cache=cache,
            store=self.store,
        )  # fmt: skip

    def cypher(self, query: str, **parameters: Any) -> Rows:
        """Run a read-only query. The server refuses to run a query that writes.

        Raises `StoreError` if the query is not valid.

        Args:
            query: The Cypher text. It may come from an untrusted source.
            **parameters: Values of the query's parameters.

        Returns:
            The rows of the query.

        Raises:
            OnlyReading: The query would write (use `cypher_write` for that), load a file, or change the
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
            query: The Cypher text.
            **parameters: Values of the query's parameters.

        Returns:
            The rows of the query.
        """
        return Rows(self.store.query_write(query, parameters))

    def explore(self, name: str, **parameters: Any) -> Rows:
        """Run a named query that graphneg ships.

        ``graphneg cypher --named`` lists the queries and their parameters.

        Args:
            name: Name of the query, such as ``hubs``.
            **parameters: Values of the query's parameters, such as ``limit=5``.

        Returns:
            The rows of the query.
        """
        return explore(self.store, name, parameters)

    def export(
        self,
        out: str | Path,
        *,
        format: Literal["dailydialog_pp", "dialogues"] | None = None,
        negatives: Sequence[str | Path] = (),
        corpora: Sequence[str] = (),
        splits: Sequence[str] = (),
        limit: int | None = None,
        shard: Shard | str | None = None,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Write the content of the store to a file, whose suffix determines the format.

        ``.jsonl`` and ``.parquet`` files contain the dialogues as positives, and their responses, in the same
        format as negatives. ``.amr`` and ``.penman`` files contain the AMR graphs exactly as they were
        loaded. A ``.graphml`` file contains the dialogues and AMR graphs as one network. A file that the same
        call has already written is not written again.

        Args:
            out: File to write. If ``shard`` is given, the file of that shard is written instead;
                `graphneg.merging.merge` merges such files.
            format: ``dailydialog_pp`` to write contexts with correct and wrong responses as JSON Lines
                (`graphneg.datasets.groups.ContextWriter`); ``dialogues`` to write everything that was loaded
                or parsed, for the loader ``dialogues`` (`graphneg.ingest.exported`); None to use the format
                of the suffix.
            negatives: Files of negatives whose responses are added. Only for the format ``dailydialog_pp``.
            corpora: Names of the corpora to write; empty for all.
            splits: Names of the splits to write; empty for all.
            limit: Maximum number of dialogues to write.
            shard: The shard whose dialogues are written, such as ``3/16``; None for all.
            overwrite: Whether to replace a file that another call wrote.
            progress: Progress display; advanced by the number of finished dialogues.

        Returns:
            The number of items in the file.

        Raises:
            InputError: The format is unknown, or negatives are given without a format.
        """
        selection = Selection(corpora, splits, limit, shard=shard_of(shard))
        bar, files = progress or NoProgress(), checked_list("negatives", negatives)
        if format is None or format == exports.DIALOGUES.kind:
            # Only the format dailydialog_pp can contain negatives from files. All other formats contain only
            # what is in the store.
            if files:
                raise InputError(
                    "only the format dailydialog_pp can contain negatives: set format, or remove negatives"
                )
            form = None if format is None else exports.DIALOGUES
            return exports.export(self.store, Path(out), selection, bar, overwrite=overwrite, form=form).items
        from graphneg.datasets.groups import DAILYDIALOG_PP, ContextWriter, export_contexts

        if format != DAILYDIALOG_PP:
            raise InputError(
                f"unknown format {format!r}; choose {DAILYDIALOG_PP} or {exports.DIALOGUES.kind}, or None "
                "for the format that belongs to the suffix"
            )
        write = ContextWriter(files)
        return export_contexts(self.store, Path(out), selection, bar, write, overwrite=overwrite).items

    def info(self) -> Info:
        """Return a description of the store, its corpora, and its numbers of nodes and relationships."""
        return info_of(self.store)

    def explain(self, id: str, decoder: str | Decoder = "surface") -> Explanation:
        """Rebuild one negative from its stored edits, and explain how it was made.

        Args:
            id: Id of a negative whose edits are in the store.
            decoder: A decoder or its name.

        Returns:
            The negative with its graphs before and after the edits, and the reasons why the decoder returned
            no text for some of the turns.
        """
        return explain(self.store, id, _decoder(decoder, {}))

    def stored_negatives(
        self, decoder: str | Decoder = "surface", *, progress: Progress | None = None
    ) -> Iterator[Negative]:
        """Rebuild all negatives whose edits are in the store, in the order of their ids.

        Negatives that were rejected as duplicates are included. A negative is left out if its edits no longer
        fit the dialogue, or if the decoder returns no text.

        Args:
            decoder: A decoder or its name. It may differ from the decoder that was used originally.
            progress: Progress display; advanced by the number of finished negatives.

        Returns:
            An iterator over the negatives.
        """
        return stored_negatives(self.store, _decoder(decoder, {}), progress)

    def materialize(self, ids: Sequence[str]) -> int:
        """Write the edited graphs of negatives to the store as separate graphs, to explore them in Cypher.

        To match them, use the pattern ``(:Variant)-[:MEANS]->(:Amr)-[:TOP]->(:AmrNode)``.

        Args:
            ids: Ids of negatives whose edits are in the store.

        Returns:
            The number of graphs that were not in the store before.
        """
        return materialize(self.store, checked_list("ids", ids))

    def close(self) -> None:
        """Close the store. Its embedded server stops ``keep_warm`` seconds after the last store is closed."""
        self.store.close()

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def __repr__(self) -> str:
        """Return the name of the class and a description of the store."""
        return f"<DialogueGraph: {self.store.description}>"


def _with_loaded_ranker(options: Mapping[str, Any]) -> Mapping[str, Any]:
    named = options.get("ranker")
    if not isinstance(named, str | Path):
        return options
    from graphneg.generators.prompted_generation import NamedScorer
    from graphneg.rankers.base import load_ranker

    device = options.get("device", "auto")
    ranker = load_ranker(
        named, offline=bool(options.get("offline", False)), device=None if device == "auto" else device
    )
    return {**options, "ranker": NamedScorer(str(named), ranker)}


def _decoder(decoder: str | Decoder, options: Mapping[str, Any]) -> Decoder:
    """Return the decoder with the given name, or check and wrap a decoder that is given as an object."""
    return get_decoder(decoder, **options) if isinstance(decoder, str) else guarded(decoder)

"""The public face of graphneg: a dialogue graph that is opened, loaded, edited and read."""

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
from graphneg.generators.base import ContextSelection, Generator, Places, get_generator
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
    """Open a dialogue graph: a directory (embedded, made if it is not there) or a Neo4j URI.

    Without a target, NEO4J_URI decides, else ``./graphneg-store``; credentials that are not
    given come from NEO4J_USERNAME, NEO4J_PASSWORD and NEO4J_DATABASE. A store of an older schema is
    opened for ``upgrading`` only. An embedded server stops with its last user, or ``keep_warm`` seconds
    later: what opens the store meanwhile does so in an instant.

    Raises `StoreError`: the store can't be opened; the message says why and what to do.
    """
    credentials = {"username": username, "password": password, "database": database}
    return DialogueGraph(open_store(target, **credentials, upgrading=upgrading, keep_warm=keep_warm))


class DialogueGraph(ShiftCalls, AbstractContextManager["DialogueGraph"]):
    """An open dialogue graph. Use it in a ``with`` statement, or close it."""

    def __init__(self, store: Store) -> None:
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
        """Load files with the loader ``corpus`` (``dialogues``, ``dailydialog``, ``penman``, ...).

        ``dialogues`` also takes lists of dicts, pandas' DataFrames and Hugging Face datasets in place of
        ``paths``; ``map`` says what the data call its fields (``{"text": "utterance"}``), where that is not
        plain, ``encoding`` which codec texts are in; ``clean`` mends HTML entities and tokenisers' blanks.
        Empty turns and system messages are left out. A chat without ends (``whatsapp``, ``slack``,
        ``discord``) is cut where nobody writes for ``gap`` hours. ``name`` and ``split`` begin the dialogues'
        ids where the files do not say. Graphs that belong to no utterance become dialogues of ``turns``
        turns. What is in the store already is left as it is. Of a ``shard`` (``3/16``), only its dialogues
        are loaded. The report keeps the first refusals, and has ``notices`` of what was read; ``on_rejected``
        is told each refusal, as it happens.

        Raises:
            InputError: no such loader, or a file is not what it reads.
            StoreError: the store is gone.
        """
        bar = progress or NoProgress()
        options = LoadOptions(name, split, language, bar, map or {}, encoding, clean, gap=gap)
        return load_files(self.store, corpus, paths, turns, options, on_rejected, shard_of(shard))

    def upgrade(self, progress: Progress | None = None) -> int | None:
        """Compute anew what graphneg computes about all that is loaded; returns of how many graphs.

        So a store of an older schema, opened with ``upgrading``, is brought to this one; nothing is lost.
        Stopped at any moment, the same call goes on from there. A store that is current is left as it is:
        ``None``.

        Raises `StoreError`: the store is gone.
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
        """Parse the utterances that have no AMR graph, and write the graphs.

        ``parser`` is a name, an object with ``parse_batch(texts)``, or a pool that the caller has opened;
        one that is named is made with ``parser_options`` in ``processes`` processes (as many as there
        are cores, where it can). ``of`` may name ``responses`` as well. ``existing`` is ``keep``, or
        ``replace`` for graphs of other parsers and versions, never gold ones. ``corpora``, ``splits``
        and ``limit`` choose dialogues, ``shard`` a part of them. A text is parsed once for each version of
        a parser: the store remembers it. Stopped at any moment, the same call goes on from there.
        ``on_warning`` is told the id of a text and what went wrong with it.

        Raises:
            ParserError: the parser can't be made, or does not answer as parsers do.
            InputError: something else is asked for than utterances and responses.
            StoreError: the store is gone.
        """
        selection = Selection(corpora, splits, limit, shard=shard_of(shard))
        scope = ParseScope(selection, tuple(listed("of", of)), existing)
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
        """Negatives of the dialogues in the store, made when they are iterated or written.

        ``transforms`` replaces the recipe by one edit of these transforms each; ``folders`` hold
        transforms of one's own. ``target`` is ``response`` or ``dialogue``, the recipe's where not given.
        Of so many ``candidates``, sites that are drawn, the one that clashes most is edited. ``corpora``
        and ``splits`` choose dialogues, ``limit`` the first ones that have graphs, ``shard`` (``3/16``) a
        part of them, for `to_shard`. The same
        seed gives the same negatives, whatever ``batch`` and the server. The recipe ``hard`` edits nothing:
        it gives ``per_dialogue`` wrong responses to each context, as `generate` does, and its generator takes
        the ``generator_options``.

        Raises:
            InputError: an unknown recipe, transform or target, or options for a recipe without a generator.
            GeneratorError: the generator does not take these options.
            DecoderError: the decoder can't be made.
            TransformError: a file in ``folders`` is not a transform.
        """
        if isinstance(recipe, str) and recipe in GENERATED and not transforms:
            check_target(GENERATED[recipe], target)
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
        """Wrong responses by a generator, made when they are iterated or written.

        ``generator`` is a name, made with ``options`` (a ``ranker`` by its path or id, too), or an object
        with ``generate(contexts, per_context, seed)``. Contexts end where a dialogue's responses answer; of
        dialogues without responses ``places`` is ``last`` (the context of the last turn) or ``every`` (of
        each turn). ``corpora``, ``splits`` and ``limit`` choose dialogues, ``shard`` a part of them. The same
        seed gives the same negatives, whatever ``batch`` and the server; a file is written after each batch
        (None: as many dialogues as suit the generator, 8 where a language model writes).

        Raises:
            InputError: fewer than one negative of each context, or unknown places.
            GeneratorError: the generator can't be made, or does not answer as generators do.
        """
        wanted = ContextSelection(Selection(corpora, splits, limit, shard=shard_of(shard)), places)
        asked = Generation(per_context, seed, wanted, batch)
        if isinstance(generator, str):
            made = get_generator(generator, self.store, **_with_ranker(options))
        elif options:
            raise InputError(f"options are for generators that are named, not for {generator.name!r}")
        else:
            made = generator
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
        """Pairs for a training job, as `graphneg.datasets.pairs.read_pairs` makes them of negatives.

        Of ``held_out_splits`` every reply and response in the store is held out, too.
        """
        from graphneg.datasets.pairs import read_pairs

        return read_pairs(
            *sources, mix=mix, seed=seed, held_out=held_out, held_out_splits=held_out_splits, cache=cache,
            store=self.store,
        )  # fmt: skip

    def cypher(self, query: str, **parameters: Any) -> Rows:
        """Run a query that only reads; the server refuses to write for it.

        Args:
            query: The query, which may be anybody's.
            **parameters: The values of its parameters.

        Returns:
            Its rows.

        Raises:
            OnlyReading: The query would write (`cypher_write` lets it), load a file, or change the server.
            StoreError: The query is not valid, or the store is gone.
        """
        try:
            return Rows(self.store.query_read(query, parameters))
        except OnlyReading as error:
            error.add_note("DialogueGraph.cypher_write runs queries that may write.")
            raise

    def cypher_write(self, query: str, **parameters: Any) -> Rows:
        """The rows of a query that may write."""
        return Rows(self.store.query_write(query, parameters))

    def explore(self, name: str, **parameters: Any) -> Rows:
        """The rows of a named query over the shift graph: ``graph.explore("hubs", limit=5)``.

        ``graphneg cypher --named`` lists them; their parameters have defaults where they can.

        Raises:
            InputError: no such query, a parameter is missing or unknown, or a topic is not in the graph.
            StoreError: the store is gone.
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
        """Write what is loaded to a file, in the form that its suffix names; returns how many items.

        ``.jsonl`` and ``.parquet``: dialogues as positives and their responses, in the shape of
        negatives. ``.amr`` and ``.penman``: AMR graphs, exactly as they were loaded. ``.graphml``: the
        dialogues and their AMR graphs as one graph. With the ``format`` ``dailydialog_pp``: contexts with
        right and wrong responses, also those of files of ``negatives``, as JSON lines (`ContextWriter` in
        `graphneg.datasets.groups` says how). Of a ``shard``, the file of the shard is written, for
        `graphneg.merging.merge`. A file that the same call wrote is left as it is.

        Raises `InputError`: another suffix or format, the file can't be written, there is another one, which
        ``overwrite`` replaces, or no context has right and wrong responses.
        """
        selection = Selection(corpora, splits, limit, shard=shard_of(shard))
        bar, files = progress or NoProgress(), listed("negatives", negatives)
        if format is None:
            if files:
                raise InputError("negatives go into the format dailydialog_pp: name it, or leave them out")
            return exports.export(self.store, Path(out), selection, bar, overwrite=overwrite).items
        from graphneg.datasets.groups import DAILYDIALOG_PP, ContextWriter, export_contexts

        if format != DAILYDIALOG_PP:
            raise InputError(f"format {format!r}: there is {DAILYDIALOG_PP}, or what the suffix names")
        write = ContextWriter(files)
        return export_contexts(self.store, Path(out), selection, bar, write, overwrite=overwrite).items

    def info(self) -> Info:
        """What the store is and holds."""
        return info_of(self.store)

    def explain(self, id: str, decoder: str | Decoder = "surface") -> Explanation:
        """One negative that was made from this store: its graphs before and after, and its text.

        Raises `InputError`: there is no such negative in the store.
        """
        return explain(self.store, id, _decoder(decoder, {}))

    def kept_negatives(
        self, decoder: str | Decoder = "surface", *, progress: Progress | None = None
    ) -> Iterator[Negative]:
        """All negatives that were made from this store, once more, by a decoder of choice, in the order of
        their ids: also those that were refused for being like another one.

        What fits its dialogue no more, or gets no text, is passed over.
        """
        return kept_negatives(self.store, _decoder(decoder, {}), progress)

    def materialize(self, ids: Sequence[str]) -> int:
        """Write the edited graphs of negatives as graphs of their own, to explore in Cypher.

        They are ``(:Variant)-[:MEANS]->(:Amr)-[:TOP]->(:AmrNode)``; returns how many are new.
        """
        return materialize(self.store, listed("ids", ids))

    def close(self) -> None:
        """Close the store; an embedded server stops with its last user, unless that keeps it warm."""
        self.store.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<DialogueGraph: {self.store.description}>"


def _with_ranker(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Options of a generator, in which a ranker that is named is loaded."""
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
    return get_decoder(decoder, **options) if isinstance(decoder, str) else guarded(decoder)

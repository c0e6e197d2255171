"""Make negatives from the files of a corpus, in blocks of dialogues, on one machine or on many.

A `Pipeline`, which a YAML file describes, goes in. The output is the file of negatives that `load`, `parse`
and `negatives` (or `generate`) would give one after another, byte for byte. A block is a shard
(`graphneg.shards`). A finished block is a file in ``OUT.blocks`` and is not made again; `graphneg.merging`
merges the blocks, and `graphneg.ray` does them on a cluster:

    load: [{corpus: dialogues, paths: [mine.jsonl]}]
    parse: {parser: dependency}
    negatives: {recipe: contradiction, per_dialogue: 2}
    write: negatives.jsonl
    blocks: 16

There are two layouts. With a ``store`` (a Neo4j server) all blocks are in it, and all texts are parsed before
the first negative is made. Without one, each worker has an embedded store, which holds the dialogues of its
blocks; a ``snapshot`` gives it what some recipes need from other dialogues.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import msgspec

from graphneg import __version__
from graphneg.amr.penman import parse_graph
from graphneg.dialogue_graph import DialogueGraph
from graphneg.editing.export import Exported
from graphneg.editing.recipes import GENERATED, chosen_recipe
from graphneg.errors import GraphnegError, InputError, PenmanError, first_line
from graphneg.hashing import files_digest, fingerprint
from graphneg.ingest.blocks import Load, block_records, sort_records
from graphneg.ingest.loader import LoadReport
from graphneg.ingest.validation import Grouping
from graphneg.ingest.writing import write_records
from graphneg.json_input import parse_yaml, read_input
from graphneg.merging import merge
from graphneg.model import Dialogue, Rejected, Utterance
from graphneg.parsers.base import Parsed
from graphneg.parsers.jobs import LastingParser, ParserPool
from graphneg.progress import NoProgress, Progress
from graphneg.records.runs import check_output, finished_run, note_finished
from graphneg.records.shards import open_shard, write_batches
from graphneg.shards import Shard
from graphneg.store.contents import content_digest
from graphneg.store.dialogues import Selection
from graphneg.store.opening import open_store, open_temporary

ACROSS = frozenset({"graft", "perspective"})
"""Transforms that use other dialogues."""
_LONGEST = 2**20
"""Maximum number of bytes of a pipeline's file."""
_DIALOGUES = 2_000
"""Number of dialogues after which an embedded store takes no further block, because a new one is faster then.
"""


class Parse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How utterances without graphs are parsed.

    Attributes:
        parser: Name of the parser.
        options: Options of the parser.
    """

    parser: str = "dependency"
    options: dict[str, Any] = {}


class Actors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The workers of one stage on a cluster.

    Attributes:
        amount: Number of workers at a time.
        cpus: Number of CPUs of each worker.
        gpus: Number of GPUs of each worker; may be a fraction.
    """

    amount: int = 2
    cpus: float = 1
    gpus: float = 0


class Pipeline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is read, how it is parsed, what is made of it, and where the result goes.

    Attributes:
        write: File of negatives to write, .jsonl or .parquet.
        load: Files to load, with the arguments of `DialogueGraph.load`.
        store: URI of a Neo4j server for all blocks, or None for embedded stores.
        snapshot: File of a snapshot, for embedded stores.
        parse: How utterances without graphs are parsed, or None.
        negatives: Arguments of `DialogueGraph.negatives`, or None.
        generate: Arguments of `DialogueGraph.generate`, or None.
        blocks: Number of blocks.
        parsers: Workers that parse, on a cluster.
        makers: Workers that make negatives, on a cluster.
    """

    write: str
    load: tuple[Load, ...] = ()
    store: str | None = None
    snapshot: str | None = None
    parse: Parse | None = None
    negatives: dict[str, Any] | None = None
    generate: dict[str, Any] | None = None
    blocks: int = 16
    parsers: Actors = Actors()
    makers: Actors = Actors()

    @property
    def shards(self) -> list[Shard]:
        """The blocks."""
        return [Shard(index, self.blocks) for index in range(1, self.blocks + 1)]

    def block(self, shard: Shard, folder: Path) -> Path:
        """Return the file of a finished block.

        Args:
            shard: The block.
            folder: Folder of the blocks.

        Returns:
            The path.
        """
        return shard.file(folder / Path(self.write).name)


def read_pipeline(path: str | Path) -> Pipeline:
    """Return the pipeline that a YAML file describes. An invalid file is an `InputError`."""
    try:
        pipeline = parse_yaml(read_input(path, _LONGEST), Pipeline, str(path))
    except InputError as error:
        raise _wrong(str(error)) from error
    try:
        return checked(pipeline)
    except InputError as error:
        raise _wrong(f"{path}: {error}") from error


def checked(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline if it can be run. A contradiction in it is an `InputError`."""
    # Exactly one of the two must be given.
    if (pipeline.negatives is None) == (pipeline.generate is None):
        raise _wrong("name what to make: either negatives or generate")
    if pipeline.blocks < 1 or min(pipeline.parsers.amount, pipeline.makers.amount) < 1:
        raise _wrong("the numbers of blocks, parsers and makers must be at least 1")
    if pipeline.store is None and not pipeline.load:
        raise _wrong("nothing to read: name what to load, or a store")
    if pipeline.store is None and pipeline.snapshot is None and _looks_across(pipeline):
        raise _wrong("this looks at other dialogues: name a store for all blocks, or a snapshot")
    check_output(pipeline.write, [".jsonl", ".parquet"])
    return pipeline


def _looks_across(pipeline: Pipeline) -> bool:
    """Return whether the negatives depend on other dialogues."""
    asked = pipeline.negatives or {}
    recipe, transforms = asked.get("recipe", "deam"), asked.get("transforms", ())
    # Generators take sentences, samples or responses from other dialogues.
    if pipeline.generate is not None or (recipe in GENERATED and not transforms):
        return True
    return not ACROSS.isdisjoint(chosen_recipe(recipe, transforms, asked.get("target")).transforms)


def _wrong(reason: str) -> InputError:
    """Return an error for wrong arguments, with exit status 2."""
    error = InputError(reason)
    # Exit status 2 tells a wrong command line or file from a failed run.
    error.status = 2
    return error


class Done(NamedTuple):
    """The result of a block.

    Attributes:
        refused: Items of the files that were refused.
        fault: Why the block could not be done; empty if it is done.
    """

    refused: Sequence[Rejected] = ()
    fault: str = ""


Mapped = Callable[[Pipeline, Sequence[Shard], Path | None], Iterator[Done]]
"""Function that does some blocks and yields the result of each.

With a folder it writes the files of the blocks; without one it parses the blocks in the store of all.
"""
Listener = Callable[[Rejected], None]
"""Function that is called with each refused item."""


def run_pipeline(
    pipeline: Pipeline,
    mapped: Mapped | None = None,
    progress: Progress | None = None,
    *,
    overwrite: bool = False,
    on_rejected: Listener | None = None,
) -> Exported:
    """Run a pipeline block by block, and write its file.

    If the call is stopped, the same call makes only the blocks that are missing.

    Args:
        pipeline: The pipeline.
        mapped: Function that does the blocks; by default this process does one after the other.
        progress: Receives the number of finished blocks.
        overwrite: Replace a file that another pipeline wrote.
        on_rejected: Called with each item of the files that is refused, and with each text that crashes its
            parser and gets no graph.

    Returns:
        The number of negatives in the file.
    """
    bar, each = progress or NoProgress(), mapped or in_turn
    out, tell = Path(pipeline.write), on_rejected or _pass_over
    made_of = _fill(pipeline, each, bar, tell)
    run = fingerprint(["pipeline", __version__, _settings(pipeline), made_of])
    if done := finished_run(out, run, overwrite):
        return Exported(done["items"], was_complete=True)
    # A folder for each run: blocks of other settings or data are never mixed in.
    folder = Path(f"{out}.blocks") / run
    if pipeline.store is None:
        sort_records(pipeline.load, pipeline.blocks, folder / "records", tell)
    folder.mkdir(parents=True, exist_ok=True)
    _each_block(pipeline, each, folder, "negatives", bar, tell)
    files = [pipeline.block(shard, folder) for shard in pipeline.shards]
    merged = merge(files, out, overwrite=True, progress=bar)
    note_finished(out, out, run, items=merged.items)
    rmtree(folder.parent)
    return merged


def _settings(pipeline: Pipeline) -> Any:
    """Return what the result depends on."""
    facts = msgspec.to_builtins(pipeline)
    # The number of workers and the name of the file do not change the result.
    return {name: facts[name] for name in facts if name not in {"parsers", "makers", "write"}}


def _pass_over(_: Rejected) -> None:
    """Ignore a refused item."""


def _each_block(
    pipeline: Pipeline, each: Mapped, folder: Path | None, what: str, progress: Progress, tell: Listener
) -> None:
    """Do the blocks that are missing. If some fail, the others are done before the error is raised."""
    left = pipeline.shards
    if folder is not None:
        # Finished blocks of an interrupted run are kept.
        left = [shard for shard in left if not pipeline.block(shard, folder).exists()]
    progress.start(what, pipeline.blocks, "blocks")
    progress.advance(pipeline.blocks - len(left))
    # One bad block must not cost the others.
    faults: list[str] = []
    for done in each(pipeline, left, folder) if left else ():
        for one in done.refused:
            tell(one)
        if done.fault:
            faults.append(done.fault)
        else:
            progress.advance(1)
    progress.finish()
    if faults:
        raise InputError(
            f"{len(faults)} of {pipeline.blocks} blocks failed: {sorted(faults)[0]}; "
            "the others are kept; run the same command again to make the failed ones"
        )


def _fill(pipeline: Pipeline, each: Mapped, progress: Progress, tell: Listener) -> str:
    """Load and parse into the store of all blocks, if there is one. Return a digest of the input."""
    if pipeline.store is None:
        files = [Path(path) for load in pipeline.load for path in load.paths]
        files += [] if pipeline.snapshot is None else [Path(pipeline.snapshot)]
        if missing := next((file for file in files if not file.exists()), None):
            raise _wrong(f"{missing}: there is no such file")
        # The content of the files identifies the run, because there is no store to ask.
        whole = [file for path in files for file in ([path] if path.is_file() else sorted(path.rglob("*")))]
        return files_digest(file for file in whole if file.is_file())
    with _opened(pipeline.store) as graph:
        for load in pipeline.load:
            options = msgspec.structs.asdict(load)
            corpus, paths = options.pop("corpus"), options.pop("paths")
            graph.load(corpus, *paths, **options, progress=progress, on_rejected=tell)
    if pipeline.parse is not None:
        _each_block(pipeline, each, None, "parse", progress, tell)
    with _opened(pipeline.store) as graph:
        return content_digest(graph.store, Selection())


def in_turn(pipeline: Pipeline, shards: Sequence[Shard], folder: Path | None) -> Iterator[Done]:
    """Do the blocks in this process, one after the other.

    Args:
        pipeline: The pipeline.
        shards: Blocks to do.
        folder: Folder of the blocks, or None to parse them in the store of all.

    Yields:
        The result of each block.
    """
    with closing(Reader(pipeline)) as reader:
        if folder is None:
            yield from (attempted(shard, reader.into_store, shard) for shard in shards)
            return
        # The parser and the store are made once and serve all blocks.
        with closing(Maker(pipeline, folder)) as maker:
            yield from (attempted(shard, _read_and_make, reader, maker, shard, folder) for shard in shards)


def _read_and_make(reader: Reader, maker: Maker, shard: Shard, folder: Path, refused: list[Rejected]) -> None:
    """Parse a block and make its negatives."""
    maker.make(shard, reader.parse(shard, folder, refused), refused)


def attempted(shard: Shard, work: Callable[..., None], *arguments: Any) -> Done:
    """Do a block and return its result.

    Unexpected exceptions fail the block. `GraphnegError` and `OSError` (no space, no permission) would fail
    all blocks and are raised.

    Args:
        shard: The block.
        work: Function that does it. Its last argument is a list for refused items.
        *arguments: The other arguments of the function.

    Returns:
        The refused items, and the fault if there is one.

    Raises:
        GraphnegError: The function raised it.
        OSError: The function raised it.
    """
    refused, fault = list[Rejected](), ""
    try:
        work(*arguments, refused)
    except (GraphnegError, OSError):
        raise
    except Exception as error:
        fault = f"block {shard}: {type(error).__name__}: {first_line(error)}"
    return Done(refused, fault)


class Parses(NamedTuple):
    """The parses of a block.

    Attributes:
        name: Name of the parser.
        version: Version of the parser.
        of: Parses by text.
    """

    name: str
    version: str
    of: dict[str, Parsed]

    def again(self, batches: Iterable[Sequence[str]]) -> Iterator[list[Parsed]]:
        """Return the parses of texts, as the parser would.

        Args:
            batches: Batches of texts that were parsed.

        Returns:
            An iterator over the parses of each batch.
        """
        return ([self.of[text] for text in batch] for batch in batches)


class Reader:
    """The first stage: parses the texts of a block that have no graph. The parser is made once."""

    def __init__(self, pipeline: Pipeline) -> None:
        """Initialize the parser, if the pipeline has one."""
        self._pipeline = pipeline
        self._parser: LastingParser | None = None
        if (asked := pipeline.parse) is not None:
            self._parser = LastingParser(asked.parser, asked.options)

    def into_store(self, shard: Shard, refused: list[Rejected]) -> None:
        """Parse a block in the store of all blocks.

        Args:
            shard: The block.
            refused: List that receives the texts that crashed the parser.
        """
        assert self._pipeline.store is not None and self._parser is not None
        with _opened(self._pipeline.store) as graph:
            graph.parse(self._parser.pool, shard=shard)
        self._tell(refused)

    def parse(self, shard: Shard, folder: Path, refused: list[Rejected]) -> Parses | None:
        """Parse the texts of a block.

        Args:
            shard: The block.
            folder: Folder of the blocks.
            refused: List that receives the texts that crashed the parser.

        Returns:
            The parses, or None if there is no parser or the store of all has them.
        """
        if self._parser is None or self._pipeline.store is not None:
            return None
        # Each text is parsed once, however often it occurs in the block.
        texts = dict.fromkeys(
            turn.text
            for record in block_records(folder / "records", shard)
            if isinstance(record, Dialogue)
            for turn in record.utterances
            if not _has_graph(turn)
        )
        pool = self._parser.pool
        answers = (parsed for batch in pool.parse(_in_batches(list(texts))) for parsed in batch)
        found = dict(zip(texts, answers, strict=True))
        self._tell(refused)
        return Parses(pool.name, pool.version, found)

    def _tell(self, refused: list[Rejected]) -> None:
        """Add the texts of this block that crashed the parser to the refused items."""
        assert self._parser is not None
        # Each crash is reported with the block in which it happened.
        crashes, self._parser.crashes = self._parser.crashes, []
        refused += [Rejected(f"the text {text[:60]!r}", f"not parsed: {reason}") for text, reason in crashes]

    def close(self) -> None:
        """End the parser."""
        if self._parser is not None:
            self._parser.close()


def _has_graph(turn: Utterance) -> bool:
    """Return whether an utterance has a well-formed graph."""
    try:
        return turn.amr is not None and bool(parse_graph(turn.amr).nodes)
    except PenmanError:
        return False


def _in_batches(texts: Sequence[str], size: int = 100) -> Iterator[Sequence[str]]:
    """Yield texts in batches."""
    return (texts[start : start + size] for start in range(0, len(texts), size))


class Maker:
    """The second stage: makes the negatives of a block.

    Without a store for all blocks, it has an embedded store, which takes several blocks, because a warm
    server is faster.
    """

    def __init__(self, pipeline: Pipeline, folder: Path) -> None:
        """Initialize the stage without a store."""
        self._pipeline, self._folder = pipeline, folder
        self._own: DialogueGraph | None = None
        self._held = 0

    def make(self, shard: Shard, parsed: Parses | None, refused: list[Rejected]) -> None:
        """Write the file of a block. A finished file is kept, and an unfinished one is continued.

        Args:
            shard: The block.
            parsed: Parses of the block, or None.
            refused: List that receives the items of the block that are refused.
        """
        out = self._folder / Path(self._pipeline.write).name
        if self._pipeline.block(shard, self._folder).exists():
            return
        if self._pipeline.store is not None:
            with _opened(self._pipeline.store) as graph:
                self._write(graph, shard, out)
            return
        try:
            self._write(self._filled(shard, parsed, refused), shard, out)
        except BaseException:
            self.close()  # The store may hold half of the block.
            raise
        # The excerpts of a snapshot may be dialogues of the next block, which must be loaded whole.
        if self._held >= _DIALOGUES or self._pipeline.snapshot is not None:
            self.close()

    def close(self) -> None:
        """Close the embedded store."""
        own, self._own = self._own, None
        if own is not None:
            own.close()

    def _filled(self, shard: Shard, parsed: Parses | None, refused: list[Rejected]) -> DialogueGraph:
        """Return the embedded store with a block: its dialogues, resources, parses, and the snapshot."""
        records = block_records(self._folder / "records", shard)
        if self._own is None:
            self._own, self._held = DialogueGraph(open_temporary()), 0
            # Records that all blocks need: frames, opposites, lexicon entries.
            records = chain(block_records(self._folder / "records", None), records)
        report = LoadReport("block", on_rejected=refused.append)
        write_records(self._own.store, records, report, Grouping("", "", 1))
        self._held += report.written["dialogues"]
        if parsed is not None:
            self._own.parse(ParserPool(parsed.name, parsed.version, parsed.again, _nothing), shard=shard)
        if self._pipeline.snapshot is not None:
            from graphneg.snapshots import Snapshot

            Snapshot.read(self._pipeline.snapshot).load(self._own.store)
        return self._own

    def _write(self, graph: DialogueGraph, shard: Shard, out: Path) -> None:
        """Write the file of a block, as `NegativeStream.to_shard` does."""
        if self._pipeline.negatives is not None:
            stream = graph.negatives(**self._pipeline.negatives, shard=shard)
        else:
            stream = graph.generate(**(self._pipeline.generate or {}), shard=shard)
        # `to_shard` takes a digest of the content. For a store of all blocks that takes longer than a block,
        # and each embedded store has another content. The name of the folder stands for what the blocks have
        # in common.
        content = self._folder.name
        with open_shard(out, stream.shard_header(content), content) as writer:
            stream.resumed = writer.resumed
            write_batches(writer, stream.run_shard(writer.resumed.dialogues))


def _nothing() -> None:
    """Do nothing."""
    pass


@contextmanager
def _opened(target: str) -> Generator[DialogueGraph]:
    """Open a store for the length of a block."""
    with DialogueGraph(open_store(target)) as graph:
        yield graph

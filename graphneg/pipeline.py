"""From files of a corpus to negatives, in blocks of dialogues: on this machine, or (`graphneg.ray`) on many.

In: a `Pipeline`, as a YAML file describes it. Out: the file of negatives that `load`, `parse` and `negatives`
(or `generate`) give one after another, byte for byte. A block is a shard (`graphneg.shards`): a block that is
done is a file in ``OUT.blocks`` and is not made again, and `graphneg.merging` puts them together.

There are two layouts. With a ``store`` (a Neo4j) all blocks are in it; parses are all written before the
first negative is made. Without one, each worker has an embedded store of its own, which holds the dialogues
of its blocks and what looks across dialogues from a ``snapshot``.
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
"""Transforms that look at other dialogues."""
_LONGEST = 2**20
"""Bytes of a pipeline's file."""
_DIALOGUES = 2_000
"""An embedded store that has so many takes no further block: a new one is faster then."""


class Parse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What gives graphs to utterances without."""

    parser: str = "dependency"
    options: dict[str, Any] = {}


class Actors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many work at a time on a cluster, and what each has: CPUs, and a share of GPUs."""

    amount: int = 2
    cpus: float = 1
    gpus: float = 0


class Pipeline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is read, how it is parsed, what is made of it, and where that goes.

    ``negatives`` or ``generate`` hold the arguments of the call of that name of
    `graphneg.dialogue_graph.DialogueGraph`; ``parsers`` and ``makers`` are for clusters.
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
        """The file of a block that is done."""
        return shard.file(folder / Path(self.write).name)


def read_pipeline(path: str | Path) -> Pipeline:
    """The pipeline that a YAML file describes.

    Raises `InputError`: it can't be read, or does not describe one.
    """
    try:
        pipeline = parse_yaml(read_input(path, _LONGEST), Pipeline, str(path))
    except InputError as error:
        raise _wrong(str(error)) from error
    try:
        return checked(pipeline)
    except InputError as error:
        raise _wrong(f"{path}: {error}") from error


def checked(pipeline: Pipeline) -> Pipeline:
    """The pipeline, if it can be run.

    Raises `InputError`: it makes nothing or two things, has no block, or looks across dialogues without a
    store or a snapshot of them.
    """
    if (pipeline.negatives is None) == (pipeline.generate is None):
        raise _wrong("say what to make: either negatives or generate")
    if pipeline.blocks < 1 or min(pipeline.parsers.amount, pipeline.makers.amount) < 1:
        raise _wrong("one block, one parser and one maker at least")
    if pipeline.store is None and not pipeline.load:
        raise _wrong("nothing to read: name what to load, or a store")
    if pipeline.store is None and pipeline.snapshot is None and _looks_across(pipeline):
        raise _wrong("this looks at other dialogues: name a store for all blocks, or a snapshot")
    check_output(pipeline.write, [".jsonl", ".parquet"])
    return pipeline


def _looks_across(pipeline: Pipeline) -> bool:
    asked = pipeline.negatives or {}
    recipe, transforms = asked.get("recipe", "deam"), asked.get("transforms", ())
    if pipeline.generate is not None or (recipe in GENERATED and not transforms):
        return True
    return not ACROSS.isdisjoint(chosen_recipe(recipe, transforms, asked.get("target")).transforms)


def _wrong(reason: str) -> InputError:
    error = InputError(reason)
    error.status = 2
    return error


class Done(NamedTuple):
    """A block that was at work: what was refused in it, and the ``fault`` by which it could not be done."""

    refused: Sequence[Rejected] = ()
    fault: str = ""


Mapped = Callable[[Pipeline, Sequence[Shard], Path | None], Iterator[Done]]
"""Does some blocks, and says of each what became of it: makes its file in a folder, or, where there is none
yet, parses it into the store of all."""
Listener = Callable[[Rejected], None]


def run_pipeline(
    pipeline: Pipeline,
    mapped: Mapped | None = None,
    progress: Progress | None = None,
    *,
    overwrite: bool = False,
    on_rejected: Listener | None = None,
) -> Exported:
    """Do all of a pipeline, block by block, and write its file; returns how many negatives it has.

    ``mapped`` is what does the blocks; by default this process, one after the other. Stopped at any moment,
    the same call makes only blocks that are not done. ``on_rejected`` is told what is refused of the files,
    and each text that ends its parser, which gets no graph.

    Raises:
        InputError: a file can't be read or written, or there is another one, which ``overwrite`` replaces;
            or a block could not be done, once all others are.
        StoreError: the store is gone.
    """
    bar, each = progress or NoProgress(), mapped or in_turn
    out, tell = Path(pipeline.write), on_rejected or _pass_over
    made_of = _fill(pipeline, each, bar, tell)
    run = fingerprint(["pipeline", __version__, _settings(pipeline), made_of])
    if done := finished_run(out, run, overwrite):
        return Exported(done["items"], was_complete=True)
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
    facts = msgspec.to_builtins(pipeline)
    return {name: facts[name] for name in facts if name not in {"parsers", "makers", "write"}}


def _pass_over(_: Rejected) -> None:
    """Nobody listens."""


def _each_block(
    pipeline: Pipeline, each: Mapped, folder: Path | None, what: str, progress: Progress, tell: Listener
) -> None:
    left = pipeline.shards
    if folder is not None:
        left = [shard for shard in left if not pipeline.block(shard, folder).exists()]
    progress.start(what, pipeline.blocks, "blocks")
    progress.advance(pipeline.blocks - len(left))
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
            f"{len(faults)} of {pipeline.blocks} blocks could not be done: {sorted(faults)[0]}; "
            "the others are kept, and the same command does what is left"
        )


def _fill(pipeline: Pipeline, each: Mapped, progress: Progress, tell: Listener) -> str:
    """Load and parse into the store of all blocks, if there is one; returns a digest of what goes in."""
    if pipeline.store is None:
        files = [Path(path) for load in pipeline.load for path in load.paths]
        files += [] if pipeline.snapshot is None else [Path(pipeline.snapshot)]
        if missing := next((file for file in files if not file.exists()), None):
            raise _wrong(f"{missing}: there is no such file")
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
    """Do the blocks in this process, one after the other."""
    with closing(Reader(pipeline)) as reader:
        if folder is None:
            yield from (attempted(shard, reader.into_store, shard) for shard in shards)
            return
        with closing(Maker(pipeline, folder)) as maker:
            yield from (attempted(shard, _read_and_make, reader, maker, shard, folder) for shard in shards)


def _read_and_make(reader: Reader, maker: Maker, shard: Shard, folder: Path, refused: list[Rejected]) -> None:
    maker.make(shard, reader.parse(shard, folder, refused), refused)


def attempted(shard: Shard, work: Callable[..., None], *arguments: Any) -> Done:
    """A block by ``work``, whose last argument takes what it refuses. What it raises by mistake is a fault of
    the block; what is raised on purpose, and what the system says (no room, no permission), would come of
    all blocks, and is raised here as well."""
    refused, fault = list[Rejected](), ""
    try:
        work(*arguments, refused)
    except (GraphnegError, OSError):
        raise
    except Exception as error:
        fault = f"block {shard}: {type(error).__name__}: {first_line(error)}"
    return Done(refused, fault)


class Parses(NamedTuple):
    """A parser's name and version, and by text what it made of it."""

    name: str
    version: str
    of: dict[str, Parsed]

    def again(self, batches: Iterable[Sequence[str]]) -> Iterator[list[Parsed]]:
        """What the parser would say."""
        return ([self.of[text] for text in batch] for batch in batches)


class Reader:
    """The first stage: parses the texts of a block that have no graph. The parser is made once."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._parser: LastingParser | None = None
        if (asked := pipeline.parse) is not None:
            self._parser = LastingParser(asked.parser, asked.options)

    def into_store(self, shard: Shard, refused: list[Rejected]) -> None:
        """Parse a block in the store of all blocks."""
        assert self._pipeline.store is not None and self._parser is not None
        with _opened(self._pipeline.store) as graph:
            graph.parse(self._parser.pool, shard=shard)
        self._tell(refused)

    def parse(self, shard: Shard, folder: Path, refused: list[Rejected]) -> Parses | None:
        """What the parser made of the texts of a block; nothing where the store of all has it."""
        if self._parser is None or self._pipeline.store is not None:
            return None
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
        """Which texts of this block ended the parser."""
        assert self._parser is not None
        crashes, self._parser.crashes = self._parser.crashes, []
        refused += [Rejected(f"the text {text[:60]!r}", f"not parsed: {reason}") for text, reason in crashes]

    def close(self) -> None:
        """Let go of the parser."""
        if self._parser is not None:
            self._parser.close()


def _has_graph(turn: Utterance) -> bool:
    """Whether it comes with a graph that is not refused."""
    try:
        return turn.amr is not None and bool(parse_graph(turn.amr).nodes)
    except PenmanError:
        return False


def _in_batches(texts: Sequence[str], size: int = 100) -> Iterator[Sequence[str]]:
    return (texts[start : start + size] for start in range(0, len(texts), size))


class Maker:
    """The second stage: makes the negatives of a block. Where there is no store of all, it has an embedded
    one of its own, for as many blocks as come to ``_DIALOGUES``: warm, a server does more in a second."""

    def __init__(self, pipeline: Pipeline, folder: Path) -> None:
        self._pipeline, self._folder = pipeline, folder
        self._own: DialogueGraph | None = None
        self._held = 0

    def make(self, shard: Shard, parsed: Parses | None, refused: list[Rejected]) -> None:
        """Write the file of the block; one that is there already, in whole or in part, is gone on with.
        ``refused`` takes what is of its dialogues."""
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
            self.close()  # it may have half of the block
            raise
        if self._held >= _DIALOGUES or self._pipeline.snapshot is not None:
            self.close()

    def close(self) -> None:
        """Let go of the own store."""
        own, self._own = self._own, None
        if own is not None:
            own.close()

    def _filled(self, shard: Shard, parsed: Parses | None, refused: list[Rejected]) -> DialogueGraph:
        """The own store with a block in it: its dialogues, what all blocks have, its parses, the snapshot."""
        records = block_records(self._folder / "records", shard)
        if self._own is None:
            self._own, self._held = DialogueGraph(open_temporary()), 0
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
        """`NegativeStream.to_shard`, but for the digest of the content: to take one of the whole store for
        each block would take longer than the blocks, and a store of some blocks alone has another one. What
        all blocks have in common is in the folder's name."""
        if self._pipeline.negatives is not None:
            stream = graph.negatives(**self._pipeline.negatives, shard=shard)
        else:
            stream = graph.generate(**(self._pipeline.generate or {}), shard=shard)
        content = self._folder.name
        with open_shard(out, stream.shard_header(content), content) as writer:
            stream.resumed = writer.resumed
            write_batches(writer, stream.run_shard(writer.resumed.dialogues))


def _nothing() -> None:
    pass


@contextmanager
def _opened(target: str) -> Generator[DialogueGraph]:
    with DialogueGraph(open_store(target)) as graph:
        yield graph

"""Make negatives from the files of a corpus, in blocks of dialogues, on one machine or on a cluster.

A pipeline is described by a YAML file:

    load: [{corpus: dialogues, paths: [mine.jsonl]}]
    parse: {parser: dependency}
    negatives: {recipe: contradiction, per_dialogue: 2}
    write: negatives.jsonl
    blocks: 16

The output is a file of negatives. It is the same, byte for byte, as if `DialogueGraph.load`,
`DialogueGraph.parse` and `DialogueGraph.negatives` (or `DialogueGraph.generate`) were called one after the
other. A block is a shard of the corpus (`graphneg.shards`). The negatives of a finished block are kept in a
file in the folder ``OUT.blocks``, where ``OUT`` is the output file, and are not made again after an
interruption. At the end, `graphneg.merging` merges these files. `graphneg.ray` runs the blocks on a cluster.

The dialogues of the blocks are stored in one of two ways. If ``store`` names a Neo4j server, all blocks are
in that store, and all texts are parsed before the first negative is made. Otherwise, each worker has an
embedded store with the dialogues of its own blocks. Some recipes also need data from the dialogues of other
blocks, which a ``snapshot`` provides.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
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
from graphneg.editing.transforms import Transform, load_transforms
from graphneg.errors import GraphnegError, InputError, PenmanError, first_line
from graphneg.hashing import fingerprint, with_model_digests
from graphneg.ingest.blocks import Load, block_records, sort_records
from graphneg.ingest.loader import LoadReport
from graphneg.ingest.validation import GraphDialogues
from graphneg.ingest.writing import write_records
from graphneg.json_input import converted, parse_yaml, read_input
from graphneg.merging import merge
from graphneg.model import Dialogue, Rejected, Utterance
from graphneg.parsers.base import Parsed
from graphneg.parsers.jobs import ParserPool, RestartingParser
from graphneg.progress import NoProgress, Progress
from graphneg.records.runs import (
    atomic_folder,
    check_output,
    file_digest,
    finished_run,
    unwritable,
)
from graphneg.records.shards import ShardFile, open_shard, write_batches
from graphneg.shards import Shard
from graphneg.store.contents import content_digest
from graphneg.store.dialogues import Selection
from graphneg.store.opening import open_store, open_temporary

_LONGEST = 2**20
"""Maximum size of a pipeline file in bytes."""
_MOST = 100_000
"""Maximum number of blocks, and of workers of a stage. Each block has files of its own."""
_MARKER = "graphneg-blocks"
"""Name of the file that marks a folder of blocks as made by graphneg."""
_FINGERPRINT = re.compile(r"[0-9a-f]{32}")
"""Pattern of the names of the folders in which runs keep their blocks."""
_DIALOGUES = 2_000
"""Number of dialogues after which an embedded store is replaced by an empty store. A small store is
faster."""


class Parse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings for parsing the utterances that have no AMR graph.

    Attributes:
        parser: Name of the parser.
        options: Options of the parser, keyed by name.
    """

    parser: str = "dependency"
    options: dict[str, Any] = {}


class Actors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The workers of one stage of a pipeline, when it runs on a cluster.

    Attributes:
        count: Number of workers that run at the same time.
        cpus: Number of CPUs for each worker.
        gpus: Number of GPUs for each worker; may be a fraction.
    """

    count: int = 2
    cpus: float = 1
    gpus: float = 0


class Pipeline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pipeline: the files to read, how to parse them, which negatives to make, and the file to write.

    Attributes:
        write: File of negatives to write, ``.jsonl`` or ``.parquet``.
        load: Files to load, each with the arguments of `DialogueGraph.load`.
        store: URI of a Neo4j server that stores all blocks, or None to use embedded stores.
        snapshot: Path of a snapshot to load into the embedded stores, or None.
        parse: Settings for parsing the utterances without a graph, or None to parse nothing.
        negatives: Arguments of `DialogueGraph.negatives`, or None if ``generate`` is given.
        generate: Arguments of `DialogueGraph.generate`, or None if ``negatives`` is given.
        blocks: Number of blocks into which the corpus is divided.
        parse_workers: The workers that parse, if the pipeline runs on a cluster.
        negative_workers: The workers that make negatives, if the pipeline runs on a cluster.
    """

    write: str
    load: tuple[Load, ...] = ()
    store: str | None = None
    snapshot: str | None = None
    parse: Parse | None = None
    negatives: dict[str, Any] | None = None
    generate: dict[str, Any] | None = None
    blocks: int = 16
    parse_workers: Actors = Actors()
    negative_workers: Actors = Actors()

    @property
    def shards(self) -> list[Shard]:
        """The blocks into which the pipeline divides the dialogues, numbered from 1."""
        return [Shard(index, self.blocks) for index in range(1, self.blocks + 1)]

    def block(self, shard: Shard, folder: Path) -> Path:
        """Return the path of the file to which the negatives of a block are written.

        Args:
            shard: The block.
            folder: Folder with the files of the blocks.

        Returns:
            The path. The file exists if the block is finished.
        """
        return shard.file(folder / Path(self.write).name)


_PLAIN = (str, int, float, list, tuple, dict, type(None))
"""Types of the values in a YAML file."""


class NegativesArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of `DialogueGraph.negatives` that a pipeline file can set, with their types."""

    recipe: str = ""
    transforms: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    decoder: str = ""
    decoder_options: dict[str, Any] | None = None
    per_dialogue: int = 1
    seed: int = 0
    target: str | None = None
    sites: int = 1
    twins: bool = False
    proved: bool = False
    corpora: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    limit: int | None = None
    batch: int = 1
    generator_options: dict[str, Any] | None = None


class GenerateArguments(msgspec.Struct, frozen=True):
    """The arguments of `DialogueGraph.generate` that a pipeline file can set, except generator options."""

    generator: str = ""
    per_context: int = 1
    seed: int = 0
    places: str = ""
    corpora: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    limit: int | None = None
    batch: int | None = None


def read_pipeline(path: str | Path) -> Pipeline:
    """Read a pipeline from a YAML file.

    Args:
        path: The YAML file.

    Returns:
        The pipeline, checked by `checked`.

    Raises:
        InputError: The file cannot be read, or the pipeline is not valid.
    """  # noqa: DOC501, DOC502
    try:
        pipeline = parse_yaml(read_input(path, _LONGEST), Pipeline, str(path))
    except InputError as error:
        raise _settings_error(str(error)) from error
    try:
        return checked(pipeline)
    except InputError as error:
        raise _settings_error(f"{path}: {error}") from error


def checked(pipeline: Pipeline) -> Pipeline:
    """Check whether the settings of a pipeline are complete and do not contradict each other.

    Args:
        pipeline: The pipeline to check.

    Returns:
        The same pipeline.

    Raises:
        InputError: A setting is missing, out of range or contradicts another one, or the output cannot be
            written.
    """  # noqa: DOC501, DOC502
    # A pipeline makes negatives either by edits (`negatives`) or with a generator (`generate`).
    if (pipeline.negatives is None) == (pipeline.generate is None):
        raise _settings_error("give exactly one of negatives and generate")
    amounts = (pipeline.blocks, pipeline.parse_workers.count, pipeline.negative_workers.count)
    if min(amounts) < 1 or max(amounts) > _MOST:
        raise _settings_error(
            "the numbers of blocks, parse_workers and negative_workers must be at least 1 and at most "
            f"{_MOST:,}"
        )
    _check_arguments(pipeline)
    if pipeline.store is None and not pipeline.load:
        raise _settings_error("nothing to read: give data to load, or a store")
    if pipeline.store is None and pipeline.snapshot is None and _needs_other_dialogues(pipeline):
        raise _settings_error(
            "the negatives depend on other dialogues: give a store for all blocks, or a snapshot"
        )
    check_output(pipeline.write, [".jsonl", ".parquet"])
    return pipeline


def _check_arguments(pipeline: Pipeline) -> None:
    """Check the types of the arguments of ``negatives`` or ``generate``."""
    if pipeline.generate is None:
        name, known, asked = "negatives", NegativesArguments, pipeline.negatives or {}
    else:
        name, known, asked = "generate", GenerateArguments, pipeline.generate
    if reserved := sorted({"shard", "progress"} & asked.keys()):
        raise _settings_error(f"{name}: the pipeline itself sets {', '.join(reserved)}; leave it out")
    # Check only values such as strings, numbers and lists. A Python program may also pass an object, such as
    # a `Recipe`, which has checked its values when it was created.
    given = {key: value for key, value in asked.items() if isinstance(value, _PLAIN)}
    try:
        converted(given, known, name)
    except InputError as error:
        raise _settings_error(str(error)) from error


def _needs_other_dialogues(pipeline: Pipeline) -> bool:
    asked = pipeline.negatives or {}
    recipe, transforms = asked.get("recipe", "deam"), asked.get("transforms", ())
    # Every generator needs the whole corpus, because it uses sentences or responses of other dialogues.
    if pipeline.generate is not None or (recipe in GENERATED and not transforms):
        return True
    return any(transform.uses_corpus for transform in _transforms(asked))


def _transforms(asked: Mapping[str, Any]) -> list[Transform]:
    """Return the transforms that the arguments of ``negatives`` name."""
    known = load_transforms(asked.get("folders", ()))
    names = chosen_recipe(
        asked.get("recipe", "deam"), asked.get("transforms", ()), asked.get("target")
    ).transforms
    # Skip unknown transforms. The run reports them later.
    return [known[name] for name in names if name in known]


def _settings_error(reason: str) -> InputError:
    error = InputError(reason)
    # Exit status 2 means that the command line or the pipeline file is wrong, not that the run failed.
    error.status = 2
    return error


class BlockResult(NamedTuple):
    """The result of processing a block.

    Attributes:
        rejected: Input items of the block that were rejected, for example because they cannot be read.
        failure_reason: Reason why the block failed; empty if the block was finished.
    """

    rejected: Sequence[Rejected] = ()
    failure_reason: str = ""


Mapped = Callable[[Pipeline, Sequence[Shard], Path | None], Iterator[BlockResult]]
"""Type of a function that processes blocks, in this process or on a cluster, and yields a result for each.

The last argument is a folder or None. With a folder, the function makes the negatives of the blocks and
writes them to files in that folder. With None, it parses the texts of the blocks in the store that all blocks
share.
"""
Listener = Callable[[Rejected], None]
"""Type of a function that is called with each rejected item."""


def run_pipeline(
    pipeline: Pipeline,
    mapped: Mapped | None = None,
    progress: Progress | None = None,
    *,
    overwrite: bool = False,
    on_rejected: Listener | None = None,
) -> Exported:
    """Run a pipeline block by block, and merge the blocks into its output file.

    If the call is interrupted, call it again: only the blocks that are not finished yet are processed.

    Args:
        pipeline: The pipeline to run.
        mapped: Function that processes the blocks. By default, they are processed one after the other in this
            process.
        progress: Progress display; advanced by the number of finished blocks.
        overwrite: Whether to replace a file that another pipeline wrote.
        on_rejected: Function that is called with each rejected input item, and with each text that gets no
            graph because it crashed the parser.

    Returns:
        The number of negatives in the file, and whether the file was already complete.
    """
    bar, each = progress or NoProgress(), mapped or interleave
    out, report_rejected = Path(pipeline.write), on_rejected or _ignore
    # Check the folder of the blocks first, because loading into a shared store takes long.
    blocks = Path(f"{out}.blocks")
    _check_blocks_folder(blocks)
    made_of = _prepare_input(pipeline, each, bar, report_rejected)
    run = fingerprint(["pipeline", __version__, _settings(pipeline), made_of])
    if done := finished_run(out, run, overwrite):
        # If an earlier run was killed after it had written the file, its blocks are left.
        if blocks.exists():
            _remove_blocks(blocks)
        return Exported(done["items"], was_complete=True)
    # The name of the folder is a digest of the settings and the data, so that files of another run are never
    # used.
    folder = _ensure_blocks_folder(blocks) / run
    if pipeline.store is None:
        sort_records(pipeline.load, pipeline.blocks, folder / "records", report_rejected)
    folder.mkdir(parents=True, exist_ok=True)
    _process_unfinished(pipeline, each, folder, "negatives", bar, report_rejected)
    files = [pipeline.block(shard, folder) for shard in pipeline.shards]
    merged = merge(files, out, overwrite=True, progress=bar, run=run)
    _remove_blocks(blocks)
    return merged


def _check_blocks_folder(blocks: Path) -> None:
    """Raise an error if the folder of the blocks exists, but another program has created it."""
    if not os.path.lexists(blocks):
        return
    parts = [blocks, blocks / _MARKER, *(_run_folders(blocks) if blocks.is_dir() else ())]
    if any(part.is_symlink() for part in parts) or not (blocks / _MARKER).is_file():
        raise _settings_error(
            f"{blocks}: graphneg needs this name for its blocks, but did not make the folder; rename the "
            "folder, or write another file"
        )


def _ensure_blocks_folder(blocks: Path) -> Path:
    _check_blocks_folder(blocks)
    if not blocks.exists():
        try:
            # Create the folder and its marker file in one step. If a run were killed between two steps, the
            # next run would refuse the folder, because it has no marker file.
            with atomic_folder(blocks) as unfinished:
                (unfinished / _MARKER).touch()
        except OSError as error:
            raise unwritable(blocks, error, "nothing was kept") from error
    return blocks


def _remove_blocks(blocks: Path) -> None:
    """Remove the files of all runs from the folder of the blocks, and the folder if nothing else is left."""
    for folder in _run_folders(blocks):
        # Do not follow links. `rmtree` refuses them.
        if not folder.is_symlink():
            rmtree(folder)
    if [path.name for path in blocks.iterdir()] == [_MARKER]:
        (blocks / _MARKER).unlink()
        blocks.rmdir()


def _run_folders(blocks: Path) -> list[Path]:
    return [path for path in blocks.iterdir() if _FINGERPRINT.fullmatch(path.name) and path.is_dir()]


def _settings(pipeline: Pipeline) -> Any:
    """Return the settings that determine which negatives a pipeline makes, as JSON values."""
    # The path of a model does not show whether another model has been saved to it.
    facts = with_model_digests(msgspec.to_builtins(pipeline)) | {"queries": _queries(pipeline)}
    # Leave out settings that do not change the negatives: the numbers of workers and the name of the output.
    return {name: facts[name] for name in facts if name not in {"parse_workers", "negative_workers", "write"}}


def _queries(pipeline: Pipeline) -> list[list[Any]]:
    """Return the content of the transforms that a pipeline applies, because users can edit their own."""
    asked = pipeline.negatives
    # The recipe "hard" applies no transforms, but a generator.
    if asked is None or (asked.get("recipe") in GENERATED and not asked.get("transforms")):
        return []
    return [transform.identity for transform in _transforms(asked)]


def _ignore(_: Rejected) -> None:
    """Ignore a rejected item."""


def _process_unfinished(
    pipeline: Pipeline,
    each: Mapped,
    folder: Path | None,
    what: str,
    progress: Progress,
    report_rejected: Listener,
) -> None:
    """Process all blocks that are not finished. If some of them fail, raise an error at the end."""
    unfinished = pipeline.shards
    if folder is not None:
        # Skip the blocks whose files exist, because an interrupted run has finished them.
        unfinished = [
            shard
            for shard in unfinished
            if not _is_intact(pipeline.block(shard, folder), shard, report_rejected)
        ]
    progress.start(what, pipeline.blocks, "blocks")
    progress.advance(pipeline.blocks - len(unfinished))
    # Collect the errors, so that a block that fails does not prevent other blocks from being finished.
    faults: list[str] = []
    for done in each(pipeline, unfinished, folder) if unfinished else ():
        for one in done.rejected:
            report_rejected(one)
        if done.failure_reason:
            faults.append(done.failure_reason)
        else:
            progress.advance(1)
    progress.finish()
    if faults:
        raise InputError(
            f"{len(faults)} of {pipeline.blocks} blocks failed: {sorted(faults)[0]}; "
            "the others are kept; run the same command again to make the failed ones"
        )


def _is_intact(path: Path, shard: Shard, report_rejected: Listener) -> bool:
    """Return whether the file of a block exists and is not damaged. Remove a damaged file and report it."""
    if not path.exists():
        return False
    try:
        file = ShardFile(path)
        file.verified()
        # The digest of the file is correct. The file may still belong to another block or another run.
        if (file.header.shard, file.header.content) == (str(shard), path.parent.name):
            return True
        reason = f"it contains block {file.header.shard} of run {file.header.content}"
    except InputError as error:
        # Links, folders and pipes are not files that graphneg has written. So do not remove them.
        if path.is_symlink() or not path.is_file():
            raise
        # After a semicolon, the error message advises the user what to do with a damaged shard. A damaged
        # block is made again without the user, so leave this advice out.
        reason = first_line(error).partition(";")[0]
    path.unlink()
    report_rejected(Rejected(f"block {shard}", f"made again, because its file was damaged ({reason})"))
    return False


def _prepare_input(pipeline: Pipeline, each: Mapped, progress: Progress, report_rejected: Listener) -> str:
    """Load and parse the input if all blocks of the pipeline share a store. Return a digest of the input."""
    if pipeline.store is None:
        files = [Path(path) for load in pipeline.load for path in load.paths]
        files += [] if pipeline.snapshot is None else [Path(pipeline.snapshot)]
        if missing := next((file for file in files if not file.exists()), None):
            raise _settings_error(f"{missing}: there is no such file")
        # Without a shared store, nothing is loaded yet. So hash the input files and not the content of a
        # store.
        input_files = [
            file for path in files for file in ([path] if path.is_file() else sorted(path.rglob("*")))
        ]
        # Hash all bytes of each file, so that a corrected letter in the middle of a large file is noticed.
        return fingerprint([[file.name, file_digest(file)] for file in input_files if file.is_file()])
    with _open_store(pipeline.store) as graph:
        for load in pipeline.load:
            options = msgspec.structs.asdict(load)
            corpus, paths = options.pop("corpus"), options.pop("paths")
            graph.load(corpus, *paths, **options, progress=progress, on_rejected=report_rejected)
    if pipeline.parse is not None:
        _process_unfinished(pipeline, each, None, "parse", progress, report_rejected)
    with _open_store(pipeline.store) as graph:
        return content_digest(graph.store, Selection())


def interleave(pipeline: Pipeline, shards: Sequence[Shard], folder: Path | None) -> Iterator[BlockResult]:
    """Process blocks in this process, one after the other.

    Args:
        pipeline: The pipeline to which the blocks belong.
        shards: Blocks to process.
        folder: Folder for the files of the blocks, or None to parse the blocks in the store that they share.

    Yields:
        The result of each block.
    """
    with closing(Reader(pipeline)) as reader:
        if folder is None:
            yield from (run_block(shard, reader.into_store, shard) for shard in shards)
            return
        # Use the same parser and the same embedded store for all blocks, because starting them takes long.
        with closing(Maker(pipeline, folder)) as maker:
            yield from (run_block(shard, _read_and_make, reader, maker, shard, folder) for shard in shards)


def _read_and_make(reader: Reader, maker: Maker, shard: Shard, folder: Path, refused: list[Rejected]) -> None:
    """Parse a block and make its negatives. Rejected items are added to ``refused``."""
    maker.make(shard, reader.parse(shard, folder, refused), refused)


def run_block(shard: Shard, work: Callable[..., None], *arguments: Any) -> BlockResult:
    """Process a block. If an unexpected exception occurs, return its message as the reason of the failure.

    A `GraphnegError` or an `OSError` (no disk space, no permission) is raised instead, because it would
    probably also occur in all other blocks.

    Args:
        shard: The block to process.
        work: Function that processes the block. Its last argument is a list for rejected items.
        *arguments: All other arguments of the function.

    Returns:
        The rejected items, and the reason of the failure if the block failed.

    Raises:
        GraphnegError: The function raised it.
        OSError: The function raised it.
    """
    refused, fault = list[Rejected](), ""
    try:
        work(*arguments, refused)
    except (GraphnegError, OSError) as error:
        # A bug in a plugin may affect only a single text. Count this block as failed and continue with the
        # other blocks, as after a bug in graphneg.
        if not (isinstance(error, GraphnegError) and error.is_plugin_failure and error.__cause__):
            raise
        fault = _fault(shard, error.__cause__)
    except Exception as error:
        fault = _fault(shard, error)
    return BlockResult(refused, fault)


def _fault(shard: Shard, bug: BaseException) -> str:
    return f"block {shard}: {type(bug).__name__}: {first_line(bug)}"


class Parses(NamedTuple):
    """The graphs that a parser made from the texts of a block.

    Attributes:
        name: Name of the parser.
        version: Version of the parser.
        by_text: The result of the parser for each text, keyed by the text.
    """

    name: str
    version: str
    by_text: dict[str, Parsed]

    def stored_results(self, batches: Iterable[Sequence[str]]) -> Iterator[list[Parsed]]:
        """Return the stored results for batches of texts, in the same form as a parser pool returns them.

        Args:
            batches: Batches of texts that have stored parses.

        Returns:
            An iterator over the results of each batch.
        """
        return ([self.by_text[text] for text in batch] for batch in batches)


class Reader:
    """The first stage of a pipeline: parses the texts of a block that have no graph.

    The parser is created once and used for all blocks.

    Args:
        pipeline: The pipeline that the stage belongs to.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._parser: RestartingParser | None = None
        if (asked := pipeline.parse) is not None:
            self._parser = RestartingParser(asked.parser, asked.options)

    def into_store(self, shard: Shard, refused: list[Rejected]) -> None:
        """Parse the texts of a block in the store that all blocks share.

        Args:
            shard: The block to parse.
            refused: List to which the texts that crashed the parser are added.
        """
        assert self._pipeline.store is not None and self._parser is not None
        with _open_store(self._pipeline.store) as graph:
            graph.parse(self._parser.pool, shard=shard)
        self._report_crashes(refused)

    def parse(self, shard: Shard, folder: Path, refused: list[Rejected]) -> Parses | None:
        """Parse the texts of a block, without a store.

        Args:
            shard: The block to parse.
            folder: Folder with the files of the blocks.
            refused: List to which the texts that crashed the parser are added.

        Returns:
            The results. None if the pipeline does not parse, or if all blocks share a store, which already
            contains the graphs.
        """
        if self._parser is None or self._pipeline.store is not None:
            return None
        # Use a dict to remove duplicates, so that each text is parsed only once.
        texts = dict.fromkeys(
            turn.text
            for record in block_records(folder / "records", shard)
            if isinstance(record, Dialogue)
            for turn in record.utterances
            if not _has_well_formed_graph(turn)
        )
        pool = self._parser.pool
        answers = (parsed for batch in pool.parse(_in_batches(list(texts))) for parsed in batch)
        found = dict(zip(texts, answers, strict=True))
        self._report_crashes(refused)
        return Parses(pool.name, pool.version, found)

    def _report_crashes(self, refused: list[Rejected]) -> None:
        assert self._parser is not None
        # Empty the parser's list of crashes, so that the next block does not report these crashes again.
        crashes, self._parser.crashes = self._parser.crashes, []
        refused += [Rejected(f"the text {text[:60]!r}", f"not parsed: {reason}") for text, reason in crashes]

    def close(self) -> None:
        """Close the parser."""
        if self._parser is not None:
            self._parser.close()


def _has_well_formed_graph(turn: Utterance) -> bool:
    try:
        return turn.amr is not None and bool(parse_graph(turn.amr).nodes)
    except PenmanError:
        return False


def _in_batches(texts: Sequence[str], size: int = 100) -> Iterator[Sequence[str]]:
    return (texts[start : start + size] for start in range(0, len(texts), size))


class Maker:
    """The second stage of a pipeline, which makes the negatives of a block.

    If the blocks do not share a store, this stage has an embedded store of its own. It loads several blocks
    into this store, one after the other, because starting a new store for each block would take longer.

    Args:
        pipeline: The pipeline that the stage belongs to.
        folder: Folder with the files of the blocks.
    """

    def __init__(self, pipeline: Pipeline, folder: Path) -> None:
        self._pipeline, self._folder = pipeline, folder
        self._embedded: DialogueGraph | None = None
        self._loaded_dialogues = 0

    def make(self, shard: Shard, parsed: Parses | None, refused: list[Rejected]) -> None:
        """Write the file of a block. An unfinished file is continued. A finished file is not changed.

        Args:
            shard: The block whose file is written.
            parsed: Results of the parser for the texts of the block, or None.
            refused: List to which the rejected items of the block are added.
        """
        out = self._folder / Path(self._pipeline.write).name
        if self._pipeline.block(shard, self._folder).exists():
            return
        if self._pipeline.store is not None:
            with _open_store(self._pipeline.store) as graph:
                self._write(graph, shard, out)
            return
        try:
            self._write(self._load_block(shard, parsed, refused), shard, out)
        except BaseException:
            # The block failed, so the store may contain only a part of it. Do not use this store for the next
            # block.
            self.close()
            raise
        # A snapshot contains excerpts of dialogues from other blocks. The next block may contain the complete
        # dialogues, but loading does not replace dialogues that are in the store. So a new store is needed.
        if self._loaded_dialogues >= _DIALOGUES or self._pipeline.snapshot is not None:
            self.close()

    def close(self) -> None:
        """Close the embedded store, if there is one."""
        graph, self._embedded = self._embedded, None
        if graph is not None:
            graph.close()

    def _load_block(self, shard: Shard, parsed: Parses | None, refused: list[Rejected]) -> DialogueGraph:
        """Load a block into the embedded store: dialogues, graphs, lexical resources, and the snapshot."""
        records = block_records(self._folder / "records", shard)
        if self._embedded is None:
            self._embedded, self._loaded_dialogues = DialogueGraph(open_temporary()), 0
            # First load the records that all blocks need into the new store: frames, opposites and entries of
            # the lexicon.
            records = chain(block_records(self._folder / "records", None), records)
        report = LoadReport("block", on_rejected=refused.append)
        write_records(self._embedded.store, records, report, GraphDialogues("", "", 1))
        self._loaded_dialogues += report.written["dialogues"]
        if parsed is not None:
            self._embedded.parse(
                ParserPool(parsed.name, parsed.version, parsed.stored_results, _close_nothing), shard=shard
            )
        if self._pipeline.snapshot is not None:
            from graphneg.snapshots import Snapshot

            Snapshot.read(self._pipeline.snapshot).load(self._embedded.store)
        return self._embedded

    def _write(self, graph: DialogueGraph, shard: Shard, out: Path) -> None:
        """Make the negatives of a block and write them to its file, like `NegativeStream.to_shard`."""
        if self._pipeline.negatives is not None:
            stream = graph.negatives(**self._pipeline.negatives, shard=shard)
        else:
            stream = graph.generate(**(self._pipeline.generate or {}), shard=shard)
        # Do not call `to_shard`, which computes a digest of the store's content. In a shared store, this
        # takes longer than processing a block. With embedded stores, the digests of the blocks would differ,
        # but they must be equal. So use the name of the folder, which is a digest of the settings and the
        # input.
        content = self._folder.name
        with open_shard(out, stream.shard_header(content), content) as writer:
            stream.resumed = writer.resumed
            write_batches(writer, stream.run_shard(writer.resumed.dialogues))


def _close_nothing() -> None:
    """Do nothing. A parser pool that only returns stored results has no processes to close."""
    pass


@contextmanager
def _open_store(target: str) -> Generator[DialogueGraph]:
    with DialogueGraph(open_store(target)) as graph:
        yield graph

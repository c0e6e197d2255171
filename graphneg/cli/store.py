"""Define the commands ``load``, ``info`` and ``export`` for the data in a store.

``load`` reads a corpus (or a resource such as ConceptNet) with one of the loaders, ``info`` prints what the
store contains, and ``export`` writes dialogues, graphs or the whole store to a file.

Example::

    graphneg load everyday            # the dialogues of a small corpus
    graphneg info                     # a table of corpora, and a table of node labels with their counts
    graphneg export graphs.amr        # graphs.amr: the AMR graphs in PENMAN notation
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer
from rich.table import Column
from typer import BadParameter

from graphneg.cli.commands import argument, command, completing, option
from graphneg.cli.options import DialogueOptions, Json, Overwrite, ShardOption, StoreOptions
from graphneg.cli.tables import plain_table, print_json, results
from graphneg.cli.terminal import (
    advise_on_interrupt,
    print_already_complete,
    print_message,
    print_note,
    progress_bars,
)
from graphneg.errors import InputError
from graphneg.shards import shard_of

if TYPE_CHECKING:
    from graphneg.ingest.bulk import BulkFiles
    from graphneg.model import Rejected

SHOWN_REJECTIONS = 20
"""Maximum number of rejected items that are printed. ``--rejected`` writes all rejected items to a file."""
KINDS = {
    "Dialogue": "dialogues",
    "Utterance": "utterances",
    "Response": "responses",
    "Amr": "AMR graphs",
    "AmrNode": "AMR nodes",
    "ROLE": "AMR roles",
    "Clause": "clauses",
    "Entity": "entities",
    "LEXEME": "nodes and frames tied to a term",
    "Term": "terms",
    "OPPOSITE": "opposites",
    "SHIFTS_TO": "keyword shifts",
    "Frame": "frames",
    "Parse": "texts that were parsed",
    "Sentence": "sentences outside dialogues",
    "Variant": "negatives tried",
    "Edit": "edits",
}
"""The names under which ``info`` prints the numbers of nodes and relationships, keyed by label or type."""
SNAPSHOT = "snapshot"
"""The argument with which ``load`` loads a snapshot: ``graphneg load snapshot FILE``. No loader has this
name; `graphneg.snapshots` reads the file."""
ITEMS = {
    ".amr": "graphs",
    ".penman": "graphs",
    ".graphml": "dialogues",
    "dialogues": "dialogues",
    "dailydialog_pp": "contexts",
}
"""The nouns for the items of an exported file in messages such as "out.amr: 20 graphs", keyed by the format
or suffix of the file."""


@command(
    "graphneg load everyday",
    "graphneg load dialogues chats.jsonl --name support --split train",
    "graphneg load dialogues logs.csv.gz --map text=body --map dialogue=ticket",
    "graphneg load penman graphs/*.amr --rejected rejected.txt",
    "graphneg load conceptnet conceptnet-assertions-5.7.0.csv.gz",
    "graphneg load dialogues chats.jsonl --bulk import",
    "graphneg load snapshot everything.snapshot",
)
def load(
    *,
    corpus: str | None = argument(
        None,
        "Name of the loader. Without a name, the command lists the loaders.",
        "CORPUS",
        autocompletion=completing("ingest.loader:loader_names"),
    ),
    paths: list[Path] | None = argument(None, "Files or directories of the corpus.", "PATH..."),
    name: str | None = option(
        None,
        "Name of the corpus, which is the first part of the ids of its dialogues. "
        "Default: taken from the data, or set by the loader.",
    ),
    split: str | None = option(
        None,
        "Split of the corpus, such as train. It is the second part of the ids of dialogues. "
        "Default: taken from the data, or from the file name.",
    ),
    language: str = option(
        "en", "Language of the terms to load, as an ISO 639-1 code. Only for the loader 'conceptnet'."
    ),
    turns: int = option(
        8, "Number of turns per dialogue, for files that contain graphs but no dialogues.", min=1
    ),
    map: list[str] | None = option(
        None,
        "Read the field FIELD from the column or key NAME of the data. Needed if the loader does not "
        "recognize NAME. FIELD is one of: dialogue, turn, speaker, text, turns, split, amr, id, "
        "reply_to, time, internal. An empty NAME means that the data lack FIELD. Only for the loader "
        "'dialogues'. Repeatable.",
        "FIELD=NAME",
    ),
    encoding: str | None = option(
        None, "Text encoding of the files. Default: detected. Only for the loader 'dialogues'."
    ),
    clean: bool = option(
        False, "Repair HTML entities, and remove the spaces that tokenizers insert (it 's late .)."
    ),
    gap: float = option(
        6.0,
        "Number of hours without a message after which a new dialogue begins. Only for the loaders "
        "'whatsapp', 'slack', 'discord', 'irc' and 'line'.",
        "HOURS",
    ),
    date_order: Literal["day", "month"] | None = option(
        None,
        "Whether the day or the month comes first in dates such as 03/04/2024. Needed only if other dates "
        "in the file do not show the order. Only for the loaders 'dialogues', 'transcript' and 'whatsapp'.",
    ),
    rejected: Path | None = option(
        None, "Write a line to FILE for each rejected item, with its location and the reason."
    ),
    bulk: Path | None = option(
        None,
        "Do not load into a store. Write files for neo4j-admin database import, and the command that "
        "imports them, to DIR.",
        "DIR",
    ),
    shard: ShardOption = None,
    where: StoreOptions,
) -> None:
    """Load the files of a corpus, or of a resource such as ConceptNet.

    Data that the store already contains are skipped: if a load is interrupted, run the same command again to
    complete it. Items that cannot be read are left out, counted, and reported with their file and line.
    \N{FORM FEED}

    Raises:
        BadParameter: An option is malformed, or options contradict each other.
        Exit: Neither this command nor an earlier one loaded any data from these files.
    """
    from graphneg.ingest.loader import get_loader, loader_names

    if corpus is None:
        loaders: list[tuple[str, str]] = []
        failures: list[str] = []
        for known in loader_names():
            # Another package's loader may be broken. List the other loaders, and report this one below them.
            try:
                loaders.append((f"[bold]{known}[/]", get_loader(known).summary))
            except InputError as error:
                failures.append(str(error))
        results().print(plain_table("corpus", "description", rows=loaders))
        results().print("[dim]graphneg load CORPUS PATH...   documented in docs/loaders.md[/]")
        for failure in failures:
            print_note(failure)
        return
    if corpus == SNAPSHOT:
        _load_snapshot(paths or (), where)
        return
    # Look up the loader first, so that an unknown name is reported before other errors.
    get_loader(corpus)
    for pair in map or ():
        if "=" not in pair:
            raise BadParameter(f"{pair!r}: expected FIELD=NAME", param_hint="--map")
    fields = dict(pair.split("=", 1) for pair in map or ())
    options: dict[str, Any] = {"name": name, "split": split, "language": language, "turns": turns}
    options |= {"map": fields, "encoding": encoding, "clean": clean, "gap": gap}
    options["date_order"] = date_order
    if shard is not None:
        options["shard"] = shard_of(shard)
    if bulk is not None and shard is not None:
        raise BadParameter("can't be used with --bulk", param_hint="--shard")
    if bulk is not None and where.store is not None:
        raise BadParameter("writes files and uses no store: remove --store", param_hint="--bulk")
    with (
        _rejection_writer(rejected, paths or ()) as listener,
        where.opened(making=True) if bulk is None else _bulk(bulk) as target,
        progress_bars("the data loaded so far are kept; run the same command again to continue") as bars,
    ):
        report = target.load(corpus, *(paths or ()), **options, progress=bars, on_rejected=listener)
    print_message(f"{report.summary()} ({report.seconds:.1f} s)")
    for line in report.notices.lines():
        print_message(f"  {line}")
    for refusal in report.rejected[:SHOWN_REJECTIONS]:
        print_message(f"  {refusal.place}: {refusal.reason}")
    if (more := report.rejections - SHOWN_REJECTIONS) > 0:
        print_message(f"  and {more:,} more" + ("" if rejected else "; --rejected FILE lists all of them"))
    if rejected is not None and report.rejections:
        print_message(f"all rejected items are listed in {rejected}")
    if bulk is not None:
        print_message(f"create a Neo4j database with: sh {bulk}/import.sh")
    # Exit with an error if nothing was loaded, neither by this command nor by an earlier command, so that a
    # script does not continue.
    if not (report.written.total() or report.present.total()):
        raise typer.Exit(1)


def _load_snapshot(paths: Sequence[Path], where: StoreOptions) -> None:
    from graphneg.snapshots import Snapshot

    if len(paths) != 1:
        raise BadParameter("give exactly one file, written by graphneg shards snapshot", param_hint="PATH")
    snapshot = Snapshot.read(paths[0])
    with (
        where.opened() as graph,
        progress_bars("the data loaded so far are kept; run the same command again to continue") as bars,
    ):
        snapshot.load(graph.store, bars)
    print_message(f"snapshot {snapshot.digest[:8]} is loaded: {', '.join(snapshot.parts)}")


def _bulk(folder: Path) -> BulkFiles:
    from graphneg.ingest.bulk import BulkFiles

    return BulkFiles(folder)


# Matches a line of the file that ``--rejected`` names: a place, a tab and a reason.
_REJECTION = re.compile(rb"[^\t\n]+\t[^\t\n]+\n?")


def _check_rejection_file(file: Path, paths: Sequence[Path]) -> None:
    """Refuse to overwrite a file, unless it is empty or ``--rejected`` has written it in an earlier run."""
    from graphneg.records.runs import check_new

    check_new(file, overwrite=True)
    if file.is_symlink():
        raise InputError(f"{file}: a link, which is not followed; name another file")
    if not file.exists():
        return
    if any(path.exists() and path.samefile(file) for path in paths):
        raise InputError(f"{file}: this file is also to be loaded; name another file for --rejected")
    try:
        with file.open("rb") as existing:
            line = existing.readline(10_000)
    except OSError as error:
        raise InputError(f"{file}: can't be read: {error.strerror}; name another file") from error
    if line and not _REJECTION.fullmatch(line):
        raise InputError(f"{file}: the file exists and is no list of rejected items; name another file")


@contextmanager
def _rejection_writer(
    file: Path | None, paths: Sequence[Path]
) -> Generator[Callable[[Rejected], None] | None]:
    """Provide a function that writes a line about a rejected item to ``file``: its location and reason."""
    from graphneg.records.runs import unwritable

    if file is None:
        yield None
        return
    _check_rejection_file(file, paths)
    try:
        # Use line buffering, so that no complete line is lost if the process is killed.
        stream = file.open("w", buffering=1, encoding="utf-8")
    except OSError as error:
        raise unwritable(file, error, "nothing was changed") from error

    def write(refusal: Rejected) -> None:
        try:
            print(refusal.place, " ".join(refusal.reason.split()), sep="\t", file=stream)
        except OSError as error:
            raise unwritable(file, error, "the data loaded so far are kept") from error

    try:
        yield write
    finally:
        # If the disk is full, `write` has already reported the error, and closing the file fails again.
        with suppress(OSError):
            stream.close()


@command("graphneg info", "graphneg info --json | jq .counts")
def info(*, json: Json = False, where: StoreOptions) -> None:
    """Show the server of the store, its corpora, and its numbers of nodes and relationships of each kind."""
    with where.opened() as graph, advise_on_interrupt("nothing was changed"):
        found = graph.info()
    if json:
        corpora = [dict(zip(("corpus", "split", "dialogues"), row, strict=True)) for row in found.corpora]
        content = {"store": found.description, "counts": dict(found.counts), "corpora": corpora}
        print_json(content, indent=2)
        return
    console = results()
    console.print(found.description, style="bold", markup=False, soft_wrap=True)
    console.print()
    if found.corpora:
        rows = [(corpus, split, f"{dialogues:,}") for corpus, split, dialogues in found.corpora]
        console.print(plain_table("corpus", "split", Column("dialogues", justify="right"), rows=rows))
    else:
        console.print("no dialogues yet; load some with graphneg load everyday\n")
    amounts = ((words, kind, found.counts.get(kind)) for kind, words in KINDS.items())
    if rows := [(words, f"[dim]{kind}[/]", f"{amount:,}") for words, kind, amount in amounts if amount]:
        console.print(plain_table("content", "label or type", Column("amount", justify="right"), rows=rows))


@command(
    "graphneg export positives.jsonl",
    "graphneg export graphs.amr --corpus everyday --split train",
    "graphneg export contexts.json --format dailydialog_pp --negatives hard.jsonl",
    "graphneg export dialogues.jsonl --format dialogues",
)
def export(
    *,
    out: Path = argument(
        ...,
        "The file to write. The suffix selects the format: .jsonl, .parquet, .amr, .penman or .graphml.",
        "OUT",
    ),
    format: Literal["dailydialog_pp", "dialogues"] | None = option(
        None,
        "Write this format to a .json or .jsonl file: contexts with correct and wrong responses "
        "(dailydialog_pp), or everything that was loaded or parsed (dialogues).",
    ),
    negatives: list[Path] | None = option(
        None, "File of negatives to export as wrong responses (.jsonl, .parquet). Repeatable.", "FILE"
    ),
    overwrite: Overwrite = False,
    chosen: DialogueOptions,
    shard: ShardOption = None,
    where: StoreOptions,
) -> None:
    """Write the loaded data to a file in the format of its suffix.

    .jsonl and .parquet files contain the dialogues (as positives) and their responses, in the same form as
    negatives. .amr and .penman files contain the AMR graphs exactly as they were loaded. .graphml files
    contain the dialogues and their AMR graphs as one graph. The format dailydialog_pp, which graphneg
    evaluate and other programs read, contains each context with its correct and wrong responses. The format
    dialogues contains all dialogues with their graphs, responses and attributes, and the lexicon, frames,
    opposites and sentences of the store. graphneg load dialogues FILE loads such a file into a new store,
    which then has the same content. \N{FORM FEED}

    Raises:
        BadParameter: ``--negatives`` is given without ``--format dailydialog_pp``.
    """
    from graphneg.datasets.groups import ContextWriter, export_contexts
    from graphneg.editing import export as exports

    is_whole = format == exports.DIALOGUES.kind
    if negatives and (format is None or is_whole):
        raise BadParameter("name the format: --format dailydialog_pp", param_hint="--negatives")
    write = ContextWriter(negatives or ())
    part = shard_of(shard)

    with (
        where.opened(chosen, exporting=is_whole) as graph,
        progress_bars(f"{out} is written when it is complete; run the command again") as bars,
    ):
        what = (graph.store, out, replace(chosen.selection, shard=part), bars)
        if is_whole or format is None:
            form = exports.DIALOGUES if is_whole else None
            written = exports.export(*what, overwrite=overwrite, form=form)
        else:
            written = export_contexts(*what, write, overwrite=overwrite)
    kind = ITEMS.get(format or out.suffix, "positives and responses")
    holds = f"{written.items:,} {kind}"
    out = out if part is None else part.file(out)
    if written.was_complete:
        print_already_complete(out, holds)
    else:
        print_message(f"{out}: {holds}")
        for amount, of in (
            (write.incomplete, "contexts without a correct or a wrong response"),
            (write.edited, "negatives of edited dialogues, whose contexts differ from the original ones"),
            (write.unusable, "negatives that are empty or equal to a correct response"),
            # If only a shard is exported, most negatives belong to dialogues of other shards. This is
            # expected, so print no note.
            (write.duplicated if part is None else 0, "negatives of dialogues that are not exported"),
        ):
            if amount:
                print_note(f"left out: {amount:,} {of}")

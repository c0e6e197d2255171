"""Define the command ``parse``, which parses utterances into AMR graphs.

The parser runs in worker processes. By default, the command parses each utterance in the store that has no
graph yet, and stores the graph. With ``--text``, the command parses each line of a text file, writes the
graphs to a PENMAN file, and does not use a store.

Example::

    $ echo "I like apples." | graphneg parse --text - -o -
    # ::snt I like apples.
    (l / like-01
       :ARG0 (i / i)
       :ARG1 (a / apple))
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import BadParameter

from graphneg.cli.commands import command, completing, option, panel, without_none
from graphneg.cli.options import DialogueOptions, ShardOption, StoreOptions
from graphneg.cli.terminal import (
    BYTES,
    STANDARD,
    Bars,
    advise_on_interrupt,
    counted,
    messages,
    print_message,
    print_note,
    progress_bars,
)
from graphneg.errors import InputError, ParserError
from graphneg.shards import shard_of

if TYPE_CHECKING:
    from graphneg.parsers.jobs import ParseReport, ParserPool

_of_parser = panel("Parser")
_of_text = panel("Without a store")


@command(
    "graphneg parse",
    "graphneg parse --corpus dailydialog --split test --responses",
    "graphneg parse --parser amrlib --model path/to/model --again",
    "graphneg parse --text sentences.txt -o graphs.amr",
    "echo 'I never said that.' | graphneg parse --text - -o -",
)
def parse(
    *,
    text: str | None = _of_text(
        None, "Parse this file, one utterance per line, instead of a store; - is standard input.", "FILE"
    ),
    out: str | None = _of_text(
        None, "PENMAN file to write with --text; - is standard output.", "FILE", "--out", "-o"
    ),
    parser: str = _of_parser(
        "dependency",
        "The AMR parser: dependency, amrlib or another installed parser.",
        autocompletion=completing("parsers.base:parser_names"),
    ),
    model: str | None = _of_parser(
        None,
        "The model of the parser: a spaCy model for dependency, a model directory for amrlib.",
        "NAME_OR_PATH",
    ),
    device: str | None = _of_parser(
        None, "Device of the model: cpu, cuda or mps; for amrlib only. Default: the best available device."
    ),
    batch: int | None = _of_parser(
        None, "Number of sentences per batch; for amrlib only. Default: 16.", min=1
    ),
    offline: bool = _of_parser(False, "Do not download anything from a model hub; for amrlib only."),
    processes: int | None = _of_parser(
        None,
        "Number of worker processes. Default: one per CPU core for dependency (at most 8), one for amrlib.",
        min=1,
    ),
    again: bool = option(
        False, "Replace graphs that other parsers or parser versions made. Loaded graphs are never replaced."
    ),
    responses: bool = option(False, "Parse responses in addition to utterances."),
    overwrite: bool = _of_text(False, "Replace the output file if it already exists."),
    chosen: DialogueOptions,
    shard: ShardOption = None,
    where: StoreOptions,
) -> None:
    """Parse utterances into AMR graphs.

    Each utterance in the store that has no graph yet is parsed. If a run is interrupted, run the same command
    again to complete it; texts that have been parsed are not parsed again. With --text, the command reads a
    file with one utterance per line, writes a PENMAN file, and does not open a store. \N{FORM FEED}

    Raises:
        BadParameter: A required option is missing, or options contradict each other.
    """
    from graphneg.records.runs import check_new

    if (text is None) != (out is None):
        raise BadParameter("give both --text FILE and -o FILE, or neither to parse the dialogues of a store")
    part = shard_of(shard)
    if text is not None and (again or responses or part or chosen != DialogueOptions()):
        raise BadParameter(
            "--again, --responses, --corpus, --split, --limit and --shard can't be used with --text"
        )
    options = without_none(model=model, device=device, batch=batch, offline=offline or None)
    if text is not None and out is not None:
        if out != STANDARD:
            check_new(Path(out), overwrite)
        report = _parse_file(text, out, partial(_start_parser, parser, options, processes))
    else:
        with (
            # Load the parser before the store is opened, so that no server is started if the parser cannot be
            # loaded.
            _start_parser(parser, options, processes) as pool,
            where.opened(chosen) as graph,
            progress_bars(
                "the graphs written so far are kept; run the same command again to continue"
            ) as bars,
        ):
            report = graph.parse(
                pool,
                of=("utterances", "responses") if responses else ("utterances",),
                existing="replace" if again else "keep",
                shard=part,
                progress=bars,
                **chosen.as_arguments,
            )
    print_message(report.summary())
    for code, count in report.warnings.most_common():
        first, warning = report.examples[code][0]
        print_message(f"  {code}: {count:,}, {first} first: {warning.partition(':')[2].strip()}")
    if report.failed:
        print_note(f"{counted(report.failed, 'text')} got no graph; the warnings say why")


@contextmanager
def _start_parser(parser: str, options: dict[str, Any], processes: int | None) -> Generator[ParserPool]:
    """Start the worker processes of a parser. If the parser cannot be loaded, the exit status is 2."""
    from graphneg.parsers.jobs import open_pool

    try:
        with messages().status(f"preparing the parser {parser}"):
            pool = open_pool(parser, options, processes)
    except ParserError as error:
        error.status = 2
        raise
    with pool:
        yield pool


def _parse_file(
    source: str, out: str, opened: Callable[[], AbstractContextManager[ParserPool]]
) -> ParseReport:
    """Parse a text file, and write the graphs to a PENMAN file, which appears only when it is complete."""
    from graphneg.parsers.jobs import ParseReport, decoded_lines, parse_lines
    from graphneg.records.runs import atomic_file

    with ExitStack() as files:
        try:
            lines = sys.stdin.buffer if source == STANDARD else Path(source).open("rb")  # noqa: SIM115
        except OSError as error:
            raise InputError(f"{source}: can't be read: {error.strerror}") from error
        files.enter_context(lines)
        if out == STANDARD:
            output = sys.stdout.buffer
        else:
            output = files.enter_context(files.enter_context(atomic_file(out)).open("wb"))
        files.enter_context(advise_on_interrupt("no output file was written; run the command again"))
        pool, bars = files.enter_context(opened()), files.enter_context(Bars())
        report = ParseReport(pool.source)
        # Measure progress in bytes. To measure it in lines, the file would have to be read twice.
        bars.start("parse", None if source == STANDARD else os.path.getsize(source), BYTES)
        for number, block in enumerate(parse_lines(pool, decoded_lines(lines, bars), report)):
            # Separate the graphs by an empty line, as usual in PENMAN files.
            output.write((("\n" if number else "") + block).encode())
        bars.finish()
        output.flush()
    return report

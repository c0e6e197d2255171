"""Define the command ``annotate``, for the blind annotation of negatives with a spreadsheet or Label Studio.

The command samples negatives from several files and writes them to a sheet in random order, so that the
annotator does not know from which file a negative comes. A separate key file records the source of each row.
With ``--read``, the command reads filled sheets, or judgements that were made in a browser (``graphneg
serve``), and prints the results.

Example::

    graphneg annotate hard.jsonl edits.jsonl --n 60 -o sheet.csv    # also writes sheet.key.json
    graphneg annotate --read sheet.csv           # print the share of usable negatives of each source
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from typer import BadParameter

from graphneg.cli.commands import argument, option, panel, training_command
from graphneg.cli.options import Json, Overwrite
from graphneg.cli.tables import figures_table, show
from graphneg.cli.terminal import counted, print_message, print_note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from graphneg.evaluation.review.drawing import Drawn
    from graphneg.evaluation.review.items import ReviewSet
    from graphneg.evaluation.review.judgements import Judgement
    from graphneg.evaluation.review.results import Agreement, Line
    from graphneg.statistics import Estimate

_to_read = panel("Reading annotations")
JUDGEMENTS = ".sqlite"
"""Suffix of the files in which ``graphneg serve`` stores judgements that are made in a browser."""


@training_command(
    "graphneg annotate hard.jsonl edits.jsonl --human adversarial.json --n 60 -o sheet.csv",
    "graphneg annotate old=before/hard.jsonl new=after/hard.jsonl --seed 3 -o sheet.csv",
    "graphneg annotate hard.jsonl -o tasks.json",
    "graphneg annotate --read sheet.csv",
    "graphneg annotate --read filled.csv --key sheet.key.json --json",
    "graphneg annotate --read hard.judgements.sqlite --rule two-of-three -o judged.jsonl",
    "graphneg annotate --read ann.csv --read label-studio.json --into hard.judgements.sqlite",
)
def annotate(
    files: list[str] | None = argument(
        None, "Negatives (.jsonl, .parquet). Each file is one source; NAME=FILE names the source.", "FILE..."
    ),
    human: list[Path] | None = option(
        None,
        "Contexts in the format of DailyDialog++. Their adversarial responses are one more source of "
        "negatives. Repeatable.",
    ),
    n: int = option(60, "Number of negatives to sample from each source.", min=1),
    seed: int = option(0, "Random seed. The same seed gives the same sheet."),
    questions: str = option(
        "usable",
        "The questions to ask: a predefined set (usable, contradiction, categories, hardness) or a file.",
        "NAME_OR_FILE",
    ),
    out: Path | None = option(
        None,
        "The sheet to write (.csv, or .json for Label Studio). With --read, the file to which "
        "the judgements are written (.csv, .jsonl, or .json for Label Studio).",
        "FILE",
        "--out",
        "-o",
    ),
    overwrite: Overwrite = False,
    read: list[Path] | None = _to_read(
        None,
        "Read filled sheets or the .sqlite file of graphneg serve, and print the results. Repeatable.",
        "FILE",
    ),
    into: Path | None = _to_read(
        None,
        "Add the judgements in the --read files (.csv, .jsonl, or .json from Label Studio) to this file "
        "of graphneg serve.",
        "FILE.sqlite",
    ),
    key: Path | None = _to_read(
        None, "Key file of the sheets. Default: the key file in the folder of the first sheet.", "FILE"
    ),
    rule: Literal["majority", "two-of-three", "all-of-three"] = _to_read(
        "majority", "Rule that combines the answers of several annotators into one answer."
    ),
    json: Json = False,
) -> None:
    """Sample negatives for blind annotation, or read the annotations.

    The sheet contains negatives of all sources in random order. Contexts for which several sources have
    negatives are chosen first. The annotator fills one column per question. By default, the questions are:
    grammatical (yes or no), sensible (yes or no: could somebody say this?) and verdict (is the text wrong,
    arguable or right as a response to this context?). --questions selects other questions. The file
    SHEET.key.json contains the source of each row: do not show this file to the annotator.

    A .json sheet can be imported into Label Studio as tasks. The labelling configuration is written to an
    .xml file in the same folder. Read the JSON export of Label Studio with --read EXPORT.json --key
    SHEET.key.json.

    When annotations are read, a negative counts as usable if it is grammatical, sensible and wrong. Intervals
    are 95% Wilson confidence intervals. Rows with an empty column are counted separately. If several sheets
    are read, each sheet must be filled by one annotator, who gets the name of the file.

    With --into, the judgements are added to a .sqlite file of graphneg serve. If one of them is not valid,
    none is added. A judgement replaces an earlier judgement of the same row by the same annotator. The
    printed results cover all judgements in the file.
    \N{FORM FEED}

    Raises:
        BadParameter: A required option is missing, or options contradict each other.
    """
    if into is not None:
        _add_to_review(read or [], into, key)
        # The judgements were added to the review file. Now read this file as with `--read`, so that the
        # results cover all of its judgements and not only the added ones.
        read, key = [into], None
    if read:
        if files or human:
            raise BadParameter("can't be combined with FILES", param_hint="--read")
        _read_and_print(read, key, rule, out, overwrite, json)
    elif out is not None:
        _write_sheet(out, files or [], human or [], n, seed, questions, overwrite)
    else:
        raise BadParameter("write a sheet with --out, or read one with --read")


def _write_sheet(
    out: Path, files: Sequence[str], human: Sequence[Path], n: int, seed: int, questions: str, overwrite: bool
) -> None:
    """Sample negatives. Write the negatives to a sheet, and their sources to a key file."""
    from graphneg.evaluation.review.drawing import sample_review
    from graphneg.evaluation.review.exchange import write_blank_sheet
    from graphneg.evaluation.review.questions import load_questions

    drawn = sample_review(files, human, each=n, seed=seed, questions=load_questions(questions))
    key = write_blank_sheet(drawn.set, out, overwrite=overwrite)
    print_shortages(drawn, n)
    print_message(f"{out}: {counted(len(drawn.set.items), 'row')} to judge; {key} records their sources")


def print_shortages(drawn: Drawn, n: int) -> None:
    """Print which sources have too few negatives, and how many records were left out.

    Args:
        drawn: The sampled negatives, with the numbers of missing negatives and skipped records.
        n: The requested number of negatives per source.
    """
    for name, missing in drawn.too_few.items():
        print_note(f"{name}: {missing} fewer negatives than the {n} requested")
    if drawn.left_out:
        print_note(f"{counted(drawn.left_out, 'record')} left out: correct responses or edited dialogues")


def _read_and_print(
    paths: Sequence[Path], key: Path | None, rule: str, out: Path | None, overwrite: bool, json: bool
) -> None:
    """Read annotations and print the results. Unless ``out`` is None, also write the judgements to it."""
    from graphneg.evaluation.review.exchange import write_judgements
    from graphneg.evaluation.review.results import results_of

    results = results_of(*read_judged(paths, key), rule)
    if out is not None:
        write_judgements(results, out, overwrite=overwrite)
    tables = [_table("source", results.sources)]
    if transforms := results.transforms:
        tables.append(_table("transform", transforms))
    if agreement := results.agreement():
        tables.append(_agreement_table(agreement))
    show(json, [results.as_dict()], *tables)
    if results.unfilled:
        print_note(f"{counted(results.unfilled, 'row')} not filled in, and not counted")
    if results.open:
        print_note(f"{counted(results.open, 'row')} without a label by the rule {rule}, and not counted")
    print_message(
        f"{counted(len(results.labels), 'row')} read" + (f"; the judgements are in {out}" if out else "")
    )


def _add_to_review(paths: Sequence[Path], into: Path, key: Path | None) -> None:
    from graphneg.evaluation.review.exchange import read_files
    from graphneg.evaluation.review.judgements import Judgements

    if not paths or key is not None:
        raise BadParameter(
            "give files with --read and remove --key: the review contains the key", param_hint="--into"
        )
    with Judgements.open(into) as kept:
        amount = kept.put(read_files(kept.set, paths))
    print_note(f"{into}: {counted(amount, 'judgement')} imported")


def read_judged(paths: Sequence[Path], key: Path | None) -> tuple[ReviewSet, Sequence[Judgement]]:
    """Read annotated items, with the judgements of the annotators.

    Args:
        paths: Either one ``.sqlite`` file of ``graphneg serve``, or filled copies of one sheet.
        key: The key file, which records the source of each row of the sheet. None for the key file in the
            same folder as the first sheet.

    Returns:
        The items and the judgements.

    Raises:
        BadParameter: A ``.sqlite`` file is given together with another file or a key.
    """
    from graphneg.evaluation.review.exchange import key_path, read_files, read_key
    from graphneg.evaluation.review.judgements import Judgements

    if paths[0].suffix == JUDGEMENTS:
        if len(paths) > 1 or key is not None:
            raise BadParameter(
                "a .sqlite file can't be combined with other files or --key", param_hint="--read"
            )
        with Judgements.open(paths[0]) as kept:
            return kept.set, kept.all()
    # Read only one key file. It applies to all sheets, because they are copies of one sheet that different
    # annotators have filled.
    known = read_key(key or key_path(paths[0]))
    return known, read_files(known, paths)


def _table(what: str, lines: Sequence[Line]) -> Table:
    shares = list(lines[0].shares) if lines else []
    rows = [
        (line.name, f"{line.read:,}", *map(_percent_with_interval, line.shares.values())) for line in lines
    ]
    return figures_table(what, "read", *shares, rows=rows)


def _agreement_table(agreement: Sequence[Agreement]) -> Table:
    rows = [
        (one.question, f"{one.items:,}", str(one.annotators), f"{one.kappa:.2f}", f"{one.alpha:.2f}")
        for one in agreement
    ]
    return figures_table(
        "question", "items", "annotators", "Fleiss' kappa", "Krippendorff's alpha", rows=rows
    )


def _percent_with_interval(share: Estimate) -> str:
    return f"{share.value:.0%}\n{share.low:.0%}-{share.high:.0%}"

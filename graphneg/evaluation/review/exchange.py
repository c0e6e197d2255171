"""Read and write the judgements of a review as CSV sheets, JSON Lines files or Label Studio tasks.

A CSV sheet has one row per item, with the columns ``row``, ``context`` and ``response`` and one column per
question. Filled sheets may also have the columns ``comment`` and ``annotator``. A sheet does not reveal the
sources of the responses. The sources are in the key of the sheet, a JSON file in the same folder that
contains the `ReviewSet`. When a filled sheet is read, the texts in each row are compared with the texts in
the key. If they differ because a row was changed or moved, the sheet is refused.

Example:
    The header and the first row of a blank sheet for the set of questions ``usable``:

        row,context,response,grammatical,sensible,verdict
        1,A: Do you like tea?,"Yes, I hate tea.",,,
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast
from xml.sax.saxutils import quoteattr

from graphneg.errors import InputError
from graphneg.evaluation.review.items import Item, ReviewSet, review_set_of, texts_digest
from graphneg.evaluation.review.judgements import Judgement
from graphneg.evaluation.review.questions import Questions
from graphneg.evaluation.review.results import Results
from graphneg.ingest.content import ItemError, read_text
from graphneg.ingest.reading import accepted, json_lines, parse_json
from graphneg.ingest.sheets import read_sheet, sheet_text
from graphneg.ingest.validation import mapping
from graphneg.json_input import json_line
from graphneg.progress import NoProgress
from graphneg.records.runs import check_new, write_atomically

READER = "reader"
"""The name that is given to the annotator if a file of judgements does not name the annotator."""
BESIDE = ("row", "context", "response")
"""The first columns of a sheet, which are followed by the columns of the questions."""
EMPTY = "no row is filled in"
"""Part of the error message for a file without answers."""
_DIALOGUE = "dialogue"


def key_path(sheet: Path) -> Path:
    """Return the path of the key of a sheet: the key of ``read.csv`` is ``read.key.json``.

    Args:
        sheet: The path of the sheet.

    Returns:
        The path of the key file, which is in the same folder.
    """
    return sheet.with_suffix(".key.json")


def write_blank_sheet(set: ReviewSet, path: Path, *, overwrite: bool = False) -> Path:
    """Write a sheet without answers, and the key of the sheet into the same folder.

    Raises `InputError` if a file exists already or cannot be written.

    Args:
        set: The items to judge.
        path: The output file. A ``.csv`` file has an empty column for each question. A ``.json`` file has
            Label Studio tasks without annotations, and a ``.xml`` file of the same name gets the labelling
            configuration.
        overwrite: Whether to replace existing files.

    Returns:
        The path of the key file.

    Raises:
        InputError: The suffix is neither ``.csv`` nor ``.json``.
    """
    if path.suffix not in (".csv", ".json"):
        raise InputError(f"{path}: a sheet must be a .csv file, or a .json file of tasks for Label Studio")
    if path.suffix == ".csv":
        texts = {path: _blank_csv(set)}
    else:
        tasks = label_studio_of(Results(set, ()))
        texts = {path: tasks, path.with_suffix(".xml"): label_studio_config(set)}
    key = key_path(path)
    # Check all output files before writing the first file. Otherwise, a failure could leave a sheet without
    # its key.
    for file in (*texts, key):
        check_new(file, overwrite)
    for file, text in texts.items():
        write_atomically(file, text)
    write_atomically(key, set.to_json())
    return key


def _blank_csv(set: ReviewSet) -> str:
    """Return the text of a CSV sheet with empty columns for the answers."""
    questions = _columns(set)
    rows = ((at, *item.shown, *[""] * len(questions)) for at, item in enumerate(set.items, 1))
    return sheet_text((*BESIDE, *questions), rows)


def read_key(path: Path) -> ReviewSet:
    """Read the key file of an annotation sheet, which says from which source each item of the sheet comes.

    Raises `InputError` if the file is not a key file.

    Args:
        path: The path of the key file.

    Returns:
        The review set, which contains the items with their sources.

    Raises:
        InputError: The file does not exist.
    """
    if not path.exists():
        raise InputError(f"{path}: there is no such key file; give the key file of the sheet with --key")
    return review_set_of(read_text(path), path)


def csv_of(results: Results) -> str:
    """Return the judgements as a filled CSV sheet, one row per judgement.

    Args:
        results: The results of a review. Their judgements may include judgements of the adjudicator.

    Returns:
        The text of the sheet.
    """
    set = results.set
    rows = (
        [
            one.row,
            *set.item(one.row).shown,
            *(one.answers[name] for name in _columns(set)),
            one.comment,
            one.annotator,
        ]
        for one in results.judgements
    )
    return sheet_text((*BESIDE, *_columns(set), "comment", "annotator"), rows)


def jsonl_of(results: Results) -> str:
    """Return the judgements as JSON Lines. Each line also contains the judged item and its source.

    Args:
        results: The results of a review.

    Returns:
        The text of the file, with one line per judgement.
    """
    lines = ({**_facts(results.set, one.row), **_said(one)} for one in results.judgements)
    return "".join(json_line(line) + "\n" for line in lines)


def labels_of(results: Results) -> str:
    """Return the labels of a review as JSON Lines.

    Args:
        results: The results of a review.

    Returns:
        The text of the file, with one line for each item that has labels. A line also contains the number of
        annotators who judged the item.
    """
    lines = (
        {**_facts(results.set, row), "answers": dict(answers), "annotators": len(results.by_row.get(row, ()))}
        for row, answers in results.labels.items()
    )
    return "".join(json_line(line) + "\n" for line in lines)


def label_studio_of(results: Results) -> str:
    """Return the items of a review and their judgements as Label Studio tasks.

    Args:
        results: The results of a review.

    Returns:
        A JSON list of tasks, for a Label Studio project with the configuration that `label_studio_config`
        returns.
    """
    set = results.set
    said: dict[int, list[Judgement]] = {row: [] for row in range(1, len(set.items) + 1)}
    for judgement in results.judgements:
        said[judgement.row].append(judgement)
    tasks = [
        {
            "data": {
                "row": row,
                _DIALOGUE: [
                    *({"author": name, "text": text} for name, text in set.item(row).turns),
                    {"author": "response", "text": set.item(row).shown[1]},
                ],
            },
            "annotations": [{"result": _label_studio_result(one)} for one in some],
        }
        for row, some in said.items()
    ]
    return json.dumps(tasks, indent=1, ensure_ascii=False) + "\n"


def label_studio_config(set: ReviewSet) -> str:
    """Return the labelling configuration for a Label Studio project.

    Args:
        set: The items of the review, with the questions.

    Returns:
        The configuration in XML, for the tasks that `label_studio_of` returns.
    """
    lines = [f'  <Paragraphs name="{_DIALOGUE}" value="${_DIALOGUE}" layout="dialogue" nameKey="author"/>']
    for question in set.questions.questions:
        lines.append(f"  <Header value={quoteattr(question.text)}/>")
        name = quoteattr(question.name)
        lines.append(f'  <Choices name={name} toName="{_DIALOGUE}" choice="single" required="true">')
        for answer in question.answers:
            lines.append(f"    <Choice value={quoteattr(answer.value)} hint={quoteattr(answer.text)}/>")
        lines.append("  </Choices>")
    for name in ("comment", "annotator"):
        lines.append(f'  <TextArea name="{name}" toName="{_DIALOGUE}" placeholder="{name}"/>')
    return "\n".join(["<View>", *lines, "</View>", ""])


FORMS: Mapping[str, Callable[[Results], str]] = {
    ".csv": csv_of,
    ".jsonl": jsonl_of,
    ".json": label_studio_of,
}
"""The functions that convert judgements into text, keyed by the suffix of the output file."""


def write_judgements(results: Results, path: Path, *, overwrite: bool = False) -> None:
    """Write judgements to a file. The suffix of the file selects the format.

    Raises `InputError` if the file exists already or cannot be written.

    Args:
        results: The results of a review.
        path: The output file. Its suffix must be a key of `FORMS`.
        overwrite: Whether to replace an existing file.

    Raises:
        InputError: The suffix is unknown.
    """
    if path.suffix not in FORMS:
        raise InputError(f"{path}: unknown suffix; use {', '.join(FORMS)}")
    check_new(path, overwrite)
    write_atomically(path, FORMS[path.suffix](results))


def read_judgements(set: ReviewSet, path: Path, annotator: str = READER) -> list[Judgement]:
    """Read judgements from a CSV sheet, a JSON Lines file or a Label Studio export.

    Rows of a CSV sheet are skipped if an answer is empty. Raises `InputError` with the file and line if a row
    is not in the review set, its texts were changed, or an answer is unknown.

    Args:
        set: The items of the review, with the questions.
        path: The file to read. Its suffix, a key of `FORMS`, determines the format.
        annotator: The annotator's name for judgements without such a name.

    Returns:
        The judgements in the order of the file.

    Raises:
        InputError: The suffix is unknown, the file has two judgements of the same row by the same annotator,
            or the file has no judgements.
    """
    readers = {".csv": _from_csv, ".jsonl": _from_jsonl, ".json": _from_label_studio}
    if path.suffix not in readers:
        raise InputError(f"{path}: unknown suffix; use {', '.join(readers)}")
    found: dict[tuple[int, str], Judgement] = {}
    for where, judgement in readers[path.suffix](set, path, annotator):
        if (judgement.row, judgement.annotator) in found:
            raise InputError(f"{where}: row {judgement.row} comes twice from {judgement.annotator}")
        found[judgement.row, judgement.annotator] = judgement
    if not found:
        written = ", ".join(" or ".join(one.values) for one in set.questions.questions)
        raise InputError(f"{path}: {EMPTY}; write {written}")
    return list(found.values())


def read_files(set: ReviewSet, paths: Sequence[Path]) -> list[Judgement]:
    """Read judgements from several files.

    Each file is read by `read_judgements`, which may raise `InputError`. If a judgement does not name its
    annotator, the name of the file without the suffix is used.

    Args:
        set: The items of the review, with the questions.
        paths: The files to read.

    Returns:
        The judgements in the order of the files.

    Raises:
        InputError: Two files have a judgement of the same row by the same annotator.
    """
    found: dict[tuple[int, str], Path] = {}
    judgements: list[Judgement] = []
    for path in paths:
        for one in read_judgements(set, path, path.stem):
            before = found.setdefault((one.row, one.annotator), path)
            if before is not path:
                raise InputError(f"{path}: row {one.row} from {one.annotator} is already in {before}")
            judgements.append(one)
    return judgements


def read_gold(questions: Questions, paths: Sequence[Path]) -> list[Item]:
    """Read gold items, that is, items with known answers, from files that `labels_of` or `jsonl_of` wrote.

    Args:
        questions: The questions to which the answers belong.
        paths: The JSON Lines files to read.

    Returns:
        The items without duplicates, in the order of the files.

    Raises:
        InputError: A line has a different format, or two lines have different answers for the same item.
    """
    found: dict[str, Item] = {}
    for path in paths:
        for where, line in _json_lines(path):
            try:
                context = tuple((str(turn["speaker"]), str(turn["text"])) for turn in line["context"])
                facts = (str(line["source"]), str(line["id"]), context, str(line["response"]))
                answers, transforms = dict(line["answers"]), tuple(map(str, line["transforms"]))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise InputError(f"{where}: not a labelled item: {error!r}") from error
            item = Item(*facts, transforms, questions.check(answers, where))
            if found.setdefault(item.text_digest, item).gold != item.gold:
                raise InputError(f"{where}: {item.id} has different answers in an earlier line")
    return list(found.values())


def _columns(set: ReviewSet) -> list[str]:
    """Return the names of the questions, which are also the names of columns in a sheet."""
    return [question.name for question in set.questions.questions]


def _facts(set: ReviewSet, row: int) -> dict[str, Any]:
    """Return the fields that describe an item in a JSON Lines file."""
    item = set.item(row)
    context = [{"speaker": speaker, "text": text} for speaker, text in item.context]
    facts = {"row": row, "source": item.source, "id": item.id, "transforms": list(item.transforms)}
    return {**facts, "context": context, "response": item.response}


def _said(one: Judgement) -> dict[str, Any]:
    """Return the fields that describe a judgement in a JSON Lines file."""
    return {"annotator": one.annotator, "answers": dict(one.answers), "comment": one.comment, "at": one.at}


def _label_studio_result(one: Judgement) -> list[dict[str, Any]]:
    """Return a judgement in the format of a Label Studio annotation."""
    texts = {"comment": one.comment, "annotator": one.annotator}
    choices = [(name, "choices", {"choices": [value]}) for name, value in one.answers.items()]
    written = [(name, "textarea", {"text": [text]}) for name, text in texts.items() if text]
    return [
        {"from_name": name, "to_name": _DIALOGUE, "type": kind, "value": value}
        for name, kind, value in (*choices, *written)
    ]


_Read = Iterator[tuple[str, Judgement]]


def _from_csv(set: ReviewSet, path: Path, annotator: str) -> _Read:
    """Yield the complete judgements in a CSV sheet, each preceded by its location (file and line)."""
    columns = (*BESIDE, *_columns(set))
    form = f"a sheet must have the columns {', '.join(columns)}, separated by commas, semicolons or tabs"
    for where, cells in read_sheet(path, columns, form):
        row = _row(set, cells["row"], texts_digest(cells["context"], cells["response"]), where)
        answers: dict[str, str] = {}
        for question in set.questions.questions:
            written = cells[question.name].strip()
            # Annotators may abbreviate answers, for example "y" or "1" for "yes".
            meant = question.parse_answer(written)
            if written and meant is None:
                raise InputError(
                    f"{where}: {question.name} is {written!r}; write {' or '.join(question.values)}"
                )
            if meant is not None:
                answers[question.name] = meant
        if len(answers) == len(set.questions.questions):
            name = (cells.get("annotator") or "").strip() or annotator
            yield where, Judgement(row, name, answers, cells.get("comment") or "")


def _from_jsonl(set: ReviewSet, path: Path, annotator: str) -> _Read:
    """Yield the judgements in a JSON Lines file, each preceded by its location (file and line)."""
    for where, line in _json_lines(path):
        try:
            context = tuple((str(turn["speaker"]), str(turn["text"])) for turn in line["context"])
            says = Item("", "", context, str(line["response"])).text_digest
            row, answers = line["row"], mapping(line["answers"], "answers")
        except (KeyError, TypeError, ValueError, AttributeError, ItemError) as error:
            raise InputError(f"{where}: not a judgement: {error!r}") from error
        texts = {name: str(line.get(name) or "") for name in ("annotator", "comment", "at")}
        answers = set.questions.check({name: str(value) for name, value in answers.items()}, where)
        yield (
            where,
            Judgement(
                _row(set, row, says, where),
                texts["annotator"] or annotator,
                answers,
                texts["comment"],
                texts["at"],
            ),
        )


def _from_label_studio(set: ReviewSet, path: Path, annotator: str) -> _Read:
    """Yield the judgements in a Label Studio export, each preceded by its location (file and task)."""
    try:
        tasks = parse_json(read_text(path))
    except ItemError as error:
        raise InputError(f"{path}: {error}") from error
    if not isinstance(tasks, list):
        raise InputError(f"{path}: expected a list of tasks, as Label Studio exports them")
    for at, task in enumerate(cast("list[Any]", tasks)):
        where = f"{path}: task {at}"
        try:
            turns = [(str(turn["author"]), str(turn["text"])) for turn in task["data"][_DIALOGUE]]
            context = "\n".join(f"{name}: {text}" for name, text in turns[:-1])
            row = _row(set, task["data"]["row"], texts_digest(context, turns[-1][1]), where)
            for one in task.get("annotations", []):
                # Label Studio exports a skipped task as a cancelled annotation. Ignore such annotations.
                if not one.get("was_cancelled"):
                    yield where, _label_studio_judgement(set, row, one, annotator, where)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise InputError(f"{where}: not a task of this review: {error!r}") from error


def _label_studio_judgement(
    set: ReviewSet, row: int, annotation: Mapping[str, Any], annotator: str, where: str
) -> Judgement:
    """Convert a Label Studio annotation into a judgement."""
    answers: dict[str, str] = {}
    texts = {"comment": "", "annotator": ""}
    for result in annotation["result"]:
        name, value = result["from_name"], result["value"]
        if name in texts:
            text = value["text"]
            # Label Studio exports the value of a text area as a single text or as a list of texts.
            texts[name] = text if isinstance(text, str) else "\n".join(map(str, text))
        else:
            answers[name] = str(value["choices"][0])
    by = annotation.get("completed_by")
    # Label Studio exports the annotator as an object with an email address, or as a number. A name in the
    # form's field `annotator` takes precedence.
    email = cast("Mapping[str, Any]", by).get("email") if isinstance(by, dict) else by
    name = texts["annotator"] or (annotator if email is None else str(email))
    return Judgement(row, name, set.questions.check(answers, where), texts["comment"])


def _json_lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects in a JSON Lines file, each preceded by its location (file and line)."""
    for line in accepted(json_lines(path, NoProgress())):
        try:
            yield line.place, mapping(line.value, "the line")
        except ItemError as error:
            raise InputError(f"{line.place}: {error}") from error


def _row(set: ReviewSet, written: Any, says: str, where: str) -> int:
    """Parse the number of a row, and compare the digest of its texts (``says``) with the review set."""
    text = str(written).strip()
    if not text.isdecimal() or len(text) > 9 or not 1 <= int(text) <= len(set.items):
        raise InputError(f"{where}: row {text[:20]!r} is not in the key")
    if set.item(int(text)).text_digest != says:
        raise InputError(f"{where}: row {text} has a different context or response than the key")
    return int(text)

"""Read the entries of files that contain dialogues: JSON, JSON Lines, tables, Parquet and Arrow.

Dialogues can also come from a folder that the library ``datasets`` saved, or from a Python object: a list of
dicts, a DataFrame or a data set. `sources` detects the kind of its input, and returns a `Source` for each
file or split, from which entries can be read. An entry is a decoded value with its position in the input.
`graphneg.ingest.shapes` decides what the keys of an entry mean.

>>> from graphneg.progress import NoProgress
>>> [source] = sources([[{"dialogue": 1, "text": "Hi."}]], "dialogues", Fields({}), LoadOptions())
>>> list(source.read(NoProgress()))
[Item(place='data:row 1', number=0, key='', value={'dialogue': 1, 'text': 'Hi.'})]
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, time, timedelta
from decimal import Decimal
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, cast

from graphneg.errors import InputError
from graphneg.ingest.cells import decoded
from graphneg.ingest.columns import require_columns, require_named_columns
from graphneg.ingest.content import ItemError, TruncatedError, chunks, encoding_of, head
from graphneg.ingest.delimited import DelimitedRow, certain_cells, read_rows
from graphneg.ingest.envelopes import without_envelope
from graphneg.ingest.exports import is_export
from graphneg.ingest.fields import Fields, has_turns, is_utterance
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.nested import lift_paths
from graphneg.ingest.reading import (
    LARGEST_ITEM,
    Item,
    Line,
    UnreadLine,
    UnreadRow,
    corpus_of,
    input_paths,
    is_assignment,
    json_items,
    json_lines,
    parse_json,
    split_of,
    text_lines,
)
from graphneg.model import Rejected
from graphneg.progress import NoProgress, Progress

_TABLES = {".csv", ".tsv", ".tab", ".psv"}
_SEPARATORS = ",;\t|"
_COMPRESSIONS = {".gz", ".zst"}
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.I)
# "+----+------+", "|:---|---|", "├────┼──────┤": a line between the rows of a table that is drawn as text.
_RULER = re.compile(r"(?=.*(?:-{2}|─{2}|={2}))[\s|+:=\-─│┌┬┐├┼┤└┴┘]{3,}")
_ROW_COUNT = re.compile(r"\(?\d+ rows?(?: in set.*)?\)?\s*")
_QUOTED = re.compile(r'(?:[^"\t\r\n]*|"(?:[^"]|"")*")(?:[\t\r\n]|\Z)')
_ARROW_STREAM = b"\xff\xff\xff\xff"
# Two patterns for formats in which pandas writes a table as a single JSON object.
# The first format starts like {"text":{"0":"Hi.","1":
# The second format starts like {"columns":["dialogue","text"],"index":[0,1],"data":[[
_BY_COLUMN = re.compile(
    r'\s*\{\s*"(?:[^"\\]|\\.)*+"\s*:\s*\{\s*"0"\s*:\s*(?:"(?:[^"\\]|\\.)*+"|[^"{}\[\],]*+),\s*"1"\s*:'
)
_SPLIT_FRAME = re.compile(r'\s*\{\s*"columns"\s*:\s*\[[^\[\]{}]*+\]\s*,\s*"(?:index|data)"\s*:\s*\[')
# Matches the end of a line in a cell that contains a whole transcript: a line break, "<br>" in HTML, or the
# beginning of the next turn in "User says: Hi.;Bot says: Hello.;".
_LINE_END = re.compile(r"\n|<br\s*/?>|;\s*\w+ says:")
_BEGINNING = 1 << 16
"""Number of bytes at the start of a large JSON document that are read to detect its shape."""
_BATCH = 500
"""Number of rows to read from a Parquet or Arrow file at a time."""
_MOST_ABOVE = 20
"""Number of lines at the beginning of a table in which the header is searched for."""
_HINT_ROWS = 20
"""Number of rows after the first one from which a message suggests columns for missing fields."""
LONGEST_COLUMN = 1_000
"""Maximum length of a column name in characters."""

Entries = Iterator[Item | Rejected]


class Source(NamedTuple):
    """A file or Python object from which entries are read.

    Attributes:
        place: The name of the file or object in messages.
        corpus: The corpus name for entries that do not name a corpus.
        split: The split for entries that do not name a split.
        read: Function that reads the entries from the beginning.
        text: The text file whose first bytes show whether it has the expected format; None for Parquet and
            Arrow files and Python objects.
        once: Whether the entries can be read only once, as from a generator.
    """

    place: str
    corpus: str
    split: str
    read: Callable[[Progress], Entries]
    text: Path | None = None
    once: bool = False


def sources(inputs: Sequence[Any], loader: str, fields: Fields, options: LoadOptions) -> list[Source]:
    """Return a `Source` for each file, split or Python object from which a loader is to read.

    Raises `InputError` if a file is missing, empty or unreadable.

    Args:
        inputs: Paths, or Python objects that contain dialogues.
        loader: The name of the loader, for messages.
        fields: Look-up from a field, such as the text, to the key or column that contains it.
        options: Options for loading, such as the corpus and split.

    Returns:
        The sources in the order of ``inputs``. For a folder, there may be several sources.
    """
    if not inputs:
        input_paths((), loader)
    if options.encoding:
        _require_codec(options.encoding)
    return [source for one in inputs for source in _sources(one, loader, fields, options)]


def _sources(value: Any, loader: str, fields: Fields, options: LoadOptions) -> Iterator[Source]:
    if not isinstance(value, Path):
        yield from _of_object(value)
        return
    [path] = input_paths([value], loader)
    if path.is_dir():
        yield from _saved(path, options)
        return
    start = head(path, 16)
    corpus, split = corpus_of(path), split_of(path)
    # Detect Parquet and Arrow files by their first bytes, because their suffixes vary.
    if start.startswith(b"PAR1"):
        yield Source(str(path), corpus, split, partial(_parquet, path, options))
    elif start.startswith((b"ARROW1", _ARROW_STREAM)):
        yield Source(str(path), corpus, split, partial(_arrow, path, options))
    else:
        yield Source(str(path), corpus, split, partial(_text, path, fields, options), path)


def _require_codec(name: str) -> None:
    try:
        "text".encode(name)
    except (LookupError, UnicodeError, ValueError) as error:
        raise InputError(
            f"--encoding {name}: not a text encoding; examples are cp1252, utf-16-le and shift_jis"
        ) from error


# Text


def _text(path: Path, fields: Fields, options: LoadOptions, progress: Progress) -> Entries:
    """Return the values of a JSON document or of JSON Lines, or the rows of a table.

    The first lines decide which of these three formats the file has.
    """
    encoding = options.encoding or encoding_of(path)
    if encoding and not options.encoding:
        options.notices.say(f"{path}: not UTF-8, read as {encoding}; if that is wrong, set --encoding")
    first, second = _first_lines(path, encoding)
    suffixes = [suffix for suffix in map(str.lower, path.suffixes) if suffix not in _COMPRESSIONS]
    if suffixes and suffixes[-1] in _TABLES:
        skipped, first = _header_line(path, first, fields, encoding)
        if skipped:
            above = f"line {skipped + 1} is read as the header, and the lines above it are left out"
            options.notices.say(f"{path}: {above}")
        return table_rows(path, _separator(first, fields), fields, progress, encoding, skipped)
    if is_assignment(first):
        return without_envelope(str(path), json_items(path, progress, encoding), fields, options)
    if first.lstrip().startswith(("[", "{")):
        if _is_document(first.strip(), second.strip(), fields):
            return _document(path, fields, options, progress, encoding)
        return json_lines(path, progress, encoding)
    # A table that mysql prints begins with a line of dashes: "+----+------+".
    first = second if _RULER.fullmatch(first.strip()) else first
    if _SEPARATOR_LINE.fullmatch(first) or "text" in fields.of(_cells(first, _separator(first, fields))):
        return table_rows(path, _separator(first, fields), fields, progress, encoding)
    return json_lines(path, progress, encoding)


def _header_line(path: Path, first: str, fields: Fields, encoding: str) -> tuple[int, str]:
    """Return the number of lines above the header of a table, and the header.

    Reports of help desks begin with lines such as "Case comments" and "As of 2025-11-16". The header is the
    first line with known columns for the dialogue and the text, if the first line of the file has neither.
    """
    if {"dialogue", "text"} & fields.of(_cells(first, _separator(first, fields))).keys():
        return 0, first
    for line in islice(text_lines(path, NoProgress(), encoding), _MOST_ABOVE):
        if isinstance(line, Line):
            header = line.text.strip("\r\n")
            if {"dialogue", "text"} <= fields.of(_cells(header, _separator(header, fields))).keys():
                return line.number - 1, header
    return 0, first


def _first_lines(path: Path, encoding: str) -> tuple[str, str]:
    """Return the first two lines that are not blank; an empty string for a missing or unreadable line."""
    lines = text_lines(path, NoProgress(), encoding)
    said = list(islice((one for one in lines if isinstance(one, Rejected) or one.text.strip()), 2))
    first, second, *_ = [*(one.text if isinstance(one, Line) else "" for one in said), "", ""]
    # If a document is on one line, this line may exceed the maximum length and be rejected. In this case,
    # read only its beginning, which is enough to detect the format.
    if said and isinstance(said[0], Rejected) and not isinstance(said[0], UnreadLine):
        start = head(path, _BEGINNING, encoding).decode("utf-8", "replace").lstrip()
        first = start.partition("\n")[0]
    return first, second


def _is_document(first: str, second: str, fields: Fields) -> bool:
    """Return whether the first two lines belong to a single JSON document and not to JSON Lines."""
    try:
        value = json.loads(first)
    except (ValueError, RecursionError) as error:
        # If parsing fails only at the end of the first line, the value continues on the next line, and the
        # file is a pretty-printed document.
        cut = isinstance(error, json.JSONDecodeError) and error.pos >= len(first)
        if first[0] == "[":
            return first == "[" or not second.startswith("[")
        # If the file has a single line and this line is long, it is a document: a line of JSON Lines may not
        # be so long.
        is_long = not second and len(first) > _BEGINNING // 2
        return is_long or (cut and bool(second) and not second.startswith("{"))
    if isinstance(value, list):
        # [["Hi.", "Ho."]] on one line is a document. Two such lines are JSON Lines with two dialogues.
        return not second.startswith("[")
    return not second and not (
        has_turns(lift_paths(value, fields), fields) or is_utterance(lift_paths(value, fields), fields)
    )


def _document(path: Path, fields: Fields, options: LoadOptions, progress: Progress, encoding: str) -> Entries:
    """Return the items of a JSON document: a single dialogue, a table written by pandas, or many entries."""
    whole = b""
    try:
        for piece in chunks(path, NoProgress(), encoding):
            whole += piece
            if len(whole) > LARGEST_ITEM:
                break
        value = json.loads(whole.decode("utf-8"))
    except (TruncatedError, ValueError, RecursionError):
        _require_rows(path, whole[:_BEGINNING].decode("utf-8", "replace"))
        return without_envelope(str(path), json_items(path, progress, encoding), fields, options)
    if not has_turns(lift_paths(value, fields), fields) and (rows := frame_rows(value, fields)) is None:
        return without_envelope(str(path), json_items(path, progress, encoding), fields, options)
    # The file was read above without a progress display. Advance the display by reading the file once more.
    list(chunks(path, progress, encoding))
    try:
        # Parse the document strictly: repeated keys raise an error.
        value = parse_json(whole.decode("utf-8"))
    except ItemError as reason:
        return iter([Rejected(f"{path}:1", str(reason))])
    if has_turns(lift_paths(value, fields), fields):
        return iter([Item(f"{path}:1", 0, "", value)])
    rows = frame_rows(value, fields) or []
    return (Item(f"{path}:row {number + 1}", number, "", row) for number, row in enumerate(rows))


def frame_rows(value: Any, fields: Fields) -> list[dict[str, Any]] | None:
    """Return the rows of a table that ``DataFrame.to_json`` wrote as a single JSON object.

    >>> frame_rows({"dialogue": {"0": 1, "1": 1}, "text": {"0": "Hi.", "1": "Ho."}}, Fields({}))
    [{'dialogue': 1, 'text': 'Hi.'}, {'dialogue': 1, 'text': 'Ho.'}]

    Args:
        value: A decoded JSON document.
        fields: Look-up from a field, such as the text, to the key or column that contains it.

    Returns:
        The rows, as dicts from column to cell, for the orients ``columns`` (the default), ``split`` and
        ``table``. None for other documents, including the orients ``records`` and ``index``, in which each
        row is an entry already.
    """
    if not isinstance(value, dict):
        return None
    document = cast("dict[str, Any]", value)
    rows: Any = document.get("data")
    if {"schema", "data"} == document.keys() and isinstance(rows, list):
        found: list[Any] = rows
        return found if all(isinstance(row, dict) for row in found) else None
    names: Any = document.get("columns")
    if document.keys() <= {"columns", "index", "data"} and isinstance(names, list) and isinstance(rows, list):
        columns = [str(name) for name in cast("list[Any]", names)]
        cells = cast("list[Any]", rows)
        whole = all(isinstance(row, list) and len(cast("list[Any]", row)) == len(columns) for row in cells)
        is_table = whole and len(set(columns)) == len(columns)
        return [dict(zip(columns, row, strict=True)) for row in cells] if is_table else None
    parts = list(document.values())
    if not parts or not all(isinstance(part, dict) for part in parts):
        return None
    labels: list[str] = list(parts[0])
    if not labels or any(list(part) != labels for part in parts):
        return None
    # pandas writes a column as {"0": "Hi.", "1": "Ho."}. Such an object is a table even if no column contains
    # a text. Its rows are refused later, with a message that names the columns.
    are_numbered = all(label.isdigit() for label in labels) and not any(
        isinstance(cell, dict | list) for part in parts for cell in part.values()
    )
    if "text" not in fields.of(document) and not are_numbered:
        return None
    return [{name: part[label] for name, part in document.items()} for label in labels]


def _require_rows(path: Path, start: str) -> None:
    """Raise `InputError` for a large table that pandas wrote by column: it cannot be read row by row."""
    if _BY_COLUMN.match(start) or _SPLIT_FRAME.match(start):
        raise InputError(
            f"{path}: a table written by pandas as one JSON object of more than {LARGEST_ITEM >> 20} MiB: "
            "write the table row by row with df.to_json(path, orient='records', lines=True)"
        )


# Tables


def table_rows(
    path: Path, separator: str, fields: Fields, progress: Progress, encoding: str = "", skipped: int = 0
) -> Entries:
    """Read the rows of a table with a header.

    In CSV files, cells may be quoted as in RFC 4180. In tab-separated files, a quotation mark is normally an
    ordinary character. If the quotation marks at the beginning of a tab-separated file always enclose whole
    cells, however, the file is assumed to be from Excel, and its cells may be quoted.

    Args:
        path: The file to read.
        separator: The character between cells, such as a comma.
        fields: Look-up from a field, such as the text, to the key or column that contains it.
        progress: Progress display; advanced by the number of bytes read.
        encoding: The codec of the text; empty for UTF-8.
        skipped: The number of lines above the header.

    Yields:
        The cells of each row, keyed by column, with the position of the row's first line.

    Raises:
        InputError: The header cannot be read, or lacks a column.
    """
    quoted = separator != "\t" or _quotes(path, encoding)
    columns: list[str] = []
    lacks, header = False, ""
    number = 0
    places = _places(path, progress, encoding, skipped)
    source = read_rows(_without_rulers(places), separator, quoted=quoted)
    for row in source:
        if isinstance(row, Rejected):
            if not columns:
                raise InputError(f"{row.place}: the header can't be read: {row.reason}")
            yield UnreadRow(row.place, row.reason, _named(columns, _certain_cells(row, separator, quoted)))
        elif not columns:
            if not _SEPARATOR_LINE.fullmatch(row.text.strip()):
                columns = _header(row)
                require_named_columns(row.place, columns, fields)
                lacks, header = _lacks_columns(row.place, columns, fields), row.place
        elif row.fault or len(row.cells) != len(columns):
            fault = row.fault or f"{len(row.cells)} cells, but the header has {len(columns)}"
            # If the text of a message contains a separator without quotation marks, this text and all later
            # cells are in wrong columns. So keep only the cells before the text. A row that is invalid only
            # because a cell is too long has all cells in their columns: keep them all.
            text, is_whole = fields.of(columns).get("text"), len(row.cells) == len(columns)
            certain = columns if is_whole else columns[: columns.index(text)] if text is not None else []
            yield UnreadRow(row.place, fault, _named(certain, row.cells))
        else:
            cells = _named(columns, row.cells)
            # If one cell of a row contains a whole dialogue, the row needs no other columns.
            if lacks and not _has_dialogue(cells, fields):
                more = (one for one in islice(source, _HINT_ROWS) if isinstance(one, DelimitedRow))
                require_columns(
                    header, columns, fields, [cells, *(_named(columns, one.cells) for one in more)]
                )
            lacks = False
            yield Item(row.place, number, "", cells)
            number += 1
    if lacks:
        require_columns(header, columns, fields)


def _lacks_columns(place: str, columns: Sequence[str], fields: Fields) -> bool:
    try:
        require_columns(place, columns, fields)
    except InputError:
        return True
    return False


def _has_dialogue(cells: Mapping[str, str], fields: Fields) -> bool:
    """Return whether a cell contains a list of turns, or several lines, which may be a transcript."""
    texts = [cells[key] for key in fields.text_keys(cells)]
    values = [(text, decoded(text)) for text in texts]
    return any(
        isinstance(value, list) or is_export(value) or _LINE_END.search(text.strip())
        for text, value in values
    )


def _places(
    path: Path, progress: Progress, encoding: str, skipped: int
) -> Iterator[tuple[str, str] | Rejected]:
    for line in islice(text_lines(path, progress, encoding), skipped, None):
        yield line if isinstance(line, Rejected) else (line.place, line.text)


def _without_rulers(lines: Iterator[tuple[str, str] | Rejected]) -> Iterator[tuple[str, str] | Rejected]:
    """Return the lines of a table without lines such as ``|---|---|``, which are part of Markdown tables."""
    first = list(islice(lines, 2))
    whole = chain(first, lines)
    # Remove lines of dashes only if the first or second line of the table is one. In a CSV file, a message
    # with several lines may contain a line of dashes.
    is_drawn = any(isinstance(line, tuple) and _RULER.fullmatch(line[1].strip()) for line in first)
    return (
        (line for line in whole if isinstance(line, Rejected) or not _is_drawn(line[1]))
        if is_drawn
        else whole
    )


def _is_drawn(line: str) -> bool:
    """Return whether a line is a line of dashes (``|---|---|``) or a number of rows (``(2 rows)``)."""
    return any(pattern.fullmatch(line.strip()) for pattern in (_RULER, _ROW_COUNT))


def _certain_cells(line: Rejected, separator: str, quoted: bool) -> list[str]:
    return certain_cells(line.text, separator, quoted=quoted) if isinstance(line, UnreadLine) else []


def _named(columns: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    return {column: cell for column, cell in zip(columns, cells, strict=False) if column}


def _header(row: DelimitedRow) -> list[str]:
    if row.fault:
        raise InputError(f"{row.place}: the header can't be read: {row.fault}")
    columns = [cell.strip() for cell in row.cells]
    if (longest := max(columns, key=len)) and len(longest) > LONGEST_COLUMN:
        raise InputError(
            f"{row.place}: a column of the header has {len(longest):,} characters ({longest[:40]!r}…), more "
            f"than {LONGEST_COLUMN:,}: this is not a table with a header"
        )
    return columns


def _separator(header: str, fields: Fields) -> str:
    """Return the separator that splits a header into the most known fields. Prefer common separators."""
    # A carriage return without a line feed also ends a line of a table.
    header = header.lstrip("\r").partition("\r")[0]
    # The first line of a file that Excel reads may name the separator: "sep=;".
    if told := _SEPARATOR_LINE.fullmatch(header):
        return told[1]
    signs = dict.fromkeys((*_SEPARATORS, *re.findall(r'[^\w\s"\'().-]', header)))
    return max(signs, key=lambda sign: (len(fields.of(_cells(header, sign))), header.count(sign)))


def _cells(header: str, separator: str) -> list[str]:
    return [cell.strip().strip('"').strip() for cell in header.split(separator)]


def _quotes(path: Path, encoding: str) -> bool:
    """Return whether a tab-separated file puts quotation marks around whole cells.

    Only the start of the file is read. A cell such as ``5" disk`` shows that quotation marks belong to texts.
    """
    start = head(path, encoding=encoding).decode("utf-8", "replace")
    if '"' not in start:
        return False
    at = 0
    while at < len(start):
        cell = _QUOTED.match(start, at)
        if cell is None:
            # `start` is only the beginning of the file, so a quoted cell may be cut off at its end. Accept
            # this if `start` is long: many complete quoted cells then precede it.
            is_cut_off = re.compile(r'"(?:[^"]|"")*\Z').match(start, at) is not None
            return is_cut_off and len(start) > 1 << 15
        at = cell.end()
    return True


# Parquet and Arrow


def _saved(path: Path, options: LoadOptions) -> Iterator[Source]:
    """Yield the Arrow files, of all splits, in a folder that ``save_to_disk`` of ``datasets`` wrote."""
    splits = _listing(path / "dataset_dict.json", "splits")
    folders = [path] if splits is None else [path / Path(str(split)).name for split in splits]
    for folder in folders:
        files = _listing(folder / "state.json", "_data_files")
        if files is None:
            raise InputError(
                f"{folder} is a directory, but was not written by save_to_disk (state.json is missing): name "
                "the files in the directory"
            )
        names = [Path(str(file.get("filename"))).name for file in files if isinstance(file, dict)]
        split = split_of(folder) if splits is None else folder.name
        corpus = corpus_of(path)
        for file in input_paths([folder / name for name in names], "dialogues") if names else ():
            yield Source(str(file), corpus, split, partial(_arrow, file, options))


def _listing(path: Path, key: str) -> list[Any] | None:
    """Return the list under a key of a JSON file; None if there is no such file.

    Args:
        path: The file to read.
        key: The key of the list.

    Returns:
        The list; None if there is no such file.

    Raises:
        InputError: The file has no such list.
    """
    if not path.is_file():
        return None
    try:
        value = parse_json(path.read_text("utf-8"))
        if isinstance(value, dict) and isinstance(value.get(key), list):
            return value[key]
    except (OSError, UnicodeDecodeError, ItemError):
        pass
    raise InputError(f"{path}: not written by save_to_disk: the list {key!r} is missing")


@contextmanager
def _arrow_faults() -> Generator[None]:
    """Convert errors that pyarrow raises into `ItemError`."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ItemError(f"the file is damaged or does not exist ({reason})") from error


def _parquet(path: Path, options: LoadOptions, progress: Progress) -> Entries:
    import pyarrow.parquet as pq

    def opened() -> tuple[int | None, Iterator[Any]]:
        file = pq.ParquetFile(path)
        names = _without_bytes(path, file.schema_arrow, options)
        return file.metadata.num_rows, file.iter_batches(_BATCH, columns=names)

    return _rows(path, opened, progress)


def _arrow(path: Path, options: LoadOptions, progress: Progress) -> Entries:
    import pyarrow as pa

    def opened() -> tuple[int | None, Iterator[Any]]:
        file = pa.OSFile(str(path))
        # Arrow has two formats. ``datasets`` writes the stream format, which has no magic number.
        # Only the file format starts with a magic number.
        is_stream = file.read(6) != b"ARROW1"
        file.seek(0)
        reader = pa.ipc.open_stream(file) if is_stream else pa.ipc.open_file(file)
        whole = reader if is_stream else map(reader.get_batch, range(reader.num_record_batches))
        return None, _slices(whole, _without_bytes(path, reader.schema, options))

    return _rows(path, opened, progress)


def _slices(batches: Iterable[Any], names: list[str]) -> Iterator[Any]:
    """Validate each batch with pyarrow, then yield its selected columns, `_BATCH` rows at a time."""
    for batch in batches:
        batch.validate(full=True)
        for start in range(0, batch.num_rows, _BATCH):
            yield batch.slice(start, _BATCH).select(names)


def _without_bytes(path: Path, schema: Any, options: LoadOptions) -> list[str]:
    """Return the columns without binary data, such as images or sound. Report the columns left out."""
    left_out = [column.name for column in schema if _has_bytes(column.type)]
    if left_out:
        options.notices.say(f"{path}: left out columns with binary data: {', '.join(left_out)}")
    return [column.name for column in schema if column.name not in left_out]


def _has_bytes(kind: Any) -> bool:
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind):
        return _has_bytes(kind.value_type)
    binary = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    # Older versions of pyarrow do not have the type "binary view", and thus no function `is_binary_view`.
    views = getattr(pa.types, "is_binary_view", None)
    if any(test(kind) for test in binary) or (views is not None and views(kind)):
        return True
    return any(_has_bytes(kind.field(at).type) for at in range(kind.num_fields))


def _rows(path: Path, opened: Callable[[], tuple[int | None, Iterator[Any]]], progress: Progress) -> Entries:
    """Yield the rows of Arrow record batches, and stop at a batch that cannot be read."""
    number = 0
    try:
        with _arrow_faults():
            total, batches = opened()
        progress.start(path.name, total, "rows")
        try:
            while True:
                with _arrow_faults():
                    batch = next(batches, None)
                if batch is None:
                    return
                for at in range(batch.num_rows):
                    number += 1
                    yield _row(f"{path}:row {number}", number, partial(_cells_of, batch, at))
                progress.advance(batch.num_rows)
        finally:
            progress.finish()
    except ItemError as reason:
        yield Rejected(f"{path}:row {number + 1}", f"{reason}; the rest of the file is not read")


def _cells_of(batch: Any, at: int) -> Any:
    with _arrow_faults():
        return batch.slice(at, 1).to_pylist()[0]


def _row(place: str, number: int, cells: Callable[[], Any]) -> Item | Rejected:
    """Convert a row into an `Item`. Keep empty cells, because they show which columns exist."""
    try:
        row = cells()
        is_object = isinstance(row, Mapping)
        value = {str(key): _as_json(cell) for key, cell in row.items()} if is_object else _as_json(row)
    except ItemError as reason:
        return Rejected(place, str(reason))
    return Item(place, number - 1, "", value)


# Python objects


def _of_object(value: Any) -> Iterator[Source]:
    """Yield a `Source` for a list of dicts, a DataFrame or a data set, or for each split of a mapping."""
    if isinstance(value, Mapping):
        parts = cast("Mapping[Any, Any]", value)
        # {"train": data set, "test": data set}: the keys are names of splits. A mapping with any string,
        # number or list as a value is a single dialogue instead.
        if parts and not any(isinstance(part, str | int | float | list | None) for part in parts.values()):
            for split, part in parts.items():
                yield from (source._replace(split=str(split)) for source in _of_object(part))
            return
        value = [parts]
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InputError(
            f"the loader 'dialogues' can't read {type(value).__name__!r}: pass a path, a list of dicts, a "
            "DataFrame or a data set"
        )
    name = str(getattr(getattr(value, "info", None), "dataset_name", None) or "dialogues")
    split = str(getattr(value, "split", None) or "all")
    split = split if re.fullmatch(r"\w+", split) else "all"
    yield Source("data", name, split, partial(_of_rows, value), once=iter(value) is value)


def _of_rows(rows: Iterable[Any], progress: Progress) -> Entries:
    length = len(cast("Any", rows)) if hasattr(rows, "__len__") else None
    progress.start("data", length, "rows")
    try:
        for number, row in enumerate(_frame_rows(rows) if hasattr(rows, "columns") else rows):
            yield _row(f"data:row {number + 1}", number + 1, lambda row=row: row)
            progress.advance(1)
    finally:
        progress.finish()


def _frame_rows(frame: Any) -> Iterator[Mapping[str, Any]]:
    columns = [str(column) for column in frame.columns]
    for cells in frame.itertuples(index=False, name=None):
        yield dict(zip(columns, cells, strict=True))


def _as_json(value: Any) -> Any:
    """Convert a value into JSON types, with None for missing values (NaN, NaT).

    Args:
        value: A cell from pandas, numpy, pyarrow or ``datasets``.

    Returns:
        A string, number, list or object. Members of an object whose values are missing are left out.

    Raises:
        ItemError: JSON has no type for the value.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        members = ((str(key), _as_json(one)) for key, one in cast("Mapping[Any, Any]", value).items())
        return {key: one for key, one in members if one is not None}
    if isinstance(value, list | tuple):
        return [_as_json(one) for one in cast("Sequence[Any]", value)]
    if isinstance(value, date | time):
        # Convert a missing time (`pandas.NaT`) into None. It is recognized by being unequal to itself.
        return None if value != value else value.isoformat()
    if isinstance(value, Decimal | timedelta):
        return str(value)
    if hasattr(value, "tolist"):
        return _as_json(value.tolist())
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    raise ItemError(
        f"a value of the type {type(value).__name__!r}, which is not a text, number, list or object"
    )

"""The entries of files that hold dialogues, whatever the format: JSON, JSON Lines, tables, Parquet, Arrow.

In: a file, a folder that ``datasets`` saved, or an object of Python (a list of dicts, a DataFrame, a data
set). Out: `Source`s, whose entries are decoded values with their places; `graphneg.ingest.shapes` says what
they mean.
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
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, cast

from graphneg.errors import InputError
from graphneg.ingest.content import Damaged, Refused, chunks, encoding_of, head
from graphneg.ingest.delimited import DelimitedRow, certain_cells, read_rows
from graphneg.ingest.fields import Fields, has_turns, is_row, require_columns
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import (
    LARGEST_ITEM,
    Item,
    Line,
    UnreadLine,
    UnreadRow,
    corpus_of,
    input_paths,
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
_QUOTED = re.compile(r'(?:[^"\t\r\n]*|"(?:[^"]|"")*")(?:[\t\r\n]|\Z)')
_ARROW_STREAM = b"\xff\xff\xff\xff"
_BATCH = 500
LONGEST_COLUMN = 1_000
"""No column may have a longer name."""

Entries = Iterator[Item | Rejected]


class Source(NamedTuple):
    """What a corpus is read from: its name for messages, what its corpus and split are called where entries
    don't say, how its entries are read, the file whose beginning shows whether it is of the format, and
    whether its entries can be read only once (of a generator)."""

    place: str
    corpus: str
    split: str
    read: Callable[[Progress], Entries]
    text: Path | None = None
    once: bool = False


def sources(given: Sequence[Any], loader: str, fields: Fields, options: LoadOptions) -> list[Source]:
    """The sources of what a loader was given: files, folders of saved data sets, objects of Python.

    Raises `InputError`: nothing was given, or something is missing, empty or can't be read.
    """
    if not given:
        input_paths((), loader)
    if options.encoding:
        _require_codec(options.encoding)
    return [source for one in given for source in _sources(one, loader, fields, options)]


def _sources(given: Any, loader: str, fields: Fields, options: LoadOptions) -> Iterator[Source]:
    if not isinstance(given, Path):
        yield from _of_object(given)
        return
    [path] = input_paths([given], loader)
    if path.is_dir():
        yield from _saved(path, options)
        return
    start = head(path, 16)
    corpus, split = corpus_of(path), split_of(path)
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
            f"--encoding {name}: no codec for text; cp1252, utf-16-le and shift_jis are"
        ) from error


# Text


def _text(path: Path, fields: Fields, options: LoadOptions, progress: Progress) -> Entries:
    """The values of a JSON document or of its lines, or the rows of a table."""
    encoding = options.encoding or encoding_of(path)
    if encoding and not options.encoding:
        options.notices.say(f"{path}: no UTF-8, read as {encoding}; --encoding says it where that is wrong")
    first, second = _first_lines(path, encoding)
    suffixes = [suffix for suffix in map(str.lower, path.suffixes) if suffix not in _COMPRESSIONS]
    if suffixes and suffixes[-1] in _TABLES:
        return table_rows(path, _separator(first, fields), fields, progress, encoding)
    if first.lstrip().startswith(("[", "{")):
        if _is_document(first.strip(), second.strip(), fields):
            return _document(path, fields, progress, encoding)
    elif _SEPARATOR_LINE.fullmatch(first) or "text" in fields.of(_cells(first, _separator(first, fields))):
        return table_rows(path, _separator(first, fields), fields, progress, encoding)
    return json_lines(path, progress, encoding)


def _first_lines(path: Path, encoding: str) -> tuple[str, str]:
    """The first two lines that are not blank; empty where there is none that can be read."""
    lines = text_lines(path, NoProgress(), encoding)
    said = (line for line in lines if isinstance(line, Rejected) or line.text.strip())
    first, second, *_ = [*(line.text if isinstance(line, Line) else "" for line in islice(said, 2)), "", ""]
    return first, second


def _is_document(first: str, second: str, fields: Fields) -> bool:
    """Whether JSON that begins with these lines is one value, not a value a line."""
    try:
        value = json.loads(first)
    except (ValueError, RecursionError) as error:
        cut = isinstance(error, json.JSONDecodeError) and error.pos >= len(first)
        if first[0] == "[":
            return first == "[" or not second.startswith("[")
        return cut and bool(second) and not second.startswith("{")
    if isinstance(value, list):
        return not second.startswith("[")
    return not second and not (has_turns(value, fields) or is_row(value, fields))


def _document(path: Path, fields: Fields, progress: Progress, encoding: str) -> Entries:
    """The items of a document; the whole of one that is a dialogue by itself."""
    whole = b""
    try:
        for piece in chunks(path, NoProgress(), encoding):
            whole += piece
            if len(whole) > LARGEST_ITEM:
                break
        text = whole.decode("utf-8")
        is_dialogue = has_turns(json.loads(text), fields)
    except (Damaged, ValueError, RecursionError):
        is_dialogue, text = False, ""
    if not is_dialogue:
        return json_items(path, progress, encoding)
    list(chunks(path, progress, encoding))
    try:
        return iter([Item(f"{path}:1", 0, "", parse_json(text))])
    except Refused as reason:
        return iter([Rejected(f"{path}:1", str(reason))])


# Tables


def table_rows(path: Path, separator: str, fields: Fields, progress: Progress, encoding: str = "") -> Entries:
    """Read the rows behind the header of a table.

    CSV quotes as RFC 4180 does. Where tabs separate, a quotation mark is a character like others, unless all
    cells of the file's beginning that have one are quoted so, as Excel does.

    Args:
        path: The file.
        separator: The character between cells.
        fields: What the caller says of the columns.
        progress: Told of the bytes that are read.
        encoding: The codec of the text; empty for UTF-8.

    Yields:
        The cells of each row by column, with the place of its first line.

    Raises:
        InputError: The header can't be read, or lacks a column.
    """
    quoted = separator != "\t" or _quotes(path, encoding)
    columns: list[str] = []
    number = 0
    for row in read_rows(_places(path, progress, encoding), separator, quoted=quoted):
        if isinstance(row, Rejected):
            if not columns:
                raise InputError(f"{row.place}: the header can't be read: {row.reason}")
            yield UnreadRow(row.place, row.reason, _named(columns, _certain_cells(row, separator, quoted)))
        elif not columns:
            if not _SEPARATOR_LINE.fullmatch(row.text.strip()):
                columns = _header(row, fields)
        elif row.fault or len(row.cells) != len(columns):
            fault = row.fault or f"{len(row.cells)} cells where the header has {len(columns)}"
            # One separator too many in the text moves all cells behind it.
            certain = columns[: columns.index(fields.of(columns)["text"])]
            yield UnreadRow(row.place, fault, _named(certain, row.cells))
        else:
            yield Item(row.place, number, "", _named(columns, row.cells))
            number += 1


def _places(path: Path, progress: Progress, encoding: str) -> Iterator[tuple[str, str] | Rejected]:
    for line in text_lines(path, progress, encoding):
        yield line if isinstance(line, Rejected) else (line.place, line.text)


def _certain_cells(line: Rejected, separator: str, quoted: bool) -> list[str]:
    return certain_cells(line.text, separator, quoted=quoted) if isinstance(line, UnreadLine) else []


def _named(columns: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    return {column: cell for column, cell in zip(columns, cells, strict=False) if column}


def _header(row: DelimitedRow, fields: Fields) -> list[str]:
    if row.fault:
        raise InputError(f"{row.place}: the header can't be read: {row.fault}")
    columns = [cell.strip() for cell in row.cells]
    if (longest := max(columns, key=len)) and len(longest) > LONGEST_COLUMN:
        raise InputError(
            f"{row.place}: a column of the header has {len(longest):,} characters ({longest[:40]!r}…), more "
            f"than {LONGEST_COLUMN:,}: this is no table with a header"
        )
    require_columns(row.place, columns, fields)
    return columns


def _separator(header: str, fields: Fields) -> str:
    """The sign between the cells of a header: the one with which most fields are found, a usual one first."""
    header = header.lstrip("\r").partition("\r")[0]  # a lone carriage return ends a line of a table, too
    if told := _SEPARATOR_LINE.fullmatch(header):
        return told[1]
    signs = dict.fromkeys((*_SEPARATORS, *re.findall(r'[^\w\s"\'().-]', header)))
    return max(signs, key=lambda sign: (len(fields.of(_cells(header, sign))), header.count(sign)))


def _cells(header: str, separator: str) -> list[str]:
    return [cell.strip().strip('"').strip() for cell in header.split(separator)]


def _quotes(path: Path, encoding: str) -> bool:
    """Whether the quotation marks of a table with tabs stand around cells, doubled inside, and only so."""
    start = head(path, encoding=encoding).decode("utf-8", "replace")
    if '"' not in start:
        return False
    at = 0
    while at < len(start):
        cell = _QUOTED.match(start, at)
        if cell is None:
            is_cut_off = re.compile(r'"(?:[^"]|"")*\Z').match(start, at) is not None
            return is_cut_off and len(start) > 1 << 15
        at = cell.end()
    return True


# Parquet and Arrow


def _saved(path: Path, options: LoadOptions) -> Iterator[Source]:
    """The Arrow files of a folder that ``save_to_disk`` wrote: a data set, or several by split."""
    splits = _listing(path / "dataset_dict.json", "splits")
    folders = [path] if splits is None else [path / Path(str(split)).name for split in splits]
    for folder in folders:
        files = _listing(folder / "state.json", "_data_files")
        if files is None:
            raise InputError(
                f"{folder} is a directory, but no data set that save_to_disk wrote (state.json is missing): "
                "name the files in it"
            )
        names = [Path(str(file.get("filename"))).name for file in files if isinstance(file, dict)]
        split = split_of(folder) if splits is None else folder.name
        corpus = corpus_of(path)
        for file in input_paths([folder / name for name in names], "dialogues") if names else ():
            yield Source(str(file), corpus, split, partial(_arrow, file, options))


def _listing(path: Path, key: str) -> list[Any] | None:
    """The list under a key of a JSON file; None where there is no such file.

    Raises `InputError`: it is no such file.
    """
    if not path.is_file():
        return None
    try:
        value = parse_json(path.read_text("utf-8"))
        if isinstance(value, dict) and isinstance(value.get(key), list):
            return value[key]
    except (OSError, UnicodeDecodeError, Refused):
        pass
    raise InputError(f"{path}: no file that save_to_disk wrote: the list {key!r} is missing")


@contextmanager
def _arrow_faults() -> Generator[None]:
    """Turns the errors of pyarrow into `Refused`."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise Refused(f"the file is damaged, or no such file ({reason})") from error


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
        is_stream = file.read(6) != b"ARROW1"
        file.seek(0)
        reader = pa.ipc.open_stream(file) if is_stream else pa.ipc.open_file(file)
        whole = reader if is_stream else map(reader.get_batch, range(reader.num_record_batches))
        return None, _slices(whole, _without_bytes(path, reader.schema, options))

    return _rows(path, opened, progress)


def _slices(batches: Iterable[Any], names: list[str]) -> Iterator[Any]:
    """The named columns of batches, a few rows each; what they say of themselves is checked."""
    for batch in batches:
        batch.validate(full=True)
        for start in range(0, batch.num_rows, _BATCH):
            yield batch.slice(start, _BATCH).select(names)


def _without_bytes(path: Path, schema: Any, options: LoadOptions) -> list[str]:
    """The columns without images, sound and other bytes, which no text is in."""
    left_out = [column.name for column in schema if _has_bytes(column.type)]
    if left_out:
        options.notices.say(f"{path}: left out what holds bytes: {', '.join(left_out)}")
    return [column.name for column in schema if column.name not in left_out]


def _has_bytes(kind: Any) -> bool:
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind):
        return _has_bytes(kind.value_type)
    binary = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    views = getattr(pa.types, "is_binary_view", None)
    if any(test(kind) for test in binary) or (views is not None and views(kind)):
        return True
    return any(_has_bytes(kind.field(at).type) for at in range(kind.num_fields))


def _rows(path: Path, opened: Callable[[], tuple[int | None, Iterator[Any]]], progress: Progress) -> Entries:
    """The rows of record batches; one that can't be read is rejected, and so is all behind a broken batch."""
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
    except Refused as reason:
        yield Rejected(f"{path}:row {number + 1}", f"{reason}; the rest of it is not read")


def _cells_of(batch: Any, at: int) -> Any:
    with _arrow_faults():
        return batch.slice(at, 1).to_pylist()[0]


def _row(place: str, number: int, cells: Callable[[], Any]) -> Item | Rejected:
    """A row, the ``number`` from 1, with its empty cells: what columns there are shows in the first one."""
    try:
        row = cells()
        is_object = isinstance(row, Mapping)
        value = {str(key): _as_json(cell) for key, cell in row.items()} if is_object else _as_json(row)
    except Refused as reason:
        return Rejected(place, str(reason))
    return Item(place, number - 1, "", value)


# Objects of Python


def _of_object(given: Any) -> Iterator[Source]:
    """The sources of a list of dicts (or any iterable of them), a DataFrame, a data set, several by split."""
    if isinstance(given, Mapping):
        parts = cast("Mapping[Any, Any]", given)
        if parts and not any(isinstance(part, str | int | float | list | None) for part in parts.values()):
            for split, part in parts.items():
                yield from (source._replace(split=str(split)) for source in _of_object(part))
            return
        given = [parts]
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(
            f"the loader 'dialogues' can't read {type(given).__name__!r}: give it a path, a list of dicts, "
            "a DataFrame or a data set"
        )
    name = str(getattr(getattr(given, "info", None), "dataset_name", None) or "dialogues")
    split = str(getattr(given, "split", None) or "all")
    split = split if re.fullmatch(r"\w+", split) else "all"
    yield Source("data", name, split, partial(_of_rows, given), once=iter(given) is given)


def _of_rows(given: Iterable[Any], progress: Progress) -> Entries:
    length = len(cast("Any", given)) if hasattr(given, "__len__") else None
    progress.start("data", length, "rows")
    try:
        for number, row in enumerate(_frame_rows(given) if hasattr(given, "columns") else given):
            yield _row(f"data:row {number + 1}", number + 1, lambda row=row: row)
            progress.advance(1)
    finally:
        progress.finish()


def _frame_rows(frame: Any) -> Iterator[Mapping[str, Any]]:
    columns = [str(column) for column in frame.columns]
    for cells in frame.itertuples(index=False, name=None):
        yield dict(zip(columns, cells, strict=True))


def _as_json(value: Any) -> Any:
    """A value as JSON has it; what is missing (NaN, NaT) is None, and no member of an object.

    Raises `Refused`: it is something else.
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
        return None if value != value else value.isoformat()
    if isinstance(value, Decimal | timedelta):
        return str(value)
    if hasattr(value, "tolist"):
        return _as_json(value.tolist())
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    raise Refused(f"a value of the type {type(value).__name__!r}, which is no text, number, list or object")

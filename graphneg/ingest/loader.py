"""Define the interface of loaders, find loaders by name, check the format of files, and report on a load.

A loader reads files of one format and yields records. `get_loader` returns a loader by name. `check_format`
compares the beginning of a file with the known formats, so that a file of a different format causes one clear
error instead of a rejection for each line. `LoadReport` counts the records that were written, were already
present, or were rejected.

>>> report = LoadReport("dailydialog", written=Counter(dialogues=40, utterances=300), rejections=2)
>>> report.summary()
'dailydialog: loaded 40 dialogues, 300 utterances; refused: 2'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from graphneg.errors import InputError
from graphneg.ingest.content import head
from graphneg.model import Record, Rejected
from graphneg.plugins import Plugins, plugin_errors, require_object
from graphneg.progress import NoProgress, Progress

PLUGINS = Plugins("loader", "graphneg.loaders", InputError)
"""The installed loaders, which are found through their entry points."""


GAP = 6.0
"""Default length in hours of a pause that ends a dialogue in a chat.

Pauses overnight are often longer, but pauses within one conversation rarely are.
"""


DateOrder = Literal["day", "month"]
"""Whether the day or the month comes first in a date such as ``03/04/2024``."""
DATE_ORDERS: tuple[DateOrder, ...] = ("day", "month")


@dataclass(slots=True)
class Notices:
    """The messages of a loader to the user (except rejections): lines of text, and counts.

    Attributes:
        messages: The lines of text without duplicates, in the order in which they were added. They are the
            keys of the dictionary; its values are unused.
        counts: Numbers of items that were changed or left out. A key names the kind of item and what happened
            to it, such as ``("empty turn", "left out")``.
    """

    messages: dict[str, None] = field(default_factory=dict[str, None])
    counts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def say(self, line: str) -> None:
        """Add a line of text, unless it has been added before.

        Args:
            line: The line, without a line break.
        """
        self.messages[line] = None

    def count(self, what: str, became: str, amount: int = 1) -> None:
        """Count items that the loader changed or left out.

        Args:
            what: The kind of item in the singular, such as ``empty turn``.
            became: What happened to the items, such as ``left out``.
            amount: The number of items.
        """
        self.counts[what, became] += amount

    def lines(self) -> list[str]:
        """Return the messages, followed by one line per count, such as ``2 empty turns left out``."""
        counted = (
            f"{amount:,} {what}{'s' * (amount != 1)} {became}"
            for (what, became), amount in self.counts.items()
            if amount
        )
        return [*self.messages, *counted]


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """Options for loading files.

    Attributes:
        corpus: The corpus name of all dialogues; None to take it from the data.
        split: The split of all dialogues; None to take it from the data.
        language: The language of the terms to load, as an ISO 639-1 code; used only by ``conceptnet``.
        progress: Progress display, advanced while files are read.
        map: The key or column for each field, such as ``{"text": "utterance"}``; used only by ``dialogues``.
        encoding: The codec of the text; used only by ``dialogues``, ``whatsapp`` and ``discord``. None for
            UTF-8, or for the codec that ``dialogues`` guesses.
        clean: Whether to repair texts that contain HTML entities or were separated into tokens by spaces.
        notices: Messages to the user. The loader adds its own messages.
        gap: The length in hours of a pause that ends a dialogue; used only by loaders for chats.
        date_order: What comes first in dates such as ``03/04/2024``, ``day`` or ``month``; used only by
            ``dialogues``, ``transcript`` and ``whatsapp``. None to derive it from the dates of the file.

    Raises:
        InputError: The gap is not positive, or the order of dates is unknown.
    """

    corpus: str | None = None
    split: str | None = None
    language: str = "en"
    progress: Progress = field(default_factory=NoProgress)
    map: Mapping[str, str] = field(default_factory=dict[str, str])
    encoding: str | None = None
    clean: bool = False
    notices: Notices = field(default_factory=Notices)
    gap: float = GAP
    date_order: DateOrder | None = None

    def __post_init__(self) -> None:
        """Check that ``gap`` is above 0, and that ``date_order`` is a known order."""
        if not self.gap > 0:
            raise InputError(f"gap must be above 0 hours, not {self.gap:g}")
        if self.date_order not in (None, *DATE_ORDERS):
            raise InputError(f"date_order {self.date_order!r}: must be one of {', '.join(DATE_ORDERS)}")


class Loader(Protocol):
    """The interface of a loader, which reads the files of one corpus or resource."""

    @property
    def name(self) -> str:
        """The name of the loader in the command ``graphneg load NAME``."""
        ...

    @property
    def summary(self) -> str:
        """A one-line description of the loader for the help text of ``graphneg load``."""
        ...

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Return the records from files, in order.

        Files are read while the caller iterates over the records. For an item that cannot be loaded, a
        `Rejected` is yielded. Raises `InputError` if a file does not have the loader's format.

        Args:
            paths: Files and directories to read.
            options: Options for loading, such as the corpus and split.

        Returns:
            An iterator over records and rejected items.
        """
        ...


def loader_names() -> list[str]:
    """Return the names of all installed loaders, in alphabetical order."""
    return PLUGINS.names()


def get_loader(name: str) -> Loader:
    """Return the loader with a given name.

    Raises `InputError` if there is no such loader, or if its package cannot be imported.

    Args:
        name: The name of the loader. Hyphens and underscores are treated alike.

    Returns:
        The loader object.

    Raises:
        InputError: ``name`` is the path of a file: the user probably left out the name of the loader.
    """
    try:
        loaded: Any = PLUGINS.find(name)
    except InputError as error:
        # The user may have typed `graphneg load chats.jsonl`, without the name of a loader.
        if Path(name).suffix and Path(name).exists():
            fitting = ["dialogues"] if Path(name).is_dir() else [*_fitting(head(Path(name))), "dialogues"]
            raise InputError(
                f"{name} is a file, so its loader is missing: graphneg load {fitting[0]} {name}; {error}"
            ) from None
        raise
    if not isinstance(loaded, type):
        return loaded
    with plugin_errors("loader", name, loaded, InputError):
        return loaded()


def require_loader(loader: Any) -> Loader:
    """Check that an object is a loader. Raises `InputError` if it is not.

    Args:
        loader: The object to check.

    Returns:
        The object that was passed.
    """
    require_object("loader", loader, ("name", "read(paths, options)"), InputError)
    return loader


def read_records(loader: Loader, paths: Sequence[Any], options: LoadOptions) -> Iterator[Record]:
    """Yield the records of a loader. If the loader fails, raise an error that names it.

    Args:
        loader: The loader that reads the files.
        paths: Files and directories to read.
        options: The options of the load.

    Yields:
        Records and rejected items.

    Raises:
        InputError: The loader yields something other than a record.
    """
    with plugin_errors("loader", loader.name, loader, InputError):
        for record in loader.read(paths, options):
            if not isinstance(record, _RECORDS):
                raise InputError(
                    f"loader {loader.name} yielded a {type(record).__name__}; "
                    "read(paths, options) must yield records of graphneg.model, such as Dialogue"
                )
            yield record


_RECORDS: tuple[type, ...] = get_args(Record)

KEPT_REJECTIONS = 1000
"""Maximum number of rejections that a report keeps in full."""


@dataclass(slots=True)
class LoadReport:
    """Counts of one load: records that were written, already present, and rejected.

    Attributes:
        loader: The name of the loader.
        written: How many new records were written, keyed by kind of record, such as ``dialogues``.
        present: How many records were already in the store, keyed by kind of record.
        rejected: The first rejected items, at most `KEPT_REJECTIONS`.
        rejections: How many items were rejected in all.
        notices: The messages of the loader to the user.
        seconds: The duration of the load in seconds.
        on_rejected: Function that is called with each rejection.
    """

    loader: str
    written: Counter[str] = field(default_factory=Counter[str])
    present: Counter[str] = field(default_factory=Counter[str])
    rejected: list[Rejected] = field(default_factory=list[Rejected])
    rejections: int = 0
    notices: Notices = field(default_factory=Notices)
    seconds: float = 0.0
    on_rejected: Callable[[Rejected], None] | None = None

    def reject(self, place: str, reason: str) -> None:
        """Count a rejection, and report it to ``on_rejected``.

        Args:
            place: The position of the item, such as ``FILE:LINE``.
            reason: Why the item was rejected.
        """
        self.rejections += 1
        rejected = Rejected(place, reason)
        # Keep only the first rejections, because a damaged file can cause millions.
        if len(self.rejected) < KEPT_REJECTIONS:
            self.rejected.append(rejected)
        if self.on_rejected is not None:
            self.on_rejected(rejected)

    def summary(self) -> str:
        """Return the counts in one line, such as ``dailydialog: loaded 40 dialogues; refused: 2``."""
        written, present = (
            ", ".join(
                f"{count:,} {kind.removesuffix('s') if count == 1 else kind}"
                for kind, count in counts.items()
                if count
            )
            for counts in (self.written, self.present)
        )
        line = f"{self.loader}: loaded {written or 'nothing new'}"
        line += f"; already in the store: {present}" if present else ""
        return line + (f"; refused: {self.rejections:,}" if self.rejections else "")


_PATIENCE = 50
"""If this many items at the start of a file are rejected and none is accepted, the file counts as a file of a
different format."""

_JSON = r"\A\s*[\[{]"
# A tar archive contains "ustar" at byte 257.
_FRAMES = (
    "PropBank frame files (XML, a directory or a tar archive of them)",
    ["<frameset"],
    [r"\A(?s:.{257})ustar"],
)

FORMATS: dict[str, tuple[str, *tuple[list[str], ...]]] = {
    # A JSON file may also contain the mark __eou__, so files that start like JSON are excluded.
    "dailydialog": ("lines of utterances, each ended by __eou__", [r"\A(?!\s*[\[{])", "__eou__"]),
    "dailydialog_pp": (
        'JSON lines with "context" and "positive_responses"',
        [_JSON, r'"context"\s*:', r'"positive_responses"\s*:'],
    ),
    "rgm_contradiction": (
        'JSON lines with "utterances", "annotation_target_pair" and "contradictory_label_count"',
        [_JSON, r'"annotation_target_pair"\s*:', r'"contradictory_label_count"\s*:'],
    ),
    "personachat": (
        'JSON with "persona" and "dialogue" or with "personality" and "utterances", '
        'or ParlAI text ("1 your persona: ...")',
        [_JSON, r'"(persona|personality)"\s*:', r'"(dialogue|utterances)"\s*:'],
        # ParlAI text has line numbers, which start again at 1 in each episode.
        [r"\A\s*1 .", r"^\d+ (your persona|partner's persona): |^\d+ .*\t"],
    ),
    "topical_chat": (
        'one JSON object of conversations with "content", "message" and "agent"',
        [_JSON, r'"content"\s*:', r'"message"\s*:', r'"agent"\s*:'],
    ),
    "dialogues": (
        'JSON with "turns", "messages" or "conversations", exports of ChatGPT, OpenAssistant and help desks, '
        "or a table of utterances (dialogue, turn, text)",
        [_JSON, r'"turns"\s*:'],
        # The next two patterns match the formats of chat APIs and of ShareGPT.
        [_JSON, r'"messages"\s*:\s*\[', r'"content"\s*:', r'"role"\s*:'],
        [_JSON, r'"conversations"\s*:\s*\[', r'"value"\s*:', r'"from"\s*:'],
        # The next three patterns match exports of ChatGPT, exports of OpenAssistant, and tables with a
        # header.
        [_JSON, r'"mapping"\s*:\s*\{', r'"children"\s*:'],
        [_JSON, r'"message_tree_id"\s*:', r'"(prompt|parent_id)"\s*:'],
        [r"\A\W?(?=[^\n]*\bdialogue\b)(?=[^\n]*\bturn\b)[^\n]*\btext\b"],
    ),
    # Subtitles and a few chat programs have a typical beginning. Most other transcripts have none.
    "transcript": (
        'lines of "Name: text", a blank line between dialogues; or subtitles (WebVTT, SRT) with names',
        [
            r"\A\ufeff?\s*(?:WEBVTT\b|\d+\s*\n\d\d:\d\d:\d\d[,.]\d{3} +-->"
            r"|\d{1,2}:\d\d:\d\d\.\d{3},\d{1,2}:\d\d:\d\d\.\d{3}\s*\n)"
        ],
        # Texts that were copied from Microsoft Teams: "[14/11/2025 09:01] Ann Lee"
        [r"\A\ufeff?\[\d{1,4}[./-]\d{1,2}[./-]\d{1,4}[^\n\[\]]{5,20}\] [^\n:\[\]]{1,60}\n"],
        # The next two patterns match chats of Zoom, and transcripts of Otter and Microsoft Teams.
        [r"\A\ufeff?\s*\d{1,2}:\d\d:\d\d\s+From\s+[^\n]+:"],
        [
            r"\A(?:[^\n]*\n){0,8}?[^\n:\"{}\[\]]+(?: {2,}|\t)\(?[\d:]{4,8}\)?(?: [AP]M)?[ \t\r]*\n"
            r"[ \t]*\S[^\n]*\n\s*"
            r"^[^\n:\"{}\[\]]+(?: {2,}|\t)\(?[\d:]{4,8}\)?(?: [AP]M)?[ \t\r]*$"
        ],
    ),
    "whatsapp": (
        'the text file that WhatsApp\'s "Export chat" writes, a date and a time in front of each message',
        [r"\A\W{0,3}\d{1,4}[./-] ?\d{1,2}[./-] ?\d{1,4}\W+[^\n\[\]]{4,30}(\] ?| - )"],
        # The next two patterns match KakaoTalk on telephones, and Viber.
        [
            r"\A[^\n]*(?:카카오톡 대화|KakaoTalk Chats)",
            r"^[^\n\[\]-]{8,40}:\d\d[^\n\[\]]{0,4}, [^\n]{1,60} : ",
        ],
        [r"\A\ufeff?\[ \d{1,2} \w{3,12} \d{4} \d{1,2}:\d\d"],
        # imessage-exporter
        [
            r"\A\s*[A-Z][a-z]{2} +\d{1,2}, \d{4} +\d{1,2}:\d\d:\d\d [AP]M(?: \([^()\n]+\))?[ \r]*\n"
            r"[^\n:]+\n"
        ],
        # The next two patterns match files of QQ, and messages that were copied from WeChat.
        [r"\A\ufeff?消息记录"],
        [
            r"\A\ufeff?[^\s:\d][^:\n]{0,79}? \d{4}[-/]\d{1,2}[-/]\d{1,2} \d{1,2}:\d\d(?::\d\d)?[ \r]*\n"
            r"[^\n]*\S"
        ],
    ),
    "slack": (
        "the folder that Slack exports, of channels with a file of messages for each day; or the bulk export "
        "of Mattermost",
        # The next pattern matches the bulk export of Mattermost.
        [r'\A\s*\{\s*"type"\s*:\s*"version"\s*[,}]'],
    ),
    "discord": (
        'JSON of DiscordChatExporter, with "channel" and "messages", each with "author" and "timestamp"',
        [_JSON, r'"messages"\s*:\s*\[', r'"timestamp"\s*:', r'"author"\s*:\s*\{'],
    ),
    "irc": (
        "logs of IRC channels, with a time and <name> in front of each message, or of WeeChat, with tabs",
        # The lines above the first message begin with a time, or with marks as in "--- Log opened".
        [
            r"\A\ufeff?(?:(?:[ \t\r]*|(?:---|\*\*\*|===|Session|\[?\d|[A-Z][a-z]{2} \d)[^\n]*)\n){0,40}?"
            r"(?:\[?(?:\d{4}-\d\d-\d\d[ T]|[A-Z][a-z]{2} \d\d? )?\d\d:\d\d(?::\d\d)?\]?\s+"
            r"<[^\s<>]?[^\s<>]{1,40}>\s|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\t[^\t\n]{1,40}\t)"
        ],
    ),
    "line": (
        "the text file that LINE exports, with a line for each day, and tabs between time, name and text",
        [r"\A\ufeff?\s*\[LINE\]"],
        # KakaoTalk for PCs
        [r"\A[^\n]*(?:카카오톡 대화|KakaoTalk Chats)", r"^-{5,} [^\n]{6,40} -{5,}\s*$"],
    ),
    "penman": ("AMR graphs in PENMAN notation", [r"^\s*\(\s*[^\s()/]+\s*/"]),
    "conceptnet": (
        "ConceptNet assertions (five columns: uri, relation, start, end, JSON) or a conceptnet-lite database",
        [r"\ASQLite format 3\0"],
        [r"^[^\t\n]*\t/r/\w+\t/c/[^\t\n]*\t"],
    ),
    "propbank": _FRAMES,
    "propbank_examples": _FRAMES,
    "wordnet": (
        "WordNet's data files (data.noun, data.verb, data.adj, data.adv)",
        [r"^\d{8} \d\d [nvasr] [0-9a-f]{2} .*\| |\A  1 This software and database"],
    ),
}
"""The file format of each loader: a description for messages, and any number of lists of patterns.

A file has the format if its beginning matches all patterns in one of these lists.
"""

_TRANSCRIPT = "transcript"
_TABLES = "dialogues"
# Matches the name of a column, such as "Author ID" or "Sent (UTC)".
_COLUMN = re.compile(r"[^\W\d_][\w .()/-]{0,39}")
# Transcripts have no typical beginning, but many lines such as "Ann: Hi.". JSON lines do not begin with a
# name.
_NAMED_LINE = re.compile(
    r"\s*(?:[\[(]?[\d:.,/ -]+[\])]?\s)?[*_]{0,2}[^\W\d_][^:\n\"{}<>]{0,60}(?::[*_]{0,2}\s|：)"
)

_BINARY = (
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x89PNG", "a PNG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive: unpack it first, or save a spreadsheet as CSV"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"7z\xbc\xaf", "a 7z archive: unpack it first"),
    (b"\xfd7zXZ", "an xz file: unpack it first"),
    (b"BZh", "a bzip2 file: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd file that is damaged"),
    (b"\x1f\x8b", "a gzip file that is damaged"),
)
"""The first bytes of formats that loaders do not read, with a description for messages."""
_ZIP = b"PK\x03\x04"
_ZIPPED = {
    **dict.fromkeys((".xlsx", ".xlsm", ".ods"), "a spreadsheet: save it as CSV (UTF-8)"),
    **dict.fromkeys((".docx", ".odt"), "a document of a word processor: save it as plain text"),
}
"""The suffixes of formats that are ZIP archives, with a description for messages."""


def check_format(path: Path, loader: str, records: Iterable[Record]) -> Iterator[Record]:
    """Yield the records of a file if it has the format of the loader.

    The iterator raises `InputError` if the beginning of the file shows a different format. If it shows no
    known format, the first items decide: the iterator raises `InputError` if none of the first fifty is
    accepted.

    Args:
        path: The file to check.
        loader: The name of the loader.
        records: The records that the loader reads from the file.

    Yields:
        The same records.
    """
    if _looks_right(path, loader):
        yield from records
    else:
        start = head(path)
        hint = _table_hint(start, loader) or ("" if loader == _TRANSCRIPT else _transcript_hint(start))
        yield from check_by_records(str(path), loader, records, hint)


def check_by_records(place: str, loader: str, records: Iterable[Record], hint: str = "") -> Iterator[Record]:
    """Yield records from an input whose format can only be judged by its records.

    Args:
        place: The name of the input, such as a file name, for the message.
        loader: The name of the loader.
        records: The records that the loader reads from the input.
        hint: A sentence for the message that says which other format the input may have.

    Yields:
        The same records.

    Raises:
        InputError: No item was accepted, or none of the first fifty.
    """
    held: list[Rejected] = []
    remaining = iter(records)
    # Collect rejections until an item is accepted. A few invalid items at the start do not prove a wrong
    # format.
    for record in remaining:
        if not isinstance(record, Rejected):
            yield from chain(held, (record,), remaining)
            return
        held.append(record)
        if len(held) >= _PATIENCE:
            break
    reason = f"{held[0].place}: {held[0].reason}" if held else "nothing in the file could be read"
    raise InputError(
        f"{place} is not a file for the loader {loader!r}, which reads {_expected(loader)}. {hint}{reason}"
    )


def has_format(path: Path, loader: str) -> bool:
    """Return whether the beginning of a file has the format of a loader.

    Args:
        path: The file to check.
        loader: The name of the loader.

    Returns:
        True if all patterns in one of the loader's lists in `FORMATS` match.
    """
    return loader in _fitting(head(path))


def _looks_right(path: Path, loader: str) -> bool:
    """Check whether the beginning of a file has the format of a loader, and refuse other formats.

    Args:
        path: The file to check.
        loader: The name of the loader.

    Returns:
        True if the beginning has the format of the loader, False if it matches no known format.

    Raises:
        InputError: The file is empty, or its beginning shows a different format.
    """
    start = head(path)
    if not start.strip():
        raise InputError(f"{path} is empty: there is nothing to load")
    fitting = _fitting(start)
    # A file may match several formats. It is accepted if the loader that the user named has one of these
    # formats.
    if loader in fitting:
        return True
    appearance = _ZIPPED.get(path.suffix.lower()) if start.startswith(_ZIP) else None
    if appearance is None:
        appearance = next((what for magic, what in _BINARY if start.startswith(magic)), None)
    # Many NUL bytes mean binary data, or UTF-16, where about every second byte of Latin text is NUL.
    if appearance is None and start.count(0) > len(start) // 10:
        appearance = "binary data, or UTF-16 text without a mark"
    if appearance is None and re.match(rb"\s*<(!doctype\s+html|html)", start, re.IGNORECASE):
        appearance = "an HTML page: export the data, not the page that shows them"
    if appearance is None and fitting:
        appearance = f"a file for the loader {fitting[0]!r} ({_expected(fitting[0])})"
    # A file that contains only digits and spaces is probably an annotation file of DailyDialog.
    if appearance is None and re.fullmatch(rb"[\d \r\n]*", start):
        appearance = "a DailyDialog act or emotion file, which is read along with its dialogues_*.txt"
    if appearance is not None:
        raise InputError(f"{path} looks like {appearance}. The loader {loader!r} reads {_expected(loader)}")
    return False


def _fitting(start: bytes) -> list[str]:
    """Return the loaders whose formats match the beginning of a file."""
    text = start.decode("utf-8", "replace")
    return [
        loader
        for loader, (_, *ways) in FORMATS.items()
        if any(all(re.search(pattern, text, re.MULTILINE) for pattern in way) for way in ways)
    ]


def _table_hint(start: bytes, loader: str) -> str:
    """Return a sentence about the loader for tables if a file looks like a table; else an empty string."""
    lines = start.decode("utf-8", "replace").lstrip("\ufeff").splitlines()[:2]
    if loader == _TABLES or len(lines) < 2:
        return ""
    # The header "AuthorID","Author","Date" has three short names, and the row below has as many cells.
    for sign in ",;\t":
        names = [cell.strip(' "') for cell in lines[0].split(sign)]
        if len(names) > 2 and all(map(_COLUMN.fullmatch, names)) and lines[1].count(sign) >= len(names) - 1:
            return (
                f"Its first line looks like the header of a table, which the loader {_TABLES!r} reads: "
                "--map dialogue=NAME names the column of the dialogue, and --map dialogue= says that all "
                "rows are one dialogue. "
            )
    return ""


def _transcript_hint(start: bytes) -> str:
    """Return a sentence that names the loader for transcripts if many lines look like "Name: text"."""
    # `start` contains only the beginning of the file, so its last line may be cut off.
    lines = [line for line in start.decode("utf-8", "replace").splitlines()[:200] if line.strip()]
    named = sum(_NAMED_LINE.match(line) is not None for line in lines)
    if len(lines) < 2 or named * 2 < len(lines):
        return ""
    return f"Its lines look like {FORMATS[_TRANSCRIPT][0]}, which the loader {_TRANSCRIPT!r} reads. "


def _expected(loader: str) -> str:
    return FORMATS[loader][0] if loader in FORMATS else "another format"

"""What a loader is, how one is found by its name, what its files look like, and what a load did, counted.

In: a name that a user gave, and files. Out: a stream of records, and a `LoadReport` of what became of them. A
file of another format is told by its first bytes, so that it is one clear error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from graphneg.errors import InputError
from graphneg.ingest.content import head
from graphneg.model import Record, Rejected
from graphneg.plugins import Plugins
from graphneg.progress import NoProgress, Progress

PLUGINS = Plugins("loader", "graphneg.loaders", InputError)


GAP = 6.0
"""Hours without a message that end a dialogue: people who sleep start anew, those who work do not."""


@dataclass(slots=True)
class Notices:
    """What a loader has to say of what it did not refuse: lines, and things that are counted."""

    said: dict[str, None] = field(default_factory=dict[str, None])
    counts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def say(self, line: str) -> None:
        """Note a line, once."""
        self.said[line] = None

    def count(self, what: str, became: str, amount: int = 1) -> None:
        """Count a thing, in the singular, and what became of it: ``empty turn``, ``left out``."""
        self.counts[what, became] += amount

    def lines(self) -> list[str]:
        """All of them: ``2 empty turns left out``."""
        counted = (
            f"{amount:,} {what}{'s' * (amount != 1)} {became}"
            for (what, became), amount in self.counts.items()
            if amount
        )
        return [*self.said, *counted]


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What the caller may say about the files of one load.

    ``corpus`` and ``split`` begin the ids of dialogues; where they are ``None`` the loader
    takes them from the data. ``language`` is an ISO 639-1 code, read by `conceptnet` only. ``map`` says
    what the data call a field (``text``: ``utterance``) and ``encoding`` which codec a text is in, read by
    `dialogues` only. ``clean``: texts with HTML entities or the blanks of a tokeniser
    are mended. ``notices`` takes what the loader has to say. ``gap``: hours without a message that end a
    dialogue in an endless chat, read by loaders of chats only.

    Raises:
        InputError: the gap is not above 0.
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

    def __post_init__(self) -> None:
        if not self.gap > 0:
            raise InputError(f"gap {self.gap:g}: a pause that ends a dialogue is longer than 0 hours")


class Loader(Protocol):
    """Reads the files of one corpus or resource.

    ``name`` is what `graphneg load` takes, ``summary`` its line of help. ``read`` streams:
    it yields records in the order of the files, a `Rejected` for each item that it refuses,
    and raises `InputError` where a file as a whole is not what the loader reads.
    """

    name: str
    summary: str

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The records of the files, in their order."""
        ...


def loader_names() -> list[str]:
    """The names of all loaders that are installed, in alphabetical order."""
    return PLUGINS.names()


def get_loader(name: str) -> Loader:
    """The loader of that name; hyphens and underscores are the same.

    Raises `InputError`: no loader has the name, or the package that brings it can't be imported.
    """
    try:
        loaded: Any = PLUGINS.find(name)
    except InputError as error:
        if Path(name).suffix and Path(name).exists():
            raise InputError(
                f"{name} is a file, so its loader is missing: graphneg load dialogues {name}; {error}"
            ) from None
        raise
    return loaded() if isinstance(loaded, type) else loaded


KEPT_REJECTIONS = 1000


@dataclass(slots=True)
class LoadReport:
    """Counts of one load: written, there already, refused; and what else there is to say of it.

    ``rejected`` keeps the first 1,000 refusals; ``rejections`` counts all of them, and
    ``on_rejected`` is told each.
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
        """Count a refusal, and tell who listens."""
        self.rejections += 1
        rejected = Rejected(place, reason)
        if len(self.rejected) < KEPT_REJECTIONS:
            self.rejected.append(rejected)
        if self.on_rejected is not None:
            self.on_rejected(rejected)

    def summary(self) -> str:
        """One line: ``loaded 40 dialogues, 300 utterances; 2 refused``."""
        written, present = (
            ", ".join(
                f"{count:,} {kind.removesuffix('s') if count == 1 else kind}"
                for kind, count in counts.items()
                if count
            )
            for counts in (self.written, self.present)
        )
        line = f"{self.loader}: loaded {written or 'nothing new'}"
        line += f"; already there: {present}" if present else ""
        return line + (f"; refused: {self.rejections:,}" if self.rejections else "")


_PATIENCE = 50
"""So many refusals in a row, with nothing accepted, and a file of no known format is a wrong file."""

_JSON = r"\A\s*[\[{]"
_FRAMES = (
    "PropBank frame files (XML, a directory or a tar archive of them)",
    ["<frameset"],
    [r"\A(?s:.{257})ustar"],
)

FORMATS: dict[str, tuple[str, *tuple[list[str], ...]]] = {
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
        [r"\A\s*1 .", r"^\d+ (your persona|partner's persona): |^\d+ .*\t"],
    ),
    "topical_chat": (
        'one JSON object of conversations with "content", "message" and "agent"',
        [_JSON, r'"content"\s*:', r'"message"\s*:', r'"agent"\s*:'],
    ),
    "dialogues": (
        'JSON with "turns", "messages" or "conversations", or a table of utterances (dialogue, turn, text)',
        [_JSON, r'"turns"\s*:'],
        [_JSON, r'"messages"\s*:\s*\[', r'"content"\s*:', r'"role"\s*:'],
        [_JSON, r'"conversations"\s*:\s*\[', r'"value"\s*:', r'"from"\s*:'],
        [r"\A\W?(?=[^\n]*\bdialogue\b)(?=[^\n]*\bturn\b)[^\n]*\btext\b"],
    ),
    "transcript": ('lines of "Name: text", a blank line between dialogues',),
    "whatsapp": (
        'the text file that WhatsApp\'s "Export chat" writes, a date and a time in front of each message',
        [r"\A\W{0,3}\d{1,4}[./-] ?\d{1,2}[./-] ?\d{1,4}\W+[^\n\[\]]{4,30}(\] ?| - )"],
    ),
    "slack": ("the folder that Slack exports, of channels with a file of messages for each day",),
    "discord": (
        'JSON of DiscordChatExporter, with "channel" and "messages", each with "author" and "timestamp"',
        [_JSON, r'"messages"\s*:\s*\[', r'"timestamp"\s*:', r'"author"\s*:\s*\{'],
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
"""By loader: what it expects, and the ways in which its files begin, each by patterns that all are there."""

_BINARY = (
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x89PNG", "a PNG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive: unpack it first"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"7z\xbc\xaf", "a 7z archive: unpack it first"),
    (b"\xfd7zXZ", "an xz file: unpack it first"),
    (b"BZh", "a bzip2 file: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd file that is damaged"),
    (b"\x1f\x8b", "a gzip file that is damaged"),
)


def checked(path: Path, loader: str, records: Iterable[Record]) -> Iterator[Record]:
    """Pass a file's records on, unless the file is not one that the loader reads.

    Raises `InputError`: the file's beginning shows another format; or it shows no known format and none of
    its items (of the first fifty, in a long file) was accepted.
    """
    yield from records if _looks_right(path, loader) else hopeful(str(path), loader, records)


def hopeful(place: str, loader: str, records: Iterable[Record]) -> Iterator[Record]:
    """Pass records on that come from a place (a file) of which only they tell whether the loader reads it.

    Raises `InputError`: none of them (of the first fifty, where there are many) was accepted.
    """
    held: list[Rejected] = []
    remaining = iter(records)
    for record in remaining:
        if not isinstance(record, Rejected):
            yield from chain(held, (record,), remaining)
            return
        held.append(record)
        if len(held) >= _PATIENCE:
            break
    reason = f"{held[0].place}: {held[0].reason}" if held else "nothing in it could be read"
    raise InputError(
        f"{place} is no file for the loader {loader!r}, which reads {_expected(loader)}. {reason}"
    )


def recognised(path: Path, loader: str) -> bool:
    """Whether the file begins as the loader's format does."""
    return loader in _fitting(head(path))


def _looks_right(path: Path, loader: str) -> bool:
    """Whether the file begins as the loader's format does; False where nothing speaks for any format.

    Raises `InputError`: it is empty, or begins as another format does, and not as the loader's.
    """
    start = head(path)
    if not start.strip():
        raise InputError(f"{path} is empty: there is nothing to load")
    fitting = _fitting(start)
    if loader in fitting:
        return True
    appearance = next((what for magic, what in _BINARY if start.startswith(magic)), None)
    if appearance is None and start.count(0) > len(start) // 10:
        appearance = "binary data, or UTF-16 text without a mark"
    if appearance is None and re.match(rb"\s*<(!doctype\s+html|html)", start, re.IGNORECASE):
        appearance = "an HTML page: export the data, not the page that shows them"
    if appearance is None and fitting:
        appearance = f"a file for the loader {fitting[0]!r} ({_expected(fitting[0])})"
    if appearance is None and re.fullmatch(rb"[\d \r\n]*", start):
        appearance = "a DailyDialog act or emotion file, which is read along with its dialogues_*.txt"
    if appearance is not None:
        raise InputError(f"{path} looks like {appearance}. The loader {loader!r} reads {_expected(loader)}")
    return False


def _fitting(start: bytes) -> list[str]:
    """The loaders whose files begin like this."""
    text = start.decode("utf-8", "replace")
    return [
        loader
        for loader, (_, *ways) in FORMATS.items()
        if any(all(re.search(pattern, text, re.MULTILINE) for pattern in way) for way in ways)
    ]


def _expected(loader: str) -> str:
    return FORMATS[loader][0] if loader in FORMATS else "another format"

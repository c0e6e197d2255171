"""Split continuous chats into dialogues.

A chat or channel has no natural dialogue boundaries. A dialogue therefore ends when nobody writes for some
hours (`LoadOptions.gap`). A thread is always a dialogue of its own, however long its pauses are.

Some programs export the newest message first. `reverse_if_newest_first` detects such a file by the times of
its messages, and reverses the order of the messages.

>>> said = [Message(0.0, "Ann", "Tea?"), Message(60.0, "Bo", "Yes!"), Message(90_000.0, "Ann", "Are you up?")]
>>> parts = [Item(f"chat.txt:{line}", line, "", one) for line, one in enumerate(said, 1)]
>>> [[turn.text for turn in item.value.turns] for item in conversations(parts, "tea", gap=6)]
[['Tea?', 'Yes!'], ['Are you up?']]
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, islice, pairwise
from pathlib import Path

from graphneg.ingest.assumptions import SAME_NAME
from graphneg.ingest.content import ItemError
from graphneg.ingest.loader import GAP, LoadOptions, Notices
from graphneg.ingest.reading import Item, Line, corpus_of, each_group, split_of, text_lines
from graphneg.ingest.spill import ReversedRows
from graphneg.ingest.turns import DELETED, MEDIA
from graphneg.ingest.validation import FileLoader, dialogues_of, named
from graphneg.ingest.values import distinct_names
from graphneg.model import Dialogue, Record, Rejected, Utterance

__all__ = [
    "BOT", "DELETED", "FORWARDED", "HALF_OF_DAY", "MEDIA", "SYSTEM", "ChatLoader", "Conversation", "Message",
    "TextChatLoader", "conversations", "dialogue_of", "hour_of_day", "reverse_if_newest_first", "seconds_of",
    "time_of",
]  # fmt: skip

HOUR = 3600.0
"""Number of seconds in an hour."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

SYSTEM = "system line"
BOT = "bot message"
"""Names that notices use for messages that are left out of chats. `graphneg.ingest.turns` defines others."""

FORWARDED = "forwarded message"
"""The name that notices use for the content of a message that only forwards another message. The forwarded
text becomes a turn."""

HALF_OF_DAY = re.compile(
    r"(?P<am>(?<![^\W\d_])a\.?\s?m\b|上午|午前|오전)|(?P<pm>(?<![^\W\d_])p\.?\s?m\b|下午|午後|오후)",
    re.IGNORECASE,
)
"""Matches AM and PM, also in Chinese, Japanese and Korean."""
_JUDGED = 1_000
"""Number of messages at the beginning of a file whose times show the order of the file."""
_LATE = 10
"""A file lists the newest messages first if its times decrease at least this many times as often as they
increase. Some times may increase even in such a file, because phones deliver messages late."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat.

    Attributes:
        seconds: The time of the message in seconds since 1970. All messages must use the same time zone.
        speaker: The name of the author.
        text: The text of the message.
        thread: The id of the thread to which the message belongs; empty if it is not in a thread.
        author_id: The id of the author; empty if it is unknown. It distinguishes authors with the same name.
    """

    seconds: float
    speaker: str
    text: str
    thread: str = ""
    author_id: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one dialogue.

    Attributes:
        name: The last part of the dialogue's id.
        turns: The messages, in order.
    """

    name: str
    turns: Sequence[Message]


@dataclass(frozen=True, slots=True)
class _Part:
    """A message, with the index of the dialogue to which it belongs."""

    dialogue: int
    message: Message


class ChatLoader(FileLoader):
    """Base class for loaders that read exports of chats.

    A subclass implements `messages`, which reads the messages of a file. This class splits them into
    dialogues.
    """

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Return the dialogues from files, in order.

        Raises `InputError` if a file is missing or has a different format.

        Args:
            paths: The files, or directories that contain files.
            options: Options for loading, such as the corpus and split.

        Returns:
            An iterator over dialogues and rejected items.
        """

        def items(path: Path, _: object) -> Iterator[Item | Rejected]:
            messages = reverse_if_newest_first(self.messages(path, options), options.notices)
            return conversations(messages, "", options.gap)

        def make(item: Item, path: Path, options: LoadOptions) -> Dialogue:
            return named(dialogue_of(item, options.notices), options, corpus_of(path), split_of(path))

        return dialogues_of(self.files(paths), self.name, options, items, make)

    def records(self, path: Path, options: LoadOptions) -> Iterator[Record]:
        """Return the dialogues from one file.

        Args:
            path: The file to read.
            options: Options for loading, such as the corpus and split.

        Returns:
            An iterator over dialogues and rejected items.
        """
        return self.read([path], options)

    @abstractmethod
    def messages(self, path: Path, options: LoadOptions) -> Iterator[Item | Rejected]:
        """Yield the messages of a file, in order.

        Args:
            path: The file to read.
            options: Options for loading. Its notices count what is left out, such as system lines, messages
                of bots, and lines that represent images.

        Yields:
            An `Item` whose value is a `Message`, or a `Rejected` for a message that cannot be read.
        """


class TextChatLoader(ChatLoader):
    """Base class for loaders that read chats from text files, in which a message may have several lines.

    A subclass implements `messages_of`.
    """

    within = ("**/*.txt", "exported chats (*.txt)")

    def messages(self, path: Path, options: LoadOptions) -> Iterator[Item | Rejected]:
        """Return the messages of a chat, in order.

        Args:
            path: The file.
            options: Options for loading, such as the corpus and split.

        Returns:
            An iterator over items whose values are `Message`, and rejected lines.
        """
        return self.messages_of(text_lines(path, options.progress, options.encoding or ""), path, options)

    @abstractmethod
    def messages_of(
        self, lines: Iterator[Line | Rejected], path: Path, options: LoadOptions
    ) -> Iterator[Item | Rejected]:
        """Yield the messages in the lines of a file.

        Args:
            lines: The lines of the file.
            path: The file.
            options: Options for loading. Its notices count what is left out.

        Yields:
            Items whose values are `Message`, and rejected lines.
        """


def hour_of_day(hour: int, words: str) -> int:
    """Return the hour of a time that may have AM or PM, also in Chinese, Japanese and Korean.

    >>> hour_of_day(12, "AM"), hour_of_day(9, "p. m."), hour_of_day(9, "오후"), hour_of_day(21, "Uhr")
    (0, 21, 21, 21)

    Args:
        hour: The hour, as it is written.
        words: What is written before or after the time.

    Returns:
        The hour, from 0 to 23.
    """
    half = HALF_OF_DAY.search(words)
    # 12 AM is 0:00, and 12 PM is 12:00.
    return hour if half is None else hour % 12 + (12 if half["pm"] else 0)


def reverse_if_newest_first(
    messages: Iterable[Item | Rejected], notices: Notices
) -> Iterator[Item | Rejected]:
    """Yield the messages of a file, oldest first. If their order is reversed, a notice reports it.

    >>> newest = [Item(f"chat.txt:{line}", line, "", Message(9.0 - line, "Ann", "Hi.")) for line in (1, 2)]
    >>> [item.place for item in reverse_if_newest_first(newest, Notices())]
    ['chat.txt:2', 'chat.txt:1']

    Args:
        messages: The messages, in the order of the file. Each is an `Item` whose value is a `Message`.
        notices: Notices to the user, which report a file that was reversed.

    Yields:
        The messages. They are reversed as a whole or not at all, because messages with equal times must be
        reversed, too.
    """
    rest = iter(messages)
    # Judge by the first messages whether the oldest or the newest messages come first in the file. If the
    # oldest come first, yield the messages while the file is read. If the newest come first, read the whole
    # file before the first message is yielded.
    judged = list(islice(rest, _JUDGED))
    times = [item.value.seconds for item in judged if isinstance(item, Item)]
    falls = sum(later < before for before, later in pairwise(times))
    rises = sum(later > before for before, later in pairwise(times))
    if falls == 0 or falls < _LATE * rises:
        yield from chain(judged, rest)
        return
    notices.count("file", "read in reverse order, because the newest messages come first")
    stored = ReversedRows()
    for item in chain(judged, rest):
        if isinstance(item, Rejected):
            stored.add((item.place, item.reason))
        else:
            stored.add((*item[:-1], astuple(item.value)))
    for place, *others in stored:
        if len(others) == 1:
            yield Rejected(place, others[0])
        else:
            number, key, fields = others
            yield Item(place, number, key, Message(*fields))


def conversations(
    messages: Iterable[Item | Rejected], chat: str, gap: float = GAP
) -> Iterator[Item | Rejected]:
    """Split messages into dialogues: at long pauses, and by thread.

    If a message cannot be read, its whole dialogue is rejected.

    Args:
        messages: The messages, in order. Each is an `Item` whose value is a `Message`. The messages of a
            thread must be consecutive.
        chat: A prefix for the names of the dialogues, to distinguish several chats; may be empty.
        gap: The longest pause inside a dialogue, in hours.

    Returns:
        An iterator over dialogues. Each is an `Item` whose value is a `Conversation`, named after its thread
        or the minute of its first message.
    """
    names = Counter[str]()
    begin = f"{chat}-" if chat else ""

    def make(number: int, parts: list[Item]) -> Item:
        turns = [part.value.message for part in parts]
        # The name of a dialogue from a thread contains the thread id, so that users can find the thread.
        name = begin + (f"thread-{turns[0].thread}" if turns[0].thread else _minute(turns[0].seconds))
        names[name] += 1
        # The name is the minute in which the dialogue begins. If two dialogues begin in the same minute, the
        # name of the second one ends with "-2".
        if names[name] > 1:
            name = f"{name}-{names[name]}"
        return Item(parts[0].place, number, name, Conversation(name, turns))

    return each_group(
        _numbered(messages, gap * HOUR),
        "message",
        lambda first, part: part.value.dialogue != first.value.dialogue,
        make,
        lambda _, first: f"dialogue {begin}{_minute(first.value.message.seconds)}",
    )


def dialogue_of(item: Item, notices: Notices) -> Dialogue:
    """Convert a conversation into a dialogue without corpus and split.

    Args:
        item: An item whose value is a `Conversation`.
        notices: Notices to the user, which count a dialogue in which people have the same name.

    Returns:
        The dialogue. Its attribute ``began`` is the time of the first message.
    """
    turns: Sequence[Message] = item.value.turns
    people = [(one.author_id, one.speaker.strip()) for one in turns]
    names = distinct_names(people)
    notices.count("dialogue", SAME_NAME, names != [name for _, name in people])
    utterances = (Utterance(at, names[at], one.text.strip()) for at, one in enumerate(turns))
    # Store the time of the first message as an attribute, because not every id contains it.
    attributes = {"began": f"{_time(turns[0].seconds):%Y-%m-%dT%H:%M:%S}"}
    return Dialogue(item.value.name, "", "", tuple(utterances), attributes=attributes)


def seconds_of(time: datetime) -> float:
    """Convert a time into seconds since 1970.

    Args:
        time: The time. If it has no time zone, it counts as UTC.

    Returns:
        The number of seconds since 1970 in UTC.
    """
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def time_of(text: object) -> datetime:
    """Parse an ISO 8601 time.

    Args:
        text: The time as it is written in an export.

    Returns:
        The time, with a time zone if the text has one.

    Raises:
        ItemError: The text is not an ISO 8601 time.
    """
    try:
        return datetime.fromisoformat(str(text))
    except ValueError as error:
        raise ItemError(f"the time {str(text)[:40]!r} is not in ISO 8601 format") from error


def _numbered(messages: Iterable[Item | Rejected], gap: float) -> Iterator[Item | Rejected]:
    number, before = 0, None
    for item in messages:
        if isinstance(item, Rejected):
            yield item
            continue
        message: Message = item.value
        # A message may be older than the previous one: clocks are set back, and phones deliver messages late.
        # So ignore the sign of the time difference.
        if before is not None and (
            message.thread != before.thread
            or (not message.thread and abs(message.seconds - before.seconds) > gap)
        ):
            number += 1
        before = message
        yield item._replace(value=_Part(number, message))


def _time(seconds: float) -> datetime:
    return _EPOCH + timedelta(seconds=seconds)


def _minute(seconds: float) -> str:
    return f"{_time(seconds):%Y-%m-%dT%H%M}"

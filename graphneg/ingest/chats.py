"""Cut endless chats into dialogues.

In: the messages of a channel or chat, in their order, as a loader of chat exports reads them. Out: dialogues.
A chat has no ends, so there is one rule: a dialogue ends where nobody writes for some hours
(`LoadOptions.gap`). A thread is a dialogue of its own, whatever its pauses.

>>> said = [Message(0.0, "Ann", "Tea?"), Message(60.0, "Bo", "Yes!"), Message(90_000.0, "Ann", "Are you up?")]
>>> parts = [Item(f"chat.txt:{line}", line, "", one) for line, one in enumerate(said, 1)]
>>> [[turn.text for turn in item.value.turns] for item in conversations(parts, "tea", gap=6)]
[['Tea?', 'Yes!'], ['Are you up?']]
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from graphneg.ingest.content import Refused
from graphneg.ingest.loader import GAP, LoadOptions
from graphneg.ingest.reading import Item, corpus_of, each_group, split_of
from graphneg.ingest.validation import FileLoader, dialogues_of, named
from graphneg.model import Dialogue, Record, Rejected, Utterance

HOUR = 3600.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

MEDIA = "media placeholder"
SYSTEM = "system line"
DELETED = "deleted message"
BOT = "bot message"
"""What is left out of a chat, by the names under which it is counted."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat.

    Args:
        seconds: when it was written, in seconds since 1970, in any time zone that is the same for all.
        speaker: who wrote it.
        text: what they wrote.
        thread: id of the thread that it belongs to; empty in the main flow of the chat.
    """

    seconds: float
    speaker: str
    text: str
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages that form a dialogue, and the name that its id ends with."""

    name: str
    turns: Sequence[Message]


@dataclass(frozen=True, slots=True)
class _Part:
    """A message and the number of the dialogue that it belongs to."""

    dialogue: int
    message: Message


class ChatLoader(FileLoader):
    """A loader of chat exports: `messages` reads a file, the rest is the same for all of them."""

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Yield the dialogues of the files, in their order.

        Raises:
            InputError: a file is missing, or not one that the loader reads.
        """

        def items(path: Path, _: object) -> Iterator[Item | Rejected]:
            return conversations(self.messages(path, options), "", options.gap)

        def make(item: Item, path: Path, options: LoadOptions) -> Dialogue:
            return named(dialogue_of(item), options, corpus_of(path), split_of(path))

        return dialogues_of(self.files(paths), self.name, options, items, make)

    def records(self, path: Path, options: LoadOptions) -> Iterator[Record]:
        """Yield the dialogues of one file."""
        return self.read([path], options)

    @abstractmethod
    def messages(self, path: Path, options: LoadOptions) -> Iterator[Item | Rejected]:
        """Yield the messages of a file (as the values of items) in their order.

        What is no message (placeholders, system lines, bots) is counted in the notices of ``options``.
        """


def conversations(
    messages: Iterable[Item | Rejected], chat: str, gap: float = GAP
) -> Iterator[Item | Rejected]:
    """Cut messages into dialogues: at pauses of more than ``gap`` hours, and by thread.

    Messages of a thread must stand together. A dialogue with a message that cannot be read is refused whole.

    Args:
        messages: items whose values are `Message`, in their order.
        chat: begins the names of the dialogues, if there are several chats.
        gap: longest pause inside a dialogue, in hours.

    Yields:
        Items whose values are `Conversation`, named by the minute of their first message or by their thread.
    """
    names = Counter[str]()
    begin = f"{chat}-" if chat else ""

    def make(number: int, parts: list[Item]) -> Item:
        turns = [part.value.message for part in parts]
        name = begin + (f"thread-{turns[0].thread}" if turns[0].thread else _minute(turns[0].seconds))
        names[name] += 1
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


def dialogue_of(item: Item) -> Dialogue:
    """Return a conversation as a dialogue without corpus and split."""
    turns: Sequence[Message] = item.value.turns
    utterances = (Utterance(at, one.speaker.strip(), one.text.strip()) for at, one in enumerate(turns))
    attributes = {"began": f"{_time(turns[0].seconds):%Y-%m-%dT%H:%M:%S}"}
    return Dialogue(item.value.name, "", "", tuple(utterances), attributes=attributes)


def seconds_of(time: datetime) -> float:
    """Return a time in seconds since 1970; one without a time zone counts as if it were in UTC."""
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def time_of(text: object) -> datetime:
    """Return the time that an ISO 8601 text says.

    Raises:
        Refused: it is none.
    """
    try:
        return datetime.fromisoformat(str(text))
    except ValueError as error:
        raise Refused(f"the time {str(text)[:40]!r} is not one of ISO 8601") from error


def _numbered(messages: Iterable[Item | Rejected], gap: float) -> Iterator[Item | Rejected]:
    number, before = 0, None
    for item in messages:
        if isinstance(item, Rejected):
            yield item
            continue
        message: Message = item.value
        # Clocks are set back, and phones deliver late: a message may seem older than the one before it.
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

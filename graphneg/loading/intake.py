"""From decoded items to dialogues: what every loader checks before it yields one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from graphneg.loading.reading import Item, Refused
from graphneg.loading.recognition import checked
from graphneg.loading.registry import LoadOptions
from graphneg.model import Dialogue, Record, Rejected, Utterance
from graphneg.progress import Progress

_LARGEST_INTEGER = 2**63
LONGEST_KEY = 500
"""Ids and terms are indexed, and an index takes no long texts."""


def dialogues_of(
    files: Iterable[Path],
    loader: str,
    options: LoadOptions,
    items: Callable[[Path, Progress], Iterable[Item | Rejected]],
    make: Callable[[Item, Path, LoadOptions], Dialogue],
) -> Iterator[Record]:
    """The dialogues of a loader's files: ``items`` reads a file, ``make`` turns each item into a dialogue.

    Raises:
        InputError: a file is not one that the loader reads.
    """
    intake = Intake()

    def of_file(path: Path) -> Iterator[Record]:
        return intake.dialogues(items(path, options.progress), lambda item: make(item, path, options))

    for path in files:
        yield from checked(path, loader, of_file(path))


class Intake:
    """Makes the dialogues of one load, and remembers their ids."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def dialogues(
        self, items: Iterable[Item | Rejected], make: Callable[[Item], Dialogue]
    ) -> Iterator[Dialogue | Rejected]:
        """Make a dialogue of each item; one that can't be made or stored is rejected at its place."""
        for item in items:
            yield item if isinstance(item, Rejected) else self._dialogue(item, make)

    def _dialogue(self, item: Item, make: Callable[[Item], Dialogue]) -> Dialogue | Rejected:
        try:
            dialogue = make(item)
            require_storable(dialogue)
        except Refused as reason:
            return Rejected(item.place, f"item {item.key or item.number}: {reason}")
        if dialogue.id in self._known:
            return Rejected(item.place, f"the id {dialogue.id!r} came before in this load")
        self._known.add(dialogue.id)
        return replace(dialogue, place=item.place)


def alternating(texts: Sequence[str], first: str = "A", second: str = "B") -> tuple[Utterance, ...]:
    """Utterances of two speakers in turn, white space around them removed."""
    return tuple(
        Utterance(turn, second if turn % 2 else first, text.strip()) for turn, text in enumerate(texts)
    )


def strings(value: Any, what: str) -> list[str]:
    """A JSON array of strings.

    Raises:
        Refused: it is something else.
    """
    if not isinstance(value, list):
        raise Refused(f"{what} is not a list of strings")
    elements = cast("list[Any]", value)
    if not all(isinstance(one, str) for one in elements):
        raise Refused(f"{what} has something in it that is not a string")
    return elements


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """A JSON object.

    Raises:
        Refused: it is something else.
    """
    if not isinstance(value, dict):
        raise Refused(f"{what} is not a JSON object")
    return cast("dict[str, Any]", value)


def require_storable(dialogue: Dialogue) -> None:
    """Check that a store can hold the dialogue, and that there is something in each turn.

    Raises:
        Refused: no turns, an empty utterance or response, an id that is too long or has
            control characters, a character that UTF-8 does not have, or a number of more
            than 64 bits.
    """
    if not dialogue.utterances:
        raise Refused("the dialogue has no turns")
    if len(dialogue.id) > LONGEST_KEY:
        raise Refused(f"the id {dialogue.id[:60]!r}... is longer than {LONGEST_KEY} characters")
    if not dialogue.id.isprintable():
        raise Refused(f"the id {dialogue.id!a} has characters that are not printable")
    for utterance in dialogue.utterances:
        what = f"turn {utterance.turn}"
        if not utterance.text.strip():
            raise Refused(f"{what} is empty")
        _require_value([utterance.text, utterance.speaker, utterance.amr], what)
        if utterance.attributes:
            _require_value(utterance.attributes, what)
    for number, response in enumerate(dialogue.responses):
        what = f"response {number} ({response.source})"
        if not response.text.strip():
            raise Refused(f"{what} is empty")
        _require_value([response.text, response.source, response.amr], what)
    _require_value(dialogue.attributes, "the dialogue")


def _require_value(value: Any, what: str) -> None:
    pending: list[Any] = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            _require_text(one, what)
        elif isinstance(one, Mapping):
            fields = cast("Mapping[str, Any]", one)
            pending.extend([*fields.keys(), *fields.values()])
        elif isinstance(one, list | tuple):
            pending.extend(cast("Sequence[Any]", one))
        elif isinstance(one, int) and not -_LARGEST_INTEGER <= one < _LARGEST_INTEGER:
            raise Refused(f"{what} has a number of more than 64 bits")


def _require_text(text: str, what: str) -> None:
    if "\0" in text:
        raise Refused(f"{what} has a NUL character")
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        if 0xDC80 <= code <= 0xDCFF:
            raise Refused(f"{what} is not UTF-8: byte 0x{code - 0xDC00:02x}") from error
        raise Refused(f"{what} has half of a surrogate pair, U+{code:04X}") from error

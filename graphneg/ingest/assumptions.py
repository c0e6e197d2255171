"""Report what a load assumes about a file, and which parts of its messages it leaves out.

Files do not always say who speaks, or how their ids are written. Each assumption is reported once per
file, as a notice. Parts of messages that hold no text, such as images, are counted.
"""

from __future__ import annotations

from typing import Any

from graphneg.ingest.fields import Fields, Value, listed
from graphneg.ingest.loader import Notices
from graphneg.ingest.values import speaker_of, text_of, unsaid_of

_INSTEAD_OF_TEXT = {"refusal": "refusal", "tool_calls": "tool call", "function_call": "tool call"}
"""Keys of a message whose content is empty, with what OpenAI's chat API writes under them."""


def count_unsaid(cells: Value, content: Any, notices: Notices) -> None:
    """Count the parts of a message that are no text and are therefore left out.

    Args:
        cells: The message.
        content: Its text, or its list of content parts.
        notices: Counts the parts by kind.
    """
    for kind in unsaid_of(content):
        notices.count(kind, "left out")
    text = text_of(content)
    # A message with text keeps these keys as attributes. One without text is left out as empty.
    if isinstance(text, str) and not text.strip():
        for key, kind in _INSTEAD_OF_TEXT.items():
            if found := cells.get(key):
                notices.count(kind, "left out", len(found) if isinstance(found, list) else 1)


class Speakers:
    """Count the turns of a source that name no speaker, and report the assumed speakers.

    Args:
        file: The name of the source, for the notice.
        fields: The key of each field, as far as the caller named them.
        notices: Receives the notice when `conclude` is called.
    """

    def __init__(self, file: str, fields: Fields, notices: Notices) -> None:
        """Initialize the counts."""
        self._file, self._fields, self._notices = file, fields, notices
        self._named = self._unnamed = 0
        self._left: list[str] = []

    def see(self, cells: Value) -> None:
        """Count a turn.

        Args:
            cells: A table row, or a turn that is a JSON object.
        """
        known = self._fields.of(cells)
        count_unsaid(cells, cells.get(known.get("text", "")), self._notices)
        key = known.get("speaker")
        if key is not None and speaker_of(cells[key]) is not None:
            self._named += 1
            return
        self._unnamed += 1
        # The notice lists at most 12 unused columns, from which the user can pick the speaker column.
        if len(self._left) < 12:
            new = (name for name in self._fields.unused(cells) if name not in self._left)
            self._left.extend(new)

    def conclude(self) -> None:
        """Report the assumed speakers, after all turns were counted."""
        # Some turns name a speaker, so the file has a speaker column with gaps.
        if self._unnamed and self._named:
            self._notices.count("turn", "without a speaker given to A or B", self._unnamed)
        # With an empty --map speaker= the user has said that there is no such column.
        elif self._unnamed and self._fields.said.get("speaker") != "":
            left = f"; columns left: {listed(self._left[:12])}; --map speaker=NAME says which it is"
            self._notices.say(f"{self._file}: no speaker column; A and B assumed{left if self._left else ''}")


class Ids:
    """Report once that the ids of a source are whole numbers that were written as floats.

    Args:
        file: The name of the source, for the notice.
        notices: Receives the notice at the first id that is not kept as written.
    """

    def __init__(self, file: str, notices: Notices) -> None:
        """Initialize without a reported id."""
        self._file, self._notices = file, notices
        self._said = False

    def see(self, written: str, id: str) -> None:
        """Compare an id with its spelling in the file.

        Args:
            written: The id as the file spells it, such as ``7.0``.
            id: The id as it is stored, such as ``7``.
        """
        if written != id and not self._said:
            self._said = True
            self._notices.say(
                f"{self._file}: ids that are whole numbers are kept as such: {written[:40]} is {id[:40]}"
            )

"""Say once for each file what is assumed where it does not tell: who speaks, and how ids are read."""

from __future__ import annotations

from graphneg.ingest.fields import Fields, Value, listed
from graphneg.ingest.loader import Notices
from graphneg.ingest.values import speaker_of


class Speakers:
    """Counts the turns of a source that do not tell who speaks, and says what is assumed.

    Args:
        file: The name of the source.
        fields: What the caller says of its keys.
        notices: Told at the end.
    """

    def __init__(self, file: str, fields: Fields, notices: Notices) -> None:
        self._file, self._fields, self._notices = file, fields, notices
        self._named = self._unnamed = 0
        self._left: list[str] = []

    def see(self, cells: Value) -> None:
        """Take a turn.

        Args:
            cells: A row, or a turn that is an object.
        """
        key = self._fields.of(cells).get("speaker")
        if key is not None and speaker_of(cells[key]) is not None:
            self._named += 1
            return
        self._unnamed += 1
        if len(self._left) < 12:
            new = (name for name in self._fields.unused(cells) if name not in self._left)
            self._left.extend(new)

    def conclude(self) -> None:
        """Say what is assumed, once all turns are seen."""
        if self._unnamed and self._named:
            self._notices.count("turn", "without a speaker given to A or B", self._unnamed)
        elif self._unnamed and self._fields.said.get("speaker") != "":
            left = f"; columns left: {listed(self._left[:12])}; --map speaker=NAME says which it is"
            self._notices.say(f"{self._file}: no speaker column; A and B assumed{left if self._left else ''}")


class Ids:
    """Says that ids which are whole numbers were read as such.

    Args:
        file: The name of the source.
        notices: Told at the first id that is not kept as it is written.
    """

    def __init__(self, file: str, notices: Notices) -> None:
        self._file, self._notices = file, notices
        self._said = False

    def see(self, written: str, id: str) -> None:
        """Take an id.

        Args:
            written: The id as the file has it.
            id: The id as it is kept.
        """
        if written != id and not self._said:
            self._said = True
            self._notices.say(
                f"{self._file}: ids that are whole numbers are kept as such: {written[:40]} is {id[:40]}"
            )

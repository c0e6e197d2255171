"""Report what a load assumes about a file, and which parts of the messages in the file it leaves out.

Some files do not say who speaks, or write whole-number ids as floats. The load then makes an assumption and
reports it once per file, as a notice to the user. Parts of messages that contain no text, such as images, are
left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from graphneg.ingest.fields import Fields, Value, listed
from graphneg.ingest.loader import Notices
from graphneg.ingest.times import parse_time, possible_orders
from graphneg.ingest.values import (
    COUNTED,
    INSTEAD_OF_TEXT,
    content_of,
    distinct_names,
    kinds_without_text,
    message_text,
    person_id,
    speaker_name,
    unsaid_kinds,
    unwrap_extended_json,
)

SAME_NAME = "with several people of one name, who are told apart by numbers"
"""Text of the notice about dialogues in which several people have the same name."""
_NUMBER = re.compile(r"[+-]?[0-9]*[.,]?[0-9]*")
_UNIX_TIME = re.compile(r"[0-9]{9,10}(?:[0-9]{3})?(?:\.[0-9]+)?")
_CLOCK = re.compile(r"[0-9]{1,2}[:.h][0-9]{2}(?::[0-9]{2})?(?:\s?[APap]\.?[Mm]\.?)?")
_FIRST_CHAT, _LAST_CHAT = 946_684_800, 2_524_608_000
"""The years 2000 and 2050 as Unix times. A number between them may be the time of a message."""


def count_unsaid(cells: Value, content: Any, notices: Notices) -> None:
    """Count the parts of a message that contain no text.

    Args:
        cells: The message, as a table row or JSON object.
        content: The text of the message, or its list of content parts, such as texts and images.
        notices: Notices to the user, which count the parts by kind.
    """
    for kind in unsaid_kinds(content):
        notices.count(kind, "left out")
    text = message_text(content)
    # If a message has a text, its images and other contents are kept as attributes. A message without a text
    # is left out as a whole.
    if isinstance(text, str) and not text.strip():
        for kind, amount in kinds_without_text(cells, content):
            notices.count(kind, "left out", amount)
        return
    for key, kind in INSTEAD_OF_TEXT.items():
        if found := cells.get(key):
            amount = len(found) if isinstance(found, list) else 1
            notices.count(kind, "kept as an attribute, not as text", amount)


def counted_turn(kind: str, notices: Notices) -> dict[str, Any]:
    """Count a message that is not part of the conversation, and return an empty turn in its place.

    Args:
        kind: The kind of the message, such as ``draft``.
        notices: Notices to the user, in which the message is counted.

    Returns:
        The empty turn. It is left out later, without being counted again.
    """
    notices.count(kind, "left out")
    return {"text": "", COUNTED: True}


def textless_turn(cells: Value, notices: Notices) -> dict[str, Any]:
    """Count the contents of a message without text, such as a tool call, and return an empty turn.

    Args:
        cells: The message. It lacks the key that contains the text in other messages of the conversation.
        notices: Notices to the user, in which the contents are counted by kind.

    Returns:
        The empty turn. It is left out later, without being counted again.
    """
    kinds = kinds_without_text(cells, None)
    notices.count("turn", "left out as without text", not kinds)
    for kind, amount in kinds:
        notices.count(kind, "left out", amount)
    return {"text": "", COUNTED: True}


def distinguish_speakers(
    turns: Sequence[dict[str, Any]], cells: Sequence[Value], fields: Fields, notices: Notices
) -> None:
    """Change the names of speakers in a dialogue who have the same name and different ids.

    Args:
        turns: The turns with graphneg's own keys. Their speakers are changed in place.
        cells: The table row or JSON object of each turn.
        fields: Look-up from a field, such as the speaker, to the key or column that contains it.
        notices: Notices to the user, which count the dialogue if a name was changed.
    """
    people: list[tuple[str, str]] = []
    for turn, own in zip(turns, cells, strict=True):
        speaker = turn.get("speaker")
        key = fields.speaker_id_key(own)
        given = own[key] if key is not None else own.get(fields.of(own).get("speaker", ""))
        id = person_id(given) if key is not None or isinstance(given, dict) else ""
        people.append((id, speaker) if isinstance(speaker, str) else ("", ""))
    names = distinct_names(people)
    changed = [at for at, (_, name) in enumerate(people) if names[at] != name]
    for at in changed:
        turns[at]["speaker"] = names[at]
    notices.count("dialogue", SAME_NAME, bool(changed))


class SpeakerNotice:
    """Counts the turns of a file that name no speaker, and reports the speakers that are assumed.

    Args:
        file: The file name, for the notice.
        fields: Look-up from a field, such as the speaker, to the key or column that contains it. It also
            tells which of them the user named.
        notices: Notices to the user. `report` adds one notice.
    """

    def __init__(self, file: str, fields: Fields, notices: Notices) -> None:
        self._file, self._fields, self._notices = file, fields, notices
        self._named = self._unnamed = 0
        self._left: list[str] = []

    def count(self, cells: Value, marking: Sequence[str] = ()) -> None:
        """Count a turn as one that names its speaker, or as one that does not.

        If the turn names no speaker, remember its unused columns. The notice lists them, because one of them
        may contain the speaker.

        Args:
            cells: A table row, or a turn that is a JSON object.
            marking: The columns that mark internal notes. The notice does not list them.
        """
        known = self._fields.of(cells)
        count_unsaid(cells, content_of(cells, known.get("text", "")), self._notices)
        key = known.get("speaker")
        if key is not None and speaker_name(cells[key]) is not None:
            self._named += 1
            return
        self._unnamed += 1
        # The notice lists the first 12 unused columns, so that the user can find the speaker column.
        if len(self._left) < 12:
            new = (name for name in self._fields.unused(cells) if name not in (*self._left, *marking))
            self._left.extend(new)

    def report(self) -> None:
        """Report the speakers that were assumed. Call this method after all turns were counted."""
        # Some turns name a speaker and others do not, so the file has a speaker column with gaps. Report only
        # how many turns have none.
        if self._unnamed and self._named:
            self._notices.count("turn", "without a speaker assigned to A or B", self._unnamed)
        # No turn names a speaker. If the user has confirmed this with an empty --map speaker=, no notice is
        # needed.
        elif self._unnamed and self._fields.named_by_user.get("speaker") != "":
            left = f"; unused columns: {listed(self._left[:12])}; name the right one with --map speaker=NAME"
            self._notices.say(
                f"{self._file}: no speaker column, so the speakers A and B are "
                f"assumed{left if self._left else ''}"
            )


def report_missing_time(file: str, cells: Value, fields: Fields, notices: Notices) -> None:
    """Tell the user which columns may contain times, if none is known to be the time column.

    Args:
        file: The file name, for the notice.
        cells: The first row of a table, or the first turn of a dialogue.
        fields: Look-up from a field, such as the speaker, to the key or column that contains it. It also
            tells which of them the user named.
        notices: Notices to the user, to which the report is added.
    """
    known = fields.of(cells)
    if "turn" in known or "time" in fields.named_by_user:
        return
    if "time" in known:
        _report_missing_clock(file, cells, fields, notices)
        return
    found = [key for key in fields.unused(cells) if _looks_like_a_time(unwrap_extended_json(cells[key]))]
    if found:
        notices.say(
            f"{file}: no time column, so the order of the file is kept; these look like times: "
            f"{listed(found[:12])}; name the right one with --map time=NAME"
        )


def _report_missing_clock(file: str, cells: Value, fields: Fields, notices: Notices) -> None:
    """Tell the user which columns may contain the time of day, if the known times are only dates."""
    known = fields.of(cells)["time"]
    written = str(fields.time_of(cells) or "")
    # "14-11-2025" is a date. "1700000001" is a Unix time, which includes the time of day.
    if ":" in written or not (parse_time(written, "day") or possible_orders(written)) or written.isdigit():
        return
    if found := [key for key in fields.unused(cells) if _CLOCK.fullmatch(str(cells[key]).strip())]:
        notices.say(
            f"{file}: the times in {known!r} are only dates, so messages of one day keep the order of the "
            f"file; these look like times of day: {listed(found[:12])}; name the right one with "
            "--map time=NAME, which is joined with the date if its column has a known name such as 'date'"
        )


def _looks_like_a_time(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    # Most numbers are counts or measurements. Accept a number as a time only if it has the 10 or 13 digits of
    # a Unix time, and its date is plausible.
    if _NUMBER.fullmatch(text := str(value).strip()):
        seconds = parse_time(value) if _UNIX_TIME.fullmatch(text) else None
        return seconds is not None and _FIRST_CHAT <= seconds < _LAST_CHAT
    return parse_time(value) is not None or bool(possible_orders(value))


class IdNotice:
    """Reports, once per file, that ids such as ``7.0`` are read as integers such as ``7``.

    Args:
        file: The file name, for the notice.
        notices: Notices to the user. The first such id adds one notice.
    """

    def __init__(self, file: str, notices: Notices) -> None:
        self._file, self._notices = file, notices
        self._said = False

    def count(self, written: str, id: str) -> None:
        """Compare an id with its spelling in the file, and report the first difference.

        Args:
            written: The id as the file spells it, such as ``7.0``.
            id: The id as it is stored, such as ``7``.
        """
        if written != id and not self._said:
            self._said = True
            self._notices.say(
                f"{self._file}: ids that are whole numbers are read as integers: {written[:40]} becomes "
                f"{id[:40]}"
            )

"""Find the internal notes of help desks, which the customer never saw, among the messages of a conversation.

Exports mark notes in two ways: with a yes or no (``public``, ``is_internal``), or with a kind of message
(``visibility``, ``comment_type``). The values differ between programs. A message with an unknown value is
treated as a note, because a note that is loaded by mistake is worse than a message that is missing. The
report names the unknown value:

>>> notices = Notices()
>>> finder, kinds = NoteFinder(Fields({}), notices, tuple), ("public reply", "Internal", "agents only")
>>> [finder.is_note({"text": "Hi.", "visibility": kind}) for kind in kinds]
[False, True, True]
>>> [line.partition(":")[0] for line in notices.lines()]
["1 turn left out as a possible internal note, because the value 'agents only' of 'visibility' is unknown"]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Literal

from graphneg.ingest.fields import (
    AMBIGUOUS_NOTES,
    NAMES,
    NOTE_KINDS,
    Fields,
    Value,
    header_class,
    note_words,
    plain_names,
    words_of,
)
from graphneg.ingest.loader import Notices
from graphneg.ingest.values import UNSPOKEN, message_text, unwrap_extended_json

Meaning = Literal["public", "note", "unknown"]

_MOST_VALUES = 20
"""Maximum number of unknown values that notices quote."""
_MOST_WORDS = 4
"""Maximum number of words of a value that says whether a message is a note: "Internal (agents only)"."""


def meaning_of(key: str, value: Any) -> Meaning:
    """Return whether a value marks a comment on a ticket as an internal note or as public.

    >>> [meaning_of(*one) for one in (("public", "False"), ("private", 0), ("part_type", "note"))]
    ['note', 'public', 'note']
    >>> [meaning_of("type", value) for value in ("reply", "public note", "side conversation", "")]
    ['public', 'public', 'unknown', 'public']

    Args:
        key: The key or column, such as ``public``, ``private`` or ``part_type``.
        value: The value: yes or no, or the kind or visibility of the comment.

    Returns:
        ``note`` for an internal note, ``public`` for a message that the customer sees, ``unknown`` if the
        value shows neither.
    """
    value = unwrap_extended_json(value)
    # In "comment_is_public", "IsPublished" or "Öffentlich", yes means that the message is public.
    says_public = "public" in key.casefold() or header_class(key) == "public"
    if value is None or (isinstance(value, str) and not value.strip()):
        # A blank cell in "is_internal" means that the message is public. A blank cell in "public" may mean
        # yes or no.
        return "unknown" if says_public else "public"
    if not isinstance(value, str | bool | int | float):
        return "unknown"
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    words = words_of(text)
    plain = next(iter(words)) if len(words) == 1 else ""
    # In "message_type: 1", the number is the code for a kind of message. It does not mean "yes".
    is_kind = not NOTE_KINDS.isdisjoint(plain_names([key]))
    if not is_kind and plain in note_words("yes") | note_words("no"):
        return "public" if (plain in note_words("yes")) == says_public else "note"
    # In GitLab, a comment has the type "DiscussionNote", and another key says whether it is internal.
    if not note_words("public-note").isdisjoint(plain_names([text])):
        return "public"
    # With a negation, as in "not internal" or "non-public", the meaning of the value is not clear.
    if words & note_words("negation"):
        return "unknown"
    # "Internal (agents only)" says that the message is an internal note.
    if words & note_words("note"):
        return "note"
    rest = (
        words - note_words("other") - note_words("message") - note_words("note-noun") - note_words("public")
    )
    # "public reply" and "public note" are visible to the customer.
    if words & note_words("public") and not rest:
        return "public"
    # A value with a word such as "note", as in "note and reopen", marks an internal note.
    if words & note_words("note-noun"):
        return "note"
    # A "quick reply" is a public message. A "side conversation" may be hidden from the customer, so its
    # meaning is unknown.
    return "public" if words & note_words("message") and not rest else "unknown"


def _is_certain(key: str) -> bool:
    """Return whether a column with this name always marks internal notes, whatever its values are."""
    known = plain_names([key]).keys() & set(NAMES["internal"])
    return bool(known) and AMBIGUOUS_NOTES.isdisjoint(known)


class NoteFinder:
    """Finds the internal notes among the messages of one file or Python object.

    Args:
        fields: Look-up for the columns that may mark notes.
        notices: Notices to the user, which name each unknown value.
        messages: Function that returns all messages of the file. It is called at most once, to find out
            whether a column such as ``type`` marks notes. The column marks notes if one of its values is a
            known kind of note, such as ``note``.
    """

    def __init__(self, fields: Fields, notices: Notices, messages: Callable[[], Iterable[Value]]) -> None:
        self._fields, self._notices, self._messages = fields, notices, messages
        # The option "--map internal=" means: keep a message if it is unknown whether it is a note.
        self._keeps_unknown = fields.named_by_user.get("internal") == ""
        self._unknown = set[tuple[str, str]]()

    @cached_property
    def _marking(self) -> frozenset[str]:
        """The ambiguous columns, such as ``type``, that mark internal notes in this file."""
        found, unknown, texts = set[str](), dict[str, None](), set[str]()
        for cells in self._messages():
            for key in self._fields.internal_note_keys(cells):
                if key in texts or _is_certain(key):
                    continue
                # A column "Internal note" may contain the text of a note instead of yes or no. A long value
                # is such a text.
                if header_class(key) and len(words_of(str(cells[key]))) > _MOST_WORDS:
                    texts.add(key)
                    continue
                meaning = meaning_of(key, cells[key])
                if meaning == "note":
                    found.add(key)
                elif meaning == "unknown" and header_class(key) and cells[key]:
                    unknown[key] = None
        for key in (key for key in unknown if key not in found | texts and not self._keeps_unknown):
            self._notices.say(
                f"the column {key!r} may mark internal notes, but its values are unknown: "
                f"--map 'internal={key}' leaves these turns out"
            )
        return frozenset(found - texts)

    def columns(self, cells: Value) -> list[str]:
        """Return the columns that mark messages as internal notes, which are not part of the dialogue.

        Args:
            cells: A table row, or a turn that is a JSON object.

        Returns:
            The columns. Columns whose values show that they mean something else are left out.
        """
        return [key for key in self._fields.internal_note_keys(cells) if self._marks(key)]

    def _marks(self, key: str) -> bool:
        return bool(self._fields.named_by_user.get("internal")) or _is_certain(key) or key in self._marking

    def is_note(self, cells: Value) -> bool:
        """Return whether a message is an internal note, or may be a note. A possible note is counted.

        Args:
            cells: A table row, or a turn that is a JSON object.

        Returns:
            True if a column marks the message as a note, or has a value whose meaning is unknown.
        """
        keys = self.columns(cells)
        if not keys:
            return False
        meanings = {key: meaning_of(key, cells[key]) for key in keys}
        if "note" in meanings.values():
            return True
        if self._keeps_unknown:
            return False
        text = message_text(cells.get(self._fields.of(cells).get("text", "")))
        # A message without a text is left out as empty, whatever its kind.
        if not text or (isinstance(text, str) and not text.strip()):
            return False
        unknown = [key for key in keys if meanings[key] == "unknown"]
        if unknown:
            self._count(unknown[0], str("" if cells[unknown[0]] is None else cells[unknown[0]])[:40])
        return bool(unknown)

    def marks_of(self, cells: Value, unspoken: str) -> dict[str, Any]:
        """Return the keys that mark the turn of a message as one that is left out.

        Args:
            cells: A table row, or a turn that is a JSON object.
            unspoken: The kind of a message that nobody said, such as ``tool message``; else empty.

        Returns:
            A dict with the key ``internal`` or `UNSPOKEN`; empty for a message of the conversation.
        """
        # A tool call is not a possible note, so the option "--map internal=" does not keep it. A note of the
        # program is still a note, because the text of a system message becomes an attribute of the dialogue.
        if unspoken and "note" not in (meaning_of(key, cells[key]) for key in self.columns(cells)):
            return {UNSPOKEN: unspoken}
        return {"internal": True} if self.is_note(cells) else {}

    def _count(self, key: str, value: str) -> None:
        if len(self._unknown) < _MOST_VALUES:
            self._unknown.add((key, value))
        said = f"the value {value!r}" if (key, value) in self._unknown else "another value"
        self._notices.count(
            "turn",
            f"left out as a possible internal note, because {said} of {key!r} is unknown: "
            "--map internal= keeps such turns, and leaves out only known notes",
        )

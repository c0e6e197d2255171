"""Normalize ids, texts and speakers, which exports write in different ways.

For example, a speaker may be a name, a number, or an object such as ``{"id": 7, "name": "Ann"}``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from graphneg.english.words import table_rows
from graphneg.ingest.content import ItemError

Value = Mapping[str, Any]

_PERSON = (
    "name", "nickname", "username", "displayname", "display_name", "displayName", "login", "screen_name", "n",
)  # fmt: skip
"""Keys of an object that describes a person. The most readable key comes first."""
_NAME_PARTS = (
    ("first", "last"), ("first_name", "last_name"), ("firstName", "lastName"), ("firstname", "lastname"),
)  # fmt: skip
"""Keys of the first and the last name of a person."""
_ROLES = ("user", "role", "type", "id")
"""Keys whose values are used as a name if a person has none. ``user`` may be an object with a name."""

_WHOLE = re.compile(r"([+-]?[0-9]+)\.0+")
# Matches an id that a spreadsheet has rounded: "1.76E+12". Several ids may have become the same in this way.
_ROUNDED = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?E\+[0-9]+")
# From 2**53 on, a 64-bit float cannot represent every integer. An id that was converted to a float may have
# lost digits, so it is refused.
_EXACT = 2**53


_PARTS = {
    **dict.fromkeys(("image", "image_url", "input_image", "inline_data", "image_file"), "image"),
    **dict.fromkeys(("audio", "input_audio", "audio_url", "output_audio"), "sound"),
    **dict.fromkeys(("video", "video_url", "input_video"), "video"),
    **dict.fromkeys(("file", "input_file", "document", "file_data"), "file"),
    **dict.fromkeys(("tool_use", "tool_call", "tool-call", "function_call", "functionCall"), "tool call"),
    **dict.fromkeys(("tool_result", "tool-result", "function_response", "functionResponse"), "tool result"),
    **dict.fromkeys(("thinking", "redacted_thinking", "reasoning"), "thought"),
    **dict.fromkeys(("source-url", "source-document"), "source"),
    "dynamic-tool": "tool call",
    "step-start": "step mark",
    "refusal": "refusal",
}
"""Names that notices use for the parts of a message that contain no text. The keys are the types of these
parts in chat APIs."""
_TOOL_PREFIX = "tool-"
"""The beginning of the type of a tool call in Vercel's AI SDK, which is followed by the name of the tool."""
_NO_TALK = frozenset({"thought", "tool call", "tool result"})
"""Kinds of parts that may have a text, which is no part of the message."""


_INNER_TEXTS = frozenset({"text", "content", "body", "value", "plain"})
_FORMATS = frozenset({"contentType", "content_type", "format", "type", "encoding", "language"})
"""Keys of an object that contains the text of a message and its format, as in Microsoft's Graph API."""

_ENTITIES = frozenset({
    "plain", "bold", "italic", "underline", "strikethrough", "spoiler", "code", "pre", "link", "text_link",
    "mention", "mention_name", "hashtag", "cashtag", "bot_command", "email", "phone", "bank_card",
    "blockquote", "custom_emoji",
})  # fmt: skip
"""Types of the parts of a text in Telegram's exports, which contain their spaces and line breaks."""


_PARTS_KEY = "content"
"""The key of the list of parts, in messages that also have a text."""
INSTEAD_OF_TEXT = {"refusal": "refusal", "tool_calls": "tool call", "function_call": "tool call"}
"""Keys that OpenAI's chat API uses instead of text, with the names under which their values are counted."""
DELETED, MEDIA, SERVICE = "deleted message", "media placeholder", "service message"
"""Names that notices use for messages without text."""
ALTERNATIVE = "alternative answer"
"""The name that notices use for further answers of a model to the same message."""
COUNTED = "_counted"
"""The key that marks turns without text whose other content, such as images, was counted by kind. Such turns
do not count as empty."""
UNSPOKEN = "_unspoken"
"""The key of the kind of a turn that nobody said, such as ``tool message``, although it names a speaker."""

_YES = {"true", "yes", "y", "t", "1"}


def id_text(value: Any) -> str | None:
    """Convert an id into a string, where the float ``7.0`` becomes ``7``.

    If a value is missing in a column of integers, pandas converts the column to floats, and writes them as
    floats to CSV and JSON files. All spellings of a whole number are therefore treated as the same id,
    whether the value is a number or a string.

    >>> [id_text(id) for id in (7, 7.0, "7.0", "7.50", "007", " a ", {"$oid": "5f"}, None, " ")]
    ['7', '7', '7', '7.50', '007', 'a', '5f', None, None]

    Args:
        value: The id: a string, a number, or an object of MongoDB's extended JSON that contains one of these.

    Returns:
        The id, or None if the value is missing or blank.

    Raises:
        ItemError: The value is neither a string nor a number, or it is a number whose last digits are lost.
    """
    value = unwrap_extended_json(value)
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip()
        if _ROUNDED.fullmatch(text):
            raise ItemError(f"the id {text!r} was rounded by a spreadsheet: export the ids as text")
        return (whole[1] if (whole := _WHOLE.fullmatch(text)) else text) or None
    # Exclude True and False, which are instances of int in Python.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ItemError(f"the id {str(value)[:40]!r} is neither a text nor a number")
    if isinstance(value, float):
        if abs(value) >= _EXACT:
            raise ItemError(f"the id {value!r} is a float whose last digits are lost: give ids as text")
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def unwrap_extended_json(value: Any) -> Any:
    """Return the value inside an object of MongoDB's extended JSON: ``{"$oid": "5f"}`` contains ``5f``.

    >>> unwrap_extended_json({"$date": {"$numberLong": "1763110863000"}})
    '1763110863000'

    Args:
        value: Any decoded JSON value.

    Returns:
        The value of the only key, if it begins with ``$``. Any other value is returned unchanged.
    """
    if isinstance(value, dict) and len(cast("dict[str, Any]", value)) == 1:
        [(key, inner)] = cast("dict[str, Any]", value).items()
        # Call this function again, because MongoDB may nest two objects: {"$date": {"$numberLong":
        # "176311"}}.
        return unwrap_extended_json(inner) if key.startswith("$") else value
    return cast("Any", value)


def unwrapped(value: Mapping[str, Any]) -> str | None:
    """Return the text in an object whose only keys are a text and, possibly, the format of this text.

    >>> unwrapped({"contentType": "html", "content": "Hi."}), unwrapped({"role": "user", "content": "Hi."})
    ('Hi.', None)

    Args:
        value: The object.

    Returns:
        The text; None if the object has other keys than a text and its format.
    """
    texts = [value[key] for key in _INNER_TEXTS if key in value]
    is_whole = len(texts) == 1 and value.keys() <= _INNER_TEXTS | _FORMATS
    return texts[0] if is_whole and isinstance(texts[0], str) else None


def message_text(value: Any) -> Any:
    """Return the text of an utterance.

    >>> message_text([{"type": "text", "text": "Look."}, {"type": "image"}, "A swan."])
    'Look. A swan.'
    >>> message_text(["Look at ", {"type": "bold", "text": "this"}, "!"])
    'Look at this!'

    Args:
        value: A string, an object that contains only a string and its format, or a list of content parts, as
            in chat APIs.

    Returns:
        The text. If the value is a list, its text parts are joined by spaces, except in Telegram's format,
        where the parts contain the spaces. None becomes an empty string. Any other value is returned
        unchanged, so that the validation can reject it.
    """
    if value is None:
        return ""
    if isinstance(value, dict):
        text = unwrapped(cast("Mapping[str, Any]", value))
        return value if text is None else text
    if not isinstance(value, list):
        return value
    # Skip parts without text, such as images or sound.
    given = cast("list[Any]", value)
    parts = [_part_text(cast("Value", part)) if isinstance(part, dict) else part for part in given]
    # If the parts are pieces of one text, such as ["Look at ", {"type": "link", "text": "https://x"}, "."],
    # join them without spaces.
    kinds = [part.get("type") for part in given if isinstance(part, dict)]
    if kinds and _ENTITIES.issuperset(map(str, kinds)):
        return "".join(part for part in parts if isinstance(part, str))
    return " ".join(part.strip() for part in parts if isinstance(part, str) and part.strip())


def _as_value(part: Any) -> Value:
    return cast("Value", part)


def _kind_name(kind: str) -> str:
    """Return the name of a type of content part for notices; an empty string for an unknown type."""
    return _PARTS.get(kind, "tool call" if kind.startswith(_TOOL_PREFIX) else "")


def _part_text(part: Value) -> Any:
    """Return the text of a content part; in OpenAI's threads, ``{"text": {"value": "Hi."}}``."""
    # Skip the thoughts of a model: {"type": "reasoning", "text": "The user asks about a parcel."}
    if _kind_name(str(part.get("type"))) in _NO_TALK:
        return None
    text = part.get("text")
    return cast("Value", text).get("value") if isinstance(text, dict) else text


def content_of(cells: Mapping[str, Any], key: str) -> Any:
    """Return the content of a message, which is a text or a list of content parts.

    Some exports of chats with assistants contain both, as in ``{"text": "Hi.", "content": [{"type": "text",
    ...}]}``. The list is then preferred, because the text has placeholders instead of tool calls.

    Args:
        cells: The message.
        key: The key that contains the text.

    Returns:
        The list of content parts if the message has one, else the value of ``key``.
    """
    parts = cells.get(_PARTS_KEY)
    is_list = isinstance(parts, list) and bool(parts)
    if (
        is_list
        and isinstance(cells.get(key), str)
        and all(
            isinstance(part, dict) and is_part(cast("Mapping[str, Any]", part))
            for part in cast("list[Any]", parts)
        )
    ):
        return parts
    return cells.get(key)


def is_part(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a part of a message in a chat API, and not a message.

    Args:
        value: The object.

    Returns:
        True if it names its type, contains a text, or has a key that a chat API uses as a type.
    """
    return isinstance(value.get("type"), str) or "text" in value or not _PARTS.keys().isdisjoint(value)


def unsaid_kinds(value: Any) -> list[str]:
    """Return the kinds of content parts, such as ``image``, that `message_text` leaves out.

    >>> parts = [{"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {}}, {"type": "x"}]
    >>> unsaid_kinds(parts)
    ['image', 'content part of type x']

    Args:
        value: A string, or a list of content parts, as in chat APIs.

    Returns:
        The kind of each part that has no text, as a noun in the singular.
    """
    if not isinstance(value, list):
        return []
    parts = [part for part in cast("list[Any]", value) if isinstance(part, dict)]
    without = [part for part in map(_as_value, parts) if not isinstance(_part_text(part), str)]
    return [_kind_name(kind) or f"content part of type {kind[:40]}" for kind in map(_part_kind, without)]


def _part_kind(part: Mapping[str, Any]) -> str:
    """Return the type of a content part; the first key of the part if it names no type."""
    return str(part.get("type") or next(iter(part), "none"))


def kinds_without_text(cells: Mapping[str, Any], content: Any) -> list[tuple[str, int]]:
    """Count the contents of a message that has no text, such as photos or tool calls.

    >>> kinds_without_text({"tool_calls": [{}, {}]}, None), kinds_without_text({"photos": [{"uri": "x"}]}, "")
    ([('tool call', 2)], [('media placeholder', 1)])

    Args:
        cells: The message.
        content: The value that should contain its text.

    Returns:
        Pairs of a kind, such as ``tool call``, and the number of contents of this kind; empty if nothing is
        found. The parts of ``content`` are not included, because `unsaid_kinds` returns their kinds.
    """
    calls = [(kind, found) for key, kind in INSTEAD_OF_TEXT.items() if (found := cells.get(key))]
    if calls:
        return [(kind, len(cast("list[Any]", one)) if isinstance(one, list) else 1) for kind, one in calls]
    if unsaid_kinds(content):
        return []
    return [(kind, 1) for kind, key in _without_text() if cells.get(key)][:1]


@cache
def _without_text() -> list[tuple[str, str]]:
    """Return pairs from ``without_text.tsv``: a kind of message ("tool call"), and one of its keys."""
    rows = table_rows("graphneg.ingest", "without_text.tsv")
    return [(kind, key) for kind, keys in rows for key in keys.split()]


def speaker_name(value: Any) -> Any:
    """Return the speaker of an utterance.

    >>> speaker_name(3.0), speaker_name({"id": 7, "name": "Ann"}), speaker_name(" ")
    ('3', 'Ann', None)
    >>> speaker_name(["Ann", {"name": "Bo"}])
    'Ann and Bo'

    Args:
        value: A name, a number, an object that describes a person, or a list of these.

    Returns:
        The name; None if it is missing or blank. A value of another type is returned unchanged, so that the
        validation can reject it.
    """
    if isinstance(value, dict):
        person = cast("dict[str, Any]", value)
        found = [person.get(key) for key in _PERSON]
        # Join a first and a last name: {"first": "Ann", "last": "Lee", "type": "customer"}
        found += [" ".join(str(one) for key in keys if (one := person.get(key))) for keys in _NAME_PARTS]
        found += [person.get(key) for key in _ROLES]
        return next((name for one in found if (name := speaker_name(one)) is not None), None)
    # A list names several speakers: "senders": [{"name": "Ann"}], "speakers": ["Ann", "Bo"].
    if isinstance(value, list):
        names = [speaker_name(one) for one in cast("list[Any]", value)]
        return " and ".join(names) or None if all(isinstance(one, str) for one in names) else value
    if isinstance(value, int | float):
        return str(value) if isinstance(value, bool) else id_text(value)
    return None if isinstance(value, str) and not value.strip() else value


def person_id(value: Any) -> str:
    """Return the id of a person as text; an empty string if there is none.

    >>> person_id({"id": 7, "name": "Ann"}), person_id(7.0), person_id(["x"])
    ('7', '7', '')

    Args:
        value: The id, or an object that describes a person.

    Returns:
        The id as text.
    """
    if isinstance(value, dict):
        value = cast("dict[str, Any]", value).get("id")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    try:
        return id_text(value) or ""
    except ItemError:
        return ""


def distinct_names(people: Sequence[tuple[str, str]]) -> list[str]:
    """Return the names of the speakers of a dialogue, where different people have different names.

    >>> distinct_names([("1", "Sam"), ("2", "Sam"), ("1", "Sam"), ("", "Sam"), ("3", "Sam (2)")])
    ['Sam', 'Sam (3)', 'Sam', 'Sam', 'Sam (2)']

    Args:
        people: The id and the name of the speaker of each turn. The id is empty if it is unknown.

    Returns:
        The name to use for the speaker of each turn. The first person with a name keeps it. Other people with
        the same name get a number.
    """
    taken = {name for _, name in people}
    of = dict[tuple[str, str], str]()
    first = set[str]()
    for id, name in people:
        if not id or (id, name) in of:
            continue
        shown, number = name, 1
        while shown in taken and name in first:
            number += 1
            shown = f"{name} ({number})"
        first.add(name)
        taken.add(shown)
        of[id, name] = shown
    return [of.get((id, name), name) for id, name in people]


def is_yes(value: Any) -> bool:
    """Return whether a value means yes.

    >>> [is_yes(value) for value in (True, "TRUE", 1, "yes", False, "no", None)]
    [True, True, True, True, False, False, False]

    Args:
        value: A cell of a table, or a value of a JSON object.

    Returns:
        True for ``True``, 1, and the texts "true", "t", "yes", "y" and "1" in upper or lower case.
    """
    return _plain(value) in _YES


def _plain(value: Any) -> str:
    """Return a value as text in lower case without punctuation; an empty text for lists and objects."""
    if not isinstance(value, str | bool | int | float):
        return ""
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return re.sub(r"[\W_]+", " ", text).strip().casefold()


def utterance_fields(cells: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    """Return the text, speaker and graph of an utterance under graphneg's own keys.

    Args:
        cells: A table row, or a turn that is a JSON object.
        known: Mapping from each field to the key in ``cells`` that contains it.

    Returns:
        A dict with the keys ``text``, ``speaker`` and ``amr``. Keys without a value are left out. If a
        message has only images or tool calls, the dict also has the key `COUNTED`: these are counted already,
        so the message must not be counted again as an empty turn.
    """
    said: dict[str, Any] = {}
    if "text" in known and known["text"] in cells:
        content = content_of(cells, known["text"])
        said["text"] = message_text(content)
        is_blank = isinstance(said["text"], str) and not said["text"].strip()
        if is_blank and (unsaid_kinds(content) or kinds_without_text(cells, content)):
            said[COUNTED] = True
    for field, value in (
        ("speaker", speaker_name(cells.get(known.get("speaker", "")))),
        ("amr", cells.get(known.get("amr", ""))),
    ):
        if value is not None and (not isinstance(value, str) or value.strip()):
            said[field] = value
    return said

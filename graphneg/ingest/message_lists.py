"""Convert dialogues whose messages have the text or the speaker under unusual keys or in nested objects.

The table ``message_lists.tsv`` lists the formats: Zendesk Chat, Discourse, GitHub Copilot, Amazon Transcribe,
and published corpora. A message may also contain two turns, a question and its answer:

>>> entry = {"id": 7, "log": [{"user utterance": "Hi.", "system response": "Hello."}]}
>>> message_list_converter(entry)(entry, Notices())["messages"]
[{'speaker': 'user', 'text': 'Hi.'}, {'speaker': 'system', 'text': 'Hello.'}]

`message_list_converter` is called for each entry of large files. To be fast, it first checks whether the
entry has a key that may contain messages, such as ``log`` above.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from itertools import islice
from typing import Any, NamedTuple, cast

from graphneg.english.words import table_rows
from graphneg.ingest.json_objects import Converter, Value, without
from graphneg.ingest.loader import Notices
from graphneg.ingest.values import SERVICE

Path = tuple[str, ...]

_SEEN = 50
"""Number of messages at the beginning of a list that are examined to recognize its format."""
_CONSTANT = "="
"""Mark in ``message_lists.tsv`` before the name of a speaker."""
_KIND = "kind"
"""Key of the parts of an answer that are no text, such as tool calls of GitHub Copilot."""


class _Format(NamedTuple):
    """A row of ``message_lists.tsv``: where a file format has its messages, speakers and texts."""

    list: Path
    required: tuple[Path, ...]
    speakers: tuple[str, ...]
    text: Path
    programs: tuple[str, ...]


def message_list_converter(value: Value) -> Converter | None:
    """Return the function that converts an entry into an object with a list of messages.

    Args:
        value: The entry.

    Returns:
        The function; None if the entry has none of the formats of ``message_lists.tsv``.
    """
    if _first_keys().isdisjoint(value):
        return None
    for one in _formats():
        messages = _at(value, one.list)
        some = list(islice(cast("list[Any]", messages), _SEEN)) if isinstance(messages, list) else []
        if any(all(_at(message, path) is not None for path in one.required) for message in some):
            formats = [other for other in _formats() if other[:2] == one[:2]]
            return partial(_converted, formats)
    return None


def _converted(formats: Sequence[_Format], value: Value, notices: Notices) -> dict[str, Any]:
    turns: list[dict[str, Any]] = []
    for message in _at(value, formats[0].list):
        cells = _cells(message)
        turns.extend(_turn(cells, one, formats) for one in formats)
    spoken = [turn for turn in turns if turn.get("speaker") not in formats[0].programs]
    notices.count(SERVICE, "left out", len(turns) - len(spoken))
    return without(value, formats[0].list[0]) | {"messages": spoken}


def _turn(cells: Value, one: _Format, formats: Sequence[_Format]) -> dict[str, Any]:
    """Return a turn of a message, with the other values of the message as attributes."""
    used = {path[0] for other in formats for path in (other.text, *map(_path, other.speakers))}
    text = _at(cells, one.text)
    found = (name[1:] if name.startswith(_CONSTANT) else _at(cells, _path(name)) for name in one.speakers)
    speaker = next((name for name in found if name is not None), None)
    # A message without a text is, for example, an offer or a rating. It is left out later.
    said = {"speaker": speaker, "text": text} if isinstance(text, str) else {}
    return without(cells, "text", "speaker", *used) | said


def _at(value: Any, path: Path) -> Any:
    """Return a nested value: the path ``data.text`` leads to "Hi." in ``{"data": {"text": "Hi."}}``.

    Return None if a key of the path is missing. A number on the path selects a member of a list. If the path
    has no number for a list, the texts of its members are joined.
    """
    for at, key in enumerate(path):
        if isinstance(value, list) and not key.isdigit():
            # GitHub Copilot: [{"value": "Use "}, {"kind": "toolInvocation"}, {"value": "`sorted`."}]
            parts = [_cells(one) for one in cast("list[Any]", value)]
            texts = [_at(one, path[at:]) for one in parts if _KIND not in one]
            return "".join(one for one in texts if isinstance(one, str)) or None
        value = _cells(value).get(key)
    return value


def _cells(value: Any) -> Value:
    """Return an object unchanged, and a list as an object with positions as keys."""
    if isinstance(value, list):
        return {str(at): one for at, one in enumerate(cast("list[Any]", value))}
    return cast("Value", value) if isinstance(value, dict) else {}


def _path(written: str) -> Path:
    return tuple(written.split("."))


@cache
def _formats() -> tuple[_Format, ...]:
    rows = table_rows("graphneg.ingest", "message_lists.tsv")
    return tuple(
        _Format(
            _path(path),
            tuple(map(_path, required.split(","))),
            tuple(speakers.split(",")),
            _path(text),
            tuple(name for cell in programs for name in cell.split(",")),
        )
        for path, required, speakers, text, *programs in rows
    )


@cache
def _first_keys() -> frozenset[str]:
    return frozenset(one.list[0] for one in _formats())

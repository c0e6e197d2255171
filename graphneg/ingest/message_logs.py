"""Convert exports of calls and chats in which text and speaker of a message are nested in other objects.

The formats are those of Gong, Fireflies and WhisperX (calls), LivePerson, Character.AI, Twitter's archive and
Jira (messages):

>>> entry = {"callId": 7, "transcript": [{"speakerId": "a", "sentences": [{"text": "Hi."}, {"text": "Ho."}]}]}
>>> message_log_converter(entry)(entry, Notices())
{'callId': 7, 'messages': [{'speakerId': 'a', 'text': 'Hi. Ho.'}]}

`message_log_converter` is called for each entry of large files, so it first looks for the keys of the
formats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from graphneg.ingest.json_objects import Converter, Value, inside, objects, without
from graphneg.ingest.loader import Notices
from graphneg.ingest.values import ALTERNATIVE, MEDIA, SERVICE

_NOTE = "internal note"
_SPEAKERS = ("speaker", "speaker_name", "speakerName", "speaker_id", "speakerId", "speaker_label")
_MONOLOGUES = ("transcript", "paragraphs", "monologues")
"""Keys of lists whose members consist of sentences."""
_PUBLIC = ("ALL", "")
"""Audiences of LivePerson that include the customer."""


def message_log_converter(value: Value) -> Converter | None:
    """Return the function that converts an entry into an object with a list of messages.

    Args:
        value: The entry.

    Returns:
        The function; None if the entry has none of the shapes of this module.
    """
    if _CONVERTERS.keys().isdisjoint(value):
        return None
    found = next(key for key in _CONVERTERS if key in value)
    fits, converter = _CONVERTERS[found]
    return converter if fits(value[found]) else None


def _first(value: Any) -> Value:
    """Return the first object of a list; an empty object if there is none."""
    first: Any = value[0] if isinstance(value, list) and value else None
    return cast("Value", first) if isinstance(first, dict) else {}


def _has_sentences(value: Any) -> bool:
    sentences = _first(value).get("sentences")
    return isinstance(_first(sentences).get("text"), str)


def _of_sentences(value: Value, _: Notices) -> dict[str, Any]:
    name = next(key for key in _MONOLOGUES if _has_sentences(value.get(key)))
    messages = [
        without(one, "sentences") | {"text": " ".join(str(part.get("text")).strip() for part in parts)}
        for one in objects(value[name])
        for parts in [objects(one.get("sentences"))]
    ]
    return without(value, name) | {"messages": messages}


def _are_spoken(value: Any) -> bool:
    first = _first(value)
    return isinstance(first.get("text"), str) and any(key in first for key in _SPEAKERS)


def _of_spoken(value: Value, _: Notices) -> dict[str, Any]:
    name = next(key for key in ("sentences", "segments") if _are_spoken(value.get(key)))
    # Leave out repetitions in WhisperX: "words" contains each segment word by word, and "text" the whole
    # recording.
    messages = [without(one, "words", "raw_text") for one in objects(value[name])]
    return without(value, name, "text", "word_segments") | {"messages": messages}


def _of_liveperson(value: Value, notices: Notices) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for record in objects(value["messageRecords"]):
        text = inside(record, "messageData", "msg", "text")
        if str(record.get("audience") or "") not in _PUBLIC:
            notices.count(_NOTE, "left out")
        elif not isinstance(text, str):
            notices.count(MEDIA, "left out")
        else:
            person = {"id": record.get("participantId"), "name": record.get("sentBy")}
            messages.append(
                {"speaker": person, "text": text, "time": record.get("timeL", record.get("time"))}
            )
    id = inside(value, "info", "conversationId")
    return ({} if id is None else {"id": id}) | without(value, "messageRecords") | {"messages": messages}


def _of_character_chat(value: Value, notices: Notices) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for one in objects(value["msgs"]):
        if one.get("is_alternative") is True:
            notices.count(ALTERNATIVE, "left out")
        else:
            messages.append({"speaker": inside(one, "src", "name")} | without(one, "src"))
    id = {"id": value["external_id"]} if "external_id" in value and "id" not in value else {}
    return id | without(value, "msgs") | {"messages": messages}


def _of_character_turns(value: Value, notices: Notices) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for turn in objects(value["turns"]):
        candidates = objects(turn.get("candidates"))
        primary = [
            one for one in candidates if one.get("candidate_id") == turn.get("primary_candidate_id")
        ] or candidates
        notices.count(ALTERNATIVE, "left out", max(len(candidates) - 1, 0))
        text = primary[0].get("raw_content") if primary else ""
        messages.append({"speaker": turn.get("author"), "text": text, "create_time": turn.get("create_time")})
    return without(value, "turns") | {"messages": messages}


def _of_twitter(value: Value, notices: Notices) -> dict[str, Any]:
    talk = cast("Value", value["dmConversation"])
    messages: list[Value] = []
    for one in objects(talk.get("messages")):
        created = one.get("messageCreate")
        if isinstance(created, dict):
            messages.append(cast("Value", created))
        else:
            notices.count(SERVICE, "left out")
    return {"id": talk.get("conversationId"), "messages": messages}


def _of_jira(value: Value, _: Notices) -> dict[str, Any]:
    issue = cast("Value", value["fields"])
    first = {
        "author": issue.get("reporter"),
        "body": issue.get("description"),
        "created": issue.get("created"),
    }
    described = isinstance(first["body"], str) and first["body"].strip() != ""
    comments = [{"author": None} | dict(one) for one in objects(inside(issue, "comment", "comments"))]
    id = value.get("key", value.get("id"))
    # The time of an issue's description may be unknown. It is not needed: the description always precedes
    # the comments.
    begin = [{key: one for key, one in first.items() if one is not None}] if described else []
    return {"id": id, "subject": issue.get("summary"), "messages": [*begin, *comments]}


def _has_comments(value: Any) -> bool:
    return isinstance(inside(value, "comment", "comments"), list)


def _has_messages(value: Any) -> bool:
    return "messageCreate" in _first(inside(value, "messages"))


_CONVERTERS: dict[str, tuple[Callable[[Any], bool], Converter]] = {
    "messageRecords": (lambda value: "messageData" in _first(value), _of_liveperson),
    "msgs": (lambda value: "src" in _first(value) and "text" in _first(value), _of_character_chat),
    "turns": (lambda value: "candidates" in _first(value), _of_character_turns),
    "dmConversation": (_has_messages, _of_twitter),
    "fields": (_has_comments, _of_jira),
    **dict.fromkeys(_MONOLOGUES, (_has_sentences, _of_sentences)),
    **dict.fromkeys(("sentences", "segments"), (_are_spoken, _of_spoken)),
}
"""For each key by which a format is recognized, the condition for its value, and the converter."""

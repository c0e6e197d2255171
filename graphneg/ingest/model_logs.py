"""Convert logs of chats with language models and bots in which the turns are not a plain list of messages.

These kinds of entries are recognized. `converter_of` returns the function that converts an entry into an
object with a list of turns:

- Messages of LangChain, with the text in ``data`` or ``kwargs``, and the speaker in ``type``.
- A tracker of Rasa: ``sender_id`` and ``events``. The turns are the events ``user`` and ``bot``.
- A request to Cohere: ``chat_history`` with the earlier turns, and ``message`` with the last turn.
- Two lists of messages: ``prompt`` or ``input``, continued by ``chosen``, ``completion`` or ``output``.
- A prompt of Google AI Studio: ``chunkedPrompt`` with ``chunks``, some of which are thoughts.
- A chat of Open WebUI: ``chat`` with the ``messages`` that the user sees.
- A transcript of Microsoft's Bot Framework or Copilot Studio: ``activities``, some of which are messages.
- A conversation of Dialogflow CX: ``interactions``, each with a ``request`` and a ``response``.
- A transcript of Rev.ai: ``monologues``, each with words and signs as ``elements``.
- A room of Rocket.Chat: ``messages`` with the text in ``msg``, and the speaker in ``u``.
- A room of Matrix: ``messages`` that are events, with the text in ``content``.

>>> value = {"prompt": [{"role": "user", "content": "Hi."}], "chosen": [{"role": "bot", "content": "Hello."}]}
>>> [turn["content"] for turn in converter_of(value)(value, Notices())["messages"]]
['Hi.', 'Hello.']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, cast

from graphneg.ingest.branches import has_branches, with_path
from graphneg.ingest.json_objects import Converter, Value, inside, without
from graphneg.ingest.loader import Notices
from graphneg.ingest.message_lists import message_list_converter
from graphneg.ingest.message_logs import message_log_converter
from graphneg.ingest.model_requests import request_converter
from graphneg.ingest.values import DELETED, MEDIA, SERVICE

_LANGCHAIN = frozenset({"human", "ai", "system", "tool", "function"})
"""Types of messages in LangChain. They are used as the names of speakers."""
_CONTINUED = {"prompt": ("chosen", "completion", "response"), "input": ("output",)}
"""Keys of two lists of messages, of which the second continues the first."""
_SAID = ("user", "bot")
"""Events of Rasa that somebody said. They also name the speaker."""
_BOT_FRAMEWORK = {0: "bot", 1: "user"}
"""Numbers for the speaker in transcripts of Copilot Studio."""
_SPOKEN = ("m.text", "m.emote")
_MATRIX = {"m.reaction": "reaction", "m.sticker": MEDIA, "m.room.encrypted": "encrypted message"}
"""Types of events in Matrix that are no messages with a text, with the names for notices."""
# Matches the quotation at the beginning of an answer in Matrix: "> <@bo:example.org> Yes!\n\nGood."
_QUOTED = re.compile(r"\A> (?:\* )?<@[^\n]+\n(?:>[^\n]*\n)*\n?")
_SEEN = 50
"""Number of messages at the beginning of a list that are examined to recognize its format."""


def converter_of(value: Value) -> Converter | None:
    """Return the function that converts an entry of a log into an object with a list of turns.

    Args:
        value: The entry.

    Returns:
        The function; None if the entry has none of the shapes of this module.
    """
    # This function is called for each entry of large files. To save time, test the most frequent formats
    # first, and examine only the first message.
    messages = value.get("messages")
    if isinstance(messages, list) and messages:
        if langchain_message(messages[0]) is not None:
            return _of_langchain
        first: Value = cast("Value", messages[0]) if isinstance(messages[0], dict) else {}
        if isinstance(first.get("u"), dict) and "msg" in first:
            return _of_rocket_chat
        if "event_id" in first and str(first.get("type")).startswith("m."):
            return _of_matrix
        if has_branches(value):
            return with_path
        return None if "content" in first or "text" in first else request_converter(value)
    nested = message_log_converter(value) or message_list_converter(value) or request_converter(value)
    if nested is not None:
        return nested
    if isinstance(value.get("turns"), list):
        return None
    if has_branches(value):
        return with_path
    if "events" in value and _has(value["events"], lambda one: one.get("event") in _SAID and "text" in one):
        return _of_rasa
    if "activities" in value and _has(value["activities"], lambda one: "type" in one and "from" in one):
        return _of_activities
    if "interactions" in value and _has(value["interactions"], lambda one: "request" in one):
        return _of_dialogflow
    if "monologues" in value and _has(value["monologues"], lambda one: isinstance(one.get("elements"), list)):
        return _of_monologues
    if isinstance(value.get("chat_history"), list) and isinstance(value.get("message"), str):
        return _of_cohere
    if _continued(value) is not None:
        return _of_two_lists
    chunked, chat = value.get("chunkedPrompt"), value.get("chat")
    if isinstance(chunked, dict) and isinstance(cast("Value", chunked).get("chunks"), list):
        return _of_ai_studio
    is_chat = isinstance(chat, dict) and isinstance(cast("Value", chat).get("messages"), list)
    return _of_web_ui if is_chat else None


def langchain_message(value: Any) -> dict[str, Any] | None:
    """Return a message of LangChain as a message with the keys ``speaker`` and ``text``.

    >>> langchain_message({"type": "human", "data": {"content": "Hi."}})
    {'speaker': 'human', 'text': 'Hi.'}
    >>> langchain_message({"type": "ai", "content": "Hello.", "id": "7"})
    {'speaker': 'ai', 'id': '7', 'text': 'Hello.'}

    Args:
        value: The message, in one of the three forms in which LangChain writes it.

    Returns:
        The message; None for any other value.
    """
    if not isinstance(value, dict) or "type" not in value:
        return None
    cells = cast("dict[str, Any]", value)
    kind = cells["type"]
    for key in ("data", "kwargs"):
        inner = cells.get(key)
        if isinstance(inner, dict) and "content" in inner:
            own = cast("dict[str, Any]", inner)
            # The speaker may be inside "kwargs": {"type": "constructor", "kwargs": {"type": "human", ...}}.
            kind = own.get("type") if key == "kwargs" else kind
            found = {"speaker": kind, "text": own["content"]} if kind in _LANGCHAIN else None
            return found and found | {call: own[call] for call in ("tool_calls",) if own.get(call)}
    has_speaker = any(key in cells for key in ("role", "speaker", "from", "author", "sender"))
    if kind not in _LANGCHAIN or "content" not in cells or has_speaker:
        return None
    return {"speaker": kind} | without(cells, "type", "content") | {"text": cells["content"]}


def _has(value: Any, wanted: Callable[[Value], bool]) -> bool:
    """Return whether one of the first `_SEEN` objects in a list meets a condition."""
    some = islice(cast("list[Any]", value), _SEEN) if isinstance(value, list) else ()
    return any(isinstance(one, dict) and wanted(cast("Value", one)) for one in some)


def _of_langchain(value: Value, _: Notices) -> dict[str, Any]:
    messages = [langchain_message(one) or one for one in value["messages"]]
    return without(value, "messages") | {"messages": messages}


def _of_rasa(value: Value, notices: Notices) -> dict[str, Any]:
    turns: list[Any] = []
    for event in cast("list[Any]", value["events"]):
        kind = event.get("event") if isinstance(event, dict) else None
        if kind in _SAID:
            turns.append({"speaker": kind, **without(event, "event")})
        else:
            notices.count(SERVICE, "left out")
    id = {"id": value["sender_id"]} if "id" not in value and "sender_id" in value else {}
    return without(value, "events", "sender_id") | id | {"messages": turns}


def _of_cohere(value: Value, _: Notices) -> dict[str, Any]:
    earlier = cast("list[Any]", value["chat_history"])
    # Cohere names no role for "message", the new message of the user. Use the role of the first message in
    # "chat_history", which the user wrote, too.
    first: Any = earlier[0] if earlier else None
    role = first.get("role", "USER") if isinstance(first, dict) else "USER"
    return without(value, "chat_history", "message") | {
        "messages": [*earlier, {"role": role, "message": value["message"]}]
    }


def _continued(value: Value) -> tuple[str, str] | None:
    """Return the keys of two lists that form a dialogue, such as ``prompt`` and ``chosen``; else None."""
    for first, seconds in _CONTINUED.items():
        second = next((key for key in seconds if _are_messages([value.get(key)])), None)
        if second is not None and _are_messages([value.get(first)]):
            return first, second
    return None


def _are_messages(lists: Iterable[Any]) -> bool:
    return all(_has(one, lambda message: "role" in message and "content" in message) for one in lists)


def _of_two_lists(value: Value, notices: Notices) -> dict[str, Any]:
    first, second = _continued(value) or ("", "")
    notices.count("rejected response", "left out", "rejected" in value and second == "chosen")
    return without(value, first, second, "rejected") | {"messages": [*value[first], *value[second]]}


def _of_ai_studio(value: Value, notices: Notices) -> dict[str, Any]:
    turns: list[Any] = []
    for chunk in cast("list[Any]", value["chunkedPrompt"]["chunks"]):
        if isinstance(chunk, dict) and cast("Value", chunk).get("isThought") is True:
            notices.count("thought", "left out")
        else:
            turns.append(chunk)
    prompt = value.get("systemInstruction")
    text = cast("Value", prompt).get("text") if isinstance(prompt, dict) else None
    system = [{"role": "system", "text": text}] if isinstance(text, str) and text.strip() else []
    return without(value, "chunkedPrompt", "systemInstruction", "runSettings") | {
        "messages": [*system, *turns]
    }


def _of_web_ui(value: Value, notices: Notices) -> dict[str, Any]:
    chat = cast("Value", value["chat"])
    messages = cast("list[Any]", chat["messages"])
    history = chat.get("history")
    whole: Any = cast("Value", history).get("messages") if isinstance(history, dict) else None
    if isinstance(whole, dict):
        others = len(cast("Value", whole)) - len(messages)
        notices.count("message", "of other branches left out", max(others, 0))
    return without(value, "chat") | {"messages": messages}


def is_chat_header(value: Any) -> bool:
    """Return whether the first entry of a file is the header of a chat, as SillyTavern writes it.

    The other entries of such a file are the messages of the chat.

    Args:
        value: The first entry of a file.

    Returns:
        True if the entry names the user and the character, and is no message.
    """
    return isinstance(value, dict) and {"user_name", "character_name"} <= value.keys() and "mes" not in value


def rows_of_exchange(value: Any) -> list[dict[str, Any]] | None:
    """Return a row for each message of an entry in the logs of Amazon Lex.

    >>> entry = {"sessionId": "s", "inputTranscript": "Rye", "messages": [{"content": "Ok."}]}
    >>> [(row["speaker"], row["text"]) for row in rows_of_exchange(entry)]
    [('user', 'Rye'), ('bot', 'Ok.')]

    Args:
        value: The entry.

    Returns:
        The rows: what the user said, and the answers of the bot; None for any other entry.
    """
    cells = cast("Value", value) if isinstance(value, dict) else {}
    said, answers = cells.get("inputTranscript"), cells.get("messages", [])
    if not isinstance(said, str) or "sessionId" not in cells or not isinstance(answers, list):
        return None
    shared = {key: cells[key] for key in ("sessionId", "timestamp") if key in cells}
    contents = [one.get("content") for one in cast("list[Any]", answers) if isinstance(one, dict)]
    return [{**shared, "speaker": "user", "text": said}] + [
        {**shared, "speaker": "bot", "text": content} for content in contents
    ]


def _of_activities(value: Value, notices: Notices) -> dict[str, Any]:
    turns: list[Any] = []
    for one in cast("list[Any]", value["activities"]):
        activity: Value = cast("Value", one) if isinstance(one, dict) else {}
        if activity.get("type") != "message":
            notices.count(SERVICE, "left out")
            continue
        sender = activity.get("from")
        role = cast("Value", sender).get("role") if isinstance(sender, dict) else None
        speaker = _BOT_FRAMEWORK.get(role, str(role)) if isinstance(role, int) else role or sender
        turns.append({"speaker": speaker} | without(activity, "from", "type"))
    return without(value, "activities") | {"messages": turns}


def _of_dialogflow(value: Value, notices: Notices) -> dict[str, Any]:
    turns: list[Any] = []
    for one in cast("list[Any]", value["interactions"]):
        result = inside(one, "response", "queryResult")
        said = inside(one, "request", "queryInput", "text", "text") or inside(result, "transcript")
        if isinstance(said, str):
            turns.append({"speaker": "user", "text": said})
        else:
            # The entry contains no text of the user: the user pressed a button, or the bot began the
            # conversation.
            notices.count(SERVICE, "left out")
        for message in cast("list[Any]", inside(result, "responseMessages") or []):
            texts = inside(message, "text", "text")
            if isinstance(texts, list):
                turns.extend({"speaker": "bot", "text": text} for text in cast("list[Any]", texts))
            else:
                notices.count(SERVICE, "left out")
    name = str(value.get("name", "")).rpartition("/")[2]
    return ({"id": name} if name else {}) | without(value, "interactions", "name") | {"messages": turns}


def _of_monologues(value: Value, _: Notices) -> dict[str, Any]:
    turns = [
        {
            "speaker": one.get("speaker"),
            "text": "".join(
                str(part.get("value", "")) for part in cast("list[Any]", one.get("elements", []))
            ),
        }
        for one in cast("list[Any]", value["monologues"])
    ]
    return without(value, "monologues") | {"messages": turns}


def rocket_chat_message(value: Any) -> Any:
    """Return a message of Rocket.Chat with the speaker under the key ``user``; any other value unchanged.

    Args:
        value: The message.

    Returns:
        The message.
    """
    cells = cast("Value", value) if isinstance(value, dict) else {}
    is_message = isinstance(cells.get("u"), dict) and "msg" in cells
    return {"user": cells["u"]} | without(cells, "u") if is_message else value


def _of_rocket_chat(value: Value, _: Notices) -> dict[str, Any]:
    messages = list(map(rocket_chat_message, cast("list[Any]", value["messages"])))
    return without(value, "messages") | {"messages": messages}


def _of_matrix(value: Value, notices: Notices) -> dict[str, Any]:
    events = [cast("Value", one) for one in cast("list[Any]", value["messages"]) if isinstance(one, dict)]
    names = {
        str(one.get("state_key") or one.get("sender")): inside(one, "content", "displayname")
        for one in events
        if one.get("type") == "m.room.member"
    }
    edits = {
        inside(one, "content", "m.relates_to", "event_id"): inside(one, "content", "m.new_content", "body")
        for one in events
        if inside(one, "content", "m.relates_to", "rel_type") == "m.replace"
    }
    turns: list[Any] = []
    for one in events:
        if kind := _matrix_kind(one):
            notices.count(kind, "left out")
            continue
        body, quotations = _QUOTED.subn("", str(inside(one, "content", "body")), count=1)
        notices.count("quotation", "left out", quotations)
        body = edits.get(one.get("event_id")) or body
        sender = str(one.get("sender"))
        time = {"timestamp": one["origin_server_ts"]} if "origin_server_ts" in one else {}
        turns.append({"speaker": {"id": sender, "name": names.get(sender) or sender}, "text": body} | time)
    return without(value, "messages") | {"messages": turns}


def _matrix_kind(event: Value) -> str:
    """Return the kind of a Matrix event that is left out, such as ``edit``; empty for a text message."""
    if event.get("type") != "m.room.message":
        return _MATRIX.get(str(event.get("type")), SERVICE)
    if not event.get("content"):
        return DELETED
    if inside(event, "content", "m.relates_to", "rel_type") == "m.replace":
        return "edit"
    kind = inside(event, "content", "msgtype")
    return "" if kind in _SPOKEN else "bot message" if kind == "m.notice" else MEDIA

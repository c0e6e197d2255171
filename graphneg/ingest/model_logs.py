"""Convert logs of chats with language models and bots in which the turns are not a plain list of messages.

These kinds of entries are recognized. `converter_of` returns the function that converts an entry into an
object with a list of turns:

- Messages of LangChain, with the text in ``data`` or ``kwargs``, and the speaker in ``type``.
- A tracker of Rasa: ``sender_id`` and ``events``. The turns are the events ``user`` and ``bot``.
- A request to Cohere: ``chat_history`` with the earlier turns, and ``message`` with the last one.
- Two lists of messages: ``prompt`` or ``input``, continued by ``chosen``, ``completion`` or ``output``.
- A prompt of Google AI Studio: ``chunkedPrompt`` with ``chunks``, some of which are thoughts.
- A chat of Open WebUI: ``chat`` with the ``messages`` that the user sees.

>>> value = {"prompt": [{"role": "user", "content": "Hi."}], "chosen": [{"role": "bot", "content": "Hello."}]}
>>> [turn["content"] for turn in converter_of(value)(value, Notices())["messages"]]
['Hi.', 'Hello.']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, cast

from graphneg.ingest.loader import Notices
from graphneg.ingest.values import SERVICE

Value = Mapping[str, Any]
Converter = Callable[[Value, Notices], dict[str, Any]]

_LANGCHAIN = frozenset({"human", "ai", "system", "tool", "function"})
"""Types of messages in LangChain. They are used as the names of speakers."""
_CONTINUED = {"prompt": ("chosen", "completion", "response"), "input": ("output",)}
"""Keys of two lists of messages, of which the second continues the first."""
_SAID = ("user", "bot")
"""Types of Rasa events that are messages. They are also used as the names of speakers."""
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
        return _of_langchain if langchain_message(messages[0]) is not None else None
    if isinstance(value.get("turns"), list):
        return None
    if "events" in value and _has(value["events"], lambda one: one.get("event") in _SAID and "text" in one):
        return _of_rasa
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
    return {"speaker": kind} | _others(cells, "type", "content") | {"text": cells["content"]}


def _has(value: Any, wanted: Callable[[Value], bool]) -> bool:
    """Return whether a condition is true for one of the first `_SEEN` objects in a list."""
    some = islice(cast("list[Any]", value), _SEEN) if isinstance(value, list) else ()
    return any(isinstance(one, dict) and wanted(cast("Value", one)) for one in some)


def _others(value: Value, *used: str) -> dict[str, Any]:
    return {key: one for key, one in value.items() if key not in used}


def _of_langchain(value: Value, _: Notices) -> dict[str, Any]:
    messages = [langchain_message(one) or one for one in value["messages"]]
    return _others(value, "messages") | {"messages": messages}


def _of_rasa(value: Value, notices: Notices) -> dict[str, Any]:
    turns: list[Any] = []
    for event in cast("list[Any]", value["events"]):
        kind = event.get("event") if isinstance(event, dict) else None
        if kind in _SAID:
            turns.append({"speaker": kind, **_others(event, "event")})
        else:
            notices.count(SERVICE, "left out")
    id = {"id": value["sender_id"]} if "id" not in value and "sender_id" in value else {}
    return _others(value, "events", "sender_id") | id | {"messages": turns}


def _of_cohere(value: Value, _: Notices) -> dict[str, Any]:
    earlier = cast("list[Any]", value["chat_history"])
    # Cohere stores no role for "message", which the user wrote. The user also wrote the first message of
    # "chat_history", so use its role.
    first: Any = earlier[0] if earlier else None
    role = first.get("role", "USER") if isinstance(first, dict) else "USER"
    return _others(value, "chat_history", "message") | {
        "messages": [*earlier, {"role": role, "message": value["message"]}]
    }


def _continued(value: Value) -> tuple[str, str] | None:
    """Return the keys of a list of messages and of its continuation, such as ``prompt`` and ``chosen``."""
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
    return _others(value, first, second, "rejected") | {"messages": [*value[first], *value[second]]}


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
    return _others(value, "chunkedPrompt", "systemInstruction", "runSettings") | {
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
    return _others(value, "chat") | {"messages": messages}

"""Convert requests to language models, and training data for them, into objects with a list of messages.

These files do not list the messages of a dialogue under one key. They contain, for example, a request with
its response, a list of pairs of question and answer, or a history with the last question and answer:

>>> entry = {"history": [["Hi.", "Hello."]], "instruction": "Is it late?", "output": "Yes."}
>>> [one["text"] for one in request_converter(entry)(entry, Notices())["messages"]]
['Hi.', 'Hello.', 'Is it late?', 'Yes.']

`request_converter` is called for each entry of large files, so it first looks for the few keys that all these
formats have.
"""

from __future__ import annotations

from typing import Any, cast

from graphneg.ingest.json_objects import Converter, Value, inside, without
from graphneg.ingest.loader import Notices
from graphneg.ingest.values import ALTERNATIVE

_REQUESTS = ("body", "params", "request", "input")
"""Keys whose value is the request: in batches of OpenAI and Anthropic, in logs, in data for preference
training."""
_ANSWERS = (
    ("response", "body", "choices"), ("response", "choices"), ("response", "candidates"),
    ("response", "body", "content"), ("response", "content"), ("preferred_output",), ("choices",),
    ("candidates",),
)  # fmt: skip
"""Paths to the answers of the model, of which the first one continues the request."""
_IDS = ("id", "custom_id", "request_id", "key")
_PAIRS = (
    ("input", "output"), ("human", "assistant"), ("user", "assistant"), ("human", "bot"), ("user", "bot"),
    ("question", "answer"), ("prompt", "response"), ("prompt", "completion"), ("instruction", "output"),
    ("query", "response"),
)  # fmt: skip
"""Keys of an object with a message and its answer."""
_PAIR_LISTS = ("conversation", "dialogue", "dialog", "turns", "history", "messages")
_USER, _ASSISTANT = "user", "assistant"
_KEYS = frozenset({*_REQUESTS, *_PAIR_LISTS, "chosen", "data"})
_FEWEST_TEXTS = 2


def request_converter(value: Value) -> Converter | None:
    """Return the function that converts a request or an example of training data.

    Args:
        value: The entry.

    Returns:
        The function; None if the entry has none of the shapes of this module.
    """
    if _KEYS.isdisjoint(value):
        return None
    if any(_request_messages(value.get(key)) is not None for key in _REQUESTS):
        return _of_request
    if any(map(_are_pairs, map(value.get, _PAIR_LISTS))):
        return _of_pairs
    if _has_history(value):
        return _of_history
    if _are_messages(value.get("chosen")) and "prompt" not in value:
        return _of_chosen
    return _of_texts if _are_texts(value) else None


# Requests to a language model, with its responses


def _request_messages(request: Any) -> str | None:
    """Return the key of the messages of a request; None for any other value."""
    if not isinstance(request, dict):
        return None
    return next((key for key in ("messages", "contents") if _are_messages(request.get(key))), None)


def _are_messages(value: Any) -> bool:
    first: Any = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and "role" in first and ("content" in first or "parts" in first)


def _of_request(value: Value, notices: Notices) -> dict[str, Any]:
    name = next(key for key in _REQUESTS if _request_messages(value.get(key)) is not None)
    request = cast("Value", value[name])
    messages = [_plain_parts(one) for one in request[_request_messages(request) or ""]]
    answers = next((found for path in _ANSWERS if (found := inside(value, *path))), None)
    # An API may return several alternative answers ("choices"). Only the first one becomes a turn.
    choices = cast("list[Any]", answers) if isinstance(answers, list) else []
    is_content = bool(choices) and isinstance(choices[0], dict) and isinstance(choices[0].get("type"), str)
    if is_content and "role" not in choices[0]:
        # Anthropic's API returns one message as a list of its parts: [{"type": "text", "text": "Hi."}].
        messages.append({"role": _ASSISTANT, "content": choices})
    elif choices and "role" in choices[0]:
        messages.extend(choices)
    elif choices:
        messages.append(_plain_parts(inside(choices[0], "message") or inside(choices[0], "content")))
        notices.count(ALTERNATIVE, "left out", len(choices) - 1)
    notices.count("rejected response", "left out", bool(value.get("non_preferred_output")))
    answered = ("response", "choices", "candidates", "preferred_output", "non_preferred_output")
    others = without(value, name, *answered)
    id = next((value[key] for key in _IDS if isinstance(value.get(key), str | int)), None)
    return ({} if id is None else {"id": id}) | others | {"messages": messages}


def _plain_parts(message: Any) -> Any:
    """Return a message of Gemini's API with its parts under the key ``content``."""
    if not isinstance(message, dict) or "parts" not in message:
        return message
    cells = cast("dict[str, Any]", message)
    return {"role": _USER} | without(cells, "parts") | {"content": cells["parts"]}


# Dialogues as lists of pairs, each with a question and an answer


def _pair_of(value: Any) -> tuple[str, str] | None:
    """Return the question and the answer of a pair; None for any other value."""
    if isinstance(value, dict):
        cells = cast("Value", value)
        keys = next((pair for pair in _PAIRS if pair[0] in cells and pair[1] in cells), None)
        found = [cells[key] for key in keys] if keys is not None else []
    else:
        found = cast("list[Any]", value) if isinstance(value, list) else []
    both = len(found) == len(("question", "answer")) and all(isinstance(one, str) for one in found)
    return (found[0], found[1]) if both else None


def _are_pairs(value: Any) -> bool:
    # Accept only objects, such as {"question": "Hi.", "answer": "Ho."}. A list, ["Hi.", "Ho."], may also be
    # two turns, or two cells of a table.
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, dict) and _pair_of(one) is not None for one in cast("list[Any]", value))
    )


def _turns_of(pairs: Any) -> list[dict[str, str]]:
    said = [_pair_of(one) or ("", "") for one in pairs]
    return [
        {"speaker": speaker, "text": text}
        for pair in said
        for speaker, text in zip((_USER, _ASSISTANT), pair, strict=True)
    ]


def _of_pairs(value: Value, _: Notices) -> dict[str, Any]:
    name = next(key for key in _PAIR_LISTS if _are_pairs(value.get(key)))
    return without(value, name) | {"messages": _turns_of(value[name])}


def _has_history(value: Value) -> bool:
    history = value.get("history")
    return (
        isinstance(history, list)
        and all(_pair_of(one) is not None for one in cast("list[Any]", history))
        and any(isinstance(value.get(key), str) for key in ("instruction", "query", "prompt"))
        and any(isinstance(value.get(key), str) for key in ("output", "response"))
    )


def _of_history(value: Value, _: Notices) -> dict[str, Any]:
    asked = next(key for key in ("instruction", "query", "prompt") if isinstance(value.get(key), str))
    answered = next(key for key in ("output", "response") if isinstance(value.get(key), str))
    more = value.get("input")
    # In data sets such as Alpaca, "instruction" may refer to a text in "input". Join them to one question.
    question = "\n".join(one for one in (value[asked], more) if isinstance(one, str) and one.strip())
    messages = _turns_of([*value["history"], [question, value[answered]]])
    return without(value, "history", asked, answered, "input") | {"messages": messages}


# Training data


def _of_chosen(value: Value, notices: Notices) -> dict[str, Any]:
    notices.count("rejected response", "left out", "rejected" in value)
    return without(value, "chosen", "rejected") | {"messages": value["chosen"]}


def _are_texts(value: Value) -> bool:
    # UltraChat writes {"id": "0", "data": ["Hi.", "Hello."]}. Without an id, "data" may be a row of a table.
    data = value.get("data")
    texts = cast("list[Any]", data) if isinstance(data, list) else []
    has_id = any(isinstance(value.get(key), str | int) for key in (*_IDS, "prompt_id"))
    return has_id and len(texts) >= _FEWEST_TEXTS and all(isinstance(one, str) for one in texts)


def _of_texts(value: Value, _: Notices) -> dict[str, Any]:
    return without(value, "data") | {"messages": value["data"]}

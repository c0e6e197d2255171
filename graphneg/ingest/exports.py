"""Convert exports of chat programs and help desks in which a dialogue is not stored as a list of turns.

Seven kinds of entries are recognized. `as_dialogue` converts them to objects with a list of turns:

- A conversation of ChatGPT's ``conversations.json``: a ``mapping`` of nodes, each with its ``parent``. The
  turns are the path from the root to ``current_node``, the message that the user last saw.
- A message tree of OpenAssistant (OASST): a ``prompt`` with nested ``replies``. Each path from the prompt to
  a last reply is a conversation, but these conversations share turns. Only one path is used, which continues
  after each message with the reply that has the best ``rank``.
- A conversation of Intercom's API: a ``source`` (the first message, with its subject) and
  ``conversation_parts``.
- A ticket of Freshdesk's API: a description (the first message) and ``conversations``.
- A conversation of Facebook's or Instagram's download: ``participants`` and ``messages``.
- A conversation of Help Scout's API: ``_embedded`` with ``threads``.
- A log of a language model or bot (see `graphneg.ingest.model_logs`).

>>> nodes = {"a": {"parent": None, "message": {"author": {"role": "user"}, "content": {"parts": ["Hi."]}}}}
>>> as_dialogue({"id": 7, "mapping": nodes, "current_node": "a"}, Notices())
{'id': 7, 'turns': [{'speaker': 'user', 'text': 'Hi.'}]}

`best_path` is also used for OASST's flat files, which have one message per row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar, cast

from graphneg.ingest.content import ItemError
from graphneg.ingest.html_text import plain_text
from graphneg.ingest.json_objects import Converter, Value, objects, without
from graphneg.ingest.loader import Notices
from graphneg.ingest.model_logs import converter_of
from graphneg.ingest.turns import DELETED, MEDIA, PROMPT, ROLES
from graphneg.ingest.values import is_yes

T = TypeVar("T")

_SPOKEN = ("text", "multimodal_text")
"""Content types of ChatGPT messages that contain what somebody wrote or said."""
_UNSPOKEN = {"thoughts": "thought", "reasoning_recap": "thought", "code": "tool call"}
"""Other content types of ChatGPT messages, with the names that notices use for them."""
_DEEPSEEK = {"REQUEST": "user", "RESPONSE": "assistant"}
"""Types of the parts of a message of DeepSeek that somebody wrote, with the speakers."""
_DEEPSEEK_UNSPOKEN = {"THINK": "thought", "SEARCH": "tool call", "FILE": "file"}
_PROMPTS = ("user_editable_context", "model_editable_context")
"""Content types of ChatGPT messages that tell the model facts about the user. They are system prompts."""
_FACEBOOK_LINES = frozenset({
    "sent an attachment.", "sent a photo.", "sent a video.", "sent a voice message.", "sent a GIF.",
    "sent a sticker.", "sent a link.", "sent a location.", "sent a live location.",
})  # fmt: skip
"""Texts that Facebook writes after a name, such as "Ann sent a photo.", if the message was not a text."""
# Matches texts that Facebook writes for reactions: "Reacted ❤ to your message", "Liked a message".
_REACTION = re.compile(r"Reacted \S{1,12} to your message|Liked a message")
_FOREIGN = "in another language left out"


def is_export(value: Any) -> bool:
    """Return whether an entry has one of the shapes that `as_dialogue` converts.

    Args:
        value: A decoded entry of a file.

    Returns:
        True if `as_dialogue` can convert the entry.
    """
    return isinstance(value, dict) and _converter(cast("Value", value)) is not None


def as_dialogue(value: Value, notices: Notices) -> dict[str, Any]:
    """Convert an entry of an export into an object with a list of turns.

    Raises `ItemError` if the entry is malformed, for example if its links between messages form a cycle.

    Args:
        value: An entry for which `is_export` is true.
        notices: Notices to the user, which count the messages that are left out.

    Returns:
        An object with the turns under ``turns`` or ``messages``, and with the remaining keys of the entry.
    """
    converter = _converter(value)
    return dict(value) if converter is None else converter(value, notices)


def _converter(value: Value) -> Converter | None:
    nodes = value.get("mapping")
    if isinstance(nodes, dict) and ("current_node" in value or _has_messages(cast("Value", nodes))):
        return _of_chatgpt
    if isinstance(prompt := value.get("prompt"), dict) and (
        "replies" in prompt or "message_tree_id" in value
    ):
        return _of_oasst
    if isinstance(value.get("conversation_parts"), dict | list):
        return _of_intercom
    embedded = value.get("_embedded")
    if isinstance(embedded, dict) and isinstance(cast("Value", embedded).get("threads"), list):
        return _of_help_scout
    if isinstance(value.get("participants"), list) and _is_facebook(value.get("messages")):
        return _of_facebook
    # In Freshdesk, "description" is the first message. In other formats, it describes the whole dialogue.
    # So treat the entry as a Freshdesk ticket only if it has another key of Freshdesk.
    described = isinstance(value.get("description_text"), str) or (
        isinstance(value.get("description"), str) and "requester_id" in value
    )
    if described and isinstance(value.get("conversations"), list):
        return _of_freshdesk
    return _of_tree if _is_tree(value) else converter_of(value)


def _is_tree(value: Value) -> bool:
    """Return whether a post contains its answers, which contain their answers, as on Hacker News."""
    answers = value.get("children")
    if not isinstance(answers, list) or not answers:
        return False
    return _is_post(value) and all(_is_post(one) for one in objects(answers)) and bool(objects(answers))


def _is_post(value: Value) -> bool:
    return "author" in value and "text" in value and "parent_id" in value and "children" in value


def _has_messages(nodes: Value) -> bool:
    return any(isinstance(node, dict) and "message" in node for node in islice(nodes.values(), 2))


# ChatGPT


def _of_chatgpt(value: Value, notices: Notices) -> dict[str, Any]:
    nodes = cast("Value", value["mapping"])
    last = value.get("current_node")
    path = _path(nodes, _last_node(nodes) if last is None else last)
    turns: list[dict[str, Any]] = []
    for name, node in path:
        message = node.get("message")
        # Skip nodes without a message: the root of the tree, and nodes whose message was removed.
        if message is None:
            continue
        if not isinstance(message, dict):
            raise ItemError(f"the message of the node {name[:40]!r} is not a JSON object")
        if isinstance(message.get("fragments"), list):
            turns.extend(_deepseek_turns(cast("Value", message), notices))
            continue
        turn = _chatgpt_turn(name, cast("Value", message), notices)
        if turn is not None:
            turns.append(turn)
    passed = {name for name, _ in path}
    beside = (node for name, node in nodes.items() if name not in passed and isinstance(node, dict))
    others = sum(cast("Value", node).get("message") is not None for node in beside)
    notices.count("message", "of other branches left out", others)
    return without(value, "mapping", "current_node") | {"turns": turns}


def _last_node(nodes: Value) -> str | None:
    """Return the end of the newest branch, in exports that do not name the last message (DeepSeek)."""
    passed = set[str]()
    at = next(
        (name for name, node in nodes.items() if isinstance(node, dict) and not node.get("parent")), None
    )
    while at is not None and at not in passed:
        passed.add(at)
        node: Any = nodes.get(at)
        # Continue with the last child of the message, which is the newest answer to it.
        below = cast("Value", node).get("children") if isinstance(node, dict) else None
        if not isinstance(below, list) or not below:
            # In ChatGPT's export, a missing "current_node" means that the conversation is incomplete.
            message = cast("Value", node).get("message") if isinstance(node, dict) else None
            return at if isinstance(message, dict) and "fragments" in message else None
        at = cast("list[Any]", below)[-1] if isinstance(below[-1], str) else None
    return None


def _deepseek_turns(message: Value, notices: Notices) -> list[dict[str, Any]]:
    """Return the turn of a message of DeepSeek, whose parts are a request, a response or a thought."""
    texts: dict[str, list[str]] = {}
    for part in objects(message["fragments"]):
        kind = str(part.get("type"))
        if kind in _DEEPSEEK and isinstance(part.get("content"), str):
            texts.setdefault(_DEEPSEEK[kind], []).append(part["content"])
        else:
            notices.count(_DEEPSEEK_UNSPOKEN.get(kind, f"content part of type {kind[:40]}"), "left out")
    time = {"create_time": message["inserted_at"]} if "inserted_at" in message else {}
    return [{"speaker": who, "text": "\n".join(said)} | time for who, said in texts.items()]


def _path(nodes: Value, last: Any) -> list[tuple[str, Value]]:
    """Return the names and nodes of ChatGPT's ``mapping`` on the path from the root to the node ``last``."""
    path: dict[str, Value] = {}
    at = last
    while at is not None:
        node = nodes.get(at) if isinstance(at, str) else None
        if not isinstance(node, dict):
            below = f"the parent of the node {next(reversed(path))[:40]!r}" if path else "'current_node'"
            raise ItemError(f"{below} is {str(at)[:40]!r}, which is not in 'mapping'")
        if at in path:
            raise ItemError(f"the parents of the node {last[:40]!r} form a cycle")
        path[at] = cast("Value", node)
        at = node.get("parent")
    if not path:
        raise ItemError("it has no 'current_node', so its last message is unknown")
    return list(reversed(path.items()))


def _chatgpt_turn(name: str, message: Value, notices: Notices) -> dict[str, Any] | None:
    """Convert a message into a turn. If it is not a turn but, say, a tool call, count it and return None."""
    author, content = message.get("author"), message.get("content")
    if not isinstance(author, dict) or not isinstance(role := author.get("role"), str):
        raise ItemError(f"the message of the node {name[:40]!r} has no author with a role")
    if not isinstance(content, dict):
        raise ItemError(f"the message of the node {name[:40]!r} has no content")
    metadata = message.get("metadata")
    kind = str(content.get("content_type", "text"))
    if (unsaid := PROMPT if kind in _PROMPTS else ROLES.get(role.casefold())) is not None:
        notices.count(unsaid, "kept out of the turns")
        return None
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation") is True:
        notices.count("hidden message", "left out")
        return None
    # If a message has a recipient, such as "python" or "browser", it calls a tool.
    if message.get("recipient", "all") not in ("all", None) and role != "user":
        notices.count("tool call", "left out")
        return None
    if kind not in _SPOKEN:
        notices.count(_UNSPOKEN.get(kind, f"message of type {kind[:40]}"), "left out")
        return None
    parts = content.get("parts")
    if parts is not None and not isinstance(parts, list):
        raise ItemError(f"the parts of the node {name[:40]!r} are not a list")
    said = cast("list[Any]", parts or [])
    unsaid = [
        _part_kind(cast("Value", part))
        for part in said
        if isinstance(part, dict) and not isinstance(part.get("text"), str)
    ]
    for part in unsaid:
        notices.count(part, "left out")
    texts = (part.get("text") if isinstance(part, dict) else part for part in said)
    text = "\n".join(one.strip() for one in texts if isinstance(one, str) and one.strip())
    # If a message contains only an image, the image was counted above. Do not count the message as an empty
    # turn as well.
    if unsaid and not text:
        return None
    time = message.get("create_time")
    return {"speaker": role, "text": text} | ({} if time is None else {"create_time": time})


def _part_kind(part: Value) -> str:
    kind = str(part.get("content_type"))
    # Images and sound have types such as "image_asset_pointer" and "audio_asset_pointer".
    return MEDIA if kind.endswith("asset_pointer") else f"content part of type {kind[:40]}"


# Trees of posts


def _of_tree(value: Value, notices: Notices) -> dict[str, Any]:
    """Convert a post with nested answers. The turns are sorted by time later."""
    title, text = value.get("title"), value.get("text")
    first = dict(value)
    if title and not text:
        # Use the title of a post without a text as its text. For example, a "Show HN" post of Hacker News has
        # only a title and a link.
        first["text"] = title
        notices.count("title", "put before the comments, as the post has no text")
    posts: list[Value] = [first]
    # The loop appends the answers to a post to the list over which it iterates. It ends, because an object in
    # JSON cannot contain itself.
    for post in posts:
        posts.extend(objects(post.get("children")))
    lengths = [len(objects(post.get("children"))) for post in posts]
    several = "with several replies to one message, kept as a single sequence of turns"
    notices.count("dialogue", several, any(length > 1 for length in lengths))
    id = {"id": value["id"]} if "id" in value else {}
    titled = {"title": title} if title else {}
    return id | titled | {"messages": [without(post, "children", "title", "url", "type") for post in posts]}


# OpenAssistant


def _of_oasst(value: Value, notices: Notices) -> dict[str, Any]:
    prompt = cast("Value", value["prompt"])
    messages = [prompt]
    # Collect all messages of the tree. The loop ends, because a reply in JSON cannot contain its own parent.
    for message in messages:
        messages.extend(_replies(message))
    path = best_path(messages, _replies, lambda message: message, notices)
    turns = [without(message, "replies") for message in path]
    return without(value, "prompt") | {"turns": turns}


def _replies(message: Value) -> Sequence[Value]:
    replies: Any = message.get("replies")
    if replies is None:
        return ()
    if not isinstance(replies, list) or not all(isinstance(reply, dict) for reply in replies):
        shown = str(message.get("message_id"))[:40]
        raise ItemError(f"the replies to the message {shown!r} are not a list of JSON objects")
    return cast("list[Value]", replies)


def best_path(
    messages: Sequence[T],
    replies: Callable[[T], Sequence[T]],
    cells: Callable[[T], Value],
    notices: Notices,
) -> list[T]:
    """Return the path through a message tree that continues with the best reply to each message.

    The best reply has the lowest ``rank``. Replies without a rank come last, and replies with
    equal ranks keep their order. Replies that were deleted, or are in a different language from the first
    message, are not used.

    Args:
        messages: All messages of the tree. The first message is the root.
        replies: Function that returns the replies to a message.
        cells: Function that returns a message as a mapping with keys such as ``rank``.
        notices: Notices to the user, which count the messages that are left out.

    Returns:
        The messages of the path.

    Raises:
        ItemError: The first message was deleted.
    """
    first = messages[0]
    language = cells(first).get("lang")

    def unusable(message: T) -> str:
        if is_yes(cells(message).get("deleted")):
            return DELETED
        own = cells(message).get("lang")
        return _FOREIGN if own and language and own != language else ""

    if unusable(first):
        raise ItemError("its first message was deleted")
    path, at = list[T](), [first]
    while at:
        path.append(at[0])
        at = sorted(
            (one for one in replies(path[-1]) if not unusable(one)), key=lambda one: _rank(cells(one))
        )
    reasons = [unusable(message) for message in messages]
    notices.count(DELETED, "left out", reasons.count(DELETED))
    notices.count("message", _FOREIGN, reasons.count(_FOREIGN))
    notices.count("message", "of other branches left out", reasons.count("") - len(path))
    return path


def _rank(cells: Value) -> float:
    try:
        return float(cells.get("rank", ""))
    except (TypeError, ValueError):
        return float("inf")


# Facebook and Instagram


def _is_facebook(messages: Any) -> bool:
    first: Any = messages[0] if isinstance(messages, list) and messages else None
    return isinstance(first, dict) and "sender_name" in first and "timestamp_ms" in first


def _of_facebook(value: Value, notices: Notices) -> dict[str, Any]:
    # Facebook writes each byte of a UTF-8 text as one character: "M\u00c3\u00bcller" for "Müller".
    texts = [text for text in _texts_in(value) if not text.isascii()]
    if texts and all(_repaired(text) is not None for text in texts):
        notices.count("text", "with garbled letters repaired", len(texts))
        value = _with_texts(value, lambda text: _repaired(text) or text)
    messages: list[Any] = []
    for message in value["messages"]:
        if isinstance(message, dict) and (kind := _facebook_kind(cast("Value", message))):
            notices.count(kind, "left out")
        else:
            messages.append(message)
    return without(value, "messages") | {"messages": messages}


def _facebook_kind(message: Value) -> str:
    """Return the kind of a message that Facebook wrote for a user; empty if the user wrote it."""
    text = message.get("content")
    if not isinstance(text, str):
        return ""
    line = text.strip().removeprefix(str(message.get("sender_name"))).removeprefix("You").strip()
    if line in _FACEBOOK_LINES and line != text.strip():
        return MEDIA
    return "reaction" if _REACTION.fullmatch(text.strip()) else ""


def _texts_in(value: Any) -> Iterator[str]:
    """Yield all texts in a JSON value, without the keys of objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        parts = cast("Value", value).values() if isinstance(value, dict) else cast("list[Any]", value)
        for part in parts:
            yield from _texts_in(part)


def _with_texts(value: Any, changed: Callable[[str], str]) -> Any:
    """Apply a function to every text in a JSON value, and return the changed value."""
    if isinstance(value, str):
        return changed(value)
    if isinstance(value, list):
        return [_with_texts(part, changed) for part in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _with_texts(part, changed) for key, part in cast("Value", value).items()}
    return value


def _repaired(text: str) -> str | None:
    r"""Return the original of a text in which each UTF-8 byte became one character; None for other texts.

    >>> _repaired("M\u00c3\u00bcller"), _repaired("M\u00fcller")
    ('Müller', None)
    """
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return None


# Help desks


def _of_intercom(value: Value, notices: Notices) -> dict[str, Any]:
    parts: Any = value["conversation_parts"]
    # Intercom's API puts the list into an object: {"conversation_parts": {"conversation_parts": [...]}}.
    parts = parts.get("conversation_parts") if isinstance(parts, dict) else parts
    if not isinstance(parts, list):
        raise ItemError("'conversation_parts' contains no list of parts")
    # A part may have no text, for example if it only assigns the conversation to a colleague. It becomes an
    # empty turn, which is later left out and counted.
    whole = [{"body": None} | part if isinstance(part, dict) else part for part in cast("list[Any]", parts)]
    first = _first_message(value.get("source"), value.get("created_at"))
    messages: list[Any] = [*first, *whole]
    # The subject of an e-mail is added to the text, because the body often does not repeat it.
    subject = plain_text(_text_of(value.get("source"), "subject"))
    if first and not _is_contained(subject, [_text_of(message, "body") for message in messages]):
        first[0]["body"] = "\n".join(filter(None, (subject, _text_of(first[0], "body"))))
        notices.count("subject", "put before the text of the first message")
    return without(value, "conversation_parts", "source") | {"messages": messages}


def _of_help_scout(value: Value, _: Notices) -> dict[str, Any]:
    return without(value, "_embedded") | {"threads": cast("Value", value["_embedded"])["threads"]}


def _first_message(source: Any, time: Any) -> list[dict[str, Any]]:
    if not isinstance(source, dict):
        return []
    fields = cast("Value", source)
    return [{"body": fields.get("body"), "author": fields.get("author"), "created_at": time}]


def _of_freshdesk(value: Value, notices: Notices) -> dict[str, Any]:
    answers = cast("list[Any]", value["conversations"])
    text, page = _text_of(value, "description_text"), plain_text(_text_of(value, "description"))
    # Freshdesk writes the description twice, as plain text and as HTML. The plain text may be missing or
    # shortened, so check whether the HTML contains more.
    if not _is_contained(page, [text, *(_text_of(one, "body_text", "body") for one in answers)]):
        text = page if _is_contained(text, [page]) else f"{text}\n{page}"
        notices.count("description", "converted from HTML to text")
    first = {"body_text": text, "user_id": value.get("requester_id"), "created_at": value.get("created_at")}
    return without(value, "description_text", "description", "conversations") | {
        "messages": [first, *answers]
    }


def _text_of(value: Any, *keys: str) -> str:
    """Return the first value of the given keys that is a non-blank text; an empty string if there is none."""
    found = (cast("Value", value).get(key) for key in keys) if isinstance(value, dict) else ()
    return next((text for text in found if isinstance(text, str) and text.strip()), "")


def _is_contained(text: str, others: Iterable[str]) -> bool:
    """Return whether one of the other texts contains the same sequence of words. Ignore HTML tags."""
    words = _words(text)
    return not words.strip() or any(words in _words(plain_text(other)) for other in others)


def _words(text: str) -> str:
    # Add a blank at both ends, so that searching for " cat " does not find "category".
    return " ".join(["", *re.findall(r"[^\W_]+", text.casefold()), ""])

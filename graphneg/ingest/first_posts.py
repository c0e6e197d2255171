"""Add the post that opens a discussion to its comments.

In exports of GitHub and of forums, an object contains the text of the post, its author and a list of
comments. The post is the first turn of the dialogue:

>>> issue = {"body": "It crashes.", "author": "Ann", "comments": [{"author": "Bo", "body": "Which version?"}]}
>>> with_first_post(issue, Fields({}), Notices())["comments"]
[{'author': 'Ann', 'body': 'It crashes.'}, {'author': 'Bo', 'body': 'Which version?'}]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from graphneg.ingest.fields import Fields, plain_names
from graphneg.ingest.loader import Notices
from graphneg.ingest.values import speaker_name

Value = Mapping[str, Any]

_ANSWERS = frozenset({"comments", "replies", "answers"})
"""Keys of lists whose members answer the post. Lists such as ``messages`` contain the post themselves."""


def with_first_post(value: Value, fields: Fields, notices: Notices) -> Value:
    """Add the post that opens a discussion to its comments, as the first turn.

    Args:
        value: A dialogue, such as an issue with comments.
        fields: Look-up from a field, such as the text, to the key that contains it.
        notices: Notices to the user, in which the post is counted if it becomes a turn.

    Returns:
        The dialogue; unchanged if it has no comments, or its text or author is unknown.
    """
    if _ANSWERS.isdisjoint(map(str.casefold, value)):
        return value
    key = fields.turns_of(value)
    if key is None or _ANSWERS.isdisjoint(plain_names([key])) or not isinstance(value[key], list):
        return value
    found = fields.of({name: one for name, one in value.items() if name != key})
    text, author = value.get(found.get("text", "")), value.get(found.get("speaker", ""))
    if not isinstance(text, str) or not text.strip() or speaker_name(author) is None:
        return value
    comments = cast("list[Any]", value[key])
    said = [one.get(fields.of(one).get("text", "")) for one in comments if isinstance(one, dict)]
    # In Zendesk, the description of a ticket repeats its first comment. It must not become a second turn.
    if len(said) < len(comments) or text in said:
        return value
    # Store the post under the keys of the comments, such as "body", so that all turns have the same keys.
    known = fields.of(comments[0]) if comments else found
    post: dict[str, Any] = {known.get("speaker", "speaker"): author, known.get("text", "text"): text}
    if "time" in known and (at := fields.time_of(value)) is not None:
        post[known["time"]] = at
    notices.count("post", "put before the comments")
    used = {found[field] for field in ("text", "speaker")}
    return {name: one for name, one in value.items() if name not in used} | {key: [post, *comments]}

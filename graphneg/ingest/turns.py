"""Remove the turns of a dialogue that nobody says.

Exports of chats with language models contain system prompts, tool calls and empty messages. They are
not turns of the conversation, so they are removed and the remaining turns are renumbered. Texts that a
site puts in place of a deleted message, and lines that stand for images, are removed, too. Texts with
HTML entities or a tokenizer's spaces are repaired if the caller asks for it. The notices of the load
count every change.

>>> said = [("system", "Be brief."), ("Ann", "Hello."), ("Bo", ""), ("tool", "{}"), ("Bo", "Hi!")]
>>> turns = tuple(Utterance(turn, *one) for turn, one in enumerate(said))
>>> options = LoadOptions()
>>> kept = of_turns(Dialogue("chats/all/1", "chats", "all", turns), options)
>>> [(one.turn, one.speaker, one.text) for one in kept.utterances], kept.attributes
([(0, 'Ann', 'Hello.'), (1, 'Bo', 'Hi!')], {'system': 'Be brief.'})
>>> sorted(options.notices.lines())
['1 empty turn left out', '1 system message kept out of the turns', '1 tool message kept out of the turns']
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from graphneg.english.tokens import closed_up, is_cut_up
from graphneg.ingest.loader import LoadOptions, Notices
from graphneg.model import Dialogue, Response, Utterance

EMPTY, DELETED, MEDIA = "empty turn", "deleted message", "media placeholder"
PROMPT, TOOL = "system message", "tool message"
ROLES = {
    **dict.fromkeys(("system", "developer"), PROMPT),
    **dict.fromkeys(
        ("tool", "tool_call", "function", "function_call", "function_response", "observation"), TOOL
    ),
}
"""Lower-case speaker names that are not participants of the conversation, with the kind of their messages."""
# "[deleted]", "[removed]", "[ Removed by Reddit ]", "[deleted by user]"
_DELETED = re.compile(r"\[\s*(?:deleted|removed)(?:\s+by\s[^\[\]]{1,120})?\s*\]", re.IGNORECASE)
# "<image>\nWhat is this?": data sets for models of images and text mark the place of an image like this.
_MEDIA_LINE = re.compile(
    r"^[ \t]*<(?:image|video|audio)>[ \t]*(?:\n|\Z)|\n[ \t]*<(?:image|video|audio)>[ \t]*\Z"
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_SPOILT = "with HTML entities or the blanks of a tokeniser"


def of_turns(dialogue: Dialogue, options: LoadOptions) -> Dialogue:
    """Return the dialogue without empty turns, system prompts and tool messages.

    The remaining turns are numbered anew. A response is attached to the last remaining turn at or
    before its own turn, and is dropped if there is none. System prompts become the attribute ``system``
    of the dialogue.

    Args:
        dialogue: The dialogue as a loader read it.
        options: ``clean`` repairs the texts; ``notices`` counts the changes.

    Returns:
        The dialogue with consecutive turn numbers.
    """
    said = [replace(one, text=_mended(_shown(one.text, options), options)) for one in dialogue.utterances]
    responses = [replace(one, text=_mended(one.text, options)) for one in dialogue.responses]
    silent = [_silent(one, roles) for roles in [_roles(said)] for one in said]
    of_deleted = sum(not why and _is_deleted(one.speaker) for one, why in zip(said, silent, strict=True))
    # Two deleted accounts look like one speaker.
    options.notices.count("turn", "of deleted accounts kept: they all have one name", of_deleted)
    if not any(silent) and not any(_unanswering(one) for one in responses):
        return replace(dialogue, utterances=tuple(said), responses=tuple(responses))
    kept = [one for one, reason in zip(said, silent, strict=True) if reason is None]
    answering = _answering(responses, [one.turn for one in kept], options.notices)
    prompts = [one.text for one, reason in zip(said, silent, strict=True) if reason == PROMPT]
    for reason in filter(None, silent):
        options.notices.count(reason, "kept out of the turns" if reason in ROLES.values() else "left out")
    return replace(
        dialogue,
        utterances=tuple(replace(one, turn=turn) for turn, one in enumerate(kept)),
        responses=tuple(answering),
        attributes={**({"system": "\n".join(prompts)} if prompts else {}), **dialogue.attributes},
    )


def _silent(utterance: Utterance, roles: frozenset[str]) -> str | None:
    """Return why an utterance is not a turn, or None if it is one."""
    if not utterance.text.strip():
        return EMPTY
    if _is_deleted(utterance.text):
        return DELETED
    name = utterance.speaker.casefold()
    return ROLES[name] if name in roles else None


def _roles(said: Sequence[Utterance]) -> frozenset[str]:
    """Return the names of speakers in ``ROLES`` who take no part in the conversation."""
    names = [one.speaker.casefold() for one in said]
    roles = frozenset(names) & ROLES.keys()
    others = set(names) - roles
    # "system" may also be the name of a dialogue system that talks to a user (user: "A table for two." /
    # system: "For what time?"). It counts as a participant if there is at most one other speaker and
    # "system" speaks after that one.
    if len(others) > 1:
        return roles
    opening = list(takewhile(roles.__contains__, names))
    return frozenset(opening).difference(names[len(opening) :])


def _answering(responses: Sequence[Response], kept: Sequence[int], notices: Notices) -> list[Response]:
    """Return the responses with the new numbers of the turns that they answer."""
    found: list[Response] = []
    for one in responses:
        before = sum(turn <= one.turn for turn in kept)
        reason = _unanswering(one) or (None if before else "response")
        if reason is None:
            found.append(replace(one, turn=before - 1))
        else:
            notices.count(reason, "left out")
    return found


def _unanswering(response: Response) -> str | None:
    """Return why a response has no words to keep, or None if it has some."""
    if not response.text.strip():
        return "empty response"
    return "deleted response" if _is_deleted(response.text) else None


def _is_deleted(text: str) -> bool:
    """Return whether a text or name stands for a deleted message or account."""
    return text.lstrip()[:1] == "[" and _DELETED.fullmatch(text.strip()) is not None


def _shown(text: str, options: LoadOptions) -> str:
    """Return the text without lines that stand for media; count them."""
    # "<video>" is also a tag of HTML.
    if "<" not in text or "</" in text:
        return text
    shown, lines = _MEDIA_LINE.subn("", text)
    while lines:
        options.notices.count(MEDIA, "left out", lines)
        shown, lines = _MEDIA_LINE.subn("", shown)
    return shown


def _mended(text: str, options: LoadOptions) -> str:
    """Return the text, repaired if the options ask for it; count texts that need repair."""
    coded = "&" in text and _ENTITY.search(text) is not None
    if not coded and not is_cut_up(text):
        return text
    if not options.clean:
        options.notices.count("text", f"{_SPOILT}: --clean mends them")
        return text
    options.notices.count("text", f"{_SPOILT} mended")
    # Two passes, because some texts are escaped twice: "&amp;#39;" -> "&#39;" -> "'".
    for _ in range(2 if coded else 0):
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return closed_up(text) if is_cut_up(text) else text.strip()

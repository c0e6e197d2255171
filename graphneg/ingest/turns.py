"""Remove the turns of a dialogue that nobody said.

Exports of chats with language models contain system prompts, tool calls and empty messages. These are not
part of the conversation, so they are removed and the remaining turns are renumbered. Three more kinds of text
are removed: internal notes of help desks, texts that a site shows in place of a deleted message, and lines
that represent images. If the user asks for it, texts that contain HTML entities or were separated into tokens
by spaces are repaired. Every change is counted in the notices to the user.

>>> said = [("system", "Be brief."), ("Ann", "Hello."), ("Bo", ""), ("tool", "{}"), ("Bo", "Hi!")]
>>> turns = tuple(Utterance(turn, *one) for turn, one in enumerate(said))
>>> options = LoadOptions()
>>> kept = drop_non_conversation_turns(Dialogue("chats/all/1", "chats", "all", turns), options)
>>> [(one.turn, one.speaker, one.text) for one in kept.utterances], kept.attributes
([(0, 'Ann', 'Hello.'), (1, 'Bo', 'Hi!')], {'system': 'Be brief.'})
>>> sorted(options.notices.lines())
['1 empty turn left out', '1 system message kept out of the turns', '1 tool message kept out of the turns']
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import takewhile

from graphneg.english.tokens import detokenize, is_tokenised
from graphneg.ingest.chat_lines import media_placeholders
from graphneg.ingest.content import ItemError
from graphneg.ingest.html_text import plain_text, without_simple_tags
from graphneg.ingest.loader import LoadOptions, Notices
from graphneg.ingest.values import COUNTED, DELETED, MEDIA, UNSPOKEN
from graphneg.model import Dialogue, Response, Utterance

EMPTY, NOTE = "empty turn", "internal note"
PROMPT, TOOL = "system message", "tool message"
_ALREADY_COUNTED = "counted by the kinds of its parts"
# Assistants write citation marks after statements: "It rains.\ue200cite\ue202turn0search0\ue201" (ChatGPT)
# and "It rains.【12†source】" (OpenAI's API). ChatGPT also writes names with such marks:
# "\ue200entity\ue202["city","Rome"]\ue201" for the city Rome.
_CITATION = re.compile(
    r"[ \t]*(?:\ue200(?P<kind>[a-z_]*)(?P<of>[^\ue200\ue201]*)\ue201|【\d[^【】\n]*†[^【】\n]*】)"
)
_NAMED = re.compile(r'\ue202\["[^"\n]*","(?P<name>[^"\n]+)"')
ROLES = {
    **dict.fromkeys(("system", "developer"), PROMPT),
    **dict.fromkeys(
        ("tool", "tool_call", "function", "function_call", "function_response", "observation"), TOOL
    ),
}
"""Lower-case names of speakers that are not participants of the conversation, with the kind of their
messages."""
# Matches "[deleted]", "[removed]", "[ Removed by Reddit ]" and "[deleted by user]".
_DELETED = re.compile(r"\[\s*(?:deleted|removed)(?:\s+by\s[^\[\]]{1,120})?\s*\]", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
# Matches a text that is HTML as a whole, such as "<p>Hi!</p><p>How are you?</p>".
_HTML = re.compile(
    r"\s*<(?:p|div|html|body|blockquote|ul|ol|table|h[1-6])(?:\s[^<>]*)?>.*"
    r"(?:</(?:p|div|html|body|blockquote|ul|ol|table|h[1-6])>|<br\s*/?>)\s*\Z",
    re.DOTALL | re.IGNORECASE,
)
_HTML_TEXT, _TAGS_KEPT = "converted from HTML", "with HTML tags kept: --clean removes them"
_PROGRAM_TAG = re.compile(r"</?p>|<br ?/?>|<a\s[^<>]*href", re.IGNORECASE)
_TAGS_REMOVED = "with HTML tags removed"
_THOUGHT = "thought"
_MODEL_BLOCKS = {
    **dict.fromkeys(("think", "thinking", "thought"), _THOUGHT),
    **dict.fromkeys(("tool_call", "tool_calls", "function_call"), "tool call"),
    **dict.fromkeys(("tool_response", "function_response", "tool_result"), "tool result"),
}
"""Tags that models write around their thoughts and around calls of tools, with the names for notices."""
# Microsoft Teams writes a tag in place of each attachment, and a text for events such as "Bo joined".
_ATTACHMENT = re.compile(r"""<attachment\s+id=["'][^"'<>]*["']\s*(?:/>|>\s*</attachment>)""")
_EVENT = re.compile(r"\s*<systemEventMessage\s*(?:/>|>\s*</systemEventMessage>)\s*")
_SPOILT = "with HTML entities or spaces inserted by a tokeniser"


def drop_non_conversation_turns(
    dialogue: Dialogue, options: LoadOptions, unnamed: Collection[int] = ()
) -> Dialogue:
    """Return the dialogue without empty turns, internal notes, system prompts and tool messages.

    The remaining turns are renumbered. If the turn that a response answers was removed, the response is
    attached to the last remaining turn before it, or dropped if there is none. System prompts become the
    attribute ``system`` of the dialogue.

    Args:
        dialogue: The dialogue as a loader read it.
        options: Options for loading. If ``clean`` is set, texts are repaired; ``notices`` counts all
            changes.
        unnamed: The numbers of the turns that name no speaker. Such a turn gets the speaker A if its new
            number is even, and else B.

    Returns:
        The dialogue with consecutive turn numbers.

    Raises:
        ItemError: All messages are internal notes, or left out for other reasons.
    """
    spoken = [_spoken(_without_program_tags(one, options), options) for one in dialogue.utterances]
    are_html = _are_html([one.text for one in spoken])
    shown = [_without_media(replace(one, text=_unmarked(one, are_html, options)), options) for one in spoken]
    said = [replace(one, text=_mended(_uncited(one.text, options), options)) for one in shown]
    responses = [
        replace(one, text=_mended(_uncited(one.text, options), options)) for one in dialogue.responses
    ]
    silent = [_silent(one, roles) for roles in [_roles(said)] for one in said]
    of_deleted = sum(not why and _is_deleted(one.speaker) for one, why in zip(said, silent, strict=True))
    # All deleted accounts have the same name, so they look like one speaker. Count their turns for a notice
    # that warns the user.
    options.notices.count("turn", "of deleted accounts kept, all with the same name", of_deleted)
    if not any(silent) and not any(_unanswering(one) for one in responses):
        return replace(dialogue, utterances=tuple(said), responses=tuple(responses))
    kept = [one for one, reason in zip(said, silent, strict=True) if reason is None]
    answering = _answering(responses, [one.turn for one in kept], options.notices)
    prompts = [one.text for one, reason in zip(said, silent, strict=True) if reason == PROMPT]
    for reason in silent:
        if reason is None or reason == _ALREADY_COUNTED:
            continue
        options.notices.count(reason, "kept out of the turns" if reason in ROLES.values() else "left out")
    if not kept and NOTE in silent:
        raise ItemError(
            "the dialogue has no turns, as its messages are internal notes or of unknown kinds: --map "
            "internal= keeps those of unknown kinds"
        )
    return replace(
        dialogue,
        utterances=tuple(
            replace(one, turn=turn, speaker="AB"[turn % 2] if one.turn in unnamed else one.speaker)
            for turn, one in enumerate(kept)
        ),
        responses=tuple(answering),
        attributes={**({"system": "\n".join(prompts)} if prompts else {}), **dialogue.attributes},
    )


def _silent(utterance: Utterance, roles: frozenset[str]) -> str | None:
    """Return why an utterance is not a turn of the conversation; None if it is a turn."""
    if utterance.attributes.get("internal") is True:
        return NOTE
    if not utterance.text.strip():
        return _ALREADY_COUNTED if utterance.attributes.get(COUNTED) is True else EMPTY
    if _is_deleted(utterance.text):
        return DELETED
    if kind := utterance.attributes.get(UNSPOKEN):
        return str(kind)
    name = utterance.speaker.casefold()
    return ROLES[name] if name in roles else None


def _roles(said: Sequence[Utterance]) -> frozenset[str]:
    """Return the speaker names in ``ROLES`` that are not participants of this conversation."""
    names = [one.speaker.casefold() for one in said]
    roles = frozenset(names) & ROLES.keys()
    others = set(names) - roles
    # A speaker "system" may be a dialogue system, and thus a participant: "user: A table for two. / system:
    # For what time?" This is assumed if there is at most one other speaker, and "system" speaks after that
    # speaker.
    if len(others) > 1:
        return roles
    opening = list(takewhile(roles.__contains__, names))
    return frozenset(opening).difference(names[len(opening) :])


def _answering(responses: Sequence[Response], kept: Sequence[int], notices: Notices) -> list[Response]:
    """Drop responses without words, and responses without a turn to answer. Renumber the others."""
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
    """Return why a response is dropped (empty, deleted, or a placeholder for media); None if it is kept."""
    if not response.text.strip():
        return "empty response"
    if media_placeholders(response.text):
        return MEDIA
    return "deleted response" if _is_deleted(response.text) else None


def _is_deleted(text: str) -> bool:
    """Return whether a text or name only says that the message or the account was deleted."""
    return text.lstrip()[:1] == "[" and _DELETED.fullmatch(text.strip()) is not None


def _are_html(texts: Sequence[str]) -> bool:
    """Return whether all texts of a dialogue are HTML. If so, no user typed the tags."""
    written = [text for text in texts if text.strip()]
    return len(written) > 1 and all(map(_HTML.match, written))


def _unmarked(utterance: Utterance, are_html: bool, options: LoadOptions) -> str:
    """Return the text of an utterance, converted to plain text if it is HTML. Count each HTML text.

    If only some texts of the dialogue are HTML, or a text has only some tags, a user may have typed them.
    Such a text is converted only if ``options.clean`` is set.

    Args:
        utterance: The utterance.
        are_html: Whether all texts of the dialogue are HTML.
        options: Options for loading.

    Returns:
        The text, converted or unchanged.
    """
    text = utterance.text
    if utterance.attributes.get("internal") is True or "<" not in text:
        return text
    if not _HTML.match(text):
        # Hacker News writes "Yes.<p>See <i>this</i>." In other files, a user may have typed the tags.
        shown = without_simple_tags(text)
        if shown != text and options.clean:
            options.notices.count("text", _TAGS_REMOVED)
        # A person may have typed "<b>" in a message. But "&#x27;" or "Yes.<p>See" shows that a program wrote
        # HTML. So report that the tags were kept.
        elif shown != text and (_ENTITY.search(text) or _PROGRAM_TAG.search(text)):
            options.notices.count("text", _TAGS_KEPT)
        return shown if options.clean else text
    is_converted = are_html or options.clean
    options.notices.count("text", _HTML_TEXT if is_converted else _TAGS_KEPT)
    return plain_text(text) if is_converted else text


def _without_program_tags(utterance: Utterance, options: LoadOptions) -> Utterance:
    """Remove the tags of attachments and events that Microsoft Teams writes into texts, and count them."""
    text = utterance.text
    if "<" not in text or utterance.attributes.get("internal") is True:
        return utterance
    is_event = _EVENT.fullmatch(text) is not None
    text, tags = ("", 1) if is_event else _ATTACHMENT.subn("", text)
    if not tags:
        return utterance
    # If only tags such as "<p></p>" are left, the message has no text.
    if plain_text(text).strip():
        options.notices.count("attachment mark", "removed", tags)
        return replace(utterance, text=text.strip())
    options.notices.count("service message" if is_event else MEDIA, "left out")
    return replace(utterance, text="", attributes={**utterance.attributes, COUNTED: True})


def _spoken(utterance: Utterance, options: LoadOptions) -> Utterance:
    """Remove the thoughts and tool calls of a model from the text of an utterance, and count them."""
    if "</" not in utterance.text:
        return utterance
    text = utterance.text
    for tag, kind in _MODEL_BLOCKS.items():
        # The tag "<think>" begins the text. In some data sets, only "</think>" is in the text, because
        # "<think>" is the end of the prompt.
        if kind == _THOUGHT and text.lstrip().startswith(f"<{tag}>") and f"</{tag}>" in text:
            text = text.partition(f"</{tag}>")[2]
            options.notices.count(kind, "left out")
        elif kind == _THOUGHT and f"<{tag}>" not in text and text.count(f"\n</{tag}>\n") == 1:
            text = text.partition(f"\n</{tag}>\n")[2]
            options.notices.count(kind, "left out")
        elif kind != _THOUGHT:
            text = _without_calls(text, tag, kind, options)
    if text == utterance.text:
        return utterance
    left = {} if text.strip() else {COUNTED: True}
    return replace(utterance, text=text.strip(), attributes={**utterance.attributes, **left})


def _without_calls(text: str, tag: str, kind: str, options: LoadOptions) -> str:
    """Remove calls such as ``<tool_call>{...}</tool_call>`` from a text, and count them. Return the text."""
    begin = 0
    while (at := text.find(f"<{tag}>", begin)) >= 0 and (end := text.find(f"</{tag}>", at)) >= 0:
        inside = text[at + len(tag) + 2 : end].strip()
        # Remove the tag only if it contains JSON or XML. Otherwise it may be part of a sentence, such as "Put
        # the call in <tool_call>...</tool_call>."
        if inside[:1] in ("{", "[", "<") and inside[-1:] in ("}", "]", ">"):
            text = f"{text[:at].rstrip()}\n{text[end + len(tag) + 3 :].lstrip()}".strip()
            options.notices.count(kind, "left out")
            begin = at
        else:
            begin = end
    return text


def _without_media(utterance: Utterance, options: LoadOptions) -> Utterance:
    """Remove placeholders for media, such as "[image]", from the beginning and end of a text. Count them.

    Data sets for vision-language models have lines such as "<image>" above a question. Chat programs write
    "[Voice message]" instead of a text.

    Args:
        utterance: The utterance.
        options: Options for loading, whose notices count the placeholders.

    Returns:
        The utterance without the lines that are placeholders.
    """
    text = utterance.text.strip()
    # "<video>" can represent a video that was sent, but can also be an HTML tag. A text with a closing tag is
    # HTML, so do not change it.
    is_html = "<" in text and "</" in text
    if is_html or utterance.attributes.get("internal") is True:
        return utterance
    placeholders = 0
    while text:
        first, _, rest = text.partition("\n")
        above, _, last = text.rpartition("\n")
        if found := media_placeholders(first):
            text = rest.strip()
        elif found := media_placeholders(last):
            text = above.strip()
        else:
            break
        placeholders += found
    if not placeholders:
        return utterance
    options.notices.count(MEDIA, "left out", placeholders)
    left = {} if text else {COUNTED: True}
    return replace(utterance, text=text, attributes={**utterance.attributes, **left})


def _uncited(text: str, options: LoadOptions) -> str:
    """Remove the citation marks of assistants from a text, and count them. Return the text."""
    if "\ue200" not in text and "†" not in text:
        return text

    def shown(mark: re.Match[str]) -> str:
        options.notices.count("citation mark", "removed")
        named = _NAMED.match(mark["of"]) if mark["kind"] == "entity" else None
        # A mark of the kind "entity" contains a name that belongs to the sentence. Keep the name and the
        # space before it.
        return mark[0].partition("\ue200")[0] + named["name"] if named else ""

    return _CITATION.sub(shown, text)


def _mended(text: str, options: LoadOptions) -> str:
    """Count a text that needs repair, and repair it if ``options.clean`` is set. Return the text."""
    coded = "&" in text and _ENTITY.search(text) is not None
    if not coded and not is_tokenised(text):
        return text
    if not options.clean:
        options.notices.count("text", f"{_SPOILT}: --clean repairs them")
        return text
    options.notices.count("text", f"{_SPOILT} repaired")
    # Unescape twice, because some texts were escaped twice: "&amp;#39;" -> "&#39;" -> "'".
    for _ in range(2 if coded else 0):
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return detokenize(text) if is_tokenised(text) else text.strip()

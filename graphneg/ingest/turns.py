"""What becomes of odd turns: a dialogue as it is read goes in, one of turns that somebody says comes out.

Empty turns, system prompts and what tools answer are no turns of talk, and go; texts that some program spoilt
are mended where that is asked for. Each is counted in the load's notices.
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

PROMPT, TOOL = "system message", "tool message"
ROLES = {
    **dict.fromkeys(("system", "developer"), PROMPT),
    **dict.fromkeys(
        ("tool", "tool_call", "function", "function_call", "function_response", "observation"), TOOL
    ),
}
"""What speakers are called, in small letters, who do not talk: they set a model up, or answer its calls."""
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_SPOILT = "with HTML entities or the blanks of a tokeniser"


def of_turns(dialogue: Dialogue, options: LoadOptions) -> Dialogue:
    """The dialogue without turns that nobody says, and, where ``options`` ask for it, with its texts mended.

    Turns are numbered anew; a response answers the last turn before it that is left, and goes where there is
    none. System prompts become the dialogue's attribute ``system``.
    """
    said = [replace(one, text=_mended(one.text, options)) for one in dialogue.utterances]
    responses = [replace(one, text=_mended(one.text, options)) for one in dialogue.responses]
    silent = [_silent(one, roles) for roles in [_roles(said)] for one in said]
    if not any(silent) and all(one.text.strip() for one in responses):
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
    """What an utterance is that is no turn, if it is none."""
    if not utterance.text.strip():
        return "empty turn"
    name = utterance.speaker.casefold()
    return ROLES[name] if name in roles else None


def _roles(said: Sequence[Utterance]) -> frozenset[str]:
    """The speakers who do not talk. ``system`` may also be who answers a user, in talk with a machine: it is
    where there is one other speaker, and it speaks after that one."""
    names = [one.speaker.casefold() for one in said]
    roles = frozenset(names) & ROLES.keys()
    others = set(names) - roles
    if len(others) > 1:
        return roles
    opening = list(takewhile(roles.__contains__, names))
    return frozenset(opening).difference(names[len(opening) :])


def _answering(responses: Sequence[Response], kept: Sequence[int], notices: Notices) -> list[Response]:
    """Responses with the new numbers of the turns that they answer."""
    found: list[Response] = []
    for one in responses:
        before = sum(turn <= one.turn for turn in kept)
        if before and one.text.strip():
            found.append(replace(one, turn=before - 1))
        else:
            notices.count("response" if one.text.strip() else "empty response", "left out")
    return found


def _mended(text: str, options: LoadOptions) -> str:
    """The text as it is, counted where it is spoilt; or mended, where that is asked for."""
    coded = "&" in text and _ENTITY.search(text) is not None
    if not coded and not is_cut_up(text):
        return text
    if not options.clean:
        options.notices.count("text", f"{_SPOILT}: --clean mends them")
        return text
    options.notices.count("text", f"{_SPOILT} mended")
    for _ in range(2 if coded else 0):  # what was written twice over: &amp;#39;
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return closed_up(text) if is_cut_up(text) else text.strip()

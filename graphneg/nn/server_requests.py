"""What a server is asked for one text, and what its answer says.

In: a prompt with its settings as a `Request`; the JSON that a server sent. Out: an `Answer`, with the name of
what is wrong with it, if anything is: cut off, empty, refused, or nothing but thinking.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from graphneg.errors import InputError
from graphneg.nn.answers import Answer, Problem
from graphneg.nn.endpoint import RequestError
from graphneg.nn.generation import Beams, Sampling
from graphneg.nn.serving import tokens_of
from graphneg.nn.writers import FREE, Completion, Constraints, GenerationSettings, Route, cut

NAMES_OF_LIMIT = ("max_tokens", "max_completion_tokens")
_MORE = 4
"""The second request for an answer with a problem may be this many times as long."""
_TOKENS_TO_THINK = 4096
"""The second request for an answer that was nothing but thinking may be this long at least."""
_MOST_TOKENS = 10**9
"""A server that counts more tokens for one answer has miscounted."""
_OPENS = re.compile(r"\s*(?:<(think|thinking|thought|reasoning)>|\[THINK\])", re.IGNORECASE)
_CLOSES = re.compile(r"</(?:think|thinking|thought|reasoning)>|\[/THINK\]", re.IGNORECASE)
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Request:
    """One text that is asked for.

    Args:
        body: what is sent, with the limit of tokens as ``max_tokens``.
        key: digest of all that the answer depends on.
        tokens_in: about how many tokens are read.
        tokens_out: how many are written at most.
        constraints: where the text may end before the model ends it.
        stop: strings that end it.
    """

    body: Mapping[str, Any]
    key: bytes
    tokens_in: int
    tokens_out: int
    constraints: Constraints = FREE
    stop: Sequence[str] = ()


def parameters_of(settings: GenerationSettings, stop: Sequence[str]) -> dict[str, Any]:
    """Return how texts are drawn, as the protocol has it."""
    search = settings.search
    if isinstance(search, Beams) and search.width > 1:
        raise InputError("a served model has no beams to search with")
    drawn = {"temperature": 0.0}
    if isinstance(search, Sampling):
        drawn = {"temperature": search.temperature, "top_p": search.top_p}
        drawn |= {"top_k": search.top_k} if search.top_k else {}
    told = {"logprobs": True if settings.logprobs else None, "stop": list(stop) or None}
    wanted = {name: value for name, value in told.items() if value is not None}
    return {"max_tokens": settings.max_new_tokens, **drawn, **wanted}


def read_answer(content: Any, route: Route, request: Request) -> tuple[Answer, bool]:
    """Return the answer in what a server sent, and whether its numbers of tokens are impossible.

    Numbers that are impossible, or missing, are estimated from the letters.

    Raises:
        RequestError: there is none, or its text is no Unicode.
    """
    try:
        choices = content["choices"]
        choice = choices[0] if choices else {}
        said = (choice.get("message") or {}) if route == "chat" else choice
        written = said.get("content" if route == "chat" else "text")
        refusal, ending = said.get("refusal"), choice.get("finish_reason")
        usage, told = content.get("usage") or {}, choice.get("logprobs") or {}
        if not isinstance(written, str | None) or not isinstance(usage, dict):
            raise TypeError
        if written is not None and _SURROGATE.search(written):
            raise ValueError
        logprobs = _logprobs(told.get("content" if route == "chat" else "token_logprobs"))
    # OverflowError: a log-probability with hundreds of digits.
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RequestError("unreadable", f"an answer of another form: {_shown(content)}") from error
    text, is_thinking, has_thought = without_thinking(written or "")
    thought = has_thought or bool(said.get("reasoning_content") or said.get("reasoning"))
    tokens_in, tokens_out = usage.get("prompt_tokens"), usage.get("completion_tokens")
    counted_in, counted_out = _count(tokens_in), _count(tokens_out)
    answer = Answer(
        text,
        ending != "length",
        None if has_thought else logprobs,
        request.tokens_in if counted_in is None else counted_in,
        tokens_of(written or "") if counted_out is None else counted_out,
    )
    is_miscounted = (tokens_in, tokens_out) != (counted_in, counted_out)
    problem: Problem = ""
    if ending == "content_filter" or refusal:
        problem = "refused-answer"
    # Hosted models that think hide it: such an answer is empty, and at its limit.
    elif is_thinking or (not text.strip() and (thought or ending == "length")):
        problem = "only-thinking"
    elif not completion(answer, request).finished:
        problem = "truncated"
    elif not text.strip():
        problem = "empty-answer"
    finished = answer.finished and problem != "only-thinking"
    return answer._replace(problem=problem, finished=finished), is_miscounted


def _count(tokens: Any) -> int | None:
    """Return a number of tokens as it is, or None if this cannot be one."""
    if isinstance(tokens, int) and not isinstance(tokens, bool) and 0 <= tokens <= _MOST_TOKENS:
        return tokens
    return None


def _shown(content: Any) -> str:
    """Return the beginning of what a server sent, for a message."""
    try:
        return ascii(content)[:80]
    except RecursionError:
        return "lists in lists, a thousand deep"


def without_thinking(text: str) -> tuple[str, bool, bool]:
    """Split an answer from the thinking that some servers leave in front of it.

    Chat templates that open the thinking themselves leave only the closing tag in the answer.

    Returns:
        The answer, whether the text ends inside the thinking, and whether there is any.

    >>> without_thinking("<think>Five of them, then.</think>Here they are.")
    ('Here they are.', False, True)
    >>> without_thinking("<think>Five of")
    ('', True, True)
    """
    closing = list(_CLOSES.finditer(text))
    if closing and not _OPENS.match(text[closing[-1].end() :]):
        return text[closing[-1].end() :].lstrip(), False, True
    if closing or _OPENS.match(text):
        return "", True, True
    return text, False, False


def longer(request: Request, answer: Answer) -> Request:
    """Return the request for the same text with more tokens; the answer is kept under the same key.

    A stop string such as a line break ends the thinking of a model before it has said anything, so the
    request for more than thinking has none: the text is cut here all the same.
    """
    thinking = answer.problem == "only-thinking"
    most = max(request.tokens_out * _MORE, _TOKENS_TO_THINK if thinking else 0)
    body = {name: value for name, value in request.body.items() if not (thinking and name == "stop")}
    body |= {name: most for name in NAMES_OF_LIMIT if name in body}
    return Request(body, request.key, request.tokens_in, most, request.constraints, request.stop)


def limit_of(body: Mapping[str, Any]) -> int | None:
    """Return the most tokens that a body asks for, as far as it says so in numbers."""
    given = [body.get(name) for name in NAMES_OF_LIMIT]
    return max((limit for limit in given if isinstance(limit, int)), default=None)


def completion(answer: Answer, request: Request) -> Completion:
    """Return an answer as the text that was asked for: servers stop where they like."""
    text, stopped = cut(answer.text.lstrip(), request.stop)
    text, ended = request.constraints.cut(text.strip())
    return Completion(text, answer.finished or stopped or ended, answer.logprobs, answer.problem)


def _logprobs(tokens: Any) -> tuple[float, ...] | None:
    """Return the log-probabilities of an answer's tokens, if it has one for each.

    Raises:
        TypeError: they are of another form.
    """
    if not tokens:
        return None
    if not isinstance(tokens, list):
        raise TypeError
    values = [one["logprob"] if isinstance(one, dict) else one for one in cast("list[Any]", tokens)]
    if not all(isinstance(value, int | float) and math.isfinite(value) for value in values):
        return None
    return tuple(float(value) for value in values)

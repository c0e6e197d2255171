"""Build the requests to a server, and read its answers.

A `Request` holds the body for one text. `read_answer` turns the JSON that a server sent into an `Answer`, and
names its problem if it has one: cut off, empty, refused, or nothing but thinking.

Example:
    An answer that was cut off at its token limit::

        content = {"choices": [{"text": "The lad", "finish_reason": "length"}]}
        answer, _ = read_answer(content, "completion", request)
        answer.problem   # 'truncated'
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from graphneg.errors import InputError
from graphneg.json_input import finite_number
from graphneg.nn.answers import Answer, Problem
from graphneg.nn.endpoint import RequestError
from graphneg.nn.generation import Beams, Sampling
from graphneg.nn.serving import tokens_of
from graphneg.nn.writers import FREE, Completion, Constraints, GenerationSettings, Route, cut

NAMES_OF_LIMIT = ("max_tokens", "max_completion_tokens")
"""Names of the token limit in requests, the older one first."""
_MORE = 4
"""Factor by which the token limit of a repeated request is raised."""
_TOKENS_TO_THINK = 4096
"""Minimum token limit of a repeated request if the first answer was nothing but thinking."""
_MOST_TOKENS = 10**9
"""Token counts above this number are a mistake of the server."""
_OPENS = re.compile(r"\s*(?:<(think|thinking|thought|reasoning)>|\[THINK\])", re.IGNORECASE)
"""Tags with which the thinking of a model begins."""
_CLOSES = re.compile(r"</(?:think|thinking|thought|reasoning)>|\[/THINK\]", re.IGNORECASE)
"""Tags with which the thinking of a model ends."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
"""Halves of surrogate pairs, which no file can hold."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request for one text.

    Attributes:
        body: The body of the request, with the token limit as ``max_tokens``.
        key: A digest of everything that the answer depends on.
        tokens_in: Estimated number of tokens that are read.
        tokens_out: Maximum number of tokens that are written.
        constraints: Where the text may end before the model ends it.
        stop: Strings that end the text.
    """

    body: Mapping[str, Any]
    key: bytes
    tokens_in: int
    tokens_out: int
    constraints: Constraints = FREE
    stop: Sequence[str] = ()


def parameters_of(settings: GenerationSettings, stop: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of a request that say how texts are sampled.

    Args:
        settings: The search and the limits.
        stop: Strings that end a text.

    Returns:
        Entries of the body.

    Raises:
        InputError: The search is a beam search, which servers do not offer.
    """
    search = settings.search
    if isinstance(search, Beams) and search.width > 1:
        raise InputError("a served model has no beams to search with")
    drawn = {"temperature": 0.0}
    if isinstance(search, Sampling):
        drawn = {"temperature": search.temperature, "top_p": search.top_p}
        # OpenAI's API has no top_k. Local servers accept it, so it is sent only if it is set.
        drawn |= {"top_k": search.top_k} if search.top_k else {}
    told = {"logprobs": True if settings.logprobs else None, "stop": list(stop) or None}
    wanted = {name: value for name, value in told.items() if value is not None}
    return {"max_tokens": settings.max_new_tokens, **drawn, **wanted}


def read_answer(content: Any, route: Route, request: Request) -> tuple[Answer, bool]:
    """Return the answer in what a server sent, and whether its token counts are impossible."""
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
    # Token counts that are missing or impossible are estimated from the texts.
    answer = Answer(
        text,
        ending != "length",
        # The log-probabilities include those of the thinking, so they do not fit the remaining text.
        None if has_thought else logprobs,
        request.tokens_in if counted_in is None else counted_in,
        tokens_of(written or "") if counted_out is None else counted_out,
    )
    is_miscounted = (tokens_in, tokens_out) != (counted_in, counted_out)
    problem: Problem = ""
    if ending == "content_filter" or refusal:
        problem = "refused-answer"
    # Hosted models hide their thinking. The answer is then empty, and ends at its token limit.
    elif is_thinking or (not text.strip() and (thought or ending == "length")):
        problem = "only-thinking"
    elif not completion(answer, request).finished:
        problem = "truncated"
    elif not text.strip():
        problem = "empty-answer"
    finished = answer.finished and problem != "only-thinking"
    return answer._replace(problem=problem, finished=finished), is_miscounted


def _count(tokens: Any) -> int | None:
    """Return a token count; None if the value is impossible."""
    # True is an int in Python.
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
    """Remove the thinking that some servers leave in front of an answer.

    Some chat templates open the thinking themselves. Then the text has only the closing tag.

    Args:
        text: The text of the answer.

    Returns:
        The answer, whether the text ends inside of the thinking, and whether there is any thinking.

    >>> without_thinking("<think>Five of them, then.</think>Here they are.")
    ('Here they are.', False, True)
    >>> without_thinking("<think>Five of")
    ('', True, True)
    """
    closing = list(_CLOSES.finditer(text))
    # The answer follows the last closing tag, unless it opens a new block of thinking there.
    if closing and not _OPENS.match(text[closing[-1].end() :]):
        return text[closing[-1].end() :].lstrip(), False, True
    if closing or _OPENS.match(text):
        return "", True, True
    return text, False, False


def longer(request: Request, answer: Answer) -> Request:
    """Return a request for the same text with a higher token limit.

    The answer is kept under the same key.

    Args:
        request: The request.
        answer: Its unusable answer.

    Returns:
        The new request.
    """
    thinking = answer.problem == "only-thinking"
    most = max(request.tokens_out * _MORE, _TOKENS_TO_THINK if thinking else 0)
    # A stop string such as a line break would end the thinking before the answer begins, so such a request
    # has none. The text is still cut at the stop strings afterwards.
    body = {name: value for name, value in request.body.items() if not (thinking and name == "stop")}
    body |= {name: most for name in NAMES_OF_LIMIT if name in body}
    return Request(body, request.key, request.tokens_in, most, request.constraints, request.stop)


def limit_of(body: Mapping[str, Any]) -> int | None:
    """Return the token limit in the body of a request.

    Args:
        body: The body.

    Returns:
        The limit; None if there is none, or it is not a number.
    """
    given = [body.get(name) for name in NAMES_OF_LIMIT]
    return max((limit for limit in given if isinstance(limit, int)), default=None)


def completion(answer: Answer, request: Request) -> Completion:
    """Return an answer as a text that ends where it should.

    Servers do not always stop at the stop strings, so the text is cut here.

    Args:
        answer: The answer.
        request: Its request.

    Returns:
        The text.
    """
    text, stopped = cut(answer.text.lstrip(), request.stop)
    text, ended = request.constraints.cut(text.strip())
    return Completion(text, answer.finished or stopped or ended, answer.logprobs, answer.problem)


def _logprobs(tokens: Any) -> tuple[float, ...] | None:
    """Return the log-probabilities of an answer's tokens; None if a token has none.

    Returns:
        Log-probabilities in nats.

    Raises:
        TypeError: They have an unexpected form.
    """
    if not tokens:
        return None
    if not isinstance(tokens, list):
        raise TypeError
    # The chat API sends objects, the completion API numbers.
    values = [one["logprob"] if isinstance(one, dict) else one for one in cast("list[Any]", tokens)]
    numbers = [finite_number(value) for value in values]
    known = tuple(number for number in numbers if number is not None)
    return known if len(known) == len(numbers) else None

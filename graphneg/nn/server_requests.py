"""Build the requests to a model server, and interpret its answers.

A `ServerRequest` contains the HTTP body of a request for one text. `read_answer` converts a server's JSON
into an `Answer`. If the answer is unusable, its attribute ``problem`` says why: the text was cut off, is
empty, is a refusal, or contains only the model's thinking (its reasoning before the answer).

Example:
    An answer that was cut off at the token limit::

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
from graphneg.json_input import finite_number, whole_number
from graphneg.nn.answers import Answer, Problem
from graphneg.nn.endpoint import RequestError
from graphneg.nn.generation import Beams, Sampling
from graphneg.nn.serving import tokens_of
from graphneg.nn.writers import FREE, Completion, Constraints, GenerationSettings, Route, cut

NAMES_OF_LIMIT = ("max_tokens", "max_completion_tokens")
"""The two names that the token limit may have in the body of a request; the older name comes first."""
_LIMIT_FACTOR = 4
"""Factor by which the token limit is raised when a request is repeated because its answer was unusable."""
_TOKENS_TO_THINK = 4096
"""Minimum token limit for a repeated request if the first answer contained only thinking."""
_MOST_TOKENS = 10**9
"""Highest plausible token count. Higher counts are treated as errors of the server."""
_OPENS = re.compile(r"\s*(?:<(think|thinking|thought|reasoning)>|\[THINK\])", re.IGNORECASE)
"""Matches a tag such as ``<think>`` at the start of a text, which opens the model's thinking."""
_CLOSES = re.compile(r"</(?:think|thinking|thought|reasoning)>|\[/THINK\]", re.IGNORECASE)
"""Matches a tag such as ``</think>``, which closes the model's thinking."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
"""Matches lone surrogates. They cannot be encoded as UTF-8, so a text with such a character could not be
written to a file."""


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """A request for one text.

    Attributes:
        body: The body of the request. Its token limit is called ``max_tokens``.
        key: The key of the answer in the cache: a digest of everything on which the answer depends.
        tokens_in: Estimated number of prompt tokens.
        tokens_out: Maximum number of generated tokens.
        constraints: Constraints that determine after which sentence the text is cut off.
        stop: Strings that end the text.
    """

    body: Mapping[str, Any]
    key: bytes
    tokens_in: int
    tokens_out: int
    constraints: Constraints = FREE
    stop: Sequence[str] = ()


def parameters_of(settings: GenerationSettings, stop: Sequence[str]) -> dict[str, Any]:
    """Convert generation settings into parameters of OpenAI's protocol.

    Args:
        settings: The generation settings.
        stop: Strings that end a text.

    Returns:
        Entries for the body of a request, such as ``max_tokens`` and ``temperature``.

    Raises:
        InputError: The settings ask for a beam search, which servers do not offer.
    """
    search = settings.search
    if isinstance(search, Beams) and search.width > 1:
        raise InputError("a served model does not support beam search")
    drawn = {"temperature": 0.0}
    if isinstance(search, Sampling):
        drawn = {"temperature": search.temperature, "top_p": search.top_p}
        # OpenAI's API has no top_k, but local servers accept it, so send it only if it is set.
        drawn |= {"top_k": search.top_k} if search.top_k else {}
    optional = {"logprobs": True if settings.logprobs else None, "stop": list(stop) or None}
    wanted = {name: value for name, value in optional.items() if value is not None}
    return {"max_tokens": settings.max_new_tokens, **drawn, **wanted}


def read_answer(content: Any, route: Route, request: ServerRequest) -> tuple[Answer, bool]:
    """Read the answer from the JSON of a server.

    Args:
        content: The decoded JSON that the server sent.
        route: The API to which the request was sent: ``chat`` or ``completion``.
        request: The request that the server has answered.

    Returns:
        The answer without the model's thinking, and whether the JSON has impossible token counts. Missing or
        impossible counts are replaced by estimates in the answer.

    Raises:
        RequestError: The JSON has an unknown format (kind ``unreadable``).
    """  # noqa: DOC501
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
    # An OverflowError occurs if the server sent a log-probability that is an integer with hundreds of digits.
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RequestError(
            "unreadable", f"an answer in an unknown format: {_beginning_of(content)}"
        ) from error
    text, is_thinking, has_thought = without_thinking(written or "")
    thought = has_thought or bool(said.get("reasoning_content") or said.get("reasoning"))
    tokens_in, tokens_out = usage.get("prompt_tokens"), usage.get("completion_tokens")
    counted_in, counted_out = _count(tokens_in), _count(tokens_out)
    # If token counts are missing or impossible, estimate them from the texts.
    answer = Answer(
        text,
        ending != "length",
        # If the model's thinking was removed from the text, the log-probabilities still include its tokens
        # and do not match the text. So drop them.
        None if has_thought else logprobs,
        request.tokens_in if counted_in is None else counted_in,
        tokens_of(written or "") if counted_out is None else counted_out,
    )
    is_miscounted = (tokens_in, tokens_out) != (counted_in, counted_out)
    problem: Problem = ""
    if ending == "content_filter" or refusal:
        problem = "refused-answer"
    # Hosted models do not send their thinking. If the text is empty and the token limit was reached, assume
    # that all tokens were used for thinking.
    elif is_thinking or (not text.strip() and (thought or ending == "length")):
        problem = "only-thinking"
    elif not completion(answer, request).finished:
        problem = "truncated"
    elif not text.strip():
        problem = "empty-answer"
    finished = answer.finished and problem != "only-thinking"
    return answer._replace(problem=problem, finished=finished), is_miscounted


def _count(tokens: Any) -> int | None:
    """Return a value from a server's JSON if it can be a token count, otherwise None."""
    count = whole_number(tokens, least=0)
    return count if count is not None and count <= _MOST_TOKENS else None


def _beginning_of(content: Any) -> str:
    """Return the beginning of the JSON that a server sent, to quote it in an error message."""
    try:
        return ascii(content)[:80]
    except RecursionError:
        return "lists nested more than a thousand levels deep"


def without_thinking(text: str) -> tuple[str, bool, bool]:
    """Remove the model's thinking from the beginning of a text, because some servers do not remove it.

    The opening tag may be missing, because some chat templates put it at the end of the prompt.

    Args:
        text: The text that the server sent.

    Returns:
        Three values: the text after the thinking, whether the thinking is incomplete (the text is then
        empty), and whether the original text contained any thinking.

    >>> without_thinking("<think>Five of them, then.</think>Here they are.")
    ('Here they are.', False, True)
    >>> without_thinking("<think>Five of")
    ('', True, True)
    """
    closing = list(_CLOSES.finditer(text))
    # The answer follows the last tag ``</think>``, unless another tag ``<think>`` comes directly after it.
    if closing and not _OPENS.match(text[closing[-1].end() :]):
        return text[closing[-1].end() :].lstrip(), False, True
    if closing or _OPENS.match(text):
        return "", True, True
    return text, False, False


def longer(request: ServerRequest, answer: Answer) -> ServerRequest:
    """Return a copy of a request with a higher token limit, for another attempt after an unusable answer.

    The copy has the same key, so that its answer is cached as the answer to the original request.

    Args:
        request: The request to repeat.
        answer: The unusable answer to this request.

    Returns:
        The copy with the higher token limit.
    """
    thinking = answer.problem == "only-thinking"
    most = max(request.tokens_out * _LIMIT_FACTOR, _TOKENS_TO_THINK if thinking else 0)
    # A stop string such as a line break would end the thinking before the answer begins, so do not send stop
    # strings to a model that thinks. `completion` cuts the answer at the stop strings later.
    body = {name: value for name, value in request.body.items() if not (thinking and name == "stop")}
    body |= {name: most for name in NAMES_OF_LIMIT if name in body}
    return ServerRequest(body, request.key, request.tokens_in, most, request.constraints, request.stop)


def limit_of(body: Mapping[str, Any]) -> int | None:
    """Return the token limit in the body of a request.

    Args:
        body: The body of the request.

    Returns:
        The maximum number of generated tokens; None if the body has no limit, or if the limit is not an
        integer.
    """
    given = [whole_number(body.get(name)) for name in NAMES_OF_LIMIT]
    return max((limit for limit in given if limit is not None), default=None)


def completion(answer: Answer, request: ServerRequest) -> Completion:
    """Convert an answer into a completion, cut as the request's stop strings and constraints require.

    A server does not get the constraints, and some servers ignore stop strings.

    Args:
        answer: The answer of a server.
        request: The request that the server has answered.

    Returns:
        The text, with log-probabilities and a problem if the answer has them.
    """
    text, stopped = cut(answer.text.lstrip(), request.stop)
    text, ended = request.constraints.cut(text.strip())
    return Completion(text, answer.finished or stopped or ended, answer.logprobs, answer.problem)


def _logprobs(tokens: Any) -> tuple[float, ...] | None:
    """Read the log-probabilities in an answer.

    Returns:
        The log-probability of each token in nats; None if a log-probability is missing or infinite.

    Raises:
        TypeError: ``tokens`` is not a list.
    """
    if not tokens:
        return None
    if not isinstance(tokens, list):
        raise TypeError
    # The chat API sends one object per token, which contains the log-probability. The completion API sends
    # the log-probabilities themselves.
    values = [one["logprob"] if isinstance(one, dict) else one for one in cast("list[Any]", tokens)]
    numbers = [finite_number(value) for value in values]
    known = tuple(number for number in numbers if number is not None)
    return known if len(known) == len(numbers) else None

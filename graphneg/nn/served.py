"""A writer that asks a server: any that speaks OpenAI's protocol, of one's own or hosted.

vLLM, llama.cpp, Ollama and ``transformers serve`` do. Prompts go in, texts come out, as `graphneg.nn.writers`
says. The server is asked by the ``openai`` package, several prompts at once; it may refuse, stall, drop
connections or say nothing of sense, and is asked again. An answer is kept on disk as soon as it is here
(`graphneg.nn.answers`), by a digest of model, prompt, parameters and seed: it is never paid for again, and
the same call gives the same texts although servers don't.

The key is OPENAI_API_KEY's; it is written nowhere.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from threading import Lock
from typing import Any, get_args

from graphneg.errors import GraphnegError, InputError, ModelError, StoppedError, first_line
from graphneg.hashing import number
from graphneg.nn.answers import Answer, Answers
from graphneg.nn.generation import Beams, Sampling, item_seed
from graphneg.nn.serving import BASE_URL, KEY, Estimate, Pause, Serving, Spending, tokens_of
from graphneg.nn.writers import (
    PLAIN,
    Completion,
    Constraints,
    GenerationSettings,
    Prompt,
    Route,
    cut,
    per_prompt,
)

INSTALL = 'pip install "graphneg[served]"'

_NO_KEY = "none"
_PATHS: Mapping[Route, str] = {"chat": "/chat/completions", "completion": "/completions"}
_FIRST_ATTEMPTS = 3
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
_NAMES_OF_LIMIT = ("max_tokens", "max_completion_tokens")
_UNACCEPTED = (400, 413, 422)
_NOTHING = Answer("", False)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked, the digest of all that the answer depends on, and about how many tokens it may take."""

    body: Mapping[str, Any]
    key: bytes
    tokens_in: int
    tokens_out: int


class ServedWriter:
    """Asks a server for texts; see `graphneg.nn.serving.Serving`. Threads may share it.

    Raises:
        ModelError: the ``openai`` package is not installed.
        InputError: the file of answers can't be used.
    """

    def __init__(self, model: str, serving: Serving | None = None, route: Route = "chat") -> None:
        if find_spec("openai") is None:
            raise ModelError(f"served models need the openai package: {INSTALL}")
        if route not in _PATHS:
            raise InputError(f"route {route!r}: choose one of {', '.join(get_args(Route))}")
        self.name = model
        self.route: Route = route
        self.serving = serving or Serving()
        self._client: Any = None
        self._limit_name = _NAMES_OF_LIMIT[0]
        self._met = False
        self._lock = Lock()
        self._pause = Pause()
        self._spending = Spending(self.serving)
        self._pool = ThreadPoolExecutor(self.serving.concurrency, "graphneg-served")
        self._answers = Answers(self.serving.answers)

    def complete(
        self,
        prompts: Sequence[Prompt],
        n: int = 1,
        *,
        seed: int = 0,
        stop: Sequence[str] = (),
        constraints: Sequence[Constraints] | None = None,
        settings: GenerationSettings = PLAIN,
    ) -> list[list[Completion]]:
        """See `graphneg.nn.writers.Writer`. Each of the ``n`` texts is a request of its own, with a seed of
        its own.

        A prompt that the server does not accept, although it accepted others, gives an empty text that is not
        finished, and a warning.
        """
        held = per_prompt(constraints, prompts)
        requests = self.requests(prompts, n, seed, stop, settings)
        found = self._found(requests)
        return _completions(requests, found, n, held, stop)

    def counting(self) -> CountingWriter:
        """A writer that asks nothing and counts what this one would ask."""
        return CountingWriter(self)

    def ask(self, request: Request) -> Answer:
        """Ask until there is an answer, and keep it.

        Raises:
            ModelError: the server has refused what all requests have in common, or has never answered.
            StoppedError: it answers no more, or the answer might cost too much.
        """
        attempt = 0
        while True:
            self._pause.wait()
            reserved = self._spending.reserve(request.tokens_in, request.tokens_out)
            try:
                answer = _answer_of(self._send(request), self.route, request)
            except Exception as error:
                self._spending.settle(reserved, reserved.most if _may_be_paid(error) else 0.0)
                attempt += 1
                refused = self._check(error, attempt)
                if refused is not None:
                    _log.warning("a prompt was not accepted by %s: %s", self.serving.url, refused)
                    answer = _NOTHING
                    break
                self._wait(error, attempt, request)
            else:
                self._spending.settle(reserved, self.serving.cost(answer.tokens_in, answer.tokens_out))
                self._met = True
                break
        self._answers.put(request.key, answer)
        return answer

    @property
    def spent(self) -> float:
        """What the answers of this writer have cost so far."""
        return self._spending.spent

    def close(self) -> None:
        """Ask nothing any more; what is being answered is kept."""
        self._pool.shutdown(cancel_futures=True)
        self._answers.close()

    def __repr__(self) -> str:
        return f"<ServedWriter: {self.name} at {self.serving.url}>"

    def requests(
        self, prompts: Sequence[Prompt], n: int, seed: int, stop: Sequence[str], settings: GenerationSettings
    ) -> list[Request]:
        """What is asked: for each prompt ``n`` requests, each with a seed of its own.

        Raises:
            InputError: the search is one by beams.
        """
        asked = _parameters(settings, stop)
        requests: list[Request] = []
        for prompt in prompts:
            text = settings.shown + prompt.text
            chat = {"messages": [{"role": "user", "content": text}]}
            said = chat if self.route == "chat" else {"prompt": text}
            for draw in range(n):
                own = {"seed": item_seed(seed, prompt.id or prompt.text, draw), **self.serving.parameters}
                body = {"model": self.name, **said, **asked, **own}
                key = hashlib.sha256(json.dumps([self.route, body], sort_keys=True).encode()).digest()
                requests.append(Request(body, key, tokens_of(text), settings.max_new_tokens))
        return requests

    def known(self, requests: Sequence[Request]) -> dict[bytes, Answer]:
        """The answers that are here, by the requests' keys."""
        return self._answers.get([request.key for request in requests])

    def _found(self, requests: Sequence[Request]) -> dict[bytes, Answer]:
        """The answer to each request: from the file, or the server's."""
        found = self.known(requests)
        missing = {request.key: request for request in requests if request.key not in found}
        futures: dict[bytes, Future[Answer]] = {}
        try:
            first = iter(missing.items())
            if not self._met:  # one by itself: where it fails, nothing else was asked
                for key, request in list(missing.items())[:1]:
                    found[key] = self.ask(request)
                    next(first)
            futures.update((key, self._pool.submit(self.ask, request)) for key, request in first)
            found.update((key, future.result()) for key, future in futures.items())
        finally:
            for future in futures.values():
                future.cancel()
        return found

    def _send(self, request: Request) -> Any:
        body = dict(request.body)
        limit = body.pop("max_tokens", None)
        if limit is not None:
            body[self._limit_name] = limit
        try:
            return self._connected().post(_PATHS[self.route], cast_to=object, body=body)
        except ValueError as error:
            raise _NonsenseError(f"an answer that is no JSON: {first_line(error)}") from error

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                from openai import OpenAI

                self._client = OpenAI(
                    base_url=self.serving.url,
                    api_key=os.environ.get(KEY) or _NO_KEY,
                    timeout=self.serving.timeout,
                    max_retries=0,
                )
            return self._client

    def _check(self, error: Exception, attempt: int) -> str | None:
        """Why a prompt is given up; None where it is to be tried again.

        Raises:
            ModelError: the server has refused what all requests have in common, or has never answered.
            StoppedError: it answers no more.
        """
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        said, url = self._told(error), self.serving.url
        status = error.status_code if isinstance(error, APIStatusError) else 0
        if not isinstance(error, (APIConnectionError, APIStatusError, _NonsenseError)):
            raise error if isinstance(error, GraphnegError) else ModelError(f"{url}: {said}") from None
        if status in (401, 403):
            has = "does not take the key of" if os.environ.get(KEY) else "wants a key: set"
            raise ModelError(f"{url}: {has} {KEY} ({said})") from None
        if status == 404:
            raise ModelError(
                f"{url}: has no model {self.name!r}, or no route {self.route} ({said})"
            ) from None
        if status == 429 and getattr(error, "code", None) == "insufficient_quota":
            raise StoppedError(f"{url}: nothing is left to spend there ({said}); what was answered is kept")
        if status == 400 and _NAMES_OF_LIMIT[1] in said and self._limit_name != _NAMES_OF_LIMIT[1]:
            self._limit_name = _NAMES_OF_LIMIT[1]
            return None
        if status in _UNACCEPTED:
            if self._met:
                return said
            raise ModelError(f"{url}: does not accept what it is asked ({said})") from None
        if status and status not in (408, 409, 425, 429) and status < 500:
            raise ModelError(f"{url}: answers with status {status} ({said})") from None
        if not self._met and status != 429 and attempt >= _FIRST_ATTEMPTS:
            if status >= 500:
                what = (
                    f"fails for the model {self.name!r} ({said}); is it there, with what {self.route} needs?"
                )
                raise ModelError(f"{url}: {what}") from None
            unreached = isinstance(error, APIConnectionError) and not isinstance(error, APITimeoutError)
            what = "no server can be reached there" if unreached else f"gives no answer ({said})"
            advice = f"start one, or name another with {BASE_URL} or base_url"
            raise ModelError(f"{url}: {what}; {advice}") from None
        if attempt >= self.serving.attempts:
            raise StoppedError(
                f"{url}: no answer in {attempt} attempts ({said}); what was answered is kept, and the same "
                "command goes on from there"
            ) from None
        return None

    def _told(self, error: Exception) -> str:
        """What an error says, in a line; of a server's, what it says itself. The key is not in it."""
        body = getattr(error, "body", None)
        told = body.get("message") if isinstance(body, dict) else None
        text = str(told).splitlines()[0] if told else first_line(error)
        key = os.environ.get(KEY)
        return text.replace(key, "***") if key else text

    def _wait(self, error: Exception, attempt: int, request: Request) -> None:
        """Wait before the next attempt; where the server limits the rate, all wait."""
        asked = _retry_after(error)
        if asked is not None or getattr(error, "status_code", 0) == 429:
            self._pause.extend(asked or min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (attempt - 1)))
            return
        jitter = 0.75 + 0.5 * (number(0, "wait", request.key.hex(), str(attempt)) / 2.0**64)
        time.sleep(min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (attempt - 1)) * jitter)


class CountingWriter:
    """Asks nothing: gives the answers that are here, else empty texts, and counts what would be asked.

    ``first`` is the first request that would be, as `ServedWriter.complete` takes it; ``drafts`` counts those
    of the first call since `begin`."""

    def __init__(self, writer: ServedWriter) -> None:
        self.name, self.route, self.serving = writer.name, writer.route, writer.serving
        self.first: Request | None = None
        self._writer = writer
        self._seen: set[bytes] = set()
        self._all = [0, 0, 0]
        self._drafts = [0, 0, 0]
        self._is_draft = True

    def begin(self) -> None:
        """What comes next begins with drafts."""
        self._is_draft = True

    def complete(
        self,
        prompts: Sequence[Prompt],
        n: int = 1,
        *,
        seed: int = 0,
        stop: Sequence[str] = (),
        constraints: Sequence[Constraints] | None = None,
        settings: GenerationSettings = PLAIN,
    ) -> list[list[Completion]]:
        """As `ServedWriter.complete`, where nothing is asked."""
        held = per_prompt(constraints, prompts)
        requests = self._writer.requests(prompts, n, seed, stop, settings)
        here = self._writer.known(requests)
        for request in requests:
            if request.key in here or request.key in self._seen:
                continue
            self._seen.add(request.key)
            self.first = self.first or request
            for counts in (self._all, self._drafts)[: 1 + self._is_draft]:
                for at, amount in enumerate((1, request.tokens_in, request.tokens_out)):
                    counts[at] += amount
        self._is_draft = False
        return _completions(requests, here, n, held, stop)

    def ask_first(self) -> None:
        """Ask the first of what would be asked: whether the server answers is known before anything is
        written.

        Raises:
            ModelError: it can't be reached, or refuses what it is asked.
            StoppedError: one answer might cost too much.
        """
        if self.first is not None:
            self._writer.ask(self.first)

    @property
    def drafts(self) -> Estimate:
        """What is asked for first."""
        return self._estimate(self._drafts)

    @property
    def most(self) -> Estimate:
        """What is asked for if every text is refused, as often as the generator asks again."""
        return self._estimate(self._all)

    def _estimate(self, counts: Sequence[int]) -> Estimate:
        requests, tokens_in, tokens_out = counts
        cost = self.serving.cost(tokens_in, tokens_out) if self.serving.priced else None
        return Estimate(requests, tokens_in, tokens_out, cost)


def _parameters(settings: GenerationSettings, stop: Sequence[str]) -> dict[str, Any]:
    """How texts are drawn, as the protocol has it."""
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


def _completions(
    requests: Sequence[Request],
    found: Mapping[bytes, Answer],
    n: int,
    held: Sequence[Constraints],
    stop: Sequence[str],
) -> list[list[Completion]]:
    """``n`` texts for each prompt; one that was not found is empty and not finished."""
    texts = [
        _completion(found.get(request.key, _NOTHING), held[at // n], stop)
        for at, request in enumerate(requests)
    ]
    return [texts[at : at + n] for at in range(0, len(texts), n)]


def _completion(answer: Answer, constraints: Constraints, stop: Sequence[str]) -> Completion:
    """An answer as the text that was asked for: servers stop where they like."""
    text, stopped = cut(answer.text.lstrip(), stop)
    text, ended = constraints.cut(text.strip())
    return Completion(text, answer.finished or stopped or ended, answer.logprobs)


class _NonsenseError(Exception):
    """A server's answer is none: broken JSON, or JSON of another kind."""


def _answer_of(content: Any, route: Route, request: Request) -> Answer:
    """A server's answer. Raises `_NonsenseError`: it is no answer."""
    try:
        choice = content["choices"][0]
        text = choice["message"]["content"] if route == "chat" else choice["text"]
        usage = content.get("usage") or {}
        told = choice.get("logprobs") or {}
        if not isinstance(text, str | None):
            raise TypeError("a text that is none")
        tokens = told.get("content") if route == "chat" else told.get("token_logprobs")
        values = [one["logprob"] if route == "chat" else one for one in tokens or ()]
        return Answer(
            text or "",
            choice.get("finish_reason") != "length",
            tuple(float(value) for value in values) or None,
            int(usage.get("prompt_tokens") or request.tokens_in),
            int(usage.get("completion_tokens") or tokens_of(text or "")),
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise _NonsenseError(f"an answer that is none: {str(content)[:80]}") from error


def _may_be_paid(error: Exception) -> bool:
    """Whether a server may count an attempt although no answer came of it."""
    from openai import APIConnectionError

    return isinstance(error, (APIConnectionError, _NonsenseError))


def _retry_after(error: Exception) -> float | None:
    """So many seconds a server asks to wait."""
    response = getattr(error, "response", None)
    try:
        return (
            min(float(response.headers["retry-after"]), 2 * _LONGEST_WAIT) if response is not None else None
        )
    except (LookupError, ValueError):
        return None

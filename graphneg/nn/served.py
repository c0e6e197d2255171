"""Generate texts on a hosted or local server that implements OpenAI's protocol.

Examples of such servers are vLLM, llama.cpp, Ollama and ``transformers serve``. A `ServedWriter` takes
prompts and returns texts, as described in `graphneg.nn.writers`. It sends several requests at the same time.
If the server is overloaded, does not answer in time, drops the connection or sends invalid data, the request
is repeated.

An answer may arrive and still be unusable: it may be cut off at the token limit, be empty, contain a refusal,
or contain only the model's thinking (see `graphneg.nn.answers.PROBLEMS`). The request is then repeated once
with a higher token limit. If the second answer is also unusable, the returned `Completion` names the problem
in its attribute ``problem``. `ServedWriter.notes` reports the number of unusable answers.

Usable answers are cached on disk as soon as they arrive (see `graphneg.nn.answers`). The key of an answer is
a digest of server, model, prompt, parameters and seed. Therefore no answer is paid for twice. A repeated call
also returns the same texts, although the server might return other texts for the same request. The API key is
read from OPENAI_API_KEY and is not stored.

Example:
    Generate one text on a local server::

        writer = ServedWriter("llama3", ServerSettings(base_url="http://localhost:11434/v1"))
        writer.complete([Prompt("Say hello.")])   # [[Completion(text='Hello!', finished=True)]]
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, get_args

from graphneg.errors import InputError, ModelError, StoppedError
from graphneg.hashing import number
from graphneg.nn.answers import PROBLEMS, Answer, AnswerCache, Problem
from graphneg.nn.endpoint import KEY, Endpoint, RequestError
from graphneg.nn.generation import item_seed
from graphneg.nn.server_requests import (
    NAMES_OF_LIMIT,
    ServerRequest,
    completion,
    limit_of,
    longer,
    parameters_of,
    read_answer,
)
from graphneg.nn.serving import BASE_URL, Estimate, Pause, ServerSettings, SpendingLimit, tokens_of
from graphneg.nn.writers import (
    PLAIN,
    Completion,
    Constraints,
    GenerationSettings,
    Prompt,
    Route,
    per_prompt,
)

_PATHS: Mapping[Route, str] = {"chat": "/chat/completions", "completion": "/completions"}
_FIRST_ATTEMPTS = 3
"""Number of failed attempts after which a run is stopped if the server has never answered."""
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
"""The first and the longest pause before a request is repeated, in seconds. Each further pause is twice as
long as the pause before, up to the longest pause."""
_UNACCEPTED = (400, 413, 422)
"""HTTP statuses with which a server rejects the content of a request."""
_REJECTED = Answer("", False, problem="not-accepted")
"""The answer that is stored if the server rejects a prompt."""
_log = logging.getLogger(__name__)


class ServedWriter:
    """Generates texts with a model on a server. Several threads may share it.

    Args:
        model: The name of the model on the server.
        serving: The settings for the server. None for default settings with the address in the environment
            variable OPENAI_BASE_URL, or OpenAI's address if this variable is not set.
        route: ``chat`` to use the chat API, ``completion`` to use the completion API.

    Raises:
        ModelError: httpx, which sends the requests, is not installed.
        InputError: The route is unknown, or the cache of answers cannot be used.
    """

    def __init__(self, model: str, serving: ServerSettings | None = None, route: Route = "chat") -> None:
        if route not in _PATHS:
            raise InputError(f"unknown route {route!r}; choose one of {', '.join(get_args(Route))}")
        self.name = model
        self.route: Route = route
        self.serving = serving or ServerSettings()
        self._endpoint = Endpoint(self.serving.url, self.serving.timeout)
        self._limit_name = NAMES_OF_LIMIT[0]
        self._has_answered = False
        self._lock = Lock()
        self._pause = Pause()
        self._spending = SpendingLimit(self.serving)
        self._pool = ThreadPoolExecutor(self.serving.concurrency, "graphneg-served")
        self._answers = AnswerCache(self.serving.answers)
        self._problems: Counter[Problem] = Counter()
        self._solved: Counter[Problem] = Counter()
        self._miscounted = 0

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
        """Return ``n`` texts for each prompt. See `graphneg.nn.writers.Writer.complete`.

        One request is sent for each text, with its own seed. If the server rejects a prompt although it has
        accepted other prompts, a warning is logged, and the text for this prompt is empty and not finished.

        Args:
            prompts: The prompts, with their ids.
            n: Number of texts for each prompt.
            seed: Seed of the run.
            stop: Strings that end a text.
            constraints: Constraints for each prompt; None for no constraints. Constraints are not sent to the
                server. They only determine after which sentence a received text is cut off.
            settings: The settings for search and limits.

        Returns:
            The texts for each prompt, in the order of the prompts.
        """
        requests = self.requests(prompts, n, seed, stop, constraints, settings)
        return _completions(requests, self._cached_or_sent(requests), n)

    def counting(self) -> CountingWriter:
        """Return a writer that only counts requests, to estimate the cost of a run before it starts."""
        return CountingWriter(self)

    def notes(self) -> list[str]:
        """Return messages about unusable answers, one for each problem.

        Returns:
            Messages for the user. Each names a problem, the number of answers with this problem, and how many
            of them became usable when the request was repeated with a higher token limit.
        """
        lines: list[str] = []
        with self._lock:
            for problem, amount in sorted(self._problems.items()):
                what = PROBLEMS[problem].removeprefix("the model's answer ").removeprefix("the ")
                line = f"{_counted(amount)} of {self.name}: {what} ({problem})"
                if problem != "not-accepted":
                    solved = self._solved[problem]
                    line += (
                        f"; repeated with more tokens, {solved:,} became usable, {amount - solved:,} did not"
                    )
                lines.append(line)
            if self._miscounted:
                lines.append(
                    f"{_counted(self._miscounted)} of {self.name} had impossible token counts, which "
                    "were estimated from the texts instead"
                )
        return lines

    def ask(self, request: ServerRequest) -> Answer:
        """Send a request, repeatedly if necessary, and cache the answer.

        If the answer is unusable, the request is repeated once with a higher token limit. Raises `ModelError`
        if the server refuses all requests or has never answered, and `StoppedError` if the server no longer
        answers or if the request might exceed the cost limit.

        Args:
            request: The request to send.

        Returns:
            The answer of the server, which may be unusable.
        """
        answer = self._answer_to(request)
        if answer.problem:
            first = answer.problem
            # Do not send a rejected prompt again, because the server would reject it again.
            if first != "not-accepted":
                again = self._answer_to(longer(request, answer))
                # If the server rejects the higher token limit of the second request, use the first answer.
                answer = answer if again.problem == "not-accepted" else again
            with self._lock:
                self._problems[first] += 1
                self._solved[first] += not answer.problem
        self._answers.put(request.key, answer)
        return answer

    @property
    def spent(self) -> float:
        """The total cost of all answers received so far, in the currency of the prices."""
        return self._spending.spent

    def close(self) -> None:
        """Cancel the requests that were not sent yet, wait for open requests, and close all connections."""
        self._pool.shutdown(cancel_futures=True)
        self._endpoint.close()
        self._answers.close()

    def __repr__(self) -> str:
        """Return a text such as ``<ServedWriter: llama3 at http://localhost:11434/v1>``."""
        return f"<ServedWriter: {self.name} at {self.serving.url}>"

    def requests(
        self,
        prompts: Sequence[Prompt],
        n: int,
        seed: int,
        stop: Sequence[str],
        constraints: Sequence[Constraints] | None,
        settings: GenerationSettings,
    ) -> list[ServerRequest]:
        """Build the requests for prompts, each with its own seed.

        Raises `InputError` if a beam search is requested, or if there are not as many constraints as prompts.

        Args:
            prompts: The prompts, with their ids.
            n: Number of texts for each prompt.
            seed: Seed of the run.
            stop: Strings that end a text.
            constraints: Constraints for each prompt; None for no constraints.
            settings: The settings for search and limits.

        Returns:
            ``n`` requests for each prompt, in the order of the prompts.
        """
        asked = parameters_of(settings, stop)
        requests: list[ServerRequest] = []
        for prompt, held in zip(prompts, per_prompt(constraints, prompts), strict=True):
            text = settings.few_shot_text + prompt.text
            chat = {"messages": [{"role": "user", "content": text}]}
            said = chat if self.route == "chat" else {"prompt": text}
            for draw in range(n):
                # The user's parameters come last, so that they override all other parameters, even the seed.
                own = {"seed": item_seed(seed, prompt.id or prompt.text, draw), **self.serving.parameters}
                body = {"model": self.name, **said, **asked, **own}
                # The server's address is part of the cache key, because different servers may use the same
                # name for different models.
                depends_on = json.dumps([self.serving.url, self.route, body], sort_keys=True)
                key = hashlib.sha256(depends_on.encode()).digest()
                tokens = tokens_of(text), limit_of(body) or settings.max_new_tokens
                requests.append(ServerRequest(body, key, *tokens, held, stop))
        return requests

    def known(self, requests: Sequence[ServerRequest]) -> dict[bytes, Answer]:
        """Look up the answers that are already in the cache.

        Args:
            requests: The requests whose answers are looked up.

        Returns:
            The cached answers, keyed by the keys of their requests. Requests without a cached answer have no
            entry.
        """
        return self._answers.get([request.key for request in requests])

    def _cached_or_sent(self, requests: Sequence[ServerRequest]) -> dict[bytes, Answer]:
        """Return the answers to requests, keyed by the requests' keys. Send requests that are not cached."""
        found = self.known(requests)
        missing = {request.key: request for request in requests if request.key not in found}
        futures: dict[bytes, Future[Answer]] = {}
        try:
            first = iter(missing.items())
            # If the server has never answered, send the first request alone, so that a wrong address or model
            # name causes only one failed request.
            if not self._has_answered:
                for key, request in list(missing.items())[:1]:
                    found[key] = self.ask(request)
                    next(first)
            futures.update((key, self._pool.submit(self.ask, request)) for key, request in first)
            found.update((key, future.result()) for key, future in futures.items())
        finally:
            # If a request fails for good, cancel the requests that have not been sent yet.
            for future in futures.values():
                future.cancel()
        return found

    def _answer_to(self, request: ServerRequest) -> Answer:
        """Send a request until the server answers, and return the answer. See `ask` for the errors."""
        attempt = 0
        while True:
            self._pause.wait()
            reserved = self._spending.reserve(request.tokens_in, request.tokens_out)
            try:
                answer = self._read(self._send(request), request)
            except RequestError as error:
                # The server may have sent and charged an answer that did not arrive. In this case, count the
                # reserved cost as spent.
                self._spending.settle(reserved, reserved.most if error.may_be_charged else 0.0)
                attempt += 1
                if self._is_prompt_refused(error, attempt):
                    _log.warning("%s rejected a prompt: %s", self.serving.url, error)
                    return _REJECTED
                self._wait(error, attempt, request)
            except BaseException:
                self._spending.settle(reserved, 0.0)
                raise
            else:
                self._spending.settle(reserved, self.serving.cost(answer.tokens_in, answer.tokens_out))
                self._has_answered = True
                return answer

    def _send(self, request: ServerRequest) -> Any:
        """Send a request, with the token limit as ``max_tokens`` or as ``max_completion_tokens``."""
        body = dict(request.body)
        limit = body.pop("max_tokens", None)
        if limit is not None:
            body[self._limit_name] = limit
        return self._endpoint.post(_PATHS[self.route], body)

    def _read(self, content: Any, request: ServerRequest) -> Answer:
        """Return the answer in the JSON of a server. Count answers whose token counts are impossible."""
        answer, is_miscounted = read_answer(content, self.route, request)
        with self._lock:
            self._miscounted += is_miscounted
        return answer

    def _is_prompt_refused(self, error: RequestError, attempt: int) -> bool:
        """Decide after a failed attempt whether to give up the prompt, try again, or stop the run.

        Returns:
            True to give up the prompt, because the server rejects it although it has accepted other prompts.
            False to try again.

        Raises:
            ModelError: All requests would fail, because the key, the model, the route or the parameters are
                wrong, or because the server has never answered.
            StoppedError: The server has stopped answering, or the account has no credit.
        """
        url, status = self.serving.url, error.status
        if status in (401, 403):
            has = "does not accept the key in" if os.environ.get(KEY) else "needs a key: set"
            raise ModelError(f"{url}: {has} {KEY} ({error})") from None
        if status == 404:
            raise ModelError(
                f"{url}: has no model {self.name!r}, or no route {self.route} ({error})"
            ) from None
        # OpenAI reports an account without credit with status 429, which it also uses for rate limits.
        # Waiting does not help if the credit is used up.
        if status == 429 and error.code == "insufficient_quota":
            raise StoppedError(
                f"{url}: the account has no credit left ({error}); the answers so far are kept"
            )
        # Newer models of OpenAI reject the parameter "max_tokens" with a message that mentions
        # "max_completion_tokens". Use "max_completion_tokens" in all further requests.
        if status == 400 and NAMES_OF_LIMIT[1] in str(error) and self._limit_name != NAMES_OF_LIMIT[1]:
            self._limit_name = NAMES_OF_LIMIT[1]
            return False
        if status in _UNACCEPTED:
            # If the server has accepted other prompts before, this prompt is the cause of the error, so do
            # not retry. Otherwise, the request itself is wrong, so end the run.
            if self._has_answered:
                return True
            raise ModelError(f"{url}: does not accept the request ({error})") from None
        # Only these statuses are temporary: 408 (timeout), 409 (conflict), 425 (too early), 429 (rate limit)
        # and 5xx (server error). With any other status, another attempt would fail in the same way.
        if status and status not in (408, 409, 425, 429) and status < 500:
            raise ModelError(f"{url}: answers with status {status} ({error})") from None
        # If the server has never answered, its address or the model is probably wrong, so the run stops after
        # a few attempts.
        if not self._has_answered and status != 429 and attempt >= _FIRST_ATTEMPTS:
            if status >= 500:
                what = f"fails for the model {self.name!r} ({error}); check that the server has this model"
                raise ModelError(f"{url}: {what}") from None
            unreached = error.kind == "unreachable"
            what = "no server can be reached at this address" if unreached else f"gives no answer ({error})"
            advice = f"start a server, or set the address of another one with {BASE_URL} or base_url"
            raise ModelError(f"{url}: {what}; {advice}") from None
        if attempt >= self.serving.attempts:
            raise StoppedError(
                f"{url}: no answer in {attempt} attempts ({error}); the answers so far are kept; run the "
                "same command again to continue"
            ) from None
        return False

    def _wait(self, error: RequestError, attempt: int, request: ServerRequest) -> None:
        """Wait before the next attempt. If the server limits the rate of requests, delay all requests."""
        seconds = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (attempt - 1))
        # A rate limit applies to all requests. The server may say how long to wait, but do not wait longer
        # than a minute.
        if error.retry_after is not None or error.status == 429:
            self._pause.extend(min(error.retry_after or seconds, 2 * _LONGEST_WAIT))
            return
        # Vary the pause by up to 25%. Otherwise, requests that failed at the same time would also be repeated
        # at the same time.
        jitter = 0.75 + 0.5 * (number(0, "wait", request.key.hex(), str(attempt)) / 2.0**64)
        time.sleep(seconds * jitter)


class CountingWriter:
    """Counts the requests that a `ServedWriter` would send, to estimate their cost.

    `complete` returns a text if it is cached, and an empty text otherwise.

    Args:
        writer: The writer whose requests are counted.

    Attributes:
        name: The name of the model.
        route: The API that the writer uses: ``chat`` or ``completion``.
        serving: The settings for the server.
        first: The first request that would be sent; None if all answers are cached.
    """

    def __init__(self, writer: ServedWriter) -> None:
        self.name, self.route, self.serving = writer.name, writer.route, writer.serving
        self.first: ServerRequest | None = None
        self._writer = writer
        self._seen: set[bytes] = set()
        self._all = [0, 0, 0]
        self._first_requests = [0, 0, 0]
        self._is_first_call = True

    def begin(self) -> None:
        """Note that the generator starts a new batch of contexts.

        In the next call of `complete`, the generator requests each text for the first time, so its requests
        are also counted in `drafts`. In later calls, it only replaces texts that it has rejected.
        """
        self._is_first_call = True

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
        """Count the requests that `ServedWriter.complete` would send.

        Args:
            prompts: The prompts, with their ids.
            n: Number of texts for each prompt.
            seed: Seed of the run.
            stop: Strings that end a text.
            constraints: Constraints for each prompt; None for no constraints.
            settings: The settings for search and limits.

        Returns:
            The texts for each prompt. A text that is not in the cache is empty and not finished.
        """
        requests = self._writer.requests(prompts, n, seed, stop, constraints, settings)
        here = self._writer.known(requests)
        for request in requests:
            # Do not count a request if its answer is in the cache. Count equal requests only once, because
            # only the first one is sent.
            if request.key in here or request.key in self._seen:
                continue
            self._seen.add(request.key)
            self.first = self.first or request
            for counts in (self._all, self._first_requests)[: 1 + self._is_first_call]:
                for at, amount in enumerate((1, request.tokens_in, request.tokens_out)):
                    counts[at] += amount
        self._is_first_call = False
        return _completions(requests, here, n)

    def ask_first(self) -> None:
        """Send the request in `first`, to check before a run whether the server answers.

        Raises `ModelError` if the server cannot be reached or refuses the request, and `StoppedError` if this
        single request might exceed the cost limit.
        """
        if self.first is not None:
            self._writer.ask(self.first)

    @property
    def drafts(self) -> Estimate:
        """An estimate of the requests if no text is rejected, so that each text is requested once."""
        return self._estimate(self._first_requests)

    @property
    def most(self) -> Estimate:
        """An estimate of the requests in the worst case: each text is requested as often as allowed.

        For this purpose, `complete` returns an empty text if a text is not in the cache. The generator
        rejects empty texts, and requests each of them again until the maximum number of attempts.
        """
        return self._estimate(self._all)

    def notes(self) -> list[str]:
        """Return an empty list: no request is sent, so there is nothing to tell the user."""
        return []

    def _estimate(self, counts: Sequence[int]) -> Estimate:
        """Return an `Estimate` for the numbers of requests, prompt tokens and generated tokens."""
        requests, tokens_in, tokens_out = counts
        cost = self.serving.cost(tokens_in, tokens_out) if self.serving.priced else None
        return Estimate(requests, tokens_in, tokens_out, cost)


def _counted(answers: int) -> str:
    """Return a number of answers as text, such as ``1 answer`` or ``12 answers``."""
    return f"{answers:,} answer{'s' * (answers != 1)}"


def _completions(
    requests: Sequence[ServerRequest], found: Mapping[bytes, Answer], n: int
) -> list[list[Completion]]:
    """Return ``n`` texts for each prompt. The text of a request without an answer is empty and unfinished."""
    texts = [completion(found.get(request.key, Answer("", False)), request) for request in requests]
    return [texts[at : at + n] for at in range(0, len(texts), n)]

"""Ask a server for texts: any server that speaks OpenAI's protocol, hosted or local.

vLLM, llama.cpp, Ollama and ``transformers serve`` speak it. A `ServedWriter` takes prompts and returns texts,
as described in `graphneg.nn.writers`. It sends several requests at once. If a server refuses, stalls, drops
connections or sends invalid data, the request is repeated.

An answer may arrive and still be unusable: cut off at its token limit, empty, refused, or nothing but the
model's thinking (see `graphneg.nn.answers.PROBLEMS`). The request is then repeated once with more tokens. If
that does not help, the text keeps the name of its problem, and `ServedWriter.notes` counts it.

Every other answer is on disk as soon as it has arrived (see `graphneg.nn.answers`), under a digest of server,
model, prompt, parameters and seed. So it is never paid for twice, and the same call returns the same texts,
although servers do not. The API key comes from OPENAI_API_KEY and is not stored.

Example:
    Ask a local server for one text::

        writer = ServedWriter("llama3", Serving(base_url="http://localhost:11434/v1"))
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
from graphneg.nn.answers import PROBLEMS, Answer, Answers, Problem
from graphneg.nn.endpoint import KEY, Endpoint, RequestError
from graphneg.nn.generation import item_seed
from graphneg.nn.server_requests import (
    NAMES_OF_LIMIT,
    Request,
    completion,
    limit_of,
    longer,
    parameters_of,
    read_answer,
)
from graphneg.nn.serving import BASE_URL, Estimate, Pause, Serving, Spending, tokens_of
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
"""Number of attempts after which a server that has never answered is given up."""
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
"""Seconds between two attempts: the first pause, and the longest one. Pauses double in between."""
_UNACCEPTED = (400, 413, 422)
"""HTTP statuses of a server that does not accept the content of a request."""
_NOTHING = Answer("", False, problem="not-accepted")
"""The answer to a prompt that the server does not accept."""
_log = logging.getLogger(__name__)


class ServedWriter:
    """Asks a server for texts. Several threads may share it.

    Args:
        model: The name of the model on the server.
        serving: The server, and how to ask it; by default OpenAI's, or the one in OPENAI_BASE_URL.
        route: ``chat`` for the chat API, ``completion`` for the completion API.

    Raises:
        ModelError: The package that sends requests is not installed.
        InputError: The route is unknown, or the file of answers cannot be used.
    """

    def __init__(self, model: str, serving: Serving | None = None, route: Route = "chat") -> None:
        """Initialize without asking the server."""
        if route not in _PATHS:
            raise InputError(f"route {route!r}: choose one of {', '.join(get_args(Route))}")
        self.name = model
        self.route: Route = route
        self.serving = serving or Serving()
        self._endpoint = Endpoint(self.serving.url, self.serving.timeout)
        self._limit_name = NAMES_OF_LIMIT[0]
        self._met = False
        self._lock = Lock()
        self._pause = Pause()
        self._spending = Spending(self.serving)
        self._pool = ThreadPoolExecutor(self.serving.concurrency, "graphneg-served")
        self._answers = Answers(self.serving.answers)
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

        Each text is a request with its own seed. If the server accepts other prompts but not this one, its
        text is empty and not finished, and a warning is logged.

        Args:
            prompts: The prompts.
            n: Number of texts for each prompt.
            seed: Seed of the run.
            stop: Strings that end a text.
            constraints: Constraints for each prompt. The server does not enforce them; they only cut the
                text.
            settings: The search and the limits.

        Returns:
            The texts of each prompt.
        """
        requests = self.requests(prompts, n, seed, stop, constraints, settings)
        return _completions(requests, self._found(requests), n)

    def counting(self) -> CountingWriter:
        """Return a writer that sends no requests and counts those that this writer would send."""
        return CountingWriter(self)

    def notes(self) -> list[str]:
        """Return a line for each kind of answer that was unusable as it came in this run.

        Returns:
            Lines such as ``12 answers of m were cut off at their limit of tokens (truncated): asked again
            with more tokens, 10 usable then, 2 not``.
        """
        lines: list[str] = []
        with self._lock:
            for problem, amount in sorted(self._problems.items()):
                what = PROBLEMS[problem].removeprefix("the model's answer ").removeprefix("the ")
                line = f"{_counted(amount)} of {self.name}: {what} ({problem})"
                if problem != "not-accepted":
                    solved = self._solved[problem]
                    line += f"; asked again with more tokens, {solved:,} usable then, {amount - solved:,} not"
                lines.append(line)
            if self._miscounted:
                lines.append(
                    f"{_counted(self._miscounted)} of {self.name} came with impossible numbers of tokens: "
                    "these are estimated from the letters"
                )
        return lines

    def ask(self, request: Request) -> Answer:
        """Send a request until there is an answer, and keep the answer.

        An unusable answer is requested once more, with a higher token limit. A server that refuses
        everything, or has never answered, raises `ModelError`. A server that stopped answering, or an answer
        that might exceed the cost limit, raises `StoppedError`.

        Args:
            request: The request.

        Returns:
            The answer.
        """
        answer = self._answer_to(request)
        if answer.problem:
            first = answer.problem
            # A prompt that was refused once would be refused again.
            if first != "not-accepted":
                again = self._answer_to(longer(request, answer))
                # A server may refuse the higher token limit. The first answer is kept then.
                answer = answer if again.problem == "not-accepted" else again
            with self._lock:
                self._problems[first] += 1
                self._solved[first] += not answer.problem
        self._answers.put(request.key, answer)
        return answer

    @property
    def spent(self) -> float:
        """The cost of the answers of this writer so far, in the currency of the prices."""
        return self._spending.spent

    def close(self) -> None:
        """Send no further requests. Answers that are on their way are kept."""
        self._pool.shutdown(cancel_futures=True)
        self._endpoint.close()
        self._answers.close()

    def __repr__(self) -> str:
        """Return the model and the server in angle brackets."""
        return f"<ServedWriter: {self.name} at {self.serving.url}>"

    def requests(
        self,
        prompts: Sequence[Prompt],
        n: int,
        seed: int,
        stop: Sequence[str],
        constraints: Sequence[Constraints] | None,
        settings: GenerationSettings,
    ) -> list[Request]:
        """Return the requests for prompts, each with its own seed.

        A beam search, or a wrong number of constraints, raises `InputError`.

        Args:
            prompts: The prompts.
            n: Number of texts for each prompt.
            seed: Seed of the run.
            stop: Strings that end a text.
            constraints: Constraints for each prompt.
            settings: The search and the limits.

        Returns:
            ``n`` requests for each prompt, in the order of the prompts.
        """
        asked = parameters_of(settings, stop)
        requests: list[Request] = []
        for prompt, held in zip(prompts, per_prompt(constraints, prompts), strict=True):
            text = settings.shown + prompt.text
            chat = {"messages": [{"role": "user", "content": text}]}
            said = chat if self.route == "chat" else {"prompt": text}
            for draw in range(n):
                # The user's own parameters come last, so they may replace the seed.
                own = {"seed": item_seed(seed, prompt.id or prompt.text, draw), **self.serving.parameters}
                body = {"model": self.name, **said, **asked, **own}
                # Two servers may run different models under the same name, so the key contains the address.
                depends_on = json.dumps([self.serving.url, self.route, body], sort_keys=True)
                key = hashlib.sha256(depends_on.encode()).digest()
                tokens = tokens_of(text), limit_of(body) or settings.max_new_tokens
                requests.append(Request(body, key, *tokens, held, stop))
        return requests

    def known(self, requests: Sequence[Request]) -> dict[bytes, Answer]:
        """Return the answers that are already known.

        Args:
            requests: The requests.

        Returns:
            Answers, by the keys of their requests.
        """
        return self._answers.get([request.key for request in requests])

    def _found(self, requests: Sequence[Request]) -> dict[bytes, Answer]:
        """Return the answer to each request, from the file or from the server."""
        found = self.known(requests)
        missing = {request.key: request for request in requests if request.key not in found}
        futures: dict[bytes, Future[Answer]] = {}
        try:
            first = iter(missing.items())
            if not self._met:  # Send the first request alone. If it fails, nothing else was sent.
                for key, request in list(missing.items())[:1]:
                    found[key] = self.ask(request)
                    next(first)
            futures.update((key, self._pool.submit(self.ask, request)) for key, request in first)
            found.update((key, future.result()) for key, future in futures.items())
        finally:
            # If one request fails, the others are not sent any more.
            for future in futures.values():
                future.cancel()
        return found

    def _answer_to(self, request: Request) -> Answer:
        """Send a request until there is an answer. See `ask` for the errors."""
        attempt = 0
        while True:
            self._pause.wait()
            reserved = self._spending.reserve(request.tokens_in, request.tokens_out)
            try:
                answer = self._read(self._send(request), request)
            except RequestError as error:
                # A server may charge for an answer that got lost on its way, so count its highest possible
                # cost.
                self._spending.settle(reserved, reserved.most if error.may_be_paid else 0.0)
                attempt += 1
                if self._is_prompt_refused(error, attempt):
                    _log.warning("a prompt was not accepted by %s: %s", self.serving.url, error)
                    return _NOTHING
                self._wait(error, attempt, request)
            except BaseException:
                self._spending.settle(reserved, 0.0)
                raise
            else:
                self._spending.settle(reserved, self.serving.cost(answer.tokens_in, answer.tokens_out))
                self._met = True
                return answer

    def _send(self, request: Request) -> Any:
        """Send a request once, with the name of the token limit that the server understands."""
        body = dict(request.body)
        limit = body.pop("max_tokens", None)
        if limit is not None:
            body[self._limit_name] = limit
        return self._endpoint.post(_PATHS[self.route], body)

    def _read(self, content: Any, request: Request) -> Answer:
        """Return the answer in what a server sent, and count impossible token counts."""
        answer, is_miscounted = read_answer(content, self.route, request)
        with self._lock:
            self._miscounted += is_miscounted
        return answer

    def _is_prompt_refused(self, error: RequestError, attempt: int) -> bool:
        """Return whether to give up a request because of its prompt; False to send it again.

        Returns:
            True if the server accepted other prompts but not this one.

        Raises:
            ModelError: The server refuses what all requests have in common, or has never answered.
            StoppedError: The server has stopped answering.
        """
        url, status = self.serving.url, error.status
        if status in (401, 403):
            has = "does not take the key of" if os.environ.get(KEY) else "wants a key: set"
            raise ModelError(f"{url}: {has} {KEY} ({error})") from None
        if status == 404:
            raise ModelError(
                f"{url}: has no model {self.name!r}, or no route {self.route} ({error})"
            ) from None
        # OpenAI reports an empty account with the status of a rate limit, but waiting does not help.
        if status == 429 and error.code == "insufficient_quota":
            raise StoppedError(f"{url}: nothing is left to spend there ({error}); what was answered is kept")
        # Newer models of OpenAI refuse "max_tokens" and name "max_completion_tokens" in their message.
        if status == 400 and NAMES_OF_LIMIT[1] in str(error) and self._limit_name != NAMES_OF_LIMIT[1]:
            self._limit_name = NAMES_OF_LIMIT[1]
            return False
        if status in _UNACCEPTED:
            # The server has accepted other prompts, so the content of this one is the reason.
            if self._met:
                return True
            raise ModelError(f"{url}: does not accept what it is asked ({error})") from None
        # 408, 409, 425, 429 and 5xx are temporary: timeout, conflict, too early, rate limit, failure of the
        # server.
        if status and status not in (408, 409, 425, 429) and status < 500:
            raise ModelError(f"{url}: answers with status {status} ({error})") from None
        # A server that has never answered is given up early: its address or the model is probably wrong.
        if not self._met and status != 429 and attempt >= _FIRST_ATTEMPTS:
            if status >= 500:
                what = (
                    f"fails for the model {self.name!r} ({error}); is it there, with what {self.route} needs?"
                )
                raise ModelError(f"{url}: {what}") from None
            unreached = error.kind == "unreachable"
            what = "no server can be reached there" if unreached else f"gives no answer ({error})"
            advice = f"start one, or name another with {BASE_URL} or base_url"
            raise ModelError(f"{url}: {what}; {advice}") from None
        if attempt >= self.serving.attempts:
            raise StoppedError(
                f"{url}: no answer in {attempt} attempts ({error}); what was answered is kept, and the same "
                "command continues from there"
            ) from None
        return False

    def _wait(self, error: RequestError, attempt: int, request: Request) -> None:
        """Wait before the next attempt; if the server limits the rate, let all requests wait."""
        seconds = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (attempt - 1))
        # Rate limits concern all requests. Never wait longer than a minute at once, whatever the server asks
        # for.
        if error.retry_after is not None or error.status == 429:
            self._pause.extend(min(error.retry_after or seconds, 2 * _LONGEST_WAIT))
            return
        # A jitter keeps requests that failed together from being repeated together.
        jitter = 0.75 + 0.5 * (number(0, "wait", request.key.hex(), str(attempt)) / 2.0**64)
        time.sleep(seconds * jitter)


class CountingWriter:
    """Sends no requests, and counts those that would be sent.

    It returns the answers that are already known, and otherwise empty texts.

    Args:
        writer: The writer whose requests are counted.

    Attributes:
        name: The name of the model.
        route: The route of the writer.
        serving: The server.
        first: The first request that would be sent; None if there is none.
    """

    def __init__(self, writer: ServedWriter) -> None:
        """Initialize without any request."""
        self.name, self.route, self.serving = writer.name, writer.route, writer.serving
        self.first: Request | None = None
        self._writer = writer
        self._seen: set[bytes] = set()
        self._all = [0, 0, 0]
        self._drafts = [0, 0, 0]
        self._is_draft = True

    def begin(self) -> None:
        """Count the next call of `complete` as drafts, the first requests for new texts."""
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
        """Count the requests for texts. See `ServedWriter.complete`.

        Args:
            prompts: The prompts.
            n: Number of texts for each prompt.
            seed: Seed of the run.
            stop: Strings that end a text.
            constraints: Constraints for each prompt.
            settings: The search and the limits.

        Returns:
            The known texts of each prompt; unknown ones are empty and not finished.
        """
        requests = self._writer.requests(prompts, n, seed, stop, constraints, settings)
        here = self._writer.known(requests)
        for request in requests:
            # A repeated request is answered from the file, so it counts once.
            if request.key in here or request.key in self._seen:
                continue
            self._seen.add(request.key)
            self.first = self.first or request
            for counts in (self._all, self._drafts)[: 1 + self._is_draft]:
                for at, amount in enumerate((1, request.tokens_in, request.tokens_out)):
                    counts[at] += amount
        self._is_draft = False
        return _completions(requests, here, n)

    def ask_first(self) -> None:
        """Send the first request, to find out whether the server answers before anything is written.

        A server that cannot be reached or refuses the request raises `ModelError`. If a single answer might
        exceed the cost limit, `StoppedError` is raised.
        """
        if self.first is not None:
            self._writer.ask(self.first)

    @property
    def drafts(self) -> Estimate:
        """The requests of the first call since `begin`."""
        return self._estimate(self._drafts)

    @property
    def most(self) -> Estimate:
        """All requests, if every text is refused and asked for again as often as the generator allows."""
        return self._estimate(self._all)

    def notes(self) -> list[str]:
        """Return no notes. See `graphneg.nn.writers.Writer.notes`."""
        return []

    def _estimate(self, counts: Sequence[int]) -> Estimate:
        """Return counts with their cost."""
        requests, tokens_in, tokens_out = counts
        cost = self.serving.cost(tokens_in, tokens_out) if self.serving.priced else None
        return Estimate(requests, tokens_in, tokens_out, cost)


def _counted(answers: int) -> str:
    """Return a number of answers in words."""
    return f"{answers:,} answer{'s' * (answers != 1)}"


def _completions(
    requests: Sequence[Request], found: Mapping[bytes, Answer], n: int
) -> list[list[Completion]]:
    """Return ``n`` texts for each prompt; a text without an answer is empty and not finished."""
    texts = [completion(found.get(request.key, Answer("", False)), request) for request in requests]
    return [texts[at : at + n] for at in range(0, len(texts), n)]

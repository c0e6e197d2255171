"""A writer that asks a server: any that speaks OpenAI's protocol, hosted or of one's own.

vLLM, llama.cpp, Ollama and ``transformers serve`` do. Prompts go in, texts come out, as in
`graphneg.nn.writers`. Several prompts are asked at once. A server that refuses, stalls, drops connections or
sends nonsense is asked again.

An answer can also come and be of no use: cut off at its limit of tokens, empty, refused, or nothing but the
model's thinking (`graphneg.nn.answers.PROBLEMS`). It is asked for once more, with more tokens; if that does
not help, the text keeps the name of its problem, and `ServedWriter.notes` counts it.

Every other answer is on disk as soon as it is here (`graphneg.nn.answers`), by a digest of server, model,
prompt, parameters and seed: it is never paid for again, and the same call gives the same texts although
servers do not. The key is that of OPENAI_API_KEY; it is written nowhere.
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
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
_UNACCEPTED = (400, 413, 422)
_NOTHING = Answer("", False, problem="not-accepted")
_log = logging.getLogger(__name__)


class ServedWriter:
    """Asks a server for texts; see `graphneg.nn.serving.Serving`. Threads may share it.

    Raises:
        ModelError: the package that sends requests is not installed.
        InputError: the file of answers cannot be used.
    """

    def __init__(self, model: str, serving: Serving | None = None, route: Route = "chat") -> None:
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
        """See `graphneg.nn.writers.Writer`. Each of the ``n`` texts is a request of its own, with a seed of
        its own.

        A prompt that the server does not accept, although it accepted others, gives an empty text that is not
        finished, and a warning.
        """
        requests = self.requests(prompts, n, seed, stop, constraints, settings)
        return _completions(requests, self._found(requests), n)

    def counting(self) -> CountingWriter:
        """Return a writer that asks nothing and counts what this one would ask."""
        return CountingWriter(self)

    def notes(self) -> list[str]:
        """Return a line for each kind of answer that could not be used as it came in this run.

        Example:
            ``12 answers of m were cut off at their limit of tokens (truncated): asked again with more tokens,
            10 were usable, 2 were not``
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
        """Ask until there is an answer, once more if it has a problem, and keep it.

        Raises:
            ModelError: the server has refused what all requests have in common, or has never answered.
            StoppedError: it answers no more, or the answer might cost too much.
        """
        answer = self._answer_to(request)
        if answer.problem:
            first = answer.problem
            if first != "not-accepted":
                again = self._answer_to(longer(request, answer))
                answer = answer if again.problem == "not-accepted" else again
            with self._lock:
                self._problems[first] += 1
                self._solved[first] += not answer.problem
        self._answers.put(request.key, answer)
        return answer

    @property
    def spent(self) -> float:
        """What the answers of this writer have cost so far."""
        return self._spending.spent

    def close(self) -> None:
        """Ask nothing any more; what is being answered is kept."""
        self._pool.shutdown(cancel_futures=True)
        self._endpoint.close()
        self._answers.close()

    def __repr__(self) -> str:
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
        """Return ``n`` requests for each prompt, each with a seed of its own.

        Raises:
            InputError: the search is a beam search, or there are more or fewer constraints than prompts.
        """
        asked = parameters_of(settings, stop)
        requests: list[Request] = []
        for prompt, held in zip(prompts, per_prompt(constraints, prompts), strict=True):
            text = settings.shown + prompt.text
            chat = {"messages": [{"role": "user", "content": text}]}
            said = chat if self.route == "chat" else {"prompt": text}
            for draw in range(n):
                own = {"seed": item_seed(seed, prompt.id or prompt.text, draw), **self.serving.parameters}
                body = {"model": self.name, **said, **asked, **own}
                # Servers differ in what they run under the same name of a model.
                depends_on = json.dumps([self.serving.url, self.route, body], sort_keys=True)
                key = hashlib.sha256(depends_on.encode()).digest()
                tokens = tokens_of(text), limit_of(body) or settings.max_new_tokens
                requests.append(Request(body, key, *tokens, held, stop))
        return requests

    def known(self, requests: Sequence[Request]) -> dict[bytes, Answer]:
        """Return the answers that are here, by the requests' keys."""
        return self._answers.get([request.key for request in requests])

    def _found(self, requests: Sequence[Request]) -> dict[bytes, Answer]:
        """Return the answer to each request: from the file, or the server's."""
        found = self.known(requests)
        missing = {request.key: request for request in requests if request.key not in found}
        futures: dict[bytes, Future[Answer]] = {}
        try:
            first = iter(missing.items())
            if not self._met:  # one by itself: if it fails, nothing else was asked
                for key, request in list(missing.items())[:1]:
                    found[key] = self.ask(request)
                    next(first)
            futures.update((key, self._pool.submit(self.ask, request)) for key, request in first)
            found.update((key, future.result()) for key, future in futures.items())
        finally:
            for future in futures.values():
                future.cancel()
        return found

    def _answer_to(self, request: Request) -> Answer:
        """Send a request until there is an answer. Raises: as `ask`."""
        attempt = 0
        while True:
            self._pause.wait()
            reserved = self._spending.reserve(request.tokens_in, request.tokens_out)
            try:
                answer = self._read(self._send(request), request)
            except RequestError as error:
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
        body = dict(request.body)
        limit = body.pop("max_tokens", None)
        if limit is not None:
            body[self._limit_name] = limit
        return self._endpoint.post(_PATHS[self.route], body)

    def _read(self, content: Any, request: Request) -> Answer:
        """Return the answer in what a server sent, and count odd numbers of tokens.

        Raises:
            RequestError: there is none.
        """
        answer, is_miscounted = read_answer(content, self.route, request)
        with self._lock:
            self._miscounted += is_miscounted
        return answer

    def _is_prompt_refused(self, error: RequestError, attempt: int) -> bool:
        """Return whether a request is given up because of its prompt; False if it is to be sent again.

        Raises:
            ModelError: the server has refused what all requests have in common, or has never answered.
            StoppedError: it answers no more.
        """
        url, status = self.serving.url, error.status
        if status in (401, 403):
            has = "does not take the key of" if os.environ.get(KEY) else "wants a key: set"
            raise ModelError(f"{url}: {has} {KEY} ({error})") from None
        if status == 404:
            raise ModelError(
                f"{url}: has no model {self.name!r}, or no route {self.route} ({error})"
            ) from None
        if status == 429 and error.code == "insufficient_quota":
            raise StoppedError(f"{url}: nothing is left to spend there ({error}); what was answered is kept")
        if status == 400 and NAMES_OF_LIMIT[1] in str(error) and self._limit_name != NAMES_OF_LIMIT[1]:
            self._limit_name = NAMES_OF_LIMIT[1]
            return False
        if status in _UNACCEPTED:
            if self._met:
                return True
            raise ModelError(f"{url}: does not accept what it is asked ({error})") from None
        if status and status not in (408, 409, 425, 429) and status < 500:
            raise ModelError(f"{url}: answers with status {status} ({error})") from None
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
                "command goes on from there"
            ) from None
        return False

    def _wait(self, error: RequestError, attempt: int, request: Request) -> None:
        """Wait before the next attempt; if the server limits the rate, all requests wait."""
        seconds = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (attempt - 1))
        if error.retry_after is not None or error.status == 429:
            self._pause.extend(min(error.retry_after or seconds, 2 * _LONGEST_WAIT))
            return
        jitter = 0.75 + 0.5 * (number(0, "wait", request.key.hex(), str(attempt)) / 2.0**64)
        time.sleep(seconds * jitter)


class CountingWriter:
    """Asks nothing: gives the answers that are here, else empty texts, and counts what would be asked.

    ``first`` is the first request that would be sent; ``drafts`` counts those of the first call since
    `begin`.
    """

    def __init__(self, writer: ServedWriter) -> None:
        self.name, self.route, self.serving = writer.name, writer.route, writer.serving
        self.first: Request | None = None
        self._writer = writer
        self._seen: set[bytes] = set()
        self._all = [0, 0, 0]
        self._drafts = [0, 0, 0]
        self._is_draft = True

    def begin(self) -> None:
        """Count the next call as drafts."""
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
        """See `ServedWriter.complete`; nothing is asked."""
        requests = self._writer.requests(prompts, n, seed, stop, constraints, settings)
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
        return _completions(requests, here, n)

    def ask_first(self) -> None:
        """Send the first request, so that it is known whether the server answers before anything is written.

        Raises:
            ModelError: it cannot be reached, or refuses what it is asked.
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

    def notes(self) -> list[str]:
        """See `graphneg.nn.writers.Writer.notes`."""
        return []

    def _estimate(self, counts: Sequence[int]) -> Estimate:
        requests, tokens_in, tokens_out = counts
        cost = self.serving.cost(tokens_in, tokens_out) if self.serving.priced else None
        return Estimate(requests, tokens_in, tokens_out, cost)


def _counted(answers: int) -> str:
    return f"{answers:,} answer{'s' * (answers != 1)}"


def _completions(
    requests: Sequence[Request], found: Mapping[bytes, Answer], n: int
) -> list[list[Completion]]:
    """Return ``n`` texts for each prompt; one that was not found is empty and not finished."""
    texts = [completion(found.get(request.key, Answer("", False)), request) for request in requests]
    return [texts[at : at + n] for at in range(0, len(texts), n)]

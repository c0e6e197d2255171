"""Worker processes, threads that work ahead, and the interpreter's settings for large batches.

In: a function, by its name where another process runs it, and a stream of items. Out: its results, in order.

A child is a plain Python program that reads requests from its standard input and writes answers to its
standard output, both pickled. So it inherits no thread, lock or connection of the parent (a fork would), it
does not run the caller's main module again (``multiprocessing`` would), and it ends when the parent does,
however that ends: its input is then at an end.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import re
import signal
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import islice
from queue import SimpleQueue
from threading import Lock
from typing import IO, Any, Generic, Self, TypeVar

from graphneg.errors import GraphnegError

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 3
"""Items that are read before their turn: enough that no thread or child waits, and memory stays flat."""

_BOOT = (
    "import pickle, sys\n"
    "sys.path[:] = pickle.load(sys.stdin.buffer)\n"
    "from graphneg.workers import serve\n"
    "serve()\n"
)
_PASSED = re.compile(
    r"""
    # the user, the system and its folders
    (PATH|HOME|USER|LOGNAME|USERNAME|SHELL|TERM|COLUMNS|TZ|LANG|LANGUAGE|LC_\w+|XDG_\w+|TMPDIR|TEMP|TMP)
    |(SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES|USERPROFILE)
    |(HOMEDRIVE|HOMEPATH|NUMBER_OF_PROCESSORS|PROCESSOR_\w+)
    # Python, Java, libraries of the system, and what measures tests
    |(PYTHON\w*|VIRTUAL_ENV|CONDA_PREFIX|LD_\w+|DYLD_\w+|COVERAGE_\w+|COV_CORE_\w+|PYTEST_\w+)
    |(JAVA_HOME|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS)
    # threads and devices
    |(OMP|GOMP|KMP|MKL|OPENBLAS|BLIS|VECLIB|NUMEXPR|CUDA|NVIDIA|NCCL|CUBLAS|HIP|HSA|ROCR|ROCM)_\w+
    # models: where they lie, where they come from, how they are run
    |(HF|TRANSFORMERS|TOKENIZERS|SENTENCE_TRANSFORMERS|TORCH|PYTORCH|TRITON|CT2|ORT|SPACY|STANZA|NLTK)_\w+
    |((HTTP|HTTPS|ALL|NO)_PROXY|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)
    |GRAPHNEG_\w+
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Variables that a child process gets; the names of the rest may be anything, those of secrets as well."""
_SECRET = re.compile(
    r"(^|_)(TOKENS?|PASS|PASSWORD|PASSWD|PASSPHRASE|SECRETS?|(API|ACCESS)?_?KEY|CREDENTIALS?|AUTH)(_|$)", re.I
)
"""Secrets among them: ``HF_TOKEN``, ``GRAPHNEG_PAGES_PASSWORD``."""
_SIGNS_IN = re.compile(r"//[^/\s]*@")
"""An address with a user's name or password, such as that of a proxy: ``http://ann:secret@proxy:3128``."""
_ONE_THREAD: dict[str, str] = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


def child_environment() -> dict[str, str]:
    """Return the environment for a child process: what it needs to run, and no secrets.

    A parser may run in a child process; its own settings reach it if their names start with ``GRAPHNEG_``.
    A model that only a token opens must be fetched before, or the token be kept by ``hf auth login``.

    >>> {"PATH", "HF_TOKEN"} & child_environment().keys()
    {'PATH'}
    """
    return {
        name: value
        for name, value in os.environ.items()
        if _PASSED.fullmatch(name) and not _SECRET.search(name) and not _SIGNS_IN.search(value)
    }


def ahead(work: Callable[[Item], Result], items: Iterable[Item], at_once: int = AHEAD) -> Iterator[Result]:
    """``work(item)`` for each item, in order; the next ``at_once`` are done in threads meanwhile.

    What ``work`` raises is raised here. Leaving early waits for the items at work.

    >>> list(ahead(str, [1, 2, 3]))
    ['1', '2', '3']
    """
    with ThreadPoolExecutor(at_once, thread_name_prefix="graphneg-ahead") as threads:
        yield from _in_order(partial(threads.submit, work), items, at_once)


def _in_order(
    submit: Callable[[Item], Future[Result]], items: Iterable[Item], at_once: int
) -> Iterator[Result]:
    """The results of the items, of which so many are submitted before their turn."""
    source = iter(items)
    coming = deque(map(submit, islice(source, at_once)))
    while coming:
        done = coming.popleft().result()
        coming.extend(map(submit, islice(source, 1)))
        yield done


class WorkerError(GraphnegError):
    """A worker process ended in the middle of its work."""


class Workers(Generic[Item, Result]):
    """Child processes that each call ``target`` once, and what it returns for each item.

    ``target`` is ``module:function``; called with ``arguments`` it returns a function of one item.
    With ``count`` above 1 each child keeps to one thread. Use it in a ``with`` statement.
    """

    def __init__(self, target: str, arguments: tuple[Any, ...], count: int) -> None:
        self._idle: SimpleQueue[_Child] = SimpleQueue()
        self._children = [_Child(target, arguments, _ONE_THREAD if count > 1 else {}) for _ in range(count)]
        for child in self._children:
            self._idle.put(child)
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="graphneg-worker")

    def ask(self, item: Item) -> Result:
        """The result of one item, from whichever child is idle.

        Raises `WorkerError`: the child ended. What the target raised is raised here as well.
        """
        child = self._idle.get()
        try:
            return child.ask(item)
        finally:
            self._idle.put(child)

    def ask_each(self, item: Item) -> list[Result]:
        """What each child makes of one item: all are ready then. Raises as `ask` does."""
        return [asked.result() for asked in [self._pool.submit(child.ask, item) for child in self._children]]

    def map(self, items: Iterable[Item]) -> Iterator[Result]:
        """The result of each item, in order; a few items are read ahead of their turn."""
        return _in_order(partial(self._pool.submit, self.ask), items, AHEAD * len(self._children) - 1)

    def close(self) -> None:
        """End the children, in the middle of their work if need be."""
        for child in self._children:
            child.end()
        self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Child:
    """One process; it takes one request at a time."""

    def __init__(self, target: str, arguments: tuple[Any, ...], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BOOT],  # -P: the working directory is no place to import from
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**child_environment(), **environment},
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout
        with contextlib.suppress(BrokenPipeError):
            _send(sys.path, self._requests)
            _send((target, arguments), self._requests)

    def ask(self, item: Any) -> Any:
        """The answer to one item; raises what the function raised, or `WorkerError`."""
        try:
            _send(item, self._requests)
            succeeded, answer = pickle.load(self._answers)
        except (EOFError, OSError, ValueError) as error:
            code = self._process.wait()
            how = f"by signal {-code}; did memory run out?" if code < 0 else f"with status {code}"
            raise WorkerError(f"a worker process was ended {how}") from error
        if not succeeded:
            raise answer
        return answer

    def end(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            self._requests.close()


def _send(message: Any, stream: IO[bytes]) -> None:
    pickle.dump(message, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


def serve() -> None:
    """What a child does: make the function that the first message names, then answer the others.

    Where the function can't be made, the reason is the answer to every request.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # What libraries print goes to standard error.
    with contextlib.suppress(EOFError, BrokenPipeError):
        made, work = _attempt(_made, *pickle.load(requests))
        while True:
            item = pickle.load(requests)
            _send(_attempt(work, item) if made else (False, work), answers)


def _attempt(function: Callable[..., Any], *arguments: Any) -> tuple[bool, Any]:
    """Whether the function returned, and what; or what it raised."""
    try:
        return True, function(*arguments)
    except Exception as error:
        return False, portable(error)


def _made(target: str, arguments: tuple[Any, ...]) -> Callable[[Any], Any]:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)(*arguments)


def portable(error: Exception) -> Exception:
    """The error, or one that says the same, where it can't be pickled; with where it came from."""
    where = "in a worker process:\n" + "".join(traceback.format_exception(error))
    try:
        portable: Exception = pickle.loads(pickle.dumps(error))
    except Exception:
        kind = GraphnegError if isinstance(error, GraphnegError) else RuntimeError
        portable = kind(f"{type(error).__name__}: {error}")
    if not isinstance(portable, GraphnegError):
        portable.add_note(where)
    return portable


YOUNG = 100_000
"""New objects between two collections."""
SWITCH = 0.0005
"""Seconds after which a thread lets another one go on."""

Restore = Callable[[], None]


def _while_used(change: Callable[[], Restore]) -> Callable[[], AbstractContextManager[None]]:
    """A context manager that changes the interpreter for its first user and restores it after the last."""
    lock = Lock()
    restores: list[Restore] = []
    users = 0

    @contextmanager
    def changed() -> Generator[None]:
        nonlocal users
        with lock:
            users += 1
            if users == 1:
                restores.append(change())
        try:
            yield
        finally:
            with lock:
                users -= 1
                if users == 0:
                    restores.pop()()

    return changed


@_while_used
def fewer_collections() -> Restore:
    """Collect seldom inside the block; a collector that is off, or slower already, stays as it is.

    A batch makes some hundred thousand small objects that all live until it is finished: to look through
    them for cycles, again and again, took a fifth of the client's time.
    """
    before = gc.get_threshold()
    if 0 < before[0] < YOUNG:
        gc.set_threshold(YOUNG, *before[1:])
    return lambda: gc.set_threshold(*before)


@_while_used
def sooner_switches() -> Restore:
    """Let threads that come back from the server go on at once inside the block, not after Python's 5 ms."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SWITCH))
    return lambda: sys.setswitchinterval(before)

"""Run functions in threads and worker processes, and tune the Python interpreter for large batches.

`prefetch_map` calls a function for the items of a stream in threads and yields the results in order:

>>> list(prefetch_map(str, [1, 2, 3]))
['1', '2', '3']

`Workers` does the same in processes. A worker process is a separate Python program that reads pickled
requests from standard input and writes pickled results to standard output. Unlike a forked process, it does
not inherit threads, locks or connections from its parent. Unlike a process of ``multiprocessing``, it does
not import the caller's main module. When the parent ends for any reason, the standard input of the worker
ends, and the worker exits.
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
from graphneg.imports import mark_own_process

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 3
"""Number of items that are read before their results are needed.

The number is large enough to keep threads and workers busy, and small enough to save memory.
"""

_BOOT = (
    "import pickle, sys\n"
    "sys.path[:] = pickle.load(sys.stdin.buffer)\n"
    "from graphneg.workers import serve\n"
    "serve()\n"
)
_INHERITED = re.compile(
    r"""
    # the user, the system and its folders
    (PATH|HOME|USER|LOGNAME|USERNAME|SHELL|TERM|COLUMNS|TZ|LANG|LANGUAGE|LC_\w+|XDG_\w+|TMPDIR|TEMP|TMP)
    |(SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES|USERPROFILE)
    |(HOMEDRIVE|HOMEPATH|NUMBER_OF_PROCESSORS|PROCESSOR_\w+)
    # Python, Java, system libraries, and tools that measure the coverage of tests
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
"""Pattern of the names of environment variables that a worker inherits. Other variables may contain secrets,
so they are not passed on."""
_SECRET = re.compile(r"TOKEN(?!IZER)|PASS|SECRET|CREDENTIAL|AUTH|(^|_|API|ACCESS)KEY|(^|_)PAT(_|\d|$)", re.I)
"""Matches names of variables that contain secrets, such as ``HF_TOKEN``. They are not passed on even if
`_INHERITED` matches."""
_WITH_CREDENTIALS = re.compile(r"//[^/\s]*@|(pass|passwd|password|secret|token)=", re.I)
"""Matches values that contain a user name or a password, such as ``http://ann:secret@host/`` or
``-Djavax.net.ssl.keyStorePassword=secret``. They are not passed on."""
_PROXY = re.compile(r"(HTTP|HTTPS|ALL|NO)_PROXY", re.I)
"""Names of variables with the address of a proxy. An address with an ``@`` contains a password:
``ann:secret@proxy:3128``."""
_ONE_THREAD: dict[str, str] = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


def child_environment() -> dict[str, str]:
    """Return the environment variables that a child process needs, without secrets.

    A child process may run a parser of a third party, which must not get the user's secrets. To pass a
    setting to the process, use an environment variable whose name starts with ``GRAPHNEG_``. If a model needs
    a token, download the model beforehand, or store the token with ``hf auth login``.

    Returns:
        A dict from the names of the variables to their values.

    Example:
        >>> {"PATH", "HF_TOKEN"} & child_environment().keys()
        {'PATH'}
    """
    return {
        name: value
        for name, value in os.environ.items()
        if _INHERITED.fullmatch(name)
        and not _SECRET.search(name)
        and not _WITH_CREDENTIALS.search(value)
        and not (_PROXY.fullmatch(name) and "@" in value)
    }


def prefetch_map(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int = AHEAD
) -> Iterator[Result]:
    """Yield the results of a function in order, while threads already compute the results of the next items.

    If the function raises an exception, the iterator raises the same exception. If the caller stops early,
    the items in progress are finished first.

    Args:
        work: Function that takes one item.
        items: The items to pass to the function.
        threads: Number of threads, which is also the number of items that are read ahead.

    Yields:
        The results in the order of the items.

    Example:
        >>> list(prefetch_map(str, [1, 2, 3]))
        ['1', '2', '3']
    """
    # The `with` statement waits for all threads, even after an error. When this function returns, no call of
    # `work` is still running.
    with ThreadPoolExecutor(threads, thread_name_prefix="graphneg-ahead") as pool:
        yield from _in_order(partial(pool.submit, work), items, threads)


def _in_order(
    submit: Callable[[Item], Future[Result]], items: Iterable[Item], at_once: int
) -> Iterator[Result]:
    """Yield the results of items in order. Up to ``at_once`` items are submitted ahead of time."""
    source = iter(items)
    coming = deque(map(submit, islice(source, at_once)))
    while coming:
        done = coming.popleft().result()
        # Submit a new item only when a result is taken, so that memory use is constant.
        coming.extend(map(submit, islice(source, 1)))
        yield done


class WorkerError(GraphnegError):
    """A worker process ended before it returned the result for an item."""


class Workers(Generic[Item, Result]):
    """A pool of worker processes. Each worker creates a function once, and then calls it for each item.

    If there are several workers, each worker uses a single thread. Use the pool in a ``with`` statement.
    """

    def __init__(self, target: str, arguments: tuple[Any, ...], count: int) -> None:
        """Start the worker processes.

        Args:
            target: Function that each worker calls once, as ``module:function``. It takes ``arguments`` and
                returns the function that is then called for each item.
            arguments: Arguments of ``target``.
            count: Number of worker processes.
        """
        self._idle: SimpleQueue[_WorkerProcess] = SimpleQueue()
        # If there are several workers, let each use only one thread, so that they do not compete for cores.
        self._children = [
            _WorkerProcess(target, arguments, _ONE_THREAD if count > 1 else {}) for _ in range(count)
        ]
        for child in self._children:
            self._idle.put(child)
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="graphneg-worker")

    def ask(self, item: Item) -> Result:
        """Send an item to an idle worker, and return the result. Wait if all workers are busy.

        If the function raises an exception in the worker, this method raises the same exception. Raises
        `WorkerError` if the worker process ends.

        Args:
            item: The item to pass to the function.

        Returns:
            The result.
        """
        child = self._idle.get()
        try:
            return child.ask(item)
        finally:
            self._idle.put(child)

    def ask_each(self, item: Item) -> list[Result]:
        """Send the same item to each worker, and return all results. Raises the same errors as `ask`.

        Args:
            item: The item to pass to the function.

        Returns:
            One result from each worker. When this method returns, all workers have started.
        """
        return [asked.result() for asked in [self._pool.submit(child.ask, item) for child in self._children]]

    def map(self, items: Iterable[Item]) -> Iterator[Result]:
        """Process items in parallel, and return their results in the order of the items.

        The iterator reads a limited number of items in advance, so that all workers are busy.

        Args:
            items: The items to pass to the function.

        Returns:
            An iterator over the results.
        """
        return _in_order(partial(self._pool.submit, self.ask), items, AHEAD * len(self._children) - 1)

    def close(self) -> None:
        """Kill the workers, even if they are working on items."""
        for child in self._children:
            child.end()
        self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        """Return the pool."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the workers."""
        self.close()


class _WorkerProcess:
    """A worker process, to which the parent process sends one request at a time."""

    def __init__(self, target: str, arguments: tuple[Any, ...], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BOOT],  # -P: do not import modules from the working directory.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**child_environment(), **environment},
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout
        with contextlib.suppress(BrokenPipeError):
            # If the process has already ended, ignore the broken pipe: `ask` reports the failure.
            _send_pickled(sys.path, self._requests)
            _send_pickled((target, arguments), self._requests)

    def ask(self, item: Any) -> Any:
        """Send an item to the worker. Return the worker's result, or raise the worker's exception."""
        try:
            _send_pickled(item, self._requests)
            succeeded, answer = pickle.load(self._answers)
        except (EOFError, OSError, ValueError) as error:
            # A negative status means that a signal ended the process. Signal 9 often means that the kernel
            # killed it because memory ran out.
            code = self._process.wait()
            how = f"by signal {-code}; did memory run out?" if code < 0 else f"with status {code}"
            raise WorkerError(f"a worker process was ended {how}") from error
        if not succeeded:
            raise answer
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            self._requests.close()


def _send_pickled(message: Any, stream: IO[bytes]) -> None:
    pickle.dump(message, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


def serve() -> None:
    """Run the loop of a worker process.

    The first message contains the name of a factory function. The function that it returns is called with
    each further message, and the result is sent back. If the factory function raises an error, this error is
    sent back for each further message.
    """
    mark_own_process()
    # Ignore Ctrl-C, which the terminal sends to all processes of the group. The parent stops the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # Redirect standard output to standard error, so that texts that libraries print are not mixed with the
    # results.
    os.dup2(2, 1)
    with contextlib.suppress(EOFError, BrokenPipeError):
        made, work = _result_or_error(_create_function, *pickle.load(requests))
        while True:
            item = pickle.load(requests)
            _send_pickled(_result_or_error(work, item) if made else (False, work), answers)


def _result_or_error(function: Callable[..., Any], *arguments: Any) -> tuple[bool, Any]:
    try:
        return True, function(*arguments)
    except Exception as error:
        return False, portable(error)


def _create_function(target: str, arguments: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Call the factory function ``MODULE:NAME``. Return its result, a function that processes items."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)(*arguments)


def portable(error: Exception) -> Exception:
    """Convert an exception into one that can be pickled and that shows where it was raised.

    Args:
        error: Any exception.

    Returns:
        A copy of the exception; if it cannot be pickled, another exception with the same message.
    """
    where = "in a worker process:\n" + "".join(traceback.format_exception(error))
    try:
        # Try both pickling and unpickling, because some exceptions can only be pickled.
        portable: Exception = pickle.loads(pickle.dumps(error))
    except Exception:
        kind = GraphnegError if isinstance(error, GraphnegError) else RuntimeError
        portable = kind(f"{type(error).__name__}: {error}")
    if not isinstance(portable, GraphnegError) or portable.is_plugin_failure:
        portable.add_note(where)
    return portable


YOUNG = 100_000
"""Number of new objects after which a garbage collection starts, in a block of `collect_garbage_rarely`."""
SWITCH = 0.0005
"""Number of seconds after which a thread lets another thread run, in a block of `shorten_switch_interval`."""

Restore = Callable[[], None]


def _as_shared_setting(change: Callable[[], Restore]) -> Callable[[], AbstractContextManager[None]]:
    """Return a context manager that calls ``change`` to change a setting of the interpreter.

    Several ``with`` blocks can be active at the same time. The setting is restored when the last one ends.
    """
    lock = Lock()
    restores: list[Restore] = []
    users = 0

    @contextmanager
    def changed() -> Generator[None]:
        nonlocal users
        with lock:
            users += 1
            # Several `with` blocks may be active at once, nested or in different threads. The first one to
            # start changes the setting, and the last one to end restores it.
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


@_as_shared_setting
def collect_garbage_rarely() -> Restore:
    """Run the garbage collector less often within a ``with`` block.

    A batch of dialogues consists of several hundred thousand small objects, all of which are needed until the
    batch is finished. If the garbage collector repeatedly searches them for reference cycles, this takes a
    fifth of the time. If the collector is off or already runs less often, nothing is changed.

    Returns:
        A function that restores the previous threshold. It is called at the end of the block.
    """
    before = gc.get_threshold()
    if 0 < before[0] < YOUNG:
        gc.set_threshold(YOUNG, *before[1:])
    return lambda: gc.set_threshold(*before)


@_as_shared_setting
def shorten_switch_interval() -> Restore:
    """Let threads take turns every 0.5 ms instead of every 5 ms within a ``with`` block.

    A thread that has received a response of the server then waits less until it can continue.

    Returns:
        A function that restores the previous interval. It is called at the end of the block.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SWITCH))
    return lambda: sys.setswitchinterval(before)

"""Run pipelines on a Ray cluster: actors on all nodes process the blocks of `graphneg.pipeline`.

The output is the same file that one machine would write. Parsing and making negatives are two stages, each of
which is a ``map_batches`` call of Ray Data. The actors of both stages work at the same time and keep their
models loaded. Ray Data slows down a stage that gets too far ahead of the other stage. If a node fails,
another node processes its blocks again. The file of a finished block is written to a folder beside the
output, so all nodes must have access to this folder. The module needs the extra ``ray``:

    with connected("10.0.0.1:6379"):
        run_on(read_pipeline("pipeline.yaml"))
"""

from __future__ import annotations

import logging
import os
import pickle
import platform
import socket
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg import __version__
from graphneg.amr.facts import facts_fingerprint
from graphneg.editing.export import Exported
from graphneg.errors import GraphnegError, InputError, StoppedError, StoreError, first_line
from graphneg.model import Rejected
from graphneg.pipeline import (
    Actors,
    BlockResult,
    Listener,
    Maker,
    Parses,
    Pipeline,
    Reader,
    checked,
    run_block,
    run_pipeline,
)
from graphneg.progress import Progress
from graphneg.shards import Shard
from graphneg.store.opening import ADDRESS

if TYPE_CHECKING:
    import ray.data

# Switch off two checks of pyright, because Ray's functions are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

LOCAL = "local"
"""Address that starts a cluster on this machine alone. The cluster stops when this process disconnects."""
_ANSWER_SECONDS = 10.0
"""Number of seconds to wait for the head node of a cluster to answer."""
_ATTEMPTS = 2
"""Maximum number of attempts to process a block. There is a limit because a block may crash every actor that
processes it."""
_RETRIES = 1
"""Number of times that Ray itself retries a block if the actor that processed it has died."""
_PAUSE_SECONDS = 5.0
"""Number of seconds to wait before blocks whose actors have died are processed again."""
_CREDENTIALS = tuple(
    f"NEO4J_{name}" for name in ("USERNAME", "PASSWORD", "DATABASE", "READER_USERNAME", "READER_PASSWORD")
)
"""Environment variables with credentials. Their values are passed to actors as arguments, because the Ray
dashboard does not show arguments."""


def negatives(
    pipeline: Pipeline,
    address: str = LOCAL,
    progress: Progress | None = None,
    *,
    overwrite: bool = False,
    on_rejected: Listener | None = None,
) -> ray.data.Dataset:
    """Run a pipeline on a cluster and return the negatives as a dataset.

    This process stays connected to the cluster, because the dataset is read by the cluster. If the process is
    already connected to a cluster, that cluster is used, and ``address`` is ignored.

    Args:
        pipeline: The pipeline to run.
        address: Address of the cluster, ``HOST:PORT`` or ``local``.
        progress: Progress display; advanced by the number of finished blocks.
        overwrite: Whether to replace a file that another pipeline wrote.
        on_rejected: Function that is called with each rejected input item.

    Returns:
        A dataset that reads the output file.
    """
    ray = _import_ray()
    pipeline = checked(pipeline)
    _connect(address)
    run_on(pipeline, progress, overwrite=overwrite, on_rejected=on_rejected)
    read = ray.data.read_parquet if pipeline.write.endswith(".parquet") else ray.data.read_json
    return read(os.path.abspath(pipeline.write))


def run_on(
    pipeline: Pipeline,
    progress: Progress | None = None,
    *,
    overwrite: bool = False,
    on_rejected: Listener | None = None,
) -> Exported:
    """Run a pipeline on the cluster that this process is connected to. See also `run_pipeline`.

    Args:
        pipeline: The pipeline to run.
        progress: Progress display; advanced by the number of finished blocks.
        overwrite: Whether to replace a file that another pipeline wrote.
        on_rejected: Function that is called with each rejected input item.

    Returns:
        The number of negatives in the file, and whether the file was already complete.

    Raises:
        InputError: The store is a directory, which other nodes cannot access.
    """
    # All nodes must have the same versions of graphneg and Python. With different versions, the output could
    # be different.
    nodes = _check_versions_of_nodes()
    if pipeline.store is not None and nodes > 1 and not ADDRESS.match(pipeline.store):
        raise InputError(
            f"{pipeline.store}: other nodes can't open a store in a directory; name a Neo4j server, or no "
            "store"
        )
    return run_pipeline(
        pipeline, _process_with_actors, progress, overwrite=overwrite, on_rejected=on_rejected
    )


@contextmanager
def connected(address: str) -> Generator[None]:
    """Connect to a cluster for the duration of a ``with`` block.

    Args:
        address: Address of the cluster, ``HOST:PORT`` or ``local``.

    Yields:
        Nothing.
    """
    ray = _import_ray()
    _connect(address)
    try:
        yield
    finally:
        ray.shutdown()


def _import_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise InputError(f"Ray is missing ({error}): pip install 'graphneg[ray]'") from error
    return ray


def _connect(address: str) -> None:
    """Connect to a cluster, unless this process is already connected to one."""
    ray = _import_ray()
    # If the caller has already connected to a cluster, use that cluster.
    if ray.is_initialized():
        return
    quiet: dict[str, Any] = {"logging_level": "error", "log_to_driver": False}
    if address == LOCAL:
        try:
            ray.init(address=LOCAL, **quiet)
        except Exception as error:  # Ray raises exceptions of many classes here, even for a timeout.
            raise InputError(f"Ray does not start on this machine ({first_line(error)})") from error
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        # Test the connection first, because Ray waits for a long time if the address does not answer.
        with socket.create_connection((host, int(port)), _ANSWER_SECONDS):
            pass
    except (OSError, ValueError) as error:
        raise _connection_error(address, error) from error
    try:
        ray.init(address=address, **quiet)
    except Exception as error:  # The class of the exception depends on the version of Ray.
        raise _connection_error(address, error) from error


def _connection_error(address: str, error: Exception) -> InputError:
    wrong = InputError(
        f"no Ray cluster at {address} that this process can join ({first_line(error)}): start one with "
        "`ray start --head` and the same Ray and Python, name it as HOST:PORT, or use --ray local"
    )
    wrong.status = 2
    return wrong


def _check_versions_of_nodes() -> int:
    """Check that all nodes have the same versions of graphneg and Python. Return the number of nodes."""
    ray = _import_ray()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    # Ray sends the code of this function to each node. graphneg may not be installed there, so the function
    # handles a failed import.
    def what_is_there() -> str:
        import platform

        try:
            from graphneg import __version__ as version
            from graphneg.amr.facts import facts_fingerprint as facts

            return f"graphneg {version} ({facts()[:8]}), Python {platform.python_version()}"
        except ImportError as error:
            return f"no graphneg that can be imported ({error})"

    here = f"graphneg {__version__} ({facts_fingerprint()[:8]}), Python {platform.python_version()}"
    nodes = [node for node in ray.nodes() if node["Alive"]]
    asked = ray.remote(num_cpus=0, max_retries=1)(what_is_there)
    there = [
        asked.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)).remote()
        for node in nodes
    ]
    alive = 0
    for node, answer in zip(nodes, there, strict=True):
        try:
            found = ray.get(answer)
        except ray.exceptions.TaskUnschedulableError:  # Ray listed the node, but it has failed since.
            continue
        except ray.exceptions.RayError as error:
            found = f"no answer ({first_line(error)})"
        if found != here:
            raise InputError(
                f"the node {node['NodeManagerAddress']} has {found}, but this node has {here}: install the "
                "same versions"
            )
        alive += 1
    return alive


def _process_with_actors(
    pipeline: Pipeline, shards: Sequence[Shard], folder: Path | None
) -> Iterator[BlockResult]:
    """Process blocks with actors. If an actor dies, process its block again."""
    _import_ray().data.DataContext.get_current().enable_progress_bars = False
    # Importing Ray Data changes the log level, so set it afterwards.
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    left = {str(shard): None for shard in shards}
    with _original_errors():
        # If an actor died, there is no result for its block. The block stays in `left` for the next attempt.
        for attempt in range(_ATTEMPTS):
            time.sleep(_PAUSE_SECONDS * bool(attempt))
            for name, done in _results_of_blocks(pipeline, list(left), folder):
                del left[name]
                if isinstance(done, Exception):
                    raise done
                yield done
            if not left:
                return
    for name in left:
        yield BlockResult(failure_reason=f"block {name}: the actor of the block ended in each attempt")


def _results_of_blocks(
    pipeline: Pipeline, names: Sequence[str], folder: Path | None
) -> Iterator[tuple[str, BlockResult | Exception]]:
    """Yield the name and result of each block, except for blocks whose actors died or do not answer."""
    ray = _import_ray()
    try:
        for row in _dataset_of_blocks(pipeline, names, folder).iter_rows():
            yield row["block"], pickle.loads(row["done"])
    except ray.exceptions.ActorUnavailableError:
        return


def _dataset_of_blocks(pipeline: Pipeline, names: Sequence[str], folder: Path | None) -> ray.data.Dataset:
    """Return a dataset with a row for each block. The blocks are processed when the rows are read."""
    ray = _import_ray()
    # Use an absolute path, because actors run in a different working directory.
    where = None if folder is None else folder.absolute()
    found = ray.data.from_items([{"block": name} for name in names], override_num_blocks=len(names))
    credentials = {name: os.environ[name] for name in _CREDENTIALS if name in os.environ}
    arguments = (pickle.dumps(pipeline), where, credentials)
    with warnings.catch_warnings():  # Hide Ray's warnings about `max_task_retries`, which Ray accepts anyway.
        warnings.simplefilter("ignore")
        # If all blocks share a store, an earlier call of this function, with `folder` None, has parsed all
        # texts.
        if pipeline.parse is not None and (where is None or pipeline.store is None):
            found = found.map_batches(
                _ParseActor, **_actor_arguments(pipeline.parse_workers, arguments, len(names))
            )
        if where is not None:
            found = found.map_batches(
                _MakeActor, **_actor_arguments(pipeline.negative_workers, arguments, len(names))
            )
    # Tolerate any number of failed blocks: if actors die, `_process_with_actors` processes their blocks
    # again.
    found.context.max_errored_blocks = -1
    return found


def _actor_arguments(actors: Actors, arguments: tuple[Any, ...], most: int) -> dict[str, Any]:
    """Return the arguments of Ray's ``map_batches`` that set the number and resources of a stage's actors."""
    ray = _import_ray()
    amount = min(actors.count, most)
    return {
        "batch_size": 1,
        "compute": ray.data.ActorPoolStrategy(size=amount, max_tasks_in_flight_per_actor=1),
        "num_cpus": actors.cpus,
        "num_gpus": actors.gpus or None,
        "fn_constructor_args": arguments,
        "max_task_retries": _RETRIES,
    }


class _ParseActor:
    """Ray actor that runs `Reader`, the first stage of a pipeline. Each batch contains one block of input."""

    def __init__(self, pipeline: bytes, folder: Path | None, credentials: dict[str, str]) -> None:
        os.environ.update(credentials)
        self._folder, self._stage = folder, Reader(pickle.loads(pipeline))

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Parse one block of dialogues, whose name is in the batch."""
        shard = Shard.parse(str(batch["block"][0]))
        parses: list[Parses | None] = []
        done = _tried(shard, self._parse, shard, parses)
        return {"block": [str(shard)], "done": [pickle.dumps(done)], "parses": [pickle.dumps(parses)]}

    def _parse(self, shard: Shard, parses: list[Parses | None], refused: list[Rejected]) -> None:
        """Parse a block. Write the graphs to the shared store; without one, add them to ``parses``."""
        if self._folder is None:
            self._stage.into_store(shard, refused)
        else:
            parses.append(self._stage.parse(shard, self._folder, refused))


class _MakeActor:
    """Ray actor that makes negatives: it runs the stage `Maker` of a pipeline on one block of dialogues."""

    def __init__(self, pipeline: bytes, folder: Path, credentials: dict[str, str]) -> None:
        os.environ.update(credentials)
        self._stage = Maker(pickle.loads(pipeline), folder)

    def __del__(self) -> None:
        """Close the embedded store when Ray deletes the actor."""
        self._stage.close()

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Make negatives from the dialogues of a block, unless the first pipeline stage failed on it."""
        shard = Shard.parse(str(batch["block"][0]))
        done = before = pickle.loads(batch["done"][0]) if "done" in batch else BlockResult()
        # If the first stage failed, return its result unchanged.
        if isinstance(before, BlockResult) and not before.failure_reason:
            [parsed] = pickle.loads(batch["parses"][0]) if "parses" in batch else [None]
            done = _tried(shard, self._stage.make, shard, parsed)
            if isinstance(done, BlockResult):
                done = BlockResult([*before.rejected, *done.rejected], done.failure_reason)
        return {"block": [str(shard)], "done": [pickle.dumps(done)]}


def _tried(shard: Shard, work: Callable[..., None], *arguments: Any) -> BlockResult | Exception:
    """Process a block. Return its result, or an exception that ends the run and names the cluster node."""
    try:
        return run_block(shard, work, *arguments)
    except (GraphnegError, OSError) as error:
        kind = next((kind for kind in (StoreError, StoppedError) if isinstance(error, kind)), InputError)
        with_node = kind(f"{first_line(error)} (on the node {_import_ray().util.get_node_ip_address()})")
        with_node.status = getattr(error, "status", with_node.status)
        return with_node


@contextmanager
def _original_errors() -> Generator[None]:
    """Raise the original exceptions of actors, and convert errors of Ray itself into an `InputError`."""
    ray = _import_ray()
    try:
        yield
    except ray.exceptions.RayError as error:
        cause: BaseException | None = error
        # Ray wraps the exceptions of actors, sometimes twice. Search for the original exception.
        while cause is not None and not isinstance(cause, GraphnegError):
            cause = getattr(cause, "cause", None) or cause.__cause__
        if cause is not None:
            raise cause from error
        raise InputError(
            f"the cluster gave up ({first_line(error)}); run the same command again to continue"
        ) from error

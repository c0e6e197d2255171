"""Run pipelines on a Ray cluster: the blocks of `graphneg.pipeline`, done by actors on all nodes.

A pipeline and the address of a cluster go in. The output is the same file as on one machine. Actors that
parse and actors that make negatives hold their models and work side by side, as two `map_batches` of Ray
Data, which slows down those that are ahead. A block whose node fails is done again on another node. Finished
blocks are files in the folder of the output, which all nodes must share. The module needs the extra ``ray``:

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
from graphneg.editing.export import Exported
from graphneg.errors import GraphnegError, InputError, StoppedError, StoreError, first_line
from graphneg.model import Rejected
from graphneg.pipeline import (
    Actors,
    Done,
    Listener,
    Maker,
    Parses,
    Pipeline,
    Reader,
    attempted,
    checked,
    run_pipeline,
)
from graphneg.progress import Progress
from graphneg.shards import Shard
from graphneg.store.opening import ADDRESS, facts_fingerprint

if TYPE_CHECKING:
    import ray.data

# Ray's calls are untyped in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

LOCAL = "local"
"""Address of a cluster of this machine alone, which runs as long as the pipeline."""
_ANSWER_SECONDS = 10.0
"""Seconds to wait for the head of a cluster."""
_ATTEMPTS = 2
"""Number of times that unfinished blocks are started. A block that crashes every actor must come to an end.
"""
_RETRIES = 1
"""Number of times that a block is retried at once if its actor ended."""
_PAUSE_SECONDS = 5.0
"""Seconds before unfinished blocks are started again, after actors of a lost node could not be reached."""
_SIGNING_IN = tuple(
    f"NEO4J_{name}" for name in ("USERNAME", "PASSWORD", "DATABASE", "READER_USERNAME", "READER_PASSWORD")
)
"""Credentials. Actors get them as arguments, which no dashboard shows."""


def negatives(
    pipeline: Pipeline,
    address: str = LOCAL,
    progress: Progress | None = None,
    *,
    overwrite: bool = False,
    on_rejected: Listener | None = None,
) -> ray.data.Dataset:
    """Run a pipeline on a cluster and return its negatives.

    The cluster stays connected, because the dataset reads the file of the pipeline. If this process is
    connected to a cluster already, that one is used.

    Args:
        pipeline: The pipeline.
        address: Address of the cluster, ``HOST:PORT`` or ``local``.
        progress: Receives the number of finished blocks.
        overwrite: Replace a file that another pipeline wrote.
        on_rejected: Called with each refused item.

    Returns:
        The negatives.
    """
    ray = _ray()
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
    """Run a pipeline on the cluster that this process is connected to; see `run_pipeline`.

    Args:
        pipeline: The pipeline.
        progress: Receives the number of finished blocks.
        overwrite: Replace a file that another pipeline wrote.
        on_rejected: Called with each refused item.

    Returns:
        The number of negatives in the file.

    Raises:
        InputError: The store is a directory that other nodes cannot see.
    """
    # Other versions of graphneg or Python give other bytes.
    nodes = _alike_nodes()
    if pipeline.store is not None and nodes > 1 and not ADDRESS.match(pipeline.store):
        raise InputError(f"{pipeline.store}: other nodes can't see a directory; name a Neo4j, or no store")
    return run_pipeline(pipeline, _by_actors, progress, overwrite=overwrite, on_rejected=on_rejected)


@contextmanager
def connected(address: str) -> Generator[None]:
    """Connect to a cluster for the length of a ``with`` block.

    Args:
        address: Address of the cluster, ``HOST:PORT`` or ``local``.

    Yields:
        Nothing.
    """
    ray = _ray()
    _connect(address)
    try:
        yield
    finally:
        ray.shutdown()


def _ray() -> Any:
    """Import Ray, or raise an error that says how to install it."""
    try:
        import ray
    except ImportError as error:
        raise InputError(f"Ray is missing ({error}): pip install 'graphneg[ray]'") from error
    return ray


def _connect(address: str) -> None:
    """Connect to a cluster, unless this process is connected already."""
    ray = _ray()
    # A cluster that the caller has joined is used as it is.
    if ray.is_initialized():
        return
    quiet: dict[str, Any] = {"logging_level": "error", "log_to_driver": False}
    if address == LOCAL:
        try:
            ray.init(address=LOCAL, **quiet)
        except Exception as error:  # Ray raises plain ones: "The current node timed out during startup".
            raise InputError(f"Ray does not start on this machine ({first_line(error)})") from error
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        # Fail fast: Ray itself waits long for an address that does not answer.
        with socket.create_connection((host, int(port)), _ANSWER_SECONDS):
            pass
    except (OSError, ValueError) as error:
        raise _no_cluster(address, error) from error
    try:
        ray.init(address=address, **quiet)
    except Exception as error:  # The class depends on the version of Ray.
        raise _no_cluster(address, error) from error


def _no_cluster(address: str, error: Exception) -> InputError:
    """Return the error for a cluster that cannot be joined."""
    wrong = InputError(
        f"no Ray cluster at {address} that this process can join ({first_line(error)}): start one with "
        "`ray start --head` and the same Ray and Python, name it as HOST:PORT, or say --ray local"
    )
    wrong.status = 2
    return wrong


def _alike_nodes() -> int:
    """Return the number of nodes, after checking that all have the same graphneg and Python."""
    ray = _ray()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def what_is_there() -> str:  # Sent by value, because the node may have no graphneg to import it from.
        import platform

        try:
            from graphneg import __version__ as version
            from graphneg.store.opening import facts_fingerprint as facts

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
        except ray.exceptions.TaskUnschedulableError:  # The node is gone, and the cluster did not know.
            continue
        except ray.exceptions.RayError as error:
            found = f"no answer ({first_line(error)})"
        if found != here:
            raise InputError(
                f"the node {node['NodeManagerAddress']} has {found}, this one {here}: install the same"
            )
        alive += 1
    return alive


def _by_actors(pipeline: Pipeline, shards: Sequence[Shard], folder: Path | None) -> Iterator[Done]:
    """Do blocks by actors, and start those again whose actors ended."""
    _ray().data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # Importing it sets another level.
    left = {str(shard): None for shard in shards}
    with _told():
        # A block whose actor was lost has no row: it stays in `left`.
        for attempt in range(_ATTEMPTS):
            time.sleep(_PAUSE_SECONDS * bool(attempt))
            for name, done in _rows(pipeline, list(left), folder):
                del left[name]
                if isinstance(done, Exception):
                    raise done
                yield done
            if not left:
                return
    for name in left:
        yield Done(fault=f"block {name}: its actor ended each time")


def _rows(
    pipeline: Pipeline, names: Sequence[str], folder: Path | None
) -> Iterator[tuple[str, Done | Exception]]:
    """Yield the results of blocks, without those whose actors ended or could not be reached."""
    ray = _ray()
    try:
        for row in _blocks(pipeline, names, folder).iter_rows():
            yield row["block"], pickle.loads(row["done"])
    except ray.exceptions.ActorUnavailableError:
        return


def _blocks(pipeline: Pipeline, names: Sequence[str], folder: Path | None) -> ray.data.Dataset:
    """Return the blocks of these names as a dataset, which does them when its rows are read."""
    ray = _ray()
    # Actors run in other working directories.
    where = None if folder is None else folder.absolute()
    found = ray.data.from_items([{"block": name} for name in names], override_num_blocks=len(names))
    signing_in = {name: os.environ[name] for name in _SIGNING_IN if name in os.environ}
    arguments = (pickle.dumps(pipeline), where, signing_in)
    with warnings.catch_warnings():  # Ray warns about options that it passes on, such as `max_task_retries`.
        warnings.simplefilter("ignore")
        # With a store for all blocks, parsing is a run of its own, without a folder.
        if pipeline.parse is not None and (where is None or pipeline.store is None):
            found = found.map_batches(_ParseActor, **_pool(pipeline.parsers, arguments, len(names)))
        if where is not None:
            found = found.map_batches(_MakeActor, **_pool(pipeline.makers, arguments, len(names)))
    found.context.max_errored_blocks = -1  # Only blocks whose actors end are errors; these are started again.
    return found


def _pool(actors: Actors, arguments: tuple[Any, ...], most: int) -> dict[str, Any]:
    """Return the options of `map_batches` for one stage."""
    ray = _ray()
    amount = min(actors.amount, most)
    return {
        "batch_size": 1,
        "compute": ray.data.ActorPoolStrategy(size=amount, max_tasks_in_flight_per_actor=1),
        "num_cpus": actors.cpus,
        "num_gpus": actors.gpus or None,
        "fn_constructor_args": arguments,
        "max_task_retries": _RETRIES,
    }


class _ParseActor:
    """An actor of the first stage, `Reader`, for batches of one block."""

    def __init__(self, pipeline: bytes, folder: Path | None, signing_in: dict[str, str]) -> None:
        """Initialize the stage on the node."""
        os.environ.update(signing_in)
        self._folder, self._stage = folder, Reader(pickle.loads(pipeline))

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Parse a block."""
        shard = Shard.parse(str(batch["block"][0]))
        parses: list[Parses | None] = []
        done = _tried(shard, self._parse, shard, parses)
        return {"block": [str(shard)], "done": [pickle.dumps(done)], "parses": [pickle.dumps(parses)]}

    def _parse(self, shard: Shard, parses: list[Parses | None], refused: list[Rejected]) -> None:
        """Parse a block in the store of all, or keep its parses for the second stage."""
        if self._folder is None:
            self._stage.into_store(shard, refused)
        else:
            parses.append(self._stage.parse(shard, self._folder, refused))


class _MakeActor:
    """An actor of the second stage, `Maker`, for batches of one block."""

    def __init__(self, pipeline: bytes, folder: Path, signing_in: dict[str, str]) -> None:
        """Initialize the stage on the node."""
        os.environ.update(signing_in)
        self._stage = Maker(pickle.loads(pipeline), folder)

    def __del__(self) -> None:
        """Close the store when Ray drops the actor."""
        self._stage.close()

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Make the negatives of a block, unless the first stage failed."""
        shard = Shard.parse(str(batch["block"][0]))
        done = before = pickle.loads(batch["done"][0]) if "done" in batch else Done()
        # A block that failed in the first stage goes through unchanged.
        if isinstance(before, Done) and not before.fault:
            [parsed] = pickle.loads(batch["parses"][0]) if "parses" in batch else [None]
            done = _tried(shard, self._stage.make, shard, parsed)
            if isinstance(done, Done):
                done = Done([*before.refused, *done.refused], done.fault)
        return {"block": [str(shard)], "done": [pickle.dumps(done)]}


def _tried(shard: Shard, work: Callable[..., None], *arguments: Any) -> Done | Exception:
    """Return the result of a block, or the error that ends the run, with the node that raised it."""
    try:
        return attempted(shard, work, *arguments)
    except (GraphnegError, OSError) as error:
        kind = next((kind for kind in (StoreError, StoppedError) if isinstance(error, kind)), InputError)
        told = kind(f"{first_line(error)} (on the node {_ray().util.get_node_ip_address()})")
        told.status = getattr(error, "status", told.status)
        return told


@contextmanager
def _told() -> Generator[None]:
    """Raise errors of actors here. Errors of Ray itself become one line."""
    ray = _ray()
    try:
        yield
    except ray.exceptions.RayError as error:
        cause: BaseException | None = error
        # Ray wraps the exceptions of actors, sometimes twice.
        while cause is not None and not isinstance(cause, GraphnegError):
            cause = getattr(cause, "cause", None) or cause.__cause__
        if cause is not None:
            raise cause from error
        raise InputError(
            f"the cluster gave up ({first_line(error)}); run the same command again to continue"
        ) from error

"""A Ray cluster of several nodes on this machine, for tests and benchmarks."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

os.environ["RAY_raylet_start_wait_time_s"] = "600"  # noqa: SIM112 (read when ray is imported)
os.environ["RAY_AUTH_MODE"] = "disabled"

import ray
from ray.cluster_utils import Cluster

from tests.servers import free_port

STORE_BYTES = 80 * 2**20


def node_arguments(**more: Any) -> dict[str, Any]:
    """Return the arguments for a small node, with free ports.

    Otherwise, Ray would search for free ports for at most 15 seconds, which is too short on a busy machine.
    """
    names = ("metrics_agent_port", "metrics_export_port", "runtime_env_agent_port")
    names = (*names, "dashboard_agent_listen_port")
    return {"num_cpus": 2, "object_store_memory": STORE_BYTES} | {name: free_port() for name in names} | more


@contextmanager
def cluster_of(nodes: int, **more: Any) -> Generator[Cluster]:
    """Start a cluster, and connect this process to it.

    The head node runs tasks only if ``nodes`` is 0, that is, if it is the only node.
    """
    head = node_arguments(include_dashboard=False, **({"num_cpus": 0} if nodes else more))
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(nodes):
            cluster.add_node(wait=False, **node_arguments(**more))
        cluster.wait_for_nodes(timeout=600)
        ray.init(address=cluster.address, logging_level="error", log_to_driver=False)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()

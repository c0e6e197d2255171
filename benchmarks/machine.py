"""Describe the machine that a benchmark ran on, and the versions of its software."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path


def machine_rows() -> list[tuple[str, str]]:
    """Return pairs of a name and a value that describe the machine and the software, but not the servers."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("graphneg", "neo4j", "neo4j-rust-ext"))
    return [
        ("date", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("processor", f"{processor()}, {cores()} cores"),
        ("memory", f"{memory_gib():.0f} GiB"),
        ("system", platform.platform(terse=True)),
        ("Python", f"Python {platform.python_version()}; {packages}"),
        ("load", f"load average before the run {os.getloadavg()[0]:.1f}"),
    ]


def processor() -> str:
    """Return the name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_gib() -> float:
    """Return the size of the main memory in GiB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30

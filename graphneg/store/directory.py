"""The directory of an embedded store: what may be opened as one, and the files that say what it is.

``store.json`` marks a directory as a store and gives its format and engine; ``endpoint.json``
exists while a server runs and says how to reach it; ``server.log`` is that server's last log.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

from graphneg.errors import StoreError
from graphneg.store import keeper

FORMAT = 1
MARK = "store.json"
OWN_NAMES = (MARK, keeper.LOCK, keeper.ENDPOINT, keeper.LOG, keeper.PASSWORD, keeper.ENGINE)
LOG_NOISE = re.compile(r"incubator|Polyglot|sponsor|Plugins directory|^\s+at ")
LOG_TROUBLE = re.compile(r"SEVER|ERROR|Exception|Error|WARNI|No space|Permission|denied|cannot|Could not")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How to reach the server that runs in a directory, and which graphneg started it."""

    protocol: int
    graphneg: str
    java: int
    control_port: int
    token: str
    password: str


def prepare(directory: Path, engine_version: str) -> None:
    """Make ``directory`` a store, or check that it is one which this engine can open.

    Raises:
        StoreError: it is a file, holds something else, can't be written, or needs another version.
    """
    try:
        refuse_what_is_no_store(directory)
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (directory / MARK).exists():
            check_mark(directory, engine_version)
        else:
            directory.chmod(0o700)
        write_mark(directory, engine_version)
    except OSError as error:
        raise StoreError(
            f"can't use {directory} as a store: {error.strerror or error}; "
            "name a directory that you may write, on a disk with room"
        ) from error


def refuse_what_is_no_store(directory: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise StoreError(f"{directory} is a file: a store is a directory, name one that is empty or new")
    if directory.is_dir() and not (directory / MARK).exists():
        strange = [entry.name for entry in directory.iterdir() if not entry.name.startswith(OWN_NAMES)]
        if strange:
            raise StoreError(
                f"{directory} is not a graphneg store (it holds {min(strange)} and no {MARK}): "
                "name a store, or a directory that is empty or new"
            )


def check_mark(directory: Path, engine_version: str) -> None:
    mark = read_mark(directory / MARK)
    if mark.get("format") != FORMAT:
        raise StoreError(
            f"{directory} has store format {mark.get('format')}, this graphneg reads format {FORMAT}: "
            "open it with the graphneg that made it, or load the corpora into a new directory"
        )
    written = str(mark.get("engine_version", ""))
    if mark.get("engine") != keeper.ENGINE or release(written) > release(engine_version):
        raise StoreError(
            f"{directory} was written by {mark.get('engine')} {written}, installed is {keeper.ENGINE} "
            f"{engine_version}: run `pip install --upgrade arcadedb-embedded`"
        )


def release(version: str) -> tuple[int, ...]:
    """The numbers of a version that change the files on disk: ``26.10.2.post1`` gives ``(26, 10)``."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def write_mark(directory: Path, engine_version: str) -> None:
    mark = {"format": FORMAT, "engine": keeper.ENGINE, "engine_version": engine_version}
    text = json.dumps(mark, indent=1) + "\n"
    target = directory / MARK
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return
    scratch = directory / f"{MARK}.{os.getpid()}"
    with open(scratch, "w", encoding="utf-8", opener=keeper.private) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(target)


def read_mark(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise StoreError(f"{path} is damaged ({error}): restore it from a copy of the store") from error
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}


def read_endpoint(directory: Path) -> Endpoint | None:
    """How to reach the directory's server; ``None`` where none has said so in a way that can be read."""
    try:
        content = json.loads((directory / keeper.ENDPOINT).read_text(encoding="utf-8"))
        return Endpoint(**{field.name: content[field.name] for field in fields(Endpoint)})
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def log_tail(directory: Path) -> str:
    """The lines of the last server's log that say most about its end."""
    try:
        lines = (directory / keeper.LOG).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return "it left no log"
    lines = [line.strip() for line in lines if line.strip() and not LOG_NOISE.search(line)]
    trouble = [place for place, line in enumerate(lines) if LOG_TROUBLE.search(line)]
    end = trouble[-1] + 2 if trouble else len(lines)
    return "\n  ".join(["the end of its log:", *lines[max(end - 4, 0) : end]])

"""Keep an archive of Java classes, from which the embedded server of a store starts faster.

Java 24 and newer can save the loaded and linked classes of a program in a file, the ahead-of-time (AOT) cache
(JEP 483), called archive here. With an archive, a command that opens a small store takes about a third less
processor time. An archive is made in three steps:

1. A server that finds no archive runs with the flags for a recording. When it exits, Java writes the names of
   the classes and how they were used to a file, the recording.
2. When the server has ended, the supervisor calls `make_archive`, which starts this file as a process with
   low priority (``python -I java_archive.py``). Commands do not wait for this process.
3. The process runs Java to make the archive from the recording, and then gives the archive its name.

    archive = archive_path(folder, java, jars, java_flags)  # ~/.cache/graphneg/java/3f0c….aot
    [*command, *archive_flags(archive, os.environ), "com.arcadedb.server.ArcadeDBServer"]

An archive contains code, so it is in a folder that only the user can access. Java ignores an archive whose
checksum is wrong, or which another release of Java or other jar files have made. Older releases of Java
ignore the flags, and make no recording.

This module uses only the standard library and two modules of graphneg that import only the standard library,
because the supervisor process of an embedded store imports it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

# Add the folder of graphneg to the path, because Python does not do so in isolated mode.
if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from graphneg.file_locks import lock_exclusively
from graphneg.private_files import private_folder, private_opener

# Remove the folder of graphneg from the path, because all later imports are from the standard library.
if __name__ == "__main__":
    del sys.path[0]

ARCHIVE = ".aot"
RECORDING = ".recording"
UNFINISHED = ".unfinished"
LOCK = "making.lock"
"""The file that a process locks while it makes an archive, so that only one archive is made at a time."""
MAKING_SECONDS = 300.0
"""Maximum number of seconds that Java may take to make an archive."""
LONGEST_SECONDS = {ARCHIVE: 30 * 86_400.0, RECORDING: 86_400.0, UNFINISHED: 86_400.0}
"""Age in seconds, by suffix, from which a file is removed when another archive is made. An archive takes
50 MB. Killed processes leave recordings and unfinished archives."""
OPTIONS = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
"""Environment variables from which Java reads flags."""
_OWN_ARCHIVE = re.compile("aot|cds|share|archive", re.IGNORECASE)
"""Pattern of the flags for archives, such as ``-Xshare:off`` and ``-XX:SharedArchiveFile``."""


def archive_path(folder: Path, java: str, jars: Path, java_flags: Sequence[str]) -> Path:
    """Return the path of the archive for a Java program, its jar files and its flags.

    Args:
        folder: The folder with all archives.
        java: The Java program.
        jars: The folder with the jar files.
        java_flags: The flags, without those that only set a size.

    Returns:
        A path, whose name is a hash of the arguments and of the sizes and times of the files.

    Raises:
        OSError: A file cannot be read.
    """  # noqa: DOC502
    files = [Path(os.path.realpath(java)), *sorted(jars.glob("*.jar"))]
    parts = [*java_flags, *(f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files)]
    return folder / (hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32] + ARCHIVE)


def recording_of(archive: Path) -> Path:
    """Return the path of the recording, a file from which Java makes an archive of its classes.

    Args:
        archive: The path of the archive.

    Returns:
        A path in the folder of the archive. It contains the id of this process, so no other process uses it.
    """
    return archive.with_suffix(f".{os.getpid()}{RECORDING}")


def archive_flags(archive: Path, environment: Mapping[str, str]) -> list[str]:
    """Return the flags with which Java uses an archive, or makes a recording if there is no archive.

    Args:
        archive: The path of the archive.
        environment: The environment variables of the Java process.

    Returns:
        The flags; an empty list if the environment contains flags for another archive, because Java does not
        start with both.
    """
    if any(_OWN_ARCHIVE.search(environment.get(name, "")) for name in OPTIONS):
        return []
    # Compare the checksums of an archive. Without this flag, Java may crash if bytes of the archive changed.
    if archive.is_file():
        return [f"-XX:AOTCache={archive}", "-XX:+VerifySharedSpaces"]
    return ["-XX:AOTMode=record", f"-XX:AOTConfiguration={recording_of(archive)}"]


def make_archive(archive: Path, command: Sequence[str], environment: Mapping[str, str] | None) -> None:
    """Start a process that makes an archive of Java classes, with which later servers start faster.

    The archive is made from the recording that the server of this process has written. If Java is older than
    Java 24 or was killed, there is no recording, and nothing is done.

    Args:
        archive: The path of the archive.
        command: The Java program and its flags, without the flags of this module and without a class to run.
        environment: The environment variables of the server; None for those of this process.
    """
    recording = recording_of(archive)
    if not recording.is_file():
        return
    order = {"archive": str(archive), "recording": str(recording), "command": [*command]}
    process = subprocess.Popen(
        [sys.executable, "-I", __file__],
        # Do not run in the working directory of this process: it is a store, which users may want to remove.
        cwd=archive.parent,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdin
    with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
        stdin.write(json.dumps(order).encode())


def main() -> int:
    """Make the archive of Java classes that a JSON object on standard input describes.

    Returns:
        The exit status.
    """
    order = json.load(sys.stdin)
    if hasattr(os, "nice"):
        os.nice(19)
    archive, recording = Path(order["archive"]), Path(order["recording"])
    try:
        with open(private_folder(archive.parent) / LOCK, "ab", opener=private_opener) as lock:
            # Another process may have made the same archive in the meantime.
            if lock_exclusively(lock) and not archive.exists():
                _remove_old(archive.parent)
                _make(archive, recording, order["command"])
    finally:
        recording.unlink(missing_ok=True)
    return 0


def _make(archive: Path, recording: Path, command: list[str]) -> None:
    """Run Java to make an archive. If it fails, the next server makes a new recording."""
    with tempfile.TemporaryDirectory(suffix=UNFINISHED, dir=archive.parent) as folder:
        made = Path(folder) / archive.name
        flags = ["-XX:AOTMode=create", f"-XX:AOTConfiguration={recording}", f"-XX:AOTCache={made}"]
        done = subprocess.run(
            [command[0], *flags, *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=MAKING_SECONDS,
        )
        if done.returncode == 0 and made.is_file():
            made.replace(archive)


def _remove_old(folder: Path) -> None:
    """Remove old archives, and recordings and temporary folders that killed processes have left."""
    for left in folder.iterdir():
        with contextlib.suppress(OSError):
            age = time.time() - left.lstat().st_mtime
            if age > LONGEST_SECONDS.get(left.suffix, math.inf):
                shutil.rmtree(left) if left.is_dir() else left.unlink()


if __name__ == "__main__":
    sys.exit(main())

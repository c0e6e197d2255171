"""The archive of Java classes, from which the embedded server starts faster."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from graphneg.java_archive import LONGEST_SECONDS, archive_flags, archive_path, make_archive, recording_of
from graphneg.store import supervisor
from graphneg.store.embedded import find_engine, join
from graphneg.store.opening import open_store

MAKING_SECONDS = 120.0


def flags_of_server(store: Path) -> list[str]:
    """Return the flags for archives with which the server of a store runs."""
    membership = join(store)
    try:
        words = Path(f"/proc/{membership.java}/cmdline").read_text().split("\0")
        return [word for word in words if "AOT" in word]
    finally:
        membership.leave()


def use(store: Path) -> None:
    with open_store(store) as opened:
        assert opened.read("RETURN 1 AS one") == [{"one": 1}]


def await_archive(folder: Path) -> Path:
    deadline = time.monotonic() + MAKING_SECONDS
    while not (found := [*folder.glob("*.aot")]) or [*folder.glob("*.recording")]:
        assert time.monotonic() < deadline, [*folder.iterdir()]
        time.sleep(0.1)
    return found[0]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads the command line of Java in /proc")
def test_the_first_server_makes_an_archive_which_the_next_ones_use_unless_it_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store, folder = tmp_path / "store", tmp_path / "graphneg" / "java"
    use(store)
    archive = await_archive(folder)
    assert archive.stat().st_mode & 0o077 == folder.stat().st_mode & 0o077 == 0
    assert flags_of_server(store) == [f"-XX:AOTCache={archive}"]
    use(store)
    with archive.open("r+b") as file:
        file.seek(archive.stat().st_size // 2)
        file.write(os.urandom(10_000))
    use(store)
    archive.write_bytes(b"")
    use(store)
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-Xshare:off")
    assert flags_of_server(store) == []


def test_java_makes_a_recording_if_there_is_no_archive(tmp_path: Path) -> None:
    archive = tmp_path / "a.aot"
    recording = f"-XX:AOTConfiguration={recording_of(archive)}"
    assert archive_flags(archive, {"JDK_JAVA_OPTIONS": "-Xmx1g"}) == ["-XX:AOTMode=record", recording]
    archive.touch()
    assert archive_flags(archive, {}) == [f"-XX:AOTCache={archive}", "-XX:+VerifySharedSpaces"]


@pytest.mark.parametrize("flag", ["-Xshare:off", "-XX:SharedArchiveFile=a.jsa", "-XX:AOTCache=a.aot"])
@pytest.mark.parametrize("name", ["JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"])
def test_the_users_flags_for_archives_are_kept(tmp_path: Path, name: str, flag: str) -> None:
    assert archive_flags(tmp_path / "a.aot", {name: f"-Xmx1g {flag}"}) == []


def test_each_java_and_each_engine_has_its_own_archive(tmp_path: Path) -> None:
    def path(java: str = "java", flags: tuple[str, ...] = supervisor.JAVA_FLAGS) -> Path:
        return archive_path(tmp_path, str(tmp_path / java), tmp_path, flags)

    for name in ("java", "other", "a.jar"):
        (tmp_path / name).write_text(name)
    first = path()
    assert first == path() and first.parent == tmp_path
    assert len({first, path("other"), path(flags=("-Xint",))}) == 3
    (tmp_path / "a.jar").write_text("a newer release")
    assert path() != first


def test_nothing_is_made_without_a_recording_and_old_files_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "java"
    folder.mkdir(0o700)
    archive, command = folder / "a.aot", [find_engine()["java"], "-XX:+IgnoreUnrecognizedVMOptions"]
    make_archive(archive, command, None)
    assert [*folder.iterdir()] == []
    for suffix, seconds in LONGEST_SECONDS.items():
        for name, age in (("old", seconds + 60), ("new", seconds - 600)):
            (folder / (name + suffix)).touch()
            time_of_file = time.time() - age
            os.utime(folder / (name + suffix), (time_of_file, time_of_file))
    recording_of(archive).write_text("This is no recording.")
    make_archive(archive, command, None)
    deadline = time.monotonic() + MAKING_SECONDS
    while recording_of(archive).exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    expected = {"new" + suffix for suffix in LONGEST_SECONDS} | {"making.lock"}
    assert {path.name for path in folder.iterdir()} == expected

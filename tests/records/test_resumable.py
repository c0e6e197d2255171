"""Tests of resumable output files: interrupted runs, foreign files, locks and damaged files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from graphneg.errors import InputError
from graphneg.records import locks
from graphneg.records.files import read_jsonl, write_jsonl
from graphneg.records.resumable import ResumableWriter, checkpoint_path, fingerprint
from graphneg.records.runs import check_new, check_replaceable, write_atomically
from tests.interrupting import no_room_for_more_than
from tests.negative_samples import EXAMPLE, some
from tests.unfinished import part_of


def write_negatives(
    out: Path,
    done: int,
    total: int = 10,
    settings: str = "s",
    stop: int | None = None,
    made_of: str = "",
    overwrite: bool = False,
) -> None:
    """Write two negatives for each dialogue and a checkpoint after every third; return early at `stop`."""
    with ResumableWriter(out, settings, made_of, overwrite=overwrite) as writer:
        assert writer.resumed.dialogues == done
        for number in range(done, total):
            if number == stop:
                return
            for negative in some(2):
                writer.write(replace(negative, dialogue=f"own/test/{number}"))
            if number % 3 == 2:
                writer.checkpoint(number + 1, {"seen": number + 1})
        writer.finish()


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_a_resumed_run_gives_the_same_bytes(tmp_path: Path, name: str):
    (tmp_path / "once").mkdir()
    write_negatives(tmp_path / "once" / name, 0)
    write_negatives(tmp_path / name, 0, stop=5)
    assert not (tmp_path / name).exists()
    write_negatives(tmp_path / name, 3, stop=8)
    write_negatives(tmp_path / name, 6)
    assert (tmp_path / name).read_bytes() == (tmp_path / "once" / name).read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"once", name, f".{name}.run.json"}


def test_a_resumed_run_knows_its_progress_and_notes(tmp_path: Path):
    write_negatives(tmp_path / "out.jsonl", 0, stop=8)
    with ResumableWriter(tmp_path / "out.jsonl", "s") as writer:
        assert (writer.resumed.dialogues, writer.resumed.negatives) == (6, 12)
        assert writer.resumed.notes == {"seen": 6}
        assert writer.resumed.discarded is None
        assert len(list(writer.written())) == 12


def test_other_settings_start_the_run_again(tmp_path: Path):
    write_negatives(tmp_path / "out.jsonl", 0, stop=8)
    with ResumableWriter(tmp_path / "out.jsonl", "another seed") as writer:
        assert writer.resumed.dialogues == 0
        assert "started with other settings" in (writer.resumed.discarded or "")
    write_negatives(tmp_path / "out.jsonl", 0, settings="another seed")
    assert len(list(read_jsonl(tmp_path / "out.jsonl"))) == 20


def test_other_content_starts_the_run_again(tmp_path: Path):
    write_negatives(tmp_path / "out.jsonl", 0, stop=8, made_of="a store")
    with ResumableWriter(tmp_path / "out.jsonl", "s", "more of it") as writer:
        assert writer.resumed.dialogues == 0
        assert "has changed since the run was started" in (writer.resumed.discarded or "")


def test_a_finished_file_is_kept_until_the_next_run_is_finished(tmp_path: Path):
    out = tmp_path / "out.jsonl"
    write_negatives(out, 0, total=2)
    finished = out.read_bytes()
    write_negatives(out, 0, stop=8, overwrite=True)
    assert out.read_bytes() == finished
    write_negatives(out, 6, overwrite=True)
    assert len(list(read_jsonl(out))) == 20


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_a_file_that_the_same_run_wrote_is_complete(tmp_path: Path, name: str):
    write_negatives(tmp_path / name, 0)
    written = (tmp_path / name).stat()
    with ResumableWriter(tmp_path / name, "s") as writer:
        assert writer.resumed.is_complete
        assert (writer.resumed.negatives, writer.resumed.notes) == (20, {"seen": 9})
        writer.finish()
    assert (tmp_path / name).stat() == written
    assert {path.name for path in tmp_path.iterdir()} == {name, f".{name}.run.json"}


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
@pytest.mark.parametrize(
    ("settings", "made_of", "change", "why"),
    [
        ("another seed", "", b"", "made with other settings or from other content"),
        ("s", "more of it", b"", "made with other settings or from other content"),
        ("s", "", b"\n", "and it is not the unchanged output of a run"),
    ],
)
def test_another_file_is_not_replaced(
    tmp_path: Path, name: str, settings: str, made_of: str, change: bytes, why: str
):
    write_negatives(tmp_path / name, 0)
    with open(tmp_path / name, "ab") as file:
        file.write(change)
    kept = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match=rf"the file already exists, {why}.*--overwrite") as refused:
        write_negatives(tmp_path / name, 0, settings=settings, made_of=made_of)
    assert refused.value.status == 2
    assert kept == {path: path.read_bytes() for path in tmp_path.iterdir()}
    write_negatives(tmp_path / name, 0, settings=settings, made_of=made_of, overwrite=True)
    with ResumableWriter(tmp_path / name, settings, made_of) as writer:
        assert writer.resumed.is_complete


def test_leftovers_of_a_finished_run_are_removed(tmp_path: Path):
    write_negatives(tmp_path / "out.parquet", 0, stop=8)
    left = {path: path.read_bytes() for path in tmp_path.iterdir()}
    write_negatives(tmp_path / "out.parquet", 6)
    for path, content in left.items():
        path.write_bytes(content)
    with ResumableWriter(tmp_path / "out.parquet", "s") as writer:
        assert writer.resumed.is_complete
    assert {path.name for path in tmp_path.iterdir()} == {"out.parquet", ".out.parquet.run.json"}


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_a_run_can_be_resumed_after_a_full_disk(tmp_path: Path, name: str):
    (tmp_path / "once").mkdir()
    write_negatives(tmp_path / "once" / name, 0)
    kept = rf"{name}: can't be written: File too large; what was made .* is kept; make room, then"
    with no_room_for_more_than(12_000), pytest.raises(InputError, match=kept):
        write_negatives(tmp_path / name, 0)
    write_negatives(tmp_path / name, 6)
    assert (tmp_path / name).read_bytes() == (tmp_path / "once" / name).read_bytes()


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
# Bytes that fit on the disk: none, a part of the mark of the lock file, or the lock file without the note.
@pytest.mark.parametrize("room", [0, 5, 100])
def test_a_disk_that_is_full_from_the_start_leaves_no_file_behind(tmp_path: Path, name: str, room: int):
    with no_room_for_more_than(room), pytest.raises(InputError, match="make room"):
        write_negatives(tmp_path / name, 0)
    assert not list(tmp_path.iterdir())
    write_negatives(tmp_path / name, 0)
    assert {path.name for path in tmp_path.iterdir()} == {name, f".{name}.run.json"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("offset", "1"),
        ("offset", -1),
        ("offset", 1e400),
        ("dialogues", None),
        ("notes", []),
        ("last", 3),
        ("part", "../other"),
        ("part", "out.jsonl"),
        ("digest", 7),
        ("more", 1),
        ("dialogues", 9),
        ("negatives", 9),
        ("last", "everyday/test/9"),
        ("notes", {"negatives": 9}),
        ("seal", "0" * 64),
    ],
)
def test_a_damaged_state_starts_the_run_again(tmp_path: Path, field: str, value: Any):
    write_negatives(tmp_path / "out.jsonl", 0, stop=8)
    note = checkpoint_path(tmp_path / "out.jsonl")
    noted = {**json.loads(note.read_text()), field: value}
    note.write_text(json.dumps(noted).replace("Infinity", '"Infinity"'))
    with ResumableWriter(tmp_path / "out.jsonl", "s") as writer:
        assert writer.resumed.dialogues == 0
        assert "not readable" in (writer.resumed.discarded or "")


@pytest.mark.parametrize("field", ["dialogues", "negatives", "digest", "seal"])
def test_a_finished_file_with_a_changed_note_is_not_complete(tmp_path: Path, field: str):
    write_negatives(tmp_path / "out.jsonl", 0)
    note = tmp_path / ".out.jsonl.run.json"
    note.write_text(json.dumps({**json.loads(note.read_text()), field: 1}))
    with pytest.raises(InputError, match="and it is not the unchanged output of a run"):
        write_negatives(tmp_path / "out.jsonl", 0)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[1]", '{"mine": 1}', '{"fingerprint": "s", "fingerprint": "t"}', "\x00\x00", "[" * 9999],
)
@pytest.mark.parametrize("name", [".out.jsonl.part.json", ".out.jsonl.run.json", ".out.jsonl.lock"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_foreign_files_are_reported_and_kept(tmp_path: Path, content: str, name: str, overwrite: bool):
    if name.endswith("lock") and not content:
        return  # an empty file may be used as the lock
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match="did not write the file; move the file") as refused:
        write_negatives(tmp_path / "out.jsonl", 0, overwrite=overwrite)
    assert refused.value.status == 2
    assert (tmp_path / name).read_text() == content
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", [".out.jsonl.part.json", ".out.jsonl.run.json", ".out.jsonl.lock"])
@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder"])
def test_links_pipes_and_folders_are_reported_and_kept(tmp_path: Path, name: str, kind: str):
    precious, there = tmp_path / "precious", tmp_path / name
    if kind == "pipe":
        os.mkfifo(there)
    elif kind == "folder":
        there.mkdir()
    else:
        there.symlink_to(precious)
    if kind == "link":
        precious.write_text('{"fingerprint": "s"}')
    with pytest.raises(InputError, match=r"did not write the file|can't be written"):
        write_negatives(tmp_path / "out.jsonl", 0, overwrite=True)
    assert os.path.lexists(there)
    assert kind != "link" or precious.read_text() == '{"fingerprint": "s"}'
    assert not (kind == "dangling link" and precious.exists())


def test_a_dangling_link_as_output_is_refused(tmp_path: Path):
    (tmp_path / "out.jsonl").symlink_to(tmp_path / "missing")
    with pytest.raises(InputError, match="not a regular file"):
        write_negatives(tmp_path / "out.jsonl", 0)
    assert (tmp_path / "out.jsonl").is_symlink() and not (tmp_path / "missing").exists()


def test_temporary_files_of_older_versions_are_not_touched(tmp_path: Path):
    precious = tmp_path / "precious"
    precious.write_text("precious\n")
    for ending in (".part", ".part.lock", ".part.json", ".tmp", ".tmp.lock"):
        (tmp_path / f"out.jsonl{ending}").symlink_to(precious)
        (tmp_path / f"own.parquet{ending}").write_text("mine\n")
    write_negatives(tmp_path / "out.jsonl", 0)
    write_negatives(tmp_path / "own.parquet", 0)
    assert precious.read_text() == "precious\n"
    assert not (tmp_path / "out.jsonl").is_symlink()
    assert [path.read_text() for path in tmp_path.glob("own.parquet.*")] == ["mine\n"] * 5


def test_a_truncated_part_is_not_used(tmp_path: Path):
    write_negatives(tmp_path / "out.jsonl", 0, stop=8)
    part = part_of(tmp_path / "out.jsonl")
    assert part is not None
    os.truncate(part, 100)
    with ResumableWriter(tmp_path / "out.jsonl", "s") as writer:
        assert "shorter than its last checkpoint" in (writer.resumed.discarded or "")


def test_a_changed_part_of_the_same_size_is_not_used(tmp_path: Path):
    (tmp_path / "once").mkdir()
    write_negatives(tmp_path / "once" / "out.jsonl", 0)
    write_negatives(tmp_path / "out.jsonl", 0, stop=8)
    part = part_of(tmp_path / "out.jsonl")
    assert part is not None
    damaged = part.read_bytes().replace(b"own/test/1", b"own/test/7")
    part.write_bytes(damaged)
    with ResumableWriter(tmp_path / "out.jsonl", "s") as writer:
        assert "was changed after the run wrote it, and is kept" in (writer.resumed.discarded or "")
    write_negatives(tmp_path / "out.jsonl", 0)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "once" / "out.jsonl").read_bytes()
    assert part.read_bytes() == damaged


def test_a_part_replaced_by_a_link_is_not_followed(tmp_path: Path):
    write_negatives(tmp_path / "out.jsonl", 0, stop=8)
    part = part_of(tmp_path / "out.jsonl")
    assert part is not None
    part.rename(tmp_path / "elsewhere")
    part.symlink_to(tmp_path / "elsewhere")
    before = (tmp_path / "elsewhere").read_bytes()
    write_negatives(tmp_path / "out.jsonl", 0)
    assert (tmp_path / "elsewhere").read_bytes() == before


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_a_part_changed_during_the_run_is_an_error(tmp_path: Path, name: str):
    with ResumableWriter(tmp_path / name, "s") as writer:
        for negative in some(2):
            writer.write(negative)
        writer.checkpoint(1)
        part = part_of(tmp_path / name)
        assert part is not None
        part.write_bytes(part.read_bytes().replace(b"e", b"a", 1))
        with pytest.raises(InputError, match="another program changed this file during the run"):
            writer.finish()
    assert not (tmp_path / name).exists()
    write_negatives(tmp_path / name, 0)


def test_two_runs_cannot_write_the_same_file(tmp_path: Path):
    with (
        ResumableWriter(tmp_path / "out.jsonl", "s"),
        pytest.raises(InputError, match="another run is writing this file"),
    ):
        ResumableWriter(tmp_path / "out.jsonl", "s")
    write_negatives(tmp_path / "out.jsonl", 0)


def test_the_lock_is_held_by_one_process_at_a_time(tmp_path: Path):
    """Each process deletes the lock file when it is done, while others wait for it."""
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from graphneg.errors import InputError
        from graphneg.records.locks import locked
        out, inside = Path(sys.argv[1]), Path(sys.argv[2])
        done = 0
        while done < 150:
            try:
                with locked(out, Path(f"{out}.lock")):
                    inside.mkdir()  # fails where another one is inside
                    inside.rmdir()
                    done += 1
            except InputError as error:
                assert "another run is writing this file" in str(error), error
        """
    )
    command = [sys.executable, "-c", script, str(tmp_path / "out.jsonl"), str(tmp_path / "inside")]
    runs = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    assert [run.communicate()[1].decode() for run in runs] == [""] * 3
    assert list(tmp_path.iterdir()) == []


def test_a_recreated_lock_file_is_locked_again(tmp_path: Path, monkeypatch: Any):
    """Between opening and locking the file, another run deletes it and a third one creates it again."""
    lock = tmp_path / "out.jsonl.lock"
    acquire = locks.lock_exclusively

    def late(file: Any) -> bool:
        held = acquire(file)
        if not lock.with_name("meanwhile").exists():
            lock.with_name("meanwhile").touch()
            lock.unlink()
            lock.touch()
        return held

    monkeypatch.setattr(locks, "lock_exclusively", late)
    with locks.locked(tmp_path / "out.jsonl", lock), open(lock, "rb+") as other:
        assert not acquire(other)


def test_leftovers_of_a_killed_run_are_removed_by_the_next_one(tmp_path: Path):
    script = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from graphneg.records.runs import atomic_file
        with atomic_file(Path(sys.argv[1])) as unfinished:
            unfinished.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    out = tmp_path / "out.txt"
    own = tmp_path / ".out.txt.0123456789abcdef.tmp"
    own.write_text("mine")
    for _ in range(3):
        subprocess.run([sys.executable, "-c", script, str(out)], check=False)
    assert len(list(tmp_path.iterdir())) == 3  # the lock, the last temporary file, and the file of the user
    write_atomically(out, "whole")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "out.txt": "whole",
        own.name: "mine",
    }


def test_no_checkpointed_record_is_lost_when_the_process_is_killed(tmp_path: Path):
    script = textwrap.dedent(
        """
        import sys
        from msgspec.structs import replace
        from graphneg.records import ResumableWriter, read_jsonl
        (example,) = read_jsonl(sys.argv[1])
        with ResumableWriter(sys.argv[2], "s") as writer:
            print("from", writer.resumed.dialogues, flush=True)
            for number in range(writer.resumed.dialogues, 600):
                for turn in range(3):
                    writer.write(replace(example, dialogue=f"own/test/{number}", turn=turn))
                if number % 5 == 4:
                    writer.checkpoint(number + 1)
                    print("done", number + 1, flush=True)
            writer.finish()
        """
    )
    write_jsonl([EXAMPLE], tmp_path / "example.jsonl")
    command = [sys.executable, "-c", script, str(tmp_path / "example.jsonl")]
    subprocess.run([*command, str(tmp_path / "once.parquet")], check=True, stdout=subprocess.DEVNULL)
    acknowledged = 0
    for _ in range(12):
        process = subprocess.Popen(
            [*command, str(tmp_path / "killed.parquet")], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert int(process.stdout.readline().split()[1]) >= acknowledged
        for line in process.stdout:
            acknowledged = int(line.split()[1])
            if acknowledged % 45 == 0:
                break
        process.send_signal(signal.SIGKILL)
        for line in process.stdout:
            acknowledged = int(line.split()[1])
        process.wait()
    assert 0 < acknowledged < 600
    subprocess.run([*command, str(tmp_path / "killed.parquet")], check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "killed.parquet").read_bytes() == (tmp_path / "once.parquet").read_bytes()


def test_the_fingerprint_does_not_depend_on_the_order_of_settings():
    assert fingerprint({"seed": 0, "recipe": "deam"}) == fingerprint({"recipe": "deam", "seed": 0})
    assert fingerprint({"seed": 0}) != fingerprint({"seed": 1})


def stale_files(folder: Path, name: str) -> list[Path]:
    """Write the files that a run leaves if it is killed after it has renamed its finished file."""
    token = "0123456789abcdef"
    lock, note = folder / f".{name}.lock", folder / f"..{name}.run.json.{token}.tmp"
    lock.write_text(f"graphneg lock\n{token}")
    note.write_text("{")
    return [lock, note]


@pytest.mark.parametrize("overwrite", [False, True])
def test_the_lock_of_a_killed_run_is_removed_although_its_output_is_complete(tmp_path: Path, overwrite: bool):
    out = tmp_path / "out.jsonl"
    write_negatives(out, 0)
    before = set(tmp_path.iterdir())
    stale_files(tmp_path, out.name)
    check_replaceable(out, overwrite)
    assert set(tmp_path.iterdir()) == before


def test_the_lock_of_a_killed_run_is_removed_if_its_output_is_refused(tmp_path: Path):
    out = tmp_path / "out.amr"
    out.write_text("whole")
    stale_files(tmp_path, out.name)
    with pytest.raises(InputError, match="already exists"):
        check_new(out, overwrite=False)
    assert list(tmp_path.iterdir()) == [out]


def test_the_lock_of_a_running_process_and_a_foreign_file_are_kept(tmp_path: Path):
    out = tmp_path / "out.jsonl"
    write_negatives(out, 0)
    with locks.locked(out):
        check_replaceable(out, False)
        assert (tmp_path / ".out.jsonl.lock").exists()
    (tmp_path / ".out.jsonl.lock").write_text("mine")
    check_replaceable(out, False)
    assert (tmp_path / ".out.jsonl.lock").read_text() == "mine"

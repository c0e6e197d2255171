"""A file of negatives that grows over a long run: stopped at any moment, it loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from graphneg.errors import InputError
from graphneg.records.files import read_jsonl, write_jsonl
from graphneg.records.resumable import ResumableWriter, fingerprint
from tests.negative_samples import EXAMPLE, some


def run_dialogues(
    out: Path, done: int, total: int = 10, settings: str = "s", stop: int | None = None
) -> None:
    """Two negatives a dialogue, a checkpoint every third; stops without a word where told."""
    with ResumableWriter(out, settings) as writer:
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
def test_a_stopped_run_goes_on_and_gives_the_same_bytes(tmp_path: Path, name: str):
    (tmp_path / "once").mkdir()
    run_dialogues(tmp_path / "once" / name, 0)
    run_dialogues(tmp_path / name, 0, stop=5)
    assert not (tmp_path / name).exists()
    run_dialogues(tmp_path / name, 3, stop=8)
    run_dialogues(tmp_path / name, 6)
    assert (tmp_path / name).read_bytes() == (tmp_path / "once" / name).read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"once", name}


def test_resuming_tells_what_is_done_and_gives_the_notes_back(tmp_path: Path):
    run_dialogues(tmp_path / "out.jsonl", 0, stop=8)
    with ResumableWriter(tmp_path / "out.jsonl", "s") as writer:
        assert (writer.resumed.dialogues, writer.resumed.negatives) == (6, 12)
        assert writer.resumed.notes == {"seen": 6}
        assert writer.resumed.discarded is None
        assert len(list(writer.written())) == 12


def test_other_settings_start_afresh_and_say_so(tmp_path: Path):
    run_dialogues(tmp_path / "out.jsonl", 0, stop=8)
    with ResumableWriter(tmp_path / "out.jsonl", "another seed") as writer:
        assert writer.resumed.dialogues == 0
        assert "begun with other settings" in (writer.resumed.discarded or "")
    run_dialogues(tmp_path / "out.jsonl", 0, settings="another seed")
    assert len(list(read_jsonl(tmp_path / "out.jsonl"))) == 20


def test_a_finished_file_stays_until_the_next_run_is_finished(tmp_path: Path):
    out = tmp_path / "out.jsonl"
    run_dialogues(out, 0, total=2)
    finished = out.read_bytes()
    run_dialogues(out, 0, stop=8)
    assert out.read_bytes() == finished
    run_dialogues(out, 6)
    assert len(list(read_jsonl(out))) == 20


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"fingerprint": "s"}', "\x00\x00"])
def test_an_unreadable_state_starts_afresh_and_says_so(tmp_path: Path, damage: str):
    run_dialogues(tmp_path / "out.jsonl", 0, stop=8)
    (tmp_path / "out.jsonl.part.json").write_text(damage)
    with ResumableWriter(tmp_path / "out.jsonl", "s") as writer:
        assert writer.resumed.dialogues == 0
        assert "not readable" in (writer.resumed.discarded or "")


def test_a_part_shorter_than_its_checkpoint_is_not_trusted(tmp_path: Path):
    run_dialogues(tmp_path / "out.jsonl", 0, stop=8)
    os.truncate(tmp_path / "out.jsonl.part", 100)
    with ResumableWriter(tmp_path / "out.jsonl", "s") as writer:
        assert "shorter than its last checkpoint" in (writer.resumed.discarded or "")


def test_two_runs_cannot_write_the_same_file(tmp_path: Path):
    with (
        ResumableWriter(tmp_path / "out.jsonl", "s"),
        pytest.raises(InputError, match="another run is writing it"),
    ):
        ResumableWriter(tmp_path / "out.jsonl", "s")
    run_dialogues(tmp_path / "out.jsonl", 0)


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path):
    """A run that is killed a dozen times, at any moment, ends with the bytes of one never killed."""
    script = textwrap.dedent(
        """
        import sys
        from dataclasses import replace
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


def test_the_fingerprint_follows_the_settings_not_their_order():
    assert fingerprint({"seed": 0, "recipe": "deam"}) == fingerprint({"recipe": "deam", "seed": 0})
    assert fingerprint({"seed": 0}) != fingerprint({"seed": 1})

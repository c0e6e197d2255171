"""Tests of atomic files and folders, and of the notes that identify a run."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.errors import InputError
from graphneg.hashing import fingerprint
from graphneg.records import RunNote, atomic_file, atomic_folder, write_atomically
from graphneg.records.runs import check_new

settings = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.none(), max_size=4)


def test_a_file_is_replaced_when_the_block_ends(tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    write_atomically(out, "before\n")
    with atomic_file(out) as unfinished:
        unfinished.write_text("after\n")
        assert out.read_text() == "before\n"
    assert out.read_text() == "after\n"
    assert list(tmp_path.iterdir()) == [out]


def test_an_error_leaves_the_old_file_and_no_temporary_one(tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    write_atomically(out, "before\n")
    with pytest.raises(RuntimeError), atomic_file(out) as unfinished:
        unfinished.write_text("half")
        raise RuntimeError("the store went away")
    assert out.read_text() == "before\n"
    assert list(tmp_path.iterdir()) == [out]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing/out\.txt: can't be written: No such file or directory"):
        write_atomically(tmp_path / "missing" / "out.txt", "text")


def test_line_ends_are_not_changed(tmp_path: Path) -> None:
    write_atomically(tmp_path / "sheet.csv", "a,b\r\n1,2\n")
    assert (tmp_path / "sheet.csv").read_bytes() == b"a,b\r\n1,2\n"


def test_a_folder_is_written_completely_and_never_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "model"
    with pytest.raises(RuntimeError), atomic_folder(folder) as unfinished:
        (unfinished / "half").touch()
        raise RuntimeError("out of memory")
    assert list(folder.parent.iterdir()) == []
    for text in ("first", "second"):
        with atomic_folder(folder) as unfinished:
            (unfinished / "weights").write_text(text)
    assert (folder / "weights").read_text() == "first"
    assert list(folder.parent.iterdir()) == [folder]


def test_a_note_identifies_its_run(tmp_path: Path) -> None:
    note = RunNote(tmp_path / "run" / "note.json", fingerprint(["model", 0]))
    other = RunNote(note.path, fingerprint(["model", 1]))
    assert note.state == "none"
    note.write(epochs=2)
    assert (note.state, other.state) == ("same", "other")
    note.remove()
    note.remove()
    assert note.state == "none"


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"of": "x"}', "null"])
def test_an_unreadable_note_belongs_to_another_run(tmp_path: Path, damage: str) -> None:
    note = RunNote(tmp_path / "note.json", "mark")
    note.path.write_text(damage)
    assert note.state == "other"


@given(settings)
def test_a_fingerprint_does_not_depend_on_the_order_of_keys(facts: dict[str, object]) -> None:
    turned = dict(reversed(list(facts.items())))
    assert fingerprint(facts) == fingerprint(turned)
    assert fingerprint({**facts, "one more": 1}) != fingerprint(facts)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket has at most 108 bytes
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(here)


def link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("to be made"))


def link_to_itself(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.skipif(sys.platform == "win32", reason="links and FIFOs of POSIX")
@pytest.mark.parametrize(
    "make", [fifo, unix_socket, link_to_nothing, link_to_itself], ids=lambda make: make.__name__
)
class TestWhatIsNoFile:
    def test_is_not_replaced(self, tmp_path: Path, make: Callable[[Path], None]) -> None:
        path = tmp_path / "out.txt"
        make(path)
        before = path.lstat()
        with pytest.raises(InputError, match=r"out\.txt: not a regular file, so it can't be replaced"):
            write_atomically(path, "text")
        assert os.path.samestat(before, path.lstat())
        assert [one.name for one in tmp_path.iterdir()] == ["out.txt"]

    @pytest.mark.parametrize("overwrite", [False, True])
    def test_is_refused_before_the_work(
        self, tmp_path: Path, make: Callable[[Path], None], overwrite: bool
    ) -> None:
        make(tmp_path / "out.txt")
        with pytest.raises(InputError, match=r"out\.txt: not a regular file, so it can't be replaced"):
            check_new(tmp_path / "out.txt", overwrite)

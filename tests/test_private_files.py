"""Test that only the owner can read files of people's texts, and what is opened in another user's folder."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from graphneg.errors import InputError
from graphneg.evaluation.review.judgements import Judgements
from graphneg.nn.answers import Answer, AnswerCache
from graphneg.nn.embedders import CachedEmbedder
from graphneg.nn.serving import ServerSettings
from graphneg.pages.index import open_index
from graphneg.private_files import (
    UnsafeFileError,
    cache_folder,
    private_folder,
    private_opener,
    untrusted_opener,
)
from graphneg.records.files import write_jsonl
from tests.negative_samples import EXAMPLE
from tests.nn.test_embedding import RecordingEmbedder
from tests.review_samples import small_set

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")


@pytest.fixture(autouse=True)
def open_umask() -> Generator[None]:
    """Set a umask with which everybody may read new files."""
    before = os.umask(0o000)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.lstat().st_mode) for path in folder.rglob("*")}


class TestAFileOfWhatPeopleWrote:
    def test_is_not_made_through_a_link(self, tmp_path: Path) -> None:
        link = tmp_path / "link.db"
        link.symlink_to(tmp_path / "elsewhere.db")
        with pytest.raises(
            InputError, match=r"link\.db: can't be opened: .*is a link to a file that does not"
        ):
            Judgements.create(link, small_set())
        with pytest.raises(InputError, match="is a link to a file that does not exist"):
            AnswerCache(link)
        with pytest.raises(InputError, match="is a link to a file that does not exist"):
            CachedEmbedder(RecordingEmbedder(), cache=link)
        assert [one.name for one in tmp_path.iterdir()] == ["link.db"]

    def test_is_private_if_it_holds_judgements(self, tmp_path: Path) -> None:
        with Judgements.create(tmp_path / "judged.db", small_set()) as judged:
            judged.next_row("ann")
            assert set(modes(tmp_path).values()) == {0o600}, modes(tmp_path)  # also SQLite's journals

    def test_is_private_if_it_holds_answers(self, tmp_path: Path) -> None:
        answers = AnswerCache(tmp_path / "new" / "answers.db")
        answers.put(b"k", Answer("text", True))
        found = modes(tmp_path)
        assert found.pop("new") == 0o700 and set(found.values()) == {0o600}
        answers.close()

    def test_is_private_if_it_holds_vectors(self, tmp_path: Path) -> None:
        CachedEmbedder(RecordingEmbedder(), cache=tmp_path / "vectors.db").embed(["a"])
        assert modes(tmp_path) == {"vectors.db": 0o600}

    def test_is_private_if_it_indexes_a_file_that_all_may_read(self, tmp_path: Path) -> None:
        write_jsonl([EXAMPLE], tmp_path / "made.jsonl")
        open_index(tmp_path / "made.jsonl")
        found = modes(tmp_path)
        assert found.pop("made.jsonl") == 0o666  # The user's file follows the umask.
        assert set(found.values()) == {0o600}

    def test_lies_in_a_folder_of_caches_that_is_closed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        (tmp_path / "graphneg").mkdir(0o755)  # An earlier version made the folder.
        assert stat.S_IMODE(ServerSettings().answers.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(cache_folder("indexes", "one").parent.stat().st_mode) == 0o700

    def test_that_cannot_be_made_is_one_clear_error(self, tmp_path: Path) -> None:
        missing = tmp_path / "missing" / "file.db"
        with pytest.raises(InputError, match=r"file\.db: can't be opened"):
            Judgements.create(missing, small_set())
        with pytest.raises(InputError, match=r"can't be used as a cache of vectors"):
            CachedEmbedder(RecordingEmbedder(), cache=missing)


class TestAFolderOfTheUsersAlone:
    def test_is_closed_to_others(self, tmp_path: Path) -> None:
        (tmp_path / "own").mkdir(0o777)
        assert private_folder(tmp_path / "own" / "a" / "b").is_dir()
        assert private_folder(tmp_path / "own").is_dir()
        assert modes(tmp_path) == {"own": 0o700, "a": 0o700, "b": 0o700}

    def test_is_no_link_and_no_file(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(tmp_path)
        (tmp_path / "file").touch()
        for name in ("link", "file"):
            with pytest.raises(OSError, match=r"is not a directory|File exists"):
                private_folder(tmp_path / name)

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
    def test_is_not_another_users(self, tmp_path: Path) -> None:
        (tmp_path / "own").mkdir()
        os.chown(tmp_path / "own", 12_345, 12_345)
        for path in (tmp_path / "own", tmp_path / "own" / "new"):  # sudo with the HOME of another user
            with pytest.raises(UnsafeFileError, match="belongs to user 12345"):
                private_folder(path)
        assert not (tmp_path / "own" / "new").exists()


def test_a_file_that_is_created_where_a_stranger_may_write_is_private(tmp_path: Path) -> None:
    for opener in (private_opener, untrusted_opener):
        with open(tmp_path / opener.__name__, "w", opener=opener) as file:
            file.write("x")
    assert modes(tmp_path) == {"private_opener": 0o600, "untrusted_opener": 0o600}


def test_the_supervisor_starts_without_the_users_modules(tmp_path: Path) -> None:
    """The supervisor imports its package relative to its file, in any working directory and environment."""
    from graphneg.store import supervisor

    for name in ("json", "graphneg", "private_files", "hashlib"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(9)")
    order = [sys.executable, "-I", supervisor.__file__, "999999999"]
    done = subprocess.run(order, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, input=b"done", check=False)
    assert done.returncode == 0

"""Test that a store is refused exactly if its database files changed while no server was running."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from graphneg.checksums import CHECKSUMS, damage, read_checksums, write_checksums
from graphneg.errors import StoreError
from graphneg.store.engine_files import check_engine_files
from graphneg.store.opening import open_store
from graphneg.store.supervisor import DATABASE, ENGINE


def database_of(store: Path) -> Path:
    return store / ENGINE / "databases" / DATABASE


def zeroed(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[:40_000] + bytes(100) + content[40_100:])


def flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[50_000] ^= 1
    file.write_bytes(content)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:50_000])


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a store whose server has ended."""
    path = tmp_path_factory.mktemp("checksums") / "store"
    with open_store(path) as store:
        store.query_write("UNWIND range(1, 2000) AS n CREATE (:A {n: n})-[:R {n: n}]->(:B)")
    return path


@pytest.mark.parametrize("change", [zeroed, flipped, cut, Path.unlink])
def test_a_damaged_file_is_refused_in_a_line(
    closed: Path, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    copy = Path(shutil.copytree(closed, tmp_path / "store"))
    [file] = database_of(copy).glob("R_0.*.bucket")
    change(file)
    with pytest.raises(StoreError, match=r"is damaged.*R_0\.|R_0\..* is damaged") as told:
        open_store(copy)
    assert "\n" not in str(told.value)


def _emptied(file: Path) -> None:
    file.write_bytes(b"")


def _all_zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


@pytest.mark.parametrize(
    ("files", "change", "told"),
    [
        ("R_0.*.bucket", cut, r"R_0\..* \(its 50,000 bytes are not a multiple of 65,536"),
        ("R_0.*.bucket", Path.unlink, r'the file "R_0\.\*\.bucket" is missing'),
        ("R_0.*.bucket", _all_zeros, r"R_0\..* \(it begins with zeros"),
        ("*idx", _all_zeros, r"idx is damaged \(it begins with zeros"),
        ("dictionary.*", _all_zeros, r"dictionary\..* \(it begins with zeros"),
        ("dictionary.*", _emptied, r"dictionary\..* \(it is empty"),
        ("dictionary.*", Path.unlink, r"its dictionary, .* is missing"),
        ("schema*.json", Path.unlink, r"schema\.json is damaged \(it is missing"),
        ("schema.json", _emptied, r"schema\.json is damaged \(not JSON"),
    ],
)
def test_visible_damage_is_refused_without_checksums_before_a_server_is_started(
    closed: Path, tmp_path: Path, files: str, change: Callable[[Path], None], told: str
) -> None:
    copy = Path(shutil.copytree(closed, tmp_path / "store"))
    (copy / CHECKSUMS).unlink()
    for file in database_of(copy).glob(files):
        change(file)
    began = time.monotonic()
    with pytest.raises(StoreError, match=told) as raised:
        open_store(copy)
    assert time.monotonic() - began < 10
    assert "\n" not in str(raised.value) and "restore it from a copy" in str(raised.value)


def test_files_that_the_engine_cannot_read_are_named_as_the_likely_fault(
    closed: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(closed, tmp_path / "store"))
    (copy / CHECKSUMS).unlink()
    [file] = database_of(copy).glob("GraphnegSchema_0.*.bucket")
    file.write_bytes(random.Random(1).randbytes(file.stat().st_size))
    with pytest.raises(StoreError, match=r"database files may be damaged: restore them") as raised:
        open_store(copy)
    assert "\n" not in str(raised.value)


def test_a_log_of_a_killed_server_is_left_to_the_engine(closed: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(closed, tmp_path / "store"))
    [file] = database_of(copy).glob("R_0.*.bucket")
    cut(file)
    (database_of(copy) / "txlog_0.wal").touch()
    check_engine_files(copy)


def test_a_copy_and_an_edited_schema_are_opened(closed: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(closed, tmp_path / "store"))
    schema = database_of(copy) / "schema.json"
    schema.write_text(json.dumps(json.loads(schema.read_text()), indent=1))
    with open_store(copy) as store:
        # The checksums are removed while the server runs: after it was killed, they would be wrong.
        assert not (copy / CHECKSUMS).exists()
        assert store.read("MATCH ()-[r:R]->() RETURN count(r) AS amount")[0]["amount"] == 2000
    assert read_checksums(copy).keys() == read_checksums(closed).keys()


def test_files_that_stay_as_they_are_are_not_read_again(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.bucket").write_bytes(b"content")
    write_checksums(tmp_path, tmp_path, {})
    known = read_checksums(tmp_path)
    # The wrong checksum is not noticed: the file has the recorded inode and times, and is not read.
    known["a.bucket"][4] += 1
    write_checksums(tmp_path, tmp_path, known)
    assert damage(tmp_path, tmp_path) is None
    (tmp_path / "a.bucket").touch()
    assert damage(tmp_path, tmp_path) == "a.bucket has other content"


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"files": 3}', '{"files": {"a": ["x"]}}', "[" * 100_000, '{"files": {"a": [1e999]}}'],
)
def test_checksums_that_cannot_be_read_count_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / CHECKSUMS).write_text(content)
    assert read_checksums(tmp_path) == {}

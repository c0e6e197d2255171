"""Tests of links: a named output folder may be a link, but links inside an output folder are refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphneg.errors import InputError
from graphneg.evaluation.comparison.comparison import _open  # pyright: ignore[reportPrivateUsage]
from graphneg.ingest.bulk import COMMAND, INDEX, BulkFiles
from graphneg.nn.training import open_run
from graphneg.rankers.response_bank import _check_folder  # pyright: ignore[reportPrivateUsage]
from graphneg.records.files import write_jsonl
from graphneg.records.runs import RunNote
from tests.cli_runs import Run
from tests.negative_samples import EXAMPLE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="symbolic links of POSIX")


def load_in_bulk(folder: Path) -> None:
    BulkFiles(folder).close()


def begin_training(folder: Path) -> None:
    open_run(folder, ["facts"]).begin()


def begin_comparison(folder: Path) -> None:
    _open(RunNote(folder / "comparison.json", "facts"), overwrite=False)


def begin_bank(folder: Path) -> None:
    _check_folder(folder, overwrite=True)


WRITERS = [load_in_bulk, begin_training, begin_comparison, begin_bank]
OWN_NAMES: list[tuple[Callable[[Path], None], str]] = [
    (load_in_bulk, INDEX),
    (load_in_bulk, f"{INDEX}-journal"),
    (load_in_bulk, "bulk.lock"),
    (begin_training, "checkpoints"),
    (begin_training, "model.safetensors"),
    (begin_training, "tokenizer.json"),
    (begin_training, "config.json"),
    (begin_training, "1_Pooling"),
    (begin_comparison, "comparison.json"),
    (begin_comparison, "results"),
    (begin_comparison, "models"),
    (begin_bank, "vectors.part"),
    (begin_bank, "manifest.json"),
]


@pytest.mark.parametrize("write", WRITERS)
def test_a_named_folder_may_be_a_link(tmp_path: Path, write: Callable[[Path], None]) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert write is begin_bank or any((tmp_path / "real").iterdir())


@pytest.mark.parametrize("kind", ["file", "folder", "nothing"])
@pytest.mark.parametrize(("write", "name"), OWN_NAMES)
def test_a_link_inside_the_folder_is_refused(
    tmp_path: Path, write: Callable[[Path], None], name: str, kind: str
) -> None:
    precious, folder = tmp_path / "precious", tmp_path / "real"
    folder.mkdir()
    if kind == "file":
        precious.write_text("{}")
    elif kind == "folder":
        precious.mkdir()
    (folder / name).symlink_to(precious)
    with pytest.raises(InputError):
        write(folder)
    assert (folder / name).is_symlink()
    assert kind != "file" or precious.read_text() == "{}"
    assert kind != "folder" or not any(precious.iterdir())
    assert kind != "nothing" or not precious.exists()


def test_a_bulk_load_into_a_linked_folder_is_complete_and_can_be_continued(tmp_path: Path, run: Run) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for _ in range(2):
        assert run("load", "everyday", "--bulk", str(tmp_path / "link")).status == 0
    assert (tmp_path / "real" / COMMAND).is_file() and (tmp_path / "link").is_symlink()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").touch()
    (tmp_path / "to_other").symlink_to("other")
    told = run("load", "everyday", "--bulk", str(tmp_path / "to_other"))
    assert told.status == 2 and "the folder contains other files" in told.err


def test_a_link_at_the_name_of_a_csv_file_is_replaced_and_not_followed(tmp_path: Path) -> None:
    load_in_bulk(tmp_path / "import")
    precious = tmp_path / "precious.csv"
    precious.write_text("precious")
    for name in ("Dialogue.csv", COMMAND):
        (tmp_path / "import" / name).symlink_to(precious)
    with BulkFiles(tmp_path / "import") as target:
        target.load("everyday")
    assert precious.read_text() == "precious"
    assert not (tmp_path / "import" / "Dialogue.csv").is_symlink()


def test_a_file_that_is_a_link_is_replaced_and_its_target_is_kept(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_text("precious")
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    write_jsonl([EXAMPLE], tmp_path / "link.jsonl")
    assert not (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "real.jsonl").read_text() == "precious"

"""Test that commands refuse a damaged file with a one-line error, or read what was written in it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from graphneg.errors import InputError
from graphneg.evaluation.correlation import read_ratings, read_scores
from graphneg.evaluation.ranking import is_negatives_file
from graphneg.evaluation.review.exchange import FORMS, read_gold, read_judgements, read_key
from graphneg.evaluation.review.items import FORMAT, Item, ReviewSet
from graphneg.evaluation.review.judgements import Judgement
from graphneg.evaluation.review.questions import load_questions, ready_questions
from graphneg.evaluation.review.results import Results
from graphneg.merging import merge
from graphneg.pipeline import read_pipeline
from graphneg.records.files import read_negatives, write_jsonl, write_parquet
from graphneg.records.resumable import ResumableWriter, checkpoint_path
from graphneg.records.runs import read_unverified_note
from graphneg.snapshots import Snapshot
from tests.negative_samples import some
from tests.records.test_shards import write_shards
from tests.unfinished import part_of

Read = Callable[[Path], object]
FEW, MANY = 40, 2_000
PIECES: Sequence[bytes] = [
    b'"', b"{", b"}", b"[", b"]", b":", b",", b"\n", b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800", b"NaN",
    b"1e999", b"-1", b"9" * 5000, b"null", b"true", b'{"a":1,"a":2}', b"[" * 5000, b'{"a":' * 5000,
    b"&a [*a]",
    b"2001-13-45: x", b"!!float x", b"\xe2\x80\xa8", b"\xc2\x85", b"a" * 200_000,
]  # fmt: skip


def mutated(source: random.Random, data: bytes) -> bytes:
    """Return the data after one to three random changes.

    Each change flips a bit, cuts off the end, inserts or overwrites bytes, doubles or removes a range, or
    changes the encoding.
    """
    for _ in range(source.choice([1, 1, 1, 2, 3])):
        at, to = sorted(source.randint(0, len(data)) for _ in range(2))
        kind = source.randrange(7)
        if kind == 0 and data:
            changed = bytearray(data)
            changed[source.randrange(len(data))] ^= 1 << source.randrange(8)
            data = bytes(changed)
        elif kind == 1:
            data = data[:at]
        elif kind == 2:
            data = data[:at] + source.choice(PIECES) + data[at:]
        elif kind == 3:
            data = data[:at] + source.choice(PIECES) + data[min(to, at + 20) :]
        elif kind == 4:
            data = data[:at] + data[at:to][:300] * 2 + data[to:]
        elif kind == 5:
            data = data.decode("latin-1").encode(source.choice(["utf-16", "utf-8", "cp037"]), "replace")
        else:
            data = data[:at] + data[to:]
    return data


def write_file(kind: str, folder: Path) -> tuple[Path, Read]:
    """Write a file of the kind. Return it with a function that reads it, and checks the content if it can."""
    if kind in ("records.jsonl", "records.parquet"):
        file = folder / kind
        (write_jsonl if file.suffix == ".jsonl" else write_parquet)(some(3), file)
        return file, lambda path: [is_negatives_file(path), list(read_negatives(path))]
    if kind == "shard":
        [file] = write_shards(folder, [f"c/test/{n}" for n in range(6)], 1)
        merge([file], folder / "whole.jsonl")
        whole = (folder / "whole.jsonl").read_bytes()

        def merged(path: Path) -> None:
            merge([path], folder / "merged.jsonl", overwrite=True)
            assert (folder / "merged.jsonl").read_bytes() == whole

        return file, merged
    if kind in ("part", "part note", "run note"):
        return resumable(kind, folder)
    if kind == "pipeline":
        file = folder / "pipeline.yaml"
        file.write_text(
            f"load:\n- {{corpus: dialogues, paths: [x.jsonl]}}\nwrite: {folder}/out.jsonl\n"
            "negatives: {recipe: deam, seed: 3}\nblocks: 4\n"
        )
        return file, read_pipeline
    if kind.startswith("judgements"):
        return judgements(kind, folder)
    if kind == "scores":
        (folder / "scores.jsonl").write_text('0.25\n{"score": 3}\n1e-3\n')
        return folder / "scores.jsonl", lambda path: read_scores(path, 3)
    if kind == "ratings":
        turns = [{"context": "A: Hi.\nB: Hello.", "response": "Bye.", "annotations": {"Overall": [1, 2]}}]
        (folder / "ratings.json").write_text(json.dumps(turns))
        return folder / "ratings.json", lambda path: list(read_ratings([path]))
    assert kind == "note"
    (folder / "note.json").write_text('{"fingerprint": "a", "items": 3}')
    return folder / "note.json", read_unverified_note


def resumable(kind: str, folder: Path) -> tuple[Path, Read]:
    """Write a file that a stopped or finished run leaves. The function resumes the run and checks it."""
    out, negatives = folder / "out.jsonl", list(some(4))

    def make(stop: int = 4) -> None:
        with ResumableWriter(out, "s", overwrite=True) as writer:
            for number in range(writer.resumed.dialogues, stop):
                writer.write(negatives[number])
                writer.checkpoint(number + 1)
            if stop == 4:
                writer.finish()

    make()
    whole = out.read_bytes()
    if kind == "run note":
        return folder / ".out.jsonl.run.json", lambda _: make()
    out.unlink()
    make(2)
    part = part_of(out)
    assert part is not None
    kept = {path: path.read_bytes() for path in (part, checkpoint_path(out))}

    def resume(path: Path) -> None:
        damaged = path.read_bytes()
        for each, content in kept.items():
            each.write_bytes(content)
        path.write_bytes(damaged)
        try:
            make()
            assert out.read_bytes() == whole
        finally:
            out.unlink(missing_ok=True)
            (folder / ".out.jsonl.run.json").unlink(missing_ok=True)

    return (part if kind == "part" else checkpoint_path(out)), resume


def judgements(kind: str, folder: Path) -> tuple[Path, Read]:
    """Write judgements of two items. The end of ``kind`` is the suffix of the file, such as ``.csv``."""
    questions = load_questions(ready_questions()[0])
    items = [
        Item("negatives", f"d#{n}", (("A", "Hi."),), f"Hello {n}.", ("polarity_flip",)) for n in range(2)
    ]
    set = ReviewSet(FORMAT, 0, questions, tuple(items))
    file = folder / f"sheet{kind.removeprefix('judgements')}"
    if file.suffix == ".key":
        file.write_text(set.to_json())
        return file, read_key
    answers = {question.name: question.values[0] for question in questions.questions}
    results = Results(set, [Judgement(row, "anna", answers, "so; so") for row in (1, 2)])
    file.write_text(FORMS[file.suffix](results), newline="")

    def read(path: Path) -> None:
        list(read_judgements(set, path, "bert"))
        if path.suffix == ".jsonl":
            read_gold(questions, [path])

    return file, read


KINDS = [
    "records.jsonl", "records.parquet", "shard", "part", "part note", "run note", "pipeline",
    "judgements.csv",
    "judgements.jsonl", "judgements.json", "judgements.key", "scores", "ratings", "note",
]  # fmt: skip


def check(kind: str, folder: Path, amount: int) -> None:
    file, read = write_file(kind, folder)
    whole, source = file.read_bytes(), random.Random(kind)
    read(file)
    for _ in range(amount):
        damaged = mutated(source, whole)
        file.write_bytes(damaged)
        try:
            read(file)
        except InputError as error:
            assert "\n" not in str(error), damaged[:300]


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_told_in_a_line(kind: str, tmp_path: Path) -> None:
    check(kind, tmp_path, FEW)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_told_in_a_line_however_often(kind: str, tmp_path: Path) -> None:
    check(kind, tmp_path, MANY)


@pytest.mark.parametrize("read", [is_negatives_file, read_pipeline, lambda path: list(read_negatives(path))])
def test_a_device_is_no_file(read: Read) -> None:
    with pytest.raises(InputError, match="not a regular file"):
        read(Path("/dev/zero"))


def test_a_snapshot_that_is_damaged_is_refused(tmp_path: Path) -> None:
    for content in (b"", b"\x1f\x8b", b"{}", b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + b"x" * 99):
        (tmp_path / "snapshot").write_bytes(content)
        with pytest.raises(InputError, match="not a snapshot"):
            Snapshot.read(tmp_path / "snapshot")

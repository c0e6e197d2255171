"""Tests of streamed reading: lines and items do not depend on the size of the chunks."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphneg.errors import InputError
from graphneg.ingest import content, reading
from graphneg.ingest.content import ItemError
from graphneg.ingest.reading import Item
from graphneg.model import Rejected
from graphneg.progress import NoProgress
from tests.loader_samples import written

TEXTS = st.text(st.sampled_from('ab é😀"\\\n[]{},:'), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)
UNSTREAMED = st.integers() | TEXTS | st.dictionaries(TEXTS, VALUES, max_size=3)
LINES = st.lists(st.text(st.sampled_from("ab é😀\ufeff\x85\u2028\t"), max_size=9), max_size=6)


@pytest.fixture(scope="module", params=[3, 7, 1 << 18], autouse=True)
def pieces(request: pytest.FixtureRequest) -> Iterator[None]:
    """Set the chunk size of reading to 3 bytes (the length of a byte order mark), and to larger values."""
    before, content.CHUNK = content.CHUNK, request.param
    yield
    content.CHUNK = before


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("read") / "file"


def items(path: Path) -> list[Item | Rejected]:
    return list(reading.json_items(path, NoProgress()))


def refusals(records: list[Any]) -> list[str]:
    return [f"{one.place.rpartition(':')[2]} {one.reason}" for one in records if isinstance(one, Rejected)]


@settings(max_examples=40)
@given(elements=st.lists(VALUES, max_size=5), indent=st.sampled_from([None, 1]))
def test_a_json_array_gives_its_elements(file: Path, elements: list[Any], indent: int | None) -> None:
    found = items(written(file, json.dumps(elements, indent=indent, ensure_ascii=False).encode("utf-8")))
    assert [(one.number, one.value) for one in found if isinstance(one, Item)] == list(enumerate(elements))


@settings(max_examples=40)
@given(members=st.dictionaries(TEXTS, UNSTREAMED, max_size=5))
def test_a_json_object_gives_its_members(file: Path, members: dict[str, Any]) -> None:
    found = items(written(file, json.dumps(members, indent=1)))
    assert [(one.key, one.value) for one in found if isinstance(one, Item)] == list(members.items())


def test_an_array_inside_the_object_is_streamed_with_its_key_and_lines(file: Path) -> None:
    document = '\ufeff{"train": [\n1,\n2], "valid": [3],\n"name": "x"}\n'
    assert [(one.place[-1], *one[1:]) for one in items(written(file, document)) if isinstance(one, Item)] == [
        ("2", 0, "train", 1),
        ("3", 1, "train", 2),
        ("3", 0, "valid", 3),
        ("4", 2, "name", "x"),
    ]


@pytest.mark.parametrize(
    ("document", "reasons"),
    [
        ('[1, {"a": x}, 3]', ["1 item 1: not JSON: Expecting value"]),
        ('[1\n, "cut', ["2 the value is not closed; the rest of the file is not read"]),
        ("[1 2]", ["1 not JSON: expected ',' but found '2'; the rest of the file is not read"]),
        (
            "[1, 2",
            ["1 not JSON: expected ',' but found the end of the file; the rest of the file is not read"],
        ),
        ("{1: 2}", ["1 not JSON: a member's name is not a string; the rest of the file is not read"]),
        ("[1] 2", ["1 text follows the end of the JSON document; the rest of the file is not read"]),
        ("12", ["1 neither a JSON array nor a JSON object; the rest of the file is not read"]),
    ],
)
def test_an_error_refuses_its_item_or_the_rest_of_the_file(
    file: Path, document: str, reasons: list[str]
) -> None:
    assert refusals(items(written(file, document))) == reasons


@settings(max_examples=40)
@given(texts=LINES)
def test_lines_have_numbers_and_locations(file: Path, texts: list[str]) -> None:
    data = gzip.compress("\r\n".join([*texts, "last"]).encode())
    found = list(reading.text_lines(written(file, data), NoProgress()))
    assert [one.text for one in found if isinstance(one, reading.Line)] == [
        *(text.removeprefix("\ufeff") if not at else text for at, text in enumerate(texts)),
        "last",
    ]
    assert [one.place for one in found] == [f"{file}:{number}" for number in range(1, len(texts) + 2)]


def test_a_line_that_is_too_long_is_refused_once_and_reading_goes_on(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content, "CHUNK", 8)
    lines = written(file, b"one\n" + b"x" * 100 + b"\ntwo\n")
    found = list(reading.byte_lines(lines, NoProgress(), longest=20))
    assert [one for one in found if not isinstance(one, Rejected)] == [(1, b"one"), (3, b"two")]
    assert refusals(found) == ["2 the line is longer than 20 bytes"]


def test_an_invalid_gzip_file_is_refused_with_its_line(file: Path) -> None:
    packed = gzip.compress(b"one\ntwo\n")
    assert content.head(written(file, packed[:9])).startswith(b"\x1f\x8b")
    found = list(reading.text_lines(written(file, packed[:-4]), NoProgress()))
    assert "the gzip stream is damaged from here on" in refusals(found)[-1]


def test_a_group_ends_at_the_next_and_an_error_refuses_only_its_own_group(file: Path) -> None:
    def parts() -> Iterator[Item | Rejected]:
        yield Rejected("f:1", "before any group")
        for number, text in enumerate("abxcd", 2):
            yield Rejected(f"f:{number}", "bad") if text == "x" else Item(f"f:{number}", number, "", text)

    def make(number: int, group: list[Item]) -> Item:
        if group[0].value == "d":
            raise ItemError("no d")
        return Item(group[0].place, number, "", "".join(one.value for one in group))

    found = reading.each_group(
        parts(), "line", lambda _, part: part.value in "bcd", make, lambda number, _: f"group {number}"
    )
    assert [one.value if isinstance(one, Item) else f"{one.place} {one.reason}" for one in found] == [
        "f:1 before any group",
        "a",
        "f:4 bad",
        "f:3 group 1: the line at f:4 can't be read",
        "c",
        "f:6 group 3: no d",
    ]


@pytest.mark.parametrize(
    ("name", "corpus", "split"),
    [
        ("support-chats.train.jsonl.gz", "support-chats", "train"),
        ("valid_freq.json", "dialogues", "valid_freq"),
        ("contest.csv", "contest", "all"),
        ("train.test.tsv", "dialogues", "test"),
    ],
)
def test_corpus_and_split_are_read_from_a_file_name(name: str, corpus: str, split: str) -> None:
    assert (reading.corpus_of(Path(name)), reading.split_of(Path(name))) == (corpus, split)


def test_a_directory_gives_its_files_and_must_not_be_empty(tmp_path: Path) -> None:
    for name in ("b.xml", "a.xml", "c.txt"):
        written(tmp_path / name, "x")
    assert [one.name for one in reading.files_within(tmp_path, "*.xml", "frames")] == ["a.xml", "b.xml"]
    with pytest.raises(InputError, match=r"contains no frames \(\*\.cfg\)"):
        reading.files_within(tmp_path, "*.cfg", "frames (*.cfg)")
    with pytest.raises(InputError, match="is a directory, but the loader 'text' reads files: give the files"):
        reading.input_files([tmp_path], "text")


def test_strict_reading_ends_at_the_first_refused_record() -> None:
    records = reading.accepted(iter([1, Rejected("f:2", "no number"), 3]))
    assert next(records) == 1
    with pytest.raises(InputError, match="f:2: no number"):
        next(records)


@pytest.mark.parametrize(
    ("data", "reason"), [(b"caf\xe9", r"not UTF-8 text \(byte 3\)"), (None, "can't be read")]
)
def test_a_text_that_cannot_be_read_names_its_file(file: Path, data: bytes | None, reason: str) -> None:
    path = file.with_name("missing") if data is None else written(file, data)
    with pytest.raises(InputError, match=rf"{path.name}: {reason}"):
        content.read_text(path)

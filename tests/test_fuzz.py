"""Mutate graphs and dialogues: each is refused with its line and column, or is read and stored unchanged.

``test_loaders_mutations.py`` tests the loaders with ten thousand other mutated files.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from graphneg.amr.penman import format_graph, iter_blocks, parse_graph
from graphneg.amr.wellformed import CODES, check, check_file
from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError, PenmanError
from graphneg.model import AmrGraph, Dialogue, Record
from graphneg.store.connection import Store
from graphneg.store.dialogues import read_dialogues, read_whole_graphs
from tests.amr.test_penman_codec import ROUND_TRIPS
from tests.graphs import BUNDLED, LITTLE_PRINCE, texts
from tests.loader_samples import DATA, load
from tests.servers import wipe

Result = TypeVar("Result")

pytestmark = pytest.mark.slow

AMOUNT = 10_000
KEPT = 300
SECONDS = 1.0
"""Maximum processor time to read one text. Several attempts are allowed."""

PIECES = [
    '"',
    "(",
    ")",
    "/",
    ":",
    "~",
    "#",
    "\\",
    " ",
    "\n",
    "\r",
    "\t",
    "\0",
    ":ARG0",
    "(a / a)",
    "~e.1",
    " b ",
    "-of",
]
PIECES += [
    "\u2028",
    "\x85",
    "\u202e",
    "\ufeff",
    "é",
    "日本",
    "🙂",
    "\ud800",
    "\U0010ffff",
    "\x1b[0m",
    "::id",
    "# ::snt ",
]
ENCODINGS = [
    ("utf-8", "latin-1"),
    ("utf-8", "cp037"),
    ("utf-16", "latin-1"),
    ("utf-8", "utf-16"),
    ("latin-1", "utf-8"),
]


def flip(source: random.Random, text: str) -> str:
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(source.randint(1, 4)):
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)
    return data.decode("utf-8", "surrogateescape" if source.random() < 0.5 else "replace")


def truncate(source: random.Random, text: str) -> str:
    at = source.randrange(len(text))
    return text[:at] if source.random() < 0.5 else text[at:]


def insert(source: random.Random, text: str) -> str:
    for _ in range(source.randint(1, 4)):
        at = source.randint(0, len(text))
        text = text[:at] + source.choice(PIECES) + text[at:]
    return text


def duplicate(source: random.Random, text: str) -> str:
    at = source.randrange(len(text))
    chunk = text[at : at + source.randint(1, 80)]
    to = source.randint(0, len(text))
    return text[:to] + chunk * source.choice([1, 1, 1, 2, 50]) + text[to:]


def replace(source: random.Random, text: str) -> str:
    at = source.randrange(len(text))
    return text[:at] + source.choice([*PIECES, chr(source.randrange(0x110000))]) + text[at + 1 :]


def reencode(source: random.Random, text: str) -> str:
    written, read = source.choice(ENCODINGS)
    return text.encode(written, "replace").decode(read, "replace")


def rename(source: random.Random, text: str) -> str:
    """Replace one word with another of the text. Two nodes may then have the same variable."""
    words = text.split(" ")
    at, other = source.randrange(len(words)), source.randrange(len(words))
    words[at] = words[other]
    return " ".join(words)


MUTATIONS: list[Callable[[random.Random, str], str]] = [
    flip, truncate, insert, insert, duplicate, replace, replace, reencode, rename, rename,
]  # fmt: skip


def mutants(seed: str, originals: list[str]) -> Iterator[str]:
    source = random.Random(seed)
    for _ in range(AMOUNT):
        text = source.choice(originals)
        for _ in range(source.choice([1, 1, 1, 2, 3])):
            text = source.choice(MUTATIONS)(source, text) or "("
        yield text


def penman_texts() -> list[str]:
    found = texts(BUNDLED)
    for file in sorted(LITTLE_PRINCE.glob("lpp-*.txt")) if LITTLE_PRINCE.exists() else ():
        found += texts(file)
    return found + list(ROUND_TRIPS.values())


def read_quickly(read: Callable[[], Result], text: str) -> Result | InputError:
    """Return the result or error of a reader that is quick enough in one of three attempts.

    An attempt can be slow because Python collects garbage meanwhile.
    """
    for _ in range(3):
        began = time.thread_time()
        try:
            result: Result | InputError = read()
        except InputError as error:
            result = error
        if time.thread_time() - began < SECONDS:
            return result
    raise AssertionError(f"takes more than {SECONDS} s: {text}")


def read(text: str) -> AmrGraph | PenmanError:
    graph = read_quickly(lambda: parse_graph(text, "fuzz/all/0#0@penman"), text)
    assert isinstance(graph, AmrGraph | PenmanError)
    return graph


def assert_position(error: PenmanError, text: str) -> None:
    """Check that the line and column of the error are in the text, or directly after its end."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert error.code and error.message
    assert 1 <= error.line <= len(lines)
    assert 1 <= error.column <= len(lines[error.line - 1]) + 1


class TestTenThousandGraphs:
    def test_are_read_exactly_or_refused_with_a_place(self) -> None:
        accepted, codes = 0, set[str]()
        for text in mutants("penman", penman_texts()):
            graph = read(text)
            if isinstance(graph, PenmanError):
                assert_position(graph, text)
                codes.add(graph.code)
                continue
            accepted += 1
            assert parse_graph(format_graph(graph), graph.id) == graph
            assert all(defect.code in CODES for defect in check(graph))
        assert AMOUNT / 10 < accepted < AMOUNT
        assert codes >= {"syntax", "unclosed", "trailing-text", "dangling-role", "duplicate-variable"}
        assert codes >= {"no-graph", "no-concept", "duplicate-instance", "empty-role"}

    def test_that_are_accepted_come_back_from_a_store(self, store: Store, tmp_path: Path) -> None:
        stored = (text for text in mutants("stored", penman_texts()) if "\0" not in text)
        graphs = [graph for text in stored if isinstance(graph := read(text), AmrGraph)]
        odd = [g for g in graphs if not format_graph(g).isascii()]
        chosen = [*odd[: KEPT // 2], *graphs[: KEPT - min(len(odd), KEPT // 2)]]
        written = [format_graph(graph) for graph in chosen]
        file = tmp_path / "odd.jsonl"
        with file.open("w", encoding="utf-8") as out:
            for n, text in enumerate(written):
                turns = [{"speaker": "A", "text": "?", "amr": text}]
                out.write(json.dumps({"id": str(n), "corpus": "fuzz", "split": "all", "turns": turns}) + "\n")
        wipe(store)
        report = DialogueGraph(store).load("dialogues", file)
        assert [one.reason for one in report.rejected] == []
        ids = [f"fuzz/all/{n}#0@penman" for n in range(len(written))]
        assert [format_graph(graph) for graph in read_whole_graphs(store, ids)] == written
        wipe(store)

    def test_in_files_are_checked_graph_by_graph(self, tmp_path: Path) -> None:
        file = tmp_path / "mutated.amr"
        source = random.Random("files")
        whole = BUNDLED.read_text(encoding="utf-8")[:6000]
        for _ in range(200):
            text = whole
            for _ in range(source.randint(1, 5)):
                text = source.choice(MUTATIONS)(source, text) or "("
            file.write_bytes(text.encode("utf-8", "surrogatepass"))
            defects = read_quickly(lambda: list(check_file(file)), text)
            if isinstance(defects, InputError):
                assert str(file) in str(defects)
                continue
            lines = text.count("\n") + text.count("\r") + 1
            assert all(1 <= one.line <= lines and one.code for one in defects)
            blocks = list(iter_blocks(text))
            assert len(defects) >= sum(isinstance(read(block), PenmanError) for _, block in blocks)


def dialogue_lines() -> list[str]:
    """Return plain and unusual dialogues as lines of JSON."""
    plain = (DATA / "chats.jsonl").read_text(encoding="utf-8").splitlines()
    odd = [
        {
            "id": "odd/1",
            "turns": [{"speaker": "A\u2028", "text": 'tab\t, quote ", back\\slash, nul \0, bell \a'}],
        },
        {
            "id": "ödd/2",
            "turns": [
                {"speaker": "Ж", "text": "日本 🙂 \u202e rtl \ufeff bom"},
                {"speaker": "B", "text": "x"},
            ],
        },
        {
            "id": "3",
            "turns": [{"speaker": "A", "text": "a" * 5000}, {"speaker": "A", "text": " two  spaces "}],
        },
        {"id": "4", "turns": [{"speaker": "A", "text": "I go", "amr": "(g / go-02 :ARG0 (i / i))"}]},
    ]
    return [line for line in plain if line.strip()] + [json.dumps(one, ensure_ascii=False) for one in odd]


def loaded(file: Path) -> list[Record]:
    """Return the records of a file, or none if the whole file is refused."""
    records = read_quickly(lambda: load("dialogues", file), str(file))
    if isinstance(records, InputError):
        assert str(file) in str(records)
        return []
    return records


class TestMutatedDialogues:
    def test_that_are_accepted_come_back_from_a_store(self, store: Store, tmp_path: Path) -> None:
        file, kept = tmp_path / "dialogues.jsonl", dict[str, Dialogue]()
        for text in mutants("stored dialogues", dialogue_lines()):
            file.write_bytes(text.encode("utf-8", "surrogatepass"))
            for one in loaded(file):
                if isinstance(one, Dialogue):
                    kept[one.id if one.id not in kept else f"{one.id}.{len(kept)}"] = one
            if len(kept) >= KEPT:
                break
        wipe(store)
        with file.open("w", encoding="utf-8") as out:
            for id, one in kept.items():
                turns = [{"speaker": turn.speaker, "text": turn.text} for turn in one.utterances]
                out.write(
                    json.dumps({"id": id, "corpus": one.corpus, "split": one.split, "turns": turns}) + "\n"
                )
        report = DialogueGraph(store).load("dialogues", file)
        assert report.written["dialogues"] + report.rejections == len(kept)
        assert report.rejections < len(kept) / 10
        refused = {one.place for one in report.rejected}
        for stored in read_dialogues(store, list(kept)):
            expected = [(turn.speaker, turn.text) for turn in kept[stored.id].utterances]
            assert [(turn.speaker, turn.text) for turn in stored.turns] == expected
            assert stored.id not in refused
        wipe(store)

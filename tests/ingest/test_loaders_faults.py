"""Tests of the loaders on wrong files and damaged items, which are refused with their place."""

from __future__ import annotations

import gzip
import json
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue, Frame, Record, Rejected
from tests.loader_samples import CASES, DATA, SAMPLES, load, written


def refusals(records: list[Record]) -> list[str]:
    return [f"{r.place.rpartition('/')[2]} {r.reason}" for r in records if isinstance(r, Rejected)]


class Recorded:
    """Record the progress that a loader reports."""

    def __init__(self) -> None:
        self.total, self.done, self.open = 0, 0, 0

    def start(self, label: str, total: int | None, unit: str) -> None:
        self.total, self.open = self.total + (total or 0), self.open + 1

    def advance(self, amount: int) -> None:
        self.done += amount

    def finish(self) -> None:
        self.open -= 1


class TestTheWrongFile:
    @pytest.mark.parametrize("loader", [name for name in SAMPLES if name != "propbank"])
    def test_an_image_is_recognised(self, loader: str, tmp_path: Path):
        image = written(tmp_path / "photo.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(range(256)))
        with pytest.raises(InputError, match=rf"photo.jpg looks like a JPEG image.*{loader}"):
            load(loader, image)

    @pytest.mark.parametrize(
        ("wanted", "given", "name"),
        [(wanted, given, name) for wanted in SAMPLES for given, name in CASES if wanted != given],
    )
    def test_a_file_for_another_loader_names_that_loader(self, wanted: str, given: str, name: str):
        with pytest.raises(InputError, match=f"looks like a file for the loader '{given}'"):
            load(wanted, DATA / name)

    @pytest.mark.parametrize("loader", SAMPLES)
    def test_prose_is_refused_with_the_first_reason(self, loader: str, tmp_path: Path):
        prose = written(tmp_path / "notes.md", "These are notes.\nThey hold nothing of use.\n")
        with pytest.raises(InputError, match=rf"notes.md .*'{loader}'.* reads "):
            load(loader, prose)

    @pytest.mark.parametrize("loader", SAMPLES)
    def test_a_missing_an_empty_and_no_file_are_errors(self, loader: str, tmp_path: Path):
        with pytest.raises(InputError, match="there is no such file"):
            load(loader, tmp_path / "missing.json")
        with pytest.raises(InputError, match="is empty"):
            load(loader, written(tmp_path / "empty.json", ""))
        with pytest.raises(InputError, match="is empty"):
            load(loader, written(tmp_path / "empty.json.gz", gzip.compress(b"")))
        with pytest.raises(InputError, match="needs the path"):
            load(loader)

    @pytest.mark.parametrize("loader", SAMPLES)
    def test_a_directory_without_its_files_is_an_error(self, loader: str, tmp_path: Path):
        with pytest.raises(InputError, match=r"is a directory|contains no .*"):
            load(loader, tmp_path)

    def test_utf_16_text_without_a_mark_is_named(self, tmp_path: Path):
        text = (DATA / "chats.jsonl").read_text("utf-8")
        for encoding in ("utf-16-le", "utf-16-be"):
            with pytest.raises(InputError, match="UTF-16"):
                load("dialogues", written(tmp_path / "chats.jsonl", text.encode(encoding)))

    def test_an_act_file_is_recognised(self):
        with pytest.raises(InputError, match="act or emotion file"):
            load("dailydialog", DATA / "dailydialog" / "dialogues_act_train.txt")

    def test_a_table_without_its_columns_is_an_error(self, tmp_path: Path):
        file = written(tmp_path / "chats.csv", "booking;turn;speaker;quote\n1;0;A;Hello\n")
        with pytest.raises(
            InputError, match=r"chats.csv:1: the table lacks the columns dialogue, text.*--map"
        ):
            load("dialogues", file)

    def test_the_bundled_corpus_takes_no_path(self):
        with pytest.raises(InputError, match="takes no path"):
            load("everyday", DATA / "chats.jsonl")


class TestBadItems:
    def test_each_bad_line_is_refused_at_its_place_and_the_rest_is_read(self, tmp_path: Path):
        good = b'{"id": "%d", "turns": ["Hello."]}'
        lines = [
            good % 1,
            b'{"id": "2", "turns": ["Hello."}',
            b'{"id": "3", "turns": [" "]}',
            b'{"id": "4", "turns": []}',
            b'{"id": "5", "turns": [{"speaker": "A"}]}',
            b'{"id": "6", "turns": ["caf\xe9"]}',
            b'{"id": "7", "turns": ["\\ud83d"]}',
            b'{"id": "8", "turns": ["a\\u0000b"]}',
            b'{"id": "9", "turns": ["a\0b"]}',
            b'{"id": "10", "turns": ["Hi."], "rating": NaN}',
            b'{"id": "11", "turns": ["Hi."], "rating": 99999999999999999999}',
            b'{"id": "12", "turns": ["Hi."], "responses": [{"turn": 4, "text": "x", "label": 1}]}',
            good % 1,
            b"[" * 100_000,
            b'{"id": "15", "turns": ["' + b"x" * (5 << 20) + b'"]}',
            b'{"id": "16", "turns": ["Hi."], "rating": ' + b"1" * 5000 + b"}",
            b'{"id": "a\\nb", "turns": ["Hi."]}',
            b'{"id": "' + b"x" * 600 + b'", "turns": ["Hi."]}',
            good % 19,
        ]
        records = load("dialogues", written(tmp_path / "chats.jsonl", b"\xef\xbb\xbf" + b"\r\n".join(lines)))
        assert [one.id for one in records if isinstance(one, Dialogue)] == ["chats/all/1", "chats/all/19"]
        assert refusals(records) == [
            "chats.jsonl:2 not JSON: Expecting ',' delimiter at column 31",
            "chats.jsonl:3 item 2: the dialogue has no turns",
            "chats.jsonl:4 item 3: turns is empty",
            "chats.jsonl:5 item 4: turns[0] lacks 'text'",
            "chats.jsonl:6 not UTF-8: byte 0xe9 at byte 27 of the line",
            "chats.jsonl:7 item 6: turn 0 contains half of a surrogate pair, U+D83D",
            "chats.jsonl:8 item 7: turn 0 contains a NUL character",
            "chats.jsonl:9 a NUL character at column 25",
            "chats.jsonl:10 not JSON: NaN is not a JSON number",
            "chats.jsonl:11 item 10: the dialogue contains a number of more than 64 bits",
            "chats.jsonl:12 item 11: a response answers turn 4, but the last turn is 0",
            "chats.jsonl:13 the id 'chats/all/1' occurs earlier in this load",
            "chats.jsonl:14 the JSON nests too deeply",
            "chats.jsonl:15 the line is longer than 4,194,304 bytes",
            refusals(records)[14],
            "chats.jsonl:17 item 16: the id 'chats/all/a\\nb' contains characters that are not printable",
            f"chats.jsonl:18 item 17: the id 'chats/all/{'x' * 30}'... has 610 bytes; the maximum is 500",
        ]
        assert refusals(records)[14].startswith("chats.jsonl:16 not JSON: Exceeds the limit")

    def test_a_dialogue_with_a_bad_row_is_refused_and_its_neighbours_are_read(self, tmp_path: Path):
        rows = [
            b"dialogue,turn,speaker,text",
            b"a,0,A,Hello",
            b"b,0,A,Hello",
            b"b,2,B,Hi",
            b"c,0,A,Hello",
            b"c,1,B",
            b"d,0,A,Hello",
            b"d,1,B,caf\xe9",
            "e,0,A,Helló".encode(),
            b"f,0,A,Again",
        ]
        records = load("dialogues", written(tmp_path / "chats.csv", b"\n".join(rows)))
        assert [one.id for one in records if isinstance(one, Dialogue)] == [
            f"chats/all/{name}" for name in "aef"
        ]
        found = " | ".join(refusals(records))
        assert "chats.csv:3 dialogue 'b': expected turn 1 but found '2' at" in found
        assert "chats.csv:6 3 cells, but the header has 4 | chats.csv:5 dialogue 'c': the row at" in found
        assert "chats.csv:8 not UTF-8: byte 0xe9" in found and "chats.csv:7 dialogue 'd': the row at" in found

    def test_dailydialog_lines_that_disagree_with_their_labels_are_refused(self, tmp_path: Path):
        text = "Hi . __eou__ Yes . __eou__\n" * 4 + "Cut off . __eou__ Ye"
        file = written(tmp_path / "dialogues_test.txt", text)
        written(tmp_path / "dialogues_act_test.txt", "1 1\n1\n1 9\n1 2\n1 1\n")
        written(tmp_path / "dialogues_emotion_test.txt", "0 0\n0 0\n0 0\n")
        records = load("dailydialog", file)
        assert [one.id for one in records if isinstance(one, Dialogue)] == ["dailydialog/test/0"]
        assert refusals(records) == [
            "dialogues_test.txt:2 item 1: 2 turns, but 1 numbers in line 2 of the act file",
            "dialogues_test.txt:3 item 2: '9' in line 3 of the act file is not the number of an act",
            "dialogues_test.txt:4 item 3: the emotion line is missing",
            "dialogues_test.txt:5 item 4: the line does not end with __eou__",
        ]

    def test_a_broken_entry_of_a_json_array_does_not_affect_others(self, tmp_path: Path):
        entries = [{"persona": [], "dialogue": [[f"hello {n} .", "hi ."]]} for n in range(5)]
        text = json.dumps(entries, indent=1).replace("hello 2", "hell\\q 2", 1)
        records = load("personachat", written(tmp_path / "chats.json", text))
        assert [one.id[-1] for one in records if isinstance(one, Dialogue)] == ["0", "1", "3", "4"]
        assert refusals(records) == ["chats.json:20 item 2: not JSON: Invalid \\escape"]

    def test_an_array_that_is_cut_off_gives_what_was_whole(self, tmp_path: Path):
        text = (DATA / "personachat_pairs_valid.json").read_text("utf-8")
        records = load("personachat", written(tmp_path / "chats.json", text[:-30]))
        assert len([one for one in records if isinstance(one, Dialogue)]) == 1
        assert len(refusals(records)) == 1 and "chats.json:2" in refusals(records)[0]

    def test_a_parlai_episode_with_a_gap_is_refused(self, tmp_path: Path):
        text = "1 hi .\thello .\n3 lost .\tyes .\n1 your persona: i swim.\n2 good day .\tbye .\n"
        records = load("personachat", written(tmp_path / "chats.txt", text))
        assert [one.id for one in records if isinstance(one, Dialogue)] == ["personachat/all/1"]
        assert refusals(records) == ["chats.txt:1 episode 0: line 2 does not begin with the number 2"]

    def test_conceptnet_lines_that_are_no_edges_are_refused(self, tmp_path: Path):
        good = (DATA / "assertions.csv").read_text("utf-8").splitlines()[0]
        edge = "/a/x\t/r/Antonym\t/c/en/{}\t/c/en/{}\t{}"
        lines = [
            good,
            "/a/x\t/r/Antonym\t/c/en/hot",
            edge.format("hot", "cold", "{"),
            edge.format("hot", "cold", "{}"),
            edge.format("fast/a", "fast/v", '{"weight": 1.0}'),
            edge.format("", "cold", '{"weight": 1.0}'),
            "a\tb\tc\td\te",
            good,
        ]
        records = load("conceptnet", written(tmp_path / "dump.csv", "\n".join(lines)))
        assert len(records) == 8 and not isinstance(records[-1], Rejected)
        assert refusals(records) == [
            "dump.csv:2 3 columns, but expected 5 (uri, relation, start, end, JSON)",
            "dump.csv:3 not JSON: Expecting property name enclosed in double quotes at column 2",
            "dump.csv:4 the weight is missing, or is not a number",
            "dump.csv:5 'fast' is its own opposite (Antonym)",
            "dump.csv:6 a term is empty",
            "dump.csv:7 the second column is not a relation (/r/...)",
        ]

    def test_a_graph_with_an_invalid_line_is_refused(self, tmp_path: Path):
        blocks = (DATA / "graphs.amr").read_bytes()
        file = written(
            tmp_path / "g.amr", blocks.replace(b"(o / oven)", b"(o / \xfcven)") + b"\n\n" + b"(h / hi)"
        )
        records = load("penman", file)
        assert [type(one).__name__ for one in records] == ["Rejected", "Rejected", "GraphText", "GraphText"]
        assert refusals(records)[0].startswith("g.amr:7 not UTF-8: byte 0xfc")

    def test_an_unknown_encoding_of_an_xml_file_is_refused(self, tmp_path: Path):
        file = written(tmp_path / "x.xml", '<?xml version="1.0" encoding="ttf-8"?><frameset/>')
        assert refusals(load("propbank", file)) == [
            "x.xml:1 the XML declares an encoding that can't be read: unknown encoding: ttf-8"
        ]

    def test_entities_of_an_xml_file_are_not_expanded(self, tmp_path: Path):
        bomb = (
            '<?xml version="1.0"?><!DOCTYPE frameset [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
            '<frameset><predicate lemma="&b;"><roleset id="x.01"/></predicate></frameset>'
        )
        records = load("propbank", written(tmp_path / "x.xml", bomb))
        assert refusals(records) == [
            "x.xml:1 the file declares an XML entity, which graphneg does not expand"
        ]

    def test_folders_and_links_among_frame_files_are_refused(self, tmp_path: Path):
        frames = sorted((DATA / "frames").glob("*.xml"))
        for file in frames:
            written(tmp_path / file.name, file.read_bytes())
        (tmp_path / "folder.xml").mkdir()
        (tmp_path / "dangling.xml").symlink_to(tmp_path / "nowhere")
        records = load("propbank", tmp_path)
        assert [r for r in records if isinstance(r, Frame)] == [
            r for r in load("propbank", DATA / "frames") if isinstance(r, Frame)
        ]
        assert refusals(records)[:2] == [
            "dangling.xml a broken link, or not a file",
            "folder.xml a folder, not a file",
        ]

    @pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
    def test_a_link_in_an_archive_is_refused(self, tmp_path: Path, kind: bytes):
        first, *others = sorted((DATA / "frames").glob("*.xml"))
        with tarfile.open(tmp_path / "frames.tar", "w") as archive:
            archive.add(first, first.name)
            for name in ("link.xml", "note.txt"):
                link = tarfile.TarInfo(name)
                link.type, link.linkname = kind, "/etc/passwd"
                archive.addfile(link)
            for file in others:
                archive.add(file, file.name)
        records = load("propbank", tmp_path / "frames.tar")
        assert [r for r in records if isinstance(r, Frame)] == [
            r for r in load("propbank", DATA / "frames") if isinstance(r, Frame)
        ]
        assert "link.xml a link to /etc/passwd, not a file: links are not followed" in refusals(records)


class TestStreaming:
    @pytest.mark.parametrize(("loader", "name"), [case for case in CASES if case[0] != "propbank"])
    def test_gzip_and_plain_files_give_the_same_records(self, loader: str, name: str, tmp_path: Path):
        plain = written(tmp_path / Path(name).name, (DATA / name).read_bytes())
        packed = written(tmp_path / f"{Path(name).name}.gz", gzip.compress(plain.read_bytes()))
        one, other = load(loader, plain), load(loader, packed)
        assert [_without_place(r) for r in one] == [_without_place(r) for r in other]
        assert one

    @pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "txt"])
    @pytest.mark.parametrize("filler", [b"\0", b"a"])
    def test_a_file_that_unpacks_to_far_more_than_its_size_is_refused_early(
        self, suffix: str, filler: bytes, tmp_path: Path
    ):
        path = tmp_path / f"bomb.{suffix}.gz"
        with gzip.open(path, "wb") as packed:
            packed.write(b'{"text": "')
            for _ in range(8):
                packed.write(filler * (1 << 24))
        refused = r"binary data|unpacks to over 100 times its size, more than 100 MB"
        with pytest.raises(InputError, match=refused):
            load("dialogues", path)

    def test_a_cut_off_gzip_file_gives_what_comes_before_the_cut(self, tmp_path: Path):
        lines = "".join(
            json.dumps({"id": str(n), "turns": [f"Number {n * n * 7919}."]}) + "\n" for n in range(50000)
        )
        packed = gzip.compress(lines.encode())
        records = load("dialogues", written(tmp_path / "chats.jsonl.gz", packed[: len(packed) // 2]))
        assert sum(isinstance(one, Dialogue) for one in records) > 10_000
        assert "gzip stream is damaged from here on" in refusals(records)[-1]

    @pytest.mark.parametrize(("loader", "name"), CASES)
    def test_progress_adds_up_to_the_file(self, loader: str, name: str):
        progress = Recorded()
        list(get_loader(loader).read([DATA / name], LoadOptions(progress=progress)))
        assert progress.done == progress.total == (DATA / name).stat().st_size
        assert progress.open == 0

    def test_a_large_json_array_is_read_in_little_memory(self, tmp_path: Path):
        file = tmp_path / "large.json"
        entry = json.dumps({"persona": ["i swim."], "dialogue": [["what is new ?", "x " * 400]] * 10})
        with file.open("w") as stream:
            stream.write("[" + ",\n".join([entry] * 4000) + "]")
        assert file.stat().st_size > 30_000_000
        tracemalloc.start()
        count = sum(1 for _ in get_loader("personachat").read([file], LoadOptions()))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == 4000
        assert peak < 8_000_000


def _without_place(record: Record) -> Record:
    return record if not hasattr(record, "place") else record.__class__(**{**_fields(record), "place": ""})


def _fields(record: Record) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__slots__}

"""Tests of untrusted store directories: opening one never overwrites files, hangs or runs code."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from neo4j import ManagedTransaction

from graphneg.checksums import CHECKSUMS
from graphneg.errors import StoreError
from graphneg.store import embedded as store_server
from graphneg.store import supervisor
from graphneg.store.connection import Store
from graphneg.store.embedded import STORE_FILE, WRITERS, read_endpoint, run_directory
from graphneg.store.engine_files import check_engine_files
from graphneg.store.opening import open_store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, FIFOs and owners of POSIX")

SECONDS = 60.0
DATABASE = Path(supervisor.ENGINE, "databases", "neo4j")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a valid, closed store."""
    directory = tmp_path_factory.mktemp("sound") / "store"
    with open_store(directory) as store:
        store.query_write("CREATE (:Term {text: 'tea'})")
    return directory


@pytest.fixture
def sent(sound: Path, tmp_path: Path) -> Path:
    """Return a copy of the store, which the test manipulates."""
    return shutil.copytree(sound, tmp_path / "sent")


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """Return a file outside the store, which must not change."""
    file = tmp_path / "precious.txt"
    file.write_text("precious")
    return file


def link(path: Path, precious: Path) -> None:
    path.symlink_to(precious)


def relative_link(path: Path, precious: Path) -> None:
    path.symlink_to(os.path.relpath(precious, path.parent))


def dangling_link(path: Path, precious: Path) -> None:
    path.symlink_to(precious.with_name("to be made"))


def link_to_a_folder(path: Path, precious: Path) -> None:
    path.symlink_to(precious.parent)


def hard_link(path: Path, precious: Path) -> None:
    path.hardlink_to(precious)


def fifo(path: Path, _: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path, _: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the path of a socket has at most 108 bytes
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(here)


def folder(path: Path, _: Path) -> None:
    path.mkdir()


def device(path: Path, _: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes devices")
    os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero


def of_another_user(path: Path, _: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    path.write_text("")
    os.chown(path, 12_345, 12_345)


Replacement = Callable[[Path, Path], None]
FILES: list[Replacement] = [
    *(link, relative_link, dangling_link, link_to_a_folder, hard_link),
    *(fifo, unix_socket, device, of_another_user),
]


def replace_file(path: Path, how: Replacement, precious: Path) -> None:
    """Replace a file by a link, a pipe, a device or the like."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    how(path, precious)


def refusal(directory: Path) -> str:
    """Return the one-line error of opening a store; assert that it comes soon and leaves no server."""
    began = time.monotonic()
    with pytest.raises(StoreError) as refused:
        open_store(directory)
    assert time.monotonic() - began < SECONDS
    said = str(refused.value)
    assert "\n" not in said
    assert directory not in store_server.served_directories()
    return said


def test_a_damaged_dictionary_is_one_line_of_error(sent: Path) -> None:
    (sent / CHECKSUMS).unlink()
    [dictionary] = (sent / DATABASE).glob("*.dict")
    content = bytearray(dictionary.read_bytes())
    content[8:60] = b"\xff" * 52
    dictionary.write_bytes(content)
    assert "ended while it started; its log" in refusal(sent)


class TestAFileInAStore:
    @pytest.mark.parametrize("name", [STORE_FILE, supervisor.LOCK])
    @pytest.mark.parametrize("how", [*FILES, folder], ids=lambda how: how.__name__)
    def test_files_that_graphneg_opens_must_be_regular(
        self, sent: Path, name: str, how: Replacement, precious: Path
    ) -> None:
        replace_file(sent / name, how, precious)
        assert str(sent / name) in refusal(sent)
        assert precious.read_text() == "precious" and not precious.with_name("to be made").exists()

    def test_a_folder_in_place_of_the_checksums_is_refused(self, sent: Path, precious: Path) -> None:
        replace_file(sent / CHECKSUMS, folder, precious)
        assert f"{sent / CHECKSUMS} is a folder" in refusal(sent)

    @pytest.mark.parametrize("how", [*FILES, folder], ids=lambda how: how.__name__)
    def test_the_lock_file_must_be_regular(self, sent: Path, how: Replacement, precious: Path) -> None:
        replace_file(sent / WRITERS, how, precious)
        with pytest.raises(StoreError, match=WRITERS), store_server.turn(sent):
            raise AssertionError
        assert precious.read_text() == "precious" and not precious.with_name("to be made").exists()

    @pytest.mark.parametrize(
        "name", ["schema.json", "statistics.json", "new.0.65536.v0.bucket", "schema.json.tmp"]
    )
    @pytest.mark.parametrize("how", FILES, ids=lambda how: how.__name__)
    def test_files_that_the_server_opens_must_be_regular(
        self, sent: Path, name: str, how: Replacement, precious: Path
    ) -> None:
        replace_file(sent / DATABASE / name, how, precious)
        assert str(sent / DATABASE / name) in refusal(sent)
        assert precious.read_text() == "precious" and not precious.with_name("to be made").exists()

    @pytest.mark.parametrize("place", [DATABASE, DATABASE.parent, DATABASE.parent.parent])
    @pytest.mark.parametrize("how", FILES, ids=lambda how: how.__name__)
    def test_a_file_in_place_of_a_folder_is_refused(
        self, sent: Path, place: Path, how: Replacement, precious: Path
    ) -> None:
        replace_file(sent / place, how, precious)
        assert str(sent / place) in refusal(sent)

    def test_a_file_name_with_line_breaks_is_reported_in_one_line(self, sent: Path, precious: Path) -> None:
        (sent / DATABASE / "a\nb\x1b[2J\udcff").symlink_to(precious)
        assert r"a\nb\x1b[2J\udcff' is a symbolic link" in refusal(sent)

    def test_a_second_database_is_refused(self, sent: Path) -> None:
        shutil.copytree(sent / DATABASE, sent / DATABASE.with_name("second"))
        assert str(sent / DATABASE.with_name("second")) in refusal(sent)

    def test_files_of_earlier_versions_are_left_alone(
        self, sent: Path, precious: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        secrets = {"HF_TOKEN": "hf_s3cret", "AWS_SECRET_ACCESS_KEY": "s3cret", "GITHUB_TOKEN": "ghp_s3cret"}
        for name, value in secrets.items():
            monkeypatch.setenv(name, value)
        (sent / supervisor.LOG).symlink_to(precious)
        (sent / "password").symlink_to(precious)
        os.mkfifo(sent / supervisor.ENDPOINT)
        (sent / supervisor.ROOT).symlink_to(precious.parent)
        run = run_directory(sent)
        assert run
        abandoned = run.with_name("0" * 32)
        abandoned.mkdir()
        os.utime(abandoned, (0, 0))
        with open_store(sent) as store:
            assert store.read("MATCH (t:Term) RETURN t.text AS text")[0]["text"] == "tea"
            endpoint = read_endpoint(sent)
            assert endpoint
            for process in (endpoint.supervisor, endpoint.java):
                assert "s3cret" not in str(psutil.Process(process).environ())
        assert precious.read_text() == "precious" and precious.exists()
        assert (sent / supervisor.LOG).is_symlink() and (sent / supervisor.ROOT).is_symlink()
        assert not abandoned.exists()


def change(path: Path, key: str, value: object, *within: str) -> None:
    content = json.loads(path.read_text())
    inner = content
    for name in within:
        inner = inner[name] if name else next(iter(inner.values()))
    inner[key] = value
    path.write_text(json.dumps(content))


TRIGGER = {
    "name": "e",
    "timing": "AFTER",
    "event": "CREATE",
    "typeName": "Dialogue",
    "actionType": "SQL",
    "actionCode": "INSERT INTO Frame SET id = uuid(), lemma = 'zz'",
}
CODE: dict[str, tuple[str, object, tuple[str, ...]]] = {
    'the trigger "e"': ("triggers", {"e": TRIGGER}, ()),
    'the function library "f"': ("functions", {"f": {"language": "js", "functions": {}}}, ()),
    'the materialized view "v"': ("materializedViews", {"v": {"query": "SELECT 1"}}, ()),
    'the continuous aggregate "c"': ("continuousAggregates", {"c": {}}, ()),
    'the extension "x"': ("extensions", {"x": {}}, ()),
    "the hooks": ("hooks", ["a key of a later release"], ()),
    '"default": "uuid()"': ("p", {"type": "STRING", "default": "uuid()"}, ("types", "Term", "properties")),
    '"regexp": "(a+)+"': ("p", {"type": "STRING", "regexp": "(a+)+"}, ("types", "Term", "properties")),
    '"bucketSelectionStrategy"': ("bucketSelectionStrategy", "org.example.Evil", ("types", "Term")),
    '"analyzer"': ("analyzer", "org.example.Evil", ("types", "Term", "indexes", "")),
    '"type": "FULL_TEXT"': ("type", "FULL_TEXT", ("types", "Term", "indexes", "")),
    '"type": "t"': ("type", "t", ("types", "Term")),
    '"type": ["v"]': ("type", ["v"], ("types", "Term")),
}


class TestTheSchemaOfAStore:
    @pytest.mark.parametrize("name", ["schema.json", "schema.prev.json"])
    @pytest.mark.parametrize("what", CODE)
    def test_a_schema_with_code_is_refused(self, sent: Path, name: str, what: str) -> None:
        key, value, within = CODE[what]
        shutil.copyfile(
            sent / DATABASE / "schema.json", sent / DATABASE / name
        ) if name != "schema.json" else 0
        change(sent / DATABASE / name, key, value, *within)
        said = refusal(sent)
        assert what in said and str(sent / DATABASE / name) in said

    @pytest.mark.parametrize(
        "text",
        [
            '{"types": {}, "triggers": {"e": {}}, "triggers": {}}',
            "{'types': {}}",
            '{"types": {}} // more',
            '{"types": []}',
            '{"types": {"Term": 1}}',
            "[1]",
            "[" * 100_000,
            "\ufeff{}",
            "",
        ],
        ids=lambda text: text[:20],
    )
    def test_an_ambiguous_json_schema_is_refused(self, sent: Path, text: str) -> None:
        (sent / DATABASE / "schema.json").write_text(text, encoding="utf-8")
        assert "is damaged" in refusal(sent)

    @pytest.mark.parametrize(
        ("key", "value", "within"),
        [
            ("settings", [1], ()),
            ("schemaVersion", "x", ()),
            ("zoneId", "../../x", ("settings",)),
            ("parents", {"a": 1}, ("types", "Term")),
            ("p", {"type": "NONSENSE"}, ("types", "Term", "properties")),
            ("properties", 5, ("types", "Term", "indexes", "")),
        ],
    )
    def test_a_schema_that_the_server_can_read_only_in_part_is_refused_and_kept(
        self, sent: Path, key: str, value: object, within: tuple[str, ...]
    ) -> None:
        schema = sent / DATABASE / "schema.json"
        right = schema.read_text()
        change(schema, key, value, *within)
        damaged = schema.read_text()
        assert "can't read the schema.json" in refusal(sent)
        assert schema.read_text() == damaged
        schema.write_text(right)
        with open_store(sent) as store:
            assert store.read("MATCH (t:Term) RETURN t.text AS text") == [{"text": "tea"}]

    @pytest.mark.parametrize("types", [["Term"], ["Term", "GraphnegSchema"], ["NEXT"]])
    def test_a_schema_without_a_type_that_has_records_is_refused(
        self, tmp_path: Path, types: list[str]
    ) -> None:
        with open_store(tmp_path / "own") as store:
            store.query_write("CREATE (:Term {text: 'tea'})-[:NEXT]->(:Term {text: 'cake'})")
        copy = shutil.copytree(tmp_path / "own", tmp_path / "copy")
        schema = copy / DATABASE / "schema.json"
        content = json.loads(schema.read_text())
        for name in types:
            del content["types"][name]
        schema.write_text(json.dumps(content))
        said = refusal(copy)
        assert f'no type for the records in "{min(types)}_0.*.bucket"' in said

    @pytest.mark.parametrize("name", ["new.0.65536.v0.bucket", "txlog_0.wal"])
    def test_a_sparse_file_beside_the_schema_is_refused(self, sent: Path, name: str) -> None:
        (sent / DATABASE / name).touch()
        os.truncate(sent / DATABASE / name, 1 << 41)
        assert "occupies almost none on the disk" in refusal(sent)

    def test_a_huge_schema_is_refused_unread(self, sent: Path) -> None:
        os.truncate(sent / DATABASE / "schema.json", 1 << 40)
        assert "more than" in refusal(sent)

    def test_server_settings_beside_the_schema_are_refused(self, sent: Path) -> None:
        settings = {"configuration": {"arcadedb.externalPropertyBucketPath": "/etc"}}
        (sent / DATABASE / "configuration.json").write_text(json.dumps(settings))
        assert "configures the server" in refusal(sent)

    def test_a_schema_made_by_cypher_is_accepted(self, tmp_path: Path) -> None:
        with open_store(tmp_path / "own") as store:
            for text in (
                "CREATE CONSTRAINT FOR (n:Own) REQUIRE n.a IS NOT NULL",
                "CREATE CONSTRAINT FOR (n:Own) REQUIRE n.b IS UNIQUE",
                "CREATE CONSTRAINT FOR (n:Own) REQUIRE n.c IS :: STRING",
                "CREATE CONSTRAINT FOR (n:Own) REQUIRE (n.d, n.e) IS NODE KEY",
                "CREATE CONSTRAINT FOR ()-[r:OWNS]-() REQUIRE r.a IS NOT NULL",
                "CREATE INDEX FOR (n:Own) ON (n.x, n.y)",
                "CREATE TEXT INDEX FOR (n:Own) ON (n.z)",
                "CREATE (:Own:Other {a: 'a', b: 1, c: 'c', d: 'd', e: 'e'})-[:OWNS {a: 'a'}]->(:Other)",
            ):
                store.query_write(text)
        check_engine_files(tmp_path / "own")

    @pytest.mark.slow
    def test_a_store_whose_indexes_were_compacted_is_opened_again(self, tmp_path: Path) -> None:
        def write(transaction: ManagedTransaction, rows: list[str]) -> None:
            transaction.run("UNWIND $rows AS text CREATE (:Term {text: text})", rows=rows).consume()

        schema = tmp_path / "own" / DATABASE / "schema.json"
        with open_store(tmp_path / "own") as store:
            # Keys of 800 letters fill the pages of the index, until the server moves them into a new file.
            for start in range(0, 60_000, 1_000):
                rows = [f"{number:x>800}" for number in range(start, start + 1_000)]
                store.write(lambda transaction, rows=rows: write(transaction, rows))
                if "migratedFileIds" in schema.read_text(encoding="utf-8"):
                    break
        assert "migratedFileIds" in schema.read_text(encoding="utf-8")
        with open_store(tmp_path / "own") as store:
            [row] = store.read("MATCH (n:Term {text: $text}) RETURN count(n) AS count", text=f"{7:x>800}")
            assert row["count"] == 1

    def test_a_schema_with_the_link_of_a_killed_server_is_accepted(self, sent: Path) -> None:
        # The server links the schema to its previous version before it replaces the schema.
        schema, previous = (sent / DATABASE / name for name in ("schema.json", "schema.prev.json"))
        previous.unlink(missing_ok=True)
        os.link(schema, previous)
        with open_store(sent) as store:
            assert store.read("MATCH (t:Term) RETURN t.text AS text") == [{"text": "tea"}]

    def test_a_schema_with_a_name_outside_the_store_is_refused(self, sent: Path, tmp_path: Path) -> None:
        os.link(sent / DATABASE / "schema.json", tmp_path / "elsewhere.json")
        assert "hard link" in refusal(sent)

    @pytest.mark.slow
    def test_a_store_with_a_node_of_many_relationships_is_opened_again(self, tmp_path: Path) -> None:
        with open_store(tmp_path / "own") as store:
            store.query_write("CREATE (:Term {text: 'tea'})")
            # The server spreads the relationships of such a node over further buckets.
            for _ in range(10):
                store.query_write(
                    "MATCH (t:Term {text: 'tea'}) UNWIND range(1, 1000) AS i CREATE (:Own)-[:OWNS]->(t)"
                )
        assert list((tmp_path / "own" / DATABASE).glob("Term_*stripe*.bucket"))
        with open_store(tmp_path / "own") as store:
            [row] = store.read("MATCH (:Own)-[:OWNS]->(t:Term {text: 'tea'}) RETURN count(*) AS count")
            assert row["count"] == 10_000

    @pytest.mark.parametrize("value", [{"24": "x"}, {"a": 1}, [1], {"24": {"a": 1}}, "x", {"24": True}])
    def test_migrated_files_without_numbers_are_refused(self, sent: Path, value: object) -> None:
        change(sent / DATABASE / "schema.json", "migratedFileIds", value)
        assert "migratedFileIds" in refusal(sent)


# Servers that do not answer


@pytest.mark.parametrize("which", [0, 1], ids=["supervisor", "java"])
def test_a_stopped_server_is_reported_soon_and_can_be_continued(sent: Path, which: int) -> None:
    with open_store(sent) as store:
        endpoint = read_endpoint(sent)
        assert endpoint
        process = psutil.Process((endpoint.supervisor, endpoint.java)[which])
        process.suspend()
        try:
            began = time.monotonic()
            with pytest.raises(StoreError, match=rf"is stopped: continue it with `kill -CONT {process.pid}`"):
                open_store(sent)
            assert time.monotonic() - began < SECONDS
        finally:
            process.resume()
        assert store.read("RETURN 1 AS one")[0]["one"] == 1


# Use two nested ranges: the server limits the length of a single one, depending on its memory.
MILLIONS = "UNWIND range(1, 3000) AS i UNWIND range(1, 3000) AS j"
WAITING: dict[str, Callable[[Store], object]] = {
    "reading": lambda store: store.read(f"{MILLIONS} RETURN count(DISTINCT i % 7) AS n"),
    "streaming": lambda store: list(store.stream("UNWIND range(1, 300000) AS i RETURN i")),
    "writing": lambda store: store.query_write("UNWIND range(1, 100000) AS i CREATE (:Term {text: 'x' + i})"),
    "limited": lambda store: store.query_read(f"{MILLIONS} RETURN sum(i + j) AS n", seconds=300),
}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells that a process is stopped")
@pytest.mark.parametrize("query", WAITING)
def test_a_query_under_way_ends_when_its_server_is_stopped(sent: Path, query: str) -> None:
    with open_store(sent) as store, ThreadPoolExecutor(1) as thread:
        endpoint = read_endpoint(sent)
        assert endpoint
        java = psutil.Process(endpoint.java)
        waiting = thread.submit(WAITING[query], store)
        time.sleep(0.1)
        java.suspend()
        try:
            with pytest.raises(StoreError, match=rf"is stopped: continue it with `kill -CONT {java.pid}`"):
                waiting.result(SECONDS)
        finally:
            java.resume()
        assert store.read("RETURN 1 AS one")[0]["one"] == 1


def test_a_store_that_is_moved_while_it_is_used_is_not_opened_again(
    sent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_server, "LOCKED_SECONDS", 1.0)
    with open_store(sent) as store:
        moved = sent.rename(sent.with_name("moved"))
        with pytest.raises(StoreError, match=r"moved is locked by another process"):
            open_store(moved)
        assert store.read("RETURN 1 AS one")[0]["one"] == 1
    with open_store(moved) as store:
        assert store.read("RETURN 1 AS one")[0]["one"] == 1

"""Tests of wrong usage: the command prints one line with advice and ends with status 1 or 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphneg.cli.options import CorpusOptions, DialogueOptions, StoreOptions
from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError
from graphneg.records.files import write_jsonl
from graphneg.store.opening import open_store
from tests.cli_runs import Run
from tests.interrupting import no_room_for_more_than
from tests.negative_samples import EXAMPLE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "out.txt"], "use .jsonl or .parquet"),
        (["-o", "none/out.jsonl"], "the folder none does not exist; create it first"),
        (["-o", "out.jsonl", "--recipe", "none"], "no recipe named 'none'"),
        # The wrong name is reported even if -o is missing, too.
        (["--recipe", "al"], "no recipe named 'al'; did you mean 'all'? available: deam"),
        (["-o", "out.jsonl", "--transform", "none"], "no transform named 'none'"),
        (["-o", "out.jsonl", "--corpus", "none"], "no dialogues of none"),
        (["-o", "out.jsonl", "--split", "test", "--limit", "3"], "no dialogues of test with AMR graphs"),
        (["-o", "out.jsonl", "--decoder", "none"], "no decoder named 'none'"),
        (["-o", "out.jsonl", "--model", "x"], "surface takes no option 'model'; it takes aligner"),
        (["-o", "out.jsonl", "--decoder", "t5"], "the t5 decoder needs a model"),
    ],
)
def test_wrong_options_of_negatives_are_one_line_of_error(
    run: Run,
    everyday: Path,
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run("negatives", *arguments, "--store", everyday)
    assert ended.status == 1
    assert message in ended.err
    assert len(ended.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command", [["info"], ["negatives", "-o", "out.jsonl"], ["export", "out.jsonl"], ["cypher", "RETURN 1"]]
)
def test_reading_a_missing_store_does_not_create_it(run: Run, command: list[str], tmp_path: Path) -> None:
    ended = run(*command, "--store", tmp_path / "none")
    assert ended.status == 1
    assert "there is no store at" in ended.err and "create it with graphneg load CORPUS" in ended.err
    assert not (tmp_path / "none").exists()


def test_an_export_without_dialogues_is_refused(run: Run, everyday: Path, tmp_path: Path) -> None:
    ended = run("export", tmp_path / "out.jsonl", "--corpus", "none", "--store", everyday)
    assert ended.status == 1
    assert "no dialogues of none" in ended.err
    assert not (tmp_path / "out.jsonl").exists()


def test_a_missing_query_file_is_reported(run: Run, everyday: Path) -> None:
    ended = run("cypher", "none.cypher", "--store", everyday)
    assert ended.status == 1
    assert ended.err == "error: none.cypher: can't be read: No such file or directory\n"


def test_unreadable_lines_are_reported_with_the_reason(run: Run, everyday: Path, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"id": "a", "turns": ["Hello.\n{"id": "b"}\n{"id": "c", "turns": "x"}\n')
    table = tmp_path / "own.csv"
    table.write_text('dialogue,turn,speaker,text\na,0,A,"Hello.\n')
    said = run("load", "dialogues", path, table, "--store", everyday).err.splitlines()
    assert said[1:] == [
        f"  {path}:1: not JSON: Unterminated string at column 23",
        f"  {path}:2: item 1: the object has no turns (turns, messages, conversations, conversation, "
        "dialogue, dialog, utterances, log, posts, comments, ...); its keys are 'id'",
        f"  {path}:3: item 2: turns is not a list",
        f"  {table}:2: not CSV: unexpected end of data inside quotation marks",
    ]


def test_missing_columns_are_reported_and_can_be_mapped(run: Run, tmp_path: Path) -> None:
    store, table = tmp_path / "store", tmp_path / "own.csv"
    table.write_bytes("booking;Utterance\n1;It’s late.\n".encode("cp1252"))
    lacking = run("load", "dialogues", table, "--store", store)
    assert lacking.status == 1 and lacking.err.count("\n") == 1
    assert f"{table}:1: the table lacks the columns dialogue; its first row is 'booking'" in lacking.err
    wrong = run("load", "dialogues", table, "--map", "booking", "--store", store)
    assert wrong.status == 2 and "expected FIELD=NAME" in wrong.err
    loaded = run("load", "dialogues", table, "--map", "dialogue=booking", "--store", store)
    assert loaded.status == 0 and "loaded 1 dialogue, 1 utterance" in loaded.err
    assert set(loaded.err.splitlines()[1:]) == {
        f"  {table}: not UTF-8, read as cp1252; if that is wrong, set --encoding",
        f"  {table}: read as text=Utterance",
        f"  {table}: no speaker column, so the speakers A and B are assumed",
    }


def test_an_empty_selection_is_refused_before_the_store_is_opened(everyday: Path) -> None:
    where = StoreOptions(str(everyday))
    for chosen in (CorpusOptions(["none"]), DialogueOptions(["everyday"], ["none"], 3)):
        with pytest.raises(InputError, match=r"no dialogues of .*none are in the"), where.opened(chosen):
            pytest.fail("opened")
    with where.opened(CorpusOptions(["everyday"])) as graph:
        with pytest.raises(InputError, match=r"test with AMR graphs .*: run graphneg parse"):
            CorpusOptions(None, ["test"]).require(graph, with_graphs=True)
        contexts = list(DialogueOptions(limit=1).contexts(graph))
        assert len({context.dialogue for context in contexts}) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cypher", "--named", "hub"], "no query named 'hub'; did you mean hubs?"),
        (["cypher", "--named", "hubs", "--write"], "the shipped queries are read-only"),
        (["parse", "--text", "a.txt"], "give both --text FILE and -o FILE"),
        (["parse", "--text", "a.txt", "-o", "b.amr", "--again"], "can't be used with --text"),
        (["generate", "none", "-o", "a.jsonl"], "no generator named 'none'; choose one of"),
        (["generate", "bm25", "-o", "a.jsonl", "--option", "by"], "expected NAME=VALUE"),
        (["shift", "substitutes", "--post", "Hi!", "--utterance", "a#1"], "give one of --post, --utterance"),
        (["shift", "substitutes", "--post", "Hi!", "--predictor", "none"], "no predictor named 'none'"),
        (["rank", "search", "--model", "m", "--context", "-"], "give either --bank or --candidates"),
        (
            ["rank", "index", "a.txt", "--model", "m", "-o", "b", "--limit", "3"],
            "apply to a store, not to files",
        ),
        (
            ["train", "ranker", "a.jsonl", "--model", "m", "-o", "r", "--kind", "none"],
            "'none' is not a kind of ranker; choose one of",
        ),
        (
            ["train", "ranker", "a.jsonl", "--model", "m", "-o", "r", "--codes", "4"],
            "a cross-encoder has no codes",
        ),
        (["train", "lm", "--model", "m", "-o", "r", "--option", "bf16"], "'bf16': expected NAME=VALUE"),
        (
            ["train", "contradiction", "--model", "m", "-o", "r"],
            "give files of labelled responses",
        ),
        (
            ["contradictions", "responses", "c.jsonl", "-o", "r.jsonl"],
            "give at least one source of responses",
        ),
        (["evaluate", "ranker", "a.json"], "give exactly one of --model and --scores"),
        (["evaluate", "correlation", "a.json"], "give --model or --scores"),
        (["evaluate", "contradiction", "a.jsonl"], "give one of --model, --scores and --encoder"),
        (
            [
                "evaluate",
                "sources",
                "a.json",
                "--model",
                "m",
                "-o",
                "c",
                "--source",
                "random",
                "--source-option",
                "bm25=1",
            ],
            "'bm25': expected SOURCE.NAME=VALUE",
        ),
    ],
)
def test_wrong_usage_ends_with_2_and_writes_nothing(
    run: Run,
    everyday: Path,
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    ended = run("--store", everyday, *arguments)
    assert ended.status == 2
    assert message in " ".join(ended.err.split())
    assert list(tmp_path.iterdir()) == []


def test_select_checks_files_and_thresholds_before_it_loads_a_model(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    (tmp_path / "a.jsonl").write_text("")
    file = tmp_path / "a.jsonl"
    limits = ("--forward-threshold", "9", "--backward-threshold", "9")
    for arguments, message in (
        ((file, "-o", tmp_path / "b.jsonl"), "the perplexities need thresholds"),
        ((tmp_path / "none.jsonl", "-o", tmp_path / "b.jsonl", *limits), "there is no such file"),
        ((file, "-o", file, *limits), "is an input file; name another output file"),
    ):
        ended = run("select", *arguments, "--model", "no/such/model")
        assert (ended.status, message in " ".join(ended.err.split())) == (2, True)


WRITERS = [
    ["negatives", "-o", "out.jsonl"],
    ["negatives", "-o", "out.parquet"],
    ["generate", "turn-shuffle", "-o", "out.jsonl"],
    ["select", "some.jsonl", "--per-context", "1", "-o", "out.jsonl"],
    ["export", "out.jsonl"],
    ["export", "out.graphml"],
    ["shift", "substitutes", "-o", "out.jsonl"],
]
"""Commands that write a file and recognise it when they are run again."""


class TestExistingOutput:
    @pytest.fixture(scope="class")
    def shifted(self, everyday: Path) -> Path:
        """Return a store with a shift graph."""
        with DialogueGraph(open_store(everyday)) as graph:
            graph.shift()
        return everyday

    @pytest.fixture
    def here(self, shifted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Change to a directory with a file of negatives and a link to the store at the default path."""
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("COLUMNS", "300")
        (tmp_path / "graphneg-store").symlink_to(shifted)
        write_jsonl([EXAMPLE], tmp_path / "some.jsonl")
        return tmp_path

    @pytest.mark.parametrize("command", WRITERS, ids=" ".join)
    def test_a_complete_output_is_kept_and_another_file_replaced_only_with_overwrite(
        self, run: Run, here: Path, command: list[str]
    ) -> None:
        [out] = (here / name for name in command if name.startswith("out."))
        assert run(*command).status == 0
        made = (out.read_bytes(), out.stat().st_mtime_ns)
        again = run(*command)
        assert again.status == 0
        assert "is already complete, with" in again.err and "nothing was done\n" in again.err
        assert (out.read_bytes(), out.stat().st_mtime_ns) == made

        out.write_text("what somebody wrote")
        files = {path: path.read_bytes() for path in here.iterdir() if path.is_file()}
        refused = run(*command)
        assert (refused.status, refused.err.count("\n")) == (2, 1)
        assert (
            f"{out.name}: the file already exists, and it is not the unchanged output of a run" in refused.err
        )
        assert {path: path.read_bytes() for path in here.iterdir() if path.is_file()} == files
        assert run(*command, "--overwrite").status == 0
        assert out.read_bytes() == made[0]
        assert "is already complete, with" in run(*command).err

    @pytest.mark.parametrize("command", WRITERS, ids=" ".join)
    def test_an_output_of_other_settings_is_refused(self, run: Run, here: Path, command: list[str]) -> None:
        assert run(*command).status == 0
        other = ["--per-context", "2"] if command[0] == "select" else ["--split", "train"]
        refused = run(*command, *other)
        assert refused.status == 2
        assert "made with other settings or from other content; name another file" in refused.err

    @pytest.mark.parametrize(
        "command",
        [["shift", "export", "-o", "own.jsonl"], ["parse", "--text", "some.jsonl", "-o", "own.amr"]],
    )
    def test_commands_without_a_run_note_never_replace_a_file(
        self, run: Run, here: Path, command: list[str]
    ) -> None:
        own = here / command[-1]
        own.write_text("what somebody wrote")
        refused = run(*command)
        assert (refused.status, own.read_text()) == (2, "what somebody wrote")
        assert f"{own.name}: the file already exists; name another file" in refused.err

    def test_a_full_disk_is_reported(self, run: Run, here: Path) -> None:
        with no_room_for_more_than(9_000):
            ended = run("export", "out.jsonl")
        assert (ended.status, ended.err.count("\n")) == (1, 1)
        assert "out.jsonl: can't be written: File too large; nothing was changed; make room" in ended.err
        assert not list(here.glob("*out*"))

    def test_a_full_disk_is_reported_for_the_file_of_refused_items(self, run: Run, here: Path) -> None:
        (here / "bad.jsonl").write_text('{"id": "a", "turns": ["Hello.", "Hi."]}\n' + "{\n" * 300)
        with no_room_for_more_than(2_000):
            ended = run("load", "dialogues", "bad.jsonl", "--rejected", "rejected.txt")
        assert (ended.status, ended.err.count("\n")) == (1, 1)
        assert "rejected.txt: can't be written: File too large; the data loaded so far are kept" in ended.err

"""The command line, as its users meet it: what it prints, where to, and how it ends."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import graphneg
from graphneg.records.resumable import part_note
from graphneg.store.embedded import read_endpoint
from tests.cli_runs import Run
from tests.servers import Neo4jServer, wipe

PROGRAM = shutil.which("graphneg", path=str(Path(sys.executable).parent))
OF_TYPER = {
    *("annotated_doc", "attr", "attrs", "click", "colorama", "markdown_it", "mdurl", "pygments", "rich"),
    *("shellingham", "typer", "typing_extensions"),
}
ILL_FORMED = "# ::id twice\n(l / like-01\n   :polarity -\n   :polarity -\n   :ARG0 (i / i))\n"


@pytest.fixture(scope="module", params=["embedded", "neo4j"])
def place(request: pytest.FixtureRequest) -> list[str]:
    """The options that name a store with the bundled corpus, on each server."""
    if request.param == "embedded":
        return ["--store", str(request.getfixturevalue("everyday"))]
    server: Neo4jServer = request.getfixturevalue("neo4j_instance")
    with server.open() as store:
        wipe(store)
        graphneg.DialogueGraph(store).load("everyday")
    return ["--store", server.uri, "--username", server.username, "--password", server.password]


class TestHelp:
    def test_the_help_needs_what_prints_it_and_no_more(self) -> None:
        """It is there at once; how fast depends on the machine, on what is imported it does not."""
        code = (
            "import sys; from graphneg.cli.app import main\n"
            "try: main(['--help'])\n"
            "except SystemExit as ended: assert not ended.code\n"
            "print(*sys.modules, file=sys.stderr)"
        )
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert "graphneg" in ended.stdout
        loaded = {name.partition(".")[0] for name in ended.stderr.split()} - sys.stdlib_module_names
        others = {name for name in loaded if not name.startswith("_")} - {"graphneg", *OF_TYPER}
        assert others <= {"msgspec"}

    def test_the_package_shows_what_is_public(self) -> None:
        shown = {name for name in dir(graphneg) if not name.startswith("__")}
        assert shown == {"DialogueGraph", "GraphnegError", "Info", "Negative", "open"}
        assert all(getattr(graphneg, name).__doc__ for name in shown)

    def test_a_store_is_asked_without_what_only_data_frames_need(self, everyday: Path) -> None:
        """The driver imports pandas and pyarrow where it finds them; later they can be imported as ever."""
        code = (
            "import sys; from graphneg.cli.app import main\n"
            "try: main(['info', '--store', sys.argv[1]])\n"
            "except SystemExit as ended: assert not ended.code\n"
            "assert not {'pandas', 'pyarrow'} & set(sys.modules); import pandas, pyarrow"
        )
        subprocess.run([sys.executable, "-c", code, str(everyday)], check=True, capture_output=True)

    @pytest.mark.parametrize(
        "command", ["load", "negatives", "transforms", "cypher", "export", "info", "evaluate graphs"]
    )
    def test_every_command_has_help_with_examples(self, run: Run, command: str) -> None:
        ended = run(*command.split(), "--help")
        assert ended.status == 0
        assert f"$ graphneg {command}" in ended.out
        assert "--store" in ended.out

    def test_the_version_is_printed(self, run: Run) -> None:
        assert run("--version").out == f"graphneg {graphneg.__version__}\n"


class TestCompletion:
    def test_is_installed_for_bash_and_completes_commands_options_and_names(self, tmp_path: Path) -> None:
        """``--install-completion`` writes what a shell sources; that asks the program for each word."""
        bash = shutil.which("bash")
        if bash is None or PROGRAM is None:
            pytest.skip("no bash")
        environment = {
            **os.environ,
            "HOME": str(tmp_path),
            "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",  # tests may run in another shell, or in none
            "PATH": f"{Path(PROGRAM).parent}:{os.environ['PATH']}",
        }
        settings: dict[str, Any] = {"env": environment, "capture_output": True, "text": True, "check": True}
        subprocess.run([PROGRAM, "--install-completion", "bash"], **settings)
        for typed, completed in (
            ("graphneg neg", ["negatives"]),
            ("graphneg load dailydialog", ["dailydialog", "dailydialog_pp"]),
            ("graphneg negatives --rec", ["--recipe"]),
            ("graphneg negatives --recipe per", ["perspective"]),
            ("graphneg generate over", ["overlap"]),
            ("graphneg parse --parser dep", ["dependency"]),
            ("graphneg cypher --named hub", ["hubs"]),
        ):
            script = (
                f"source ~/.bashrc; COMP_WORDS=({typed}); COMP_CWORD={typed.count(' ')}; "
                "function=$(complete -p graphneg); function=${function#*-F }; ${function% *} graphneg; "
                'printf "%s\\n" "${COMPREPLY[@]}"'
            )
            assert subprocess.run([bash, "-c", script], **settings).stdout.split() == completed


class TestLoad:
    def test_without_arguments_all_loaders_are_listed(self, run: Run) -> None:
        ended = run("load")
        assert ended.status == 0
        for name in ("everyday", "dailydialog", "penman", "conceptnet"):
            assert name in ended.out

    def test_the_bundled_corpus_is_loaded_and_a_second_time_passed_over(
        self, run: Run, place: list[str]
    ) -> None:
        ended = run("load", "everyday", *place)
        assert ended.status == 0
        assert "already in the store: 50 dialogues" in ended.err
        assert ended.out == ""

    def test_refusals_are_told_with_their_place_and_written_to_a_file(
        self, run: Run, place: list[str], tmp_path: Path
    ) -> None:
        lines = ['{"id": "good", "turns": ["Hello.", "Hi."]}', *['{"id": 1}'] * 30]
        (tmp_path / "mixed.jsonl").write_text("\n".join(lines))
        rejected = tmp_path / "rejected.txt"
        ended = run("load", "dialogues", tmp_path / "mixed.jsonl", "--rejected", rejected, *place)
        assert ended.status == 0
        assert "refused: 30" in ended.err
        assert "mixed.jsonl:2:" in ended.err
        assert "and 10 more" in ended.err
        assert len(rejected.read_text().splitlines()) == 30

    def test_a_file_where_nothing_is_good_ends_with_1(self, run: Run, everyday: Path, tmp_path: Path) -> None:
        (tmp_path / "bad.jsonl").write_text('{"id": 1}\n{"id": 2}\n')
        assert run("load", "dialogues", tmp_path / "bad.jsonl", "--store", everyday).status == 1

    def test_a_file_for_another_loader_is_one_clear_error(
        self, run: Run, everyday: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "graphs.amr").write_text(ILL_FORMED)
        ended = run("load", "dialogues", tmp_path / "graphs.amr", "--store", everyday)
        assert ended.status == 1
        assert ended.err.startswith("error: ")
        assert "'penman'" in ended.err
        assert ended.err.count("\n") == 1

    def test_an_unknown_loader_is_refused_before_a_store_is_made(self, run: Run, tmp_path: Path) -> None:
        ended = run("load", "nothing", "--store", tmp_path / "store")
        assert ended.status == 1
        assert "no loader named 'nothing'" in ended.err
        assert not (tmp_path / "store").exists()

    def test_a_file_without_its_loader_is_told_how_to_be_loaded(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "mine.jsonl").touch()
        ended = run("load", tmp_path / "mine.jsonl", "--store", tmp_path / "store")
        assert ended.status == 1
        assert f"graphneg load dialogues {tmp_path / 'mine.jsonl'}" in ended.err
        assert ended.err.count("\n") == 1


class TestNegatives:
    def test_a_file_is_written_and_a_table_tells_what_was_made(
        self, run: Run, place: list[str], tmp_path: Path
    ) -> None:
        out = tmp_path / "out.jsonl"
        ended = run("negatives", "-o", out, "--recipe", "all", "--per-dialogue", "2", "--show", "3", *place)
        assert ended.status == 0
        records = [json.loads(line) for line in out.read_text().splitlines()]
        assert len(records) > 20
        assert f"{out}: {len(records)} negatives" in ended.err
        assert "well-formed graphs" in ended.err
        assert "graphneg negatives --explain" in ended.out

    def test_standard_output_holds_the_negatives_and_nothing_else(
        self, run: Run, place: list[str], tmp_path: Path
    ) -> None:
        arguments = ["--transform", "polarity_flip", "--split", "train", *place]
        printed = run("negatives", "-o", "-", *arguments)
        run("negatives", "-o", tmp_path / "out.jsonl", *arguments)
        assert printed.out == (tmp_path / "out.jsonl").read_text()

    def test_a_second_run_gives_the_same_bytes(self, run: Run, place: list[str], tmp_path: Path) -> None:
        for name, batch in (("a", "200"), ("b", "3")):
            run("negatives", "-o", tmp_path / f"{name}.jsonl", "--batch", batch, *place)
        assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()

    def test_one_negative_is_explained(self, run: Run, place: list[str], tmp_path: Path) -> None:
        out = tmp_path / "out.jsonl"
        negate = ("--transform", "polarity_flip", "--target", "dialogue", "--split", "train")
        run("negatives", "-o", out, *negate, *place)
        record = json.loads(out.read_text().splitlines()[0])
        ended = run("negatives", "--explain", record["id"], *place)
        assert ended.status == 0
        for text in (record["id"], "C-cont", ":polarity -", "original", "edited", "speaker"):
            assert text in ended.out

    def test_the_helps_own_examples_work_on_the_demo(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        written = re.findall(r"\$ graphneg (negatives .*)", run("negatives", "--help").out)
        made, shown = (example.split() for example in written[:2])
        assert "--explain" in shown
        with graphneg.open("graphneg-store") as graph:
            graph.load("everyday")
            graph.parse()
            assert run(*made).status == 0
            assert shown[-1] in run(*shown).out

    def test_an_unknown_id_is_one_clear_error(self, run: Run, everyday: Path) -> None:
        ended = run("negatives", "--explain", "nowhere#1~deam.0.0", "--store", everyday)
        assert ended.status == 1
        assert "no negative with this id" in ended.err

    def test_transforms_of_a_folder_are_used(self, run: Run, place: list[str], tmp_path: Path) -> None:
        folder = doubting(tmp_path)
        out = tmp_path / "out.jsonl"
        ended = run("negatives", "-o", out, "--transforms-dir", folder, "--transform", "doubt", *place)
        assert ended.status == 0
        first = json.loads(out.read_text().splitlines()[0])
        assert first["edits"][0]["transform"] == "doubt"
        assert "(p / possible-01" in first["amr"][str(first["turn"])]["after"]

    def test_one_of_a_folder_that_finds_nothing_is_to_be_traced(
        self, run: Run, place: list[str], tmp_path: Path
    ) -> None:
        file = doubting(tmp_path) / "doubt.cypher"
        file.write_text(file.read_text().replace("n.position = 0", "n.position = -7"))
        asked = ("--transforms-dir", tmp_path, "--transform", "doubt")
        ended = run("negatives", "-o", tmp_path / "out.jsonl", *asked, *place)
        assert ended.status == 1
        assert "no-site" in ended.err and "run again with --debug-sites in place of -o" in ended.err

    def test_without_an_output_the_usage_is_told(self, run: Run) -> None:
        ended = run("negatives")
        assert ended.status == 2
        assert "-o FILE" in ended.err

    def test_dialogues_without_graphs_are_told_of(self, run: Run, everyday: Path, tmp_path: Path) -> None:
        ended = run("negatives", "-o", tmp_path / "out.jsonl", "--split", "test", "--store", everyday)
        assert (ended.status, "no-graph" in ended.err) == (1, True)
        assert "no negative was made: no-graph" in ended.err

    def test_options_are_for_recipes_of_a_generator(self, run: Run, tmp_path: Path) -> None:
        ended = run("negatives", "-o", tmp_path / "out.jsonl", "--recipe", "all", "--option", "max_uses=2")
        assert ended.status == 2
        assert "only the recipes that use a generator take options (hard)" in " ".join(
            ended.err.replace("│", " ").split()
        )


class TestCypher:
    QUERY = "MATCH (d:Dialogue {corpus: 'everyday'}) RETURN d.split AS split, count(*) AS n ORDER BY split"

    def test_rows_are_a_table(self, run: Run, place: list[str]) -> None:
        ended = run("cypher", self.QUERY, *place)
        assert ended.status == 0
        assert [line.split() for line in ended.out.splitlines() if line.strip()][2:] == [
            ["test", "14"],
            ["train", "36"],
        ]
        assert ended.err == "2 rows\n"

    def test_rows_are_json_or_csv_for_other_programs(self, run: Run, place: list[str]) -> None:
        printed = run("cypher", self.QUERY, "--format", "json", *place).out
        assert [json.loads(line)["n"] for line in printed.splitlines()] == [14, 36]
        assert run("cypher", self.QUERY, "--format", "csv", *place).out == "split,n\ntest,14\ntrain,36\n"

    def test_nodes_are_json_too(self, run: Run, place: list[str]) -> None:
        query = "MATCH (d:Dialogue {id: 'everyday/train/1'}) RETURN d"
        printed = run("cypher", query, "--format", "json", *place).out
        assert json.loads(printed)["d"]["labels"] == ["Dialogue"]

    def test_parameters_are_json_or_text(self, run: Run, place: list[str]) -> None:
        arguments = ["--param", "number=[1, 2]", "--param", "word=tea cup", "--format", "json"]
        ended = run("cypher", "RETURN $number AS number, $word AS word", *arguments, *place)
        assert json.loads(ended.out) == {"number": [1, 2], "word": "tea cup"}

    def test_parameters_that_are_none_are_told_in_a_line(self, run: Run, place: list[str]) -> None:
        for value, status, told in (
            ("1" + "0" * 19, 1, "can't be sent"),
            ("\udcff", 1, "can't be sent"),
            ("9" * 5000, 2, "too long or too deep"),
            ("[" * 3000 + "]" * 3000, 2, "too long or too deep"),
            ("[" * 900 + "]" * 900, 1, "can't be sent"),
        ):
            ended = run("cypher", "RETURN $a AS a", "--param", f"a={value}", *place)
            assert (ended.status, told in ended.err) == (status, True), ended.err

    def test_a_query_comes_from_a_file(self, run: Run, place: list[str], tmp_path: Path) -> None:
        (tmp_path / "query.cypher").write_text(self.QUERY)
        assert "train" in run("cypher", tmp_path / "query.cypher", *place).out

    def test_a_query_may_end_like_the_name_of_a_file(self, run: Run, place: list[str]) -> None:
        assert "[]" in run("cypher", "WITH {cypher: []} AS a RETURN a.cypher", *place).out

    def test_a_query_that_writes_needs_leave(self, run: Run, place: list[str]) -> None:
        query = "MATCH (d:Dialogue {id: 'everyday/train/1'}) SET d.seen = true"
        for asked in (query, "MATCH (d:Dialogue) WITH d AS as SET as.seen = true"):
            refused = run("cypher", asked, *place)
            assert refused.status == 1
            assert "add --write to allow it" in refused.err
        assert "properties set: 1" in run("cypher", "--write", query, *place).err

    def test_a_query_that_is_no_cypher_is_one_clear_error(self, run: Run, place: list[str]) -> None:
        ended = run("cypher", "MATCH (n RETURN n", *place)
        assert ended.status == 1
        assert ended.err.startswith("error: the query is not valid Cypher")


class TestOtherCommands:
    def test_info_tells_what_is_there(self, run: Run, place: list[str]) -> None:
        table = run("info", *place)
        assert "everyday" in table.out
        found = json.loads(run("info", "--json", *place).out)
        assert found["counts"]["Frame"] > 0
        assert {"corpus": "everyday", "split": "train", "dialogues": 36} in found["corpora"]

    def test_the_store_may_stand_before_the_command(self, run: Run, place: list[str]) -> None:
        assert run(*place, "info").out == run("info", *place).out

    def test_graphs_that_were_exported_pass_the_check(
        self, run: Run, place: list[str], tmp_path: Path
    ) -> None:
        exported = run("export", tmp_path / "graphs.amr", "--corpus", "everyday", *place)
        assert exported.status == 0
        assert "graphs" in exported.err
        checked = run("evaluate", "graphs", "--frames", tmp_path / "graphs.amr", *place)
        assert (checked.status, checked.out) == (0, "")

    def test_export_refuses_an_unknown_suffix(self, run: Run, everyday: Path) -> None:
        assert "unknown suffix '.doc'" in run("export", "out.doc", "--store", everyday).err

    def test_defects_are_told_with_file_line_id_and_code(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "bad.amr"
        path.write_text(ILL_FORMED)
        ended = run("evaluate", "graphs", path)
        assert ended.status == 1
        assert ended.out.startswith(f"{path}:2: twice: double-polarity: ")

    def test_a_check_goes_on_after_a_file_that_is_missing(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "bad.amr").write_text(ILL_FORMED)
        ended = run("evaluate", "graphs", tmp_path / "none.amr", tmp_path / "bad.amr")
        assert ended.status == 1
        assert "none.amr" in ended.err
        assert "double-polarity" in ended.out

    def test_transforms_are_listed_with_their_categories(self, run: Run) -> None:
        ended = run("transforms")
        for text in ("polarity_flip", "C-cont", "person_swap", "C-speaker", "opposites", "deam"):
            assert text in ended.out

    def test_a_transform_is_shown_with_an_edit_and_nothing_is_written(
        self, run: Run, place: list[str], tmp_path: Path
    ) -> None:
        before = run("info", "--json", *place).out
        ended = run("transforms", "doubt", "--transforms-dir", doubting(tmp_path), *place)
        assert ended.status == 0
        assert "UNWIND $dialogues" in ended.out
        assert "possible-01" in ended.out
        assert run("info", "--json", *place).out == before

    def test_a_transform_is_shown_without_a_store_too(self, run: Run, tmp_path: Path) -> None:
        ended = run("transforms", "polarity_flip", "--store", tmp_path / "none")
        assert ended.status == 0
        assert "graphneg load everyday" in ended.err
        assert not (tmp_path / "none").exists()

    def test_a_server_that_is_not_there_is_one_clear_error(self, run: Run) -> None:
        ended = run("info", "--store", "bolt://127.0.0.1:1")
        assert ended.status == 1
        assert "does not answer" in ended.err


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
class TestWarmth:
    def test_a_store_stays_warm_for_what_is_typed_and_for_nothing_else(
        self, run: Run, tmp_path: Path
    ) -> None:
        store = tmp_path / "store"
        assert run("load", "everyday", "--store", store).status == 0
        assert read_endpoint(store) is None
        for options, settings, is_kept in (
            ((), {"CI": "true"}, False),
            ((), {}, True),
            (("--keep-warm", "0"), {}, False),
        ):
            assert PROGRAM
            seen, terminal = os.openpty()
            environment = {name: value for name, value in os.environ.items() if name != "CI"} | settings
            command = [PROGRAM, *options, "info", "--store", str(store)]
            subprocess.run(command, stderr=terminal, stdout=subprocess.PIPE, env=environment, check=True)
            assert (read_endpoint(store) is not None) == is_kept, options
            os.close(terminal)
            os.close(seen)
        run("info", "--store", store, "--keep-warm", "1")
        assert read_endpoint(store) is not None


class TestStopping:
    def test_ctrl_c_keeps_what_was_made_and_the_same_command_goes_on(
        self, everyday: Path, run: Run, tmp_path: Path
    ) -> None:
        assert PROGRAM
        arguments = ["negatives", "--per-dialogue", "8", "--batch", "1", "--store", str(everyday)]
        out = tmp_path / "out.jsonl"
        process = subprocess.Popen(
            [PROGRAM, *arguments, "-o", str(out)], stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        state = part_note(out)
        while not (state.exists() and '"dialogues": 0' not in state.read_text()):
            assert process.poll() is None, "the run ended before it could be stopped"
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "run the same command again to continue" in err
        went_on = run(*arguments, "-o", out)
        assert "resumed after" in went_on.err
        run(*arguments, "-o", tmp_path / "unstopped.jsonl")
        assert out.read_bytes() == (tmp_path / "unstopped.jsonl").read_bytes()

    def test_a_reader_that_goes_away_is_no_error(self, everyday: Path) -> None:
        assert PROGRAM
        query = "UNWIND range(1, 100000) AS n RETURN n"
        command = [PROGRAM, "cypher", query, "--format", "csv", "--store", str(everyday)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout and process.stderr
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""


def doubting(folder: Path) -> Path:
    """A folder with a transform of one's own."""
    (folder / "doubt.cypher").write_text(
        "// doubt: The speaker is no longer sure.\n"
        "// category: C-strat\n"
        "UNWIND $dialogues AS d UNWIND d.turns AS t\n"
        "MATCH (n:AmrNode {amr: t.amr}) WHERE n.position = 0 AND n.frame AND n.concept <> 'possible-01'\n"
        "RETURN d.id AS dialogue,\n"
        "  collect({amr: t.amr, position: n.position, op: 'wrap', "
        "concept: 'possible-01', role: 'ARG1'}) AS edits\n"
    )
    return folder

"""Tests of whole commands: what they print to which stream, and their exit status."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import graphneg
from graphneg import plugins
from graphneg.records.resumable import checkpoint_path
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
def store_options(request: pytest.FixtureRequest) -> list[str]:
    """Return the options that name a store with the bundled corpus, on each server."""
    if request.param == "embedded":
        return ["--store", str(request.getfixturevalue("everyday"))]
    server: Neo4jServer = request.getfixturevalue("neo4j_instance")
    with server.open() as store:
        wipe(store)
        graphneg.DialogueGraph(store).load("everyday")
    return ["--store", server.uri, "--username", server.username, "--password", server.password]


class TestHelp:
    def test_the_help_imports_only_typer_and_msgspec(self) -> None:
        """Check imports instead of the time, which depends on the machine."""
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

    def test_dir_of_the_package_lists_its_public_names(self) -> None:
        shown = {name for name in dir(graphneg) if not name.startswith("__")}
        assert shown == {"DialogueGraph", "GraphnegError", "Info", "Negative", "open"}
        assert all(getattr(graphneg, name).__doc__ for name in shown)

    def test_queries_do_not_import_numpy_pandas_and_pyarrow(self, everyday: Path) -> None:
        """The Neo4j driver would import all three; they can still be imported later."""
        code = (
            "import sys; from graphneg.cli.app import main\n"
            "try: main(['info', '--store', sys.argv[1]])\n"
            "except SystemExit as ended: assert not ended.code\n"
            "assert not {'numpy', 'pandas', 'pyarrow'} & set(sys.modules); import numpy, pandas, pyarrow"
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
    def test_bash_completes_commands_options_and_names(self, tmp_path: Path) -> None:
        bash = shutil.which("bash")
        if bash is None or PROGRAM is None:
            pytest.skip("no bash")
        environment = {
            **os.environ,
            "HOME": str(tmp_path),
            # Install for bash, whatever shell runs the tests.
            "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
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

    def test_a_loader_that_can_not_be_imported_is_reported_below_the_others(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        installed = plugins.entry_points
        broken = EntryPoint("broken", "no_such_module:Broken", "graphneg.loaders")
        monkeypatch.setattr(plugins, "entry_points", lambda group: [*installed(group=group), broken])
        ended = run("load")
        assert ended.status == 0 and "everyday" in ended.out
        told = " ".join((ended.out + ended.err).split())
        assert "loader broken (no_such_module:Broken) can't be imported: No module named" in told
        assert "graphneg[neural]" not in told

    def test_a_second_load_of_the_bundled_corpus_adds_nothing(
        self, run: Run, store_options: list[str]
    ) -> None:
        ended = run("load", "everyday", *store_options)
        assert ended.status == 0
        assert "already in the store: 50 dialogues" in ended.err
        assert ended.out == ""

    def test_refused_items_are_listed_with_their_place_and_written_to_a_file(
        self, run: Run, store_options: list[str], tmp_path: Path
    ) -> None:
        lines = ['{"id": "good", "turns": ["Hello.", "Hi."]}', *['{"id": 1}'] * 30]
        (tmp_path / "mixed.jsonl").write_text("\n".join(lines))
        rejected = tmp_path / "rejected.txt"
        ended = run("load", "dialogues", tmp_path / "mixed.jsonl", "--rejected", rejected, *store_options)
        assert ended.status == 0
        assert "refused: 30" in ended.err
        assert "mixed.jsonl:2:" in ended.err
        assert "and 10 more" in ended.err
        assert len(rejected.read_text().splitlines()) == 30

    def test_the_list_of_refused_items_replaces_no_other_file(
        self, run: Run, store_options: list[str], tmp_path: Path
    ) -> None:
        data, own, link, pipe = (tmp_path / name for name in ("data.jsonl", "own.md", "link.txt", "pipe"))
        lines = '{"id": "good", "turns": ["Hello.", "Hi."]}\n{"id": 1}\n'
        data.write_text(lines)
        own.write_text("# My notes\n")
        link.symlink_to(own)
        os.mkfifo(pipe)
        for out in (data, own, link, pipe):
            ended = run("load", "dialogues", data, "--rejected", out, *store_options)
            assert ended.status == 1, out
            assert str(out) in ended.err.replace("\n", "")
        assert data.read_text() == lines and own.read_text() == "# My notes\n"
        earlier = tmp_path / "rejected.txt"
        earlier.write_text("data.jsonl:1\tno turns\n")
        run("load", "dialogues", data, "--rejected", earlier, *store_options)
        assert len(earlier.read_text().splitlines()) == 1

    def test_a_file_with_only_refused_items_ends_with_1(
        self, run: Run, everyday: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "bad.jsonl").write_text('{"id": 1}\n{"id": 2}\n')
        assert run("load", "dialogues", tmp_path / "bad.jsonl", "--store", everyday).status == 1

    def test_a_file_for_another_loader_is_one_line_of_error(
        self, run: Run, everyday: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "graphs.amr").write_text(ILL_FORMED)
        ended = run("load", "dialogues", tmp_path / "graphs.amr", "--store", everyday)
        assert ended.status == 1
        assert ended.err.startswith("error: ")
        assert "'penman'" in ended.err
        assert ended.err.count("\n") == 1

    def test_an_unknown_loader_is_refused_before_a_store_is_created(self, run: Run, tmp_path: Path) -> None:
        ended = run("load", "nothing", "--store", tmp_path / "store")
        assert ended.status == 1
        assert "no loader named 'nothing'" in ended.err
        assert not (tmp_path / "store").exists()

    def test_a_missing_loader_name_is_answered_with_the_full_command(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "mine.jsonl").touch()
        ended = run("load", tmp_path / "mine.jsonl", "--store", tmp_path / "store")
        assert ended.status == 1
        assert f"graphneg load dialogues {tmp_path / 'mine.jsonl'}" in ended.err
        assert ended.err.count("\n") == 1


class TestNegatives:
    def test_negatives_writes_a_file_and_prints_a_summary(
        self, run: Run, store_options: list[str], tmp_path: Path
    ) -> None:
        out = tmp_path / "out.jsonl"
        ended = run(
            "negatives", "-o", out, "--recipe", "all", "--per-dialogue", "2", "--show", "3", *store_options
        )
        assert ended.status == 0
        records = [json.loads(line) for line in out.read_text().splitlines()]
        assert len(records) > 20
        assert f"{out}: {len(records)} negatives" in ended.err
        assert "well-formed graphs" in ended.err
        assert "graphneg negatives --explain" in ended.out

    def test_standard_output_has_only_the_negatives(
        self, run: Run, store_options: list[str], tmp_path: Path
    ) -> None:
        arguments = ["--transform", "polarity_flip", "--split", "train", *store_options]
        printed = run("negatives", "-o", "-", *arguments)
        run("negatives", "-o", tmp_path / "out.jsonl", *arguments)
        assert printed.out == (tmp_path / "out.jsonl").read_text()

    def test_two_runs_write_the_same_bytes(self, run: Run, store_options: list[str], tmp_path: Path) -> None:
        for name, batch in (("a", "200"), ("b", "3")):
            run("negatives", "-o", tmp_path / f"{name}.jsonl", "--batch", batch, *store_options)
        assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()

    def test_explain_shows_one_negative(self, run: Run, store_options: list[str], tmp_path: Path) -> None:
        out = tmp_path / "out.jsonl"
        negate = ("--transform", "polarity_flip", "--target", "dialogue", "--split", "train")
        run("negatives", "-o", out, *negate, *store_options)
        record = json.loads(out.read_text().splitlines()[0])
        ended = run("negatives", "--explain", record["id"], *store_options)
        assert ended.status == 0
        for text in (record["id"], "C-cont", ":polarity -", "original", "edited", "speaker"):
            assert text in ended.out

    def test_the_examples_of_the_help_run_on_the_bundled_corpus(
        self, run: Run, loaded_everyday: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        shutil.copytree(loaded_everyday, "graphneg-store")
        written = re.findall(r"\$ graphneg (negatives .*)", run("negatives", "--help").out)
        made, shown = (example.split() for example in written[:2])
        assert "--explain" in shown
        with graphneg.open("graphneg-store") as graph:
            graph.parse()
            assert run(*made).status == 0
            assert shown[-1] in run(*shown).out

    def test_explain_of_an_unknown_id_is_an_error(self, run: Run, everyday: Path) -> None:
        ended = run("negatives", "--explain", "nowhere#1~deam.0.0", "--store", everyday)
        assert ended.status == 1
        assert "no negative with this id" in ended.err

    def test_transforms_of_a_folder_are_used(
        self, run: Run, store_options: list[str], tmp_path: Path
    ) -> None:
        folder = write_doubt_transform(tmp_path)
        out = tmp_path / "out.jsonl"
        ended = run(
            "negatives", "-o", out, "--transforms-dir", folder, "--transform", "doubt", *store_options
        )
        assert ended.status == 0
        first = json.loads(out.read_text().splitlines()[0])
        assert first["edits"][0]["transform"] == "doubt"
        assert "(p / possible-01" in first["amr"][str(first["turn"])]["after"]

    def test_a_transform_without_matches_is_answered_with_debug_sites(
        self, run: Run, store_options: list[str], tmp_path: Path
    ) -> None:
        file = write_doubt_transform(tmp_path) / "doubt.cypher"
        file.write_text(file.read_text().replace("n.position = 0", "n.position = -7"))
        asked = ("--transforms-dir", tmp_path, "--transform", "doubt")
        ended = run("negatives", "-o", tmp_path / "out.jsonl", *asked, *store_options)
        assert ended.status == 1
        assert "no-site" in ended.err and "run again with --debug-sites in place of -o" in ended.err

    def test_negatives_without_an_output_ends_with_2(self, run: Run) -> None:
        ended = run("negatives")
        assert ended.status == 2
        assert "-o FILE" in ended.err

    def test_dialogues_without_graphs_are_reported(self, run: Run, everyday: Path, tmp_path: Path) -> None:
        ended = run("negatives", "-o", tmp_path / "out.jsonl", "--split", "test", "--store", everyday)
        assert (ended.status, "no-graph" in ended.err) == (1, True)
        assert "no negative was made: no-graph" in ended.err

    def test_option_is_refused_for_a_recipe_without_a_generator(self, run: Run, tmp_path: Path) -> None:
        ended = run("negatives", "-o", tmp_path / "out.jsonl", "--recipe", "all", "--option", "max_uses=2")
        assert ended.status == 2
        assert "only the recipes that use a generator take options (hard)" in " ".join(
            ended.err.replace("│", " ").split()
        )


class TestCypher:
    QUERY = "MATCH (d:Dialogue {corpus: 'everyday'}) RETURN d.split AS split, count(*) AS n ORDER BY split"

    def test_rows_are_a_table(self, run: Run, store_options: list[str]) -> None:
        ended = run("cypher", self.QUERY, *store_options)
        assert ended.status == 0
        assert [line.split() for line in ended.out.splitlines() if line.strip()][2:] == [
            ["test", "14"],
            ["train", "36"],
        ]
        assert ended.err == "2 rows\n"

    def test_rows_are_json_or_csv_for_other_programs(self, run: Run, store_options: list[str]) -> None:
        printed = run("cypher", self.QUERY, "--format", "json", *store_options).out
        assert [json.loads(line)["n"] for line in printed.splitlines()] == [14, 36]
        assert (
            run("cypher", self.QUERY, "--format", "csv", *store_options).out == "split,n\ntest,14\ntrain,36\n"
        )

    def test_nodes_are_json_too(self, run: Run, store_options: list[str]) -> None:
        query = "MATCH (d:Dialogue {id: 'everyday/train/1'}) RETURN d"
        printed = run("cypher", query, "--format", "json", *store_options).out
        assert json.loads(printed)["d"]["labels"] == ["Dialogue"]

    def test_parameters_are_json_or_text(self, run: Run, store_options: list[str]) -> None:
        arguments = ["--param", "number=[1, 2]", "--param", "word=tea cup", "--format", "json"]
        ended = run("cypher", "RETURN $number AS number, $word AS word", *arguments, *store_options)
        assert json.loads(ended.out) == {"number": [1, 2], "word": "tea cup"}

    def test_invalid_parameters_are_refused(self, run: Run, store_options: list[str]) -> None:
        for value, status, told in (
            ("1" + "0" * 19, 1, "can't be sent"),
            ("\udcff", 1, "can't be sent"),
            ("9" * 5000, 2, "too long or too deep"),
            ("[" * 3000 + "]" * 3000, 2, "too long or too deep"),
            ("[" * 900 + "]" * 900, 1, "can't be sent"),
        ):
            ended = run("cypher", "RETURN $a AS a", "--param", f"a={value}", *store_options)
            assert (ended.status, told in ended.err) == (status, True), ended.err

    def test_a_query_comes_from_a_file(self, run: Run, store_options: list[str], tmp_path: Path) -> None:
        (tmp_path / "query.cypher").write_text(self.QUERY)
        assert "train" in run("cypher", tmp_path / "query.cypher", *store_options).out

    def test_a_query_may_end_in_dot_cypher(self, run: Run, store_options: list[str]) -> None:
        assert "[]" in run("cypher", "WITH {cypher: []} AS a RETURN a.cypher", *store_options).out

    def test_a_query_that_writes_needs_the_option_write(self, run: Run, store_options: list[str]) -> None:
        query = "MATCH (d:Dialogue {id: 'everyday/train/1'}) SET d.seen = true"
        for asked in (query, "MATCH (d:Dialogue) WITH d AS as SET as.seen = true"):
            refused = run("cypher", asked, *store_options)
            assert refused.status == 1
            assert "add --write to allow it" in refused.err
        assert "properties set: 1" in run("cypher", "--write", query, *store_options).err

    def test_a_syntax_error_of_a_query_is_reported(self, run: Run, store_options: list[str]) -> None:
        ended = run("cypher", "MATCH (n RETURN n", *store_options)
        assert ended.status == 1
        assert ended.err.startswith("error: the query is not valid Cypher")


class TestOtherCommands:
    def test_info_counts_nodes_and_dialogues(self, run: Run, store_options: list[str]) -> None:
        table = run("info", *store_options)
        assert "everyday" in table.out
        found = json.loads(run("info", "--json", *store_options).out)
        assert found["counts"]["Frame"] > 0
        assert {"corpus": "everyday", "split": "train", "dialogues": 36} in found["corpora"]

    def test_the_store_option_may_precede_the_command(self, run: Run, store_options: list[str]) -> None:
        assert run(*store_options, "info").out == run("info", *store_options).out

    def test_exported_graphs_have_no_defects(
        self, run: Run, store_options: list[str], tmp_path: Path
    ) -> None:
        exported = run("export", tmp_path / "graphs.amr", "--corpus", "everyday", *store_options)
        assert exported.status == 0
        assert "graphs" in exported.err
        checked = run("evaluate", "graphs", "--frames", tmp_path / "graphs.amr", *store_options)
        assert (checked.status, checked.out) == (0, "")

    def test_export_refuses_an_unknown_suffix(self, run: Run, everyday: Path) -> None:
        assert "unknown suffix '.doc'" in run("export", "out.doc", "--store", everyday).err

    def test_defects_are_reported_with_file_line_id_and_code(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "bad.amr"
        path.write_text(ILL_FORMED)
        ended = run("evaluate", "graphs", path)
        assert ended.status == 1
        assert ended.out.startswith(f"{path}:2: twice: double-polarity: ")

    def test_a_missing_file_does_not_stop_the_check_of_others(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "bad.amr").write_text(ILL_FORMED)
        ended = run("evaluate", "graphs", tmp_path / "none.amr", tmp_path / "bad.amr")
        assert ended.status == 1
        assert "none.amr" in ended.err
        assert "double-polarity" in ended.out

    def test_transforms_are_listed_with_their_categories(self, run: Run) -> None:
        ended = run("transforms")
        for text in ("polarity_flip", "C-cont", "person_swap", "C-speaker", "opposites", "deam"):
            assert text in ended.out

    def test_a_transform_is_shown_with_an_example_and_the_store_is_unchanged(
        self, run: Run, store_options: list[str], tmp_path: Path
    ) -> None:
        before = run("info", "--json", *store_options).out
        ended = run(
            "transforms", "doubt", "--transforms-dir", write_doubt_transform(tmp_path), *store_options
        )
        assert ended.status == 0
        assert "UNWIND $dialogues" in ended.out
        assert "possible-01" in ended.out
        assert run("info", "--json", *store_options).out == before

    def test_a_transform_is_shown_without_a_store_too(self, run: Run, tmp_path: Path) -> None:
        ended = run("transforms", "polarity_flip", "--store", tmp_path / "none")
        assert ended.status == 0
        assert "graphneg load everyday" in ended.err
        assert not (tmp_path / "none").exists()

    def test_an_unreachable_server_is_reported(self, run: Run) -> None:
        ended = run("info", "--store", "bolt://127.0.0.1:1")
        assert ended.status == 1
        assert "does not answer" in ended.err


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
class TestKeepWarm:
    def test_the_server_stays_up_after_a_command_in_a_terminal_only(self, run: Run, tmp_path: Path) -> None:
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
    def test_after_ctrl_c_the_same_command_continues_the_file(
        self, everyday: Path, run: Run, tmp_path: Path
    ) -> None:
        assert PROGRAM
        arguments = ["negatives", "--per-dialogue", "8", "--batch", "1", "--store", str(everyday)]
        out = tmp_path / "out.jsonl"
        process = subprocess.Popen(
            [PROGRAM, *arguments, "-o", str(out)], stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        state = checkpoint_path(out)
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

    def test_a_closed_pipe_is_no_error(self, everyday: Path) -> None:
        assert PROGRAM
        query = "UNWIND range(1, 100000) AS n RETURN n"
        command = [PROGRAM, "cypher", query, "--format", "csv", "--store", str(everyday)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout and process.stderr
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""


def write_doubt_transform(folder: Path) -> Path:
    """Write the transform `doubt`, which turns "I like tea" into "Maybe I like tea"."""
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

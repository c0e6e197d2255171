"""Tests of what commands print on standard error: messages, advice on Ctrl-C, progress bars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO, StringIO, TextIOWrapper
from json import dumps, loads
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from graphneg.cli import terminal
from graphneg.cli.tables import plain_table
from graphneg.cli.terminal import (
    BYTES,
    CONTROL_CHARACTERS,
    Bars,
    Screen,
    advise_on_interrupt,
    counted,
    counts_text,
    print_error,
    print_message,
    print_trained,
    read_input,
    training,
    visible,
    write_stream,
)
from graphneg.errors import InputError
from graphneg.nn.fine_tuning import TrainingReport
from graphneg.records.files import read_negatives
from graphneg.records.resumable import NegativeBatch, NegativeStream, Written
from tests.cli_runs import Run
from tests.negative_samples import EXAMPLE

Printed = Callable[[], str]


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> Printed:
    """Return a function that gives the messages of the test so far; the terminal has 30 columns."""
    console = Console(file=StringIO(), width=30, force_terminal=True, color_system=None)
    monkeypatch.setattr(terminal, "messages", lambda: console)

    def text() -> str:
        assert isinstance(console.file, StringIO)
        return console.file.getvalue()

    return text


class Stream(NegativeStream):
    """Yield three batches of one negative; simulate Ctrl-C before the batch ``stop``."""

    notes: tuple[str, ...] = ()

    def __init__(self, stop: int | None = None, seed: int = 0, notes: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.stop, self.seed, self.notes = stop, seed, notes

    def run(self, skip: int, written: Written) -> Iterator[NegativeBatch]:
        for at in range(skip, 3):
            if at == self.stop:
                raise KeyboardInterrupt
            negative = replace(EXAMPLE, id=f"own/test/{at}")
            self.summary.add(negative)
            yield NegativeBatch(at + 1, [negative])

    def settings(self) -> dict[str, int]:
        return {"seed": self.seed}


class TestMessages:
    def test_messages_are_not_wrapped_and_brackets_are_no_markup(self, printed: Printed) -> None:
        print_error("/a/long/path/of/some/kind [bold]: there is no such file at all")
        assert printed() == "error: /a/long/path/of/some/kind [bold]: there is no such file at all\n"

    @pytest.mark.parametrize(("amount", "text"), [(0, "0 rows"), (1, "1 row"), (2000, "2,000 rows")])
    def test_counts_have_a_plural_and_thousands_separators(self, amount: int, text: str) -> None:
        assert counted(amount, "row") == text

    def test_amounts_are_sorted_by_name(self) -> None:
        assert counts_text({"random": 300, "edits": 1200}) == "edits 1,200, random 300"


HOSTILE = "\x1b[2J\x1b]0;evil\x07 \x9b31m \u202etxt\x7f :coffee: [red]"
SHOWN = r"\u001b[2J\u001b]0;evil\u0007 \u009b31m \u202etxt\u007f :coffee: [red]"


class TestUntrustedTexts:
    """Control characters in texts of users are escaped, so that they can't change the terminal."""

    def test_control_characters_are_escaped_in_tables_and_lines(self) -> None:
        screen = Screen()
        screen.file, screen.width = StringIO(), 200
        screen.print(escape(HOSTILE), plain_table("a", rows=[[escape(HOSTILE)]]))
        assert screen.file.getvalue().count(SHOWN) == 2
        screen.print(Text(HOSTILE), plain_table("a", rows=[[Text.assemble(("a", "bold"), HOSTILE)]]))
        assert not CONTROL_CHARACTERS.search(screen.file.getvalue())

    @given(st.text(st.characters()))
    def test_escaped_texts_can_be_read_back(self, text: str) -> None:
        assert not CONTROL_CHARACTERS.search(visible(text))
        assert loads(visible(dumps(text, ensure_ascii=False))) == text

    def test_query_results_are_escaped_in_tables_and_unchanged_in_csv_and_json(
        self, run: Run, everyday: Path
    ) -> None:
        query = ("cypher", "RETURN $text AS text", "--param", f"text={dumps(HOSTILE)}", "--store", everyday)
        table, rows, objects = (run(*query, "--format", form).out for form in ("table", "csv", "json"))
        assert SHOWN in table
        assert rows == f"text\n{HOSTILE}\n"
        assert loads(objects) == {"text": HOSTILE} and not CONTROL_CHARACTERS.search(objects)

    def test_control_characters_are_escaped_in_errors(self, run: Run) -> None:
        assert r"there is no store at \u001b[31mx" in run("info", "--store", "\x1b[31mx").err


class TestPaths:
    @pytest.mark.parametrize(
        "command",
        [
            *(["info", "--store"], ["load", "everyday", "--store"], ["load", "dialogues"]),
            *(["evaluate", "graphs"], ["evaluate", "negatives"], ["annotate", "--read"]),
        ],
        ids="-".join,
    )
    def test_a_path_that_is_too_long_is_one_line_of_error(
        self, run: Run, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        ended = run(*command, "x" * 300)
        assert ended.status in (1, 2)
        [printed] = [line for line in ended.err.splitlines() if line.startswith("error: ")]
        assert "File name too long" in printed


class TestInput:
    def test_a_hyphen_is_standard_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", StringIO("RETURN 1\n"))
        assert read_input("-") == "RETURN 1\n"

    def test_standard_input_that_is_not_utf_8_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"RETURN '\xe9'"), "utf-8"))
        with pytest.raises(InputError, match=r"standard input: not UTF-8 text \(byte 8\)"):
            read_input("-")

    def test_a_file_that_is_not_utf_8_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "query.cypher").write_bytes(b"RETURN '\xe9'")
        with pytest.raises(InputError, match=r"query\.cypher: not UTF-8 text \(byte 8\)"):
            read_input(str(tmp_path / "query.cypher"))


class TestStopping:
    def test_ctrl_c_ends_with_130_and_says_what_is_kept(self, printed: Printed) -> None:
        with pytest.raises(typer.Exit) as ended, advise_on_interrupt("nothing was changed"):
            raise KeyboardInterrupt
        assert ended.value.exit_code == 130
        assert printed() == "stopped: nothing was changed\n"

    def test_other_errors_are_not_changed(self) -> None:
        with pytest.raises(InputError), advise_on_interrupt("nothing was changed"):
            raise InputError("a file is missing")

    def test_a_stopped_training_mentions_its_checkpoints(self, printed: Printed, tmp_path: Path) -> None:
        for made, advice in (
            (False, "nothing is kept"),
            (True, "checkpoints; run the same"),
        ):
            with pytest.raises(typer.Exit), training(tmp_path):
                if made:
                    (tmp_path / "checkpoints").mkdir()
                raise KeyboardInterrupt
            assert advice in printed()


class TestStreams:
    @pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
    def test_the_suffix_selects_the_file_format(self, printed: Printed, tmp_path: Path, name: str) -> None:
        write_stream(Stream(notes=("no graph is gold",)), str(tmp_path / name), "run it again")
        assert len(list(read_negatives(tmp_path / name))) == 3
        assert printed().startswith("note: no graph is gold\n")
        assert printed().endswith(f"{name}: 3 negatives\n")

    def test_a_stopped_stream_is_continued_by_the_next_run(self, printed: Printed, tmp_path: Path) -> None:
        out = str(tmp_path / "out.jsonl")
        with pytest.raises(typer.Exit):
            write_stream(Stream(stop=2), out, "run it again")
        assert (
            printed()
            == f"stopped: the finished part is kept beside {out}; run the same command again to continue\n"
        )
        write_stream(Stream(), out, "run it again")
        assert printed().endswith("out.jsonl: 3 negatives, resumed after 2 dialogues of an earlier run\n")

    def test_a_restart_is_explained(self, printed: Printed, tmp_path: Path) -> None:
        out = str(tmp_path / "out.jsonl")
        with pytest.raises(typer.Exit):
            write_stream(Stream(stop=2), out, "run it again")
        write_stream(Stream(seed=1), out, "run it again")
        assert "note: started again: " in printed() and "was started with other settings" in printed()
        assert printed().endswith("out.jsonl: 3 negatives\n")

    @pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
    def test_a_second_run_finds_a_complete_file(self, printed: Printed, tmp_path: Path, name: str) -> None:
        out = str(tmp_path / name)
        write_stream(Stream(), out, "run it again")
        before = len(printed())
        write_stream(Stream(stop=0), out, "run it again")  # raises KeyboardInterrupt if it makes a negative
        complete = f"{out} is already complete, with 3 negatives: nothing was done\n"
        assert printed()[before:] == complete

    @pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
    def test_another_file_is_replaced_only_with_overwrite(
        self, printed: Printed, tmp_path: Path, name: str
    ) -> None:
        out = str(tmp_path / name)
        write_stream(Stream(), out, "run it again")
        kept = Path(out).read_bytes()
        with pytest.raises(InputError, match=r"made with other settings .*--overwrite") as refused:
            write_stream(Stream(seed=1), out, "run it again")
        assert (refused.value.status, Path(out).read_bytes()) == (2, kept)
        write_stream(Stream(seed=1), out, "run it again", overwrite=True)
        assert printed().endswith(f"{name}: 3 negatives, replacing the existing file\n")

    def test_chosen_negatives_are_called_records(self, printed: Printed, tmp_path: Path) -> None:
        write_stream(Stream(), str(tmp_path / "out.jsonl"), "", "chosen")
        assert printed().endswith("out.jsonl: 3 records kept\n")

    def test_no_file_is_named_for_standard_output(
        self, printed: Printed, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_stream(Stream(), "-", "run it again")
        assert len(capsys.readouterr().out.splitlines()) == 3
        assert "3 negatives" not in printed()

    def test_nothing_is_kept_for_standard_output(self, printed: Printed) -> None:
        with pytest.raises(typer.Exit):
            write_stream(Stream(stop=0), "-", "run it again")
        assert printed() == "stopped: run it again\n"


class TestTrainings:
    def test_the_result_of_a_training_is_one_line(self, printed: Printed) -> None:
        report = TrainingReport(Path("m"), 1, 0.6931, 1.0, 1200, 3, 0, None)
        print_trained(report, Path("m"), "; 3 were too long", report.examples)
        print_trained(report, Path("m"), "; pairs: edits 600")
        assert printed().splitlines() == [
            "m: trained on 1,200 pairs in 1 step, loss 0.693; 3 were too long",
            "m: trained in 1 step, loss 0.693; pairs: edits 600",
        ]


class TestBars:
    @pytest.fixture
    def wide(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
        console = Console(file=StringIO(), width=120, force_terminal=True, color_system=None)
        monkeypatch.setattr(terminal, "messages", lambda: console)
        yield console

    @pytest.mark.parametrize(
        ("total", "unit", "shown"),
        [
            (4000, "dialogues", "1,500 of 4,000 dialogues"),
            (None, "dialogues", "1,500 dialogues"),
            (4000, BYTES, "1.5 kB of 4.0 kB"),
        ],
    )
    def test_progress_is_shown_in_its_unit(
        self, wide: Console, total: int | None, unit: str, shown: str
    ) -> None:
        with Bars() as bars:
            bars.start("load", total, unit)
            bars.advance(1500)
        assert isinstance(wide.file, StringIO)
        assert "load" in wide.file.getvalue() and shown in wide.file.getvalue()

    def test_nested_bars_end_in_order(self, wide: Console) -> None:
        with Bars() as bars:
            bars.start("read", 2, "files")
            bars.start("write", 2, "files")
            bars.finish()
            bars.finish()
            bars.advance(1)
            print_message("done")
        assert isinstance(wide.file, StringIO)
        assert "done\n" in wide.file.getvalue()

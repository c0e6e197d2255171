"""Tests of ``graphneg evaluate negatives``: its output, its page, and wrong input."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from pathlib import Path

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.evaluation.negatives.report import Report, measure, page
from graphneg.evaluation.negatives.statistics import NegativeExample
from graphneg.records.files import write_jsonl
from graphneg.store.opening import open_store
from tests.cli_runs import Run
from tests.negative_samples import EXAMPLE, some
from tests.shift.test_page import PageParts


@pytest.fixture(scope="module")
def made(everyday: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with edits, overlap negatives and correct responses of the bundled corpus."""
    folder = tmp_path_factory.mktemp("made")
    with DialogueGraph(open_store(everyday)) as graph:
        graph.negatives(transforms=["polarity_flip"], target="response", limit=30).to_jsonl(
            folder / "edits.jsonl"
        )
        graph.negatives("deam", limit=30).to_jsonl(folder / "deam.jsonl")
        graph.generate("overlap", per_context=2).to_parquet(folder / "overlap.parquet")
        graph.export(folder / "positives.jsonl")
    return folder


@pytest.fixture(scope="module")
def report(made: Path) -> Generator[Report]:
    yield measure(sorted(made.glob("[!.]*")))


class TestRealNegatives:
    def test_every_source_has_its_lines(self, report: Report) -> None:
        sources = {line.source for line in report.lines}
        assert sources == {"adversarial", "deam", "polarity_flip", "overlap"}
        assert set(report.reference) == {"response", "dialogue"}

    def test_edits_are_as_long_as_their_originals_and_close_to_them(self, report: Report) -> None:
        edits = next(line for line in report.lines if line.source == "polarity_flip")
        overlap = next(line for line in report.lines if line.source == "overlap")
        assert edits.words_ratio is not None and 0.8 < edits.words_ratio < 1.25
        assert edits.equal_to_right == overlap.equal_to_right == 0
        assert edits.figures.like_right is not None and overlap.figures.like_right is not None
        assert edits.figures.like_right.mean > 0.5 > overlap.figures.like_right.mean

    def test_overlap_shares_words_with_its_context(self, report: Report) -> None:
        overlap = next(line for line in report.lines if line.source == "overlap")
        assert overlap.figures.shared.lower >= 1
        told = [one.sentence for one in report.findings if one.line == overlap.name]
        assert any("learns that shared words mean wrong" in sentence for sentence in told)


class TestPage:
    def test_the_page_loads_no_resources(self, report: Report) -> None:
        text = page(report)
        parts = PageParts(text)
        for tag, of in parts.elements:
            assert tag not in ("link", "iframe", "img", "object", "embed", "base")
            assert not {"src", "href", "srcset", "data"} & of.keys()
        own = re.sub(r"<script>.*?</script>", "", text, count=1, flags=re.S)
        assert not re.search(r"https?://|@import|url\(", own)

    def test_it_shows_findings_figures_plots_and_examples(self, report: Report) -> None:
        parts = PageParts(page(report))
        assert all(one.sentence in parts.words for one in report.findings)
        assert all(one.text in parts.words for line in report.most_specific for one in line.examples)
        [items] = [script for script in parts.scripts if script.startswith('{"told"')]
        drawn = set(json.loads(items))
        assert drawn == {"told", "words", "shared", "to-context", "to-right"}
        assert drawn <= {of.get("id") for _, of in parts.elements}

    def test_texts_are_escaped(self, report: Report) -> None:
        from dataclasses import replace

        nasty = "</script><script>alert(1)</script><b title='x'>"
        line = replace(
            report.lines[0], source=nasty, examples=(NegativeExample("own/1", (nasty,), nasty, nasty),)
        )
        parts = PageParts(page(replace(report, lines=(line,))))
        assert len([tag for tag, _ in parts.elements if tag == "script"]) == 3
        assert not [of for _, of in parts.elements if "title" in of]
        assert nasty in parts.words


class TestCommand:
    def test_a_table_findings_and_examples_are_printed(self, run: Run, made: Path) -> None:
        ended = run("evaluate", "negatives", *sorted(made.glob("[!.]*")))
        assert ended.status == 0
        assert re.search(r"overlap \(C-follow\) +\d+ +\d+\.\d +\d\.\d\d", ended.out)
        assert "Findings" in ended.out
        assert "Examples of overlap (C-follow)" in ended.out and "Examples of deam\n" not in ended.out
        assert re.search(r"\d+ negatives of \d+ records", ended.err)

    def test_figures_can_be_printed_as_json(self, run: Run, tmp_path: Path) -> None:
        write_jsonl(some(3), tmp_path / "own.jsonl")
        ended = run("evaluate", "negatives", tmp_path / "own.jsonl", "--json", "--examples", "1")
        found = json.loads(ended.out)
        [line] = found["lines"]
        assert (line["source"], line["negatives"], line["again"]) == ("deam", 3, 2)
        assert line["figures"]["words"] == {"mean": 4, "lower": 4, "median": 4, "upper": 4}
        assert len(line["examples"]) == 1 and found["findings"]

    def test_a_page_is_replaced_only_with_overwrite(self, run: Run, tmp_path: Path) -> None:
        write_jsonl(some(3), tmp_path / "own.jsonl")
        out = tmp_path / "report.html"
        out.write_text("mine")
        ended = run("evaluate", "negatives", tmp_path / "own.jsonl", "-o", out)
        assert ended.status == 2 and out.read_text() == "mine"
        advice = "the file already exists; name another file, or overwrite it (--overwrite)"
        assert ended.err.splitlines()[-1] == f"error: {out}: {advice}"
        ended = run("evaluate", "negatives", tmp_path / "own.jsonl", "-o", out, "--overwrite")
        assert ended.status == 0 and f"wrote {out}" in ended.err
        assert "Report on negatives" in out.read_text(encoding="utf-8")

    def test_a_judge_and_a_language_model_can_be_used(self, run: Run, tmp_path: Path) -> None:
        from tests.tiny_lm import causal_folder
        from tests.tiny_ranker import encoder_folder

        write_jsonl(some(2), tmp_path / "own.jsonl")
        judge, lm = encoder_folder(tmp_path / "judge", labels=1), causal_folder(tmp_path / "lm")
        ended = run("evaluate", "negatives", tmp_path / "own.jsonl", "--json", "--lm", lm, "--judge", judge)
        [line] = json.loads(ended.out)["lines"]
        assert line["figures"]["perplexity"]["mean"] > 1 and line["perplexity_ratio"] > 0
        assert line["figures"]["judged_right"] in (0, 1)
        ended = run("evaluate", "negatives", tmp_path / "own.jsonl", "--judge", lm)
        assert ended.status == 2 and len(ended.err.splitlines()) == 1 and str(lm) in ended.err

    @pytest.mark.parametrize("width", ["80", "120"])
    def test_tables_show_all_figures_at_any_width(
        self, run: Run, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: str
    ) -> None:
        from tests.tiny_lm import causal_folder
        from tests.tiny_ranker import encoder_folder

        judge, lm = encoder_folder(tmp_path / "judge", labels=1), causal_folder(tmp_path / "lm")
        models = ("--judge", judge, "--lm", lm, "--sample", "20", "--examples", "0")
        monkeypatch.setenv("COLUMNS", width)
        shown = run("evaluate", "negatives", *sorted(made.glob("[!.]*")), *models).out
        tables = shown.split("How well a single cue")[0]
        heads = "count words shared with correct questions I/you/ others"
        heads += " cosine: to perplexity judge: again else- where"
        assert all(word in tables for word in heads.split()) and "…" not in tables
        assert max(map(len, tables.splitlines())) <= int(width)
        assert len(re.findall(r"overlap\s+\(C-follow\)|overlap(?=.*\n\s*\(C-follow\))", tables)) == 2


class TestWrongInput:
    def refused(self, run: Run, *arguments: str | Path) -> str:
        ended = run("evaluate", "negatives", *arguments)
        assert ended.status == 2 and ended.out == ""
        [complaint] = ended.err.splitlines()
        return complaint

    def test_an_invalid_line_is_reported_with_its_place(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "own.jsonl"
        write_jsonl([EXAMPLE], path)
        path.write_text(path.read_text() + '{"id": "ow')
        assert "own.jsonl, line 2: not JSON" in self.refused(run, path)

    def test_a_file_that_is_not_there_is_named(self, run: Run, tmp_path: Path) -> None:
        assert "nowhere.jsonl: can't be read" in self.refused(run, tmp_path / "nowhere.jsonl")

    @pytest.mark.parametrize(
        ("out", "complaint"), [("report.pdf", "use .html"), ("none/report.html", "does not exist")]
    )
    def test_an_invalid_destination_of_the_page_is_refused(
        self, run: Run, tmp_path: Path, out: str, complaint: str
    ) -> None:
        write_jsonl([EXAMPLE], tmp_path / "own.jsonl")
        assert complaint in self.refused(run, tmp_path / "own.jsonl", "-o", tmp_path / out)

    @pytest.mark.parametrize("option", ["--lm", "--judge", "--embedder"])
    def test_a_missing_model_is_one_line_of_error(self, run: Run, tmp_path: Path, option: str) -> None:
        write_jsonl([EXAMPLE], tmp_path / "own.jsonl")
        complaint = self.refused(run, tmp_path / "own.jsonl", option, tmp_path / "nowhere", "--offline")
        assert "nowhere" in complaint

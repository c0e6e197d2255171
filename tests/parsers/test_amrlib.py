"""Tests of the amrlib parser: graphs, alignments, warnings, and model folders that can't be used."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the amrlib parser needs the neural extra")
pytest.importorskip("amrlib", reason="the amrlib parser needs the neural extra")

from graphneg.amr.penman import format_graph, parse_graph
from graphneg.amr.wellformed import check
from graphneg.english.tokens import tokenize, typed_sentences
from graphneg.errors import ParserError
from graphneg.model import AmrGraph
from graphneg.parsers.amrlib import Hypothesis, ParseCandidates, choose_graph, join_sentences, repair_graph
from graphneg.parsers.base import CheckedParser, Parsed, get_parser
from tests.tiny_amrlib import MAX_INPUT, MAX_OUTPUT, TinyParser, describe, train

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["t5", "bart"])
def tiny(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyParser]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield train(request.param, tmp_path_factory.mktemp(f"tiny-{request.param}"))
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def parser(tiny: TinyParser) -> CheckedParser:
    return get_parser("amrlib", model=str(tiny.folder), batch=3, device="cpu")


class TouchesFile:
    """An object that creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def labels(graph: AmrGraph) -> list[tuple[str | None, str]]:
    return [(node.role, node.label) for node in graph.nodes]


class TestAModel:
    def test_the_learned_graphs_do_not_depend_on_the_batch(
        self, tiny: TinyParser, parser: CheckedParser
    ) -> None:
        texts = [text for _, text in tiny.pairs]
        parsed = parser.parse_batch(texts)
        for (gold, _), one in zip(tiny.pairs, parsed, strict=True):
            assert one.graph is not None and labels(one.graph) == labels(gold)
        alone = [parser.parse_batch([text])[0] for text in texts]
        assert [one.graph for one in alone] == [one.graph for one in parsed]

    def test_nodes_are_aligned_to_tokens_of_the_whole_text(
        self, tiny: TinyParser, parser: CheckedParser
    ) -> None:
        first, second = tiny.pairs[2][1], tiny.pairs[4][1]
        [parsed] = parser.parse_batch([f"{first} {second}"])
        assert parsed.graph is not None and parsed.graph.top.concept == "multi-sentence"
        tokens = [token.text for token in tokenize(f"{first} {second}")]
        said = {
            parsed.graph.nodes[k].label: " ".join(tokens[start:end])
            for k, (start, end) in parsed.graph.spans.items()
        }
        assert said["want-01"] == "want" and said["medicine"] == "medicine"

    def test_a_truncated_sentence_gives_a_warning(self, parser: CheckedParser) -> None:
        [parsed] = parser.parse_batch(["word " * 300])
        assert any(warning.startswith("truncated: sentence 1: ") for warning in parsed.warnings)
        assert str(MAX_INPUT) not in parsed.warnings[0] or "tokens were not read" in parsed.warnings[0]

    def test_odd_texts_give_a_graph_or_a_warning(self, parser: CheckedParser) -> None:
        texts = ["", "?!", "\ud800 \x00", "我不喜欢茶", '((( " :ARG0', "😀" * 50, "a" * 5000, "No. " * 30]
        for parsed in parser.parse_batch(texts):
            assert parsed.graph is None or check(parsed.graph) == []
            assert parsed.graph is not None or parsed.warnings

    def test_the_batch_is_halved_when_memory_runs_out(
        self, tiny: TinyParser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from graphneg.nn.backends import TorchBackend

        sizes: list[int] = []
        beams = TorchBackend.beams

        def limited(self: TorchBackend, batch: Any, width: int, longest: int) -> Any:
            sizes.append(len(batch))
            if len(batch) > 2 or any(len(tokens) == MAX_INPUT for tokens in batch):
                raise RuntimeError("CUDA out of memory")
            return beams(self, batch, width, longest)

        monkeypatch.setattr(TorchBackend, "beams", limited)
        parser = get_parser("amrlib", model=str(tiny.folder), batch=8, device="cpu")
        texts = [text for _, text in tiny.pairs]
        *known, last = parser.parse_batch([*texts, "word " * 300])
        assert [labels(one.graph) for one in known if one.graph] == [labels(gold) for gold, _ in tiny.pairs]
        assert last.graph is None
        assert (
            last.warnings[-1] == "out-of-memory: sentence 1 does not fit into memory, even alone in a batch"
        )
        assert max(sizes) == 8 and sizes[-1] <= 2

    def test_the_version_depends_on_the_weights(self, tiny: TinyParser, tmp_path: Path) -> None:
        folder = tmp_path / "copy"
        shutil.copytree(tiny.folder, folder)
        version = get_parser("amrlib", model=str(folder)).version
        assert version == get_parser("amrlib", model=str(tiny.folder)).version
        assert version != get_parser("amrlib", model=str(folder), beams=2).version
        (folder / "extra.bin").write_bytes(b"other weights")
        assert version != get_parser("amrlib", model=str(folder)).version


class TestAFolder:
    @pytest.fixture
    def folder(self, tiny: TinyParser, tmp_path: Path) -> Path:
        return Path(shutil.copytree(tiny.folder, tmp_path / "model"))

    def refused(self, folder: Path) -> str:
        with pytest.raises(ParserError) as caught:
            get_parser("amrlib", model=str(folder), offline=True)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    def test_a_model_for_another_task_is_refused(self, folder: Path) -> None:
        describe(folder, "gtos")
        assert "of type 'gtos', which does not parse text" in self.refused(folder)

    def test_a_folder_without_amrlib_meta_is_refused(self, folder: Path) -> None:
        (folder / "amrlib_meta.json").unlink()
        assert "no amrlib_meta.json found" in self.refused(folder)

    def test_a_damaged_amrlib_meta_is_refused(self, folder: Path) -> None:
        (folder / "amrlib_meta.json").write_text("{")
        assert "amrlib_meta.json: can't be read as JSON" in self.refused(folder)

    def test_a_foreign_inference_module_is_not_run(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "foreign").mkdir()
        (tmp_path / "foreign" / "inference.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
        monkeypatch.syspath_prepend(tmp_path)
        note = folder / "amrlib_meta.json"
        for module in ("foreign.inference", "..foreign.inference", "inference", ""):
            note.write_text(json.dumps({**json.loads(note.read_text()), "inference_module": module}))
            assert f"names the module {module!r}, which is not a parser of amrlib" in self.refused(folder)
        assert not (tmp_path / "ran").exists()

    def test_pickled_weights_are_not_executed(self, folder: Path, tmp_path: Path) -> None:
        note = folder / "amrlib_meta.json"
        of = {"inference_module": ".parse_gsii.inference", "model_fn": "model.pt"}
        note.write_text(json.dumps({**json.loads(note.read_text()), **of}))
        (folder / "model.pt").write_bytes(pickle.dumps(TouchesFile(tmp_path / "ran")))
        assert "amrlib can't load it" in self.refused(folder)
        assert not (tmp_path / "ran").exists()

    def test_a_folder_without_weights_is_refused(self, folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        assert "no sequence-to-sequence model can be read from it" in self.refused(folder)

    def test_a_folder_without_task_parameters_is_refused(self, folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        del config["task_specific_params"]
        (folder / "config.json").write_text(json.dumps(config))
        assert "no task_specific_params for parse_amr" in self.refused(folder)

    def test_a_missing_external_tokenizer_is_named(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
        for name in ("tokenizer.json", "tokenizer_config.json"):
            (folder / name).unlink()
        config = json.loads((folder / "config.json").read_text())
        config["task_specific_params"]["parse_amr"]["model_name_or_path"] = "t5-base"
        (folder / "config.json").write_text(json.dumps(config))
        assert "model t5-base is not on this machine and downloads are disabled" in self.refused(folder)


class TestProposals:
    GOOD, BAD = "(l / like-01 :ARG0 (i / i))", "(l / like-01"

    def test_the_first_complete_and_well_formed_proposal_is_used(self) -> None:
        candidates = (
            Hypothesis(None),
            Hypothesis(self.BAD),
            Hypothesis("(g / go-02)", finished=False),
            Hypothesis(self.GOOD),
        )
        parsed = choose_graph(ParseCandidates(candidates, 5), 2, MAX_OUTPUT)
        assert parsed.graph is not None and parsed.graph.top.concept == "like-01"
        assert parsed.warnings == ("repaired: sentence 2: 0 defects were repaired in the model's proposal 4",)

    def test_an_unfinished_proposal_is_used_if_there_is_no_other(self) -> None:
        parsed = choose_graph(ParseCandidates((Hypothesis(self.GOOD, finished=False),), 5), 1, MAX_OUTPUT)
        assert parsed.graph is not None
        assert parsed.warnings == (
            f"broken-off: sentence 1: the graph was not finished after {MAX_OUTPUT} tokens",
        )

    def test_no_well_formed_proposal_gives_a_warning(self) -> None:
        assert choose_graph(ParseCandidates((Hypothesis(self.BAD),), 5), 3, MAX_OUTPUT) == Parsed(
            None, ("no-graph: sentence 3: none of 1 proposals is well formed",)
        )

    @pytest.mark.parametrize(
        ("written", "expected"),
        [
            ("(l / like-01 :polarity - :polarity -)", "(l / like-01 :polarity -)"),
            ("(l / like-01 :ARG0 (i / i) :ARG1 i :ARG1 i)", "(l / like-01 :ARG0 (i / i) :ARG1 i)"),
            ("(l / like-01 :ARG0 l)", "(l / like-01)"),
            ("(l / like-01 :ARG0 x2 :ARG1-of 5)", "(l / like-01)"),
            ("(n / name)", '(n / name :op1 "?")'),
            ("(a / and :op3 (b / b) :op3 (c / c))", "(a / and :op1 (b / b) :op2 (c / c))"),
        ],
    )
    def test_small_defects_are_repaired(self, written: str, expected: str) -> None:
        whole = repair_graph(parse_graph(written))
        assert whole is not None and format_graph(whole) == format_graph(parse_graph(expected))
        assert check(whole) == []


class TestSentences:
    @pytest.mark.parametrize(
        ("text", "sentences"),
        [
            ("One.", ["One."]),
            ("I know Mr. Wu. Do you?", ["I know Mr. Wu.", "Do you?"]),
            ("1000 Yuan.Here you are .", ["1000 Yuan.", "Here you are ."]),
            ("Well... maybe. 5 p.m. is fine!", ["Well... maybe.", "5 p.m. is fine!"]),
            ('"Stop!" he said. "No."', ['"Stop!" he said.', '"No."']),
            ("no end", ["no end"]),
            ("?!", ["?!"]),
        ],
    )
    def test_sentences_are_split_at_their_ends(self, text: str, sentences: list[str]) -> None:
        found = typed_sentences(text)
        assert [one.text for one in found] == sentences
        tokens = [token.text for token in tokenize(text)]
        for one in found:
            own = [token.text for token in tokenize(one.text)]
            assert tokens[one.first_token : one.first_token + len(own)] == own

    def test_joined_sentences_share_no_variable(self) -> None:
        whole = join_sentences([parse_graph("(m / man :ARG0-of (g / go-02 :ARG1 m))")] * 3)
        assert check(whole) == [] and parse_graph(format_graph(whole)).nodes == whole.nodes
        assert len({node.var for node in whole.nodes}) == len(whole.nodes)

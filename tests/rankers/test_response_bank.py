"""Tests of response banks: search, building, resuming and sources."""

from __future__ import annotations

import json
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError
from graphneg.model import Original
from graphneg.progress import NoProgress
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection
from tests.cli_runs import Run
from tests.tiny_ranker import WORDS, encoder_folder

torch = pytest.importorskip("torch")
pytest.importorskip("faiss")

from graphneg.datasets.groups import stored_replies  # noqa: E402
from graphneg.rankers import response_bank  # noqa: E402
from graphneg.rankers.poly_encoder import PolyEncoder  # noqa: E402
from graphneg.rankers.response_bank import ResponseBank, build_bank, read_responses, unique  # noqa: E402

RESPONSES = [" ".join(words) for words in product(WORDS.split()[:11], repeat=2)]
CONTEXTS = [["shall we swim", "now"], ["where is the cat"], ["who ate bread", "you did", "when"]]
FILES = {"manifest.json", "texts.jsonl", "index.faiss"}


@pytest.fixture(scope="module")
def folder(poly: PolyEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a bank of all two-word responses; return its folder."""
    place = tmp_path_factory.mktemp("banks") / "bank"
    build_bank(poly, RESPONSES, place)
    return place


@pytest.fixture(scope="module")
def saved(poly: PolyEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the saved ranker."""
    place = tmp_path_factory.mktemp("ranker")
    poly.save(place)
    return place


class TestSearch:
    @pytest.mark.parametrize("by", ["mean", "codes"])
    def test_search_finds_the_responses_with_the_highest_scores(
        self, poly: PolyEncoder, folder: Path, by: Any
    ) -> None:
        bank = ResponseBank.open(folder, poly)
        found = bank.search(CONTEXTS, 5, by=by, retrieved=len(bank))
        for context, some in zip(CONTEXTS, found, strict=True):
            scores = sorted(poly.score([context] * len(RESPONSES), RESPONSES), reverse=True)
            assert [one.score for one in some] == pytest.approx(scores[:5], abs=1e-5)
            own = poly.score([context] * 5, [one.text for one in some])
            assert own == pytest.approx([one.score for one in some], abs=1e-5)

    @pytest.mark.parametrize("index", ["flat", "ivf", "hnsw"])
    def test_a_bi_encoder_bank_finds_the_nearest_responses(
        self, encoder: Path, tmp_path: Path, index: Any
    ) -> None:
        ranker = PolyEncoder.new(encoder, codes=0, device="cpu")
        made = build_bank(ranker, RESPONSES, tmp_path / "bank", index=index)
        opened = ResponseBank.open(tmp_path / "bank", ranker)
        found = opened.search(CONTEXTS, 3, retrieved=3)
        assert found == made.search(CONTEXTS, 3, retrieved=3)
        if index != "ivf":  # an IVF index searches only some of its cells
            best = [max(ranker.score([one] * len(RESPONSES), RESPONSES)) for one in CONTEXTS]
            assert [some[0].score for some in found] == pytest.approx(best, abs=1e-5)

    def test_turns_of_the_context_are_left_out_by_default(self, poly: PolyEncoder, folder: Path) -> None:
        bank = ResponseBank.open(folder, poly)
        own = [RESPONSES[3], RESPONSES[70].upper()]
        [without] = bank.search([own], k=5, retrieved=5)
        assert len(without) == 5 and not {one.text for one in without} & {RESPONSES[3], RESPONSES[70]}
        [among] = bank.search([own], k=len(RESPONSES), context_turns="kept")
        assert {one.text for one in among} == set(RESPONSES)
        with pytest.raises(InputError, match="context_turns"):
            bank.search([own], context_turns="maybe")  # pyright: ignore[reportArgumentType]

    def test_a_large_k_returns_all_responses(self, poly: PolyEncoder, tmp_path: Path) -> None:
        bank = build_bank(poly, ["at six", "now"], tmp_path / "bank")
        assert {one.text for one in bank.search(CONTEXTS[:1], 10, context_turns="kept")[0]} == {
            "at six",
            "now",
        }
        assert bank.search([], 10) == []


class TestBuilding:
    def test_equal_texts_are_kept_once(self) -> None:
        assert unique(["At six.", "", "at  SIX. ", "No.", "\n"]) == ["At six.", "No."]

    def test_a_resumed_build_gives_the_same_bytes(
        self, poly: PolyEncoder, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(response_bank, "_CHUNK", 16)
        place = tmp_path / "bank"
        with pytest.raises(KeyboardInterrupt):
            build_bank(poly, RESPONSES, place, progress=_Stop(64))
        with pytest.raises(InputError, match="is unfinished"):
            ResponseBank.open(place, poly)
        with (place / "vectors.part").open("ab") as file:
            file.write(b"half of a vector")
        with pytest.raises(InputError, match="an unfinished build with other responses or another model"):
            build_bank(poly, RESPONSES[1:], place)
        seen = _Stop(1 << 30)
        build_bank(poly, RESPONSES, place, progress=seen)
        assert seen.first == 64
        build_bank(poly, RESPONSES, tmp_path / "whole")
        assert {path.name for path in place.iterdir()} == FILES
        for name in FILES:
            assert (place / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()

    def test_a_bank_is_replaced_only_with_overwrite(self, poly: PolyEncoder, tmp_path: Path) -> None:
        place = tmp_path / "bank"
        build_bank(poly, ["at six"], place)
        with pytest.raises(InputError, match="the folder already contains a bank"):
            build_bank(poly, ["now"], place)
        build_bank(poly, ["now"], place, overwrite=True)
        assert ResponseBank.open(place, poly).texts == ["now"]

    def test_a_folder_with_other_files_is_never_touched(self, poly: PolyEncoder, tmp_path: Path) -> None:
        (tmp_path / "thesis.txt").write_text("mine")
        with pytest.raises(InputError, match="the folder contains other files"):
            build_bank(poly, ["now"], tmp_path, overwrite=True)
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]

    def test_a_bank_needs_a_response(self, poly: PolyEncoder, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="at least one response"):
            build_bank(poly, ["", " "], tmp_path / "bank")
        assert not (tmp_path / "bank").exists()


class TestOpening:
    def test_the_bank_of_another_model_is_refused(self, encoder: Path, folder: Path) -> None:
        other = PolyEncoder.new(encoder, codes=3, pooling="first", device="cpu")
        with pytest.raises(InputError, match="this bank was built with another model"):
            ResponseBank.open(folder, other)

    def test_a_folder_that_is_no_bank_is_refused(self, poly: PolyEncoder, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="not a bank of responses"):
            ResponseBank.open(tmp_path, poly)

    def test_a_manifest_with_true_as_a_number_is_refused(self, poly: PolyEncoder, tmp_path: Path) -> None:
        build_bank(poly, ["at six"], tmp_path / "bank")
        manifest = tmp_path / "bank" / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"count": 1', '"count": true'))
        with pytest.raises(InputError, match="not a valid manifest"):
            ResponseBank.open(tmp_path / "bank", poly)

    def test_a_bank_that_lost_texts_is_refused(self, poly: PolyEncoder, tmp_path: Path) -> None:
        build_bank(poly, ["at six", "now"], tmp_path / "bank")
        (tmp_path / "bank" / "texts.jsonl").write_text('"at six"\n')
        with pytest.raises(InputError, match="1 texts and 2 vectors"):
            ResponseBank.open(tmp_path / "bank", poly)


class TestSources:
    def test_responses_of_a_store_are_turns_and_correct_responses(self, store: Store, tmp_path: Path) -> None:
        one = {
            "id": "swim",
            "turns": ["Shall we swim?", "When?"],
            "responses": [
                {"turn": 1, "text": "Gladly.", "label": 1},
                {"turn": 1, "text": "Fish swim.", "label": 0},
            ],
        }
        (tmp_path / "swimming.jsonl").write_text(json.dumps(one))
        DialogueGraph(store).load("dialogues", tmp_path / "swimming.jsonl", name="swimming")
        assert list(stored_replies(store, Selection(("swimming",)), (1,))) == ["When?", "Gladly."]
        assert list(stored_replies(store, Selection(("none",)), (1,))) == []

    def test_responses_of_files_are_lines_and_correct_responses(self, tmp_path: Path) -> None:
        from msgspec.structs import replace

        from graphneg.records.files import write_jsonl
        from tests.negative_samples import EXAMPLE

        edited = replace(EXAMPLE, response="No.", original=Original(None, "Yes."))
        write_jsonl([edited], tmp_path / "negatives.jsonl")
        (tmp_path / "lines.txt").write_text("At six.\n\nNow.\n")
        found = read_responses([tmp_path / "lines.txt", tmp_path / "negatives.jsonl"])
        assert list(found) == ["At six.", "Now.", "Yes."]


class TestCommands:
    def test_the_commands_build_and_search_a_bank(self, run: Run, saved: Path, tmp_path: Path) -> None:
        (tmp_path / "responses.txt").write_text("\n".join(RESPONSES))
        (tmp_path / "contexts.txt").write_text("shall we swim\nnow\n\nwhere is the cat\n")
        made = run("rank", "index", tmp_path / "responses.txt", "--model", saved, "-o", tmp_path / "bank")
        assert (made.status, made.err) == (0, f"{tmp_path / 'bank'}: 121 responses\n")
        asked = ["rank", "search", "--model", saved, "--context", tmp_path / "contexts.txt", "-k", "3"]
        ended = run(*asked, "--bank", tmp_path / "bank", "--retrieved", "121", "--json")
        assert ended.status == 0
        of_bank = [json.loads(line) for line in ended.out.splitlines()]
        assert [one["context"] for one in of_bank] == [["shall we swim", "now"], ["where is the cat"]]
        ended = run(*asked, "--candidates", tmp_path / "responses.txt", "--json")
        of_all = [json.loads(line) for line in ended.out.splitlines()]
        for one, other in zip(of_bank, of_all, strict=True):
            scores = [response["score"] for response in one["responses"]]
            assert scores == pytest.approx([response["score"] for response in other["responses"]], abs=1e-5)
        table = run(*asked, "--bank", tmp_path / "bank").out
        assert "where is the cat" in table
        refused = run("rank", "index", tmp_path / "responses.txt", "--model", saved, "-o", tmp_path / "bank")
        assert refused.status == 2
        assert "the folder already contains a bank" in refused.err

    def test_any_ranker_can_rank_candidates(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = encoder_folder(tmp_path / "cross", labels=1)
        (tmp_path / "candidates.txt").write_text("at six\nfish now\n")
        monkeypatch.setattr("sys.stdin", StringIO("shall we swim\n"))
        ended = run(
            "rank", "search", "--model", model, "--context", "-", "--candidates", tmp_path / "candidates.txt"
        )
        assert ended.status == 0
        assert "at six" in ended.out and "fish now" in ended.out
        (tmp_path / "context.txt").write_text("now\n")
        asked = ["rank", "search", "--model", model, "--context", tmp_path / "context.txt"]
        assert "not a poly-encoder" in run(*asked, "--bank", tmp_path).err
        assert run(*asked).status == 2

    @pytest.mark.parametrize(
        ("content", "complaint"), [("\n \n", "no context; write one turn per line"), (None, "can't be read")]
    )
    def test_an_empty_or_missing_context_file_is_refused(
        self, run: Run, saved: Path, tmp_path: Path, content: str | None, complaint: str
    ) -> None:
        path = tmp_path / "context.txt"
        if content is not None:
            path.write_text(content)
        ended = run("rank", "search", "--model", saved, "--context", path, "--candidates", path)
        assert ended.status == 2
        assert complaint in ended.err and ended.err.count("\n") == 1


class _Stop(NoProgress):
    """Raise KeyboardInterrupt after some responses; remember how many a resumed build starts with."""

    def __init__(self, after: int) -> None:
        self.done = 0
        self.first: int | None = None
        self._after = after

    def advance(self, amount: int) -> None:
        self.first = amount if self.first is None else self.first
        self.done += amount
        if self.done == self._after:
            raise KeyboardInterrupt

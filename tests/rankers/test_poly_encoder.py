"""Tests of poly-encoders: scores, saved folders and training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphneg.errors import InputError, ModelError
from tests.interrupting import StopsAt
from tests.tiny_ranker import WORDS, groups

torch = pytest.importorskip("torch")

from graphneg.datasets.pair_sampler import Mix  # noqa: E402
from graphneg.nn.training import open_run  # noqa: E402
from graphneg.rankers.poly_encoder import PolyEncoder  # noqa: E402
from graphneg.training.rankers import train_ranker  # noqa: E402

CONTEXTS = [["shall we swim", "now"], ["where is the cat"], ["who ate bread", "you did", "when"]]
RESPONSES = ["at six", "in the garden", "twelve eggs now"]
TEXTS = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=30).map(" ".join)
PAIRS = st.lists(st.tuples(st.lists(TEXTS, min_size=1, max_size=3), TEXTS), min_size=1, max_size=12)


class TestScores:
    @settings(max_examples=20)
    @given(PAIRS)
    def test_scores_do_not_depend_on_the_batch(
        self, poly: PolyEncoder, pairs: list[tuple[list[str], str]]
    ) -> None:
        scores = poly.score([context for context, _ in pairs], [response for _, response in pairs])
        alone = [poly.score([context], [response])[0] for context, response in pairs]
        assert scores == pytest.approx(alone, abs=1e-5)
        assert all(0 <= score <= 1 for score in scores)

    def test_scores_are_sigmoids_of_the_training_logits(self, poly: PolyEncoder) -> None:
        with torch.inference_mode():
            logits = poly.model(**poly.encode(CONTEXTS, RESPONSES)).logits
        assert logits.shape == (3, 1)
        assert logits.sigmoid()[:, 0].tolist() == pytest.approx(poly.score(CONTEXTS, RESPONSES), abs=1e-5)

    @pytest.mark.parametrize(("codes", "vectors"), [(0, 1), (1, 1), (5, 5)])
    def test_a_context_has_a_vector_for_each_code(self, encoder: Path, codes: int, vectors: int) -> None:
        ranker = PolyEncoder.new(encoder, codes=codes, device="cpu")
        assert ranker.context_vectors(CONTEXTS).shape == (3, vectors, 16)
        assert ranker.response_vectors(RESPONSES).shape == (3, 16)

    def test_precomputed_vectors_give_the_same_scores(self, poly: PolyEncoder) -> None:
        [context] = poly.context_vectors(CONTEXTS[:1])
        scores = poly.score_vectors(context, poly.response_vectors(RESPONSES))
        assert scores == pytest.approx(poly.score(CONTEXTS[:1] * 3, RESPONSES), abs=1e-5)

    def test_ranking_is_stable(self, poly: PolyEncoder) -> None:
        ranked = poly.rank(CONTEXTS[0], [*RESPONSES, *RESPONSES])
        scores = poly.score([CONTEXTS[0]] * 3, RESPONSES)
        assert [scores[place % 3] for place in ranked[::2]] == sorted(scores, reverse=True)
        assert all(first + 3 == second for first, second in zip(ranked[::2], ranked[1::2], strict=True))

    def test_a_long_context_loses_its_beginning_and_a_long_response_its_end(self, encoder: Path) -> None:
        ranker = PolyEncoder.new(encoder, codes=2, max_tokens=6, response_tokens=5, device="cpu")
        long = [["fish fish fish fish", "where is the cat"], ["eggs", "where is the cat"]]
        scores = ranker.score(long, ["at six now fish", "at six now eggs"])
        assert scores[0] == pytest.approx(scores[1], abs=1e-6)


class TestFolders:
    @pytest.mark.parametrize("towers", ["shared", "separate"])
    @pytest.mark.parametrize("pooling", ["first", "mean"])
    def test_a_saved_ranker_is_read_by_graphneg_and_other_libraries(
        self, encoder: Path, tmp_path: Path, towers: Any, pooling: Any
    ) -> None:
        from sentence_transformers import SentenceTransformer
        from transformers import AutoModel

        ranker = PolyEncoder.new(
            encoder, codes=3, towers=towers, pooling=pooling, response_tokens=5, device="cpu"
        )
        with torch.no_grad():
            ranker.model.bias += 0.01
            for value in ranker.model.response_encoder.parameters() if towers == "separate" else ():
                value += 0.01
        ranker.save(tmp_path)
        read = PolyEncoder.from_pretrained(tmp_path, device="cpu")
        assert read.score(CONTEXTS, RESPONSES) == pytest.approx(ranker.score(CONTEXTS, RESPONSES), abs=1e-6)
        assert read.digest() == ranker.digest()
        folder = tmp_path / "response" if towers == "separate" else tmp_path
        noted = json.loads((tmp_path / "config.json").read_text())["graphneg"]
        assert (noted["kind"], noted["codes"]) == ("poly-encoder", 3)
        assert AutoModel.from_pretrained(folder).config.hidden_size == 16
        vectors = SentenceTransformer(str(folder), device="cpu").encode(RESPONSES)
        assert vectors == pytest.approx(ranker.response_vectors(RESPONSES), abs=1e-5)

    def test_overwriting_a_folder_keeps_foreign_files(
        self, poly: PolyEncoder, encoder: Path, tmp_path: Path
    ) -> None:
        PolyEncoder.new(encoder, codes=3, towers="separate", device="cpu").save(tmp_path)
        (tmp_path / "response" / "notes.txt").write_text("mine")
        with pytest.raises(InputError, match="already contains a model"):
            open_run(tmp_path, [1])
        open_run(tmp_path, [1], overwrite=True).begin()
        left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
        assert left == {"response/notes.txt", "checkpoints/run.json"}
        (other := tmp_path / "other" / "response").mkdir(parents=True)
        poly.save(other.parent)
        (other / "config.json").write_text('{"port": 80}')
        open_run(other.parent, [1], overwrite=True).begin()
        assert (other / "config.json").exists() and not (other.parent / "1_Pooling").exists()
        with pytest.raises(InputError, match="Not a directory"):
            open_run(other / "config.json", [1]).begin()

    def test_a_plain_encoder_is_refused(self, encoder: Path) -> None:
        with pytest.raises(ModelError, match="not a poly-encoder"):
            PolyEncoder.from_pretrained(encoder)

    def test_a_folder_without_its_codes_is_refused(self, poly: PolyEncoder, tmp_path: Path) -> None:
        poly.save(tmp_path)
        (tmp_path / "poly_encoder.safetensors").unlink()
        with pytest.raises(ModelError, match="no poly-encoder can be read from it"):
            PolyEncoder.from_pretrained(tmp_path)

    @pytest.mark.parametrize(
        ("options", "complaint"),
        [
            ({"codes": -1}, "codes must be at least 1, or 0 for a bi-encoder, not -1"),
            ({"pooling": "last"}, "unknown pooling 'last'; choose one of first, mean"),
            ({"frozen": ["wings"]}, "no parameter's name begins with 'wings'"),
        ],
    )
    def test_wrong_settings_are_refused(self, encoder: Path, options: dict[str, Any], complaint: str) -> None:
        with pytest.raises(InputError, match=complaint):
            PolyEncoder.new(encoder, **options)

    def test_the_same_seed_draws_the_same_codes(self, encoder: Path) -> None:
        drawn = [PolyEncoder.new(encoder, seed=seed, device="cpu").model.codes for seed in (1, 1, 2)]
        assert (drawn[0] == drawn[1]).all() and not (drawn[0] == drawn[2]).any()


class TestLearning:
    @pytest.mark.parametrize(
        ("codes", "objective", "towers"),
        [(3, "in-batch", "shared"), (3, "pairs", "separate"), (0, "in-batch", "shared")],
    )
    def test_it_learns_to_score_responses_about_fish_low(
        self, encoder: Path, tmp_path: Path, codes: int, objective: Any, towers: Any
    ) -> None:
        ranker = PolyEncoder.new(
            encoder, codes=codes, objective=objective, towers=towers, dropout=0.0, device="cpu"
        )
        before = _auc(ranker)
        train_ranker(
            ranker,
            groups(),
            tmp_path / "ranker",
            mix=Mix(2, {"edited": 2}),
            epochs=20,
            learning_rate=5e-3,
            per_device_train_batch_size=4,
        )
        assert _auc(ranker) == 1 > before
        read = PolyEncoder.from_pretrained(tmp_path / "ranker", device="cpu")
        assert read.score(CONTEXTS, RESPONSES) == pytest.approx(ranker.score(CONTEXTS, RESPONSES), abs=1e-6)

    def test_a_resumed_training_gives_the_same_model(self, encoder: Path, tmp_path: Path) -> None:
        settings: dict[str, Any] = {
            "mix": Mix(2, {"edited": 2}),
            "epochs": 6,
            "per_device_train_batch_size": 4,
            "save_steps": 5,
        }
        with pytest.raises(KeyboardInterrupt):
            train_ranker(_new(encoder), groups(), tmp_path / "a", progress=StopsAt(12), **settings)
        stopped, whole = _new(encoder), _new(encoder)
        train_ranker(stopped, groups(), tmp_path / "a", **settings)
        train_ranker(whole, groups(), tmp_path / "b", **settings)
        assert stopped.score(CONTEXTS, RESPONSES) == pytest.approx(whole.score(CONTEXTS, RESPONSES), abs=1e-6)

    def test_a_batch_without_correct_pairs_has_a_finite_loss(self, poly: PolyEncoder) -> None:
        outputs = poly.model(**poly.encode(CONTEXTS, RESPONSES))
        loss = poly.loss(outputs, torch.tensor([(0.0, 1.0)] * 3))
        assert loss.isfinite()

    def test_correct_responses_of_a_context_do_not_compete(self, poly: PolyEncoder) -> None:
        contexts, responses = [CONTEXTS[0]] * 2, RESPONSES[:2]
        outputs = poly.model(**poly.encode(contexts, responses))
        right = torch.tensor([(1.0, 1.0)] * 2)
        pairs = torch.nn.functional.softplus(-outputs.logits).mean()
        assert poly.loss(outputs, right).item() == pytest.approx(pairs.item(), abs=1e-6)


def _new(encoder: Path) -> PolyEncoder:
    return PolyEncoder.new(encoder, codes=2, device="cpu")


def _auc(ranker: PolyEncoder) -> float:
    """Return the share of pairs of a correct and a wrong response in which the correct one scores higher."""
    won = [
        ranker.score([group.context], [right.text]) > ranker.score([group.context], [wrong.text])
        for group in groups()
        for right in group.positives
        for wrong in group.negatives
    ]
    return sum(won) / len(won)

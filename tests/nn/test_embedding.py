"""Tests of embedders: static word vectors, encoders, and the cache of vectors."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy
import pyarrow
import pytest
from pyarrow import parquet

from graphneg.errors import InputError, ModelError
from graphneg.nn.embedders import CachedEmbedder, get_embedder
from graphneg.nn.vectors import Nearest, StaticVectors

WORDS = ["red", "crimson", "car", "i", "don't"]
VECTORS = numpy.array([[1, 0, 0], [0.9, 0.1, 0], [0, 1, 0], [0, 0, 1], [0, 0, -1]], dtype=numpy.float32)
LINES = "".join(f"{w} {' '.join(f'{x:g}' for x in v)}\n" for w, v in zip(WORDS, VECTORS, strict=True))


def text(folder: Path) -> Path:
    (folder / "v.txt").write_text(LINES)
    return folder / "v.txt"


def with_header(folder: Path) -> Path:
    (folder / "v.vec").write_text(f"{len(WORDS)} 3\n{LINES}")
    return folder / "v.vec"


def compressed(folder: Path) -> Path:
    with gzip.open(folder / "v.txt.gz", "wt") as out:
        out.write(LINES)
    return folder / "v.txt.gz"


def arrays(folder: Path) -> Path:
    numpy.savez(folder / "v.npz", words=numpy.array(WORDS), vectors=VECTORS)
    return folder / "v.npz"


def directory(folder: Path) -> Path:
    numpy.save(folder / "v_3d_emb.npy", VECTORS)
    parquet.write_table(pyarrow.table({"index": WORDS}), folder / "v_index.parquet")
    return folder


class TestStaticVectors:
    @pytest.mark.parametrize("form", [text, with_header, compressed, arrays, directory])
    def test_all_file_formats_give_the_same_vectors(
        self, form: Callable[[Path], Path], tmp_path: Path
    ) -> None:
        found = get_embedder(form(tmp_path)).embed(["crimson car"])
        mean = (VECTORS[1] + VECTORS[2]) / 2
        assert found == pytest.approx((mean / numpy.linalg.norm(mean))[None], abs=1e-6)

    def test_vectors_are_normalised_or_zero(self, tmp_path: Path) -> None:
        found = StaticVectors(text(tmp_path)).embed(["A red CAR!", "", "blue", "I don’t"])
        assert found.dtype == numpy.float32
        assert numpy.linalg.norm(found, axis=1) == pytest.approx([1, 0, 0, 0], abs=1e-6)

    def test_neighbours_are_sorted_by_similarity(self, tmp_path: Path) -> None:
        vectors = StaticVectors(text(tmp_path))
        near = vectors.neighbours("red", 2)
        assert near[0] == ("crimson", pytest.approx(0.9939, abs=1e-4))
        assert "red" not in dict(near) and len(near) == 2
        assert vectors.neighbours("blue", 2) == []

    def test_torch_is_not_needed(self, tmp_path: Path) -> None:
        code = (
            "import sys; from graphneg.nn.embedders import get_embedder; "
            f"get_embedder({str(text(tmp_path))!r}).embed(['red car']); "
            "assert not {'torch', 'transformers', 'faiss'} & sys.modules.keys()"
        )
        subprocess.run([sys.executable, "-c", code], check=True)

    @pytest.mark.parametrize(
        ("content", "reason"),
        [("red 1 0\ncar 1\n", "line 2 has 1 numbers, not 2"), ("", "0 words"), ("red a b\n", "convert")],
    )
    def test_a_file_without_vectors_is_refused(self, content: str, reason: str, tmp_path: Path) -> None:
        (tmp_path / "v.txt").write_text(content)
        with pytest.raises(ModelError, match=reason) as raised:
            get_embedder(tmp_path / "v.txt")
        assert "v.txt" in str(raised.value) and "\n" not in str(raised.value)

    def test_a_missing_file_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match="No such file"):
            get_embedder(tmp_path / "none.txt")


class RecordingEmbedder:
    """Embed a text as its length and its first letter, and record the texts."""

    name = "recorder"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        return numpy.array([[len(one), ord(one[0])] for one in texts], dtype=numpy.float32).reshape(-1, 2)


class TestCache:
    def test_no_text_is_embedded_twice(self) -> None:
        inner = RecordingEmbedder()
        outer = CachedEmbedder(inner)
        first = outer.embed(["a", "bb", "a"])
        assert outer.embed(["bb", "ccc", "a"]).tolist() == [[2, 98], [3, 99], [1, 97]]
        assert first.tolist() == [[1, 97], [2, 98], [1, 97]]
        assert inner.asked == ["a", "bb", "ccc"]
        assert outer.embed([]).shape == (0, 2)

    def test_memory_is_bounded(self) -> None:
        inner = RecordingEmbedder()
        outer = CachedEmbedder(inner, kept=2)
        for one in ("a", "b", "a", "c", "a", "b"):
            outer.embed([one])
        assert inner.asked == ["a", "b", "c", "b"]

    def test_a_cache_file_keeps_vectors_by_model(self, tmp_path: Path) -> None:
        cache = tmp_path / "vectors.db"
        before = CachedEmbedder(RecordingEmbedder(), cache=cache).embed(["a", "bb"])
        inner, other = RecordingEmbedder(), RecordingEmbedder()
        other.name = "another"
        assert (CachedEmbedder(inner, cache=cache).embed(["bb", "a"]) == before[::-1]).all()
        CachedEmbedder(other, cache=cache).embed(["a"])
        assert (inner.asked, other.asked) == ([], ["a"])

    def test_a_file_that_is_not_a_cache_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "x.db").write_text("This is a text and no database." * 100)
        with pytest.raises(InputError, match=r"x\.db: can't be used as a cache"):
            CachedEmbedder(RecordingEmbedder(), cache=tmp_path / "x.db")


class TestNearest:
    def test_search_equals_exact_inner_products(self) -> None:
        draw = numpy.random.default_rng(0)
        vectors = draw.normal(size=(50, 8)).astype(numpy.float32)
        scores, places = Nearest(vectors).search(vectors[:5], 3)
        products = vectors[:5] @ vectors.T
        assert places.tolist() == numpy.argsort(-products, axis=1)[:, :3].tolist()
        assert scores == pytest.approx(-numpy.sort(-products, axis=1)[:, :3], abs=1e-4)

    def test_a_large_k_returns_all_vectors(self) -> None:
        assert Nearest(VECTORS).search(VECTORS[:1], 99)[1].shape == (1, len(WORDS))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a Hugging Face encoder with random weights."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.set_num_threads(1)
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("encoder")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "red", "blue", "car", "a"]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
    )
    BertModel(config).save_pretrained(folder)
    return folder


@pytest.mark.slow
class TestEncoder:
    def test_a_text_vector_is_the_mean_of_its_token_states(self, encoder: Path) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer

        texts = ["a red car", "blue"]
        found = get_embedder(encoder, device="cpu", batch=2).embed(texts)
        model, tokenizer = AutoModel.from_pretrained(encoder).eval(), AutoTokenizer.from_pretrained(encoder)
        for text, vector in zip(texts, found, strict=True):
            with torch.inference_mode():
                states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
            mean = states.mean(0).numpy()
            assert vector == pytest.approx(mean / numpy.linalg.norm(mean), abs=1e-5)

    def test_the_name_contains_a_digest_of_the_weights(self, encoder: Path) -> None:
        first, again = get_embedder(encoder, device="cpu").name, get_embedder(encoder, device="cpu").name
        assert first == again and first.startswith(f"{encoder.name}@")

    def test_a_model_that_generates_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "config.json").write_text(json.dumps({"architectures": ["LlamaForCausalLM"]}))
        with pytest.raises(ModelError, match="LlamaForCausalLM generates text"):
            get_embedder(tmp_path)

    def test_a_broken_model_is_an_error(self, encoder: Path, tmp_path: Path) -> None:
        (tmp_path / "config.json").write_text((encoder / "config.json").read_text())
        with pytest.raises(ModelError, match="no encoder can be read from it") as raised:
            get_embedder(tmp_path)
        assert "\n" not in str(raised.value)

    def test_code_in_a_model_folder_is_not_run(
        self, encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.syspath_prepend(tmp_path)
        folder, ran = tmp_path / "model", tmp_path / "ran"
        shutil.copytree(encoder, folder)
        for place in (tmp_path, folder):
            (place / "foreign.py").write_text(f"open({str(ran)!r}, 'w')\n")
        (folder / "modules.json").write_text(
            json.dumps([{"idx": 0, "name": "0", "path": "", "type": "foreign.Module"}])
        )
        with pytest.raises(ModelError, match="no encoder can be read from it") as raised:
            get_embedder(folder, device="cpu")
        assert not ran.exists() and "\n" not in str(raised.value)

    def test_missing_folders_and_unknown_options_are_named(self, encoder: Path) -> None:
        with pytest.raises(ModelError, match="there is no such model folder"):
            get_embedder("/no/such/folder")
        with pytest.raises(InputError, match="no option 'beams'"):
            get_embedder(encoder, beams=3)

    def test_offline_disables_downloads(self) -> None:
        with pytest.raises(
            ModelError, match=r"downloads are disabled; get it with: hf download no-one/no-such-model"
        ):
            get_embedder("no-one/no-such-model", offline=True)

"""Tests of how the t5 decoder finds models, and of missing and broken ones."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the t5 decoder needs the neural extra")
pytest.importorskip("transformers", reason="the t5 decoder needs the neural extra")

from graphneg.decoders.t5 import T5Decoder
from graphneg.errors import DecoderError, InputError
from graphneg.model import EditedUtterance
from graphneg.nn.generation import Sampling
from tests.tiny_t5 import TinyT5

pytestmark = pytest.mark.slow
BACKENDS = ["torch", "ctranslate2"]
WARM = Sampling(temperature=1.5)


def in_hub_cache(cache: Path, id: str, folder: Path) -> None:
    """Copy a model folder into a hub cache, as a download does."""
    repository = cache / ("models--" + id.replace("/", "--"))
    shutil.copytree(folder, repository / "snapshots" / "0123abc")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0123abc")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_hub_model_that_was_fetched_before_works_offline(
    tiny: TinyT5,
    utterances: list[EditedUtterance],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    backend: str,
):
    pytest.importorskip(backend)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    in_hub_cache(tmp_path / "hub", "graphneg/tiny-amr", tiny.hugging_face)
    decoder = T5Decoder("graphneg/tiny-amr", backend=backend, offline=True)
    assert decoder.decode(utterances) == T5Decoder(tiny.hugging_face, backend=backend).decode(utterances)


def test_offline_a_missing_model_names_the_command_that_gets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(DecoderError) as caught:
        T5Decoder("graphneg/not-there", offline=True)
    assert str(caught.value) == (
        "model graphneg/not-there is not on this machine and downloads are disabled; "
        "get it with: hf download graphneg/not-there"
    )


def test_a_tokenizer_that_amrlib_left_on_the_hub_is_named(
    tiny: TinyT5, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    folder = tmp_path / "model"
    shutil.copytree(tiny.amrlib, folder)
    config = (folder / "config.json").read_text().replace(str(tiny.hugging_face), "t5-base")
    (folder / "config.json").write_text(config)
    with pytest.raises(DecoderError, match=r"model t5-base is not on this machine .* hf download t5-base"):
        T5Decoder(folder, offline=True)
    assert T5Decoder(folder, tokenizer=tiny.hugging_face, offline=True).decode([]) == []


def test_the_error_for_a_missing_folder_explains_where_models_are(tmp_path: Path):
    with pytest.raises(DecoderError) as caught:
        T5Decoder(tmp_path / "model_generate_t5")
    message = str(caught.value)
    assert "there is no such model folder" in message
    assert "https://github.com/bjascob/amrlib-models" in message
    assert "hf download ORGANISATION/NAME --local-dir" in message
    assert "\n" not in message


def test_the_error_without_a_model_explains_where_models_are():
    with pytest.raises(DecoderError, match="needs a model: a folder or a hub id"):
        T5Decoder()


def test_folders_that_hold_no_such_model_are_refused(tiny: TinyT5, tmp_path: Path):
    def changed(name: str, file: str, content: str) -> Path:
        folder = tmp_path / name
        shutil.copytree(tiny.hugging_face, folder)
        (folder / file).write_text(content)
        return folder

    def without_weights(name: str) -> Path:
        from safetensors.torch import load_file, save_file

        folder = changed(name, "note.txt", "")
        weights = load_file(folder / "model.safetensors")
        kept = {key: tensor for key, tensor in weights.items() if not key.startswith("decoder.")}
        save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
        return folder

    (tmp_path / "empty").mkdir()
    cases = [
        (tmp_path / "empty", "not a model folder: it has no config.json"),
        (changed("parser", "amrlib_meta.json", '{"model_type": "stog"}'), "type 'stog' parses text"),
        (changed("broken", "config.json", "{"), "can't be read as JSON"),
        (changed("list", "config.json", "[]"), "expected a JSON object"),
        (changed("weights", "model.safetensors", "no weights"), "no sequence-to-sequence model can be read"),
        (without_weights("fewer"), "weights are missing"),
        (changed("tokenizer", "tokenizer.json", "{}"), "no tokenizer can be read"),
        (
            changed(
                "bert", "config.json", json.dumps({"model_type": "bert", "architectures": ["BertModel"]})
            ),
            "no sequence-to-sequence model can be read",
        ),
    ]
    for folder, message in cases:
        with pytest.raises(DecoderError, match=message) as caught:
            T5Decoder(folder, offline=True)
        assert str(folder) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_model_is_converted_once_and_again_when_it_changed(tiny: TinyT5, tmp_path: Path):
    pytest.importorskip("ctranslate2")
    folder = tmp_path / "model"
    shutil.copytree(tiny.hugging_face, folder, ignore=shutil.ignore_patterns("ctranslate2*"))
    T5Decoder(folder, backend="ctranslate2")
    (converted,) = folder.glob("ctranslate2-int8*")
    made = (converted / "model.bin").stat().st_mtime_ns
    T5Decoder(folder, backend="ctranslate2")
    assert [*folder.glob("ctranslate2-int8*")] == [converted]
    assert (converted / "model.bin").stat().st_mtime_ns == made
    (folder / "model.safetensors").touch()
    T5Decoder(folder, backend="ctranslate2")
    assert len([*folder.glob("ctranslate2-int8*")]) == 2


def test_a_converted_folder_is_used_as_it_is(tiny: TinyT5, utterances: list[EditedUtterance], tmp_path: Path):
    pytest.importorskip("ctranslate2")
    expected = T5Decoder(tiny.hugging_face, backend="ctranslate2").decode(utterances)
    converted = next(tiny.hugging_face.glob("ctranslate2-int8*"))
    decoder = T5Decoder(converted, backend="ctranslate2", tokenizer=tiny.hugging_face)
    assert decoder.decode(utterances) == expected
    with pytest.raises(DecoderError, match='use backend="ctranslate2"'):
        T5Decoder(converted, tokenizer=tiny.hugging_face)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_missing_device_gives_a_one_line_error(tiny: TinyT5, backend: str):
    import torch

    pytest.importorskip(backend)
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(DecoderError, match="'cuda:0'") as caught:
        T5Decoder(tiny.hugging_face, backend=backend, device="cuda:0")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("package", ["torch", "transformers", "ctranslate2"])
def test_a_missing_package_names_the_extra(tiny: TinyT5, monkeypatch: pytest.MonkeyPatch, package: str):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DecoderError, match=rf'needs {package}: pip install "graphneg\[neural\]"'):
        T5Decoder(tiny.hugging_face, backend="ctranslate2")


@pytest.mark.parametrize(
    "arguments",
    [{"batch_size": 0}, {"num_beams": 0}, {"backend": "onnx"}],
)
def test_arguments_out_of_range_are_refused(tiny: TinyT5, arguments: dict):
    with pytest.raises(InputError):
        T5Decoder(tiny.hugging_face, **arguments)


@pytest.mark.parametrize("arguments", [{"temperature": 0}, {"top_k": -1}, {"top_p": 0}, {"max_samples": 0}])
def test_sampling_out_of_range_is_refused(arguments: dict):
    with pytest.raises(InputError):
        Sampling(**arguments)


def test_importing_the_decoder_imports_no_torch():
    code = (
        "import sys, graphneg.decoders.t5; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_documented_example_runs(tiny: TinyT5, utterances: list[EditedUtterance]):
    pytest.importorskip("ctranslate2")
    documentation = (Path(__file__).parents[2] / "docs" / "decoders.md").read_text(encoding="utf-8")
    example = documentation.partition("## t5")[2].partition("```py\n")[2].partition("```")[0]
    names: dict = {}
    exec(example.replace("path/to/model", str(tiny.hugging_face)), names)
    assert len(names["decoder"].decode(utterances)) == len(utterances)


def test_the_registry_makes_the_decoder(tiny: TinyT5, utterances: list[EditedUtterance]):
    from graphneg.decoders.base import get_decoder

    decoder = get_decoder("t5", model=tiny.hugging_face)
    assert decoder.name == "t5"
    assert decoder.decode(utterances) == T5Decoder(tiny.hugging_face).decode(utterances)

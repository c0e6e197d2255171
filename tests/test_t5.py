"""The t5 decoder, with a tiny T5 that is trained here on bundled graphs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the t5 decoder needs the neural extra")
pytest.importorskip("transformers", reason="the t5 decoder needs the neural extra")

from tiny_t5 import TinyT5, edited, train

from graphneg.decoders.t5 import Sampling, T5Decoder, one_line
from graphneg.decoders.t5.batching import in_batches
from graphneg.decoders.t5.sampling import GumbelNoise, item_seed
from graphneg.errors import DecoderError, InputError
from graphneg.model import Decoded, EditedUtterance
from graphneg.penman_codec import parse_graph

pytestmark = pytest.mark.slow
BACKENDS = ["torch", "ctranslate2"]
WARM = Sampling(temperature=1.5)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyT5]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the tensors are too small to be worth sharing
    yield train(tmp_path_factory.mktemp("tiny-t5"))
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def utterances(tiny: TinyT5) -> list[EditedUtterance]:
    """The graphs that the model knows, as edits of utterances that said something else."""
    return [edited(graph, "Nobody said this.", f"own/test/{n}#0") for n, (graph, _) in enumerate(tiny.pairs)]


@pytest.fixture(scope="session")
def sentences(tiny: TinyT5) -> list[Decoded]:
    return [Decoded(text) for _, text in tiny.pairs]


# Texts


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["hugging_face", "amrlib"])
def test_graphs_that_the_model_learned_come_back_as_their_sentences(
    tiny: TinyT5, utterances: list[EditedUtterance], sentences: list[Decoded], backend: str, kind: str
):
    pytest.importorskip(backend)
    decoder = T5Decoder(getattr(tiny, kind), backend=backend, offline=True)
    answers = decoder.decode(utterances)
    right = sum(answer == sentence for answer, sentence in zip(answers, sentences, strict=True))
    assert right >= 0.8 * len(sentences)
    assert all(answer.text for answer in answers)


def test_greedy_texts_are_those_of_amrlib(tiny: TinyT5, utterances: list[EditedUtterance]):
    factory = pytest.importorskip("amrlib.models.model_factory")
    graphs = ["# ::snt Nobody said this.\n" + one_line(utterance.after) for utterance in utterances]
    theirs, clipped = factory.load_inference_model(str(tiny.amrlib), num_beams=1, device="cpu").generate(
        graphs
    )
    ours = T5Decoder(tiny.amrlib, num_beams=1, device="cpu", offline=True).decode(utterances)
    assert [answer.text for answer in ours] == theirs
    assert not any(clipped)


def test_a_graph_is_written_as_amrlib_writes_it(tiny: TinyT5):
    helper = pytest.importorskip("amrlib.models.generate_xfm.model_input_helper")
    from graphneg.penman_codec import format_graph

    for graph, _ in tiny.pairs:
        assert one_line(graph) == helper.ModelInputHelper.gstring_to_oneline(format_graph(graph))


def test_alignment_marks_and_comments_do_not_reach_the_model():
    graph = parse_graph("# ::id 1\n(l / like-01~e.1 :ARG0~e.0 (i / i~e.0)\n  :ARG1 i)")
    assert one_line(graph) == "(l / like-01 :ARG0 (i / i) :ARG1 i)"


@pytest.mark.parametrize(
    "search", [{}, {"num_beams": 1}, {"sampling": WARM}, {"backend": "ctranslate2"}], ids=str
)
def test_texts_do_not_depend_on_the_batch(tiny: TinyT5, utterances: list[EditedUtterance], search: dict):
    pytest.importorskip(search.get("backend", "torch"))
    whole = T5Decoder(tiny.hugging_face, max_output=48, **search)
    small = T5Decoder(tiny.hugging_face, max_output=48, batch_size=3, **search)
    answers = whole.decode(utterances)
    assert small.decode(utterances) == answers
    assert small.decode(utterances[::-1]) == answers[::-1]
    assert whole.decode(utterances[5:6]) == answers[5:6]


def test_sampled_texts_follow_the_seed_and_the_id(tiny: TinyT5, utterances: list[EditedUtterance]):
    decoder = T5Decoder(tiny.hugging_face, sampling=WARM, max_output=48)
    other_seed = T5Decoder(tiny.hugging_face, sampling=WARM, max_output=48, seed=1)
    renamed = [replace(utterance, id=utterance.id + "x") for utterance in utterances]
    answers = decoder.decode(utterances)
    assert decoder.decode(utterances) == answers
    assert other_seed.decode(utterances) != answers
    assert decoder.decode(renamed) != answers


def test_sampling_with_a_backend_that_cannot_seed_each_text_is_refused(tiny: TinyT5):
    with pytest.raises(InputError, match="use the torch backend for sampling"):
        T5Decoder(tiny.hugging_face, backend="ctranslate2", sampling=WARM)


def test_gumbel_noise_draws_tokens_with_the_softmax_probabilities():
    import torch

    logits = torch.tensor([2.0, 1.0, 0.0, -1.0])
    seeds = [item_seed(0, f"item {number}", 0) for number in range(20_000)]
    drawn = GumbelNoise(seeds)(None, logits.expand(len(seeds), -1)).argmax(-1)
    shares = torch.bincount(drawn, minlength=4) / len(seeds)
    assert torch.allclose(shares, logits.softmax(-1), atol=0.015)


def test_narrow_sampling_keeps_to_the_best_token(
    tiny: TinyT5, utterances: list[EditedUtterance], sentences: list[Decoded]
):
    for sampling in (Sampling(top_k=1), Sampling(top_p=0.01), Sampling(temperature=0.01)):
        answers = T5Decoder(tiny.hugging_face, sampling=sampling).decode(utterances)
        assert answers == T5Decoder(tiny.hugging_face, num_beams=1).decode(utterances)


def test_an_empty_batch_gives_no_texts(tiny: TinyT5):
    assert T5Decoder(tiny.hugging_face).decode([]) == []


# Reasons


@pytest.mark.parametrize(
    "search",
    [{}, {"num_beams": 1}, {"sampling": Sampling()}, {"backend": "ctranslate2", "num_beams": 2}],
    ids=str,
)
def test_the_original_text_is_never_given(tiny: TinyT5, search: dict):
    pytest.importorskip(search.get("backend", "torch"))
    originals = [edited(graph, text, f"own/test/{n}#0") for n, (graph, text) in enumerate(tiny.pairs)]
    answers = T5Decoder(tiny.hugging_face, max_output=48, **search).decode(originals)
    for answer, original in zip(answers, originals, strict=True):
        assert answer.text != original.text
        assert answer.text or answer.reason
    if search == {"num_beams": 1}:
        assert sum((answer.reason or "").startswith("unchanged: ") for answer in answers) >= 12


def test_another_letter_case_or_full_stop_is_no_change(tiny: TinyT5, utterances: list[EditedUtterance]):
    decoder = T5Decoder(tiny.hugging_face, num_beams=1)
    said = [answer.text or "" for answer in decoder.decode(utterances)]
    originals = [
        replace(utterance, text=text.upper().rstrip("?.!") + " ")
        for utterance, text in zip(utterances, said, strict=True)
    ]
    assert set(decoder.decode(originals)) == {Decoded(None, "unchanged: the model gave the original text")}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_graph_too_long_for_the_model_is_reported_and_the_others_decoded(
    tiny: TinyT5, utterances: list[EditedUtterance], sentences: list[Decoded], backend: str
):
    pytest.importorskip(backend)
    children = " ".join(f":op{number} (t{number} / thing)" for number in range(1, 100))
    long = edited(parse_graph(f"(a / and {children})"), "Many things.")
    decoder = T5Decoder(tiny.amrlib, backend=backend, offline=True)
    answers = decoder.decode([utterances[0], long, utterances[1]])
    assert answers[1].text is None
    assert "tokens, the model reads 256" in (answers[1].reason or "")
    assert (answers[1].reason or "").startswith("truncated: the graph has ")
    assert [answers[0], answers[2]] == decoder.decode(utterances[:2])


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_text_that_does_not_end_is_reported(tiny: TinyT5, utterances: list[EditedUtterance], backend: str):
    pytest.importorskip(backend)
    answers = T5Decoder(tiny.hugging_face, backend=backend, num_beams=1, max_output=2).decode(utterances)
    assert set(answers) == {Decoded(None, "truncated: the text was not finished after 2 tokens")}


def test_a_model_that_says_nothing_is_reported(tiny: TinyT5, utterances: list[EditedUtterance]):
    decoder = T5Decoder(tiny.hugging_face, num_beams=1)

    def end_at_once(module, inputs, logits):
        logits[..., 1] = logits.max() + 1
        return logits

    decoder.backend.model.lm_head.register_forward_hook(end_at_once)
    assert set(decoder.decode(utterances)) == {Decoded(None, "empty: the model gave no text")}


# Memory


def limit_memory(decoder: T5Decoder, graphs: int) -> list[int]:
    """Let the encoder run out of memory above a number of graphs; collects the batch sizes that it saw."""
    import torch

    seen: list[int] = []

    def check(module, arguments, named):
        seen.append(len(named["input_ids"]))
        if seen[-1] > graphs:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    decoder.backend.model.get_encoder().register_forward_pre_hook(check, with_kwargs=True)
    return seen


@pytest.mark.parametrize("sampling", [None, Sampling(temperature=0.5)])
def test_a_batch_that_is_out_of_memory_is_halved_and_the_run_goes_on(
    tiny: TinyT5,
    utterances: list[EditedUtterance],
    sampling: Sampling | None,
    caplog: pytest.LogCaptureFixture,
):
    decoder = T5Decoder(tiny.hugging_face, sampling=sampling, batch_size=16)
    answers = decoder.decode(utterances)
    seen = limit_memory(decoder, 3)
    assert decoder.decode(utterances) == answers
    assert seen[:4] == [16, 8, 4, 2]
    assert max(seen[3:]) == 2
    assert "out of memory with 16 graphs in a batch; going on with 8" in caplog.text


def test_graphs_that_do_not_fit_alone_are_reported(tiny: TinyT5, utterances: list[EditedUtterance]):
    decoder = T5Decoder(tiny.hugging_face)
    limit_memory(decoder, 0)
    answers = decoder.decode(utterances[:3])
    assert all((answer.reason or "").startswith("out-of-memory: ") for answer in answers)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("CUDA failed with error out of memory"),
        RuntimeError(
            "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"
        ),
        MemoryError("std::bad_alloc"),
    ],
)
def test_each_library_says_out_of_memory_in_its_own_way(error: Exception):
    def run(batch):
        if len(batch) > 2:
            raise error
        return [item * 10 for item in batch]

    assert list(in_batches([1, 2, 3, 4, 5], 5, run)) == [(1, 10), (2, 20), (3, 30), (4, 40), (5, 50)]


def test_other_errors_are_not_swallowed():
    def run(batch):
        raise RuntimeError("expected scalar type Float but found Half")

    with pytest.raises(RuntimeError, match="expected scalar type"):
        list(in_batches([1, 2], 2, run))


# Models


def in_hub_cache(cache: Path, id: str, folder: Path) -> None:
    """Lay a folder out as the hub's cache does after a download."""
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
        "model graphneg/not-there is not on this machine and it is offline; "
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


def test_a_missing_folder_names_where_models_are(tmp_path: Path):
    with pytest.raises(DecoderError) as caught:
        T5Decoder(tmp_path / "model_generate_t5")
    message = str(caught.value)
    assert "there is no such model folder" in message
    assert "https://github.com/bjascob/amrlib-models" in message
    assert "hf download ORGANISATION/NAME --local-dir" in message
    assert "\n" not in message


def test_without_a_model_it_says_where_models_are():
    with pytest.raises(DecoderError, match="needs a model, a folder or a hub id"):
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
        (tmp_path / "empty", "no config.json in it"),
        (changed("parser", "amrlib_meta.json", '{"model_type": "stog"}'), "type 'stog' parses text"),
        (changed("broken", "config.json", "{"), "not JSON"),
        (changed("list", "config.json", "[]"), "an object is expected"),
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
def test_a_device_that_is_not_there_is_an_error_of_one_line(tiny: TinyT5, backend: str):
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


@pytest.mark.parametrize("arguments", [{"temperature": 0}, {"top_k": -1}, {"top_p": 0}, {"draws": 0}])
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
    documentation = (Path(__file__).parent.parent / "docs" / "decoders.md").read_text(encoding="utf-8")
    example = documentation.partition("## t5")[2].partition("```py\n")[2].partition("```")[0]
    names: dict = {}
    exec(example.replace("path/to/model", str(tiny.hugging_face)), names)
    assert len(names["decoder"].decode(utterances)) == len(utterances)


def test_the_registry_makes_the_decoder(tiny: TinyT5, utterances: list[EditedUtterance]):
    from graphneg.decoders import get_decoder

    decoder = get_decoder("t5", model=tiny.hugging_face)
    assert decoder.name == "t5"
    assert decoder.decode(utterances) == T5Decoder(tiny.hugging_face).decode(utterances)

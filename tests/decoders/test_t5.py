"""Tests of the t5 decoder, with a tiny T5 that is trained here on bundled graphs."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="the t5 decoder needs the neural extra")
pytest.importorskip("transformers", reason="the t5 decoder needs the neural extra")

from graphneg.amr.penman import flat_graph, parse_graph
from graphneg.decoders.t5 import T5Decoder
from graphneg.errors import DecoderError, InputError
from graphneg.model import Decoded, EditedUtterance
from graphneg.nn.batching import in_batches
from graphneg.nn.generation import GumbelNoise, Sampling, item_seed
from tests.tiny_t5 import TinyT5, edited

pytestmark = pytest.mark.slow
BACKENDS = ["torch", "ctranslate2"]
WARM = Sampling(temperature=1.5)


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
    graphs = ["# ::snt Nobody said this.\n" + flat_graph(utterance.after) for utterance in utterances]
    theirs, clipped = factory.load_inference_model(str(tiny.amrlib), num_beams=1, device="cpu").generate(
        graphs
    )
    ours = T5Decoder(tiny.amrlib, num_beams=1, device="cpu", offline=True).decode(utterances)
    assert [answer.text for answer in ours] == theirs
    assert not any(clipped)


def test_a_graph_is_written_as_amrlib_writes_it(tiny: TinyT5):
    helper = pytest.importorskip("amrlib.models.generate_xfm.model_input_helper")
    from graphneg.amr.penman import format_graph

    for graph, _ in tiny.pairs:
        assert flat_graph(graph) == helper.ModelInputHelper.gstring_to_oneline(format_graph(graph))


def test_alignment_marks_and_comments_do_not_reach_the_model():
    graph = parse_graph("# ::id 1\n(l / like-01~e.1 :ARG0~e.0 (i / i~e.0)\n  :ARG1 i)")
    assert flat_graph(graph) == "(l / like-01 :ARG0 (i / i) :ARG1 i)"


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


def test_a_change_of_case_or_full_stop_is_unchanged(tiny: TinyT5, utterances: list[EditedUtterance]):
    decoder = T5Decoder(tiny.hugging_face, num_beams=1)
    said = [answer.text or "" for answer in decoder.decode(utterances)]
    originals = [
        replace(utterance, text=text.upper().rstrip("?.!") + " ")
        for utterance, text in zip(utterances, said, strict=True)
    ]
    assert set(decoder.decode(originals)) == {
        Decoded(None, "unchanged: the model returned the original text")
    }


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
    assert set(decoder.decode(utterances)) == {Decoded(None, "empty: the model returned no text")}


# Memory


def limit_memory(decoder: T5Decoder, graphs: int) -> list[int]:
    """Make the encoder run out of memory above a number of graphs; return the list of batch sizes."""
    import torch

    seen: list[int] = []

    def check(module, arguments, named):
        seen.append(len(named["input_ids"]))
        if seen[-1] > graphs:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    decoder.backend.model.get_encoder().register_forward_pre_hook(check, with_kwargs=True)
    return seen


@pytest.mark.parametrize("sampling", [None, Sampling(temperature=0.5)])
def test_a_batch_that_is_out_of_memory_is_halved(
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
    assert "out of memory with 16 items in a batch; continuing with 8" in caplog.text


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


class NoLibrary:
    """A translator that fails as CTranslate2 does on a GPU without CUDA libraries."""

    def translate_batch(self, *_: object, **__: object) -> list[object]:
        raise RuntimeError("Library libcublas.so.12 is not found or cannot be loaded")


@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_without_cuda_libraries_only_a_gpu_that_was_asked_for_is_an_error(
    device: str, tiny: TinyT5, utterances: list[EditedUtterance], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ctranslate2")
    decoder = T5Decoder(tiny.hugging_face, backend="ctranslate2", offline=True)
    expected = decoder.decode(utterances[:1])
    monkeypatch.setattr(decoder.backend, "_translator", NoLibrary())
    monkeypatch.setattr(decoder.backend, "_device", device)
    if device == "auto":
        assert decoder.decode(utterances[:1]) == expected
    else:
        with pytest.raises(DecoderError, match=r"can't use 'cuda' \(Library .*\); try --device cpu"):
            decoder.decode(utterances[:1])

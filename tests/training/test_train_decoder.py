"""Tests of training decoders: data from a store, resuming, and use by amrlib and ``--decoder t5``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="language models need the neural extra")
pytest.importorskip("transformers", reason="language models need the neural extra")

import torch

from graphneg.amr.penman import parse_graph
from graphneg.decoders.t5 import T5Decoder
from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import DecoderError, InputError
from graphneg.evaluation.decoding import read_graph_text_pairs
from graphneg.model import AmrGraph
from graphneg.nn.models import load_either
from graphneg.store.dialogues import Selection
from graphneg.store.opening import open_store
from graphneg.training.decoder import HELD_OUT, TextGraphPair, held_out, read_text_graph_pairs, train_decoder
from tests.cli_runs import Run
from tests.interrupting import StopsAt
from tests.tiny_lm import TinyModels
from tests.tiny_ranker import with_other_weights
from tests.tiny_t5 import edited

pytestmark = pytest.mark.slow
LEARNED = [
    ("(f / feed-01 :ARG0 (y / you) :ARG1 (c / cat))", "You feed the cat."),
    ("(f / feed-01 :polarity - :ARG0 (y / you) :ARG1 (c / cat))", "You do not feed the cat."),
    ("(d / drink-01 :ARG0 (i / it) :ARG1 (m / milk))", "It drinks the milk."),
    ("(b / be-located-at-91 :ARG1 (i / it) :ARG2 (g / garden))", "It is in the garden."),
    ("(f / fry-01 :ARG0 (i / i) :ARG1 (f2 / fish))", "I fry the fish."),
    ("(h / hang-01 :ARG1 (c / coat) :location (d / door))", "The coat hangs behind the door."),
]
MEANINGS = [TextGraphPair(f"own/{n}", graph, text) for n, (graph, text) in enumerate(LEARNED)]
GRAPHS = [parse_graph(graph, one.id) for one, (graph, _) in zip(MEANINGS, LEARNED, strict=True)]
TEXTS = [text for _, text in LEARNED]
TRAINING = {"max_steps": 160, "learning_rate": 4e-3, "warmup_steps": 10}


@pytest.fixture(scope="module", params=["gpt2", "bart"])
def trained(
    request: pytest.FixtureRequest, tiny_lms: TinyModels, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("decoder") / request.param
    model = load_either(getattr(tiny_lms, request.param))
    report = train_decoder(model, MEANINGS, out, measured=MEANINGS[:2], **TRAINING)
    assert (report.examples, report.too_long) == (len(MEANINGS), 0)
    return out


def texts_of(decoder: T5Decoder, graphs: list[AmrGraph] = GRAPHS) -> list[str | None]:
    return [best[0].text for best in decoder.n_best(graphs)]


class TestTextGraphPairs:
    @pytest.fixture
    def graph(self, tmp_path: Path) -> Iterator[DialogueGraph]:
        gold = LEARNED[0][0]
        turns = [
            {"text": "You feed the cat.", "amr": gold},
            {"text": "I like  tea."},
            {"text": "You feed the cat.", "amr": gold},
            {"text": "?!"},
        ]
        (tmp_path / "own.jsonl").write_text(json.dumps({"id": "a", "turns": turns}))
        with DialogueGraph(open_store(tmp_path / "store")) as graph:
            graph.load("dialogues", tmp_path / "own.jsonl")
            graph.parse()
            yield graph

    def test_each_text_has_one_graph_preferably_a_gold_one(self, graph: DialogueGraph) -> None:
        found = list(read_text_graph_pairs(graph.store))
        assert [one.text for one in found] == ["You feed the cat.", "I like tea."]
        assert [one.id.partition("@")[2] for one in found] == ["penman", "dependency"]
        assert found[0].graph == LEARNED[0][0]
        assert found[1].graph.startswith("(") and "\n" not in found[1].graph

    def test_parsed_graphs_can_be_left_out(self, graph: DialogueGraph) -> None:
        assert [one.text for one in read_text_graph_pairs(graph.store, gold_only=True)] == [
            "You feed the cat."
        ]
        assert not list(read_text_graph_pairs(graph.store, Selection(("other",))))


class TestHeldOut:
    MANY = tuple(TextGraphPair(f"{n}", f"(a{n} / b)", f"Text {n % 40}") for n in range(80))

    def test_held_out_texts_are_not_in_the_training_data(self) -> None:
        learned, measured = held_out([*self.MANY, TextGraphPair("x", "(y / z)", "text  7")], 4)
        assert len(measured) == 4 == len({one.text for one in measured})
        assert not {one.text.casefold() for one in measured} & {one.text.casefold() for one in learned}
        assert len(learned) == 80 - 8 + (not any(one.text == "Text 7" for one in measured))

    def test_the_held_out_part_depends_on_the_seed_and_is_at_most_a_tenth(self) -> None:
        assert held_out(self.MANY, 4) == held_out(self.MANY, 4)
        assert held_out(self.MANY, 4, seed=1) != held_out(self.MANY, 4)
        assert len(held_out(self.MANY, 1000)[1]) == 4
        assert held_out(MEANINGS, 200) == (MEANINGS, [])


class TestTrained:
    def test_a_trained_decoder_writes_the_learned_texts(self, trained: Path) -> None:
        assert texts_of(T5Decoder(trained, num_beams=2)) == TEXTS
        assert texts_of(T5Decoder(trained, num_beams=1, batch_size=1)) == TEXTS

    def test_the_original_text_is_refused(self, trained: Path) -> None:
        items = [edited(graph, text) for graph, text in zip(GRAPHS, TEXTS, strict=True)]
        answers = T5Decoder(trained, num_beams=1).decode(items)
        assert {answer.reason for answer in answers} == {"unchanged: the model returned the original text"}
        other = replace(items[0], text="Nobody said this.")
        assert T5Decoder(trained, num_beams=1).decode([other])[0].text == TEXTS[0]

    def test_a_text_is_likelier_for_its_own_graph(self, trained: Path) -> None:
        decoder = T5Decoder(trained, batch_size=4)
        own = decoder.losses(list(zip(GRAPHS, TEXTS, strict=True)))
        others = decoder.losses(list(zip(GRAPHS, TEXTS[::-1], strict=True)))
        assert all(one < other for one, other in zip(own, others, strict=True))
        assert decoder.losses([(GRAPHS[0], TEXTS[0])]) == [pytest.approx(own[0], rel=1e-3)]

    def test_the_folder_contains_the_held_out_pairs(self, trained: Path) -> None:
        pairs = read_graph_text_pairs(trained / HELD_OUT)
        assert [(graph.id, text) for graph, text in pairs] == [("own/0", TEXTS[0]), ("own/1", TEXTS[1])]

    def test_a_too_long_graph_gives_a_reason(self, trained: Path) -> None:
        branches = " ".join(f":op{n} (t{n} / thing)" for n in range(1, 60))
        [[answer]] = T5Decoder(trained).n_best([parse_graph(f"(a / and {branches})")])
        assert (answer.reason or "").startswith("truncated: the graph has ")


class TestOtherPrograms:
    def test_amrlib_reads_the_folder_of_a_sequence_to_sequence_model(
        self, tiny_lms: TinyModels, tmp_path: Path
    ) -> None:
        factory = pytest.importorskip("amrlib.models.model_factory")
        train_decoder(load_either(tiny_lms.bart), MEANINGS, tmp_path / "out", **TRAINING)
        inference = factory.load_inference_model(str(tmp_path / "out"), num_beams=1, device="cpu")
        written, clipped = inference.generate([graph for graph, _ in LEARNED])
        assert written == TEXTS and not any(clipped)

    def test_an_untrained_causal_model_is_refused(self, tiny_lms: TinyModels) -> None:
        with pytest.raises(
            DecoderError, match="not trained to write texts of graphs; train it with: graphneg"
        ):
            T5Decoder(tiny_lms.gpt2)

    def test_causal_models_are_refused_for_ctranslate2(self, tiny_lms: TinyModels) -> None:
        pytest.importorskip("ctranslate2")
        with pytest.raises(DecoderError, match="causal models are run by torch only"):
            T5Decoder(tiny_lms.gpt2, backend="ctranslate2")


class TestRuns:
    def test_a_resumed_training_gives_the_same_weights(self, tiny_lms: TinyModels, tmp_path: Path) -> None:
        short = {"max_steps": 6, "save_steps": 2, "per_device_train_batch_size": 2, "frozen": ["wte"]}
        whole, stopped = tmp_path / "whole", tmp_path / "stopped"
        train_decoder(load_either(tiny_lms.gpt2), MEANINGS, whole, **short)
        with pytest.raises(KeyboardInterrupt):
            train_decoder(load_either(tiny_lms.gpt2), MEANINGS, stopped, progress=StopsAt(5), **short)
        with pytest.raises(InputError, match="other examples or settings"):
            train_decoder(load_either(tiny_lms.gpt2), MEANINGS, stopped, **{**short, "frozen": []})
        assert train_decoder(load_either(tiny_lms.gpt2), MEANINGS, stopped, **short).steps == 6
        one, other = (load_either(folder).model.state_dict() for folder in (whole, stopped))
        assert all(torch.equal(one[name], other[name]) for name in one)

    def test_a_training_is_not_resumed_with_another_model_at_the_same_path(
        self, tiny_lms: TinyModels, tmp_path: Path
    ) -> None:
        short = {"max_steps": 6, "save_steps": 2, "per_device_train_batch_size": 2}
        model = tmp_path / "model"
        shutil.copytree(tiny_lms.gpt2, model)
        with pytest.raises(KeyboardInterrupt):
            train_decoder(load_either(model), MEANINGS, tmp_path / "out", progress=StopsAt(5), **short)
        with_other_weights(model)
        with pytest.raises(InputError, match="other examples or settings"):
            train_decoder(load_either(model), MEANINGS, tmp_path / "out", **short)

    def test_frozen_parameters_are_not_changed(self, tiny_lms: TinyModels, tmp_path: Path) -> None:
        train_decoder(
            load_either(tiny_lms.gpt2), MEANINGS, tmp_path / "out", frozen=["wte", "h.0."], max_steps=3
        )
        before, after = (load_either(at).model.state_dict() for at in (tiny_lms.gpt2, tmp_path / "out"))
        same = {name for name in before if torch.equal(before[name], after[name])}
        assert {"transformer.wte.weight", "transformer.h.0.attn.c_attn.weight"} <= same
        assert "transformer.h.1.attn.c_attn.weight" not in same

    def test_overwriting_a_model_removes_its_files(self, tiny_lms: TinyModels, tmp_path: Path) -> None:
        out = tmp_path / "out"
        train_decoder(load_either(tiny_lms.bart), MEANINGS, out, max_steps=1)
        assert (out / "amrlib_meta.json").exists()
        train_decoder(load_either(tiny_lms.gpt2), MEANINGS, out, max_steps=1, overwrite=True)
        assert not (out / "amrlib_meta.json").exists() and (out / HELD_OUT).exists()

    @pytest.mark.parametrize(
        ("meanings", "settings", "message"),
        [
            ([], {}, "nothing to train on: no text has an AMR graph; run graphneg parse"),
            (MEANINGS, {"max_tokens": 8}, "none of 6 graphs and texts fits into 8 and 4 tokens"),
            (MEANINGS, {"frozen": ["head"]}, "no parameter's name begins with 'head'"),
        ],
    )
    def test_invalid_training_input_is_refused(
        self,
        tiny_lms: TinyModels,
        tmp_path: Path,
        meanings: list[TextGraphPair],
        settings: dict,
        message: str,
    ) -> None:
        with pytest.raises(InputError, match=message):
            train_decoder(load_either(tiny_lms.gpt2), meanings, tmp_path / "out", **settings)
        assert not (tmp_path / "out").exists()


class TestCommands:
    def test_a_decoder_trained_on_a_store_makes_negatives(
        self, run: Run, everyday: Path, tiny_lms: TinyModels, tmp_path: Path
    ) -> None:
        out, place = tmp_path / "decoder", ("--store", everyday)
        given = ("train", "decoder", "--model", tiny_lms.bart, "-o", out, "--gold", "--device", "cpu", *place)
        ended = run(*given, "--option", "max_steps=2", "--held-out", "5")
        assert ended.status == 0, ended.err
        assert f"{out}: trained on " in ended.err and "were too long" in ended.err
        assert [line.split()[-3:] for line in ended.out.splitlines() if "themselves" in line] == [
            ["5", "of", "5"]
        ]
        again = run(*given, "--option", "max_steps=2", "--held-out", "5")
        assert again.status == 2 and "the folder already contains a model" in again.err

        found = run("evaluate", "decoder", out / HELD_OUT, "--model", out, "--limit", "2", "--json")
        assert found.status == 0, found.err
        scores = json.loads(found.out)
        assert scores["references"]["bleu"] == pytest.approx(100)
        assert scores["decoder"]["pairs"] == 2 and scores["parser"].startswith("dependency")

        for decoder in ("t5", "rescored"):
            made = run(
                "negatives", "--decoder", decoder, "--model", out, "--beams", "1", "--limit", "2",
                "-o", tmp_path / f"{decoder}.jsonl", *place,
            )  # fmt: skip
            # A model trained for two steps may complete no sentence. That is an error.
            assert made.status == 0 or "no negative was made" in made.err, made.err

    def test_wrong_input_is_refused_before_training(
        self, run: Run, everyday: Path, tiny_lms: TinyModels, tmp_path: Path
    ) -> None:
        out, place = tmp_path / "decoder", ("--store", everyday)
        start = ("train", "decoder", "--model", tiny_lms.gpt2, "-o", out, *place)
        (tmp_path / "bare.amr").write_text("(a / apple)\n")
        cases = [
            ((*start, "--corpus", "none"), "no dialogues of none are in"),
            ((*start, "--freeze", "head"), "no parameter's name begins with 'head'"),
            ((*start, "--parser", "none"), "no parser named 'none'"),
            (
                ("train", "decoder", "--model", tmp_path / "no", "-o", out, *place),
                "there is no such model folder",
            ),
            (
                ("evaluate", "decoder", tmp_path / "bare.amr", "--model", tiny_lms.bart),
                "bare.amr:1: the graph has no text: add # ::snt TEXT above the graph",
            ),
        ]
        for arguments, message in cases:
            ended = run(*arguments)
            assert ended.status == (1 if "parser" in message else 2), arguments
            assert message in ended.err and len(ended.err.splitlines()) == 1, ended.err
        assert not out.exists()

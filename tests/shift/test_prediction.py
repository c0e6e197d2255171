"""Tests of the predictors of perspectives (CAPT): by frequency, by embeddings and by language models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from graphneg.errors import ModelError
from graphneg.nn.embedders import get_embedder
from graphneg.shift.candidates import CandidateOptions, Focus, Post
from graphneg.shift.graphs import Likelihoods
from graphneg.shift.prediction import (
    PLUGINS,
    EmbeddingPredictor,
    FrequencyPredictor,
    ScoredTerm,
    choices_of,
    examples_of,
    get_predictor,
    likelihood,
)
from graphneg.store.connection import Store
from tests.cli_runs import Run
from tests.explore_samples import write_samples
from tests.servers import wipe

PRIOR = {"fish": 0.4, "milk": 0.2, "door": 0.2, "rice": 0.1, "car": 0.1}


def post(*foci: tuple[str, dict[str, float]], text: str = "Did you feed the cat?") -> Post:
    """Return a post with equally salient foci; each has the likelihoods of its perspectives."""
    made = tuple(
        Focus(name, 1.0, tuple(known), Likelihoods({}, known, tuple(known), 0.1, PRIOR))
        for name, known in foci
    )
    return Post((text,), made, {focus.text: focus.salience for focus in made})


CAT = post(("cat", {"fish": 0.5, "milk": 0.3, "door": 0.1}), ("feed", {"milk": 0.6, "rice": 0.3}))


# By counts


def test_frequency_chooses_the_likeliest_of_each_subset_over_all_foci() -> None:
    choices = FrequencyPredictor().choose(CAT, CAT.foci[0], [("fish", "milk"), ("door", "car")])
    assert [choice.text for choice in choices] == ["milk", "door"]
    assert choices[0].score == pytest.approx((0.3 + 0.6) / 2)
    assert choices[1].score == pytest.approx((0.1 + 0.1 * 0.2) / 2)


def test_keywords_of_the_post_are_likelier() -> None:
    without = post(("cup", {"cat": 0.1}))
    said = post(("cup", {"cat": 0.1}), ("cat", {"cat": 0.1}))
    assert likelihood(said, "cat") > likelihood(without, "cat")


def test_ties_are_broken_by_name() -> None:
    even = post(("cat", {"b": 0.1, "a": 0.1}))
    for subset in (("a", "b"), ("b", "a")):
        [choice] = FrequencyPredictor().choose(even, even.foci[0], [subset])
        assert choice.text == "a"


# By vectors


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "words.txt"
    rows = {"cat": "1 0", "feed": "1 0", "fish": "0 1", "milk": "0 1", "door": "1 0", "car": "0 1"}
    path.write_text("".join(f"{word} {numbers}\n" for word, numbers in rows.items()))
    return path


def test_embedding_prefers_terms_close_to_keywords_of_the_post(vectors: Path) -> None:
    even = post(("cat", {"fish": 0.3, "door": 0.3}))
    [choice] = EmbeddingPredictor(str(vectors)).choose(even, even.foci[0], [("fish", "door")])
    assert choice.text == "door"


def test_embedding_with_weight_0_equals_frequency(vectors: Path) -> None:
    subsets = [("fish", "milk"), ("door", "car")]
    by_count = FrequencyPredictor().choose(CAT, CAT.foci[0], subsets)
    embedder = get_embedder(str(vectors))
    by_vector = EmbeddingPredictor(embedder, weight=0).choose(CAT, CAT.foci[0], subsets)
    assert [one.text for one in by_vector] == [one.text for one in by_count]


def test_a_post_of_unknown_words_is_no_error(vectors: Path) -> None:
    strange = post(("xyzzy", {"fish": 0.3, "plugh": 0.2}))
    [choice] = EmbeddingPredictor(str(vectors)).choose(strange, strange.foci[0], [("fish", "plugh")])
    assert choice.text == "fish"


# By name


@pytest.mark.parametrize("name", PLUGINS.names())
def test_every_predictor_is_found_by_name_and_documented(name: str) -> None:
    pytest.importorskip("transformers", reason="language models need the neural extra")
    root = Path(__file__).parents[2]
    assert PLUGINS.find(name).name == name  # type: ignore[attr-defined]
    assert f"\n| `{name}` |" in (root / "docs" / "shift.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("oracle", {}, "no predictor named 'oracle'; choose one of"),
        ("frequency", {"model": "bart"}, "takes no option 'model'"),
        ("seq2seq", {}, "needs a model"),
        ("causal", {}, "needs a model"),
        ("embedding", {}, "needs a model"),
    ],
)
def test_invalid_predictors_are_refused(name: str, options: dict, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        get_predictor(name, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("answer", [[], [ScoredTerm("car", 1.0)], [ScoredTerm("fish", 1.0)] * 2])
def test_an_answer_without_one_choice_per_subset_is_refused(answer: list[ScoredTerm]) -> None:
    class Wrong:
        name = "wrong"

        def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[ScoredTerm]:
            return answer

    with pytest.raises(ModelError, match="predictor wrong must choose one candidate of each of 1 subsets"):
        choices_of(Wrong(), CAT, CAT.foci[0], [("fish", "milk")])


# By language models


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a BART and a GPT-2 with random weights."""
    torch = pytest.importorskip("torch", reason="language models need the neural extra")
    pytest.importorskip("transformers", reason="language models need the neural extra")
    from tests.tiny_lm import causal_folder, seq2seq_folder

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("models")
    seq2seq_folder(folder / "bart")
    causal_folder(folder / "gpt2")
    return folder


@pytest.fixture(scope="module")
def samples(embedded: Store) -> Store:
    wipe(embedded)
    write_samples(embedded)
    return embedded


def test_training_examples_list_the_perspective_among_candidates(samples: Store) -> None:
    pytest.importorskip("transformers", reason="language models need the neural extra")
    examples = examples_of(samples, reach=CandidateOptions())
    assert len(examples) == len(examples_of(samples, reach=None)) == 26
    first = examples[0]
    assert first.source.startswith("post: Is the coffee ready? focus: coffee perspectives: ")
    assert first.target == "cake"
    for example in examples:
        assert example.target in example.source.partition("perspectives: ")[2].split(", ")
    some = examples_of(samples, reach=CandidateOptions(), limit=5)
    assert len(some) == 5 and some == examples_of(samples, reach=CandidateOptions(), limit=5)
    assert set(some) < set(examples)


def test_a_trained_seq2seq_model_chooses_observed_perspectives(
    samples: Store, folders: Path, tmp_path: Path
) -> None:
    from graphneg.shift.prediction import Seq2SeqPredictor
    from graphneg.shift.substitutes import train_predictor

    out = tmp_path / "trained"
    settings = {"max_steps": 150, "learning_rate": 5e-3, "per_device_train_batch_size": 16}
    report = train_predictor(samples, "seq2seq", folders / "bart", out, device="cpu", **settings)
    assert report.examples == 26 and report.skipped == 0
    predictor = Seq2SeqPredictor(out, prior=0, device="cpu", offline=True)
    right = 0
    examples = examples_of(samples, reach=CandidateOptions())
    for example in examples:
        text, _, rest = example.source.removeprefix("post: ").partition(" focus: ")
        focus, _, listed = rest.partition(" perspectives: ")
        seen = post((focus, {}), text=text)
        [choice] = predictor.choose(seen, seen.foci[0], [tuple(listed.split(", "))])
        right += choice.text == example.target
    assert right >= 0.8 * len(examples)


def test_seq2seq_scores_are_the_log_likelihoods_of_whole_perspectives(folders: Path) -> None:
    from graphneg.nn.models import load_seq2seq
    from graphneg.shift.prediction import Seq2SeqPredictor, source_with_candidates

    model = load_seq2seq(folders / "bart", device="cpu")
    subset = ("fish", "garden door")
    [choice] = Seq2SeqPredictor(model, prior=0).choose(CAT, CAT.foci[0], [subset])
    source = source_with_candidates(CAT.text, "cat", subset)
    [loss] = model.score([choice.text], [source])
    assert choice.score == pytest.approx(-loss * len(model.target_tokens(choice.text)), rel=1e-4)


def test_causal_scores_do_not_depend_on_the_batch(folders: Path) -> None:
    from graphneg.nn.models import load_causal
    from graphneg.shift.prediction import CausalPredictor, source_without_candidates

    model = load_causal(folders / "gpt2", device="cpu")
    subsets = [("fish",), ("a garden behind the door",), ("milk and rice",), ("car",), ("é",)]
    found = [
        CausalPredictor(model, prior=0, batch=batch).choose(CAT, CAT.foci[0], subsets) for batch in (1, 2, 64)
    ]
    source = source_without_candidates(CAT.text, "cat")
    for place, (text,) in enumerate(subsets):
        [loss] = model.score([f" {text}"], [source])
        expected = -loss * (len(model.target_tokens(f" {text}")) - 1)
        for choices in found:
            assert choices[place].text == text
            assert choices[place].score == pytest.approx(expected, rel=1e-3)


def test_a_large_prior_weight_follows_the_counts(folders: Path) -> None:
    from graphneg.shift.prediction import CausalPredictor

    likely = post(("cat", {"car": 0.98, "fish": 1e-9}))
    [choice] = CausalPredictor(folders / "gpt2", prior=100, device="cpu").choose(
        likely, likely.foci[0], [("fish", "car")]
    )
    assert choice.text == "car"


def test_a_model_for_another_task_is_refused(folders: Path) -> None:
    for name, folder in (("seq2seq", "gpt2"), ("causal", "bart")):
        with pytest.raises(ModelError, match=str(folders / folder)) as caught:
            get_predictor(name, model=folders / folder, device="cpu")
        assert "\n" not in str(caught.value)


def test_the_command_trains_a_predictor_and_uses_it(run: Run, folders: Path, tmp_path: Path) -> None:
    from graphneg.store.opening import open_store

    place, out = tmp_path / "store", tmp_path / "trained"
    with open_store(place) as store:
        write_samples(store)
        given = ("--store", place, "--model", folders / "gpt2", "-o", out, "--limit", "8", "--device", "cpu")
        ended = run("shift", "train", "causal", *given)
        assert ended.status == 0, ended.err
        assert f"{out}: trained on 8 pairs in 1 step" in ended.err
        again = run("shift", "train", "causal", *given)
        assert (again.status, "the folder already contains a model" in again.err) == (1, True)
        ended = run("shift", "substitutes", "--store", place, "--post", "A coffee?", "--subset-size", "1",
                    "--predictor", "causal", "--model", out, "--option", "device=cpu")  # fmt: skip
        assert ended.status == 0, ended.err
        assert "cake" in ended.out

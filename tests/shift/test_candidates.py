"""Tests of the candidates for a substitute perspective (CAPT): neighbours, subsets and rankings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.errors import InputError
from graphneg.shift.candidates import CandidateOptions, Reply, posts, replies_of, stored_reply
from graphneg.shift.graphs import ShiftGraph
from graphneg.shift.prediction import get_predictor
from graphneg.shift.substitutes import (
    NO_CANDIDATES,
    NO_PERSPECTIVE,
    Prediction,
    SubstituteFinder,
    Substitutes,
    substitutes_of,
)
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection
from graphneg.store.opening import open_store
from tests.cli_runs import Run
from tests.explore_samples import write_samples
from tests.servers import wipe

REPLY = "kitchen/train/2#1/r0"
"""``The coffee smells good.``, answered by ``I would rather have tea.``"""


@pytest.fixture(scope="module")
def samples(store: Store) -> Store:
    wipe(store)
    write_samples(store)
    return store


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a store with the samples."""
    path = tmp_path_factory.mktemp("kitchen") / "store"
    with open_store(path) as store:
        write_samples(store)
    return path


def frequent(**settings: object) -> Prediction:
    return Prediction(get_predictor("frequency"), **settings)  # type: ignore[arg-type]


def texts(found: Substitutes) -> list[str]:
    return [one.text for one in found.ranked]


# Shifts of a focus


def test_the_shifts_of_a_focus_are_sorted_by_count(samples: Store) -> None:
    found = ShiftGraph(samples).from_each(["coffee", "umbrella", "nowhere"])
    assert list(found["coffee"].items()) == [
        ("cake", 3), ("price", 2), ("tea", 2), ("café", 1), ("coffee", 1),
    ]  # fmt: skip
    assert found["umbrella"] == found["nowhere"] == {}


@pytest.mark.parametrize("hops", [1, 2])
def test_the_likelihoods_of_a_focus_sum_to_one(samples: Store, hops: int) -> None:
    shifts = ShiftGraph(samples)
    for focus, likelihoods in shifts.likelihoods(["coffee", "cake", "weather", "hot"], hops).items():
        assert sum(map(likelihoods.of, shifts.prior)) == pytest.approx(1), focus


def test_a_focus_raises_the_likelihood_of_its_neighbours(
    samples: Store,
) -> None:
    shifts = ShiftGraph(samples)
    near, far = (shifts.likelihoods(["coffee"], hops)["coffee"] for hops in (1, 2))
    assert near.of("cake") > shifts.prior["cake"]
    assert 0 < near.of("umbrella") < shifts.prior["umbrella"]
    assert far.of("cream") > near.of("cream")


# Replies


def test_replies_are_turns_and_correct_responses_in_order(samples: Store) -> None:
    found = replies_of(samples, ["kitchen/train/2", "kitchen/train/1"])
    assert [reply.id for reply in found] == [
        "kitchen/train/2#1", "kitchen/train/2#1/r0",
        "kitchen/train/1#1", "kitchen/train/1#2", "kitchen/train/1#2/r0",
    ]  # fmt: skip
    last = found[-1]
    assert (last.focus, last.perspective, last.text) == ("cake", "sugar", "The cake has no sugar in it.")
    assert last.turns[-1] == "I only eat cake with cream."
    assert [set(one) for one in last.keywords] == [{"coffee"}, {"cake"}, {"cake", "cream"}]


def test_a_reply_is_found_by_its_id(samples: Store) -> None:
    assert stored_reply(samples, REPLY).perspective == "tea"
    for id in ("kitchen/train/2#0", "kitchen/train/2#1/r1", "kitchen/train/99#1", "nothing"):
        with pytest.raises(InputError, match=f"{id} is not a reply"):
            stored_reply(samples, id)


# Candidates


def test_candidates_of_the_paper_exclude_the_observed_perspective(
    samples: Store,
) -> None:
    reply = stored_reply(samples, "kitchen/train/10#1")
    [post] = posts(ShiftGraph(samples), [reply], CandidateOptions.paper())
    [focus] = post.foci
    assert reply.perspective == "tea"
    assert (focus.text, set(focus.candidates)) == ("coffee", {"cake", "price", "café", "coffee"})


def test_keywords_of_earlier_turns_are_less_salient_foci(samples: Store) -> None:
    reply = stored_reply(samples, "kitchen/train/1#2/r0")
    [near] = posts(ShiftGraph(samples), [reply], CandidateOptions(turns=1, hops=1))
    [far] = posts(ShiftGraph(samples), [reply], CandidateOptions(turns=3, hops=1))
    assert {focus.text for focus in near.foci} == {"cake"}
    assert {focus.text: focus.salience for focus in far.foci} == {"cake": 0.5, "coffee": 0.125}


def test_two_hops_give_more_candidates_up_to_the_limit(samples: Store) -> None:
    reply = stored_reply(samples, "kitchen/train/10#1")
    [post] = posts(ShiftGraph(samples), [reply], CandidateOptions(turns=1, hops=2))
    assert "cream" in post.foci[0].candidates
    [bounded] = posts(ShiftGraph(samples), [reply], CandidateOptions(turns=1, hops=2, max_candidates=2))
    assert bounded.foci[0].candidates == post.foci[0].candidates[:2]


@given(
    st.lists(st.text(min_size=1, max_size=8), unique=True, max_size=120),
    st.integers(1, 100),
    st.integers(0, 5),
    st.randoms(),
)
def test_subsets_are_a_partition_that_does_not_depend_on_the_order(
    candidates: list[str], size: int, seed: int, random: object
) -> None:
    subsets = CandidateOptions(subset_size=size, seed=seed).split("focus", candidates)
    assert sorted(chain.from_iterable(subsets)) == sorted(candidates)
    if len(candidates) >= size:
        assert all(size <= len(subset) < 2 * size for subset in subsets)
    else:
        assert len(subsets) <= 1
    random.shuffle(candidates)  # type: ignore[attr-defined]
    assert CandidateOptions(subset_size=size, seed=seed).split("focus", candidates) == subsets


def test_subsets_depend_on_seed_and_focus() -> None:
    many = [str(number) for number in range(50)]
    splits = [
        CandidateOptions(subset_size=5, seed=0).split("tea", many),
        CandidateOptions(subset_size=5, seed=1).split("tea", many),
    ]
    assert splits[0] != splits[1]
    assert CandidateOptions(subset_size=5, seed=0).split("cup", many) != splits[0]


@pytest.mark.parametrize("wrong", [{"turns": 0}, {"hops": 3}, {"max_candidates": 0}, {"subset_size": 0}])
def test_options_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError):
        CandidateOptions(**wrong)


# Substitutes


def test_substitutes_are_unique_and_never_the_observed_perspective(samples: Store) -> None:
    replies = replies_of(samples, ["kitchen/train/10", "travel/train/2"])
    for found in substitutes_of(
        ShiftGraph(samples), replies, frequent(reach=CandidateOptions(subset_size=2))
    ):
        scores = [one.score for one in found.ranked]
        assert scores == sorted(scores, reverse=True)
        assert len(set(texts(found))) == len(found.ranked) > 0
        assert found.reply.perspective not in texts(found)


def test_each_subset_gives_one_substitute(samples: Store) -> None:
    reply = stored_reply(samples, "kitchen/train/10#1")
    [single] = substitutes_of(
        ShiftGraph(samples), [reply], frequent(reach=replace(CandidateOptions.paper(), subset_size=100))
    )
    assert len(texts(single)) == 1
    [all_] = substitutes_of(
        ShiftGraph(samples), [reply], frequent(reach=replace(CandidateOptions.paper(), subset_size=1))
    )
    assert set(texts(all_)) == {"cake", "price", "coffee", "café"}
    assert texts(single) == texts(all_)[:1]


def test_a_reply_to_a_post_without_keywords_has_no_substitutes(samples: Store) -> None:
    reply = Reply("", "Yes.", None, None, ("Really?",), ({},))
    [found] = substitutes_of(ShiftGraph(samples), [reply], frequent())
    assert found.ranked == ()


# A corpus


class InterruptsAtOnce:
    """Raise KeyboardInterrupt at the first progress."""

    def start(self, label: str, total: int | None, unit: str) -> None:
        return

    def advance(self, amount: int) -> None:
        raise KeyboardInterrupt

    def finish(self) -> None:
        return


def written(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_corpus_is_written_with_one_reply_per_line(samples: Store, tmp_path: Path) -> None:
    out = tmp_path / "substitutes.jsonl"
    report = SubstituteFinder(samples, frequent(most=3), selection=Selection(corpora=("kitchen",))).to_jsonl(
        out
    )
    lines = written(out)
    assert report.replies == report.written + sum(report.skipped.values())
    assert set(report.skipped) <= {NO_PERSPECTIVE, NO_CANDIDATES}
    assert len(lines) == report.written == 12
    assert lines[0]["id"] == "kitchen/train/1#1"
    for line in lines:
        assert 0 < len(line["substitutes"]) <= 3
        assert line["perspective"] not in [one["text"] for one in line["substitutes"]]


def test_a_resumed_run_gives_the_same_bytes(
    samples: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphneg.shift.candidates.DIALOGUES", 5)
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    first = SubstituteFinder(samples, frequent()).to_jsonl(whole)
    with pytest.raises(KeyboardInterrupt):
        SubstituteFinder(samples, frequent(), progress=InterruptsAtOnce()).to_jsonl(parts)
    assert not parts.exists()
    again = SubstituteFinder(samples, frequent()).to_jsonl(parts)
    assert again == first
    assert parts.read_bytes() == whole.read_bytes()


def test_another_suffix_or_a_missing_shift_graph_is_refused(embedded: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in \.jsonl"):
        SubstituteFinder(embedded, frequent()).to_jsonl(tmp_path / "out.parquet")
    wipe(embedded)
    with pytest.raises(InputError, match="no shift graph: run graphneg shift build"):
        substitutes_of(ShiftGraph(embedded), [], frequent())


# Commands


def lines_of(text: str) -> Sequence[str]:
    return text.strip().splitlines()


def test_the_command_shows_substitutes_of_a_post_and_a_reply(run: Run, kitchen: Path) -> None:
    ended = run(
        "shift", "substitutes", "--store", kitchen, "--post", "I need a coffee now.", "--subset-size", "1"
    )
    assert ended.status == 0
    assert "cake" in ended.out
    ended = run("shift", "substitutes", "--store", kitchen, "--utterance", REPLY, "--hops", "1")
    assert ended.status == 0
    assert "I would rather have tea." in ended.err
    assert "tea" not in ended.out and "cream" in ended.out


def test_the_command_writes_a_corpus(run: Run, kitchen: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    ended = run("shift", "substitutes", "--store", kitchen, "-o", out, "--corpus", "travel")
    assert ended.status == 0
    assert f"{out}: {len(written(out))} of 14 replies have substitutes" in ended.err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "give one of --post, --utterance and --out"),
        (["--post", "Coffee?", "--predictor", "oracle"], 2, "no predictor named 'oracle'; choose one of"),
        (["--post", "Oh, is it?"], 1, "has no keywords, so it has no focus"),
        (["--post", "The elephant sleeps."], 1, "has no perspective for the keywords of the post: elephant"),
        (["--utterance", "kitchen/train/1#9"], 1, "kitchen/train/1#9 is not a reply"),
        (["--post", "Coffee?", "--predictor", "seq2seq"], 2, "the seq2seq predictor needs a model"),
        (["--post", "Coffee?", "--predictor", "embedding"], 2, "the embedding predictor needs a model"),
        (["--post", "Coffee?", "--option", "weight=3"], 2, "takes no option 'weight'"),
    ],
)
def test_wrong_input_is_one_line_of_error(
    run: Run, kitchen: Path, arguments: list[str], status: int, message: str
) -> None:
    ended = run("shift", "substitutes", "--store", kitchen, *arguments)
    assert ended.status == status
    assert message in " ".join(ended.err.replace("│", " ").split())
    assert ended.out == ""
    if status == 1:
        assert len(lines_of(ended.err)) == 1

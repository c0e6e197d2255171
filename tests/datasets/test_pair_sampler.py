"""Tests of the pair sampler: rotation over epochs, batches, and mixes that can't be met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphneg.datasets.groups import Answer, Group
from graphneg.datasets.pair_sampler import Epochs, Mix, PairSampler, rotate, shortages
from graphneg.errors import InputError

EDITS = {"edits": 3}


def make_groups(contexts: int, wrong: int = 4) -> list[Group]:
    """Return groups of one to five turns, with two correct and `wrong` wrong responses each."""
    return [
        Group(
            f"own/{at}#1",
            tuple("so " * k + "?" for k in range(at % 5 + 1)),
            [Answer(f"Right {at} {k}.", "reference") for k in range(2)],
            [Answer(f"Wrong {at} {k}.", "edits", "C-cont") for k in range(wrong)],
        )
        for at in range(contexts)
    ]


class TestRotation:
    @given(st.integers(1, 9), st.integers(1, 9))
    def test_all_items_are_drawn_before_one_is_repeated(self, items: int, amount: int) -> None:
        drawn = [item for epoch in range(items) for item in rotate(range(items), amount, epoch)]
        assert max(Counter(drawn).values()) == min(Counter(drawn).values()) == min(amount, items)

    def test_an_empty_list_gives_nothing(self) -> None:
        assert rotate([], 3, 5) == []


class TestMix:
    @pytest.mark.parametrize(
        "mix",
        [(0, {"edits": 1}), (1, {}), (1, {"twin": 1}), (1, {"edits": 0}), (1, {"edits": 2, "overlap": -1})],
    )
    def test_a_mix_needs_correct_and_wrong_responses(self, mix: tuple[int, dict[str, int]]) -> None:
        with pytest.raises(InputError, match="at least one correct and one wrong response"):
            Mix(*mix)

    def test_negative_numbers_and_weights_are_named(self) -> None:
        with pytest.raises(InputError, match="it has -1 of 'mirror'"):
            Mix(negatives={"edits": 2, "mirror": -1})
        with pytest.raises(InputError, match=r"that of 'mirror' is -0\.5"):
            Mix(weights={"mirror": -0.5})

    def test_a_weight_of_zero_is_allowed_and_a_negative_one_refused(self) -> None:
        with pytest.raises(InputError, match="weights must be at least 0"):
            Mix(1, EDITS, {"edits": -0.1})
        pairs, _ = PairSampler(make_groups(2), Mix(1, EDITS, {"edits": 0.0}), 0).drawn(0)
        assert {pair.weight for pair in pairs if not pair.label} == {0.0}


class TestSampler:
    def test_an_answer_to_an_edited_context_is_paired_with_that_context(self) -> None:
        group = Group("a#1", ("Tea?",), [Answer("Yes.", "r")], [Answer("Yes.", "edits", "", ("No tea?",))])
        pairs, _ = PairSampler([group], Mix(1, {"edits": 1}), 0).drawn(0)
        assert {pair.context: pair.label for pair in pairs} == {("Tea?",): 1, ("No tea?",): 0}

    def test_random_responses_of_a_group_are_preferred(self) -> None:
        groups = make_groups(3)
        for group in groups:
            group.negatives.append(Answer(f"Brought by {group.id}.", "random"))
        pairs, _ = PairSampler(groups, Mix(1, {"random": 1}), 0).drawn(0)
        assert all(pair.response.startswith("Brought by") for pair in pairs if not pair.label)

    def test_twins_are_right_responses_that_only_their_name_draws(self) -> None:
        groups = make_groups(4)
        for group in groups:
            group.positives.append(Answer(f"Twin {group.id}.", "twin", pairs=("p",)))
        pairs, shortfall = PairSampler(groups, Mix(3, {"edits": 1, "random": 2}), 0).drawn(0)
        assert not [pair for pair in pairs if pair.response.startswith("Twin")]
        assert shortfall.unused["twin"] == 4
        pairs, shortfall = PairSampler(groups, Mix(1, {"edits": 1, "twin": 1}), 0).drawn(0)
        assert Counter((pair.source, pair.label) for pair in pairs) == {
            ("reference", 1): 4,
            ("edits", 0): 4,
            ("twin", 1): 4,
        }
        assert not shortfall.unused and not shortfall.responses
        with pytest.raises(InputError, match="no negatives of 'twin'"):
            PairSampler(make_groups(2), Mix(1, {"edits": 1, "twin": 1}), 0)

    @pytest.mark.parametrize("seed", range(4))
    def test_the_twin_of_a_drawn_negative_comes_first(self, seed: int) -> None:
        group = make_groups(1)[0]
        group.negatives = [Answer(f"Wrong {k}.", "edits", pairs=(str(k),)) for k in range(6)]
        group.positives += [Answer(f"Twin {k}.", "twin", pairs=(str(k),)) for k in range(6)]
        for epoch in range(3):
            pairs, _ = PairSampler([group], Mix(1, {"edits": 2, "twin": 2}), seed).drawn(epoch)
            numbers = {
                word: {p.response[-2] for p in pairs if p.response.startswith(word)}
                for word in ("Wrong", "Twin")
            }
            assert numbers["Wrong"] == numbers["Twin"] and len(numbers["Twin"]) == 2

    def test_negatives_that_the_mix_does_not_name_are_counted(self) -> None:
        groups = make_groups(3)
        groups[0].negatives += [
            Answer(f"Wrong {k}.", "overlap", "C-ent", None, (), ("polarity_flip",)) for k in "ab"
        ]
        for mix, unused in (
            ({"random": 1}, {"edits": 12, "overlap": 2}),
            ({"edits": 1}, {"overlap": 2}),
            ({"C-cont": 1, "polarity_flip": 1}, {}),
            ({"edits": 1, "C-ent": 1}, {}),
        ):
            assert PairSampler(groups, Mix(1, mix), 0).drawn(0)[1].unused == unused

    def test_a_mix_can_name_a_transform(self) -> None:
        groups = make_groups(3)
        groups[0].negatives.append(Answer("It is not.", "all", "C-cont", None, (), ("polarity_flip",)))
        pairs, _ = PairSampler(groups, Mix(1, {"polarity_flip": 1}, {"polarity_flip": 2.0}), 0).drawn(0)
        assert [(pair.response, pair.weight) for pair in pairs if not pair.label] == [("It is not.", 2.0)]

    def test_a_negative_that_several_names_match_is_drawn_once(self) -> None:
        group = make_groups(1)[0]
        group.negatives.append(Answer("Wrong, too.", "edits", "C-ent"))
        mix = Mix(1, {"edits": 3, "C-cont": 2})
        for epoch in range(6):
            pairs, shortfall = PairSampler([group], mix, 0).drawn(epoch)
            wrong = [pair.response for pair in pairs if not pair.label]
            assert len(wrong) == len(set(wrong)) == 5 and not shortfall.responses
        pairs, shortfall = PairSampler([group], Mix(1, {"edits": 3, "C-cont": 4}), 0).drawn(0)
        assert len(pairs) == 1 + 5 and shortfall.responses == {"edits": 2}

    def test_the_repr_of_an_epoch_counts_pairs_by_source(self) -> None:
        pairs, _ = PairSampler(make_groups(3), Mix(2, EDITS), 0).drawn(0)
        assert repr(pairs) == "<EpochPairs: 15, of these 9 edits, 6 reference>"

    def test_a_single_context_has_no_random_responses(self) -> None:
        _, shortfall = PairSampler(make_groups(1), Mix(1, {"random": 2}), 0).drawn(0)
        assert (shortfall.contexts["random"], shortfall.responses["random"]) == (1, 2)

    @settings(max_examples=20)
    @given(st.integers(0, 999), st.integers(0, 3))
    def test_only_selected_groups_are_drawn(self, seed: int, epoch: int) -> None:
        wanted = {"own/1#1", "own/4#1", "own/5#1"}
        sampler = PairSampler(make_groups(6), Mix(1, {"random": 1}), seed, lambda group: group.id in wanted)
        said = {pair.response.split()[1] for pair in sampler.drawn(epoch)[0]}
        assert sampler.contexts == 3 and said <= {"1", "4", "5"}

    def test_the_digest_depends_on_pairs_and_weights(self) -> None:
        mixes = (Mix(1, EDITS), Mix(1, EDITS), Mix(1, EDITS, {"edits": 2.0}), Mix(2, EDITS))
        first, same, weighted, more = (
            PairSampler(make_groups(3), mix, 0).drawn(0)[0].digest for mix in mixes
        )
        assert first == same and len({first, weighted, more}) == 3

    def test_together_puts_the_pairs_of_a_context_next_to_each_other(self) -> None:
        pairs, _ = PairSampler(make_groups(9), Mix(2, EDITS), 1).drawn(0)
        together = pairs.grouped_by_context()
        assert Counter(together) == Counter(pairs) and together.right == pairs.right == 18
        contexts = [pair.id.partition("~")[0] for pair in together]
        runs = [one for one, before in zip(contexts, [None, *contexts], strict=False) if one != before]
        assert len(runs) == 9


class TestEpochs:
    @pytest.fixture
    def epochs(self) -> Epochs:
        return Epochs(PairSampler(make_groups(40), Mix(1, EDITS), 3).drawn, 3, batch=4)

    def test_each_epoch_has_each_of_its_pairs_once(self, epochs: Epochs) -> None:
        sampler = PairSampler(make_groups(40), Mix(1, EDITS), 3)
        rows = [epochs[at] for at in range(len(epochs))]
        assert len(rows) == 3 * 160
        for epoch in range(3):
            assert Counter(rows[160 * epoch : 160 * (epoch + 1)]) == Counter(sampler.drawn(epoch)[0])

    def test_pairs_have_indices_and_none_beyond_the_end(self, epochs: Epochs) -> None:
        rows = list(epochs)  # type: ignore[call-overload]
        assert [epochs[at] for at in (479, 3, 200, 159, 160)] == [rows[at] for at in (479, 3, 200, 159, 160)]
        for at in (480, -1):
            with pytest.raises(IndexError):
                epochs[at]

    def test_contexts_of_a_batch_have_similar_lengths(self, epochs: Epochs) -> None:
        lengths = [sum(map(len, epochs[at].context)) for at in range(160)]
        spans = [max(lengths[at : at + 4]) - min(lengths[at : at + 4]) for at in range(0, 160, 4)]
        assert sum(spans) / len(spans) < (max(lengths) - min(lengths)) / 4

    def test_balance_and_sources_are_counted(self, epochs: Epochs) -> None:
        assert epochs.balance == 3 and epochs.first == 160
        assert epochs.sources_of(999) == epochs.sources == {"reference": 120, "edits": 360}
        assert sum(epochs.sources_of(17).values()) == 17


class LengthEmbedder:
    """Embed a text as a one-hot vector of its length."""

    name = "lengths"

    def embed(self, texts: Sequence[str]) -> Any:
        return numpy.array([[float(len(text) == size) for size in range(30)] for text in texts])


class TestShortages:
    def test_each_source_and_each_of_its_categories_has_a_row(self) -> None:
        groups = make_groups(3)
        groups[0].negatives = [
            Answer("Wrong 0 0.", "edits", "C-ent"),
            Answer("Much too long.", "edits", "C-cont"),
        ]
        rows = shortages(PairSampler(groups, Mix(1, EDITS), 0), embedder=LengthEmbedder())
        assert [(row.name, row.category, row.contexts_lacking, row.requested, row.drawn) for row in rows] == [
            ("edits", "", 1, 9, 8), ("edits", "C-cont", 0, 7, 7), ("edits", "C-ent", 0, 1, 1),
        ]  # fmt: skip
        assert [row.contexts for row in rows] == [3, 3, 1]
        spread = rows[0].similarity
        assert spread is not None and (spread.count, spread.minimum, spread.median, spread.maximum) == (
            8,
            0,
            1,
            1,
        )

    def test_a_source_without_pairs_has_no_similarity(self) -> None:
        [row] = shortages(PairSampler(make_groups(1), Mix(1, {"random": 1}), 0), embedder=LengthEmbedder())
        assert row.similarity is None and (row.requested, row.drawn) == (1, 0)

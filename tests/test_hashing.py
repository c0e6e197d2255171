"""Test random numbers that depend only on a seed and names, and fingerprints of settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.hashing import fingerprint, number, shuffled, with_model_digests

NAMES = st.lists(st.text(max_size=4), max_size=3)


class TestNumbers:
    @given(st.integers(), NAMES)
    def test_have_64_bits_and_stay_the_same(self, seed: int, names: list[str]) -> None:
        assert 0 <= number(seed, *names) < 2**64
        assert number(seed, *names) == number(seed, *names)

    def test_tell_names_apart_where_their_letters_are_the_same(self) -> None:
        assert len({number(0, "ab", "c"), number(0, "a", "bc"), number(0, "abc")}) == 3

    def test_a_half_of_a_surrogate_pair_is_a_name(self) -> None:
        assert number(0, "\ud800") != number(0, "\udc00")


class TestOrders:
    @given(st.lists(st.integers(), unique=True), st.integers(0, 3))
    def test_do_not_depend_on_the_order_before(self, items: list[int], seed: int) -> None:
        other = sorted(items, key=lambda item: number(99, str(item)))
        assert shuffled(items, seed, "a") == shuffled(other, seed, "a")
        assert sorted(shuffled(items, seed, "a")) == sorted(items)

    def test_differ_from_seed_to_seed(self) -> None:
        assert len({tuple(shuffled(range(9), seed)) for seed in range(20)}) > 15


class TestFingerprints:
    def test_do_not_depend_on_the_order_of_keys(self) -> None:
        assert fingerprint({"a": 1, "b": [2, 3]}) == fingerprint({"b": [2, 3], "a": 1})

    def test_differ_where_a_list_has_another_order(self) -> None:
        assert fingerprint([1, 2]) != fingerprint([2, 1])

    def test_what_json_does_not_know_counts_by_its_text(self) -> None:
        assert fingerprint({"path": Path("a")}) == fingerprint({"path": "a"})
        assert fingerprint({"path": Path("a")}) != fingerprint({"path": Path("b")})


@pytest.mark.parametrize("config", ["config.json", "config.cfg"])
def test_a_model_that_was_replaced_at_the_same_path_has_another_digest(tmp_path: Path, config: str) -> None:
    def written(folder: str, weights: bytes) -> Path:
        (tmp_path / folder / "pooling").mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / config).write_text("{}")
        (tmp_path / folder / "model.safetensors").write_bytes(weights)
        return tmp_path / folder

    def settings(model: Path) -> str:
        return fingerprint(
            with_model_digests({"options": {"model": str(model), "judges": [model]}, "seed": 0})
        )

    weights = bytearray(5_000_000)
    before = settings(written("model", weights))
    assert settings(written("model", weights)) == before
    # Training changes all parts of a file. The sizes stay the same.
    weights[2_000_000:3_000_000] = b"\1" * 1_000_000
    changed = settings(written("model", weights))
    (tmp_path / "model" / "pooling" / "config.json").write_text("{}")
    assert len({before, changed, settings(tmp_path / "model")}) == 3
    assert with_model_digests({"a": ["x", 1, None, "\0", "~nobody/x", tmp_path]}) == {
        "a": ["x", 1, None, "\0", "~nobody/x", tmp_path]
    }

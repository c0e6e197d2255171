"""Tests that recipes sample their transforms by weight."""

from __future__ import annotations

from collections import Counter

import pytest

from graphneg.editing.recipes import get_recipe


@pytest.mark.parametrize("name", ["all", "deam"])
def test_groups_come_first_in_proportion_to_their_weights(name: str) -> None:
    recipe, dialogues = get_recipe(name), 4000
    orders = [recipe.group_order(0, str(dialogue)) for dialogue in range(dialogues)]
    assert all(sorted(order) == sorted(recipe.groups) for order in orders)
    weights = {group: max(map(recipe.weight, group)) for group in recipe.groups}
    first = Counter(order[0] for order in orders)
    for group, weight in weights.items():
        expected = dialogues * weight / sum(weights.values())
        # The standard deviation of the count is at most the square root of its expected value.
        assert abs(first[group] - expected) < 4 * expected**0.5, group

"""Tests of the corrections of dependency trees."""

from __future__ import annotations

import pytest

from graphneg.parsers.dependency.rules.trees import correct_trees, is_below, make_root, promote, reattach
from tests.parsers.rules.trees import tree

SEEN = "Dogs/NNS/nsubj/1 chase/VBP/ROOT/1 cats/NNS/dobj/1 often/RB/advmod/1"


def test_a_reattached_word_changes_its_head() -> None:
    dogs, chase, cats, often = tree(SEEN)
    reattach(often, cats, "amod")
    assert (often.parent, often.dep, chase.dependents, cats.dependents) == (cats, "amod", [0, 2], [3])
    reattach(chase, dogs, "relcl")
    assert dogs.dep == "ROOT" and chase.parent is dogs and is_below(often, dogs)


def test_a_promoted_word_takes_over_the_children() -> None:
    _, chase, cats, _ = tree(SEEN)
    promote(cats, chase)
    assert (cats.dep, cats.dependents, chase.dependents, chase.parent) == ("ROOT", [0, 1, 3], [], cats)


def test_a_new_root_is_above_the_former_one() -> None:
    _, chase, cats, _ = tree(SEEN)
    make_root(cats, chase, "dep")
    assert (cats.head, cats.dependents, chase.dep, chase.dependents) == (2, [1], "dep", [0, 3])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "There/EX/expl/1 is/VBZ/ROOT/1 no/DT/det/3 dog/NN/attr/1 barking/VBG/acl/3",
            {"barking": "ROOT", "dog": "nsubj", "no": "neg", "is": "aux"},
        ),
        (
            "\"/``/punct/4 Come/VB/ccomp/4 \"/''/punct/4 ,/,/punct/4 asked/VBD/ROOT/4 Tom/NNP/dobj/4",
            {"Tom": "nsubj", "Come": "ccomp"},
        ),
        ("She/PRP/nsubj/1 seemed/VBD/ROOT/1 tired/JJ/oprd/1", {"She": "nsubj", "tired": "ccomp"}),
        ("Turn/VB/ROOT/0 left/VBD/ccomp/0", {"left": "advmod"}),
        (
            "black/JJ/amod/3 and/CC/cc/0 white/JJ/conj/0 dogs/NNS/ROOT/3",
            {"black": "amod", "white": "amod", "and": "punct"},
        ),
        (
            "It/PRP/nsubj/1 rained/VBD/ccomp/5 ,/,/punct/5 so/RB/advmod/5 we/PRP/nsubj/5 left/VBD/ROOT/5",
            {"rained": "ROOT", "left": "advcl", "so": "mark"},
        ),
        (
            "You/PRP/nsubj/1 ran/VBD/ccomp/3 ,/,/dep/3 did/VBD/ROOT/3 n't/RB/neg/3 he/PRP/dep/3 ?/./punct/3",
            {"ran": "ROOT", "did": "tag", "n't": "tag", "he": "tag"},
        ),
        ("a/DT/det/1 building/NN/ROOT/1", {"a": "det", "building": "ROOT"}),
    ],
)
def test_common_errors_of_the_tree_are_corrected(text: str, expected: dict[str, str]) -> None:
    words = tree(text)
    correct_trees(words)
    assert {word.text: word.dep for word in words if word.text in expected} == expected
    (root,) = [word for word in words if word.head == word.i]
    assert all(word is root or is_below(word, root) for word in words)

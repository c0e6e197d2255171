"""Tests of the decoding of arcs into a connected graph, and of the scope of "no" in "No dog sleeps"."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.learned.arcs import (
    ScoredArc,
    decode,
    denial_features,
    denials,
    move_negation,
    scored_pairs,
)
from graphneg.parsers.dependency.learned.features import DraftFeatures, Paths, expand, kind_of, plain_role
from graphneg.parsers.dependency.learned.tables import Meanings, Model
from tests.parsers.rules.trees import tree

NO_ONE = "No/DT/det/1 dog/NN/nsubj/2 sleeps/VBZ/ROOT/2"
NOTHING_KNOWN = Meanings({}, {}, {}, {})
ARCS = st.builds(
    ScoredArc,
    st.floats(-9, 9),
    st.integers(0, 5),
    st.integers(0, 5),
    st.sampled_from(["ARG0", "ARG1", "mod", "polarity"]),
).filter(lambda arc: arc.head != arc.dep)


class TestDecoding:
    @given(st.lists(ARCS, max_size=30), st.frozensets(st.integers(0, 5), max_size=2))
    def test_decoding_takes_no_incompatible_arcs(
        self, arcs: list[ScoredArc], constants: frozenset[int]
    ) -> None:
        taken, given_up = decode(range(6), arcs, constants, 0.0, -4.0)
        assert all(count == 1 for count in Counter(frozenset((a.head, a.dep)) for a in taken).values())
        once = Counter((arc.head, arc.role) for arc in taken if arc.role != "mod")
        assert all(count == 1 for count in once.values())
        over = Counter(arc.dep for arc in taken if arc.dep in constants)
        assert all(count == 1 for count in over.values())
        assert not {end for arc in taken for end in (arc.head, arc.dep)} & set(given_up)

    def test_decoding_connects_parts_by_their_best_arc(self) -> None:
        arcs = [ScoredArc(-3.0, 0, 1, "ARG0"), ScoredArc(-3.5, 1, 0, "mod"), ScoredArc(-8.0, 2, 0, "time")]
        taken, given_up = decode([0, 1, 2], arcs, frozenset(), 0.0, -4.0)
        assert [arc.role for arc in taken] == ["ARG0"] and given_up == [2]

    def test_decoding_does_not_depend_on_the_order_of_arcs(self) -> None:
        arcs = [ScoredArc(1.0, 0, 1, "ARG0"), ScoredArc(2.0, 0, 2, "ARG0"), ScoredArc(1.0, 1, 2, "mod")]
        assert decode(range(3), arcs, frozenset(), 0.0, -4.0) == decode(
            range(3), arcs[::-1], frozenset(), 0.0, -4.0
        )


class TestNo:
    @pytest.mark.parametrize(
        ("text", "noun", "verb"),
        [
            (NO_ONE, "dog", "sleeps"),
            ("There/EX/expl/2 no/DT/neg/2 sleeps/VBZ/ROOT/2 dog/NN/nsubj/2", "dog", "sleeps"),
            ("No/DT/det/1 dog/NN/nsubj/2 is/VBZ/ROOT/2", None, None),
            ("eat/VB/ROOT/0 no/DT/det/2 meat/NN/dobj/0", None, None),
        ],
    )
    def test_no_before_a_subject_is_found(self, text: str, noun: str | None, verb: str | None) -> None:
        found = [(denial.noun.text, denial.verb.text) for denial in denials(tree(text))]
        assert found == ([(noun, verb)] if noun else [])

    @pytest.mark.parametrize(("weight", "denied"), [(2.0, "sleep-01"), (-2.0, "dog"), (1.0, "none")])
    def test_the_negation_moves_to_the_likelier_node(self, weight: float, denied: str) -> None:
        words = tree(NO_ONE)
        draft = GraphDraft("No dog sleeps", words)
        dog = draft.concept("dog", 1, "word")
        sleep = draft.concept("sleep-01", 2, "table", ARG0=dog)
        other = draft.concept("none", None, "test")
        draft.link(other, "polarity", draft.constant("-", 0, "no"), "no")
        draft.tops[0] = sleep
        model = Model({"denial": {"1": 0}}, {"denial": np.array([[weight], [0.0]], np.float32)})
        move_negation(model, draft)
        assert [draft.nodes[arc.head].label for arc in draft.arcs if arc.role == "polarity"] == [denied]
        assert draft.tops[0] == (dog if denied == "dog" else sleep)

    def test_features_include_the_words_after_the_noun(self) -> None:
        bag = denial_features(next(denials(tree(f"{NO_ONE} here/RB/advmod/2"))))
        assert {"n=dog", "v=sleep", "vt=VBZ", "k=advmod", "w=here", "b=sleeps_here"} <= set(bag)


class TestFeatures:
    def test_plain_roles_have_no_operand_numbers(self) -> None:
        assert [plain_role(role) for role in ("op12", "snt3", "ARG2", "time")] == [
            "op",
            "snt",
            "ARG2",
            "time",
        ]

    @pytest.mark.parametrize(
        ("label", "kind"),
        [
            ("be-from-91", "91"), ("eat-01", "frame"), ('"Rome"', "string"), ("12", "number"), ("-", "mark"),
            ("and", "and"), ("date-entity", "quantity"), ("blue", "concept"), ("t-shirt", "concept"),
        ],
    )  # fmt: skip
    def test_the_kind_of_a_label(self, label: str, kind: str) -> None:
        assert kind_of(label) == kind

    def test_paths_between_words_include_function_words(self) -> None:
        words = tree("Dogs/NNS/nsubj/1 sit/VBP/ROOT/1 on/IN/prep/1 chairs/NNS/pobj/2")
        paths = Paths(words)
        assert paths.between(0, 3) == ("nsubj<prep>pobj>", "nsubj<prep>pobj>/on", 3)
        assert paths.between(3, 0)[2] == 3 and paths.between(2, 2) == ("=", "=", 0)
        far = tree(" ".join(f"w/NN/dep/{max(n - 1, 0)}" for n in range(12)))
        assert Paths(far).between(0, 11)[:2] == ("far", "far")

    def test_pairs_are_within_a_sentence_and_headed_by_concepts(self) -> None:
        words = tree(NO_ONE)
        draft = GraphDraft("No dog sleeps", words)
        dog = draft.concept("dog", 1, "word")
        minus, sleep = draft.constant("-", 0, "no"), draft.concept("sleep-01", 2, "table")
        away = draft.concept("rain-01", None, "table", 1)
        pairs = set(scored_pairs(DraftFeatures(draft, NOTHING_KNOWN)))
        assert pairs == {(dog, minus), (sleep, minus), (dog, sleep), (sleep, dog)}
        assert not any(away in pair for pair in pairs)

    def test_feature_groups_expand_to_the_features_of_a_pair(self) -> None:
        words = tree(NO_ONE)
        draft = GraphDraft("No dog sleeps", words)
        sleep = draft.concept("sleep-01", 2, "table", ARG0=draft.concept("dog", 1, "word"))
        groups, single = DraftFeatures(draft, NOTHING_KNOWN).pair(sleep, 0)
        written = [feature for group in groups for feature in expand(group)]
        assert {"R=ARG0", "RH=ARG0,sleep-01", "RD=ARG0,dog", "P=nsubj>"} <= set(written)
        assert "HD=sleep,dog" in single

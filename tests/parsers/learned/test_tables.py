"""Tests of fragments (small graphs as text), of feature sums, and of candidate concepts for words."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.learned.concepts import (
    candidates,
    context_features,
    is_fixed,
    words_to_choose,
)
from graphneg.parsers.dependency.learned.tables import (
    GroupSums,
    Meanings,
    Model,
    Sense,
    draft_fragments,
    put_fragment,
    read_fragment,
    sense_keys,
    word_key,
    write_fragment,
)
from tests.parsers.rules.trees import tree

LABELS = st.lists(
    st.sampled_from(["person", "teach-01", "=-", ";x", "\\y", "a b", "=5"]), min_size=1, max_size=5
)
MEANINGS = Meanings(
    {"saw/v": {"see-01": (6, 2), "=1000": (1, 0), "": (3, 0)}},
    {"saw": [Sense("saw-01", "v", 3), Sense("saw-02", "n", 1)], "saw_off": [Sense("saw-off-03", "v", 1)]},
    {},
    {"dog": (1, 12)},
)


def model(rows: int) -> Model:
    weights = np.arange(2 * rows + 2, dtype=np.float32).reshape(rows + 1, 2)
    weights[-1] = 0
    return Model({"pair": {str(n): n for n in range(rows)}}, {"pair": weights})


class TestAFragment:
    @given(LABELS, st.data())
    def test_a_fragment_with_any_labels_is_read_back(self, labels: list[str], data: st.DataObject) -> None:
        node = st.integers(0, len(labels) - 1)
        arcs = data.draw(st.lists(st.tuples(node, st.sampled_from(["ARG0", "mod"]), node), max_size=3))
        text = write_fragment(labels, arcs)
        read = read_fragment(text)
        assert sorted(read.labels) == sorted("_".join(label.split()) for label in labels)
        assert write_fragment(read.labels, read.arcs) == text

    def test_a_fragment_does_not_depend_on_the_order_of_nodes(self) -> None:
        one = write_fragment(["person", "teach-01"], [(1, "ARG0", 0)])
        assert one == write_fragment(["teach-01", "person"], [(0, "ARG0", 1)])

    def test_a_replaced_fragment_keeps_its_arcs_to_other_words(self) -> None:
        draft = GraphDraft("dogs sing", tree("dogs/NNS/nsubj/1 sing/VBP/ROOT/1"))
        dog = draft.concept("dog", 0, "word")
        draft.concept("sing-01", 1, "table", ARG0=dog)
        put_fragment(draft, 0, "=- person", [dog])
        assert draft_fragments(draft)[0][0] == "=- person"
        assert draft.roles(1) == {"ARG0": dog} and draft.nodes[dog].concept == "person"
        put_fragment(draft, 0, "", draft_fragments(draft)[0][1])
        assert set(draft_fragments(draft)) == {1} and not draft.arcs

    def test_fragments_of_names_dates_and_numbers_are_fixed(self) -> None:
        for text in ("name person", "date-entity", "=12", '="Rome"'):
            assert is_fixed(text), text
        for text in ("person", "=-", "", "run-02"):
            assert not is_fixed(text), text


class TestANetwork:
    def test_rows_of_known_features_are_summed(self) -> None:
        sums = model(3).sums("pair", "pair", [["0", "2", "2"], ["unknown"], []])
        assert sums.tolist() == [[8.0, 11.0], [0.0, 0.0], [0.0, 0.0]]
        assert model(3).sums("pair", "pair", []).shape == (0, 2)

    def test_sums_of_groups_equal_sums_of_their_features(self) -> None:
        whole = model(4)
        groups = GroupSums(whole, "pair", lambda group: list(group))
        bags = [["01", "3"], ["3"], ["01", "01"]]
        features = [[feature for group in bag for feature in group] for bag in bags]
        assert np.array_equal(groups.sums(bags), whole.sums("pair", "pair", features))


class TestCandidates:
    def test_candidates_come_from_rules_training_data_senses_and_the_lemma(self) -> None:
        saw = tree("saw/VBD/ROOT/0 off/RP/prt/0")
        saw[0].lemma, saw[0].pos = "saw", "VERB"
        assert (word_key(saw[0]), sense_keys(saw[0])) == ("saw/v", ["saw", "saw_off"])
        found = candidates(MEANINGS, saw, 0, "cut-01", {})
        assert [candidate.fragment for candidate in found] == [
            "cut-01",
            "see-01",
            "saw-01",
            "saw-off-03",
            "saw",
        ]
        left = candidates(MEANINGS, saw, 0, "cut-01", {"see-01": (6, 2)})
        assert "see-01" not in [candidate.fragment for candidate in left]

    def test_candidates_of_an_imperative_keep_the_mood(self) -> None:
        saw = tree("saw/VB/ROOT/0")
        saw[0].lemma, saw[0].pos = "saw", "VERB"
        given = write_fragment(["saw-01", "=imperative"], [(0, "mode", 1)])
        found = [candidate.fragment for candidate in candidates(MEANINGS, saw, 0, given, {})]
        assert found[0] == given and all("=imperative" in fragment for fragment in found)

    def test_features_include_the_surrounding_words(self) -> None:
        words = tree("big/JJ/amod/1 dog/NN/nsubj/2 barks/VBZ/ROOT/2")
        features = context_features(MEANINGS, words, 1)
        assert {"l=dog", "hl=bark", "pl=big", "nl=barks", "g=1", "g=12", "kd=amod", "kl=amod,big"} <= set(
            features
        )
        assert "pl=^" in context_features(MEANINGS, words, 0)

    def test_only_words_without_a_fixed_concept_have_candidates(self) -> None:
        words = tree("dogs/NNS/nsubj/3 do/VBP/aux/3 n't/RB/neg/3 bark/VB/ROOT/3 at/IN/prep/3 all/DT/pobj/4")
        draft = GraphDraft("dogs do n't bark at all", words)
        draft.concept("bark-01", 3, "table", ARG0=draft.concept("dog", 0, "word"))
        draft.concept("at-all", 4, "multiword", last=5)
        assert [word.text for word, _, _ in words_to_choose(draft)] == ["dogs", "do", "bark"]

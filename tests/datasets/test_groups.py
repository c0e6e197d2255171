"""Tests of groups (a context with its correct and wrong responses) and of held-out texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from graphneg.datasets.groups import (
    REFERENCE,
    Answer,
    Entry,
    Group,
    HeldOut,
    LabelledContext,
    add_entry,
    entries_of,
    entry_from_record,
    groups_of_contexts,
    labelled_context,
    read_groups,
    read_usable_groups,
)
from graphneg.errors import InputError
from graphneg.model import Negative, Original, Turn
from tests.negative_samples import EXAMPLE
from tests.pair_samples import right, some, written, wrong


def twins(text: str, *pairs: str) -> list[Negative]:
    return [replace(right(1, text), id=f"{pair}.twin", recipe="twin", pair=pair) for pair in pairs]


class TestTwins:
    def test_are_right_responses_of_their_own_source_that_know_their_negatives(self) -> None:
        records = [right(1, "Yes."), *twins("So yes?", "p1", "p2"), replace(wrong(1, "So no?"), pair="p1")]
        [group] = read_groups([records])
        assert [(one.text, one.source, one.pairs) for one in group.positives] == [
            ("Yes.", REFERENCE, ()),
            ("So yes?", "twin", ("p1", "p2")),
        ]
        assert [one.pairs for one in group.negatives] == [("p1",)]

    def test_are_no_wrong_responses(self) -> None:
        records = [right(1, "Yes."), *twins("So yes?", "p1"), wrong(1, "SO yes ?"), wrong(1, "So no?")]
        [group] = read_groups([records])
        assert [one.text for one in group.negatives] == ["So no?"]

    def test_of_an_edited_reply_are_listed_once_with_it(self) -> None:
        records = [right(1, "Yes."), *twins("Yes.", "p1"), wrong(1, "No.")]
        [group] = read_groups([records])
        assert labelled_context(group).responses == ("Yes.", "No.")

    def test_of_an_edited_dialogue_keep_its_context(self) -> None:
        own, other = right(1, "Yes."), twins("Yes.", "p1")[0]
        edited = (other.context[0], Turn("B", "Do you?"))
        other = replace(other, context=edited, original=Original(own.context, None))
        [group] = read_groups([[own, other, wrong(1, "No.")]])
        assert group.positives[1].context == tuple(turn.text for turn in edited)
        assert labelled_context(group).positives == ("Yes.",)

    def test_alone_are_no_right_responses(self) -> None:
        with pytest.raises(InputError, match="no correct response"):
            read_groups([[*twins("So yes?", "p1"), wrong(1, "No.")]])


TEXTS = st.lists(st.text(min_size=1, max_size=8).filter(str.strip))


class TestHeldOut:
    @given(TEXTS, TEXTS)
    def test_held_out_texts_do_not_depend_on_the_order_of_additions(
        self, first: list[str], second: list[str]
    ) -> None:
        together = HeldOut([*second, *first])
        later = HeldOut(first)
        assert all(text in later for text in first)
        later.add(second)
        assert all(text in later for text in second)
        assert later.digest() == together.digest()

    @given(TEXTS, st.integers(0, 99))
    def test_other_texts_are_not_held_out(self, texts: list[str], at: int) -> None:
        assert f"nobody said {at}" not in HeldOut(texts)

    def test_case_and_white_space_are_ignored(self) -> None:
        assert " I  WILL. " in HeldOut(["i will."])

    def test_digests_of_different_texts_differ(self) -> None:
        assert "" not in HeldOut()
        assert HeldOut(["a"]).digest() != HeldOut(["b"]).digest() != HeldOut().digest()

    def test_held_out_texts_are_removed_from_a_group(self) -> None:
        group = Group("a#1", ("Hi.",), [Answer("Yes.", REFERENCE)], [Answer("No.", "x"), Answer("Now.", "x")])
        left = HeldOut(["YES.", "now."]).without_held_out(group)
        assert (left.positives, left.negatives) == ([], [Answer("No.", "x")])
        assert (left.id, left.context, left.size, group.size) == ("a#1", ("Hi.",), 1, 3)


class TestEntries:
    def test_the_source_of_a_correct_response_is_its_recipe_or_the_reference(self) -> None:
        assert entry_from_record(right(0, "Yes."), "here").source == REFERENCE
        assert (
            entry_from_record(replace(right(0, "Yes."), recipe="paraphrase"), "here").source == "paraphrase"
        )

    def test_transforms_come_from_edits_and_not_from_a_generator(self) -> None:
        assert entry_from_record(EXAMPLE, "here").transforms == ("polarity_flip",)
        generated = replace(EXAMPLE, recipe="polarity_flip", amr={})
        assert entry_from_record(generated, "here").transforms == ()

    def test_the_response_is_correct_after_the_unedited_context(self) -> None:
        before = (Turn("A", "I like tea."),)
        record = replace(wrong(0, "Me too."), original=Original(before, None))
        entry = entry_from_record(record, "here")
        assert (entry.context, entry.right) == (("I like tea.",), "Me too.")
        assert entry.edited_context == tuple(turn.text for turn in record.context)

    def test_a_wrong_response_without_an_original_has_no_correct_one(self) -> None:
        assert entry_from_record(wrong(0, "No."), "here").right is None

    @pytest.mark.parametrize("label", [-1, 2])
    def test_an_invalid_label_is_refused(self, label: int) -> None:
        with pytest.raises(InputError, match=f"here: the label is {label}, but must be 1"):
            entry_from_record(replace(EXAMPLE, label=label), "here")

    def test_files_and_objects_give_the_same_entries(self, tmp_path: Path) -> None:
        path = written(some(3), tmp_path / "some.jsonl")
        assert list(entries_of(path)) == list(entries_of(str(path))) == list(entries_of(some(3)))


class TestGroups:
    def test_equal_answers_are_kept_once(self) -> None:
        group = Group("a#1", ("Hi.",))
        entry = Entry("a#1", "train", ("Hi.",), ("Hi.",), "No.", 0, "edits", ("C-cont",), (), "Yes.")
        for _ in range(2):
            add_entry(group, entry)
        assert group.positives == [Answer("Yes.", REFERENCE)]
        assert group.negatives == [Answer("No.", "edits", "C-cont")]

    def test_an_answer_keeps_categories_and_transforms_of_all_its_records(self) -> None:
        edits = [
            replace(EXAMPLE.edits[0], transform=name) for name in ("antonym_substitution", "entity_swap")
        ]
        records = [
            replace(wrong(0, "No."), categories=categories, edits=(edit,), amr=EXAMPLE.amr)
            for categories, edit in zip((["C-ent"], ["C-ent", "C-cont"]), edits, strict=True)
        ]
        [group] = read_groups([[right(0, "Yes."), *records]])
        [answer] = group.negatives
        assert (answer.category, answer.categories) == ("C-ent", ("C-ent", "C-cont"))
        assert answer.transforms == ("antonym_substitution", "entity_swap")

    def test_equal_texts_of_two_sources_are_two_answers(self) -> None:
        [group] = read_groups([[right(0, "Yes."), wrong(0, "No.", "edits"), wrong(0, "No.", "overlap")]])
        assert [answer.source for answer in group.negatives] == ["edits", "overlap"]

    def test_groups_are_in_the_order_of_their_first_record(self) -> None:
        sources = [[wrong(5, "No."), right(1, "Yes.")], [right(5, "It is.")]]
        assert [group.id for group in read_groups(sources)] == ["own/train/5#2", "own/train/1#2"]

    def test_a_wrong_response_equal_to_a_correct_one_up_to_spacing_is_left_out(self) -> None:
        records = [right(0, "I don't know, sir."), wrong(0, "I do n't know , sir ."), wrong(0, "No.")]
        groups, left_out = read_usable_groups([records])
        assert ([answer.text for answer in groups[0].negatives], left_out) == (["No."], 1)

    def test_a_correct_response_is_wrong_only_after_an_edited_context(self) -> None:
        before = right(0, "").context
        edited = (Turn("A", "Is it 1?"), before[1])
        spaced = tuple(Turn(turn.speaker, turn.text.replace("?", " ?")) for turn in before)
        records = [
            replace(wrong(0, "Yes."), context=context, original=Original(before, None))
            for context in (edited, spaced)
        ]
        [group] = read_groups([records])
        assert [answer.context for answer in group.negatives] == [("Is it 1?", "No, more than 0.")]

    def test_labelled_contexts_become_groups_with_a_source_for_each_kind(self) -> None:
        choices = LabelledContext(
            "a", ("Hi.",), ("Yes.",), {"random": ("Fish.",), "adversarial": ("Hi, no.", "Bye.")}
        )
        [group] = groups_of_contexts([choices])
        assert [answer.text for answer in group.positives + group.negatives] == list(choices.responses)
        assert [answer.source for answer in group.negatives] == ["random", "adversarial", "adversarial"]
        assert group.positives == [Answer("Yes.", REFERENCE)] and group.context == ("Hi.",)

    def test_a_labelled_context_keeps_sources_transforms_and_categories(self) -> None:
        edited = replace(EXAMPLE, response="Me too.", original=Original(SAID, None))
        [group] = read_groups(
            [[wrong(0, "No.", "overlap", ""), right(0, "Yes."), *_moved_to(0, [EXAMPLE, edited])]]
        )
        choices = labelled_context(group)
        assert choices.positives == ("Yes.", "I like it.", "Me too.")
        assert choices.negatives == {"overlap": ("No.",), "deam": ("I don't like it.", "Me too.")}
        assert choices.parts == {("transform", "polarity_flip"): (4, 5), ("category", "C-cont"): (4, 5)}
        assert [*choices.edited] == [5] and choices.responses[5] == "Me too."


SAID = (Turn("A", "Is it 0?"), Turn("B", "No, more than 0."))


def _moved_to(context: int, records: list[Negative]) -> list[Negative]:
    """Return the records with the dialogue and the context number `context` of `pair_samples`."""
    template = right(context, "")
    return [
        replace(record, dialogue=template.dialogue, split=template.split, context=place)
        for record in records
        for place in [template.context if record.original.context is None else record.context]
    ]

"""Tests of the records that are made from candidates: responses and edited dialogues."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from graphneg.errors import GeneratorError, InputError
from graphneg.generators.base import Candidate, Context, TurnEdit
from graphneg.generators.generated import Generation, negative_from_candidate, usable_candidates
from graphneg.model import EditRecord, Original, Turn


def test_the_edit_of_a_response_has_its_source_and_details(context: Context) -> None:
    details = {"source": "pool/7", "shared": "boat", "exchanged": "car > boat"}
    made = negative_from_candidate(
        context, Candidate("A boat?", ("C-follow",), {"shared": 1.0}, details), "x", 3, 2
    )
    assert (made.id, made.seed, made.recipe, made.target) == ("own/test/1#2~x.3.2", 3, "x", "response")
    edit = EditRecord(2, "x", "C-follow", "pool/7", "shared: boat; exchanged: car > boat", "A boat?")
    assert made.edits == (edit,)
    assert made.original == Original(None, "What a pity!")


def test_a_response_without_a_source_has_no_node_and_no_text_before(context: Context) -> None:
    [edit] = negative_from_candidate(context, Candidate("Hm.", ("C-follow",)), "x", 0, 0).edits
    assert edit.node is None and edit.before is None


def test_a_correct_response_keeps_its_label_and_has_no_edit(context: Context) -> None:
    made = negative_from_candidate(context, Candidate("So soon?", (), label=1), "x", 0, 0)
    assert made.label == 1 and made.edits == () and made.categories == ()


def test_an_edited_dialogue_has_its_edits_and_original_turns(context: Context) -> None:
    swapped = (replace(context.turns[0], text="My uncle sold it."), replace(context.turns[1], text="Is it?"))
    edits = (TurnEdit(0, "Is it?", "My uncle sold it.", "d#1"), TurnEdit(1, "My uncle sold it.", "Is it?"))
    candidate = Candidate("What a pity!", ("C-a", "C-b"), context=swapped, turn_edits=edits)
    made = negative_from_candidate(context, candidate, "shuffle", 0, 0)
    assert made.target == "dialogue"
    assert [(edit.turn, edit.category) for edit in made.edits] == [
        (0, "C-a"),
        (1, "C-a"),
        (0, "C-b"),
        (1, "C-b"),
    ]
    assert made.original.context == context.turns
    assert made.original.response is None, "the response is what it was"


def test_a_changed_last_turn_is_recorded_as_the_original_response(context: Context) -> None:
    candidate = Candidate("Nine.", ("C-a",), context=context.turns, turn_edits=(TurnEdit(2, None, "Nine."),))
    made = negative_from_candidate(context, candidate, "x", 0, 0)
    assert made.original == Original(None, "What a pity!")


def test_a_context_without_correct_responses_has_no_original_response() -> None:
    bare = Context("d#1", "d", "t", "d", 1, (Turn("A", "Hello?"),), "B")
    assert negative_from_candidate(bare, Candidate("No.", ("C-follow",)), "x", 0, 0).original.response is None


@pytest.mark.parametrize(
    ("texts", "kept", "code"),
    [
        (["", "Nine."], ["Nine."], "empty"),
        ([" \n", "Nine."], ["Nine."], "empty"),
        (["what a pity !", "Nine."], ["Nine."], "right-response"),
        (["My uncle sold it on friday."], [], "copies-context"),
        (["Is the boat still for sale?"], ["Is the boat still for sale?"], ""),
        (["One.", "Two.", "Three."], ["One.", "Two."], "too-many"),
    ],
)
def test_unusable_candidates_are_dropped_with_a_reason(
    context: Context, texts: list[str], kept: list[str], code: str
) -> None:
    candidates = [Candidate(text, ("C-follow",)) for text in texts]
    usable, dropped = usable_candidates(context, candidates, 2, "x")
    assert [one.text for one in usable] == kept
    assert [reason.partition(":")[0] for reason in dropped] == ([code] if code else [])


def test_intended_correct_responses_are_not_dropped(context: Context) -> None:
    candidates = [
        Candidate("What a pity!", (), label=1),
        Candidate("What a pity!", ("C-follow",), context=context.turns[::-1]),
    ]
    assert usable_candidates(context, candidates, 2, "x") == (candidates, [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("Nine.", "generator x returned a str as a candidate"),
        (Candidate(9, ("C-follow",)), "text of a candidate must be a string, not 9"),  # pyright: ignore
        (Candidate("Nine.", "C-follow"), r"are a tuple, \('C-follow',\), not"),  # pyright: ignore
        (Candidate("Nine.", ("C-odd",)), "category 'C-odd' is not one of C-ent, "),
    ],
)
def test_an_invalid_candidate_is_refused(context: Context, given: Any, message: str) -> None:
    with pytest.raises(GeneratorError, match=message):
        usable_candidates(context, [given], 1, "x")


@pytest.mark.parametrize("wrong", [{"per_context": 0}, {"batch": 0}])
def test_zero_negatives_or_batches_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match="the number of negatives per context and the batch size"):
        Generation(**wrong)

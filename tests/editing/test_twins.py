"""Negatives with their twins and proofs: from loaded dialogues, the same on every server."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.editing.generation import Negatives
from graphneg.errors import InputError
from graphneg.merging import merge
from graphneg.model import Negative
from graphneg.records.files import negative_to_json, read_jsonl
from graphneg.store.connection import Store
from tests.interrupting import StopsAt
from tests.servers import wipe

CLAIMS = ["negated_claim", "thing_claim", "asked_claim"]
LIMIT = 40
ORIGINAL: dict[str, list[str]] = {}
"""The first output of each request, on whichever server came first."""


@pytest.fixture(scope="module")
def dialogues(store: Store) -> Generator[DialogueGraph]:
    """The bundled corpus on each server."""
    wipe(store)
    graph = DialogueGraph(store)
    graph.load("everyday")
    yield graph
    wipe(store)


def stream(dialogues: DialogueGraph, recipe: str = "all", **options: Any) -> Negatives:
    asked: dict[str, Any] = {"limit": LIMIT, "splits": ["train"], "per_dialogue": 2, **options}
    made = dialogues.negatives(recipe, **asked)
    assert isinstance(made, Negatives)
    return made


def pairs_of(records: list[Negative]) -> list[tuple[Negative, Negative]]:
    return list(zip(records[::2], records[1::2], strict=True))


def has_edited_context(twin: Negative) -> bool:
    """Return whether the reply of a twin is that of its negative, after an edited turn."""
    return len(twin.amr) == 2


class TestTwins:
    @pytest.mark.parametrize("batch", [1, 7, 200])
    def test_follow_their_negatives_with_the_same_bytes_everywhere(
        self, dialogues: DialogueGraph, batch: int
    ) -> None:
        records = list(stream(dialogues, twins=True, batch=batch))
        lines = list(map(negative_to_json, records))
        assert lines == ORIGINAL.setdefault("all", lines)
        assert len(records) > LIMIT
        for negative, twin in pairs_of(records):
            assert (negative.label, twin.label) == (0, 1)
            assert negative.pair == twin.pair == negative.id
            assert twin.id == f"{negative.id}.twin" and twin.recipe == "twin"
            assert (twin.dialogue, twin.turn) == (negative.dialogue, negative.turn)
            if has_edited_context(twin):
                assert twin.response == negative.response
                assert twin.original.context == negative.context
            else:
                assert twin.response != negative.response
                assert twin.context == negative.context

    def test_of_composed_replies_lack_the_change_or_follow_a_context_with_the_same_change(
        self, dialogues: DialogueGraph
    ) -> None:
        found = pairs_of(list(stream(dialogues, transforms=["negated_claim"], twins=True)))
        assert found
        for negative, twin in found:
            assert negative.frame == twin.frame
            after = twin.amr[str(twin.turn)].after or ""
            assert (after == negative.amr[str(negative.turn)].after) is has_edited_context(twin)

    def test_of_edited_replies_are_the_replies_as_loaded(self, dialogues: DialogueGraph) -> None:
        found = pairs_of(list(stream(dialogues, transforms=["person_swap"], twins=True)))
        assert found
        for negative, twin in found:
            assert twin.response == negative.original.response
            assert not twin.edits and twin.original.response is None

    def test_are_not_the_right_replies_if_the_whole_reply_was_replaced(
        self, dialogues: DialogueGraph
    ) -> None:
        made = stream(dialogues, transforms=["topical_statement"], target="response", twins=True)
        assert not list(made) and made.summary.skipped["no-twin"] > 0

    def test_of_added_sentences_add_the_unchanged_sentence(self, dialogues: DialogueGraph) -> None:
        whole: dict[str, Any] = {"limit": None, "splits": ()}
        made = stream(dialogues, transforms=["self_contradiction"], target="response", twins=True, **whole)
        found = pairs_of(list(made))
        assert found
        for negative, twin in found:
            right = negative.original.response or ""
            assert negative.response != twin.response
            # "I need beef. I hate tea" and "I need beef. I love tea" begin with the reply "I need beef".
            for reply in (negative.response, twin.response):
                assert len(reply) > len(right) and reply[: len(right) - 1] == right[:-1]

    def test_seldom_lack_a_negation_that_only_the_negative_contains(self, dialogues: DialogueGraph) -> None:
        whole: dict[str, Any] = {"limit": None, "splits": ()}
        made = stream(dialogues, transforms=["negated_claim"], twins=True, **whole)
        found = pairs_of(list(made))
        only = [pair for pair in found if "n't" in pair[0].response and "n't" not in pair[1].response]
        assert len(found) > 20 and len(only) < len(found) / 3

    def test_are_counted_apart_and_a_negative_without_one_is_left_out(self, dialogues: DialogueGraph) -> None:
        made = stream(dialogues, transforms=["asked_claim"], target="response", twins=True)
        assert not list(made)
        assert made.summary.skipped["no-twin"] > 0
        made = stream(dialogues, twins=True)
        records = list(made)
        assert made.summary.negatives == made.summary.twins == len(records) // 2
        assert len(made) == len(records)

    def test_of_whole_dialogues_exist_only_for_composed_replies(self, dialogues: DialogueGraph) -> None:
        made = stream(dialogues, "deam", target="dialogue", twins=True)
        assert not list(made) and made.summary.skipped["no-twin"] > 0
        made = stream(dialogues, transforms=["negated_claim"], target="dialogue", twins=True)
        for negative, twin in pairs_of(list(made)):
            assert negative.target == twin.target == "dialogue"
            # The turn before the reply is edited, or the reply itself.
            edited = int(next(iter(negative.amr))) - has_edited_context(twin)
            said = [[*(turn.text for turn in one.context), one.response] for one in (negative, twin)]
            assert [k for k, texts in enumerate(zip(*said, strict=True)) if texts[0] != texts[1]] == [edited]

    def test_of_composed_replies_do_not_follow_a_question(self, dialogues: DialogueGraph) -> None:
        transforms = ["negated_claim", "modality_claim", "thing_claim"]
        made = list(stream(dialogues, transforms=transforms))
        assert any("?" in negative.context[-1].text for negative in made)
        found = pairs_of(list(stream(dialogues, transforms=transforms, twins=True)))
        assert found
        assert not [twin for _, twin in found if "?" in twin.context[-1].text]

    def test_are_not_made_unasked(self, dialogues: DialogueGraph) -> None:
        assert {(one.label, one.pair) for one in stream(dialogues)} == {(0, None)}

    def test_are_made_of_edited_graphs_only(self, dialogues: DialogueGraph) -> None:
        with pytest.raises(InputError, match="'hard' edits no graphs, so it makes no twins"):
            dialogues.negatives("hard", twins=True)

    def test_survive_an_interrupted_run(self, dialogues: DialogueGraph, tmp_path: Path) -> None:
        whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
        stream(dialogues, twins=True, batch=5).to_jsonl(whole)
        with pytest.raises(KeyboardInterrupt):
            stream(dialogues, twins=True, batch=5, progress=StopsAt(10)).to_jsonl(out)
        resumed = stream(dialogues, twins=True, batch=5)
        summary = resumed.to_jsonl(out)
        assert resumed.resumed.negatives > 0
        assert out.read_bytes() == whole.read_bytes()
        assert summary.twins == summary.negatives == len(resumed) // 2
        with pytest.raises(InputError, match="made with other settings"):
            stream(dialogues, batch=5).to_jsonl(out)

    def test_of_shards_are_those_of_one_run(self, dialogues: DialogueGraph, tmp_path: Path) -> None:
        whole = list(map(negative_to_json, stream(dialogues, twins=True, limit=None)))
        out = tmp_path / "out.jsonl"
        for shard in ("1/2", "2/2"):
            stream(dialogues, twins=True, limit=None, shard=shard).to_shard(out)
        merge([f"{out}.1-of-2", f"{out}.2-of-2"], out)
        assert list(map(negative_to_json, read_jsonl(out))) == whole


class TestARecord:
    def test_of_a_composed_reply_names_its_error_and_the_evidence(self, dialogues: DialogueGraph) -> None:
        records = [one for name in CLAIMS for one in stream(dialogues, transforms=[name], target="response")]
        assert {one.error_type for one in records} == set(CLAIMS)
        for one in records:
            assert one.evidence is not None and one.frame is not None and one.distance is not None
            assert one.evidence.turn + one.distance == one.turn
            assert one.evidence.words in one.context[one.evidence.turn].text

    def test_of_an_edited_reply_has_no_evidence(self, dialogues: DialogueGraph) -> None:
        for one in stream(dialogues, transforms=["person_swap"]):
            assert (one.error_type, one.evidence, one.distance, one.frame) == (
                "person_swap",
                None,
                None,
                None,
            )
            assert one.proved is None

    def test_of_several_edits_has_no_single_error_type(self, dialogues: DialogueGraph) -> None:
        for one in stream(dialogues, "deam"):
            names = {edit.transform for edit in one.edits}
            assert one.error_type == (names.pop() if len(names) == 1 else None)

    def test_is_the_same_when_it_is_explained(self, dialogues: DialogueGraph) -> None:
        for one in list(stream(dialogues, transforms=["negated_claim"]))[:3]:
            assert dialogues.explain(one.id).negative == one


class TestProofs:
    def test_are_found_for_most_claims_and_counted(self, dialogues: DialogueGraph) -> None:
        made = stream(dialogues, transforms=["negated_claim"])
        records = list(made)
        proved = sum(one.proved is True for one in records)
        assert proved > len(records) / 2
        assert made.summary.proofs[True] == proved
        assert made.summary.proofs.total() == len(records)

    def test_can_be_required(self, dialogues: DialogueGraph) -> None:
        made = stream(dialogues, proved=True)
        assert {one.proved for one in made} == {True}
        unproved = stream(dialogues, transforms=["person_swap"], proved=True)
        assert not list(unproved)
        assert unproved.summary.skipped["unproved"] > 0

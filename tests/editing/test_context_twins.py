"""Twins whose context gets the change of the reply: "I don't like tea." before "Why don't you like tea?"."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from graphneg.amr.overlay import apply_edits
from graphneg.amr.penman import format_graph, parse_graph
from graphneg.dialogue_graph import DialogueGraph
from graphneg.editing.context_twins import edits_of_statement, refusal_of_texts
from graphneg.errors import TransformError
from graphneg.model import Edit, Negative
from graphneg.store.connection import Store
from graphneg.store.dialogues import StoredTurn
from tests.loaded_dialogues import parsed
from tests.servers import wipe

CLAIMS = [
    "negated_claim", "thing_claim", "time_claim", "quantity_claim", "quantifier_claim",
    "modality_claim", "tense_claim",
]  # fmt: skip
BEFORE = "It's cold in here."
AFTER = "All right."
EDITED = {
    ("negated_claim", "I play the guitar."): {"I do not play the guitar."},
    ("negated_claim", "I don't play the guitar."): {"I play the guitar."},
    ("negated_claim", "Hello, Mr. Baker. I've lost my key."): {"Hello, Mr. Baker. I haven't lost my key."},
    ("negated_claim", "Great, I'll buy the boat."): {"I won't buy the boat."},
    ("quantity_claim", "My sister bought four boats."): {"My sister bought eight boats."},
    ("time_claim", "The customer expects it on Wednesday."): {"The customer expects it on Sunday."},
    ("quantifier_claim", "I always drink tea in the morning."): {"I never drink tea in the morning."},
    ("modality_claim", "I want to paint the kitchen."): {"I have to paint the kitchen."},
    ("tense_claim", "I want to paint the kitchen."): {"I've already painted the kitchen."},
}
"""The last turns before a reply, each with a transform, and the edited turns of the reply's twins."""
UNEDITED = {
    "another speaker's turn follows": ("negated_claim", ["I play the guitar.", "Really.", "Every day."]),
    "a yes/no question": ("negated_claim", ["Do you make music?", "I play the guitar."]),
    "a question": ("negated_claim", ["What do you do?", "I play the guitar."]),
    "an own question": ("negated_claim", [BEFORE, "I play the guitar. And you?"]),
    "a link": ("negated_claim", [BEFORE, "But I play the guitar."]),
    "a relation": ("negated_claim", [BEFORE, "I play the guitar, too."]),
    "an aside": ("negated_claim", [BEFORE, "I play the guitar. It belongs to my sister."]),
    "a condition": ("negated_claim", [BEFORE, "I play the guitar if I have time."]),
    "a reason": ("negated_claim", [BEFORE, "I play the guitar since I love music."]),
    "a mention": ("thing_claim", ["The car is new.", "I want to wash the car."]),
    "a repetition": ("negated_claim", ["I have a dog.", "You have a dog."]),
}
"""Turns before a reply whose twin must not edit them."""


def opened(store: Store, folder: Path, talks: Sequence[Sequence[str]]) -> DialogueGraph:
    """Load and parse dialogues with these turns, with a neutral turn as the response."""
    return parsed(store, folder, [(*said, AFTER) for said in talks])


def pairs(graph: DialogueGraph, *transforms: str, per_dialogue: int = 4) -> list[tuple[Negative, Negative]]:
    made = graph.negatives(
        transforms=list(transforms), target="response", twins=True, per_dialogue=per_dialogue
    )
    records = list(made)
    return [(records[k], records[k + 1]) for k in range(0, len(records), 2)]


def is_context_twin(twin: Negative) -> bool:
    """Return whether the context of a twin of the last turn is edited."""
    return twin.original.context is not None and twin.original.response == AFTER


def edited_turns(found: Sequence[tuple[Negative, Negative]]) -> dict[str, set[str]]:
    """Return the edited turns of context twins of the last turn, keyed by the id of the dialogue."""
    turns: dict[str, set[str]] = {}
    for _, twin in found:
        if is_context_twin(twin):
            turns.setdefault(twin.dialogue.rpartition("/")[2], set()).add(twin.context[-1].text)
    return turns


@pytest.fixture(scope="module")
def edited(embedded: Store, tmp_path_factory: pytest.TempPathFactory) -> Generator[DialogueGraph]:
    talks = [[BEFORE, said] for _, said in EDITED]
    yield opened(embedded, tmp_path_factory.mktemp("edited"), talks)
    wipe(embedded)


class TestStatements:
    def test_get_the_change_of_the_reply(self, edited: DialogueGraph) -> None:
        for number, ((transform, said), expected) in enumerate(EDITED.items()):
            turns = edited_turns(pairs(edited, transform)).get(f"{number:03}", set())
            assert turns == expected, (said, turns)

    def test_are_the_only_difference_between_a_negative_and_its_twin(self, edited: DialogueGraph) -> None:
        found = [pair for name in CLAIMS for pair in pairs(edited, name)]
        twins = [(negative, twin) for negative, twin in found if is_context_twin(twin)]
        assert len(twins) > len(EDITED)
        for negative, twin in twins:
            assert (twin.label, twin.recipe, twin.pair) == (1, "twin", negative.id)
            assert twin.response == negative.response
            assert twin.original.context == negative.context
            texts = zip(negative.context, twin.context, strict=True)
            assert [one != other for one, other in texts] == [False, True]
            assert {edit.turn for edit in twin.edits} == {1, 2}
            assert sorted(twin.amr) == ["1", "2"]

    def test_are_not_edited_for_replies_that_object(self, edited: DialogueGraph) -> None:
        frames = {twin.frame for name in CLAIMS for _, twin in pairs(edited, name) if twin.original.context}
        assert frames and frames <= {"check", "why", "surprise", "meaning"}

    def test_keep_their_places_whatever_the_batch(self, edited: DialogueGraph) -> None:
        options = {"target": "response", "twins": True, "per_dialogue": 3}
        whole = list(edited.negatives(transforms=CLAIMS, **options))  # type: ignore[arg-type]
        assert whole == list(edited.negatives(transforms=CLAIMS, batch=1, **options))  # type: ignore[arg-type]


def test_statements_that_other_turns_or_sentences_depend_on_are_not_edited(
    embedded: Store, tmp_path: Path
) -> None:
    graph = opened(embedded, tmp_path, [turns for _, turns in UNEDITED.values()])
    for number, (reason, (transform, _)) in enumerate(UNEDITED.items()):
        turns = edited_turns(pairs(graph, transform)).get(f"{number:03}")
        assert turns is None, (reason, turns)
    wipe(embedded)


def test_an_offer_of_help_is_answered_by_another_wish(embedded: Store, tmp_path: Path) -> None:
    graph = opened(embedded, tmp_path, [["May I help you?", "Yes, I'd like to return this book."]])
    turns = edited_turns(pairs(graph, "modality_claim", "negated_claim"))
    assert turns == {"000": {"I have to return this book."}}
    wipe(embedded)


def test_in_whole_dialogues_only_the_last_reply_follows_an_edited_statement(
    embedded: Store, tmp_path: Path
) -> None:
    graph = opened(embedded, tmp_path, [["I play the guitar.", "Oh.", "I play the drums as a hobby."]])
    made = list(graph.negatives(transforms=["negated_claim"], target="dialogue", twins=True, per_dialogue=6))
    twins = [twin for twin in made[1::2] if twin.original.context is not None and len(twin.edits) > 1]
    for twin in twins:
        assert {edit.turn for edit in twin.edits} == {twin.turn - 1, twin.turn}
    wipe(embedded)


SAY = Edit(
    "own", "C-cont", "s", "say", "d#2", 0, from_amr="d#1", from_position=0, voice="other", frame="check"
)
NOT = Edit("own", "C-cont", "s", "add", "d#2", 0, role="polarity", value="-", copy_of="d#1")
DROP = NOT._replace(op="drop", position=1, role=None, value=None)
COFFEE = Edit("own", "C-ent", "s", "set", "d#2", 2, concept="coffee", copy_of="d#1")
HE = COFFEE._replace(concept="he")
MUST = Edit("own", "C-cont", "s", "wrap", "d#2", -1, concept="obligate-01", role="ARG2", copy_of="d#1")


def turns_of(*texts: str) -> list[StoredTurn]:
    return [StoredTurn(k, "AB"[k % 2], text, f"d#{k}") for k, text in enumerate((*texts, AFTER))]


@pytest.mark.parametrize(
    ("before", "said", "say", "change", "reason"),
    [
        (BEFORE, "I like tea.", SAY, NOT, None),
        (BEFORE, "Hi, Anna. I like tea.", SAY, NOT, None),
        (BEFORE, "Oh, great. I like tea.", SAY, NOT, None),
        ("Where are you?", "I'm in the café.", SAY, COFFEE, None),
        ("What can I do for you?", "I need some tea.", SAY, COFFEE, None),
        ("May I help you?", "I want some tea.", SAY, MUST, None),
        (BEFORE, "I like tea.", SAY._replace(frame="said"), NOT, "in the frame 'said'"),
        (BEFORE, "I like tea.", SAY._replace(frame="ask"), NOT, "in the frame 'ask'"),
        (BEFORE, "I like tea.", SAY._replace(voice="own", frame="claim"), NOT, "in the frame 'claim'"),
        (BEFORE, "Sit down.", SAY._replace(concept="want-01"), NOT, "a request"),
        (BEFORE, "I like tea.", SAY, HE, "another person"),
        (BEFORE, "I like tea.", SAY._replace(from_amr="d#0"), NOT, "turns between"),
        (BEFORE, "I like tea. And you?", SAY, NOT, "asks a question"),
        ("Do you like it?", "I like tea.", SAY, NOT, "answers a yes/no question"),
        ("Do you like it?", "I like tea.", SAY, COFFEE, "answers a yes/no question"),
        ("What do you like?", "I like tea.", SAY, NOT, "answers a question"),
        ("May I help you?", "I want some tea.", SAY, NOT, "answers a yes/no question"),
        (BEFORE, "And I like tea.", SAY, NOT, "begins with 'and'"),
        (BEFORE, "Me, I like tea.", SAY, NOT, "begins with 'me'"),
        (BEFORE, "I'm tired. I need tea.", SAY, NOT, "another sentence"),
        (BEFORE, "I need tea. It keeps me awake.", SAY, COFFEE, "'it' may refer"),
        (BEFORE, "I like tea as well.", SAY, NOT, "'as_well' relates"),
        (BEFORE, "It's such a nice day.", SAY, NOT, "'such' relates"),
        (BEFORE, "It's late.", SAY._replace(frame="why"), NOT, "impersonal"),
        (BEFORE, "I can bring tea.", SAY._replace(frame="why"), COFFEE, "nobody asks"),
        (BEFORE, "I had no tea.", SAY, DROP, "the negation"),
        (BEFORE, "I don't have tea.", SAY, DROP, None),
        (BEFORE, "I had a hundred cups.", SAY, COFFEE._replace(concept=None, value="200"), "begins with 'a'"),
        (BEFORE, "It is 60% cotton.", SAY, COFFEE._replace(concept=None, value="120"), "at most 100%"),
    ],
)
def test_the_texts_of_the_turns_show_whether_a_statement_can_be_edited(
    before: str, said: str, say: Edit, change: Edit, reason: str | None
) -> None:
    found = refusal_of_texts(turns_of(before, said), 2, say, [change])
    assert found is reason is None or (reason is not None and found is not None and reason in found), found


class TestEdits:
    TEA = "(w / want-01 :ARG0 (i / i) :ARG1 (d / drink-01 :ARG0 i :ARG1 (t / tea)))"

    def edited(self, text: str, say: Edit, *changes: Edit) -> str:
        [turn] = [turn for turn in turns_of(BEFORE, text) if turn.turn == 1]
        graph = parse_graph(self.TEA, "d#1")
        after = apply_edits(graph, edits_of_statement(turn, say, changes), {"d#1": graph})
        assert after.id == "d#1"
        return " ".join(format_graph(after).partition("(")[2].split())

    def test_of_one_word_leave_the_rest_of_the_turn(self) -> None:
        assert edits_of_statement(turns_of(BEFORE, "I want tea.")[1], SAY, [NOT]) == (
            NOT._replace(amr="d#1", copy_of=None),
        )
        graph = self.edited("I want to drink tea.", SAY, NOT)
        assert graph.startswith("w / want-01 :polarity - :ARG0 (i / i)")

    def test_of_a_modality_replace_the_turn_by_its_own_clause(self) -> None:
        graph = self.edited("I want to drink tea.", SAY._replace(from_position=2), MUST)
        assert graph.startswith("o / obligate-01 :ARG2 (d / drink-01 :ARG0 (i / i) :ARG1 (t / tea))")

    def test_of_a_turn_with_an_opening_replace_it_as_well(self) -> None:
        edits = edits_of_statement(turns_of(BEFORE, "Great, I want tea.")[1], SAY, [NOT])
        assert [(edit.op, edit.amr, edit.voice, edit.frame) for edit in edits] == [
            ("say", "d#1", "own", "claim"), ("add", "d#1", None, None),
        ]  # fmt: skip

    def test_a_graft_still_copies_from_another_graph_only(self) -> None:
        graph = parse_graph(self.TEA, "d#1")
        graft = SAY._replace(op="graft", amr="d#1", voice=None, frame=None)
        with pytest.raises(TransformError, match="must copy from another graph"):
            apply_edits(graph, [graft], {"d#1": graph})

"""Proofs of composed replies: what the discourse layer shows of the clause inside a reply frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from graphneg.amr.penman import parse_graph
from graphneg.editing.proof import Prover, Verdict, copied_clause, graphs_before
from graphneg.editing.transforms import Transform, load_transforms
from graphneg.english.lexicon import english
from graphneg.model import Edit
from graphneg.store.dialogues import StoredDialogue, StoredTurn

TEA = ("I want some tea.", "(w / want-01 :ARG0 (i / i) :ARG1 (t / tea :quant (s / some)))")
LETTERS = ("She loves letters.", "(l / love-01 :ARG0 (s / she) :ARG1 (l2 / letter))")
IT = ("I like it.", "(l / like-01 :ARG0 (i / i) :ARG1 (i2 / it))")
NO_CAR = (
    "You don't have a car.",
    "(h / have-03 :polarity - :ARG0 (y / you) :ARG1 (c / car))",
)
MY_CAR = ("I wash my car.", "(w / wash-01 :ARG0 (i / i) :ARG1 (c / car :poss i))")
PRICE = (
    "It costs sixty dollars.",
    "(c / cost-01 :ARG1 (i / it) :ARG2 (m / monetary-quantity :quant 60 :unit (d / dollar)))",
)
ROOM = (
    "The room is in Rome.",
    '(b / be-located-at-91 :ARG1 (r / room) :ARG2 (c / city :name (n / name :op1 "Rome")))',
)
OPINION = ("I think she loves letters.", f"(t / think-01 :ARG0 (i / i) :ARG1 {LETTERS[1]})")
REPLY = ("Fine.", "(f / fine-04)")

NEGATED = {"op": "add", "position": 0, "role": "polarity", "value": "-"}
HATE = {"op": "set", "position": 0, "concept": "hate-01"}
ASKED = {"op": "add", "position": 0, "concept": "amr-unknown"}
Said = tuple[str, str]
Change = Sequence[Mapping[str, object]]


def checked(
    turns: list[Said],
    change: Change,
    proof: str,
    source: int | None = None,
    voice: str = "other",
) -> Verdict:
    """Check the reply to some turns that repeats one of them, the last one by default, with changes."""
    source = len(turns) - 1 if source is None else source
    all_turns = [*turns, REPLY]
    dialogue = StoredDialogue(
        "d",
        "own",
        "test",
        tuple(StoredTurn(k, "AB"[k % 2], text, f"d#{k}@p") for k, (text, _) in enumerate(all_turns)),
    )
    graphs = {f"d#{k}@p": parse_graph(penman, f"d#{k}@p") for k, (_, penman) in enumerate(all_turns)}
    amr, frm = f"d#{len(turns)}@p", f"d#{source}@p"
    shared = {"transform": "own", "category": "C-cont", "site": "s", "amr": amr}
    say = {"op": "say", "position": 0, "from_amr": frm, "from_position": 0, "voice": voice, "frame": "check"}
    edits = [Edit(**{**shared, **say})] + [Edit(**{**shared, **one, "copy_of": frm}) for one in change]  # type: ignore[arg-type]
    copied = copied_clause(dialogue, edits)
    assert copied is not None and graphs_before(dialogue, copied) == [f"d#{k}@p" for k in range(len(turns))]
    declared = tuple(proof.split(" or ")) if proof else ()
    transform = Transform("own", "", "C-cont", "-", (), None, "", "", "own.cypher", declared)
    return Prover(english(), {"own": transform}).check(dialogue, copied, graphs)


@pytest.mark.parametrize(
    ("said", "change", "proof", "is_proved"),
    [
        # The opposite polarity contradicts, whoever is "she" or "it".
        (TEA, [NEGATED], "contradicts", True),
        (LETTERS, [NEGATED], "contradicts", True),
        (IT, [NEGATED], "contradicts", True),
        # An opposite of the predicate.
        (LETTERS, [HATE], "contradicts", True),
        # Another verb is no opposite, and no other argument either.
        (LETTERS, [{**HATE, "concept": "write-01"}], "contradicts or other argument", False),
        # Another thing, number or place.
        (LETTERS, [{"op": "set", "position": 2, "concept": "photo"}], "other argument", True),
        (PRICE, [{"op": "set", "position": 3, "value": "120"}], "other argument", True),
        (ROOM, [{"op": "set", "position": 4, "value": '"Paris"'}], "other argument", True),
        # A contradiction is another error than another argument, and the reverse.
        (TEA, [NEGATED], "other argument", False),
        (LETTERS, [{"op": "set", "position": 2, "concept": "photo"}], "contradicts", False),
        # Two other arguments.
        (
            LETTERS,
            [{"op": "set", "position": 2, "concept": "photo"}, {"op": "set", "position": 1, "concept": "he"}],
            "other argument",
            False,
        ),
        # The negation of an opinion does not deny what is thought.
        (OPINION, [NEGATED], "contradicts", False),
        # A question for what was said.
        (
            TEA,
            [{"op": "drop", "position": 2}, {**ASKED, "role": "ARG1"}],
            "asks what was said",
            True,
        ),
        # "When do you want some tea?" asks for something that was not said.
        (TEA, [{**ASKED, "role": "time"}], "asks what was said", False),
    ],
)  # fmt: skip
def test_a_reply_is_proved_by_the_relation_that_its_transform_declares(
    said: Said, change: Change, proof: str, is_proved: bool
) -> None:
    assert checked([said], change, proof) == Verdict(is_proved, None)


def test_a_transform_without_a_declaration_proves_nothing() -> None:
    assert checked([TEA], [NEGATED], "") == Verdict(None, None)


def test_the_speaker_of_a_reply_calls_the_other_one_you() -> None:
    # A: "I want some tea." B: "I don't want some tea." is about somebody else, so it contradicts nothing.
    assert checked([TEA], [NEGATED], "contradicts", voice="own").proved is False


def test_a_speaker_contradicts_an_own_earlier_turn() -> None:
    assert checked([TEA, LETTERS], [NEGATED], "contradicts", source=0, voice="own").proved


def test_a_reply_that_repeats_another_turn_is_not_proved() -> None:
    # A: "You don't have a car." B: "I have a car." A: "So you don't have a car?" only says again what A said.
    i_have = ("I have a car.", "(h / have-03 :ARG0 (i / i) :ARG1 (c / car))")
    assert checked([NO_CAR, i_have], [NEGATED], "contradicts").proved is False
    assert checked([LETTERS, i_have], [NEGATED], "contradicts").proved is True


def test_a_twin_must_contradict_nothing() -> None:
    # B has just said that A has no car, so "So you wash your car?" contradicts B.
    assert checked([LETTERS, NO_CAR, MY_CAR], [NEGATED], "contradicts") == Verdict(False, 1)


def test_a_damaged_edit_proves_nothing() -> None:
    assert checked([TEA], [{"op": "drop", "position": 9}], "contradicts").proved is False


def test_transforms_of_claims_declare_a_proof() -> None:
    known = load_transforms()
    assert known["negated_claim"].proof == ("contradicts",)
    for name in ("thing_claim", "time_claim", "quantity_claim"):
        assert known[name].proof == ("other argument",)
    assert known["asked_claim"].proof == ("asks what was said",)
    assert known["antonym_claim"].proof == ("contradicts", "other argument")
    assert known["person_swap"].proof == ()

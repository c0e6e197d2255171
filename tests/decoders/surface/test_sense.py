"""Tests of edits that English can't express, which are refused, or expresses in another form."""

from __future__ import annotations

import pytest

from tests.decoders.surface.test_decoder import decode, place

NOT = {"op": "add", "role": "polarity", "value": "-", "position": 0}
ASK = {"op": "add", "role": "polarity", "concept": "amr-unknown", "position": 0}


@pytest.mark.parametrize(
    ("text", "penman", "edit"),
    [
        ("I see.", "(s / see-01 :ARG0 (i / i))", NOT),
        ("I can only drink it.", "(p / possible-01 :ARG1 (d / drink-01 :ARG0 (i / i) :ARG1 (i2 / it)))", NOT),
        ("I'd rather walk.", "(p / prefer-01 :ARG0 (i / i) :ARG1 (w / walk-01 :ARG0 i))", NOT),
        ("Sit down and eat it.",
         "(a / and :op1 (s / sit-02 :mode imperative) :op2 (e / eat-01 :mode imperative :ARG1 (i / it)))",
         NOT | {"position": 3}),
        ("Yes, I sleep.", "(s / sleep-01 :ARG0 (i / i))", NOT),
        ("I'm just looking.", "(l / look-01 :ARG0 (i / i))", NOT),
        ("I'm afraid it rains.", "(f / fear-01 :ARG0 (i / i) :ARG1 (r / rain-01))", NOT),
        ("Yes, I sleep.", "(s / sleep-01 :ARG0 (i / i))", ASK),
        ("You'd better send it.", "(r / recommend-01 :ARG1 (s / send-01 :ARG0 (y / you) :ARG1 (i / it)))",
         ASK),
    ],
)  # fmt: skip
def test_sentences_without_a_negation_or_question_are_refused(
    text: str, penman: str, edit: dict[str, object]
) -> None:
    answer = decode((text, penman), edit)
    assert answer.partition(":")[0] in {"unsupported-edit", "already-negative", "unclear-clause"}, answer


@pytest.mark.parametrize(
    ("text", "penman", "edit", "expected"),
    [
        ("Helen will sing.", '(s / sing-01 :ARG0 (p / person :name (n / name :op1 "Helen")))',
         ({"op": "wrap", "position": 0, "role": "ARG1", "concept": "doubt-01"},
          {"op": "add", "position": -1, "role": "ARG0", "concept": "i"}), "I doubt that Helen will sing."),
        ("I don't like tea much any more.", "(l / like-01 :polarity - :ARG0 (i / i) :ARG1 (t / tea))",
         ({"op": "drop", "position": 1},), "I like tea a lot."),
        ("She is already tired.", "(t / tire-01 :ARG1 (s / she) :time (a2 / already))",
         (NOT,), "She is not yet tired."),
        ("I like tea too.", "(l / like-01 :ARG0 (i / i) :ARG1 (t / tea) :mod (t2 / too))",
         (NOT,), "I do not like tea either."),
        ("Does it have to be new?", "(o / obligate-01 :ARG2 (n / new :domain (i / it)))",
         ({"op": "set", "position": 2, "concept": "they"},), "Do they have to be new?"),
        ("The light was stopped.", "(s / stop-01 :ARG1 (l / light))",
         ({"op": "set", "position": 0, "concept": "dim-01"},), "The light was dimmed."),
        ("I am going to need it.", "(n / need-01 :ARG0 (i / i) :ARG1 (i2 / it))",
         (NOT,), "I am not going to need it."),
        ("He must have taken it.", "(i / infer-01 :ARG1 (t / take-01 :ARG0 (h / he) :ARG1 (i2 / it)))",
         (NOT | {"position": 1},), "He cannot have taken it."),
        ("My knee still hurts.", "(h / hurt-01 :ARG1 (k / knee :part-of (i / i)) :mod (s / still))",
         (NOT,), "My knee no longer hurts."),
        ("I'm still looking for some tea.", "(l / look-01 :ARG0 (i / i) :ARG1 (t / tea) :mod (s / still))",
         (NOT,), "I'm no longer looking for any tea."),
        ("The window was open.", "(o / open-09 :ARG1 (w / window))",
         ({"op": "set", "position": 0, "concept": "close-01"},), "The window was closed."),
    ],
)  # fmt: skip
def test_edited_sentences_are_idiomatic(
    text: str, penman: str, edit: tuple[dict[str, object], ...], expected: str
) -> None:
    assert decode((text, penman), *edit) == expected


@pytest.mark.parametrize(
    ("text", "penman", "label", "concept"),
    [
        ("I will open a bank account.", "(o / open-01 :ARG0 (i / i) :ARG1 (b / bank))", "bank", "country"),
        ("Thank you for your interest.", "(t / thank-01 :ARG2 (i / interest-01 :ARG1 (y / you)))",
         "interest-01", "bore-02"),
        ("I am almost sure.", "(s / sure-02 :ARG0 (i / i) :degree (a / almost))", "sure-02", "unsure"),
        ("That sounds genius.", "(s / sound-01 :ARG2 (g / genius))", "genius", "teacher"),
        ("I had so little water.", "(h / have-03 :ARG0 (i / i) :ARG1 (w / water :quant (l / little)))",
         "little", "big"),
        ("She learned the piano.", "(l / learn-01 :ARG0 (s / she) :ARG1 (p / piano))", "piano", "pipe"),
        ("We go step by step.", "(g / go-01 :ARG0 (w / we) :manner (s / step))", "step", "course"),
        ("She stayed at home.", "(s / stay-01 :ARG1 (s2 / she) :location (h / home))", "stay-01", "go-02"),
        ("Where does it stop?", "(s / stop-01 :ARG1 (i / it) :location (a / amr-unknown))",
         "stop-01", "tell-01"),
        ("Most weekends I cook.", "(c / cook-01 :ARG0 (i / i) :time (w / weekend :quant (m / most)))",
         "most", "least"),
        ("It is a little cooler out.", "(c / cool-01 :ARG1 (i / it) :degree (m / more) :quant (l / little))",
         "little", "big"),
        ("We live in new york .", "(l / live-01 :ARG0 (w / we) :location (y / york :mod (n / new)))",
         "new", "old"),
        ("They do not visit often.",
         "(v / visit-01 :ARG0 (t / they) :polarity - :ARG1-of (o / often))", "often", "rarely"),
    ],
)  # fmt: skip
def test_a_word_that_does_not_fit_its_place_is_refused(
    text: str, penman: str, label: str, concept: str
) -> None:
    answer = decode((text, penman), {"op": "set", "position": place(penman, label), "concept": concept})
    assert answer.partition(":")[0] in {"no-form", "kind-mismatch"}, answer


@pytest.mark.parametrize(
    ("text", "penman", "expected"),
    [
        ("When have you seen it?", "(s / see-01 :ARG0 (y / you) :ARG1 (i / it) :time (a / amr-unknown))",
         "When have I seen it?"),
        ("You don't smoke, do you?",
         "(s / smoke-02 :ARG0 (y / you) :polarity - :ARG1-of (r / request-confirmation-91))",
         "I don't smoke, do I?"),
        ("Keep it going for you.", "(k / keep-02 :ARG1 (g / go-10 :ARG1 (i / it)) :beneficiary (y / you))",
         "Keep it going for me."),
    ],
)  # fmt: skip
def test_a_pronoun_has_the_right_case(text: str, penman: str, expected: str) -> None:
    assert decode((text, penman), {"op": "set", "position": place(penman, "you"), "concept": "i"}) == expected

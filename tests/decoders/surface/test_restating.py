"""Tests of the operation `say` with a negation: "I like tea." is restated as "So you don't like tea?"."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graphneg.amr.penman import parse_graph
from graphneg.decoders.surface.analysis.alignment import with_moved_spans
from graphneg.english.reply_frames import VOICES, frames_of
from tests.decoders.surface.test_decoder import decode, place

REPLY = ("Oh.", "(o / oh)")
NOT = {"op": "add", "role": "polarity", "value": "-"}
WASH = (
    "I want to get my car washed on Friday.",
    "(w / want-01 :ARG0 (i / i) :ARG1 (g / get-05 :ARG0 i :ARG1 (w2 / wash-01 :ARG0 (c / car :poss i) "
    ":time (d / date-entity :weekday (f / friday)))))",
)
TEA = ("I like tea.", "(l / like-01 :ARG0 (i / i) :ARG1 (t / tea))")
HAPPY = ("I'm very happy with my job.", "(h / happy-01 :ARG0 (j / job :poss (i / i)) :ARG1 i)")
CALL = (
    "I'll call you tomorrow at your office.",
    "(c / call-02 :ARG0 (i / i) :ARG1 (y / you) :time (t / tomorrow) :location (o / office :poss y))",
)
NO_TEA = ("I don't like tea.", "(l / like-01 :polarity - :ARG0 (i / i) :ARG1 (t / tea))")


def said(
    source: tuple[str, str],
    frame: str,
    *changes: dict[str, Any],
    voice: str = "other",
    top: str | None = None,
) -> str:
    k = 0 if top is None else place(source[1], top)
    say = {"op": "say", "position": 0, "from_amr": "d#9", "from_position": k, "voice": voice, "frame": frame}
    copy = ({"position": k, **change, "copy_of": "d#9"} for change in changes)
    return decode(REPLY, say, *copy, source=source)


@pytest.mark.parametrize(
    ("source", "frame", "expected"),
    [
        (WASH, "check", "So you don't want to get your car washed on Friday?"),
        (WASH, "why", "Why don't you want to get your car washed on Friday?"),
        (WASH, "surprise", "I'm surprised you don't want to get your car washed on Friday."),
        (WASH, "meaning", "What do you mean, you don't want to get your car washed on Friday?"),
        (WASH, "said", "But you said you don't want to get your car washed on Friday."),
        (HAPPY, "why", "Why aren't you very happy with your job?"),
        (HAPPY, "check", "So you're not very happy with your job?"),
        (CALL, "check", "So you won't call me tomorrow at my office?"),
    ],
)
def test_the_other_speaker_says_it_in_a_frame(source: tuple[str, str], frame: str, expected: str) -> None:
    assert said(source, frame, NOT) == expected


@pytest.mark.parametrize(
    ("frame", "expected"), [("claim", "I don't like tea."), ("said", "As I said, I don't like tea.")]
)
def test_the_same_speaker_keeps_the_pronouns(frame: str, expected: str) -> None:
    assert said(TEA, frame, NOT, voice="own") == expected


def test_a_negative_statement_becomes_affirmative() -> None:
    drop = {"op": "drop", "position": 1}
    assert said(NO_TEA, "check", drop) == "So you like tea?"
    assert said(NO_TEA, "why", drop) == "Why do you like tea?"


def test_the_frame_alone_repeats_the_statement() -> None:
    assert said(TEA, "why") == "Why do you like tea?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Well, I like tea.", "So you don't like tea?"),
        ("So I like tea, you know.", "So you don't like tea?"),
        ("Yes, of course, I really like tea, Tom.", "So you don't like tea?"),
        ("I like tea because it's warm.", "So you don't like tea?"),
        ("I'd like tea.", "So you don't want tea?"),
        ("Actually, I like tea.", "So you don't like tea?"),
        ("By the way, I like tea.", "So you don't like tea?"),
        ("For breakfast, I like tea.", "So you don't like tea?"),
        ("I like tea, don't I?", "So you don't like tea?"),
        ("I like tea, right?", "So you don't like tea?"),
        ("I like tea, but it's late.", "So you don't like tea?"),
        ("It's late, and I like tea, so I'm happy.", "So you don't like tea?"),
        ("I like tea when it rains.", "So you don't like tea when it rains?"),
        ("I like this.", "So you don't like this?"),
    ],
)
def test_words_that_fit_only_the_earlier_turn_are_left_out(text: str, expected: str) -> None:
    assert said((text, TEA[1]), "check", NOT) == expected


@pytest.mark.parametrize(
    ("text", "penman", "expected"),
    [
        ("Tom is really busy.", "(b / busy-01 :ARG1 (p / person :name (n / name :op1 \"Tom\")))",
         "So Tom isn't busy?"),
        ("I met Mr . Chen here .",
         "(m / meet-02 :ARG0 (i / i) :ARG1 (p / person :name (n / name :op1 \"Chen\")))",
         "So you didn't meet Mr. Chen here ?"),
        ("It's such a nice day.", "(d / day :mod (n / nice) :domain (i / it))",
         "So it's not such a nice day?"),
        ("It's cold, isn't it?", "(c / cold-01 :ARG1 (i / it))", "So it's not cold?"),
        ("I'll get up and get ready.",
         "(a / and :op1 (g / get-up-26 :ARG0 (i / i)) :op2 (g2 / get-03 :ARG1 i :ARG2 (r / ready-01)))",
         "So you won't get up and get ready?"),
        ("There is a snowman over there.", "(s / snowman :location (t / there))",
         "So there is no snowman over there?"),
        ("I'll come if it rains.", "(c / come-01 :ARG1 (i / i) :condition (r / rain-01))",
         "So you won't come if it rains?"),
    ],
)  # fmt: skip
def test_more_sentences_that_can_be_repeated(text: str, penman: str, expected: str) -> None:
    assert said((text, penman), "check", NOT) == expected


def test_a_relative_clause_is_not_repeated_alone() -> None:
    penman = "(a / account :domain (t / this) :ARG1-of (b / be-located-at-91 :ARG2 (d / dollar)))"
    text = "This is an account, which is in dollars."
    assert said((text, penman), "check", NOT, top="be-located-at-91").startswith("unclear-clause")


def test_only_the_main_clause_of_the_statement_is_repeated() -> None:
    text = "I'm tired, but I have to go."
    penman = (
        "(c / contrast-01 :ARG1 (t / tire-01 :ARG1 (i / i)) "
        ":ARG2 (o / obligate-01 :ARG1 i :ARG2 (g / go-02 :ARG0 i)))"
    )
    assert said((text, penman), "why", NOT, top="obligate-01") == "Why don't you have to go?"
    assert said((text, penman), "check", NOT, top="tire-01") == "So you're not tired?"


def test_a_clause_that_shares_nodes_with_the_next_one_is_not_cut() -> None:
    text = "I like it, it is tea."
    assert said((text, TEA[1]), "check", NOT).startswith("unclear-clause")


def test_only_the_sentence_of_the_statement_is_repeated() -> None:
    text = "I like tea. I hate milk."
    penman = (
        "(m / multi-sentence :snt1 (l / like-01 :ARG0 (i / i) :ARG1 (t / tea)) "
        ":snt2 (h / hate-01 :ARG0 i :ARG1 (m2 / milk)))"
    )
    assert said((text, penman), "why", NOT, top="hate-01") == "Why don't you hate milk?"


def test_a_text_that_writes_everything_out_is_not_contracted() -> None:
    source = ("I am tired.", "(t / tire-01 :ARG1 (i / i))")
    assert said(source, "check", NOT) == "So you are not tired?"
    assert said(TEA, "check", NOT) == "So you don't like tea?"


@pytest.mark.parametrize(
    "text",
    [
        "Maybe I like tea.",
        "I like tea, or you like tea.",
        "I think so.",
        'I like "tea".',
        "In the morning I like tea.",
        "I like U . S . dollars.",
        "A man likes tea.",
        "She must be a tea.",
        "I sing and dance.",
        "Thank you.",
        "I like tea with a lot of sugar and a lot of milk in the morning and in the evening, too.",
    ],
)
def test_sentences_that_can_not_be_repeated_are_refused(text: str) -> None:
    code = said((text, TEA[1]), "check", NOT).partition(":")[0]
    assert code in ("unclear-clause", "unsupported-edit", "no-alignment")


def test_only_a_negation_of_the_main_clause_contradicts_the_statement() -> None:
    text = "There are banks that lend money."
    penman = "(l / lend-01 :ARG0 (b / bank) :ARG1 (m / money))"
    assert said((text, penman), "check", NOT).startswith("unclear-clause")


@pytest.mark.parametrize(
    ("text", "penman", "change", "expected"),
    [
        ("I need two more days.",
         "(n / need-01 :ARG0 (i / i) :ARG1 (d / day :quant 2 :mod (m / more)))",
         {"op": "set", "top": "more", "concept": "less"}, "So you need two fewer days?"),
        ("It leaves on Friday.",
         "(l / leave-11 :ARG0 (i / it) :time (d / date-entity :weekday (f / friday)))",
         {"op": "set", "top": "friday", "concept": "sunday"}, "So it leaves on Sunday?"),
        ("Bob needs tea.", "(n / need-01 :ARG0 (b / bob) :ARG1 (t / tea))",
         {"op": "set", "top": "tea", "concept": "coffee"}, "So Bob needs coffee?"),
        ("I was here before.", "(b / be-located-at-91 :ARG1 (i / i) :ARG2 (h / here) :time (b2 / before))",
         {"op": "set", "top": "before", "concept": "after"}, "unclear-clause"),
        ("It came later than planned.", "(c / come-01 :ARG1 (i / it) :time (l / late) :time (p / plan-01))",
         {"op": "set", "top": "late", "concept": "before"}, "unclear-clause"),
        # A duration does not go with the new time.
        ("It leaks for two days now.",
         "(l / leak-01 :ARG1 (i / it) :duration (d / day :quant 2) :time (n / now))",
         {"op": "set", "top": "now", "concept": "yesterday"}, "unclear-clause"),
        ("It leaves at 8 pm.", "(l / leave-11 :ARG1 (i / it) :time (h / hour :quant 8))",
         {"op": "set", "top": "8", "value": "16"}, "unclear-clause"),
        ("I had better go now.", "(r / recommend-02 :ARG1 (g / go-02 :ARG0 (i / i) :time (n / now)))",
         {"op": "set", "top": "now", "concept": "yesterday"}, "unclear-clause"),
        ("It costs 80 cents.", "(c / cost-01 :ARG1 (i / it) :ARG2 (m / cent :quant 80))",
         {"op": "set", "top": "80", "value": "160"}, "unclear-clause"),
    ],
)  # fmt: skip
def test_other_changes(text: str, penman: str, change: dict[str, Any], expected: str) -> None:
    k = place(penman, str(change.pop("top")))
    assert said((text, penman), "check", {**change, "position": k}).startswith(expected)


@pytest.mark.parametrize(
    ("text", "penman", "top", "role", "expected"),
    [
        ("I like tea.", TEA[1], "tea", "ARG1", "What do you like?"),
        ("I'm looking for a flat.", "(l / look-01 :ARG0 (i / i) :ARG1 (f / flat))", "flat", "ARG1",
         "What are you looking for?"),
        ("I'll be there on Friday.", "(t / there :domain (i / i) :time (f / friday))",
         "friday", "time", "When will you be there?"),
        ("I'm going to the store.", "(g / go-02 :ARG0 (i / i) :ARG4 (s / store))", "store", "ARG4",
         "Where are you going?"),
        ("I met my brother.", "(m / meet-02 :ARG0 (i / i) :ARG1 (b / brother :poss i))", "brother", "ARG1",
         "Who did you meet?"),
        ("I have been ill since Friday.", "(i2 / ill-01 :ARG1 (i / i) :time (s / since :op1 (f / friday)))",
         "friday", "time", "Since when have you been ill?"),
        ("I have been ill on Friday.", "(i2 / ill-01 :ARG1 (i / i) :time (f / friday))", "friday", "time",
         "unclear-clause"),
        ("I like tea and milk.", "(l / like-01 :ARG0 (i / i) :ARG1 (a / and :op1 (t / tea) :op2 (m / milk)))",
         "tea", "op1", "unclear-clause"),
        ("I walk every day.", "(w / walk-01 :ARG0 (i / i) :time (d / day :mod (e / every)))", "day", "time",
         "unclear-clause"),
        ("I want a refund on coats.", "(w / want-01 :ARG0 (i / i) :ARG1 (r / refund) :location (c / coat))",
         "coat", "location", "unclear-clause"),
        ("I want to apply for a card.",
         "(w / want-01 :ARG0 (i / i) :ARG1 (a / apply-02 :ARG0 i :ARG2 (c / card)))", "card", "ARG2",
         "What do you want to apply for?"),
        # The phrase does not belong to the verb.
        ("I prefer a room with a bath.",
         "(p / prefer-01 :ARG0 (i / i) :ARG1 (r / room) :ARG2 (b / bath))", "bath", "ARG2", "unclear-clause"),
        ("I need a manager to be my doctor.",
         "(n / need-01 :ARG0 (i / i) :ARG1 (m / manager) :ARG2 (d / doctor))", "doctor", "ARG2",
         "unclear-clause"),
        ("I sing and drink tea.", "(d / drink-01 :ARG0 (i / i) :ARG1 (t / tea))", "tea", "ARG1",
         "unclear-clause"),
        # Nobody asks for it.
        ("I have a headache.", "(h / have-03 :ARG0 (i / i) :ARG1 (h2 / headache))", "headache", "ARG1",
         "unclear-clause"),
        ("It fits the rates.", "(f / fit-01 :ARG0 (i / it) :ARG1 (r / rate))", "rate", "ARG1",
         "unclear-clause"),
        ("A pipe burst in my wall.", "(b / burst-01 :ARG1 (p / pipe) :location (w / wall))", "wall",
         "location", "unclear-clause"),
        ("I stay for five days.", "(s / stay-01 :ARG0 (i / i) :time (d / day :quant 5))", "day", "time",
         "unclear-clause"),
        ("It leaves on time.", "(l / leave-11 :ARG0 (i / it) :time (t / time))", "time", "time",
         "unclear-clause"),
        ("I lost track of time.", "(l / lose-02 :ARG0 (i / i) :ARG1 (t / track))", "track", "ARG1",
         "unsupported-edit"),
    ],
)  # fmt: skip
def test_a_phrase_is_asked_for(text: str, penman: str, top: str, role: str, expected: str) -> None:
    drop = {"op": "drop", "position": place(penman, top)}
    add = {"op": "add", "role": role, "concept": "amr-unknown"}
    assert said((text, penman), "ask", drop, add).startswith(expected)


def test_spaces_around_apostrophes_do_not_move_the_words_of_nodes() -> None:
    graph = parse_graph("(h / have-03 :ARG0 (i / i) :ARG1 (b / bag :quant 2))", "d#9")
    graph = replace(graph, spans={0: (6, 7), 1: (5, 6), 2: (8, 9), 3: (7, 8)})
    moved = with_moved_spans(graph, "It ’ s fine . I have two bags .", "It’s fine . I have two bags .")
    assert moved.spans == {0: (5, 6), 1: (4, 5), 2: (7, 8), 3: (6, 7)}


def test_we_may_include_the_other_speaker() -> None:
    source = ("We like tea.", "(l / like-01 :ARG0 (w / we) :ARG1 (t / tea))")
    assert said(source, "check", NOT).startswith("kind-mismatch")
    assert said(source, "claim", NOT, voice="own") == "We don't like tea."


def test_there_are_at_least_six_frames() -> None:
    assert len({(voice, frame) for voice in VOICES for frame in frames_of(voice)}) >= 6
    assert set(frames_of("own")) == {"claim", "said"}


WANT = ("I want to buy a car.", "(w / want-01 :ARG0 (i / i) :ARG1 (b / buy-01 :ARG0 i :ARG1 (c / car)))")
MUST = ("I have to work on Sunday.", "(o / obligate-01 :ARG1 (i / i) :ARG2 (w / work-01 :ARG0 i))")
SISTER = (
    "My sister lost her keys.",
    "(l / lose-02 :ARG0 (p / person :ARG0-of (h / have-rel-role-91 :ARG1 (i / i) :ARG2 (s / sister))) "
    ":ARG1 (k / key :poss p))",
)


def modality(concept: str, *, negated: bool = False) -> list[dict[str, Any]]:
    negation = {"op": "add", "position": -1, "role": "polarity", "value": "-"}
    return [
        {"op": "wrap", "position": -1, "concept": concept, "role": "ARG1"},
        *([negation] if negated else []),
    ]


@pytest.mark.parametrize(
    ("source", "top", "change", "expected"),
    [
        (WANT, "buy-01", modality("obligate-01"), "Why do you have to buy a car?"),
        (WANT, "buy-01", modality("possible-01", negated=True), "Why can't you buy a car?"),
        (MUST, "work-01", modality("want-01"), "Why do you want to work on Sunday?"),
        (MUST, "work-01", modality("possible-01", negated=True), "Why can't you work on Sunday?"),
        (
            ("He had to work.", "(o / obligate-01 :ARG1 (h / he) :ARG2 (w / work-01 :ARG0 h))"),
            "work-01",
            modality("possible-01", negated=True),
            "Why couldn't he work?",
        ),
        (
            ("She works in a bank.", "(w / work-01 :ARG0 (s / she) :location (b / bank))"),
            "work-01",
            modality("want-01"),
            "Why does she want to work in a bank?",
        ),
        (
            ("I'm going to buy a car.", "(b / buy-01 :ARG0 (i / i) :ARG1 (c / car))"),
            "buy-01",
            modality("possible-01", negated=True),
            "Why can't you buy a car?",
        ),
    ],
)
def test_another_modality_takes_the_place_of_the_old_one(
    source: tuple[str, str], top: str, change: list[dict[str, Any]], expected: str
) -> None:
    assert said(source, "why", *change, top=top) == expected


@pytest.mark.parametrize(
    ("text", "penman", "reason"),
    [
        ("The days grow longer.", "(g / grow-01 :ARG1 (d / day) :ARG2 (l / long))", "kind-mismatch"),
        ("That grows on trees.", "(g / grow-01 :ARG1 (t / that) :location (t2 / tree))", "kind-mismatch"),
        ("I often go home.", "(g / go-02 :ARG0 (i / i) :ARG4 (h / home))", "unclear-clause"),
        ("I don't go home.", "(g / go-02 :polarity - :ARG0 (i / i) :ARG4 (h / home))", "unclear-clause"),
        ("I used to go home.", "(u / used-to :ARG1 (g / go-02 :ARG0 (i / i)))", "kind-mismatch"),
        ("I need a ticket.", "(n / need-01 :ARG0 (i / i) :ARG1 (t / ticket))", "kind-mismatch"),
    ],
)
def test_a_clause_without_a_place_for_a_modality_is_refused(text: str, penman: str, reason: str) -> None:
    assert said((text, penman), "check", *modality("want-01")).startswith(reason)


@pytest.mark.parametrize(
    ("frame", "expected"),
    [("check", "So you've already bought a car?"), ("why", "Why have you already bought a car?")],
)
def test_a_plan_is_taken_for_done(frame: str, expected: str) -> None:
    assert said(WANT, frame, {"op": "add", "role": "time", "concept": "already"}, top="buy-01") == expected


def test_the_time_is_dropped_when_something_done_is_taken_for_a_plan() -> None:
    source = ("I bought a car yesterday.", "(b / buy-01 :ARG0 (i / i) :ARG1 (c / car) :time (y / yesterday))")
    drop = {"op": "drop", "position": place(source[1], "yesterday")}
    assert said(source, "check", drop, *modality("want-01")) == "So you want to buy a car?"


def test_a_state_is_never_done() -> None:
    source = ("I want to be happy.", "(w / want-01 :ARG0 (i / i) :ARG1 (h / happy-01 :ARG1 i))")
    already = {"op": "add", "role": "time", "concept": "already"}
    assert said(source, "check", already, top="happy-01").startswith("unclear-clause")


def test_the_statement_stays_about_its_speaker_if_the_pronoun_is_kept() -> None:
    keep = {"op": "set", "position": place(MUST[1], "i"), "concept": "i"}
    assert said(MUST, "why", keep) == "Why do I have to work on Sunday?"


def test_two_people_exchange_their_roles() -> None:
    source = (
        "He called me about my car.",
        "(c / call-02 :ARG0 (h / he) :ARG1 (i / i) :topic (c2 / car :poss i))",
    )
    swap = [
        {"op": "set", "position": place(source[1], "he"), "concept": "you"},
        {"op": "set", "position": place(source[1], "i"), "concept": "he"},
    ]
    assert said(source, "why", *swap) == "Why did you call him about his car?"


def test_another_person_becomes_the_subject_with_all_its_pronouns() -> None:
    k = place(SISTER[1], "person")
    change = [{"op": "drop", "position": k + 1}, {"op": "set", "position": k, "concept": "you"}]
    assert said(SISTER, "check", *change) == "So you lost your keys?"
    called = (
        "My sister called me.",
        SISTER[1].replace("lose-02", "call-02").replace("(k / key :poss p)", "i"),
    )
    assert said(called, "check", *change).startswith("unclear-clause")


@pytest.mark.parametrize(
    ("text", "penman", "word", "concept", "expected"),
    [
        ("I always drink tea.", "(d / drink-01 :ARG0 (i / i) :time (a / always))", "always", "ever",
         "Why do you never drink tea?"),
        ("I have a lot of friends.",
         "(h / have-03 :ARG0 (i / i) :ARG1 (f / friend :quant (l / lot)))", "lot", "few",
         "Why do you have only a few friends?"),
        ("I have lots of money.",
         "(h / have-03 :ARG0 (i / i) :ARG1 (m / money :quant (l / lot)))", "lot", "few",
         "Why do you have only a little money?"),
        ("All the rooms are full.", "(f / full :ARG1 (r / room :mod (a / all)))", "all", "none",
         "Why are none of the rooms full?"),
        ("Everyone likes her.", "(l / like-01 :ARG0 (e / everyone) :ARG1 (s / she))", "everyone", "nobody",
         "Why does nobody like her?"),
        ("She never eats meat.",
         "(e / eat-01 :polarity - :ARG0 (s / she) :time (e2 / ever))", "ever", "always",
         "Why does she always eat meat?"),
        ("I've never eaten meat.",
         "(e / eat-01 :polarity - :ARG0 (i / i) :time (e2 / ever))", "ever", "always",
         "no-form"),
        ("I came a few days ago.",
         "(c / come-01 :ARG1 (i / i) :time (d / day :quant (f / few)))", "few", "many",
         "no-form"),
        ("I have many fewer friends.",
         "(h / have-03 :ARG0 (i / i) :ARG1 (f / friend :quant (m / many)))", "many",
         "few", "no-form"),
    ],
)  # fmt: skip
def test_a_quantity_is_taken_for_one_that_excludes_it(
    text: str, penman: str, word: str, concept: str, expected: str
) -> None:
    change = {"op": "set", "position": place(penman, word), "concept": concept}
    assert said((text, penman), "why", change).partition(":")[0] == expected


def test_an_idiom_has_no_antonym() -> None:
    source = ("You're pulling my leg.", "(p / pull-01 :ARG0 (y / you) :ARG1 (l / leg :part-of (i / i)))")
    change = {"op": "set", "position": 0, "concept": "push-01"}
    assert said(source, "check", change).startswith("unsupported-edit")


def test_an_adjective_at_the_start_of_a_statement_is_no_name() -> None:
    source = (
        "Green is my favourite colour.",
        "(c / color :mod (f / favourite) :poss (i / i) :domain (g / green-02))",
    )
    assert said(source, "meaning", NOT) == "What do you mean, green isn't your favourite colour?"


def test_a_number_counts_the_head_of_a_compound() -> None:
    source = (
        "They need one meeting room.",
        "(n / need-01 :ARG0 (t / they) :ARG1 (r / room :quant 1 :mod (m / meet-03)))",
    )
    change = {"op": "set", "position": place(source[1], "1"), "value": "2"}
    assert said(source, "check", change) == "So they need two meeting rooms?"


def test_a_number_that_the_noun_does_not_agree_with_leaves_the_noun_unchanged() -> None:
    source = (
        "The price is 60 euro.",
        "(p / price-01 :ARG2 (m / monetary-quantity :quant 60 :unit (e / euro)))",
    )
    change = {"op": "set", "position": place(source[1], "60"), "value": "120"}
    assert said(source, "check", change) == "So the price is 120 euro?"


def test_only_duties_and_plans_are_taken_for_those_of_the_other_speaker() -> None:
    source = ("I'm hungry.", "(h / hunger-01 :ARG0 (i / i))")
    keep = {"op": "set", "position": 1, "concept": "i"}
    assert said(source, "check", keep).startswith("unclear-clause")


def test_a_time_is_not_dropped_with_a_particle() -> None:
    source = (
        "I want to check out today.",
        "(w / want-01 :ARG0 (i / i) :ARG1 (c / check-out-04 :ARG0 i :time (t / today)))",
    )
    drop = {"op": "drop", "position": place(source[1], "today")}
    already = {"op": "add", "role": "time", "concept": "already"}
    text = said(source, "check", drop, already, top="check-out-04")
    assert text.startswith(("unclear-clause", "So you've already checked out?"))


@pytest.mark.parametrize(
    ("text", "penman", "reason"),
    [
        # Nobody negates these words.
        (
            "I'll call you sometime next week.",
            "(c / call-02 :ARG0 (i / i) :ARG1 (y / you) :time (w / week :mod (n / next)))",
            "unclear-clause: 'sometime' is not used with a negation",
        ),
        (
            "They offer a few kinds.",
            "(o / offer-01 :ARG0 (t / they) :ARG1 (k / kind :quant (f / few)))",
            "unclear-clause: 'a few' is not used with a negation",
        ),
        # "Me guys" is not English.
        (
            "I like you guys.",
            "(l / like-01 :ARG0 (i / i) :ARG1 (g / guy :mod (y / you)))",
            "kind-mismatch: 'you guys' is addressed to several people",
        ),
    ],
)
def test_sentences_that_nobody_would_negate_are_refused(text: str, penman: str, reason: str) -> None:
    assert said((text, penman), "check", NOT) == reason


def test_a_merged_verb_gets_no_modality() -> None:
    text, penman = "I wanna finish my drink.", "(f / finish-01 :ARG0 (i / i) :ARG1 (d / drink :poss i))"
    changes = (
        {"op": "wrap", "position": -1, "role": "ARG1", "concept": "possible-01"},
        {**NOT, "position": -1},
    )
    assert said((text, penman), "check", *changes) == "unsupported-edit: 'wanna' can't follow a modal"

"""Tests of the surface decoder: the text after each kind of edit."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphneg.amr.penman import iter_blocks, parse_graph
from graphneg.decoders.base import Decoder, get_decoder, refuse_original
from graphneg.errors import DecoderError
from graphneg.model import AmrGraph, Decoded, Edit, EditedUtterance

BOOK = Path(__file__).parents[3] / "../shared/data/amr_little_prince/lpp-train.txt"
NOT = {"op": "add", "role": "polarity", "value": "-"}
ASK = {"op": "add", "role": "polarity", "concept": "amr-unknown"}
ORDER = {"op": "add", "role": "mode", "value": "imperative"}

SEEN = ("I've seen that movie.", "(s / see-01 :ARG0 (i / i) :ARG1 (m / movie :mod (t / that)))")
SAW = ("I saw a bird .", "(s / see-01 :ARG0 (i / i) :ARG1 (b / bird))")
WORKS = ("She works at the bank.", "(w / work-01 :ARG0 (s / she) :location (b / bank))")
TIRED = ("I am tired.", "(t / tire-01 :ARG1 (i / i))")
TIRED_EYES = "(h / have-03 :ARG0 (i / i) :ARG1 (e / eye :ARG1-of (t / tire-01)))"
USUAL, UNKIND = "That's not normal here.", "That's not kind of you."
MARRIED = "They have not married her."
SWIM = ("My brother can swim.", "(p / possible-01 :ARG1 (s / swim-01 :ARG0 (b / brother :poss (i / i))))")
OPEN = (
    "Open the window, please.",
    "(o / open-01 :mode imperative :polite + :ARG0 (y / you) :ARG1 (w / window))",
)
LIKE = ("I don't like it.", "(l / like-01 :polarity - :ARG0 (i / i) :ARG1 (i2 / it))")
HOME = (
    "They went home and watched TV.",
    "(a / and :op1 (g / go-02 :ARG0 (t / they) :ARG4 (h / home)) "
    ":op2 (w / watch-01 :ARG0 t :ARG1 (t2 / television)))",
)
FRIEND = (
    "Is he your friend?",
    "(h / have-rel-role-91 :ARG0 (h2 / he) :ARG1 (y / you) :ARG2 (f / friend) :polarity (a / amr-unknown))",
)
INN = ("There is a good inn here.", "(i / inn :mod (g / good) :location (h / here))")
BIG = ("We have an old house.", "(h / have-03 :ARG0 (w / we) :ARG1 (h2 / house :mod (o / old)))")


@pytest.fixture(scope="module")
def decoder() -> Decoder:
    return get_decoder("surface")


WALK = (
    "You should take a long walk.",
    "(r / recommend-01 :ARG1 (w / walk-01 :ARG0 (y / you) :ARG1-of (l / long-03)))",
)
RECEIVED = (
    "Anna has just received her shots.",
    '(r / receive-01 :ARG0 (p / person :name (n / name :op1 "Anna")) :ARG1 (s / shot) :time (j / just))',
)


def edited(
    said: tuple[str, str], *edits: dict[str, Any], source: tuple[str, str] | None = None
) -> EditedUtterance:
    text, penman = said
    graph = parse_graph(penman, "d#0")
    made = tuple(
        Edit(**{"transform": "t", "category": "C-cont", "site": "s", "amr": "d#0", **e}) for e in edits
    )
    sources = {} if source is None else {"d#9": parse_graph(source[1], "d#9")}
    texts = {} if source is None else {"d#9": source[0]}
    return EditedUtterance("d#0", "A", text, graph, graph, made, sources, texts)


FISH = "(l / like-01 :ARG0 (y / you) :ARG1 (f / fish) :ARG1-of (r / request-confirmation-91))"


def decode(said: tuple[str, str], *edits: dict[str, Any], source: tuple[str, str] | None = None) -> str:
    answer = get_decoder("surface").decode([edited(said, *edits, source=source)])[0]
    return answer.text or answer.reason or ""


def place(penman: str, label: str) -> int:
    return next(node.position for node in parse_graph(penman).nodes if node.label == label)


@pytest.mark.parametrize(
    ("said", "label", "expected"),
    [
        (SEEN, "see-01", "I haven't seen that movie."),
        (SAW, "see-01", "I did not see a bird ."),
        (WORKS, "work-01", "She does not work at the bank."),
        (TIRED, "tire-01", "I am not tired."),
        (SWIM, "possible-01", "My brother cannot swim."),
        (OPEN, "open-01", "Do not open the window, please."),
        (HOME, "go-02", "They did not go home but watched TV."),
        (HOME, "watch-01", "They went home and did not watch TV."),
        (INN, "inn", "There is no good inn here."),
        (BIG, "have-03", "We do not have an old house."),
        (
            ("That's normal here.", "(n / normal-02 :ARG1 (t / that) :location (h / here))"),
            "normal-02",
            USUAL,
        ),
        (("That's kind of you.", "(k / kind-01 :ARG1 (t / that) :ARG0 (y / you))"), "kind-01", UNKIND),
        (("I have tried.", "(t / try-01 :ARG0 (i / i))"), "try-01", "I have not tried."),
        (("They have married her.", "(m / marry-01 :ARG0 (t / they) :ARG1 (s / she))"), "marry-01", MARRIED),
        (("I have tired eyes.", TIRED_EYES), "have-03", "I do not have tired eyes."),
        (WALK, "recommend-01", "You should not take a long walk."),
        (("You like fish, don't you?", FISH), "like-01", "You don't like fish, do you?"),
    ],
)
def test_added_polarity_negates_the_clause(said: tuple[str, str], label: str, expected: str) -> None:
    assert decode(said, NOT | {"position": place(said[1], label)}) == expected


@pytest.mark.parametrize(
    ("text", "penman", "expected"),
    [
        (*LIKE, "I like it."),
        ("She did not go.", "(g / go-02 :polarity - :ARG0 (s / she))", "She went."),
        ("We can't stay.", "(p / possible-01 :polarity - :ARG1 (s / stay-01 :ARG1 (w / we)))",
         "We can stay."),
        ("He never eats meat.", "(e / eat-01 :polarity - :ARG0 (h / he) :ARG1 (m / meat) :time (e2 / ever))",
         "He eats meat."),
        ("It is unfair.", "(f / fair-01 :polarity - :ARG1 (i / it))", "It is fair."),
        ("Do not move !", "(m / move-01 :polarity - :mode imperative :ARG0 (y / you))", "Move !"),
        ("She can't swim, can she?", "(p / possible-01 :polarity - :ARG1 (s / swim-01 :ARG0 (s2 / she)))",
         "She can swim, can't she?"),
        ("He never calls, does he?", "(c / call-02 :polarity - :ARG0 (h / he) :time (e / ever))",
         "He calls, doesn't he?"),
        ("I have no idea .", "(h / have-03 :polarity - :ARG0 (i / i) :ARG1 (i2 / idea))", "I have an idea ."),
    ],
)  # fmt: skip
def test_dropped_polarity_makes_the_clause_positive(text: str, penman: str, expected: str) -> None:
    assert decode((text, penman), {"op": "drop", "position": place(penman, "-")}) == expected


def test_an_already_negative_clause_is_refused() -> None:
    assert decode(LIKE, NOT | {"position": 0}).startswith("already-negative:")


@pytest.mark.parametrize(
    ("said", "label", "concept", "expected"),
    [
        (SAW, "see-01", "miss-01", "I missed a bird ."),
        (WORKS, "work-01", "rest-01", "She rests at the bank."),
        (BIG, "old", "new", "We have a new house."),
        (BIG, "house", "garden", "We have an old garden."),
        (RECEIVED, "receive-01", "give-01", "Anna has just given her shots."),
    ],
)
def test_a_new_concept_is_inflected_like_the_old_one(
    said: tuple[str, str], label: str, concept: str, expected: str
) -> None:
    assert decode(said, {"op": "set", "position": place(said[1], label), "concept": concept}) == expected


def test_pronouns_change_in_every_mention_and_verbs_agree() -> None:
    said = ("He says his mother loves him.",
            "(s / say-01 :ARG0 (h / he) :ARG1 (l / love-01 :ARG0 (m / mother :poss h) :ARG1 h))")  # fmt: skip
    assert (
        decode(said, {"op": "set", "position": 1, "concept": "they"}) == "They say their mother loves them."
    )


def test_i_and_you_can_be_swapped() -> None:
    said = ("I am sure you know my sister.",
            "(s / sure-02 :ARG0 (i / i) "
            ":ARG1 (k / know-02 :ARG0 (y / you) :ARG1 (s2 / sister :poss i)))")  # fmt: skip
    swap = [
        {"op": "set", "position": place(said[1], one), "concept": other}
        for one, other in (("i", "you"), ("you", "i"))
    ]
    assert decode(said, *swap) == "You are sure I know your sister."


def test_a_pronoun_can_be_replaced_by_a_noun_phrase() -> None:
    source = ("I met the tall man.", "(m / meet-02 :ARG0 (i / i) :ARG1 (m2 / man :mod (t / tall)))")
    graft = {"op": "graft", "position": 1, "from_amr": "d#9", "from_position": 2}
    assert decode(WORKS, graft, source=source) == "The tall man works at the bank."


def test_a_possessive_is_replaced_by_a_noun_with_s() -> None:
    said = ("I read her book.", "(r / read-01 :ARG0 (i / i) :ARG1 (b / book :poss (s / she)))")
    source = ("I met the tall man.", "(m / meet-02 :ARG0 (i / i) :ARG1 (m2 / man :mod (t / tall)))")
    graft = {"op": "graft", "position": 3, "from_amr": "d#9", "from_position": 2}
    assert decode(said, graft, source=source) == "I read the tall man's book."


def test_a_phrase_replaces_another_one() -> None:
    source = (
        "We ate three red apples.",
        "(e / eat-01 :ARG0 (w / we) :ARG1 (a / apple :quant 3 :mod (r / red)))",
    )
    graft = {"op": "graft", "position": place(SAW[1], "bird"), "from_amr": "d#9", "from_position": 2}
    assert decode(SAW, graft, source=source) == "I saw three red apples ."


def test_a_dropped_phrase_loses_its_preposition() -> None:
    assert decode(WORKS, {"op": "drop", "position": place(WORKS[1], "bank")}) == "She works."


def test_a_dropped_object_becomes_something() -> None:
    assert decode(SAW, {"op": "drop", "position": place(SAW[1], "bird")}) == "I saw something ."


def test_a_dropped_sentence_is_removed_completely() -> None:
    said = ("I like tea. Do you like tea?",
            "(m / multi-sentence :snt1 (l / like-01 :ARG0 (i / i) :ARG1 (t / tea)) :snt2 (l2 / like-01 "
            ":polarity (a / amr-unknown) :ARG0 (y / you) :ARG1 (t2 / tea)))")  # fmt: skip
    assert decode(said, {"op": "drop", "position": 4}) == "I like tea."


def test_a_reply_without_content_is_a_single_word() -> None:
    assert (
        decode(
            WORKS,
            {"op": "wrap", "position": 0, "role": "mod", "concept": "okay"},
            {"op": "drop", "position": 0},
        )
        == "Okay."
    )
    children = [{"op": "drop", "position": 1}, {"op": "drop", "position": 2}]
    assert decode(WORKS, *children, {"op": "set", "position": 0, "concept": "hmm"}) == "Hmm."


@pytest.mark.parametrize(
    ("said", "label", "when", "expected"),
    [
        (SEEN, "see-01", "yesterday", "I saw that movie yesterday."),
        (SEEN, "see-01", "tomorrow", "I will see that movie tomorrow."),
        (WORKS, "work-01", "yesterday", "She worked at the bank yesterday."),
        (TIRED, "tire-01", "tomorrow", "I will be tired tomorrow."),
        (SAW, "see-01", "now", "I see a bird now ."),
        (HOME, "go-02", "tomorrow", "They will go home and watch TV tomorrow."),
        (LIKE, "like-01", "yesterday", "I didn't like it yesterday."),
    ],
)
def test_an_added_time_brings_its_tense(said: tuple[str, str], label: str, when: str, expected: str) -> None:
    edit = {"op": "add", "position": place(said[1], label), "role": "time", "concept": when}
    assert decode(said, edit) == expected


def test_another_day_changes_the_tense_too() -> None:
    said = ("I will call you tomorrow.", "(c / call-02 :ARG0 (i / i) :ARG1 (y / you) :time (t / tomorrow))")
    assert decode(said, {"op": "set", "position": 3, "concept": "yesterday"}) == "I called you yesterday."


def test_months_and_numbers_are_written_as_they_were() -> None:
    said = ("I came on May 3 for six days.",
            "(c / come-01 :ARG1 (i / i) :time (d / date-entity :month 5 :day 3) "
            ":duration (t / temporal-quantity :quant 6 :unit (d2 / day)))")  # fmt: skip
    assert decode(said, {"op": "set", "position": 3, "value": "8"}) == "I came on August 3 for six days."
    assert decode(said, {"op": "set", "position": 6, "value": "1"}) == "I came on May 3 for one day."


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (SEEN, "Have I seen that movie?"),
        (WORKS, "Does she work at the bank?"),
        (SWIM, "Can my brother swim?"),
        (INN, "Is there a good inn here?"),
        (OPEN, "Will you open the window, please?"),
        (SAW, "Did I see a bird ?"),
    ],
)
def test_a_statement_becomes_a_question(said: tuple[str, str], expected: str) -> None:
    assert decode(said, ASK | {"position": 0}) == expected


def test_a_question_becomes_a_statement() -> None:
    assert decode(FRIEND, {"op": "drop", "position": place(FRIEND[1], "amr-unknown")}) == "He is your friend."


def test_a_statement_becomes_an_order() -> None:
    assert decode(WORKS, ORDER | {"position": 0}) == "Let her work at the bank."
    you = ("You never listen.", "(l / listen-01 :polarity - :ARG0 (y / you) :time (e / ever))")
    assert decode(you, ORDER | {"position": 0}) == "Never listen."


def test_an_order_becomes_a_statement() -> None:
    assert decode(OPEN, {"op": "drop", "position": place(OPEN[1], "imperative")}) == "You open the window."


@pytest.mark.parametrize(
    ("said", "concept", "expected"),
    [
        (WORKS, "doubt-01", "I doubt that she works at the bank."),
        (SEEN, "refuse-01", "I refuse to see that movie."),
        (TIRED, "admit-01", "I admit that I am tired."),
        (FRIEND, "doubt-01", "I doubt that he is your friend."),
        (WORKS, "order-01", "I order that she work at the bank."),
        (OPEN, "refuse-01", "I refuse to open the window, please."),
    ],
)
def test_a_predicate_above_the_sentence(said: tuple[str, str], concept: str, expected: str) -> None:
    wrap = {"op": "wrap", "position": 0, "role": "ARG1", "concept": concept}
    assert decode(said, wrap, {"op": "add", "position": -1, "role": "ARG0", "concept": "i"}) == expected


def test_a_contradicted_turn_is_appended_as_a_sentence() -> None:
    edits = [
        {"op": "wrap", "position": 0, "role": "snt1", "concept": "multi-sentence"},
        {"op": "graft", "position": -1, "role": "snt", "from_amr": "d#9", "from_position": 0},
        NOT | {"position": 0, "copy_of": "d#9"},
    ]
    assert decode(TIRED, *edits, source=WORKS) == "I am tired. She does not work at the bank."


def test_only_the_copied_sentence_of_a_turn_is_appended() -> None:
    source = ("It is late. I like tea.",
              "(m / multi-sentence :snt1 (l / late :domain (i / it)) "
              ":snt2 (l2 / like-01 :ARG0 (i2 / i) :ARG1 (t / tea)))")  # fmt: skip
    edits = [
        {"op": "wrap", "position": 0, "role": "snt1", "concept": "multi-sentence"},
        {"op": "graft", "position": -1, "role": "snt", "from_amr": "d#9", "from_position": 3},
        {"op": "set", "position": 3, "concept": "hate-01", "copy_of": "d#9"},
    ]
    assert decode(TIRED, *edits, source=source) == "I am tired. I hate tea."


def test_a_name_is_replaced_by_another() -> None:
    said = ("Anna called me.", '(c / call-02 :ARG0 (p / person :name (n / name :op1 "Anna")) :ARG1 (i / i))')
    assert decode(said, {"op": "set", "position": 3, "value": '"Bob"'}) == "Bob called me."


def test_edits_combine() -> None:
    edits = [NOT | {"position": 0}, {"op": "set", "position": place(BIG[1], "old"), "concept": "new"}]
    assert decode(BIG, *edits) == "We do not have a new house."


def test_unedited_words_are_unchanged() -> None:
    said = ("  Well -- I saw   a  bird!!  (really)", SAW[1])
    assert decode(said, NOT | {"position": 0}) == "  Well -- I did not see   a  bird!!  (really)"


def test_a_decoder_never_returns_the_original() -> None:
    assert refuse_original("So what?", Decoded("So  what? ")).reason is not None
    assert decode(WORKS).startswith("unchanged:")


@pytest.mark.parametrize("text", ["", "   ", "😀", "这是什么?", "word " * 5000])
def test_odd_texts_give_a_reason(text: str) -> None:
    answer = get_decoder("surface").decode([edited((text, WORKS[1]), NOT | {"position": 0})])[0]
    assert answer.text is None
    assert answer.reason is not None
    assert not answer.reason.startswith("internal-error")


def test_an_unknown_decoder_is_refused_by_name() -> None:
    with pytest.raises(DecoderError, match="surface"):
        get_decoder("magic")


_SAID = [SEEN, SAW, WORKS, TIRED, SWIM, OPEN, LIKE, HOME, FRIEND, INN, BIG]
_EDIT = st.fixed_dictionaries(
    {"op": st.sampled_from(["set", "add", "drop", "graft", "wrap"]), "position": st.integers(-1, 6)},
    optional={
        "role": st.sampled_from(["polarity", "mode", "time", "ARG1", "snt", "snt1", "op1"]),
        "concept": st.sampled_from(
            ["he", "you", "amr-unknown", "hate-01", "big", "yesterday", "dog", "okay", "doubt-01"]
        ),
        "value": st.sampled_from(["-", "imperative", '"Bob"', "7"]),
        "from_amr": st.just("d#9"),
        "from_position": st.integers(0, 6),
    },
)  # fmt: skip


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_text_or_edit_raises_an_error(decoder: Decoder, data: st.DataObject) -> None:
    text, penman = data.draw(st.sampled_from(_SAID))
    foreign = data.draw(st.one_of(st.just(text), st.text(max_size=60), st.just(text + " " + text)))
    edits = data.draw(st.lists(_EDIT, min_size=1, max_size=4))
    item = edited((foreign, penman), *edits, source=data.draw(st.sampled_from(_SAID)))
    answer = decoder.decode([item])[0]
    assert (answer.text is None) != (answer.reason is None)
    assert answer.reason is None or not answer.reason.startswith("internal-error"), answer.reason
    assert answer.text is None or " ".join(answer.text.split()) != " ".join(foreign.split())


@pytest.mark.skipif(not BOOK.exists(), reason="the Little Prince graphs are not here")
def test_nine_in_ten_negations_of_main_predicates_are_realised(decoder: Decoder) -> None:
    items: list[EditedUtterance] = []
    with BOOK.open(encoding="utf-8") as file:
        for _, block in iter_blocks(file):
            graph = parse_graph(block, "d#0")
            text = next((line[8:] for line in block.splitlines() if line.startswith("# ::snt ")), "")
            if text and _is_plain_statement(graph):
                edit = Edit("polarity_flip", "C-cont", "s", "add", "d#0", 0, role="polarity", value="-")
                items.append(EditedUtterance("d#0", "A", text, graph, graph, (edit,)))
    random.Random(0).shuffle(items)
    answers = decoder.decode(items)
    assert sum(answer.text is not None for answer in answers) >= 0.9 * len(items)


def _is_plain_statement(graph: AmrGraph) -> bool:
    labels = {node.label for node in graph.nodes}
    frame = (graph.top.concept or "")[-3:-2] == "-" and not (graph.top.concept or "").endswith("-91")
    return frame and len(graph.nodes) > 2 and not labels & {"amr-unknown", "-", "expressive", "contrast-01"}


LEFT = ("Yes, and we left.", "(l / leave-11 :ARG0 (w / we))")
COPY = (
    {"op": "wrap", "position": 0, "role": "snt1", "concept": "multi-sentence"},
    {"op": "graft", "position": -1, "role": "snt", "from_amr": "d#9", "from_position": 0},
)


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ({"op": "graft", "position": 1, "from_amr": "d#8", "from_position": 0}, "no-source: the text of d#8"),
        ({"op": "set", "position": 1}, "unsupported-edit: an edit sets neither a concept nor a value"),
        (
            {"op": "add", "position": 0, "role": "mod", "concept": "red"},
            "unsupported-edit: no rule adds words for :mod red",
        ),
        ({"op": "wrap", "position": 1, "concept": "doubt-01"}, "unsupported-edit: only a whole sentence"),
        (
            {"op": "graft", "position": -1, "role": "ARG1", "from_amr": "d#9", "from_position": 0},
            "unsupported-edit: a subtree",
        ),
        ({"op": "drop", "position": 9}, "unsupported-edit: the graph has no node 9"),
    ],
)
def test_an_edit_without_words_is_refused_with_a_reason(edit: dict[str, Any], why: str) -> None:
    assert decode(TIRED, edit, source=LEFT).startswith(why)


@pytest.mark.parametrize(
    ("text", "code"), [("  ", "empty"), ("Я устал.", "not-english"), ("so " * 1001, "too-long")]
)
def test_a_text_that_can_not_be_edited_is_refused(text: str, code: str) -> None:
    assert decode((text, TIRED[1]), {"op": "drop", "position": 1}).startswith(code)


def test_another_turn_can_replace_or_follow_the_text() -> None:
    instead = {"op": "graft", "position": 0, "from_amr": "d#9", "from_position": 0}
    denied = NOT | {"position": 0, "copy_of": "d#9"}
    assert decode(TIRED, instead, source=LEFT) == "We left."
    assert decode(TIRED, *COPY, denied, source=LEFT) == "I am tired. We did not leave."
    assert decode(TIRED, *COPY, source=LEFT) == "I am tired. We left."


@pytest.mark.parametrize(
    ("text", "expected"),
    [("I am tired.", "Okay."), ("i am tired .", "okay ."), ('" I am tired . "', '" Okay . "')],
)
def test_a_reply_without_content_is_one_word_written_like_the_text(text: str, expected: str) -> None:
    edits = {"op": "set", "position": 0, "concept": "okay"}, {"op": "drop", "position": 1}
    assert decode((text, TIRED[1]), *edits) == expected

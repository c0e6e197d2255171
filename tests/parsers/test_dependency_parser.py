"""Tests of the graphs that the dependency parser makes of everyday sentences."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

pytest.importorskip("spacy", reason="the dependency parser needs spaCy")

from graphneg.amr.penman import format_graph
from graphneg.english.tokens import tokenize
from graphneg.parsers.dependency.draft import assemble
from graphneg.parsers.dependency.parser import DependencyParser, write_draft
from graphneg.parsers.dependency.text import load_model, read_words
from tests.parsers.one_line import parsed_line

Parse = Callable[[str], str]


@pytest.fixture(scope="module")
def parser() -> DependencyParser:
    """Return the parser without its learned parts, so that a failure points to a rule."""
    return DependencyParser(revisers=())


@pytest.fixture(scope="module")
def parse(parser: DependencyParser) -> Parse:
    """Return a function that parses a text and writes the graph on one line."""

    return partial(parsed_line, parser)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The dog was chased by a cat.", "(c / chase-01 :ARG0 (c2 / cat) :ARG1 (d / dog))"),
        ("She gave him a book.", ":ARG1 (b / book) :ARG2 (h / he)"),
        ("He looked for his keys.", "look-01 :ARG0 (h / he) :ARG1 (k / key"),
        ("They gave up.", "(g / give-up-07 :ARG0 (t / they))"),
        ("The soup is hot.", "(h / hot-"),
        ("My brother is a pilot.", ":domain (p"),
        ("Turn left at the bakery.", "(t / turn-01 :ARG0 (y / you)"),
        ("Then turn left.", ":direction (l / left)"),
        (
            "My aunt is from Norway.",
            "(b / be-from-91 :ARG1 (p / person",
        ),
        (
            "Where is this cheese from?",
            "(b / be-from-91 :ARG1 (c / cheese :mod (t / this)) :ARG2 (a / amr-unknown))",
        ),
        ("The keys are in the kitchen.", "(b / be-located-at-91 :ARG1 (k / key) :ARG2 (k2 / kitchen))"),
    ],
)
def test_predicates_take_their_arguments(parse: Parse, text: str, expected: str) -> None:
    assert expected in parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't like tea.", "(l / like-01 :ARG0 (i / i) :ARG1 (t / tea) :polarity -)"),
        ("He never smokes.", ":polarity -"),
        ("I have no money.", "(h / have-03 :ARG0 (i / i) :ARG1 (m / money) :polarity -)"),
        ("She left without a word.", ":polarity -"),
        ("I can't swim.", "(p / possible-01 :ARG1 (s / swim-01 :ARG0 (i / i)) :polarity -)"),
        ("You mustn't touch it.", "obligate-01 :ARG2 (t / touch-01"),
        ("She is unhappy.", "(h / happy-01 :ARG1 (s / she) :polarity -)"),
        ("I ’ m sure you can ’ t go .", ":polarity -"),
        ("There is no dog barking.", "(b / bark-01 :ARG0 (d / dog) :polarity -)"),
        ("A man with no hat left.", "wear-01 :ARG1 (h / hat) :polarity -)"),
        (
            "I can't ski or skate.",
            "(p / possible-01 :ARG1 (o / or :op1 (s / ski-01 :ARG0 (i / i)) :op2 (s2 / skate-01 :ARG0 i))",
        ),
        ("He can't cook or dance.", "(p / possible-01 :ARG1 (o / or"),
        ("I won't.", "(d / do-02 :ARG0 (i / i) :polarity -)"),
    ],
)
def test_negated_concepts_have_a_polarity(parse: Parse, text: str, expected: str) -> None:
    assert expected in parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Can you swim?",
            "(p / possible-01 :ARG1 (s / swim-01 :ARG0 (y / you)) :polarity (a / amr-unknown))",
        ),
        ("Do you like tea?", ":polarity (a / amr-unknown)"),
        ("What did you buy?", "(b / buy-01 :ARG0 (y / you) :ARG1 (a / amr-unknown))"),
        ("Where do you live?", ":location (a / amr-unknown)"),
        ("Why did he leave?", "(c / cause-01 :ARG0 (a / amr-unknown) :ARG1 (l / leave-"),
        ("How many books did you read?", "(b / book :quant (a / amr-unknown))"),
        ("Which book did you read?", "(b / book :mod (a / amr-unknown))"),
        ("It's cold, isn't it?", ":ARG1-of (r / request-confirmation-91)"),
        ("Open the window, please!", ":mode imperative :polite +"),
        ("Oh, wow!", ":mode expressive"),
        ("Let's go!", "(g / go-02 :ARG0 (w / we) :mode imperative)"),
        ("Can you help me, sir?", ":vocative (s / sir)"),
        ("How long did you stay?", ":duration (a / amr-unknown)"),
        ("Thank you.", "(t / thank-01 :ARG0 (i / i) :ARG1 (y / you))"),
    ],
)
def test_questions_orders_and_exclamations(parse: Parse, text: str, expected: str) -> None:
    assert expected in parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna Smith lives in London.", '(p / person :name (n / name :op1 "Anna" :op2 "Smith"))'),
        ("We met in London.", '(c / city :name (n / name :op1 "London"))'),
        ("She ate French bread.", '(c / country :name (n / name :op1 "France"))'),
        ("It costs 5 dollars.", "monetary-quantity :unit (d / dollar) :quant 5"),
        ("The box weighs three pounds.", "(m / mass-quantity :unit (p / pound) :quant 3)"),
        (
            "She bought two pounds of rice.",
            ":ARG1 (r / rice :quant (m / mass-quantity :unit (p / pound) :quant 2))",
        ),
        ("The ticket costs nine pounds.", "(m / monetary-quantity :unit (p / pound) :quant 9)"),
        ("I know how many guests came.", ":quant (t / thing)"),
        ("The leaves are wet.", "(l / leaf)"),
        ("It costs $ 20.", "monetary-quantity :quant 20 :unit (d / dollar)"),
        ("Come on Monday.", "(d / date-entity :weekday (m / monday))"),
        ("We met on June 12.", "date-entity :month 6 :day 12"),
        ("Come at 6.", '(d / date-entity :time "6:00")'),
        ("We work from nine to five.", '(d / date-interval :op1 (d2 / date-entity :time "9:00")'),
        ("He stayed for twenty-two days.", "temporal-quantity :unit (d / day) :quant 22"),
        ("My sister called.", "(h / have-rel-role-91 :ARG1 (i / i) :ARG2 (s / sister))"),
        ("This is my second cup.", ":ord (o / ordinal-entity :value 2)"),
    ],
)
def test_names_numbers_and_kin(parse: Parse, text: str, expected: str) -> None:
    assert expected in parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tom and Ann left.", "(a / and :op1 (p / person"),
        ("I called but nobody answered.", "(c / contrast-01 :ARG1 (c2 / call-"),
        ("But I called.", "(c / contrast-01 :ARG2 (c2 / call-"),
        ("He wants to sleep.", "(w / want-01 :ARG0 (h / he) :ARG1 (s / sleep-01 :ARG0 h))"),
        ("The man who called left.", "(m / man :ARG0-of (c / call-"),
        ("I left because it rained.", "cause-01 :ARG0 (r / rain-01"),
        ("If it rains, we stay.", ":condition (r / rain-01"),
        (
            "She is taller than me.",
            ":ARG1 (s / she) :ARG2 (t / tall) :ARG3 (m / more) :ARG4 (i / i)",
        ),
        ("I read every day.", "rate-entity-91 :ARG3 (t / temporal-quantity"),
        ("I was tired, so I left.", ":ARG0-of (c / cause-01 :ARG1 (l / leave-"),
        ("It is hard to swim.", "(h / hard-02 :ARG1 (s / swim-01))"),
        ("You should sit and wait.", "(r / recommend-01 :ARG1 (a / and :op1 (s / sit-01"),
        ("He took a walk.", "(w / walk-01 :ARG0 (h / he))"),
        ("My father is a teacher.", "(p / person :ARG0-of (t / teach-01) :domain (p2 / person"),
        ("My name is Tom.", '(p / person :name (n / name :op1 "Tom") :domain (i / i))'),
        ('"I know you," she told him.', "(t / tell-01 :ARG0 (s / she) :ARG1 (k / know-01 :ARG0 s :ARG1 h)"),
    ],
)
def test_clauses_are_joined(parse: Parse, text: str, expected: str) -> None:
    assert expected in parse(text)


def test_several_sentences_are_below_multi_sentence(parse: Parse) -> None:
    graph = parse("Oh, really? I'd love to go!")
    assert graph.startswith("(m / multi-sentence :snt1 (r / real")
    assert ":snt2 (l / love-02 :ARG0 (i / i) :ARG1 (g / go-02 :ARG0 i))" in graph


def test_a_shared_pronoun_does_not_merge_two_sentences(parser: DependencyParser) -> None:
    graph = parser.parse_batch(["I saw you. You washed your hair."])[0].graph
    assert graph is not None
    second = next(node for node in graph.nodes if node.role == "snt2")
    hair = next(node for node in graph.nodes if node.concept == "hair")
    assert second.position < hair.position <= second.subtree_last


def test_nodes_are_aligned_to_their_words(parser: DependencyParser) -> None:
    text = "The old man can ’ t open two heavy doors."
    graph = parser.parse_batch([text])[0].graph
    assert graph is not None
    tokens = [token.text for token in tokenize(text)]
    words = {graph.nodes[k].label: tokens[start:end] for k, (start, end) in graph.spans.items()}
    assert words["man"] == ["man"]
    assert words["possible-01"] == ["can"]
    assert words["-"] == ["’", "t"]
    assert words["2"] == ["two"]
    assert words["door"] == ["doors"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Good morning Class There is a test today.", ':op1 "Class")'),
        ("I saw Class There yesterday.", ":location (t / there)"),
    ],
)
def test_there_with_a_capital_is_no_name(text: str, expected: str) -> None:
    """After a capitalised word, as in "Class There is a test", taggers mark "There" as a proper noun."""
    doc = load_model(None)(text)
    doc[[token.text for token in doc].index("There")].tag_ = "NNP"
    graph = " ".join(format_graph(assemble([write_draft(text, read_words(doc))], text)).split())
    assert expected in graph
    assert '"There"' not in graph

"""Tests that the dependency parser makes a well-formed graph of any text, in linear time."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("spacy", reason="the dependency parser needs spaCy")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphneg.amr.wellformed import check
from graphneg.english.tokens import tokenize
from graphneg.errors import ParserError
from graphneg.parsers.base import LONGEST_TEXT, checked
from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.parser import DependencyParser
from graphneg.parsers.dependency.rules.trees import is_below, promote, reattach
from graphneg.parsers.dependency.text import Word

FUNCTION_WORDS = """
I you not no never , . ? ! " ' and but or the a to be is was have can that which who what
because if than as more most too so So well just only how many
none neither let's 's n't -- ; 5 June Monday $ Tom dog runs gave up of in with : ( )
"""
ODD = {
    "empty": "",
    "blank": " \n\t ",
    "brackets": "((( :ARG0 / ~e.1 )))",
    "quotes": "\"\"\" ''' “”",
    "one sign": "?",
    "one letter": "S",
    "one semicolon": ";",
    "left above its turn": "Left, and we all go home and turn left left.",
    "so at the end": "form to prefer which use transport ? do you So",
    "control characters": "a\x00b\x07c",
    "lone surrogate": "hello \ud800 there",
    "emoji": "I love it 😀😀 👨‍👩‍👧!",
    "markup": '<a href="x">click &amp; go</a>',
    "chinese": "我不知道你在说什么。",
    "arabic": "لا أعرف ماذا تقول",
    "german": "Ich weiß nicht, was du meinst.",
    "variable": "a1 b2 :mode",
    "no letters": "12 34 --- 56",
    "long word": "a" * 3000,
    "newlines": "Hi\n\nthere\r\nyou",
    "no breaks": "never," * 300,
    "conjunctions": "and but or and but",
    "be": "be is are been being be",
    "prepositions": "of in to of in to",
}


@pytest.fixture(scope="module")
def parser() -> DependencyParser:
    return DependencyParser()


@pytest.mark.parametrize("name", ODD)
def test_odd_text_gives_a_well_formed_graph(parser: DependencyParser, name: str) -> None:
    parsed = parser.parse_batch([ODD[name]])[0]
    assert parsed.graph is not None
    assert check(parsed.graph) == []
    again = checked(parser).parse_batch([ODD[name]])[0]
    assert again.graph is not None


def test_an_empty_text_gives_a_warning(parser: DependencyParser) -> None:
    assert parser.parse_batch([""])[0].warnings[0].startswith("empty:")


def test_a_long_text_gives_a_warning(parser: DependencyParser) -> None:
    parsed = parser.parse_batch(["We walked along the river. " * 50])[0]
    assert parsed.warnings == ("long: 1,350 characters were parsed in 2 separate pieces",)


def test_graphs_are_in_the_order_of_the_texts(parser: DependencyParser) -> None:
    texts = ["I sleep.", "", "You run.", "\x00", "They sing."]
    parsed = parser.parse_batch(texts)
    assert len(parsed) == len(texts)
    labels = [{node.label for node in one.graph.nodes} for one in parsed if one.graph is not None]
    assert "sleep-01" in labels[0]
    assert "run-02" in labels[2]
    assert "sing-01" in labels[4]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=120))
def test_any_text_gives_a_well_formed_graph(parser: DependencyParser, text: str) -> None:
    parsed = parser.parse_batch([text])[0]
    assert parsed.graph is not None
    assert check(parsed.graph) == []


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(FUNCTION_WORDS.split()), max_size=40))
def test_any_sequence_of_function_words_gives_a_well_formed_graph(
    parser: DependencyParser, words: list[str]
) -> None:
    parsed = parser.parse_batch([" ".join(words)])[0]
    assert parsed.graph is not None
    assert check(parsed.graph) == []


@pytest.mark.parametrize("unit", ["I like the dog that ", "no ", "x", 'Tom said: "Well, go!" ', "(", "and "])
def test_parsing_takes_at_most_50_ms_per_token(parser: DependencyParser, unit: str) -> None:
    text = (unit * 10_000)[:10_000]
    start = time.thread_time()
    parsed = parser.parse_batch([text])[0]
    spent = time.thread_time() - start
    assert parsed.graph is not None
    assert check(parsed.graph) == []
    assert spent < 1 + 0.05 * len(tokenize(text))


def test_the_longest_text_is_one_graph_and_a_longer_one_is_refused(parser: DependencyParser) -> None:
    sentence = "We went home. "
    most = LONGEST_TEXT // len(sentence)
    longest, longer = checked(parser).parse_batch([sentence * most, sentence * (most + 1)])
    assert longest.graph is not None
    assert sum(node.concept == "home" for node in longest.graph.nodes) == most
    assert longer.graph is None and longer.warnings[0].startswith("too-long: ")


def test_a_missing_model_is_named() -> None:
    with pytest.raises(ParserError, match=r"there is no spaCy model 'en_core_web_none'.*pip install"):
        DependencyParser(model="en_core_web_none")


def test_a_directory_without_a_model_is_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("nothing")
    with pytest.raises(ParserError, match="can't be loaded as a spaCy model") as caught:
        DependencyParser(model=str(folder)).parse_batch(["I sleep."])
    assert "\n" not in str(caught.value)


def test_the_default_model_has_one_version() -> None:
    versions = {DependencyParser(model=name).version for name in (None, "en_core_web_sm")}
    assert len(versions) == 1


class FailingReviser:
    """Raise KeyError for texts with the word "platypus"."""

    version = "faulty"

    def revise(self, draft: GraphDraft) -> None:
        if any(word.lower == "platypus" for word in draft.words):
            raise KeyError("platypus")


def test_a_failing_rule_does_not_affect_other_texts() -> None:
    parser = DependencyParser(revisers=[FailingReviser()])
    good, bad = checked(parser).parse_batch(["The dog sleeps.", "A platypus sleeps."])
    assert good.graph is not None
    assert [node.concept for node in good.graph.nodes] == ["sleep-01", "dog"]
    assert good.warnings == ()
    assert bad.graph is not None
    assert len(bad.graph.nodes) == 1
    assert bad.warnings == ("fault: KeyError in a rule of the parser; the graph is a single word",)


@given(st.data())
def test_reattached_words_are_still_a_tree(data: st.DataObject) -> None:
    heads = [data.draw(st.integers(0, max(0, i - 1))) for i in range(data.draw(st.integers(2, 8)))]
    words = [
        Word(i, f"w{i}", f"w{i}", f"w{i}", "NN", "NOUN", "dep", heads[i], 2 * i, 2 * i + 1, 0)
        for i in range(len(heads))
    ]
    for word in words:
        word.tree = words
        word.dependents = [one.i for one in words if one.head == word.i and one is not word]
    for _ in range(4):
        one, other = data.draw(st.permutations(words))[:2]
        if data.draw(st.booleans()):
            reattach(one, other, "dep")
            assert one.head == other.i
        else:
            above = is_below(other, one)
            promote(one, other)
            assert above or other.head == one.i
        (root,) = [word for word in words if word.head == word.i]
        assert all(word is root or is_below(word, root) for word in words)
        assert all(
            word.dependents == [k.i for k in words if k.head == word.i and k is not word] for word in words
        )

"""Tests of the named queries: the same rows in the same order on both servers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError
from graphneg.store.connection import Store
from graphneg.store.queries import named_queries, named_query, near_topics, parse_query
from graphneg.store.reading import write_clause
from graphneg.store.statements import cypher_text
from tests.explore_samples import write_samples
from tests.servers import wipe
from tools.docs_pages import queries_page

PAGE = queries_page()
QUERIES = named_queries()
Rows = list[tuple[Any, ...]]
NO_DOG, ASKED = "I don't have a dog.", "Where does your dog sleep?"

FOUND: dict[str, tuple[dict[str, Any], Rows]] = {
    "behind": (
        {"focus": "coffee", "perspective": "tea"},
        [
            ("kitchen/train/2#1/r0", "kitchen", "I baked a cake to go with it.", "I would rather have tea."),
            ("kitchen/train/10#1", "kitchen", "Who wants coffee?", "Tea for me, please."),
        ],
    ),
    "clauses": (
        {"dialogue": "pets/train/1"},
        [
            (0, 0, "A", "like-01", "statement", "positive", "none", "present", False, False, True),
            (1, 0, "B", "sleep-01", "question", "positive", "none", "present", False, False, False),
            (2, 0, "A", "ask-01", "question", "positive", "none", "present", False, False, False),
            (3, 0, "B", "love-01", "statement", "positive", "none", "present", False, False, True),
            (4, 0, "A", "have-03", "statement", "negative", "none", "present", False, False, True),
        ],
    ),
    "contradictions": (
        {},
        [
            ("pets/train/1#4", "A", NO_DOG, "pets/train/1#0", "A", "I like my dog."),
            ("pets/train/1#4", "A", NO_DOG, "pets/train/1#1", "B", ASKED),
        ],
    ),
    "contested": ({}, [("coffee", "coffee", "tea", 1, 2), ("weather", "cold", "hot", 1, 2)]),
    "corpus_difference": (
        {"focus": "coffee", "one": "kitchen", "other": "travel", "limit": 3},
        [
            ("price", 0, 2, 0.0, 0.667, -0.667),
            ("cake", 3, 0, 0.5, 0.0, 0.5),
            ("café", 0, 1, 0.0, 0.333, -0.333),
        ],
    ),
    "corpus_shifts": (
        {"focus": "coffee", "corpus": "travel"},
        [("price", 2, 0.667), ("café", 1, 0.333)],
    ),
    "dead_ends": (
        {},
        [("price", 3, 2), ("cream", 2, 1), ("café", 1, 1), ("sugar", 1, 1), ("umbrella", 1, 1)],
    ),
    "entropy": (
        {"least": 3},
        [
            ("coffee", 9, 5, 2.197, 0.946),
            ("cake", 3, 2, 0.918, 0.918),
            ("tea", 3, 2, 0.918, 0.918),
            ("weather", 3, 2, 0.918, 0.918),
        ],
    ),
    "entity": (
        {"dialogue": "pets/train/1", "entity": "dog"},
        [
            ("pets/train/1#e1", 0, "A", "dog", "I like my dog."),
            ("pets/train/1#e1", 1, "B", "dog", ASKED),
        ],
    ),
    "predicate_arguments": (
        {"frame": "eat-01"},
        [("ARG1", "cake", "like pan", 1, "I only eat cake with cream.")],
    ),
    "hubs": (
        {"limit": 3},
        [("coffee", 9, 4, 5, 3), ("cake", 3, 4, 2, 2), ("hot", 2, 3, 2, 2)],
    ),
    "neighbourhood": (
        {"focus": "ticket", "examples": 1},
        [
            (
                "ticket",
                "price",
                1,
                [
                    [
                        "travel/train/4#2",
                        "travel",
                        "Have you got a ticket?",
                        "The ticket had a good price.",
                    ]
                ],
            ),
            (
                "ticket",
                "train",
                1,
                [
                    [
                        "travel/train/5#2",
                        "travel",
                        "The one on my ticket.",
                        "Show me the ticket: that is a night train.",
                    ]
                ],
            ),
            (
                "train",
                "ticket",
                2,
                [["travel/train/4#1", "travel", "The train leaves at nine.", "Have you got a ticket?"]],
            ),
        ],
    ),
    "one_way": (
        {},
        [("coffee", "cake", 3), ("cake", "cream", 2), ("coffee", "price", 2), ("weather", "hot", 2)],
    ),
    "only_in": ({"corpus": "kitchen"}, [("cake", 5), ("tea", 3), ("cream", 2)]),
    "opposite_shifts": (
        {},
        [
            ("coffee", "tea", 2, ["DistinctFrom"]),
            ("tea", "coffee", 2, ["DistinctFrom"]),
            ("cold", "hot", 1, ["Antonym"]),
            ("hot", "cold", 1, ["Antonym"]),
        ],
    ),
    "origins": ({"perspective": "cake"}, [("coffee", 3, 0.333), ("tea", 1, 0.333)]),
    "paths": (
        {"start": "tea", "end": "cream"},
        [(["tea", "coffee", "cake", "cream"], [2, 3, 2]), (["tea", "cake", "cream"], [1, 2])],
    ),
    "perspectives": (
        {"focus": "coffee", "limit": 3},
        [("cake", 3, 0.333), ("price", 2, 0.222), ("tea", 2, 0.222)],
    ),
    "reciprocal": ({}, [("coffee", "tea", 2, 2), ("ticket", "train", 1, 2), ("cold", "hot", 1, 1)]),
    "self_shifts": ({}, [("coffee", 1, 0.111)]),
    "shared_entities": ({}, [("pets/train/1", "pets/train/1#e1", "dog", "animal", 2, 2)]),
    "similar_foci": (
        {"focus": "coffee", "least": 1},
        [
            ("tea", 2, 0.4, ["cake", "coffee"]),
            ("hot", 1, 0.167, ["coffee"]),
            ("ticket", 1, 0.167, ["price"]),
        ],
    ),
    "surprising": (
        {"limit": 3},
        [("train", "ticket", 2, 3.7), ("cake", "cream", 2, 3.115), ("weather", "hot", 2, 2.531)],
    ),
    "thread": (
        {"dialogue": "travel/train/1"},
        [
            (0, "A", "How is the weather in Lisbon?", None, None),
            (1, "B", "It is hot.", "weather", "hot"),
            (2, "A", "Cold drinks for everyone, then.", "hot", "cold"),
        ],
    ),
    "topic": ({"focus": "coffee"}, [("coffee", 9, 4, 5, 3, 1, ["tea"])]),
    "unanswered": ({}, [("pets/train/1#1", "B", ASKED, "Why do you ask?")]),
}
NARROWED: list[tuple[str, dict[str, Any], Rows]] = [
    ("behind", {"focus": "coffee", "perspective": "tea", "corpus": "travel"}, []),
    ("contradictions", {"corpus": "kitchen"}, []),
    ("contradictions", {"speaker": "B"}, []),
    ("contradictions", {"dialogue": "pets/train/2"}, []),
    ("contested", {"focus": "weather"}, [("weather", "cold", "hot", 1, 2)]),
    ("one_way", {"least": 3}, [("coffee", "cake", 3)]),
    ("origins", {"perspective": "weather"}, []),
    (
        "paths",
        {"start": "tea", "end": "cream", "least": 2},
        [(["tea", "coffee", "cake", "cream"], [2, 3, 2])],
    ),
    ("paths", {"start": "cream", "end": "tea"}, []),
    ("similar_foci", {"focus": "coffee"}, [("tea", 2, 0.4, ["cake", "coffee"])]),
    ("similar_foci", {"focus": "coffee", "shown": 1}, [("tea", 2, 0.4, ["cake"])]),
    ("surprising", {"least": 3}, [("coffee", "cake", 3, 1.115)]),
    ("topic", {"focus": "cream"}, [("cream", 0, 2, 0, 1, 0, [])]),
    ("hubs", {"limit": 0}, []),
    ("shared_entities", {"corpus": "kitchen"}, []),
    ("unanswered", {"speaker": "A"}, []),
    ("unanswered", {"corpus": "pets"}, [("pets/train/1#1", "B", ASKED, "Why do you ask?")]),
]


@pytest.fixture(scope="module")
def graph(store: Store) -> DialogueGraph:
    wipe(store)
    write_samples(store)
    return DialogueGraph(store)


def found(graph: DialogueGraph, name: str, parameters: dict[str, Any]) -> Rows:
    return [tuple(row.values()) for row in graph.explore(name, **parameters)]


class TestQueries:
    def test_each_has_a_test(self) -> None:
        assert FOUND.keys() == QUERIES.keys()

    @pytest.mark.parametrize("name", QUERIES)
    def test_each_finds_its_rows_in_their_order(self, graph: DialogueGraph, name: str) -> None:
        parameters, rows = FOUND[name]
        assert found(graph, name, parameters) == rows

    @pytest.mark.parametrize(("name", "parameters", "rows"), NARROWED)
    def test_parameters_filter_the_rows(
        self, graph: DialogueGraph, name: str, parameters: dict[str, Any], rows: Rows
    ) -> None:
        assert found(graph, name, parameters) == rows

    @pytest.mark.parametrize("name", QUERIES)
    def test_columns_are_those_that_the_header_names(self, graph: DialogueGraph, name: str) -> None:
        columns = graph.explore(name, **FOUND[name][0]).columns
        documented = re.sub(r"\([^)]*\)", "", QUERIES[name].columns)
        assert columns == re.findall(r"\w+", documented.replace(" and ", " "))

    @pytest.mark.parametrize(
        "name", [name for name in QUERIES if "limit" in FOUND[name][0] or name == "hubs"]
    )
    def test_a_limit_cuts_the_same_rows_off(self, graph: DialogueGraph, name: str) -> None:
        parameters, _ = FOUND[name]
        most = found(graph, name, parameters | {"limit": 100})
        assert found(graph, name, parameters | {"limit": 2}) == most[:2]

    @pytest.mark.parametrize("name", QUERIES)
    def test_no_query_looks_like_a_write(self, name: str) -> None:
        assert write_clause(QUERIES[name].text) is None

    def test_an_empty_graph_has_no_hubs(self, graph: DialogueGraph) -> None:
        assert found(graph, "corpus_shifts", {"focus": "coffee", "corpus": "nowhere"}) == []


class TestTopics:
    def test_an_unknown_topic_is_answered_with_similar_ones(self, graph: DialogueGraph) -> None:
        with pytest.raises(InputError, match=r"'cofee' is not in the shift graph: did you mean coffee\?"):
            graph.explore("perspectives", focus="cofee")

    def test_an_irregular_form_is_answered_with_its_lemma(self, graph: DialogueGraph) -> None:
        graph.cypher_write("CREATE (:Term {text: 'go'})-[:SHIFTS_TO {own: true}]->(:Term {text: 'way off'})")
        try:
            with pytest.raises(InputError, match=r"'went' is not in the shift graph: did you mean go"):
                graph.explore("perspectives", focus="went")
        finally:
            graph.cypher_write("MATCH (a)-[:SHIFTS_TO {own: true}]->(b) DETACH DELETE a, b")

    def test_a_topic_without_similar_ones_is_answered_with_advice(self, graph: DialogueGraph) -> None:
        with pytest.raises(InputError, match=r"'xylophone' is not in the shift graph: .*--named hubs"):
            graph.explore("paths", start="coffee", end="xylophone")

    def test_an_unknown_frame_is_answered_with_those_of_its_lemma(self, graph: DialogueGraph) -> None:
        for frame, meant in (
            ("eat-99", "did you mean eat-01"),
            ("eat", "eat-01"),
            ("snorf-01", "load propbank"),
        ):
            with pytest.raises(InputError, match=rf"'{frame}' is neither a PropBank frame .*: .*{meant}"):
                graph.explore("predicate_arguments", frame=frame)
        assert graph.explore("predicate_arguments", frame="abandon-01") == []

    def test_near_ones_are_at_most_five_the_nearest_first(self, graph: DialogueGraph) -> None:
        assert near_topics(graph.store, "Trian") == ["train"]
        assert near_topics(graph.store, "crake")[:2] == ["cake", "cream"]
        assert near_topics(graph.store, "qqqq") == []

    def test_a_form_of_a_topic_means_that_topic(self, graph: DialogueGraph) -> None:
        graph.cypher_write(
            "CREATE (pay:Term {text: 'pay'})-[:SHIFTS_TO {count: 1}]->(:Term {text: 'paid holiday'}), "
            "(pay)-[:SHIFTS_TO {count: 1}]->(:Term {text: 'plaid'})"
        )
        try:
            assert near_topics(graph.store, "Paid")[:2] == ["pay", "plaid"]
            assert near_topics(graph.store, "paid holidays")[0] == "paid holiday"
        finally:
            graph.cypher_write(
                "MATCH (t:Term) WHERE t.text IN ['pay', 'paid holiday', 'plaid'] DETACH DELETE t"
            )

    def test_a_word_without_shifts_is_no_topic(self, graph: DialogueGraph) -> None:
        graph.cypher_write("MERGE (:Term {text: 'coffees'})")
        with pytest.raises(InputError, match=r"'coffees' is not in the shift graph: did you mean coffee"):
            graph.explore("topic", focus="coffees")


class TestParameters:
    def test_a_missing_parameter_is_named(self) -> None:
        with pytest.raises(InputError, match="origins needs the parameter 'perspective': topic"):
            named_query("origins").values({})

    def test_an_unknown_parameter_is_named(self) -> None:
        with pytest.raises(InputError, match="hubs has no parameter 'size'; available: limit"):
            named_query("hubs").values({"size": 1})

    @pytest.mark.parametrize("value", ["3", -1, 1.5, True, None])
    def test_a_number_is_whole_and_not_below_0(self, value: object) -> None:
        kind = "a whole number of at least 0"
        complaint = f"the parameter 'limit' of the query hubs must be {kind}, not {value!r}"
        with pytest.raises(InputError, match=f"^{re.escape(complaint)}$"):
            named_query("hubs").values({"limit": value})

    @pytest.mark.parametrize("value", [3, None, ["tea"]])
    def test_a_topic_is_a_text(self, value: object) -> None:
        complaint = f"the parameter 'focus' of the query perspectives must be a text, not {value!r}"
        with pytest.raises(InputError, match=f"^{re.escape(complaint)}$"):
            named_query("perspectives").values({"focus": value})

    def test_missing_parameters_have_their_default(self) -> None:
        values = named_query("behind").values({"focus": "a", "perspective": "b"})
        assert values == {"focus": "a", "perspective": "b", "corpus": None, "limit": 20}


class TestFiles:
    def test_dashes_are_read_as_underscores(self) -> None:
        assert named_query("dead-ends") is named_query("dead_ends")

    def test_an_unknown_name_is_answered_with_similar_ones(self) -> None:
        with pytest.raises(InputError, match=r"'hub'; did you mean hubs\?"):
            named_query("hub")

    def test_a_name_without_similar_ones_is_answered_with_all(self) -> None:
        with pytest.raises(InputError, match="'xyz'; available: behind, clauses, contested, "):
            named_query("xyz")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("RETURN 1", "the first line must be"),
            ("// other: It.\n// Columns: one\nRETURN 1 AS one", "the first line must be"),
            ("// mine: It.\nRETURN 1 AS one", "the header needs a line '// Columns: '"),
            (
                "// mine: It.\n// $limit (few): rows\n// Columns: one\nRETURN 1 AS one",
                "default of \\$limit is not",
            ),
        ],
    )
    def test_a_header_that_lacks_something_is_refused(self, text: str, message: str) -> None:
        with pytest.raises(InputError, match=message):
            parse_query("mine", text)

    def test_a_line_of_a_header_may_be_continued(self) -> None:
        query = parse_query("mine", "// mine: What\n//   it is.\n// Columns: one,\n//          two\nRETURN 1")
        assert (query.summary, query.columns) == ("What it is.", "one, two")

    @pytest.mark.parametrize("name", QUERIES)
    def test_each_is_documented_with_its_parameters(self, name: str) -> None:
        section = re.search(rf"^### {name}\n(.*?)(?=^##|\Z)", PAGE, re.M | re.S)
        assert section is not None
        for one in QUERIES[name].parameters:
            assert f"`{one.name}`" in section[1]
        assert cypher_text(f"explore/{name}")

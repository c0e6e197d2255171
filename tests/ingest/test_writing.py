"""Tests of writing records to a store: batches, repeated loads, and refusals with their place."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.amr.penman import parse_graph
from graphneg.english.lexicon import english
from graphneg.errors import StoreError
from graphneg.ids import natural_order
from graphneg.ingest import batches, writing
from graphneg.ingest.lexicon import entry_rows
from graphneg.ingest.loader import LoadReport
from graphneg.ingest.rows import (
    GraphRows,
    as_sentence,
    attributes_row,
    frame_row,
    mention_rows,
    opposite_row,
    person_of,
    sentence,
    sentence_row,
    term_of,
    term_row,
)
from graphneg.ingest.validation import MOST_NODES, GraphDialogues
from graphneg.ingest.writing import write_records
from graphneg.model import (
    Dialogue,
    Frame,
    GraphText,
    LexiconEntry,
    Opposite,
    Record,
    Rejected,
    Response,
    Sentence,
    Utterance,
)
from graphneg.store.connection import Store
from tests.servers import wipe

GRAPH = "(w / walk-01 :ARG0 (b / boy))"


def dialogue(name: str, *texts: str, amr: str | None = None, place: str | None = None) -> Dialogue:
    turns = tuple(Utterance(turn, "AB"[turn % 2], text, amr) for turn, text in enumerate(texts))
    return Dialogue(f"own/all/{name}", "own", "all", turns, (Response(0, "No.", 0, "random"),), place=place)


def write(store: Store, records: Iterable[Record], turns: int = 2) -> LoadReport:
    return write_records(store, records, LoadReport("own"), GraphDialogues("book", "all", turns))


def refusals(report: LoadReport) -> list[tuple[str, str]]:
    return [(one.place, one.reason) for one in report.rejected]


class TestInTheStore:
    @pytest.fixture(autouse=True)
    def empty(self, embedded: Store) -> None:
        wipe(embedded)

    @pytest.mark.parametrize("most", [1, 5, 5_000])
    def test_the_size_of_batches_does_not_change_the_store(
        self, embedded: Store, most: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(batches, "MAX_ROWS", most)
        records = [dialogue(str(n), "Hi.", "Ho.", amr=GRAPH) for n in range(3)]
        report = write(embedded, [*records, Sentence("p/1", "A boat sank.", "p")])
        assert report.written == {
            "dialogues": 3, "utterances": 6, "responses": 3, "graphs": 6, "nodes": 12, "sentences": 1,
        }  # fmt: skip
        again = write(embedded, [*records, dialogue("3", "New."), Sentence("p/1", "A boat sank.", "p")])
        assert again.present == {"dialogues": 3, "graphs": 6, "sentences": 1}
        assert +again.written == {"dialogues": 1, "utterances": 1, "responses": 1}

    def test_other_content_with_an_existing_id_is_refused(self, embedded: Store) -> None:
        write(embedded, [dialogue("a", "Hi.", amr=GRAPH), dialogue("b", "Ho.", amr=GRAPH)])
        changed = [dialogue("a", "Hi!", amr=GRAPH), dialogue("b", "Ho.", amr="(s / sing-01)")]
        report = write(embedded, [*changed, Sentence("p/1", "One.", "p")])
        assert [place for place, _ in refusals(report)] == ["own/all/a", "own/all/b#0"]
        assert "other content; load the new one under another --name" in refusals(report)[0][1]
        assert "another AMR graph of this utterance" in refusals(report)[1][1]
        [refused] = refusals(write(embedded, [Sentence("p/1", "Two.", "p")]))
        assert refused == ("p/1", "the store has a sentence with this id but another text")

    def test_too_large_and_malformed_records_are_refused_at_their_line(
        self, embedded: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(writing, "MAX_DIALOGUE_BYTES", 2_000)
        report = write(
            embedded,
            [
                dialogue("long", "x" * 900),
                dialogue("bad", "Hi.", amr="(w / walk-01", place="f.jsonl:7"),
                Opposite("x" * 501, "y", "Antonym", 1.0, "own"),
                Rejected("f:1", "refused by the loader"),
                GraphText("(a / b", None, None, "g.amr:12"),
            ],
        )
        assert [place for place, _ in refusals(report)] == [
            "own/all/long",
            "f.jsonl:7",
            "x" * 80,
            "f:1",
            "g.amr:12",
        ]
        reasons = [reason for _, reason in refusals(report)]
        assert "a dialogue of 0 MB is over the limit of 0 MB" in reasons[0]
        assert reasons[1].startswith("malformed AMR graph own/all/bad#0: ")
        assert "the id or term 'xxx" in reasons[2] and "has 501 bytes; the maximum is 500" in reasons[2]
        assert "line 12" in reasons[4] or ":12" in reasons[4]

    @pytest.mark.parametrize(
        ("graph", "reason"),
        [
            ("(w / {long})", "the concept 'aaaa"),
            ("({long} / walk-01)", "the variable 'aaaa"),
            ("(w / walk-01 :{long} (b / boy))", "the role 'aaaa"),
            ("(w / walk-01 :{long} w)", "the role 'aaaa"),
            ('(w / walk-01 :op1 "{long}")', "the constant '\"aaaa"),
            ("(w / \u00e9{long})", "the concept '\u00e9aaa"),
        ],
    )
    def test_a_graph_with_a_too_long_name_is_refused_at_its_line(
        self, embedded: Store, graph: str, reason: str
    ) -> None:
        texts = [
            GraphText(GRAPH, "w1", "He walks.", "g.amr:1"),
            GraphText(f"# ::id w2\n{graph.format(long='a' * 300_000)}", "w2", "He runs.", "g.amr:4"),
            GraphText(GRAPH, "w3", "She walks.", "g.amr:7"),
        ]
        report = write(embedded, texts, turns=3)
        assert report.written["graphs"] == 2 and report.written["utterances"] == 3
        [(place, told)] = refusals(report)
        assert place == "g.amr:4" and told.startswith(f"AMR graph w2: {reason}") and "the maximum is" in told
        assert len(told) < 200

    def test_a_graph_of_too_many_nodes_is_refused_at_its_line_and_its_dialogue_is_loaded(
        self, embedded: Store
    ) -> None:
        nodes = " ".join(f":mod (t{number} / thing)" for number in range(MOST_NODES))
        texts = [
            GraphText(GRAPH, "w1", "He walks.", "g.amr:1"),
            GraphText(f"(s / see-01 {nodes})", "w2", "I see many things.", "g.amr:4"),
        ]
        report = write(embedded, texts, turns=2)
        assert report.written["graphs"] == 1 and report.written["utterances"] == 2
        [(place, told)] = refusals(report)
        assert place == "g.amr:4" and told.endswith("the graph has 5,001 nodes; the maximum is 5,000")

    def test_too_long_indexed_values_are_refused(self, embedded: Store) -> None:
        long = "a" * 300_000
        turns = (Utterance(0, "A", "Hi."),)
        records = [
            Dialogue(f"own/all/{long}", "own", "all", turns, place="f:1"),
            Dialogue("own/all/1", long, "all", turns, place="f:2"),
            Dialogue("own/all/2", "own", "all", (Utterance(0, long, "Hi."),), place="f:3"),
            Opposite(long, "y", "Antonym", 1.0, "own"),
            Frame(f"{long}.01", "walk", (), ()),
            Frame("walk.01", long, (), ()),
            Sentence(f"p/{long}", "A boat sank.", "p"),
            LexiconEntry("class", (long, "concept"), "f:9"),
            GraphText(GRAPH, f"{long}#1", "He walks.", "g.amr:1"),
            dialogue("fine", "Hi."),
            Frame("sing.01", "sing", (), ()),
        ]
        report = write(embedded, records)
        assert (report.rejections, report.written["dialogues"], report.written["frames"]) == (9, 1, 1)
        assert [place for place, _ in refusals(report)][:3] == ["f:1", "f:2", "f:3"]
        assert all("bytes; the maximum is 500" in reason for _, reason in refusals(report))

    def test_an_item_that_fails_on_the_server_is_found_and_the_rest_of_its_batch_is_written(
        self, embedded: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(writing, "graph_fault", lambda _: None)
        monkeypatch.setattr(writing, "length_fault", lambda *_: None)
        long = "a" * 300_000
        said = [dialogue(str(n), "Hi.", "Ho.", amr=GRAPH, place=f"f.jsonl:{n}") for n in range(9)]
        said.insert(5, dialogue("odd", "Hi.", "Ho.", amr=f"(w / {long})", place="f.jsonl:x"))
        report = write(embedded, [*said, Frame("walk.01", "walk", (), ()), Frame("x.01", long, (), ())])
        assert +report.written == {
            "dialogues": 10, "utterances": 20, "responses": 10, "graphs": 18, "nodes": 36, "frames": 1,
        }  # fmt: skip
        assert [place for place, _ in refusals(report)] == [
            "f.jsonl:x: own/all/odd#0",
            "f.jsonl:x: own/all/odd#1",
            "x.01",
        ]
        assert all("rejected by the server: " in reason for _, reason in refusals(report))

    def test_a_server_that_always_fails_ends_the_load(
        self, embedded: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(writing, "MOST_REFUSED", 2)
        monkeypatch.setattr(writing, "length_fault", lambda *_: None)
        with pytest.raises(StoreError, match="Transaction error"):
            write(embedded, [Frame(f"{n}.01", str(n) + "a" * 300_000, (), ()) for n in range(5)])

    def test_graphs_find_their_utterances_and_others_become_dialogues(self, embedded: Store) -> None:
        texts = [
            GraphText(GRAPH, "own/all/a#0", "whatever", "g:1"),
            GraphText(GRAPH, None, "  Ho. ", "g:2"),
            GraphText("(s / sing-01)", None, "She sings.", "g:3"),
        ]
        first = write(embedded, [dialogue("a", "Hi.", "Ho."), *texts])
        assert (first.written["graphs"], first.written["dialogues"]) == (3, 2)
        rows = embedded.read("MATCH (u:Utterance)-[:MEANS]->(:Amr) RETURN u.id AS id ORDER BY id")
        assert [row["id"] for row in rows] == ["book/all/0#0", "own/all/a#0", "own/all/a#1"]
        assert write(embedded, texts).present["graphs"] == 3


class TestRows:
    def test_attributes_are_properties_where_a_store_has_such_values(self) -> None:
        given = {"mood": "sad", "tags": ["a"], "id": "mine", "Odd name": 1, "deep": {"k": None}, "none": []}
        row = attributes_row(given)
        assert {name: row[name] for name in ("mood", "tags")} == {"mood": "sad", "tags": ["a"]}
        assert set(row) == {"mood", "tags", "attributes"}
        assert row["attributes"] == '{"Odd name": 1, "deep": {"k": null}, "id": "mine", "none": []}'

    @given(st.lists(st.integers(0, 10**12), max_size=6))
    def test_ids_sort_in_the_order_of_their_numbers(self, numbers: list[int]) -> None:
        ids = [f"c/ü/{number}" for number in numbers]
        assert sorted(ids, key=natural_order) == [f"c/ü/{number}" for number in sorted(numbers)]
        assert all(natural_order(id).isascii() for id in ids)

    def test_edges_run_from_predicate_to_argument_and_name_reentrancies(self) -> None:
        rows = GraphRows()
        rows.add(parse_graph("(b / boy :ARG0-of (g / go-02 :ARG4 b))", "g"), "u", "own", "d")
        edges = [
            (row["from"], row["to"], row["role"], row["inverted"], row.get("reentrant")) for row in rows.roles
        ]
        assert edges == [(1, 0, "ARG0", True, None), (1, 0, "ARG4", False, True)]
        assert [(row["text"], row["nodes"]) for row in rows.lexeme_rows()] == [("boy", [0]), ("go", [1])]

    def test_terms_frames_and_antonyms_have_facts_of_the_lexicon(self) -> None:
        known = {
            "form": "phrase",
            "classes": sorted(english().classes_of("no-one")),
            "physical_object": None,
            "noun_class": None,
        }
        assert known["classes"] and term_row("no one", english()) == {"text": "no one", **known}
        row = opposite_row(Opposite("old", "young", "Antonym", 1.0, "own"), english())
        assert row["modified_kinds"] == ["animal", "person", "plant"] and row["language"] == "en"
        frame = frame_row(Frame("go-02", "go", ("ARG0",), ("who",)), english())
        assert (frame["term"], frame["properties"]["descriptions"]) == ("go", ["who"])
        assert "aliases" not in frame["properties"]
        assert [term_of(concept) for concept in ("and", "have-rel-role-91", "give-up-07")] == [
            None,
            None,
            "give up",
        ]

    def test_the_newest_entry_of_one_key_counts(self) -> None:
        entries = [
            LexiconEntry("class", ("kit", "umbrella boot")),
            LexiconEntry("class", ("-kit", "boot")),
            LexiconEntry("move", ("time", "monday", "friday")),
            LexiconEntry("move", ("time", "monday", "sunday")),
            LexiconEntry("opposite", ("old", "new", "-")),
            LexiconEntry("opposite", ("new", "old", "place")),
        ]
        cells = sorted(row["cells"] for row in entry_rows(entries))
        assert cells == [
            ["-kit", "boot"],
            ["kit", "umbrella"],
            ["new", "old", "place"],
            ["time", "monday", "sunday"],
        ]

    def test_sentences_have_scores_of_their_terms_and_counts_of_their_speakers(self) -> None:
        said = sentence_row(Sentence("u/1", "The boat sank.", "u", "u/d"))
        read = sentence_row(Sentence("p/1", "The boat!", "p"))
        assert [
            (row["text"], row["places"], row["scores"], row["spoken"]) for row in mention_rows([said, read])
        ] == [
            ("boat", [0, 1], [0.5, 1.0], 1),
            ("sink", [0], [0.5], 1),
        ]
        assert [person_of(text) for text in ("You met us.", "You met them.", "It rains.")] == [1, 2, 3]

    @pytest.mark.parametrize(
        ("text", "reason"),
        [("x" * 2_001, "longer than 2,000 characters"), ("a \ud800", "surrogate pair, U+D800")],
    )
    def test_an_invalid_sentence_is_refused(self, text: str, reason: str) -> None:
        refused = sentence("p/1", text, "p", "f:1")
        assert isinstance(refused, Rejected) and reason in refused.reason and refused.place == "f:1"

    @pytest.mark.parametrize(
        ("example", "written"), [("he ran", "He ran."), ("so?", "So?"), ("a dog, ", "A dog."), ("", "")]
    )
    def test_an_example_is_written_as_a_sentence(self, example: str, written: str) -> None:
        assert as_sentence(example) == written

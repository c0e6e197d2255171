"""Tests of the loaders on valid files of each format."""

from __future__ import annotations

import tarfile
from collections import Counter
from pathlib import Path

import pytest

from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions, get_loader, loader_names
from graphneg.model import Dialogue, Frame, GraphText, Opposite, Record, Rejected, Response
from tests.loader_samples import DATA, written

SHARED = Path(__file__).parents[3] / "shared" / "data"
NAMES = [
    "conceptnet",
    "dailydialog",
    "dailydialog_pp",
    "dialogues",
    "everyday",
    "penman",
    "personachat",
    "propbank",
    "topical_chat",
]


def load(loader: str, *paths: Path | str, **options: str) -> list[Record]:
    found = [path if isinstance(path, Path) else DATA / path for path in paths]
    return list(get_loader(loader).read(found, LoadOptions(**options)))


def rejected(records: list[Record]) -> list[tuple[str, str]]:
    return [(r.place.rpartition("/")[2], r.reason) for r in records if isinstance(r, Rejected)]


def ids(records: list[Record]) -> list[str]:
    return [record.id for record in records if isinstance(record, Dialogue)]


def said(dialogue: Record) -> list[tuple[str, str]]:
    assert isinstance(dialogue, Dialogue)
    return [(one.speaker, one.text) for one in dialogue.utterances]


class TestFindingLoaders:
    def test_every_loader_has_a_name_and_a_line_of_help(self):
        assert set(NAMES) <= set(loader_names())
        for name in loader_names():
            loader = get_loader(name)
            assert loader.name == name
            assert 0 < len(loader.summary) < 110

    def test_hyphens_and_underscores_are_the_same(self):
        assert get_loader("topical-chat").name == get_loader("Topical_Chat").name

    def test_an_unknown_name_is_answered_with_the_known_ones(self):
        with pytest.raises(InputError, match=r"'dailydialogue'.*conceptnet, dailydialog, dailydialog_pp"):
            get_loader("dailydialogue")

    def test_every_loader_and_its_formats_are_documented(self):
        text = (Path(__file__).parents[2] / "docs" / "loaders.md").read_text("utf-8")
        assert [name for name in loader_names() if f"## {name}\n" not in text] == []


class TestEachFormat:
    def test_dialogue_lines_keep_graphs_responses_and_other_keys(self):
        bakery, park, garden = load("dialogues", "chats.jsonl")
        assert ids([bakery, park, garden]) == ["chats/test/bakery", "chats/all/2", "chats/train/garden"]
        assert isinstance(bakery, Dialogue)
        assert bakery.attributes == {"topic": "bread"}
        assert bakery.utterances[0].attributes == {"mood": "curious"}
        assert (bakery.utterances[0].amr or "").startswith("(f / fresh-04")
        assert bakery.responses[1] == Response(1, "The oven in my flat is broken.", 0, "given")
        assert said(park) == [("A", "Where did you park?"), ("B", "Behind the library.")]

    def test_options_override_the_file(self):
        assert ids(load("dialogues", "chats.jsonl", corpus="shop", split="dev")) == [
            "shop/dev/bakery",
            "shop/dev/2",
            "shop/dev/garden",
        ]

    def test_a_csv_table_becomes_dialogues(self):
        tickets, soup = load("dialogues", "chats.csv")
        assert said(tickets) == [("Guest", "Two tickets, please."), ("Clerk", 'For the film "Harbour"?')]
        assert ids([tickets, soup]) == ["chats/train/tickets", "chats/dev/soup"]
        assert isinstance(tickets, Dialogue) and isinstance(soup, Dialogue)
        assert tickets.utterances[0].attributes == {"place": "counter"}
        assert soup.utterances[0].amr == "(c / cold-01 :ARG1 (s / soup))"
        assert said(soup)[1] == ("B", "I am sorry.\nI will warm it up.")

    def test_quotation_marks_are_plain_characters_in_a_tsv_table(self):
        (lost,) = load("dialogues", "chats.tsv")
        assert said(lost)[0] == ("A", 'I can\'t find my "good" umbrella.')

    def test_dailydialog_brings_acts_and_emotions(self):
        walk, key, time = load("dailydialog", "dailydialog")
        assert ids([walk, key, time]) == [f"dailydialog/train/{n}" for n in range(3)]
        assert said(walk) == [("A", "Shall we walk ?"), ("B", "I would rather take the bus .")]
        assert isinstance(key, Dialogue)
        assert [dict(one.attributes) for one in key.utterances] == [
            {"act": "inform", "emotion": "sadness"},
            {"act": "inform", "emotion": "surprise"},
            {"act": "commissive", "emotion": "no emotion"},
        ]

    def test_dailydialog_without_its_annotation_files_has_text_only(self, tmp_path: Path):
        file = written(tmp_path / "chats.txt", "Hello . __eou__ Hi . __eou__\n")
        (dialogue,) = load("dailydialog", file)
        assert isinstance(dialogue, Dialogue) and dialogue.utterances[0].attributes == {}

    def test_dailydialog_pp_brings_three_kinds_of_responses(self):
        plumber, _ = load("dailydialog_pp", "dailydialog_pp_dev.json")
        assert isinstance(plumber, Dialogue) and plumber.id == "dailydialog_pp/dev/7"
        assert [(one.turn, one.label, one.source) for one in plumber.responses] == [
            (1, 1, "human"),
            (1, 1, "human"),
            (1, 0, "adversarial"),
            (1, 0, "random"),
        ]

    def test_personachat_pairs_leave_the_opening_silence_out(self):
        honey, boats = load("personachat", "personachat_pairs_valid.json")
        assert ids([honey, boats]) == ["personachat/valid/0", "personachat/valid/1"]
        assert [speaker for speaker, _ in said(honey)] == ["B", "A", "B"]
        assert isinstance(honey, Dialogue)
        assert honey.attributes == {"persona": ["i keep bees.", "i am tall."]}

    def test_personachat_histories_give_turns_and_candidates(self):
        honey, boats = load("personachat", "personachat_histories.json")
        assert ids([honey, boats]) == ["personachat/train/0", "personachat/valid/0"]
        assert said(honey)[-1] == ("B", "i make my own .") and len(said(honey)) == 3
        assert isinstance(honey, Dialogue)
        assert honey.responses == (
            Response(1, "my car is red .", 0, "random"),
            Response(1, "i make my own .", 1, "reference"),
        )

    def test_personachat_as_parlai_text(self):
        honey, _ = load("personachat", "personachat_test.txt")
        assert isinstance(honey, Dialogue) and honey.id == "personachat/test/0"
        assert honey.attributes["partner_persona"] == ["i drink tea."]
        assert [speaker for speaker, _ in said(honey)] == ["A", "B", "A", "B"]
        assert [(one.turn, one.label) for one in honey.responses] == [(0, 0), (0, 1)]

    def test_topical_chat_keeps_sentiment_and_knowledge(self):
        owls, skating = load("topical_chat", "topical_chat_rare.json")
        assert ids([owls, skating]) == ["topical_chat/all/t_1", "topical_chat/all/t_2"]
        assert said(owls)[0] == ("agent_1", "Have you ever heard an owl?")
        assert isinstance(owls, Dialogue)
        assert owls.utterances[1].attributes["knowledge_source"] == ["Personal Knowledge"]
        assert owls.attributes["config"] == "A"

    def test_penman_files_are_cut_into_graphs_with_id_text_and_place(self):
        oven, other = load("penman", DATA / "graphs.amr")
        assert isinstance(oven, GraphText) and isinstance(other, GraphText)
        assert (oven.id, oven.text) == ("chats/test/bakery#1", "It came out of the oven an hour ago.")
        assert oven.place.endswith("graphs.amr:3") and oven.penman.endswith(":unit (h / hour))))")
        assert (other.id, other.text) == (None, "No id here.")

    def test_conceptnet_keeps_opposites_of_one_language(self):
        assert load("conceptnet", "assertions.csv") == [
            Opposite("give up", "carry on", "Antonym", 2.0, "conceptnet"),
            Opposite("cat", "dog", "DistinctFrom", 1.5, "conceptnet"),
            Opposite("stone", "swim 100%", "NotCapableOf", 1.0, "conceptnet"),
        ]
        assert load("conceptnet", "assertions.csv", language="de") == [
            Opposite("heiß", "kalt", "Antonym", 1.0, "conceptnet", "de")
        ]

    def test_a_conceptnet_lite_database_holds_the_same_as_its_dump(self, tmp_path: Path):
        database = pytest.importorskip("conceptnet_lite.db")
        file = tmp_path / "conceptnet.db"
        database._open_db(file)
        database.load_dump_to_db(DATA / "assertions.csv", file, edge_count=6, delete_dump=False)
        database.db.close()
        before = file.read_bytes()
        assert Counter(load("conceptnet", file)) == Counter(load("conceptnet", "assertions.csv"))
        assert file.read_bytes() == before
        with pytest.raises(InputError, match="no terms of the language 'fr'; available: de, en"):
            load("conceptnet", file, language="fr")

    def test_propbank_frames_come_with_roles_and_aliases(self):
        records = load("propbank", "frames")
        assert records[0] == Frame(
            "carry-on-02",
            "carry on",
            ("ARG0", "ARG1"),
            ("who goes on", "with what"),
            ("carry on", "carrying on"),
        )
        assert [one.id for one in records if isinstance(one, Frame)] == ["carry-on-02", "sip-02"]
        assert rejected(records) == [
            ("carry.xml:13", "the roleset id 'carry.LV' is not LEMMA.NN"),
            ("sip.xml:5", "not well-formed XML: mismatched tag at column 37"),
        ]

    def test_a_tar_archive_of_frames_is_read_like_its_directory(self, tmp_path: Path):
        with tarfile.open(tmp_path / "frames.tar.gz", "w:gz") as archive:
            for file in sorted((DATA / "frames").glob("*.xml")):
                archive.add(file, f"frames/{file.name}")
        records = load("propbank", tmp_path / "frames.tar.gz")
        directory = load("propbank", "frames")
        assert [r for r in records if isinstance(r, Frame)] == [r for r in directory if isinstance(r, Frame)]
        assert rejected(records) == rejected(directory)

    def test_the_bundled_corpus_has_dialogues_graphs_opposites_and_frames(self):
        records = load("everyday")
        kinds = list(dict.fromkeys(type(record) for record in records))
        assert kinds == [Dialogue, GraphText, Opposite, Frame]
        utterances = {u for d in records if isinstance(d, Dialogue) for u in _utterance_ids(d)}
        assert all(graph.id in utterances for graph in records if isinstance(graph, GraphText))


def _utterance_ids(dialogue: Dialogue) -> list[str]:
    return [f"{dialogue.id}#{one.turn}" for one in dialogue.utterances]


class TestRealFiles:
    """Published files, with counts that were determined by other programs."""

    @pytest.mark.parametrize(
        ("loader", "paths", "counts"),
        [
            ("dailydialog", ["dailydialog"], {"Dialogue": 1000, "turns": 8069}),
            (
                "dailydialog_pp",
                ["dailydialog_pp/dev.json"],
                {"Dialogue": 1028, "turns": 3472, "responses": 15420, "right": 5140},
            ),
            (
                "dailydialog_pp",
                ["dailydialog_pp/data_positives.json"],
                {"Dialogue": 7641, "turns": 21795, "responses": 38205, "right": 38205},
            ),
            ("personachat", ["personachat/En_persona_valid.json"], {"Dialogue": 1000, "turns": 13632}),
            ("topical_chat", ["topical_chat/valid_freq.json"], {"Dialogue": 539, "turns": 11681}),
            ("penman", ["amr_little_prince"], {"GraphText": 1419, "Rejected": 0}),
            ("penman", ["sick_silver_amr/main"], {"GraphText": 19866}),
            ("conceptnet", ["conceptnet/assertions-en-opposites.csv.gz"], {"Opposite": 5204}),
            ("propbank", ["propbank/propbank-frames-3.4.tar.gz"], {"Frame": 11202, "Rejected": 6}),
            ("propbank", ["propbank/AMR-UMR-91-rolesets.xml"], {"Frame": 99, "Rejected": 1}),
        ],
    )
    def test_every_item_is_read_or_rejected(self, loader: str, paths: list[str], counts: dict[str, int]):
        files = [SHARED / path for path in paths]
        if not all(file.exists() for file in files):
            pytest.skip("the corpora are not on this machine")
        records = [r for r in load(loader, *files) if "SOURCE.txt" not in getattr(r, "place", "")]
        found = Counter({"Rejected": 0}) + Counter(type(record).__name__ for record in records)
        dialogues = [record for record in records if isinstance(record, Dialogue)]
        found["turns"] = sum(len(one.utterances) for one in dialogues)
        found["responses"] = sum(len(one.responses) for one in dialogues)
        found["right"] = sum(response.label for one in dialogues for response in one.responses)
        assert {key: number for key, number in found.items() if number} == {
            key: number for key, number in counts.items() if number
        }

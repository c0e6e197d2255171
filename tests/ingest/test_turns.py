"""Tests of odd turns: empty ones, placeholders, attachments, system messages and garbled text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.english.tokens import detokenize, is_tokenised
from graphneg.ingest.loader import LoadOptions, Notices, get_loader
from graphneg.model import Dialogue, Record, Rejected
from graphneg.store.connection import Store
from tests.cli_runs import Run
from tests.loader_samples import written
from tests.servers import wipe

SPOILT = "with HTML entities or spaces inserted by a tokeniser"


def read(path: Path, loader: str = "dialogues", **options: Any) -> tuple[list[Record], list[str]]:
    notices = Notices()
    records = list(get_loader(loader).read([path], LoadOptions(notices=notices, **options)))
    return records, notices.lines()


def read_lines(folder: Path, *entries: Mapping[str, Any], **options: Any) -> tuple[list[Record], list[str]]:
    numbered = (json.dumps({"id": number} | dict(entry)) for number, entry in enumerate(entries))
    return read(written(folder / "talks.jsonl", "\n".join(numbered)), **options)


def said(record: Record) -> list[str]:
    assert isinstance(record, Dialogue)
    assert [one.turn for one in record.utterances] == list(range(len(record.utterances)))
    return [f"{one.speaker}: {one.text}" for one in record.utterances]


def turns_by_speaker(*turns: str) -> dict[str, Any]:
    """Return the turns of texts such as ``Ann: Hi.``."""
    pairs = [turn.partition(": ") for turn in turns]
    return {"turns": [{"speaker": speaker, "text": text} for speaker, _, text in pairs]}


class TestAnEmptyTurn:
    def test_an_empty_turn_is_left_out_of_its_dialogue(self, tmp_path: Path) -> None:
        [talk], notices = read_lines(tmp_path, {"turns": ["Hi.", " ", "Hello.", ""]})
        assert said(talk) == ["A: Hi.", "B: Hello."]
        assert notices == ["2 empty turns left out"]

    def test_the_next_turn_responds_to_the_turn_before_an_empty_turn(self, tmp_path: Path) -> None:
        answers = [{"turn": turn, "text": text, "label": 0} for turn, text in enumerate(["a", "b", "", "d"])]
        [talk], notices = read_lines(tmp_path, {"turns": ["", "Hi.", "", "Hello."], "responses": answers})
        assert isinstance(talk, Dialogue)
        assert [(one.turn, one.text) for one in talk.responses] == [(0, "b"), (1, "d")]
        assert notices == ["1 response left out", "1 empty response left out", "2 empty turns left out"]

    def test_an_empty_turn_of_a_published_corpus_is_omitted(self, tmp_path: Path) -> None:
        file = written(tmp_path / "dialogues_x.txt", "Hi . __eou__  __eou__ No . __eou__\n __eou__\n")
        (talk, nothing), notices = read(file, "dailydialog")
        assert said(talk) == ["A: Hi .", "A: No ."]
        assert isinstance(nothing, Rejected) and nothing.reason == "item 1: the dialogue has no turns"
        assert notices[-1] == "2 empty turns left out"


class TestAPlaceholder:
    @pytest.mark.parametrize(
        "text", ["[deleted]", " [removed]", "[ Removed by Reddit ]", "[deleted by user]", "[DELETED]"]
    )
    def test_a_placeholder_of_a_deleted_message_is_neither_a_turn_nor_a_response(
        self, tmp_path: Path, text: str
    ) -> None:
        answers = [{"turn": 0, "text": text, "label": 1}, {"turn": 2, "text": "Yes.", "label": 1}]
        [talk], notices = read_lines(
            tmp_path, turns_by_speaker("Ann: Hi.", f"Bo: {text}", "Cy: Ho.") | {"responses": answers}
        )
        assert isinstance(talk, Dialogue) and said(talk) == ["Ann: Hi.", "Cy: Ho."]
        assert [(one.turn, one.text) for one in talk.responses] == [(1, "Yes.")]
        assert notices == ["1 deleted response left out", "1 deleted message left out"]

    def test_a_placeholder_is_the_whole_text(self, tmp_path: Path) -> None:
        turns = ["Ann: It says [deleted].", "Bo: [removed] it?", "Ann: [deleted scene]"]
        [talk], notices = read_lines(tmp_path, turns_by_speaker(*turns))
        assert said(talk) == turns and notices == []

    def test_a_placeholder_for_a_speaker_is_kept_and_counted(self, tmp_path: Path) -> None:
        [talk], notices = read_lines(tmp_path, turns_by_speaker("Ann: Hi.", "[deleted]: Ho."))
        assert said(talk) == ["Ann: Hi.", "[deleted]: Ho."]
        assert notices == ["1 turn of deleted accounts kept, all with the same name"]

    @pytest.mark.parametrize("text", ["<image>\nA swan?", "A swan?\n<image>", "<image>\n<video>\nA swan?"])
    def test_a_placeholder_of_an_image_is_removed_from_the_text(self, tmp_path: Path, text: str) -> None:
        [talk], notices = read_lines(tmp_path, turns_by_speaker(f"Ann: {text}"))
        assert said(talk) == ["Ann: A swan?"]
        assert notices == [f"{text.count('<')} media placeholder{'s' * (text.count('<') > 1)} left out"]

    def test_a_tag_of_html_is_not_a_placeholder(self, tmp_path: Path) -> None:
        turns = ["Ann: <video>\n</video>", "Bo: I see <image> there."]
        [talk], notices = read_lines(tmp_path, turns_by_speaker(*turns))
        assert said(talk) == turns and notices == []


class TestPartsOfAMessage:
    @pytest.mark.parametrize(
        ("message", "told"),
        [
            ({"content": [{"type": "image_url", "image_url": {"url": "x"}}]}, ["1 image left out"]),
            ({"content": [{"type": "refusal", "refusal": "No."}]}, ["1 refusal left out"]),
            ({"content": None, "refusal": "No."}, ["1 refusal left out"]),
            ({"content": None, "tool_calls": [{"id": "a"}, {"id": "b"}]}, ["2 tool calls left out"]),
            ({"content": [{"type": "tool_use", "input": {}}, {"inline_data": {}}]},
             ["1 tool call left out", "1 image left out"]),
            ({"content": [{"type": "hologram"}]}, ["1 content part of type hologram left out"]),
        ],
    )  # fmt: skip
    def test_parts_without_text_are_omitted_and_counted_by_kind(
        self, tmp_path: Path, message: dict[str, Any], told: list[str]
    ) -> None:
        talk = {"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", **message}]}
        [kept], notices = read_lines(tmp_path, talk)
        assert said(kept) == ["user: Hi."]
        # A message that is counted by its parts is not counted as an empty turn as well.
        assert notices[1:] == told

    def test_parts_kept_as_attributes_of_a_text_are_counted(self, tmp_path: Path) -> None:
        calls = [{"id": "a"}, {"id": "b"}]
        [kept], notices = read_lines(tmp_path, {"messages": [{"content": "ok", "tool_calls": calls}]})
        assert isinstance(kept, Dialogue) and kept.utterances[0].attributes["tool_calls"] == calls
        assert "2 tool calls kept as an attribute, not as text" in notices

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("It rains \ue200cite\ue202turn0search0\ue202turn0search1\ue201 here.", "It rains here."),
            ("It rains 【12†source】.", "It rains."),
            ('It rains in \ue200entity\ue202["city","Rome","Italy"]\ue201.', "It rains in Rome."),
        ],
    )
    def test_citations_are_removed_and_counted(self, tmp_path: Path, text: str, shown: str) -> None:
        [kept], notices = read_lines(tmp_path, turns_by_speaker(f"Ann: {text}"))
        assert said(kept) == [f"Ann: {shown}"] and notices == ["1 citation mark removed"]

    def test_notes_in_brackets_are_not_citations(self, tmp_path: Path) -> None:
        turns = ["Ann: He was born in 1910 † 1980 【really】."]
        [kept], notices = read_lines(tmp_path, turns_by_speaker(*turns))
        assert said(kept) == turns and notices == []

    def test_parts_beside_a_text_are_counted(self, tmp_path: Path) -> None:
        parts = [{"type": "text", "text": "A swan?"}, {"type": "image_url", "image_url": {"url": "x"}}]
        [kept], notices = read_lines(tmp_path, {"messages": [{"role": "user", "content": parts}]})
        assert said(kept) == ["user: A swan?"] and notices[1:] == ["1 image left out"]


class TestAMessageOfNoSpeaker:
    @pytest.mark.parametrize("name", ["system", "System", "developer"])
    def test_a_system_message_is_not_a_turn(self, tmp_path: Path, name: str) -> None:
        talk = turns_by_speaker(
            f"{name}: Be kind.", "user: Hi.", "assistant: Hello.", f"{name}: Be short.", "user: Bye."
        )
        [read], notices = read_lines(tmp_path, talk)
        assert said(read) == ["user: Hi.", "assistant: Hello.", "user: Bye."]
        assert isinstance(read, Dialogue) and read.attributes["system"] == "Be kind.\nBe short."
        assert notices == ["2 system messages kept out of the turns"]

    def test_the_output_of_a_tool_is_not_a_turn(self, tmp_path: Path) -> None:
        [talk], notices = read_lines(
            tmp_path, turns_by_speaker("user: Rain?", "tool: {}", "assistant: No rain.")
        )
        assert said(talk) == ["user: Rain?", "assistant: No rain."]
        assert notices == ["1 tool message kept out of the turns"]

    @pytest.mark.parametrize(
        ("turns", "left"),
        [
            (["system: Be kind.", "user: Hi."], ["user: Hi."]),
            (["USER: A train.", "SYSTEM: Where to?"], ["USER: A train.", "SYSTEM: Where to?"]),
            (["system: Where to?", "user: Rome.", "system: When?"], None),
            (["system: Be kind."], []),
        ],
    )
    def test_a_speaker_called_system_can_be_a_participant(
        self, tmp_path: Path, turns: Sequence[str], left: Sequence[str] | None
    ) -> None:
        [talk], _ = read_lines(tmp_path, turns_by_speaker(*turns))
        assert (
            isinstance(talk, Rejected) if left == [] else said(talk) == list(turns if left is None else left)
        )


class TestAGarbledText:
    TURNS = (
        "It ’ s late . :)",
        "Salt &amp; pepper",
        "He said &amp;#39;no&quot;\nTwice.",
        "R&D, you & me; fine :)",
    )

    def test_garbled_text_is_kept_with_a_warning(self, tmp_path: Path) -> None:
        [talk], notices = read_lines(tmp_path, {"turns": self.TURNS})
        assert [turn[3:] for turn in said(talk)] == list(self.TURNS)
        assert notices == [f"3 texts {SPOILT}: --clean repairs them"]

    def test_garbled_text_is_repaired_on_request(self, tmp_path: Path) -> None:
        entry = {"turns": self.TURNS, "responses": [{"turn": 0, "text": "Is n't it ?", "label": 1}]}
        [talk], notices = read_lines(tmp_path, entry, clean=True)
        assert [turn[3:] for turn in said(talk)] == [
            "It's late. :)", "Salt & pepper", "He said 'no\"\nTwice.", self.TURNS[3],
        ]  # fmt: skip
        assert isinstance(talk, Dialogue) and talk.responses[0].text == "Isn't it?"
        assert notices == [f"4 texts {SPOILT} repaired"]

    def test_a_garbled_blank_is_an_empty_turn(self, tmp_path: Path) -> None:
        [talk], notices = read_lines(tmp_path, {"turns": ["Hi.", "&nbsp;"]}, clean=True)
        assert said(talk) == ["A: Hi."] and notices[-1] == "1 empty turn left out"

    @pytest.mark.parametrize("text", ["It's late.", "Well ... ok :)", "It costs .5", "the dogs' house", ""])
    def test_ordinary_text_is_not_garbled(self, text: str) -> None:
        assert not is_tokenised(text)

    @pytest.mark.parametrize(
        "text",
        [
            "Look:\n```\nx = 1 , 2\n\ny  = `ls`\n```\nDone.",
            "```\nnot closed , so\n",
            "Use ``ls`` now:\n\n    a = 'b'",
            "Type `a , b` here.",
            "Où est la gare ?",
            "Bonjour !",
            "Vous avez le temps ?",
        ],
    )
    def test_code_and_french_are_not_garbled(self, text: str) -> None:
        assert not is_tokenised(text)

    @pytest.mark.parametrize(
        ("text", "mended"),
        [
            ("It 's this :\n```\nx = 1 , 2\n```\nSee ?", "It's this:\n```\nx = 1 , 2\n```\nSee?"),
            ("Is n't it ``a , b`` ?", "Isn't it ``a , b``?"),
        ],
    )
    def test_code_is_kept_when_text_is_repaired(self, tmp_path: Path, text: str, mended: str) -> None:
        [talk], _ = read_lines(tmp_path, {"turns": [text]}, clean=True)
        assert said(talk) == [f"A: {mended}"]
        assert detokenize(mended) == mended

    @pytest.mark.parametrize("text", ["What ?", "I do n't", "I don ' t", "He 's in", "`` No '' she said"])
    def test_text_split_by_a_tokeniser_is_recognised(self, text: str) -> None:
        assert is_tokenised(text) and not is_tokenised(detokenize(text))


def test_repairs_are_in_the_report_and_the_store(store: Store, tmp_path: Path) -> None:
    wipe(store)
    graph = DialogueGraph(store)
    file = written(
        tmp_path / "talks.jsonl",
        json.dumps({"id": 1, "messages": [
            {"role": "system", "content": "Be kind."}, {"role": "user", "content": "It 's late ."},
            {"role": "assistant", "content": ""}, {"role": "assistant", "content": "Yes."},
        ]}) + "\n" + json.dumps({"id": 2, "turns": ["Only one."]}),
    )  # fmt: skip
    report = graph.load("dialogues", file, clean=True)
    assert report.notices.lines()[1:] == [
        f"1 text {SPOILT} repaired", "1 system message kept out of the turns", "1 empty turn left out",
    ]  # fmt: skip
    rows = graph.cypher(
        "MATCH (d:Dialogue)-[:HAS_TURN]->(u) "
        "RETURN d.system AS system, u.id AS id, u.text AS text ORDER BY id"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("Be kind.", "talks/all/1#0", "It's late."), ("Be kind.", "talks/all/1#1", "Yes."),
        (None, "talks/all/2#0", "Only one."),
    ]  # fmt: skip
    wipe(store)


def test_the_command_line_prints_the_notices(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path / "talks.jsonl", '{"id": 1, "turns": ["Salt &amp; pepper ?", "", "Yes."]}')
    for options, told in (
        ([], "1 text with HTML entities"),
        (["--clean", "--name", "b"], "tokeniser repaired"),
    ):
        ended = run("--store", tmp_path / "store", "load", "dialogues", file, *options)
        assert ended.status == 0 and told in ended.err and "1 empty turn left out" in ended.err

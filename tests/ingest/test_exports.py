"""Tests of exports of ChatGPT, OpenAssistant and help desks: hidden messages and notes are left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from graphneg.errors import InputError
from graphneg.ingest import content, reading
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue
from tests.ingest.test_dialogue_files import lines, load, refused, said
from tests.loader_samples import written


def notices_of(*given: Any, **options: Any) -> list[str]:
    """Return the notices of a load, without those that name the columns."""
    return [line for line in load(*given, **options)[1].notices.lines() if "read as" not in line]


def node(parent: str | None, role: str = "", *parts: Any, kind: str = "text", **message: Any) -> Any:
    """Return a node of a conversation in ChatGPT's format."""
    said = {"author": {"role": role}, "content": {"content_type": kind, "parts": list(parts)}} | message
    return {"parent": parent, "children": [], "message": said if role else None}


def chat(last: Any = "d", **changed: Any) -> dict[str, Any]:
    nodes = {
        "root": node(None),
        "a": node("root", "user", "Is rye a grain?"),
        "x": node("a", "assistant", "No."),
        "b": node("a", "assistant", "Yes."),
        "c": node("b", "user", "And oats?"),
        "d": node("c", "assistant", "Oats too."),
    }
    return {"title": "Grain", "id": "g1", "mapping": nodes | changed, "current_node": last}


class TestChatGPT:
    @pytest.mark.parametrize("indent", [None, 1])
    def test_conversations_are_the_path_to_the_current_message(
        self, tmp_path: Path, indent: int | None
    ) -> None:
        chats = [chat(), chat("x") | {"id": "g2"}]
        file = written(tmp_path / "conversations.json", json.dumps(chats, indent=indent))
        records, options = load(file)
        assert said(file) == {
            "g1": [
                ("user", "Is rye a grain?"),
                ("assistant", "Yes."),
                ("user", "And oats?"),
                ("assistant", "Oats too."),
            ],
            "g2": [("user", "Is rye a grain?"), ("assistant", "No.")],
        }
        assert [dict(one.attributes) for one in records if isinstance(one, Dialogue)] == [
            {"title": "Grain"}
        ] * 2
        assert options.notices.lines() == ["4 messages of other branches left out"]

    def test_hidden_messages_are_left_out_and_counted(self, tmp_path: Path) -> None:
        hidden: dict[str, Any] = {"metadata": {"is_visually_hidden_from_conversation": True}}
        image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f1"}
        spoken = {"content_type": "audio_transcription", "text": "Draw it."}
        nodes = {
            "s": node(None, "system", "Be brief."),
            "p": node("s", "user", "I like rye.", kind="user_editable_context"),
            "a": node("p", "user", image, "What is this?", kind="multimodal_text"),
            "b": node("a", "assistant", "search('rye')", kind="code", recipient="browser"),
            "c": node("b", "tool", "Rye is a grain."),
            "d": node("c", "assistant", "Hidden.", **hidden),
            "e": node("d", "assistant", kind="thoughts"),
            "f": node("e", "assistant", None, "Rye."),
            "g": node("f", "user", spoken, kind="multimodal_text"),
            "h": node("g", "assistant"),
        }
        nodes["h"]["message"]["content"] = {"content_type": "text", "parts": None}
        file = written(tmp_path / "c.json", json.dumps([{"id": "1", "mapping": nodes, "current_node": "h"}]))
        assert said(file)["1"] == [("user", "What is this?"), ("assistant", "Rye."), ("user", "Draw it.")]
        assert sorted(notices_of(file)) == [
            "1 empty turn left out",
            "1 hidden message left out",
            "1 media placeholder left out",
            "1 thought left out",
            "1 tool call left out",
            "1 tool message kept out of the turns",
            "2 system messages kept out of the turns",
        ]

    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            (chat("gone"), "'current_node' is 'gone', which is not in 'mapping'"),
            (chat(None), "it has no 'current_node', so its last message is unknown"),
            (chat(c=node("gone", "user", "x")), "the parent of the node 'c' is 'gone', which is not in"),
            (chat(a=node("d", "user", "x")), "the parents of the node 'd' form a cycle"),
            (chat(b="Yes."), "the parent of the node 'c' is 'b', which is not in 'mapping'"),
            (chat(b={"parent": "a", "message": 3}), "the message of the node 'b' is not a JSON object"),
            (chat(b=node("a", "user", content=None)), "the message of the node 'b' has no content"),
            (chat(b=node("a", "user", author=None)), "the message of the node 'b' has no author with a role"),
            (chat() | {"mapping": []}, "the object has no turns ("),
        ],
    )
    def test_a_malformed_conversation_is_refused(
        self, tmp_path: Path, changed: dict[str, Any], reason: str
    ) -> None:
        chats = [chat(), changed | {"id": "bad"}, chat() | {"id": "g3"}]
        records, _ = load(written(tmp_path / "conversations.json", json.dumps(chats)))
        assert [one.id.rpartition("/")[2] for one in records if isinstance(one, Dialogue)] == ["g1", "g3"]
        [line] = refused(records)
        assert line.startswith("conversations.json:1 item 1: ") and reason in line

    def test_a_too_long_conversation_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        long = {f"n{number}": node("a", "user", "x" * 900) for number in range(500)}
        chats = [chat(), chat(**long) | {"id": "long"}, chat() | {"id": "g3"}]
        file = written(tmp_path / "conversations.json", json.dumps(chats))
        monkeypatch.setattr(reading, "LARGEST_ITEM", 20_000)
        monkeypatch.setattr(content, "CHUNK", 4_000)
        records, _ = load(file)
        assert [one.id.rpartition("/")[2] for one in records if isinstance(one, Dialogue)] == ["g1", "g3"]
        assert refused(records) == ["conversations.json:1 item 1: it is longer than 20,000 characters"]

    def test_one_conversation_and_lines_of_them_are_read_as_well(self, tmp_path: Path) -> None:
        assert list(said(written(tmp_path / "chat.json", json.dumps(chat(), indent=2)))) == ["g1"]
        both = [chat(), chat() | {"id": "g2"}]
        assert list(said(written(tmp_path / "chats.jsonl", lines(both)))) == ["g1", "g2"]
        assert list(said(both)) == ["g1", "g2"]

    def test_another_loader_names_the_loader_that_fits_a_file(self, tmp_path: Path) -> None:
        chats = written(tmp_path / "conversations.json", json.dumps([chat()], indent=1))
        talk = written(tmp_path / "talk.txt", "03/04/2026, 21:04 - Ann: Hi.\n")
        other = written(tmp_path / "other.txt", "Ann: Hi.\n")
        for file, loader in ((chats, "dialogues"), (talk, "whatsapp"), (other, "dialogues")):
            with pytest.raises(InputError, match=f"its loader is missing: graphneg load {loader} "):
                get_loader(str(file))
        with pytest.raises(InputError, match="looks like a file for the loader 'dialogues'"):
            list(get_loader("personachat").read([chats], LoadOptions()))


def message(id: str, text: str, *replies: Any, role: str = "assistant", **others: Any) -> dict[str, Any]:
    """Return a message of a tree in OpenAssistant's format."""
    own = {"message_id": id, "text": text, "role": role, "lang": "en", "deleted": False, "rank": None}
    return own | others | {"replies": list(replies)}


def tree() -> dict[str, Any]:
    thanks = message("m4", "Thanks.", role="prompter")
    prompt = message(
        "m1",
        "What is rye?",
        message("m2", "A city.", rank=2),
        message("m3", "A grain.", thanks, rank=1),
        message("m5", "A cereal.", rank=0, deleted=True),
        message("m6", "Un cereal.", message("m7", "Gracias.", lang="es"), rank=0, lang="es"),
        role="prompter",
    )
    return {"message_tree_id": "m1", "tree_state": "ready_for_export", "prompt": prompt}


BEST = {"m1": [("prompter", "What is rye?"), ("assistant", "A grain."), ("prompter", "Thanks.")]}
COUNTED = [
    "1 deleted message left out",
    "1 message of other branches left out",
    "2 messages in another language left out",
]


def flat(message: dict[str, Any], parent: str | None = None) -> list[dict[str, Any]]:
    """Return the messages of a tree as rows, as in OpenAssistant's flat files."""
    row = {key: cell for key, cell in message.items() if key != "replies"}
    rows = [row | {"parent_id": parent, "message_tree_id": "m1"}]
    return rows + [one for reply in message["replies"] for one in flat(reply, message["message_id"])]


class TestOpenAssistant:
    def test_trees_are_the_path_of_the_best_replies(self, tmp_path: Path) -> None:
        other = tree() | {"message_tree_id": "n1"}
        file = written(tmp_path / "oasst.trees.jsonl", lines([tree(), other]))
        assert said(file) == BEST | {"n1": BEST["m1"]}
        assert sorted(notices_of(written(tmp_path / "one.jsonl", lines([tree()])))) == COUNTED

    @pytest.mark.parametrize("form", ["jsonl", "json", "csv", "parquet", "frame"])
    def test_rows_are_the_path_of_the_best_replies(self, tmp_path: Path, form: str) -> None:
        frame = pd.DataFrame(flat(tree()["prompt"])[::-1])
        file = tmp_path / f"oasst.{form}"
        if form == "jsonl":
            frame.to_json(file, orient="records", lines=True)
        elif form == "json":
            frame.to_json(file, orient="records")
        elif form == "csv":
            frame.to_csv(file, index=False)
        elif form == "parquet":
            frame.to_parquet(file)
        given: Any = frame if form == "frame" else file
        assert said(given) == BEST
        assert [line for line in sorted(notices_of(given)) if "order" not in line] == COUNTED

    def test_replies_without_a_rank_come_last_and_keep_their_order(self) -> None:
        replies = [message("b", "B."), message("c", "C.", rank="?"), message("d", "D.", rank=7)]
        for amount, best in ((3, "D."), (2, "B.")):
            prompt = message("a", "A?", *replies[:amount], role="prompter")
            assert said([{"message_tree_id": "a", "prompt": prompt}])["a"][1] == ("assistant", best)

    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            ({"deleted": True}, "its first message was deleted"),
            ({"replies": "none"}, "the replies to the message 'm1' are not a list of JSON objects"),
            ({"replies": [None]}, "the replies to the message 'm1' are not a list of JSON objects"),
            ({"text": 3}, "turns[0].text is not a string"),
        ],
    )
    def test_a_malformed_tree_is_refused(self, tmp_path: Path, changed: dict[str, Any], reason: str) -> None:
        bad = {"message_tree_id": "bad", "prompt": tree()["prompt"] | changed}
        nothing = {"message_tree_id": "no", "prompt": None}
        file = written(
            tmp_path / "t.jsonl", lines([tree(), bad, nothing, tree() | {"message_tree_id": "n1"}])
        )
        records, _ = load(file)
        assert [one.id.rpartition("/")[2] for one in records if isinstance(one, Dialogue)] == ["m1", "n1"]
        assert len(refused(records)) == 2 and reason in refused(records)[0]

    @pytest.mark.parametrize(
        ("parents", "reason"),
        [
            ({"m1": None, "m2": "m3", "m3": "m2"}, "the replies form a cycle"),
            ({"m1": None, "m2": None}, "2 of the messages answer no other message, instead of one"),
            ({"m2": "m3", "m3": "m2"}, "0 of the messages answer no other message, instead of one"),
        ],
    )
    def test_rows_that_form_no_tree_are_refused(self, parents: dict[str, Any], reason: str) -> None:
        rows = [
            {"message_tree_id": "t", "message_id": id, "parent_id": parent, "role": "prompter", "text": id}
            for id, parent in parents.items()
        ]
        records, _ = load(rows + flat(tree()["prompt"]))
        assert [one.id.rpartition("/")[2] for one in records if isinstance(one, Dialogue)] == ["m1"]
        assert refused(records) == [f"data:row 1 dialogue 't': {reason}"]

    def test_a_message_below_a_missing_one_is_left_out_and_counted(self) -> None:
        rows = [row for row in flat(tree()["prompt"]) if row["message_id"] != "m3"]
        assert said(rows) == {"m1": [("prompter", "What is rye?"), ("assistant", "A city.")]}
        assert "1 message left out, as a message above it is missing" in notices_of(rows)


class TestInternalNotes:
    @pytest.mark.parametrize(
        ("column", "shown", "note"),
        [
            ("public", "true", "false"),
            ("is_public", "1", "0"),
            ("Comment Public", "Yes", "No"),
            ("private", "false", "TRUE"),
            ("is_internal", "", "true"),
            ("Internal", "0", "1"),
            ("type", "reply", "note"),
            ("part_type", "comment", "note"),
            ("visibility", "public", "internal"),
        ],
    )
    def test_internal_notes_in_tables_are_omitted_and_counted(
        self, tmp_path: Path, column: str, shown: str, note: str
    ) -> None:
        rows = f"7,Ann,{shown},Hi.\n7,Sue,{note},She is rude.\n7,Bo,{shown},Ho.\n"
        text = f"ticket_id,author,{column},body\n{rows}"
        file = written(tmp_path / "t.csv", text)
        assert said(file) == {"7": [("Ann", "Hi."), ("Bo", "Ho.")]}
        assert notices_of(file) == ["1 internal note left out"]
        assert said(file, map={"internal": ""}) == said(file)

    @pytest.mark.parametrize(
        ("column", "value", "known"),
        [
            ("Visibility", "agents only", False),
            ("Visibility", "Internal (agents only)", True),
            ("Comment Type", "side conversation", False),
            ("Comment Type", "Whisper", True),
            ("is_internal", "maybe", False),
            ("Public", "not yet", False),
            ("Public", "", False),
        ],
    )
    def test_internal_notes_with_unknown_values_are_omitted_and_named(
        self, tmp_path: Path, column: str, value: str, known: bool
    ) -> None:
        shown = {"is_internal": "no", "Public": "yes"}.get(column, "public reply")
        file = written(
            tmp_path / "t.csv", f"ticket_id,author,{column},body\n7,Ann,{shown},Hi.\n7,Sue,{value},Rude.\n"
        )
        assert said(file) == {"7": [("Ann", "Hi.")]}
        value_of = f"the value {value!r} of {column!r}"
        named = f"1 turn left out as a possible internal note, because {value_of} is unknown: "
        keeps = "--map internal= keeps such turns, and leaves out only known notes"
        assert sorted(notices_of(file)) == sorted(
            ["1 internal note left out", *([] if known else [f"{named}{keeps}"])]
        )
        assert len(said(file, map={"internal": ""})["7"]) == (1 if known else 2)

    def test_internal_notes_are_found_in_every_column_that_marks_them(self, tmp_path: Path) -> None:
        rows = "7,Ann,no,public,Hi.\n7,Sue,no,internal,Rude.\n7,Sue,yes,public,Psst.\n"
        file = written(tmp_path / "t.csv", f"ticket_id,author,private,visibility,body\n{rows}")
        assert said(file) == {"7": [("Ann", "Hi.")]}

    def test_a_column_of_other_kinds_does_not_mark_internal_notes(self, tmp_path: Path) -> None:
        table = "ticket_id,author,type,body\n7,Ann,reply,Hi.\n7,Sue,rumour,Hm.\n7,Bo,{},Ho.\n"
        for kind, turns in (("gossip", 3), ("private note", 1)):
            file = written(tmp_path / f"{kind}.csv", table.format(kind))
            talk = {"id": 7, "messages": [{"type": k, "text": "Hi."} for k in ("reply", "rumour", kind)]}
            for given in (file, [talk], iter([talk])):
                assert len(said(given)["7"]) == turns

    def test_internal_notes_of_zendesk_are_omitted_from_tickets(self, tmp_path: Path) -> None:
        comments = [
            {"id": 3, "author_id": "bo", "public": True, "body": "Ho.", "created_at": "2026-11-26T10:03:00Z"},
            {
                "id": 2,
                "author_id": "bo",
                "public": False,
                "body": "Psst.",
                "created_at": "2026-11-26T10:02:00Z",
            },
            {
                "id": 1,
                "author_id": "ann",
                "public": True,
                "body": "Hi.",
                "created_at": "2026-11-26T10:01:00Z",
            },
        ]
        tickets = {"tickets": [{"id": 7, "comments": comments}], "next_page": None, "count": 1}
        for indent in (None, 1):
            file = written(tmp_path / "tickets.json", json.dumps(tickets, indent=indent))
            assert said(file) == {"7": [("ann", "Hi."), ("bo", "Ho.")]}
            assert [line for line in notices_of(file) if "keys" not in line] == [
                "1 dialogue whose turns were put in the order of 'created_at'",
                "1 internal note left out",
            ]

    def test_internal_notes_of_intercom_are_omitted_from_conversations(self, tmp_path: Path) -> None:
        parts = [
            {
                "part_type": "comment",
                "body": "Ho.",
                "author": {"type": "admin", "name": "Bo"},
                "created_at": 2,
            },
            {"part_type": "assignment", "body": None, "author": {"type": "bot"}, "created_at": 3},
            {
                "part_type": "note",
                "body": "Psst.",
                "author": {"type": "admin", "name": "Bo"},
                "created_at": 4,
            },
        ]
        source = {"body": "Hi.", "author": {"type": "user", "name": "Ann"}}
        talk: dict[str, Any] = {"type": "conversation", "id": "9", "created_at": 1, "source": source}
        talk["conversation_parts"] = {"type": "conversation_part.list", "conversation_parts": parts}
        whole = {"type": "conversation.list", "conversations": [talk, talk | {"id": "10"}]}
        for value in (talk, [talk], whole):
            file = written(tmp_path / "intercom.json", json.dumps(value))
            assert said(file)["9"] == [("Ann", "Hi."), ("Bo", "Ho.")]
        assert sorted(notices_of([talk])) == ["1 empty turn left out", "1 internal note left out"]
        bad = talk | {"id": "b", "conversation_parts": {"conversation_parts": 3}}
        assert refused(load([talk, bad])[0]) == [
            "data:row 2 item 1: 'conversation_parts' contains no list of parts"
        ]

    def test_internal_notes_of_freshdesk_are_omitted_and_the_description_is_the_first_turn(
        self, tmp_path: Path
    ) -> None:
        answers = [
            {
                "body": "<b>Ho.</b>",
                "body_text": "Ho.",
                "private": False,
                "user_id": 5,
                "created_at": "2026-11-27",
            },
            {
                "body": "Psst.",
                "body_text": "Psst.",
                "private": True,
                "user_id": 5,
                "created_at": "2026-11-28",
            },
        ]
        ticket = {"id": 4, "description": "<b>Hi.</b>", "description_text": "Hi.", "requester_id": 3}
        tickets = [ticket | {"created_at": "2026-11-26", "conversations": answers}]
        file = written(tmp_path / "freshdesk.json", json.dumps(tickets))
        assert said(file) == {"4": [("3", "Hi."), ("5", "Ho.")]}
        assert notices_of(file) == ["1 internal note left out"]

    def test_omitted_notes_do_not_change_responses_and_turn_numbers(self) -> None:
        rows = [
            {"dialogue": 1, "turn": turn, "speaker": "A", "text": text, "private": text == "Psst."}
            for turn, text in enumerate(["Hi.", "Psst.", "Ho."])
        ]
        assert said(rows) == {"1": [("A", "Hi."), ("A", "Ho.")]}
        turns = ["Hi.", {"text": "Psst.", "internal": True}, "Ho."]
        [talk], _ = load([{"id": 1, "turns": turns, "responses": [{"turn": 2, "text": "Hm.", "label": 0}]}])
        assert isinstance(talk, Dialogue) and [one.turn for one in talk.responses] == [1]


def intercom(subject: Any, body: Any, *parts: str) -> dict[str, Any]:
    """Return a conversation of Intercom's API, in which Ann asks and Bo answers."""
    author = {"type": "user", "name": "Ann"}
    answers = [{"part_type": "comment", "body": part, "author": {"name": "Bo"}} for part in parts]
    source = {"type": "email", "subject": subject, "body": body, "author": author}
    return {"id": "9", "source": source, "conversation_parts": {"conversation_parts": answers}}


class TestFirstMessages:
    @pytest.mark.parametrize(
        ("subject", "body", "first"),
        [
            ("<p>Broken kettle &amp; lid</p>", "It leaks.", "Broken kettle & lid\nIt leaks."),
            ("Broken kettle", None, "Broken kettle"),
            ("Kettle", "My kettles leak.", "Kettle\nMy kettles leak."),
            (
                "Broken  KETTLE!",
                "<p>My broken <b>kettle</b> leaks.</p>",
                "<p>My broken <b>kettle</b> leaks.</p>",
            ),
            ("The lid", "It leaks.", "It leaks."),
            ("", "It leaks.", "It leaks."),
            (None, "It leaks.", "It leaks."),
            (7, "It leaks.", "It leaks."),
        ],
    )
    def test_the_first_message_of_intercom_contains_the_subject_unless_a_message_does(
        self, subject: Any, body: Any, first: str
    ) -> None:
        talk = intercom(subject, body, "Is it the lid?")
        assert said([talk]) == {"9": [("Ann", first), ("Bo", "Is it the lid?")]}
        changed = ["1 subject put before the text of the first message"] if first != body else []
        tags = ["1 text with HTML tags kept: --clean removes them"] if first.startswith("<p>") else []
        assert notices_of([talk]) == [*changed, *tags]

    @pytest.mark.parametrize(
        ("text", "page", "first"),
        [
            (
                None,
                "<div>Hi &amp; hello.<br>It <i>leaks</i>.</div><style>p {}</style>",
                "Hi & hello.\nIt leaks.",
            ),
            ("", "<p>It leaks.</p>", "It leaks."),
            ("It leaks.", "<p>It leaks.</p><p>Since May.</p>", "It leaks.\nSince May."),
            ("It leaks.", "<p>Since May.</p>", "It leaks.\nSince May."),
        ],
    )
    def test_the_first_message_of_freshdesk_is_read_from_html_if_the_plain_text_is_incomplete(
        self, text: str | None, page: str, first: str
    ) -> None:
        answers = [{"body_text": "Which lid?", "user_id": 5}]
        ticket = {"id": 4, "subject": "Kettle", "description": page, "requester_id": 3}
        ticket |= {"conversations": answers} | ({} if text is None else {"description_text": text})
        assert said([ticket]) == {"4": [("3", first), ("5", "Which lid?")]}
        assert notices_of([ticket]) == ["1 description converted from HTML to text"]

    def test_descriptions_of_whole_dialogues_are_not_first_messages(self) -> None:
        turns = [{"from": "human", "value": "Hi."}, {"from": "gpt", "value": "Ho."}]
        row = {"id": 1, "description": "Two greetings.", "conversations": turns}
        assert said([row]) == {"1": [("human", "Hi."), ("gpt", "Ho.")]}

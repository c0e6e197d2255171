"""Test that JSON in files is refused for a repeated key or NaN, which Python's own decoder accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.json_input import decode_json, json_line
from graphneg.model import Dialogue, Opposite, Rejected
from tests.loader_samples import written

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(value=VALUES)
def test_what_json_can_hold_is_decoded(value: Any) -> None:
    assert decode_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 1}', 'the key "a" appears twice in one JSON object'),
        ('{"a": {"b": 1, "\\u0062": 2}}', 'the key "b" appears twice in one JSON object'),
        ('{"a": 1, "a', "not JSON: Unterminated string at column 10"),
        ("[NaN]", "not JSON: NaN is not a JSON number"),
        ("[" * 100_000, "the JSON nests too deeply"),
    ],
)
def test_what_no_writer_may_write_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InputError, match="^" + reason):
        decode_json(text)


def loaded(loader: str, path: Path) -> tuple[list[str], list[str]]:
    """Return the names of the loaded dialogues, and each refusal with its line."""
    records = list(get_loader(loader).read([path], LoadOptions()))
    ids = [one.id.rpartition("/")[2] for one in records if isinstance(one, Dialogue)]
    return ids, [
        f"{one.place.rpartition(':')[2]} {one.reason}" for one in records if isinstance(one, Rejected)
    ]


class TestARepeatedKeyInAFile:
    def test_costs_its_line(self, tmp_path: Path) -> None:
        lines = ['{"id": "a", "turns": ["Hi."]}', '{"id": "b", "turns": ["Hi."], "turns": ["Ho."]}']
        lines += ['{"id": "c", "turns": [{"text": "Hi.", "text": "Ho."}]}', '{"id": "d", "turns": ["Hi."]}']
        assert loaded("dialogues", written(tmp_path / "t.jsonl", "\n".join(lines))) == (
            ["a", "d"],
            [
                f'{line} the key "{key}" appears twice in one JSON object'
                for line, key in ((2, "turns"), (3, "text"))
            ],
        )

    @pytest.mark.parametrize("loader", ["personachat", "topical_chat", "dialogues"])
    def test_costs_its_item_of_a_document(self, loader: str, tmp_path: Path) -> None:
        turns = {
            "personachat": '"persona": [], "dialogue": [["Hi.", "Ho."]]',
            "topical_chat": '"content": [{"agent": "agent_1", "message": "Hi."}]',
            "dialogues": '"turns": ["Hi."]',
        }[loader]
        text = (
            f'{{"a": {{{turns}}},\n"b": {{{turns}, "x": 1, "x": 1}},\n"a": {{{turns}}},\n"c": {{{turns}}}}}'
        )
        ids, refused = loaded(loader, written(tmp_path / "t.json", text))
        assert len(ids) == 2
        assert refused == [
            '2 item b: the key "x" appears twice in one JSON object',
            '3 the key "a" appears twice in one JSON object',
        ]

    def test_costs_the_repeated_list_of_a_document(self, tmp_path: Path) -> None:
        lists = ['"train": [{"id": 1, "turns": ["Hi."]}]', '"train": [{"id": 2, "turns": ["Hi."]}, x]']
        lists.append('"test": [{"id": 3, "turns": ["Ho."]}]')
        text = "{" + ",\n".join(lists) + "}"
        ids, refused = loaded("dialogues", written(tmp_path / "t.json", text))
        assert ids == ["1", "3"]
        assert refused[0] == '2 the key "train" appears twice in one JSON object' and len(refused) == 2

    def test_costs_a_file_that_is_one_dialogue(self, tmp_path: Path) -> None:
        text = '{"id": "a",\n"turns": ["Hi."],\n"turns": ["Ho."]}'
        refused = ['1 the key "turns" appears twice in one JSON object']
        assert loaded("dialogues", written(tmp_path / "t.json", text)) == ([], refused)

    def test_costs_an_edge_of_conceptnet(self, tmp_path: Path) -> None:
        edge = '/a/x\t/r/Antonym\t/c/en/{}\t/c/en/{}\t{"weight": 1.0}\n'
        double = '/a/x\t/r/Antonym\t/c/en/up\t/c/en/down\t{"weight": 1.0, "weight": 9.0}\n'
        text = edge.replace("{}", "hot", 1).replace("{}", "cold", 1) + double
        found = list(get_loader("conceptnet").read([written(tmp_path / "d.csv", text)], LoadOptions()))
        assert [type(one) for one in found] == [Opposite, Rejected]


def test_a_line_of_json_has_nothing_that_ends_a_line_or_that_a_terminal_obeys() -> None:
    text = "a\x85b\u2028c\u2029d\x9b2Je\u202ef\u2066g\x7f"
    line = json_line({"text": text})
    assert line.splitlines() == [line] and line.isascii()
    assert json.loads(line) == {"text": text}

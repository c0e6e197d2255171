"""Tests of the validation of records, of user-defined loaders and of format recognition."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from graphneg.errors import InputError
from graphneg.ingest.content import ItemError
from graphneg.ingest.loader import LoadOptions, LoadReport, check_format, has_format
from graphneg.ingest.reading import Item
from graphneg.ingest.validation import (
    DialogueLoader,
    GraphDialogues,
    alternating,
    mapping,
    named,
    require_storable,
    strings,
)
from graphneg.model import Dialogue, GraphText, Rejected, Response, Sentence, Utterance
from tests.loader_samples import CASES, DATA, written

GOOD = Dialogue("a/b/c", "a", "b", alternating(["Hello.", "Hi."]), (Response(1, "Bye.", 0, "random"),))


class Talks(DialogueLoader):
    """Load dialogues from lines of JSON, each a list of turns."""

    name = "talks"
    summary = "lists of turns"

    def dialogue(self, item: Item) -> Dialogue:
        return Dialogue(str(item.number), "", "", alternating(strings(item.value, "the line")))


def test_a_user_loader_needs_one_method(tmp_path: Path) -> None:
    files = [written(tmp_path / name, '["Hi.", "Ho."]\n"no list"\n') for name in ("dev.jsonl", "x.jsonl")]
    first, refused, second, _ = Talks().read(files, LoadOptions())
    assert isinstance(first, Dialogue) and isinstance(second, Dialogue) and isinstance(refused, Rejected)
    assert (first.id, second.id, first.place) == ("talks/dev/0", "talks/all/0", f"{files[0]}:1")
    assert refused.reason == "item 1: the line is not a list of strings"
    same = written(tmp_path / "same.jsonl", '["Hi."]\n["Ho."]\n["Hum."]\n')
    again = list(Talks().read([files[0], same], LoadOptions("own", "test")))
    assert [type(one).__name__ for one in again] == ["Dialogue", *["Rejected"] * 2, *["Dialogue"] * 2]
    assert [one.id for one in Talks().records(files[0], LoadOptions("own")) if isinstance(one, Dialogue)] == [
        "own/dev/0"
    ]


@pytest.mark.parametrize(
    ("said", "options", "id"),
    [
        (("x", "", ""), (None, None), "talks/all/x"),
        (("x", "own", "dev"), (None, None), "own/dev/x"),
        (("own/dev/x", "own", "dev"), (None, None), "own/dev/x"),
        (("own/dev/x", "own", "dev"), ("other", "test"), "other/test/x"),
        (("own/dev/x", "", ""), (None, "test"), "talks/test/own/dev/x"),
    ],
)
def test_options_override_entries_and_entries_the_file(
    said: tuple[str, str, str], options: tuple[str | None, str | None], id: str
) -> None:
    whole = named(Dialogue(*said, utterances=()), LoadOptions(*options), "talks", "all")
    assert whole.id == id == f"{whole.corpus}/{whole.split}/{id.split('/', 2)[2]}"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"utterances": ()}, "no turns"),
        ({"id": "x" * 501}, "the maximum is 500"),
        ({"id": "a\tb"}, "not printable"),
        ({"utterances": (Utterance(0, "A", " "),)}, "turn 0 is empty"),
        ({"utterances": (Utterance(0, "A\0", "Hi."),)}, "turn 0 contains a NUL character"),
        ({"utterances": (Utterance(0, "A", "Hi.", attributes={"k": [{"\udce9": 1}]}),)}, "byte 0xe9"),
        ({"responses": (Response(0, "", 1, "human"),)}, r"response 0 \(human\) is empty"),
        ({"responses": (Response(0, "Hi.", 1, "human", "(a / \ud800)"),)}, "surrogate pair, U[+]D800"),
        ({"attributes": {"deep": [[-(2**63) - 1]]}}, "number of more than 64 bits"),
    ],
)
def test_records_that_a_store_can_not_hold_are_refused(change: dict[str, Any], reason: str) -> None:
    require_storable(replace(GOOD, attributes={"n": [2**63 - 1, -(2**63), True, None, 0.5, "é"]}))
    with pytest.raises(ItemError, match=reason):
        require_storable(replace(GOOD, **change))


def test_json_values_of_another_kind_are_named() -> None:
    for value, reason in (({}, "is not a list"), (["a", 1], "not a string")):
        with pytest.raises(ItemError, match=f'"turns" .*{reason}'):
            strings(value, '"turns"')
    with pytest.raises(ItemError, match="turn 3 is not a JSON object"):
        mapping([], "turn 3")


def test_graphs_become_dialogues_of_the_given_length() -> None:
    grouping = GraphDialogues("book", "all", 2)
    texts = [GraphText(f"(g / go-0{n})", None, f" Go {n}. ", f"f:{n}") for n in range(3)]
    made = [dialogue for text in texts for dialogue in grouping.add(text)] + list(
        grouping.remaining_dialogue()
    )
    assert [(one.id, [turn.text for turn in one.utterances]) for one in made] == [
        ("book/all/0", ["Go 0.", "Go 1."]),
        ("book/all/1", ["Go 2."]),
    ]
    assert grouping.places["book/all/1#0"] == "f:2" and list(grouping.remaining_dialogue()) == []


@pytest.mark.parametrize(("loader", "name"), CASES)
def test_each_format_is_recognised_by_its_loader_only(loader: str, name: str) -> None:
    fitting = {other for other, _ in CASES if has_format(DATA / name, other)}
    assert fitting == {loader}


def test_a_file_without_accepted_items_is_an_error(tmp_path: Path) -> None:
    prose, refused = written(tmp_path / "notes", "Prose.\n"), Rejected("notes:1", "no line")
    sentence = Sentence("a", "Prose.", "notes")
    assert list(check_format(prose, "text", iter([refused, sentence, refused]))) == [
        refused,
        sentence,
        refused,
    ]
    taken: list[int] = []
    endless = (taken.append(number) or refused for number in range(1_000))
    with pytest.raises(InputError, match=r"which reads another format\. notes:1: no line"):
        list(check_format(prose, "text", endless))
    assert len(taken) == 50


def test_a_report_counts_and_keeps_the_first_refusals() -> None:
    told: list[Rejected] = []
    report = LoadReport("talks", on_rejected=told.append)
    assert report.summary() == "talks: loaded nothing new"
    for number in range(1_001):
        report.reject(f"f:{number}", "bad")
    report.written.update(dialogues=1, nodes=2_000, frames=0)
    report.present.update(dialogues=3)
    assert (
        report.summary()
        == "talks: loaded 1 dialogue, 2,000 nodes; already in the store: 3 dialogues; refused: 1,001"
    )
    assert len(report.rejected) == 1_000 and len(told) == 1_001


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        (({"text": "Hi."},), "turn 0 is a dict; it must be a graphneg.model.Utterance"),
        ((Utterance(0, "A", cast("Any", 7)),), "the text of turn 0 is a int; it must be a string"),
    ],
)
def test_wrong_types_of_a_user_loader_are_named(turns: Any, reason: str, tmp_path: Path) -> None:
    class Odd(DialogueLoader):
        name = "odd"
        summary = "odd: wrong types"

        def dialogue(self, item: Item) -> Dialogue:
            return Dialogue("1", "", "", turns)

    file = tmp_path / "odd.jsonl"
    file.write_text("[]\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"loader odd at .*odd.jsonl:1: {reason}"):
        list(Odd().read([file], LoadOptions()))


def test_items_that_are_strings_are_named(tmp_path: Path) -> None:
    class Lines(Talks):
        def items(self, path: Path, progress: Any) -> Any:
            return ["a line"]

    file = tmp_path / "odd.jsonl"
    file.write_text("[]\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"yielded a str; it must yield Item\(place, number, key, value\)"):
        list(Lines().read([file], LoadOptions()))

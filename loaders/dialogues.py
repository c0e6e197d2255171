"""`dialogues`: dialogues of one's own, as JSON Lines or as a table (CSV, TSV).

JSON Lines: one dialogue a line, as ``dialogue.schema.json`` beside this file describes it;
keys that the schema does not name are kept as attributes. Tables: one utterance a row, with
the columns ``dialogue``, ``turn`` (from 0), ``speaker`` and ``text``, and optionally ``split``
and ``amr``; the rows of a dialogue stand together.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.ingest.reading import Item, Refused, corpus_of, json_lines
from graphneg.ingest.validation import DialogueLoader, table_dialogues
from graphneg.model import Dialogue, Rejected, Response, Utterance
from graphneg.progress import Progress

if TYPE_CHECKING:
    from fastjsonschema import JsonSchemaValueException

_TABLES = {".csv": ",", ".tsv": "\t"}
_DIALOGUE_KEYS = {"id", "corpus", "split", "turns", "responses"}
_TURN_KEYS = {"text", "speaker", "amr"}
_KINDS = {
    "object": "a JSON object", "array": "a list", "string": "a string", "integer": "an integer",
    "null": "null",
}  # fmt: skip


class Loader(DialogueLoader):
    """JSON Lines or tables of dialogues in graphneg's own layout."""

    name = "dialogues"
    summary = "dialogues of your own: JSON Lines (id, turns) or CSV/TSV (dialogue, turn, speaker, text)"

    def items(self, path: Path, progress: Progress) -> Iterator[Item | Rejected]:
        """The lines of a file, or the groups of rows of a table."""
        suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
        delimiter = _TABLES.get(suffixes[-1]) if suffixes else None
        return table_dialogues(path, delimiter, progress) if delimiter else json_lines(path, progress)

    def dialogue(self, item: Item) -> Dialogue:
        """The dialogue of a line, or of rows."""
        return dialogue(item.value)

    def corpus(self, path: Path) -> str:
        """The corpus after the file's name."""
        return corpus_of(path)


def dialogue(value: Any) -> Dialogue:
    """A dialogue from a JSON value; corpus and split are empty where the value does not say them.

    Raises `Refused`: the value does not follow the schema.
    """
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator()(value)
    except JsonSchemaValueException as error:
        raise Refused(_fault(error)) from error
    utterances = tuple(_utterance(turn, item) for turn, item in enumerate(value["turns"]))
    return Dialogue(
        id=str(value["id"]).strip(),
        corpus=value.get("corpus", ""),
        split=value.get("split", ""),
        utterances=utterances,
        responses=tuple(_response(item, len(utterances)) for item in value.get("responses", ())),
        attributes=_others(value, _DIALOGUE_KEYS),
    )


def _utterance(turn: int, value: str | Mapping[str, Any]) -> Utterance:
    fields: Mapping[str, Any] = {"text": value} if isinstance(value, str) else value
    speaker, text = fields.get("speaker", "AB"[turn % 2]).strip(), fields["text"].strip()
    return Utterance(turn, speaker, text, fields.get("amr"), _others(fields, _TURN_KEYS))


def _response(value: Mapping[str, Any], turns: int) -> Response:
    turn = int(value["turn"])
    if turn >= turns:
        raise Refused(f"a response is to turn {turn}, but the last turn is {turns - 1}")
    text, source = value["text"].strip(), value.get("source", "given").strip()
    return Response(turn, text, int(value["label"]), source, value.get("amr"))


def _others(value: Mapping[str, Any], known: set[str]) -> dict[str, Any]:
    return {key: attribute for key, attribute in value.items() if key not in known}


def _fault(error: JsonSchemaValueException) -> str:
    """What does not follow the schema, in words: ``turns[0] lacks 'text'``."""
    what = str(error.name).removeprefix("data").removeprefix(".") or "the dialogue"
    wanted: Any = error.rule_definition
    if error.rule == "required":
        return f"{what} lacks {', '.join(repr(key) for key in wanted if key not in error.value)}"
    if error.rule == "type":
        kinds = [wanted] if isinstance(wanted, str) else wanted
        return f"{what} is not {' or '.join(_KINDS[kind] for kind in kinds)}"
    if error.rule in ("pattern", "minItems"):
        return f"{what} is empty"
    return error.message.replace("data.", "", 1)


@cache
def _validator() -> Callable[[Any], Any]:
    import fastjsonschema

    schema = files("graphneg.loaders").joinpath("dialogue.schema.json").read_text("utf-8")
    return fastjsonschema.compile(json.loads(schema), use_default=False)

r"""Convert the content of a store into JSON Lines, and read these lines again.

An export contains everything that was loaded into a store or parsed there: dialogues with their attributes,
responses and AMR graphs, the entries of the lexicon, frames, opposites, and sentences of text files. It does
not contain what graphneg computes from these data: facts about graphs, shifts, the sentences of dialogues,
cached parses, and negatives. The loader ``dialogues`` reads an export without changing anything, so a store
that is loaded from it has the same content.

The first line of the file is the header, by which the loader recognizes the format. The lines of dialogues
follow ``dialogue.schema.json``, except that a text may also have the graphs of parsers (``parses``)::

    {"graphneg_export": 1, "graphneg": "0.1.0"}
    {"opposite": {"start": "cold", "end": "hot", "relation": "Antonym", ...}}
    {"id": "chats/train/1", "corpus": "chats", "split": "train", "turns": [{"speaker": "Ann", ...

>>> turn = {"speaker": "Ann", "text": "Birds sing.", "amr": "(s / sing-01 :ARG0 (b / bird))"}
>>> item = Item("chats.jsonl:2", 1, "", {"id": "c/all/1", "corpus": "c", "split": "all", "turns": [turn]})
>>> exported_dialogue(item, LoadOptions(corpus="chats")).id
'chats/all/1'
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from graphneg import __version__
from graphneg.amr.penman import format_graph
from graphneg.errors import InputError
from graphneg.ingest.content import ItemError, head
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Item, parse_json, text_lines
from graphneg.ingest.rows import GOLD, amr_id
from graphneg.ingest.spill import IdSet
from graphneg.ingest.validation import valid_dialogues
from graphneg.json_input import LONGEST_LINE
from graphneg.model import (
    AmrGraph,
    Dialogue,
    Frame,
    LexiconEntry,
    Opposite,
    ParserGraph,
    Record,
    Rejected,
    Response,
    Sentence,
    Utterance,
)
from graphneg.store.connection import Store
from graphneg.store.dialogues import read_responses, read_whole_graphs
from graphneg.store.statements import cypher_text

T = TypeVar("T")
Value = dict[str, Any]
VERSION = 1
"""Version of the export format."""
HEADER: Value = {"graphneg_export": VERSION, "graphneg": __version__}
"""The first line of an export."""
_START = b'{"graphneg_export":'
_PAGE = 2_000
"""Number of words, frames or sentences that are read at a time."""
DIALOGUE_PROPERTIES = frozenset({"id", "corpus", "split", "order", "digest", "attributes"})
"""The properties of a ``Dialogue`` node that are not attributes from the corpus."""
UTTERANCE_PROPERTIES = frozenset({"id", "turn", "speaker", "text", "key", "attributes"})
"""The properties of an ``Utterance`` node that are not attributes from the corpus."""
_COMPUTED = frozenset({"shifts", "pooled"})
"""Properties of a ``Dialogue`` node that are true if its shifts or sentences have been computed."""
_RESOURCES: dict[str, type[LexiconEntry | Frame | Opposite | Sentence]] = {
    "lexicon_entry": LexiconEntry,
    "frame": Frame,
    "opposite": Opposite,
    "sentence": Sentence,
}
"""The record types of lines that are not dialogues, keyed by the only key of such a line."""


class _Parse(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    parser: str
    version: str
    amr: str
    # Each span has the index of a node, the index of its first token, and the index after its last token.
    spans: list[tuple[int, int, int]] = []
    warnings: list[str] = []


class _Turn(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    speaker: str
    text: str
    amr: str | None = None
    parses: list[_Parse] = []
    attributes: Value = {}


class _Response(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    turn: int
    text: str
    label: int
    source: str
    amr: str | None = None
    parses: list[_Parse] = []


class _Dialogue(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    id: str
    corpus: str
    split: str
    turns: list[_Turn]
    responses: list[_Response] = []
    attributes: Value = {}


# Writing


def dialogue_values(store: Store, ids: Sequence[str]) -> Iterator[tuple[str, Value]]:
    """Yield the export lines of dialogues, as values that can be written as JSON.

    Args:
        store: The store to export.
        ids: The ids of the dialogues.

    Yields:
        The id of each dialogue, and the content of its line.
    """
    dialogues = {row["id"]: row["properties"] for row in _rows(store, "dialogues", ids)}
    utterances = {row["id"]: row["utterances"] for row in _rows(store, "utterances", ids)}
    responses = read_responses(store, ids)
    made: defaultdict[str, list[tuple[str, str, list[str]]]] = defaultdict(list)
    for kind in ("graphs", "response_graphs"):
        for row in _rows(store, kind, ids):
            made[row["of"]].append((row["source"], row["amr"], row["warnings"] or []))
    amrs = [amr for graphs in made.values() for _, amr, _ in graphs]
    whole = {graph.id: graph for graph in read_whole_graphs(store, amrs)}

    def graphs_of(id: str) -> tuple[str | None, list[_Parse]]:
        gold: str | None = None
        parses: list[_Parse] = []
        for source, amr, warnings in sorted(made[id]):
            if source == GOLD:
                gold = format_graph(whole[amr])
            else:
                parses.append(_parse(whole[amr], amr.removeprefix(amr_id(id, "")), source, warnings))
        return gold, parses

    for id in ids:
        own = dialogues[id]
        turns = [
            _Turn(
                said["speaker"],
                said["text"],
                *graphs_of(said["id"]),
                stored_attributes(said, UTTERANCE_PROPERTIES),
            )
            for said in sorted(utterances[id], key=lambda said: said["turn"])
        ]
        # The id of a response ends with its index among all responses of the dialogue. Sort by this number.
        answers = sorted(responses.get(id, ()), key=lambda one: int(one.id.rpartition("/r")[2]))
        line = _Dialogue(
            id,
            own["corpus"],
            own["split"],
            turns,
            [_Response(one.turn, one.text, one.label, one.source, *graphs_of(one.id)) for one in answers],
            stored_attributes(own, DIALOGUE_PROPERTIES),
        )
        yield id, msgspec.to_builtins(line)


def resource_values(store: Store) -> Iterator[Value]:
    """Yield the export lines of everything in a store that belongs to no dialogue, as values for JSON.

    Sentences that graphneg itself ships are left out.

    Args:
        store: The store to export.

    Yields:
        Entries of the lexicon, frames, opposites and sentences, each kind sorted by its key.
    """
    # Write the lexicon first, because the facts that are computed about all graphs depend on it.
    for row in store.read(cypher_text("lexicon/entries")):
        yield {"lexicon_entry": {"table": row["table"], "cells": row["cells"]}}
    for row in _pages(store, "frames", "id"):
        lists = {name: row[name] or [] for name in ("roles", "descriptions", "aliases")}
        yield {"frame": {"id": row["id"], "lemma": row["lemma"], **lists}}
    for row in _pages(store, "opposites", "text"):
        for edge in sorted(row["edges"]):
            end, relation, language, weight, source = edge
            yield {"opposite": asdict(Opposite(row["text"], end, relation, weight, source, language))}
    for row in _pages(store, "sentences", "id"):
        values = {name: row[name] for name in ("id", "text", "source")}
        yield {"sentence": {**values, "clause": row["finite"]}}


def _rows(store: Store, kind: str, ids: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    for row in store.read(cypher_text(f"export/{kind}"), ids=list(ids)):
        yield row.data()


def _pages(store: Store, kind: str, key: str) -> Iterator[Mapping[str, Any]]:
    after, query = "", cypher_text(f"export/{kind}")
    while rows := store.read(query, after=after, limit=_PAGE):
        yield from (row.data() for row in rows)
        after = rows[-1][key]


def _parse(graph: AmrGraph, parser: str, source: str, warnings: list[str]) -> _Parse:
    spans = [(k, start, end) for k, (start, end) in sorted(graph.spans.items())]
    return _Parse(parser, source[len(parser) + 1 :], format_graph(graph), spans, warnings)


def stored_attributes(properties: Mapping[str, Any], own: frozenset[str]) -> Value:
    """Return the attributes that `graphneg.ingest.rows.attributes_row` converted into node properties.

    Args:
        properties: The properties of a node.
        own: The names of the properties that are not attributes.

    Returns:
        The attributes, sorted by name.
    """
    found: Value = {name: value for name, value in properties.items() if name not in own}
    found = {name: value for name, value in found.items() if not (name in _COMPUTED and value is True)}
    found |= json.loads(properties.get("attributes") or "{}")
    return dict(sorted(found.items()))


# Reading


def is_exported(path: Path) -> bool:
    """Return whether a file begins with the header of an export.

    Args:
        path: The file to check.

    Returns:
        True if the file is an export of a store.
    """
    return head(path, len(_START)) == _START


def exported_records(path: Path, options: LoadOptions, known: IdSet) -> Iterator[Record]:
    """Yield the records of an exported file.

    Args:
        path: The file, for which `is_exported` is true.
        options: The options of the load. If they name a corpus or split, all dialogues get this corpus or
            split.
        known: The ids of dialogues that were read earlier in this load. A dialogue with one of these ids is
            rejected.

    Yields:
        The records in the order of the file, and rejected lines.

    Raises:
        InputError: A later version of graphneg has written the file, or an option is for other formats only.
    """
    if options.map or options.encoding or options.clean:
        raise InputError(
            f"{path} is an export of a store, which is loaded as it is: leave out --map, --encoding, --clean"
        )
    for line in text_lines(path, options.progress, longest=LONGEST_LINE):
        if isinstance(line, Rejected):
            yield line
            continue
        try:
            value = parse_json(line.text)
            if line.number == 1:
                _check_header(path, value)
            elif isinstance(value, dict) and "turns" in value:
                item = Item(line.place, line.number - 1, "", value)
                yield from valid_dialogues([item], lambda item: exported_dialogue(item, options), known)
            else:
                yield _resource(value, line.place)
        except ItemError as reason:
            yield Rejected(line.place, str(reason))


def _check_header(path: Path, value: Any) -> None:
    if value.get("graphneg_export") != VERSION:
        writer = value.get("graphneg")
        raise InputError(
            f"{path}: graphneg {writer} wrote it in a format that version {__version__} does not know: "
            "upgrade graphneg with `pip install --upgrade graphneg`"
        )


def exported_dialogue(item: Item, options: LoadOptions) -> Dialogue:
    """Convert a line of an export into a dialogue.

    Args:
        item: The decoded line.
        options: The options of the load. If they name a corpus or split, it replaces the value in the line.

    Returns:
        The dialogue.

    Raises:
        ItemError: The line does not have the format of an export.
    """
    given = _converted(item.value, _Dialogue)
    corpus, split = options.corpus or given.corpus, options.split or given.split
    name = given.id.removeprefix(f"{given.corpus}/{given.split}/")
    if outside := [one.turn for one in given.responses if not 0 <= one.turn < len(given.turns)]:
        raise ItemError(f"a response is to turn {outside[0]}, but the last turn is {len(given.turns) - 1}")
    return Dialogue(
        f"{corpus}/{split}/{name}",
        corpus,
        split,
        tuple(
            Utterance(turn, one.speaker, one.text, one.amr, one.attributes, _parses(one.parses))
            for turn, one in enumerate(given.turns)
        ),
        tuple(
            Response(one.turn, one.text, one.label, one.source, one.amr, _parses(one.parses))
            for one in given.responses
        ),
        given.attributes,
    )


def _parses(parses: Sequence[_Parse]) -> tuple[ParserGraph, ...]:
    return tuple(
        ParserGraph(
            one.parser,
            one.version,
            one.amr,
            {k: (start, end) for k, start, end in one.spans},
            tuple(one.warnings),
        )
        for one in parses
    )


def _resource(value: Any, place: str) -> Record:
    """Convert an export line that is not a dialogue into a record. The line's only key names its type."""
    fields = cast("Value", value) if isinstance(value, dict) else {}
    [key] = fields if len(fields) == 1 else [""]
    if key not in _RESOURCES:
        raise ItemError(f"not a line of an export: it has no turns, and is none of {', '.join(_RESOURCES)}")
    record = _converted(fields[key], _RESOURCES[key])
    return LexiconEntry(record.table, record.cells, place) if isinstance(record, LexiconEntry) else record


def _converted(value: Any, type: type[T]) -> T:
    convert: Callable[..., T] = msgspec.convert
    try:
        return convert(value, type)
    except (msgspec.ValidationError, TypeError, RecursionError) as error:
        raise ItemError(str(error)) from error

"""Write the CSV files from which ``neo4j-admin database import`` creates a database.

For a large corpus, an import is much faster than a load over Bolt. `BulkFiles` has the interface of a store,
so that `graphneg.ingest.writing` can write records to it as to a database. It collects the records in the
file ``bulk.index`` (see `graphneg.ingest.bulk_index`). At the end of each load, it writes one CSV file per
node label and relationship type, and a script ``import.sh`` with the import command. The imported database
equals a database that was loaded over Bolt.

For example, ``BulkFiles("files").load("everyday")`` writes ``files/Dialogue.csv``, ``files/Utterance.csv``,
``files/Dialogue-HAS_TURN-Utterance.csv`` and so on. ``sh files/import.sh`` creates a database from them.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import sqlite3
import zlib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, TypeVar

from neo4j import ManagedTransaction, Record

from graphneg import __version__
from graphneg.amr.facts import facts_fingerprint
from graphneg.errors import InputError
from graphneg.ingest.bulk_index import TYPES, BulkIndex, unpacked
from graphneg.ingest.loader import GAP, DateOrder, Loader, LoadOptions, LoadReport
from graphneg.ingest.rows import Row, is_response
from graphneg.ingest.writing import load_files
from graphneg.model import Rejected
from graphneg.progress import NoProgress, Progress
from graphneg.records.locks import open_regular, refuse_links
from graphneg.records.runs import atomic_file, locking, unwritable, write_atomically
from graphneg.store.opening import EMPTY_LIST, SCHEMA_VERSION

T = TypeVar("T")
INDEX = "bulk.index"
"""Name of the SQLite file in which records are collected."""
COMMAND = "import.sh"
"""Name of the script that runs the import."""
BETWEEN = "\x1f"
"""The separator between list items in a field: the ASCII control character "unit separator"."""
LARGEST_FIELD = "64m"
"""Size of the import's read buffer. No field may be larger."""

_NODES = {
    "Dialogue": "id:ID(Dialogue) corpus split order digest",
    "Utterance": "id:ID(Utterance) turn:long speaker text key",
    "Response": "id:ID(Response) text label:long source",
    "Amr": "id:ID(Amr) source digest depth:long foreign:boolean metadata:string[] warnings:string[]",
    "AmrNode": "id:ID(AmrNode) amr position:long subtree_last:long var concept value frame:boolean kind "
    "parent:long role branch:long start:long end:long align role_align classes:string[] sentence_top:long "
    "clause_head:long clause_type main_clause:boolean negated:boolean negation_position:long "
    "question_position:long imperative_position:long modal:boolean tense time_bound:boolean "
    "undated_event:boolean alternative_acts:string[] repeatable context_free:boolean asked_roles:string[] "
    "prunable_detail:boolean depth:long reentrant_top:boolean opposable_as roles:string[] "
    "modified_kinds:string[] coarse_kind argument_type substitutable_kind phrase entity_type entity_text "
    "temporal:boolean fixed_time:boolean time_number:long expletive:boolean possessed_or_perceived:boolean "
    "has_name:boolean topical:boolean person_role pronoun_sentences:long[] top_branches:long[] "
    "question_sentences:long[] only_questions:boolean has_imperative:boolean hedged:boolean "
    "has_modal:boolean repeats:string[] noun_class selectional_preferences:string[]",
    "Clause": "id:ID(Clause) dialogue turn:long index:long speaker type polarity modality tense "
    "hedged:boolean reported:boolean self_contained:boolean",
    "Entity": "id:ID(Entity) dialogue kind name gender number",
    "Term": "text:ID(Term) form classes:string[] physical_object:boolean noun_class kind frames:boolean "
    "opposites:boolean antonyms:boolean sentences:long spoken:long",
    "Frame": "id:ID(Frame) lemma roles:string[] classes:string[] descriptions:string[] aliases:string[]",
    "Sentence": "id:ID(Sentence) text source dialogue words:long content:long mood person:long opening "
    "finite:boolean plain:boolean rank:long terms:string[]",
    "LexiconEntry": "id:ID(LexiconEntry) table cells:string[]",
    "GraphnegSchema": "id:ID(GraphnegSchema) version:long facts graphneg imported:boolean",
}
"""The properties of each node label, with their types. A property without a type is a string."""
_RELATIONSHIPS = {
    ("Dialogue", "HAS_TURN", "Utterance"): "",
    ("Utterance", "NEXT", "Utterance"): "",
    ("Utterance", "HAS_RESPONSE", "Response"): "",
    ("Utterance", "MEANS", "Amr"): "",
    ("Response", "MEANS", "Amr"): "",
    ("Amr", "TOP", "AmrNode"): "",
    ("AmrNode", "ROLE", "AmrNode"): "role branch:long inverted:boolean reentrant:boolean align role_align",
    ("AmrNode", "LEXEME", "Term"): "",
    ("Utterance", "HAS_CLAUSE", "Clause"): "",
    ("Response", "HAS_CLAUSE", "Clause"): "",
    ("Clause", "HEAD", "AmrNode"): "",
    ("Clause", "REPEATS", "Clause"): "",
    ("Clause", "CONTRADICTS", "Clause"): "",
    ("Clause", "ANSWERS", "Clause"): "",
    ("AmrNode", "REFERS_TO", "Entity"): "",
    ("Frame", "LEXEME", "Term"): "",
    ("Term", "OPPOSITE", "Term"): "relation language weight:double source modified_kinds:string[]",
    ("Term", "ALTERNATIVE", "Term"): "scale",
    ("Term", "ANTONYM", "Term"): "used_as modified_kinds:string[]",
    ("Term", "ANTONYM", "Frame"): "used_as modified_kinds:string[] known:string[]",
    ("Sentence", "MENTIONS", "Term"): "score:double",
}
"""The properties of each relationship type. The keys are the start label, the type and the end label."""
_IMPORT_FILE = re.compile(rf"(?:{'|'.join([*_NODES, *map('-'.join, _RELATIONSHIPS)])})(?:\.[0-9]+)?\.csv")
"""Matches the names of the import files, such as ``Dialogue.csv`` and ``Dialogue.2.csv``."""


class BulkFiles(AbstractContextManager["BulkFiles"]):
    """A folder of import files, with the interface of a store.

    Args:
        folder: The folder. It must be new or empty, or contain an earlier bulk load. It may be a link to such
            a folder.

    Raises:
        InputError: The folder cannot be created, contains other files, is used by another process, or was
            filled by a different version of graphneg.
    """

    def __init__(self, folder: str | Path) -> None:
        """Create the folder for the bulk load if it does not exist, and lock it."""
        self.folder = Path(folder)
        self.description = f"bulk load in {self.folder}"
        index = self.folder / INDEX
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(self.folder, error, "nothing was changed") from error
        # Refuse a folder that contains other files: the import files could overwrite one of them.
        if not index.exists() and any(self.folder.iterdir()):
            error = InputError(f"{self.folder}: the folder contains other files; name a new or empty folder")
            error.status = 2
            raise error
        # Refuse links, because SQLite would follow them and change the files to which they point.
        refuse_links(self.folder / f"{INDEX}{suffix}" for suffix in ("", "-journal", "-wal", "-shm"))
        if os.path.lexists(index):
            open_regular(index).close()
        with ExitStack() as held:
            held.enter_context(locking(self.folder, self.folder / "bulk.lock"))
            with _naming_damage(index):
                self._index = BulkIndex(index)
            held.callback(self._index.close)
            # Refuse to continue the load of another version of graphneg. It may compute different properties
            # of nodes, and a database must not mix them.
            schema = f"{SCHEMA_VERSION} {facts_fingerprint()}"
            with _naming_damage(index):
                began = self._index.mark("schema", schema)
            if began != schema:
                raise InputError(
                    f"{self.folder}: another version of graphneg began this bulk load; name a new folder"
                )
            self._held = held.pop_all()

    def load(
        self,
        corpus: str | Loader,
        *paths: Any,
        name: str | None = None,
        split: str | None = None,
        language: str = "en",
        turns: int = 8,
        map: Mapping[str, str] | None = None,
        encoding: str | None = None,
        clean: bool = False,
        gap: float = GAP,
        date_order: DateOrder | None = None,
        progress: Progress | None = None,
        on_rejected: Callable[[Rejected], None] | None = None,
    ) -> LoadReport:
        """Load files as `graphneg.dialogue_graph.DialogueGraph.load` does, and write all import files again.

        Raises `InputError` if the import files cannot be written. The records are kept in that case, and the
        next load writes them.

        Args:
            corpus: A loader or its name.
            *paths: The files, or Python objects that contain dialogues.
            name: The corpus name of all dialogues; None to take it from the data.
            split: The split of all dialogues; None to take it from the data.
            language: The language of the terms to load, as an ISO 639-1 code; used only by ``conceptnet``.
            turns: The number of turns per dialogue, if dialogues are made from graphs that name no
                utterances.
            map: The key or column for each field; used only by the loader ``dialogues``.
            encoding: The codec of the text; used only by ``dialogues``, ``whatsapp`` and ``discord``. None
                for UTF-8, or for the codec that ``dialogues`` guesses.
            clean: Whether to repair texts that contain HTML entities or were separated into tokens by spaces.
            gap: The length in hours of a pause that ends a dialogue; used only by loaders for chats.
            date_order: What comes first in dates such as ``03/04/2024``, ``day`` or ``month``; used only by
                ``dialogues``, ``transcript`` and ``whatsapp``. None to derive it from the dates of the file.
            progress: Progress display, advanced while files are read and written.
            on_rejected: Function that is called with each rejected item.

        Returns:
            The report with the counts of records and the rejected items.
        """
        bar = progress or NoProgress()
        options = LoadOptions(
            name, split, language, bar, map or {}, encoding, clean, gap=gap, date_order=date_order
        )
        with _naming_damage(self.folder / INDEX):
            report = load_files(self, corpus, paths, turns, options, on_rejected)
        self.finish(bar)
        return report

    def read(self, query: str, /, **parameters: Any) -> list[Record]:
        """Run one of the statements that ship with graphneg, and return its rows.

        Args:
            query: The text of the statement.
            **parameters: Values of the statement's parameters.

        Returns:
            The rows of the result.
        """
        return self._index.read(query, **parameters)

    def write(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Run a function in one transaction. If the function fails, none of its changes are kept.

        Args:
            work: Function that runs statements in the transaction that is passed to it.

        Returns:
            The value that the function returns.
        """
        return self._index.write(work)

    def write_derived(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Run a function that writes computed data. In a bulk load, this is the same as `write`.

        Args:
            work: Function that runs statements in the transaction that is passed to it.

        Returns:
            The value that the function returns.
        """
        return self.write(work)

    def change_version(self, transaction: ManagedTransaction) -> None:
        """Do nothing. A store would mark its content as changed here, but import files have no such mark.

        Args:
            transaction: The open transaction, which is not used.
        """

    def close(self) -> None:
        """Unlock the folder."""
        self._held.close()

    def __exit__(self, *_: object) -> None:
        """Unlock the folder."""
        self.close()

    def finish(self, progress: Progress) -> Path:
        """Write all import files again, and then the script that runs the import.

        Raises `InputError` if the files cannot be written. The collected records are kept in that case.

        Args:
            progress: Progress display, advanced by the number of dialogues and graphs written.

        Returns:
            The path of the script.
        """
        command = self.folder / COMMAND
        # The import script must not exist while its input files are incomplete, so remove an old script.
        command.unlink(missing_ok=True)
        with _naming_damage(self.folder / INDEX), ExitStack() as files:
            tables = _Tables(self.folder, files)
            amount = self._index.row_count("dialogues") + self._index.row_count("graphs")
            progress.start("files", amount, "dialogues and graphs")
            for part in (_dialogues, _graphs, _clauses, _entities, _words, _sentences):
                part(self._index, tables, progress)
            # The import creates no constraints and no database indexes. graphneg creates them when it first
            # opens the database, if the property `imported` is true.
            schema = {"version": SCHEMA_VERSION, "facts": facts_fingerprint(), "graphneg": __version__}
            tables.node("GraphnegSchema", {"id": "graphneg", **schema, "imported": True})
            progress.finish()
        # Remove the files of an earlier load that the current load did not write again. Keep all other CSV
        # files, which the user has added.
        for stale in set(self.folder.glob("*.csv")) - set(tables.written):
            if _IMPORT_FILE.fullmatch(stale.name):
                stale.unlink()
        write_atomically(command, _script(tables))
        return command


@contextmanager
def _naming_damage(index: Path) -> Generator[None]:
    """Raise `InputError` if the file ``bulk.index`` turns out to be damaged, or cannot be written."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise InputError(
            f"{index}: can't be read or written ({error}); make room on the disk, or name a new folder"
        ) from error
    except (sqlite3.DatabaseError, zlib.error) as error:
        raise InputError(
            f"{index}: damaged, or not the index of a bulk load ({error}); name a new folder"
        ) from error


class _Tables:
    """The CSV files of an import. A file is opened when its first row is written."""

    def __init__(self, folder: Path, files: ExitStack) -> None:
        self._folder, self._files = folder, files
        self._open: dict[tuple[Any, ...], _Table] = {}
        self.written: dict[Path, str] = {}
        self.multiline = False
        self.attributes: dict[str, dict[str, list[str]]] = {}

    def node(self, label: str, row: Mapping[str, Any], more: Mapping[str, Any] | None = None) -> None:
        """Write a node to the CSV file for its label.

        Args:
            label: The label of the node.
            row: The properties of the node.
            more: Further properties, from the attributes that the corpus gives a dialogue or utterance.
        """
        names = self.attributes.get(label, {})
        more = more or {}
        # In an import, a column has a single type. The type of an attribute, however, may vary between nodes.
        # For example, nodes with ``"rating": 5`` and with ``"rating": "good"`` are written to separate files.
        clashing = {name: TYPES[type(value)] for name, value in more.items() if len(names[name]) > 1}
        key = (label, *sorted(clashing.items()))
        table = self._open.get(key)
        if table is None:
            same = {name: types[0] for name, types in names.items() if len(types) == 1}
            others = " ".join(f"{name}:{type}" for name, type in (same | clashing).items())
            table = self._new(key, label, f"{_NODES[label]} {others}", f"--nodes={label}")
        self._write(table, {**row, **more})

    def relationship(
        self, start: str, type: str, end: str, ids: tuple[str, str], row: Mapping[str, Any] = {}
    ) -> None:
        """Write a relationship to the CSV file for its type.

        Args:
            start: The label of the start node.
            type: The type of the relationship.
            end: The label of the end node.
            ids: The ids of the start node and the end node.
            row: The properties of the relationship.
        """
        key = (start, type, end)
        table = self._open.get(key)
        if table is None:
            columns = f":START_ID({start}) :END_ID({end}) {_RELATIONSHIPS[key]}"
            table = self._new(key, f"{start}-{type}-{end}", columns, f"--relationships={type}")
        self._write(table, {":START_ID": ids[0], ":END_ID": ids[1], **row})

    def _new(self, key: tuple[Any, ...], name: str, columns: str, option: str) -> _Table:
        same = sum(path.stem.partition(".")[0] == name for path in self.written)
        # All rows of a CSV file have the same columns. Dialogues with different attributes are therefore
        # written to different files: Dialogue.csv, Dialogue.2.csv, ...
        path = self._folder / (f"{name}.{same + 1}.csv" if same else f"{name}.csv")
        stream = self._files.enter_context(
            self._files.enter_context(atomic_file(path)).open("w", encoding="utf-8", newline="")
        )
        split = columns.split()
        stream.write(",".join(split) + "\n")
        self.written[path] = option
        table = self._open[key] = _Table(
            stream, tuple(column.partition(":")[0] or column.partition("(")[0] for column in split)
        )
        return table

    def _write(self, table: _Table, row: Mapping[str, Any]) -> None:
        line = ",".join([_field(row.get(name)) for name in table.columns])
        # Remember whether any field contains a line break, because the import command then needs an option.
        self.multiline = self.multiline or "\n" in line or "\r" in line
        table.stream.write(line + "\n")


@dataclass(frozen=True, slots=True)
class _Table:
    stream: TextIO
    columns: tuple[str, ...]


def _field(value: Any) -> str:
    """Return a value as a CSV field. None becomes an empty field. Strings and lists are always quoted."""
    # Quote strings but not None: the import reads a quoted empty field as an empty string, and an unquoted
    # one as a missing property.
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return _field(_listed(value))
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return str(value)


def _listed(items: Sequence[Any]) -> str:
    # `neo4j-admin database import` cannot represent an empty list. Write a placeholder, which is replaced by
    # an empty list when graphneg first opens the database.
    texts = list(map(str, items)) or [EMPTY_LIST]
    if strange := next((text for text in texts if BETWEEN in text), None):
        raise InputError(
            f"the list item {strange[:60]!r} contains the character U+001F, which separates list items in "
            "the files: remove the character, or load into a store"
        )
    return BETWEEN.join(texts)


def _dialogues(index: BulkIndex, tables: _Tables, progress: Progress) -> None:
    tables.attributes = index.attributes()
    for content, answers in index.rows("SELECT content, responses FROM dialogues ORDER BY rowid"):
        whole = unpacked(content)
        dialogue, before = whole["dialogue"], None
        tables.node("Dialogue", dialogue, dialogue["more"])
        for turn in whole["turns"]:
            tables.node("Utterance", turn, turn["more"])
            tables.relationship("Dialogue", "HAS_TURN", "Utterance", (dialogue["id"], turn["id"]))
            if before is not None:
                tables.relationship("Utterance", "NEXT", "Utterance", (before, turn["id"]))
            before = turn["id"]
        for row in unpacked(answers) if answers else ():
            tables.node("Response", row)
            tables.relationship("Utterance", "HAS_RESPONSE", "Response", (row["utterance"], row["id"]))
        progress.advance(1)


def _graphs(index: BulkIndex, tables: _Tables, progress: Progress) -> None:
    for id, text, content in index.rows("SELECT id, said_in, content FROM graphs ORDER BY rowid"):
        whole = unpacked(content)
        tables.node("Amr", whole["properties"])
        label = "Response" if is_response(text) else "Utterance"
        tables.relationship(label, "MEANS", "Amr", (text, id))
        tables.relationship("Amr", "TOP", "AmrNode", (id, f"{id}.0"))
        for node in whole["nodes"]:
            tables.node("AmrNode", node)
        for role in whole["roles"]:
            ends = (f"{id}.{role['from']}", f"{id}.{role['to']}")
            tables.relationship("AmrNode", "ROLE", "AmrNode", ends, role)
        for k, term in whole["lexemes"]:
            tables.relationship("AmrNode", "LEXEME", "Term", (f"{id}.{k}", term))
        progress.advance(1)


def _clauses(index: BulkIndex, tables: _Tables, progress: Progress) -> None:
    for (content,) in index.rows("SELECT content FROM clauses ORDER BY dialogue"):
        whole = unpacked(content)
        for row, amr, head in whole["clauses"]:
            text = amr.rpartition("@")[0]
            label = "Response" if is_response(text) else "Utterance"
            tables.node("Clause", row)
            tables.relationship(label, "HAS_CLAUSE", "Clause", (text, row["id"]))
            tables.relationship("Clause", "HEAD", "AmrNode", (row["id"], f"{amr}.{head}"))
        for type, one, other in whole["relations"]:
            tables.relationship("Clause", type, "Clause", (one, other))


def _entities(index: BulkIndex, tables: _Tables, progress: Progress) -> None:
    for (content,) in index.rows("SELECT content FROM entities ORDER BY dialogue"):
        whole = unpacked(content)
        for row in whole["entities"]:
            tables.node("Entity", row)
        for amr, k, entity in whole["mentions"]:
            tables.relationship("AmrNode", "REFERS_TO", "Entity", (f"{amr}.{k}", entity))


def _words(index: BulkIndex, tables: _Tables, progress: Progress) -> None:
    for row in index.named("SELECT * FROM terms"):
        # SQLite stores booleans as 0 and 1. In the store, a flag is true or missing, so 0 becomes None.
        flags = {
            name: True if row[name] else None
            for name in ("physical_object", "frames", "opposites", "antonyms")
        }
        tables.node("Term", row | flags | {"classes": json.loads(row["classes"])})
    for id, term, content in index.rows("SELECT id, term, content FROM frames"):
        tables.node("Frame", unpacked(content) | {"id": id})
        tables.relationship("Frame", "LEXEME", "Term", (id, term))
    for row in index.named("SELECT * FROM moves"):
        tables.relationship("Term", "ALTERNATIVE", "Term", (row["start"], row["stop"]), row)
    for row in index.named("SELECT * FROM opposites"):
        tables.relationship("Term", "OPPOSITE", "Term", (row["start"], row["stop"]), _with_lists(row))
    for row in index.named("SELECT * FROM antonyms"):
        end = "Frame" if row["frame"] else "Term"
        tables.relationship("Term", "ANTONYM", end, (row["word"], row["other"]), _with_lists(row))
    for row in index.named("SELECT * FROM entries"):
        cells = {"table": row["name"], "cells": json.loads(row["cells"])}
        tables.node("LexiconEntry", {"id": row["id"], **cells})


def _with_lists(row: Row) -> Row:
    lists = {name: json.loads(row[name]) for name in ("modified_kinds", "known") if row.get(name) is not None}
    return row | lists


def _sentences(index: BulkIndex, tables: _Tables, progress: Progress) -> None:
    for (content,) in index.rows("SELECT content FROM sentences ORDER BY rowid"):
        row, mentions = unpacked(content)
        tables.node("Sentence", row)
        for term, score in mentions:
            tables.relationship("Sentence", "MENTIONS", "Term", (row["id"], term), {"score": score})


def _script(tables: _Tables) -> str:
    """Return a shell script that imports the files: ``sh import.sh DATABASE``."""
    options = [f"--array-delimiter=U+{ord(BETWEEN):04X}", f"--read-buffer-size={LARGEST_FIELD}"]
    options += ["--multiline-fields=true"] if tables.multiline else []
    options += sorted(f"{option}={path.name}" for path, option in tables.written.items())
    lines = [
        "#!/bin/sh",
        "# Creates a database from these files while the server is stopped: sh import.sh [DATABASE]",
        "# When graphneg first opens the database, it creates the constraints and indexes.",
        'cd "$(dirname "$0")" || exit 1',
        " \\\n  ".join(
            ["exec ${NEO4J_ADMIN:-neo4j-admin} database import full", *map(shlex.quote, options), '"$@"']
        ),
    ]
    return "\n".join(lines) + "\n"

"""Collect the records of a bulk load in a file that takes the place of a database server.

A load runs the Cypher statements that graphneg ships (``load/graphs`` and so on). `BulkIndex` has one method
for each of these statements. The method receives the parameters of the statement, stores the rows in an
SQLite database, and returns the rows and counts that a server would return. As in a store, a transaction that
fails changes nothing. At the end of the load, the CSV files for the import are written from this file.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import RLock
from types import SimpleNamespace
from typing import Any, TypeVar, cast

from neo4j import ManagedTransaction, Record

from graphneg.errors import InputError
from graphneg.ingest.discourse import dialogue_of
from graphneg.ingest.rows import Row
from graphneg.store.statements import cypher_text

T = TypeVar("T")
Rows = Sequence[Row]
TYPES = {bool: "boolean", int: "long", float: "double", str: "string", list: "string[]"}
"""Names of property types in the import files, keyed by Python type."""
_TABLES = """
CREATE TABLE IF NOT EXISTS dialogues (id TEXT UNIQUE, digest TEXT, content BLOB, responses BLOB);
CREATE TABLE IF NOT EXISTS graphs (id TEXT UNIQUE, said_in TEXT, digest TEXT, content BLOB);
CREATE INDEX IF NOT EXISTS graphs_said_in ON graphs (said_in);
CREATE TABLE IF NOT EXISTS sentences (id TEXT UNIQUE, text TEXT, content BLOB);
CREATE TABLE IF NOT EXISTS terms (text TEXT PRIMARY KEY, form TEXT, classes TEXT, physical_object INT,
  noun_class TEXT, kind TEXT, frames INT, opposites INT, antonyms INT, sentences INT, spoken INT)
  WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS moves (start TEXT, scale TEXT, stop TEXT, UNIQUE (start, scale, stop));
CREATE TABLE IF NOT EXISTS opposites (start TEXT, stop TEXT, relation TEXT, language TEXT, weight REAL,
  source TEXT, modified_kinds TEXT, UNIQUE (start, relation, language, stop));
CREATE INDEX IF NOT EXISTS opposites_end ON opposites (stop);
CREATE TABLE IF NOT EXISTS frames (id TEXT PRIMARY KEY, lemma TEXT, term TEXT, content BLOB) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS frames_lemma ON frames (lemma);
CREATE TABLE IF NOT EXISTS antonyms (word TEXT, other TEXT, used_as TEXT, modified_kinds TEXT, known TEXT,
  frame INT);
CREATE INDEX IF NOT EXISTS antonyms_word ON antonyms (word);
CREATE TABLE IF NOT EXISTS entries (id TEXT PRIMARY KEY, name TEXT, cells TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS clauses (dialogue TEXT UNIQUE, content BLOB);
CREATE TABLE IF NOT EXISTS entities (dialogue TEXT UNIQUE, content BLOB);
CREATE TABLE IF NOT EXISTS attributes (label TEXT, name TEXT, type TEXT, UNIQUE (label, name, type));
CREATE TABLE IF NOT EXISTS marks (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
"""
_SPOKEN = ("CREATE TABLE spoken (key TEXT, utterance TEXT)", "CREATE INDEX spoken_key ON spoken (key)")
_LATE_WORDS = (
    "a bulk load must begin with the lexicon, but the graphs in this folder were read without it: "
    "start again in another folder and load the lexicon first"
)


def packed(content: Any) -> bytes:
    """Return a JSON value as compressed bytes, which `unpacked` can read.

    Args:
        content: The JSON value to compress.

    Returns:
        The compressed bytes.
    """
    return zlib.compress(json.dumps(content, ensure_ascii=False).encode(), 1)


def unpacked(content: bytes) -> Any:
    """Return the JSON value that `packed` compressed.

    Args:
        content: The bytes that `packed` returned.

    Returns:
        The JSON value.
    """
    return json.loads(zlib.decompress(content))


class _Answer(list[Record]):
    """The result of a statement: its rows, and the numbers of nodes and relationships that it created."""

    def __init__(self, rows: Iterable[Row] = (), nodes: int = 0, relationships: int = 0) -> None:
        super().__init__(Record(row) for row in rows)
        self._counted = SimpleNamespace(nodes_created=nodes, relationships_created=relationships)

    def consume(self) -> Any:
        """Return the numbers of created nodes and relationships, as in the result summary of the driver."""
        return SimpleNamespace(counters=self._counted)


class BulkIndex:
    """A SQLite file that collects the records of a bulk load, with the methods `read` and `write` of a store.

    Args:
        path: The SQLite file. It is created if it does not exist.
    """

    def __init__(self, path: Path) -> None:
        self._lock = RLock()
        # With check_same_thread=False, one thread can open the file and another one can write to it. With
        # isolation_level=None, sqlite3 begins no transactions by itself: `write` begins and ends them.
        self._tables = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        # With synchronous=NORMAL, SQLite does not sync each transaction to disk. A power failure can lose the
        # last transactions, but cannot damage the file.
        self._tables.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; {_TABLES}")
        # The graphs that load/graphs has added, keyed by graph id. The next statement, load/meanings,
        # connects them to their utterances.
        self._untied: dict[str, dict[str, Any]] = {}
        answered: dict[str, Callable[..., _Answer]] = {
            "load/stored": self._stored,
            "load/stored_graphs": self._stored_graphs,
            "load/stored_sentences": self._stored_sentences,
            "load/utterances_by_id": self._utterances_by_id,
            "load/utterances_by_text": self._utterances_by_text,
            "load/dialogues": self._dialogues,
            "load/responses": self._responses,
            "load/graphs": self._graphs,
            "load/meanings": self._meanings,
            "load/response_meanings": self._meanings,
            "load/terms": self._terms,
            "load/moves": self._moves,
            "load/sentences": self._sentences,
            "load/opposites": self._opposites,
            "load/frames": self._frames,
            "lexicon/entries": self._entries,
            "lexicon/write": self._write_entries,
            "lexicon/antonyms_of": self._antonyms_of,
            "lexicon/frames_of": self._frames_of,
            "lexicon/forget_antonyms": self._forget_antonyms,
            "lexicon/antonyms": self._antonyms,
            "lexicon/antonym_frames": self._antonym_frames,
            "read/turns": self._turns,
            "read/nodes": self._nodes,
            "read/reentrancies": self._reentrancies,
            "load/echoes": self._echoes,
            "load/lock_dialogues": self._none,
            "load/answering_graphs": self._answering_graphs,
            "load/clauses": self._clauses,
            "load/entities": self._entities,
            "load/forget_clauses": self._forget_clauses,
            "load/forget_entities": self._forget_entities,
            "lexicon/words": self._words,
            "lexicon/frames": self._frames,
            "lexicon/opposites": self._opposite_kinds,
            "lexicon/forget_moves": self._forget_moves,
            "read/graph_ids": self._none,
            "lexicon/graphs_of_words": self._none,
        }
        # `graphneg load` sends the text of a Cypher statement, not its name, so use the texts as keys.
        self._statements = {cypher_text(name): answer for name, answer in answered.items()}

    def read(self, query: str, /, **parameters: Any) -> list[Record]:
        """Run one of the statements that graphneg ships, and return its rows.

        Args:
            query: The text of the statement.
            **parameters: Values of the statement's parameters.

        Returns:
            The rows of the result.
        """
        return self.run(query, parameters)

    def write(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Run a function in one transaction. If the function fails, none of its changes are kept.

        Args:
            work: Function that runs statements. It is called with this object in place of a transaction.

        Returns:
            The value that the function returns.
        """
        with self._lock:
            self._tables.execute("BEGIN")
            try:
                # `work` calls only the method `run` of a transaction. This object has such a method, too, so
                # it can take the place of a transaction.
                done = work(cast(ManagedTransaction, self))
            except BaseException:
                self._tables.execute("ROLLBACK")
                raise
            self._tables.execute("COMMIT")
            return done

    def run(self, text: str, parameters: dict[str, Any]) -> _Answer:
        """Run the Python method that replaces one of graphneg's Cypher statements.

        Args:
            text: The text of the Cypher statement.
            parameters: Values of the statement's parameters.

        Returns:
            The rows of the result, and the numbers of created nodes and relationships.
        """
        with self._lock:
            return self._statements[text](**parameters)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._tables.close()

    def mark(self, name: str, value: str) -> str:
        """Store a named value for the whole file, unless a value with this name is stored already.

        Args:
            name: The name of the value.
            value: The value to store.

        Returns:
            The value in the file: the old value if there was one, else the new value.
        """
        self._tables.execute("INSERT OR IGNORE INTO marks VALUES (?, ?)", (name, value))
        return self._tables.execute("SELECT value FROM marks WHERE name = ?", (name,)).fetchone()[0]

    def row_count(self, table: str) -> int:
        """Count the rows of a table.

        Args:
            table: The name of the table.

        Returns:
            The number of rows.
        """
        return self._tables.execute(f"SELECT count(*) FROM {table}").fetchone()[0]

    def rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of an SQL query.

        Args:
            query: The SQL text.

        Yields:
            The cells of each row.
        """
        yield from self._tables.execute(query)

    def named(self, query: str) -> Iterator[Row]:
        """Yield the rows of an SQL query as dicts.

        Args:
            query: The SQL text.

        Yields:
            Each row, as a dict from column to cell.
        """
        found = self._tables.execute(query)
        names = [column[0] for column in found.description]
        for row in found:
            yield dict(zip(names, row, strict=True))

    def attributes(self) -> dict[str, dict[str, list[str]]]:
        """Return the attributes that corpora add to nodes.

        Returns:
            A mapping from each node label to a mapping from attribute names to the types of their values.
        """
        found: dict[str, dict[str, list[str]]] = {}
        for label, name, type in self.rows("SELECT * FROM attributes ORDER BY label, name, type"):
            found.setdefault(label, {}).setdefault(name, []).append(type)
        return found

    def _found(self, table: str, column: str, ids: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Look up ids in a table. Yield each id that the table contains, with its value in a column."""
        query = f"SELECT {column} FROM {table} WHERE id = ?"
        for id in ids:
            row = self._tables.execute(query, (id,)).fetchone()
            if row is not None:
                yield id, row[0]

    # Dialogues, utterances and graphs

    def _stored(self, ids: Sequence[str]) -> _Answer:
        return _Answer({"id": id, "digest": known} for id, known in self._found("dialogues", "digest", ids))

    def _stored_graphs(self, ids: Sequence[str]) -> _Answer:
        return _Answer({"id": id, "digest": known} for id, known in self._found("graphs", "digest", ids))

    def _dialogues(self, dialogues: Rows, utterances: Rows, next: Sequence[list[int]]) -> _Answer:
        # Each row of `utterances` refers to its dialogue by the index of the dialogue in `dialogues`.
        turns: list[list[Row]] = [[] for _ in dialogues]
        for row in utterances:
            turns[row["dialogue"]].append({**row, "dialogue": None})
        for row, own in zip(dialogues, turns, strict=True):
            self._tables.execute(
                "INSERT INTO dialogues (id, digest, content) VALUES (?, ?, ?)",
                (row["id"], row["digest"], packed({"dialogue": row, "turns": own})),
            )
            self._note_attributes("Dialogue", [row])
            self._note_attributes("Utterance", own)
            if self._places_by_text():
                self._note_spoken(row, own)
        return _Answer()

    def _note_attributes(self, label: str, rows: Rows) -> None:
        named = {(label, name, TYPES[type(value)]) for row in rows for name, value in row["more"].items()}
        self._tables.executemany("INSERT OR IGNORE INTO attributes VALUES (?, ?, ?)", named)

    def _responses(self, responses: Rows) -> _Answer:
        of = defaultdict[str, list[Row]](list)
        for row in responses:
            of[dialogue_of(row["utterance"])].append(row)
        rows = [(packed(own), id) for id, own in of.items()]
        self._tables.executemany("UPDATE dialogues SET responses = ? WHERE id = ?", rows)
        return _Answer()

    def _turn(self, utterance: str) -> Row | None:
        for _, content in self._found("dialogues", "content", [dialogue_of(utterance)]):
            return next((turn for turn in unpacked(content)["turns"] if turn["id"] == utterance), None)
        return None

    def _utterances_by_id(self, ids: Sequence[str]) -> _Answer:
        found = ((id, self._turn(id)) for id in ids)
        return _Answer({"id": id, "text": turn["text"]} for id, turn in found if turn is not None)

    def _places_by_text(self) -> bool:
        return bool(self._tables.execute("SELECT 1 FROM sqlite_master WHERE name = 'spoken'").fetchone())

    def _note_spoken(self, dialogue: Row, turns: Rows) -> None:
        # Skip dialogues that were made from a file of graphs. A graph from another file must not be assigned
        # to them, even if it has the same text.
        if "made_of" not in dialogue["more"]:
            rows = [(turn["key"], turn["id"]) for turn in turns]
            self._tables.executemany("INSERT INTO spoken VALUES (?, ?)", rows)

    def _utterances_by_text(self, keys: Sequence[str]) -> _Answer:
        # Create the table of utterance texts only when a graph is first looked up by its text: most loads
        # never do that.
        if not self._places_by_text():
            for statement in _SPOKEN:
                self._tables.execute(statement)
            for (content,) in self._tables.execute("SELECT content FROM dialogues"):
                whole = unpacked(content)
                self._note_spoken(whole["dialogue"], whole["turns"])
        rows: list[Row] = []
        for key in keys:
            for (id,) in self._tables.execute(
                "SELECT utterance FROM spoken WHERE key = ?", (key,)
            ).fetchall():
                found = self._tables.execute("SELECT digest FROM graphs WHERE said_in = ?", (id,))
                rows.append({"key": key, "id": id, "digests": [digest for (digest,) in found]})
        return _Answer(rows)

    def _graphs(self, nodes: Rows, lexemes: Rows, roles: Rows) -> _Answer:
        of: dict[str, dict[str, Any]] = {}
        for row in nodes:
            of.setdefault(row["amr"], {"nodes": [], "roles": [], "lexemes": []})["nodes"].append(row)
        for row in roles:
            at, to = nodes[row["from"]], nodes[row["to"]]
            # "from" and "to" are indices among the nodes of all graphs in the batch. Replace them with the
            # positions of the nodes in their graph.
            of[at["amr"]]["roles"].append(row | {"from": at["position"], "to": to["position"]})
        for row in lexemes:
            self._tables.execute(
                "UPDATE terms SET kind = ? WHERE text = ? AND kind IS NULL", (row["kind"], row["text"])
            )
            for at in row["nodes"]:
                of[nodes[at]["amr"]]["lexemes"].append([nodes[at]["position"], row["text"]])
        self._untied = of
        return _Answer()

    def _meanings(self, amrs: Rows) -> _Answer:
        known = dict(self._found("dialogues", "id", {dialogue_of(row["of"]) for row in amrs}))
        # Leave out graphs whose dialogue is unknown, as a store does.
        # The caller notices that too few graphs were written, and reports a conflict.
        tied = [row for row in amrs if dialogue_of(row["of"]) in known]
        for row in tied:
            content = packed(self._untied.pop(row["id"]) | {"properties": row["properties"]})
            self._tables.execute(
                "INSERT INTO graphs VALUES (?, ?, ?, ?)",
                (row["id"], row["of"], row["properties"]["digest"], content),
            )
        return _Answer([{"amrs": len(tied)}])

    def _turns(self, ids: Sequence[str]) -> _Answer:
        rows: list[Row] = []
        for id, content in self._found("dialogues", "content", ids):
            turns: list[list[Any]] = []
            for turn in unpacked(content)["turns"]:
                said = [turn["turn"], turn["speaker"], turn["text"]]
                graphs = "SELECT id, content FROM graphs WHERE said_in = ?"
                known = [
                    [
                        amr,
                        *(
                            unpacked(whole)["properties"].get(name)
                            for name in ("source", "digest", "foreign")
                        ),
                    ]
                    for amr, whole in self._tables.execute(graphs, (turn["id"],)).fetchall()
                ]
                turns += [said + one for one in known or [[None] * 4]]
            rows.append({"id": id, "corpus": None, "split": None, "turns": turns})
        return _Answer(rows)

    def _in_parts(self, parts: Sequence[Sequence[str]], name: str, read: Callable[[Any], Any]) -> _Answer:
        found = (
            {
                "part": i,
                name: [
                    [part.index(id), *row]
                    for id, content in self._found("graphs", "content", part)
                    for row in read(unpacked(content))
                ],
            }
            for i, part in enumerate(parts)
        )
        return _Answer(found)

    def _nodes(self, parts: Sequence[Sequence[str]]) -> _Answer:
        fields = ("position", "subtree_last", "var", "concept", "value", "parent", "role", "branch")
        fields = (*fields, "align", "role_align", "start", "end")
        return self._in_parts(
            parts, "nodes", lambda graph: [[row.get(name) for name in fields] for row in graph["nodes"]]
        )

    def _reentrancies(self, parts: Sequence[Sequence[str]]) -> _Answer:
        fields = ("from", "to", "role", "inverted", "branch", "align", "role_align")
        return self._in_parts(
            parts,
            "mentions",
            lambda graph: [[r.get(name) for name in fields] for r in graph["roles"] if r.get("reentrant")],
        )

    def _echoes(self, graphs: Rows) -> _Answer:
        of = {row["amr"]: row["repeats"] for row in graphs}
        for id, content in list(self._found("graphs", "content", of)):
            whole = unpacked(content)
            for node in whole["nodes"]:
                node["repeats"] = of[id].get(str(node["position"]))
            self._tables.execute("UPDATE graphs SET content = ? WHERE id = ?", (packed(whole), id))
        return _Answer()

    # Clauses and entities

    def _answering_graphs(self, ids: Sequence[str]) -> _Answer:
        rows: list[Row] = []
        for id, answers in self._found("dialogues", "responses", ids):
            said: list[list[Any]] = []
            for row in unpacked(answers) if answers else ():
                graphs = "SELECT id, content FROM graphs WHERE said_in = ?"
                turn = int(row["utterance"].rpartition("#")[2])
                said += [
                    [row["id"], turn, row["text"], amr, unpacked(whole)["properties"]["source"]]
                    for amr, whole in self._tables.execute(graphs, (row["id"],)).fetchall()
                ]
            if said:
                rows.append({"id": id, "responses": said})
        return _Answer(rows)

    def _clauses(
        self,
        clauses: Rows,
        graphs: Rows,
        repeats: Sequence[list[int]],
        contradicts: Sequence[list[int]],
        answers: Sequence[list[int]],
    ) -> _Answer:
        # The rows of `graphs` and of the relations refer to clauses by their index in `clauses`. Replace each
        # index by the id of the clause.
        heads = {at: [row["amr"], int(k)] for row in graphs for k, at in row["heads"].items()}
        of: dict[str, dict[str, Any]] = {}
        for at, row in enumerate(clauses):
            own = of.setdefault(row["dialogue"], {"clauses": [], "relations": []})
            own["clauses"].append([row, *heads[at]])
        for type, pairs in (("REPEATS", repeats), ("CONTRADICTS", contradicts), ("ANSWERS", answers)):
            for one, other in pairs:
                ends = [clauses[one]["id"], clauses[other]["id"]]
                of[clauses[one]["dialogue"]]["relations"].append([type, *ends])
        rows = [(dialogue, packed(own)) for dialogue, own in of.items()]
        self._tables.executemany("INSERT INTO clauses VALUES (?, ?)", rows)
        return _Answer()

    def _entities(self, entities: Rows, graphs: Rows) -> _Answer:
        of: dict[str, dict[str, Any]] = {}
        for row in entities:
            of.setdefault(row["dialogue"], {"entities": [], "mentions": []})["entities"].append(row)
        for row in graphs:
            mentions = of[dialogue_of(row["amr"])]["mentions"]
            mentions += [[row["amr"], int(k), entities[at]["id"]] for k, at in row["entities"].items()]
        rows = [(dialogue, packed(own)) for dialogue, own in of.items()]
        self._tables.executemany("INSERT INTO entities VALUES (?, ?)", rows)
        return _Answer()

    def _forget_clauses(self, ids: Sequence[str]) -> _Answer:
        self._tables.executemany("DELETE FROM clauses WHERE dialogue = ?", [[id] for id in ids])
        return _Answer()

    def _forget_entities(self, ids: Sequence[str]) -> _Answer:
        self._tables.executemany("DELETE FROM entities WHERE dialogue = ?", [[id] for id in ids])
        return _Answer()

    # Words

    def _terms(self, terms: Rows) -> _Answer:
        rows = [
            [r["text"], r["form"], json.dumps(r["classes"]), r["physical_object"], r["noun_class"]]
            for r in terms
        ]
        # Use OR IGNORE, so that existing terms are not changed (as with MERGE and ON CREATE SET in Cypher).
        columns = "text, form, classes, physical_object, noun_class"
        into = f"INSERT OR IGNORE INTO terms ({columns}) VALUES (?, ?, ?, ?, ?)"
        self._tables.executemany(into, rows)
        return _Answer()

    def _words(self, terms: Rows) -> _Answer:
        rows = [
            [r["form"], json.dumps(r["classes"]), r["physical_object"], r["noun_class"], r["text"]]
            for r in terms
        ]
        self._tables.executemany(
            "UPDATE terms SET form = ?, classes = ?, physical_object = ?, noun_class = ? WHERE text = ?", rows
        )
        return _Answer()

    def _moves(self, moves: Rows) -> _Answer:
        rows = [[row["from"], row["scale"], row["to"]] for row in moves]
        self._tables.executemany("INSERT OR IGNORE INTO moves VALUES (?, ?, ?)", rows)
        return _Answer()

    def _forget_moves(self, words: Sequence[str]) -> _Answer:
        self._tables.executemany("DELETE FROM moves WHERE start = ?", [[word] for word in words])
        return _Answer()

    def _stored_sentences(self, ids: Sequence[str]) -> _Answer:
        return _Answer({"id": id, "text": text} for id, text in self._found("sentences", "text", ids))

    def _sentences(self, sentences: Rows, mentions: Rows) -> _Answer:
        of: list[list[Any]] = [[] for _ in sentences]
        for row in mentions:
            self._tables.execute(
                "UPDATE terms SET sentences = coalesce(sentences, 0) + ?, spoken = coalesce(spoken, 0) + ? "
                "WHERE text = ?",
                (len(row["places"]), row["spoken"], row["text"]),
            )
            for place, score in zip(row["places"], row["scores"], strict=True):
                of[place].append([row["text"], score])
        rows = [(row["id"], row["text"], packed([row, own])) for row, own in zip(sentences, of, strict=True)]
        self._tables.executemany("INSERT INTO sentences VALUES (?, ?, ?)", rows)
        return _Answer()

    def _opposites(self, opposites: Rows) -> _Answer:
        before = self.row_count("opposites")
        for row in opposites:
            modified_kinds = None if row["modified_kinds"] is None else json.dumps(row["modified_kinds"])
            self._tables.execute(
                "INSERT OR REPLACE INTO opposites VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    *(row[name] for name in ("start", "end", "relation", "language", "weight", "source")),
                    modified_kinds,
                ),
            )
            for end in ("start", "end"):
                self._tables.execute(
                    "UPDATE terms SET opposites = 1, kind = ? WHERE text = ?", (row[f"{end}_kind"], row[end])
                )
        return _Answer(relationships=self.row_count("opposites") - before)

    def _opposite_kinds(self, opposites: Rows) -> _Answer:
        for row in opposites:
            kinds = None if row["modified_kinds"] is None else json.dumps(row["modified_kinds"])
            self._tables.execute(
                "UPDATE opposites SET modified_kinds = ? WHERE start = ? AND stop = ?",
                (kinds, row["start"], row["end"]),
            )
        return _Answer()

    def _frames(self, frames: Rows) -> _Answer:
        """Run ``load/frames``, which writes frames, or ``lexicon/frames``, which sets classes of frames."""
        before = self.row_count("frames")
        for row in frames:
            # The statement lexicon/frames passes only the word classes of a frame. Keep its other properties.
            known = next(self._found("frames", "content", [row["id"]]), None)
            stored: Row = {} if known is None else unpacked(known[1])
            whole = stored | row.get("properties", {"classes": row.get("classes")})
            term = row.get("term", whole.get("term"))
            self._tables.execute(
                "INSERT OR REPLACE INTO frames VALUES (?, ?, ?, ?)",
                (row["id"], whole["lemma"], term, packed(whole | {"term": term})),
            )
            self._tables.execute("UPDATE terms SET frames = 1 WHERE text = ?", (term,))
        return _Answer(nodes=self.row_count("frames") - before)

    def _frames_of(self, words: Sequence[str]) -> _Answer:
        return _Answer(
            {"lemma": word, "id": id, "roles": unpacked(content)["roles"]}
            for word in words
            for id, content in self._tables.execute("SELECT id, content FROM frames WHERE lemma = ?", (word,))
        )

    def _antonyms_of(self, words: Sequence[str]) -> _Answer:
        # Antonymy is symmetric, so look for the word at both ends of the relation.
        ends = (
            "SELECT other, max(coalesce(weight, 1.0)) FROM ("
            "SELECT stop AS other, weight FROM opposites WHERE start = ? AND relation = 'Antonym' UNION ALL "
            "SELECT start, weight FROM opposites WHERE stop = ? AND relation = 'Antonym') GROUP BY other"
        )
        return _Answer(
            {"word": word, "other": other, "weight": weight}
            for word in words
            for other, weight in self._tables.execute(ends, (word, word))
        )

    def _forget_antonyms(self, words: Sequence[str]) -> _Answer:
        for word in words:
            self._tables.execute("DELETE FROM antonyms WHERE word = ?", (word,))
            self._tables.execute("UPDATE terms SET antonyms = NULL WHERE text = ?", (word,))
        return _Answer()

    def _antonyms(self, antonyms: Rows, is_frame: bool = False) -> _Answer:
        for row in antonyms:
            lists = (
                None if row[name] is None else json.dumps(row[name]) for name in ("modified_kinds", "known")
            )
            self._tables.execute(
                "INSERT INTO antonyms VALUES (?, ?, ?, ?, ?, ?)",
                (row["word"], row["replacement"], row["used_as"], *lists, is_frame),
            )
            self._tables.execute("UPDATE terms SET antonyms = 1 WHERE text = ?", (row["word"],))
        return _Answer()

    def _antonym_frames(self, antonyms: Rows) -> _Answer:
        return self._antonyms(antonyms, is_frame=True)

    def _entries(self) -> _Answer:
        found = self._tables.execute("SELECT name, cells FROM entries ORDER BY id").fetchall()
        return _Answer({"table": name, "cells": json.loads(cells)} for name, cells in found)

    def _write_entries(self, entries: Rows) -> _Answer:
        # When a graph is added, properties of its nodes are computed with the lexicon. A later lexicon entry
        # would make them outdated, so refuse lexicon entries once a graph has been added.
        if self.row_count("graphs"):
            raise InputError(_LATE_WORDS)
        before = self.row_count("entries")
        rows = [[row["id"], row["table"], json.dumps(row["cells"])] for row in entries]
        self._tables.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", rows)
        return _Answer(nodes=self.row_count("entries") - before)

    def _none(self, **_: Any) -> _Answer:
        """Do nothing, in place of a statement that a bulk load can skip, such as ``load/lock_dialogues``."""
        return _Answer()

"""Compute digests of the content of a store.

A run that was stopped may be resumed only with the dialogues, graphs and word relations with which it began.
Two things reveal a change:

- Each write by graphneg changes the version of the content in the same transaction (see
  `graphneg.store.connection.Store.write`).
- Writes that bypass graphneg, for example in the Neo4j browser, change the rows that a run reads. This module
  reads these rows in pages and computes their digest.

>>> before = content_digest(store, Selection())                                # doctest: +SKIP
>>> store.write(lambda tx: tx.run("MATCH (u:Utterance) SET u.text = 'No.'"))    # doctest: +SKIP
>>> content_digest(store, Selection()) == before                               # doctest: +SKIP
False

The digests leave out everything that making negatives writes: variants, edits, and sentences of the
dialogues.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from graphneg.hashing import fingerprint
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, dialogue_ids, outlines
from graphneg.store.statements import cypher_text
from graphneg.workers import ahead

PAGE = 200
"""Number of dialogues whose rows are read at a time. Their rows take some megabytes."""
READ_AHEAD = 2
"""Number of pages that are read before they are needed."""

# The server has types that JSON lacks, such as dates and points. They are encoded as their printed form.
_ENCODER = msgspec.json.Encoder(enc_hook=str, order="deterministic")


def shared_digest(store: Store, selection: Selection) -> str:
    """Return a digest that all shards of a selection have in common.

    It is the same in every store with the same content, and cheap to compute. The selected dialogues are
    represented by the digests that are stored with them and with their graphs. Everything else (other
    dialogues, words, opposites, shifts) is represented by its counts.

    Args:
        store: An open store.
        selection: The dialogues; its shard is ignored.

    Returns:
        32 hexadecimal digits.
    """
    digest = ""
    for rows in outlines(store, selection):
        digest = fingerprint([digest, *([row["id"], row["digest"], sorted(row["graphs"])] for row in rows)])
    amounts = Counter[str]()
    for row in store.read(cypher_text("read/amounts")):
        # A kind can have several rows: graphs of variants are subtracted from all graphs.
        amounts[row["kind"]] += row["amount"]
    return fingerprint([digest, amounts])


def texts_digest(store: Store, selection: Selection) -> str:
    """Return a digest of the texts, responses and word relations, and of the version of all content.

    Args:
        store: An open store.
        selection: The dialogues. If it has a shard, only the texts of the shard are read.

    Returns:
        32 hexadecimal digits.
    """
    return _digest(store, selection, _texts)


def content_digest(store: Store, selection: Selection) -> str:
    """Return a digest of everything that edits are made from: what `texts_digest` covers, and the graphs.

    Args:
        store: An open store.
        selection: The dialogues. If it has a shard, only the graphs of the shard are read.

    Returns:
        32 hexadecimal digits.
    """
    return _digest(store, selection, _texts_and_graphs)


def _read(store: Store, kind: str) -> Iterable[Any]:
    return store.read(cypher_text(f"read/{kind}_contents"))


def _digest(
    store: Store, selection: Selection, rows: Callable[[Store, Sequence[str]], Iterable[bytes]]
) -> str:
    """Digest the rows of all selected dialogues, page by page, and the word relations."""
    # The version covers every write of graphneg, whatever it changed.
    version = [row.values() for row in store.read(cypher_text("store/versions"))]
    ids = dialogue_ids(store, selection)
    pages = iter(lambda: list(islice(ids, PAGE)), [])
    digest = hashlib.sha256()
    # The next pages are read while this one is hashed.
    for encoded in ahead(lambda page: b"\n".join(rows(store, page)), pages, READ_AHEAD):
        digest.update(encoded)
    # Words and frames do not belong to a dialogue, so they are digested as a whole.
    words = [
        _sum(_encoded([row["word"], *_sorted(row["edges"])]) for row in _read(store, "word")),
        _sum(_encoded([row["lemma"], *_sorted(row["frames"])]) for row in _read(store, "frame")),
    ]
    return fingerprint([version, shared_digest(store, selection), words, digest.hexdigest()])


def _texts(store: Store, ids: Sequence[str]) -> Iterator[bytes]:
    """Yield the text rows of a page, sorted by content, because servers return lists in any order."""
    for row in store.read(cypher_text("read/texts"), ids=list(ids)):
        yield _encoded([row["id"], row["corpus"], row["split"], *_sorted(row["turns"])])
    for row in store.read(cypher_text("read/responses"), ids=list(ids)):
        yield _encoded([row["id"], *_sorted(row["responses"])])


def _texts_and_graphs(store: Store, ids: Sequence[str]) -> Iterator[bytes]:
    """Yield the text rows of a page, then its AMR nodes."""
    yield from _texts(store, ids)
    amrs = [row["amr"] for row in store.read(cypher_text("read/amrs"), ids=list(ids))]
    [found] = store.read(cypher_text("read/graph_contents"), amrs=amrs)
    # The last column of a node is the list of its edges, which servers return in any order.
    for node in found["nodes"]:
        node[-1].sort(key=_encoded)
    yield from sorted(map(_encoded, found["nodes"]))


def _encoded(value: Any) -> bytes:
    return _ENCODER.encode(value)


def _sorted(rows: Iterable[Any]) -> list[Any]:
    return sorted(rows, key=_encoded)


def _sum(rows: Iterable[bytes]) -> str:
    """Return a digest that does not depend on the order of the rows, keeping only 16 bytes of each."""
    digests = sorted(hashlib.blake2b(row, digest_size=16).digest() for row in rows)
    return hashlib.sha256(b"".join(digests)).hexdigest()

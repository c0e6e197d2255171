"""Digests of what a store has, by which a run that goes on knows whether its content has changed since.

A run that was stopped may go on only with the dialogues, graphs and word relations that it began with. Two
things show a change. Each write of graphneg's own raises the content's version in the same transaction
(`graphneg.store.connection.Store.write`), whatever it changes. What others write past graphneg, say in the
browser of Neo4j, shows in the rows that a run reads, whose digest is taken here in pages:

>>> before = content_digest(store, Selection())                                # doctest: +SKIP
>>> store.write(lambda tx: tx.run("MATCH (u:Utterance) SET u.text = 'No.'"))    # doctest: +SKIP
>>> content_digest(store, Selection()) == before                               # doctest: +SKIP
False

What making negatives writes (variants, edits, sentences of the dialogues) is no part of any digest.
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
"""Dialogues whose rows are read at a time: some megabytes."""
READ_AHEAD = 2

# Values of a type of the server's own (dates, points) count by what they print.
_ENCODER = msgspec.json.Encoder(enc_hook=str, order="deterministic")


def shared_digest(store: Store, selection: Selection) -> str:
    """Return a digest that is the same in every store with the same content, for all shards of a selection.

    It is cheap: the dialogues count by the digests that were stored with them and their graphs, and all else
    (other dialogues, words, opposites, shifts) by its amount.

    Args:
        store: An open store.
        selection: Which dialogues; its shard is ignored.

    Returns:
        32 hexadecimal digits.

    Raises:
        StoreError: The store can't be read.
    """
    digest = ""
    for rows in outlines(store, selection):
        digest = fingerprint([digest, *([row["id"], row["digest"], sorted(row["graphs"])] for row in rows)])
    amounts = Counter[str]()
    for row in store.read(cypher_text("read/amounts")):
        amounts[row["kind"]] += row["amount"]
    return fingerprint([digest, amounts])


def texts_digest(store: Store, selection: Selection) -> str:
    """Return a digest of the texts, responses and word relations, and of the version of all content.

    Args:
        store: An open store.
        selection: Which dialogues; of a shard, only its own are read.

    Returns:
        32 hexadecimal digits.

    Raises:
        StoreError: The store can't be read.
    """
    return _digest(store, selection, _texts)


def content_digest(store: Store, selection: Selection) -> str:
    """Return a digest of all that edits are made of: the graphs beside what `texts_digest` covers.

    Args:
        store: An open store.
        selection: Which dialogues; of a shard, only its own are read.

    Returns:
        32 hexadecimal digits.

    Raises:
        StoreError: The store can't be read.
    """
    return _digest(store, selection, _texts_and_graphs)


def _read(store: Store, kind: str) -> Iterable[Any]:
    return store.read(cypher_text(f"read/{kind}_contents"))


def _digest(
    store: Store, selection: Selection, rows: Callable[[Store, Sequence[str]], Iterable[bytes]]
) -> str:
    version = [row.values() for row in store.read(cypher_text("store/versions"))]
    ids = dialogue_ids(store, selection)
    pages = iter(lambda: list(islice(ids, PAGE)), [])
    digest = hashlib.sha256()
    for encoded in ahead(lambda page: b"\n".join(rows(store, page)), pages, READ_AHEAD):
        digest.update(encoded)
    words = [
        _sum(_encoded([row["word"], *_sorted(row["edges"])]) for row in _read(store, "word")),
        _sum(_encoded([row["lemma"], *_sorted(row["frames"])]) for row in _read(store, "frame")),
    ]
    return fingerprint([version, shared_digest(store, selection), words, digest.hexdigest()])


def _texts(store: Store, ids: Sequence[str]) -> Iterator[bytes]:
    """Yield the rows of a page in an order that its content decides: servers return lists in any order."""
    for row in store.read(cypher_text("read/texts"), ids=list(ids)):
        yield _encoded([row["id"], row["corpus"], row["split"], *_sorted(row["turns"])])
    for row in store.read(cypher_text("read/responses"), ids=list(ids)):
        yield _encoded([row["id"], *_sorted(row["responses"])])


def _texts_and_graphs(store: Store, ids: Sequence[str]) -> Iterator[bytes]:
    yield from _texts(store, ids)
    amrs = [row["amr"] for row in store.read(cypher_text("read/amrs"), ids=list(ids))]
    [found] = store.read(cypher_text("read/graph_contents"), amrs=amrs)
    for node in found["nodes"]:
        node[-1].sort(key=_encoded)
    yield from sorted(map(_encoded, found["nodes"]))


def _encoded(value: Any) -> bytes:
    return _ENCODER.encode(value)


def _sorted(rows: Iterable[Any]) -> list[Any]:
    return sorted(rows, key=_encoded)


def _sum(rows: Iterable[bytes]) -> str:
    """A digest of rows that come in any order, in flat memory but for a few bytes of each."""
    digests = sorted(hashlib.blake2b(row, digest_size=16).digest() for row in rows)
    return hashlib.sha256(b"".join(digests)).hexdigest()

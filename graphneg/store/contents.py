"""Compute digests of the content of a store.

A run that was stopped may be resumed only if the dialogues, graphs and word relations have not changed since
it began. The digests of this module detect changes in two ways:

- Each write by graphneg also changes the content version of the store, in the same transaction (see
  `graphneg.store.connection.Store.write`). The content version is part of the digest.
- Other programs, such as the Neo4j browser, do not change the content version. But they change rows that the
  run reads, so these rows are also part of the digest. The rows are read in pages, that is, for a limited
  number of dialogues at a time.

>>> before = content_digest(store, Selection())                                # doctest: +SKIP
>>> store.write(lambda tx: tx.run("MATCH (u:Utterance) SET u.text = 'No.'"))    # doctest: +SKIP
>>> content_digest(store, Selection()) == before                               # doctest: +SKIP
False

The digests leave out the data that graphneg writes while it makes negatives: variants, edits, and sentences
of the dialogues.
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
from graphneg.store.dialogues import Selection, dialogue_ids, digest_pages
from graphneg.store.statements import cypher_text
from graphneg.workers import prefetch_map

PAGE = 200
"""Number of dialogues whose rows are read at a time. The rows take a few megabytes of memory."""
READ_AHEAD = 2
"""Number of pages that are read in advance."""

# Values whose types do not exist in JSON, such as dates and points, are encoded as their string form.
_ENCODER = msgspec.json.Encoder(enc_hook=str, order="deterministic")


def shared_digest(store: Store, selection: Selection) -> str:
    """Return a digest of the stored content. All shards of a selection have the same digest.

    The digest is fast to compute, and equal in all stores with the same content. It covers the digests that
    are stored with the selected dialogues and their graphs. Of everything else in the store (other dialogues,
    words, opposites, shifts), it covers only the numbers of items.

    Args:
        store: An open store.
        selection: The selected dialogues. The shard of the selection is ignored.

    Returns:
        32 hexadecimal digits.
    """
    digest = ""
    for rows in digest_pages(store, selection):
        digest = fingerprint([digest, *([row["id"], row["digest"], sorted(row["graphs"])] for row in rows)])
    amounts = Counter[str]()
    for row in store.read(cypher_text("read/amounts")):
        # Add up the counts of the same kind. For graphs, the query returns two counts: the number of all
        # graphs, and the negative number of the graphs of variants.
        amounts[row["kind"]] += row["amount"]
    return fingerprint([digest, amounts])


def texts_digest(store: Store, selection: Selection) -> str:
    """Return a digest of the texts, the responses, the word relations and the content version of a store.

    Args:
        store: An open store.
        selection: The selected dialogues. If the selection has a shard, only the texts of the shard are read.

    Returns:
        32 hexadecimal digits.
    """
    return _digest(store, selection, _texts)


def content_digest(store: Store, selection: Selection) -> str:
    """Return a digest of all data that edits depend on: AMR graphs and the data in `texts_digest`.

    Args:
        store: An open store.
        selection: The selected dialogues. If the selection has a shard, only the texts and graphs of the
            shard are read.

    Returns:
        32 hexadecimal digits.
    """
    return _digest(store, selection, _texts_and_graphs)


def _read(store: Store, kind: str) -> Iterable[Any]:
    return store.read(cypher_text(f"read/{kind}_contents"))


def content_version(store: Store) -> list[list[Any]]:
    """Return the content version of a store, which changes whenever graphneg changes the content.

    Args:
        store: An open store.

    Returns:
        The id and the token of each ContentVersion node, as the query ``store/versions.cypher`` returns them.
    """
    return [list(row.values()) for row in store.read(cypher_text("store/versions"))]


def _digest(
    store: Store, selection: Selection, rows: Callable[[Store, Sequence[str]], Iterable[bytes]]
) -> str:
    """Return a digest of the content version, the relations between words, and the result of ``rows``."""
    # Include the content version, which changes with each write of graphneg, so that every change of the
    # store changes the digest.
    version = content_version(store)
    ids = dialogue_ids(store, selection)
    pages = iter(lambda: list(islice(ids, PAGE)), [])
    digest = hashlib.sha256()
    # Read the next pages of rows while the current page is hashed.
    for encoded in prefetch_map(lambda page: b"\n".join(rows(store, page)), pages, READ_AHEAD):
        digest.update(encoded)
    # Words and PropBank frames do not belong to a dialogue, so include all of them.
    words = [
        _digest_in_any_order(_encoded([row["word"], *_sorted(row["edges"])]) for row in _read(store, "word")),
        _digest_in_any_order(
            _encoded([row["lemma"], *_sorted(row["frames"])]) for row in _read(store, "frame")
        ),
    ]
    return fingerprint([version, shared_digest(store, selection), words, digest.hexdigest()])


def _texts(store: Store, ids: Sequence[str]) -> Iterator[bytes]:
    """Yield the texts and responses of a page of dialogues as encoded rows.

    Lists inside a row are sorted, because servers return them in any order.

    Yields:
        A row for each dialogue, then a row for each dialogue that has responses.
    """
    for row in store.read(cypher_text("read/texts"), ids=list(ids)):
        yield _encoded([row["id"], row["corpus"], row["split"], row["sort_key"], *_sorted(row["turns"])])
    for row in store.read(cypher_text("read/responses"), ids=list(ids)):
        yield _encoded([row["id"], *_sorted(row["responses"])])


def _texts_and_graphs(store: Store, ids: Sequence[str]) -> Iterator[bytes]:
    """Yield the texts of the dialogues and then the nodes of their AMR graphs, as rows of encoded JSON."""
    yield from _texts(store, ids)
    amrs = [row["amr"] for row in store.read(cypher_text("read/amrs"), ids=list(ids))]
    [found] = store.read(cypher_text("read/graph_contents"), amrs=amrs)
    # The last values in the row of a node are its words and its edges. Sort both lists, because servers
    # return them in any order.
    for *_, words, edges in found["nodes"]:
        words.sort()
        edges.sort(key=_encoded)
    yield from sorted(map(_encoded, found["nodes"]))


def _encoded(value: Any) -> bytes:
    return _ENCODER.encode(value)


def _sorted(rows: Iterable[Any]) -> list[Any]:
    return sorted(rows, key=_encoded)


def _digest_in_any_order(rows: Iterable[bytes]) -> str:
    """Return a digest that does not depend on the order of the rows. It needs 16 bytes of memory per row."""
    digests = sorted(hashlib.blake2b(row, digest_size=16).digest() for row in rows)
    return hashlib.sha256(b"".join(digests)).hexdigest()

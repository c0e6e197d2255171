"""Show how many rows are left after each clause and condition of a transform's query.

If a transform finds no site (place to edit), its query does not tell why. This module splits the query into
its top-level clauses, and each ``WHERE`` clause into the conditions between its top-level ``AND``s. It then
runs the query up to the end of each part, followed by ``RETURN count(*)``, with read-only access. The first
line with 0 rows is the condition that excludes everything:

    rows  line
       5     3  UNWIND $dialogues AS d
      40     3  UNWIND d.turns AS t
     412     4  MATCH (n:AmrNode {amr: t.amr})
      38     5  n.clause_type = 'order'             only orders
       0     6  n.negated = true               that are negated

`trace_sites` takes a store, a transform and some dialogues, and returns a `SiteStep` for each line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphneg.editing.proposals import QueryData, query_parameters
from graphneg.editing.transforms import Transform
from graphneg.errors import StoreError, TransformError
from graphneg.store.connection import Store
from graphneg.store.dialogues import StoredDialogue

_TOKEN = re.compile(
    r"""
      (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<quoted>  '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` )
    | (?P<open>    [(\[{] )
    | (?P<close>   [)\]}] )
    | (?P<word>    [A-Za-z_$][\w$]* )
    | (?P<other>   \s+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_CLAUSES = frozenset({"MATCH", "OPTIONAL", "UNWIND", "WITH", "WHERE", "RETURN", "CALL", "UNION"})
_ROWS, _EDITS = "graphneg_rows", "graphneg_edits"
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class SiteStep:
    """A clause or condition of a query, with the number of rows that are left after it.

    Attributes:
        line: Number of the line in the file where the clause or condition begins, from 1.
        text: The clause or condition as one line, without comments.
        comment: The comments beside the clause or condition and on the lines above it.
        rows: Number of rows that the query returns if it ends after this clause or condition. For the RETURN
            clause, the number of edits. None if the rows could not be counted.
        why: The reason why the rows could not be counted; empty if they were counted.
    """

    line: int
    text: str
    comment: str
    rows: int | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Token:
    """A token of a Cypher query: its kind, its text, and the offset at which it starts."""

    kind: str
    text: str
    start: int
    top: bool
    """True if the token is neither inside parentheses, brackets or braces nor inside CASE ... END."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A clause of a query, or one condition of a WHERE clause: its keyword, and its start and end offsets."""

    word: str
    start: int
    end: int
    condition: bool = False


def trace_sites(store: Store, transform: Transform, dialogues: Sequence[StoredDialogue]) -> list[SiteStep]:
    """Count the rows that are left after each clause and condition of a transform's query.

    Args:
        store: Store that holds the dialogues.
        transform: A transform, either shipped with graphneg or written by the user.
        dialogues: The dialogues on which the query is run.

    Returns:
        A step for each clause and each top-level condition, in the order of the query.

    Raises:
        TransformError: The query has no clauses.
    """
    query = transform.query
    tokens = list(_tokens(query))
    parts = list(_parts(query, tokens))
    parameters = {"dialogues": query_parameters(transform, dialogues, QueryData(store))}
    steps: list[SiteStep] = []
    for part in parts:
        text, comment = _said(query, tokens, part)
        rows, why = _count(store, query, parts, part, parameters)
        steps.append(SiteStep(query.count("\n", 0, part.start) + 1, text, comment, rows, why))
    if not steps:
        raise TransformError(f"{transform.place}: the query has no clauses")
    return steps


def _count(
    store: Store, query: str, parts: Sequence[_Part], part: _Part, parameters: Mapping[str, Any]
) -> tuple[int | None, str]:
    """Count the rows that a query has after one of its clauses, by running it up to the end of the clause.

    Returns:
        A pair: the number of rows and an empty string, or None and the reason why the query could not be run.
    """
    # To count the rows after a part of a query, the query is cut off there and returns a row count. This is
    # impossible after a UNION, because all branches of a UNION must have the same columns.
    if any(other.word == "UNION" and other.start <= part.start for other in parts):
        return None, "not counted: behind UNION"
    prefix = query[: part.end]
    counted = f"count(*) AS {_ROWS}"
    if part.word == "RETURN":
        # The RETURN clause returns one list of edits for each dialogue. Count the edits, not the lists.
        prefix = f"{query[: part.start]}WITH{query[part.start + len('RETURN') : part.end]}"
        counted = f"sum(size(edits)) AS {_ROWS}"
    try:
        result = store.query_read(f"{prefix}\nRETURN {counted}", parameters)
    except StoreError as error:
        return None, f"not counted: {str(error).splitlines()[0]}"
    return int(result.records[0][_ROWS] or 0), ""


def _tokens(query: str) -> Iterator[_Token]:
    """Yield the tokens of a query.

    The word ``END`` closes a CASE expression if one is open. Elsewhere, as in ``AS end``, it is a variable.

    Yields:
        The tokens in the order of the query, including white space and comments.
    """
    opened: list[str] = []
    for match in _TOKEN.finditer(query):
        kind, text = match.lastgroup or "other", match.group()
        word = text.upper() if kind == "word" else ""
        if opened and (kind == "close" or (word == "END" and opened[-1] == "CASE")):
            opened.pop()
        yield _Token(kind, text, match.start(), not opened)
        if kind == "open" or word == "CASE":
            opened.append(word or text)


def _parts(query: str, tokens: Sequence[_Token]) -> Iterator[_Part]:
    """Yield the clauses of a query. A WHERE clause is split into its conditions."""
    words = [token for token in tokens if token.kind == "word" and token.top]
    starts: list[_Token] = []
    before = ""
    for token in words:
        word = token.text.upper()
        # WITH does not begin a clause in STARTS WITH and ENDS WITH, and neither does MATCH in OPTIONAL MATCH.
        operator = word == "WITH" and before in ("STARTS", "ENDS")
        if word in _CLAUSES and not operator and before != "OPTIONAL":
            starts.append(token)
        before = word
    for token, following in zip(starts, [*starts[1:], None], strict=True):
        end = following.start if following is not None else len(query)
        word = token.text.upper()
        if word != "WHERE":
            yield _Part(word, token.start, end)
            continue
        inside = [one for one in words if token.start < one.start < end]
        # AND binds tighter than OR and XOR. If OR or XOR is at the top level, splitting at AND would change
        # the meaning of the condition, so the WHERE clause stays one part.
        whole = any(one.text.upper() in ("OR", "XOR") for one in inside)
        joints = [one.start for one in inside if one.text.upper() == "AND" and not whole]
        for start, stop in zip([token.start, *joints], [*joints, end], strict=True):
            yield _Part("WHERE", start, stop, condition=True)


def _said(query: str, tokens: Sequence[_Token], part: _Part) -> tuple[str, str]:
    """Return the text of a clause or condition as one line, and the comments that explain it."""
    inside = [token for token in tokens if part.start <= token.start < part.end]
    code = "".join(" " if token.kind == "comment" else token.text for token in inside)
    text = " ".join(code.split())
    if part.condition:
        text = re.sub(r"^(?:WHERE|AND)\s+", "", text, flags=re.IGNORECASE)
    spoken_of = [token for token in _comments(query, tokens) if part.start <= token.start < part.end]
    comment = " ".join(token.text.strip("/* ").strip() for token in spoken_of)
    return (text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"), comment


def _comments(query: str, tokens: Sequence[_Token]) -> Iterator[_Token]:
    """Yield the comments of a query.

    If a comment is alone on its line, its ``start`` is replaced by the offset of the code that follows.
    """
    code = [token for token in tokens if token.kind != "comment" and not token.text.isspace()]
    for token in tokens:
        # Skip comments before the first clause: they describe the whole query, not a single clause.
        if token.kind == "comment" and code and token.start > code[0].start:
            # A comment that is alone on its line explains the code after it. Any other comment explains the
            # code before it.
            alone = not query[query.rfind("\n", 0, token.start) + 1 : token.start].strip()
            places = (one.start for one in code if one.start > token.start)
            yield replace(token, start=next(places, token.start)) if alone else token

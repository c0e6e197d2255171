"""Refusals as a table: what stands around a word, and why it can't be edited then.

In: a set of rules of ``refusals.tsv``, an index, and the tokens, words and flags that its conditions name
besides the words there. Out: nothing, or a `RealisationError`. A row has a set, a code, a message, and its
conditions, which must all hold: ``before.low=a|an`` compares a token's ``low``, ``tag``, ``full``, ``lemma``,
``text`` or ``kind``; ``wanted.kind!=person`` a word's kind; ``wanted=often`` a word itself; ``asked``,
``!asked`` and ``before.initial`` are flags; ``before.text=`` says that nothing stands there; ``@name`` stands
for the words of a class. ``token`` is the one at the index, with ``before``, ``after`` and ``after2`` around
it. Rules are tried in the order of the table.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

from graphneg.decoders.surface.draft import Token, Tokens
from graphneg.decoders.surface.sentence import RealisationError
from graphneg.english.noun_kinds import kind_of
from graphneg.english.words import word_class

Known = Token | str | bool


class Rule(NamedTuple):
    """Why an edit is refused, and where: names, their features, the values these must have, or must not."""

    code: str
    message: str
    conditions: tuple[tuple[str, str, frozenset[str], bool], ...]


def refuse(rules: str, tokens: Tokens, index: int, **known: Known) -> None:
    """Raises what the first rule of a set says whose conditions all hold around an index.

    Raises `RealisationError` with the rule's code and message.
    """
    steps = {"before": -1, "token": 0, "after": 1, "after2": 2}
    known = {name: tokens.at(index + step) for name, step in steps.items()} | known
    for rule in table()[rules]:
        conditions = rule.conditions
        if all((_feature(known[name], kind) in values) == holds for name, kind, values, holds in conditions):
            raise RealisationError(rule.code, rule.message.format(**known))


def _feature(thing: Known, feature: str) -> str:
    if feature == "kind":
        return kind_of(thing.low if isinstance(thing, Token) else str(thing))
    value = getattr(thing, feature) if isinstance(thing, Token) else thing
    return value if isinstance(value, str) else "yes" if value else "no"


@cache
def table() -> dict[str, list[Rule]]:
    """The rules of each set, in order."""
    sets: dict[str, list[Rule]] = {}
    lines = files("graphneg.decoders.surface").joinpath("refusals.tsv").read_text("utf-8").splitlines()
    for name, code, message, cells in (line.split("\t") for line in lines if not line.startswith("#")):
        sets.setdefault(name, []).append(Rule(code, message, tuple(map(_condition, cells.split()))))
    return sets


def _condition(cell: str) -> tuple[str, str, frozenset[str], bool]:
    path, equals, words = cell.partition("=")
    name, _, feature = path.strip("!").partition(".")
    values = [word_class(word[1:]) if word[:1] == "@" else {word} for word in words.split("|")]
    known = frozenset[str]().union(*values) if equals else frozenset({"yes"})
    return name, feature, known, "!" not in (path[:1], path[-1:])

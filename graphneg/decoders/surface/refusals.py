"""Refusals as a table: what stands around a word, and why it can't be edited then.

In: a set of rules of ``refusals.tsv`` and the tokens, words and flags that its conditions name. Out: nothing,
or a `RealisationError`. A row has a set, a code, a message, and its conditions, which must all hold:
``before.low=a|an`` compares a token's ``low``, ``tag``, ``full``, ``lemma`` or ``text``;
``wanted.kind!=person`` a word's kind; ``wanted=often`` a word itself; ``asked`` and ``!asked`` are flags;
``@name`` stands for the words of a class. Rules are tried in the order of the table.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

from graphneg.decoders.surface.draft import Token
from graphneg.decoders.surface.sentence import RealisationError
from graphneg.english.noun_kinds import kind_of
from graphneg.english.words import word_class

Known = Token | str | bool


class Condition(NamedTuple):
    """What ``feature`` of the thing ``name`` must be, or must not be."""

    name: str
    feature: str
    values: frozenset[str]
    holds: bool


class Rule(NamedTuple):
    """Why an edit is refused, and where."""

    code: str
    message: str
    conditions: tuple[Condition, ...]


def refuse(rules: str, **known: Known) -> None:
    """Raises what the first rule of a set says whose conditions all hold.

    Raises:
        RealisationError: with the rule's code and message.
    """
    for rule in table()[rules]:
        if all((_feature(known, on.name, on.feature) in on.values) == on.holds for on in rule.conditions):
            raise RealisationError(rule.code, rule.message.format(**known))


def _feature(known: dict[str, Known], name: str, feature: str) -> str:
    thing = known[name]
    if isinstance(thing, Token):
        return getattr(thing, feature)
    if isinstance(thing, bool):
        return "yes" if thing else "no"
    return kind_of(thing) if feature == "kind" else thing


@cache
def table() -> dict[str, list[Rule]]:
    """The rules of each set, in order."""
    sets: dict[str, list[Rule]] = {}
    lines = files("graphneg.decoders.surface").joinpath("refusals.tsv").read_text("utf-8").splitlines()
    for name, code, message, cells in (line.split("\t") for line in lines if not line.startswith("#")):
        sets.setdefault(name, []).append(Rule(code, message, tuple(map(_condition, cells.split()))))
    return sets


def _condition(cell: str) -> Condition:
    path, equals, words = cell.partition("=")
    holds = not path.startswith("!") and not path.endswith("!")
    name, _, feature = path.strip("!").partition(".")
    values = [word_class(word[1:]) if word[:1] == "@" else {word} for word in words.split("|")]
    return Condition(name, feature, frozenset[str]().union(*values) if equals else frozenset({"yes"}), holds)

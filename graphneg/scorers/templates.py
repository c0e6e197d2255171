"""A denial in, the same denial in other words and affirmations of what it denies out.

``templates.tsv`` has the wordings, by the auxiliary of the denial: what each needs of a clause (``nothing``,
``perfect``: that no time is named, ``wish``: that it can be wished for too), and its text, where what follows
the verb stands at ``+``, else at the end. ``denial_words.tsv`` has the classes of words that rule some out.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

_DENIAL = re.compile(
    r"\b(?P<subject>i|we) ?(?P<auxiliary>do|did|am|['’]m|was|are|['’]re|were|can|could|have|had)"
    r" ?(?:not|n ?['’] ?t) (?P<verb>[a-z]+)\b(?P<rest>[^.!?,;]*)(?P<end>[.!?]*)$",
    re.I,
)
_CANNOT = re.compile(r"\bca(?:n ?['’] ?t|nnot)\b", re.I)
_DENIES = re.compile(
    r"\b(?:not|never|cannot|wish|unable|unlikely|hardly|nobody|would (?:love|like) to|no (?:longer|more)"
    r"|(?:have|has|had|am|is|are|was|were) no)\b|n ?['’] ?t\b",
    re.I,
)
_SHORT = {"'m": "am", "'re": "are"}
_BE = ("am", "was", "are", "were")


@dataclass(frozen=True, slots=True)
class Sides:
    """Sentences that deny the same, and sentences that affirm it, if any; the plainest comes first."""

    denied: tuple[str, ...]
    affirmed: tuple[str, ...]


def sides(sentence: str) -> Sides | None:
    """Wordings of a sentence in which its speaker denies an act, a state or an ability; None where it is no
    such sentence.

    >>> bees = sides("I do not keep bees.")
    >>> bees.denied[1:4]
    ("I don't keep bees.", 'I have never kept bees.', "I haven't kept bees yet.")
    >>> bees.affirmed[:3]
    ('I keep bees.', 'I do keep bees.', 'I have kept bees.')
    >>> sides("It is not far.") is None
    True
    """
    sentence = _CANNOT.sub("can not", sentence)
    denial = _DENIAL.search(sentence)
    if denial is None or _class("no verb").fullmatch(denial["verb"]):
        return None
    forms = _forms(denial)
    if forms is None:
        return None
    meets = _meets(denial, forms["auxiliary"])
    denied, affirmed = (
        tuple(
            _written(sentence, denial, template, forms)
            for needs, template in _templates()[forms["auxiliary"], side]
            if needs in meets
        )
        for side in ("denied", "affirmed")
    )
    return Sides(denied, () if _class("only denied").search(denial["rest"]) else affirmed)


def denies(sentence: str) -> bool:
    """Whether a sentence denies something, or wishes for what is not.

    >>> denies("I have never kept bees."), denies("I keep bees."), denies("I wish I kept bees.")
    (True, False, True)
    """
    return _DENIES.search(sentence) is not None


def _forms(denial: re.Match[str]) -> dict[str, str] | None:
    """What stands in templates, None where the verb has no participle."""
    from lemminflect import getInflection

    verb = denial["verb"]
    auxiliary = denial["auxiliary"].lower().replace("’", "'")
    auxiliary = _SHORT.get(auxiliary, auxiliary)
    past, participle = (next(iter(getInflection(verb.lower(), tag=tag)), None) for tag in ("VBD", "VBN"))
    if auxiliary in ("do", "did") and (past is None or participle is None):
        return None
    return {
        "subject": denial["subject"],
        "auxiliary": auxiliary,
        "verb": verb,
        "past": past or "",
        "participle": participle or "",
    }


def _meets(denial: re.Match[str], auxiliary: str) -> tuple[str, ...]:
    """Which needs of templates a clause meets."""
    verb, rest = denial["verb"].lower(), denial["rest"]
    if _class("time").search(f"{verb}{rest}") or (auxiliary in _BE and verb.endswith("ing")):
        return ("nothing",)
    if _class("state").fullmatch(verb) or (verb == "have" and rest.startswith(" to ")):
        return ("nothing", "perfect")
    return ("nothing", "perfect", "wish")


def _written(sentence: str, denial: re.Match[str], template: str, forms: Mapping[str, str]) -> str:
    before, _, after = template.format(**forms).partition("+")
    return f"{sentence[: denial.start()]}{before}{denial['rest'].rstrip()}{after}{denial['end']}"


@cache
def _class(name: str) -> re.Pattern[str]:
    """The words of a class."""
    words = next(row["words"] for row in _rows("denial_words") if row["class"] == name)
    return re.compile(rf"\b(?:{words.replace(', ', '|')})\b", re.I)


@cache
def _templates() -> Mapping[tuple[str, str], list[tuple[str, str]]]:
    """Needs and texts of templates, by auxiliary and side."""
    table: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in _rows("templates"):
        for auxiliary in row["auxiliaries"].split():
            table.setdefault((auxiliary, row["side"]), []).append((row["needs"], row["template"]))
    return table


def _rows(name: str) -> list[dict[str, str]]:
    text = resources.files("graphneg.scorers").joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))

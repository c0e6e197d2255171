"""A denial said otherwise, as people deny things, and what it denies, as people affirm things."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Needs = Literal["nothing", "perfect", "wish"]
"""What a wording asks of a clause: nothing, that no time is named, that it can be wished for too."""
Wordings = tuple[tuple[Needs, str], ...]


@dataclass(frozen=True, slots=True)
class Sides:
    """Sentences that deny the same, and sentences that affirm it, if any; the plainest comes first."""

    denied: tuple[str, ...]
    affirmed: tuple[str, ...]


_DENIAL = re.compile(
    r"\b(?P<subject>i|we) ?(?P<auxiliary>do|did|am|['’]m|was|are|['’]re|were|can|could|have|had)"
    r" ?(?:not|n ?['’] ?t) (?P<verb>[a-z]+)\b(?P<rest>[^.!?,;]*)(?P<end>[.!?]*)$",
    re.I,
)
_CANNOT = re.compile(r"\bca(?:n ?['’] ?t|nnot)\b", re.I)
_SHORT = {"'m": "am", "'re": "are"}
_NO_VERB = re.compile(
    r"(?:actually|always|any|as|at|but|currently|either|even|ever|exactly|gonna|gotta|it|just|not|of|on|only|quite"
    r"|really|so|still|sure|that|this|too|usually|very|wanna|yet)$",
    re.I,
)
"""What follows a negation and makes another kind of sentence of it."""
_TIME = re.compile(
    r"\b(ago|anymore|before|last|next|now|right|since|this|today|tomorrow|tonight|until|when|yesterday|yet)\b",
    re.I,
)
"""Times that a perfect, and a wish, do not go with."""
_STATE = re.compile(
    r"(?:believe|care|feel|guess|hate|hope|know|like|love|matter|mean|mind|need|prefer|remember|seem|suppose|think"
    r"|understand|want|wish)$",
    re.I,
)
"""Verbs of what nobody would love to do."""
_ONLY_DENIED = re.compile(r"\b(any|anybody|anymore|anyone|anything|at all|either|much|until|yet)\b", re.I)
"""Words that go with no affirmation."""
_DO: tuple[Wordings, Wordings] = (
    (
        ("nothing", "{subject} do not {verb}"),
        ("nothing", "{subject} don't {verb}"),
        ("perfect", "{subject} have never {participle}"),
        ("perfect", "{subject} haven't {participle}+ yet"),
        ("wish", "{subject} would love to {verb}"),
        ("wish", "{subject} wish {subject} {past}"),
    ),
    (
        ("nothing", "{subject} {verb}"),
        ("nothing", "{subject} do {verb}"),
        ("perfect", "{subject} have {participle}"),
        ("perfect", "{subject} have always {participle}"),
    ),
)
_DID: tuple[Wordings, Wordings] = (
    (
        ("nothing", "{subject} did not {verb}"),
        ("nothing", "{subject} didn't {verb}"),
        ("perfect", "{subject} have never {participle}"),
        ("perfect", "{subject} haven't {participle}+ yet"),
        ("wish", "{subject} wish {subject} had {participle}"),
    ),
    (
        ("nothing", "{subject} {past}"),
        ("nothing", "{subject} did {verb}"),
        ("perfect", "{subject} have {participle}"),
        ("perfect", "{subject} have {participle}+ before"),
    ),
)
_BE: tuple[Wordings, Wordings] = (
    (
        ("nothing", "{subject} {auxiliary} not {verb}"),
        ("perfect", "{subject} have never been {verb}"),
        ("wish", "{subject} wish {subject} were {verb}"),
        ("wish", "{subject} would love to be {verb}"),
    ),
    (
        ("nothing", "{subject} {auxiliary} {verb}"),
        ("perfect", "{subject} have been {verb}"),
        ("perfect", "{subject} have always been {verb}"),
    ),
)
_CAN: tuple[Wordings, Wordings] = (
    (
        ("nothing", "{subject} {auxiliary} not {verb}"),
        ("nothing", "{subject} {auxiliary} never {verb}"),
        ("wish", "{subject} wish {subject} could {verb}"),
    ),
    (
        ("nothing", "{subject} {auxiliary} {verb}"),
        ("nothing", "{subject} {auxiliary} always {verb}"),
    ),
)
_HAVE: tuple[Wordings, Wordings] = (
    (
        ("nothing", "{subject} {auxiliary} not {verb}"),
        ("nothing", "{subject} {auxiliary} never {verb}"),
        ("nothing", "{subject} {auxiliary}n't {verb}+ yet"),
    ),
    (
        ("nothing", "{subject} {auxiliary} {verb}"),
        ("nothing", "{subject} {auxiliary} already {verb}"),
    ),
)
_DENIES = re.compile(
    r"\b(?:not|never|cannot|wish|unable|unlikely|hardly|nobody|would (?:love|like) to|no (?:longer|more)"
    r"|(?:have|has|had|am|is|are|was|were) no)\b|n ?['’] ?t\b",
    re.I,
)
_BY_AUXILIARY: Mapping[str, tuple[Wordings, Wordings]] = {
    "do": _DO,
    "did": _DID,
    "can": _CAN,
    "could": _CAN,
    "have": _HAVE,
    "had": _HAVE,
    **dict.fromkeys(("am", "was", "are", "were"), _BE),
}
"""Wordings that deny and that affirm; what follows the verb stands at ``+``, else at the end."""


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
    found = _DENIAL.search(sentence)
    if found is None or _NO_VERB.match(found["verb"]):
        return None
    forms = _forms(found)
    if forms is None:
        return None
    has = _has(found)
    denied, affirmed = (
        tuple(_written(sentence, found, wording, forms) for needs, wording in wordings if needs in has)
        for wordings in _BY_AUXILIARY[forms["auxiliary"]]
    )
    return Sides(denied, () if _ONLY_DENIED.search(found["rest"]) else affirmed)


def denies(sentence: str) -> bool:
    """Whether a sentence denies something, or wishes for what is not.

    >>> denies("I have never kept bees."), denies("I keep bees."), denies("I wish I kept bees.")
    (True, False, True)
    """
    return _DENIES.search(sentence) is not None


def _auxiliary(found: re.Match[str]) -> str:
    written = found["auxiliary"].lower().replace("’", "'")
    return _SHORT.get(written, written)


def _is_be(found: re.Match[str]) -> bool:
    return _auxiliary(found) in ("am", "was", "are", "were")


def _forms(found: re.Match[str]) -> dict[str, str] | None:
    """What stands in wordings, None where the verb has no participle."""
    from lemminflect import getInflection

    verb = found["verb"]
    past, participle = (next(iter(getInflection(verb.lower(), tag=tag)), None) for tag in ("VBD", "VBN"))
    auxiliary = _auxiliary(found)
    if auxiliary in ("do", "did") and (past is None or participle is None):
        return None
    return {
        "subject": found["subject"],
        "auxiliary": auxiliary,
        "verb": verb,
        "past": past or "",
        "participle": participle or "",
    }


def _has(found: re.Match[str]) -> Iterable[Needs]:
    verb, rest = found["verb"].lower(), found["rest"]
    if _TIME.search(f"{verb}{rest}") or (_is_be(found) and verb.endswith("ing")):
        return ("nothing",)
    if _STATE.match(verb) or (verb == "have" and rest.startswith(" to ")):
        return ("nothing", "perfect")
    return ("nothing", "perfect", "wish")


def _written(sentence: str, found: re.Match[str], wording: str, forms: Mapping[str, str]) -> str:
    before, _, after = wording.format(**forms).partition("+")
    return f"{sentence[: found.start()]}{before}{found['rest'].rstrip()}{after}{found['end']}"

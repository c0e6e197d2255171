"""Questions that are asked of each item of a review: those of a small JSON file, or ready ones.

A file has a ``name``, a ``title``, ``guidelines`` (paragraphs of text), and ``questions``: each with a
``name``, a ``text`` and its ``answers``, of which each has a ``value``, a ``text`` and a ``key`` on the
keyboard. ``shares`` are what tables count: answers that an item must have been given. See
``questions/usable.json``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Literal

import msgspec

from graphneg.errors import InputError
from graphneg.ingest.content import read_text

COMMANDS = {"u": "undo", "s": "skip", "c": "comment", "g": "guidelines"}
"""Keys that do something else in a browser, so that no answer may have them."""
TAKEN = ("row", "context", "response", "comment", "annotator", "dialogue")
"""Columns of a sheet that are no questions."""
_READY = resources.files("graphneg.evaluation.review").joinpath("questions")


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the answers: what is kept, what is shown, and what may be pressed, or written in a sheet."""

    value: str
    text: str = ""
    key: str = ""
    words: tuple[str, ...] = ()

    @property
    def written(self) -> tuple[str, ...]:
        """What stands for it in a sheet, in lower case."""
        return tuple(word.lower() for word in (self.value, self.value[:1], self.key, *self.words) if word)


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question. Answers of an ``ordinal`` one are in order: some are further apart than others.

    ``positive`` is the answer that two of three annotators suffice for, in the rule of Sato et al.
    """

    name: str
    text: str
    answers: tuple[Answer, ...]
    scale: Literal["nominal", "ordinal"] = "nominal"
    positive: str = ""

    @property
    def values(self) -> tuple[str, ...]:
        """What may be answered."""
        return tuple(answer.value for answer in self.answers)

    def meant(self, written: str) -> str | None:
        """The answer that a word in a sheet stands for: its value, or what only one answer has; or None."""
        word = written.strip().lower()
        exact = [answer.value for answer in self.answers if word == answer.value.lower()]
        meant = exact or [answer.value for answer in self.answers if word in answer.written]
        return meant[0] if len(meant) == 1 else None


class Questions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The questions of one review; ``shares`` has for each share of its tables the answers that it takes."""

    name: str
    title: str
    questions: tuple[Question, ...]
    guidelines: str = ""
    shares: dict[str, dict[str, str]] = {}

    @property
    def counted(self) -> Mapping[str, Mapping[str, str]]:
        """The shares of tables; each answer by itself where the file names none."""
        if self.shares:
            return self.shares
        several = len(self.questions) > 1
        return {
            f"{question.name}: {value}" if several else value: {question.name: value}
            for question in self.questions
            for value in question.values
        }

    def check(self, answers: Mapping[str, str], where: str, *, whole: bool = True) -> dict[str, str]:
        """The answers, in the order of the questions.

        Raises `InputError`: one is of no question, or none of its answers, or (if ``whole``) is missing.
        """
        if strange := answers.keys() - {question.name for question in self.questions}:
            raise InputError(f"{where}: no question is called {min(strange)!r}")
        for question in self.questions:
            given = answers.get(question.name)
            if given is None and whole:
                raise InputError(f"{where}: {question.name} is not answered")
            if given is not None and given not in question.values:
                raise InputError(
                    f"{where}: {question.name} is {given!r}; write {' or '.join(question.values)}"
                )
        return {one.name: answers[one.name] for one in self.questions if one.name in answers}


def ready_questions() -> list[str]:
    """The names of the questions that come with graphneg."""
    return sorted(Path(file.name).stem for file in _READY.iterdir() if file.name.endswith(".json"))


def load_questions(named: str) -> Questions:
    """Ready questions by their name, or those of a JSON file.

    Raises `InputError`: there is no such file, or it is none of questions; the place in it is named.
    """
    if named in ready_questions():
        text = _READY.joinpath(f"{named}.json").read_text(encoding="utf-8")
    elif Path(named).suffix or Path(named).exists():
        text = read_text(Path(named))
    else:
        raise InputError(f"no questions are called {named!r}: {', '.join(ready_questions())}, or a file")
    try:
        found = msgspec.json.decode(text.encode(), type=Questions)
    except msgspec.MsgspecError as error:
        raise InputError(f"{named}: no file of questions: {error}") from error
    if fault := _fault(found):
        raise InputError(f"{named}: {fault}")
    return found


def _fault(found: Questions) -> str:
    """What is wrong with questions that have the right shape."""
    names = Counter(question.name for question in found.questions)
    if not names:
        return "there is no question in it"
    for name, amount in names.items():
        if amount > 1 or not name.strip() or name in TAKEN:
            return f"a question can't be called {name!r}: the name is empty, taken or comes twice"
    for question in found.questions:
        if fault := _fault_of(question):
            return f"question {question.name}: {fault}"
    known = {question.name: question.values for question in found.questions}
    for share, wanted in found.shares.items():
        for name, value in wanted.items():
            if value not in known.get(name, ()):
                return f"share {share}: {name} has no answer {value!r}"
    return ""


def _fault_of(question: Question) -> str:
    values = Counter(question.values)
    keys = Counter(answer.key for answer in question.answers if answer.key)
    if len(question.answers) < 2:
        return "it needs two answers or more"
    if len(question.answers) > 9:
        return "it has more than nine answers"
    if "" in values or max(values.values()) > 1:
        return "an answer is empty or comes twice"
    for key, amount in keys.items():
        if amount > 1 or len(key) != 1 or key.isdigit() or key != key.lower() or key in COMMANDS:
            return (
                f"the key {key!r} is no small letter, comes twice, or is one of {', '.join(COMMANDS)}, which "
                f"{', '.join(COMMANDS.values())}"
            )
    if question.positive and question.positive not in values:
        return f"its positive answer {question.positive!r} is none of its answers"
    return ""

"""Load the questions of a review from a JSON file.

A file has a ``name``, a ``title``, ``guidelines`` (paragraphs of text) and ``questions``. Each question has a
``name``, a ``text`` and ``answers``. Each answer has a ``value``, a ``text`` and a ``key`` on the keyboard.
The optional ``shares`` define the columns of result tables: each counts the items with certain answers.

Example:
    Part of the questions ``usable``, which come with the package:

        {"name": "verdict", "text": "As the next turn of this dialogue it is",
         "answers": [{"value": "wrong", "text": "Wrong", "key": "w"}, ...]}
        "shares": {"wrong": {"verdict": "wrong"}, ...}
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
"""Keys with another function in the browser, which no answer may have."""
TAKEN = ("row", "context", "response", "comment", "annotator", "dialogue")
"""Columns of a sheet, whose names no question may have."""
_READY = resources.files("graphneg.evaluation.review").joinpath("questions")


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the answers to a question.

    Attributes:
        value: The value that is stored.
        text: The text that is shown.
        key: The key to press in the browser.
        words: Further words that stand for the answer in a sheet.
    """

    value: str
    text: str = ""
    key: str = ""
    words: tuple[str, ...] = ()

    @property
    def written(self) -> tuple[str, ...]:
        """All forms of the answer that a sheet may have, in lower case."""
        return tuple(word.lower() for word in (self.value, self.value[:1], self.key, *self.words) if word)


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question about each item of a review.

    Attributes:
        name: The name of the question.
        text: The text that is shown.
        answers: The possible answers.
        scale: ``ordinal`` if the answers are ordered, so that some differ more than others; otherwise
            ``nominal``.
        positive: The answer for which two of three votes are enough, in the rule of Sato et al. (2024).
    """

    name: str
    text: str
    answers: tuple[Answer, ...]
    scale: Literal["nominal", "ordinal"] = "nominal"
    positive: str = ""

    @property
    def values(self) -> tuple[str, ...]:
        """The values of the possible answers."""
        return tuple(answer.value for answer in self.answers)

    def meant(self, written: str) -> str | None:
        """Return the answer that a word in a sheet stands for.

        Args:
            written: The word.

        Returns:
            The value of the answer, or None if the word is unknown or ambiguous.
        """
        word = written.strip().lower()
        # An exact value wins over an abbreviation of another answer.
        exact = [answer.value for answer in self.answers if word == answer.value.lower()]
        meant = exact or [answer.value for answer in self.answers if word in answer.written]
        # "w" is ambiguous if one answer is "wrong" and another one is "weak".
        return meant[0] if len(meant) == 1 else None


class Questions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The questions of a review.

    Attributes:
        name: The name of the set of questions.
        title: The title that is shown.
        questions: The questions.
        guidelines: Instructions for annotators.
        shares: For each column of the result tables, the answers that an item must have.
    """

    name: str
    title: str
    questions: tuple[Question, ...]
    guidelines: str = ""
    shares: dict[str, dict[str, str]] = {}

    @property
    def counted(self) -> Mapping[str, Mapping[str, str]]:
        """The shares in the result tables; one for each answer if the file defines none."""
        if self.shares:
            return self.shares
        several = len(self.questions) > 1
        return {
            f"{question.name}: {value}" if several else value: {question.name: value}
            for question in self.questions
            for value in question.values
        }

    def check(self, answers: Mapping[str, str], where: str, *, whole: bool = True) -> dict[str, str]:
        """Check the answers for an item.

        Args:
            answers: The answers by question.
            where: The place of the answers, for error messages.
            whole: Require an answer to every question.

        Returns:
            The answers in the order of the questions.

        Raises:
            InputError: A question or an answer is unknown, or an answer is missing.
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
    """Return the names of the sets of questions that come with the package."""
    return sorted(Path(file.name).stem for file in _READY.iterdir() if file.name.endswith(".json"))


def load_questions(named: str) -> Questions:
    """Load questions by name or from a JSON file.

    Args:
        named: The name of a set of questions that comes with the package, or the path of a file.

    Returns:
        The questions.

    Raises:
        InputError: There is no such set or file, or the file is not valid.
    """
    if named in ready_questions():
        text = _READY.joinpath(f"{named}.json").read_text(encoding="utf-8")
    elif Path(named).suffix or Path(named).exists():
        text = read_text(Path(named))
    else:
        raise InputError(
            f"no questions named {named!r}; choose one of {', '.join(ready_questions())}, or a file"
        )
    try:
        found = msgspec.json.decode(text.encode(), type=Questions)
    except msgspec.MsgspecError as error:
        raise InputError(f"{named}: no file of questions: {error}") from error
    if fault := _fault(found):
        raise InputError(f"{named}: {fault}")
    return found


def _fault(found: Questions) -> str:
    """Return what is wrong with questions that have the right types, or an empty string."""
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
    """Return what is wrong with a question, or an empty string."""
    values = Counter(question.values)
    keys = Counter(answer.key for answer in question.answers if answer.key)
    if len(question.answers) < 2:
        return "it needs two answers or more"
    # In the browser, answers can be chosen with the digits 1 to 9.
    if len(question.answers) > 9:
        return "it has more than nine answers"
    if "" in values or max(values.values()) > 1:
        return "an answer is empty or comes twice"
    for key, amount in keys.items():
        if amount > 1 or len(key) != 1 or key.isdigit() or key != key.lower() or key in COMMANDS:
            return (
                f"the key {key!r} is not a lower-case letter, occurs twice, or is one of "
                f"{', '.join(COMMANDS)}, which "
                f"{', '.join(COMMANDS.values())}"
            )
    if question.positive and question.positive not in values:
        return f"its positive answer {question.positive!r} is not one of its answers"
    return ""

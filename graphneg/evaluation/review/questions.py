"""Load the questions of a review from a JSON file.

The file has a ``name``, a ``title``, ``guidelines`` (paragraphs of text) and ``questions``. Each question has
a ``name``, a ``text`` and ``answers``. Each answer has a ``value``, a ``text`` and a ``key`` on the keyboard.
The optional ``shares`` define the columns of the result tables. A column shows the share of items that were
given certain answers.

Example:
    An excerpt from the set of questions ``usable``, which comes with the package:

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
"""The keyboard keys of the commands on the review page, with the commands. No answer may use one of these
keys."""
TAKEN = ("row", "context", "response", "comment", "annotator", "dialogue")
"""Reserved names, which a question must not have: names of other columns in a sheet, and of fields in Label
Studio tasks."""
_READY = resources.files("graphneg.evaluation.review").joinpath("questions")


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the answers to a question.

    Attributes:
        value: The value that is stored for the answer, such as "wrong".
        text: The text of the answer that annotators see.
        key: The keyboard key that selects the answer on the review page.
        words: Other words that annotators may write for the answer in a sheet, such as "1" for "yes".
    """

    value: str
    text: str = ""
    key: str = ""
    words: tuple[str, ...] = ()

    @property
    def written(self) -> tuple[str, ...]:
        """All words, in lower case, by which annotators can give this answer in a spreadsheet."""
        return tuple(word.lower() for word in (self.value, self.value[:1], self.key, *self.words) if word)


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question about each item of a review.

    Attributes:
        name: The name of the question.
        text: The text of the question that annotators see.
        answers: The possible answers.
        scale: ``ordinal`` if the answers are ordered, such as 1, 2 and 3, otherwise ``nominal``. For ordered
            answers, the measure of agreement treats 1 and 3 as a larger disagreement than 1 and 2.
        positive: The answer for which two of three votes are enough to make it the label, by the rule of Sato
            et al. (2024). Empty if the question has no such answer.
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

    def parse_answer(self, written: str) -> str | None:
        """Return the answer for which a word in a sheet stands.

        Args:
            written: The word that the annotator wrote.

        Returns:
            The value of the answer, or None if the word is unknown or ambiguous.
        """
        word = written.strip().lower()
        # If the word equals the value of an answer, choose this answer, even if the word is also an
        # abbreviation of another answer.
        exact = [answer.value for answer in self.answers if word == answer.value.lower()]
        meant = exact or [answer.value for answer in self.answers if word in answer.written]
        # Return None for an ambiguous abbreviation: "w" could mean "wrong" or "weak".
        return meant[0] if len(meant) == 1 else None


class Questions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The questions of a review.

    Attributes:
        name: The name of the set of questions.
        title: The title that annotators see.
        questions: The questions that are asked about each item.
        guidelines: Instructions for annotators.
        shares: The columns of the result tables, keyed by name. A column is a dictionary of answers, keyed by
            the name of the question. It shows the share of items that were given all these answers.
    """

    name: str
    title: str
    questions: tuple[Question, ...]
    guidelines: str = ""
    shares: dict[str, dict[str, str]] = {}

    @property
    def result_shares(self) -> Mapping[str, Mapping[str, str]]:
        """The columns of the result tables: ``shares`` if it is set, otherwise one column for each answer."""
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
            answers: The values of the answers, keyed by the name of the question.
            where: Location of the answers, such as ``FILE:LINE``, for error messages.
            whole: Whether to require an answer to every question.

        Returns:
            The same answers, in the order of the questions.

        Raises:
            InputError: A question or an answer is unknown, or an answer is missing.
        """
        if strange := answers.keys() - {question.name for question in self.questions}:
            raise InputError(f"{where}: there is no question {min(strange)!r}")
        for question in self.questions:
            given = answers.get(question.name)
            if given is None and whole:
                raise InputError(f"{where}: the question {question.name} is not answered")
            if given is not None and given not in question.values:
                raise InputError(
                    f"{where}: {question.name} is {given!r}; write {' or '.join(question.values)}"
                )
        return {one.name: answers[one.name] for one in self.questions if one.name in answers}


def ready_questions() -> list[str]:
    """Return the names of the sets of questions that come with the package."""
    return sorted(Path(file.name).stem for file in _READY.iterdir() if file.name.endswith(".json"))


def load_questions(named: str) -> Questions:
    """Load a set of questions that comes with the package, or the questions in a JSON file.

    Args:
        named: The name of a set of questions that comes with the package, or the path of a JSON file.

    Returns:
        The questions with their guidelines and the columns of the result tables.

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
        raise InputError(f"{named}: not a file of questions: {error}") from error
    if fault := _fault(found):
        raise InputError(f"{named}: {fault}")
    return found


def _fault(found: Questions) -> str:
    """Return why a set of questions is invalid, such as an unknown answer; empty if it is valid."""
    names = Counter(question.name for question in found.questions)
    if not names:
        return "the file contains no question"
    for name, amount in names.items():
        if amount > 1 or not name.strip() or name in TAKEN:
            return f"{name!r} can't be the name of a question: the name is empty, reserved or used twice"
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
    """Return why a question is invalid, such as "fewer than two answers"; empty if it is valid."""
    values = Counter(question.values)
    keys = Counter(answer.key for answer in question.answers if answer.key)
    if len(question.answers) < 2:
        return "fewer than two answers"
    # In the browser, answers are also chosen with the digits 1 to 9, so there may be at most nine.
    if len(question.answers) > 9:
        return "more than nine answers"
    if "" in values or max(values.values()) > 1:
        return "an answer is empty or occurs twice"
    for key, amount in keys.items():
        if amount > 1 or len(key) != 1 or key.isdigit() or key != key.lower() or key in COMMANDS:
            return (
                f"the key {key!r} is not a lower-case letter, occurs twice, or is one of "
                f"{', '.join(COMMANDS)}, which "
                f"{', '.join(COMMANDS.values())}"
            )
    if question.positive and question.positive not in values:
        return f"the positive answer {question.positive!r} is not one of the answers"
    return ""

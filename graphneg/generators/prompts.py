"""What language models read: every prompt of the generators and of perplexity selection, and solved examples.

Turns, keywords or a perspective go in, text comes out; nothing here knows a model, but for the note in a
model's configuration that says which prompts it was trained with (`train_for`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphneg.english.tokens import closed_up, one_line
from graphneg.generators.base import Turn
from graphneg.nn.fine_tuning import Example, TrainingReport, fine_tune
from graphneg.nn.language_models import LanguageModel

HISTORY_TURNS = 2
TURN_WORDS = 30
"""So much of a history is shown to a writer of keywords: its last turns, of each the last words."""
EXCHANGE_TURNS = 3
"""How many turns before a reply are read with a perspective: the post, and what led to it."""

TASK = "graphneg_task"
"""The entry of a model's configuration that says what it was trained for."""
REPLY_WITH_WORDS = "reply-with-words"
REPLY_WITH_PERSPECTIVE = "reply-with-perspective"
FILL_BLANKS = "fill-blanks"
BETWEEN = "|"
"""What stands between the answers of several blanks."""
BLANK = re.compile(r"\[(?:word|phrase|sentence)\]")
"""The mark of a blank."""
_BLANKS = "Blanks:"


@dataclass(frozen=True, slots=True)
class Exchange:
    """The turns of a context, the perspective of its reply (a keyword's key), and the reply.

    ``turns`` are texts of two speakers in turn, the post last.
    """

    turns: tuple[str, ...]
    perspective: str
    response: str


PERSPECTIVE_EXAMPLES = (
    Exchange(("I can't find my keys anywhere.",), "jacket", "Did you look in your jacket?"),
    Exchange(("Shall we eat out tonight?",), "soup", "I would rather stay and finish the soup."),
    Exchange(("My sister moves to Rome in May.",), "language", "Does she speak the language well?"),
    Exchange(("How was the match?",), "rain", "We lost, and the rain never stopped."),
)
"""Shown to a model that was not trained to reply with a given perspective."""

_SENTENCES = (
    ("ladder", "My uncle fell off the ladder while he was painting the garage."),
    ("ticket, weather", "We gave the ticket back because the weather was too bad for a match."),
    ("quiet", "Our street was quiet until they opened the new supermarket."),
    ("camera, borrow", "My sister wants to borrow a camera for her week at the lake."),
    ("promise", "I made a promise to water the plants of my neighbour every evening."),
    ("lawyer, expensive", "The lawyer was expensive, but he won our case about the fence."),
)

_REPLIES = (
    (("Is the printer still broken?",), "paper", "Then I will write the list by hand on a piece of paper."),
    (
        ("How was the concert last night?",),
        "singer, late",
        "The singer came on stage an hour late, but she was wonderful.",
    ),
    (("Did you find your gloves?", "No."), "drawer", "They must be in the drawer under the telephone."),
    (
        ("I am rather tired tonight.",),
        "kitchen, onion",
        "Sit down in the kitchen and I will cut the onion for you.",
    ),
    (("When does the train leave?",), "platform", "It leaves at noon from the platform behind the station."),
    (
        ("Where is the boat now?",),
        "river, winter",
        "It lies on the river, and in winter we keep it in our barn.",
    ),
)


def answer(text: str) -> str:
    """What a model writes behind a prompt that ends with a speaker's name.

    >>> answer("Yes,  some fish.")
    ' Yes, some fish.'
    """
    return f" {one_line(text)}"


def perspective_prompt(turns: Sequence[str], perspective: str) -> str:
    """What a model reads before a reply with a given perspective.

    >>> print(perspective_prompt(["It is hungry.", "Did you feed the cat?"], "fish"))
    B: It is hungry.
    A: Did you feed the cat?
    B (fish):
    """
    lines = _lines([one_line(text) for text in turns[-EXCHANGE_TURNS:]])
    return "\n".join([*lines, f"B ({perspective}):"])


def perspective_example(exchange: Exchange) -> Example:
    """The exchange as a pair to learn."""
    return Example(perspective_prompt(exchange.turns, exchange.perspective), answer(exchange.response))


def sentence_request(words: Sequence[str]) -> str:
    """The request for a sentence with these words.

    >>> sentence_request(["ladder", "garage"])
    'Words: ladder, garage\\nSentence:'
    """
    return f"Words: {', '.join(words)}\nSentence:"


def reply_request(history: Sequence[Turn], words: Sequence[str] = ()) -> str:
    """The request for a reply to a history that has these words in it; without words, for any reply.

    >>> print(reply_request([Turn("B", "Where is he?")], ["garage"]))
    A: Where is he?
    Words: garage
    B:
    """
    shown = [" ".join(closed_up(turn.text).split()[-TURN_WORDS:]) for turn in history[-HISTORY_TURNS:]]
    asked = [f"Words: {', '.join(words)}"] if words else []
    return "\n".join([*_lines(shown), *asked, "B:" if shown else "A:"])


def context_prompt(context: Sequence[str]) -> str:
    """What stands before a response whose perplexity is measured: the turns, and the name of who is next.

    >>> print(context_prompt(["Is it far?", "No."]))
    A: Is it far?
    B: No.
    A:
    """
    said = [f"{'AB'[at % 2]}: {one_line(text)}" for at, text in enumerate(context)]
    return "\n".join([*said, f"{'AB'[len(context) % 2]}:"])


def response_prompt(response: str) -> str:
    """What a model reads that is to write the turn before a response.

    >>> print(response_prompt("No."))
    B: No.
    This answers A:
    """
    return f"B: {one_line(response)}\nThis answers A:"


def is_trained(model: LanguageModel, task: str) -> bool:
    """Whether a model was trained for a task of these prompts: then it needs no examples."""
    return getattr(model.model.config, TASK, None) == task


def train_for(
    task: str, model: LanguageModel, examples: Sequence[Example], out: str | Path, **arguments: Any
) -> TrainingReport:
    """Fine-tune ``model`` on prompts and answers, and save it into ``out`` with a note of the task.

    ``arguments`` are those of `graphneg.nn.fine_tuning.fine_tune`.
    """
    setattr(model.model.config, TASK, task)
    return fine_tune(model, examples, out, **arguments)


def blanks_request(history: Sequence[Turn], marked: str) -> str:
    """The request for what stands in the blanks of a reply to a history (Gupta et al. 2021, section 3.1).

    >>> print(blanks_request([Turn("B", "Where is he?")], "He is in the [word]."))
    A: Where is he?
    B: He is in the [word].
    Blanks:
    """
    shown = [" ".join(closed_up(turn.text).split()[-TURN_WORDS:]) for turn in history[-HISTORY_TURNS:]]
    return "\n".join([*_lines(shown), f"{'B' if shown else 'A'}: {marked}", _BLANKS])


def blank_request(history: Sequence[Turn], marked: str) -> str:
    """The request for what stands in the first blank alone: it goes on with the text up to there.

    >>> print(blank_request([Turn("B", "Where is he?")], "He is in the [word] of [phrase]."))
    A: Where is he?
    B: He is in the [word] of [phrase].
    [word]: He is in the
    """
    found = BLANK.search(marked)
    before, kind = (marked, "") if found is None else (marked[: found.start()], found[0])
    return f"{blanks_request(history, marked).removesuffix(_BLANKS)}{kind}: {before}".rstrip()


def _lines(texts: Sequence[str]) -> list[str]:
    """Texts of two speakers in turn; the last one is A's."""
    return [f"{'BA'[(len(texts) - at) % 2]}: {text}" for at, text in enumerate(texts)]


def _solved(task: str, requests: Iterable[str], answers: Iterable[str]) -> str:
    solved = [f"{request} {answer}" for request, answer in zip(requests, answers, strict=True)]
    return "\n\n".join([task, *solved, ""])


SENTENCE_EXAMPLES = _solved(
    "Write one everyday sentence with the words.",
    (sentence_request([words]) for words, _ in _SENTENCES),
    (sentence for _, sentence in _SENTENCES),
)
"""Six requests for sentences with their answers."""
REPLY_EXAMPLES = _solved(
    "Write the next turn of a conversation, with the words in it.",
    (reply_request([Turn("", text) for text in turns], [words]) for turns, words, _ in _REPLIES),
    (reply for _, _, reply in _REPLIES),
)
"""Six requests for replies with their answers."""
EXAMPLE_TEXTS = (*(sentence for _, sentence in _SENTENCES), *(reply for _, _, reply in _REPLIES))
"""The answers of all examples: a model that repeats one of them has not written anything."""


def _with(marked: str, answers: Sequence[str]) -> str:
    """A text with blanks, of which the first ones are filled."""
    for one in answers:
        marked = BLANK.sub(one, marked, count=1)
    return marked


_FILLED = (
    (("How was the trip?",), "The [word] was late, but we [phrase].", ("bus", "saw the whole coast")),
    (("I can't find my keys.", "Not again!"), "[sentence] Did you [word] in the car?", ("Oh no.", "look")),
    (("Who is at the door?",), "It is [phrase] from the [word].", ("a man", "bank")),
    (("Shall we eat out?",), "I would rather [word] here and [phrase].", ("stay", "finish the soup")),
)
FILLED_EXAMPLES = _solved(
    "Write what stands in the blanks of the last turn.",
    (blanks_request([Turn("", text) for text in turns], marked) for turns, marked, _ in _FILLED),
    (f" {BETWEEN} ".join(answers) for _, _, answers in _FILLED),
)
"""Four texts with blanks, and what stands in them."""
FILLED_BLANKS = _solved(
    "Write what stands in the first blank of the last turn.",
    (
        blank_request([Turn("", text) for text in turns], _with(marked, answers[:nth]))
        for turns, marked, answers in _FILLED
        for nth in range(len(answers))
    ),
    (one for _, _, answers in _FILLED for one in answers),
)
"""The same, one blank after another."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class IrrelevantResponses:
    """A context, its turns by two speakers, and responses that say words of it and do not answer it."""

    context: tuple[str, ...]
    responses: tuple[str, ...]


def irrelevant_request(examples: Sequence[IrrelevantResponses], turns: Sequence[Turn], amount: int) -> str:
    """The request for a list of irrelevant responses behind solved examples (Lee et al. 2022, section 3).

    >>> shown = IrrelevantResponses(("Is it far?", "No."), ("The far side of the moon is dark.",))
    >>> print(irrelevant_request([shown], [Turn("A", "Where is the key?")], 5))
    Create five irrelevant responses containing keywords of the given dialogue context:
    <BLANKLINE>
    Dialogue context:
    A: Is it far?
    B: No.
    Irrelevant responses:
    1. The far side of the moon is dark.
    <BLANKLINE>
    Dialogue context:
    A: Where is the key?
    Irrelevant responses:
    """
    number = _NUMBERS[amount] if amount < len(_NUMBERS) else str(amount)
    task = f"Create {number} irrelevant responses containing keywords of the given dialogue context:"
    solved = [
        "\n".join([_dialogue(example.context), *enumerated(example.responses[:amount])])
        for example in examples
    ]
    return "\n\n".join([task, *solved, _dialogue([turn.text for turn in turns])])


def enumerated(texts: Iterable[str]) -> list[str]:
    """Texts with their numbers, from 1."""
    return [f"{number}. {text}" for number, text in enumerate(texts, 1)]


def _dialogue(texts: Sequence[str]) -> str:
    said = [f"{'AB'[at % 2]}: {one_line(closed_up(text))}" for at, text in enumerate(texts)]
    return "\n".join(["Dialogue context:", *said, "Irrelevant responses:"])

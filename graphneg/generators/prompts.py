"""Build the prompts for generators and for selection by perplexity, including their solved examples.

Most functions convert turns, keywords or a perspective (the keyword that a reply is about) into a text that a
language model continues. For example, the prompt for a reply with the perspective *fish* is::

    A: Did you feed the cat?
    B (fish):

`train_for` fine-tunes a model for such prompts and stores the name of the task in the configuration of the
model. `is_trained` checks whether the configuration contains the name of a task.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphneg.english.tokens import detokenize, one_line
from graphneg.model import Turn
from graphneg.nn.fine_tuning import Example, TrainingReport, fine_tune
from graphneg.nn.language_models import LanguageModel

HISTORY_TURNS = 2
"""Number of turns that a prompt for a reply with keywords or blanks shows, counted back from the reply."""
TURN_WORDS = 30
"""Maximum number of words of a turn in a prompt for a reply with keywords or blanks. A longer turn is
truncated at its beginning."""
EXCHANGE_TURNS = 3
"""Number of turns that a prompt for a reply with a given perspective shows, counted back from the reply."""

TASK = "graphneg_task"
"""Key under which a model's configuration contains the name of the task for which the model was trained."""
REPLY_WITH_WORDS = "reply-with-words"
"""Name of the task to write a reply that contains given keywords."""
REPLY_WITH_PERSPECTIVE = "reply-with-perspective"
"""Name of the task to write a reply that is about a given keyword, the perspective of the reply."""
FILL_BLANKS = "fill-blanks"
"""Name of the task to write the missing texts for the blanks of a reply."""
BETWEEN = "|"
"""Separator between the texts for the blanks of a reply, in prompts and in the outputs of models."""
BLANK = re.compile(r"\[(?:word|phrase|sentence)\]")
"""Matches a mark for a blank, such as ``[word]``."""
_BLANKS = "Blanks:"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A reply, the turns before it, and its perspective: the keyword that the reply is about.

    Attributes:
        turns: Texts of the turns before the reply, oldest first, by two alternating speakers.
        perspective: Keyword that the reply introduces.
        response: Text of the reply.
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
"""Solved examples of replies with a given perspective, for the prompts of models that were not trained for
this task."""

_SENTENCES = (
    ("ladder", "My uncle fell off the ladder while he was painting the garage."),
    ("ticket, weather", "We gave the ticket back because the weather was too bad for a match."),
    ("quiet", "Our street was quiet until they opened the new supermarket."),
    ("camera, borrow", "My sister wants to borrow a camera for her week at the lake."),
    ("promise", "I made a promise to water the plants of my neighbour every evening."),
    ("lawyer, expensive", "The lawyer was expensive, but he won our case about the fence."),
)
"""Pairs of keywords and a sentence that contains these keywords, for `SENTENCE_EXAMPLES`."""

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
"""Solved examples for `REPLY_EXAMPLES`. Each consists of the turns before a reply, the keywords that the
reply must contain, and the reply."""


def answer(text: str) -> str:
    """Return a reply in the form in which it continues a prompt that ends with a speaker name (``B:``).

    Args:
        text: Text of the reply.

    Returns:
        The reply on one line, with a space before it.

    Example:
        >>> answer("Yes,  some fish.")
        ' Yes, some fish.'
    """
    return f" {one_line(text)}"


def perspective_prompt(turns: Sequence[str], perspective: str) -> str:
    """Return the prompt for a reply with a given perspective.

    Args:
        turns: Texts of the turns before the reply, oldest first. The prompt shows only the last
            `EXCHANGE_TURNS`.
        perspective: Keyword that the reply should introduce.

    Returns:
        The prompt, which ends with the name and the perspective of the replying speaker.

    Example:
        >>> print(perspective_prompt(["It is hungry.", "Did you feed the cat?"], "fish"))
        B: It is hungry.
        A: Did you feed the cat?
        B (fish):
    """
    lines = _with_speaker_names([one_line(text) for text in turns[-EXCHANGE_TURNS:]])
    return "\n".join([*lines, f"B ({perspective}):"])


def perspective_example(exchange: Exchange) -> Example:
    """Convert an exchange into a training example.

    Args:
        exchange: Reply with its perspective and the turns before it.

    Returns:
        A training example, which consists of the prompt and of the reply as the expected output.
    """
    return Example(perspective_prompt(exchange.turns, exchange.perspective), answer(exchange.response))


def sentence_request(words: Sequence[str]) -> str:
    r"""Return the prompt for a sentence that contains given words.

    Args:
        words: Words that the sentence must contain.

    Returns:
        The prompt, which the model continues with the sentence.

    Example:
        >>> sentence_request(["ladder", "garage"])
        'Words: ladder, garage\nSentence:'
    """
    return f"Words: {', '.join(words)}\nSentence:"


def reply_request(history: Sequence[Turn], words: Sequence[str] = ()) -> str:
    """Return the prompt for a reply to the last turns of a dialogue.

    Args:
        history: Turns before the reply, oldest first. The prompt shows the last `HISTORY_TURNS` turns, and
            only the end of each long turn.
        words: Words that the reply must contain; empty if the model may use any words.

    Returns:
        The prompt, which ends with the name of the replying speaker.

    Example:
        >>> print(reply_request([Turn("B", "Where is he?")], ["garage"]))
        A: Where is he?
        Words: garage
        B:
    """
    shown = [" ".join(detokenize(turn.text).split()[-TURN_WORDS:]) for turn in history[-HISTORY_TURNS:]]
    asked = [f"Words: {', '.join(words)}"] if words else []
    return "\n".join([*_with_speaker_names(shown), *asked, "B:" if shown else "A:"])


def context_prompt(context: Sequence[str]) -> str:
    """Return the prompt for measuring the perplexity of a response after its context.

    Args:
        context: Texts of the turns before the response, oldest first.

    Returns:
        The turns of the context, and the name of the next speaker.

    Example:
        >>> print(context_prompt(["Is it far?", "No."]))
        A: Is it far?
        B: No.
        A:
    """
    # The first turn is by A, and the speakers alternate. The number of turns thus determines the speaker of
    # the response.
    said = [f"{'AB'[at % 2]}: {one_line(text)}" for at, text in enumerate(context)]
    return "\n".join([*said, f"{'AB'[len(context) % 2]}:"])


def response_prompt(response: str) -> str:
    """Return the prompt for predicting the turn before a given response.

    Args:
        response: Text of the response.

    Returns:
        The prompt, which a model continues with the turn that the response answers.

    Example:
        >>> print(response_prompt("No."))
        B: No.
        This answers A:
    """
    return f"B: {one_line(response)}\nThis answers A:"


def is_trained(model: LanguageModel, task: str) -> bool:
    """Return whether a model was trained for a task, so that its prompts need no solved examples.

    Args:
        model: Local language model whose configuration is checked.
        task: Name of a task that this module defines, for example `FILL_BLANKS`.

    Returns:
        True if the model's configuration contains the name of this task.
    """
    return getattr(model.model.config, TASK, None) == task


def train_for(
    task: str, model: LanguageModel, examples: Sequence[Example], out: str | Path, **arguments: Any
) -> TrainingReport:
    """Fine-tune a model for a task, and store the name of the task in the model's configuration.

    Args:
        task: Name of a task that this module defines, for example `FILL_BLANKS`.
        model: Model to train.
        examples: Prompts with the expected outputs.
        out: Folder to save the trained model in.
        arguments: Further arguments for `graphneg.nn.fine_tuning.fine_tune`.

    Returns:
        A report with the losses of the training.
    """
    # The name of the task is saved with the model, so that generators later leave out the solved examples
    # from the prompts to this model.
    setattr(model.model.config, TASK, task)
    return fine_tune(model, examples, out, **arguments)


def blanks_request(history: Sequence[Turn], marked: str) -> str:
    """Return the prompt for filling all blanks of a reply at once (Gupta et al. 2021, section 3.1).

    Args:
        history: Turns before the reply, oldest first. The prompt shows the last `HISTORY_TURNS` turns.
        marked: Text of the reply, with a mark such as ``[word]`` for each blank.

    Returns:
        The prompt, which the model continues with the texts for the blanks.

    Example:
        >>> print(blanks_request([Turn("B", "Where is he?")], "He is in the [word]."))
        A: Where is he?
        B: He is in the [word].
        Blanks:
    """
    shown = [" ".join(detokenize(turn.text).split()[-TURN_WORDS:]) for turn in history[-HISTORY_TURNS:]]
    return "\n".join([*_with_speaker_names(shown), f"{'B' if shown else 'A'}: {marked}", _BLANKS])


def blank_request(history: Sequence[Turn], marked: str) -> str:
    """Return the prompt for filling the first blank of a reply.

    The prompt ends with the text before the blank, so that the model continues with the missing text.

    Args:
        history: Turns before the reply, oldest first. The prompt shows the last `HISTORY_TURNS` turns.
        marked: Text of the reply, with a mark such as ``[word]`` for each blank.

    Returns:
        The prompt, which the model continues with the text for the first blank.

    Example:
        >>> print(blank_request([Turn("B", "Where is he?")], "He is in the [word] of [phrase]."))
        A: Where is he?
        B: He is in the [word] of [phrase].
        [word]: He is in the
    """
    found = BLANK.search(marked)
    before, kind = (marked, "") if found is None else (marked[: found.start()], found[0])
    # A space at the end of the prompt would be a separate token, after which the model writes worse text.
    return f"{blanks_request(history, marked).removesuffix(_BLANKS)}{kind}: {before}".rstrip()


def _with_speaker_names(texts: Sequence[str]) -> list[str]:
    """Put the names of two alternating speakers before the texts of turns. The last turn is by A."""
    # The reply is by B, so the last turn is by A. Earlier turns alternate between B and A.
    return [f"{'BA'[(len(texts) - at) % 2]}: {text}" for at, text in enumerate(texts)]


def _solved(task: str, requests: Iterable[str], answers: Iterable[str]) -> str:
    """Return a prompt that describes a task and shows example requests with their answers."""
    solved = [f"{request} {answer}" for request, answer in zip(requests, answers, strict=True)]
    return "\n\n".join([task, *solved, ""])


SENTENCE_EXAMPLES = _solved(
    "Write one everyday sentence with the words.",
    (sentence_request([words]) for words, _ in _SENTENCES),
    (sentence for _, sentence in _SENTENCES),
)
"""Text at the beginning of a prompt, with six solved examples of sentences with given words."""
REPLY_EXAMPLES = _solved(
    "Write the next turn of a conversation, with the words in it.",
    (reply_request([Turn("", text) for text in turns], [words]) for turns, words, _ in _REPLIES),
    (reply for _, _, reply in _REPLIES),
)
"""Text at the beginning of a prompt, with six solved examples of replies with given words."""
EXAMPLE_TEXTS = (*(sentence for _, sentence in _SENTENCES), *(reply for _, _, reply in _REPLIES))
"""The sentences and replies in `SENTENCE_EXAMPLES` and `REPLY_EXAMPLES`. Models sometimes copy such an
example from the prompt, and a generated text that does so is rejected."""


def _fill_first_blanks(marked: str, answers: Sequence[str]) -> str:
    for one in answers:
        marked = BLANK.sub(one, marked, count=1)
    return marked


_FILLED = (
    (("How was the trip?",), "The [word] was late, but we [phrase].", ("bus", "saw the whole coast")),
    (("I can't find my keys.", "Not again!"), "[sentence] Did you [word] in the car?", ("Oh no.", "look")),
    (("Who is at the door?",), "It is [phrase] from the [word].", ("a man", "bank")),
    (("Shall we eat out?",), "I would rather [word] here and [phrase].", ("stay", "finish the soup")),
)
"""Solved examples for `FILLED_EXAMPLES` and `FILLED_BLANKS`. Each consists of the turns before a reply, the
reply with blanks, and the texts for the blanks."""
FILLED_EXAMPLES = _solved(
    "Write what stands in the blanks of the last turn.",
    (blanks_request([Turn("", text) for text in turns], marked) for turns, marked, _ in _FILLED),
    (f" {BETWEEN} ".join(answers) for _, _, answers in _FILLED),
)
"""Text at the beginning of a prompt, with four solved examples of filling all blanks of a reply at once."""
FILLED_BLANKS = _solved(
    "Write what stands in the first blank of the last turn.",
    (
        blank_request([Turn("", text) for text in turns], _fill_first_blanks(marked, answers[:nth]))
        for turns, marked, answers in _FILLED
        for nth in range(len(answers))
    ),
    (one for _, _, answers in _FILLED for one in answers),
)
"""Text at the beginning of a prompt, with the replies of `FILLED_EXAMPLES` as solved examples of filling only
one blank."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class IrrelevantResponses:
    """A context with irrelevant responses, which use words of the context but do not answer it.

    Attributes:
        context: Texts of the turns before the responses, oldest first, by two alternating speakers.
        responses: Texts of the irrelevant responses.
    """

    context: tuple[str, ...]
    responses: tuple[str, ...]


def irrelevant_request(examples: Sequence[IrrelevantResponses], turns: Sequence[Turn], amount: int) -> str:
    """Return the prompt for a list of irrelevant responses (Lee et al. 2022, section 3).

    Args:
        examples: Solved examples to show before the request.
        turns: Turns of the context for which irrelevant responses are needed.
        amount: Number of responses to ask for. Each solved example shows at most this number of responses.

    Returns:
        The prompt, which the model continues with a numbered list.

    Example:
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
    """Number texts from 1, as the items of a list.

    Args:
        texts: Texts of the list items, each on one line.

    Returns:
        The texts, each with its number before it.

    Example:
        >>> enumerated(["We left.", "I like tea."])
        ['1. We left.', '2. I like tea.']
    """
    return [f"{number}. {text}" for number, text in enumerate(texts, 1)]


def _dialogue(texts: Sequence[str]) -> str:
    """Return the part of a prompt that shows a context, up to the heading "Irrelevant responses:"."""
    said = [f"{'AB'[at % 2]}: {one_line(detokenize(text))}" for at, text in enumerate(texts)]
    return "\n".join(["Dialogue context:", *said, "Irrelevant responses:"])

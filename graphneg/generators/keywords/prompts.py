"""What a language model is asked: the request for one text, and solved examples to put before it.

A model that was trained for the task (`training`) gets the request alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.generators.base import Turn
from graphneg.generators.keywords.spacing import closed_up

HISTORY_TURNS = 2
TURN_WORDS = 30
"""So much of a history is shown: its last turns, and of each the last words."""

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


def sentence_request(words: Sequence[str]) -> str:
    """The request for a sentence with these words.

    >>> sentence_request(["ladder", "garage"])
    'Words: ladder, garage\\nSentence:'
    """
    return f"Words: {', '.join(words)}\nSentence:"


def reply_request(history: Sequence[Turn], words: Sequence[str]) -> str:
    """The request for a reply to a history that has these words in it.

    >>> print(reply_request([Turn("B", "Where is he?")], ["garage"]))
    A: Where is he?
    Words: garage
    B:
    """
    said, speaker = _said(history)
    return "\n".join([*said, f"Words: {', '.join(words)}", f"{speaker}:"])


def turns_before(history: Sequence[Turn]) -> str:
    """What stands before a reply to a history where nobody asks for words.

    >>> print(turns_before([Turn("B", "Where is he?")]))
    A: Where is he?
    B:
    """
    said, speaker = _said(history)
    return "\n".join([*said, f"{speaker}:"])


def sentence_examples() -> str:
    """Six requests for sentences with their answers."""
    solved = [f"{sentence_request([words])} {sentence}" for words, sentence in _SENTENCES]
    return "Write one everyday sentence with the words.\n\n" + "\n\n".join(solved) + "\n\n"


def reply_examples() -> str:
    """Six requests for replies with their answers."""
    solved = [
        f"{reply_request([Turn('BA'[place % 2], said) for place, said in enumerate(turns)], [words])} {reply}"
        for turns, words, reply in _REPLIES
    ]
    return "Write the next turn of a conversation, with the words in it.\n\n" + "\n\n".join(solved) + "\n\n"


def example_texts() -> tuple[str, ...]:
    """The answers of all examples: a model that repeats one has not written anything."""
    return (*(sentence for _, sentence in _SENTENCES), *(reply for _, _, reply in _REPLIES))


def _said(history: Sequence[Turn]) -> tuple[list[str], str]:
    """The lines of a history that are shown, and the name of who is next."""
    shown = list(history)[-HISTORY_TURNS:]
    names = _names([turn.speaker for turn in shown])
    said = [f"{name}: {_end_of(turn.text)}" for name, turn in zip(names, shown, strict=True)]
    return said, "A" if not names or names[-1] == "B" else "B"


def _end_of(text: str) -> str:
    return " ".join(closed_up(text).split()[-TURN_WORDS:])


def _names(speakers: Sequence[str]) -> list[str]:
    """Speakers as A and B, by turns: the last two of a conversation are never the same one."""
    last = len(speakers) - 1
    return ["AB"[(last - place) % 2] for place in range(len(speakers))]

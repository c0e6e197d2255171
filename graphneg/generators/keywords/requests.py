"""What a language model is asked: keywords of a context, neighbours in their place, solved examples."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from graphneg.english.detokenize import closed_up
from graphneg.errors import InputError, ModelError
from graphneg.generators.base import Context, Turn
from graphneg.generators.counterfactual_model import TASK
from graphneg.generators.keywords.filters import (
    FUNCTION_WORDS,
    WORDS_OF_TALK,
    Limits,
    classes,
    lemmas,
    refusal,
)
from graphneg.hashing import number, shuffled
from graphneg.ingest.rows import utterance_id
from graphneg.nn.fine_tuning import Example, TrainingReport, fine_tune
from graphneg.nn.language_models import CausalLM, LanguageModel
from graphneg.progress import Progress
from graphneg.shift.keywords import Keyword, KeywordExtractor
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, StoredDialogue, dialogue_ids, read_dialogues

# What a request is made of: keywords of a context, neighbours in their place, another history.
#
# All choices are hashes of the seed and the place of the response: they depend on nothing else.


BEST = 8
"""Keywords are drawn from so many of a context, the most salient ones."""

LONGEST_KEYWORD = 2
"""Longer ones are rarely repeated word for word, by people or models."""

NEIGHBOURS = 10
_HALF = 2**63
_SHORTEST_WORD = 3

Words = tuple[str, ...]
"""The words of one keyword, as a text would have them."""


class Neighbourhood(Protocol):
    """Words near a word: `graphneg.nn.vectors.StaticVectors`."""

    def neighbours(self, word: str, k: int) -> list[tuple[str, float]]: ...


@dataclass(frozen=True, slots=True)
class Amount:
    """From ``least`` to ``most`` keywords. Raises `InputError` where that is no range."""

    least: int = 1
    most: int = 2

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise InputError(f"keywords from {self.least} to {self.most}: the first must be 1 or more")


def keywords_of(
    extractor: KeywordExtractor, texts: Sequence[str], language: str = "en"
) -> list[list[Keyword]]:
    """The usable keywords of each text, the most salient first: short, and of more than function words.

    In English the last word may be a noun or is a name: a small model writes sense about things, and
    little about *let* or *seem*.
    """
    found = extractor.extract(texts)
    return [
        [one for one in some if _usable(one) and (language != "en" or _nominal(one, text))][:BEST]
        for some, text in zip(found, texts, strict=True)
    ]


def drawn(
    keywords: Sequence[Keyword], amount: Amount, seed: int, id: str, text: str = ""
) -> tuple[Words, ...]:
    """Some of the keywords; fewer than ``amount.least`` only where there are not so many.

    No two of them share a word. They are in lower case, but for names: words that ``text``, where the
    keywords are from, never writes small.
    """
    wanted = amount.least + number(seed, "amount", id) % (amount.most - amount.least + 1)
    chosen: list[Words] = []
    for key in shuffled([one.text for one in keywords], seed, "keywords", id):
        words = next(tuple(one_case(word, text) for word in one.words) for one in keywords if one.text == key)
        if not any(set(words) & set(other) for other in chosen):
            chosen.append(words)
        if len(chosen) == wanted:
            break
    return tuple(chosen)


def one_case(word: str, text: str) -> str:
    """The word as it is where ``text`` has it with a capital inside a sentence, else in lower case.

    >>> one_case("July", "It was in July."), one_case("Wait", "Wait for me."), one_case("Wait", "")
    ('July', 'wait', 'wait')
    """
    inside = re.search(rf"[a-z,] {re.escape(word)}\b", text) is not None
    return word if inside else word.lower()


def with_neighbours(
    vectors: Neighbourhood, keywords: Sequence[Words], seed: int, id: str
) -> tuple[Words, ...]:
    """The keywords, each replaced with probability 0.5 by one that is near it (Gupta et al., 2021).

    The last word of a keyword is exchanged, for one that may be of the same part of speech. It stays where
    the vectors do not know it, and where it is a name.
    """
    return tuple(
        _neighbour(words, vectors, seed, id) if number(seed, "replace", id, *words) < _HALF else words
        for words in keywords
    )


class History(NamedTuple):
    """The first turns of a dialogue; ``id`` is the place of the last of them."""

    id: str
    turns: tuple[Turn, ...]


class Histories:
    """What was said in other dialogues of a store, up to some turn."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, contexts: Sequence[Context], ids: Sequence[str], seed: int) -> list[History | None]:
        """For each context a history from another dialogue, drawn by its id in ``ids``; None where
        the store holds no other.

        Raises:
            StoreError: the store is gone.
        """
        pairs = zip(contexts, ids, strict=True)
        drawn = [self._other(context.dialogue, seed, id) for context, id in pairs]
        wanted = sorted({one for one in drawn if one is not None})
        found = {one.id: one for one in read_dialogues(self._store, wanted)}
        return [
            _beginning(found[one], seed, id) if one in found else None
            for one, id in zip(drawn, ids, strict=True)
        ]

    @cached_property
    def _dialogues(self) -> list[str]:
        return list(dialogue_ids(self._store, Selection()))

    def _other(self, dialogue: str, seed: int, id: str) -> str | None:
        known = self._dialogues
        others = len(known) - (dialogue in self._places)
        if others < 1:
            return None
        place = number(seed, "history", id) % others
        return known[place + (place >= self._places.get(dialogue, len(known)))]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {id: place for place, id in enumerate(self._dialogues)}


def _beginning(dialogue: StoredDialogue, seed: int, id: str) -> History | None:
    if not dialogue.turns:
        return None
    shown = dialogue.turns[: 1 + number(seed, "turn", id) % len(dialogue.turns)]
    last = utterance_id(dialogue.id, shown[-1].turn)
    return History(last, tuple(Turn(turn.speaker, turn.text) for turn in shown))


def _usable(keyword: Keyword) -> bool:
    words = [word.lower() for word in keyword.words]
    return len(words) <= LONGEST_KEYWORD and all(
        word.replace("-", "").isalpha()
        and len(word) >= _SHORTEST_WORD
        and word not in FUNCTION_WORDS
        and word not in WORDS_OF_TALK
        for word in words
    )


def _nominal(keyword: Keyword, text: str) -> bool:
    last = keyword.words[-1]
    return "NOUN" in classes(last) or one_case(last, text) != last.lower()


def _neighbour(words: Words, vectors: Neighbourhood, seed: int, id: str) -> Words:
    *first, last = words
    if last != last.lower():
        return words
    near = [
        word
        for word, _ in vectors.neighbours(last.lower(), NEIGHBOURS)
        if word.isalpha() and len(word) >= _SHORTEST_WORD and not lemmas(word) & lemmas(last)
        if classes(word) & classes(last) or not classes(word) | classes(last)
    ]
    if not near:
        return words
    return (*first, near[number(seed, "neighbour", id, *words) % len(near)])


# What a language model is asked: the request for one text, and solved examples to put before it.
#
# A model that was trained for the task (`training`) gets the request alone.


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


# The responses that are wanted, and what each is made of: keywords of its context, another history.


Replacing = Callable[[Sequence[Words], int, str], tuple[Words, ...]]


@dataclass(frozen=True, slots=True)
class Slot:
    """One response that is wanted: the place of its context, the keywords there, the history shown."""

    id: str
    place: int
    text: str
    keywords: tuple[Keyword, ...]
    history: History | None


@dataclass(frozen=True, slots=True)
class Wish:
    """A slot with the keywords that its texts shall have this time."""

    slot: Slot
    id: str
    keywords: tuple[Words, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """Each keyword as a text."""
        return tuple(" ".join(words) for words in self.keywords)


@dataclass(frozen=True, slots=True)
class Material:
    """Where keywords and histories are from: ``histories`` is None where no history is shown,
    ``replacing`` where keywords stay as they are; ``language`` is that of the texts."""

    extractor: KeywordExtractor
    amount: Amount
    histories: Histories | None = None
    replacing: Replacing | None = None
    language: str = "en"

    def slots(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> tuple[list[Slot], list[tuple[str, int]]]:
        """The responses that can be written, and for each other one why not and its context's place."""
        texts = [" ".join(turn.text for turn in context.turns) for context in contexts]
        keywords = keywords_of(self.extractor, texts, self.language)
        places = [place for place, found in enumerate(keywords) for _ in range(per_context) if found]
        missing = [
            ("no-keywords", place)
            for place, found in enumerate(keywords)
            for _ in range(per_context)
            if not found
        ]
        ids = [f"{contexts[place].id}/{n % per_context:03}" for n, place in enumerate(places)]
        shown: Sequence[History | None] = [None] * len(places)
        if self.histories is not None:
            shown = self.histories.of([contexts[place] for place in places], ids, seed)
        slots: list[Slot] = []
        for place, id, history in zip(places, ids, shown, strict=True):
            if self.histories is not None and history is None:
                missing.append(("no-history", place))
            else:
                slots.append(Slot(id, place, texts[place], tuple(keywords[place]), history))
        return slots, missing

    def wish(self, slot: Slot, draw: int, seed: int) -> Wish:
        """The keywords of one draw: another draw has others, if there are any."""
        id = f"{slot.id}/{draw}"
        words = drawn(slot.keywords, self.amount, seed, id, slot.text)
        if self.replacing is not None:
            words = self.replacing(words, seed, id)
        return Wish(slot, id, words)


# Training a language model to reply with given words, on the dialogues of a store.
#
# Gupta et al. (2021, section 3.2) train it on the right response, its own history and its
# own keywords; what is wrong about a generated response comes from showing another history.


REPLY_WITH_WORDS = "reply-with-words"
_BATCH = 500


def is_trained(model: LanguageModel) -> bool:
    """Whether a model was trained by `train_replies`: then it needs no examples."""
    return getattr(model.model.config, TASK, None) == REPLY_WITH_WORDS


def reply_pairs(
    contexts: Iterable[Context], extractor: KeywordExtractor, amount: Amount | None = None, seed: int = 0
) -> Iterator[Example]:
    """The request for each right response, with keywords of its own, and the response.

    Responses without a keyword are left out, and so is what would be refused of a model: what it should
    not write, it should not learn. Memory is flat.
    """
    amount = amount or Amount()
    pairs = ((one, f"{one.id}/{n}", text) for one in contexts for n, text in enumerate(one.positives))
    while part := list(islice(pairs, _BATCH)):
        found = keywords_of(extractor, [text for _, _, text in part])
        for (context, id, text), keywords in zip(part, found, strict=True):
            wanted = drawn(keywords, amount, seed, id, text)
            reply = closed_up(text)
            if wanted and refusal(reply, wanted, replace(context, positives=()), Limits()) is None:
                words = [" ".join(each) for each in wanted]
                yield Example(reply_request(context.turns, words), f" {reply}")


def train_replies(
    model: LanguageModel,
    contexts: Iterable[Context],
    extractor: KeywordExtractor,
    out: str | Path,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    **arguments: Any,
) -> TrainingReport:
    """Train ``model`` on the contexts' right responses, and save it for ``key-context`` and ``key-sem``.

    ``arguments`` are those of transformers' ``TrainingArguments``.

    Raises:
        InputError: no context has a right response with a keyword, or ``out`` is taken.
        ModelError: the model is no causal one.
    """
    if not isinstance(model, CausalLM):
        raise ModelError(f"{model.path}: key-context and key-sem need a causal language model")
    examples = list(reply_pairs(contexts, extractor, seed=seed))
    if not examples:
        raise InputError("no context has a right response with a keyword, so there is nothing to learn")
    setattr(model.model.config, TASK, REPLY_WITH_WORDS)
    return fine_tune(model, examples, out, seed=seed, progress=progress, **arguments)

"""What is asked of a writer for a context: keywords of it, neighbours in their place, another history.

Contexts go in; a `Slot` for each response that can be written comes out, and for each draw an `Attempt`: the
slot with its keywords. All choices are hashes of the seed and the response's address: they depend on nothing
else. `train_replies` trains a model for such requests.
"""

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
from graphneg.generators.prompts import REPLY_WITH_WORDS, reply_request, train_for
from graphneg.generators.text_filters import (
    FUNCTION_WORDS,
    WORDS_OF_TALK,
    Limits,
    classes,
    lemmas,
    refusal,
)
from graphneg.hashing import number, shuffled
from graphneg.ingest.rows import utterance_id
from graphneg.nn.fine_tuning import Example, TrainingReport
from graphneg.nn.language_models import CausalLM, LanguageModel
from graphneg.shift.keywords import Keyword, KeywordExtractor
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, StoredDialogue, dialogue_ids, read_dialogues

BEST = 8
"""Keywords are drawn from so many of a context, the most salient ones."""
LONGEST_KEYWORD = 2
"""Longer ones are rarely repeated word for word, by people or models."""
NEIGHBOURS = 10
_HALF = 2**63
_SHORTEST_WORD = 3
_BATCH = 500

Words = tuple[str, ...]
"""The words of one keyword, as a text would have them."""
Replacing = Callable[[Sequence[Words], int, str], tuple[Words, ...]]


class WordVectors(Protocol):
    """Knows words near a word: `graphneg.nn.vectors.StaticVectors`."""

    def neighbours(self, word: str, k: int) -> list[tuple[str, float]]:
        """The ``k`` words nearest to one, with their cosines."""
        ...


@dataclass(frozen=True, slots=True)
class Amount:
    """From ``least`` to ``most`` keywords. Raises `InputError` where that is no range."""

    least: int = 1
    most: int = 2

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise InputError(f"keywords from {self.least} to {self.most}: the first must be 1 or more")


class History(NamedTuple):
    """The first turns of a dialogue; ``id`` is that of the last of them."""

    id: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """One response to be written: the index of its context, the keywords there, the history shown."""

    id: str
    context: int
    text: str
    keywords: tuple[Keyword, ...]
    history: History | None

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the history that is shown; none where none is."""
        return self.history.turns if self.history is not None else ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """A slot with the keywords that its texts shall have this time."""

    slot: Slot
    id: str
    keywords: tuple[Words, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """Each keyword as a text."""
        return tuple(" ".join(words) for words in self.keywords)


def keywords_of(
    extractor: KeywordExtractor, texts: Sequence[str], language: str = "en"
) -> list[list[Keyword]]:
    """The usable keywords of each text, the most salient first: short, and of more than function words.

    In English the last word may be a noun or is a name: a small model writes sense about things, and
    little about *let* or *seem*.
    """
    return [
        [word for word in found if _usable(word) and (language != "en" or _nominal(word, text))][:BEST]
        for found, text in zip(extractor.extract(texts), texts, strict=True)
    ]


def drawn(
    keywords: Sequence[Keyword], amount: Amount, seed: int, id: str, text: str = ""
) -> tuple[Words, ...]:
    """Some of the keywords; fewer than ``amount.least`` only where there are not so many.

    No two of them share a word. They are in lower case, but for names: words that ``text``, where the
    keywords are from, never writes small.
    """
    most = amount.least + number(seed, "amount", id) % (amount.most - amount.least + 1)
    by_key = {keyword.text: keyword for keyword in reversed(keywords)}
    chosen: list[Words] = []
    for key in shuffled(by_key, seed, "keywords", id):
        words = tuple(truecased(word, text) for word in by_key[key].words)
        if not any(set(words) & set(other) for other in chosen):
            chosen.append(words)
        if len(chosen) == most:
            break
    return tuple(chosen)


def truecased(word: str, text: str) -> str:
    """The word as it is where ``text`` has it with a capital inside a sentence, else in lower case.

    >>> truecased("July", "It was in July."), truecased("Wait", "Wait for me."), truecased("Wait", "")
    ('July', 'wait', 'wait')
    """
    inside = re.search(rf"[a-z,] {re.escape(word)}\b", text) is not None
    return word if inside else word.lower()


def with_neighbours(vectors: WordVectors, keywords: Sequence[Words], seed: int, id: str) -> tuple[Words, ...]:
    """The keywords, each replaced with probability 0.5 by one that is near it (Gupta et al., 2021).

    The last word of a keyword is exchanged, for one that may be of the same part of speech. It stays where
    the vectors do not know it, and where it is a name.
    """
    return tuple(
        _neighbour(words, vectors, seed, id) if number(seed, "replace", id, *words) < _HALF else words
        for words in keywords
    )


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
        others = [self._other(context.dialogue, seed, id) for context, id in pairs]
        read = read_dialogues(self._store, sorted({other for other in others if other is not None}))
        known = {dialogue.id: dialogue for dialogue in read}
        return [
            _beginning(known[other], seed, id) if other in known else None
            for other, id in zip(others, ids, strict=True)
        ]

    @cached_property
    def _indexes(self) -> dict[str, int]:
        return {id: index for index, id in enumerate(dialogue_ids(self._store, Selection()))}

    @cached_property
    def _dialogues(self) -> list[str]:
        return list(self._indexes)

    def _other(self, dialogue: str, seed: int, id: str) -> str | None:
        known = self._dialogues
        others = len(known) - (dialogue in self._indexes)
        if others < 1:
            return None
        index = number(seed, "history", id) % others
        return known[index + (index >= self._indexes.get(dialogue, len(known)))]


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
        """The responses that can be written, and for each other one why not and its context's index."""
        texts = [context.text for context in contexts]
        keywords = keywords_of(self.extractor, texts, self.language)
        repeated = [at for at in range(len(contexts)) for _ in range(per_context)]
        missing = [("no-keywords", at) for at in repeated if not keywords[at]]
        usable = [at for at in repeated if keywords[at]]
        ids = [f"{contexts[at].id}/{n % per_context:03}" for n, at in enumerate(usable)]
        shown: Sequence[History | None] = [None] * len(usable)
        if self.histories is not None:
            shown = self.histories.of([contexts[at] for at in usable], ids, seed)
        slots: list[Slot] = []
        for at, id, history in zip(usable, ids, shown, strict=True):
            if self.histories is not None and history is None:
                missing.append(("no-history", at))
            else:
                slots.append(Slot(id, at, texts[at], tuple(keywords[at]), history))
        return slots, missing

    def attempt(self, slot: Slot, draw: int, seed: int) -> Attempt:
        """The keywords of one draw: another draw has others, if there are any."""
        id = f"{slot.id}/{draw}"
        words = drawn(slot.keywords, self.amount, seed, id, slot.text)
        return Attempt(slot, id, self.replacing(words, seed, id) if self.replacing else words)


def reply_pairs(
    contexts: Iterable[Context], extractor: KeywordExtractor, amount: Amount | None = None, seed: int = 0
) -> Iterator[Example]:
    """The request for each right response, with keywords of its own, and the response.

    Gupta et al. (2021, section 3.2) train on the right response, its own history and its own keywords; what
    is wrong about a generated response comes from showing another history. Responses without a keyword are
    left out, and so is what would be refused of a model: what it should not write, it should not learn.
    Memory is flat.
    """
    amount = amount or Amount()
    pairs = (
        (context, f"{context.id}/{n}", text)
        for context in contexts
        for n, text in enumerate(context.positives)
    )
    while part := list(islice(pairs, _BATCH)):
        found = keywords_of(extractor, [text for _, _, text in part])
        for (context, id, text), keywords in zip(part, found, strict=True):
            chosen = drawn(keywords, amount, seed, id, text)
            reply = closed_up(text)
            if chosen and refusal(reply, chosen, replace(context, positives=()), Limits()) is None:
                words = [" ".join(each) for each in chosen]
                yield Example(reply_request(context.turns, words), f" {reply}")


def train_replies(
    model: LanguageModel,
    contexts: Iterable[Context],
    extractor: KeywordExtractor,
    out: str | Path,
    *,
    seed: int = 0,
    **arguments: Any,
) -> TrainingReport:
    """Train ``model`` on the contexts' right responses, and save it for ``key-context`` and ``key-sem``.

    ``arguments`` are those of transformers' ``TrainingArguments`` and of `fine_tune`.

    Raises:
        InputError: no context has a right response with a keyword, or ``out`` is taken.
        ModelError: the model is no causal one.
    """
    if not isinstance(model, CausalLM):
        raise ModelError(f"{model.path}: key-context and key-sem need a causal language model")
    examples = list(reply_pairs(contexts, extractor, seed=seed))
    if not examples:
        raise InputError("no context has a right response with a keyword, so there is nothing to learn")
    return train_for(REPLY_WITH_WORDS, model, examples, out, seed=seed, **arguments)


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
    return "NOUN" in classes(last) or truecased(last, text) != last.lower()


def _neighbour(words: Words, vectors: WordVectors, seed: int, id: str) -> Words:
    *first, last = words
    if last != last.lower():
        return words
    near = [
        word
        for word, _ in vectors.neighbours(last, NEIGHBOURS)
        if word.isalpha() and len(word) >= _SHORTEST_WORD and not lemmas(word) & lemmas(last)
        if classes(word) & classes(last) or not classes(word) | classes(last)
    ]
    if not near:
        return words
    return (*first, near[number(seed, "neighbour", id, *words) % len(near)])

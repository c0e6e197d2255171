"""What is asked of a writer for a context: keywords of it, neighbours in their place, another history.

Texts go in, their usable keywords and drawn ones come out; contexts go in, beginnings of other dialogues come
out. All choices are hashes of the seed and the response's address: they depend on nothing else.
`train_replies` trains a model for such requests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from graphneg.english.tokens import closed_up
from graphneg.english.words import lemmas, readings
from graphneg.errors import GeneratorError, InputError, ModelError
from graphneg.generators.base import Context, Turn
from graphneg.generators.prompts import REPLY_WITH_WORDS, reply_request, train_for
from graphneg.generators.text_filters import FUNCTION_WORDS, LENGTHS, WORDS_OF_TALK, refusal
from graphneg.hashing import number, shuffled
from graphneg.ingest.rows import utterance_id
from graphneg.nn.fine_tuning import Example, TrainingReport
from graphneg.nn.language_models import CausalLM, LanguageModel
from graphneg.shift.keywords import Keyword, KeywordExtractor
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, StoredDialogue, dialogue_ids, read_dialogues
from graphneg.store.snapshots import stored_snapshot

BEST = 8
"""Keywords are drawn from so many of a context, the most salient ones."""
LONGEST_KEYWORD = 2
"""Longer ones are rarely repeated word for word, by people or models."""
NEIGHBOURS = 10
LEARNED = (1, 2)
"""From so many keywords to so many a model learns to reply with."""
_HALF = 2**63
_SHORTEST_WORD = 3
_BATCH = 500

Words = tuple[str, ...]
"""The words of one keyword, as a text would have them."""
Neighbours = Callable[[str, int], list[tuple[str, float]]]
"""So many words near a word, with their cosines: `graphneg.nn.vectors.StaticVectors.neighbours`."""


class History(NamedTuple):
    """The first turns of a dialogue; ``id`` is that of the last of them."""

    id: str
    turns: tuple[Turn, ...]


def keywords_of(
    extractor: KeywordExtractor, texts: Sequence[str], language: str = "en"
) -> list[list[Keyword]]:
    """The usable keywords of each text, the most salient first: short, and of more than function words.

    In English the last word may be a noun or is a name: a small model writes sense about things, and
    little about *let* or *seem*.
    """

    def is_usable(keyword: Keyword, text: str) -> bool:
        words = [word.lower() for word in keyword.words]
        is_noun = language != "en" or "NOUN" in readings(words[-1])
        is_thing = is_noun or truecased(keyword.words[-1], text) != words[-1]
        return (
            is_thing
            and len(words) <= LONGEST_KEYWORD
            and all(
                word.replace("-", "").isalpha()
                and len(word) >= _SHORTEST_WORD
                and word not in FUNCTION_WORDS
                and word not in WORDS_OF_TALK
                for word in words
            )
        )

    found = zip(extractor.extract(texts), texts, strict=True)
    return [[keyword for keyword in some if is_usable(keyword, text)][:BEST] for some, text in found]


def drawn(
    keywords: Sequence[Keyword], amount: tuple[int, int], seed: int, id: str, text: str = ""
) -> tuple[Words, ...]:
    """Some of the keywords: from ``amount[0]`` to ``amount[1]``, fewer only where there are not so many.

    No two of them share a word. They are in lower case, but for names: words that ``text``, where the
    keywords are from, never writes small.
    """
    least, most = amount
    drawn_amount = least + number(seed, "amount", id) % (most - least + 1)
    by_key = {keyword.text: keyword for keyword in reversed(keywords)}
    chosen: list[Words] = []
    for key in shuffled(by_key, seed, "keywords", id):
        words = tuple(truecased(word, text) for word in by_key[key].words)
        if not any(set(words) & set(other) for other in chosen):
            chosen.append(words)
        if len(chosen) == drawn_amount:
            break
    return tuple(chosen)


def truecased(word: str, text: str) -> str:
    """The word as it is where ``text`` has it with a capital inside a sentence, else in lower case.

    >>> truecased("July", "It was in July."), truecased("Wait", "Wait for me."), truecased("Wait", "")
    ('July', 'wait', 'wait')
    """
    inside = re.search(rf"[a-z,] {re.escape(word)}\b", text) is not None
    return word if inside else word.lower()


def with_neighbours(near: Neighbours, keywords: Sequence[Words], seed: int, id: str) -> tuple[Words, ...]:
    """The keywords, each replaced with probability 0.5 by one that is near it (Gupta et al., 2021).

    The last word of a keyword is exchanged, for one that may be of the same part of speech. It stays where
    the vectors do not know it, and where it is a name.
    """
    changed: list[Words] = []
    for words in keywords:
        *first, last = words
        classes = readings(last.lower()).keys()
        replaced = last == last.lower() and number(seed, "replace", id, *words) < _HALF
        fitting = [
            word
            for word, _ in (near(last, NEIGHBOURS) if replaced else ())
            if word.isalpha() and len(word) >= _SHORTEST_WORD and not lemmas(word) & lemmas(last)
            for others in [readings(word.lower()).keys()]
            if classes & others or not (classes or others)
        ]
        chosen = fitting[number(seed, "neighbour", id, *words) % len(fitting)] if fitting else last
        changed.append((*first, chosen))
    return tuple(changed)


class Histories:
    """What was said in other dialogues of a store, up to some turn."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @cached_property
    def _ids(self) -> list[str]:
        if stored_snapshot(self._store) is not None:
            raise GeneratorError(
                "this generator shows what was said in any other dialogue, and this store has those of a "
                "shard: let all shards read one store"
            )
        return list(dialogue_ids(self._store, Selection()))

    @cached_property
    def _indexes(self) -> dict[str, int]:
        return {id: index for index, id in enumerate(self._ids)}

    def of(self, contexts: Sequence[Context], ids: Sequence[str], seed: int) -> list[History | None]:
        """For each context a history from another dialogue, drawn by its id in ``ids``; None where
        the store holds no other.

        Raises:
            StoreError: the store is gone.
        """
        others: list[str | None] = []
        for context, id in zip(contexts, ids, strict=True):
            own = self._indexes.get(context.dialogue, len(self._ids))
            amount = len(self._ids) - (context.dialogue in self._indexes)
            index = number(seed, "history", id) % max(amount, 1)
            others.append(self._ids[index + (index >= own)] if amount else None)
        read = read_dialogues(self._store, sorted({other for other in others if other is not None}))
        known = {dialogue.id: dialogue for dialogue in read}
        return [_beginning(known.get(other or ""), seed, id) for other, id in zip(others, ids, strict=True)]


def _beginning(dialogue: StoredDialogue | None, seed: int, id: str) -> History | None:
    if dialogue is None or not dialogue.turns:
        return None
    shown = dialogue.turns[: 1 + number(seed, "turn", id) % len(dialogue.turns)]
    last = utterance_id(dialogue.id, shown[-1].turn)
    return History(last, tuple(Turn(turn.speaker, turn.text) for turn in shown))


def reply_pairs(contexts: Iterable[Context], extractor: KeywordExtractor, seed: int = 0) -> Iterator[Example]:
    """The request for each right response, with keywords of its own, and the response.

    Gupta et al. (2021, section 3.2) train on the right response, its own history and its own keywords; what
    is wrong about a generated response comes from showing another history. Responses without a keyword are
    left out, and so is what would be refused of a model: what it should not write, it should not learn.
    Memory is flat.
    """
    pairs = (
        (context, f"{context.id}/{n}", text)
        for context in contexts
        for n, text in enumerate(context.positives)
    )
    while part := list(islice(pairs, _BATCH)):
        found = keywords_of(extractor, [text for _, _, text in part])
        for (context, id, text), keywords in zip(part, found, strict=True):
            chosen = drawn(keywords, LEARNED, seed, id, text)
            reply = closed_up(text)
            if chosen and refusal(reply, chosen, replace(context, positives=(), copies={}), LENGTHS) is None:
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
    examples = list(reply_pairs(contexts, extractor, seed))
    if not examples:
        raise InputError("no context has a right response with a keyword, so there is nothing to learn")
    return train_for(REPLY_WITH_WORDS, model, examples, out, seed=seed, **arguments)

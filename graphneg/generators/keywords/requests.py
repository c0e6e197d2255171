"""Choose what to ask a language model for: keywords of a context, and the history of another dialogue.

`keywords_of` extracts usable keywords, `drawn` draws some of them, and `with_neighbours` replaces some by
near words. `Histories` draws the beginning of another dialogue. All choices are hashes of the seed and the
response's id and depend on nothing else. `train_replies` trains a model on such requests::

    context    A: Where is the boat now? B: It is on the river.
    keywords   boat, river
    history    A: How was the concert last night?          (another dialogue)
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
"""Number of most salient keywords of a context to draw from."""
LONGEST_KEYWORD = 2
"""Maximum number of words of a keyword. Neither people nor models often repeat a longer one word for word."""
NEIGHBOURS = 10
"""Number of near words to draw a replacement from."""
LEARNED = (1, 2)
"""Minimum and maximum number of keywords in a training example."""
_HALF = 2**63
"""Half of the range of a 64-bit hash: a probability of 0.5."""
_SHORTEST_WORD = 3
"""Minimum length of a keyword's words."""
_BATCH = 500
"""Number of responses whose keywords are extracted at a time."""

Words = tuple[str, ...]
"""The words of one keyword, as a text would have them."""
Neighbours = Callable[[str, int], list[tuple[str, float]]]
"""Returns the nearest words of a word with their cosines, given their number. See
`graphneg.nn.vectors.StaticVectors.neighbours`."""


class History(NamedTuple):
    """The first turns of a dialogue.

    Attributes:
        id: Id of the last of these turns.
        turns: The turns.
    """

    id: str
    turns: tuple[Turn, ...]


def keywords_of(
    extractor: KeywordExtractor, texts: Sequence[str], language: str = "en"
) -> list[list[Keyword]]:
    """Extract the usable keywords of texts.

    A usable keyword is short and has no function words. In English its last word must be a possible noun or a
    name: small models write sensible texts about things, but not about *let* or *seem*.

    Args:
        extractor: Keyword extractor.
        texts: Texts.
        language: Language of the texts, as a two-letter code.

    Returns:
        The usable keywords of each text, the most salient first, at most `BEST`.
    """

    def is_usable(keyword: Keyword, text: str) -> bool:
        words = [word.lower() for word in keyword.words]
        is_noun = language != "en" or "NOUN" in readings(words[-1])
        # A name need not be in the dictionary.
        is_thing = is_noun or truecased(keyword.words[-1], text) != words[-1]
        return (
            is_thing
            and len(words) <= LONGEST_KEYWORD
            and all(
                word.replace("-", "").isalpha()
                and len(word) >= _SHORTEST_WORD
                and word not in FUNCTION_WORDS
                # "Thank you" and "please" are about nothing.
                and word not in WORDS_OF_TALK
                for word in words
            )
        )

    found = zip(extractor.extract(texts), texts, strict=True)
    return [[keyword for keyword in some if is_usable(keyword, text)][:BEST] for some, text in found]


def drawn(
    keywords: Sequence[Keyword], amount: tuple[int, int], seed: int, id: str, text: str = ""
) -> tuple[Words, ...]:
    """Draw keywords, no two of which share a word.

    Keywords are in lower case. Only names keep their capitals: words that ``text`` writes with a capital
    inside a sentence.

    Args:
        keywords: Keywords to draw from.
        amount: Minimum and maximum number to draw; there may be fewer keywords.
        seed: Seed of the draw.
        id: Id of the response. Together with the seed it decides the draw.
        text: The text that the keywords come from.

    Returns:
        The words of each keyword drawn.
    """
    least, most = amount
    drawn_amount = least + number(seed, "amount", id) % (most - least + 1)
    # The first of equal keywords counts.
    by_key = {keyword.text: keyword for keyword in reversed(keywords)}
    chosen: list[Words] = []
    for key in shuffled(by_key, seed, "keywords", id):
        words = tuple(truecased(word, text) for word in by_key[key].words)
        # "blue jacket" and "jacket" would ask for the same word twice.
        if not any(set(words) & set(other) for other in chosen):
            chosen.append(words)
        if len(chosen) == drawn_amount:
            break
    return tuple(chosen)


def truecased(word: str, text: str) -> str:
    """Return a word in lower case unless it is a name.

    Args:
        word: A word.
        text: Text of the word. A word that has a capital inside a sentence of it is a name.

    Returns:
        The word, in lower case if it is no name.

    Example:
        >>> truecased("July", "It was in July."), truecased("Wait", "Wait for me."), truecased("Wait", "")
        ('July', 'wait', 'wait')
    """
    inside = re.search(rf"[a-z,] {re.escape(word)}\b", text) is not None
    return word if inside else word.lower()


def with_neighbours(near: Neighbours, keywords: Sequence[Words], seed: int, id: str) -> tuple[Words, ...]:
    """Replace each keyword with probability 0.5 by a near one (Gupta et al. 2021).

    The last word of the keyword is replaced by a word that can have the same part of speech. Names, and words
    without a vector, are not replaced.

    Args:
        near: Returns the nearest words of a word.
        keywords: Words of each keyword.
        seed: Seed of the choice.
        id: Id of the response. Together with the seed it decides the choice.

    Returns:
        The keywords, some of them replaced.
    """
    changed: list[Words] = []
    for words in keywords:
        *first, last = words
        classes = readings(last.lower()).keys()
        replaced = last == last.lower() and number(seed, "replace", id, *words) < _HALF
        fitting = [
            word
            for word, _ in (near(last, NEIGHBOURS) if replaced else ())
            # "boat" must not become "boats".
            if word.isalpha() and len(word) >= _SHORTEST_WORD and not lemmas(word) & lemmas(last)
            for others in [readings(word.lower()).keys()]
            # If the dictionary knows neither word, their parts of speech cannot be compared.
            if classes & others or not (classes or others)
        ]
        chosen = fitting[number(seed, "neighbour", id, *words) % len(fitting)] if fitting else last
        changed.append((*first, chosen))
    return tuple(changed)


class Histories:
    """The beginnings of all dialogues of a store."""

    def __init__(self, store: Store) -> None:
        """Initialize the histories; nothing is read yet.

        Args:
            store: Store with the dialogues.
        """
        self._store = store

    @cached_property
    def _ids(self) -> list[str]:
        """The ids of all dialogues."""
        if stored_snapshot(self._store) is not None:
            raise GeneratorError(
                "this generator takes examples from all other dialogues, but this store has those of one "
                "shard: use one store for all shards"
            )
        return list(dialogue_ids(self._store, Selection()))

    @cached_property
    def _indexes(self) -> dict[str, int]:
        """The index of each dialogue id."""
        return {id: index for index, id in enumerate(self._ids)}

    def of(self, contexts: Sequence[Context], ids: Sequence[str], seed: int) -> list[History | None]:
        """Draw a history from another dialogue for each context.

        Args:
            contexts: Contexts.
            ids: Ids of the responses, one per context. Together with the seed they decide the draws.
            seed: Seed of the draws.

        Returns:
            One history per context; None if the store has no other dialogue.
        """
        others: list[str | None] = []
        for context, id in zip(contexts, ids, strict=True):
            # A context may come from a dialogue that the store does not list.
            own = self._indexes.get(context.dialogue, len(self._ids))
            amount = len(self._ids) - (context.dialogue in self._indexes)
            index = number(seed, "history", id) % max(amount, 1)
            # Skip the context's own dialogue.
            others.append(self._ids[index + (index >= own)] if amount else None)
        read = read_dialogues(self._store, sorted({other for other in others if other is not None}))
        known = {dialogue.id: dialogue for dialogue in read}
        return [_beginning(known.get(other or ""), seed, id) for other, id in zip(others, ids, strict=True)]


def _beginning(dialogue: StoredDialogue | None, seed: int, id: str) -> History | None:
    """Return a random number of first turns of a dialogue."""
    if dialogue is None or not dialogue.turns:
        return None
    shown = dialogue.turns[: 1 + number(seed, "turn", id) % len(dialogue.turns)]
    last = utterance_id(dialogue.id, shown[-1].turn)
    return History(last, tuple(Turn(turn.speaker, turn.text) for turn in shown))


def reply_pairs(contexts: Iterable[Context], extractor: KeywordExtractor, seed: int = 0) -> Iterator[Example]:
    """Yield training examples: requests with keywords of a correct response, and the response.

    As in Gupta et al. (2021, section 3.2), a model is trained on the correct response with its own history
    and keywords. At generation time it sees another history, which is what makes the response wrong.
    Responses without a keyword are skipped, and so are those that the generator would refuse as its own
    output. Memory is constant.

    Args:
        contexts: Contexts with correct responses.
        extractor: Keyword extractor.
        seed: Seed of the choice of keywords.

    Yields:
        Requests with their responses.
    """
    pairs = (
        (context, f"{context.id}/{n}", text)
        for context in contexts
        for n, text in enumerate(context.positives)
    )
    while part := list(islice(pairs, _BATCH)):
        found = keywords_of(extractor, [text for _, _, text in part])
        for (context, id, text), keywords in zip(part, found, strict=True):
            # The keywords come from the response itself, so the model learns to use them.
            chosen = drawn(keywords, LEARNED, seed, id, text)
            reply = closed_up(text)
            # A text that the generator would refuse is not worth learning. Without `positives`, the response
            # is not refused as a copy of itself.
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
    """Train a model on the contexts' correct responses, and save it for ``key-context`` and ``key-sem``.

    Args:
        model: Causal language model to train.
        contexts: Contexts with correct responses.
        extractor: Keyword extractor.
        out: Folder to save the model to.
        seed: Seed of the choice of keywords and of the training.
        arguments: Arguments of transformers' ``TrainingArguments`` and of
            `graphneg.nn.fine_tuning.fine_tune`.

    Returns:
        A report of the training.

    Raises:
        InputError: No context has a correct response with a keyword.
        ModelError: The model is not a causal language model.
    """
    if not isinstance(model, CausalLM):
        raise ModelError(f"{model.path}: key-context and key-sem need a causal language model")
    examples = list(reply_pairs(contexts, extractor, seed))
    if not examples:
        raise InputError("no context has a right response with a keyword, so there is nothing to learn")
    return train_for(REPLY_WITH_WORDS, model, examples, out, seed=seed, **arguments)

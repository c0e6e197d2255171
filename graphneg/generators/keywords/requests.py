"""Choose what the prompts of keyword generators contain: keywords, and the history of another dialogue.

`keywords_of` extracts usable keywords from a context, `drawn` draws some of these keywords at random, and
`replace_by_neighbours` replaces some keywords by similar words. `Histories` draws a history, that is, the
first turns of another dialogue. All random choices depend only on the seed and on the id of the response to
write. `train_keyword_replies` trains a model on prompts with keywords. Example::

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

from graphneg.english.tokens import detokenize
from graphneg.english.words import lemmas, readings
from graphneg.errors import GeneratorError, InputError, ModelError
from graphneg.generators.base import Context
from graphneg.generators.prompts import REPLY_WITH_WORDS, reply_request, train_for
from graphneg.generators.text_filters import FUNCTION_WORDS, LENGTHS, WORDS_OF_TALK, refusal
from graphneg.hashing import number, shuffled
from graphneg.ingest.rows import utterance_id
from graphneg.model import Turn
from graphneg.nn.fine_tuning import Example, TrainingReport
from graphneg.nn.language_models import CausalLM, LanguageModel
from graphneg.shift.keywords import Keyword, KeywordExtractor
from graphneg.store.connection import Store
from graphneg.store.corpus_data import has_whole_corpus
from graphneg.store.dialogues import Selection, StoredDialogue, dialogue_ids, read_dialogues

BEST = 8
"""Maximum number of keywords of a context, the most salient ones, from which the keywords for a prompt are
drawn."""
LONGEST_KEYWORD = 2
"""Maximum number of words in a keyword. People and models seldom repeat a longer keyword word for word."""
NEIGHBOURS = 10
"""Number of most similar words from which the replacement for a keyword is drawn."""
LEARNED = (1, 2)
"""Minimum and maximum number of keywords in a training example."""
_HALF = 2**63
"""Half of the range of a 64-bit hash. A hash is below this number with a probability of 0.5."""
_SHORTEST_WORD = 3
"""Minimum length of each word of a keyword, in letters."""
_BATCH = 500
"""Number of responses whose keywords are extracted together."""

Words = tuple[str, ...]
"""Type of a keyword: its words, as they are written in the text from which the keyword was extracted."""
Neighbours = Callable[[str, int], list[tuple[str, float]]]
"""Type of a function that takes a word and a number n, and returns the n most similar words with their
cosines. See `graphneg.nn.vectors.StaticVectors.neighbours`."""


class History(NamedTuple):
    """The first turns of a dialogue, which a prompt shows before the reply to write.

    Attributes:
        id: Id of the last of these turns, for example ``everyday/train/1#2``.
        turns: The turns, oldest first.
    """

    id: str
    turns: tuple[Turn, ...]


def keywords_of(
    extractor: KeywordExtractor, texts: Sequence[str], language: str = "en"
) -> list[list[Keyword]]:
    """Extract the keywords of texts that are suitable for prompts.

    A suitable keyword is short and has no function words. In English, its last word must be a name or a word
    that can be a noun. The reason is that small models write sensible texts about things, but not about words
    such as *let* or *seem*.

    Args:
        extractor: Keyword extractor, for example RAKE.
        texts: Texts from which keywords are extracted.
        language: Language of the texts, as a code such as ``en``.

    Returns:
        One list per text, with up to `BEST` keywords, sorted with the most salient first.
    """

    def is_usable(keyword: Keyword, text: str) -> bool:
        words = [word.lower() for word in keyword.words]
        is_noun = language != "en" or "NOUN" in readings(words[-1])
        # Accept a name even if it is not in the dictionary. The last word of a name is capitalized even
        # inside a sentence.
        is_thing = is_noun or truecased(keyword.words[-1], text) != words[-1]
        return (
            is_thing
            and len(words) <= LONGEST_KEYWORD
            and all(
                word.replace("-", "").isalpha()
                and len(word) >= _SHORTEST_WORD
                and word not in FUNCTION_WORDS
                # Words of small talk such as "thanks" and "please" are not topics for a model to write about.
                and word not in WORDS_OF_TALK
                for word in words
            )
        )

    found = zip(extractor.extract(texts), texts, strict=True)
    return [[keyword for keyword in some if is_usable(keyword, text)][:BEST] for some, text in found]


def drawn(
    keywords: Sequence[Keyword], amount: tuple[int, int], seed: int, id: str, text: str = ""
) -> tuple[Words, ...]:
    """Draw keywords at random, so that no two of them share a word.

    Keywords are returned in lower case, except for names. A word counts as a name if it is capitalized inside
    a sentence of ``text``.

    Args:
        keywords: Keywords from which some are drawn.
        amount: Minimum and maximum number of keywords to draw. If there are not enough keywords, fewer are
            drawn.
        seed: Seed for drawing.
        id: Id of the response to write. The id and the seed determine which keywords are drawn.
        text: Text from which the keywords were extracted.

    Returns:
        For each drawn keyword, its words.
    """
    least, most = amount
    drawn_amount = least + number(seed, "amount", id) % (most - least + 1)
    # `keywords` may contain a keyword several times, for example with different capitals. Use its first
    # occurrence.
    by_key = {keyword.text: keyword for keyword in reversed(keywords)}
    chosen: list[Words] = []
    for key in shuffled(by_key, seed, "keywords", id):
        words = tuple(truecased(word, text) for word in by_key[key].words)
        # Do not draw both "blue jacket" and "jacket": the prompt would contain the same word twice.
        if not any(set(words) & set(other) for other in chosen):
            chosen.append(words)
        if len(chosen) == drawn_amount:
            break
    return tuple(chosen)


def truecased(word: str, text: str) -> str:
    """Convert a word to lower case, unless it is a name.

    Args:
        word: Word as it is written in a text.
        text: Text that contains the word. If the word occurs unchanged inside a sentence, that is, after
            another word, it keeps its capital letter.

    Returns:
        The word, in lower case unless it counts as a name.

    Example:
        >>> truecased("July", "It was in July."), truecased("Wait", "Wait for me."), truecased("Wait", "")
        ('July', 'wait', 'wait')
    """
    inside = re.search(rf"[a-z,] {re.escape(word)}\b", text) is not None
    return word if inside else word.lower()


def replace_by_neighbours(
    near: Neighbours, keywords: Sequence[Words], seed: int, id: str
) -> tuple[Words, ...]:
    """Replace each keyword by a similar keyword with probability 0.5 (Gupta et al. 2021).

    Only the last word of a keyword is replaced, by a word that can have the same part of speech. Names and
    words without a vector are not replaced.

    Args:
        near: Function that returns the words that are most similar to a given word.
        keywords: Words of each keyword.
        seed: Seed for the random choices.
        id: Id of the response to write. The id and the seed determine which keywords are replaced, and how.

    Returns:
        The keywords, some with a different last word.
    """
    changed: list[Words] = []
    for words in keywords:
        *first, last = words
        classes = readings(last.lower()).keys()
        replaced = last == last.lower() and number(seed, "replace", id, *words) < _HALF
        fitting = [
            word
            for word, _ in (near(last, NEIGHBOURS) if replaced else ())
            # Another form of the same word, such as "boats" for "boat", is not a replacement.
            if word.isalpha() and len(word) >= _SHORTEST_WORD and not lemmas(word) & lemmas(last)
            for others in [readings(word.lower()).keys()]
            # If neither word is in the dictionary, their parts of speech are unknown, so accept the similar
            # word.
            if classes & others or not (classes or others)
        ]
        chosen = fitting[number(seed, "neighbour", id, *words) % len(fitting)] if fitting else last
        changed.append((*first, chosen))
    return tuple(changed)


class Histories:
    """Draws histories, that is, the first turns of dialogues in a store."""

    def __init__(self, store: Store) -> None:
        """Initialize the object. The store is not read before a history is drawn.

        Args:
            store: Store that contains the dialogues.
        """
        self._store = store

    @cached_property
    def _dialogue_ids(self) -> list[str]:
        if not has_whole_corpus(self._store):
            raise GeneratorError(
                "this generator takes examples from all other dialogues, but this store has those of one "
                "shard: use one store for all shards"
            )
        return list(dialogue_ids(self._store, Selection()))

    @cached_property
    def _index_of_dialogue(self) -> dict[str, int]:
        return {id: index for index, id in enumerate(self._dialogue_ids)}

    def get(self, contexts: Sequence[Context], ids: Sequence[str], seed: int) -> list[History | None]:
        """Draw the first turns of another dialogue for each context.

        Args:
            contexts: Contexts whose own dialogues must not be drawn.
            ids: Ids of the responses to write, one per context. The ids and the seed determine the draws.
            seed: Seed for drawing.

        Returns:
            One history per context, or None instead of a history if the store has no other dialogue.
        """
        others: list[str | None] = []
        for context, id in zip(contexts, ids, strict=True):
            # The context's own dialogue must not be drawn. If it is not in the store, `own` is an index that
            # no dialogue has.
            own = self._index_of_dialogue.get(context.dialogue, len(self._dialogue_ids))
            amount = len(self._dialogue_ids) - (context.dialogue in self._index_of_dialogue)
            index = number(seed, "history", id) % max(amount, 1)
            # Draw another dialogue than the context's own dialogue, which has the index `own`. If the drawn
            # index is `own` or higher, it is increased by 1 to skip the own dialogue.
            others.append(self._dialogue_ids[index + (index >= own)] if amount else None)
        read = read_dialogues(self._store, sorted({other for other in others if other is not None}))
        known = {dialogue.id: dialogue for dialogue in read}
        return [_beginning(known.get(other or ""), seed, id) for other, id in zip(others, ids, strict=True)]


def _beginning(dialogue: StoredDialogue | None, seed: int, id: str) -> History | None:
    """Cut a dialogue after a random turn, and return its beginning; None if the dialogue has no turns."""
    if dialogue is None or not dialogue.turns:
        return None
    shown = dialogue.turns[: 1 + number(seed, "turn", id) % len(dialogue.turns)]
    last = utterance_id(dialogue.id, shown[-1].turn)
    return History(last, tuple(Turn(turn.speaker, turn.text) for turn in shown))


def reply_pairs(contexts: Iterable[Context], extractor: KeywordExtractor, seed: int = 0) -> Iterator[Example]:
    """Yield training examples, each a prompt with keywords of a correct response and this response.

    As in Gupta et al. (2021, section 3.2), the model is trained on correct responses after their own
    histories. When the model later writes a negative, the prompt shows the history of another dialogue, and
    the keywords come from the context. A response is skipped if it has no keyword, or if the generator would
    reject such a text from the model. The responses are processed in small groups, so memory use does not
    depend on the number of contexts.

    Args:
        contexts: Contexts with correct responses.
        extractor: Keyword extractor, for example RAKE.
        seed: Seed for drawing the keywords.

    Yields:
        Prompts, each with the correct response as the expected output.
    """
    pairs = (
        (context, f"{context.id}/{n}", text)
        for context in contexts
        for n, text in enumerate(context.positives)
    )
    while part := list(islice(pairs, _BATCH)):
        found = keywords_of(extractor, [text for _, _, text in part])
        for (context, id, text), keywords in zip(part, found, strict=True):
            # Take the keywords from the response, so that the model learns to use the keywords of a prompt.
            chosen = drawn(keywords, LEARNED, seed, id, text)
            reply = detokenize(text)
            # The model should not learn to write texts that the generator would reject. `refusal` also
            # rejects texts that nearly equal a correct response of the context. To switch off this rule, pass
            # a context without correct responses.
            if (
                chosen
                and refusal(reply, chosen, replace(context, positives=(), replies_to_copies={}), LENGTHS)
                is None
            ):
                words = [" ".join(each) for each in chosen]
                yield Example(reply_request(context.turns, words), f" {reply}")


def train_keyword_replies(
    model: LanguageModel,
    contexts: Iterable[Context],
    extractor: KeywordExtractor,
    out: str | Path,
    *,
    seed: int = 0,
    **arguments: Any,
) -> TrainingReport:
    """Train a model to write replies with given keywords, for ``key-context`` and ``key-sem``.

    Args:
        model: Causal language model to train.
        contexts: Contexts with correct responses.
        extractor: Keyword extractor, for example RAKE.
        out: Folder to save the trained model in.
        seed: Seed for drawing the keywords and for the training.
        arguments: Further arguments for transformers' ``TrainingArguments`` or for
            `graphneg.nn.fine_tuning.fine_tune`.

    Returns:
        A report with the losses of the training.

    Raises:
        InputError: No context has a correct response with a keyword.
        ModelError: The model is not a causal language model.
    """
    if not isinstance(model, CausalLM):
        raise ModelError(f"{model.path}: key-context and key-sem need a causal language model")
    examples = list(reply_pairs(contexts, extractor, seed))
    if not examples:
        raise InputError("nothing to train on: no context has a correct response with a keyword")
    return train_for(REPLY_WITH_WORDS, model, examples, out, seed=seed, **arguments)

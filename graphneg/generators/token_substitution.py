"""Replace a few content words of a correct response (generator ``token-substitution``).

The edited response is usually grammatical but wrong. The generator is therefore used as a simple baseline::

    correct     I like my new boat.
    negative    I like my new truck.

The substitute for a word is either predicted by a masked language model, or taken from the responses in the
store. A substitute from the store must have the same possible part-of-speech tags as the replaced word, for
example singular noun only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from graphneg.english.tokens import WORD
from graphneg.english.words import CLOSED, inflections, lemma_of, readings, right_article
from graphneg.errors import GeneratorError, ModelError
from graphneg.generators.base import Candidate, Context
from graphneg.generators.retrieval import BankGenerator, Candidates, NewTexts, check_amount
from graphneg.hashing import number, shuffled
from graphneg.nn.models import check_packages, locate, on_device, reading
from graphneg.store.connection import Store

CATEGORY = "C-ent"
"""Error category of the candidates, which contain a wrong entity."""
_PARTS = re.compile(f"({WORD.pattern})")
"""Pattern with which ``split`` returns the words of a text at odd indices, and the text between the words at
even indices."""
_SHORTEST = 3
"""Minimum length in letters of a word that may be replaced or used as a substitute."""
_READINGS_KEPT = 1 << 16
"""Maximum number of words whose part-of-speech tags `tags_of` caches."""

Tags = frozenset[str]
"""Type of the set of all Penn Treebank tags that a word can have. For example, this set is ``{"NNS", "VBZ"}``
for *walks*."""


WordSource = Callable[[Sequence[str], int], Sequence[str]]
"""Type of a function that takes ``words`` and an index ``at``, and returns possible substitutes for the word
``words[at]``. ``words`` contains the words of a text alternating with the text between them."""


class TokenSubstitutionGenerator(BankGenerator):
    """Replace ``least`` to ``most`` content words of a correct response by other words.

    Token substitution is a rule-based baseline of Gupta et al. (2021). Park et al. (2021, "Generating
    Negative Samples by Manipulating Golden Responses for Unsupervised Learning of a Response Evaluation
    Model") choose the substitutes with a masked language model. If ``model`` is the path or id of such a
    model, a substitute is drawn from the ``candidates`` words that the model considers most likely at the
    position of the replaced word. Without a model, the substitute is drawn from the words of the responses in
    the store. It must have the same possible part-of-speech tags in lemminflect's dictionary as the replaced
    word. ``device`` and ``offline`` are options for loading the model.

    Raises:
        GeneratorError: An option has an invalid value.
        ModelError: ``model`` does not exist or is not a masked language model.
    """

    name = "token-substitution"

    def __init__(
        self,
        store: Store,
        model: str | Path | None = None,
        least: int = 1,
        most: int = 3,
        candidates: int = 20,
        device: str | None = None,
        offline: bool = False,
    ) -> None:
        """Initialize the generator, and load the masked language model if one is given.

        Args:
            store: Store with the responses from which substitutes are taken if there is no model.
            model: Path or id of a masked language model; None to take substitutes from the store.
            least: Minimum number of words to replace in a response.
            most: Maximum number of words to replace in a response.
            candidates: Number of most likely words of the model from which a substitute is drawn. Not used
                without a model.
            device: Device of the model, for example ``cuda``; None to choose the device automatically.
            offline: Whether to load the model without network access.

        Raises:
            GeneratorError: ``least`` is above ``most``.
        """
        numbers = {"least": least, "most": most, "candidates": candidates}
        for option, value in numbers.items():
            check_amount(f"{self.name}: {option}", value)
        if least > most:
            raise GeneratorError(f"token-substitution: least {least} is greater than most {most}")
        super().__init__(store)
        self._model = None if model is None else masked_words(model, candidates, device, offline)
        self._options = {"model": model and str(model), **numbers}
        self._amounts = range(least, most + 1)

    def settings(self) -> Mapping[str, object]:
        """Return the generator options that determine the output of a run."""
        return self._options

    def prepare(self) -> Candidates:
        """Return a function that edits correct responses to a context and yields them as candidates."""
        source = self._model or known_words(entry.text for entry in self.bank())

        def substituted(context: Context, per_context: int, seed: int) -> Iterator[Candidate]:
            new = NewTexts(context)
            for slot in range(per_context if context.positives else 0):
                # If the context has fewer correct responses than candidates are needed, edit each response
                # several times, with different random choices.
                right = context.positives[slot % len(context.positives)]
                text, replaced = self._replaced(source, right, seed, f"{context.id}/{slot}")
                if replaced and new.take(text):
                    listed = ", ".join(f"{before} by {after}" for before, after in replaced)
                    scores = {"replaced": float(len(replaced))}
                    yield Candidate(text, (CATEGORY,), scores, {"replaced": listed})

        return substituted

    def _replaced(
        self, source: WordSource, text: str, seed: int, id: str
    ) -> tuple[str, list[tuple[str, str]]]:
        """Return a text with some words replaced, and a pair of old and new word for each replacement."""
        parts = _PARTS.split(text)
        amount = self._amounts[number(seed, "substitutions", id) % len(self._amounts)]
        content = [n for n, word in enumerate(parts[1::2]) if _is_content(word)]
        replaced: list[tuple[str, str]] = []
        for at in (2 * n + 1 for n in shuffled(content, seed, "places", id)):
            if len(replaced) == amount:
                break
            word = parts[at].lower()
            options = source(parts, at)
            # Try the substitutes from a random one on. After the last substitute in the list, continue with
            # the first.
            start = number(seed, "substitute", id, str(at // 2))
            around = (options[(start + step) % len(options)] for step in range(len(options)))
            # Take the first substitute with another lemma. Another form of the same word, such as "boats" for
            # "boat", would change only the grammar, not the meaning.
            other = next((option for option in around if lemma_of(option) != lemma_of(word)), None)
            if other is None:
                continue
            replaced.append((word, other))
            # If the replaced word is capitalized, for example at the start of a sentence, capitalize the
            # substitute.
            parts[at] = other.capitalize() if parts[at][0].isupper() else other
            # The article before the substitute may have to change: "a boat" becomes "an apple".
            if at > 1:
                parts[at - 2] = right_article(parts[at - 2], other)
        return "".join(parts), replaced


def known_words(texts: Iterable[str]) -> WordSource:
    """Return a function that finds substitutes among the content words of some texts.

    Args:
        texts: Texts from which the substitutes are taken.

    Returns:
        A function that returns all words with the same set of possible tags as the word to replace, in
        alphabetical order.
    """
    words = {word.lower() for text in texts for word in WORD.findall(text) if _is_content(word)}
    by_tags: dict[Tags, list[str]] = {}
    for word in sorted(words):
        # The tags of a word that is not in the dictionary are unknown, so it cannot be a substitute.
        if tags := tags_of(word):
            by_tags.setdefault(tags, []).append(word)
    return lambda words, at: by_tags.get(tags_of(words[at].lower()), ())


def masked_words(model: str | Path, candidates: int, device: str | None, offline: bool) -> WordSource:
    """Return a function that gets substitutes from a masked language model.

    Args:
        model: Path or id of the masked language model.
        candidates: Maximum number of substitutes for a word.
        device: Device of the model; None to choose the device automatically.
        offline: Whether to load the model without network access.

    Returns:
        A function that masks the word to replace, and returns the content words that the model predicts in
        its place, most likely first.

    Raises:
        ModelError: The tokenizer of the model has no mask token.
    """
    check_packages()
    folder = locate(model, offline=offline)
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    with reading(folder, "masked model"):
        loaded: Any = AutoModelForMaskedLM.from_pretrained(folder, local_files_only=True, dtype="float32")
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if tokenizer.mask_token is None:
        raise ModelError(f"{folder}: its tokenizer has no mask; token-substitution needs a masked model")
    network = on_device(loaded, device)

    def word_of(token: int, before: str) -> str:
        """Return the word that a token of the vocabulary spells.

        The result is empty if the token is a part of a word, a symbol or a function word.
        """
        word = str(tokenizer.decode([token])).strip()
        if not (WORD.fullmatch(word) and _is_content(word)):
            return ""
        # Tokenizers mark parts of words in different ways: WordPiece puts "##" before a part, byte-level BPE
        # puts a space before the first token of a word. With both, a token is a whole word if the tokenizer
        # encodes the word as this single token.
        is_whole = tokenizer(before + word, add_special_tokens=False)["input_ids"] == [token]
        return word.lower() if is_whole else ""

    def most_likely_words(words: Sequence[str], at: int) -> Sequence[str]:
        """Return words that the model predicts in place of the word at index ``at``, most likely first."""
        text = "".join([*words[:at], tokenizer.mask_token, *words[at + 1 :]])
        # Process one text at a time, because the last bits of the logits would depend on the other texts in a
        # batch.
        rows = tokenizer(text, truncation=True, return_tensors="pt").to(network.device)
        masked = (rows["input_ids"][0] == tokenizer.mask_token_id).nonzero()
        # If the text is too long, the tokenizer truncates it and may remove the mask.
        if not len(masked):
            return ()
        with torch.inference_mode():
            logits = network(**rows).logits[0, masked[0, 0]]
        # Many of the most likely tokens are parts of words or function words, which cannot be used. So look
        # at four times as many tokens as there should be substitutes.
        tokens = logits.topk(min(4 * candidates, len(logits))).indices.tolist()
        before = " " if at and words[at - 1].isspace() else ""
        found = (word_of(token, before) for token in tokens)
        return list(dict.fromkeys(filter(None, found)))[:candidates]

    return most_likely_words


@lru_cache(maxsize=_READINGS_KEPT)
def tags_of(word: str) -> Tags:
    """Return all Penn Treebank tags that a word can have.

    Args:
        word: Word in lower case, inflected or not.

    Returns:
        The tags of all readings of the word; empty if the word is not in lemminflect's dictionary.

    Example:
        >>> sorted(tags_of("walks")), sorted(tags_of("quickly"))
        (['NNS', 'VBZ'], ['RB'])
    """
    return frozenset(
        tag
        for upos, lemmas in readings(word).items()
        for lemma in lemmas
        for tag, forms in inflections(lemma, upos).items()
        if word in forms
    )


def _is_content(word: str) -> bool:
    """Return whether a word is a content word: at least three letters, and no function word."""
    return len(word) >= _SHORTEST and word.isalpha() and word.lower() not in CLOSED

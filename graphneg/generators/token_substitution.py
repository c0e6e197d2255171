"""``token-substitution``: a right response with a few of its words replaced.

A context with right responses goes in, *I like my new boat* comes out as *I like my new rose*.
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
from graphneg.nn.models import check_packages, choose_device, locate, reading
from graphneg.store.connection import Store

CATEGORY = "C-ent"
_PARTS = re.compile(f"({WORD.pattern})")
"""Splits a text: words at odd indexes, and what stands before, between and behind them at even ones."""
_SHORTEST = 3
_READINGS_KEPT = 1 << 16

Tags = frozenset[str]
"""All parts of speech that a form can have, by Penn Treebank's names: ``walks`` is {NNS, VBZ}."""


WordSource = Callable[[Sequence[str], int], Sequence[str]]
"""Words that may stand in place of ``words[at]``, in a fixed order; ``words`` join to the text."""


class TokenSubstitutionGenerator(BankGenerator):
    """Right responses of the context, in each of which ``least`` to ``most`` content words become others.

    Substitution of tokens is a baseline of Gupta et al. (2021), there by rules; Park et al. (2021,
    "Generating Negative Samples by Manipulating Golden Responses for Unsupervised Learning of a Response
    Evaluation Model") replace tokens of the right response by a masked language model. Here, with a
    ``model`` (path or id of one), a word becomes one of the ``candidates`` likeliest others in its place;
    without, a word of the store's responses that can be the same parts of speech in the same form, by
    lemminflect's dictionary. ``device`` and ``offline`` are the model's.

    Raises:
        GeneratorError: an option is not what it takes.
        ModelError: there is no such model, or it fills no masks.
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
        numbers = {"least": least, "most": most, "candidates": candidates}
        for option, value in numbers.items():
            check_amount(f"{self.name}: {option}", value)
        if least > most:
            raise GeneratorError(f"token-substitution: least {least} is over {most}, the most")
        super().__init__(store)
        self._model = None if model is None else masked_words(model, candidates, device, offline)
        self._options = {"model": model and str(model), **numbers}
        self._amounts = range(least, most + 1)

    def settings(self) -> Mapping[str, object]:
        """See `graphneg.generators.base.Generator`."""
        return self._options

    def prepare(self) -> Candidates:
        """One right response after another with some words replaced; none where no word has a substitute."""
        source = self._model or known_words(entry.text for entry in self.bank())

        def substituted(context: Context, per_context: int, seed: int) -> Iterator[Candidate]:
            new = NewTexts(context)
            for slot in range(per_context if context.positives else 0):
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
        """The text with some words replaced, and which by which."""
        parts = _PARTS.split(text)
        amount = self._amounts[number(seed, "substitutions", id) % len(self._amounts)]
        content = [n for n, word in enumerate(parts[1::2]) if _is_content(word)]
        replaced: list[tuple[str, str]] = []
        for at in (2 * n + 1 for n in shuffled(content, seed, "places", id)):
            if len(replaced) == amount:
                break
            word = parts[at].lower()
            options = source(parts, at)
            start = number(seed, "substitute", id, str(at // 2))
            around = (options[(start + step) % len(options)] for step in range(len(options)))
            other = next((option for option in around if lemma_of(option) != lemma_of(word)), None)
            if other is None:
                continue
            replaced.append((word, other))
            parts[at] = other.capitalize() if parts[at][0].isupper() else other
            if at > 1:
                parts[at - 2] = right_article(parts[at - 2], other)
        return "".join(parts), replaced


def known_words(texts: Iterable[str]) -> WordSource:
    """Words of some texts that can be the same parts of speech in the same form, in alphabetical order."""
    words = {word.lower() for text in texts for word in WORD.findall(text) if _is_content(word)}
    by_tags: dict[Tags, list[str]] = {}
    for word in sorted(words):
        if tags := tags_of(word):
            by_tags.setdefault(tags, []).append(word)
    return lambda words, at: by_tags.get(tags_of(words[at].lower()), ())


def masked_words(model: str | Path, candidates: int, device: str | None, offline: bool) -> WordSource:
    """The likeliest words in a word's place, by a masked language model.

    Texts are read one by one: a batch would change the last bits.

    Raises:
        ModelError: there is no such model, or it fills no masks.
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
    network = loaded.eval().to(choose_device(device))

    def word_of(token: int) -> str:
        """The token as a word; nothing where it is a part of one, a sign, or a function word."""
        piece = str(tokenizer.convert_ids_to_tokens(token))
        word = str(tokenizer.decode([token])).strip().lower()
        return word if not piece.startswith("##") and WORD.fullmatch(word) and _is_content(word) else ""

    def likeliest(words: Sequence[str], at: int) -> Sequence[str]:
        text = "".join([*words[:at], tokenizer.mask_token, *words[at + 1 :]])
        rows = tokenizer(text, truncation=True, return_tensors="pt").to(network.device)
        masked = (rows["input_ids"][0] == tokenizer.mask_token_id).nonzero()
        if not len(masked):
            return ()
        with torch.inference_mode():
            logits = network(**rows).logits[0, masked[0, 0]]
        tokens = logits.topk(min(4 * candidates, len(logits))).indices.tolist()
        return list(dict.fromkeys(filter(None, map(word_of, tokens))))[:candidates]

    return likeliest


@lru_cache(maxsize=_READINGS_KEPT)
def tags_of(word: str) -> Tags:
    """The parts of speech that a lower-case word can be; none where the dictionary does not know it.

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
    return len(word) >= _SHORTEST and word.isalpha() and word.lower() not in CLOSED

"""Choose words, phrases and sentences of a text to replace by blanks, and fill the blanks.

Blanks are chosen as in Donahue et al. (2020, "Enabling Language Models to Fill in the Blanks", section 4.1)
and Gupta et al. (2021, section 3.1). First, each sentence is blanked with some probability. In each sentence
that is not blanked, each word may be blanked, either alone or as the first word of a phrase. The papers blank
texts of several sentences. The texts here are single turns and therefore shorter, so the probabilities are
higher. The choice of blanks depends only on the seed and the id of the text.

>>> masked = masked_versions("I bought the red boat in May. It leaks a little.", 0, "example")[0]
>>> masked.marked, masked.answers
('I bought the [word] boat in May. It [phrase] little.', ('red', 'leaks a'))
>>> masked.filled(["old", "costs very"])
'I bought the old boat in May. It costs very little.'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from graphneg.english.tokens import detokenize, one_line, sentences, words_of
from graphneg.english.words import content_lemmas, right_article
from graphneg.hashing import number

Kind = Literal["word", "phrase", "sentence"]
"""Kinds of blanks. A kind is named after the part of the text that the blank replaces."""
SPANS = 2
"""Minimum number of blanks in a text."""
MOST_SPANS = 4
"""Maximum number of blanks in a text."""
VERSIONS = 3
"""Default maximum number of versions of a text that differ in their blanks."""
TRIES = 12
"""Maximum number of random draws of blanks per requested version of a text. If these draws do not give enough
different versions, fewer versions are returned."""
SENTENCE, WORD, PHRASE = 0.15, 0.25, 0.5
"""`SENTENCE` is the probability that a sentence is blanked. In any other sentence, `WORD` is the probability
that a blank begins at a given word, and `PHRASE` the probability that such a blank is a phrase."""
LONGEST_PHRASE = 4
"""Maximum number of words in a phrase."""
LEAST_WORDS = 4
"""Minimum number of words in a text to blank. In a shorter text, no spans are blanked."""
SHOWN = 0.4
"""Minimum fraction of a text's words that are not blanked."""
_ALL = float(1 << 64)
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_MARKS = (",", ".", "!", "?", ";", ":")
_BEGINNING = re.compile(r"(?:^|[.!?]\s+)[\"'(]*$")
_ARTICLE = re.compile(r"\b([Aa]n?)\s+$")


class Span(NamedTuple):
    """A span of a text to blank: ``text[start:end]``.

    Attributes:
        start: Index of the first character of the span.
        end: Index after the last character of the span.
        kind: Whether the span is a word, a phrase or a sentence.
    """

    start: int
    end: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text in which spans are replaced by blanks.

    Attributes:
        parts: Texts before, between and after the blanks. There is one more part than there are blanks.
        kinds: Kind of each blank, such as ``word``.
        answers: For each blank, the original text that it replaces.
    """

    parts: tuple[str, ...]
    kinds: tuple[Kind, ...]
    answers: tuple[str, ...]

    @property
    def marked(self) -> str:
        """The text with a mark such as ``[word]`` for each blank."""
        return self.joined([f"[{kind}]" for kind in self.kinds])

    def joined(self, fills: Sequence[str]) -> str:
        """Put one text in place of each blank, without adjusting capitals, articles or punctuation.

        Args:
            fills: Texts or marks to put in place of the blanks, one per blank.

        Returns:
            The whole text, in which each blank is replaced.
        """
        rest = [piece for pair in zip(fills, self.parts[1:], strict=True) for piece in pair]
        return "".join([self.parts[0], *rest])

    def filled(self, answers: Sequence[str]) -> str:
        """Fill the blanks with answers, and adjust capitals, articles and punctuation.

        A sentence begins with a capital letter, punctuation is not doubled, and ``a`` becomes ``an`` before a
        vowel.

        Args:
            answers: Texts to put in place of the blanks, one per blank.

        Returns:
            The text with all blanks filled.
        """
        text = self.parts[0]
        for answer, part in zip(answers, self.parts[1:], strict=True):
            answer = one_line(answer)
            # Correct the article before the blank: "a [word]" that is filled with "apple" becomes "an apple".
            if article := _ARTICLE.search(text):
                text = text[: article.start()] + right_article(article[1], answer) + " "
            # Text that fills a blank at the start of a sentence gets a capital letter.
            if _BEGINNING.search(text):
                answer = answer[:1].upper() + answer[1:]
            # If "in [word]." is filled with "May.", the result must have only one period.
            if part.startswith(_MARKS):
                answer = answer.rstrip(",.!?;: ")
            text += answer + part
        return detokenize(text)


def masked_versions(text: str, seed: int, id: str, most: int = VERSIONS) -> list[MaskedText]:
    """Return several versions of a text that differ in their blanks.

    Each version has `SPANS` to `MOST_SPANS` blanks. Blanks are not adjacent, and each blank replaces at least
    one content word. At least the fraction `SHOWN` of the words is not blanked.

    Args:
        text: Text in which words, phrases and sentences are replaced by blanks.
        seed: Seed for drawing the blanks.
        id: Id of the text. The id and the seed determine the blanks.
        most: Maximum number of versions.

    Returns:
        Up to ``most`` versions. The list is empty if the text is too short.
    """
    plain = detokenize(text)
    if len(words_of(plain)) < LEAST_WORDS:
        return []
    found: dict[tuple[Span, ...], MaskedText] = {}
    for draw in range(most * TRIES):
        spans = _random_spans(plain, seed, f"{id}/{draw}")
        # A short text has few possible blanks, so the same blanks may be drawn twice. Skip repetitions.
        if spans and spans not in found:
            found[spans] = _mask(plain, spans)
            if len(found) == most:
                break
    return list(found.values())


def _mask(text: str, spans: Sequence[Span]) -> MaskedText:
    edges = [0, *(edge for span in spans for edge in span[:2]), len(text)]
    parts = tuple(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    answers = tuple(text[span.start : span.end] for span in spans)
    return MaskedText(parts, tuple(span.kind for span in spans), answers)


def _random_spans(text: str, seed: int, id: str) -> tuple[Span, ...]:
    """Draw spans to blank; empty if these spans cannot be blanked together, for example adjacent spans."""

    def chance(*names: object) -> float:
        return number(seed, "mask", id, *map(str, names)) / _ALL

    spans: list[Span] = []
    whole = list(sentences(text))
    begin = 0
    for nth, sentence in enumerate(whole):
        begin = text.index(sentence, begin)
        end = begin + len(sentence)
        # Do not blank the only sentence of a text, because nothing would remain.
        if len(whole) > 1 and chance("sentence", nth) < SENTENCE:
            spans.append(Span(begin, end, "sentence"))
        else:
            words = [match.span() for match in _WORD.finditer(text, begin, end)]
            at = 0
            while at < len(words):
                size = _size(chance("word", nth, at), chance("size", nth, at))
                size = min(size, len(words) - at)
                start, stop = words[at][0], words[at + size - 1][1]
                # Do not blank function words alone, because that would hardly change the meaning of the text.
                if size and content_lemmas(text[start:stop]):
                    spans.append(Span(start, stop, "word" if size == 1 else "phrase"))
                    at += size
                # Skip the word after a blank, so that at least one word is between two blanks.
                at += 1
        begin = end
    return tuple(spans) if _is_usable(text, spans) else ()


def _size(masked: float, size: float) -> int:
    """Return how many words to blank, starting at a given word; 0 if no blank starts at this word.

    Args:
        masked: Random number in [0, 1) that decides whether a blank starts at the word.
        size: Random number in [0, 1) that decides how long the blank is.

    Returns:
        The number of words.
    """
    if masked >= WORD:
        return 0
    # Phrases have 2 to `LONGEST_PHRASE` words with equal probability.
    return 1 if size >= PHRASE else 2 + int(size / PHRASE * (LONGEST_PHRASE - 1))


def _is_usable(text: str, spans: Sequence[Span]) -> bool:
    """Return whether a text with blanks at some spans meets all conditions of `masked_versions`."""
    taken = [text[span.start : span.end] for span in spans]
    words = len(words_of(text))
    return (
        SPANS <= len(spans) <= MOST_SPANS
        and all(content_lemmas(answer) for answer in taken)
        # Refuse adjacent blanks: in "[word] [word]", a model cannot know which words belong to which blank.
        and all(one.end + 1 < other.start for one, other in pairwise(spans))
        and words - sum(len(words_of(answer)) for answer in taken) >= SHOWN * words
    )

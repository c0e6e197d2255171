"""Texts with blanks: which words, phrases and sentences of a text are taken out, and texts filled anew.

Masks are hierarchical (Donahue et al. 2020, "Enabling Language Models to Fill in the Blanks", section 4.1;
Gupta et al. 2021, section 3.1): a sentence is taken out whole, else words of it, each by itself or as the
first of a phrase. They are shares of texts of a few sentences there, and of single turns here, so that they
are taken out more often. All is a hash of the seed and the text's address.

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

from graphneg.english.tokens import closed_up, one_line, sentences, words_of
from graphneg.english.words import content_lemmas, right_article
from graphneg.hashing import number

Kind = Literal["word", "phrase", "sentence"]
SPANS = 2
"""So many blanks has a text at least."""
MOST_SPANS = 4
VERSIONS = 3
"""Masked versions of a text, at most."""
TRIES = 12
"""So often masks are drawn for a version before it is given up."""
SENTENCE, WORD, PHRASE = 0.15, 0.25, 0.5
"""How often a sentence is taken out, a word, and a phrase that begins with that word in its place."""
LONGEST_PHRASE = 4
LEAST_WORDS = 4
"""Shorter texts get no blanks."""
SHOWN = 0.4
"""So much of a text's words stays, at least."""
_ALL = float(1 << 64)
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_MARKS = (",", ".", "!", "?", ";", ":")
_BEGINNING = re.compile(r"(?:^|[.!?]\s+)[\"'(]*$")
_ARTICLE = re.compile(r"\b([Aa]n?)\s+$")


class Span(NamedTuple):
    """What is taken out of a text: ``text[start:end]``."""

    start: int
    end: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text with blanks: the ``parts`` around them, one more than blanks, their ``kinds``, and what stood
    in them."""

    parts: tuple[str, ...]
    kinds: tuple[Kind, ...]
    answers: tuple[str, ...]

    @property
    def marked(self) -> str:
        """The text with a mark for each blank."""
        return self.joined([f"[{kind}]" for kind in self.kinds])

    def joined(self, fills: Sequence[str]) -> str:
        """The parts with something between them, as it is."""
        rest = [piece for pair in zip(fills, self.parts[1:], strict=True) for piece in pair]
        return "".join([self.parts[0], *rest])

    def filled(self, answers: Sequence[str]) -> str:
        """The text with other answers: what begins a sentence has a capital, marks come once, ``a`` is
        ``an`` where it has to."""
        text = self.parts[0]
        for answer, part in zip(answers, self.parts[1:], strict=True):
            answer = one_line(answer)
            if article := _ARTICLE.search(text):
                text = text[: article.start()] + right_article(article[1], answer) + " "
            if _BEGINNING.search(text):
                answer = answer[:1].upper() + answer[1:]
            if part.startswith(_MARKS):
                answer = answer.rstrip(",.!?;: ")
            text += answer + part
        return closed_up(text)


def masked_versions(text: str, seed: int, id: str, most: int = VERSIONS) -> list[MaskedText]:
    """At most ``most`` versions of a text with other blanks each; none of a text that is too short.

    A text has `SPANS` blanks or more, none beside another, each with a content word, and a share of `SHOWN`
    of its words stays.
    """
    plain = closed_up(text)
    if len(words_of(plain)) < LEAST_WORDS:
        return []
    found: dict[tuple[Span, ...], MaskedText] = {}
    for draw in range(most * TRIES):
        spans = _drawn(plain, seed, f"{id}/{draw}")
        if spans and spans not in found:
            found[spans] = _without(plain, spans)
            if len(found) == most:
                break
    return list(found.values())


def _without(text: str, spans: Sequence[Span]) -> MaskedText:
    edges = [0, *(edge for span in spans for edge in span[:2]), len(text)]
    parts = tuple(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    answers = tuple(text[span.start : span.end] for span in spans)
    return MaskedText(parts, tuple(span.kind for span in spans), answers)


def _drawn(text: str, seed: int, id: str) -> tuple[Span, ...]:
    """The blanks of one draw; none where they are not as they should be."""

    def chance(*names: object) -> float:
        return number(seed, "mask", id, *map(str, names)) / _ALL

    spans: list[Span] = []
    whole = list(sentences(text))
    begin = 0
    for nth, sentence in enumerate(whole):
        begin = text.index(sentence, begin)
        end = begin + len(sentence)
        if len(whole) > 1 and chance("sentence", nth) < SENTENCE:
            spans.append(Span(begin, end, "sentence"))
        else:
            words = [match.span() for match in _WORD.finditer(text, begin, end)]
            at = 0
            while at < len(words):
                size = _size(chance("word", nth, at), chance("size", nth, at))
                size = min(size, len(words) - at)
                start, stop = words[at][0], words[at + size - 1][1]
                if size and content_lemmas(text[start:stop]):
                    spans.append(Span(start, stop, "word" if size == 1 else "phrase"))
                    at += size
                at += 1
        begin = end
    return tuple(spans) if _is_usable(text, spans) else ()


def _size(masked: float, size: float) -> int:
    """How many words are taken out by these chances; 0: none."""
    if masked >= WORD:
        return 0
    return 1 if size >= PHRASE else 2 + int(size / PHRASE * (LONGEST_PHRASE - 1))


def _is_usable(text: str, spans: Sequence[Span]) -> bool:
    taken = [text[span.start : span.end] for span in spans]
    words = len(words_of(text))
    return (
        SPANS <= len(spans) <= MOST_SPANS
        and all(content_lemmas(answer) for answer in taken)
        and all(one.end + 1 < other.start for one, other in pairwise(spans))
        and words - sum(len(words_of(answer)) for answer in taken) >= SHOWN * words
    )

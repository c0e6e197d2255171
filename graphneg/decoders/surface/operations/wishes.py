"""State what a question or request shows about its speaker, so that a reply can repeat it.

`requests` writes a request as a statement that begins with "I want", and `questions` writes a question as a
statement that begins with "I know". This module contains the steps that both need. "And may I try it on,
please?" is first cut to "may I try it on?". At the end, "try it on" becomes "I want to try it on." The other
speaker says "You want to try it on.", and `negate_statement` negates this sentence: "You don't want to try it
on."
"""

from __future__ import annotations

from collections.abc import Set

from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.draft import EDGE, Token
from graphneg.decoders.surface.operations.restating import cut_openings, keep_text, words_of
from graphneg.english.words import word_class


def keep_request(source: SentenceDraft, k: int, openings: str) -> None:
    """Keep only a question or request, without *please* and without the words that open it.

    If the words of the clause are in several sentences, or if there are none, `keep_text` raises
    `RealisationError`.

    Args:
        source: The sentences of a turn, edited in place.
        k: The index of the top node of the question or request.
        openings: Name of a class of words in ``restating.tsv`` to remove from the beginning.
    """
    keep_text(source, k)
    _cut_please(source)
    cut_openings(source)
    tokens = source.tokens
    # Remove an opening phrase: "Excuse me, how much is it?" becomes "how much is it?".
    comma = next((index for index, token in enumerate(tokens) if token.text == ","), 0)
    if "_".join(token.lower for token in tokens[:comma]) in words_of("opening-phrases"):
        source.cut(0, comma + 1)
    while len(tokens) > 2 and tokens[0].lower in words_of(openings):
        source.cut(0, 2 if tokens[1].text == "," else 1)


def is_formula(source: SentenceDraft, formulas: Set[str]) -> bool:
    """Return whether a question or request is a formula or a courtesy, such as "How are you?" or "Hold on".

    Args:
        source: The question or request, without its openings.
        formulas: The beginnings of formulas. Their words are joined by underscores.

    Returns:
        True if nobody would repeat the words as a wish.
    """
    words = [token.lower for token in source.tokens]
    text = "_".join(words) + "_"
    begins = any(text.startswith(formula + "_") for formula in formulas)
    return begins or not word_class("courtesies").isdisjoint(words)


def state_as_own(source: SentenceDraft, *words: Token) -> None:
    """Put *I* and a verb before words, as in "I want to try it on".

    Args:
        source: The words of the request or question, edited in place.
        *words: The words between *I* and the words of the source.
    """
    source.insert(0, Token("I", "PRS"), *words)
    source.tokens.append(Token(".", "EN"))


def negate_statement(source: SentenceDraft) -> None:
    """Negate a statement about a wish or knowledge: "you want to try it on" -> "you don't want to try it on".

    Args:
        source: The statement, edited in place. Its first word is the subject, *I* or *you*.
    """
    source.insert(1, Token("do", "AX"), Token("n't" if source.contracts else "not", "NEG"))


def _cut_please(source: SentenceDraft) -> None:
    """Remove *please*, with a comma next to it."""
    tokens = source.tokens
    for token in [token for token in tokens if token.lower == "please"]:
        index = tokens.index_of(token)
        before, after = tokens.get(index - 1), tokens.get(index + 1)
        # Remove the comma before *please* in "Open it, please", but not in "Yes, please open it", where it
        # belongs to *yes*.
        last = after is EDGE or after.tag == "EN"
        start = index - 1 if last and index and before.text == "," else index
        source.cut(start, index + 2 if after.text == "," else index + 1)

"""Find the contiguous words that express a subtree.

The phrase of a subtree consists of the words of its nodes and of the function words between them. `phrase`
finds these words, starting from the head word, and determines the kind of the phrase. The kind decides which
phrases can replace each other.

Example: in "She told the man in the hat everything.", the phrase of the node ``man`` is "the man in the hat",
of kind ``nominal``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.analysis.verb_groups import VerbGroup
from graphneg.decoders.surface.draft import RealisationError, Token, Tokens
from graphneg.decoders.surface.inflection import pronoun_cases
from graphneg.english.tagging import FINITE, NOUNS, VERBS
from graphneg.english.words import word_class

_NOMINAL = NOUNS | {"PN", "CD"}
# Tags of words that can precede the finite verb of a relative clause, such as *who* in "the man *who* left".
# Such a verb is part of a noun phrase.
_RELATIVE = frozenset({"WP", "SC", "PRS", "NEG", "RB", "AX", "MD"})
# Tags of words that must not end a phrase: "the man in".
_HANGING = frozenset({"IN", "TO", "SC", "WP", "CC", "PU", "AX", "MD", "DT", "PS"})
# Tags of function words. A phrase may contain them even if they express a node outside its subtree.
_FUNCTIONAL = frozenset({"PS", "DT", "PRS", "PRO", "CC", "NEG", "MD", "AX"})
# Pattern for concepts that often have no word of their own, such as ``date-entity``. The phrase of such a
# node is found through the words of its children.
_WORDLESS = re.compile(r"^(?:and|or|person|thing|name|.*-(?:entity|quantity|91))$")
_KINDS = {"infinitive": "verb", "bare": "verb", "gerund": "verb", "participle": "adjective"}
# Maximum number of tokens between two aligned words of a phrase.
_GAP_REACH = 6


@dataclass(slots=True)
class Phrase:
    """The contiguous words that express a subtree of the graph.

    Attributes:
        start: The index of the first token of the phrase.
        end: The index after the last token of the phrase.
        kind: ``nominal``, ``determiner``, ``possessive``, ``modifier`` (adjective before its noun),
            ``adjective``, ``adverb``, ``verb`` (without tense), ``predicate`` (with tense), ``clause`` (with
            its subject) or ``other``.
        head: The index of the head word of the phrase.
    """

    start: int
    end: int
    kind: str
    head: int


def phrase(sentence: SentenceDraft, k: int) -> Phrase:
    """Find the contiguous words that express a subtree, with the function words that belong to them.

    Raises `RealisationError` (``no-alignment``) if no word expresses the top node of the subtree.

    Args:
        sentence: The sentence being edited.
        k: The index of the top node of the subtree.

    Returns:
        The bounds, the kind and the head of the phrase.
    """
    concept, tokens = sentence.node(k).concept, sentence.tokens
    if concept in ("and", "or"):
        return _coordination(sentence, k)
    if concept == "name" and (own := sentence.indices(k)):
        return Phrase(own[0], own[-1] + 1, "nominal", own[-1])
    head = _head(sentence, k)
    tag, low = tokens[head].tag, head
    lone = {"PRS": "nominal", "PRO": "nominal", "DT": "determiner", "PS": "possessive"}.get(tag)
    if tag == "PN" and pronoun_cases(tokens[head].text):
        lone = "nominal"
    # In "six years", the number is the determiner of its noun.
    if tag == "CD" and sentence.is_noun(head + 1):
        lone = "determiner"
    if lone is not None:
        return Phrase(head, head + 1, lone, head)
    group = next((group for group in sentence.parse_verbs() if head in group.chain), None)
    start, high = _window(sentence, k, head)
    if group is not None and tag not in NOUNS:
        return _verb_phrase(sentence, k, group, start, high, head)
    if tag in _NOMINAL:
        return _noun_phrase(sentence, k, start, high, head)
    if tag in ("JJ", "VBN", "VBG"):
        # Degree words belong to the phrase of the adjective: "very happy".
        while low and tokens[low - 1].lower in word_class("degree-words"):
            low -= 1
        if sentence.is_noun(high) or tokens.get(high).tag == "JJ":
            return Phrase(low, max(head + 1, high), "modifier", head)
        return Phrase(low, high, "adjective", head)
    return Phrase(start, high, "adverb" if tag in ("RB", "WP") else "other", head)


def _noun_phrase(sentence: SentenceDraft, k: int, low: int, high: int, head: int) -> Phrase:
    """Return the phrase whose head is the noun at ``head``."""
    tokens, owners, last = sentence.tokens, sentence.owners(), sentence.node(k).subtree_last
    # In "bank account", *bank* only modifies *account*, so the phrase of *bank* is this single word.
    if sentence.is_noun(head + 1) and owners.get(head + 1, k) < k:
        return Phrase(head, head + 1, "modifier", head)
    start, end = sentence.noun_phrase(head)
    modifiers = {"JJ", "VBN", "VBG", "RB", "CD", *NOUNS}
    if all(token.tag in modifiers for token in tokens[low:start]):
        start = min(start, low)
    # Start the phrase after the last word before the noun that expresses a node outside the subtree.
    for index in range(head - 1, start - 1, -1):
        owner = owners.get(index)
        if owner is None or k <= owner <= last or tokens[index].tag in ("PS", "DT"):
            continue
        if not owner <= k <= sentence.node(owner).subtree_last:
            start = index + 1
            break
    return Phrase(start, max(high, end), "nominal", head)


def _coordination(sentence: SentenceDraft, k: int) -> Phrase:
    """Return the phrase of an *and* or *or* node, from its first to its last conjunct."""
    children = sentence.graph.children(k)
    parts = [phrase(sentence, child.position) for child in children if (child.role or "").startswith("op")]
    if not parts:
        raise RealisationError(
            "no-alignment", f"no words are aligned with the conjuncts of {sentence.node(k).label}"
        )
    start, end = min(part.start for part in parts), max(part.end for part in parts)
    if any(token.tag == "EN" for token in sentence.tokens[start:end]):
        raise RealisationError("unclear-clause", "the conjuncts are in several sentences")
    kinds = {part.kind for part in parts}
    return Phrase(start, end, parts[0].kind if len(kinds) == 1 else "other", parts[0].head)


def _head(sentence: SentenceDraft, k: int) -> int:
    """Return the index of the head word of a node. If it has no word, use a word of one of its children."""
    indices = sentence.indices(k)
    if indices:
        run = indices[-1] - indices[0] == len(indices) - 1
        return indices[-1] if run and sentence.is_noun(indices[-1]) else indices[0]
    if _WORDLESS.match(sentence.node(k).label):
        firsts = [
            index for child in sentence.graph.children(k) for index in sentence.indices(child.position)[:1]
        ]
        if firsts:
            return min(firsts, key=lambda index: sentence.tokens[index].tag in ("DT", "CD"))
    raise RealisationError("no-alignment", f"no words are aligned with {sentence.node(k).label}")


def _window(sentence: SentenceDraft, k: int, head: int) -> tuple[int, int]:
    """Extend the head word of a subtree to both sides, and return the bounds of the phrase.

    The extension stops before a content word that expresses a node outside the subtree. The determiner of a
    noun phrase is included. A preposition at the end is not.

    Args:
        sentence: The sentence being edited.
        k: The index of the top node of the subtree.
        head: The index of the head word.

    Returns:
        The index of the first token of the phrase, and the index after its last token.
    """
    tokens, last = sentence.tokens, sentence.node(k).subtree_last
    # The subject and the negation of a noun or adjective are not part of its phrase. In "She is not a
    # teacher", the phrase of *teacher* is "a teacher".
    outside = {
        node.position
        for child in sentence.graph.children(k)
        if child.role in ("domain", "polarity", "mode")
        for node in sentence.graph.subtree(child.position)
    }
    inside = sorted(
        {i for inner in range(k, last + 1) if inner not in outside for i in sentence.indices(inner)}
    )
    foreign = sentence.owners().keys() - set(inside)
    low, high = head, head + 1
    for index in reversed([index for index in inside if index < head]):
        if not _clear(tokens, foreign, index + 1, low) or _has_mark(tokens[index + 1 : low]):
            break
        low = index
    for index in [index for index in inside if index >= head]:
        if not _clear(tokens, foreign, high, index):
            break
        if _has_mark(tokens[high:index]) and not _listed(sentence, k, index):
            break
        # The phrase of a noun must not include a finite verb, unless the verb is in a relative clause: "the
        # man who left".
        finite = tokens[index].tag in FINITE and tokens.get(index - 1).tag not in _RELATIVE
        if sentence.is_noun(head) and finite:
            break
        high = max(high, index + 1)
    if low < head:
        while tokens.get(low - 1).tag in ("DT", "PS", "JJ") and tokens[low].tag in (*NOUNS, "JJ", "CD"):
            low -= 1
        if tokens.get(low - 1).tag == "IN" and tokens[head].tag in VERBS:
            low -= 1
    return low, max(head + 1, tokens.run_start(high, _HANGING))


def _has_mark(tokens: Sequence[Token]) -> bool:
    """Return whether a sequence of tokens contains a punctuation mark other than a hyphen."""
    return any(token.tag == "PU" and token.text != "-" for token in tokens)


def _listed(sentence: SentenceDraft, k: int, index: int) -> bool:
    """Return whether a word may follow a comma because it is in a list: "pears" in "apples, pears"."""
    token = sentence.tokens[index]
    for inner in range(k + 1, sentence.node(k).subtree_last + 1):
        at: int | None = inner if token in sentence.tokens_of_node.get(inner, ()) else None
        while at is not None and at > k:
            if re.match(r"op\d", sentence.node(at).role or ""):
                return token.tag not in ("PRS", "PRO")
            at = sentence.node(at).parent
    return False


def _clear(tokens: Tokens, foreign: set[int], start: int, end: int) -> bool:
    """Return whether a phrase may be extended over the tokens between two indices.

    The phrase must not be extended over many tokens, an end mark or a quotation mark. It must not be extended
    over a content word of another phrase either. ``foreign`` contains the indices of all words that express
    nodes outside the subtree.
    """
    between = tokens[start:end]
    if len(between) > _GAP_REACH or any(token.tag == "EN" or token.is_quote for token in between):
        return False
    return all(tokens[index].tag in _FUNCTIONAL for index in range(start, end) if index in foreign)


def _verb_phrase(sentence: SentenceDraft, k: int, group: VerbGroup, low: int, high: int, head: int) -> Phrase:
    """Return the phrase of a verb, with its subject if the subject is a pronoun or belongs to the subtree."""
    low, high = min(low, group.first), max(high, group.main + 1)
    if group.kind == "finite" and group.subject is not None:
        (start, end), owners = group.subject, sentence.owners()
        own = any(k <= owners.get(index, -1) <= sentence.node(k).subtree_last for index in range(start, end))
        if own or sentence.tokens[start].tag in ("PRS", "EX", "PN"):
            return Phrase(min(low, start), max(high, end), "clause", head)
    kind = _KINDS.get(group.kind, "predicate")
    return Phrase(group.first if kind == "verb" else low, high, kind, head)

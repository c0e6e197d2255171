"""Choose the meaning of each word from several candidates.

A candidate is a fragment of a graph: one concept, or several nodes with their arcs. The candidates for a word
are the fragments that it had in annotated graphs, the PropBank frames of its lemma, the lemma itself, and the
fragment that the rules wrote. A network scores the candidates. Each word gets the candidate with the highest
score, unless the rules already settle its meaning. For *left* in *She left the house*, the candidates include
``leave-11``, ``leave-02`` and ``leave``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.learned.features import kind_of, stem_of
from graphneg.parsers.dependency.learned.tables import (
    LETTERS,
    FragmentCounts,
    Meanings,
    Model,
    draft_fragments,
    put_fragment,
    read_fragment,
    sense_keys,
    word_key,
    write_fragment,
)
from graphneg.parsers.dependency.text import Word

_AMOUNTS = frozenset({"many", "much"})
_IMPERATIVE = "=imperative"
"""Label of an imperative in a graph fragment. Imperatives that the rules found are kept, because the
training data contain few imperatives.
"""
_FIXED = frozenset(
    {"name", "date-entity", "date-interval", "url-entity", "email-address-entity", "phone-number-entity"}
)
"""Concepts of names, dates and addresses. The rules recognise these reliably, so the models keep them."""


class FragmentOption(NamedTuple):
    """A candidate for the meaning of a word.

    Attributes:
        fragment: The part of the graph that the word would contribute, such as ``leave-11``. The module
            `graphneg.parsers.dependency.learned.tables` describes the notation.
        features: Names of the features with which the network scores the candidate.
    """

    fragment: str
    features: list[str]


def candidates(
    meanings: Meanings,
    words: Sequence[Word],
    i: int,
    rule_fragment: str,
    held_out_counts: Mapping[str, tuple[int, int]],
) -> list[FragmentOption]:
    """Return the graph fragments that a word may contribute, as candidates for the network.

    Args:
        meanings: Tables with counts of fragments and PropBank frames.
        words: The words of the text.
        i: Index of the word.
        rule_fragment: The fragment that the rules wrote; empty if the word has no node.
        held_out_counts: Counts to subtract, keyed by fragment. During training, these are the counts from the
            sentence itself.

    Returns:
        The candidates with their features. The first candidate is the fragment that the rules wrote.
    """
    word = words[i]
    letter = LETTERS.get(word.pos, "")
    sources: dict[str, list[str]] = {rule_fragment: ["rules"]}
    seen: dict[str, tuple[int, int]] = {}
    for text, counts in meanings.seen.get(word_key(word), {}).items():
        less = held_out_counts.get(text, (0, 0))
        seen[text] = max(counts[0] - less[0], 0), max(counts[1] - less[1], 0)
    total = [sum(counts[corpus] for counts in seen.values()) for corpus in (0, 1)]
    for fragment, counts in seen.items():
        large = fragment[:1] == "=" and len(fragment) > 3 and fragment[1:].isdigit()
        # With the empty fragment, the word would get no node. So skip it if the rules wrote a node.
        # Also skip large numbers: "two" may be aligned with 2000000000 because of "two billion".
        if not any(counts) or (rule_fragment and not fragment) or large:
            continue
        marks = sources.setdefault(fragment, [])
        for name, count, whole in zip("ab", counts, total, strict=True):
            if count:
                marks += [f"{name}{_share(count, whole)}", f"{name}n{_log2_level(count)}"]
    for key in sense_keys(word) if letter else ():
        senses = meanings.senses.get(key, ())
        whole = sum(sense.examples for sense in senses)
        for n, sense in enumerate(senses):
            # Nouns and adjectives may have the frame of a verb: "decision" has decide-01.
            if sense.letter == letter or (sense.letter == "v" and word.tag in {"VBG", "VBN", "NN", "JJ"}):
                mark = f"pb{min(n, 3)}{'+' if '_' in key else ''}{sense.letter}{letter}"
                sources.setdefault(sense.frame, []).extend([mark, f"pbx{_share(sense.examples, whole)}"])
    if letter:
        sources.setdefault(word.lemma, []).append("lemma")
    _add_variants(sources, rule_fragment)
    if _IMPERATIVE in read_fragment(rule_fragment).labels:
        sources = {
            text: marks for text, marks in sources.items() if _IMPERATIVE in read_fragment(text).labels
        }
    known = f"{_log2_level(total[0])}{_log2_level(total[1])}"
    return [
        FragmentOption(text, _features(word, text, marks, known, rule_fragment))
        for text, marks in sources.items()
    ]


def words_to_choose(draft: GraphDraft) -> Iterator[tuple[Word, str, list[int]]]:
    """Yield the words whose meaning the network should choose.

    Names, dates, numbers and multiword expressions are left out. Words for which the rules are more reliable
    than the network are also left out, and so are words that refer to the node of another word.

    Args:
        draft: The graph under construction.

    Yields:
        The word, the fragment that the rules wrote for it, and the indices of its nodes.
    """
    given = draft_fragments(draft)
    closed = _words_of_expressions(draft)
    again = {token for node in draft.nodes if not node.deleted for token in node.mentions}
    for word in draft.words:
        text, group = given.get(word.i, ("", []))
        stands = word.i in closed or is_fixed(text) or _rules_decide(word, text)
        if not stands and (group or word.i not in again):
            yield word, text, group


def _rules_decide(word: Word, text: str) -> bool:
    """Return whether the rules choose the concept of a word more reliably than the network.

    Args:
        word: The word.
        text: The graph fragment that the rules wrote for the word, such as ``leave-11``.
    """
    # For the noun in "on leave", the network would wrongly choose a frame of the verb, so trust the rules.
    if (word.lower, word.tag) == ("leave", "NN"):
        return True
    # An amr-unknown marks what a question asks for. Keep it, unless the word is tagged as a question word:
    # "where" can also start a relative clause, so the network decides.
    if text == "amr-unknown":
        return word.tag[0] != "W"
    head, after = word.parent, word.following
    following = after.lower if after is not None else ""
    if text == "":
        # "How" in "how many", "let" in "let's go", "not" and "'s" need no node in the graph. Do not let the
        # network add one.
        how_many = word.lower == "how" and following in _AMOUNTS
        lets = word.lemma == "let" and following in {"'s", "us"}
        return how_many or lets or word.lemma in {"not", "n't"} or word.lower == "'s"
    # In "so nice", "so" is a degree, so keep its node. In other uses, as in "I think so", the neural network
    # decides whether "so" gets a node.
    degree = word.lower == "so" and word.dep == "advmod" and head.i > word.i and head.tag[:2] in {"JJ", "RB"}
    amount = word.lower in _AMOUNTS and text == "thing"
    return amount or degree or word.lower == "'s" or word.lemma == "be"


def _words_of_expressions(draft: GraphDraft) -> set[int]:
    """Return the indices of the words that share one concept with other words: *no one*, *at all*."""
    covered: set[int] = set()
    for node in draft.nodes:
        if not node.deleted and node.token is not None and kind_of(node.label) == "concept":
            word = draft.words[node.token]
            if node.start < word.start or node.end > word.end:
                covered.update(w.i for w in draft.words if node.start <= w.start and w.end <= node.end)
    return covered


def is_fixed(fragment: str) -> bool:
    """Return whether a graph fragment from the rules must be kept: it has a name, a date or a number.

    Args:
        fragment: The fragment, in the notation of `graphneg.parsers.dependency.learned.tables`.

    Returns:
        True if the fragment must be kept.
    """
    return any(
        label in _FIXED or label[:2] == '="' or (label[1:2].isdigit() and label[0] == "=")
        for label in read_fragment(fragment).labels
    )


def _add_variants(sources: dict[str, list[str]], concept: str) -> None:
    """Add copies of the rules' fragment with other senses of its frame.

    For *player*, the rules wrote ``(person :ARG0-of play-01)``, so ``(person :ARG0-of play-11)`` is added.
    """
    labels, arcs = read_fragment(concept)
    frames = [n for n, label in enumerate(labels) if kind_of(label) == "frame"]
    # Add no copies of a frame without other nodes, because all its senses are candidates anyway. If there are
    # several frames, it is unclear which of them to replace.
    if len(labels) < 2 or len(frames) != 1:
        return
    for text in [text for text in sources if kind_of(text) == "frame" and " " not in text]:
        if text != labels[frames[0]]:
            other = [text if n == frames[0] else label for n, label in enumerate(labels)]
            sources.setdefault(write_fragment(other, arcs), []).append("variant")


def _share(count: int, whole: int) -> str:
    """Return the ratio of two counts, rounded to quarters, as a feature value: ``3`` for three quarters."""
    return str(round(4 * count / whole)) if whole else ""


def _log2_level(count: int) -> int:
    """Return the order of magnitude of a count as a feature value: 1 for 1 and 2, 2 for 3 to 6, at most 5."""
    return min(int(math.log2(count + 1)), 5)


def _features(word: Word, text: str, marks: list[str], known: str, given: str) -> list[str]:
    """Return the features of a candidate fragment as short strings, such as ``f=leave-11``."""

    def part(label: str) -> str:
        if label == word.lemma:
            return "L"
        return kind_of(label.removeprefix("=")) + ("=" if stem_of(label) == word.lemma else "")

    shape = "+".join(map(part, read_fragment(text).labels))
    sources = ",".join(sorted(mark for mark in marks if not mark.startswith(("an", "bn"))))
    return [
        *(f"m={mark}" for mark in marks), f"s={shape}", f"src={sources}", f"srck={sources},{known}",
        f"f={text}", f"fl={text},{word.lemma}", f"st={shape},{word.tag}", f"sd={shape},{word.dep}",
        f"rt={'rules' in marks},{word.tag},{word.dep}", f"g={given == ''},{text == ''},{known}",
    ]  # fmt: skip


def context_features(meanings: Meanings, words: Sequence[Word], i: int) -> list[str]:
    """Return the features of a word's context. The network combines them with the features of each candidate.

    Args:
        meanings: Tables with word clusters.
        words: The words of the text.
        i: Index of the word.

    Returns:
        Names of the features, such as ``l=leave`` for the lemma of the word.
    """
    word = words[i]
    head, before, after = word.parent, word.previous, word.following
    features = [
        f"l={word.lemma}", f"t={word.tag}", f"d={word.dep}", f"hl={head.lemma}", f"ht={head.tag}",
        f"pl={before.lower if before else '^'}", f"nl={after.lower if after else '$'}",
        f"w={word.lower}", f"nt={after.tag if after else '$'}", f"pt={before.tag if before else '^'}",
    ]  # fmt: skip
    features += [f"g={n}" for n in meanings.clusters.get(word.lemma, ())]
    features += [f"hg={n}" for n in meanings.clusters.get(head.lemma, ())]
    for below in word.children():
        groups = meanings.clusters.get(below.lemma, ())[:1]
        features += [f"kd={below.dep}", *(f"kg={below.dep},{n}" for n in groups)]
        features.append(f"kl={below.dep},{below.lemma}")
    return features


SENSE_MARGIN = 2.0
"""Margin in log odds. Another sense of a verb must beat the rules' sense by at least this margin.

The margin is large because the usual sense of a verb differs between kinds of text.
"""


def choose_concepts(
    meanings: Meanings,
    model: Model,
    draft: GraphDraft,
    own: FragmentCounts | None = None,
    sure: float = SENSE_MARGIN,
) -> None:
    """Choose the graph fragment of each word, such as ``sing-01``, with a network.

    The rules have written a fragment for each word. It is replaced if the network scores another possible
    fragment higher. Words for which the rules are more reliable than the network are left out.

    Args:
        meanings: Tables with counts, frames and word clusters.
        model: The network that scores the possible fragments.
        draft: The graph under construction; it is changed in place.
        own: Counts to subtract from ``meanings``. During training, these are the counts from the sentence
            itself, so that the network does not see the correct answer; otherwise ``None``.
        sure: Minimum margin, in log odds, for replacing a sense that the rules chose for a verb, such as
            ``run-01``, by another sense of the same verb, such as ``run-02``.
    """
    undecided: list[tuple[int, list[int], list[FragmentOption]]] = []
    for word, given, group in words_to_choose(draft):
        choices = candidates(meanings, draft.words, word.i, given, (own or {}).get(word_key(word), {}))
        if len(choices) > 1:
            undecided.append((word.i, group, choices))
    if not undecided:
        return
    contexts = [context_features(meanings, draft.words, token) for token, _, _ in undecided]
    around = model.sums("context", "context", contexts) + model.arrays["bias"]
    bags = [option.features for _, _, choices in undecided for option in choices]
    rows = model.sums("candidate", "candidate", bags)
    sizes = [len(choices) for _, _, choices in undecided]
    hidden = np.maximum(np.repeat(around, sizes, axis=0) + rows[:, :-1], 0)
    scores = hidden @ model.arrays["out"] + rows[:, -1]
    begin = 0
    for token, group, choices in undecided:
        best = int(np.argmax(scores[begin : begin + len(choices)]))
        if scores[begin + best] - scores[begin] > _required_margin(
            choices[0].fragment, choices[best].fragment, sure
        ):
            put_fragment(draft, token, choices[best].fragment, group)
        begin += len(choices)


def _required_margin(given: str, other: str, sure: float) -> float:
    """Return how much higher, in log odds, a candidate must score to replace the fragment of the rules.

    Args:
        given: The fragment that the rules wrote, such as ``run-01``.
        other: The candidate, such as ``run-02``.
        sure: The margin if both are senses of the same verb.
    """
    if kind_of(given) != "frame" or kind_of(other) != "frame" or stem_of(given) != stem_of(other):
        return 0.0
    # The sense of "like" is never changed. Whether like-02 is right depends on "would" ("I would like"),
    # which the features do not show.
    return inf if stem_of(given) == "like" else sure

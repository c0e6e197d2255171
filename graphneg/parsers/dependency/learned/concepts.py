"""Chooses what each word means among its candidates.

In: a draft, the table of meanings, and a network. Out: the draft, in which each open word stands for the
fragment with the highest score: of those seen in annotated graphs, PropBank's senses, its lemma, and the
rules' own.
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
_ORDER = "=imperative"
"""What the rules read as an order stays one: the training data have few."""
_FIXED = frozenset(
    {"name", "date-entity", "date-interval", "url-entity", "email-address-entity", "phone-number-entity"}
)


class FragmentOption(NamedTuple):
    """A fragment that a word may stand for, and its features."""

    fragment: str
    features: list[str]


def candidates(
    meanings: Meanings, words: Sequence[Word], i: int, given: str, left_out: Mapping[str, tuple[int, int]]
) -> list[FragmentOption]:
    """The fragments that a word may stand for, the rules' own (``given``) first.

    ``left_out`` are counts to take off, those of the sentence itself while training.
    """
    word = words[i]
    letter = LETTERS.get(word.pos, "")
    sources: dict[str, list[str]] = {given: ["rules"]}
    seen: dict[str, tuple[int, int]] = {}
    for text, counts in meanings.seen.get(word_key(word), {}).items():
        less = left_out.get(text, (0, 0))
        seen[text] = max(counts[0] - less[0], 0), max(counts[1] - less[1], 0)
    total = [sum(counts[corpus] for counts in seen.values()) for corpus in (0, 1)]
    for fragment, counts in seen.items():
        large = fragment[:1] == "=" and len(fragment) > 3 and fragment[1:].isdigit()
        if not any(counts) or (given and not fragment) or large:
            continue  # A number of several digits is another sentence's *two billion*.
        marks = sources.setdefault(fragment, [])
        for name, count, whole in zip("ab", counts, total, strict=True):
            if count:
                marks += [f"{name}{_share(count, whole)}", f"{name}n{_level(count)}"]
    for key in sense_keys(word) if letter else ():
        senses = meanings.senses.get(key, ())
        whole = sum(sense.examples for sense in senses)
        for n, sense in enumerate(senses):
            if sense.letter == letter or (sense.letter == "v" and word.tag in {"VBG", "VBN", "NN", "JJ"}):
                mark = f"pb{min(n, 3)}{'+' if '_' in key else ''}{sense.letter}{letter}"
                sources.setdefault(sense.frame, []).extend([mark, f"pbx{_share(sense.examples, whole)}"])
    if letter:
        sources.setdefault(word.lemma, []).append("lemma")
    _add_variants(sources, given)
    if _ORDER in read_fragment(given).labels:
        sources = {text: marks for text, marks in sources.items() if _ORDER in read_fragment(text).labels}
    known = f"{_level(total[0])}{_level(total[1])}"
    return [
        FragmentOption(text, _features(word, text, marks, known, given)) for text, marks in sources.items()
    ]


def open_words(draft: GraphDraft) -> Iterator[tuple[Word, str, list[int]]]:
    """The words to choose for, with the rules' fragment and its nodes.

    Names, dates, numbers and expressions of several words stand, and so do words that mean what another
    word brought in, and what :func:`_stands` says.
    """
    given = draft_fragments(draft)
    closed = _words_of_expressions(draft)
    again = {token for node in draft.nodes if not node.gone for token in node.mentions}
    for word in draft.words:
        text, group = given.get(word.i, ("", []))
        stands = word.i in closed or is_fixed(text) or _stands(word, text)
        if not stands and (group or word.i not in again):
            yield word, text, group


def _stands(word: Word, text: str) -> bool:
    """Whether the rules know best: *on leave*, *how many*, *let's*, *not only*, *so* of degree, a *be*."""
    if (word.lower, word.tag) == ("leave", "NN"):
        return True
    if text == "amr-unknown":
        return word.tag[0] != "W"
    head, after = word.parent, word.following
    following = after.lower if after is not None else ""
    if text == "":
        how_many = word.lower == "how" and following in _AMOUNTS
        lets = word.lemma == "let" and following in {"'s", "us"}
        return how_many or lets or word.lemma in {"not", "n't"} or word.lower == "'s"
    degree = word.lower == "so" and word.dep == "advmod" and head.i > word.i and head.tag[:2] in {"JJ", "RB"}
    amount = word.lower in _AMOUNTS and text == "thing"
    return amount or degree or word.lower == "'s" or word.lemma == "be"


def _words_of_expressions(draft: GraphDraft) -> set[int]:
    """The words that a concept (no frame) stands for together with others: *no one*, *at all*."""
    covered: set[int] = set()
    for node in draft.nodes:
        if not node.gone and node.token is not None and kind_of(node.label) == "concept":
            word = draft.words[node.token]
            if node.start < word.start or node.end > word.end:
                covered.update(w.i for w in draft.words if node.start <= w.start and w.end <= node.end)
    return covered


def is_fixed(fragment: str) -> bool:
    """Whether the rules' fragment stands: names and their parts, dates, numbers."""
    return any(
        label in _FIXED or label[:2] == '="' or (label[1:2].isdigit() and label[0] == "=")
        for label in read_fragment(fragment).labels
    )


def _add_variants(sources: dict[str, list[str]], given: str) -> None:
    """The rules' fragment of several nodes, with each other frame in place of its own."""
    labels, arcs = read_fragment(given)
    frames = [n for n, label in enumerate(labels) if kind_of(label) == "frame"]
    if len(labels) < 2 or len(frames) != 1:
        return
    for text in [text for text in sources if kind_of(text) == "frame" and " " not in text]:
        if text != labels[frames[0]]:
            other = [text if n == frames[0] else label for n, label in enumerate(labels)]
            sources.setdefault(write_fragment(other, arcs), []).append("variant")


def _share(count: int, whole: int) -> str:
    return str(round(4 * count / whole)) if whole else ""


def _level(count: int) -> int:
    return min(int(math.log2(count + 1)), 5)


def _features(word: Word, text: str, marks: list[str], known: str, given: str) -> list[str]:
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
    """What stands around a word, to be crossed with its candidates by the network."""
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


SURE = 2.0
"""Another sense of the rules' verb needs so much more of a score: texts differ in which senses are usual."""


def choose_concepts(
    meanings: Meanings, model: Model, draft: GraphDraft, own: FragmentCounts | None = None, sure: float = SURE
) -> None:
    """Gives each word the candidate with the highest score; the rules' own if none is higher.

    A candidate that is another sense of the rules' own must be higher by ``sure`` (log odds).
    ``own`` is what the sentence itself added to the meanings, if it did.
    """
    undecided: list[tuple[int, list[int], list[FragmentOption]]] = []
    for word, given, group in open_words(draft):
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
        if scores[begin + best] - scores[begin] > _needed(choices[0].fragment, choices[best].fragment, sure):
            put_fragment(draft, token, choices[best].fragment, group)
        begin += len(choices)


def _needed(given: str, other: str, sure: float) -> float:
    """How much higher another fragment's score must be: by ``sure`` if both are senses of one verb. Rules
    alone choose senses of *like*, by what the learned parts don't read (*I like*, *I would like*)."""
    if kind_of(given) != "frame" or kind_of(other) != "frame" or stem_of(given) != stem_of(other):
        return 0.0
    return inf if stem_of(given) == "like" else sure

"""What *no* denies: the noun (*there is no man*), or what the noun does (*no man is running*).

In: a draft and a logistic regression over the sentence's words. Out: the polarity where annotators would most
likely have written it; they and parsers write both for *There is no man running*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.learned.networks import Model
from graphneg.parsers.dependency.rules.state import SUBJECTS
from graphneg.parsers.dependency.words import Word

_MOST = 14
SURE, SURE_OF_NEW = 0.25, 1.5
"""Lower log odds, either way, leave the polarity where the arcs have it; they know more of verbs that were
never seen with a *no*."""


class NegatedSubject(NamedTuple):
    """A *no*, its noun, and the verb that the noun is the subject of."""

    no: Word
    noun: Word
    verb: Word


def denials(words: Sequence[Word]) -> Iterator[NegatedSubject]:
    """Each *no* that stands beside a subject."""
    for word in words:
        if word.lower != "no" or word.dep not in {"det", "neg"}:
            continue
        head = word.parent
        if word.dep == "neg":
            noun = next((kid for kid in head.children(*SUBJECTS) if kid.i > word.i), None)
            if noun is not None and head.tag[:2] == "VB":
                yield NegatedSubject(word, noun, head)
        elif head.dep in SUBJECTS and head.parent.tag[:2] == "VB" and head.parent.lemma != "be":
            yield NegatedSubject(word, head, head.parent)


def features(denial: NegatedSubject) -> list[str]:
    """What the regression looks at."""
    no, noun, verb = denial
    behind = [word for word in verb.subtree() if word.i > no.i and word.tag[0].isalpha()]
    kids = [kid for kid in verb.children() if kid.i > noun.i]
    deps = "+".join(sorted({kid.dep for kid in kids} & {"dobj", "prep", "advmod", "conj", "prt", "advcl"}))
    size = len(behind)
    bag = ["1", f"n={noun.lemma}", f"v={verb.lemma}", f"vt={verb.tag}", f"k={deps}", f"e={no.dep}"]
    bag += [f"nm={noun.child('amod', 'compound') is not None}", f"l={min(size, _MOST)}"]
    bag += [f"l>{n}" for n in range(3, _MOST) if size > n]
    bag += [f"kd={kid.dep}" for kid in kids]
    for kid in kids:
        if kid.dep == "dobj":
            bag += [f"od={determiner.lower}" for determiner in kid.children("det")] + [f"ot={kid.tag}"]
    bag += [f"w={word.lower}" for word in behind]
    bag += [f"b={a.lower}_{b.lower}" for a, b in pairwise(behind)]
    return bag


def place_negation(model: Model, draft: Draft) -> None:
    """Moves the polarity of each such *no* to where it most likely stands."""
    for denial in denials(draft.words):
        noun, verb = _concept_at(draft, denial.noun), _concept_at(draft, denial.verb)
        minuses = [k for k in _nodes_at(draft, denial.no) if draft.nodes[k].value == "-"]
        if noun is None or verb is None or len(minuses) != 1:
            continue
        score = float(model.sums("denial", "denial", [features(denial)])[0, 0])
        known = f"v={denial.verb.lemma}" in model.features["denial"]
        if abs(score) >= (SURE if known else SURE_OF_NEW):
            _move(draft, minuses[0], noun, verb, score)


def _move(draft: Draft, minus: int, noun: int, verb: int, score: float) -> None:
    chosen, other = (verb, noun) if score > 0 else (noun, verb)
    draft.arcs = [arc for arc in draft.arcs if arc.dep != minus]
    if "polarity" not in draft.roles(chosen):
        draft.link(chosen, "polarity", minus, "denial")
    if chosen == noun:
        _drop_joined(draft, verb)
    sentence = draft.nodes[verb].sentence
    if draft.tops.get(sentence) in _above(draft, other):
        draft.tops[sentence] = _above(draft, chosen)[-1]


def _above(draft: Draft, node: int) -> list[int]:
    """The node, and the conjunction that it is under."""
    over = [arc.head for arc in draft.arcs if arc.dep == node and arc.role.startswith("op")]
    return [node, *over[:1]]


def _drop_joined(draft: Draft, verb: int) -> None:
    """Drops the polarity that the rules gave the verbs that are joined to this one."""
    joint = _above(draft, verb)[-1]
    group = {arc.dep for arc in draft.arcs if arc.head == joint and arc.role.startswith("op")}
    for arc in list(draft.arcs):
        minus = draft.nodes[arc.dep]
        if arc.role == "polarity" and arc.head in group and minus.token is None and minus.value == "-":
            draft.drop(arc.dep)


def _nodes_at(draft: Draft, word: Word) -> list[int]:
    return [k for k, node in enumerate(draft.nodes) if node.token == word.i and not node.gone]


def _concept_at(draft: Draft, word: Word) -> int | None:
    nodes = [k for k in _nodes_at(draft, word) if draft.nodes[k].concept]
    return nodes[0] if len(nodes) == 1 else None

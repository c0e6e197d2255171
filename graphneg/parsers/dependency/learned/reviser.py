"""Revises drafts: concepts, arcs, top, and what no denies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources.abc import Traversable
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from graphneg.parsers.dependency.draft import Draft, Word, subtree
from graphneg.parsers.dependency.learned.features import expand
from graphneg.parsers.dependency.learned.tables import Meanings, Model, read_meanings

if TYPE_CHECKING:
    from graphneg.parsers.dependency.learned.tables import GroupSums


# Revises drafts: chooses what each word means, then arcs and tops by scores over all pairs of nodes.


CODE = "5"
"""Counts up with every change of this package that may change a graph; data have their own digest."""
MOST_WORDS = 400
"""Drafts of more words are left to the rules."""


class LearnedReviser:
    """The learned parts in ``folder``: ``meanings.json.gz``, ``chooser.npz``, ``arcs.npz``, ``denial.npz``,
    ``VERSION``."""

    def __init__(self, folder: Traversable) -> None:
        self._folder = folder
        self.version = f"{folder.joinpath('VERSION').read_text('utf-8').strip()}.{CODE}"

    def revise(self, draft: Draft) -> None:
        """Chooses concepts, arcs and tops anew, in place."""
        from graphneg.parsers.dependency.learned.concepts import choose_concepts

        pass
        from graphneg.parsers.dependency.learned.arcs import link_nodes

        if len(draft.words) > MOST_WORDS:
            return
        parts = load_parts(self._folder)
        choose_concepts(parts.meanings, parts.chooser, draft)
        link_nodes(parts.meanings, parts.arcs, parts.pairs, draft)
        place_denials(parts.denial, draft)


@dataclass(frozen=True, slots=True)
class Parts:
    """The tables and networks."""

    meanings: Meanings
    chooser: Model
    arcs: Model
    pairs: GroupSums
    denial: Model


def make_parts(meanings: Meanings, chooser: Model, arcs: Model, denial: Model) -> Parts:
    """The parts with room for sums that come again."""
    from graphneg.parsers.dependency.learned.tables import GroupSums

    return Parts(meanings, chooser, arcs, GroupSums(arcs, "pair", expand), denial)


@lru_cache(maxsize=2)
def load_parts(folder: Traversable) -> Parts:
    """Reads the files once a process."""
    from graphneg.parsers.dependency.learned.tables import read_model

    return make_parts(
        read_meanings(folder.joinpath("meanings.json.gz").read_bytes()),
        read_model(folder.joinpath("chooser.npz").read_bytes()),
        read_model(folder.joinpath("arcs.npz").read_bytes()),
        read_model(folder.joinpath("denial.npz").read_bytes()),
    )


# What *no* denies: the noun (*there is no man*), or what the noun does (*no man is running*).
#
# Annotators and parsers write both for *There is no man running*; a logistic regression over the sentence's
# words chooses what they would most likely have written.


_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_MOST = 14
SURE, SURE_OF_NEW = 0.25, 1.5
"""Lower log odds, either way, leave the polarity where the arcs have it; they know more of verbs that were
never seen with a *no*."""


class Denial(NamedTuple):
    """The places of a *no*, of its noun, and of the verb that the noun is the subject of."""

    no: int
    noun: int
    verb: int


def denials(words: Sequence[Word]) -> Iterator[Denial]:
    """Each *no* that stands beside a subject."""
    for word in words:
        if word.lower != "no" or word.dep not in {"det", "neg"}:
            continue
        head = words[word.head]
        if word.dep == "neg":
            noun = next((k for k in head.kids if words[k].dep in _SUBJECTS and k > word.i), None)
            if noun is not None and head.tag[:2] == "VB":
                yield Denial(word.i, noun, head.i)
        elif head.dep in _SUBJECTS and words[head.head].tag[:2] == "VB" and words[head.head].lemma != "be":
            yield Denial(word.i, head.i, head.head)


def features(words: Sequence[Word], found: Denial) -> list[str]:
    """What the regression looks at."""
    noun, verb = words[found.noun], words[found.verb]
    behind = [words[i] for i in sorted(subtree(words, verb.i)) if i > found.no and words[i].tag[0].isalpha()]
    kids = [words[k] for k in verb.kids if k > found.noun]
    deps = "+".join(sorted({one.dep for one in kids} & {"dobj", "prep", "advmod", "conj", "prt", "advcl"}))
    size = len(behind)
    bag = [
        "1",
        f"n={noun.lemma}",
        f"v={verb.lemma}",
        f"vt={verb.tag}",
        f"k={deps}",
        f"e={words[found.no].dep}",
    ]
    bag += [f"nm={any(words[k].dep in {'amod', 'compound'} for k in noun.kids)}", f"l={min(size, _MOST)}"]
    bag += [f"l>{n}" for n in range(3, _MOST) if size > n]
    bag += [f"kd={one.dep}" for one in kids]
    for one in kids:
        if one.dep == "dobj":
            bag += [f"od={words[k].lower}" for k in one.kids if words[k].dep == "det"] + [f"ot={one.tag}"]
    bag += [f"w={one.lower}" for one in behind]
    bag += [f"b={a.lower}_{b.lower}" for a, b in pairwise(behind)]
    return bag


def place_denials(model: Model, draft: Draft) -> None:
    """Moves the polarity of each such *no* to where it most likely stands."""
    for found in denials(draft.words):
        noun, verb = _node(draft, found.noun), _node(draft, found.verb)
        minus = _minus(draft, found.no)
        if noun is None or verb is None or minus is None:
            continue
        score = float(model.sums("denial", "denial", [features(draft.words, found)])[0, 0])
        known = f"v={draft.words[found.verb].lemma}" in model.features["denial"]
        if abs(score) >= (SURE if known else SURE_OF_NEW):
            _place(draft, minus, noun, verb, score)


def _place(draft: Draft, minus: int, noun: int, verb: int, score: float) -> None:
    chosen, other = (verb, noun) if score > 0 else (noun, verb)
    draft.arcs = [arc for arc in draft.arcs if arc.dep != minus]
    if not any(arc.head == chosen and arc.role == "polarity" for arc in draft.arcs):
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
    """The polarity that the rules gave the verbs that are joined to this one."""
    group = {
        arc.dep for arc in draft.arcs if arc.head == _above(draft, verb)[-1] and arc.role.startswith("op")
    }
    for arc in list(draft.arcs):
        wordless = draft.nodes[arc.dep].token is None and draft.nodes[arc.dep].value == "-"
        if arc.role == "polarity" and arc.head in group and wordless:
            draft.drop(arc.dep)


def _node(draft: Draft, token: int) -> int | None:
    mine = [k for k, one in enumerate(draft.nodes) if one.token == token and one.concept and not one.gone]
    return mine[0] if len(mine) == 1 else None


def _minus(draft: Draft, token: int) -> int | None:
    mine = [
        k for k, one in enumerate(draft.nodes) if one.token == token and one.value == "-" and not one.gone
    ]
    return mine[0] if len(mine) == 1 else None

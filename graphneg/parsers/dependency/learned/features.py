"""What the learned parts look at: features of nodes and of pairs of nodes, as short strings.

The trainer and the parser use the same functions, so that a model sees what it was trained on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from graphneg.parsers.dependency.draft import Draft, DraftNode
from graphneg.parsers.dependency.learned.meanings import Meanings
from graphneg.parsers.dependency.words import Word

_SENSE = re.compile(r"-\d\d+$")
_LONGEST_PATH = 6
_LEXICAL = frozenset({"IN", "TO", "RP", "CC", "WRB"})
_NO_CLUSTER = (-1, -1)


@lru_cache(maxsize=65536)
def kind_of(label: str) -> str:
    """A coarse class of concepts and constants."""
    if label.endswith("-91"):
        return "91"
    if _SENSE.search(label):
        return "frame"
    if label[:1] == '"':
        return "string"
    if label[:1].isdigit():
        return "number"
    if label in {"-", "+", "imperative", "expressive", "interrogative"}:
        return "mark"
    if label in {"name", "person", "thing", "and", "or", "multi-sentence", "amr-unknown"}:
        return label
    if label.endswith(("-quantity", "-entity")):
        return "quantity"
    return "concept"


@lru_cache(maxsize=65536)
def stem_of(label: str) -> str:
    """The concept without its sense; constants as classes."""
    if label[:1] == '"':
        return '"'
    if label[:1].isdigit():
        return "#"
    return _SENSE.sub("", label)


class Paths:
    """Dependency paths between the words of one text."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words
        self._up: dict[int, list[int]] = {}
        self._known: dict[tuple[int, int], tuple[str, str, int]] = {}

    def ancestors(self, i: int) -> list[int]:
        """The word, its head, its head's head, at most ``_LONGEST_PATH`` more."""
        found = self._up.get(i)
        if found is None:
            found = [i]
            while len(found) <= _LONGEST_PATH and self.words[found[-1]].head != found[-1]:
                found.append(self.words[found[-1]].head)
            self._up[i] = found
        return found

    def between(self, a: int, b: int) -> tuple[str, str, int]:
        """The path from ``a`` to ``b`` as labels, the same with its function words, and its length."""
        known = self._known.get((a, b))
        if known is None:
            known = self._known[a, b] = self._find(a, b)
        return known

    def _find(self, a: int, b: int) -> tuple[str, str, int]:
        if a == b:
            return "=", "=", 0
        up, down = self.ancestors(a), self.ancestors(b)
        for steps, one in enumerate(up):
            if one in down:
                back = down.index(one)
                if steps + back > _LONGEST_PATH:
                    break
                words = self.words
                rising = [words[i] for i in up[:steps]]
                falling = [words[i] for i in down[:back]][::-1]
                labels = "".join([w.dep + "<" for w in rising] + [w.dep + ">" for w in falling])
                inner = ([words[i] for i in up[1 : steps + 1]] + falling[:-1]) if back else rising[1:]
                lexical = labels + "".join("/" + w.lemma for w in inner if w.tag in _LEXICAL)
                return labels, lexical, steps + back
        return "far", "far", _LONGEST_PATH + 1


class DraftFeatures:
    """Features of one draft. Nodes are numbered as in the draft; those that are gone have none."""

    def __init__(self, draft: Draft, meanings: Meanings) -> None:
        self.draft = draft
        self.frames = meanings.roles
        self.clusters = [meanings.clusters.get(stem_of(node.label), _NO_CLUSTER) for node in draft.nodes]
        self.signatures = [
            "".join(meanings.roles.get(node.label, ())).replace("ARG", "") for node in draft.nodes
        ]
        self.paths = Paths(draft.words)
        self.alive = [i for i, node in enumerate(draft.nodes) if not node.gone]
        self.rule_arcs: dict[tuple[int, int], tuple[str, str]] = {}
        self.given_head: dict[int, str] = {}
        self.steps: dict[int, dict[int, str]] = {i: {} for i in self.alive}
        for arc in draft.arcs:
            self.rule_arcs[arc.head, arc.dep] = (arc.role, arc.rule)
            self.given_head.setdefault(arc.dep, arc.role)
            self.steps[arc.head][arc.dep] = arc.role + ">"
            self.steps[arc.dep][arc.head] = arc.role + "<"
        self.place: dict[int, int] = {}
        self.mates: dict[int | None, list[int]] = {}
        for order, i in enumerate(self.alive):
            self.place[i] = order
            self.mates.setdefault(draft.nodes[i].token, []).append(i)
        self.order = {
            i: at for at, i in enumerate(sorted(self.alive, key=lambda i: (_token(draft.nodes[i]), i)))
        }

    def node(self, i: int) -> list[str]:
        """Features of one node."""
        node = self.draft.nodes[i]
        label = node.label
        stem, kind = stem_of(label), kind_of(label)
        found = [f"c={label}", f"s={stem}", f"k={kind}", f"r={node.rule}", f"gh={self.given_head.get(i, '')}"]
        found += [f"fr={tag}" for tag in self.frames.get(label, ())]
        coarse, fine = self.clusters[i]
        found += [f"g={coarse}", f"gf={fine}"]
        if node.token is None:
            found.append("t=none")
            return found
        words = self.draft.words
        word = words[node.token]
        head = words[word.head]
        mates = self.mates[node.token]
        found += [
            f"l={word.lemma}", f"t={word.tag}", f"d={word.dep}", f"kd={kind},{word.dep}",
            f"kt={kind},{word.tag}", f"hl={head.lemma}", f"ht={head.tag}", f"hd={head.dep}",
            f"m={mates.index(i)}/{min(len(mates), 4)}",
            f"pl={words[node.token - 1].lower if node.token else '^'}",
            f"nl={words[node.token + 1].lower if node.token + 1 < len(words) else '$'}",
        ]  # fmt: skip
        found += [f"st={step}" for step in self.steps[i].values()]
        found += [f"mc={self.draft.nodes[j].label}" for j in mates if j != i]
        for kid in word.kids:
            below = words[kid]
            found.append(f"kid={below.dep}")
            if below.tag in _LEXICAL or below.pos in {"AUX", "PART", "PUNCT"}:
                found.append(f"kl={below.dep},{below.lemma}")
        return found

    def pair(self, h: int, d: int) -> list[str]:
        """Features of an ordered pair: would ``d`` be an argument of ``h``?"""
        nodes = self.draft.nodes
        head, dep = nodes[h], nodes[d]
        hk, dk = kind_of(head.label), kind_of(dep.label)
        role, rule = self.rule_arcs.get((h, d), ("", ""))
        back = self.rule_arcs.get((d, h), ("", ""))[0]
        hs, ds = stem_of(head.label), stem_of(dep.label)
        found = [f"R={role}", f"B={back}", f"RR={role},{rule}", f"RK={role},{hk},{dk}", f"K={hk},{dk}"]
        found += [f"RH={role},{head.label}", f"RD={role},{ds}", f"BH={back},{ds}", f"HD={hs},{ds}"]
        if not role and not back:
            from_head, from_dep = self.steps[h], self.steps[d]
            found += [f"W={from_head[x]}{from_dep[x]}" for x in from_head if x in from_dep]
            found += [f"WH={from_head[x]}{from_dep[x]},{head.label}" for x in from_head if x in from_dep]
            found.append(f"O={len(from_head)},{min(len(from_dep), 3)},{hk},{dk}")
        if head.token is None or dep.token is None:
            found.append("nt")
            return found
        a, b = self._nearest(head, dep)
        labels, lexical, length = self.paths.between(a, b)
        gap = b - a
        near = self.order[d] - self.order[h]
        found += [
            f"P={labels}", f"PR={labels},{role},{back}", f"PK={labels},{hk},{dk}", f"PL={lexical}",
            f"PLH={lexical},{head.label}", f"PH={labels},{hs}", f"PD={labels},{ds}", f"L={length},{role}",
            f"G={_bucket(gap)}", f"N={_bucket(near)},{hk},{dk}",
        ]  # fmt: skip
        (hg, hf), (dg, _) = self.clusters[h], self.clusters[d]
        found += [
            f"PG={labels},{hg}", f"PDG={labels},{dg}", f"PGG={labels},{hg},{dg}", f"PF={lexical},{hf}",
            f"PS={lexical},{self.signatures[h]}",
        ]  # fmt: skip
        if gap == 0:
            found += [f"M={head.label},{dep.label}", f"MK={hk},{dk},{self.place[d] - self.place[h]}"]
        else:
            found.append(f"GT={_bucket(gap)},{self.draft.words[a].tag},{self.draft.words[b].tag}")
        return found

    def _nearest(self, head: DraftNode, dep: DraftNode) -> tuple[int, int]:
        """The two words, among all that the nodes stand for, with the shortest path."""
        first, second = head.token or 0, dep.token or 0
        if not head.mentions and not dep.mentions:
            return first, second
        return min(
            ((a, b) for a in (first, *head.mentions) for b in (second, *dep.mentions)),
            key=lambda one: (self.paths.between(*one)[2], abs(one[0] - one[1])),
        )


def _token(node: DraftNode) -> int:
    return -1 if node.token is None else node.token


def _bucket(gap: int) -> int:
    size = abs(gap)
    level = size if size < 5 else 5 if size < 8 else 6 if size < 14 else 7
    return level if gap >= 0 else -level

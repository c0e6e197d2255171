"""Compute the input features of the parser's trained models, for single nodes and for pairs of nodes.

A feature is a short string. Its prefix shows what it describes: ``c=`` concept, ``l=`` lemma, ``t=`` tag,
``d=`` dependency relation. The trainer and the parser call the same functions, so that a model always gets
the features with which it was trained.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from graphneg.parsers.dependency.draft import DraftNode, GraphDraft
from graphneg.parsers.dependency.learned.tables import Meanings
from graphneg.parsers.dependency.text import Word

_SENSE = re.compile(r"-\d\d+$")
_LONGEST_PATH, _FAR = 6, 5
"""Maximum number of steps in a dependency path (longer paths are called ``far``), and the number of steps
from which two words count as unrelated.
"""
_LEXICAL = frozenset({"IN", "TO", "RP", "CC", "WRB"})
"""Tags of function words whose lemmas are included in paths."""
_SETTLED_ROLES = frozenset({"vocative", "polite", "name"})
"""Roles whose arcs the models keep as the rules wrote them."""
_ENTITY_ROLES = frozenset(
    ["weekday", "day", "month", "year", "season", "time", "dayperiod", "calendar", "decade", "value"]
)
"""Roles in dates and other entities whose arcs the models keep as the rules wrote them."""


@lru_cache(maxsize=65536)
def kind_of(label: str) -> str:
    """Return the class of a concept or a constant.

    Args:
        label: The concept, or the constant as PENMAN writes it.

    Returns:
        The class: ``frame``, ``91`` (for ``-91`` frames), ``string``, ``number``, ``mark``, ``quantity`` or
        ``concept``. For a structural concept such as ``and``, the concept itself.
    """
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
    """Return a concept without its sense number, or a character for the type of a constant.

    Args:
        label: The concept, or the constant as PENMAN writes it.

    Returns:
        The stem of a concept; ``"`` for a string and ``#`` for a number.
    """
    if label[:1] == '"':
        return '"'
    if label[:1].isdigit():
        return "#"
    return _SENSE.sub("", label)


def plain_role(role: str) -> str:
    """Return a role without its number, if the number only reflects the text order.

    >>> plain_role("op2"), plain_role("ARG1")
    ('op', 'ARG1')

    Args:
        role: The role, such as ``op2``.

    Returns:
        ``op`` or ``snt`` for a numbered ``opN`` or ``sntN``; any other role unchanged.
    """
    return role.rstrip("0123456789") if role.startswith(("op", "snt")) else role


class Paths:
    """The dependency paths between the words of one text. Each path is computed only once.

    Attributes:
        words: The words of the text.
    """

    def __init__(self, words: Sequence[Word]) -> None:
        """Initialize with the words of a text.

        Args:
            words: The words of the text.
        """
        self.words = words
        self._up: dict[int, list[int]] = {}
        self._known: dict[tuple[int, int], tuple[str, str, int]] = {}

    def ancestors(self, i: int) -> list[int]:
        """Return the indices of a word and its ancestors, nearest first.

        Args:
            i: Index of the word.

        Returns:
            The indices of at most ``_LONGEST_PATH`` + 1 words.
        """
        chain = self._up.get(i)
        if chain is None:
            chain = [i]
            while len(chain) <= _LONGEST_PATH and self.words[chain[-1]].head != chain[-1]:
                chain.append(self.words[chain[-1]].head)
            self._up[i] = chain
        return chain

    def between(self, a: int, b: int) -> tuple[str, str, int]:
        """Return the dependency path between two words.

        Args:
            a: Index of the first word.
            b: Index of the second word.

        Returns:
            A tuple of three values. The first is the path as a string of relations: ``pobj<prep<`` leads from
            *hat* up to *man* in *man in a hat*, and ``nsubj>`` leads down to a subject. The second is the
            same string with the function words on the path: ``pobj<prep</in``. The third is the length of the
            path, 2 for *hat* and *man*.
        """
        if (a, b) not in self._known:
            self._known[a, b] = self._find_path(a, b)
        return self._known[a, b]

    def _find_path(self, a: int, b: int) -> tuple[str, str, int]:
        if a == b:
            return "=", "=", 0
        up, down, words = self.ancestors(a), self.ancestors(b), self.words
        # The lowest common ancestor is the first ancestor of word `a` that is also an ancestor of word `b`.
        steps = next((n for n, i in enumerate(up) if i in down), _LONGEST_PATH + 1)
        back = down.index(up[steps]) if steps < len(up) else 0
        if steps + back > _LONGEST_PATH:
            return "far", "far", _LONGEST_PATH + 1
        rising = [words[i] for i in up[:steps]]
        falling = [words[i] for i in down[:back]][::-1]
        labels = "".join([w.dep + "<" for w in rising] + [w.dep + ">" for w in falling])
        inner = ([words[i] for i in up[1 : steps + 1]] + falling[:-1]) if back else rising[1:]
        return labels, labels + "".join("/" + w.lemma for w in inner if w.tag in _LEXICAL), steps + back


Group = tuple[str | int, ...]
"""A group of features that always occur together. It consists of the name of a template in `_FORMS` and the
values for the template. The weights of a group are summed only once, to save time. `expand` returns the
names of the features of a group.
"""


def expand(group: Group) -> list[str]:
    """Return the names of the features that a group of features stands for.

    A group consists of the name of a template and values. The template ``dep`` describes the argument of an
    arc by two features, so the group ``("dep", "ARG1", "", "boy")`` has two names:

    >>> expand(("dep", "ARG1", "", "boy"))
    ['RD=ARG1,boy', 'BH=,boy']

    Args:
        group: Name of a template in `_FORMS`, followed by the values for the template.

    Returns:
        Names of the features.
    """
    return [form.format(*group[1:]) for form in _FORMS[str(group[0])]]


_FORMS: dict[str, tuple[str, ...]] = {
    "rule": ("R={0}", "B={2}", "RR={0},{1}", "RK={0},{3},{4}", "K={3},{4}"),
    "head": ("RH={0},{1}",),
    "dep": ("RD={0},{2}", "BH={1},{2}"),
    "steps": ("O={0},{1},{2},{3}",),
    "over": ("W={0}", "WH={0},{1}"),
    "wordless": ("nt",),
    "path": ("P={0}", "PR={0},{3},{4}", "PK={0},{5},{6}", "PL={1}", "L={2},{3}"),
    "gap": ("G={0}", "N={1},{2},{3}"),
    "same": ("M={0},{1}", "MK={2}"),
    "tags": ("GT={0},{1},{2}",),
}


class DraftFeatures:
    """The features of the nodes and node pairs of an unfinished graph (a draft).

    A node is identified by its index in ``draft.nodes``.

    Attributes:
        draft: The graph under construction.
        frames: Roles of each frame, keyed by frame id.
        clusters: For each node, the indices of the large and the small word cluster of its concept.
        signatures: For each node, the roles of its frame as one string.
        paths: Dependency paths between the words.
        live_nodes: Indices of the nodes that are not deleted.
        rule_arcs: For each arc that the rules wrote, its role and the name of its rule, keyed by head and
            argument.
        rule_role: For each node, the role of the first arc that leads to the node in the draft of the rules.
        rule_neighbours: The role and the direction of each arc that the rules wrote, keyed by node and
            neighbour: ``ARG0>`` from head to argument, ``ARG0<`` from argument to head.
        fixed_nodes: Arguments whose arcs the models must not change, such as the parts of a name.
        rank: For each node that is not deleted, its position among these nodes in ``draft.nodes``.
        nodes_of_word: Indices of the nodes of each word, keyed by the index of the word. *Teacher* has two
        nodes.
        order: For each node that is not deleted, its position in text order.
    """

    def __init__(self, draft: GraphDraft, meanings: Meanings) -> None:
        """Initialize with an unfinished graph and the tables of word meanings.

        Args:
            draft: The graph under construction.
            meanings: Tables with frames and word clusters.
        """
        self.draft = draft
        self.frames = meanings.roles
        self.clusters = [meanings.clusters.get(stem_of(node.label), (-1, -1)) for node in draft.nodes]
        self.signatures = [
            "".join(meanings.roles.get(node.label, ())).replace("ARG", "") for node in draft.nodes
        ]
        self.paths = Paths(draft.words)
        self.live_nodes = [i for i, node in enumerate(draft.nodes) if not node.deleted]
        self.rule_arcs: dict[tuple[int, int], tuple[str, str]] = {}
        self.rule_role: dict[int, str] = {}
        self.rule_neighbours: dict[int, dict[int, str]] = {i: {} for i in self.live_nodes}
        for arc in draft.arcs:
            self.rule_arcs[arc.head, arc.dep] = (arc.role, arc.rule)
            self.rule_role.setdefault(arc.dep, arc.role)
            self.rule_neighbours[arc.head][arc.dep] = arc.role + ">"
            self.rule_neighbours[arc.dep][arc.head] = arc.role + "<"
        self.fixed_nodes = {
            arc.dep
            for arc in draft.arcs
            if _is_settled(draft.nodes[arc.head].label, draft.nodes[arc.dep].label, arc.role)
        }
        self.rank = {i: n for n, i in enumerate(self.live_nodes)}
        self.nodes_of_word: dict[int | None, list[int]] = {}
        for i in self.live_nodes:
            self.nodes_of_word.setdefault(draft.nodes[i].token, []).append(i)
        tokens = [-1 if node.token is None else node.token for node in draft.nodes]
        by_word = sorted(self.live_nodes, key=lambda i: (tokens[i], i))
        self.order = {i: n for n, i in enumerate(by_word)}

    def node(self, i: int) -> list[str]:
        """Return the features of a node.

        Args:
            i: Index of the node.

        Returns:
            Names of the features, such as ``l=teacher`` for the lemma of the word.
        """
        node = self.draft.nodes[i]
        label = node.label
        stem, kind = stem_of(label), kind_of(label)
        features = [f"c={label}", f"s={stem}", f"k={kind}", f"r={node.rule}"]
        features.append(f"gh={self.rule_role.get(i, '')}")
        features += [f"fr={tag}" for tag in self.frames.get(label, ())]
        coarse, fine = self.clusters[i]
        features += [f"g={coarse}", f"gf={fine}"]
        if node.token is None:
            return [*features, "t=none"]
        word = self.draft.words[node.token]
        # The neighbours of a word are features, too. For the first word of a text, "^" replaces the missing
        # word before it; for the last word, "$" replaces the missing word after it.
        head, before, after = word.parent, word.previous, word.following
        mates = self.nodes_of_word[node.token]
        features += [
            f"l={word.lemma}", f"t={word.tag}", f"d={word.dep}", f"kd={kind},{word.dep}",
            f"kt={kind},{word.tag}", f"hl={head.lemma}", f"ht={head.tag}", f"hd={head.dep}",
            f"m={mates.index(i)}/{min(len(mates), 4)}",
            f"pl={before.lower if before else '^'}", f"nl={after.lower if after else '$'}",
        ]  # fmt: skip
        features += [f"st={step}" for step in self.rule_neighbours[i].values()]
        features += [f"mc={self.draft.nodes[j].label}" for j in mates if j != i]
        for below in word.children():
            features.append(f"kid={below.dep}")
            if below.tag in _LEXICAL or below.pos in {"AUX", "PART", "PUNCT"}:
                features.append(f"kl={below.dep},{below.lemma}")
        return features

    def pair(self, h: int, d: int) -> tuple[list[Group], list[str]]:
        """Return the features by which the network scores an arc between two nodes.

        Args:
            h: Index of the head.
            d: Index of the argument.

        Returns:
            The feature groups (see `Group`), and the names of the features that belong to no group.
        """
        nodes = self.draft.nodes
        head, dep = nodes[h], nodes[d]
        hl, dl = head.label, dep.label
        hk, dk, ds = kind_of(hl), kind_of(dl), stem_of(dl)
        role, rule = self.rule_arcs.get((h, d), ("", ""))
        back = self.rule_arcs.get((d, h), ("", ""))[0]
        hs = stem_of(hl)
        groups: list[Group] = [
            ("rule", role, rule, back, hk, dk),
            ("head", role, hl),
            ("dep", role, back, ds),
        ]
        single = [f"HD={hs},{ds}"]
        # If the rules have not linked the two nodes, describe nodes that are linked to both of them.
        if not role and not back:
            from_head, from_dep = self.rule_neighbours[h], self.rule_neighbours[d]
            groups.append(("steps", min(len(from_head), 5), min(len(from_dep), 3), hk, dk))
            groups += [("over", from_head[x] + from_dep[x], hl) for x in from_head if x in from_dep]
        if head.token is None or dep.token is None:
            return [*groups, ("wordless",)], single
        a, b = self._nearest(head, dep)
        labels, lexical, length = self.paths.between(a, b)
        gap, near = _bucket(b - a), _bucket(self.order[d] - self.order[h])
        groups += [("path", labels, lexical, length, role, back, hk, dk), ("gap", gap, near, hk, dk)]
        # `gap` is the distance between the words of two nodes. It is 0 if both nodes belong to the same word:
        # "teacher" has the nodes person and teach-01.
        if gap == 0:
            groups.append(("same", hl, dl, self.rank[d] - self.rank[h]))
        else:
            groups.append(("tags", gap, self.draft.words[a].tag, self.draft.words[b].tag))
        (hg, hf), dg = self.clusters[h], self.clusters[d][0]
        single += [
            f"PLH={lexical},{hl}", f"PH={labels},{hs}", f"PG={labels},{hg}", f"PF={lexical},{hf}",
            f"PS={lexical},{self.signatures[h]}", f"PD={labels},{ds}", f"PDG={labels},{dg}",
            f"PGG={labels},{hg},{dg}",
        ]  # fmt: skip
        return groups, single

    def related(self, a: int, b: int) -> bool:
        """Return whether two nodes are close in the dependency tree or in the graph that the rules wrote.

        Args:
            a: Index of a node.
            b: Index of another node.

        Returns:
            True if the network should score arcs between the two nodes.
        """
        first, second = self.draft.nodes[a], self.draft.nodes[b]
        if b in self.rule_neighbours[a] or first.token is None or second.token is None:
            return True
        if self.paths.between(*self._nearest(first, second))[2] < _FAR:
            return True
        return not self.rule_neighbours[a].keys().isdisjoint(self.rule_neighbours[b])

    def _nearest(self, head: DraftNode, dep: DraftNode) -> tuple[int, int]:
        """Return the indices of the two words, one of each node, that are closest in the dependency tree.

        A node may have several words: *he* and *himself* share a node.
        """
        first, second = head.token or 0, dep.token or 0
        if not head.mentions and not dep.mentions:
            return first, second
        return min(
            ((a, b) for a in (first, *head.mentions) for b in (second, *dep.mentions)),
            key=lambda pair: (self.paths.between(*pair)[2], abs(pair[0] - pair[1])),
        )


def _is_settled(head: str, dep: str, role: str) -> bool:
    """Return whether the trained models must not change an arc that the rules wrote.

    These are arcs in names and dates, and arcs to vocatives (*Tom* in *Come here, Tom*) and to *please*.
    """
    if head == "date-interval":
        return role.startswith("op")
    return dep[:1] == '"' or role in _SETTLED_ROLES or (head.endswith("-entity") and role in _ENTITY_ROLES)


def _bucket(gap: int) -> int:
    """Return a signed distance as a feature value. 5 stands for 5 to 7, 6 for 8 to 13, and 7 for more."""
    size = abs(gap)
    level = size if size < 5 else 5 if size < 8 else 6 if size < 14 else 7
    return level if gap >= 0 else -level

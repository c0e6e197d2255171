"""Coordination: ``and``, ``or``, ``contrast-01`` over conjuncts, and a conjunction that opens a sentence.

In: a `RuleState` whose words have their concepts. Out: a node over each group of conjuncts, which stands for
the group from then on (*eggs and ham*: ``(a / and :op1 (e / egg) :op2 (h / ham))``), and over each sentence
that begins with *But*, *And*, *So* or *Because*.
"""

from __future__ import annotations

from graphneg.parsers.dependency.draft import DraftArc
from graphneg.parsers.dependency.lexicon import word_map, word_pairs
from graphneg.parsers.dependency.rules.state import RuleState
from graphneg.parsers.dependency.words import Word

_CONJUNCTIONS = word_map("conjunction")
_OPENERS = word_pairs("opener")
_BEFORE_OPENERS = frozenset({"``", "''", "CC", "UH", ",", ":", ".", "-LRB-", "NFP", "HYPH"})


def groups(state: RuleState) -> list[list[int]]:
    """The conjuncts of each coordination, in order of the text."""
    by_first: dict[int, list[int]] = {}
    for word in state.words:
        if word.dep == "conj":
            first = word
            while first.dep == "conj" and first.head != first.i:
                first = first.parent
            by_first.setdefault(first.i, [first.i]).append(word.i)
    return list(by_first.values())


def write_coordination(state: RuleState) -> dict[int, list[int]]:
    """Puts a conjunction over each group of conjuncts; gives each group's proxies by its first."""
    written: dict[int, list[int]] = {}
    for group in reversed(groups(state)):
        members = [i for i in dict.fromkeys(state.proxy(i) for i in group) if i in state.outer]
        if len(members) < 2:
            continue
        concept, anchor = _conjunction(state, group)
        node = state.draft.concept(concept, anchor, "coordination", state.words[members[0]].sentence)
        if anchor is None:
            between = reversed(state.words[group[0] + 1 : group[1]])
            mark = next((word.i for word in between if word.tag in {",", ":"}), None)
            state.draft.nodes[node].token = mark
        shared = _shared_modal(state, members)
        tops = [state.outer[member] for member in members]
        if shared is not None:
            tops[0], shared.dep = shared.dep, node
        else:
            state.outer[members[0]] = node
        for n, top in enumerate(tops, 1):
            role = f"ARG{min(n, 2)}" if concept == "contrast-01" else f"op{n}"
            state.draft.link(node, role, top, "coordination")
        state.done.update(members[1:])
        written[members[0]] = members
    return written


def _shared_modal(state: RuleState, members: list[int]) -> DraftArc | None:
    """The arc from a modal that holds for all conjuncts: *you should sit and wait*."""
    outer = state.outer[members[0]]
    if state.draft.nodes[outer].rule != "modal" or outer == state.core[members[0]]:
        return None
    for word in (state.words[member] for member in members[1:]):
        if word.tag not in {"VB", "VBN"} or word.child("nsubj", "nsubjpass", "aux", "expl") is not None:
            return None
    return next((arc for arc in state.draft.arcs if arc.head == outer and arc.rule == "modal"), None)


def _conjunction(state: RuleState, group: list[int]) -> tuple[str, int | None]:
    """The concept of a coordination, and the word that it comes from."""
    conjunctions = [word for i in group for word in state.words[i].children("cc")]
    for word in conjunctions:
        concept = _CONJUNCTIONS.get(word.lower)
        if concept is not None and not (concept == "contrast-01" and len(group) > 2):
            return concept, word.i
    if any(word.lower in {"either", "neither"} for word in conjunctions):
        return "or", conjunctions[0].i
    return "and", None


def write_openers(state: RuleState, root: Word) -> None:
    """*But …* and *And …* at the start of a sentence: ``contrast-01 :ARG2``, ``and :op2``."""
    proxy = state.proxy(root.i)
    if proxy not in state.outer:
        return
    conjunctions = root.children("cc")
    if proxy != root.i:
        conjunctions += state.words[proxy].children("cc")
    for word in reversed(conjunctions):
        if word.i < root.i and word.lower in _OPENERS and _opens(word):
            concept, role = _OPENERS[word.lower]
            state.above(concept, word.i, proxy, role, "opener")


def write_consequence(state: RuleState, root: Word) -> None:
    """*So …*: ``cause-01 :ARG1``; *Because …* alone: ``cause-01 :ARG0``."""
    proxy = state.proxy(root.i)
    if proxy not in state.outer:
        return
    for word in root.children("advmod", "mark", "cc"):
        after = word.following
        is_degree = word.lower == "so" and after is not None and after.tag[:2] in {"JJ", "RB"}
        if word.lower in {"so", "therefore", "thus"} and word.i < root.i and _opens(word):
            if not is_degree or (after is not None and after.lower == "then"):
                if word.i in state.core:
                    state.erase(word.i)
                state.above("cause-01", word.i, proxy, "ARG1", "so")
        elif word.lower in {"because", "for"} and word.dep == "mark":
            state.above("cause-01", word.i, proxy, "ARG0", "because")


def _opens(word: Word) -> bool:
    """Whether nothing but marks, interjections and other conjunctions stand before it."""
    before = word.previous
    while before is not None and before.sentence == word.sentence:
        if before.tag not in _BEFORE_OPENERS:
            return False
        before = before.previous
    return True

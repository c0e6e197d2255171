"""Main predicates and their clauses: what each does, whether it is denied, whether it stands by itself."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from graphneg.amr.reading import Reading
from graphneg.english.noun_kinds import OTHER

LONG = 11
"""A clause of so many nodes makes no natural question."""
PORTABLE = range(3, 20)
"""Nodes under the top of a sentence that could be said elsewhere."""
_CLAUSAL = frozenset({"time", "condition", "concession"})
_DETAILS = frozenset(
    {"time", "location", "manner", "purpose", "duration", "frequency", "direction", "source"}
    | {"destination", "instrument", "accompanier", "topic", "beneficiary", "condition", "poss"}
)
_DENIABLE = frozenset({"statement", "order", "answer", "fragment", "exclamation"})
_TOLD = frozenset({"statement", "report", "wish", "link"})
_MARKS = frozenset({"imperative", "amr-unknown", "interrogative", "truth-value", "expressive"})


class Clauses:
    """The clauses of a graph; ``heads`` are the numbers of their main predicates."""

    def __init__(self, reading: Reading) -> None:
        self._of = reading
        self.heads, self.main = self._found()

    def _found(self) -> tuple[list[int], set[int]]:
        """All heads in written order, and those that are under nothing but clauses of equal rank."""
        heads: list[int] = []
        main: set[int] = set()
        pending = [(0, True)]
        while pending:
            k, is_main = pending.pop()
            if self._of.nodes[k].concept is None:
                continue
            if not self._of.is_a(k, "joining"):
                heads.append(k)
                main.update([k] if is_main else [])
            below = is_main and self._of.is_a(k, "joining")
            pending += [
                (child.k, below) for child in self._of.children[k] if self._leads_on(k, child.role or "")
            ]
        return sorted(heads), main

    def _leads_on(self, k: int, role: str) -> bool:
        """Whether a main predicate may stand under ``k`` in this role."""
        if self._of.is_a(k, "joining", "linking", "reporting") and (
            role == "ARG1" or role.startswith(("snt", "op"))
        ):
            return True
        return role == "ARG2" and self._of.is_a(k, "replying")

    @cached_property
    def clause_of(self) -> list[int | None]:
        """By node, the head whose clause it stands in."""
        heads = set(self.heads)
        found: list[int | None] = []
        for node in self._of.nodes:
            found.append(node.k if node.k in heads else None if node.up is None else found[node.up])
        return found

    def facts(self, k: int) -> dict[str, Any]:
        """The facts about the head of a clause; what does not hold is ``None`` or false."""
        reading, below, clause = self._of, self._of.children[k], self.does(k)
        negations = self._negations(k) if clause in _DENIABLE else []
        found: dict[str, Any] = {
            "clause": clause,
            "main": k in self.main,
            "negated": self._is_negated(k),
            "modal": reading.is_a(k, "modal"),
            "denied_by": negations[0] if negations else None,
            "asked_by": next((c.k for c in below if c.role == "polarity" and c.label == "amr-unknown"), None),
            "ordered_by": next((c.k for c in below if c.role == "mode" and c.label == "imperative"), None),
            "stands": self._stands(k),
        }
        if found["main"] and clause != "formula":
            found["acts"] = self._acts(k, found) or None
        return found

    def _acts(self, k: int, known: dict[str, Any]) -> list[str]:
        """What else the speaker could do with the clause: tell, ask, order or doubt it, agree or refuse."""
        if known["asked_by"] is not None:
            return ["tell"]
        if known["ordered_by"] is not None:
            return ["tell"] if self._has(k, "polarity") else ["tell", "ask"]
        if known["clause"] not in _TOLD or self._exclaims(k) or self._is_opinion(k):
            return []
        free = not self._has(k, "polarity", "mode")
        acts = ["ask"] if free and self._is_simple(k) and not self._is_own(k) else []
        if free and self._agent(k) == "you" and not self._of.is_a(k, "no-order"):
            acts.append("order")
        return acts + (self._acts_on_whole(k, free) if k == 0 and not self._of.is_a(k, "act") else [])

    def _acts_on_whole(self, k: int, free: bool) -> list[str]:
        """What can be said of all that the graph says; nobody doubts what is his own, or refuses a state."""
        acts = [] if self._is_own(k) else ["doubt"]
        if free and self._agent(k) != "i":
            acts.append("agree")
        elif free and not self._of.is_a(k, "no-refusal", "reified"):
            acts.append("refuse")
        return acts

    def _has(self, k: int, *roles: str) -> bool:
        return any(child.role in roles for child in self._of.children[k])

    def _agent(self, k: int) -> str | None:
        return next((c.concept for c in self._of.children[k] if c.role == "ARG0"), None)

    def _is_own(self, k: int) -> bool:
        return any(c.role in ("ARG0", "ARG1") and c.concept == "i" for c in self._of.children[k])

    def _is_opinion(self, k: int) -> bool:
        return self._of.is_a(k, "opinion") and (self._agent(k) or "i") == "i"

    def _exclaims(self, k: int) -> bool:
        return any(self._is_near(k, at) for at, label in enumerate(self._of.labels) if label == "expressive")

    def does(self, k: int) -> str:
        """What the clause does: its mood, or what its head says that it is."""
        reading = self._of
        for name, clause in (
            ("formula", "formula"), ("supposing", "wish"), ("saying", "report"), ("linking", "link"),
        ):  # fmt: skip
            if reading.is_a(k, name) and not self._asks(k):
                return clause
        if self._asks(k):
            return "question"
        below = reading.children[k]
        if any(child.value == "imperative" for child in below):
            return "order"
        if any(child.value == "expressive" for child in below):
            return "exclamation"
        return self._asserts(k)

    def _asserts(self, k: int) -> str:
        reading, below, role = self._of, self._of.children[k], self._of.roles[k]
        is_predicate = reading.is_frame[k] and (bool(below) or (k > 0 and not role.startswith("snt")))
        if not is_predicate and all(child.role != "domain" for child in below):
            return "fragment"
        return "answer" if reading.labels[k] == "do-02" and len(below) < 2 else "statement"

    def _asks(self, k: int) -> bool:
        return any(self._is_near(k, asked) for asked in self._of.asked)

    def _is_near(self, k: int, other: int) -> bool:
        """Whether a node stands in the subtree of ``k``, or beside it under one node."""
        up = self._of.nodes[other].up
        return (
            other in self._of.inside(k) or (up is not None and up == self._of.nodes[k].up) or other == k == 0
        )

    def _nots(self, k: int) -> list[int]:
        return [c.k for c in self._of.children[k] if c.role == "polarity" and c.value == "-"]

    def _inner(self, k: int) -> list[int]:
        return [at for child in self._of.children[k] for at in self._nots(child.k)]

    def _negations(self, k: int) -> list[int]:
        """The polarities that deny the clause: its own, or the only one below a modal."""
        inner = self._inner(k)
        return self._nots(k) or (inner if len(inner) == 1 and self._of.is_a(k, "modal") else [])

    def _is_negated(self, k: int) -> bool:
        """Whether the clause is denied in any words."""
        below = self._of.children[k]
        negative = any("negative" in self._of.lexicon.of(c.label) for c in below)
        return negative or bool(self._inner(k)) or any(c.role == "polarity" for c in below)

    def _is_simple(self, k: int) -> bool:
        """Whether the clause is short, the speaker's own, and opens with no clause of time or condition."""
        node = self._of.nodes[k]
        heavy = any(c.role in _CLAUSAL and c.last > c.k + 1 for c in self._of.children[k])
        return node.last - k < LONG and not self._of.is_a(k, "speech") and not heavy

    def _stands(self, k: int) -> str | None:
        """Whether the clause's sentence could be said again: ``alone``, or ``here`` where it points back."""
        reading = self._of
        top = reading.sentences[k]
        inside = reading.inside(top)
        if not inside or reading.is_a(top, "retelling") or any(at in inside for at in reading.asked):
            return None
        if not any(self._is_solid(at) for at in inside):
            return None
        if any(head in reading.whole(top) and self._is_short(head) for head in self.heads):
            return None
        return "here" if any(reading.is_a(at, "anaphor", "pointer") for at in reading.whole(top)) else "alone"

    def _is_solid(self, k: int) -> bool:
        return self._of.is_a(k, "solid") or self._of.kinds[k] != OTHER

    def _is_short(self, k: int) -> bool:
        return self._of.is_a(k, "answer") and len(self._of.inside(k)) < 3

    def is_event(self, k: int) -> bool:
        """Whether the clause tells what happens, on one day or another."""
        reading = self._of
        happens = (
            reading.is_frame[k] and bool(reading.inside(k)) and not reading.is_a(k, "timeless", "reified")
        )
        return happens and self.does(k) in ("statement", "report", "wish")

    def is_portable(self, k: int) -> bool:
        """Whether the sentence with top ``k`` could be said in any dialogue: it asks, orders, answers and
        points at nothing."""
        reading = self._of
        if len(reading.inside(k)) not in PORTABLE or not reading.is_frame[k] or reading.is_a(k, "phrasal"):
            return False
        return not any(
            reading.roles[at] in ("mode", "polite")
            or reading.labels[at] in _MARKS
            or reading.is_a(at, "anaphor", "reply")
            for at in reading.whole(k)
        )

    def is_detail(self, k: int) -> bool:
        """Whether the node is a detail of what the graph says, at most two roles below its top: when, where,
        how or why something is done."""
        reading, role, up = self._of, self._of.roles[k], self._of.nodes[k].up
        if role not in _DETAILS or reading.nodes[k].concept is None or up is None:
            return False
        if up != 0 and reading.nodes[up].up != 0:
            return False
        done = reading.is_frame[up] and not reading.is_a(up, "reified")
        return (role in ("time", "location") or done) and not any(
            at in reading.whole(k) for at in reading.asked
        )

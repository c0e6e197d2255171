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
        self.heads: list[int] = []
        """All heads, in written order."""
        self.main: set[int] = set()
        """Those that are under nothing but clauses of equal rank."""
        pending = [(0, True)]
        while pending:
            k, is_main = pending.pop()
            if reading.nodes[k].concept is None:
                continue
            joins = reading.is_a(k, "joining")
            if not joins:
                self.heads.append(k)
                self.main.update([k] if is_main else [])
            leads = joins or reading.is_a(k, "linking", "reporting")
            replies = reading.is_a(k, "replying")
            for child in reading.children[k]:
                role = child.role or ""
                if (leads and (role == "ARG1" or role.startswith(("snt", "op")))) or (
                    replies and role == "ARG2"
                ):
                    pending.append((child.k, is_main and joins))
        self.heads.sort()

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
        modal = reading.is_a(k, "modal")
        inner = [at for child in below for at in self._nots(child.k)]
        # The polarities that deny the clause: its own, or the only one below a modal.
        denying = self._nots(k) or (inner if len(inner) == 1 and modal else [])
        in_words = any("negative" in reading.lexicon.of(child.label) for child in below)
        found: dict[str, Any] = {
            "clause": clause,
            "main": k in self.main,
            "negated": in_words or bool(inner) or any(child.role == "polarity" for child in below),
            "modal": modal,
            "denied_by": denying[0] if denying and clause in _DENIABLE else None,
            "asked_by": next((c.k for c in below if c.role == "polarity" and c.label == "amr-unknown"), None),
            "ordered_by": next((c.k for c in below if c.role == "mode" and c.label == "imperative"), None),
            "stands": self._stands(k),
        }
        if found["main"] and clause != "formula":
            found["acts"] = self._acts(k, found) or None
        return found

    def _acts(self, k: int, known: dict[str, Any]) -> list[str]:
        """What else the speaker could do with the clause: tell, ask, order or doubt it, agree or refuse.
        Nobody doubts what is his own, or refuses a state; these are said of all that the graph says."""
        reading, below = self._of, self._of.children[k]
        if known["asked_by"] is not None:
            return ["tell"]
        if known["ordered_by"] is not None:
            return ["tell"] if any(child.role == "polarity" for child in below) else ["tell", "ask"]
        agent = next((child.concept for child in below if child.role == "ARG0"), None)
        is_opinion = reading.is_a(k, "opinion") and (agent or "i") == "i"
        if known["clause"] not in _TOLD or is_opinion:
            return []
        if any(self._is_beside(k, at) for at, label in enumerate(reading.labels) if label == "expressive"):
            return []
        free = all(child.role not in ("polarity", "mode") for child in below)
        is_own = any(child.role in ("ARG0", "ARG1") and child.concept == "i" for child in below)
        acts = ["ask"] if free and self._is_simple(k) and not is_own else []
        if free and agent == "you" and not reading.is_a(k, "no-order"):
            acts.append("order")
        if k == 0 and not reading.is_a(k, "act"):
            acts += [] if is_own else ["doubt"]
            if free and agent != "i":
                acts.append("agree")
            elif free and not reading.is_a(k, "no-refusal", "reified"):
                acts.append("refuse")
        return acts

    def does(self, k: int) -> str:
        """What the clause does: its mood, or what its head says that it is."""
        reading, below, role = self._of, self._of.children[k], self._of.roles[k]
        if any(self._is_beside(k, asked) for asked in reading.asked):
            return "question"
        for name, clause in (
            ("formula", "formula"), ("supposing", "wish"), ("saying", "report"), ("linking", "link"),
        ):  # fmt: skip
            if reading.is_a(k, name):
                return clause
        if any(child.value == "imperative" for child in below):
            return "order"
        if any(child.value == "expressive" for child in below):
            return "exclamation"
        is_predicate = reading.is_frame[k] and (bool(below) or (k > 0 and not role.startswith("snt")))
        if not is_predicate and all(child.role != "domain" for child in below):
            return "fragment"
        return "answer" if reading.labels[k] == "do-02" and len(below) < 2 else "statement"

    def _is_beside(self, k: int, other: int) -> bool:
        """Whether a node stands in the subtree of ``k``, or beside it under one node."""
        up = self._of.nodes[other].up
        return (
            other in self._of.inside(k) or (up is not None and up == self._of.nodes[k].up) or other == k == 0
        )

    def _nots(self, k: int) -> list[int]:
        return [c.k for c in self._of.children[k] if c.role == "polarity" and c.value == "-"]

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
        if any(reading.is_a(at, "wondering", "thinking", "courtesy") for at in reading.whole(top)):
            return None
        if not any(reading.is_a(at, "solid") or reading.kinds[at] != OTHER for at in inside):
            return None
        heads = [head for head in self.heads if head in reading.whole(top)]
        if any(reading.is_a(head, "answer") and len(reading.inside(head)) < 3 for head in heads):
            return None
        # Of two clauses that are joined the other one would stay; what is only meant is no statement.
        if sum(head in self.main for head in heads) > 1 or any(reading.is_a(at, "aside") for at in heads):
            return None
        return "here" if any(reading.is_a(at, "anaphor", "pointer") for at in reading.whole(top)) else "alone"

    def is_event(self, k: int) -> bool:
        """Whether the clause tells what happens, on one day or another."""
        reading = self._of
        happens = reading.is_frame[k] and not reading.is_a(k, "timeless", "reified")
        return happens and bool(reading.inside(k)) and self.does(k) in ("statement", "report", "wish")

    def is_portable(self, k: int) -> bool:
        """Whether the sentence with top ``k`` could be said in any dialogue: it asks, orders, answers and
        points at nothing."""
        reading = self._of
        if len(reading.inside(k)) not in PORTABLE or not reading.is_frame[k] or reading.is_a(k, "phrasal"):
            return False
        if self._leaves_out(k):
            return False
        if reading.is_a(k, "linking") and len(reading.roles_out[k]) < 2:
            return False  # the other side was said before: So you have to wait.
        return not any(
            reading.roles[at] in ("mode", "polite")
            or reading.labels[at] in _MARKS
            or reading.is_a(at, "anaphor", "reply")
            for at in reading.whole(k)
        )

    def _leaves_out(self, k: int) -> bool:
        """Whether what is done was said before: Your neighbours might. My sister did."""
        reading = self._of
        core = [child for child in reading.children[k] if (child.role or "").startswith("ARG")]
        auxiliary = reading.is_a(k, "modal") or reading.labels[k] == "do-02"
        return auxiliary and len(core) == 1 and not reading.is_frame[core[0].k]

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

"""Find the clauses of a graph, with their mood, polarity and what could be done with them.

A clause is a main predicate (the head) with the nodes below it. Coordinations and connectives such as ``and``
and ``cause-01`` contain several clauses, and verbs of speech such as ``say-01`` contain the clause that they
report. The features tell transforms which clauses they can deny, ask, order, doubt or repeat.

Example: "It rained and I stayed." is ``(a / and :op1 (r / rain-01) :op2 (s / stay-01 :ARG1 (i / i)))``. The
heads are ``rain-01`` and ``stay-01``; both are main clauses.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from graphneg.amr.reading import Reading
from graphneg.english.noun_kinds import OTHER

LONG = 11
"""Clauses with at least this many nodes below their head make no natural question."""
PORTABLE = range(3, 20)
"""Number of nodes below the top of a sentence that fits into another dialogue."""
# Roles of subordinate clauses.
_CLAUSAL = frozenset({"time", "condition", "concession"})
# Roles of circumstances: when, where, how and why.
_DETAILS = frozenset(
    {"time", "location", "manner", "purpose", "duration", "frequency", "direction", "source"}
    | {"destination", "instrument", "accompanier", "topic", "beneficiary", "condition", "poss"}
)
# Kinds of clauses that a negation denies.
_DENIABLE = frozenset({"statement", "order", "answer", "fragment", "exclamation"})
# Kinds of clauses that tell something.
_TOLD = frozenset({"statement", "report", "wish", "link"})
# Labels of nodes that make a sentence an order, a question or an exclamation.
_MARKS = frozenset({"imperative", "amr-unknown", "interrogative", "truth-value", "expressive"})


class Clauses:
    """The clauses of a graph.

    Args:
        reading: The graph.

    Attributes:
        heads: The numbers of the heads of all clauses, in written order.
        main: The numbers of the heads of main clauses, which are below nothing but coordinations.
    """

    def __init__(self, reading: Reading) -> None:
        """Initialize the heads by a search from the top."""
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
            # ``and``, ``or`` and ``multi-sentence`` contain clauses but are none themselves.
            joins = reading.is_a(k, "joining")
            if not joins:
                self.heads.append(k)
                self.main.update([k] if is_main else [])
            leads = joins or reading.is_a(k, "linking", "reporting")
            # "He answered that ..." has its content in ARG2, unlike "He said that ...".
            replies = reading.is_a(k, "replying")
            for child in reading.children[k]:
                role = child.role or ""
                # ``cause-01`` and ``say-01`` have a clause as their ARG1.
                if (leads and (role == "ARG1" or role.startswith(("snt", "op")))) or (
                    replies and role == "ARG2"
                ):
                    pending.append((child.k, is_main and joins))
        self.heads.sort()

    @cached_property
    def clause_of(self) -> list[int | None]:
        """For each node, the number of the head of its clause."""
        heads = set(self.heads)
        found: list[int | None] = []
        for node in self._of.nodes:
            found.append(node.k if node.k in heads else None if node.up is None else found[node.up])
        return found

    def facts(self, k: int) -> dict[str, Any]:
        """Return the properties of the head of a clause.

        Args:
            k: The number of the head.

        Returns:
            The properties; those that do not apply are None or false.
        """
        reading, below, clause = self._of, self._of.children[k], self.does(k)
        modal = reading.is_a(k, "modal")
        inner = [at for child in below for at in self._nots(child.k)]
        # "I can't go" is ``(p / possible-01 :polarity - ...)``. In ``(p / possible-01 :ARG1 (g / go-02
        # :polarity -))`` the negation is below the modal; it denies the clause, too.
        denying = self._nots(k) or (inner if len(inner) == 1 and modal else [])
        # "Nobody came", "I never go."
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
        """Return what the speaker could do with the clause instead: tell, ask, order, doubt, agree or refuse.

        Speakers do not doubt statements about themselves, and they do not refuse a state. *Doubt*, *agree*
        and *refuse* concern the whole graph.

        Returns:
            The names of these acts.
        """
        reading, below = self._of, self._of.children[k]
        # A question can become a statement.
        if known["asked_by"] is not None:
            return ["tell"]
        # An order can become a statement or a request: "Go" -> "You go", "Will you go?"
        if known["ordered_by"] is not None:
            return ["tell"] if any(child.role == "polarity" for child in below) else ["tell", "ask"]
        agent = next((child.concept for child in below if child.role == "ARG0"), None)
        is_opinion = reading.is_a(k, "opinion") and (agent or "i") == "i"
        # "I think so": speakers do not ask about their own thoughts.
        if known["clause"] not in _TOLD or is_opinion:
            return []
        if any(self._is_beside(k, at) for at, label in enumerate(reading.labels) if label == "expressive"):
            return []
        free = all(child.role not in ("polarity", "mode") for child in below)
        # "I" as subject or object: the speaker knows the answer.
        is_own = any(child.role in ("ARG0", "ARG1") and child.concept == "i" for child in below)
        # "I am tired" makes no natural question: "Am I tired?"
        acts = ["ask"] if free and self._is_simple(k) and not is_own else []
        # "You go" -> "Go"; but *know* or *have* cannot be ordered.
        if free and agent == "you" and not reading.is_a(k, "no-order"):
            acts.append("order")
        # "I doubt that it rains", "I agree that it rains", "I refuse to go".
        if k == 0 and not reading.is_a(k, "act"):
            acts += [] if is_own else ["doubt"]
            if free and agent != "i":
                acts.append("agree")
            elif free and not reading.is_a(k, "no-refusal", "reified"):
                acts.append("refuse")
        return acts

    def does(self, k: int) -> str:
        """Return what a clause does.

        Args:
            k: The number of the head.

        Returns:
            ``question``, ``order``, ``exclamation``, ``formula`` ("Thank you"), ``wish`` ("I hope ..."),
            ``report`` ("He said ..."), ``link`` (only a connective), ``fragment``, ``answer`` ("I do") or
            ``statement``.
        """
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
        # A noun or a lone frame is a fragment: "A good idea!"
        is_predicate = reading.is_frame[k] and (bool(below) or (k > 0 and not role.startswith("snt")))
        if not is_predicate and all(child.role != "domain" for child in below):
            return "fragment"
        # "I do", "She did".
        return "answer" if reading.labels[k] == "do-02" and len(below) < 2 else "statement"

    def _is_beside(self, k: int, other: int) -> bool:
        """Return whether a node is in the subtree of another, or is its sibling."""
        up = self._of.nodes[other].up
        return (
            other in self._of.inside(k) or (up is not None and up == self._of.nodes[k].up) or other == k == 0
        )

    def _nots(self, k: int) -> list[int]:
        """Return the numbers of the negations directly under a node."""
        return [c.k for c in self._of.children[k] if c.role == "polarity" and c.value == "-"]

    def _is_simple(self, k: int) -> bool:
        """Return whether a clause is short, and has no verb of speech and no long subordinate clause."""
        node = self._of.nodes[k]
        # "When it rained I stayed": the clause of time would precede the question.
        heavy = any(c.role in _CLAUSAL and c.last > c.k + 1 for c in self._of.children[k])
        return node.last - k < LONG and not self._of.is_a(k, "speech") and not heavy

    def _stands(self, k: int) -> str | None:
        """Return whether the sentence of a clause could be repeated.

        Returns:
            ``alone`` if it can be repeated anywhere, ``here`` if it contains an anaphor, None if it cannot be
            repeated.
        """
        reading = self._of
        top = reading.sentences[k]
        inside = reading.inside(top)
        # A question, and reported speech: "He said that ..."
        if not inside or reading.is_a(top, "retelling") or any(at in inside for at in reading.asked):
            return None
        # "I hope", "I promise", "Thank you": these are true of the speaker at that moment only.
        if any(reading.is_a(at, "wondering", "thinking", "courtesy") for at in reading.whole(top)):
            return None
        # There must be something concrete: a person, a name or a known noun.
        if not any(reading.is_a(at, "solid") or reading.kinds[at] != OTHER for at in inside):
            return None
        heads = [head for head in self.heads if head in reading.whole(top)]
        # "I do" depends on the question.
        if any(reading.is_a(head, "answer") and len(reading.inside(head)) < 3 for head in heads):
            return None
        # If one of two coordinated clauses is changed, the other one remains. "I mean" is not a statement.
        if sum(head in self.main for head in heads) > 1 or any(reading.is_a(at, "aside") for at in heads):
            return None
        return "here" if any(reading.is_a(at, "anaphor", "pointer") for at in reading.whole(top)) else "alone"

    def is_event(self, k: int) -> bool:
        """Return whether a clause tells about an event that happens at some time.

        Args:
            k: The number of the head.

        Returns:
            True for an event; False for a state such as *know*.
        """
        reading = self._of
        happens = reading.is_frame[k] and not reading.is_a(k, "timeless", "reified")
        return happens and bool(reading.inside(k)) and self.does(k) in ("statement", "report", "wish")

    def is_portable(self, k: int) -> bool:
        """Return whether a sentence could be said in any dialogue.

        It must not ask, order, answer or refer to something outside of it.

        Args:
            k: The number of the top of the sentence.

        Returns:
            True if it could.
        """
        reading = self._of
        if len(reading.inside(k)) not in PORTABLE or not reading.is_frame[k] or reading.is_a(k, "phrasal"):
            return False
        if self._leaves_out(k):
            return False
        # "So you have to wait": the reason was given in an earlier turn.
        if reading.is_a(k, "linking") and len(reading.roles_out[k]) < 2:
            return False
        return not any(
            reading.roles[at] in ("mode", "polite")
            or reading.labels[at] in _MARKS
            or reading.is_a(at, "anaphor", "reply")
            for at in reading.whole(k)
        )

    def _leaves_out(self, k: int) -> bool:
        """Return whether the main verb is missing because it was said before: "My sister did"."""
        reading = self._of
        core = [child for child in reading.children[k] if (child.role or "").startswith("ARG")]
        # "Your neighbours might", "My sister did": the only argument is not an action.
        auxiliary = reading.is_a(k, "modal") or reading.labels[k] == "do-02"
        return auxiliary and len(core) == 1 and not reading.is_frame[core[0].k]

    def is_detail(self, k: int) -> bool:
        """Return whether a node is a circumstance of the main predicate: when, where, how or why.

        Args:
            k: The node number.

        Returns:
            True if it is, and is at most two roles below the top and contains no question.
        """
        reading, role, up = self._of, self._of.roles[k], self._of.nodes[k].up
        # A constant is not a circumstance.
        if role not in _DETAILS or reading.nodes[k].concept is None or up is None:
            return False
        # At most two roles below the top.
        if up != 0 and reading.nodes[up].up != 0:
            return False
        done = reading.is_frame[up] and not reading.is_a(up, "reified")
        return (role in ("time", "location") or done) and not any(
            at in reading.whole(k) for at in reading.asked
        )

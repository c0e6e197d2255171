"""Find the clauses of a graph, with their type, their polarity and the ways in which they can be changed.

A clause is a predicate (its head) with the nodes below it. Coordinations and connectives such as ``and`` and
``cause-01`` contain several clauses, and verbs of speech such as ``say-01`` contain the clause that they
report. The properties computed here tell transforms which clauses they can deny or repeat, and which they can
turn into a question, an order or a doubt.

Example: "It rained and I stayed." is ``(a / and :op1 (r / rain-01) :op2 (s / stay-01 :ARG1 (i / i)))``. The
heads are ``rain-01`` and ``stay-01``; both are main clauses.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from graphneg.amr.reading import AmrView
from graphneg.english.noun_kinds import OTHER
from graphneg.english.words import readings

LONG = 11
"""A clause with at least this many nodes below its head is too long to become a natural question."""
PORTABLE = range(3, 20)
"""Allowed numbers of nodes below the top of a sentence that is copied into another dialogue."""
# Roles of subordinate clauses, which may come before the main clause: "When it rained, ..."
_CLAUSAL = frozenset({"time", "condition", "concession"})
# Roles of circumstances: when, where, how and why.
_DETAILS = frozenset(
    {"time", "location", "manner", "purpose", "duration", "frequency", "direction", "source"}
    | {"destination", "instrument", "accompanier", "topic", "beneficiary", "condition", "poss"}
)
# Types of clauses whose meaning changes if a transform drops their negation. A question asks for the same
# information with and without it.
_DENIABLE = frozenset({"statement", "order", "answer", "fragment", "exclamation"})
# Types of clauses that inform the listener of something. They can be turned into questions ("Does she sing?")
# or expressions of doubt ("I doubt that she sings").
_INFORMING_TYPES = frozenset({"statement", "report", "wish", "link"})
# Concepts and constants that mark a sentence as an order, a question or an exclamation.
_MOOD_LABELS = frozenset({"imperative", "amr-unknown", "interrogative", "truth-value", "expressive"})


class Clauses:
    """The clauses of a graph.

    Args:
        view: The graph, indexed for look-ups.

    Attributes:
        heads: The node indices of the heads of all clauses, in written order.
        main: The node indices of the heads of main clauses. The only nodes above these heads are
            coordinators such as ``and``.
    """

    def __init__(self, view: AmrView) -> None:
        """Find the heads of all clauses by a search that starts at the top of the graph."""
        self._view = view
        self.heads: list[int] = []
        """The node indices of the heads of all clauses, in written order."""
        self.main: set[int] = set()
        """The node indices of the heads of main clauses. Only coordinators such as ``and`` are above them.
        """
        pending = [(0, True)]
        while pending:
            k, is_main = pending.pop()
            if view.nodes[k].concept is None:
                continue
            # ``and``, ``or`` and ``multi-sentence`` contain clauses but are not clauses themselves, so they
            # are not heads.
            joins = view.is_a(k, "joining")
            if not joins:
                self.heads.append(k)
                self.main.update([k] if is_main else [])
            leads = joins or view.is_a(k, "linking", "reporting")
            # In "He answered that ..." the reported clause is the ARG2; in "He said that ..." it is the ARG1.
            replies = view.is_a(k, "replying")
            for child in view.children[k]:
                role = child.role or ""
                # Continue the search below coordinated clauses (``:op1``, ``:snt1``) and below the ARG1 of
                # verbs such as ``cause-01`` and ``say-01``, because this ARG1 is a clause.
                if (leads and (role == "ARG1" or role.startswith(("snt", "op")))) or (
                    replies and role == "ARG2"
                ):
                    pending.append((child.position, is_main and joins))
        self.heads.sort()

    @cached_property
    def clause_of(self) -> list[int | None]:
        """For each node, the node index of its clause's head; None if the node is above all clauses."""
        heads = set(self.heads)
        found: list[int | None] = []
        for node in self._view.nodes:
            found.append(
                node.position
                if node.position in heads
                else None
                if node.parent is None
                else found[node.parent]
            )
        return found

    def facts(self, k: int) -> dict[str, Any]:
        """Return the properties of the head of a clause.

        Args:
            k: Index of the head node of the clause.

        Returns:
            The values, keyed by property name such as ``negated``. Properties that do not apply are None or
            False.
        """
        view, below, clause = self._view, self._view.children[k], self.clause_type(k)
        modal = view.is_a(k, "modal")
        inner = [at for child in below for at in self._negations(child.position)]
        # The negation that denies a clause is at its head: "I can't go" is ``(p / possible-01 :polarity -
        # ...)``. If the head is a modal, the negation may also be at the verb below it: ``(p / possible-01
        # :ARG1 (g / go-02 :polarity -))``.
        denying = self._negations(k) or (inner if len(inner) == 1 and modal else [])
        # Find negative words other than *not*, such as *nobody* in "Nobody came" and *never* in "I never go".
        in_words = any("negative" in view.lexicon.classes_of(child.label) for child in below)
        found: dict[str, Any] = {
            "clause_type": clause,
            "main_clause": k in self.main,
            "negated": in_words or bool(inner) or any(child.role == "polarity" for child in below),
            "modal": modal,
            "negation_position": denying[0] if denying and clause in _DENIABLE else None,
            "question_position": next(
                (c.position for c in below if c.role == "polarity" and c.label == "amr-unknown"), None
            ),
            "imperative_position": next(
                (c.position for c in below if c.role == "mode" and c.label == "imperative"), None
            ),
            "repeatable": self._repeatable_where(k),
        }
        if found["main_clause"] and clause != "formula":
            found["alternative_acts"] = self._acts(k, found) or None
        return found

    def _acts(self, k: int, known: dict[str, Any]) -> list[str]:
        """Return the dialogue acts into which the clause could be changed.

        Speakers do not doubt statements about themselves, and they do not refuse a state such as "I know".
        The acts ``doubt``, ``agree`` and ``refuse`` concern the whole graph, so only the clause at the top of
        the graph can get them.

        Returns:
            A list with some of the acts ``tell``, ``ask``, ``order``, ``doubt``, ``agree`` and ``refuse``; it
            may be empty.
        """
        view, below = self._view, self._view.children[k]
        # A question can become a statement: "Do you go?" -> "You go."
        if known["question_position"] is not None:
            return ["tell"]
        # An order can become a statement or a request: "Go" -> "You go", "Will you go?" A negative order
        # ("Don't go") cannot become a question, because the question would need a second ``:polarity``.
        if known["imperative_position"] is not None:
            return ["tell"] if any(child.role == "polarity" for child in below) else ["tell", "ask"]
        agent = next((child.concept for child in below if child.role == "ARG0"), None)
        is_opinion = view.is_a(k, "opinion") and (agent or "i") == "i"
        # Skip opinions such as "I think it is late": speakers neither ask about their own thoughts nor doubt
        # them.
        if known["clause_type"] not in _INFORMING_TYPES or is_opinion:
            return []
        if any(self._is_beside(k, at) for at, label in enumerate(view.labels) if label == "expressive"):
            return []
        free = all(child.role not in ("polarity", "mode") for child in below)
        # If "I" is the subject or the object, the clause is about the speaker. Speakers know whether such a
        # clause is true, so they neither ask nor doubt it.
        is_own = any(child.role in ("ARG0", "ARG1") and child.concept == "i" for child in below)
        # A clause about the speaker does not become a question: nobody would turn "I am tired" into "Am I
        # tired?"
        acts = ["ask"] if free and self._is_simple(k) and not is_own else []
        # "You go" can become the command "Go". States such as *know* and *have* cannot become commands.
        if free and agent == "you" and not view.is_a(k, "no-order"):
            acts.append("order")
        # "It rains" can become "I doubt that it rains" or "I agree that it rains", and "I go" can become "I
        # refuse to go".
        if k == 0 and not view.is_a(k, "act"):
            acts += [] if is_own else ["doubt"]
            if free and agent != "i":
                acts.append("agree")
            elif free and not view.is_a(k, "no-refusal", "reified"):
                acts.append("refuse")
        return acts

    def clause_type(self, k: int) -> str:
        """Return the type of a clause.

        Args:
            k: Index of the head node of the clause.

        Returns:
            ``question``, ``order``, ``exclamation``, ``formula`` ("Thank you"), ``wish`` ("I hope ..."),
            ``report`` ("He said ..."), ``link`` (a connective such as ``cause-01``), ``fragment`` ("A good
            idea!"), ``answer`` ("I do") or ``statement``.
        """
        view, below, role = self._view, self._view.children[k], self._view.roles[k]
        if any(self._is_beside(k, asked) for asked in view.question_nodes):
            return "question"
        for name, clause in (
            ("formula", "formula"), ("supposing", "wish"), ("saying", "report"), ("linking", "link"),
        ):  # fmt: skip
            if view.is_a(k, name):
                return clause
        if any(child.value == "imperative" for child in below):
            return "order"
        if any(child.value == "expressive" for child in below):
            return "exclamation"
        # A clause without a verb and its arguments is a fragment: "A good idea!", "Great!"
        is_predicate = view.is_frame[k] and (bool(below) or (k > 0 and not role.startswith("snt")))
        if not is_predicate and all(child.role != "domain" for child in below):
            return "fragment"
        # In a short answer such as "I do" or "She did", the verb has no other argument than the subject.
        return "answer" if view.labels[k] == "do-02" and len(below) < 2 else "statement"

    def _is_beside(self, k: int, other: int) -> bool:
        """Return whether the node ``other`` is below the node ``k`` or has the same parent."""
        up = self._view.nodes[other].parent
        return (
            other in self._view.descendants(k)
            or (up is not None and up == self._view.nodes[k].parent)
            or other == k == 0
        )

    def _negations(self, k: int) -> list[int]:
        """Return the node indices of the negations (``:polarity -``) directly under a node."""
        return [c.position for c in self._view.children[k] if c.role == "polarity" and c.value == "-"]

    def _is_simple(self, k: int) -> bool:
        """Return whether a clause is short, without a long subclause or a verb of speech such as *say*."""
        node = self._view.nodes[k]
        # Do not turn "When it rained I stayed" into a question: "When it rained did I stay?" is unnatural.
        heavy = any(c.role in _CLAUSAL and c.subtree_last > c.position + 1 for c in self._view.children[k])
        return node.subtree_last - k < LONG and not self._view.is_a(k, "speech") and not heavy

    def _repeatable_where(self, k: int) -> str | None:
        """Return where the sentence that contains a clause could be repeated in a later turn.

        Returns:
            ``anywhere`` if the sentence can be repeated anywhere in the dialogue. ``nearby`` if it contains
            an anaphor such as "she" or "there", so that it must be repeated soon. ``next`` if it names
            nothing concrete ("It's snowing"), so that only the next turn can repeat it. None if it cannot be
            repeated.
        """
        view = self._view
        top = view.sentences[k]
        heads = [head for head in self.heads if head in view.subtree(top)]
        # If the sentence has several main clauses, examine only the given one, because a reply can repeat it
        # alone: "I have to go" from "I'm tired, and I have to go".
        several = sum(head in self.main for head in heads) > 1
        if several and k not in self.main:
            return None
        start = k if several else top
        inside, whole = view.descendants(start), view.subtree(start)
        heads = [head for head in heads if head in whole]
        # Exclude single words, questions and reported speech ("He said that ..."): a reply repeats only
        # statements.
        if not inside or view.is_a(start, "retelling") or any(at in whole for at in view.question_nodes):
            return None
        # "I hope", "I promise" and "Thank you" are true only when they are said, so they cannot be repeated
        # later.
        if any(view.is_a(at, "wondering", "thinking", "courtesy") for at in whole):
            return None
        # The meaning of "I do" depends on the question before it, so it cannot be repeated elsewhere.
        if any(view.is_a(head, "answer") and len(view.descendants(head)) < 3 for head in heads):
            return None
        # Asides such as "I mean" are not statements.
        if any(view.is_a(at, "aside") for at in heads):
            return None
        # Without a concrete thing, such as a person or a name, a sentence makes sense only in the next turn:
        # "It's snowing".
        if not any(self._is_concrete(at) for at in inside):
            return None if self._is_remark(start) else "next"
        return "nearby" if any(self._refers_back(at) for at in whole) else "anywhere"

    def _is_concrete(self, k: int) -> bool:
        """Return whether a node names something concrete, such as a person or *dog*, but not *thing*."""
        view, label = self._view, self._view.labels[k]
        if view.is_a(k, "solid") or view.kinds[k] != OTHER:
            return True
        if view.nodes[k].concept is None or view.is_frame[k]:
            return False
        if view.is_a(k, "vague", "empty", "closed", "anaphor", "pointer"):
            return False
        # *Dress* can also be an adjective ("a dress shirt"), but "this dress" is a noun.
        pointed_at = any(c.role == "mod" and view.is_a(c.position, "demonstrative") for c in view.children[k])
        # Accept a word that the dictionary lists as a noun, such as *snowman*. Exclude words such as *good*,
        # which can also be adjectives or adverbs, because they are rarely used as nouns.
        known = readings(label).keys()
        return pointed_at or ("NOUN" in known and known.isdisjoint(("ADJ", "ADV")))

    def _is_remark(self, k: int) -> bool:
        """Return whether a clause only reacts to an earlier turn: "That's right", "It's okay"."""
        view = self._view
        # Ignore constants such as ``:polarity -``: with a negation, a remark is still a remark ("It's not
        # okay").
        content = [at for at in view.descendants(k) if not view.is_a(at, "anaphor", "pointer", "remark")]
        return view.is_a(k, "remark") and all(view.nodes[at].concept is None for at in content)

    def _refers_back(self, k: int) -> bool:
        """Return whether the word of a node may refer to an earlier turn, as *she* and *there* may."""
        view, up = self._view, self._view.nodes[k].parent
        # "This dress is beautiful": a demonstrative with a concrete noun is clear without its context.
        if view.roles[k] == "mod" and view.is_a(k, "demonstrative") and up is not None:
            return view.is_frame[up] or view.is_a(up, "vague", "empty", "closed")
        return view.is_a(k, "anaphor", "pointer")

    def is_event(self, k: int) -> bool:
        """Return whether a clause is about an event, which happens at some time.

        Args:
            k: Index of the head node of the clause.

        Returns:
            True for an event; False for a state such as *know*.
        """
        view = self._view
        happens = view.is_frame[k] and not view.is_a(k, "timeless", "reified")
        return (
            happens and bool(view.descendants(k)) and self.clause_type(k) in ("statement", "report", "wish")
        )

    def is_context_free(self, k: int) -> bool:
        """Return whether a sentence makes sense in any dialogue.

        Such a sentence is not a question, an order or an answer, and it does not refer to an earlier
        sentence.

        Args:
            k: Index of the top node of the sentence.

        Returns:
            True if the sentence can be copied into any dialogue.
        """
        view = self._view
        if len(view.descendants(k)) not in PORTABLE or not view.is_frame[k] or view.is_a(k, "phrasal"):
            return False
        if self._omits_main_verb(k):
            return False
        # In "So you have to wait", the connective has only one argument, because an earlier turn gave the
        # reason. The sentence makes no sense without that turn, so it cannot be copied.
        if view.is_a(k, "linking") and len(view.roles_out[k]) < 2:
            return False
        return not any(
            view.roles[at] in ("mode", "polite")
            or view.labels[at] in _MOOD_LABELS
            or view.is_a(at, "anaphor", "reply")
            for at in view.subtree(k)
        )

    def _omits_main_verb(self, k: int) -> bool:
        """Return whether the main verb of the sentence is missing, as in "My sister did"."""
        view = self._view
        core = [child for child in view.children[k] if (child.role or "").startswith("ARG")]
        # The main verb is missing if an auxiliary has only a subject: "Your neighbours might", "My sister
        # did".
        auxiliary = view.is_a(k, "modal") or view.labels[k] == "do-02"
        return auxiliary and len(core) == 1 and not view.is_frame[core[0].position]

    def is_prunable_detail(self, k: int) -> bool:
        """Return whether a node expresses a circumstance of the main predicate: when, where, how or why.

        Args:
            k: Index of the node in the graph.

        Returns:
            True if the node has the role of a circumstance, is at most two roles below the top, and contains
            no question.
        """
        view, role, up = self._view, self._view.roles[k], self._view.nodes[k].parent
        # Skip constants, such as the number 5. A circumstance is always a concept, such as the time
        # ``today``.
        if role not in _DETAILS or view.nodes[k].concept is None or up is None:
            return False
        # Skip circumstances of a subordinate clause. They are more than two roles below the top of the graph.
        if up != 0 and view.nodes[up].parent != 0:
            return False
        done = view.is_frame[up] and not view.is_a(up, "reified")
        return (role in ("time", "location") or done) and not any(
            at in view.subtree(k) for at in view.question_nodes
        )

"""Find nouns that could be replaced, what could replace them, and what words are said about.

An argument swap needs a noun that nothing else in the sentence depends on, and a replacement that the
predicate accepts. This module finds the kind of each noun, the kind of what may replace it, and the
selectional preferences of its predicate. It also finds the pronouns, names and numbers that other transforms
swap.

Example: in ``(b / buy-01 :ARG0 (i / i) :ARG1 (c / car :mod (r / red)))`` *car* has the kind ``thing``, and
any other thing may replace it, because one can buy things of all kinds. *red* asserts a ``modifier`` of a
``vehicle``.
"""

from __future__ import annotations

import re

from graphneg.amr.reading import Reading
from graphneg.english.noun_kinds import OTHER
from graphneg.english.takes import sort_of, takes

SMALL = 6
"""Subtrees with fewer nodes than this below their top can be replaced."""
# Concepts that combine words instead of naming something: ``date-entity``.
_BUILT = re.compile(r".*-(of|entity|quantity)")
_ENTITY = re.compile(r".*-(entity|quantity)")
_ARGUMENTS = frozenset({"ARG0", "ARG1", "ARG2"})
# Roles below a noun that belong to its phrase.
_INSIDE = frozenset(
    {"mod", "poss", "quant", "name", "wiki", "unit", "ord", "value", "consist-of", "polarity"}
)
# Roles in which a noun of another dialogue may replace a noun.
_OPEN = _ARGUMENTS | {"ARG3", "ARG4", "domain", "op1", "op2", "accompanier", "instrument", "topic"}
# Roles of nouns that are not spoken of in their own right.
_ASIDE = frozenset({"mod", "time", "unit", "quant", "name"})
# Kinds of nouns that are not things.
_NO_THINGS = frozenset({"act", "state", "time"})
# Roles in which a word modifies another one or is the predicate.
_MODIFYING = frozenset(
    {"", "mod", "manner", "degree", "extent", "frequency", "time", "location", "direction", "domain"}
)
# Pronouns that mean persons.
_SPEAKING = frozenset({"i", "you", "he", "she", "we"})
# Kinds of nouns that can act.
_ACTORS = frozenset({"person", "group", OTHER})
# Names of punctuation marks only.
_SILENT = re.compile(r'"[!?.,;:-]*"')


class Nouns:
    """The nouns of a graph.

    Args:
        reading: The graph.
    """

    def __init__(self, reading: Reading) -> None:
        """Initialize the predicates whose subject is a thing, and whether the text greets somebody."""
        self._of = reading
        # "The engine started": something that is not an actor does it.
        self._driven = {
            node.up
            for node, frame, kind in zip(reading.nodes, reading.is_frame, reading.kinds, strict=True)
            if node.role == "ARG0" and node.concept is not None and not frame and kind not in _ACTORS
        }
        self._greets = any(reading.is_a(k, "greeting") for k in range(reading.size))

    def names_something(self, k: int) -> bool:
        """Return whether a node is a noun that another noun could replace.

        Args:
            k: The node number.

        Returns:
            True for nouns of a known kind; False for frames, closed-class nouns and constructed concepts.
        """
        reading, label = self._of, self._of.labels[k]
        if reading.nodes[k].concept is None or reading.is_frame[k] or reading.kinds[k] == OTHER:
            return False
        # A ``person`` without anything below it is a part of a word, or has no word.
        is_bare_person = label == "person" and not reading.inside(k)
        return not reading.is_a(k, "closed") and not _BUILT.fullmatch(label) and not is_bare_person

    def general_kind(self, k: int) -> str:
        """Return the kind of a noun, where all kinds of things count as one.

        Args:
            k: The node number.

        Returns:
            ``thing`` for objects, clothes, food, vehicles and similar kinds, else the kind itself.
        """
        kind = self._of.kinds[k]
        return "thing" if "goods" in self._of.lexicon.of(kind) else kind

    def slot(self, k: int) -> str | None:
        """Return what may replace an argument.

        Args:
            k: The node number.

        Returns:
            A kind of noun, ``deed`` for an action, or an entity concept. The verb is added if it accepts only
            its own arguments ("solve"). None if the node must stay.
        """
        if not self._is_argument(k) or len(self._of.inside(k)) >= SMALL or not self._is_light(k):
            return None
        up = self._of.nodes[k].up
        # "solve a problem", "learn a language": only another argument of the same verb fits.
        choosy = up is not None and self._of.is_a(up, "choosy", "learning") and self._of.roles[k] != "ARG0"
        only = f" {self._of.labels[up]}" if up is not None and choosy else ""
        filler = self._deed(k) if self._of.is_frame[k] else self._filler(k)
        return None if filler is None else filler + only

    def _is_argument(self, k: int) -> bool:
        """Return whether a node is an argument, or a conjunct of one, of a predicate that has its own word.

        A lamplighter is a ``person`` with ``light-01`` and ``lamp``; this *lamp* is a part of a word.

        Returns:
            True if it is.
        """
        reading, role, up = self._of, self._of.roles[k], self._of.nodes[k].up
        if reading.nodes[k].concept is None or up is None:
            return False
        # "I like tea and coffee": either conjunct is an argument, but not the conjuncts of two sentences.
        if role.startswith("op"):
            return reading.is_a(up, "joint") and reading.roles[up] in _ARGUMENTS
        if role not in _ARGUMENTS or reading.is_a(up, "reified"):
            return False
        # The frame below ``person`` or ``thing`` is a part of a word: the lamp of *lamplighter* stays.
        nominal = reading.is_frame[up] and reading.roles[up].endswith("-of")
        return not (nominal and reading.is_a(reading.nodes[up].up, "holder"))

    def _is_light(self, k: int) -> bool:
        """Return whether a subtree asks nothing, and a noun has no relative clause or long modifier."""
        reading = self._of
        if any(reading.labels[at] in ("amr-unknown", "truth-value") for at in reading.whole(k)):
            return False
        # "people who left": the phrase of a person or an action is replaced with its clause.
        if reading.is_frame[k] or reading.labels[k] == "person":
            return True
        return all(
            reading.roles[at] in _INSIDE or reading.roles[at].startswith("op") for at in reading.inside(k)
        )

    def _deed(self, k: int) -> str | None:
        """Return ``deed`` for an action that somebody wants, begins or learns, else None."""
        reading, up = self._of, self._of.nodes[k].up
        # "I want to swim": another deed can be wanted.
        if not reading.roles[k].startswith("ARG") or not reading.is_a(up, "wanting"):
            return None
        # "The engine began to run": a deed of a thing does not fit another subject.
        return None if reading.is_a(k, "joining") or {k, up} & self._driven else "deed"

    def _filler(self, k: int) -> str | None:
        """Return the kind of noun or the entity concept that may replace a node, else None."""
        reading, label, up = self._of, self._of.labels[k], self._of.nodes[k].up
        # "They call him Tom", "he said goodbye": quoted words are kept. A person as the object of *use* or
        # *read* is a parse error.
        quoted = reading.is_a(up, "naming") or (label == "person" and reading.is_a(up, "using"))
        if quoted and reading.roles[k] != "ARG0":
            return None
        if _ENTITY.fullmatch(label):
            return label
        if not self.names_something(k):
            return None
        return self.general_kind(k) if reading.is_a(up, "handling") else reading.kinds[k]

    def open_to(self, k: int) -> str | None:
        """Return the kind of noun of another dialogue that may replace a node.

        Args:
            k: The node number.

        Returns:
            The kind, or ``any`` for something that one likes or remembers. None for deeds, states, times and
            places of a state, and for arguments of verbs that accept nothing else.
        """
        reading, role, up = self._of, self._of.roles[k], self._of.nodes[k].up
        # "play the guitar": a choosy verb accepts nothing else.
        is_open = role in _OPEN and self.names_something(k) and self.is_plain(k)
        if not is_open or reading.is_a(k, "vague") or reading.is_a(up, "choosy"):
            return None
        # One can like a person, a place or a thing.
        if role == "ARG1" and reading.is_a(up, "liking"):
            return "any"
        if reading.kinds[k] in _NO_THINGS:
            return None
        return self.general_kind(k) if role == "ARG1" and reading.is_a(up, "handling") else reading.kinds[k]

    def is_named(self, k: int) -> bool:
        """Return whether a node has a name.

        Args:
            k: The node number.

        Returns:
            True if it has a ``:name``.
        """
        return any(role == "name" for role, _ in self._of.roles_out[k])

    def is_topic(self, k: int) -> bool:
        """Return whether a noun can be mentioned again.

        Args:
            k: The node number.

        Returns:
            False for modifiers, times, units, amounts, names and vague nouns such as *thing*.
        """
        said = self._of.roles[k] not in _ASIDE and not self._of.is_a(k, "vague")
        return said and not self.is_named(k)

    def is_handled(self, k: int) -> bool:
        """Return whether a node is a thing that somebody has, buys or sees.

        Args:
            k: The node number.

        Returns:
            True if it is, so that any other thing fits.
        """
        takes = any(self._of.is_a(above, "handling") for _, above in self._of.roles_in[k])
        return takes and self._of.roles[k] == "ARG1" and self.general_kind(k) == "thing"

    def phrase(self, k: int) -> str:
        """Return the labels of a subtree in written order, as one string.

        Args:
            k: The number of the top of the subtree.

        Returns:
            The labels, separated by spaces.
        """
        return " ".join(self._of.labels[at] for at in self._of.whole(k))

    def is_plain(self, k: int) -> bool:
        """Return whether a noun has at most one node below it: a possessor, a number or a modifier.

        Args:
            k: The node number.

        Returns:
            True if it has; a modifier is accepted only for arguments.
        """
        inside = self._of.inside(k)
        if len(inside) > 1:
            return False
        roles = {"poss", "quant"} | ({"mod"} if self._of.roles[k].startswith("ARG") else set())
        return all(self._of.roles[at] in roles for at in inside)

    def sort(self, k: int) -> str | None:
        """Return the class of similar nouns that a noun belongs to.

        Verbs that were seen with some nouns of a class usually accept all of them.

        Args:
            k: The node number.

        Returns:
            The class, named by its most frequent noun ("like food"), or None.
        """
        return sort_of(self._of.labels[k])

    def takes(self, k: int) -> list[str]:
        """Return what the predicate of a noun was seen with in the noun's role.

        For an intransitive use ("The train arrives") the counts of the object come first, then those of the
        subject.

        Args:
            k: The node number of the noun.

        Returns:
            Classes of similar nouns, and nouns of rarer classes.
        """
        reading, found = self._of, dict[str, None]()
        for role, above in reading.roles_in[k]:
            if role in ("ARG0", "ARG1") and reading.is_frame[above]:
                # "The train arrives": ``arrive-01`` has no ARG0, and its ARG1 may be counted under either
                # role.
                acts = any(other == "ARG0" for other, _ in reading.roles_out[above])
                for one in (role,) if acts else ("ARG1", "ARG0"):
                    found.update(dict.fromkeys(takes(reading.labels[above], one, self._kinds(k))))
        return list(found)

    def _kinds(self, k: int) -> frozenset[str]:
        """Return the kinds of nouns that may replace a noun."""
        if self._of.roles[k] == "ARG1" and self._of.is_a(self._of.nodes[k].up, "handling"):
            return self._of.lexicon.members("goods") | {self._of.kinds[k]}
        return frozenset({self._of.kinds[k]})

    def asserts(self, k: int) -> str | None:
        """Return what a node asserts, which an antonym could deny.

        Args:
            k: The node number.

        Returns:
            The frame, ``noun`` or ``modifier``. None if the node is asked, denied, a name, a degree, a
            greeting, a part of a word, or has no opposite.
        """
        reading, role, label = self._of, self._of.roles[k], self._of.labels[k]
        concept = reading.nodes[k].concept
        if concept is None or reading.is_a(k, "no-opposite") or reading.in_questions[k]:
            return None
        if any(child.role in ("polarity", "name") for child in reading.children[k]):
            return None
        # "a little", "a bit more": amounts. "Good morning" has no opposite.
        is_amount = label in ("little", "bit", "more") and role in ("extent", "ARG3", "quant")
        if role == "degree" or is_amount or (concept.startswith("good-") and self._greets):
            return None
        if reading.is_frame[k]:
            up = reading.nodes[k].up
            # *teacher* is ``(p / person :ARG0-of (t / teach-01))``; its frame is a part of a word.
            nominal = role.endswith("-of") and up is not None
            return None if nominal and reading.labels[up or 0] in ("person", "thing") else concept
        return "modifier" if role in _MODIFYING or role.endswith("-of") else "noun"

    def said_of(self, k: int) -> list[str]:
        """Return the kinds of things that a word describes: the noun that it modifies, or its subject.

        Args:
            k: The node number.

        Returns:
            The kinds in alphabetical order.
        """
        # "the tall man", "The man is tall."
        things = [above for role, above in self._of.roles_in[k] if role == "mod"]
        things += [below for role, below in self._of.roles_out[k] if role in ("ARG1", "domain")]
        kinds = {"person" if self._of.labels[at] in _SPEAKING else self._of.kinds[at] for at in things}
        return sorted(kinds)

    def roles(self, k: int) -> list[str]:
        """Return the numbered roles of a frame that are used.

        Args:
            k: The node number.

        Returns:
            The roles in alphabetical order.
        """
        return sorted({role for role, _ in self._of.roles_out[k] if role.startswith("ARG")})

    def is_empty_it(self, k: int) -> bool:
        """Return whether *it* refers to nothing, or only to a clause that follows.

        Examples: "It rains", "It's five o'clock", "It was three years ago", "It takes two hours to get
        there", "It's getting late".

        Args:
            k: The node number.

        Returns:
            True for such a pronoun.
        """
        if self._of.labels[k] != "it":
            return False
        dated = any(self._of.is_a(child.k, "telling-time") for child in self._of.children[k])
        return dated or any(self._is_impersonal(above, k) for _, above in self._of.roles_in[k])

    def _is_impersonal(self, above: int, k: int) -> bool:
        """Return whether a predicate with a certain *it* is said of nothing."""
        reading = self._of
        if reading.is_a(above, "impersonal"):
            return True
        others = [child.k for child in reading.children[above] if child.k != k]
        if reading.is_a(above, "telling-time"):
            # "It's been five years", but "The film is long: it is five hours long".
            return reading.roles[k] in ("domain", "mod") and not reading.roles[above]
        if reading.is_a(above, "costing"):
            # "It takes an hour", "It costs a lot to live here", but "It takes batteries", "It costs a lot".
            timed = any(reading.is_a(at, "lasting") for at in others)
            return timed or any(reading.is_frame[at] for at in reading.inside(above))
        # "It's getting late", "It looks like rain".
        return reading.is_a(above, "becoming") and any(reading.is_a(at, "impersonal") for at in others)

    def deixis(self, k: int) -> str | None:
        """Return how *I*, *you* or *we* takes part in its sentence.

        Args:
            k: The node number.

        Returns:
            ``actor`` as an argument of a predicate, else ``other``. None for other words, and in thanks,
            which speakers express only for themselves.
        """
        reading, role, up = self._of, self._of.roles[k], self._of.nodes[k].up
        if not reading.is_a(k, "speaking") or reading.is_a(up, "thanking"):
            return None
        # "my car" (``:poss i``) does not make *I* an actor, and neither does "my brother"
        # (``have-rel-role-91``).
        acts = role.startswith("ARG") or role == "domain"
        return "actor" if acts and not reading.is_a(up, "relating") else "other"

    def said_in(self, k: int) -> list[int] | None:
        """Return the tops of the sentences that mention this *I*, *you* or *we*, its own sentence first.

        "I'm leaving. I'm packing." has one node for both *I*; the second sentence only mentions it.

        Args:
            k: The node number.

        Returns:
            The node numbers, or None for other words.
        """
        if self.deixis(k) is None:
            return None
        tops = self._of.sentences
        mentioned = sorted({tops[one.up] for one in self._of.graph.mentions if one.target == k})
        return list(dict.fromkeys([tops[k], *mentioned]))

    def swap(self, k: int) -> tuple[str, str] | None:
        """Return what a name or number belongs to, and its words.

        A name without content, such as a title or punctuation, is ignored.

        Args:
            k: The node number: of a number, of a ``name``, or of an entity with ``:wiki`` and a name.

        Returns:
            What it belongs to (``name person``, ``entity city``, ``quant count``) and the words, or None.
        """
        node, reading = self._of.nodes[k], self._of
        if node.value is not None:
            return self._number(k)
        # An entity with a ``:wiki`` is replaced as a whole (below), because the link must fit the name.
        if node.role == "name" and node.concept == "name" and node.up is not None:
            return self._name(k, f"name {reading.labels[node.up]}") if not self._wiki(node.up) else None
        # "name" and ":wiki" are the only children: nothing else of the entity would contradict a new name.
        others = [child for child in reading.children[k] if child.role != "wiki"]
        if len(others) == 1 and others[0].role == others[0].concept == "name" and self._wiki(k):
            return self._name(others[0].k, f"entity {reading.labels[k]}")
        return None

    def _wiki(self, k: int) -> bool:
        """Return whether a node is linked to Wikipedia."""
        return any(c.role == "wiki" and c.label != "-" for c in self._of.children[k])

    def _name(self, k: int, of: str) -> tuple[str, str] | None:
        """Return the words of a name with what it belongs to, or None if the name has no content."""
        reading = self._of
        words = " ".join(reading.nodes[at].value or "" for at in reading.inside(k))
        # "Mr", "Doctor": swapping a title is no error.
        if not words or _SILENT.fullmatch(words) or "title" in reading.lexicon.of(words.strip('"')):
            return None
        return of, words

    def _number(self, k: int) -> tuple[str, str] | None:
        """Return a number with what it counts, or None."""
        reading, (_, _, _, _, value, up, role, *_) = self._of, self._of.nodes[k]
        if up is None or role not in ("quant", "value") or not re.fullmatch("[0-9]+", value or ""):
            return None
        if self._wiki(up):
            return None
        unit = above = reading.labels[up]
        if role == "quant":
            units = (child.concept for child in reading.children[up] if child.role == "unit")
            # "two pounds": the unit decides which other number fits.
            unit = (next(units, None) or above) if above.endswith("-quantity") else "count"
        return f"{role} {unit}", value or ""

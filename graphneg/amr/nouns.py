"""Find the nouns, pronouns, names and numbers that transforms replace, and what may replace them.

An argument swap needs a noun that nothing else in the sentence depends on, and a replacement that the
predicate accepts. This module finds the kind of each noun, the kind of noun that may replace it, and the
selectional preferences of its predicate. It also finds the words that have antonyms, and the pronouns, names
and numbers that other transforms swap.

Example: in ``(b / buy-01 :ARG0 (i / i) :ARG1 (c / car :mod (r / red)))`` *car* has the general kind
``thing``, and any other thing may replace it, because one can buy things of all kinds. *red* is used as a
``modifier`` and describes a ``vehicle``, so an antonym of *red* would have to be a modifier of vehicles.
"""

from __future__ import annotations

import re

from graphneg.amr.reading import AmrView
from graphneg.english.noun_kinds import OTHER
from graphneg.english.selectional_preferences import noun_cluster, preferred_nouns

SMALL = 6
"""A subtree can be replaced only if fewer nodes than this are below its top."""
# Pattern of concepts such as ``date-entity``, which group other nodes and are not nouns.
_COMPOSED = re.compile(r".*-(of|entity|quantity)")
_ENTITY = re.compile(r".*-(entity|quantity)")
_ARGUMENTS = frozenset({"ARG0", "ARG1", "ARG2"})
# Roles of nodes that may be lost if the noun above them is replaced, such as ``:mod`` for *red* in "the red
# car".
_ROLES_BELOW_NOUN = frozenset(
    {"mod", "poss", "quant", "name", "wiki", "unit", "ord", "value", "consist-of", "polarity"}
)
# Roles in which a noun can be replaced by a noun from another dialogue.
_REPLACEABLE_ROLES = _ARGUMENTS | {
    "ARG3",
    "ARG4",
    "domain",
    "op1",
    "op2",
    "accompanier",
    "instrument",
    "topic",
}
# Roles of modifiers, times, units, amounts and names. A noun with such a role is not a topic of the dialogue.
_DESCRIBING_ROLES = frozenset({"mod", "time", "unit", "quant", "name"})
# Kinds of nouns that are not replaced by nouns of other dialogues, except as the object of a verb of liking.
_KEPT_KINDS = frozenset({"act", "state", "time"})
# Roles in which a word is used as a modifier, such as *tall* in "the tall man". In "She is tall", *tall* is
# the top of the graph, whose role is empty.
_MODIFYING = frozenset(
    {"", "mod", "manner", "degree", "extent", "frequency", "time", "location", "direction", "domain"}
)
# Pronouns that refer to persons.
_SPEAKING = frozenset({"i", "you", "he", "she", "we"})
# Kinds of nouns whose referents can act. They include `OTHER`, because a noun of unknown kind may refer to a
# person.
_ACTORS = frozenset({"person", "group", OTHER})
# Names that consist of punctuation marks only; they are not swapped.
_PUNCTUATION_ONLY = re.compile(r'"[!?.,;:-]*"')


class Nouns:
    """The nouns, pronouns, names and numbers of a graph.

    Args:
        view: The graph, indexed for look-ups.
    """

    def __init__(self, view: AmrView) -> None:
        """Find the predicates whose subject is a thing, and test whether the graph contains a greeting."""
        self._view = view
        # Collect the predicates whose subject is neither a person nor a group: "The engine started".
        self._without_actor = {
            node.parent
            for node, frame, kind in zip(view.nodes, view.is_frame, view.kinds, strict=True)
            if node.role == "ARG0" and node.concept is not None and not frame and kind not in _ACTORS
        }
        self._greets = any(view.is_a(k, "greeting") for k in range(view.size))

    def is_replaceable(self, k: int) -> bool:
        """Return whether a node is a noun that another noun could replace.

        Args:
            k: Index of the node in the graph.

        Returns:
            True for nouns of a known kind. False for frames, closed-class nouns and concepts such as
            ``date-entity``.
        """
        view, label = self._view, self._view.labels[k]
        if view.nodes[k].concept is None or view.is_frame[k] or view.kinds[k] == OTHER:
            return False
        # A ``person`` without children is often not expressed by a separate word, so it is not replaced.
        is_bare_person = label == "person" and not view.descendants(k)
        return not view.is_a(k, "closed") and not _COMPOSED.fullmatch(label) and not is_bare_person

    def coarse_kind(self, k: int) -> str:
        """Return the kind of a noun, with ``thing`` in place of all kinds of physical objects.

        Args:
            k: Index of the node in the graph.

        Returns:
            ``thing`` for tools, clothes, food, vehicles and other physical objects. For all other nouns, the
            kind itself, such as ``person``.
        """
        kind = self._view.kinds[k]
        return "thing" if "physical-object" in self._view.lexicon.classes_of(kind) else kind

    def argument_type(self, k: int) -> str | None:
        """Return the type of an argument. Arguments with the same role and the same type can be swapped.

        Args:
            k: Index of the node in the graph.

        Returns:
            The type: a kind of noun, ``deed`` for an action, or an entity concept such as ``date-entity``.

            Verbs such as *solve* and *learn* accept few objects. Therefore the type of such an object ends
            with its verb, so that it is only swapped with other objects of the same verb.

            None if the node must not be replaced.
        """
        if (
            not self._is_argument(k)
            or len(self._view.descendants(k)) >= SMALL
            or not self._is_simple_subtree(k)
        ):
            return None
        up = self._view.nodes[k].parent
        # Verbs such as "solve" and "learn" accept few objects. In "solve a problem", "problem" may only be
        # replaced by another object of "solve".
        choosy = (
            up is not None and self._view.is_a(up, "choosy", "learning") and self._view.roles[k] != "ARG0"
        )
        only = f" {self._view.labels[up]}" if up is not None and choosy else ""
        filler = self._deed(k) if self._view.is_frame[k] else self._filler(k)
        return None if filler is None else filler + only

    def _is_argument(self, k: int) -> bool:
        """Return whether a node is an argument of a predicate that a separate word expresses.

        In "I like tea and coffee", the method returns True for *tea* and *coffee*, although their parent is
        ``and``. The graph of *lamplighter* is a ``person`` with ``light-01`` and ``lamp``. This ``lamp`` is
        only a part of a word, so the method returns False for it.
        """
        view, role, up = self._view, self._view.roles[k], self._view.nodes[k].parent
        if view.nodes[k].concept is None or up is None:
            return False
        # In "I like tea and coffee", ``and`` is an argument of *like*. So *tea* and *coffee* count as
        # arguments, too. In "I sang and he danced", ``and`` is no argument.
        if role.startswith("op"):
            return view.is_a(up, "joint") and view.roles[up] in _ARGUMENTS
        if role not in _ARGUMENTS or view.is_a(up, "reified"):
            return False
        # If a frame is below ``person`` or ``thing``, its arguments are parts of a word, like the ``lamp`` of
        # *lamplighter*.
        nominal = view.is_frame[up] and view.roles[up].endswith("-of")
        return not (nominal and view.is_a(view.nodes[up].parent, "holder"))

    def _is_simple_subtree(self, k: int) -> bool:
        """Return whether a subtree is simple enough to be replaced as a whole.

        It must contain no question. Below a noun other than a person, it must contain no clause and no long
        modifier.
        """
        view = self._view
        if any(view.labels[at] in ("amr-unknown", "truth-value") for at in view.subtree(k)):
            return False
        # A person or an action can be replaced even if its subtree contains a clause: "people who left" is
        # replaced as a whole.
        if view.is_frame[k] or view.labels[k] == "person":
            return True
        return all(
            view.roles[at] in _ROLES_BELOW_NOUN or view.roles[at].startswith("op")
            for at in view.descendants(k)
        )

    def _deed(self, k: int) -> str | None:
        """Return ``deed`` for an action that somebody wants or begins, such as *swim* in "I want to swim"."""
        view, up = self._view, self._view.nodes[k].parent
        # In "I want to swim", another action can replace *swim*.
        if not view.roles[k].startswith("ARG") or not view.is_a(up, "wanting"):
            return None
        # In "The engine began to run", the subject is a thing. Few other actions fit a thing, so the action
        # is kept.
        return None if view.is_a(k, "joining") or {k, up} & self._without_actor else "deed"

    def _filler(self, k: int) -> str | None:
        """Return the kind of the nouns that may replace a node, or its entity concept; None to keep it."""
        view, label, up = self._view, self._view.labels[k], self._view.nodes[k].parent
        # Do not replace quoted words: "They call him Tom", "He said goodbye". Do not replace a person as the
        # object of *use* or *read* either, because such a graph is probably wrong.
        quoted = view.is_a(up, "naming") or (label == "person" and view.is_a(up, "using"))
        if quoted and view.roles[k] != "ARG0":
            return None
        if _ENTITY.fullmatch(label):
            return label
        if not self.is_replaceable(k):
            return None
        return self.coarse_kind(k) if view.is_a(up, "handling") else view.kinds[k]

    def substitutable_kind(self, k: int) -> str | None:
        """Return the kind of noun that may replace a node, if the noun comes from another dialogue.

        Args:
            k: Index of the node in the graph.

        Returns:
            The kind, or ``any`` if nouns of all kinds fit ("I like ..."). None if the node must be kept. This
            applies to actions, states, times and vague nouns, to nouns in modifying roles such as ``mod``,
            and to arguments of verbs that accept few nouns.
        """
        view, role, up = self._view, self._view.roles[k], self._view.nodes[k].parent
        # Verbs such as *play* in "play the guitar" accept few nouns, so their objects are not replaced.
        is_open = role in _REPLACEABLE_ROLES and self.is_replaceable(k) and self.is_plain(k)
        if not is_open or view.is_a(k, "vague") or view.is_a(up, "choosy"):
            return None
        # One can like or remember a person, a place or a thing, so a noun of any kind may replace the object.
        if role == "ARG1" and view.is_a(up, "liking"):
            return "any"
        if view.kinds[k] in _KEPT_KINDS:
            return None
        return self.coarse_kind(k) if role == "ARG1" and view.is_a(up, "handling") else view.kinds[k]

    def is_named(self, k: int) -> bool:
        """Return whether a node has a name.

        Args:
            k: Index of the node in the graph.

        Returns:
            True if the node has the role ``:name``.
        """
        return any(role == "name" for role, _ in self._view.roles_out[k])

    def is_topical(self, k: int) -> bool:
        """Return whether a noun can be a topic that later turns mention again.

        Args:
            k: Index of the node in the graph.

        Returns:
            True for a possible topic. False for modifiers, times, units, quantities, nouns with a name, and
            vague nouns such as *thing*.
        """
        said = self._view.roles[k] not in _DESCRIBING_ROLES and not self._view.is_a(k, "vague")
        return said and not self.is_named(k)

    def is_possessed_or_perceived(self, k: int) -> bool:
        """Return whether a node is a thing that somebody has, buys or sees.

        Args:
            k: Index of the node in the graph.

        Returns:
            True for the object of a verb such as *have*, *buy* or *see*, if it is a thing. These verbs
            accept any thing as object, so the object can be replaced with any other thing.
        """
        takes = any(self._view.is_a(above, "handling") for _, above in self._view.roles_in[k])
        return takes and self._view.roles[k] == "ARG1" and self.coarse_kind(k) == "thing"

    def phrase(self, k: int) -> str:
        """Return the concepts and constants of a subtree in written order, as one string.

        Args:
            k: Index of the top node of the subtree.

        Returns:
            The concepts and constants, separated by spaces: ``car red`` for ``(c / car :mod (r / red))``.
        """
        return " ".join(self._view.labels[at] for at in self._view.subtree(k))

    def is_plain(self, k: int) -> bool:
        """Return whether at most one node is below a noun: a possessor, a number or a modifier.

        Args:
            k: Index of the node in the graph.

        Returns:
            True if nothing else is below the noun. A modifier is accepted only if the noun is an argument
            (``ARG0``, ``ARG1``, ...).
        """
        inside = self._view.descendants(k)
        if len(inside) > 1:
            return False
        roles = {"poss", "quant"} | ({"mod"} if self._view.roles[k].startswith("ARG") else set())
        return all(self._view.roles[at] in roles for at in inside)

    def noun_class(self, k: int) -> str | None:
        """Return the cluster of similar nouns that contains a noun.

        Verbs that occur with some nouns of a cluster usually accept all of them.

        Args:
            k: Index of the node in the graph.

        Returns:
            The name of the cluster, which contains one of its nouns (``like food``). None if no cluster
            contains the noun.
        """
        return noun_cluster(self._view.labels[k])

    def selectional_preferences(self, k: int) -> list[str]:
        """Return the nouns that usually occur with the predicate of a noun, in the role of this noun.

        For *soup* in "I eat soup", these are other things that people eat. If the predicate has no ``ARG0``
        ("The train arrives"), the nouns in the role ``ARG1`` come first, and those in the role ``ARG0``
        follow.

        Args:
            k: Index of the noun's node in the graph.

        Returns:
            Names of groups of similar nouns, such as ``like food``, and single nouns. A noun is listed alone
            if few nouns of its group occur with the predicate. The list is empty if nothing is known about
            the predicate.
        """
        view, found = self._view, dict[str, None]()
        for role, above in view.roles_in[k]:
            if role in ("ARG0", "ARG1") and view.is_frame[above]:
                # In "The train arrives", ``arrive-01`` has no ARG0. The table of selectional preferences may
                # list its subjects under ARG1 or under ARG0, so look up both roles.
                acts = any(other == "ARG0" for other, _ in view.roles_out[above])
                for one in (role,) if acts else ("ARG1", "ARG0"):
                    found.update(dict.fromkeys(preferred_nouns(view.labels[above], one, self._kinds(k))))
        return list(found)

    def _kinds(self, k: int) -> frozenset[str]:
        """Return the noun classes, such as ``person`` or ``food``, of the nouns that may replace a noun."""
        if self._view.roles[k] == "ARG1" and self._view.is_a(self._view.nodes[k].parent, "handling"):
            return self._view.lexicon.members("physical-object") | {self._view.kinds[k]}
        return frozenset({self._view.kinds[k]})

    def opposable_as(self, k: int) -> str | None:
        """Return how the word of a node is used, which determines the antonyms that can replace it.

        Args:
            k: Index of the node in the graph.

        Returns:
            The frame itself (``love-01``), ``noun`` or ``modifier``. None if no antonym may replace the word.
            This is so if the word is in a question, is negated, has a name, expresses a degree or a greeting,
            is a part of another word, or has no antonym.
        """
        view, role, label = self._view, self._view.roles[k], self._view.labels[k]
        concept = view.nodes[k].concept
        if concept is None or view.is_a(k, "no-opposite") or view.in_questions[k]:
            return None
        if any(child.role in ("polarity", "name") for child in view.children[k]):
            return None
        # In "a little" and "a bit more", the words express amounts and are kept. "Good morning" is a
        # greeting, in which "good" has no antonym.
        is_amount = label in ("little", "bit", "more") and role in ("extent", "ARG3", "quant")
        if role == "degree" or is_amount or (concept.startswith("good-") and self._greets):
            return None
        if view.is_frame[k]:
            up = view.nodes[k].parent
            # The graph of *teacher* is ``(p / person :ARG0-of (t / teach-01))``: ``teach-01`` is only a part
            # of this word.
            nominal = role.endswith("-of") and up is not None
            return None if nominal and view.labels[up or 0] in ("person", "thing") else concept
        return "modifier" if role in _MODIFYING or role.endswith("-of") else "noun"

    def modified_kinds(self, k: int) -> list[str]:
        """Return the kinds of the nouns to which a word applies, as *tall* applies to *man* in "a tall man".

        Args:
            k: Index of the node in the graph.

        Returns:
            The kinds, such as ``person``, in alphabetical order.
        """
        # *tall* describes a person both in "the tall man" and in "The man is tall."
        things = [above for role, above in self._view.roles_in[k] if role == "mod"]
        things += [below for role, below in self._view.roles_out[k] if role in ("ARG1", "domain")]
        kinds = {"person" if self._view.labels[at] in _SPEAKING else self._view.kinds[at] for at in things}
        return sorted(kinds)

    def roles(self, k: int) -> list[str]:
        """Return the numbered roles that a frame has in this graph.

        Args:
            k: Index of the node in the graph.

        Returns:
            The roles, such as ``ARG0``, in alphabetical order.
        """
        return sorted({role for role, _ in self._view.roles_out[k] if role.startswith("ARG")})

    def is_expletive(self, k: int) -> bool:
        """Return whether *it* refers to nothing, or only to a clause that follows.

        Examples: "It rains", "It's five o'clock", "It was three years ago", "It takes two hours to get
        there", "It's getting late".

        Args:
            k: Index of the node in the graph.

        Returns:
            True for such an *it*; False for any other *it* and for other words.
        """
        if self._view.labels[k] != "it":
            return False
        dated = any(self._view.is_a(child.position, "telling-time") for child in self._view.children[k])
        return dated or any(self._is_impersonal(above, k) for _, above in self._view.roles_in[k])

    def _is_impersonal(self, above: int, k: int) -> bool:
        """Return whether *it*, the node ``k`` below the node ``above``, refers to nothing: "It rains"."""
        view = self._view
        if view.is_a(above, "impersonal"):
            return True
        others = [child.position for child in view.children[above] if child.position != k]
        if view.is_a(above, "telling-time"):
            # In "It's been five years", *it* refers to nothing. In "The film is long: it is five hours long",
            # it refers to the film.
            return view.roles[k] in ("domain", "mod") and not view.roles[above]
        if view.is_a(above, "costing"):
            # *it* refers to nothing in "It takes an hour" and "It costs a lot to live here". It refers to a
            # thing in "It takes batteries" and "It costs a lot".
            timed = any(view.is_a(at, "lasting") for at in others)
            return timed or any(view.is_frame[at] for at in view.descendants(above))
        # *it* refers to nothing in "It's getting late" and "It looks like rain".
        return view.is_a(above, "becoming") and any(view.is_a(at, "impersonal") for at in others)

    def person_role(self, k: int) -> str | None:
        """Return whether *I*, *you* or *we* is an argument of a predicate.

        Args:
            k: Index of the node in the graph.

        Returns:
            ``actor`` for an argument of a predicate ("I sing"), ``other`` for any other use ("my car"). None
            for all other words, and also for *I* and *you* in "I thank you", because "You thank me" is not
            natural.
        """
        view, role, up = self._view, self._view.roles[k], self._view.nodes[k].parent
        if not view.is_a(k, "speaking") or view.is_a(up, "thanking"):
            return None
        # In "my car" (``:poss i``), *I* is a possessor. In "my brother" (``have-rel-role-91``), *I* is a
        # relative. Neither is an actor.
        acts = role.startswith("ARG") or role == "domain"
        return "actor" if acts and not view.is_a(up, "relating") else "other"

    def pronoun_sentences(self, k: int) -> list[int] | None:
        """Return the tops of all sentences that mention this *I*, *you* or *we*.

        The graph of "I'm leaving. I'm packing." has one node for both *I*. The node is in the first sentence;
        the second sentence contains only a reentrancy.

        Args:
            k: Index of the node in the graph.

        Returns:
            The node indices of the tops, starting with the top of the node's own sentence. None for words
            other than these pronouns.
        """
        if self.person_role(k) is None:
            return None
        tops = self._view.sentences
        mentioned = sorted({tops[one.parent] for one in self._view.graph.mentions if one.target == k})
        return list(dict.fromkeys([tops[k], *mentioned]))

    def swap(self, k: int) -> tuple[str, str] | None:
        """Return the type and the words of a name or number. Values of the same type can be swapped.

        A name that is only a title ("Mr") or punctuation is ignored.

        Args:
            k: The index of the node: a number, a ``name``, or an entity with a ``:wiki`` link and a name.

        Returns:
            The type (for example ``name person``, ``entity city`` or ``quant count``) and the words. None
            for nodes that are not swapped.
        """
        node, view = self._view.nodes[k], self._view
        if node.value is not None:
            return self._number(k)
        # A ``:wiki`` link must fit the name of its entity. So do not swap the name alone if the entity has a
        # link. Such an entity is swapped as a whole, with its name and link, below.
        if node.role == "name" and node.concept == "name" and node.parent is not None:
            return (
                self._name(k, f"name {view.labels[node.parent]}")
                if not self._has_wiki_link(node.parent)
                else None
            )
        # Swap only entities without other children than ``:name`` and ``:wiki``. In "rainy London", the
        # modifier *rainy* might not fit a new name.
        others = [child for child in view.children[k] if child.role != "wiki"]
        if len(others) == 1 and others[0].role == others[0].concept == "name" and self._has_wiki_link(k):
            return self._name(others[0].position, f"entity {view.labels[k]}")
        return None

    def _has_wiki_link(self, k: int) -> bool:
        return any(c.role == "wiki" and c.label != "-" for c in self._view.children[k])

    def _name(self, k: int, of: str) -> tuple[str, str] | None:
        """Return the type and the words of a name; None if the name is only a title or punctuation.

        Args:
            k: Index of the node ``name``.
            of: Type of the name, such as ``name person``. It is returned as the first value.
        """
        view = self._view
        words = " ".join(view.nodes[at].value or "" for at in view.descendants(k))
        # A title alone ("Mr", "Doctor") is ignored: swapping it does not make the text wrong.
        if (
            not words
            or _PUNCTUATION_ONLY.fullmatch(words)
            or "title" in view.lexicon.classes_of(words.strip('"'))
        ):
            return None
        return of, words

    def _number(self, k: int) -> tuple[str, str] | None:
        """Return the type and the digits of a number that an edit may replace; None for other nodes."""
        view, (_, _, _, _, value, up, role, *_) = self._view, self._view.nodes[k]
        if up is None or role not in ("quant", "value") or not re.fullmatch("[0-9]+", value or ""):
            return None
        if self._has_wiki_link(up):
            return None
        unit = above = view.labels[up]
        if role == "quant":
            units = (child.concept for child in view.children[up] if child.role == "unit")
            # In "two pounds", the unit is the type, so that a number of pounds is swapped only with another
            # number of pounds. Numbers of countable things ("two rooms") have the type ``count``.
            unit = (next(units, None) or above) if above.endswith("-quantity") else "count"
        return f"{role} {unit}", value or ""

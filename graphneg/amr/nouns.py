"""Nouns that could be exchanged: what they name, what else their predicate takes, what they are said of."""

from __future__ import annotations

import re

from graphneg.amr.reading import Reading
from graphneg.english.noun_kinds import OTHER
from graphneg.english.takes import sort_of, takes

SMALL = 6
"""A subtree of fewer nodes than this can be exchanged."""
_BUILT = re.compile(r".*-(of|entity|quantity)")
_ENTITY = re.compile(r".*-(entity|quantity)")
_ARGUMENTS = frozenset({"ARG0", "ARG1", "ARG2"})
_INSIDE = frozenset(
    {"mod", "poss", "quant", "name", "wiki", "unit", "ord", "value", "consist-of", "polarity"}
)
_OPEN = _ARGUMENTS | {"ARG3", "ARG4", "domain", "op1", "op2", "accompanier", "instrument", "topic"}
_ASIDE = frozenset({"mod", "time", "unit", "quant", "name"})
_NO_THINGS = frozenset({"act", "state", "time"})
_MODIFYING = frozenset(
    {"", "mod", "manner", "degree", "extent", "frequency", "time", "location", "direction", "domain"}
)
_SPEAKING = frozenset({"i", "you", "he", "she", "we"})
_ACTORS = frozenset({"person", "group", OTHER})
_SILENT = re.compile(r'"[!?.,;:-]*"')


class Nouns:
    """The nouns of a graph, and what its words are said of."""

    def __init__(self, reading: Reading) -> None:
        self._of = reading
        self._driven = {
            node.up
            for node, frame, kind in zip(reading.nodes, reading.is_frame, reading.kinds, strict=True)
            if node.role == "ARG0" and node.concept is not None and not frame and kind not in _ACTORS
        }
        self._greets = any(reading.is_a(k, "greeting") for k in range(reading.size))

    def names_something(self, k: int) -> bool:
        """Whether the node is a noun that names something which another noun could take the place of."""
        reading, label = self._of, self._of.labels[k]
        if reading.nodes[k].concept is None or reading.is_frame[k] or reading.kinds[k] == OTHER:
            return False
        is_bare_person = label == "person" and not reading.inside(k)
        return not reading.is_a(k, "closed") and not _BUILT.fullmatch(label) and not is_bare_person

    def general_kind(self, k: int) -> str:
        """The kind of a noun; all kinds of things are one."""
        kind = self._of.kinds[k]
        return "thing" if "goods" in self._of.lexicon.of(kind) else kind

    def slot(self, k: int) -> str | None:
        """What may stand in the place of the node, an argument with nothing heavy below: a kind of noun, a
        ``deed``, an entity; with the verb where that takes nothing else. ``None``: it stays."""
        if not self._is_argument(k) or len(self._of.inside(k)) >= SMALL or not self._is_light(k):
            return None
        up = self._of.nodes[k].up
        choosy = up is not None and self._of.is_a(up, "choosy", "learning") and self._of.roles[k] != "ARG0"
        only = f" {self._of.labels[up]}" if up is not None and choosy else ""
        filler = self._deed(k) if self._of.is_frame[k] else self._filler(k)
        return None if filler is None else filler + only

    def _is_argument(self, k: int) -> bool:
        """Whether the node is an argument, or one of several joined by *and*, of a predicate in the text. A
        predicate that only builds a word has none: the lamp of a lamplighter is under ``light-01``."""
        reading, role, up = self._of, self._of.roles[k], self._of.nodes[k].up
        if reading.nodes[k].concept is None or up is None:
            return False
        if role.startswith("op"):
            return reading.is_a(up, "joint") and reading.roles[up] in _ARGUMENTS
        if role not in _ARGUMENTS or reading.is_a(up, "reified"):
            return False
        nominal = reading.is_frame[up] and reading.roles[up].endswith("-of")
        return not (nominal and reading.is_a(reading.nodes[up].up, "holder"))

    def _is_light(self, k: int) -> bool:
        """Whether nothing below asks, and of a noun only what goes before it or after *of* is there."""
        reading = self._of
        if any(reading.labels[at] in ("amr-unknown", "truth-value") for at in reading.whole(k)):
            return False
        if reading.is_frame[k] or reading.labels[k] == "person":
            return True
        return all(
            reading.roles[at] in _INSIDE or reading.roles[at].startswith("op") for at in reading.inside(k)
        )

    def _deed(self, k: int) -> str | None:
        """``deed``, where somebody wants, begins or learns it."""
        reading, up = self._of, self._of.nodes[k].up
        if not reading.roles[k].startswith("ARG") or not reading.is_a(up, "wanting"):
            return None
        return None if reading.is_a(k, "joining") or {k, up} & self._driven else "deed"

    def _filler(self, k: int) -> str | None:
        reading, label, up = self._of, self._of.labels[k], self._of.nodes[k].up
        quoted = reading.is_a(up, "naming") or (label == "person" and reading.is_a(up, "using"))
        if quoted and reading.roles[k] != "ARG0":
            return None
        if _ENTITY.fullmatch(label):
            return label
        if not self.names_something(k):
            return None
        return self.general_kind(k) if reading.is_a(up, "handling") else reading.kinds[k]

    def open_to(self, k: int) -> str | None:
        """The kind of noun of another dialogue that may stand in the place of this one: ``any`` where one
        likes or remembers it; ``None`` for deeds, states and times, for where something is, and for what a
        verb takes that takes nothing else."""
        reading, role, up = self._of, self._of.roles[k], self._of.nodes[k].up
        is_open = role in _OPEN and self.names_something(k) and self.is_plain(k)
        if not is_open or reading.is_a(k, "vague") or reading.is_a(up, "choosy"):
            return None
        if role == "ARG1" and reading.is_a(up, "liking"):
            return "any"
        if reading.kinds[k] in _NO_THINGS:
            return None
        return self.general_kind(k) if role == "ARG1" and reading.is_a(up, "handling") else reading.kinds[k]

    def is_named(self, k: int) -> bool:
        """Whether the node has a name."""
        return any(role == "name" for role, _ in self._of.roles_out[k])

    def is_topic(self, k: int) -> bool:
        """Whether the noun at ``k`` can be spoken of again: no modifier, time, unit, amount or name."""
        said = self._of.roles[k] not in _ASIDE and not self._of.is_a(k, "vague")
        return said and not self.is_named(k)

    def is_handled(self, k: int) -> bool:
        """Whether the node is a thing that one has, buys or sees: it may be any other thing."""
        takes = any(self._of.is_a(above, "handling") for _, above in self._of.roles_in[k])
        return takes and self._of.roles[k] == "ARG1" and self.general_kind(k) == "thing"

    def phrase(self, k: int) -> str:
        """The labels in the subtree of ``k``, in written order."""
        return " ".join(self._of.labels[at] for at in self._of.whole(k))

    def is_plain(self, k: int) -> bool:
        """Whether nothing stands below but a possessor, a number or, of an argument, a modifier."""
        inside = self._of.inside(k)
        if len(inside) > 1:
            return False
        roles = {"poss", "quant"} | ({"mod"} if self._of.roles[k].startswith("ARG") else set())
        return all(self._of.roles[at] in roles for at in inside)

    def sort(self, k: int) -> str | None:
        """The sort of the noun: what a verb takes of it, it mostly takes of all."""
        return sort_of(self._of.labels[k])

    def takes(self, k: int) -> list[str]:
        """The sorts of nouns, and the nouns of rarer ones, that the predicate of the noun at ``k`` was seen
        with where the noun stands; of a train that arrives, what arrives and what one lets arrive."""
        reading, found = self._of, dict[str, None]()
        for role, above in reading.roles_in[k]:
            if role in ("ARG0", "ARG1") and reading.is_frame[above]:
                acts = any(other == "ARG0" for other, _ in reading.roles_out[above])
                for one in (role,) if acts else ("ARG1", "ARG0"):
                    found.update(dict.fromkeys(takes(reading.labels[above], one, self._kinds(k))))
        return list(found)

    def _kinds(self, k: int) -> frozenset[str]:
        """The kinds of nouns that may stand in the place of the noun at ``k``."""
        if self._of.roles[k] == "ARG1" and self._of.is_a(self._of.nodes[k].up, "handling"):
            return self._of.lexicon.members("goods") | {self._of.kinds[k]}
        return frozenset({self._of.kinds[k]})

    def asserts(self, k: int) -> str | None:
        """What the node asserts by its word: the frame, or ``noun`` or ``modifier``.

        ``None`` where it is asked, denied, a name, a degree, a greeting, a part of a word, or unopposed.
        """
        reading, role, label = self._of, self._of.roles[k], self._of.labels[k]
        concept = reading.nodes[k].concept
        if concept is None or reading.is_a(k, "no-opposite") or reading.in_questions[k]:
            return None
        if any(child.role in ("polarity", "name") for child in reading.children[k]):
            return None
        is_amount = label in ("little", "bit", "more") and role in ("extent", "ARG3", "quant")
        if role == "degree" or is_amount or (concept.startswith("good-") and self._greets):
            return None
        if reading.is_frame[k]:
            up = reading.nodes[k].up
            nominal = role.endswith("-of") and up is not None
            return None if nominal and reading.labels[up or 0] in ("person", "thing") else concept
        return "modifier" if role in _MODIFYING or role.endswith("-of") else "noun"

    def said_of(self, k: int) -> list[str]:
        """The kinds of things that the word is said of: what it modifies, or has as its subject."""
        things = [above for role, above in self._of.roles_in[k] if role == "mod"]
        things += [below for role, below in self._of.roles_out[k] if role in ("ARG1", "domain")]
        kinds = {"person" if self._of.labels[at] in _SPEAKING else self._of.kinds[at] for at in things}
        return sorted(kinds)

    def roles(self, k: int) -> list[str]:
        """The numbered roles of a frame that are in use."""
        return sorted({role for role, _ in self._of.roles_out[k] if role.startswith("ARG")})

    def is_empty_it(self, k: int) -> bool:
        """Whether an *it* names nothing, as in *it rains*."""
        if self._of.labels[k] != "it":
            return False
        return any(self._of.is_a(above, "impersonal") for _, above in self._of.roles_in[k])

    def deixis(self, k: int) -> str | None:
        """``actor`` where *I*, *you* or *we* does or is something, else ``other``; ``None`` in thanks."""
        reading, role, up = self._of, self._of.roles[k], self._of.nodes[k].up
        if not reading.is_a(k, "speaking") or reading.is_a(up, "thanking"):
            return None
        acts = role.startswith("ARG") or role == "domain"
        return "actor" if acts and not reading.is_a(up, "relating") else "other"

    def said_in(self, k: int) -> list[int] | None:
        """Return the tops of the sentences that say this *I*, *you* or *we*, its own first.

        "I'm leaving. I'm packing." has one node for both *I*: the second sentence only mentions it.
        """
        if self.deixis(k) is None:
            return None
        tops = self._of.sentences
        mentioned = sorted({tops[one.up] for one in self._of.graph.mentions if one.target == k})
        return list(dict.fromkeys([tops[k], *mentioned]))

    def swap(self, k: int) -> tuple[str, str] | None:
        """What a name or number is of, and its words: of a name with a ``:wiki``, at what has both.

        A name that says nothing (a title, punctuation) is none.
        """
        node, reading = self._of.nodes[k], self._of
        if node.value is not None:
            return self._number(k)
        if node.role == "name" and node.concept == "name" and node.up is not None:
            return self._name(k, f"name {reading.labels[node.up]}") if not self._wiki(node.up) else None
        others = [child for child in reading.children[k] if child.role != "wiki"]
        if len(others) == 1 and others[0].role == others[0].concept == "name" and self._wiki(k):
            return self._name(others[0].k, f"entity {reading.labels[k]}")
        return None

    def _wiki(self, k: int) -> bool:
        return any(c.role == "wiki" and c.label != "-" for c in self._of.children[k])

    def _name(self, k: int, of: str) -> tuple[str, str] | None:
        reading = self._of
        words = " ".join(reading.nodes[at].value or "" for at in reading.inside(k))
        if not words or _SILENT.fullmatch(words) or "title" in reading.lexicon.of(words.strip('"')):
            return None
        return of, words

    def _number(self, k: int) -> tuple[str, str] | None:
        reading, (_, _, _, _, value, up, role, *_) = self._of, self._of.nodes[k]
        if up is None or role not in ("quant", "value") or not re.fullmatch("[0-9]+", value or ""):
            return None
        if self._wiki(up):
            return None
        unit = above = reading.labels[up]
        if role == "quant":
            units = (child.concept for child in reading.children[up] if child.role == "unit")
            unit = (next(units, None) or above) if above.endswith("-quantity") else "count"
        return f"{role} {unit}", value or ""

"""Compare the clauses of a dialogue: which repeat, contradict or answer an earlier clause.

A clause is compared by its proposition: the predicate below modals and opinions, with the entities and words
of its arguments and circumstances. If one argument cannot be compared, such as an unresolved *it*, the clause
is not compared at all.

- A clause repeats an earlier one if it has the same predicate, arguments and polarity.
- It contradicts an earlier one if it has the same arguments and either the opposite polarity or an opposite
  predicate. "I don't like tea" contradicts "I like tea", but not "I like tea in the evening".
- It answers a question of another speaker if it gives what the question asks for.

Example: A says "I work at a bank." B asks "Do you like the bank?" A says "No, I don't like the bank." The
last clause answers the question. If A had said "I don't work at a bank", it would contradict the first one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphneg.amr.reading import AmrView
from graphneg.discourse.entities import References
from graphneg.discourse.reading import ClauseReading, Reading
from graphneg.discourse.words import opposites, words
from graphneg.english.lexicon import Lexicon
from graphneg.english.noun_kinds import lexeme

Keys = frozenset[str]
"""Texts by which an argument is compared: the id of its entity, and the words of its phrase."""
Roles = Mapping[str, tuple[Keys, ...]]
"""The keys of the arguments in each role."""

_DEEPEST = 12
"""Maximum depth of a phrase below the predicate. A clause with a deeper phrase is not compared."""
_ANY = frozenset({"mod any", "quant any", "polarity -"})
"""Modifiers of a noun that do not limit a denial: "I don't have any sister"."""
_DEGREE = "have-degree-91"
_PLACE = "be-located-at-91"


@dataclass(frozen=True, slots=True)
class Proposition:
    """The content of a clause, in a form that can be compared with other clauses.

    Attributes:
        predicate: The lexeme of the clause's main predicate.
        arguments: For each role such as ``ARG0``, the keys of the arguments (see `Keys`). Two arguments are
            equal if they have a key in common.
        circumstances: For each other role (when, where, how, with what), the keys of the nodes in this role.
        kinds: The kinds of the nouns that the predicate describes. They decide which words are its opposites.
    """

    predicate: str
    arguments: Roles
    circumstances: Roles
    kinds: frozenset[str] = frozenset()


def proposition(clause: ClauseReading, reading: Reading, references: References) -> Proposition | None:
    """Return the content of a clause as a `Proposition`, which can be compared with other propositions.

    Args:
        clause: The clause.
        reading: The clauses and mentions of its graph.
        references: The entities of the nodes of the graph.

    Returns:
        The proposition; None if a part of the clause cannot be compared with other clauses.
    """
    return _Propositions(reading, references).of(clause.core)


class _Propositions:
    """Converts the clauses of one graph into propositions, which can be compared between graphs."""

    def __init__(self, reading: Reading, references: References) -> None:
        self._view, self._references = reading.view, references
        self._mentions = {mention.position: mention for mention in reading.mentions}

    def of(self, core: int) -> Proposition | None:
        view, mention = self._view, self._mentions.get(core)
        # The graph of "I've been to Florida" may be (state :name "Florida" :domain i), without a predicate.
        # Use be-located-at-91 as the predicate, with the place as its ARG2.
        if mention is not None and mention.kind == "name" and mention.noun_kind == "place":
            found = self._of_predicate(core, lexeme(_PLACE), frozenset({"name", "wiki"}))
            if found is None or core not in self._references:
                return None
            place = {"ARG2": (frozenset({f"@{self._references[core]}"}),)}
            return Proposition(found.predicate, {**found.arguments, **place}, found.circumstances)
        if view.labels[core] != _DEGREE:
            return self._of_predicate(core, lexeme(view.labels[core]), frozenset())
        # "It is bigger" is (have-degree-91 :ARG1 it :ARG2 big :ARG3 more): the predicate is the adjective.
        adjective = next((at for role, at in _roles(view, core) if role == "ARG2"), None)
        if adjective is None:
            return None
        return self._of_predicate(core, f"{lexeme(view.labels[adjective])} (degree)", frozenset({"ARG2"}))

    def _of_predicate(self, core: int, predicate: str, without: frozenset[str]) -> Proposition | None:
        view = self._view
        arguments: dict[str, tuple[Keys, ...]] = {}
        circumstances: dict[str, tuple[Keys, ...]] = {}
        kinds: set[str] = set()
        for role, at in _roles(view, core):
            if _is_silent(view, role, at) or role in without:
                continue
            keys = self._keys(at)
            if not keys:
                return None
            # The subject of "She is tall" may be :ARG1 or :domain. Treat both as :ARG1.
            role = "ARG1" if role == "domain" else role
            kept = arguments if role in words("core-roles") else circumstances
            kept[role] = (*kept.get(role, ()), keys)
            if role == "ARG1":
                kinds.add("person" if view.is_a(at, "speaking", "man", "woman") else view.kinds[at])
        return Proposition(predicate, arguments, circumstances, frozenset(kinds))

    def _keys(self, k: int) -> Keys:
        """Return the keys by which an argument is compared with the arguments of other clauses.

        Returns:
            The id of the entity (``@3``), the words of the phrase, or both; an empty set if the phrase cannot
            be compared.
        """
        entity, mention = self._references.get(k), self._mentions.get(k)
        if entity is None:
            phrase = self._phrase(k, 0)
            return frozenset() if phrase is None else frozenset({phrase})
        # Two mentions of "the car" may refer to different cars, so compare only the entities. Two mentions of
        # "a car" or "coffee" have the same meaning, so compare the words as well.
        if mention is None or mention.kind != "noun" or mention.definiteness == "definite":
            return frozenset({f"@{entity}"})
        phrase = self._phrase(k, 0)
        return frozenset({f"@{entity}"} if phrase is None else {f"@{entity}", phrase})

    def _phrase(self, k: int, depth: int) -> str | None:
        """Return the words of an argument as text; None if a word such as *it* may refer to anything."""
        view, label, mention = self._view, self._view.labels[k], self._mentions.get(k)
        if k in self._references and mention is not None and mention.kind != "noun":
            return f"@{self._references[k]}"
        if view.nodes[k].concept is None:
            return label
        # Do not compare *it*, *that*, *there* and question words, because they may refer to anything.
        if view.is_a(k, "anaphor", "pointer", "speaking") or label in words("unknown") or depth > _DEEPEST:
            return None
        inside: list[str] = []
        for role, at in _roles(view, k):
            # If a reentrancy leads to a node outside of the phrase, use only the lexeme of that node.
            key = (
                self._phrase(at, depth + 1)
                if at in view.descendants(k) or at in self._references
                else lexeme(view.labels[at])
            )
            if key is None:
                return None
            if not _is_silent(view, role, at) or role == "polarity":
                inside.append(f"{role} {key}")
        word = lexeme(label)
        return f"({word} {' '.join(sorted(inside))})" if inside else word


def _roles(view: AmrView, k: int) -> Iterator[tuple[str, int]]:
    """Yield the roles of a node and the nodes in these roles, including reentrancies."""
    for child in view.children[k]:
        yield child.role or "", child.position
    for mention in view.graph.mentions:
        if mention.parent == k:
            yield mention.role, mention.target


def _is_silent(view: AmrView, role: str, at: int) -> bool:
    """Return whether a node is only a marker, such as a negation or "just", and not part of the content."""
    if role in words("marking-roles"):
        return True
    # "never" only reverses the polarity of the clause, and "well" or "maybe" comments on the whole sentence.
    # As an argument such as ARG1, however, such a word is part of what the clause says.
    is_marker = view.labels[at] in words("markers") or view.is_a(at, "negative")
    return is_marker and role not in words("core-roles")


def repeats(
    later: ClauseReading,
    later_proposition: Proposition,
    earlier: ClauseReading,
    earlier_proposition: Proposition,
) -> bool:
    """Return whether a clause repeats an earlier clause.

    Args:
        later: The later clause.
        later_proposition: The proposition of the later clause.
        earlier: The earlier clause.
        earlier_proposition: The proposition of the earlier clause.

    Returns:
        True if the later clause repeats the earlier clause. A statement can only repeat a statement, a
        question only a question, and a request only a request.
    """
    if later.type != earlier.type or later.type not in ("statement", "question", "request"):
        return False
    if later_proposition.predicate != earlier_proposition.predicate or later.negative != earlier.negative:
        return False
    if later.modality != earlier.modality or later.asked != earlier.asked:
        return False
    # "I'll go home" does not repeat "I went home", because it is about the future and not about the past.
    if {later.tense, earlier.tense} >= {"past", "future"} or _is_empty(later_proposition):
        return False
    # "I work at a bank" does not repeat "I work", because it adds the circumstance "at a bank".
    return _are_equal(later_proposition.arguments, earlier_proposition.arguments) and _is_contained(
        later_proposition.circumstances, earlier_proposition.circumstances
    )


def contradicts(
    later: ClauseReading,
    later_proposition: Proposition,
    earlier: ClauseReading,
    earlier_proposition: Proposition,
    lexicon: Lexicon,
) -> bool:
    """Return whether a clause contradicts an earlier one.

    Args:
        later: The later clause.
        later_proposition: The proposition of the later clause: its predicate and arguments.
        earlier: The earlier clause.
        earlier_proposition: The proposition of the earlier clause.
        lexicon: The lexicon, which lists for which kinds of things two words are opposites.

    Returns:
        True if the clauses cannot both be true: they differ only in polarity, or have opposite predicates.
    """
    # Only statements can contradict each other, not questions or orders.
    if not (_is_claim(later) and _is_claim(earlier)) or later.modality != earlier.modality:
        return False
    # "I was ill" does not contradict "I am not ill", because the two clauses are about different times.
    if (
        later.tense != earlier.tense
        or _is_empty(later_proposition)
        or not _are_equal(later_proposition.arguments, earlier_proposition.arguments)
    ):
        return False
    if later_proposition.predicate == earlier_proposition.predicate:
        if later.negative == earlier.negative:
            return False
        # A denial contradicts a claim only if all of its circumstances also belong to the claim: "I don't eat
        # meat on Fridays" does not contradict "I eat meat".
        denied, claimed = (
            (later_proposition, earlier_proposition)
            if later.negative
            else (earlier_proposition, later_proposition)
        )
        return _is_contained(denied.circumstances, claimed.circumstances)
    if (
        later.negative
        or earlier.negative
        or not _are_equal(later_proposition.circumstances, earlier_proposition.circumstances)
    ):
        return False
    return _are_opposite(later_proposition, earlier_proposition, lexicon)


def denied_possession(
    clause: ClauseReading, reading: Reading, references: References
) -> tuple[str, str] | None:
    """Return the thing that somebody does not have, according to a clause such as "I don't have a car".

    This clause contradicts each clause that speaks of "my car".

    Args:
        clause: The clause.
        reading: The clauses and mentions of its graph.
        references: The entities of the nodes of the graph.

    Returns:
        The id of the owner's entity and the lexeme of the thing. None if the clause denies no possession.
    """
    view = reading.view
    if not (
        _is_claim(clause) and clause.negative and clause.modality == "none" and clause.tense == "present"
    ):
        return None
    if view.labels[clause.core] not in words("having"):
        return None
    said = [(role, at) for role, at in _roles(view, clause.core) if not _is_silent(view, role, at)]
    # "I don't have a car today" does not deny that the speaker owns a car, so it is skipped.
    if sorted(role for role, _ in said) != ["ARG0", "ARG1"]:
        return None
    of = dict(said)
    owner = references.get(of["ARG0"])
    thing = next((one for one in reading.mentions if one.position == of["ARG1"] and one.kind == "noun"), None)
    # "I don't have the red car" and "I don't have two cars" do not deny that the speaker has a car, so they
    # are skipped.
    if owner is None or thing is None or thing.definiteness == "definite" or thing.modifiers - _ANY:
        return None
    return owner, thing.head


def possessions(reading: Reading, references: References) -> Iterator[tuple[tuple[str, str], ClauseReading]]:
    """Yield the things that somebody has according to a turn: "I sit in my car" implies that I have a car.

    Args:
        reading: The clauses and mentions of a graph.
        references: The entities of the nodes of the graph.

    Yields:
        The id of the owner's entity and the lexeme of the thing, with the clause that mentions it.
    """
    view = reading.view
    for mention in reading.mentions:
        owner = None if mention.owner is None else references.get(mention.owner)
        if mention.kind != "noun" or owner is None:
            continue
        around = [one for one in reading.clauses if mention.position in view.subtree(one.head)]
        # Skip clauses after which the speaker has no car any more ("I sold my car"), and clauses that claim
        # nothing ("Imagine that I sold my car").
        ends = any(view.labels[at] in words("ending") for one in around[-1:] for at in view.subtree(one.head))
        if around and not ends and not around[-1].reported:
            yield (owner, mention.head), around[-1]


def _is_claim(clause: ClauseReading) -> bool:
    return clause.type == "statement" and not clause.hedged and not clause.reported


def _is_empty(said: Proposition) -> bool:
    """Return whether a proposition says too little to be repeated: "I see", "You're right"."""
    return not said.arguments or said.predicate in words("empty-predicates")


def _are_equal(one: Roles, other: Roles) -> bool:
    return one.keys() == other.keys() and _is_contained(one, other) and _is_contained(other, one)


def _is_contained(one: Roles, other: Roles) -> bool:
    """Return whether each argument of ``one`` is also an argument of ``other`` in the same role."""
    return all(
        any(not keys.isdisjoint(others) for others in other.get(role, ()))
        for role, arguments in one.items()
        for keys in arguments
    )


def _are_opposite(said: Proposition, before: Proposition, lexicon: Lexicon) -> bool:
    one, other = said.predicate, before.predicate
    if other in opposites().get(one, ()):
        return True
    kinds = lexicon.modified_kinds(one, other)
    # *old* and *young* are opposites only for living things, so the clause must describe a living thing.
    return bool(kinds) and not said.kinds.isdisjoint(kinds or ())


def opposites_of(predicate: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the words that may be opposites of a predicate.

    Args:
        predicate: The lexeme of a predicate.
        lexicon: The lexicon.

    Returns:
        The words that the tables list. Some are opposites only for some things: "old" is the opposite of
        "young" for people, and of "new" for objects.
    """
    return opposites().get(predicate, frozenset()) | _listed_opposites(lexicon).get(predicate, frozenset())


_LISTED: dict[int, tuple[Lexicon, Mapping[str, frozenset[str]]]] = {}


def _listed_opposites(lexicon: Lexicon) -> Mapping[str, frozenset[str]]:
    """Return the opposites that a lexicon lists for each word."""
    known = _LISTED.get(id(lexicon))
    if known is None or known[0] is not lexicon:
        found: dict[str, set[str]] = {}
        for (one, other), kinds in lexicon.opposites.items():
            if kinds:
                found.setdefault(one, set()).add(other)
                found.setdefault(other, set()).add(one)
        _LISTED.clear()
        known = _LISTED[id(lexicon)] = lexicon, {word: frozenset(others) for word, others in found.items()}
    return known[1]


# Answers


def answer_to(question: ClauseReading, clauses: Sequence[ClauseReading], view: AmrView) -> int | None:
    """Find the clause of a turn that answers a question of the previous turn.

    Args:
        question: The question.
        clauses: The clauses of the answering turn.
        view: The graph of the answering turn.

    Returns:
        The index of the clause; None if no clause answers the question.
    """
    for at, clause in enumerate(clauses):
        # If the speaker first asks back or refuses, the question counts as unanswered: "What do you mean?"
        if clause.type in ("question", "request") or _refuses(clause, view):
            return None
        # "Yes.", "Of course.", "I'm afraid not." answer only yes/no questions.
        if _says_yes_or_no(clause, view):
            if "polarity" in question.asked:
                return at
        # Skip greetings, thanks and exclamations such as "Oh!", because they do not answer the question.
        elif clause.type != "exclamation" and not _is_courtesy(clause, view):
            return at
    return None


def _refuses(clause: ClauseReading, view: AmrView) -> bool:
    """Return whether a clause refuses an answer: "I don't know", "I have no idea"."""
    return clause.negative and any(view.labels[at] in words("unknowing") for at in {clause.head, clause.core})


def _says_yes_or_no(clause: ClauseReading, view: AmrView) -> bool:
    """Return whether the predicate of a clause answers a yes/no question: "Yes", "You're right"."""
    return view.labels[clause.core] in words("affirming") | words("denying")


def _is_courtesy(clause: ClauseReading, view: AmrView) -> bool:
    """Return whether a clause is polite or an interjection: "I'm sorry", "Well"."""
    is_short = clause.type == "fragment" and view.labels[clause.head] in words("markers")
    return is_short or _acknowledges(clause, view) or view.is_a(clause.head, "courtesy", "formula")


def _acknowledges(clause: ClauseReading, view: AmrView) -> bool:
    """Return whether a clause acknowledges what was said: "I see", "I understand your position"."""
    subject = next((at for role, at in view.roles_out[clause.core] if role == "ARG0"), None)
    return view.labels[clause.core] in words("acknowledgements") and (
        subject is None or view.labels[subject] == "i"
    )

"""Find what is repeated in a dialogue: nodes that say the same as an earlier turn.

A negative that contradicts or swaps something is harder if the dialogue mentions it elsewhere. Here the
statements of the nodes of all turns (`Saying`) are compared. A predicate repeats an earlier one if both have
the same polarity, if their arguments are equal after *I* and *you* were resolved, and if the later one adds
no argument. A noun, name, number or time repeats an equal one.

Example: A says "I work at a bank." Later B says "You work?". The node ``work-01`` of B's turn repeats that of
A's turn, so its echo is ``other``. "You work in a shop." repeats nothing, because the argument differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphneg.amr.reading import Reading
from graphneg.english.noun_kinds import lexeme

OWN, OTHER, ASKED, TURN = "own", "other", "asked", "turn"
"""Who said the same before.

The speaker, another speaker, another speaker in a question, or another sentence of the same turn.
"""

Arguments = Mapping[str, frozenset[str]]
"""The words of each numbered argument, by role."""
Echoes = dict[int, list[str]]
"""Who said the same before (`OWN`, `OTHER`, `ASKED`, `TURN`), by node number."""

_NUMBERED = frozenset({"ARG0", "ARG1", "ARG2", "ARG3", "ARG4"})
# Placeholder for an unknown argument, such as a third-person pronoun. It matches any other argument.
_ANYTHING = "*"


@dataclass(frozen=True, slots=True)
class Saying:
    """What a node says: a word and its arguments.

    Attributes:
        k: The number of the node.
        word: The lexeme of the node, or the words of a name or number.
        sentence: The number of the top of its sentence.
        arguments: The words of its arguments. *i*, *you* and *we* stay as they are; other pronouns are ``*``.
        denied: Whether it is negated.
        asks: Whether it is asked in a question.
    """

    k: int
    word: str
    sentence: int
    arguments: Arguments
    denied: bool = False
    asks: bool = False


def sayings(reading: Reading, known: Sequence[Mapping[str, object]]) -> list[Saying]:
    """Return what the nodes of a graph say.

    Args:
        reading: The graph.
        known: The facts about each node, by node number.

    Returns:
        The sayings in the order of their nodes.
    """
    return [said for node in reading.nodes if (said := _saying(reading, node.k, known[node.k])) is not None]


def _saying(reading: Reading, k: int, known: Mapping[str, object]) -> Saying | None:
    """Return what a node says, or None if it says nothing that can be repeated."""
    node, sentence = reading.nodes[k], reading.sentences[k]
    # Names and numbers are compared by what they name and by their words.
    if "names" in known:
        return Saying(k, f"{known['names']} {known['name']}", sentence, {})
    if node.concept is None or reading.is_a(k, "joining", "closed"):
        return None
    word = lexeme(node.concept)
    if "clause" in known or known.get("asserts", "noun") != "noun":
        arguments = _arguments(reading, k)
        asks = known.get("clause") == "question"
        return Saying(k, word, sentence, arguments, "negated" in known, asks) if arguments else None
    is_said = "noun" in known or "says_when" in known
    return Saying(k, word, sentence, {}) if is_said else None


def _arguments(reading: Reading, k: int) -> Arguments:
    """Return the arguments of a word by numbered role.

    The subject of a noun or adjective and the noun of a modifier count as ``ARG1``.

    Returns:
        The words of each argument.
    """
    found: dict[str, set[str]] = {}
    for role, below in reading.roles_out[k]:
        # "He is tall" and "the tall man" both say *tall* about their ARG1.
        role = "ARG1" if role == "domain" else role
        if role in _NUMBERED and reading.nodes[below].concept is not None:
            found.setdefault(role, set()).add(_word(reading, below))
    for role, above in reading.roles_in[k]:
        if role == "mod":
            found.setdefault("ARG1", set()).add(_word(reading, above))
    return {role: frozenset(words) for role, words in found.items()}


def _word(reading: Reading, k: int) -> str:
    """Return the word of an argument: of a predicate with its own arguments, or the name of an entity."""
    if reading.is_a(k, "speaking"):
        return reading.labels[k]
    if reading.is_a(k, "anaphor") or k in reading.asked:
        return _ANYTHING
    # "I like to swim": the argument is *swim* with its own arguments.
    if reading.is_frame[k]:
        below = (_plain(reading, at) for role, at in reading.roles_out[k] if role in _NUMBERED)
        return " ".join([lexeme(reading.labels[k]), *sorted(below)])
    names = [at for role, at in reading.roles_out[k] if role == "name"]
    inside = (reading.nodes[at].value or "" for name in names for at in reading.inside(name))
    return " ".join(inside) or _plain(reading, k)


def _plain(reading: Reading, k: int) -> str:
    """Return the lexeme of a node, or ``*`` for a pronoun that refers to something else."""
    return _ANYTHING if reading.is_a(k, "anaphor") else lexeme(reading.labels[k])


@dataclass(frozen=True, slots=True)
class SaidTurn:
    """A turn of a dialogue.

    Attributes:
        speaker: The speaker.
        says: What the nodes of the turn's graph say.
    """

    speaker: str
    says: Sequence[Saying]


def echoes(turns: Sequence[SaidTurn]) -> list[Echoes]:
    """Find the nodes that repeat something that was said before in a dialogue.

    Args:
        turns: The turns of the dialogue, in order.

    Returns:
        For each turn, the nodes that repeat something, and who said it before.
    """
    speakers = sorted({turn.speaker for turn in turns})
    said: dict[str, list[tuple[str, Saying]]] = {}
    found: list[Echoes] = []
    for turn in turns:
        resolved = [_resolved(one, turn.speaker, speakers) for one in turn.says]
        found.append(dict(_of_turn(turn.speaker, resolved, said)))
        for one in resolved:
            said.setdefault(one.word, []).append((turn.speaker, one))
    return found


def _of_turn(
    speaker: str, says: Sequence[Saying], said: Mapping[str, Sequence[tuple[str, Saying]]]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the nodes of a turn that repeat something, and who said it before."""
    beside: dict[str, list[Saying]] = {}
    for one in says:
        beside.setdefault(one.word, []).append(one)
    for one in says:
        by = {
            OWN if who == speaker else ASKED if earlier.asks else OTHER
            for who, earlier in said.get(one.word, ())
            if repeats(one, earlier)
        }
        # A word may also repeat another sentence of the same turn.
        same = (other for other in beside[one.word] if other.sentence != one.sentence)
        if one.arguments and any(repeats(one, other) or repeats(other, one) for other in same):
            by.add(TURN)
        if by:
            yield one.k, sorted(by)


def repeats(one: Saying, earlier: Saying) -> bool:
    """Return whether a node says the same as an earlier one and adds no argument.

    Args:
        one: What the later node says.
        earlier: What the earlier node says, with the same word.

    Returns:
        True if it is a repetition. At least one argument must be equal; unknown arguments do not count.
    """
    if not one.arguments:
        return True
    # A question has no polarity: "Do you work?", "Don't you work?"
    if one.denied != earlier.denied and not earlier.asks:
        return False
    shared = 0
    for role, words in one.arguments.items():
        others = earlier.arguments.get(role)
        # The later one has an argument that the earlier one does not have, or another word for it.
        if others is None or not (words & others or _ANYTHING in words or _ANYTHING in others):
            return False
        shared += bool(words & others - {_ANYTHING})
    return shared > 0


def _resolved(one: Saying, speaker: str, speakers: Sequence[str]) -> Saying:
    """Replace *i*, and *you* in a dialogue of two speakers, by the speaker that it refers to."""
    if not one.arguments:
        return one
    others = [other for other in speakers if other != speaker]
    people = {"i": f"@{speaker}", "you": f"@{others[0]}" if len(others) == 1 else _ANYTHING}
    arguments = {
        role: frozenset(" ".join(people.get(part, part) for part in word.split()) for word in words)
        for role, words in one.arguments.items()
    }
    return Saying(one.k, one.word, one.sentence, arguments, one.denied, one.asks)

"""Find the repetitions in a dialogue: nodes with the same meaning as a node of an earlier turn.

A negative that contradicts a claim or swaps a word is harder to recognise if the dialogue mentions the claim
or the word elsewhere. To find such mentions, this module describes each node by a `Statement`: a word, its
arguments and its polarity. A predicate repeats an earlier predicate if both have the same
polarity, if their arguments are equal after *I* and *you* were resolved to speakers, and if the later
predicate adds no argument. A noun, name, number or time repeats an equal expression.

Example: A says "I work at a bank." Later B says "You work?". The node ``work-01`` of B's turn repeats the
``work-01`` of A's turn, and its list of echoes is ``["other"]``, because another speaker said it first. "You
work in a shop." repeats nothing, because the argument *shop* differs from *bank*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphneg.amr.reading import AmrView
from graphneg.english.noun_kinds import lexeme

OWN, OTHER, ASKED, TURN = "own", "other", "asked", "turn"
"""Where the content of a node may have been said before.

`OWN`: in an earlier turn of the same speaker. `ASKED`: in a question of another speaker. `OTHER`: in any
other sentence of another speaker. `TURN`: in another sentence of the same turn.
"""

Arguments = Mapping[str, frozenset[str]]
"""The words of each numbered argument, keyed by role such as ``ARG0``."""
Echoes = dict[int, list[str]]
"""Where the content of a node was stated before (`OWN`, `ASKED`, ...), keyed by node index."""

_NUMBERED = frozenset({"ARG0", "ARG1", "ARG2", "ARG3", "ARG4"})
# Placeholder for an argument whose referent is unknown, such as *he* or *it*. It matches any argument.
_ANYTHING = "*"


@dataclass(frozen=True, slots=True)
class Statement:
    """The part of a node's meaning that is compared with other turns: a word and its arguments.

    Attributes:
        position: The index of the node in its graph.
        word: The lexeme of the node, or the words of a name or number.
        sentence: The index of the top node of the sentence that contains the node.
        arguments: The words of the node's arguments. *i*, *you* and *we* are kept; other pronouns become
            ``*``.
        denied: Whether the node is negated.
        asks: Whether the node is the head of a question.
    """

    position: int
    word: str
    sentence: int
    arguments: Arguments
    denied: bool = False
    asks: bool = False


def statements_of(view: AmrView, known: Sequence[Mapping[str, object]]) -> list[Statement]:
    """Return a `Statement` for each node whose content a later turn can repeat.

    Args:
        view: The graph, indexed for look-ups.
        known: The properties of each node, as `graphneg.amr.facts` computes them, indexed by node index.

    Returns:
        The statements in the order of their nodes. A node such as ``and`` has no statement.
    """
    return [
        said
        for node in view.nodes
        if (said := _statement(view, node.position, known[node.position])) is not None
    ]


def _statement(view: AmrView, k: int, known: Mapping[str, object]) -> Statement | None:
    """Return the word and the arguments of a node as a `Statement`; None for a node such as ``and``."""
    node, sentence = view.nodes[k], view.sentences[k]
    # Names and numbers are compared by their type and their words, for example ``name person "Anna"``.
    if "entity_type" in known:
        return Statement(k, f"{known['entity_type']} {known['entity_text']}", sentence, {})
    if node.concept is None or view.is_a(k, "joining", "closed"):
        return None
    word = lexeme(node.concept)
    if "clause_type" in known or known.get("opposable_as", "noun") != "noun":
        arguments = _arguments(view, k)
        asks = known.get("clause_type") == "question"
        return Statement(k, word, sentence, arguments, "negated" in known, asks) if arguments else None
    is_said = "coarse_kind" in known or "temporal" in known
    return Statement(k, word, sentence, {}) if is_said else None


def _arguments(view: AmrView, k: int) -> Arguments:
    """Return the words of a predicate's arguments.

    The subject of a noun or adjective, and the noun that a modifier belongs to, count as its ``ARG1``.

    Returns:
        The words, keyed by numbered role.
    """
    found: dict[str, set[str]] = {}
    for role, below in view.roles_out[k]:
        # In "He is tall" and "the tall man", what *tall* describes counts as its ARG1.
        role = "ARG1" if role == "domain" else role
        if role in _NUMBERED and view.nodes[below].concept is not None:
            found.setdefault(role, set()).add(_word(view, below))
    for role, above in view.roles_in[k]:
        if role == "mod":
            found.setdefault("ARG1", set()).add(_word(view, above))
    return {role: frozenset(words) for role, words in found.items()}


def _word(view: AmrView, k: int) -> str:
    """Return the words of an argument, to compare them with the words of other arguments."""
    # The pronouns *i*, *you* and *we* are compared as they are. Other pronouns and question words match any
    # word.
    if view.is_a(k, "speaking"):
        return view.labels[k]
    if view.is_a(k, "anaphor") or k in view.question_nodes:
        return _ANYTHING
    # In "I like to swim", the argument of *like* is *swim* together with its own arguments.
    if view.is_frame[k]:
        below = (_plain(view, at) for role, at in view.roles_out[k] if role in _NUMBERED)
        return " ".join([lexeme(view.labels[k]), *sorted(below)])
    names = [at for role, at in view.roles_out[k] if role == "name"]
    inside = (view.nodes[at].value or "" for name in names for at in view.descendants(name))
    return " ".join(inside) or _plain(view, k)


def _plain(view: AmrView, k: int) -> str:
    """Return the words of a concept (*give up* for ``give-up-07``), or ``*`` for a pronoun such as *it*."""
    return _ANYTHING if view.is_a(k, "anaphor") else lexeme(view.labels[k])


def repetitions(turns: Sequence[tuple[str, Sequence[Statement]]]) -> list[Echoes]:
    """Find the nodes that repeat something that was said before in a dialogue.

    Args:
        turns: The turns of the dialogue, in order. Each turn is a pair of the speaker and the statements of
            its graph, as `statements_of` returns them.

    Returns:
        For each turn, a dictionary from the index of each repeating node to a list that says where the
        statement was made before, such as `OWN` (in an earlier turn of the same speaker).
    """
    speakers = sorted({speaker for speaker, _ in turns})
    said: dict[str, list[tuple[str, Statement]]] = {}
    found: list[Echoes] = []
    for speaker, says in turns:
        resolved = [_resolved(one, speaker, speakers) for one in says]
        found.append(dict(_repeating_nodes(speaker, resolved, said)))
        for one in resolved:
            said.setdefault(one.word, []).append((speaker, one))
    return found


def _repeating_nodes(
    speaker: str, says: Sequence[Statement], said: Mapping[str, Sequence[tuple[str, Statement]]]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the index of each node that repeats an earlier statement, with its list of echoes.

    The echoes tell where the earlier statement was made. For example, ``["other"]`` means that another
    speaker made it.
    """
    beside: dict[str, list[Statement]] = {}
    for one in says:
        beside.setdefault(one.word, []).append(one)
    for one in says:
        by = {
            OWN if who == speaker else ASKED if earlier.asks else OTHER
            for who, earlier in said.get(one.word, ())
            if repeats(one, earlier)
        }
        # Also look for repetitions within the turn, in its other sentences: "I like tea. I really like it."
        same = (other for other in beside[one.word] if other.sentence != one.sentence)
        if one.arguments and any(repeats(one, other) or repeats(other, one) for other in same):
            by.add(TURN)
        if by:
            yield one.position, sorted(by)


def repeats(one: Statement, earlier: Statement) -> bool:
    """Return whether a node says nothing new: it repeats the word and the arguments of an earlier node.

    Args:
        one: The statement of the later node.
        earlier: The statement of the earlier node, whose word must be the same.

    Returns:
        True if the later node repeats the earlier node. If it has arguments, at least one must be equal; *it*
        matches any argument, but does not count.
    """
    if not one.arguments:
        return True
    # If the earlier node is in a question, polarity does not matter: "Do you work?" and "Don't you work?" ask
    # for the same information.
    if one.denied != earlier.denied and not earlier.asks:
        return False
    shared = 0
    for role, words in one.arguments.items():
        others = earlier.arguments.get(role)
        # "You work in a shop" does not repeat "I work", because it adds an argument. It does not repeat "I
        # work in a bank" either, because the argument differs.
        if others is None or not (words & others or _ANYTHING in words or _ANYTHING in others):
            return False
        shared += bool(words & others - {_ANYTHING})
    return shared > 0


def _resolved(one: Statement, speaker: str, speakers: Sequence[str]) -> Statement:
    """Replace *i* and *you* with the speakers they refer to. With several listeners, *you* becomes ``*``."""
    if not one.arguments:
        return one
    others = [other for other in speakers if other != speaker]
    people = {"i": f"@{speaker}", "you": f"@{others[0]}" if len(others) == 1 else _ANYTHING}
    arguments = {
        role: frozenset(" ".join(people.get(part, part) for part in word.split()) for word in words)
        for role, words in one.arguments.items()
    }
    return Statement(one.position, one.word, one.sentence, arguments, one.denied, one.asks)

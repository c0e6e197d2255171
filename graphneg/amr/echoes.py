"""What a dialogue says again: nodes whose words were said before, of the same things.

``facts`` finds what each graph says; here the turns of one dialogue are laid side by side. Of *I work at a
bank*, said by A, *you work* is an echo when B says it later: the same predicate, denied or not, of the same
one, with nothing that the earlier turn did not say. So is a noun, a name, a number or a time that an earlier
turn has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphneg.amr.reading import Reading
from graphneg.english.noun_kinds import lexeme

OWN, OTHER, ASKED, TURN = "own", "other", "asked", "turn"
"""Who said it: the speaker, another speaker, another speaker who asks it, another sentence of the turn."""

Arguments = Mapping[str, frozenset[str]]
Echoes = dict[int, list[str]]
"""By node, who said the same before."""

_NUMBERED = frozenset({"ARG0", "ARG1", "ARG2", "ARG3", "ARG4"})
_ANYTHING = "*"


@dataclass(frozen=True, slots=True)
class Saying:
    """What a node says: a word, of which arguments; ``sentence`` is the top of its sentence.

    Words of others are lexemes; *i*, *you* and *we* stay as they are, other pronouns are ``*``.
    """

    k: int
    word: str
    sentence: int
    arguments: Arguments
    denied: bool = False
    asks: bool = False


def sayings(reading: Reading, known: Sequence[Mapping[str, object]]) -> list[Saying]:
    """What the nodes of a graph say, by the facts that are ``known`` of each."""
    return [said for node in reading.nodes if (said := _saying(reading, node.k, known[node.k])) is not None]


def _saying(reading: Reading, k: int, known: Mapping[str, object]) -> Saying | None:
    node, sentence = reading.nodes[k], reading.sentences[k]
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
    """What the word at ``k`` is said of, by numbered role: the subject of a noun or an adjective and what a
    modifier stands with are its ``ARG1``."""
    found: dict[str, set[str]] = {}
    for role, below in reading.roles_out[k]:
        role = "ARG1" if role == "domain" else role
        if role in _NUMBERED and reading.nodes[below].concept is not None:
            found.setdefault(role, set()).add(_word(reading, below))
    for role, above in reading.roles_in[k]:
        if role == "mod":
            found.setdefault("ARG1", set()).add(_word(reading, above))
    return {role: frozenset(words) for role, words in found.items()}


def _word(reading: Reading, k: int) -> str:
    """The word of an argument: of a deed, with who does what; of somebody with a name, that."""
    if reading.is_a(k, "speaking"):
        return reading.labels[k]
    if reading.is_a(k, "anaphor") or k in reading.asked:
        return _ANYTHING
    if reading.is_frame[k]:
        below = (_plain(reading, at) for role, at in reading.roles_out[k] if role in _NUMBERED)
        return " ".join([lexeme(reading.labels[k]), *sorted(below)])
    names = [at for role, at in reading.roles_out[k] if role == "name"]
    inside = (reading.nodes[at].value or "" for name in names for at in reading.inside(name))
    return " ".join(inside) or _plain(reading, k)


def _plain(reading: Reading, k: int) -> str:
    return _ANYTHING if reading.is_a(k, "anaphor") else lexeme(reading.labels[k])


@dataclass(frozen=True, slots=True)
class SaidTurn:
    """A turn of a dialogue: who says it, and what its graph says."""

    speaker: str
    says: Sequence[Saying]


def echoes(turns: Sequence[SaidTurn]) -> list[Echoes]:
    """By turn, the nodes that say what was said before in the dialogue, and who did."""
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
    beside: dict[str, list[Saying]] = {}
    for one in says:
        beside.setdefault(one.word, []).append(one)
    for one in says:
        by = {
            OWN if who == speaker else ASKED if earlier.asks else OTHER
            for who, earlier in said.get(one.word, ())
            if repeats(one, earlier)
        }
        same = (other for other in beside[one.word] if other.sentence != one.sentence)
        if one.arguments and any(repeats(one, other) or repeats(other, one) for other in same):
            by.add(TURN)
        if by:
            yield one.k, sorted(by)


def repeats(one: Saying, earlier: Saying) -> bool:
    """Whether ``one`` says of its arguments what was said ``earlier``, and no more than that."""
    if not one.arguments:
        return True
    if one.denied != earlier.denied and not earlier.asks:
        return False
    shared = 0
    for role, words in one.arguments.items():
        others = earlier.arguments.get(role)
        if others is None or not (words & others or _ANYTHING in words or _ANYTHING in others):
            return False
        shared += bool(words & others - {_ANYTHING})
    return shared > 0


def _resolved(one: Saying, speaker: str, speakers: Sequence[str]) -> Saying:
    """The saying with who *i* and, of two speakers, *you* is."""
    if not one.arguments:
        return one
    others = [other for other in speakers if other != speaker]
    people = {"i": f"@{speaker}", "you": f"@{others[0]}" if len(others) == 1 else _ANYTHING}
    arguments = {
        role: frozenset(" ".join(people.get(part, part) for part in word.split()) for word in words)
        for role, words in one.arguments.items()
    }
    return Saying(one.k, one.word, one.sentence, arguments, one.denied, one.asks)

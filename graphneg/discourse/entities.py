"""Find which mentions of a dialogue refer to the same person or thing.

*I*, *you* and *we* refer to the speakers of the dialogue. Equal names refer to the same person or thing. Two
nouns with the same head refer to the same thing, unless their modifiers or owners differ ("my car", "your
car"). A third-person pronoun is resolved only if exactly one antecedent fits. A wrong link does more harm
than a missing one, so an uncertain mention is not linked.

Example: A says "I bought a red car." B answers "Is the car fast?" A says "Yes, I love it." Both *I* refer to
the entity of A. "A red car", "the car" and "it" refer to one other entity. If B had said "My car is red,
too", there would be two cars, because the second one has another owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graphneg.amr.reading import AmrView
from graphneg.discourse.reading import Mention, Reading
from graphneg.discourse.words import values, words
from graphneg.english.noun_kinds import OTHER
from graphneg.english.selectional_preferences import noun_cluster, preferred_nouns

SPEAKER, SPEAKERS = "speaker", "speakers"
"""Values of `Entity.kind` for one speaker (*I*, *you*), and for a speaker together with others (*we*)."""
WINDOW = 1
"""Number of turns before the current one in which *it* and *they* may have their antecedent."""
References = Mapping[int, str]
"""Entity ids, keyed by the index of the node that refers to the entity. Other nodes are left out."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A person or a thing that a dialogue mentions.

    Attributes:
        id: The id of the dialogue or response, followed by ``#e`` or ``/e`` and a number.
        kind: ``speaker`` for one of the speakers, ``speakers`` for a speaker together with others ("we"),
            else the kind of the noun, such as ``person`` or ``food``.
        name: The name, the head of the noun, or the name of the speaker.
        gender: ``male``, ``female``, or None if it is not known.
        number: ``singular``, ``plural``, or None if it is not known.
    """

    id: str
    kind: str
    name: str
    gender: str | None
    number: str | None


@dataclass(slots=True)
class _KnownEntity:
    """The information about an entity that was collected from the turns so far."""

    number_of: int
    kind: str
    name: str
    gender: str = ""
    number: str = ""
    names: set[str] = field(default_factory=set[str])
    modifiers: frozenset[str] = frozenset()
    owner: int | None = None
    is_bare: bool = False
    is_definite: bool = False
    is_argument: bool = False
    last_turn: int = -1
    mentions: int = 0
    current_nodes: list[int] = field(default_factory=list[int])
    """Indices of the nodes that refer to the entity in the graph of the current turn."""

    def copy(self) -> _KnownEntity:
        return replace(self, names=set(self.names), current_nodes=list(self.current_nodes))


class Resolver:
    """Finds the entities to which pronouns, names and nouns of a dialogue refer, turn by turn.

    Args:
        dialogue: The id of the dialogue.
        speakers: The names of all speakers in the dialogue.
    """

    def __init__(self, dialogue: str, speakers: Sequence[str]) -> None:
        self._prefix = self._shared_prefix = f"{dialogue}#e"
        self._speakers = tuple(sorted(set(speakers)))
        self._referents: list[_KnownEntity] = []
        self._of_speaker: dict[tuple[str, str], _KnownEntity] = {}
        self._by_head: dict[str, list[_KnownEntity]] = {}
        self._first = 0

    def branch(self, response: str) -> Resolver:
        """Return a copy of this resolver, for the mentions of a response.

        Args:
            response: The id of the response. It is the first part of the ids of entities that only the
                response mentions.

        Returns:
            The copy. Mentions in the response do not change this resolver.
        """
        branch = Resolver("", self._speakers)
        branch._prefix, branch._shared_prefix = f"{response}/e", self._prefix
        branch._first = len(self._referents)
        branch._referents = copies = [one.copy() for one in self._referents]
        branch._of_speaker = {key: copies[one.number_of] for key, one in self._of_speaker.items()}
        branch._by_head = {
            head: [copies[one.number_of] for one in known] for head, known in self._by_head.items()
        }
        return branch

    def resolve(self, reading: Reading, speaker: str, turn: int) -> References:
        """Resolve the mentions of a turn.

        Args:
            reading: The clauses and mentions of the turn.
            speaker: The name of its speaker.
            turn: The number of the turn.

        Returns:
            Entity ids, keyed by the node index of the mention. Mentions that cannot be resolved are left out.
        """
        for referent in self._referents:
            referent.current_nodes.clear()
        found: dict[int, _KnownEntity] = {}
        # To resolve "my car", the entity of "my" must be known. So resolve *I*, *you* and *we* first.
        for mention in reading.mentions:
            if mention.kind in ("speaker", "addressee", "we"):
                referent = self._speaker(mention, speaker)
                if referent is not None:
                    self._add(found, mention, referent, turn)
        for mention in reading.mentions:
            if mention.position not in found:
                referent = self._third_person(mention, reading.view, speaker, turn, found)
                if referent is not None:
                    self._add(found, mention, referent, turn)
        return {k: self.id_of(referent) for k, referent in found.items()}

    def id_of(self, referent: _KnownEntity) -> str:
        """Return the id of an entity."""
        at = referent.number_of
        return f"{self._shared_prefix}{at}" if at < self._first else f"{self._prefix}{at - self._first}"

    def entities(self) -> Iterator[Entity]:
        """Yield all entities. A copy made by `branch` yields only entities that were found after copying."""
        for one in self._referents[self._first :]:
            yield Entity(self.id_of(one), one.kind, one.name, one.gender or None, one.number or None)

    def _add(
        self, found: dict[int, _KnownEntity], mention: Mention, referent: _KnownEntity, turn: int
    ) -> None:
        found[mention.position] = referent
        referent.current_nodes.append(mention.position)
        referent.last_turn = turn
        referent.mentions += 1
        referent.is_argument = referent.is_argument or mention.is_argument
        referent.is_definite = referent.is_definite or mention.definiteness == "definite"
        referent.gender = referent.gender or mention.gender
        referent.number = referent.number or mention.number

    def _new(self, kind: str, name: str, mention: Mention | None = None) -> _KnownEntity:
        referent = _KnownEntity(len(self._referents), kind, name)
        self._referents.append(referent)
        if mention is not None:
            referent.modifiers = mention.modifiers
            referent.is_bare = mention.definiteness == "bare"
            self._by_head.setdefault(mention.head, []).append(referent)
        return referent

    # Speakers

    def _speaker(self, mention: Mention, speaker: str) -> _KnownEntity | None:
        if mention.kind == "we":
            return self._known_speaker(SPEAKERS, speaker)
        name = speaker if mention.kind == "speaker" else self._addressee(speaker)
        return None if name is None else self._known_speaker(SPEAKER, name)

    def _addressee(self, speaker: str) -> str | None:
        """Return the name of the other speaker. Return None if there are several others, or nobody else."""
        others = [name for name in self._speakers if name != speaker]
        return others[0] if len(others) == 1 else None

    def _known_speaker(self, kind: str, name: str) -> _KnownEntity:
        if (kind, name) not in self._of_speaker:
            referent = self._of_speaker[kind, name] = self._new(kind, name)
            referent.number = "singular" if kind == SPEAKER else "plural"
        return self._of_speaker[kind, name]

    def _third_person(
        self, mention: Mention, view: AmrView, speaker: str, turn: int, found: dict[int, _KnownEntity]
    ) -> _KnownEntity | None:
        if mention.kind == "pronoun":
            return self._pronoun(mention, view, turn)
        if mention.kind == "name":
            return self._name(mention, speaker, found)
        return self._noun(mention, found)

    def _name(self, mention: Mention, speaker: str, found: dict[int, _KnownEntity]) -> _KnownEntity | None:
        bearer: _KnownEntity | None = None
        # In "I'm Mary" and "My name is Mary", the name belongs to the person of the pronoun.
        if mention.named_pronoun is not None:
            bearer = found.get(mention.named_pronoun)
        # In "Hi, Mary.", the name belongs to the other speaker.
        elif mention.is_address:
            addressee = self._addressee(speaker)
            bearer = None if addressee is None else self._known_speaker(SPEAKER, addressee)
        if bearer is not None and bearer.kind == SPEAKER:
            known = self._entities_with_name(mention)
            # In "Bring your girlfriend, Tina.", "Tina" looks like an address but names the girlfriend. So
            # ignore the name if this speaker already has another name, or if another entity has this name.
            if (bearer.names and bearer not in known) or any(one is not bearer for one in known):
                return None
            bearer.names.add(mention.head)
            return bearer
        known = self._entities_with_name(mention)
        if len(known) > 1:
            return None
        if known:
            known[0].names.add(mention.head)
            return known[0]
        referent = self._new(mention.noun_kind, mention.name)
        referent.names.add(mention.head)
        return referent

    def _entities_with_name(self, mention: Mention) -> list[_KnownEntity]:
        fitting = [
            one
            for one in self._referents
            if one.names and mention.gender in ("", one.gender or mention.gender)
        ]
        same = [one for one in fitting if mention.head in one.names]
        if same:
            return same
        # A person can have a longer and a shorter name: "Michael Kurt" and "Mr. Kurt". This is not true of
        # other names: "China" does not refer to "China Import".
        people = [one for one in fitting if one.kind in ("person", SPEAKER) and mention.noun_kind == "person"]
        return [one for one in people if any(_is_part(mention.head, name) for name in one.names)]

    def _noun(self, mention: Mention, found: dict[int, _KnownEntity]) -> _KnownEntity | None:
        owner = None
        if mention.owner is not None:
            of = found.get(mention.owner)
            owner = None if of is None else of.number_of
        known = self._by_head.get(mention.head, [])
        # "a car" introduces a new car, so it does not refer to an earlier one.
        if mention.definiteness != "indefinite":
            fitting = [one for one in known if self._fits(mention, owner, one)]
            # If it is not known who the owner is ("his car"), treat the noun as a new entity.
            is_known = mention.owner is None or owner is not None
            if len(fitting) == 1 and is_known:
                referent = fitting[0]
                referent.modifiers |= mention.modifiers
                return referent
        referent = self._new(mention.noun_kind, mention.name, mention)
        # If it is unknown who owns the thing ("his car"), store -1. No entity has this number, so later
        # mentions with a known owner do not refer to the thing.
        referent.owner = owner if mention.owner is None or owner is not None else -1
        return referent

    def _fits(self, mention: Mention, owner: int | None, one: _KnownEntity) -> bool:
        """Return whether a noun may refer to an entity that was mentioned with the same noun before."""
        if mention.number and one.number and mention.number != one.number:
            return False
        # "My car" cannot refer to the car of somebody else, or to a car without an owner.
        if owner is not None and one.owner != owner:
            return False
        # "the red car" can only refer to a car that was called red, not to a blue car or to a car whose
        # colour nobody has mentioned.
        if not mention.modifiers <= one.modifiers:
            return False
        # In "I like coffee. – Do you want coffee?", both turns are about coffee in general. A noun without a
        # determiner refers only to an entity that was also mentioned without one.
        if mention.definiteness == "bare":
            return one.is_bare and mention.modifiers == one.modifiers and bool(mention.number)
        return True

    def _pronoun(self, mention: Mention, view: AmrView, turn: int) -> _KnownEntity | None:
        kind = values("pronouns")[mention.head]
        if kind in ("male", "female"):
            fitting = [one for one in self._referents if self._is_person(one, kind)]
        else:
            test = self._is_thing if kind == "thing" else self._is_several
            fitting = [one for one in self._referents if turn - one.last_turn <= WINDOW and test(one)]
        fitting = [one for one in fitting if not self._shares_predicate(mention, one, view)]
        if len(fitting) > 1:
            return None
        # *it* and *they* refer only to definite nouns. In "I made three attempts. They can help me", the noun
        # "three attempts" is indefinite, so "they" is not linked to it.
        if fitting and kind in ("thing", "several") and not fitting[0].is_definite:
            return None
        # In "They are a large company", "they" need not be something that was mentioned before. So do not
        # resolve a pronoun that is the subject of a noun.
        if kind in ("thing", "several") and _is_subject_of_noun(mention, view):
            return None
        if fitting and kind == "thing" and not _is_usual(mention, fitting[0], view):
            return None
        if fitting:
            if kind in ("male", "female"):
                fitting[0].gender = kind
            return fitting[0]
        # If nobody has named a person, the first "he" or "she" adds a new referent: "He is nice. – Yes, he
        # is."
        if kind in ("male", "female"):
            referent = self._new("person", mention.head)
            referent.gender, referent.number = kind, "singular"
            return referent
        return None

    def _is_person(self, one: _KnownEntity, gender: str) -> bool:
        if one.kind not in words("person-kinds") and not (one.names and one.kind == OTHER):
            return False
        return one.gender in ("", gender) and one.number != "plural"

    def _is_thing(self, one: _KnownEntity) -> bool:
        # *It* is resolved only if there is a single candidate. So count every thing as a candidate, even a
        # thing that *it* rarely refers to.
        return one.number != "plural" and one.kind not in (SPEAKER, SPEAKERS, "person")

    def _is_several(self, one: _KnownEntity) -> bool:
        return one.is_argument and one.number == "plural" and one.kind not in (SPEAKER, SPEAKERS)

    def _shares_predicate(self, mention: Mention, one: _KnownEntity, view: AmrView) -> bool:
        """Return whether a pronoun is an argument of the same predicate as another mention of an entity.

        Then the pronoun cannot refer to this entity: in "Bob saw him", *him* is not Bob.
        """
        above = {at for _, at in view.roles_in[mention.position]}
        return any(above & {at for _, at in view.roles_in[k]} for k in one.current_nodes)


def _is_part(one: str, other: str) -> bool:
    """Return whether one of two names is the first or last part of the other: "Kurt", "Michael Kurt"."""
    short, long = sorted((one.split(), other.split()), key=len)
    return (
        len(short) == 1 < len(long)
        and short[0] in (long[0], long[-1])
        and all(len(part) > 1 for part in long)
    )


def _is_subject_of_noun(mention: Mention, view: AmrView) -> bool:
    """Return whether a pronoun is the subject of a noun: "They are a company"."""
    above = [at for role, at in view.roles_in[mention.position] if role == "domain"]
    return any(view.kinds[at] != OTHER for at in above)


def _is_usual(mention: Mention, one: _KnownEntity, view: AmrView) -> bool:
    """Return whether the entity is a usual argument of the verb to which the pronoun *it* belongs.

    ``takes.tsv`` lists the usual arguments of each verb. In "The seat? I missed it", *it* is not linked to
    the seat, because *seat* is not a usual object of *miss*: *it* may refer to a whole statement or to
    nothing.
    """
    for role, above in view.roles_in[mention.position]:
        if role in ("ARG0", "ARG1") and view.is_frame[above]:
            preferred = preferred_nouns(view.labels[above], role)
            if one.name in preferred or noun_cluster(one.name) in preferred:
                return True
    return False

"""Drafts: all that could be given to a context, where what is given depends on the contexts before.

A generator that never says the same twice, or uses a sentence once only, can't tell in one shard what another
one gives. So it makes a `Draft` of each context, which depends on nothing else, and what makes the result is
chosen of one draft after another, in the order of the contexts. Choosing is cheap and asks no store and no
model: in one run it follows at once, for shards it is left to `graphneg.merging`. The ``choice`` of a
generator says how: ``{"by": "new texts", ...}``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, Protocol, TypeVar

from graphneg.english.near_duplicates import NearDuplicates
from graphneg.errors import InputError
from graphneg.generators.base import Candidate

FEW = 5
"""So many sentences may bring the same word along, however few are taken."""
DRAFTS = "drafts"
BY_NEW_TEXTS, BY_SENTENCES = "new texts", "sentences"
Record = dict[str, Any]
Choose = Callable[[Sequence[str], Mapping[str, Any]], list[int]]
"""The places of the candidates that are given, by what they say and the facts of their draft."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The candidates of a context, and what is to be known of them to choose, as JSON holds it."""

    candidates: Sequence[Candidate]
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Sentence(Protocol):
    """A sentence on a shortlist: how far it is from what is wished for, what decides between equals, its
    words, its terms and those that the context has, too."""

    @property
    def distance(self) -> float:
        """How far it is from what is wished for."""
        ...

    @property
    def chance(self) -> int:
        """What decides among equals."""
        ...

    @property
    def key(self) -> str:
        """Its words: what says the same has the same."""
        ...

    @property
    def terms(self) -> frozenset[str]:
        """Its content words, as lemmas."""
        ...

    @property
    def shared(self) -> frozenset[str]:
        """Those that the context has, too."""
        ...


Listed = TypeVar("Listed", bound=Sentence)


class SentenceChooser:
    """Takes sentences from shortlists, each ``most_uses`` times at most; first those that bring along no word
    which is in a share of ``most_said`` of all that was taken. None: that is no matter."""

    def __init__(self, most_uses: int | None = None, most_said: float | None = None) -> None:
        self._most_uses, self._most_said = most_uses, most_said
        self._uses: Counter[str] = Counter()
        self._said: Counter[str] = Counter()
        self._taken = 0

    def count(self, key: str, terms: Iterable[str]) -> None:
        """Count a sentence that is taken."""
        self._uses[key] += 1
        self._taken += 1
        self._said.update(terms)

    def choose(self, lists: Sequence[Iterable[Listed]]) -> list[tuple[int, Listed]]:
        """The first of each list that is not used up; where all are, the first of another list. Each with the
        number of the list that it is chosen for, and counted."""
        found: dict[str, tuple[int, Listed]] = {}

        def others() -> list[Listed]:
            return sorted(chain.from_iterable(lists), key=lambda item: (item.distance, item.chance))

        def either(listed: Iterable[Listed]) -> Iterable[Listed]:
            yield from listed
            yield from others()

        for at, listed in enumerate(lists):
            free = (
                item
                for is_stale in (False, True)  # of used-up words only where there is nothing else
                for item in either(listed)
                if item.key not in found and not self._is_used_up(item.key)
                if self._is_stale(item) == is_stale
            )
            item = next(free, None)
            if item is not None:
                found[item.key] = (at, item)
                self.count(item.key, item.terms)
        return list(found.values())

    def _is_used_up(self, key: str) -> bool:
        return self._most_uses is not None and self._uses[key] >= self._most_uses

    def _is_stale(self, item: Sentence) -> bool:
        """Whether a word that the sentence brings along is in too large a share of what was taken."""
        if self._most_said is None:
            return False
        most = max(FEW, self._most_said * self._taken)
        return any(self._said[term] >= most for term in item.terms - item.shared)


class _Drafted(NamedTuple):
    """A sentence of a draft; ``place`` is that of its candidate."""

    place: int
    distance: float
    chance: int
    key: str
    terms: frozenset[str]
    shared: frozenset[str]


def sentence_draft(candidates: Sequence[Candidate], lists: Sequence[Sequence[tuple[int, Sentence]]]) -> Draft:
    """A draft for `SentenceChooser`: each list has the sentences with the places of their candidates."""
    known = {place: item for listed in lists for place, item in listed}
    sentences = [
        [item.key, sorted(item.terms), sorted(item.shared)] for _, item in sorted(known.items(), key=_first)
    ]
    ranked = [[[place, item.distance, item.chance] for place, item in listed] for listed in lists]
    return Draft(candidates, {"sentences": sentences, "lists": ranked})


def _first(item: tuple[int, Any]) -> int:
    return item[0]


def choosing(choice: Mapping[str, Any]) -> Choose:
    """What chooses as a generator's ``choice`` says, of one draft after another.

    Raises `InputError`: no generator here chooses so.
    """
    options = dict(choice)
    match options.pop("by", None):
        case "new texts":
            return _new_texts(**options)
        case "sentences":
            return _sentences(**options)
        case by:
            raise InputError(f"this graphneg knows no choice by {by!r}")


def _new_texts(most: int) -> Choose:
    """The first ``most`` of each context that nearly say nothing that was given before."""
    said = NearDuplicates()

    def choose(texts: Sequence[str], facts: Mapping[str, Any]) -> list[int]:
        places: list[int] = []
        for place, text in enumerate(texts):
            if len(places) < most and said.add(text):
                places.append(place)
        return places

    return choose


def _sentences(**limits: Any) -> Choose:
    chooser = SentenceChooser(**limits)

    def choose(texts: Sequence[str], facts: Mapping[str, Any]) -> list[int]:
        known = [(key, frozenset(terms), frozenset(own)) for key, terms, own in facts["sentences"]]
        lists = [
            [_Drafted(place, distance, chance, *known[place]) for place, distance, chance in ranked]
            for ranked in facts["lists"]
        ]
        return [item.place for _, item in chooser.choose(lists)]

    return choose


def drafted(records: Sequence[Record], facts: Mapping[str, Any]) -> Record:
    """A draft as a shard holds it: its candidates as records, the first one whole, of others what differs.

    >>> drafted([{"id": "d~a.0", "seed": 0}, {"id": "d~a.1", "seed": 0}], {})
    {'whole': {'id': 'd~a.0', 'seed': 0}, 'others': [{'id': 'd~a.1'}], 'facts': {}}
    """
    whole, *rest = records
    others = [{name: one[name] for name in one if one[name] != whole[name]} for one in rest]
    return {"whole": whole, "others": others, "facts": facts}


def chosen(item: Record, choose: Choose) -> list[Record]:
    """The records that are chosen of what `drafted` gave, their ids numbered anew."""
    whole = item["whole"]
    records = [whole, *({**whole, **other} for other in item["others"])]
    places = choose([record["response"] for record in records], item["facts"])
    name = whole["id"].rpartition(".")[0]
    return [{**records[place], "id": f"{name}.{slot}"} for slot, place in enumerate(places)]

"""Choose candidates that depend on earlier ones, in one run or across shards.

Some generators never give the same text twice, or use each sentence only once. What such a generator gives to
one context depends on what it gave before, which a shard of a run cannot know. Such a generator therefore
works in two steps. First it makes a `Draft` of each context, which holds all usable candidates and depends on
no other context. Then a chooser goes through the drafts in the order of the contexts and selects from each::

    drafts    context 1: ["We left.", "I like tea."]    context 2: ["We left.", "It rained."]
    chosen    context 1: "We left."                     context 2: "It rained."

Choosing is cheap and needs neither a store nor a model. A single run chooses at once; for shards,
`graphneg.merging` chooses when it merges. The generator's ``choice`` names the chooser, for example ``{"by":
"new texts", "most": 2}``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol, TypeVar

from graphneg.english.near_duplicates import NearDuplicates
from graphneg.errors import InputError
from graphneg.generators.base import Candidate, Draft

FEW = 5
"""Number of sentences that may always introduce the same word, however few sentences were chosen so far."""
DRAFTS = "drafts"
"""Kind of a shard file that holds drafts."""
BY_NEW_TEXTS, BY_SENTENCES = "new texts", "sentences"
"""Names of the choosers, the values of ``by`` in a ``choice``."""
Record = dict[str, Any]
Choose = Callable[[Sequence[str], Mapping[str, Any]], list[int]]
"""Selects candidates by their texts and the facts of their draft, and returns their indexes."""


class Sentence(Protocol):
    """The interface of a sentence on a shortlist."""

    @property
    def distance(self) -> float:
        """The distance from the target profile, 0 for a perfect match."""
        ...

    @property
    def chance(self) -> int:
        """A random number that breaks ties."""
        ...

    @property
    def key(self) -> str:
        """The words of the sentence, equal for two spellings of the same sentence."""
        ...

    @property
    def terms(self) -> frozenset[str]:
        """The lemmas of the sentence's content words."""
        ...

    @property
    def shared(self) -> frozenset[str]:
        """The content words that the context has, too."""
        ...


Listed = TypeVar("Listed", bound=Sentence)


class SentenceChooser:
    """Chooses sentences from shortlists, so that no sentence or word is used too often."""

    def __init__(self, most_uses: int | None = None, most_said: float | None = None) -> None:
        """Initialize the chooser.

        Args:
            most_uses: Maximum number of times that a sentence is used; None for no limit.
            most_said: Maximum share, from 0 to 1, of chosen sentences that introduce the same word. A word is
                introduced if the context does not have it. Sentences with more frequent words are chosen
                last; None for no limit.
        """
        self._most_uses, self._most_said = most_uses, most_said
        self._uses: Counter[str] = Counter()
        self._said: Counter[str] = Counter()
        self._taken = 0

    def count(self, key: str, terms: Iterable[str]) -> None:
        """Count a sentence as chosen.

        Args:
            key: Words of the sentence.
            terms: Its content words, as lemmas.
        """
        self._uses[key] += 1
        self._taken += 1
        self._said.update(terms)

    def choose(self, lists: Sequence[Iterable[Listed]]) -> list[tuple[int, Listed]]:
        """Choose one sentence per shortlist and count it.

        The first usable sentence of a list is taken. If a list has none, the best usable sentence of the
        other lists is taken instead. No sentence is chosen twice in one call.

        Args:
            lists: Shortlists of one context, each in order of preference.

        Returns:
            The chosen sentences, each with the index of the list that it was chosen for.
        """
        found: dict[str, tuple[int, Listed]] = {}

        def others() -> list[Listed]:
            return sorted(chain.from_iterable(lists), key=lambda item: (item.distance, item.chance))

        def either(listed: Iterable[Listed]) -> Iterable[Listed]:
            yield from listed
            # A sentence from another list fits the context, though not the profile of this list.
            yield from others()

        for at, listed in enumerate(lists):
            free = (
                item
                # Sentences with overused words are chosen only if there are no others.
                for is_stale in (False, True)
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
        """Return whether the sentence introduces a word that too many chosen sentences have."""
        if self._most_said is None:
            return False
        # At the beginning of a run every word has a large share.
        most = max(FEW, self._most_said * self._taken)
        return any(self._said[term] >= most for term in item.terms - item.shared)


class _Drafted(NamedTuple):
    """A sentence of a draft; ``place`` is the index of its candidate."""

    place: int
    distance: float
    chance: int
    key: str
    terms: frozenset[str]
    shared: frozenset[str]


def sentence_draft(candidates: Sequence[Candidate], lists: Sequence[Sequence[tuple[int, Sentence]]]) -> Draft:
    """Build a draft for `SentenceChooser`.

    Args:
        candidates: Candidates of a context.
        lists: Shortlists of pairs: the index of a candidate, and its sentence.

    Returns:
        The draft. Its facts hold each sentence once, and the lists refer to sentences by index.
    """
    known = {place: item for listed in lists for place, item in listed}
    sentences = [
        [item.key, sorted(item.terms), sorted(item.shared)] for _, item in sorted(known.items(), key=_first)
    ]
    ranked = [[[place, item.distance, item.chance] for place, item in listed] for listed in lists]
    return Draft(candidates, {"sentences": sentences, "lists": ranked})


def _first(item: tuple[int, Any]) -> int:
    return item[0]


def choosing(choice: Mapping[str, Any]) -> Choose:
    """Return the chooser that a generator's ``choice`` describes.

    Args:
        choice: Name of the chooser (``by``) and its options.

    Returns:
        A function to call for one draft after another; it keeps the state between the calls.

    Raises:
        InputError: The chooser is unknown.
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
    """Return a chooser of the first ``most`` texts per context that no earlier text nearly equals."""
    said = NearDuplicates()

    def choose(texts: Sequence[str], facts: Mapping[str, Any]) -> list[int]:
        places: list[int] = []
        for place, text in enumerate(texts):
            if len(places) < most and said.add(text):
                places.append(place)
        return places

    return choose


def _sentences(**limits: Any) -> Choose:
    """Return a chooser that works as `SentenceChooser` with these limits."""
    chooser = SentenceChooser(**limits)

    def choose(texts: Sequence[str], facts: Mapping[str, Any]) -> list[int]:
        # JSON has no sets, so the facts hold sorted lists.
        known = [(key, frozenset(terms), frozenset(own)) for key, terms, own in facts["sentences"]]
        lists = [
            [_Drafted(place, distance, chance, *known[place]) for place, distance, chance in ranked]
            for ranked in facts["lists"]
        ]
        return [item.place for _, item in chooser.choose(lists)]

    return choose


def drafted(records: Sequence[Record], facts: Mapping[str, Any]) -> Record:
    """Pack the candidates of a draft for a shard file.

    The first record is stored whole. Of the others only the fields that differ from it are stored.

    Args:
        records: Candidates as records, at least one.
        facts: Facts of the draft.

    Returns:
        The packed draft.

    Example:
        >>> drafted([{"id": "d~a.0", "seed": 0}, {"id": "d~a.1", "seed": 0}], {})
        {'whole': {'id': 'd~a.0', 'seed': 0}, 'others': [{'id': 'd~a.1'}], 'facts': {}}
    """
    whole, *rest = records
    # The records of a context share most fields.
    others = [{name: one[name] for name in one if one[name] != whole[name]} for one in rest]
    return {"whole": whole, "others": others, "facts": facts}


def chosen(item: Record, choose: Choose) -> list[Record]:
    """Choose from a packed draft and number the chosen records anew.

    Args:
        item: A draft packed by `drafted`.
        choose: The chooser.

    Returns:
        The chosen records. Their ids end in their new index, as in a run without shards.
    """
    whole = item["whole"]
    records = [whole, *({**whole, **other} for other in item["others"])]
    places = choose([record["response"] for record in records], item["facts"])
    # An id is the context, the generator, the seed and the index: "d#2~overlap.0.3".
    name = whole["id"].rpartition(".")[0]
    # Indexes count only the chosen candidates.
    return [{**records[place], "id": f"{name}.{slot}"} for slot, place in enumerate(places)]

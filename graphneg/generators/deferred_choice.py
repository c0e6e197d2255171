"""Choose candidates when the choice for one context depends on the choices for earlier contexts.

Some generators never return the same text twice, or use each sentence only a limited number of times. Their
candidates for a context therefore depend on the candidates that they returned for earlier contexts. If the
contexts are split into shards that are processed in parallel, these earlier candidates are not known.
Therefore such a generator works in two steps. First, it makes a `Draft` for each context. A draft contains
all usable candidates for its context and does not depend on other contexts. Then a chooser reads the drafts
in the order of the contexts, and selects the candidates to return from each draft::

    drafts    context 1: ["We left.", "I like tea."]    context 2: ["We left.", "It rained."]
    chosen    context 1: "We left."                     context 2: "It rained."

The second step is fast and needs neither a store nor a model. In a run without shards, the generator makes
the choice itself. With shards, `graphneg.merging` makes the choice when it merges the output files of all
shards. The generator's ``choice`` names the chooser and its options, for example ``{"by": "new texts",
"most": 2}``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol, TypeVar

from graphneg.english.near_duplicates import NearDuplicates
from graphneg.errors import InputError
from graphneg.generators.base import Candidate, Draft
from graphneg.json_input import converted

FEW = 5
"""Minimum number of chosen sentences that introduce a word before the word can count as overused. Without
this minimum, every word would be overused at the beginning of a run."""
DRAFTS = "drafts"
"""Value of ``kind`` in the header of a shard's output file if the file contains drafts."""
BY_NEW_TEXTS, BY_SENTENCES = "new texts", "sentences"
"""Names of the choosers. In the settings that `Generator.choice` returns, ``by`` has one of these values."""
Record = dict[str, Any]
Choose = Callable[[Sequence[str], Mapping[str, Any]], list[int]]
"""Type of a chooser: a function that takes the texts of a draft's candidates and the draft's ``facts``. It
returns the indices of the candidates to use."""


class Sentence(Protocol):
    """The interface of a sentence on a shortlist.

    A shortlist contains the sentences that best match one target profile, that is, one set of properties that
    a response should have, such as a length and a number of words shared with the context.
    """

    @property
    def distance(self) -> float:
        """The distance of the sentence from the wanted properties; 0 if the sentence has all of them."""
        ...

    @property
    def chance(self) -> int:
        """A random number that breaks ties between sentences with equal distances."""
        ...

    @property
    def key(self) -> str:
        """The normalised words of the sentence as one string. All spellings of a sentence have one key."""
        ...

    @property
    def terms(self) -> frozenset[str]:
        """The lemmas of all content words of the sentence."""
        ...

    @property
    def shared(self) -> frozenset[str]:
        """The lemmas of the sentence's content words that also occur in the context."""
        ...


Listed = TypeVar("Listed", bound=Sentence)


class SentenceChooser:
    """Chooses sentences in a run, so that no sentence and no word is used too often.

    The sentences are chosen from shortlists. A shortlist contains the sentences that are suitable for one
    negative.
    """

    def __init__(self, max_uses: int | None = None, max_word_share: float | None = None) -> None:
        """Initialize the chooser.

        Args:
            max_uses: Maximum number of times that the same sentence is chosen; None for no limit.
            max_word_share: Maximum fraction of the chosen sentences that introduce the same word, from 0 to
                1; None for no limit. A sentence introduces a word if it contains the word and the context
                does not. A word that reaches the limit is overused. A sentence that introduces an overused
                word is chosen only if no other usable sentence is left.
        """
        self._max_uses, self._max_word_share = max_uses, max_word_share
        self._uses: Counter[str] = Counter()
        self._word_counts: Counter[str] = Counter()
        self._chosen_count = 0

    def count(self, key: str, terms: Iterable[str]) -> None:
        """Count a sentence as chosen.

        A resumed run calls this method for each sentence that the interrupted run had chosen.

        Args:
            key: Normalised words of the sentence (`Sentence.key`).
            terms: Lemmas of the sentence's content words.
        """
        self._uses[key] += 1
        self._chosen_count += 1
        self._word_counts.update(terms)

    def choose(self, lists: Sequence[Iterable[Listed]]) -> list[tuple[int, Listed]]:
        """Choose one sentence from each shortlist and count it as chosen.

        The first usable sentence of a shortlist is chosen. If a shortlist has no usable sentence, the best
        usable sentence from the other shortlists of the context is chosen instead. No sentence is chosen
        twice in one call.

        Args:
            lists: Shortlists for one context. Each is sorted, with the best sentence first.

        Returns:
            One pair for each shortlist for which a sentence was chosen: the index of the shortlist, and the
            sentence.
        """
        found: dict[str, tuple[int, Listed]] = {}

        def others() -> list[Listed]:
            return sorted(chain.from_iterable(lists), key=lambda item: (item.distance, item.chance))

        def either(listed: Iterable[Listed]) -> Iterable[Listed]:
            yield from listed
            # If no sentence of this shortlist is left, try the other shortlists of the context. Their
            # sentences also fit the context, but are further away from the target profile of this negative.
            yield from others()

        for at, listed in enumerate(lists):
            free = (
                item
                # First try sentences without overused words, that is, without words that many chosen
                # sentences contain.
                for is_stale in (False, True)
                for item in either(listed)
                if item.key not in found and not self._is_used_up(item.key)
                if self._has_overused_word(item) == is_stale
            )
            item = next(free, None)
            if item is not None:
                found[item.key] = (at, item)
                self.count(item.key, item.terms)
        return list(found.values())

    def _is_used_up(self, key: str) -> bool:
        return self._max_uses is not None and self._uses[key] >= self._max_uses

    def _has_overused_word(self, item: Sentence) -> bool:
        """Return whether a sentence adds a word to its context that many chosen sentences already contain."""
        if self._max_word_share is None:
            return False
        # After the first choice, each word of the chosen sentence occurs in 100% of the chosen sentences. So
        # a word counts as overused only if at least `FEW` chosen sentences contain it.
        most = max(FEW, self._max_word_share * self._chosen_count)
        return any(self._word_counts[term] >= most for term in item.terms - item.shared)


class _ShortlistedSentence(NamedTuple):
    """A sentence on a shortlist in a draft. ``place`` is the index of the candidate made from it."""

    place: int
    distance: float
    chance: int
    key: str
    terms: frozenset[str]
    shared: frozenset[str]


def sentence_draft(candidates: Sequence[Candidate], lists: Sequence[Sequence[tuple[int, Sentence]]]) -> Draft:
    """Create a `Draft`: candidates for one context, of which `SentenceChooser` chooses some later.

    Args:
        candidates: Candidates for one context.
        lists: Shortlists for the context. Each entry is a pair: the index of a candidate, and the sentence
            from which the candidate was made.

    Returns:
        The draft. Its ``facts`` contain the words of each sentence once, and the shortlists, in which a
        sentence is represented by the index of its candidate.
    """
    known = {place: item for listed in lists for place, item in listed}
    sentences = [
        [item.key, sorted(item.terms), sorted(item.shared)]
        for _, item in sorted(known.items(), key=_candidate_index)
    ]
    ranked = [[[place, item.distance, item.chance] for place, item in listed] for listed in lists]
    return Draft(candidates, {"sentences": sentences, "lists": ranked})


def _candidate_index(item: tuple[int, Any]) -> int:
    return item[0]


_OPTIONS = "the options of the choice"


def choosing(choice: Mapping[str, Any]) -> Choose:
    """Create the function that chooses the final responses for each context from all candidates.

    Args:
        choice: The settings from `Generator.choice`: the name of the method (the value of ``by``), and the
            options of the method.

    Returns:
        A function that takes the candidates for one context, and returns the indices of the chosen
        candidates. Call it for one context after another, because a choice depends on the earlier choices.

    Raises:
        InputError: No chooser has the given name, or an option has the wrong type.
    """
    options = dict(choice)
    match options.pop("by", None):
        case "new texts":
            return _new_texts(**converted(options, dict[str, int], _OPTIONS))
        case "sentences":
            return _sentences(**converted(options, dict[str, int | float | None], _OPTIONS))
        case by:
            raise InputError(f"this version of graphneg has no chooser {by!r}")


def _new_texts(most: int) -> Choose:
    """Return a function that chooses up to ``most`` texts per context, and skips near duplicates."""
    said = NearDuplicates()

    def choose(texts: Sequence[str], facts: Mapping[str, Any]) -> list[int]:
        places: list[int] = []
        for place, text in enumerate(texts):
            if len(places) < most and said.add(text):
                places.append(place)
        return places

    return choose


_Ranked = tuple[int, int | float, int]
"""The place, distance and random number of a sentence in a draft."""


def _sentences(**limits: Any) -> Choose:
    """Return a function that chooses sentences with a `SentenceChooser` that has these ``limits``."""
    chooser = SentenceChooser(**limits)

    def choose(texts: Sequence[str], facts: Mapping[str, Any]) -> list[int]:
        # A draft is stored as JSON, which has no sets. So convert the lists of words back into sets.
        known = [(key, frozenset(terms), frozenset(own)) for key, terms, own in facts["sentences"]]
        lists = [
            [
                _ShortlistedSentence(place, distance, chance, *known[place])
                for place, distance, chance in ranked
            ]
            for ranked in converted(facts["lists"], list[list[_Ranked]], "the lists of a draft")
        ]
        return [item.place for _, item in chooser.choose(lists)]

    return choose


def pack_draft(records: Sequence[Record], facts: Mapping[str, Any]) -> Record:
    """Pack a draft, that is, all candidates for a context, into one record of a shard's output file.

    The first candidate is stored completely. Of each other candidate, only the fields that differ from the
    first candidate are stored.

    Args:
        records: The candidates of the draft, converted into records; at least one.
        facts: The value of `Draft.facts`, which is needed to choose candidates when shards are merged.

    Returns:
        The packed draft.

    Example:
        >>> pack_draft([{"id": "d~a.0", "seed": 0}, {"id": "d~a.1", "seed": 0}], {})
        {'whole': {'id': 'd~a.0', 'seed': 0}, 'others': [{'id': 'd~a.1'}], 'facts': {}}
    """
    whole, *rest = records
    # All records of a context have the same values in most fields, for example in the field `context`. Write
    # such a field for the first record only, which makes the file much smaller.
    others = [{name: one[name] for name in one if one[name] != whole[name]} for one in rest]
    return {"whole": whole, "others": others, "facts": facts}


def choose_from_draft(item: Record, choose: Choose) -> list[Record]:
    """Unpack a draft (the candidates for one context), and choose and number records from it.

    Args:
        item: Draft that was packed by `pack_draft`.
        choose: Chooser that selects candidates of the draft.

    Returns:
        The chosen records. Their ids end with numbers from 0, as in a run without shards.
    """
    whole = item["whole"]
    records = [whole, *({**whole, **other} for other in item["others"])]
    places = choose([record["response"] for record in records], item["facts"])
    # In an id such as "d#2~overlap.0.3", the parts are the id of the context, the generator, the seed and the
    # index of the candidate. Replace the index, so that it counts only the chosen candidates.
    name = whole["id"].rpartition(".")[0]
    return [{**records[place], "id": f"{name}.{slot}"} for slot, place in enumerate(places)]

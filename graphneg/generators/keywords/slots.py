"""The responses that are wanted, and what each is made of: keywords of its context, another history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphneg.generators.base import Context
from graphneg.generators.keywords.choosing import Amount, Histories, History, Words, drawn, keywords_of
from graphneg.shift.keywords import Keyword, KeywordExtractor

Replacing = Callable[[Sequence[Words], int, str], tuple[Words, ...]]


@dataclass(frozen=True, slots=True)
class Slot:
    """One response that is wanted: the place of its context, the keywords there, the history shown."""

    id: str
    place: int
    text: str
    keywords: tuple[Keyword, ...]
    history: History | None


@dataclass(frozen=True, slots=True)
class Wish:
    """A slot with the keywords that its texts shall have this time."""

    slot: Slot
    id: str
    keywords: tuple[Words, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """Each keyword as a text."""
        return tuple(" ".join(words) for words in self.keywords)


@dataclass(frozen=True, slots=True)
class Material:
    """Where keywords and histories are from: ``histories`` is None where no history is shown,
    ``replacing`` where keywords stay as they are; ``language`` is that of the texts."""

    extractor: KeywordExtractor
    amount: Amount
    histories: Histories | None = None
    replacing: Replacing | None = None
    language: str = "en"

    def slots(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> tuple[list[Slot], list[tuple[str, int]]]:
        """The responses that can be written, and for each other one why not and its context's place."""
        texts = [" ".join(turn.text for turn in context.turns) for context in contexts]
        keywords = keywords_of(self.extractor, texts, self.language)
        places = [place for place, found in enumerate(keywords) for _ in range(per_context) if found]
        missing = [
            ("no-keywords", place)
            for place, found in enumerate(keywords)
            for _ in range(per_context)
            if not found
        ]
        ids = [f"{contexts[place].id}/{n % per_context:03}" for n, place in enumerate(places)]
        shown: Sequence[History | None] = [None] * len(places)
        if self.histories is not None:
            shown = self.histories.of([contexts[place] for place in places], ids, seed)
        slots: list[Slot] = []
        for place, id, history in zip(places, ids, shown, strict=True):
            if self.histories is not None and history is None:
                missing.append(("no-history", place))
            else:
                slots.append(Slot(id, place, texts[place], tuple(keywords[place]), history))
        return slots, missing

    def wish(self, slot: Slot, draw: int, seed: int) -> Wish:
        """The keywords of one draw: another draw has others, if there are any."""
        id = f"{slot.id}/{draw}"
        words = drawn(slot.keywords, self.amount, seed, id, slot.text)
        if self.replacing is not None:
            words = self.replacing(words, seed, id)
        return Wish(slot, id, words)

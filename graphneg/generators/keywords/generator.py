"""Wrong responses that a language model writes around keywords of a context.

``key-context`` and ``key-sem`` are those of Gupta et al. (2021, "Synthesizing Adversarial Negative
Responses for Robust Response Ranking and Evaluation", section 3.2): a reply with keywords of the
context, written for the history of another dialogue. ``key-sentence`` asks for an everyday
sentence with one or two of them, and for no reply at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp

from graphneg.errors import InputError
from graphneg.generators.base import Candidate, Context, Turn
from graphneg.generators.keywords.choosing import Amount, Histories, History, Words, drawn, keywords_of
from graphneg.generators.keywords.prompts import example_texts
from graphneg.generators.keywords.screening import Limits, alike, first_sentences, refusal
from graphneg.generators.keywords.words import words_of
from graphneg.generators.keywords.writing import Request, Writer
from graphneg.language_models.model import Written
from graphneg.shift.keywords import KeywordExtractor

CATEGORY = "C-follow"

_REASONS = {
    "no-keywords": "the context has no keyword to write about",
    "no-history": "the store holds no other dialogue",
    "unfinished": "the text does not end as a sentence does",
    "not-plain-text": "the text has signs that no one says",
    "too-short": "the text has too few words",
    "too-long": "the text has too many words",
    "no-keyword": "a keyword is not in the text",
    "repeats": "the text repeats itself",
    "copies-example": "the text repeats what the model was shown",
    "copies-context": "the text repeats the context",
    "like-a-positive": "the text is nearly a right response",
    "like-another": "the text is nearly another one of the same context",
    "surprising": "the model itself finds the text unlikely",
}

Replacing = Callable[[Sequence[Words], int, str], tuple[Words, ...]]
Asking = Callable[[Sequence[Turn], Sequence[str]], str]


@dataclass(frozen=True, slots=True)
class Rules:
    """How many keywords, which texts are kept, and how often a refused one is written anew.

    A text whose perplexity under the plain model is over ``surprise`` is refused: most such texts are
    no sentences.
    """

    amount: Amount = field(default_factory=Amount)
    limits: Limits = field(default_factory=Limits)
    draws: int = 4
    surprise: float = 100.0

    def __post_init__(self) -> None:
        if self.draws < 1:
            raise InputError(f"draws {self.draws}: each text is written at least once")
        if self.surprise <= 1:
            raise InputError(f"surprise {self.surprise}: a perplexity is above 1")


@dataclass(frozen=True, slots=True)
class _Slot:
    """One response that is wanted: the place of its context, and what it shall be made of."""

    id: str
    place: int
    keywords: tuple[Words, ...]
    history: History | None


class KeywordGenerator:
    """Writes responses around keywords. ``refused`` counts texts by why they were refused.

    ``replacing`` may exchange keywords, ``asking`` makes the request from a history and words;
    ``histories`` is None where no history is shown. ``made_of`` is what the output depends on beside rules.
    """

    def __init__(
        self,
        name: str,
        extractor: KeywordExtractor,
        writer: Writer,
        asking: Asking,
        *,
        rules: Rules | None = None,
        histories: Histories | None = None,
        replacing: Replacing | None = None,
        made_of: Mapping[str, object] | None = None,
    ) -> None:
        self.name = name
        self.refused: Counter[str] = Counter()
        self._extractor = extractor
        self._writer = writer
        self._asking = asking
        self._rules = rules or Rules()
        self._histories = histories
        self._replacing = replacing
        self._made_of = dict(made_of or {})
        self._left_out: list[tuple[str, str]] = []

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """At most ``per_context`` candidates for each context, in order.

        Raises:
            ModelError: memory does not suffice for one text.
            StoreError: the store is gone.
        """
        found: list[dict[str, Candidate]] = [{} for _ in contexts]
        open_slots = self._slots(contexts, per_context, seed)
        last = dict.fromkeys((slot.id for slot in open_slots), "")
        for draw in range(self._rules.draws):
            if not open_slots:
                break
            refused: list[_Slot] = []
            for slot, text, perplexity, reason in self._written(open_slots, contexts, draw, seed):
                others = found[slot.place].values()
                if reason is None and any(alike(words_of(text), words_of(one.text)) for one in others):
                    reason = "like-another"
                if reason is None:
                    found[slot.place][slot.id] = self._candidate(slot, text, perplexity)
                else:
                    self.refused[reason] += 1
                    last[slot.id] = reason
                    refused.append(slot)
            open_slots = refused
        for slot in open_slots:
            self._leave_out(last[slot.id], contexts[slot.place].id)
        return [[one for _, one in sorted(each.items())] for each in found]

    def left_out(self) -> list[tuple[str, str]]:
        """For each candidate missing since the last call: ``code: sentence``, and the context's id."""
        told, self._left_out = self._left_out, []
        return told

    def settings(self) -> Mapping[str, object]:
        rules, style = self._rules, self._writer.style
        return {
            **self._made_of,
            "model": str(self._writer.model.place),
            "examples": self._writer.examples,
            "extractor": self._extractor.name,
            "rules": repr(rules),
            "style": repr(style),
        }

    def _leave_out(self, reason: str, id: str, count: int = 1) -> None:
        self._left_out += [(f"{reason}: {_REASONS[reason]}", id)] * count

    def _slots(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[_Slot]:
        """The responses that can be written: those with keywords, and a history where one is shown."""
        texts = [" ".join(turn.text for turn in context.turns) for context in contexts]
        keywords = keywords_of(self._extractor, texts)
        places = [place for place, _ in enumerate(contexts) for _ in range(per_context) if keywords[place]]
        ids = [f"{contexts[place].id}/{n % per_context:03}" for n, place in enumerate(places)]
        histories = self._drawn_histories([contexts[place] for place in places], ids, seed)
        for context, found in zip(contexts, keywords, strict=True):
            if not found:
                self._leave_out("no-keywords", context.id, per_context)
        slots: list[_Slot] = []
        for place, id, history in zip(places, ids, histories, strict=True):
            if self._histories is not None and history is None:
                self._leave_out("no-history", contexts[place].id)
                continue
            words = drawn(keywords[place], self._rules.amount, seed, id, texts[place])
            if self._replacing is not None:
                words = self._replacing(words, seed, id)
            slots.append(_Slot(id, place, words, history))
        return slots

    def _drawn_histories(
        self, contexts: Sequence[Context], ids: Sequence[str], seed: int
    ) -> Sequence[History | None]:
        if self._histories is None:
            return [None] * len(contexts)
        return self._histories.of(contexts, ids, seed)

    def _written(
        self, slots: Sequence[_Slot], contexts: Sequence[Context], draw: int, seed: int
    ) -> Iterator[tuple[_Slot, str, float, str | None]]:
        """Each slot with a text, its perplexity, and why it is refused."""
        requests = [self._request(slot, draw) for slot in slots]
        drafts = self._writer.write(requests, seed)
        texts = [first_sentences(draft.text, self._rules.limits.sentences) for draft in drafts]
        reasons = [
            self._refusal(slot, draft, text, contexts[slot.place])
            for slot, draft, text in zip(slots, drafts, texts, strict=True)
        ]
        fine = [place for place, reason in enumerate(reasons) if reason is None]
        losses = self._writer.model.score([f" {texts[place]}" for place in fine])
        perplexities = {place: exp(min(loss, 50.0)) for place, loss in zip(fine, losses, strict=True)}
        for place, slot in enumerate(slots):
            perplexity, reason = perplexities.get(place, 0.0), reasons[place]
            if reason is None and perplexity > self._rules.surprise:
                reason = "surprising"
            yield slot, texts[place], perplexity, reason

    def _request(self, slot: _Slot, draw: int) -> Request:
        shown = [" ".join(words) for words in slot.keywords]
        turns = slot.history.turns if slot.history is not None else ()
        return Request(f"{slot.id}/{draw}", self._asking(turns, shown), tuple(shown))

    def _refusal(self, slot: _Slot, draft: Written, text: str, context: Context) -> str | None:
        if not draft.finished and text == draft.text:
            return "unfinished"
        return refusal(text, slot.keywords, context, self._rules.limits, example_texts())

    def _candidate(self, slot: _Slot, text: str, perplexity: float) -> Candidate:
        details = {"keywords": ", ".join(" ".join(words) for words in slot.keywords)}
        if slot.history is not None:
            details["source"] = slot.history.id
        return Candidate(text, (CATEGORY,), {"perplexity": perplexity}, details)

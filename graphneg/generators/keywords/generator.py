"""Wrong responses that a language model writes around keywords of a context.

``key-context`` and ``key-sem`` are those of Gupta et al. (2021, "Synthesizing Adversarial Negative
Responses for Robust Response Ranking and Evaluation", section 3.2): a reply with keywords of the
context, written for the history of another dialogue. ``key-sentence`` asks for an everyday
sentence with one or two of them, and for no reply at all.

Several texts are written for each response. What is broken is thrown out; of the rest the one that
the model finds likeliest is kept, unless it is likely after the context itself as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graphneg.errors import InputError
from graphneg.generators.base import SLOW_BATCH, Candidate, Context, Turn
from graphneg.generators.keywords.judging import Judge, Reading
from graphneg.generators.keywords.prompts import example_texts
from graphneg.generators.keywords.screening import Limits, alike, refusal
from graphneg.generators.keywords.slots import Material, Slot, Wish
from graphneg.generators.keywords.spacing import spaced_as
from graphneg.generators.keywords.words import words_of
from graphneg.generators.keywords.writing import Request, Writer
from graphneg.language_models.model import Written

CATEGORY = "C-follow"

_REASONS = {
    "no-keywords": "the context has no keyword to write about",
    "no-history": "the store holds no other dialogue",
    "unfinished": "the text does not end as a sentence does",
    "not-plain-text": "the text has signs that no one says",
    "too-short": "the text has too few words",
    "too-long": "the text has too many words",
    "rambles": "the text has too many sentences",
    "no-keyword": "a keyword is not in the text",
    "repeats": "the text repeats itself",
    "copies-example": "the text repeats what the model was shown",
    "copies-context": "the text repeats the context",
    "like-a-positive": "the text is nearly a right response",
    "like-another": "the text is nearly another one of the same context",
    "surprising": "the model itself finds the text unlikely",
    "fits": "the text answers the context no worse than the history that it was written for",
}

Asking = Callable[[Sequence[Turn], Sequence[str]], str]


@dataclass(frozen=True, slots=True)
class Rules:
    """Which texts are kept, and out of how many.

    ``drafts`` texts are written at a time, all with the same keywords, and if none of them is kept as many
    with others, ``draws`` times in all. A text must be within ``limits``, and its loss after the context
    ``apart`` nats a token higher than after the history that it was written for.
    """

    limits: Limits = field(default_factory=Limits)
    drafts: int = 8
    draws: int = 4
    apart: float = 0.3

    def __post_init__(self) -> None:
        if self.drafts < 1 or self.draws < 1:
            raise InputError(f"drafts {self.drafts}, draws {self.draws}: each text is written at least once")


class _Text(NamedTuple):
    """A text that may be kept, the wish that it was written for, and what the judge finds of it."""

    wish: Wish
    text: str
    reading: Reading


class KeywordGenerator:
    """Writes responses around keywords. ``refused`` counts texts by why they were refused.

    ``asking`` makes the request from a history and words. The ``judge`` reads what was written; where none is
    given, the writer's own model does. ``made_of`` is what the output depends on beside rules.
    """

    batch = SLOW_BATCH

    def __init__(
        self,
        name: str,
        material: Material,
        writer: Writer,
        asking: Asking,
        *,
        judge: Judge | None = None,
        rules: Rules | None = None,
        made_of: Mapping[str, object] | None = None,
    ) -> None:
        self.name = name
        self.refused: Counter[str] = Counter()
        self._material = material
        self._writer = writer
        self._asking = asking
        self._judge = judge or Judge(writer.model)
        self._rules = rules or Rules()
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
        open_slots, missing = self._material.slots(contexts, per_context, seed)
        for reason, place in missing:
            self._leave_out(reason, contexts[place].id)
        why = dict.fromkeys((slot.id for slot in open_slots), "")
        for draw in range(self._rules.draws):
            wishes = [self._material.wish(slot, draw, seed) for slot in open_slots]
            texts = self._written(wishes, contexts, seed, why)
            open_slots = self._filled(wishes, texts, contexts, found, why)
        for slot in open_slots:
            self._leave_out(why[slot.id], contexts[slot.place].id)
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
            "judge": str(self._judge.model.place),
            "bounds": repr(self._judge.bounds),
            "examples": self._writer.examples,
            "extractor": self._material.extractor.name,
            "amount": repr(self._material.amount),
            "rules": repr(rules),
            "style": repr(style),
        }

    def _leave_out(self, reason: str, id: str) -> None:
        self._left_out.append((f"{reason}: {_REASONS[reason]}", id))

    def _refuse(self, slot: Slot, reason: str, why: dict[str, str]) -> None:
        self.refused[reason] += 1
        why[slot.id] = reason

    def _written(
        self, wishes: Sequence[Wish], contexts: Sequence[Context], seed: int, why: dict[str, str]
    ) -> dict[str, list[_Text]]:
        """By slot, the texts that may be kept, the likeliest first."""
        asked = [(wish, request) for wish in wishes for request in self._requests(wish)]
        written = self._writer.write([request for _, request in asked], seed)
        whole: list[tuple[Wish, str]] = []
        for (wish, _), draft in zip(asked, written, strict=True):
            reason = self._refusal(wish, draft, contexts[wish.slot.place])
            if reason is None:
                whole.append((wish, draft.text))
            else:
                self._refuse(wish.slot, reason, why)
        return self._likely(list(dict.fromkeys(whole)), why)

    def _likely(self, texts: Sequence[tuple[Wish, str]], why: dict[str, str]) -> dict[str, list[_Text]]:
        """By slot, the texts that the judge lets pass, the likeliest first."""
        histories = [wish.slot.history.turns if wish.slot.history else None for wish, _ in texts]
        readings = self._judge.read([text for _, text in texts], histories)
        found: dict[str, list[_Text]] = {}
        for (wish, text), reading in zip(texts, readings, strict=True):
            if reading is not None:
                found.setdefault(wish.slot.id, []).append(_Text(wish, text, reading))
            else:
                self._refuse(wish.slot, "surprising", why)
        return {id: sorted(each, key=lambda one: one.reading.loss) for id, each in found.items()}

    def _requests(self, wish: Wish) -> list[Request]:
        turns = wish.slot.history.turns if wish.slot.history is not None else ()
        prompt = self._asking(turns, wish.words)
        return [Request(f"{wish.id}/{n}", prompt, wish.words) for n in range(self._rules.drafts)]

    def _refusal(self, wish: Wish, draft: Written, context: Context) -> str | None:
        if not draft.finished:
            return "unfinished"
        return refusal(draft.text, wish.keywords, context, self._rules.limits, example_texts())

    def _filled(
        self,
        wishes: Sequence[Wish],
        texts: Mapping[str, list[_Text]],
        contexts: Sequence[Context],
        found: Sequence[dict[str, Candidate]],
        why: dict[str, str],
    ) -> list[Slot]:
        """Give each slot its likeliest text that does not fit its context; the slots that are left."""
        tried = [wish.slot for wish in wishes]
        left = {slot.id: list(texts.get(slot.id, ())) for slot in tried}
        while any(left.values()):
            best = [left[slot.id].pop(0) for slot in tried if left[slot.id]]
            for one, apart in zip(best, self._apart(best, contexts), strict=True):
                slot = one.wish.slot
                others = [words_of(other.text) for other in found[slot.place].values()]
                if any(alike(words_of(one.text), other) for other in others):
                    self._refuse(slot, "like-another", why)
                elif apart is not None and apart < self._rules.apart:
                    self._refuse(slot, "fits", why)
                else:
                    found[slot.place][slot.id] = _candidate(one, apart, contexts[slot.place])
                    left[slot.id] = []
        return [slot for slot in tried if slot.id not in found[slot.place]]

    def _apart(self, texts: Sequence[_Text], contexts: Sequence[Context]) -> list[float | None]:
        """By how much the loss of each text is higher after its context than after its history."""
        shown = [one for one in texts if one.wish.slot.history is not None]
        turns = [contexts[one.wish.slot.place].turns for one in shown]
        after = self._judge.after([one.text for one in shown], turns)
        if not shown:
            return [None] * len(texts)
        return [loss - one.reading.after for loss, one in zip(after, shown, strict=True)]


def _candidate(text: _Text, apart: float | None, context: Context) -> Candidate:
    wish, history = text.wish, text.wish.slot.history
    details = {"keywords": ", ".join(wish.words)}
    scores = {"perplexity": text.reading.perplexity}
    if history is not None:
        details["source"] = history.id
    if apart is not None:
        scores["apart"] = apart
    said = spaced_as(text.text, [turn.text for turn in context.turns])
    return Candidate(said, (CATEGORY,), scores, details)

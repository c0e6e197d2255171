"""Wrong responses that a language model writes around keywords of a context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.english.detokenize import spaced_as
from graphneg.english.tokens import words_of
from graphneg.errors import GeneratorError, InputError
from graphneg.generators.base import SLOW_BATCH, Candidate, Context, Turn
from graphneg.generators.keywords.filters import Limits, alike, refusal
from graphneg.generators.keywords.requests import (
    Amount,
    Histories,
    Material,
    Replacing,
    Slot,
    Wish,
    example_texts,
    is_trained,
    reply_examples,
    reply_request,
    sentence_examples,
    sentence_request,
    with_neighbours,
)
from graphneg.generators.keywords.writing import Bounds, Judge, Reading, Request, Style, Writer
from graphneg.nn.generation import Sampling
from graphneg.nn.language_models import CausalLM, Written
from graphneg.nn.models import load_causal
from graphneg.shift.keywords import get_extractor
from graphneg.store.connection import Store

if TYPE_CHECKING:
    from graphneg.nn.vectors import StaticVectors


# Wrong responses that a language model writes around keywords of a context.
#
# ``key-context`` and ``key-sem`` are those of Gupta et al. (2021, "Synthesizing Adversarial Negative
# Responses for Robust Response Ranking and Evaluation", section 3.2): a reply with keywords of the
# context, written for the history of another dialogue. ``key-sentence`` asks for an everyday
# sentence with one or two of them, and for no reply at all.
#
# Several texts are written for each response. What is broken is thrown out; of the rest the one that
# the model finds likeliest is kept, unless it is likely after the context itself as well.


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
            "model": str(self._writer.model.path),
            "judge": str(self._judge.model.path),
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


# The generators by name: their options, and the parts that these choose.


PULL = 3.0
"""How strongly keywords are drawn in by a model that was not trained to reply with given words."""


@dataclass(frozen=True, slots=True)
class Options:
    """What all generators of this kind take.

    ``model`` is the path or id of a causal language model (``gguf_file``, ``device`` and ``offline``
    as `graphneg.nn.models.load_causal` takes them); ``keywords`` the extractor, for a ``language``,
    with a ``spacy_model``. ``least`` and ``most`` keywords go into a text, which has at most ``words``
    words. ``temperature``, ``top_p`` and ``pull`` (how strongly keywords are drawn in; None: not at all
    for a trained model, else by `PULL`) say how texts are drawn, ``drafts``, ``draws`` and ``apart`` which of
    them are kept (`Rules`), as do ``surprise``, ``alone`` and ``worst`` (`Bounds`) of what the ``judge``
    finds, another causal language model by path or id.
    """

    model: str | Path | None = None
    gguf_file: str | None = None
    device: str = "auto"
    offline: bool = False
    keywords: str = "rake"
    language: str = "en"
    spacy_model: str | None = None
    least: int = 1
    most: int = 1
    words: int = 24
    temperature: float = 0.7
    top_p: float = 0.9
    pull: float | None = None
    drafts: int = 8
    draws: int = 4
    judge: str | Path | None = None
    surprise: float = 14.0
    alone: float = 40.0
    worst: float = 11.0
    apart: float = 0.3


def key_context(store: Store, **options: Any) -> KeywordGenerator:
    """``key-context``: a reply with keywords of the context, for the history of another dialogue."""
    return _replies("key-context", store, _checked("key-context", options), None)


def key_sem(store: Store, *, vectors: str | Path | None = None, **options: Any) -> KeywordGenerator:
    """``key-sem``: as ``key-context``, each keyword replaced with probability 0.5 by a near word.

    ``vectors`` is a file or folder of static word vectors, GloVe's in the paper.
    """
    chosen = _checked("key-sem", options)
    if vectors is None:
        raise GeneratorError("key-sem needs word vectors: option vectors=PATH, a GloVe file for example")
    from graphneg.nn.vectors import StaticVectors

    return _replies("key-sem", store, chosen, StaticVectors(vectors))


def key_sentence(store: Store, **options: Any) -> KeywordGenerator:
    """``key-sentence``: an everyday sentence with one or two keywords of the context, no reply at all."""
    chosen = _checked("key-sentence", options)
    judge, model = _models(chosen)
    return KeywordGenerator(
        "key-sentence",
        _material(chosen),
        Writer(model, sentence_examples(), _style(chosen, PULL)),
        _sentence,
        judge=judge,
        rules=_rules(chosen),
    )


def _replies(name: str, store: Store, chosen: Options, vectors: StaticVectors | None) -> KeywordGenerator:
    judge, model = _models(chosen)
    examples = "" if is_trained(model) else reply_examples()
    return KeywordGenerator(
        name,
        _material(chosen, Histories(store), None if vectors is None else partial(with_neighbours, vectors)),
        Writer(model, examples, _style(chosen, PULL if examples else 0.0)),
        reply_request,
        judge=judge,
        rules=_rules(chosen),
        made_of={} if vectors is None else {"vectors": vectors.name},
    )


def _sentence(history: Sequence[Turn], words: Sequence[str]) -> str:
    return sentence_request(words)


def _checked(name: str, options: Mapping[str, Any]) -> Options:
    known = [field.name for field in fields(Options)]
    strange = [option for option in options if option not in known]
    if strange:
        raise GeneratorError(
            f"generator {name} takes no option {' or '.join(map(repr, strange))}; it takes {', '.join(known)}"
        )
    if not options.get("model"):
        raise GeneratorError(f"{name} needs a language model: option model=PATH_OR_ID")
    chosen = Options(**options)
    _check_numbers(chosen)
    return chosen


def _check_numbers(chosen: Options) -> None:
    """Raises `InputError` for a number out of range before a model is read, which may take a minute."""
    _rules(chosen)
    _bounds(chosen)
    _style(chosen, PULL)
    Amount(chosen.least, chosen.most)


def _models(chosen: Options) -> tuple[Judge, CausalLM]:
    """The judge and the writer, which reads its own texts where no judge is named.

    The judge is loaded first: the writer may be a large model, to be read in vain where there is no judge.
    """
    judge = None
    if chosen.judge is not None:
        found = load_causal(chosen.judge, device=chosen.device, offline=chosen.offline)
        judge = Judge(found, _bounds(chosen))
    model = load_causal(
        chosen.model or "", gguf_file=chosen.gguf_file, device=chosen.device, offline=chosen.offline
    )
    return judge or Judge(model, _bounds(chosen)), model


def _bounds(chosen: Options) -> Bounds:
    return Bounds(chosen.surprise, chosen.alone, chosen.worst)


def _style(chosen: Options, pull: float) -> Style:
    search = Sampling(chosen.temperature, top_p=chosen.top_p)
    return Style(search, pull if chosen.pull is None else chosen.pull)


def _material(
    chosen: Options, histories: Histories | None = None, replacing: Replacing | None = None
) -> Material:
    extractor = get_extractor(chosen.keywords, chosen.language, chosen.spacy_model)
    return Material(extractor, Amount(chosen.least, chosen.most), histories, replacing, chosen.language)


def _rules(chosen: Options) -> Rules:
    return Rules(Limits(most=chosen.words), chosen.drafts, chosen.draws, chosen.apart)

"""The generator counterfactual: what would have been replied, had the reply moved elsewhere.

Contexts with replies whose perspectives are known go in. Another perspective is put in place of each, a
language model says what the reply would have been (`graphneg.generators.counterfactual_model`), and those of
its replies come out that are of use: new right replies (CAPT), or wrong ones. Which, decides where the
substitutes are from.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

from graphneg.english.tokens import words_of
from graphneg.errors import InputError
from graphneg.generators.base import SLOW_BATCH, UNRELATED, Candidate, Context, Shortfall
from graphneg.generators.counterfactual_model import (
    CounterfactualReply,
    Question,
    counterfactuals,
    examples_for,
    spaced_words,
)
from graphneg.generators.prompts import Exchange
from graphneg.generators.text_filters import (
    REASONS,
    Bounds,
    Limits,
    PerplexityFilter,
    alike,
    broken,
    shares_run,
)
from graphneg.hashing import number
from graphneg.nn.language_models import CausalLM, Seq2SeqLM
from graphneg.nn.models import load_causal, load_either
from graphneg.shift.candidates import Reach, Reply, posts, replies_of
from graphneg.shift.graphs import Shifts
from graphneg.shift.prediction import get_predictor
from graphneg.shift.substitutes import Prediction, substitutes_of
from graphneg.store.connection import Store

PULL = 3.0
PURPOSES = ("negatives", "positives")
_LEAST_WORDS = 3
_DRAWS = 8
"""Perspectives are drawn so many times for each that is used: most of those refused are frequent ones."""
_RANGE = 2.0**64
_REASONS = {
    **REASONS,
    "no-perspective": "no reply to the context has a known perspective",
    "no-substitute": "no other perspective is left to try",
    "known": "the text says what was said already",
}


class SubstituteSource(Protocol):
    """Where substitutes are from. ``name`` is the option ``purpose``; ``label`` and ``categories`` are those
    of the responses."""

    name: str
    label: int
    categories: tuple[str, ...]

    def substitutes(self, replies: Sequence[Reply], most: int, seed: int) -> list[list[str]]:
        """At most ``most`` other perspectives for each reply, the best first."""
        ...


class RelatedPerspectives:
    """New right replies: the perspective becomes one that another keyword before the reply leads to."""

    name = "positives"
    label = 1
    categories: tuple[str, ...] = ()

    def __init__(self, shifts: Shifts, how: Prediction) -> None:
        self._shifts = shifts
        self._how = how

    def substitutes(self, replies: Sequence[Reply], most: int, seed: int) -> list[list[str]]:
        """The predictor's choice (CAPT, Algorithm 1); it depends on no seed."""
        found = substitutes_of(self._shifts, replies, self._how)
        return [[substitute.text for substitute in each.ranked[:most]] for each in found]


class UnrelatedPerspectives:
    """Wrong replies: the perspective becomes one that replies of other contexts take.

    Drawn by their frequency, without what any keyword before the reply leads to, and
    without what was said before it or in it.
    """

    name = "negatives"
    label = 0
    categories: tuple[str, ...] = (UNRELATED,)

    def __init__(self, shifts: Shifts) -> None:
        self._shifts = shifts

    def substitutes(self, replies: Sequence[Reply], most: int, seed: int) -> list[list[str]]:
        """Drawn by hashes of the seed and the reply's id.

        Raises:
            InputError: the store has no shift graph.
        """
        if not self._shifts.prior:
            raise InputError("the store has no shift graph: graphneg shift build makes one")
        texts = list(self._shifts.prior)
        ends = list(accumulate(self._shifts.prior.values()))
        found: list[list[str]] = []
        seen = posts(self._shifts, replies, Reach(turns=len(replies[0].turns) if replies else 1, hops=1))
        for reply, post in zip(replies, seen, strict=True):
            near = {text for focus in post.foci for text in focus.candidates} | set(post.keywords)
            said = spaced_words(" ".join([*reply.turns, reply.text]))
            shares = (number(seed, reply.id, str(draw)) / _RANGE for draw in range(_DRAWS * most))
            drawn = (texts[min(bisect_right(ends, share * ends[-1]), len(texts) - 1)] for share in shares)
            far = dict.fromkeys(text for text in drawn if text not in near and f" {text} " not in said)
            found.append(list(far)[:most])
        return found


@dataclass(frozen=True, slots=True)
class Trials:
    """How replies are decoded: ``temperature``, and substitutes that are tried for each candidate.

    ``pull`` draws the substitute in; None is `PULL` for a model that was not trained, else 0. A reply is
    refused that has more than ``words`` words.
    """

    temperature: float = 0.7
    tries: int = 8
    pull: float | None = None
    words: int = 30


@dataclass(slots=True)
class _Asked:
    """A context, the questions that are asked for it, and why there are not more candidates."""

    context: Context
    questions: list[Question]
    missing: str
    candidates: list[Candidate] = field(default_factory=list[Candidate])


_Answered = tuple[_Asked, Question, CounterfactualReply]


class CounterfactualGenerator(Shortfall):
    """Replies as they would have been under other perspectives.

    The observed replies are the context's own and its right responses, as far as
    ``graphneg shift build`` found their perspectives; a context without one gets none. Several substitutes
    are tried for each candidate, and those replies are kept that the ``judge`` finds likeliest, of
    those that came to an end, have their keyword and do not say what was said; where none is given, the
    model itself judges, if it is a causal one. ``refused`` counts the others by why.
    """

    name = "counterfactual"
    batch = SLOW_BATCH

    def __init__(
        self,
        store: Store,
        model: CausalLM | Seq2SeqLM,
        source: SubstituteSource,
        trials: Trials | None = None,
        judge: PerplexityFilter | None = None,
    ) -> None:
        super().__init__(_REASONS)
        self.refused: Counter[str] = Counter()
        self._store = store
        self._model = model
        self._source = source
        self._trials = trials or Trials()
        self._judge = judge or (PerplexityFilter(model) if isinstance(model, CausalLM) else None)
        untrained = PULL if examples_for(model) else 0.0
        self._pull = untrained if self._trials.pull is None else self._trials.pull

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """At most ``per_context`` candidates for each context, in order.

        Raises:
            InputError: the store has no shift graph.
            ModelError: memory does not suffice for one reply.
        """
        asked = self._asked(contexts, per_context * self._trials.tries, seed)
        pairs = [(each, question) for each in asked for question in each.questions]
        replies = counterfactuals(
            self._model,
            [question for _, question in pairs],
            examples=examples_for(self._model),
            seed=seed,
            temperature=self._trials.temperature,
            pull=self._pull,
        )
        whole = [
            (each, question, reply)
            for (each, question), reply in zip(pairs, replies, strict=True)
            if self._passes(each, _refusal(each.context, question, reply, self._trials))
        ]
        for each, question, reply in self._likeliest(whole):
            if len(each.candidates) < per_context:
                self._keep(each, question, reply)
        for each in asked:
            self.leave_out(each.missing, each.context.id, per_context - len(each.candidates))
        return [each.candidates for each in asked]

    def settings(self) -> Mapping[str, object]:
        """See `graphneg.generators.base.Generator`."""
        return {
            "model": str(self._model.path),
            "purpose": self._source.name,
            "temperature": self._trials.temperature,
            "tries": self._trials.tries,
            "pull": self._pull,
            "judge": None if self._judge is None else str(self._judge.model.path),
            "bounds": None if self._judge is None else repr(self._judge.bounds),
            "words": self._trials.words,
        }

    def _asked(self, contexts: Sequence[Context], most: int, seed: int) -> list[_Asked]:
        observed = _observed(self._store, contexts)
        replies = [reply for each in observed for reply in each]
        texts = self._source.substitutes(replies, most, seed)
        questions = {
            reply.id: [_question(reply, text) for text in some]
            for reply, some in zip(replies, texts, strict=True)
        }
        return [
            _Asked(
                context,
                _in_turn([questions[reply.id] for reply in each])[:most],
                "no-substitute" if each else "no-perspective",
            )
            for context, each in zip(contexts, observed, strict=True)
        ]

    def _passes(self, asked: _Asked, reason: str | None) -> bool:
        """Whether there is no reason to refuse a reply; a reason is counted."""
        if reason is None:
            return True
        self.refused[reason] += 1
        asked.missing = reason
        return False

    def _likeliest(self, replies: Sequence[_Answered]) -> Sequence[_Answered]:
        """The replies that the judge lets pass, the likeliest first; all in their order without a judge."""
        if self._judge is None:
            return replies
        losses = self._judge.read(
            [reply.text for _, _, reply in replies], [asked.context.turns for asked, _, _ in replies]
        )
        ranked = [
            (found.mean if found is not None else 0.0, answered)
            for answered, found in zip(replies, losses, strict=True)
            if self._passes(answered[0], "surprising" if found is None else None)
        ]
        return [answered for _, answered in sorted(ranked, key=itemgetter(0))]

    def _keep(self, asked: _Asked, question: Question, reply: CounterfactualReply) -> None:
        known = [words_of(candidate.text) for candidate in asked.candidates]
        nearly = any(alike(words_of(reply.text), other) for other in known)
        if not self._passes(asked, "like-another" if nearly else None):
            return
        details = {
            "source": question.id.rpartition("~")[0],
            "perspective": question.observed.perspective,
            "substitute": question.substitute,
        }
        source = self._source
        asked.candidates.append(
            Candidate(reply.text, source.categories, {"kept": reply.kept}, details, source.label)
        )


def counterfactual(
    store: Store,
    *,
    model: str | Path | None = None,
    purpose: str = "negatives",
    predictor: str = "frequency",
    predictor_options: Mapping[str, Any] | None = None,
    turns: int = 3,
    hops: int = 1,
    temperature: float = 0.7,
    tries: int = 8,
    pull: float | None = None,
    judge: str | Path | None = None,
    surprise: float = 14.0,
    alone: float = 40.0,
    worst: float = 11.0,
    words: int = 30,
    gguf_file: str | None = None,
    device: str = "auto",
    batch_size: int = 16,
    offline: bool = False,
) -> CounterfactualGenerator:
    """The generator ``counterfactual``.

    ``model`` is the folder or hub id of a causal or sequence-to-sequence model, best one that
    `train_replies` trained. ``purpose`` is ``negatives`` or ``positives``; for positives, ``predictor``
    with its options chooses among what keywords of the last ``turns`` turns lead to in ``hops`` hops.
    ``tries`` is how many substitutes are tried for each candidate, ``pull`` how strongly a
    missing one is drawn in (where not given, only for a model that was not trained); ``surprise``, ``alone``
    and ``worst`` say which replies are refused (`Bounds`) of what the ``judge`` finds, another causal
    language model by path or id, and ``words`` which are too long.

    Raises:
        InputError: no model is named, another purpose, or a number out of range.
        ModelError: the model or the predictor can't be had.
    """
    if model is None:
        raise InputError("counterfactual needs a model: give a folder or a hub id as the option model")
    if purpose not in PURPOSES:
        raise InputError(f"purpose {purpose!r}: choose one of {', '.join(PURPOSES)}")
    if temperature <= 0 or tries < 1 or batch_size < 1 or (pull or 0.0) < 0:
        raise InputError("temperature must be above 0, tries and batch_size at least 1, pull not below 0")
    if words < 1:
        raise InputError("words must be at least 1")
    trials, bounds = Trials(temperature, tries, pull, words), Bounds(surprise, alone, worst)
    shifts = Shifts(store)
    source: SubstituteSource = UnrelatedPerspectives(shifts)
    if purpose == "positives":
        chosen = get_predictor(predictor, **(predictor_options or {}))
        source = RelatedPerspectives(shifts, Prediction(chosen, Reach(turns=turns, hops=hops)))
    loaded = load_either(model, gguf_file=gguf_file, device=device, offline=offline)
    loaded.batch_size = batch_size
    reader = loaded if judge is None else load_causal(judge, device=device, offline=offline)
    filter = PerplexityFilter(reader, bounds) if isinstance(reader, CausalLM) else None
    return CounterfactualGenerator(store, loaded, source, trials, filter)


def _observed(store: Store, contexts: Sequence[Context]) -> list[list[Reply]]:
    """The replies that each context is known to have and whose perspective is known."""
    dialogues = list(dict.fromkeys(context.dialogue for context in contexts))
    known: dict[tuple[str, int], list[Reply]] = {}
    for reply in replies_of(store, dialogues):
        if reply.perspective is not None:
            known.setdefault((reply.id.partition("#")[0], len(reply.turns)), []).append(reply)
    return [known.get((context.dialogue, context.turn), []) for context in contexts]


def _question(reply: Reply, substitute: str) -> Question:
    observed = Exchange(reply.turns, reply.perspective or "", reply.text)
    return Question(f"{reply.id}~{substitute}", observed, substitute)


def _in_turn(lists: Sequence[Sequence[Question]]) -> list[Question]:
    """The first question of each reply, then the second of each, and so on; no substitute twice."""
    mixed = [question for question in chain.from_iterable(zip_longest(*lists)) if question is not None]
    return list({question.substitute: question for question in reversed(mixed)}.values())[::-1]


def _refusal(context: Context, question: Question, reply: CounterfactualReply, trials: Trials) -> str | None:
    """Why a reply is none to keep, as a name; None where it may be kept."""
    words = words_of(reply.text)
    if not reply.finished:
        return "unfinished"
    limits = Limits(least=_LEAST_WORDS, most=trials.words)
    reason = broken(reply.text, [question.substitute.split()], limits)
    if reason is not None:
        return reason
    said = [turn.text for turn in context.turns]
    known = [question.observed.response, *context.positives, *said]
    if any(words_of(text) == words for text in known):
        return "known"
    if any(shares_run(words, words_of(text)) for text in said):
        return "copies-context"
    return None

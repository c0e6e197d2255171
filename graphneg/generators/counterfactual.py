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
from typing import Any

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
from graphneg.generators.keywords.writing import WritingOptions, options_of
from graphneg.generators.prompts import Exchange
from graphneg.generators.text_filters import (
    REASONS,
    Limits,
    PerplexityFilter,
    alike,
    broken,
    shares_run,
)
from graphneg.hashing import number
from graphneg.nn.language_models import CausalLM
from graphneg.nn.models import load_either
from graphneg.shift.candidates import Reach, Reply, posts, replies_of
from graphneg.shift.graphs import Shifts
from graphneg.shift.prediction import get_predictor
from graphneg.shift.substitutes import Prediction, substitutes_of
from graphneg.store.connection import Store

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


class RelatedPerspectives:
    """New right replies: the perspective becomes one that another keyword before the reply leads to."""

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
class CounterfactualOptions(WritingOptions):
    """What the generator takes beside `WritingOptions`; best is a ``model`` that `train_replies` trained.

    ``purpose`` is ``negatives`` or ``positives``; for positives, ``predictor`` with its options chooses among
    what keywords of the last ``turns`` turns lead to in ``hops`` hops. ``tries`` substitutes are tried for
    each candidate, ``batch_size`` at a time; a reply is refused that has more than ``words`` words.

    Raises:
        InputError: another purpose, or a number out of range.
    """

    purpose: str = "negatives"
    predictor: str = "frequency"
    predictor_options: Mapping[str, Any] | None = None
    turns: int = 3
    hops: int = 1
    tries: int = 8
    words: int = 30
    batch_size: int = 16

    def __post_init__(self) -> None:
        if self.purpose not in PURPOSES:
            raise InputError(f"purpose {self.purpose!r}: choose one of {', '.join(PURPOSES)}")
        if self.temperature <= 0 or self.tries < 1 or self.batch_size < 1 or (self.pull or 0.0) < 0:
            raise InputError("temperature must be above 0, tries and batch_size at least 1, pull not below 0")
        if self.words < 1:
            raise InputError("words must be at least 1")
        _ = self.bounds, self.reach

    @property
    def reach(self) -> Reach:
        """Where new perspectives are looked for."""
        return Reach(turns=self.turns, hops=self.hops)


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

    def __init__(self, store: Store, options: CounterfactualOptions) -> None:
        super().__init__(_REASONS)
        self.refused: Counter[str] = Counter()
        self._store = store
        self._options = options
        shifts = Shifts(store)
        self._source: RelatedPerspectives | UnrelatedPerspectives = UnrelatedPerspectives(shifts)
        if options.purpose == "positives":
            predictor = get_predictor(options.predictor, **(options.predictor_options or {}))
            self._source = RelatedPerspectives(shifts, Prediction(predictor, options.reach))
        self._model = load_either(
            options.model or "", gguf_file=options.gguf_file, device=options.device, offline=options.offline
        )
        self._model.batch_size = options.batch_size
        reader = options.load_judge() or self._model
        self._judge = PerplexityFilter(reader, options.bounds) if isinstance(reader, CausalLM) else None
        self._pull = options.pull_of(trained=not examples_for(self._model))

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """At most ``per_context`` candidates for each context, in order.

        Raises:
            InputError: the store has no shift graph.
            ModelError: memory does not suffice for one reply.
        """
        asked = self._asked(contexts, per_context * self._options.tries, seed)
        pairs = [(each, question) for each in asked for question in each.questions]
        replies = counterfactuals(
            self._model,
            [question for _, question in pairs],
            examples=examples_for(self._model),
            seed=seed,
            temperature=self._options.temperature,
            pull=self._pull,
        )
        whole = [
            (each, question, reply)
            for (each, question), reply in zip(pairs, replies, strict=True)
            if self._passes(each, _refusal(each.context, question, reply, self._options.words))
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
            "purpose": self._options.purpose,
            "temperature": self._options.temperature,
            "tries": self._options.tries,
            "pull": self._pull,
            "judge": None if self._judge is None else str(self._judge.model.path),
            "bounds": None if self._judge is None else repr(self._judge.bounds),
            "words": self._options.words,
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


def counterfactual(store: Store, **options: Any) -> CounterfactualGenerator:
    """The generator ``counterfactual``, with `CounterfactualOptions`.

    Raises:
        GeneratorError: no model is named, or there is no such option.
        InputError: another purpose, or a number out of range.
        ModelError: the model or the predictor can't be had.
    """
    return CounterfactualGenerator(store, options_of(CounterfactualOptions, "counterfactual", options))


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


def _refusal(context: Context, question: Question, reply: CounterfactualReply, most: int) -> str | None:
    """Why a reply is none to keep, as a name; None where it may be kept."""
    words = words_of(reply.text)
    if not reply.finished:
        return "unfinished"
    limits = Limits(least=_LEAST_WORDS, most=most)
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

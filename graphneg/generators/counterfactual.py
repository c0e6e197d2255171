"""The generator counterfactual: what would have been replied, had the reply moved elsewhere.

Contexts with replies whose perspectives are known go in. Another perspective is put in place of each, a
language model says what the reply would have been (`graphneg.generators.counterfactual_model`), and those of
its replies come out that are of use: new right replies (CAPT), or wrong ones. Which, decides where the
substitutes are from.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, zip_longest
from operator import itemgetter
from typing import Any, ClassVar

from graphneg.english.tokens import words_of
from graphneg.errors import InputError
from graphneg.generators.base import UNRELATED, Candidate, Context, options_of
from graphneg.generators.counterfactual_model import (
    CounterfactualReply,
    Question,
    counterfactuals,
    examples_for,
    other_replies,
    spaced_words,
)
from graphneg.generators.prompts import Exchange
from graphneg.generators.text_filters import alike, broken, shares_run
from graphneg.generators.writing import Gap, WritingGenerator, WritingOptions
from graphneg.hashing import number
from graphneg.nn.models import load_either
from graphneg.nn.writers import LocalWriter
from graphneg.shift.candidates import Reach, Reply, posts, replies_of
from graphneg.shift.graphs import Shifts
from graphneg.shift.prediction import get_predictor
from graphneg.shift.substitutes import Prediction, substitutes_of
from graphneg.store.connection import Store

PURPOSES = ("negatives", "positives")
_DRAWS = 8
"""Perspectives are drawn so many times for each that is used: most of those refused are frequent ones."""
_RANGE = 2.0**64
_REASONS = {
    "no-perspective": "no reply to the context has a known perspective",
    "no-substitute": "no other perspective is left to try",
    "known": "the text says what was said already",
}


@dataclass(frozen=True, slots=True)
class CounterfactualOptions(WritingOptions):
    """What the generator takes beside `WritingOptions`; best is a ``model`` that `train_replies` trained.

    ``purpose`` is ``negatives`` or ``positives``; for positives, ``predictor`` with its options chooses among
    what keywords of the last ``turns`` turns lead to in ``hops`` hops. ``tries`` substitutes are tried for
    each candidate, ``batch_size`` at a time; a reply is refused that has more than ``words`` words.

    Raises:
        InputError: another purpose, or a number out of range.
    """

    least_words: ClassVar[int] = 3

    words: int = 30
    purpose: str = "negatives"
    predictor: str = "frequency"
    predictor_options: Mapping[str, Any] | None = None
    turns: int = 3
    hops: int = 1
    tries: int = 8
    batch_size: int = 16

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        WritingOptions.__post_init__(self)
        if self.purpose not in PURPOSES:
            raise InputError(f"purpose {self.purpose!r}: choose one of {', '.join(PURPOSES)}")
        if self.tries < 1 or self.batch_size < 1:
            raise InputError("tries and batch_size at least 1")
        _ = self.reach

    @property
    def reach(self) -> Reach:
        """Where new perspectives are looked for."""
        return Reach(turns=self.turns, hops=self.hops)


@dataclass(slots=True)
class _Asked(Gap):
    """A context with the questions that are asked for it."""

    questions: Sequence[Question] = field(default_factory=list[Question])


class CounterfactualGenerator(WritingGenerator):
    """Replies as they would have been under other perspectives.

    The observed replies are the context's own and its right responses, as far as
    ``graphneg shift build`` found their perspectives; a context without one gets none. Several substitutes
    are tried for each candidate, and those replies are kept that the ``judge`` finds likeliest, of
    those that came to an end, have their keyword and do not say what was said; where none is given, the
    model itself judges, if it is a causal one.
    """

    name = "counterfactual"

    def __init__(self, store: Store, options: CounterfactualOptions) -> None:
        writer, judge = options.load(self.name, load_either)
        super().__init__(_REASONS, options, writer, judge)
        self._store = store
        self._options = options
        self._right = options.purpose == "positives"
        self._shifts = Shifts(store)
        self._prediction: Prediction | None = None
        if self._right:
            predictor = get_predictor(options.predictor, **(options.predictor_options or {}))
            self._prediction = Prediction(predictor, options.reach)
        local = writer.model if isinstance(writer, LocalWriter) else None
        if local is not None:
            local.batch_size = options.batch_size
        self._pull = options.pull_of(trained=local is not None and not examples_for(local))

    def written(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[_Asked]:
        """See `graphneg.generators.writing.WritingGenerator`: the likeliest replies come first.

        Raises:
            InputError: the store has no shift graph.
            ModelError: memory does not suffice for one reply.
        """
        asked = self._asked(contexts, per_context, seed)
        pairs = [(each, question) for each in asked for question in each.questions]
        questions = [question for _, question in pairs]
        replies = self._replies(questions, seed)
        whole = [
            (each, question, reply)
            for (each, question), reply in zip(pairs, replies, strict=True)
            if self.passes(each, _refusal(each.context, question, reply, self._options.lengths))
        ]
        for each, question, reply in self._likeliest(whole):
            if len(each.candidates) < per_context:
                nearly = any(alike(words_of(reply.text), words_of(one.text)) for one in each.candidates)
                if self.passes(each, "like-another" if nearly else None):
                    each.candidates.append(_candidate(question, reply, self._right))
        return asked

    def _replies(self, questions: Sequence[Question], seed: int) -> Sequence[CounterfactualReply]:
        """The reply to each question: as the model of this machine would have said it, else any with the
        substitute."""
        writer, temperature = self.writer, self._options.temperature
        if not isinstance(writer, LocalWriter):
            return other_replies(writer, questions, seed=seed, temperature=temperature)
        model, shown = writer.model, examples_for(writer.model)
        return counterfactuals(
            model, questions, examples=shown, seed=seed, temperature=temperature, pull=self._pull
        )

    def settings(self) -> Mapping[str, object]:
        """See `graphneg.generators.base.Generator`."""
        return {
            **self._options.settings(),
            **self.models,
            "pull": self._pull,
        }

    def _asked(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[_Asked]:
        """The questions for each context: the first substitute of each reply, then the second of each..."""
        most = per_context * self._options.tries
        known: dict[tuple[str, int], list[Reply]] = {}
        for reply in replies_of(self._store, list(dict.fromkeys(context.dialogue for context in contexts))):
            if reply.perspective is not None:
                known.setdefault((reply.id.partition("#")[0], len(reply.turns)), []).append(reply)
        observed = [known.get((context.dialogue, context.turn), []) for context in contexts]
        replies = [reply for each in observed for reply in each]
        questions: dict[str, list[Question]] = {}
        for reply, texts in zip(replies, self._substitutes(replies, most, seed), strict=True):
            exchange = Exchange(reply.turns, reply.perspective or "", reply.text)
            questions[reply.id] = [Question(f"{reply.id}~{text}", exchange, text) for text in texts]
        asked: list[_Asked] = []
        for context, each in zip(contexts, observed, strict=True):
            in_turn = chain.from_iterable(zip_longest(*(questions[reply.id] for reply in each)))
            backward = reversed([question for question in in_turn if question is not None])
            distinct = list({question.substitute: question for question in backward}.values())[::-1]
            reason = "no-substitute" if each else "no-perspective"
            asked.append(_Asked(context, reason, per_context, questions=distinct[:most]))
        return asked

    def _substitutes(self, replies: Sequence[Reply], most: int, seed: int) -> list[list[str]]:
        """Other perspectives for each reply: for new right ones the predictor's choice, whatever the seed. It
        chooses among what another keyword before the reply leads to (CAPT, Algorithm 1)."""
        if self._prediction is None:
            return unrelated_perspectives(self._shifts, replies, most, seed)
        found = substitutes_of(self._shifts, replies, self._prediction)
        return [[substitute.text for substitute in each.ranked[:most]] for each in found]

    def _likeliest(
        self, replies: Sequence[tuple[_Asked, Question, CounterfactualReply]]
    ) -> Sequence[tuple[_Asked, Question, CounterfactualReply]]:
        """The replies that the judge lets pass, the likeliest first; all in their order without a judge."""
        if self.judge is None:
            return replies
        histories = [asked.context.turns for asked, _, _ in replies]
        losses = self.judge.read([reply.text for _, _, reply in replies], histories)
        ranked = [
            (0.0 if found is None else found.mean, answered)
            for answered, found in zip(replies, losses, strict=True)
            if self.passes(answered[0], "surprising" if found is None else None)
        ]
        return [answered for _, answered in sorted(ranked, key=itemgetter(0))]


def counterfactual(store: Store, **options: Any) -> CounterfactualGenerator:
    """The generator ``counterfactual``, with `CounterfactualOptions`.

    Raises:
        GeneratorError: no model is named, or there is no such option.
        InputError: another purpose, or a number out of range.
        ModelError: the model or the predictor can't be had.
    """
    return CounterfactualGenerator(store, options_of(CounterfactualOptions, "counterfactual", options))


def unrelated_perspectives(shifts: Shifts, replies: Sequence[Reply], most: int, seed: int) -> list[list[str]]:
    """For wrong replies: perspectives that replies of other contexts take.

    Drawn by their frequency, by hashes of the seed and the reply's id, without what any keyword before the
    reply leads to, and without what was said before it or in it.

    Raises:
        InputError: the store has no shift graph.
    """
    if not shifts.prior:
        raise InputError("the store has no shift graph: graphneg shift build makes one")
    texts = list(shifts.prior)
    ends = list(accumulate(shifts.prior.values()))
    found: list[list[str]] = []
    reach = Reach(turns=max((len(reply.turns) for reply in replies), default=1), hops=1)
    seen = posts(shifts, replies, reach)
    for reply, post in zip(replies, seen, strict=True):
        near = {text for focus in post.foci for text in focus.candidates} | set(post.keywords)
        said = spaced_words(" ".join([*reply.turns, reply.text]))
        shares = (number(seed, reply.id, str(draw)) / _RANGE for draw in range(_DRAWS * most))
        drawn = (texts[min(bisect_right(ends, share * ends[-1]), len(texts) - 1)] for share in shares)
        far = dict.fromkeys(text for text in drawn if text not in near and f" {text} " not in said)
        found.append(list(far)[:most])
    return found


def _refusal(context: Context, question: Question, reply: CounterfactualReply, lengths: range) -> str | None:
    """Why a reply is none to keep, as a name; None where it may be kept."""
    if not reply.finished:
        return "unfinished"
    if (reason := broken(reply.text, [question.substitute.split()], lengths)) is not None:
        return reason
    words = words_of(reply.text)
    said = [turn.text for turn in context.turns]
    if any(words_of(text) == words for text in (question.observed.response, *context.right, *said)):
        return "known"
    return "copies-context" if any(shares_run(words, words_of(text)) for text in said) else None


def _candidate(question: Question, reply: CounterfactualReply, right: bool) -> Candidate:
    details = {
        "source": question.id.rpartition("~")[0],
        "perspective": question.observed.perspective,
        "substitute": question.substitute,
    }
    return Candidate(reply.text, () if right else (UNRELATED,), {"kept": reply.kept}, details, int(right))

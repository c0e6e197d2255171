"""Generate replies to a context with a different perspective (CAPT, Ou et al. 2022).

The perspective of a reply is the keyword that the reply is about, for example *jacket* in "Did you look in
your jacket?". The generator takes a reply whose perspective is known (the observed reply) from the store. It
replaces the perspective by another keyword (the substitute). A language model then writes what the reply
would have been with the substitute (`graphneg.generators.counterfactual_model`)::

    A: I can't find my keys anywhere.
    observed         B (jacket): Did you look in your jacket?
    counterfactual   B (train):  Did you leave them on the train?

The generator makes wrong or correct replies, depending on how the substitute is chosen. For wrong replies,
the substitute is a perspective that is unrelated to the context. For correct replies, as in CAPT, a predictor
chooses a keyword that often follows the keywords of the context.
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
from graphneg.generators.prompted_generation import Gap, WritingGenerator, WritingOptions
from graphneg.generators.prompts import Exchange
from graphneg.generators.text_filters import have_nearly_same_words, malformed_reason, shares_run
from graphneg.hashing import number
from graphneg.nn.models import load_either
from graphneg.nn.writers import LocalWriter
from graphneg.shift.candidates import CandidateOptions, Reply, posts, replies_of
from graphneg.shift.graphs import ShiftGraph
from graphneg.shift.prediction import get_predictor
from graphneg.shift.substitutes import Prediction, substitutes_of
from graphneg.store.connection import Store

PURPOSES = ("negatives", "positives")
"""Values of the option ``purpose``: ``negatives`` for wrong replies, ``positives`` for new correct
replies."""
_DRAWS = 8
"""Number of keywords to draw at random for each substitute that is needed. One draw would not be enough,
because frequent keywords are drawn several times, and keywords that are related to the context are
rejected."""
_RANGE = 2.0**64
_REASONS = {
    "no-perspective": "no reply to the context has a known perspective",
    "no-substitute": "no other perspective is left to try",
    "known": "the text repeats a correct response or a turn of the context",
}


@dataclass(frozen=True, slots=True)
class CounterfactualOptions(WritingOptions):
    """Options of the generator ``counterfactual``, in addition to those of `WritingOptions`.

    The generator works best with a ``model`` that was trained by
    `graphneg.generators.counterfactual_model.train_counterfactual_replies`.

    Attributes:
        max_words: Maximum number of words in a reply.
        purpose: ``negatives`` for wrong replies, ``positives`` for new correct replies.
        predictor: Name of the predictor that chooses substitutes for ``positives``.
        predictor_options: Options with which the predictor is created, keyed by name; None for its defaults.
        turns: For ``positives``: number of most recent turns of the context from whose keywords the predictor
            starts.
        hops: For ``positives``: maximum number of edges in the shift graph from such a keyword to a
            substitute, 1 or 2. The shift graph has an edge from a keyword of a turn to the perspective of
            each reply to this turn.
        tries: Number of substitutes to try for each candidate that is needed.
        batch_size: Number of prompts that a local model processes in one batch.

    Raises:
        InputError: ``purpose`` has an unknown value, or a number is out of range.
    """

    min_words: ClassVar[int] = 3

    max_words: int = 30
    purpose: str = "negatives"
    predictor: str = "frequency"
    predictor_options: Mapping[str, Any] | None = None
    turns: int = 3
    hops: int = 1
    tries: int = 8
    batch_size: int = 16

    def __post_init__(self) -> None:
        """Check that the options have valid values."""
        WritingOptions.__post_init__(self)
        if self.purpose not in PURPOSES:
            raise InputError(f"unknown purpose {self.purpose!r}; choose one of {', '.join(PURPOSES)}")
        if self.tries < 1 or self.batch_size < 1:
            raise InputError("tries and batch_size must be at least 1")
        # `substitute_limits` creates a `CandidateOptions`, which raises an error if `turns` or `hops` is
        # invalid.
        _ = self.substitute_limits

    @property
    def substitute_limits(self) -> CandidateOptions:
        """The options ``turns`` and ``hops``, as a `CandidateOptions` object."""
        return CandidateOptions(turns=self.turns, hops=self.hops)


@dataclass(slots=True)
class _ContextQuestions(Gap):
    """A context that needs candidates, and the questions to the language model for this context.

    A question asks what a reply from the store would have been with another keyword. For example: What would
    "Yes, some fish." have been with the keyword *milk*?
    """

    questions: Sequence[Question] = field(default_factory=list[Question])


class CounterfactualGenerator(WritingGenerator):
    """Generate replies with different perspectives.

    The perspective of a reply is the keyword to which it moves the conversation. The generator starts from
    the correct responses whose perspectives ``graphneg shift build`` has found (observed replies), and gives
    them other perspectives (substitutes). A context without observed replies gets no candidate. For each
    candidate that is needed, several substitutes are tried. A generated reply is accepted if it is complete,
    contains its substitute and does not repeat an earlier text. The accepted replies with the lowest loss
    under the ``judge`` model are returned. If no judge is given, a local causal model judges its own replies.
    """

    name = "counterfactual"

    def __init__(self, store: Store, options: CounterfactualOptions) -> None:
        """Initialize the generator and load its models.

        Args:
            store: Store that contains the dialogues and the shift graph.
            options: Options of the generator, which also name the models.
        """
        writer, judge = options.load(self.name, load_either)
        super().__init__(_REASONS, options, writer, judge)
        self._store = store
        self._options = options
        self._right = options.purpose == "positives"
        self._shifts = ShiftGraph(store)
        self._prediction: Prediction | None = None
        if self._right:
            predictor = get_predictor(options.predictor, **(options.predictor_options or {}))
            self._prediction = Prediction(predictor, options.substitute_limits)
        local = writer.model if isinstance(writer, LocalWriter) else None
        if local is not None:
            local.batch_size = options.batch_size
        # The prompt asks for a reply about a certain keyword. A model that was trained for this task obeys,
        # so by default its logits get no bias toward the keyword.
        self._pull = options.keyword_bias_of(trained=local is not None and not examples_for(local))

    def write_candidates(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> list[_ContextQuestions]:
        """Write replies to each context, with other perspectives than the replies in the store.

        Args:
            contexts: Contexts that need replies.
            per_context: Maximum number of candidates per context.
            seed: Seed for drawing the substitutes and the sampling noise.

        Returns:
            One object per context, in the order of ``contexts``. Its attribute ``candidates`` contains the
            replies for this context, sorted by the loss that the judge (a language model) gives to them,
            lowest first.
        """
        asked = self._questions_for(contexts, per_context, seed)
        pairs = [(each, question) for each in asked for question in each.questions]
        questions = [question for _, question in pairs]
        replies = self._replies(questions, seed)
        whole = [
            (each, question, reply)
            for (each, question), reply in zip(pairs, replies, strict=True)
            if self.accept(each, _refusal(each.context, question, reply, self._options.lengths))
        ]
        for each, question, reply in self._likeliest(whole):
            if len(each.candidates) < per_context:
                # Replies with different keywords are often nearly the same text. Use only the first of them.
                nearly = any(
                    have_nearly_same_words(words_of(reply.text), words_of(one.text))
                    for one in each.candidates
                )
                if self.accept(each, "like-another" if nearly else None):
                    each.candidates.append(_candidate(question, reply, self._right))
        return asked

    def _replies(self, questions: Sequence[Question], seed: int) -> Sequence[CounterfactualReply]:
        """Return a reply for each question: a reply from the store, as it would be with another keyword.

        A local model computes a counterfactual reply, for which its logits are needed. A server does not
        return logits. A served model is therefore only prompted to write another reply with the keyword.
        """
        writer, temperature = self.writer, self._options.temperature
        if not isinstance(writer, LocalWriter):
            return other_replies(writer, questions, seed=seed, temperature=temperature)
        model, shown = writer.model, examples_for(writer.model)
        return counterfactuals(
            model, questions, examples=shown, seed=seed, temperature=temperature, keyword_bias=self._pull
        )

    def settings(self) -> Mapping[str, object]:
        """Return everything that determines the candidates: the options, and descriptions of the models."""
        return {
            **self._options.settings(),
            **self.models,
            "keyword_bias": self._pull,
        }

    def _questions_for(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> list[_ContextQuestions]:
        """Create the questions to the language model for each context.

        A question asks what an observed reply would have been with a substitute for its perspective (the
        keyword to which it shifts the topic).

        Returns:
            The contexts with their questions.
        """
        most = per_context * self._options.tries
        known: dict[tuple[str, int], list[Reply]] = {}
        for reply in replies_of(self._store, list(dict.fromkeys(context.dialogue for context in contexts))):
            if reply.perspective is not None:
                # A reply answers a context if it is from the same dialogue and has as many turns before it as
                # the context.
                known.setdefault((reply.id.partition("#")[0], len(reply.turns)), []).append(reply)
        observed = [known.get((context.dialogue, context.turn), []) for context in contexts]
        replies = [reply for each in observed for reply in each]
        questions: dict[str, list[Question]] = {}
        for reply, texts in zip(replies, self._substitutes(replies, most, seed), strict=True):
            exchange = Exchange(reply.turns, reply.perspective or "", reply.text)
            questions[reply.id] = [Question(f"{reply.id}~{text}", exchange, text) for text in texts]
        asked: list[_ContextQuestions] = []
        for context, each in zip(contexts, observed, strict=True):
            # Take the first question about each reply, then the second question about each reply, and so on.
            # If not all questions are used, the first ones then still cover as many replies as possible.
            in_turn = chain.from_iterable(zip_longest(*(questions[reply.id] for reply in each)))
            # Questions about different replies may ask for the same keyword. Keep only the first of these
            # questions. A dict keeps the last value of a key, so reverse the list.
            backward = reversed([question for question in in_turn if question is not None])
            distinct = list({question.substitute: question for question in backward}.values())[::-1]
            reason = "no-substitute" if each else "no-perspective"
            asked.append(_ContextQuestions(context, reason, per_context, questions=distinct[:most]))
        return asked

    def _substitutes(self, replies: Sequence[Reply], most: int, seed: int) -> list[list[str]]:
        """Return up to ``most`` keywords for each reply, which can replace the reply's own keyword."""
        if self._prediction is None:
            return unrelated_perspectives(self._shifts, replies, most, seed)
        # As in CAPT (Ou et al. 2022, Algorithm 1), choose keywords to which replies often move from the
        # keywords of the context, according to the shift graph. The choice is not random, so the seed is not
        # used.
        found = substitutes_of(self._shifts, replies, self._prediction)
        return [[substitute.text for substitute in each.ranked[:most]] for each in found]

    def _likeliest(
        self, replies: Sequence[tuple[_ContextQuestions, Question, CounterfactualReply]]
    ) -> Sequence[tuple[_ContextQuestions, Question, CounterfactualReply]]:
        """Return the replies that the judge (a language model) accepts, sorted by mean loss, lowest first."""
        if self.judge is None:
            return replies
        histories = [asked.context.turns for asked, _, _ in replies]
        losses = self.judge.read([reply.text for _, _, reply in replies], histories)
        ranked = [
            (0.0 if found is None else found.mean, answered)
            for answered, found in zip(replies, losses, strict=True)
            if self.accept(answered[0], "surprising" if found is None else None)
        ]
        return [answered for _, answered in sorted(ranked, key=itemgetter(0))]


def counterfactual(store: Store, **options: Any) -> CounterfactualGenerator:
    """Create the generator ``counterfactual``, which writes replies with a different perspective.

    The options are the fields of `CounterfactualOptions`.

    Args:
        store: Store that contains the dialogues and the shift graph.
        options: Fields of `CounterfactualOptions`, as keyword arguments.

    Returns:
        The new generator.
    """
    return CounterfactualGenerator(store, options_of(CounterfactualOptions, "counterfactual", options))


def unrelated_perspectives(
    shifts: ShiftGraph, replies: Sequence[Reply], most: int, seed: int
) -> list[list[str]]:
    """Draw substitutes for wrong replies: perspectives that are not related to the context.

    The probability of a perspective is proportional to its frequency in the whole store. A perspective is
    rejected if the shift graph has an edge to it from a keyword of the context, or if the observed reply or a
    turn before the reply contains it.

    Args:
        shifts: Shift graph of the store.
        replies: Observed replies, which need other perspectives.
        most: Maximum number of perspectives per reply.
        seed: Seed for the draws. The draws for a reply depend only on the seed and the id of the reply.

    Returns:
        One list per reply, with up to ``most`` perspectives in the order in which they were drawn.

    Raises:
        InputError: The store has no shift graph.
    """
    if not shifts.prior:
        raise InputError("the store has no shift graph: run graphneg shift build")
    # Draw perspectives in proportion to their frequencies (inverse transform sampling): look up a uniform
    # random number in the cumulative frequencies.
    texts = list(shifts.prior)
    ends = list(accumulate(shifts.prior.values()))
    found: list[list[str]] = []
    reach = CandidateOptions(turns=max((len(reply.turns) for reply in replies), default=1), hops=1)
    seen = posts(shifts, replies, reach)
    for reply, post in zip(replies, seen, strict=True):
        # Reject a keyword if replies in the store move to it from a keyword of the context, because a reply
        # about it may be correct.
        near = {text for focus in post.foci for text in focus.candidates} | set(post.keywords)
        said = spaced_words(" ".join([*reply.turns, reply.text]))
        shares = (number(seed, reply.id, str(draw)) / _RANGE for draw in range(_DRAWS * most))
        drawn = (texts[min(bisect_right(ends, share * ends[-1]), len(texts) - 1)] for share in shares)
        far = dict.fromkeys(text for text in drawn if text not in near and f" {text} " not in said)
        found.append(list(far)[:most])
    return found


def _refusal(context: Context, question: Question, reply: CounterfactualReply, lengths: range) -> str | None:
    """Return the code of the reason for rejecting a generated reply, or None if the reply is accepted."""
    if not reply.finished:
        return "unfinished"
    if (reason := malformed_reason(reply.text, [question.substitute.split()], lengths)) is not None:
        return reason
    words = words_of(reply.text)
    said = [turn.text for turn in context.turns]
    # The generated reply must not repeat the observed reply, a correct response or a turn of the context.
    if any(
        words_of(text) == words for text in (question.observed.response, *context.correct_responses, *said)
    ):
        return "known"
    return "copies-context" if any(shares_run(words, words_of(text)) for text in said) else None


def _candidate(question: Question, reply: CounterfactualReply, right: bool) -> Candidate:
    """Convert a reply of the model into a candidate, with label 1 if ``right`` is true, otherwise 0."""
    details = {
        # The id of a question consists of the id of a reply and a keyword, such as "d#2~milk". Store the id
        # of the reply.
        "source": question.id.rpartition("~")[0],
        "perspective": question.observed.perspective,
        "substitute": question.substitute,
    }
    return Candidate(
        reply.text, () if right else (UNRELATED,), {"kept": reply.unchanged_fraction}, details, int(right)
    )

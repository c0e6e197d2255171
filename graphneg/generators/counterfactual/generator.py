"""Counterfactual replies to the contexts of a store, those that are of use among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest

from graphneg.counterfactual import Answer, Exchange, Question, counterfactuals, examples_for
from graphneg.generators.base import Candidate, Context
from graphneg.generators.counterfactual.purpose import Purpose
from graphneg.generators.keywords.screening import alike, goes_round
from graphneg.generators.keywords.words import mentions, words_of
from graphneg.language_models import CausalLM, Seq2SeqLM
from graphneg.shift.candidates import Reply, replies_of
from graphneg.store import Store

PULL = 3.0

_REASONS = {
    "no-perspective": "no reply to the context has a known perspective",
    "no-substitute": "no other perspective is left to try",
    "unfinished": "the reply did not come to an end",
    "no-keyword": "the substitute is not in the reply",
    "repeats": "the reply repeats itself",
    "known": "the reply says what was said already",
    "like-another": "the reply is nearly another one of the same context",
}


@dataclass(frozen=True, slots=True)
class Trials:
    """How replies are decoded: ``temperature``, and substitutes that are tried for each reply wanted.

    ``pull`` draws the substitute in; None is `PULL` for a model that was not trained, else 0.
    """

    temperature: float = 1.0
    tries: int = 4
    pull: float | None = None


@dataclass(slots=True)
class _Place:
    """A context on its way: questions that are left, what was found, and why there is not more."""

    context: Context
    questions: list[Question]
    missing: str
    found: list[Candidate] = field(default_factory=list[Candidate])

    def next(self, wanted: int) -> list[Question]:
        taken, self.questions = self.questions[:wanted], self.questions[wanted:]
        return taken


class CounterfactualGenerator:
    """Replies as they would have been under other perspectives.

    The observed replies are the context's own and its right responses, as far as
    ``graphneg shift build`` found their perspectives; a context without one gets none. A reply is kept
    if it came to an end, has its keyword, differs from what is known, and does not go round in circles.
    ``refused`` counts the others by why.
    """

    name = "counterfactual"

    def __init__(
        self, store: Store, model: CausalLM | Seq2SeqLM, purpose: Purpose, trials: Trials | None = None
    ) -> None:
        self.refused: Counter[str] = Counter()
        self._store = store
        self._model = model
        self._purpose = purpose
        self._trials = trials or Trials()
        untrained = PULL if examples_for(model) else 0.0
        self._pull = untrained if self._trials.pull is None else self._trials.pull
        self._left_out: list[tuple[str, str]] = []

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """At most ``per_context`` candidates for each context, in order.

        Raises:
            InputError: the store has no shift graph.
            ModelError: memory does not suffice for one reply.
        """
        places = self._places(contexts, per_context * self._trials.tries, seed)
        while True:
            asked = [(place, one) for place in places for one in place.next(per_context - len(place.found))]
            if not asked:
                break
            answers = counterfactuals(
                self._model,
                [question for _, question in asked],
                examples=examples_for(self._model),
                seed=seed,
                temperature=self._trials.temperature,
                pull=self._pull,
            )
            for (place, question), answer in zip(asked, answers, strict=True):
                self._judge(place, question, answer)
        for place in places:
            self._left_out += [_told(place)] * (per_context - len(place.found))
        return [place.found for place in places]

    def left_out(self) -> list[tuple[str, str]]:
        """What is missing since the last call: ``code: sentence``, and the context's id."""
        told, self._left_out = self._left_out, []
        return told

    def settings(self) -> Mapping[str, object]:
        """What the replies depend on beside contexts and seed."""
        return {
            "model": str(self._model.place),
            "purpose": self._purpose.name,
            "temperature": self._trials.temperature,
            "tries": self._trials.tries,
            "pull": self._pull,
        }

    def _places(self, contexts: Sequence[Context], most: int, seed: int) -> list[_Place]:
        observed = _observed(self._store, contexts)
        replies = [reply for each in observed for reply in each]
        texts = self._purpose.substitutes(replies, most, seed)
        questions = {
            reply.id: [_question(reply, text) for text in some]
            for reply, some in zip(replies, texts, strict=True)
        }
        return [
            _place(context, _in_turn([questions[reply.id] for reply in each])[:most], each)
            for context, each in zip(contexts, observed, strict=True)
        ]

    def _judge(self, place: _Place, question: Question, answer: Answer) -> None:
        reason = _refusal(place, question, answer)
        if reason is not None:
            self.refused[reason] += 1
            place.missing = reason
            return
        place.found.append(
            Candidate(
                text=answer.text,
                categories=self._purpose.categories,
                scores={"kept": answer.kept},
                details={
                    "source": question.id.rpartition("~")[0],
                    "perspective": question.observed.perspective,
                    "substitute": question.substitute,
                },
                label=self._purpose.label,
            )
        )


def _observed(store: Store, contexts: Sequence[Context]) -> list[list[Reply]]:
    """The replies that each context is known to have and whose perspective is known."""
    dialogues = list(dict.fromkeys(context.dialogue for context in contexts))
    known: dict[tuple[str, int], list[Reply]] = {}
    for reply in replies_of(store, dialogues):
        if reply.perspective is not None:
            known.setdefault((reply.id.partition("#")[0], len(reply.turns)), []).append(reply)
    return [known.get((context.dialogue, context.turn), []) for context in contexts]


def _place(context: Context, questions: list[Question], observed: Sequence[Reply]) -> _Place:
    return _Place(context, questions, "no-substitute" if observed else "no-perspective")


def _told(place: _Place) -> tuple[str, str]:
    return f"{place.missing}: {_REASONS[place.missing]}", place.context.id


def _question(reply: Reply, substitute: str) -> Question:
    observed = Exchange(reply.turns, reply.perspective or "", reply.text)
    return Question(f"{reply.id}~{substitute}", observed, substitute)


def _in_turn(lists: Sequence[Sequence[Question]]) -> list[Question]:
    """The first question of each reply, then the second of each, and so on; no substitute twice."""
    mixed = [one for one in chain.from_iterable(zip_longest(*lists)) if one is not None]
    return list({one.substitute: one for one in reversed(mixed)}.values())[::-1]


def _refusal(place: _Place, question: Question, answer: Answer) -> str | None:
    """Why a reply is none to keep, as a name; None where it is one."""
    words = words_of(answer.text)
    if not answer.finished:
        return "unfinished"
    if not mentions(words, question.substitute.split()):
        return "no-keyword"
    if goes_round(words):
        return "repeats"
    said = (turn.text for turn in place.context.turns)
    known = [question.observed.response, *place.context.positives, *said]
    if any(words_of(text) == words for text in known):
        return "known"
    if any(alike(words, words_of(one.text)) for one in place.found):
        return "like-another"
    return None

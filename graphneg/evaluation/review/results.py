"""What a review came to: shares with Wilson's intervals, agreement, disagreements, labels.

In: a `ReviewSet` and `Judgement`s. Out: `Results`. An item that several people judged counts once, with the
answers of its label (`RULES`); where they come to none it is open, and counts in no share.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphneg.errors import GraphnegError, InputError
from graphneg.evaluation.review.items import Item, ReviewSet
from graphneg.evaluation.review.judgements import ADJUDICATOR, Judgement
from graphneg.evaluation.review.questions import Question
from graphneg.ingest.labelled import AGREED, ANNOTATORS
from graphneg.statistics import Estimate, fleiss_kappa, krippendorff_alpha

MAJORITY = "majority"


def _majority(votes: Counter[str], question: Question) -> str | None:
    """What more than half of the annotators say."""
    answer, most = votes.most_common(1)[0]
    return answer if 2 * most > votes.total() else None


def _unanimous(votes: Counter[str], question: Question) -> str | None:
    """What all say."""
    return next(iter(votes)) if len(votes) == 1 else None


def _two_of_three(votes: Counter[str], question: Question) -> str | None:
    """The positive answer where two of three say so, another one where all do (Sato et al. 2024, section 3);
    the majority of questions that have no positive answer."""
    if not question.positive:
        return _majority(votes, question)
    if votes[question.positive] * ANNOTATORS >= AGREED * votes.total():
        return question.positive
    return None if votes[question.positive] else _unanimous(votes, question)


RULES: Mapping[str, Callable[[Counter[str], Question], str | None]] = {
    MAJORITY: _majority,
    "two-of-three": _two_of_three,
    "all-of-three": _unanimous,
}
"""How the answers of annotators become a label."""


@dataclass(frozen=True, slots=True)
class Line:
    """What was said of one source, or of one transform: shares of ``read`` items, each with its interval."""

    name: str
    read: int
    shares: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How annotators agree on one question: ``kappa`` is Fleiss', over the ``same`` items that most
    annotators judged in equal number; ``alpha`` is Krippendorff's, over all ``items`` that two or more
    judged."""

    question: str
    items: int
    same: int
    annotators: int
    kappa: float
    alpha: float


@dataclass(frozen=True)
class Results:
    """The results of one review. ``rule`` is one of `RULES`."""

    set: ReviewSet
    judgements: Sequence[Judgement]
    rule: str = MAJORITY

    @cached_property
    def by_row(self) -> Mapping[int, list[Judgement]]:
        """The annotators' judgements of each row that has any."""
        found: defaultdict[int, list[Judgement]] = defaultdict(list)
        for judgement in self.judgements:
            if judgement.annotator != ADJUDICATOR:
                found[judgement.row].append(judgement)
        return dict(sorted(found.items()))

    @cached_property
    def decided(self) -> Mapping[int, Judgement]:
        """What the adjudicator said, by row."""
        return {one.row: one for one in self.judgements if one.annotator == ADJUDICATOR}

    @cached_property
    def labels(self) -> Mapping[int, Mapping[str, str]]:
        """The answers of each row that people agree on or that were decided; rows with an open question have
        none."""
        found: dict[int, Mapping[str, str]] = {}
        for row in sorted({*self.by_row, *self.decided}):
            answers = self.decided[row].answers if row in self.decided else self._agreed(row)
            if answers is not None:
                found[row] = answers
        return found

    def _agreed(self, row: int) -> Mapping[str, str] | None:
        answers: dict[str, str] = {}
        for question in self.set.questions.questions:
            votes = Counter(one.answers[question.name] for one in self.by_row[row])
            answer = RULES[self.rule](votes, question)
            if answer is None:
                return None
            answers[question.name] = answer
        return answers

    @property
    def disagreements(self) -> list[int]:
        """Rows on which annotators differ in any answer, those undecided first."""
        rows = [
            row for row, said in self.by_row.items() if any(one.answers != said[0].answers for one in said)
        ]
        return sorted(rows, key=lambda row: (row in self.decided, row))

    @property
    def sources(self) -> list[Line]:
        """A line for each source."""
        return self._lines(lambda item: (item.source,))

    @property
    def transforms(self) -> list[Line]:
        """A line for each transform."""
        return self._lines(lambda item: item.transforms)

    @property
    def unfilled(self) -> int:
        """Items that nobody judged."""
        return len(self.set.items) - len({*self.by_row, *self.decided})

    @property
    def open(self) -> int:
        """Items that were judged and have no label."""
        return len({*self.by_row, *self.decided}) - len(self.labels)

    def _lines(self, names: Callable[[Item], Iterable[str]]) -> list[Line]:
        grouped: defaultdict[str, list[Mapping[str, str]]] = defaultdict(list)
        for row, answers in self.labels.items():
            for name in names(self.set.item(row)):
                grouped[name].append(answers)
        counted = self.set.questions.counted
        return [
            Line(name, len(some), {share: _share(wanted, some) for share, wanted in counted.items()})
            for name, some in sorted(grouped.items())
        ]

    def agreement(self) -> list[Agreement]:
        """How annotators agree on each question; empty where no two judged one item."""
        several = [said for said in self.by_row.values() if len(said) > 1]
        if not several:
            return []
        annotators = Counter(map(len, several)).most_common(1)[0][0]
        found: list[Agreement] = []
        for question in self.set.questions.questions:
            ratings = [[one.answers[question.name] for one in said] for said in several]
            same = [item for item in ratings if len(item) == annotators]
            alpha = krippendorff_alpha(ratings, question.values if question.scale == "ordinal" else None)
            kappa = fleiss_kappa(same)
            found.append(Agreement(question.name, len(several), len(same), annotators, kappa, alpha))
        return found

    def as_dict(self) -> dict[str, Any]:
        """Plain dicts and lists; an estimate is ``{value, low, high}``."""

        def plain(line: Line) -> dict[str, Any]:
            shares = {name: share._asdict() for name, share in line.shares.items()}
            return {"name": line.name, "read": line.read, **shares}

        agreement = [{name: getattr(one, name) for name in Agreement.__slots__} for one in self.agreement()]
        return {
            "sources": list(map(plain, self.sources)),
            "transforms": list(map(plain, self.transforms)),
            "agreement": agreement,
            "rule": self.rule,
            "read": len(self.labels),
            "open": self.open,
            "unfilled": self.unfilled,
            "disagreements": len(self.disagreements),
        }


def results_of(set: ReviewSet, judgements: Sequence[Judgement], rule: str = MAJORITY) -> Results:
    """The results by a rule.

    Raises `InputError`: there is no such rule.
    """
    if rule not in RULES:
        raise InputError(f"no rule is called {rule!r}: {', '.join(RULES)}")
    return Results(set, judgements, rule)


def _share(wanted: Mapping[str, str], answers: Sequence[Mapping[str, str]]) -> Estimate:
    """The share of items with the wanted answers, with Wilson's 95% interval."""
    try:
        from statsmodels.stats.proportion import proportion_confint
    except ImportError as error:
        raise GraphnegError('intervals need statsmodels: pip install "graphneg[evaluation]"') from error
    count = sum(wanted.items() <= given.items() for given in answers)
    ends: Any = proportion_confint(count, len(answers), method="wilson")
    return Estimate(count / len(answers), *map(float, ends))

"""Compute the results of a review: labels, shares of answers, agreement and disagreements.

The answers of several annotators for an item are combined into one label per question, either by a rule
(`RULES`) or by the adjudicator, a person who decides when annotators disagree. If the rule gives no label,
the item stays open and is not included in the shares of answers. Shares have Wilson confidence intervals.
Agreement is measured by Fleiss' kappa and Krippendorff's alpha.

Example:
    Three annotators answer "wrong", "wrong" and "right" for an item. By the rule ``majority``, its label is
    "wrong". By the rule ``all-of-three``, it has no label and stays open.
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
from graphneg.ingest.labelled import ANNOTATORS, MIN_VOTES
from graphneg.statistics import Estimate, fleiss_kappa, krippendorff_alpha

MAJORITY = "majority"
"""The name of the default rule for combining answers."""


def _majority(votes: Counter[str], question: Question) -> str | None:
    """Return the answer that more than half of the annotators gave; None if there is no such answer."""
    answer, most = votes.most_common(1)[0]
    return answer if 2 * most > votes.total() else None


def _unanimous(votes: Counter[str], question: Question) -> str | None:
    """Return the answer that all annotators gave; None if their answers differ."""
    return next(iter(votes)) if len(votes) == 1 else None


def _two_of_three(votes: Counter[str], question: Question) -> str | None:
    """Return the positive answer if two thirds of the annotators gave it; otherwise a unanimous answer."""
    # The rule of Sato et al. (2024), section 3, is about a positive answer, such as "contradictory", which
    # two of three annotators must give. If the question has no positive answer, use the majority.
    if not question.positive:
        return _majority(votes, question)
    if votes[question.positive] * ANNOTATORS >= MIN_VOTES * votes.total():
        return question.positive
    return None if votes[question.positive] else _unanimous(votes, question)


RULES: Mapping[str, Callable[[Counter[str], Question], str | None]] = {
    MAJORITY: _majority,
    "two-of-three": _two_of_three,
    "all-of-three": _unanimous,
}
"""The rules that combine the answers of several annotators for an item into a label, or None for no label."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a result table: the results for one source or one transform.

    Attributes:
        name: The name of the source or transform.
        read: Number of items from this source or transform that have labels.
        shares: Shares of these items with 95% confidence intervals, keyed by the column of the table; see
            `Questions.result_shares`.
    """

    name: str
    read: int
    shares: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement between annotators on one question.

    Attributes:
        question: The name of the question.
        items: Number of items that two or more annotators judged. `alpha` is computed from these items.
        same: Number of items that were judged by exactly `annotators` people. `kappa` is computed from these
            items.
        annotators: The most frequent number of annotators per item, among items with at least two annotators.
        kappa: Fleiss' kappa.
        alpha: Krippendorff's alpha.
    """

    question: str
    items: int
    same: int
    annotators: int
    kappa: float
    alpha: float


@dataclass(frozen=True)
class Results:
    """The results of a review.

    Attributes:
        set: The items of the review, with the questions.
        judgements: The judgements of all annotators and of the adjudicator.
        rule: The name of the rule that combines answers; a key of `RULES`.
    """

    set: ReviewSet
    judgements: Sequence[Judgement]
    rule: str = MAJORITY

    @cached_property
    def by_row(self) -> Mapping[int, list[Judgement]]:
        """The judgements of all annotators except the adjudicator, keyed by row."""
        found: defaultdict[int, list[Judgement]] = defaultdict(list)
        for judgement in self.judgements:
            if judgement.annotator != ADJUDICATOR:
                found[judgement.row].append(judgement)
        return dict(sorted(found.items()))

    @cached_property
    def adjudications(self) -> Mapping[int, Judgement]:
        """The judgements of the adjudicator, keyed by the row number of the item."""
        return {one.row: one for one in self.judgements if one.annotator == ADJUDICATOR}

    @cached_property
    def labels(self) -> Mapping[int, Mapping[str, str]]:
        """The labels, keyed by the row number of the judged item and then by the name of the question.

        Rows in which a question has no label are left out.
        """
        found: dict[int, Mapping[str, str]] = {}
        for row in sorted({*self.by_row, *self.adjudications}):
            # If the adjudicator judged the item, the adjudicator's answers are the labels. Otherwise, combine
            # the answers of the annotators by the rule.
            answers = self.adjudications[row].answers if row in self.adjudications else self._agreed(row)
            if answers is not None:
                found[row] = answers
        return found

    def _agreed(self, row: int) -> Mapping[str, str] | None:
        """Combine the answers for an item into one label per question; None if a question gets no label."""
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
        """The rows on which annotators disagree. Rows without a decision by the adjudicator come first."""
        rows = [
            row for row, said in self.by_row.items() if any(one.answers != said[0].answers for one in said)
        ]
        return sorted(rows, key=lambda row: (row in self.adjudications, row))

    @property
    def sources(self) -> list[Line]:
        """The results for each source, sorted by name."""
        return self._lines(lambda item: (item.source,))

    @property
    def transforms(self) -> list[Line]:
        """The results for each transform, sorted by name."""
        return self._lines(lambda item: item.transforms)

    @property
    def unfilled(self) -> int:
        """The number of items that nobody judged."""
        return len(self.set.items) - len({*self.by_row, *self.adjudications})

    @property
    def open(self) -> int:
        """The number of items that were judged but have no label, because the annotators disagree."""
        return len({*self.by_row, *self.adjudications}) - len(self.labels)

    def _lines(self, names: Callable[[Item], Iterable[str]]) -> list[Line]:
        """Group the labelled items, for example by transform, and compute the results of each group."""
        grouped: defaultdict[str, list[Mapping[str, str]]] = defaultdict(list)
        for row, answers in self.labels.items():
            for name in names(self.set.item(row)):
                grouped[name].append(answers)
        counted = self.set.questions.result_shares
        return [
            Line(name, len(some), {share: _share(wanted, some) for share, wanted in counted.items()})
            for name, some in sorted(grouped.items())
        ]

    def agreement(self) -> list[Agreement]:
        """Compute the agreement between annotators on each question.

        Returns:
            One object per question. The list is empty if no item was judged by at least two annotators.
        """
        several = [said for said in self.by_row.values() if len(said) > 1]
        if not several:
            return []
        annotators = Counter(map(len, several)).most_common(1)[0][0]
        found: list[Agreement] = []
        for question in self.set.questions.questions:
            ratings = [[one.answers[question.name] for one in said] for said in several]
            # Fleiss' kappa is defined only if all items have the same number of ratings.
            same = [item for item in ratings if len(item) == annotators]
            alpha = krippendorff_alpha(ratings, question.values if question.scale == "ordinal" else None)
            kappa = fleiss_kappa(same)
            found.append(Agreement(question.name, len(several), len(same), annotators, kappa, alpha))
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return the results as a dict that can be written as JSON. Shares are ``{value, low, high}``."""

        def plain(line: Line) -> dict[str, Any]:
            """Convert a line of a result table, for one source or transform, into a dict."""
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
    """Return the results of a review, in which a given rule combines the answers of annotators.

    Args:
        set: The items of the review, with the questions.
        judgements: The judgements of all annotators and of the adjudicator.
        rule: The name of the rule; a key of `RULES`.

    Returns:
        An object that computes labels, shares and agreement when they are accessed.

    Raises:
        InputError: The rule is unknown.
    """
    if rule not in RULES:
        raise InputError(f"no rule named {rule!r}; choose one of {', '.join(RULES)}")
    return Results(set, judgements, rule)


def _share(wanted: Mapping[str, str], answers: Sequence[Mapping[str, str]]) -> Estimate:
    """Return the share of items whose answers include all ``wanted`` answers, with a 95% Wilson interval."""
    try:
        from statsmodels.stats.proportion import proportion_confint
    except ImportError as error:
        raise GraphnegError('intervals need statsmodels: pip install "graphneg[evaluation]"') from error
    count = sum(wanted.items() <= given.items() for given in answers)
    ends: Any = proportion_confint(count, len(answers), method="wilson")
    return Estimate(count / len(answers), *map(float, ends))

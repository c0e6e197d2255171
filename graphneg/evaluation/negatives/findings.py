"""What is good and what is suspicious about negatives, in plain sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from graphneg.evaluation.negatives.figures import Figures, Line
from graphneg.evaluation.negatives.telling import FEWEST

Level = Literal["wrong", "suspicious", "note", "good"]

TOLD = 0.70
"""An area under the ROC curve from which a cue is suspicious."""
SURE = 3.0
"""Standard errors above 0.5 that an area must have besides: of few negatives only glaring cues count."""
AGAIN, ELSEWHERE = 0.05, 0.25
JUDGED_RIGHT, JUDGED_EASY = 0.50, 0.05
QUESTIONS = 0.25


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence about a line. ``wrong`` spoils training, ``suspicious`` may, ``note`` is to be known."""

    level: Level
    line: str
    sentence: str


def findings(lines: Sequence[Line], reference: Callable[[Line], Figures | None]) -> list[Finding]:
    """What is to be said of the lines, those that spoil most first; of one without fault, that it is good.

    ``reference`` gives the right responses that a line is compared with.
    """
    found = [one for line in lines for one in _of_line(line, reference(line))]
    order: tuple[Level, ...] = ("wrong", "suspicious", "note", "good")
    return sorted(found, key=lambda one: order.index(one.level))


def _of_line(line: Line, right: Figures | None) -> Iterator[Finding]:
    faults = [*_repeats(line), *_cues(line, right), *_judged(line, right)]
    for level, sentence in faults:
        yield Finding(level, line.name, sentence)
    if line.figures.texts < FEWEST:
        yield Finding("note", line.name, f"only {line.figures.texts} texts: too few to say much")
    elif right is None:
        sentence = "nothing to compare with: add a file of right responses (graphneg export)"
        yield Finding("note", line.name, sentence)
    elif not faults:
        yield Finding("good", line.name, "no single cue tells these negatives from right responses")


_Fault = tuple[Level, str]


def _repeats(line: Line) -> Iterator[_Fault]:
    texts = line.figures.texts
    if line.equal_to_right:
        yield (
            "wrong",
            f"{line.equal_to_right:,} of {texts:,} are right responses of their own contexts, word for "
            "word: a ranker would learn to refuse what fits",
        )
    if line.again > AGAIN * texts:
        yield (
            "suspicious",
            f"{line.again / texts:.0%} repeat a negative of the same context: they teach nothing new",
        )
    if line.elsewhere > ELSEWHERE * texts:
        yield (
            "suspicious",
            f"{line.elsewhere / texts:.0%} stand under more than one context: a ranker can learn these "
            "texts by heart",
        )


def _cues(line: Line, right: Figures | None) -> Iterator[_Fault]:
    if right is None:
        return
    figures = line.figures
    sentences = {
        "length": _length(figures, right),
        "overlap": _more("shared with their contexts", figures.shared.mean, right.shared.mean),
        "similarity": "their vectors are "
        + ("closer to" if _mean_to_context(figures) > _mean_to_context(right) else "further from")
        + f" their contexts' (cosine {_mean_to_context(figures):.2f}) than those of right responses "
        f"({_mean_to_context(right):.2f}): a ranker can tell them by topic alone",
        "fluency": _fluency(line),
        "words": "some words stand in them far more, or less, often than in right responses: a ranker can "
        "tell them by a list of words",
    }
    for cue, sentence in sentences.items():
        area = line.told_by.get(cue)
        if area is not None and area >= TOLD and area - 0.5 >= SURE * _error(figures, right, cue):
            yield "suspicious", f"{sentence} (AUC {area:.2f})"
    more = figures.questions - right.questions
    if abs(more) > QUESTIONS:
        yield (
            "suspicious",
            f"{figures.questions:.0%} are questions, of right responses {right.questions:.0%}: a ranker can "
            "tell them by the question mark",
        )


def _length(figures: Figures, right: Figures) -> str:
    longer = figures.words.mean > right.words.mean
    times = figures.words.mean / right.words.mean if right.words.mean else 0.0
    size = f"{times:.1f} times as long as" if longer else f"shorter ({times:.1f} times the length) than"
    return (
        f"they are {size} right responses ({figures.words.mean:.1f} words, against "
        f"{right.words.mean:.1f}): a ranker can tell them by length"
    )


def _more(what: str, mean: float, right: float) -> str:
    return (
        f"{mean:.1f} content words are {what}, of right responses {right:.1f}: a ranker can tell them by "
        f"{'more' if mean > right else 'less'} overlap"
    )


def _fluency(line: Line) -> str:
    ratio = line.perplexity_ratio or 0.0
    size = f"{ratio:.1f} times the perplexity of" if ratio > 1 else f"{ratio:.2f} times the perplexity of"
    return f"they have {size} right responses: a ranker can tell them by how they are put"


def _judged(line: Line, right: Figures | None) -> Iterator[_Fault]:
    share = line.figures.judged_right
    if share is None:
        return
    of_right = None if right is None else right.judged_right
    known = "" if of_right is None else f" (of right responses {of_right:.0%})"
    if share >= JUDGED_RIGHT:
        yield "suspicious", f"the judge takes {share:.0%} for right{known}: read some, they may well be"
    elif share < JUDGED_EASY:
        yield "note", f"the judge takes only {share:.0%} for right{known}: it has little to learn from them"


def _mean_to_context(figures: Figures) -> float:
    return figures.to_context.mean if figures.to_context else 0.0


def _error(figures: Figures, right: Figures, cue: str) -> float:
    """The standard error of an area of no cue at all (Hanley and McNeil 1982, the area 0.5)."""
    counts = ((one.texts if cue in ("length", "overlap") else one.sampled) for one in (figures, right))
    wrong, true = counts
    return sqrt((wrong + true + 1) / (12 * wrong * true)) if wrong and true else 1.0

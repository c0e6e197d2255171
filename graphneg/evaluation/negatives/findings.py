"""Convert the statistics of a set of negatives into findings: plain sentences with a level of severity.

Example:
    Negatives have 14.2 words on average, and correct responses have 8.8. The area under the ROC curve for the
    length is 0.81. The finding is: "they are 1.6 times as long as correct responses (14.2 words against 8.8):
    a ranker can detect negatives by length (AUC 0.81)".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from graphneg.evaluation.negatives.statistics import CategoryLine, Figures
from graphneg.evaluation.negatives.wording import FEWEST

Level = Literal["wrong", "suspicious", "note", "good"]
"""The severity of a finding: ``wrong`` is an error in the data, ``good`` says that no problem was found."""
_Fault = tuple[Level, str]

SUSPICIOUS_AUC = 0.70
"""Minimum area under the ROC curve (AUC) of a suspicious cue. A cue with an AUC of 0.5 is no better than
chance."""
SURE = 3.0
"""Minimum difference between the AUC of a suspicious cue and 0.5, in standard errors.

If there are few negatives, the standard error is large, so that only strong cues are reported.
"""
# `AGAIN`: negatives are suspicious if more than this share of them repeats another negative of the same
# context. `ELSEWHERE`: they are suspicious if more than this share of them occurs after several contexts.
AGAIN, ELSEWHERE = 0.05, 0.25
# A negative and its twin (the correct counterpart) have the same construction, so their words should hardly
# differ. If a classifier of words separates them with an AUC above this value, the negatives are suspicious.
TWINS_AUC = 0.65
# `JUDGED_RIGHT`: negatives are suspicious if the judge accepts at least this share of them as correct.
# `JUDGED_EASY`: if the judge accepts less than this share, a note says that the negatives are easy.
JUDGED_RIGHT, JUDGED_EASY = 0.50, 0.05
# Negatives are suspicious if their share of questions differs from the share among correct responses by more
# than this value.
QUESTIONS = 0.25


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence about the negatives of one source and category.

    Attributes:
        level: ``wrong`` (an error that spoils training), ``suspicious`` (a property that may spoil training),
            ``note`` (a remark) or ``good`` (no problem was found).
        line: The name of the row of the report, such as ``overlap (C-follow)``.
        sentence: The text of the finding.
    """

    level: Level
    line: str
    sentence: str


def findings(
    lines: Sequence[CategoryLine], reference: Callable[[CategoryLine], Figures | None]
) -> list[Finding]:
    """Return the findings on all rows of a report.

    Args:
        lines: The rows of the report.
        reference: A function that takes a row. It returns the statistics of the right texts with which the
            row is compared; None if the files contain no right texts.

    Returns:
        The findings, sorted from most to least severe. A row without problems gets a finding of the level
        ``good``.
    """
    found = [
        Finding(level, line.name, sentence)
        for line in lines
        for level, sentence in _faults(line, reference(line))
    ]
    order: tuple[Level, ...] = ("wrong", "suspicious", "note", "good")
    return sorted(found, key=lambda finding: order.index(finding.level))


def _faults(line: CategoryLine, right: Figures | None) -> list[_Fault]:
    """Return the problems of the negatives in a row of the report, each with its level of severity."""
    texts = line.figures.texts
    faults: list[_Fault] = []
    # A single negative that equals a correct response is an error, so report it even if the row has few
    # texts.
    if line.equal_to_right:
        sentence = (
            f"{line.equal_to_right:,} of {texts:,} are correct responses of their own contexts, "
            "word for word: a ranker would learn to reject correct responses"
        )
        faults.append(("wrong", sentence))
    if texts < FEWEST:
        return [*faults, ("note", f"only {texts:,} texts, which are too few for reliable figures")]
    if line.again > AGAIN * texts:
        sentence = f"{line.again / texts:.0%} repeat a negative of the same context: they teach nothing new"
        faults.append(("suspicious", sentence))
    if line.elsewhere > ELSEWHERE * texts:
        sentence = (
            f"{line.elsewhere / texts:.0%} occur with more than one context: "
            "a ranker can memorise these texts"
        )
        faults.append(("suspicious", sentence))
    if line.twins_auc is not None and line.twins_auc > TWINS_AUC:
        sentence = (
            f"their words alone tell them from their twins (AUC {line.twins_auc:.2f}): a judge can find the "
            "negative of a minimal pair without reading the context"
        )
        faults.append(("suspicious", sentence))
    faults += [*_cues(line, right), *_judged(line, right)]
    if right is None:
        faults.append(
            ("note", "there is nothing to compare with: add a file of correct responses (graphneg export)")
        )
    elif all(level == "note" for level, _ in faults):
        faults.append(("good", f"no single cue separates these negatives from {line.compared_with}"))
    return faults


def _cues(line: CategoryLine, right: Figures | None) -> Iterator[_Fault]:
    """Yield a message for each cue, such as length, by which a ranker could recognise the negatives."""
    if right is None:
        return
    for cue, sentence in _SENTENCES.items():
        area = line.cue_auc.get(cue) or 0.0
        # Compute the standard error that the AUC would have if the cue were useless, with a true AUC of 0.5
        # (Hanley and McNeil 1982). The AUCs of length and overlap are computed from all texts, the AUCs of
        # other cues from samples.
        counted = cue in ("length", "overlap")
        wrong, true = (of.texts if counted else of.sampled for of in (line.figures, right))
        # Without any wrong text or any right text, the error is undefined. Use 1.0, which is so high that the
        # cue is not reported.
        error = sqrt((wrong + true + 1) / (12 * wrong * true)) if wrong and true else 1.0
        if area >= SUSPICIOUS_AUC and area - 0.5 >= SURE * error:
            yield "suspicious", f"{sentence(line, right)} (AUC {area:.2f})"
    if abs(line.figures.questions - right.questions) > QUESTIONS:
        yield (
            "suspicious",
            f"{line.figures.questions:.0%} are questions, but {right.questions:.0%} of {line.compared_with}: "
            "a ranker can detect negatives by the question mark",
        )


def _overlap(line: CategoryLine, right: Figures) -> str:
    """Return a sentence on the number of content words that negatives share with their contexts."""
    shared, usual = line.figures.shared.mean, right.shared.mean
    said = f"they share {shared:.1f} content words with their contexts, {line.compared_with} {usual:.1f}: "
    if shared > usual:
        return (
            f"{said}a ranker trained on these negatives alone learns that shared words mean wrong; "
            "add random negatives"
        )
    return f"{said}a ranker can detect negatives by their lack of shared words"


def _similarity(line: CategoryLine, right: Figures) -> str:
    """Return a sentence that says whether negatives are closer to their contexts than correct texts are."""
    mean, usual = (of.to_context.mean if of.to_context else 0.0 for of in (line.figures, right))
    return (
        f"they are {'closer to' if mean > usual else 'further from'} their contexts (cosine {mean:.2f}) than "
        f"{line.compared_with} ({usual:.2f}): a ranker can detect negatives by topic"
    )


def _words(line: CategoryLine, right: Figures) -> str:
    """Return a sentence on the words that are more frequent in negatives than in correct texts."""
    such = ", ".join(f'"{word}"' for word in line.cue_words)
    return (
        f"some words are more frequent in these negatives than in {line.compared_with} ({such}): "
        "a ranker can detect them by a list of words"
    )


_SENTENCES: Mapping[str, Callable[[CategoryLine, Figures], str]] = {
    "length": lambda line, right: (
        f"they are {_times(line.words_ratio or 0.0)} as long as {line.compared_with} "
        f"({line.figures.words.mean:.1f} words against {right.words.mean:.1f}): a ranker can detect "
        "negatives by length"
    ),
    "overlap": _overlap,
    "similarity": _similarity,
    "fluency": lambda line, right: (
        f"their perplexity is {_times(line.perplexity_ratio or 0.0)} that of {line.compared_with}: a ranker "
        "can detect negatives by their wording"
    ),
    "words": _words,
}


def _times(ratio: float) -> str:
    """Format a ratio as text, such as "1.6 times" or "0.62 times"."""
    return f"{ratio:.1f} times" if ratio >= 1 else f"{ratio:.2f} times"


def _judged(line: CategoryLine, right: Figures | None) -> Iterator[_Fault]:
    """Yield a message if the judge (a ranker) accepts unusually many or few negatives as correct."""
    share = line.figures.judged_right
    if share is None:
        return
    of_right = None if right is None else right.judged_right
    known = "" if of_right is None else f" ({line.compared_with}: {of_right:.0%})"
    if share >= JUDGED_RIGHT:
        yield (
            "suspicious",
            f"the judge accepts {share:.0%} as correct{known}: read some of them, since they may be correct",
        )
    elif share < JUDGED_EASY:
        yield (
            "note",
            f"the judge accepts only {share:.0%} as correct{known}: a similar ranker would learn little from "
            "these negatives",
        )

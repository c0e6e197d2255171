"""Correlate the scores of a metric with human ratings of dialogues and responses.

The module reads the rating files of DSTC9, FED and DSTC10. Scores come from a scorer of this package, or from
a file of another program. For each rated quality, `correlate` returns the Pearson, Spearman and Kendall
correlations with 95% bootstrap confidence intervals. `compare` tests whether one scorer agrees better with
people than another scorer does on the same items.

Example:
    Three responses have the mean ratings 1.0, 2.0 and 3.0 for the quality "Specific". A scorer gives them the
    scores 0.2, 0.1 and 0.9. The ranks of the ratings are (1, 2, 3) and the ranks of the scores (2, 1, 3), so
    Spearman's correlation is 0.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphneg.english.tokens import word_count
from graphneg.errors import InputError
from graphneg.ingest.content import read_text
from graphneg.json_input import finite_number, parse_json
from graphneg.model import Turn
from graphneg.records.files import read_negatives
from graphneg.statistics import interval, resampled_items

if TYPE_CHECKING:
    from numpy.typing import NDArray

RatedUnit = Literal["turn", "dialogue"]
LEVELS: tuple[RatedUnit, ...] = ("turn", "dialogue")
"""The two kinds of rated items: a response after its context (``turn``), and a whole dialogue."""

_ANNOTATIONS = "_anno.json"
_CONTEXTS = "_ctx.txt"
_RESPONSES = "_res.txt"
# Values that stand for a missing rating in the rating files.
_UNRATED = (None, "N/A", "", [])


@dataclass(frozen=True, slots=True)
class RatedItem:
    """A response or a whole dialogue with its mean human ratings.

    Attributes:
        id: The file of the item and the number of the item in the file, from 1: ``FILE:NUMBER``.
        turns: The context of the response, or the turns of the dialogue. If the file does not name the
            speaker of a turn, the speaker is an empty string.
        response: The rated response, or None if the whole dialogue was rated.
        ratings: The mean rating of each quality, keyed by the name of the quality.
    """

    id: str
    turns: tuple[Turn, ...]
    response: Turn | None
    ratings: Mapping[str, float]

    @property
    def all_turns(self) -> tuple[Turn, ...]:
        """All turns of the context or dialogue, followed by the response if a response was rated."""
        return self.turns if self.response is None else (*self.turns, self.response)

    @property
    def level(self) -> RatedUnit:
        """The kind of the rated item: ``turn`` for a response, ``dialogue`` for a whole dialogue."""
        return "dialogue" if self.response is None else "turn"


def read_ratings(paths: Sequence[str | Path]) -> list[RatedItem]:
    """Read rated dialogues and responses from files.

    The format of each file is recognised by its contents:

    - DSTC9 interactive dialogues (Gunasekara et al. 2020): a JSON list of objects with the key ``context``
      (lines of the form ``User: ...`` and ``System: ...``) and a key for each quality, whose value is a
      number. ``N/A`` means that the quality was not rated.
    - FED (Mehri and Eskenazi 2020): a JSON list of objects with the keys ``context``, ``annotations`` (a list
      of numbers for each quality) and, if a response was rated, ``response``.
    - DSTC10 (Zhao et al. 2020): three files in the same folder. ``NAME_anno.json`` contains the ratings,
      ``NAME_ctx.txt`` one context per line, and ``NAME_res.txt`` one response per line. Pass the path of
      ``NAME_anno.json``.

    Raises `InputError` with the file and the number of the item if a file cannot be read or has a different
    format.

    Args:
        paths: The rating files.

    Returns:
        The rated items in the order of the files.

    Raises:
        InputError: The files contain no ratings.
    """
    rated = [item for path in map(Path, paths) for item in _read(path)]
    if not rated:
        raise InputError("no ratings: give at least one file of ratings")
    return rated


def turn_texts(paths: Sequence[Path]) -> list[str]:
    """Return the texts of all turns in files of ratings or of negatives.

    Args:
        paths: Rating files (``.json``) and files of negatives (``.jsonl``, ``.parquet``). For a negative, the
            turns of the unedited dialogue are used.

    Returns:
        The texts in the order of the files, including repetitions.
    """
    from graphneg.scorers.coherence import original_turns

    texts: list[str] = []
    for path in paths:
        if path.suffix == ".json":
            texts += [turn.text for item in read_ratings([path]) for turn in item.all_turns]
        else:
            texts += [turn.text for item in read_negatives(path) for turn in original_turns(item)]
    return texts


def _read(path: Path) -> Iterator[RatedItem]:
    """Return an iterator over the rated items of one file."""
    value: Any = parse_json(read_text(path), str(path))
    if not isinstance(value, list) or not value:
        raise InputError(f"{path}: expected a JSON list of rated dialogues but found {type(value).__name__}")
    places = [(f"{path}:{number}", item) for number, item in enumerate(value, 1)]
    # A file whose objects have the key "context" has the format of FED or DSTC9, even if the name of the file
    # ends like the name of a DSTC10 file.
    contexts = any(isinstance(item, dict) and "context" in item for item in value)
    if path.name.endswith(_ANNOTATIONS) and not contexts:
        return _aligned(path, places)
    return (_object(item, place) for place, item in places)


def _object(value: Any, place: str) -> RatedItem:
    """Parse one object in a DSTC9 or FED file. ``place`` is its location for error messages."""
    if not isinstance(value, dict) or not isinstance(value.get("context"), str):
        raise InputError(f'{place}: expected an object with a "context" of lines')
    turns = tuple(_turn(line.strip(), "") for line in value["context"].splitlines() if line.strip())
    if not turns:
        raise InputError(f'{place}: the "context" has no turns')
    # FED has ratings of responses and of whole dialogues. Only objects for rated responses have the key
    # "response".
    response = value.get("response")
    if response is not None and not isinstance(response, str):
        raise InputError(f'{place}: "response" is not a string')
    ratings = value.get("annotations")
    if ratings is None:
        # DSTC9 has no "annotations": each quality is a key of the object, with a number as its value.
        ratings = {name: item for name, item in value.items() if _is_number(item)}
    elif not isinstance(ratings, dict):
        raise InputError(f'{place}: "annotations" is not an object of ratings by quality')
    return RatedItem(
        place, turns, None if response is None else _turn(response, "System"), _means(ratings, place)
    )


def _aligned(path: Path, annotations: Sequence[tuple[str, Any]]) -> Iterator[RatedItem]:
    """Yield the rated responses in three files of DSTC10: ratings, contexts and responses."""
    base = path.name.removesuffix(_ANNOTATIONS)
    contexts, responses = (
        read_text(path.with_name(base + end)).splitlines() for end in (_CONTEXTS, _RESPONSES)
    )
    # The N-th rating belongs to line N of the two text files, so the list of ratings and both text files must
    # have the same length.
    if not len(contexts) == len(responses) == len(annotations):
        raise InputError(
            f"{path}: {len(annotations)} ratings, {len(contexts)} contexts and {len(responses)} responses; "
            f"expected the same number of lines in {base}{_CONTEXTS} and {base}{_RESPONSES}"
        )
    for context, response, (place, ratings) in zip(contexts, responses, annotations, strict=True):
        if not isinstance(ratings, dict):
            raise InputError(f"{place}: expected an object of ratings by quality but found {ratings!r:.60}")
        yield RatedItem(place, (Turn("", context),), Turn("", response), _means(ratings, place))


def _turn(line: str, speaker: str) -> Turn:
    """Split a line into speaker and text. If the line names no speaker, ``speaker`` is used."""
    named, colon, text = line.partition(":")
    # A colon does not always follow a speaker: it may be a part of the text, as in "Note: it rains". The only
    # speakers in the files are "User" and "System".
    return Turn(named, text.strip()) if colon and named in ("User", "System") else Turn(speaker, line)


def _means(ratings: Mapping[str, Any], place: str) -> Mapping[str, float]:
    """Return the mean rating of each quality over the annotators who rated it."""
    means: dict[str, float] = {}
    for name, value in ratings.items():
        if value in _UNRATED:
            continue
        numbers = [item for item in (value if isinstance(value, list) else [value]) if item not in _UNRATED]
        if not numbers or not all(map(_is_number, numbers)):
            raise InputError(f'{place}: "{name}": expected numbers but found {value!r:.60}')
        # Missing ratings are not in ``numbers``, so that they do not count as 0.
        means[name] = sum(numbers) / len(numbers)
    if not means:
        raise InputError(f"{place}: the item has no ratings")
    return means


def _is_number(value: Any) -> bool:
    return finite_number(value) is not None


def select_qualities(rated: Sequence[RatedItem], names: Sequence[str]) -> list[RatedItem]:
    """Remove the ratings of all qualities except for the named qualities.

    Args:
        rated: The rated items.
        names: The qualities to keep. If ``names`` is empty, all qualities are kept.

    Returns:
        Copies of the items in the same order. An item without a rating for any of the qualities has no
        ratings left.

    Raises:
        InputError: No item is rated for one of the qualities.
    """
    known = qualities(rated)
    for name in names:
        if name not in known:
            raise InputError(f"no quality named {name!r}; available: {', '.join(known)}")
    return [
        replace(item, ratings={name: item.ratings[name] for name in item.ratings if name in (names or known)})
        for item in rated
    ]


def qualities(rated: Iterable[RatedItem]) -> list[str]:
    """Return the names of all rated qualities.

    Args:
        rated: The rated items.

    Returns:
        Each name once, in order of first appearance.
    """
    return list(dict.fromkeys(name for item in rated for name in item.ratings))


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A correlation coefficient with its uncertainty.

    Attributes:
        value: The coefficient, from -1 to 1.
        low: Lower end of the 95% bootstrap confidence interval.
        high: Upper end of the 95% bootstrap confidence interval.
        p: Two-sided p-value for the hypothesis of no correlation; 1 if all scores or all ratings are equal.
    """

    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Correlation:
    """The correlations between the scores of one scorer and the ratings of one quality.

    Attributes:
        quality: The rated quality.
        level: The kind of the rated items: ``turn`` for responses, ``dialogue`` for whole dialogues.
        items: Number of rated responses or dialogues.
        pearson: Pearson's r.
        spearman: Spearman's rho.
        kendall: Kendall's tau-b.
    """

    quality: str
    level: RatedUnit
    items: int
    pearson: Coefficient
    spearman: Coefficient
    kendall: Coefficient


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two scorers in their Spearman correlation with the ratings of one quality.

    Attributes:
        quality: The rated quality.
        level: The kind of the rated items: ``turn`` for responses, ``dialogue`` for whole dialogues.
        items: Number of rated responses or dialogues.
        value: Spearman's correlation of the first scorer minus Spearman's correlation of the second scorer.
        low: Lower end of the 95% bootstrap confidence interval.
        high: Upper end of the 95% bootstrap confidence interval.
        p: Two-sided bootstrap p-value: twice the share of bootstrap samples in which the difference is zero
            or has the opposite sign, at most 1.
    """

    quality: str
    level: RatedUnit
    items: int
    value: float
    low: float
    high: float
    p: float


def length_baselines(rated: Iterable[RatedItem]) -> dict[str, list[float]]:
    """Return the lengths of rated items as the scores of two baselines.

    If a scorer correlates with human ratings no better than these baselines, it may measure only the length.

    Args:
        rated: The rated items.

    Returns:
        Two lists with one score per item, keyed by the name of the baseline. ``word count`` is the number of
        words in the response, or in the whole dialogue if no response was rated. ``turn count`` is the number
        of turns, including the response.
    """
    items = list(rated)
    # If the whole dialogue was rated, count the words of all turns.
    words = [item.all_turns if item.response is None else (item.response,) for item in items]
    return {
        "word count": [float(sum(word_count(turn.text) for turn in turns)) for turns in words],
        "turn count": [float(len(item.all_turns)) for item in items],
    }


def correlate(
    scores: Sequence[float], rated: Sequence[RatedItem], *, resamples: int = 1000, seed: int = 0
) -> list[Correlation]:
    """Correlate scores with each rated quality, separately for responses and whole dialogues.

    An item that is not rated for a quality is ignored in the correlation with that quality. The ends of
    confidence intervals are percentiles over bootstrap samples of the items. Raises `InputError` if there are
    not as many scores as items, or if no quality has ratings for at least three responses or at least three
    dialogues.

    Args:
        scores: One score per rated item, in the same order.
        rated: The rated items.
        resamples: Number of bootstrap samples.
        seed: Seed for drawing the bootstrap samples.

    Returns:
        One result for each combination of a quality and a level (``turn`` or ``dialogue``) with at least
        three rated items.
    """
    from scipy import stats

    tests: Any = ((_pearson, stats.pearsonr), (_spearman, stats.spearmanr), (_kendall, stats.kendalltau))
    found: list[Correlation] = []
    for quality, level, people, [own] in _resampled([scores], rated, resamples, seed):
        # If all scores or all ratings are equal, no correlation is defined: scipy would warn and return NaN
        # as the p-value. In this case, use a p-value of 1.
        varied = not (_constant(own[0]) or _constant(people[0]))
        coefficients: list[Coefficient] = []
        for statistic, test in tests:
            values = statistic(own, people)
            p = float(test(own[0], people[0]).pvalue) if varied else 1.0
            coefficients.append(Coefficient(float(values[0]), *interval(values[1:]), p))
        found.append(Correlation(quality, level, people.shape[1], *coefficients))
    return found


def compare(
    first: Sequence[float],
    second: Sequence[float],
    rated: Sequence[RatedItem],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Difference]:
    """Compare the correlations of two scorers with human ratings, by a paired bootstrap over the items.

    Raises `InputError` if there are not as many scores as items, or if no quality has ratings for at least
    three responses or at least three dialogues.

    Args:
        first: Scores of the first scorer, one per rated item, in the same order.
        second: Scores of the second scorer, in the same order.
        rated: The rated items.
        resamples: Number of bootstrap samples.
        seed: Seed for drawing the bootstrap samples.

    Returns:
        One difference for each combination of a quality and a level (``turn`` or ``dialogue``) with at least
        three rated items. A positive value means that the first scorer has the higher Spearman correlation.
    """
    import numpy as np

    differences: list[Difference] = []
    for quality, level, people, [own, other] in _resampled([first, second], rated, resamples, seed):
        # Spearman's correlation is Pearson's correlation of the ranks, so rank the ratings only once.
        truth = _ranks(people)
        value, *gaps = (_pearson(_ranks(own), truth) - _pearson(_ranks(other), truth)).tolist()
        # For the p-value, compute the share of bootstrap samples in which the difference is zero or has the
        # opposite sign. Doubling this share makes the test two-sided.
        against = float(np.mean([(gap <= 0) if value > 0 else (gap >= 0) for gap in gaps])) if gaps else 1.0
        p = min(1.0, 2 * against)
        differences.append(Difference(quality, level, people.shape[1], value, *interval(gaps), p))
    return differences


def _resampled(
    scores: Sequence[Sequence[float]], rated: Sequence[RatedItem], resamples: int, seed: int
) -> Iterator[tuple[str, RatedUnit, NDArray[Any], list[NDArray[Any]]]]:
    """Yield the ratings and scores of each quality and level with at least three rated items.

    Yields:
        The quality, the level, an array of ratings, and an array of scores for each scorer. The arrays have
        the shape (1 + resamples, items). Row 0 has each item once; each later row is one bootstrap sample.

    Raises:
        InputError: There are not as many scores as items, or no quality has ratings for at least three items
            of the same level.
    """
    import numpy as np

    for column in scores:
        if len(column) != len(rated):
            raise InputError(
                f"expected {len(rated)} scores, one for each rating in order, but found {len(column)}"
            )
    few = True
    for name in qualities(rated):
        for level in LEVELS:
            at = [i for i, item in enumerate(rated) if item.level == level and name in item.ratings]
            # A correlation over two items is meaningless: it is always 1 or -1, or undefined.
            if len(at) >= 3:
                # Put the original data and all bootstrap samples into one array. Then one array operation
                # computes the coefficients for all of them.
                rows = np.vstack([np.arange(len(at)), resampled_items(len(at), resamples, seed)])
                people = np.array([rated[i].ratings[name] for i in at], dtype=float)[rows]
                columns = [np.array(column, dtype=float)[at][rows] for column in scores]
                few = False
                yield name, level, people, columns
    if few:
        raise InputError("too few ratings: at least three items must have a rating of the same quality")


def _pearson(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Return Pearson's r for each pair of rows; 0 if all values in one of the rows are equal."""
    import numpy as np

    a = first - first.mean(axis=-1, keepdims=True)
    b = second - second.mean(axis=-1, keepdims=True)
    spread = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    product = (a * b).sum(axis=-1)
    return np.divide(product, spread, out=np.zeros_like(product), where=spread > 0)


def _spearman(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    return _pearson(_ranks(first), _ranks(second))


def _kendall(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Return Kendall's tau-b for each pair of rows; 0 if all values in one of the rows are equal."""
    import numpy as np
    from scipy import stats

    tau: Any = stats.kendalltau
    pairs = zip(first, second, strict=True)
    return np.array([0.0 if _constant(a) or _constant(b) else tau(a, b).statistic for a, b in pairs])


def _ranks(rows: NDArray[Any]) -> NDArray[Any]:
    from scipy.stats import rankdata

    return rankdata(rows, axis=-1)


def _constant(values: NDArray[Any]) -> bool:
    return bool((values == values[0]).all())


def read_scores(path: str | Path, expected: int) -> list[float]:
    """Read scores from a file in which each line is a number, or a JSON object with the key ``score``.

    Empty lines are skipped.

    Args:
        path: The file of scores.
        expected: The number of scores that the file must have, which is the number of rated items.

    Returns:
        The scores in the order of the file.

    Raises:
        InputError: A line does not contain a number, or the file does not have ``expected`` scores.
    """
    path = Path(path)
    scores: list[float] = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        value: Any = parse_json(line, f"{path}:{number}")
        value = value.get("score") if isinstance(value, dict) else value
        if not _is_number(value):
            raise InputError(f'{path}:{number}: expected a number, or an object with a number as "score"')
        scores.append(float(value))
    if len(scores) != expected:
        raise InputError(
            f"{path}: expected {expected} scores, one for each item in order, but found {len(scores)}"
        )
    return scores

"""Correlate the scores of a metric with human ratings of dialogues and responses.

The module reads the rating files of DSTC9, FED and DSTC10. Scores come from a scorer or from a file that any
program can write. `correlate` returns Pearson, Spearman and Kendall correlations for each rated quality, with
95% bootstrap intervals. `compare` tests whether one scorer agrees better with people than another on the same
items.

Example:
    Three responses have the mean ratings 1.0, 2.0 and 3.0 for the quality "Specific". A scorer gives them
    0.2, 0.1 and 0.9. Their ranks are (1, 2, 3) and (2, 1, 3), so Spearman's correlation is 0.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphneg.english.tokens import word_count
from graphneg.errors import InputError
from graphneg.generators.base import Turn
from graphneg.ingest.content import read_text
from graphneg.json_input import finite_number, parse_json
from graphneg.records.files import read_negatives
from graphneg.statistics import interval, resampled_items

if TYPE_CHECKING:
    from numpy.typing import NDArray

Level = Literal["turn", "dialogue"]
LEVELS: tuple[Level, ...] = ("turn", "dialogue")
"""The two kinds of rated items: a response in its context, and a whole dialogue."""

_ANNOTATIONS = "_anno.json"
_CONTEXTS = "_ctx.txt"
_RESPONSES = "_res.txt"
# Values of a quality that was not rated.
_UNRATED = (None, "N/A", "", [])


@dataclass(frozen=True, slots=True)
class Rated:
    """A response or a whole dialogue with its mean human ratings.

    Attributes:
        id: The place of the item: file and position in the file, counted from 1.
        turns: The context of the response, or the turns of the dialogue. A speaker is empty if the file does
            not name one.
        response: The rated response, or None if the whole dialogue was rated.
        ratings: The mean rating by quality.
    """

    id: str
    turns: tuple[Turn, ...]
    response: Turn | None
    ratings: Mapping[str, float]

    @property
    def said(self) -> tuple[Turn, ...]:
        """All turns, followed by the response if one was rated."""
        return self.turns if self.response is None else (*self.turns, self.response)

    @property
    def level(self) -> Level:
        """The kind of the rated item: ``turn`` for a response, ``dialogue`` for a whole dialogue."""
        return "dialogue" if self.response is None else "turn"


def read_ratings(paths: Sequence[str | Path]) -> list[Rated]:
    """Read rated dialogues and responses from files.

    The format of each file is recognised by its contents:

    - DSTC9 interactive dialogues (Gunasekara et al. 2020): a JSON list of objects with ``context`` (lines of
      the form ``User: ...`` and ``System: ...``) and one number for each quality. ``N/A`` means that the
      quality was not rated.
    - FED (Mehri and Eskenazi 2020): a JSON list of objects with ``context``, ``annotations`` (a list of
      numbers for each quality) and, for a rated turn, ``response``.
    - DSTC10 (Zhao et al. 2020): ``NAME_anno.json`` beside ``NAME_ctx.txt`` and ``NAME_res.txt``, which have
      one context and one response per line. Pass the path of ``NAME_anno.json``.

    A file that cannot be read or has none of these formats raises `InputError` with the file and the
    position.

    Args:
        paths: The rating files.

    Returns:
        The rated items in the order of the files.

    Raises:
        InputError: The files contain no ratings.
    """
    rated = [item for path in map(Path, paths) for item in _read(path)]
    if not rated:
        raise InputError("no ratings: name at least one file that holds some")
    return rated


def turn_texts(paths: Sequence[Path]) -> list[str]:
    """Return the texts of all turns in files of ratings or of negatives.

    Args:
        paths: Rating files (``.json``) and files of negatives (``.jsonl``, ``.parquet``). The turns of a
            negative are those of its original dialogue, before the edit.

    Returns:
        The texts in order, repetitions included.
    """
    from graphneg.scorers.coherence import original_turns

    texts: list[str] = []
    for path in paths:
        if path.suffix == ".json":
            texts += [text for item in read_ratings([path]) for _, text in item.said]
        else:
            texts += [text for item in read_negatives(path) for _, text in original_turns(item)]
    return texts


def _read(path: Path) -> Iterator[Rated]:
    """Read the rated items of one file."""
    value: Any = parse_json(read_text(path), str(path))
    if not isinstance(value, list) or not value:
        raise InputError(f"{path}: expected a JSON list of rated dialogues, found {type(value).__name__}")
    places = [(f"{path}:{number}", item) for number, item in enumerate(value, 1)]
    # A list of objects with "context" is FED or DSTC9, whatever the file is called.
    contexts = any(isinstance(item, dict) and "context" in item for item in value)
    if path.name.endswith(_ANNOTATIONS) and not contexts:
        return _aligned(path, places)
    return (_object(item, place) for place, item in places)


def _object(value: Any, place: str) -> Rated:
    """Parse one object of a DSTC9 or FED file; ``place`` is ``FILE:NUMBER``, counted from 1."""
    if not isinstance(value, dict) or not isinstance(value.get("context"), str):
        raise InputError(f'{place}: expected an object with a "context" of lines')
    turns = tuple(_turn(line.strip(), "") for line in value["context"].splitlines() if line.strip())
    if not turns:
        raise InputError(f'{place}: the "context" has no turns')
    # FED rates turns and whole dialogues; only a rated turn has a response.
    response = value.get("response")
    if response is not None and not isinstance(response, str):
        raise InputError(f'{place}: "response" is not a text')
    ratings = value.get("annotations")
    if ratings is None:
        # DSTC9 writes the qualities beside the other fields of the object.
        ratings = {name: item for name, item in value.items() if _is_number(item)}
    elif not isinstance(ratings, dict):
        raise InputError(f'{place}: "annotations" is not an object of ratings by quality')
    return Rated(
        place, turns, None if response is None else _turn(response, "System"), _means(ratings, place)
    )


def _aligned(path: Path, annotations: Sequence[tuple[str, Any]]) -> Iterator[Rated]:
    """Yield the responses of a DSTC10 triple of files."""
    base = path.name.removesuffix(_ANNOTATIONS)
    contexts, responses = (
        read_text(path.with_name(base + end)).splitlines() for end in (_CONTEXTS, _RESPONSES)
    )
    # The three files are aligned by line.
    if not len(contexts) == len(responses) == len(annotations):
        raise InputError(
            f"{path}: {len(annotations)} ratings, {len(contexts)} contexts and {len(responses)} responses; "
            f"there must be as many lines in {base}{_CONTEXTS} and {base}{_RESPONSES}"
        )
    for context, response, (place, ratings) in zip(contexts, responses, annotations, strict=True):
        if not isinstance(ratings, dict):
            raise InputError(f"{place}: expected an object of ratings by quality, found {ratings!r:.60}")
        yield Rated(place, (Turn("", context),), Turn("", response), _means(ratings, place))


def _turn(line: str, speaker: str) -> Turn:
    """Split a line into speaker and text; ``speaker`` is the default if the line names none."""
    named, colon, text = line.partition(":")
    # In "Note: it rains", the part before the colon is no speaker. Only the speakers of the two corpora
    # count.
    return Turn(named, text.strip()) if colon and named in ("User", "System") else Turn(speaker, line)


def _means(ratings: Mapping[str, Any], place: str) -> Mapping[str, float]:
    """Return the mean rating of each quality, ignoring annotators who gave none."""
    means: dict[str, float] = {}
    for name, value in ratings.items():
        if value in _UNRATED:
            continue
        numbers = [item for item in (value if isinstance(value, list) else [value]) if item not in _UNRATED]
        if not numbers or not all(map(_is_number, numbers)):
            raise InputError(f'{place}: "{name}": expected numbers, found {value!r:.60}')
        # Annotators without an answer are left out; they do not count as 0.
        means[name] = sum(numbers) / len(numbers)
    if not means:
        raise InputError(f"{place}: no quality is rated")
    return means


def _is_number(value: Any) -> bool:
    return finite_number(value) is not None


def only(rated: Sequence[Rated], names: Sequence[str]) -> list[Rated]:
    """Restrict rated items to some qualities.

    Args:
        rated: The rated items.
        names: The qualities to keep. If empty, all qualities are kept.

    Returns:
        The same items in the same order. An item without any of the qualities has no ratings.

    Raises:
        InputError: No item is rated for one of the qualities.
    """
    known = qualities(rated)
    for name in names:
        if name not in known:
            raise InputError(f"no quality named {name!r}; there are: {', '.join(known)}")
    return [
        replace(item, ratings={name: item.ratings[name] for name in item.ratings if name in (names or known)})
        for item in rated
    ]


def qualities(rated: Iterable[Rated]) -> list[str]:
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
        low: Lower end of the 95% bootstrap interval.
        high: Upper end of the 95% bootstrap interval.
        p: Two-sided p-value of the test for no correlation; 1 if the scores or ratings are constant.
    """

    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Correlation:
    """The correlations of one scorer with one quality.

    Attributes:
        quality: The rated quality.
        level: ``turn`` or ``dialogue``.
        items: Number of rated responses or dialogues.
        pearson: Pearson's r.
        spearman: Spearman's rho.
        kendall: Kendall's tau-b.
    """

    quality: str
    level: Level
    items: int
    pearson: Coefficient
    spearman: Coefficient
    kendall: Coefficient


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two scorers in Spearman's correlation with one quality.

    Attributes:
        quality: The rated quality.
        level: ``turn`` or ``dialogue``.
        items: Number of rated responses or dialogues.
        value: Spearman's correlation of the first scorer minus that of the second.
        low: Lower end of the 95% bootstrap interval.
        high: Upper end of the 95% bootstrap interval.
        p: Twice the share of resamples without a difference in the observed direction, at most 1.
    """

    quality: str
    level: Level
    items: int
    value: float
    low: float
    high: float
    p: float


def counts(rated: Iterable[Rated]) -> dict[str, list[float]]:
    """Return the lengths of rated items as two baseline scorers.

    A scorer that correlates with human ratings no better than these baselines may have learned nothing but
    length.

    Args:
        rated: The rated items.

    Returns:
        Two lists of scores, one score per item. ``word count`` is the number of words of the response, or of
        the whole dialogue if that was rated. ``turn count`` is the number of turns, the response included.
    """
    items = list(rated)
    # A rated dialogue has no response, so all of its words count.
    words = [item.said if item.response is None else (item.response,) for item in items]
    return {
        "word count": [float(sum(word_count(turn.text) for turn in turns)) for turns in words],
        "turn count": [float(len(item.said)) for item in items],
    }


def correlate(
    scores: Sequence[float], rated: Sequence[Rated], *, resamples: int = 1000, seed: int = 0
) -> list[Correlation]:
    """Correlate scores with each rated quality, separately for responses and whole dialogues.

    Items without a rating of a quality are left out of its correlation. Intervals are percentiles over
    bootstrap samples of the items. Scores that do not fit the ratings, or fewer than three items rated for
    every quality, raise `InputError`.

    Args:
        scores: One score per rated item, in order.
        rated: The rated items.
        resamples: Number of bootstrap samples.
        seed: Seed of the bootstrap.

    Returns:
        One row for each quality and level with at least three rated items.
    """
    from scipy import stats

    tests: Any = ((_pearson, stats.pearsonr), (_spearman, stats.spearmanr), (_kendall, stats.kendalltau))
    found: list[Correlation] = []
    for quality, level, people, [own] in _resampled([scores], rated, resamples, seed):
        # scipy warns of constant input and returns NaN, so the test is skipped there.
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
    rated: Sequence[Rated],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Difference]:
    """Compare two scorers with a paired bootstrap on the same items.

    Scores that do not fit the ratings, or fewer than three items rated for every quality, raise `InputError`.

    Args:
        first: Scores of the first scorer, one per rated item, in order.
        second: Scores of the second scorer, in the same order.
        rated: The rated items.
        resamples: Number of bootstrap samples.
        seed: Seed of the bootstrap.

    Returns:
        One row for each quality and level with at least three rated items. A positive value means that the
        first scorer has the higher Spearman correlation.
    """
    import numpy as np

    differences: list[Difference] = []
    for quality, level, people, [own, other] in _resampled([first, second], rated, resamples, seed):
        # Spearman's correlation is Pearson's correlation of the ranks.
        truth = _ranks(people)
        value, *gaps = (_pearson(_ranks(own), truth) - _pearson(_ranks(other), truth)).tolist()
        # Count the resamples that contradict the observed direction; doubling makes the test two-sided.
        against = float(np.mean([(gap <= 0) if value > 0 else (gap >= 0) for gap in gaps])) if gaps else 1.0
        p = min(1.0, 2 * against)
        differences.append(Difference(quality, level, people.shape[1], value, *interval(gaps), p))
    return differences


def _resampled(
    scores: Sequence[Sequence[float]], rated: Sequence[Rated], resamples: int, seed: int
) -> Iterator[tuple[str, Level, NDArray[Any], list[NDArray[Any]]]]:
    """Yield the ratings and scores of each quality and level with at least three rated items.

    Yields:
        The quality, the level, the ratings and the scores of each scorer. Arrays have the shape (1 +
        resamples, items). Row 0 has all items; each later row is one bootstrap sample.

    Raises:
        InputError: The number of scores differs from the number of items, or no quality has three rated
            items.
    """
    import numpy as np

    for column in scores:
        if len(column) != len(rated):
            raise InputError(f"{len(column)} scores for {len(rated)} ratings: give one for each, in order")
    few = True
    for name in qualities(rated):
        for level in LEVELS:
            at = [i for i, item in enumerate(rated) if item.level == level and name in item.ratings]
            # Two items always have a correlation of 1 or -1, if any.
            if len(at) >= 3:
                # One array operation then computes the coefficient and all of its bootstrap samples.
                rows = np.vstack([np.arange(len(at)), resampled_items(len(at), resamples, seed)])
                people = np.array([rated[i].ratings[name] for i in at], dtype=float)[rows]
                columns = [np.array(column, dtype=float)[at][rows] for column in scores]
                few = False
                yield name, level, people, columns
    if few:
        raise InputError("too few ratings: at least three items must be rated in one quality")


def _pearson(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Return Pearson's r of each pair of rows, or 0 if one of the rows is constant."""
    import numpy as np

    a = first - first.mean(axis=-1, keepdims=True)
    b = second - second.mean(axis=-1, keepdims=True)
    spread = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    product = (a * b).sum(axis=-1)
    return np.divide(product, spread, out=np.zeros_like(product), where=spread > 0)


def _spearman(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    return _pearson(_ranks(first), _ranks(second))


def _kendall(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Return Kendall's tau-b of each pair of rows, or 0 if one of the rows is constant."""
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
    """Read scores from a file with one number, or one JSON object with ``score``, per line.

    Empty lines are skipped.

    Args:
        path: The file of scores.
        expected: The number of scores that the file must contain.

    Returns:
        The scores in the order of the file.

    Raises:
        InputError: A line has no number, or the number of scores differs from ``expected``.
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
        raise InputError(f"{path}: {len(scores)} scores where {expected} are needed, one for each, in order")
    return scores

"""How well scores agree with people.

In: rating files of the field (DSTC9, FED, DSTC10), and a score for each rated response or dialogue, from a
scorer or a file of scores that any program may write. Out: correlations by quality with 95% intervals, and
how one scorer compares with another on the same items.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from graphneg.errors import InputError
from graphneg.ingest.reading import read_text
from graphneg.statistics import interval, resampled_items

if TYPE_CHECKING:
    from numpy.typing import NDArray


Level = Literal["turn", "dialogue"]

_ANNOTATIONS = "_anno.json"
_CONTEXTS = "_ctx.txt"
_RESPONSES = "_res.txt"
_UNRATED = ("N/A", "")


class RatedTurn(NamedTuple):
    """One turn; the speaker is empty where the file does not say."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Rated:
    """A response to ``turns``, or the dialogue of ``turns`` itself, and its mean ratings by quality."""

    id: str
    turns: tuple[RatedTurn, ...]
    response: RatedTurn | None
    ratings: Mapping[str, float]

    @property
    def said(self) -> tuple[RatedTurn, ...]:
        """All turns, the response last where one is rated."""
        return self.turns if self.response is None else (*self.turns, self.response)

    @property
    def level(self) -> Level:
        """Whether a response was rated, or a whole dialogue."""
        return "dialogue" if self.response is None else "turn"


def read_ratings(paths: Sequence[str | Path]) -> list[Rated]:
    """The rated dialogues and responses of files, in order.

    Three forms are told apart by what they hold:

    - DSTC9's interactive dialogues (Gunasekara et al. 2020): a JSON list of objects with ``context``,
      lines ``User: ...`` and ``System: ...``, and a number for each quality (``N/A`` is none);
    - FED (Mehri and Eskenazi 2020): objects with ``context``, ``annotations`` (lists of numbers by
      quality) and, where a turn is rated, ``response``;
    - ``NAME_anno.json`` beside ``NAME_ctx.txt`` and ``NAME_res.txt``, a context and a response a line
      (Zhao et al. 2020 as DSTC10 shared it): name the first.

    Raises:
        InputError: a file can't be read or is none of these; file and place are named.
    """
    found = [one for path in map(Path, paths) for one in _read(path)]
    if not found:
        raise InputError("no ratings: name at least one file that holds some")
    return found


def turn_texts(paths: Sequence[Path]) -> list[str]:
    """All that is said in rated dialogues (.json), and in the originals of negatives (.jsonl, .parquet)."""
    from graphneg.scorers.coherence import originals_of

    texts: list[str] = []
    for path in paths:
        if path.suffix == ".json":
            texts += [text for one in read_ratings([path]) for _, text in one.said]
        else:
            texts += [text for turns in originals_of([path]) for _, text in turns]
    return texts


def _read(path: Path) -> Iterator[Rated]:
    value = _json(path)
    if not isinstance(value, list) or not value:
        raise InputError(f"{path}: expected a JSON list of rated dialogues, found {type(value).__name__}")
    if path.name.endswith(_ANNOTATIONS) and not any(
        isinstance(one, dict) and "context" in one for one in value
    ):
        return _aligned(path, value)
    return (_object(one, f"{path}:{number}") for number, one in enumerate(value, 1))


def _json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise InputError(f"{path}: not a JSON list of rated dialogues: {error}") from error


def _object(value: Any, place: str) -> Rated:
    """One object of DSTC9 or FED; ``place`` is FILE:NUMBER, counted from 1."""
    if not isinstance(value, dict) or not isinstance(value.get("context"), str):
        raise InputError(f'{place}: expected an object with a "context" of lines')
    turns = tuple(_lines(value["context"]))
    if not turns:
        raise InputError(f'{place}: the "context" has no turns')
    response = value.get("response")
    if response is not None and not isinstance(response, str):
        raise InputError(f'{place}: "response" is no text')
    ratings = _ratings(value, place)
    said = None if response is None else RatedTurn(*_speaker(response, "System"))
    return Rated(place, turns, said, ratings)


def _ratings(value: Mapping[str, Any], place: str) -> Mapping[str, float]:
    annotations = value.get("annotations")
    if annotations is None:
        found = {name: one for name, one in value.items() if _is_rating(one)}
    elif isinstance(annotations, dict):
        found = annotations
    else:
        raise InputError(f'{place}: "annotations" is no object of ratings by quality')
    means = {name: _mean(one, f'{place}: "{name}"') for name, one in found.items() if _rated(one)}
    if not means:
        raise InputError(f"{place}: no quality is rated")
    return means


def _is_rating(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _rated(value: Any) -> bool:
    return value is not None and value not in _UNRATED and value != []


def _mean(value: Any, place: str) -> float:
    """The mean of an annotation: a number, or a list of them of which some may say nothing."""
    numbers = [one for one in (value if isinstance(value, list) else [value]) if _rated(one)]
    if not numbers or not all(_is_rating(one) for one in numbers):
        raise InputError(f"{place}: expected numbers, found {value!r:.60}")
    return sum(numbers) / len(numbers)


def _lines(context: str) -> Iterator[RatedTurn]:
    for line in context.splitlines():
        if line.strip():
            yield RatedTurn(*_speaker(line.strip(), ""))


def _speaker(line: str, default: str) -> tuple[str, str]:
    for speaker in ("User", "System"):
        if line.startswith(f"{speaker}:"):
            return speaker, line[len(speaker) + 1 :].strip()
    return default, line


def _aligned(path: Path, annotations: Sequence[Any]) -> Iterator[Rated]:
    base = path.name.removesuffix(_ANNOTATIONS)
    contexts, responses = (
        read_text(path.with_name(base + end)).splitlines() for end in (_CONTEXTS, _RESPONSES)
    )
    if not len(contexts) == len(responses) == len(annotations):
        raise InputError(
            f"{path}: {len(annotations)} ratings, {len(contexts)} contexts and {len(responses)} responses; "
            f"there must be as many lines in {base}{_CONTEXTS} and {base}{_RESPONSES}"
        )
    for number, (said, answer, rated) in enumerate(zip(contexts, responses, annotations, strict=True), 1):
        place = f"{path}:{number}"
        if not isinstance(rated, dict):
            raise InputError(f"{place}: expected an object of ratings by quality, found {rated!r:.60}")
        yield Rated(
            place, (RatedTurn("", said),), RatedTurn("", answer), _ratings({"annotations": rated}, place)
        )


def only(rated: Sequence[Rated], names: Sequence[str]) -> list[Rated]:
    """The same items with ratings of these qualities alone; of all, where none is named.

    Raises:
        InputError: no item is rated in a quality that is named.
    """
    known = qualities(rated)
    for name in names:
        if name not in known:
            raise InputError(f"no quality is called {name!r}; there are: {', '.join(known)}")
    if not names:
        return list(rated)
    return [
        replace(one, ratings={name: value for name, value in one.ratings.items() if name in names})
        for one in rated
    ]


def qualities(rated: Iterable[Rated]) -> list[str]:
    """The names of all qualities that are rated, in the order in which they come up."""
    return list(dict.fromkeys(name for one in rated for name in one.ratings))


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A correlation from -1 to 1, its 95% bootstrap interval, and the probability that chance alone
    gives one as far from 0."""

    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Correlation:
    """Of one scorer with one quality, over ``items`` responses or dialogues."""

    quality: str
    level: Level
    items: int
    pearson: Coefficient
    spearman: Coefficient
    kendall: Coefficient


@dataclass(frozen=True, slots=True)
class Difference:
    """Spearman of the first scorer less that of the second, its 95% interval, and the share of
    resamples (two-sided) in which the second is as good as the first or better."""

    quality: str
    level: Level
    items: int
    value: float
    low: float
    high: float
    p: float


def correlate(
    scores: Sequence[float], rated: Sequence[Rated], *, resamples: int = 1000, seed: int = 0
) -> list[Correlation]:
    """Pearson, Spearman and Kendall's tau-b of scores with each quality, turns and dialogues apart.

    ``scores`` has one number for each of ``rated``, in order. What was not rated in a quality is left out
    of it. Intervals are percentiles over ``resamples`` draws of the items.

    Raises:
        InputError: another number of scores than of ratings, or too few to correlate.
    """
    return [
        _correlation(one, resampled_items(len(one.people), resamples, seed))
        for one in _columns([scores], rated)
    ]


def compare(
    first: Sequence[float],
    second: Sequence[float],
    rated: Sequence[Rated],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Difference]:
    """Paired bootstrap of two scorers on the same items: whose Spearman is higher, and how surely.

    Raises:
        InputError: another number of scores than of ratings, or too few to correlate.
    """
    return [
        _difference(one, resampled_items(len(one.people), resamples, seed))
        for one in _columns([first, second], rated)
    ]


@dataclass(frozen=True, slots=True)
class _Columns:
    """What people gave in one quality, and what each scorer gave the same items."""

    quality: str
    level: Level
    people: NDArray[Any]
    scores: Sequence[NDArray[Any]]


def _columns(scores: Sequence[Sequence[float]], rated: Sequence[Rated]) -> list[_Columns]:
    """One for each quality and level in which three items or more are rated."""
    import numpy as np

    for column in scores:
        if len(column) != len(rated):
            raise InputError(f"{len(column)} scores for {len(rated)} ratings: give one for each, in order")
    found: list[_Columns] = []
    levels: tuple[Level, ...] = ("turn", "dialogue")
    for name in qualities(rated):
        for level in levels:
            at = [i for i, one in enumerate(rated) if one.level == level and name in one.ratings]
            if len(at) >= 3:
                people = np.array([rated[i].ratings[name] for i in at], dtype=float)
                columns = [np.array(column, dtype=float)[at] for column in scores]
                found.append(_Columns(name, level, people, columns))
    if not found:
        raise InputError("too few ratings: at least three items must be rated in one quality")
    return found


def _correlation(of: _Columns, draws: NDArray[Any]) -> Correlation:
    from scipy import stats

    [scores], people = of.scores, of.people
    ranks = _pearson_rows(_ranks(scores[draws]), _ranks(people[draws]))
    taus = [_tau(scores[draw], people[draw]) for draw in draws]
    return Correlation(
        of.quality,
        of.level,
        len(people),
        Coefficient(
            float(_pearson_rows(scores, people)),
            *interval(_pearson_rows(scores[draws], people[draws])),
            _p(stats.pearsonr, scores, people),
        ),
        Coefficient(_spearman(scores, people), *interval(ranks), _p(stats.spearmanr, scores, people)),
        Coefficient(_tau(scores, people), *interval(taus), _p(stats.kendalltau, scores, people)),
    )


def _difference(of: _Columns, draws: NDArray[Any]) -> Difference:
    import numpy as np

    (first, second), people = of.scores, of.people
    truth = _ranks(people[draws])
    gaps = _pearson_rows(_ranks(first[draws]), truth) - _pearson_rows(_ranks(second[draws]), truth)
    value = _spearman(first, people) - _spearman(second, people)
    against = float(np.mean(gaps <= 0) if value > 0 else np.mean(gaps >= 0)) if len(gaps) else 1.0
    return Difference(of.quality, of.level, len(people), value, *interval(gaps), min(1.0, 2 * against))


def _ranks(rows: NDArray[Any]) -> NDArray[Any]:
    from scipy.stats import rankdata

    return rankdata(rows, axis=-1)


def _pearson_rows(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Pearson's r of each pair of rows; 0 where one does not vary."""
    import numpy as np

    a = first - first.mean(axis=-1, keepdims=True)
    b = second - second.mean(axis=-1, keepdims=True)
    spread = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    product = (a * b).sum(axis=-1)
    return np.divide(product, spread, out=np.zeros_like(product), where=spread > 0)


def _spearman(scores: NDArray[Any], people: NDArray[Any]) -> float:
    return float(_pearson_rows(_ranks(scores), _ranks(people)))


def _tau(scores: NDArray[Any], people: NDArray[Any]) -> float:
    from scipy import stats

    if _constant(scores) or _constant(people):
        return 0.0
    found: Any = stats.kendalltau(scores, people)
    return float(found.statistic)


def _p(test: Callable[..., Any], scores: NDArray[Any], people: NDArray[Any]) -> float:
    if _constant(scores) or _constant(people):
        return 1.0
    return float(test(scores, people).pvalue)


def _constant(values: NDArray[Any]) -> bool:
    return bool((values == values[0]).all())


def read_scores(path: str | Path, expected: int) -> list[float]:
    """The scores of a file, in order: a number a line, or an object a line with ``score``.

    Raises:
        InputError: the file can't be read, a line holds no number, or there are not as many as ``expected``.
    """
    path = Path(path)
    lines = read_text(path).splitlines()
    found = [_score(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    if len(found) != expected:
        raise InputError(f"{path}: {len(found)} scores where {expected} are needed, one for each, in order")
    return found


def _score(line: str, place: str) -> float:
    try:
        value: Any = json.loads(line)
    except ValueError:
        value = None
    if isinstance(value, dict):
        value = value.get("score")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f'{place}: expected a number, or an object with a number as "score"')
    return float(value)

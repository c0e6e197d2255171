"""How well scores agree with people.

In: rating files of the field (DSTC9, FED, DSTC10), and a score for each rated response or dialogue, from a
scorer or a file of scores that any program may write. Out: correlations by quality with 95% intervals, and
how one scorer compares with another on the same items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphneg.english.tokens import word_count
from graphneg.errors import InputError
from graphneg.generators.base import Turn
from graphneg.ingest.content import read_text
from graphneg.json_input import parse_json
from graphneg.records.files import read_negatives
from graphneg.statistics import interval, resampled_items

if TYPE_CHECKING:
    from numpy.typing import NDArray

Level = Literal["turn", "dialogue"]
LEVELS: tuple[Level, ...] = ("turn", "dialogue")

_ANNOTATIONS = "_anno.json"
_CONTEXTS = "_ctx.txt"
_RESPONSES = "_res.txt"
_UNRATED = (None, "N/A", "", [])


@dataclass(frozen=True, slots=True)
class Rated:
    """A response to ``turns``, or the dialogue of ``turns`` itself, and its mean ratings by quality.

    A speaker is empty where the file does not say.
    """

    id: str
    turns: tuple[Turn, ...]
    response: Turn | None
    ratings: Mapping[str, float]

    @property
    def said(self) -> tuple[Turn, ...]:
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

    Raises `InputError`: a file can't be read or is none of these; file and place are named.
    """
    rated = [item for path in map(Path, paths) for item in _read(path)]
    if not rated:
        raise InputError("no ratings: name at least one file that holds some")
    return rated


def turn_texts(paths: Sequence[Path]) -> list[str]:
    """All that is said in rated dialogues (.json), and in the originals of negatives (.jsonl, .parquet)."""
    from graphneg.scorers.coherence import original_turns

    texts: list[str] = []
    for path in paths:
        if path.suffix == ".json":
            texts += [text for item in read_ratings([path]) for _, text in item.said]
        else:
            texts += [text for item in read_negatives(path) for _, text in original_turns(item)]
    return texts


def _read(path: Path) -> Iterator[Rated]:
    value: Any = parse_json(read_text(path), str(path))
    if not isinstance(value, list) or not value:
        raise InputError(f"{path}: expected a JSON list of rated dialogues, found {type(value).__name__}")
    places = [(f"{path}:{number}", item) for number, item in enumerate(value, 1)]
    contexts = any(isinstance(item, dict) and "context" in item for item in value)
    if path.name.endswith(_ANNOTATIONS) and not contexts:
        return _aligned(path, places)
    return (_object(item, place) for place, item in places)


def _object(value: Any, place: str) -> Rated:
    """One object of DSTC9 or FED; ``place`` is FILE:NUMBER, counted from 1."""
    if not isinstance(value, dict) or not isinstance(value.get("context"), str):
        raise InputError(f'{place}: expected an object with a "context" of lines')
    turns = tuple(_turn(line.strip(), "") for line in value["context"].splitlines() if line.strip())
    if not turns:
        raise InputError(f'{place}: the "context" has no turns')
    response = value.get("response")
    if response is not None and not isinstance(response, str):
        raise InputError(f'{place}: "response" is no text')
    ratings = value.get("annotations")
    if ratings is None:
        ratings = {name: item for name, item in value.items() if _is_number(item)}
    elif not isinstance(ratings, dict):
        raise InputError(f'{place}: "annotations" is no object of ratings by quality')
    return Rated(
        place, turns, None if response is None else _turn(response, "System"), _means(ratings, place)
    )


def _aligned(path: Path, annotations: Sequence[tuple[str, Any]]) -> Iterator[Rated]:
    base = path.name.removesuffix(_ANNOTATIONS)
    contexts, responses = (
        read_text(path.with_name(base + end)).splitlines() for end in (_CONTEXTS, _RESPONSES)
    )
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
    """A line; ``speaker`` said it where it begins with nobody's name."""
    named, colon, text = line.partition(":")
    return Turn(named, text.strip()) if colon and named in ("User", "System") else Turn(speaker, line)


def _means(ratings: Mapping[str, Any], place: str) -> Mapping[str, float]:
    """The mean of each quality: of a number, or of a list of them of which some may say nothing."""
    means: dict[str, float] = {}
    for name, value in ratings.items():
        if value in _UNRATED:
            continue
        numbers = [item for item in (value if isinstance(value, list) else [value]) if item not in _UNRATED]
        if not numbers or not all(map(_is_number, numbers)):
            raise InputError(f'{place}: "{name}": expected numbers, found {value!r:.60}')
        means[name] = sum(numbers) / len(numbers)
    if not means:
        raise InputError(f"{place}: no quality is rated")
    return means


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def only(rated: Sequence[Rated], names: Sequence[str]) -> list[Rated]:
    """The same items with ratings of these qualities alone; of all, where none is named.

    Raises `InputError`: no item is rated in a quality that is named.
    """
    known = qualities(rated)
    for name in names:
        if name not in known:
            raise InputError(f"no quality is called {name!r}; there are: {', '.join(known)}")
    return [
        replace(item, ratings={name: item.ratings[name] for name in item.ratings if name in (names or known)})
        for item in rated
    ]


def qualities(rated: Iterable[Rated]) -> list[str]:
    """The names of all qualities that are rated, in the order in which they come up."""
    return list(dict.fromkeys(name for item in rated for name in item.ratings))


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


def counts(rated: Iterable[Rated]) -> dict[str, list[float]]:
    """How long rated items are, as two scorers: a scorer that agrees with people no more than these do may
    have learned nothing else. ``word count`` is that of the response, or of the whole dialogue where that is
    rated; ``turn count`` is of all that is said."""
    items = list(rated)
    words = [item.said if item.response is None else (item.response,) for item in items]
    return {
        "word count": [float(sum(word_count(turn.text) for turn in turns)) for turns in words],
        "turn count": [float(len(item.said)) for item in items],
    }


def correlate(
    scores: Sequence[float], rated: Sequence[Rated], *, resamples: int = 1000, seed: int = 0
) -> list[Correlation]:
    """Pearson, Spearman and Kendall's tau-b of scores with each quality, turns and dialogues apart.

    ``scores`` has one number for each of ``rated``, in order. What was not rated in a quality is left out
    of it. Intervals are percentiles over ``resamples`` draws of the items.

    Raises `InputError`: another number of scores than of ratings, or too few to correlate.
    """
    from scipy import stats

    tests: Any = ((_pearson, stats.pearsonr), (_spearman, stats.spearmanr), (_kendall, stats.kendalltau))
    found: list[Correlation] = []
    for quality, level, people, [own] in _resampled([scores], rated, resamples, seed):
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
    """Paired bootstrap of two scorers on the same items: whose Spearman is higher, and how surely.

    Raises `InputError`: another number of scores than of ratings, or too few to correlate.
    """
    import numpy as np

    differences: list[Difference] = []
    for quality, level, people, [own, other] in _resampled([first, second], rated, resamples, seed):
        truth = _ranks(people)
        value, *gaps = (_pearson(_ranks(own), truth) - _pearson(_ranks(other), truth)).tolist()
        against = float(np.mean([(gap <= 0) if value > 0 else (gap >= 0) for gap in gaps])) if gaps else 1.0
        p = min(1.0, 2 * against)
        differences.append(Difference(quality, level, people.shape[1], value, *interval(gaps), p))
    return differences


def _resampled(
    scores: Sequence[Sequence[float]], rated: Sequence[Rated], resamples: int, seed: int
) -> Iterator[tuple[str, Level, NDArray[Any], list[NDArray[Any]]]]:
    """Each quality and level in which three items or more are rated: what people and scorers gave them.
    Arrays are of shape (1 + resamples, items): all items first, then the draws of them."""
    import numpy as np

    for column in scores:
        if len(column) != len(rated):
            raise InputError(f"{len(column)} scores for {len(rated)} ratings: give one for each, in order")
    few = True
    for name in qualities(rated):
        for level in LEVELS:
            at = [i for i, item in enumerate(rated) if item.level == level and name in item.ratings]
            if len(at) >= 3:
                rows = np.vstack([np.arange(len(at)), resampled_items(len(at), resamples, seed)])
                people = np.array([rated[i].ratings[name] for i in at], dtype=float)[rows]
                columns = [np.array(column, dtype=float)[at][rows] for column in scores]
                few = False
                yield name, level, people, columns
    if few:
        raise InputError("too few ratings: at least three items must be rated in one quality")


def _pearson(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Pearson's r of each pair of rows; 0 where one does not vary."""
    import numpy as np

    a = first - first.mean(axis=-1, keepdims=True)
    b = second - second.mean(axis=-1, keepdims=True)
    spread = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    product = (a * b).sum(axis=-1)
    return np.divide(product, spread, out=np.zeros_like(product), where=spread > 0)


def _spearman(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    return _pearson(_ranks(first), _ranks(second))


def _kendall(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Kendall's tau-b of each pair of rows; 0 where one does not vary."""
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
    """The scores of a file, in order: a number a line, or an object a line with ``score``.

    Raises:
        InputError: the file can't be read, a line holds no number, or there are not as many as ``expected``.
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

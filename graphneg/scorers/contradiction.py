"""A detector of contradictions, responses that annotators labelled, and how well it finds them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from graphneg.errors import InputError
from graphneg.ingest.reading import Refused, json_lines
from graphneg.ingest.validation import mapping, strings
from graphneg.model import Rejected
from graphneg.progress import NoProgress
from graphneg.rankers.cross_encoder import CrossEncoder, First
from graphneg.statistics import THRESHOLD, percentile_interval, resampled_items, roc_auc

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor


# A detector of contradictions: any encoder with a classifier of one class on top.


KIND = "contradiction"
MAX_TOKENS = 128


class SaidPair(NamedTuple):
    """A response, and an earlier utterance of its speaker that it may contradict."""

    response: str
    earlier: str


class _PairEncoder(CrossEncoder):
    """A cross-encoder whose folder says that it finds contradictions, so that no ranking takes it."""

    kind: ClassVar[str] = KIND
    reads_first: ClassVar[First] = "context"


class ContradictionDetector:
    """Says whether a response contradicts an earlier utterance of its speaker.

    It reads the earlier utterance and the response as a cross-encoder reads a context of one turn. Its
    folder is a plain sequence classifier of one class: ``transformers`` and sentence-transformers'
    ``CrossEncoder`` load it, and give the same scores for (earlier, response).
    """

    def __init__(self, encoder: CrossEncoder) -> None:
        self.encoder = encoder
        self.model: Any = encoder.model

    @classmethod
    def new(cls, model: str | Path, *, max_tokens: int = MAX_TOKENS, **options: Any) -> Self:
        """An encoder by path or hub id with a new head of one class, drawn by ``seed``.

        A detector's own folder keeps its head: it can be trained on one source first and on another then.
        ``options`` are those of `graphneg.rankers.cross_encoder.CrossEncoder.new`.

        Raises:
            ModelError: there is no such encoder.
            InputError: no parameter's name begins with one of ``frozen``.
        """
        return cls(_PairEncoder.new(model, max_tokens=max_tokens, **options))

    @classmethod
    def from_pretrained(cls, model: str | Path, **options: Any) -> Self:
        """A trained detector by path or hub id; ``options`` as `CrossEncoder.from_pretrained` takes them.

        Raises:
            ModelError: there is no such model, or it is no detector.
        """
        return cls(_PairEncoder.from_pretrained(model, **options))

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each (response, earlier utterance) how surely it is a contradiction, 0 to 1."""
        responses = [response for response, _ in pairs]
        return self.encoder.score([[earlier] for _, earlier in pairs], responses)

    def encode(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> Mapping[str, Tensor]:
        """Tokens of the pairs, each of shape (pairs, tokens); a context is the earlier utterance alone."""
        return self.encoder.encode(contexts, responses)

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer into a folder that ``from_pretrained`` reads."""
        self.encoder.save(folder)


# Responses that three annotators judged: contradictory to an earlier utterance, or not.
#
# The form is that of Sato et al. 2024 ("A Large Collection of Model-generated Contradictory Responses for
# Consistency-aware Dialogue Systems", Findings of ACL): JSON lines with ``utterances``, ``speakers``,
# ``annotation_target_pair`` (the earlier utterance and the response, which is the last one), ``rgm_name``
# (who generated it) and ``contradictory_label_count``.


ANNOTATORS = 3
AGREED = 2
"""So many of three annotators make a response contradictory; none at all makes it not so."""
KEYS = ("utterances", "speakers", "annotation_target_pair", "rgm_name", "contradictory_label_count")
_UNPUBLISHED = "[[TBA]]"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A response (the last of ``utterances``), and how many of three called it contradictory.

    ``earlier`` is the place of the utterance that it was judged against, ``generator`` who made it,
    ``id`` FILE:LINE or the like.
    """

    id: str
    utterances: tuple[str, ...]
    speakers: tuple[str, ...]
    earlier: int
    generator: str
    votes: int

    @property
    def context(self) -> tuple[str, ...]:
        return self.utterances[:-1]

    @property
    def response(self) -> str:
        return self.utterances[-1]

    @property
    def said(self) -> str:
        """The earlier utterance."""
        return self.utterances[self.earlier]

    @property
    def label(self) -> int | None:
        """1 contradictory (two of three, or all), 0 not (none); None where one of three stands alone.

        >>> [Labelled("", ("a", "b", "c"), ("A", "B", "A"), 0, "", n).label for n in range(4)]
        [0, None, 1, 1]
        """
        return 1 if self.votes >= AGREED else None if self.votes else 0


def read_labelled(paths: Sequence[str | Path]) -> list[Labelled]:
    """The responses of files that are contradictory or not, in order; those that one of three calls so are
    left out.

    Raises:
        InputError: a file can't be read, or a line is none of these; file and line are named.
    """
    found = [one for path in paths for one in _lines(Path(path)) if one.label is not None]
    if not found:
        raise InputError(f"{', '.join(map(str, paths))}: no labelled response in it")
    return found


def labelled_lines(labelled: Iterable[Labelled]) -> Iterator[str]:
    """JSON lines of labelled responses."""
    for one in labelled:
        pair = [one.earlier, len(one.utterances) - 1]
        values = (list(one.utterances), list(one.speakers), pair, one.generator, one.votes)
        yield json.dumps(dict(zip(KEYS, values, strict=True)), ensure_ascii=False)


def labelled_of(value: Any, id: str) -> Labelled:
    """One line's object.

    Raises:
        Refused: it is not in the form.
    """
    fields = mapping(value, "the line")
    if missing := [key for key in KEYS if key not in fields]:
        raise Refused(f'"{missing[0]}" is not there')
    utterances = tuple(text.strip() for text in strings(fields["utterances"], '"utterances"'))
    speakers = tuple(strings(fields["speakers"], '"speakers"'))
    _check_turns(utterances, speakers)
    generator = fields["rgm_name"]
    if not isinstance(generator, str) or not generator:
        raise Refused('"rgm_name" is no name')
    return Labelled(id, utterances, speakers, _earlier(fields, len(utterances)), generator, _votes(fields))


def _lines(path: Path) -> Iterator[Labelled]:
    for item in json_lines(path, NoProgress()):
        if isinstance(item, Rejected):
            raise InputError(f"{item.place}: {item.reason}")
        try:
            yield labelled_of(item.value, item.place)
        except Refused as reason:
            raise InputError(f"{item.place}: {reason}") from reason


def _check_turns(utterances: Sequence[str], speakers: Sequence[str]) -> None:
    if len(utterances) < 2:
        raise Refused(f'{len(utterances)} "utterances"; there must be a context and a response')
    if len(speakers) != len(utterances):
        raise Refused(f'{len(speakers)} "speakers" of {len(utterances)} "utterances"')
    if not all(utterances):
        raise Refused(f"utterance {utterances.index('')} is empty")
    if utterances[-1] == _UNPUBLISHED:
        raise Refused(f"the response is {_UNPUBLISHED}: its text was not published")


def _earlier(fields: Mapping[str, Any], turns: int) -> int:
    pair = fields["annotation_target_pair"]
    if not isinstance(pair, list) or len(pair) != 2 or not all(type(one) is int for one in pair):
        raise Refused('"annotation_target_pair" is not two places of utterances')
    earlier, later = pair
    if later != turns - 1 or not 0 <= earlier < later:
        raise Refused(
            f'"annotation_target_pair" {pair} is not an earlier utterance and the last one ({turns - 1})'
        )
    return earlier


def _votes(fields: Mapping[str, Any]) -> int:
    votes = fields["contradictory_label_count"]
    if type(votes) is not int or not 0 <= votes <= ANNOTATORS:
        raise Refused(f'"contradictory_label_count" is {votes!r}; it must be 0 to {ANNOTATORS}')
    return votes


# How well a detector finds contradictions: figures for each response generator, and their means.


MEASURES = ("accuracy", "balanced_accuracy", "f1", "auc")


class Estimate(NamedTuple):
    """A figure from 0 to 1, and its 95% bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Detected:
    """Figures over ``responses`` of one generator, ``contradictory`` of them.

    ``f1`` is that of the contradictory ones; ``auc`` counts a tie as half.
    """

    generator: str
    responses: int
    contradictory: int
    accuracy: Estimate
    balanced_accuracy: Estimate
    f1: Estimate
    auc: Estimate


@dataclass(frozen=True, slots=True)
class Detection:
    """Figures by generator, and their unweighted means (``mean``; its counts are sums)."""

    generators: Sequence[Detected]
    mean: Detected

    def as_dicts(self) -> list[dict[str, Any]]:
        """One plain object a generator, then the mean, for JSON."""
        return [_plain(one) for one in (*self.generators, self.mean)]


def check_classes(labelled: Iterable[Labelled]) -> None:
    """Raises `InputError` where all responses of a generator have one label: nothing is told apart then."""
    labels: dict[str, set[int | None]] = {}
    for one in labelled:
        labels.setdefault(one.generator, set()).add(one.label)
    for generator, own in labels.items():
        if len(own) < 2:
            raise InputError(f"{generator}: all responses are of one class; there is nothing to tell apart")


def detection(
    labelled: Sequence[Labelled],
    scores: Sequence[float],
    *,
    threshold: float = THRESHOLD,
    resamples: int = 1000,
    seed: int = 0,
) -> Detection:
    """Figures of scores, one for each labelled response, in order.

    A score from ``threshold`` on says: contradictory. Intervals are percentiles over ``resamples`` draws
    of a generator's responses; the mean's are over draws of each generator's at once.

    Raises:
        InputError: scores and responses are not as many, or a generator has only one class.
    """
    import numpy as np

    if len(scores) != len(labelled):
        raise InputError(f"{len(scores)} scores for {len(labelled)} responses: give one for each, in order")
    check_classes(labelled)
    names = list(dict.fromkeys(one.generator for one in labelled))
    columns = [_column(name, labelled, scores, threshold) for name in names]
    random = np.random.default_rng(seed)
    drawn = [_drawn(one, resamples, random) for one in columns]
    found = [_detected(one, draws) for one, draws in zip(columns, drawn, strict=True)]
    means = np.mean([list(_figures(one).values()) for one in columns], axis=0)
    mean = Detected(
        "mean",
        sum(one.responses for one in found),
        sum(one.contradictory for one in found),
        *_estimates(means, np.mean(drawn, axis=0)),
    )
    return Detection(found, mean)


@dataclass(frozen=True, slots=True)
class _Column:
    """One generator's labels, scores and verdicts, each of shape (responses,)."""

    name: str
    labels: NDArray[Any]
    scores: NDArray[Any]
    verdicts: NDArray[Any]

    def at(self, places: NDArray[Any]) -> _Column:
        return _Column(self.name, self.labels[places], self.scores[places], self.verdicts[places])


def _column(name: str, labelled: Sequence[Labelled], scores: Sequence[float], threshold: float) -> _Column:
    import numpy as np

    at = [place for place, one in enumerate(labelled) if one.generator == name]
    labels = np.array([labelled[place].label for place in at], dtype=int)
    own = np.array([scores[place] for place in at], dtype=float)
    return _Column(name, labels, own, (own >= threshold).astype(int))


def _drawn(one: _Column, resamples: int, random: Any) -> NDArray[Any]:
    """Figures of resamples, of shape (resamples, measures); a resample of one class is NaN."""
    import numpy as np

    draws = resampled_items(len(one.labels), resamples, random)
    rows = [list(_figures(one.at(draw)).values()) for draw in draws]
    return np.array(rows).reshape(resamples, len(MEASURES))


def _figures(one: _Column) -> dict[str, float]:
    import numpy as np

    held, dropped = one.labels == 1, one.labels == 0
    if not held.any() or not dropped.any():
        return dict.fromkeys(MEASURES, float("nan"))
    right = one.verdicts == one.labels
    claimed = int(one.verdicts.sum()) + int(held.sum())
    return {
        "accuracy": float(right.mean()),
        "balanced_accuracy": float((right[held].mean() + right[dropped].mean()) / 2),
        "f1": float(2 * np.sum(held & (one.verdicts == 1)) / claimed),
        "auc": roc_auc(one.scores[held], one.scores[dropped]),
    }


def _detected(one: _Column, drawn: NDArray[Any]) -> Detected:
    import numpy as np

    figures = np.array(list(_figures(one).values()))
    return Detected(one.name, len(one.labels), int(one.labels.sum()), *_estimates(figures, drawn))


def _estimates(figures: NDArray[Any], drawn: NDArray[Any]) -> list[Estimate]:
    import numpy as np

    if not len(drawn) or np.isnan(drawn).all():
        return [Estimate(float(value), float(value), float(value)) for value in figures]
    low, high = percentile_interval(drawn)
    return [Estimate(*map(float, three)) for three in zip(figures, low, high, strict=True)]


def _plain(one: Detected) -> dict[str, Any]:
    return {
        key: value._asdict() if isinstance(value, Estimate) else value
        for key, value in ((field.name, getattr(one, field.name)) for field in fields(one))
    }

"""What people thought of dialogues and responses: the rating files that the field compares scorers on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple

from graphneg.errors import InputError

Level = Literal["turn", "dialogue"]

_ANNOTATIONS = "_anno.json"
_CONTEXTS = "_ctx.txt"
_RESPONSES = "_res.txt"
_UNRATED = ("N/A", "")


class Said(NamedTuple):
    """One turn; the speaker is empty where the file does not say."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Rated:
    """A response to ``turns``, or the dialogue of ``turns`` itself, and its mean ratings by quality."""

    id: str
    turns: tuple[Said, ...]
    response: Said | None
    ratings: Mapping[str, float]

    @property
    def said(self) -> tuple[Said, ...]:
        """All turns, the response last where one is rated."""
        return self.turns if self.response is None else (*self.turns, self.response)

    @property
    def level(self) -> Level:
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
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error
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
    said = None if response is None else Said(*_speaker(response, "System"))
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


def _lines(context: str) -> Iterator[Said]:
    for line in context.splitlines():
        if line.strip():
            yield Said(*_speaker(line.strip(), ""))


def _speaker(line: str, default: str) -> tuple[str, str]:
    for speaker in ("User", "System"):
        if line.startswith(f"{speaker}:"):
            return speaker, line[len(speaker) + 1 :].strip()
    return default, line


def _aligned(path: Path, annotations: Sequence[Any]) -> Iterator[Rated]:
    base = path.name.removesuffix(_ANNOTATIONS)
    contexts, responses = (_text(path.with_name(base + end)) for end in (_CONTEXTS, _RESPONSES))
    if not len(contexts) == len(responses) == len(annotations):
        raise InputError(
            f"{path}: {len(annotations)} ratings, {len(contexts)} contexts and {len(responses)} responses; "
            f"there must be as many lines in {base}{_CONTEXTS} and {base}{_RESPONSES}"
        )
    for number, (said, answer, rated) in enumerate(zip(contexts, responses, annotations, strict=True), 1):
        place = f"{path}:{number}"
        if not isinstance(rated, dict):
            raise InputError(f"{place}: expected an object of ratings by quality, found {rated!r:.60}")
        yield Rated(place, (Said("", said),), Said("", answer), _ratings({"annotations": rated}, place))


def _text(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: no text in UTF-8 (byte {error.start})") from error


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

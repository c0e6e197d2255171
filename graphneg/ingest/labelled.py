"""Responses that three annotators judged: contradictory to an earlier utterance of their speaker, or not.

JSON lines in, `Labelled` out, and back. The form is that of Sato et al. 2024 ("A Large Collection of
Model-generated Contradictory Responses for Consistency-aware Dialogue Systems", Findings of ACL):
``utterances``, ``speakers``, ``annotation_target_pair`` (the earlier utterance and the response, which is
the last one), ``rgm_name`` (who generated it) and ``contradictory_label_count``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphneg.errors import InputError
from graphneg.ingest.reading import Refused, json_lines
from graphneg.ingest.validation import mapping, strings
from graphneg.model import Rejected
from graphneg.progress import NoProgress

ANNOTATORS = 3
AGREED = 2
"""So many of three annotators make a response contradictory; none at all makes it not so."""
KEYS = ("utterances", "speakers", "annotation_target_pair", "rgm_name", "contradictory_label_count")
_UNPUBLISHED = "[[TBA]]"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A response (the last of ``utterances``), and how many of three called it contradictory.

    ``earlier`` is the index of the utterance that it was judged against, ``generator`` who made it,
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
        """The utterances before the response."""
        return self.utterances[:-1]

    @property
    def response(self) -> str:
        """The utterance that was judged."""
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
    labelled = [line for path in paths for line in _lines(Path(path)) if line.label is not None]
    if not labelled:
        raise InputError(f"{', '.join(map(str, paths))}: no labelled response in it")
    return labelled


def labelled_lines(labelled: Iterable[Labelled]) -> Iterator[str]:
    """JSON lines of labelled responses."""
    for line in labelled:
        pair = [line.earlier, len(line.utterances) - 1]
        values = (list(line.utterances), list(line.speakers), pair, line.generator, line.votes)
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
    if not isinstance(pair, list) or len(pair) != 2 or not all(type(index) is int for index in pair):
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

"""Responses that three annotators judged: contradictory to an earlier utterance of their speaker, or not.

JSON lines in, `Labelled` out, and back. The form is that of Sato et al. 2024 ("A Large Collection of
Model-generated Contradictory Responses for Consistency-aware Dialogue Systems", Findings of ACL):
``utterances``, ``speakers``, ``annotation_target_pair`` (the earlier utterance and the response, which is
the last one), ``rgm_name`` (who generated it) and ``contradictory_label_count``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from graphneg.errors import InputError
from graphneg.ingest.content import Refused
from graphneg.ingest.reading import accepted, each_line, parse_json
from graphneg.ingest.validation import mapping, strings
from graphneg.json_input import json_line
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

    Raises `InputError`: a file can't be read, or a line is none of these; file and line are named.
    """
    labelled: list[Labelled] = []
    for path in paths:
        lines = each_line(Path(path), NoProgress(), lambda at: [labelled_of(parse_json(at.text), at.place)])
        labelled += [line for line in accepted(lines) if line.label is not None]
    if not labelled:
        raise InputError(f"{', '.join(map(str, paths))}: no labelled response in it")
    return labelled


def labelled_lines(labelled: Iterable[Labelled]) -> Iterator[str]:
    """JSON lines of labelled responses."""
    for line in labelled:
        pair = [line.earlier, len(line.utterances) - 1]
        values = (list(line.utterances), list(line.speakers), pair, line.generator, line.votes)
        yield json_line(dict(zip(KEYS, values, strict=True)))


def labelled_of(value: Any, id: str) -> Labelled:
    """One line's object.

    Raises `Refused`: it is not in the form.
    """
    fields = mapping(value, "the line")
    if missing := [key for key in KEYS if key not in fields]:
        raise Refused(f'"{missing[0]}" is not there')
    utterances = tuple(text.strip() for text in strings(fields["utterances"], '"utterances"'))
    speakers = tuple(strings(fields["speakers"], '"speakers"'))
    pair, generator, votes = (fields[key] for key in KEYS[2:])
    last, is_pair = len(utterances) - 1, isinstance(pair, list) and len(cast("list[Any]", pair)) == 2
    indices: list[int] = [index for index in pair if type(index) is int] if is_pair else []
    faults = (
        (last < 1, f'{len(utterances)} "utterances"; there must be a context and a response'),
        (len(speakers) != len(utterances), f'{len(speakers)} "speakers" of {len(utterances)} "utterances"'),
        ("" in utterances, f"utterance {utterances.index('') if '' in utterances else 0} is empty"),
        (_UNPUBLISHED in utterances[-1:], f"the response is {_UNPUBLISHED}: its text was not published"),
        (not isinstance(generator, str) or not generator, '"rgm_name" is no name'),
        (len(indices) != 2, '"annotation_target_pair" is not two places of utterances'),
        (
            indices[1:] != [last] or not 0 <= indices[0] < last,
            f'"annotation_target_pair" {pair} is not an earlier utterance and the last one ({last})',
        ),
        (
            type(votes) is not int or not 0 <= votes <= ANNOTATORS,
            f'"contradictory_label_count" is {votes!r}; it must be 0 to {ANNOTATORS}',
        ),
    )
    for is_fault, reason in faults:
        if is_fault:
            raise Refused(reason)
    return Labelled(id, utterances, speakers, indices[0], generator, votes)

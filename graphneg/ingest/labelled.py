"""Read and write model responses that annotators judged to be contradictory or not.

The format was introduced by Sato et al. 2024 ("A Large Collection of Model-generated Contradictory Responses
for Consistency-aware Dialogue Systems", Findings of ACL). Each JSON line contains a dialogue, whose last
utterance is the response of a model. Three annotators judged whether this response contradicts an earlier
utterance of the same speaker.

>>> line = {
...     "utterances": ["Do you eat meat?", "I am a vegetarian.", "Since when?", "I had a steak today."],
...     "speakers": ["A", "B", "A", "B"],
...     "annotation_target_pair": [1, 3],
...     "rgm_name": "model",
...     "contradictory_label_count": 3,
... }
>>> response = labelled_of(line, "data.jsonl:1")
>>> response.contradicted_text, response.label
('I am a vegetarian.', 1)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from graphneg.errors import InputError
from graphneg.ingest.content import ItemError
from graphneg.ingest.reading import accepted, each_line, parse_json
from graphneg.ingest.validation import mapping, strings
from graphneg.json_input import json_line
from graphneg.progress import NoProgress

ANNOTATORS = 3
"""Number of annotators who judged each response."""
MIN_VOTES = 2
"""Minimum number of votes for the label "contradictory". A response without votes is "not contradictory"."""
KEYS = ("utterances", "speakers", "annotation_target_pair", "rgm_name", "contradictory_label_count")
"""The keys of a JSON line, in the order in which `labelled_lines` writes them."""
# The corpus contains this string instead of the text of a response that was not published.
_UNPUBLISHED = "[[TBA]]"


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """A response, with the number of annotators who called it contradictory.

    Attributes:
        id: The position of the response in the input, such as ``FILE:LINE``.
        utterances: The texts of the context, followed by the response.
        speakers: The speaker of each utterance.
        contradicted_index: The index of the earlier utterance that the response may contradict.
        generator: The name of the model that generated the response.
        votes: The number of annotators who called the response contradictory, from 0 to 3.
    """

    id: str
    utterances: tuple[str, ...]
    speakers: tuple[str, ...]
    contradicted_index: int
    generator: str
    votes: int

    @property
    def context(self) -> tuple[str, ...]:
        """The utterances before the response."""
        return self.utterances[:-1]

    @property
    def response(self) -> str:
        """The text of the response, which the annotators judged."""
        return self.utterances[-1]

    @property
    def contradicted_text(self) -> str:
        """The earlier utterance that the response may contradict."""
        return self.utterances[self.contradicted_index]

    @property
    def label(self) -> int | None:
        """The label: 1 for contradictory (2 or 3 votes), 0 for not contradictory (0 votes), None for 1 vote.

        >>> [JudgedResponse("", ("a", "b", "c"), ("A", "B", "A"), 0, "", n).label for n in range(4)]
        [0, None, 1, 1]
        """
        return 1 if self.votes >= MIN_VOTES else None if self.votes else 0


def read_labelled(paths: Sequence[str | Path]) -> list[JudgedResponse]:
    """Read the responses that have a label.

    Responses that only one of the three annotators called contradictory have no label and are left out.
    Raises `InputError`, with file and line, if a file cannot be read or a line is not in the expected format.

    Args:
        paths: The JSON Lines files to read.

    Returns:
        The labelled responses, in the order of the files.

    Raises:
        InputError: The files contain no labelled response.
    """
    labelled: list[JudgedResponse] = []
    for path in paths:
        lines = each_line(Path(path), NoProgress(), lambda at: [labelled_of(parse_json(at.text), at.place)])
        # Drop responses that only one annotator called contradictory: they have no label, because the
        # judgement is unclear.
        labelled += [line for line in accepted(lines) if line.label is not None]
    if not labelled:
        raise InputError(f"{', '.join(map(str, paths))}: no labelled responses found")
    return labelled


def labelled_lines(labelled: Iterable[JudgedResponse]) -> Iterator[str]:
    """Write labelled responses as JSON lines, in the format that `read_labelled` reads.

    Args:
        labelled: The responses with their votes.

    Yields:
        One line per response.
    """
    for line in labelled:
        pair = [line.contradicted_index, len(line.utterances) - 1]
        values = (list(line.utterances), list(line.speakers), pair, line.generator, line.votes)
        yield json_line(dict(zip(KEYS, values, strict=True)))


def labelled_of(value: Any, id: str) -> JudgedResponse:
    """Convert a decoded JSON line into a response with the votes of its annotators.

    Args:
        value: The decoded JSON value of the line.
        id: The position of the line, such as ``FILE:LINE``.

    Returns:
        The response.

    Raises:
        ItemError: A key is missing, or a value does not have the format of the corpus.
    """
    fields = mapping(value, "the line")
    if missing := [key for key in KEYS if key not in fields]:
        raise ItemError(f'"{missing[0]}" is missing')
    utterances = tuple(text.strip() for text in strings(fields["utterances"], '"utterances"'))
    speakers = tuple(strings(fields["speakers"], '"speakers"'))
    pair, generator, votes = (fields[key] for key in KEYS[2:])
    last, is_pair = len(utterances) - 1, isinstance(pair, list) and len(cast("list[Any]", pair)) == 2
    # Compare the type instead of using isinstance, which would also accept True and False.
    indices: list[int] = [index for index in pair if type(index) is int] if is_pair else []
    faults = (
        (last < 1, f'{len(utterances)} "utterances", but a context and a response are required'),
        (len(speakers) != len(utterances), f'{len(speakers)} "speakers", but {len(utterances)} "utterances"'),
        ("" in utterances, f"utterance {utterances.index('') if '' in utterances else 0} is empty"),
        (_UNPUBLISHED in utterances[-1:], f"the response is {_UNPUBLISHED}: its text was not published"),
        (not isinstance(generator, str) or not generator, '"rgm_name" is not a name'),
        (len(indices) != 2, '"annotation_target_pair" is not a pair of utterance indices'),
        (
            indices[1:] != [last] or not 0 <= indices[0] < last,
            f'"annotation_target_pair" {pair} is not an earlier utterance and the last one ({last})',
        ),
        (
            type(votes) is not int or not 0 <= votes <= ANNOTATORS,
            f'"contradictory_label_count" is {votes!r}, but must be from 0 to {ANNOTATORS}',
        ),
    )
    # Report only the first fault, because the other faults may be consequences of it.
    for is_fault, reason in faults:
        if is_fault:
            raise ItemError(reason)
    return JudgedResponse(id, utterances, speakers, indices[0], generator, votes)

"""Read the reply frames: templates for replies that repeat a sentence of an earlier turn.

A *reply frame* turns the repeated sentence into a natural reply, for example into a question for its reason,
a check that it was understood, or an expression of surprise. The frame adds nodes to the graph of the
sentence, and words to its text. For example, the frame ``why`` puts ``cause-01`` above the graph of "You like
tea", and its text is "Why do you like tea?". The frames are the rows of ``reply_frames.tsv``.

The *voice* tells who said the repeated sentence: ``own`` for the speaker of the reply, ``other`` for the
other speaker.

>>> reply_frame("check", "other").opening, frames_of("own")
('So', ('claim', 'said'))
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from graphneg.english.words import table_rows

CLAUSE = "clause-of-frame"
"""Concept of the node that stands for the repeated sentence in the graph of a frame."""
VOICES = ("own", "other")
"""The speakers whose sentence a reply can repeat: the speaker of the reply, or the other speaker."""


class ReplyFrame(NamedTuple):
    """A row of ``reply_frames.tsv``.

    Attributes:
        name: Name of the frame, such as ``why``.
        voice: Who said the repeated sentence: ``own`` (the speaker of the reply) or ``other``.
        graph: AMR graph of the reply in PENMAN notation. The node with the concept `CLAUSE` stands for the
            repeated sentence.
        opening: Words of the reply before the repeated sentence, such as *So*; empty if there are none.
        order: Word order of the repeated sentence: ``plain``, ``inverted`` ("do you like it"), or ``asked``
            for a question about one of its phrases ("what do you like").
        mark: End mark of the reply.
        allows_unchanged: ``yes`` if the reply is usually right when it repeats the sentence unchanged: A says
            "I like tea.", B asks "Why do you like tea?" Otherwise ``no``.
        allows_context_twin: ``yes`` if the reply is usually right when the change is also made in the earlier
            turn: A says "I don't like tea.", B asks "Why don't you like tea?" Otherwise ``no``.
        example: An example of a reply.
    """

    name: str
    voice: str
    graph: str
    opening: str
    order: str
    mark: str
    allows_unchanged: str
    allows_context_twin: str
    example: str


@cache
def _frames() -> dict[tuple[str, str], ReplyFrame]:
    """Read ``reply_frames.tsv``. The rows are keyed by name and voice: ``("why", "other")``."""
    rows = (ReplyFrame._make(row) for row in table_rows("graphneg.english", "reply_frames.tsv"))
    return {(row.name, row.voice): row for row in rows}


def reply_frame(name: str, voice: str) -> ReplyFrame | None:
    """Return the reply frame with a given name.

    Args:
        name: Name of the reply frame, such as ``why``.
        voice: Who said the repeated sentence: ``own`` (the speaker of the reply) or ``other``.

    Returns:
        The reply frame, or None if the table has no row with this name and voice.
    """
    return _frames().get((name, voice))


def frames_of(voice: str) -> tuple[str, ...]:
    """Return the names of the reply frames that repeat a sentence of a given speaker.

    Args:
        voice: Who said the repeated sentence: ``own`` (the speaker of the reply) or ``other``.

    Returns:
        The names, such as "check" and "why", in the order of the rows of ``reply_frames.tsv``.
    """
    return tuple(name for name, of in _frames() if of == voice)

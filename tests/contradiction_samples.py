"""Labelled responses from three made-up generators, and a follow-up question, for tests of contradictions."""

from __future__ import annotations

from hypothesis import strategies as st

from graphneg.generators.base import Context
from graphneg.ingest.labelled import JudgedResponse
from graphneg.model import Turn
from graphneg.scorers.followups import FollowUp

QUESTIONS = ("where is the cat", "who ate the bread", "shall we swim", "when is now")


def labelled() -> list[JudgedResponse]:
    """Return two responses per generator and context. The one with "fish" is labelled contradictory."""
    return [
        JudgedResponse(
            f"own:{name}{place}{votes}",
            (f"the cat is in the {place}", question, f"{text} {name}"),
            ("A", "B", "A"),
            0,
            name,
            votes,
        )
        for at, name in enumerate(("six", "twelve", "eggs"))
        for place, question in zip(("garden", "kitchen", "bread", "dog"), QUESTIONS, strict=True)
        for text, votes in (("fish fish", 2 + at % 2), ("the cat", 0))
        if not (at and place == "dog")
    ]


def apart() -> list[JudgedResponse]:
    """Return the responses of `labelled`, with a different context for each generator."""
    return [
        JudgedResponse(
            one.id,
            (f"{one.contradicted_text} {one.generator}", *one.utterances[1:]),
            one.speakers,
            0,
            one.generator,
            one.votes,
        )
        for one in labelled()
    ]


def followup() -> FollowUp:
    """Return a context in which B asks about the coat that A mentioned three turns earlier."""
    turns = (
        Turn("A", "My coat is red."),
        Turn("B", "It is cold."),
        Turn("A", "There is rice in the kitchen."),
        Turn("B", "Where is my coat?"),
    )
    return FollowUp(Context("own/all/1#4", "own", "all", "own/all/1", 4, turns, "A"), 0)


texts = st.text("ab ", min_size=1, max_size=3).filter(str.strip)
responses = st.builds(
    lambda id, turns, generator, votes: JudgedResponse(
        str(id), tuple(turns), ("A", "B") * len(turns), 0, generator, votes
    ),
    st.integers(),
    st.lists(texts, min_size=2, max_size=4),
    st.sampled_from(("x", "y", "z")),
    st.sampled_from((0, 2, 3)),
)

"""Label collected responses as contradictory or consistent, with the votes of three annotators.

The procedure follows Sato et al. (2024), "A Large Collection of Model-generated Contradictory Responses for
Consistency-aware Dialogue Systems", section 3. A response is contradictory if at least two of three
annotators say so, and consistent if none of them does. Responses that only one annotator finds contradictory
are dropped.

Example:
    Three annotators judge whether the response "I don't have a dog." contradicts the speaker's earlier
    utterance "My dog is called Rex." If two or three annotators say yes, the label is 1. If all say no, the
    label is 0. If only one says yes, the response is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphneg.errors import InputError
from graphneg.evaluation.review.items import FORMAT, Item, ReviewSet
from graphneg.evaluation.review.judgements import ADJUDICATOR, Judgement
from graphneg.evaluation.review.questions import load_questions
from graphneg.hashing import shuffled
from graphneg.ingest.labelled import ANNOTATORS, JudgedResponse
from graphneg.scorers.collection import CollectedResponse

_QUESTIONS = "contradiction"


def review_of(responses: Sequence[CollectedResponse], seed: int = 0) -> ReviewSet:
    """Make a review set for three annotators from collected responses.

    Args:
        responses: The collected responses.
        seed: Seed for shuffling the items.

    Returns:
        A review set with shuffled items, so that their order reveals nothing about the generators.
    """
    items = [
        Item(
            one.generator,
            one.id,
            tuple((turn.speaker, turn.text) for turn in one.followup.context.turns),
            one.response,
        )
        for one in responses
    ]
    order = tuple(shuffled(items, seed, "sheet"))
    return ReviewSet(FORMAT, seed, load_questions(_QUESTIONS), order, ANNOTATORS)


def labelled_responses(
    responses: Sequence[CollectedResponse], set: ReviewSet, judgements: Sequence[Judgement]
) -> list[JudgedResponse]:
    """Label responses by the votes of their annotators.

    Args:
        responses: The collected responses.
        set: The review set that `review_of` made from these responses.
        judgements: The judgements of three annotators. Judgements of the adjudicator are ignored.

    Returns:
        The labelled responses, in the order of ``responses``. A response is left out if exactly one annotator
        voted "contradictory".

    Raises:
        InputError: The review set has different responses, it does not have exactly one question, the
            question has no positive answer, or an item does not have three judgements.
    """
    [question, *others] = set.questions.questions
    if others or not question.positive:
        raise InputError(
            f"{set.questions.name}: labels need exactly one question, which has a positive answer"
        )
    votes = _votes(set, judgements, question.name, question.positive)
    known = {response.id for response in responses}
    for ids, there, what in (
        (known, votes, "has no judgements"),
        (votes, known, "is not among the responses"),
    ):
        if missing := sorted(id for id in ids if id not in there):
            more = f", like {len(missing) - 1:,} others" if len(missing) > 1 else ""
            raise InputError(f"the response {missing[0]!r} {what}{more}")
    labelled: list[JudgedResponse] = []
    for response in responses:
        followup = response.followup
        turns, speaker = followup.context.turns, followup.context.speaker
        item = JudgedResponse(
            id=response.id,
            utterances=(*(turn.text for turn in turns), response.response),
            speakers=(*(turn.speaker for turn in turns), speaker),
            contradicted_index=followup.referent,
            generator=response.generator,
            votes=sum(votes[response.id]),
        )
        # If only one of three annotators voted "contradictory", the label is None, and the response is
        # dropped.
        if item.label is not None:
            labelled.append(item)
    return labelled


def _votes(
    set: ReviewSet, judgements: Sequence[Judgement], question: str, positive: str
) -> Mapping[str, Sequence[bool]]:
    """Return the three votes on each item, keyed by the id of the item. True means "contradictory"."""
    votes: dict[str, list[bool]] = {item.id: [] for item in set.items}
    for one in judgements:
        # A label depends on three independent votes. The adjudicator decides only if the annotators disagree,
        # so do not count the adjudicator's decision.
        if one.annotator != ADJUDICATOR:
            votes[set.item(one.row).id].append(one.answers[question] == positive)
    for row, item in enumerate(set.items, 1):
        if (said := len(votes[item.id])) != ANNOTATORS:
            raise InputError(f"row {row} ({item.id}): expected {ANNOTATORS} annotators but found {said}")
    return votes

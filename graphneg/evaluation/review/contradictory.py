"""Label collected responses as contradictory or consistent, with the votes of three annotators.

The procedure is that of Sato et al. (2024), "A Large Collection of Model-generated Contradictory Responses
for Consistency-aware Dialogue Systems", section 3. A response is contradictory if at least two of three
annotators say so, and consistent if none does. Responses with one vote are dropped.

Example:
    Three annotators judge the response "I don't have a dog" to an earlier "My dog is called Rex". With 2
    votes its label is 1, with 0 votes it is 0, and with 1 vote it is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphneg.errors import InputError
from graphneg.evaluation.review.items import FORMAT, Item, ReviewSet
from graphneg.evaluation.review.judgements import ADJUDICATOR, Judgement
from graphneg.evaluation.review.questions import load_questions
from graphneg.hashing import shuffled
from graphneg.ingest.labelled import ANNOTATORS, Labelled
from graphneg.scorers.collection import Responded

_QUESTIONS = "contradiction"


def review_of(responses: Sequence[Responded], seed: int = 0) -> ReviewSet:
    """Make a review set for three annotators from collected responses.

    Args:
        responses: The collected responses.
        seed: Seed of the order of the items.

    Returns:
        The items in shuffled order, so that neighbours reveal nothing about the generator.
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
    responses: Sequence[Responded], set: ReviewSet, judgements: Sequence[Judgement]
) -> list[Labelled]:
    """Combine responses with the votes of their annotators.

    Args:
        responses: The collected responses.
        set: The review set that `review_of` made from them.
        judgements: The judgements of three annotators. Those of the adjudicator are ignored.

    Returns:
        The responses with at least two votes or none, in the order of ``responses``.

    Raises:
        InputError: The review has other responses or other questions, or an item does not have three
            judgements.
    """
    [question, *others] = set.questions.questions
    if others or not question.positive:
        raise InputError(f"{set.questions.name}: one question with a positive answer makes labels here")
    votes = _votes(set, judgements, question.name, question.positive)
    known = {response.id for response in responses}
    for ids, there, what in ((known, votes, "it was not judged"), (votes, known, "no such response")):
        if missing := sorted(id for id in ids if id not in there):
            raise InputError(f"{missing[0]!r}: {what} (and {len(missing) - 1:,} others alike)")
    labelled: list[Labelled] = []
    for response in responses:
        followup = response.followup
        turns, speaker = followup.context.turns, followup.context.speaker
        item = Labelled(
            id=response.id,
            utterances=(*(turn.text for turn in turns), response.response),
            speakers=(*(turn.speaker for turn in turns), speaker),
            earlier=followup.referent,
            generator=response.generator,
            votes=sum(votes[response.id]),
        )
        # One vote of three gives no label.
        if item.label is not None:
            labelled.append(item)
    return labelled


def _votes(
    set: ReviewSet, judgements: Sequence[Judgement], question: str, positive: str
) -> Mapping[str, Sequence[bool]]:
    """Return the three votes on each item, by the id of the item."""
    votes: dict[str, list[bool]] = {item.id: [] for item in set.items}
    for one in judgements:
        # The rule needs three independent votes; a decision of the adjudicator is none of them.
        if one.annotator != ADJUDICATOR:
            votes[set.item(one.row).id].append(one.answers[question] == positive)
    for row, item in enumerate(set.items, 1):
        if (said := len(votes[item.id])) != ANNOTATORS:
            raise InputError(f"row {row} ({item.id}): {said} annotators judged it, {ANNOTATORS} have to")
    return votes

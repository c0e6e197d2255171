"""Let people judge negatives in a blind review, and evaluate their judgements.

The review is blind: annotators do not know from which source a negative comes. `draw` samples items from
several sources into a `ReviewSet` and shuffles them. The same `Questions` are asked about each item.
Annotators fill in a CSV sheet (`exchange`) or work on a web page (``graphneg.pages.review``), which stores
each answer in a `Judgements` file. `Results` computes the share of each answer with its confidence interval,
the agreement between annotators, a list of the rows on which they disagree, and the final labels.
"""

from __future__ import annotations

from graphneg.evaluation.review.drawing import Drawn, sample_review
from graphneg.evaluation.review.exchange import read_judgements, write_judgements
from graphneg.evaluation.review.items import Item, ReviewSet
from graphneg.evaluation.review.judgements import Judgement, Judgements
from graphneg.evaluation.review.questions import Questions, load_questions
from graphneg.evaluation.review.results import Results, results_of

__all__ = [
    "Drawn",
    "Item",
    "Judgement",
    "Judgements",
    "Questions",
    "Results",
    "ReviewSet",
    "load_questions",
    "read_judgements",
    "results_of",
    "sample_review",
    "write_judgements",
]

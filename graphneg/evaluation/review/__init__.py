"""Let people judge negatives without knowing where they come from, and evaluate the judgements.

`draw` samples items from several sources into a `ReviewSet` and shuffles them, so that annotators cannot tell
the sources apart. The `Questions` are asked about each item. Annotators fill in a CSV sheet (`exchange`) or
work in a browser (``graphneg.pages.review``), which stores each answer in a `Judgements` file. `Results`
computes shares with confidence intervals, agreement between annotators, disagreements and the final labels.
"""

from __future__ import annotations

from graphneg.evaluation.review.drawing import Drawn, draw
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
    "draw",
    "load_questions",
    "read_judgements",
    "results_of",
    "write_judgements",
]

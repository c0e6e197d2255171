"""Reviews: negatives that people judge without knowing where they come from, and what they say of them.

`draw` makes a `ReviewSet` of files: items in an order of chance, and the `Questions` that are asked of each.
It is judged in a CSV sheet (`exchange`) or in a browser, where `Judgements` keep every answer
(``graphneg.pages.review``). `Results` say what came of it: shares with intervals, agreement, disagreements,
labels.
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

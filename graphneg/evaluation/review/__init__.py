"""Reviews: negatives that people judge without knowing where they come from, and what they say of them.

`drawing.draw` makes a `items.ReviewSet` of files: items in an order of chance, and the `questions.Questions`
that are asked of each. It is judged in a CSV sheet (`exchange`) or in a browser, where a
`judgements.Judgements` keeps every answer (``graphneg.pages.review``). `results.Results` says what came of
it: shares with intervals, agreement, disagreements, labels.
"""

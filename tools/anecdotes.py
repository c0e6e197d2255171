"""Learn which features are typical of wrong responses that people write: ``python -m tools.anecdotes``.

The input is a store with the sentence pool of the generator ``overlap``, and contexts in the format of
DailyDialog++, of which only the training part is read (see `read_data`). A logistic regression separates
responses that people wrote from sentences of the pool. Its weights are written to ``anecdotes.tsv``: a
positive weight means that the feature is more frequent in the responses of people.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

import graphneg
from graphneg.evaluation.comparison.data import ADVERSARIAL, read_data
from graphneg.generators.overlap.anecdotes import features
from graphneg.generators.overlap.generator import SETTINGS
from graphneg.hashing import number
from graphneg.records.files import read_jsonl

TABLE = Path(graphneg.__file__).parent / "generators" / "overlap" / "anecdotes.tsv"
HEAD = (
    "# How much each feature tells people's wrong responses (DailyDialog++ dev, training part) from a pool:\n"
    "# dialogues of DailyDialog, DailyDialog++, PersonaChat and Topical-Chat, and PropBank's examples.\n"
)
LEAST = 0.05
"""Minimum absolute weight of a feature in the table."""
POOL = 25_000
"""Maximum number of sentences of the pool to which the regression is fitted."""
POOLED = """
MATCH (s:Sentence)
WHERE s.finite AND s.plain AND s.words >= $least AND s.words <= $most AND s.content >= $content
RETURN s.text AS text
"""
"""Query for the sentences of the pool that can be used as responses."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit the regression and write the table.

    Args:
        arguments: Command-line arguments; None for the arguments of this process.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.anecdotes", description=__doc__)
    parser.add_argument("contexts", type=Path)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--made", type=Path, help="negatives to use in place of the sentences of the pool")
    parser.add_argument("--out", type=Path, default=TABLE)
    asked = parser.parse_args(arguments)
    train = read_data(asked.contexts).train
    people = [text for context in train for text in context.negatives.get(ADVERSARIAL, ())]
    known = {str(index): float(weight) for index, weight in _rows(asked.out)} if asked.made else {}
    others = _responses_for_training_contexts(asked.made, train) if asked.made else _pool(asked.store)
    found = weights(people, others)
    # With --made, the new weights are added to the weights that the table already has.
    summed = {name: known.get(name, 0.0) + found.get(name, 0.0) for name in {*known, *found}}
    lines = [f"{name}\t{summed[name]:.2f}" for name in sorted(summed) if abs(summed[name]) >= LEAST]
    asked.out.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


def weights(people: Sequence[str], others: Sequence[str]) -> dict[str, float]:
    """Fit a logistic regression that separates people's responses from other texts.

    Args:
        people: People's responses.
        others: Sentences of the pool, or generated negatives.

    Returns:
        Weights, keyed by feature. Features with positive weights are more frequent in people's responses.
    """
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    table = DictVectorizer()
    rows = table.fit_transform(dict.fromkeys(features(text), 1) for text in (*people, *others))
    fitted = LogisticRegression(C=0.3, max_iter=500).fit(rows, [1] * len(people) + [0] * len(others))
    return dict(zip(table.get_feature_names_out(), fitted.coef_[0], strict=True))


def _rows(path: Path) -> Iterable[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def _pool(store: Path) -> list[str]:
    bounds = {"least": SETTINGS["min_words"], "most": SETTINGS["max_words"]}
    with graphneg.open(store) as graph:
        texts = [row["text"] for row in graph.cypher(POOLED, **bounds, content=SETTINGS["min_content_words"])]
    # The order by hash samples the pool evenly and does not depend on the server.
    return sorted(set(texts), key=lambda text: number(0, "pool", text))[:POOL]


def _responses_for_training_contexts(path: Path, train: Sequence[object]) -> list[str]:
    """Return the responses of a file of negatives whose contexts are in the training part."""
    ids = {context.id.split("/", 2)[2] for context in train}  # pyright: ignore
    return [one.response for one in read_jsonl(path) if one.dialogue.rsplit("/", 1)[-1] in ids]


if __name__ == "__main__":
    main()

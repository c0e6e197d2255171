"""Compare negatives with people's wrong responses: ``python -m benchmarks.people``.

The arguments ``hard.jsonl --human dev.json`` name a file of negatives and its contexts in the format of
DailyDialog++. The table shows, for each file, how well a classifier with word features separates the
negatives from wrong responses that people wrote, how many words the negatives share with their contexts,
how often they describe the same situation as the context, and several features of style. Only contexts of the
test part (see `read_data`) are compared, because generators may use features that were counted on the other
contexts.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.report import keep
from benchmarks.results import Goal, Table, goals_text, percent, table_text, verdict
from graphneg.datasets.groups import LabelledContext
from graphneg.english.tokens import WORD, detokenize, sentences
from graphneg.english.words import content_lemmas, word_class, word_map
from graphneg.evaluation.comparison.data import ADVERSARIAL, context_key, read_data
from graphneg.generators.overlap.target_profile import words_key
from graphneg.nn.embedders import BUNDLED, Embedder, get_embedder
from graphneg.records.files import read_negatives

EACH = 3
"""Maximum number of compared responses per context."""
FOLDS = 5
"""Number of folds of the cross-validation."""
SHARE_OTHER_SCENE = 0.88
"""Share of people's responses that count as describing a different situation (scene) than their contexts. It
determines the border of `Closeness`."""
MOST_AUC, LEAST_SHARED, LEAST_OTHER_SCENE, MOST_USES = 0.75, 0.45, 0.80, 2
"""Goals: maximum AUC, minimum share of responses that share two words with their contexts, minimum share of
responses that describe a different scene, and maximum number of uses of one text."""
PEOPLE = "people"
Texts = Sequence[tuple[LabelledContext, str]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare files of negatives with people's wrong responses and print the table.

    Args:
        arguments: Command-line arguments; None for the arguments of this process.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.people", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="NEGATIVES")
    parser.add_argument("--human", type=Path, required=True, help="contexts in the format of DailyDialog++")
    parser.add_argument("--all", action="store_true", help="also compare contexts of the training part")
    parser.add_argument("--embedder", default=BUNDLED, help="embedder that tells scenes apart")
    parser.add_argument("--out", type=Path, help="data file to merge the table into")
    asked = parser.parse_args(arguments)
    data = read_data(asked.human)
    compared = (*data.test, *data.train) if asked.all else data.test
    test = {context_key(context.turns): context for context in compared}
    people = [
        (context, text) for context in test.values() for text in context.negatives.get(ADVERSARIAL, ())[:EACH]
    ]
    sources = {path.stem: _first_negatives(path, test) for path in asked.files}
    scenes = Closeness(get_embedder(asked.embedder), people)
    rows = {PEOPLE: figures(people, people, scenes)}
    rows |= {name: figures(texts, people, scenes) for name, texts in sources.items()}
    table = Table(
        "What tells hard from people's wrong responses",
        f"{len(test)} contexts of DailyDialog++ dev, {EACH} responses of each at most. AUC: tf-idf of words "
        f"and pairs, logistic regression, {FOLDS} folds by context. Own scene: without the words in common "
        f"as close to the context as {1 - SHARE_OTHER_SCENE:.0%} of people's are.",
        ("source", "read", *next(iter(rows.values()))),
        tuple((name, f"{len(sources.get(name, people))}", *row.values()) for name, row in rows.items()),
    )
    goals = [goal for name, texts in sources.items() for goal in _goals(name, texts, people, scenes)]
    print("\n".join([goals_text(goals), table_text(table)]))
    if asked.out:
        keep(asked.out, [table], goals)


def _first_negatives(path: Path, test: Mapping[tuple[str, ...], LabelledContext]) -> Texts:
    """Return the first negatives in a file for each compared context, as pairs of context and response."""
    found: list[tuple[LabelledContext, str]] = []
    taken: Counter[str] = Counter()
    for negative in read_negatives(path):
        context = test.get(context_key([turn.text for turn in negative.context]))
        if context is not None and taken[context.id] < EACH:
            taken[context.id] += 1
            found.append((context, negative.response))
    return found


class Closeness:
    """A measure of how close a response is to its context when the shared words are removed.

    Attributes:
        border: Cosine above which a response counts as describing the same situation (scene) as its context.
    """

    def __init__(self, embedder: Embedder, people: Texts) -> None:
        """Initialize the measure; the border is a quantile of the cosines of people's responses."""
        self._embedder = embedder
        # Embeddings share a large common component. Without it, cosines differ more between close and distant
        # texts.
        self._centre = embedder.embed([text for pair in people for text in _unshared_words(*pair)]).mean(
            axis=0
        )
        ranked = sorted(self.of(people))
        self.border = ranked[int(SHARE_OTHER_SCENE * len(ranked))]

    def of(self, texts: Texts) -> list[float]:
        """Return how close some responses are to their contexts.

        Args:
            texts: Pairs of a context and a response.

        Returns:
            A cosine per response.
        """
        import numpy as np

        pairs = [_unshared_words(*pair) for pair in texts]
        both = [self._embedder.embed(list(some)) - self._centre for some in zip(*pairs, strict=True)]
        one, other = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9) for rows in both)
        return (one * other).sum(axis=1).tolist()

    def same_situation(self, texts: Texts) -> float:
        """Return the share of responses that describe the same situation as their contexts.

        Args:
            texts: Pairs of a context and a response.

        Returns:
            The share, from 0 to 1.
        """
        return sum(cosine > self.border for cosine in self.of(texts)) / len(texts)


def _unshared_words(context: LabelledContext, text: str) -> tuple[str, str]:
    """Return the content words of a context, and the other content words of the response."""
    context_words = dict.fromkeys(term for turn in context.turns for term in content_lemmas(turn))
    return " ".join(context_words), " ".join(
        term for term in content_lemmas(text) if term not in context_words
    )


def auc(texts: Texts, people: Texts) -> float:
    """Return how well a classifier of words tells texts from people's responses.

    Args:
        texts: Pairs of a context and a response.
        people: Pairs of a context and a response that people wrote.

    Returns:
        The area under the ROC curve of a logistic regression, cross-validated with disjoint contexts; 0.5 is
        chance.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    both = [*texts, *people]
    labels = [0] * len(texts) + [1] * len(people)
    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b"),
        LogisticRegression(C=10, max_iter=1000),
    )
    groups = [context.id for context, _ in both]
    said = [text for _, text in both]
    scores = cross_val_predict(
        model, said, labels, groups=groups, cv=GroupKFold(FOLDS), method="decision_function"
    )
    return float(roc_auc_score(labels, scores))


def shared(context: LabelledContext, text: str) -> int:
    """Count the content words that a response shares with its context.

    Args:
        context: The context.
        text: The response.

    Returns:
        The number of different words.
    """
    context_words = {term for turn in context.turns for term in content_lemmas(turn)}
    return len(context_words & set(content_lemmas(text)))


def max_uses(texts: Texts) -> int:
    """Return how often the most frequent text occurs.

    Args:
        texts: Pairs of a context and a response.

    Returns:
        The number of uses. Texts with the same words count as the same text.
    """
    return max(Counter(words_key(text) for _, text in texts).values())


def _words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in WORD.findall(text)]


_I = frozenset({"i", "my", "i'm", "i've", "i'll", "i'd"})
STYLE_FEATURES: Mapping[str, Callable[[str], bool]] = {
    "I or my": lambda text: not _I.isdisjoint(_words(text)),
    "begins so": lambda text: bool(_I.intersection(_words(text)[:1])),
    "kin": lambda text: not word_class("kin").isdisjoint(_words(text)),
    "past time": lambda text: any(word_map("tenses-of-times").get(word) == "past" for word in _words(text)),
    "two sentences": lambda text: len(list(sentences(text))) > 1,
    "opener": lambda text: bool(word_class("some-openings").intersection(_words(text)[:1])),
    "questions": lambda text: text.rstrip().endswith("?"),
    "names": lambda text: bool(re.search(r"(?<=[a-z,] )[A-HJ-Z][a-z]", text)),
    "digits": lambda text: any(map(str.isdigit, text)),
    "odd spacing": lambda text: detokenize(text) != text,
}
"""Tests for features of style, keyed by column name."""


def figures(texts: Texts, people: Texts, scenes: Closeness) -> dict[str, str]:
    """Return the figures for one source of wrong responses.

    Args:
        texts: Pairs of a context and a response.
        people: Pairs of a context and a response that people wrote.
        scenes: The measure of closeness.

    Returns:
        The cells of the source's row, keyed by column name.
    """
    amounts = [shared(*pair) for pair in texts]
    separation = {} if texts is people else {"AUC": f"{auc(texts, people):.3f}"}
    return {
        "AUC": "-",
        **separation,
        **{f"shares {least}+": percent(sum(n >= least for n in amounts), len(texts)) for least in (1, 2, 3)},
        "own scene": f"{scenes.same_situation(texts):.0%}",
        "most uses": str(max_uses(texts)),
        **{
            name: percent(sum(holds(text) for _, text in texts), len(texts))
            for name, holds in STYLE_FEATURES.items()
        },
    }


def _goals(name: str, texts: Texts, people: Texts, scenes: Closeness) -> list[Goal]:
    area, elsewhere = auc(texts, people), 1 - scenes.same_situation(texts)
    two = sum(shared(*pair) > 1 for pair in texts) / len(texts)
    uses = max_uses(texts)
    rows = (
        ("told from people's by words, AUC", f"{area:.3f}", f"<= {MOST_AUC}", area <= MOST_AUC),
        ("two or more shared content words", f"{two:.0%}", f">= {LEAST_SHARED:.0%}", two >= LEAST_SHARED),
        (
            "in another scene",
            f"{elsewhere:.0%}",
            f">= {LEAST_OTHER_SCENE:.0%}",
            elsewhere >= LEAST_OTHER_SCENE,
        ),
        ("uses of one text", str(uses), f"<= {MOST_USES}", uses <= MOST_USES),
    )
    return [Goal(f"{name}: {what}", "-", got, wanted, verdict(holds)) for what, got, wanted, holds in rows]


if __name__ == "__main__":
    main()

"""From files of negatives to a report of what they are like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphneg.embedding import get_embedder
from graphneg.embedding.base import BUNDLED
from graphneg.evaluation.negatives.figures import (
    THRESHOLD,
    Example,
    Figures,
    Line,
    Sampled,
    sampled,
)
from graphneg.evaluation.negatives.findings import Finding, findings
from graphneg.evaluation.negatives.pools import ALL, Gathered, Key, gather
from graphneg.evaluation.negatives.repeats import Repeated
from graphneg.evaluation.negatives.scoring import Models, score
from graphneg.evaluation.negatives.telling import telling_words, told, told_by_words
from graphneg.progress import Progress

SAMPLE, EXAMPLES = 1000, 3
_TURNS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Report:
    """What some files of negatives are like.

    ``reference`` has the figures of right texts by target: ``response``, the right responses, and
    ``dialogue``, the turns as they were before they were edited. ``unsaid`` counts negatives in which turns
    were only taken away: there is no text to measure. ``embedder``, ``lm`` and ``judge`` name the models.
    """

    files: tuple[str, ...]
    records: int
    negatives: int
    unsaid: int
    embedder: str
    lm: str | None
    judge: str | None
    seed: int
    reference: Mapping[str, Figures]
    lines: tuple[Line, ...]
    findings: tuple[Finding, ...]

    @property
    def most_specific(self) -> list[Line]:
        """The lines of categories, and of sources that name none."""
        divided = {(line.source, line.target) for line in self.lines if line.category != ALL}
        return [
            line for line in self.lines if line.category != ALL or (line.source, line.target) not in divided
        ]


def measure(
    paths: Sequence[str | Path],
    *,
    models: Models | None = None,
    threshold: float = THRESHOLD,
    sample: int = SAMPLE,
    examples: int = EXAMPLES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Report:
    """Measure the negatives of files (.jsonl, .parquet) against the right responses that they bring.

    Right responses are records with label 1 and the originals of edited ones. Texts are counted as
    they are read, and memory does not grow with their number; models see ``sample`` of each line, drawn by
    hash from ``seed``. Without ``models``, the bundled word vectors give the cosines, and no more is asked.

    Raises:
        InputError: a file can't be read, a label is neither 0 nor 1, or there is no negative.
        ModelError: memory does not suffice for a model's work.
    """
    asked = models or Models(get_embedder(BUNDLED))
    gathered = gather([Path(path) for path in paths], sample, seed, progress)
    pools = {**gathered.wrong, **gathered.right}
    scores = score([text for pool in pools.values() for text in pool.sample.texts()], asked, progress)
    right = {target: sampled(pool, scores) for target, pool in gathered.right.items()}
    reference = {
        target: figures for target, one in right.items() if (figures := one.figures(threshold)) is not None
    }
    lines = tuple(
        line
        for key, pool in gathered.wrong.items()
        if (line := _line(key, sampled(pool, scores), gathered, right.get(key.target), threshold, examples))
    )
    return Report(
        files=tuple(map(str, paths)),
        records=gathered.records,
        negatives=gathered.negatives,
        unsaid=gathered.empty,
        embedder=asked.embedder.name,
        lm=asked.lm_name if asked.lm is not None else None,
        judge=asked.judge_name if asked.judge is not None else None,
        seed=seed,
        reference=reference,
        lines=lines,
        findings=tuple(findings(lines, lambda line: reference.get(line.target))),
    )


def _line(
    key: Key, wrong: Sampled, gathered: Gathered, right: Sampled | None, threshold: float, examples: int
) -> Line | None:
    figures = wrong.figures(threshold)
    if figures is None:
        return None
    repeated: Repeated = gathered.repeated[key]
    true = None if right is None else right.figures(threshold)
    return Line(
        *key,
        negatives=wrong.pool.records,
        figures=figures,
        again=repeated.again,
        elsewhere=repeated.elsewhere,
        equal_to_right=repeated.right,
        words_ratio=_ratio(figures.words.mean, true.words.mean if true else 0.0),
        perplexity_ratio=_perplexity_ratio(figures, true),
        telling_words=() if right is None else telling_words(wrong.texts, right.texts),
        told_by={} if right is None else _told_by(wrong, right),
        examples=tuple(
            Example(text.id, text.context[-_TURNS_SHOWN:], text.text, text.right)
            for text in wrong.texts[:examples]
        ),
    )


def _told_by(wrong: Sampled, right: Sampled) -> dict[str, float | None]:
    cues = {
        "length": told(wrong.pool.words, right.pool.words),
        "overlap": told(wrong.pool.shared, right.pool.shared),
        "similarity": told(wrong.to_context, right.to_context),
        "fluency": told(wrong.loss, right.loss),
        "words": told_by_words(wrong.texts, right.texts),
    }
    return {cue: None if area is None else round(area, 4) for cue, area in cues.items()}


def _ratio(value: float, right: float) -> float | None:
    return value / right if right else None


def _perplexity_ratio(figures: Figures, right: Figures | None) -> float | None:
    if figures.perplexity is None or right is None or right.perplexity is None:
        return None
    return figures.perplexity.mean / right.perplexity.mean

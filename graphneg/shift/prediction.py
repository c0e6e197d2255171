"""Predictors of substitute perspectives: CAPT's step from candidates to what a reply could move to.

A post with a focus, and subsets of the focus's candidates go in; one `Choice` of each subset comes out.
``frequency`` counts, ``embedding`` compares meanings, ``seq2seq`` (CAPT, section 3.2) and ``causal`` ask a
language model, whose scores are weighed with what the shift graph counts. `examples_of` gives what such a
model learns from.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log
from pathlib import Path
from typing import Any, Protocol

from graphneg.english.tokens import one_line
from graphneg.errors import ModelError
from graphneg.hashing import number
from graphneg.nn.batching import padded
from graphneg.nn.embedders import Embedder, get_embedder
from graphneg.nn.fine_tuning import Example
from graphneg.nn.generation import as_cache
from graphneg.nn.language_models import CausalLM, Seq2SeqLM
from graphneg.nn.models import load_causal, load_seq2seq
from graphneg.plugins import Plugins
from graphneg.shift.candidates import Focus, Post, Reach, all_replies
from graphneg.shift.graphs import Shifts
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection

PLUGINS = Plugins("predictor", "graphneg.predictors", ModelError)


@dataclass(frozen=True, slots=True)
class Choice:
    """The candidate of a subset that a predictor takes; ``score`` is comparable within a post."""

    text: str
    score: float


class Predictor(Protocol):
    """Takes one substitute of each subset of a focus's candidates."""

    @property
    def name(self) -> str:
        """The name under which it is found."""
        ...

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[Choice]:
        """One candidate of each subset, in order. Higher scores are better."""
        ...


def get_predictor(name: str, **options: Any) -> Predictor:
    """The predictor of that name, made with the options it takes.

    Packages add predictors by an entry point in the group ``graphneg.predictors``.

    Raises `ModelError`: no such predictor, it does not take these options, or its model can't be had.
    """
    return PLUGINS.make(name, options)


def choices_of(
    predictor: Predictor, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]
) -> list[Choice]:
    """What a predictor chooses, checked.

    Raises `ModelError`: it is not one candidate of each subset, in order.
    """
    choices = predictor.choose(post, focus, subsets)
    if len(choices) != len(subsets) or any(
        choice.text not in subset for choice, subset in zip(choices, subsets, strict=True)
    ):
        raise ModelError(
            f"predictor {predictor.name} must choose one candidate of each of {len(subsets)} subsets of "
            f"{focus.text!r}, in order; it chose {len(choices)}: "
            f"{', '.join(choice.text for choice in choices[:5])}"
        )
    return choices


REPEAT = 0.02
"""What it adds for a reply to take up a keyword of the post itself, as a probability."""


class FrequencyPredictor:
    """Ranks by P(p | f), summed over the foci of the post, each weighed by its salience."""

    name = "frequency"

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[Choice]:
        """See `Predictor.choose`."""
        best = [min((-likelihood(post, text), text) for text in subset) for subset in subsets]
        return [Choice(text, -score) for score, text in best]


def likelihood(post: Post, perspective: str) -> float:
    """P(perspective | post), as the mean over the foci by salience, and a bonus for repeated keywords."""
    salience = total = 0.0
    for focus in post.foci:
        salience += focus.salience
        total += focus.salience * focus.likelihoods.of(perspective)
    return total / salience + REPEAT * post.keywords.get(perspective, 0.0)


_LEAST = 1e-12


def best_of_each(
    post: Post, subsets: Sequence[Sequence[str]], scores: Iterable[float], prior: float
) -> list[Choice]:
    """The best candidate of each subset by ``score + prior * log P(p | post)``; of equal ones the first by
    name.

    ``scores`` are those of all candidates in order. The logarithm is that of the counts, and finite for
    what was never seen, too.
    """
    left = iter(scores)
    choices: list[Choice] = []
    for subset in subsets:
        likely = {text: log(max(likelihood(post, text), _LEAST)) for text in subset}
        weighed = {text: next(left) + prior * likely[text] for text in subset}
        text = min(weighed, key=lambda text: (-weighed[text], text))
        choices.append(Choice(text, weighed[text]))
    return choices


WEIGHT = 4.0


class EmbeddingPredictor:
    """Ranks by ``log P(p | post) + weight * cosine(p, post)``.

    The post's vector is the mean of its keywords', by salience. ``model`` is an embedder, or what
    ``graphneg.nn.embedders.get_embedder`` takes: a folder or id of an encoder, a file of word vectors.

    Raises `ModelError`: no model is given, or it can't be had.
    """

    name = "embedding"

    def __init__(self, model: str | Embedder | None = None, weight: float = WEIGHT) -> None:
        if model is None:
            raise ModelError(
                "the embedding predictor needs a model: a folder or id of an encoder, or word vectors"
            )
        self._embedder = get_embedder(model) if isinstance(model, str) else model
        self._weight = weight

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[Choice]:
        """See `Predictor.choose`."""
        import numpy as np

        # The direction of the keywords' mean, of length 1; zero where none is known.
        saliences = np.array(list(post.keywords.values()), dtype=np.float32)
        mean = saliences @ self._embedder.embed(list(post.keywords))
        length = float(np.linalg.norm(mean)) or 1.0
        cosines = self._embedder.embed(list(chain.from_iterable(subsets))) @ (mean / length)
        return best_of_each(post, subsets, (self._weight * float(cosine) for cosine in cosines), 1.0)


def source_with_candidates(post: str, focus: str, candidates: Sequence[str]) -> str:
    """What a sequence-to-sequence model reads (CAPT: post, focus and candidates).

    >>> source_with_candidates("Some tea?", "tea", ["milk", "cup"])
    'post: Some tea? focus: tea perspectives: milk, cup'
    """
    return f"post: {one_line(post)} focus: {focus} perspectives: {', '.join(candidates)}"


def source_without_candidates(post: str, focus: str) -> str:
    """What a causal model reads; it writes the perspective behind it, after a space.

    >>> source_without_candidates("Some tea?", "tea")
    'Post: Some tea?\\nFocus: tea\\nThe reply is about:'
    """
    return f"Post: {one_line(post)}\nFocus: {focus}\nThe reply is about:"


def examples_of(
    store: Store,
    selection: Selection | None = None,
    *,
    reach: Reach | None,
    limit: int | None = None,
    seed: int = 0,
) -> list[Example]:
    """What a predictor's model learns: posts with foci, and the perspectives that their replies took.

    For ``seq2seq``, ``reach`` makes the subsets of candidates; each example lists the one that the
    perspective is in. None is for ``causal``. ``limit`` takes so many of all, chosen by ``seed``.
    """
    shifts = Shifts(store)
    found: list[tuple[str, Example]] = []
    for _, replies in all_replies(store, selection or Selection()):
        moves = [(r, r.focus, r.perspective) for r in replies if r.focus and r.perspective]
        reached = shifts.from_each(focus for _, focus, _ in moves) if reach else {}
        for reply, focus, perspective in moves:
            post = reply.turns[-1]
            if reach is None:
                example = Example(source_without_candidates(post, focus), f" {perspective}")
                found.append((reply.id, example))
                continue
            for subset in reach.split(focus, list(reached[focus])):
                if perspective in subset:
                    example = Example(source_with_candidates(post, focus, subset), perspective)
                    found.append((reply.id, example))
    if limit is not None and limit < len(found):
        found = sorted(found, key=lambda item: (number(seed, "examples", item[0]), item[0]))[:limit]
    return [example for _, example in found]


PRIOR = 1.0


def _given(model: str | Path | None, kind: str) -> str | Path:
    if model is None:
        raise ModelError(
            f"the {kind} predictor needs a model, a folder or a hub id, trained on perspectives: "
            f"graphneg shift train {kind} --model FOLDER -o OUT makes one"
        )
    return model


class CausalPredictor:
    """Ranks by ``log P(p | post, focus)`` of the model ``+ prior * log P(p | post)`` of the counts.

    The post is read once for each focus, whatever the number of candidates. ``model`` is a folder, a
    GGUF file, a hub id or a loaded model; ``batch`` candidates run together.

    Raises `ModelError`: no model is given, there is none, or it is of another kind.
    """

    name = "causal"

    def __init__(
        self,
        model: str | Path | CausalLM | None = None,
        *,
        prior: float = PRIOR,
        gguf_file: str | None = None,
        device: str = "auto",
        offline: bool = False,
        batch: int = 64,
    ) -> None:
        self._prior = prior
        self._batch = batch
        self._model = (
            model
            if isinstance(model, CausalLM)
            else load_causal(_given(model, self.name), gguf_file=gguf_file, device=device, offline=offline)
        )
        if self._model.direction != "forward":
            raise ModelError(
                f"{self._model.path}: reads backward; the causal predictor needs a forward model"
            )

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[Choice]:
        """See `Predictor.choose`."""
        texts = list(chain.from_iterable(subsets))
        source = self._model.source_tokens(source_without_candidates(post.text, focus.text))
        # Without an end token: a phrase and its first word are not told apart by it.
        targets = {text: self._model.target_tokens(f" {text}")[:-1] for text in texts}
        longest = max(map(len, targets.values()))
        if self._model.longest is not None:
            source = source[-max(1, self._model.longest - longest) :]
        scores = self._scores(source, targets)
        return best_of_each(post, subsets, (scores[text] for text in texts), self._prior)

    def _scores(self, source: list[int], targets: Mapping[str, Sequence[int]]) -> dict[str, float]:
        """The log-probability of each target behind the source."""
        import torch

        model, device = self._model.model, self._model.device
        with torch.inference_mode():
            read = model(input_ids=torch.tensor([source], device=device), use_cache=True)
            first = read.logits[0, -1].float().log_softmax(-1)
            scores = {text: float(first[tokens[0]]) for text, tokens in targets.items()}
            longer = sorted(
                (text for text in targets if len(targets[text]) > 1), key=lambda t: len(targets[t])
            )
            for start in range(0, len(longer), self._batch):
                some = longer[start : start + self._batch]
                rows = padded([targets[text] for text in some], 0, "right", device)
                ids, mask = rows["input_ids"], rows["attention_mask"][:, 1:]
                past = copy.deepcopy(read.past_key_values)
                past.batch_repeat_interleave(len(some))
                logits = model(
                    input_ids=ids[:, :-1],
                    attention_mask=torch.cat([mask.new_ones(len(some), len(source)), mask], -1),
                    **as_cache(model, past),
                    use_cache=True,
                ).logits
                rests = logits.float().log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
                for text, rest in zip(some, rests.masked_fill(mask == 0, 0).sum(-1).tolist(), strict=True):
                    scores[text] += rest
        return scores


class Seq2SeqPredictor:
    """Ranks by ``log P(p | post, focus, candidates)`` of the model, plus ``prior * log P(p | post)``.

    The model reads post, focus and the subset, and each candidate is scored as what it writes, its end
    token too: no candidate can be missed, and none invented. Its answers compare the candidates of
    one subset; what is common and what is not, the counts of the shift graph know. CAPT's own
    choice is ``prior=0``.

    ``model`` is a folder or hub id, or a loaded model (``graphneg.shift.substitutes`` makes one).

    Raises `ModelError`: no model is given, there is none, or it is of another kind.
    """

    name = "seq2seq"

    def __init__(
        self,
        model: str | Path | Seq2SeqLM | None = None,
        *,
        prior: float = PRIOR,
        device: str = "auto",
        offline: bool = False,
        batch: int = 64,
    ) -> None:
        self._prior = prior
        self._model = (
            model
            if isinstance(model, Seq2SeqLM)
            else load_seq2seq(_given(model, self.name), device=device, offline=offline)
        )
        self._model.batch_size = batch

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[Choice]:
        """See `Predictor.choose`."""
        given = [source_with_candidates(post.text, focus.text, subset) for subset in subsets for _ in subset]
        texts = list(chain.from_iterable(subsets))
        means = self._model.score(texts, given)
        lengths = (len(self._model.target_tokens(text)) for text in texts)
        scores = (-mean * length for mean, length in zip(means, lengths, strict=True))
        return best_of_each(post, subsets, scores, self._prior)

"""Choose substitutes for the perspective of a reply: the best candidate from each subset of candidates.

The perspective is the keyword to which a reply shifts the topic. A substitute is another keyword to which the
reply could have shifted it. Choosing substitutes is the prediction step of CAPT (Ou et al. 2022). A predictor
gets a post (the turn that is replied to), a keyword of the post as the focus, and the candidates for this
focus, divided into subsets. It returns one `ScoredTerm` for each subset.

graphneg provides four predictors. ``frequency`` uses the counts of the shift graph. ``embedding`` also
compares embeddings. ``seq2seq`` (CAPT, section 3.2) and ``causal`` combine a language model with the counts.
`examples_of` returns training data for the models of ``seq2seq`` and ``causal``.
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
from graphneg.plugins import Plugins, plugin_errors
from graphneg.shift.candidates import CandidateOptions, Focus, Post, all_replies
from graphneg.shift.graphs import ShiftGraph
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection

PLUGINS = Plugins("predictor", "graphneg.predictors", ModelError)


@dataclass(frozen=True, slots=True)
class ScoredTerm:
    """The candidate that a predictor chooses from a subset.

    Attributes:
        text: The candidate, which is the text of a keyword.
        score: Score of the candidate; higher is better. Scores are comparable only for the same post.
    """

    text: str
    score: float


class Predictor(Protocol):
    """Interface for predictors, which choose another perspective for a reply.

    The perspective is the keyword to which the reply moves the conversation.
    """

    @property
    def name(self) -> str:
        """The name of the predictor, which is stored with output files."""
        ...

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[ScoredTerm]:
        """Choose one candidate from each subset.

        Args:
            post: Turns before the reply, with their keywords and foci.
            focus: Keyword of these turns that the reply attends to.
            subsets: Subsets of the candidate perspectives (keywords to which the reply moves).

        Returns:
            The chosen candidate of each subset, in the order of the subsets.
        """
        ...


def get_predictor(name: str, **options: Any) -> Predictor:
    """Create the predictor with a given name.

    Packages can add predictors by entry points in the group ``graphneg.predictors``.

    Args:
        name: Name of the predictor, such as ``frequency``.
        **options: Options that the predictor's constructor accepts.

    Returns:
        The new predictor.
    """
    return PLUGINS.make(name, options)


def choices_of(
    predictor: Predictor, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]
) -> list[ScoredTerm]:
    """Call a predictor, and check that its choices are valid.

    Args:
        predictor: Predictor to call.
        post: Turns before the reply, with their keywords and foci.
        focus: Keyword of these turns that the reply attends to.
        subsets: Subsets of the candidate perspectives (keywords to which the reply moves).

    Returns:
        The chosen candidate of each subset, in the order of the subsets.

    Raises:
        ModelError: The predictor did not choose exactly one candidate from each subset, in the order of the
            subsets.
    """
    with plugin_errors("predictor", predictor.name, predictor, ModelError):
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
"""Bonus on the likelihood of a perspective that repeats a keyword of the context. The bonus is multiplied by
the keyword's salience."""


class FrequencyPredictor:
    """A predictor that chooses the candidate with the highest `likelihood`, according to the shift graph.

    The likelihood is an average over all foci of the context, so the argument ``focus`` has no influence.
    """

    name = "frequency"

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[ScoredTerm]:
        """Choose the most likely candidate from each subset.

        Args:
            post: Turns before the reply, with their keywords and foci.
            focus: Keyword of these turns that the reply attends to.
            subsets: Subsets of the candidate perspectives (keywords to which the reply moves).

        Returns:
            The chosen candidate of each subset, in the order of the subsets. Scores are likelihoods.
        """
        best = [min((-likelihood(post, text), text) for text in subset) for subset in subsets]
        return [ScoredTerm(text, -score) for score, text in best]


def likelihood(post: Post, perspective: str) -> float:
    """Return the likelihood of a perspective, given the context of a reply.

    The likelihood is the mean of P(perspective | focus) over all foci of the context, weighted by the
    salience of the foci. A perspective that repeats a keyword of the context gets a bonus.

    Args:
        post: Turns before the reply, with their keywords and at least one focus.
        perspective: Text of the keyword to which the reply shifts the topic.

    Returns:
        The likelihood. Because of the bonus, the sum over all perspectives may exceed 1.
    """
    salience = total = 0.0
    for focus in post.foci:
        salience += focus.salience
        total += focus.salience * focus.likelihoods.of(perspective)
    # Replies repeat keywords of the post more often than the shift graph predicts. Therefore add a bonus for
    # a perspective that is a keyword of the post.
    return total / salience + REPEAT * post.keywords.get(perspective, 0.0)


_LEAST = 1e-12


def best_of_each_subset(
    post: Post, subsets: Sequence[Sequence[str]], scores: Iterable[float], prior: float
) -> list[ScoredTerm]:
    """Choose the candidate ``p`` with the highest ``score + prior * log P(p | post)`` from each subset.

    Args:
        post: Turns before the reply, with their keywords and foci.
        subsets: Candidate perspectives, divided into subsets.
        scores: Scores of all candidates, in the order of the subsets.
        prior: Weight of the log-likelihood from the shift graph. Likelihoods of 0 are replaced by a small
            constant, because their logarithms would be infinite.

    Returns:
        The chosen candidate of each subset. Ties are resolved in alphabetical order.
    """
    left = iter(scores)
    choices: list[ScoredTerm] = []
    for subset in subsets:
        # A candidate has the likelihood 0 if no reply in the store shifts to it. The logarithm of 0 is
        # infinite, so use the small constant `_LEAST` instead.
        likely = {text: log(max(likelihood(post, text), _LEAST)) for text in subset}
        weighed = {text: next(left) + prior * likely[text] for text in subset}
        text = min(weighed, key=lambda text: (-weighed[text], text))
        choices.append(ScoredTerm(text, weighed[text]))
    return choices


WEIGHT = 4.0
"""Default weight of the cosine similarity in `EmbeddingPredictor`."""


class EmbeddingPredictor:
    """A predictor that scores a perspective ``p`` by ``log P(p | post) + weight * cosine(p, post)``.

    The vector of the post is the mean of its keywords' vectors, weighted by salience.
    """

    name = "embedding"

    def __init__(self, model: str | Embedder | None = None, weight: float = WEIGHT) -> None:
        """Initialize the predictor.

        Args:
            model: An embedder, or its folder, id or file of word vectors, as
                `graphneg.nn.embedders.get_embedder` accepts it.
            weight: Weight of the cosine similarity.

        Raises:
            ModelError: No model is given.
        """
        if model is None:
            raise ModelError(
                "the embedding predictor needs a model: a folder or id of an encoder, or word vectors"
            )
        self._embedder = get_embedder(model) if isinstance(model, str) else model
        self._weight = weight

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[ScoredTerm]:
        """Choose the candidate with the highest score from each subset.

        Args:
            post: Turns before the reply, with their keywords and foci.
            focus: Keyword of these turns that the reply attends to.
            subsets: Subsets of the candidate perspectives (keywords to which the reply moves).

        Returns:
            The chosen candidate of each subset, in the order of the subsets.
        """
        import numpy as np

        # The vector of the post is the weighted mean of its keywords' vectors, or zero if no keyword has a
        # vector.
        saliences = np.array(list(post.keywords.values()), dtype=np.float32)
        mean = saliences @ self._embedder.embed(list(post.keywords))
        length = float(np.linalg.norm(mean)) or 1.0
        cosines = self._embedder.embed(list(chain.from_iterable(subsets))) @ (mean / length)
        return best_of_each_subset(post, subsets, (self._weight * float(cosine) for cosine in cosines), 1.0)


def source_with_candidates(post: str, focus: str, candidates: Sequence[str]) -> str:
    """Return the input of the sequence-to-sequence model: post, focus and candidates, as in CAPT.

    Args:
        post: Text of the post.
        focus: Text of the focus.
        candidates: Texts of the candidates.

    Returns:
        The input as a single line.

    Example:
        >>> source_with_candidates("Some tea?", "tea", ["milk", "cup"])
        'post: Some tea? focus: tea perspectives: milk, cup'
    """
    return f"post: {one_line(post)} focus: {focus} perspectives: {', '.join(candidates)}"


def source_without_candidates(post: str, focus: str) -> str:
    """Return the prompt for the causal model. The model continues it with a space and the perspective.

    Args:
        post: Text of the post.
        focus: Text of the focus.

    Returns:
        The prompt, which has three lines.

    Example:
        >>> print(source_without_candidates("Some tea?", "tea"))
        Post: Some tea?
        Focus: tea
        The reply is about:
    """
    return f"Post: {one_line(post)}\nFocus: {focus}\nThe reply is about:"


def examples_of(
    store: Store,
    selection: Selection | None = None,
    *,
    reach: CandidateOptions | None,
    limit: int | None = None,
    seed: int = 0,
) -> list[Example]:
    """Return training examples, from which a predictor's model learns to predict the perspective of a reply.

    Args:
        store: Store that contains a shift graph.
        selection: Dialogues to use; None for all.
        reach: Settings for choosing the candidates (words to which the reply may turn) and for dividing them
            into subsets. A ``seq2seq`` model reads one subset; each example contains the subset with the
            actual perspective. None for a ``causal`` model, which reads no candidates.
        limit: Maximum number of examples. If there are more, a random sample is used.
        seed: Seed for the random sample.

    Returns:
        The examples, each with an input text and a target text.
    """
    shifts = ShiftGraph(store)
    found: list[tuple[str, Example]] = []
    for _, replies in all_replies(store, selection or Selection()):
        moves = [(r, r.focus, r.perspective) for r in replies if r.focus and r.perspective]
        reached = shifts.from_each(focus for _, focus, _ in moves) if reach else {}
        for reply, focus, perspective in moves:
            post = reply.turns[-1]
            # The prompt for the causal model lists no candidates, so its training examples list none either.
            if reach is None:
                example = Example(source_without_candidates(post, focus), f" {perspective}")
                found.append((reply.id, example))
                continue
            # The model learns to choose the keyword to which the reply really shifts (its perspective). So
            # use only the subset that contains this keyword.
            for subset in reach.split(focus, list(reached[focus])):
                if perspective in subset:
                    example = Example(source_with_candidates(post, focus, subset), perspective)
                    found.append((reply.id, example))
    if limit is not None and limit < len(found):
        found = sorted(found, key=lambda item: (number(seed, "examples", item[0]), item[0]))[:limit]
    return [example for _, example in found]


PRIOR = 1.0
"""Default weight of the log-likelihood from the shift graph, for predictors with a language model."""


def _required_model(model: str | Path | None, kind: str) -> str | Path:
    """Return ``model``. If it is None, raise an error that tells the user how to train a model."""
    if model is None:
        raise ModelError(
            f"the {kind} predictor needs a model, a folder or a hub id, trained on perspectives: "
            f"graphneg shift train {kind} --model FOLDER -o OUT trains one"
        )
    return model


class CausalPredictor:
    """A predictor that scores a perspective ``p`` by ``log P(p | post, focus) + prior * log P(p | post)``.

    A causal language model computes the first likelihood. The counts of the shift graph give the second
    likelihood. The model reads the post only once for each focus, regardless of the number of candidates.
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
        """Load the model.

        Args:
            model: Folder, GGUF file or hub id of the model, or a loaded model.
            prior: Weight of the log-likelihood from the shift graph.
            gguf_file: Name of the GGUF file in the folder or repository.
            device: Device of the model; ``auto`` uses a GPU if there is one.
            offline: Whether to load the model without network access.
            batch: Number of candidates that are scored together.

        Raises:
            ModelError: The model reads texts from right to left.
        """
        self._prior = prior
        self._batch = batch
        self._model = (
            model
            if isinstance(model, CausalLM)
            else load_causal(
                _required_model(model, self.name), gguf_file=gguf_file, device=device, offline=offline
            )
        )
        if self._model.direction != "forward":
            raise ModelError(
                f"{self._model.path}: a backward model, but the causal predictor needs a forward model"
            )

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[ScoredTerm]:
        """Choose the candidate with the highest score from each subset.

        Args:
            post: Turns before the reply, with their keywords and foci.
            focus: Keyword of these turns that the reply attends to.
            subsets: Subsets of the candidate perspectives (keywords to which the reply moves).

        Returns:
            The chosen candidate of each subset, in the order of the subsets.
        """
        texts = list(chain.from_iterable(subsets))
        source = self._model.source_tokens(source_without_candidates(post.text, focus.text))
        # Do not score the end token: the score of "coffee" should not be lower because "coffee shop" is also
        # likely.
        targets = {text: self._model.target_tokens(f" {text}")[:-1] for text in texts}
        longest = max(map(len, targets.values()))
        # A prompt that is too long is truncated at its beginning, because its end contains the focus and the
        # request.
        if self._model.longest is not None:
            source = source[-max(1, self._model.longest - longest) :]
        scores = self._scores(source, targets)
        return best_of_each_subset(post, subsets, (scores[text] for text in texts), self._prior)

    def _scores(self, source: list[int], targets: Mapping[str, Sequence[int]]) -> dict[str, float]:
        """Return the log-probability of each candidate as the continuation of a prompt, all as token ids."""
        import torch

        model, device = self._model.model, self._model.device
        with torch.inference_mode():
            read = model(input_ids=torch.tensor([source], device=device), use_cache=True)
            # One pass over the prompt gives the log-probabilities of the candidates' first tokens.
            first = read.logits[0, -1].float().log_softmax(-1)
            scores = {text: float(first[tokens[0]]) for text, tokens in targets.items()}
            longer = sorted(
                (text for text in targets if len(targets[text]) > 1), key=lambda t: len(targets[t])
            )
            for start in range(0, len(longer), self._batch):
                some = longer[start : start + self._batch]
                rows = padded([targets[text] for text in some], 0, "right", device)
                ids, mask = rows["input_ids"], rows["attention_mask"][:, 1:]
                # The keys and values of the prompt were computed above. Copy them for each batch.
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
    """A predictor that scores ``p`` by ``log P(p | post, focus, candidates) + prior * log P(p | post)``.

    Here, ``p`` is a candidate for the perspective. A sequence-to-sequence model computes the first
    likelihood. The model reads the post, the focus and a subset of candidates, and each candidate is scored
    as the model's output, including the end token. Scoring has two advantages over generating an output:
    every candidate gets a score, and the result is always a candidate. The counts of the shift graph give the
    second likelihood. It is needed because the model compares only the candidates of one subset, while the
    counts show which candidates are frequent in general. CAPT uses only the model, which corresponds to
    ``prior=0``.
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
        """Load the model.

        Args:
            model: Folder or hub id of the model, or a loaded model.
                `graphneg.shift.substitutes.train_predictor` trains one.
            prior: Weight of the log-likelihood from the shift graph.
            device: Device of the model; ``auto`` uses a GPU if there is one.
            offline: Whether to load the model without network access.
            batch: Number of candidates that are scored together.
        """
        self._prior = prior
        self._model = (
            model
            if isinstance(model, Seq2SeqLM)
            else load_seq2seq(_required_model(model, self.name), device=device, offline=offline)
        )
        self._model.batch_size = batch

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[ScoredTerm]:
        """Choose the candidate with the highest score from each subset.

        Args:
            post: Turns before the reply, with their keywords and foci.
            focus: Keyword of these turns that the reply attends to.
            subsets: Subsets of the candidate perspectives (keywords to which the reply moves).

        Returns:
            The chosen candidate of each subset, in the order of the subsets.
        """
        given = [source_with_candidates(post.text, focus.text, subset) for subset in subsets for _ in subset]
        texts = list(chain.from_iterable(subsets))
        means = self._model.score(texts, given)
        # `score` returns the mean loss per token. Multiplied by the number of tokens, it is the loss of the
        # whole candidate.
        lengths = (len(self._model.target_tokens(text)) for text in texts)
        scores = (-mean * length for mean, length in zip(means, lengths, strict=True))
        return best_of_each_subset(post, subsets, scores, self._prior)

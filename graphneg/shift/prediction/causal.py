"""``causal``: a causal language model that says how likely a reply to the post is about a candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphneg.errors import ModelError
from graphneg.language_models import CausalLM, load_causal
from graphneg.shift.candidates import Focus, Post
from graphneg.shift.prediction.base import Choice
from graphneg.shift.prediction.examples import source_without_candidates, target_of_causal
from graphneg.shift.prediction.weighing import best_of

PRIOR = 1.0


class CausalPredictor:
    """Ranks by ``log P(p | post, focus)`` of the model ``+ prior * log P(p | post)`` of the counts.

    The post is read once for each focus, whatever the number of candidates. ``model`` is a folder, a
    GGUF file, a hub id or a loaded model; ``batch`` candidates run together.

    Raises:
        ModelError: no model is given, there is none, or it is of another kind.
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
        if model is None:
            raise ModelError(
                "the causal predictor needs a model: a folder, a GGUF file or a hub id; "
                "graphneg shift train causal --model FOLDER -o OUT fine-tunes one"
            )
        self._prior = prior
        self._batch = batch
        self._model = (
            model
            if isinstance(model, CausalLM)
            else load_causal(model, gguf_file=gguf_file, device=device, offline=offline)
        )
        if self._model.direction != "forward":
            raise ModelError(
                f"{self._model.place}: reads backward; the causal predictor needs a forward model"
            )

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[Choice]:
        texts = [text for subset in subsets for text in subset]
        source = self._model.source_tokens(source_without_candidates(post.text, focus.text))
        targets = {text: self._tokens(text) for text in texts}
        longest = max(map(len, targets.values()))
        if self._model.longest is not None:
            source = source[-max(1, self._model.longest - longest) :]
        scores = self._scores(source, targets)
        return [best_of(post, {text: scores[text] for text in subset}, self._prior) for subset in subsets]

    def _tokens(self, text: str) -> list[int]:
        """A candidate's tokens, without an end: a phrase and its first word are not told apart by it."""
        return self._model.target_tokens(target_of_causal(text))[:-1]

    def _scores(self, source: Sequence[int], targets: Mapping[str, Sequence[int]]) -> dict[str, float]:
        """The log-probability of each target behind the source."""
        import torch

        with torch.inference_mode():
            read = self._model.model(
                input_ids=torch.tensor([list(source)], device=self._model.device), use_cache=True
            )
            first = read.logits[0, -1].float().log_softmax(-1)
            scores = {text: float(first[tokens[0]]) for text, tokens in targets.items()}
            longer = sorted(
                (text for text in targets if len(targets[text]) > 1), key=lambda one: len(targets[one])
            )
            for start in range(0, len(longer), self._batch):
                some = longer[start : start + self._batch]
                rests = self._rests(read.past_key_values, len(source), [targets[text] for text in some])
                for text, rest in zip(some, rests, strict=True):
                    scores[text] += rest
        return scores

    def _rests(self, cache: Any, before: int, targets: Sequence[Sequence[int]]) -> list[float]:
        """The log-probability of each target's tokens after its first, behind what ``cache`` has read."""
        import copy

        import torch

        width = max(map(len, targets)) - 1
        device = self._model.device
        rows = torch.zeros((len(targets), width + 1), dtype=torch.long, device=device)
        mask = torch.zeros((len(targets), before + width), dtype=torch.long, device=device)
        mask[:, :before] = 1
        for row, target in enumerate(targets):
            rows[row, : len(target)] = torch.tensor(list(target), device=device)
            mask[row, before : before + len(target) - 1] = 1
        repeated = copy.deepcopy(cache)
        repeated.batch_repeat_interleave(len(targets))
        logits = self._model.model(
            input_ids=rows[:, :-1], attention_mask=mask, past_key_values=repeated, use_cache=True
        ).logits
        found = logits.float().log_softmax(-1).gather(-1, rows[:, 1:, None])[..., 0]
        return [float(found[row, : len(target) - 1].sum()) for row, target in enumerate(targets)]

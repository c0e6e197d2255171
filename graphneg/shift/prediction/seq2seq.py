"""``seq2seq``: a BART or T5 that was fine-tuned to choose among candidates (CAPT, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graphneg.errors import ModelError
from graphneg.language_models import Seq2SeqLM, load_seq2seq
from graphneg.shift.candidates import Focus, Post
from graphneg.shift.prediction.base import Choice
from graphneg.shift.prediction.examples import source_with_candidates
from graphneg.shift.prediction.weighing import best_of

PRIOR = 1.0


class Seq2SeqPredictor:
    """Ranks by ``log P(p | post, focus, candidates)`` of the model, plus ``prior * log P(p | post)``.

    The model reads post, focus and the subset, and each candidate is scored as what it writes, its end
    token too: no candidate can be missed, and none invented. Its answers compare the candidates of
    one subset; what is common and what is not, the counts of the shift graph know. CAPT's own
    choice is ``prior=0``.

    ``model`` is a folder or hub id, or a loaded model (``graphneg.shift.prediction.training`` makes one).

    Raises:
        ModelError: no model is given, there is none, or it is of another kind.
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
        if model is None:
            raise ModelError(
                "the seq2seq predictor needs a model, a folder or a hub id, trained on perspectives: "
                "graphneg shift train seq2seq --model FOLDER -o OUT makes one"
            )
        self._prior = prior
        self._model = (
            model if isinstance(model, Seq2SeqLM) else load_seq2seq(model, device=device, offline=offline)
        )
        self._model.batch_size = batch

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[Choice]:
        sources = [source_with_candidates(post.text, focus.text, subset) for subset in subsets]
        given = [source for source, subset in zip(sources, subsets, strict=True) for _ in subset]
        texts = [text for subset in subsets for text in subset]
        means = self._model.score(texts, given)
        scores = iter(
            [-mean * len(self._model.target_tokens(text)) for mean, text in zip(means, texts, strict=True)]
        )
        return [best_of(post, {text: next(scores) for text in subset}, self._prior) for subset in subsets]

"""Causal language models: the target is written behind the source, in one row of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphneg.language_models.model import Item, LanguageModel, Tokens
from graphneg.language_models.padding import padded
from graphneg.language_models.steps import CausalSteps


class CausalLM(LanguageModel):
    """GPT-2, Llama and their like. Made by `graphneg.language_models.load_causal`."""

    def source_tokens(self, text: str) -> list[int]:
        """Tokens of a prompt; where there would be none, the token that begins texts."""
        tokens = self.ordered(self.tokenizer(text, verbose=False)["input_ids"]) if text else []
        return tokens or [self._begin]

    def target_tokens(self, text: str) -> list[int]:
        return [*self._scored_tokens(text), self.tokenizer.eos_token_id]

    def losses(self, batch: Sequence[Item]) -> list[float]:
        return [sum(each) / len(each) for each in self.token_losses(batch)]

    def token_losses(self, batch: Sequence[Item]) -> list[list[float]]:
        """The negative log-likelihood (nats) of each token of each target, given its source."""
        import torch
        from torch.nn.functional import cross_entropy

        rows = padded([[*item.source, *item.target] for item in batch], self._pad, "right", self.device)
        found: list[list[float]] = []
        with torch.inference_mode():
            logits = self.model(**rows).logits
            for row, item in enumerate(batch):
                first, end = len(item.source), len(item.source) + len(item.target)
                told, expected = rows["input_ids"][row, first:end], logits[row, first - 1 : end - 1]
                found.append(cross_entropy(expected.float(), told, reduction="none").tolist())
        return found

    def score_tokens(self, texts: Sequence[str], given: Sequence[str] | None = None) -> list[list[float]]:
        """As `score`, but the negative log-likelihood of each token; of a text without words, none."""
        return self._read(texts, given, self.token_losses, [])

    def steps(self, sources: Sequence[Tokens], width: int) -> CausalSteps:
        """The model before its first token behind each source; rows are padded to ``width`` tokens."""
        rows = padded(sources, self._pad, "left", self.device, width)
        return CausalSteps(self.model, rows, self.longest)

    @property
    def _pad(self) -> int:
        return self.tokenizer.pad_token_id

    @property
    def _begin(self) -> int:
        begin = self.tokenizer.bos_token_id
        return self.tokenizer.eos_token_id if begin is None else begin

    def _scored_tokens(self, text: str) -> list[int]:
        return self.ordered(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def _generated(self, batch: Sequence[Tokens], chain: list[Any], **settings: Any) -> list[list[int]]:
        from graphneg.language_models.running import generate

        rows = padded(batch, self._pad, "left", self.device)
        sequences = generate(self.model, rows, chain, pad_token_id=self._pad, **settings)
        start = rows["input_ids"].shape[1]
        return [sequence[start:] for sequence in sequences]

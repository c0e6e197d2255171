"""Sequence-to-sequence models: an encoder reads the source, a decoder writes the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphneg.language_models.model import Item, LanguageModel, Tokens
from graphneg.language_models.padding import padded
from graphneg.language_models.steps import Seq2SeqSteps


class Seq2SeqLM(LanguageModel):
    """BART, T5 and their like. Made by `graphneg.language_models.load_seq2seq`."""

    def source_tokens(self, text: str) -> list[int]:
        tokens = self.tokenizer(text, verbose=False)["input_ids"]
        return tokens or [self.tokenizer.eos_token_id]

    def target_tokens(self, text: str) -> list[int]:
        tokens = self.tokenizer(text_target=text, verbose=False)["input_ids"]
        end = self.tokenizer.eos_token_id
        return tokens if tokens[-1:] == [end] else [*tokens, end]

    def losses(self, batch: Sequence[Item]) -> list[float]:
        import torch
        from torch.nn.functional import cross_entropy

        rows = padded([item.source for item in batch], self._pad, "right", self.device)
        targets = padded([item.target for item in batch], self._pad, "right", self.device)
        labels = targets["input_ids"].masked_fill(targets["attention_mask"] == 0, -100)
        found: list[float] = []
        with torch.inference_mode():
            logits = self.model(**rows, labels=labels).logits
            for row, item in enumerate(batch):
                end = len(item.target)
                found.append(float(cross_entropy(logits[row, :end].float(), labels[row, :end])))
        return found

    def steps(self, sources: Sequence[Tokens], width: int) -> Seq2SeqSteps:
        """The model before its first token for each source; rows are padded to ``width`` tokens."""
        rows = padded(sources, self._pad, "right", self.device, width)
        return Seq2SeqSteps(self.model, rows)

    @property
    def _pad(self) -> int:
        return self.tokenizer.pad_token_id

    def _generated(self, batch: Sequence[Tokens], chain: list[Any], **settings: Any) -> list[list[int]]:
        from graphneg.language_models.running import generate

        rows = padded(batch, self._pad, "right", self.device)
        sequences = generate(self.model, rows, chain, **settings)
        return [sequence[1:] for sequence in sequences]

"""Examples as the trainer's batches of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphneg.language_models.causal import CausalLM
from graphneg.language_models.model import Item, LanguageModel
from graphneg.language_models.padding import padded

_NOT_LEARNED = -100


class Rows:
    """Items by place, as a map-style data set."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, place: int) -> Item:
        return self._items[place]


class Collation:
    """Makes a batch: ``input_ids``, ``attention_mask`` and ``labels`` of shape (items, tokens).

    A causal model's row is source and target, of which only the target has labels; a
    sequence-to-sequence model's rows are the sources, its labels the targets.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._pad: int = model.tokenizer.pad_token_id
        self._collate = self._causal if isinstance(model, CausalLM) else self._seq2seq

    def __call__(self, items: Sequence[Item]) -> Mapping[str, Any]:
        return self._collate(items)

    def _causal(self, items: Sequence[Item]) -> Mapping[str, Any]:
        rows = padded([[*item.source, *item.target] for item in items], self._pad, "right", "cpu")
        labels = rows["input_ids"].masked_fill(rows["attention_mask"] == 0, _NOT_LEARNED)
        for row, item in enumerate(items):
            labels[row, : len(item.source)] = _NOT_LEARNED
        return {**rows, "labels": labels}

    def _seq2seq(self, items: Sequence[Item]) -> Mapping[str, Any]:
        rows = padded([item.source for item in items], self._pad, "right", "cpu")
        targets = padded([item.target for item in items], self._pad, "right", "cpu")
        labels = targets["input_ids"].masked_fill(targets["attention_mask"] == 0, _NOT_LEARNED)
        return {**rows, "labels": labels}

"""A model one token at a time: what it expects next, given what it was told so far.

For decoding that transformers' ``generate`` has no word for: two prompts under the same noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Steps(Protocol):
    """``logits`` are those of the next token, of shape (items, vocabulary), in 64 bits."""

    logits: Any

    def take(self, tokens: Any) -> None:
        """Each item's next token is the given one (int64 tensor of shape (items,)); go on behind it."""
        ...


class CausalSteps:
    """Steps of a causal model behind prompts that are padded on their left.

    ``longest`` is how many tokens the model reads. Items whose text is over go on with tokens of no
    meaning beside the others, at the last position where they have no further one.
    """

    def __init__(self, model: Any, rows: Mapping[str, Any], longest: int | None) -> None:
        self._model = model
        self._last = None if longest is None else longest - 1
        self._mask = rows["attention_mask"]
        self._positions = (self._mask.cumsum(-1) - 1).clamp(min=0)
        self._past: Any = None
        self.logits: Any = None
        self._run(rows["input_ids"], self._positions)

    def take(self, tokens: Any) -> None:
        """See `Steps.take`."""
        import torch

        self._mask = torch.cat([self._mask, torch.ones_like(self._mask[:, :1])], dim=1)
        self._positions = (self._positions[:, -1:] + 1).clamp(max=self._last)
        self._run(tokens[:, None], self._positions)

    def _run(self, tokens: Any, positions: Any) -> None:
        import torch

        with torch.inference_mode():
            found = self._model(
                input_ids=tokens,
                attention_mask=self._mask,
                position_ids=positions,
                past_key_values=self._past,
                use_cache=True,
            )
        self._past = found.past_key_values
        self.logits = found.logits[:, -1].double()


class Seq2SeqSteps:
    """Steps of a decoder; its encoder reads the sources once."""

    def __init__(self, model: Any, rows: Mapping[str, Any]) -> None:
        import torch

        self._model = model
        self._mask = rows["attention_mask"]
        self._past: Any = None
        self.logits: Any = None
        with torch.inference_mode():
            self._read = model.get_encoder()(input_ids=rows["input_ids"], attention_mask=self._mask)
        start = model.generation_config.decoder_start_token_id
        if start is None:
            start = model.config.decoder_start_token_id
        self.take(torch.full_like(rows["input_ids"][:, 0], start))

    def take(self, tokens: Any) -> None:
        """See `Steps.take`."""
        import torch

        with torch.inference_mode():
            found = self._model(
                encoder_outputs=self._read,
                attention_mask=self._mask,
                decoder_input_ids=tokens[:, None],
                past_key_values=self._past,
                use_cache=True,
            )
        self._past = found.past_key_values
        self.logits = found.logits[:, -1].double()

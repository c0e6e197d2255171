"""The PyTorch backend: transformers' ``generate`` in batches."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphneg.decoders.t5.backend import Output, Tokens
from graphneg.decoders.t5.model_folder import first_line
from graphneg.decoders.t5.sampling import GumbelNoise, Sampling
from graphneg.errors import DecoderError


class TorchBackend:
    """A sequence-to-sequence model on one device (``auto``: a GPU where there is one).

    ``model`` is the transformers model. Raises `DecoderError` where the folder holds none.
    """

    def __init__(self, folder: Path, tokenizer: Any, device: str) -> None:
        model = _load(folder)
        self._tokenizer = tokenizer
        self._device = choose_device(device)
        try:
            self.model = model.eval().to(self._device)
        except (RuntimeError, AssertionError) as error:
            raise DecoderError(f"device {device!r} can't be used ({first_line(error)}); try cpu") from error

    def beams(self, batch: Sequence[Tokens], width: int, longest: int) -> list[list[Output]]:
        outputs = self._generate(batch, longest, num_beams=width, num_return_sequences=width)
        return [outputs[start : start + width] for start in range(0, len(outputs), width)]

    def draws(
        self, batch: Sequence[Tokens], sampling: Sampling, seeds: Sequence[int], longest: int
    ) -> list[list[Output]]:
        processors = [*_warpers(sampling), GumbelNoise(seeds)]
        return [[output] for output in self._generate(batch, longest, processors)]

    def _generate(
        self, batch: Sequence[Tokens], longest: int, processors: Sequence[Any] = (), **search: int
    ) -> list[Output]:
        import torch
        from transformers import LogitsProcessorList

        inputs = self._tokenizer.pad({"input_ids": [list(tokens) for tokens in batch]}, return_tensors="pt")
        config = copy.deepcopy(self.model.generation_config)
        settings = {"num_beams": 1, "num_return_sequences": 1, "max_length": None, **search}
        # Stopping at the first finished beams prefers short texts that broke off.
        config.update(max_new_tokens=longest, do_sample=False, early_stopping=False, **settings)
        with torch.inference_mode():
            sequences = self.model.generate(
                input_ids=inputs["input_ids"].to(self._device),
                attention_mask=inputs["attention_mask"].to(self._device),
                generation_config=config,
                logits_processor=LogitsProcessorList(processors),
            )
        return [self._output(sequence) for sequence in sequences.tolist()]

    def _output(self, sequence: list[int]) -> Output:
        """Cut off the start token, and the end token with the padding behind it."""
        tokens, end = sequence[1:], self._tokenizer.eos_token_id
        if end not in tokens:
            return Output(tokens, finished=False)
        return Output(tokens[: tokens.index(end)], finished=True)


def _load(folder: Path) -> Any:
    from pickle import UnpicklingError

    from safetensors import SafetensorError
    from transformers import AutoModelForSeq2SeqLM

    load: Any = AutoModelForSeq2SeqLM.from_pretrained
    try:
        model, found = load(folder, local_files_only=True, output_loading_info=True)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError, UnpicklingError) as error:
        raise DecoderError(
            f"{folder}: no sequence-to-sequence model can be read from it ({first_line(error)})"
        ) from error
    if found["missing_keys"]:
        names = sorted(found["missing_keys"])
        raise DecoderError(
            f"{folder}: {len(names)} weights are missing, {names[0]} first; fetch the model again"
        )
    return model


def choose_device(device: str) -> str:
    """``auto`` is CUDA, then Apple's MPS, then the CPU; any other name is kept."""
    import torch

    if device != "auto":
        return device
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _warpers(sampling: Sampling) -> list[Any]:
    from transformers.generation.logits_process import (
        TemperatureLogitsWarper,
        TopKLogitsWarper,
        TopPLogitsWarper,
    )

    warpers: list[Any] = [TemperatureLogitsWarper(float(sampling.temperature))]
    if sampling.top_k:
        warpers.append(TopKLogitsWarper(sampling.top_k))
    if sampling.top_p < 1:
        warpers.append(TopPLogitsWarper(float(sampling.top_p)))
    return warpers

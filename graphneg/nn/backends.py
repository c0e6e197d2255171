"""What runs a model that writes texts: PyTorch, or CTranslate2 with 8-bit weights.

In: rows of tokens. Out: the best texts of each as tokens, or drawn ones, and how likely given texts are.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from graphneg.errors import DecoderError, InputError, ModelError, first_line
from graphneg.nn.generation import Sampling, processors
from graphneg.nn.language_models import CausalLM, Request, Seq2SeqLM, Tokens
from graphneg.nn.models import CAUSAL, SEQ2SEQ, ModelFolder, ModelSource, load_weights, on_device
from graphneg.private_files import cache_folder
from graphneg.records.runs import atomic_folder

NO_SAMPLING = "CTranslate2 can't be seeded for each text: use the torch backend for sampling, or beams"
_CONVERTED = "ctranslate2-int8"


class Output(NamedTuple):
    """A generated text's tokens without special ones at its ends; ``finished`` if it came to an end."""

    tokens: Tokens
    finished: bool


class Backend(ABC):
    """Generates texts for a batch of graphs, each with its end token."""

    @abstractmethod
    def beams(self, batch: Sequence[Tokens], width: int, longest: int) -> list[list[Output]]:
        """The ``width`` best texts of each graph, best first, of at most ``longest`` tokens."""

    def draws(
        self, batch: Sequence[Tokens], sampling: Sampling, seeds: Sequence[int], longest: int
    ) -> list[list[Output]]:
        """One text of each graph, drawn with its own seed; an `InputError` where the backend can't."""
        raise InputError(NO_SAMPLING)

    @abstractmethod
    def losses(self, batch: Sequence[tuple[Tokens, str]]) -> list[float]:
        """Of each graph's text: the mean negative log-likelihood (nats a token), its end token's too."""


class TorchBackend(Backend):
    """A transformers model on one device (``auto``: a GPU where there is one), or a `DecoderError`.

    It is a sequence-to-sequence one, or ``causal``. ``model`` is transformers' own.
    """

    def __init__(self, folder: Path, tokenizer: Any, device: str, *, causal: bool = False) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        source = ModelSource(folder, None)
        try:
            if causal:
                self.model = load_weights(source, AutoModelForCausalLM, CAUSAL, dtype=torch.float32)
            else:
                self.model = load_weights(source, AutoModelForSeq2SeqLM, SEQ2SEQ)
            self.model = on_device(self.model, device)
        except ModelError as error:
            raise DecoderError(str(error)) from error
        self._lm = (CausalLM if causal else Seq2SeqLM)(self.model, tokenizer, folder)
        self._ends = self._lm.end_tokens(None)

    def beams(self, batch: Sequence[Tokens], width: int, longest: int) -> list[list[Output]]:
        """See `Backend.beams`."""
        outputs = self._generate(batch, longest, (), num_beams=width, num_return_sequences=width)
        return [outputs[start : start + width] for start in range(0, len(outputs), width)]

    def draws(
        self, batch: Sequence[Tokens], sampling: Sampling, seeds: Sequence[int], longest: int
    ) -> list[list[Output]]:
        """See `Backend.draws`."""
        outputs = self._generate(batch, longest, processors(sampling, seeds), num_beams=1)
        return [[output] for output in outputs]

    def losses(self, batch: Sequence[tuple[Tokens, str]]) -> list[float]:
        """See `Backend.losses`."""
        items = [Request(at, source, self._lm.target_tokens(text)) for at, (source, text) in enumerate(batch)]
        return self._lm.losses(items)

    def _generate(
        self, batch: Sequence[Tokens], longest: int, chain: Sequence[Any], **search: Any
    ) -> list[Output]:
        sequences = self._lm.generated(batch, list(chain), max_new_tokens=longest, **search)
        return [_output(sequence, self._ends) for sequence in sequences]


def _output(tokens: list[int], ends: Collection[int]) -> Output:
    """Without the end token and the padding behind it."""
    end = next((at for at, token in enumerate(tokens) if token in ends), None)
    return Output(tokens, False) if end is None else Output(tokens[:end], True)


class CTranslate2Backend(Backend):
    """The same model with 8-bit weights, faster on CPUs (``auto``: CUDA where CTranslate2 finds it).

    A model is converted once. The result is kept beside it, in ``ctranslate2-int8``; where the folder can't
    be written or came from the hub, in the user's cache. A conversion is made in a folder of its own and then
    renamed, so that one that was stopped is never used.

    Raises `DecoderError` where the folder can't be converted or loaded.
    """

    def __init__(self, folder: ModelFolder, tokenizer: Any, device: str) -> None:
        import ctranslate2

        converted = folder.path if folder.converted else convert(folder, tokenizer)
        kind, _, number = device.partition(":")
        try:
            self._translator = ctranslate2.Translator(
                str(converted), device=kind, device_index=int(number or 0), compute_type="int8"
            )
        except (RuntimeError, ValueError) as error:
            raise DecoderError(
                f"{converted}: CTranslate2 can't load it on {device!r} ({first_line(error)})"
            ) from error
        self._tokenizer = tokenizer

    def beams(self, batch: Sequence[Tokens], width: int, longest: int) -> list[list[Output]]:
        """See `Backend.beams`."""
        # With patience 1 the search stops at the first finished beams: short texts that broke off.
        source = [self._tokenizer.convert_ids_to_tokens(list(tokens)) for tokens in batch]
        results = self._translator.translate_batch(
            source,
            max_input_length=0,
            max_decoding_length=longest,
            return_end_token=True,
            beam_size=width,
            num_hypotheses=width,
            patience=2,
        )
        ids, ends = self._tokenizer.convert_tokens_to_ids, {self._tokenizer.eos_token_id}
        return [[_output(ids(tokens), ends) for tokens in result.hypotheses] for result in results]

    def losses(self, batch: Sequence[tuple[Tokens, str]]) -> list[float]:
        """See `Backend.losses`."""
        pieces = self._tokenizer.convert_ids_to_tokens
        results = self._translator.score_batch(
            [pieces(list(tokens)) for tokens, _ in batch],
            [
                pieces(self._tokenizer(text_target=text, add_special_tokens=False)["input_ids"])
                for _, text in batch
            ],
            max_input_length=0,
        )
        return [-sum(one.log_probs) / len(one.log_probs) for one in results]


def convert(folder: ModelFolder, tokenizer: Any) -> Path:
    """The folder of the converted model, made where it is not there yet."""
    # A text that changes when the model's files do: trained on, a model is converted again.
    files = sorted(file for file in folder.path.iterdir() if file.is_file())
    facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    version = hashlib.sha256(repr(facts).encode()).hexdigest()[:12]
    cache = folder.path
    if folder.from_hub or not os.access(cache, os.W_OK):
        name = hashlib.sha256(str(cache.resolve()).encode()).hexdigest()[:16]
        cache = cache_folder("models", name)
    target = cache / f"{_CONVERTED}-{version}"
    if target.is_dir():
        return target
    try:
        with atomic_folder(target) as unfinished:
            _converter(folder.path, tokenizer).convert(str(unfinished), quantization="int8", force=True)
    except (OSError, RuntimeError, ValueError, KeyError, AttributeError, TypeError) as error:
        why = f"{folder.path}: can't be converted for CTranslate2 ({first_line(error)})"
        raise DecoderError(why) from error
    return target


def _converter(path: Path, tokenizer: Any) -> Any:
    from ctranslate2.converters import TransformersConverter

    class Converter(TransformersConverter):
        """Uses the tokenizer that is loaded already; amrlib's folders hold none."""

        def load_tokenizer(self, tokenizer_class: Any, model_name_or_path: str, **kwargs: Any) -> Any:
            return tokenizer

    return Converter(str(path))

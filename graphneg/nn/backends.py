"""Run a model that converts AMR graphs into text, with PyTorch or with CTranslate2 (8-bit weights).

The input of a `Backend` is a batch of linearized graphs, each as a list of token ids. A backend can generate
texts by beam search or sampling, or compute the losses of given texts. `TorchBackend` runs any transformers
model. `CTranslate2Backend` runs a copy of the model that was converted to 8-bit weights, which is faster on
CPUs.

Example:
    Decode a linearized graph with a beam of width 4::

        [outputs] = backend.beams([tokenizer("( want-01 :ARG0 ( boy ) )").input_ids], 4, 64)
        tokenizer.decode(outputs[0].tokens)
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from graphneg.errors import DecoderError, InputError, ModelError, first_line
from graphneg.nn.generation import Sampling, processors
from graphneg.nn.language_models import CausalLM, Seq2SeqLM, TokenPair, Tokens
from graphneg.nn.models import CAUSAL, SEQ2SEQ, ModelFolder, ModelSource, load_weights, on_device
from graphneg.paths import resolved
from graphneg.private_files import cache_folder
from graphneg.records.runs import atomic_folder

NO_SAMPLING = "CTranslate2 can't be seeded for each text: use the torch backend for sampling, or beams"
_CONVERTED = "ctranslate2-int8"
# A part of CTranslate2's message if a CUDA library is missing.
_NO_LIBRARY = "is not found or cannot be loaded"


class Output(NamedTuple):
    """A text that a model generated for a graph.

    Attributes:
        tokens: The tokens of the text, without the start token and the end token.
        finished: Whether the model ended the text before the token limit.
    """

    tokens: Tokens
    finished: bool


class Backend(ABC):
    """Base class for running a graph-to-text model on batches of graphs."""

    @abstractmethod
    def beams(self, batch: Sequence[Tokens], width: int, longest: int) -> list[list[Output]]:
        """Return the best texts for each graph.

        Args:
            batch: The tokens of each graph, including the end token.
            width: Number of beams, which is also the number of texts per graph.
            longest: Maximum number of tokens of a text.

        Returns:
            The texts for each graph, sorted from best to worst.
        """

    def sample(
        self, batch: Sequence[Tokens], sampling: Sampling, seeds: Sequence[int], longest: int
    ) -> list[list[Output]]:
        """Sample one text for each graph, with a separate seed for each graph.

        A subclass that can sample overrides this method and returns, for each graph, a list with one text.
        The implementation in this base class only raises an error.

        Args:
            batch: The tokens of each graph, including the end token.
            sampling: The sampling parameters.
            seeds: The seed of each graph.
            longest: Maximum number of tokens of a text.

        Raises:
            InputError: The backend cannot sample.
        """
        raise InputError(NO_SAMPLING)

    @abstractmethod
    def losses(self, batch: Sequence[tuple[Tokens, str]]) -> list[float]:
        """Return the loss of each text, given its graph.

        Args:
            batch: Pairs of a graph (as tokens) and a text.

        Returns:
            The loss of each text: the mean negative log-likelihood in nats per token, including the end
            token.
        """


class TorchBackend(Backend):
    """Runs a transformers model with PyTorch on one device.

    Args:
        folder: The folder of the model.
        tokenizer: The tokenizer of the model.
        device: A torch device; ``auto`` chooses a GPU if there is one.
        causal: True for a causal model, False for a sequence-to-sequence model.

    Attributes:
        model: The transformers model.

    Raises:
        DecoderError: The model cannot be loaded.
    """

    def __init__(self, folder: Path, tokenizer: Any, device: str, *, causal: bool = False) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

        # GPT-2 and Llama have no padding token, so use the end token for padding. The attention mask hides
        # the padding from the model.
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
        """Return the best texts for each graph. See `Backend.beams`.

        Args:
            batch: The tokens of each graph, including the end token.
            width: Number of beams, which is also the number of texts per graph.
            longest: Maximum number of tokens of a text.

        Returns:
            The texts for each graph, sorted from best to worst.
        """
        outputs = self._generate(batch, longest, (), num_beams=width, num_return_sequences=width)
        return [outputs[start : start + width] for start in range(0, len(outputs), width)]

    def sample(
        self, batch: Sequence[Tokens], sampling: Sampling, seeds: Sequence[int], longest: int
    ) -> list[list[Output]]:
        """Sample one text for each graph. See `Backend.sample`.

        Args:
            batch: The tokens of each graph, including the end token.
            sampling: The sampling parameters.
            seeds: The seed of each graph.
            longest: Maximum number of tokens of a text.

        Returns:
            For each graph, a list with one text.
        """
        # Greedy search over logits with Gumbel noise is equivalent to sampling (see
        # `graphneg.nn.generation`).
        outputs = self._generate(batch, longest, processors(sampling, seeds), num_beams=1)
        return [[output] for output in outputs]

    def losses(self, batch: Sequence[tuple[Tokens, str]]) -> list[float]:
        """Return the loss of each text. See `Backend.losses`."""
        items = [
            TokenPair(at, source, self._lm.target_tokens(text)) for at, (source, text) in enumerate(batch)
        ]
        return self._lm.losses(items)

    def _generate(
        self, batch: Sequence[Tokens], longest: int, chain: Sequence[Any], **search: Any
    ) -> list[Output]:
        """Generate texts for each graph in a batch. Cut off each text at its first end token."""
        sequences = self._lm.generated(batch, list(chain), max_new_tokens=longest, **search)
        return [_output(sequence, self._ends) for sequence in sequences]


def _output(tokens: list[int], ends: Collection[int]) -> Output:
    """Return generated tokens as an `Output`, without the end token and the padding after it."""
    end = next((at for at, token in enumerate(tokens) if token in ends), None)
    return Output(tokens, False) if end is None else Output(tokens[:end], True)


class CTranslate2Backend(Backend):
    """Runs a sequence-to-sequence model with CTranslate2 and 8-bit weights, which is faster on CPUs.

    A model is converted at its first use. The converted model is stored in a subfolder of the model's folder,
    ``ctranslate2-int8-VERSION``. If the model's folder is read-only or was downloaded from the Hugging Face
    hub, the converted model is stored in the user's cache instead. The conversion is written to a temporary
    folder, which is renamed at the end, so that an incomplete conversion is never used.

    Args:
        folder: The folder of the model. It may contain a model that was already converted.
        tokenizer: The tokenizer of the model.
        device: ``cpu``, ``cuda``, ``cuda:1`` and so on; ``auto`` chooses CUDA if CTranslate2 finds a GPU.

    Raises:
        DecoderError: The model cannot be converted or loaded.
    """

    def __init__(self, folder: ModelFolder, tokenizer: Any, device: str) -> None:
        self._converted = folder.path if folder.converted else convert(folder, tokenizer)
        self._tokenizer, self._device = tokenizer, device
        self._translator = self._open(device)

    def _open(self, device: str) -> Any:
        """Load the converted model on a device.

        Returns:
            The ``Translator`` of CTranslate2.

        Raises:
            DecoderError: CTranslate2 cannot load the model on this device.
        """
        import ctranslate2

        # "cuda:1" means the device "cuda" with the index 1.
        kind, _, number = device.partition(":")
        try:
            return ctranslate2.Translator(
                str(self._converted), device=kind, device_index=int(number or 0), compute_type="int8"
            )
        except (RuntimeError, ValueError) as error:
            raise DecoderError(
                f"{self._converted}: CTranslate2 can't load it on {device!r} ({first_line(error)})"
            ) from error

    def _run(self, job: Callable[[Any], Any]) -> Any:
        """Return the result of a function that runs the translator.

        CTranslate2 chooses a GPU even if CUDA libraries are missing, because it loads the libraries only when
        it first needs them. If loading them fails and the device was chosen automatically, the CPU is used
        from then on.

        Args:
            job: Function that takes the ``Translator`` of CTranslate2.

        Raises:
            DecoderError: CUDA libraries are missing, and the user asked for the GPU.
            RuntimeError: Any other error of the translator, for example if memory runs out.
        """
        try:
            return job(self._translator)
        except RuntimeError as error:
            # Only missing CUDA libraries are handled here. The caller handles errors such as a lack of
            # memory.
            if _NO_LIBRARY not in str(error):
                raise error
            if self._device != "auto":
                why = f"CTranslate2 can't use {self._device!r} ({first_line(error)}); try --device cpu"
                raise DecoderError(why) from error
        self._device = "cpu"
        self._translator = self._open("cpu")
        return job(self._translator)

    def beams(self, batch: Sequence[Tokens], width: int, longest: int) -> list[list[Output]]:
        """Return the best texts for each graph. See `Backend.beams`."""
        # With patience 1, the search would stop as soon as enough beams have ended. The first beams to end
        # are often short, incomplete texts. With patience 2, the search continues until twice as many beams
        # have ended.
        source = [self._tokenizer.convert_ids_to_tokens(list(tokens)) for tokens in batch]
        results = self._run(
            lambda translator: translator.translate_batch(
                source,
                # 0 means no limit. By default, CTranslate2 silently truncates inputs to 1,024 tokens.
                max_input_length=0,
                max_decoding_length=longest,
                return_end_token=True,
                beam_size=width,
                num_hypotheses=width,
                patience=2,
            )
        )
        ids, ends = self._tokenizer.convert_tokens_to_ids, {self._tokenizer.eos_token_id}
        return [[_output(ids(tokens), ends) for tokens in result.hypotheses] for result in results]

    def losses(self, batch: Sequence[tuple[Tokens, str]]) -> list[float]:
        """Return the loss of each text. See `Backend.losses`."""
        pieces = self._tokenizer.convert_ids_to_tokens
        sources = [pieces(list(tokens)) for tokens, _ in batch]
        targets = [
            pieces(self._tokenizer(text_target=text, add_special_tokens=False)["input_ids"])
            for _, text in batch
        ]
        results = self._run(lambda translator: translator.score_batch(sources, targets, max_input_length=0))
        # These losses include the end token, so they are comparable with the losses of `TorchBackend`.
        return [-sum(one.log_probs) / len(one.log_probs) for one in results]


def convert(folder: ModelFolder, tokenizer: Any) -> Path:
    """Convert a model into CTranslate2's format, unless a converted copy exists.

    Args:
        folder: The folder of the model.
        tokenizer: The tokenizer of the model.

    Returns:
        The folder of the converted model.

    Raises:
        DecoderError: The model cannot be converted.
    """
    # The version is a digest of the names, sizes and modification times of the model's files. If the model is
    # trained further, the digest changes, and the model is converted again.
    files = sorted(file for file in folder.path.iterdir() if file.is_file())
    facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    version = hashlib.sha256(repr(facts).encode()).hexdigest()[:12]
    cache = folder.path
    if folder.from_hub or not os.access(cache, os.W_OK):
        # Different models may have folders with the same name in different places, so the name of the cache
        # folder is a digest of the whole path.
        name = hashlib.sha256(str(resolved(cache)).encode()).hexdigest()[:16]
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
    """Return a CTranslate2 converter for the model in a folder."""
    from ctranslate2.converters import TransformersConverter

    class Converter(TransformersConverter):
        """A model converter that gets the tokenizer from the caller.

        CTranslate2 would load it from the model's folder, but amrlib saves no tokenizer there.
        """

        def load_tokenizer(self, tokenizer_class: Any, model_name_or_path: str, **kwargs: Any) -> Any:
            return tokenizer

    return Converter(str(path))

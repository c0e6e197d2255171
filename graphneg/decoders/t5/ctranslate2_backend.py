"""The CTranslate2 backend: the same model with 8-bit weights, faster on CPUs.

A model is converted once. The result is kept beside it, in ``ctranslate2-int8``; where the
folder can't be written or came from the hub, in the user's cache. A conversion is made in a
folder of its own and then renamed, so that one that was stopped is never used.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphneg.decoders.t5.backend import NO_SAMPLING, Output, Tokens
from graphneg.decoders.t5.model_folder import ModelFolder, first_line
from graphneg.decoders.t5.sampling import Sampling
from graphneg.errors import DecoderError, InputError

_CONVERTED = "ctranslate2-int8"


class CTranslate2Backend:
    """A converted model on one device (``auto``: CUDA where CTranslate2 finds it).

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
        # With patience 1 the search stops at the first finished beams: short texts that broke off.
        return self._translate(batch, longest, beam_size=width, num_hypotheses=width, patience=2)

    def draws(
        self, batch: Sequence[Tokens], sampling: Sampling, seeds: Sequence[int], longest: int
    ) -> list[list[Output]]:
        """Always raises `InputError`: CTranslate2 seeds a thread once, not each text."""
        raise InputError(NO_SAMPLING)

    def _translate(self, batch: Sequence[Tokens], longest: int, **search: int) -> list[list[Output]]:
        source = [self._tokenizer.convert_ids_to_tokens(list(tokens)) for tokens in batch]
        results = self._translator.translate_batch(
            source, max_input_length=0, max_decoding_length=longest, return_end_token=True, **search
        )
        return [[self._output(hypothesis) for hypothesis in result.hypotheses] for result in results]

    def _output(self, tokens: list[str]) -> Output:
        finished = tokens[-1:] == [self._tokenizer.eos_token]
        kept = tokens[:-1] if finished else tokens
        return Output(self._tokenizer.convert_tokens_to_ids(kept), finished)


def convert(folder: ModelFolder, tokenizer: Any) -> Path:
    """The folder of the converted model, made where it is not there yet."""
    target = _cache_for(folder) / f"{_CONVERTED}-{_version_of(folder.path)}"
    if target.is_dir():
        return target
    unfinished = Path(tempfile.mkdtemp(prefix=target.name, dir=target.parent))
    try:
        _converter(folder.path, tokenizer).convert(str(unfinished), quantization="int8", force=True)
        _rename(unfinished, target)
    except (OSError, RuntimeError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise DecoderError(
            f"{folder.path}: can't be converted for CTranslate2 ({first_line(error)})"
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return target


def _converter(path: Path, tokenizer: Any) -> Any:
    from ctranslate2.converters import TransformersConverter

    class Converter(TransformersConverter):
        """Uses the tokenizer that is loaded already; amrlib's folders hold none."""

        def load_tokenizer(self, tokenizer_class: Any, model_name_or_path: str, **kwargs: Any) -> Any:
            return tokenizer

    return Converter(str(path))


def _cache_for(folder: ModelFolder) -> Path:
    if not folder.from_hub and os.access(folder.path, os.W_OK):
        return folder.path
    from platformdirs import user_cache_path

    name = hashlib.sha256(str(folder.path.resolve()).encode()).hexdigest()[:16]
    cache = user_cache_path("graphneg") / "models" / name
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def _version_of(path: Path) -> str:
    """A text that changes when the model's files do: trained on, a model is converted again."""
    files = sorted(file for file in path.iterdir() if file.is_file())
    facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:12]


def _rename(unfinished: Path, target: Path) -> None:
    """Put a conversion in its place; another process may have been faster."""
    try:
        os.rename(unfinished, target)
    except OSError:
        if not target.is_dir():
            raise

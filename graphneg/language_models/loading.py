"""Loading a language model of the kind that is asked for, or saying in one line why it can't be."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from graphneg.errors import ModelError
from graphneg.language_models.causal import CausalLM
from graphneg.language_models.finding import ModelPlace, check_packages, find_model, first_line
from graphneg.language_models.model import Loaded, direction_of
from graphneg.language_models.seq2seq import Seq2SeqLM

_CAUSAL = "causal language model"
_SEQ2SEQ = "sequence-to-sequence model"


def load_causal(
    model: str | Path, *, gguf_file: str | None = None, device: str = "auto", offline: bool = False
) -> CausalLM:
    """A causal language model of a folder, a GGUF file or a hub id (GPT-2, Llama, ...).

    In a folder without ``config.json`` the only GGUF file is found by itself; weights of such a file
    are widened to 32 bits, so that the model can be trained on. ``device`` ``auto`` is a GPU where
    there is one. With ``offline`` nothing is fetched.

    Raises:
        ModelError: there is no such model, it is of another kind, or the hub can't be reached.
    """
    place = _found(model, gguf_file, offline)
    from transformers import AutoModelForCausalLM
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as KINDS

    return CausalLM(_loaded(place, AutoModelForCausalLM, KINDS, _CAUSAL, device))


def load_seq2seq(model: str | Path, *, device: str = "auto", offline: bool = False) -> Seq2SeqLM:
    """A sequence-to-sequence model of a folder or a hub id (BART, T5, ...).

    Raises:
        ModelError: there is no such model, it is of another kind, or the hub can't be reached.
    """
    place = _found(model, None, offline)
    from transformers import AutoModelForSeq2SeqLM
    from transformers.models.auto.modeling_auto import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES as KINDS

    return Seq2SeqLM(_loaded(place, AutoModelForSeq2SeqLM, KINDS, _SEQ2SEQ, device))


def load_either(
    model: str | Path, *, gguf_file: str | None = None, device: str = "auto", offline: bool = False
) -> CausalLM | Seq2SeqLM:
    """A model of either kind, as its configuration says.

    Raises:
        ModelError: there is no such model, it is of neither kind, or the hub can't be reached.
    """
    place = _found(model, gguf_file, offline)
    if place.gguf_file is None and bool(getattr(_config(place), "is_encoder_decoder", False)):
        return load_seq2seq(place.folder, device=device, offline=True)
    return load_causal(place.folder, gguf_file=place.gguf_file, device=device, offline=True)


def _found(model: str | Path, gguf_file: str | None, offline: bool) -> ModelPlace:
    check_packages()
    return find_model(model, gguf_file=gguf_file, offline=offline)


def _loaded(place: ModelPlace, auto: Any, kinds: Any, wanted: str, device: str) -> Loaded:
    config = _config(place)
    _check_kind(place, config, kinds, wanted)
    tokenizer = _tokenizer(place)
    return Loaded(
        model=_on_device(_weights(place, auto, wanted), device),
        tokenizer=tokenizer,
        place=place.path,
        direction=direction_of(config),
    )


def _from_pretrained(auto: Any, place: ModelPlace, **options: Any) -> Any:
    """``from_pretrained`` of a transformers class, its errors of all sorts as one `ModelError`."""
    from pickle import UnpicklingError

    from safetensors import SafetensorError

    known = (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError, AttributeError)
    if place.gguf_file is not None:
        options["gguf_file"] = place.gguf_file
    try:
        return auto.from_pretrained(str(place.folder), local_files_only=True, **options)
    except (*known, SafetensorError, UnpicklingError) as error:
        raise ModelError(f"{place.path}: can't be read as a model ({first_line(error)})") from error


def _config(place: ModelPlace) -> Any:
    from transformers import AutoConfig

    return _from_pretrained(AutoConfig, place)


def _check_kind(place: ModelPlace, config: Any, kinds: Any, wanted: str) -> None:
    """A checkpoint says which class it was saved from; a GGUF file only says the type of model."""
    saved: list[str] = config.architectures or []
    allowed = {name for value in kinds.values() for name in ([value] if isinstance(value, str) else value)}
    if not saved and config.model_type in kinds:
        return
    if not allowed.intersection(saved):
        raise ModelError(
            f"{place.path}: holds {' or '.join(saved) or config.model_type}, which is no {wanted}; "
            f"choose a {wanted}"
        )


def _tokenizer(place: ModelPlace) -> Any:
    from transformers import AutoTokenizer

    tokenizer = _from_pretrained(AutoTokenizer, place)
    if tokenizer.eos_token_id is None:
        raise ModelError(f"{place.path}: its tokenizer has no end-of-text token, so texts would never end")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def _weights(place: ModelPlace, auto: Any, wanted: str) -> Any:
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    with _no_bar_of_gguf(place):
        model, found = _from_pretrained(auto, place, dtype=torch.float32, output_loading_info=True)
    if found["missing_keys"]:
        names = sorted(found["missing_keys"])
        raise ModelError(
            f"{place.path}: of a {wanted}, {len(names)} weights are missing, {names[0]} first; "
            "fetch the model again"
        )
    if place.gguf_file is not None:
        _forget_quantisation(model)
    return model


@contextmanager
def _no_bar_of_gguf(place: ModelPlace) -> Generator[None]:
    """transformers draws a bar for a GGUF file's tensors, and has no switch for it."""
    if place.gguf_file is None:
        yield
        return
    from transformers import modeling_gguf_pytorch_utils

    reading: Any = modeling_gguf_pytorch_utils
    drawn = reading.tqdm
    reading.tqdm = partial(drawn, disable=True)
    try:
        yield
    finally:
        reading.tqdm = drawn


def _forget_quantisation(model: Any) -> None:
    """A GGUF file's weights are plain 32-bit numbers once read; the marks only forbid to train and save."""
    for holder, name in ((model.config, "quantization_config"), (model, "hf_quantizer")):
        if hasattr(holder, name):
            delattr(holder, name)
    model.is_quantized = False


def _on_device(model: Any, device: str) -> Any:
    from graphneg.decoders.t5.torch_backend import choose_device

    try:
        return model.eval().to(choose_device(device))
    except (RuntimeError, AssertionError) as error:
        raise ModelError(f"device {device!r} can't be used ({first_line(error)}); try cpu") from error

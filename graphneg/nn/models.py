"""Find and load language models.

A model can be given as a folder, as a GGUF file, or as the id of a repository on the Hugging Face hub, which
is downloaded at the first use. If a model is missing or of the wrong kind, the functions raise a `ModelError`
whose message says how to get a suitable model.

Example:
    Load a model from the hub, without network access if it was downloaded before::

        model = load_causal("distilbert/distilgpt2", offline=True)
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stderr
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

from graphneg.errors import DecoderError, GraphnegError, ModelError, first_line
from graphneg.nn.language_models import CausalLM, Seq2SeqLM
from graphneg.paths import expand_home

INSTALL = 'pip install "graphneg[neural]"'
"""The command that installs the packages for neural models."""
AMRLIB_MODELS = "https://github.com/bjascob/amrlib-models"
"""The web page from which the models of amrlib can be downloaded."""
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_WEIGHTS = {".safetensors": "*.safetensors", ".bin": "pytorch_model*.bin", ".gguf": "*.gguf"}
"""File formats of weights, in order of preference: suffixes, with the patterns of the files to download."""
_TOKENIZER_FILES = ("tokenizer*.json", "spiece.model", "sentencepiece.bpe.model", "vocab.json")
"""Patterns of the names of tokenizer files. A folder that contains a tokenizer has at least one file that
matches one of these patterns."""
AMR_TO_TEXT = "translation_amr_to_text"
"""The key in ``task_specific_params`` under which amrlib's models store their training settings."""
_CAUSAL_CLASSES = ("ForCausalLM", "LMHeadModel")
"""Suffixes that the class names of causal models have in transformers."""
SEQ2SEQ, CAUSAL = "sequence-to-sequence model", "causal language model"
"""Names of the two kinds of models, for error messages."""


def check_packages() -> None:
    """Check that torch and transformers are installed.

    Raises:
        ModelError: torch or transformers is not installed.
    """
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    if missing:
        raise ModelError(f"language models need {' and '.join(missing)}: {INSTALL}")


def locate(model: str | Path, *, offline: bool, tokenizer_only: bool = False) -> Path:
    """Return the local folder of a model, downloading it if necessary.

    If the hub cannot be reached, the function falls back to an earlier download.

    Args:
        model: A folder, or an id on the Hugging Face hub.
        offline: Whether to use only local files, without network access.
        tokenizer_only: Whether to download only the small files (tokenizer and configuration), without the
            weights.

    Returns:
        The folder with the files of the model.

    Raises:
        ModelError: There is no such model, or it cannot be downloaded. The message contains a command that
            downloads the model.
    """
    path = expand_home(model)
    if path.is_dir():
        return path
    if not _is_hub_id(model):
        raise ModelError(
            f"{model}: there is no such model folder; "
            f"get one with: hf download ORGANISATION/NAME --local-dir {model}"
        )
    id = str(model)
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    how = f"get it with: hf download {id}"
    why = "downloads are disabled"
    if not offline:
        try:
            patterns = ["*.json", "*.txt", "*.model"]
            # Many repositories contain the same weights in several formats. Download only one of these
            # formats.
            if not tokenizer_only:
                siblings = HfApi().model_info(id, timeout=10).siblings or []
                endings = {Path(file.rfilename).suffix for file in siblings}
                patterns += [pattern for ending, pattern in _WEIGHTS.items() if ending in endings][:1]
            return Path(snapshot_download(id, allow_patterns=patterns))
        # The hub has answered that the model does not exist or that the user has no access to it, so do not
        # use an earlier download.
        except HfHubHTTPError as error:
            raise ModelError(f"model {id} can't be downloaded ({first_line(error)}); {how}") from error
        # Different versions of huggingface_hub use different HTTP clients, which raise different errors, so
        # catch all errors.
        except Exception as error:
            why = f"the hub can't be reached ({first_line(error)})"
    try:
        # With `offline`, or if the hub could not be reached, use an earlier download if there is one.
        return Path(snapshot_download(id, local_files_only=True))
    except (LocalEntryNotFoundError, OSError) as error:
        raise ModelError(f"model {id} is not on this machine and {why}; {how}") from error


def _is_hub_id(model: str | Path) -> bool:
    """Return whether a name has the form of an id on the Hugging Face hub, such as ``google/mt5-base``."""
    return isinstance(model, str) and _HUB_ID.fullmatch(model) is not None


def choose_device(device: str | None) -> str:
    """Choose a torch device.

    Args:
        device: The name of a device. ``auto`` or None chooses the first available one of CUDA, Apple's MPS
            and the CPU.

    Returns:
        The name of the device, such as ``cuda``.
    """
    import torch

    if device not in ("auto", None):
        return device
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


@contextmanager
def reading(folder: Path, what: str) -> Generator[None]:
    """Suppress the output of transformers in a ``with`` block, and convert exceptions into `ModelError`.

    Args:
        folder: The folder that the ``with`` block reads, for the error message.
        what: Name of the expected content of the folder, such as "encoder", for the error message.

    Raises:
        GraphnegError: The block raised an error of graphneg itself, which is passed on unchanged.
        ModelError: The block raised any other exception. No exception is excluded, because loading a model
            can raise any error of torch and of file parsers.
    """
    from transformers.utils.logging import disable_progress_bar, set_verbosity_error

    disable_progress_bar()
    set_verbosity_error()  # Hide the warning about a new or unused classification head.
    try:
        yield
    except GraphnegError:
        raise
    except Exception as error:
        raise ModelError(f"{folder}: no {what} can be read from it ({first_line(error)})") from error


def read_config(folder: Path, what: str = "ranker") -> dict[str, Any]:
    """Read the ``config.json`` of a model.

    Args:
        folder: The folder of the model.
        what: Name of the expected kind of model, such as "encoder", for the error message.

    Returns:
        The content of the file.

    Raises:
        ModelError: The file is missing or does not contain a JSON object.
    """
    try:
        config: Any = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder}: it has no readable config.json, so it is not a {what}") from error
    if not isinstance(config, dict):
        raise ModelError(f"{folder}: its config.json is not an object, so it is not a {what}")
    return config


@dataclass(frozen=True, slots=True)
class ModelSource:
    """The files of a language model on this machine.

    Attributes:
        folder: The folder of the model.
        gguf_file: The name of the GGUF file in the folder that contains the model; None for other formats.
    """

    folder: Path
    gguf_file: str | None

    @property
    def path(self) -> Path:
        """The path of the folder or of the GGUF file, for error messages."""
        return self.folder / self.gguf_file if self.gguf_file else self.folder


def load_causal(
    model: str | Path, *, gguf_file: str | None = None, device: str = "auto", offline: bool = False
) -> CausalLM:
    """Load a causal language model such as GPT-2 or Llama.

    If a folder has no ``config.json`` but exactly one GGUF file, this file is loaded. The weights of a GGUF
    file are converted into 32-bit numbers, so that the model can be trained further. Raises `ModelError` if
    the model is missing, is not causal, or cannot be downloaded.

    Args:
        model: A folder, a GGUF file, or an id on the Hugging Face hub.
        gguf_file: The name of a GGUF file in the folder; None if the folder has only one GGUF file or none.
        device: A torch device; ``auto`` chooses a GPU if there is one.
        offline: Whether to use only local files, without network access.

    Returns:
        The model.
    """
    source = _find(model, gguf_file, offline)
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as KINDS

    return CausalLM(*_loaded(source, "AutoModelForCausalLM", KINDS, CAUSAL, device))


def load_seq2seq(model: str | Path, *, device: str = "auto", offline: bool = False) -> Seq2SeqLM:
    """Load a sequence-to-sequence model such as BART or T5.

    Raises `ModelError` if the model is missing, is not a sequence-to-sequence model, or cannot be downloaded.

    Args:
        model: A folder, or an id on the Hugging Face hub.
        device: A torch device; ``auto`` chooses a GPU if there is one.
        offline: Whether to use only local files, without network access.

    Returns:
        The model.
    """
    source = _find(model, None, offline)
    from transformers.models.auto.modeling_auto import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES as KINDS

    return Seq2SeqLM(*_loaded(source, "AutoModelForSeq2SeqLM", KINDS, SEQ2SEQ, device))


def load_either(
    model: str | Path, *, gguf_file: str | None = None, device: str = "auto", offline: bool = False
) -> CausalLM | Seq2SeqLM:
    """Load a model that is either causal or sequence-to-sequence, depending on its configuration.

    Raises `ModelError` if the model is missing, is of neither kind, or cannot be downloaded.

    Args:
        model: A folder, a GGUF file, or an id on the Hugging Face hub.
        gguf_file: The name of a GGUF file in the folder; None if the folder has only one GGUF file or none.
        device: A torch device; ``auto`` chooses a GPU if there is one.
        offline: Whether to use only local files, without network access.

    Returns:
        The model.
    """
    source = _find(model, gguf_file, offline)
    # A GGUF file always contains a causal model. `_find` has downloaded all files, so load them with
    # `offline=True` below.
    if source.gguf_file is None and bool(getattr(_config(source), "is_encoder_decoder", False)):
        return load_seq2seq(source.folder, device=device, offline=True)
    return load_causal(source.folder, gguf_file=source.gguf_file, device=device, offline=True)


def _find(model: str | Path, gguf_file: str | None, offline: bool) -> ModelSource:
    """Return the files of a model, which is downloaded if necessary.

    Raises:
        ModelError: The folder has no file with the name ``gguf_file``. Or ``gguf_file`` is None, and the
            folder has no ``config.json`` and not exactly one GGUF file.
    """
    check_packages()
    path = expand_home(model)
    if path.is_file() and path.suffix == ".gguf":
        return ModelSource(path.parent, path.name)
    folder = locate(model, offline=offline)
    if gguf_file is not None:
        if not (folder / gguf_file).is_file():
            raise ModelError(f"{folder}: the folder has no file {gguf_file}")
        return ModelSource(folder, gguf_file)
    if (folder / "config.json").is_file():
        return ModelSource(folder, None)
    files = sorted(file.name for file in folder.glob("*.gguf"))
    if not files:
        raise ModelError(f"{folder}: not a model folder: it has neither config.json nor a GGUF file")
    if len(files) > 1:
        raise ModelError(
            f"{folder}: {len(files)} GGUF files found; choose one as gguf_file: {', '.join(files)}"
        )
    return ModelSource(folder, files[0])


def _loaded(source: ModelSource, auto: str, kinds: Any, kind: str, device: str) -> tuple[Any, Any, Path]:
    """Check that a model is of an allowed kind, and load it. Return the model, its tokenizer and its path."""
    import torch
    import transformers

    config = _config(source)
    # The configuration usually names the class of the saved model, which shows whether the model is causal.
    # If the configuration has no class, as in GGUF files, check the model type instead.
    saved: list[str] = config.architectures or []
    allowed = {name for value in kinds.values() for name in ([value] if isinstance(value, str) else value)}
    if not allowed.intersection(saved) and (saved or config.model_type not in kinds):
        raise ModelError(
            f"{source.path}: contains {' or '.join(saved) or config.model_type}, which is not a {kind}; "
            f"choose a {kind}"
        )
    tokenizer = _from_pretrained(transformers.AutoTokenizer, source)
    if tokenizer.eos_token_id is None:
        raise ModelError(f"{source.path}: its tokenizer has no end-of-text token, so texts would never end")
    # GPT-2 and Llama have no padding token, so use the end token for padding.
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model = load_weights(source, getattr(transformers, auto), kind, dtype=torch.float32)
    return on_device(model, device), tokenizer, source.path


def _from_pretrained(auto: Any, source: ModelSource, what: str = "model", **options: Any) -> Any:
    """Load a configuration, a tokenizer or weights with one of transformers' auto classes."""
    if source.gguf_file is not None:
        options["gguf_file"] = source.gguf_file
    with reading(source.path, what):
        return auto.from_pretrained(str(source.folder), local_files_only=True, **options)


def _config(source: ModelSource) -> Any:
    from transformers import AutoConfig

    return _from_pretrained(AutoConfig, source)


def load_weights(source: ModelSource, auto: Any, kind: str, **options: Any) -> Any:
    """Load the weights of a model.

    Args:
        source: The files of the model.
        auto: One of transformers' auto classes.
        kind: The expected kind of model, `SEQ2SEQ` or `CAUSAL`, for error messages.
        **options: Further options of ``from_pretrained``.

    Returns:
        The transformers model.

    Raises:
        ModelError: Some weights are missing.
    """
    # For GGUF files, transformers shows a progress bar that cannot be switched off, so redirect stderr.
    with redirect_stderr(StringIO()) if source.gguf_file else nullcontext():
        model, report = _from_pretrained(auto, source, kind, output_loading_info=True, **options)
    # transformers fills missing weights with random numbers, so refuse a model with missing weights.
    if report["missing_keys"]:
        names = sorted(report["missing_keys"])
        raise ModelError(
            f"{source.path}: of a {kind}, {len(names)} weights are missing, {names[0]} first; "
            "fetch the model again"
        )
    if source.gguf_file is not None:
        # transformers does not train or save models that are marked as quantized. The loaded weights are
        # 32-bit numbers, so remove the attributes that mark the model.
        for holder, name in ((model.config, "quantization_config"), (model, "hf_quantizer")):
            if hasattr(holder, name):
                delattr(holder, name)
        model.is_quantized = False
    return model


def on_device(model: Any, device: str | None) -> Any:
    """Move a model to a device, and switch it to evaluation mode.

    Args:
        model: A transformers model, or another torch module.
        device: A torch device; ``auto`` or None chooses the best one, as `choose_device` does.

    Returns:
        The same model.

    Raises:
        ModelError: The device cannot be used, for example because torch was built without CUDA.
    """
    try:
        return model.eval().to(choose_device(device))
    # torch raises an AssertionError if it was built without CUDA.
    except (RuntimeError, AssertionError) as error:
        raise ModelError(f"device {device!r} can't be used ({first_line(error)}); try cpu") from error


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The folder and the properties of a model that converts AMR graphs into text.

    Attributes:
        path: The folder of the model.
        tokenizer: The folder or hub id of the tokenizer with which the model was trained.
        max_input: Maximum number of input tokens; None if the configuration does not state this number.
        max_output: Maximum number of output tokens; None if the configuration does not state this number.
        converted: Whether the model is in CTranslate2's format.
        from_hub: Whether the folder was downloaded from the Hugging Face hub.
        causal: True for a causal model, False for a sequence-to-sequence model.
        is_amr_decoder: Whether the configuration says that the model was trained on AMR graphs, as it does
            for amrlib's models.
    """

    path: Path
    tokenizer: str
    max_input: int | None
    max_output: int | None
    converted: bool
    from_hub: bool
    causal: bool
    is_amr_decoder: bool


def find_amr_model(model: str | Path, *, offline: bool) -> ModelFolder:
    """Find a model that converts AMR graphs into text, and read its properties.

    Three formats are supported: a model of amrlib (its folder contains ``amrlib_meta.json``), a
    sequence-to-sequence or causal model of transformers, and a model that was converted for CTranslate2 (its
    folder contains ``model.bin``).

    Args:
        model: A folder, or an id on the Hugging Face hub.
        offline: Whether to use only local files, without network access.

    Returns:
        The folder and the properties of the model.

    Raises:
        DecoderError: The model is missing, the model is a parser of amrlib, or its folder has no
            ``config.json``.
    """
    path = _located(model, offline)
    meta = read_json(path / "amrlib_meta.json", DecoderError)
    # amrlib calls its decoders "gtos" (graph to sentence) and its parsers "stog".
    if meta.get("model_type", "gtos") != "gtos":
        raise DecoderError(
            f"{path}: an amrlib model of type {meta['model_type']!r} parses text; a decoder needs a generate "
            f"model, see {AMRLIB_MODELS}"
        )
    config = read_json(path / "config.json", DecoderError)
    if not config:
        raise DecoderError(f"{path}: not a model folder: it has no config.json; see {AMRLIB_MODELS}")
    task = (config.get("task_specific_params") or {}).get(AMR_TO_TEXT) or {}
    saved: list[str] = config.get("architectures") or []
    positions = config.get("max_position_embeddings") or config.get("n_positions")
    return ModelFolder(
        path=path,
        tokenizer=tokenizer_source(path, task),
        max_input=task.get("max_in_len") or positions,
        max_output=task.get("max_out_len"),
        # A folder contains a converted model if it has a model.bin and its config.json lacks "architectures".
        converted=(path / "model.bin").is_file() and "architectures" not in config,
        from_hub=not expand_home(model).is_dir(),
        causal=any(name.endswith(_CAUSAL_CLASSES) for name in saved),
        is_amr_decoder=bool(task),
    )


def load_tokenizer(source: str | Path, *, offline: bool) -> Any:
    """Load a tokenizer.

    Args:
        source: A folder, or an id on the Hugging Face hub.
        offline: Whether to use only local files, without network access.

    Returns:
        A transformers tokenizer.

    Raises:
        DecoderError: The tokenizer cannot be read.
    """
    from transformers import AutoTokenizer

    path = _located(source, offline, tokenizer_only=True)
    try:
        with reading(path, "tokenizer"):
            return AutoTokenizer.from_pretrained(path, local_files_only=True)
    except ModelError as error:
        raise DecoderError(f"{error}; give a tokenizer with tokenizer=...") from error


def tokenizer_source(path: Path, task: Mapping[str, Any]) -> str:
    """Return the folder or hub id of a model's tokenizer.

    amrlib does not save the tokenizer with a trained model. For such a model, the tokenizer of the base model
    is used.

    Args:
        path: The folder of the model.
        task: The entry `AMR_TO_TEXT` in the model's configuration, which amrlib wrote; empty for other
            models.

    Returns:
        The folder of the model if it contains a tokenizer, or if ``task`` names no tokenizer and no base
        model. Otherwise, the tokenizer or base model that ``task`` names.
    """
    if any(file.is_file() for pattern in _TOKENIZER_FILES for file in path.glob(pattern)):
        return str(path)
    return str(task.get("tok_name_or_path") or task.get("model_name_or_path") or path)


def read_json(path: Path, error_type: type[GraphnegError]) -> dict[str, Any]:
    """Read a JSON object from a file.

    Args:
        path: The path of the file.
        error_type: Class of the error to raise if the file cannot be read or does not contain a JSON object.

    Returns:
        The content of the file; an empty dictionary if the file does not exist.
    """
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise error_type(
            f"{path}: can't be read as JSON ({first_line(error)}); download the model again"
        ) from error
    if not isinstance(content, dict):
        raise error_type(f"{path}: expected a JSON object; download the model again")
    return content


def _located(model: str | Path, offline: bool, tokenizer_only: bool = False) -> Path:
    """Find the folder of a model. If it is missing, the error names the page of amrlib's models."""
    try:
        return locate(model, offline=offline, tokenizer_only=tokenizer_only)
    except ModelError as error:
        where = "" if _is_hub_id(model) else f"; amrlib's are at {AMRLIB_MODELS}"
        raise DecoderError(f"{error}{where}") from error

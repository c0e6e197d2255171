"""Where a model is (a folder, a GGUF file, a hub id), and loading it, or saying why it can't be."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from graphneg.errors import DecoderError, ModelError, first_line
from graphneg.nn.language_models import CausalLM, Loaded, Seq2SeqLM, direction_of

# Where a language model is: a folder, a GGUF file, or the id of a repository on the Hugging Face hub.


INSTALL = 'pip install "graphneg[neural]"'
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_SMALL_FILES = ["*.json", "*.txt", "*.model"]
_HUB_SECONDS = 10
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin", "*.gguf")


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """A model on this machine: its folder, and the GGUF file in it that holds all, where one does."""

    folder: Path
    gguf_file: str | None

    @property
    def path(self) -> Path:
        """The path that messages name."""
        return self.folder / self.gguf_file if self.gguf_file else self.folder


def check_packages() -> None:
    """Raises `ModelError` where torch or transformers is not installed."""
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    if missing:
        raise ModelError(f"language models need {' and '.join(missing)}: {INSTALL}")


def find_model(model: str | Path, *, gguf_file: str | None, offline: bool) -> ModelPlace:
    """The place of a model, fetched from the hub where it is not here and ``offline`` is False.

    In a folder without ``config.json``, the only GGUF file is taken.

    Raises:
        ModelError: there is no such model, the hub can't be reached, or the folder holds none.
    """
    path = Path(model).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        return ModelPlace(path.parent, path.name)
    return _chosen(locate(model, offline=offline), gguf_file)


def locate(model: str | Path, *, offline: bool) -> Path:
    """The local folder of a model that is named by a path or a hub id.

    Raises:
        ModelError: there is none, and none can be fetched; the message names the command to do so.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        return path
    if isinstance(model, Path) or not _HUB_ID.fullmatch(model):
        raise ModelError(
            f"{model}: there is no such model folder; "
            f"get one with: hf download ORGANISATION/NAME --local-dir {model}"
        )
    return _from_hub(model, offline=offline)


def _chosen(folder: Path, gguf_file: str | None) -> ModelPlace:
    if gguf_file is not None:
        if not (folder / gguf_file).is_file():
            raise ModelError(f"{folder}: there is no file {gguf_file} in it")
        return ModelPlace(folder, gguf_file)
    if (folder / "config.json").is_file():
        return ModelPlace(folder, None)
    files = sorted(file.name for file in folder.glob("*.gguf"))
    if not files:
        raise ModelError(f"{folder}: neither config.json nor a GGUF file in it, so it is no model folder")
    if len(files) > 1:
        raise ModelError(
            f"{folder}: {len(files)} GGUF files in it; choose one as gguf_file: {', '.join(files)}"
        )
    return ModelPlace(folder, files[0])


def _from_hub(id: str, *, offline: bool) -> Path:
    """Fetched by the hub's client; where the hub does not answer, what was fetched before is used."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    how = f"get it with: hf download {id}"
    why = "it is offline"
    if not offline:
        try:
            return Path(snapshot_download(id, allow_patterns=_needed_files(id)))
        except HfHubHTTPError as error:
            raise ModelError(f"model {id} can't be fetched ({first_line(error)}); {how}") from error
        except Exception as error:  # its HTTP client's own errors, which differ between versions
            why = f"the hub can't be reached ({first_line(error)})"
    try:
        return Path(snapshot_download(id, local_files_only=True))
    except (LocalEntryNotFoundError, OSError) as error:
        raise ModelError(f"model {id} is not on this machine and {why}; {how}") from error


def _needed_files(id: str) -> list[str]:
    """Weights in one format only: many repositories hold the same ones several times."""
    from huggingface_hub import HfApi

    names = [one.rfilename for one in HfApi().model_info(id, timeout=_HUB_SECONDS).siblings or []]
    endings = (".safetensors", ".bin", ".gguf")
    weights = [
        pattern
        for pattern, ending in zip(_WEIGHTS, endings, strict=True)
        if any(name.endswith(ending) for name in names)
    ]
    return [*_SMALL_FILES, *weights[:1]]


# Loading a language model of the kind that is asked for, or saying in one line why it can't be.


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


def choose_device(device: str) -> str:
    """``auto`` is CUDA, then Apple's MPS, then the CPU; any other name is kept."""
    import torch

    if device != "auto":
        return device
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _on_device(model: Any, device: str) -> Any:
    try:
        return model.eval().to(choose_device(device))
    except (RuntimeError, AssertionError) as error:
        raise ModelError(f"device {device!r} can't be used ({first_line(error)}); try cpu") from error


# Finding a model on this machine, or fetching it, and reading what its folder says.
#
# A model is a folder or the id of a repository on the Hugging Face hub. Three kinds of folder
# are known: amrlib's generate models (``amrlib_meta.json``), any Hugging Face
# sequence-to-sequence model, and one converted for CTranslate2 (``model.bin``).


AMRLIB_MODELS = "https://github.com/bjascob/amrlib-models"

_AMRLIB_TASK = "translation_amr_to_text"
_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "spiece.model",
    "sentencepiece.bpe.model",
    "vocab.json",
)
_WEIGHTS_MODEL_FOLDER = ("*.safetensors", "pytorch_model*.bin")


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model on this machine. Limits are in tokens, None where the folder names none.

    ``tokenizer`` is the folder or hub id whose tokenizer the model was trained with.
    """

    path: Path
    tokenizer: str
    max_input: int | None
    max_output: int | None
    converted: bool
    from_hub: bool


def find_model_model_folder(model: str | Path, *, offline: bool) -> ModelFolder:
    """The folder of a model; fetched from the hub where it is not here and ``offline`` is False.

    Raises `DecoderError` naming the command that gets the model.
    """
    path = locate_model_folder(model, offline=offline, patterns=None)
    meta = _read_json(path / "amrlib_meta.json")
    if meta.get("model_type", "gtos") != "gtos":
        raise DecoderError(
            f"{path}: an amrlib model of type {meta['model_type']!r} parses text; a decoder needs a generate "
            f"model, see {AMRLIB_MODELS}"
        )
    config = _read_json(path / "config.json")
    if not config:
        raise DecoderError(f"{path}: no config.json in it, so it is no model folder; {_how_to_get(model)}")
    task = (config.get("task_specific_params") or {}).get(_AMRLIB_TASK) or {}
    return ModelFolder(
        path=path,
        tokenizer=tokenizer_source(path, task),
        max_input=task.get("max_in_len")
        or config.get("max_position_embeddings")
        or config.get("n_positions"),
        max_output=task.get("max_out_len"),
        converted=(path / "model.bin").is_file() and "architectures" not in config,
        from_hub=not _is_folder(model),
    )


def load_tokenizer(source: str | Path, *, offline: bool) -> Any:
    """The tokenizer (``PreTrainedTokenizerBase``) of a folder or hub id.

    Raises `DecoderError` where it is not here or can't be read.
    """
    from transformers import AutoTokenizer

    path = locate_model_folder(source, offline=offline, patterns=_SMALL_FILES)
    try:
        return AutoTokenizer.from_pretrained(path, local_files_only=True)
    except (OSError, ValueError, TypeError, KeyError, ImportError) as error:
        raise DecoderError(
            f"{path}: no tokenizer can be read from it ({first_line(error)}); name one with tokenizer=..."
        ) from error


def locate_model_folder(model: str | Path, *, offline: bool, patterns: list[str] | None) -> Path:
    """The local folder of a model.

    Of a hub id, the files that match ``patterns`` are fetched; None: what a model needs.
    """
    if _is_folder(model):
        return Path(model).expanduser()
    if isinstance(model, Path) or not _HUB_ID.fullmatch(model):
        raise DecoderError(f"{model}: there is no such model folder; {_how_to_get(model)}")
    return _from_hub_model_folder(model, offline=offline, patterns=patterns)


def _is_folder(model: str | Path) -> bool:
    return Path(model).expanduser().is_dir()


def _from_hub_model_folder(id: str, *, offline: bool, patterns: list[str] | None) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        if offline:
            return Path(snapshot_download(id, local_files_only=True))
        return Path(snapshot_download(id, allow_patterns=patterns or _needed_files_model_folder(id)))
    except LocalEntryNotFoundError as error:
        why = "it is offline" if offline else "the hub can't be reached"
        raise DecoderError(f"model {id} is not on this machine and {why}; {_how_to_get(id)}") from error
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise DecoderError(f"model {id} can't be fetched ({first_line(error)}); {_how_to_get(id)}") from error


def _needed_files_model_folder(id: str) -> list[str]:
    """Weights in one format only: many repositories hold the same ones three times."""
    from huggingface_hub import HfApi

    safe, pickled = _WEIGHTS_MODEL_FOLDER
    has_safe = any(name.endswith(".safetensors") for name in HfApi().list_repo_files(id))
    return [*_SMALL_FILES, safe if has_safe else pickled]


def _how_to_get(model: str | Path) -> str:
    if isinstance(model, str) and _HUB_ID.fullmatch(model):
        return f"get it with: hf download {model}"
    command = f"hf download ORGANISATION/NAME --local-dir {model}"
    return f"amrlib's are at {AMRLIB_MODELS}; get any other with: {command}"


def tokenizer_source(path: Path, task: Mapping[str, Any]) -> str:
    """The folder itself, else the base model that amrlib's training noted: it saves no tokenizer."""
    if any((path / name).is_file() for name in _TOKENIZER_FILES):
        return str(path)
    return str(task.get("tok_name_or_path") or task.get("model_name_or_path") or path)


def _read_json(path: Path) -> dict[str, Any]:
    """The file's object; an empty one where there is no file."""
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise DecoderError(f"{path}: not JSON ({first_line(error)}); fetch the model again") from error
    if not isinstance(content, dict):
        raise DecoderError(f"{path}: an object is expected in it; fetch the model again")
    return content

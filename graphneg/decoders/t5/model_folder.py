"""Finding a model on this machine, or fetching it, and reading what its folder says.

A model is a folder or the id of a repository on the Hugging Face hub. Three kinds of folder
are known: amrlib's generate models (``amrlib_meta.json``), any Hugging Face
sequence-to-sequence model, and one converted for CTranslate2 (``model.bin``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphneg.errors import DecoderError

AMRLIB_MODELS = "https://github.com/bjascob/amrlib-models"
INSTALL = 'pip install "graphneg[neural]"'

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_AMRLIB_TASK = "translation_amr_to_text"
_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "spiece.model",
    "sentencepiece.bpe.model",
    "vocab.json",
)
_SMALL_FILES = ["*.json", "*.txt", "*.model"]
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")


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


def find_model(model: str | Path, *, offline: bool) -> ModelFolder:
    """The folder of a model; fetched from the hub where it is not here and ``offline`` is False.

    Raises `DecoderError` naming the command that gets the model.
    """
    path = locate(model, offline=offline, patterns=None)
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

    path = locate(source, offline=offline, patterns=_SMALL_FILES)
    try:
        return AutoTokenizer.from_pretrained(path, local_files_only=True)
    except (OSError, ValueError, TypeError, KeyError, ImportError) as error:
        raise DecoderError(
            f"{path}: no tokenizer can be read from it ({first_line(error)}); name one with tokenizer=..."
        ) from error


def locate(model: str | Path, *, offline: bool, patterns: list[str] | None) -> Path:
    """The local folder of a model.

    Of a hub id, the files that match ``patterns`` are fetched; None: what a model needs.
    """
    if _is_folder(model):
        return Path(model).expanduser()
    if isinstance(model, Path) or not _HUB_ID.fullmatch(model):
        raise DecoderError(f"{model}: there is no such model folder; {_how_to_get(model)}")
    return _from_hub(model, offline=offline, patterns=patterns)


def first_line(error: BaseException) -> str:
    """The first line of an error's message, for a message of one line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _is_folder(model: str | Path) -> bool:
    return Path(model).expanduser().is_dir()


def _from_hub(id: str, *, offline: bool, patterns: list[str] | None) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        if offline:
            return Path(snapshot_download(id, local_files_only=True))
        return Path(snapshot_download(id, allow_patterns=patterns or _needed_files(id)))
    except LocalEntryNotFoundError as error:
        why = "it is offline" if offline else "the hub can't be reached"
        raise DecoderError(f"model {id} is not on this machine and {why}; {_how_to_get(id)}") from error
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise DecoderError(f"model {id} can't be fetched ({first_line(error)}); {_how_to_get(id)}") from error


def _needed_files(id: str) -> list[str]:
    """Weights in one format only: many repositories hold the same ones three times."""
    from huggingface_hub import HfApi

    safe, pickled = _WEIGHTS
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

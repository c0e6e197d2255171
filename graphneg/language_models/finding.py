"""Where a language model is: a folder, a GGUF file, or the id of a repository on the Hugging Face hub."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from graphneg.errors import ModelError

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


def first_line(error: BaseException) -> str:
    """The first line of an error's message, for a message of one line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


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

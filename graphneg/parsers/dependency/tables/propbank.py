"""PropBank's frame files to ``frames.tsv``: aliases, roles, and how annotated examples realise them.

PropBank frames are licensed CC BY-SA 4.0; see ``data/NOTICE``.
"""

from __future__ import annotations

import re
import tarfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphneg.parsers.dependency.signatures import phrase_head, signature
from graphneg.parsers.dependency.words import read_words

_ROLESET = re.compile(r"<roleset\b.*?</roleset>", re.DOTALL)
_POS = frozenset("vnj")


@dataclass(slots=True)
class _Roleset:
    id: str
    roles: list[tuple[str, str]]
    aliases: list[str]
    examples: int = 0
    seen: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])


@dataclass(slots=True)
class _Example:
    roleset: _Roleset
    tokens: list[str]
    rel: int
    arguments: list[tuple[str, int, int]]


def write_frames(sources: Sequence[Path], nlp: Any, target: Path) -> int:
    """Writes the table of the frames that AMR uses; returns how many there are.

    ``sources`` are the release's ``.tar.gz`` and single ``.xml`` files. One row a frame: id, roles
    as ``number:function``, aliases as ``pos:lemma``, number of examples, ``signature=role:count``.
    """
    rolesets: list[_Roleset] = []
    examples: list[_Example] = []
    for element in (one for source in sources for one in _elements(source)):
        roleset = _roleset(element)
        if roleset is not None:
            rolesets.append(roleset)
            examples.extend(_examples(roleset, element))
    _count(nlp, examples)
    rolesets.sort(key=lambda one: one.id)
    target.write_text("".join(f"{_row(one)}\n" for one in rolesets), encoding="utf-8")
    return len(rolesets)


def _elements(source: Path) -> Iterator[ElementTree.Element]:
    """The rolesets that are well-formed XML; some files of release 3.4 are not, as a whole."""
    for name, text in _files(source):
        for match in _ROLESET.finditer(text):
            try:
                yield ElementTree.fromstring(match.group())
            except ElementTree.ParseError as error:
                print(f"{name}: a roleset was left out, it is not well-formed XML ({error})")


def _files(source: Path) -> Iterator[tuple[str, str]]:
    if source.suffix == ".xml":
        yield source.name, source.read_text(encoding="utf-8", errors="replace")
        return
    with tarfile.open(source) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".xml") else None
            if file is not None and member.name.startswith("frames/"):
                yield member.name, file.read().decode("utf-8", errors="replace")


def _roleset(element: ElementTree.Element) -> _Roleset | None:
    used = {(one.get("resource"), one.get("version")): one.get("inuse") for one in element.iter("usage")}
    if used.get(("AMR", "2019")) != "+":
        return None
    name, _, sense = (element.get("id") or "").rpartition(".")
    roles = [(role.get("n") or "", (role.get("f") or "").upper()) for role in element.iter("role")]
    aliases = [
        f"{one.get('pos')}:{(one.text or '').strip().replace(' ', '_')}"
        for one in element.iter("alias")
        if one.get("pos") in _POS and one.text
    ]
    if not sense.isdigit():
        return None
    return _Roleset(
        f"{name.replace('_', '-')}-{sense}",
        [one for one in roles if one[0].isdigit()],
        list(dict.fromkeys(aliases)),
    )


def _examples(roleset: _Roleset, element: ElementTree.Element) -> Iterator[_Example]:
    for one in element.iter("example"):
        text, rel = one.findtext("text"), one.find(".//rel")
        places = (rel.get("relloc") or "").split() if rel is not None else []
        if not text or not places or not places[0].isdigit():
            continue
        arguments = [
            (arg.get("type") or "", int(arg.get("start") or ""), int(arg.get("end") or ""))
            for arg in one.iter("arg")
            if (arg.get("start") or "").isdigit() and (arg.get("end") or "").isdigit()
        ]
        yield _Example(roleset, text.split(), int(places[0]), arguments)


def _count(nlp: Any, examples: list[_Example]) -> None:
    from spacy.tokens import Doc

    docs = nlp.pipe((Doc(nlp.vocab, words=one.tokens) for one in examples), batch_size=128)
    for example, doc in zip(examples, docs, strict=True):
        words = read_words(doc)
        if example.rel >= len(words):
            continue
        example.roleset.examples += 1
        for kind, start, end in example.arguments:
            head = phrase_head(words, start, end + 1)
            found = None if head is None else signature(words, example.rel, head)
            if found is not None and (kind.startswith("ARG") and "-" not in kind.replace("ARGM-", "")):
                role = kind[3:] if kind[3:].isdigit() else "M"
                example.roleset.seen[found, role] += 1


def _row(one: _Roleset) -> str:
    roles = " ".join(f"{number}:{function}" for number, function in one.roles)
    seen = " ".join(f"{form}={role}:{count}" for (form, role), count in one.seen.most_common())
    return "\t".join((one.id, roles, " ".join(one.aliases), str(one.examples), seen))

"""`personachat`: PersonaChat (Zhang et al. 2018) in the three layouts that it is passed around in.

========================= =====================================================================
JSON, pairs               ``[{"persona": [...], "dialogue": [[partner, self], ...]}]``
JSON, growing histories   ``{"train": [{"personality": [...], "utterances": [{"history": [...],
                          "candidates": [...]}]}]}``; the last candidate is the true one
ParlAI text               ``1 your persona: ...`` and ``3 partner<TAB>self<TAB><TAB>one|two|...``
========================= =====================================================================

Speaker A is the partner, speaker B the one whose persona is given; a partner's turn that says
``__SILENCE__`` only means that B begins, and is left out. Candidates become responses to the
turn before them: label 1, source ``reference``, for the true one; label 0, ``random``, for others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Item, Line, Refused, head, input_files, json_items, split_of, text_lines
from graphneg.ingest.validation import dialogues_of, mapping, strings
from graphneg.model import Dialogue, Record, Rejected, Response, Utterance
from graphneg.progress import Progress

_SILENCE = {"__silence__", "__ silence __"}
_NUMBERED = re.compile(r"(\d{1,6}) (.*)", re.DOTALL)
_PERSONA_KEYS = {"persona": "persona", "personality": "persona", "partner_persona": "partner_persona"}
_PERSONAS = {"your persona: ": "persona", "partner's persona: ": "partner_persona"}


class Loader:
    """PersonaChat as JSON or as ParlAI text."""

    name = "personachat"
    summary = "PersonaChat: JSON (persona and dialogue, or personality and utterances) or ParlAI text"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The dialogues of the files, with candidates as responses."""
        return dialogues_of(input_files(paths, self.name), self.name, options, _items, _dialogue)


def _items(path: Path, progress: Progress) -> Iterator[Item | Rejected]:
    if head(path, 256).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{"):
        return json_items(path, progress)
    return _episodes(path, text_lines(path, progress))


def _dialogue(item: Item, path: Path, options: LoadOptions) -> Dialogue:
    value = mapping(item.value, "the entry")
    corpus, split = options.corpus or Loader.name, options.split or item.key or split_of(path)
    if "dialogue" in value:
        utterances, responses = _pairs(value["dialogue"], value.get("candidates", []))
    elif "utterances" in value:
        utterances, responses = _histories(value["utterances"])
    else:
        raise Refused('there is neither "dialogue" nor "utterances"')
    given = {_PERSONA_KEYS[key]: strings(value[key], f'"{key}"') for key in _PERSONA_KEYS if key in value}
    name = f"{corpus}/{split}/{item.number}"
    return Dialogue(name, corpus, split, tuple(utterances), tuple(responses), given)


def _pairs(exchanges: Any, candidates: Any) -> tuple[list[Utterance], list[Response]]:
    """Turns from pairs (partner, self); ``candidates`` has a list for each pair, or is empty."""
    if not isinstance(exchanges, list):
        raise Refused('"dialogue" is not a list of pairs')
    if not isinstance(candidates, list) or (candidates and len(candidates) != len(exchanges)):
        raise Refused('"candidates" has not one list for each pair of "dialogue"')
    utterances: list[Utterance] = []
    responses: list[Response] = []
    for number, exchange in enumerate(exchanges):
        pair = strings(exchange, f"exchange {number}")
        if not 1 <= len(pair) <= 2:
            raise Refused(f"exchange {number} has {len(pair)} turns, not a pair")
        for speaker, text in zip("AB", pair, strict=False):
            if speaker == "B" and utterances:
                offered = strings(candidates[number], f"candidates {number}") if candidates else []
                responses.extend(_responses(len(utterances) - 1, offered, text))
            if speaker == "B" or not _is_silence(text, utterances):
                utterances.append(Utterance(len(utterances), speaker, text.strip()))
    return utterances, responses


def _histories(entries: Any) -> tuple[list[Utterance], list[Response]]:
    """Turns from the longest history and its true candidate; responses from every entry."""
    if not isinstance(entries, list) or not entries:
        raise Refused('"utterances" is not a list with something in it')
    responses: list[Response] = []
    said: list[str] = []
    silent = 0
    for number, entry in enumerate(entries):
        fields = mapping(entry, f"utterance {number}")
        history = strings(fields.get("history"), f'"history" of utterance {number}')
        candidates = strings(fields.get("candidates"), f'"candidates" of utterance {number}')
        if not candidates:
            raise Refused(f'"candidates" of utterance {number} is empty')
        if not number:
            silent = int(bool(history) and _is_silence(history[0], []))
        if history[: len(said)] != said:
            raise Refused(f'"history" of utterance {number} does not go on from the one before')
        said = history
        if len(history) > silent:
            responses.extend(_responses(len(history) - silent - 1, candidates, candidates[-1]))
    said = [*said, mapping(entries[-1], "the last utterance")["candidates"][-1]]
    spoken = list(enumerate(said))[silent:]
    return [Utterance(turn - silent, "AB"[turn % 2], text.strip()) for turn, text in spoken], responses


def _is_silence(text: str, before: Sequence[Utterance]) -> bool:
    return not before and text.strip().lower() in _SILENCE


def _responses(turn: int, candidates: Iterable[str], true: str) -> Iterator[Response]:
    for text in candidates:
        fits = text.strip() == true.strip()
        yield Response(turn, text.strip(), int(fits), "reference" if fits else "random")


def _episodes(path: Path, lines: Iterable[Line | Rejected]) -> Iterator[Item | Rejected]:
    """The episodes of a ParlAI file; each begins where the numbers of lines begin again at 1."""
    episode: _Episode | None = None
    index = 0
    for line in lines:
        if isinstance(line, Rejected):
            yield line
            if episode:
                episode.fault = episode.fault or f"the line at {line.place} can't be read"
            continue
        if not line.text.strip():
            continue
        if episode is None or line.text.startswith("1 "):
            if episode:
                yield episode.item(index)
                index += 1
            episode = _Episode(f"{path}:{line.number}")
        episode.add(line)
    if episode:
        yield episode.item(index)


class _Episode:
    """The lines of one ParlAI episode so far."""

    def __init__(self, place: str) -> None:
        self.fault = ""
        self._place = place
        self._lines = 0
        self._personas: dict[str, list[str]] = {}
        self._exchanges: list[list[str]] = []
        self._candidates: list[list[str]] = []

    def add(self, line: Line) -> None:
        self._lines += 1
        match = _NUMBERED.fullmatch(line.text)
        if match is None or int(match[1]) != self._lines:
            self.fault = self.fault or f"line {line.number} does not begin with the number {self._lines}"
            return
        for mark, key in _PERSONAS.items():
            if match[2].startswith(mark):
                self._personas.setdefault(key, []).append(match[2].removeprefix(mark))
                return
        partner, *rest = match[2].split("\t")
        if not rest:
            self.fault = self.fault or f"line {line.number} has no tab between the two turns"
            return
        self._candidates.append(rest[2].split("|") if len(rest) > 2 and rest[2] else [])
        self._exchanges.append([partner, rest[0]])

    def item(self, index: int) -> Item | Rejected:
        if self.fault:
            return Rejected(self._place, f"episode {index}: {self.fault}")
        value = {**self._personas, "dialogue": self._exchanges, "candidates": self._candidates}
        return Item(self._place, index, "", value)

"""Load PersonaChat (``personachat``; Zhang et al. 2018) in any of the three formats in use.

========================= =====================================================================
JSON, pairs               ``[{"persona": [...], "dialogue": [[partner, self], ...]}]``
JSON, growing histories   ``{"train": [{"personality": [...], "utterances": [{"history": [...],
                          "candidates": [...]}]}]}``; the last candidate is the correct one
ParlAI text               ``1 your persona: ...`` and ``3 partner<TAB>self<TAB><TAB>one|two|...``
========================= =====================================================================

Speaker A is the partner. Speaker B is the person whom the persona describes. If B begins, the file has
``__SILENCE__`` as the first turn of the partner, and this turn is left out.

Candidates become responses to the previous turn. The correct candidate gets the label 1 and the source
``reference``. All other candidates get the label 0 and the source ``random``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from graphneg.ingest.content import ItemError, head
from graphneg.ingest.reading import Item, each_group, each_line, json_items
from graphneg.ingest.validation import DialogueLoader, mapping, strings
from graphneg.model import Dialogue, Rejected, Response, Utterance
from graphneg.progress import Progress

# PersonaChat writes "__SILENCE__" for a missing first turn. In some files, a tokenizer has split it.
_SILENCE = {"__silence__", "__ silence __"}
_NUMBERED = re.compile(r"(\d{1,6}) (.*)", re.DOTALL)
_PERSONA_KEYS = {"persona": "persona", "personality": "persona", "partner_persona": "partner_persona"}
"""The attributes of a dialogue that store personas, keyed by the JSON key that contains the persona."""
_PERSONAS = {"your persona: ": "persona", "partner's persona: ": "partner_persona"}
"""The attributes of a dialogue that store the persona lines of ParlAI text, keyed by the beginning of the
line."""


class Loader(DialogueLoader):
    """Loader for PersonaChat as JSON or as ParlAI text."""

    name = "personachat"
    summary = "PersonaChat: JSON (persona and dialogue, or personality and utterances) or ParlAI text"

    def items(self, path: Path, progress: Progress) -> Iterator[Item | Rejected]:
        """Return the entries of a JSON document, or the episodes of a ParlAI file, as dialogues to convert.

        Args:
            path: The file.
            progress: Progress display; advanced by the number of bytes read.

        Returns:
            An iterator over entries and rejected items.
        """
        # A JSON document begins with "[" or "{", whereas ParlAI text begins with a line number.
        if head(path, 256).lstrip()[:1] in (b"[", b"{"):
            return json_items(path, progress)
        return each_group(
            each_line(path, progress, lambda line: [Item(line.place, line.number, "", line.text)]),
            "line",
            # Line numbers start again at 1 in each episode, so number 1 begins a new episode.
            lambda _, line: line.value.startswith("1 "),
            _episode,
            lambda number, _: f"episode {number}",
        )

    def dialogue(self, item: Item) -> Dialogue:
        """Convert an entry into a dialogue, with the candidates as responses.

        Args:
            item: The entry. Its key in the document, such as ``train``, is the split of the dialogue.

        Returns:
            The dialogue.

        Raises:
            ItemError: The entry has neither ``dialogue`` nor ``utterances``.
        """
        value = mapping(item.value, "the entry")
        if "dialogue" in value:
            utterances, responses = _pairs(value["dialogue"], value.get("candidates", []))
        elif "utterances" in value:
            utterances, responses = _histories(value["utterances"])
        else:
            raise ItemError('expected "dialogue" or "utterances"')
        given = {_PERSONA_KEYS[key]: strings(value[key], f'"{key}"') for key in _PERSONA_KEYS if key in value}
        return Dialogue(str(item.number), "", item.key, tuple(utterances), tuple(responses), given)


def _pairs(exchanges: Any, candidates: Any) -> tuple[list[Utterance], list[Response]]:
    """Convert pairs of turns into a sequence of turns, and the candidates for second turns into responses."""
    if not isinstance(exchanges, list):
        raise ItemError('"dialogue" is not a list of pairs')
    if not isinstance(candidates, list) or (candidates and len(candidates) != len(exchanges)):
        raise ItemError('"candidates" must have one list for each pair of "dialogue"')
    utterances: list[Utterance] = []
    responses: list[Response] = []
    for number, exchange in enumerate(exchanges):
        pair = strings(exchange, f"exchange {number}")
        if not 1 <= len(pair) <= 2:
            raise ItemError(f"exchange {number} has {len(pair)} turns, not a pair")
        for speaker, text in zip("AB", pair, strict=False):
            # Skip candidates for the first turn of a dialogue: a response must answer an earlier turn.
            if speaker == "B" and utterances:
                offered = strings(candidates[number], f"candidates {number}") if candidates else []
                responses.extend(_responses(len(utterances) - 1, offered, text))
            if speaker == "B" or not _is_silence(text, utterances):
                utterances.append(Utterance(len(utterances), speaker, text.strip()))
    return utterances, responses


def _histories(entries: Any) -> tuple[list[Utterance], list[Response]]:
    """Return the turns and the responses of a dialogue that is stored as a list of growing histories."""
    if not isinstance(entries, list) or not entries:
        raise ItemError('"utterances" must be a non-empty list')
    responses: list[Response] = []
    said: list[str] = []
    silent = 0
    for number, entry in enumerate(entries):
        fields = mapping(entry, f"utterance {number}")
        history = strings(fields.get("history"), f'"history" of utterance {number}')
        candidates = strings(fields.get("candidates"), f'"candidates" of utterance {number}')
        if not candidates:
            raise ItemError(f'"candidates" of utterance {number} is empty')
        if not number:
            # If the first "history" begins with the turn __SILENCE__, leave out this turn, and subtract 1
            # from the numbers of all other turns.
            silent = int(bool(history) and _is_silence(history[0], []))
        # "history" must begin with all turns of the previous "history". If it does not, its turns are from
        # another dialogue.
        if history[: len(said)] != said:
            raise ItemError(f'"history" of utterance {number} does not continue the previous one')
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
        # Ignore spaces at the ends, which may differ between the correct reply and its copy in `candidates`.
        fits = text.strip() == true.strip()
        yield Response(turn, text.strip(), int(fits), "reference" if fits else "random")


def _episode(number: int, lines: Sequence[Item]) -> Item:
    """Convert the numbered lines of an episode into an entry like the entries of JSON files."""
    value: dict[str, list[Any]] = {"dialogue": [], "candidates": []}
    for expected, (_, at, _, text) in enumerate(lines, 1):
        match = _NUMBERED.fullmatch(text)
        if match is None or int(match[1]) != expected:
            raise ItemError(f"line {at} does not begin with the number {expected}")
        mark = next((mark for mark in _PERSONAS if match[2].startswith(mark)), None)
        if mark is not None:
            value.setdefault(_PERSONAS[mark], []).append(match[2].removeprefix(mark))
            continue
        partner, *rest = match[2].split("\t")
        if not rest:
            raise ItemError(f"line {at} has no tab between the two turns")
        value["dialogue"].append([partner, rest[0]])
        value["candidates"].append(rest[2].split("|") if len(rest) > 2 and rest[2] else [])
    return Item(lines[0].place, number, "", value)

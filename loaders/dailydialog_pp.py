"""`dailydialog_pp`: DailyDialog++, contexts with right and wrong responses (Sai et al. 2020).

JSON Lines with a context and, to its last turn, five relevant responses written by people, five
adversarial irrelevant ones (written to share words with the context) and five random ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Item, Refused, input_files, json_lines, split_of
from graphneg.ingest.validation import alternating, dialogues_of, mapping, strings
from graphneg.model import Dialogue, Record, Response

_RESPONSES = (
    ("positive_responses", 1, "human"),
    ("adversarial_negative_responses", 0, "adversarial"),
    ("random_negative_responses", 0, "random"),
)
_KEYS = {"id", "dialog_id", "context", *(key for key, _, _ in _RESPONSES)}


class Loader:
    """The JSON Lines files of DailyDialog++ (train, dev, test, data_positives)."""

    name = "dailydialog_pp"
    summary = "DailyDialog++: contexts with human, adversarial and random responses (JSON Lines)"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The dialogues of the files, with their responses."""
        return dialogues_of(input_files(paths, self.name), self.name, options, json_lines, _dialogue)


def _dialogue(item: Item, path: Path, options: LoadOptions) -> Dialogue:
    corpus, split = options.corpus or Loader.name, options.split or split_of(path)
    value = mapping(item.value, "the line")
    if "context" not in value or "positive_responses" not in value:
        raise Refused('"context" and "positive_responses" are not both there')
    context = strings(value["context"], '"context"')
    name = value.get("id", value.get("dialog_id", item.number))
    return Dialogue(
        id=f"{corpus}/{split}/{name}",
        corpus=corpus,
        split=split,
        utterances=alternating(context),
        responses=tuple(_responses(value, len(context) - 1)),
        attributes={key: attribute for key, attribute in value.items() if key not in _KEYS},
    )


def _responses(value: Mapping[str, Any], turn: int) -> Iterator[Response]:
    for key, label, source in _RESPONSES:
        for text in strings(value.get(key, []), f'"{key}"'):
            yield Response(turn, text.strip(), label, source)

"""`topical_chat`: Topical-Chat conversations (Gopalakrishnan et al. 2019).

One JSON object a file; each member is a conversation of ``agent_1`` and ``agent_2``. Sentiment,
knowledge source and rating of a turn, article and ratings of a conversation become attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Item, Refused, input_files, json_items, split_of
from graphneg.ingest.validation import dialogues_of, mapping
from graphneg.model import Dialogue, Record, Utterance


class Loader:
    """The conversation files of Topical-Chat (train, valid_freq, test_rare ...)."""

    name = "topical_chat"
    summary = "Topical-Chat: conversation files (JSON), with sentiment and knowledge source"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The conversations of the files."""
        return dialogues_of(input_files(paths, self.name), self.name, options, json_items, _dialogue)


def _dialogue(item: Item, path: Path, options: LoadOptions) -> Dialogue:
    corpus, split = options.corpus or Loader.name, options.split or split_of(path)
    value = mapping(item.value, "the conversation")
    content = value.get("content")
    if not isinstance(content, list):
        raise Refused('"content" is not a list of messages')
    return Dialogue(
        id=f"{corpus}/{split}/{item.key or item.number}",
        corpus=corpus,
        split=split,
        utterances=tuple(_utterance(turn, message) for turn, message in enumerate(content)),
        attributes={key: attribute for key, attribute in value.items() if key != "content"},
    )


def _utterance(turn: int, message: Any) -> Utterance:
    fields = dict(mapping(message, f"turn {turn}"))
    text, speaker = fields.pop("message", None), fields.pop("agent", None)
    if not isinstance(text, str) or not isinstance(speaker, str):
        raise Refused(f'turn {turn} has no "message" and "agent" that are strings')
    return Utterance(turn, speaker, text.strip(), attributes=fields)

"""Load Topical-Chat (``topical_chat``; Gopalakrishnan et al. 2019).

A file is a single JSON object. Its members are conversations between ``agent_1`` and ``agent_2``:

    {"t_d004c097": {"article_url": "AREF1", "content": [
      {"message": "Do you like dance?", "agent": "agent_1", "sentiment": "Curious to dive deeper"}]}}

The sentiment, knowledge source and rating of a turn become attributes of the utterance. The article and the
ratings of a conversation become attributes of the dialogue.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphneg.ingest.content import ItemError
from graphneg.ingest.reading import Item, json_items
from graphneg.ingest.validation import DialogueLoader, mapping
from graphneg.model import Dialogue, Rejected, Utterance
from graphneg.progress import Progress


class Loader(DialogueLoader):
    """Loader for the conversation files of Topical-Chat (train, valid_freq, test_rare ...)."""

    name = "topical_chat"
    summary = "Topical-Chat: conversation files (JSON), with sentiment and knowledge source"

    def items(self, path: Path, progress: Progress) -> Iterator[Item | Rejected]:
        """Return the conversations of a file.

        Args:
            path: The file.
            progress: Progress display; advanced by the number of bytes read.

        Returns:
            An iterator over conversations and rejected items.
        """
        return json_items(path, progress)

    def dialogue(self, item: Item) -> Dialogue:
        """Convert a conversation into a dialogue.

        Args:
            item: The conversation. Its key in the JSON document is the id of the dialogue.

        Returns:
            The dialogue.

        Raises:
            ItemError: The conversation has no list of messages.
        """
        value = dict(mapping(item.value, "the conversation"))
        content = value.pop("content", None)
        if not isinstance(content, list):
            raise ItemError('"content" is not a list of messages')
        utterances = tuple(_utterance(turn, message) for turn, message in enumerate(content))
        # All remaining keys of the conversation become attributes of the dialogue.
        return Dialogue(item.key or str(item.number), "", "", utterances, attributes=value)


def _utterance(turn: int, message: Any) -> Utterance:
    fields = dict(mapping(message, f"turn {turn}"))
    text, speaker = fields.pop("message", None), fields.pop("agent", None)
    if not isinstance(text, str) or not isinstance(speaker, str):
        raise ItemError(f'turn {turn} has no "message" and "agent" that are strings')
    return Utterance(turn, speaker, text.strip(), attributes=fields)

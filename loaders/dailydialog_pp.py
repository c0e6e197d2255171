"""Load DailyDialog++ (``dailydialog_pp``; Sai et al. 2020).

Each JSON line contains a context and responses to its last turn. There are five relevant responses written by
people, five adversarial ones (irrelevant, but written to share words with the context), and five random ones:

    {"context": ["Coffee?", "Yes, please."], "positive_responses": ["With milk?"],
     "adversarial_negative_responses": ["Coffee stains are hard to remove."],
     "random_negative_responses": ["The train was late."]}

Relevant responses get the label 1 and the source ``human``. Adversarial and random responses get the label 0
and the source ``adversarial`` or ``random``.
"""

from __future__ import annotations

from graphneg.ingest.content import ItemError
from graphneg.ingest.reading import Item
from graphneg.ingest.validation import DialogueLoader, alternating, mapping, strings
from graphneg.model import Dialogue, Response

_RESPONSES = (
    ("positive_responses", 1, "human"),
    ("adversarial_negative_responses", 0, "adversarial"),
    ("random_negative_responses", 0, "random"),
)
"""The keys that contain responses, with the label and the source of these responses."""
_KEYS = {"id", "dialog_id", "context", *(key for key, _, _ in _RESPONSES)}


class Loader(DialogueLoader):
    """Loader for the JSON Lines files of DailyDialog++ (train, dev, test, data_positives)."""

    name = "dailydialog_pp"
    summary = "DailyDialog++: contexts with human, adversarial and random responses (JSON Lines)"

    def dialogue(self, item: Item) -> Dialogue:
        """Convert the context of a line into a dialogue, with the responses to its last turn.

        Args:
            item: The decoded line.

        Returns:
            The dialogue.

        Raises:
            ItemError: The line has no context or no positive responses.
        """
        value = mapping(item.value, "the line")
        if "context" not in value or "positive_responses" not in value:
            raise ItemError('expected both "context" and "positive_responses"')
        context = strings(value["context"], '"context"')
        return Dialogue(
            # If a line has no id, its number is the name of the dialogue.
            str(value.get("id", value.get("dialog_id", item.number))),
            corpus="",
            split="",
            utterances=alternating(context),
            responses=tuple(
                # Each response in a line answers the last turn of the line's context.
                Response(len(context) - 1, text.strip(), label, source)
                for key, label, source in _RESPONSES
                for text in strings(value.get(key, []), f'"{key}"')
            ),
            attributes={key: attribute for key, attribute in value.items() if key not in _KEYS},
        )

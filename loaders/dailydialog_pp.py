"""`dailydialog_pp`: DailyDialog++, contexts with right and wrong responses (Sai et al. 2020).

JSON Lines with a context and, to its last turn, five relevant responses written by people, five
adversarial irrelevant ones (written to share words with the context) and five random ones.
"""

from __future__ import annotations

from graphneg.ingest.content import Refused
from graphneg.ingest.reading import Item
from graphneg.ingest.validation import DialogueLoader, alternating, mapping, strings
from graphneg.model import Dialogue, Response

_RESPONSES = (
    ("positive_responses", 1, "human"),
    ("adversarial_negative_responses", 0, "adversarial"),
    ("random_negative_responses", 0, "random"),
)
_KEYS = {"id", "dialog_id", "context", *(key for key, _, _ in _RESPONSES)}


class Loader(DialogueLoader):
    """The JSON Lines files of DailyDialog++ (train, dev, test, data_positives)."""

    name = "dailydialog_pp"
    summary = "DailyDialog++: contexts with human, adversarial and random responses (JSON Lines)"

    def dialogue(self, item: Item) -> Dialogue:
        """The dialogue of a line, with its responses."""
        value = mapping(item.value, "the line")
        if "context" not in value or "positive_responses" not in value:
            raise Refused('"context" and "positive_responses" are not both there')
        context = strings(value["context"], '"context"')
        return Dialogue(
            str(value.get("id", value.get("dialog_id", item.number))),
            corpus="",
            split="",
            utterances=alternating(context),
            responses=tuple(
                Response(len(context) - 1, text.strip(), label, source)
                for key, label, source in _RESPONSES
                for text in strings(value.get(key, []), f'"{key}"')
            ),
            attributes={key: attribute for key, attribute in value.items() if key not in _KEYS},
        )

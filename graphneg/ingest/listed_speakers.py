"""Join the texts and the speakers of a dialogue that are stored in two lists.

In data sets such as SODA and MediaSum, a dialogue has a list of texts and, under another key, a list with the
speaker of each text:

>>> value = {"id": 7, "dialogue": ["Hi.", "Hello."], "speakers": ["Ann", "Bo"]}
>>> with_listed_speakers(value, Fields({}))["dialogue"]
[{'speakers': 'Ann', 'text': 'Hi.'}, {'speakers': 'Bo', 'text': 'Hello.'}]
"""

from __future__ import annotations

from typing import Any, cast

from graphneg.ingest.cells import decoded
from graphneg.ingest.fields import Fields, Value


def with_listed_speakers(value: Value, fields: Fields) -> Value:
    """Return a dialogue whose turns contain their speakers.

    Args:
        value: A dialogue.
        fields: Look-up from a field, such as the text, to the key that contains it.

    Returns:
        The dialogue; unchanged if its turns are not texts, or if no key contains a speaker for each turn.
    """
    key = fields.turns_of(value)
    texts: Any = value[key] if key is not None else None
    if key is None or not isinstance(texts, list) or not texts or not isinstance(texts[0], str):
        return value
    name = fields.of({one: "" for one in value if one != key}).get("speaker")
    speakers: Any = value[name] if name is not None else None
    # In a CSV file, the cell contains the list as text: "['Ann', 'Bo']".
    speakers = decoded(speakers) if isinstance(speakers, str) else speakers
    if name is None or not isinstance(speakers, list):
        return value
    said, people = cast("list[Any]", texts), cast("list[Any]", speakers)
    # A list of another length names the participants, and not the speaker of each turn.
    if len(said) != len(people) or not all(isinstance(one, str) for one in said):
        return value
    if not all(isinstance(one, str | int) for one in people):
        return value
    text = fields.named_by_user.get("text") or "text"
    turns = [{name: who, text: what} for who, what in zip(people, said, strict=True)]
    return {one: cell for one, cell in value.items() if one != name} | {key: turns}

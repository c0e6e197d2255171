"""Load your own dialogues from many formats (``dialogues``).

The loader accepts JSON, JSON Lines, tables, Parquet, Arrow, and data sets saved by the library ``datasets``,
with many names of keys and columns. `graphneg.ingest.entries` reads the files. `graphneg.ingest.shapes`
converts their content into the format that ``dialogue.schema.json`` in this folder describes. Keys that are
not in the schema are kept as attributes. A file that ``graphneg export --format dialogues`` wrote is loaded
unchanged, with all graphs, by `graphneg.ingest.exported`.

>>> loaded = dialogue({"id": 7, "turns": ["Hi.", {"text": "Hello.", "mood": "glad"}], "topic": "pets"})
>>> [(turn.speaker, turn.text, dict(turn.attributes)) for turn in loaded.utterances]
[('A', 'Hi.', {}), ('B', 'Hello.', {'mood': 'glad'})]
>>> loaded.id, dict(loaded.attributes)
('7', {'topic': 'pets'})
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from graphneg.errors import InputError
from graphneg.ingest.cells import decoded
from graphneg.ingest.content import ItemError
from graphneg.ingest.database_rows import database_rows
from graphneg.ingest.entries import Source, sources
from graphneg.ingest.envelopes import rows_of_dialogues
from graphneg.ingest.exported import exported_records, is_exported
from graphneg.ingest.exports import is_export
from graphneg.ingest.fields import Fields, is_utterance, listed
from graphneg.ingest.id_scopes import scope_columns, with_whole_id
from graphneg.ingest.loader import LoadOptions, Notices, check_by_records, check_format
from graphneg.ingest.model_logs import (
    is_chat_header,
    langchain_message,
    rocket_chat_message,
    rows_of_exchange,
)
from graphneg.ingest.nested import inner_dialogues, lift_paths
from graphneg.ingest.reading import MOST_PARTS, Item, UnreadRow
from graphneg.ingest.session_logs import session_rows
from graphneg.ingest.shapes import dialogue_values
from graphneg.ingest.validation import IdSet, named, valid_dialogues
from graphneg.loaders.transcript import turns_in
from graphneg.model import Dialogue, Record, Rejected, Response, Utterance
from graphneg.progress import NoProgress, Progress

if TYPE_CHECKING:
    from fastjsonschema import JsonSchemaValueException

_DIALOGUE_KEYS = {"id", "corpus", "split", "turns", "responses"}
_TURN_KEYS = {"text", "speaker", "amr"}
_KINDS = {
    "object": "a JSON object", "array": "a list", "string": "a string", "integer": "an integer",
    "null": "null",
}  # fmt: skip
"""Names of the JSON types in messages."""


class Loader:
    """Loader for dialogues in many formats, from files and from Python objects."""

    name = "dialogues"
    summary = (
        "dialogues of your own: JSON, CSV, Parquet, a saved data set; ChatGPT, OpenAssistant, help desks"
    )

    def read(self, paths: Sequence[Any], options: LoadOptions) -> Iterator[Record]:
        """Yield dialogues from files, or from Python objects that contain dialogues.

        Raises `InputError` if a file is missing, or if a file or object contains no dialogues.

        Args:
            paths: Files, folders of saved data sets, or Python objects.
            options: Options for loading, such as the corpus and split.

        Yields:
            Dialogues and rejected items.
        """
        known = IdSet()
        for found in sources(paths, self.name, Fields(options.map), options):
            source, fields = _of_lists(found, Fields(options.map), options)
            source = _of_transcripts(_unnested(_of_one_chat(source), fields, options), fields, options)
            source = _of_scopes(_of_named_lines(source, fields, options), fields, options)
            if source.text is not None and is_exported(source.text):
                yield from exported_records(source.text, options, known)
                continue
            records = _counted(_records(source, fields, options, known), source.place, options)
            # With --map or --encoding, the user has confirmed the format of the file. So do not check the
            # first bytes of the file.
            if source.text is not None and not options.map and not options.encoding:
                yield from check_format(source.text, self.name, records)
            else:
                yield from check_by_records(source.place, self.name, records)


def _counted(records: Iterator[Record], place: str, options: LoadOptions) -> Iterator[Record]:
    """Yield all records. Notify the user if each dialogue consists of one turn with several lines."""
    dialogues = turns = several = 0
    for record in records:
        if isinstance(record, Dialogue):
            dialogues, turns = dialogues + 1, turns + len(record.utterances)
            several += any("\n" in one.text for one in record.utterances)
        yield record
    if dialogues > 1 and dialogues == turns == several:
        options.notices.say(
            f"{place}: all {dialogues:,} dialogues have one turn of several lines; if their texts are whole "
            'transcripts, write each turn as a line "Name: text", and the lines are read as turns'
        )


def _of_one_chat(source: Source) -> Source:
    """Return a source of one dialogue if the first entry is the header of a chat; else return it unchanged.

    SillyTavern writes such files: a header, then one entry for each message of the chat.
    """
    first: Item | Rejected | None = None
    with suppress(InputError):
        first = None if source.once else next(iter(source.read(NoProgress())), None)
    if not isinstance(first, Item) or not is_chat_header(first.value):
        return source

    def read(progress: Progress) -> Iterator[Item | Rejected]:
        messages: list[Any] = []
        for entry in source.read(progress):
            if isinstance(entry, Rejected):
                # A chat is kept or rejected as a whole.
                yield Rejected(entry.place, f"the chat has an unreadable message: {entry.reason}")
                return
            if entry.number != first.number and len(messages) <= MOST_PARTS:
                messages.append(entry.value)
        yield first._replace(value={**first.value, "messages": messages})

    return source._replace(read=read)


def _unnested(source: Source, fields: Fields, options: LoadOptions) -> Source:
    """Return a source with one entry for each dialogue. An entry with a list of dialogues is split.

    With ``--map text=data.said``, the nested value ``said`` is moved to the new key ``data.said``.
    """

    def read(progress: Progress) -> Iterator[Item | Rejected]:
        more = 0
        for entry in source.read(progress):
            if not isinstance(entry, Item):
                yield entry
                continue
            value = rocket_chat_message(lift_paths(entry.value, fields))
            # With --map text=_source.body, the user has named the key that contains the text, and
            # `lift_paths` has changed the value. Then do not look for rows inside the value.
            stored = database_rows(value) if value is entry.value else None
            if stored is not None:
                rows = [lift_paths(row, fields) for row in stored]
                told = "the rows of an export of a database are read without the objects around them"
                options.notices.say(f"{source.place}: {told}")
            elif (rows := session_rows(entry.value) if value is entry.value else None) is not None:
                told = "a log of sessions, whose entries that are no messages are left out"
                options.notices.say(f"{source.place}: {told}")
            else:
                rows = rows_of_exchange(value)
            if rows is None and (rows := rows_of_dialogues(value, fields)) is not None:
                told = "the messages name their dialogues, so they are read as the rows of a table"
                options.notices.say(f"{source.place}: {told}")
            if rows is not None:
                yield from (
                    Item(entry.place, entry.number + more + at, "", row) for at, row in enumerate(rows)
                )
                more += len(rows) - 1
                continue
            if (inner := inner_dialogues(value, fields)) is None:
                is_same = value is entry.value and not more
                yield entry if is_same else entry._replace(number=entry.number + more, value=value)
                continue
            options.notices.say(f"{source.place}: objects that contain lists of dialogues are read as these")
            for number, one in enumerate(inner, entry.number + more):
                yield Item(entry.place, number, "", lift_paths(one, fields))
            more += len(inner) - 1

    return source._replace(read=read)


def _of_scopes(source: Source, fields: Fields, options: LoadOptions) -> Source:
    """Return a source whose dialogue ids are unique, if the ids begin again in each season or folder."""
    first: Item | None = None
    with suppress(InputError):
        rows = () if source.once else source.read(NoProgress())
        first = next((one for one in rows if isinstance(one, Item)), None)
    if first is None or not is_utterance(first.value, fields) or isinstance(first.value, str):
        return source
    scopes = scope_columns(first.value, fields)
    if not scopes:
        return source
    told = f"the ids of dialogues begin again in each {listed(map(repr, scopes))}, so they contain it"
    options.notices.say(f"{source.place}: {told}")

    def read(progress: Progress) -> Iterator[Item | Rejected]:
        for entry in source.read(progress):
            if isinstance(entry, UnreadRow):
                # The whole id of a dialogue contains the cell with the season or folder. This row could not
                # be read, so that cell may be missing. So keep none of its cells, not even the id.
                yield UnreadRow(entry.place, entry.reason, {})
            elif isinstance(entry, Item) and isinstance(entry.value, dict):
                yield entry._replace(value=with_whole_id(entry.value, fields))
            else:
                yield entry

    return source._replace(read=read)


def _of_lists(source: Source, fields: Fields, options: LoadOptions) -> tuple[Source, Fields]:
    """Decode a column of a table whose cells contain lists or objects as text: ``['Hi.', 'Hello.']``.

    The table is read once in advance, to check whether most cells of such a column can be decoded.

    Args:
        source: The source.
        fields: Look-up from a field, such as the text, to the key or column that contains it.
        options: Options for loading. A notice names the column.

    Returns:
        The source with decoded entries, and a look-up that finds the turns in the column with lists. If there
        is no such column, ``source`` and ``fields`` are returned unchanged.
    """
    key: str | None = None
    with suppress(InputError):
        key = None if source.once else _list_key(source, fields)
    if key is None:
        return source, fields
    options.notices.say(
        f"{source.place}: {key!r} contains lists or objects written as text, which are decoded"
    )

    def read(progress: Progress) -> Iterator[Item | Rejected]:
        for entry in source.read(progress):
            if not isinstance(entry, Item) or not isinstance(entry.value, dict):
                yield entry
                continue
            value = decoded(str(entry.value.get(key) or ""))
            if value is None:
                reason = f"the list in {key!r} can't be decoded: it may be cut off"
                yield Rejected(entry.place, f"item {entry.number}: {reason}")
            elif is_export(value):
                others = {name: one for name, one in entry.value.items() if name != key}
                yield entry._replace(value={**others, **cast("dict[str, Any]", value)})
            elif (message := langchain_message(value)) is not None:
                others = {name: one for name, one in entry.value.items() if name != key}
                yield entry._replace(value={**others, **message})
            else:
                yield entry._replace(value={**entry.value, key: value})

    # Ignore --map text=COLUMN if COLUMN is the decoded column, because its cells are now lists or objects and
    # not texts.
    named = {field: name for field, name in fields.named_by_user.items() if name != key}
    is_list = any(
        isinstance(decoded(str(entry.value.get(key) or "")), list)
        for entry in islice(source.read(NoProgress()), 1)
        if isinstance(entry, Item)
    )
    return source._replace(read=read), Fields({**named, "turns": key} if is_list else named)


def _list_key(source: Source, fields: Fields) -> str | None:
    """Return the column of a table in which most cells contain a list as text: ``['Hi.', 'Hello.']``."""
    key: str | None = None
    ids, found, objects, number = set[str](), 0, 0, 0
    for entry in source.read(NoProgress()):
        if not isinstance(entry, Item) or not isinstance(entry.value, dict):
            continue
        number += 1
        if number == 1:
            keys = (one for one in fields.text_keys(entry.value) if isinstance(entry.value[one], str))
            key = next((one for one in keys if decoded(entry.value[one]) is not None), None)
        if key is None:
            return None
        value = decoded(str(entry.value.get(key) or ""))
        found += value is not None
        objects += isinstance(value, dict)
        # If some cells contain JSON objects and others plain text, the column contains the messages of a bot
        # (JSON) and of its users (text). Do not decode any cell.
        if objects and found < number:
            return None
        named = fields.of(entry.value).get("dialogue", "")
        id = str(number if named == key else entry.value.get(named, number))
        # If an id occurs twice, each row is a message. A cell such as "['Hi.']" is then the text of a message
        # and not a list of messages.
        if isinstance(value, list) and id in ids:
            return None
        ids.add(id)
    return key if found * 2 > number else None


def _of_named_lines(source: Source, fields: Fields, options: LoadOptions) -> Source:
    """Return a source with speakers if each turn is a text that begins with a name: ``"USER: Hi."``.

    The source is read once in advance, to check whether all turns begin with a name.
    """
    is_named = False
    with suppress(InputError):
        is_named = not source.once and _are_named_lines(source, fields)
    if not is_named:
        return source
    options.notices.say(f"{source.place}: the turns begin with names, which are read as speakers")
    names = {field: fields.named_by_user.get(field) or field for field in ("speaker", "text")}

    def turn(line: str) -> dict[str, str]:
        # A turn may have several lines. Parse only its first line with `turns_in`, which joins lines.
        first, end, rest = line.partition("\n")
        [(speaker, text)] = turns_in(first, Notices())
        return {names["speaker"]: speaker, names["text"]: f"{text}{end}{rest}"}

    def read(progress: Progress) -> Iterator[Item | Rejected]:
        for entry in source.read(progress):
            lines = _lines_of(entry, fields)
            if isinstance(entry, Item) and lines:
                turns = [turn(line) for line in lines]
                key = fields.turns_of(entry.value) if isinstance(entry.value, dict) else None
                entry = entry._replace(value=turns if key is None else {**entry.value, key: turns})
            yield entry

    return source._replace(read=read)


def _are_named_lines(source: Source, fields: Fields) -> bool:
    """Return whether all turns of a source are texts that begin with a name, and names occur repeatedly."""
    number = repeating = 0
    for entry in source.read(NoProgress()):
        number += 1
        lines = _lines_of(entry, fields)
        spoken = [turns_in(line.partition("\n")[0], Notices()) for line in lines]
        if not lines or not all(spoken):
            return False
        names = [one[0][0] for one in spoken]
        repeating += len(set(names)) < len(names)
    # The texts count as turns only if names are repeated in at least half of the lists. In a form such as
    # ["Name: Ann", "Order: 7"], no label is repeated.
    return number > 0 and repeating * 2 >= number


def _lines_of(entry: Item | Rejected, fields: Fields) -> list[str]:
    """Return the turns of an entry if all of them are texts; otherwise an empty list."""
    value: Any = entry.value if isinstance(entry, Item) else None
    if isinstance(value, dict):
        key = None if is_export(value) else fields.turns_of(cast("Mapping[str, Any]", value))
        value = value[key] if key is not None else None
    lines = cast("list[Any]", value) if isinstance(value, list) else []
    return lines if all(isinstance(one, str) and one.strip() for one in lines) else []


def _of_transcripts(source: Source, fields: Fields, options: LoadOptions) -> Source:
    r"""Return a source of turns if each entry contains a whole transcript; otherwise return it unchanged.

    For example, the cell "Ann: Hi.\nBo: Hello." of a column ``transcript`` contains two turns. The source is
    read once in advance, to check whether all its cells are transcripts.
    """
    key: str | None = None
    # Ignore errors here: the source is read again later, and the errors are then reported in more detail.
    with suppress(InputError):
        key = None if source.once else _transcript_key(source, fields)
    if key is None:
        return source
    options.notices.say(f"{source.place}: {key!r} contains whole transcripts, whose lines are read as turns")

    # The turns are objects with a speaker and a text. With --map speaker=who, use "who" as the key of the
    # speaker, because the speaker is looked up under this key later.
    names = {field: fields.named_by_user.get(field) or field for field in ("turns", "speaker", "text")}
    last = -1

    def read(progress: Progress) -> Iterator[Item | Rejected]:
        nonlocal last
        for entry in source.read(progress):
            if isinstance(entry, Item):
                # The file may be read several times. Count the lines that are left out only the first time.
                notices = options.notices if entry.number > last else Notices()
                last = max(last, entry.number)
                others = {name: one for name, one in entry.value.items() if name != key}
                turns = [
                    {names["speaker"]: speaker, names["text"]: text}
                    for speaker, text in turns_in(entry.value[key], notices)
                ]
                entry = entry._replace(value={**others, names["turns"]: turns})
            yield entry

    return source._replace(read=read)


def _transcript_key(source: Source, fields: Fields) -> str | None:
    """Return the key whose value is a whole transcript in every entry; None if there is no such key."""
    entries = (entry for entry in source.read(NoProgress()) if isinstance(entry, Item))
    key: str | None = None
    ids, repeating, number = set[str](), 0, 0
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry.value, dict) or is_export(entry.value):
            return None
        turns = fields.turns_of(entry.value)
        if turns is not None and not isinstance(entry.value[turns], str):
            return None
        if number == 1:
            keys = fields.text_keys(entry.value)
            key = next((one for one in keys if _speakers(entry.value[one])), None)
        speakers = _speakers(entry.value.get(key)) if key is not None else []
        if not speakers:
            return None
        repeating += len(set(speakers)) < len(speakers)
        # If an id occurs twice, a dialogue has several rows. Each cell is then a single turn and not a whole
        # transcript.
        named = fields.of(entry.value).get("dialogue", "")
        id = str(number if named == key else entry.value.get(named, number))
        if id in ids:
            return None
        ids.add(id)
    # The cells count as transcripts only if names are repeated in at least half of them. In a form such as
    # "Name: Ann\nOrder: 7", no label is repeated.
    return key if repeating * 2 >= number else None


def _speakers(value: Any) -> list[str]:
    """Return the speakers of a transcript, one per turn; an empty list if it has fewer than two turns."""
    if not isinstance(value, str) or ":" not in value:
        return []
    turns = turns_in(value, Notices())
    return [speaker for speaker, _ in turns] if len(turns) > 1 else []


def _records(source: Source, fields: Fields, options: LoadOptions, known: IdSet) -> Iterator[Record]:
    values = dialogue_values(
        source.read,
        options.progress,
        fields,
        options.notices,
        once=source.once,
        date_order=options.date_order,
    )
    return valid_dialogues(
        values,
        lambda item: named(
            dialogue(item.value), options, source.corpus, source.split, _unnamed_turns(item.value)
        ),
        known,
    )


def dialogue(value: Any) -> Dialogue:
    """Convert a decoded JSON value into a dialogue.

    Args:
        value: An object that follows ``dialogue.schema.json``.

    Returns:
        The dialogue. Its corpus and split are empty if the value does not contain them. If a turn has no
        speaker, its speaker is A (first, third, ... turn) or B (second, fourth, ... turn).

    Raises:
        ItemError: The value does not follow the schema.
    """
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator()(value)
    except JsonSchemaValueException as error:
        raise ItemError(_fault(error)) from error
    utterances = tuple(_utterance(turn, item) for turn, item in enumerate(value["turns"]))
    return Dialogue(
        id=str(value["id"]).strip(),
        corpus=value.get("corpus", ""),
        split=value.get("split", ""),
        utterances=utterances,
        responses=tuple(_response(item, len(utterances)) for item in value.get("responses", ())),
        attributes=_others(value, _DIALOGUE_KEYS),
    )


def _unnamed_turns(value: Mapping[str, Any]) -> frozenset[int]:
    turns = enumerate(value["turns"])
    return frozenset(at for at, turn in turns if isinstance(turn, str) or "speaker" not in turn)


def _utterance(turn: int, value: str | Mapping[str, Any]) -> Utterance:
    fields: Mapping[str, Any] = {"text": value} if isinstance(value, str) else value
    # The default speaker is A for turns with an even index, and B for turns with an odd index.
    speaker, text = fields.get("speaker", "AB"[turn % 2]).strip(), fields["text"].strip()
    return Utterance(turn, speaker, text, fields.get("amr"), _others(fields, _TURN_KEYS))


def _response(value: Mapping[str, Any], turns: int) -> Response:
    turn = int(value["turn"])
    if turn >= turns:
        raise ItemError(f"a response answers turn {turn}, but the last turn is {turns - 1}")
    text, source = value["text"].strip(), value.get("source", "given").strip()
    return Response(turn, text, int(value["label"]), source, value.get("amr"))


def _others(value: Mapping[str, Any], known: set[str]) -> dict[str, Any]:
    return {key: attribute for key, attribute in value.items() if key not in known}


def _fault(error: JsonSchemaValueException) -> str:
    """Describe the first violation of the schema in words, such as ``turns[0] lacks 'text'``."""
    what = str(error.name).removeprefix("data").removeprefix(".") or "the dialogue"
    wanted: Any = error.rule_definition
    if error.rule == "required":
        return f"{what} lacks {', '.join(repr(key) for key in wanted if key not in error.value)}"
    if error.rule == "type":
        kinds = [wanted] if isinstance(wanted, str) else wanted
        return f"{what} is not {' or '.join(_KINDS[kind] for kind in kinds)}"
    if error.rule in ("pattern", "minItems"):
        return f"{what} is empty"
    return error.message.replace("data.", "", 1)


@cache
def _validator() -> Callable[[Any], Any]:
    import fastjsonschema

    schema = files("graphneg.loaders").joinpath("dialogue.schema.json").read_text("utf-8")
    # Do not let the validator add default values: the default speaker depends on the turn number.
    return fastjsonschema.compile(json.loads(schema), use_default=False)

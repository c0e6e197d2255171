"""Find which key of a JSON object, or which column of a table, holds which field of a dialogue.

Exports use many names for the same field. `NAMES` lists the known names of each field, and `Fields`
looks up the key of each field among the keys of an entry. Callers can name a key themselves (``--map
text=rating``) if the name is not known or not the right one.

>>> dict(Fields({}).of(["conversation_id", "author_type", "message", "sent_at", "rating"]))
{'dialogue': 'conversation_id', 'speaker': 'author_type', 'text': 'message', 'time': 'sent_at'}
>>> dict(Fields({"text": "rating"}).of(["conversation_id", "rating"]))
{'dialogue': 'conversation_id', 'text': 'rating'}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from graphneg.errors import InputError

Value = Mapping[str, Any]

NAMES: dict[str, tuple[str, ...]] = {
    field: tuple(names.split())
    for field, names in {
        # Generic names, then those of OASST, help desks, Discourse and Reddit.
        "dialogue": """
            dialogue dialog conversation dialogueid dialogid conversationid convid convoid
            chatid sessionid threadid conversationhash conversationuuid conversationkey
            chatsessionid threadts dialogueidx dialogidx dialoguenumber dialogno
            conversationnumber rootid messagetreeid treeid ticketid ticketnumber caseid
            casenumber interactionid callid topicid linkid submissionid
            gespräch gesprächid gesprächsid
        """,
        "turn": """
            turn turnid turnidx turnindex turnno turnnum turnnumber utteranceidx utteranceindex
            utteranceno utterancenumber messageidx messageindex
        """,
        # Keys with the names of people come before keys with kinds of people ("author" before
        # "author_type"): two agents of one ticket are two speakers.
        "speaker": """
            speaker speakerid speakeridx speakername role from author authorname authorid sender
            sendername senderid participant participantname participantid fromname fromuser
            fromid username screenname nickname displayname handle userid user postedby sentby
            writtenby createdby character interlocutor actor who speakerrole speakertype
            speakerlabel authortype authorrole sendertype senderrole participanttype
            participantrole usertype userrole actortype party sprecher absender verfasser wer rolle
            von locuteur auteur expediteur hablante autor remitente parlante mittente falante
            remetente spreker afzender direction messagedirection agent name
        """,
        "text": """
            text utterance content message value utterancetext messagetext body messagebody
            messagecontent contenttext textcontent bodytext plaintext plainbody fulltext
            tweettext tweet commentbody commenttext comment posttext post raw msg transcript
            transcription sentence nachricht mensaje messaggio mensagem
        """,
        "turns": """
            turns messages conversations conversation dialogue dialog utterances log posts
            comments
        """,
        "split": "split",
        "amr": "amr",
        "id": """
            id messageid msgid utteranceid tweetid commentid postid postnumber messageuuid uuid
            uid
        """,
        "reply_to": """
            replyto replytoid inreplyto inreplytoid replytomessageid replytopostnumber
            inresponsetotweetid inreplytostatusid inreplytotweetid inresponseto parentid
            parentmessageid parentcommentid parentpostid parent
        """,
        "time": """
            timestamp time datetime createdat createdutc createdtime createddate creationdate
            created createtime sentat senttime sent postedat posted messagetime messagedate
            messagetimestamp eventtime unixtime date ts zeit zeitstempel datum fecha sequence
            sequencenumber seq position
        """,
    }.items()
}
"""The names of each field in exports, in order of preference.

Names are compared without case, spaces and punctuation: ``authortype`` matches ``author_type``,
``Author Type`` and ``authorType``.

``id``, ``reply_to`` and ``time`` describe the rows of a table: the id of a row, the id of the row that
it answers, and the time at which it was said. A ``time`` may be any number that grows.
"""

OWN_ROW = ("dialogue", "turn", "speaker", "text", "split", "amr")
"""The fields of a row that become parts of an utterance. All other columns are kept as attributes."""

_NEVER_TURNS = ("turns",)
"""Fields whose keys `Fields.unused` lists nevertheless: in a row, ``posts`` holds no turns."""


class Fields:
    """Look up the keys of fields: those that the caller names, otherwise those with known names.

    Args:
        said: The key of each field that the caller named. An empty key says that no key holds the field.

    Raises:
        InputError: The caller names a field that does not exist.
    """

    def __init__(self, said: Mapping[str, str]) -> None:
        """Initialize the lookup and check the names of the fields."""
        for field in said:
            if field not in NAMES:
                raise InputError(f"--map {field}={said[field]}: no field {field!r}; it is {listed(NAMES)}")
        self.said = dict(said)
        self._known: dict[tuple[str, ...], dict[str, str]] = {}

    def of(self, keys: Iterable[str]) -> Mapping[str, str]:
        """Return the key of each field.

        Args:
            keys: The keys of an entry, or the columns of a table.

        Returns:
            Maps each field to its key. Fields without a key are left out.
        """
        keys = tuple(keys)
        if keys not in self._known:
            # JSON objects may each have other keys, so the cache must not grow with the file.
            if len(self._known) > 1000:
                self._known.clear()
            self._known[keys] = dict(self._found(keys))
        return self._known[keys]

    def _found(self, keys: Sequence[str]) -> Iterator[tuple[str, str]]:
        plain = plain_names(keys)
        for field, names in NAMES.items():
            if field in self.said:
                # An empty key matches no column, so the field has none.
                if self.said[field] in keys:
                    yield field, self.said[field]
            elif (name := next((name for name in names if name in plain), None)) is not None:
                yield field, plain[name]

    def turns_of(self, value: Value) -> str | None:
        """Return the key of the turns of an object.

        Args:
            value: The object.

        Returns:
            The key that the caller named, else ``turns``, else the first key with a known name that
            holds a list or an object of lists of equal length. None if the object has no such key.
        """
        if "turns" in self.said:
            return self.said["turns"] if self.said["turns"] in value else None
        if "turns" in value:
            return "turns"
        plain = plain_names(value)
        # The value must be a list: in many exports "conversation" is an id, and "messages" a count.
        names = (plain[name] for name in NAMES["turns"] if name in plain)
        return next((key for key in names if isinstance(value[key], list) or columns_of(value[key])), None)

    def other_names(self, found: Mapping[str, str]) -> str:
        """Return which keys were read as which fields, for a notice.

        Args:
            found: The key of each field.

        Returns:
            ``text=message, speaker=author``: the fields whose keys differ from graphneg's own names and
            were not named by the caller.
        """
        told = ((field, key) for field, key in found.items() if field not in self.said and key != field)
        return ", ".join(f"{field}={key}" for field, key in told)

    def unused(self, keys: Iterable[str]) -> list[str]:
        """Return the keys that hold no field.

        Args:
            keys: The keys of an entry, or the columns of a table.

        Returns:
            The remaining keys, in their order.
        """
        keys = list(keys)
        used = {key for field, key in self.of(keys).items() if field not in _NEVER_TURNS}
        return [key for key in keys if key and key not in used]


def plain_names(keys: Iterable[str]) -> dict[str, str]:
    """Return the keys by their names without case, spaces and punctuation.

    >>> plain_names(["Author Type", "author_type"])
    {'authortype': 'Author Type'}

    Args:
        keys: The keys. If two of them have the same plain name, the first one is used.

    Returns:
        Maps each plain name to its key.
    """
    plain: dict[str, str] = {}
    for key in keys:
        # "Author Type", "author_type" and "authorType" all become "authortype".
        plain.setdefault(re.sub(r"[\W_]+", "", key).casefold(), key)
    return plain


def columns_of(value: Any) -> dict[str, list[Any]] | None:
    """Return the columns of a list of objects that is stored by column.

    ``{"text": ["Hi.", "Ho."], "speaker": ["A", "B"]}`` stores two turns. The library ``datasets`` gives
    lists of objects in this form.

    Args:
        value: Any value.

    Returns:
        The lists by key, or None if the value is not an object of lists of equal length.
    """
    if not isinstance(value, dict) or not value:
        return None
    columns = cast("dict[str, Any]", value)
    lengths = {len(column) if isinstance(column, list) else -1 for column in columns.values()}
    # Lists of different lengths do not describe the same turns.
    return columns if len(lengths) == 1 and -1 not in lengths else None


def is_row(value: Any, fields: Fields) -> bool:
    """Return whether a value is one utterance, not a whole dialogue.

    Args:
        value: An entry of a file.
        fields: Looks up the keys of fields.

    Returns:
        True for a text, and for an object that has a text but no turns.
    """
    if isinstance(value, str):
        return True
    if not isinstance(value, dict) or fields.turns_of(cast("Value", value)) is not None:
        return False
    found = fields.of(cast("Value", value))
    # In {"message": {"content": "Hi."}} the message is an object, not a text.
    return "text" in found and not isinstance(value[found["text"]], dict)


def has_turns(value: Any, fields: Fields) -> bool:
    """Return whether a value is an object with the turns of a dialogue.

    Args:
        value: An entry of a file.
        fields: Looks up the keys of fields.

    Returns:
        True if `Fields.turns_of` finds the key of the turns.
    """
    return isinstance(value, dict) and fields.turns_of(cast("Value", value)) is not None


def require_columns(place: str, columns: Sequence[str], fields: Fields) -> None:
    """Check that rows of utterances have a text and say which dialogue they belong to.

    A table without a dialogue column is accepted if its rows name the rows that they answer, or if the
    caller says that there is no such column.

    Args:
        place: The place of the header, for the message.
        columns: The names of the columns.
        fields: Looks up the keys of fields.

    Raises:
        InputError: A required column is missing, a column that the caller names is missing, or a column
            occurs twice.
    """
    shown = listed(repr(column[:40]) for column in columns[:12])
    for field, key in fields.said.items():
        if key and key not in columns:
            raise InputError(f"{place}: --map {field}={key}: there is no such key or column, only {shown}")
    # Columns that differ only in case are ambiguous for users, too.
    named = [column.casefold() for column in columns if column]
    if len(set(named)) != len(named):
        raise InputError(f"{place}: a column occurs twice in the header {shown}")
    found = fields.of(columns)
    needed = ["text"] if is_threaded(found, fields) else ["dialogue", "text"]
    missing = [field for field in needed if fields.said.get(field) != "" and field not in found]
    if missing:
        # A file may hold a single dialogue without naming it.
        alone = "; --map dialogue= says that all rows are one dialogue" if missing == ["dialogue"] else ""
        raise InputError(
            f"{place}: the table lacks the columns {', '.join(missing)}; its first row is {shown}; "
            f"--map {missing[0]}=NAME says which it is{alone}"
        )


def is_threaded(found: Mapping[str, str], fields: Fields) -> bool:
    """Return whether only replies tell which rows belong to one dialogue.

    Args:
        found: The key of each field.
        fields: Looks up the keys of fields, and knows which ones the caller named.

    Returns:
        True if rows have ids and name the rows that they answer, and there is no dialogue column.
    """
    return (
        "dialogue" not in found and fields.said.get("dialogue") != "" and {"id", "reply_to"} <= found.keys()
    )


def listed(names: Iterable[str]) -> str:
    """Return names as a list separated by commas, for a message.

    Args:
        names: The names.

    Returns:
        The names in one line.
    """
    return ", ".join(names)

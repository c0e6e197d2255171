"""Which key of an entry, or which column of a table, holds which field of a dialogue.

Exports call one thing by many names. `NAMES` lists, for each field, the names that exports use, and `Fields`
finds the key of each field of an entry. The caller may name a key where the names do not tell (``--map``).

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
        # Names of one table, of OASST, of help desks, of Discourse, and of Reddit.
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
        # Names of persons come before kinds of persons: two agents of one ticket are two speakers.
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
"""The names of each field in exports, plainest first. Case, blanks and punctuation make no difference:
``authortype`` stands for ``author_type``, ``Author Type`` and ``authorType``.

``id``, ``reply_to`` and ``time`` describe the rows of a table: the name of a row, the name of the row that it
answers, and when it was said. A ``time`` may be any number that grows.
"""

OWN_ROW = ("dialogue", "turn", "speaker", "text", "split", "amr")
"""The fields of a row that become parts of an utterance; all other columns are kept as attributes."""

_CONTAINERS = ("turns", "amr", "split")


class Fields:
    """The keys of fields: those that the caller names, else those whose names tell.

    Args:
        said: Key by field. An empty key says that no key holds the field.

    Raises:
        InputError: The caller names a field that does not exist.
    """

    def __init__(self, said: Mapping[str, str]) -> None:
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
            Key by field; fields without a key are left out.
        """
        keys = tuple(keys)
        if keys not in self._known:
            if len(self._known) > 1000:
                self._known.clear()
            self._known[keys] = dict(self._found(keys))
        return self._known[keys]

    def _found(self, keys: Sequence[str]) -> Iterator[tuple[str, str]]:
        plain = plain_names(keys)
        for field, names in NAMES.items():
            if field in self.said:
                if self.said[field] in keys:
                    yield field, self.said[field]
            elif (name := next((name for name in names if name in plain), None)) is not None:
                yield field, plain[name]

    def turns_of(self, value: Value) -> str | None:
        """Return the key of the turns of an object.

        Args:
            value: The object.

        Returns:
            The first key that is so called and holds a list, or lists by key; None where there is none.
        """
        if "turns" in self.said:
            return self.said["turns"] if self.said["turns"] in value else None
        if "turns" in value:
            return "turns"
        plain = plain_names(value)
        names = (plain[name] for name in NAMES["turns"] if name in plain)
        return next((key for key in names if isinstance(value[key], list) or columns_of(value[key])), None)

    def other_names(self, found: Mapping[str, str]) -> str:
        """Return what keys were read as, for a message.

        Args:
            found: Key by field.

        Returns:
            The fields whose keys have other names than graphneg's own and were not named by the caller.
        """
        told = ((field, key) for field, key in found.items() if field not in self.said and key != field)
        return ", ".join(f"{field}={key}" for field, key in told)

    def unused(self, keys: Iterable[str]) -> list[str]:
        """Return the keys that hold no field.

        Args:
            keys: The keys of an entry, or the columns of a table.

        Returns:
            The rest of them, in their order.
        """
        keys = list(keys)
        used = {key for field, key in self.of(keys).items() if field not in _CONTAINERS}
        return [key for key in keys if key and key not in used]


def plain_names(keys: Iterable[str]) -> dict[str, str]:
    """Return keys by what is left of them without case, blanks and punctuation.

    >>> plain_names(["Author Type", "author_type"])
    {'authortype': 'Author Type'}

    Args:
        keys: The keys. Of two that become equal the first counts.

    Returns:
        Key by plain name.
    """
    plain: dict[str, str] = {}
    for key in keys:
        plain.setdefault(re.sub(r"[\W_]+", "", key).casefold(), key)
    return plain


def columns_of(value: Any) -> dict[str, list[Any]] | None:
    """Return the columns of a list of objects that is written by its columns.

    Args:
        value: Perhaps such a list: ``{"text": ["Hi.", "Ho."], "speaker": ["A", "B"]}``.

    Returns:
        Its lists by key; None where the value is something else, or its lists differ in length.
    """
    if not isinstance(value, dict) or not value:
        return None
    columns = cast("dict[str, Any]", value)
    lengths = {len(column) if isinstance(column, list) else -1 for column in columns.values()}
    return columns if len(lengths) == 1 and -1 not in lengths else None


def is_row(value: Any, fields: Fields) -> bool:
    """Return whether a value is one utterance, not a whole dialogue."""
    if isinstance(value, str):
        return True
    if not isinstance(value, dict) or fields.turns_of(cast("Value", value)) is not None:
        return False
    found = fields.of(cast("Value", value))
    return "text" in found and not isinstance(value[found["text"]], dict)


def has_turns(value: Any, fields: Fields) -> bool:
    """Return whether a value is an object with its turns."""
    return isinstance(value, dict) and fields.turns_of(cast("Value", value)) is not None


def require_columns(place: str, columns: Sequence[str], fields: Fields) -> None:
    """Check that rows of utterances have a text and tell which dialogue they belong to.

    A table without a column for the dialogue is accepted where rows name the row that they answer, or where
    the caller says that there is no such column.

    Args:
        place: The place of the header, for the message.
        columns: The names of the columns.
        fields: What the caller says of them.

    Raises:
        InputError: A field is missing, a column that the caller names is missing, or a column comes twice.
    """
    shown = listed(repr(column[:40]) for column in columns[:12])
    for field, key in fields.said.items():
        if key and key not in columns:
            raise InputError(f"{place}: --map {field}={key}: there is no such key or column, only {shown}")
    named = [column.casefold() for column in columns if column]
    if len(set(named)) != len(named):
        raise InputError(f"{place}: a column stands twice in the header {shown}")
    found = fields.of(columns)
    needed = ["text"] if is_threaded(found, fields) else ["dialogue", "text"]
    missing = [field for field in needed if fields.said.get(field) != "" and field not in found]
    if missing:
        alone = "; --map dialogue= says that all rows are one dialogue" if missing == ["dialogue"] else ""
        raise InputError(
            f"{place}: the table lacks the columns {', '.join(missing)}; its first row is {shown}; "
            f"--map {missing[0]}=NAME says which it is{alone}"
        )


def is_threaded(found: Mapping[str, str], fields: Fields) -> bool:
    """Return whether only replies tell which rows belong together.

    Args:
        found: Key by field.
        fields: What the caller says of them.

    Returns:
        Whether rows have ids and name the row that they answer, and have no column for the dialogue.
    """
    return (
        "dialogue" not in found and fields.said.get("dialogue") != "" and {"id", "reply_to"} <= found.keys()
    )


def listed(names: Iterable[str]) -> str:
    """Return names as a list in words, for a message."""
    return ", ".join(names)

"""Find out which key of a JSON object, or which column of a table, contains which field of a dialogue.

Exports use many names for the same field. `NAMES` lists the known names of each field, and `Fields` looks for
these names among the keys of an entry. If the name of a field is not known, or if the wrong key is found,
users can name the key themselves (``--map text=rating``).

>>> dict(Fields({}).of(["conversation_id", "author_type", "message", "sent_at", "rating"]))
{'dialogue': 'conversation_id', 'speaker': 'author_type', 'text': 'message', 'time': 'sent_at'}
>>> dict(Fields({"text": "rating"}).of(["conversation_id", "rating"]))
{'dialogue': 'conversation_id', 'text': 'rating'}
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, cast

from graphneg.english.words import table_rows, unique_rows
from graphneg.errors import InputError
from graphneg.ingest.exports import is_export
from graphneg.ingest.values import is_part, unwrapped

Value = Mapping[str, Any]


@cache
def _foreign_names() -> Mapping[str, tuple[str, ...]]:
    """Return the names of keys in other languages, keyed by field. "réponse" is also listed as "reponse"."""
    found: dict[str, dict[str, None]] = {}
    for field, _, names in table_rows("graphneg.ingest", "field_names.tsv"):
        for name in names.casefold().split():
            found.setdefault(field, {}).update(dict.fromkeys((name, _without_accents(name))))
    return {field: tuple(names) for field, names in found.items()}


def _without_accents(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(sign for sign in parts if not unicodedata.combining(sign)))


NAMES: dict[str, tuple[str, ...]] = {
    field: tuple(dict.fromkeys((*names.split(), *_foreign_names().get(field, ()))))
    for field, names in {
        # Names of keys that contain the id of a dialogue. Generic names come first, then the names that are
        # used by OASST, help desks, Discourse and Reddit.
        "dialogue": """
            dialogue dialog conversation dialogueid dialogid conversationid convid convoid
            chatid sessionid threadid conversationhash conversationuuid conversationkey
            chatsessionid threadts conversationsthreadid dialogueidx dialogidx dialoguenumber dialogno
            conversationnumber sceneid rootid messagetreeid treeid ticketid ticketnumber caseid
            casenumber interactionid callid transcriptid topicid linkid submissionid
            ticket ticketno ticketnum ticketnr ticketnummer case caseno thread session
            gespräch gesprächid gesprächsid commentpostid elementid conversationtranscriptid
            chatsession callsid conversationsid conv convo
        """,
        "turn": """
            turn turnid turnidx turnindex turnno turnnum turnnumber utteranceidx utteranceindex
            utteranceno utterancenumber messageidx messageindex uttno uttnum uttnumber uttidx uttindex
            utterancenum msgidx msgindex
        """,
        # A column with the name of a person ("author") is preferred to a column with a kind of person
        # ("author_type"). Otherwise, two agents who answer the same ticket would be one speaker.
        "speaker": """
            speaker speakername speakerid speakeridx speakers role from author authorname authorid
            senderdisplayname sender senders sendername senderfullname sourcename senderid participant
            participantname fromname fromuser fromid username screenname nickname displayname participantid
            handle commentauthor
            commentauthorname commentername createdbyname syscreatedby userid user postedby sentby
            writtenby createdby commenter commenterid postusername postauthorname postauthor
            postedbyname posteruser postername posterusername postuser postuserid
            commentby spokenby saidby messagefrom msgfrom msgsender nick person
            writer updatername character interlocutor actor who creator speakerrole speakertype
            speakerlabel authortype authorrole sendertype senderrole participanttype
            participantrole participantpurpose usertype userrole actortype party sprecher absender
            verfasser wer rolle von locuteur auteur expediteur expéditeur hablante autor remitente
            parlante mittente falante remetente spreker afzender poster posterid direction
            messagedirection ownerdisplayname owneruserid persondisplayname personemail by
        """,
        "text": """
            text utterance content message value utterancetext messagetext bodytext textbody pagetext
            plainbody body messagebody messagecontent commentcontent contenttext textcontent plaintext
            fulltext tweettext tweet commentbody commenttext comment posttext post raw msg transcript
            transcription sentence nachricht mensaje messaggio mensagem parts chattranscript
            calltranscript conversationtranscript mes said strcontent selftext chosen
        """,
        "turns": """
            turns messages conversations conversation dialogue dialog utterances log posts
            comments threads chatmessages messagelist contents transcript phrases utt utts
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
            parentmessageid parentcommentid commentparent parentpostid parent
        """,
        "time": """
            timestamp time datetime createdat createdutc createdtime createddate creationdate
            created createtime sentat senttime sent postedat posted messagetime messagedate
            messagetimestamp timestampms timestampseconds createdatms eventtime unixtime date
            dateunixtime ts zeit zeitstempel datum fecha datecreated datetimecreated timecreated
            createdon syscreatedon createddatetime createdtimestamp creationtime datesent timesent senton
            sentdate sentdatetime senttimestamp dateposted timeposted postedon posteddate posttime
            postdate messagecreatedat messagecreated messagesentat partcreatedat commentcreatedat
            commentcreated commentcreateddate commentcreatedtimestamp commentdate commenttime
            commenttimestamp datereceived timereceived received receivedat receivedon receiveddate
            receivedtime eventtimestamp eventdate loggedat logtime msgtime msgdate msgtimestamp
            chattime chatdate chattimestamp unixtimestamp epoch epochtime epochms utctime utcdate
            utctimestamp timeutc dateutc timestamputc dateline absolutetime originalarrivaltime
            originserverts starttimems beginoffsetmillis senddate localtime uhrzeit hora heure when sequence
            sequencenumber sequenceno sequenceid sequenceindex sequenceidx seq seqno seqnum seqid
            messageno messagenum messagenumber messageorder messageseq messagesequence msgno msgnum
            msgnumber msgorder msgseq utteranceorder uttorder lineno linenumber idx position
        """,
        # Columns that say whether a comment on a ticket is an internal note.
        "internal": """
            internal isinternal private isprivate internalnote isinternalnote privatenote
            isprivatenote isnote jsdpublic public ispublic commentpublic commentispublic publiccomment
            parttype notetype commenttype visibility commentvisibility notiztyp kommentartyp
            kommentarart sichtbarkeit typedenote typedecommentaire visibilité tipodenota
            tipodecomentario visibilidad tipodecomentário visibilidade tipodinota tipodicommento
            visibilità notitietype zichtbaarheid element messagetype type
        """,
    }.items()
}
"""The names of each field in exports, in order of preference; ``field_names.tsv`` contains those in other
languages.

Case, spaces, punctuation and brackets with their content are ignored when names are compared: ``createdat``
matches ``created_at``, ``createdAt`` and ``Created at (UTC)``.

``id``, ``reply_to`` and ``time`` are used for the rows of a table: the id of a row, the id of the row that it
answers, and the time of the message. A ``time`` may be any number that increases. ``internal`` marks internal
notes, which are left out.
"""

UTTERANCE_FIELDS = ("dialogue", "turn", "speaker", "text", "split", "amr")
"""The fields that become parts of an utterance. All other columns of a row are kept as attributes."""

NOTE_KINDS = frozenset({
    "parttype", "notetype", "commenttype", "visibility", "commentvisibility", "notiztyp",
    "kommentartyp", "kommentarart", "sichtbarkeit", "typedenote", "typedecommentaire", "visibilité",
    "tipodenota", "tipodecomentario", "visibilidad", "tipodecomentário", "visibilidade",
    "tipodinota", "tipodicommento", "visibilità", "notitietype", "zichtbaarheid", "messagetype",
    "element", "type",
})  # fmt: skip
"""Names of the field ``internal`` whose values are kinds of messages, such as ``note``, and not yes or no."""
AMBIGUOUS_NOTES = frozenset({"element", "messagetype", "type"})
"""Names of the field ``internal`` that often mean something else, for example the kind of speaker."""

_DATES = (
    "date", "datum", "fecha", "createddate", "sentdate", "messagedate", "msgdate", "chatdate",
    *_foreign_names()["date"],
)  # fmt: skip
_CLOCKS = (
    "time", "uhrzeit", "zeit", "hora", "heure", "createdtime", "senttime", "messagetime", "msgtime",
    "chattime", *_foreign_names()["clock"],
)  # fmt: skip
"""Names of the field ``time`` for a file in which a time is divided between two columns: `_DATES` for the
date, and `_CLOCKS` for the time of day."""
_CLOCK = re.compile(r"\s*[0-9]{1,2}[:.][0-9]{2}(?![.0-9])")
_DATED = re.compile(r"[0-9]")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_NUMBERED = re.compile(r"(.*[^\W\d_])[\W_]*[0-9]{1,3}")

_EXCHANGE = (
    frozenset({
        "usermessage", "userinput", "userutterance", "userquery", "userprompt", "userquestion", "usertext",
        "user", "human", "customermessage", "clientmessage", "visitormessage", "question", "query", "prompt",
        "input", "request", "customer", "client", "visitor", "caller", "instruction",
    }),
    frozenset({
        "botmessage", "botresponse", "botreply", "botanswer", "botutterance", "bottext", "bot",
        "assistantmessage", "assistantresponse", "assistantreply", "assistant", "airesponse", "aimessage",
        "modelresponse", "llmresponse", "agentmessage", "agentresponse", "agentreply", "systemresponse",
        "response", "answer", "reply", "output", "completion", "agent", "operator", "representative",
    }),
)  # fmt: skip
"""Names of columns that contain both messages of an exchange, in tables with one row for each exchange."""

PAIR_HINT = (
    "its keys {0!r} and {1!r} look like two messages: write them as the messages of a dialogue, "
    '{{"messages": [{{"role": "user", "content": ...}}, {{"role": "assistant", "content": ...}}]}}'
)
"""A hint for objects with a question and an answer, with places for their two keys."""

_NEVER_TURNS = ("turns", "internal")
"""Fields whose keys `Fields.unused` reports as unused although their names are known. For example, in a table
row, ``posts`` may be a count, and ``type`` may be the speaker."""


class Fields:
    """Finds out which key or column of the input contains each field, such as the text or the speaker.

    Keys that the user named take precedence.

    Args:
        said: The keys that the user named, keyed by field. An empty string means that no key contains the
            field.
        empty: Keys that contain no field, because they are empty in all rows of a file.

    Raises:
        InputError: The user named a field that does not exist.
    """

    def __init__(self, said: Mapping[str, str], empty: Collection[str] = ()) -> None:
        for field in said:
            if field not in NAMES:
                raise InputError(
                    f"--map {field}={said[field]}: unknown field {field!r}; choose one of {listed(NAMES)}"
                )
        self.named_by_user = dict(said)
        self._empty = frozenset(empty)
        self._known: dict[tuple[str, ...], dict[str, str]] = {}
        self._notes: dict[tuple[str, ...], list[str]] = {}
        self._clocks: dict[tuple[str, ...], tuple[str | None, str | None]] = {}

    def without(self, keys: Collection[str]) -> Fields:
        """Return a copy of this look-up that ignores some keys.

        Args:
            keys: The keys that are empty in all rows of a file.

        Returns:
            The copy.
        """
        return Fields(self.named_by_user, self._empty.union(keys))

    def with_named(self, field: str, key: str) -> Fields:
        """Return a copy of this look-up, as if the user had also named a key with ``--map FIELD=KEY``.

        Args:
            field: The field.
            key: The key; empty if no key contains the field.

        Returns:
            The copy.
        """
        return Fields({**self.named_by_user, field: key}, self._empty)

    def of(self, keys: Iterable[str]) -> Mapping[str, str]:
        """Find the key that contains each field, such as the key ``utterance`` for the field ``text``.

        Args:
            keys: The keys of an entry, or the columns of a table.

        Returns:
            A mapping from each field to the key that contains it. Fields without a key are left out.
        """
        keys = tuple(keys)
        if keys not in self._known:
            # Limit the cache: each object of a JSON file may have different keys.
            if len(self._known) > 1000:
                self._known.clear()
            self._known[keys] = dict(self._found(keys))
        return self._known[keys]

    def _found(self, keys: Sequence[str]) -> Iterator[tuple[str, str]]:
        # With --map text=dialogue, the column "dialogue" contains the text. So do not read it as a column
        # with ids of dialogues.
        passed = {self.named_by_user.get("text"), *self._empty}
        plain = plain_names(key for key in keys if key not in passed)
        for field, names in NAMES.items():
            if field in self.named_by_user:
                # With an empty name, as in --map speaker=, no column contains the field.
                if self.named_by_user[field] in keys:
                    yield field, self.named_by_user[field]
            elif (name := next((name for name in names if name in plain), None)) is not None:
                yield field, plain[name]

    def internal_note_keys(self, keys: Iterable[str]) -> Sequence[str]:
        """Return all keys whose values may say whether a message is an internal note.

        Args:
            keys: The keys of an entry, or the columns of a table.

        Returns:
            The key that the user named. If there is none: each key with a known name, in order of preference,
            and each unused key for which `header_class` finds a class.
        """
        keys = tuple(keys)
        if keys not in self._notes:
            if len(self._notes) > 1000:
                self._notes.clear()
            plain = plain_names(keys)
            named = self.named_by_user.get("internal")
            found = [plain[name] for name in NAMES["internal"] if name in plain]
            used = set(self.of(keys).values())
            found += [key for key in keys if key not in used and key not in found and header_class(key)]
            self._notes[keys] = [key for key in keys if key == named] if named else found
        return self._notes[keys]

    def turns_of(self, value: Value) -> str | None:
        """Return the key that contains the turns of a dialogue.

        Args:
            value: The dialogue, as a JSON object.

        Returns:
            The key that the user named, or else ``turns``, or else the first known key whose value is a list
            or an object of lists of equal length; None if there is no such key.
        """
        if "turns" in self.named_by_user:
            return self.named_by_user["turns"] if self.named_by_user["turns"] in value else None
        if "turns" in value:
            return "turns"
        plain = plain_names(value)
        # Check that the value is a list: in many exports, "conversation" is an id and "messages" a count.
        names = (plain[name] for name in NAMES["turns"] if name in plain)
        return next((key for key in names if self._is_turns(value[key])), None)

    def _is_turns(self, value: Any) -> bool:
        if not isinstance(value, list):
            columns = columns_of(value)
            # An object of lists is a table by column only if the lists contain no objects. So exclude
            # TikTok's {"CommentsList": [{"date": ..., "comment": "Nice."}]}.
            if columns is None or "text" in self.of(columns):
                return columns is not None
            first = [column[0] for column in columns.values() if column]
            return bool(first) and not any(isinstance(one, dict) for one in first)
        # In {"conversations": [{"id": 7, "messages": [...]}, ...]}, the list contains dialogues, so
        # "conversations" is not the key of the turns.
        first = cast("list[Any]", value)[:1]
        return not any(has_turns(one, self) for one in first)

    def question_and_answer_columns(self, keys: Iterable[str]) -> tuple[str, str] | None:
        """Return the columns of a table whose rows contain two messages each: a question and an answer.

        Args:
            keys: The columns of a table.

        Returns:
            The columns of the first and of the second message; None if the rows contain one message each.
        """
        plain, text = plain_names(keys), self.of(keys).get("text")
        first, second = (next((plain[name] for name in plain if name in names), None) for names in _EXCHANGE)
        if first is None or second is None:
            return None
        # If the table also has a column such as "text", this column contains the message, and "user" may be a
        # name.
        return (first, second) if text in (None, first, second) else None

    def numbered_turn_columns(self, keys: Iterable[str]) -> list[str]:
        """Return the columns of a table that contain one turn each, such as ``utterance_1``, ``utterance_2``.

        Args:
            keys: The columns of a table.

        Returns:
            The columns; an empty list if fewer than three columns have the same name and different numbers.
        """
        stems: dict[str, list[str]] = {}
        names = {*NAMES["text"], *NAMES["turns"], *NAMES["turn"]}
        for key in keys:
            if (numbered := _NUMBERED.fullmatch(key)) and _plain(numbered[1]) in names:
                stems.setdefault(numbered[1], []).append(key)
        return next((some for some in stems.values() if len(some) > 2), [])

    def text_keys(self, value: Value) -> list[str]:
        """Return the keys whose values may be the text of a message or a whole transcript.

        Args:
            value: An entry of a file.

        Returns:
            The keys that the user named for the text or the turns. If there are none: the key of the text,
            and keys with a known name for turns, such as ``conversation``.
        """
        named = {self.named_by_user[field] for field in ("text", "turns") if field in self.named_by_user}
        if named:
            # With --map text=message.content, "message" may be a JSON text that contains "content".
            return [key for key in value if key in named or any(one.startswith(f"{key}.") for one in named)]
        plain, found = plain_names(value), self.of(value).get("text")
        keys = [found] if found is not None else []
        return [*keys, *(plain[name] for name in NAMES["turns"] if name in plain and plain[name] != found)]

    def time_of(self, cells: Value) -> Any:
        """Return the time of a message, as it is written.

        Args:
            cells: A row of a table, or a turn that is a JSON object.

        Returns:
            The cell of the time column; None if there is no such column. If a table has one column for the
            date and one for the time of day, both cells are joined.
        """
        known = self.of(cells)
        key = known.get("time")
        date, clock = self._date_and_clock(tuple(cells))
        if key is None:
            return None
        if "time" in self.named_by_user:
            # With --map time=Klok, the cells contain only a time of day, "10:37". The date is in the column
            # "Datum".
            clock = key if key != date else None
        if key not in (date, clock) or date is None or clock is None:
            return cells[key]
        # A column "data" contains the date in an Italian table, but may contain the text in an English table.
        # So check that its cell is a date.
        if date == known.get("text") or not _DATED.search(str(cells[date])):
            return cells[key]
        # Join a column "date" and a column "time" only if "time" contains just the time of day. It may also
        # contain the whole timestamp.
        is_apart = _CLOCK.match(str(cells[clock])) is not None and ":" not in str(cells[date])
        return f"{cells[date]} {cells[clock]}" if cells[date] and is_apart else cells[key]

    def _date_and_clock(self, keys: tuple[str, ...]) -> tuple[str | None, str | None]:
        """Return the columns for the date and for the time of day, each None if there is no such column."""
        if keys not in self._clocks:
            if len(self._clocks) > 1000:
                self._clocks.clear()
            plain = plain_names(keys)
            date, clock = (
                next((plain[name] for name in names if name in plain), None) for names in (_DATES, _CLOCKS)
            )
            self._clocks[keys] = date, clock
        return self._clocks[keys]

    def speaker_id_key(self, keys: Iterable[str]) -> str | None:
        """Return the key of the speaker's id, if a different key contains the speaker's name.

        >>> Fields({}).speaker_id_key(["author_id", "author_name", "text"])
        'author_id'

        Args:
            keys: The keys of an entry, or the columns of a table.

        Returns:
            The key of the id; None if no key contains an id.
        """
        plain, speaker = plain_names(keys), self.of(keys).get("speaker")
        if speaker is None:
            return None
        # If the speaker's name is in the column "author" or "author_name", the speaker's id is in the column
        # "author_id". Another id column may belong to another person.
        [own] = plain_names([speaker]) or [""]
        stem = re.sub(r"(?:display|nick|screen|full)?name$", "", own)
        found = plain.get(f"{stem}id") if stem else None
        return found if found != speaker else None

    def renamed(self, found: Mapping[str, str]) -> str:
        """Describe which keys were read as which fields, for a notice.

        Args:
            found: The key that was found for each field.

        Returns:
            A text such as ``text=message, speaker=author``. It lists the fields whose keys differ from
            graphneg's own names and were not named by the user.
        """
        told = (
            (field, key) for field, key in found.items() if field not in self.named_by_user and key != field
        )
        return ", ".join(f"{field}={key}" for field, key in told)

    def unused(self, keys: Iterable[str]) -> list[str]:
        """Return the keys that contain no known field.

        Args:
            keys: The keys of an entry, or the columns of a table.

        Returns:
            The keys without a field, in the order of ``keys``.
        """
        keys = list(keys)
        used = {key for field, key in self.of(keys).items() if field not in _NEVER_TURNS}
        return [key for key in keys if key and key not in used]


@cache
def note_words(name: str) -> frozenset[str]:
    """Return the words of a class in ``note_words.tsv``, such as ``negation``, without accents.

    Args:
        name: The name of the class.

    Returns:
        The words.
    """
    classes = unique_rows(table_rows("graphneg.ingest", "note_words.tsv"), "note_words.tsv")
    return words_of(classes[name])


def words_of(text: str) -> frozenset[str]:
    """Return the words of a column name or of a cell, in lower case and without accents.

    >>> sorted(words_of("IsPublished")), sorted(words_of("Öffentlich?"))
    (['is', 'published'], ['offentlich'])

    Args:
        text: The name or the cell.

    Returns:
        The words.
    """
    apart = re.sub(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])", " ", text)
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", apart) if not unicodedata.combining(sign))
    return frozenset(re.sub(r"[\W_]+", " ", plain).casefold().split())


@lru_cache(1000)
def header_class(key: str) -> str:
    """Return what the value "yes" means in a column, judging by the words of the column's name.

    >>> [header_class(key) for key in ("Interne Notiz", "IsPublished", "private phone")]
    ['note', 'public', '']

    Args:
        key: The name of the column.

    Returns:
        ``note`` or ``public``; empty if the name has other words, which may change its meaning.
    """
    words = words_of(key)
    rest = words - note_words("note-noun") - note_words("header")
    for name in ("note", "public"):
        if rest and rest <= note_words(f"{name}-header"):
            return name
    return ""


def plain_names(keys: Iterable[str]) -> dict[str, str]:
    """Map plain names, which have no upper case, spaces or punctuation, to the original keys.

    >>> plain_names(["Author Type", "author_type"])
    {'authortype': 'Author Type'}
    >>> plain_names(["Sent (UTC)"])
    {'sentutc': 'Sent (UTC)', 'sent': 'Sent (UTC)'}

    Args:
        keys: The keys. If two of them have the same plain name, the first one is used.

    Returns:
        A mapping from each plain name to its key. A key with brackets has a second plain name without the
        content of the brackets, unless another key has this name.
    """
    keys = list(keys)
    plain: dict[str, str] = {}
    for key in keys:
        # For example, "Author Type", "author_type" and "authorType" all become "authortype".
        plain.setdefault(_plain(key), key)
    for key in keys:
        # "Created at (UTC)" becomes "createdat".
        if (bare := _BRACKETS.sub("", key)) != key and (name := _plain(bare)):
            plain.setdefault(name, key)
    return plain


def _plain(key: str) -> str:
    return re.sub(r"[\W_]+", "", key).casefold()


def columns_of(value: Any) -> dict[str, list[Any]] | None:
    """Return the columns of a list of objects that is stored by column.

    ``{"text": ["Hi.", "Ho."], "speaker": ["A", "B"]}`` stores two turns. The library ``datasets`` returns
    lists of objects in this form.

    Args:
        value: Any decoded JSON value.

    Returns:
        A mapping from each key to its list; None if the value is not an object of lists of equal length.
    """
    if not isinstance(value, dict) or not value:
        return None
    columns = cast("dict[str, Any]", value)
    lengths = {len(column) if isinstance(column, list) else -1 for column in columns.values()}
    # Accept only columns of equal length. Otherwise, the values at an index would belong to different turns.
    return columns if len(lengths) == 1 and -1 not in lengths else None


def is_utterance(value: Any, fields: Fields) -> bool:
    """Return whether an entry is a single utterance and not a whole dialogue.

    Args:
        value: An entry of a file.
        fields: Look-up from a field, such as the text, to the key or column that contains it.

    Returns:
        True for a string, and for an object that has a text but no turns.
    """
    if isinstance(value, str):
        return True
    if not isinstance(value, dict) or has_turns(cast("Value", value), fields):
        return False
    found = fields.of(cast("Value", value))
    # A known key is not enough: in {"message": {"content": "Hi."}}, the value of "message" is an object and
    # not a text.
    return "text" in found and is_content(value[found["text"]])


def is_content(value: Any) -> bool:
    """Return whether a value may be the text of a message, or the list of its parts.

    >>> [is_content(value) for value in ("Hi.", [{"type": "text", "text": "Hi."}], [{"id": 7}], {"id": 7})]
    [True, True, False, False]

    Args:
        value: The value of a key that may contain a text.

    Returns:
        False for objects, and for lists of objects that are no parts of a text.
    """
    if isinstance(value, dict):
        return unwrapped(cast("Value", value)) is not None
    if not isinstance(value, list):
        return True
    objects = [cast("Value", part) for part in cast("list[Any]", value) if isinstance(part, dict)]
    return all(map(is_part, objects))


def has_turns(value: Any, fields: Fields) -> bool:
    """Return whether an entry is an object that contains the turns of a dialogue.

    Args:
        value: An entry of a file.
        fields: Look-up from a field, such as the text, to the key or column that contains it.

    Returns:
        True if `Fields.turns_of` finds the key of the turns, or if the entry has one of the shapes of
        `graphneg.ingest.exports`.
    """
    if not isinstance(value, dict):
        return False
    if "turns" not in fields.named_by_user and is_export(value):
        return True
    return fields.turns_of(cast("Value", value)) is not None


def is_threaded(found: Mapping[str, str], fields: Fields) -> bool:
    """Return whether rows are grouped into dialogues by their replies, because no column names the dialogue.

    Args:
        found: Mapping from each field to the key that contains it.
        fields: Look-up from a field, such as the text, to its key. It also tells which keys the user named.

    Returns:
        True if three conditions are met: there is no dialogue column; the user did not say that all rows are
        one dialogue; and there are columns for the id of a row and for the id of the row that it answers.
    """
    return (
        "dialogue" not in found
        and fields.named_by_user.get("dialogue") != ""
        and {"id", "reply_to"} <= found.keys()
    )


def are_message_trees(found: Mapping[str, str]) -> bool:
    """Return whether the rows are the messages of trees in OpenAssistant's format.

    Args:
        found: The key that contains each field.

    Returns:
        True if the dialogue column is ``message_tree_id``, and rows name the rows that they answer.
    """
    return "messagetreeid" in plain_names([found.get("dialogue", "")]) and {"id", "reply_to"} <= found.keys()


def listed(names: Iterable[str]) -> str:
    """Return names separated by commas, for a message.

    Args:
        names: The names to list.

    Returns:
        The names, joined by commas.
    """
    return ", ".join(names)

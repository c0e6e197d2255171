"""Texts in tokens, words and sentences, and the forms that texts are written and compared in.

``tokenize`` works on raw text (``I don't know, sir.``) and on tokenised text (``I do n't know , sir .``)
alike: both give the same token texts, with the character offsets of their own text.

DailyDialog writes ``I ’ ll come , then .`` A model that reads this writes worse, and learns to write it. So
models see texts closed up; what they write gets the corpus' spaces back, or a ranker could tell it by them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from unicodedata import normalize

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
"""A word of letters, its clitics with it: ``don't`` is one."""
_NON_SPACE = re.compile(r"\S*\w\S*")
_ANY_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_TOKEN = re.compile(
    r"""
      (?:https?://|www\.)\S+
    | [\w.+-]+@[\w-]+\.[\w.]+\w
    | n['’]t\b
    | ['’](?:s|m|re|ll|ve|d)\b
    | (?:[^\W\d_]\.){2,}
    | (?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc)\.
    | \.{2,} | -{2,}
    | \d+(?:[.,:/]\d+)*(?:st|nd|rd|th|am|pm)?(?:-[^\W\d_]+)*
    | [^\W\d_][\w]*(?:['’][^\W\d_]+)*(?:-\w+(?:['’][^\W\d_]+)*)*
    | \w+
    | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CLITIC = re.compile(r"(?P<stem>.+?)(?P<clitic>n['’]t|['’](?:s|m|re|ll|ve|d))$", re.IGNORECASE)
_CANNOT = re.compile(r"(can)(not)$", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z])")
_NO_END = re.compile(r"(?:^|\W)(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|No|U\.S|a\.m|p\.m|[A-Z])\.$")
_DOTS = re.compile(r"\.+")
_SURE_ENDS = frozenset("!?…。！？")
_CLOSING = frozenset("”’)]»")
_QUOTE = '"'
_CLITIC_APART = re.compile(r"(?<=\w) ?(['’]) ?(?=(?:s|t|m|d|re|ve|ll|S|T|M|D|Re|Ve|Ll)\b)")
_LOOSE_CLITIC = re.compile(
    r"\b([^\W\d_]+) ?(['’´`]) (s|t|m|d|re|ve|ll)\b|\b([^\W\d_]+)([´`])(s|t|m|d|re|ve|ll)\b", re.IGNORECASE
)
_APOSTROPHE = "'"
_ANY_APART = re.compile(r"(?<=\w) ?(?:' ?| ')(?=(?:s|m|d|t|ll|re|ve)\b)", re.IGNORECASE)
_NOT_APART = re.compile(r"(?<=\w) n ?' ?t\b", re.IGNORECASE)
_INSIDE_QUOTES = re.compile(r'(?<!\w)" ([^"]*[^"\s]) "(?!\w)')
_BOTH_APART = re.compile(r"(?<=\w) (['’]) (s|m|re|ll|ve|d|t)\b", re.IGNORECASE)
_NOT = re.compile(r" ?n(['’])t\b", re.IGNORECASE)
_JOINED = re.compile(r" ?(['’])(s|m|re|ll|ve|d)\b", re.IGNORECASE)
_BEFORE_MARK = re.compile(r"\s+(?=[,.!?;:)%…])(?![:;]-?[()DP](?:\s|$))")
_BEHIND_MARK = re.compile(r"[?!,;](?=[A-Za-z])|(?<=[a-z]{2})\.(?=[A-Z])")
_CUT_UP = re.compile(r"\w [,.?!;:](?=\s|$)|\w ['’] ?(?:s|m|d|t|ll|re|ve)\b|\w n['’] ?t\b|``", re.IGNORECASE)
_IN_NUMBER = re.compile(r"(?<=\d) ?([:,]) ?(?=\d\d)")
_QUOTES = str.maketrans({"‘": "'", "’": "'", "´": "'", "`": "'", "“": '"', "”": '"'})
_PLAIN_MARKS = _QUOTES | str.maketrans({"–": "-", "—": "-", "…": "..."})
_BESIDE_MARK = re.compile(r" ?([^\w\s]) ?")
_NOT_BEHIND_BLANK = re.compile(r"(?<=\w) n't\b")
_CAN_NOT = re.compile(r"\bcan not\b")
_MARK = re.compile(r"\s*([,.!?;:]+)(?=\s|$)")
_HALF = 0.5


class TextSpan(NamedTuple):
    """A token and where it stands: ``text == source[start:end]``."""

    text: str
    start: int
    end: int


class SentenceSpan(NamedTuple):
    """A sentence and the number of its first token in the whole text."""

    text: str
    first_token: int


def tokenize(text: str) -> tuple[TextSpan, ...]:
    """The tokens of a text, contractions split.

    >>> [token.text for token in tokenize("I can't, sir.")]
    ['I', 'ca', "n't", ',', 'sir', '.']
    """
    tokens: list[TextSpan] = []
    for match in _TOKEN.finditer(text):
        tokens.extend(_without_clitics(match.group(), match.start()))
    return tuple(tokens)


def _without_clitics(word: str, start: int) -> list[TextSpan]:
    """Cuts clitics off the end of a word: ``shouldn't've`` has two."""
    parts: list[TextSpan] = []
    end = start + len(word)
    while match := _CLITIC.match(word) or _CANNOT.match(word):
        stem, clitic = match.groups()
        parts.append(TextSpan(clitic, end - len(clitic), end))
        word, end = stem, end - len(clitic)
    parts.append(TextSpan(word, start, end))
    return parts[::-1]


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, numbers and what hyphens join among them; marks are left out.

    >>> words_of("Don't, she said.")
    ["don't", 'she', 'said']
    """
    return _ANY_WORD.findall(text.lower())


def word_count(text: str) -> int:
    """How many words, numbers among them, stand in the text, as spaces part them.

    >>> word_count("At 8 o'clock - sharp!")
    4
    """
    return len(_NON_SPACE.findall(text))


def sentences(text: str) -> Iterator[str]:
    """The sentences of written text, white space made single; a short form does not end one.

    >>> list(sentences("Mr. Ode left.  Did he  say why?"))
    ['Mr. Ode left.', 'Did he say why?']
    """
    held = ""
    for part in _END.split(one_line(text)):
        held = f"{held} {part}" if held else part
        if held and not _NO_END.search(held):
            yield held
            held = ""
    if held:
        yield held


def typed_sentences(text: str) -> list[SentenceSpan]:
    """The sentences of text as people type it, where capitals tell little; its tokens are theirs, in order.

    Dots, and marks inside quotes, end a sentence only where the next word does not begin small.

    >>> [sentence.text for sentence in typed_sentences("Mr. Wu left... why? i asked him .")]
    ['Mr. Wu left... why?', 'i asked him .']
    """
    tokens = tokenize(text)
    parts: list[SentenceSpan] = []
    first = 0
    sure = ended = quoting = False
    for number, token in enumerate(tokens):
        if token.text == _QUOTE:
            quoting = not quoting
        closes = token.text in _CLOSING or (token.text == _QUOTE and not quoting)
        sure = token.text in _SURE_ENDS
        ended = sure or bool(_DOTS.fullmatch(token.text)) or (ended and closes)
        after = tokens[number + 1].text if number + 1 < len(tokens) else None
        if after is None or (ended and _begins(after, quoting) and (sure or not after[0].islower())):
            parts.append(SentenceSpan(text[tokens[first].start : token.end], first))
            first, ended = number + 1, False
    return parts


def _begins(token: str, quoting: bool) -> bool:
    """Whether a token may begin a sentence: no end mark, and nothing that closes one."""
    closes = token in _CLOSING or (token == _QUOTE and quoting)
    return not (closes or token in _SURE_ENDS or _DOTS.fullmatch(token))


def one_line(text: str) -> str:
    """The text on one line, each run of white space one space.

    >>> one_line(" Oh,  really? ")
    'Oh, really?'
    """
    return " ".join(text.split())


def match_key(text: str) -> str:
    """Return the normal form in which texts are compared.

    Two writings of the same words have the same normal form: case, white space, the shape of quotation marks,
    dashes and ellipses, and the blanks that a tokeniser puts beside punctuation and inside contractions do
    not count. Words, their order and the marks themselves do.

    >>> match_key(" I  don ’ t KNOW , sir ! "), match_key("I do n't know, sir!")
    ("i don't know,sir!", "i don't know,sir!")
    """
    plain = normalize("NFC", normalize("NFC", text).casefold()).translate(_PLAIN_MARKS)
    tight = _BESIDE_MARK.sub(r"\1", one_line(plain)).replace("''", '"')
    return normalize("NFC", _CAN_NOT.sub("cannot", _NOT_BEHIND_BLANK.sub("n't", tight)))


def with_clitics(text: str) -> str:
    """The text, its clitics joined to their words where some program cut them off.

    >>> with_clitics("I ' m sure they don ’ t.")
    "I'm sure they don’t."
    """
    return _CLITIC_APART.sub(r"\1", text) if "'" in text or "’" in text else text


def closed_up(text: str) -> str:
    """A text as people write: on one line, clitics at their words, marks where they belong, plain quotation
    marks. It mends texts that were cut into tokens, wholly or here and there, and is its own mended form.

    >>> closed_up("I ’ ll come , then .Is it far ?")
    "I'll come, then. Is it far?"
    >>> closed_up("They do n't know ( yet ) , but `` it 's Ann ' s '' .")
    'They don\\'t know (yet), but "it\\'s Ann\\'s".'
    """
    plain = one_line(text).translate(_QUOTES).replace("``", '"').replace("''", '"')
    joined = _ANY_APART.sub("'", _NOT_APART.sub("n't", plain))
    joined = _BEFORE_MARK.sub("", _INSIDE_QUOTES.sub(r'"\1"', joined))
    joined = _IN_NUMBER.sub(r"\1", joined.replace("( ", "(").replace("$ ", "$"))
    return _BEHIND_MARK.sub(r"\g<0> ", joined)


def is_cut_up(text: str) -> bool:
    """Whether a text has blanks that tokenisers leave and people hardly write: `closed_up` mends them.

    >>> is_cut_up("It ’ s late ."), is_cut_up("It's late :)")
    (True, False)
    """
    return _CUT_UP.search(text) is not None


def spaced_as(text: str, others: Sequence[str]) -> str:
    """The text with a space before its marks where most of the other texts have one.

    >>> spaced_as("Yes, it is.", ["Is it far , then ?", "No ."])
    'Yes , it is .'
    >>> spaced_as("Yes, it is.", ["Is it far, then?"])
    'Yes, it is.'
    """
    marks = [match for other in others for match in _MARK.finditer(other)]
    apart = sum(match.group(0)[0].isspace() for match in marks)
    return text if apart <= _HALF * len(marks) else _MARK.sub(r" \1", text)


def with_closed_clitics(text: str) -> tuple[str, dict[str, str]]:
    """Join the clitics of a text that stand apart here and there, and tell how each was written.

    >>> with_closed_clitics("Here' s the money. It's late, don ’ t go.")
    ("Here's the money. It's late, don’t go.", {"Here's": "Here' s", 'don’t': 'don ’ t'})

    Args:
        text: A text as people write it.

    Returns:
        The text with clitics at their words, and the original forms by the joined ones.
    """
    written: dict[str, str] = {}

    def close(match: re.Match[str]) -> str:
        word, mark, clitic = (part for part in match.groups() if part is not None)
        closed = f"{word}{'’' if mark == '’' else _APOSTROPHE}{clitic}"
        if closed != match.group():
            written[closed] = match.group()
        return closed

    return _LOOSE_CLITIC.sub(close, text), written


def stands_apart(text: str) -> bool:
    """Whether the apostrophes of all contractions stand apart on both sides: ``It ’ s late``.

    >>> stands_apart("It ’ s late ."), stands_apart("It's late.")
    (True, False)
    """
    return _BOTH_APART.search(text) is not None and taken_apart(joined(text)) == text


def joined(text: str) -> str:
    """A text whose apostrophes stand apart on both sides, with them joined.

    >>> joined("It ’ s late , I don ’ t know .")
    'It’s late , I don’t know .'
    """
    return _BOTH_APART.sub(r"\1\2", text)


def taken_apart(text: str, like: str = "") -> str:
    """The text with the apostrophes of its contractions apart, all of them as in the text ``like``.

    >>> taken_apart("It’s late , I do n’t know .")
    'It ’ s late , I don ’ t know .'
    >>> taken_apart("You're late .", like="I ’ m late .")
    'You ’ re late .'
    """
    match = _BOTH_APART.search(like)
    mark = match.group(1) if match is not None else r"\1"
    return _JOINED.sub(rf" {mark} \2", _NOT.sub(rf"n {mark} t", text))

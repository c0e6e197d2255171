"""Split texts into tokens, words and sentences, and normalise how they are written.

`tokenize` accepts raw text (``I don't know, sir.``) and tokenised text (``I do n't know , sir .``). Both give
the same token texts, with character offsets into their own text.

Corpora differ in spacing: DailyDialog writes ``I ’ ll come , then .`` A language model that reads such text
writes worse, and learns to write that way. So models get text in the usual spacing (`closed_up`), and their
output gets the spacing of the corpus back (`spaced_as`, `taken_apart`). Otherwise a ranker could recognise
generated replies by their spaces.

>>> [token.text for token in tokenize("I don't know, sir.")]
['I', 'do', "n't", 'know', ',', 'sir', '.']
>>> closed_up("I ’ ll come , then .")
"I'll come, then."
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from unicodedata import normalize

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
"""A word of letters with its clitics: ``don't`` is one word."""
_NON_SPACE = re.compile(r"\S*\w\S*")
_ANY_WORD = re.compile(r"\w+(?:['’-]\w+)*")
# Alternatives in order: URLs, e-mail addresses, "n't", other clitics, acronyms ("U.S."), abbreviations, runs
# of dots and dashes, numbers with ordinals, units and compounds ("3:30pm", "10-year"), words with clitics and
# hyphens, other word characters, single marks.
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
# As in the Penn Treebank: "cannot" is two tokens, "can" and "not".
_CANNOT = re.compile(r"(can)(not)$", re.IGNORECASE)
# A sentence ends after an end mark and closing quotes, if the next word has a capital.
_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z])")
# Abbreviations and initials ("J. Smith") end with a dot but no sentence ends there.
_NO_END = re.compile(r"(?:^|\W)(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|No|U\.S|a\.m|p\.m|[A-Z])\.$")
_DOTS = re.compile(r"\.+")
_SURE_ENDS = frozenset("!?…。！？")
_CLOSING = frozenset("”’)]»")
_QUOTE = '"'
# The patterns below differ in how much they take for a split clitic. This one also closes "I' m" and "I 'm",
# in lower case or with an initial capital, as title-cased corpora have it.
_CLITIC_APART = re.compile(r"(?<=\w) ?(['’]) ?(?=(?:s|t|m|d|re|ve|ll|S|T|M|D|Re|Ve|Ll)\b)")
_LOOSE_CLITIC = re.compile(
    r"\b([^\W\d_]+) ?(['’´`]) (s|t|m|d|re|ve|ll)\b|\b([^\W\d_]+)([´`])(s|t|m|d|re|ve|ll)\b", re.IGNORECASE
)
_APOSTROPHE = "'"
_ANY_APART = re.compile(r"(?<=\w) ?(?:' ?| ')(?=(?:s|m|d|t|ll|re|ve)\b)", re.IGNORECASE)
_NOT_APART = re.compile(r"(?<=\w) n ?' ?t\b", re.IGNORECASE)
# Spaces inside a pair of double quotes: '" hello "'. Quotes next to letters are left alone, since they may be
# unpaired.
_INSIDE_QUOTES = re.compile(r'(?<!\w)" ([^"]*[^"\s]) "(?!\w)')
_BOTH_APART = re.compile(r"(?<=\w) (['’]) (s|m|re|ll|ve|d|t)\b", re.IGNORECASE)
_NOT = re.compile(r" ?n(['’])t\b", re.IGNORECASE)
_JOINED = re.compile(r" ?(['’])(s|m|re|ll|ve|d)\b", re.IGNORECASE)
# Spaces before a mark are dropped, except before emoticons such as " :)" and " :-(".
_BEFORE_MARK = re.compile(r"\s+(?=[,.!?;:)%…])(?![:;]-?[()DP](?:\s|$))")
# A space is added behind a mark that is glued to the next word: "then .Is it". For a full stop this needs two
# small letters before it and a capital behind it, so that "U.S." and "e.g." stay.
_BEHIND_MARK = re.compile(r"[?!,;](?=[A-Za-z])|(?<=[a-z]{2})\.(?=[A-Z])")
_CUT_UP = re.compile(r"\w [,.?!;:](?=\s|$)|\w ['’] ?(?:s|m|d|t|ll|re|ve)\b|\w n['’] ?t\b|``", re.IGNORECASE)
# "8 : 30" and "10 , 000" are single numbers.
_IN_NUMBER = re.compile(r"(?<=\d) ?([:,]) ?(?=\d\d)")
_QUOTES = str.maketrans({"‘": "'", "’": "'", "´": "'", "`": "'", "“": '"', "”": '"'})
_PLAIN_MARKS = _QUOTES | str.maketrans({"–": "-", "—": "-", "…": "..."})
_BESIDE_MARK = re.compile(r" ?([^\w\s]) ?")
_NOT_BEHIND_BLANK = re.compile(r"(?<=\w) n't\b")
_CAN_NOT = re.compile(r"\bcan not\b")
_MARK = re.compile(r"\s*([,.!?;:]+)(?=\s|$)")
_HALF = 0.5


class TextSpan(NamedTuple):
    """A token with its place in the source: ``text == source[start:end]``.

    Attributes:
        text: The token's characters.
        start: Offset of the first character.
        end: Offset behind the last character.
    """

    text: str
    start: int
    end: int


class SentenceSpan(NamedTuple):
    """A sentence of a text.

    Attributes:
        text: The sentence as the source writes it.
        first_token: Index of its first token among the tokens of the whole text.
    """

    text: str
    first_token: int


def tokenize(text: str) -> tuple[TextSpan, ...]:
    """Split a text into tokens; contractions are split as in the Penn Treebank.

    >>> [token.text for token in tokenize("I can't, sir.")]
    ['I', 'ca', "n't", ',', 'sir', '.']

    Args:
        text: Raw or tokenised text.

    Returns:
        The tokens in order, with character offsets.
    """
    tokens: list[TextSpan] = []
    for match in _TOKEN.finditer(text):
        tokens.extend(_without_clitics(match.group(), match.start()))
    return tuple(tokens)


def _without_clitics(word: str, start: int) -> list[TextSpan]:
    """Split the clitics off the end of a word: ``shouldn't've`` has two."""
    parts: list[TextSpan] = []
    end = start + len(word)
    while match := _CLITIC.match(word) or _CANNOT.match(word):
        stem, clitic = match.groups()
        parts.append(TextSpan(clitic, end - len(clitic), end))
        word, end = stem, end - len(clitic)
    parts.append(TextSpan(word, start, end))
    return parts[::-1]


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation.

    >>> words_of("Don't, she said.")
    ["don't", 'she', 'said']

    Args:
        text: The text.

    Returns:
        The words; numbers and hyphenated compounds are words, too.
    """
    return _ANY_WORD.findall(text.lower())


def word_count(text: str) -> int:
    """Count the words of a text, as separated by spaces.

    >>> word_count("At 8 o'clock - sharp!")
    4

    Args:
        text: The text.

    Returns:
        The number of space-separated parts that have a letter or digit.
    """
    return len(_NON_SPACE.findall(text))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of edited text, with white space collapsed.

    A sentence ends at a mark before a capital. Abbreviations do not end one.

    >>> list(sentences("Mr. Ode left.  Did he  say why?"))
    ['Mr. Ode left.', 'Did he say why?']

    Args:
        text: Text with standard capitalisation.

    Yields:
        The sentences in order.
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
    """Split a typed text, such as a chat turn, into sentences.

    Capitals are unreliable there. ``!`` and ``?`` always end a sentence. Dots, and marks inside quotes, end
    one only if the next word does not start with a small letter. No token is split, so the tokens of the
    sentences are those of the text.

    >>> [sentence.text for sentence in typed_sentences("Mr. Wu left... why? i asked him .")]
    ['Mr. Wu left... why?', 'i asked him .']

    Args:
        text: Text as typed.

    Returns:
        The sentences in order.
    """
    tokens = tokenize(text)
    parts: list[SentenceSpan] = []
    first = 0
    sure = ended = quoting = False
    for number, token in enumerate(tokens):
        if token.text == _QUOTE:
            quoting = not quoting
        # A closing quote or bracket behind an end mark belongs to the sentence: 'He said "go."'
        closes = token.text in _CLOSING or (token.text == _QUOTE and not quoting)
        sure = token.text in _SURE_ENDS
        ended = sure or bool(_DOTS.fullmatch(token.text)) or (ended and closes)
        after = tokens[number + 1].text if number + 1 < len(tokens) else None
        if after is None or (ended and _begins(after, quoting) and (sure or not after[0].islower())):
            parts.append(SentenceSpan(text[tokens[first].start : token.end], first))
            first, ended = number + 1, False
    return parts


def _begins(token: str, quoting: bool) -> bool:
    """Return whether a token may start a sentence: no end mark, closing quote or bracket."""
    closes = token in _CLOSING or (token == _QUOTE and quoting)
    return not (closes or token in _SURE_ENDS or _DOTS.fullmatch(token))


def one_line(text: str) -> str:
    """Return a text with each run of white space replaced by one space.

    >>> one_line(" Oh,  really? ")
    'Oh, really?'

    Args:
        text: The text.

    Returns:
        The text on one line, without white space at its ends.
    """
    return " ".join(text.split())


def match_key(text: str) -> str:
    """Return the normal form in which texts are compared.

    Two texts with the same words, order and marks have the same normal form. It ignores case, white space,
    the shape of quotation marks, dashes and ellipses, and the spaces of a tokeniser beside punctuation and
    inside contractions.

    >>> match_key(" I  don ’ t KNOW , sir ! "), match_key("I do n't know, sir!")
    ("i don't know,sir!", "i don't know,sir!")

    Args:
        text: Raw or tokenised text.

    Returns:
        The normal form.
    """
    # Case folding can leave decomposed characters, so the text is normalised again.
    plain = normalize("NFC", normalize("NFC", text).casefold()).translate(_PLAIN_MARKS)
    tight = _BESIDE_MARK.sub(r"\1", one_line(plain)).replace("''", '"')
    return normalize("NFC", _CAN_NOT.sub("cannot", _NOT_BEHIND_BLANK.sub("n't", tight)))


def with_clitics(text: str) -> str:
    """Return a text with split clitics joined to their words.

    >>> with_clitics("I ' m sure they don ’ t.")
    "I'm sure they don’t."

    Args:
        text: Raw or tokenised text.

    Returns:
        The text; its apostrophes keep their shape.
    """
    return _CLITIC_APART.sub(r"\1", text) if "'" in text or "’" in text else text


def closed_up(text: str) -> str:
    r"""Return a text in usual spacing: clitics joined, marks after their words, straight quotes, one line.

    Text in usual spacing is left as it is, except for quotes and line breaks, so applying the function twice
    changes nothing more.

    >>> closed_up("I ’ ll come , then .Is it far ?")
    "I'll come, then. Is it far?"
    >>> closed_up("They do n't know ( yet ) , but `` it 's Ann ' s '' .")
    'They don\'t know (yet), but "it\'s Ann\'s".'

    Args:
        text: Tokenised text, wholly or in parts.

    Returns:
        The text as people write it.
    """
    plain = one_line(text).translate(_QUOTES).replace("``", '"').replace("''", '"')
    joined = _ANY_APART.sub("'", _NOT_APART.sub("n't", plain))
    joined = _BEFORE_MARK.sub("", _INSIDE_QUOTES.sub(r'"\1"', joined))
    joined = _IN_NUMBER.sub(r"\1", joined.replace("( ", "(").replace("$ ", "$"))
    return _BEHIND_MARK.sub(r"\g<0> ", joined)


def is_cut_up(text: str) -> bool:
    """Return whether a text has spaces that tokenisers leave and people rarely write.

    >>> is_cut_up("It ’ s late ."), is_cut_up("It's late :)")
    (True, False)

    Args:
        text: The text.

    Returns:
        Whether `closed_up` should mend it.
    """
    return _CUT_UP.search(text) is not None


def spaced_as(text: str, others: Sequence[str]) -> str:
    """Return a text with a space before its punctuation, if most of the other texts have one.

    >>> spaced_as("Yes, it is.", ["Is it far , then ?", "No ."])
    'Yes , it is .'
    >>> spaced_as("Yes, it is.", ["Is it far, then?"])
    'Yes, it is.'

    Args:
        text: The text to change.
        others: Texts of the corpus, whose spacing is imitated.

    Returns:
        The text, with the spaces if more than half of the marks in the other texts have one.
    """
    marks = [match for other in others for match in _MARK.finditer(other)]
    apart = sum(match.group(0)[0].isspace() for match in marks)
    return text if apart <= _HALF * len(marks) else _MARK.sub(r" \1", text)


def with_closed_clitics(text: str) -> tuple[str, dict[str, str]]:
    """Join the split clitics of a text, and return how each one was written.

    >>> with_closed_clitics("Here' s the money. It's late, don ’ t go.")
    ("Here's the money. It's late, don’t go.", {"Here's": "Here' s", 'don’t': 'don ’ t'})

    Args:
        text: A text as people write it.

    Returns:
        The text with joined clitics, and the original form of each joined one.
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
    """Return whether all apostrophes of contractions have spaces on both sides: ``It ’ s late``.

    >>> stands_apart("It ’ s late ."), stands_apart("It's late.")
    (True, False)

    Args:
        text: The text.

    Returns:
        Whether there is such an apostrophe, and no contraction without the spaces.
    """
    return _BOTH_APART.search(text) is not None and taken_apart(joined(text)) == text


def joined(text: str) -> str:
    """Return a text with the spaces around the apostrophes of its contractions removed.

    >>> joined("It ’ s late , I don ’ t know .")
    'It’s late , I don’t know .'

    Args:
        text: Text whose apostrophes have spaces on both sides.

    Returns:
        The text with joined contractions.
    """
    return _BOTH_APART.sub(r"\1\2", text)


def taken_apart(text: str, like: str = "") -> str:
    """Return a text with spaces around the apostrophes of its contractions.

    >>> taken_apart("It’s late , I do n’t know .")
    'It ’ s late , I don ’ t know .'
    >>> taken_apart("You're late .", like="I ’ m late .")
    'You ’ re late .'

    Args:
        text: The text to change.
        like: A text whose apostrophe character is taken over; if it has none, the text keeps its own.

    Returns:
        The text with separate apostrophes.
    """
    match = _BOTH_APART.search(like)
    mark = match.group(1) if match is not None else r"\1"
    return _JOINED.sub(rf" {mark} \2", _NOT.sub(rf"n {mark} t", text))

"""Split texts into tokens, words and sentences, and normalise their spacing and punctuation.

`tokenize` accepts raw text (``I don't know, sir.``) and tokenised text (``I do n't know , sir .``). Both
forms of a text give the same tokens; only the character offsets differ.

Corpora differ in their spacing. DailyDialog, for example, writes ``I ’ ll come , then .`` A language model
that reads such text generates worse text, and imitates the spacing. Therefore models get text in standard
spacing (`detokenize`). Their output then gets the spacing of the corpus (`imitate_spacing`,
`space_apostrophes`), since otherwise a ranker could recognise generated responses by their spacing.

>>> [token.text for token in tokenize("I don't know, sir.")]
['I', 'do', "n't", 'know', ',', 'sir', '.']
>>> detokenize("I ’ ll come , then .")
"I'll come, then."
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple
from unicodedata import normalize

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
"""A pattern for a word that consists of letters, including its clitics: ``don't`` is one word."""
_NON_SPACE = re.compile(r"\S*\w\S*")
_ANY_WORD = re.compile(r"\w+(?:['’-]\w+)*")
# The alternatives are tried in this order: URLs, e-mail addresses, "n't", other clitics, acronyms,
# abbreviations, sequences of dots and dashes, numbers with units, compounds ("3:30pm"), words with clitics
# and hyphens, other word characters, and single marks.
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
# As in the Penn Treebank, "cannot" is split into the tokens "can" and "not".
_CANNOT = re.compile(r"(can)(not)$", re.IGNORECASE)
# A sentence ends after an end mark and its closing quotes, if a capital letter follows.
_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z])")
# After abbreviations and initials ("J. Smith"), a dot does not end the sentence.
_NO_END = re.compile(r"(?:^|\W)(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|No|U\.S|a\.m|p\.m|[A-Z])\.$")
_DOTS = re.compile(r"\.+")
_SURE_ENDS = frozenset("!?…。！？")
_CLOSING = frozenset("”’)]»")
_QUOTE = '"'
# Patterns for clitics that are separated from their word. `_CLITIC_APART` accepts "I' m" and "I 'm". It also
# accepts clitics with an initial capital, which occur in title-cased corpora: "I ' Ve".
_CLITIC_APART = re.compile(r"(?<=\w) ?(['’]) ?(?=(?:s|t|m|d|re|ve|ll|S|T|M|D|Re|Ve|Ll)\b)")
_LOOSE_CLITIC = re.compile(
    r"\b([^\W\d_]+) ?(['’´`]) (s|t|m|d|re|ve|ll)\b|\b([^\W\d_]+)([´`])(s|t|m|d|re|ve|ll)\b", re.IGNORECASE
)
_APOSTROPHE = "'"
_ANY_APART = re.compile(r"(?<=\w) ?(?:' ?| ')(?=(?:s|m|d|t|ll|re|ve)\b)", re.IGNORECASE)
_NOT_APART = re.compile(r"(?<=\w) n ?' ?t\b", re.IGNORECASE)
# `_INSIDE_QUOTES` matches text between double quotes with a space on the inner side of each: '" hello "'. A
# quote next to a letter is not matched, because it may be unpaired.
_INSIDE_QUOTES = re.compile(r'(?<!\w)" ([^"]*[^"\s]) "(?!\w)')
_BOTH_APART = re.compile(r"(?<=\w) (['’]) (s|m|re|ll|ve|d|t)\b", re.IGNORECASE)
_NOT = re.compile(r" ?n(['’])t\b", re.IGNORECASE)
_JOINED = re.compile(r" ?(['’])(s|m|re|ll|ve|d)\b", re.IGNORECASE)
# Spaces before a punctuation mark are removed, except before emoticons such as " :)" and " :-(".
_BEFORE_MARK = re.compile(r"\s+(?=[,.!?;:)%…])(?![:;]-?[()DP](?:\s|$))")
# A space is added after a punctuation mark that is directly followed by a word: "then .Is it". After a full
# stop, a space is added only between two lower-case letters and a capital letter, so that "U.S." is kept.
_BEHIND_MARK = re.compile(r"[?!,;](?=[A-Za-z])|(?<=[a-z]{2})\.(?=[A-Z])")
_CUT_UP = re.compile(r"\w [,.?!;:](?=\s|$)|\w ['’] ?(?:s|m|d|t|ll|re|ve)\b|\w n['’] ?t\b|``", re.IGNORECASE)
# "8 : 30" and "10 , 000" are single numbers, so the spaces in them are removed.
_IN_NUMBER = re.compile(r"(?<=\d) ?([:,]) ?(?=\d\d)")
# Code in Markdown: fences ("```", also if they are not closed), and inline code in backquotes. "`` No ''" is
# a quotation of a tokenised text, and the backquotes of "don`t" are apostrophes.
_CODE = re.compile(
    r"""
      (?s:(?<!`)(`{3,})(?!`).*?(?:(?<!`)\1`*|\Z))
    | (?<!`)``(?!`)(?:(?=\ `)|(?!\s))(?:(?!``|'').)+``(?!`)
    | (?<![\w`])`(?![\s`])[^`\n]*(?<!\s)`(?![\w`])
    | (?ms:^[ ]{0,3}~~~.*?(?:^[ ]{0,3}~~~+[ ]*$|\Z))
    """,
    re.VERBOSE,
)
# Placeholder for code in a text. U+FDD0 is a noncharacter, so the text itself should not contain it.
_CODE_MARK = "\ufdd0"
# French texts, and some others, have a space before these punctuation marks: "Où est la gare ?"
_SPACED_IN_FRENCH = re.compile(r"(?<=\w)[ \u00a0\u202f](?=[?!;:»](?:\s|$))")
_QUOTES = str.maketrans({"‘": "'", "’": "'", "´": "'", "`": "'", "“": '"', "”": '"'})
_PLAIN_MARKS = _QUOTES | str.maketrans({"–": "-", "—": "-", "…": "..."})
_BESIDE_MARK = re.compile(r" ?([^\w\s]) ?")
_NOT_BEHIND_BLANK = re.compile(r"(?<=\w) n't\b")
_CAN_NOT = re.compile(r"\bcan not\b")
_MARK = re.compile(r"\s*([,.!?;:]+)(?=\s|$)")
_HALF = 0.5


class TextSpan(NamedTuple):
    """A token with its position in the text: ``token.text == text[token.start:token.end]``.

    Attributes:
        text: The characters of the token.
        start: Offset of the first character.
        end: Offset after the last character.
    """

    text: str
    start: int
    end: int


class SentenceSpan(NamedTuple):
    """A sentence, and the position of its first token in the text.

    Attributes:
        text: The sentence exactly as it is written in the text.
        first_token: Index of the first token of the sentence among all tokens of the text.
    """

    text: str
    first_token: int


def tokenize(text: str) -> tuple[TextSpan, ...]:
    """Split a text into tokens. Contractions are split as in the Penn Treebank.

    >>> [token.text for token in tokenize("I can't, sir.")]
    ['I', 'ca', "n't", ',', 'sir', '.']

    Args:
        text: Raw or tokenised text.

    Returns:
        The tokens in text order, with their character offsets.
    """
    tokens: list[TextSpan] = []
    for match in _TOKEN.finditer(text):
        tokens.extend(_without_clitics(match.group(), match.start()))
    return tuple(tokens)


def _without_clitics(word: str, start: int) -> list[TextSpan]:
    """Split a word into its stem and its clitics. A word may have several clitics: ``shouldn't've``."""
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
        text: Raw or tokenised text.

    Returns:
        The words. Numbers and hyphenated compounds also count as words.
    """
    return _ANY_WORD.findall(text.lower())


def word_count(text: str) -> int:
    """Count the words of a text. Words are separated by spaces.

    >>> word_count("At 8 o'clock - sharp!")
    4

    Args:
        text: Text on one or several lines.

    Returns:
        The number of space-separated parts that contain a letter or a digit.
    """
    return len(_NON_SPACE.findall(text))


def sentences(text: str) -> Iterator[str]:
    """Split a text with standard capitalisation into sentences, and collapse white space.

    A sentence ends at an end mark if a capital letter follows. It does not end after an abbreviation.

    >>> list(sentences("Mr. Ode left.  Did he  say why?"))
    ['Mr. Ode left.', 'Did he say why?']

    Args:
        text: Text in which each sentence starts with a capital letter, as in a book.

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
    """Split informal text, such as a chat message, into sentences.

    In such text, capital letters are not reliable. A sentence always ends after ``!`` and ``?``. It ends
    after dots, or after an end mark inside quotes, only if the next word does not start with a lower-case
    letter. A token is never split, so the tokens of the sentences are exactly the tokens of the text.

    >>> [sentence.text for sentence in typed_sentences("Mr. Wu left... why? i asked him .")]
    ['Mr. Wu left... why?', 'i asked him .']

    Args:
        text: The text as it was typed.

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
        # A closing quote or bracket after an end mark still belongs to the sentence: 'He said "go."'
        closes = token.text in _CLOSING or (token.text == _QUOTE and not quoting)
        sure = token.text in _SURE_ENDS
        ended = sure or bool(_DOTS.fullmatch(token.text)) or (ended and closes)
        after = tokens[number + 1].text if number + 1 < len(tokens) else None
        if after is None or (ended and _begins(after, quoting) and (sure or not after[0].islower())):
            parts.append(SentenceSpan(text[tokens[first].start : token.end], first))
            first, ended = number + 1, False
    return parts


def _begins(token: str, quoting: bool) -> bool:
    """Return whether a token may start a sentence. End marks, closing quotes and closing brackets may not."""
    closes = token in _CLOSING or (token == _QUOTE and quoting)
    return not (closes or token in _SURE_ENDS or _DOTS.fullmatch(token))


def one_line(text: str) -> str:
    """Replace each run of white space in a text with one space.

    >>> one_line(" Oh,  really? ")
    'Oh, really?'

    Args:
        text: Text with any white space.

    Returns:
        The text on one line, without white space at the start and end.
    """
    return " ".join(text.split())


def match_key(text: str) -> str:
    """Return the normal form of a text, which is used to compare texts.

    Texts that have the same words and punctuation marks in the same order have the same normal form.
    The normal form ignores case, white space, the shape of quotation marks, dashes and ellipses, and the
    spacing around punctuation and in contractions.

    >>> match_key(" I  don ’ t KNOW , sir ! "), match_key("I do n't know, sir!")
    ("i don't know,sir!", "i don't know,sir!")

    Args:
        text: Raw or tokenised text.

    Returns:
        The normal form, which is not meant to be read by people.
    """
    # Case folding can decompose characters, so the text is normalised again afterwards.
    plain = normalize("NFC", normalize("NFC", text).casefold()).translate(_PLAIN_MARKS)
    tight = _BESIDE_MARK.sub(r"\1", one_line(plain)).replace("''", '"')
    return normalize("NFC", _CAN_NOT.sub("cannot", _NOT_BEHIND_BLANK.sub("n't", tight)))


def with_clitics(text: str) -> str:
    """Join the separated clitics of a text to their words.

    >>> with_clitics("I ' m sure they don ’ t.")
    "I'm sure they don’t."

    Args:
        text: Raw or tokenised text.

    Returns:
        The text with joined clitics. The shape of apostrophes does not change.
    """
    return _CLITIC_APART.sub(r"\1", text) if "'" in text or "’" in text else text


def detokenize(text: str) -> str:
    r"""Convert a text into standard spacing, with joined clitics and straight quotes, on one line.

    A text that already has standard spacing is not changed, except for its quotes and line breaks. Applying
    the function a second time changes nothing. Code in Markdown is kept as it is, with its line breaks.

    >>> detokenize("I ’ ll come , then .Is it far ?")
    "I'll come, then. Is it far?"
    >>> detokenize("They do n't know ( yet ) , but `` it 's Ann ' s '' .")
    'They don\'t know (yet), but "it\'s Ann\'s".'
    >>> detokenize("Use ``a , b`` , then go .")
    'Use ``a , b``, then go.'

    Args:
        text: Text that is completely or partly tokenised.

    Returns:
        The text in standard spacing.
    """
    prose, code = _without_code(text)
    plain = _detokenized(prose)
    for span in code:
        plain = plain.replace(_CODE_MARK, span, 1)
    return plain


def _without_code(text: str) -> tuple[str, list[str]]:
    """Replace each code span of a text with `_CODE_MARK`. Return the new text and the code spans."""
    if ("`" not in text and "~~~" not in text) or _CODE_MARK in text:
        return text, []
    pieces: list[str] = []
    spans: list[str] = []
    end = 0
    for match in _CODE.finditer(text):
        start, stop = match.span()
        if start < end:
            continue
        # A fence (```) must be at the beginning of a line, so keep the line breaks around a code block.
        if "\n" in match[0]:
            start = len(text[:start].rstrip())
            stop += len(text[stop:]) - len(text[stop:].lstrip())
            start = max(start, end)
        pieces += [text[end:start], _CODE_MARK]
        spans.append(text[start:stop])
        end = stop
    return "".join([*pieces, text[end:]]), spans


def _detokenized(text: str) -> str:
    plain = one_line(text).translate(_QUOTES).replace("``", '"').replace("''", '"')
    joined = _ANY_APART.sub("'", _NOT_APART.sub("n't", plain))
    joined = _BEFORE_MARK.sub("", _INSIDE_QUOTES.sub(r'"\1"', joined))
    joined = _IN_NUMBER.sub(r"\1", joined.replace("( ", "(").replace("$ ", "$"))
    return _BEHIND_MARK.sub(r"\g<0> ", joined)


def is_tokenised(text: str) -> bool:
    """Return whether a text has the spacing of tokenised text, which people rarely type.

    >>> is_tokenised("It ’ s late ."), is_tokenised("It's late :)"), is_tokenised("Use ``a , b``.")
    (True, False, False)

    French typography puts a space before ``?``, ``!``, ``;`` and ``:``. If a text has spaces only before
    these marks, and its letters or words are French, it does not count as tokenised.

    >>> is_tokenised("Où est la gare ?"), is_tokenised("Where is it ?")
    (False, True)

    Args:
        text: The text to test, which may contain code in Markdown.

    Returns:
        True if the spacing should be corrected with `detokenize`.
    """
    prose, _ = _without_code(text)
    if _CUT_UP.search(prose) is None:
        return False
    return _CUT_UP.search(_SPACED_IN_FRENCH.sub("", prose)) is not None or not _is_french(prose)


def _is_french(text: str) -> bool:
    """Return whether a text has an accented letter, or more French than English function words."""
    words, known = words_of(text), _french("words")
    french = sum(word.partition("'")[0].partition("’")[0] in known for word in words)
    has_accent = not _french("accents").isdisjoint(text.casefold())
    return has_accent or 2 * french >= max(len(words), 1)


@cache
def _french(name: str) -> frozenset[str]:
    """Return the words of a class of ``french.tsv``."""
    lines = files("graphneg.english").joinpath("french.tsv").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return frozenset(next(words for class_, words in rows if class_ == name).split())


def imitate_spacing(text: str, others: Sequence[str]) -> str:
    """Put spaces before the punctuation marks of a text, if most marks in other texts have one.

    >>> imitate_spacing("Yes, it is.", ["Is it far , then ?", "No ."])
    'Yes , it is .'
    >>> imitate_spacing("Yes, it is.", ["Is it far, then?"])
    'Yes, it is.'

    Args:
        text: The text whose spacing is changed.
        others: Texts of the corpus whose spacing should be imitated.

    Returns:
        The text with spaces, if more than half of the punctuation marks in the other texts have a space
        before them; otherwise the text itself.
    """
    marks = [match for other in others for match in _MARK.finditer(other)]
    apart = sum(match.group(0)[0].isspace() for match in marks)
    return text if apart <= _HALF * len(marks) else _MARK.sub(r" \1", text)


def with_closed_clitics(text: str) -> tuple[str, dict[str, str]]:
    """Join the separated clitics of a text, and also return how each word with a clitic was written.

    >>> with_closed_clitics("Here' s the money. It's late, don ’ t go.")
    ("Here's the money. It's late, don’t go.", {"Here's": "Here' s", 'don’t': 'don ’ t'})

    Args:
        text: A text in standard spacing, in which some clitics are separated.

    Returns:
        The text with joined clitics, and the original forms of the changed words, keyed by their new forms.
    """
    written: dict[str, str] = {}

    def close(match: re.Match[str]) -> str:
        word, mark, clitic = (part for part in match.groups() if part is not None)
        closed = f"{word}{'’' if mark == '’' else _APOSTROPHE}{clitic}"
        if closed != match.group():
            written[closed] = match.group()
        return closed

    return _LOOSE_CLITIC.sub(close, text), written


def has_spaced_apostrophes(text: str) -> bool:
    """Return whether all apostrophes of a text's contractions have spaces on both sides: ``It ’ s late``.

    >>> has_spaced_apostrophes("It ’ s late ."), has_spaced_apostrophes("It's late.")
    (True, False)

    Args:
        text: Raw or tokenised text.

    Returns:
        True if there is at least one contraction, and all contractions are written with the spaces.
    """
    return _BOTH_APART.search(text) is not None and space_apostrophes(join_apostrophes(text)) == text


def join_apostrophes(text: str) -> str:
    """Remove the spaces around the apostrophes of contractions.

    >>> join_apostrophes("It ’ s late , I don ’ t know .")
    'It’s late , I don’t know .'

    Args:
        text: A text in which the apostrophes of contractions have spaces on both sides.

    Returns:
        The text with joined contractions.
    """
    return _BOTH_APART.sub(r"\1\2", text)


def space_apostrophes(text: str, like: str = "") -> str:
    """Put spaces around the apostrophes of contractions.

    >>> space_apostrophes("It’s late , I do n’t know .")
    'It ’ s late , I don ’ t know .'
    >>> space_apostrophes("You're late .", like="I ’ m late .")
    'You ’ re late .'

    Args:
        text: The text whose spacing is changed.
        like: A text whose apostrophe character should be used. If it has no contraction with spaces, the
            apostrophes of the first text are kept.

    Returns:
        The text with spaces around the apostrophes.
    """
    match = _BOTH_APART.search(like)
    mark = match.group(1) if match is not None else r"\1"
    return _JOINED.sub(rf" {mark} \2", _NOT.sub(rf"n {mark} t", text))

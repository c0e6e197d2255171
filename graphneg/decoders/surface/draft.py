"""Represent a text as tokens that can be edited, and write the edited tokens as text.

Characters that no edit touches must not change. Therefore each token keeps its index in the original text and
the white space before it. Tokens that were neighbours in the original text are written exactly as they were.
New tokens follow the style of the text: spaces before punctuation if the text is tokenised, separate clitics
("do n't") if the text separates them, curly apostrophes if it uses them, and capitals at the start of
sentences. `Draft.finish` also corrects articles ("a apple" to "an apple") and removes punctuation marks whose
words were removed.

Example: in the tokens of "I saw it .", inserting ``did`` and ``not`` and inflecting *saw* gives "I did not
see it .". The space before the full stop is kept.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from graphneg.decoders.surface.inflection import BE, article, finite_tag, full_form, verb_form, verb_lemma
from graphneg.english.words import word_class


class RealisationError(Exception):
    """An edit that cannot be expressed with the words of the sentence.

    Args:
        code: A stable code; the documentation of `SurfaceDecoder` lists the codes.
        message: An explanation.
    """

    def __init__(self, code: str, message: str) -> None:
        """Initialize the error with its code and explanation."""
        super().__init__(f"{code}: {message}")
        self.code = code


_MARK = re.compile(r"[.,!?;:]")
_CLOSING = frozenset(".,!?;:)]}%…")
_OPENING = frozenset("([{$#«“‘")
_QUOTES = frozenset("\"'“”‘’«»`")
_CLITICS = word_class("clitics-split")
_LOOSE_MARKS = frozenset({",", ";", ":", "--", "-", "–"})


@dataclass(eq=False, slots=True)
class Token:
    """A word or a punctuation mark.

    Attributes:
        text: The characters of the token.
        tag: The part of speech; `graphneg.english.tagging` defines the tags.
        original_index: The index of the token in the original text; -1 for a new token.
        leading_space: The white space before the token in the original text.
        sentence_initial: Whether the token opened a sentence in the original text.
    """

    text: str
    tag: str
    original_index: int = -1
    leading_space: str = ""
    sentence_initial: bool = False

    @property
    def lower(self) -> str:
        """The text in lower case, with straight apostrophes."""
        return self.text.lower().replace("’", "'")

    @property
    def expanded(self) -> str:
        """The text in lower case, with clitics and contracted stems written out."""
        return full_form(self.text)

    @property
    def lemma(self) -> str:
        """The lemma of the token, if it is read as a verb form."""
        return verb_lemma(self.text)

    @property
    def tense(self) -> str:
        """The tense of a finite verb as a tag: ``VBD`` (past), ``VBZ`` or ``VBP`` (present)."""
        return self.tag if self.tag in ("VBD", "VBZ", "VBP") else finite_tag(self.text)

    def form(self, tag: str) -> str:
        """Return the verb inflected for a tag.

        Args:
            tag: The Penn tag of the form.

        Returns:
            The inflected verb.
        """
        return verb_form(verb_lemma(self.text), tag)

    @property
    def is_be(self) -> bool:
        """Whether the token may be a form of *be*. This includes ``'s``, which may also stand for *has*."""
        return self.expanded in BE or self.lower == "'s"

    @property
    def capital(self) -> bool:
        """Whether the token begins with a capital letter."""
        return self.text[:1].isupper()

    @property
    def is_quote(self) -> bool:
        """Whether the token is a quotation mark."""
        return self.text in _QUOTES


EDGE = Token("", "EN")
"""Placeholder that is returned for positions before the first and after the last token."""


class Tokens(list[Token]):
    """The tokens of a text, as a list with methods to search it."""

    def get(self, index: int) -> Token:
        """Return the token at an index.

        Args:
            index: Any integer.

        Returns:
            The token; `EDGE` if the index is outside the text.
        """
        return self[index] if 0 <= index < len(self) else EDGE

    def index_of(self, token: Token) -> int:
        """Return the current index of a token.

        Args:
            token: A token that is or was part of this text.

        Returns:
            The index, or -1 if the token was removed.
        """
        return self.index(token) if token in self else -1

    def begins_lets(self, index: int) -> bool:
        """Return whether "let's" or "let us" begins at an index.

        Args:
            index: The index of a token.

        Returns:
            True for the index of *let*.
        """
        return self.get(index).lower == "let" and self.get(index + 1).lower in ("'s", "us")

    def run_start(self, end: int, tags: Collection[str]) -> int:
        """Move back over all tokens with the given tags that precede an index.

        Args:
            end: The index after the tokens.
            tags: The tags.

        Returns:
            The index of the first of these tokens; ``end`` if the token before ``end`` has another tag.
        """
        while end > 0 and self[end - 1].tag in tags:
            end -= 1
        return end

    def run_end(self, start: int, tags: Collection[str]) -> int:
        """Move forward over all tokens with the given tags that begin at an index.

        Args:
            start: The index of the first token.
            tags: The tags.

        Returns:
            The index after the last of these tokens; ``start`` if the token at ``start`` has another tag.
        """
        while start < len(self) and self[start].tag in tags:
            start += 1
        return start


def _mostly_apart(tokens: Iterable[Token]) -> bool:
    """Return whether most of the tokens have a space before them."""
    gaps = [bool(token.leading_space) for token in tokens]
    return 2 * sum(gaps) > len(gaps)


class Draft:
    """The tokens of a text, edited in place.

    Args:
        tokens: The tokens of the text.
        text: The original text.

    Attributes:
        tokens: The tokens, which edits change.
        original: The original text.
        clitics_apart: Whether the text writes clitics separately: "do n't".
        tokenised: Whether the text has spaces before punctuation marks.
        capitals: Whether sentences begin with capital letters.
        contracts: Whether the text contains contractions.
        curly: Whether the text uses curly apostrophes.
    """

    def __init__(self, tokens: Sequence[Token], text: str) -> None:
        """Initialize the draft and detect how the original text is written."""
        self.tokens = Tokens(tokens)
        self.original = text
        # Detect the style of clitics and of punctuation marks separately. A text that is not tokenised may
        # have a space before some marks but still contain "don't".
        self.clitics_apart = _mostly_apart(token for token in tokens if token.lower in _CLITICS)
        marks = [token for token in tokens if _MARK.fullmatch(token.text)]
        self.tokenised = _mostly_apart(marks) if marks else self.clitics_apart
        self.capitals = any(token.sentence_initial and token.capital for token in tokens) or not any(
            token.text[:1].isalpha() for token in tokens
        )
        self.contracts = any(token.lower in _CLITICS and token.tag != "POS" for token in tokens)
        self.curly = "’" in text

    def insert(self, index: int, *tokens: Token) -> None:
        """Insert tokens.

        Args:
            index: The index of the first new token after the insertion.
            *tokens: The new tokens.
        """
        self.tokens[index:index] = tokens

    def cut(self, start: int, end: int) -> None:
        """Remove tokens.

        Args:
            start: The index of the first token to remove.
            end: The index after the last token to remove.
        """
        del self.tokens[start:end]

    def rewrite(self, token: Token, text: str, tag: str | None = None) -> None:
        """Change the text of a token.

        Args:
            token: The token to change.
            text: The new text. Its first letter is capitalised if the token opens a sentence and was
                capitalised.
            tag: The new tag; None keeps the tag.
        """
        # A clitic has no space before it, but its replacement needs one: "It's red" -> "It was red". Treat
        # the token as new, so that the space is computed again.
        if token.lower in _CLITICS and text.lower() not in _CLITICS:
            token.original_index = -1
        if token.sentence_initial and text != "I" and token.capital:
            text = text[:1].upper() + text[1:]
        token.text = text
        token.tag = token.tag if tag is None else tag

    def inflect(self, verb: Token, tag: str) -> None:
        """Inflect a verb for a tag, and give the token this tag.

        Args:
            verb: The token of the verb.
            tag: The Penn tag of the wanted form.
        """
        self.rewrite(verb, verb.form(tag), tag)

    def finish(self) -> str:
        """Tidy the edited tokens, and return them as a text.

        Remove punctuation marks whose words were removed, correct *a* and *an*, and move the capital letter
        of a sentence to its new first word. These changes also affect `tokens`.

        Returns:
            The edited text.
        """
        self._tidy_marks()
        self._fix_articles()
        self._fix_capitals()
        parts: list[str] = []
        for index, token in enumerate(self.tokens):
            curls = self.curly and token.original_index < 0 and len(token.text) > 1
            parts += [self._gap(index), token.text.replace("'", "’") if curls else token.text]
        return "".join(parts) + self.original[len(self.original.rstrip()) :]

    def _gap(self, index: int) -> str:
        """Return the white space before the token at an index."""
        token, before = self.tokens[index], self.tokens.get(index - 1)
        if not index:
            return self.original[: len(self.original) - len(self.original.lstrip())]
        # If the two tokens were neighbours in the original text, keep the white space between them.
        if token.original_index > 0 and before.original_index == token.original_index - 1:
            return token.leading_space
        if token.lower in _CLITICS:
            return " " if self.clitics_apart else ""
        if self.tokenised:
            return " "
        if token.text[:1] in _CLOSING or before.text[-1:] in _OPENING:
            return ""
        if token.is_quote:
            return token.leading_space if token.original_index >= 0 else " "
        # If the previous token opens a quotation, use the white space that followed it in the original text.
        if before.is_quote and not (before.leading_space or before.original_index == 0):
            return next(
                (
                    other.leading_space
                    for other in self.tokens
                    if other.original_index == before.original_index + 1
                ),
                " ",
            )
        return "" if before.is_quote else " "

    def _tidy_marks(self) -> None:
        """Remove marks whose words were removed: the second of two commas, and a comma before a full stop."""
        kept: list[Token] = []
        for token in self.tokens:
            last = kept[-1] if kept else EDGE
            moved = not kept or last.original_index != token.original_index - 1 or token.original_index < 0
            if moved and token.text in _LOOSE_MARKS and (last.tag in ("EN", "PU") or last.text in _OPENING):
                continue
            if moved and token.tag == "EN" and kept:
                if last.text in (",", ";"):
                    kept.pop()
                elif last.tag == "EN":
                    continue
            kept.append(token)
        self.tokens[:] = kept

    def _fix_articles(self) -> None:
        """Choose *a* or *an* by the following word, if an edit changed the article or this word."""
        for token, following in zip(self.tokens, self.tokens[1:], strict=False):
            if (
                token.lower not in word_class("indefinite-articles")
                or token.tag != "DT"
                or not following.text[:1].isalnum()
            ):
                continue
            stood = rf"\ban? +{re.escape(following.text)}\b"
            untouched = token.original_index >= 0 and following.original_index == token.original_index + 1
            # If the original text has this article before this word, keep it even if it is unusual ("an
            # history").
            if untouched and re.search(stood, self.original, re.IGNORECASE):
                continue
            if (wanted := article(following.text)) != token.lower:
                token.text = wanted.capitalize() if token.text[0].isupper() else wanted

    def _fix_capitals(self) -> None:
        """Move the capital letter of a sentence to its new first word."""
        for token, initial in zip(self.tokens, initials(self.tokens), strict=True):
            first, rest = token.text[:1], token.text[1:]
            keeps = token.text == "I" or rest != rest.lower()
            if token.sentence_initial == initial and token.original_index >= 0:
                continue
            if initial and self.capitals:
                token.text = first.upper() + rest
            elif token.sentence_initial and not initial and token.tag != "NNP" and not keeps:
                token.text = first.lower() + rest


def initials(tokens: Tokens) -> list[bool]:
    """Mark the words that open a sentence. Their capital letter does not show that they are names.

    Args:
        tokens: The tokens of the text.

    Returns:
        For each token, whether it opens a sentence.
    """
    flags: list[bool] = []
    opens, quoted = True, False
    for index, token in enumerate(tokens):
        after, second = tokens.get(index + 1), tokens.get(index + 2)
        is_word = False
        if token.is_quote or token.text in _OPENING:
            # A quotation after a comma or colon opens a sentence if a capital letter follows: 'He said:
            # "Go."'
            opening = not quoted and token.text not in ("'", "’")
            after_mark = index == 0 or tokens[index - 1].text in (",", ":", "-", "--")
            opens = opens or (opening and after_mark and after.capital)
            quoted = not quoted if token.text == '"' else quoted
        elif token.tag == "EN":
            opens = token.text[0] in ".!?" and not token.text.startswith("..")
            # In '"Really?" he said', the question mark does not end the sentence.
            opens = opens and not (after.is_quote and second.text[:1].islower())
        else:
            is_word = token.tag != "PU" or token.text[:1].isalnum()
        flags.append(is_word and opens)
        opens = opens and not is_word
    return flags


def after_determiner(tokens: Tokens, index: int) -> bool:
    """Return whether the word before a token shows that the token is a noun.

    Args:
        tokens: The tokens of the text.
        index: The index of the token.

    Returns:
        True after an article or a possessive. Also true after *some* or *any*, if a verb or a preposition
        precedes this word: in "take some exercise", *exercise* is a noun.
    """
    before = tokens.get(index - 1)
    if before.lower in word_class("loose-determiners"):
        return tokens.get(index - 2).tag in ("IN", "VB", "VBP", "VBZ", "VBD", "VBN", "VBG")
    return before.lower in word_class("noun-determiners") or before.tag == "PS"

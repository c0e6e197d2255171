"""Represent a text as tokens that can be edited, and join the edited tokens into a text.

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
        code: The code of the reason, for example ``no-form``. `SurfaceDecoder` lists the codes.
        message: An explanation of the reason for the user.
    """

    def __init__(self, code: str, message: str) -> None:
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
        tag: The part-of-speech tag; `graphneg.english.tagging` defines the tags.
        original_index: The index of the token in the original text; -1 for a new token.
        leading_space: The white space before the token in the original text.
        sentence_initial: Whether the token is the first word of a sentence in the original text.
    """

    text: str
    tag: str
    original_index: int = -1
    leading_space: str = ""
    sentence_initial: bool = False

    @property
    def lower(self) -> str:
        """The text of the token in lower case, with straight apostrophes."""
        return self.text.lower().replace("’", "'")

    @property
    def expanded(self) -> str:
        """The token in lower case, with clitics and contracted stems written out: *will* for *'ll*."""
        return full_form(self.text)

    @property
    def lemma(self) -> str:
        """The lemma that the token has as a verb form: *see* for *saw*."""
        return verb_lemma(self.text)

    @property
    def tense(self) -> str:
        """The Penn tag for the tense of a finite verb: ``VBD`` (past), ``VBZ`` or ``VBP`` (present)."""
        return self.tag if self.tag in ("VBD", "VBZ", "VBP") else finite_tag(self.text)

    def form(self, tag: str) -> str:
        """Return another inflected form of a verb token, without changing the token.

        Args:
            tag: The Penn tag of the wanted form, for example ``VBD``.

        Returns:
            The inflected verb.
        """
        return verb_form(verb_lemma(self.text), tag)

    @property
    def is_be(self) -> bool:
        """Whether the token may be a form of *be*, including ``'s``, which may also be short for *has*."""
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
"""Empty token that `Tokens.get` returns for an index before the first or after the last token."""


class Tokens(list[Token]):
    """A list of the tokens of a text, with methods for searching the text."""

    def get(self, index: int) -> Token:
        """Return the token at an index, which may be outside the text.

        Args:
            index: The index of a token, or an index before the first or after the last token.

        Returns:
            The token; `EDGE` if the index is outside the text.
        """
        return self[index] if 0 <= index < len(self) else EDGE

    def index_of(self, token: Token) -> int:
        """Return the current index of a token.

        Args:
            token: A token that is or was part of this text.

        Returns:
            The index, or -1 if the token was removed from the text.
        """
        return self.index(token) if token in self else -1

    def begins_lets(self, index: int) -> bool:
        """Return whether "let's" or "let us" begins at an index.

        Args:
            index: The index of a token.

        Returns:
            True if the index is that of *let*, and *'s* or *us* follows.
        """
        return self.get(index).lower == "let" and self.get(index + 1).lower in ("'s", "us")

    def run_start(self, end: int, tags: Collection[str]) -> int:
        """Return the start of the longest run of tokens with given tags that ends before an index.

        Args:
            end: The index after the last token of the run.
            tags: The part-of-speech tags that the tokens of the run may have.

        Returns:
            The index of the first token of the run; ``end`` if the token before ``end`` has another tag.
        """
        while end > 0 and self[end - 1].tag in tags:
            end -= 1
        return end

    def run_end(self, start: int, tags: Collection[str]) -> int:
        """Return the end of the longest run of tokens with given tags that begins at an index.

        Args:
            start: The index of the first token of the run.
            tags: The part-of-speech tags that the tokens of the run may have.

        Returns:
            The index after the last token of the run; ``start`` if the token at ``start`` has another tag.
        """
        while start < len(self) and self[start].tag in tags:
            start += 1
        return start


def _mostly_apart(tokens: Iterable[Token]) -> bool:
    """Return whether most of the tokens have a space before them."""
    gaps = [bool(token.leading_space) for token in tokens]
    return 2 * sum(gaps) > len(gaps)


class Draft:
    """A text being edited, as a list of tokens, and the style in which the text is written.

    Args:
        tokens: The tokens of the text.
        text: The original text.

    Attributes:
        tokens: The tokens, which edits change in place.
        original: The original text.
        clitics_apart: Whether the text writes clitics separately: "do n't".
        tokenised: Whether the text has spaces before punctuation marks.
        capitals: Whether the sentences of the text begin with capital letters.
        contracts: Whether the text contains contractions such as "don't".
        curly: Whether the text uses curly apostrophes.
    """

    def __init__(self, tokens: Sequence[Token], text: str) -> None:
        self.tokens = Tokens(tokens)
        self.original = text
        # Test clitics and punctuation marks separately, because a text may have spaces only before
        # punctuation marks: "I don't know ."
        self.clitics_apart = _mostly_apart(token for token in tokens if token.lower in _CLITICS)
        marks = [token for token in tokens if _MARK.fullmatch(token.text)]
        self.tokenised = _mostly_apart(marks) if marks else self.clitics_apart
        self.capitals = any(token.sentence_initial and token.capital for token in tokens) or not any(
            token.text[:1].isalpha() for token in tokens
        )
        self.contracts = any(token.lower in _CLITICS and token.tag != "POS" for token in tokens)
        self.curly = "’" in text

    def insert(self, index: int, *tokens: Token) -> None:
        """Insert tokens before the token at an index.

        Args:
            index: The index that the first new token will have.
            *tokens: The new tokens.
        """
        self.tokens[index:index] = tokens

    def cut(self, start: int, end: int) -> None:
        """Remove consecutive tokens.

        Args:
            start: The index of the first token to remove.
            end: The index after the last token to remove.
        """
        del self.tokens[start:end]

    def rewrite(self, token: Token, text: str, tag: str | None = None) -> None:
        """Change the text of a token, and its tag if one is given.

        Args:
            token: The token to change.
            text: The new text. It is capitalised if the token is the first word of a sentence and was
                capitalised before.
            tag: The new part-of-speech tag; None keeps the old tag.
        """
        # A clitic has no space before it, but the word that replaces it needs a space: "It's red" -> "It was
        # red". Treat the token as new, so that the white space before it is determined again.
        if token.lower in _CLITICS and text.lower() not in _CLITICS:
            token.original_index = -1
        if token.sentence_initial and text != "I" and token.capital:
            text = text[:1].upper() + text[1:]
        token.text = text
        token.tag = token.tag if tag is None else tag

    def inflect(self, verb: Token, tag: str) -> None:
        """Replace a verb by another of its inflected forms, and change its tag accordingly.

        Args:
            verb: The token of the verb.
            tag: The Penn tag of the wanted form, for example ``VBD``.
        """
        self.rewrite(verb, verb.form(tag), tag)

    def finish(self) -> str:
        """Tidy the edited tokens, and join them into a text.

        This method removes punctuation marks whose words were removed, corrects *a* and *an*, and moves the
        capital letter of a sentence to its new first word. These changes also affect `tokens`.

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
        """Remove punctuation marks that are left over, such as the second of two commas in a row."""
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
        """Choose *a* or *an* again, if an edit changed the article or the word after it."""
        for token, following in zip(self.tokens, self.tokens[1:], strict=False):
            if (
                token.lower not in word_class("indefinite-articles")
                or token.tag != "DT"
                or not following.text[:1].isalnum()
            ):
                continue
            stood = rf"\ban? +{re.escape(following.text)}\b"
            untouched = token.original_index >= 0 and following.original_index == token.original_index + 1
            # Keep an article that precedes the same word in the original text, even if it is unusual: "an
            # history".
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
    """Find the first word of each sentence. Its capital letter does not show that it is a name.

    Args:
        tokens: The tokens of the text.

    Returns:
        For each token, whether it is the first word of a sentence.
    """
    flags: list[bool] = []
    opens, quoted = True, False
    for index, token in enumerate(tokens):
        after, second = tokens.get(index + 1), tokens.get(index + 2)
        is_word = False
        if token.is_quote or token.text in _OPENING:
            # After a comma or colon, a quotation begins a sentence if its first word is capitalized: 'He
            # said: "Go."'
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
        True if the word before the token is an article or a possessive. Also true if it is *some* or *any*
        and follows a verb or a preposition: in "take some exercise", *exercise* is a noun.
    """
    before = tokens.get(index - 1)
    if before.lower in word_class("loose-determiners"):
        return tokens.get(index - 2).tag in ("IN", "VB", "VBP", "VBZ", "VBD", "VBN", "VBG")
    return before.lower in word_class("noun-determiners") or before.tag == "PS"

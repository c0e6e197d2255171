"""A text under edit: tokens that remember where they came from, and the way back to text.

In: a text and its AMR graph (`Readings` aligns and tags them once). Out: a `Draft`, whose ``tokens`` the
other parts change, and its ``text()``. Tokens that no edit touches keep their characters and the white space
before them. New ones follow the spacing of the text: apart from punctuation in tokenised text, and from
clitics where one stands apart there, joined to them in raw text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from graphneg.amr.alignment import Aligner, Span, align
from graphneg.amr.concept_words import PRONOUNS
from graphneg.decoders.surface.forms import (
    BE,
    article,
    finite_tag,
    full_form,
    pronoun_cases,
    verb_form,
    verb_lemma,
)
from graphneg.english.noun_kinds import is_frame, lexeme
from graphneg.english.tagging import tag
from graphneg.english.tokens import TextSpan, tokenize
from graphneg.english.words import readings
from graphneg.model import AmrGraph

_MARK = re.compile(r"[.,!?;:]")
_CLOSING = frozenset(".,!?;:)]}%…")
_OPENING = frozenset("([{$#«“‘")
_QUOTES = frozenset("\"'“”‘’«»`")
_CLITICS = frozenset({"n't", "'s", "'m", "'re", "'ve", "'ll", "'d"})
_LOOSE_MARKS = frozenset({",", ";", ":", "--", "-", "–"})
_EXPLETIVE = re.compile(r"(?i)(?:is|was|'s|will|would|might) (?:\w+ )*?(?:that|to|for|time|who)\b")
_KEPT = 1024


@dataclass(eq=False, slots=True)
class Token:
    """A word or a mark.

    ``home`` is its number in the original text, -1 for a new one; ``gap`` is the white space before it there;
    ``initial`` says that it opened a sentence.
    """

    text: str
    tag: str
    home: int = -1
    gap: str = ""
    initial: bool = False

    @property
    def low(self) -> str:
        """The text in lower case, its apostrophe straight."""
        return self.text.lower().replace("’", "'")

    @property
    def full(self) -> str:
        """The text in lower case, a clitic or contracted stem written out."""
        return full_form(self.text)

    @property
    def lemma(self) -> str:
        """The verb that the text is a form of."""
        return verb_lemma(self.text)

    @property
    def tense(self) -> str:
        """``VBD``, ``VBZ`` or ``VBP``: the tense that a finite verb shows."""
        return self.tag if self.tag in ("VBD", "VBZ", "VBP") else finite_tag(self.text)

    def form(self, tag: str) -> str:
        """The verb in the form of a tag."""
        return verb_form(verb_lemma(self.text), tag)

    @property
    def is_be(self) -> bool:
        """Whether it is a form of be, or may be one: *'s*."""
        return self.full in BE or self.low == "'s"

    @property
    def capital(self) -> bool:
        """Whether it begins with a capital letter."""
        return self.text[:1].isupper()

    @property
    def is_quote(self) -> bool:
        """Whether it is a quotation mark."""
        return self.text in _QUOTES


EDGE = Token("", "EN")
"""What stands before the first and behind the last token."""


class Tokens(list[Token]):
    """The tokens of a text, in order."""

    def at(self, index: int) -> Token:
        """The token at an index, `EDGE` outside of the text."""
        return self[index] if 0 <= index < len(self) else EDGE

    def where(self, token: Token) -> int:
        """The index of a token, -1 where it has been removed."""
        return self.index(token) if token in self else -1

    def back(self, end: int, tags: Collection[str]) -> int:
        """The start of the run of tokens with such tags that ends before ``end``."""
        while end > 0 and self[end - 1].tag in tags:
            end -= 1
        return end

    def over(self, start: int, tags: Collection[str]) -> int:
        """The end of the run of tokens with such tags that begins at ``start``."""
        while start < len(self) and self[start].tag in tags:
            start += 1
        return start


def _mostly_apart(tokens: Iterable[Token]) -> bool:
    """Whether there is a space before most of the tokens."""
    gaps = [bool(token.gap) for token in tokens]
    return 2 * sum(gaps) > len(gaps)


class Draft:
    """The tokens of a text, changed in place; ``text()`` writes them out.

    ``tokenised``, ``clitics_apart``, ``capitals``, ``contracts`` and ``curly`` say how the original is
    written: with spaces before most of its marks, before most of its clitics, with capitals, with
    contractions, with curly apostrophes. Marks and clitics are judged each by themselves: running text has
    a mark apart here and there, and still no *do n't*.
    """

    def __init__(self, tokens: Sequence[Token], text: str) -> None:
        self.tokens = Tokens(tokens)
        self.original = text
        self.clitics_apart = _mostly_apart(token for token in tokens if token.low in _CLITICS)
        marks = [token for token in tokens if _MARK.fullmatch(token.text)]
        self.tokenised = _mostly_apart(marks) if marks else self.clitics_apart
        self.capitals = any(token.initial and token.capital for token in tokens) or not any(
            token.text[:1].isalpha() for token in tokens
        )
        self.contracts = any(token.low in _CLITICS and token.tag != "POS" for token in tokens)
        self.curly = "’" in text

    def insert(self, index: int, *tokens: Token) -> None:
        """Puts tokens before an index."""
        self.tokens[index:index] = tokens

    def cut(self, start: int, end: int) -> None:
        """Takes tokens out."""
        del self.tokens[start:end]

    def rewrite(self, token: Token, text: str, tag: str | None = None) -> None:
        """Gives a token other words; capitals at the start of a sentence are put back by ``text()``."""
        if token.low in _CLITICS and text.lower() not in _CLITICS:
            token.home = -1
        if token.initial and text != "I" and token.capital:
            text = text[:1].upper() + text[1:]
        token.text = text
        token.tag = token.tag if tag is None else tag

    def inflect(self, verb: Token, tag: str) -> None:
        """Gives a verb the form of a tag, and the tag."""
        self.rewrite(verb, verb.form(tag), tag)

    def text(self) -> str:
        """The edited text."""
        self._tidy_marks()
        self._fix_articles()
        self._fix_capitals()
        parts: list[str] = []
        for index, token in enumerate(self.tokens):
            curls = self.curly and token.home < 0 and len(token.text) > 1
            parts += [self._gap(index), token.text.replace("'", "’") if curls else token.text]
        return "".join(parts) + self.original[len(self.original.rstrip()) :]

    def _gap(self, index: int) -> str:
        """The white space before a token."""
        token, before = self.tokens[index], self.tokens.at(index - 1)
        if not index:
            return self.original[: len(self.original) - len(self.original.lstrip())]
        if token.home > 0 and before.home == token.home - 1:
            return token.gap
        if token.low in _CLITICS:
            return " " if self.clitics_apart else ""
        if self.tokenised:
            return " "
        if token.text[:1] in _CLOSING or before.text[-1:] in _OPENING:
            return ""
        if token.is_quote:
            return token.gap if token.home >= 0 else " "
        if before.is_quote and not (before.gap or before.home == 0):
            return next((other.gap for other in self.tokens if other.home == before.home + 1), " ")
        return "" if before.is_quote else " "

    def _tidy_marks(self) -> None:
        """Drops marks that edits left without words: doubled commas, a comma before a full stop."""
        kept: list[Token] = []
        for token in self.tokens:
            last = kept[-1] if kept else EDGE
            moved = not kept or last.home != token.home - 1 or token.home < 0
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
        """Writes *a* or *an* by the word behind it, where an edit set one of the two."""
        for token, following in zip(self.tokens, self.tokens[1:], strict=False):
            if token.low not in ("a", "an") or token.tag != "DT" or not following.text[:1].isalnum():
                continue
            stood = rf"\ban? +{re.escape(following.text)}\b"
            untouched = token.home >= 0 and following.home == token.home + 1
            if untouched and re.search(stood, self.original, re.IGNORECASE):
                continue
            if (wanted := article(following.text)) != token.low:
                token.text = wanted.capitalize() if token.text[0].isupper() else wanted

    def _fix_capitals(self) -> None:
        for token, initial in zip(self.tokens, initials(self.tokens), strict=True):
            first, rest = token.text[:1], token.text[1:]
            keeps = token.text == "I" or rest != rest.lower()
            if token.initial == initial and token.home >= 0:
                continue
            if initial and self.capitals:
                token.text = first.upper() + rest
            elif token.initial and not initial and token.tag != "NNP" and not keeps:
                token.text = first.lower() + rest


def initials(tokens: Tokens) -> list[bool]:
    """Which words open a sentence, so that a capital on them says nothing."""
    flags: list[bool] = []
    opens, quoted = True, False
    for index, token in enumerate(tokens):
        after, second = tokens.at(index + 1), tokens.at(index + 2)
        is_word = False
        if token.is_quote or token.text in _OPENING:
            opening = not quoted and token.text not in ("'", "’")
            after_mark = index == 0 or tokens[index - 1].text in (",", ":", "-", "--")
            opens = opens or (opening and after_mark and after.capital)
            quoted = not quoted if token.text == '"' else quoted
        elif token.tag == "EN":
            opens = token.text[0] in ".!?" and not token.text.startswith("..")
            opens = opens and not (after.is_quote and second.text[:1].islower())
        else:
            is_word = token.tag != "PU" or token.text[:1].isalnum()
        flags.append(is_word and opens)
        opens = opens and not is_word
    return flags


def after_determiner(tokens: Tokens, index: int) -> bool:
    """Whether a noun must stand here, whatever it looks like: *take some exercise*, *a walk*."""
    before = tokens.at(index - 1)
    if before.low in ("some", "any"):
        return tokens.at(index - 2).tag in ("IN", "VB", "VBP", "VBZ", "VBD", "VBN", "VBG")
    return before.low in ("a", "an", "the", "every") or before.tag == "PS"


@dataclass(frozen=True, slots=True)
class AlignedText:
    """A text with its words, their tags, and the words of each node of its graph."""

    text: str
    graph: AmrGraph
    words: tuple[TextSpan, ...]
    tags: tuple[str, ...]
    words_of: dict[int, tuple[int, ...]]

    def tokens(self) -> tuple[Tokens, dict[int, list[Token]]]:
        """Fresh tokens to edit, and the tokens of each node."""
        tokens, end = Tokens(), 0
        for index, (word, tagged) in enumerate(zip(self.words, self.tags, strict=True)):
            tokens.append(Token(word.text, tagged, index, self.text[end : word.start]))
            end = word.end
        for token, initial in zip(tokens, initials(tokens), strict=True):
            token.initial = initial
        return tokens, {k: [tokens[index] for index in indices] for k, indices in self.words_of.items()}


class Readings:
    """Readings by text and graph; the last thousand are kept."""

    def __init__(self, aligner: Aligner = align) -> None:
        self._aligner = aligner
        self._kept: dict[tuple[str, str], AlignedText] = {}

    def of(self, text: str, graph: AmrGraph) -> AlignedText:
        """The reading of a text."""
        known = self._kept.pop((text, graph.id), None)
        if known is None or (known.graph is not graph and known.graph.nodes != graph.nodes):
            known = _read(self._aligner, text, graph)
        self._kept[text, graph.id] = known
        if len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        return known


def _read(aligner: Aligner, text: str, graph: AmrGraph) -> AlignedText:
    tokens = tokenize(text)
    words = [token.text for token in tokens]
    spans = aligner(graph, words)
    tags = list(tag(words, _evidence(graph, spans, words)))
    for k, span in spans.items():
        node = graph.nodes[k]
        # Parts of names are written with a capital wherever they stand.
        if node.value is not None and node.up is not None and graph.nodes[node.up].concept == "name":
            tags[slice(*span)] = ["NNP" if words[i][:1].isupper() else tags[i] for i in range(*span)]
    return AlignedText(text, graph, tokens, tuple(tags), _mentions(graph, spans, words))


def _evidence(graph: AmrGraph, spans: dict[int, Span], words: list[str]) -> dict[int, str]:
    """What the graph says of a token: a verb, a predicate by another name, or neither."""
    kinds: dict[int, str] = {}
    for k, (start, end) in spans.items():
        concept = graph.nodes[k].concept
        if concept is not None and is_frame(concept):
            verbs = readings(words[start].lower()).get("VERB", ())
            kinds[start] = "verb" if lexeme(concept).split(" ")[0] in verbs else "predicate"
        elif concept is not None and end == start + 1:
            kinds.setdefault(start, "plain")
    return kinds


def _mentions(graph: AmrGraph, spans: dict[int, Span], words: list[str]) -> dict[int, tuple[int, ...]]:
    """The tokens of each node: its span; for a pronoun every form of it that no like node is nearer to."""
    mentions = {k: tuple(range(*span)) for k, span in spans.items()}
    by_person: dict[str, list[int]] = {}
    for node in graph.nodes:
        if node.concept in PRONOUNS and node.concept != "one":
            by_person.setdefault(node.concept, []).append(node.k)
    others = (owned for k, owned in mentions.items() if graph.nodes[k].concept not in by_person)
    taken = {index for owned in others for index in owned}
    for index, word in enumerate(words if by_person else ()):
        if index in taken or (word.lower() == "its" and "it" not in by_person):
            continue
        # It is time; it is for that purpose that: an `it` that stands for nothing.
        expletive = word.lower() == "it" and _EXPLETIVE.match(" ".join(words[index + 1 : index + 7]))
        for person in {person for person, _ in pronoun_cases(word)} & by_person.keys():
            k = min(by_person[person], key=lambda k: abs(spans.get(k, (10**6, 0))[0] - index))
            if index not in mentions.get(k, ()) and not expletive:
                mentions[k] = tuple(sorted((*mentions.get(k, ()), index)))
    return mentions

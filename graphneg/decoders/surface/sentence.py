"""A sentence being edited together with its graph: from a node to its words, verb group or phrase.

In: an `AlignedText`, and the numbers of nodes. Out: indices of tokens, the `VerbGroup` that asserts a node
(``SentenceDraft.predicate``), the `Phrase` that a subtree is said by (``phrase``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from graphneg.decoders.surface.clauses import TIME_NOUNS, VerbGroup, groups, noun_phrase_start
from graphneg.decoders.surface.draft import AlignedText, Draft, Token, Tokens
from graphneg.decoders.surface.forms import BE, HAVE, pronoun_cases
from graphneg.english.noun_kinds import kind_of
from graphneg.english.tagging import FINITE, NOUNS, VERBS
from graphneg.english.words import table_rows, word_class
from graphneg.model import AmrGraph, AmrNode

_INSIDE_PREDICATE = (
    NOUNS | {"JJ", "RB", "DT", "PS", "CD", "NEG", "POS", "PRO"} | {"VBN", "VBG", "IN", "TO", "PN"}
)
_NOMINAL = NOUNS | {"PN", "CD"}
_RELATIVE = frozenset({"WP", "SC", "PRS", "NEG", "RB", "AX", "MD"})
_HANGING = frozenset({"IN", "TO", "SC", "WP", "CC", "PU", "AX", "MD", "DT", "PS"})
_FUNCTIONAL = frozenset({"PS", "DT", "PRS", "PRO", "CC", "NEG", "MD", "AX"})
_WORDLESS = re.compile(r"^(?:and|or|person|thing|name|.*-(?:entity|quantity|91))$")
_KINDS = {"infinitive": "verb", "bare": "verb", "gerund": "verb", "participle": "adjective"}
_NO_START = frozenset({*NOUNS, *VERBS, "PRS", "PRO", "PN", "IN"})
_COPULA_REACH = 3
_GAP_REACH = 6


Known = Token | str | bool


class RealisationError(Exception):
    """An edit that the words at hand can't express. ``code`` is stable; `SurfaceDecoder` lists them."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Rule(NamedTuple):
    """Why an edit is refused, and where: names, their features, the values these must have, or must not."""

    code: str
    message: str
    conditions: tuple[tuple[str, str, frozenset[str], bool], ...]


@cache
def refusals() -> dict[str, list[Rule]]:
    """The rules of each set, in order, as ``refusals.tsv`` says them.

    A row has a set, a code, a message, and its conditions, which must all hold: ``before.low=a|an`` compares
    a token's ``low``, ``tag``, ``full``, ``lemma``, ``text`` or ``kind``; ``wanted.kind!=person`` a word's
    kind; ``wanted=often`` a word itself; ``asked``, ``!asked`` and ``before.initial`` are flags;
    ``before.text=`` says that nothing stands there; ``@name`` stands for the words of a class.
    """
    sets: dict[str, list[Rule]] = {}
    for name, code, message, cells in table_rows("graphneg.decoders.surface", "refusals.tsv"):
        sets.setdefault(name, []).append(Rule(code, message, tuple(map(_condition, cells.split()))))
    return sets


def _condition(cell: str) -> tuple[str, str, frozenset[str], bool]:
    path, equals, words = cell.partition("=")
    name, _, feature = path.strip("!").partition(".")
    values = [word_class(word[1:]) if word[:1] == "@" else {word} for word in words.split("|")]
    known = frozenset[str]().union(*values) if equals else frozenset({"yes"})
    return name, feature, known, "!" not in (path[:1], path[-1:])


def _feature(thing: Known, feature: str) -> str:
    if feature == "kind":
        return kind_of(thing.low if isinstance(thing, Token) else str(thing))
    value = getattr(thing, feature) if isinstance(thing, Token) else thing
    return value if isinstance(value, str) else "yes" if value else "no"


class SentenceDraft(Draft):
    """A draft, the graph it says, and the tokens of each node (``owned``)."""

    def __init__(self, reading: AlignedText) -> None:
        tokens, self.owned = reading.tokens()
        super().__init__(tokens, reading.text)
        self.graph: AmrGraph = reading.graph

    def groups(self) -> list[VerbGroup]:
        """The verb groups, in order."""
        return groups(self.tokens)

    def refuse(self, rules: str, index: int, **known: Known) -> None:
        """Raises as the first of the rules says whose conditions all hold of the words around an index.

        ``token`` is the one there, with ``before``, ``after`` and ``after2`` around it, where ``known`` says
        nothing else.
        """
        steps = {"before": -1, "token": 0, "after": 1, "after2": 2}
        known = {name: self.tokens.at(index + step) for name, step in steps.items()} | known
        for rule in refusals()[rules]:
            checks = [_feature(known[at], of) in values for at, of, values, _ in rule.conditions]
            if checks == [holds for _, _, _, holds in rule.conditions]:
                raise RealisationError(rule.code, rule.message.format(**known))

    def node(self, k: int) -> AmrNode:
        """A node of the graph; raises ``unsupported-edit`` where there is none."""
        if not 0 <= k < len(self.graph.nodes):
            raise RealisationError("unsupported-edit", f"the graph has no node {k}")
        return self.graph.nodes[k]

    def indices(self, k: int) -> list[int]:
        """Where the words of a node stand now."""
        return sorted(index for token in self.owned.get(k, ()) if (index := self.tokens.where(token)) >= 0)

    def subtree_indices(self, k: int) -> list[int]:
        """Where the words of the subtree at a node stand now."""
        return [index for inner in range(k, self.node(k).last + 1) for index in self.indices(inner)]

    def head(self, k: int) -> int:
        """Where the first word of a node stands; raises ``no-alignment`` where it has none."""
        indices = self.indices(k)
        if not indices:
            raise RealisationError("no-alignment", f"no word stands for {self.node(k).label}")
        return indices[0]

    def predicate(self, k: int) -> VerbGroup | None:
        """The verb group that asserts a node: its own, or the copula or light verb before it."""
        self.node(k)
        known, indices = self.groups(), self.indices(k)
        if not indices:
            return self._between_arguments(k, known)
        own = (group for index in indices for group in known if index in group.chain)
        return next(own, None) or self._governing(indices[0], known)

    def finite(self, group: VerbGroup | None) -> VerbGroup | None:
        """The group itself, or the finite one that an infinitive or a conjoined participle hangs on."""
        if group is None or group.is_main:
            return group
        before = self.finite_before(group.first)
        between = self.tokens[before.main : group.first] if before else []
        return None if any(token.tag in ("SC", "WP", "QT") for token in between) else before

    def finite_before(self, index: int) -> VerbGroup | None:
        """The last finite verb group of the sentence before an index."""
        start, _ = self.sentence_bounds(index)
        before = [group for group in self.groups() if start <= group.first < index and group.kind == "finite"]
        return before[-1] if before else None

    def offers(self, group: VerbGroup) -> bool:
        """``Here you are``, ``Here it is``: what is handed over."""
        if group.subject is None or len(group.chain) > 1 or self.tokens[group.main].low not in BE:
            return False
        start, end = group.subject
        pronoun = end - start == 1 and self.tokens[start].tag in ("PRS", "PRO")
        return pronoun and self.tokens.at(start - 1).low == "here"

    def presents(self, group: VerbGroup) -> bool:
        """Return whether a clause shows something to the addressee, which nobody denies or asks.

        "Here comes the bus", "There's your sister"; but "There's a bank" tells that one exists.
        """
        place, verb = self.tokens.at(group.first - 1), self.tokens[group.main]
        if place.low not in ("here", "there") or self.tokens.at(group.first - 2).tag in _NO_START:
            return False
        shown = self.tokens.at(group.main + 1)
        definite = shown.tag in ("PS", "NNP", "PRS") or shown.low in ("the", "this", "that", "these", "those")
        return verb.lemma in ("come", "go") or (verb.is_be and definite)

    def conjuncts(self, group: VerbGroup) -> list[Token]:
        """The lone verbs that ``and`` joins to a finite group, under the same subject."""
        _, end = self.sentence_bounds(group.first)
        verbs: list[Token] = []
        for other in self.groups():
            if not group.main < other.first < end:
                continue
            shares = other.kind == "bare" or (other.kind == "finite" and other.subject == group.subject)
            if other.kind == "finite" and not shares:
                break
            verb, joint = self.tokens[other.first], self.tokens.at(self.tokens.back(other.first, ("RB",)) - 1)
            lone = len(other.chain) == 1 and verb.tag in ("VB", "VBD", "VBZ", "VBP")
            if lone and shares and joint.low == "and" and not other.negations:
                verbs.append(verb)
        return verbs

    def _governing(self, index: int, known: Sequence[VerbGroup]) -> VerbGroup | None:
        """The linking or light verb whose complement the word at ``index`` is."""
        tokens = self.tokens
        group = next((group for group in reversed(known) if group.main < index), None)
        if group is not None:
            end = max(group.subject[1] if group.inverted and group.subject else 0, group.main + 1)
            fits = all(token.tag in _INSIDE_PREDICATE or token.text == "," for token in tokens[end:index])
            # An adjective before its noun is no predicate of the clause, unless its noun is one.
            attributive = tokens[index].tag in ("JJ", "VBN", "VBG") and self.is_noun(index + 1)
            # A verb that links, or one that no node of the graph stands for.
            verb, between = tokens[group.main], tokens[group.main + 1 : index]
            light = verb.lemma in word_class("linking-or-light") or verb.low == "'s"
            if not light and self._owner(verb) is None:
                light = not any(token.tag == "IN" for token in between)
            if fits and index >= end and not attributive and light:
                return group
        after = next((group for group in known if group.main > index), None)
        if after is not None and after.subject is not None and tokens[after.main].low in BE | {"'s"}:
            opens = index == 0 or tokens[index - 1].low in ("how", "what", "so", "such", '"')
            if index < after.subject[0] and opens:
                return after
        return None

    def _owner(self, token: Token) -> int | None:
        return next((k for k, tokens in self.owned.items() if token in tokens), None)

    def _between_arguments(self, k: int, known: Sequence[VerbGroup]) -> VerbGroup | None:
        """For a node without words (most -91 frames): the finite copula nearest to its arguments' words."""
        arguments = [child.k for child in self.graph.children(k)]
        arguments += [mention.target for mention in self.graph.mentions if mention.up == k]
        around = [index for argument in arguments for index in self.indices(argument)[:1]]
        light = BE | HAVE - {"having"} | {"'s"}
        distances: list[tuple[int, int]] = []
        for number, group in enumerate(known if around else ()):
            main = self.tokens[group.main]
            if group.is_main and (main.low in light or not self._owner(main)):
                distances.append((max(min(around) - group.main, group.main - max(around), 0), number))
        distance, nearest = min(distances, default=(_COPULA_REACH + 1, 0))
        return known[nearest] if distance <= _COPULA_REACH else None

    def owners(self) -> dict[int, int]:
        """The node of each index; the lowest node where several share a word."""
        return {index: k for k in sorted(self.owned, reverse=True) for index in self.indices(k)}

    def is_noun(self, index: int) -> bool:
        """Whether a noun stands there."""
        return self.tokens.at(index).tag in NOUNS

    def sentence_bounds(self, index: int) -> tuple[int, int]:
        """The sentence around an index: from after the last end mark to after the next, quotes included."""
        tokens, start, end = self.tokens, index, index
        while start and tokens[start - 1].tag != "EN":
            start -= 1
        while 0 < start < index and tokens[start].is_quote and tokens[start - 1].tag == "EN":
            start += 1
        while end < len(tokens) and tokens[end].tag != "EN":
            end += 1
        return start, tokens.over(end, ("EN",))

    def noun_phrase(self, index: int) -> tuple[int, int]:
        """The simple noun phrase around a noun: determiner, modifiers, head; none before a preposition."""
        tokens, end = self.tokens, index + 1
        while self.is_noun(end) and tokens[end].low not in TIME_NOUNS:
            end += 1
        start = noun_phrase_start(tokens, end)
        links = (other for other in range(end - 1, start - 1, -1) if tokens[other].tag in ("IN", "CC", "TO"))
        return min(next(links, start - 1) + 1, index), end


@dataclass(slots=True)
class Phrase:
    """The words of a subtree: their indices, what kind of phrase they are, and the index of its head.

    Kinds: ``nominal``, ``determiner``, ``possessive``, ``modifier``, ``adjective``, ``adverb``, ``verb``,
    ``predicate``, ``clause``, ``other``.
    """

    start: int
    end: int
    kind: str
    head: int


def phrase(sentence: SentenceDraft, k: int) -> Phrase:
    """The contiguous words of the subtree at ``k``, with what goes with them; raises ``no-alignment``."""
    concept, tokens = sentence.node(k).concept, sentence.tokens
    if concept in ("and", "or"):
        return _coordination(sentence, k)
    if concept == "name" and (own := sentence.indices(k)):
        return Phrase(own[0], own[-1] + 1, "nominal", own[-1])
    head = _head(sentence, k)
    tag, low = tokens[head].tag, head
    lone = {"PRS": "nominal", "PRO": "nominal", "DT": "determiner", "PS": "possessive"}.get(tag)
    if tag == "PN" and pronoun_cases(tokens[head].text):
        lone = "nominal"
    if tag == "CD" and sentence.is_noun(head + 1):
        lone = "determiner"
    if lone is not None:
        return Phrase(head, head + 1, lone, head)
    group = next((group for group in sentence.groups() if head in group.chain), None)
    start, high = _window(sentence, k, head)
    if group is not None and tag not in NOUNS:
        return _verb_phrase(sentence, k, group, start, high, head)
    if tag in _NOMINAL:
        return _noun_phrase(sentence, k, start, high, head)
    if tag in ("JJ", "VBN", "VBG"):
        while low and tokens[low - 1].low in word_class("degree-words"):
            low -= 1
        if sentence.is_noun(high) or tokens.at(high).tag == "JJ":
            return Phrase(low, max(head + 1, high), "modifier", head)
        return Phrase(low, high, "adjective", head)
    return Phrase(start, high, "adverb" if tag in ("RB", "WP") else "other", head)


def _noun_phrase(sentence: SentenceDraft, k: int, low: int, high: int, head: int) -> Phrase:
    tokens, owners, last = sentence.tokens, sentence.owners(), sentence.node(k).last
    if sentence.is_noun(head + 1) and owners.get(head + 1, k) < k:
        return Phrase(head, head + 1, "modifier", head)
    start, end = sentence.noun_phrase(head)
    modifiers = {"JJ", "VBN", "VBG", "RB", "CD", *NOUNS}
    if all(token.tag in modifiers for token in tokens[low:start]):
        start = min(start, low)
    # Modifiers left of the head that belong to nodes outside the subtree stay out of the phrase.
    for index in range(head - 1, start - 1, -1):
        owner = owners.get(index)
        if owner is None or k <= owner <= last or tokens[index].tag in ("PS", "DT"):
            continue
        if not owner <= k <= sentence.node(owner).last:
            start = index + 1
            break
    return Phrase(start, max(high, end), "nominal", head)


def _coordination(sentence: SentenceDraft, k: int) -> Phrase:
    """All the conjuncts from the first to the last, of the kind that the first one is."""
    children = sentence.graph.children(k)
    parts = [phrase(sentence, child.k) for child in children if (child.role or "").startswith("op")]
    if not parts:
        raise RealisationError("no-alignment", f"no word stands for the parts of {sentence.node(k).label}")
    start, end = min(part.start for part in parts), max(part.end for part in parts)
    if any(token.tag == "EN" for token in sentence.tokens[start:end]):
        raise RealisationError("unclear-clause", "the parts stand in several sentences")
    kinds = {part.kind for part in parts}
    return Phrase(start, end, parts[0].kind if len(kinds) == 1 else "other", parts[0].head)


def _head(sentence: SentenceDraft, k: int) -> int:
    indices = sentence.indices(k)
    if indices:
        run = indices[-1] - indices[0] == len(indices) - 1
        return indices[-1] if run and sentence.is_noun(indices[-1]) else indices[0]
    if _WORDLESS.match(sentence.node(k).label):
        firsts = [index for child in sentence.graph.children(k) for index in sentence.indices(child.k)[:1]]
        if firsts:
            return min(firsts, key=lambda index: sentence.tokens[index].tag in ("DT", "CD"))
    raise RealisationError("no-alignment", f"no word stands for {sentence.node(k).label}")


def _window(sentence: SentenceDraft, k: int, head: int) -> tuple[int, int]:
    """Grows from the head over words of the subtree, as long as nothing foreign stands between. A phrase
    takes the whole of the noun phrases at its edges, and no preposition left hanging."""
    tokens, last = sentence.tokens, sentence.node(k).last
    # What a noun or adjective is said of, and its negation, are no part of its phrase.
    outside = {
        node.k
        for child in sentence.graph.children(k)
        if child.role in ("domain", "polarity", "mode")
        for node in sentence.graph.subtree(child.k)
    }
    inside = sorted(
        {i for inner in range(k, last + 1) if inner not in outside for i in sentence.indices(inner)}
    )
    foreign = sentence.owners().keys() - set(inside)
    low, high = head, head + 1
    for index in reversed([index for index in inside if index < head]):
        if not _clear(tokens, foreign, index + 1, low) or _has_mark(tokens[index + 1 : low]):
            break
        low = index
    for index in [index for index in inside if index >= head]:
        if not _clear(tokens, foreign, high, index):
            break
        if _has_mark(tokens[high:index]) and not _listed(sentence, k, index):
            break
        finite = tokens[index].tag in FINITE and tokens.at(index - 1).tag not in _RELATIVE
        if sentence.is_noun(head) and finite:
            break
        high = max(high, index + 1)
    if low < head:
        while tokens.at(low - 1).tag in ("DT", "PS", "JJ") and tokens[low].tag in (*NOUNS, "JJ", "CD"):
            low -= 1
        if tokens.at(low - 1).tag == "IN" and tokens[head].tag in VERBS:
            low -= 1
    return low, max(head + 1, tokens.back(high, _HANGING))


def _has_mark(tokens: Sequence[Token]) -> bool:
    return any(token.tag == "PU" and token.text != "-" for token in tokens)


def _listed(sentence: SentenceDraft, k: int, index: int) -> bool:
    """Whether the word stands for a conjunct inside the subtree: such words may follow a comma."""
    token = sentence.tokens[index]
    for inner in range(k + 1, sentence.node(k).last + 1):
        at: int | None = inner if token in sentence.owned.get(inner, ()) else None
        while at is not None and at > k:
            if re.match(r"op\d", sentence.node(at).role or ""):
                return token.tag not in ("PRS", "PRO")
            at = sentence.node(at).up
    return False


def _clear(tokens: Tokens, foreign: set[int], start: int, end: int) -> bool:
    between = tokens[start:end]
    if len(between) > _GAP_REACH or any(token.tag == "EN" or token.is_quote for token in between):
        return False
    return all(tokens[index].tag in _FUNCTIONAL for index in range(start, end) if index in foreign)


def _verb_phrase(sentence: SentenceDraft, k: int, group: VerbGroup, low: int, high: int, head: int) -> Phrase:
    low, high = min(low, group.first), max(high, group.main + 1)
    if group.kind == "finite" and group.subject is not None:
        (start, end), owners = group.subject, sentence.owners()
        own = any(k <= owners.get(index, -1) <= sentence.node(k).last for index in range(start, end))
        if own or sentence.tokens[start].tag in ("PRS", "EX", "PN"):
            return Phrase(min(low, start), max(high, end), "clause", head)
    kind = _KINDS.get(group.kind, "predicate")
    return Phrase(group.first if kind == "verb" else low, high, kind, head)

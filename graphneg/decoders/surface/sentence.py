"""Find the words that express a graph node: its tokens, its verb group, or its phrase.

Edits refer to nodes of the AMR graph, but the rules of grammar are about words. `SentenceDraft` combines the
text that is edited with its graph. It finds the tokens that express a node, the verb group that asserts the
node (`SentenceDraft.predicate`), and the bounds of the sentence or noun phrase around a token. `phrase`
returns the contiguous words of a subtree. Many conditions under which edits are refused are rules in
``refusals.tsv``, which `SentenceDraft.refuse` applies.

Input: an `AlignedText` and node numbers. Output: token indices, verb groups, phrases.

Example: in "He was very happy." with the graph ``(h / happy-01 :ARG0 (h2 / he) :degree (v / very))`` the
predicate of node 0 is the group of *was*. The phrase of node 0 is "very happy", of kind ``adjective``.
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

# Tags that may occur between a linking verb and its complement: "is not a very *good* idea".
_INSIDE_PREDICATE = (
    NOUNS | {"JJ", "RB", "DT", "PS", "CD", "NEG", "POS", "PRO"} | {"VBN", "VBG", "IN", "TO", "PN"}
)
_NOMINAL = NOUNS | {"PN", "CD"}
# Tags of words that can introduce a relative clause or be inside it: "the man who *left*". After such a word,
# a finite verb may be part of a noun phrase.
_RELATIVE = frozenset({"WP", "SC", "PRS", "NEG", "RB", "AX", "MD"})
# Tags of words that must not end a phrase: "the man in".
_HANGING = frozenset({"IN", "TO", "SC", "WP", "CC", "PU", "AX", "MD", "DT", "PS"})
# Tags of words that may occur inside a phrase although they belong to nodes outside the subtree.
_FUNCTIONAL = frozenset({"PS", "DT", "PRS", "PRO", "CC", "NEG", "MD", "AX"})
# Concepts that often have no word. Their phrase is found through their children.
_WORDLESS = re.compile(r"^(?:and|or|person|thing|name|.*-(?:entity|quantity|91))$")
_KINDS = {"infinitive": "verb", "bare": "verb", "gerund": "verb", "participle": "adjective"}
# Tags after which *here* and *there* do not begin a clause: "I go there".
_NO_START = frozenset({*NOUNS, *VERBS, "PRS", "PRO", "PN", "IN"})
# Maximum number of tokens between a copula and the words of its arguments.
_COPULA_REACH = 3
# Maximum number of tokens between two aligned words of a phrase.
_GAP_REACH = 6


Known = Token | str | bool
"""Value that a rule of ``refusals.tsv`` can test: a token, a word or a flag."""


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


class Rule(NamedTuple):
    """A row of ``refusals.tsv``, which states the conditions under which an edit is refused.

    Attributes:
        code: The code of the refusal.
        message: The explanation, as a format string in which the tested values can be used.
        conditions: The conditions. Each consists of the name of a value, the feature of the value to test, a
            set of words, and whether the feature must be (True) or must not be (False) among these words.
    """

    code: str
    message: str
    conditions: tuple[tuple[str, str, frozenset[str], bool], ...]


@cache
def refusals() -> dict[str, list[Rule]]:
    """Read the rules of ``refusals.tsv``.

    A row consists of the name of a rule set, a code, a message and conditions. The rule applies if all of its
    conditions are met. Conditions have these forms:

    - ``before.low=a|an``: the feature of a token is one of the words. The features are ``low``, ``tag``,
        ``full``, ``lemma``, ``text`` and ``kind``.
    - ``wanted.kind!=person``: the semantic class of a word is not this one.
    - ``wanted=often``: the word is this one.
    - ``asked``, ``!asked`` and ``before.initial``: a flag is set, or is not set.
    - ``before.text=``: there is no such token.

    Instead of a word, ``@name`` stands for all words of a class in ``word_classes.tsv``.

    Returns:
        The rules of each set, in the order of the table.
    """
    sets: dict[str, list[Rule]] = {}
    for name, code, message, cells in table_rows("graphneg.decoders.surface", "refusals.tsv"):
        sets.setdefault(name, []).append(Rule(code, message, tuple(map(_condition, cells.split()))))
    return sets


def _condition(cell: str) -> tuple[str, str, frozenset[str], bool]:
    """Parse one condition of a rule."""
    path, equals, words = cell.partition("=")
    name, _, feature = path.strip("!").partition(".")
    values = [word_class(word[1:]) if word[:1] == "@" else {word} for word in words.split("|")]
    known = frozenset[str]().union(*values) if equals else frozenset({"yes"})
    return name, feature, known, "!" not in (path[:1], path[-1:])


def _feature(thing: Known, feature: str) -> str:
    """Return a feature of a value as a string; for a flag, ``yes`` or ``no``."""
    if feature == "kind":
        return kind_of(thing.low if isinstance(thing, Token) else str(thing))
    value = getattr(thing, feature) if isinstance(thing, Token) else thing
    return value if isinstance(value, str) else "yes" if value else "no"


class SentenceDraft(Draft):
    """A text that is edited, with its graph.

    Args:
        reading: The aligned text.

    Attributes:
        graph: The AMR graph of the original text.
        owned: The tokens that express each node, by node number.
    """

    def __init__(self, reading: AlignedText) -> None:
        """Initialize the draft with editable copies of the tokens."""
        tokens, self.owned = reading.tokens()
        super().__init__(tokens, reading.text)
        self.graph: AmrGraph = reading.graph

    def groups(self) -> list[VerbGroup]:
        """Return the current verb groups, in order."""
        return groups(self.tokens)

    def refuse(self, rules: str, index: int, **known: Known) -> None:
        """Raise an error if a rule of a rule set applies to the words around an index.

        A rule applies if all its conditions are met. If several rules apply, the first one gives the code and
        the message. Rules can test the token at the index (``token``) and its neighbours (``before``,
        ``after``, ``after2``).

        Args:
            rules: The name of the rule set in ``refusals.tsv``.
            index: The index of the token that an edit would change.
            **known: Further values that the rules can test. A value named ``before``, for example, replaces
                the token before the index.

        Raises:
            RealisationError: A rule applies.
        """
        steps = {"before": -1, "token": 0, "after": 1, "after2": 2}
        known = {name: self.tokens.at(index + step) for name, step in steps.items()} | known
        for rule in refusals()[rules]:
            checks = [_feature(known[at], of) in values for at, of, values, _ in rule.conditions]
            if checks == [holds for _, _, _, holds in rule.conditions]:
                raise RealisationError(rule.code, rule.message.format(**known))

    def node(self, k: int) -> AmrNode:
        """Return a node of the graph.

        Args:
            k: The node number.

        Returns:
            The node.

        Raises:
            RealisationError: The graph has no such node (``unsupported-edit``).
        """
        if not 0 <= k < len(self.graph.nodes):
            raise RealisationError("unsupported-edit", f"the graph has no node {k}")
        return self.graph.nodes[k]

    def indices(self, k: int) -> list[int]:
        """Return the current token indices of a node.

        Args:
            k: The node number.

        Returns:
            The indices in ascending order.
        """
        return sorted(index for token in self.owned.get(k, ()) if (index := self.tokens.where(token)) >= 0)

    def subtree_indices(self, k: int) -> list[int]:
        """Return the current token indices of all nodes of a subtree.

        Args:
            k: The number of the top node of the subtree.

        Returns:
            The indices, node by node.
        """
        return [index for inner in range(k, self.node(k).subtree_last + 1) for index in self.indices(inner)]

    def head(self, k: int) -> int:
        """Return the index of the first token of a node.

        Args:
            k: The node number.

        Returns:
            The index.

        Raises:
            RealisationError: No token is aligned with the node (``no-alignment``).
        """
        indices = self.indices(k)
        if not indices:
            raise RealisationError("no-alignment", f"no word stands for {self.node(k).label}")
        return indices[0]

    def predicate(self, k: int) -> VerbGroup | None:
        """Return the verb group that asserts a node.

        Args:
            k: The node number.

        Returns:
            The group that contains the verb of the node. If the word of the node is not a verb, the group of
            the copula or light verb before it: *was* for *happy* in "He was happy". None if there is no such
            group.
        """
        self.node(k)
        known, indices = self.groups(), self.indices(k)
        if not indices:
            return self._between_arguments(k, known)
        own = (group for index in indices for group in known if index in group.chain)
        return next(own, None) or self._governing(indices[0], known)

    def finite(self, group: VerbGroup | None) -> VerbGroup | None:
        """Return the finite or imperative group on which a group depends.

        Args:
            group: Any group, or None.

        Returns:
            The group itself if it is finite or imperative. Otherwise the finite group before it: "want" for
            "to go" in "I want to go". None if there is no such group, or if a conjunction or a question word
            is between the two.
        """
        if group is None or group.is_main:
            return group
        before = self.finite_before(group.first)
        between = self.tokens[before.main : group.first] if before else []
        return None if any(token.tag in ("SC", "WP", "QT") for token in between) else before

    def finite_before(self, index: int) -> VerbGroup | None:
        """Return the last finite group before an index in the same sentence.

        Args:
            index: The index of a token.

        Returns:
            The group, or None if there is no finite group before the index.
        """
        start, _ = self.sentence_bounds(index)
        before = [group for group in self.groups() if start <= group.first < index and group.kind == "finite"]
        return before[-1] if before else None

    def offers(self, group: VerbGroup) -> bool:
        """Return whether a clause is said when handing something over: "Here you are", "Here it is".

        Args:
            group: The verb group of the clause.

        Returns:
            True for such a clause.
        """
        if group.subject is None or len(group.chain) > 1 or self.tokens[group.main].low not in BE:
            return False
        start, end = group.subject
        pronoun = end - start == 1 and self.tokens[start].tag in ("PRS", "PRO")
        return pronoun and self.tokens.at(start - 1).low == "here"

    def presents(self, group: VerbGroup) -> bool:
        """Return whether a clause presents something to the addressee.

        Clauses such as "Here comes the bus" and "There's your sister" are neither denied nor asked. "There's
        a bank" is not such a clause, because it states that a bank exists.

        Args:
            group: The verb group of the clause.

        Returns:
            True for such a clause.
        """
        place, verb = self.tokens.at(group.first - 1), self.tokens[group.main]
        if place.low not in ("here", "there") or self.tokens.at(group.first - 2).tag in _NO_START:
            return False
        shown = self.tokens.at(group.main + 1)
        definite = shown.tag in ("PS", "NNP", "PRS") or shown.low in ("the", "this", "that", "these", "those")
        return verb.lemma in ("come", "go") or (verb.is_be and definite)

    def inside_list(self, comma: int) -> bool:
        """Return whether a comma separates items of a list.

        Args:
            comma: The index of the comma.

        Returns:
            True if *and* or *or* follows in the sentence, but no verb and no clause. This is the case for
            both commas of "with Jim, Tom, and Ann".
        """
        joint = False
        for token in self.tokens[comma + 1 :]:
            if token.tag in ("EN", "QT"):
                break
            if token.tag in VERBS or token.tag in ("SC", "WP", "PRS", "TO"):
                return False
            joint = joint or token.low in ("and", "or")
        return joint

    def conjuncts(self, group: VerbGroup) -> list[Token]:
        """Return the verbs without auxiliaries that *and* joins to a finite group and its subject.

        Args:
            group: The verb group.

        Returns:
            The tokens of these verbs. For the group of *sang* in "She sang and danced", this is *danced*.
        """
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
        """Return the linking or light verb whose complement is the word at an index."""
        tokens = self.tokens
        group = next((group for group in reversed(known) if group.main < index), None)
        if group is not None:
            end = max(group.subject[1] if group.inverted and group.subject else 0, group.main + 1)
            fits = all(token.tag in _INSIDE_PREDICATE or token.text == "," for token in tokens[end:index])
            # In "a happy man", the adjective modifies its noun and is not the complement of a verb.
            attributive = tokens[index].tag in ("JJ", "VBN", "VBG") and self.is_noun(index + 1)
            # A verb without a node is a light verb: the graph of "take a walk" contains only ``walk-01``.
            verb, between = tokens[group.main], tokens[group.main + 1 : index]
            light = verb.lemma in word_class("linking-or-light") or verb.low == "'s"
            if not light and self._owner(verb) is None:
                light = not any(token.tag == "IN" for token in between)
            if fits and index >= end and not attributive and light:
                return group
        # In "How beautiful you are!", the complement precedes the verb and its subject.
        after = next((group for group in known if group.main > index), None)
        if after is not None and after.subject is not None and tokens[after.main].low in BE | {"'s"}:
            opens = index == 0 or tokens[index - 1].low in ("how", "what", "so", "such", '"')
            if index < after.subject[0] and opens:
                return after
        return None

    def _owner(self, token: Token) -> int | None:
        """Return the number of the first node that a token expresses, or None if there is none."""
        return next((k for k, tokens in self.owned.items() if token in tokens), None)

    def _between_arguments(self, k: int, known: Sequence[VerbGroup]) -> VerbGroup | None:
        """Return the copula nearest to the arguments of a node without words, such as most ``-91`` frames.

        Returns:
            The group of the copula; None if no copula is near the arguments.
        """
        arguments = [child.position for child in self.graph.children(k)]
        arguments += [mention.target for mention in self.graph.mentions if mention.parent == k]
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
        """Return, for each token that expresses a node, the number of this node.

        Returns:
            The node numbers by token index. If several nodes share a token, the lowest number.
        """
        return {index: k for k in sorted(self.owned, reverse=True) for index in self.indices(k)}

    def is_noun(self, index: int) -> bool:
        """Return whether the token at an index is a noun.

        Args:
            index: Any integer.

        Returns:
            True if the token exists and is a noun.
        """
        return self.tokens.at(index).tag in NOUNS

    def sentence_bounds(self, index: int) -> tuple[int, int]:
        """Return the bounds of the sentence around an index.

        Args:
            index: The index of a token.

        Returns:
            The index of the first token, and the index after the last token. The sentence includes its end
            marks and opening quotation marks, but not the closing quotation mark of the previous sentence.
        """
        tokens, start, end = self.tokens, index, index
        while start and tokens[start - 1].tag != "EN":
            start -= 1
        while 0 < start < index and tokens[start].is_quote and tokens[start - 1].tag == "EN":
            start += 1
        while end < len(tokens) and tokens[end].tag != "EN":
            end += 1
        return start, tokens.over(end, ("EN",))

    def noun_phrase(self, index: int) -> tuple[int, int]:
        """Return the bounds of the simple noun phrase around a noun.

        Args:
            index: The index of the noun.

        Returns:
            The index of the first token, and the index after the last token. The phrase consists of
            determiner, modifiers and head, without a preceding preposition or conjunct.
        """
        tokens, end = self.tokens, index + 1
        while self.is_noun(end) and tokens[end].low not in TIME_NOUNS:
            end += 1
        start = noun_phrase_start(tokens, end)
        links = (other for other in range(end - 1, start - 1, -1) if tokens[other].tag in ("IN", "CC", "TO"))
        return min(next(links, start - 1) + 1, index), end


@dataclass(slots=True)
class Phrase:
    """The contiguous words of a subtree.

    Attributes:
        start: The index of the first token.
        end: The index after the last token.
        kind: ``nominal``, ``determiner``, ``possessive``, ``modifier`` (adjective before its noun),
            ``adjective``, ``adverb``, ``verb`` (without tense), ``predicate`` (with tense), ``clause`` (with
            its subject) or ``other``.
        head: The index of the head.
    """

    start: int
    end: int
    kind: str
    head: int


def phrase(sentence: SentenceDraft, k: int) -> Phrase:
    """Return the contiguous words of a subtree, with the function words that belong to them.

    Raises `RealisationError` (``no-alignment``) if no word expresses the node.

    Args:
        sentence: The sentence.
        k: The number of the top node of the subtree.

    Returns:
        The phrase.
    """
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
    # In "six years", the number is the determiner of its noun.
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
        # Degree words belong to the phrase of the adjective: "very happy".
        while low and tokens[low - 1].low in word_class("degree-words"):
            low -= 1
        if sentence.is_noun(high) or tokens.at(high).tag == "JJ":
            return Phrase(low, max(head + 1, high), "modifier", head)
        return Phrase(low, high, "adjective", head)
    return Phrase(start, high, "adverb" if tag in ("RB", "WP") else "other", head)


def _noun_phrase(sentence: SentenceDraft, k: int, low: int, high: int, head: int) -> Phrase:
    """Return the phrase of a noun."""
    tokens, owners, last = sentence.tokens, sentence.owners(), sentence.node(k).subtree_last
    # In "bank account", the first noun is only a modifier of the second.
    if sentence.is_noun(head + 1) and owners.get(head + 1, k) < k:
        return Phrase(head, head + 1, "modifier", head)
    start, end = sentence.noun_phrase(head)
    modifiers = {"JJ", "VBN", "VBG", "RB", "CD", *NOUNS}
    if all(token.tag in modifiers for token in tokens[low:start]):
        start = min(start, low)
    # Leave out modifiers that belong to nodes outside the subtree.
    for index in range(head - 1, start - 1, -1):
        owner = owners.get(index)
        if owner is None or k <= owner <= last or tokens[index].tag in ("PS", "DT"):
            continue
        if not owner <= k <= sentence.node(owner).subtree_last:
            start = index + 1
            break
    return Phrase(start, max(high, end), "nominal", head)


def _coordination(sentence: SentenceDraft, k: int) -> Phrase:
    """Return the phrase that extends from the first to the last conjunct."""
    children = sentence.graph.children(k)
    parts = [phrase(sentence, child.position) for child in children if (child.role or "").startswith("op")]
    if not parts:
        raise RealisationError("no-alignment", f"no word stands for the parts of {sentence.node(k).label}")
    start, end = min(part.start for part in parts), max(part.end for part in parts)
    if any(token.tag == "EN" for token in sentence.tokens[start:end]):
        raise RealisationError("unclear-clause", "the parts stand in several sentences")
    kinds = {part.kind for part in parts}
    return Phrase(start, end, parts[0].kind if len(kinds) == 1 else "other", parts[0].head)


def _head(sentence: SentenceDraft, k: int) -> int:
    """Return the index of the head word of a node. If the node has no word, use the words of its children."""
    indices = sentence.indices(k)
    if indices:
        run = indices[-1] - indices[0] == len(indices) - 1
        return indices[-1] if run and sentence.is_noun(indices[-1]) else indices[0]
    if _WORDLESS.match(sentence.node(k).label):
        firsts = [
            index for child in sentence.graph.children(k) for index in sentence.indices(child.position)[:1]
        ]
        if firsts:
            return min(firsts, key=lambda index: sentence.tokens[index].tag in ("DT", "CD"))
    raise RealisationError("no-alignment", f"no word stands for {sentence.node(k).label}")


def _window(sentence: SentenceDraft, k: int, head: int) -> tuple[int, int]:
    """Return the bounds of the contiguous words of a subtree around its head.

    The phrase stops at words of other nodes. It includes the determiners of the noun phrases at its edges,
    and does not end in a preposition.

    Args:
        sentence: The sentence.
        k: The number of the top node of the subtree.
        head: The index of the head.

    Returns:
        Start and end of the phrase.
    """
    tokens, last = sentence.tokens, sentence.node(k).subtree_last
    # The subject and the negation of a noun or adjective are not part of its phrase. In "She is not a
    # teacher", the phrase of *teacher* is "a teacher".
    outside = {
        node.position
        for child in sentence.graph.children(k)
        if child.role in ("domain", "polarity", "mode")
        for node in sentence.graph.subtree(child.position)
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
        # The phrase of a noun must not include a finite verb, unless the verb is in a relative clause: "the
        # man who left".
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
    """Return whether a punctuation mark, other than a hyphen, is among the tokens."""
    return any(token.tag == "PU" and token.text != "-" for token in tokens)


def _listed(sentence: SentenceDraft, k: int, index: int) -> bool:
    """Return whether a word belongs to a conjunct of the subtree and may therefore follow a comma."""
    token = sentence.tokens[index]
    for inner in range(k + 1, sentence.node(k).subtree_last + 1):
        at: int | None = inner if token in sentence.owned.get(inner, ()) else None
        while at is not None and at > k:
            if re.match(r"op\d", sentence.node(at).role or ""):
                return token.tag not in ("PRS", "PRO")
            at = sentence.node(at).parent
    return False


def _clear(tokens: Tokens, foreign: set[int], start: int, end: int) -> bool:
    """Return whether a phrase may be extended over the tokens between two indices.

    It may not if there are many of them, if an end mark or a quotation mark is among them, or if one of them
    is a content word of another node (``foreign``).
    """
    between = tokens[start:end]
    if len(between) > _GAP_REACH or any(token.tag == "EN" or token.is_quote for token in between):
        return False
    return all(tokens[index].tag in _FUNCTIONAL for index in range(start, end) if index in foreign)


def _verb_phrase(sentence: SentenceDraft, k: int, group: VerbGroup, low: int, high: int, head: int) -> Phrase:
    """Return the phrase of a verb. It includes the subject if that is in the subtree or is a pronoun."""
    low, high = min(low, group.first), max(high, group.main + 1)
    if group.kind == "finite" and group.subject is not None:
        (start, end), owners = group.subject, sentence.owners()
        own = any(k <= owners.get(index, -1) <= sentence.node(k).subtree_last for index in range(start, end))
        if own or sentence.tokens[start].tag in ("PRS", "EX", "PN"):
            return Phrase(min(low, start), max(high, end), "clause", head)
    kind = _KINDS.get(group.kind, "predicate")
    return Phrase(group.first if kind == "verb" else low, high, kind, head)

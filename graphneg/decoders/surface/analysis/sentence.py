"""Connect the tokens of a text being edited with the nodes of its graph.

`SentenceDraft` finds the tokens that express a node, the verb group whose predicate is the node
(`SentenceDraft.predicate`), and the bounds of the sentence or noun phrase around a token. `question_tag`
finds the question tag of a clause.

Example: in "He was very happy." with the graph ``(h / happy-01 :ARG0 (h2 / he) :degree (v / very))``, the
verb group for node 0 consists of *was*.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from graphneg.decoders.surface.analysis.alignment import AlignedText
from graphneg.decoders.surface.analysis.verb_groups import (
    TIME_NOUNS,
    VerbGroup,
    noun_phrase_start,
    parse_verb_groups,
)
from graphneg.decoders.surface.draft import Draft, RealisationError, Token
from graphneg.decoders.surface.inflection import BE, DO, EXPANDED, HAVE
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import word_class
from graphneg.model import AmrGraph, AmrNode

# Tags of words that may occur between a linking verb and its complement: "is *not a very good* idea".
_INSIDE_PREDICATE = (
    NOUNS | {"JJ", "RB", "DT", "PS", "CD", "NEG", "POS", "PRO"} | {"VBN", "VBG", "IN", "TO", "PN"}
)
# Tags of words after which *here* and *there* do not begin a clause: "I go there".
_NO_START = frozenset({*NOUNS, *VERBS, "PRS", "PRO", "PN", "IN"})
# Maximum number of tokens between a copula and the words of its arguments.
_COPULA_REACH = 3
# Tags of tokens that end the scope of a negation: end marks, subordinators, question words, quotation marks.
SCOPE_ENDS = frozenset({"EN", "SC", "WP", "QT"})
_THIRD = word_class("third-person") | {"they"}


class SentenceDraft(Draft):
    """A text being edited, with its AMR graph.

    Args:
        reading: The aligned text: its tokens, tags and graph, and the tokens that express each node.

    Attributes:
        graph: The AMR graph of the original text.
        tokens_of_node: The tokens that express each node, keyed by node index.
    """

    def __init__(self, reading: AlignedText) -> None:
        """Copy the tokens of an aligned text, so that they can be edited."""
        tokens, self.tokens_of_node = reading.tokens()
        super().__init__(tokens, reading.text)
        self.graph: AmrGraph = reading.graph

    def parse_verbs(self) -> list[VerbGroup]:
        """Find the verb groups of the text in its present state, and correct the tags of their verbs.

        Every edit changes the indices of tokens, so the groups are found again whenever they are needed. The
        methods that search for a verb call this method. The corrected tags stay in the tokens: after *was*,
        *read* keeps the tag of a participle (``VBN``).

        Returns:
            The verb groups in the order of the text.
        """
        return parse_verb_groups(self.tokens)

    def node(self, k: int) -> AmrNode:
        """Return a node of the graph.

        Args:
            k: The index of the node in the graph.

        Returns:
            The node with this number.

        Raises:
            RealisationError: The graph has no such node (``unsupported-edit``).
        """
        if not 0 <= k < len(self.graph.nodes):
            raise RealisationError("unsupported-edit", f"the graph has no node {k}")
        return self.graph.nodes[k]

    def indices(self, k: int) -> list[int]:
        """Return the current indices of the tokens that express a node.

        Args:
            k: The index of the node in the graph.

        Returns:
            The indices in ascending order; empty if no token expresses the node.
        """
        return sorted(
            index for token in self.tokens_of_node.get(k, ()) if (index := self.tokens.index_of(token)) >= 0
        )

    def subtree_indices(self, k: int) -> list[int]:
        """Return the current indices of the tokens that express the nodes of a subtree.

        Args:
            k: The index of the top node of the subtree.

        Returns:
            The indices, grouped by node in the order of the node indices.
        """
        return [index for inner in range(k, self.node(k).subtree_last + 1) for index in self.indices(inner)]

    def head(self, k: int) -> int:
        """Return the index of the first token that expresses a node.

        Args:
            k: The index of the node in the graph.

        Returns:
            The index of the token in the current text.

        Raises:
            RealisationError: No token is aligned with the node (``no-alignment``).
        """
        indices = self.indices(k)
        if not indices:
            raise RealisationError("no-alignment", f"no words are aligned with {self.node(k).label}")
        return indices[0]

    def predicate(self, k: int) -> VerbGroup | None:
        """Return the verb group whose predicate is a node.

        Args:
            k: The index of the node in the graph.

        Returns:
            The group that contains the verb of the node. If the word of the node is not a verb, the group of
            the copula or light verb before the word: *was* for *happy* in "He was happy". None if the text
            has no such group.
        """
        self.node(k)
        known, indices = self.parse_verbs(), self.indices(k)
        if not indices:
            return self._between_arguments(k, known)
        own = (group for index in indices for group in known if index in group.chain)
        return next(own, None) or self._governing(indices[0], known)

    def finite(self, group: VerbGroup | None) -> VerbGroup | None:
        """Return the finite or imperative verb group on which a verb group depends.

        Args:
            group: A verb group of the text, or None.

        Returns:
            The given group itself if it is finite or imperative. For any other group, the finite group before
            it: *want* for "to go" in "I want to go". None if the sentence contains no finite group before it,
            or if a conjunction or a question word is between the two groups.
        """
        if group is None or group.is_main:
            return group
        before = self.finite_before(group.first)
        between = self.tokens[before.main : group.first] if before else []
        return None if any(token.tag in ("SC", "WP", "QT") for token in between) else before

    def finite_before(self, index: int) -> VerbGroup | None:
        """Return the last finite verb group before an index in the same sentence.

        Args:
            index: The index of a token.

        Returns:
            The verb group, or None if no finite group precedes the index in the sentence.
        """
        start, _ = self.sentence_bounds(index)
        before = [
            group for group in self.parse_verbs() if start <= group.first < index and group.kind == "finite"
        ]
        return before[-1] if before else None

    def accompanies_giving(self, group: VerbGroup) -> bool:
        """Return whether a clause accompanies the giving of something: "Here you are", "Here it is".

        Args:
            group: The verb group of the clause.

        Returns:
            True if the clause consists of *here*, a pronoun and a form of *be*.
        """
        if group.subject is None or len(group.chain) > 1 or self.tokens[group.main].lower not in BE:
            return False
        start, end = group.subject
        pronoun = end - start == 1 and self.tokens[start].tag in ("PRS", "PRO")
        return pronoun and self.tokens.get(start - 1).lower == "here"

    def is_presentation(self, group: VerbGroup) -> bool:
        """Return whether a clause presents something to the addressee: "Here comes the bus".

        Such clauses can be neither negated nor turned into questions. "There's your sister" also presents
        somebody, but "There's a bank" states that a bank exists.

        Args:
            group: The verb group of the clause.

        Returns:
            True if the clause presents something.
        """
        place, verb = self.tokens.get(group.first - 1), self.tokens[group.main]
        if (
            place.lower not in word_class("presenting-places")
            or self.tokens.get(group.first - 2).tag in _NO_START
        ):
            return False
        shown = self.tokens.get(group.main + 1)
        definite = shown.tag in ("PS", "NNP", "PRS") or shown.lower in word_class("definite-determiners")
        return verb.lemma in word_class("presenting-verbs") or (verb.is_be and definite)

    def inside_list(self, comma: int) -> bool:
        """Return whether a comma separates items of a list.

        Args:
            comma: The index of the comma.

        Returns:
            True if *and* or *or* follows the comma in the sentence, but no verb and no clause does. This is
            the case for both commas in "with Jim, Tom, and Ann".
        """
        joint = False
        for token in self.tokens[comma + 1 :]:
            if token.tag in ("EN", "QT"):
                break
            if token.tag in VERBS or token.tag in ("SC", "WP", "PRS", "TO"):
                return False
            joint = joint or token.lower in word_class("conjunctions")
        return joint

    def conjuncts(self, group: VerbGroup) -> list[Token]:
        """Return the verbs without an auxiliary that *and* joins to a finite verb group.

        Args:
            group: The verb group of the clause.

        Returns:
            The tokens of these verbs. For the group of *sang* in "She sang and danced", the token of
            *danced*.
        """
        _, end = self.sentence_bounds(group.first)
        verbs: list[Token] = []
        for other in self.parse_verbs():
            if not group.main < other.first < end:
                continue
            shares = other.kind == "bare" or (other.kind == "finite" and other.subject == group.subject)
            if other.kind == "finite" and not shares:
                break
            verb, joint = (
                self.tokens[other.first],
                self.tokens.get(self.tokens.run_start(other.first, ("RB",)) - 1),
            )
            lone = len(other.chain) == 1 and verb.tag in ("VB", "VBD", "VBZ", "VBP")
            if lone and shares and joint.lower == "and" and not other.negations:
                verbs.append(verb)
        return verbs

    def _governing(self, index: int, known: Sequence[VerbGroup]) -> VerbGroup | None:
        """Return the group of the linking or light verb whose complement is the word at an index."""
        tokens = self.tokens
        group = next((group for group in reversed(known) if group.main < index), None)
        if group is not None:
            end = max(group.subject[1] if group.inverted and group.subject else 0, group.main + 1)
            fits = all(token.tag in _INSIDE_PREDICATE or token.text == "," for token in tokens[end:index])
            # Exclude attributive adjectives. In "a happy man", the adjective modifies its noun and is not the
            # complement of a verb.
            attributive = tokens[index].tag in ("JJ", "VBN", "VBG") and self.is_noun(index + 1)
            # A verb that expresses no node is a light verb: the graph of "take a walk" contains only
            # ``walk-01``.
            verb, between = tokens[group.main], tokens[group.main + 1 : index]
            light = verb.lemma in word_class("linking-or-light") or verb.lower == "'s"
            if not light and self._owner(verb) is None:
                light = not any(token.tag == "IN" for token in between)
            if fits and index >= end and not attributive and light:
                return group
        # In "How beautiful you are!", the complement precedes the verb and its subject.
        after = next((group for group in known if group.main > index), None)
        if after is not None and after.subject is not None and tokens[after.main].lower in BE | {"'s"}:
            opens = index == 0 or tokens[index - 1].lower in word_class("exclamation-openings") | {'"'}
            if index < after.subject[0] and opens:
                return after
        return None

    def _owner(self, token: Token) -> int | None:
        """Return the index of the first node that a token expresses, or None if it expresses no node."""
        return next((k for k, tokens in self.tokens_of_node.items() if token in tokens), None)

    def _between_arguments(self, k: int, known: Sequence[VerbGroup]) -> VerbGroup | None:
        """Find the copula for a node that no word expresses. Most ``-91`` frames are such nodes.

        The copula must be near the words of the node's arguments.

        Args:
            k: Index of the node.
            known: The verb groups of the sentence.

        Returns:
            The verb group of the nearest copula; None if there is none.
        """
        arguments = [child.position for child in self.graph.children(k)]
        arguments += [mention.target for mention in self.graph.mentions if mention.parent == k]
        around = [index for argument in arguments for index in self.indices(argument)[:1]]
        light = BE | HAVE - {"having"} | {"'s"}
        distances: list[tuple[int, int]] = []
        for number, group in enumerate(known if around else ()):
            main = self.tokens[group.main]
            if group.is_main and (main.lower in light or not self._owner(main)):
                distances.append((max(min(around) - group.main, group.main - max(around), 0), number))
        distance, nearest = min(distances, default=(_COPULA_REACH + 1, 0))
        return known[nearest] if distance <= _COPULA_REACH else None

    def owners(self) -> dict[int, int]:
        """Map each token that expresses a node to the index of the node.

        Returns:
            The node indices, keyed by token index. If a token expresses several nodes, the value is the
            lowest index of these nodes.
        """
        return {index: k for k in sorted(self.tokens_of_node, reverse=True) for index in self.indices(k)}

    def is_noun(self, index: int) -> bool:
        """Return whether the token at an index is a noun.

        Args:
            index: The index of a token, or an index outside the text.

        Returns:
            True if the index is inside the text and the token is a noun.
        """
        return self.tokens.get(index).tag in NOUNS

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
        return start, tokens.run_end(end, ("EN",))

    def negation_scope_end(self, index: int, *marks: str) -> int:
        """Return the index of the first token from a given index on that ends the scope of a negation.

        Such a token has a tag in `SCOPE_ENDS` or is one of the given marks.

        Args:
            index: The index of the first token to examine.
            *marks: The texts of further tokens that end the scope, for example ``,``.

        Returns:
            The index of the token that ends the scope; the index after the last token if there is none.
        """
        tokens = self.tokens
        while index < len(tokens) and tokens[index].tag not in SCOPE_ENDS and tokens[index].text not in marks:
            index += 1
        return index

    def noun_phrase(self, index: int) -> tuple[int, int]:
        """Return the bounds of the simple noun phrase around a noun.

        Args:
            index: The index of the noun.

        Returns:
            The index of the first token of the noun phrase, and the index after its last token. The phrase
            consists of determiner, modifiers and head, without a preceding preposition or conjunct.
        """
        tokens, end = self.tokens, index + 1
        while self.is_noun(end) and tokens[end].lower not in TIME_NOUNS:
            end += 1
        start = noun_phrase_start(tokens, end)
        links = (other for other in range(end - 1, start - 1, -1) if tokens[other].tag in ("IN", "CC", "TO"))
        return min(next(links, start - 1) + 1, index), end


class QuestionTag(NamedTuple):
    """A question tag: *don't you?* in "You like fish, don't you?".

    Attributes:
        verb: The token of the auxiliary.
        negation: The token of the negation; None if the tag has no negation.
    """

    verb: Token
    negation: Token | None


def question_tag(sentence: SentenceDraft, group: VerbGroup) -> QuestionTag | None:
    """Return the question tag of a clause.

    Args:
        sentence: The sentence being edited.
        group: The verb group of the clause.

    Returns:
        The question tag at the end of the sentence. None if the sentence has no question tag, or if the
        pronoun of the tag does not refer to the subject of the clause.
    """
    tokens = sentence.tokens
    end = tokens.run_start(sentence.sentence_bounds(group.first)[1], ("EN",))
    if not end or group.subject is None or not tokens.get(end).text.startswith("?"):
        return None
    index = end - 2
    negation = tokens[index] if index > 0 and tokens[index].tag == "NEG" else None
    index -= negation is not None
    if index <= group.main or tokens[index - 1].text != "," or not _is_auxiliary(tokens[index]):
        return None
    pronoun, subject = tokens[end - 1].lower, tokens[group.subject[1] - 1].lower
    # The pronoun of a question tag may repeat the subject ("You like fish, don't you?") or refer to a noun
    # ("Tom likes fish, doesn't he?").
    third = pronoun in _THIRD and subject not in ("i", "you", "we", *_THIRD)
    return QuestionTag(tokens[index], negation) if pronoun == subject or third else None


def is_tag_pronoun(sentence: SentenceDraft, token: Token) -> bool:
    """Return whether a token is the pronoun of a question tag.

    Args:
        sentence: The sentence being edited.
        token: The token of a pronoun.

    Returns:
        True for *you* in "..., do you?".
    """
    tokens, index = sentence.tokens, sentence.tokens.index_of(token)
    verb = index - 2 if index > 1 and tokens[index - 1].tag == "NEG" else index - 1
    ends = tokens.get(index + 1).text[:1] in ("?", ",")
    return ends and verb > 0 and _is_auxiliary(tokens[verb]) and tokens[verb - 1].text == ","


def _is_auxiliary(token: Token) -> bool:
    """Return whether a token can be the verb of a question tag."""
    return token.tag == "MD" or token.expanded in BE | DO | HAVE or token.lower in EXPANDED

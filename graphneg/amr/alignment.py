"""Align the nodes of an AMR graph with the tokens of its sentence.

AMR graphs do not record which words express their nodes, but decoders and features need this information.
This module contains a rule-based aligner that needs no download. amrlib's aligner RBW is available as an
alternative.

If the graph has spans already, from alignment marks or from a parser, these spans are returned and no other
node is aligned. Otherwise the aligner looks for tokens that match the concept of each node by lemma,
derivation or number. It first aligns the nodes with a single good candidate. It then aligns the ambiguous
nodes, and prefers tokens near the tokens of neighbouring nodes. A token belongs to one node, with three
exceptions. A name shares its tokens with the entity that has the name. *Teacher* is the token of both
``person`` and ``teach-01``. A negative word such as *unlucky* is the token of the negation and of the
concept that it negates. `align` takes a graph and its tokens, and returns the token span of each aligned
node.

>>> from graphneg.amr.penman import parse_graph
>>> align(parse_graph("(w / work-01 :ARG0 (i / i) :ARG2 (b / bank))"), "I work at a bank .".split())
{0: (1, 2), 1: (0, 1), 2: (4, 5)}
"""

from __future__ import annotations

import importlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from operator import itemgetter
from typing import Any

import penman
from penman.models.noop import NoOpModel

from graphneg.amr.concept_words import NEGATIVE_PREFIX, concept_keys, value_keys
from graphneg.amr.penman import format_graph
from graphneg.english.noun_kinds import lexeme
from graphneg.english.numbers import NUMBERS, value_of
from graphneg.english.words import lemmas, readings, stems
from graphneg.errors import DecoderError
from graphneg.model import AmrGraph, AmrNode

Span = tuple[int, int]
"""The index of the first token, and the index after the last token."""
# Concepts that have no token of their own and share the token of a child. For *teacher*, the graph is
# ``(p / person :ARG0-of (t / teach-01))``: ``person`` shares the token of ``teach-01``.
_SHARES = re.compile(r"^(?:person|thing|have-(?:rel|org)-role-91|.*-(?:entity|quantity))$")
# The question words that may express ``amr-unknown``, by the concept of its parent or by its role. For
# example, *where* expresses ``:location amr-unknown``.
_WH_BY_PARENT = {"cause-01": ("why", "how"), "be-located-at-91": ("where",)}
_WH_BY_ROLE = {
    "location": ("where",),
    "source": ("where",),
    "direction": ("where",),
    "destination": ("where",),
    "time": ("when",),
    "manner": ("how",),
    "degree": ("how",),
    "quant": ("how",),
    "purpose": ("why", "what"),
    "poss": ("whose",),
}
# Endings of nouns that are derived from verbs: "teacher", "decision".
_NOMINAL_ENDINGS = ("ing", "ings", "er", "ers", "or", "ors", "ion", "ions", "ment", "ments")
_CONNECTIVE = re.compile(r"^(?:op|snt)\d+$")


Candidate = tuple[Span, float]
"""A span that may express a node, and its score. A higher score is better."""


def align(graph: AmrGraph, tokens: Sequence[str]) -> dict[int, Span]:
    """Align the nodes of a graph with tokens.

    If the graph and the sentence have nothing in common, the alignment is empty; this is not an error.

    Args:
        graph: The graph to align.
        tokens: The tokens of its sentence.

    Returns:
        Token spans, keyed by node index. Nodes that no token expresses are missing.
    """
    return _given_spans(graph, tokens) or _Alignment(graph, tokens).align_all()


def _given_spans(graph: AmrGraph, tokens: Sequence[str]) -> dict[int, Span]:
    """Return the spans that the nodes of the graph already have, without spans outside the text."""
    return {k: span for k, span in graph.spans.items() if 0 <= span[0] < span[1] <= len(tokens)}


class _Alignment:
    """Align the nodes of one graph step by step. Tokens are found by lemma, stem or number."""

    def __init__(self, graph: AmrGraph, tokens: Sequence[str]) -> None:
        self.graph = graph
        self.tokens = [token.lower() for token in tokens]
        self.spans: dict[int, Span] = {}
        self.taken: set[int] = set()
        self.lemmas: defaultdict[str, list[int]] = defaultdict(list)
        self.stems: defaultdict[str, list[int]] = defaultdict(list)
        self.numbers = _numbers(tokens)
        for at, token in enumerate(tokens):
            known = lemmas(token)
            for lemma in known:
                self.lemmas[lemma].append(at)
            # Tokens of up to three letters get no stems, because short stems match too many other words.
            if len(token) > 3:
                for stem in stems(token).union(*(stems(lemma) for lemma in known if len(lemma) > 2)):
                    self.stems[stem].append(at)
        self.around: defaultdict[int, list[int]] = defaultdict(list)
        for node in graph.nodes:
            # The neighbours of a node are its parent and its children. If the node is mentioned elsewhere in
            # the graph (a reentrancy), the parents of the mentions are neighbours, too.
            if node.parent is not None:
                self.around[node.position].append(node.parent)
                self.around[node.parent].append(node.position)
        for mention in graph.mentions:
            self.around[mention.target].append(mention.parent)

    def align_all(self) -> dict[int, Span]:
        """Align all nodes, and return their token spans, keyed by node index."""
        for node in self.graph.nodes:
            # Align names first, so that no other node takes their words.
            if node.concept == "name":
                self._align_name(node)
        pending = {
            node.position: found
            for node in self.graph.nodes
            if node.position not in self.spans and (found := self._candidates(node))
        }
        for k, candidates in list(pending.items()):
            span, score = candidates[0]
            # First align the nodes that have a single candidate with a high score. `_distance` then prefers
            # candidates of other nodes that are near these tokens.
            if len(candidates) == 1 and score >= 7 and self._is_free(span):
                self._align_node(k, span)
                del pending[k]
        while (taken := self._align_best(pending)) is not None:
            del pending[taken]
            # This loop compares all remaining nodes in each pass, which is too slow for a very long text. In
            # such a text, align the remaining nodes one after the other, each with its best unaligned tokens.
            if len(pending) * len(self.tokens) > 40_000:
                for k, candidates in pending.items():
                    self._align_best({k: candidates})
                break
        self._share_child_tokens()
        return self.spans

    def _align_best(self, pending: Mapping[int, Sequence[Candidate]]) -> int | None:
        """Align one node: choose the candidate span with the highest score whose tokens are unaligned.

        Returns:
            The index of the aligned node; None if no candidate is left.
        """
        ranked = (
            (score - self._distance(k, span), k, span)
            for k, candidates in pending.items()
            for span, score in candidates
            if self._is_free(span)
        )
        _, k, span = max(ranked, key=itemgetter(0), default=(0.0, None, (0, 0)))
        if k is not None:
            self._align_node(k, span)
        return k

    def _is_free(self, span: Span) -> bool:
        return self.taken.isdisjoint(range(*span))

    def _align_node(self, k: int, span: Span) -> None:
        self.spans[k] = span
        self.taken.update(range(*span))

    def _distance(self, k: int, span: Span) -> float:
        """Return the penalty for the distance between a span and the tokens of neighbouring nodes.

        The penalty is one point for every four tokens of distance, and at most three points. Later tokens get
        a slightly higher penalty than earlier ones, so the first of several equally good tokens is chosen.
        """
        near = [self.spans[other] for other in self.around[k] if other in self.spans]
        # If no neighbour is aligned yet, the penalty is half of the maximum. Candidates near an aligned
        # neighbour have a lower penalty, so they are chosen first.
        if not near:
            return 1.5 + span[0] / (len(self.tokens) + 1)
        # Use the distances from only the two nearest neighbours, because farther neighbours are often in
        # other clauses.
        gaps = sorted(max(other[0] - span[1], span[0] - other[1], 0) for other in near)
        return min(3.0, sum(gaps[:2]) / len(gaps[:2]) / 4) + span[0] / (len(self.tokens) + 1) / 10

    def _align_name(self, node: AmrNode) -> None:
        """Align a node ``name`` with the first tokens in the text that spell the name: *New York*."""
        parts = [c for c in self.graph.children(node.position) if c.role and _CONNECTIVE.match(c.role)]
        words = [(part.value or part.concept or "").strip('"').lower() for part in parts]
        if not words or node.parent is None:
            return
        for start in range(len(self.tokens) - len(words) + 1):
            span = (start, start + len(words))
            if self.tokens[start : span[1]] == words and self._is_free(span):
                for at, part in enumerate(parts, start):
                    self._align_node(part.position, (at, at + 1))
                self._align_node(node.position, span)
                return

    def _words(self, keys: Iterable[tuple[str, float]]) -> list[Candidate]:
        return [((at, at + 1), weight) for key, weight in keys for at in self.lemmas.get(key, ())]

    def _candidates(self, node: AmrNode) -> list[Candidate]:
        """Return the candidate spans of a node, best first. Each span occurs once, with its best score."""
        if node.concept is not None:
            found = self._concept_candidates(node, node.concept)
        else:
            found = self._words(value_keys(self.graph, node))
            number = (node.value or "").strip('"').replace(",", "")
            if node.role == "polarity":
                self._share_negated_word(node, found)
            elif re.fullmatch(r"-?\d+(?:\.\d+)?", number):
                found += [(span, 9.0) for span in self.numbers.get(float(number), ())]
                # ``:quant 1`` may be expressed by an article: "a pound".
                if number == "1" and node.role in ("quant", "op1"):
                    found += self._words((key, 9.0) for key in ("a", "one", "once"))
        scores: dict[Span, float] = {}
        for span, score in found:
            scores[span] = max(score, scores.get(span, 0.0))
        # Keep the best 24 candidates: in a very long text, a frequent word such as *the* occurs hundreds of
        # times.
        return sorted(scores.items(), key=lambda candidate: -candidate[1])[:24]

    def _share_negated_word(self, node: AmrNode, candidates: list[Candidate]) -> None:
        """Align a negation with the word that contains it, if no separate word expresses it: *unlucky*."""
        parent = self.graph.nodes[node.parent] if node.parent is not None else None
        if candidates or parent is None or parent.concept is None or node.value != "-":
            return
        for span, _ in self._candidates(parent):
            if NEGATIVE_PREFIX.search(self.tokens[span[0]]):
                self.spans[node.position] = span

    def _concept_candidates(self, node: AmrNode, concept: str) -> list[Candidate]:
        """Return the token spans that may express a concept node, that is, a node that is not a constant."""
        lemma = lexeme(concept)
        parts = lemma.split(" ")
        found = self._runs(parts) if len(parts) > 1 or "-" in concept else []
        found += self._words(concept_keys(concept))
        if concept == "amr-unknown":
            # A yes/no question (``:polarity amr-unknown``) has no question word, so return no candidates.
            parent = self.graph.nodes[node.parent].concept if node.parent is not None else None
            usual = _WH_BY_ROLE.get(node.role or "", ("what", "who", "which"))
            fitting = _WH_BY_PARENT.get(parent or "", usual)
            # The question word that fits the role gets a bonus: "where" for ``:location``, "when" for
            # ``:time``.
            asked = [(span, score + 2.0 * (self.tokens[span[0]] in fitting)) for span, score in found]
            return asked if node.role != "polarity" else []
        # Look for a derived word such as *decision* only if the text has no inflected form such as *decided*.
        if not found and lemma not in ("", "name") and not concept.endswith("-91"):
            found = self._derived(parts[0])
        if lemma in NUMBERS:
            found += [(span, 8.0) for span in self.numbers.get(float(NUMBERS[lemma]), ())]
        return found

    def _runs(self, parts: list[str]) -> list[Candidate]:
        """Return the token sequences that spell a concept of several words, with or without hyphens."""
        found: list[Candidate] = []
        for start in self.lemmas.get(parts[0], ()):
            at = start + 1
            for part in parts[1:]:
                if self.tokens[at : at + 1] == ["-"]:
                    at += 1
                if at >= len(self.tokens) or part not in lemmas(self.tokens[at]):
                    break
                at += 1
            else:
                found.append(((start, at), 11.0))
        return found

    def _derived(self, lemma: str) -> list[Candidate]:
        """Return tokens derived from a lemma: *decision* for ``decide-01``, *unlucky* for ``lucky``."""
        found = [
            ((at, at + 1), 6.0 + min(len(stem), 8) / 8)
            for stem in stems(lemma)
            for at in self.stems.get(stem, ())
        ]
        # If no token has a stem in common with the lemma, accept weaker matches: a token that has one without
        # its negative prefix, a token that contains the lemma, or one that begins with the same five letters.
        if not found and len(lemma) > 3:
            for at, token in enumerate(self.tokens):
                bare = NEGATIVE_PREFIX.sub("", token)
                if bare != token and stems(bare) & stems(lemma):
                    found.append(((at, at + 1), 6.0))
                elif len(token) > 4 and (token[:5] == lemma[:5] or lemma in token):
                    found.append(((at, at + 1), 4.0))
        return found

    def _share_child_tokens(self) -> None:
        """Align nodes that have no token yet with the tokens of one of their children.

        An entity gets the tokens of its name. In ``(p / person :ARG0-of (t / teach-01))``, the token
        *teacher* expresses ``teach-01``, so ``person`` gets this token, too.
        """
        # Visit children before their parents, so that a parent can also share tokens assigned in this loop.
        for node in reversed(self.graph.nodes):
            if node.position in self.spans or node.concept is None:
                continue
            for child in self.graph.children(node.position):
                if child.position not in self.spans:
                    continue
                role = child.role or ""
                bears_name = child.concept == "name"
                plays_role = bool(_SHARES.match(node.concept)) and (
                    role.endswith("-of") or role in ("mod", "ARG2", "weekday", "month", "dayperiod", "value")
                )
                word = self.tokens[self.spans[child.position][0]]
                made = role.endswith("-of") and child.concept is not None and "NOUN" in readings(word)
                if bears_name or plays_role or (made and word.endswith(_NOMINAL_ENDINGS)):
                    self.spans[node.position] = self.spans[child.position]
                    break


def _numbers(tokens: Sequence[str]) -> dict[float, list[Span]]:
    """Return the spans of all numbers in the text, keyed by value: *two hundred* is one span for 200."""
    spans: defaultdict[float, list[Span]] = defaultdict(list)
    place = 0
    while place < len(tokens):
        end, value = place, None
        # Extend the span while its tokens form a number: "two", "two hundred", "two hundred and five".
        while end < len(tokens) and end - place < 12:
            longer = value_of(list(tokens[place : end + 1]))
            # Do not begin a span with *and* or a hyphen, because a number does not begin with them.
            if longer is None or (tokens[end].lower() in ("and", "-") and end == place):
                break
            end, value = end + 1, longer
        # Leave out a final *and*: in "two and a car", the number is only *two*.
        while end > place and tokens[end - 1].lower() in ("and", "-"):
            end -= 1
        if value is None or end <= place:
            place += 1
            continue
        spans[value].append((place, end))
        place = end
    return spans


# The aligner RBW takes one lemma for each token. If a word such as *saw* is a form of a verb and of a noun,
# use the lemma for the part of speech that comes first in this list.
_UPOS = ("VERB", "AUX", "NOUN", "ADJ", "ADV")


def align_rbw(graph: AmrGraph, tokens: Sequence[str]) -> dict[int, Span]:
    """Align the nodes of a graph with tokens, using ``amrlib.alignments.rbw_aligner``.

    If the graph already has spans, they are returned, as in `align`.

    Args:
        graph: The graph to align.
        tokens: The tokens of its sentence.

    Returns:
        Token spans, keyed by node index. Nodes that no token expresses are missing.

    Raises:
        DecoderError: amrlib is not installed.
    """
    if graph.spans:
        return _given_spans(graph, tokens)
    try:
        rbw: Any = importlib.import_module("amrlib.alignments.rbw_aligner")
    except ImportError as error:
        raise DecoderError(
            f"the aligner 'rbw' needs amrlib, which can't be imported ({error}): "
            "pip install 'graphneg[neural]', or use the aligner 'rules'"
        ) from error
    plain = AmrGraph(graph.id, graph.nodes, graph.mentions)
    decoded = penman.decode(format_graph(plain), model=NoOpModel())
    known = [(token.lower(), readings(token.lower())) for token in tokens]
    lemmata = [next((of[upos][0] for upos in _UPOS if upos in of), word) for word, of in known]
    aligned = rbw.RBWAligner(decoded, list(tokens), lemmata).get_penman_graph()
    by_triple: dict[tuple[str, str, str], int] = {}
    for node in graph.nodes:
        if node.var is not None and node.concept is not None:
            by_triple[node.var, ":instance", node.concept] = node.position
        elif node.parent is not None and node.value is not None:
            by_triple.setdefault(
                (graph.nodes[node.parent].var or "", f":{node.role}", node.value), node.position
            )
    spans: dict[int, Span] = {}
    for triple, marks in aligned.epidata.items():
        indices = {at for mark in marks if type(mark).__name__ == "Alignment" for at in mark.indices}
        if triple in by_triple and indices:
            start = min(indices)
            # RBW may align one node with tokens that are not adjacent, but a span is contiguous. Only the
            # first contiguous run of tokens is kept.
            end = next(at for at in count(start) if at not in indices)
            spans.setdefault(by_triple[triple], (start, end))
    return spans


Aligner = Callable[[AmrGraph, Sequence[str]], dict[int, Span]]
"""Function that takes a graph and the tokens of its sentence, and returns token spans keyed by node index.
"""
_ALIGNERS: dict[str, Aligner] = {"rules": align, "rbw": align_rbw}


def get_aligner(name: str) -> Aligner:
    """Return the aligner with a given name.

    Args:
        name: ``rules`` (built in) or ``rbw`` (amrlib).

    Returns:
        The function that aligns a graph with tokens.

    Raises:
        DecoderError: There is no aligner with that name.
    """
    if name not in _ALIGNERS:
        raise DecoderError(f"no aligner named {name!r}; choose one of {', '.join(_ALIGNERS)}")
    return _ALIGNERS[name]

"""Alignments between the nodes of AMR graphs and the words of their sentences.

In: a graph and the tokens of its sentence. Out: a token span for each node that has words. Rules only,
nothing to download; amrlib's rule-based word aligner (RBW) for those who want its alignments.

Spans that the graph brings (alignment marks, a parser's own) stand. Every other node looks for its words:
first those with one good candidate, then the ambiguous ones, nearest to the words of the nodes around them. A
word serves one node; only what AMR makes of one word shares it: a name and the entity that bears it,
``teacher`` and its ``person`` and ``teach-01``, a negative word and what it negates.
"""

from __future__ import annotations

import importlib
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from graphneg.amr.concept_words import NEGATIVE_PREFIX, concept_keys, value_keys
from graphneg.amr.penman import format_graph
from graphneg.english.noun_kinds import lexeme
from graphneg.english.numbers import NUMBERS, value_of
from graphneg.english.words import lemmas, readings, stems
from graphneg.errors import DecoderError
from graphneg.model import AmrGraph, AmrNode

Span = tuple[int, int]
_MAX_CANDIDATES = 24
_SHARES = re.compile(r"^(?:person|thing|have-(?:rel|org)-role-91|.*-(?:entity|quantity))$")
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
_NOMINAL_ENDINGS = ("ing", "ings", "er", "ers", "or", "ors", "ion", "ions", "ment", "ments")
_CONNECTIVE = re.compile(r"^(?:op|snt)\d+$")


class _Candidate(NamedTuple):
    span: Span
    score: float


class _Index:
    """Where each lemma, stem and number of a sentence stands."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tokens
        self.lemmas: defaultdict[str, list[int]] = defaultdict(list)
        self.stems: defaultdict[str, list[int]] = defaultdict(list)
        self.numbers: dict[float, list[Span]] = _numbers(tokens)
        for place, token in enumerate(tokens):
            for lemma in lemmas(token):
                self.lemmas[lemma].append(place)
            if len(token) > 3:
                for stem in stems(token) | frozenset(
                    found for lemma in lemmas(token) if len(lemma) > 2 for found in stems(lemma)
                ):
                    self.stems[stem].append(place)


def align(graph: AmrGraph, tokens: Sequence[str]) -> dict[int, Span]:
    """Token spans ``(start, end)`` by node number ``k``; nodes without words are left out.

    Never raises: a graph and a text that have nothing in common give an empty alignment.
    """
    given = {k: span for k, span in graph.spans.items() if 0 <= span[0] < span[1] <= len(tokens)}
    if given:
        return given
    alignment = _Alignment(graph, tokens)
    alignment.settle()
    return alignment.spans


class _Alignment:
    def __init__(self, graph: AmrGraph, tokens: Sequence[str]) -> None:
        self.graph = graph
        self.index = _Index(tokens)
        self.spans: dict[int, Span] = {}
        self.taken: set[int] = set()
        self.around: defaultdict[int, list[int]] = _neighbours(graph)

    def settle(self) -> None:
        for node in self.graph.nodes:
            if node.concept == "name":
                self._settle_name(node)
        pending = {
            node.k: found
            for node in self.graph.nodes
            if node.k not in self.spans and (found := self._candidates(node))
        }
        for k in [k for k, found in pending.items() if len(found) == 1 and found[0].score >= 7]:
            if self._free(pending[k][0].span):
                self._take(k, pending.pop(k)[0].span)
        while pending:
            best: tuple[float, int, Span] | None = None
            for k, found in pending.items():
                for candidate in found:
                    if self._free(candidate.span):
                        rank = candidate.score - self._distance(k, candidate.span)
                        if best is None or rank > best[0]:
                            best = (rank, k, candidate.span)
            if best is None:
                break
            self._take(best[1], best[2])
            del pending[best[1]]
            if len(pending) * len(self.index.tokens) > 40_000:
                self._settle_in_order(pending)
                break
        self._share()

    def _settle_in_order(self, pending: dict[int, list[_Candidate]]) -> None:
        """For very long texts: each node once, in written order."""
        for k, candidates in pending.items():
            free = [candidate for candidate in candidates if self._free(candidate.span)]
            if free:
                self._take(k, max(free, key=lambda one: one.score - self._distance(k, one.span)).span)

    def _free(self, span: Span) -> bool:
        return self.taken.isdisjoint(range(*span))

    def _take(self, k: int, span: Span) -> None:
        self.spans[k] = span
        self.taken.update(range(*span))

    def _distance(self, k: int, span: Span) -> float:
        """How far the nearest aligned neighbours are: at most 3 points, a point in four tokens."""
        near = [self.spans[other] for other in self.around[k] if other in self.spans]
        if not near:
            return 1.5 + span[0] / (len(self.index.tokens) + 1)
        gaps = sorted(max(other[0] - span[1], span[0] - other[1], 0) for other in near)
        return min(3.0, sum(gaps[:2]) / len(gaps[:2]) / 4) + span[0] / (len(self.index.tokens) + 1) / 10

    def _settle_name(self, node: AmrNode) -> None:
        parts = [
            child for child in self.graph.children(node.k) if child.role and _CONNECTIVE.match(child.role)
        ]
        words = [(part.value or part.concept or "").strip('"').lower() for part in parts]
        start = self._find_words(words)
        if start is None or node.up is None:
            return
        for offset, part in enumerate(parts):
            self._take(part.k, (start + offset, start + offset + 1))
        self._take(node.k, (start, start + len(words)))

    def _find_words(self, words: list[str]) -> int | None:
        low = [token.lower() for token in self.index.tokens]
        for start in range(len(low) - len(words) + 1):
            end = start + len(words)
            if words and low[start:end] == words and self._free((start, end)):
                return start
        return None

    def _candidates(self, node: AmrNode) -> list[_Candidate]:
        if node.concept is not None:
            return self._concept_candidates(node, node.concept)
        candidates = [
            _Candidate((place, place + 1), weight)
            for key, weight in value_keys(self.graph, node)
            for place in self.index.lemmas.get(key, ())
        ]
        if node.role == "polarity":
            return self._polarity_candidates(node, candidates)
        candidates += [_Candidate(span, 9.0) for span in self._number_spans(node)]
        return _best(candidates)

    def _number_spans(self, node: AmrNode) -> list[Span]:
        value = (node.value or "").strip('"').replace(",", "")
        if not re.fullmatch(r"-?\d+(?:\.\d+)?", value):
            return []
        spans = list(self.index.numbers.get(float(value), ()))
        if value == "1" and node.role in ("quant", "op1"):
            spans += [(place, place + 1) for key in ("a", "one", "once") for place in self.index.lemmas[key]]
        return spans

    def _polarity_candidates(self, node: AmrNode, candidates: list[_Candidate]) -> list[_Candidate]:
        """A negative word, or the negated word itself (``unlucky``), which its parent keeps too."""
        parent = self.graph.nodes[node.up] if node.up is not None else None
        if candidates or parent is None or parent.concept is None or node.value != "-":
            return _best(candidates)
        for candidate in self._concept_candidates(parent, parent.concept):
            if NEGATIVE_PREFIX.search(self.index.tokens[candidate.span[0]].lower()):
                self.spans[node.k] = candidate.span
        return []

    def _concept_candidates(self, node: AmrNode, concept: str) -> list[_Candidate]:
        candidates: list[_Candidate] = []
        lemma = lexeme(concept)
        parts = lemma.split(" ")
        if len(parts) > 1 or "-" in concept:
            candidates += [_Candidate(span, 11.0) for span in self._part_spans(parts)]
        for key, weight in concept_keys(concept):
            candidates += [_Candidate((place, place + 1), weight) for place in self.index.lemmas.get(key, ())]
        if concept == "amr-unknown":
            return self._question_words(node, candidates)
        if not candidates and lemma not in ("", "name") and not concept.endswith("-91"):
            candidates += self._derived(parts[0])
        if lemma in NUMBERS:
            candidates += [
                _Candidate(span, 8.0) for span in self.index.numbers.get(float(NUMBERS[lemma]), ())
            ]
        return _best(candidates)

    def _question_words(self, node: AmrNode, candidates: list[_Candidate]) -> list[_Candidate]:
        """The wh-word that asks for what the node's role says; a yes/no question has none."""
        if node.role == "polarity":
            return []
        parent = self.graph.nodes[node.up].concept if node.up is not None else None
        fitting = _WH_BY_PARENT.get(parent or "") or _WH_BY_ROLE.get(
            node.role or "", ("what", "who", "which")
        )
        return _best(
            [
                _Candidate(span, score + 2.0 * (self.index.tokens[span[0]].lower() in fitting))
                for span, score in candidates
            ]
        )

    def _part_spans(self, parts: list[str]) -> list[Span]:
        """Runs of tokens that spell a concept of several parts, hyphens between them skipped."""
        spans: list[Span] = []
        for start in self.index.lemmas.get(parts[0], ()):
            place = start + 1
            for part in parts[1:]:
                if place < len(self.index.tokens) and self.index.tokens[place] == "-":
                    place += 1
                if place >= len(self.index.tokens) or part not in lemmas(self.index.tokens[place]):
                    break
                place += 1
            else:
                spans.append((start, place))
        return spans

    def _derived(self, lemma: str) -> list[_Candidate]:
        """Words related by derivation: ``decide-01`` and ``decision``, ``lucky`` and ``unlucky``."""
        candidates: list[_Candidate] = []
        for stem in stems(lemma):
            candidates += [
                _Candidate((place, place + 1), 6.0 + min(len(stem), 8) / 8)
                for place in self.index.stems.get(stem, ())
            ]
        if not candidates and len(lemma) > 3:
            for place, token in enumerate(self.index.tokens):
                low = token.lower()
                bare = NEGATIVE_PREFIX.sub("", low)
                if bare != low and stems(bare) & stems(lemma):
                    candidates.append(_Candidate((place, place + 1), 6.0))
                elif len(low) > 4 and (_overlap(low, lemma) >= 5 or lemma in low):
                    candidates.append(_Candidate((place, place + 1), 4.0))
        return candidates

    def _share(self) -> None:
        """Entities take the words of their names; persons and things those of the role they play."""
        for node in reversed(self.graph.nodes):
            if node.k in self.spans or node.concept is None:
                continue
            for child in self.graph.children(node.k):
                if child.k not in self.spans:
                    continue
                role = child.role or ""
                bears_name = child.concept == "name"
                plays_role = bool(_SHARES.match(node.concept)) and (
                    role.endswith("-of") or role in ("mod", "ARG2", "weekday", "month", "dayperiod", "value")
                )
                word = self.index.tokens[self.spans[child.k][0]].lower()
                made = role.endswith("-of") and child.concept is not None and "NOUN" in readings(word)
                if bears_name or plays_role or (made and word.endswith(_NOMINAL_ENDINGS)):
                    self.spans[node.k] = self.spans[child.k]
                    break


def _best(candidates: list[_Candidate]) -> list[_Candidate]:
    """Each span once with its highest score; only what is near the best is worth trying."""
    scores: dict[Span, float] = {}
    for candidate in candidates:
        scores[candidate.span] = max(candidate.score, scores.get(candidate.span, 0.0))
    kept = sorted((_Candidate(span, score) for span, score in scores.items()), key=lambda one: -one.score)
    return kept[:_MAX_CANDIDATES]


def _neighbours(graph: AmrGraph) -> defaultdict[int, list[int]]:
    around: defaultdict[int, list[int]] = defaultdict(list)
    for node in graph.nodes:
        if node.up is not None:
            around[node.k].append(node.up)
            around[node.up].append(node.k)
    for mention in graph.mentions:
        around[mention.target].append(mention.up)
    return around


def _numbers(tokens: Sequence[str]) -> dict[float, list[Span]]:
    """Every number in the text, by value, over as many tokens as it takes."""
    spans: defaultdict[float, list[Span]] = defaultdict(list)
    place = 0
    while place < len(tokens):
        end, value = place, None
        while end < len(tokens) and end - place < 12:
            longer = value_of(list(tokens[place : end + 1]))
            if longer is None or (tokens[end].lower() in ("and", "-") and end == place):
                break
            end, value = end + 1, longer
        while end > place and tokens[end - 1].lower() in ("and", "-"):
            end -= 1
        if value is None or end <= place:
            place += 1
            continue
        spans[value].append((place, end))
        place = end
    return spans


def _overlap(left: str, right: str) -> int:
    """How many characters two words have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))


_UPOS = ("VERB", "AUX", "NOUN", "ADJ", "ADV")


def align_rbw(graph: AmrGraph, tokens: Sequence[str]) -> dict[int, Span]:
    """Token spans by node number, as ``amrlib.alignments.rbw_aligner`` finds them.

    Raises:
        DecoderError: amrlib is not installed.
    """
    if graph.spans:
        return {k: span for k, span in graph.spans.items() if 0 <= span[0] < span[1] <= len(tokens)}
    rbw, penman, noop = _modules()
    plain = AmrGraph(graph.id, graph.nodes, graph.mentions)
    decoded = penman.decode(format_graph(plain), model=noop.NoOpModel())
    aligned = rbw.RBWAligner(decoded, list(tokens), [_lemma(token) for token in tokens]).get_penman_graph()
    by_triple = _nodes_by_triple(graph)
    spans: dict[int, Span] = {}
    for triple, marks in aligned.epidata.items():
        k = by_triple.get((triple[0], triple[1], triple[2]))
        places = sorted(
            place for mark in marks if type(mark).__name__ == "Alignment" for place in mark.indices
        )
        if k is not None and places:
            spans.setdefault(k, (places[0], _end_of_run(places)))
    return spans


def _end_of_run(places: Sequence[int]) -> int:
    end = places[0]
    for place in places:
        if place != end:
            break
        end += 1
    return end


def _nodes_by_triple(graph: AmrGraph) -> dict[tuple[str, str, str], int]:
    nodes: dict[tuple[str, str, str], int] = {}
    for node in graph.nodes:
        if node.var is not None and node.concept is not None:
            nodes[(node.var, ":instance", node.concept)] = node.k
        elif node.up is not None and node.value is not None:
            nodes.setdefault((graph.nodes[node.up].var or "", f":{node.role}", node.value), node.k)
    return nodes


def _lemma(token: str) -> str:
    known = readings(token.lower())
    return next((known[upos][0] for upos in _UPOS if upos in known), token.lower())


def _modules() -> tuple[Any, Any, Any]:
    try:
        rbw = importlib.import_module("amrlib.alignments.rbw_aligner")
    except ImportError as error:
        raise DecoderError(
            f"the aligner 'rbw' is amrlib's, which can't be imported ({error}): "
            "pip install 'graphneg[neural]', or leave the aligner at 'rules'"
        ) from error
    return rbw, importlib.import_module("penman"), importlib.import_module("penman.models.noop")


Aligner = Callable[[AmrGraph, Sequence[str]], dict[int, Span]]
_ALIGNERS: dict[str, Aligner] = {"rules": align, "rbw": align_rbw}


def get_aligner(name: str) -> Aligner:
    """``rules`` is graphneg's own and needs nothing; ``rbw`` is amrlib's.

    Raises:
        DecoderError: there is no aligner of that name.
    """
    if name not in _ALIGNERS:
        raise DecoderError(f"no aligner named {name!r}; choose one of {', '.join(_ALIGNERS)}")
    return _ALIGNERS[name]

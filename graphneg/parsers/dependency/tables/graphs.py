"""Annotated graphs to ``concepts.tsv`` and ``roles.tsv``: what words became, and what roles they took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphneg.alignment import align, tokenize
from graphneg.model import AmrGraph
from graphneg.parsers.dependency.pieces import readable
from graphneg.parsers.dependency.signatures import signature, word_class
from graphneg.parsers.dependency.words import Word, read_words
from graphneg.penman_codec import is_inverted, iter_blocks, metadata, parse_graph

DELETED = "-"
_INVERSES = {"mod": "domain", "domain": "mod"}


@dataclass(slots=True)
class GraphCounts:
    """``concepts`` counts ``(lemma, class, concept)``, ``roles`` ``(kind, key, signature, role)``."""

    concepts: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    roles: Counter[tuple[str, str, str, str]] = field(default_factory=Counter[tuple[str, str, str, str]])

    def add(self, words: Sequence[Word], graph: AmrGraph, weight: int) -> None:
        """Counts one graph's words and arcs ``weight`` times."""
        spans = _word_spans(words, graph)
        tops: dict[int, int] = {}
        for k, (first, _) in spans.items():
            if graph.nodes[k].concept is not None:
                tops.setdefault(first, k)
        covered = {i for first, behind in spans.values() for i in range(first, behind)}
        for word in words:
            concept = graph.nodes[tops[word.i]].concept if word.i in tops else None
            if concept is not None or word.i not in covered:
                self.concepts[word.lemma, word_class(word), concept or DELETED] += weight
        self._add_roles(words, graph, {k: first for k, (first, _) in spans.items()}, weight)

    def _add_roles(self, words: Sequence[Word], graph: AmrGraph, places: dict[int, int], weight: int) -> None:
        for up, role, to in arcs(graph):
            if up not in places or to not in places or places[up] == places[to]:
                continue
            h, d = places[up], places[to]
            found = signature(words, h, d)
            name = graph.nodes[up].concept or ""
            if found is None:
                continue
            self.roles["F", name, found, role] += weight
            self.roles["S", word_class(words[h]), found, role] += weight
            self.roles["W", words[d].lemma, found, role] += weight


def arcs(graph: AmrGraph) -> Iterator[tuple[int, str, int]]:
    """The graph's arcs from head to argument, inverse roles turned round."""
    tree = [(node.up or 0, node.role or "", node.k) for node in graph.nodes[1:]]
    for up, role, to in (*tree, *((one.up, one.role, one.target) for one in graph.mentions)):
        if role == "domain":
            yield to, "mod", up
        elif is_inverted(role):
            yield to, role[:-3], up
        else:
            yield up, role, to


def _word_spans(words: Sequence[Word], graph: AmrGraph) -> dict[int, tuple[int, int]]:
    """The aligner's spans as ranges over ``words``."""
    text = metadata(graph.metadata).get("snt", "")
    tokens = tokenize(text)
    spans = align(graph, [token.text for token in tokens])
    starts = {word.start: word.i for word in words}
    found: dict[int, tuple[int, int]] = {}
    for k, (first, behind) in spans.items():
        start = starts.get(tokens[first].start)
        if start is not None:
            found[k] = (start, start + behind - first)
    return found


def read_graphs(paths: Iterable[Path], excluded: Collection[str]) -> list[AmrGraph]:
    """The graphs of PENMAN files whose sentences are not ``excluded`` (compared by their letters)."""
    graphs: list[AmrGraph] = []
    for path in paths:
        for line, block in iter_blocks(path.read_text(encoding="utf-8")):
            if "::snt" in block:
                graph = parse_graph(block, "", line)
                if letters(sentence(graph)) not in excluded:
                    graphs.append(graph)
    return graphs


def sentence(graph: AmrGraph) -> str:
    """The graph's sentence."""
    return metadata(graph.metadata).get("snt", "")


def letters(text: str) -> str:
    """The text's letters and digits, lower case: equal for sentences that only differ in form."""
    return "".join(one for one in text.lower() if one.isalnum())


def count_graphs(nlp: Any, graphs: Sequence[AmrGraph], weight: int, counts: GraphCounts) -> None:
    """Counts the graphs into ``counts``."""
    for graph, doc in zip(graphs, nlp.pipe(readable(sentence(one)) for one in graphs), strict=True):
        counts.add(read_words(doc), graph, weight)


def write_counts(counts: GraphCounts, folder: Path) -> None:
    """Writes ``concepts.tsv`` and ``roles.tsv``, most frequent first."""
    for name, counter in (("concepts", counts.concepts), ("roles", counts.roles)):
        rows = sorted(counter.items(), key=lambda one: (-one[1], one[0]))
        lines = ["\t".join((*key, str(count))) + "\n" for key, count in rows]
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")

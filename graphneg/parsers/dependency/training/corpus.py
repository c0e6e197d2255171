"""The sentences that the trainer learns from: graphs, words, and drafts that never saw their own graph."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphneg.model import AmrGraph
from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.lexicon import Lexicon, load_lexicon
from graphneg.parsers.dependency.pieces import LONGEST, readable, tightened
from graphneg.parsers.dependency.rules import write_draft
from graphneg.parsers.dependency.tables.graphs import GraphCounts, letters, read_graphs, sentence
from graphneg.parsers.dependency.training.gold import Anchoring, GoldGraph
from graphneg.parsers.dependency.words import Word, read_words

GOLD, SILVER = 0, 1
_TABLE_WEIGHTS = (3, 1)
_BLOCK = 8


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence: its graph as read, its words, its anchored graph, and the corpus it is of."""

    graph: AmrGraph
    words: Sequence[Word]
    gold: GoldGraph
    corpus: int
    fold: int


def read_items(
    nlp: Any,
    gold: Sequence[Path],
    silver: Sequence[Path],
    exclude: Sequence[Path],
    most_silver: int,
    folds: int,
    wanted: Callable[[str], bool] = bool,
) -> list[Item]:
    """Each sentence once, without those of the ``exclude`` files; neighbours fall into the same fold.

    Only sentences that are ``wanted``; of the silver ones, at most ``most_silver``, spread evenly.
    """
    excluded = {letters(sentence(graph)) for graph in read_graphs(exclude, ())}
    read: list[tuple[AmrGraph, Sequence[Word], int, int]] = []
    for corpus, paths in ((GOLD, gold), (SILVER, silver)):
        graphs = [one for one in _once(read_graphs(paths, excluded), excluded) if wanted(sentence(one))]
        if corpus == SILVER and len(graphs) > most_silver:
            graphs = [graphs[n * len(graphs) // most_silver] for n in range(most_silver)]
        for n, (graph, words) in enumerate(
            zip(graphs, words_of(nlp, [sentence(one) for one in graphs]), strict=True)
        ):
            read.append((graph, words, corpus, n // _BLOCK % folds))
    anchoring = Anchoring([(graph, words) for graph, words, _, _ in read])
    return [
        Item(graph, words, anchoring.gold(graph, sentence(graph), words), corpus, fold)
        for graph, words, corpus, fold in read
    ]


def _once(graphs: Sequence[AmrGraph], excluded: Collection[str]) -> list[AmrGraph]:
    seen = set(excluded)
    found: list[AmrGraph] = []
    for graph in graphs:
        text = letters(sentence(graph))
        if text and text not in seen and len(sentence(graph)) <= LONGEST:
            seen.add(text)
            found.append(graph)
    return found


def words_of(nlp: Any, texts: Sequence[str]) -> list[list[Word]]:
    """The words of each text, as the parser reads them."""
    cuts = [tightened(readable(text)) for text in texts]
    docs = nlp.pipe((piece for piece, _ in cuts), batch_size=128)
    return [read_words(doc, 0, places) for doc, (_, places) in zip(docs, cuts, strict=True)]


def rule_lexicon(items: Sequence[Item]) -> Lexicon:
    """The rules' tables, with what words and roles were in these items' graphs alone."""
    counts = GraphCounts()
    for item in items:
        counts.add(item.words, item.graph, _TABLE_WEIGHTS[item.corpus])
    full = load_lexicon()
    lexicon = Lexicon(frames=full.frames, aliases=full.aliases)
    lexicon.add_concepts((*key, str(n)) for key, n in sorted(counts.concepts.items(), key=_frequent))
    lexicon.add_roles((*key, str(n)) for key, n in sorted(counts.roles.items(), key=_frequent))
    return lexicon


def _frequent(entry: tuple[Any, int]) -> tuple[int, Any]:
    return -entry[1], entry[0]


def draft_of(item: Item, lexicon: Lexicon) -> Draft:
    """The rules' draft, on words of its own (rules may mend them)."""
    return write_draft(item.gold.text, fresh(item.words), lexicon)


def fresh(words: Sequence[Word]) -> list[Word]:
    """A copy of the words."""
    return [replace(word, kids=list(word.kids)) for word in words]


def crossed_drafts(items: Sequence[Item], folds: int) -> list[Draft]:
    """A draft for each item, by tables from the other folds only."""
    lexicons = [rule_lexicon([item for item in items if item.fold != fold]) for fold in range(folds)]
    return [draft_of(item, lexicons[item.fold]) for item in items]

"""Makes the learned parts' data of the dependency parser."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from graphneg.english.propbank import Roleset
from graphneg.model import AmrGraph
from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.learned.concepts import choose_concepts
from graphneg.parsers.dependency.learned.tables import Meanings, Model, read_meanings
from graphneg.parsers.dependency.lexicon import ParserLexicon, load_lexicon
from graphneg.parsers.dependency.parser import write_draft
from graphneg.parsers.dependency.revision import Parts
from graphneg.parsers.dependency.text import LONGEST, Word, load_model
from tools.parser_arcs import has_no, train_arcs, train_denial
from tools.parser_chooser import Choice, build_meanings, choices, sentence_counts, train_chooser
from tools.parser_lessons import (
    Anchoring,
    GoldGraph,
    PairSentence,
    copy_words,
    example_sentences,
    pair_sentence,
    read_frames,
    words_of,
)
from tools.parser_networks import write_meanings, write_model
from tools.parser_tables import GraphCounts, letters, read_graphs, sentence
from tools.word_classes import read_classes

# The sentences that the trainer learns from: graphs, words, and drafts that never saw their own graph.


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
    condition: Callable[[str], bool] = bool,
) -> list[Item]:
    """Each sentence once, without those of the ``exclude`` files; neighbours fall into the same fold.

    Only sentences that fulfil ``condition``; of the silver ones, at most ``most_silver``, spread evenly.
    """
    excluded = {letters(sentence(graph)) for graph in read_graphs(exclude, ())}
    read: list[tuple[AmrGraph, Sequence[Word], int, int]] = []
    for corpus, paths in ((GOLD, gold), (SILVER, silver)):
        graphs = [one for one in _once(read_graphs(paths, excluded), excluded) if condition(sentence(one))]
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


def rule_lexicon(items: Sequence[Item]) -> ParserLexicon:
    """The rules' tables, with what words and roles were in these items' graphs alone."""
    counts = GraphCounts()
    for item in items:
        counts.add(item.words, item.graph, _TABLE_WEIGHTS[item.corpus])
    full = load_lexicon()
    lexicon = ParserLexicon(frames=full.frames, aliases=full.aliases)
    lexicon.add_concepts((*key, str(n)) for key, n in sorted(counts.concepts.items(), key=_frequent))
    lexicon.add_roles((*key, str(n)) for key, n in sorted(counts.roles.items(), key=_frequent))
    return lexicon


def _frequent(entry: tuple[Any, int]) -> tuple[int, Any]:
    return -entry[1], entry[0]


def draft_of(item: Item, lexicon: ParserLexicon) -> GraphDraft:
    """The rules' draft, on words of its own (rules may mend them)."""
    return write_draft(item.gold.text, copy_words(item.words), lexicon)


def crossed_drafts(items: Sequence[Item], folds: int) -> list[GraphDraft]:
    """A draft for each item, by tables from the other folds only."""
    lexicons = [rule_lexicon([item for item in items if item.fold != fold]) for fold in range(folds)]
    return [draft_of(item, lexicons[item.fold]) for item in items]


# Fits all learned parts, each on what the one before does with sentences that it has not seen.


WEIGHTS = (1.0, 0.5)
CHOOSER_SIZE, CHOOSER_EPOCHS = 48, 5
ARC_SIZE, ARC_EPOCHS, ARC_SEEDS = 96, 10, (0, 1)


def fit(
    items: Sequence[Item],
    rolesets: Sequence[Roleset],
    clusters: Mapping[str, tuple[int, int]],
    folds: int,
    say: Callable[[str], None],
    lessons: Callable[[ParserLexicon, Meanings, Model], Iterable[PairSentence]],
) -> Parts:
    """All parts from items of several folds.

    ``lessons`` makes further sentences for the arc scorer, of the rules' tables, meanings and chooser.
    """
    drafts = crossed_drafts(items, folds)
    say(f"{len(drafts)} drafts")
    corpora = [[(item.gold, item.words) for item in items if item.corpus == one] for one in (GOLD, SILVER)]
    meanings = build_meanings(corpora, rolesets, clusters)
    data = [
        choices(meanings, draft, item.gold, item.corpus, WEIGHTS[item.corpus], item.fold)
        for item, draft in zip(items, drafts, strict=True)
    ]
    _cross_choose(meanings, items, drafts, data, folds)
    say("concepts chosen")
    sentences = [
        pair_sentence(draft, item.gold, meanings, WEIGHTS[item.corpus])
        for item, draft in zip(items, drafts, strict=True)
    ]
    chooser = train_chooser([one for found in data for one in found], CHOOSER_SIZE, CHOOSER_EPOCHS, folds)
    say("chooser fitted")
    more = list(lessons(rule_lexicon(items), meanings, chooser))
    say(f"{len(more)} lessons from examples")
    arcs = train_arcs([*sentences, *more], ARC_SIZE, ARC_EPOCHS, ARC_SEEDS)
    say("arcs fitted")
    return Parts(meanings, chooser, arcs, train_denial(drafts, [item.gold for item in items]))


def _cross_choose(
    meanings: Meanings,
    items: Sequence[Item],
    drafts: Sequence[GraphDraft],
    data: Sequence[list[Choice]],
    folds: int,
) -> None:
    """Chooses the concepts of each fold's drafts by what the other folds taught."""
    for fold in range(folds):
        others = [one for item, found in zip(items, data, strict=True) if item.fold != fold for one in found]
        model = train_chooser(others, CHOOSER_SIZE, CHOOSER_EPOCHS, fold)
        for item, draft in zip(items, drafts, strict=True):
            if item.fold == fold:
                own = sentence_counts(item.gold, item.words, item.corpus)
                choose_concepts(meanings, model, draft, own, sure=inf)


# Makes the learned parts' data: ``python -m tools.parser_training --help``.


DATA = Path(__file__).parents[1] / "graphneg" / "parsers" / "dependency" / "data" / "learned"
FILES = ("arcs.npz", "chooser.npz", "denial.npz", "meanings.json.gz")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.parser_training", description=__doc__)
    parser.add_argument(
        "--lpp", type=Path, nargs="+", required=True, help="PENMAN files that people annotated"
    )
    parser.add_argument("--sick", type=Path, nargs="*", default=[], help="PENMAN files that a parser wrote")
    parser.add_argument("--exclude", type=Path, nargs="*", default=[], help="PENMAN files kept for testing")
    parser.add_argument("--propbank", type=Path, nargs="+", required=True, help="frame files: tar.gz or XML")
    parser.add_argument(
        "--classes", type=Path, help="word classes, as tools.word_classes makes them; else those in use"
    )
    parser.add_argument("--silver", type=int, default=3000, help="sentences of --sick to learn from, at most")
    parser.add_argument(
        "--examples",
        type=int,
        default=0,
        help="PropBank's examples to learn arcs from, at most, for each frame",
    )
    parser.add_argument(
        "--part",
        choices=("all", "denial"),
        default="all",
        help="which data to make; those in --out stay otherwise",
    )
    parser.add_argument("--folds", type=int, default=4, help="parts for cross-fitting")
    parser.add_argument("-o", "--out", type=Path, default=DATA, help="folder that the data are written to")
    options = parser.parse_args()
    began = time.monotonic()

    def say(what: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {what}", flush=True)

    import torch

    torch.set_num_threads(1)
    if options.part == "all":
        _make_all(options, say)
    _make_denial(options, say)
    say(f"written to {options.out}")


def _make_all(options: argparse.Namespace, say: Callable[[str], None]) -> None:
    nlp = load_model(None)
    items = read_items(nlp, options.lpp, options.sick, options.exclude, options.silver, options.folds)
    say(f"{len(items)} sentences")
    rolesets = read_frames(options.propbank)
    parts = fit(
        items,
        rolesets,
        read_classes(options.classes) if options.classes else classes_in_use(),
        options.folds,
        say,
        lambda lexicon, meanings, chooser: example_sentences(
            nlp, rolesets, options.examples, lexicon, meanings, chooser
        ),
    )
    write_parts(parts, options.out)


def _make_denial(options: argparse.Namespace, say: Callable[[str], None]) -> None:
    """Of all sentences with a *no*, however many others are learned from."""
    nlp = load_model(None)
    everything = sys.maxsize
    items = read_items(nlp, options.lpp, options.sick, options.exclude, everything, 1, has_no)
    say(f"{len(items)} sentences with a no")
    lexicon = load_lexicon()
    model = train_denial([draft_of(item, lexicon) for item in items], [item.gold for item in items])
    (options.out / "denial.npz").write_bytes(write_model(model))
    write_version(options.out)


def classes_in_use() -> Mapping[str, tuple[int, int]]:
    """The word classes that the package's data were made with; none where there are no data."""
    stored = DATA / "meanings.json.gz"
    return read_meanings(stored.read_bytes()).clusters if stored.is_file() else {}


def write_parts(parts: Parts, folder: Path) -> None:
    """Writes the files that :mod:`graphneg.parsers.dependency.learned` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    data = {
        "meanings.json.gz": write_meanings(parts.meanings),
        "chooser.npz": write_model(parts.chooser),
        "arcs.npz": write_model(parts.arcs),
        "denial.npz": write_model(parts.denial),
    }
    for name, content in data.items():
        (folder / name).write_bytes(content)
    write_version(folder)
    print(json.dumps({name: len(content) for name, content in data.items()}))


def write_version(folder: Path) -> None:
    """Names the data by their digest."""
    digest = hashlib.sha256(b"".join((folder / name).read_bytes() for name in FILES)).hexdigest()
    (folder / "VERSION").write_text(f"learned-{digest[:8]}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Train the learned parts of the dependency parser: ``python -m tools.parser_training --help``.

The parts are the fragment chooser, the arc scorer, and the classifier for negation by *no*. In use, each part
reads what the parts before it predict for unseen sentences, so it must also be trained on such predictions.
Therefore the sentences are divided into folds, and the tables and the chooser that are applied to a fold come
from the other folds (cross-fitting).
"""

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

# Training sentences: graphs, words, and draft graphs. A draft is made with tables from other sentences.


GOLD, SILVER = 0, 1
"""Numbers of the gold corpus and the silver corpus."""
_TABLE_WEIGHTS = (3, 1)
"""Weights of a gold graph and a silver graph in the tables of the rules."""
_BLOCK = 8
"""Number of consecutive sentences in the same fold."""


@dataclass(frozen=True, slots=True)
class Item:
    """A training sentence.

    Attributes:
        graph: The graph as read from its file.
        words: The words of the sentence.
        gold: The graph with aligned nodes.
        corpus: Number of the corpus, `GOLD` or `SILVER`.
        fold: Number of the fold.
    """

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
    """Read the training sentences without duplicates.

    Args:
        nlp: The spaCy model for tagging and parsing.
        gold: PENMAN files with graphs made by annotators.
        silver: PENMAN files with graphs made by a parser.
        exclude: PENMAN files whose sentences are left out.
        most_silver: Maximum number of silver sentences, spread evenly over the files.
        folds: Number of folds. Neighbouring sentences share a fold, because they are similar.
        condition: Function that returns whether a sentence is used.

    Returns:
        The sentences with their graphs.
    """
    excluded = {letters(sentence(graph)) for graph in read_graphs(exclude, ())}
    read: list[tuple[AmrGraph, Sequence[Word], int, int]] = []
    for corpus, paths in ((GOLD, gold), (SILVER, silver)):
        graphs = [one for one in _once(read_graphs(paths, excluded), excluded) if condition(sentence(one))]
        if corpus == SILVER and len(graphs) > most_silver:
            # Sentences at even distances are used, so that all parts of the files are represented.
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
    # Sentences are compared by their letters, because corpora differ in case and punctuation.
    seen = set(excluded)
    found: list[AmrGraph] = []
    for graph in graphs:
        text = letters(sentence(graph))
        if text and text not in seen and len(sentence(graph)) <= LONGEST:
            seen.add(text)
            found.append(graph)
    return found


def rule_lexicon(items: Sequence[Item]) -> ParserLexicon:
    """Return the tables of the rules, with counts from the given sentences only.

    Args:
        items: The sentences to count.

    Returns:
        The tables.
    """
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
    """Return the draft graph that the rules make for a sentence.

    Args:
        item: The sentence. Its words are copied, because rules may change them.
        lexicon: The tables of the rules.

    Returns:
        The draft.
    """
    return write_draft(item.gold.text, copy_words(item.words), lexicon)


def crossed_drafts(items: Sequence[Item], folds: int) -> list[GraphDraft]:
    """Return the draft graphs of sentences, each made with tables that were counted in the other folds.

    Args:
        items: The sentences.
        folds: Number of folds.

    Returns:
        A draft per sentence, in the order of the sentences.
    """
    lexicons = [rule_lexicon([item for item in items if item.fold != fold]) for fold in range(folds)]
    return [draft_of(item, lexicons[item.fold]) for item in items]


# Training of all parts. Each part is trained on what the part before it predicts for unseen sentences.


WEIGHTS = (1.0, 0.5)
"""Weights of a gold sentence and a silver sentence."""
CHOOSER_SIZE, CHOOSER_EPOCHS = 48, 5
"""Number of hidden units and number of epochs of the chooser."""
ARC_SIZE, ARC_EPOCHS, ARC_SEEDS = 96, 10, (0, 1)
"""Number of hidden units and number of epochs of the arc scorer, and the seeds of its networks."""


def fit(
    items: Sequence[Item],
    rolesets: Sequence[Roleset],
    clusters: Mapping[str, tuple[int, int]],
    folds: int,
    say: Callable[[str], None],
    lessons: Callable[[ParserLexicon, Meanings, Model], Iterable[PairSentence]],
) -> Parts:
    """Train all learned parts of the dependency parser.

    Args:
        items: The sentences.
        rolesets: PropBank's rolesets.
        clusters: Pairs of a coarse and a fine word class, keyed by word.
        folds: Number of folds.
        say: Function that reports progress.
        lessons: Function that makes further examples for the arc scorer, given the tables of the rules, the
            tables of the chooser, and the chooser.

    Returns:
        The trained parts.
    """
    drafts = crossed_drafts(items, folds)
    say(f"{len(drafts)} drafts")
    corpora = [[(item.gold, item.words) for item in items if item.corpus == one] for one in (GOLD, SILVER)]
    meanings = build_meanings(corpora, rolesets, clusters)
    data = [
        choices(meanings, draft, item.gold, item.corpus, WEIGHTS[item.corpus], item.fold)
        for item, draft in zip(items, drafts, strict=True)
    ]
    _choose_in_folds(meanings, items, drafts, data, folds)
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


def _choose_in_folds(
    meanings: Meanings,
    items: Sequence[Item],
    drafts: Sequence[GraphDraft],
    data: Sequence[list[Choice]],
    folds: int,
) -> None:
    """Choose the concepts in the drafts of each fold with a chooser that was trained on the other folds."""
    for fold in range(folds):
        others = [one for item, found in zip(items, data, strict=True) if item.fold != fold for one in found]
        model = train_chooser(others, CHOOSER_SIZE, CHOOSER_EPOCHS, fold)
        for item, draft in zip(items, drafts, strict=True):
            if item.fold == fold:
                counts = sentence_counts(item.gold, item.words, item.corpus)
                choose_concepts(meanings, model, draft, counts, sure=inf)


# The command line.


DATA = Path(__file__).parents[1] / "graphneg" / "parsers" / "dependency" / "data" / "learned"
FILES = ("arcs.npz", "chooser.npz", "denial.npz", "meanings.json.gz")
"""Names of the data files."""


def main() -> None:
    """Train the parts that the command line names, and write their files."""
    parser = argparse.ArgumentParser(prog="python -m tools.parser_training", description=__doc__)
    parser.add_argument(
        "--lpp", type=Path, nargs="+", required=True, help="PENMAN files with graphs made by annotators"
    )
    parser.add_argument(
        "--sick", type=Path, nargs="*", default=[], help="PENMAN files with graphs made by a parser"
    )
    parser.add_argument(
        "--exclude",
        type=Path,
        nargs="*",
        default=[],
        help="PENMAN files with test sentences, which are left out",
    )
    parser.add_argument(
        "--propbank", type=Path, nargs="+", required=True, help="PropBank's .tar.gz and .xml files"
    )
    parser.add_argument(
        "--classes", type=Path, help="file from tools.word_classes; default: the classes in the current data"
    )
    parser.add_argument(
        "--silver", type=int, default=3000, help="maximum number of sentences of --sick to train on"
    )
    parser.add_argument(
        "--examples",
        type=int,
        default=0,
        help="maximum number of PropBank's examples per frame to train the arc scorer on",
    )
    parser.add_argument(
        "--part",
        choices=("all", "denial"),
        default="all",
        help="part to train; with denial, the other files in --out stay unchanged",
    )
    parser.add_argument("--folds", type=int, default=4, help="number of folds for cross-fitting")
    parser.add_argument("-o", "--out", type=Path, default=DATA, help="folder to write the data to")
    options = parser.parse_args()
    began = time.monotonic()

    def say(what: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {what}", flush=True)

    import torch

    # The order of sums depends on the number of threads. One thread makes results reproducible.
    torch.set_num_threads(1)
    if options.part == "all":
        _make_all(options, say)
    _train_denial(options, say)
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


def _train_denial(options: argparse.Namespace, say: Callable[[str], None]) -> None:
    """Train the classifier for negation on all sentences with *no*, without a limit for silver sentences."""
    nlp = load_model(None)
    everything = sys.maxsize
    items = read_items(nlp, options.lpp, options.sick, options.exclude, everything, 1, has_no)
    say(f"{len(items)} sentences with a no")
    lexicon = load_lexicon()
    model = train_denial([draft_of(item, lexicon) for item in items], [item.gold for item in items])
    (options.out / "denial.npz").write_bytes(write_model(model))
    write_version(options.out)


def classes_in_use() -> Mapping[str, tuple[int, int]]:
    """Return the word classes in the data of the package, or an empty mapping if the data are missing."""
    stored = DATA / "meanings.json.gz"
    return read_meanings(stored.read_bytes()).clusters if stored.is_file() else {}


def write_parts(parts: Parts, folder: Path) -> None:
    """Write the files that :mod:`graphneg.parsers.dependency.learned` reads, and print their sizes.

    Args:
        parts: The trained parts.
        folder: The folder to write to.
    """
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
    """Write the file ``VERSION``, with a version that contains a digest of the data files.

    Args:
        folder: Folder of the data files.
    """
    digest = hashlib.sha256(b"".join((folder / name).read_bytes() for name in FILES)).hexdigest()
    (folder / "VERSION").write_text(f"learned-{digest[:8]}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

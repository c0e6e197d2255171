"""Makes the learned parts' data: ``python -m graphneg.parsers.dependency.training --help``."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from graphneg.parsers.dependency.learned.meanings import read_meanings
from graphneg.parsers.dependency.learned.network import write_model
from graphneg.parsers.dependency.learned.reviser import Parts
from graphneg.parsers.dependency.lexicon import load_lexicon
from graphneg.parsers.dependency.models import load_model
from graphneg.parsers.dependency.training.corpus import draft_of, read_items
from graphneg.parsers.dependency.training.denial import has_no, train_denial
from graphneg.parsers.dependency.training.examples import example_sentences
from graphneg.parsers.dependency.training.fitting import fit
from graphneg.parsers.dependency.training.propbank import read_rolesets
from graphneg.parsers.dependency.training.word_classes import read_classes

DATA = Path(__file__).parent.parent / "data" / "learned"
FILES = ("arcs.npz", "chooser.npz", "denial.npz", "meanings.json.gz")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m graphneg.parsers.dependency.training", description=__doc__
    )
    parser.add_argument(
        "--lpp", type=Path, nargs="+", required=True, help="PENMAN files that people annotated"
    )
    parser.add_argument("--sick", type=Path, nargs="*", default=[], help="PENMAN files that a parser wrote")
    parser.add_argument("--exclude", type=Path, nargs="*", default=[], help="PENMAN files kept for testing")
    parser.add_argument("--propbank", type=Path, nargs="+", required=True, help="frame files: tar.gz or XML")
    parser.add_argument(
        "--classes", type=Path, help="word classes, as word_classes.py makes them; else those in use"
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
    rolesets = list(read_rolesets(options.propbank))
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
        "meanings.json.gz": parts.meanings.write(),
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

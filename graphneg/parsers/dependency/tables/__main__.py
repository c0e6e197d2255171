"""Makes the tables that ship in ``data/`` from PropBank's release and annotated graphs."""

from __future__ import annotations

import argparse
from pathlib import Path

from graphneg.parsers.dependency.models import load_model
from graphneg.parsers.dependency.tables.graphs import (
    GraphCounts,
    count_graphs,
    letters,
    read_graphs,
    sentence,
    write_counts,
)
from graphneg.parsers.dependency.tables.propbank import write_frames

DATA = Path(__file__).parent.parent / "data"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m graphneg.parsers.dependency.tables", description=__doc__)
    parser.add_argument(
        "--propbank", type=Path, nargs="*", default=[], help="PropBank's .tar.gz and .xml files"
    )
    parser.add_argument("--gold", type=Path, nargs="*", default=[], help="PENMAN files that people annotated")
    parser.add_argument("--silver", type=Path, nargs="*", default=[], help="PENMAN files that a parser wrote")
    parser.add_argument("--exclude", type=Path, nargs="*", default=[], help="PENMAN files kept for testing")
    parser.add_argument(
        "--weight", type=int, default=3, help="what a gold graph counts; a silver one counts 1"
    )
    parser.add_argument("--out", type=Path, default=DATA, help="folder that the tables are written to")
    options = parser.parse_args()
    nlp = load_model(None)
    if options.propbank:
        count = write_frames(options.propbank, nlp, options.out / "frames.tsv")
        print(f"frames.tsv: {count} frames")
    if options.gold or options.silver:
        excluded = {letters(sentence(one)) for one in read_graphs(options.exclude, ())}
        counts = GraphCounts()
        count_graphs(nlp, read_graphs(options.gold, excluded), options.weight, counts)
        count_graphs(nlp, read_graphs(options.silver, excluded), 1, counts)
        write_counts(counts, options.out)
        print(f"concepts.tsv: {len(counts.concepts)} rows; roles.tsv: {len(counts.roles)} rows")


if __name__ == "__main__":
    main()

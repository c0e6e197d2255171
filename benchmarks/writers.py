"""Measure the overhead of writers, the classes that let a language model write texts.

The generator ``pneg`` sends the prompts of 2,000 contexts to a served model that takes 10 ms per answer and
gives one answer at a time. The overhead is the additional time, relative to the time of the model. Then
`LocalWriter` is compared with ``generate`` of transformers on the same batches, sorted by length, in tokens
per second.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.results import Goal, Result, Table, goals_text, percent, table_text, verdict
from graphneg.generators.base import Context
from graphneg.generators.generated import PREFETCHED
from graphneg.generators.pneg import PnegGenerator, PnegOptions, read_examples
from graphneg.model import Turn
from graphneg.nn.batching import padded
from graphneg.nn.generation import Sampling
from graphneg.nn.models import load_causal
from graphneg.nn.served import ServedWriter
from graphneg.nn.serving import ServerSettings
from graphneg.nn.writers import GenerationSettings, LocalWriter, Prompt
from graphneg.workers import prefetch_map
from tests.smol import SMOL
from tests.stub_model import busy_seconds, stub_model

CONTEXTS = 2_000
SECONDS = 0.01
"""Seconds that the stub of a served model takes per answer."""
AT_ONCE = 16
"""Number of concurrent prompts."""
BATCH = 100
"""Number of contexts per batch."""
MOST_OVERHEAD = 0.05
"""Goal: maximum overhead of the served writer."""
LEAST_RATE = 0.9
"""Goal: minimum speed of the local writer, relative to ``generate``."""
PROMPTS = 32
"""Number of prompts of the local writer."""
TOKENS = 24
"""Maximum number of new tokens per prompt."""
ROUNDS = 3
"""Number of rounds. Each round runs `LocalWriter` and ``generate`` once. The median of the ratios counts."""


def run() -> Result:
    """Measure the served writer and, if SmolLM2 is installed, the local writer."""
    found = [overhead(), *([] if SMOL is None else [local()])]
    return Result(tuple(table for table, _ in found), tuple(goal for _, goal in found))


def overhead(amount: int = CONTEXTS) -> tuple[Table, Goal]:
    """Measure the overhead of the generator ``pneg`` with a served model.

    Args:
        amount: Number of contexts.

    Returns:
        The table and the goal.
    """
    with tempfile.TemporaryDirectory() as folder:
        stub = Path(folder) / "stub"
        with stub_model(stub, seconds=SECONDS, serial=True) as url:
            writer = ServedWriter("stub", ServerSettings(url, AT_ONCE, cache=Path(folder) / "answers"))
            # The first request opens the connection and does not count.
            writer.complete([Prompt("Are you there?")])
            warm = busy_seconds(stub)
            generator = PnegGenerator(PnegOptions(), read_examples(), writer, None)
            parts = [_contexts(first, min(BATCH, amount - first)) for first in range(0, amount, BATCH)]

            def asked(part: list[Context]) -> list[Context]:
                generator.prefetch(part, 1, 0)
                return part

            began, cpu = time.perf_counter(), time.process_time()
            given = sum(
                len(each)
                for part in prefetch_map(asked, parts, PREFETCHED)
                for each in generator.generate(part, 1, 0)
            )
            seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        model_seconds = busy_seconds(stub) - warm
    share = seconds / model_seconds - 1
    shown = (f"{model_seconds:.1f}", f"{seconds:.1f}", percent(share, 1, 1), f"{1000 * cpu / amount:.1f}")
    about = (
        f"A test server takes {1000 * SECONDS:.0f} ms for each answer and answers one request at a time. "
        f"graphneg sends {AT_ONCE} prompts in parallel. `own`: the seconds that the server needed for its "
        "answers. `pneg`: the seconds of the generator."
    )
    columns = ("contexts", "given", "own s", "pneg s", "overhead", "CPU ms each")
    table = Table("Served writer", about, columns, ((f"{amount:,}", f"{given:,}", *shown),))
    wanted = f"under {percent(MOST_OVERHEAD, 1)}"
    return table, Goal("overhead of a served writer", "-", shown[2], wanted, verdict(share < MOST_OVERHEAD))


def local() -> tuple[Table, Goal]:
    """Compare the speed of greedy search by `LocalWriter` and by ``generate``.

    Returns:
        The table and the goal.
    """
    assert SMOL is not None
    model = load_causal(SMOL, device="cpu")
    prompts = [
        Prompt("A: " + "How was your day at the lake? " * (1 + n % 8) + "\nB:", str(n))
        for n in range(PROMPTS)
    ]
    writer, settings = LocalWriter(model), GenerationSettings(max_new_tokens=TOKENS)
    ends = model.end_tokens(None)
    sources = sorted((model.source_tokens(prompt.text) for prompt in prompts), key=len, reverse=True)

    def plain() -> int:
        written = 0
        for first in range(0, PROMPTS, model.batch_size):
            rows = padded(
                sources[first : first + model.batch_size], model.tokenizer.pad_token_id, "left", "cpu"
            )
            sequences = model.model.generate(**rows, max_new_tokens=TOKENS, do_sample=False)
            # Rows are padded after their end token; the padding is not counted.
            written += sum(_length(row[rows["input_ids"].shape[1] :].tolist(), ends) for row in sequences)
        return written

    def by_writer(search: GenerationSettings) -> Callable[[], int]:
        def run() -> int:
            texts = writer.complete(prompts, settings=search)
            return sum(len(model.target_tokens(one.text)) for each in texts for one in each)

        return run

    ways = {
        "generate": plain,
        "writer": by_writer(settings),
        "writer, drawn": by_writer(GenerationSettings(Sampling(top_p=0.9), TOKENS)),
    }
    for method in ways.values():
        method()
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, method in ways.items():
            began = time.perf_counter()
            written = method()
            rates[name].append(written / (time.perf_counter() - began))
    ratios = sorted(a / b for a, b in zip(rates["writer"], rates["generate"], strict=True))
    ratio = ratios[len(ratios) // 2]
    rows = tuple((name, f"{sorted(found)[len(found) // 2]:.0f}") for name, found in rates.items())
    about = f"SmolLM2-135M on the CPU, {PROMPTS} prompts, {TOKENS} tokens each."
    table = Table("Local writer", about, ("by", "tokens/s"), rows)
    goal = Goal(
        "local writer beside generate",
        "-",
        percent(ratio, 1),
        percent(LEAST_RATE, 1),
        verdict(ratio >= LEAST_RATE),
    )
    return table, goal


def _length(tokens: list[int], ends: set[int]) -> int:
    return next((at + 1 for at, token in enumerate(tokens) if token in ends), len(tokens))


def _contexts(first: int, amount: int) -> list[Context]:
    turns = (
        "Did you find the garden gloves that I bought on {n} market days?",
        "Yes, they were behind shelf {n}.",
    )
    return [
        Context(
            f"b/test/{n}#2",
            "b",
            "test",
            f"b/test/{n}",
            2,
            tuple(Turn("AB"[at], text.format(n=n)) for at, text in enumerate(turns)),
            "A",
        )
        for n in range(first, first + amount)
    ]


if __name__ == "__main__":
    made = run()
    print("\n".join(map(table_text, made.tables)), goals_text(made.goals), sep="\n")

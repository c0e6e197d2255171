"""Measure how fast the decoder `surface` is on one core, and which share of edits it turns into text."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.corpus import Corpus, store_records
from benchmarks.instances import Host
from benchmarks.results import Goal, Result, Table, percent, sample, verdict
from benchmarks.sizes import Sizes
from graphneg.decoders.base import get_decoder
from graphneg.editing.planning import EditSettings, Proposals, plan_edits
from graphneg.editing.proposals import propose
from graphneg.editing.recipes import Recipe, get_recipe
from graphneg.editing.transforms import load_transforms
from graphneg.editing.variants import edited_utterances, read_variants, write_variants
from graphneg.model import EditedUtterance
from graphneg.store.connection import Store
from graphneg.store.dialogues import GraphCache, Selection, StoredDialogue, dialogue_ids, read_dialogues

SEED = 0
WANTED_RATE = 1_000
"""Goal: minimum number of edits per second."""
WANTED_SHARE = 0.9
"""Goal: minimum share of edits for which the decoder writes a text."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """Measurements of decoding edits once with a new decoder.

    Attributes:
        edits: Number of edits.
        realised: Number of edits for which the decoder wrote a text.
        processor_seconds: Seconds of processor time.
        reasons: Counts of the refused edits, keyed by reason.
    """

    edits: int
    realised: int
    processor_seconds: float
    reasons: Counter[str]

    @property
    def rate(self) -> float:
        """The number of edits per second of one core, including refused edits."""
        return self.edits / self.processor_seconds


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    """Decode the edits of each transform, of the recipe `deam`, and of all transforms together.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Returns:
        The tables and goals for this kind of server.
    """
    store = host.fresh().store
    store_records(store, corpus.resources)
    store_records(store, corpus.copies(0, 1))
    deam = get_recipe("deam")
    recipes = [Recipe(name, "", ((name,),), 1, 1, "dialogue") for name in load_transforms()]
    rows: list[tuple[str, ...]] = []
    edits: list[EditedUtterance] = []
    for recipe in (*recipes, deam):
        some = edited(store, recipe, sizes.slots)
        if recipe is not deam:
            edits += some
        label = recipe.name if recipe is not deam else "recipe deam"
        rows.append(_row(label, _decode_repeatedly(some, sizes.repeats)))
    overall = _decode_repeatedly(edits, sizes.repeats)
    rows.append(_row("all transforms", overall))
    return Result((_table(corpus, rows),), _goals(overall))


def edited(store: Store, recipe: Recipe, slots: int) -> list[EditedUtterance]:
    """Edit all dialogues of a store.

    Args:
        store: The store.
        recipe: The recipe.
        slots: Maximum number of negatives per dialogue.

    Returns:
        The edited utterances without duplicates.
    """
    transforms = load_transforms()

    def ask(name: str, some: Sequence[StoredDialogue]) -> Proposals:
        return propose(store, transforms[name], some)

    plan = EditSettings(recipe, "dialogue", SEED)
    dialogues = read_dialogues(store, list(dialogue_ids(store, Selection())))
    picks = plan_edits(plan, dialogues, {one.id: range(slots) for one in dialogues}, ask)
    write_variants(store, plan, picks)
    variants = {one.id: one for one in read_variants(store, GraphCache(store), [one.id for one in picks])}
    found: dict[tuple[str, tuple[object, ...]], EditedUtterance] = {}
    for one in picks:
        variant = variants.get(one.id)
        if variant is not None and variant.fault is None:
            for utterance in edited_utterances(one.dialogue, variant).values():
                found[utterance.before.id, utterance.edits] = utterance
    return list(found.values())


def _decode_repeatedly(edits: Sequence[EditedUtterance], repeats: int) -> list[Decoding]:
    get_decoder("surface").decode(edits[:5])
    done: list[Decoding] = []
    for _ in range(repeats):
        # A new decoder has aligned no utterance yet, so the alignment is measured, too.
        decoder = get_decoder("surface")
        began = time.process_time()
        answers = decoder.decode(edits)
        seconds = time.process_time() - began
        reasons = Counter(
            (answer.reason or "").partition(":")[0] for answer in answers if answer.text is None
        )
        done.append(Decoding(len(answers), len(answers) - reasons.total(), seconds, reasons))
    return done


def _row(label: str, passes: Sequence[Decoding]) -> tuple[str, ...]:
    first = passes[0]
    return (
        label,
        f"{first.edits:,}",
        sample(one.rate for one in passes if one.edits).shown() if first.edits else "-",
        percent(first.realised, first.edits, 1),
        ", ".join(f"{code} {count}" for code, count in first.reasons.most_common(3)) or "-",
    )


def _table(corpus: Corpus, rows: Sequence[tuple[str, ...]]) -> Table:
    return Table(
        "Decoding with `surface`",
        f"The decoder writes edits that the transforms propose on {corpus.description}. Rates are per second "
        "of processor time of one process on one core, alignment included. Each repetition uses a new "
        "decoder. `refused`: the most frequent reasons.",
        ("edits by", "edits", "decoded/s", "realised", "refused"),
        tuple(rows),
    )


def _goals(overall: Sequence[Decoding]) -> tuple[Goal, ...]:
    rate, first = sample(one.rate for one in overall).median, overall[0]
    share = first.realised / first.edits
    return (
        Goal(
            "surface, on one core",
            "-",
            f"{rate:,.0f} edits/s",
            f">= {WANTED_RATE:,}",
            verdict(rate >= WANTED_RATE),
        ),
        Goal("surface, edits realised", "-", f"{100 * share:.1f}%", ">= 90%", verdict(share >= WANTED_SHARE)),
    )

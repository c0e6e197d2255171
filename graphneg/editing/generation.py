"""From dialogues in the store to negatives: propose, pick, apply, read back, decode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock

from graphneg.decoders import Decoder
from graphneg.editing.donors import Donors
from graphneg.editing.originals import (
    Originals,
    Selection,
    StoredDialogue,
    count_dialogues,
    dialogue_ids,
    read_dialogues,
)
from graphneg.editing.overlap import ahead
from graphneg.editing.picking import Pick, Plan, Proposals, pick
from graphneg.editing.proposals import propose
from graphneg.editing.records import edited_utterances, negative_of
from graphneg.editing.variants import Variant, read_variants, write_variants
from graphneg.errors import InputError
from graphneg.interpreter import fewer_collections
from graphneg.model import Decoded, Negative
from graphneg.output import Summary
from graphneg.output.stream import Finished
from graphneg.progress import NoProgress, Progress
from graphneg.store import Store
from graphneg.transforms import Transform

MAX_WAVES = 4


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: a plan, how many negatives of each dialogue, which dialogues."""

    plan: Plan
    transforms: Mapping[str, Transform]
    per_dialogue: int = 1
    selection: Selection = field(default_factory=Selection)
    batch: int = 200

    def __post_init__(self) -> None:
        missing = [name for name in self.plan.recipe.transforms if name not in self.transforms]
        if missing:
            known = ", ".join(self.transforms)
            raise InputError(f"no transform is called {missing[0]!r}; there are: {known}")
        if self.per_dialogue < 1 or self.batch < 1:
            raise InputError("at least one negative of each dialogue, and one dialogue in a batch, please")


@dataclass(frozen=True, slots=True)
class _Wave:
    """Picks for some slots of a batch, and by id the variants that were made of them."""

    picks: Sequence[Pick]
    variants: Mapping[str, Variant]


class _Batch:
    """Dialogues at work: what was made of each, and which slots were tried."""

    def __init__(self, dialogues: Sequence[StoredDialogue], request: Request) -> None:
        self.dialogues = dialogues
        self._wanted = request.per_dialogue
        self._made: dict[str, list[Negative]] = {one.id: [] for one in dialogues if one.graphs}
        self._tried = dict.fromkeys(self._made, 0)
        self._seen: set[tuple[str, ...]] = set()

    def open_slots(self) -> dict[str, range]:
        """New slots for each dialogue that still lacks negatives; they count as tried."""
        slots: dict[str, range] = {}
        for id, made in self._made.items():
            if len(made) < self._wanted:
                first = self._tried[id]
                self._tried[id] += self._wanted - len(made)
                slots[id] = range(first, self._tried[id])
        return slots

    def keep(self, one: Pick, negative: Negative) -> str | None:
        """Take a negative in, or say why not."""
        texts = (one.dialogue.id, *(turn["text"] for turn in negative.context), negative.response)
        if texts in self._seen:
            return "duplicate: an earlier negative of the dialogue reads the same"
        self._seen.add(texts)
        self._made[one.dialogue.id].append(negative)
        return None

    def negatives(self) -> list[Negative]:
        return [negative for made in self._made.values() for negative in made]


class Generator:
    """Makes the negatives of a request, batch by batch, in the order of dialogues.

    What gives no negative is counted in ``summary`` with its reason: ``no-site``, a decoder's
    code, ``duplicate``, ``ill-formed``. Where a decoder refuses, other edits of the dialogue are
    tried, up to four times as many as were asked for.
    """

    def __init__(
        self,
        store: Store,
        request: Request,
        decoder: Decoder,
        summary: Summary | None = None,
        progress: Progress | None = None,
        originals: Originals | None = None,
    ) -> None:
        self.summary = summary or Summary()
        self._store = store
        self._request = request
        self._decoder = decoder
        self._progress = progress or NoProgress()
        self._originals = originals or Originals(store)
        self._donors = Donors(store)
        self._writing = Lock()

    def run(self, skip: int = 0) -> Iterator[Finished]:
        """Yield each batch when its variants are in the store; ``skip`` dialogues are done already.

        The next batches are edited while this one is decoded.

        Raises:
            StoreError: the store is gone.
            TransformError: a transform's query fails.
        """
        selection = self._request.selection
        self._progress.start("negatives", count_dialogues(self._store, selection), "dialogues")
        self._progress.advance(skip)
        ids = dialogue_ids(self._store, selection, skip)
        batches = iter(lambda: list(islice(ids, self._request.batch)), [])
        done = skip
        with fewer_collections():
            for batch, wave in ahead(self._begin, batches):
                negatives = self._finish(batch, wave)
                done += len(batch.dialogues)
                self._progress.advance(len(batch.dialogues))
                yield Finished(done, negatives)
        self._progress.finish()

    def _begin(self, ids: Sequence[str]) -> tuple[_Batch, _Wave]:
        batch = _Batch(read_dialogues(self._store, ids), self._request)
        return batch, self._wave(batch)

    def _finish(self, batch: _Batch, wave: _Wave) -> list[Negative]:
        """The negatives of a batch: from its first picks, then from further ones for those refused."""
        for dialogue in batch.dialogues:
            if not dialogue.graphs:
                self.summary.skip("no-graph: no turn of the dialogue has an AMR graph", dialogue.id)
        for number in range(MAX_WAVES):
            wave = self._wave(batch) if number else wave
            if not wave.picks:
                break
            for one, result in self._results(wave):
                refused = result if isinstance(result, str) else batch.keep(one, result)
                if refused is not None:
                    self.summary.skip(refused, one.id)
                elif isinstance(result, Negative):
                    self.summary.add(result)
        return batch.negatives()

    def _wave(self, batch: _Batch) -> _Wave:
        """Picks for the slots that are open, written to the store and read back from it."""
        slots = batch.open_slots()
        if not slots:
            return _Wave((), {})
        plan = self._request.plan
        picks = pick(plan, batch.dialogues, slots, self._ask)
        with self._writing:
            write_variants(self._store, plan, picks)
        ids = [one.id for one in picks if one.edits]
        found = read_variants(self._store, self._originals, ids, batch.dialogues)
        return _Wave(picks, {variant.id: variant for variant in found})

    def _results(self, wave: _Wave) -> Iterator[tuple[Pick, Negative | str]]:
        """Each slot's negative, or why there is none."""
        plan, variants = self._request.plan, wave.variants
        texts = self._decode(wave.picks, variants)
        for one in wave.picks:
            variant = variants.get(one.id)
            if variant is None:
                yield one, "no-site: no transform of the recipe applies"
                continue
            for _ in range(max(1, len(variant.graphs))):
                self.summary.check([variant.fault] if variant.fault else [])
            refused = variant.fault or next(
                (d.reason for d in texts[one.id].values() if d.text is None), None
            )
            if refused is not None:
                yield one, refused
                continue
            decoded = {turn: answer.text or "" for turn, answer in texts[one.id].items()}
            yield one, negative_of(plan, one, variant, decoded, self._decoder.name)

    def _ask(self, name: str, dialogues: Sequence[StoredDialogue]) -> Proposals:
        return propose(self._store, self._request.transforms[name], dialogues, self._donors)

    def _decode(
        self, picks: Sequence[Pick], variants: Mapping[str, Variant]
    ) -> dict[str, dict[int, Decoded]]:
        """Decode all edited turns of a wave at once; the answers by variant and turn."""
        items = [
            (one.id, turn, utterance)
            for one in picks
            if one.id in variants
            for turn, utterance in edited_utterances(one.dialogue, variants[one.id]).items()
        ]
        answers = self._decoder.decode([utterance for _, _, utterance in items])
        found: dict[str, dict[int, Decoded]] = {one.id: {} for one in picks}
        for (id, turn, _), answer in zip(items, answers, strict=True):
            found[id][turn] = answer
        return found

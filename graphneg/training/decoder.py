"""Training a decoder: graphs and texts of a store in, a language model that writes texts of graphs out.

What is held out is held out by text, so that no text that is measured was learned with another graph. A
graph is written on one line, as amrlib's generators read it, and amrlib reads the folder of a
sequence-to-sequence model; a causal model's target stands behind the graph and ``Text:``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from graphneg.amr.penman import flat_graph
from graphneg.decoders.t5 import ANSWERS, ASKS
from graphneg.english.tokens import one_line
from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.ingest.rows import GOLD, amr_id, text_key
from graphneg.nn.fine_tuning import Example, TrainingReport, fine_tune
from graphneg.nn.language_models import CausalLM, LanguageModel
from graphneg.nn.models import AMR_TO_TEXT
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, dialogue_ids, read_dialogues, read_graphs

HELD_OUT = "held_out.amr"
"""The file in a decoder's folder that has the pairs it did not learn, as PENMAN blocks with ``::snt``."""
_AMRLIB = "amrlib_meta.json"
_NO_MEANING = {"amr-empty", "amr-unintelligible"}
_DIALOGUES = 50
_HELD_OUT_SHARE = 10


@dataclass(frozen=True, slots=True)
class Meaning:
    """A text and its graph on one line; ``id`` is the graph's."""

    id: str
    graph: str
    text: str

    @property
    def block(self) -> str:
        """As a PENMAN file has it."""
        return f"# ::id {self.id}\n# ::snt {self.text}\n{self.graph}\n"


@dataclass(frozen=True, slots=True)
class DecoderReport(TrainingReport):
    """A run: ``too_long`` pairs were left out, having more tokens than are read or written."""

    too_long: int


def meanings_of(
    store: Store, selection: Selection | None = None, *, gold_only: bool = False
) -> Iterator[Meaning]:
    """The texts of a store's utterances with their graphs, each pair once, in the order of dialogues.

    Of an utterance's graphs a gold one goes before a parser's; with ``gold_only`` no parsed one is taken.
    Texts without words, and graphs that say nothing (``amr-empty``), are left out.
    """
    ids, seen = dialogue_ids(store, selection or Selection()), set[tuple[str, str]]()
    while page := list(islice(ids, _DIALOGUES)):
        texts = {
            turn.amr: one_line(turn.text)
            for dialogue in read_dialogues(store, page)
            for turn in dialogue.turns
            if turn.amr is not None
            and any(map(str.isalnum, turn.text))
            and not (gold_only and turn.amr != amr_id(f"{dialogue.id}#{turn.turn}", GOLD))
        }
        graphs = {graph.id: graph for graph in read_graphs(store, list(texts))}
        for id, text in texts.items():
            line = flat_graph(graphs[id])
            if graphs[id].top.concept not in _NO_MEANING and (line, text) not in seen:
                seen.add((line, text))
                yield Meaning(id, line, text)


def held_out(meanings: Sequence[Meaning], amount: int, seed: int = 0) -> tuple[list[Meaning], list[Meaning]]:
    """Those to learn, and ``amount`` to measure (a tenth of the texts at most), drawn by text and seed.

    Of a text that is held out nothing is learned, whatever its case and white space.
    """
    keys = {one.id: text_key(one.text.casefold()) for one in meanings}
    order = sorted(set(keys.values()), key=lambda key: number(seed, "held-out", key))
    out = set(order[: min(amount, len(order) // _HELD_OUT_SHARE)])
    measured = {key: one for one in reversed(meanings) if (key := keys[one.id]) in out}
    return [one for one in meanings if keys[one.id] not in out], [
        measured[key] for key in order if key in out
    ]


def train_decoder(
    model: LanguageModel,
    meanings: Sequence[Meaning],
    out: str | Path,
    *,
    measured: Sequence[Meaning] = (),
    max_tokens: int = 512,
    **arguments: Any,
) -> DecoderReport:
    """Train ``model`` in place to write the texts of graphs, and save it into ``out``.

    A graph has ``max_tokens`` at most, a text half as many, and both no more than the model reads;
    longer pairs are left out. The folder also holds ``measured`` as `HELD_OUT`. ``arguments`` are those of
    `graphneg.nn.fine_tuning.fine_tune`.

    Raises `InputError`: there is nothing to learn, or ``out`` is taken.
    """
    if not meanings:
        raise InputError("no text with an AMR graph to learn from: graphneg parse makes graphs")
    causal = isinstance(model, CausalLM)
    read = min(max_tokens, (model.longest or max_tokens) * 2 // (3 if causal else 2))
    written = read // 2
    asks, answers = (ASKS, ANSWERS) if causal else ("", "")
    examples = [Example(one.graph + asks, answers + one.text) for one in meanings]
    fitting = [
        example
        for example in examples
        if len(model.source_tokens(example.source)) <= read
        and len(model.target_tokens(example.target)) <= written
    ]
    if not fitting:
        raise InputError(
            f"none of {len(examples):,} graphs and texts fits into {read} and {written} tokens: "
            "raise max_tokens, or take a model that reads more"
        )
    known = getattr(model.model.config, "task_specific_params", None) or {}
    folder = str(Path(out).resolve())  # amrlib looks for a tokenizer there
    limits = {"max_in_len": read, "max_out_len": written}
    model.model.config.task_specific_params = {**known, AMR_TO_TEXT: {"model_name_or_path": folder, **limits}}
    beside = {HELD_OUT: "\n".join(one.block for one in measured)}
    if not causal:
        beside[_AMRLIB] = json.dumps(_amrlib_meta(model), indent=1)
    report = fine_tune(model, fitting, out, longest=read + written, beside=beside, **arguments)
    return DecoderReport(too_long=len(examples) - len(fitting), **asdict(report))


def _amrlib_meta(model: LanguageModel) -> dict[str, Any]:
    """How ``amrlib.load_gtos_model`` finds its class for a folder."""
    return {
        "model_type": "gtos",
        "inference_module": ".generate_xfm.inference",
        "inference_class": "Inference",
        "model_fn": "model.safetensors",
        "base_model": str(model.path),
        "kwargs": {},
    }

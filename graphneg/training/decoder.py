"""Train a language model as a decoder, which generates text from AMR graphs.

The training data are AMR graphs and their texts from a store. Some of the texts can be held out for testing.
If a text is held out, all of its graphs are held out. Otherwise, the same text could occur in the training
data with another graph.

A graph is written on one line, in the format of amrlib's decoders. amrlib can load a sequence-to-sequence
model that this module has trained. A causal model reads the graph and ``Text:``, and continues with the text.

Example:
    Input: ``(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))``. Target: "The boy wants to go."
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
from graphneg.paths import resolved
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, dialogue_ids, read_dialogues, read_graphs

HELD_OUT = "held_out.amr"
"""Name of the file with the held-out pairs of a text and its graph, in the folder of the decoder.

It is a PENMAN file, in which the text of a graph is in a line that begins with ``# ::snt``.
"""
_AMRLIB = "amrlib_meta.json"
# Top concepts with which AMR annotators mark a text that is empty, or that they do not understand. Such
# graphs represent no meaning.
_NO_MEANING = {"amr-empty", "amr-unintelligible"}
# Number of dialogues that are read from the store with one query.
_DIALOGUES = 50
# At most one in ten texts is held out, so that most of a small data set can be used for training.
_HELD_OUT_SHARE = 10


@dataclass(frozen=True, slots=True)
class TextGraphPair:
    """A pair of a text and its AMR graph.

    Attributes:
        id: The id of the graph.
        graph: The graph in PENMAN notation, on one line.
        text: The text that the graph represents, on one line.
    """

    id: str
    graph: str
    text: str

    @property
    def block(self) -> str:
        """The pair as a block of a PENMAN file: two lines with the id and the text, then the graph."""
        return f"# ::id {self.id}\n# ::snt {self.text}\n{self.graph}\n"


@dataclass(frozen=True, slots=True)
class DecoderReport(TrainingReport):
    """The report of a training run for a decoder.

    Attributes:
        too_long: Number of pairs that were not used because their graph or their text has too many tokens.
    """

    too_long: int


def read_text_graph_pairs(
    store: Store, selection: Selection | None = None, *, gold_only: bool = False
) -> Iterator[TextGraphPair]:
    """Read the texts in a store together with their graphs.

    Args:
        store: Store with the dialogues and their AMR graphs.
        selection: The dialogues to read; None for all dialogues.
        gold_only: Whether to use only gold graphs, which people annotated. Otherwise, an utterance without a
            gold graph is used with the graph that a parser made.

    Yields:
        Each distinct pair of a text and a graph once, in the order of the dialogues. Texts without any letter
        or digit and graphs without meaning are skipped.
    """
    ids, seen = dialogue_ids(store, selection or Selection()), set[tuple[str, str]]()
    while page := list(islice(ids, _DIALOGUES)):
        texts = {
            turn.graph_id: one_line(turn.text)
            for dialogue in read_dialogues(store, page)
            for turn in dialogue.turns
            if turn.graph_id is not None
            and any(map(str.isalnum, turn.text))
            and not (gold_only and turn.graph_id != amr_id(f"{dialogue.id}#{turn.turn}", GOLD))
        }
        graphs = {graph.id: graph for graph in read_graphs(store, list(texts))}
        for id, text in texts.items():
            line = flat_graph(graphs[id])
            if graphs[id].top.concept not in _NO_MEANING and (line, text) not in seen:
                seen.add((line, text))
                yield TextGraphPair(id, line, text)


def held_out(
    meanings: Sequence[TextGraphPair], amount: int, seed: int = 0
) -> tuple[list[TextGraphPair], list[TextGraphPair]]:
    """Split pairs into training pairs and held-out pairs that have no text in common.

    Texts that differ only in case and white space count as one text.

    Args:
        meanings: Pairs of a text and its graph.
        amount: Number of texts to hold out. At most a tenth of the texts is held out.
        seed: Seed for choosing the held-out texts.

    Returns:
        The training pairs and the held-out pairs. There is one held-out pair for each held-out text, even if
        the text has several graphs.
    """
    keys = {one.id: text_key(one.text.casefold()) for one in meanings}
    order = sorted(set(keys.values()), key=lambda key: number(seed, "held-out", key))
    out = set(order[: min(amount, len(order) // _HELD_OUT_SHARE)])
    # A dict keeps the last value that is added for a key, so reverse the order to keep the first pair of each
    # text.
    measured = {key: one for one in reversed(meanings) if (key := keys[one.id]) in out}
    return [one for one in meanings if keys[one.id] not in out], [
        measured[key] for key in order if key in out
    ]


def train_decoder(
    model: LanguageModel,
    meanings: Sequence[TextGraphPair],
    out: str | Path,
    *,
    measured: Sequence[TextGraphPair] = (),
    max_tokens: int = 512,
    **arguments: Any,
) -> DecoderReport:
    """Train a language model as a decoder in place, and save it.

    The held-out pairs are saved in the file `HELD_OUT` in the same folder. Raises `InputError` if ``out``
    contains another model.

    Args:
        model: The language model to train.
        meanings: The training pairs of a text and its graph.
        out: The output folder for the trained model.
        measured: The held-out pairs, which are saved for testing and not used for training.
        max_tokens: Maximum length of a graph in tokens. The maximum length of a text is half of this number.
            Both limits are reduced if the model's maximum input is too short. Pairs that exceed a limit are
            not used for training.
        **arguments: Further arguments of `graphneg.nn.fine_tuning.fine_tune`.

    Returns:
        The report of the run.

    Raises:
        InputError: There are no pairs, or all pairs are too long.
    """
    if not meanings:
        raise InputError("nothing to train on: no text has an AMR graph; run graphneg parse")
    causal = isinstance(model, CausalLM)
    # Graphs get twice as many tokens as texts. A causal model reads graph and text as one sequence, so two
    # thirds of its maximum length are for the graph. The encoder of other models reads only the graph.
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
            f"nothing to train on: none of {len(examples):,} graphs and texts fits into {read} and "
            f"{written} tokens; raise max_tokens, or use a model that can read more"
        )
    known = getattr(model.model.config, "task_specific_params", None) or {}
    # amrlib loads the tokenizer from the path in the configuration, so use the path of the output folder.
    folder = str(resolved(out))
    limits = {"max_in_len": read, "max_out_len": written}
    model.model.config.task_specific_params = {**known, AMR_TO_TEXT: {"model_name_or_path": folder, **limits}}
    beside = {HELD_OUT: "\n".join(one.block for one in measured)}
    if not causal:
        beside[_AMRLIB] = json.dumps(_amrlib_meta(model), indent=1)
    report = fine_tune(model, fitting, out, longest=read + written, extra_files=beside, **arguments)
    return DecoderReport(too_long=len(examples) - len(fitting), **asdict(report))


def _amrlib_meta(model: LanguageModel) -> dict[str, Any]:
    """Return the metadata that tells ``amrlib.load_gtos_model`` how to load the model."""
    return {
        "model_type": "gtos",
        "inference_module": ".generate_xfm.inference",
        "inference_class": "Inference",
        "model_fn": "model.safetensors",
        "base_model": str(model.path),
        "kwargs": {},
    }

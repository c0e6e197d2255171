"""The t5 decoder: the edited graph to text by a language model, in PyTorch or CTranslate2.

In: edited graphs, each written on one line. Out: the best text of each that differs from the original. DEAM
(Ghazarian et al., 2022, section 3.2) turns its edited graphs into text with such a model. A
sequence-to-sequence model reads the line; a causal one, trained by `graphneg.training.decoder`, goes on
behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from graphneg.amr.penman import flat_graph
from graphneg.errors import DecoderError, InputError
from graphneg.model import AmrGraph, Decoded, EditedUtterance
from graphneg.nn.backends import NO_SAMPLING, Backend, CTranslate2Backend, Output, TorchBackend
from graphneg.nn.batching import if_memory_suffices
from graphneg.nn.generation import Sampling, item_seed
from graphneg.nn.language_models import Tokens
from graphneg.nn.models import AMRLIB_MODELS, INSTALL, find_amr_model, load_tokenizer

Serialiser = Callable[[AmrGraph], str]

ASKS, ANSWERS = "\nText:", " "
"""What stands behind the graph that a causal model reads, and before the text that it writes."""
_LONGEST_INPUT = 512
_LONGEST_OUTPUT = 256
# Tokenizers without a limit of their own say so by a number of this size or more.
_NO_LIMIT = 100_000
_NO_LETTER = re.compile(r"[\W_]+")


class T5Decoder:
    """Text by a T5 (or another sequence-to-sequence model, or a causal one) fine-tuned on AMR.

    ``model`` is a folder (amrlib's generate models, what ``graphneg train decoder`` made, any Hugging
    Face one that reads PENMAN, or one converted for CTranslate2) or a hub id; with ``offline`` nothing
    is fetched. ``backend`` is
    ``torch`` or ``ctranslate2`` (8-bit weights). The best of ``num_beams`` texts that is
    not the original is taken; with ``sampling``, texts are drawn in place of beams, each
    with a generator seeded by (``seed``, id), by the torch backend only. Limits are the model's own where
    ``max_input`` and ``max_output`` (tokens) are None. ``prefix`` goes before each graph,
    for models trained with one, and ``serialise`` writes the graph.

    Raises `DecoderError` where the model or a package is missing, and `InputError` for
    arguments out of range.
    """

    name = "t5"

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        backend: Literal["torch", "ctranslate2"] = "torch",
        device: str = "auto",
        batch_size: int = 32,
        num_beams: int = 4,
        sampling: Sampling | None = None,
        seed: int = 0,
        prefix: str = "",
        serialise: Serialiser = flat_graph,
        tokenizer: str | Path | None = None,
        max_input: int | None = None,
        max_output: int | None = None,
        offline: bool = False,
    ) -> None:
        if batch_size < 1 or num_beams < 1:
            raise InputError(f"batch_size {batch_size}, num_beams {num_beams}: both must be at least 1")
        if backend not in ("torch", "ctranslate2"):
            raise InputError(f"backend {backend!r}: known are torch and ctranslate2")
        if sampling is not None and backend == "ctranslate2":
            raise InputError(NO_SAMPLING)
        if model is None:
            raise DecoderError(
                f"the t5 decoder needs a model, a folder or a hub id; amrlib's are at {AMRLIB_MODELS}"
            )
        needed = ["torch", "transformers", *(["ctranslate2"] if backend == "ctranslate2" else [])]
        if missing := [name for name in needed if find_spec(name) is None]:
            raise DecoderError(f"the t5 decoder needs {', '.join(missing)}: {INSTALL}")
        folder = find_amr_model(model, offline=offline)
        self._tokenizer = load_tokenizer(tokenizer or folder.tokenizer, offline=offline)
        if backend == "torch" and folder.converted:
            raise DecoderError(f'{folder.path}: converted for CTranslate2; use backend="ctranslate2"')
        if backend == "ctranslate2" and folder.causal:
            raise DecoderError(f'{folder.path}: causal models are run by torch only; use backend="torch"')
        if folder.causal and not folder.decodes:
            raise DecoderError(
                f"{folder.path}: a causal model that was not trained to write texts of graphs; "
                f"train it with: graphneg train decoder --model {model} -o FOLDER"
            )
        self.backend: Backend = (
            TorchBackend(folder.path, self._tokenizer, device, causal=folder.causal)
            if backend == "torch"
            else CTranslate2Backend(folder, self._tokenizer, device)
        )
        self._asks, self._answers = (ASKS, ANSWERS) if folder.causal else ("", "")
        self._batch_size = batch_size
        self._num_beams = num_beams
        self._sampling = sampling
        self._seed = seed
        self._prefix = prefix
        self._serialise = serialise
        longest = self._tokenizer.model_max_length
        longest = longest if longest < _NO_LIMIT else _LONGEST_INPUT
        self._max_input = max_input or folder.max_input or longest
        self._max_output = max_output or folder.max_output or _LONGEST_OUTPUT

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        """A text for each edited graph, in the order given, or the reason why there is none.

        Reasons: ``truncated`` (graph or text longer than the model's limit), ``unchanged``
        (no text differs from the original), ``empty``, ``out-of-memory``.
        """
        answers: dict[int, Decoded] = {}
        pending = list(range(len(batch)))
        for draw in range(self._sampling.draws if self._sampling else 1):
            asked = [batch[index] for index in pending]
            found = self._written([item.after for item in asked], [item.id for item in asked], draw)
            for index, texts in zip(pending, found, strict=True):
                if isinstance(texts, Decoded):  # drawing again is of no use
                    answers[index] = texts
                    continue
                # The first text that can be used; where there is none, what was wrong with the best one.
                checked = [_changed(text, batch[index].text) for text in texts]
                answers[index] = next((text for text in checked if text.text is not None), checked[0])
            pending = [
                index
                for index, texts in zip(pending, found, strict=True)
                if not isinstance(texts, Decoded) and answers[index].text is None
            ]
        return [answers[index] for index in range(len(batch))]

    def n_best(self, graphs: Sequence[AmrGraph]) -> list[list[Decoded]]:
        """The texts of each graph, best first, or the reason why there is none.

        None is compared with an original. Drawn texts depend on the graphs' own ids.
        """
        found = self._written(graphs, [graph.id for graph in graphs], 0)
        return [[texts] if isinstance(texts, Decoded) else texts for texts in found]

    def losses(self, pairs: Sequence[tuple[AmrGraph, str]]) -> list[float]:
        """The mean negative log-likelihood (nats a token) of each text given its graph.

        It is infinite where the graph is longer than the model reads, or memory does not suffice.
        """
        rows = self._rows([graph for graph, _ in pairs])
        items = [
            (at, (row, self._answers + text))
            for at, (row, (_, text)) in enumerate(zip(rows, pairs, strict=True))
            if len(row) <= self._max_input
        ]
        losses = if_memory_suffices(
            items, lambda item: len(item[1][0]), self._batch_size,
            lambda batch: self.backend.losses([item for _, item in batch]),
        )  # fmt: skip
        known = {at: loss for (at, _), loss in zip(items, losses, strict=True) if loss is not None}
        return [known.get(at, float("inf")) for at in range(len(pairs))]

    def _rows(self, graphs: Sequence[AmrGraph]) -> list[Tokens]:
        texts = [self._prefix + self._serialise(graph) + self._asks for graph in graphs]
        return [self._tokenizer(text, verbose=False)["input_ids"] for text in texts]

    def _written(
        self, graphs: Sequence[AmrGraph], ids: Sequence[str], draw: int
    ) -> list[list[Decoded] | Decoded]:
        """The texts of each graph, best first; or why nothing could be written at all."""
        rows = self._rows(graphs)
        answers: list[list[Decoded] | Decoded] = [
            Decoded(None, f"truncated: the graph has {len(row)} tokens, the model reads {self._max_input}")
            for row in rows
        ]
        fitting = [at for at, row in enumerate(rows) if len(row) <= self._max_input]
        outputs = self._run([(rows[at], ids[at]) for at in fitting], draw)
        for at, found in zip(fitting, outputs, strict=True):
            why = f"out-of-memory: a graph of {len(rows[at])} tokens does not fit alone"
            answers[at] = [self._text(output) for output in found] if found else Decoded(None, why)
        return answers

    def _run(self, items: Sequence[tuple[Tokens, str]], draw: int) -> list[list[Output] | None]:
        """The texts for tokens with their ids, best first; None where the memory did not suffice."""

        def run(batch: Sequence[tuple[Tokens, str]]) -> list[list[Output]]:
            tokens = [row for row, _ in batch]
            if self._sampling is None:
                return self.backend.beams(tokens, self._num_beams, self._max_output)
            seeds = [item_seed(self._seed, id, draw) for _, id in batch]
            return self.backend.draws(tokens, self._sampling, seeds, self._max_output)

        return if_memory_suffices(items, lambda item: len(item[0]), self._batch_size, run)

    def _text(self, output: Output) -> Decoded:
        if not output.finished:
            return Decoded(None, f"truncated: the text was not finished after {self._max_output} tokens")
        text = self._tokenizer.decode(output.tokens, skip_special_tokens=True).strip()
        return Decoded(text) if text else Decoded(None, "empty: the model gave no text")


def _changed(answer: Decoded, original: str) -> Decoded:
    if answer.text is not None and same_words(answer.text, original):
        return Decoded(None, "unchanged: the model gave the original text")
    return answer


def same_words(text: str, other: str) -> bool:
    """Whether two texts differ in letter case, punctuation and white space at most.

    >>> same_words("I like it .", "i like it"), same_words("I like it.", "I liked it.")
    (True, False)
    """
    return _NO_LETTER.sub(" ", text).casefold().split() == _NO_LETTER.sub(" ", other).casefold().split()

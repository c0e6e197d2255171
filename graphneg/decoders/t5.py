"""The t5 decoder: generate the text of an edited graph with a language model.

DEAM (Ghazarian et al. 2022, section 3.2) turns edited graphs into text with a model that was fine-tuned on
pairs of AMR graphs and sentences. This decoder uses the same method. Each graph is written on one line. A
sequence-to-sequence model such as T5 reads this line as its input. A causal model, which must have been
trained by `graphneg.training.decoder`, continues a prompt that contains this line. Models run in PyTorch or
CTranslate2.

The decoder generates several texts for each graph, and returns the most likely text that differs from the
original utterance.

Input: ``(s / see-01 :polarity - :ARG0 (i / i) :ARG1 (i2 / it))``. Output: a text such as "I didn't see it."
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
"""Type of a function that converts a graph into the input text of the model."""

ASKS, ANSWERS = "\nText:", " "
"""Strings between the graph and the text in the prompts of a causal model.

A causal model reads and writes the sequence: graph, `ASKS`, `ANSWERS`, text.
"""
# Length limits in tokens, used if neither the arguments nor the model specify a limit.
_LONGEST_INPUT = 512
_LONGEST_OUTPUT = 256
# The transformers library gives the limit 10**30 to a tokenizer without a length limit. A limit of at least
# this number is ignored.
_NO_LIMIT = 100_000
_NO_LETTER = re.compile(r"[\W_]+")


class T5Decoder:
    """Decode with a fine-tuned language model: T5, another sequence-to-sequence model, or a causal model.

    Args:
        model: Directory or Hugging Face Hub id of the model. It can be an AMR-to-text model of amrlib, a
            model that ``graphneg train decoder`` trained, any Hugging Face model that reads PENMAN, or a
            model converted for CTranslate2.
        backend: ``torch``, or ``ctranslate2`` (8-bit weights, no causal models, no sampling).
        device: Device that runs the model, for example ``cpu`` or ``cuda``; ``auto`` chooses a device.
        batch_size: Maximum number of graphs in a batch; at least 1.
        num_beams: Number of beams, which is also the number of texts generated for each graph; at least 1.
        sampling: Settings for sampling; None uses beam search.
        seed: Seed for sampling. The random numbers for a graph depend only on ``seed`` and the graph's id.
        prefix: Text to put before each graph, for models that were trained with such a prefix.
        serialise: Function that converts a graph into the input text of the model.
        tokenizer: Directory or Hub id of the tokenizer; None uses the tokenizer of the model.
        max_input: Maximum number of input tokens; None uses the limit of the model.
        max_output: Maximum number of output tokens; None uses the limit of the model.
        offline: Whether to load the model without network access.

    Raises:
        DecoderError: No model was given, a package is missing, or the backend cannot run the model.
        InputError: An argument is out of range.
    """

    name = "t5"
    """The name of this decoder in the registry."""

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
        """Check the arguments, then load the tokenizer and the model."""
        if batch_size < 1 or num_beams < 1:
            raise InputError(f"batch_size and num_beams must be at least 1, not {batch_size} and {num_beams}")
        if backend not in ("torch", "ctranslate2"):
            raise InputError(f"unknown backend {backend!r}; choose one of torch, ctranslate2")
        if sampling is not None and backend == "ctranslate2":
            raise InputError(NO_SAMPLING)
        if model is None:
            raise DecoderError(
                f"the t5 decoder needs a model: a folder or a hub id; amrlib's models are at {AMRLIB_MODELS}"
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
        if folder.causal and not folder.is_amr_decoder:
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
        """Return a text for each edited graph.

        Args:
            batch: Utterances with their graphs before and after the edits.

        Returns:
            One result for each utterance, in the order of the batch: a text, or the reason why there is no
            text. Reasons start with ``truncated`` (the graph or the text is longer than the limit of the
            model), ``unchanged`` (no text differs from the original), ``empty`` or ``out-of-memory``.
        """
        answers: dict[int, Decoded] = {}
        pending = list(range(len(batch)))
        for draw in range(self._sampling.max_samples if self._sampling else 1):
            asked = [batch[index] for index in pending]
            found = self._written([item.after for item in asked], [item.id for item in asked], draw)
            for index, texts in zip(pending, found, strict=True):
                # A `Decoded` in place of a list means that the graph is too long or needs too much memory. Do
                # not sample it again, because it would fail in the same way.
                if isinstance(texts, Decoded):
                    answers[index] = texts
                    continue
                # Take the most likely usable text. If no text is usable, return the reason for the most
                # likely text.
                checked = [_changed(text, batch[index].text) for text in texts]
                answers[index] = next((text for text in checked if text.text is not None), checked[0])
            pending = [
                index
                for index, texts in zip(pending, found, strict=True)
                if not isinstance(texts, Decoded) and answers[index].text is None
            ]
        return [answers[index] for index in range(len(batch))]

    def n_best(self, graphs: Sequence[AmrGraph]) -> list[list[Decoded]]:
        """Return all texts that the model generates for each graph.

        Unlike `decode`, this method does not refuse a text that equals the original text of an utterance.

        Args:
            graphs: Graphs to decode. With sampling, the texts depend on the ids of the graphs.

        Returns:
            One list for each graph, in the order of ``graphs``, sorted with the most likely text first. If no
            text could be generated for a graph, its list contains a single `Decoded` with the reason.
        """
        found = self._written(graphs, [graph.id for graph in graphs], 0)
        return [[texts] if isinstance(texts, Decoded) else texts for texts in found]

    def losses(self, pairs: Sequence[tuple[AmrGraph, str]]) -> list[float]:
        """Compute the loss of each text if the model decodes a given graph.

        Args:
            pairs: Pairs of a graph and a text.

        Returns:
            The mean negative log-likelihood of each text given its graph, in nats per token. The loss is
            infinite if the graph is longer than the input limit, or if the memory does not suffice.
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
        """Convert each graph into the token ids of its text, which are the input of the model."""
        texts = [self._prefix + self._serialise(graph) + self._asks for graph in graphs]
        return [self._tokenizer(text, verbose=False)["input_ids"] for text in texts]

    def _written(
        self, graphs: Sequence[AmrGraph], ids: Sequence[str], draw: int
    ) -> list[list[Decoded] | Decoded]:
        """Generate texts for each graph.

        Returns:
            For each graph, a list of texts, sorted with the most likely first. A single `Decoded` with the
            reason takes the place of the list if no text could be generated for the graph.
        """
        rows = self._rows(graphs)
        answers: list[list[Decoded] | Decoded] = [
            Decoded(None, f"truncated: the graph has {len(row)} tokens, the model reads {self._max_input}")
            for row in rows
        ]
        fitting = [at for at, row in enumerate(rows) if len(row) <= self._max_input]
        outputs = self._run([(rows[at], ids[at]) for at in fitting], draw)
        for at, found in zip(fitting, outputs, strict=True):
            why = f"out-of-memory: a graph of {len(rows[at])} tokens does not fit into memory even alone"
            answers[at] = [self._text(output) for output in found] if found else Decoded(None, why)
        return answers

    def _run(self, items: Sequence[tuple[Tokens, str]], draw: int) -> list[list[Output] | None]:
        """Run the model on tokenized graphs. Each graph has an id, which determines its random numbers.

        Returns:
            The outputs for each graph; None for a graph that needs too much memory.
        """

        def run(batch: Sequence[tuple[Tokens, str]]) -> list[list[Output]]:
            tokens = [row for row, _ in batch]
            if self._sampling is None:
                return self.backend.beams(tokens, self._num_beams, self._max_output)
            seeds = [item_seed(self._seed, id, draw) for _, id in batch]
            return self.backend.sample(tokens, self._sampling, seeds, self._max_output)

        return if_memory_suffices(items, lambda item: len(item[0]), self._batch_size, run)

    def _text(self, output: Output) -> Decoded:
        """Convert the output of the model into a text. Return a reason if it is unfinished or empty."""
        if not output.finished:
            return Decoded(None, f"truncated: the text was not finished after {self._max_output} tokens")
        text = self._tokenizer.decode(output.tokens, skip_special_tokens=True).strip()
        return Decoded(text) if text else Decoded(None, "empty: the model returned no text")


def _changed(answer: Decoded, original: str) -> Decoded:
    """Return ``answer``, or the reason ``unchanged`` if its text has the same words as the original."""
    if answer.text is not None and same_words(answer.text, original):
        return Decoded(None, "unchanged: the model returned the original text")
    return answer


def same_words(text: str, other: str) -> bool:
    """Return whether two texts differ only in letter case, punctuation and white space.

    Args:
        text: First text.
        other: Second text.

    Returns:
        True if the texts have the same words in the same order.

    Example:
        >>> same_words("I like it .", "i like it"), same_words("I like it.", "I liked it.")
        (True, False)
    """
    return _NO_LETTER.sub(" ", text).casefold().split() == _NO_LETTER.sub(" ", other).casefold().split()

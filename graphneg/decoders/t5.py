"""The t5 decoder: the edited graph to text by a sequence-to-sequence model, in PyTorch or CTranslate2.

In: edited graphs, each written on one line. Out: the best text of each that differs from the original. DEAM
(Ghazarian et al., 2022, section 3.2) turns its edited graphs into text with such a model.
"""

from __future__ import annotations

import hashlib
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

from graphneg.amr.penman import format_graph
from graphneg.english.tokens import one_line
from graphneg.errors import DecoderError, InputError, ModelError, first_line
from graphneg.model import AmrGraph, Decoded, EditedUtterance
from graphneg.nn.batching import if_memory_suffices, padded
from graphneg.nn.generation import Sampling, generate, item_seed, processors
from graphneg.nn.models import (
    AMRLIB_MODELS,
    INSTALL,
    SEQ2SEQ,
    ModelFolder,
    ModelSource,
    find_amr_model,
    load_tokenizer,
    load_weights,
    on_device,
)
from graphneg.records.runs import atomic_folder

Tokens = Sequence[int]
Serialiser = Callable[[AmrGraph], str]

NO_SAMPLING = "CTranslate2 can't be seeded for each text: use the torch backend for sampling, or beams"
_LONGEST_INPUT = 512
_LONGEST_OUTPUT = 256
# Tokenizers without a limit of their own say so by a number of this size or more.
_NO_LIMIT = 100_000
_CONVERTED = "ctranslate2-int8"
_NO_LETTER = re.compile(r"[\W_]+")


class Output(NamedTuple):
    """A generated text's tokens without special ones at its ends; ``finished`` if it came to an end."""

    tokens: Tokens
    finished: bool


class Backend(ABC):
    """Generates texts for a batch of graphs, each with its end token."""

    @abstractmethod
    def beams(self, batch: Sequence[Tokens], width: int, longest: int) -> list[list[Output]]:
        """The ``width`` best texts of each graph, best first, of at most ``longest`` tokens."""

    def draws(
        self, batch: Sequence[Tokens], sampling: Sampling, seeds: Sequence[int], longest: int
    ) -> list[list[Output]]:
        """One text of each graph, drawn with its own seed; an `InputError` where the backend can't."""
        raise InputError(NO_SAMPLING)


def flat_graph(graph: AmrGraph) -> str:
    """The graph on one line, without comment lines and alignment marks.

    So were the graphs written that amrlib's generators were trained on (0.8.1, ``models/generate_xfm``).

    >>> from graphneg.amr.penman import parse_graph
    >>> flat_graph(parse_graph("# ::id 1\\n(l / like-01~e.1\\n   :ARG0 (i / i))"))
    '(l / like-01 :ARG0 (i / i))'
    """
    bare = replace(
        graph,
        metadata=(),
        nodes=tuple(node._replace(align=None, role_align=None) for node in graph.nodes),
        mentions=tuple(mention._replace(align=None, role_align=None) for mention in graph.mentions),
    )
    return one_line(format_graph(bare))


class T5Decoder:
    """Text by a T5 (or other sequence-to-sequence model) fine-tuned on AMR.

    ``model`` is a folder (amrlib's generate models, any Hugging Face one, or one converted
    for CTranslate2) or a hub id; with ``offline`` nothing is fetched. ``backend`` is
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
        self.backend: Backend = (
            TorchBackend(folder.path, self._tokenizer, device)
            if backend == "torch"
            else CTranslate2Backend(folder, self._tokenizer, device)
        )
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
        texts = [self._prefix + self._serialise(utterance.after) for utterance in batch]
        rows: list[Tokens] = [self._tokenizer(text, verbose=False)["input_ids"] for text in texts]
        answers: dict[int, Decoded] = {}
        for index, row in enumerate(rows):
            if len(row) > self._max_input:
                why = f"truncated: the graph has {len(row)} tokens, the model reads {self._max_input}"
                answers[index] = Decoded(None, why)
        pending = [index for index in range(len(rows)) if index not in answers]
        for draw in range(self._sampling.draws if self._sampling else 1):
            outputs = self._run([(rows[index], batch[index].id) for index in pending], draw)
            for index, drawn in zip(pending, outputs, strict=True):
                why = f"out-of-memory: a graph of {len(rows[index])} tokens does not fit alone"
                # The first text that can be used; where there is none, what was wrong with the best one.
                checked = [self._check(output, batch[index].text) for output in drawn or ()]
                usable = (answer for answer in checked if answer.text is not None)
                answers[index] = next(usable, checked[0]) if checked else Decoded(None, why)
            # Where the memory did not suffice, drawing again is of no use.
            pending = [
                index
                for index, drawn in zip(pending, outputs, strict=True)
                if drawn is not None and answers[index].text is None
            ]
        return [answers[index] for index in range(len(rows))]

    def _run(self, items: Sequence[tuple[Tokens, str]], draw: int) -> list[list[Output] | None]:
        """The texts for tokens with their ids, best first; None where the memory did not suffice."""

        def run(batch: Sequence[tuple[Tokens, str]]) -> list[list[Output]]:
            tokens = [row for row, _ in batch]
            if self._sampling is None:
                return self.backend.beams(tokens, self._num_beams, self._max_output)
            seeds = [item_seed(self._seed, id, draw) for _, id in batch]
            return self.backend.draws(tokens, self._sampling, seeds, self._max_output)

        return if_memory_suffices(items, lambda item: len(item[0]), self._batch_size, run)

    def _check(self, output: Output, original: str) -> Decoded:
        text = self._tokenizer.decode(output.tokens, skip_special_tokens=True).strip()
        if not output.finished:
            return Decoded(None, f"truncated: the text was not finished after {self._max_output} tokens")
        if not text:
            return Decoded(None, "empty: the model gave no text")
        if same_words(text, original):
            return Decoded(None, "unchanged: the model gave the original text")
        return Decoded(text)


def same_words(text: str, other: str) -> bool:
    """Whether two texts differ in letter case, punctuation and white space at most.

    >>> same_words("I like it .", "i like it"), same_words("I like it.", "I liked it.")
    (True, False)
    """
    return _NO_LETTER.sub(" ", text).casefold().split() == _NO_LETTER.sub(" ", other).casefold().split()


class TorchBackend(Backend):
    """A transformers ``model`` on one device (``auto``: a GPU where there is one), or a `DecoderError`."""

    def __init__(self, folder: Path, tokenizer: Any, device: str) -> None:
        from transformers import AutoModelForSeq2SeqLM

        self._tokenizer = tokenizer
        try:
            model = load_weights(ModelSource(folder, None), AutoModelForSeq2SeqLM, SEQ2SEQ)
            self.model = on_device(model, device)
        except ModelError as error:
            raise DecoderError(str(error)) from error

    def beams(self, batch: Sequence[Tokens], width: int, longest: int) -> list[list[Output]]:
        """See `Backend.beams`."""
        outputs = self._generate(batch, longest, (), num_beams=width, num_return_sequences=width)
        return [outputs[start : start + width] for start in range(0, len(outputs), width)]

    def draws(
        self, batch: Sequence[Tokens], sampling: Sampling, seeds: Sequence[int], longest: int
    ) -> list[list[Output]]:
        """See `Backend.draws`."""
        outputs = self._generate(batch, longest, processors(sampling, seeds), num_beams=1)
        return [[output] for output in outputs]

    def _generate(
        self, batch: Sequence[Tokens], longest: int, chain: Sequence[Any], **search: Any
    ) -> list[Output]:
        rows = padded(batch, self._tokenizer.pad_token_id, "right", self.model.device)
        sequences = generate(self.model, rows, chain, max_new_tokens=longest, **search)
        return [_output(sequence[1:], self._tokenizer.eos_token_id) for sequence in sequences]


def _output(tokens: list[int], end: int) -> Output:
    """Without the end token and the padding behind it."""
    finished = end in tokens
    return Output(tokens[: tokens.index(end)] if finished else tokens, finished)


class CTranslate2Backend(Backend):
    """The same model with 8-bit weights, faster on CPUs (``auto``: CUDA where CTranslate2 finds it).

    A model is converted once. The result is kept beside it, in ``ctranslate2-int8``; where the folder can't
    be written or came from the hub, in the user's cache. A conversion is made in a folder of its own and then
    renamed, so that one that was stopped is never used.

    Raises `DecoderError` where the folder can't be converted or loaded.
    """

    def __init__(self, folder: ModelFolder, tokenizer: Any, device: str) -> None:
        import ctranslate2

        converted = folder.path if folder.converted else convert(folder, tokenizer)
        kind, _, number = device.partition(":")
        try:
            self._translator = ctranslate2.Translator(
                str(converted), device=kind, device_index=int(number or 0), compute_type="int8"
            )
        except (RuntimeError, ValueError) as error:
            raise DecoderError(
                f"{converted}: CTranslate2 can't load it on {device!r} ({first_line(error)})"
            ) from error
        self._tokenizer = tokenizer

    def beams(self, batch: Sequence[Tokens], width: int, longest: int) -> list[list[Output]]:
        """See `Backend.beams`."""
        # With patience 1 the search stops at the first finished beams: short texts that broke off.
        source = [self._tokenizer.convert_ids_to_tokens(list(tokens)) for tokens in batch]
        results = self._translator.translate_batch(
            source,
            max_input_length=0,
            max_decoding_length=longest,
            return_end_token=True,
            beam_size=width,
            num_hypotheses=width,
            patience=2,
        )
        ids, end = self._tokenizer.convert_tokens_to_ids, self._tokenizer.eos_token_id
        return [[_output(ids(tokens), end) for tokens in result.hypotheses] for result in results]


def convert(folder: ModelFolder, tokenizer: Any) -> Path:
    """The folder of the converted model, made where it is not there yet."""
    # A text that changes when the model's files do: trained on, a model is converted again.
    files = sorted(file for file in folder.path.iterdir() if file.is_file())
    facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    version = hashlib.sha256(repr(facts).encode()).hexdigest()[:12]
    cache = folder.path
    if folder.from_hub or not os.access(cache, os.W_OK):
        from platformdirs import user_cache_path

        name = hashlib.sha256(str(cache.resolve()).encode()).hexdigest()[:16]
        cache = user_cache_path("graphneg") / "models" / name
        cache.mkdir(parents=True, exist_ok=True)
    target = cache / f"{_CONVERTED}-{version}"
    if target.is_dir():
        return target
    try:
        with atomic_folder(target) as unfinished:
            _converter(folder.path, tokenizer).convert(str(unfinished), quantization="int8", force=True)
    except (OSError, RuntimeError, ValueError, KeyError, AttributeError, TypeError) as error:
        why = f"{folder.path}: can't be converted for CTranslate2 ({first_line(error)})"
        raise DecoderError(why) from error
    return target


def _converter(path: Path, tokenizer: Any) -> Any:
    from ctranslate2.converters import TransformersConverter

    class Converter(TransformersConverter):
        """Uses the tokenizer that is loaded already; amrlib's folders hold none."""

        def load_tokenizer(self, tokenizer_class: Any, model_name_or_path: str, **kwargs: Any) -> Any:
            return tokenizer

    return Converter(str(path))

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
        """One text of each graph, drawn with the graph's own seed.

        Raises `InputError` where the backend can't seed each text.
        """
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


class _Item(NamedTuple):
    """A graph on its way through the model."""

    tokens: Tokens
    utterance: EditedUtterance


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
        if sampling is not None and backend == "ctranslate2":
            raise InputError(NO_SAMPLING)
        if model is None:
            raise DecoderError(
                f"the t5 decoder needs a model, a folder or a hub id; amrlib's are at {AMRLIB_MODELS}"
            )
        _check_packages(backend)
        folder = find_amr_model(model, offline=offline)
        self._tokenizer = load_tokenizer(tokenizer or folder.tokenizer, offline=offline)
        self.backend = _make_backend(backend, folder, self._tokenizer, device)
        self._batch_size = batch_size
        self._num_beams = num_beams
        self._sampling = sampling
        self._seed = seed
        self._prefix = prefix
        self._serialise = serialise
        self._max_input = max_input or _input_limit(folder, self._tokenizer)
        self._max_output = max_output or folder.max_output or _LONGEST_OUTPUT

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        """A text for each edited graph, in the order given, or the reason why there is none.

        Reasons: ``truncated`` (graph or text longer than the model's limit), ``unchanged``
        (no text differs from the original), ``empty``, ``out-of-memory``.
        """
        items = [self._item(utterance) for utterance in batch]
        answers = [self._too_long(item) for item in items]
        pending = [index for index, answer in enumerate(answers) if answer is None]
        for draw in range(self._sampling.draws if self._sampling else 1):
            outputs = self._run([items[index] for index in pending], draw)
            for index, texts in zip(pending, outputs, strict=True):
                answers[index] = self._answer(items[index], texts)
            pending = [index for index in pending if not _is_settled(answers[index])]
        return [answer for answer in answers if answer is not None]

    def _item(self, utterance: EditedUtterance) -> _Item:
        text = self._prefix + self._serialise(utterance.after)
        return _Item(self._tokenizer(text, verbose=False)["input_ids"], utterance)

    def _too_long(self, item: _Item) -> Decoded | None:
        if len(item.tokens) <= self._max_input:
            return None
        return Decoded(
            None, f"truncated: the graph has {len(item.tokens)} tokens, the model reads {self._max_input}"
        )

    def _run(self, items: Sequence[_Item], draw: int) -> list[list[Output] | None]:
        """Each item's texts, best first."""

        def run(batch: Sequence[_Item]) -> list[list[Output]]:
            tokens = [item.tokens for item in batch]
            if self._sampling is None:
                return self.backend.beams(tokens, self._num_beams, self._max_output)
            seeds = [item_seed(self._seed, item.utterance.id, draw) for item in batch]
            return self.backend.draws(tokens, self._sampling, seeds, self._max_output)

        return if_memory_suffices(items, lambda item: len(item.tokens), self._batch_size, run)

    def _answer(self, item: _Item, outputs: Sequence[Output] | None) -> Decoded:
        """The first text that can be used; where there is none, what was wrong with the best one."""
        if outputs is None:
            return Decoded(None, f"out-of-memory: a graph of {len(item.tokens)} tokens does not fit alone")
        answers = [self._check(item, output) for output in outputs]
        return next((answer for answer in answers if answer.text is not None), answers[0])

    def _check(self, item: _Item, output: Output) -> Decoded:
        text = self._tokenizer.decode(output.tokens, skip_special_tokens=True).strip()
        if not output.finished:
            return Decoded(None, f"truncated: the text was not finished after {self._max_output} tokens")
        if not text:
            return Decoded(None, "empty: the model gave no text")
        if same_words(text, item.utterance.text):
            return Decoded(None, "unchanged: the model gave the original text")
        return Decoded(text)


def same_words(text: str, other: str) -> bool:
    """Whether two texts differ in letter case, punctuation and white space at most.

    >>> same_words("I like it .", "i like it"), same_words("I like it.", "I liked it.")
    (True, False)
    """
    return _NO_LETTER.sub(" ", text).casefold().split() == _NO_LETTER.sub(" ", other).casefold().split()


def _check_packages(backend: str) -> None:
    needed = ["torch", "transformers", *(["ctranslate2"] if backend == "ctranslate2" else [])]
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise DecoderError(f"the t5 decoder needs {', '.join(missing)}: {INSTALL}")


def _make_backend(backend: str, folder: ModelFolder, tokenizer: Any, device: str) -> Backend:
    if backend == "ctranslate2":
        return CTranslate2Backend(folder, tokenizer, device)
    if backend != "torch":
        raise InputError(f"backend {backend!r}: known are torch and ctranslate2")
    if folder.converted:
        raise DecoderError(f'{folder.path}: converted for CTranslate2; use backend="ctranslate2"')
    return TorchBackend(folder.path, tokenizer, device)


def _input_limit(folder: ModelFolder, tokenizer: Any) -> int:
    if folder.max_input:
        return folder.max_input
    limit = tokenizer.model_max_length
    return limit if limit < _NO_LIMIT else _LONGEST_INPUT


def _is_settled(answer: Decoded | None) -> bool:
    """Whether drawing again is of no use."""
    return answer is not None and (
        answer.text is not None or (answer.reason or "").startswith("out-of-memory")
    )


class TorchBackend(Backend):
    """A model of transformers on one device (``auto``: a GPU where there is one).

    ``model`` is the transformers model. Raises `DecoderError` where the folder holds none, or the device
    can't be used.
    """

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
        chain = processors(sampling, seeds)
        return [[output] for output in self._generate(batch, longest, chain, num_beams=1)]

    def _generate(
        self, batch: Sequence[Tokens], longest: int, chain: Sequence[Any], **search: Any
    ) -> list[Output]:
        rows = padded(batch, self._tokenizer.pad_token_id, "right", self.model.device)
        sequences = generate(self.model, rows, chain, max_new_tokens=longest, **search)
        return [_output(sequence[1:], self._tokenizer.eos_token_id) for sequence in sequences]


def _output(tokens: list[int], end: int) -> Output:
    """Without the end token and the padding behind it."""
    if end not in tokens:
        return Output(tokens, finished=False)
    return Output(tokens[: tokens.index(end)], finished=True)


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
        return self._translate(batch, longest, beam_size=width, num_hypotheses=width, patience=2)

    def _translate(self, batch: Sequence[Tokens], longest: int, **search: int) -> list[list[Output]]:
        source = [self._tokenizer.convert_ids_to_tokens(list(tokens)) for tokens in batch]
        results = self._translator.translate_batch(
            source, max_input_length=0, max_decoding_length=longest, return_end_token=True, **search
        )
        ids, end = self._tokenizer.convert_tokens_to_ids, self._tokenizer.eos_token_id
        return [[_output(ids(tokens), end) for tokens in result.hypotheses] for result in results]


def convert(folder: ModelFolder, tokenizer: Any) -> Path:
    """The folder of the converted model, made where it is not there yet."""
    target = _cache_for(folder) / f"{_CONVERTED}-{_version_of(folder.path)}"
    if target.is_dir():
        return target
    try:
        with atomic_folder(target) as unfinished:
            _converter(folder.path, tokenizer).convert(str(unfinished), quantization="int8", force=True)
    except (OSError, RuntimeError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise DecoderError(
            f"{folder.path}: can't be converted for CTranslate2 ({first_line(error)})"
        ) from error
    return target


def _converter(path: Path, tokenizer: Any) -> Any:
    from ctranslate2.converters import TransformersConverter

    class Converter(TransformersConverter):
        """Uses the tokenizer that is loaded already; amrlib's folders hold none."""

        def load_tokenizer(self, tokenizer_class: Any, model_name_or_path: str, **kwargs: Any) -> Any:
            return tokenizer

    return Converter(str(path))


def _cache_for(folder: ModelFolder) -> Path:
    if not folder.from_hub and os.access(folder.path, os.W_OK):
        return folder.path
    from platformdirs import user_cache_path

    name = hashlib.sha256(str(folder.path.resolve()).encode()).hexdigest()[:16]
    cache = user_cache_path("graphneg") / "models" / name
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def _version_of(path: Path) -> str:
    """A text that changes when the model's files do: trained on, a model is converted again."""
    files = sorted(file for file in path.iterdir() if file.is_file())
    facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:12]

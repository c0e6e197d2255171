"""The ``t5`` decoder: the edited graph to text by a sequence-to-sequence model.

DEAM (Ghazarian et al., 2022, section 3.2) turns its edited graphs into text with such a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

from graphneg.decoders.t5.backend import NO_SAMPLING, Backend, Output, Tokens
from graphneg.decoders.t5.batching import in_batches
from graphneg.decoders.t5.model_folder import AMRLIB_MODELS, INSTALL, ModelFolder, find_model, load_tokenizer
from graphneg.decoders.t5.sampling import Sampling, item_seed
from graphneg.decoders.t5.serialise import Serialiser, one_line
from graphneg.errors import DecoderError, InputError
from graphneg.model import Decoded, EditedUtterance

_LONGEST_INPUT = 512
_LONGEST_OUTPUT = 256
# Tokenizers without a limit of their own say so by a number of this size or more.
_NO_LIMIT = 100_000
_NO_LETTER = re.compile(r"[\W_]+")


class _Item(NamedTuple):
    """A graph on its way through the model; ``place`` is its number in the batch asked for."""

    place: int
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
        serialise: Serialiser = one_line,
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
        folder = find_model(model, offline=offline)
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
        items = [self._item(index, utterance) for index, utterance in enumerate(batch)]
        answers = [self._too_long(item) for item in items]
        pending = [item for item in items if answers[item.place] is None]
        for draw in range(self._sampling.draws if self._sampling else 1):
            for item, outputs in self._run(pending, draw):
                answers[item.place] = self._answer(item, outputs)
            pending = [item for item in pending if not _is_settled(answers[item.place])]
        return [answer for answer in answers if answer is not None]

    def _item(self, index: int, utterance: EditedUtterance) -> _Item:
        text = self._prefix + self._serialise(utterance.after)
        return _Item(index, self._tokenizer(text, verbose=False)["input_ids"], utterance)

    def _too_long(self, item: _Item) -> Decoded | None:
        if len(item.tokens) <= self._max_input:
            return None
        return Decoded(
            None, f"truncated: the graph has {len(item.tokens)} tokens, the model reads {self._max_input}"
        )

    def _run(self, items: Sequence[_Item], draw: int) -> Iterator[tuple[_Item, list[Output] | None]]:
        """Each item with its texts, best first. Longest graphs first: memory runs out early or never."""
        longest_first = sorted(items, key=_by_length)

        def generate(batch: Sequence[_Item]) -> list[list[Output]]:
            tokens = [item.tokens for item in batch]
            if self._sampling is None:
                return self.backend.beams(tokens, self._num_beams, self._max_output)
            seeds = [item_seed(self._seed, item.utterance.id, draw) for item in batch]
            return self.backend.draws(tokens, self._sampling, seeds, self._max_output)

        return in_batches(longest_first, self._batch_size, generate)

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
        from graphneg.decoders.t5.ctranslate2_backend import CTranslate2Backend

        return CTranslate2Backend(folder, tokenizer, device)
    if backend != "torch":
        raise InputError(f"backend {backend!r}: known are torch and ctranslate2")
    if folder.converted:
        raise DecoderError(f'{folder.path}: converted for CTranslate2; use backend="ctranslate2"')
    from graphneg.decoders.t5.torch_backend import TorchBackend

    return TorchBackend(folder.path, tokenizer, device)


def _input_limit(folder: ModelFolder, tokenizer: Any) -> int:
    if folder.max_input:
        return folder.max_input
    limit = tokenizer.model_max_length
    return limit if limit < _NO_LIMIT else _LONGEST_INPUT


def _by_length(item: _Item) -> tuple[int, int]:
    return -len(item.tokens), item.place


def _is_settled(answer: Decoded | None) -> bool:
    """Whether drawing again is of no use."""
    return answer is not None and (
        answer.text is not None or (answer.reason or "").startswith("out-of-memory")
    )

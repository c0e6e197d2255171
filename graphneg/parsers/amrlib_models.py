"""Models of amrlib: what a folder says about itself, and running one on sentences.

In: a folder of a parse model, and sentences. Out: for each sentence the graphs that the model proposes as
PENMAN texts, best first.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from graphneg.decoders.t5 import Output, Tokens
from graphneg.errors import DecoderError, ParserError, first_line
from graphneg.nn.batching import if_memory_suffices, in_batches
from graphneg.nn.models import AMRLIB_MODELS, INSTALL, load_tokenizer, read_json, tokenizer_source

SEQUENCE_TO_SEQUENCE = ("parse_xfm", "parse_t5")
"""amrlib's modules for T5, BART and any other sequence-to-sequence model of transformers."""

_TASKS = ("parse_amr", "translation_amr_to_text")
_SAMPLE = 1 << 20
_WEIGHTS = (".safetensors", ".bin", ".pt")


@dataclass(frozen=True, slots=True)
class ParseModel:
    """A folder that amrlib can parse with. Limits are in tokens.

    ``family`` is the module of amrlib that runs it (``parse_xfm``), ``version`` tells its weights
    from others', ``tokenizer`` is the folder or hub id of its tokenizer.
    """

    path: Path
    family: str
    version: str
    tokenizer: str
    max_input: int
    max_output: int


def read_model(model: str | Path | None) -> ParseModel:
    """What is in a model's folder.

    Raises:
        ParserError: there is no such folder, it holds no amrlib model, or one for another task.
    """
    if model is None:
        raise ParserError(
            "the amrlib parser needs --model DIR, the directory of a parse model; "
            f"get one from {AMRLIB_MODELS}"
        )
    path = Path(model).expanduser()
    if not path.is_dir():
        raise ParserError(
            f"{model}: there is no such directory; download a parse model from {AMRLIB_MODELS} and unpack it"
        )
    meta = read_json(path / "amrlib_meta.json", ParserError)
    if not meta:
        raise ParserError(
            f"{path}: no amrlib_meta.json in it, so it is no directory of an amrlib model; "
            f"parse models are at {AMRLIB_MODELS}"
        )
    if meta.get("model_type") != "stog":
        raise ParserError(
            f"{path}: an amrlib model of type {meta.get('model_type')!r}, which does not parse text "
            f"(gtos is for the decoder t5); parse models are of type 'stog', see {AMRLIB_MODELS}"
        )
    family = str(meta.get("inference_module", "")).strip(".").partition(".")[0]
    version = f"{meta.get('version', '0')}-{_digest(path)}"
    if family not in SEQUENCE_TO_SEQUENCE:
        return ParseModel(path, family, version, "", 0, 0)
    task = _task(path)
    return ParseModel(
        path,
        family,
        version,
        tokenizer_source(path, task),
        int(task.get("max_in_len") or 100),
        int(task.get("max_out_len") or 512),
    )


def _task(path: Path) -> Mapping[str, Any]:
    """What training noted in the model's configuration.

    The first released model noted it under the name of another task.
    """
    config = read_json(path / "config.json", ParserError)
    tasks = config.get("task_specific_params") or {}
    task: Mapping[str, Any] | None = next((tasks[name] for name in _TASKS if tasks.get(name)), None)
    if task is None:
        raise ParserError(
            f"{path}: config.json has no task_specific_params for parse_amr, which amrlib's training notes "
            "there; fetch the model again"
        )
    return task


def _digest(path: Path) -> str:
    """Tells weights apart without reading gigabytes: names, sizes, the beginnings and ends of files."""
    seen = hashlib.blake2b(digest_size=4)
    for file in sorted(entry for entry in path.iterdir() if entry.suffix in _WEIGHTS):
        size = file.stat().st_size
        seen.update(f"{file.name} {size}".encode())
        with file.open("rb") as stream:
            seen.update(stream.read(_SAMPLE))
            stream.seek(max(0, size - _SAMPLE))
            seen.update(stream.read(_SAMPLE))
    return seen.hexdigest()


class Candidate(NamedTuple):
    """A proposed graph; ``penman`` is None where none can be read from what the model wrote.

    ``repairs`` counts what was ill-formed and mended in reading, ``finished`` says whether the model came
    to an end.
    """

    penman: str | None
    repairs: int = 0
    finished: bool = True


@dataclass(frozen=True, slots=True)
class Proposal:
    """A sentence's candidates, none where memory did not suffice; ``cut`` tokens of it were not read."""

    candidates: tuple[Candidate, ...] | None
    tokens: int = 0
    cut: int = 0


class Engine(Protocol):
    """Proposes graphs for sentences, one answer for each, in order."""

    def propose(self, sentences: Sequence[str]) -> list[Proposal]:
        """The candidates of each sentence, best first."""
        ...


def make_engine(model: ParseModel, device: str, batch: int, beams: int, *, offline: bool) -> Engine:
    """What runs the model.

    Raises:
        ParserError: its weights, its tokenizer or a package is missing, or the device can't be used.
    """
    try:
        if model.family in SEQUENCE_TO_SEQUENCE:
            return SequenceEngine(model, device, batch, beams, offline=offline)
        return AmrlibEngine(model, device, batch, beams)
    except ImportError as error:
        raise ParserError(
            f"the amrlib parser needs a package that is missing ({error}): {INSTALL}"
        ) from error
    except DecoderError as error:
        raise ParserError(str(error)) from error


class SequenceEngine:
    """T5, BART and others: generation by graphneg, the reading of what was generated by amrlib.

    amrlib's own inference says of a sentence that it was clipped in a log only, and of a graph that
    broke off not at all.
    """

    def __init__(self, model: ParseModel, device: str, batch: int, beams: int, *, offline: bool) -> None:
        from graphneg.decoders.t5 import TorchBackend

        self._reader = _Reader()
        self._tokenizer = load_tokenizer(model.tokenizer, offline=offline)
        self._backend = TorchBackend(model.path, self._tokenizer, device)
        # BART's own setting, made for summaries: graphs repeat themselves.
        self._backend.model.generation_config.no_repeat_ngram_size = 0
        self._model = model
        self._batch = batch
        self._beams = beams

    def propose(self, sentences: Sequence[str]) -> list[Proposal]:
        """Proposals in the order of the sentences; they are run longest first, in batches of like length."""
        tokens = [self._tokenizer(sentence, verbose=False)["input_ids"] for sentence in sentences]

        def generate(rows: Sequence[Tokens]) -> list[list[Output]]:
            return self._backend.beams(list(map(self._read_part, rows)), self._beams, self._model.max_output)

        return [
            Proposal(
                None if outputs is None else tuple(map(self._candidate, outputs)),
                len(row),
                max(0, len(row) - self._model.max_input),
            )
            for row, outputs in zip(
                tokens, if_memory_suffices(tokens, len, self._batch, generate), strict=True
            )
        ]

    def _read_part(self, tokens: Tokens) -> Tokens:
        """As much as the model reads, with the token that ends a text."""
        if len(tokens) <= self._model.max_input:
            return tokens
        return [*tokens[: self._model.max_input - 1], tokens[-1]]

    def _candidate(self, output: Output) -> Candidate:
        written = self._tokenizer.decode(output.tokens, skip_special_tokens=True)
        penman, complaints = self._reader.read(written)
        return Candidate(penman, complaints, output.finished)


class AmrlibEngine:
    """Models of amrlib's other families (SPRING, GSII), by its own inference."""

    def __init__(self, model: ParseModel, device: str, batch: int, beams: int) -> None:
        from graphneg.nn.models import choose_device

        factory = importlib.import_module("amrlib.models.model_factory")
        try:
            self._inference: Any = factory.load_inference_model(
                str(model.path), device=choose_device(device), num_beams=beams
            )
        except (OSError, ValueError, KeyError, RuntimeError, AttributeError, TypeError) as error:
            raise ParserError(
                f"{model.path}: amrlib can't load it ({first_line(error)}); models of the families "
                f"{' and '.join(SEQUENCE_TO_SEQUENCE)} work with transformers 5"
            ) from error
        self._batch = batch

    def propose(self, sentences: Sequence[str]) -> list[Proposal]:
        """One candidate for each sentence, or none; they are run longest first."""
        order = sorted(range(len(sentences)), key=lambda i: (-len(sentences[i]), i))

        def parse(rows: Sequence[int]) -> list[str | None]:
            return self._inference.parse_sents([sentences[i] for i in rows], add_metadata=False)

        proposals = {
            i: Proposal(None if penman is None else (Candidate(penman),))
            for i, penman in in_batches(order, self._batch, parse)
        }
        return [proposals[i] for i in range(len(sentences))]


class _Reader:
    """amrlib's reader of what models write: nodes by their concepts, brackets that need not match."""

    def __init__(self) -> None:
        module = importlib.import_module("amrlib.models.parse_xfm.penman_serializer")
        self._read: Any = module.PenmanDeSerializer
        self._log = logging.getLogger(module.__name__)

    def read(self, text: str) -> tuple[str | None, int]:
        """The PENMAN text, and how often amrlib complained on the way."""
        complaints = _Count()
        spoke, self._log.propagate = self._log.propagate, False
        self._log.addHandler(complaints)
        try:
            return self._read(text).get_graph_string(), complaints.count
        finally:
            self._log.removeHandler(complaints)
            self._log.propagate = spoke


class _Count(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Counts a record."""
        self.count += 1

"""The ``amrlib`` parser: run an AMR parse model on the sentences of a text and join their graphs.

amrlib models parse one sentence at a time and may produce ill-formed graphs. This module splits each text
into sentences and lets the model propose several graphs per sentence. It repairs small defects in the
proposed graphs and keeps the best graph that is well-formed. It aligns the nodes with tokens, and joins the
graphs of a text under ``multi-sentence``. Warnings report truncated sentences, repaired graphs and sentences
without a graph.

The text *Go. Good!* gives:

    (m / multi-sentence
       :snt1 (g / go-02)
       :snt2 (g2 / good))
"""

from __future__ import annotations

import importlib
import logging
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import chain, count
from pathlib import Path
from pickle import PickleError
from typing import Any, NamedTuple

import penman
from penman.tree import Tree

from graphneg.amr.alignment import get_aligner
from graphneg.amr.penman import is_inverted, parse_graph, tree_node
from graphneg.amr.wellformed import check
from graphneg.english.tokens import SentenceSpan, tokenize, typed_sentences
from graphneg.errors import DecoderError, ParserError, PenmanError, first_line
from graphneg.hashing import files_digest
from graphneg.model import AmrGraph, AmrNode, Mention
from graphneg.nn.backends import Output, TorchBackend
from graphneg.nn.batching import if_memory_suffices
from graphneg.nn.models import (
    AMRLIB_MODELS,
    INSTALL,
    choose_device,
    load_tokenizer,
    read_json,
    tokenizer_source,
)
from graphneg.parsers.base import WORDLESS, Parsed
from graphneg.paths import expand_home


class AmrlibParser:
    """Parse texts with an amrlib model.

    The warnings have these codes:

    - ``truncated``: The sentence exceeds the input limit of the model.
    - ``broken-off``: The graph exceeds the output limit of the model.
    - ``repaired``: A defect was removed, or the first proposal of the model could not be used.
    - ``no-graph``: None of the proposals for a sentence is well-formed.
    - ``out-of-memory``: There was not enough memory to parse a sentence.
    """

    name = "amrlib"

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        device: str | None = None,
        batch: int = 16,
        beams: int = 4,
        offline: bool = False,
    ) -> None:
        """Initialize the parser and load its model.

        `ParserError` is also raised if the model directory does not exist or contains no parse model, if the
        model cannot be loaded, or if a package is missing.

        Args:
            model: Directory of the model.
            device: ``cpu``, ``cuda`` or ``mps``; ``None`` takes the best available device.
            batch: Number of sentences per batch. If memory runs out, the parser uses batches of half this
                size.
            beams: Beam size, which is also the number of graphs proposed per sentence.
            offline: Whether to refuse to download a tokenizer from the Hugging Face hub.

        Raises:
            ParserError: ``batch`` or ``beams`` is below 1.
        """
        if batch < 1 or beams < 1:
            raise ParserError(f"batch and beams must be at least 1, not {batch} and {beams}")
        checkpoint = read_model(model)
        self._propose = load_engine(checkpoint, device or "auto", batch, beams, offline=offline)
        self._max_output = checkpoint.max_output
        self._align = get_aligner("rbw" if find_spec("amrlib") else "rules")
        self.version = f"{checkpoint.version}.{beams}"

    def parse_batch(self, texts: Sequence[str]) -> list[Parsed]:
        """Parse texts with the model.

        Args:
            texts: The texts to parse. Each may have several sentences.

        Returns:
            One result per text, in the order of the texts. A result without a graph has a warning with the
            reason.
        """
        split = [typed_sentences(text) for text in texts]
        # A sentence that occurs several times ("Yes.") is passed to the model only once.
        different = sorted({sentence.text for sentences in split for sentence in sentences})
        proposals = dict(zip(different, self._propose(different), strict=True))
        return [self._parsed(sentences, proposals) for sentences in split]

    def _parsed(self, sentences: Sequence[SentenceSpan], proposals: Mapping[str, ParseCandidates]) -> Parsed:
        """Choose a graph for each sentence of a text, and join the graphs."""
        if not sentences:
            return WORDLESS
        graphs: list[AmrGraph] = []
        warnings: list[str] = []
        for number, sentence in enumerate(sentences, 1):
            parsed = choose_graph(proposals[sentence.text], number, self._max_output)
            warnings += parsed.warnings
            if parsed.graph is not None:
                graphs.append(self._aligned(parsed.graph, sentence))
        return Parsed(join_sentences(graphs) if graphs else None, tuple(warnings))

    def _aligned(self, graph: AmrGraph, sentence: SentenceSpan) -> AmrGraph:
        """Align the graph of a sentence with the tokens of the whole text."""
        spans = self._align(replace(graph, spans={}), [token.text for token in tokenize(sentence.text)])
        first = sentence.first_token
        return replace(graph, spans={k: (first + start, first + end) for k, (start, end) in spans.items()})


class Hypothesis(NamedTuple):
    """A graph that the model proposes for a sentence.

    Attributes:
        penman: The graph in PENMAN notation; ``None`` if the output cannot be read as a graph.
        repairs: Number of defects that were repaired while the output was read.
        finished: Whether the model ended the graph before the length limit.
    """

    penman: str | None
    repairs: int = 0
    finished: bool = True


class ParseCandidates(NamedTuple):
    """All graphs that the model proposes for a sentence.

    Attributes:
        candidates: The proposed graphs, best first; ``None`` if there was not enough memory to parse the
            sentence.
        tokens: Number of model tokens in the sentence.
        cut: Number of tokens that were cut off at the end of the sentence, because of the input limit.
    """

    candidates: tuple[Hypothesis, ...] | None
    tokens: int = 0
    cut: int = 0


def choose_graph(proposal: ParseCandidates, number: int, longest: int) -> Parsed:
    """Choose the best well-formed graph among the proposals for a sentence.

    A graph that the model finished is preferred to a graph that reached the output limit. Among graphs that
    are equal in this respect, the model's ranking decides.

    Args:
        proposal: The proposals for the sentence.
        number: Number of the sentence in its text, which warnings mention.
        longest: Output limit of the model in tokens, for warnings.

    Returns:
        The chosen graph and its warnings. If no proposal is usable, the result has no graph, and a warning
        gives the reason.
    """
    where = f"sentence {number}"
    warnings: list[str] = []
    if proposal.cut:
        warnings.append(f"truncated: {where}: {proposal.cut} of {proposal.tokens} tokens were not read")
    if proposal.candidates is None:
        return Parsed(
            None, (*warnings, f"out-of-memory: {where} does not fit into memory, even alone in a batch")
        )
    usable: list[tuple[bool, int, int, AmrGraph]] = []
    for rank, candidate in enumerate(proposal.candidates, 1):
        graph, repairs = _repaired(candidate)
        if graph is not None:
            usable.append((not candidate.finished, rank, repairs, graph))
    if not usable:
        tried = len(proposal.candidates)
        return Parsed(None, (*warnings, f"no-graph: {where}: none of {tried} proposals is well formed"))
    broken_off, rank, repairs, graph = min(usable, key=lambda candidate: candidate[:2])
    if broken_off:
        warnings.append(f"broken-off: {where}: the graph was not finished after {longest} tokens")
    if repairs or rank > 1:
        warnings.append(f"repaired: {where}: {repairs} defects were repaired in the model's proposal {rank}")
    return Parsed(graph, tuple(warnings))


def _repaired(candidate: Hypothesis) -> tuple[AmrGraph | None, int]:
    """Repair a proposed graph. Return it (``None`` if it is still invalid) and the number of repairs."""
    try:
        graph = replace(parse_graph(candidate.penman or ""), metadata=())
    except PenmanError:
        return None, 0
    whole = repair_graph(graph)
    changed = whole is not None and (whole.nodes != graph.nodes or whole.mentions != graph.mentions)
    return whole, candidate.repairs + changed


def join_sentences(graphs: Sequence[AmrGraph]) -> AmrGraph:
    """Join graphs as ``:snt1``, ``:snt2``, ... of a ``multi-sentence`` graph.

    >>> from graphneg.amr.penman import format_graph, parse_graph
    >>> print(format_graph(join_sentences([parse_graph("(g / go-02)"), parse_graph("(g / good)")])))
    (m / multi-sentence
       :snt1 (g / go-02)
       :snt2 (g2 / good))

    Args:
        graphs: The graphs of the sentences; at least one. Their spans must be token ranges in the whole
            text, not in the sentence.

    Returns:
        One graph with unique variables. A single graph is returned unchanged.
    """
    if len(graphs) == 1:
        return graphs[0]
    total = 1 + sum(len(graph.nodes) for graph in graphs)
    nodes = [AmrNode(0, total - 1, "m", "multi-sentence", None, None, None, 0)]
    mentions: list[Mention] = []
    spans: dict[int, tuple[int, int]] = {}
    taken = {"m"}
    for number, graph in enumerate(graphs):
        first = len(nodes)
        for node in graph.nodes:
            moved = node._replace(
                position=node.position + first,
                subtree_last=node.subtree_last + first,
                var=_unique(node.var, taken),
            )
            if node.parent is None:
                nodes.append(moved._replace(parent=0, role=f"snt{number + 1}", branch=number))
            else:
                nodes.append(moved._replace(parent=node.parent + first))
        for mention in graph.mentions:
            mentions.append(mention._replace(parent=mention.parent + first, target=mention.target + first))
        spans |= {k + first: span for k, span in graph.spans.items()}
    return AmrGraph("", tuple(nodes), tuple(mentions), (), spans)


def _unique(variable: str | None, taken: set[str]) -> str | None:
    """Return a variable that is not in ``taken``, and add it to ``taken``. It may get a number (``b2``)."""
    if variable is None:
        return None
    stem = variable.rstrip("0123456789") or "x"
    names = chain([variable], (f"{stem}{number}" for number in count(2)))
    name = next(name for name in names if name not in taken)
    taken.add(name)
    return name


_NUMBERED = re.compile(r":(op|snt)(\d+)")
_ROLE = re.compile(r":[A-Za-z][A-Za-z0-9-]*")
_VARIABLE = re.compile(r"[a-z]\d*")
Branch = tuple[str, Any]
"""A role with its colon, and the target of the role: a subtree, a variable or a constant."""


def repair_graph(graph: AmrGraph) -> AmrGraph | None:
    """Repair the defects of a graph.

    Duplicate arcs, arcs from a node to itself, and a second ``:polarity`` or ``:mode`` of a node are removed.
    Constants under an inverse role and variables that are never introduced are also removed. A role with an
    invalid name becomes ``:mod`` if its target is a subtree; otherwise it is removed. A ``name`` without
    ``:op1`` gets ``:op1 "?"``. The roles ``:opN`` and ``:sntN`` are renumbered without gaps.

    >>> from graphneg.amr.penman import format_graph
    >>> graph = parse_graph("(a / and :op1 (b / be) :op3 (c / cat :polarity - :polarity -))")
    >>> print(format_graph(repair_graph(graph)))
    (a / and
       :op1 (b / be)
       :op2 (c / cat
               :polarity -))

    Args:
        graph: A graph that `tree_node` can convert into a PENMAN tree.

    Returns:
        The repaired graph, or ``None`` if a defect remains.
    """
    if not check(graph):
        return graph
    tree = _repaired_subtree(tree_node(graph), {node.var for node in graph.nodes if node.var is not None})
    try:
        again = parse_graph(penman.format(Tree(tree)))
    except PenmanError:
        return None
    return None if check(again) else again


def _repaired_subtree(node: tuple[str, list[Branch]], variables: set[str]) -> tuple[str, list[Branch]]:
    variable, branches = node
    kept: list[Branch] = []
    seen: set[Branch] = set()
    for role, target in branches:
        # A node may have only one polarity and one mode, so `key` does not contain the target of these two
        # roles. Any other role may occur twice with different targets.
        key = role, "" if role in {":polarity", ":mode"} or isinstance(target, tuple) else target
        if isinstance(target, tuple):
            kept.append((role if _ROLE.fullmatch(role) else ":mod", _repaired_subtree(target, variables)))
        elif role == "/" or (key not in seen and _is_valid_branch(variable, role, target, variables)):
            seen.add(key)
            kept.append((role, target))
    # AMR requires that a name has at least one :op, so an empty name gets a placeholder.
    if ("/", "name") in kept and not any(role.startswith(":op") for role, _ in kept):
        kept.append((":op1", '"?"'))
    return variable, _renumbered(kept)


def _is_valid_branch(variable: str, role: str, target: str, variables: set[str]) -> bool:
    """Return whether a branch to a constant or to a reentrant node is valid."""
    if not _ROLE.fullmatch(role):
        return False
    # A reentrancy is valid unless its target is the node itself.
    if target in variables:
        return target != variable
    # A target that is no node of the graph must be a constant such as 5, and not a variable such as b2, which
    # the model has never introduced. Constants have no roles, so the role must not be inverted.
    return not is_inverted(role[1:]) and not _VARIABLE.fullmatch(target)


def _renumbered(branches: list[Branch]) -> list[Branch]:
    """Renumber ``:opN`` and ``:sntN`` without gaps, in numeric order."""
    matches = ((_NUMBERED.fullmatch(role), i) for i, (role, _) in enumerate(branches))
    numbers: Counter[str] = Counter()
    roles: dict[int, str] = {}
    for kind, _, i in sorted((match[1], int(match[2]), i) for match, i in matches if match):
        numbers[kind] += 1
        roles[i] = f":{kind}{numbers[kind]}"
    return [(roles.get(i, role), target) for i, (role, target) in enumerate(branches)]


SEQUENCE_TO_SEQUENCE = ("parse_xfm", "parse_t5")
"""amrlib modules for T5, BART and other sequence-to-sequence models from the transformers package."""

_INFERENCE = re.compile(r"\.(parse_\w+)\.inference")
_TASKS = ("parse_amr", "translation_amr_to_text")
"""Keys under which ``config.json`` may store the training settings. The first released amrlib model stores
them under the key of another task.
"""


@dataclass(frozen=True, slots=True)
class ParseModel:
    """The description of a directory that contains an amrlib parse model.

    Attributes:
        path: The model directory.
        family: Name of the amrlib module that runs the model, such as ``parse_xfm``.
        version: Version of the model, followed by a digest of its weights.
        tokenizer: Directory or Hugging Face hub id of the tokenizer.
        max_input: Maximum number of tokens in a sentence; 0 if amrlib runs the model itself.
        max_output: Maximum number of tokens in the written graph; 0 if amrlib runs the model itself.
    """

    path: Path
    family: str
    version: str
    tokenizer: str = ""
    max_input: int = 0
    max_output: int = 0


def read_model(model: str | Path | None) -> ParseModel:
    """Read the description of a model directory, without loading the weights.

    Args:
        model: The model directory.

    Returns:
        The path, amrlib module, version, tokenizer and token limits of the model.

    Raises:
        ParserError: No directory is given, it does not exist, or it does not contain an amrlib model for
            parsing.
    """
    if model is None:
        raise ParserError(
            "the amrlib parser needs --model DIR, the directory of a parse model; "
            f"get one from {AMRLIB_MODELS}"
        )
    path = expand_home(model)
    if not path.is_dir():
        raise ParserError(
            f"{model}: there is no such directory; download a parse model from {AMRLIB_MODELS} and unpack it"
        )
    meta = read_json(path / "amrlib_meta.json", ParserError)
    if not meta:
        raise ParserError(
            f"{path}: no amrlib_meta.json found, so this is not the directory of an amrlib model; "
            f"parse models are at {AMRLIB_MODELS}"
        )
    if meta.get("model_type") != "stog":
        raise ParserError(
            f"{path}: an amrlib model of type {meta.get('model_type')!r}, which does not parse text "
            f"(gtos is for the decoder t5); parse models are of type 'stog', see {AMRLIB_MODELS}"
        )
    module = str(meta.get("inference_module", ""))
    # graphneg imports the module that the metadata names. Accept only the parsers of amrlib, so that a model
    # directory cannot make graphneg import an arbitrary module.
    known = _INFERENCE.fullmatch(module)
    if known is None:
        raise ParserError(
            f"{path}: its amrlib_meta.json names the module {module!r}, which is not a parser of amrlib, so "
            f"it is not imported; parse models are at {AMRLIB_MODELS}"
        )
    family = known[1]
    # A fine-tuned model may have the same metadata as the original model. So add a digest of the weights to
    # the version.
    weights = (file for file in path.iterdir() if file.suffix in (".safetensors", ".bin", ".pt"))
    whole = ParseModel(path, family, f"{meta.get('version', '0')}-{files_digest(weights)}")
    if family not in SEQUENCE_TO_SEQUENCE:
        return whole
    tasks = read_json(path / "config.json", ParserError).get("task_specific_params") or {}
    task: Mapping[str, Any] | None = next((tasks[name] for name in _TASKS if tasks.get(name)), None)
    if task is None:
        raise ParserError(
            f"{path}: config.json has no task_specific_params for parse_amr, which amrlib writes when "
            "it trains a model; download the model again"
        )
    # The limits of 100 input tokens and 512 output tokens are amrlib's own defaults. They apply to models
    # that do not record their limits.
    limits = int(task.get("max_in_len") or 100), int(task.get("max_out_len") or 512)
    return replace(whole, tokenizer=tokenizer_source(path, task), max_input=limits[0], max_output=limits[1])


Engine = Callable[[Sequence[str]], list[ParseCandidates]]
"""A function that takes sentences and returns the proposals for each sentence, in the same order. To reduce
padding, it processes the longest sentences first, in batches of sentences of similar length.
"""


def load_engine(model: ParseModel, device: str, batch: int, beams: int, *, offline: bool) -> Engine:
    """Load the weights of a model, and return a function that proposes graphs for sentences.

    Args:
        model: Description of the model.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.
        batch: Number of sentences per batch.
        beams: Beam size of the search for graphs.
        offline: Whether to refuse to download a tokenizer from the Hugging Face hub.

    Returns:
        A function that takes sentences and returns the proposed graphs for each sentence.

    Raises:
        ParserError: The weights, the tokenizer or a package is missing, or the device cannot be used.
    """
    try:
        if model.family in SEQUENCE_TO_SEQUENCE:
            return _sequence_engine(model, device, batch, beams, offline=offline)
        return _amrlib_engine(model, device, batch, beams)
    except ImportError as error:
        raise ParserError(
            f"the amrlib parser needs a package that is not installed ({error}): {INSTALL}"
        ) from error
    except DecoderError as error:
        raise ParserError(str(error)) from error


def _sequence_engine(model: ParseModel, device: str, batch: int, beams: int, *, offline: bool) -> Engine:
    """Load a sequence-to-sequence model, and return the function that proposes graphs with it."""
    # graphneg generates the output itself and uses amrlib only to read graphs from it. If amrlib generated
    # the output, it would report truncated sentences only in its log, and would not report unfinished graphs.
    reader = importlib.import_module("amrlib.models.parse_xfm.penman_serializer")
    tokenizer = load_tokenizer(model.tokenizer, offline=offline)
    backend = TorchBackend(model.path, tokenizer, device)
    # By default, BART forbids repeated n-grams, which is useful for summaries. In graphs, repeated n-grams
    # are normal.
    backend.model.generation_config.no_repeat_ngram_size = 0

    def generate(rows: Sequence[Sequence[int]]) -> list[list[Output]]:
        """Truncate each row of token ids to the input limit, and run beam search."""
        # If a sentence is truncated, keep its last token, which is the end-of-text token.
        last = model.max_input - 1
        read = [[*row[:last], row[-1]] if len(row) > model.max_input else list(row) for row in rows]
        return backend.beams(read, beams, model.max_output)

    def candidate(output: Output) -> Hypothesis:
        written = tokenizer.decode(output.tokens, skip_special_tokens=True)
        return Hypothesis(*_read_graph(reader, written), output.finished)

    def propose(sentences: Sequence[str]) -> list[ParseCandidates]:
        rows: list[list[int]] = [tokenizer(sentence, verbose=False)["input_ids"] for sentence in sentences]
        written = if_memory_suffices(rows, len, batch, generate)
        return [
            ParseCandidates(
                None if outputs is None else tuple(map(candidate, outputs)),
                len(row),
                max(0, len(row) - model.max_input),
            )
            for row, outputs in zip(rows, written, strict=True)
        ]

    return propose


def _read_graph(reader: Any, text: str) -> tuple[str | None, int]:
    """Read a graph from model output with amrlib. Return the graph and the number of logged warnings."""
    # The models write concepts in place of variables, and their parentheses may not match. The reader of
    # amrlib repairs such output but reports the repairs only in its log. The warnings in the log are counted
    # as repairs.
    complaints: list[str] = []

    def note(record: logging.LogRecord) -> bool:
        if record.levelno >= logging.WARNING:
            complaints.append(record.getMessage())
        return False

    log = logging.getLogger(reader.__name__)
    log.addFilter(note)
    try:
        return reader.PenmanDeSerializer(text).get_graph_string(), len(complaints)
    finally:
        log.removeFilter(note)


def _amrlib_engine(model: ParseModel, device: str, batch: int, beams: int) -> Engine:
    """Load a model that amrlib itself runs, such as SPRING. It proposes one graph per sentence."""
    factory = importlib.import_module("amrlib.models.model_factory")
    try:
        inference: Any = factory.load_inference_model(
            str(model.path), device=choose_device(device), num_beams=beams
        )
    except (OSError, ValueError, KeyError, RuntimeError, AttributeError, TypeError, PickleError) as error:
        raise ParserError(
            f"{model.path}: amrlib can't load it ({first_line(error)}); models of the families "
            f"{' and '.join(SEQUENCE_TO_SEQUENCE)} work with transformers 5"
        ) from error

    def parse(sentences: Sequence[str]) -> list[str | None]:
        return inference.parse_sents(list(sentences), add_metadata=False)

    def propose(sentences: Sequence[str]) -> list[ParseCandidates]:
        written = if_memory_suffices(sentences, len, batch, parse)
        return [ParseCandidates(None if penman is None else (Hypothesis(penman),)) for penman in written]

    return propose

"""The amrlib parser: an utterance's sentences through a model, their graphs mended, aligned and joined.

In: texts. Out: for each, one graph of its sentences under ``multi-sentence``, with spans over its tokens, and
warnings about what was cut, broken off or mended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import penman
from penman.tree import Tree

from graphneg.amr.alignment import Aligner, get_aligner
from graphneg.amr.penman import is_inverted, parse_graph, tree_node
from graphneg.amr.wellformed import check
from graphneg.english.tokens import SentenceSpan, tokenize, typed_sentences
from graphneg.errors import ParserError, PenmanError
from graphneg.model import AmrGraph, AmrNode, Mention
from graphneg.parsers.amrlib_models import Candidate, Proposal, make_engine, read_model
from graphneg.parsers.base import EMPTY, Parsed


def joined(graphs: Sequence[AmrGraph]) -> AmrGraph:
    """The graphs as ``:snt1``, ``:snt2``, ... of one, variables made unique; one graph as it is.

    ``spans`` are kept as they are: they must count in the tokens of the whole text.

    >>> from graphneg.amr.penman import format_graph, parse_graph
    >>> print(format_graph(joined([parse_graph("(g / go-02)"), parse_graph("(g / good)")])))
    (m / multi-sentence
       :snt1 (g / go-02)
       :snt2 (g2 / good))
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
            placed = node._replace(k=node.k + first, last=node.last + first, var=_unique(node.var, taken))
            if node.up is None:
                nodes.append(placed._replace(up=0, role=f"snt{number + 1}", pos=number))
            else:
                nodes.append(placed._replace(up=node.up + first))
        mentions += [
            mention._replace(up=mention.up + first, target=mention.target + first)
            for mention in graph.mentions
        ]
        spans |= {k + first: span for k, span in graph.spans.items()}
    return AmrGraph("", tuple(nodes), tuple(mentions), (), spans)


def _unique(variable: str | None, taken: set[str]) -> str | None:
    if variable is None:
        return None
    stem = variable.rstrip("0123456789") or "x"
    name = variable
    for number in count(2):
        if name not in taken:
            break
        name = f"{stem}{number}"
    taken.add(name)
    return name


_ONCE = frozenset({":polarity", ":mode"})
_NUMBERED = re.compile(r":(op|snt)(\d+)")
_ROLE = re.compile(r":[A-Za-z][A-Za-z0-9-]*")
_VARIABLE = re.compile(r"[a-z]\d*")

Branch = tuple[str, Any]


def mended(graph: AmrGraph) -> AmrGraph | None:
    """The graph without the defects that can be taken out of it; None where some are left.

    What goes: a role that leads twice to one node, or from a node to itself; a second polarity or
    mode; a value that is no role's, or that nothing introduces; names without words get one.
    ``:opN`` and ``:sntN`` are numbered anew.

    >>> from graphneg.amr.penman import format_graph
    >>> graph = parse_graph("(a / and :op1 (b / be) :op3 (c / cat :polarity - :polarity -))")
    >>> print(format_graph(mended(graph)))
    (a / and
       :op1 (b / be)
       :op2 (c / cat
               :polarity -))
    """
    if not check(graph):
        return graph
    variables = {node.var for node in graph.nodes if node.var is not None}
    tree = _mended(tree_node(graph), variables)
    try:
        again = parse_graph(penman.format(Tree(tree)))
    except PenmanError:
        return None
    return None if check(again) else again


def _mended(node: tuple[str, list[Branch]], variables: set[str]) -> tuple[str, list[Branch]]:
    variable, branches = node
    kept: list[Branch] = []
    seen: set[Branch] = set()
    for role, target in branches:
        if isinstance(target, tuple):
            kept.append((role if _ROLE.fullmatch(role) else ":mod", _mended(target, variables)))
        elif role == "/" or _stays(variable, role, target, seen, variables):
            seen.add(_key(role, target))
            kept.append((role, target))
    if ("/", "name") in kept and not any(role.startswith(":op") for role, _ in kept):
        kept.append((":op1", '"?"'))
    return variable, _numbered(kept)


def _stays(variable: str, role: str, target: str, seen: set[Branch], variables: set[str]) -> bool:
    """Whether a branch to a constant, or to a node that is introduced elsewhere, does no harm."""
    if not _ROLE.fullmatch(role) or _key(role, target) in seen:
        return False
    if target in variables:
        return target != variable
    return not is_inverted(role[1:]) and not _VARIABLE.fullmatch(target)


def _key(role: str, target: str) -> Branch:
    """What may stand under a node once."""
    return role, "" if role in _ONCE else target


def _numbered(branches: list[Branch]) -> list[Branch]:
    """The branches with their ``:opN`` and ``:sntN`` numbered without gaps, in the order that they have."""
    matches = ((_NUMBERED.fullmatch(role), i) for i, (role, _) in enumerate(branches))
    numbered = sorted((match[1], int(match[2]), i) for match, i in matches if match)
    numbers: dict[str, int] = {}
    roles: dict[int, str] = {}
    for kind, _, i in numbered:
        numbers[kind] = numbers.get(kind, 0) + 1
        roles[i] = f":{kind}{numbers[kind]}"
    return [(roles.get(i, role), target) for i, (role, target) in enumerate(branches)]


class AmrlibParser:
    """Text to AMR by a model of amrlib (``model`` is its directory).

    Each text is split into sentences, which go through the model in batches of ``batch``, halved
    where memory runs out; the best of ``beams`` graphs that is well formed, after small repairs, is
    taken. Nodes are aligned to tokens by amrlib's rule-based aligner. ``device`` is ``cpu``, ``cuda`` or
    ``mps``, the best there is where not given; with ``offline`` no tokenizer is fetched from the hub.

    Warnings: ``truncated`` (a sentence longer than the model reads), ``broken-off`` (a graph longer than
    it writes), ``repaired``, ``no-graph`` (a sentence without a well-formed one), ``out-of-memory``.

    Raises:
        ParserError: the directory is missing, no parse model, or can't be loaded; or a package is missing.
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
        if batch < 1 or beams < 1:
            raise ParserError(f"batch {batch}, beams {beams}: both must be at least 1")
        checkpoint = read_model(model)
        self._engine = make_engine(checkpoint, device or "auto", batch, beams, offline=offline)
        self._max_output = checkpoint.max_output
        self._align = get_aligner("rbw" if find_spec("amrlib") else "rules")
        self.version = f"{checkpoint.version}.{beams}"

    def parse_batch(self, texts: Sequence[str]) -> list[Parsed]:
        """A graph for each text, in order, or the reason why there is none."""
        split = [typed_sentences(text) for text in texts]
        different = sorted({sentence.text for sentences in split for sentence in sentences})
        proposals = dict(zip(different, self._engine.propose(different), strict=True))
        return [
            self._parsed(text, sentences, proposals) for text, sentences in zip(texts, split, strict=True)
        ]

    def _parsed(self, text: str, sentences: Sequence[SentenceSpan], proposals: dict[str, Proposal]) -> Parsed:
        if not sentences:
            return Parsed(EMPTY, ("empty: the text has no words",))
        graphs: list[AmrGraph] = []
        warnings: list[str] = []
        for number, sentence in enumerate(sentences, 1):
            parsed = chosen(proposals[sentence.text], number, self._max_output)
            warnings += parsed.warnings
            if parsed.graph is not None:
                graphs.append(_aligned(parsed.graph, sentence, self._align))
        if not graphs:
            return Parsed(None, tuple(warnings))
        return Parsed(joined(graphs), tuple(warnings))


@dataclass(frozen=True, slots=True)
class _Usable:
    graph: AmrGraph
    repairs: int
    finished: bool
    rank: int


def chosen(proposal: Proposal, number: int, longest: int) -> Parsed:
    """The best well-formed graph of a sentence, one that came to its end before one that did not."""
    where = f"sentence {number}"
    warnings: list[str] = []
    if proposal.cut:
        warnings.append(f"truncated: {where}: {proposal.cut} of {proposal.tokens} tokens were not read")
    if proposal.candidates is None:
        return Parsed(None, (*warnings, f"out-of-memory: {where} does not fit alone"))
    usable = [
        graph for rank, candidate in enumerate(proposal.candidates, 1) if (graph := _usable(candidate, rank))
    ]
    best = next((graph for graph in usable if graph.finished), usable[0] if usable else None)
    if best is None:
        count = len(proposal.candidates)
        return Parsed(None, (*warnings, f"no-graph: {where}: none of {count} proposals is well formed"))
    if not best.finished:
        warnings.append(f"broken-off: {where}: its graph was not finished after {longest} tokens")
    if best.repairs or best.rank > 1:
        warnings.append(
            f"repaired: {where}: {best.repairs} defects mended in the model's proposal {best.rank}"
        )
    return Parsed(best.graph, tuple(warnings))


def _usable(candidate: Candidate, rank: int) -> _Usable | None:
    if candidate.penman is None:
        return None
    try:
        graph = parse_graph(candidate.penman)
    except PenmanError:
        return None
    whole = mended(replace(graph, metadata=()))
    if whole is None:
        return None
    repairs = candidate.repairs + (whole.nodes != graph.nodes or whole.mentions != graph.mentions)
    return _Usable(whole, repairs, candidate.finished, rank)


def _aligned(graph: AmrGraph, sentence: SentenceSpan, align: Aligner) -> AmrGraph:
    """The graph with spans over the tokens of the whole text."""
    spans = align(replace(graph, spans={}), [token.text for token in tokenize(sentence.text)])
    first = sentence.first_token
    return replace(graph, spans={k: (first + start, first + end) for k, (start, end) in spans.items()})

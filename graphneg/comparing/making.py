"""Negatives of generators and recipes for the contexts to learn from, made in a store of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graphneg import __version__
from graphneg.comparing.banks import BankFile, Sieve, exchanges
from graphneg.comparing.data import Data, digest
from graphneg.comparing.sources import Source
from graphneg.dialogue_graph import DialogueGraph
from graphneg.dialogue_graph import open as open_graph
from graphneg.errors import GraphnegError, InputError
from graphneg.loading.matching import Grouping
from graphneg.loading.report import LoadReport
from graphneg.loading.writing import write_records
from graphneg.model import Negative
from graphneg.output.jsonl import write_jsonl
from graphneg.output.stream import NegativeStream
from graphneg.progress import NoProgress, Progress
from graphneg.recipes import RECIPES, recipe_of
from graphneg.training.drawing import plain

_PERSPECTIVE = "perspective"
_SHIFTING = ("counterfactual",)
_LOADED = "loaded.json"
_STORE = "graph"


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many wrong responses of each context are made, by which seed; ``options`` are by source."""

    amount: int
    seed: int = 0
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])


class Workshop:
    """Makes the negatives of sources into files of ``folder``, and remembers what it has made.

    The store in there holds the contexts to learn from and the banks; it is opened when something is to be
    made. Stopped at any moment, the next one goes on.
    """

    def __init__(
        self,
        folder: Path,
        data: Data,
        banks: Sequence[BankFile],
        wanted: Wanted,
        progress: Progress | None = None,
    ) -> None:
        self._folder = folder
        self._data = data
        self._banks = banks
        self._wanted = wanted
        self._progress = progress or NoProgress()
        self._open = ExitStack()
        self._graph: DialogueGraph | None = None
        self._filled = digest([__version__, data.fingerprint, [bank.facts() for bank in banks]])

    def made(self, source: Source) -> Path:
        """The file of a source's negatives, made where it is not there yet.

        Raises:
            InputError: it can't be made, and why; the name of the source is said.
        """
        out = self._folder / f"{source.name}.jsonl"
        note = out.with_suffix(".json")
        wanted = self._wanted
        options = dict(wanted.options.get(source.name, {}))
        facts = digest([self._filled, source.name, wanted.amount, wanted.seed, repr(sorted(options.items()))])
        if out.is_file() and note.is_file() and json.loads(note.read_text("utf-8")).get("of") == facts:
            return out
        try:
            self._make(source, options, out)
        except GraphnegError as error:
            raise InputError(f"source {source.name}: {error}") from error
        note.write_text(json.dumps({"of": facts}), encoding="utf-8")
        return out

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        self._graph = None

    def _make(self, source: Source, options: dict[str, Any], out: Path) -> None:
        graph = self._opened()
        raw = out.with_name(f"{source.name}.raw.jsonl")
        self._stream(graph, source, options).to_jsonl(raw)
        write_jsonl(self._allowed(raw), out)
        raw.unlink()

    def _stream(self, graph: DialogueGraph, source: Source, options: dict[str, Any]) -> NegativeStream:
        corpora, splits = self._contexts()
        chosen: dict[str, Any] = {"corpora": corpora, "splits": splits, "progress": self._progress}
        if source.kind == "generator":
            if source.name in _SHIFTING:
                self._shifted(graph)
            return graph.generate(
                source.name, per_context=self._wanted.amount, seed=self._wanted.seed, **chosen, **options
            )
        recipe = RECIPES[source.name] if source.name in RECIPES else recipe_of([source.name])
        graph.parse(corpora=corpora, splits=splits, progress=self._progress)
        if _PERSPECTIVE in recipe.transforms:
            self._shifted(graph)
        # A recipe edits the turns of a dialogue one after another; only the last one is the response.
        turns = max(len(one.turns) for one in self._data.train)
        return graph.negatives(
            recipe,
            per_dialogue=self._wanted.amount * turns,
            seed=self._wanted.seed,
            target="response",
            **chosen,
            **options,
        )

    def _shifted(self, graph: DialogueGraph) -> None:
        corpora, splits = self._contexts()
        graph.shift(corpora=corpora, splits=splits, progress=self._progress)

    def _allowed(self, raw: Path) -> Iterator[Negative]:
        """What is no right response of a test context, and nothing that a person wrote to be wrong."""
        from graphneg.output.jsonl import read_jsonl

        written = self._data.written_wrong
        tested = {plain(text) for text in self._data.tested}
        for one in read_jsonl(raw):
            if plain(one.response) not in written and plain(one.response) not in tested:
                yield one

    def _opened(self) -> DialogueGraph:
        if self._graph is None:
            folder = self._folder / f"store-{self._filled[:12]}"
            folder.mkdir(parents=True, exist_ok=True)
            self._graph = self._open.enter_context(open_graph(folder / _STORE))
            if not (folder / _LOADED).exists():
                left_out = self._fill(self._graph)
                (folder / _LOADED).write_text(json.dumps(left_out), encoding="utf-8")
        return self._graph

    def _fill(self, graph: DialogueGraph) -> Mapping[str, int]:
        """Load the contexts and the banks; returns what the banks were not allowed to hold, by kind."""
        contexts = list(exchanges(self._data.train))
        write_records(graph.store, iter(contexts), LoadReport("contexts"), Grouping("contexts", "all", 1))
        sieve = Sieve(self._data.forbidden, {one.id for one in contexts})
        for bank in self._banks:
            records = sieve.read(bank, self._progress)
            report = LoadReport(bank.loader)
            write_records(graph.store, records, report, Grouping(bank.path.stem, "all", 8))
        return dict(sieve.left_out)

    def _contexts(self) -> tuple[list[str], list[str]]:
        """Corpus and split of the contexts to learn from: of banks nothing is made."""
        ids = [one.id.split("/", 2) for one in self._data.train]
        return sorted({id[0] for id in ids}), sorted({id[1] for id in ids})

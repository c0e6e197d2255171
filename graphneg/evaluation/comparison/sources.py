"""Where wrong responses come from: chance, people, a file, a generator or a recipe.

In: a source as the user names it, and contexts to learn from. Out: groups of right and wrong responses.
Those of generators and recipes are made by a `NegativeCache`, in stores of its own, and kept in files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from graphneg import __version__
from graphneg.datasets.groups import (
    REFERENCE,
    Answer,
    Choices,
    Group,
    entry_of,
    groups_of_choices,
    read_groups,
)
from graphneg.datasets.pair_sampler import Mix
from graphneg.editing.recipes import GENERATED, RECIPE_NAMES, RECIPES, recipe_of
from graphneg.editing.transforms import load_transforms
from graphneg.english.tokens import match_key
from graphneg.errors import GraphnegError, InputError
from graphneg.evaluation.comparison.data import (
    ADVERSARIAL,
    RANDOM,
    BankFile,
    Data,
    LeakageFilter,
    context_dialogues,
    context_key,
    response_dialogues,
)
from graphneg.generators.base import generator_names
from graphneg.hashing import fingerprint
from graphneg.ingest.loader import LoadReport
from graphneg.ingest.validation import Grouping
from graphneg.ingest.writing import write_records
from graphneg.model import Dialogue, Negative
from graphneg.progress import NoProgress, Progress
from graphneg.records.files import write_jsonl
from graphneg.records.resumable import NegativeStream
from graphneg.records.runs import RunNote

SourceKind = Literal["random", "human", "file", "generator", "recipe"]
OpenGraph = Callable[[Path], Any]
"""Opens a dialogue graph in a folder, as ``graphneg.open`` does."""
HUMAN = "human"
_SUFFIXES = (".jsonl", ".parquet")
_TAKEN = (RANDOM, HUMAN, ADVERSARIAL, REFERENCE)


@dataclass(frozen=True, slots=True)
class NegativeSource:
    """One source of wrong responses; ``path`` is the file's where it is one."""

    name: str
    kind: SourceKind
    path: Path | None = None

    @property
    def drawn_as(self) -> str:
        """What its responses are called where pairs are drawn."""
        return ADVERSARIAL if self.kind == "human" else self.name


@dataclass(frozen=True, slots=True)
class Budget:
    """What a ranker sees of a context in an epoch: right responses, random ones, ones of the source."""

    positives: int = 2
    random: int = 2
    source: int = 3
    epochs: int = 2

    def __post_init__(self) -> None:
        if min(self.positives, self.random, self.source, self.epochs) < 1:
            raise InputError(
                "a budget is of at least one right, one random and one wrong response, and one epoch"
            )

    def mix(self, source: NegativeSource) -> Mix:
        """The same number of pairs for each source; where the source is chance, all wrong ones are random."""
        if source.kind == "random":
            return Mix(self.positives, {RANDOM: self.random + self.source})
        return Mix(self.positives, {RANDOM: self.random, source.drawn_as: self.source})

    @property
    def of_each_context(self) -> int:
        """How many wrong responses a source is asked for, so that each epoch has others."""
        return self.source * self.epochs


def source_of(text: str) -> NegativeSource:
    """``random``, ``human``, ``NAME=FILE``, or the name of a recipe, a transform or a generator.

    Raises:
        InputError: it is none of these.
    """
    name, equals, path = text.partition("=")
    if equals:
        return _file(name, Path(path), text)
    if name == RANDOM:
        return NegativeSource(name, "random")
    if name == HUMAN:
        return NegativeSource(name, "human")
    if name in RECIPES or name in load_transforms():
        return NegativeSource(name, "recipe")
    if name in generator_names() or name in GENERATED:
        return NegativeSource(name, "generator")
    generators = ", ".join(one for one in generator_names() if one not in (RANDOM, *GENERATED))
    raise InputError(
        f"no source {text!r}; choose {RANDOM}, {HUMAN}, NAME=FILE, "
        f"a recipe ({', '.join(RECIPE_NAMES)}), a transform or a generator ({generators})"
    )


def human_groups(train: Sequence[Choices]) -> list[Group]:
    """Contexts with what people wrote to be wrong.

    Raises:
        InputError: there is none of it.
    """
    groups = groups_of_choices(_only(train, ADVERSARIAL))
    if not any(one.negatives for one in groups):
        raise InputError("source human: no context to learn from has adversarial responses; leave it out")
    return groups


def plain_groups(train: Sequence[Choices]) -> list[Group]:
    """Contexts with their right responses alone."""
    return groups_of_choices(_only(train))


def groups_of_file(train: Sequence[Choices], source: NegativeSource, path: Path) -> list[Group]:
    """Contexts with the wrong responses that a file of negatives has for them; they meet by their turns.

    Raises:
        InputError: the file can't be read, or is about other contexts.
    """
    wrong: dict[tuple[str, ...], list[Answer]] = {}
    for one in read_groups([path]):
        wrong.setdefault(context_key(one.context), []).extend(one.negatives)
    groups = plain_groups(train)
    for group in groups:
        found = wrong.get(context_key(group.context), ())
        group.negatives = list(dict.fromkeys(replace(one, source=source.drawn_as) for one in found))
    if not any(one.negatives for one in groups):
        raise InputError(f"source {source.name}: {path} has no negative of a context to learn from")
    return groups


def _only(train: Iterable[Choices], *kinds: str) -> list[Choices]:
    return [replace(one, negatives=_of_kinds(one.negatives, kinds)) for one in train]


def _of_kinds(negatives: Mapping[str, tuple[str, ...]], kinds: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return {kind: texts for kind, texts in negatives.items() if kind in kinds}


def _file(name: str, path: Path, text: str) -> NegativeSource:
    if not name or name in _TAKEN or "/" in name:
        raise InputError(
            f"source {text!r}: give the file a name of its own, NAME=FILE, none of {', '.join(_TAKEN)}"
        )
    if path.suffix not in _SUFFIXES:
        raise InputError(f"source {text!r}: a file of negatives ends in {' or '.join(_SUFFIXES)}")
    if not path.is_file():
        raise InputError(f"source {text!r}: there is no such file")
    return NegativeSource(name, "file", path)


_PERSPECTIVE = "perspective"
_SHIFTING = ("counterfactual",)
_LOADED = "loaded.json"
_STORE = "graph"
# Edits replace the last turn of a dialogue, so each right response gets a dialogue; generators read all the
# right responses of a context at once.
_DIALOGUES: Mapping[SourceKind, Callable[[Iterable[Choices]], Iterator[Dialogue]]] = {
    "generator": context_dialogues,
    "recipe": response_dialogues,
}
# Of each right response so many edits more than its share: not every slot of a recipe finds a site.
_SPARE = 1


@dataclass(frozen=True, slots=True)
class NegativeRequest:
    """How many wrong responses of each context are made, by which seed; ``options`` are by source."""

    amount: int
    seed: int = 0
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])


class NegativeCache:
    """Makes the negatives of sources into files of ``folder``, and remembers what it has made.

    Stores in there hold the contexts to learn from and the banks, one for generators and one for recipes;
    each is opened when something is to be made. Stopped at any moment, the next one goes on.
    """

    def __init__(
        self,
        folder: Path,
        data: Data,
        banks: Sequence[BankFile],
        wanted: NegativeRequest,
        open_graph: OpenGraph | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._folder = folder
        self._data = data
        self._banks = banks
        self._wanted = wanted
        self._open_graph = open_graph
        self._progress = progress or NoProgress()
        self._open = ExitStack()
        self._graphs: dict[SourceKind, Any] = {}
        self._filled = fingerprint([__version__, data.fingerprint, [bank.facts() for bank in banks]])

    def made(self, source: NegativeSource) -> Path:
        """The file of a source's negatives, made where it is not there yet.

        Raises:
            InputError: it can't be made, and why; the name of the source is said.
        """
        out = self._folder / f"{source.name}.jsonl"
        wanted = self._wanted
        options = dict(wanted.options.get(source.name, {}))
        facts = [self._digest(source.kind), source.name, wanted.amount, wanted.seed]
        note = RunNote(out.with_suffix(".json"), fingerprint([*facts, repr(sorted(options.items()))]))
        if out.is_file() and note.state == "same":
            return out
        try:
            self._make(source, options, out)
        except GraphnegError as error:
            raise InputError(f"source {source.name}: {error}") from error
        note.write()
        return out

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        self._graphs.clear()

    def _make(self, source: NegativeSource, options: dict[str, Any], out: Path) -> None:
        graph = self._opened(source.kind)
        raw = out.with_name(f"{source.name}.raw.jsonl")
        self._stream(graph, source, options).to_jsonl(raw)
        write_jsonl(self._allowed(raw), out)
        raw.unlink()

    def _stream(self, graph: Any, source: NegativeSource, options: dict[str, Any]) -> NegativeStream:
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
        return graph.negatives(
            recipe,
            per_dialogue=self._edits_of_a_response() * max(len(one.turns) for one in self._data.train),
            seed=self._wanted.seed,
            target="response",
            **chosen,
            **options,
        )

    def _edits_of_a_response(self) -> int:
        """So many that the fewest right responses of a context give enough; a recipe edits a dialogue's turns
        one after another, and only the last one is the response."""
        fewest = min(len(one.positives) for one in self._data.train)
        return -(-self._wanted.amount // fewest) + _SPARE

    def _shifted(self, graph: Any) -> None:
        corpora, splits = self._contexts()
        graph.shift(corpora=corpora, splits=splits, progress=self._progress)

    def _allowed(self, raw: Path) -> Iterator[Negative]:
        """What is about a context to learn from, no right response of it or of the test, and was not written
        to be wrong."""
        from graphneg.records.files import read_jsonl

        never = self._data.written_wrong | {match_key(text) for text in self._data.tested}
        right = {context_key(one.turns): set(map(match_key, one.positives)) for one in self._data.train}
        for one in read_jsonl(raw):
            entry, response = entry_of(one, one.id), match_key(one.response)
            context = context_key(entry.context)
            if context not in right or response in never:
                continue
            if entry.own != entry.context or response not in right[context]:
                yield one

    def _digest(self, kind: SourceKind) -> str:
        """Of what a store holds."""
        return self._filled if kind == "generator" else fingerprint([self._filled, kind])

    def _opened(self, kind: SourceKind) -> Any:
        if self._open_graph is None:
            raise InputError("its negatives are made in a store: compare with open_graph=graphneg.open")
        if kind not in self._graphs:
            folder = self._folder / f"store-{self._digest(kind)[:12]}"
            folder.mkdir(parents=True, exist_ok=True)
            graph = self._graphs[kind] = self._open.enter_context(self._open_graph(folder / _STORE))
            if not (folder / _LOADED).exists():
                left_out = self._fill(graph, list(_DIALOGUES[kind](self._data.train)))
                (folder / _LOADED).write_text(json.dumps(left_out), encoding="utf-8")
        return self._graphs[kind]

    def _fill(self, graph: Any, contexts: Sequence[Dialogue]) -> Mapping[str, int]:
        """Load the contexts and the banks; returns what the banks were not allowed to hold, by kind."""
        write_records(graph.store, iter(contexts), LoadReport("contexts"), Grouping("contexts", "all", 1))
        leakage = LeakageFilter(self._data.forbidden, {one.id for one in contexts})
        for bank in self._banks:
            records = leakage.read(bank, self._progress)
            report = LoadReport(bank.loader)
            write_records(graph.store, records, report, Grouping(bank.path.stem, "all", 8))
        return dict(leakage.left_out)

    def _contexts(self) -> tuple[list[str], list[str]]:
        """Corpus and split of the contexts to learn from: of banks nothing is made."""
        ids = [one.id.split("/", 2) for one in self._data.train]
        return sorted({id[0] for id in ids}), sorted({id[1] for id in ids})

"""Where wrong responses come from: chance, people, a file, a generator or a recipe.

In: a source as the user names it, and contexts to learn from. Out: groups of right and wrong responses.
Those of generators and recipes are made by a `NegativeCache`, in stores of its own, and kept in files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

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
from graphneg.records.files import read_jsonl, write_jsonl
from graphneg.records.resumable import NegativeStream
from graphneg.records.runs import RunNote, remove_finished

SourceKind = Literal["random", "human", "file", "generator", "recipe"]
OpenGraph = Callable[[Path], Any]
"""Opens a dialogue graph in a folder, as ``graphneg.open`` does."""
HUMAN = "human"
_SUFFIXES = (".jsonl", ".parquet")
_TAKEN = (RANDOM, HUMAN, ADVERSARIAL, REFERENCE)
_SEED = 0
# Edits replace the last turn of a dialogue, so each right response gets a dialogue; generators read all the
# right responses of a context at once.
_DIALOGUES: Mapping[SourceKind, Callable[[Iterable[Choices]], Iterator[Dialogue]]] = {
    "generator": context_dialogues,
    "recipe": response_dialogues,
}


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

    Raises `InputError`: it is none of these.
    """
    name, equals, file = text.partition("=")
    path = Path(file)
    if equals:
        if not name or name in _TAKEN or "/" in name:
            raise InputError(
                f"source {text!r}: give the file a name of its own, NAME=FILE, none of {', '.join(_TAKEN)}"
            )
        if path.suffix not in _SUFFIXES:
            raise InputError(f"source {text!r}: a file of negatives ends in {' or '.join(_SUFFIXES)}")
        if not path.is_file():
            raise InputError(f"source {text!r}: there is no such file")
        return NegativeSource(name, "file", path)
    generators = generator_names()
    kinds: Mapping[SourceKind, Container[str]] = {
        "random": (RANDOM,),
        "human": (HUMAN,),
        "recipe": {*RECIPES, *load_transforms()},
        "generator": (*generators, *GENERATED),
    }
    for kind, names in kinds.items():
        if name in names:
            return NegativeSource(name, kind)
    others = ", ".join(name for name in generators if name not in (RANDOM, *GENERATED))
    raise InputError(
        f"no source {text!r}; choose {RANDOM}, {HUMAN}, NAME=FILE, "
        f"a recipe ({', '.join(RECIPE_NAMES)}), a transform or a generator ({others})"
    )


def groups_at_hand(train: Sequence[Choices], source: NegativeSource) -> list[Group] | None:
    """The groups of a source that need not be made; None of a generator or a recipe.

    Raises `InputError`: nobody wrote wrong responses, or the file can't be read or is about other contexts.
    """
    if source.path is not None:
        return groups_of_file(train, source, source.path)
    if source.kind == "random":
        return _right_groups(train)
    if source.kind != "human":
        return None
    groups = groups_of_choices(
        replace(context, negatives={ADVERSARIAL: context.negatives.get(ADVERSARIAL, ())}) for context in train
    )
    if not any(group.negatives for group in groups):
        raise InputError("source human: no context to learn from has adversarial responses; leave it out")
    return groups


def groups_of_file(train: Sequence[Choices], source: NegativeSource, path: Path) -> list[Group]:
    """Contexts with the wrong responses that a file of negatives has for them; they meet by their turns.

    Raises `InputError`: the file can't be read, or is about other contexts.
    """
    wrong: dict[tuple[str, ...], list[Answer]] = {}
    for given in read_groups([path]):
        wrong.setdefault(context_key(given.context), []).extend(given.negatives)
    groups = _right_groups(train)
    for group in groups:
        answers = wrong.get(context_key(group.context), ())
        group.negatives = list(dict.fromkeys(replace(answer, source=source.drawn_as) for answer in answers))
    if not any(group.negatives for group in groups):
        raise InputError(f"source {source.name}: {path} has no negative of a context to learn from")
    return groups


def _right_groups(train: Iterable[Choices]) -> list[Group]:
    return groups_of_choices(replace(context, negatives={}) for context in train)


@dataclass
class NegativeCache:
    """Makes the negatives of sources into files of ``folder``, and remembers what it has made.

    ``amount`` wrong responses of each context are made; ``options`` are by source. Stores in the folder hold
    the contexts to learn from and the banks, one for generators and one for recipes; each is opened when
    something is to be made, and closed with ``stores``. Stopped at any moment, the next one goes on.
    """

    folder: Path
    data: Data
    amount: int
    stores: ExitStack
    banks: Sequence[BankFile] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    open_graph: OpenGraph | None = None
    progress: Progress = field(default_factory=NoProgress)

    def __post_init__(self) -> None:
        self._graphs: dict[SourceKind, Any] = {}
        facts = [__version__, self.data.fingerprint, [bank.facts() for bank in self.banks]]
        self._loaded = fingerprint(facts)
        ids = [context.id.split("/", 2) for context in self.data.train]
        # Corpus and split of the contexts to learn from: of banks nothing is made.
        self._chosen = {
            "corpora": sorted({id[0] for id in ids}),
            "splits": sorted({id[1] for id in ids}),
            "progress": self.progress,
        }

    def made(self, source: NegativeSource) -> Path:
        """The file of a source's negatives, made where it is not there yet.

        Raises `InputError`: it can't be made, and why; the name of the source is said.
        """
        out = self.folder / f"{source.name}.jsonl"
        options = dict(self.options.get(source.name, {}))
        facts = [self._digest(source.kind), source.name, self.amount, _SEED, repr(sorted(options.items()))]
        note = RunNote(out.with_suffix(".json"), fingerprint(facts))
        if out.is_file() and note.state == "same":
            return out
        raw = out.with_name(f"{source.name}.raw.jsonl")
        try:
            self._stream(source, options).to_jsonl(raw, overwrite=True)
            write_jsonl(self._allowed(raw), out)
        except GraphnegError as error:
            raise InputError(f"source {source.name}: {error}") from error
        remove_finished(raw)
        note.write()
        return out

    def _stream(self, source: NegativeSource, options: Mapping[str, Any]) -> NegativeStream:
        """What makes a source's negatives, in the store of its kind."""
        graph, given = self._opened(source.kind), {"seed": _SEED, **self._chosen, **options}
        if source.kind == "generator":
            if source.name == "counterfactual":
                graph.shift(**self._chosen)
            return graph.generate(source.name, per_context=self.amount, **given)
        recipe = RECIPES.get(source.name)
        if recipe is None or recipe.transforms == (source.name,):
            recipe = recipe_of([source.name], "any")
        graph.parse(**self._chosen)
        if "perspective" in recipe.transforms:
            graph.shift(**self._chosen)
        # So many edits of each right response that the context with the fewest gets enough, and one to spare:
        # not every slot finds a site. A recipe edits one turn after another; only the last is the response.
        of_each = -(-self.amount // min(len(context.positives) for context in self.data.train)) + 1
        most = of_each * max(len(context.turns) for context in self.data.train)
        return graph.negatives(recipe, per_dialogue=most, target="response", **given)

    def _allowed(self, raw: Path) -> Iterator[Negative]:
        """What is about a context to learn from, no right response of it or of the test, and was not written
        to be wrong."""
        never = self.data.written_wrong | {match_key(text) for text in self.data.tested}
        right = {context_key(one.turns): set(map(match_key, one.positives)) for one in self.data.train}
        for negative in read_jsonl(raw):
            entry, response = entry_of(negative, negative.id), match_key(negative.response)
            context = context_key(entry.context)
            if context not in right or response in never:
                continue
            if entry.own != entry.context or response not in right[context]:
                yield negative

    def _digest(self, kind: SourceKind) -> str:
        """Of what a store holds."""
        return self._loaded if kind == "generator" else fingerprint([self._loaded, kind])

    def _opened(self, kind: SourceKind) -> Any:
        if self.open_graph is None:
            raise InputError("its negatives are made in a store: compare with open_graph=graphneg.open")
        if kind not in self._graphs:
            folder = self.folder / f"store-{self._digest(kind)[:12]}"
            folder.mkdir(parents=True, exist_ok=True)
            graph = self._graphs[kind] = self.stores.enter_context(self.open_graph(folder / "graph"))
            if not (folder / "loaded.json").exists():
                contexts = list(_DIALOGUES[kind](self.data.train))
                known, grouping = {dialogue.id for dialogue in contexts}, Grouping("contexts", "all", 1)
                write_records(graph.store, iter(contexts), LoadReport("contexts"), grouping)
                leakage = LeakageFilter(self.data.forbidden, known)
                for bank in self.banks:
                    records, grouping = leakage.read(bank, self.progress), Grouping(bank.path.stem, "all", 8)
                    write_records(graph.store, records, LoadReport(bank.loader), grouping)
                # what the banks were not allowed to hold, by kind
                (folder / "loaded.json").write_text(json.dumps(leakage.left_out), encoding="utf-8")
        return self._graphs[kind]

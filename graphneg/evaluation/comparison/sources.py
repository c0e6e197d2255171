"""Get the wrong responses of a source, to compare sources of negatives.

A source is named on the command line: ``random`` (responses of other contexts), ``human`` (adversarial
responses that people wrote), ``NAME=FILE`` (a file of negatives), or the name of a generator, recipe or
transform. For each source, this module returns the training contexts with their right responses and the wrong
responses of the source. Negatives of generators, recipes and transforms are made by `NegativeCache`, which
keeps them in files.

Example:
    >>> source_of("random")
    NegativeSource(name='random', kind='random', path=None)
    >>> source_of("contradiction").kind
    'recipe'
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
"""The kinds of sources of wrong responses."""
OpenGraph = Callable[[Path], Any]
"""A function that opens a dialogue graph in a folder, such as ``graphneg.open``."""
HUMAN = "human"
"""The source of adversarial responses that people wrote."""
_SUFFIXES = (".jsonl", ".parquet")
# A file of negatives may not have one of these names: they have a meaning in a ranker's training data.
_TAKEN = (RANDOM, HUMAN, ADVERSARIAL, REFERENCE)
_SEED = 0
# Edits replace the last turn of a dialogue, so each right response needs a dialogue of its own. Generators
# read all right responses of a context at once.
_DIALOGUES: Mapping[SourceKind, Callable[[Iterable[Choices]], Iterator[Dialogue]]] = {
    "generator": context_dialogues,
    "recipe": response_dialogues,
}


@dataclass(frozen=True, slots=True)
class NegativeSource:
    """A source of wrong responses.

    Attributes:
        name: The name of the source.
        kind: The kind of the source.
        path: The file of negatives, if the source is a file.
    """

    name: str
    kind: SourceKind
    path: Path | None = None

    @property
    def drawn_as(self) -> str:
        """The name of the source in the training data."""
        return ADVERSARIAL if self.kind == "human" else self.name


@dataclass(frozen=True, slots=True)
class Budget:
    """The number of responses that a ranker sees, equal for all sources.

    Attributes:
        positives: Right responses per context and epoch.
        random: Random wrong responses per context and epoch.
        source: Wrong responses of the source per context and epoch.
        epochs: Number of epochs.
    """

    positives: int = 2
    random: int = 2
    source: int = 3
    epochs: int = 2

    def __post_init__(self) -> None:
        """Check that all numbers are positive.

        Raises:
            InputError: A number is less than 1.
        """
        if min(self.positives, self.random, self.source, self.epochs) < 1:
            raise InputError(
                "a budget needs at least one right, one random and one wrong response, and one epoch"
            )

    def mix(self, source: NegativeSource) -> Mix:
        """Return the mix of responses for training on a source.

        Args:
            source: The source.

        Returns:
            A mix with the same number of pairs for every source. For ``random``, all wrong responses are
            random.
        """
        if source.kind == "random":
            return Mix(self.positives, {RANDOM: self.random + self.source})
        return Mix(self.positives, {RANDOM: self.random, source.drawn_as: self.source})

    @property
    def of_each_context(self) -> int:
        """The number of wrong responses per context that a source must have so that no epoch repeats any."""
        return self.source * self.epochs


def source_of(text: str) -> NegativeSource:
    """Parse the name of a source.

    Args:
        text: ``random``, ``human``, ``NAME=FILE``, or the name of a recipe, transform or generator.

    Returns:
        The source.

    Raises:
        InputError: The text names no source, or the file or its name cannot be used.
    """
    name, equals, file = text.partition("=")
    path = Path(file)
    if equals:
        # The name becomes a part of file names.
        if not name or name in _TAKEN or "/" in name:
            raise InputError(
                f"source {text!r}: give the file another name, NAME=FILE, not one of {', '.join(_TAKEN)}"
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
    """Return the training groups of a source whose negatives exist already.

    A file that cannot be used raises `InputError` as in `groups_of_file`.

    Args:
        train: The training contexts.
        source: The source.

    Returns:
        One group per context, or None for a generator or recipe.

    Raises:
        InputError: The source is ``human``, and no context has adversarial responses.
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
    """Return the training contexts with the wrong responses of a file.

    Contexts of the file and training contexts are matched by the texts of their turns.

    Args:
        train: The training contexts.
        source: The source that the responses belong to.
        path: The file of negatives.

    Returns:
        One group per training context, in order.

    Raises:
        InputError: The file has no negative for any training context.
    """
    wrong: dict[tuple[str, ...], list[Answer]] = {}
    for given in read_groups([path]):
        # Ids differ between files, but the texts of a context do not.
        wrong.setdefault(context_key(given.context), []).extend(given.negatives)
    groups = _right_groups(train)
    for group in groups:
        answers = wrong.get(context_key(group.context), ())
        group.negatives = list(dict.fromkeys(replace(answer, source=source.drawn_as) for answer in answers))
    if not any(group.negatives for group in groups):
        raise InputError(f"source {source.name}: {path} has no negative of a context to learn from")
    return groups


def _right_groups(train: Iterable[Choices]) -> list[Group]:
    """Return the contexts with their right responses only."""
    return groups_of_choices(replace(context, negatives={}) for context in train)


@dataclass
class NegativeCache:
    """Make the negatives of generators and recipes, and keep them in files.

    The cache opens one store for generators and one for recipes, in its folder, when it first needs them. A
    store holds the training contexts and the banks. An interrupted run continues where it stopped.

    Attributes:
        folder: The folder for stores and files of negatives.
        data: The training and test contexts.
        amount: Number of wrong responses to make per context.
        stores: Closes the stores when it is closed itself.
        banks: Corpora that generators and recipes may retrieve from.
        options: Options of generators and recipes, by source.
        open_graph: Opens a dialogue graph in a folder.
        progress: Receives progress updates.
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
        """Compute the fingerprint of the contents of the stores."""
        self._graphs: dict[SourceKind, Any] = {}
        # Another version may make other negatives.
        facts = [__version__, self.data.fingerprint, [bank.facts() for bank in self.banks]]
        self._loaded = fingerprint(facts)
        ids = [context.id.split("/", 2) for context in self.data.train]
        # Banks are only retrieved from: select the corpus and split of the training contexts, so that no
        # negatives are made for banks.
        self._chosen = {
            "corpora": sorted({id[0] for id in ids}),
            "splits": sorted({id[1] for id in ids}),
            "progress": self.progress,
        }

    def made(self, source: NegativeSource) -> Path:
        """Return the file of a source's negatives, and make it if it does not exist.

        Args:
            source: A generator, recipe or transform.

        Returns:
            The path of the file.

        Raises:
            InputError: The negatives cannot be made. The message names the source and the cause.
        """
        out = self.folder / f"{source.name}.jsonl"
        options = dict(self.options.get(source.name, {}))
        facts = [self._digest(source.kind), source.name, self.amount, _SEED, repr(sorted(options.items()))]
        note = RunNote(out.with_suffix(".json"), fingerprint(facts))
        if out.is_file() and note.state == "same":
            return out
        # The stream writes to a file of its own, so that it can continue after an interruption. Filter it
        # afterwards.
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
        """Return a stream of the source's negatives, from the store of its kind."""
        graph, given = self._opened(source.kind), {"seed": _SEED, **self._chosen, **options}
        if source.kind == "generator":
            # Both this generator and the transform "perspective" below need the shift graph.
            if source.name == "counterfactual":
                graph.shift(**self._chosen)
            return graph.generate(source.name, per_context=self.amount, **given)
        recipe = RECIPES.get(source.name)
        # A source that is a single transform may also edit sites that its Cypher marks for another target.
        if recipe is None or recipe.transforms == (source.name,):
            recipe = recipe_of([source.name], "any")
        graph.parse(**self._chosen)
        if "perspective" in recipe.transforms:
            graph.shift(**self._chosen)
        # Even the context with the fewest right responses must get enough negatives. The division rounds up,
        # and one is added because not every attempt finds a site to edit. A recipe edits one turn after
        # another, and only the last turn is the response; therefore the number is multiplied by the number of
        # turns.
        of_each = -(-self.amount // min(len(context.positives) for context in self.data.train)) + 1
        most = of_each * max(len(context.turns) for context in self.data.train)
        return graph.negatives(recipe, per_dialogue=most, target="response", **given)

    def _allowed(self, raw: Path) -> Iterator[Negative]:
        """Yield the negatives of training contexts that are not right responses and not in the test data."""
        never = self.data.written_wrong | {match_key(text) for text in self.data.tested}
        right = {context_key(one.turns): set(map(match_key, one.positives)) for one in self.data.train}
        for negative in read_jsonl(raw):
            entry, response = entry_of(negative, negative.id), match_key(negative.response)
            context = context_key(entry.context)
            # Never train on a right response of the test contexts, or on an adversarial response of the data.
            if context not in right or response in never:
                continue
            # A right response is wrong only if its context was edited.
            if entry.own != entry.context or response not in right[context]:
                yield negative

    def _digest(self, kind: SourceKind) -> str:
        """Return the fingerprint of the contents of a store."""
        return self._loaded if kind == "generator" else fingerprint([self._loaded, kind])

    def _opened(self, kind: SourceKind) -> Any:
        """Return the dialogue graph for a kind of source, opened and loaded at the first call.

        Args:
            kind: ``generator`` or ``recipe``.

        Returns:
            The dialogue graph.

        Raises:
            InputError: The cache has no function to open a dialogue graph.
        """
        if self.open_graph is None:
            raise InputError("its negatives are made in a store: compare with open_graph=graphneg.open")
        if kind not in self._graphs:
            # The name has the fingerprint, so other data get another store.
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
                # The counts of what was left out of the banks, by kind. The file also marks the store as
                # complete.
                (folder / "loaded.json").write_text(json.dumps(leakage.left_out), encoding="utf-8")
        return self._graphs[kind]

"""Add wrong responses from one source of negatives to the training contexts of a comparison.

A source is one of the following: ``random`` (correct responses to other contexts), ``human`` (human-written
adversarial responses), ``NAME=FILE`` (a file of negatives), or the name of a generator, recipe or transform.
For each source, this module returns the training contexts with their correct responses and the wrong
responses of the source. If the source is a generator, recipe or transform, `NegativeCache` makes its
negatives and keeps them in files.

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
    Group,
    LabelledContext,
    entry_from_record,
    groups_of_contexts,
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
from graphneg.hashing import fingerprint, with_model_digests
from graphneg.ingest.loader import LoadReport
from graphneg.ingest.validation import GraphDialogues
from graphneg.ingest.writing import write_records
from graphneg.model import Dialogue, Negative
from graphneg.progress import NoProgress, Progress
from graphneg.records.files import read_jsonl, write_jsonl
from graphneg.records.resumable import NegativeStream
from graphneg.records.runs import RunNote, remove_finished

SourceKind = Literal["random", "human", "file", "generator", "recipe"]
"""The kind of a source of negatives. A source that is a single transform has the kind ``recipe``."""
OpenGraph = Callable[[Path], Any]
"""A function that opens a dialogue graph in a folder, such as ``graphneg.open``."""
HUMAN = "human"
"""The name of the source whose negatives are human-written adversarial responses."""
_SUFFIXES = (".jsonl", ".parquet")
# Names that a source ``NAME=FILE`` may not have. In the training data, they are the names of random,
# adversarial and correct responses.
_TAKEN = (RANDOM, HUMAN, ADVERSARIAL, REFERENCE)
_SEED = 0
# Functions that convert contexts into dialogues, which are loaded into a store. Recipes edit the last turn of
# a dialogue, so they need one dialogue per correct response. Generators read all correct responses to a
# context from one dialogue.
_DIALOGUES: Mapping[SourceKind, Callable[[Iterable[LabelledContext]], Iterator[Dialogue]]] = {
    "generator": context_dialogues,
    "recipe": response_dialogues,
}


@dataclass(frozen=True, slots=True)
class NegativeSource:
    """A source of wrong responses, such as a generator, a recipe or a file.

    Attributes:
        name: The name of the source.
        kind: The kind of the source, such as ``recipe``.
        path: The file of negatives, or None if the source is not a file.
    """

    name: str
    kind: SourceKind
    path: Path | None = None

    @property
    def source_field(self) -> str:
        """The value of ``source`` in the training data, for example ``random``."""
        return ADVERSARIAL if self.kind == "human" else self.name


@dataclass(frozen=True, slots=True)
class Budget:
    """The numbers of responses and epochs for training a ranker, which are the same for all sources.

    Attributes:
        positives: Number of correct responses per context and epoch.
        random: Number of random wrong responses per context and epoch.
        source: Number of wrong responses from the compared source per context and epoch.
        epochs: Number of epochs.
    """

    positives: int = 2
    random: int = 2
    source: int = 3
    epochs: int = 2

    def __post_init__(self) -> None:
        """Check that the numbers of responses and epochs are positive.

        Raises:
            InputError: One of these numbers is less than 1.
        """
        if min(self.positives, self.random, self.source, self.epochs) < 1:
            raise InputError(
                "a budget needs at least one correct, one random and one wrong response, and one epoch"
            )

    def mix(self, source: NegativeSource) -> Mix:
        """Return the mix of correct and wrong responses for training on a source.

        Args:
            source: The source of wrong responses.

        Returns:
            The mix. The total number of wrong responses is the same for every source; for the source
            ``random``, all wrong responses are random.
        """
        if source.kind == "random":
            return Mix(self.positives, {RANDOM: self.random + self.source})
        return Mix(self.positives, {RANDOM: self.random, source.source_field: self.source})

    @property
    def negatives_per_context(self) -> int:
        """The number of wrong responses to make per context: enough to use different ones in each epoch."""
        return self.source * self.epochs


def source_of(text: str) -> NegativeSource:
    """Parse the name of a source.

    Args:
        text: ``random``, ``human``, ``NAME=FILE``, or the name of a recipe, transform or generator.

    Returns:
        The source.

    Raises:
        InputError: The text does not name a source, or ``NAME`` or ``FILE`` cannot be used.
    """
    name, equals, file = text.partition("=")
    path = Path(file)
    if equals:
        # The name of the source becomes part of the names of files, so it may not contain a slash.
        if not name or name in _TAKEN or "/" in name:
            raise InputError(
                f"source {text!r}: give the file another name, NAME=FILE, not one of {', '.join(_TAKEN)}"
            )
        if path.suffix not in _SUFFIXES:
            raise InputError(f"source {text!r}: a file of negatives must end in {' or '.join(_SUFFIXES)}")
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
        f"unknown source {text!r}; choose {RANDOM}, {HUMAN}, NAME=FILE, "
        f"a recipe ({', '.join(RECIPE_NAMES)}), a transform or a generator ({others})"
    )


def existing_groups(train: Sequence[LabelledContext], source: NegativeSource) -> list[Group] | None:
    """Return the training groups of a source whose negatives already exist: random, human or from a file.

    Raises `InputError` if a file of negatives cannot be used; see `groups_of_file`.

    Args:
        train: The training contexts.
        source: The source of wrong responses.

    Returns:
        One group per context, or None for a generator or recipe, whose negatives must be made first.

    Raises:
        InputError: The source is ``human``, and no context has adversarial responses.
    """
    if source.path is not None:
        return groups_of_file(train, source, source.path)
    if source.kind == "random":
        return _right_groups(train)
    if source.kind != "human":
        return None
    groups = groups_of_contexts(
        replace(context, negatives={ADVERSARIAL: context.negatives.get(ADVERSARIAL, ())}) for context in train
    )
    if not any(group.negatives for group in groups):
        raise InputError("source human: no training context has adversarial responses; leave this source out")
    return groups


def groups_of_file(train: Sequence[LabelledContext], source: NegativeSource, path: Path) -> list[Group]:
    """Return the training contexts with the wrong responses in a file.

    The file may use other ids, so contexts are matched by the texts of their turns.

    Args:
        train: The training contexts.
        source: The source to which the responses belong.
        path: The file of negatives.

    Returns:
        One group per training context, in the same order. A group has no wrong responses if the file has none
        for its context.

    Raises:
        InputError: The file has no negative for any training context.
    """
    wrong: dict[tuple[str, ...], list[Answer]] = {}
    for given in read_groups([path]):
        # Collect the negatives of each context, keyed by the texts of the context's turns.
        wrong.setdefault(context_key(given.context), []).extend(given.negatives)
    groups = _right_groups(train)
    for group in groups:
        answers = wrong.get(context_key(group.context), ())
        group.negatives = list(
            dict.fromkeys(replace(answer, source=source.source_field) for answer in answers)
        )
    if not any(group.negatives for group in groups):
        raise InputError(f"source {source.name}: {path} has no negative of a training context")
    return groups


def _right_groups(train: Iterable[LabelledContext]) -> list[Group]:
    """Return the contexts with their correct responses, but without wrong responses."""
    return groups_of_contexts(replace(context, negatives={}) for context in train)


@dataclass
class NegativeCache:
    """Files with the negatives of generators and recipes. Negatives are made when they are first needed.

    Negatives are made from a store with the training contexts and the banks. Generators and recipes have
    separate stores. A store is opened when it is first needed. If a run was interrupted, the next run
    continues it.

    Attributes:
        folder: The folder for stores and files of negatives.
        data: The training and test contexts.
        amount: Number of wrong responses to make per context.
        stores: The exit stack to which opened stores are added, so that they are closed together with it.
        banks: Corpora from which generators and recipes may take texts.
        options: Options for generators and recipes, keyed by the name of the source.
        open_graph: A function that opens a dialogue graph in a folder; required for making negatives.
        progress: Progress display for parsing and for making negatives.
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
        """Compute a fingerprint of the data to load into stores, and choose the corpora to edit."""
        self._graphs: dict[SourceKind, Any] = {}
        # Include the version of graphneg, because a different version may make different negatives.
        facts = [__version__, self.data.fingerprint, [bank.facts() for bank in self.banks]]
        self._loaded = fingerprint(facts)
        ids = [context.id.split("/", 2) for context in self.data.train]
        # The dialogues of the banks are in the same store, but need no negatives. So select only the corpora
        # and splits of the training contexts.
        self._chosen = {
            "corpora": sorted({id[0] for id in ids}),
            "splits": sorted({id[1] for id in ids}),
            "progress": self.progress,
        }

    def made(self, source: NegativeSource) -> Path:
        """Return the file with the negatives of a source. Make the negatives if the file does not exist yet.

        Args:
            source: A generator, recipe or transform.

        Returns:
            The path of the file.

        Raises:
            InputError: The negatives cannot be made. The message names the source and the reason.
        """
        out = self.folder / f"{source.name}.jsonl"
        options = dict(self.options.get(source.name, {}))
        settings = with_model_digests(options)
        facts = [self._digest(source.kind), source.name, self.amount, _SEED, repr(sorted(settings.items()))]
        note = RunNote(out.with_suffix(".json"), fingerprint(facts))
        if out.is_file() and note.state == "same":
            return out
        # First write all negatives to a temporary file. If this call is interrupted, the next call continues
        # this file. Then copy the negatives to the final file, without those that training must not contain,
        # such as correct responses to test contexts.
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
        graph, given = self._opened(source.kind), {"seed": _SEED, **self._chosen, **options}
        if source.kind == "generator":
            # The generator `counterfactual` reads the shift graph, so build the shift graph first.
            if source.name == "counterfactual":
                graph.shift(**self._chosen)
            return graph.generate(source.name, per_context=self.amount, **given)
        recipe = RECIPES.get(source.name)
        # By default, a transform edits only the places (sites) that its Cypher query marks as suitable for
        # responses. If the source is a single transform, use all sites that the query finds.
        if recipe is None or recipe.transforms == (source.name,):
            recipe = recipe_of([source.name], "any")
        graph.parse(**self._chosen)
        if "perspective_substitution" in recipe.transforms:
            graph.shift(**self._chosen)
        # Compute how many negatives to request per dialogue. A context with n correct responses is stored as
        # n dialogues: to get 5 negatives for a context with 2 responses, each of the two dialogues must give
        # 3. Request one more, because the recipe may find nothing to edit. A recipe edits another turn for
        # each negative, but only edits of the last turn can be used. So multiply the number by the number of
        # turns.
        of_each = -(-self.amount // min(len(context.positives) for context in self.data.train)) + 1
        most = of_each * max(len(context.turns) for context in self.data.train)
        return graph.negatives(recipe, per_dialogue=most, target="response", **given)

    def _allowed(self, raw: Path) -> Iterator[Negative]:
        """Yield the negatives whose context is a training context.

        Negatives whose text is a correct response, a response to a test context, or an adversarial response
        are left out.
        """
        never = self.data.adversarial_texts | {match_key(text) for text in self.data.tested}
        right = {context_key(one.turns): set(map(match_key, one.positives)) for one in self.data.train}
        for negative in read_jsonl(raw):
            entry, response = entry_from_record(negative, negative.id), match_key(negative.response)
            context = context_key(entry.context)
            # Skip negatives of other contexts, correct responses to test contexts, and adversarial responses.
            if context not in right or response in never:
                continue
            # Drop a negative whose response is correct in the original context. Keep it if the context was
            # edited, because the same response can be wrong after the edited turns.
            if entry.edited_context != entry.context or response not in right[context]:
                yield negative

    def _digest(self, kind: SourceKind) -> str:
        """Return a fingerprint of the data in the store for generators, or in the store for recipes."""
        return self._loaded if kind == "generator" else fingerprint([self._loaded, kind])

    def _opened(self, kind: SourceKind) -> Any:
        """Return the dialogue graph for generators or for recipes. The first call loads the data into it.

        Args:
            kind: ``generator`` or ``recipe``.

        Returns:
            The dialogue graph. It contains the training contexts and the corpora from which negatives are
            retrieved.

        Raises:
            InputError: ``open_graph`` is None.
        """
        if self.open_graph is None:
            raise InputError("this source makes its negatives in a store: pass open_graph=graphneg.open")
        if kind not in self._graphs:
            # The name of the folder contains the fingerprint of the data, so different data get different
            # stores.
            folder = self.folder / f"store-{self._digest(kind)[:12]}"
            folder.mkdir(parents=True, exist_ok=True)
            graph = self._graphs[kind] = self.stores.enter_context(self.open_graph(folder / "graph"))
            if not (folder / "loaded.json").exists():
                contexts = list(_DIALOGUES[kind](self.data.train))
                known, grouping = {dialogue.id for dialogue in contexts}, GraphDialogues("contexts", "all", 1)
                write_records(graph.store, iter(contexts), LoadReport("contexts"), grouping)
                leakage = LeakageFilter(self.data.forbidden, known)
                for bank in self.banks:
                    records, grouping = (
                        leakage.read(bank, self.progress),
                        GraphDialogues(bank.path.stem, "all", 8),
                    )
                    write_records(graph.store, records, LoadReport(bank.loader), grouping)
                # Write how many texts and dialogues the leakage filter has left out. This file is written
                # last, so it also shows that the store is complete.
                (folder / "loaded.json").write_text(json.dumps(leakage.left_out), encoding="utf-8")
        return self._graphs[kind]

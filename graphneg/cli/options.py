"""The options that commands share: single ones, and objects of them that do what they say."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from graphneg.cli.commands import named_values, shared
from graphneg.cli.terminal import messages, note
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.dialogue_graph import DialogueGraph
    from graphneg.generators.base import Context
    from graphneg.generators.generated import Generated
    from graphneg.ingest.labelled import Labelled
    from graphneg.nn.serving import Estimate
    from graphneg.store.connection import Store
    from graphneg.store.dialogues import Selection

OutFile = Annotated[Path, shared("The file to write.", "FILE", "--out", "-o")]
OutFolder = Annotated[Path, shared("Where the trained model goes.", "FOLDER", "--out", "-o")]
OutRecords = Annotated[str, shared("A .jsonl or .parquet file; - prints JSON lines.", "FILE", "--out", "-o")]
Overwrite = Annotated[bool, shared("Replace what is there.")]
Anew = Annotated[bool, shared("Remove the model or stopped run of the folder first.")]
ShardOption = Annotated[
    str | None,
    shared(
        "Only this part of the dialogues, 3/16 for the third of sixteen; graphneg merge puts parts together.",
        "I/N",
        rich_help_panel="Which dialogues",
    ),
]
Seed = Annotated[int, shared("The same seed gives the same result.")]
TrainingSeed = Annotated[int, shared("The same seed trains the same model on a CPU.")]
Device = Annotated[str | None, shared("cpu, cuda; else the best there is.")]
AnyDevice = Annotated[str, shared("cpu, cuda, mps; auto is the best there is.")]
Offline = Annotated[bool, shared("Fetch nothing from a model hub.")]
Json = Annotated[bool, shared("Print JSON in place of a table.")]
Resamples = Annotated[int, shared("Resamples, for the 95% intervals.", min=0)]
StartModel = Annotated[str, shared("The model to start from: a folder, a GGUF file, a hub id.", "PATH_OR_ID")]
StartEncoder = Annotated[str, shared("The encoder to start from: a folder or a hub id.", "PATH_OR_ID")]
Embedder = Annotated[
    str | None,
    shared(
        "An encoder of sentences: what --made contradicts is said as other speakers say it.", "PATH_OR_ID"
    ),
]
Rate = Annotated[float, shared("Learning rate.", min=0)]
StepPairs = Annotated[int, shared("Pairs of one step.", min=1)]
TrainingOption = Annotated[
    list[str] | None, shared("One of transformers' TrainingArguments; repeatable.", "NAME=VALUE")
]
MaxTokens = Annotated[int, shared("Longer contexts lose their beginning.", min=8)]
Freeze = Annotated[
    list[str] | None, shared("Parameters that do not learn, such as embeddings. Repeatable.", "NAME")
]
Dropout = Annotated[float | None, shared("In place of the model's own; 0 is quickest.", min=0, max=1)]
BackParser = Annotated[str, shared("What parses the texts back, for Smatch.", "NAME")]
TransformFolders = Annotated[list[Path] | None, shared("Folder of one's own transforms; repeatable.", "DIR")]

WARM_SECONDS = 300
"""So long an embedded server waits after a command that somebody typed."""
_in_store = partial(shared, rich_help_panel="Store")
_of_dialogues = partial(shared, rich_help_panel="Which dialogues")
_of_writer = partial(shared, rich_help_panel="Language model")
_OF_SERVERS = ("base_url", "concurrency", "timeout", "price_in", "price_out", "max_cost", "cache")


@dataclass(frozen=True)
class StoreOptions:
    """Which store a command works on, and how it is opened."""

    store: Annotated[
        str | None,
        _in_store(
            "A directory (embedded) or a Neo4j URI; else $NEO4J_URI, else ./graphneg-store.", "PATH_OR_URI"
        ),
    ] = None
    username: Annotated[str | None, _in_store("Neo4j user; else $NEO4J_USERNAME.")] = None
    password: Annotated[str | None, _in_store("Better left to $NEO4J_PASSWORD, which no list shows.")] = None
    database: Annotated[str | None, _in_store("Neo4j database; else $NEO4J_DATABASE.")] = None
    keep_warm: Annotated[
        int | None,
        _in_store(
            f"So long an embedded store's server waits for the next command; else {WARM_SECONDS} in a "
            "terminal, 0 elsewhere.",
            "SECONDS",
            min=0,
        ),
    ] = None

    @property
    def name(self) -> str:
        """The store that is meant, as it was named.

        Raises `StoreError`: the name is no usable address, or has a password in it.
        """
        _import_driver()
        from graphneg.store.opening import DEFAULT_DIRECTORY, check_target

        name = self.store or os.environ.get("NEO4J_URI") or f"./{DEFAULT_DIRECTORY}"
        check_target(name)
        return name

    @property
    def exists(self) -> bool:
        """Whether there is a store, or a directory that can be one."""
        try:
            return "://" in self.name or Path(self.name).expanduser().exists()
        except (OSError, RuntimeError):
            return True  # and opening it says why it can't be

    @property
    def _warm_for(self) -> int:
        """Seconds that an embedded server waits for the next command."""
        if self.keep_warm is not None:
            return self.keep_warm
        return WARM_SECONDS if sys.stderr.isatty() and not os.environ.get("CI") else 0

    def open_again(self) -> Store:
        """Open the store once more, where its server has ended.

        Raises:
            StoreError: It can't be opened.
        """
        from graphneg.store.opening import open_store

        return open_store(
            self.store,
            username=self.username,
            password=self.password,
            database=self.database,
            keep_warm=self._warm_for,
        )

    @contextmanager
    def opened(
        self, chosen: CorpusOptions | None = None, *, making: bool = False, upgrading: bool = False
    ) -> Generator[DialogueGraph]:
        """The dialogue graph, open; says so while its server starts.

        Where there is none it is made for ``making`` only; an older one is opened for ``upgrading`` only.

        Raises `InputError`: there is no such directory (opening it would make an empty store), or no dialogue
        of those that are ``chosen``.
        """
        if not (making or self.exists):
            raise InputError(
                f"there is no store at {self.name}: graphneg load CORPUS makes one, --store names another"
            )
        with messages().status(f"opening {self.name}"):
            import graphneg

            credentials = {"username": self.username, "password": self.password, "database": self.database}
            graph = graphneg.open(self.store, **credentials, upgrading=upgrading, keep_warm=self._warm_for)
        with graph:
            if chosen is not None:
                chosen.require(graph)
            yield graph


def _import_driver() -> None:
    """Imports the driver, which imports numpy, pandas and pyarrow wherever they are installed, to take their
    values as parameters: half a second for what no command passes."""
    unused = [name for name in ("numpy", "pandas", "pyarrow") if name not in sys.modules]
    if "neo4j" not in sys.modules:
        sys.modules.update(dict.fromkeys(unused))  # pyright: ignore[reportArgumentType, reportCallIssue]
        try:
            import_module("neo4j")
        finally:
            for name in unused:
                del sys.modules[name]


@dataclass(frozen=True)
class CorpusOptions:
    """Which dialogues of a store a command works on: of which corpora and splits."""

    corpus: Annotated[list[str] | None, _of_dialogues("Only this corpus; repeatable.")] = None
    split: Annotated[list[str] | None, _of_dialogues("Only this split; repeatable.")] = None

    @property
    def named(self) -> dict[str, Any]:
        """The choice as `DialogueGraph` takes it."""
        return {"corpora": tuple(self.corpus or ()), "splits": tuple(self.split or ())}

    @property
    def selection(self) -> Selection:
        """The choice as the store takes it."""
        from graphneg.store.dialogues import Selection

        return Selection(**self.named)

    def require(self, graph: DialogueGraph, with_graphs: bool = False) -> None:
        """Check that there are such dialogues: of none, a result without anything in it would say too little.

        Raises `InputError`: the store has no dialogues of these corpora and splits, or none with AMR graphs.
        """
        from graphneg.store.dialogues import count_dialogues

        every = replace(self.selection, limit=None, with_graphs=with_graphs)
        if count_dialogues(graph.store, every):
            return
        names = ", ".join((*every.corpora, *every.splits))
        of, advice = " of " * bool(names) + names, "graphneg info lists what is, graphneg load brings more"
        if with_graphs:
            of, advice = f"{of} with AMR graphs", "graphneg parse makes graphs"
        raise InputError(f"no dialogues{of} are in the {graph.store.description}: {advice}")


@dataclass(frozen=True)
class DialogueOptions(CorpusOptions):
    """Which dialogues of a store a command works on."""

    limit: Annotated[int | None, _of_dialogues("At most so many dialogues.", min=1)] = None

    @property
    def named(self) -> dict[str, Any]:
        """The choice as `DialogueGraph` takes it."""
        return {**super().named, "limit": self.limit}

    def contexts(self, graph: DialogueGraph) -> Iterator[Context]:
        """The contexts of their responses; of every turn but the first, where a dialogue has none."""
        from graphneg.generators.base import ContextSelection, read_contexts

        return read_contexts(graph.store, ContextSelection(self.selection, "every"))


@dataclass(frozen=True)
class WriterOptions:
    """Which language model writes, and how a server is asked for it."""

    model: Annotated[str | None, _of_writer("What writes, where a model does.", "PATH_OR_ID")] = None
    served: Annotated[
        bool,
        _of_writer(
            "A server has the model: $OPENAI_BASE_URL's, with $OPENAI_API_KEY; needs graphneg[served]."
        ),
    ] = False
    base_url: Annotated[str | None, _of_writer("The server's address, if not the variable's.", "URL")] = None
    route: Annotated[
        Literal["chat", "completion"] | None,
        _of_writer("Prompts are said to an assistant, or gone on with; else chat for served models only."),
    ] = None
    concurrency: Annotated[int | None, _of_writer("Prompts at once; else 8.", min=1)] = None
    timeout: Annotated[float | None, _of_writer("Seconds that an answer may take; else 120.")] = None
    price_in: Annotated[float | None, _of_writer("Of a million tokens read.", "PRICE")] = None
    price_out: Annotated[float | None, _of_writer("Of a million tokens written.", "PRICE")] = None
    max_cost: Annotated[float | None, _of_writer("Stop before more is spent.", "COST")] = None
    cache: Annotated[
        Path | None,
        _of_writer("Where answers are kept, by model and prompt; else in the user's cache."),
    ] = None
    dry_run: Annotated[bool, _of_writer("Only say what would be asked for, and what it would cost.")] = False

    @property
    def named(self) -> dict[str, Any]:
        """The options as a generator takes them.

        Raises `InputError`: some are for a served model only, and none is."""
        given = {name: getattr(self, name) for name in _OF_SERVERS if getattr(self, name) is not None}
        own = {name: value for name in ("model", "route") if (value := getattr(self, name)) is not None}
        if not (self.served or self.base_url):
            if given or self.dry_run:
                name = f"--{next(iter(given), 'dry_run').replace('_', '-')}"
                raise InputError(f"{name} is for models that a server has: add --served or --base-url URL")
            return own
        if self.dry_run and "max_cost" not in given and given.keys() & {"price_in", "price_out"}:
            given["max_cost"] = inf
        return {**own, "served": given}

    def asks_server(self, made: Generated) -> bool:
        """Say what a server would be asked for, and whether to go on: where anything is, its first answer is
        here.

        Raises:
            InputError: the generator asks no server.
            ModelError: the server can't be reached, or refuses what it is asked.
        """
        if not (self.served or self.base_url):
            return True
        with messages().status("counting what there is to ask"):
            counted = made.estimate()
        if counted is None:
            raise InputError("this generator asks no server; leave out --served and --base-url")
        note(f"{_asked(counted.drafts)}; {_asked(counted.most)} if every answer is refused")
        if self.dry_run:
            return False
        counted.ask_first()
        return True


def _asked(estimate: Estimate) -> str:
    """An estimate in words."""
    requests, tokens_in, tokens_out, cost = estimate
    price = "" if cost is None else f", {cost:.4g} at most"
    return f"{requests:,} requests of about {tokens_in:,} tokens, {tokens_out:,} at most to be written{price}"


@dataclass(frozen=True)
class Training:
    """How a model is trained."""

    rate: Rate = 5e-5
    batch: StepPairs = 16
    option: TrainingOption = None
    seed: TrainingSeed = 0
    device: Device = None
    offline: Offline = False
    overwrite: Anew = False

    def __post_init__(self) -> None:
        _ = self.arguments  # An --option that can't be read is told before anything is loaded.

    @property
    def arguments(self) -> dict[str, Any]:
        """What the trainer is told; options go before the ones that have names of their own."""
        own = {"seed": self.seed, "overwrite": self.overwrite}
        return own | training_arguments(self.rate, self.batch, self.option)


@dataclass(frozen=True)
class LanguageModelTraining(Training):
    """How a language model is fine-tuned."""

    batch: StepPairs = 8
    seed: Annotated[int, shared("The same seed trains the same model.")] = 0
    device: AnyDevice = "auto"
    epochs: Annotated[float, shared("Passes over the pairs.", min=0)] = 1.0

    @property
    def arguments(self) -> dict[str, Any]:
        """What the trainer is told."""
        return {"num_train_epochs": self.epochs, **super().arguments}


@dataclass(frozen=True)
class EncoderTraining(Training):
    """How an encoder becomes a ranker, a scorer or a detector."""

    max_tokens: MaxTokens = 256
    freeze: Freeze = None
    dropout: Dropout = None

    @property
    def model(self) -> dict[str, Any]:
        """What a new model is made with."""
        names = ("seed", "max_tokens", "dropout", "device", "offline")
        return {**{name: getattr(self, name) for name in names}, "frozen": self.freeze or ()}


def training_arguments(rate: float, batch: int, option: Iterable[str] | None) -> dict[str, Any]:
    """These as transformers' ``TrainingArguments``."""
    own = {"learning_rate": rate, "per_device_train_batch_size": batch}
    return own | named_values(option, "--option")


def made_responses(
    paths: Sequence[Path] | None, embedder: str | None, *, seed: int, offline: bool
) -> list[Labelled]:
    """Responses made of files of negatives; none where no file is given.

    Raises:
        InputError: a file can't be read, is none of negatives, or there is no contradiction in them.
        ModelError: there is no such embedder.
    """
    from graphneg.nn.embedders import get_embedder, is_static
    from graphneg.scorers.edited_contradictions import read_made

    if not paths:
        return []
    if embedder is None:
        return read_made(paths, seed=seed)
    options = {} if is_static(embedder) else {"offline": offline}
    return read_made(paths, seed=seed, embedder=get_embedder(embedder, **options))

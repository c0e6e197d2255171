"""Define the options that several commands share.

A single option is declared by a type alias with metadata, as in ``seed: Seed = 0``. Several related options
are declared by a dataclass with one field for each option. The class also has the methods that use the
options: `StoreOptions` opens the store, `CorpusOptions` and `DialogueOptions` choose dialogues,
`WriterOptions` chooses the language model of a generator, and `Training` and its subclasses contain the
settings for training a model.

Example::

    def info(*, json: Json = False, where: StoreOptions) -> None:
        with where.opened() as graph:    # an open DialogueGraph
            print(graph.info())
"""

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
from graphneg.cli.terminal import messages, print_note
from graphneg.errors import InputError
from graphneg.imports import unavailable
from graphneg.paths import expand_home

if TYPE_CHECKING:
    from graphneg.dialogue_graph import DialogueGraph
    from graphneg.generators.base import Context
    from graphneg.generators.generated import Generated
    from graphneg.ingest.labelled import JudgedResponse
    from graphneg.nn.serving import Estimate
    from graphneg.store.connection import Store
    from graphneg.store.dialogues import Selection

OutFile = Annotated[Path, shared("The file to write.", "FILE", "--out", "-o")]
OutFolder = Annotated[Path, shared("Folder for the trained model.", "FOLDER", "--out", "-o")]
OutRecords = Annotated[
    str,
    shared(
        "The .jsonl or .parquet file to write; - prints JSON lines to standard output.", "FILE", "--out", "-o"
    ),
]
Overwrite = Annotated[bool, shared("Replace the output file if it already exists.")]
OverwriteModel = Annotated[
    bool, shared("First delete the model or the unfinished training in the output folder.")
]
ShardOption = Annotated[
    str | None,
    shared(
        "Process only this shard of the dialogues: 3/16 is the third of 16. graphneg shards merge "
        "joins the files of all shards.",
        "I/N",
        rich_help_panel="Which dialogues",
    ),
]
Seed = Annotated[int, shared("Random seed. The same seed gives the same result.")]
TrainingSeed = Annotated[int, shared("Random seed. On a CPU, the same seed trains the same model.")]
Device = Annotated[
    str | None, shared("Device of the model, such as cpu or cuda. Default: the best available device.")
]
AnyDevice = Annotated[
    str, shared("Device of the model: cpu, cuda or mps; auto selects the best available device.")
]
Offline = Annotated[bool, shared("Do not download anything from a model hub.")]
Json = Annotated[bool, shared("Print JSON instead of a table.")]
Resamples = Annotated[int, shared("Number of bootstrap samples for the 95% confidence intervals.", min=0)]
StartModel = Annotated[
    str, shared("The language model to train: a folder, a GGUF file or a hub id.", "PATH_OR_ID")
]
StartEncoder = Annotated[str, shared("The encoder to train: a folder or a hub id.", "PATH_OR_ID")]
Embedder = Annotated[
    str | None,
    shared(
        "Sentence encoder or word vectors for finding similar sentences. If given, most statements and "
        "contradictions of --made are replaced by similar sentences from other dialogues, if such sentences "
        "exist. Default: reword them by templates only.",
        "PATH_OR_ID",
    ),
]
Rate = Annotated[float, shared("Learning rate.", min=0)]
BatchSize = Annotated[int, shared("Number of pairs per training step.", min=1)]
TrainingOption = Annotated[
    list[str] | None, shared("An argument for transformers' TrainingArguments. Repeatable.", "NAME=VALUE")
]
MaxTokens = Annotated[
    int,
    shared(
        "Maximum number of tokens in a context and a response; a longer context loses its beginning.", min=8
    ),
]
Freeze = Annotated[
    list[str] | None,
    shared("Prefix of the names of parameters not to train, such as embeddings. Repeatable.", "NAME"),
]
Dropout = Annotated[
    float | None,
    shared(
        "Dropout rate during training; 0 is fastest. Default: the rate in the model's configuration.",
        min=0,
        max=1,
    ),
]
BackParser = Annotated[
    str, shared("The AMR parser that parses texts back into graphs, to compute Smatch.", "NAME")
]
TransformFolders = Annotated[
    list[Path] | None, shared("Folder with your own transforms (.cypher files). Repeatable.", "DIR")
]

WARM_SECONDS = 300
"""Default number of seconds for which the server of an embedded store keeps running after a command, so that
the next command starts faster. If the command does not run in a terminal, the default is 0 instead."""
_in_store = partial(shared, rich_help_panel="Store")
_of_dialogues = partial(shared, rich_help_panel="Which dialogues")
_of_writer = partial(shared, rich_help_panel="Language model")
_OF_SERVERS = ("base_url", "concurrency", "timeout", "price_in", "price_out", "max_cost", "cache")


@dataclass(frozen=True)
class StoreOptions:
    """The options that choose the store for a command.

    Attributes:
        store: The directory of an embedded store, or the URI of a Neo4j server. With None, ``$NEO4J_URI`` is
            used if it is set, otherwise ``./graphneg-store``.
        username: The name of the Neo4j user; None for ``$NEO4J_USERNAME``.
        password: The password of the user; None for ``$NEO4J_PASSWORD``.
        database: The name of the Neo4j database. With None, ``$NEO4J_DATABASE`` is used if it is set,
            otherwise the user's home database.
        keep_warm: Number of seconds for which the server of an embedded store keeps running after a command.
            With None, this number is `WARM_SECONDS` in a terminal, otherwise 0.
    """

    store: Annotated[
        str | None,
        _in_store(
            "Directory of an embedded store, or URI of a Neo4j server. Default: $NEO4J_URI if it is set, "
            "otherwise ./graphneg-store.",
            "PATH_OR_URI",
        ),
    ] = None
    username: Annotated[str | None, _in_store("Neo4j user. Default: $NEO4J_USERNAME.")] = None
    password: Annotated[
        str | None,
        _in_store(
            "Neo4j password. Prefer $NEO4J_PASSWORD: other users can see this option in the process list."
        ),
    ] = None
    database: Annotated[
        str | None,
        _in_store(
            "Neo4j database. Default: $NEO4J_DATABASE if it is set, otherwise the user's home database."
        ),
    ] = None
    keep_warm: Annotated[
        int | None,
        _in_store(
            f"Number of seconds that the server of an embedded store keeps running after a command. "
            f"Default: {WARM_SECONDS} in a terminal, otherwise 0.",
            "SECONDS",
            min=0,
        ),
    ] = None

    @property
    def name(self) -> str:
        """The directory or URI of the store, as the user wrote it.

        Raises `StoreError` if the URI is malformed or contains a password.
        """
        _import_driver()
        from graphneg.store.opening import DEFAULT_DIRECTORY, check_target

        name = self.store or os.environ.get("NEO4J_URI") or f"./{DEFAULT_DIRECTORY}"
        check_target(name)
        return name

    @property
    def exists(self) -> bool:
        """Whether the directory of the store exists. For a Neo4j server, this is always True."""
        try:
            return "://" in self.name or expand_home(self.name).exists()
        except (OSError, InputError):
            # The path cannot be checked. Return True, so that the error is reported when the store is opened.
            return True

    @property
    def _seconds_to_keep_warm(self) -> int:
        """The number of seconds for which the server of an embedded store keeps running after a command."""
        if self.keep_warm is not None:
            return self.keep_warm
        # Keep the server running only in an interactive terminal, where the user may type another command.
        # When a script or a CI job has ended, no further command would use the server.
        return WARM_SECONDS if sys.stderr.isatty() and not os.environ.get("CI") else 0

    def open_again(self) -> Store:
        """Open the store again, for example after the server of an embedded store has stopped.

        Returns:
            The store, which is open.
        """
        from graphneg.store.opening import open_store

        return open_store(
            self.store,
            username=self.username,
            password=self.password,
            database=self.database,
            keep_warm=self._seconds_to_keep_warm,
        )

    @contextmanager
    def opened(
        self, chosen: CorpusOptions | None = None, *, making: bool = False, exporting: bool = False
    ) -> Generator[DialogueGraph]:
        """Open the store for a ``with`` block, and show a status line while its server starts.

        Args:
            chosen: The chosen corpora and splits, from which the store must contain at least one dialogue.
                None to skip this check.
            making: Whether to create the store if it does not exist.
            exporting: Whether to accept a store of a different version of graphneg, to export its content.

        Yields:
            The open dialogue graph.

        Raises:
            InputError: The directory does not exist, and ``making`` is False. If the store were created, a
                mistyped name would look like an empty store.
        """
        if not (making or self.exists):
            raise InputError(
                f"there is no store at {self.name}: create it with graphneg load CORPUS, or give another one "
                "with --store"
            )
        with messages().status(f"opening {self.name}"):
            import graphneg

            credentials = {"username": self.username, "password": self.password, "database": self.database}
            graph = graphneg.open(
                self.store, **credentials, exporting=exporting, keep_warm=self._seconds_to_keep_warm
            )
        with graph:
            if chosen is not None:
                chosen.require(graph)
            yield graph


def _import_driver() -> None:
    """Import the Neo4j driver without numpy, pandas and pyarrow.

    The driver imports these packages if they are installed, so that their types can be used as query
    parameters. These imports take half a second, but no command uses such parameters.
    """
    if "neo4j" not in sys.modules:
        with unavailable("numpy", "pandas", "pyarrow"):
            import_module("neo4j")


@dataclass(frozen=True)
class CorpusOptions:
    """The options that choose the corpora and splits for a command.

    Attributes:
        corpus: Names of corpora; None or an empty list for all corpora.
        split: Names of splits; None or an empty list for all splits.
    """

    corpus: Annotated[list[str] | None, _of_dialogues("Use only this corpus. Repeatable.")] = None
    split: Annotated[list[str] | None, _of_dialogues("Use only this split. Repeatable.")] = None

    @property
    def as_arguments(self) -> dict[str, Any]:
        """The options as keyword arguments for the methods of `DialogueGraph`."""
        return {"corpora": tuple(self.corpus or ()), "splits": tuple(self.split or ())}

    @property
    def selection(self) -> Selection:
        """The options as a `Selection`, which functions that read the store accept as an argument."""
        from graphneg.store.dialogues import Selection

        return Selection(**self.as_arguments)

    def require(self, graph: DialogueGraph, with_graphs: bool = False) -> None:
        """Check that the store contains at least one of the chosen dialogues.

        Without this check, the user would get an empty result without knowing why.

        Args:
            graph: The open dialogue graph.
            with_graphs: Whether at least one of the dialogues must have AMR graphs.

        Raises:
            InputError: The store has no dialogues from these corpora and splits, or, if ``with_graphs`` is
                True, no such dialogues with AMR graphs.
        """
        from graphneg.store.dialogues import count_dialogues

        # Ignore the limit, because this method only checks whether the store has any of the dialogues.
        every = replace(self.selection, limit=None, with_graphs=with_graphs)
        if count_dialogues(graph.store, every):
            return
        names = ", ".join((*every.corpora, *every.splits))
        of, advice = (
            " of " * bool(names) + names,
            "list the loaded corpora with graphneg info, or load more with graphneg load",
        )
        if with_graphs:
            of, advice = f"{of} with AMR graphs", "run graphneg parse"
        raise InputError(f"no dialogues{of} are in the {graph.store.description}: {advice}")


@dataclass(frozen=True)
class DialogueOptions(CorpusOptions):
    """The options that choose the dialogues for a command: corpora, splits and a maximum number.

    Attributes:
        limit: Maximum number of dialogues to use; None for no maximum.
    """

    limit: Annotated[
        int | None, _of_dialogues("Maximum number of dialogues to use. Default: all dialogues.", min=1)
    ] = None

    @property
    def as_arguments(self) -> dict[str, Any]:
        """The options as keyword arguments for the methods of `DialogueGraph`."""
        return {**super().as_arguments, "limit": self.limit}

    def contexts(self, graph: DialogueGraph) -> Iterator[Context]:
        """Read the contexts in the chosen dialogues. A context consists of the turns before a response.

        Args:
            graph: The open dialogue graph.

        Returns:
            The contexts of all responses. In a dialogue without responses, each turn except the first one
            counts as a response to the turns before it.
        """
        from graphneg.generators.base import ContextSelection, read_contexts

        return read_contexts(graph.store, ContextSelection(self.selection, "every"))


@dataclass(frozen=True)
class WriterOptions:
    """The options that choose the language model for a generator, and the settings for a model server.

    Attributes:
        model: The folder or hub id of a local model, or the name of a model on a server.
        served: Whether the model runs on an OpenAI-compatible server.
        base_url: The address of the server; None for ``$OPENAI_BASE_URL``.
        route: The API to use: ``chat`` or ``completion``. None for ``chat`` with a model on a server, and
            ``completion`` with a local model.
        concurrency: Maximum number of requests at the same time; None for the default.
        timeout: Maximum number of seconds to wait for the answer to a request; None for the default.
        price_in: Price of a million input tokens; None if the price is not known.
        price_out: Price of a million output tokens; None if the price is not known.
        max_cost: Maximum cost of the run, which stops before it exceeds this cost.
        cache: The file in which answers are cached, so that no answer is paid for twice.
        dry_run: Whether to print only an estimate of the cost, without sending requests.
    """

    model: Annotated[
        str | None,
        _of_writer("The language model, for generators that generate texts with such a model.", "PATH_OR_ID"),
    ] = None
    served: Annotated[
        bool,
        _of_writer(
            "Use a model behind an OpenAI-compatible server, at $OPENAI_BASE_URL with the key "
            "$OPENAI_API_KEY. Requires graphneg[served]."
        ),
    ] = False
    base_url: Annotated[
        str | None, _of_writer("Address of the server. Default: $OPENAI_BASE_URL.", "URL")
    ] = None
    route: Annotated[
        Literal["chat", "completion"] | None,
        _of_writer(
            "Use the chat API or the completion API. Default: chat for a served model, completion"
            " for a local model."
        ),
    ] = None
    concurrency: Annotated[
        int | None, _of_writer("Maximum number of requests at the same time. Default: 8.", min=1)
    ] = None
    timeout: Annotated[
        float | None, _of_writer("Maximum number of seconds to wait for an answer. Default: 120.")
    ] = None
    price_in: Annotated[float | None, _of_writer("Price of a million input tokens.", "PRICE")] = None
    price_out: Annotated[float | None, _of_writer("Price of a million output tokens.", "PRICE")] = None
    max_cost: Annotated[
        float | None,
        _of_writer(
            "Maximum cost of the run, which stops before it exceeds this cost. Requires --price-in and "
            "--price-out.",
            "COST",
        ),
    ] = None
    cache: Annotated[
        Path | None,
        _of_writer(
            "File in which the answers of the server are cached. Default: a file in the user's cache folder."
        ),
    ] = None
    dry_run: Annotated[
        bool,
        _of_writer("Only print the estimated numbers of requests and tokens, and the cost; send nothing."),
    ] = False

    @property
    def as_arguments(self) -> dict[str, Any]:
        """The options as keyword arguments for a generator.

        Raises:
            InputError: An option for a served model is set, but neither ``served`` nor ``base_url`` is set.
        """
        given = {name: getattr(self, name) for name in _OF_SERVERS if getattr(self, name) is not None}
        model_options = {
            name: value for name in ("model", "route") if (value := getattr(self, name)) is not None
        }
        if not (self.served or self.base_url):
            if given or self.dry_run:
                name = f"--{next(iter(given), 'dry_run').replace('_', '-')}"
                raise InputError(f"{name} requires a served model: add --served or --base-url URL")
            return model_options
        if self.dry_run and "max_cost" not in given and given.keys() & {"price_in", "price_out"}:
            # Prices are accepted only together with a maximum cost. A dry run costs nothing, so set the
            # maximum cost to infinity.
            given["max_cost"] = inf
        return {**model_options, "served": given}

    def asks_server(self, made: Generated) -> bool:
        """Print an estimate of the requests to the server, and send the first request.

        If the model does not run on a server, this method does nothing and returns True.

        Args:
            made: The stream of negatives that the generator makes.

        Returns:
            Whether the command should make the negatives: False for a dry run, in which no request is sent.

        Raises:
            InputError: Options for a server are given, but the generator does not use a server.
        """
        if not (self.served or self.base_url):
            return True
        with messages().status("counting the requests"):
            counted = made.estimate()
        if counted is None:
            raise InputError("this generator does not use a server: remove --served and --base-url")
        print_note(
            f"{_estimate_text(counted.drafts)}; {_estimate_text(counted.most)} if every answer is rejected"
        )
        if self.dry_run:
            return False
        # Send one request before a file is created. If the server cannot be reached or the key is wrong, this
        # request raises an error.
        counted.ask_first()
        return True


def _estimate_text(estimate: Estimate) -> str:
    requests, tokens_in, tokens_out, cost = estimate
    price = "" if cost is None else f", at most {cost:.4g}"
    tokens = f"about {tokens_in:,} input tokens and at most {tokens_out:,} output tokens"
    return f"{requests:,} requests with {tokens}{price}"


@dataclass(frozen=True)
class Training:
    """The options that all commands for training have in common.

    Attributes:
        rate: Learning rate.
        batch: Number of pairs per training step.
        option: Further ``TrainingArguments`` as ``NAME=VALUE``, which override the other options.
        seed: Random seed for sampling and training.
        device: Device of the model; None for the best available device.
        offline: Whether downloads are forbidden.
        overwrite: Whether to delete a model or an unfinished training from the output folder before training.
    """

    rate: Rate = 5e-5
    batch: BatchSize = 16
    option: TrainingOption = None
    seed: TrainingSeed = 0
    device: Device = None
    offline: Offline = False
    overwrite: OverwriteModel = False

    def __post_init__(self) -> None:
        """Check the values of ``--option`` now, so that an error is reported before a model is loaded."""
        _ = self.arguments

    @property
    def arguments(self) -> dict[str, Any]:
        """The options as keyword arguments for a training function. ``--option`` overrides other options."""
        # `training_arguments` returns, among others, the values of --option. Put them last, so that they
        # override the other arguments.
        common = {"seed": self.seed, "overwrite": self.overwrite}
        return common | training_arguments(self.rate, self.batch, self.option)


@dataclass(frozen=True)
class LanguageModelTraining(Training):
    """The options for fine-tuning a language model.

    Attributes:
        epochs: Number of passes over the training pairs. Fractions are allowed: 0.5 uses half of the pairs.
    """

    batch: BatchSize = 8
    seed: Annotated[int, shared("Random seed. The same seed trains the same model.")] = 0
    device: AnyDevice = "auto"
    epochs: Annotated[
        float, shared("Number of passes over the training pairs; fractions are allowed.", min=0)
    ] = 1.0

    @property
    def arguments(self) -> dict[str, Any]:
        """The options as keyword arguments for a training function."""
        return {"num_train_epochs": self.epochs, **super().arguments}


@dataclass(frozen=True)
class EncoderTraining(Training):
    """The options for training an encoder as a ranker, a coherence scorer or a contradiction detector.

    Attributes:
        max_tokens: Maximum number of tokens in an input.
        freeze: Prefixes of the names of model parameters that are not trained.
        dropout: Dropout rate; None for the rate in the model's configuration.
    """

    max_tokens: MaxTokens = 256
    freeze: Freeze = None
    dropout: Dropout = None

    @property
    def model(self) -> dict[str, Any]:
        """The options as keyword arguments for the function that creates the model."""
        names = ("seed", "max_tokens", "dropout", "device", "offline")
        return {**{name: getattr(self, name) for name in names}, "frozen": self.freeze or ()}


def training_arguments(rate: float, batch: int, option: Iterable[str] | None) -> dict[str, Any]:
    """Convert training options into arguments of transformers' ``TrainingArguments``.

    Args:
        rate: Learning rate.
        batch: Number of pairs per training step on each device.
        option: Further arguments as ``NAME=VALUE``, which may override the learning rate and the batch size.

    Returns:
        The values of the arguments, keyed by name.

    Example:
        >>> training_arguments(5e-5, 16, ["bf16=true"])
        {'learning_rate': 5e-05, 'per_device_train_batch_size': 16, 'bf16': True}
    """
    defaults = {"learning_rate": rate, "per_device_train_batch_size": batch}
    return defaults | named_values(option, "--option")


def make_responses(
    paths: Sequence[Path] | None, embedder: str | None, *, seed: int, offline: bool
) -> list[JudgedResponse]:
    """Make contradictory and consistent responses from files of negatives, as training data.

    Args:
        paths: Files that ``graphneg negatives --recipe contradiction`` wrote. None or an empty list gives no
            responses.
        embedder: A sentence encoder or word vectors, with which statements and contradictions are replaced by
            similar sentences from other dialogues. With None, they are reworded only by templates.
        seed: Seed for all random choices.
        offline: Whether downloads are forbidden.

    Returns:
        Equal numbers of contradictory and consistent responses.
    """
    from graphneg.nn.embedders import get_embedder, is_static
    from graphneg.scorers.edited_contradictions import read_made

    if not paths:
        return []
    if embedder is None:
        return read_made(paths, seed=seed)
    # Word vectors are always local files, so their loader has no option "offline".
    options = {} if is_static(embedder) else {"offline": offline}
    return read_made(paths, seed=seed, embedder=get_embedder(embedder, **options))

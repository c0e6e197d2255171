"""What commands share of their options, and how a function becomes a command.

In: a function whose parameters are options, single ones (``seed: Seed = 0``) or whole objects of them
(``where: StoreOptions``). Out: a `Command` of the function's name, in which an object stands as an option for
each of its fields; its help is the function's docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from functools import partial
from inspect import Parameter, Signature, cleandoc, signature
from json import JSONDecodeError, loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer import BadParameter, Option

from graphneg.cli.terminal import exists, opening, store_name
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.dialogue_graph import DialogueGraph
    from graphneg.ingest.labelled import Labelled
    from graphneg.store.dialogues import Selection


def panel(name: str) -> Callable[..., Any]:
    """Options that stand in the help under a heading of their own: ``panel("Parser")(help="...")``."""
    return partial(Option, rich_help_panel=name)


OutFile = Annotated[Path, Option("--out", "-o", metavar="FILE", help="The file to write.")]
OutFolder = Annotated[Path, Option("--out", "-o", metavar="FOLDER", help="Where the trained model goes.")]
OutRecords = Annotated[
    str, Option("--out", "-o", metavar="FILE", help="A .jsonl or .parquet file; - prints JSON lines.")
]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace what is there.")]
Anew = Annotated[bool, Option("--overwrite", help="Remove the model or stopped run of the folder first.")]
Seed = Annotated[int, Option(help="The same seed gives the same result.")]
TrainingSeed = Annotated[int, Option(help="The same seed trains the same model on a CPU.")]
Device = Annotated[str | None, Option(help="cpu, cuda; else the best there is.", show_default=False)]
AnyDevice = Annotated[str, Option(help="cpu, cuda, mps; auto is the best there is.")]
Offline = Annotated[bool, Option("--offline", help="Fetch nothing from a model hub.")]
Json = Annotated[bool, Option("--json", help="Print JSON in place of a table.")]
Threshold = Annotated[float, Option(help="A score from here on says: right.")]
Resamples = Annotated[int, Option(min=0, help="Resamples, for the 95% intervals.")]
StartModel = Annotated[
    str, Option(metavar="PATH_OR_ID", help="The model to start from: a folder, a GGUF file, a hub id.")
]
StartEncoder = Annotated[
    str, Option(metavar="PATH_OR_ID", help="The encoder to start from: a folder or a hub id.")
]
Embedder = Annotated[
    str | None,
    Option(
        metavar="PATH_OR_ID",
        help="An encoder of sentences: what --made contradicts is said as other speakers say it.",
    ),
]
Rate = Annotated[float, Option(min=0, help="Learning rate.")]
StepPairs = Annotated[int, Option(min=1, help="Pairs of one step.")]
Frozen = Annotated[
    list[str] | None,
    Option(metavar="NAME", help="Parameters that do not learn, such as embeddings. Repeatable."),
]
Dropout = Annotated[float | None, Option(min=0, max=1, help="In place of the model's own; 0 is quickest.")]
TrainingOption = Annotated[
    list[str] | None,
    Option("--option", metavar="NAME=VALUE", help="One of transformers' TrainingArguments; repeatable."),
]
TransformFolders = Annotated[
    list[Path] | None, Option(metavar="DIR", help="Folder of one's own transforms; repeatable.")
]


_in_store = panel("Store")
_of_dialogues = panel("Which dialogues")


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Which store a command works on, and how it is opened."""

    store: Annotated[
        str | None,
        _in_store(
            metavar="PATH_OR_URI",
            help="A directory (embedded) or a Neo4j URI; else $NEO4J_URI, else ./graphneg-store.",
            show_default=False,
        ),
    ] = None
    username: Annotated[str | None, _in_store(help="Neo4j user; else $NEO4J_USERNAME.")] = None
    password: Annotated[
        str | None, _in_store(help="Better left to $NEO4J_PASSWORD, which no list shows.")
    ] = None
    database: Annotated[str | None, _in_store(help="Neo4j database; else $NEO4J_DATABASE.")] = None

    def opened(self, upgrading: bool = False) -> AbstractContextManager[DialogueGraph]:
        """The dialogue graph, open, where there is one to look into; for ``upgrading`` an older one, too.

        Raises:
            InputError: there is no such directory; opening it would make an empty store.
        """
        if not exists(self.store):
            raise InputError(
                f"there is no store at {store_name(self.store)}: graphneg load CORPUS makes one, "
                "--store names another"
            )
        return opening(self.store, self.username, self.password, self.database, upgrading)

    def opened_or_made(self) -> AbstractContextManager[DialogueGraph]:
        """The dialogue graph, open, made where there is none."""
        return opening(self.store, self.username, self.password, self.database)


@dataclass(frozen=True, slots=True)
class CorpusOptions:
    """Which dialogues of a store a command works on: of which corpora and splits."""

    corpus: Annotated[list[str] | None, _of_dialogues(help="Only this corpus; repeatable.")] = None
    split: Annotated[list[str] | None, _of_dialogues(help="Only this split; repeatable.")] = None

    @property
    def named(self) -> dict[str, Any]:
        """The choice as `DialogueGraph` takes it."""
        return {"corpora": self.corpus or (), "splits": self.split or ()}

    @property
    def selection(self) -> Selection:
        """The choice as the store takes it."""
        from graphneg.store.dialogues import Selection

        return Selection(tuple(self.corpus or ()), tuple(self.split or ()))

    def require(self, graph: DialogueGraph, with_graphs: bool = False) -> None:
        """Check that there are such dialogues: of none, a result without anything in it would say too little.

        Raises:
            InputError: the store has no dialogues of these corpora and splits, or none with AMR graphs.
        """
        from graphneg.store.dialogues import count_dialogues

        every = replace(self.selection, limit=None, with_graphs=with_graphs)
        if count_dialogues(graph.store, every):
            return
        names = [*every.corpora, *every.splits]
        of = " of " + ", ".join(names) if names else ""
        graphs = " with AMR graphs" if with_graphs else ""
        advice = "graphneg parse makes graphs" if with_graphs else _ADVICE
        raise InputError(f"no dialogues{of}{graphs} are in the {graph.store.description}: {advice}")


_ADVICE = "graphneg info lists what is, graphneg load brings more"


@dataclass(frozen=True, slots=True)
class DialogueOptions(CorpusOptions):
    """Which dialogues of a store a command works on."""

    limit: Annotated[int | None, _of_dialogues(min=1, help="At most so many dialogues.")] = None

    @property
    def named(self) -> dict[str, Any]:
        """The choice as `DialogueGraph` takes it."""
        return {"corpora": self.corpus or (), "splits": self.split or (), "limit": self.limit}

    @property
    def selection(self) -> Selection:
        """The choice as the store takes it."""
        return replace(CorpusOptions(self.corpus, self.split).selection, limit=self.limit)


@dataclass(frozen=True, slots=True)
class LanguageModelTraining:
    """How a language model is fine-tuned."""

    epochs: Annotated[float, Option(min=0, help="Passes over the pairs.")] = 1.0
    rate: Rate = 5e-5
    batch: StepPairs = 8
    option: TrainingOption = None
    seed: Annotated[int, Option(help="The same seed trains the same model.")] = 0
    device: AnyDevice = "auto"
    offline: Offline = False
    overwrite: Anew = False

    @property
    def arguments(self) -> dict[str, Any]:
        """What the trainer is told; options go before the ones that have names of their own."""
        return {
            "seed": self.seed,
            "overwrite": self.overwrite,
            "num_train_epochs": self.epochs,
            **training_arguments(self.rate, self.batch, self.option),
        }


@dataclass(frozen=True, slots=True)
class EncoderTraining:
    """How an encoder becomes a ranker, a scorer or a detector."""

    rate: Rate = 5e-5
    batch: StepPairs = 16
    max_tokens: Annotated[int, Option(min=8, help="Longer contexts lose their beginning.")] = 256
    freeze: Frozen = None
    dropout: Dropout = None
    option: TrainingOption = None
    seed: TrainingSeed = 0
    device: Device = None
    offline: Offline = False
    overwrite: Anew = False

    @property
    def model(self) -> dict[str, Any]:
        """What a new model is made with."""
        return {
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "frozen": self.freeze or (),
            "dropout": self.dropout,
            "device": self.device,
            "offline": self.offline,
        }

    @property
    def arguments(self) -> dict[str, Any]:
        """What its training is told."""
        trained = training_arguments(self.rate, self.batch, self.option)
        return {"seed": self.seed, "overwrite": self.overwrite, **trained}


def training_arguments(rate: float, batch: int, option: Iterable[str] | None) -> dict[str, Any]:
    """These as transformers' ``TrainingArguments``."""
    return {
        "learning_rate": rate,
        "per_device_train_batch_size": batch,
        **named_values(option, "--option"),
    }


def named_values(given: Iterable[str] | None, hint: str) -> dict[str, Any]:
    """Values by name, each JSON or else text; ``hint`` is the option that a complaint names.

    >>> named_values(["most=3", "word=tea"], "--option")
    {'most': 3, 'word': 'tea'}
    """
    return dict(_named_value(one, hint) for one in given or ())


def _named_value(given: str, hint: str) -> tuple[str, Any]:
    name, equals, value = given.partition("=")
    if not name or not equals:
        raise BadParameter(f"{given!r}: write NAME=VALUE", param_hint=hint)
    try:
        return name, loads(value)
    except JSONDecodeError:
        return name, value


def named_amounts(given: Iterable[str] | None, hint: str) -> dict[str, int]:
    """Whole numbers from 1, by name."""
    amounts = named_values(given, hint)
    for name, amount in amounts.items():
        if not isinstance(amount, int) or isinstance(amount, bool) or amount < 1:
            raise BadParameter(f"{name}={amount}: a whole number from 1", param_hint=hint)
    return amounts


def without_none(**options: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


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


# From functions to commands.


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what it runs, and the help of it."""

    run: Callable[..., None]
    help: str
    examples: str


def command(*examples_of: str) -> Callable[[Callable[..., None]], Command]:
    """Make a function a command of its name; its docstring and these examples are the help."""

    def made(function: Callable[..., None]) -> Command:
        paragraphs = cleandoc(function.__doc__ or "").split("\n\n")
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        return Command(expanded(function), text, examples(*examples_of))

    return made


def job(*examples_of: str) -> Callable[[Callable[..., None]], Command]:
    """Make a function a command of training or evaluation: data that it can't use is wrong usage."""

    def made(function: Callable[..., None]) -> Command:
        done = command(*examples_of)(function)
        run = done.run

        def running(**options: Any) -> None:
            try:
                run(**options)
            except InputError as error:
                error.status = 2
                raise

        return Command(_like(running, run, signature(run)), done.help, done.examples)

    return made


def examples(*commands: str) -> str:
    """Commands as the end of a help text, one a line."""
    return "\n".join(["[bold]Examples[/]", *(f"[dim]$[/] {command}" for command in commands)])


def add_commands(app: typer.Typer, commands: Sequence[Command]) -> typer.Typer:
    """The application with these commands."""
    for one in commands:
        app.command(one.run.__name__, help=one.help, epilog=one.examples)(one.run)
    return app


def group(name: str, text: str, commands: Sequence[Command], *examples_of: str) -> typer.Typer:
    """Commands under one name."""
    app = typer.Typer(
        name=name,
        help=text,
        epilog=examples(*examples_of),
        no_args_is_help=True,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    return add_commands(app, commands)


def expanded(function: Callable[..., None]) -> Callable[..., None]:
    """The function with each object of options as a parameter for each of its fields."""
    hints = get_type_hints(function, include_extras=True)
    objects: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    def run(**options: Any) -> None:
        for name, kind in objects.items():
            own = {field.name: options.pop(field.name) for field in fields(kind)}
            options[name] = kind(**own)
        function(**options)

    parameters: list[Parameter] = []
    for name, parameter in signature(function).parameters.items():
        if name in objects:
            parameters += _parameters(objects[name])
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name]))
    return _like(run, function, Signature(parameters))


def _parameters(options: Any) -> Iterable[Parameter]:
    hints = get_type_hints(options, include_extras=True)
    return (
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=_default(field), annotation=hints[field.name])
        for field in fields(options)
    )


def _default(field: Field[Any]) -> Any:
    return Parameter.empty if field.default is MISSING else field.default


def _like(run: Callable[..., None], function: Callable[..., None], of: Signature) -> Callable[..., None]:
    run.__name__ = function.__name__
    run.__doc__ = function.__doc__
    run.__annotations__ = {name: parameter.annotation for name, parameter in of.parameters.items()}
    setattr(run, "__signature__", of)  # noqa: B010
    return run

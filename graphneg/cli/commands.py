"""Turn functions into commands and their parameters into options.

A command is a function with keyword parameters. A parameter becomes an option in one of three ways: by a
default made with `option` (``k: int = option(10, "Number of results to return.")``), by an annotation made
with `shared` that several commands use (``seed: Seed = 0``), or as a dataclass of options from
`graphneg.cli.options` (``where: StoreOptions``), each field of which becomes an option. The decorator
`command` returns a `Command`, which `group` adds to a Typer application. The help of the command is the
docstring of the function.

Example::

    @command("graphneg count --split test")
    def count(*, split: str = option("train", "Split to count."), where: StoreOptions) -> None:
        '''Count the dialogues of a split.'''

    app = group("graphneg", "Count things.", [count])    # graphneg count --split test --store chats
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from errno import ENOSPC
from functools import partial, wraps
from importlib import import_module
from inspect import Parameter, Signature, cleandoc, signature
from json import JSONDecodeError, loads
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer import BadParameter
from typer.models import OptionInfo

from graphneg.cli.terminal import stopping
from graphneg.errors import InputError


def option(default: Any, help: str, metavar: str | None = None, *names: str, **settings: Any) -> Any:
    """Declare a parameter of a command as an option.

    Args:
        default: The default value. ``...`` makes the option required.
        help: The help text.
        metavar: How the help shows the value. For a path the default is ``FILE``.
        *names: The option's names (``"--out", "-o"``). By default the option has the name of the parameter,
            and a flag has no negative form: there is ``--json``, but no ``--no-json``.
        **settings: Further arguments of ``typer.Option``, such as ``min``.

    Returns:
        The value to use as the parameter's default.
    """
    return typer.Option(default, *names, metavar=metavar, help=help, **settings)


def argument(default: Any, help: str, metavar: str | None = None, **settings: Any) -> Any:
    """Declare a parameter of a command as a positional argument.

    Args:
        default: The default value. ``...`` makes the argument required.
        help: The help text.
        metavar: How the help shows the value.
        **settings: Further arguments of ``typer.Argument``.

    Returns:
        The value to use as the parameter's default.
    """
    return typer.Argument(default, metavar=metavar, help=help, **settings)


def completing(names: str | Sequence[str]) -> Callable[[str], list[str]]:
    """Return a shell completion function for the values of an option.

    Args:
        names: The values to complete to. A string names a function of graphneg that returns them, as
            ``module:function``; its module is imported only when the shell asks for completions.

    Returns:
        A function from the characters that were typed to the values that begin with them.

    Example:
        >>> completing(["deam", "all"])("d")
        ['deam']
    """

    def completed(incomplete: str) -> list[str]:
        known: Iterable[str] = names
        # The import happens only when a shell asks for completions: most commands never need it.
        if isinstance(names, str):
            module, _, function = names.partition(":")
            known = getattr(import_module(f"graphneg.{module}"), function)()
        return [name for name in known if name.startswith(incomplete)]

    return completed


def shared(help: str, metavar: str | None = None, *names: str, **settings: Any) -> Any:
    """Declare an option that several commands share.

    It stands in an annotation: ``Annotated[int, shared("...")]``.

    Args:
        help: The help text.
        metavar: How the help shows the value.
        *names: The option's names; see `option`.
        **settings: Further arguments of ``typer.Option``.

    Returns:
        The metadata for ``Annotated``. Each command sets its own default.
    """
    return typer.Option(*names, metavar=metavar, help=help, **settings)


def panel(name: str) -> Callable[..., Any]:
    """Return a variant of `option` that lists its options under a separate heading of the help.

    Args:
        name: The heading.

    Returns:
        A function with the parameters of `option`.
    """
    return partial(option, rich_help_panel=name)


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its help.

    Attributes:
        run: The function that Typer calls. Its parameters are single options.
        help: The help text, one line per paragraph.
        examples: Command lines that the help shows at its end.
    """

    run: Callable[..., None]
    help: str
    examples: tuple[str, ...]


def command(*examples_of: str, input_status: int = 1) -> Callable[[Callable[..., None]], Command]:
    """Return a decorator that makes a function a command of the same name.

    The function's docstring becomes the help text. A form feed in the docstring ends the help: what follows
    is for readers of the code, such as a ``Raises:`` section.

    Args:
        *examples_of: Command lines to show at the end of the help.
        input_status: The exit status if a file or an argument is invalid.

    Returns:
        The decorator.
    """

    def made(function: Callable[..., None]) -> Command:
        # Lines are joined: the help wraps them to the width of the terminal.
        paragraphs = cleandoc(function.__doc__ or "").partition("\f")[0].strip().split("\n\n")
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        return Command(expanded(function, input_status), text, examples_of)

    return made


job = partial(command, input_status=2)
"""Variant of `command` for training and evaluation: invalid input data exits with status 2 (wrong usage)."""


def examples(*commands: str) -> str:
    """Format command lines as the last part of a help text.

    Args:
        *commands: The command lines.

    Returns:
        The text with Rich markup, one command per line.
    """
    return "\n".join(["[bold]Examples[/]", *(f"[dim]$[/] {line}" for line in commands)])


def group(
    name: str, text: str, commands: Sequence[Command], *examples_of: str, **settings: Any
) -> typer.Typer:
    """Return a Typer application of several commands.

    Args:
        name: The name of the group, such as ``train``.
        text: The help text of the group.
        commands: The commands in the order in which the help lists them.
        *examples_of: Command lines to show at the end of the help. By default, the first example of each
            command.
        **settings: Further arguments of ``typer.Typer``.

    Returns:
        The application.
    """
    # The program as a whole has options to install completion; each group does not need them.
    settings.setdefault("add_completion", False)
    app = typer.Typer(
        name=name,
        help=text,
        epilog=examples(*(examples_of or [example for each in commands for example in each.examples[:1]])),
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,
    )
    for listed in commands:
        app.command(listed.run.__name__, help=listed.help, epilog=examples(*listed.examples))(listed.run)
    return app


def expanded(function: Callable[..., None], input_status: int = 1) -> Callable[..., None]:
    """Return a function that takes each field of its option dataclasses as a separate parameter.

    For ``info(*, json: Json, where: StoreOptions)`` the result has the parameters ``json``, ``store``,
    ``username``, ``password``, ``database`` and ``keep_warm``, which is what Typer reads. When it is called,
    it builds the dataclasses and calls ``function``. It also reports Ctrl-C and sets exit statuses.

    Args:
        function: The command. The default of a dataclass parameter gives the defaults of its fields; without
            one the defaults of the class apply.
        input_status: The exit status if a file or an argument is invalid.

    Returns:
        The function to register with Typer.
    """
    # With `from __future__ import annotations`, annotations are strings until they are resolved.
    hints = get_type_hints(function, include_extras=True)
    objects: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    @wraps(function)
    def run(**options: Any) -> None:
        # Typer passes single options; the function expects objects.
        for name, kind in objects.items():
            options[name] = kind(**{field.name: options.pop(field.name) for field in fields(kind)})
        try:
            with stopping("nothing was changed"):  # until the command gives advice of its own
                function(**options)
        except InputError as error:
            # An error that means wrong usage by itself keeps its status of 2.
            error.status = max(error.status, input_status)
            raise
        except OSError as error:  # such as a folder without permission to search it
            # A full disk is the only error without a file name that the user can mend: others are bugs
            # and keep their traceback.
            if error.filename is None and error.errno != ENOSPC:
                raise
            at = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
            failure = InputError(f"{at}{error.strerror}")
            failure.status = input_status
            raise failure from error

    parameters: list[Parameter] = []
    for name, parameter in signature(function).parameters.items():
        # A single option; any other parameter is replaced by the fields of its dataclass.
        if name not in objects:
            parameters.append(_parameter(name, parameter.default, hints[name]))
            continue
        types = get_type_hints(objects[name], include_extras=True)
        defaults = objects[name]() if parameter.default is Parameter.empty else parameter.default
        for field in fields(objects[name]):
            parameters.append(_parameter(field.name, getattr(defaults, field.name), types[field.name]))
    # Typer reads the options from the signature. Pyright refuses a plain assignment, because the type
    # of functions does not declare this attribute.
    setattr(run, "__signature__", Signature(parameters))  # noqa: B010
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameter(name: str, default: Any, hint: Any) -> Parameter:
    """Return a parameter for Typer; its name and type fill in the option name and the metavar."""
    # Shared options carry their metadata in `Annotated`, others in the default value.
    kind, *metadata = get_args(hint) if get_origin(hint) is Annotated else (hint, default)
    for info in metadata:
        if isinstance(info, OptionInfo):
            # Typer would otherwise add a negative form: --json and --no-json.
            if kind is bool and not info.param_decls:
                info.param_decls = (f"--{name.replace('_', '-')}",)
            if info.metavar is None and Path.__name__ in str(kind):
                info.metavar = "FILE"
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def named_values(given: Iterable[str] | None, hint: str) -> dict[str, Any]:
    """Parse ``NAME=VALUE`` arguments.

    Args:
        given: The arguments as typed, or None for none.
        hint: The option to name in error messages.

    Returns:
        The values by name. A value that is valid JSON is decoded; any other value is a string.

    Raises:
        BadParameter: An argument has no name or no ``=``, or its value is too long or too deeply nested.

    Example:
        >>> named_values(["most=3", "word=tea"], "--option")
        {'most': 3, 'word': 'tea'}
    """
    values: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise BadParameter(f"{text!r}: write NAME=VALUE", param_hint=hint)
        try:
            values[name] = loads(value)
        except JSONDecodeError:
            # "word=tea" needs no quotes: what is not JSON is text.
            values[name] = value
        except (ValueError, RecursionError) as error:  # thousands of digits, or a thousand nested brackets
            raise BadParameter(f"{name} is too long or too deep to be read", param_hint=hint) from error
    return values


def named_amounts(given: Iterable[str] | None, hint: str) -> dict[str, int]:
    """Parse ``NAME=N`` arguments whose values are positive integers.

    Args:
        given: The arguments as typed, or None for none.
        hint: The option to name in error messages.

    Returns:
        The numbers by name.

    Raises:
        BadParameter: An argument is malformed, or its value is not an integer of at least 1.
    """
    amounts = named_values(given, hint)
    for name, amount in amounts.items():
        # `True` is an int in Python, but "tea=true" is not a number.
        if not isinstance(amount, int) or isinstance(amount, bool) or amount < 1:
            raise BadParameter(f"{name}={amount}: a whole number from 1", param_hint=hint)
    return amounts


def without_none(**options: Any) -> dict[str, Any]:
    """Return the options that were set.

    Args:
        **options: Options by name; None means that an option was not set.

    Returns:
        The options without those that are None.
    """
    return {name: value for name, value in options.items() if value is not None}

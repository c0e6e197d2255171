"""Convert functions to commands and their parameters to options.

A command is a function with keyword parameters. There are three ways to declare options:

- a default value made with `option`: ``k: int = option(10, "Number of results to return.")``
- a type annotation made with `shared`, which several commands can use: ``seed: Seed = 0``
- a dataclass of options from `graphneg.cli.options`, each field of which becomes an option:
  ``where: StoreOptions``

The decorator `command` converts the function to a `Command`, which `group` adds to a Typer application. The
function's docstring is the help text of the command.

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

from graphneg.cli.interrupts import raise_on_interrupt
from graphneg.cli.terminal import advise_on_interrupt
from graphneg.errors import InputError


def option(default: Any, help: str, metavar: str | None = None, *names: str, **settings: Any) -> Any:
    """Declare a parameter of a command as an option.

    Args:
        default: The default value. ``...`` makes the option required.
        help: The help text.
        metavar: Placeholder for the value in the help; for a path, the default is ``FILE``.
        *names: The names of the option, such as ``"--out", "-o"``. By default, the option is named after the
            parameter. A flag then has no negative form: there is ``--json``, but not ``--no-json``.
        **settings: Further arguments of ``typer.Option``, such as ``min``.

    Returns:
        The value to use as the default of the parameter.
    """
    return typer.Option(default, *names, metavar=metavar, help=help, **settings)


def argument(default: Any, help: str, metavar: str | None = None, **settings: Any) -> Any:
    """Declare a parameter of a command as a positional argument.

    Args:
        default: The default value. ``...`` makes the argument required.
        help: The help text.
        metavar: Placeholder for the value in the help.
        **settings: Further arguments of ``typer.Argument``.

    Returns:
        The value to use as the default of the parameter.
    """
    return typer.Argument(default, metavar=metavar, help=help, **settings)


def completing(names: str | Sequence[str]) -> Callable[[str], list[str]]:
    """Return a shell completion function for the values of an option.

    Args:
        names: The possible values. Alternatively, a string such as ``module:function`` that names a function
            of graphneg which returns the values. Its module is imported only when the shell asks for
            completions.

    Returns:
        A function that takes the characters typed so far and returns the values that begin with them.

    Example:
        >>> completing(["deam", "all"])("d")
        ['deam']
    """

    def completed(incomplete: str) -> list[str]:
        known: Iterable[str] = names
        # Import the module only here, when a shell asks for completions, so that ordinary runs do not wait
        # for it.
        if isinstance(names, str):
            module, _, function = names.partition(":")
            known = getattr(import_module(f"graphneg.{module}"), function)()
        return [name for name in known if name.startswith(incomplete)]

    return completed


def shared(help: str, metavar: str | None = None, *names: str, **settings: Any) -> Any:
    """Declare an option that several commands share.

    The result is used in a type annotation: ``Annotated[int, shared("...")]``. Each command sets its own
    default.

    Args:
        help: The help text.
        metavar: Placeholder for the value in the help.
        *names: The names of the option; see `option`.
        **settings: Further arguments of ``typer.Option``.

    Returns:
        The metadata for ``Annotated``.
    """
    return typer.Option(*names, metavar=metavar, help=help, **settings)


def panel(name: str) -> Callable[..., Any]:
    """Return a variant of `option` whose options are listed under a separate heading in the help.

    Args:
        name: The heading.

    Returns:
        A function that is called like `option`.
    """
    return partial(option, rich_help_panel=name)


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its help.

    Attributes:
        run: The function that Typer calls. Each of its parameters is one option.
        help: The help text, with each paragraph on one line.
        examples: Example command lines for the end of the help.
    """

    run: Callable[..., None]
    help: str
    examples: tuple[str, ...]


def command(*examples_of: str, input_status: int = 1) -> Callable[[Callable[..., None]], Command]:
    """Return a decorator that converts a function to a command of the same name.

    The function's docstring becomes the help text. If the docstring contains a form feed, the help text ends
    there. Sections for readers of the code, such as ``Raises:``, follow the form feed.

    Args:
        *examples_of: Example command lines for the end of the help.
        input_status: The exit status for invalid files and arguments.

    Returns:
        The decorator.
    """

    def made(function: Callable[..., None]) -> Command:
        # Join the lines of each paragraph, because the help wraps them to the width of the terminal.
        paragraphs = cleandoc(function.__doc__ or "").partition("\f")[0].strip().split("\n\n")
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        return Command(with_expanded_options(function, input_status), text, examples_of)

    return made


training_command = partial(command, input_status=2)
"""Variant of `command` for training and evaluation, where invalid input data count as incorrect usage (exit
status 2)."""


def examples(*commands: str) -> str:
    """Format command lines as the last part of a help text.

    Args:
        *commands: The command lines.

    Returns:
        A text with Rich markup that has one command per line.
    """
    return "\n".join(["[bold]Examples[/]", *(f"[dim]$[/] {line}" for line in commands)])


def group(
    name: str, text: str, commands: Sequence[Command], *examples_of: str, **settings: Any
) -> typer.Typer:
    """Return a Typer application with several commands.

    Args:
        name: The name of the group, such as ``train``.
        text: The help text of the group.
        commands: The commands, in the order in which the help lists them.
        *examples_of: Example command lines for the end of the help. By default, these are the first examples
            of the commands.
        **settings: Further arguments of ``typer.Typer``.

    Returns:
        The application.
    """
    # Leave out Typer's options for installing shell completion. Only the program as a whole needs them.
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


def with_expanded_options(function: Callable[..., None], input_status: int = 1) -> Callable[..., None]:
    """Wrap a function so that each field of its option dataclasses becomes a separate parameter.

    For ``info(*, json: Json, where: StoreOptions)``, the wrapper has the parameters ``json``, ``store``,
    ``username``, ``password``, ``database`` and ``keep_warm``, from which Typer makes the options. When the
    wrapper is called, it creates the dataclass objects and calls ``function``. It also prints a message on
    Ctrl-C and sets the exit status of errors.

    Args:
        function: The command. If a dataclass parameter has a default, it provides the defaults of the fields;
            otherwise the defaults of the class are used.
        input_status: The exit status for invalid files and arguments.

    Returns:
        The function to register with Typer.
    """
    # Resolve the annotations, which are strings because of `from __future__ import annotations`.
    hints = get_type_hints(function, include_extras=True)
    objects: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    @wraps(function)
    def run(**options: Any) -> None:
        # Replace the single options, which Typer passes, by the dataclass objects that the function expects.
        for name, kind in objects.items():
            options[name] = kind(**{field.name: options.pop(field.name) for field in fields(kind)})
        try:
            # A command that changes something uses `advise_on_interrupt` itself, with advice that replaces
            # this one.
            with advise_on_interrupt("nothing was changed"), raise_on_interrupt():
                function(**options)
        except InputError as error:
            # Keep a status of 2 if the error already means incorrect usage.
            error.status = max(error.status, input_status)
            raise
        except OSError as error:  # For example, the user has no permission to search a folder.
            # Errors without a file name are bugs, so show their traceback. The exception is a full disk,
            # which the user can mend.
            if error.filename is None and error.errno != ENOSPC:
                raise
            at = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
            failure = InputError(f"{at}{error.strerror}")
            failure.status = input_status
            raise failure from error

    parameters: list[Parameter] = []
    for name, parameter in signature(function).parameters.items():
        # Keep single options. Replace a dataclass parameter by the fields of the dataclass.
        if name not in objects:
            parameters.append(_parameter(name, parameter.default, hints[name]))
            continue
        types = get_type_hints(objects[name], include_extras=True)
        defaults = objects[name]() if parameter.default is Parameter.empty else parameter.default
        for field in fields(objects[name]):
            parameters.append(_parameter(field.name, getattr(defaults, field.name), types[field.name]))
    # Set the signature, from which Typer reads the options. setattr is needed because pyright refuses a plain
    # assignment to this attribute.
    setattr(run, "__signature__", Signature(parameters))  # noqa: B010
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameter(name: str, default: Any, hint: Any) -> Parameter:
    """Return a parameter for Typer. Set the name of a flag and the metavar of a path if missing."""
    # The metadata of shared options are in `Annotated`, those of other options are the default value.
    kind, *metadata = get_args(hint) if get_origin(hint) is Annotated else (hint, default)
    for info in metadata:
        if isinstance(info, OptionInfo):
            # Name a flag explicitly, because Typer would otherwise add a negative form such as --no-json.
            if kind is bool and not info.param_decls:
                info.param_decls = (f"--{name.replace('_', '-')}",)
            if info.metavar is None and Path.__name__ in str(kind):
                info.metavar = "FILE"
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def named_values(given: Iterable[str] | None, hint: str) -> dict[str, Any]:
    """Parse ``NAME=VALUE`` arguments.

    Args:
        given: The arguments that the user has typed; None if there are none.
        hint: The name of the option, for error messages.

    Returns:
        The values by name. A value that is valid JSON is decoded. Any other value is a string.

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
            # A value that is not JSON is a string, so that "word=tea" needs no quotes.
            values[name] = value
        except (ValueError, RecursionError) as error:  # The value has thousands of digits or nested brackets.
            raise BadParameter(f"{name} is too long or too deep to be read", param_hint=hint) from error
    return values


def named_amounts(given: Iterable[str] | None, hint: str) -> dict[str, int]:
    """Parse ``NAME=N`` arguments whose values are positive integers.

    Args:
        given: The arguments that the user has typed; None if there are none.
        hint: The name of the option, for error messages.

    Returns:
        The numbers by name.

    Raises:
        BadParameter: An argument is malformed, or its value is not an integer of at least 1.
    """
    amounts = named_values(given, hint)
    for name, amount in amounts.items():
        # Exclude booleans, which are ints in Python, so that "tea=true" is refused.
        if not isinstance(amount, int) or isinstance(amount, bool) or amount < 1:
            raise BadParameter(f"{name}={amount}: a whole number from 1", param_hint=hint)
    return amounts


def without_none(**options: Any) -> dict[str, Any]:
    """Return only the options that the user has set.

    Args:
        **options: The options by name. The value of an option that was not set is None.

    Returns:
        The options that are not None.
    """
    return {name: value for name, value in options.items() if value is not None}

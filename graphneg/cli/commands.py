"""Convert functions into commands of the program, and their parameters into command line options.

A command is a function with keyword parameters. There are three ways to declare an option:

- a default value made with `option`: ``k: int = option(10, "Number of results to return.")``
- a type annotation made with `shared`, which several commands can use: ``seed: Seed = 0``
- a dataclass from `graphneg.cli.options`, each field of which becomes an option: ``where: StoreOptions``

The decorator `command` converts the function into a `Command`, which `group` adds to a Typer application. The
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
from graphneg.errors import FORBIDDEN, InputError
from graphneg.json_input import whole_number


def option(default: Any, help: str, metavar: str | None = None, *names: str, **settings: Any) -> Any:
    """Declare a parameter of a command as an option.

    Args:
        default: The default value of the option. ``...`` makes the option required.
        help: The help text of the option.
        metavar: Placeholder for the value in the help text, such as ``N``. For a path, the default
            placeholder is ``FILE``.
        *names: The names of the option, such as ``"--out", "-o"``. By default, the option is named after the
            parameter. A flag with such a default name has no negative form: there is ``--json``, but not
            ``--no-json``.
        **settings: Further arguments of ``typer.Option``, such as ``min``.

    Returns:
        The value to use as the default of the parameter.
    """
    return typer.Option(default, *names, metavar=metavar, help=help, **settings)


def argument(default: Any, help: str, metavar: str | None = None, **settings: Any) -> Any:
    """Declare a parameter of a command as a positional argument.

    Args:
        default: The default value of the argument. ``...`` makes the argument required.
        help: The help text of the argument.
        metavar: Placeholder for the value in the help text, such as ``FILE...``.
        **settings: Further arguments of ``typer.Argument``.

    Returns:
        The value to use as the default of the parameter.
    """
    return typer.Argument(default, metavar=metavar, help=help, **settings)


def completing(names: str | Sequence[str]) -> Callable[[str], list[str]]:
    """Return a shell completion function for the values of an option.

    Args:
        names: Either the possible values, or a string such as ``store.queries:named_queries`` that names a
            module of graphneg and a function in it. The function returns the possible values. The module is
            imported only when the shell asks for completions.

    Returns:
        A function that takes the characters typed so far and returns the values that begin with these
        characters.

    Example:
        >>> completing(["deam", "all"])("d")
        ['deam']
    """

    def completed(incomplete: str) -> list[str]:
        known: Iterable[str] = names
        # Import the module only when a shell asks for completions, so that commands do not start more slowly.
        if isinstance(names, str):
            module, _, function = names.partition(":")
            known = getattr(import_module(f"graphneg.{module}"), function)()
        return [name for name in known if name.startswith(incomplete)]

    return completed


def shared(help: str, metavar: str | None = None, *names: str, **settings: Any) -> Any:
    """Declare an option that several commands share.

    The result is used in a type annotation such as ``Seed = Annotated[int, shared("Random seed.")]``. A
    command declares the option and its default by a parameter such as ``seed: Seed = 0``.

    Args:
        help: The help text of the option.
        metavar: Placeholder for the value in the help text, such as ``N``.
        *names: The names of the option; see `option`.
        **settings: Further arguments of ``typer.Option``.

    Returns:
        The metadata to use in ``Annotated``.
    """
    return typer.Option(*names, metavar=metavar, help=help, **settings)


def panel(name: str) -> Callable[..., Any]:
    """Return a variant of `option` whose options are listed under a separate heading in the help.

    Args:
        name: The text of the heading, such as ``Decoder``.

    Returns:
        A function that is called like `option`.
    """
    return partial(option, rich_help_panel=name)


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the program, which `group` adds to a Typer application.

    Attributes:
        run: The function that Typer calls. Each of its parameters is one option or argument.
        help: The help text, with each paragraph on one line.
        examples: Command lines that are shown as examples at the end of the help text.
    """

    run: Callable[..., None]
    help: str
    examples: tuple[str, ...]


def command(*examples_of: str, input_status: int = 1) -> Callable[[Callable[..., None]], Command]:
    """Return a decorator that converts a function into a command of the same name.

    The function's docstring becomes the help text. If the docstring contains a form feed, the help text ends
    there. Sections for readers of the code, such as ``Raises:``, follow the form feed.

    Args:
        *examples_of: Command lines that are shown as examples at the end of the help text.
        input_status: The exit status if a file or an argument is invalid.

    Returns:
        The decorator.
    """

    def made(function: Callable[..., None]) -> Command:
        # Join the lines of each paragraph into one, because Typer wraps paragraphs to the terminal's width.
        paragraphs = cleandoc(function.__doc__ or "").partition("\f")[0].strip().split("\n\n")
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        return Command(with_expanded_options(function, input_status), text, examples_of)

    return made


training_command = partial(command, input_status=2)
"""Variant of `command` for commands that train or evaluate something. For these commands, invalid input data
count as incorrect usage, so that the exit status is 2 instead of 1."""


def examples(*commands: str) -> str:
    """Format example command lines for the end of a help text.

    Args:
        *commands: The example command lines.

    Returns:
        The heading "Examples" and one line per command line, with Rich markup.
    """
    return "\n".join(["[bold]Examples[/]", *(f"[dim]$[/] {line}" for line in commands)])


def group(
    name: str, text: str, commands: Sequence[Command], *examples_of: str, **settings: Any
) -> typer.Typer:
    """Return a Typer application with several commands.

    Args:
        name: The name of the group of commands, such as ``train``.
        text: The help text of the group.
        commands: The commands, in the order in which the help text lists them.
        *examples_of: Command lines that are shown as examples at the end of the help text. By default, the
            first example of each command is shown.
        **settings: Further arguments of ``typer.Typer``.

    Returns:
        The Typer application, to which all commands are added.
    """
    # Leave out Typer's options for installing shell completion: only the top-level program needs them.
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
    ``username``, ``password``, ``database`` and ``keep_warm``. Typer turns each of these parameters into an
    option. When the wrapper is called, it creates the dataclass objects and calls ``function`` with these
    objects. The wrapper also prints a message on Ctrl-C and sets the exit status of errors.

    Args:
        function: The function that implements the command. If a dataclass parameter has a default object, the
            options take their default values from this object, otherwise from the dataclass.
        input_status: The exit status if a file or an argument is invalid.

    Returns:
        The wrapper, which can be registered with Typer.
    """
    # Convert the annotations into types. They are strings because of `from __future__ import annotations`.
    hints = get_type_hints(function, include_extras=True)
    objects: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    @wraps(function)
    def run(**options: Any) -> None:
        # Typer passes each field of an options dataclass as a separate argument. Create the dataclasses.
        for name, kind in objects.items():
            options[name] = kind(**{field.name: options.pop(field.name) for field in fields(kind)})
        try:
            # After Ctrl-C, print "nothing was changed". This is true only for commands that only read. All
            # other commands call `advise_on_interrupt` themselves, and their own message is printed instead.
            with advise_on_interrupt("nothing was changed"), raise_on_interrupt():
                function(**options)
        except InputError as error:
            # Keep the status 2 (incorrect usage) if the error already has this status.
            error.status = max(error.status, input_status)
            raise
        except OSError as error:
            # Report an OSError with a file name, such as a missing permission, as a message. An OSError
            # without a file name is usually a bug, so show its traceback. But report a full disk as a
            # message, too, because the user can free space.
            if error.filename is None and error.errno != ENOSPC:
                raise
            at = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
            # Some error messages already say what to do, such as the message about the cache folder. Add
            # advice only to plain messages of the operating system.
            is_plain = error.errno in FORBIDDEN and error.strerror == os.strerror(error.errno)
            advice = "; change its permissions, or name another place" if is_plain else ""
            failure = InputError(f"{at}{error.strerror}{advice}")
            failure.status = input_status
            raise failure from error

    parameters: list[Parameter] = []
    for name, parameter in signature(function).parameters.items():
        # Keep a parameter that is a single option. Replace a dataclass parameter by one parameter for each
        # field.
        if name not in objects:
            parameters.append(_typer_parameter(name, parameter.default, hints[name]))
            continue
        types = get_type_hints(objects[name], include_extras=True)
        defaults = objects[name]() if parameter.default is Parameter.empty else parameter.default
        for field in fields(objects[name]):
            parameters.append(_typer_parameter(field.name, getattr(defaults, field.name), types[field.name]))
    # Typer reads the options from `__signature__`. Use setattr, because a type checker does not accept
    # ``run.__signature__ = ...``.
    setattr(run, "__signature__", Signature(parameters))  # noqa: B010
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _typer_parameter(name: str, default: Any, hint: Any) -> Parameter:
    """Convert a parameter of a command for Typer. The help text shows FILE as the value of a path option."""
    # If an option was declared with `shared`, its metadata are in `Annotated`. If it was declared with
    # `option`, its metadata are the default value of the parameter.
    kind, *metadata = get_args(hint) if get_origin(hint) is Annotated else (hint, default)
    for info in metadata:
        if isinstance(info, OptionInfo):
            # Without a name, Typer would add a negative form to a flag, such as --no-json. So set the name.
            if kind is bool and not info.param_decls:
                info.param_decls = (f"--{name.replace('_', '-')}",)
            if info.metavar is None and Path.__name__ in str(kind):
                info.metavar = "FILE"
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def named_values(arguments: Iterable[str] | None, hint: str) -> dict[str, Any]:
    """Parse ``NAME=VALUE`` arguments.

    Args:
        arguments: The arguments that the user has typed; None without arguments.
        hint: The name of the option that takes these arguments, for error messages.

    Returns:
        The values, keyed by name. A value that is valid JSON is decoded. Any other value is a string.

    Raises:
        BadParameter: An argument has no name or no ``=``, or its value is too long or too deeply nested.

    Example:
        >>> named_values(["most=3", "word=tea"], "--option")
        {'most': 3, 'word': 'tea'}
    """
    values: dict[str, Any] = {}
    for text in arguments or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise BadParameter(f"{text!r}: expected NAME=VALUE", param_hint=hint)
        try:
            values[name] = loads(value)
        except JSONDecodeError:
            # A value that is not JSON is a string, so that the user can write word=tea instead of
            # word='"tea"'.
            values[name] = value
        except (ValueError, RecursionError) as error:
            # JSON with thousands of digits in a number, or with deep nesting, cannot be parsed.
            raise BadParameter(
                f"{name} has a value that is too long or too deeply nested", param_hint=hint
            ) from error
    return values


def named_counts(arguments: Iterable[str] | None, hint: str) -> dict[str, int]:
    """Parse ``NAME=N`` arguments whose values are positive integers.

    Args:
        arguments: The arguments that the user has typed; None without arguments.
        hint: The name of the option that takes these arguments, for error messages.

    Returns:
        The numbers, keyed by name.

    Raises:
        BadParameter: An argument is malformed, or its value is not an integer of at least 1.
    """
    amounts = named_values(arguments, hint)
    for name, amount in amounts.items():
        # Refuse "tea=true" as well: its value is a boolean, and booleans are integers in Python.
        if whole_number(amount, least=1) is None:
            raise BadParameter(f"{name}={amount}: must be a whole number of at least 1", param_hint=hint)
    return amounts


def without_none(**options: Any) -> dict[str, Any]:
    """Return only the options that the user has set.

    Args:
        **options: The values of the options; None for an option that was not set.

    Returns:
        The options whose value is not None, keyed by name.
    """
    return {name: value for name, value in options.items() if value is not None}

"""How a function becomes a command, and its parameters options.

In: a function whose parameters are options: single ones (``k: int = option(10, "So many of the best.")``),
shared ones (``seed: Seed = 0``) or whole objects of `graphneg.cli.options` (``where: StoreOptions``). Out: a
`Command` of its name, in which an object stands as an option for each field; its help is the docstring.
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
    """A parameter that is an option; ``...`` for the default makes it a required one.

    Where there are no ``names`` it is called as the parameter, and a flag has no opposite (``--no-json``). A
    path is a ``FILE`` where no ``metavar`` says something else.
    """
    return typer.Option(default, *names, metavar=metavar, help=help, **settings)


def argument(default: Any, help: str, metavar: str | None = None, **settings: Any) -> Any:
    """A parameter that stands without a name; ``...`` for the default makes it a required one."""
    return typer.Argument(default, metavar=metavar, help=help, **settings)


def completing(names: str | Sequence[str]) -> Callable[[str], list[str]]:
    """What a shell completes a value to: names, or those that a ``module:function`` of graphneg gives when it
    is asked."""

    def completed(incomplete: str) -> list[str]:
        known: Iterable[str] = names
        if isinstance(names, str):
            module, _, function = names.partition(":")
            known = getattr(import_module(f"graphneg.{module}"), function)()
        return [name for name in known if name.startswith(incomplete)]

    return completed


def shared(help: str, metavar: str | None = None, *names: str, **settings: Any) -> Any:
    """An option of several commands, as `option` but without a default: ``Annotated[int, shared("...")]``."""
    return typer.Option(*names, metavar=metavar, help=help, **settings)


def panel(name: str) -> Callable[..., Any]:
    """`option` for those that stand in the help under a heading of their own."""
    return partial(option, rich_help_panel=name)


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what it runs, and the help of it."""

    run: Callable[..., None]
    help: str
    examples: tuple[str, ...]


def command(*examples_of: str, input_status: int = 1) -> Callable[[Callable[..., None]], Command]:
    """Make a function a command of its name; its docstring and these examples are the help.

    It ends with ``input_status`` where a file or an argument is not what it should be.
    """

    def made(function: Callable[..., None]) -> Command:
        paragraphs = cleandoc(function.__doc__ or "").split("\n\n")
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        return Command(expanded(function, input_status), text, examples_of)

    return made


job = partial(command, input_status=2)
"""As `command`, for training and evaluation: data that they can't use are wrong usage."""


def examples(*commands: str) -> str:
    """Commands as the end of a help text, one a line."""
    return "\n".join(["[bold]Examples[/]", *(f"[dim]$[/] {line}" for line in commands)])


def group(
    name: str, text: str, commands: Sequence[Command], *examples_of: str, **settings: Any
) -> typer.Typer:
    """Commands under one name; ``settings`` are those of Typer. Its examples are the first of each command,
    where none are given."""
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
    """The function with each object of options as a parameter for each of its fields.

    Their defaults are those of the object that is the default, or of the class.
    """
    hints = get_type_hints(function, include_extras=True)
    objects: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    @wraps(function)
    def run(**options: Any) -> None:
        for name, kind in objects.items():
            options[name] = kind(**{field.name: options.pop(field.name) for field in fields(kind)})
        try:
            with stopping("nothing was changed"):  # where it is stopped before it does what it says itself
                function(**options)
        except InputError as error:
            error.status = max(error.status, input_status)
            raise
        except OSError as error:  # a path that can't be searched, say, which no code looked out for
            if error.filename is None and error.errno != ENOSPC:
                raise
            at = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
            failure = InputError(f"{at}{error.strerror}")
            failure.status = input_status
            raise failure from error

    parameters: list[Parameter] = []
    for name, parameter in signature(function).parameters.items():
        if name not in objects:
            parameters.append(_parameter(name, parameter.default, hints[name]))
            continue
        types = get_type_hints(objects[name], include_extras=True)
        defaults = objects[name]() if parameter.default is Parameter.empty else parameter.default
        for field in fields(objects[name]):
            parameters.append(_parameter(field.name, getattr(defaults, field.name), types[field.name]))
    setattr(run, "__signature__", Signature(parameters))  # noqa: B010
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameter(name: str, default: Any, hint: Any) -> Parameter:
    """A parameter as Typer reads it, with what `option` leaves to its name and its type."""
    kind, *metadata = get_args(hint) if get_origin(hint) is Annotated else (hint, default)
    for info in metadata:
        if isinstance(info, OptionInfo):
            if kind is bool and not info.param_decls:
                info.param_decls = (f"--{name.replace('_', '-')}",)
            if info.metavar is None and Path.__name__ in str(kind):
                info.metavar = "FILE"
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def named_values(given: Iterable[str] | None, hint: str) -> dict[str, Any]:
    """Values by name, each JSON or else text; ``hint`` is the option that a complaint names.

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
            values[name] = value
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, a thousand brackets
            raise BadParameter(f"{name} is too long or too deep to be read", param_hint=hint) from error
    return values


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

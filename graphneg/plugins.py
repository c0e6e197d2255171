"""Find plugins by name: decoders, parsers, loaders and other components that are registered as entry points.

Both graphneg and other installed packages can register plugins. `Plugins.find` loads the plugin with the name
that the user gave. An unknown name raises an error that lists the known names:

>>> from graphneg.errors import DecoderError
>>> Plugins("decoder", "graphneg.decoders", DecoderError).find("t6")
Traceback (most recent call last):
graphneg.errors.DecoderError: no decoder named 't6'; choose one of rescored, surface, t5
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from errno import ENOSPC
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from inspect import Parameter, signature
from typing import Any

from graphneg.errors import GraphnegError, first_line

TRACEBACK = "GRAPHNEG_TRACEBACK"
"""Environment variable. If it is set, the program prints the traceback of an error before its message."""


@contextmanager
def plugin_errors(
    kind: str, name: str, plugin: object, error: type[GraphnegError], place: str = ""
) -> Generator[None]:
    """Convert an unexpected exception of another package's plugin into an error that names the plugin.

    The original exception is the ``__cause__`` of the error. Some exceptions are re-raised unchanged:
    exceptions that graphneg defines, file and memory errors, and any exception of a plugin that is part of
    graphneg, which is a bug in graphneg.

    Args:
        kind: Kind of the plugin, such as ``loader``.
        name: Name of the plugin.
        plugin: The plugin: an object, a class or a function.
        error: Class of the error to raise.
        place: Position in a file that the plugin was reading, such as ``notes.txt:1``, if it is known.

    Yields:
        Nothing. The code that calls the plugin runs in the ``with`` statement.
    """
    try:
        yield
    except Exception as fault:
        is_of_files = isinstance(fault, OSError) and (fault.filename is not None or fault.errno == ENOSPC)
        is_of_memory = isinstance(fault, MemoryError)
        if is_of_files or is_of_memory or _belongs_to_graphneg(type(fault)) or _belongs_to_graphneg(plugin):
            raise
        at = f" at {place}" if place else ""
        what = type(fault).__name__ + (f": {first_line(fault)}" if str(fault).strip() else "")
        failure = error(
            f"{kind} {name} failed{at}: {what} (set {TRACEBACK}=1 to see where in {_module(plugin)})"
        )
        failure.is_plugin_failure = True
        raise failure from fault


def require_object(kind: str, value: object, methods: Sequence[str], error: type[GraphnegError]) -> None:
    """Raise an error if an argument is a class instead of an object, or lacks a method or attribute.

    Args:
        kind: Kind of the component, such as ``loader``.
        value: The argument to check.
        methods: Names of the required methods and attributes. A method is given with its parameters, as in
            ``decode(batch)``.
        error: Class of the error to raise.
    """
    if isinstance(value, type):
        raise error(f"{value.__name__} is a class; pass an object: {value.__name__}()")
    for method in methods:
        if not hasattr(value, method.partition("(")[0]):
            raise error(f"{type(value).__name__} is not a {kind}: it has no {method}; see docs/extending.md")


@dataclass(frozen=True, slots=True)
class Plugins:
    """The registered plugins of one kind, for example all decoders.

    Names are compared without regard to case, and hyphens are equivalent to underscores. A plugin from
    another package replaces graphneg's own plugin with the same name.

    Attributes:
        kind: Kind of the plugins, for error messages, such as ``decoder``.
        group: Entry point group in which the plugins are registered.
        error: Class of the errors that are raised if a name is unknown, a plugin cannot be imported, or an
            option is not accepted.
    """

    kind: str
    group: str
    error: type[GraphnegError]

    def names(self) -> list[str]:
        """Return the names of the installed plugins, for example of all decoders, in alphabetical order."""
        return sorted({entry.name for entry in self._entry_points().values()})

    def find(self, name: str) -> Callable[..., Any]:
        """Load the plugin with the given name.

        Args:
            name: Name of the plugin.

        Returns:
            The class or function that creates the component, such as the class of a decoder.
        """
        entries = self._entry_points()
        if not entries:
            raise self.error(
                f"no {self.kind} is registered: graphneg's package metadata are missing; "
                "install it (pip install graphneg, or pip install -e . in a copy of its source)"
            )
        entry = entries.get(_normalized_name(name))
        if entry is None:
            raise self.error(f"no {self.kind} named {name!r}; choose one of {', '.join(self.names())}")
        # graphneg's optional dependencies belong to its own plugins, so only those get the advice to install
        # them.
        is_own = entry.value.startswith("graphneg.")
        advice = "; install its packages (pip install 'graphneg[neural]')" if is_own else ""
        try:
            found = entry.load()
        except (ImportError, AttributeError) as error:
            raise self.error(
                f"{self.kind} {entry.name} ({entry.value}) can't be imported: {first_line(error)}{advice}"
            ) from error
        except Exception as error:
            # A module of another package may raise any exception while it is imported.
            if is_own:
                raise
            raise self.error(
                f"{self.kind} {entry.name} ({entry.value}) can't be imported: "
                f"{type(error).__name__}: {first_line(error)} (set {TRACEBACK}=1 to see where)"
            ) from error
        own_name = getattr(found, "name", None)
        # A record contains the `name` of the class, by which it must be possible to find the plugin again. So
        # refuse a plugin that is registered under a different name.
        is_named = isinstance(found, type) and isinstance(own_name, str)
        if is_named and _normalized_name(str(own_name)) != _normalized_name(entry.name):
            raise self.error(
                f"{self.kind} {entry.name} ({entry.value}) has the name {own_name!r}; "
                "use the same name for the entry point and in the class"
            )
        return found

    def make(self, name: str, options: Mapping[str, Any], *given: Any) -> Any:
        """Load the plugin with the given name, and create its component, such as a decoder.

        Args:
            name: Name of the plugin.
            options: Keyword arguments for the class or function, as given by the user.
            *given: Positional arguments that all plugins of this kind take.

        Returns:
            The new component, such as a decoder object.
        """
        found = self.find(name)
        factory = partial(found, *given)
        try:
            accepted = signature(factory).parameters
        except (TypeError, ValueError) as error:
            # The plugin accepts fewer positional arguments than graphneg passes to it.
            raise self.error(
                f"{self.kind} {name} can't be made: {getattr(found, '__name__', found)} must take "
                f"{len(given)} positional argument{'s' * (len(given) != 1)}; see docs/extending.md"
            ) from error
        # Check the names of the options before the call, so that the message about a wrong name is clear.
        unknown = [option for option in options if option not in accepted]
        if unknown and Parameter.VAR_KEYWORD not in (parameter.kind for parameter in accepted.values()):
            raise self.error(
                f"{self.kind} {name} takes no option {' or '.join(map(repr, unknown))}; "
                f"it takes {', '.join(accepted) or 'none'}"
            )
        with plugin_errors(self.kind, name, found, self.error):
            try:
                return factory(**options)
            except TypeError as error:
                with_options = f" with options {sorted(options)}" if options else ""
                raise self.error(
                    f"{self.kind} {name} can't be made{with_options}: {error}; see docs/extending.md"
                ) from error

    def _entry_points(self) -> dict[str, EntryPoint]:
        # Put the entry points of other packages last, so that they replace graphneg's own entry points with
        # the same names.
        entries = sorted(
            entry_points(group=self.group), key=lambda entry: not entry.value.startswith("graphneg.")
        )
        return {_normalized_name(entry.name): entry for entry in entries}


def _belongs_to_graphneg(part: object) -> bool:
    return _module(part).startswith("graphneg.")


def _module(part: object) -> str:
    # A plugin may be a module, which has a `__name__` but no `__module__`.
    return str(getattr(part, "__module__", None) or getattr(part, "__name__", ""))


def _normalized_name(name: str) -> str:
    return name.strip().lower().replace("-", "_")

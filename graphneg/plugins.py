"""Parts that are found by name: those that ship with graphneg, and entry points of other packages."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from inspect import Parameter, signature
from typing import Any

from graphneg.errors import GraphnegError


@dataclass(frozen=True, slots=True)
class Plugins:
    """The parts of one kind (``decoder``): where they are, and the error that says they can't be had.

    ``built_in`` maps names to ``module:class``; ``group`` is the entry points' group. An entry
    point goes before a built-in part of the same name.
    """

    kind: str
    group: str
    built_in: Mapping[str, str]
    error: type[GraphnegError]

    def names(self) -> list[str]:
        """The names of all that are installed, in alphabetical order."""
        return sorted({*self.built_in, *(entry.name for entry in entry_points(group=self.group))})

    def make(self, name: str, options: Mapping[str, Any], *given: Any) -> Any:
        """The part of that name, made with what all parts are ``given`` and the options it takes.

        Raises:
            GraphnegError: (its own kind) there is none of the name, it does not take these
                options, or it can't be imported.
        """
        factory = partial(self.find(name), *given)
        taken = signature(factory).parameters
        strange = [option for option in options if option not in taken]
        if strange and Parameter.VAR_KEYWORD not in (one.kind for one in taken.values()):
            raise self.error(
                f"{self.kind} {name} takes no option {' or '.join(map(repr, strange))}; "
                f"it takes {', '.join(taken) or 'none'}"
            )
        try:
            return factory(**options)
        except TypeError as error:
            raise self.error(
                f"{self.kind} {name} can't be made with options {sorted(options)}: {error}"
            ) from error

    def find(self, name: str) -> Callable[..., Any]:
        """What makes the part of that name: mostly its class.

        Raises:
            GraphnegError: (its own kind) there is none of the name, or it can't be imported.
        """
        for entry in entry_points(group=self.group):
            if entry.name == name:
                return self._loaded(name, entry.load)
        target = self.built_in.get(name)
        if target is None:
            raise self.error(f"no {self.kind} named {name!r}; choose one of {', '.join(self.names())}")
        module, _, attribute = target.partition(":")
        return self._loaded(name, lambda: getattr(importlib.import_module(module), attribute))

    def _loaded(self, name: str, load: Callable[[], Any]) -> Callable[..., Any]:
        try:
            return load()
        except ImportError as error:
            raise self.error(
                f"{self.kind} {name} can't be imported: {error}; "
                "install its packages (pip install 'graphneg[neural]')"
            ) from error

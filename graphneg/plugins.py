"""Parts that are found by name: entry points of graphneg's own package and of any other that is installed.

In: a name that a user gave. Out: what the entry point of that name loads, or an error that lists the names:

>>> from graphneg.errors import DecoderError
>>> Plugins("decoder", "graphneg.decoders", DecoderError).find("t6")
Traceback (most recent call last):
graphneg.errors.DecoderError: no decoder named 't6'; choose one of rescored, surface, t5
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from inspect import Parameter, signature
from typing import Any

from graphneg.errors import GraphnegError


@dataclass(frozen=True, slots=True)
class Plugins:
    """The parts of one ``kind`` (``decoder``), the ``group`` of their entry points, and their error.

    In names hyphens and underscores are the same, and so are capital and small letters. Of two parts of
    one name the other package's goes before graphneg's own.
    """

    kind: str
    group: str
    error: type[GraphnegError]

    def names(self) -> list[str]:
        """The names of all that are installed, in alphabetical order."""
        return sorted({entry.name for entry in self._entries().values()})

    def find(self, name: str) -> Callable[..., Any]:
        """What makes the part of that name: mostly its class.

        Raises `GraphnegError`: (its own kind) there is none of the name, or it can't be imported.
        """
        entries = self._entries()
        if not entries:
            raise self.error(
                f"no {self.kind} is registered: graphneg's package metadata are missing; "
                "install it (pip install graphneg, or pip install -e . in a copy of its source)"
            )
        entry = entries.get(_normal(name))
        if entry is None:
            raise self.error(f"no {self.kind} named {name!r}; choose one of {', '.join(self.names())}")
        try:
            return entry.load()
        except (ImportError, AttributeError) as error:
            raise self.error(
                f"{self.kind} {entry.name} ({entry.value}) can't be imported: {error}; "
                "install its packages (pip install 'graphneg[neural]')"
            ) from error

    def make(self, name: str, options: Mapping[str, Any], *given: Any) -> Any:
        """The part of that name, made with what all parts are ``given`` and the options it takes.

        Raises `GraphnegError`: (its own kind) there is none of the name, it does not take these options, or
        it can't be imported.
        """
        factory = partial(self.find(name), *given)
        taken = signature(factory).parameters
        unknown = [option for option in options if option not in taken]
        if unknown and Parameter.VAR_KEYWORD not in (parameter.kind for parameter in taken.values()):
            raise self.error(
                f"{self.kind} {name} takes no option {' or '.join(map(repr, unknown))}; "
                f"it takes {', '.join(taken) or 'none'}"
            )
        try:
            return factory(**options)
        except TypeError as error:
            raise self.error(
                f"{self.kind} {name} can't be made with options {sorted(options)}: {error}"
            ) from error

    def _entries(self) -> dict[str, EntryPoint]:
        entries = sorted(
            entry_points(group=self.group), key=lambda entry: not entry.value.startswith("graphneg.")
        )
        return {_normal(entry.name): entry for entry in entries}


def _normal(name: str) -> str:
    return name.strip().lower().replace("-", "_")

"""Find parts by name: entry points of graphneg and of other installed packages.

A name that a user gives goes in. The object that the entry point loads comes out, or an error that lists the
names:

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
    """The parts of one kind.

    Names are compared without regard to case, and hyphens equal underscores. A part of another package
    replaces one of graphneg's own with the same name.

    Attributes:
        kind: Kind of the parts, for messages, such as ``decoder``.
        group: Group of their entry points.
        error: Class of the errors to raise: for an unknown name, a part that cannot be imported, and options
            that it does not take.
    """

    kind: str
    group: str
    error: type[GraphnegError]

    def names(self) -> list[str]:
        """Return the names of all installed parts, in alphabetical order."""
        return sorted({entry.name for entry in self._entries().values()})

    def find(self, name: str) -> Callable[..., Any]:
        """Return what an entry point loads, which is usually a class.

        Args:
            name: Name of the part.

        Returns:
            A function or class that makes the part.
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
        """Make a part.

        Args:
            name: Name of the part.
            options: Options that the part takes as keyword arguments.
            *given: Positional arguments that all parts of the kind take.

        Returns:
            The part.
        """
        factory = partial(self.find(name), *given)
        taken = signature(factory).parameters
        # Checked before the call, so that a typo does not look like an error of the part.
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
        """Return the entry points by normalised name. Those of other packages come last and win."""
        # A later entry of the same name replaces an earlier one.
        entries = sorted(
            entry_points(group=self.group), key=lambda entry: not entry.value.startswith("graphneg.")
        )
        return {_normal(entry.name): entry for entry in entries}


def _normal(name: str) -> str:
    """Return a name in lower case with underscores."""
    return name.strip().lower().replace("-", "_")

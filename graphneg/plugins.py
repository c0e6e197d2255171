"""Find plugins by name: decoders, parsers, loaders and other parts that packages register as entry points.

Both graphneg and other installed packages can register parts. A name that the user gives is resolved to the
object that the entry point loads. An unknown name raises an error that lists the known names:

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
    """The registered parts of one kind, for example all decoders.

    Names are compared without regard to case, and hyphens are equivalent to underscores. A part from another
    package replaces graphneg's own part with the same name.

    Attributes:
        kind: Kind of the parts, for error messages, such as ``decoder``.
        group: Entry point group in which the parts are registered.
        error: Class of the errors that are raised if a name is unknown, a part cannot be imported, or an
            option is not accepted.
    """

    kind: str
    group: str
    error: type[GraphnegError]

    def names(self) -> list[str]:
        """Return the names of all installed parts, in alphabetical order."""
        return sorted({entry.name for entry in self._entries().values()})

    def find(self, name: str) -> Callable[..., Any]:
        """Load the part of a name. It is usually a class.

        Args:
            name: Name of the part.

        Returns:
            A function or class that creates the part.
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
        """Create a part.

        Args:
            name: Name of the part.
            options: Keyword arguments for the part, as given by the user.
            *given: Positional arguments that all parts of this kind take.

        Returns:
            The new part.
        """
        factory = partial(self.find(name), *given)
        taken = signature(factory).parameters
        # The options are checked before the call. Otherwise a typo would look like an error inside the part.
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
        """Return the entry points by normalised name. Those from other packages override graphneg's own."""
        # Entry points of other packages are sorted to the end: in a dict, later entries replace earlier ones.
        entries = sorted(
            entry_points(group=self.group), key=lambda entry: not entry.value.startswith("graphneg.")
        )
        return {_normal(entry.name): entry for entry in entries}


def _normal(name: str) -> str:
    """Return a name in lower case with underscores."""
    return name.strip().lower().replace("-", "_")

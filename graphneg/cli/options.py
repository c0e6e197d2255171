"""Values that are given by name on the command line: ``NAME=VALUE``, JSON or else text."""

from __future__ import annotations

from collections.abc import Iterable
from json import JSONDecodeError, loads
from typing import Any

import typer


def named_values(given: Iterable[str], hint: str) -> dict[str, Any]:
    """The values by name; ``hint`` is the option that a complaint names.

    >>> named_values(["most=3", "word=tea"], "--option")
    {'most': 3, 'word': 'tea'}
    """
    return dict(_named(one, hint) for one in given)


def _named(given: str, hint: str) -> tuple[str, Any]:
    name, equals, value = given.partition("=")
    if not name or not equals:
        raise typer.BadParameter(f"{given!r}: write NAME=VALUE", param_hint=hint)
    try:
        return name, loads(value)
    except JSONDecodeError:
        return name, value

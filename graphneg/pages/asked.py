"""Values of addresses and forms, checked before they are used.

An address can hold anything: ``?start=nan``, a number of 26 digits, a name of no file. Each function here
returns a value that the views can use, or raises an error that the visitor reads in one line::

    whole({"start": "50"}, "start", 0, least=0)         # 50
    whole({"start": "1e300"}, "start", 0, least=0)      # start: '1e300' is not a whole number from 0
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

from starlette.exceptions import HTTPException

from graphneg.errors import InputError

LONGEST = 40
"""Letters of a wrong value that a message repeats."""
MOST_DIGITS = 9
"""Digits of a whole number: it fits into 32 bits, so into every database."""


def whole(given: Mapping[str, str], name: str, default: int, *, least: int = 1) -> int:
    """Return a whole number of an address.

    Args:
        given: The values by name.
        name: The name of the number.
        default: The number where it is missing or empty.
        least: The smallest number that is allowed.

    Raises:
        InputError: It is not a whole number from ``least`` to 999,999,999.
    """
    text = given.get(name, "") or str(default)
    found = _digits(text)
    if found is None or found < least:
        raise InputError(f"{name}: {_short(text)} is not a whole number from {least}")
    return found


def number(given: Mapping[str, str], name: str) -> float | None:
    """Return a number of an address; None where it is missing or empty.

    Raises:
        InputError: It is not a finite number.
    """
    text = given.get(name, "").strip()
    if not text:
        return None
    try:
        found = float(text)
    except ValueError:
        found = float("nan")
    if not isfinite(found):
        raise InputError(f"{name}: {_short(text)} is no number")
    return found


def one_of(given: Mapping[str, str], name: str, known: Iterable[str], default: str = "") -> str:
    """Return a value that is one of some known ones; the default where it is missing or empty.

    Raises:
        InputError: It is none of them.
    """
    value, known = given.get(name, "") or default, list(known)
    if value != default and value not in known:
        raise InputError(
            f"{name}: {_short(value)} is none of {', '.join(map(_short, known)) or 'them: none'}"
        )
    return value


def path_number(text: str, what: str) -> int:
    """Return a whole number of an address's path.

    Raises:
        HTTPException: It is none, so that nothing has this address (404).
    """
    found = _digits(text)
    if found is None:
        raise HTTPException(404, f"there is no {what} {_short(text)}")
    return found


def _digits(text: str) -> int | None:
    is_whole = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    return int(text) if is_whole else None


def _short(text: str) -> str:
    return repr(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")

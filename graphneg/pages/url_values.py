"""Parse and check values in URLs and forms.

The values can be anything: ``?start=nan``, a number of 26 digits, the name of a file that does not exist.
Each function returns a valid value, or raises an error whose message is shown to the visitor on one line.

Example::

    integer_value({"start": "50"}, "start", 0, least=0)         # 50
    integer_value({"start": "1e300"}, "start", 0, least=0)      # start: '1e300' is not a whole number from 0
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

from starlette.exceptions import HTTPException

from graphneg.errors import InputError

LONGEST = 40
"""Maximum number of characters that an error message quotes from an invalid value."""
MOST_DIGITS = 9
"""Maximum number of digits of an integer, so that it fits into the 32-bit integers of any database."""


def integer_value(given: Mapping[str, str], name: str, default: int, *, least: int = 1) -> int:
    """Return an integer from the values of a URL or form.

    Args:
        given: The values by name.
        name: The name of the value.
        default: The integer to return if the value is missing or empty.
        least: The smallest integer that is allowed.

    Returns:
        The integer.

    Raises:
        InputError: The value is not an integer from ``least`` to 999,999,999.
    """
    # Treat an empty value as missing, because a form sends an empty string for an empty field.
    text = given.get(name, "") or str(default)
    found = _digits(text)
    if found is None or found < least:
        raise InputError(f"{name}: {_short(text)} is not a whole number from {least}")
    return found


def number(given: Mapping[str, str], name: str) -> float | None:
    """Return a number from the values of a URL or form.

    Args:
        given: The values by name.
        name: The name of the value.

    Returns:
        The number; None if the value is missing or empty.

    Raises:
        InputError: The value is not a finite number.
    """
    text = given.get(name, "").strip()
    if not text:
        return None
    try:
        found = float(text)
    except ValueError:
        found = float("nan")
    # Refuse "nan" and "inf", which `float` accepts.
    if not isfinite(found):
        raise InputError(f"{name}: {_short(text)} is not a number")
    return found


def choice_value(given: Mapping[str, str], name: str, known: Iterable[str], default: str = "") -> str:
    """Return a value that must be one of several allowed values.

    Args:
        given: The values of a URL or form by name.
        name: The name of the value.
        known: The allowed values.
        default: The value to return if the value is missing or empty.

    Returns:
        The value.

    Raises:
        InputError: The value is not allowed.
    """
    value, known = given.get(name, "") or default, list(known)
    if value != default and value not in known:
        raise InputError(
            f"{name}: {_short(value)} is none of {', '.join(map(_short, known)) or 'them: none'}"
        )
    return value


def path_number(text: str, what: str) -> int:
    """Return an integer from the path of a URL.

    Args:
        text: The part of the path that should be an integer.
        what: Name of the things that are numbered, for the error message, such as "file".

    Returns:
        The integer.

    Raises:
        HTTPException: The text is not an integer, so the URL does not exist (404).
    """
    found = _digits(text)
    if found is None:
        raise HTTPException(404, f"there is no {what} {_short(text)}")
    return found


def _digits(text: str) -> int | None:
    # Require ASCII, because `isdigit` also accepts superscripts and digits of other scripts, which `int` may
    # refuse.
    is_whole = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    return int(text) if is_whole else None


def _short(text: str) -> str:
    return repr(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")

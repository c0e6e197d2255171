"""Parse and check values of URLs and forms.

A URL can contain anything: ``?start=nan``, a number of 26 digits, the name of a file that does not exist.
Each function returns a value that the views can use, or raises an error that is shown to the visitor as one
line.

Example::

    whole({"start": "50"}, "start", 0, least=0)         # 50
    whole({"start": "1e300"}, "start", 0, least=0)      # start: '1e300' is not a whole number from 0
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

from starlette.exceptions import HTTPException

from graphneg.errors import InputError

LONGEST = 40
"""Number of characters of an invalid value that an error message repeats."""
MOST_DIGITS = 9
"""Maximum number of digits of an integer, so that it fits into 32 bits and into every database."""


def whole(given: Mapping[str, str], name: str, default: int, *, least: int = 1) -> int:
    """Return an integer from a URL.

    Args:
        given: The values by name.
        name: The name of the integer.
        default: The value to return if it is missing or empty.
        least: The smallest value that is allowed.

    Returns:
        The integer.

    Raises:
        InputError: The value is not an integer from ``least`` to 999,999,999.
    """
    # A form sends an empty text for a field that was left empty.
    text = given.get(name, "") or str(default)
    found = _digits(text)
    if found is None or found < least:
        raise InputError(f"{name}: {_short(text)} is not a whole number from {least}")
    return found


def number(given: Mapping[str, str], name: str) -> float | None:
    """Return a number from a URL.

    Args:
        given: The values by name.
        name: The name of the number.

    Returns:
        The number, or None if it is missing or empty.

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
    # `float` accepts "nan" and "inf".
    if not isfinite(found):
        raise InputError(f"{name}: {_short(text)} is not a number")
    return found


def one_of(given: Mapping[str, str], name: str, known: Iterable[str], default: str = "") -> str:
    """Return a value from a URL that must be one of several known values.

    Args:
        given: The values by name.
        name: The name of the value.
        known: The values that are allowed.
        default: The value to return if it is missing or empty.

    Returns:
        The value.

    Raises:
        InputError: The value is not known.
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
        text: The part of the path.
        what: What the number identifies, for the error message.

    Returns:
        The integer.

    Raises:
        HTTPException: The text is not an integer, so that nothing has this URL (404).
    """
    found = _digits(text)
    if found is None:
        raise HTTPException(404, f"there is no {what} {_short(text)}")
    return found


def _digits(text: str) -> int | None:
    # `isdigit` also accepts digits of other scripts and superscripts, which `int` may refuse.
    is_whole = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    return int(text) if is_whole else None


def _short(text: str) -> str:
    return repr(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")

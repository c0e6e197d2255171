"""Parse and check values in URLs and forms.

A visitor can write anything into a URL: ``?start=nan``, a number of 26 digits, or the name of a file that
does not exist. Each function returns a valid value, or raises an error with a one-line message for the
visitor.

Example::

    integer_value({"start": "50"}, "start", 0, least=0)    # 50
    integer_value({"start": "1e30"}, "start", 0, least=0)  # start: '1e30' is not a whole number of at least 0
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

from starlette.exceptions import HTTPException

from graphneg.errors import InputError

LONGEST = 40
"""Maximum length of an invalid value in an error message. Longer values are truncated."""
MOST_DIGITS = 9
"""Maximum number of digits of an integer. Any integer of this length fits into 32 bits, so every database can
store it."""


def integer_value(fields: Mapping[str, str], name: str, default: int, *, minimum: int = 1) -> int:
    """Return an integer from the parameters of a URL or the fields of a form.

    Args:
        fields: A dictionary from the names of the parameters or fields to their values.
        name: The name of the parameter or field.
        default: The integer to return if the value is missing or empty.
        minimum: The smallest integer that is allowed.

    Returns:
        The integer.

    Raises:
        InputError: The value is not an integer from ``minimum`` to 999,999,999.
    """
    # An empty value counts as missing, because a form sends an empty string for an empty field.
    text = fields.get(name, "") or str(default)
    found = _digits(text)
    if found is None or found < minimum:
        raise InputError(f"{name}: {_short(text)} is not a whole number of at least {minimum}")
    return found


def number(fields: Mapping[str, str], name: str) -> float | None:
    """Return a number from the parameters of a URL or the fields of a form.

    Args:
        fields: A dictionary from the names of the parameters or fields to their values.
        name: The name of the parameter or field.

    Returns:
        The number; None if the value is missing or empty.

    Raises:
        InputError: The value is not a finite number.
    """
    text = fields.get(name, "").strip()
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


def choice_value(fields: Mapping[str, str], name: str, choices: Iterable[str], default: str = "") -> str:
    """Return a value from the parameters of a URL or the fields of a form, if it is an allowed value.

    Args:
        fields: A dictionary from the names of the parameters or fields to their values.
        name: The name of the parameter or field.
        choices: The allowed values.
        default: The value to return if the value is missing or empty.

    Returns:
        The value.

    Raises:
        InputError: The value is not allowed.
    """
    value, choices = fields.get(name, "") or default, list(choices)
    if value != default and value not in choices:
        raise InputError(
            f"{name}: unknown value {_short(value)}; available: {', '.join(map(_short, choices)) or 'none'}"
        )
    return value


def path_number(text: str, what: str) -> int:
    """Return an integer from the path of a URL.

    Args:
        text: The part of the path that should be an integer.
        what: What the number identifies, such as "file", for the error message.

    Returns:
        The integer.

    Raises:
        HTTPException: The text is not an integer (status 404, because no page has such a URL).
    """
    found = _digits(text)
    if found is None:
        raise HTTPException(404, f"there is no {what} {_short(text)}")
    return found


def _digits(text: str) -> int | None:
    # Require ASCII, because `isdigit` also accepts digits of other scripts, and superscripts, on which `int`
    # raises an error.
    is_whole = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    return int(text) if is_whole else None


def _short(text: str) -> str:
    return repr(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")

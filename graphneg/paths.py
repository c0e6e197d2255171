"""Expand and resolve paths that users have typed, with one clear error if that is not possible.

`pathlib` raises a `RuntimeError` for two paths that a user may well type: for ``~ann/cache`` if there is no
user ``ann``, and, before Python 3.13, for a symbolic link that points to itself. All other modules use the
functions of this module instead of `pathlib`, so that no command ends with a traceback:

>>> expand_home("~no-such-user/cache")
Traceback (most recent call last):
graphneg.errors.InputError: ~no-such-user/cache is in the home directory of a user who does not exist: name \
another path
"""

from __future__ import annotations

import os
from pathlib import Path

from graphneg.errors import InputError


def expand_home(path: str | Path) -> Path:
    """Replace ``~`` or ``~USER`` at the beginning of a path by the home directory of the user.

    Args:
        path: A path as a user has typed it.

    Returns:
        The path with the home directory.

    Raises:
        InputError: There is no such user.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise InputError(
            f"{path} is in the home directory of a user who does not exist: name another path"
        ) from error


def resolved(path: str | Path) -> Path:
    """Return the absolute path of a file or folder, with all symbolic links followed.

    Args:
        path: The path, which need not exist.

    Returns:
        The absolute path. A link that points to itself is kept; opening the path then raises `OSError`.
    """
    return Path(os.path.realpath(path))

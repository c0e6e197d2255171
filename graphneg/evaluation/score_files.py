"""Files of scores that any program may write: a number a line, or JSON lines with ``score``."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from graphneg.errors import InputError


def read_scores(path: str | Path, expected: int) -> list[float]:
    """The scores of a file, in order: a number a line, or an object a line with ``score``.

    Raises:
        InputError: the file can't be read, a line holds no number, or there are not as many as ``expected``.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: no text in UTF-8 (byte {error.start})") from error
    found = [_score(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    if len(found) != expected:
        raise InputError(f"{path}: {len(found)} scores where {expected} are needed, one for each, in order")
    return found


def _score(line: str, place: str) -> float:
    try:
        value: Any = json.loads(line)
    except ValueError:
        value = None
    if isinstance(value, dict):
        value = value.get("score")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f'{place}: expected a number, or an object with a number as "score"')
    return float(value)

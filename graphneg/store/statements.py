"""The shipped Cypher files, by name."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def cypher_text(name: str) -> str:
    """The text of a shipped Cypher file: ``cypher_text("edit/apply")`` reads ``cypher/edit/apply.cypher``.

    Raises:
        FileNotFoundError: there is no such file.
    """
    return resources.files("graphneg.cypher").joinpath(f"{name}.cypher").read_text(encoding="utf-8")


def statements(text: str) -> list[str]:
    """The statements of a Cypher script: comment lines dropped, split at semicolons."""
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
    return [statement.strip() for statement in code.split(";") if statement.strip()]

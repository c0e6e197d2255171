"""Options of commands that work on some of the dialogues of a store."""

from __future__ import annotations

from typing import Annotated

import typer

CHOICE = "Which dialogues"

Corpora = Annotated[
    list[str] | None, typer.Option(help="Only this corpus; repeatable.", rich_help_panel=CHOICE)
]
Splits = Annotated[
    list[str] | None, typer.Option(help="Only this split; repeatable.", rich_help_panel=CHOICE)
]
Limit = Annotated[int | None, typer.Option(min=1, help="At most so many dialogues.", rich_help_panel=CHOICE)]
Batch = Annotated[
    int, typer.Option(min=1, help="Dialogues at a time; changes no result.", rich_help_panel=CHOICE)
]

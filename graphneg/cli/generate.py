"""``graphneg generate``: wrong responses to the contexts of a store, by a generator."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.choosing import CHOICE, Corpora, Limit, Splits
from graphneg.cli.options import named_values
from graphneg.cli.storing import Database, Password, StorePlace, Username, opened, require_dialogues
from graphneg.cli.terminal import add_command, counted, messages, note, say, stopping
from graphneg.errors import GeneratorError

if TYPE_CHECKING:
    from graphneg.generators.generated import Generated

STANDARD_OUTPUT = "-"


class Places(StrEnum):
    """Where contexts end in dialogues without responses."""

    last = "last"
    every = "every"


def register(app: typer.Typer) -> None:
    add_command(
        app,
        generate,
        "graphneg generate overlap -o negatives.jsonl --per-context 5 --seed 0",
        "graphneg generate overlap -o - --corpus dailydialog_pp --option most_uses=2 | head",
        "graphneg generate key-context -o out.parquet --option model=path/to/model",
    )


def generate(
    name: Annotated[str, typer.Argument(metavar="NAME", help="overlap, or another that is installed.")],
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="FILE", help="A .jsonl or .parquet file; - prints JSON lines."),
    ],
    per_context: Annotated[int, typer.Option(min=1, help="Negatives of each context.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same negatives.")] = 0,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="An option of the generator; JSON, or else text. Repeatable."
        ),
    ] = None,
    places: Annotated[
        Places,
        typer.Option(
            help="Of dialogues without responses: the last turn, or every one.", rich_help_panel=CHOICE
        ),
    ] = Places.last,
    corpus: Corpora = None,
    split: Splits = None,
    limit: Limit = None,
    batch: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Dialogues at a time, and between two writes; else 8 where a language model writes, or 200. "
            "Changes no result.",
            rich_help_panel=CHOICE,
        ),
    ] = None,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Make wrong responses to the contexts of the loaded dialogues.

    A file is resumable: stopped at any moment, the same command goes on where it was and ends
    with the same bytes. After the run a table tells what was made, and what is missing and why.
    """
    from graphneg.cli.bars import Bars
    from graphneg.generators import generator_names

    if name not in generator_names():
        raise typer.BadParameter(f"no generator named {name!r}; choose one of {', '.join(generator_names())}")
    options = named_values(option or (), "--option")
    with opened(store, username, password, database) as graph:
        require_dialogues(graph, corpus or (), split or ())
        with Bars() as bars:
            try:
                made = graph.generate(
                    name,
                    per_context=per_context,
                    seed=seed,
                    places=places.value,
                    corpora=corpus or (),
                    splits=split or (),
                    limit=limit,
                    batch=batch,
                    progress=bars,
                    **options,
                )
            except GeneratorError as error:
                raise typer.BadParameter(str(error)) from error
            _write(made, out)
        _tell(made, out)


def _write(made: Generated, out: str) -> None:
    kept = "nothing was changed; run the command again"
    if out != STANDARD_OUTPUT:
        kept = f"{out}.part keeps what was made; the same command goes on from there"
    with stopping(kept):
        if out.endswith(".parquet"):
            made.to_parquet(out)
        else:
            made.to_jsonl(out)


def _tell(made: Generated, out: str) -> None:
    from rich.box import SIMPLE_HEAD

    if made.resumed.discarded:
        note(f"started anew: {made.resumed.discarded}")
    for line in made.notes:
        note(line)
    table = made.summary.table()
    table.box = SIMPLE_HEAD
    messages().print(table)
    if out != STANDARD_OUTPUT:
        done = made.resumed.dialogues
        went_on = f", going on after {done:,} dialogues of a run before" if done else ""
        say(f"{out}: {counted(made.summary.negatives, 'negative')}{went_on}")

"""``graphneg negatives``: make negatives of what is loaded, or look at one closely."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphneg.cli.choosing import CHOICE, Batch, Corpora, Splits
from graphneg.cli.storing import (
    Database,
    Password,
    StorePlace,
    Username,
    opened,
    require_dialogues,
    require_graphs,
)
from graphneg.cli.terminal import add_command, counted, messages, note, say, stopping
from graphneg.recipes import GENERATED, RECIPE_NAMES

if TYPE_CHECKING:
    from graphneg.decoders import Decoder
    from graphneg.dialogue_graph import DialogueGraph
    from graphneg.model import Negative
    from graphneg.output.stream import NegativeStream

STANDARD_OUTPUT = "-"
NO_GRAPH = "no-graph"
DECODING = "Decoder"


class Target(StrEnum):
    """What is edited: the response alone, or any turn."""

    response = "response"
    dialogue = "dialogue"


class Backend(StrEnum):
    """What runs a t5 model."""

    torch = "torch"
    ctranslate2 = "ctranslate2"


def register(app: typer.Typer) -> None:
    add_command(
        app,
        negatives,
        "graphneg negatives -o negatives.jsonl --recipe deam --per-dialogue 4 --seed 0",
        "graphneg negatives -o - --transform negate --transform oppose --limit 100 | head",
        "graphneg negatives -o out.parquet --decoder t5 --model path/to/model --backend ctranslate2",
        "graphneg negatives --explain everyday/train/coffee#5~deam.0.0",
    )


def negatives(
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="A .jsonl or .parquet file; - prints JSON lines."),
    ] = None,
    explain: Annotated[
        str | None, typer.Option(metavar="ID", help="Show one negative that was made: graphs, edits, text.")
    ] = None,
    recipe: Annotated[
        str,
        typer.Option(metavar="|".join(RECIPE_NAMES), help="What is done: see graphneg transforms."),
    ] = "deam",
    transform: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="One edit by this transform, in place of a recipe; repeatable."),
    ] = None,
    transforms_dir: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Folder of one's own transforms; repeatable."),
    ] = None,
    target: Annotated[
        Target | None, typer.Option(help="What may be edited; else the recipe's own.", show_default=False)
    ] = None,
    per_dialogue: Annotated[int, typer.Option(min=1, help="Negatives of each dialogue.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same negatives.")] = 0,
    show: Annotated[int, typer.Option(min=0, metavar="N", help="Show N of the negatives afterwards.")] = 0,
    corpus: Corpora = None,
    split: Splits = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most so many dialogues with graphs.", rich_help_panel=CHOICE)
    ] = None,
    batch: Batch = 200,
    decoder: Annotated[
        str, typer.Option(help="surface or t5, or one that is installed.", rich_help_panel=DECODING)
    ] = "surface",
    model: Annotated[
        str | None, typer.Option(metavar="PATH_OR_ID", help="The t5 model.", rich_help_panel=DECODING)
    ] = None,
    backend: Annotated[
        Backend | None, typer.Option(help="What runs the t5 model.", rich_help_panel=DECODING)
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, mps; else the best there is.", rich_help_panel=DECODING)
    ] = None,
    beams: Annotated[
        int | None, typer.Option(min=1, help="Beams of the t5 search.", rich_help_panel=DECODING)
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Fetch nothing from a hub.", rich_help_panel=DECODING)
    ] = False,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Make hard negatives of the loaded dialogues.

    A file is resumable: stopped at any moment, the same command goes on where it was and ends
    with the same bytes. After the run a table tells what was made, what was skipped and why.
    """
    if (out is None) == (explain is None):
        raise typer.BadParameter("say where to write (-o FILE, or -o -), or which one to --explain")
    given = {"model": model, "backend": backend and str(backend), "device": device, "num_beams": beams}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if offline:
        options["offline"] = True
    with opened(store, username, password, database) as graph:
        if explain is not None:
            _explain(graph, explain, decoder, options)
            return
        from graphneg.cli.bars import Bars

        with Bars() as bars:
            made = graph.negatives(
                recipe,
                transforms=transform or (),
                folders=transforms_dir or (),
                decoder=decoder,
                decoder_options=options,
                per_dialogue=per_dialogue,
                seed=seed,
                target=None if target is None else target.value,
                corpora=corpus or (),
                splits=split or (),
                limit=limit,
                batch=batch,
                progress=bars,
            )
            require_dialogues(graph, corpus or (), split or ())
            if limit is not None and recipe not in GENERATED:
                require_graphs(graph, corpus or (), split or ())
            _write(made, out or STANDARD_OUTPUT)
        _tell(made, out or STANDARD_OUTPUT, show)


def _explain(graph: DialogueGraph, id: str, decoder: str, options: dict[str, Any]) -> None:
    from graphneg.cli.showing import show_closely
    from graphneg.decoders import get_decoder

    made: Decoder = get_decoder(decoder, **options)
    with stopping("nothing was changed"):
        found = graph.explain(id, made)
        show_closely(found.negative, found.refused)


def _write(made: NegativeStream, out: str) -> None:
    kept = "nothing of it is lost in the store; run the command again"
    if out != STANDARD_OUTPUT:
        kept = f"{out}.part keeps what was made; the same command goes on from there"
    with stopping(kept):
        if out.endswith(".parquet"):
            made.to_parquet(out)
        else:
            made.to_jsonl(out)


def _tell(made: NegativeStream, out: str, show: int) -> None:
    from rich.box import SIMPLE_HEAD

    if made.resumed.discarded:
        note(f"started anew: {made.resumed.discarded}")
    for line in made.notes:
        note(line)
    table = made.summary.table()
    table.box = SIMPLE_HEAD
    messages().print(table)
    done = made.resumed.dialogues
    went_on = f", going on after {done:,} dialogues of a run before" if done else ""
    if out == STANDARD_OUTPUT:
        return
    say(f"{out}: {counted(made.summary.negatives, 'negative')}{went_on}")
    if not made.summary.negatives:
        note("no negative came of these dialogues; the table says why")
    without = made.summary.skipped[NO_GRAPH]
    if without:
        note(f"{counted(without, 'dialogue')} without AMR graphs: graphneg parse makes some")
    if show:
        from graphneg.cli.showing import show_briefly

        show_briefly(_varied(_written(out), show))


def _written(out: str) -> Iterator[Negative]:
    from graphneg.output import read_jsonl, read_parquet

    return read_parquet(out) if out.endswith(".parquet") else read_jsonl(out)


def _varied(negatives: Iterator[Negative], amount: int) -> list[Negative]:
    """The first negatives that show each a transform which none before did, then the first others."""
    fresh: list[Negative] = []
    others: list[Negative] = []
    seen: set[str] = set()
    for negative in negatives:
        made_by = {str(edit["transform"]) for edit in negative.edits}
        if made_by - seen:
            fresh.append(negative)
            seen |= made_by
        elif len(others) < amount:
            others.append(negative)
        if len(fresh) == amount:
            break
    return [*fresh, *others][:amount]

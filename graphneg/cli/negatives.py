"""``graphneg negatives`` and ``graphneg generate``: wrong responses, made of what is loaded, and shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from rich.table import Column, Table
from rich.text import Text
from typer import BadParameter

from graphneg.cli.commands import argument, command, completing, named_values, option, panel, without_none
from graphneg.cli.options import (
    CorpusOptions,
    DialogueOptions,
    OutRecords,
    Overwrite,
    ShardOption,
    StoreOptions,
    TransformFolders,
    WriterOptions,
)
from graphneg.cli.tables import plain_table, results
from graphneg.cli.terminal import STANDARD, Bars, counted, note, refuse_empty, stopping, write_stream
from graphneg.editing.recipes import CANDIDATES, GENERATED, RECIPE_NAMES
from graphneg.errors import GeneratorError, InputError
from graphneg.model import Negative
from graphneg.records.differences import changed_words, turn_changes
from graphneg.shards import shard_of

if TYPE_CHECKING:
    from pathlib import Path

    from graphneg.dialogue_graph import DialogueGraph
    from graphneg.store.dialogues import Selection

TRACED = 20
"""Dialogues that --debug-sites asks about where no --limit is given."""
NO_GRAPH = "no-graph"
"""Why dialogues are skipped that were not parsed."""
_of_decoder = panel("Decoder")
_of_dialogues = panel("Which dialogues")


@command(
    "graphneg negatives -o negatives.jsonl --recipe all --per-dialogue 3 --seed 0",
    "graphneg negatives --explain everyday/test/42#4~all.0.0",
    "graphneg negatives -o - --transform negate --transform oppose --limit 100 | head",
    "graphneg negatives --transform retime --debug-sites --limit 10",
    "graphneg negatives -o out.parquet --decoder t5 --model path/to/model --backend ctranslate2",
)
def negatives(
    *,
    out: str | None = option(None, "A .jsonl or .parquet file; - prints JSON lines.", "FILE", "--out", "-o"),
    explain: str | None = option(None, "Show one negative that was made: graphs, edits, text.", "ID"),
    reasons: bool = option(False, "List why negatives can be missing, by the code that counts them."),
    recipe: str = option(
        "deam",
        "What is done: see graphneg transforms.",
        "|".join(RECIPE_NAMES),
        autocompletion=completing(RECIPE_NAMES),
    ),
    transform: list[str] | None = option(
        None,
        "One edit by this transform, in place of a recipe; repeatable.",
        "NAME",
        autocompletion=completing("editing.transforms:load_transforms"),
    ),
    transforms_dir: TransformFolders = None,
    debug_sites: bool = option(
        False, "Show how many rows each condition of each --transform leaves, of 20 dialogues or --limit."
    ),
    target: Literal["response", "dialogue"] | None = option(
        None, "What may be edited; else the recipe's own."
    ),
    per_dialogue: int = option(1, "Negatives of each dialogue.", min=1),
    seed: int = option(0, "The same seed gives the same negatives."),
    show: int = option(0, "Show N of the negatives afterwards.", "N", min=0),
    generator_options: list[str] | None = option(
        None,
        "An option of the generator of a recipe that has one (hard); JSON, or else text. Repeatable.",
        "NAME=VALUE",
        "--option",
    ),
    overwrite: Overwrite = False,
    chosen: CorpusOptions,
    shard: ShardOption = None,
    candidates: int = option(
        CANDIDATES, "Of so many sites that are drawn, the one that clashes most is edited.", min=1
    ),
    limit: int | None = _of_dialogues(None, "At most so many dialogues with graphs.", min=1),
    batch: int = _of_dialogues(200, "Dialogues at a time; changes no result.", min=1),
    decoder: str = _of_decoder("surface", "surface, t5 or rescored, or one that is installed."),
    model: str | None = _of_decoder(None, "The model of t5 and rescored.", "PATH_OR_ID"),
    backend: Literal["torch", "ctranslate2"] | None = _of_decoder(None, "What runs the t5 model."),
    device: str | None = _of_decoder(None, "cpu, cuda, mps; else the best there is."),
    beams: int | None = _of_decoder(None, "Beams of the t5 search.", min=1),
    offline: bool = _of_decoder(False, "Fetch nothing from a hub."),
    where: StoreOptions,
) -> None:
    """Make hard negatives of the loaded dialogues.

    A file is resumable: stopped at any moment, the same command goes on where it was and ends
    with the same bytes. After the run a table tells what was made, what was skipped and why.
    """
    from graphneg.decoders.base import get_decoder
    from graphneg.records.files import check_destination, read_negatives
    from graphneg.records.summary import reasons as known_reasons

    if reasons:
        results().print(plain_table("code", "from", "why a negative is missing", rows=known_reasons()))
        return
    if debug_sites:
        if not transform or out is not None or explain is not None:
            raise BadParameter("--debug-sites needs --transform NAME, and neither -o nor --explain")
        with where.opened() as graph, stopping("nothing was changed"):
            chosen.require(graph, with_graphs=True)
            show_sites(
                graph, transform, transforms_dir or (), replace(chosen.selection, limit=limit or TRACED)
            )
        return
    if (out is None) == (explain is None):
        raise BadParameter("say where to write (-o FILE, or -o -), or which one to --explain")
    part = shard_of(shard)
    own = named_values(generator_options, "--option")
    if own and (recipe not in GENERATED or transform):
        raise BadParameter(
            f"only recipes of a generator take options ({', '.join(GENERATED)})", param_hint="--option"
        )
    if out is not None:
        check_destination(out, overwrite or part is not None)
    options = without_none(
        model=model, backend=backend, device=device, num_beams=beams, offline=offline or None
    )
    with where.opened() as graph:
        if explain is not None:
            made_decoder = get_decoder(decoder, **options)
            with stopping("nothing was changed"):
                explained = graph.explain(explain, made_decoder)
                show_closely(explained.negative, explained.refused)
        elif out is not None:
            with Bars() as bars:
                made = graph.negatives(
                    recipe,
                    transforms=transform or (),
                    folders=transforms_dir or (),
                    decoder=decoder,
                    decoder_options=options,
                    per_dialogue=per_dialogue,
                    seed=seed,
                    target=target,
                    candidates=candidates,
                    limit=limit,
                    shard=shard,
                    batch=batch,
                    progress=bars,
                    generator_options=own,
                    **chosen.named,
                )
                chosen.require(graph)
                if limit is not None and recipe not in GENERATED:
                    chosen.require(graph, with_graphs=True)
                unkept = "nothing of it is lost in the store; run the command again"
                write_stream(made, out, unkept, overwrite=overwrite)
            if without := made.summary.skipped[NO_GRAPH] // per_dialogue:
                note(f"{counted(without, 'dialogue')} without AMR graphs: graphneg parse makes some")
            refuse_empty(made)
            if show and shard is None and out != STANDARD:
                show_briefly(_varied(read_negatives(out), show))


def show_sites(
    graph: DialogueGraph, names: Sequence[str], folders: Sequence[Path], selection: Selection
) -> None:
    """Print what each clause and condition of transforms leaves of the first dialogues.

    Args:
        graph: The open dialogue graph.
        names: The transforms, by name.
        folders: Folders of transforms of one's own.
        selection: The dialogues to ask about.

    Raises:
        InputError: there is no transform of such a name.
    """
    from graphneg.editing.planning import editable
    from graphneg.editing.sites import trace_sites
    from graphneg.editing.transforms import load_transforms
    from graphneg.store.dialogues import dialogue_ids, read_dialogues

    known = load_transforms(folders)
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"no transform named {unknown[0]!r}; choose of {', '.join(known)}")
    ids = list(dialogue_ids(graph.store, replace(selection, with_graphs=True)))
    dialogues = [editable(dialogue) for dialogue in read_dialogues(graph.store, ids)]
    for name in names:
        asked = f"{known[name].place}: {counted(len(dialogues), 'dialogue')}"
        results().print(Text(asked, "bold"), soft_wrap=True)
        steps = trace_sites(graph.store, known[name], dialogues)
        table = plain_table(
            Column("rows", justify="right"), Column("line", justify="right"), "clause or condition", "comment"
        )
        for step in steps:
            amount = "-" if step.rows is None else f"{step.rows:,}"
            table.add_row(amount, str(step.line), Text(step.text), Text(step.why or step.comment, "dim"))
        results().print(table)


def _varied(negatives: Iterator[Negative], amount: int) -> list[Negative]:
    """The first negatives that show each a transform which none before did, then the first others."""
    fresh: list[Negative] = []
    others: list[Negative] = []
    seen: set[str] = set()
    for negative in negatives:
        made_by = {str(edit["transform"]) for edit in negative.edits}
        if made_by - seen:
            fresh.append(negative)
        elif len(others) < amount:
            others.append(negative)
        seen |= made_by
        if len(fresh) == amount:
            break
    return [*fresh, *others][:amount]


@command(
    "graphneg generate overlap -o negatives.jsonl --per-context 5 --seed 0",
    "graphneg generate overlap -o - --corpus dailydialog_pp --option most_uses=2 | head",
    "graphneg generate key-context -o out.parquet --model path/to/model",
    "graphneg generate pneg -o out.jsonl --served --model NAME --dry-run",
)
def generate(
    *,
    name: str = argument(
        ...,
        "overlap, or another that is installed.",
        "NAME",
        autocompletion=completing("generators.base:generator_names"),
    ),
    out: OutRecords,
    writer: WriterOptions,
    per_context: int = option(1, "Negatives of each context.", min=1),
    seed: int = option(0, "The same seed gives the same negatives."),
    options: list[str] | None = option(
        None, "An option of the generator; JSON, or else text. Repeatable.", "NAME=VALUE", "--option"
    ),
    overwrite: Overwrite = False,
    places: Literal["last", "every"] = _of_dialogues(
        "last", "Of dialogues without responses: the last turn, or every one."
    ),
    chosen: DialogueOptions,
    shard: ShardOption = None,
    batch: int | None = _of_dialogues(
        None,
        "Dialogues at a time, and between two writes; else 8 where a language model writes, or 200. "
        "Changes no result.",
        min=1,
    ),
    where: StoreOptions,
) -> None:
    """Make wrong responses to the contexts of the loaded dialogues.

    A file is resumable: stopped at any moment, the same command goes on where it was and ends
    with the same bytes. After the run a table tells what was made, and what is missing and why.
    """
    from graphneg.generators.base import generator_names
    from graphneg.records.files import check_destination

    check_destination(out, overwrite or shard is not None)
    if name not in generator_names():
        raise BadParameter(f"no generator named {name!r}; choose one of {', '.join(generator_names())}")
    asked = {"per_context": per_context, "seed": seed, "places": places, "batch": batch, **chosen.named}
    asked["shard"] = shard_of(shard)
    with where.opened(chosen) as graph, Bars() as bars:
        try:
            own = {**named_values(options, "--option"), **writer.named}
            made = graph.generate(name, **asked, progress=bars, **own)
        except (GeneratorError, InputError) as error:
            raise BadParameter(str(error)) from error
        if writer.asks_server(made):
            write_stream(made, out, "nothing was changed; run the command again", overwrite=overwrite)
            refuse_empty(made)


# Negatives for people: a few in a table, or one with its graphs side by side.


GONE, NEW, QUIET = "red", "green", "dim"
INDENT = 3


def show_briefly(negatives: Sequence[Negative]) -> None:
    """A table: each edited turn, what it said and says, and the edits of its graph."""
    if not negatives:
        return
    table = plain_table(Column("edit", no_wrap=True), Column("before", ratio=1), Column("after", ratio=1))
    for negative in negatives:
        turns = turn_changes(negative)
        for edit in negative.edits:
            turn = int(edit["turn"])
            table.add_row(Text(edit["transform"], "bold"), *worded(turns[turn].old, turns[turn].text))
            graphs = (Text(edit[name], QUIET) for name in ("before", "after"))
            table.add_row(Text(f"{edit['category']}, turn {turn}", QUIET), *graphs)
        table.add_section()
    results().print(table)
    if edited := next((negative for negative in negatives if negative.amr), None):
        closely = f"graphneg negatives --explain {edited.id}"
        results().print(f"[dim]One of them closely:[/] {closely}", soft_wrap=True)


def show_closely(negative: Negative, refused: Mapping[int, str]) -> None:
    """The edits, each edited graph beside its original, and the dialogue with its edited turns."""
    console = results()
    console.print(Text(negative.id, "bold"), soft_wrap=True)
    made = (f"{name} {getattr(negative, name)}" for name in ("recipe", "seed", "target", "decoder"))
    console.print(Text(", ".join(made), QUIET), end="\n\n")
    names = ("turn", "transform", "category", "node")
    edits = (
        (*(str(edit[name]) for name in names), Text(edit["before"], GONE), Text(edit["after"], NEW))
        for edit in negative.edits
    )
    console.print(plain_table(*names, "before", "after", rows=edits, title="What changed"))
    for turn, graphs in negative.amr.items():
        console.print(_graph_table(turn, graphs["before"], graphs["after"]))
    table = plain_table("", Column("turn", justify="right"), "speaker", "text", title="The dialogue")
    for turn, change in enumerate(turn_changes(negative)):
        if not change.is_edited:
            table.add_row("", str(turn), Text(change.speaker), Text(change.text))
            continue
        left, right = worded(change.old, change.text)
        table.add_row(Text("-", GONE), str(turn), Text(change.old_speaker), left)
        table.add_row(Text("+", NEW), "", "", right)
    console.print(table)
    for turn, reason in refused.items():
        note(f"turn {turn}: the decoder gave no text: {reason}")


def worded(before: str, after: str) -> tuple[Text, Text]:
    """Two texts, with the words in which they differ marked."""
    left: list[Text] = []
    right: list[Text] = []
    for is_changed, old, new in changed_words(before, after):
        for side, words, style in ((left, old, GONE), (right, new, NEW)):
            if words:
                side.append(Text(words, f"bold {style}" if is_changed else ""))
    return Text(" ").join(left), Text(" ").join(right)


def _graph_table(turn: str, before: str, after: str) -> Table:
    """Two PENMAN texts line by line; brackets at a line's end and indentation are no difference."""
    import penman

    table = plain_table(Column("original", ratio=1), Column("edited", ratio=1), title=f"Graph of turn {turn}")
    table.expand = True
    # Narrow indentation, so that two graphs fit side by side.
    formatted = (penman.format(penman.parse(text), indent=INDENT).splitlines() for text in (before, after))
    old, new = ([line for line in lines if not line.startswith("#")] for lines in formatted)
    bare = ([line.strip().rstrip(")") for line in lines] for lines in (old, new))
    for tag, a, b, c, d in SequenceMatcher(None, *bare, autojunk=False).get_opcodes():
        left = [Text(f"  {line}") if tag == "equal" else Text(f"- {line}", GONE) for line in old[a:b]]
        right = [Text(f"  {line}") if tag == "equal" else Text(f"+ {line}", NEW) for line in new[c:d]]
        for row in zip_longest(left, right, fillvalue=""):
            table.add_row(*row)
    return table

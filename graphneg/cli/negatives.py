"""Define the commands ``negatives`` and ``generate``, and print negatives to the terminal.

``negatives`` edits the AMR graphs of the loaded dialogues and converts the edited graphs into text.
``generate`` runs a generator that makes wrong responses in a different way, such as retrieval by word
overlap. If a run of either command is interrupted, the same command continues it. ``negatives --explain``
shows how one negative was made. ``negatives --debug-sites`` helps to write transforms: it counts how many
rows of a transform's query remain after each condition of the query.

Example::

    graphneg negatives --recipe all -o negatives.jsonl
    # One result is everyday/train/1#5~all.0.0. In turn 4, speaker A said "Great, I want to try one on."
    # The transform modality_claim replaces B's turn 5 by "Why do you have to try one on?"
"""

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
from graphneg.cli.terminal import (
    STANDARD,
    Bars,
    advise_on_interrupt,
    counted,
    print_note,
    refuse_empty,
    write_stream,
)
from graphneg.editing.recipes import CANDIDATES, GENERATED, RECIPE_NAMES, require_recipe
from graphneg.errors import GeneratorError, InputError
from graphneg.model import Negative
from graphneg.records.differences import changed_words, error_facts, turn_changes
from graphneg.shards import shard_of

if TYPE_CHECKING:
    from pathlib import Path

    from graphneg.dialogue_graph import DialogueGraph
    from graphneg.store.dialogues import Selection

TRACED = 20
"""Number of dialogues on which ``--debug-sites`` runs queries if ``--limit`` is not given."""
NO_SITE_ADVICE = "to see which condition removes the last row, run again with --debug-sites in place of -o"
"""Advice that is printed if a transform of the user finds no place to edit."""
NO_GRAPH = "no-graph"
"""The code under which a run counts the dialogues that it skips because they have no AMR graphs."""
_of_decoder = panel("Decoder")
_of_dialogues = panel("Which dialogues")


@command(
    "graphneg negatives -o negatives.jsonl --recipe all --per-dialogue 3 --seed 0",
    "graphneg negatives --explain everyday/train/1#5~all.0.0",
    "graphneg negatives -o - --transform polarity_flip --transform antonym_substitution --limit 100 | head",
    "graphneg negatives --transform time_shift --debug-sites --limit 10",
    "graphneg negatives -o out.parquet --decoder t5 --model path/to/model --backend ctranslate2",
)
def negatives(
    *,
    out: str | None = option(
        None,
        "The .jsonl or .parquet file to write; - prints JSON lines to standard output.",
        "FILE",
        "--out",
        "-o",
    ),
    explain: str | None = option(
        None, "Show the graphs, the edits and the text of the negative with this id.", "ID"
    ),
    reasons: bool = option(False, "List the reasons why negatives may be missing, with their codes."),
    recipe: str = option(
        "deam",
        "The recipe, which determines the kinds of edits. To list the recipes, run graphneg transforms.",
        "|".join(RECIPE_NAMES),
        autocompletion=completing(RECIPE_NAMES),
    ),
    transform: list[str] | None = option(
        None,
        "Make negatives with this transform instead of a recipe. Repeatable: each negative is made with one "
        "of the transforms.",
        "NAME",
        autocompletion=completing("editing.transforms:load_transforms"),
    ),
    transforms_dir: TransformFolders = None,
    debug_sites: bool = option(
        False,
        "For each --transform, show how many rows of its query remain after each condition. The query is run "
        "on 20 dialogues, or on the number of dialogues given with --limit.",
    ),
    target: Literal["response", "dialogue"] | None = option(
        None, "The part to edit: only the response, or any turn of the dialogue. Default: set by the recipe."
    ),
    per_dialogue: int = option(1, "Number of negatives to make from each dialogue.", min=1),
    seed: int = option(0, "Random seed. The same seed gives the same negatives."),
    twins: bool = option(
        False,
        "After each negative, write a correct counterpart (a twin) with label 1: the reply without the "
        "error, or the wrong reply after an edited context that it fits. Negatives without a twin are left "
        "out.",
    ),
    proved: bool = option(
        False,
        "Keep only negatives whose error is proved by comparing clauses: for example, the response "
        "contradicts an earlier clause.",
    ),
    show: int = option(0, "Number of negatives to show after the run.", "N", min=0),
    generator_options: list[str] | None = option(
        None,
        "An option for the generator that the recipe hard uses. The value is JSON or any other text. "
        "Repeatable.",
        "NAME=VALUE",
        "--option",
    ),
    overwrite: Overwrite = False,
    chosen: CorpusOptions,
    shard: ShardOption = None,
    sites: int = option(
        CANDIDATES,
        "Number of sites (places to edit) to sample for each edit; the one with the highest score is edited.",
        min=1,
    ),
    limit: int | None = _of_dialogues(
        None, "Maximum number of dialogues with graphs to use. Default: all.", min=1
    ),
    batch: int = _of_dialogues(
        200, "Number of dialogues to process at a time. Does not change the result.", min=1
    ),
    decoder: str = _of_decoder(
        "surface",
        "The decoder that converts edited graphs into text: surface, t5, rescored or another installed one.",
    ),
    model: str | None = _of_decoder(None, "The model of the decoder, for t5 and rescored.", "PATH_OR_ID"),
    backend: Literal["torch", "ctranslate2"] | None = _of_decoder(
        None, "The library that runs the t5 model. Default: torch."
    ),
    device: str | None = _of_decoder(
        None, "Device of the model: cpu, cuda or mps. Default: the best available device."
    ),
    beams: int | None = _of_decoder(
        None, "Number of beams for the beam search of the t5 model. Default: 4.", min=1
    ),
    offline: bool = _of_decoder(False, "Do not download anything from a model hub."),
    where: StoreOptions,
) -> None:
    """Make hard negatives from the loaded dialogues.

    If a run is interrupted, run the same command again to continue: the file will be the same, byte for byte,
    as the file of an uninterrupted run. At the end, a table shows how many negatives were made, how many are
    missing, and why. \N{FORM FEED}

    Raises:
        BadParameter: A required option is missing, an option is malformed, or options contradict each other.
    """
    from graphneg.decoders.base import get_decoder
    from graphneg.records.files import check_destination, read_negatives
    from graphneg.records.summary import reasons as known_reasons

    if reasons:
        results().print(plain_table("code", "from", "why a negative is missing", rows=known_reasons()))
        return
    # With --transform, the recipe is not used, so its name is not checked.
    if not transform:
        require_recipe(recipe)
    # --debug-sites makes no negatives, so refuse options for output files and explanations.
    if debug_sites:
        if not transform or out is not None or explain is not None:
            raise BadParameter(
                "--debug-sites requires --transform NAME and can't be combined with -o or --explain"
            )
        if shard is not None:
            raise BadParameter("--debug-sites can't be combined with --shard; choose dialogues with --limit")
        with where.opened() as graph, advise_on_interrupt("nothing was changed"):
            chosen.require(graph, with_graphs=True)
            show_sites(
                graph, transform, transforms_dir or (), replace(chosen.selection, limit=limit or TRACED)
            )
        return
    if (out is None) == (explain is None):
        raise BadParameter("give exactly one of -o FILE (or -o -) and --explain ID")
    part = shard_of(shard)
    settings = named_values(generator_options, "--option")
    # The values of --option are passed to a generator. Refuse them for recipes that edit graphs and use no
    # generator.
    if settings and (recipe not in GENERATED or transform):
        raise BadParameter(
            f"only the recipes that use a generator take options ({', '.join(GENERATED)})",
            param_hint="--option",
        )
    if out is not None:
        # With --shard, the command writes a file such as FILE.3-of-16, which is checked when it is written.
        # FILE itself is not written, so it may exist already.
        check_destination(out, overwrite or part is not None)
    # Pass only the options that the user has set, because a decoder refuses options that it does not know.
    options = without_none(
        model=model, backend=backend, device=device, num_beams=beams, offline=offline or None
    )
    with where.opened() as graph:
        if explain is not None:
            made_decoder = get_decoder(decoder, **options)
            with advise_on_interrupt("nothing was changed"):
                explained = graph.explain(explain, made_decoder)
                print_negative(explained.negative, explained.refused)
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
                    sites=sites,
                    twins=twins,
                    proved=proved,
                    limit=limit,
                    shard=shard,
                    batch=batch,
                    progress=bars,
                    generator_options=settings,
                    **chosen.as_arguments,
                )
                chosen.require(graph)
                if limit is not None and recipe not in GENERATED:
                    chosen.require(graph, with_graphs=True)
                unkept = "the finished edits are kept in the store; run the command again"
                write_stream(made, out, unkept, overwrite=overwrite)
            # A skipped dialogue is counted once for each of its missing negatives. Divide by per_dialogue to
            # get the number of dialogues.
            if without := made.summary.skipped[NO_GRAPH] // per_dialogue:
                print_note(f"{counted(without, 'dialogue')} without AMR graphs: run graphneg parse")
            own_transform = bool(transforms_dir and transform)
            refuse_empty(made, {"no-site": NO_SITE_ADVICE} if own_transform else None)
            # Read the negatives to show from the output file. Show nothing if they were written to standard
            # output, which cannot be read, or to the file of a shard.
            if show and shard is None and out != STANDARD:
                print_edit_table(_choose_varied(read_negatives(out), show))


def show_sites(
    graph: DialogueGraph, names: Sequence[str], folders: Sequence[Path], selection: Selection
) -> None:
    """Print how many rows remain after each clause and condition of a transform's query.

    Args:
        graph: The open dialogue graph.
        names: The names of the transforms.
        folders: Folders with the user's own transforms.
        selection: The dialogues on which the queries are run.

    Raises:
        InputError: One of the names is not the name of a transform.
    """
    from graphneg.editing.planning import editable
    from graphneg.editing.sites import trace_sites
    from graphneg.editing.transforms import load_transforms
    from graphneg.store.dialogues import dialogue_ids, read_dialogues

    known = load_transforms(folders)
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"no transform named {unknown[0]!r}; choose one of {', '.join(known)}")
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


def _choose_varied(negatives: Iterator[Negative], amount: int) -> list[Negative]:
    """Choose ``amount`` negatives to show. Prefer negatives by a transform that has no example yet."""
    fresh: list[Negative] = []
    others: list[Negative] = []
    seen: set[str] = set()
    for negative in negatives:
        # Prefer negatives by a transform that has no example yet, so that the examples are varied.
        made_by = {str(edit.transform) for edit in negative.edits}
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
    "graphneg generate overlap -o - --corpus dailydialog_pp --option max_uses=2 | head",
    "graphneg generate key-context -o out.parquet --model path/to/model",
    "graphneg generate pneg -o out.jsonl --served --model NAME --dry-run",
)
def generate(
    *,
    name: str = argument(
        ...,
        "Name of the generator, such as overlap. For an unknown name, the error lists all generators.",
        "NAME",
        autocompletion=completing("generators.base:generator_names"),
    ),
    out: OutRecords,
    writer: WriterOptions,
    per_context: int = option(1, "Number of negatives to make for each context.", min=1),
    seed: int = option(0, "Random seed. The same seed gives the same negatives."),
    options: list[str] | None = option(
        None,
        "An option for the generator. The value is JSON or any other text. Repeatable.",
        "NAME=VALUE",
        "--option",
    ),
    overwrite: Overwrite = False,
    places: Literal["last", "every"] = _of_dialogues(
        "last",
        "Turns that negatives replace in dialogues without loaded responses: the last turn, or every turn "
        "except the first one.",
    ),
    chosen: DialogueOptions,
    shard: ShardOption = None,
    batch: int | None = _of_dialogues(
        None,
        "Number of dialogues to process before each save. Default: 8 with a language model, 200 without one. "
        "Does not change the result.",
        min=1,
    ),
    where: StoreOptions,
) -> None:
    """Make wrong responses to the contexts of the loaded dialogues.

    If a run is interrupted, run the same command again to continue: the file will be the same, byte for byte,
    as the file of an uninterrupted run. At the end, a table shows how many negatives were made, how many are
    missing, and why. \N{FORM FEED}

    Raises:
        BadParameter: There is no generator with this name, or the generator refuses an option.
    """
    from graphneg.generators.base import generator_names
    from graphneg.records.files import check_destination

    check_destination(out, overwrite or shard is not None)
    if name not in generator_names():
        raise BadParameter(f"no generator named {name!r}; choose one of {', '.join(generator_names())}")
    asked = {
        "per_context": per_context,
        "seed": seed,
        "places": places,
        "batch": batch,
        **chosen.as_arguments,
    }
    asked["shard"] = shard_of(shard)
    with where.opened(chosen) as graph, Bars() as bars:
        try:
            settings = {**named_values(options, "--option"), **writer.as_arguments}
            made = graph.generate(name, **asked, progress=bars, **settings)
        except (GeneratorError, InputError) as error:
            raise BadParameter(str(error)) from error
        if writer.asks_server(made):
            write_stream(made, out, "nothing was changed; run the command again", overwrite=overwrite)
            refuse_empty(made)


GONE, NEW, QUIET = "red", "green", "dim"
INDENT = 3


def print_edit_table(negatives: Sequence[Negative]) -> None:
    """Print a table of edits: the text and the changed part of the graph, before and after each edit.

    Args:
        negatives: The negatives whose edits are printed.
    """
    if not negatives:
        return
    table = plain_table(Column("edit", no_wrap=True), Column("before", ratio=1), Column("after", ratio=1))
    for negative in negatives:
        turns = turn_changes(negative)
        for edit in negative.edits:
            change = turns[edit.turn]
            table.add_row(Text(edit.transform or "", "bold"), *mark_changed_words(change.old, change.text))
            graphs = (Text(graph or "", QUIET) for graph in (edit.before, edit.after))
            table.add_row(Text(f"{edit.category}, turn {edit.turn}", QUIET), *graphs)
        table.add_section()
    results().print(table)
    if edited := next((negative for negative in negatives if negative.amr), None):
        closely = f"graphneg negatives --explain {edited.id}"
        results().print(f"[dim]To see one of them in detail:[/] {closely}", soft_wrap=True)


def print_negative(negative: Negative, refused: Mapping[int, str]) -> None:
    """Print one negative: its edits, each edited graph beside the original, and the dialogue.

    Args:
        negative: The negative to print.
        refused: The reasons why the decoder could not convert graphs into text, keyed by turn number.
    """
    console = results()
    console.print(Text(negative.id, "bold"), soft_wrap=True)
    made = (f"{name} {getattr(negative, name)}" for name in ("recipe", "seed", "target", "decoder"))
    console.print(Text(", ".join(made), QUIET))
    if facts := error_facts(negative):
        console.print(Text(", ".join(facts), QUIET), soft_wrap=True)
    console.print()
    names = ("turn", "transform", "category", "node")
    edits = (
        (
            *(str(getattr(edit, name)) for name in names),
            Text(edit.before or "", GONE),
            Text(edit.after or "", NEW),
        )
        for edit in negative.edits
    )
    # Do not truncate names, because users pass them to --transform.
    columns = (Column(name, no_wrap=name in ("transform", "category")) for name in names)
    console.print(plain_table(*columns, "before", "after", rows=edits, title="What changed"))
    for turn, graphs in negative.amr.items():
        console.print(_graph_table(turn, graphs.before or "", graphs.after or ""))
    table = plain_table("", Column("turn", justify="right"), "speaker", "text", title="The dialogue")
    for turn, change in enumerate(turn_changes(negative)):
        if not change.is_edited:
            table.add_row("", str(turn), Text(change.speaker), Text(change.text))
            continue
        left, right = mark_changed_words(change.old, change.text)
        table.add_row(Text("-", GONE), str(turn), Text(change.old_speaker), left)
        table.add_row(Text("+", NEW), "", "", right)
    console.print(table)
    for turn, reason in refused.items():
        print_note(f"turn {turn}: the decoder gave no text: {reason}")


def mark_changed_words(before: str, after: str) -> tuple[Text, Text]:
    """Mark the words in which an original and an edited text differ.

    Args:
        before: The original text.
        after: The edited text.

    Returns:
        The original text with the removed words in red, and the edited text with the new words in green.
    """
    left: list[Text] = []
    right: list[Text] = []
    for is_changed, old, new in changed_words(before, after):
        for side, words, style in ((left, old, GONE), (right, new, NEW)):
            if words:
                side.append(Text(words, f"bold {style}" if is_changed else ""))
    return Text(" ").join(left), Text(" ").join(right)


def _graph_table(turn: str, before: str, after: str) -> Table:
    """Return a table with a graph before and after an edit, side by side and compared line by line."""
    import penman

    table = plain_table(Column("original", ratio=1), Column("edited", ratio=1), title=f"Graph of turn {turn}")
    table.expand = True
    # Use a small indentation, so that two graphs fit side by side.
    formatted = (penman.format(penman.parse(text), indent=INDENT).splitlines() for text in (before, after))
    old, new = ([line for line in lines if not line.startswith("#")] for lines in formatted)
    # Compare the lines without indentation and closing parentheses. If a node is inserted, indentation and
    # parentheses also change in neighbouring lines. Without this step, the neighbouring lines would be marked
    # although their nodes were not edited.
    bare = ([line.strip().rstrip(")") for line in lines] for lines in (old, new))
    # With autojunk=True (the default), difflib ignores frequent lines if a graph has 200 lines or more.
    for tag, a, b, c, d in SequenceMatcher(None, *bare, autojunk=False).get_opcodes():
        left = [Text(f"  {line}") if tag == "equal" else Text(f"- {line}", GONE) for line in old[a:b]]
        right = [Text(f"  {line}") if tag == "equal" else Text(f"+ {line}", NEW) for line in new[c:d]]
        for row in zip_longest(left, right, fillvalue=""):
            table.add_row(*row)
    return table

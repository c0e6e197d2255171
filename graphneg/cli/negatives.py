"""``graphneg negatives`` and ``graphneg generate``: wrong responses, made of what is loaded, and shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Annotated, Any, Literal

from rich.table import Table
from rich.text import Text
from typer import Argument, BadParameter, Option

from graphneg.cli.options import (
    CorpusOptions,
    DialogueOptions,
    OutRecords,
    StoreOptions,
    TransformFolders,
    command,
    named_values,
    panel,
    without_none,
)
from graphneg.cli.terminal import (
    STANDARD,
    Bars,
    counted,
    keeps_part,
    note,
    plain_table,
    results,
    stopping,
    tell_negatives,
    tell_stream,
    write_stream,
)
from graphneg.editing.recipes import GENERATED, RECIPE_NAMES
from graphneg.errors import GeneratorError
from graphneg.model import Negative

if TYPE_CHECKING:
    from graphneg.dialogue_graph import DialogueGraph

NO_GRAPH = "no-graph"
"""Why dialogues are skipped that were not parsed."""
_of_decoder = panel("Decoder")
_of_dialogues = panel("Which dialogues")


@command(
    "graphneg negatives -o negatives.jsonl --recipe deam --per-dialogue 4 --seed 0",
    "graphneg negatives -o - --transform negate --transform oppose --limit 100 | head",
    "graphneg negatives -o out.parquet --decoder t5 --model path/to/model --backend ctranslate2",
    "graphneg negatives --explain everyday/train/coffee#5~deam.0.0",
)
def negatives(
    out: Annotated[
        str | None,
        Option("--out", "-o", metavar="FILE", help="A .jsonl or .parquet file; - prints JSON lines."),
    ] = None,
    explain: Annotated[
        str | None, Option(metavar="ID", help="Show one negative that was made: graphs, edits, text.")
    ] = None,
    recipe: Annotated[
        str, Option(metavar="|".join(RECIPE_NAMES), help="What is done: see graphneg transforms.")
    ] = "deam",
    transform: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="One edit by this transform, in place of a recipe; repeatable."),
    ] = None,
    transforms_dir: TransformFolders = None,
    target: Annotated[
        Literal["response", "dialogue"] | None,
        Option(help="What may be edited; else the recipe's own.", show_default=False),
    ] = None,
    per_dialogue: Annotated[int, Option(min=1, help="Negatives of each dialogue.")] = 1,
    seed: Annotated[int, Option(help="The same seed gives the same negatives.")] = 0,
    show: Annotated[int, Option(min=0, metavar="N", help="Show N of the negatives afterwards.")] = 0,
    *,
    chosen: CorpusOptions,
    limit: Annotated[int | None, _of_dialogues(min=1, help="At most so many dialogues with graphs.")] = None,
    batch: Annotated[int, _of_dialogues(min=1, help="Dialogues at a time; changes no result.")] = 200,
    decoder: Annotated[str, _of_decoder(help="surface or t5, or one that is installed.")] = "surface",
    model: Annotated[str | None, _of_decoder(metavar="PATH_OR_ID", help="The t5 model.")] = None,
    backend: Annotated[
        Literal["torch", "ctranslate2"] | None, _of_decoder(help="What runs the t5 model.")
    ] = None,
    device: Annotated[str | None, _of_decoder(help="cpu, cuda, mps; else the best there is.")] = None,
    beams: Annotated[int | None, _of_decoder(min=1, help="Beams of the t5 search.")] = None,
    offline: Annotated[bool, _of_decoder("--offline", help="Fetch nothing from a hub.")] = False,
    where: StoreOptions,
) -> None:
    """Make hard negatives of the loaded dialogues.

    A file is resumable: stopped at any moment, the same command goes on where it was and ends
    with the same bytes. After the run a table tells what was made, what was skipped and why.
    """
    if (out is None) == (explain is None):
        raise BadParameter("say where to write (-o FILE, or -o -), or which one to --explain")
    options = without_none(
        model=model, backend=backend, device=device, num_beams=beams, offline=offline or None
    )
    with where.opened() as graph:
        if explain is not None:
            _explain(graph, explain, decoder, options)
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
                    limit=limit,
                    batch=batch,
                    progress=bars,
                    **chosen.named,
                )
                chosen.require(graph)
                if limit is not None and recipe not in GENERATED:
                    chosen.require(graph, with_graphs=True)
                _write(made, out, "nothing of it is lost in the store; run the command again")
            _tell(made, out, show)


def _explain(graph: DialogueGraph, id: str, decoder: str, options: dict[str, Any]) -> None:
    from graphneg.decoders.base import get_decoder

    made = get_decoder(decoder, **options)
    with stopping("nothing was changed"):
        found = graph.explain(id, made)
        show_closely(found.negative, found.refused)


def _write(made: Any, out: str, unkept: str) -> None:
    with stopping(unkept if out == STANDARD else keeps_part(out)):
        write_stream(made, out)


def _tell(made: Any, out: str, show: int) -> None:
    tell_stream(made, made.notes)
    if out == STANDARD:
        return
    tell_negatives(made, out)
    if not made.summary.negatives:
        note("no negative came of these dialogues; the table says why")
    if without := made.summary.skipped[NO_GRAPH]:
        note(f"{counted(without, 'dialogue')} without AMR graphs: graphneg parse makes some")
    if show:
        show_briefly(_varied(_written(out), show))


def _written(out: str) -> Iterator[Negative]:
    from graphneg.records.files import read_negatives

    return read_negatives(out)


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


@command(
    "graphneg generate overlap -o negatives.jsonl --per-context 5 --seed 0",
    "graphneg generate overlap -o - --corpus dailydialog_pp --option most_uses=2 | head",
    "graphneg generate key-context -o out.parquet --option model=path/to/model",
)
def generate(
    name: Annotated[str, Argument(metavar="NAME", help="overlap, or another that is installed.")],
    out: OutRecords,
    per_context: Annotated[int, Option(min=1, help="Negatives of each context.")] = 1,
    seed: Annotated[int, Option(help="The same seed gives the same negatives.")] = 0,
    option: Annotated[
        list[str] | None,
        Option(metavar="NAME=VALUE", help="An option of the generator; JSON, or else text. Repeatable."),
    ] = None,
    places: Annotated[
        Literal["last", "every"],
        _of_dialogues(help="Of dialogues without responses: the last turn, or every one."),
    ] = "last",
    *,
    chosen: DialogueOptions,
    batch: Annotated[
        int | None,
        _of_dialogues(
            min=1,
            help="Dialogues at a time, and between two writes; else 8 where a language model writes, or 200. "
            "Changes no result.",
        ),
    ] = None,
    where: StoreOptions,
) -> None:
    """Make wrong responses to the contexts of the loaded dialogues.

    A file is resumable: stopped at any moment, the same command goes on where it was and ends
    with the same bytes. After the run a table tells what was made, and what is missing and why.
    """
    from graphneg.generators.base import generator_names

    if name not in generator_names():
        raise BadParameter(f"no generator named {name!r}; choose one of {', '.join(generator_names())}")
    asked = {"per_context": per_context, "seed": seed, "places": places, "batch": batch}
    options = named_values(option, "--option")
    with where.opened() as graph:
        chosen.require(graph)
        with Bars() as bars:
            try:
                made = graph.generate(name, **asked, **chosen.named, progress=bars, **options)
            except GeneratorError as error:
                raise BadParameter(str(error)) from error
            _write(made, out, "nothing was changed; run the command again")
        tell_stream(made, made.notes)
        if out != STANDARD:
            tell_negatives(made, out)


# Negatives for people: a few in a table, or one with its graphs side by side.


GONE, NEW, QUIET = "red", "green", "dim"
INDENT = 3


def show_briefly(negatives: Sequence[Negative]) -> None:
    """A table: each edited turn, what it said and says, and the edits of its graph."""
    if not negatives:
        return
    table = plain_table("edit", "before", "after")
    table.columns[1].ratio = table.columns[2].ratio = 1
    table.columns[0].no_wrap = True
    for negative in negatives:
        original, edited = turns_before(negative), turns_after(negative)
        for edit in negative.edits:
            turn = int(edit["turn"])
            before, after = worded(original[turn][1], edited[turn][1])
            table.add_row(Text(edit["transform"], "bold"), before, after)
            graphs = (Text(edit[name], QUIET) for name in ("before", "after"))
            table.add_row(Text(f"{edit['category']}, turn {turn}", QUIET), *graphs)
        table.add_section()
    results().print(table)
    if edited := next((one for one in negatives if one.amr), None):
        closely = f"graphneg negatives --explain {edited.id}"
        results().print(f"[dim]One of them closely:[/] {closely}", soft_wrap=True)


def show_closely(negative: Negative, refused: Mapping[int, str]) -> None:
    """The edits, each edited graph beside its original, and the dialogue with its edited turns."""
    console = results()
    console.print(Text(negative.id, "bold"), soft_wrap=True)
    made = {name: getattr(negative, name) for name in ("recipe", "seed", "target", "decoder")}
    console.print(Text(", ".join(f"{name} {value}" for name, value in made.items()), QUIET))
    console.print()
    console.print(_edit_table(negative.edits))
    for turn, graphs in negative.amr.items():
        console.print(_graph_table(turn, graphs["before"], graphs["after"]))
    console.print(_dialogue_table(negative))
    for turn, reason in refused.items():
        note(f"turn {turn}: the decoder gave no text: {reason}")


def turns_before(negative: Negative) -> list[tuple[str, str]]:
    """Speaker and text of each turn as it was loaded."""
    context = negative.original["context"]
    kept = negative.context if context is None else context
    response = negative.original["response"]
    said = [(turn["speaker"], turn["text"]) for turn in kept]
    return [*said, ("", negative.response if response is None else response)]


def turns_after(negative: Negative) -> list[tuple[str, str]]:
    """Speaker and text of each turn of the negative."""
    return [*((turn["speaker"], turn["text"]) for turn in negative.context), ("", negative.response)]


def worded(before: str, after: str) -> tuple[Text, Text]:
    """Two texts, with the words in which they differ marked."""
    old, new = before.split(), after.split()
    left, right = Text(), Text()
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        _append(left, old[a:b], "" if tag == "equal" else f"bold {GONE}")
        _append(right, new[c:d], "" if tag == "equal" else f"bold {NEW}")
    return left, right


def _append(text: Text, words: Sequence[str], style: str) -> None:
    if words:
        text.append(" " if text else "").append(" ".join(words), style)


def _edit_table(edits: Iterable[Mapping[str, Any]]) -> Table:
    table = plain_table("turn", "transform", "category", "node", "before", "after", title="What changed")
    for edit in edits:
        names = (str(edit[name]) for name in ("turn", "transform", "category", "node"))
        table.add_row(*names, Text(edit["before"], GONE), Text(edit["after"], NEW))
    return table


def _graph_table(turn: str, before: str, after: str) -> Table:
    """Two PENMAN texts line by line; brackets at a line's end and indentation are no difference."""
    table = plain_table("original", "edited", title=f"Graph of turn {turn}")
    table.columns[0].ratio = table.columns[1].ratio = 1
    table.expand = True
    old, new = _lines(before), _lines(after)
    matcher = SequenceMatcher(None, list(map(_bare, old)), list(map(_bare, new)), autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        left = [_marked("  " if tag == "equal" else "- ", line, GONE) for line in old[a:b]]
        right = [_marked("  " if tag == "equal" else "+ ", line, NEW) for line in new[c:d]]
        for i in range(max(len(left), len(right))):
            table.add_row(left[i] if i < len(left) else "", right[i] if i < len(right) else "")
    return table


def _lines(text: str) -> list[str]:
    """A graph with narrow indentation, so that two fit side by side."""
    import penman

    lines = penman.format(penman.parse(text), indent=INDENT).splitlines()
    return [line for line in lines if not line.startswith("#")]


def _bare(line: str) -> str:
    return line.strip().rstrip(")")


def _marked(mark: str, line: str, style: str) -> Text:
    return Text(mark + line, style if mark.strip() else "")


def _dialogue_table(negative: Negative) -> Table:
    table = plain_table("", "turn", "speaker", "text", title="The dialogue")
    table.columns[1].justify = "right"
    for turn, (old, new) in enumerate(zip(turns_before(negative), turns_after(negative), strict=True)):
        if old == new:
            table.add_row("", str(turn), *map(Text, new))
            continue
        before, after = worded(old[1], new[1])
        table.add_row(Text("-", GONE), str(turn), Text(old[0]), before)
        table.add_row(Text("+", NEW), "", "", after)
    return table

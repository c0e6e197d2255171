"""``graphneg shift``: the shift graph, and what it says that replies could have moved to instead."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, BadParameter, Option

from graphneg.cli.options import (
    CorpusOptions,
    DialogueOptions,
    LanguageModelTraining,
    OutFolder,
    StoreOptions,
    command,
    group,
    named_values,
    panel,
    without_none,
)
from graphneg.cli.terminal import (
    Bars,
    counted,
    keeps_part,
    messages,
    note,
    plain_table,
    results,
    say,
    stopping,
    tell_trained,
    training,
    working,
)
from graphneg.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from graphneg.shift.page import CountedShift, Neighbourhood
    from graphneg.shift.substitutes import Substitutes

BAR = 16
LEAVING, LEADING = "blue", "yellow"
_of_embedder = panel("Embedder")
_of_what = panel("Of what")
_how = panel("Which substitutes")


@command(
    "graphneg shift build",
    "graphneg shift build --embedder sentence-transformers/all-MiniLM-L6-v2",
    "graphneg shift build --embedder glove.6B.50d.txt --keywords rake --corpus dailydialog",
)
def build(
    embedder: Annotated[
        str,
        _of_embedder(
            metavar="PATH_OR_ID",
            help="An encoder by path or hub id, or word vectors: a file (.txt, .gz, .npz), "
            "or the small ones that come with graphneg.",
        ),
    ] = "glove-50d",
    keywords: Annotated[Literal["yake", "rake"], Option(help="How keywords are found.")] = "yake",
    language: Annotated[str, Option(metavar="CODE", help="Language of the texts.")] = "en",
    model: Annotated[
        str | None,
        Option(metavar="NAME_OR_PATH", help="A spaCy model; else an installed one of the language."),
    ] = None,
    cache: Annotated[
        Path | None, _of_embedder(metavar="FILE", help="Keep embeddings in a file for the next time.")
    ] = None,
    device: Annotated[str | None, _of_embedder(help="cpu, cuda, mps; else the best there is.")] = None,
    threads: Annotated[
        int | None, _of_embedder(min=1, help="Threads of the encoder; else one a core.", show_default=False)
    ] = None,
    offline: Annotated[bool, _of_embedder("--offline", help="Fetch nothing from a hub.")] = False,
    rebuild: Annotated[
        bool, Option("--rebuild", help="Remove the whole shift graph first, of all corpora.")
    ] = False,
    *,
    chosen: CorpusOptions,
    where: StoreOptions,
) -> None:
    """Find the keywords of posts and replies, and count which keyword leads to which.

    The focus is the post's keyword closest to the reply, the perspective the reply's keyword closest
    to the focus. Replies are the next utterance and responses with label 1. Dialogues that are in the
    graph already are left out, so the same command completes a run that was stopped.
    """
    from graphneg.nn.embedders import get_embedder
    from graphneg.shift.keywords import get_extractor

    options = without_none(cache=cache, device=device, threads=threads, offline=offline or None)
    with where.opened() as graph:
        with messages().status(f"loading {embedder}"):
            extractor = get_extractor(keywords, language, model)
            made = get_embedder(embedder, **options)
        for line in extractor.notes:
            note(line)
        with working("what was written is kept; the same command again builds the rest") as bars:
            existing = "replace" if rebuild else "keep"
            report = graph.shift(made, keywords=extractor, existing=existing, progress=bars, **chosen.named)
    say(report.summary())


@command(
    "graphneg shift export -o shifts.graphml", "graphneg shift export -o shifts.parquet --corpus dailydialog"
)
def export(
    out: Annotated[
        Path, Option("--out", "-o", metavar="FILE", help="File ending .graphml, .parquet or .jsonl.")
    ],
    corpus: Annotated[list[str] | None, Option(help="Only the shifts of this corpus; repeatable.")] = None,
    *,
    where: StoreOptions,
) -> None:
    """Write the shift graph to a file: keywords, and how often replies move from one to the other.

    .graphml is one directed graph with a count on its edges; .parquet and .jsonl hold one edge a row.
    """
    from graphneg.shift.graphs import check_export

    check_export(out)
    with where.opened() as graph:
        written = graph.export_shifts(out, corpora=corpus or ())
    say(f"{counted(written, 'edge')} written to {out}")


@command("graphneg shift show coffee", "graphneg shift show coffee --limit 20 --html coffee.html")
def show(
    focus: Annotated[str, Argument(metavar="FOCUS", help="A topic of the shift graph.")],
    limit: Annotated[int, Option(min=1, help="Shifts at most, in each direction.")] = 12,
    html: Annotated[Path | None, Option(metavar="FILE", help="Write a page for a browser as well.")] = None,
    examples: Annotated[int, Option(min=1, help="Pairs at most of each shift, in the page.")] = 20,
    *,
    where: StoreOptions,
) -> None:
    """Show what replies move to from a topic, and where those come from that move to it.

    The page is one file that loads nothing; a click on a shift shows the utterances behind it.
    """
    from graphneg.shift.page import neighbourhood, write_page

    with where.opened() as graph, stopping("nothing was changed"):
        around = neighbourhood(graph.store, focus, limit, examples)
        if html is not None:
            write_page(around, html)
    _print_neighbourhood(around)
    if html is not None:
        say(f"wrote {html}")


def _print_neighbourhood(around: Neighbourhood) -> None:
    from rich.text import Text

    console = results()
    console.print(Text(around.topic, "bold"))
    if around.opposites:
        console.print(Text(f"opposites: {', '.join(around.opposites)}", "dim"))
    most = max(shift.count for shift in (*around.moves_to, *around.comes_from))
    if around.moves_to:
        to = counted(around.perspectives, "topic")
        console.print(Text(f"\n{counted(around.outgoing, 'pair')} move on from it to {to}"))
        console.print(_table(around.moves_to, [s.perspective for s in around.moves_to], most, LEAVING))
        _print_rest(around.more_perspectives)
    if around.comes_from:
        of = counted(around.foci, "topic")
        console.print(Text(f"\n{counted(around.incoming, 'pair')} lead to it from {of}"))
        console.print(_table(around.comes_from, [s.focus for s in around.comes_from], most, LEADING))
        _print_rest(around.more_foci)


def _print_rest(topics: int) -> None:
    if topics:
        results().print(f"[dim]and {counted(topics, 'topic')} more, less frequent: --limit shows more[/]")


def _table(shifts: Sequence[CountedShift], others: Sequence[str], most: int, colour: str) -> Table:
    """One row for each shift: the other topic, its count, a bar, and a post with its reply."""
    from rich.text import Text

    table = plain_table("topic", "pairs", "", "for example")
    table.columns[1].justify = "right"
    table.columns[2].no_wrap = True
    table.columns[3].ratio = 1
    for shift, other in zip(shifts, others, strict=True):
        stays = " (stays)" if shift.focus == shift.perspective else ""
        bar = Text("━" * max(1, round(BAR * shift.count / most)), colour)
        table.add_row(Text(f"{other}{stays}"), f"{shift.count:,}", bar, _example(shift))
    return table


def _example(shift: CountedShift) -> str:
    from rich.markup import escape

    if not shift.pairs:
        return ""
    pair = shift.pairs[0]
    return f"{escape(pair.post)}\n[dim]→[/] {escape(pair.reply)}"


@command(
    "graphneg shift substitutes --post 'Shall we go to the market tomorrow?'",
    "graphneg shift substitutes --utterance dailydialog/test/12#3 --predictor embedding --model PATH",
    "graphneg shift substitutes -o substitutes.jsonl --corpus dailydialog --top 50",
)
def substitutes(
    post: Annotated[str | None, _of_what(metavar="TEXT", help="A post of your own.")] = None,
    utterance: Annotated[
        str | None, _of_what(metavar="ID", help="A reply of the store: an utterance or a response.")
    ] = None,
    out: Annotated[
        Path | None, _of_what("--out", "-o", metavar="FILE", help="Of every reply, to a .jsonl file.")
    ] = None,
    predictor: Annotated[
        str, _how(help="frequency, embedding, seq2seq or causal, or one that is installed.")
    ] = "frequency",
    model: Annotated[str | None, _how(metavar="PATH_OR_ID", help="The predictor's model.")] = None,
    option: Annotated[
        list[str] | None, _how(metavar="NAME=VALUE", help="Another option of the predictor; repeatable.")
    ] = None,
    turns: Annotated[int, _how(min=1, help="Keywords of so many turns are foci.")] = 3,
    hops: Annotated[int, _how(min=1, max=2, help="How far from a focus candidates are.")] = 2,
    most: Annotated[int, _how(min=1, help="At most so many candidates of a focus.")] = 1000,
    size: Annotated[int, _how(min=1, help="Candidates of a subset; one is taken of each.")] = 5,
    seed: Annotated[int, _how(help="The same seed makes the same subsets.")] = 0,
    top: Annotated[int, _how(min=1, help="So many of the best substitutes.")] = 20,
    language: Annotated[
        str | None, Option(metavar="CODE", help="Language of --post; else that of the shift graph.")
    ] = None,
    *,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Find other perspectives that a reply could move to: candidates of the shift graph, predicted.

    Each keyword before the reply is a focus; what it leads to, without the reply's own perspective, is
    split into subsets, and the predictor takes one of each. Give one of --post, --utterance and --out.
    A file is resumable: the same command goes on where it was stopped.
    """
    from graphneg.shift.keywords import get_extractor
    from graphneg.shift.prediction import predictor_names

    if sum(given is not None for given in (post, utterance, out)) != 1:
        raise BadParameter("give one of --post, --utterance and --out")
    options = named_values(option, "--option") | without_none(model=model)
    if predictor not in predictor_names():
        known = ", ".join(predictor_names())
        raise BadParameter(f"no predictor named {predictor!r}; choose one of {known}")
    sizes = {"turns": turns, "hops": hops, "most": most, "size": size, "seed": seed, "top": top}
    with where.opened() as graph:
        if out is not None:
            chosen.require(graph)
        bars = Bars()
        with messages().status(f"loading {predictor}"):
            finder = graph.substitutes(
                predictor,
                predictor_options=options,
                keywords=None if language is None else get_extractor("yake", language),
                progress=bars,
                **sizes,
                **chosen.named,
            )
        if out is not None:
            with stopping(keeps_part(out, "found")), bars:
                report = finder.to_jsonl(out)
            say(f"{out}: {report.written:,} of {report.replies:,} replies have substitutes")
            for why, amount in sorted(report.skipped.items()):
                say(f"  {amount:,}: {why}")
        elif utterance is not None:
            _print_substitutes(finder.of_reply(utterance), turns)
        elif post is not None:
            _print_substitutes(finder.of_post(post), turns)


def _print_substitutes(found: Substitutes, turns: int) -> None:
    from rich.text import Text

    reply = found.reply
    if not found.ranked:
        keywords = sorted({text for some in reply.keywords[-turns:] for text in some})
        raise InputError(
            f"no keyword of the post leads to another perspective in the shift graph: "
            f"{', '.join(keywords) or 'it has none'}"
        )
    if reply.text:
        say(f"{reply.turns[-1]}\n=> {reply.text} ({reply.focus or '-'} to {reply.perspective or '-'})")
    table = plain_table("focus", "substitute", "score")
    for one in found.ranked:
        table.add_row(Text(one.focus), Text(one.text, "bold"), f"{one.score:.4g}")
    results().print(table)


@command(
    "graphneg shift train seq2seq --model facebook/bart-base -o predictor",
    "graphneg shift train causal --model path/to/model -o predictor --limit 5000",
)
def train(
    predictor: Annotated[Literal["seq2seq", "causal"], Argument(help="Which predictor.")],
    model: Annotated[str, Option(metavar="PATH_OR_ID", help="The model to start from, by folder or hub id.")],
    out: OutFolder,
    limit: Annotated[int | None, Option(min=1, help="At most so many pairs, chosen by --seed.")] = None,
    size: Annotated[int, Option(min=1, help="Candidates of a subset (seq2seq).")] = 5,
    *,
    lessons: LanguageModelTraining,
    chosen: CorpusOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model on the pairs of the shift graph, for graphneg shift substitutes.

    seq2seq (BART, T5) learns to choose the reply's perspective among candidates; causal (GPT-2, Llama)
    to name it. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.shift.candidates import Splitting
    from graphneg.shift.substitutes import train_predictor

    with where.opened() as graph, training(out) as bars:
        report = train_predictor(
            graph.store,
            predictor,
            model,
            out,
            selection=chosen.selection,
            splitting=Splitting(size, lessons.seed),
            limit=limit,
            device=lessons.device,
            offline=lessons.offline,
            progress=bars,
            **lessons.arguments,
        )
    tell_trained(report, out, f"; {report.skipped:,} too long" if report.skipped else "")


app = group(
    "shift",
    "The shift graph: which keyword replies attend to, and which they move to.",
    (build, export, show, substitutes, train),
    "graphneg shift build",
    "graphneg shift export -o shifts.graphml",
)

"""``graphneg shift``: the shift graph, and what it says that replies could have moved to instead."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.markup import escape
from rich.table import Column
from rich.text import Text
from typer import BadParameter

from graphneg.cli import commands, options, terminal
from graphneg.cli.commands import argument, command, named_values, option, panel, without_none
from graphneg.cli.options import (
    CorpusOptions,
    DialogueOptions,
    LanguageModelTraining,
    Overwrite,
    StoreOptions,
)
from graphneg.cli.tables import plain_table, results
from graphneg.cli.terminal import (
    counted,
    keeps_part,
    messages,
    note,
    say,
    say_complete,
    stopping,
    training,
    working,
)
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.shift.page import Neighbourhood
    from graphneg.shift.substitutes import Substitutes

BAR = 16
_of_embedder = panel("Embedder")
_of_what = panel("Of what")
_how = panel("Which substitutes")


@command(
    "graphneg shift build",
    "graphneg shift build --embedder sentence-transformers/all-MiniLM-L6-v2",
    "graphneg shift build --embedder glove.6B.50d.txt --keywords rake --corpus dailydialog",
)
def build(
    *,
    embedder: str = _of_embedder(
        "glove-50d",
        "An encoder by path or hub id, or word vectors: a file (.txt, .gz, .npz), "
        "or the small ones that come with graphneg.",
        "PATH_OR_ID",
    ),
    keywords: Literal["yake", "rake"] = option("yake", "How keywords are found."),
    language: str = option("en", "Language of the texts.", "CODE"),
    model: str | None = option(None, "A spaCy model; else an installed one of the language.", "NAME_OR_PATH"),
    cache: Path | None = _of_embedder(None, "Keep embeddings in a file for the next time."),
    device: str | None = _of_embedder(None, "cpu, cuda, mps; else the best there is."),
    threads: int | None = _of_embedder(None, "Threads of the encoder; else one a core.", min=1),
    offline: bool = _of_embedder(False, "Fetch nothing from a hub."),
    rebuild: bool = option(False, "Remove the whole shift graph first, of all corpora."),
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

    own = without_none(cache=cache, device=device, threads=threads, offline=offline or None)
    with where.opened() as graph:
        with messages().status(f"loading {embedder}"):
            extractor = get_extractor(keywords, language, model)
            made = get_embedder(embedder, **own)
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
    *,
    out: Path = option(..., "File ending .graphml, .parquet or .jsonl.", None, "--out", "-o"),
    corpus: list[str] | None = option(None, "Only the shifts of this corpus; repeatable."),
    overwrite: Overwrite = False,
    where: StoreOptions,
) -> None:
    """Write the shift graph to a file: keywords, and how often replies move from one to the other.

    .graphml is one directed graph with a count on its edges; .parquet and .jsonl hold one edge a row.
    """
    from graphneg.records.runs import check_new, check_output
    from graphneg.shift.graphs import SUFFIXES

    check_output(out, SUFFIXES)
    check_new(out, overwrite)
    with where.opened() as graph:
        written = graph.export_shifts(out, corpora=corpus or (), overwrite=overwrite)
    say(f"{counted(written, 'edge')} written to {out}")


@command("graphneg shift show coffee", "graphneg shift show coffee --limit 20 --html coffee.html")
def show(
    *,
    focus: str = argument(..., "A topic of the shift graph.", "FOCUS"),
    limit: int = option(12, "Shifts at most, in each direction.", min=1),
    html: Path | None = option(None, "Write a page for a browser as well."),
    examples: int = option(20, "Pairs at most of each shift, in the page.", min=1),
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
    """For each direction a table: the other topic, its count, a bar, and a post with its reply."""
    console = results()
    console.print(Text(around.topic, "bold"))
    if around.opposites:
        console.print(Text(f"opposites: {', '.join(around.opposites)}", "dim"))
    most = max(shift.count for shift in (*around.moves_to, *around.comes_from))
    to, of = counted(around.perspectives, "topic"), counted(around.other_foci, "other topic")
    leaving = f"{counted(around.outgoing, 'pair')} move on from it to {to}"
    leading = f"{counted(around.arriving, 'pair')} lead to it from {of}"
    for title, shifts, end, colour, more in (
        (leaving, around.moves_to, "perspective", "blue", around.more_perspectives),
        (leading, around.comes_from, "focus", "yellow", around.more_foci),
    ):
        if not shifts:
            continue
        columns = (
            "topic",
            Column("pairs", justify="right"),
            Column(no_wrap=True),
            Column("for example", ratio=1),
        )
        table = plain_table(*columns)
        for shift in shifts:
            stays = " (stays)" if shift.focus == shift.perspective else ""
            bar = Text("━" * max(1, round(BAR * shift.count / most)), colour)
            said = [f"{escape(pair.post)}\n[dim]→[/] {escape(pair.reply)}" for pair in shift.pairs[:1]]
            table.add_row(Text(f"{getattr(shift, end)}{stays}"), f"{shift.count:,}", bar, *said)
        console.print(Text(f"\n{title}"))
        console.print(table)
        if more:
            console.print(f"[dim]and {counted(more, 'topic')} more, less frequent: --limit shows more[/]")


@command(
    "graphneg shift substitutes --post 'Shall we go to the market tomorrow?'",
    "graphneg shift substitutes --utterance dailydialog/test/12#3 --predictor embedding --model PATH",
    "graphneg shift substitutes -o substitutes.jsonl --corpus dailydialog --top 50",
)
def substitutes(
    *,
    post: str | None = _of_what(None, "A post of your own.", "TEXT"),
    utterance: str | None = _of_what(None, "A reply of the store: an utterance or a response.", "ID"),
    out: Path | None = _of_what(None, "Of every reply, to a .jsonl file.", None, "--out", "-o"),
    predictor: str = _how("frequency", "frequency, embedding, seq2seq or causal, or one that is installed."),
    model: str | None = _how(None, "The predictor's model.", "PATH_OR_ID"),
    option: list[str] | None = _how(None, "Another option of the predictor; repeatable.", "NAME=VALUE"),
    turns: int = _how(3, "Keywords of so many turns are foci.", min=1),
    hops: int = _how(2, "How far from a focus candidates are.", min=1, max=2),
    most: int = _how(1000, "At most so many candidates of a focus.", min=1),
    size: int = _how(5, "Candidates of a subset; one is taken of each.", min=1),
    seed: int = _how(0, "The same seed makes the same subsets."),
    top: int = _how(20, "So many of the best substitutes.", min=1),
    overwrite: Overwrite = False,
    language: str | None = option(None, "Language of --post; else that of the shift graph.", "CODE"),
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Find other perspectives that a reply could move to: candidates of the shift graph, predicted.

    Each keyword before the reply is a focus; what it leads to, without the reply's own perspective, is
    split into subsets, and the predictor takes one of each. Give one of --post, --utterance and --out.
    A file is resumable: the same command goes on where it was stopped.
    """
    from graphneg.shift.keywords import get_extractor
    from graphneg.shift.prediction import PLUGINS

    if sum(given is not None for given in (post, utterance, out)) != 1:
        raise BadParameter("give one of --post, --utterance and --out")
    own = named_values(option, "--option") | without_none(model=model)
    if predictor not in (known := PLUGINS.names()):
        raise BadParameter(f"no predictor named {predictor!r}; choose one of {', '.join(known)}")
    sizes = {"turns": turns, "hops": hops, "most": most, "size": size, "seed": seed, "top": top}
    with where.opened() as graph:
        if out is not None:
            chosen.require(graph)
        bars = terminal.Bars()
        with messages().status(f"loading {predictor}"):
            finder = graph.substitutes(
                predictor,
                predictor_options=own,
                keywords=None if language is None else get_extractor("yake", language),
                progress=bars,
                **sizes,
                **chosen.named,
            )
        if out is not None:
            with stopping(keeps_part(out, "what was found")), bars:
                report = finder.to_jsonl(out, overwrite=overwrite)
            if report.was_complete:
                say_complete(out, f"substitutes of {report.written:,} replies")
                return
            say(f"{out}: {report.written:,} of {report.replies:,} replies have substitutes")
            for why, amount in sorted(report.skipped.items()):
                say(f"  {amount:,}: {why}")
        elif utterance is not None:
            _print_substitutes(finder.of_reply(utterance), turns)
        elif post is not None:
            _print_substitutes(finder.of_post(post), turns)


def _print_substitutes(found: Substitutes, turns: int) -> None:
    reply = found.reply
    if not found.ranked:
        keywords = sorted({text for some in reply.keywords[-turns:] for text in some})
        raise InputError(
            f"no keyword of the post leads to another perspective in the shift graph: "
            f"{', '.join(keywords) or 'it has none'}"
        )
    if reply.text:
        say(f"{reply.turns[-1]}\n=> {reply.text} ({reply.focus or '-'} to {reply.perspective or '-'})")
    rows = ((Text(best.focus), Text(best.text, "bold"), f"{best.score:.4g}") for best in found.ranked)
    results().print(plain_table("focus", "substitute", "score", rows=rows))


@command(
    "graphneg shift train seq2seq --model facebook/bart-base -o predictor",
    "graphneg shift train causal --model path/to/model -o predictor --limit 5000",
)
def train(
    *,
    predictor: Literal["seq2seq", "causal"] = argument(..., "Which predictor."),
    model: str = option(..., "The model to start from, by folder or hub id.", "PATH_OR_ID"),
    out: options.OutFolder,
    limit: int | None = option(None, "At most so many pairs, chosen by --seed.", min=1),
    size: int = option(5, "Candidates of a subset (seq2seq).", min=1),
    lessons: LanguageModelTraining,
    chosen: CorpusOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model on the pairs of the shift graph, for graphneg shift substitutes.

    seq2seq (BART, T5) learns to choose the reply's perspective among candidates; causal (GPT-2, Llama)
    to name it. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.shift.candidates import Reach
    from graphneg.shift.substitutes import train_predictor

    with where.opened() as graph, training(out) as bars:
        report = train_predictor(
            graph.store,
            predictor,
            model,
            out,
            selection=chosen.selection,
            reach=Reach(size=size, seed=lessons.seed),
            limit=limit,
            device=lessons.device,
            offline=lessons.offline,
            progress=bars,
            **lessons.arguments,
        )
    too_long = f"; {report.skipped:,} too long" if report.skipped else ""
    terminal.tell_trained(report, out, too_long, report.examples)


app = commands.group(
    "shift",
    "The shift graph: which keyword replies attend to, and which they move to.",
    (build, export, show, substitutes, train),
)

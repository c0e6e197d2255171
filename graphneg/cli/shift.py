"""Define the commands ``shift``, which build and use the graph of keyword shifts between posts and replies.

If somebody answers the post "Do you like coffee?" with "I prefer tea.", the conversation shifts from the
keyword "coffee", which is called the focus, to the keyword "tea", which is called the perspective. The shift
graph counts how often replies move from each focus to each perspective. ``shift substitutes`` searches the
graph for other perspectives to which a reply could have moved. The method follows CAPT (Ou et al. 2022).

Example::

    graphneg shift build
    graphneg shift show coffee      # keywords to which replies move from coffee, with counts and examples
    graphneg shift substitutes --post "Shall we go to the market tomorrow?"
"""

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
    advise_on_interrupt,
    counted,
    messages,
    print_already_complete,
    print_message,
    print_note,
    progress_bars,
    resume_file_message,
    training,
)
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.shift.page import Neighbourhood
    from graphneg.shift.substitutes import Substitutes

BAR = 16
"""Length of the longest bar in a table, in characters."""
_of_embedder = panel("Embedder")
_of_what = panel("What to find substitutes for")
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
        "Embedder for comparing keywords: an encoder (path or hub id), a file of word "
        "vectors (.txt, .gz, .npz), or the small word vectors that come with graphneg.",
        "PATH_OR_ID",
    ),
    keywords: Literal["yake", "rake"] = option("yake", "The algorithm that extracts keywords."),
    language: str = option("en", "Language of the texts.", "CODE"),
    model: str | None = option(
        None, "A spaCy model. Default: an installed model for the language.", "NAME_OR_PATH"
    ),
    cache: Path | None = _of_embedder(
        None, "File in which embeddings are stored for later runs. Default: not stored."
    ),
    device: str | None = _of_embedder(
        None, "Device of the encoder: cpu, cuda or mps. Default: the best available device."
    ),
    threads: int | None = _of_embedder(
        None, "Number of threads that the encoder uses. Default: one per CPU core.", min=1
    ),
    offline: bool = _of_embedder(False, "Do not download anything from a model hub."),
    rebuild: bool = option(False, "First delete the existing shift graph, which covers all corpora."),
    chosen: CorpusOptions,
    where: StoreOptions,
) -> None:
    """Find the keywords of posts and replies, and count the shifts from keyword to keyword.

    The focus of a shift is the keyword of the post that is most similar to the reply. The perspective is the
    keyword of the reply that is most similar to the focus. The replies to a post are the next utterance and
    the responses with label 1. Dialogues that are in the shift graph already are skipped: if a run is
    interrupted, run the same command again to complete it.
    """
    from graphneg.nn.embedders import get_embedder
    from graphneg.shift.keywords import get_extractor

    # Pass only options that the user has set, because word vectors do not accept the options of encoders,
    # such as --device.
    embedder_options = without_none(cache=cache, device=device, threads=threads, offline=offline or None)
    with where.opened() as graph:
        with messages().status(f"loading {embedder}"):
            extractor = get_extractor(keywords, language, model)
            made = get_embedder(embedder, **embedder_options)
        for line in extractor.notes:
            print_note(line)
        with progress_bars(
            "the shifts written so far are kept; run the same command again to continue"
        ) as bars:
            existing = "replace" if rebuild else "keep"
            report = graph.shift(
                made, keywords=extractor, existing=existing, progress=bars, **chosen.as_arguments
            )
    print_message(report.summary())


@command(
    "graphneg shift export -o shifts.graphml", "graphneg shift export -o shifts.parquet --corpus dailydialog"
)
def export(
    *,
    out: Path = option(..., "The file to write: .graphml, .parquet or .jsonl.", None, "--out", "-o"),
    corpus: list[str] | None = option(None, "Write only the shifts of this corpus. Repeatable."),
    overwrite: Overwrite = False,
    where: StoreOptions,
) -> None:
    """Write the shift graph to a file: keywords, and how often replies move from one keyword to another.

    A .graphml file contains one directed graph with a count on each edge. A .parquet or .jsonl file has one
    row or line per edge.
    """
    from graphneg.records.runs import check_new, check_output
    from graphneg.shift.graphs import SUFFIXES

    check_output(out, SUFFIXES)
    check_new(out, overwrite)
    with where.opened() as graph:
        written = graph.export_shifts(out, corpora=corpus or (), overwrite=overwrite)
    print_message(f"{counted(written, 'edge')} written to {out}")


@command("graphneg shift show coffee", "graphneg shift show coffee --limit 20 --html coffee.html")
def show(
    *,
    focus: str = argument(..., "A keyword in the shift graph.", "FOCUS"),
    limit: int = option(12, "Maximum number of keywords to show in each of the two tables.", min=1),
    html: Path | None = option(None, "Also write the table to this file, as a page for a browser."),
    examples: int = option(20, "Maximum number of post and reply pairs per shift on the page.", min=1),
    where: StoreOptions,
) -> None:
    """Show the keywords to which replies move from a keyword, and the keywords from which they move to it.

    --html writes a page as a single file, which can be opened without a server or the internet. Click a shift
    on the page to see the posts and replies that were counted for this shift.
    """
    from graphneg.shift.page import neighbourhood, write_page

    with where.opened() as graph, advise_on_interrupt("nothing was changed"):
        around = neighbourhood(graph.store, focus, limit, examples)
        if html is not None:
            write_page(around, html)
    _print_neighbourhood(around)
    if html is not None:
        print_message(f"wrote {html}")


def _print_neighbourhood(around: Neighbourhood) -> None:
    """Print two tables: the shifts from a keyword, and the shifts to this keyword.

    A row contains the other keyword of the shift, the number of pairs of a post and a reply, a bar whose
    length shows this number, and one of the pairs as an example.
    """
    console = results()
    console.print(Text(around.topic, "bold"))
    if around.opposites:
        console.print(Text(f"opposites: {', '.join(around.opposites)}", "dim"))
    # Scale the bars of both tables by the same maximum, so that the two tables can be compared.
    most = max(shift.count for shift in (*around.outgoing_shifts, *around.incoming_shifts))
    to, of = counted(around.perspectives, "topic"), counted(around.other_foci, "other topic")
    leaving = f"{counted(around.outgoing, 'pair')} move from this topic to {to}"
    leading = f"{counted(around.arriving, 'pair')} move to this topic from {of}"
    for title, shifts, end, colour, more in (
        (leaving, around.outgoing_shifts, "perspective", "blue", around.more_perspectives),
        (leading, around.incoming_shifts, "focus", "yellow", around.more_foci),
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
            # Mark replies that stay with the topic: "Do you like coffee?" -> "Yes, coffee is great."
            stays = " (stays)" if shift.focus == shift.perspective else ""
            bar = Text("━" * max(1, round(BAR * shift.count / most)), colour)
            said = [f"{escape(pair.post)}\n[dim]→[/] {escape(pair.reply)}" for pair in shift.pairs[:1]]
            table.add_row(Text(f"{getattr(shift, end)}{stays}"), f"{shift.count:,}", bar, *said)
        console.print(Text(f"\n{title}"))
        console.print(table)
        if more:
            console.print(
                f"[dim]and {counted(more, 'topic')} more, which are less frequent; raise --limit to see "
                "them[/]"
            )


@command(
    "graphneg shift substitutes --post 'Shall we go to the market tomorrow?'",
    "graphneg shift substitutes --utterance dailydialog/test/12#3 --predictor embedding --model PATH",
    "graphneg shift substitutes -o substitutes.jsonl --corpus dailydialog --top 50",
)
def substitutes(
    *,
    post: str | None = _of_what(None, "Find perspectives for replies to this post.", "TEXT"),
    utterance: str | None = _of_what(
        None, "Find perspectives for this reply in the store: id of an utterance or response.", "ID"
    ),
    out: Path | None = _of_what(
        None, "Find perspectives for every reply, and write them to this .jsonl file.", None, "--out", "-o"
    ),
    predictor: str = _how(
        "frequency",
        "The predictor that ranks perspectives: frequency, embedding, seq2seq, causal or another installed "
        "one.",
    ),
    model: str | None = _how(None, "The model of the predictor.", "PATH_OR_ID"),
    option: list[str] | None = _how(None, "A further option of the predictor. Repeatable.", "NAME=VALUE"),
    turns: int = _how(3, "Number of turns before the reply whose keywords serve as foci.", min=1),
    hops: int = _how(
        2, "Maximum distance of a candidate from the focus, in edges of the shift graph.", min=1, max=2
    ),
    max_candidates: int = _how(
        1000, "Maximum number of candidates per focus; the most frequent are kept.", min=1
    ),
    subset_size: int = _how(
        5, "Number of candidates per subset; the predictor selects one candidate of each subset.", min=1
    ),
    seed: int = _how(0, "Random seed. The same seed gives the same subsets."),
    top: int = _how(20, "Number of results to return.", min=1),
    overwrite: Overwrite = False,
    language: str | None = option(
        None, "Language of --post. Default: the language of the shift graph.", "CODE"
    ),
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Find other keywords (perspectives) to which a reply could move, among candidates from the shift graph.

    Each keyword of the turns before the reply is used as a focus, that is, as the keyword that the reply
    attends to. The candidates are the keywords to which replies move from this focus, except the reply's own
    perspective. The predictor gets a few candidates at a time (see --subset-size), and selects one of them.
    Give exactly one of --post, --utterance and --out. If a run with --out is interrupted, run the same
    command again to continue. \N{FORM FEED}

    Raises:
        BadParameter: Not exactly one of ``--post``, ``--utterance`` and ``--out`` is given, or there is no
            predictor with this name.
    """
    from graphneg.shift.keywords import get_extractor
    from graphneg.shift.prediction import PLUGINS

    if sum(given is not None for given in (post, utterance, out)) != 1:
        raise BadParameter("give one of --post, --utterance and --out")
    own = named_values(option, "--option") | without_none(model=model)
    if predictor not in (known := PLUGINS.names()):
        raise BadParameter(f"no predictor named {predictor!r}; choose one of {', '.join(known)}")
    sizes = {
        "turns": turns,
        "hops": hops,
        "max_candidates": max_candidates,
        "subset_size": subset_size,
        "seed": seed,
        "top": top,
    }
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
                **chosen.as_arguments,
            )
        if out is not None:
            with advise_on_interrupt(resume_file_message(out)), bars:
                report = finder.to_jsonl(out, overwrite=overwrite)
            if report.was_complete:
                print_already_complete(out, f"substitutes of {report.written:,} replies")
                return
            print_message(f"{out}: {report.written:,} of {report.replies:,} replies have substitutes")
            for why, amount in sorted(report.skipped.items()):
                print_message(f"  {amount:,}: {why}")
        elif utterance is not None:
            _print_substitutes(finder.of_reply(utterance), turns)
        elif post is not None:
            _print_substitutes(finder.of_post(post), turns)


def _print_substitutes(found: Substitutes, turns: int) -> None:
    reply = found.reply
    if not found.ranked:
        keywords = sorted({text for some in reply.keywords[-turns:] for text in some})
        raise InputError(
            f"the shift graph has no perspective for the keywords of the post: "
            f"{', '.join(keywords) or 'the post has no keywords'}"
        )
    if reply.text:
        print_message(
            f"{reply.turns[-1]}\n=> {reply.text} ({reply.focus or '-'} to {reply.perspective or '-'})"
        )
    rows = ((Text(best.focus), Text(best.text, "bold"), f"{best.score:.4g}") for best in found.ranked)
    results().print(plain_table("focus", "substitute", "score", rows=rows))


@command(
    "graphneg shift train seq2seq --model facebook/bart-base -o predictor",
    "graphneg shift train causal --model path/to/model -o predictor --limit 5000",
)
def train(
    *,
    predictor: Literal["seq2seq", "causal"] = argument(
        ..., "Type of the predictor (the model that chooses perspectives) to train."
    ),
    model: str = option(..., "The language model to fine-tune: a folder or a hub id.", "PATH_OR_ID"),
    out: options.OutFolder,
    limit: int | None = option(
        None, "Maximum number of training pairs, sampled with --seed. Default: all pairs.", min=1
    ),
    subset_size: int = option(5, "Number of candidates from which a seq2seq predictor selects one.", min=1),
    training_options: LanguageModelTraining,
    chosen: CorpusOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model that finds the perspectives of replies.

    The perspective of a reply is the keyword to which the reply moves the conversation. The command `graphneg
    shift substitutes` uses the model. It is trained on the posts and replies from which the shift graph was
    built. A seq2seq predictor (BART, T5) learns to select the perspective of a reply from a list of
    candidates. A causal predictor (GPT-2, Llama) learns to generate the perspective. If a run is interrupted,
    run the same command again to continue from the last checkpoint.
    """
    from graphneg.shift.candidates import CandidateOptions
    from graphneg.shift.substitutes import train_predictor

    with where.opened() as graph, training(out) as bars:
        report = train_predictor(
            graph.store,
            predictor,
            model,
            out,
            selection=chosen.selection,
            reach=CandidateOptions(subset_size=subset_size, seed=training_options.seed),
            limit=limit,
            device=training_options.device,
            offline=training_options.offline,
            progress=bars,
            **training_options.arguments,
        )
    too_long = f"; {report.skipped:,} too long" if report.skipped else ""
    terminal.print_trained(report, out, too_long, report.examples)


app = commands.group(
    "shift",
    "The shift graph: the keywords that replies attend to, and the keywords they move to.",
    (build, export, show, substitutes, train),
)

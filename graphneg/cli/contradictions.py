"""graphneg contradictions: responses that may contradict, collected and labelled step by step."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphneg.cli.terminal import (
    Corpora,
    Database,
    Limit,
    Password,
    Splits,
    StorePlace,
    Username,
    add_job,
    counted,
    examples,
    named_values,
    note,
    opened,
    require_dialogues,
    say,
    stopping,
)

if TYPE_CHECKING:
    from graphneg.generators.base import Context
    from graphneg.generators.base import Generator as Responder
    from graphneg.ingest.labelled import Labelled
    from graphneg.scorers.label_sheets import Agreement


# ``graphneg contradictions``: responses that may contradict, collected and labelled step by step.


Out = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same responses.")]
Device = Annotated[str, typer.Option(help="cpu, cuda; auto is the best there is.")]
Offline = Annotated[bool, typer.Option("--offline", help="Fetch nothing from a hub.")]
Sheets = Annotated[
    list[Path],
    typer.Argument(
        metavar="SHEET...", help="Label sheets (CSV): one that all filled, or a copy of each annotator."
    ),
]

app = typer.Typer(
    name="contradictions",
    help="Collect contradictory responses: questions that lead to them, responses, labels of three people.",
    epilog=examples(
        "graphneg contradictions contexts --model gpt2 --top 500 -o contexts.jsonl",
        "graphneg contradictions responses contexts.jsonl --lm small=gpt2 -o responses.jsonl",
        "graphneg contradictions sheet responses.jsonl -o labels.csv",
        "graphneg contradictions agreement labels.csv",
        "graphneg contradictions export responses.jsonl labels.csv -o labelled.jsonl",
    ),
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def register(parent: typer.Typer) -> None:
    parent.add_typer(app)


def contexts(
    model: Annotated[
        str, typer.Option(metavar="PATH_OR_ID", help="The causal language model that tells follow-ups.")
    ],
    out: Out,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Dialogues of your own (JSON lines, CSV, TSV) in place of a store."
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="So many contexts, the best ones.")] = 1000,
    per_dialogue: Annotated[int, typer.Option(min=1, help="Of one dialogue, at most.")] = 1,
    furthest: Annotated[int, typer.Option(min=1, help="Turns of the answerer that are looked at.")] = 3,
    corpus: Corpora = None,
    split: Splits = None,
    limit: Limit = None,
    overwrite: Overwrite = False,
    device: Device = "auto",
    offline: Offline = False,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Find contexts that end in a question about what the answerer said before.

    Each is scored by FQness: how much likelier the question is where the turns since then are missing
    than where that turn is missing. The best contexts are written, best first. Stopped, the same
    command goes on.
    """
    from graphneg.cli.terminal import Bars
    from graphneg.nn.models import load_causal
    from graphneg.scorers.collection import ContextChoice, collect_contexts

    choice = ContextChoice(top, per_dialogue, furthest)
    causal = load_causal(model, device=device, offline=offline)
    facts = {"model": str(causal.path), "corpora": corpus, "splits": split, "limit": limit}
    place = (store, username, password, database)
    with (
        _contexts(file, place, corpus or (), split or (), limit) as (some, origin),
        stopping(f"{out} was not written; the same command goes on"),
        Bars() as bars,
    ):
        found = collect_contexts(
            some, causal, out, choice, facts={**facts, **origin}, overwrite=overwrite, progress=bars
        )
    worst, highest = found[-1].log_fqness, found[0].log_fqness
    say(f"{out}: {counted(len(found), 'context')}, log FQness {worst:.2f} to {highest:.2f}")


def responses(
    file: Annotated[Path, typer.Argument(metavar="CONTEXTS", help="What `contexts` wrote.")],
    out: Out,
    generator: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An installed generator, over the store. Repeatable."),
    ] = None,
    lm: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=PATH_OR_ID", help="A causal language model that replies. Repeatable."),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE", help='JSON lines with "id" (of a context) and "response". Repeatable.'
        ),
    ] = None,
    per_context: Annotated[int, typer.Option(min=1, help="Responses of each to a context.")] = 1,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the generators; repeatable."),
    ] = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    device: Device = "auto",
    offline: Offline = False,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Let generators respond to the contexts. Stopped, the same command goes on."""
    from graphneg.cli.terminal import Bars
    from graphneg.nn.models import load_causal
    from graphneg.scorers.collection import FileResponses, Replies, collect_responses
    from graphneg.scorers.collection_files import read_contexts_file

    if not (generator or lm or given):
        raise typer.BadParameter("name who responds: --generator, --lm or --given")
    found = read_contexts_file(file)
    own: list[Responder] = [FileResponses(name, str(path)) for name, path in _named(given, "--given")]
    own += [
        Replies(name, load_causal(str(place), device=device, offline=offline))
        for name, place in _named(lm, "--lm")
    ]
    place = (store, username, password, database)
    with (
        _installed(generator or (), named_values(option or (), "--option"), place) as installed,
        stopping(f"{out}.part keeps what was made; the same command goes on"),
        Bars() as bars,
    ):
        amount = collect_responses(
            found,
            [*installed, *own],
            out,
            per_context=per_context,
            seed=seed,
            overwrite=overwrite,
            progress=bars,
        )
    say(f"{out}: {counted(amount, 'response')} to {counted(len(found), 'context')}")


def sheet(
    file: Annotated[Path, typer.Argument(metavar="RESPONSES", help="What `responses` wrote.")],
    out: Out,
    overwrite: Overwrite = False,
) -> None:
    """Write a label sheet: a CSV table in which three annotators write 1 (contradictory) or 0."""
    from graphneg.scorers.collection_files import read_responses_file
    from graphneg.scorers.label_sheets import write_sheet

    found = read_responses_file(file)
    write_sheet(found, out, overwrite=overwrite)
    say(f"{out}: {counted(len(found), 'response')} to label")


def agreement(
    sheets: Sheets,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Tell how annotators agree: Fleiss' kappa, and how many responses are of which class."""
    from dataclasses import asdict
    from json import dumps

    from graphneg.scorers.label_sheets import agreement as agree
    from graphneg.scorers.label_sheets import read_sheets

    found = agree(read_sheets(sheets))
    typer.echo(dumps(asdict(found)) if json else _agreement_line(found))


def export(
    file: Annotated[Path, typer.Argument(metavar="RESPONSES", help="What `responses` wrote.")],
    sheets: Sheets,
    out: Out,
    overwrite: Overwrite = False,
) -> None:
    """Write labelled responses as JSON lines, to train and evaluate detectors on.

    Two of three annotators make a response contradictory, none makes it not; the rest is dropped.
    """
    from graphneg.scorers.collection import write_responses
    from graphneg.scorers.collection_files import read_responses_file
    from graphneg.scorers.label_sheets import agreement as agree
    from graphneg.scorers.label_sheets import labelled_responses, read_sheets

    votes = read_sheets(sheets)
    found = labelled_responses(read_responses_file(file), votes)
    write_responses(found, out, overwrite=overwrite)
    note(_agreement_line(agree(votes)))
    say(f"{out}: {counted(len(found), 'response')}")


add_job(
    app,
    contexts,
    "graphneg contradictions contexts --model gpt2 --top 500 -o contexts.jsonl",
    "graphneg contradictions contexts --file chats.jsonl --model path/to/model -o contexts.jsonl",
)
add_job(
    app,
    responses,
    "graphneg contradictions responses contexts.jsonl --lm small=gpt2 --lm large=gpt2-xl -o responses.jsonl",
    "graphneg contradictions responses contexts.jsonl --given mine=answers.jsonl -o responses.jsonl",
)
add_job(app, sheet, "graphneg contradictions sheet responses.jsonl -o labels.csv")
add_job(app, agreement, "graphneg contradictions agreement ann.csv ben.csv cleo.csv")
add_job(app, export, "graphneg contradictions export responses.jsonl labels.csv -o labelled.jsonl")


def _agreement_line(found: Agreement) -> str:
    return (
        f"{counted(found.responses, 'response')}: {found.contradictory:,} contradictory, "
        f"{found.not_contradictory:,} not, {found.dropped:,} dropped; Fleiss' kappa {found.kappa:.3f}"
    )


def _named(given: list[str] | None, hint: str) -> Iterable[tuple[str, Any]]:
    return named_values(given or (), hint).items()


Place = tuple[str | None, str | None, str | None, str | None]


@contextmanager
def _contexts(
    file: Path | None, place: Place, corpora: Iterable[str], splits: Iterable[str], limit: int | None
) -> Generator[tuple[Iterable[Context], dict[str, str]]]:
    """The contexts of a file or a store, and what tells where they are from."""
    import hashlib

    from graphneg.generators.base import ContextSelection, read_contexts
    from graphneg.scorers.collection_files import read_dialogues_file
    from graphneg.store.dialogues import Selection

    if file is not None:
        found = read_dialogues_file(file)
        yield found, {"file": hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""}
        return
    with opened(*place) as graph:
        require_dialogues(graph, tuple(corpora), tuple(splits))
        wanted = ContextSelection(Selection(tuple(corpora), tuple(splits), limit), "every")
        yield read_contexts(graph.store, wanted), {"store": graph.store.description}


@contextmanager
def _installed(names: Iterable[str], options: dict[str, Any], place: Place) -> Generator[list[Responder]]:
    """The generators of these names over the store, which is opened only where there are some."""
    from graphneg.generators.base import get_generator

    if not names:
        yield []
        return
    with opened(*place) as graph:
        yield [get_generator(name, graph.store, **options) for name in names]


# Graph-made responses as the commands of contradictions read them: ``--made`` and ``--embedder``.


EmbedderOption = Annotated[
    str | None,
    typer.Option(
        metavar="PATH_OR_ID",
        help="An encoder of sentences: what --made contradicts is said as other speakers say it.",
    ),
]


def made_responses(
    paths: Sequence[Path] | None, embedder: str | None, *, seed: int, offline: bool
) -> list[Labelled]:
    """Responses made of files of negatives; none where no file is given.

    Raises:
        InputError: a file can't be read, is none of negatives, or there is no contradiction in them.
        ModelError: there is no such embedder.
    """
    from graphneg.nn.embedders import get_embedder, is_static
    from graphneg.scorers.edited_contradictions import read_made

    if not paths:
        return []
    options = {} if embedder is None or is_static(embedder) else {"offline": offline}
    return read_made(
        paths, seed=seed, embedder=None if embedder is None else get_embedder(embedder, **options)
    )

"""``graphneg contradictions``: responses that may contradict, collected and labelled step by step."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, BadParameter, Option

from graphneg.cli.options import (
    AnyDevice,
    DialogueOptions,
    Json,
    Offline,
    OutFile,
    Overwrite,
    Seed,
    StoreOptions,
    group,
    job,
    named_values,
)
from graphneg.cli.terminal import counted, keeps_part, note, print_json, say, working

if TYPE_CHECKING:
    from graphneg.generators.base import Context
    from graphneg.generators.base import Generator as Responder
    from graphneg.scorers.label_sheets import Agreement

Responses = Annotated[Path, Argument(metavar="RESPONSES", help="What `responses` wrote.")]
Sheets = Annotated[
    list[Path],
    Argument(
        metavar="SHEET...", help="Label sheets (CSV): one that all filled, or a copy of each annotator."
    ),
]


@job(
    "graphneg contradictions contexts --model gpt2 --top 500 -o contexts.jsonl",
    "graphneg contradictions contexts --file chats.jsonl --model path/to/model -o contexts.jsonl",
)
def contexts(
    model: Annotated[
        str, Option(metavar="PATH_OR_ID", help="The causal language model that tells follow-ups.")
    ],
    out: OutFile,
    file: Annotated[
        Path | None,
        Option(metavar="FILE", help="Dialogues of your own (JSON lines, CSV, TSV) in place of a store."),
    ] = None,
    top: Annotated[int, Option(min=1, help="So many contexts, the best ones.")] = 1000,
    per_dialogue: Annotated[int, Option(min=1, help="Of one dialogue, at most.")] = 1,
    furthest: Annotated[int, Option(min=1, help="Turns of the answerer that are looked at.")] = 3,
    overwrite: Overwrite = False,
    device: AnyDevice = "auto",
    offline: Offline = False,
    *,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Find contexts that end in a question about what the answerer said before.

    Each is scored by FQness: how much likelier the question is where the turns since then are missing
    than where that turn is missing. The best contexts are written, best first. Stopped, the same
    command goes on.
    """
    from graphneg.nn.models import load_causal
    from graphneg.scorers.collection import ContextChoice, collect_contexts

    causal = load_causal(model, device=device, offline=offline)
    facts = {"model": str(causal.path)}
    facts |= {"corpora": chosen.corpus, "splits": chosen.split, "limit": chosen.limit}
    with (
        _contexts(file, chosen, where) as (some, origin),
        working(f"{out} was not written; the same command goes on") as bars,
    ):
        found = collect_contexts(
            some,
            causal,
            out,
            ContextChoice(top, per_dialogue, furthest),
            facts={**facts, **origin},
            overwrite=overwrite,
            progress=bars,
        )
    worst, highest = found[-1].log_fqness, found[0].log_fqness
    say(f"{out}: {counted(len(found), 'context')}, log FQness {worst:.2f} to {highest:.2f}")


@contextmanager
def _contexts(
    file: Path | None, chosen: DialogueOptions, where: StoreOptions
) -> Generator[tuple[Iterable[Context], dict[str, str]]]:
    """The contexts of a file or a store, and what tells where they are from."""
    import hashlib

    from graphneg.generators.base import ContextSelection, read_contexts
    from graphneg.scorers.collection import read_dialogues_file

    if file is not None:
        found = read_dialogues_file(file)
        yield found, {"file": hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""}
        return
    with where.opened() as graph:
        chosen.require(graph)
        every = ContextSelection(chosen.selection, "every")
        yield read_contexts(graph.store, every), {"store": graph.store.description}


@job(
    "graphneg contradictions responses contexts.jsonl --lm small=gpt2 --lm large=gpt2-xl -o responses.jsonl",
    "graphneg contradictions responses contexts.jsonl --given mine=answers.jsonl -o responses.jsonl",
)
def responses(
    file: Annotated[Path, Argument(metavar="CONTEXTS", help="What `contexts` wrote.")],
    out: OutFile,
    generator: Annotated[
        list[str] | None, Option(metavar="NAME", help="An installed generator, over the store. Repeatable.")
    ] = None,
    lm: Annotated[
        list[str] | None,
        Option(metavar="NAME=PATH_OR_ID", help="A causal language model that replies. Repeatable."),
    ] = None,
    given: Annotated[
        list[str] | None,
        Option(metavar="NAME=FILE", help='JSON lines with "id" (of a context) and "response". Repeatable.'),
    ] = None,
    per_context: Annotated[int, Option(min=1, help="Responses of each to a context.")] = 1,
    option: Annotated[
        list[str] | None, Option(metavar="NAME=VALUE", help="An option of the generators; repeatable.")
    ] = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    device: AnyDevice = "auto",
    offline: Offline = False,
    *,
    where: StoreOptions,
) -> None:
    """Let generators respond to the contexts. Stopped, the same command goes on."""
    from graphneg.nn.models import load_causal
    from graphneg.scorers.collection import FileResponses, Replies, collect_responses, read_contexts_file

    if not (generator or lm or given):
        raise BadParameter("name who responds: --generator, --lm or --given")
    found = read_contexts_file(file)
    own: list[Responder] = [
        FileResponses(name, str(path)) for name, path in named_values(given, "--given").items()
    ]
    own += [
        Replies(name, load_causal(str(model), device=device, offline=offline))
        for name, model in named_values(lm, "--lm").items()
    ]
    with (
        _installed(generator or (), named_values(option, "--option"), where) as installed,
        working(keeps_part(out)) as bars,
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


@contextmanager
def _installed(
    names: Iterable[str], options: dict[str, Any], where: StoreOptions
) -> Generator[list[Responder]]:
    """The generators of these names over the store, which is opened only where there are some."""
    from graphneg.generators.base import get_generator

    if not names:
        yield []
        return
    with where.opened() as graph:
        yield [get_generator(name, graph.store, **options) for name in names]


@job("graphneg contradictions sheet responses.jsonl -o labels.csv")
def sheet(file: Responses, out: OutFile, overwrite: Overwrite = False) -> None:
    """Write a label sheet: a CSV table in which three annotators write 1 (contradictory) or 0."""
    from graphneg.scorers.collection import read_responses_file
    from graphneg.scorers.label_sheets import write_sheet

    found = read_responses_file(file)
    write_sheet(found, out, overwrite=overwrite)
    say(f"{out}: {counted(len(found), 'response')} to label")


@job("graphneg contradictions agreement ann.csv ben.csv cleo.csv")
def agreement(sheets: Sheets, json: Json = False) -> None:
    """Tell how annotators agree: Fleiss' kappa, and how many responses are of which class."""
    from dataclasses import asdict

    from graphneg.scorers.label_sheets import agreement as agree
    from graphneg.scorers.label_sheets import read_sheets

    found = agree(read_sheets(sheets))
    if json:
        print_json(asdict(found))
    else:
        typer.echo(_agreement_line(found))


@job("graphneg contradictions export responses.jsonl labels.csv -o labelled.jsonl")
def export(file: Responses, sheets: Sheets, out: OutFile, overwrite: Overwrite = False) -> None:
    """Write labelled responses as JSON lines, to train and evaluate detectors on.

    Two of three annotators make a response contradictory, none makes it not; the rest is dropped.
    """
    from graphneg.scorers.collection import read_responses_file, write_responses
    from graphneg.scorers.label_sheets import agreement as agree
    from graphneg.scorers.label_sheets import labelled_responses, read_sheets

    votes = read_sheets(sheets)
    found = labelled_responses(read_responses_file(file), votes)
    write_responses(found, out, overwrite=overwrite)
    note(_agreement_line(agree(votes)))
    say(f"{out}: {counted(len(found), 'response')}")


def _agreement_line(found: Agreement) -> str:
    return (
        f"{counted(found.responses, 'response')}: {found.contradictory:,} contradictory, "
        f"{found.not_contradictory:,} not, {found.dropped:,} dropped; Fleiss' kappa {found.kappa:.3f}"
    )


app = group(
    "contradictions",
    "Collect contradictory responses: questions that lead to them, responses, labels of three people.",
    (contexts, responses, sheet, agreement, export),
    "graphneg contradictions contexts --model gpt2 --top 500 -o contexts.jsonl",
    "graphneg contradictions responses contexts.jsonl --lm small=gpt2 -o responses.jsonl",
    "graphneg contradictions sheet responses.jsonl -o labels.csv",
    "graphneg contradictions agreement labels.csv",
    "graphneg contradictions export responses.jsonl labels.csv -o labelled.jsonl",
)

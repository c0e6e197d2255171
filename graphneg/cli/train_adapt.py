"""``graphneg train adapt``: an encoder that gets to know speakers and a domain before it learns to rank."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphneg.cli.choosing import Corpora, Limit, Splits
from graphneg.cli.options import named_values
from graphneg.cli.storing import Database, Password, StorePlace, Username, opened, require_dialogues
from graphneg.cli.terminal import add_job, counted, say, stopping_training
from graphneg.cli.train_ranker import held_out_texts

if TYPE_CHECKING:
    from graphneg.training.groups import Group


def register(app: typer.Typer) -> None:
    add_job(
        app,
        adapt,
        "graphneg train adapt --model bert-base-uncased -o adapted --corpus dailydialog",
        "graphneg train adapt negatives.jsonl --model bert-base-uncased -o adapted",
        "graphneg train ranker negatives.jsonl --kind sa-bert --model adapted -o ranker",
    )


def adapt(
    model: Annotated[
        str, typer.Option(metavar="PATH_OR_ID", help="An encoder of BERT's family: a folder or a hub id.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the trained encoder goes.")
    ],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE...]", help="Files of negatives (.jsonl, .parquet); else the store."),
    ] = None,
    held_out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Contexts (as evaluate ranker reads) whose responses are left out."
        ),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes; each masks other words.")] = 1,
    masked: Annotated[float, typer.Option(min=0.01, max=0.9, help="Share of words to be told.")] = 0.15,
    rate: Annotated[float, typer.Option(min=0, help="Learning rate.")] = 5e-5,
    batch: Annotated[int, typer.Option(min=1, help="Pairs of one step.")] = 32,
    max_tokens: Annotated[int, typer.Option(min=8, help="Longer contexts lose their first turns.")] = 256,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="One of transformers' TrainingArguments; repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed trains the same encoder on a CPU.")] = 0,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda; else the best there is.", show_default=False)
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing from a model hub.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Remove the model or stopped run of the folder first.")
    ] = False,
    corpus: Corpora = None,
    split: Splits = None,
    limit: Limit = None,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Post-train an encoder on dialogues: masked words and the next utterance, with speakers.

    Every turn is a reply to the ones before it, and so is every right response; in half of the
    examples another reply stands in its place. graphneg train ranker --kind sa-bert starts from the
    folder. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.cli.bars import Bars
    from graphneg.training.adapting import adapt as train_encoder
    from graphneg.training.adapting import groups_of_contexts, new_adaptable
    from graphneg.training.groups import read_groups

    def from_store() -> list[Group]:
        from graphneg.editing.originals import Selection
        from graphneg.generators.contexts import WantedContexts, read_contexts

        with opened(store, username, password, database) as graph:
            require_dialogues(graph, corpus or (), split or ())
            selection = Selection(tuple(corpus or ()), tuple(split or ()), limit)
            return groups_of_contexts(read_contexts(graph.store, WantedContexts(selection, "every")))

    groups = read_groups(files) if files else from_store()
    kept_out = held_out_texts(held_out)
    encoder = new_adaptable(model, seed=seed, device=device, offline=offline)
    arguments: dict[str, Any] = {
        "learning_rate": rate,
        "per_device_train_batch_size": batch,
        **named_values(option or (), "--option"),
    }
    with stopping_training(out), Bars() as bars:
        report = train_encoder(
            encoder,
            groups,
            out,
            epochs=epochs,
            max_tokens=max_tokens,
            masked=masked,
            held_out=kept_out,
            seed=seed,
            overwrite=overwrite,
            progress=bars,
            **arguments,
        )
    say(
        f"{out}: trained on {counted(report.examples, 'pair')} "
        f"in {counted(report.steps, 'step')}, loss {report.loss:.3f}"
    )

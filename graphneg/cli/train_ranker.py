"""graphneg train ranker and adapt."""

from __future__ import annotations

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
    named_values,
    note,
    opened,
    require_dialogues,
    say,
    stopping_training,
)

if TYPE_CHECKING:
    from graphneg.datasets.groups import Group
    from graphneg.datasets.negative_dataset import StoredGroups
    from graphneg.datasets.pair_sampler import Mix
    from graphneg.training.rankers import RankerReport


# ``graphneg train ranker``: a ranker that tells right responses from wrong ones.


def register(app: typer.Typer) -> None:
    add_job(
        app,
        ranker,
        "graphneg train ranker negatives.jsonl --model microsoft/MiniLM-L12-H384-uncased -o ranker",
        "graphneg train ranker edits.jsonl overlap.jsonl --mix overlap=3 --mix C-cont=1 --mix random=2 "
        "--model bert-base-uncased -o ranker",
        "graphneg train ranker negatives.jsonl --kind sa-bert --model adapted -o ranker",
        "graphneg train ranker negatives.jsonl --held-out test.json --model path/to/encoder -o ranker",
    )


def ranker(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Files of negatives (.jsonl, .parquet).")
    ],
    model: Annotated[
        str, typer.Option(metavar="PATH_OR_ID", help="The encoder to start from: a folder or a hub id.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the trained ranker goes.")
    ],
    kind: Annotated[
        str, typer.Option(metavar="cross-encoder|sa-bert|poly-encoder", help="How the ranker reads.")
    ] = "cross-encoder",
    codes: Annotated[
        int | None,
        typer.Option(min=0, help="Codes of a poly-encoder's context; 0: a bi-encoder.", show_default=False),
    ] = None,
    mix: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N",
            help="So many wrong responses of each context by a recipe, generator or category; "
            "random is always there. Repeatable; else 2 random ones and 1 of each recipe and generator.",
            show_default=False,
        ),
    ] = None,
    positives: Annotated[int, typer.Option(min=1, help="Right responses of each context, at most.")] = 2,
    held_out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Contexts (as evaluate ranker reads) whose responses are left out."
        ),
    ] = None,
    held_out_split: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A split of the files whose responses are left out. Repeatable."),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes; each draws other negatives.")] = 2,
    validation: Annotated[
        float | None,
        typer.Option(
            metavar="FRACTION",
            help="Share of the contexts that is held back and says when to stop; the best model is kept.",
            show_default=False,
        ),
    ] = None,
    patience: Annotated[int, typer.Option(min=1, help="Epochs without a lower loss there, to stop.")] = 2,
    rate: Annotated[float, typer.Option(min=0, help="Learning rate.")] = 5e-5,
    batch: Annotated[int, typer.Option(min=1, help="Pairs of one step.")] = 32,
    max_tokens: Annotated[int, typer.Option(min=8, help="Longer contexts lose their beginning.")] = 256,
    freeze: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Parameters that do not learn, such as embeddings. Repeatable."),
    ] = None,
    dropout: Annotated[
        float | None, typer.Option(min=0, max=1, help="In place of the model's own; 0 is quickest.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="One of transformers' TrainingArguments; repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed trains the same model on a CPU.")] = 0,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda; else the best there is.", show_default=False)
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing from a model hub.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Remove the model or stopped run of the folder first.")
    ] = False,
) -> None:
    """Train a ranker of responses, on files of negatives.

    A cross-encoder reads context and response together; sa-bert is one that also knows the ends of
    turns and the speakers; a poly-encoder reads responses alone, so that many can be searched.

    The right responses are the originals of edited ones, and records with label 1. What a context
    has too few of is told, never made up for. The folder is one that transformers
    reads. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.cli.terminal import Bars, show_shortages
    from graphneg.datasets.negative_dataset import NegativeDataset
    from graphneg.datasets.pair_sampler import shortages
    from graphneg.datasets.pairs import Pairs
    from graphneg.rankers.base import new_ranker
    from graphneg.training.rankers import Validation, train_ranker

    own = _own_options(kind, codes)
    dataset = NegativeDataset(files, seed, held_out_texts(held_out), held_out_split or ())
    pairs = Pairs(dataset, _mix(mix, positives, dataset.groups(0)), seed)
    table = shortages(pairs.sampler(0))
    encoder = new_ranker(
        kind,
        model,
        seed=seed,
        max_tokens=max_tokens,
        frozen=freeze or (),
        dropout=dropout,
        device=device,
        offline=offline,
        **own,
    )
    arguments: dict[str, Any] = {
        "learning_rate": rate,
        "per_device_train_batch_size": batch,
        **named_values(option or (), "--option"),
    }
    with (
        stopping_training(out),
        Bars() as bars,
    ):
        report = train_ranker(
            encoder,
            pairs,
            out,
            epochs=epochs,
            validation=None if validation is None else Validation(validation, patience),
            seed=seed,
            overwrite=overwrite,
            progress=bars,
            **arguments,
        )
    show_shortages(table)
    _tell(report)


def held_out_texts(files: list[Path] | None) -> list[str]:
    """Right and wrong responses of files as ``graphneg evaluate ranker`` reads them."""
    from graphneg.evaluation.ranking import placed_choices

    return [text for _, one in placed_choices(files or ()) for text in one.responses]


def _own_options(kind: str, codes: int | None) -> dict[str, Any]:
    """What only some kinds of rankers take."""
    from graphneg.rankers.base import POLY_ENCODER, ranker_kinds

    if kind not in ranker_kinds():
        raise typer.BadParameter(f"{kind}: choose one of {', '.join(ranker_kinds())}", param_hint="--kind")
    if codes is None:
        return {}
    if kind != POLY_ENCODER:
        raise typer.BadParameter(f"a {kind} has no codes; a {POLY_ENCODER} has", param_hint="--codes")
    return {"codes": codes}


def _mix(given: list[str] | None, positives: int, groups: StoredGroups) -> Mix:
    from graphneg.datasets.pair_sampler import RANDOM, Mix

    if given:
        amounts = named_values(given, "--mix")
        for name, amount in amounts.items():
            if not isinstance(amount, int) or amount < 1:
                raise typer.BadParameter(f"{name}={amount}: a whole number from 1", param_hint="--mix")
        return Mix(positives, amounts)
    sources = sorted({answer.source for group in groups for answer in group.negatives} - {RANDOM})
    return Mix(positives, {RANDOM: 2, **dict.fromkeys(sources, 1)})


def _tell(report: RankerReport) -> None:
    for name, missing in sorted(report.shortfall.responses.items()):
        few = counted(report.shortfall.contexts[name], "context")
        note(f"{name}: {few} have too few; {missing:,} an epoch are missing")
    if report.shortfall.held_out:
        note(f"{counted(report.shortfall.held_out, 'response')} were left out, being held out")
    learned = sum(report.pairs.values())
    if learned < report.planned:
        note(f"stopped early, after {learned:,} of {report.planned:,} pairs; the best model is kept")
    made = ", ".join(f"{name} {amount:,}" for name, amount in sorted(report.pairs.items()))
    say(f"{report.folder}: trained in {counted(report.steps, 'step')}, loss {report.loss:.3f}; pairs: {made}")


# ``graphneg train adapt``: an encoder that gets to know speakers and a domain before it learns to rank.


def register_train_adapt(app: typer.Typer) -> None:
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
    from graphneg.cli.terminal import Bars
    from graphneg.datasets.groups import read_groups
    from graphneg.training.domain_adaptation import adapt as train_encoder
    from graphneg.training.domain_adaptation import groups_of_contexts, new_adaptable

    def from_store() -> list[Group]:
        from graphneg.generators.base import ContextSelection, read_contexts
        from graphneg.store.dialogues import Selection

        with opened(store, username, password, database) as graph:
            require_dialogues(graph, corpus or (), split or ())
            selection = Selection(tuple(corpus or ()), tuple(split or ()), limit)
            return groups_of_contexts(read_contexts(graph.store, ContextSelection(selection, "every")))

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

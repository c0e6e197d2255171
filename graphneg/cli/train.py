"""``graphneg train``: encoders trained on negatives; its commands under one name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, BadParameter, Option

from graphneg.cli.options import (
    Anew,
    Device,
    DialogueOptions,
    Embedder,
    EncoderTraining,
    Offline,
    OutFolder,
    Rate,
    StartEncoder,
    StepPairs,
    StoreOptions,
    TrainingOption,
    TrainingSeed,
    group,
    job,
    made_responses,
    named_amounts,
    training_arguments,
)
from graphneg.cli.terminal import (
    amounts_text,
    counted,
    note,
    results,
    say,
    shortage_table,
    tell_trained,
    training,
)
from graphneg.cli.train_models import counterfactual, keywords, lm

if TYPE_CHECKING:
    from graphneg.datasets.groups import Group
    from graphneg.datasets.negative_dataset import StoredGroups
    from graphneg.datasets.pair_sampler import Mix
    from graphneg.training.coherence import CoherenceReport
    from graphneg.training.rankers import RankerReport

HeldOutContexts = Annotated[
    list[Path] | None,
    Option(metavar="FILE", help="Contexts (as evaluate ranker reads) whose responses are left out."),
]


# Encoders: adapted to dialogues, then rankers, scorers of coherence, detectors of contradiction.


@job(
    "graphneg train adapt --model bert-base-uncased -o adapted --corpus dailydialog",
    "graphneg train adapt negatives.jsonl --model bert-base-uncased -o adapted",
    "graphneg train ranker negatives.jsonl --kind sa-bert --model adapted -o ranker",
)
def adapt(
    model: Annotated[
        str, Option(metavar="PATH_OR_ID", help="An encoder of BERT's family: a folder or a hub id.")
    ],
    out: OutFolder,
    files: Annotated[
        list[Path] | None,
        Argument(metavar="[FILE...]", help="Files of negatives (.jsonl, .parquet); else the store."),
    ] = None,
    held_out: HeldOutContexts = None,
    epochs: Annotated[int, Option(min=1, help="Passes; each masks other words.")] = 1,
    masked: Annotated[float, Option(min=0.01, max=0.9, help="Share of words to be told.")] = 0.15,
    rate: Rate = 5e-5,
    batch: StepPairs = 32,
    max_tokens: Annotated[int, Option(min=8, help="Longer contexts lose their first turns.")] = 256,
    option: TrainingOption = None,
    seed: TrainingSeed = 0,
    device: Device = None,
    offline: Offline = False,
    overwrite: Anew = False,
    *,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Post-train an encoder on dialogues: masked words and the next utterance, with speakers.

    Every turn is a reply to the ones before it, and so is every right response; in half of the
    examples another reply stands in its place. graphneg train ranker --kind sa-bert starts from the
    folder. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.datasets.groups import read_groups
    from graphneg.evaluation.ranking import response_texts
    from graphneg.training.domain_adaptation import adapt as train_encoder
    from graphneg.training.domain_adaptation import new_adaptable

    groups = read_groups(files) if files else _stored_groups(chosen, where)
    texts = response_texts(held_out or ())
    encoder = new_adaptable(model, seed=seed, device=device, offline=offline)
    arguments = training_arguments(rate, batch, option)
    with training(out) as bars:
        report = train_encoder(
            encoder,
            groups,
            out,
            epochs=epochs,
            max_tokens=max_tokens,
            masked=masked,
            held_out=texts,
            seed=seed,
            overwrite=overwrite,
            progress=bars,
            **arguments,
        )
    tell_trained(report, out)


def _stored_groups(chosen: DialogueOptions, where: StoreOptions) -> list[Group]:
    from graphneg.generators.base import ContextSelection, read_contexts
    from graphneg.training.domain_adaptation import groups_of_contexts

    with where.opened() as graph:
        chosen.require(graph)
        return groups_of_contexts(read_contexts(graph.store, ContextSelection(chosen.selection, "every")))


@dataclass(frozen=True, slots=True)
class RankerTraining(EncoderTraining):
    """How an encoder becomes a ranker."""

    batch: StepPairs = 32


@job(
    "graphneg train ranker negatives.jsonl --model microsoft/MiniLM-L12-H384-uncased -o ranker",
    "graphneg train ranker edits.jsonl overlap.jsonl --mix overlap=3 --mix C-cont=1 --mix random=2 "
    "--model bert-base-uncased -o ranker",
    "graphneg train ranker negatives.jsonl --kind sa-bert --model adapted -o ranker",
    "graphneg train ranker negatives.jsonl --held-out test.json --model path/to/encoder -o ranker",
)
def ranker(
    files: Annotated[list[Path], Argument(metavar="FILE...", help="Files of negatives (.jsonl, .parquet).")],
    model: StartEncoder,
    out: OutFolder,
    kind: Annotated[
        str, Option(metavar="cross-encoder|sa-bert|poly-encoder", help="How the ranker reads.")
    ] = "cross-encoder",
    codes: Annotated[
        int | None,
        Option(min=0, help="Codes of a poly-encoder's context; 0: a bi-encoder.", show_default=False),
    ] = None,
    mix: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=N",
            help="So many wrong responses of each context by a recipe, generator or category; "
            "random is always there. Repeatable; else 2 random ones and 1 of each recipe and generator.",
            show_default=False,
        ),
    ] = None,
    positives: Annotated[int, Option(min=1, help="Right responses of each context, at most.")] = 2,
    held_out: HeldOutContexts = None,
    held_out_split: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="A split of the files whose responses are left out. Repeatable."),
    ] = None,
    epochs: Annotated[int, Option(min=1, help="Passes; each draws other negatives.")] = 2,
    validation: Annotated[
        float | None,
        Option(
            metavar="FRACTION",
            help="Share of the contexts that is held back and says when to stop; the best model is kept.",
            show_default=False,
        ),
    ] = None,
    patience: Annotated[int, Option(min=1, help="Epochs without a lower loss there, to stop.")] = 2,
    *,
    lessons: RankerTraining,
) -> None:
    """Train a ranker of responses, on files of negatives.

    A cross-encoder reads context and response together; sa-bert is one that also knows the ends of
    turns and the speakers; a poly-encoder reads responses alone, so that many can be searched.

    The right responses are the originals of edited ones, and records with label 1. What a context
    has too few of is told, never made up for. The folder is one that transformers
    reads. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.datasets.negative_dataset import NegativeDataset
    from graphneg.datasets.pair_sampler import shortages
    from graphneg.datasets.pairs import Pairs
    from graphneg.evaluation.ranking import response_texts
    from graphneg.rankers.base import new_ranker
    from graphneg.training.rankers import Validation, train_ranker

    own = _own_options(kind, codes)
    dataset = NegativeDataset(files, lessons.seed, response_texts(held_out or ()), held_out_split or ())
    pairs = Pairs(dataset, _pair_mix(mix, positives, dataset.groups(0)), lessons.seed)
    table = shortage_table(shortages(pairs.sampler(0)))
    encoder = new_ranker(kind, model, **lessons.model, **own)
    arguments = lessons.arguments
    with training(out) as bars:
        report = train_ranker(
            encoder,
            pairs,
            out,
            epochs=epochs,
            validation=None if validation is None else Validation(validation, patience),
            progress=bars,
            **arguments,
        )
    results().print(table)
    _tell_ranker(report)


def _own_options(kind: str, codes: int | None) -> dict[str, Any]:
    """What only some kinds of rankers take."""
    from graphneg.rankers.base import POLY_ENCODER, ranker_kinds

    if kind not in ranker_kinds():
        raise BadParameter(f"{kind}: choose one of {', '.join(ranker_kinds())}", param_hint="--kind")
    if codes is None:
        return {}
    if kind != POLY_ENCODER:
        raise BadParameter(f"a {kind} has no codes; a {POLY_ENCODER} has", param_hint="--codes")
    return {"codes": codes}


def _pair_mix(given: Sequence[str] | None, positives: int, groups: StoredGroups) -> Mix:
    from graphneg.datasets.pair_sampler import RANDOM, Mix

    if given:
        return Mix(positives, named_amounts(given, "--mix"))
    sources = sorted({answer.source for group in groups for answer in group.negatives} - {RANDOM})
    return Mix(positives, {RANDOM: 2, **dict.fromkeys(sources, 1)})


def _tell_ranker(report: RankerReport) -> None:
    short = report.shortfall
    for name, missing in sorted(short.responses.items()):
        few = counted(short.contexts[name], "context")
        note(f"{name}: {few} have too few; {missing:,} an epoch are missing")
    if short.held_out:
        note(f"{counted(short.held_out, 'response')} were left out, being held out")
    learned = sum(report.pairs.values())
    if learned < report.planned:
        note(f"stopped early, after {learned:,} of {report.planned:,} pairs; the best model is kept")
    _tell_steps(report, f"pairs: {amounts_text(report.pairs)}")


def _tell_steps(report: Any, learned: str) -> None:
    say(f"{report.folder}: trained in {counted(report.steps, 'step')}, loss {report.loss:.3f}; {learned}")


@dataclass(frozen=True, slots=True)
class CoherenceTraining(EncoderTraining):
    """How an encoder becomes a scorer of coherence."""

    batch: Annotated[int, Option(min=1, help="Windows of one step.")] = 16
    max_tokens: Annotated[int, Option(min=8, help="Longer dialogues are cut by turns.")] = 256


@job(
    "graphneg train coherence edits.jsonl --model microsoft/MiniLM-L12-H384-uncased -o scorer",
    "graphneg train coherence edits.jsonl shuffled.jsonl --mix C-cont=2 --mix turn-shuffle=1 "
    "--model roberta-base -o scorer",
    "graphneg train coherence edits.jsonl --held-out fed_data.json --model path/to/encoder -o scorer",
)
def coherence(
    files: Annotated[
        list[Path],
        Argument(metavar="FILE...", help="Files of negatives (.jsonl, .parquet), target dialogue."),
    ],
    model: StartEncoder,
    out: OutFolder,
    mix: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=N",
            help="So many edited versions of each dialogue by a recipe, generator or category. "
            "Repeatable; else 1 of each recipe and generator.",
            show_default=False,
        ),
    ] = None,
    held_out: Annotated[
        list[Path] | None,
        Option(
            metavar="FILE",
            help="Ratings (.json) or negatives; no dialogue that shares a turn with them is learned.",
        ),
    ] = None,
    epochs: Annotated[int, Option(min=1, help="Passes; each draws other versions and windows.")] = 2,
    *,
    lessons: CoherenceTraining,
) -> None:
    """Train an encoder to tell coherent dialogues from edited ones, on files of negatives.

    The originals of the negatives are the coherent ones. Dialogues that are longer than a window are
    cut by turns. The folder is one that transformers reads. Stopped, the same command goes on from the
    last checkpoint.
    """
    from graphneg.evaluation.correlation import turn_texts
    from graphneg.scorers.coherence import CoherenceScorer, read_dialogues
    from graphneg.training.coherence import train_coherence

    read = read_dialogues(files)
    amounts = named_amounts(mix, "--mix") if mix else None
    texts = turn_texts(held_out or ())
    scorer = CoherenceScorer.new(model, **lessons.model)
    arguments = lessons.arguments
    with training(out) as bars:
        report = train_coherence(
            scorer,
            read.dialogues,
            out,
            mix=amounts,
            epochs=epochs,
            held_out=texts,
            progress=bars,
            **arguments,
        )
    if read.responses:
        note(f"{counted(read.responses, 'record')} edit no dialogue and were left out: target response")
    _tell_coherence(report, len(read.dialogues))
    say(f"categories: {', '.join(scorer.categories) or 'none'}")


def _tell_coherence(report: CoherenceReport, dialogues: int) -> None:
    short = report.shortfall
    for name, missing in sorted(short.versions.items()):
        few = counted(short.dialogues[name], "dialogue")
        note(f"{name}: {few} of {dialogues:,} have too few; {missing:,} an epoch are missing")
    if short.held_out:
        note(f"{counted(short.held_out, 'edited dialogue')} were left out, sharing held-out turns")
    if report.cut_turns:
        note(f"{counted(report.cut_turns, 'turn')} longer than a window lost the end")
    _tell_steps(report, f"windows: {amounts_text(report.windows)}")


@dataclass(frozen=True, slots=True)
class DetectorTraining(EncoderTraining):
    """How an encoder becomes a detector of contradictions."""

    max_tokens: Annotated[int, Option(min=8, help="Of a pair; earlier utterances lose their beginning.")] = (
        128
    )


@job(
    "graphneg train contradiction --made negatives.jsonl --model path/to/encoder -o made",
    "graphneg train contradiction labelled.jsonl --model made --epochs 4 -o detector",
)
def contradiction(
    model: Annotated[
        str,
        Option(
            metavar="PATH_OR_ID",
            help="The encoder to start from, or a detector to go on with: folder or hub id.",
        ),
    ],
    out: OutFolder,
    files: Annotated[
        list[Path] | None,
        Argument(metavar="[FILE]...", help="Labelled responses, JSON lines as Sato et al. publish them."),
    ] = None,
    made: Annotated[
        list[Path] | None,
        Option(metavar="FILE", help="Negatives of the recipe contradiction (.jsonl, .parquet). Repeatable."),
    ] = None,
    embedder: Embedder = None,
    held_out: Annotated[
        list[Path] | None,
        Option(metavar="FILE", help="Labelled responses whose texts are not learned. Repeatable."),
    ] = None,
    epochs: Annotated[int, Option(min=1, help="Passes over the responses.")] = 2,
    *,
    lessons: DetectorTraining,
) -> None:
    """Train a detector of contradictions, on labelled responses or on graph-made ones.

    It reads a response and an earlier utterance of the same speaker. Trained on graph-made responses
    first and on labelled ones then (--model takes the first one's folder), it learns most. The folder is
    one that transformers and sentence-transformers read. Stopped, the same command goes on.
    """
    from graphneg.evaluation.cross_validation import tested_texts
    from graphneg.ingest.labelled import read_labelled
    from graphneg.scorers.contradiction import ContradictionDetector
    from graphneg.training.contradiction import pairs_of, train_detector

    if not files and not made:
        raise BadParameter("name labelled responses, or negatives with --made", param_hint="FILE")
    labelled = [
        *(read_labelled(files) if files else ()),
        *made_responses(made, embedder, seed=lessons.seed, offline=lessons.offline),
    ]
    texts = tested_texts(read_labelled(held_out)) if held_out else frozenset[str]()
    detector = ContradictionDetector.new(model, **lessons.model)
    arguments = lessons.arguments
    with training(out) as bars:
        report = train_detector(
            detector,
            pairs_of(labelled),
            out,
            epochs=epochs,
            held_out=texts,
            progress=bars,
            **arguments,
        )
    if report.held_out:
        note(f"{counted(report.held_out, 'response')} were left out, being held out")
    _tell_steps(report, f"pairs: {amounts_text(report.pairs)}")


app = group(
    "train",
    "Train language models on the loaded dialogues, and rankers on negatives.",
    (lm, counterfactual, keywords, adapt, ranker, coherence, contradiction),
    "graphneg train lm --model gpt2 -o forward",
    "graphneg train counterfactual --model gpt2 -o counterfactual",
)

"""``graphneg train``: language models trained on the dialogues of a store, encoders on negatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import BadParameter

from graphneg.cli import options, tables
from graphneg.cli.commands import argument, group, job, named_amounts, option, shared, without_none
from graphneg.cli.options import (
    DialogueOptions,
    EncoderTraining,
    Freeze,
    LanguageModelTraining,
    StoreOptions,
    Training,
)
from graphneg.cli.terminal import amounts_text, counted, note, say, tell_trained, training, working

if TYPE_CHECKING:
    from graphneg.datasets.pair_sampler import Shortfall
    from graphneg.nn.fine_tuning import TrainingReport

HeldOutContexts = Annotated[
    list[Path] | None, shared("Contexts (as evaluate ranker reads) whose responses are left out.")
]


@job(
    "graphneg train lm --model gpt2 -o forward --corpus dailydialog",
    "graphneg train lm --model gpt2 -o backward --tells post",
)
def lm(
    *,
    model: options.StartModel,
    out: options.OutFolder,
    tells: Literal["reply", "post"] = option("reply", "The reply, or the post that it replies to."),
    lessons: LanguageModelTraining,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model on dialogues, for graphneg select: replies, or the posts before them.

    Every turn is a reply to the ones before it, and so is every right response. Stopped, the same
    command goes on from the last checkpoint.
    """
    from graphneg.generators.selection import train_scorer

    with where.opened(chosen) as graph:
        learn = partial(train_scorer, store=graph.store, selection=chosen.selection, tells=tells)
        _fine_tune(learn, model, out, lessons)


@job(
    "graphneg train counterfactual --model gpt2 -o counterfactual --epochs 3",
    "graphneg train counterfactual --model facebook/bart-base -o counterfactual --option bf16=true",
)
def counterfactual(
    model: options.StartModel,
    out: options.OutFolder,
    lessons: LanguageModelTraining,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model to reply to a post with a perspective, for graphneg generate counterfactual.

    A causal model (GPT-2, Llama) or a sequence-to-sequence one (BART, T5); graphneg shift build
    must have found perspectives before. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.generators.counterfactual_model import train_replies

    with where.opened(chosen) as graph:
        learn = partial(train_replies, store=graph.store, selection=chosen.selection)
        _fine_tune(learn, model, out, lessons)


@job(
    "graphneg train keywords --model gpt2 -o replies --epochs 2",
    "graphneg train keywords --model gpt2 -o replies --extractor yake --corpus dailydialog",
)
def keywords(
    *,
    model: options.StartModel,
    out: options.OutFolder,
    extractor: str = option("rake", "What finds the keywords.", "rake|yake"),
    language: str = option("en", "The language of the dialogues."),
    lessons: LanguageModelTraining,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model to reply with given words, for graphneg generate key-context and key-sem.

    Every turn is a reply to the ones before it, and so is every right response; the words are its
    own keywords. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.generators.keywords.requests import train_replies
    from graphneg.shift.keywords import get_extractor

    finder = get_extractor(extractor, language)
    with where.opened(chosen) as graph:
        learn = partial(train_replies, contexts=chosen.contexts(graph), extractor=finder)
        _fine_tune(learn, model, out, lessons)


@dataclass(frozen=True)
class InfillingTraining(LanguageModelTraining):
    """How a language model learns to fill blanks."""

    freeze: Freeze = None

    @property
    def arguments(self) -> dict[str, Any]:
        """What the trainer is told."""
        return {"frozen": self.freeze or (), **super().arguments}


@dataclass(frozen=True)
class DecoderTraining(InfillingTraining):
    """How a language model learns to write the texts of graphs."""

    max_tokens: Annotated[int, shared("Pairs with longer graphs are left out.", min=8)] = 512

    @property
    def arguments(self) -> dict[str, Any]:
        """What the trainer is told."""
        return {"max_tokens": self.max_tokens, **super().arguments}


@job(
    "graphneg train decoder --model google/flan-t5-small -o decoder --epochs 3",
    "graphneg train decoder --model gpt2 -o decoder --corpus dailydialog --freeze wte",
    "graphneg negatives --decoder t5 --model decoder -o negatives.jsonl",
)
def decoder(
    *,
    model: options.StartModel,
    out: options.OutFolder,
    gold: bool = option(False, "Learn from graphs that were loaded only, from none of a parser's."),
    held_out: int = option(200, "Pairs that are measured and not learned; a tenth at most.", min=0),
    parser: options.BackParser = "dependency",
    lessons: DecoderTraining,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model to write the texts of AMR graphs, for --decoder t5.

    A sequence-to-sequence model (T5, BART), whose folder amrlib reads too, or a causal one (GPT-2,
    Llama). It learns every utterance that has a graph. What is held out is written to held_out.amr in
    the folder and measured: BLEU, chrF, and Smatch of the texts parsed back. Stopped, the same command
    goes on from the last checkpoint.
    """
    from graphneg.decoders.t5 import T5Decoder
    from graphneg.evaluation.decoding import check_packages, evaluate_decoder, read_pairs
    from graphneg.nn.models import load_either
    from graphneg.parsers.base import get_parser
    from graphneg.parsers.round_trip import RoundTrip
    from graphneg.training.decoder import HELD_OUT, meanings_of, train_decoder
    from graphneg.training.decoder import held_out as divided

    if held_out:  # what measures is looked for before an hour of training
        check_packages()
        get_parser(parser)
    with where.opened(chosen) as graph:
        chosen.require(graph, with_graphs=True)
        meanings = list(meanings_of(graph.store, chosen.selection, gold_only=gold))
    learned, measured = divided(meanings, held_out, lessons.seed)
    loaded = load_either(model, device=lessons.device, offline=lessons.offline)
    with training(out) as bars:
        report = train_decoder(loaded, learned, out, measured=measured, progress=bars, **lessons.arguments)
    left_out = f"; {report.too_long:,} were too long" if report.too_long else ""
    tell_trained(report, out, left_out, report.examples)
    del loaded
    if measured:
        with working(f"graphneg evaluate decoder {out / HELD_OUT} --model {out} measures it") as bars:
            made = T5Decoder(out, device=lessons.device, offline=True)
            with RoundTrip(parser) as trip:
                scores = evaluate_decoder(made, read_pairs(out / HELD_OUT), trip, progress=bars)
        tables.results().print(tables.decoder_table(scores))


@job(
    "graphneg train infill --model gpt2 -o infiller --corpus dailydialog --epochs 2",
    "graphneg generate mask-and-fill -o negatives.jsonl --model infiller --per-context 5",
)
def infill(
    *,
    model: options.StartModel,
    out: options.OutFolder,
    held_out: int = option(200, "Texts that are measured and not learned; a tenth at most.", min=0),
    lessons: InfillingTraining,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model to fill the blanks of a text, for graphneg generate mask-and-fill.

    Every turn is a reply to the ones before it, and so is every right response; words, phrases and
    sentences are taken out of them in up to three ways. Perplexity on the blanks of held-out texts is
    told, and some are shown. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.generators.infilling.training import train_infilling
    from graphneg.nn.models import load_either

    with where.opened(chosen) as graph, training(out) as bars:
        loaded = load_either(model, device=lessons.device, offline=lessons.offline)
        report = train_infilling(
            loaded, chosen.contexts(graph), out, held_out=held_out, progress=bars, **lessons.arguments
        )
    tell_trained(report, out, "", report.examples)
    if report.perplexity is not None:
        measured = counted(report.measured, "held-out text")
        say(f"perplexity {report.perplexity:.1f} on the blanks of {measured}")
        tables.results().print(tables.filled_table(report.filled))


def _fine_tune(
    learn: Callable[..., TrainingReport], model: str, out: Path, lessons: LanguageModelTraining
) -> None:
    from graphneg.nn.models import load_either

    loaded = load_either(model, device=lessons.device, offline=lessons.offline)
    with training(out) as bars:
        report = learn(loaded, out=out, progress=bars, **lessons.arguments)
    left_out = f"; {report.skipped:,} were empty or too long" if report.skipped else ""
    tell_trained(report, out, left_out, report.examples)


@job(
    "graphneg train adapt --model bert-base-uncased -o adapted --corpus dailydialog",
    "graphneg train adapt negatives.jsonl --model bert-base-uncased -o adapted",
    "graphneg train ranker negatives.jsonl --kind sa-bert --model adapted -o ranker",
)
def adapt(
    *,
    model: str = option(..., "An encoder of BERT's family: a folder or a hub id.", "PATH_OR_ID"),
    out: options.OutFolder,
    files: list[Path] | None = argument(
        None, "Files of negatives (.jsonl, .parquet); else the store.", "[FILE...]"
    ),
    held_out: HeldOutContexts = None,
    epochs: int = option(1, "Passes; each masks other words.", min=1),
    masked: float = option(0.15, "Share of words to be told.", min=0.01, max=0.9),
    max_tokens: int = option(256, "Longer contexts lose their first turns.", min=8),
    lessons: Training = Training(batch=32),
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
    from graphneg.training.domain_adaptation import groups_of_contexts, new_adaptable

    if files:
        groups = read_groups(files)
    else:
        with where.opened(chosen) as graph:
            groups = groups_of_contexts(chosen.contexts(graph))
    texts = response_texts(held_out or ())
    encoder = new_adaptable(model, seed=lessons.seed, device=lessons.device, offline=lessons.offline)
    own = {"epochs": epochs, "max_tokens": max_tokens, "masked": masked, "held_out": texts}
    with training(out) as bars:
        report = train_encoder(encoder, groups, out, progress=bars, **own, **lessons.arguments)
    tell_trained(report, out, "", report.examples)


@job(
    "graphneg train ranker negatives.jsonl --model microsoft/MiniLM-L12-H384-uncased -o ranker",
    "graphneg train ranker edits.jsonl overlap.jsonl --mix overlap=3 --mix C-cont=1 --mix random=2 "
    "--model bert-base-uncased -o ranker",
    "graphneg train ranker negatives.jsonl --kind sa-bert --model adapted -o ranker",
    "graphneg train ranker negatives.jsonl --held-out test.json --model path/to/encoder -o ranker",
)
def ranker(
    *,
    files: list[Path] = argument(..., "Files of negatives (.jsonl, .parquet).", "FILE..."),
    model: options.StartEncoder,
    out: options.OutFolder,
    kind: str = option("cross-encoder", "How the ranker reads.", "cross-encoder|sa-bert|poly-encoder"),
    codes: int | None = option(None, "Codes of a poly-encoder's context; 0: a bi-encoder.", min=0),
    mix: list[str] | None = option(
        None,
        "So many wrong responses of each context by a recipe, generator or category; "
        "random is always there. Repeatable; else 2 random ones and 1 of each recipe and generator.",
        "NAME=N",
    ),
    positives: int = option(2, "Right responses of each context, at most.", min=1),
    held_out: HeldOutContexts = None,
    held_out_split: list[str] | None = option(
        None, "A split of the files whose responses are left out. Repeatable.", "NAME"
    ),
    epochs: int = option(2, "Passes; each draws other negatives.", min=1),
    validation: float | None = option(
        None,
        "Share of the contexts that is held back and says when to stop; the best model is kept.",
        "FRACTION",
    ),
    patience: int = option(2, "Epochs without a lower loss there, to stop.", min=1),
    lessons: EncoderTraining = EncoderTraining(batch=32),
) -> None:
    """Train a ranker of responses, on files of negatives.

    A cross-encoder reads context and response together; sa-bert is one that also knows the ends of
    turns and the speakers; a poly-encoder reads responses alone, so that many can be searched.

    The right responses are the originals of edited ones, and records with label 1. What a context
    has too few of is told, never made up for. The folder is one that transformers
    reads. Stopped, the same command goes on from the last checkpoint.
    """
    from graphneg.datasets.negative_dataset import NegativeDataset
    from graphneg.datasets.pair_sampler import RANDOM, Mix, shortages
    from graphneg.datasets.pairs import Pairs
    from graphneg.evaluation.ranking import response_texts
    from graphneg.rankers.base import POLY_ENCODER, new_ranker, ranker_kinds
    from graphneg.training.rankers import Validation, train_ranker

    if kind not in ranker_kinds():
        raise BadParameter(f"{kind}: choose one of {', '.join(ranker_kinds())}", param_hint="--kind")
    if codes is not None and kind != POLY_ENCODER:
        raise BadParameter(f"a {kind} has no codes; a {POLY_ENCODER} has", param_hint="--codes")
    dataset = NegativeDataset(files, lessons.seed, response_texts(held_out or ()), held_out_split or ())
    if mix:
        amounts = named_amounts(mix, "--mix")
    else:
        sources = {answer.source for group in dataset.groups(0) for answer in group.negatives} - {RANDOM}
        amounts = {RANDOM: 2, **dict.fromkeys(sorted(sources), 1)}
    pairs = Pairs(dataset, Mix(positives, amounts), lessons.seed)
    table = tables.shortage_table(shortages(pairs.sampler(0)))
    encoder = new_ranker(kind, model, **lessons.model, **without_none(codes=codes))
    held_back = None if validation is None else Validation(validation, patience)
    with training(out) as bars:
        report = train_ranker(
            encoder, pairs, out, epochs=epochs, validation=held_back, progress=bars, **lessons.arguments
        )
    tables.results().print(table)
    short = report.shortfall
    _note_shortfall(short, {name: counted(few, "context") for name, few in short.contexts.items()})
    if short.held_out:
        note(f"{counted(short.held_out, 'response')} were left out, being held out")
    if short.unusable:
        note(
            f"{counted(short.unusable, 'response')} were left out: empty, or given as wrong and as right for "
            "the same context"
        )
    learned = sum(report.pairs.values())
    if learned < report.planned:
        note(f"stopped early, after {learned:,} of {report.planned:,} pairs; the best model is kept")
    tell_trained(report, out, f"; pairs: {amounts_text(report.pairs)}")


def _note_shortfall(short: Shortfall, few: Mapping[str, str]) -> None:
    """Of each source that an epoch misses some of, which contexts or dialogues have too few of it; and what
    the mix leaves out."""
    for name, amount in sorted(short.responses.items()):
        note(f"{name}: {few[name]} have too few; {amount:,} an epoch are missing")
    for name, amount in sorted(short.unused.items()):
        note(f"{name}: {counted(amount, 'negative')} not used: the mix does not name them (--mix {name}=1)")


@dataclass(frozen=True)
class CoherenceTraining(EncoderTraining):
    """How an encoder becomes a scorer of coherence."""

    batch: Annotated[int, shared("Windows of one step.", min=1)] = 16
    max_tokens: Annotated[int, shared("Longer dialogues are cut by turns.", min=8)] = 256


@job(
    "graphneg train coherence edits.jsonl --model microsoft/MiniLM-L12-H384-uncased -o scorer",
    "graphneg train coherence edits.jsonl shuffled.jsonl --mix C-cont=2 --mix turn-shuffle=1 "
    "--model roberta-base -o scorer",
    "graphneg train coherence edits.jsonl --held-out fed_data.json --model path/to/encoder -o scorer",
)
def coherence(
    *,
    files: list[Path] = argument(..., "Files of negatives (.jsonl, .parquet), target dialogue.", "FILE..."),
    model: options.StartEncoder,
    out: options.OutFolder,
    mix: list[str] | None = option(
        None,
        "So many edited versions of each dialogue by a recipe, generator or category. "
        "Repeatable; else 1 of each recipe and generator.",
        "NAME=N",
    ),
    held_out: list[Path] | None = option(
        None, "Ratings (.json) or negatives; no dialogue that shares a turn with them is learned."
    ),
    epochs: int = option(2, "Passes; each draws other versions and windows.", min=1),
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
    settings = {"mix": named_amounts(mix, "--mix") if mix else None, "held_out": turn_texts(held_out or ())}
    scorer = CoherenceScorer.new(model, **lessons.model)
    with training(out) as bars:
        report = train_coherence(
            scorer, read.dialogues, out, epochs=epochs, progress=bars, **settings, **lessons.arguments
        )
    if read.responses:
        note(f"{counted(read.responses, 'record')} edit no dialogue and were left out: target response")
    if read.unchanged:
        note(f"{counted(read.unchanged, 'record')} say what the dialogue says and were left out")
    short, of = report.shortfall, f"of {len(read.dialogues):,}"
    few = {name: f"{counted(dialogues, 'dialogue')} {of}" for name, dialogues in short.contexts.items()}
    _note_shortfall(short, few)
    if short.held_out:
        note(f"{counted(short.held_out, 'edited dialogue')} were left out, sharing held-out turns")
    if report.cut_turns:
        note(f"{counted(report.cut_turns, 'turn')} longer than a window lost the end")
    tell_trained(report, out, f"; windows: {amounts_text(report.windows)}")
    say(f"categories: {', '.join(scorer.categories) or 'none'}")


@dataclass(frozen=True)
class DetectorTraining(EncoderTraining):
    """How an encoder becomes a detector of contradictions."""

    max_tokens: Annotated[int, shared("Of a pair; earlier utterances lose their beginning.", min=8)] = 128


@job(
    "graphneg train contradiction --made negatives.jsonl --model path/to/encoder -o made",
    "graphneg train contradiction labelled.jsonl --model made --epochs 4 -o detector",
)
def contradiction(
    *,
    model: str = option(
        ..., "The encoder to start from, or a detector to go on with: folder or hub id.", "PATH_OR_ID"
    ),
    out: options.OutFolder,
    files: list[Path] | None = argument(
        None, "Labelled responses, JSON lines as Sato et al. publish them.", "[FILE]..."
    ),
    made: list[Path] | None = option(
        None, "Negatives of the recipe contradiction (.jsonl, .parquet). Repeatable."
    ),
    embedder: options.Embedder = None,
    held_out: list[Path] | None = option(None, "Labelled responses whose texts are not learned. Repeatable."),
    epochs: int = option(2, "Passes over the responses.", min=1),
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
    labelled = read_labelled(files) if files else []
    labelled += options.made_responses(made, embedder, seed=lessons.seed, offline=lessons.offline)
    texts = tested_texts(read_labelled(held_out)) if held_out else frozenset[str]()
    detector = ContradictionDetector.new(model, **lessons.model)
    pairs = pairs_of(labelled)
    with training(out) as bars:
        report = train_detector(
            detector, pairs, out, epochs=epochs, held_out=texts, progress=bars, **lessons.arguments
        )
    if report.held_out:
        note(f"{counted(report.held_out, 'response')} were left out, being held out")
    tell_trained(report, out, f"; pairs: {amounts_text(report.pairs)}")


app = group(
    "train",
    "Train language models on the loaded dialogues, and rankers on negatives.",
    (lm, counterfactual, keywords, decoder, infill, adapt, ranker, coherence, contradiction),
)

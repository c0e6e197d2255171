"""Define the commands ``train``, which train language models, decoders, rankers, scorers and detectors.

Language models are trained on the dialogues in a store, and encoders are trained on files of negatives. The
output is a folder that transformers can load. During the training, checkpoints are saved in this folder, so
that the same command continues an interrupted training. Texts that are held out for a test are never used for
training.

Example::

    graphneg negatives -o edits.jsonl
    graphneg train ranker edits.jsonl --model microsoft/MiniLM-L12-H384-uncased -o ranker
    graphneg evaluate ranker dev.json --model ranker
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import BadParameter

from graphneg.cli import options, tables
from graphneg.cli.commands import (
    argument,
    group,
    named_counts,
    option,
    shared,
    training_command,
    without_none,
)
from graphneg.cli.options import (
    DialogueOptions,
    EncoderTraining,
    Freeze,
    LanguageModelTraining,
    StoreOptions,
    Training,
)
from graphneg.cli.terminal import (
    counted,
    counts_text,
    print_message,
    print_note,
    print_trained,
    progress_bars,
    training,
)

if TYPE_CHECKING:
    from graphneg.datasets.pair_sampler import Shortfall
    from graphneg.nn.fine_tuning import TrainingReport

HeldOutContexts = Annotated[
    list[Path] | None,
    shared(
        "Test contexts (in a format that evaluate ranker reads), whose responses are not used for training. "
        "Repeatable."
    ),
]


@training_command(
    "graphneg train lm --model gpt2 -o forward --corpus dailydialog",
    "graphneg train lm --model gpt2 -o backward --direction post",
)
def lm(
    *,
    model: options.StartModel,
    out: options.OutFolder,
    direction: Literal["reply", "post"] = option(
        "reply",
        "What the model learns to predict: a reply from the post before it (reply), or the post from its "
        "reply (post).",
    ),
    training_options: LanguageModelTraining,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model to predict replies, or the posts before replies, for graphneg select.

    The training data are the turns of the dialogues, each as a reply to the turns before it, and the correct
    responses. If a run is interrupted, run the same command again to continue from the last checkpoint.
    """
    from graphneg.generators.selection import train_scorer

    with where.opened(chosen) as graph:
        learn = partial(train_scorer, store=graph.store, selection=chosen.selection, direction=direction)
        _fine_tune(learn, model, out, training_options)


@training_command(
    "graphneg train counterfactual --model gpt2 -o counterfactual --epochs 3",
    "graphneg train counterfactual --model facebook/bart-base -o counterfactual --option bf16=true",
)
def counterfactual(
    model: options.StartModel,
    out: options.OutFolder,
    training_options: LanguageModelTraining,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model to reply with a given perspective, for graphneg generate counterfactual.

    A perspective is the keyword to which a reply moves the conversation. Run graphneg shift build first,
    which finds the perspectives. The model can be causal (GPT-2, Llama) or sequence-to-sequence (BART, T5).
    If a run is interrupted, run the same command again to continue from the last checkpoint.
    """
    from graphneg.generators.counterfactual_model import train_counterfactual_replies

    with where.opened(chosen) as graph:
        learn = partial(train_counterfactual_replies, store=graph.store, selection=chosen.selection)
        _fine_tune(learn, model, out, training_options)


@training_command(
    "graphneg train keywords --model gpt2 -o replies --epochs 2",
    "graphneg train keywords --model gpt2 -o replies --extractor yake --corpus dailydialog",
)
def keywords(
    *,
    model: options.StartModel,
    out: options.OutFolder,
    extractor: str = option("rake", "The algorithm that extracts keywords: rake or yake.", "rake|yake"),
    language: str = option("en", "Language of the dialogues."),
    training_options: LanguageModelTraining,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model to write replies that contain given words.

    The generators key-context and key-sem use the model. The training data are the turns of the dialogues,
    each as a reply to the turns before it, and the correct responses. In training, the given words are the
    keywords of the reply itself. If a run is interrupted, run the same command again to continue from the
    last checkpoint.
    """
    from graphneg.generators.keywords.requests import train_keyword_replies
    from graphneg.shift.keywords import get_extractor

    finder = get_extractor(extractor, language)
    with where.opened(chosen) as graph:
        learn = partial(train_keyword_replies, contexts=chosen.contexts(graph), extractor=finder)
        _fine_tune(learn, model, out, training_options)


@dataclass(frozen=True)
class InfillingTraining(LanguageModelTraining):
    """The options for training a language model to fill the blanks in a text.

    Attributes:
        freeze: Prefixes of the names of model parameters that are not trained.
    """

    freeze: Freeze = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The options as keyword arguments for a training function."""
        return {"frozen": self.freeze or (), **super().arguments}


@dataclass(frozen=True)
class DecoderTraining(InfillingTraining):
    """The options for training a language model to convert graphs into text.

    Attributes:
        max_tokens: Maximum number of tokens in a graph. The maximum for its text is half of this number.
    """

    max_tokens: Annotated[
        int,
        shared(
            "Maximum number of tokens in a graph; its text may have half as many. Longer pairs are left out.",
            min=8,
        ),
    ] = 512

    @property
    def arguments(self) -> dict[str, Any]:
        """The options as keyword arguments for a training function."""
        return {"max_tokens": self.max_tokens, **super().arguments}


@training_command(
    "graphneg train decoder --model google/flan-t5-small -o decoder --epochs 3",
    "graphneg train decoder --model gpt2 -o decoder --corpus dailydialog --freeze wte",
    "graphneg negatives --decoder t5 --model decoder -o negatives.jsonl",
)
def decoder(
    *,
    model: options.StartModel,
    out: options.OutFolder,
    gold: bool = option(False, "Train on loaded graphs only, not on graphs that a parser made."),
    held_out: int = option(
        200, "Number of texts to hold out for evaluation; at most a tenth of all texts.", min=0
    ),
    parser: options.BackParser = "dependency",
    training_options: DecoderTraining,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model to generate texts from AMR graphs, for --decoder t5.

    The model can be sequence-to-sequence (T5, BART) or causal (GPT-2, Llama). amrlib, too, can use a
    sequence-to-sequence model that this command has trained. The model is trained on every utterance with a
    graph, except for held-out pairs, which are written to held_out.amr in the output folder. After the
    training, the model generates texts from the held-out graphs. These texts are evaluated by BLEU and chrF,
    and parsed back into graphs to compute Smatch. If a run is interrupted, run the same command again to
    continue from the last checkpoint.
    """
    from graphneg.decoders.t5 import T5Decoder
    from graphneg.evaluation.decoding import check_packages, evaluate_decoder, read_graph_text_pairs
    from graphneg.nn.models import load_either
    from graphneg.parsers.base import get_parser
    from graphneg.parsers.round_trip import RoundTrip
    from graphneg.training.decoder import HELD_OUT, read_text_graph_pairs, train_decoder
    from graphneg.training.decoder import held_out as divided

    if held_out:  # Check the packages now, so that a missing package is reported before the training.
        check_packages()
        get_parser(parser)
    with where.opened(chosen) as graph:
        chosen.require(graph, with_graphs=True)
        # Read all graphs into a list, so that the store can be closed before the training.
        meanings = list(read_text_graph_pairs(graph.store, chosen.selection, gold_only=gold))
    learned, measured = divided(meanings, held_out, training_options.seed)
    loaded = load_either(model, device=training_options.device, offline=training_options.offline)
    with training(out) as bars:
        report = train_decoder(
            loaded, learned, out, measured=measured, progress=bars, **training_options.arguments
        )
    left_out = f"; {report.too_long:,} were too long" if report.too_long else ""
    print_trained(report, out, left_out, report.examples)
    # Free the model before its saved copy is loaded for the evaluation, because a GPU may not have enough
    # memory for both.
    del loaded
    if measured:
        with progress_bars(
            f"measure the model with: graphneg evaluate decoder {out / HELD_OUT} --model {out}"
        ) as bars:
            made = T5Decoder(out, device=training_options.device, offline=True)
            with RoundTrip(parser) as trip:
                scores = evaluate_decoder(made, read_graph_text_pairs(out / HELD_OUT), trip, progress=bars)
        tables.results().print(tables.decoder_table(scores))


@training_command(
    "graphneg train infill --model gpt2 -o infiller --corpus dailydialog --epochs 2",
    "graphneg generate mask-and-fill -o negatives.jsonl --model infiller --per-context 5",
)
def infill(
    *,
    model: options.StartModel,
    out: options.OutFolder,
    held_out: int = option(
        200,
        "Number of texts to hold out for evaluation. They come from at most a tenth of the dialogues.",
        min=0,
    ),
    training_options: InfillingTraining,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Fine-tune a language model to fill the blanks in a text, for graphneg generate mask-and-fill.

    The training data are the turns of the dialogues, each as a reply to the turns before it, and the correct
    responses. Up to three training examples are made from each reply, by replacing words, phrases or
    sentences with blanks. After the training, the perplexity on the blanks in held-out texts is printed, with
    some examples. If a run is interrupted, run the same command again to continue from the last checkpoint.
    """
    from graphneg.generators.infilling.training import train_infilling
    from graphneg.nn.models import load_either

    with where.opened(chosen) as graph, training(out) as bars:
        loaded = load_either(model, device=training_options.device, offline=training_options.offline)
        report = train_infilling(
            loaded,
            chosen.contexts(graph),
            out,
            held_out=held_out,
            progress=bars,
            **training_options.arguments,
        )
    print_trained(report, out, "", report.examples)
    if report.perplexity is not None:
        measured = counted(report.measured, "held-out text")
        print_message(f"perplexity {report.perplexity:.1f} on the blanks of {measured}")
        tables.results().print(tables.filled_table(report.filled))


def _fine_tune(
    learn: Callable[..., TrainingReport], model: str, out: Path, training_options: LanguageModelTraining
) -> None:
    from graphneg.nn.models import load_either

    loaded = load_either(model, device=training_options.device, offline=training_options.offline)
    with training(out) as bars:
        report = learn(loaded, out=out, progress=bars, **training_options.arguments)
    left_out = f"; {report.skipped:,} were empty or too long" if report.skipped else ""
    print_trained(report, out, left_out, report.examples)


@training_command(
    "graphneg train adapt --model bert-base-uncased -o adapted --corpus dailydialog",
    "graphneg train adapt negatives.jsonl --model bert-base-uncased -o adapted",
    "graphneg train ranker negatives.jsonl --kind sa-bert --model adapted -o ranker",
)
def adapt(
    *,
    model: str = option(..., "An encoder of the BERT family: a folder or a hub id.", "PATH_OR_ID"),
    out: options.OutFolder,
    files: list[Path] | None = argument(
        None,
        "Files of negatives (.jsonl, .parquet) for training. Default: the dialogues in the store.",
        "[FILE...]",
    ),
    held_out: HeldOutContexts = None,
    epochs: int = option(1, "Number of passes over the data; each pass masks different tokens.", min=1),
    masked: float = option(0.15, "Share of tokens to mask.", min=0.01, max=0.9),
    max_tokens: int = option(
        256,
        "Maximum number of tokens in a context and its reply; a longer context loses its first turns.",
        min=8,
    ),
    training_options: Training = Training(batch=32),
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Continue the pre-training of an encoder on dialogues, for graphneg train ranker --kind sa-bert.

    The encoder learns to predict masked tokens, and whether a reply follows its context. The input marks the
    speakers. The training data are the turns of the dialogues, each as a reply to the turns before it, and
    the correct responses. In half of the examples, the reply is replaced by a reply to another context. Pass
    the resulting folder to graphneg train ranker as --model. If a run is interrupted, run the same command
    again to continue from the last checkpoint.
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
    encoder = new_adaptable(
        model, seed=training_options.seed, device=training_options.device, offline=training_options.offline
    )
    settings = {"epochs": epochs, "max_tokens": max_tokens, "masked": masked, "held_out": texts}
    with training(out) as bars:
        report = train_encoder(encoder, groups, out, progress=bars, **settings, **training_options.arguments)
    print_trained(report, out, "", report.examples)


@training_command(
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
    kind: str = option("cross-encoder", "Type of the ranker.", "cross-encoder|sa-bert|poly-encoder"),
    codes: int | None = option(
        None, "Number of context codes of a poly-encoder; 0 trains a bi-encoder instead. Default: 16.", min=0
    ),
    mix: list[str] | None = option(
        None,
        "Number of wrong responses per context from a recipe, a generator, a transform or an error category. "
        "The name random stands for random responses. Repeatable. Default: 2 random responses, and 1 from "
        "each recipe and generator.",
        "NAME=N",
    ),
    positives: int = option(2, "Maximum number of correct responses per context.", min=1),
    held_out: HeldOutContexts = None,
    held_out_split: list[str] | None = option(
        None, "Name of a split whose responses are not used for training. Repeatable.", "NAME"
    ),
    epochs: int = option(
        2, "Number of passes over the contexts; each pass samples different wrong responses.", min=1
    ),
    validation: float | None = option(
        None,
        "Share of the contexts to hold back for early stopping; the model with the lowest "
        "loss on these contexts is kept. Default: no early stopping.",
        "FRACTION",
    ),
    patience: int = option(
        2, "Stop training after this number of consecutive epochs without a lower validation loss.", min=1
    ),
    training_options: EncoderTraining = EncoderTraining(batch=32),
) -> None:
    """Train a ranker for responses on files of negatives.

    A cross-encoder reads the context and the response together. An sa-bert is a cross-encoder whose input
    also marks the ends of turns and the speakers. A poly-encoder encodes responses separately from the
    context, so that millions of responses can be searched.

    The correct responses are the originals of edited responses, and the records with label 1. If a context
    has fewer responses from a source than --mix asks for, the missing responses are not replaced by other
    responses; their number is printed. The output is a folder that transformers can load. If a run is
    interrupted, run the same command again to continue from the last checkpoint. \N{FORM FEED}

    Raises:
        BadParameter: There is no ranker of this kind, or ``--codes`` is given for a ranker that is not a
            poly-encoder.
    """
    from graphneg.datasets.negative_dataset import NegativeDataset
    from graphneg.datasets.pair_sampler import RANDOM, Mix, shortages
    from graphneg.datasets.pairs import Pairs
    from graphneg.evaluation.ranking import response_texts
    from graphneg.rankers.base import POLY_ENCODER, new_ranker, ranker_kinds
    from graphneg.training.rankers import EarlyStopping, train_ranker

    if kind not in ranker_kinds():
        raise BadParameter(
            f"{kind!r} is not a kind of ranker; choose one of {', '.join(ranker_kinds())}",
            param_hint="--kind",
        )
    if codes is not None and kind != POLY_ENCODER:
        raise BadParameter(f"a {kind} has no codes: use --kind {POLY_ENCODER}", param_hint="--codes")
    dataset = NegativeDataset(
        files, training_options.seed, response_texts(held_out or ()), held_out_split or ()
    )
    if mix:
        amounts = named_counts(mix, "--mix")
    else:
        # Without --mix, use one negative from each source in the files, and two random negatives.
        sources = {answer.source for group in dataset.groups(0) for answer in group.negatives} - {RANDOM}
        amounts = {RANDOM: 2, **dict.fromkeys(sorted(sources), 1)}
    pairs = Pairs(dataset, Mix(positives, amounts), training_options.seed)
    table = tables.shortage_table(shortages(pairs.sampler(0)))
    encoder = new_ranker(kind, model, **training_options.model, **without_none(codes=codes))
    held_back = None if validation is None else EarlyStopping(validation, patience)
    with training(out) as bars:
        report = train_ranker(
            encoder,
            pairs,
            out,
            epochs=epochs,
            validation=held_back,
            progress=bars,
            **training_options.arguments,
        )
    tables.results().print(table)
    short = report.shortfall
    _note_shortfall(short, {name: counted(few, "context") for name, few in short.contexts.items()})
    if short.held_out:
        print_note(f"{counted(short.held_out, 'response')} were left out, because they are held out")
    if short.unusable:
        print_note(
            f"{counted(short.unusable, 'response')} were left out: empty, or given as wrong and as correct "
            "for the same context"
        )
    learned = sum(report.pairs.values())
    if learned < report.planned:
        print_note(f"stopped early, after {learned:,} of {report.planned:,} pairs; the best model is kept")
    print_trained(report, out, f"; pairs: {counts_text(report.pairs)}")


def _note_shortfall(short: Shortfall, few: Mapping[str, str]) -> None:
    """Print which sources have fewer negatives than ``--mix`` requires, and which sources are not used."""
    for name, amount in sorted(short.responses.items()):
        print_note(f"{name}: {few[name]} have too few negatives; {amount:,} per epoch are missing")
    for name, amount in sorted(short.unused.items()):
        print_note(
            f"{name}: {counted(amount, 'negative')} not used, because the mix does not include them (--mix "
            f"{name}=1 adds them)"
        )


@dataclass(frozen=True)
class CoherenceTraining(EncoderTraining):
    """The options for training an encoder as a coherence scorer.

    Attributes:
        batch: Number of windows per training step. A window is a whole dialogue or a range of its turns.
        max_tokens: Maximum number of tokens in a window.
    """

    batch: Annotated[int, shared("Number of windows (ranges of turns) per training step.", min=1)] = 16
    max_tokens: Annotated[
        int,
        shared("Maximum number of tokens in a window; longer dialogues are divided between turns.", min=8),
    ] = 256


@training_command(
    "graphneg train coherence edits.jsonl --model microsoft/MiniLM-L12-H384-uncased -o scorer",
    "graphneg train coherence edits.jsonl shuffled.jsonl --mix C-cont=2 --mix turn-shuffle=1 "
    "--model roberta-base -o scorer",
    "graphneg train coherence edits.jsonl --held-out fed_data.json --model path/to/encoder -o scorer",
)
def coherence(
    *,
    files: list[Path] = argument(
        ..., "Files of negatives (.jsonl, .parquet) that were made with --target dialogue.", "FILE..."
    ),
    model: options.StartEncoder,
    out: options.OutFolder,
    mix: list[str] | None = option(
        None,
        "Number of edited versions of each dialogue from a recipe, a generator or an error category. "
        "Repeatable. Default: 1 from each recipe and generator.",
        "NAME=N",
    ),
    held_out: list[Path] | None = option(
        None,
        "Ratings (.json) or negatives for testing. Dialogues that share a turn with them are not used for "
        "training. Repeatable.",
    ),
    epochs: int = option(
        2,
        "Number of passes over the dialogues; each pass samples other edited versions of a dialogue and "
        "other windows (ranges of its turns).",
        min=1,
    ),
    training_options: CoherenceTraining,
) -> None:
    """Train an encoder to distinguish coherent dialogues from edited dialogues, on files of negatives.

    The originals of the negatives are the coherent dialogues. A dialogue that is too long for the encoder is
    divided into windows, each of which consists of whole turns. The output is a folder that transformers can
    load. If a run is interrupted, run the same command again to continue from the last checkpoint.
    """
    from graphneg.evaluation.correlation import turn_texts
    from graphneg.scorers.coherence import CoherenceScorer, read_dialogues
    from graphneg.training.coherence import train_coherence

    read = read_dialogues(files)
    settings = {"mix": named_counts(mix, "--mix") if mix else None, "held_out": turn_texts(held_out or ())}
    scorer = CoherenceScorer.new(model, **training_options.model)
    with training(out) as bars:
        report = train_coherence(
            scorer,
            read.dialogues,
            out,
            epochs=epochs,
            progress=bars,
            **settings,
            **training_options.arguments,
        )
    if read.responses:
        print_note(f"{counted(read.responses, 'record')} edit no dialogue and were left out: target response")
    if read.unchanged:
        print_note(f"{counted(read.unchanged, 'record')} do not change the dialogue and were left out")
    short, of = report.shortfall, f"of {len(read.dialogues):,}"
    few = {name: f"{counted(dialogues, 'dialogue')} {of}" for name, dialogues in short.contexts.items()}
    _note_shortfall(short, few)
    if short.held_out:
        print_note(
            f"{counted(short.held_out, 'edited dialogue')} were left out, because they share turns with "
            "held-out dialogues"
        )
    if report.cut_turns:
        print_note(f"{counted(report.cut_turns, 'turn')} longer than a window were cut at the end")
    print_trained(report, out, f"; windows: {counts_text(report.windows)}")
    print_message(f"categories: {', '.join(scorer.categories) or 'none'}")


@dataclass(frozen=True)
class DetectorTraining(EncoderTraining):
    """The options for training an encoder as a detector of contradictions.

    Attributes:
        max_tokens: Maximum number of tokens in a response and an earlier utterance together.
    """

    max_tokens: Annotated[
        int,
        shared(
            "Maximum number of tokens in an earlier utterance and a response; a longer utterance loses its "
            "beginning.",
            min=8,
        ),
    ] = 128


@training_command(
    "graphneg train contradiction --made negatives.jsonl --model path/to/encoder -o made",
    "graphneg train contradiction labelled.jsonl --model made --epochs 4 -o detector",
)
def contradiction(
    *,
    model: str = option(
        ..., "The encoder to train, or a detector to train further: a folder or a hub id.", "PATH_OR_ID"
    ),
    out: options.OutFolder,
    files: list[Path] | None = argument(
        None, "Labelled responses, as JSON lines in the format of Sato et al.", "[FILE]..."
    ),
    made: list[Path] | None = option(
        None,
        "Negatives of the recipe contradiction (.jsonl, .parquet), from which training data are made. "
        "Repeatable.",
    ),
    embedder: options.Embedder = None,
    held_out: list[Path] | None = option(
        None, "Labelled responses for testing, whose texts are not used for training. Repeatable."
    ),
    epochs: int = option(2, "Number of passes over the responses.", min=1),
    training_options: DetectorTraining,
) -> None:
    """Train a detector of contradictions on labelled responses or on responses made by editing graphs.

    The detector reads a response and an earlier utterance of the same speaker. The best results come from
    training twice: first on responses made by editing graphs (--made), then on labelled responses, with the
    folder of the first training as --model. The output is a folder that transformers and
    sentence-transformers can load. If a run is interrupted, run the same command again to continue.
    \N{FORM FEED}

    Raises:
        BadParameter: Neither labelled responses nor negatives are given.
    """
    from graphneg.evaluation.cross_validation import test_texts
    from graphneg.ingest.labelled import read_labelled
    from graphneg.scorers.contradiction import ContradictionDetector
    from graphneg.training.contradiction import pairs_of, train_detector

    if not files and not made:
        raise BadParameter("give files of labelled responses, or negatives with --made", param_hint="FILE")
    labelled = read_labelled(files) if files else []
    labelled += options.make_responses(
        made, embedder, seed=training_options.seed, offline=training_options.offline
    )
    texts = test_texts(read_labelled(held_out)) if held_out else frozenset[str]()
    detector = ContradictionDetector.new(model, **training_options.model)
    pairs = pairs_of(labelled)
    with training(out) as bars:
        report = train_detector(
            detector, pairs, out, epochs=epochs, held_out=texts, progress=bars, **training_options.arguments
        )
    if report.held_out:
        print_note(f"{counted(report.held_out, 'response')} were left out, because they are held out")
    print_trained(report, out, f"; pairs: {counts_text(report.pairs)}")


app = group(
    "train",
    "Train language models on the loaded dialogues, and rankers, scorers and detectors on negatives.",
    (lm, counterfactual, keywords, decoder, infill, adapt, ranker, coherence, contradiction),
)

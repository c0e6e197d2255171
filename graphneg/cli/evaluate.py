"""Define the group of commands ``evaluate``.

``graphs`` finds malformed AMR graphs. ``smatch`` compares parsed graphs with gold graphs. ``decoder``
compares texts that a model generates from graphs with reference texts. ``negatives`` measures how negatives
differ from correct responses. ``sources`` compares rankers that were trained on different sources of
negatives. ``ranker`` tests a ranker on correct and wrong responses. ``correlation`` compares the scores of a
model with human ratings. ``contradiction`` tests a detector of contradictions.

Example::

    graphneg evaluate smatch gold.amr parsed.amr --json | jq .measures.Smatch.micro.f1    # 0.83, for example
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from typer import BadParameter

from graphneg.cli import options
from graphneg.cli.commands import argument, group, named_values, option, panel, training_command
from graphneg.cli.evaluate_graphs import graphs
from graphneg.cli.evaluate_negatives import negatives
from graphneg.cli.evaluate_sources import sources
from graphneg.cli.options import (
    AnyDevice,
    BackParser,
    Device,
    Embedder,
    Json,
    Offline,
    Resamples,
    Seed,
    make_responses,
)
from graphneg.cli.tables import decoder_table, figures_table, show, with_interval
from graphneg.cli.terminal import (
    Bars,
    advise_on_interrupt,
    counted,
    print_error,
    print_message,
    print_note,
    progress_bars,
    resume_message,
)
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.evaluation.correlation import Correlation, Difference, RatedItem
    from graphneg.ingest.labelled import JudgedResponse

SHOWN_UNREADABLE = 20
"""Maximum number of unreadable graphs for which ``evaluate smatch`` prints the reason."""
UNCHANGED = "nothing was changed"
"""The message that a command prints on Ctrl-C if the command writes nothing."""
_left_out = panel("Training with one generator left out")


@training_command(
    "graphneg evaluate smatch gold.amr parsed.amr",
    "graphneg evaluate smatch gold.amr parsed.amr --json | jq .measures.Smatch.micro.f1",
)
def smatch(
    gold: Path = argument(..., "PENMAN file of gold graphs.", "GOLD"),
    pred: Path = argument(..., "PENMAN file of predicted graphs, which are compared with GOLD.", "PRED"),
    json: Json = False,
    seed: Seed = 0,
    resamples: Resamples = 1000,
    processes: int | None = option(None, "Number of worker processes. Default: one per CPU core.", min=1),
) -> None:
    """Compare predicted graphs with gold graphs by Smatch and the sub-scores of amr-evaluation.

    Graphs are paired by their ids (# ::id) if both files have the same ids, otherwise by their order in the
    files. A graph in PRED that cannot be read counts as a graph without triples. If a graph in GOLD cannot be
    read, the pair of this graph is left out. No store is opened.
    """
    from graphneg.evaluation.smatch_files import evaluate_smatch

    drawn = {"seed": seed, "resamples": resamples}
    with progress_bars(UNCHANGED) as bars:
        found = evaluate_smatch(gold, pred, **drawn, processes=processes, progress=bars)
    rows = (
        (
            f"[bold]{name}[/]",
            *(f"{value:.3f}" for value in measure.micro),
            "–".join(f"{end:.3f}" for end in measure.micro_interval),
            f"{measure.macro.f1:.3f}",
            "–".join(f"{end:.3f}" for end in measure.macro_interval),
            f"{measure.pairs:,}",
        )
        for name, measure in found.measures.items()
    )
    headers = ("measure", "P", "R", "F1", "95%", "macro", "95%", "pairs")
    show(json, [found.as_dict()], figures_table(*headers, rows=rows))
    for graph in found.unreadable[:SHOWN_UNREADABLE]:
        print_error(f"{graph.place}: {graph.id or '-'}: {graph.reason}")
    unread = f"; {counted(len(found.unreadable), 'graph')} can't be read" if found.unreadable else ""
    print_message(f"{counted(found.pairs, 'pair')} compared, by {found.paired_by}{unread}")


@training_command(
    "graphneg evaluate decoder path/to/model/held_out.amr --model path/to/model",
    "graphneg evaluate decoder gold.amr --model path/to/model --beams 1 --json",
)
def decoder(
    gold: Path = argument(..., "PENMAN file of graphs with their texts (::snt).", "GOLD"),
    model: str = option(..., "A model for the decoder t5: a folder or a hub id.", "PATH_OR_ID"),
    backend: Literal["torch", "ctranslate2"] = option("torch", "The library that runs the model."),
    beams: int = option(4, "Number of beams for the beam search.", min=1),
    limit: int | None = option(None, "Maximum number of graphs to decode. Default: all graphs.", min=1),
    parser: BackParser = "dependency",
    device: AnyDevice = "auto",
    offline: Offline = False,
    json: Json = False,
) -> None:
    """Compare texts that a model generates from graphs with reference texts: BLEU, chrF and Smatch.

    For Smatch, the texts are parsed back into graphs, which are compared with the gold graphs. The parser
    makes mistakes, too: to show how many, the second line of the table has the scores of the reference texts
    themselves. No store is opened.
    """
    from graphneg.decoders.t5 import T5Decoder
    from graphneg.evaluation.decoding import check_packages, evaluate_decoder, read_graph_text_pairs
    from graphneg.parsers.round_trip import RoundTrip

    # Check the packages first, so that a missing package is reported before the model is loaded.
    check_packages()
    pairs = read_graph_text_pairs(gold)[:limit]
    made = T5Decoder(model, backend=backend, num_beams=beams, device=device, offline=offline)
    with progress_bars(UNCHANGED) as bars, RoundTrip(parser) as trip:
        scores = evaluate_decoder(made, pairs, trip, progress=bars)
    show(json, [scores.as_dict()], decoder_table(scores))
    for code, amount in sorted(scores.decoder.reasons.items()):
        print_note(f"{code}: {counted(amount, 'graph')} got no text")


@training_command(
    "graphneg evaluate ranker dev.json --model path/to/ranker",
    "graphneg evaluate ranker negatives.jsonl positives.jsonl --model path/to/ranker",
    "graphneg evaluate ranker dev.json --scores scores.txt --json",
)
def ranker(
    files: list[Path] = argument(
        ...,
        "Negatives and positives (.jsonl, .parquet), or contexts in the format of DailyDialog++.",
        "FILE...",
    ),
    model: str | None = option(None, "The ranker: a folder or a Hugging Face hub id.", "PATH_OR_ID"),
    scores: Path | None = option(
        None,
        "File of scores to use instead of a model: one score for each response, context by context. In each "
        "context, the correct responses come first.",
    ),
    threshold: float = option(
        0.5, "A response is predicted to be correct if its score is above this threshold, wrong if below."
    ),
    limit: int | None = option(None, "Maximum number of contexts to use. Default: all contexts.", min=1),
    offline: Offline = False,
    json: Json = False,
) -> None:
    """Test a ranker on correct and wrong responses: accuracy, balanced accuracy, AUC, R@1 and MRR.

    The table has a line for each generator or recipe (for DailyDialog++: adversarial and random), each
    transform and each error category. The original of an edited response counts as a correct response. To
    test on further correct responses, write them to a file with graphneg export, and give this file, too.
    Equal scores count against the ranker. For the column "same length", each wrong response is compared only
    with the correct response to the same context that has the most similar number of words. No store is
    opened.
    \N{FORM FEED}

    Raises:
        BadParameter: Both or neither of --model and --scores are given.
    """
    from graphneg.datasets.groups import SOURCE
    from graphneg.evaluation.correlation import read_scores
    from graphneg.evaluation.ranking import rank, read_tested, score_contexts
    from graphneg.rankers.base import load_ranker

    if (model is None) == (scores is None):
        raise BadParameter("give exactly one of --model and --scores", param_hint="--model")
    tested = read_tested(files, limit)
    choices = tested.choices
    with progress_bars(UNCHANGED) as bars:
        if model is not None:
            given = score_contexts(load_ranker(model, offline=offline), choices, bars)
        else:
            assert scores is not None
            # The file has one score per line. Divide the scores into one list for each context.
            flat = iter(read_scores(scores, sum(len(context.responses) for context in choices)))
            given = [[next(flat) for _ in context.responses] for context in choices]
        ranked = rank(choices, given, threshold)
    figures = ("accuracy", "balanced_accuracy", "auc", "recall_at_1", "mrr", "matched_accuracy")
    heads = ("accuracy", "balanced", "AUC", "R@1", "MRR", "same\nlength")
    names = [line.kind if line.by == SOURCE else f"{line.by} {line.kind}" for line in ranked]
    rows = (
        (
            *(name, f"{line.contexts:,}", f"{line.positives + line.negatives:,}"),
            *(f"{getattr(line, name):.3f}" for name in figures),
        )
        for name, line in zip(names, ranked, strict=True)
    )
    show(json, map(asdict, ranked), figures_table("negatives", "contexts", "pairs", *heads, rows=rows))
    few = f"; {tested.right_only:,} without a wrong response left out" if tested.right_only else ""
    if tested.unusable:
        few += f"; {counted(tested.unusable, 'response')} left out: empty, or given as wrong and as correct"
    print_message(f"{counted(len(choices), 'context')}{few}")


@training_command(
    "graphneg evaluate correlation chatbot1.json chatbot2.json --model path/to/scorer",
    "graphneg evaluate correlation chatbot1.json --model deam --model shuffled --quality coherent",
    "graphneg evaluate correlation fed_data.json --scores a.txt --scores b.txt --quality Coherent",
    "graphneg evaluate correlation fed_data.json --model path/to/ranker --level turn",
    "graphneg evaluate correlation persona-zhao_all_anno.json --scores mine.txt --json",
)
def correlation(
    ratings: list[Path] = argument(..., "Files of human ratings: DSTC9, FED or Zhao 2020.", "RATINGS..."),
    model: list[str] | None = option(
        None,
        "A coherence scorer, or a ranker for rated responses: a folder or a hub id. "
        "Repeatable: each further model is compared with the first model.",
        "PATH_OR_ID",
    ),
    scores: list[Path] | None = option(
        None,
        "File of scores from any scorer, one score for each rated item. Repeatable. Each file counts as a "
        "further scorer, after the models.",
    ),
    quality: list[str] | None = option(
        None, "Rated quality to evaluate, such as coherent. Default: all rated qualities. Repeatable."
    ),
    level: Literal["turn", "dialogue"] | None = option(
        None,
        "Use only rated responses (turn), or only rated whole dialogues (dialogue). Default: use both.",
    ),
    over: Literal["mean", "minimum"] = option(
        "mean", "How to combine the scores of the windows into which a long dialogue is divided."
    ),
    overlap: int = option(0, "Number of turns that consecutive windows of a long dialogue share.", min=0),
    offline: Offline = False,
    json: Json = False,
    seed: Seed = 0,
    resamples: Resamples = 1000,
) -> None:
    """Correlate scores with human ratings: Pearson, Spearman and Kendall, with bootstrap intervals.

    A coherence scorer can score rated dialogues, and rated responses together with their contexts. A ranker
    can score only rated responses. A file of scores has one number per line, or JSON lines with the key
    "score", in the order of the ratings. Responses and whole dialogues are reported separately. If there are
    several scorers, each of the others is compared with the first scorer by a paired bootstrap of Spearman's
    correlation. The last lines of the table show, for comparison, how well the number of words and the number
    of turns correlate with the ratings. No store is opened. \N{FORM FEED}

    Raises:
        BadParameter: Neither a model nor a file of scores is given.
        InputError: The files have no ratings of the kind that ``--level`` selects, or a ranker is asked to
            score a whole dialogue.
    """
    from graphneg.evaluation.correlation import (
        compare,
        correlate,
        length_baselines,
        read_ratings,
        read_scores,
        select_qualities,
    )

    if not model and not scores:
        raise BadParameter("give --model or --scores", param_hint="--model")
    every = read_ratings(ratings)
    # A file of scores contains one score for each rated item, including the items that --level leaves out. So
    # first read all scores, and later keep only the scores of the chosen items.
    from_files = [(str(path), read_scores(path, len(every))) for path in scores or ()]
    at = [index for index, item in enumerate(every) if level in (None, item.level)]
    if not at:
        raise InputError(f"no {level} has a rating in {', '.join(map(str, ratings))}")
    rated = [every[index] for index in at]
    kept = select_qualities(rated, quality or ())
    drawn = {"resamples": resamples, "seed": seed}
    with advise_on_interrupt(UNCHANGED):
        columns = [(name, _scores_of_model(name, rated, over, overlap, offline)) for name in model or ()]
        columns += [(name, [column[index] for index in at]) for name, column in from_files]
        found = [(name, correlate(column, kept, **drawn)) for name, column in columns]
        # Also correlate the numbers of words and turns with the ratings. If these numbers correlate as well
        # as a scorer does, the scorer may only measure length.
        plain = [(name, correlate(column, kept, **drawn)) for name, column in length_baselines(rated).items()]
        (first, scored), *rest = columns
        others = [(first, name, compare(scored, column, kept, **drawn)) for name, column in rest]
    _print_correlations(found, plain, others, json)
    print_message(f"{counted(len(rated), 'rated item')}, {counted(len(columns), 'scorer')}")


def _scores_of_model(
    model: str, rated: list[RatedItem], over: Any, overlap: int, offline: bool
) -> list[float]:
    from graphneg.nn.models import locate, read_config
    from graphneg.rankers.base import kind_of, load_ranker, ranker_kinds
    from graphneg.scorers.coherence import CoherenceScorer

    # The configuration of a model says whether the model is a ranker. If the configuration names no kind of
    # model, the model counts as a cross-encoder, which is a ranker.
    if kind_of(read_config(locate(model, offline=offline))) in ranker_kinds():
        ranker = load_ranker(model, offline=offline)
        for item in rated:
            if item.response is None:
                raise InputError(
                    f"{item.id} is a whole dialogue, but {model} is a ranker, which scores only responses: "
                    "use a coherence scorer, or leave dialogues out with --level turn"
                )
        contexts = [[turn.text for turn in item.turns] for item in rated]
        responses = [item.response.text for item in rated if item.response is not None]
        return ranker.score(contexts, responses)
    scorer = CoherenceScorer.from_pretrained(model, over=over, overlap=overlap, offline=offline)
    with Bars() as bars:
        scores = scorer.score([item.all_turns for item in rated], bars)
    if scorer.cut_turns:
        print_note(f"{model}: {counted(scorer.cut_turns, 'turn')} longer than a window were cut at the end")
    return scores


def _print_correlations(
    found: Sequence[tuple[str, Sequence[Correlation]]],
    plain: Sequence[tuple[str, Sequence[Correlation]]],
    others: Sequence[tuple[str, str, Sequence[Difference]]],
    json: bool,
) -> None:
    """Print the correlations of the scorers and of the length baselines, and compare the scorers.

    Args:
        found: The name and the correlations of each scorer.
        plain: The name and the correlations of each length baseline (number of words, number of turns).
        others: Comparisons of the first scorer with each other scorer: the names of the two scorers, and the
            differences between their Spearman correlations.
        json: Whether to print JSON instead of tables.
    """
    scorers, lengths = (
        [{"scores": name, "correlations": [*map(asdict, lines)]} for name, lines in some]
        for some in (found, plain)
    )
    differences = [
        {"first": first, "second": second, "spearman": [*map(asdict, lines)]}
        for first, second, lines in others
    ]
    headers = ("scores", "level", "quality", "items", "Pearson", "Spearman", "Kendall")
    table = figures_table(*headers, names=3)
    for at, (name, lines) in enumerate((*found, *plain)):
        # Draw a line between the scorers and the two baselines, which only count words and turns.
        if at == len(found):
            table.add_section()
        for line in lines:
            values = (line.pearson, line.spearman, line.kendall)
            shown = (f"{value.value:+.3f}\n{value.low:+.3f} to {value.high:+.3f}" for value in values)
            table.add_row(Path(name).name, line.level, line.quality, f"{line.items:,}", *shown)
    tables = [table]
    for first, second, lines in others:
        title = f"{Path(first).name} minus {Path(second).name}"
        headers = ("level", "quality", "items", "Spearman", "95%", "p")
        tables.append(figures_table(*headers, names=2, title=title))
        for line in lines:
            spread = f"{line.low:+.3f} to {line.high:+.3f}"
            figures = (f"{line.items:,}", f"{line.value:+.3f}", spread, f"{line.p:.3f}")
            tables[-1].add_row(line.level, line.quality, *figures)
    show(json, [{"scorers": scorers, "counts": lengths, "differences": differences}], *tables)


@training_command(
    "graphneg evaluate contradiction labelled.jsonl --model detector",
    "graphneg evaluate contradiction labelled.jsonl --encoder microsoft/MiniLM-L12-H384-uncased -o folds",
    "graphneg evaluate contradiction labelled.jsonl --encoder path/to/encoder --made negatives.jsonl "
    "--source both -o folds --json",
)
def contradiction(
    files: list[Path] = argument(
        ..., "Labelled responses, as JSON lines in the format of Sato et al.", "FILE..."
    ),
    model: str | None = option(None, "A trained detector: a folder or a hub id.", "PATH_OR_ID"),
    scores: Path | None = option(
        None, "File of scores to use instead of a model: one score for each response, in the order of FILE."
    ),
    encoder: str | None = _left_out(
        None,
        "Encoder to train, instead of testing a trained detector. For each generator, a detector is "
        "trained on the responses of the other generators.",
        "PATH_OR_ID",
    ),
    out: Path | None = _left_out(None, "Folder for the trained detectors.", "FOLDER", "--out", "-o"),
    source: Literal["labelled", "made", "both"] = _left_out(
        "labelled",
        "Training data: labelled responses of the other generators, responses made from --made, or both.",
    ),
    made: list[Path] | None = _left_out(
        None,
        "Negatives of the recipe contradiction (.jsonl, .parquet), from which training data are made. "
        "Repeatable.",
    ),
    embedder: Embedder = None,
    epochs: int = _left_out(4, "Number of passes over the labelled responses.", min=1),
    made_epochs: int = _left_out(
        1, "Number of passes over the responses made from --made, before the labelled responses.", min=1
    ),
    freeze: options.Freeze = None,
    dropout: options.Dropout = None,
    option: options.TrainingOption = None,
    threshold: float = option(0.5, "Scores at or above this threshold count as contradictory."),
    resamples: Resamples = 1000,
    seed: int = option(0, "Random seed for training and bootstrap resampling."),
    device: Device = None,
    offline: Offline = False,
    json: Json = False,
) -> None:
    """Test a detector of contradictory responses: accuracy, balanced accuracy, F1 and AUC, by generator.

    A generator is the model or program that wrote a response. A response counts as contradictory if at least
    two of three annotators marked it as contradictory, and as consistent if no annotator did. If exactly one
    annotator marked it, the response is left out. With --encoder, one detector is trained for each generator,
    on the responses of the other generators to other contexts. Confidence intervals contain 95% of the
    bootstrap samples.
    \N{FORM FEED}

    Raises:
        BadParameter: A required option is missing, or options contradict each other.
    """
    from graphneg.evaluation.correlation import read_scores
    from graphneg.evaluation.cross_validation import DetectorSettings, cross_validate, leave_one_out
    from graphneg.evaluation.detection import evaluate_detection
    from graphneg.ingest.labelled import read_labelled
    from graphneg.scorers.contradiction import ContradictionDetector

    if sum(given is not None for given in (model, scores, encoder)) != 1:
        raise BadParameter("give one of --model, --scores and --encoder")
    tested: Sequence[JudgedResponse] = read_labelled(files)
    if scores is not None:
        given: Sequence[float] = read_scores(scores, len(tested))
    elif model is not None:
        detector = ContradictionDetector.from_pretrained(model, device=device, offline=offline)
        given = detector.score([(response.response, response.contradicted_text) for response in tested])
    else:
        assert encoder is not None
        if out is None:
            raise BadParameter("name a folder for the detectors", param_hint="--out")
        if source != "labelled" and not made:
            raise BadParameter(f"--source {source} needs --made", param_hint="--made")
        training_options: dict[str, Any] = {"dropout": dropout, "device": device, "offline": offline}
        arguments, frozen = named_values(option, "--option"), tuple(freeze or ())
        settings = DetectorSettings(
            epochs, made_epochs, frozen=frozen, arguments=arguments, **training_options
        )
        learned: dict[str, Any] = {"source": source, "settings": settings, "seed": seed}
        learned["graph_made"] = make_responses(made, embedder, seed=seed, offline=offline)
        # Training takes a while, so print the sizes of the training and test sets before it starts.
        for fold in leave_one_out(tested):
            left = counted(fold.leaked, "response")
            dropped = f"; {left} to contexts of the test data left out" if fold.leaked else ""
            print_message(
                f"{fold.generator}: {len(fold.train):,} to train on, {len(fold.test):,} to test{dropped}"
            )
        with progress_bars(resume_message(out)) as bars:
            validated = cross_validate(tested, encoder, out, progress=bars, **learned)
        tested, given = validated.tested, validated.scores
    found = evaluate_detection(tested, given, threshold=threshold, resamples=resamples, seed=seed)
    rows = (
        (
            *(line.generator, f"{line.responses:,}", f"{line.contradictory:,}"),
            *map(with_interval, (line.accuracy, line.balanced_accuracy, line.f1, line.auc)),
        )
        for line in (*found.generators, found.mean)
    )
    headers = ("generator", "responses", "contra-\ndictory", "accuracy", "balanced", "F1", "AUC")
    show(json, found.as_dicts(), figures_table(*headers, rows=rows))


app = group(
    "evaluate",
    "Evaluate parsers and decoders on gold data, rankers on negatives, and scorers on human ratings.",
    (graphs, smatch, decoder, ranker, negatives, sources, correlation, contradiction),
)

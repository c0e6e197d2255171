"""``graphneg evaluate``: graphs against gold graphs, rankers and scorers against what people say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, BadParameter, Option

from graphneg.cli.evaluate_negatives import negatives
from graphneg.cli.options import (
    Device,
    Embedder,
    Json,
    Offline,
    Resamples,
    Seed,
    Threshold,
    group,
    job,
    made_responses,
    named_values,
    panel,
)
from graphneg.cli.terminal import (
    Bars,
    complain,
    counted,
    note,
    print_json,
    say,
    show_table,
    stopping,
    working,
)
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.datasets.groups import Choices
    from graphneg.evaluation.correlation import Correlation, Difference, Rated
    from graphneg.evaluation.cross_validation import DetectorSettings
    from graphneg.evaluation.detection import Detection
    from graphneg.evaluation.ranking import Ranked
    from graphneg.evaluation.smatch_files import Evaluation
    from graphneg.ingest.labelled import Labelled

SHOWN_UNREADABLE = 20
UNCHANGED = "nothing was changed"
_left_out = panel("Leaving one generator out")


@job(
    "graphneg evaluate smatch gold.amr parsed.amr",
    "graphneg evaluate smatch gold.amr parsed.amr --json | jq .measures.Smatch.micro.f1",
)
def smatch(
    gold: Annotated[Path, Argument(metavar="GOLD", help="PENMAN file of gold graphs.")],
    pred: Annotated[Path, Argument(metavar="PRED", help="PENMAN file of the graphs to measure.")],
    json: Json = False,
    seed: Seed = 0,
    resamples: Resamples = 1000,
    processes: Annotated[
        int | None, Option(min=1, help="Worker processes; one a core.", show_default=False)
    ] = None,
) -> None:
    """Measure graphs against gold graphs: Smatch, and the sub-scores of amr-evaluation.

    Graphs are paired by ::id where both files have the same ids, else by their order. A graph of
    PRED that can't be read counts as one without triples; a pair whose gold graph can't be read is
    left out. No store is opened.
    """
    from graphneg.evaluation.smatch_files import evaluate_smatch

    with working(UNCHANGED) as bars:
        found = evaluate_smatch(
            gold, pred, seed=seed, resamples=resamples, processes=processes, progress=bars
        )
    if json:
        print_json(found.as_dict())
    else:
        _print_smatch(found)
    for one in found.unreadable[:SHOWN_UNREADABLE]:
        complain(f"{one.place}: {one.id or '-'}: {one.reason}")
    unread = f"; {counted(len(found.unreadable), 'graph')} can't be read" if found.unreadable else ""
    say(f"{counted(found.pairs, 'pair')} compared, by {found.paired_by}{unread}")


def _print_smatch(found: Evaluation) -> None:
    rows = (
        (
            f"[bold]{name}[/]",
            *(f"{value:.3f}" for value in one.micro),
            "–".join(f"{end:.3f}" for end in one.micro_interval),
            f"{one.macro.f1:.3f}",
            "–".join(f"{end:.3f}" for end in one.macro_interval),
            f"{one.pairs:,}",
        )
        for name, one in found.measures.items()
    )
    show_table(rows, "measure", "P", "R", "F1", "95%", "macro", "95%", "pairs")


@job(
    "graphneg evaluate ranker dev.json --model path/to/ranker",
    "graphneg evaluate ranker dev.json --scores scores.txt --json",
)
def ranker(
    files: Annotated[
        list[Path], Argument(metavar="FILE...", help="JSON lines in the shape of DailyDialog++.")
    ],
    model: Annotated[
        str | None, Option(metavar="PATH|ID", help="A ranker of any kind: a folder or a hub id.")
    ] = None,
    scores: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="In place of a model: a score for each response, contexts in order, right ones first.",
        ),
    ] = None,
    threshold: Threshold = 0.5,
    limit: Annotated[int | None, Option(min=1, help="At most so many contexts.")] = None,
    offline: Offline = False,
    json: Json = False,
) -> None:
    """Rank right responses against wrong ones: accuracy, balanced accuracy, AUC, R@1, MRR.

    Contexts have several right responses and wrong ones of several kinds (adversarial, random).
    Ties count against the ranker. "Same length" compares each wrong response with the right one of
    its context that is nearest in words. No store is opened.
    """
    from dataclasses import asdict

    from graphneg.evaluation.ranking import rank, read_choices

    if (model is None) == (scores is None):
        raise BadParameter("give either --model or --scores", param_hint="--model")
    choices = read_choices(files, limit)
    with stopping(UNCHANGED):
        found = rank(choices, _ranker_scores(choices, model, scores, offline), threshold)
    if json:
        print_json(*map(asdict, found))
    else:
        _print_ranked(found)
    say(counted(len(choices), "context"))


def _ranker_scores(
    choices: list[Choices], model: str | None, scores: Path | None, offline: bool
) -> list[list[float]]:
    """The scores of each context's responses, by a model or from a file."""
    from graphneg.evaluation.correlation import read_scores
    from graphneg.evaluation.ranking import scored
    from graphneg.rankers.base import load_ranker

    if scores is not None:
        flat = iter(read_scores(scores, sum(len(one.responses) for one in choices)))
        return [[next(flat) for _ in one.responses] for one in choices]
    assert model is not None
    read = load_ranker(model, offline=offline)
    with Bars() as bars:
        return scored(read, choices, bars)


def _print_ranked(found: list[Ranked]) -> None:
    figures = ("accuracy", "balanced_accuracy", "auc", "recall_at_1", "mrr", "matched_accuracy")
    rows = (
        (
            one.kind,
            f"{one.contexts:,}",
            f"{one.positives + one.negatives:,}",
            *(f"{getattr(one, name):.3f}" for name in figures),
        )
        for one in found
    )
    headers = ("negatives", "contexts", "pairs", "accuracy", "balanced", "AUC", "R@1", "MRR", "same\nlength")
    show_table(rows, *headers)


@job(
    "graphneg evaluate correlation chatbot1.json chatbot2.json --model path/to/scorer",
    "graphneg evaluate correlation chatbot1.json --model deam --model shuffled --quality coherent",
    "graphneg evaluate correlation fed_data.json --scores a.txt --scores b.txt --quality Coherent",
    "graphneg evaluate correlation fed_data.json --model path/to/ranker --level turn",
    "graphneg evaluate correlation persona-zhao_all_anno.json --scores mine.txt --json",
)
def correlation(
    ratings: Annotated[
        list[Path], Argument(metavar="RATINGS...", help="Files of human ratings: DSTC9, FED, Zhao 2020.")
    ],
    model: Annotated[
        list[str] | None,
        Option(
            metavar="PATH|ID",
            help="A coherence scorer, or of responses a ranker: a folder or a hub id; repeatable, to compare "
            "with the first.",
            show_default=False,
        ),
    ] = None,
    scores: Annotated[
        list[Path] | None,
        Option(
            metavar="FILE",
            help="Any scorer's scores, one for each rated item; repeatable, after the models.",
            show_default=False,
        ),
    ] = None,
    quality: Annotated[
        list[str] | None, Option(help="Only this quality; repeatable.", show_default=False)
    ] = None,
    level: Annotated[
        Literal["turn", "dialogue"] | None,
        Option(
            help="Only rated responses, or only whole dialogues; a file such as FED's has both.",
            show_default=False,
        ),
    ] = None,
    over: Annotated[
        Literal["mean", "minimum"], Option(help="Of a model's windows of a long dialogue, what counts.")
    ] = "mean",
    overlap: Annotated[int, Option(min=0, help="Turns that windows of a long dialogue share.")] = 0,
    offline: Offline = False,
    json: Json = False,
    seed: Seed = 0,
    resamples: Resamples = 1000,
) -> None:
    """Correlate scores with human ratings: Pearson, Spearman, Kendall, with bootstrap intervals.

    A coherence scorer reads each rated dialogue, or context and response, as a whole; a ranker reads
    rated responses. Scores are a number a
    line, or JSON lines with "score", in the order of the ratings. Turns and whole dialogues are told
    apart. Of several scorers, each is compared with the first by a paired bootstrap of Spearman. No
    store is opened.
    """
    from graphneg.evaluation.correlation import compare, correlate, only, read_ratings, read_scores

    if not model and not scores:
        raise BadParameter("give --model or --scores", param_hint="--model")
    every = read_ratings(ratings)
    from_files = [(str(path), read_scores(path, len(every))) for path in scores or ()]
    at = [index for index, one in enumerate(every) if level in (None, one.level)]
    if not at:
        raise InputError(f"no {level} is rated in {', '.join(map(str, ratings))}")
    rated = [every[index] for index in at]
    kept = only(rated, quality or ())
    drawn = {"resamples": resamples, "seed": seed}
    with stopping(UNCHANGED):
        columns = [(one, _model_scores(one, rated, over, overlap, offline)) for one in model or ()]
        columns += [(name, [column[index] for index in at]) for name, column in from_files]
        found = [(name, correlate(column, kept, **drawn)) for name, column in columns]
        (first, scored), *rest = columns
        others = [(first, name, compare(scored, column, kept, **drawn)) for name, column in rest]
    (_print_correlations_json if json else _print_correlations)(found, others)
    say(f"{counted(len(rated), 'rated item')}, {counted(len(columns), 'scorer')}")


def _model_scores(model: str, rated: list[Rated], over: Any, overlap: int, offline: bool) -> list[float]:
    from graphneg.nn.models import locate, read_config
    from graphneg.rankers.base import kind_of, ranker_kinds
    from graphneg.scorers.coherence import CoherenceScorer

    if kind_of(read_config(locate(model, offline=offline))) in ranker_kinds():
        return _responses_scored(model, rated, offline)
    scorer = CoherenceScorer.from_pretrained(model, over=over, overlap=overlap, offline=offline)
    with Bars() as bars:
        scores = scorer.score([one.said for one in rated], bars)
    if scorer.cut_turns:
        note(f"{model}: {counted(scorer.cut_turns, 'turn')} longer than a window lost the end")
    return scores


def _responses_scored(model: str, rated: list[Rated], offline: bool) -> list[float]:
    from graphneg.rankers.base import load_ranker

    read = load_ranker(model, offline=offline)
    pairs: list[tuple[list[str], str]] = []
    for one in rated:
        if one.response is None:
            raise InputError(
                f"{one.id}: a whole dialogue, and {model} is a ranker, which scores responses; "
                "a coherence scorer reads dialogues; --level turn leaves them out"
            )
        pairs.append(([turn.text for turn in one.turns], one.response.text))
    return read.score([context for context, _ in pairs], [response for _, response in pairs])


_Correlations = Sequence[tuple[str, "list[Correlation]"]]
_Differences = Sequence[tuple[str, str, "list[Difference]"]]


def _print_correlations(found: _Correlations, others: _Differences) -> None:
    rows = (
        (
            Path(name).name,
            one.level,
            one.quality,
            f"{one.items:,}",
            *(_signed(value) for value in (one.pearson, one.spearman, one.kendall)),
        )
        for name, correlations in found
        for one in correlations
    )
    show_table(rows, "scores", "level", "quality", "items", "Pearson", "Spearman", "Kendall", names=3)
    for first, second, differences in others:
        title = f"{Path(first).name} less {Path(second).name}"
        rows = (
            (
                *(one.level, one.quality, f"{one.items:,}"),
                *(f"{one.value:+.3f}", f"{one.low:+.3f} to {one.high:+.3f}", f"{one.p:.3f}"),
            )
            for one in differences
        )
        show_table(rows, "level", "quality", "items", "Spearman more", "95%", "p", names=2, title=title)


def _signed(one: Any) -> str:
    return f"{one.value:+.3f}\n{one.low:+.3f} to {one.high:+.3f}"


def _print_correlations_json(found: _Correlations, others: _Differences) -> None:
    from dataclasses import asdict

    print_json(
        {
            "scorers": [
                {"scores": name, "correlations": [asdict(one) for one in some]} for name, some in found
            ],
            "differences": [
                {"first": first, "second": second, "spearman": [asdict(one) for one in some]}
                for first, second, some in others
            ],
        }
    )


@job(
    "graphneg evaluate contradiction labelled.jsonl --model detector",
    "graphneg evaluate contradiction labelled.jsonl --encoder microsoft/MiniLM-L12-H384-uncased -o folds",
    "graphneg evaluate contradiction labelled.jsonl --encoder path/to/encoder --made negatives.jsonl "
    "--source both -o folds --json",
)
def contradiction(
    files: Annotated[
        list[Path],
        Argument(metavar="FILE...", help="Labelled responses, JSON lines as Sato et al. publish them."),
    ],
    model: Annotated[
        str | None, Option(metavar="PATH|ID", help="A trained detector: a folder or a hub id.")
    ] = None,
    scores: Annotated[
        Path | None, Option(metavar="FILE", help="In place of a model: a score for each response, in order.")
    ] = None,
    encoder: Annotated[
        str | None,
        _left_out(
            metavar="PATH|ID",
            help="In place of a detector: an encoder, trained once for each generator without that one.",
        ),
    ] = None,
    out: Annotated[
        Path | None, _left_out("--out", "-o", metavar="FOLDER", help="Where detectors are kept.")
    ] = None,
    source: Annotated[
        Literal["labelled", "made", "both"],
        _left_out(
            help="What is learned: the labelled responses of other generators, graph-made ones, or both."
        ),
    ] = "labelled",
    made: Annotated[
        list[Path] | None,
        _left_out(
            metavar="FILE", help="Negatives of the recipe contradiction (.jsonl, .parquet). Repeatable."
        ),
    ] = None,
    embedder: Embedder = None,
    epochs: Annotated[int, _left_out(min=1, help="Passes over labelled responses.")] = 4,
    made_epochs: Annotated[int, _left_out(min=1, help="Passes over graph-made responses, before.")] = 1,
    freeze: Annotated[
        list[str] | None, _left_out(metavar="NAME", help="Parameters that do not learn. Repeatable.")
    ] = None,
    dropout: Annotated[float | None, _left_out(min=0, max=1, help="In place of the encoder's own.")] = None,
    option: Annotated[
        list[str] | None,
        _left_out(metavar="NAME=VALUE", help="One of transformers' TrainingArguments; repeatable."),
    ] = None,
    threshold: Annotated[float, Option(help="A score from here on says: contradictory.")] = 0.5,
    resamples: Resamples = 1000,
    seed: Annotated[int, Option(help="Of training and intervals.")] = 0,
    device: Device = None,
    offline: Offline = False,
    json: Json = False,
) -> None:
    """Tell contradictory responses from others: accuracy, balanced accuracy, F1, AUC, by generator.

    Two of three annotators make a response contradictory, none makes it not; what one of three calls
    contradictory does not count. With --encoder a detector is trained for each generator on the
    responses of the others, to contexts that it did not answer. Intervals hold 95% of resamples.
    """
    from graphneg.evaluation.cross_validation import DetectorSettings
    from graphneg.evaluation.detection import detection
    from graphneg.ingest.labelled import read_labelled

    if sum(one is not None for one in (model, scores, encoder)) != 1:
        raise BadParameter("give one of --model, --scores and --encoder")
    tested: Sequence[Labelled] = read_labelled(files)
    if encoder is None:
        given: Sequence[float] = _detector_scores(tested, model, scores, device, offline)
    else:
        if out is None:
            raise BadParameter("name the folder that keeps detectors", param_hint="--out")
        if source != "labelled" and not made:
            raise BadParameter(f"--source {source} needs --made", param_hint="--made")
        settings = DetectorSettings(
            epochs=epochs,
            made_epochs=made_epochs,
            frozen=tuple(freeze or ()),
            dropout=dropout,
            device=device,
            offline=offline,
            arguments=named_values(option, "--option"),
        )
        responses = made_responses(made, embedder, seed=seed, offline=offline)
        tested, given = _cross_validated(tested, encoder, out, source, responses, settings, seed)
    _print_detection(detection(tested, given, threshold=threshold, resamples=resamples, seed=seed), json)


def _detector_scores(
    labelled: Sequence[Labelled], model: str | None, scores: Path | None, device: str | None, offline: bool
) -> list[float]:
    from graphneg.evaluation.correlation import read_scores
    from graphneg.scorers.contradiction import ContradictionDetector

    if scores is not None:
        return read_scores(scores, len(labelled))
    assert model is not None
    detector = ContradictionDetector.from_pretrained(model, device=device, offline=offline)
    return detector.score([(one.response, one.said) for one in labelled])


def _cross_validated(
    labelled: Sequence[Labelled],
    encoder: str,
    out: Path,
    source: Any,
    made: Sequence[Labelled],
    settings: DetectorSettings,
    seed: int,
) -> tuple[Sequence[Labelled], Sequence[float]]:
    """The responses, and scores by detectors that never saw their generator."""
    from graphneg.evaluation.cross_validation import cross_validate, leave_one_out

    for fold in leave_one_out(labelled):
        dropped = f"; {counted(fold.left_out, 'response')} to tested contexts left out" * bool(fold.left_out)
        say(f"{fold.generator}: {len(fold.train):,} to train on, {len(fold.test):,} to test{dropped}")
    with working(f"{out} keeps what was learned; the same command goes on from there") as bars:
        found = cross_validate(
            labelled, encoder, out, source=source, made=made, settings=settings, seed=seed, progress=bars
        )
    return found.tested, found.scores


def _print_detection(found: Detection, json: bool) -> None:
    if json:
        print_json(*found.as_dicts())
        return
    rows = (
        (
            *(one.generator, f"{one.responses:,}", f"{one.contradictory:,}"),
            *(
                f"{value.value:.3f}\n{value.low:.2f}-{value.high:.2f}"
                for value in (one.accuracy, one.balanced_accuracy, one.f1, one.auc)
            ),
        )
        for one in (*found.generators, found.mean)
    )
    headers = ("generator", "responses", "contra-\ndictory", "accuracy", "balanced", "F1", "AUC")
    show_table(rows, *headers)


app = group(
    "evaluate",
    "How good graphs are against gold graphs, rankers against negatives, scorers against people.",
    (smatch, ranker, negatives, correlation, contradiction),
    "graphneg evaluate smatch gold.amr parsed.amr",
    "graphneg evaluate ranker dev.json --model path/to/ranker",
    "graphneg evaluate negatives negatives.jsonl -o report.html",
    "graphneg evaluate correlation chatbot1.json --scores scores.jsonl",
)

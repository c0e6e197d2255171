"""graphneg evaluate ranker, smatch and correlation."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.terminal import add_job, complain, counted, figures_table, note, results, say, stopping
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.datasets.groups import Choices
    from graphneg.evaluation.correlation import Coefficient, Correlation, Difference, Rated
    from graphneg.evaluation.ranking import Ranked
    from graphneg.evaluation.smatch_files import Evaluation


# ``graphneg evaluate ranker``: right responses against wrong ones, by kind of negative.


def register(app: typer.Typer) -> None:
    add_job(
        app,
        ranker,
        "graphneg evaluate ranker dev.json --model path/to/ranker",
        "graphneg evaluate ranker dev.json --scores scores.txt --json",
    )


def ranker(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="JSON lines in the shape of DailyDialog++.")
    ],
    model: Annotated[
        str | None, typer.Option(metavar="PATH|ID", help="A ranker of any kind: a folder or a hub id.")
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="In place of a model: a score for each response, contexts in order, right ones first.",
        ),
    ] = None,
    threshold: Annotated[float, typer.Option(help="A score from here on says: right.")] = 0.5,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many contexts.")] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing from a model hub.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a kind of negative.")] = False,
) -> None:
    """Rank right responses against wrong ones: accuracy, balanced accuracy, AUC, R@1, MRR.

    Contexts have several right responses and wrong ones of several kinds (adversarial, random).
    Ties count against the ranker. "Same length" compares each wrong response with the right one of
    its context that is nearest in words. No store is opened.
    """
    from graphneg.evaluation.ranking import rank, read_choices

    if (model is None) == (scores is None):
        raise typer.BadParameter("give either --model or --scores", param_hint="--model")
    choices = read_choices(files, limit)
    with stopping("nothing was changed"):
        given = _from_model(choices, model, offline) if model else _from_file(choices, scores)
        found = rank(choices, given, threshold)
    (_print_json if json else _print)(found)
    say(counted(len(choices), "context"))


def _from_model(choices: list[Choices], model: str, offline: bool) -> list[list[float]]:
    from graphneg.cli.terminal import Bars
    from graphneg.evaluation.ranking import scored
    from graphneg.rankers.base import load_ranker

    read = load_ranker(model, offline=offline)
    with Bars() as bars:
        return scored(read, choices, bars)


def _from_file(choices: list[Choices], path: Path | None) -> list[list[float]]:
    from graphneg.evaluation.correlation import read_scores

    if path is None:
        raise InputError("no scores were given")
    flat = iter(read_scores(path, sum(len(one.responses) for one in choices)))
    return [[next(flat) for _ in one.responses] for one in choices]


def _print(found: list[Ranked]) -> None:
    headers = ("negatives", "contexts", "pairs", "accuracy", "balanced", "AUC", "R@1", "MRR", "same\nlength")
    table = figures_table(*headers)
    for one in found:
        figures = (
            one.accuracy,
            one.balanced_accuracy,
            one.auc,
            one.recall_at_1,
            one.mrr,
            one.matched_accuracy,
        )
        table.add_row(
            one.kind,
            f"{one.contexts:,}",
            f"{one.positives + one.negatives:,}",
            *(f"{figure:.3f}" for figure in figures),
        )
    results().print(table)


def _print_json(found: list[Ranked]) -> None:
    from dataclasses import asdict
    from json import dumps

    for one in found:
        typer.echo(dumps(asdict(one), ensure_ascii=False))


# ``graphneg evaluate smatch``: AMR graphs against gold graphs.


SHOWN_UNREADABLE = 20


def register_evaluate_smatch(app: typer.Typer) -> None:
    add_job(
        app,
        smatch,
        "graphneg evaluate smatch gold.amr parsed.amr",
        "graphneg evaluate smatch gold.amr parsed.amr --json | jq .measures.Smatch.micro.f1",
    )


def smatch(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="PENMAN file of gold graphs.")],
    pred: Annotated[Path, typer.Argument(metavar="PRED", help="PENMAN file of the graphs to measure.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    resamples: Annotated[
        int, typer.Option(min=0, help="Resamples of the pairs, for the 95% intervals of F1.")
    ] = 1000,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; one a core.", show_default=False)
    ] = None,
) -> None:
    """Measure graphs against gold graphs: Smatch, and the sub-scores of amr-evaluation.

    Graphs are paired by ::id where both files have the same ids, else by their order. A graph of
    PRED that can't be read counts as one without triples; a pair whose gold graph can't be read is
    left out. No store is opened.
    """
    from graphneg.cli.terminal import Bars
    from graphneg.evaluation.smatch_files import evaluate_smatch

    with stopping("nothing was changed"), Bars() as bars:
        found = evaluate_smatch(
            gold, pred, seed=seed, resamples=resamples, processes=processes, progress=bars
        )
    if json:
        from json import dumps

        typer.echo(dumps(found.as_dict(), ensure_ascii=False))
    else:
        _print_evaluate_smatch(found)
    for one in found.unreadable[:SHOWN_UNREADABLE]:
        complain(f"{one.place}: {one.id or '-'}: {one.reason}")
    say(
        f"{counted(found.pairs, 'pair')} compared, by {found.paired_by}"
        + (f"; {counted(len(found.unreadable), 'graph')} can't be read" if found.unreadable else "")
    )


def _print_evaluate_smatch(found: Evaluation) -> None:
    table = figures_table("measure", "P", "R", "F1", "95%", "macro", "95%", "pairs")
    for name, one in found.measures.items():
        table.add_row(
            f"[bold]{name}[/]",
            *(f"{value:.3f}" for value in one.micro),
            _interval(one.micro_interval),
            f"{one.macro.f1:.3f}",
            _interval(one.macro_interval),
            f"{one.pairs:,}",
        )
    results().print(table)


def _interval(ends: tuple[float, float]) -> str:
    return "–".join(f"{end:.3f}" for end in ends)


# ``graphneg evaluate correlation``: a scorer against what people gave.


class Over(StrEnum):
    """How the windows of a long dialogue make one score."""

    mean = "mean"
    minimum = "minimum"


class LevelOnly(StrEnum):
    """What was rated: a response, or a whole dialogue."""

    turn = "turn"
    dialogue = "dialogue"


def register_evaluate_correlation(app: typer.Typer) -> None:
    add_job(
        app,
        correlation,
        "graphneg evaluate correlation chatbot1.json chatbot2.json --model path/to/scorer",
        "graphneg evaluate correlation chatbot1.json --model deam --model shuffled --quality coherent",
        "graphneg evaluate correlation fed_data.json --scores a.txt --scores b.txt --quality Coherent",
        "graphneg evaluate correlation fed_data.json --model path/to/ranker --level turn",
        "graphneg evaluate correlation persona-zhao_all_anno.json --scores mine.txt --json",
    )


def correlation(
    ratings: Annotated[
        list[Path],
        typer.Argument(metavar="RATINGS...", help="Files of human ratings: DSTC9, FED, Zhao 2020."),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH|ID",
            help="A coherence scorer, or of responses a ranker: a folder or a hub id; repeatable, to compare "
            "with the first.",
            show_default=False,
        ),
    ] = None,
    scores: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Any scorer's scores, one for each rated item; repeatable, after the models.",
            show_default=False,
        ),
    ] = None,
    quality: Annotated[
        list[str] | None, typer.Option(help="Only this quality; repeatable.", show_default=False)
    ] = None,
    level: Annotated[
        LevelOnly | None,
        typer.Option(
            help="Only rated responses, or only whole dialogues; a file such as FED's has both.",
            show_default=False,
        ),
    ] = None,
    over: Annotated[
        Over, typer.Option(help="Of a model's windows of a long dialogue, what counts.")
    ] = Over.mean,
    overlap: Annotated[int, typer.Option(min=0, help="Turns that windows of a long dialogue share.")] = 0,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing from a model hub.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same intervals.")] = 0,
    resamples: Annotated[
        int, typer.Option(min=0, help="Resamples of the items, for the 95% intervals.")
    ] = 1000,
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
        raise typer.BadParameter("give --model or --scores", param_hint="--model")
    every = read_ratings(ratings)
    from_files = [(str(path), read_scores(path, len(every))) for path in scores or ()]
    places = [place for place, one in enumerate(every) if level in (None, one.level)]
    if not places:
        raise InputError(f"no {level} is rated in {', '.join(map(str, ratings))}")
    rated = [every[place] for place in places]
    from_files = [(name, [column[place] for place in places]) for name, column in from_files]
    kept = only(rated, quality or ())
    with stopping("nothing was changed"):
        columns = [(one, _scored(one, rated, over, overlap, offline)) for one in model or ()]
        columns += from_files
        found = [(name, correlate(column, kept, resamples=resamples, seed=seed)) for name, column in columns]
        (first, scored), *rest = columns
        others = [
            (first, name, compare(scored, column, kept, resamples=resamples, seed=seed))
            for name, column in rest
        ]
    if json:
        _print_json_evaluate_correlation(found, others)
    else:
        _print_evaluate_correlation(found)
        for one in others:
            _print_differences(*one)
    say(f"{counted(len(rated), 'rated item')}, {counted(len(columns), 'scorer')}")


def _scored(model: str, rated: list[Rated], over: Over, overlap: int, offline: bool) -> list[float]:
    from graphneg.nn.models import locate, read_config
    from graphneg.rankers.base import kind_of, ranker_kinds

    if kind_of(read_config(locate(model, offline=offline))) in ranker_kinds():
        return _by_ranker(model, rated, offline)
    return _by_coherence(model, rated, over, overlap, offline)


def _by_coherence(model: str, rated: list[Rated], over: Over, overlap: int, offline: bool) -> list[float]:
    from graphneg.cli.terminal import Bars
    from graphneg.scorers.coherence import CoherenceScorer

    scorer = CoherenceScorer.from_pretrained(model, over=over.value, overlap=overlap, offline=offline)
    with Bars() as bars:
        scores = scorer.score([one.said for one in rated], bars)
    if scorer.cut_turns:
        note(f"{model}: {counted(scorer.cut_turns, 'turn')} longer than a window lost the end")
    return scores


def _by_ranker(model: str, rated: list[Rated], offline: bool) -> list[float]:
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


def _print_evaluate_correlation(found: list[tuple[str, list[Correlation]]]) -> None:
    table = figures_table("scores", "level", "quality", "items", "Pearson", "Spearman", "Kendall", names=3)
    for name, correlations in found:
        for one in correlations:
            table.add_row(
                Path(name).name,
                one.level,
                one.quality,
                f"{one.items:,}",
                *(_shown(value) for value in (one.pearson, one.spearman, one.kendall)),
            )
    results().print(table)


def _print_differences(first: str, second: str, differences: list[Difference]) -> None:
    title = f"{Path(first).name} less {Path(second).name}"
    table = figures_table("level", "quality", "items", "Spearman more", "95%", "p", names=2, title=title)
    for one in differences:
        table.add_row(
            one.level,
            one.quality,
            f"{one.items:,}",
            f"{one.value:+.3f}",
            f"{one.low:+.3f} to {one.high:+.3f}",
            f"{one.p:.3f}",
        )
    results().print(table)


def _print_json_evaluate_correlation(
    found: list[tuple[str, list[Correlation]]], others: list[tuple[str, str, list[Difference]]]
) -> None:
    from dataclasses import asdict
    from json import dumps

    value = {
        "scorers": [{"scores": name, "correlations": [asdict(one) for one in some]} for name, some in found],
        "differences": [
            {"first": first, "second": second, "spearman": [asdict(one) for one in some]}
            for first, second, some in others
        ],
    }
    typer.echo(dumps(value, ensure_ascii=False))


def _shown(one: Coefficient) -> str:
    return f"{one.value:+.3f}\n{one.low:+.3f} to {one.high:+.3f}"

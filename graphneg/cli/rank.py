"""``graphneg rank``, ``bank`` and ``select``: the responses that fit a context best, or well enough."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, BadParameter, Option

from graphneg.cli.options import (
    Device,
    DialogueOptions,
    Json,
    Offline,
    OutRecords,
    Overwrite,
    StoreOptions,
    command,
    job,
    panel,
)
from graphneg.cli.terminal import (
    STANDARD,
    counted,
    keeps_part,
    messages,
    plain_table,
    print_json,
    results,
    say,
    stopping,
    tell_stream,
    working,
    write_stream,
)

if TYPE_CHECKING:
    from graphneg.generators.selection import Bidirectional, Thresholds
    from graphneg.progress import Progress
    from graphneg.rankers.response_bank import RankedResponse, ResponseBank


@job(
    "graphneg rank --model ranker --bank bank --context context.txt -k 5",
    "printf 'Hi!\\nHello. Shall we swim?\\n' | graphneg rank --model ranker --bank bank --context -",
    "graphneg rank --model ranker --context contexts.txt --candidates responses.txt --json",
)
def rank(
    model: Annotated[
        str, Option(metavar="PATH_OR_ID", help="A trained ranker; of a bank, the one that made it.")
    ],
    context: Annotated[
        str,
        Option(
            metavar="FILE",
            help="A turn a line, oldest first; an empty line begins another context. - is standard input.",
        ),
    ],
    bank: Annotated[
        Path | None, Option(metavar="FOLDER", help="Responses that graphneg bank has read.")
    ] = None,
    candidates: Annotated[
        Path | None,
        Option(metavar="FILE", help="In place of a bank: a response a line, for any kind of ranker."),
    ] = None,
    k: Annotated[int, Option("-k", min=1, help="So many of the best.")] = 10,
    by: Annotated[
        Literal["mean", "codes"],
        Option(help="Retrieve near the mean of a context's vectors, or near each (slower)."),
    ] = "mean",
    retrieved: Annotated[int, Option(min=1, help="So many are taken from a bank, and then ranked.")] = 100,
    own_turns: Annotated[
        Literal["left-out", "kept"],
        Option(help="A turn of the context in the bank: it is near, but rarely an answer."),
    ] = "left-out",
    max_tokens: Annotated[
        int | None,
        Option(min=8, help="Longer contexts lose their beginning; else as in training.", show_default=False),
    ] = None,
    device: Device = None,
    offline: Offline = False,
    json: Json = False,
) -> None:
    """Find the responses that fit a context best.

    Of a bank a poly-encoder retrieves the nearest and ranks them anew; of candidates any kind of
    ranker ranks all. No store is opened.
    """
    from graphneg.rankers.base import load_ranker
    from graphneg.rankers.poly_encoder import PolyEncoder
    from graphneg.rankers.response_bank import ResponseBank, rank_candidates, read_candidates

    if (bank is None) == (candidates is None):
        raise BadParameter("give either --bank or --candidates", param_hint="--bank")
    contexts = _read_contexts(context)
    options: dict[str, Any] = {"max_tokens": max_tokens, "device": device, "offline": offline}
    ranked: list[list[RankedResponse]] = []
    with stopping("nothing was changed"):
        if bank is not None:
            opened = ResponseBank.open(bank, PolyEncoder.from_pretrained(model, **options))
            ranked = opened.search(contexts, k, by=by, retrieved=retrieved, own_turns=own_turns)
        elif candidates is not None:
            ranker = load_ranker(model, **options)
            ranked = rank_candidates(ranker, read_candidates(candidates), contexts, k)
    for turns, best in zip(contexts, ranked, strict=True):
        (_print_json if json else _print)(turns, best)


def _read_contexts(name: str) -> list[list[str]]:
    """The contexts of a file or standard input."""
    from graphneg.ingest.reading import read_text
    from graphneg.rankers.response_bank import contexts_of

    return contexts_of(sys.stdin.read() if name == STANDARD else read_text(Path(name)), name)


def _print(turns: Sequence[str], best: Sequence[RankedResponse]) -> None:
    from rich.text import Text

    results().print(Text(" / ".join(turns), style="bold"))
    table = plain_table("score", "response")
    for one in best:
        table.add_row(f"{one.score:.3f}", Text(one.text))
    results().print(table)


def _print_json(turns: Sequence[str], best: Sequence[RankedResponse]) -> None:
    responses = [{"text": one.text, "score": one.score} for one in best]
    print_json({"context": turns, "responses": responses})


@job(
    "graphneg bank --model ranker -o bank --corpus everyday --split train",
    "graphneg bank responses.txt negatives.jsonl --model ranker -o bank --index hnsw",
    "graphneg rank --model ranker --bank bank --context context.txt",
)
def bank(
    model: Annotated[str, Option(metavar="PATH_OR_ID", help="A trained poly-encoder.")],
    out: Annotated[Path, Option("--out", "-o", metavar="FOLDER", help="Where the bank goes.")],
    files: Annotated[
        list[Path] | None,
        Argument(
            metavar="FILE...",
            help="In place of a store: text files, a response a line, and negatives (.jsonl, .parquet), "
            "of which the right responses are taken.",
        ),
    ] = None,
    index: Annotated[
        Literal["flat", "ivf", "hnsw"],
        Option(help="flat is exact; ivf and hnsw are quicker where there are millions."),
    ] = "flat",
    overwrite: Overwrite = False,
    batch: Annotated[int, Option(min=1, help="Responses that are read at once.")] = 64,
    device: Device = None,
    offline: Offline = False,
    *,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Make a bank of responses, read once by a poly-encoder and searched by graphneg rank.

    Without files they are those of a store: the turns that answer one, and right responses. Each
    text counts once. Stopped, the same command goes on where it was and ends with the same bytes.
    """
    from graphneg.rankers.poly_encoder import PolyEncoder
    from graphneg.rankers.response_bank import build_bank, read_responses, stored_responses

    if files and chosen != DialogueOptions():
        raise BadParameter("--corpus, --split and --limit choose from a store, not from files")
    ranker = PolyEncoder.from_pretrained(model, batch=batch, device=device, offline=offline)
    made = partial(build_bank, ranker, folder=out, index=index, overwrite=overwrite)
    if files:
        _build(made, out, lambda _: read_responses(files))
        return
    with where.opened() as graph:
        chosen.require(graph)
        _build(made, out, partial(stored_responses, graph.store, chosen.selection))


def _build(
    make: Callable[..., ResponseBank], out: Path, responses: Callable[[Progress], Iterable[str]]
) -> None:
    with working(f"{out} keeps what was read; the same command goes on from there") as bars:
        made = make(responses=responses(bars), progress=bars)
    say(f"{out}: {counted(len(made), 'response')}")


_of_models = panel("Language models")
_of_limits = panel("Thresholds")


@command(
    "graphneg select negatives.jsonl -o hard.jsonl --model path/to/model --validation right.jsonl",
    "graphneg select augmented.jsonl -o best.jsonl --model forward --backward-model backward "
    "--forward-threshold 40 --backward-threshold 60 --per-context 5",
)
def select(
    file: Annotated[Path, Argument(metavar="FILE", help="Records, .jsonl or .parquet.")],
    out: OutRecords,
    model: Annotated[str, _of_models(metavar="PATH_OR_ID", help="A causal language model.")],
    backward_model: Annotated[
        str | None,
        _of_models(
            metavar="PATH_OR_ID", help="One that was trained to tell what was answered; else the same."
        ),
    ] = None,
    device: Annotated[str, _of_models(help="cpu, cuda, mps; auto is the best there is.")] = "auto",
    offline: Annotated[bool, _of_models("--offline", help="Fetch nothing from a hub.")] = False,
    validation: Annotated[
        Path | None,
        _of_limits(
            metavar="FILE",
            help="Records with label 1, to learn the thresholds from: against random pairs of them.",
        ),
    ] = None,
    quantile: Annotated[
        float | None,
        _of_limits(
            min=0,
            max=1,
            help="Thresholds that keep this share of right pairs; else those that separate best.",
        ),
    ] = None,
    forward_threshold: Annotated[float | None, _of_limits(help="The highest forward perplexity.")] = None,
    backward_threshold: Annotated[float | None, _of_limits(help="The highest backward perplexity.")] = None,
    keep: Annotated[Literal["fitting", "unfitting"], Option(help="What is kept.")] = "fitting",
    per_context: Annotated[
        int | None, Option(min=1, help="At most so many of each context, the best ranked.")
    ] = None,
    seed: Annotated[int, Option(help="Of the random pairs.")] = 0,
    batch: Annotated[int, Option(min=1, help="Contexts at a time; changes no result.")] = 32,
) -> None:
    """Keep of some records those whose response fits its context, by forward and backward perplexity.

    A file is resumable: stopped at any moment, the same command goes on where it was and ends
    with the same bytes. What is kept has both perplexities among its scores and stands, context by
    context, in the order of the backward one.
    """
    from graphneg.generators.selection import Selected, SelectionCriteria
    from graphneg.records.files import check_destination

    given = (forward_threshold, backward_threshold)
    if validation is None and None in given:
        raise BadParameter(
            "say which perplexities are too high: --validation FILE, "
            "or --forward-threshold and --backward-threshold"
        )
    for name, path in (("FILE", file), ("--validation", validation)):
        if path is not None and not path.is_file():
            raise BadParameter(f"{path}: there is no such file", param_hint=name)
    if out != STANDARD and Path(out).resolve() == file.resolve():
        raise BadParameter(f"{out} is what is read; name another file", param_hint="--out")
    check_destination(out)
    scorer = _scorer(model, backward_model, device, offline)
    with working(keeps_part(out, "chosen")) as bars:
        thresholds = _thresholds(scorer, given, validation, quantile, seed)
        selection = SelectionCriteria(thresholds, keep, per_context)
        selected = Selected(file, scorer, selection, batch=batch, progress=bars)
        write_stream(selected, out)
    tell_stream(selected)
    if out != STANDARD:
        say(f"{out}: {counted(selected.summary.negatives, 'record')} kept")


def _scorer(model: str, backward_model: str | None, device: str, offline: bool) -> Bidirectional:
    from graphneg.generators.selection import Bidirectional
    from graphneg.nn.models import load_causal

    with messages().status(f"loading {model}"):
        forward = load_causal(model, device=device, offline=offline)
        if backward_model is None:
            return Bidirectional(forward, forward)
        return Bidirectional(forward, load_causal(backward_model, device=device, offline=offline))


def _thresholds(
    scorer: Bidirectional,
    given: tuple[float | None, float | None],
    validation: Path | None,
    quantile: float | None,
    seed: int,
) -> Thresholds:
    """Those that are given; what is not given, from the validation file."""
    from graphneg.generators.selection import Thresholds, learn_thresholds
    from graphneg.records.files import read_negatives

    forward, backward = given
    if forward is None or backward is None:
        assert validation is not None
        with messages().status("learning thresholds"):
            learned = learn_thresholds(read_negatives(validation), scorer, quantile=quantile, seed=seed)
        for name, one in zip(("forward", "backward"), learned, strict=True):
            say(
                f"{name} perplexity up to {one.threshold:.1f}: {one.right_kept:.0%} of right pairs, "
                f"{one.random_kept:.0%} of random ones"
            )
        forward = learned[0].threshold if forward is None else forward
        backward = learned[1].threshold if backward is None else backward
    return Thresholds(forward, backward)

"""graphneg rank, bank and select."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import partial
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
    add_command,
    add_job,
    counted,
    messages,
    note,
    opened,
    plain_table,
    require_dialogues,
    results,
    say,
    stopping,
)
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.generators.selection import Bidirectional, Selected, Separation, Thresholds
    from graphneg.progress import Progress
    from graphneg.rankers.base import Ranker
    from graphneg.rankers.poly_encoder import PolyEncoder
    from graphneg.rankers.response_bank import Found, OwnTurns, ResponseBank, Retrieval


# ``graphneg rank``: the responses that fit a context best, of a bank or of some candidates.


if TYPE_CHECKING:
    Contexts = Sequence[Sequence[str]]

STANDARD_INPUT = "-"


class By(StrEnum):
    """What the retrieved responses are near to."""

    mean = "mean"
    codes = "codes"


class Own(StrEnum):
    """What becomes of responses that are a turn of the context."""

    left_out = "left-out"
    kept = "kept"


def register(app: typer.Typer) -> None:
    add_job(
        app,
        rank,
        "graphneg rank --model ranker --bank bank --context context.txt -k 5",
        "printf 'Hi!\\nHello. Shall we swim?\\n' | graphneg rank --model ranker --bank bank --context -",
        "graphneg rank --model ranker --context contexts.txt --candidates responses.txt --json",
    )


def rank(
    model: Annotated[
        str, typer.Option(metavar="PATH_OR_ID", help="A trained ranker; of a bank, the one that made it.")
    ],
    context: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="A turn a line, oldest first; an empty line begins another context. - is standard input.",
        ),
    ],
    bank: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Responses that graphneg bank has read.")
    ] = None,
    candidates: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="In place of a bank: a response a line, for any kind of ranker."),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="So many of the best.")] = 10,
    by: Annotated[
        By, typer.Option(help="Retrieve near the mean of a context's vectors, or near each (slower).")
    ] = By.mean,
    retrieved: Annotated[
        int, typer.Option(min=1, help="So many are taken from a bank, and then ranked.")
    ] = 100,
    own_turns: Annotated[
        Own, typer.Option(help="A turn of the context in the bank: it is near, but rarely an answer.")
    ] = Own.left_out,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=8, help="Longer contexts lose their beginning; else as in training.", show_default=False
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda; else the best there is.", show_default=False)
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing from a model hub.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a context.")] = False,
) -> None:
    """Find the responses that fit a context best.

    Of a bank a poly-encoder retrieves the nearest and ranks them anew; of candidates any kind of
    ranker ranks all. No store is opened.
    """
    from graphneg.rankers.base import load_ranker
    from graphneg.rankers.poly_encoder import PolyEncoder

    if (bank is None) == (candidates is None):
        raise typer.BadParameter("give either --bank or --candidates", param_hint="--bank")
    contexts = _read_contexts(context)
    options: dict[str, Any] = {"max_tokens": max_tokens, "device": device, "offline": offline}
    found: list[list[Found]] = []
    with stopping("nothing was changed"):
        if bank is not None:
            poly = PolyEncoder.from_pretrained(model, **options)
            found = _of_bank(poly, bank, contexts, k, by.value, retrieved, own_turns.value)
        elif candidates is not None:
            found = _of_candidates(load_ranker(model, **options), candidates, contexts, k)
    for turns, some in zip(contexts, found, strict=True):
        (_print_json if json else _print)(turns, some)


def _of_bank(
    ranker: PolyEncoder,
    bank: Path,
    contexts: Contexts,
    k: int,
    by: Retrieval,
    retrieved: int,
    own_turns: OwnTurns,
) -> list[list[Found]]:
    from graphneg.rankers.response_bank import ResponseBank

    opened = ResponseBank.open(bank, ranker)
    return opened.search(contexts, k, by=by, retrieved=retrieved, own_turns=own_turns)


def _of_candidates(ranker: Ranker, path: Path, contexts: Contexts, k: int) -> list[list[Found]]:
    from graphneg.rankers.base import by_score
    from graphneg.rankers.response_bank import Found, read_lines

    texts = read_lines(path)
    if not texts:
        raise InputError(f"{path}: there is no candidate in it")
    found: list[list[Found]] = []
    for turns in contexts:
        scores = ranker.score([turns] * len(texts), texts)
        found.append([Found(texts[place], scores[place]) for place in by_score(scores)[:k]])
    return found


def _read_contexts(name: str) -> list[list[str]]:
    """Contexts of a file or standard input, between empty lines.

    Raises:
        InputError: it can't be read, or there is no context in it.
    """
    if name == STANDARD_INPUT:
        lines = sys.stdin.read().split("\n")
    else:
        from graphneg.rankers.response_bank import read_text

        lines = read_text(Path(name)).split("\n")
    found: list[list[str]] = [[]]
    for line in map(str.strip, lines):
        if line:
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    contexts = [turns for turns in found if turns]
    if not contexts:
        raise InputError(f"{name}: there is no context in it; write a turn a line, oldest first")
    return contexts


def _print(turns: Sequence[str], found: Sequence[Found]) -> None:
    from rich.text import Text

    results().print(Text(" / ".join(turns), style="bold"))
    table = plain_table("score", "response")
    for one in found:
        table.add_row(f"{one.score:.3f}", Text(one.text))
    results().print(table)


def _print_json(turns: Sequence[str], found: Sequence[Found]) -> None:
    from json import dumps

    responses = [{"text": one.text, "score": one.score} for one in found]
    typer.echo(dumps({"context": turns, "responses": responses}, ensure_ascii=False))


# ``graphneg bank``: responses that a poly-encoder has read, to be searched by ``graphneg rank``.


class Index(StrEnum):
    """How the nearest are found."""

    flat = "flat"
    ivf = "ivf"
    hnsw = "hnsw"


def register_bank(app: typer.Typer) -> None:
    add_job(
        app,
        bank,
        "graphneg bank --model ranker -o bank --corpus everyday --split train",
        "graphneg bank responses.txt negatives.jsonl --model ranker -o bank --index hnsw",
        "graphneg rank --model ranker --bank bank --context context.txt",
    )


def bank(
    model: Annotated[str, typer.Option(metavar="PATH_OR_ID", help="A trained poly-encoder.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the bank goes.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...",
            help="In place of a store: text files, a response a line, and negatives (.jsonl, .parquet), "
            "of which the right responses are taken.",
        ),
    ] = None,
    index: Annotated[
        Index, typer.Option(help="flat is exact; ivf and hnsw are quicker where there are millions.")
    ] = Index.flat,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a bank that is in the folder.")
    ] = False,
    batch: Annotated[int, typer.Option(min=1, help="Responses that are read at once.")] = 64,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda; else the best there is.", show_default=False)
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing from a model hub.")] = False,
    corpus: Corpora = None,
    split: Splits = None,
    limit: Limit = None,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Make a bank of responses, read once by a poly-encoder and searched by graphneg rank.

    Without files they are those of a store: the turns that answer one, and right responses. Each
    text counts once. Stopped, the same command goes on where it was and ends with the same bytes.
    """
    from graphneg.rankers.poly_encoder import PolyEncoder
    from graphneg.rankers.response_bank import build_bank, read_responses, stored_responses
    from graphneg.store.dialogues import Selection

    if files and (corpus or split or limit):
        raise typer.BadParameter("--corpus, --split and --limit choose from a store, not from files")
    ranker = PolyEncoder.from_pretrained(model, batch=batch, device=device, offline=offline)
    made = partial(build_bank, ranker, folder=out, index=index.value, overwrite=overwrite)
    if files:
        _build(made, out, lambda _: read_responses(files))
        return
    selection = Selection(tuple(corpus or ()), tuple(split or ()), limit)
    with opened(store, username, password, database) as graph:
        require_dialogues(graph, corpus or (), split or ())
        _build(made, out, partial(stored_responses, graph.store, selection))


def _build(
    make: Callable[..., ResponseBank], out: Path, responses: Callable[[Progress], Iterable[str]]
) -> None:
    from graphneg.cli.terminal import Bars

    with stopping(f"{out} keeps what was read; the same command goes on from there"), Bars() as bars:
        made = make(responses=responses(bars), progress=bars)
    say(f"{out}: {counted(len(made), 'response')}")


# ``graphneg select``: keep the responses that a language model finds likely, or those that it does not.


STANDARD_OUTPUT = "-"
MODELS, LIMITS = "Language models", "Thresholds"


class Kept(StrEnum):
    """Responses that fit their contexts, or the others."""

    fitting = "fitting"
    unfitting = "unfitting"


def register_select(app: typer.Typer) -> None:
    add_command(
        app,
        select,
        "graphneg select negatives.jsonl -o hard.jsonl --model path/to/model --validation right.jsonl",
        "graphneg select augmented.jsonl -o best.jsonl --model forward --backward-model backward "
        "--forward-threshold 40 --backward-threshold 60 --per-context 5",
    )


def select(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Records, .jsonl or .parquet.")],
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="FILE", help="A .jsonl or .parquet file; - prints JSON lines."),
    ],
    model: Annotated[
        str, typer.Option(metavar="PATH_OR_ID", help="A causal language model.", rich_help_panel=MODELS)
    ],
    backward_model: Annotated[
        str | None,
        typer.Option(
            metavar="PATH_OR_ID",
            help="One that was trained to tell what was answered; else the same.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    device: Annotated[
        str, typer.Option(help="cpu, cuda, mps; auto is the best there is.", rich_help_panel=MODELS)
    ] = "auto",
    offline: Annotated[
        bool, typer.Option("--offline", help="Fetch nothing from a hub.", rich_help_panel=MODELS)
    ] = False,
    validation: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Records with label 1, to learn the thresholds from: against random pairs of them.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    quantile: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Thresholds that keep this share of right pairs; else those that separate best.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    forward_threshold: Annotated[
        float | None, typer.Option(help="The highest forward perplexity.", rich_help_panel=LIMITS)
    ] = None,
    backward_threshold: Annotated[
        float | None, typer.Option(help="The highest backward perplexity.", rich_help_panel=LIMITS)
    ] = None,
    keep: Annotated[Kept, typer.Option(help="What is kept.")] = Kept.fitting,
    per_context: Annotated[
        int | None, typer.Option(min=1, help="At most so many of each context, the best ranked.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the random pairs.")] = 0,
    batch: Annotated[int, typer.Option(min=1, help="Contexts at a time; changes no result.")] = 32,
) -> None:
    """Keep of some records those whose response fits its context, by forward and backward perplexity.

    A file is resumable: stopped at any moment, the same command goes on where it was and ends
    with the same bytes. What is kept has both perplexities among its scores and stands, context by
    context, in the order of the backward one.
    """
    given = (forward_threshold, backward_threshold)
    if validation is None and None in given:
        raise typer.BadParameter(
            "say which perplexities are too high: --validation FILE, "
            "or --forward-threshold and --backward-threshold"
        )
    for name, path in (("FILE", file), ("--validation", validation)):
        if path is not None and not path.is_file():
            raise typer.BadParameter(f"{path}: there is no such file", param_hint=name)
    if out != STANDARD_OUTPUT and Path(out).resolve() == file.resolve():
        raise typer.BadParameter(f"{out} is what is read; name another file", param_hint="--out")
    from graphneg.cli.terminal import Bars
    from graphneg.generators.selection import Selected, Selection
    from graphneg.records.files import check_destination

    check_destination(out)
    scorer = _scorer(model, backward_model, device, offline)
    with Bars() as bars, stopping(f"{out}.part keeps what was chosen; the same command goes on from there"):
        thresholds = _thresholds(scorer, given, validation, quantile, seed)
        selection = Selection(thresholds, keep.value, per_context)
        selected = Selected(file, scorer, selection, batch=batch, progress=bars)
        (selected.to_parquet if out.endswith(".parquet") else selected.to_jsonl)(out)
    _tell(selected, out)


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
    from graphneg.generators.selection import Thresholds, learn_thresholds, read_records

    forward, backward = given
    if forward is None or backward is None:
        assert validation is not None
        with messages().status("learning thresholds"):
            learned = learn_thresholds(read_records(validation), scorer, quantile=quantile, seed=seed)
        for name, one in zip(("forward", "backward"), learned, strict=True):
            _explain(name, one)
        forward = learned[0].threshold if forward is None else forward
        backward = learned[1].threshold if backward is None else backward
    return Thresholds(forward, backward)


def _explain(name: str, found: Separation) -> None:
    say(
        f"{name} perplexity up to {found.threshold:.1f}: {found.right_kept:.0%} of right pairs, "
        f"{found.random_kept:.0%} of random ones"
    )


def _tell(selected: Selected, out: str) -> None:
    from rich.box import SIMPLE_HEAD

    if selected.resumed.discarded:
        note(f"started anew: {selected.resumed.discarded}")
    table = selected.summary.table()
    table.box = SIMPLE_HEAD
    messages().print(table)
    if out != STANDARD_OUTPUT:
        say(f"{out}: {counted(selected.summary.negatives, 'record')} kept")

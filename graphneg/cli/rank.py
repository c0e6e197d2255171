"""``graphneg rank``: the responses that fit a context best, of a bank or of some candidates."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphneg.cli.terminal import add_job, plain_table, results, stopping
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.rankers import Ranker
    from graphneg.rankers.poly_encoder import PolyEncoder
    from graphneg.rankers.response_bank import Found, OwnTurns, Retrieval

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
    from graphneg.rankers.poly_encoder import PolyEncoder
    from graphneg.rankers.registry import load_ranker

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
    from graphneg.rankers.bank_sources import read_lines
    from graphneg.rankers.base import by_score
    from graphneg.rankers.response_bank import Found

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
        from graphneg.rankers.bank_sources import read_text

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

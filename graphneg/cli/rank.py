"""``graphneg rank``, ``bank`` and ``select``: the responses that fit a context best, or well enough."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.text import Text
from typer import BadParameter

from graphneg.cli import terminal
from graphneg.cli.commands import argument, command, job, option, panel
from graphneg.cli.options import (
    Device,
    DialogueOptions,
    Json,
    Offline,
    OutRecords,
    Overwrite,
    ShardOption,
    StoreOptions,
)
from graphneg.cli.tables import plain_table, print_json, results
from graphneg.cli.terminal import STANDARD, counted, messages, read_input, say, stopping, working
from graphneg.shards import shard_of

if TYPE_CHECKING:
    from graphneg.generators.selection import Bidirectional, SelectionCriteria
    from graphneg.rankers.base import Ranker

_of_models = panel("Language models")
_of_limits = panel("Thresholds")
_of_choice = panel("The best of several")


@job(
    "graphneg rank --model ranker --bank bank --context context.txt -k 5",
    "printf 'Hi!\\nHello. Shall we swim?\\n' | graphneg rank --model ranker --bank bank --context -",
    "graphneg rank --model ranker --context contexts.txt --candidates responses.txt --json",
)
def rank(
    model: str = option(..., "A trained ranker; of a bank, the one that made it.", "PATH_OR_ID"),
    context: str = option(
        ..., "A turn a line, oldest first; an empty line begins another context. - is standard input.", "FILE"
    ),
    bank: Path | None = option(None, "Responses that graphneg bank has read.", "FOLDER"),
    candidates: Path | None = option(None, "In place of a bank: a response a line, for any kind of ranker."),
    k: int = option(10, "So many of the best.", None, "-k", min=1),
    by: Literal["mean", "codes"] = option(
        "mean", "Retrieve near the mean of a context's vectors, or near each (slower)."
    ),
    retrieved: int = option(100, "So many are taken from a bank, and then ranked.", min=1),
    own_turns: Literal["left-out", "kept"] = option(
        "left-out", "A turn of the context in the bank: it is near, but rarely an answer."
    ),
    max_tokens: int | None = option(
        None, "Longer contexts lose their beginning; else as in training.", min=8
    ),
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
    from graphneg.rankers.response_bank import ResponseBank, contexts_of, rank_candidates, read_candidates

    if (bank is None) == (candidates is None):
        raise BadParameter("give either --bank or --candidates", param_hint="--bank")
    contexts = contexts_of(read_input(context), context)
    options: dict[str, Any] = {"max_tokens": max_tokens, "device": device, "offline": offline}
    with stopping("nothing was changed"):
        if bank is not None:
            opened = ResponseBank.open(bank, PolyEncoder.from_pretrained(model, **options))
            ranked = opened.search(contexts, k, by=by, retrieved=retrieved, own_turns=own_turns)
        else:
            assert candidates is not None
            ranker = load_ranker(model, **options)
            ranked = rank_candidates(ranker, read_candidates(candidates), contexts, k)
    for turns, best in zip(contexts, ranked, strict=True):
        if json:
            responses = [{"text": response.text, "score": response.score} for response in best]
            print_json({"context": turns, "responses": responses})
            continue
        results().print(Text(" / ".join(turns), style="bold"))
        rows = ((f"{response.score:.3f}", Text(response.text)) for response in best)
        results().print(plain_table("score", "response", rows=rows))


@job(
    "graphneg bank --model ranker -o bank --corpus everyday --split train",
    "graphneg bank responses.txt negatives.jsonl --model ranker -o bank --index hnsw",
    "graphneg rank --model ranker --bank bank --context context.txt",
)
def bank(
    *,
    model: str = option(..., "A trained poly-encoder.", "PATH_OR_ID"),
    out: Path = option(..., "Where the bank goes.", "FOLDER", "--out", "-o"),
    files: list[Path] | None = argument(
        None,
        "In place of a store: text files, a response a line, and negatives (.jsonl, .parquet), "
        "of which the right responses are taken.",
        "FILE...",
    ),
    index: Literal["flat", "ivf", "hnsw"] = option(
        "flat", "flat is exact; ivf and hnsw are quicker where there are millions."
    ),
    overwrite: Overwrite = False,
    batch: int = option(64, "Responses that are read at once.", min=1),
    device: Device = None,
    offline: Offline = False,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Make a bank of responses, read once by a poly-encoder and searched by graphneg rank.

    Without files they are those of a store: the turns that answer one, and right responses. Each
    text counts once. Stopped, the same command goes on where it was and ends with the same bytes.
    """
    from graphneg.datasets.groups import stored_replies
    from graphneg.rankers.poly_encoder import PolyEncoder
    from graphneg.rankers.response_bank import build_bank, read_responses

    if files and chosen != DialogueOptions():
        raise BadParameter("--corpus, --split and --limit choose from a store, not from files")
    ranker = PolyEncoder.from_pretrained(model, batch=batch, device=device, offline=offline)
    with ExitStack() as opened:
        graph = None if files else opened.enter_context(where.opened(chosen))
        bars = opened.enter_context(working(terminal.keeps(out, "what was read")))
        if graph is None:
            responses = read_responses(files or ())
        else:
            responses = stored_replies(graph.store, chosen.selection, (1,), bars)
        made = build_bank(ranker, responses, out, index=index, overwrite=overwrite, progress=bars)
    say(f"{out}: {counted(len(made), 'response')}")


@command(
    "graphneg select negatives.jsonl -o best.jsonl --per-context 2 --least clash=0.2 --quota negate=0.3",
    "graphneg select negatives.jsonl -o wrong.jsonl --judge cross-encoder --relative-margin 0.1",
    "graphneg select negatives.jsonl -o hard.jsonl --model path/to/model --validation right.jsonl",
    "graphneg select augmented.jsonl -o best.jsonl --model forward --backward-model backward "
    "--forward-threshold 40 --backward-threshold 60 --per-context 5",
)
def select(
    *,
    file: Path = argument(..., "Records, .jsonl or .parquet.", "FILE"),
    out: OutRecords,
    model: str | None = _of_models(None, "A causal language model, for perplexities.", "PATH_OR_ID"),
    backward_model: str | None = _of_models(
        None, "One that was trained to tell what was answered; else the same.", "PATH_OR_ID"
    ),
    device: str = _of_models("auto", "cpu, cuda, mps; auto is the best there is."),
    offline: bool = _of_models(False, "Fetch nothing from a hub."),
    validation: Path | None = _of_limits(
        None, "Records with label 1, to learn the thresholds from: against random pairs of them."
    ),
    quantile: float | None = _of_limits(
        None, "Thresholds that keep this share of right pairs; else those that separate best.", min=0, max=1
    ),
    forward_threshold: float | None = _of_limits(None, "The highest forward perplexity."),
    backward_threshold: float | None = _of_limits(None, "The highest backward perplexity."),
    keep: Literal["fitting", "unfitting"] = option("fitting", "What is kept."),
    judge: str | None = _of_choice(None, "A ranker or cross-encoder that scores responses.", "PATH_OR_ID"),
    max_score: float | None = _of_choice(None, "The judge's highest score of a wrong response."),
    absolute_margin: float | None = _of_choice(None, "So far below the right response's score."),
    relative_margin: float | None = _of_choice(
        None, "At most 1 - this, times the right response's.", min=0, max=1
    ),
    least: list[str] | None = _of_choice(None, "clash or fit must be so high; repeatable.", "NAME=SHARE"),
    quota: list[str] | None = _of_choice(
        None, "The largest share of a transform or category; repeatable.", "NAME=SHARE"
    ),
    per_context: int | None = option(None, "At most so many of each context, the best ranked.", min=1),
    seed: int = option(0, "Of the random pairs, and among equals."),
    batch: int = option(32, "Contexts at a time; changes no result.", min=1),
    shard: ShardOption = None,
    overwrite: Overwrite = False,
) -> None:
    """Keep the best of some records.

    Without --model, wrong responses are scored by how much of them the context has said (clash),
    how usual their words are together (fit), and by a judge where there is one (answers): those
    that would do as an answer go. With --model, responses are kept that fit their context by
    forward and backward perplexity. Scores stand in what is kept.

    A file is resumable: stopped at any moment, the same command goes on where it was and ends
    with the same bytes.
    """
    from graphneg.records.files import check_destination

    if not file.is_file():
        raise BadParameter(f"{file}: there is no such file", param_hint="FILE")
    if out != STANDARD and Path(out).resolve() == file.resolve():
        raise BadParameter(f"{out} is what is read; name another file", param_hint="--out")
    check_destination(out, overwrite or shard is not None)
    part = shard_of(shard)
    unkept = "nothing was kept; run the command again"
    if model is None:
        from graphneg.scorers.choosing import Choice, Chosen

        needed, quotas = _shares(least or (), "--least"), _shares(quota or (), "--quota")
        choice = Choice(per_context, needed, quotas, max_score, absolute_margin, relative_margin)
        if choice == Choice() and judge is None:
            raise BadParameter("say what is chosen: --per-context, --least, --quota, --judge or --model")
        if choice.judged and judge is None:
            raise BadParameter("--max-score and margins are a judge's: name it by --judge")
        scorer = None if judge is None else _judge(judge, device, offline)
        with working(terminal.keeps_part(out, "what was chosen")) as bars:
            chosen = Chosen(
                file,
                choice,
                scorer,
                judge_name=judge or "",
                seed=seed,
                batch=batch,
                shard=part,
                progress=bars,
            )
            terminal.write_stream(chosen, out, unkept, "chosen", overwrite=overwrite)
        return
    if judge or least or quota or (max_score, absolute_margin, relative_margin) != (None,) * 3:
        raise BadParameter("--model is for perplexities: choose by these first, and by a judge then")
    names = (model, backward_model) if backward_model else (model,)
    limits = _Limits(validation, quantile, (forward_threshold, backward_threshold), keep, per_context, seed)
    if validation is None and None in limits.given:
        raise BadParameter(
            "say which perplexities are too high: --validation FILE, "
            "or --forward-threshold and --backward-threshold"
        )
    if validation is not None and not validation.is_file():
        raise BadParameter(f"{validation}: there is no such file", param_hint="--validation")
    with messages().status(f"loading {model}"):
        from graphneg.generators.selection import Bidirectional, Selected
        from graphneg.nn.models import load_causal

        models = [load_causal(name, device=device, offline=offline) for name in names]
    pair = Bidirectional(models[0], models[-1])
    with working(terminal.keeps_part(out, "what was chosen")) as bars:
        selected = Selected(file, pair, limits.criteria(pair), batch=batch, shard=part, progress=bars)
        terminal.write_stream(selected, out, unkept, "chosen", overwrite=overwrite)


@dataclass(frozen=True, slots=True)
class _Limits:
    """Which perplexities are too high, as given or to be learned, and what is kept then."""

    validation: Path | None
    quantile: float | None
    given: tuple[float | None, float | None]
    keep: Literal["fitting", "unfitting"]
    per_context: int | None
    seed: int

    def criteria(self, scorer: Bidirectional) -> SelectionCriteria:
        """The criteria, with thresholds learned from the right pairs where they were not given."""
        from graphneg.generators import selection
        from graphneg.records.files import read_negatives

        limits = self.given
        if self.validation is not None and None in limits:
            with messages().status("learning thresholds"):
                right = read_negatives(self.validation)
                learned = selection.learn_thresholds(right, scorer, quantile=self.quantile, seed=self.seed)
            for name, separation in zip(("forward", "backward"), learned, strict=True):
                kept, random = f"{separation.right_kept:.0%}", f"{separation.random_kept:.0%}"
                limit = f"{name} perplexity up to {separation.threshold:.1f}"
                say(f"{limit}: {kept} of right pairs, {random} of random ones")
            limits = tuple(
                found.threshold if limit is None else limit
                for limit, found in zip(limits, learned, strict=True)
            )
        forward, backward = limits
        assert forward is not None and backward is not None
        return selection.SelectionCriteria(
            selection.Thresholds(forward, backward), self.keep, self.per_context
        )


def _judge(model: str, device: str, offline: bool) -> Ranker:
    from graphneg.rankers.base import load_ranker

    with messages().status(f"loading {model}"):
        return load_ranker(model, offline=offline, device=None if device == "auto" else device)


def _shares(given: Sequence[str], name: str) -> dict[str, float]:
    """``NAME=SHARE`` as a mapping."""
    shares: dict[str, float] = {}
    for text in given:
        key, _, share = text.partition("=")
        try:
            shares[key] = float(share)
        except ValueError:
            raise BadParameter(f"{text!r}: write NAME=SHARE, such as clash=0.2", param_hint=name) from None
    return shares

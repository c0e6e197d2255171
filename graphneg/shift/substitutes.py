"""Substitutes of reply perspectives: candidates, split and predicted, for replies of a store.

The result of one reply is a ranked list; that of a corpus is a file of JSON lines, resumable.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from graphneg.editing.originals import Selection, count_dialogues
from graphneg.errors import InputError
from graphneg.output.resumable import ResumableWriter, fingerprint
from graphneg.progress import NoProgress, Progress
from graphneg.shift.candidates import Post, Reach, Reply, Splitting, all_replies, posts
from graphneg.shift.likelihood import Shifts
from graphneg.shift.prediction import Predictor
from graphneg.store import Store

NO_PERSPECTIVE = "the reply has no perspective"
NO_CANDIDATES = "no keyword before it leads anywhere else"


@dataclass(frozen=True, slots=True)
class Substitute:
    """A perspective that a reply could have moved to, from which focus; higher scores are better."""

    focus: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Substitutes:
    """The substitutes of one reply, the best first; no two have the same text."""

    reply: Reply
    ranked: tuple[Substitute, ...]


@dataclass(frozen=True, slots=True)
class Prediction:
    """How substitutes are found: by which predictor, of which candidates, the ``most`` best ones.

    ``options`` are those that the predictor was made with; a file that was begun with others is begun anew.

    Raises:
        InputError: ``most`` is less than 1.
    """

    predictor: Predictor
    reach: Reach = field(default_factory=Reach)
    splitting: Splitting = field(default_factory=Splitting)
    most: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        if self.most is not None and self.most < 1:
            raise InputError(f"{self.most} of the best substitutes: at least 1 is asked for, or all (None)")


@dataclass(slots=True)
class SubstitutesReport:
    """What became of a corpus: replies looked at and written, and the others by why there is nothing."""

    replies: int = 0
    written: int = 0
    skipped: dict[str, int] = field(default_factory=dict[str, int])

    def skip(self, why: str) -> None:
        self.skipped[why] = self.skipped.get(why, 0) + 1


def substitutes_of(shifts: Shifts, replies: Sequence[Reply], how: Prediction) -> list[Substitutes]:
    """The substitutes of each reply, in order; empty where no keyword before it leads anywhere else.

    Raises:
        InputError: the store has no shift graph.
    """
    if not shifts.prior:
        raise InputError("the store has no shift graph: graphneg shift build makes one")
    seen = posts(shifts, replies, how.reach)
    return [
        Substitutes(reply, ranked_substitutes(post, how.predictor, how.splitting)[: how.most])
        for reply, post in zip(replies, seen, strict=True)
    ]


def ranked_substitutes(post: Post, predictor: Predictor, splitting: Splitting) -> tuple[Substitute, ...]:
    """What the predictor takes of each subset of each focus, the best first (CAPT, Algorithm 1).

    A perspective that is taken for several foci stands once, with its best score; of equal ones the
    first focus, which is the most salient, counts.
    """
    best: dict[str, Substitute] = {}
    for focus in post.foci:
        subsets = splitting.split(focus.text, focus.candidates)
        for choice in predictor.choose(post, focus, subsets):
            before = best.get(choice.text)
            if before is None or choice.score > before.score:
                best[choice.text] = Substitute(focus.text, choice.text, choice.score)
    return tuple(sorted(best.values(), key=lambda one: (-one.score, one.text)))


def write_substitutes(
    store: Store,
    out: str | Path,
    how: Prediction,
    *,
    selection: Selection | None = None,
    progress: Progress | None = None,
) -> SubstitutesReport:
    """Write the substitutes of every reply of a corpus that has a perspective, one reply a line.

    A line is ``{"id", "post", "text", "focus", "perspective", "substitutes": [{"focus", "text",
    "score"}, ...]}``. Stopped at any moment, the same call goes on where the last one was.

    Raises:
        InputError: ``out`` is no .jsonl file or can't be written, or the store has no shift graph.
    """
    if Path(out).suffix != ".jsonl":
        raise InputError(f"{out}: substitutes are written as JSON lines; name a file that ends .jsonl")
    selection, progress = selection or Selection(), progress or NoProgress()
    shifts = Shifts(store)
    with ResumableWriter(out, _fingerprint(how, selection)) as writer:
        report = _report(writer.resumed.notes)
        done = writer.resumed.dialogues
        progress.start("substitutes", max(0, count_dialogues(store, selection) - done), "dialogues")
        for amount, replies in all_replies(store, selection, done):
            _write(writer, shifts, replies, how, report)
            done += amount
            writer.checkpoint(done, asdict(report))
            progress.advance(amount)
        progress.finish()
        writer.finish()
    return report


def _write(
    writer: ResumableWriter,
    shifts: Shifts,
    replies: Sequence[Reply],
    how: Prediction,
    report: SubstitutesReport,
) -> None:
    report.replies += len(replies)
    moved = [reply for reply in replies if reply.perspective is not None]
    for _ in range(len(replies) - len(moved)):
        report.skip(NO_PERSPECTIVE)
    for found in substitutes_of(shifts, moved, how):
        if found.ranked:
            writer.write_line(json.dumps(_record(found), ensure_ascii=False))
            report.written += 1
        else:
            report.skip(NO_CANDIDATES)


def _record(found: Substitutes) -> dict[str, Any]:
    reply = found.reply
    return {
        "id": reply.id,
        "post": reply.turns[-1],
        "text": reply.text,
        "focus": reply.focus,
        "perspective": reply.perspective,
        "substitutes": [asdict(one) for one in found.ranked],
    }


def _fingerprint(how: Prediction, selection: Selection) -> str:
    settings = {"predictor": how.predictor.name, "options": {k: str(v) for k, v in how.options.items()}}
    settings |= {"reach": asdict(how.reach), "splitting": asdict(how.splitting), "most": how.most}
    return fingerprint({**settings, "selection": asdict(selection)})


def _report(notes: Mapping[str, Any]) -> SubstitutesReport:
    return SubstitutesReport(**notes) if notes else SubstitutesReport()

"""Substitutes of reply perspectives: what replies could have moved to instead (CAPT, Algorithm 1).

A post of one's own, a reply of the store or a whole corpus goes in; for each reply a ranked list of
perspectives comes out, for a corpus as a resumable file of JSON lines. `train_predictor` fine-tunes the model
of a predictor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from graphneg.errors import InputError
from graphneg.hashing import fingerprint
from graphneg.json_input import json_line
from graphneg.nn.fine_tuning import TrainingReport, fine_tune
from graphneg.nn.models import load_causal, load_seq2seq
from graphneg.progress import NoProgress, Progress
from graphneg.records.resumable import ResumableWriter
from graphneg.shards import natural_order
from graphneg.shift.candidates import Reach, Reply, all_replies, posts, stored_reply
from graphneg.shift.graphs import Shifts
from graphneg.shift.keywords import KeywordExtractor, extractor_named
from graphneg.shift.prediction import Predictor, choices_of, examples_of
from graphneg.store.connection import Store
from graphneg.store.contents import texts_digest
from graphneg.store.dialogues import Selection, count_dialogues
from graphneg.store.statements import cypher_text

NO_PERSPECTIVE = "the reply has no perspective"
NO_CANDIDATES = "no keyword before it leads anywhere else"

PredictorKind = Literal["seq2seq", "causal"]
KINDS: tuple[PredictorKind, ...] = get_args(PredictorKind)
_NOTHING = "no reply has a perspective to learn: graphneg shift build makes the shift graph"


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

    def record(self) -> dict[str, Any]:
        """As a line of a file holds them."""
        reply = self.reply
        return {
            "id": reply.id,
            "post": reply.turns[-1],
            "text": reply.text,
            "focus": reply.focus,
            "perspective": reply.perspective,
            "substitutes": [asdict(substitute) for substitute in self.ranked],
        }


@dataclass(frozen=True, slots=True)
class Prediction:
    """How substitutes are found: by which predictor, of which candidates, the ``most`` best ones.

    ``options`` are those that the predictor was made with; a file that was begun with others is begun anew.

    Raises `InputError`: ``most`` is less than 1.
    """

    predictor: Predictor
    reach: Reach = field(default_factory=Reach)
    most: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        if self.most is not None and self.most < 1:
            raise InputError(f"{self.most} of the best substitutes: at least 1 is asked for, or all (None)")


@dataclass(slots=True)
class SubstitutesReport:
    """What became of a corpus: replies looked at and written, and the others by why there is nothing.

    Where the file ``was_complete``, the same call wrote it before.
    """

    replies: int = 0
    written: int = 0
    skipped: dict[str, int] = field(default_factory=dict[str, int])
    was_complete: bool = False


def substitutes_of(shifts: Shifts, replies: Sequence[Reply], how: Prediction) -> list[Substitutes]:
    """The substitutes of each reply, in order; empty where no keyword before it leads anywhere else.

    They are what the predictor takes of each subset of each focus (CAPT, Algorithm 1). A perspective that is
    taken for several foci stands once, with its best score; of equal ones the first focus, which is the
    most salient, counts.

    Raises:
        InputError: the store has no shift graph.
        ModelError: the predictor's answer is not one candidate of each subset.
    """
    if not shifts.prior:
        raise InputError("the store has no shift graph: graphneg shift build makes one")
    found: list[Substitutes] = []
    for reply, post in zip(replies, posts(shifts, replies, how.reach), strict=True):
        best: dict[str, Substitute] = {}
        for focus in post.foci:
            subsets = how.reach.split(focus.text, focus.candidates)
            for choice in choices_of(how.predictor, post, focus, subsets):
                before = best.get(choice.text)
                if before is None or choice.score > before.score:
                    best[choice.text] = Substitute(focus.text, choice.text, choice.score)
        ranked = sorted(best.values(), key=lambda substitute: (-substitute.score, substitute.text))
        found.append(Substitutes(reply, tuple(ranked[: how.most])))
    return found


@dataclass(slots=True, eq=False)
class SubstituteFinder:
    """Finds what replies could have moved to instead (CAPT, Algorithm 1).

    One post or reply at a time, or all replies of the selected dialogues, iterated or written. What it has
    read of the shift graph it keeps: make another one when the graph has grown.
    """

    store: Store
    how: Prediction
    _: KW_ONLY
    extractor: KeywordExtractor | None = None
    selection: Selection = field(default_factory=Selection)
    progress: Progress = field(default_factory=NoProgress)
    _shifts: Shifts = field(init=False)

    def __post_init__(self) -> None:
        self._shifts = Shifts(self.store)

    def of_post(self, post: str, *, perspective: str | None = None) -> Substitutes:
        """What a post of one's own could be replied to with; ``perspective`` is what a reply took already.

        Keywords are found as those of the shift graph were.

        Raises:
            InputError: the post has no keywords, there is no shift graph, or its extractor is not known here.
        """
        if self.extractor is None:
            made = self.store.read(cypher_text("shift/method"))
            self.extractor = extractor_named(made[0]["keywords"] if made else None)
        [keywords] = self.extractor.extract([post])
        if not keywords:
            raise InputError(f"the post {post!r} has no keywords, so there is nothing to attend to")
        salient = {word.text: word.score for word in keywords}
        return self._of(Reply("", "", None, perspective, (post,), (salient,)))

    def of_reply(self, id: str) -> Substitutes:
        """What an utterance or a right response of the store could have moved to instead.

        Raises `InputError`: there is no such reply, or no shift graph.
        """
        return self._of(stored_reply(self.store, id))

    def __iter__(self) -> Iterator[Substitutes]:
        """Those of each reply whose perspective is known, in the order of the store; some are empty.

        Raises `InputError`: there is no shift graph.
        """
        for _, replies in all_replies(self.store, self.selection):
            moved = [reply for reply in replies if reply.perspective is not None]
            yield from substitutes_of(self._shifts, moved, self.how)

    def to_jsonl(self, out: str | Path, *, overwrite: bool = False) -> SubstitutesReport:
        """Write the substitutes of every reply that has a perspective, one reply a line.

        A line is ``{"id", "post", "text", "focus", "perspective", "substitutes": [{"focus", "text",
        "score"}, ...]}``. Stopped at any moment, the same call goes on where the last one was.

        Raises `InputError`: ``out`` is no .jsonl file or can't be written, or the store has no shift graph.
        """
        if Path(out).suffix != ".jsonl":
            raise InputError(f"{out}: substitutes are written as JSON lines; name a file that ends .jsonl")
        how = self.how
        settings = {"predictor": how.predictor.name, "options": {k: str(v) for k, v in how.options.items()}}
        settings |= {"reach": asdict(how.reach), "most": how.most}
        settings["selection"] = asdict(self.selection)
        settings |= {"shifts": [row.data() for row in self.store.read(cypher_text("shift/method"))]}
        content = texts_digest(self.store, self.selection)
        with ResumableWriter(out, fingerprint(settings), content, overwrite=overwrite) as writer:
            report = SubstitutesReport(**writer.resumed.notes)
            if writer.resumed.is_complete:
                return replace(report, was_complete=True)
            done = writer.resumed.dialogues
            total = count_dialogues(self.store, self.selection)
            self.progress.start("substitutes", max(0, total - done), "dialogues")
            for ids, replies in all_replies(self.store, self.selection, done, writer.resumed.last):
                self._write(writer, replies, report)
                done += len(ids)
                writer.checkpoint(done, asdict(report), natural_order(ids[-1]))
                self.progress.advance(len(ids))
            self.progress.finish()
            writer.finish()
        return report

    def _write(self, writer: ResumableWriter, replies: Sequence[Reply], report: SubstitutesReport) -> None:
        moved = [reply for reply in replies if reply.perspective is not None]
        lines = [
            json_line(found.record())
            for found in substitutes_of(self._shifts, moved, self.how)
            if found.ranked
        ]
        for line in lines:
            writer.write_line(line)
        skipped = {NO_PERSPECTIVE: len(replies) - len(moved), NO_CANDIDATES: len(moved) - len(lines)}
        report.skipped = dict(Counter(report.skipped) + Counter(skipped))
        report.replies += len(replies)
        report.written += len(lines)

    def _of(self, reply: Reply) -> Substitutes:
        return substitutes_of(self._shifts, [reply], self.how)[0]


def train_predictor(
    store: Store,
    kind: PredictorKind,
    model: str | Path,
    out: str | Path,
    *,
    selection: Selection | None = None,
    reach: Reach | None = None,
    limit: int | None = None,
    seed: int = 0,
    device: str = "auto",
    offline: bool = False,
    progress: Progress | None = None,
    **arguments: Any,
) -> TrainingReport:
    """Fine-tune ``model``, a folder or hub id, on the pairs of a shift graph, and save it in ``out``.

    ``seq2seq`` learns the perspective from [post, focus, candidates], with subsets as ``reach`` makes
    them; ``causal`` from post and focus. ``limit`` takes so many pairs, chosen by ``seed``; other
    ``arguments`` are transformers' ``TrainingArguments``. A run that was stopped goes on when the same
    call is made again.

    Raises:
        InputError: the store has no shift graph, ``out`` holds a model already, or an argument is wrong.
        ModelError: the model can't be had, or is of another kind.
    """
    if kind not in KINDS:
        raise InputError(f"predictor {kind!r} is not trained; choose one of {', '.join(KINDS)}")
    if not Shifts(store).prior:
        raise InputError(_NOTHING)
    load = load_seq2seq if kind == "seq2seq" else load_causal
    loaded = load(model, device=device, offline=offline)
    reach = (reach or Reach(seed=seed)) if kind == "seq2seq" else None
    draw = reach.seed if reach else seed
    examples = examples_of(store, selection, reach=reach, limit=limit, seed=draw)
    if not examples:
        raise InputError(_NOTHING)
    return fine_tune(loaded, examples, out, seed=seed, progress=progress, **arguments)

"""Find substitutes of reply perspectives: what replies could have moved to instead (CAPT, Algorithm 1).

The input is a post of the user's own, a reply of the store, or a whole corpus. The output is a ranked list of
perspectives for each reply; for a corpus it can be written to a file of JSON lines that an interrupted run
continues. `train_predictor` fine-tunes the model of a predictor.

    reply "Was the cake good?" to "I had a coffee."
    {"focus": "coffee", "perspective": "cake", "substitutes": [{"focus": "coffee", "text": "sugar", "score":
    ...}]}
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
"""Reason for skipping a reply."""
NO_CANDIDATES = "no keyword before it leads anywhere else"
"""Reason for skipping a reply."""

PredictorKind = Literal["seq2seq", "causal"]
KINDS: tuple[PredictorKind, ...] = get_args(PredictorKind)
"""Predictors that can be trained."""
_NOTHING = "no reply has a perspective to learn: graphneg shift build makes the shift graph"


@dataclass(frozen=True, slots=True)
class Substitute:
    """A perspective that a reply could have moved to.

    Attributes:
        focus: Focus that leads to it.
        text: Text of the perspective.
        score: Score of the predictor; higher is better.
    """

    focus: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Substitutes:
    """The substitutes of one reply.

    Attributes:
        reply: The reply.
        ranked: Substitutes with different texts, best first.
    """

    reply: Reply
    ranked: tuple[Substitute, ...]

    def record(self) -> dict[str, Any]:
        """Return the substitutes as a line of the output file."""
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
    """How substitutes are found.

    Attributes:
        predictor: Chooses candidates.
        reach: Where candidates are looked for.
        most: Maximum number of substitutes for each reply; None for all.
        options: Options that the predictor was made with. A file that was begun with other options is begun
            anew.
    """

    predictor: Predictor
    reach: Reach = field(default_factory=Reach)
    most: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        """Check the maximum number."""
        if self.most is not None and self.most < 1:
            raise InputError(f"{self.most} of the best substitutes: at least 1 is asked for, or all (None)")


@dataclass(slots=True)
class SubstitutesReport:
    """The counts of a run over a corpus.

    Attributes:
        replies: Number of replies.
        written: Number of replies with substitutes.
        skipped: Number of other replies, by reason.
        was_complete: True if the same call had written the file before, so that nothing was written.
    """

    replies: int = 0
    written: int = 0
    skipped: dict[str, int] = field(default_factory=dict[str, int])
    was_complete: bool = False


def substitutes_of(shifts: Shifts, replies: Sequence[Reply], how: Prediction) -> list[Substitutes]:
    """Return the substitutes of replies (CAPT, Algorithm 1).

    The predictor chooses one candidate of each subset of each focus. A perspective that is chosen for several
    foci is listed once, with its best score.

    Args:
        shifts: Shift graph of the store.
        replies: Replies with their context.
        how: Predictor and reach.

    Returns:
        The substitutes in the order of the replies; empty if no keyword before the reply leads anywhere else.

    Raises:
        InputError: The store has no shift graph.
    """
    if not shifts.prior:
        raise InputError("the store has no shift graph: run graphneg shift build")
    found: list[Substitutes] = []
    for reply, post in zip(replies, posts(shifts, replies, how.reach), strict=True):
        best: dict[str, Substitute] = {}
        for focus in post.foci:
            subsets = how.reach.split(focus.text, focus.candidates)
            for choice in choices_of(how.predictor, post, focus, subsets):
                before = best.get(choice.text)
                # Of equal scores, the first focus counts, which is the most salient one.
                if before is None or choice.score > before.score:
                    best[choice.text] = Substitute(focus.text, choice.text, choice.score)
        ranked = sorted(best.values(), key=lambda substitute: (-substitute.score, substitute.text))
        found.append(Substitutes(reply, tuple(ranked[: how.most])))
    return found


@dataclass(slots=True, eq=False)
class SubstituteFinder:
    """Finds what replies could have moved to instead (CAPT, Algorithm 1).

    It works on one post or reply at a time, or on all replies of the selected dialogues, which are iterated
    over or written to a file. What it reads of the shift graph is cached: make another finder when the graph
    has grown.

    Attributes:
        store: Store with a shift graph.
        how: Predictor and reach.
        extractor: Finds the keywords of the user's own posts; by default the extractor of the shift graph.
        selection: Dialogues to iterate over.
        progress: Receives the number of finished dialogues.
    """

    store: Store
    how: Prediction
    _: KW_ONLY
    extractor: KeywordExtractor | None = None
    selection: Selection = field(default_factory=Selection)
    progress: Progress = field(default_factory=NoProgress)
    _shifts: Shifts = field(init=False)

    def __post_init__(self) -> None:
        """Initialize an empty cache of the shift graph."""
        self._shifts = Shifts(self.store)

    def of_post(self, post: str, *, perspective: str | None = None) -> Substitutes:
        """Return what a reply to a post of the user's own could move to.

        Args:
            post: Text of the post.
            perspective: Perspective to leave out, because a reply took it already.

        Returns:
            The substitutes.

        Raises:
            InputError: The post has no keywords.
        """
        if self.extractor is None:
            # Other keywords than those of the graph would not be found in it.
            made = self.store.read(cypher_text("shift/method"))
            self.extractor = extractor_named(made[0]["keywords"] if made else None)
        [keywords] = self.extractor.extract([post])
        if not keywords:
            raise InputError(f"the post {post!r} has no keywords, so there is nothing to attend to")
        salient = {word.text: word.score for word in keywords}
        return self._of(Reply("", "", None, perspective, (post,), (salient,)))

    def of_reply(self, id: str) -> Substitutes:
        """Return what a reply of the store could have moved to instead.

        Args:
            id: Id of an utterance that follows another one, or of a right response.

        Returns:
            The substitutes.
        """
        return self._of(stored_reply(self.store, id))

    def __iter__(self) -> Iterator[Substitutes]:
        """Yield the substitutes of each reply whose perspective is known, in the order of the store.

        Yields:
            The substitutes of a reply, which may be empty.
        """
        for _, replies in all_replies(self.store, self.selection):
            moved = [reply for reply in replies if reply.perspective is not None]
            yield from substitutes_of(self._shifts, moved, self.how)

    def to_jsonl(self, out: str | Path, *, overwrite: bool = False) -> SubstitutesReport:
        """Write the substitutes of every reply that has a perspective, one reply in each line.

        A line is ``{"id", "post", "text", "focus", "perspective", "substitutes": [{"focus", "text", "score"},
        ...]}``. If the call is stopped, the same call continues where it stopped.

        Args:
            out: File to write, with the suffix .jsonl.
            overwrite: Replace a file that another call wrote.

        Returns:
            The counts of the run.

        Raises:
            InputError: The suffix is not .jsonl.
        """
        if Path(out).suffix != ".jsonl":
            raise InputError(f"{out}: substitutes are written as JSON lines; name a file that ends .jsonl")
        how = self.how
        settings = {"predictor": how.predictor.name, "options": {k: str(v) for k, v in how.options.items()}}
        settings |= {"reach": asdict(how.reach), "most": how.most}
        settings["selection"] = asdict(self.selection)
        # A shift graph that was built by another method gives other substitutes.
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
        """Write the substitutes of some replies and count them."""
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
        """Return the substitutes of one reply."""
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
    """Fine-tune a model on the pairs of a shift graph, and save it.

    ``seq2seq`` learns the perspective from the post, the focus and the candidates, ``causal`` from the post
    and the focus. If the run is stopped, the same call continues it.

    Args:
        store: Store with a shift graph.
        kind: ``seq2seq`` or ``causal``.
        model: Folder or hub id of the model to start from.
        out: Folder to save the model in.
        selection: Dialogues to learn from; None for all.
        reach: How subsets of candidates are made, for ``seq2seq``.
        limit: Maximum number of pairs, sampled at random.
        seed: Seed of the sample and of the training.
        device: Device of the model, or ``auto``.
        offline: Use only local files.
        progress: Receives the number of finished steps.
        **arguments: Further arguments of the ``TrainingArguments`` of transformers.

    Returns:
        The report of the training.

    Raises:
        InputError: The kind is unknown, or the store has no shift graph or no replies to learn from.
    """
    if kind not in KINDS:
        raise InputError(f"predictor {kind!r} is not trained; choose one of {', '.join(KINDS)}")
    if not Shifts(store).prior:
        raise InputError(_NOTHING)
    load = load_seq2seq if kind == "seq2seq" else load_causal
    loaded = load(model, device=device, offline=offline)
    # Only the sequence-to-sequence model reads candidates.
    reach = (reach or Reach(seed=seed)) if kind == "seq2seq" else None
    draw = reach.seed if reach else seed
    examples = examples_of(store, selection, reach=reach, limit=limit, seed=draw)
    if not examples:
        raise InputError(_NOTHING)
    return fine_tune(loaded, examples, out, seed=seed, progress=progress, **arguments)

"""Find substitutes for the perspectives of replies: other perspectives that the replies could have had.

The perspective of a reply is the keyword to which the reply shifts the topic. The method is Algorithm 1 of
CAPT (Ou et al. 2022). Substitutes can be found for a given text, for a reply in the store, or for all replies
in a corpus. The result is a ranked list of perspectives for each reply. For a corpus, the lists can be
written to a JSON Lines file, and an interrupted run can be resumed. `train_predictor` fine-tunes the language
model of a predictor. The result for a reply looks like this::

    post         "I had a coffee."
    reply        "Was the cake good?"                    focus coffee, perspective cake
    substitutes  sugar (score -1.2), price (score -2.5)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from graphneg.errors import InputError
from graphneg.hashing import fingerprint, with_model_digests
from graphneg.ids import natural_order
from graphneg.json_input import json_line
from graphneg.nn.fine_tuning import TrainingReport, fine_tune
from graphneg.nn.models import load_causal, load_seq2seq
from graphneg.progress import NoProgress, Progress
from graphneg.records.resumable import ResumableWriter
from graphneg.shift.candidates import CandidateOptions, Reply, all_replies, posts, stored_reply
from graphneg.shift.graphs import ShiftGraph
from graphneg.shift.keywords import KeywordExtractor, extractor_named
from graphneg.shift.prediction import Predictor, choices_of, examples_of
from graphneg.store.connection import Store
from graphneg.store.contents import texts_digest
from graphneg.store.dialogues import Selection, count_dialogues
from graphneg.store.statements import cypher_text

NO_PERSPECTIVE = "the reply has no perspective"
"""Reason for skipping a reply: its perspective (the keyword to which it shifts the topic) is unknown."""
NO_CANDIDATES = "no earlier keyword leads to another perspective"
"""Reason for skipping a reply: the shift graph contains no candidates for another perspective."""

PredictorKind = Literal["seq2seq", "causal"]
KINDS: tuple[PredictorKind, ...] = get_args(PredictorKind)
"""Names of the predictors whose language model can be trained."""
_NOTHING = "nothing to train on: no reply has a perspective; run graphneg shift build"


@dataclass(frozen=True, slots=True)
class Substitute:
    """A different perspective that a reply could have had, that is, another keyword to shift the topic to.

    Attributes:
        focus: Keyword of the context from which the perspective can be reached.
        text: Text of the perspective.
        score: Score that the predictor gives to the perspective; higher is better.
    """

    focus: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Substitutes:
    """The substitutes for one reply: other keywords to which the reply could have shifted the topic.

    Attributes:
        reply: The reply, with the turns before it.
        ranked: Substitutes with distinct texts, sorted by score, highest first.
    """

    reply: Reply
    ranked: tuple[Substitute, ...]

    def record(self) -> dict[str, Any]:
        """Return the reply and its substitutes as a record for the output file."""
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
    """Settings for finding substitutes: other keywords to which a reply could have shifted the topic.

    Attributes:
        predictor: Predictor that chooses the substitutes among candidate keywords.
        reach: Settings for the search for candidates.
        most: Maximum number of substitutes for each reply; None for all.
        options: Options with which the predictor was created. They are stored with an output file, so that a
            call with different options does not resume the file.
    """

    predictor: Predictor
    reach: CandidateOptions = field(default_factory=CandidateOptions)
    most: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        """Check that the maximum number of substitutes is at least 1."""
        if self.most is not None and self.most < 1:
            raise InputError(f"top must be at least 1, or None for all substitutes, not {self.most}")


@dataclass(slots=True)
class SubstitutesReport:
    """Counts of a run of `SubstituteFinder.to_jsonl`.

    Substitutes are other keywords to which a reply could have shifted the topic.

    Attributes:
        replies: Number of replies that were read.
        written: Number of replies for which substitutes were written.
        skipped: Number of replies without substitutes, keyed by the reason.
        was_complete: True if the output file was already complete, so that the run wrote nothing.
    """

    replies: int = 0
    written: int = 0
    skipped: dict[str, int] = field(default_factory=dict[str, int])
    was_complete: bool = False


def substitutes_of(shifts: ShiftGraph, replies: Sequence[Reply], how: Prediction) -> list[Substitutes]:
    """Find substitutes for replies: other keywords to which the replies could have shifted the topic.

    The method is Algorithm 1 of CAPT. A focus is a keyword that the reply can take up. Its candidates, the
    keywords that the shift graph reaches from it, are divided into subsets. The predictor chooses one
    candidate from each subset. A candidate that is chosen for several foci is listed only once, with its
    highest score.

    Args:
        shifts: Shift graph of the store.
        replies: Replies with the turns before them.
        how: Settings, including the predictor.

    Returns:
        The substitutes for each reply, in the order of the replies; empty for a reply without candidates.

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
                # Foci are sorted by salience, so if the scores are equal, the more salient focus is kept.
                if before is None or choice.score > before.score:
                    best[choice.text] = Substitute(focus.text, choice.text, choice.score)
        ranked = sorted(best.values(), key=lambda substitute: (-substitute.score, substitute.text))
        found.append(Substitutes(reply, tuple(ranked[: how.most])))
    return found


@dataclass(slots=True, eq=False)
class SubstituteFinder:
    """Finds substitutes: other keywords to which replies could have shifted the topic.

    The method is Algorithm 1 of CAPT. The finder can be used for a single text or reply. It can also be used
    for all replies in the selected dialogues, by iterating over it or by writing a file. It caches the parts
    of the shift graph that it has read. Create a new finder after the shift graph has changed.

    Attributes:
        store: Store that contains a shift graph.
        how: Settings, including the predictor.
        extractor: Extractor that finds the keywords of texts that are not in the store; None for the
            extractor with which the shift graph was built.
        selection: Dialogues whose replies are used.
        progress: Progress display; advanced by the number of finished dialogues.
    """

    store: Store
    how: Prediction
    _: KW_ONLY
    extractor: KeywordExtractor | None = None
    selection: Selection = field(default_factory=Selection)
    progress: Progress = field(default_factory=NoProgress)
    _shifts: ShiftGraph = field(init=False)

    def __post_init__(self) -> None:
        """Initialize an empty cache of the shift graph."""
        self._shifts = ShiftGraph(self.store)

    def of_post(self, post: str, *, perspective: str | None = None) -> Substitutes:
        """Return keywords to which a reply to "I had a coffee." could shift the topic, such as *cake*.

        Args:
            post: Text to reply to.
            perspective: Keyword to leave out, for example the keyword to which an existing reply shifts.

        Returns:
            The keywords with their scores. The attribute ``reply`` has an empty text, because there is no
            reply yet.

        Raises:
            InputError: The text has no keywords.
        """
        if self.extractor is None:
            # Use the extractor with which the shift graph was built. Another extractor might find "cups of
            # coffee" where the graph contains only "coffee".
            made = self.store.read(cypher_text("shift/method"))
            self.extractor = extractor_named(made[0]["keywords"] if made else None)
        [keywords] = self.extractor.extract([post])
        if not keywords:
            raise InputError(f"the post {post!r} has no keywords, so it has no focus")
        salient = {word.text: word.score for word in keywords}
        return self._of(Reply("", "", None, perspective, (post,), (salient,)))

    def of_reply(self, id: str) -> Substitutes:
        """Return other keywords to which a reply in the store could have shifted the topic.

        Args:
            id: Id of an utterance that is not the first of its dialogue, or of a correct response.

        Returns:
            The reply and the other keywords with their scores.
        """
        return self._of(stored_reply(self.store, id))

    def __iter__(self) -> Iterator[Substitutes]:
        """Yield, for each reply in the selected dialogues, other keywords to which it could have shifted.

        Replies with an unknown perspective are skipped.

        Yields:
            The reply and its other keywords, which are in the attribute ``ranked``. It may be empty.
        """
        for _, replies in all_replies(self.store, self.selection):
            moved = [reply for reply in replies if reply.perspective is not None]
            yield from substitutes_of(self._shifts, moved, self.how)

    def to_jsonl(self, out: str | Path, *, overwrite: bool = False) -> SubstitutesReport:
        """Write other keywords to which each reply could have shifted the topic (substitutes) to a file.

        Replies with an unknown perspective are skipped. The file has one line per reply.

        A line is ``{"id", "post", "text", "focus", "perspective", "substitutes": [{"focus", "text", "score"},
        ...]}``. If the call is interrupted, the same call resumes it.

        Args:
            out: File to write, with the suffix .jsonl.
            overwrite: Whether to replace a file that another call wrote.

        Returns:
            The numbers of replies that were read, written and skipped.

        Raises:
            InputError: The suffix is not .jsonl.
        """
        if Path(out).suffix != ".jsonl":
            raise InputError(f"{out}: substitutes are written as JSON lines; name a file that ends in .jsonl")
        how = self.how
        settings = {"predictor": how.predictor.name, "options": {k: str(v) for k, v in how.options.items()}}
        settings |= {"reach": asdict(how.reach), "most": how.most}
        settings["selection"] = asdict(self.selection)
        # The shift graph, and so the result of this run, depends on the keyword extractor and the embedder.
        # An interrupted run is resumed only if their names are the same.
        settings |= {"shifts": [row.data() for row in self.store.read(cypher_text("shift/method"))]}
        content = texts_digest(self.store, self.selection)
        with ResumableWriter(
            out, fingerprint(with_model_digests(settings)), content, overwrite=overwrite
        ) as writer:
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
        """Write a line for each reply that has substitutes, and count written and skipped replies."""
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
    reach: CandidateOptions | None = None,
    limit: int | None = None,
    seed: int = 0,
    device: str = "auto",
    offline: bool = False,
    progress: Progress | None = None,
    **arguments: Any,
) -> TrainingReport:
    """Fine-tune a model for a predictor on the replies in the shift graph, and save it.

    A ``seq2seq`` model learns to predict the perspective from the post, the focus and the candidates. A
    ``causal`` model learns to predict the perspective from the post and the focus. If the run is interrupted,
    the same call resumes it.

    Args:
        store: Store that contains a shift graph.
        kind: Predictor that will use the model, ``seq2seq`` or ``causal``.
        model: Folder or hub id of the model to start from.
        out: Folder for the trained model.
        selection: Dialogues to learn from; None for all.
        reach: For ``seq2seq``: settings for dividing candidates into subsets; None for the defaults.
        limit: Maximum number of training examples. If there are more, a random sample is used.
        seed: Seed for the random sample and for the training.
        device: Device of the model; ``auto`` uses a GPU if there is one.
        offline: Whether to load the model without network access.
        progress: Progress display; advanced by the number of finished training steps.
        **arguments: Further arguments for transformers' ``TrainingArguments``.

    Returns:
        A report of the training.

    Raises:
        InputError: The kind is unknown, or the store has no shift graph or no replies to learn from.
    """
    if kind not in KINDS:
        raise InputError(f"predictor {kind!r} is not trained; choose one of {', '.join(KINDS)}")
    if not ShiftGraph(store).prior:
        raise InputError(_NOTHING)
    load = load_seq2seq if kind == "seq2seq" else load_causal
    loaded = load(model, device=device, offline=offline)
    # The prompt of a ``causal`` model contains no candidate keywords, so the model needs no settings for
    # finding candidates.
    reach = (reach or CandidateOptions(seed=seed)) if kind == "seq2seq" else None
    draw = reach.seed if reach else seed
    examples = examples_of(store, selection, reach=reach, limit=limit, seed=draw)
    if not examples:
        raise InputError(_NOTHING)
    return fine_tune(loaded, examples, out, seed=seed, progress=progress, **arguments)

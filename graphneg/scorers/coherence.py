"""Coherence of whole dialogues: in go their turns, out comes a number from 0 to 1 (DEAM).

A scorer is any encoder with one class on top, 1 for coherent dialogues. A long dialogue is cut by turns
into windows that are each short enough for the encoder. It is trained on edited dialogues, which
`read_dialogues` reads from files of negatives.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, Literal, Self

from graphneg.english.tokens import match_key
from graphneg.errors import InputError, ModelError
from graphneg.generators.base import Turn
from graphneg.model import Negative
from graphneg.nn.batching import longest_first
from graphneg.nn.encoders import load_classifier, positions
from graphneg.nn.models import check_packages, choose_device, locate, read_config
from graphneg.progress import NoProgress, Progress
from graphneg.rankers.cross_encoder import CrossEncoder
from graphneg.records.files import read_negatives
from graphneg.store.dialogues import answering

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Talk = Sequence[tuple[str, str]]
"""A dialogue: speaker and text of each turn, in order. A speaker who is not known is ''."""
Over = Literal["mean", "minimum"]
OVER: tuple[Over, ...] = ("mean", "minimum")
KIND = "coherence"
MAX_TOKENS = 256
Turns = tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts dialogues into windows, ranges of turns, of at most ``room`` tokens; turns are never cut.

    ``lengths`` of turns count all that a turn adds, separator and all; none is longer than ``room``.
    A window repeats the last ``overlap`` turns of the one before it, as long as it gets further.

    Raises `InputError`: the overlap is negative.
    """

    room: int
    overlap: int = 0

    def __post_init__(self) -> None:
        if self.overlap < 0:
            raise InputError(f"overlap {self.overlap}: windows share 0 turns or more")

    def windows(self, lengths: Sequence[int]) -> list[range]:
        """Windows that hold all turns, in order; the last one reaches back as far as it has room.

        >>> Cutter(10).windows([4, 4, 4, 4, 4])
        [range(0, 2), range(2, 4), range(3, 5)]
        >>> Cutter(12, overlap=1).windows([4, 4, 4, 4, 4])
        [range(0, 3), range(2, 5)]
        """
        windows: list[range] = []
        first, last = 0, 0
        while last < len(lengths):
            end = first + self._fitting(lengths[first:])
            if end == last:  # the repeated turns leave no room for a new one
                first += 1
                continue
            last = end
            windows.append(range(first, last))
            first = max(first + 1, last - self.overlap)
        if windows:
            earliest = len(lengths) - self._fitting(lengths[::-1])
            windows[-1] = range(min(windows[-1].start, earliest), len(lengths))
        return windows

    def all(self, lengths: Sequence[int]) -> list[range]:
        """Every window that can't be made longer, in order: one for a dialogue that is short enough.

        >>> Cutter(10).all([4, 4, 4, 4])
        [range(0, 2), range(1, 3), range(2, 4)]
        """
        windows: list[range] = []
        for first in range(len(lengths)):
            last = first + self._fitting(lengths[first:])
            if not windows or last > windows[-1].stop:
                windows.append(range(first, last))
        return windows

    def _fitting(self, lengths: Sequence[int]) -> int:
        """How many turns from the first on fit into a window."""
        return bisect_right(list(accumulate(lengths)), self.room)


class CoherenceScorer:
    """Says how coherent whole dialogues are, from 0 to 1 (Ghazarian et al. 2022, section 4).

    Turns are joined by the tokenizer's separator, each behind a mark of who speaks: ``A:`` for the first
    speaker of the dialogue, ``B:`` for the second. A dialogue of more than ``max_tokens`` is cut by turns
    into windows, which may share ``overlap`` turns; its score is the ``mean`` or the ``minimum`` over
    them. Only a single turn that is longer than a window loses its end; ``cut_turns`` counts those.

    ``categories`` are those of the errors that it was trained on (``C-cont``).
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        categories: Iterable[str] = (),
        max_tokens: int = MAX_TOKENS,
        overlap: int = 0,
        over: Over = "mean",
        batch: int = 32,
    ) -> None:
        if over not in OVER:
            raise InputError(f"over {over!r}: choose one of {', '.join(OVER)}")
        self.model = model
        self.tokenizer = tokenizer
        self.categories = tuple(categories)
        self.max_tokens = min(max_tokens, positions(model), tokenizer.model_max_length)
        self.overlap = overlap
        self.over: Over = over
        self.batch = batch
        self.cut_turns = 0

    @classmethod
    def new(cls, model: str | Path, *, max_tokens: int = MAX_TOKENS, **options: Any) -> Self:
        """An encoder by path or hub id with a new head of one class, drawn by ``seed``.

        ``options`` are those of `graphneg.rankers.cross_encoder.CrossEncoder.new`.

        Raises:
            ModelError: there is no such encoder.
            InputError: no parameter's name begins with one of ``frozen``.
        """
        encoder = CrossEncoder.new(model, max_tokens=max_tokens, **options)
        return cls(encoder.model, encoder.tokenizer, max_tokens=max_tokens)

    @classmethod
    def from_pretrained(
        cls,
        model: str | Path,
        *,
        max_tokens: int | None = None,
        overlap: int = 0,
        over: Over = "mean",
        batch: int = 32,
        device: str | None = None,
        offline: bool = False,
    ) -> Self:
        """A trained scorer by path or hub id; windows are as long as in training unless ``max_tokens`` says.

        Raises:
            ModelError: torch or transformers is missing, there is no such model, or it is another kind.
            InputError: another ``over``.
        """
        check_packages()
        folder = locate(model, offline=offline)
        config = read_config(folder, "coherence scorer")
        noted = config.get("graphneg") or {}
        if noted.get("kind") != KIND:
            tasks = ", ".join(map(str, config.get("architectures") or ()))
            kind = noted.get("kind") or tasks or "another model"
            raise ModelError(f"{folder}: {kind}, no coherence scorer; graphneg train coherence makes one")
        network, tokenizer = load_classifier(folder, "coherence scorer")
        network.to(choose_device(device))
        return cls(
            network,
            tokenizer,
            categories=noted.get("categories", ()),
            max_tokens=max_tokens or noted.get("max_tokens", MAX_TOKENS),
            overlap=overlap,
            over=over,
            batch=batch,
        )

    def score(self, dialogues: Sequence[Talk], progress: Progress | None = None) -> list[float]:
        """One number for each dialogue, in order, from 0 (incoherent) to 1 (coherent).

        Raises `InputError`: a dialogue has no turns.
        """
        import torch

        windows: list[tuple[int, list[int]]] = []
        for index, talk in enumerate(dialogues):
            if not talk:
                raise InputError(f"dialogue {index + 1} of {len(dialogues)} has no turns")
            turns = self.encode_turns(talk)
            cuts = self.cutter.windows(self.lengths(turns))
            windows += [(index, self.tokens(turns, window)) for window in cuts]
        shown = progress or NoProgress()
        shown.start("coherence", len(windows), "windows")
        self.model.eval()

        def run(batch: Sequence[tuple[int, list[int]]]) -> list[float]:
            rows = self.batch_of([ids for _, ids in batch])
            with torch.inference_mode():
                on_device = {name: item.to(self.model.device) for name, item in rows.items()}
                logits: Tensor = self.model(**on_device).logits.float()
            shown.advance(len(batch))
            return logits[:, 0].sigmoid().tolist()

        scores: list[list[float]] = [[] for _ in dialogues]
        results = longest_first(windows, lambda window: len(window[1]), self.batch, run, "a window")
        for (index, _), score in zip(windows, results, strict=True):
            scores[index].append(score)
        shown.finish()
        return [min(some) if self.over == "minimum" else sum(some) / len(some) for some in scores]

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer into a folder that ``from_pretrained`` reads, and transformers too."""
        config: Any = self.model.config
        config.graphneg = {"kind": KIND, "categories": [*self.categories], "max_tokens": self.max_tokens}
        self.model.save_pretrained(str(folder))
        self.tokenizer.save_pretrained(str(folder))

    @property
    def cutter(self) -> Cutter:
        """Cuts what ``encode_turns`` gives, by :meth:`lengths`."""
        return Cutter(self.max_tokens - len(self._frame[0]) - len(self._frame[1]), self.overlap)

    def lengths(self, turns: Sequence[Sequence[int]]) -> list[int]:
        """How many tokens each encoded turn adds to a window, its separator too."""
        return [len(turn) + len(self._separator) for turn in turns]

    def encode_turns(self, talk: Talk) -> list[list[int]]:
        """Each turn's tokens, the mark of its speaker first; one longer than a window is cut, and counted."""
        room = self.cutter.room - len(self._separator)
        texts = [f"{mark}: {text}" for mark, (_, text) in zip(marks(talk), talk, strict=True)]
        rows: list[list[int]] = self.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]  # pyright: ignore[reportAssignmentType]
        self.cut_turns += sum(len(row) > room for row in rows)
        return [row[:room] for row in rows]

    def tokens(self, turns: Sequence[Sequence[int]], window: range) -> list[int]:
        """The model's input for some encoded turns: separators between them, special tokens around."""
        before, after = self._frame
        ids = list(before)
        for turn in window:
            ids += [*(self._separator if turn > window.start else ()), *turns[turn]]
        return ids + list(after)

    def batch_of(self, rows: Sequence[list[int]]) -> dict[str, Tensor]:
        """``input_ids`` and ``attention_mask`` of shape (rows, tokens), padded to the longest."""
        padded: Any = self.tokenizer.pad({"input_ids": list(rows)}, return_tensors="pt")
        return {"input_ids": padded["input_ids"], "attention_mask": padded["attention_mask"]}

    @cached_property
    def _separator(self) -> tuple[int, ...]:
        ids = (self.tokenizer.sep_token_id, self.tokenizer.eos_token_id)
        return next(((item,) for item in ids if isinstance(item, int)), ())

    @cached_property
    def _frame(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Special tokens that the tokenizer puts before and after a text."""
        whole: list[int] = self.tokenizer("a")["input_ids"]  # pyright: ignore[reportAssignmentType]
        bare: list[int] = self.tokenizer("a", add_special_tokens=False)["input_ids"]  # pyright: ignore[reportAssignmentType]
        at = next(at for at in range(len(whole)) if whole[at : at + len(bare)] == bare)
        return tuple(whole[:at]), tuple(whole[at + len(bare) :])


def marks(talk: Talk) -> list[str]:
    """Who speaks, by the order in which they come up; turns of nobody known alternate.

    >>> marks([("User", "Hi."), ("System", "Hello."), ("User", "Bye.")])
    ['A', 'B', 'A']
    >>> marks([("", "Hi."), ("", "Hello.")])
    ['A', 'B']
    """
    known: dict[str, str] = {}
    return [
        known.setdefault(speaker, ascii_uppercase[len(known) % 26]) if speaker else "AB"[turn % 2]
        for turn, (speaker, _) in enumerate(talk)
    ]


@dataclass(frozen=True, slots=True)
class EditedDialogue:
    """An incoherent dialogue: who said what, and which turns were edited."""

    id: str
    turns: Turns
    edited: frozenset[int]
    recipe: str
    categories: tuple[str, ...]

    @property
    def names(self) -> set[str]:
        """What a mix may call it by: its recipe and its categories."""
        return {self.recipe, *self.categories}


@dataclass(slots=True)
class Versions:
    """One dialogue as it is, and edited ones that were made of it."""

    id: str
    original: Turns
    edited: list[EditedDialogue] = field(default_factory=list[EditedDialogue])


@dataclass(frozen=True, slots=True)
class EditedDialogues:
    """What files of negatives give; ``responses`` records were left out, as they edit no dialogue.

    ``unchanged`` edited dialogues were left out, as they say what the original says.
    """

    dialogues: list[Versions]
    responses: int
    unchanged: int = 0


def read_dialogues(paths: Sequence[str | Path]) -> EditedDialogues:
    """Dialogues and their edited versions from files of negatives (.jsonl, .parquet).

    Raises `InputError`: a file can't be read or is none of negatives, a label is neither 0 nor 1, or no
    record has the target ``dialogue``.
    """
    return dialogues_of(read_negatives(*paths))


def dialogues_of(records: Iterable[Negative]) -> EditedDialogues:
    """Records with the target ``dialogue``, by the place where their last turn stands."""
    versions: dict[str, Versions] = {}
    responses = unchanged = 0
    for record in records:
        if record.label not in (0, 1):
            raise InputError(f"{record.id}: the label is {record.label!r}; 1 is coherent, 0 is not")
        if record.target != "dialogue":
            responses += 1
            continue
        id = f"{record.dialogue}#{record.turn}"
        dialogue = versions.setdefault(id, Versions(id, original_turns(record)))
        if record.label == 0:
            turns = _whole(record.context, record.response, record.speaker)
            if _said(turns) == _said(dialogue.original):
                unchanged += 1
                continue
            edited = frozenset(int(edit["turn"]) for edit in record.edits)
            version = EditedDialogue(record.id, turns, edited, record.recipe, tuple(record.categories))
            dialogue.edited.append(version)
    if not any(dialogue.edited for dialogue in versions.values()):
        raise InputError(
            "no edited dialogues in these files: make some with graphneg negatives --target dialogue, "
            "or a generator such as turn-shuffle"
        )
    return EditedDialogues(list(versions.values()), responses, unchanged)


def original_turns(item: Negative) -> Turns:
    """The dialogue of a negative, as it was before it was edited."""
    context, response = item.original.get("context"), item.original.get("response")
    context = item.context if context is None else context
    speaker = item.speaker if len(context) == len(item.context) else ""
    return _whole(context, response or item.response, speaker)


def _said(turns: Turns) -> list[str]:
    """Return what is said, turn by turn, in the normal form of `match_key`."""
    return [match_key(turn.text) for turn in turns]


def _whole(context: Iterable[Mapping[str, str]], response: str, speaker: str) -> Turns:
    """All turns; where a record does not say who speaks last, it is who would."""
    said = [Turn(turn["speaker"], turn["text"]) for turn in context]
    return (*said, Turn(speaker or (answering(said) if said else ""), response))

"""Score the coherence of whole dialogues from 0 to 1, as DEAM does (Ghazarian et al. 2022).

A scorer is an encoder with a classification head of one class: 1 for coherent dialogues. A dialogue that is
too long for the encoder is split at turns into windows, and the scores of the windows are combined. Scorers
are trained on edited dialogues, which `read_dialogues` reads from files of negatives.

Example:
    >>> talk = [("Ann", "I have a dog."), ("Ben", "What is its name?"), ("Ann", "I have no pets.")]
    >>> marks(talk)
    ['A', 'B', 'A']

    The encoder reads "A: I have a dog.", "B: What is its name?" and "A: I have no pets." with separators
    between them. ``scorer.score([talk])`` returns one number, which is low if the scorer finds the
    contradiction.
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
"""A dialogue: speaker and text of each turn, in order. An unknown speaker is an empty string."""
Over = Literal["mean", "minimum"]
OVER: tuple[Over, ...] = ("mean", "minimum")
"""The ways to combine the scores of windows."""
KIND = "coherence"
"""The kind of model that the ``config.json`` of a scorer names."""
MAX_TOKENS = 256
"""Default maximum length of a window in tokens."""
Turns = tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Cutter:
    """Split dialogues into windows: ranges of turns that fit into a number of tokens.

    Turns are never split. A window repeats the last turns of the one before it if this leaves room for a new
    turn.

    Attributes:
        room: Maximum number of tokens per window.
        overlap: Number of turns that a window repeats.
    """

    room: int
    overlap: int = 0

    def __post_init__(self) -> None:
        """Check that the overlap is not negative.

        Raises:
            InputError: The overlap is negative.
        """
        if self.overlap < 0:
            raise InputError(f"overlap {self.overlap}: must be at least 0")

    def windows(self, lengths: Sequence[int]) -> list[range]:
        """Return windows that cover all turns.

        Args:
            lengths: Number of tokens of each turn, its separator included. None exceeds ``room``.

        Returns:
            The windows in order. The last one is extended backwards as far as it fits.

        Example:
            >>> Cutter(10).windows([4, 4, 4, 4, 4])
            [range(0, 2), range(2, 4), range(3, 5)]
            >>> Cutter(12, overlap=1).windows([4, 4, 4, 4, 4])
            [range(0, 3), range(2, 5)]
        """
        windows: list[range] = []
        first, last = 0, 0
        while last < len(lengths):
            end = first + self._fitting(lengths[first:])
            # The repeated turns leave no room for a new one: repeat one turn less.
            if end == last:
                first += 1
                continue
            last = end
            windows.append(range(first, last))
            first = max(first + 1, last - self.overlap)
        if windows:
            earliest = len(lengths) - self._fitting(lengths[::-1])
            # A short window would judge the last turns without their context.
            windows[-1] = range(min(windows[-1].start, earliest), len(lengths))
        return windows

    def all(self, lengths: Sequence[int]) -> list[range]:
        """Return all windows that cannot be extended.

        Args:
            lengths: Number of tokens of each turn, its separator included. None exceeds ``room``.

        Returns:
            The windows in order; a single one if the whole dialogue fits.

        Example:
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
        """Return how many of the first turns fit into a window."""
        return bisect_right(list(accumulate(lengths)), self.room)


class CoherenceScorer:
    """Score the coherence of whole dialogues from 0 to 1 (Ghazarian et al. 2022, section 4).

    Turns are joined by the tokenizer's separator. Each begins with a mark of its speaker: ``A:`` for the
    first speaker of the dialogue, ``B:`` for the second. A dialogue of more than ``max_tokens`` tokens is
    split into windows. A single turn that is longer than a window is truncated and counted.

    Attributes:
        model: The encoder with its head.
        tokenizer: The tokenizer.
        categories: The error categories that the scorer was trained on, such as ``C-cont``.
        max_tokens: Maximum length of a window in tokens.
        overlap: Number of turns that consecutive windows share.
        over: How the scores of windows are combined: ``mean`` or ``minimum``.
        batch: Number of windows per forward pass.
        cut_turns: Number of truncated turns so far.
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
        """Initialize a scorer with a loaded model.

        Args:
            model: The encoder with its head.
            tokenizer: The tokenizer.
            categories: The error categories that the scorer was trained on.
            max_tokens: Maximum length of a window in tokens; lowered to what the model can read.
            overlap: Number of turns that consecutive windows share.
            over: How the scores of windows are combined.
            batch: Number of windows per forward pass.

        Raises:
            InputError: ``over`` is unknown.
        """
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
        """Create a scorer to train from an encoder and a new head.

        A missing encoder raises `ModelError`. A name in ``frozen`` that fits no parameter raises
        `InputError`.

        Args:
            model: Path or hub id of the encoder.
            max_tokens: Maximum length of a window in tokens.
            **options: Options of `graphneg.rankers.cross_encoder.CrossEncoder.new`, such as the seed of the
                head.

        Returns:
            The untrained scorer.
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
        """Load a trained scorer.

        Args:
            model: Path or hub id of the scorer.
            max_tokens: Maximum length of a window in tokens. Defaults to the length in training.
            overlap: Number of turns that consecutive windows share.
            over: How the scores of windows are combined.
            batch: Number of windows per forward pass.
            device: The torch device, or None to choose one.
            offline: Do not download the model.

        Returns:
            The scorer.

        Raises:
            ModelError: The model is not a coherence scorer.
        """
        check_packages()
        folder = locate(model, offline=offline)
        config = read_config(folder, "coherence scorer")
        noted = config.get("graphneg") or {}
        if noted.get("kind") != KIND:
            tasks = ", ".join(map(str, config.get("architectures") or ()))
            kind = noted.get("kind") or tasks or "another model"
            raise ModelError(
                f"{folder}: {kind}, not a coherence scorer; train one with graphneg train coherence"
            )
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
        """Score dialogues.

        Args:
            dialogues: The dialogues.
            progress: Receives progress updates.

        Returns:
            One score per dialogue, from 0 (incoherent) to 1 (coherent).

        Raises:
            InputError: A dialogue has no turns.
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
            """Score a batch of windows."""
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
        """Save model and tokenizer.

        Args:
            folder: The folder to write. `from_pretrained` and transformers can read it.
        """
        config: Any = self.model.config
        config.graphneg = {"kind": KIND, "categories": [*self.categories], "max_tokens": self.max_tokens}
        self.model.save_pretrained(str(folder))
        self.tokenizer.save_pretrained(str(folder))

    @property
    def cutter(self) -> Cutter:
        """The cutter for turns of `encode_turns`, with the room that special tokens leave."""
        return Cutter(self.max_tokens - len(self._frame[0]) - len(self._frame[1]), self.overlap)

    def lengths(self, turns: Sequence[Sequence[int]]) -> list[int]:
        """Return the number of tokens that each turn adds to a window.

        Args:
            turns: The token ids of each turn.

        Returns:
            The lengths, each with a separator.
        """
        return [len(turn) + len(self._separator) for turn in turns]

    def encode_turns(self, talk: Talk) -> list[list[int]]:
        """Tokenize the turns of a dialogue.

        Args:
            talk: The dialogue.

        Returns:
            The token ids of each turn, beginning with the mark of the speaker. A turn longer than a window is
            truncated at its end, and counted in ``cut_turns``.
        """
        room = self.cutter.room - len(self._separator)
        texts = [f"{mark}: {text}" for mark, (_, text) in zip(marks(talk), talk, strict=True)]
        rows: list[list[int]] = self.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]  # pyright: ignore[reportAssignmentType]
        self.cut_turns += sum(len(row) > room for row in rows)
        return [row[:room] for row in rows]

    def tokens(self, turns: Sequence[Sequence[int]], window: range) -> list[int]:
        """Build the model input for a window.

        Args:
            turns: The token ids of each turn.
            window: The turns of the window.

        Returns:
            The token ids with separators between turns and special tokens around them.
        """
        before, after = self._frame
        ids = list(before)
        for turn in window:
            ids += [*(self._separator if turn > window.start else ()), *turns[turn]]
        return ids + list(after)

    def batch_of(self, rows: Sequence[list[int]]) -> dict[str, Tensor]:
        """Pad token ids to tensors.

        Args:
            rows: The token ids of each window.

        Returns:
            ``input_ids`` and ``attention_mask`` of shape (rows, tokens), padded to the longest row.
        """
        padded: Any = self.tokenizer.pad({"input_ids": list(rows)}, return_tensors="pt")
        return {"input_ids": padded["input_ids"], "attention_mask": padded["attention_mask"]}

    @cached_property
    def _separator(self) -> tuple[int, ...]:
        """The token between turns, if the tokenizer has one."""
        # Some tokenizers have no separator, but an end token.
        ids = (self.tokenizer.sep_token_id, self.tokenizer.eos_token_id)
        return next(((item,) for item in ids if isinstance(item, int)), ())

    @cached_property
    def _frame(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The special tokens that the tokenizer adds before and after a text."""
        whole: list[int] = self.tokenizer("a")["input_ids"]  # pyright: ignore[reportAssignmentType]
        bare: list[int] = self.tokenizer("a", add_special_tokens=False)["input_ids"]  # pyright: ignore[reportAssignmentType]
        # Find the text inside its tokenization with special tokens.
        at = next(at for at in range(len(whole)) if whole[at : at + len(bare)] == bare)
        return tuple(whole[:at]), tuple(whole[at + len(bare) :])


def marks(talk: Talk) -> list[str]:
    """Return a letter for the speaker of each turn.

    Args:
        talk: The dialogue.

    Returns:
        Letters in order of appearance. Turns of unknown speakers alternate between A and B.

    Example:
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
    """An edited, incoherent dialogue.

    Attributes:
        id: The id of the record.
        turns: The turns after the edit.
        edited: The indices of the edited turns.
        recipe: The recipe or generator.
        categories: The error categories.
    """

    id: str
    turns: Turns
    edited: frozenset[int]
    recipe: str
    categories: tuple[str, ...]

    @property
    def names(self) -> set[str]:
        """The names by which a mix can select the dialogue: its recipe and its categories."""
        return {self.recipe, *self.categories}


@dataclass(slots=True)
class Versions:
    """A dialogue and its edited versions.

    Attributes:
        id: The dialogue and the position of its last turn.
        original: The original turns.
        edited: The edited versions.
    """

    id: str
    original: Turns
    edited: list[EditedDialogue] = field(default_factory=list[EditedDialogue])


@dataclass(frozen=True, slots=True)
class EditedDialogues:
    """The dialogues of files of negatives.

    Attributes:
        dialogues: The dialogues with their edited versions.
        responses: Number of records that were left out because only their response was edited.
        unchanged: Number of edited dialogues that were left out because they have the text of the original.
    """

    dialogues: list[Versions]
    responses: int
    unchanged: int = 0


def read_dialogues(paths: Sequence[str | Path]) -> EditedDialogues:
    """Read dialogues and their edited versions from files of negatives.

    A file that cannot be read and the errors of `dialogues_of` raise `InputError`.

    Args:
        paths: Files of negatives (``.jsonl``, ``.parquet``).

    Returns:
        The dialogues, and counts of what was left out.
    """
    return dialogues_of(read_negatives(*paths))


def dialogues_of(records: Iterable[Negative]) -> EditedDialogues:
    """Group records with the target ``dialogue`` by their original.

    Args:
        records: The records.

    Returns:
        The dialogues, and counts of what was left out.

    Raises:
        InputError: A label is neither 0 nor 1, or no record is an edited dialogue.
    """
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
    """Return the dialogue of a negative before it was edited.

    Args:
        item: The negative.

    Returns:
        The turns, the response last.
    """
    context, response = item.original.get("context"), item.original.get("response")
    context = item.context if context is None else context
    # The noted speaker belongs to the edited dialogue. If the edit added or removed turns, somebody else may
    # have spoken last.
    speaker = item.speaker if len(context) == len(item.context) else ""
    return _whole(context, response or item.response, speaker)


def _said(turns: Turns) -> list[str]:
    """Return the normalised text of each turn."""
    return [match_key(turn.text) for turn in turns]


def _whole(context: Iterable[Mapping[str, str]], response: str, speaker: str) -> Turns:
    """Return the context and the response as turns."""
    said = [Turn(turn["speaker"], turn["text"]) for turn in context]
    # Infer an unknown last speaker from the turns before.
    return (*said, Turn(speaker or (answering(said) if said else ""), response))

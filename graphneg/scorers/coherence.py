"""Score the coherence of whole dialogues from 0 to 1, as DEAM does (Ghazarian et al. 2022).

A scorer is an encoder with a classification head. A score of 1 means that the dialogue is coherent. A
dialogue that is too long for the encoder is split between turns into parts (windows), and the scores of the
windows are combined. Scorers are trained on edited dialogues, which `read_dialogues` reads from files of
negatives.

Example:
    >>> first, second = Turn("Ann", "I have a dog."), Turn("Ben", "What is its name?")
    >>> turns = (first, second, Turn("Ann", "I have no pets."))
    >>> speaker_letters(turns)
    ['A', 'B', 'A']

    The encoder reads "A: I have a dog.", "B: What is its name?" and "A: I have no pets." with separators
    between them. ``scorer.score([turns])`` returns one number, which is low if the scorer finds the
    contradiction.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, Literal, Self

from graphneg.english.tokens import match_key
from graphneg.errors import InputError, ModelError
from graphneg.model import TWIN, Negative, Turn
from graphneg.nn.batching import longest_first
from graphneg.nn.encoders import load_classifier, positions
from graphneg.nn.models import check_packages, locate, on_device, read_config
from graphneg.progress import NoProgress, Progress
from graphneg.rankers.cross_encoder import CrossEncoder
from graphneg.records.files import read_negatives
from graphneg.store.dialogues import next_speaker

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Over = Literal["mean", "minimum"]
OVER: tuple[Over, ...] = ("mean", "minimum")
"""The ways to combine the scores of a dialogue's windows (parts of the dialogue): mean or minimum."""
KIND = "coherence"
"""The kind of model, which is stored in the ``config.json`` of a scorer."""
MAX_TOKENS = 256
"""Default maximum length of a window in tokens."""
Turns = tuple[Turn, ...]
"""A dialogue: its turns, in order. An unknown speaker is an empty string."""


@dataclass(frozen=True, slots=True)
class WindowSplitter:
    """Splits dialogues into windows, that is, ranges of consecutive turns with a limited number of tokens.

    Turns are never split. A window may begin with the last turns of the previous window. If these leave no
    room for a new turn, fewer turns are repeated.

    Attributes:
        max_tokens: Maximum number of tokens per window.
        overlap: Number of turns of the previous window to repeat.
    """

    max_tokens: int
    overlap: int = 0

    def __post_init__(self) -> None:
        """Check that the overlap is not negative.

        Raises:
            InputError: The overlap is negative.
        """
        if self.overlap < 0:
            raise InputError(f"overlap must be at least 0, not {self.overlap}")

    def windows(self, lengths: Sequence[int]) -> list[range]:
        """Return windows that together contain all turns of a dialogue.

        Args:
            lengths: Number of tokens of each turn, including its separator; at most ``max_tokens`` for each
            turn.

        Returns:
            The windows in order, as ranges of turn indices. The last window may repeat more than ``overlap``
            turns, because it is extended by earlier turns as long as they fit.

        Example:
            >>> WindowSplitter(10).windows([4, 4, 4, 4, 4])
            [range(0, 2), range(2, 4), range(3, 5)]
            >>> WindowSplitter(12, overlap=1).windows([4, 4, 4, 4, 4])
            [range(0, 3), range(2, 5)]
        """
        windows: list[range] = []
        first, last = 0, 0
        while last < len(lengths):
            end = first + self._fitting(lengths[first:])
            # A window begins with the last turns of the previous window. If these leave no room for a new
            # turn, repeat one turn fewer.
            if end == last:
                first += 1
                continue
            last = end
            windows.append(range(first, last))
            first = max(first + 1, last - self.overlap)
        if windows:
            earliest = len(lengths) - self._fitting(lengths[::-1])
            # The last window may be short. It is extended by earlier turns, so that the last turns are scored
            # with as much context as possible.
            windows[-1] = range(min(windows[-1].start, earliest), len(lengths))
        return windows

    def all(self, lengths: Sequence[int]) -> list[range]:
        """Return all windows that cannot be extended by another turn at either end.

        Args:
            lengths: Number of tokens of each turn, including its separator; at most ``max_tokens`` for each
            turn.

        Returns:
            The windows in order, as ranges of turn indices; a single window if the whole dialogue fits.

        Example:
            >>> WindowSplitter(10).all([4, 4, 4, 4])
            [range(0, 2), range(1, 3), range(2, 4)]
        """
        windows: list[range] = []
        for first in range(len(lengths)):
            last = first + self._fitting(lengths[first:])
            if not windows or last > windows[-1].stop:
                windows.append(range(first, last))
        return windows

    def _fitting(self, lengths: Sequence[int]) -> int:
        """Return how many turns, from the first turn on, fit into a window."""
        return bisect_right(list(accumulate(lengths)), self.max_tokens)


class CoherenceScorer:
    """A model that scores the coherence of whole dialogues (Ghazarian et al. 2022, section 4).

    Turns are separated by the separator token of the tokenizer. Each turn begins with a letter for its
    speaker: ``A:`` for the first speaker of the dialogue, ``B:`` for the second. A dialogue with more than
    ``max_tokens`` tokens is split into windows. A turn that is longer than a window is truncated. The number
    of such turns is stored in ``cut_turns``.

    Attributes:
        model: The encoder with its classification head.
        tokenizer: The tokenizer of the encoder.
        categories: The error categories that the scorer was trained on, such as ``C-cont``.
        max_tokens: Maximum length of a window in tokens.
        overlap: Number of turns of the previous window that a window repeats.
        over: How to combine the scores of a dialogue's windows: ``mean`` or ``minimum``.
        batch: Number of windows per forward pass.
        cut_turns: Number of turns that were truncated so far.
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
            model: The encoder with its classification head.
            tokenizer: The tokenizer of the encoder.
            categories: The error categories that the scorer was trained on, such as ``C-cont``.
            max_tokens: Maximum length of a window in tokens. If the model can read fewer tokens, its limit is
                used.
            overlap: Number of turns of the previous window that a window repeats.
            over: How to combine the scores of a dialogue's windows: ``mean`` or ``minimum``.
            batch: Number of windows per forward pass.

        Raises:
            InputError: ``over`` has an unknown value.
        """
        if over not in OVER:
            raise InputError(f"unknown value {over!r} of over; choose one of {', '.join(OVER)}")
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
        """Create an untrained scorer from a pretrained encoder and a new classification head.

        Raises `ModelError` if the encoder is missing, and `InputError` if a prefix in ``frozen`` matches no
        parameter.

        Args:
            model: Path or Hugging Face hub id of the encoder.
            max_tokens: Maximum length of a window in tokens.
            **options: Further arguments of `graphneg.rankers.cross_encoder.CrossEncoder.new`, such as
                ``seed``.

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
            model: Path or Hugging Face hub id of the scorer.
            max_tokens: Maximum length of a window in tokens; None for the value that was used in training.
            overlap: Number of turns of the previous window that a window repeats.
            over: How to combine the scores of a dialogue's windows: ``mean`` or ``minimum``.
            batch: Number of windows per forward pass.
            device: The torch device; None to choose one automatically.
            offline: Whether to use only local files, without downloading the model.

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
        on_device(network, device)
        return cls(
            network,
            tokenizer,
            categories=noted.get("categories", ()),
            max_tokens=max_tokens or noted.get("max_tokens", MAX_TOKENS),
            overlap=overlap,
            over=over,
            batch=batch,
        )

    def score(self, dialogues: Sequence[Sequence[Turn]], progress: Progress | None = None) -> list[float]:
        """Score the coherence of dialogues.

        Args:
            dialogues: The dialogues, each a sequence of turns. An unknown speaker is an empty string.
            progress: Progress display; advanced by the number of windows scored.

        Returns:
            One score per dialogue, from 0 (incoherent) to 1 (coherent).

        Raises:
            InputError: A dialogue has no turns.
        """
        import torch

        windows: list[tuple[int, list[int]]] = []
        for index, dialogue in enumerate(dialogues):
            if not dialogue:
                raise InputError(f"dialogue {index + 1} of {len(dialogues)} has no turns")
            turns = self.encode_turns(dialogue)
            cuts = self.window_splitter.windows(self.lengths(turns))
            windows += [(index, self.tokens(turns, window)) for window in cuts]
        shown = progress or NoProgress()
        shown.start("coherence", len(windows), "windows")
        self.model.eval()

        def run(batch: Sequence[tuple[int, list[int]]]) -> list[float]:
            rows = self.batch_of([ids for _, ids in batch])
            with torch.inference_mode():
                inputs = {name: item.to(self.model.device) for name, item in rows.items()}
                logits: Tensor = self.model(**inputs).logits.float()
            shown.advance(len(batch))
            return logits[:, 0].sigmoid().tolist()

        scores: list[list[float]] = [[] for _ in dialogues]
        results = longest_first(windows, lambda window: len(window[1]), self.batch, run, "a window")
        for (index, _), score in zip(windows, results, strict=True):
            scores[index].append(score)
        shown.finish()
        return [min(some) if self.over == "minimum" else sum(some) / len(some) for some in scores]

    def save(self, folder: str | Path) -> None:
        """Save the model and the tokenizer, so that `from_pretrained` and transformers can load them.

        Args:
            folder: The output folder.
        """
        config: Any = self.model.config
        config.graphneg = {"kind": KIND, "categories": [*self.categories], "max_tokens": self.max_tokens}
        self.model.save_pretrained(str(folder))
        self.tokenizer.save_pretrained(str(folder))

    @property
    def window_splitter(self) -> WindowSplitter:
        """The splitter that divides dialogues into windows. It leaves room for the special tokens."""
        return WindowSplitter(
            self.max_tokens - len(self._special_tokens_around[0]) - len(self._special_tokens_around[1]),
            self.overlap,
        )

    def lengths(self, turns: Sequence[Sequence[int]]) -> list[int]:
        """Return the number of tokens that each turn adds to a window.

        Args:
            turns: The token ids of each turn.

        Returns:
            For each turn, the number of its tokens plus the length of a separator.
        """
        return [len(turn) + len(self._separator) for turn in turns]

    def encode_turns(self, turns: Sequence[Turn]) -> list[list[int]]:
        """Tokenize the turns of a dialogue.

        Args:
            turns: The turns of the dialogue, in order.

        Returns:
            The token ids of each turn, beginning with the letter of the speaker. A turn that is longer than a
            window is truncated at its end, and ``cut_turns`` is increased.
        """
        room = self.window_splitter.max_tokens - len(self._separator)
        texts = [f"{mark}: {turn.text}" for mark, turn in zip(speaker_letters(turns), turns, strict=True)]
        rows: list[list[int]] = self.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]  # pyright: ignore[reportAssignmentType]
        self.cut_turns += sum(len(row) > room for row in rows)
        return [row[:room] for row in rows]

    def tokens(self, turns: Sequence[Sequence[int]], window: range) -> list[int]:
        """Join the turns of a window into an input for the model.

        Args:
            turns: The token ids of each turn of the dialogue.
            window: The indices of the turns in the window.

        Returns:
            The token ids of the window, with separators between the turns, and special tokens at both ends.
        """
        before, after = self._special_tokens_around
        ids = list(before)
        for turn in window:
            ids += [*(self._separator if turn > window.start else ()), *turns[turn]]
        return ids + list(after)

    def batch_of(self, rows: Sequence[list[int]]) -> dict[str, Tensor]:
        """Convert the token ids of windows into padded tensors.

        Args:
            rows: The token ids of each window.

        Returns:
            The tensors ``input_ids`` and ``attention_mask`` by name, both of shape (rows, tokens). Shorter
            windows are padded to the length of the longest.
        """
        padded: Any = self.tokenizer.pad({"input_ids": list(rows)}, return_tensors="pt")
        return {"input_ids": padded["input_ids"], "attention_mask": padded["attention_mask"]}

    @cached_property
    def _separator(self) -> tuple[int, ...]:
        """A tuple with the token id of the separator between turns; empty if no token is suitable."""
        # If a tokenizer has no separator token, its end-of-sequence token is used.
        ids = (self.tokenizer.sep_token_id, self.tokenizer.eos_token_id)
        return next(((item,) for item in ids if isinstance(item, int)), ())

    @cached_property
    def _special_tokens_around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The special tokens that the tokenizer adds before and after a text."""
        whole: list[int] = self.tokenizer("a")["input_ids"]  # pyright: ignore[reportAssignmentType]
        bare: list[int] = self.tokenizer("a", add_special_tokens=False)["input_ids"]  # pyright: ignore[reportAssignmentType]
        # The tokenizer's output for a text is searched for the tokens of the text itself. The tokens before
        # and after them are special tokens.
        at = next(at for at in range(len(whole)) if whole[at : at + len(bare)] == bare)
        return tuple(whole[:at]), tuple(whole[at + len(bare) :])


def speaker_letters(turns: Sequence[Turn]) -> list[str]:
    """Return a letter for the speaker of each turn.

    Args:
        turns: The turns of the dialogue.

    Returns:
        One letter per turn. The first speaker gets A, the next new speaker B, and so on. If the speaker of a
        turn is unknown (an empty string), the letter is A for even and B for odd turn numbers.

    Example:
        >>> speaker_letters([Turn("User", "Hi."), Turn("System", "Hello."), Turn("User", "Bye.")])
        ['A', 'B', 'A']
        >>> speaker_letters([Turn("", "Hi."), Turn("", "Hello.")])
        ['A', 'B']
    """
    known: dict[str, str] = {}
    return [
        known.setdefault(turn.speaker, ascii_uppercase[len(known) % 26]) if turn.speaker else "AB"[at % 2]
        for at, turn in enumerate(turns)
    ]


@dataclass(frozen=True, slots=True)
class EditedDialogue:
    """An edited version of a dialogue, which the edit made incoherent.

    Attributes:
        id: The id of the record in the file of negatives.
        turns: The turns after the edit.
        edited: The indices of the edited turns.
        recipe: The name of the recipe or generator that made the edit.
        categories: The error categories of the edit, such as ``C-cont``.
    """

    id: str
    turns: Turns
    edited: frozenset[int]
    recipe: str
    categories: tuple[str, ...]

    @property
    def names(self) -> set[str]:
        """The recipe and the error categories, by which training can select the edited dialogue."""
        return {self.recipe, *self.categories}


@dataclass(slots=True)
class DialogueVersions:
    """A dialogue and its edited versions.

    Attributes:
        id: The id of the dialogue and the index of the last turn, joined by ``#``.
        original: The turns before any edit.
        edited: The edited versions.
        twins: Versions that are still coherent. For example, if a version in ``edited`` repeats a statement
            with "not", its twin repeats the statement without "not".
    """

    id: str
    original: Turns
    edited: list[EditedDialogue] = field(default_factory=list[EditedDialogue])
    twins: list[EditedDialogue] = field(default_factory=list[EditedDialogue])


@dataclass(frozen=True, slots=True)
class EditedDialogues:
    """The dialogues that were read from files of negatives.

    Attributes:
        dialogues: The dialogues with their edited versions.
        responses: Number of records that were skipped because only their response was edited, not the
            dialogue.
        unchanged: Number of edited dialogues that were skipped because their text is the same as before the
            edit.
    """

    dialogues: list[DialogueVersions]
    responses: int
    unchanged: int = 0


def read_dialogues(paths: Sequence[str | Path]) -> EditedDialogues:
    """Read dialogues and their edited versions from files of negatives.

    Raises `InputError` if a file cannot be read, a label is neither 0 nor 1, or no record is an edited
    dialogue.

    Args:
        paths: Files of negatives (``.jsonl``, ``.parquet``).

    Returns:
        The dialogues with their edited versions, and how many records were skipped for each reason.
    """
    return dialogues_of(read_negatives(*paths))


def dialogues_of(records: Iterable[Negative]) -> EditedDialogues:
    """Group edited dialogues by the dialogue from which they were made.

    Args:
        records: Records of negatives. Only records whose ``target`` is ``dialogue`` are used.

    Returns:
        The dialogues with their edited versions, and how many records were skipped for each reason.

    Raises:
        InputError: A label is neither 0 nor 1, or no record is an edited dialogue.
    """
    versions: dict[str, DialogueVersions] = {}
    responses = unchanged = 0
    for record in records:
        if record.label not in (0, 1):
            raise InputError(
                f"{record.id}: the label is {record.label!r}, but must be 1 (coherent) or 0 (incoherent)"
            )
        if record.target != "dialogue":
            responses += 1
            continue
        id = f"{record.dialogue}#{record.turn}"
        dialogue = versions.setdefault(id, DialogueVersions(id, original_turns(record)))
        is_twin = record.recipe == TWIN and record.label == 1
        if record.label == 0 or is_twin:
            turns = _with_response(record.context, record.response, record.speaker)
            if _normalised_turns(turns) == _normalised_turns(dialogue.original):
                unchanged += not is_twin
                continue
            edited = frozenset(edit.turn for edit in record.edits)
            version = EditedDialogue(record.id, turns, edited, record.recipe, record.categories)
            (dialogue.twins if is_twin else dialogue.edited).append(version)
    if not any(dialogue.edited for dialogue in versions.values()):
        raise InputError(
            "no edited dialogues in these files: make some with graphneg negatives --target dialogue, "
            "or a generator such as turn-shuffle"
        )
    return EditedDialogues(list(versions.values()), responses, unchanged)


def original_turns(item: Negative) -> Turns:
    """Return the dialogue of a negative as it was before the edit.

    Args:
        item: The negative, which also contains the texts before the edit.

    Returns:
        The turns of the context, and the response as the last turn, all as they were before the edit.
    """
    context, response = item.original.context, item.original.response
    context = item.context if context is None else context
    # A record names only the speaker of the edited response. If the edit has added or removed a turn, the
    # speaker of the original response may be different. Then leave the speaker empty (unknown).
    speaker = item.speaker if len(context) == len(item.context) else ""
    return _with_response(context, response or item.response, speaker)


def _normalised_turns(turns: Turns) -> list[str]:
    return [match_key(turn.text) for turn in turns]


def _with_response(context: Sequence[Turn], response: str, speaker: str) -> Turns:
    """Join the context and the response into one sequence of turns."""
    # If the speaker of the response is unknown, infer it from the turns of the context.
    return (*context, Turn(speaker or (next_speaker(context) if context else ""), response))

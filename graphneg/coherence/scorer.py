"""A scorer of whole dialogues: any encoder with one class on top, 1 for coherent ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from graphneg.coherence.windows import Cutter, Window
from graphneg.decoders.t5.torch_backend import choose_device
from graphneg.errors import InputError, ModelError
from graphneg.language_models.finding import check_packages, first_line, locate
from graphneg.progress import NoProgress, Progress
from graphneg.rankers.cross_encoder import positions

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Talk = Sequence[tuple[str, str]]
"""A dialogue: speaker and text of each turn, in order. A speaker who is not known is ''."""
Over = Literal["mean", "minimum"]
OVER: tuple[Over, ...] = ("mean", "minimum")
KIND = "coherence"
MAX_TOKENS = 256
_MARKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Encoded:
    """The tokens of a dialogue's turns, marks of speakers and all; ``cut`` of them lost their end."""

    turns: tuple[tuple[int, ...], ...]
    cut: int


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
        noted = _noted(folder)
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        try:
            network: Any = AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True)
            tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        except Exception as error:  # its loaders raise what the files' parsers and torch raise
            raise ModelError(f"{folder}: no coherence scorer can be read ({first_line(error)})") from error
        network.to(choose_device(device or "auto"))
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

        Raises:
            InputError: a dialogue has no turns.
        """
        windows: list[tuple[int, list[int]]] = []
        for place, talk in enumerate(dialogues):
            if not talk:
                raise InputError(f"dialogue {place + 1} of {len(dialogues)} has no turns")
            encoded = self.encode_turns(talk)
            self.cut_turns += encoded.cut
            windows += [(place, self.tokens(encoded, one)) for one in self._windows(encoded)]
        windows.sort(key=lambda one: len(one[1]))
        found: list[list[float]] = [[] for _ in dialogues]
        shown = progress or NoProgress()
        shown.start("coherence", len(windows), "windows")
        for start in range(0, len(windows), self.batch):
            some = windows[start : start + self.batch]
            for (place, _), one in zip(some, self._scores([ids for _, ids in some]), strict=True):
                found[place].append(one)
            shown.advance(len(some))
        shown.finish()
        return [min(some) if self.over == "minimum" else sum(some) / len(some) for some in found]

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

    def lengths(self, encoded: Encoded) -> list[int]:
        """Tokens that each turn adds to a window, its separator too."""
        return [len(turn) + len(self._separator) for turn in encoded.turns]

    def encode_turns(self, talk: Talk) -> Encoded:
        """Each turn's tokens, the mark of its speaker first; one longer than a window is cut."""
        room = self.cutter.room - len(self._separator)
        texts = [f"{mark}: {text}" for mark, (_, text) in zip(marks(talk), talk, strict=True)]
        rows: list[list[int]] = self.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]  # pyright: ignore[reportAssignmentType]
        return Encoded(tuple(tuple(row[:room]) for row in rows), sum(len(row) > room for row in rows))

    def tokens(self, encoded: Encoded, window: Window) -> list[int]:
        """The model's input for some turns: separators between them, special tokens around."""
        before, after = self._frame
        ids = list(before)
        for place in range(window.first, window.last):
            ids += [*(self._separator if place > window.first else ()), *encoded.turns[place]]
        return ids + list(after)

    def batch_of(self, rows: Sequence[list[int]]) -> dict[str, Tensor]:
        """``input_ids`` and ``attention_mask`` of shape (rows, tokens), padded to the longest."""
        padded: Any = self.tokenizer.pad({"input_ids": list(rows)}, return_tensors="pt")
        return {"input_ids": padded["input_ids"], "attention_mask": padded["attention_mask"]}

    def _windows(self, encoded: Encoded) -> Iterator[Window]:
        yield from self.cutter.windows(self.lengths(encoded))

    def _scores(self, rows: Sequence[list[int]]) -> list[float]:
        import torch

        self.model.eval()
        with torch.inference_mode():
            given = {name: one.to(self.model.device) for name, one in self.batch_of(rows).items()}
            logits: Tensor = self.model(**given).logits.float()
        return logits[:, 0].sigmoid().tolist()

    @cached_property
    def _separator(self) -> tuple[int, ...]:
        ids = (self.tokenizer.sep_token_id, self.tokenizer.eos_token_id)
        return next(((one,) for one in ids if isinstance(one, int)), ())

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
    found: list[str] = []
    for place, (speaker, _) in enumerate(talk):
        if not speaker:
            found.append(_MARKS[place % 2])
            continue
        found.append(known.setdefault(speaker, _MARKS[len(known) % len(_MARKS)]))
    return found


def _noted(folder: Path) -> dict[str, Any]:
    """What training noted in the model's ``config.json``."""
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{folder}: no config.json can be read in it, so it is no coherence scorer"
        ) from error
    noted = config.get("graphneg") or {}
    if noted.get("kind") != KIND:
        kinds = noted.get("kind") or ", ".join(map(str, config.get("architectures") or ())) or "another model"
        raise ModelError(f"{folder}: {kinds}, no coherence scorer; graphneg train coherence makes one")
    return noted
